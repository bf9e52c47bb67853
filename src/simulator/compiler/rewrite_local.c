/* rewrite_local.c - classifies a kernel's local variables: those with one value for the whole
 * block, those that can be computed again, and those that must be kept for each thread.
 *
 * All begin as uniform; whatever contradicts that makes one invariant or variable, until nothing
 * changes. So a loop's counter may depend on itself. What tokens do not show (a function that
 * takes a reference) is found by the C++ compiler, because uniform and invariant locals are const
 * in the regions. */
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/rewrite_region.h"

static bool is_bracket_at(const Regions *g, unsigned i, char c) {
    return is_bracket(&g->r->t, i, c);
}

static bool is_member(const Regions *g, unsigned i) {
    return is_bracket_at(g, i - 1, '.') || region_is(g, i - 1, "->") || region_is(g, i - 1, "::");
}

Local *region_find(Regions *g, unsigned i) {
    const unsigned name = region_word(g, i);
    if (name == 0 || is_member(g, i) || region_is(g, i + 1, "::"))
        return NULL;
    for (unsigned k = g->n_locals; k-- > 0;) {
        Local *local = &g->locals[k];
        if (local->name == name && i >= local->at && i < local->scope)
            return local;
    }
    return NULL;
}

/* Whether the operator after i, or before it, assigns. */
static bool is_assigned(const Regions *g, unsigned i) {
    const Token *next = &g->r->t.tokens[i + 1];
    const char *s = g->r->t.text + next->start;
    if (next->kind != TOKEN_PUNCTUATION)
        return false;
    if (s[next->size - 1] == '=' && !region_is(g, i + 1, "==") && !region_is(g, i + 1, "<=") &&
        !region_is(g, i + 1, ">=") && !region_is(g, i + 1, "!="))
        return true;
    if (next->size == 1 && strchr("%&|^", s[0]) != NULL && is_bracket_at(g, i + 2, '='))
        return true;
    if (region_is(g, i + 1, "<<") && is_bracket_at(g, i + 2, '='))
        return true;
    if (is_bracket_at(g, i + 1, '>') &&
        (region_is(g, i + 2, ">=") ||
         (is_bracket_at(g, i + 2, '>') && is_bracket_at(g, i + 3, '='))))
        return true;
    return (is_bracket_at(g, i + 1, '+') && is_bracket_at(g, i + 2, '+')) ||
           (is_bracket_at(g, i + 1, '-') && is_bracket_at(g, i + 2, '-'));
}

static bool is_argument(const Regions *g, unsigned i) {
    return (is_bracket_at(g, i - 1, '(') || is_bracket_at(g, i - 1, ',')) &&
           (is_bracket_at(g, i + 1, ')') || is_bracket_at(g, i + 1, ','));
}

bool region_changes(const Regions *g, unsigned i) {
    if (is_assigned(g, i) || (is_bracket_at(g, i + 1, ')') && is_assigned(g, i + 1)))
        return true;
    if ((is_bracket_at(g, i - 1, '+') && is_bracket_at(g, i - 2, '+')) ||
        (is_bracket_at(g, i - 1, '-') && is_bracket_at(g, i - 2, '-')))
        return true;
    if (!is_argument(g, i))
        return false;
    unsigned open = i - 1; /* an argument: find the function */
    while (open > g->body && !(is_bracket_at(g, open, '(') && g->r->match[open] > i)) {
        if (is_bracket_at(g, open, ';') || is_bracket_at(g, open, '{'))
            return false;
        open--;
    }
    const unsigned name = region_word(g, open - 1);
    return name != 0 && (g->names[name] & REGION_REFERENCES) != 0;
}

static bool is_number_name(const Regions *g, unsigned i) {
    return region_is_number_type(g, i) || (g->names[region_word(g, i)] & REGION_NUMBER) != 0;
}

/* Detects `typedef float real;`, also through another such name. */
static void find_number(Regions *g, unsigned i) {
    const Tokens *t = &g->r->t;
    if (!region_is(g, i, "typedef"))
        return;
    unsigned k = i + 1;
    while (k < t->n_tokens && is_number_name(g, k))
        k++;
    if (k > i + 1 && k + 1 < t->n_tokens && region_word(g, k) != 0 && is_bracket_at(g, k + 1, ';'))
        g->names[region_word(g, k)] |= REGION_NUMBER;
}

/* Finds types of numbers, and functions that are declared with reference parameters. */
bool region_names(Regions *g) {
    const Tokens *t = &g->r->t;
    Rewriter *r = g->r;
    const bool first = r->region_names == NULL;
    if (first)
        r->region_names = calloc(t->n_names + 1, 1);
    g->names = r->region_names;
    if (g->names == NULL)
        return false;
    for (unsigned i = r->region_names_end; i < g->body; i++)
        find_number(g, i); /* typedefs inside the kernel are statements */
    if (r->region_names_end < g->body)
        r->region_names_end = g->body;
    for (unsigned i = 1; first && i + 1 < t->n_tokens; i++) {
        if (region_word(g, i) == 0 || !is_bracket_at(g, i + 1, '(') || g->r->match[i + 1] <= i)
            continue;
        if (region_word(g, i - 1) == 0 && !is_bracket_at(g, i - 1, '*') &&
            !is_bracket_at(g, i - 1, '&') && !is_bracket_at(g, i - 1, '>'))
            continue;
        for (unsigned k = i + 2; k < g->r->match[i + 1]; k++) {
            if (is_bracket_at(g, k, '&') || region_is(g, k, "&&"))
                g->names[region_word(g, i)] |= REGION_REFERENCES;
        }
    }
    return true;
}

/* ---- expressions that only compute ----------------------------------------------------------- */

enum { THREAD = 1, CHANGES = 2 }; /* allow threadIdx; allow uniform locals that change */

static bool is_known_name(const Regions *g, unsigned i) {
    static const char *const words[] = {
        "blockIdx", "blockDim",  "gridDim", "warpSize",    "true",
        "false",    "const",     "sizeof",  "static_cast", "reinterpret_cast",
        "auto",     "constexpr", "for",     "while",       "if"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        if (region_is(g, i, words[k]))
            return true;
    }
    return is_number_name(g, i);
}

static bool in_names(const unsigned *names, unsigned n, unsigned name) {
    for (unsigned i = 0; i < n; i++) {
        if (names[i] == name)
            return true;
    }
    return false;
}

static bool is_changed(Regions *g, const Local *local) {
    for (unsigned i = local->at + 1; i < local->scope; i++) {
        if (region_word(g, i) == local->name && region_find(g, i) == local && region_changes(g, i))
            return true;
    }
    return false;
}

/* Records a name that is not a local, so that the C++ compiler checks that it is a constant. */
static bool is_constant_later(Regions *g, unsigned i) {
    const unsigned name = region_word(g, i);
    if (in_names(g->memory, g->n_memory, name))
        return false;
    if (region_is(g, i + 1, "::") || region_is(g, i - 1, "::") || is_bracket_at(g, i + 1, '(') ||
        is_bracket_at(g, i + 1, '[') || is_bracket_at(g, i + 1, '<'))
        return false;
    if (g->collects && !in_names(g->constants, g->n_constants, name)) {
        if (g->n_constants == REGION_NAMES)
            return false;
        g->constants[g->n_constants++] = name;
    }
    return true;
}

static bool is_pure(Regions *g, unsigned first, unsigned end, int allowed, const Local *to);

/* i: the & of an address of an element in shared memory or behind a pointer; returns the address's
 * last token, 0 for other addresses */
static unsigned skip_address(Regions *g, unsigned i, int allowed, const Local *to) {
    const Local *local = region_find(g, i + 1);
    const unsigned name = region_word(g, i + 1);
    if (local != NULL ? !local->is_pointer || local->dims < local->dims_end ||
                            local->kind == LOCAL_VARIABLE || !is_pure(g, i + 1, i + 2, allowed, to)
                      : !in_names(g->shared, g->n_shared, name)) {
        return 0;
    }
    unsigned k = i + 2;
    if (!is_bracket_at(g, k, '['))
        return 0;
    for (; is_bracket_at(g, k, '[') && g->r->match[k] > k; k = g->r->match[k] + 1) {
        if (!is_pure(g, k + 1, g->r->match[k], allowed, to))
            return 0;
        if (local != NULL && is_bracket_at(g, g->r->match[k] + 1, '['))
            return 0; /* computing it reads memory */
    }
    return is_bracket_at(g, k, '.') || region_is(g, k, "->") ? 0 : k - 1;
}

/* Whether the local at i may be used in the value of an invariant local. */
static bool is_pure_local(Regions *g, unsigned i, const Local *local, int allowed,
                          const Local *to) {
    if (local->dims < local->dims_end)
        return false;
    if (local->kind == LOCAL_VARIABLE || (local->kind == LOCAL_INVARIANT && !(allowed & THREAD)))
        return false;
    if (is_bracket_at(g, i + 1, '[') || is_bracket_at(g, i + 1, '('))
        return false;
    if (to != NULL && local->kind == LOCAL_UNIFORM &&
        is_changed(g, local)) { /* it may have changed by the time `to` is computed again */
        if (local->body == 0 || to->at < local->body || to->at > local->body_end)
            return false;
        for (unsigned k = local->body; k < local->body_end; k++) {
            if (region_word(g, k) == local->name && region_find(g, k) == local &&
                region_changes(g, k))
                return false;
        }
    }
    return true;
}

/* Whether the name at *i is pure; moves *i to the end of the expression that it begins. */
static bool is_pure_name(Regions *g, unsigned *i, int allowed, const Local *to) {
    const unsigned at = *i;
    const Local *local = region_find(g, at);
    if (is_bracket_at(g, at - 1, '.'))
        return g->r->t.tokens[at].size == 1 && !is_bracket_at(g, at + 1, '('); /* blockIdx.x */
    if (local != NULL)
        return is_pure_local(g, at, local, allowed, to);
    if (region_word(g, at) == R_threadIdx)
        return (allowed & THREAD) != 0;
    if (region_is(g, at, "sizeof")) {
        if (!is_bracket_at(g, at + 1, '(') || g->r->match[at + 1] <= at)
            return false;
        *i = g->r->match[at + 1];
        return true;
    }
    if (region_is(g, at, "static_cast") || region_is(g, at, "reinterpret_cast")) {
        const unsigned close = skip_angles(&g->r->t, g->r->match, at + 1);
        if (close <= at + 1)
            return false;
        *i = close;
        return true;
    }
    const bool shared = in_names(g->shared, g->n_shared, region_word(g, at));
    if (!is_known_name(g, at) && !shared && !is_constant_later(g, at))
        return false;
    return !shared || !is_bracket_at(g, at + 1, '[');
}

/* Whether the operator at *i is pure; moves *i to the end of an address. */
static bool is_pure_operator(Regions *g, unsigned first, unsigned *i, int allowed,
                             const Local *to) {
    static const char *const operators[] = {"+",  "-",  "*",  "/",  "%",  "(",  ")", "<", ">",
                                            "<=", ">=", "==", "!=", "&&", "||", "!", "~", "&",
                                            "|",  "^",  "?",  ":",  "<<", ",",  "."};
    const unsigned at = *i;
    const bool binary = at > first && region_after_value(g, at);
    if (is_bracket_at(g, at, '&') && !binary) {
        *i = skip_address(g, at, allowed, to);
        return *i != 0;
    }
    if (is_bracket_at(g, at, '*') && !is_bracket_at(g, at + 1, ')') &&
        !is_bracket_at(g, at + 1, '*')) {
        if (!binary && !is_bracket_at(g, at - 1, '*'))
            return false;
        if (is_bracket_at(g, at - 1, ')') && g->r->match[at - 1] > first &&
            is_number_name(g, g->r->match[at - 1] + 1))
            return false; /* (int)*p */
    }
    if ((is_bracket_at(g, at, '/') || is_bracket_at(g, at, '%')) && to != NULL &&
        g->r->t.tokens[at + 1].kind != TOKEN_NUMBER)
        return false; /* slow, or may divide by zero */
    if (!(allowed & CHANGES) && ((is_bracket_at(g, at, '+') && is_bracket_at(g, at + 1, '+')) ||
                                 (is_bracket_at(g, at, '-') && is_bracket_at(g, at + 1, '-'))))
        return false;
    bool good = false;
    for (size_t k = 0; k < sizeof operators / sizeof operators[0] && !good; k++)
        good = region_is(g, at, operators[k]);
    if (allowed & CHANGES) {
        good = good || is_bracket_at(g, at, '=') || region_is(g, at, "+=") ||
               region_is(g, at, "-=") || region_is(g, at, "*=") || region_is(g, at, "/=") ||
               is_bracket_at(g, at, ';');
    }
    return good;
}

/* Whether an expression only computes numbers and addresses, from what `allowed` says; to: an
 * invariant local with this value. */
static bool is_pure(Regions *g, unsigned first, unsigned end, int allowed, const Local *to) {
    for (unsigned i = first; i < end; i++) {
        const unsigned char kind = g->r->t.tokens[i].kind;
        if (kind == TOKEN_MARKER || kind == TOKEN_NUMBER)
            continue;
        if (kind == TOKEN_NAME
                ? !is_pure_name(g, &i, allowed, to)
                : kind != TOKEN_PUNCTUATION || !is_pure_operator(g, first, &i, allowed, to))
            return false;
    }
    return true;
}

static bool is_uniform_part(Regions *g, unsigned number) {
    const Part *part = &g->parts[number];
    if (part->kind == PART_DECLARATION) {
        for (unsigned i = 0; i < g->n_locals; i++) {
            if (g->locals[i].part == number && g->locals[i].kind != LOCAL_UNIFORM)
                return false;
        }
        return true;
    }
    if (part->kind != PART_HEAD && part->kind != PART_EXPRESSION)
        return false;
    unsigned first = part->first;
    if (part->kind == PART_HEAD) { /* the token before the bracket of for, while or if */
        while (!is_bracket_at(g, first, '('))
            first++;
        if (region_word(g, part->first) == R_for) { /* skip the declaration's types, which may be
                                                     * any */
            for (unsigned i = 0; i < g->n_locals; i++) {
                if (g->locals[i].part == number)
                    first = first < g->locals[i].at ? g->locals[i].type_end - 1 : first;
            }
        }
    }
    return is_pure(g, first + (part->kind == PART_HEAD ? 1 : 0), part->end, CHANGES, NULL);
}

static unsigned part_of(const Regions *g, unsigned i) {
    for (unsigned k = 0; k < g->n_parts; k++) {
        if (i >= g->parts[k].first && i < g->parts[k].end)
            return k;
    }
    return NOWHERE;
}

static bool may_be_uniform(Regions *g, const Local *local) {
    if (local->dims < local->dims_end || local->is_reference)
        return false;
    if (local->part != NOWHERE) {
        if (local->init == local->init_end ? local->is_auto || !local->is_known
                                           : !is_pure(g, local->init, local->init_end, 0, NULL))
            return false;
        if (!is_uniform_part(g, local->part))
            return false;
    }
    for (unsigned i = local->at + 1; i < local->scope; i++) {
        if (region_word(g, i) != local->name || region_find(g, i) != local || !region_changes(g, i))
            continue;
        const unsigned part = part_of(g, i);
        if (part == NOWHERE || !is_uniform_part(g, part))
            return false;
    }
    return true;
}

static bool may_be_invariant(Regions *g, const Local *local) {
    return local->part != NOWHERE && local->body == 0 && local->dims == local->dims_end &&
           !local->is_reference && local->init < local->init_end &&
           is_pure(g, local->init, local->init_end, THREAD, local) && !is_changed(g, local);
}

static void find_kinds(Regions *g) {
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < g->n_locals; i++) {
            Local *local = &g->locals[i];
            LocalKind kind = local->kind;
            if (kind == LOCAL_UNIFORM && !may_be_uniform(g, local))
                kind = LOCAL_INVARIANT;
            if (kind == LOCAL_INVARIANT && !may_be_invariant(g, local))
                kind = LOCAL_VARIABLE;
            changed = changed || kind != local->kind;
            local->kind = kind;
        }
    }
}

/* ---- variables shared between regions -------------------------------------------------------- */

static void number_regions(Regions *g) {
    const Part *before = NULL;
    for (unsigned i = 0; i < g->n_parts; i++) {
        Part *part = &g->parts[i];
        const bool inside = part->kind == PART_REGION ||
                            ((part->kind == PART_DECLARATION || part->kind == PART_EXPRESSION) &&
                             !is_uniform_part(g, i));
        if (inside) {
            unsigned next = before != NULL ? before->end : 0;
            while (before != NULL && g->r->t.tokens[next].kind == TOKEN_MARKER)
                next++;
            const bool joins = before != NULL && before->region != 0 &&
                               before->list == part->list && next == part->first;
            part->region = joins ? before->region : ++g->n_regions;
        }
        before = part;
    }
    for (unsigned i = 0; i < g->n_locals; i++) {
        if (g->locals[i].part != NOWHERE)
            g->locals[i].region = g->parts[g->locals[i].part].region;
    }
}

static void find_crossing(Regions *g) {
    for (unsigned i = 0; i < g->n_parts; i++) {
        const Part *part = &g->parts[i];
        for (unsigned k = part->first; k < part->end; k++) {
            Local *local = region_find(g, k);
            if (local != NULL && local->kind == LOCAL_VARIABLE && part->region != local->region)
                local->crosses = true;
        }
    }
}

/* Whether a pointer that several regions use is assigned an address that outlives the region. */
static bool is_lasting_address(Regions *g, unsigned first, unsigned end) {
    for (unsigned i = first; i < end; i++) {
        if (g->r->t.tokens[i].kind != TOKEN_NAME || is_bracket_at(g, i - 1, '.'))
            continue;
        const Local *local = region_find(g, i);
        const bool address = is_bracket_at(g, i - 1, '&') && !region_after_value(g, i - 1);
        if (local != NULL && address &&
            (!local->is_pointer || !(is_bracket_at(g, i + 1, '[') || region_is(g, i + 1, "->"))))
            return false;
        if (local != NULL
                ? local->dims < local->dims_end || local->is_reference ||
                      (!local->is_known && !local->is_pointer && local->kind == LOCAL_VARIABLE)
                : !is_known_name(g, i) && !in_names(g->shared, g->n_shared, region_word(g, i)) &&
                      region_word(g, i) != R_threadIdx) {
            return false;
        }
        if (is_bracket_at(g, i + 1, '(') && !region_is(g, i, "sizeof"))
            return false;
    }
    return true;
}

static unsigned expression_end(const Regions *g, unsigned i) {
    for (; i < g->end && !is_bracket_at(g, i, ';') && !is_bracket_at(g, i, ',') &&
           !is_bracket_at(g, i, ')');
         i++) {
        if ((is_bracket_at(g, i, '(') || is_bracket_at(g, i, '[') || is_bracket_at(g, i, '{')) &&
            g->r->match[i] > i)
            i = g->r->match[i];
    }
    return i;
}

static bool is_well_used(Regions *g, const Local *local) {
    const bool is_array = local->dims < local->dims_end;
    unsigned dims = 0;
    for (unsigned i = local->dims; i < local->dims_end; i++) {
        if (is_bracket_at(g, i, '[')) {
            dims++;
            i = g->r->match[i];
        }
    }
    if (local->crosses) {
        if (local->is_auto || local->is_reference || (is_array && local->is_const))
            return false;
        if (local->is_pointer && local->init < local->init_end &&
            !is_lasting_address(g, local->init, local->init_end))
            return false;
    }
    for (unsigned i = local->at + 1; i < local->scope; i++) {
        if (region_word(g, i) != local->name || region_find(g, i) != local)
            continue;
        const bool address = is_bracket_at(g, i - 1, '&') && !region_after_value(g, i - 1);
        if (address && (!local->is_pointer || is_array ||
                        !(is_bracket_at(g, i + 1, '[') || region_is(g, i + 1, "->")))) {
            if (local->crosses || local->kind != LOCAL_VARIABLE)
                return false;
        }
        if (local->is_pointer &&
            (region_is_number_type(g, i - 1) ||
             (is_bracket_at(g, i - 1, '*') && region_is_number_type(g, i - 2))))
            return false; /* a different variable with the same name */
        if (!local->crosses)
            continue;
        if (is_array) { /* every use must be one of its elements */
            unsigned k = i + 1, n = 0;
            for (; is_bracket_at(g, k, '[') && g->r->match[k] > k; k = g->r->match[k] + 1)
                n++;
            if (n < dims)
                return false;
        }
        if (local->is_pointer && region_changes(g, i) && is_argument(g, i))
            return false; /* the function may assign an unknown address */
        if (local->is_pointer && is_bracket_at(g, i + 1, '=') &&
            !is_lasting_address(g, i + 2, expression_end(g, i + 2)))
            return false;
    }
    return true;
}

bool region_classify(Regions *g) {
    for (unsigned i = 0; i < g->n_locals;
         i++) { /* two visible variables with the same name would be confused */
        for (unsigned k = 0; k < i; k++) {
            if (g->locals[k].name == g->locals[i].name && g->locals[i].at < g->locals[k].scope)
                return false;
        }
    }
    find_kinds(g);
    g->collects = true;
    for (unsigned i = 0; i < g->n_parts; i++) {
        if (g->parts[i].kind == PART_HEAD && !is_uniform_part(g, i))
            return false;
    }
    number_regions(g);
    for (unsigned i = 0; i < g->n_locals; i++) {
        if (g->locals[i].kind == LOCAL_INVARIANT)
            may_be_invariant(g, &g->locals[i]);
        else if (g->locals[i].kind == LOCAL_UNIFORM)
            may_be_uniform(g, &g->locals[i]);
    }
    find_crossing(g);
    for (unsigned i = 0; i < g->n_locals; i++) {
        if (!is_well_used(g, &g->locals[i]))
            return false;
    }
    return true;
}
