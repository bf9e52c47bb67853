/* compiler.c - compiles CUDA C++ to an image with the machine's C++ compiler: preprocess, rewrite,
 * compile, link. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulator/compiler/rewrite.h"
#include "simulator/compiler/prune.h"
#include "simulator/image/elf.h"
#include "../pygpu/cuda/simulator/include/pygpu_sim_abi.h"

enum {
    NVRTC_OK,
    NVRTC_OUT_OF_MEMORY,
    NVRTC_CREATION_FAILURE,
    NVRTC_INVALID_INPUT,
    NVRTC_INVALID_PROGRAM,
    NVRTC_INVALID_OPTION,
    NVRTC_COMPILATION
};

/* ---- temporary files ------------------------------------------------------------------------- */

static const char *temporary_folder(void) {
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder == '/' ? folder : "/tmp";
}

CUresult compiler_temporary_file(char *path, size_t path_size, const char *suffix, const void *data,
                                 size_t size) {
    snprintf(path, path_size, "%s/pygpu-sim-XXXXXX%s", temporary_folder(), suffix);
    const int file = mkstemps(path, (int)strlen(suffix));
    if (file < 0)
        return sim_fail(CUDA_ERROR_OPERATING_SYSTEM, "no temporary file in %s: %s",
                        temporary_folder(), strerror(errno));
    FILE *stream = fdopen(file, "wb");
    const bool wrote = stream != NULL && fwrite(data, 1, size, stream) == size;
    if (stream == NULL)
        close(file);
    if ((stream != NULL && fclose(stream) != 0) || !wrote) {
        unlink(path);
        return sim_fail(CUDA_ERROR_OPERATING_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    }
    return CUDA_SUCCESS;
}

bool compiler_make_folder(char *path, size_t size) {
    snprintf(path, size, "%s/pygpu-sim-XXXXXX", temporary_folder());
    return mkdtemp(path) != NULL;
}

void compiler_remove_folder(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *file; folder != NULL && (file = readdir(folder)) != NULL;) {
        if (strcmp(file->d_name, ".") == 0 || strcmp(file->d_name, "..") == 0)
            continue;
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, file->d_name);
        if (unlink(inner) != 0)
            compiler_remove_folder(inner);
    }
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
}

/* Writes headers passed to nvrtcCreateProgram to folder/headers. Names may contain folders, but
 * must stay inside. */
static bool write_headers(const CompileInput *input, const char *folder, Text *log) {
    for (int i = 0; i < input->n_headers; i++) {
        const char *name = input->include_names[i];
        char path[4096];
        const int n = snprintf(path, sizeof path, "%s/headers/%s", folder, name);
        if (n < 0 || (size_t)n >= sizeof path || strstr(name, "..") != NULL || name[0] == '/') {
            text_printf(log, "nvrtc: error: the simulator cannot serve a header named %s\n", name);
            return false;
        }
        for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash != NULL;
             slash = strchr(slash + 1, '/')) {
            *slash = 0;
            mkdir(path, 0700);
            *slash = '/';
        }
        if (!text_write_file(path, input->headers[i], strlen(input->headers[i])))
            return false;
    }
    return true;
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void common_words(Words *words, const CxxCompiler *cxx, const Options *options) {
    for (size_t i = 0; i < cxx->command.n; i++)
        words_add(words, "%s", cxx->command.words[i]);
    words_add(words, "-std=gnu++%d", options->standard);
    words_add(words, "-fno-exceptions");
    words_add(words, "-fno-rtti");
    words_add(words, options->debug || sim_checked() ? "-O0" : "-O2");
#if defined(__x86_64__)
    words_add(words, "-march=native");
#else
    words_add(words, "-mcpu=native");
    words_add(words, "-fsigned-char"); /* as in OpenCL, and in CUDA on x86-64 */
#endif
}

/* -DN=16 is meant for the program, not for our headers, which use the name N themselves. So such
 * macros go to a file that is read after them. NDEBUG and names that begin with an underscore are
 * meant for headers and stay on the command line. */
static bool is_programs_macro(const char *word) {
    const char *name = word + 2;
    return (strncmp(word, "-D", 2) == 0 || strncmp(word, "-U", 2) == 0) && *name != '_' &&
           strncmp(name, "SIM_", 4) != 0 && strncmp(name, "NDEBUG", 6) != 0;
}

static bool write_definitions(const Options *options, const char *folder, Words *words) {
    Text text = {0};
    for (size_t i = 0; i < options->preprocess.n; i++) {
        const char *word = options->preprocess.words[i], *name = word + 2,
                   *equals = strchr(name, '=');
        if (!is_programs_macro(word))
            continue;
        if (word[1] == 'U')
            text_printf(&text, "#undef %s\n", name);
        else if (equals == NULL)
            text_printf(&text, "#define %s 1\n", name);
        else
            text_printf(&text, "#define %.*s %s\n", (int)(equals - name), name, equals + 1);
    }
    char path[4200];
    snprintf(path, sizeof path, "%s/definitions.h", folder);
    bool good = !text.failed;
    if (good && text.size > 0) {
        good = text_write_file(path, text.data, text.size) && words_add(words, "-include") &&
               words_add(words, "%s", path);
    }
    text_free(&text);
    for (size_t i = 0; i < options->preprocess.n; i++) {
        const char *word = options->preprocess.words[i];
        if (!is_programs_macro(word))
            good = words_add(words, "%s", word) && good;
    }
    return good;
}

static void preprocess_words(Words *words, const CxxCompiler *cxx, const Options *options,
                             bool hosted) {
    common_words(words, cxx, options);
    words_add(words, "-E");
    words_add(words, "-x");
    words_add(words, "c++");
    words_add(words, "-UNDEBUG"); /* zig defines it */
    words_add(words, "-D__CUDA_ARCH__=%d", options->architecture * 10);
    if (options->debug)
        words_add(words, "-D__CUDACC_DEBUG__=1");
    if (hosted)
        words_add(words, "-DSIM_HOSTED=1");
    if (sim_checked())
        words_add(words, "-DSIM_CHECKED=1");
}

/* Takes the device headers from the cache, with their macros in a file. Not used if an option
 * might change them. */
static bool add_prelude(const CxxCompiler *cxx, const Options *options, const char *macros,
                        Text *out) {
    Words words = {0};
    for (size_t i = 0; i < options->preprocess.n; i++) {
        const char *word = options->preprocess.words[i];
        if ((strncmp(word, "-D", 2) == 0 || strncmp(word, "-U", 2) == 0) &&
            !is_programs_macro(word))
            return false;
    }
    preprocess_words(&words, cxx, options, false);
    words_add(&words, "-I%s", compiler_headers());
    words_add(&words, "-dD");
    words_add(&words, "-include");
    words_add(&words, "%s/pygpu_simcuda.h", compiler_headers());
    words_add(&words, "/dev/null");
    const bool good = prelude_get(cxx, &words, macros, out);
    words_free(&words);
    if (!good)
        text_free(out);
    return good;
}

static bool preprocess(const CxxCompiler *cxx, const Options *options, const char *folder,
                       bool hosted, Text *out, Text *error) {
    Words words = {0};
    char macros[4200], here[4096];
    snprintf(macros, sizeof macros, "%s/device_macros.h", folder);
    const bool prelude = !hosted && add_prelude(cxx, options, macros, out);
    const size_t before = out->size;
    preprocess_words(&words, cxx, options, hosted);
    words_add(&words, "-I%s/headers", folder);
    words_add(&words, "-I%s", compiler_headers());
    if (getcwd(here, sizeof here) != NULL)
        words_add(&words, "-iquote%s",
                  here); /* NVRTC looks there too; the whole path, as uses_files() needs */
    words_add(&words, "-isystem%s/library",
              compiler_headers()); /* after all -I, so that the user's own copy of NVIDIA's C++
                                    * library is found first */
    words_add(&words, "-include");
    if (prelude)
        words_add(&words, "%s", macros);
    else
        words_add(&words, "%s/pygpu_simcuda.h", compiler_headers());
    const bool written = write_definitions(options, folder, &words);
    words_add(&words, "%s/program.cu", folder);
    const int status = written ? spawn(&words, NULL, out, error) : -1;
    words_free(&words);
    if (status == 0 && out->size == before)
        text_puts(error,
                  "nvrtc: error: the C++ compiler wrote nothing when it was to preprocess\n");
    return status == 0 && !out->failed && out->size > before;
}

/* Whether a header of the C++ library is included. If so, its math functions are used instead of
 * ours. */
static bool uses_cxx_library(const char *text) {
    for (const char *at = strstr(text, "\n# 1 \"/"); at != NULL; at = strstr(at + 1, "\n# 1 \"/")) {
        const char *end = strchr(at + 7, '"');
        const size_t size = end != NULL ? (size_t)(end - at) : 0;
        if (memmem(at, size, "/c++/", 5) != NULL || memmem(at, size, "/libcxx/", 8) != NULL)
            return true;
    }
    return false;
}

/* Whether files on the user's disk are included. If so, the image depends on the preprocessed
 * text. */
static bool uses_files(const char *text, const char *folder) {
    const size_t n = strlen(folder), m = strlen(compiler_headers());
    for (const char *at = strstr(text, "\n# 1 \"/"); at != NULL; at = strstr(at + 1, "\n# 1 \"/")) {
        if (strncmp(at + 6, folder, n) != 0 && strncmp(at + 6, compiler_headers(), m) != 0 &&
            strncmp(at + 6, "/usr/include/stdc-predef.h", 26) != 0)
            return true;
    }
    return false;
}

/* Adds the text without the folder's name, which differs each time. */
static void key_add_text(Key *key, const char *text, const char *folder) {
    const size_t n = strlen(folder);
    for (const char *next; (next = strstr(text, folder)) != NULL; text = next + n)
        key_add(key, text, (size_t)(next - text));
    key_add(key, text, strlen(text));
}

/* Links an object that uses nothing of the C library, as most small kernels do, without searching
 * it: that saves a third of the time. */
static bool link_alone(const CxxCompiler *cxx, const char *folder) {
    static const char *const linker[] = {"ld",   "-shared",          "-Bsymbolic",    "-z",
                                         "defs", "--hash-style=gnu", "--eh-frame-hdr"};
    Words words = {0};
    Text out = {0}, error = {0};
    if (cxx->command.n > 1)
        return false; /* zig has its own C library, which may be the only one */
    bool good = true;
    for (size_t i = 0; i < sizeof linker / sizeof linker[0]; i++)
        good = words_add(&words, "%s", linker[i]) && good;
    good = words_add(&words, "-o") && words_add(&words, "%s/image.so", folder) &&
           words_add(&words, "%s/0.o", folder) && good;
    good = good && spawn(&words, NULL, &out, &error) == 0;
    words_free(&words);
    text_free(&out);
    text_free(&error);
    return good;
}

/* Adds -g, warnings, and options for checks. */
static void add_debug_words(Words *words, const CxxCompiler *cxx, const Options *options) {
    words_add(words, options->debug || sim_debug() ? "-g" : "-g1");
    if (!sim_checked()) {
        words_add(words, "-w");
        return;
    }
    words_add(words, "-fsanitize=thread,bounds"); /* calls our own hooks: see sim_check.h */
    words_add(words, cxx->clang ? "-fsanitize-trap=bounds" : "-fsanitize-undefined-trap-on-error");
    words_add(words, "-ftrivial-auto-var-init=pattern");
    words_add(words, "-Wuninitialized");
    words_add(words, "-Wno-attributes"); /* about "used" on mere declarations */
    words_add(words, cxx->clang ? "-Wno-deprecated-volatile"
                                : "-Wno-volatile"); /* deprecated in C++20, common in CUDA
                                                     * programs */
    if (!cxx->clang)
        words_add(words, "-Wno-tsan"); /* about fences, which our hooks handle */
    words_add(words, cxx->clang ? "-Wconditional-uninitialized" : "-Wmaybe-uninitialized");
}

/* Adds options that only one of the compilers has. */
static void add_compiler_words(Words *words, const CxxCompiler *cxx, const Options *options) {
    if (cxx->clang) {
        words_add(words, "-ftrivial-auto-var-init=pattern"); /* clang++ exploits undefined
                                                              * behaviour when uninitialized
                                                              * variables are passed as arguments,
                                                              * as CUDA programs do */
        words_add(words, "-fno-strict-float-cast-overflow"); /* conversions of too large numbers
                                                              * give the same results as on a GPU */
        words_add(words, "-fno-caret-diagnostics");
        return;
    }
    words_add(words, "-fno-ipa-icf");            /* kernels are identified by address */
    words_add(words, "-fno-tree-slp-vectorize"); /* g++ 12 drops both conversions when two doubles
                                                  * are converted to float and back */
    words_add(words, "-fno-diagnostics-show-caret");
    words_add(words, "-fno-gnu-unique");
    words_add(words, "-gstatement-frontiers");             /* gives line numbers to inlined calls */
    words_add(words, "-fno-reorder-blocks-and-partition"); /* keeps unlikely code near its line */
    if (!options->debug && !sim_checked()) {               /* the part of -O3 that helps loops over
                                                            * threads */
        words_add(words, "-ftree-vectorize");
        words_add(words, "-fvect-cost-model=dynamic");
        words_add(words, "--param=vect-epilogues-nomask=0"); /* a second, narrower loop takes long
                                                              * to compile */
        words_add(words, "-fsplit-loops");
        words_add(words, "-funswitch-loops");
    }
}

static bool compile(const CxxCompiler *cxx, const Options *options, const char *folder,
                    Text *error) {
    Words words = {0};
    Text out = {0};
    common_words(&words, cxx, options);
    static const char *const always[] = {
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-strict-aliasing",
        "-fno-math-errno",
        "-fno-delete-null-pointer-checks",
        "-fno-trapping-math",
        "-ffp-contract=fast",
        "-fno-stack-protector",
        "-fno-asynchronous-unwind-tables",
        "-pipe",
#if defined(__x86_64__)
        "-fstack-clash-protection", /* a frame of many pages hits the guard below the stack before
                                     * anything beyond it */
#endif
    };
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        words_add(&words, "%s", always[i]);
    const bool zig = cxx->command.n > 1;
    if (zig)
        words_add(&words, "-fno-sanitize=undefined"); /* which it adds by default */
    add_debug_words(&words, cxx, options);
    add_compiler_words(&words, cxx, options);
    for (size_t i = 0; i < options->compile.n; i++)
        words_add(&words, "%s", options->compile.words[i]);
    words_add(&words, "-c");
    words_add(&words, "-o");
    words_add(&words, "%s/0.o", folder);
    words_add(&words, "%s/program.ii", folder);
    const int status = spawn(&words, NULL, &out, error);
    words_free(&words);
    text_free(&out);
    if (status != 0)
        return false;
    return options->relocatable
               ? relocatable_link(cxx, folder, 1, false, error)
               : link_alone(cxx, folder) || relocatable_link(cxx, folder, 1, false, error);
}

/* clang++ fills locals with 0xAA bytes, but a ballot of odd lanes looks like four of them. clang++
 * knows well which numbers may be uninitialized, but not which array items. So if it reports none,
 * only longer values count as uninitialized. Its warnings are needed only here, and are removed
 * from the messages. */
static void note_unset(Text *messages, Text *image) {
    bool any = false, drop = false;
    char *out = messages->data;
    for (char *line = messages->data; line != NULL && *line != 0;) {
        const size_t size = strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        if (memmem(line, size, "uninitialized]", 14) != NULL) {
            any = true;
            drop = memmem(line, size, "[-Wconditional-uninitialized]", 29) != NULL;
        } else if (memmem(line, size, " note: ", 7) == NULL) {
            drop = false;
        }
        if (!drop) {
            memmove(out, line, size);
            out += size;
        }
        line += size;
    }
    if (messages->data != NULL) {
        *out = 0;
        messages->size = (size_t)(out - messages->data);
    }
    char *mark = image->data != NULL
                     ? memmem(image->data, image->size, UNSET_MARK "4", sizeof UNSET_MARK)
                     : NULL;
    if (mark != NULL && !any)
        mark[sizeof UNSET_MARK - 1] = '8';
}

/* A compilation in its own folder. */
typedef struct {
    const CompileInput *input;
    const CxxCompiler *cxx;
    const Options *options;
    const char *folder;
    Text preprocessed, rewritten;
    Text messages; /* the C++ compiler's */
    Text *log;     /* for the user */
} Run;

static bool write_file(const Run *self, const char *name, const Text *text) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", self->folder, name);
    return text_write_file(path, text->data, text->size);
}

static bool write_source(const Run *self) {
    Text source = {0};
    text_printf(&source, "# 1 \"%s\"\n", self->input->name);
    text_puts(&source, self->input->source);
    text_puts(&source, "\n");
    const bool good = !source.failed && write_file(self, "program.cu", &source) &&
                      write_headers(self->input, self->folder, self->log);
    text_free(&source);
    if (!good)
        text_printf(self->log, "nvrtc: error: cannot write to %s\n", self->folder);
    return good;
}

/* *files: set if files on the user's disk are included. */
static bool preprocess_source(Run *self, bool *files) {
    bool good = preprocess(self->cxx, self->options, self->folder, false, &self->preprocessed,
                           &self->messages);
    if (good && uses_cxx_library(self->preprocessed.data)) {
        text_free(&self->preprocessed);
        text_free(&self->messages);
        good = preprocess(self->cxx, self->options, self->folder, true, &self->preprocessed,
                          &self->messages);
    }
    /* Must precede pruning, which leaves no trace of headers that have nothing but macros. */
    *files = good && uses_files(self->preprocessed.data, self->folder);
    if (good)
        self->preprocessed.size =
            sim_prune(self->preprocessed.data, self->preprocessed.size, false);
    return good;
}

static bool has_message(const Run *self, const char *words) {
    return self->messages.data != NULL && strstr(self->messages.data, words) != NULL;
}

/* If the C++ compiler rejects a rewritten kernel, it is rewritten with fewer forms and compiled
 * again. Its messages about the user's text are also better then. */
static bool rewrite_and_compile(Run *self) {
    /* with -rdc=true, it is unknown whether functions of other programs wait */
    const bool fibers = self->options->debug || self->options->relocatable || sim_checked();
    RewriteForms forms = fibers ? REWRITE_FIBERS : sim_fibers() ? REWRITE_LOOPS : REWRITE_REGIONS;
    for (;;) {
        unsigned n_regions = 0;
        if (!rewrite(&self->rewritten, &self->messages, self->preprocessed.data,
                     self->preprocessed.size, self->input->expressions, self->input->n_expressions,
                     forms, &n_regions))
            return false;
        self->rewritten.size = sim_prune(self->rewritten.data, self->rewritten.size, true);
        if (!write_file(self, "program.ii", &self->rewritten)) {
            text_printf(self->log, "nvrtc: error: cannot write to %s/program.ii: %s\n",
                        self->folder, strerror(errno));
            return false;
        }
        if (compile(self->cxx, self->options, self->folder, &self->messages))
            return true;
        if (has_message(self, "PYGPU_SIM_COMPILE_TIMEOUT") ||
            (n_regions == 0 && !has_message(self, REWRITE_STRIDE_FILE)))
            return false;
        forms = n_regions > 0 ? REWRITE_LOOPS : REWRITE_FIBERS;
        if (sim_debug())
            fputs(self->messages.data != NULL ? self->messages.data : "", stderr);
        text_free(&self->rewritten);
        text_free(&self->messages);
    }
}

/* Writes the log of a compilation, successful or not. */
static void write_log(Run *self, bool good) {
    Text *log = self->log;
    if (self->messages.size > 0) {
        log_translate(log, self->messages.data, self->folder, self->input,
                      self->options->no_warnings);
        if (!good && log->size == 0) /* messages of a linker, or of an unknown compiler */
            text_puts(log, self->messages.data);
    }
    if (!good && log->size == 0)
        text_puts(log, "nvrtc: error: the C++ compiler failed without a word\n");
}

static nvrtcResult run_in(Run *self, Key key, Text *image) {
    const Options *options = self->options;
    char path[4200];
    bool files;
    if (!write_source(self))
        return NVRTC_COMPILATION;
    bool good = preprocess_source(self, &files);
    if (files) {
        key_add_text(&key, self->preprocessed.data, self->folder);
        if (cache_load(key, image))
            return NVRTC_OK;
    }
    good = good && rewrite_and_compile(self);
    if (good) {
        snprintf(path, sizeof path, "%s/image.so", self->folder);
        good = text_read_file(image, path);
    }
    if (sim_checked() && self->cxx->clang)
        note_unset(&self->messages, image);
    write_log(self, good);
    if (!good)
        return NVRTC_COMPILATION;
    if (!seal_image(image) || (options->relocatable && !relocatable_append(image, self->folder))) {
        text_puts(self->log, "nvrtc: error: the C++ compiler made no image\n");
        return NVRTC_COMPILATION;
    }
    cache_store(key, image->data, image->size);
    return NVRTC_OK;
}

static Key key_of(const CompileInput *input, const CxxCompiler *cxx, const Options *options) {
    Key key = key_begin();
    const uint64_t stamp = compiler_stamp();
    const char *processor = processor_name();
    const unsigned numbers[] = {SIM_ABI,
                                sim_checked(),
                                sim_fibers(),
                                sim_debug(),
                                (unsigned)options->architecture,
                                (unsigned)input->n_headers,
                                (unsigned)input->n_expressions,
                                (unsigned)input->n_options};
    key_add(&key, numbers, sizeof numbers);
    key_add(&key, &stamp, sizeof stamp);
    key_add(&key, PYGPU_VERSION, strlen(PYGPU_VERSION));
    key_add(&key, processor, strlen(processor));
    key_add(&key, cxx->version, strlen(cxx->version));
    for (size_t i = 0; i < cxx->command.n; i++)
        key_add(&key, cxx->command.words[i], strlen(cxx->command.words[i]));
    key_add(&key, input->source, strlen(input->source));
    key_add(&key, input->name, strlen(input->name));
    for (int i = 0; i < input->n_headers; i++) {
        key_add(&key, input->headers[i], strlen(input->headers[i]));
        key_add(&key, input->include_names[i], strlen(input->include_names[i]));
    }
    for (size_t i = 0; i < input->n_expressions; i++)
        key_add(&key, input->expressions[i], strlen(input->expressions[i]));
    for (int i = 0; i < input->n_options; i++)
        key_add(&key, input->options[i], strlen(input->options[i]));
    return key;
}

nvrtcResult compiler_run(const CompileInput *input, Text *image, Text *log) {
    Options options;
    nvrtcResult result = NVRTC_COMPILATION;
    if (!options_map(&options, log, input->n_options, input->options)) {
        options_free(&options);
        return NVRTC_INVALID_OPTION;
    }
    const CxxCompiler *cxx = compiler_find(log);
    if (cxx != NULL) {
        const Key key = key_of(input, cxx, &options);
        if (cache_load(key, image)) {
            result = NVRTC_OK;
        } else {
            char folder[300];
            if (!compiler_make_folder(folder, sizeof folder)) {
                text_printf(log, "nvrtc: error: no temporary folder in %s: %s\n",
                            temporary_folder(), strerror(errno));
            } else {
                Run run = {
                    .input = input, .cxx = cxx, .options = &options, .folder = folder, .log = log};
                result = run_in(&run, key, image);
                text_free(&run.preprocessed);
                text_free(&run.rewritten);
                text_free(&run.messages);
                if (!sim_debug())
                    compiler_remove_folder(folder);
            }
        }
    }
    options_free(&options);
    return result;
}

/* ---- contents of an image -------------------------------------------------------------------- */

char *compiler_lowered(const Text *image, size_t i) {
    Elf elf;
    uint64_t address, size;
    void *aligned = NULL;
    char *result = NULL;
    if (image->size == 0 || posix_memalign(&aligned, 16, image->size) != 0)
        return NULL;
    memcpy(aligned, image->data, image->size);
    if (elf_open(&elf, aligned, image->size) && elf_section(&elf, "sim_names", &address, &size)) {
        for (uint64_t at = address; at + 8 <= address + size; at += 8) {
            uint64_t entry = 0, number = 0, target = 0;
            if (!elf_pointer_at(&elf, at, &entry) ||
                !elf_bytes_at(&elf, entry, &number, sizeof number) || number != i)
                continue;
            if (!elf_pointer_at(&elf, entry + offsetof(SimName, address), &target))
                continue;
            const Elf64_Sym *symbol = elf_symbol_at(&elf, target);
            if (symbol != NULL) {
                result = strdup(elf_symbol_name(&elf, symbol));
                break;
            }
        }
    }
    free(aligned);
    return result;
}

/* The text that is returned as PTX: base 64 in comments, so that readers see what it is, then the
 * kernels' names. */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char text_start[] =
    "// Not PTX: an image for pygpu's CPU simulator as text. cuModuleLoadData of the simulator "
    "loads it; a GPU's driver cannot.\n";
static const char text_data[] = "// pygpu-simulator-image ";

/* Programs search the text for the name of their kernel. */
static void name_kernels(Text *out, const Text *image) {
    Elf elf;
    uint64_t address, size;
    void *aligned = NULL;
    if (image->size == 0 || posix_memalign(&aligned, 16, image->size) != 0)
        return;
    memcpy(aligned, image->data, image->size);
    if (elf_open(&elf, aligned, image->size) && elf_section(&elf, "sim_kernels", &address, &size)) {
        for (uint64_t at = address; at + 8 <= address + size; at += 8) {
            uint64_t entry = 0, function = 0;
            if (!elf_pointer_at(&elf, at, &entry) ||
                !elf_pointer_at(&elf, entry + offsetof(SimEntry, function), &function))
                continue;
            const Elf64_Sym *symbol = elf_symbol_at(&elf, function);
            if (symbol != NULL)
                text_printf(out, "// .visible .entry %s()\n", elf_symbol_name(&elf, symbol));
        }
    }
    free(aligned);
}

bool compiler_encode_text(Text *out, const Text *image) {
    text_puts(out, text_start);
    text_printf(out, "%s%zu\n", text_data, image->size);
    const unsigned char *bytes = (const unsigned char *)image->data;
    char line[80];
    size_t used = 0;
    for (size_t i = 0; i < image->size; i += 3) {
        const size_t left = image->size - i;
        const unsigned word = (unsigned)bytes[i] << 16 |
                              (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? bytes[i + 2] : 0u);
        for (unsigned k = 0; k < 4; k++)
            line[used++] = k > left ? '=' : digits[word >> (18 - 6 * k) & 63];
        if (used == 76 || left <= 3) {
            text_puts(out, "//");
            text_add(out, line, used);
            text_puts(out, "\n");
            used = 0;
        }
    }
    name_kernels(out, image);
    return !out->failed;
}

CUresult compiler_decode_text(const void *text, size_t size, void **image, size_t *image_size) {
    const char *s = text;
    const size_t limit = size != 0 ? size : (size_t)1 << 40;
    if (limit < sizeof text_start - 1 || strncmp(s, text_start, sizeof text_start - 1) != 0) {
        const bool ptx = strncmp(s, "//", 2) == 0 || strncmp(s, ".version", 8) == 0 || *s == '\n';
        return sim_fail(ptx ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE,
                        "the image is %s; the simulator loads only images made by its own compiler",
                        ptx ? "PTX" : "in an unknown format");
    }
    s += sizeof text_start - 1;
    if (strncmp(s, text_data, sizeof text_data - 1) != 0)
        return sim_fail(CUDA_ERROR_INVALID_IMAGE, "the image is damaged");
    const size_t n = strtoull(s + sizeof text_data - 1, NULL, 10);
    void *out;
    if (n == 0 || n > (size_t)1 << 32 || posix_memalign(&out, 16, n + 3) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t used = 0;
    unsigned word = 0, count = 0;
    for (s = strchr(s, '\n'); s != NULL && *s != 0 && used < n; s++) {
        const char *digit = *s == '\n' ? NULL : strchr(digits, *s);
        if (s[0] == '\n' && s[1] == '/' && s[2] == '/')
            s += 2;
        if (digit == NULL && *s != '=')
            continue;
        if (*s == '/' && s[-1] == '/' && s[-2] == '\n')
            continue;
        word = word << 6 | (digit != NULL ? (unsigned)(digit - digits) : 0);
        if (++count == 4) {
            for (int k = 16; k >= 0 && used < n; k -= 8)
                ((unsigned char *)out)[used++] = (unsigned char)(word >> k & 255);
            count = 0;
        }
    }
    if (used != n) {
        free(out);
        return sim_fail(CUDA_ERROR_INVALID_IMAGE, "the image is cut off");
    }
    *image = out;
    *image_size = n;
    return CUDA_SUCCESS;
}
