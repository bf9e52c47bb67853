/* philox.cl - the counter-based random number generators Philox-NxW for OpenCL C.
 *
 *     #include <pyopencl-random123/philox.cl>
 *     philox4x32_ctr_t counter = {{get_global_id(0), block, 0, 0}};
 *     philox4x32_key_t key = {{seed, 0}};
 *     philox4x32_ctr_t random = philox4x32(counter, key);      (four random uint in random.v)
 *
 * Each value of the counter gives N random integers, independent of those of every other value, and each key
 * another sequence; nothing is stored. N is 2 or 4, W is 32 or 64. philoxNxW has 10 rounds; philoxNxW_R(rounds, ...)
 * has as many as its argument says (7 are the fewest that passed the authors' tests, 16 the most).
 *
 * Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3",
 * SC'11 (2011), section 3.3; names as in the authors' library Random123.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_R123_PHILOX_CL
#define PYGPU_R123_PHILOX_CL

#include "openclfeatures.h"
#include "array.h"

/* Multipliers and key increments (Weyl constants: the golden ratio and sqrt(3) - 1). */
#ifndef PHILOX_M2x32_0
#define PHILOX_M2x32_0 ((uint32_t) 0xD256D193)
#endif
#ifndef PHILOX_M4x32_0
#define PHILOX_M4x32_0 ((uint32_t) 0xD2511F53)
#endif
#ifndef PHILOX_M4x32_1
#define PHILOX_M4x32_1 ((uint32_t) 0xCD9E8D57)
#endif
#ifndef PHILOX_M2x64_0
#define PHILOX_M2x64_0 R123_64BIT(0xD2B74407B1CE6E93)
#endif
#ifndef PHILOX_M4x64_0
#define PHILOX_M4x64_0 R123_64BIT(0xD2E7470EE14C6C93)
#endif
#ifndef PHILOX_M4x64_1
#define PHILOX_M4x64_1 R123_64BIT(0xCA5A826395121157)
#endif
#ifndef PHILOX_W32_0
#define PHILOX_W32_0 ((uint32_t) 0x9E3779B9)
#endif
#ifndef PHILOX_W32_1
#define PHILOX_W32_1 ((uint32_t) 0xBB67AE85)
#endif
#ifndef PHILOX_W64_0
#define PHILOX_W64_0 R123_64BIT(0x9E3779B97F4A7C15)
#endif
#ifndef PHILOX_W64_1
#define PHILOX_W64_1 R123_64BIT(0xBB67AE8584CAA73B)
#endif

#ifndef PHILOX2x32_DEFAULT_ROUNDS
#define PHILOX2x32_DEFAULT_ROUNDS 10
#endif
#ifndef PHILOX4x32_DEFAULT_ROUNDS
#define PHILOX4x32_DEFAULT_ROUNDS 10
#endif
#ifndef PHILOX2x64_DEFAULT_ROUNDS
#define PHILOX2x64_DEFAULT_ROUNDS 10
#endif
#ifndef PHILOX4x64_DEFAULT_ROUNDS
#define PHILOX4x64_DEFAULT_ROUNDS 10
#endif

/* One round multiplies a word of the counter; both halves of the product take part in the next. */
#define PYGPU_PHILOX2_ROUND(W, x, k)                                                                   \
    {                                                                                                  \
        uint##W##_t high = mul_hi(PHILOX_M2x##W##_0, x.v[0]), low = PHILOX_M2x##W##_0 * x.v[0];        \
        x.v[0] = high ^ k.v[0] ^ x.v[1];                                                               \
        x.v[1] = low;                                                                                  \
    }
#define PYGPU_PHILOX2_BUMP(W, k) k.v[0] += PHILOX_W##W##_0;

#define PYGPU_PHILOX4_ROUND(W, x, k)                                                                   \
    {                                                                                                  \
        uint##W##_t high0 = mul_hi(PHILOX_M4x##W##_0, x.v[0]), low0 = PHILOX_M4x##W##_0 * x.v[0];      \
        uint##W##_t high1 = mul_hi(PHILOX_M4x##W##_1, x.v[2]), low1 = PHILOX_M4x##W##_1 * x.v[2];      \
        x.v[0] = high1 ^ x.v[1] ^ k.v[0];                                                              \
        x.v[1] = low1;                                                                                 \
        x.v[2] = high0 ^ x.v[3] ^ k.v[1];                                                              \
        x.v[3] = low0;                                                                                 \
    }
#define PYGPU_PHILOX4_BUMP(W, k)                                                                       \
    k.v[0] += PHILOX_W##W##_0;                                                                         \
    k.v[1] += PHILOX_W##W##_1;

#define PYGPU_PHILOX(N, HALF, W)                                                                       \
    enum r123_enum_philox##N##x##W { philox##N##x##W##_rounds = PHILOX##N##x##W##_DEFAULT_ROUNDS };    \
    typedef struct r123array##N##x##W philox##N##x##W##_ctr_t;                                         \
    typedef struct r123array##HALF##x##W philox##N##x##W##_key_t;                                      \
    typedef struct r123array##HALF##x##W philox##N##x##W##_ukey_t;                                     \
    R123_STATIC_INLINE philox##N##x##W##_key_t philox##N##x##W##keyinit(philox##N##x##W##_ukey_t key)  \
    {                                                                                                  \
        return key;                                                                                    \
    }                                                                                                  \
    R123_STATIC_INLINE philox##N##x##W##_ctr_t philox##N##x##W##_R(                                    \
        unsigned int rounds, philox##N##x##W##_ctr_t counter, philox##N##x##W##_key_t key)             \
    {                                                                                                  \
        for (unsigned int i = 0; i < rounds; ++i) {                                                    \
            PYGPU_PHILOX##N##_ROUND(W, counter, key)                                                   \
            PYGPU_PHILOX##N##_BUMP(W, key)                                                             \
        }                                                                                              \
        return counter;                                                                                \
    }

PYGPU_PHILOX(2, 1, 32)
PYGPU_PHILOX(4, 2, 32)
#define philox2x32(c, k) philox2x32_R(philox2x32_rounds, c, k)
#define philox4x32(c, k) philox4x32_R(philox4x32_rounds, c, k)

#if R123_USE_PHILOX_64BIT
PYGPU_PHILOX(2, 1, 64)
PYGPU_PHILOX(4, 2, 64)
#define philox2x64(c, k) philox2x64_R(philox2x64_rounds, c, k)
#define philox4x64(c, k) philox4x64_R(philox4x64_rounds, c, k)
#endif

#endif
