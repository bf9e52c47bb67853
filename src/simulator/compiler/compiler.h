/* compiler.h - the parts of the compiler: lexer and rewriter, options, processes, cache, logs.
 * nvrtc.c has the functions that users call. */
#ifndef PYGPU_SIM_COMPILER_H
#define PYGPU_SIM_COMPILER_H

#include "simulator/image/elf.h"
#include "simulator/sim.h"

/* Checked images: bytes that a value must have to be taken for a local that was never set. */
#define UNSET_MARK "pygpu unset "

/* ---- text.c: text that grows, and files ------------------------------------------------------ */

typedef struct {
    char *data; /* ends with 0; NULL until something was added */
    size_t size, room;
    bool failed; /* no memory: everything added since is lost */
} Text;

void text_add(Text *text, const char *data, size_t size);
void text_puts(Text *text, const char *string);
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(Text *text);
bool text_read_file(Text *text, const char *path);
bool text_write_file(const char *path, const void *data, size_t size);

/* ---- lexer.c --------------------------------------------------------------------------------- */

typedef enum {
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_PUNCTUATION,
    TOKEN_MARKER,
    TOKEN_END
} TokenKind;

typedef struct {
    unsigned start, size; /* in the text */
    unsigned name;        /* of a TOKEN_NAME: equal numbers, equal names; 0 for others */
    unsigned char kind;
    bool system; /* in a header of the system, or of the simulator */
} Token;

typedef struct {
    const char *text;
    Token *tokens; /* the last is a TOKEN_END */
    unsigned n_tokens;
    char **names; /* by number; names[0] is unused */
    unsigned n_names, room_names;
    unsigned *table, table_size; /* hash -> number of a name */
    unsigned *starts;            /* of each token: see declaration_start; rewrite() makes them */
} Tokens;

bool lex(Tokens *out, const char *text, size_t size);
void lex_free(Tokens *tokens);
unsigned lex_name(Tokens *tokens, const char *name,
                  size_t size); /* its number, a new one if need be; 0: no memory */
bool token_is(const Tokens *tokens, unsigned index, const char *text);

/* ---- rewrite.c, independent.c ---------------------------------------------------------------- */

/* Forms of kernels besides the one that runs everything on fibers: for a debugger there is that one
 * alone. */
typedef enum {
    REWRITE_FIBERS,
    REWRITE_LOOPS,
    REWRITE_REGIONS
} RewriteForms; /* each with those before it */

/* CUDA C++ after preprocessing to C++. names: expressions of nvrtcAddNameExpression. Errors are put
 * into log and give false. n_regions: kernels that were cut at their barriers; may be NULL. */
bool rewrite(Text *out, Text *log, const char *text, size_t size, char *const *names,
             size_t n_names, RewriteForms forms, unsigned *n_regions);

/* Which names of the program stand for code that needs to know its thread, or waits for others:
 * bits by number of name; steps: of find_steps. The caller frees. */
unsigned char *dependent_names(Tokens *tokens, const unsigned *steps);

/* ---- options.c ------------------------------------------------------------------------------- */

typedef struct {
    char **words; /* for the C++ compiler's two runs; ends with NULL */
    size_t n, room;
} Words;

bool words_add(Words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void words_free(Words *words);

typedef struct {
    Words preprocess, compile;
    bool debug, no_warnings, relocatable;
    int standard; /* 17, 20, ... */
    int architecture;
} Options;

/* Maps NVRTC's options. False: one is wrong, and log says which. */
bool options_map(Options *out, Text *log, int n, const char *const *options);
void options_free(Options *options);

/* ---- spawn.c --------------------------------------------------------------------------------- */

/* The C++ compiler as words ("g++", or "python3 -m ziglang c++"), its version for the cache's keys,
 * and whether it is clang. */
typedef struct {
    Words command;
    char version[300];
    bool clang;
} CxxCompiler;

/* Finds it once in the process; NULL: there is none, and log says what to install. */
const CxxCompiler *compiler_find(Text *log);
/* Runs words, with what it writes in out and error. Returns its exit status, -1 if it could not be
 * run. */
int spawn(const Words *words, const char *directory, Text *out, Text *error);

/* ---- cache.c --------------------------------------------------------------------------------- */

typedef struct {
    uint64_t half[2];
} Key;

Key key_begin(void);
void key_add(Key *key, const void *data,
             size_t size); /* with its size, so that parts cannot be mixed up */
bool cache_load(Key key, Text *out);
void cache_store(Key key, const void *data, size_t size); /* never fails: then nothing is stored */
const char *compiler_headers(void);                       /* folder of the simulator's headers */
uint64_t compiler_stamp(void); /* changes with them, and with the build of the library */
const char *processor_name(void);

/* ---- prelude.c ------------------------------------------------------------------------------- */

/* Adds the device headers' text and writes their macros to a file. command is what preprocesses
 * them alone, with -dD. False: it is to be done together with the program. */
bool prelude_get(const CxxCompiler *cxx, const Words *command, const char *macros_path, Text *text);

/* ---- compiler.c ------------------------------------------------------------------------------ */

typedef struct {
    const char *source, *name;
    int n_headers;
    char **headers, **include_names;
    char **expressions;
    size_t n_expressions;
    int n_options;
    const char *const *options;
} CompileInput;

/* An image from a source. NVRTC's status; the log may hold warnings in any case. */
nvrtcResult compiler_run(const CompileInput *input, Text *image, Text *log);
/* The lowered name of expression number i of an image; the caller frees. */
char *compiler_lowered(const Text *image, size_t i);

/* An image as text, where PTX is asked for, and back. */
bool compiler_encode_text(Text *out, const Text *image);
CUresult compiler_decode_text(const void *text, size_t size, void **image, size_t *image_size);

/* A new file with this content in the folder for temporary files. */
CUresult compiler_temporary_file(char *path, size_t path_size, const char *suffix, const void *data,
                                 size_t size);

/* A new folder for temporary files, and its end with all that is in it. */
bool compiler_make_folder(char *path, size_t size);
void compiler_remove_folder(const char *path);

/* seal.c: what is done to an image last, once it is linked. False: it is none. */
bool seal_image(Text *image);
bool seal_holds(const Elf *elf); /* whether the image is as seal_image left it */

/* relocatable.c: programs compiled with -rdc=true. */
typedef struct {
    const char *name;
    const void *image;
    size_t size;
} LinkInput;

/* Links the object files of a folder to image.so; complete: what is missing is an error. */
bool relocatable_link(const CxxCompiler *cxx, const char *folder, size_t n, bool complete,
                      Text *error);
bool relocatable_append(Text *image,
                        const char *folder); /* object number 0 goes behind the image */
bool relocatable_has_object(const void *image, size_t size);
/* Several images of programs as one; the caller frees it. */
CUresult relocatable_link_images(const LinkInput *inputs, size_t n, void **image, size_t *size);

/* log.c: the C++ compiler's messages as NVRTC words them, with the user's lines. */
void log_translate(Text *out, const char *messages, const char *directory,
                   const CompileInput *input, bool no_warnings);

#endif
