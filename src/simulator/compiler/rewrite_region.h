/* rewrite_region.h - shared by the files that split kernels at their barriers; rewrite_region.c
 * explains the method. */
#ifndef PYGPU_SIM_REWRITE_REGION_H
#define PYGPU_SIM_REWRITE_REGION_H

#include "simulator/compiler/rewrite.h"

#define REGION_LOCALS  200u
#define REGION_PARTS   1000u
#define REGION_INSERTS (4u * REGION_PARTS)

/* The kinds of a kernel's local variables and parameters:
 *   uniform    computed from values that all threads share, and changed only outside regions:
 *              one for the block
 *   invariant  computed from such values and threadIdx, and never changed: computed again
 *              wherever it is used
 *   variable   anything else: one for each thread, in the frame if several regions use it */
typedef enum { LOCAL_UNIFORM, LOCAL_INVARIANT, LOCAL_VARIABLE } LocalKind;

typedef struct {
    unsigned name, at;       /* number of the name; the token where it is declared */
    unsigned scope;          /* visible after `at`, up to this token */
    unsigned part;           /* the part that declares it; NOWHERE: a parameter */
    unsigned type, type_end; /* tokens of its type, without asterisks */
    unsigned stars;          /* from here to `at` */
    unsigned dims, dims_end; /* the tokens of [2][3] */
    unsigned init, init_end; /* equal if there is none */
    unsigned body, body_end; /* of the loop that declares it in its head; 0: not in a head */
    LocalKind kind;
    bool is_pointer, is_auto, is_reference, is_known, is_vector,
        is_const;    /* of a known type: numbers, and CUDA's vectors of numbers */
    bool crosses;    /* used by more than one region */
    unsigned region; /* the region that declares it */
} Local;

typedef enum {
    PART_REGION,      /* a statement that each thread runs */
    PART_DECLARATION, /* outside regions if all that it declares is uniform */
    PART_EXPRESSION,  /* outside regions if it computes only with uniform values */
    PART_OUTSIDE,     /* shared memory, types: stays in place */
    PART_BARRIER,
    PART_HEAD /* for (...), while (...), if (...) around barriers: must be uniform */
} PartKind;

typedef struct {
    PartKind kind;
    unsigned first, end, list; /* list: equal for statements in the same pair of braces */
    unsigned region;           /* its number, from 1; 0: outside regions */
} Part;

typedef struct {
    unsigned before; /* the token */
    Text text;
} Insert;

typedef struct {
    Rewriter *r;
    unsigned params, params_end, body, end; /* the tokens between the kernel's brackets; its
                                             * braces */
    Local locals[REGION_LOCALS];
    Part parts[REGION_PARTS];
    unsigned shared[REGION_NAMES];    /* names of arrays in shared memory */
    unsigned memory[REGION_NAMES];    /* names of other variables in shared memory */
    unsigned constants[REGION_NAMES]; /* names that must be constants, which the C++ compiler
                                       * checks */
    Insert inserts[REGION_INSERTS];
    unsigned n_locals, n_parts, n_shared, n_memory, n_constants, n_inserts, n_lists, n_regions;
    unsigned char *names; /* by name: facts from outside the kernel */
    bool collects, returns;
} Regions;

/* rewrite_statement.c: splits the kernel's body into parts; false: something was not understood */
bool region_parse(Regions *g);
bool region_is(const Regions *g, unsigned i, const char *text);
unsigned region_word(const Regions *g, unsigned i);       /* number of the name at i, 0 for other
                                                           * tokens */
bool region_after_value(const Regions *g, unsigned i);    /* whether an operator at i has two
                                                           * operands */
bool region_is_number_type(const Regions *g, unsigned i); /* int, unsigned, float, ... */

/* rewrite_local.c: classifies the locals; false: control around a barrier may differ between
 * threads, or addresses are taken */
bool region_classify(Regions *g);
Local *region_find(Regions *g, unsigned i);        /* the local named at token i, or NULL */
bool region_changes(const Regions *g, unsigned i); /* whether the name at i may be assigned there */
enum {
    REGION_REFERENCES = 1,
    REGION_NUMBER = 2
};                             /* a function with reference parameters; a type of numbers */
bool region_names(Regions *g); /* false: out of memory */

#endif
