/* rewrite_statement.c - parses the body of a kernel into a list of parts, and the variables
 * declared between its barriers.
 *
 * Only statements that contain a barrier are parsed: blocks, for, while, do and if. All others are
 * kept whole. */
#include <string.h>

#include "simulator/compiler/rewrite_region.h"

bool region_is(const Regions *g, unsigned i, const char *text) {
    return token_is(&g->r->t, i, text);
}

unsigned region_word(const Regions *g, unsigned i) {
    return g->r->t.tokens[i].kind == TOKEN_NAME ? g->r->t.tokens[i].name : 0;
}

static bool is_bracket_at(const Regions *g, unsigned i, char c) {
    return is_bracket(&g->r->t, i, c);
}

static bool is_marker(const Regions *g, unsigned i) {
    return g->r->t.tokens[i].kind == TOKEN_MARKER;
}

static bool is_one_of(const Regions *g, unsigned i, const char *const *words, size_t n) {
    for (size_t k = 0; k < n; k++) {
        if (region_is(g, i, words[k]))
            return true;
    }
    return false;
}

bool region_is_number_type(const Regions *g, unsigned i) {
    static const char *const words[] = {
        "int",      "unsigned",  "float",     "double",  "char",    "short",    "long",
        "bool",     "signed",    "size_t",    "uint",    "uchar",   "ushort",   "ulong",
        "int8_t",   "int16_t",   "int32_t",   "int64_t", "uint8_t", "uint16_t", "uint32_t",
        "uint64_t", "ptrdiff_t", "uintptr_t", "intptr_t"};
    return region_word(g, i) != 0 && is_one_of(g, i, words, sizeof words / sizeof words[0]);
}

static bool is_vector_type(const Regions *g, unsigned i) {
    static const char *const bases[] = {"char",     "uchar",     "short", "ushort",
                                        "int",      "uint",      "long",  "ulong",
                                        "longlong", "ulonglong", "float", "double"};
    const Token *token = &g->r->t.tokens[i];
    const char *s = g->r->t.text + token->start;
    if (token->kind != TOKEN_NAME || s[token->size - 1] < '1' || s[token->size - 1] > '4')
        return false;
    for (size_t k = 0; k < sizeof bases / sizeof bases[0]; k++) {
        if (strlen(bases[k]) + 1 == token->size && memcmp(s, bases[k], token->size - 1) == 0)
            return true;
    }
    return false;
}

bool region_after_value(const Regions *g, unsigned i) {
    do
        i--;
    while (is_marker(g, i));
    const unsigned char kind = g->r->t.tokens[i].kind;
    return kind == TOKEN_NAME || kind == TOKEN_NUMBER || is_bracket_at(g, i, ')') ||
           is_bracket_at(g, i, ']');
}

static unsigned skip_markers(const Regions *g, unsigned i) {
    while (is_marker(g, i))
        i++;
    return i;
}

/* The token after the statement at i; 0: its end was not found. */
static unsigned statement_end(const Regions *g, unsigned i) {
    i = skip_markers(g, i);
    const unsigned *match = g->r->match, word = region_word(g, i);
    if (i >= g->end)
        return 0;
    if (is_bracket_at(g, i, '{'))
        return match[i] > i ? match[i] + 1 : 0;
    if (word == R_for || word == R_while || word == R_if || word == R_switch) {
        unsigned open = i + 1;
        if (region_is(g, open, "constexpr"))
            open++;
        if (!is_bracket_at(g, open, '(') || match[open] <= open)
            return 0;
        unsigned end = statement_end(g, match[open] + 1);
        if (word != R_if || end == 0)
            return end;
        const unsigned next = skip_markers(g, end);
        return next < g->end && region_word(g, next) == R_else ? statement_end(g, next + 1) : end;
    }
    if (word == R_do) {
        const unsigned end = statement_end(g, i + 1), next = end != 0 ? skip_markers(g, end) : 0;
        if (next == 0 || region_word(g, next) != R_while || !is_bracket_at(g, next + 1, '(') ||
            match[next + 1] == 0)
            return 0;
        return is_bracket_at(g, match[next + 1] + 1, ';') ? match[next + 1] + 2 : 0;
    }
    for (; i < g->end; i++) {
        if (is_bracket_at(g, i, ';'))
            return i + 1;
        if (is_bracket_at(g, i, '(') || is_bracket_at(g, i, '[') || is_bracket_at(g, i, '{')) {
            if (match[i] <= i)
                return 0;
            i = match[i];
        }
    }
    return 0;
}

static bool is_barrier_name(unsigned name) {
    return name == R___syncthreads || name == R___syncwarp;
}

static bool has_barrier(const Regions *g, unsigned first, unsigned end) {
    for (unsigned i = first; i < end; i++) {
        if (is_barrier_name(region_word(g, i)))
            return true;
    }
    return false;
}

static bool add_part(Regions *g, PartKind kind, unsigned first, unsigned end, unsigned list) {
    if (g->n_parts == REGION_PARTS)
        return false;
    g->parts[g->n_parts++] = (Part){kind, first, end, list, 0};
    return true;
}

/* ---- declarations ---------------------------------------------------------------------------- */

static bool is_qualifier(const Regions *g, unsigned i) {
    static const char *const words[] = {"const", "constexpr", "register"};
    return region_word(g, i) != 0 && is_one_of(g, i, words, sizeof words / sizeof words[0]);
}

static bool is_restrict(const Regions *g, unsigned i) {
    return region_is(g, i, "__restrict__") || region_is(g, i, "__restrict");
}

/* Parses a type at i, without asterisks. Returns the token after it, or i if there is no type. */
static unsigned type_end(const Regions *g, unsigned i, Local *out) {
    unsigned k = i;
    bool named = false;
    while (k < g->end) {
        if (is_qualifier(g, k)) {
            out->is_const = out->is_const || !region_is(g, k, "register");
            k++;
        } else if (region_is_number_type(g, k)) {
            named = out->is_known = true;
            k++;
        } else if (!named && region_word(g, k) != 0) {
            if (region_is(g, k, "auto"))
                out->is_auto = true;
            out->is_known = out->is_vector = is_vector_type(g, k);
            if (region_word(g, k) == R_typename)
                k++;
            named = true;
            k++;
            for (;;) {
                if (is_bracket_at(g, k, '<')) {
                    const unsigned close = skip_angles(&g->r->t, g->r->match, k);
                    if (close == k)
                        return i;
                    k = close + 1;
                } else if (region_is(g, k, "::") && region_word(g, k + 1) != 0) {
                    k += 2;
                    out->is_known = out->is_vector = false;
                } else {
                    break;
                }
            }
        } else {
            break;
        }
    }
    return named ? k : i;
}

/* Parses declarators from i up to a semicolon, and adds their locals. */
static bool parse_declarators(Regions *g, unsigned i, unsigned end, unsigned scope,
                              const Local *type) {
    const unsigned *match = g->r->match;
    for (;;) {
        Local local = *type;
        local.stars = i;
        for (; i < end; i++) {
            if (is_bracket_at(g, i, '*'))
                local.is_pointer = true, local.is_const = false;
            else if (is_bracket_at(g, i, '&') || region_is(g, i, "&&"))
                local.is_reference = true;
            else if (region_is(g, i, "const"))
                local.is_const = true;
            else if (!is_restrict(g, i) && !is_marker(g, i))
                break;
        }
        if (i >= end || region_word(g, i) == 0)
            return false;
        local.name = region_word(g, i);
        local.at = i++;
        local.scope = scope;
        local.dims = i;
        while (is_bracket_at(g, i, '[') && match[i] > i)
            i = match[i] + 1;
        local.dims_end = i;
        local.init = local.init_end = i;
        if (is_bracket_at(g, i, '=')) {
            local.init = ++i;
            while (i < end && !is_bracket_at(g, i, ',') && !is_bracket_at(g, i, ';')) {
                if (is_bracket_at(g, i, '(') || is_bracket_at(g, i, '[') ||
                    is_bracket_at(g, i, '{')) {
                    if (match[i] <= i)
                        return false;
                    i = match[i];
                } else if (is_bracket_at(g, i, '<')) {
                    i = skip_angles(
                        &g->r->t, match,
                        i); /* the commas of template arguments; does nothing at a comparison */
                }
                i++;
            }
            local.init_end = i;
        } else if ((is_bracket_at(g, i, '{') || is_bracket_at(g, i, '(')) && match[i] > i) {
            local.init = i + 1;
            local.init_end = match[i];
            i = match[i] + 1;
        }
        if (g->n_locals == REGION_LOCALS)
            return false;
        g->locals[g->n_locals++] = local;
        if (is_bracket_at(g, i, ';'))
            return i + 1 == end;
        if (!is_bracket_at(g, i, ','))
            return false;
        i++;
    }
}

/* Returns 1 if first .. end is a declaration, whose locals are added; 0 if it is not; -1 if it was
 * not understood */
static int parse_declaration(Regions *g, unsigned first, unsigned end, unsigned scope) {
    Local type = {.part = NOWHERE, .type = first};
    type.type_end = type_end(g, first, &type);
    unsigned i = type.type_end;
    if (i == first)
        return is_qualifier(g, first) ? -1 : 0;
    const bool certain = is_qualifier(g, first) || region_is_number_type(g, first) || type.is_auto;
    if (certain && (is_bracket_at(g, i, '(') || is_bracket_at(g, i, '{')))
        return -1; /* int(x): an expression */
    while (i < end && (is_bracket_at(g, i, '*') || is_bracket_at(g, i, '&') ||
                       region_is(g, i, "&&") || is_restrict(g, i) || region_is(g, i, "const")))
        i++;
    if (region_word(g, i) == 0)
        return certain ? -1 : 0;
    if (!certain) { /* T x, T *x; not the product a * b */
        for (unsigned k = 0; k < g->n_locals; k++) {
            if (g->locals[k].name == region_word(g, first) && first < g->locals[k].scope)
                return 0;
        }
        if (!is_bracket_at(g, i + 1, '=') && !is_bracket_at(g, i + 1, ';') &&
            !is_bracket_at(g, i + 1, ',') && !is_bracket_at(g, i + 1, '[') &&
            !is_bracket_at(g, i + 1, '{') && !is_bracket_at(g, i + 1, '(')) {
            return -1;
        }
    }
    return parse_declarators(g, type.type_end, end, scope, &type) ? 1 : -1;
}

static bool parse_shared(Regions *g, unsigned first, unsigned end) {
    for (unsigned i = first; i < end; i++) {
        if (is_bracket_at(g, i, '(') || is_bracket_at(g, i, '{'))
            return region_is(g, first, "extern") ||
                   region_is(g, i - 1, "__align__"); /* arguments of a constructor */
        if (region_word(g, i) == 0)
            continue;
        if (is_bracket_at(g, i + 1, '[')) {
            if (g->n_shared == REGION_NAMES)
                return false;
            g->shared[g->n_shared++] = region_word(g, i);
            i++;
        } else if (is_bracket_at(g, i + 1, ';') || is_bracket_at(g, i + 1, ',') ||
                   is_bracket_at(g, i + 1, '=')) {
            if (g->n_memory == REGION_NAMES)
                return false;
            g->memory[g->n_memory++] = region_word(g, i);
        }
        if (is_bracket_at(g, i, '[') && g->r->match[i] > i)
            i = g->r->match[i];
    }
    return true;
}

/* ---- statements ------------------------------------------------------------------------------ */

static bool parse_list(Regions *g, unsigned first, unsigned end);
static bool parse_around_barrier(Regions *g, unsigned i, unsigned stop, unsigned list);

static bool is_barrier(const Regions *g, unsigned i, unsigned stop) {
    return is_barrier_name(region_word(g, i)) && is_bracket_at(g, i + 1, '(') &&
           is_bracket_at(g, i + 2, ')') && i + 4 == stop;
}

/* The last token of the body of a loop or condition; 0: its end was not found. */
static unsigned body_last(const Regions *g, unsigned i) {
    const unsigned end = statement_end(g, i);
    return end != 0 ? end - 1 : 0;
}

/* i: a {; or, without braces, a barrier or a statement that may contain one: nothing is ever
 * inserted before these. */
static bool parse_block(Regions *g, unsigned i) {
    if (is_bracket_at(g, i, '{'))
        return g->r->match[i] > i && parse_list(g, i + 1, g->r->match[i]);
    const unsigned stop = statement_end(g, i), word = region_word(g, i);
    if (stop == 0 || stop > g->end)
        return false;
    if (is_barrier(g, i, stop))
        return add_part(g, PART_BARRIER, i, stop, g->n_lists++);
    return (word == R_for || word == R_while || word == R_if || word == R_do) &&
           has_barrier(g, i, stop) && parse_around_barrier(g, i, stop, g->n_lists++);
}

static bool parse_for(Regions *g, unsigned first, unsigned list) {
    const unsigned open = first + 1, close = g->r->match[open], body = skip_markers(g, close + 1);
    unsigned semicolons = 0, init_end = 0;
    for (unsigned i = open + 1; i < close; i++) {
        if (is_bracket_at(g, i, '(') && g->r->match[i] > i)
            i = g->r->match[i];
        else if (is_bracket_at(g, i, ';') && semicolons++ == 0)
            init_end = i + 1;
    }
    const unsigned last = body_last(g, body);
    if (semicolons != 2 || last <= body)
        return false;
    const unsigned before = g->n_locals;
    if (init_end > open + 2 && parse_declaration(g, open + 1, init_end, last) < 0)
        return false;
    for (unsigned k = before; k < g->n_locals; k++) {
        g->locals[k].part = g->n_parts;
        g->locals[k].body = body;
        g->locals[k].body_end = last;
    }
    return add_part(g, PART_HEAD, first, close + 1, list) && parse_block(g, body);
}

static bool parse_if(Regions *g, unsigned first, unsigned end, unsigned list) {
    const unsigned open = region_is(g, first + 1, "constexpr") ? first + 2 : first + 1,
                   body = skip_markers(g, g->r->match[open] + 1);
    if (!add_part(g, PART_HEAD, first, g->r->match[open] + 1, list) || !parse_block(g, body))
        return false;
    unsigned next = skip_markers(g, body_last(g, body) + 1);
    if (next >= end || region_word(g, next) != R_else)
        return true;
    next = skip_markers(g, next + 1);
    return region_word(g, next) == R_if ? parse_if(g, next, end, list) : parse_block(g, next);
}

static bool parse_around_barrier(Regions *g, unsigned i, unsigned stop, unsigned list) {
    switch (region_word(g, i)) {
    case R_for:
        return parse_for(g, i, list);
    case R_if:
        return parse_if(g, i, stop, list);
    case R_while:
        return add_part(g, PART_HEAD, i, g->r->match[i + 1] + 1, list) &&
               parse_block(g, skip_markers(g, g->r->match[i + 1] + 1));
    case R_do: {
        const unsigned body = skip_markers(g, i + 1);
        return parse_block(g, body) &&
               add_part(g, PART_HEAD, skip_markers(g, body_last(g, body) + 1), stop, list);
    }
    default:
        return parse_block(g, i);
    }
}

static bool parse_list(Regions *g, unsigned first, unsigned end) {
    static const char *const unknown[] = {
        "goto",      "case",         "default", "break",    "continue", "static",
        "extern",    "struct",       "class",   "union",    "enum",     "try",
        "throw",     "template",     "asm",     "__asm__",  "__asm",    "volatile",
        "namespace", "thread_local", "alignas", "co_await", "else"};
    static const char *const types[] = {"typedef", "using", "static_assert"};
    const unsigned list = g->n_lists++;
    for (unsigned i = skip_markers(g, first); i < end;) {
        const unsigned stop = statement_end(g, i), word = region_word(g, i);
        if (stop == 0 || stop > end)
            return false;
        bool good, shared = false;
        for (unsigned k = i; k < stop && !is_bracket_at(g, k, '{'); k++)
            shared = shared || region_word(g, k) == R___shared__;
        if (is_barrier(g, i, stop)) {
            good = add_part(g, PART_BARRIER, i, stop, list);
        } else if (has_barrier(g, i, stop)) {
            good = parse_around_barrier(g, i, stop, list);
        } else if (shared) {
            good = parse_shared(g, i, stop) && add_part(g, PART_OUTSIDE, i, stop, list);
        } else if (word != 0 && is_one_of(g, i, types, sizeof types / sizeof types[0])) {
            good = add_part(g, PART_OUTSIDE, i, stop, list);
        } else if (word == R_for || word == R_while || word == R_if || word == R_do ||
                   word == R_switch || word == R_return || is_bracket_at(g, i, '{') ||
                   is_bracket_at(g, i, ';')) {
            good = add_part(g, PART_REGION, i, stop, list);
        } else if ((word != 0 && is_one_of(g, i, unknown, sizeof unknown / sizeof unknown[0])) ||
                   (word != 0 && is_bracket_at(g, i + 1, ':'))) {
            good = false;
        } else {
            const unsigned before = g->n_locals;
            const int declaration = parse_declaration(g, i, stop, end);
            for (unsigned k = before; k < g->n_locals; k++)
                g->locals[k].part = g->n_parts;
            good = declaration >= 0 &&
                   add_part(g, declaration ? PART_DECLARATION : PART_EXPRESSION, i, stop, list);
        }
        if (!good)
            return false;
        i = skip_markers(g, stop);
    }
    return true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool parse_params(Regions *g) {
    for (unsigned i = g->params; i < g->params_end;) {
        Local local = {.part = NOWHERE, .type = i, .scope = g->end};
        unsigned stop = i, equals = 0;
        for (; stop < g->params_end && !is_bracket_at(g, stop, ','); stop++) {
            if ((is_bracket_at(g, stop, '(') || is_bracket_at(g, stop, '[') ||
                 is_bracket_at(g, stop, '{')) &&
                g->r->match[stop] > stop)
                stop = g->r->match[stop];
            else if (is_bracket_at(g, stop, '<'))
                stop = skip_angles(&g->r->t, g->r->match, stop);
            else if (is_bracket_at(g, stop, '=') && equals == 0)
                equals = stop;
            local.is_pointer = local.is_pointer || is_bracket_at(g, stop, '*');
            if (region_is(g, stop, "...") || is_bracket_at(g, stop, '&') ||
                is_bracket_at(g, stop, '('))
                return false;
        }
        unsigned name = (equals != 0 ? equals : stop) - 1;
        if (is_bracket_at(g, name, ']'))
            return false; /* int a[] */
        while (is_marker(g, name))
            name--;
        if (name > i && region_word(g, name) != 0) { /* otherwise the parameter has no name */
            if (g->n_locals == REGION_LOCALS)
                return false;
            local.type_end = local.stars = name;
            local.name = region_word(g, name);
            local.at = name;
            local.is_known = local.is_pointer;
            for (unsigned k = i; k < name; k++)
                local.is_vector = local.is_vector || is_vector_type(g, k),
                local.is_known = local.is_known || region_is_number_type(g, k) ||
                                 is_vector_type(g, k);
            g->locals[g->n_locals++] = local;
        }
        i = stop + 1;
    }
    return true;
}

/* Whether the body has none of the words that this parser cannot handle. */
static bool has_only_known_words(Regions *g) {
    unsigned barriers = 0;
    for (unsigned i = g->params; i < g->end; i++) {
        const unsigned name = region_word(g, i);
        if (g->r->steps[i] != 0)
            return false;
        if (is_barrier_name(name))
            barriers++;
        else if (name != 0 && name != R_threadIdx && g->r->dependent[name])
            return false;
        if (name == R_struct || name == R_class || name == R_union || name == R_goto ||
            name == R_asm || name == R___asm__ || name == R___asm || name == R_operator ||
            (name == R_static && region_word(g, i + 1) != R___shared__)) {
            return false;
        }
        if (is_bracket_at(g, i, '[') && (!region_after_value(g, i) || region_is(g, i - 1, "auto")))
            return false; /* a lambda, an attribute, a structured binding */
        if (name == R_return) {
            if (!is_bracket_at(g, i + 1, ';'))
                return false;
            g->returns = true;
        }
    }
    return barriers > 0;
}

/* Parses arrays in shared memory that are declared outside functions. */
static bool parse_globals(Regions *g) {
    SharedNames *known = &g->r->globals;
    g->n_shared = known->n_shared;
    g->n_memory = known->n_memory;
    memcpy(g->shared, known->shared, sizeof g->shared);
    memcpy(g->memory, known->memory, sizeof g->memory);
    unsigned i = known->end;
    for (; i < g->body && !known->unknown; i++) {
        if (is_bracket_at(g, i, '{')) {
            bool is_scope = false;
            for (unsigned k = declaration_start(&g->r->t, i); k < i; k++)
                is_scope = is_scope || region_word(g, k) == R_namespace ||
                           (region_word(g, k) == R_extern && k + 2 == i);
            if (!is_scope && g->r->match[i] > i)
                i = g->r->match[i];
        } else if (region_word(g, i) == R___shared__) {
            const unsigned end = statement_end(g, i);
            known->unknown = end == 0 || !parse_shared(g, i, end);
            i = end != 0 ? end - 1 : i;
        }
    }
    known->end = i;
    known->n_shared = g->n_shared;
    known->n_memory = g->n_memory;
    memcpy(known->shared, g->shared, sizeof g->shared);
    memcpy(known->memory, g->memory, sizeof g->memory);
    return !known->unknown;
}

bool region_parse(Regions *g) {
    if (g->r->dependent[R_operator] || !has_only_known_words(g) || !parse_globals(g) ||
        !parse_params(g) || !parse_list(g, g->body + 1, g->end))
        return false;
    unsigned barriers = 0, parts = 0;
    for (unsigned i = g->body; i < g->end; i++)
        barriers += is_barrier_name(region_word(g, i));
    for (unsigned i = 0; i < g->n_parts; i++) {
        const Part *part = &g->parts[i];
        parts += part->kind == PART_BARRIER;
        for (unsigned k = part->first; k < part->end && part->kind == PART_REGION; k++) {
            if (region_word(g, k) == R___shared__)
                return false;
        }
    }
    return barriers == parts; /* each was recognized */
}
