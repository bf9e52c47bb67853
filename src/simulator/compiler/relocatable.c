/* relocatable.c - programs compiled with -rdc=true, which use each other's functions and
 * variables.
 *
 * Such an image is a shared object like the others, followed by the object file that it was linked
 * from, so that the linker's calls can combine several. The system's loader, and all who read the
 * image by its headers, see only the first part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/compiler.h"
#include "simulator/image/elf.h"

typedef struct {
    uint64_t size;
    Key sum;
    char mark[24];
} Trailer; /* the last bytes of the image; sum: a hash of the object */
static const char mark[24] = "pygpu-sim-relocatable";

static Key sum(const char *object, size_t size) {
    Key key = key_begin();
    key_add(&key, object, size);
    return key;
}

static bool find_object(const void *image, size_t size, const char **object, size_t *object_size) {
    Trailer trailer;
    if (size < sizeof trailer)
        return false;
    memcpy(&trailer, (const char *)image + size - sizeof trailer, sizeof trailer);
    if (memcmp(trailer.mark, mark, sizeof mark) != 0 || trailer.size > size - sizeof trailer)
        return false;
    *object = (const char *)image + size - sizeof trailer - trailer.size;
    *object_size = trailer.size;
    const Key key = sum(*object, *object_size);
    return memcmp(&key, &trailer.sum, sizeof key) == 0;
}

bool relocatable_has_object(const void *image, size_t size) {
    const char *object;
    size_t object_size;
    return find_object(image, size, &object, &object_size);
}

bool relocatable_append(Text *image, const char *folder) {
    char path[4200];
    const size_t before = image->size;
    Trailer trailer;
    snprintf(path, sizeof path, "%s/0.o", folder);
    if (!text_read_file(image, path))
        return false;
    trailer.size = image->size - before;
    trailer.sum = sum(image->data + before, trailer.size);
    memcpy(trailer.mark, mark, sizeof mark);
    text_add(image, (const char *)&trailer, sizeof trailer);
    return !image->failed;
}

bool relocatable_link(const CxxCompiler *cxx, const char *folder, size_t n, bool complete,
                      Text *error) {
    Words words = {0};
    Text out = {0};
    const bool zig = cxx->command.n > 1;
    bool good = true;
    for (size_t i = 0; i < cxx->command.n; i++)
        good = words_add(&words, "%s", cxx->command.words[i]) && good;
    good = words_add(&words, "-shared") && words_add(&words, "-Wl,-Bsymbolic") && good;
    good = words_add(&words, complete ? "-Wl,-z,defs" : "-Wl,-z,undefs") && good;
    good = words_add(&words, "-o") && words_add(&words, "%s/image.so", folder) && good;
    for (size_t i = 0; i < n; i++)
        good = words_add(&words, "%s/%zu.o", folder, i) && good;
    if (zig) {
        good = words_add(&words, "-Wl,--no-gc-sections") && good;
    } else {
        good = words_add(&words, "-nostdlib") && words_add(&words, "-lm") &&
               words_add(&words, "-lc") && words_add(&words, "-lgcc") && good;
    }
    good = good && spawn(&words, NULL, &out, error) == 0;
    words_free(&words);
    text_free(&out);
    return good;
}

/* Translates a linker's messages about undefined and duplicate names, as worded by GNU or LLVM. */
static void explain(Text *text, const char *messages) {
    static const struct {
        const char *theirs, *ours;
    } kinds[] = {{"undefined reference to ", "undefined: "},
                 {"undefined symbol: ", "undefined: "},
                 {"multiple definition of ", "defined twice: "},
                 {"duplicate symbol: ", "defined twice: "}};
    for (const char *s = messages; *s != 0;) {
        const size_t size = strcspn(s, "\n");
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            const char *at = strstr(s, kinds[i].theirs);
            if (at == NULL || at >= s + size)
                continue;
            at += strlen(kinds[i].theirs);
            if (*at == '`' || *at == '\'')
                at++;
            const size_t n = strcspn(at, "'\n");
            char line[500];
            snprintf(line, sizeof line, "%s%s%.*s", text->size > 0 ? "; " : "", kinds[i].ours,
                     (int)(n < 400 ? n : 400), at);
            if (text->size == 0 || strstr(text->data, line) == NULL)
                text_puts(text, line);
            break;
        }
        s += size + (s[size] != 0);
    }
}

static CUresult link_in(const LinkInput *inputs, size_t n, const CxxCompiler *cxx,
                        const char *folder, Text *image) {
    char path[4200];
    const char *object;
    size_t size;
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%zu.o", folder, i);
        if (!find_object(inputs[i].image, inputs[i].size, &object, &size) ||
            !text_write_file(path, object, size)) {
            return sim_fail(CUDA_ERROR_OPERATING_SYSTEM, "cannot write %s", path);
        }
    }
    Text error = {0}, text = {0};
    CUresult status = CUDA_SUCCESS;
    snprintf(path, sizeof path, "%s/image.so", folder);
    if (!relocatable_link(cxx, folder, n, true, &error)) {
        explain(&text, error.data != NULL ? error.data : "");
        status = sim_fail(CUDA_ERROR_INVALID_IMAGE, "linking failed: %.800s",
                          text.size > 0    ? text.data
                          : error.size > 0 ? error.data
                                           : "the C++ compiler said nothing");
    } else if (!text_read_file(image, path) || !seal_image(image)) {
        status =
            sim_fail(CUDA_ERROR_OPERATING_SYSTEM, "the C++ compiler made no image at %s", path);
    }
    text_free(&error);
    text_free(&text);
    return status;
}

CUresult relocatable_link_images(const LinkInput *inputs, size_t n, void **image, size_t *size) {
    Text log = {0}, out = {0};
    const CxxCompiler *cxx = compiler_find(&log);
    char folder[300];
    if (cxx == NULL) {
        const CUresult status = sim_fail(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "%.800s", log.data);
        text_free(&log);
        return status;
    }
    text_free(&log);
    const uint64_t stamp = compiler_stamp();
    Key key = key_begin();
    key_add(&key, "link", 4);
    key_add(&key, &stamp, sizeof stamp);
    key_add(&key, cxx->version, strlen(cxx->version));
    for (size_t i = 0; i < n; i++) {
        if (!relocatable_has_object(inputs[i].image, inputs[i].size)) {
            return sim_fail(CUDA_ERROR_NOT_SUPPORTED,
                            "%.200s was not compiled with -rdc=true, or is damaged; only what was "
                            "can be linked with others",
                            inputs[i].name);
        }
        key_add(&key, inputs[i].image, inputs[i].size);
    }
    CUresult status = CUDA_SUCCESS;
    if (!cache_load(key, &out)) {
        if (!compiler_make_folder(folder, sizeof folder))
            return sim_fail(CUDA_ERROR_OPERATING_SYSTEM, "no temporary folder: %s", folder);
        status = link_in(inputs, n, cxx, folder, &out);
        compiler_remove_folder(folder);
        if (status == CUDA_SUCCESS)
            cache_store(key, out.data, out.size);
    }
    if (status != CUDA_SUCCESS) {
        text_free(&out);
        return status;
    }
    *image = out.data; /* now owned by the caller */
    *size = out.size;
    return CUDA_SUCCESS;
}
