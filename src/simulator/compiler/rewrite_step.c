/* rewrite_step.c - warp-synchronous code, from the time when the threads of a warp ran in step:
 * volatile variables in shared memory, and no __syncwarp.
 *
 *   s[i] += s[i + 16];
 *
 * becomes
 *
 *   ::pygpu_sim::sim_in_step(s[i], 7) +=
 *       ((::pygpu_sim::Stepped<decltype(s[0])>)::pygpu_sim::sim_in_step(s[i + 16], 9));
 *
 * where s is declared volatile: a pointer in a function, or a variable in shared memory.
 * sim_in_step (sim_warp.h) lets the other threads of the warp come to the same place before it goes
 * on, if the variable is shared: reads all happen before the writes that follow them, and writes
 * before the reads behind them. The number grows along the program; where threads have come apart,
 * those go on first that are furthest behind. So that nobody is behind who is in fact a round of a
 * loop ahead, threads meet before each round:
 *
 *   for (...) if (::pygpu_sim::sim_together(the number of the body's end)) body
 *
 * That chooses an order of threads which any GPU might choose, so it is right for all programs. */
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/rewrite.h"

/* Where uses of a variable have been looked for last, and as what. */
typedef struct {
    unsigned first, end, kind;
} Seen;

typedef struct {
    const Tokens *t;
    const unsigned *match;
    unsigned *steps;
    unsigned *next;   /* of each name, the token where it comes next; 0: nowhere */
    unsigned *around; /* of each token, the bracket around it; 0: none */
    Seen *seen;       /* by name */
} Finder;

static unsigned word(const Tokens *t, unsigned i) {
    return t->tokens[i].kind == TOKEN_NAME ? t->tokens[i].name : 0;
}

static bool touch(const Tokens *t, unsigned i) { /* no space before the next token */
    return t->tokens[i].start + t->tokens[i].size == t->tokens[i + 1].start;
}

static bool twice(const Tokens *t, unsigned i, char c) {
    return is_bracket(t, i, c) && is_bracket(t, i + 1, c) && touch(t, i);
}

static bool is_header(const Tokens *t, const unsigned *match,
                      unsigned i) { /* i: the ) of if (...), for (...), ... */
    const unsigned open = is_bracket(t, i, ')') ? match[i] : 0,
                   before = open > 0 ? word(t, open - 1) : 0;
    return before == R_if || before == R_for || before == R_while || before == R_switch;
}

/* A value ends with token i, so that an operator behind it has two operands. */
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

static bool is_assigned(const Tokens *t, unsigned i) { /* i: what comes behind the variable */
    if (is_bracket(t, i, '=') || token_is(t, i, "+=") || token_is(t, i, "-=") ||
        token_is(t, i, "*=") || token_is(t, i, "/="))
        return true;
    if (twice(t, i, '+') || twice(t, i, '-'))
        return true;
    if (!touch(t, i))
        return false;
    if (is_bracket(t, i + 1, '='))
        return is_bracket(t, i, '%') || is_bracket(t, i, '&') || is_bracket(t, i, '|') ||
               is_bracket(t, i, '^') || token_is(t, i, "<<");
    return is_bracket(t, i, '>') && token_is(t, i + 1, ">=");
}

static bool goes_on(const Tokens *t,
                    unsigned i) { /* what is at i belongs to the expression before it */
    return is_bracket(t, i, '[') || is_bracket(t, i, '(') || is_bracket(t, i, '.') ||
           is_bracket(t, i, '{') || token_is(t, i, "->") || token_is(t, i, "::");
}

/* The variable is used at i. */
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
            twice(t, end, '+') || twice(t, end, '-'))
            return; /* a product; *s++ */
    }
    if (goes_on(t, end) || is_bracket(t, start - 1, '&'))
        return;
    const bool alone = (is_bracket(t, start - 1, '(') || is_bracket(t, start - 1, ',')) &&
                       (is_bracket(t, end, ')') || is_bracket(t, end, ','));
    const bool place = alone || is_assigned(t, end) || twice(t, start - 2, '+') ||
                       twice(t, start - 2, '-');
    f->steps[start] = end << 1 | (unsigned)place;
}

/* Outside of functions the name may be declared anew: i: where it stands. */
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
    return is_bracket(t, f->match[open] + 1, '{'); /* a function's parameter */
}

/* Where a variable is known whose declaration, with volatile at i, lies directly inside of bracket
 * `open` (0: of none): behind *first, until *end. True in *wide: outside of functions. */
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
                return false; /* no kernel is given shared memory */
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

/* The uses of the variable that is declared at token `declared`. */
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

/* Whether __shared__ is near the word at i: before it in its declaration, or among the words behind
 * it, but for a parameter's. */
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

/* The declaration with volatile at i, directly inside of bracket `open`. */
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

/* The loop with its word at i. ends: of each token, the ; or } that ends its statement; counts: of
 * steps before each. */
static void find_loop(Finder *f, unsigned i, const unsigned *ends, const unsigned *counts) {
    const Tokens *t = f->t;
    const unsigned open = i + 1;
    const bool header = is_bracket(t, open, '(') && f->match[open] != 0;
    const unsigned start = word(t, i) == R_do ? i + 1 : header ? f->match[open] + 1 : 0;
    if (start == 0 || is_bracket(t, start, ';'))
        return; /* of do; or empty */
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
        bool seen = false; /* the declarators behind a volatile have not come yet */
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
            name++; /* behind * and ( */
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
    r->steps[i] = 0; /* to get to what it is */
    r->copied = i;
    rewrite_tokens(r, i, end);
    r->steps[i] = step;
    text_printf(r->out, ", %uu)%s", i, (step & 1) == 0 ? ")" : "");
    return end;
}
