/* rewrite.h - what the files of the rewriter share. */
#ifndef PYGPU_SIM_REWRITE_H
#define PYGPU_SIM_REWRITE_H

#include "simulator/compiler/compiler.h"

/* Words that mean something here: R_x is the number of the name. */
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
} Form; /* how a kernel's threads are run where there is a choice */
typedef struct {
    unsigned name;
    Form form;
} SeenKernel;

#define REWRITE_BUILTINS \
    "const uint3 threadIdx, const uint3 blockIdx, const dim3 blockDim, const dim3 gridDim"
#define REWRITE_STRIDE_FILE \
    "pygpu-simulator-strides" /* what the user did not write: messages on it repeat others */

#define NOWHERE      0xffffffffu
#define REGION_NAMES 100u

/* What is declared in shared memory outside of functions, up to a token. */
typedef struct {
    unsigned end, n_shared, n_memory;
    bool unknown; /* something that is not understood */
    unsigned shared[REGION_NAMES], memory[REGION_NAMES];
} SharedNames;

typedef struct {
    Tokens t;
    unsigned *match;          /* of each bracket, the index of its partner; 0: none */
    unsigned *steps;          /* see find_steps */
    unsigned char *dependent; /* by name, see dependent_names */
    Text *out, *log;
    unsigned n_entries;
    struct {
        unsigned name, number;
    } shared[16]; /* extern __shared__ arrays outside of functions: the token of the name, the type
                     __simT_number */
    unsigned n_shared;
    unsigned copied; /* the token whose white space before it is not wanted; NOWHERE: none */
    RewriteForms forms;
    unsigned n_regions; /* kernels that were cut into regions */
    bool failed;
    SeenKernel *kernels;
    unsigned n_dependent; /* names that `dependent` knows of */
    unsigned n_kernels, room_kernels;
    unsigned char *at; /* what begins at a token, a BEGINS_ */
    unsigned body_end; /* of the kernel we are in, the token of its brace; 0: in none */
    unsigned n_errors;
    unsigned casts;               /* that we are in */
    unsigned char *kernels_named; /* by name: see count_kernels */
    unsigned n_named;
    unsigned char *region_names; /* by name: see region_names() */
    SharedNames globals;
    unsigned region_names_end; /* the token up to which typedefs have been read for it */
    /* What the scans below found last, so that they do not begin anew at each token. */
    struct {
        unsigned token, marker, line;
    } place;
    struct {
        unsigned first, end;
        bool variable, brace;
    } begins;
    struct {
        unsigned start, at, end, word, force;
    } inlined;
    unsigned char *angles; /* how many < are open before each token, 2 at most: see is_shift */
    bool *inside;          /* whether each token is in a function's braces */
    unsigned foreign, foreign_end; /* inside a kernel: of a lambda or class that cannot see the
                                      kernel's parameters; end 0: in none */
} Rewriter;

/* The lexer gives these words their numbers first, so that they are constants. */
bool rewrite_words(Tokens *tokens);
unsigned *rewrite_match(const Tokens *tokens);
/* Index of the first token of the declaration that contains token i. */
unsigned declaration_start(const Tokens *tokens, unsigned i);
bool is_bracket(const Tokens *tokens, unsigned i, char c);
unsigned skip_angles(const Tokens *tokens, const unsigned *match,
                     unsigned i); /* i: a <; the index of its >, or i */
void rewrite_error(Rewriter *r, unsigned i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Line and file of a token, by the markers. */
const char *rewrite_place(Rewriter *r, unsigned i, unsigned *line, int *size);
/* Lambdas without a default capture and local classes inside a kernel cannot use its parameters. If
 * one begins at i: from behind its captures or its keyword to its last brace. */
bool rewrite_foreign(const Rewriter *r, unsigned i, unsigned *first, unsigned *end);
/* rewrite_stride.c */
bool rewrite_stride(Rewriter *r, unsigned start, unsigned name, unsigned name_end, unsigned params,
                    unsigned params_end, unsigned body, unsigned end);
/* rewrite_region.c: the kernel in regions, if it can be cut there; false: nothing was written */
bool rewrite_regions(Rewriter *r, unsigned start, unsigned name, unsigned params,
                     unsigned params_end, unsigned body, unsigned end);
/* rewrite_kernel.c */
unsigned rewrite_kernel(Rewriter *r, unsigned start, unsigned global);
void rewrite_expressions(Rewriter *r, char *const *names, size_t n_names);
/* rewrite.c */
unsigned rewrite_tokens(Rewriter *r, unsigned first,
                        unsigned end); /* writes them, replaced; what comes next */
void rewrite_flat(Rewriter *r, Text *out, unsigned first, unsigned end,
                  bool defaults); /* on one line; without default arguments */
/* rewrite_arithmetic.c: shifts and conversions; the index of what comes after them, or i */
unsigned rewrite_arithmetic(Rewriter *r, unsigned i);
/* rewrite_step.c: where uses of volatile variables begin before which threads of a warp wait for
 * each other: twice the token behind the use, and 1 where the variable itself is meant, not its
 * value. Behind these, as many again: where bodies of loops with such uses begin, their ends. The
 * caller frees. */
unsigned *find_steps(const Tokens *tokens, const unsigned *match);
unsigned rewrite_step(Rewriter *r, unsigned i); /* the token to go on with */
/* asm.c: inline PTX; i: the asm token. The index of the token after it, or i if it is not PTX. */
unsigned rewrite_asm(Rewriter *r, unsigned i);

/* What makes the function that is run inline, whose name is at `name`: it may be so already. */
const char *rewrite_inline(Rewriter *r, unsigned name);
unsigned char *count_angles(const Tokens *tokens, const unsigned *match);

#endif
