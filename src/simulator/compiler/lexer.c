/* lexer.c - splits preprocessed C++ into tokens. Names get numbers, which makes comparing them
 * cheap. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/rewrite.h"

static unsigned hash(const char *s, size_t n) {
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h;
}

static bool grow_table(Tokens *tokens) {
    const unsigned size = tokens->table_size != 0 ? 2 * tokens->table_size : 8192;
    unsigned *table = calloc(size, sizeof *table);
    if (table == NULL)
        return false;
    for (unsigned i = 1; i < tokens->n_names; i++) {
        unsigned at = hash(tokens->names[i], strlen(tokens->names[i])) % size;
        while (table[at] != 0)
            at = (at + 1) % size;
        table[at] = i;
    }
    free(tokens->table);
    tokens->table = table;
    tokens->table_size = size;
    return true;
}

unsigned lex_name(Tokens *tokens, const char *name, size_t size) {
    if (tokens->n_names * 2 >= tokens->table_size && !grow_table(tokens))
        return 0;
    unsigned at = hash(name, size) % tokens->table_size;
    for (; tokens->table[at] != 0; at = (at + 1) % tokens->table_size) {
        const char *interned = tokens->names[tokens->table[at]];
        if (strncmp(interned, name, size) == 0 && interned[size] == 0)
            return tokens->table[at];
    }
    if (tokens->n_names == tokens->room_names) {
        const unsigned room = tokens->room_names != 0 ? 2 * tokens->room_names : 4096;
        char **more = realloc(tokens->names, room * sizeof *more);
        if (more == NULL)
            return 0;
        tokens->names = more;
        tokens->room_names = room;
    }
    char *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, name, size);
    copy[size] = 0;
    if (tokens->n_names == 0)
        tokens->names[tokens->n_names++] = NULL;
    tokens->names[tokens->n_names] = copy;
    return tokens->table[at] = tokens->n_names++;
}

bool token_is(const Tokens *tokens, unsigned index, const char *text) {
    const Token *token = &tokens->tokens[index];
    return strncmp(tokens->text + token->start, text, token->size) == 0 && text[token->size] == 0;
}

void lex_free(Tokens *tokens) {
    for (unsigned i = 1; i < tokens->n_names; i++)
        free(tokens->names[i]);
    free(tokens->names);
    free(tokens->table);
    free(tokens->starts);
    free(tokens->tokens);
    memset(tokens, 0, sizeof *tokens);
}

static size_t raw_string(const char *s, size_t n) { /* s: the text after R */
    size_t mark = 1;
    while (mark < n && s[mark] != '(' && mark < 20)
        mark++;
    for (size_t i = mark + 1; i + mark < n; i++) {
        if (s[i] == ')' && memcmp(s + i + 1, s + 1, mark - 1) == 0 && s[i + mark] == '"')
            return i + mark + 1;
    }
    return n;
}

static size_t quoted(const char *s, size_t n) {
    size_t i = 1;
    while (i < n && s[i] != s[0] && s[i] != '\n')
        i += s[i] == '\\' ? 2 : 1;
    return i < n ? i + 1 : n;
}

static size_t punctuation(const char *s, size_t n) {
    static const char *const longer[] = {"<<<", ">>>", "...", "::", "->", "<<", "&&", "||",
                                         "==",  "!=",  "<=",  ">=", "+=", "-=", "*=", "/="};
    for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++) {
        const size_t size = strlen(longer[i]);
        if (i != 1 && size <= n && memcmp(s, longer[i], size) == 0)
            return size; /* as in >>>, which may close three templates */
    }
    return 1;
}

/* Parses # 12 "file" flags, or a pragma; flag 3 marks a system header. */
static size_t marker(const char *s, size_t left, bool *system) {
    const char *end = memchr(s, '\n', left);
    const size_t n = end != NULL ? (size_t)(end - s) : left;
    size_t digit = 1;
    while (digit < n && s[digit] == ' ')
        digit++;
    if (digit < n && isdigit((unsigned char)s[digit])) {
        size_t quote = n;
        while (quote > 0 && s[quote - 1] != '"')
            quote--;
        *system = memchr(s + quote, '3', n - quote) != NULL;
    }
    return n;
}

/* Parses a name, or a string with a prefix. Returns 0 if out of memory. */
static size_t name_or_string(Tokens *out, const char *s, size_t left, Token *token) {
    size_t n = 1;
    while (n < left && (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '$' ||
                        (unsigned char)s[n] >= 0x80))
        n++;
    token->kind = TOKEN_STRING;
    if (n <= 3 && s[n - 1] == 'R' && n < left && s[n] == '"')
        return n + raw_string(s + n, left - n);
    if (n <= 2 && n < left && (s[n] == '"' || s[n] == '\'') && strchr("LuU", *s) != NULL)
        return n + quoted(s + n, left - n);
    token->kind = TOKEN_NAME;
    token->name = lex_name(out, s, n);
    return token->name != 0 ? n : 0;
}

static size_t number(const char *s, size_t left) {
    size_t n = 1;
    while (n < left && (isalnum((unsigned char)s[n]) || s[n] == '.' || s[n] == '_' ||
                        (s[n] == '\'' && n + 1 < left && isalnum((unsigned char)s[n + 1])) ||
                        ((s[n] == '+' || s[n] == '-') && strchr("eEpP", s[n - 1]) != NULL &&
                         !(s[0] == '0' && (s[1] | 32) == 'x' && (s[n - 1] | 32) == 'e')))) {
        n++;
    }
    return n;
}

/* Appends the token. Leaves room for one more. */
static bool add(Tokens *out, size_t *room, Token token) {
    if (out->n_tokens + 2 >= *room) {
        *room *= 2;
        Token *more = realloc(out->tokens, *room * sizeof *more);
        if (more == NULL)
            return false;
        out->tokens = more;
    }
    out->tokens[out->n_tokens++] = token;
    return true;
}

bool lex(Tokens *out, const char *text, size_t size) {
    size_t room = size / 3 + 64, i = 0;
    bool system = false, line_start = true;
    memset(out, 0, sizeof *out);
    out->text = text;
    if (size > 0x7fffffff)
        return false;
    out->tokens = malloc(room * sizeof *out->tokens);
    if (out->tokens == NULL || !rewrite_words(out))
        return false;
    while (i < size) {
        const char *s = text + i;
        const size_t left = size - i;
        const unsigned char c = (unsigned char)*s;
        if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            line_start = line_start || c == '\n';
            i++;
            continue;
        }
        Token token = {.start = (unsigned)i, .system = system};
        size_t n;
        if (c == '#' && line_start) {
            n = marker(s, left, &system);
            token.kind = TOKEN_MARKER;
        } else if (isalpha(c) || c == '_' || c == '$' || c >= 0x80) {
            n = name_or_string(out, s, left, &token);
            if (n == 0)
                return false;
        } else if (isdigit(c) || (c == '.' && left > 1 && isdigit((unsigned char)s[1]))) {
            n = number(s, left);
            token.kind = TOKEN_NUMBER;
        } else if (c == '"' || c == '\'') {
            n = quoted(s, left);
            token.kind = TOKEN_STRING;
        } else {
            n = punctuation(s, left);
            token.kind = TOKEN_PUNCTUATION;
        }
        line_start = false;
        if (n > left)
            n = left;
        token.size = (unsigned)n;
        if (!add(out, &room, token))
            return false;
        i += n;
    }
    out->tokens[out->n_tokens++] = (Token){.start = (unsigned)size, .kind = TOKEN_END};
    return true;
}
