/* compiler.h - interfaces between the parts of the compiler: lexer and rewriter, options,
 * processes, cache, logs. The functions that users call are in nvrtc.c. */
#ifndef PYGPU_SIM_COMPILER_H
#define PYGPU_SIM_COMPILER_H

#include "simulator/image/elf.h"
#include "simulator/sim.h"

/* Checked images: the bytes by which the value of an uninitialized local is recognized. */
#define UNSET_MARK "pygpu unset "

/* ---- text.c: growing text, and files --------------------------------------------------------- */

typedef struct {
    char *data; /* zero-terminated; NULL until something is added */
    size_t size, room;
    bool failed; /* out of memory: what was added since is lost */
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
    unsigned name;        /* of a TOKEN_NAME: the same number for the same name; 0 for others */
    unsigned char kind;
    bool system; /* in a header of the system or the simulator */
} Token;

typedef struct {
    const char *text;
    Token *tokens; /* the last is a TOKEN_END */
    unsigned n_tokens;
    char **names; /* by number; names[0] is unused */
    unsigned n_names, room_names;
    unsigned *table, table_size; /* hash -> number of a name */
    unsigned *starts;            /* for each token: see declaration_start; made by rewrite() */
} Tokens;

bool lex(Tokens *out, const char *text, size_t size);
void lex_free(Tokens *tokens);
unsigned lex_name(Tokens *tokens, const char *name,
                  size_t size); /* its number, new if needed; 0: out of memory */
bool token_is(const Tokens *tokens, unsigned index, const char *text);

/* ---- rewrite.c, independent.c ---------------------------------------------------------------- */

/* Forms of kernels besides the one that runs everything on fibers, which is the only one in a
 * debugger. */
typedef enum {
    REWRITE_FIBERS,
    REWRITE_LOOPS,
    REWRITE_REGIONS
} RewriteForms; /* each includes those before it */

/* Translates preprocessed CUDA C++ to C++. names: expressions of nvrtcAddNameExpression. On
 * errors, adds them to log and returns false. n_regions: the number of kernels split at their
 * barriers; may be NULL. */
bool rewrite(Text *out, Text *log, const char *text, size_t size, char *const *names,
             size_t n_names, RewriteForms forms, unsigned *n_regions);

/* Finds the names in the program whose code needs its thread's identity, or waits for other
 * threads. Returns bits by name number, which the caller frees; steps: from find_steps. */
unsigned char *dependent_names(Tokens *tokens, const unsigned *steps);

/* ---- options.c ------------------------------------------------------------------------------- */

typedef struct {
    char **words; /* for the two runs of the C++ compiler; ends with NULL */
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

/* Translates NVRTC's options. Returns false if one is invalid, with the reason in log. */
bool options_map(Options *out, Text *log, int n, const char *const *options);
void options_free(Options *options);

/* ---- spawn.c --------------------------------------------------------------------------------- */

/* The C++ compiler's command ("g++", or "python3 -m ziglang c++"), its version for cache keys, and
 * whether it is clang. */
typedef struct {
    Words command;
    char version[300];
    bool clang;
} CxxCompiler;

/* Finds the compiler, once per process. Returns NULL if there is none; log then says what to
 * install. */
const CxxCompiler *compiler_find(Text *log);
/* Runs a command and stores its output in out and error. Returns its exit status, -1 if it could
 * not be run. */
int spawn(const Words *words, const char *directory, Text *out, Text *error);

/* ---- cache.c --------------------------------------------------------------------------------- */

typedef struct {
    uint64_t half[2];
} Key;

Key key_begin(void);
void key_add(Key *key, const void *data,
             size_t size); /* hashes the size, too, so that different splits give different keys */
bool cache_load(Key key, Text *out);
void cache_store(Key key, const void *data, size_t size); /* never fails: on errors, nothing is
                                                           * stored */
const char *compiler_headers(void);                       /* folder of the simulator's headers */
uint64_t compiler_stamp(void); /* changes with the headers and with the build of the library */
const char *processor_name(void);

/* ---- prelude.c ------------------------------------------------------------------------------- */

/* Adds the text of the device headers and writes their macros to a file. command preprocesses the
 * headers alone, with -dD. Returns false if they must be preprocessed together with the program. */
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

/* Compiles a source to an image. Returns NVRTC's status; the log may hold warnings in any case. */
nvrtcResult compiler_run(const CompileInput *input, Text *image, Text *log);
/* The lowered name of expression number i of an image; the caller frees. */
char *compiler_lowered(const Text *image, size_t i);

/* Encodes an image as text, where PTX is requested, and decodes it. */
bool compiler_encode_text(Text *out, const Text *image);
CUresult compiler_decode_text(const void *text, size_t size, void **image, size_t *image_size);

/* Creates a file with this content in the folder for temporary files. */
CUresult compiler_temporary_file(char *path, size_t path_size, const char *suffix, const void *data,
                                 size_t size);

/* Creates a temporary folder; deletes one with all its files. */
bool compiler_make_folder(char *path, size_t size);
void compiler_remove_folder(const char *path);

/* seal.c: seals a linked image; must be the last change to it. Returns false if it is not an
 * image. */
bool seal_image(Text *image);
bool seal_holds(const Elf *elf); /* whether the image is unchanged since seal_image */

/* relocatable.c: programs compiled with -rdc=true. */
typedef struct {
    const char *name;
    const void *image;
    size_t size;
} LinkInput;

/* Links the object files in a folder to image.so; complete: whether undefined symbols are
 * errors. */
bool relocatable_link(const CxxCompiler *cxx, const char *folder, size_t n, bool complete,
                      Text *error);
bool relocatable_append(Text *image, const char *folder); /* appends object number 0 to the image */
bool relocatable_has_object(const void *image, size_t size);
/* Links images of several programs into one, which the caller frees. */
CUresult relocatable_link_images(const LinkInput *inputs, size_t n, void **image, size_t *size);

/* log.c: rewrites the C++ compiler's messages in NVRTC's form, with the user's lines. */
void log_translate(Text *out, const char *messages, const char *directory,
                   const CompileInput *input, bool no_warnings);

#endif
