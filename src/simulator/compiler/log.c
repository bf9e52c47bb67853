/* log.c - rewrites the C++ compiler's messages in NVRTC's form: `name(line): error: ...`, then the
 * user's line with a caret below it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/rewrite.h"

/* Finds line n of a text, from 1, counted as #line directives say; size: its length. Takes the
 * last such line, since the user's text comes after ours. */
static const char *find_line(const char *text, unsigned n, size_t *size) {
    const char *found = NULL;
    unsigned at = 1;
    for (const char *line = text; line != NULL; at++) {
        unsigned given;
        const char *next = strchr(line, '\n');
        if (at == n)
            found = line;
        if (line[0] == '#' && sscanf(line, "#line %u", &given) == 1)
            at = given - 1;
        line = next != NULL ? next + 1 : NULL;
    }
    if (found != NULL)
        *size = strcspn(found, "\n");
    return found;
}

/* The text of the file that a message names: the user's program, or one of its headers. */
static const char *text_of(const CompileInput *input, const char *name, size_t size) {
    if (strlen(input->name) == size && strncmp(input->name, name, size) == 0)
        return input->source;
    for (int i = 0; i < input->n_headers; i++) {
        if (strlen(input->include_names[i]) == size &&
            strncmp(input->include_names[i], name, size) == 0)
            return input->headers[i];
    }
    return NULL;
}

/* Adds a message without the prefixes of generated names. */
static void add_message(Text *out, const char *s, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (size - i > 6 &&
            (strncmp(s + i, "sim_v_", 6) == 0 || strncmp(s + i, "sim_w_", 6) == 0)) {
            i += 5;
        } else {
            text_add(out, s + i, 1);
        }
    }
}

/* Guesses the column of the error from the name that the message quotes. */
static size_t column_of(const char *line, size_t size, const char *message, size_t message_size,
                        size_t column) {
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    for (size_t i = 0; i < message_size; i++) {
        const char c = message[i];
        size_t open = 0;
        if (c == '\'' || c == '`' || c == '"')
            open = 1;
        if (message_size - i > 3 && (strncmp(message + i, "\xe2\x80\x98", 3) == 0))
            open = 3;
        if (open == 0)
            continue;
        size_t n = strspn(message + i + open, word);
        for (size_t at = 0; n > 0 && at + n <= size; at++) {
            const bool whole = (at == 0 || strchr(word, line[at - 1]) == NULL) &&
                               (at + n == size || strchr(word, line[at + n]) == NULL);
            if (whole && strncmp(line + at, message + i + open, n) == 0)
                return at + 1;
        }
        break;
    }
    size_t indent = 0;
    while (indent < size && (line[indent] == ' ' || line[indent] == '\t'))
        indent++;
    return column > 0 && column <= size ? column : indent + 1;
}

/* Searches one line only: searching all the following text would take minutes if a compiler wrote
 * a megabyte. */
static const char *find_in(const char *line, const char *end, const char *what) {
    return memmem(line, (size_t)(end - line), what, strlen(what));
}

/* Parses the number after a colon; *at: the text after it. */
static unsigned number_behind(const char **at) {
    if (**at != ':' || (*at)[1] < '0' || (*at)[1] > '9')
        return 0;
    char *rest;
    const unsigned long value = strtoul(*at + 1, &rest, 10);
    *at = rest;
    return value < UINT_MAX ? (unsigned)value : 0;
}

/* Only so many messages show the user's line, as finding it reads the whole text. */
#define MOST_QUOTED 100u

/* The kinds of messages, in the order of the search. */
enum { ERROR, FATAL_ERROR, WARNING, NOTE, KINDS };
static const char *const kinds[KINDS] = {": error: ", ": fatal error: ", ": warning: ", ": note: "};

/* Finds the kind in a line; NULL: there is none. */
static const char *find_kind(const char *line, const char *end, unsigned *which) {
    for (*which = 0; *which < KINDS; ++*which) {
        const char *kind = find_in(line, end, kinds[*which]);
        if (kind != NULL)
            return kind;
    }
    return NULL;
}

/* A file name as the user knows it. */
static const char *users_name(const char *name, const char *directory) {
    const size_t size = strlen(directory);
    if (strncmp(name, directory, size) == 0) {
        name += size + 1;
        if (strncmp(name, "headers/", 8) == 0)
            name += 8;
    }
    return name;
}

/* Adds the line that a message is about, with a caret below it. Returns false if the line is not
 * the user's. */
static bool quote_line(Text *out, const CompileInput *input, const char *name, size_t name_size,
                       unsigned line, unsigned column, const char *message, size_t message_size) {
    size_t width = 0;
    const char *text = text_of(input, name, name_size),
               *source = text != NULL && line > 0 ? find_line(text, line, &width) : NULL;
    if (source == NULL)
        return false;
    const size_t at = column_of(source, width, message, message_size, column);
    text_printf(out, "  %.*s\n  ", (int)width, source);
    for (size_t i = 1; i < at; i++)
        text_add(out, source[i - 1] == '\t' ? "\t" : " ", 1);
    text_puts(out, "^\n\n");
    return true;
}

/* Adds a message; kind points into the line, which begins with name; quoted counts the lines
 * shown. */
static void add_diagnostic(Text *out, const CompileInput *input, const char *name, const char *kind,
                           unsigned which, const char *end, unsigned *quoted) {
    const char *colon = memchr(name, ':', (size_t)(kind - name));
    const char *numbers = colon != NULL ? colon : "";
    const unsigned line = number_behind(&numbers), column = number_behind(&numbers);
    const size_t name_size = colon != NULL ? (size_t)(colon - name) : (size_t)(kind - name);
    const char *message = kind + strlen(kinds[which]);
    const size_t message_size = (size_t)(end - message);
    text_printf(out, "%.*s", (int)name_size, name);
    if (line > 0)
        text_printf(out, "(%u)", line);
    text_puts(out, which == FATAL_ERROR ? ": catastrophic error: " : kinds[which]);
    add_message(out, message, message_size);
    text_puts(out, "\n");
    if (which != NOTE && *quoted < MOST_QUOTED)
        *quoted += quote_line(out, input, name, name_size, line, column, message, message_size);
}

void log_translate(Text *out, const char *messages, const char *directory,
                   const CompileInput *input, bool no_warnings) {
    static const char own[] = REWRITE_STRIDE_FILE;
    unsigned errors = 0, quoted = 0;
    for (const char *s = messages; *s != 0;) {
        const char *end = s + strcspn(s, "\n"), *name = users_name(s, directory);
        unsigned which;
        const char *kind = find_kind(s, end, &which);
        if (strncmp(name, own, sizeof own - 1) == 0) {
            /* generated code: the same error in the user's code was reported */
        } else if (kind != NULL && !(which == WARNING && no_warnings)) {
            add_diagnostic(out, input, name, kind, which, end, &quoted);
            errors += which == ERROR || which == FATAL_ERROR;
        } else if (kind == NULL) {
            const char *linker = find_in(s, end, "undefined reference");
            if (linker != NULL) {
                text_puts(out, "error: ");
                add_message(out, linker, (size_t)(end - linker));
                text_puts(out, "\n");
                errors++;
            }
        }
        s = *end != 0 ? end + 1 : end;
    }
    if (errors > 0)
        text_printf(out, "%u error%s detected in the compilation of \"%s\".\n", errors,
                    errors == 1 ? "" : "s", input->name);
}
