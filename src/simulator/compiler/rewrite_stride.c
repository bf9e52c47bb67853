/* rewrite_stride.c - kernels whose threads step through an array in strides of the grid:
 *
 *   { PRE  for (T i = FIRST; i < LIMIT; i += STRIDE) BODY }
 *
 * If the threads run one after the other, such a kernel accesses memory in steps of the whole
 * grid, which defeats caches and the vectorizer. So it gets a second form that does only step
 * number sim_k, and returns whether there was one. SimStride in sim_launch.h calls it for all
 * threads of a block, then for the next step. Each thread still does its steps in order. The
 * result is the same because this is done only if PRE merely computes numbers from numbers,
 * nothing follows the loop, nothing leaves the loop, and BODY changes none of PRE's names. All
 * other kernels stay unchanged. */
#include <stdio.h>
#include <string.h>

#include "simulator/compiler/rewrite.h"

typedef struct {
    unsigned first, end;                     /* tokens of the kernel's body, without its braces */
    unsigned pre_end;                        /* the token `for` */
    unsigned init, init_end, test, test_end; /* parts of the loop's head */
    unsigned stride, stride_end;
    unsigned body, body_end;
    unsigned counter; /* the name of i */
} Loop;

static unsigned word(const Rewriter *r, unsigned i) {
    return r->t.tokens[i].kind == TOKEN_NAME ? r->t.tokens[i].name : 0;
}

static bool is(const Rewriter *r, unsigned i, const char *text) {
    return token_is(&r->t, i, text);
}

/* Whether tokens only compute a number from numbers: no calls, memory accesses or changes. Allows
 * one assignment, that of a declaration. */
static bool only_numbers(const Rewriter *r, unsigned first, unsigned end) {
    for (unsigned i = first; i < end; i++) {
        const Token *token = &r->t.tokens[i];
        const bool after_value = i > first && (r->t.tokens[i - 1].kind == TOKEN_NAME ||
                                               r->t.tokens[i - 1].kind == TOKEN_NUMBER ||
                                               is_bracket(&r->t, i - 1, ')'));
        if (token->kind == TOKEN_NUMBER || token->kind == TOKEN_MARKER)
            continue;
        if (token->kind == TOKEN_NAME) {
            if (is_bracket(&r->t, i + 1, '(') && i + 1 < end)
                return false;
            continue;
        }
        if (token->kind != TOKEN_PUNCTUATION)
            return false;
        if (is(r, i, "*") && !after_value)
            return false;
        if ((is(r, i, "+") || is(r, i, "-")) && is(r, i + 1, is(r, i, "+") ? "+" : "-"))
            return false;
        if (!(is(r, i, "*") || is(r, i, "+") || is(r, i, "-") || is(r, i, "/") || is(r, i, "(") ||
              is(r, i, ")") || is(r, i, ".") || is(r, i, "::")))
            return false;
    }
    return true;
}

/* Whether the tokens up to a semicolon declare numbers: `const unsigned n = expression`. */
static bool is_declaration(const Rewriter *r, unsigned first, unsigned end) {
    unsigned equals = first;
    while (equals < end && !is(r, equals, "="))
        equals++;
    const unsigned name_end = equals;
    if (name_end - first < 2 || word(r, name_end - 1) == 0)
        return false;
    for (unsigned i = first; i < name_end; i++) {
        if (word(r, i) == 0 && !is(r, i, "::"))
            return false;
    }
    return equals == end || only_numbers(r, equals + 1, end);
}

/* Whether this is `(void)name`, which only marks the name as used. */
static bool is_mention(const Rewriter *r, unsigned first, unsigned end) {
    return end == first + 4 && is_bracket(&r->t, first, '(') && is(r, first + 1, "void") &&
           is_bracket(&r->t, first + 2, ')') && word(r, first + 3) != 0;
}

/* Parses PRE: declarations and (void) statements, up to `for`. */
static bool parse_pre(const Rewriter *r, Loop *loop) {
    unsigned i = loop->first;
    while (i < loop->end && !is(r, i, "for")) {
        unsigned stop = i;
        while (stop < loop->end && !is(r, stop, ";")) {
            if (is(r, stop, "{") || is(r, stop, "for"))
                return false;
            stop++;
        }
        if (stop == loop->end ||
            (stop > i && !is_declaration(r, i, stop) && !is_mention(r, i, stop)))
            return false;
        i = stop + 1;
    }
    loop->pre_end = i;
    return true;
}

/* Parses (T i = FIRST; i < END; i += STRIDE), which ends at close. */
static bool parse_header(const Rewriter *r, Loop *loop, unsigned close) {
    unsigned parts[2], n = 0;
    for (unsigned k = loop->pre_end + 2; k < close; k++) {
        if (is_bracket(&r->t, k, '(') && r->match[k] > k)
            k = r->match[k];
        else if (is(r, k, ";") && n < 2)
            parts[n++] = k;
    }
    if (n != 2)
        return false;
    loop->init = loop->pre_end + 2;
    loop->init_end = parts[0];
    loop->test = parts[0] + 1;
    loop->test_end = parts[1];
    loop->counter = word(r, loop->test);
    if (loop->counter == 0 || !(is(r, loop->test + 1, "<") || is(r, loop->test + 1, "<=")) ||
        !only_numbers(r, loop->test + 2, loop->test_end))
        return false;
    if (word(r, parts[1] + 1) != loop->counter || !is(r, parts[1] + 2, "+="))
        return false;
    loop->stride = parts[1] + 3;
    loop->stride_end = close;
    if (!only_numbers(r, loop->stride, close))
        return false;
    unsigned equals = loop->init; /* T i = FIRST, or i = FIRST, or empty */
    while (equals < loop->init_end && !is(r, equals, "="))
        equals++;
    if (loop->init < loop->init_end) {
        if (equals == loop->init_end || word(r, equals - 1) != loop->counter ||
            !only_numbers(r, equals + 1, loop->init_end))
            return false;
        if (equals - loop->init > 1 && !is_declaration(r, loop->init, loop->init_end))
            return false;
    }
    return true;
}

/* Parses the body, which only semicolons may follow. */
static bool parse_body(const Rewriter *r, Loop *loop, unsigned body) {
    loop->body = body;
    loop->body_end = body;
    if (is_bracket(&r->t, body, '{')) {
        loop->body_end = r->match[body] + 1;
    } else {
        while (loop->body_end < loop->end && !is(r, loop->body_end, ";")) {
            if (is_bracket(&r->t, loop->body_end, '{'))
                return false;
            loop->body_end++;
        }
        loop->body_end++;
    }
    for (unsigned k = loop->body_end; k < loop->end; k++) {
        if (!is(r, k, ";"))
            return false;
    }
    return loop->body_end > loop->body && loop->body_end <= loop->end;
}

static bool parse(const Rewriter *r, Loop *loop) {
    if (!parse_pre(r, loop))
        return false;
    const unsigned open = loop->pre_end + 1;
    if (loop->pre_end >= loop->end || !is_bracket(&r->t, open, '(') || r->match[open] == 0)
        return false;
    return parse_header(r, loop, r->match[open]) && parse_body(r, loop, r->match[open] + 1);
}

/* Whether BODY may change the name: by an assignment, by ++ or --, through its address, or because
 * it is passed to a function as a whole. */
static bool changes(const Rewriter *r, const Loop *loop, unsigned name, bool as_argument) {
    for (unsigned i = loop->body; i < loop->body_end; i++) {
        if (word(r, i) != name)
            continue;
        if (is(r, i - 1, ".") || is(r, i - 1, "->"))
            continue;
        const Token *next = &r->t.tokens[i + 1];
        const char *s = r->t.text + next->start;
        if (next->kind == TOKEN_PUNCTUATION && !is(r, i + 1, "==") && !is(r, i + 1, "<=") &&
            !is(r, i + 1, ">=") && !is(r, i + 1, "!=") && s[next->size - 1] == '=')
            return true;
        if (next->kind == TOKEN_PUNCTUATION && strchr("%&|^", s[0]) != NULL && is(r, i + 2, "="))
            return true;
        if (is(r, i + 1, "<<") && is(r, i + 2, "="))
            return true;
        if (is(r, i + 1, ">") && (is(r, i + 2, ">=") || (is(r, i + 2, ">") && is(r, i + 3, "="))))
            return true;
        if ((is(r, i + 1, "+") && is(r, i + 2, "+")) || (is(r, i + 1, "-") && is(r, i + 2, "-")))
            return true;
        if ((is(r, i - 1, "+") && is(r, i - 2, "+")) || (is(r, i - 1, "-") && is(r, i - 2, "-")) ||
            is(r, i - 1, "&"))
            return true;
        if (as_argument && (is(r, i - 1, "(") || is(r, i - 1, ",")) &&
            (is(r, i + 1, ")") || is(r, i + 1, ",")))
            return true;
    }
    return false;
}

static bool mentions(const Rewriter *r, unsigned first, unsigned end, unsigned name) {
    for (unsigned i = first; i < end; i++) {
        if (word(r, i) == name)
            return true;
    }
    return false;
}

static bool is_safe(const Rewriter *r, const Loop *loop, unsigned params, unsigned params_end) {
    for (unsigned i = loop->body; i < loop->body_end; i++) {
        if (is(r, i, "break") || is(r, i, "return") || is(r, i, "goto") || is(r, i, "switch") ||
            is(r, i, "static"))
            return false;
        if (is_bracket(&r->t, i, '[') && is(r, i - 1, "=") && !is_bracket(&r->t, i + 1, '['))
            return false; /* a lambda */
    }
    for (unsigned i = loop->first; i < loop->pre_end; i++) {
        const unsigned name = word(r, i);
        if (name != 0 && (is(r, i + 1, "=") || is(r, i + 1, ";")) && name != loop->counter &&
            changes(r, loop, name, true))
            return false;
    }
    for (unsigned i = params; i < params_end; i++) {
        const unsigned name = word(r, i);
        if (name != 0 && (is(r, i + 1, ",") || i + 1 == params_end || is(r, i + 1, "=")) &&
            changes(r, loop, name, false))
            return false;
    }
    return !changes(r, loop, loop->counter, false) &&
           mentions(r, loop->first, loop->stride_end, R_gridDim) &&
           mentions(r, loop->first, loop->init_end, R_threadIdx);
}

/* Writes the second form if the kernel has such a loop. The prefix (extern "C", template<...>,
 * void) is in tokens start .. name. */
bool rewrite_stride(Rewriter *r, unsigned start, unsigned name, unsigned name_end, unsigned params,
                    unsigned params_end, unsigned body, unsigned end) {
    Loop loop = {.first = body + 1, .end = end};
    if (!parse(r, &loop) || !is_safe(r, &loop, params, params_end))
        return false;
    Text *out = r->out;
    text_puts(out, "\n# 1 \"" REWRITE_STRIDE_FILE "\"\n");
    for (unsigned i = start; i < name; i++) {
        if (is(r, i, "void"))
            text_puts(out, " bool");
        else
            rewrite_flat(r, out, i, i + 1, true);
    }
    text_printf(out, "%ssim_w_", rewrite_inline(r, name));
    text_add(out, r->t.text + r->t.tokens[name].start,
             r->t.tokens[name].size); /* no white space before it */
    rewrite_flat(r, out, name + 1, name_end, true);
    text_puts(out, "(" REWRITE_BUILTINS ", const unsigned long long sim_k, const bool sim_ask");
    if (params < params_end)
        text_puts(out, ",");
    rewrite_flat(r, out, params, params_end, true);
    text_puts(out, ") {");
    r->body_end = end;
    rewrite_flat(r, out, loop.first, loop.pre_end, true);
    rewrite_flat(r, out, loop.init, loop.init_end, true);
    const char *i = r->t.names[loop.counter];
    text_printf(out, "; %s += (decltype(%s))sim_k * (decltype(%s))(", i, i, i);
    rewrite_flat(r, out, loop.stride, loop.stride_end, true);
    text_puts(out, "); const bool sim_more =");
    rewrite_flat(r, out, loop.test, loop.test_end, true);
    text_puts(out, "; if (sim_ask) return sim_more; if (sim_more) do");
    rewrite_flat(r, out, loop.body, loop.body_end, true);
    text_puts(out, " while (0); return sim_more; }\n");
    r->body_end = 0;
    unsigned line;
    int file_size;
    const char *file = rewrite_location(r, end, &line, &file_size);
    text_printf(out, "# %u \"%.*s\"\n", line, file_size, file);
    return true;
}
