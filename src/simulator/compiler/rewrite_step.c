/* rewrite_step.c - warp-synchronous code, from the time when the threads of a warp ran in
 * lockstep: volatile variables in shared memory, without __syncwarp.
 *
 *   s[i] += s[i + 16];
 *
 * becomes
 *
 *   ::pygpu_sim::sim_in_step(s[i], 7) +=
 *       ((::pygpu_sim::Stepped<decltype(s[0])>)::pygpu_sim::sim_in_step(s[i + 16], 9));
 *
 * where s is declared volatile: a pointer in a function, or a variable in shared memory.
 * sim_in_step (sim_warp.h) lets the other threads of the warp reach the same place before it
 * continues, if the variable is shared: all reads happen before the writes that follow them, and
 * writes before later reads. The numbers grow along the program. Where threads have diverged,
 * those that are furthest behind run first. Threads meet before each iteration, so that none is
 * counted as behind while it is an iteration ahead:
 *
 *   for (...) if (::pygpu_sim::sim_together(the number of the body's end)) body
 *
 * This only picks an order of threads that any GPU might choose, so it is right for all
 * programs. */
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/rewrite.h"

/* Where uses of a variable were last searched, and as which kind. */
typedef struct {
    unsigned first, end, kind;
} Seen;

typedef struct {
    const Tokens *t;
    const unsigned *match;
    unsigned *steps;
    unsigned *next;   /* for each name, the token where it occurs next; 0: nowhere */
    unsigned *around; /* for each token, the enclosing bracket; 0: none */
    Seen *seen;       /* by name */
} Finder;

static unsigned word(const Tokens *t, unsigned i) {
    return t->tokens[i].kind == TOKEN_NAME ? t->tokens[i].name : 0;
}

static bool adjacent(const Tokens *t, unsigned i) { /* no white space before the next token */
    return t->tokens[i].start + t->tokens[i].size == t->tokens[i + 1].start;
}

static bool is_doubled(const Tokens *t, unsigned i, char c) {
    return is_bracket(t, i, c) && is_bracket(t, i + 1, c) && adjacent(t, i);
}

static bool is_header(const Tokens *t, const unsigned *match,
                      unsigned i) { /* i: the ) of if (...), for (...) or similar */
    const unsigned open = is_bracket(t, i, ')') ? match[i] : 0,
                   before = open > 0 ? word(t, open - 1) : 0;
    return before == R_if || before == R_for || before == R_while || before == R_switch;
}

/* Whether token i ends a value, so that an operator after it has two operands. */
static bool ends_value(const Tokens *t, unsigned i) {
    const unsigned char kind = t->tokens[i].kind;
    if (kind == TOKEN_NAME) {
        const unsigned name = t->tokens[i].name;
        return name != R_return && name != R_else && name != R_do && !token_is(t, i, "case") &&
               !token_is(t, i, "and") && !token_is(t, i, "or") && !token_is(t, i, "not");
    }
    return kind == TOKEN_NUMBER || kind == TOKEN_STRING || is_bracket(t, i, ')') ||
           is_bracket(t, i, ']');
}

static bool is_assigned(const Tokens *t, unsigned i) { /* i: the token after the variable */
    if (is_bracket(t, i, '=') || token_is(t, i, "+=") || token_is(t, i, "-=") ||
        token_is(t, i, "*=") || token_is(t, i, "/="))
        return true;
    if (is_doubled(t, i, '+') || is_doubled(t, i, '-'))
        return true;
    if (!adjacent(t, i))
        return false;
    if (is_bracket(t, i + 1, '='))
        return is_bracket(t, i, '%') || is_bracket(t, i, '&') || is_bracket(t, i, '|') ||
               is_bracket(t, i, '^') || token_is(t, i, "<<");
    return is_bracket(t, i, '>') && token_is(t, i + 1, ">=");
}

static bool continues_value(
    const Tokens *t, unsigned i) { /* whether the token at i continues the expression before it */
    return is_bracket(t, i, '[') || is_bracket(t, i, '(') || is_bracket(t, i, '.') ||
           is_bracket(t, i, '{') || token_is(t, i, "->") || token_is(t, i, "::");
}

/* Records a use of the variable at i. */
static void find_use(Finder *f, unsigned i, bool scalar) {
    const Tokens *t = f->t;
    unsigned start = i, end = i + 1;
    if (is_bracket(t, i - 1, '.') || token_is(t, i - 1, "->") || token_is(t, i - 1, "::"))
        return;
    if (t->tokens[i - 1].kind == TOKEN_NAME && ends_value(t, i - 1))
        return; /* a declaration */
    if (is_bracket(t, end, '[')) {
        while (is_bracket(t, end, '[')) {
            if (f->match[end] == 0)
                return;
            end = f->match[end] + 1;
        }
        while (is_bracket(t, end, '.') && word(t, end + 1) != 0)
            end += 2;
    } else if (!scalar) {
        if (is_bracket(t, i - 1, '*')) {
            start = i - 1;
        } else if (is_bracket(t, i - 1, '(') && is_bracket(t, i - 2, '*') &&
                   (is_bracket(t, i + 1, '+') || is_bracket(t, i + 1, '-')) &&
                   f->match[i - 1] != 0) {
            start = i - 2;
            end = f->match[i - 1] + 1;
        } else {
            return;
        }
        if ((ends_value(t, start - 1) && !is_header(t, f->match, start - 1)) ||
            is_doubled(t, end, '+') || is_doubled(t, end, '-'))
            return; /* a product; or *s++ */
    }
    if (continues_value(t, end) || is_bracket(t, start - 1, '&'))
        return;
    const bool alone = (is_bracket(t, start - 1, '(') || is_bracket(t, start - 1, ',')) &&
                       (is_bracket(t, end, ')') || is_bracket(t, end, ','));
    const bool is_lvalue = alone || is_assigned(t, end) || is_doubled(t, start - 2, '+') ||
                           is_doubled(t, start - 2, '-');
    f->steps[start] = end << 1 | (unsigned)is_lvalue;
}

/* Whether the name at i declares another variable. Asked for variables declared outside functions,
 * whose names may be used again inside. */
static bool is_declared_anew(const Finder *f, unsigned i) {
    const Tokens *t = f->t;
    const unsigned open = f->around[i];
    if ((is_bracket(t, i - 1, '*') || is_bracket(t, i - 1, '&')) &&
        ends_value(t, i - 2)) { /* T *s; */
        if (t->tokens[i - 3].kind == TOKEN_NAME || is_bracket(t, i - 3, ';') ||
            is_bracket(t, i - 3, '{') || is_bracket(t, i - 3, '}'))
            return true;
    }
    if (is_bracket(t, i - 1, ',') && !is_bracket(t, open, '(')) { /* int a, s; */
        const unsigned start = declaration_start(t, i);
        return start + 2 < i && t->tokens[start].kind == TOKEN_NAME &&
               (t->tokens[start + 1].kind == TOKEN_NAME || is_bracket(t, start + 1, '*'));
    }
    if (!is_bracket(t, open, '(') || word(t, open - 1) == 0 ||
        is_header(t, f->match, f->match[open]))
        return false;
    return is_bracket(t, f->match[open] + 1, '{'); /* a parameter of a function */
}

/* Finds the scope of a variable whose declaration, with volatile at i, is directly inside bracket
 * `open` (0: not in a bracket): after *first, up to *end. Sets *wide outside functions. */
static bool find_scope(const Finder *f, unsigned i, unsigned open, bool shared, unsigned *first,
                       unsigned *end, bool *wide) {
    const Tokens *t = f->t;
    unsigned brace = open;
    const unsigned start = declaration_start(t, open);
    *wide = open == 0;
    *first = i;
    *end = t->n_tokens - 1;
    if (*wide)
        return shared;
    if (f->match[open] <= open)
        return false;
    if (is_bracket(t, open, '(')) {
        for (brace = f->match[open]; !is_bracket(t, brace, '{'); brace++) {
            if (is_bracket(t, brace, ';') || is_bracket(t, brace, '}') || brace + 1 >= t->n_tokens)
                return false;
        }
        for (unsigned k = start; k < open; k++) {
            if (word(t, k) == R___global__)
                return false; /* kernels do not get pointers to shared memory */
        }
    } else if (!is_bracket(t, open, '{')) {
        return false;
    }
    for (unsigned k = start; k < open; k++) {
        *wide = *wide || word(t, k) == R_namespace ||
                (word(t, k) == R_extern && t->tokens[k + 1].kind == TOKEN_STRING && k + 2 == brace);
    }
    if (!*wide)
        *first = brace;
    *end = f->match[brace];
    return *end > brace && (!*wide || shared);
}

enum { WIDE = 1, PARAMETER = 2, SCALAR = 4 }; /* kinds of variables */

/* Finds the uses of the variable declared at token `declared`. */
static void find_uses(Finder *f, unsigned declared, Seen now) {
    const Tokens *t = f->t;
    Seen *seen = &f->seen[word(t, declared)];
    if (seen->first == now.first && seen->kind == now.kind && seen->end >= now.end)
        return;
    *seen = now;
    for (unsigned use = f->next[declared]; use != 0 && use < now.end; use = f->next[use]) {
        if ((use <= now.first && (now.kind & PARAMETER) == 0) || t->tokens[use].system)
            continue;
        if ((now.kind & WIDE) != 0 && is_declared_anew(f, use))
            continue;
        find_use(f, use, (now.kind & SCALAR) != 0);
    }
}

/* Whether __shared__ belongs to the declaration at i: before it, or, except for a parameter, among
 * the words after it. */
static bool is_shared(const Tokens *t, unsigned i, unsigned open, bool list) {
    bool shared = false;
    for (unsigned b = i;
         b > open && !is_bracket(t, b, ';') && !is_bracket(t, b, '}') && !is_bracket(t, b, ',');
         b--)
        shared = shared || word(t, b) == R___shared__;
    for (unsigned b = i; !list && b < t->n_tokens && t->tokens[b].kind == TOKEN_NAME; b++)
        shared = shared || word(t, b) == R___shared__;
    return shared;
}

/* Handles the declaration with volatile at i, directly inside bracket `open`. */
static void find_variables(Finder *f, unsigned i, unsigned open) {
    const Tokens *t = f->t;
    bool pointer = false, wide;
    unsigned first, end, k = i + 1;
    const bool list = is_bracket(t, open, '(');
    bool shared = is_shared(t, i, open, list);
    if (!find_scope(f, i, open, shared, &first, &end, &wide))
        return;
    for (; k < t->n_tokens; k++) {
        const unsigned name = word(t, k);
        shared = shared || name == R___shared__;
        if (is_bracket(t, k, '*')) {
            pointer = true;
        } else if (is_bracket(t, k, '<')) {
            k = skip_angles(t, f->match, k);
        } else if ((name == R_alignas || name == R___align__ || name == R___attribute__) &&
                   is_bracket(t, k + 1, '(') && f->match[k + 1] != 0) {
            k = f->match[k + 1];
        } else if (is_bracket(t, k, ';') || is_bracket(t, k, ',') || is_bracket(t, k, ')') ||
                   is_bracket(t, k, '=') || is_bracket(t, k, '[') || is_bracket(t, k, '{') ||
                   (is_bracket(t, k, '(') && f->match[k] > k)) {
            unsigned declared = k - 1;
            bool array = is_bracket(t, k, '[');
            if (is_bracket(t, k, '(') && (is_bracket(t, k + 1, '*') || is_bracket(t, k + 1, '&')) &&
                is_bracket(t, f->match[k] + 1, '[')) { /* T (*s)[32] */
                k = f->match[k];
                declared = k - 1;
                array = pointer = true;
            } else if (is_bracket(t, k, '(') && (!pointer || list)) {
                return;
            }
            const unsigned variable = word(t, declared);
            if (variable == 0 || declared == i)
                return;
            if (pointer || shared || (list && array)) {
                const unsigned kind = (wide ? WIDE : 0u) | (list ? PARAMETER : 0u) |
                                      (!pointer && !array ? SCALAR : 0u);
                find_uses(f, declared, (Seen){first, end, kind});
            }
            if (list)
                return;
            while (k < end && !is_bracket(t, k, ',') && !is_bracket(t, k, ';')) {
                if ((is_bracket(t, k, '(') || is_bracket(t, k, '[') || is_bracket(t, k, '{')) &&
                    f->match[k] > k)
                    k = f->match[k];
                k++;
            }
            if (!is_bracket(t, k, ','))
                return;
            pointer = false;
        } else if (t->tokens[k].kind != TOKEN_NAME && t->tokens[k].kind != TOKEN_MARKER &&
                   !token_is(t, k, "::")) {
            return;
        }
    }
}

/* Handles the loop whose keyword is at i. ends: for each token, the ; or } that ends its
 * statement; counts: the number of steps before each. */
static void find_loop(Finder *f, unsigned i, const unsigned *ends, const unsigned *counts) {
    const Tokens *t = f->t;
    const unsigned open = i + 1;
    const bool header = is_bracket(t, open, '(') && f->match[open] != 0;
    const unsigned start = word(t, i) == R_do ? i + 1 : header ? f->match[open] + 1 : 0;
    if (start == 0 || is_bracket(t, start, ';'))
        return; /* the end of a do loop, or an empty body */
    const unsigned end = is_bracket(t, start, '{') ? f->match[start] : ends[start];
    if (end > i && counts[end] > counts[i])
        f->steps[t->n_tokens + start] = end;
}

static void find_loops(Finder *f, unsigned *ends, unsigned *counts) {
    const Tokens *t = f->t;
    const unsigned n = t->n_tokens;
    for (unsigned i = n; i-- > 0;) {
        const bool stops = i + 1 == n || is_bracket(t, i, ';') || is_bracket(t, i, '}');
        ends[i] = stops ? i : f->match[i] > i ? ends[f->match[i] + 1] : ends[i + 1];
    }
    for (unsigned i = 0; i < n; i++)
        counts[i + 1] = counts[i] + (f->steps[i] != 0);
    for (unsigned i = 0; i + 1 < n; i++) {
        const unsigned name = t->tokens[i].system ? 0 : word(t, i);
        if (name == R_for || name == R_while || name == R_do)
            find_loop(f, i, ends, counts);
    }
}

/* Fills in next and around; last: n_names zeros, outer: room for all tokens. */
static void find_around(Finder *f, unsigned *last, unsigned *outer) {
    const Tokens *t = f->t;
    unsigned depth = 0;
    for (unsigned i = t->n_tokens; i-- > 0;) {
        const unsigned name = word(t, i);
        f->next[i] = last[name];
        if (name != 0)
            last[name] = i;
    }
    for (unsigned i = 0; i < t->n_tokens; i++) {
        if (f->match[i] < i && f->match[i] != 0) {
            while (depth > 0 && outer[--depth] != f->match[i]) {
            }
        }
        f->around[i] = depth > 0 ? outer[depth - 1] : 0;
        if (f->match[i] > i)
            outer[depth++] = i;
    }
}

unsigned *find_steps(const Tokens *t, const unsigned *match) {
    const size_t n = t->n_tokens;
    unsigned *room = calloc(4 * n + t->n_names + 2, sizeof *room);
    Finder f = {t,    match,    calloc(n, 2 * sizeof *f.steps),
                room, room + n, calloc(t->n_names + 1, sizeof *f.seen)};
    const bool good = room != NULL && f.steps != NULL && f.seen != NULL;
    if (good) {
        find_around(&f, room + 4 * n, room + 2 * n);
        bool seen = false; /* the declarators after a volatile have not been reached */
        for (unsigned i = 0; i < n; i++) {
            const bool found = word(t, i) == R_volatile && !t->tokens[i].system;
            if (found && !seen)
                find_variables(&f, i, f.around[i]);
            const unsigned char kind = t->tokens[i].kind;
            seen = found ||
                   (seen && (kind == TOKEN_NAME || kind == TOKEN_MARKER || is_bracket(t, i, '*')));
        }
        memset(room + 2 * n, 0, (2 * n + 1) * sizeof *room);
        find_loops(&f, room + 2 * n, room + 3 * n);
    }
    free(room);
    free(f.seen);
    if (!good) {
        free(f.steps);
        return NULL;
    }
    return f.steps;
}

unsigned rewrite_step(Rewriter *r, unsigned i) {
    unsigned *loop = &r->steps[r->t.n_tokens + i];
    if (*loop != 0) {
        const unsigned last = *loop;
        text_printf(r->out, " if (::pygpu_sim::sim_together(%uu)) ", last);
        *loop = 0;
        r->copied = i;
        const unsigned next = rewrite_tokens(r, i, i + 1);
        *loop = last;
        return next;
    }
    const unsigned step = r->steps[i], end = step >> 1;
    if ((step & 1) == 0) {
        unsigned name = i, k;
        while (word(&r->t, name) == 0)
            name++; /* skip * and ( */
        text_printf(r->out, "((::pygpu_sim::Stepped<decltype((%s%s", name > i ? "*" : "",
                    r->t.names[r->t.tokens[name].name]);
        for (k = name + 1; name == i && k<end; k = r->match[k]> k ? r->match[k] + 1 : k + 2) {
            if (is_bracket(&r->t, k, '.')) {
                text_printf(r->out, ".%s", r->t.names[r->t.tokens[k + 1].name]);
            } else {
                text_puts(r->out, "[0]");
            }
        }
        text_puts(r->out, "))>)");
    }
    text_puts(r->out, "::pygpu_sim::sim_in_step(");
    r->steps[i] = 0; /* rewrite the variable itself, too */
    r->copied = i;
    rewrite_tokens(r, i, end);
    r->steps[i] = step;
    text_printf(r->out, ", %uu)%s", i, (step & 1) == 0 ? ")" : "");
    return end;
}
