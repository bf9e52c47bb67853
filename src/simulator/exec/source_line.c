/* source_line.c - the source line of an address in a kernel, for messages. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/compiler/compiler.h"
#include "simulator/image/dwarf.h"
#include "simulator/exec/exec.h"

/* Asks addr2line or llvm-symbolizer, which know inlined functions; line tables alone do not always
 * tell. */
static bool describe_by_tools(const SimModule *module, uintptr_t address, char *file, size_t size,
                              unsigned *line) {
    static const char *const tools[] = {"addr2line", "llvm-symbolizer"};
    size_t image_size;
    const void *image = sim_module_image_copy(module, &image_size);
    char path[300];
    bool good = false;
    if (image == NULL ||
        compiler_temporary_file(path, sizeof path, ".so", image, image_size) != CUDA_SUCCESS)
        return false;
    for (unsigned i = 0; i < 2 && !good; i++) {
        Words words = {0};
        Text out = {0}, error = {0};
        words_add(&words, "%s", tools[i]);
        words_add(&words, "-i");
        words_add(&words, "-e");
        words_add(&words, "%s", path);
        words_add(&words, "0x%zx", (size_t)address);
        const bool ran = spawn(&words, NULL, &out, &error) == 0 && out.size > 0;
        const size_t skip = strlen(compiler_headers());
        for (char *at = ran ? out.data : NULL;
             at != NULL && *at != 0 && !good;) { /* path:line[:column], innermost first */
            char *end = strchr(at, '\n');
            if (end != NULL)
                *end = 0;
            char *colon = strrchr(at, ':');
            if (i == 1 && colon != NULL) {
                *colon = 0;
                colon = strrchr(at, ':');
            }
            const char *slash = strrchr(at, '/');
            char folder[4096];
            if (colon != NULL && at[0] != '?' && strncmp(at, compiler_headers(), skip) != 0 &&
                strncmp(at, "/usr/", 5) != 0 && strtoul(colon + 1, NULL, 10) > 0) {
                /* the program's name is relative to the folder where the compiler ran */
                const bool here = slash != NULL && getcwd(folder, sizeof folder) != NULL &&
                                  strncmp(at, folder, strlen(folder)) == 0 &&
                                  at[strlen(folder)] == '/';
                snprintf(file, size, "%.*s",
                         (int)(colon - at - (here ? (ptrdiff_t)strlen(folder) + 1 : 0)),
                         here ? at + strlen(folder) + 1 : at);
                *line = (unsigned)strtoul(colon + 1, NULL, 10);
                good = true;
            }
            at = end != NULL ? end + 1 : NULL;
        }
        words_free(&words);
        text_free(&out);
        text_free(&error);
    }
    unlink(path);
    return good;
}

typedef struct {
    const SimModule *module;
    uintptr_t address;
    char file[400];
    unsigned line;
    bool good;
} Question;

static void *describe_main(void *data) {
    Question *q = data;
    q->good = describe_by_tools(q->module, q->address, q->file, sizeof q->file, &q->line);
    return NULL;
}

/* On a separate thread, because this one may be on a stack of a kernel's thread, which is too
 * small to run programs. */
static bool describe_on_thread(Question *q) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, describe_main, q) != 0)
        return false;
    pthread_join(thread, NULL);
    return q->good;
}

bool source_line_describe(const SimModule *module, uintptr_t pc, char *text, size_t size) {
    char file[400];
    unsigned line;
    if (size > 0)
        text[0] = 0;
    uintptr_t base;
    const LineTable *lines = sim_module_lines(module, &base);
    if (!sim_module_contains(module, pc))
        return false;
    Question question = {.module = module, .address = pc - base};
    bool exact = false;
    const bool found = lines->line != NULL && line_table_find(lines, pc - base, compiler_headers(),
                                                              file, sizeof file, &line, &exact);
    if (!exact && describe_on_thread(&question)) { /* it is in one of our functions: find the user's
                                                    * line that called it */
        snprintf(text, size, " at %s:%u", question.file, question.line);
        return true;
    } else if (found) {
        snprintf(text, size, " at %s:%u", file, line);
    }
    return exact;
}
