/* size_classes.h - size classes of the memory pools: which requests share a block size. See
 * size_classes.c. */
#ifndef PG_SIZE_CLASSES_H
#define PG_SIZE_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#define PG_MAX_LEADING_BITS 12
#define PG_BIN_EXPONENTS    64

/* leading_bits: how many bits after the highest one distinguish bins, 0 to PG_MAX_LEADING_BITS.
 * There are 2**leading_bits bins per power of two. */
uint32_t pg_bin_number(size_t size, unsigned leading_bits);
/* The block size of a bin: the largest size that maps to it. */
size_t pg_bin_size(uint32_t bin, unsigned leading_bits);

#endif
