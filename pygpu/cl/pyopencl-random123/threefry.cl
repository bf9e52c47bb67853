/* threefry.cl - the counter-based random number generators Threefry-NxW for OpenCL C.
 *
 *     #include <pyopencl-random123/threefry.cl>
 *     threefry4x32_ctr_t counter = {{get_global_id(0), block, 0, 0}};
 *     threefry4x32_key_t key = {{seed, 0, 0, 0}};
 *     threefry4x32_ctr_t random = threefry4x32(counter, key);  (four random uint in random.v)
 *
 * Like philox.cl, with additions, rotations and exclusive ors only: the cipher Threefish, made lighter. The key has
 * as many words as the counter. threefryNxW has 20 rounds; threefryNxW_R(rounds, ...) has as many as its argument says.
 *
 * Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3",
 * SC'11 (2011), section 3.2; names as in the authors' library Random123. Key schedule: N. Ferguson et al.,
 * "The Skein Hash Function Family" (2010), section 3.3.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_R123_THREEFRY_CL
#define PYGPU_R123_THREEFRY_CL

#include "openclfeatures.h"
#include "array.h"

#ifndef THREEFRY2x32_DEFAULT_ROUNDS
#define THREEFRY2x32_DEFAULT_ROUNDS 20
#endif
#ifndef THREEFRY4x32_DEFAULT_ROUNDS
#define THREEFRY4x32_DEFAULT_ROUNDS 20
#endif
#ifndef THREEFRY2x64_DEFAULT_ROUNDS
#define THREEFRY2x64_DEFAULT_ROUNDS 20
#endif
#ifndef THREEFRY4x64_DEFAULT_ROUNDS
#define THREEFRY4x64_DEFAULT_ROUNDS 20
#endif

#define PYGPU_THREEFRY_PARITY32 ((uint32_t) 0x1BD11BDA)
#define PYGPU_THREEFRY_PARITY64 R123_64BIT(0x1BD11BDAA9FC1A22)

/* Each round mixes pairs of words: a += b, then b is rotated and takes a in. */
#define PYGPU_THREEFRY_MIX(a, b, rotation) \
    a += b;                                \
    b = rotate(b, rotation) ^ a;

#define PYGPU_THREEFRY2_ROUND(i, rotation) \
    if (done + i < rounds) {               \
        PYGPU_THREEFRY_MIX(x0, x1, rotation) \
    }

/* After every fourth round the next words of the key are added and a count of these additions. Turning the words
   round in registers spares the GPU an indexed array. */
#define PYGPU_THREEFRY2_ADD_KEY(i)         \
    if (done + i < rounds) {               \
        spare = k0;                        \
        k0 = k1;                           \
        k1 = k2;                           \
        k2 = spare;                        \
        x0 += k0;                          \
        x1 += k1 + ++additions;            \
    }

#define PYGPU_THREEFRY2(W, R0, R1, R2, R3, R4, R5, R6, R7)                                               \
    enum r123_enum_threefry2x##W { threefry2x##W##_rounds = THREEFRY2x##W##_DEFAULT_ROUNDS };            \
    typedef struct r123array2x##W threefry2x##W##_ctr_t;                                                 \
    typedef struct r123array2x##W threefry2x##W##_key_t;                                                 \
    typedef struct r123array2x##W threefry2x##W##_ukey_t;                                                \
    R123_STATIC_INLINE threefry2x##W##_key_t threefry2x##W##keyinit(threefry2x##W##_ukey_t key)          \
    {                                                                                                    \
        return key;                                                                                      \
    }                                                                                                    \
    R123_STATIC_INLINE threefry2x##W##_ctr_t threefry2x##W##_R(                                          \
        unsigned int rounds, threefry2x##W##_ctr_t counter, threefry2x##W##_key_t key)                   \
    {                                                                                                    \
        uint##W##_t k0 = key.v[0], k1 = key.v[1], k2 = PYGPU_THREEFRY_PARITY##W ^ k0 ^ k1, spare;        \
        uint##W##_t x0 = counter.v[0] + k0, x1 = counter.v[1] + k1, additions = 0;                       \
        for (unsigned int done = 0; done < rounds; done += 8) {                                          \
            PYGPU_THREEFRY2_ROUND(0, R0)                                                                 \
            PYGPU_THREEFRY2_ROUND(1, R1)                                                                 \
            PYGPU_THREEFRY2_ROUND(2, R2)                                                                 \
            PYGPU_THREEFRY2_ROUND(3, R3)                                                                 \
            PYGPU_THREEFRY2_ADD_KEY(3)                                                                   \
            PYGPU_THREEFRY2_ROUND(4, R4)                                                                 \
            PYGPU_THREEFRY2_ROUND(5, R5)                                                                 \
            PYGPU_THREEFRY2_ROUND(6, R6)                                                                 \
            PYGPU_THREEFRY2_ROUND(7, R7)                                                                 \
            PYGPU_THREEFRY2_ADD_KEY(7)                                                                   \
        }                                                                                                \
        counter.v[0] = x0;                                                                               \
        counter.v[1] = x1;                                                                               \
        return counter;                                                                                  \
    }

#define PYGPU_THREEFRY4_ROUND(i, b, d, rotation_b, rotation_d) \
    if (done + i < rounds) {                                   \
        PYGPU_THREEFRY_MIX(x0, b, rotation_b)                  \
        PYGPU_THREEFRY_MIX(x2, d, rotation_d)                  \
    }

#define PYGPU_THREEFRY4_ADD_KEY(i) \
    if (done + i < rounds) {       \
        spare = k0;                \
        k0 = k1;                   \
        k1 = k2;                   \
        k2 = k3;                   \
        k3 = k4;                   \
        k4 = spare;                \
        x0 += k0;                  \
        x1 += k1;                  \
        x2 += k2;                  \
        x3 += k3 + ++additions;    \
    }

#define PYGPU_THREEFRY4(W, R00, R01, R10, R11, R20, R21, R30, R31, R40, R41, R50, R51, R60, R61, R70, R71) \
    enum r123_enum_threefry4x##W { threefry4x##W##_rounds = THREEFRY4x##W##_DEFAULT_ROUNDS };            \
    typedef struct r123array4x##W threefry4x##W##_ctr_t;                                                 \
    typedef struct r123array4x##W threefry4x##W##_key_t;                                                 \
    typedef struct r123array4x##W threefry4x##W##_ukey_t;                                                \
    R123_STATIC_INLINE threefry4x##W##_key_t threefry4x##W##keyinit(threefry4x##W##_ukey_t key)          \
    {                                                                                                    \
        return key;                                                                                      \
    }                                                                                                    \
    R123_STATIC_INLINE threefry4x##W##_ctr_t threefry4x##W##_R(                                          \
        unsigned int rounds, threefry4x##W##_ctr_t counter, threefry4x##W##_key_t key)                   \
    {                                                                                                    \
        uint##W##_t k0 = key.v[0], k1 = key.v[1], k2 = key.v[2], k3 = key.v[3];                          \
        uint##W##_t k4 = PYGPU_THREEFRY_PARITY##W ^ k0 ^ k1 ^ k2 ^ k3, spare, additions = 0;             \
        uint##W##_t x0 = counter.v[0] + k0, x1 = counter.v[1] + k1;                                      \
        uint##W##_t x2 = counter.v[2] + k2, x3 = counter.v[3] + k3;                                      \
        for (unsigned int done = 0; done < rounds; done += 8) {                                          \
            PYGPU_THREEFRY4_ROUND(0, x1, x3, R00, R01)                                                   \
            PYGPU_THREEFRY4_ROUND(1, x3, x1, R10, R11)                                                   \
            PYGPU_THREEFRY4_ROUND(2, x1, x3, R20, R21)                                                   \
            PYGPU_THREEFRY4_ROUND(3, x3, x1, R30, R31)                                                   \
            PYGPU_THREEFRY4_ADD_KEY(3)                                                                   \
            PYGPU_THREEFRY4_ROUND(4, x1, x3, R40, R41)                                                   \
            PYGPU_THREEFRY4_ROUND(5, x3, x1, R50, R51)                                                   \
            PYGPU_THREEFRY4_ROUND(6, x1, x3, R60, R61)                                                   \
            PYGPU_THREEFRY4_ROUND(7, x3, x1, R70, R71)                                                   \
            PYGPU_THREEFRY4_ADD_KEY(7)                                                                   \
        }                                                                                                \
        counter.v[0] = x0;                                                                               \
        counter.v[1] = x1;                                                                               \
        counter.v[2] = x2;                                                                               \
        counter.v[3] = x3;                                                                               \
        return counter;                                                                                  \
    }

PYGPU_THREEFRY2(32, 13U, 15U, 26U, 6U, 17U, 29U, 16U, 24U)
PYGPU_THREEFRY4(32, 10U, 26U, 11U, 21U, 13U, 27U, 23U, 5U, 6U, 20U, 17U, 11U, 25U, 10U, 18U, 20U)
PYGPU_THREEFRY2(64, 16UL, 42UL, 12UL, 31UL, 16UL, 32UL, 24UL, 21UL)
PYGPU_THREEFRY4(64, 14UL, 16UL, 52UL, 57UL, 23UL, 40UL, 5UL, 37UL, 25UL, 33UL, 46UL, 12UL, 58UL, 22UL, 32UL, 32UL)

#define threefry2x32(c, k) threefry2x32_R(threefry2x32_rounds, c, k)
#define threefry4x32(c, k) threefry4x32_R(threefry4x32_rounds, c, k)
#define threefry2x64(c, k) threefry2x64_R(threefry2x64_rounds, c, k)
#define threefry4x64(c, k) threefry4x64_R(threefry4x64_rounds, c, k)

#endif
