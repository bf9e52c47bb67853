/* rewrite.h - shared by the files of the rewriter. */
#ifndef PYGPU_SIM_REWRITE_H
#define PYGPU_SIM_REWRITE_H

#include "simulator/compiler/compiler.h"

/* Words that the rewriter handles: R_x is the number of the name x. */
/* clang-format off */
#define REWRITE_WORDS(W) \
    W(__global__) W(__device__) W(__host__) W(__constant__) W(__managed__) W(__shared__) \
    W(__launch_bounds__) W(__forceinline__) W(__noinline__) W(__align__) W(__builtin_align__) \
    W(__grid_constant__) W(__inline_hint__) W(__cluster_dims__) W(__maxnreg__) W(__block_size__) \
    W(__nv_pure__) W(__attribute__) W(__attribute) W(__declspec) W(alignas) W(decltype) \
    W(noexcept) W(extern) W(static) W(inline) W(__inline__) W(__inline) W(template) W(operator) \
    W(struct) W(class) W(union) W(enum) W(namespace) W(using) W(typedef) W(threadIdx) W(blockIdx) \
    W(blockDim) W(gridDim) W(printf) W(vprintf) W(malloc) W(free) W(clock) W(asm) W(__asm__) \
    W(__asm) W(volatile) W(goto) W(sim_here) W(explicit) W(requires) W(typeof) W(__typeof__) \
    W(sizeof) W(alignof) W(__restrict__) W(std) W(__assert_fail) W(new) W(delete) W(for) W(while) \
    W(do) W(if) W(else) W(switch) W(return) W(typename) W(__syncthreads) W(__syncwarp)
/* clang-format on */

enum {
    R_nothing,
#define W(word) R_##word,
    REWRITE_WORDS(W)
#undef W
        R_words
};

typedef enum {
    FORM_FIBERS,
    FORM_LOOPS,
    FORM_STRIDES,
    FORM_REGIONS
} Form; /* how a kernel's threads run, where there is a choice */
typedef struct {
    unsigned name;
    Form form;
} SeenKernel;

#define REWRITE_BUILTINS \
    "const uint3 threadIdx, const uint3 blockIdx, const dim3 blockDim, const dim3 gridDim"
#define REWRITE_STRIDE_FILE \
    "pygpu-simulator-strides" /* generated code: messages about it repeat others */

#define NOWHERE      0xffffffffu
#define REGION_NAMES 100u

/* Variables declared in shared memory outside functions, up to a token. */
typedef struct {
    unsigned end, n_shared, n_memory;
    bool unknown; /* something was not understood */
    unsigned shared[REGION_NAMES], memory[REGION_NAMES];
} SharedNames;

typedef struct {
    Tokens t;
    unsigned *match;          /* for each bracket, the index of its partner; 0: none */
    unsigned *steps;          /* see find_steps */
    unsigned char *dependent; /* by name, see dependent_names */
    Text *out, *log;
    unsigned n_entries;
    struct {
        unsigned name, number;
    } shared[16]; /* extern __shared__ arrays outside functions: the token of the name, and the
                   * number of the type __simT_number */
    unsigned n_shared;
    unsigned copied; /* the token to copy without the white space before it; NOWHERE: none */
    RewriteForms forms;
    unsigned n_regions; /* kernels that were split into regions */
    bool failed;
    SeenKernel *kernels;
    unsigned n_dependent; /* the number of names in `dependent` */
    unsigned n_kernels, room_kernels;
    unsigned char *at; /* what begins at each token: a BEGINS_ constant */
    unsigned body_end; /* the closing brace of the current kernel; 0: not in a kernel */
    unsigned n_errors;
    unsigned casts;               /* how many casts are being rewritten */
    unsigned char *kernels_named; /* by name: see count_kernels() */
    unsigned n_named;
    unsigned char *region_names; /* by name: see region_names() */
    SharedNames globals;
    unsigned region_names_end; /* typedefs have been read for it up to this token */
    /* The last results of the searches below, so that they do not start anew at each token. */
    struct {
        unsigned token, marker, line;
    } line_search;
    struct {
        unsigned first, end;
        bool variable, brace;
    } begins;
    struct {
        unsigned start, at, end, word, force;
    } inlined;
    unsigned char *angles; /* how many < are open before each token, at most 2: see is_shift */
    bool *inside;          /* whether each token is inside a function's braces */
    unsigned foreign, foreign_end; /* the current lambda or class inside a kernel that cannot see
                                    * the kernel's parameters; end 0: none */
} Rewriter;

/* The lexer numbers these words first, so that their numbers are constants. */
bool rewrite_words(Tokens *tokens);
unsigned *rewrite_match(const Tokens *tokens);
/* The index of the first token of the declaration that contains token i. */
unsigned declaration_start(const Tokens *tokens, unsigned i);
bool is_bracket(const Tokens *tokens, unsigned i, char c);
unsigned skip_angles(const Tokens *tokens, const unsigned *match,
                     unsigned i); /* i: a <; returns the index of its >, or i */
void rewrite_error(Rewriter *r, unsigned i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Line and file of a token, according to the markers. */
const char *rewrite_location(Rewriter *r, unsigned i, unsigned *line, int *size);
/* Lambdas without a default capture and local classes inside a kernel cannot use its parameters.
 * If one begins at i, sets its range: from after its captures or its keyword to its last brace. */
bool rewrite_foreign(const Rewriter *r, unsigned i, unsigned *first, unsigned *end);
/* rewrite_stride.c */
bool rewrite_stride(Rewriter *r, unsigned start, unsigned name, unsigned name_end, unsigned params,
                    unsigned params_end, unsigned body, unsigned end);
/* rewrite_region.c: splits the kernel into regions, if possible; false: nothing was written */
bool rewrite_regions(Rewriter *r, unsigned start, unsigned name, unsigned params,
                     unsigned params_end, unsigned body, unsigned end);
/* rewrite_kernel.c */
unsigned rewrite_kernel(Rewriter *r, unsigned start, unsigned global);
void rewrite_expressions(Rewriter *r, char *const *names, size_t n_names);
/* rewrite.c */
unsigned rewrite_tokens(Rewriter *r, unsigned first,
                        unsigned end); /* writes them with replacements; returns the next token */
void rewrite_flat(Rewriter *r, Text *out, unsigned first, unsigned end,
                  bool defaults); /* on one line; defaults: whether to keep default arguments */
/* rewrite_arithmetic.c: shifts and conversions; returns the index after them, or i */
unsigned rewrite_arithmetic(Rewriter *r, unsigned i);
/* rewrite_step.c: finds the uses of volatile variables at which the threads of a warp must meet.
 * For each token where one begins: twice the index of the token after the use, plus 1 where the
 * variable itself is meant, not its value. A second half follows: for each token where the body of
 * a loop with such uses begins, the body's end. The caller frees it. */
unsigned *find_steps(const Tokens *tokens, const unsigned *match);
unsigned rewrite_step(Rewriter *r, unsigned i); /* returns the next token */
/* asm.c: inline PTX; i: the asm token. Returns the index of the token after it, or i if it is not
 * PTX. */
unsigned rewrite_asm(Rewriter *r, unsigned i);

/* The word that makes the generated function inline, whose name is at `name`; empty if it is
 * inline already. */
const char *rewrite_inline(Rewriter *r, unsigned name);
unsigned char *count_angles(const Tokens *tokens, const unsigned *match);

#endif
