/* rewrite.c - CUDA C++ to C++, token by token, after preprocessing. Line numbers do not change.
 *
 *   __device__, __host__, ...             nothing; on variables "used", so that they can be
 *                                         found by name
 *   __shared__ T x[n];                    static thread_local T x[n];   a block runs on one
 *                                         system thread
 *   extern __shared__ T s[];              a reference to the context's dynamic shared memory
 *   __global__ void k(P) {...}            see rewrite_kernel.c
 *   threadIdx, ... outside of kernels     read from the context
 *   printf, malloc, free, clock           the simulator's
 *
 * Tokens are replaced, rather than macros defined, because headers of the C++ library use some of
 * these words themselves. */
#include "simulator/compiler/rewrite.h"

#include "../pygpu/cuda/simulator/include/pygpu_sim_abi.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEGINS_NOTHING, BEGINS_KERNEL, BEGINS_EXTERN_SHARED, DROP };

/* ---- helpers --------------------------------------------------------------------------------- */

bool rewrite_words(Tokens *tokens) {
    static const char *const words[] = {
#define W(word) #word,
        REWRITE_WORDS(W)
#undef W
    };
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (lex_name(tokens, words[i], strlen(words[i])) != i + 1)
            return false;
    }
    return true;
}

bool is_bracket(const Tokens *tokens, unsigned i, char c) {
    const Token *token = &tokens->tokens[i];
    return token->kind == TOKEN_PUNCTUATION && token->size == 1 && tokens->text[token->start] == c;
}

unsigned *rewrite_match(const Tokens *tokens) {
    const unsigned n = tokens->n_tokens;
    unsigned *match = calloc(n, sizeof *match), *stack = malloc(n * sizeof *stack), depth = 0;
    if (match != NULL && stack != NULL) {
        for (unsigned i = 0; i < n; i++) {
            const Token *token = &tokens->tokens[i];
            if (token->kind != TOKEN_PUNCTUATION || token->size != 1)
                continue;
            const char c = tokens->text[token->start];
            if (c == '(' || c == '[' || c == '{') {
                stack[depth++] = i;
            } else if (c == ')' || c == ']' || c == '}') {
                const char open = c == ')' ? '(' : c == ']' ? '[' : '{';
                while (depth > 0 && tokens->text[tokens->tokens[stack[depth - 1]].start] != open)
                    depth--;
                if (depth > 0) {
                    match[stack[--depth]] = i;
                    match[i] = stack[depth];
                }
            }
        }
    }
    free(stack);
    return match;
}

unsigned declaration_start(const Tokens *tokens, unsigned i) {
    return tokens->starts[i];
}

static bool find_starts(Tokens *t) {
    unsigned first = NOWHERE; /* of the declaration, after markers; NOWHERE: it has not begun */
    t->starts = malloc(t->n_tokens * sizeof *t->starts);
    for (unsigned i = 0; t->starts != NULL && i < t->n_tokens; i++) {
        const Token *token = &t->tokens[i];
        if (first == NOWHERE && token->kind != TOKEN_MARKER)
            first = i;
        t->starts[i] = first != NOWHERE ? first : i;
        const bool pragma = token->kind == TOKEN_MARKER && t->text[token->start + 1] == 'p';
        if (pragma || is_bracket(t, i, ';') || is_bracket(t, i, '{') || is_bracket(t, i, '}')) {
            first = NOWHERE;
        }
    }
    return t->starts != NULL;
}

/* Finds, for each token, whether it is inside braces other than those of a namespace or extern
 * "C". */
static bool *find_inside(const Tokens *t, const unsigned *match) {
    bool *inside = calloc(t->n_tokens + 1, sizeof *inside);
    for (unsigned i = 0; inside != NULL && i < t->n_tokens; i++) {
        inside[i + 1] = inside[i];
        if (is_bracket(t, i, '{')) {
            bool is_scope = false;
            for (unsigned k = declaration_start(t, i); k < i; k++) {
                const unsigned name = t->tokens[k].kind == TOKEN_NAME ? t->tokens[k].name : 0;
                is_scope = is_scope || name == R_namespace || (name == R_extern && k + 2 == i);
            }
            inside[i + 1] = inside[i] || !is_scope;
        } else if (is_bracket(t, i, '}') && match[i] != 0) {
            inside[i + 1] = inside[match[i]];
        }
    }
    return inside;
}

unsigned skip_angles(const Tokens *tokens, const unsigned *match, unsigned i) {
    unsigned depth = 0;
    for (unsigned k = i; k < tokens->n_tokens; k++) {
        if (is_bracket(tokens, k, '(') || is_bracket(tokens, k, '[') ||
            is_bracket(tokens, k, '{')) {
            if (match[k] == 0)
                return i;
            k = match[k];
        } else if (is_bracket(tokens, k, '<')) {
            depth++;
        } else if (is_bracket(tokens, k, '>')) {
            if (--depth == 0)
                return k;
        } else if (is_bracket(tokens, k, ';') || is_bracket(tokens, k, ')') ||
                   is_bracket(tokens, k, '}')) {
            return i;
        }
    }
    return i;
}

static bool is_line_marker(const Rewriter *r, unsigned i) {
    const Token *token = &r->t.tokens[i];
    return token->kind == TOKEN_MARKER && strncmp(r->t.text + token->start, "# ", 2) == 0;
}

const char *rewrite_location(Rewriter *r, unsigned i, unsigned *line, int *size) {
    const bool goes_on = r->line_search.line != 0 && i >= r->line_search.token;
    const unsigned stop = goes_on ? r->line_search.token : 0;
    unsigned k = i, marker = goes_on ? r->line_search.marker : NOWHERE;
    size_t from = goes_on ? r->t.tokens[stop].start : 0;
    const char *name = "";
    *line = goes_on ? r->line_search.line : 1;
    *size = 0;
    while (k > stop && !is_line_marker(r, k))
        k--;
    if (is_line_marker(r, k)) {
        marker = k;
        *line = (unsigned)strtoul(r->t.text + r->t.tokens[k].start + 2, NULL, 10);
        from = r->t.tokens[k].start + r->t.tokens[k].size + 1;
    }
    if (marker != NOWHERE) {
        const char *s = r->t.text + r->t.tokens[marker].start;
        const char *quote = memchr(s, '"', r->t.tokens[marker].size);
        if (quote != NULL) {
            const char *end =
                memchr(quote + 1, '"', (size_t)(s + r->t.tokens[marker].size - quote) - 1);
            name = quote + 1;
            *size = end != NULL ? (int)(end - name) : 0;
        }
    }
    for (size_t at = from; at < r->t.tokens[i].start; at++)
        *line += r->t.text[at] == '\n';
    r->line_search.token = i;
    r->line_search.marker = marker;
    r->line_search.line = *line;
    return name;
}

void rewrite_error(Rewriter *r, unsigned i, const char *format, ...) {
    unsigned line;
    int size;
    va_list values;
    char text[600];
    r->failed = true;
    if (r->n_errors++ >= 100)
        return; /* callers need no more */
    const char *name = rewrite_location(r, i, &line, &size);
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    text_printf(r->log, "%.*s:%u:0: error: %s\n", size, name, line, text);
}

void rewrite_flat(Rewriter *r, Text *out, unsigned first, unsigned end, bool defaults) {
    Text *saved = r->out;
    for (unsigned i = first; i < end; i++) {
        const Token *token = &r->t.tokens[i];
        if (token->kind == TOKEN_MARKER)
            continue;
        if (!defaults &&
            is_bracket(&r->t, i, '=')) { /* up to the comma; skip brackets and angles */
            while (i < end && !is_bracket(&r->t, i, ',')) {
                if ((is_bracket(&r->t, i, '(') || is_bracket(&r->t, i, '{') ||
                     is_bracket(&r->t, i, '[')) &&
                    r->match[i] > i)
                    i = r->match[i];
                else if (is_bracket(&r->t, i, '<'))
                    i = skip_angles(&r->t, r->match, i);
                i++;
            }
            if (i >= end)
                break;
            token = &r->t.tokens[i];
        }
        r->out = out;
        r->copied = i; /* no white space before it */
        text_add(out, " ", 1);
        i = rewrite_tokens(r, i, i + 1) - 1;
    }
    r->out = saved;
}

/* ---- single tokens --------------------------------------------------------------------------- */

static void copy_token(Rewriter *r, unsigned i) {
    text_add(r->out, r->t.text + r->t.tokens[i].start, r->t.tokens[i].size);
}

/* Copies the white space between the previous token and this one, with its line ends. */
static void copy_space(Rewriter *r, unsigned i) {
    if (i == 0) {
        text_add(r->out, r->t.text, r->t.tokens[0].start);
        return;
    }
    const size_t from = r->t.tokens[i - 1].start + r->t.tokens[i - 1].size;
    text_add(r->out, r->t.text + from, r->t.tokens[i].start - from);
}

static unsigned name_at(const Rewriter *r, unsigned i) {
    return r->t.tokens[i].kind == TOKEN_NAME ? r->t.tokens[i].name : 0;
}

/* Finds the token that decides whether __device__ at i begins a variable: a parameter list, or the
 * end of a declarator. */
static unsigned variable_end(Rewriter *r, unsigned i) {
    bool *const variable = &r->begins.variable;
    *variable = r->begins.brace = false;
    for (unsigned k = i + 1; k < r->t.n_tokens; k++) {
        const unsigned name = name_at(r, k);
        if (name == R_operator)
            return k;
        if ((name == R___align__ || name == R_alignas || name == R___attribute__ ||
             name == R_decltype || name == R___launch_bounds__ || name == R___builtin_align__) &&
            is_bracket(&r->t, k + 1, '(')) {
            if (r->match[k + 1] == 0)
                return k;
            k = r->match[k + 1];
        } else if (name == R_struct || name == R_class || name == R_union) {
            while (k < r->t.n_tokens && !is_bracket(&r->t, k, '{') && !is_bracket(&r->t, k, ';') &&
                   !is_bracket(&r->t, k, '(') && !is_bracket(&r->t, k, '='))
                k++;
            if (is_bracket(&r->t, k, '{'))
                k = r->match[k];
            else
                k--;
            if (k == 0)
                return i + 1;
        } else if (is_bracket(&r->t, k, '<')) {
            k = skip_angles(&r->t, r->match, k);
        } else if (is_bracket(&r->t, k, '(')) {
            *variable = is_bracket(&r->t, k + 1, '*');
            return k;
        } else if (is_bracket(&r->t, k, ';') || is_bracket(&r->t, k, '=') ||
                   is_bracket(&r->t, k, '[')) {
            *variable = !(is_bracket(&r->t, k, '[') && is_bracket(&r->t, k + 1, '['));
            return k;
        } else if (is_bracket(&r->t, k, '{') || is_bracket(&r->t, k, ')') ||
                   is_bracket(&r->t, k, '}')) {
            *variable = r->begins.brace = is_bracket(&r->t, k, '{');
            return k;
        }
    }
    return r->t.n_tokens;
}

/* Whether __device__ at i begins a variable. */
static bool begins_variable(Rewriter *r, unsigned i) {
    const unsigned first = r->begins.first;
    if (i < first || i >= r->begins.end ||
        declaration_start(&r->t, i) != declaration_start(&r->t, first)) {
        r->begins.first = i;
        r->begins.end = variable_end(r, i);
    }
    return r->begins.variable && (!r->begins.brace || r->begins.end > i + 2);
}

/* Whether the declaration with the name or __forceinline__ at i has the word inline before its
 * parameters. */
static bool declared_inline(Rewriter *r, unsigned i) {
    const unsigned start = declaration_start(&r->t, i);
    if (r->inlined.end == 0 || r->inlined.start != start || i < r->inlined.at) {
        r->inlined.start = r->inlined.end = start;
        r->inlined.word = r->inlined.force = NOWHERE;
    }
    r->inlined.at = i;
    for (unsigned k = r->inlined.end; i >= r->inlined.end && k < r->t.n_tokens; k++) {
        const unsigned name = name_at(r, k);
        if ((name == R_inline || name == R___inline__ || name == R___inline) && r->inlined.word > k)
            r->inlined.word = k;
        if (name == R___forceinline__ && r->inlined.force > k)
            r->inlined.force = k;
        if ((k > i && (is_bracket(&r->t, k, '(') || is_bracket(&r->t, k, ';'))) ||
            k + 1 == r->t.n_tokens) {
            r->inlined.end = k;
        }
    }
    return r->inlined.word < r->inlined.end || r->inlined.force < i;
}

const char *rewrite_inline(Rewriter *r, unsigned name) {
    return declared_inline(r, name) ? " __attribute__((always_inline)) "
                                    : " inline __attribute__((always_inline)) ";
}

/* Whether i is a call of a function that the C library has too, and not of a member. */
static bool is_call(const Rewriter *r, unsigned i) {
    if (!is_bracket(&r->t, i + 1, '('))
        return false;
    if (i == 0 || r->t.tokens[i].system)
        return !r->t.tokens[i].system;
    if (is_bracket(&r->t, i - 1, '.') || token_is(&r->t, i - 1, "->"))
        return false;
    if (token_is(&r->t, i - 1, "::"))
        return i < 2 || r->t.tokens[i - 2].kind != TOKEN_NAME || name_at(r, i - 2) == R_std;
    return true;
}

static unsigned skip_arguments(const Rewriter *r, unsigned i) { /* i: a word; returns the index
                                                                 * after it and its brackets */
    return is_bracket(&r->t, i + 1, '(') && r->match[i + 1] > i ? r->match[i + 1] + 1 : i + 1;
}

/* Rewrites alignas with a type or a number, where a declaration may only have an attribute. */
static unsigned rewrite_alignas(Rewriter *r, unsigned i) {
    const unsigned end = skip_arguments(r, i);
    text_puts(r->out, "__attribute__((aligned(sim_alignment<");
    rewrite_flat(r, r->out, i + 2, end - 1, true);
    text_puts(r->out, ">())))");
    return end;
}

/* Rewrites extern __shared__ T s[]; from i to the semicolon. */
static unsigned rewrite_extern_shared(Rewriter *r, unsigned i) {
    unsigned end = i, name = 0, depth = 0;
    while (end < r->t.n_tokens && !is_bracket(&r->t, end, ';')) {
        if (is_bracket(&r->t, end, '[') && name == 0 && end > 0)
            name = end - 1;
        if ((is_bracket(&r->t, end, '(') || is_bracket(&r->t, end, '{')) && r->match[end] > end)
            end = r->match[end];
        end++;
    }
    if (name == 0)
        name = end - 1;
    if (r->inside[i])
        depth = 1;
    const char *text = r->t.text + r->t.tokens[name].start;
    const int size = (int)r->t.tokens[name].size;
    const unsigned number = r->n_entries++;
    text_puts(r->out, "typedef ");
    for (unsigned k = i; k < end; k++) {
        const unsigned word = name_at(r, k);
        if (k > i)
            copy_space(r, k); /* the text before i is already written */
        if (word == R_extern || word == R___shared__ || word == R_static || word == R___device__)
            continue;
        if (k == name)
            text_printf(r->out, "__simT_%u", number);
        else if (word == R_alignas || word == R___align__)
            k = rewrite_alignas(r, k) - 1;
        else
            copy_token(r, k);
    }
    if (depth != 0) {
        text_printf(r->out, "; __simT_%u &%.*s = *(__simT_%u *)sim_here()->dynamic;", number, size,
                    text, number);
    } else {
        if (r->n_shared < sizeof r->shared / sizeof *r->shared) {
            r->shared[r->n_shared].name = name;
            r->shared[r->n_shared++].number = number;
        }
        text_printf(r->out,
                    "; static thread_local decltype(&(*(__simT_%u *)0)[0]) %.*s; static "
                    "__attribute__((no_sanitize(\"thread\"))) void *__simS_%u(char *p) { %.*s = "
                    "(decltype(%.*s))p; return &%.*s; }"
                    " static const SimDynamic __simD_%u = {__simS_%u};"
                    " static const SimDynamic *const __simQ_%u __attribute__((used, "
                    "section(\"sim_dynamic\"))) = &__simD_%u;",
                    number, size, text, number, size, text, size, text, size, text, number, number,
                    number, number);
    }
    return end + 1;
}

/* Rewrites (T *)&s, where s is such an array. It is a pointer here, so its address would be
 * wrong. */
static unsigned rewrite_shared_address(Rewriter *r, unsigned i) {
    const Token *name = &r->t.tokens[i + 1];
    const bool cast = i > 1 && is_bracket(&r->t, i - 1, ')') && token_is(&r->t, i - 2, "*");
    const bool declarator = is_bracket(&r->t, i + 2, ')') && is_bracket(&r->t, i + 3, '[') &&
                            !(i > 1 && token_is(&r->t, i - 2, ">")); /* T (&s)[n] */
    if (name->kind != TOKEN_NAME || is_bracket(&r->t, i + 2, '[') ||
        is_bracket(&r->t, i + 2, '(') || token_is(&r->t, i + 2, ".") ||
        token_is(&r->t, i + 2, "->") || token_is(&r->t, i + 2, "::") || declarator ||
        !(cast || (i > 0 && (is_bracket(&r->t, i - 1, '(') || token_is(&r->t, i - 1, "=") ||
                             name_at(r, i - 1) == R_return)))) {
        return i;
    }
    for (unsigned k = r->n_shared; k > 0; k--) {
        const Token *known = &r->t.tokens[r->shared[k - 1].name];
        if (known->size == name->size &&
            memcmp(r->t.text + known->start, r->t.text + name->start, name->size) == 0) {
            text_printf(r->out, "SimShared<__simT_%u>::at(%.*s)", r->shared[k - 1].number,
                        (int)name->size, r->t.text + name->start);
            return i + 2;
        }
    }
    return i;
}

bool rewrite_foreign(const Rewriter *r, unsigned i, unsigned *first, unsigned *end) {
    unsigned k = i + 1;
    if (is_bracket(&r->t, i, '[')) {
        const unsigned char before = i > 0 ? r->t.tokens[i - 1].kind : TOKEN_NAME;
        if ((before == TOKEN_NAME && name_at(r, i - 1) != R_return) || before == TOKEN_NUMBER ||
            before == TOKEN_STRING || is_bracket(&r->t, i - 1, ']') ||
            is_bracket(&r->t, i - 1, ')') || is_bracket(&r->t, i + 1, '[') ||
            is_bracket(&r->t, i + 1, '=') ||
            (is_bracket(&r->t, i + 1, '&') && !(r->t.tokens[i + 2].kind == TOKEN_NAME)) ||
            r->match[i] == 0) {
            return false;
        }
        k = r->match[i] + 1;
        if (is_bracket(&r->t, k, '=') || is_bracket(&r->t, k, ':'))
            return false; /* auto &[x, y] = */
    } else if (name_at(r, i) != R_struct && name_at(r, i) != R_class && name_at(r, i) != R_union) {
        return false;
    }
    *first = k;
    while (k + 1 < r->t.n_tokens && !is_bracket(&r->t, k, '{') && !is_bracket(&r->t, k, ';'))
        k++;
    if (!is_bracket(&r->t, k, '{') || r->match[k] <= k)
        return false;
    *end = r->match[k];
    return true;
}

/* Rewrites CUDA's words in declarations. Returns i if the token is to be copied. */
static unsigned rewrite_declaration_word(Rewriter *r, unsigned i) {
    const bool system = r->t.tokens[i].system;
    switch (r->t.tokens[i].name) {
    case R___host__:
    case R___grid_constant__:
    case R___inline_hint__:
    case R___nv_pure__:
        return i + 1;
    case R___global__:
        return i + 1; /* friends and others; kernels are handled elsewhere */
    case R___device__:
        if (begins_variable(r, i))
            text_puts(r->out, "__attribute__((used))");
        return i + 1;
    case R___constant__:
    case R___managed__:
        text_puts(r->out, "__attribute__((used))");
        return i + 1;
    case R___shared__:
        text_puts(r->out, "static thread_local");
        return i + 1;
    case R___launch_bounds__:
    case R___cluster_dims__:
    case R___maxnreg__:
    case R___block_size__:
        return skip_arguments(r, i);
    case R___forceinline__:
        text_puts(r->out, declared_inline(r, i) ? "__attribute__((always_inline))"
                                                : "inline __attribute__((always_inline))");
        return i + 1;
    case R___noinline__:
        if (system || (i > 0 && is_bracket(&r->t, i - 1, '(')))
            return i;
        text_puts(r->out, "__attribute__((noinline))");
        return i + 1;
    case R___align__:
    case R___builtin_align__:
        if (system || !is_bracket(&r->t, i + 1, '(') || r->match[i + 1] == 0)
            return i;
        text_puts(r->out, "__attribute__((aligned");
        rewrite_flat(r, r->out, i + 1, r->match[i + 1] + 1, true);
        text_puts(r->out, "))");
        return r->match[i + 1] + 1;
    case R_alignas: { /* after one of CUDA's words, which are attributes for nvcc but not for us */
        const unsigned before = i > 0 ? name_at(r, i - 1) : 0;
        const bool behind = before == R___shared__ || before == R___device__ ||
                            before == R___constant__ || before == R___managed__;
        return behind && skip_arguments(r, i) != i + 1 ? rewrite_alignas(r, i) : i;
    }
    default:
        return i;
    }
}

/* Rewrites threadIdx and similar variables. Returns i if the token is to be copied, because it is
 * not CUDA's. */
static unsigned rewrite_index(Rewriter *r, unsigned i) {
    static const char *const members[] = {"thread", "block", "block_size", "grid_size"};
    const unsigned name = r->t.tokens[i].name;
    if (r->t.tokens[i].system || (r->body_end != 0 && (r->foreign_end == 0 || i < r->foreign)))
        return i;
    if (i > 0 && (is_bracket(&r->t, i - 1, '.') || token_is(&r->t, i - 1, "->")))
        return i;
    text_printf(r->out, "%s(sim_triple(sim_here()->%s))", name >= R_blockDim ? "dim3" : "",
                members[name - R_threadIdx]);
    return i + 1;
}

static unsigned rewrite_name(Rewriter *r, unsigned i) {
    unsigned next = i;
    switch (r->t.tokens[i].name) {
    case R_threadIdx:
    case R_blockIdx:
    case R_blockDim:
    case R_gridDim:
        next = rewrite_index(r, i);
        break;
    case R_printf:
    case R_vprintf:
    case R_malloc:
    case R_free:
    case R_clock:
        if (is_call(r, i)) {
            if (i > 1 && token_is(&r->t, i - 1, "::") && name_at(r, i - 2) == R_std)
                text_puts(r->out, " sim_from_std::");
            text_puts(r->out, "sim_");
        }
        break;
    case R___assert_fail: /* from the C library's assert.h; keep the declaration */
        if (i > 0 && token_is(&r->t, i - 1, "void"))
            break;
        text_puts(r->out, "sim_assertion");
        return i + 1;
    case R_asm:
    case R___asm__:
    case R___asm:
        next = rewrite_asm(r, i);
        break;
    default:
        next = rewrite_declaration_word(r, i);
        break;
    }
    if (next != i)
        return next;
    copy_token(r, i);
    return i + 1;
}

unsigned rewrite_tokens(Rewriter *r, unsigned first, unsigned end) {
    unsigned i = first;
    while (i < end && i < r->t.n_tokens) {
        const Token *token = &r->t.tokens[i];
        if (i != r->copied)
            copy_space(r, i);
        r->copied = NOWHERE;
        if (r->at[i] == BEGINS_KERNEL) {
            unsigned global = i;
            while (name_at(r, global) != R___global__)
                global++;
            i = rewrite_kernel(r, i, global);
            continue;
        }
        if (r->at[i] == BEGINS_EXTERN_SHARED) {
            i = rewrite_extern_shared(r, i);
            continue;
        }
        if (r->at[i] == DROP) {
            i++;
            continue;
        }
        if (r->steps[i] != 0 || r->steps[r->t.n_tokens + i] != 0) {
            i = rewrite_step(r, i);
            continue;
        }
        if (r->body_end != 0 && r->foreign_end == 0)
            rewrite_foreign(r, i, &r->foreign, &r->foreign_end);
        if (r->foreign_end == i)
            r->foreign_end = 0;
        unsigned after = rewrite_arithmetic(r, i);
        if (after == i && r->n_shared > 0 && i + 3 < r->t.n_tokens && token_is(&r->t, i, "&"))
            after = rewrite_shared_address(r, i);
        if (after != i) {
            i = after;
            continue;
        }
        if (token->kind == TOKEN_NAME) {
            i = rewrite_name(r, i);
            continue;
        }
        if (token->kind == TOKEN_PUNCTUATION && token->size == 3 && token_is(&r->t, i, "<<<") &&
            !token->system && (i == 0 || name_at(r, i - 1) != R_operator)) {
            rewrite_error(
                r, i,
                "kernels cannot launch kernels on the simulator (dynamic parallelism, <<<...>>>)");
        }
        copy_token(r, i);
        i++;
    }
    return i;
}

/* Marks the beginnings of declarations that must be rewritten as a whole. */
static void find_declarations(Rewriter *r) {
    unsigned last_shared = NOWHERE;
    for (unsigned i = 0; i < r->t.n_tokens; i++) {
        const unsigned name = name_at(r, i);
        if (name == R___global__) {
            const unsigned start = declaration_start(&r->t, i);
            if (r->at[start] == BEGINS_NOTHING)
                r->at[start] = BEGINS_KERNEL;
        } else if (name == R___shared__) {
            const unsigned start = declaration_start(&r->t, i);
            bool is_extern = false;
            if (start == last_shared)
                continue;
            last_shared = start;
            for (unsigned k = start;
                 k < r->t.n_tokens && !is_bracket(&r->t, k, ';') && !is_bracket(&r->t, k, '{');
                 k++) {
                is_extern = is_extern || name_at(r, k) == R_extern;
                if (name_at(r, k) == R_static)
                    r->at[k] = DROP;
            }
            if (is_extern)
                r->at[start] = BEGINS_EXTERN_SHARED;
        } else if (name == R_threadIdx || name == R_blockIdx || name == R_blockDim ||
                   name == R_gridDim) { /* ::threadIdx: here it is not in the global namespace */
            const unsigned before = i > 1 ? name_at(r, i - 2) : 0;
            if (i > 0 && token_is(&r->t, i - 1, "::") &&
                (i == 1 || r->t.tokens[i - 2].kind != TOKEN_NAME || before == R_return))
                r->at[i - 1] = DROP;
        }
    }
}

bool rewrite(Text *out, Text *log, const char *text, size_t size, char *const *names,
             size_t n_names, RewriteForms forms, unsigned *n_regions) {
    Rewriter r = {.out = out, .log = log, .forms = forms};
    bool good = lex(&r.t, text, size);
    if (good) {
        r.match = rewrite_match(&r.t);
        r.inside = r.match != NULL && find_starts(&r.t) ? find_inside(&r.t, r.match) : NULL;
        r.angles = r.inside != NULL ? count_angles(&r.t, r.match) : NULL;
        r.at = calloc(r.t.n_tokens, 1);
        r.steps = r.angles != NULL ? find_steps(&r.t, r.match) : NULL;
        r.dependent = r.steps != NULL ? dependent_names(&r.t, r.steps) : NULL;
        r.n_dependent = r.t.n_names;
        good = r.at != NULL && r.dependent != NULL;
    }
    if (good) {
        find_declarations(&r);
        r.copied = NOWHERE;
        rewrite_tokens(&r, 0, r.t.n_tokens - 1);
        if (sim_checked())
            text_puts(out, "\nstatic const char __sim_unset[] __attribute__((used, "
                           "section(\"sim_unset\"))) = \"" UNSET_MARK "4\";");
        text_printf(
            out,
            "\nstatic const unsigned __sim_abi __attribute__((used, section(\"sim_abi\"))) = %u;\n",
            SIM_ABI);
        text_puts(out, "\nstatic const unsigned long long __sim_seal[2] __attribute__((used, "
                       "section(\"sim_seal\"))) = {1, 1};\n");
        rewrite_expressions(&r, names, n_names);
    }
    good = good && !r.failed && !out->failed;
    if (n_regions != NULL)
        *n_regions = r.n_regions;
    free(r.match);
    free(r.kernels_named);
    free(r.region_names);
    free(r.inside);
    free(r.angles);
    free(r.at);
    free(r.steps);
    free(r.dependent);
    free(r.kernels);
    lex_free(&r.t);
    return good;
}
