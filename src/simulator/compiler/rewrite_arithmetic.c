/* rewrite_arithmetic.c - shifts and conversions whose result C++ leaves undefined but a GPU
 * defines: shifts by all bits or more, and conversions of floating-point numbers that are too
 * large for an integer. The words that are inserted are defined in sim_arithmetic.h.
 *
 *   a << b                                a << by << b, also for >>
 *   (int)x  int(x)  static_cast<int>(x)   (int)(to<int>)x, ...; for integer types by their usual
 *                                         names
 *
 * Types are unknown here. So implicit conversions (int i = x;), `T(x)` in templates, <<= and >>=
 * are left to the processor; so is >> where it may close two template argument lists. */
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/rewrite.h"

#define BY "::pygpu_sim::by "

static bool is(const Rewriter *r, unsigned i, const char *text) {
    return token_is(&r->t, i, text);
}

static bool adjacent(const Rewriter *r, unsigned i) { /* no white space before the next token */
    return r->t.tokens[i].start + r->t.tokens[i].size == r->t.tokens[i + 1].start;
}

/* Names of integer types; bool is not one, since it has its own conversion rules. */
static bool is_integer_type(const Rewriter *r, unsigned i) {
    static const char *const names[] = {
        "int",     "unsigned", "signed",  "long",      "short",    "char",     "size_t",   "int8_t",
        "int16_t", "int32_t",  "int64_t", "uint8_t",   "uint16_t", "uint32_t", "uint64_t", "uint",
        "ushort",  "ulong",    "uchar",   "ptrdiff_t", "intptr_t", "uintptr_t"};
    if (r->t.tokens[i].kind != TOKEN_NAME)
        return false;
    const char first = r->t.text[r->t.tokens[i].start];
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        if (names[k][0] == first && is(r, i, names[k]))
            return true;
    }
    return false;
}

/* Finds the end of a type that begins at i and consists only of such names; i: there is none. */
static unsigned type_end(const Rewriter *r, unsigned i) {
    while (is_integer_type(r, i))
        i++;
    return i;
}

static void put_type(Rewriter *r, unsigned first, unsigned end) {
    text_puts(r->out, "(::pygpu_sim::to<");
    for (unsigned i = first; i < end; i++) {
        if (i > first)
            text_puts(r->out, " ");
        text_add(r->out, r->t.text + r->t.tokens[i].start, r->t.tokens[i].size);
    }
    text_puts(r->out, ">)");
}

#define MOST_CASTS 100u /* in a row or nested: further ones are left unchanged */

/* Whether token i is followed by an operand, not a declarator: it is an operator, or begins an
 * expression. */
static bool is_before_operand(const Rewriter *r, unsigned i, unsigned casts) {
    const Token *token = &r->t.tokens[i];
    if (token->kind == TOKEN_NAME)
        return is(r, i, "return") || is(r, i, "case") || is(r, i, "and") || is(r, i, "or") ||
               is(r, i, "not");
    if (token->kind != TOKEN_PUNCTUATION)
        return false;
    if (is(r, i, ")")) { /* (float)(int)x */
        const unsigned open = r->match[i];
        if (open == 0 || casts == 0 || !is_before_operand(r, open - 1, casts - 1))
            return false;
        for (unsigned k = open + 1; k < i; k++) {
            if (r->t.tokens[k].kind != TOKEN_NAME)
                return false;
        }
        return is(r, open + 1, "float") || is(r, open + 1, "double") ||
               is_integer_type(r, open + 1);
    }
    return memchr("])}.", r->t.text[token->start], 4) == NULL && !is(r, i, "->") && !is(r, i, "::");
}

static bool before_operand(const Rewriter *r, unsigned i) {
    return is_before_operand(r, i, MOST_CASTS);
}

static bool begins_operand(const Rewriter *r, unsigned i) {
    const Token *token = &r->t.tokens[i];
    if (token->kind == TOKEN_NUMBER)
        return true;
    if (token->kind == TOKEN_NAME) {
        static const char *const not [] = {"const",         "noexcept", "volatile", "override",
                                           "final",         "mutable",  "requires", "throw",
                                           "__attribute__", "constexpr"};
        for (size_t k = 0; k < sizeof not / sizeof not [0]; k++) {
            if (is(r, i, not [k]))
                return false;
        }
        return true;
    }
    return token->kind == TOKEN_PUNCTUATION && (is(r, i, "(") || is(r, i, "-") || is(r, i, "+") ||
                                                is(r, i, "*") || is(r, i, "&") || is(r, i, "::"));
}

static bool is_whole_number(const Rewriter *r, unsigned i) {
    const Token *token = &r->t.tokens[i];
    if (token->kind != TOKEN_NUMBER)
        return false;
    const char *s = r->t.text + token->start;
    const bool hexadecimal = token->size > 1 && (s[1] | 32) == 'x';
    for (unsigned k = 0; k < token->size; k++) {
        if (s[k] == '.' || (!hexadecimal && (s[k] | 32) == 'e') ||
            (hexadecimal && (s[k] | 32) == 'p'))
            return false;
    }
    return true;
}

/* Whether i is a shift by a literal that is smaller than the bits of any type. This common case
 * needs no change. */
static bool is_small_shift(const Rewriter *r, unsigned i) {
    if (!is_whole_number(r, i) || r->t.text[r->t.tokens[i].start] == '0' || r->t.tokens[i].size > 2)
        return is(r, i, "0");
    const unsigned long n = strtoul(r->t.text + r->t.tokens[i].start, NULL, 10);
    return n < 32 && !is(r, i + 1, "+") && !is(r, i + 1, "-") && !is(r, i + 1, "*") &&
           !is(r, i + 1, "/") && !is(r, i + 1, "%");
}

/* Whether the name at i is known to be an integer. */
static bool is_known_integer(const Rewriter *r, unsigned i) {
    const unsigned name = r->t.tokens[i].kind == TOKEN_NAME ? r->t.tokens[i].name : 0;
    return is_whole_number(r, i) || name == R_threadIdx || name == R_blockIdx ||
           name == R_blockDim || name == R_gridDim || name == R_sizeof;
}

/* Counts, for is_shift, the < before each token in its statement and brackets. */
unsigned char *count_angles(const Tokens *t, const unsigned *match) {
    unsigned char *angles = calloc(t->n_tokens + 1, 1);
    for (unsigned i = 0; angles != NULL && i < t->n_tokens; i++) {
        const Token *token = &t->tokens[i];
        const char c = token->kind == TOKEN_PUNCTUATION ? t->text[token->start] : 0;
        angles[i + 1] = angles[i];
        if ((c == ')' || c == ']') && match[i] != 0) {
            angles[i + 1] = angles[match[i]];
        } else if (c != 0 && strchr("()[]{};", c) != NULL) {
            angles[i + 1] = 0;
        } else if (c == '<' && token->size == 1 && angles[i] < 2) {
            angles[i + 1]++;
        }
    }
    return angles;
}

/* Whether the > at i and the next one cannot end template arguments, because fewer than two <
 * precede them. */
static bool is_shift(const Rewriter *r, unsigned i) {
    return is_whole_number(r, i + 2) || r->angles[i] < 2;
}

/* Writes the operand of T(x) or similar in its own brackets, and the closing bracket; open: the
 * bracket before it. */
static unsigned put_operand(Rewriter *r, unsigned open, unsigned type, unsigned end) {
    const unsigned close = r->match[open];
    text_puts(r->out, "(");
    put_type(r, type, end);
    text_puts(r->out, "(");
    r->copied = NOWHERE;
    r->casts++;
    rewrite_tokens(r, open + 1, close);
    r->casts--;
    text_puts(r->out, "))");
    return close + 1;
}

/* Rewrites (int)x: writes the cast's brackets and marks the operand. */
static unsigned rewrite_c_cast(Rewriter *r, unsigned i) {
    const unsigned close = r->match[i];
    if (type_end(r, i + 1) != close || !before_operand(r, i - 1) || !begins_operand(r, close + 1) ||
        is_known_integer(r, close + 1))
        return i;
    for (unsigned k = i; k <= close; k++) {
        if (k > i)
            text_puts(r->out, " ");
        text_add(r->out, r->t.text + r->t.tokens[k].start, r->t.tokens[k].size);
    }
    put_type(r, i + 1, close);
    return close + 1;
}

/* Rewrites shifts and casts in brackets. */
static unsigned rewrite_operator(Rewriter *r, unsigned i) {
    const Token *token = &r->t.tokens[i];
    const char c = r->t.text[token->start];
    if (c == '<' && token->size == 2 && is(r, i, "<<")) {
        if (is(r, i - 1, "operator") || is(r, i - 1, "...") || is(r, i + 1, "...") ||
            (is(r, i + 1, "=") && adjacent(r, i)) || is_small_shift(r, i + 1))
            return i;
        text_puts(r->out, "<< " BY "<<");
        return i + 1;
    }
    if (c == '>' && token->size == 1 && is(r, i + 1, ">") && adjacent(r, i)) {
        if (is(r, i - 1, "operator") || is(r, i - 1, ">") || is(r, i - 1, "...") ||
            is(r, i + 2, "..."))
            return i;
        if (adjacent(r, i + 1) && strchr(">=", r->t.text[r->t.tokens[i + 2].start]) != NULL)
            return i;
        if (is_small_shift(r, i + 2) || !is_shift(r, i))
            return i;
        text_puts(r->out, ">> " BY ">>");
        return i + 2;
    }
    return c == '(' && r->match[i] > i + 1 ? rewrite_c_cast(r, i) : i;
}

unsigned rewrite_arithmetic(Rewriter *r, unsigned i) {
    const Token *token = &r->t.tokens[i];
    const char c = r->t.text[token->start];
    if (token->system || i == 0 || i + 3 >= r->t.n_tokens)
        return i;
    if (token->kind == TOKEN_PUNCTUATION)
        return rewrite_operator(r, i);
    if (token->kind != TOKEN_NAME || r->casts >= MOST_CASTS)
        return i;
    if (c == 's' && is(r, i, "static_cast") && is(r, i + 1, "<")) {
        const unsigned end = type_end(r, i + 2);
        if (end == i + 2 || !is(r, end, ">") || !is(r, end + 1, "(") || r->match[end + 1] == 0)
            return i;
        for (unsigned k = i; k <= end; k++) {
            text_add(r->out, r->t.text + r->t.tokens[k].start, r->t.tokens[k].size);
            text_puts(r->out, " ");
        }
        return put_operand(r, end + 1, i + 2, end);
    }
    if (is_integer_type(r, i) && is_bracket(&r->t, i + 1, '(') &&
        r->match[i + 1] > i + 2) { /* int(x) */
        if (!before_operand(r, i - 1) || !begins_operand(r, i + 2) || is(r, i + 2, "*") ||
            is(r, i + 2, "&") || is_integer_type(r, i + 2) || is(r, i + 2, "float") ||
            is(r, i + 2, "double") || is(r, i + 2, "const") || is(r, i - 1, ";") ||
            is(r, i - 1, "{")) {
            return i;
        }
        text_add(r->out, r->t.text + token->start, token->size);
        return put_operand(r, i + 1, i, i + 1);
    }
    return i;
}
