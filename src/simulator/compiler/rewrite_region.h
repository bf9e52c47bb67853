/* rewrite_region.h - kernels cut at their barriers: what the files that do it share;
 * rewrite_region.c says how it works. */
#ifndef PYGPU_SIM_REWRITE_REGION_H
#define PYGPU_SIM_REWRITE_REGION_H

#include "simulator/compiler/rewrite.h"

#define REGION_LOCALS  200u
#define REGION_PARTS   1000u
#define REGION_INSERTS (4u * REGION_PARTS)

/* What is known of a local variable or parameter of the kernel:
 *   uniform    computed from what all threads share, and changed only outside of regions: one for
 *              the block
 *   invariant  computed from that and threadIdx, and never changed: computed again wherever it is
 *              used
 *   variable   anything else: one for each thread, in the frame if several regions use it */
typedef enum { LOCAL_UNIFORM, LOCAL_INVARIANT, LOCAL_VARIABLE } LocalKind;

typedef struct {
    unsigned name, at;       /* its number; the token where it is declared */
    unsigned scope;          /* visible behind `at`, up to this token */
    unsigned part;           /* that declares it; NOWHERE: a parameter */
    unsigned type, type_end; /* tokens of its type, without stars */
    unsigned stars;          /* from here on to `at` */
    unsigned dims, dims_end; /* [2][3] */
    unsigned init, init_end; /* none if they are equal */
    unsigned body, body_end; /* of the loop in whose head it is declared; 0: in no head */
    LocalKind kind;
    bool is_pointer, is_auto, is_reference, is_known, is_vector,
        is_const;    /* known: numbers, and CUDA's vectors of numbers */
    bool crosses;    /* more than one region uses it */
    unsigned region; /* that declares it */
} Local;

typedef enum {
    PART_REGION,      /* a statement for each thread */
    PART_DECLARATION, /* outside of regions if all that it declares is uniform */
    PART_EXPRESSION,  /* outside of regions if it computes with uniform values only */
    PART_OUTSIDE,     /* shared memory, types: stays where it is */
    PART_BARRIER,
    PART_HEAD /* for (...), while (...), if (...) around barriers: must be uniform */
} PartKind;

typedef struct {
    PartKind kind;
    unsigned first, end, list; /* list: statements of one pair of braces have the same */
    unsigned region;           /* its number, from 1 on; 0: outside of regions */
} Part;

typedef struct {
    unsigned before; /* token */
    Text text;
} Insert;

typedef struct {
    Rewriter *r;
    unsigned params, params_end, body, end; /* of the kernel: between its brackets; its braces */
    Local locals[REGION_LOCALS];
    Part parts[REGION_PARTS];
    unsigned shared[REGION_NAMES];    /* names of arrays in shared memory */
    unsigned memory[REGION_NAMES];    /* and of other variables there */
    unsigned constants[REGION_NAMES]; /* names that the C++ compiler is asked about: they must be
                                         constants */
    Insert inserts[REGION_INSERTS];
    unsigned n_locals, n_parts, n_shared, n_memory, n_constants, n_inserts, n_lists, n_regions;
    unsigned char *names; /* by name: what is known of it from outside */
    bool collects, returns;
} Regions;

/* rewrite_statement.c: splits the kernel's body into parts; false: there is something that is not
 * known well enough */
bool region_parse(Regions *g);
bool region_is(const Regions *g, unsigned i, const char *text);
unsigned region_word(const Regions *g, unsigned i);    /* number of a name, 0 for other tokens */
bool region_after_value(const Regions *g, unsigned i); /* an operator at i is one of two operands */
bool region_is_number_type(const Regions *g, unsigned i); /* int, unsigned, float, ... */

/* rewrite_local.c: what kind each local is; false: control around a barrier may differ between
 * threads, or addresses are taken */
bool region_classify(Regions *g);
Local *region_find(Regions *g, unsigned i); /* the local that token i names, NULL */
bool region_changes(const Regions *g,
                    unsigned i); /* the name at i may be given a new value there */
enum {
    REGION_REFERENCES = 1,
    REGION_NUMBER = 2
};                             /* a function that takes references; a type of numbers */
bool region_names(Regions *g); /* false: no memory */

#endif
