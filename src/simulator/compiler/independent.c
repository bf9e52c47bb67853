/* independent.c - finds the kernels that may run as plain loops over their threads.
 *
 * A thread that waits for others, prints, or asks for its identity other than by the kernel's own
 * threadIdx needs its own context. All of that goes through sim_here(). So a name is dependent if
 * its declaration mentions sim_here, threadIdx or another dependent name; this is repeated until
 * nothing changes. What a kernel can reach without naming it (overloaded operators, members) is
 * counted under the names of the operator, class and member. The result may err in one direction
 * only: too many dependent names cost nothing but time. */
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/rewrite.h"

typedef struct {
    unsigned first, end;
} Chunk; /* a declaration outside functions */

static unsigned word(const Tokens *t, unsigned i) {
    return t->tokens[i].kind == TOKEN_NAME ? t->tokens[i].name : 0;
}

/* Marks the names that a dependent declaration introduces. Returns true if one is new. */
static bool mark(const Tokens *t, const unsigned *match, Chunk chunk, unsigned char *dependent) {
    bool changed = false, is_class = false, named = false;
    for (unsigned i = chunk.first; i < chunk.end; i++) {
        const unsigned name = word(t, i);
        if (name == R___attribute__ || name == R_alignas || name == R_decltype ||
            name == R___align__) {
            if (is_bracket(t, i + 1, '(') && match[i + 1] > i)
                i = match[i + 1];
            continue;
        }
        if (name == R_template && is_bracket(t, i + 1, '<')) {
            i = skip_angles(t, match, i + 1);
            continue;
        }
        if (name == R_struct || name == R_class || name == R_union)
            is_class = !named;
        if (name == R_operator) { /* new and delete are detected where they are used */
            const unsigned made =
                word(t, i + 1) == R_new || word(t, i + 1) == R_delete ? word(t, i + 1) : R_operator;
            changed = changed || !dependent[made];
            dependent[made] = 1;
            if (!is_class)
                return changed;
            continue;
        }
        const bool declares = name != 0 &&
                              (is_bracket(t, i + 1, '(') || is_bracket(t, i + 1, '=') ||
                               is_bracket(t, i + 1, '[') || is_bracket(t, i + 1, ';') ||
                               is_bracket(t, i + 1, '{') || is_bracket(t, i + 1, ':'));
        if (declares && (!named || is_class)) {
            changed = changed || !dependent[name];
            dependent[name] = 1;
            if (is_bracket(t, i + 1, '(') && !is_class)
                return changed;
            named = true;
        }
        if (!is_class && (is_bracket(t, i, '{') || is_bracket(t, i, '('))) {
            if (match[i] > i)
                i = match[i];
        }
    }
    return changed;
}

static bool mentions(const Tokens *t, Chunk chunk, const unsigned char *dependent,
                     const unsigned *steps) {
    for (unsigned i = chunk.first; i < chunk.end; i++) {
        if (steps[i] != 0)
            return true;
        const unsigned name = word(t, i);
        if (name != 0 && name != R_operator && dependent[name])
            return true;
        if ((name == R_asm || name == R___asm__ || name == R___asm) && !t->tokens[i].system)
            return true; /* inline PTX can do all of that */
    }
    return false;
}

static bool is_kernel(const Tokens *t, Chunk chunk) {
    for (unsigned i = chunk.first; i < chunk.end && !is_bracket(t, i, '{'); i++) {
        if (word(t, i) == R___global__)
            return true;
    }
    return false;
}

static Chunk *find_chunks(const Tokens *t, const unsigned *match, unsigned *n) {
    Chunk *chunks = NULL;
    unsigned room = 0, first = 0;
    *n = 0;
    for (unsigned i = 0; i + 1 < t->n_tokens; i++) {
        bool end = is_bracket(t, i, ';');
        if (is_bracket(t, i, '(') && match[i] > i) {
            i = match[i];
            continue;
        }
        if (is_bracket(t, i, '{')) {
            bool is_scope = false;
            for (unsigned k = first; k < i; k++)
                is_scope = is_scope || word(t, k) == R_namespace ||
                           (word(t, k) == R_extern && t->tokens[k + 1].kind == TOKEN_STRING &&
                            is_bracket(t, k + 2, '{'));
            if (is_scope || match[i] == 0) {
                first = i + 1;
                continue;
            }
            i = match[i];
            end = !is_bracket(t, i + 1, ';') && !is_bracket(t, i + 1, ',') &&
                  t->tokens[i + 1].kind != TOKEN_NAME;
            end = end || t->tokens[i + 1].kind ==
                             TOKEN_NAME; /* a variable of a class declared here has its own chunk */
        } else if (is_bracket(t, i, '}')) {
            first = i + 1;
            continue;
        }
        if (!end)
            continue;
        if (*n == room) {
            room = 2 * room + 512;
            Chunk *more = realloc(chunks, room * sizeof *more);
            if (more == NULL) {
                free(chunks);
                return NULL;
            }
            chunks = more;
        }
        chunks[(*n)++] = (Chunk){first, i + 1};
        first = i + 1;
    }
    return chunks != NULL ? chunks : malloc(1);
}

unsigned char *dependent_names(Tokens *t, const unsigned *steps) {
    unsigned n;
    unsigned *match = rewrite_match(t);
    unsigned char *dependent = calloc(t->n_names + 1, 1);
    Chunk *chunks = match != NULL ? find_chunks(t, match, &n) : NULL;
    if (dependent == NULL || chunks == NULL) {
        free(match);
        free(dependent);
        free(chunks);
        return NULL;
    }
    dependent[R_sim_here] = dependent[R_threadIdx] = 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < n;) {
            if (mentions(t, chunks[i], dependent, steps)) {
                if (!is_kernel(t, chunks[i]))
                    changed = mark(t, match, chunks[i], dependent) || changed;
                chunks[i] = chunks[--n]; /* mark each declaration only once */
            } else {
                i++;
            }
        }
    }
    free(match);
    free(chunks);
    return dependent;
}
