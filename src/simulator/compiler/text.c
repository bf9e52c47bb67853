/* text.c - growing text, and whole files. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/compiler.h"

static bool make_room(Text *text, size_t size) {
    if (text->failed)
        return false;
    if (text->size + size + 1 > text->room) {
        const size_t room = 2 * (text->size + size) + 256;
        char *more = realloc(text->data, room);
        if (more == NULL) {
            text->failed = true;
            return false;
        }
        text->data = more;
        text->room = room;
    }
    return true;
}

void text_add(Text *text, const char *data, size_t size) {
    if (!make_room(text, size))
        return;
    if (size > 0)
        memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}

void text_puts(Text *text, const char *string) {
    text_add(text, string, strlen(string));
}

void text_printf(Text *text, const char *format, ...) {
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    const int n = vsnprintf(NULL, 0, format, values);
    if (n >= 0 && make_room(text, (size_t)n)) {
        vsnprintf(text->data + text->size, (size_t)n + 1, format, again);
        text->size += (size_t)n;
    }
    va_end(again);
    va_end(values);
}

void text_free(Text *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}

bool text_read_file(Text *text, const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    char part[65536];
    size_t n;
    text_add(text, "", 0);
    while ((n = fread(part, 1, sizeof part, file)) > 0)
        text_add(text, part, n);
    const bool good = !ferror(file) && !text->failed;
    fclose(file);
    return good;
}

bool text_write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    const bool wrote = fwrite(data, 1, size, file) == size;
    return fclose(file) == 0 && wrote;
}
