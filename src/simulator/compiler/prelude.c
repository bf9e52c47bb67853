/* prelude.c - the simulator's device headers, preprocessed once for each set of options.
 *
 * They precede every program and are always the same, but preprocessing them takes the C++
 * compiler longer than a small kernel. So the result is cached: the text, and the macros that
 * programs may use or that guard the headers against a second inclusion. Programs are then
 * preprocessed with the macros alone, and the text is put in front of the result. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/compiler.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Key kept_key; /* of the last result, which is kept even without a cache on disk */
static Text kept;

/* Splits the output of -dD into the macros defined in our headers and the rest of their text.
 * Drops the compiler's own macros, and the markers of other files, which would name this run's
 * folder. */
static void split(const char *output, Text *macros, Text *text) {
    const size_t n = strlen(compiler_headers());
    bool ours = false;
    for (const char *line = output; *line != 0;) {
        const size_t size = strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        if (line[0] == '#' && line[1] == ' ') {
            const char *quote = memchr(line, '"', size);
            ours = quote != NULL && strncmp(quote + 1, compiler_headers(), n) == 0;
            if (ours)
                text_add(text, line, size);
        } else if (strncmp(line, "#define ", 8) == 0 || strncmp(line, "#undef ", 7) == 0) {
            if (ours)
                text_add(macros, line, size);
        } else if (ours || *line == '\n') {
            text_add(text, line, size);
        }
        line += size;
    }
}

/* Makes both parts as one text for the cache, which begins with the size of the macros. */
static bool make(const Words *command, Text *out) {
    Text output = {0}, error = {0}, macros = {0}, text = {0};
    bool good = spawn(command, NULL, &output, &error) == 0 && output.size > 0 && !output.failed;
    if (good) {
        text_puts(&macros, "#pragma GCC system_header\n");
        split(output.data, &macros, &text);
        good = !macros.failed && !text.failed && macros.size > 0 && text.size > 0;
    }
    if (good) {
        text_printf(out, "%zu\n", macros.size);
        text_add(out, macros.data, macros.size);
        text_add(out, text.data, text.size);
        good = !out->failed;
    }
    text_free(&output);
    text_free(&error);
    text_free(&macros);
    text_free(&text);
    return good;
}

bool prelude_get(const CxxCompiler *cxx, const Words *command, const char *macros_path,
                 Text *text) {
    const uint64_t stamp = compiler_stamp();
    Key key = key_begin();
    key_add(&key, "prelude 1", 9);
    key_add(&key, &stamp, sizeof stamp);
    key_add(&key, cxx->version, strlen(cxx->version));
    key_add(&key, processor_name(), strlen(processor_name()));
    for (size_t i = 0; i < command->n; i++)
        key_add(&key, command->words[i], strlen(command->words[i]));
    pthread_mutex_lock(&lock);
    bool good = kept.size > 0 && memcmp(&kept_key, &key, sizeof key) == 0;
    if (!good) {
        text_free(&kept);
        good = cache_load(key, &kept);
        if (!good) {
            good = make(command, &kept);
            if (good)
                cache_store(key, kept.data, kept.size);
        }
        if (good)
            kept_key = key;
        else
            text_free(&kept);
    }
    if (good) {
        char *end;
        const size_t n = strtoull(kept.data, &end, 10), head = (size_t)(end + 1 - kept.data);
        good = *end == '\n' && head <= kept.size && n <= kept.size - head &&
               text_write_file(macros_path, end + 1, n);
        if (good)
            text_add(text, end + 1 + n, kept.size - head - n);
    }
    pthread_mutex_unlock(&lock);
    return good && !text->failed;
}
