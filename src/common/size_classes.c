/* size_classes.c - size classes of the memory pools.
 *
 * A size is written as 2**e * 1.m in binary; its bin is (e, the first leading_bits bits of m). All
 * sizes of a bin get blocks of the largest size in it, so a block wastes less than
 * 2**-leading_bits of its size, and a freed block serves every request of its bin. */
#include "common/size_classes.h"

static unsigned highest_bit(size_t size) {
#if defined(__GNUC__) || defined(__clang__)
    return size == 0 ? 0 : 63u - (unsigned)__builtin_clzll((unsigned long long)size);
#else
    unsigned bit = 0;
    while (size >>= 1) {
        bit++;
    }
    return bit;
#endif
}

uint32_t pg_bin_number(size_t size, unsigned leading_bits) {
    unsigned exponent = highest_bit(size);
    size_t first = exponent >= leading_bits ? size >> (exponent - leading_bits)
                                            : size << (leading_bits - exponent);
    uint32_t mantissa = (uint32_t)first & ((1u << leading_bits) - 1u);
    return (uint32_t)exponent << leading_bits | mantissa;
}

size_t pg_bin_size(uint32_t bin, unsigned leading_bits) {
    unsigned exponent = bin >> leading_bits;
    uint64_t head = (uint64_t)1 << leading_bits | (bin & ((1u << leading_bits) - 1u));
    if (exponent < leading_bits) {
        return (size_t)(head >> (leading_bits - exponent));
    }
    unsigned rest = exponent - leading_bits;
    return (size_t)(head << rest | (((uint64_t)1 << rest) - 1u));
}
