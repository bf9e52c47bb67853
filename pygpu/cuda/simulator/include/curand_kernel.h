/* curand_kernel.h - random numbers inside kernels, with the names, states and sequences of cuRAND's device interface.
 *
 * XORWOW (G. Marsaglia, "Xorshift RNGs", J. Stat. Software 8(14), 2003), MRG32k3a (P. L'Ecuyer, Operations Research 47(1), 1999) and
 * Philox4x32-10 (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11). Bits, uniform and normal numbers are those of
 * cuRAND, up to the last bits of log and sin; Poisson numbers have the distribution, not the sequence. No Sobol, MTGP32 or tables for
 * curand_discrete. */
#ifndef PYGPU_SIM_CURAND_KERNEL_H
#define PYGPU_SIM_CURAND_KERNEL_H
#define CURAND_KERNEL_H_

#pragma GCC system_header
#include "sim_base.h"
#include "sim_vector_types.h"
#include "sim_hide.h"

struct curandStateXORWOW {
    unsigned d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStateMRG32k3a {
    unsigned s1[3], s2[3];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE;
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace pygpu_sim {
template <class S> PGS_F void forget(S *s) {
    s->boxmuller_flag = s->boxmuller_flag_double = 0;
    s->boxmuller_extra = 0.0f;
    s->boxmuller_extra_double = 0.0;
}
} // namespace pygpu_sim

/* ---- XORWOW --------------------------------------------------------------------------------------------------------- */

PGS_F unsigned curand(curandStateXORWOW_t *s) {
    const unsigned t = s->v[0] ^ s->v[0] >> 2;
    s->v[0] = s->v[1];
    s->v[1] = s->v[2];
    s->v[2] = s->v[3];
    s->v[3] = s->v[4];
    s->v[4] = s->v[4] ^ s->v[4] << 4 ^ t ^ t << 1;
    s->d += 362437u;
    return s->v[4] + s->d;
}

namespace pygpu_sim {
/* The shift register is linear over bits: matrices of its 2^k-th powers are made when first needed, each the square of the one before.
 * Row j is the image of the state in which only bit j is set. */
enum { xorwow_powers = 67 + 64 };
inline unsigned xorwow_matrix[xorwow_powers][160][5];
inline int xorwow_ready, xorwow_busy;

PGS_I void xorwow_apply(const unsigned (*matrix)[5], const unsigned *in, unsigned *out) {
    unsigned sum[5] = {0, 0, 0, 0, 0};
    for (int word = 0; word < 5; word++) {
        for (unsigned bits = in[word]; bits != 0; bits &= bits - 1) {
            const unsigned *row = matrix[32 * word + __builtin_ctz(bits)];
            for (int i = 0; i < 5; i++) sum[i] ^= row[i];
        }
    }
    for (int i = 0; i < 5; i++) out[i] = sum[i];
}
inline __attribute__((noinline)) void xorwow_prepare(int power) {
    while (__atomic_exchange_n(&xorwow_busy, 1, __ATOMIC_ACQUIRE) != 0) {} /* whoever has it waits for nobody */
    for (int k = __atomic_load_n(&xorwow_ready, __ATOMIC_RELAXED); k <= power; k++) {
        for (int j = 0; j < 160; j++) {
            if (k == 0) {
                curandStateXORWOW_t s;
                for (int i = 0; i < 5; i++) s.v[i] = i == j / 32 ? 1u << j % 32 : 0u;
                s.d = 0;
                curand(&s);
                for (int i = 0; i < 5; i++) xorwow_matrix[0][j][i] = s.v[i];
            } else {
                xorwow_apply(xorwow_matrix[k - 1], xorwow_matrix[k - 1][j], xorwow_matrix[k][j]);
            }
        }
        __atomic_store_n(&xorwow_ready, k + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&xorwow_busy, 0, __ATOMIC_RELEASE);
}
/* n 2^shift steps */
PGS_I void xorwow_skip(curandStateXORWOW_t *s, unsigned long long n, int shift) {
    for (; n != 0; n &= n - 1) {
        const int power = __builtin_ctzll(n) + shift;
        if (__atomic_load_n(&xorwow_ready, __ATOMIC_ACQUIRE) <= power) xorwow_prepare(power);
        xorwow_apply(xorwow_matrix[power], s->v, s->v);
    }
}
} // namespace pygpu_sim

PGS_I void skipahead(unsigned long long n, curandStateXORWOW_t *s) {
    pygpu_sim::xorwow_skip(s, n, 0);
    s->d += 362437u * (unsigned)n;
}
/* Sequences are 2^67 numbers apart, of which the Weyl part notices nothing. */
PGS_I void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *s) { pygpu_sim::xorwow_skip(s, n, 67); }
PGS_I void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateXORWOW_t *s) {
    const unsigned low = 1099087573u * ((unsigned)seed ^ 0xaad26b49u), high = 2591861531u * ((unsigned)(seed >> 32) ^ 0xf7dcefddu);
    s->d = 6615241u + high + low;
    s->v[0] = 123456789u + low;
    s->v[1] = 362436069u ^ low;
    s->v[2] = 521288629u + high;
    s->v[3] = 88675123u ^ high;
    s->v[4] = 5783321u + low;
    pygpu_sim::forget(s);
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
}

/* ---- Philox4x32-10 -------------------------------------------------------------------------------------------------- */

namespace pygpu_sim {
PGS_I uint4 philox(uint4 c, uint2 k) {
    for (int round = 0; round < 10; round++) {
        const unsigned long long p = 0xd2511f53ull * c.x, q = 0xcd9e8d57ull * c.z;
        c = uint4{(unsigned)(q >> 32) ^ c.y ^ k.x, (unsigned)q, (unsigned)(p >> 32) ^ c.w ^ k.y, (unsigned)p};
        k.x += 0x9e3779b9u;
        k.y += 0xbb67ae85u;
    }
    return c;
}
/* The counter has 128 bits; a sequence is 2^64 blocks of four. */
PGS_F void philox_add(uint4 *c, unsigned long long n) {
    unsigned long long low = (unsigned long long)c->y << 32 | c->x, high = (unsigned long long)c->w << 32 | c->z;
    low += n;
    high += low < n;
    *c = uint4{(unsigned)low, (unsigned)(low >> 32), (unsigned)high, (unsigned)(high >> 32)};
}
PGS_F unsigned philox_word(const uint4 &v, unsigned i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }
} // namespace pygpu_sim

PGS_I void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    const unsigned state = s->STATE + (unsigned)(n & 3);
    s->STATE = state & 3;
    pygpu_sim::philox_add(&s->ctr, (n >> 2) + (state >> 2));
    s->output = pygpu_sim::philox(s->ctr, s->key);
}
PGS_I void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    const unsigned long long high = ((unsigned long long)s->ctr.w << 32 | s->ctr.z) + n;
    s->ctr.z = (unsigned)high;
    s->ctr.w = (unsigned)(high >> 32);
    s->output = pygpu_sim::philox(s->ctr, s->key);
}
PGS_I void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStatePhilox4_32_10_t *s) {
    s->ctr = uint4{0, 0, (unsigned)subsequence, (unsigned)(subsequence >> 32)};
    s->key = uint2{(unsigned)seed, (unsigned)(seed >> 32)};
    s->STATE = 0;
    pygpu_sim::forget(s);
    skipahead(offset, s);
}
PGS_I unsigned curand(curandStatePhilox4_32_10_t *s) {
    const unsigned result = pygpu_sim::philox_word(s->output, s->STATE++);
    if (s->STATE == 4) {
        pygpu_sim::philox_add(&s->ctr, 1);
        s->output = pygpu_sim::philox(s->ctr, s->key);
        s->STATE = 0;
    }
    return result;
}
PGS_I uint4 curand4(curandStatePhilox4_32_10_t *s) {
    const uint4 before = s->output;
    pygpu_sim::philox_add(&s->ctr, 1);
    s->output = pygpu_sim::philox(s->ctr, s->key);
    unsigned result[4];
    for (unsigned i = 0; i < 4; i++) result[i] = pygpu_sim::philox_word(i + s->STATE < 4 ? before : s->output, (i + s->STATE) & 3);
    return uint4{result[0], result[1], result[2], result[3]};
}

/* ---- MRG32k3a ------------------------------------------------------------------------------------------------------- */

namespace pygpu_sim {
constexpr unsigned long long mrg_m1 = 4294967087ull, mrg_m2 = 4294944443ull;
/* The next number: 1 to m1 */
PGS_I unsigned mrg_next(curandStateMRG32k3a_t *s) {
    const unsigned long long p = (1403580ull * s->s1[1] + 810728ull * (mrg_m1 - s->s1[0])) % mrg_m1;
    const unsigned long long q = (527612ull * s->s2[2] + 1370589ull * (mrg_m2 - s->s2[0])) % mrg_m2;
    s->s1[0] = s->s1[1];
    s->s1[1] = s->s1[2];
    s->s1[2] = (unsigned)p;
    s->s2[0] = s->s2[1];
    s->s2[1] = s->s2[2];
    s->s2[2] = (unsigned)q;
    return (unsigned)(p <= q ? p + mrg_m1 - q : p - q);
}
/* state := M^(n 2^shift) state modulo m, M the companion matrix of x_k = a x_(k-1) + b x_(k-2) + c x_(k-3) */
PGS_I void mrg_skip(unsigned *state, unsigned long long n, int shift, unsigned long long a, unsigned long long b, unsigned long long c,
                    unsigned long long m) {
    unsigned long long matrix[3][3] = {{0, 1, 0}, {0, 0, 1}, {c, b, a}}, square[3][3];
    for (int bit = 0; bit < shift + 64 && n != 0; bit++) {
        if (bit >= shift) {
            if (n & 1) {
                unsigned long long result[3];
                for (int i = 0; i < 3; i++) {
                    result[i] = 0;
                    for (int j = 0; j < 3; j++) result[i] = (result[i] + matrix[i][j] * state[j] % m) % m;
                }
                for (int i = 0; i < 3; i++) state[i] = (unsigned)result[i];
            }
            n >>= 1;
        }
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                square[i][j] = 0;
                for (int k = 0; k < 3; k++) square[i][j] = (square[i][j] + matrix[i][k] * matrix[k][j] % m) % m;
            }
        }
        __builtin_memcpy(matrix, square, sizeof matrix);
    }
}
PGS_I void mrg_skip(curandStateMRG32k3a_t *s, unsigned long long n, int shift) {
    mrg_skip(s->s1, n, shift, 0, 1403580, mrg_m1 - 810728, mrg_m1);
    mrg_skip(s->s2, n, shift, 527612, 0, mrg_m2 - 1370589, mrg_m2);
}
} // namespace pygpu_sim

PGS_I unsigned curand(curandStateMRG32k3a_t *s) { return (unsigned)(pygpu_sim::mrg_next(s) * 1.000000048662); }
PGS_I void skipahead(unsigned long long n, curandStateMRG32k3a_t *s) { pygpu_sim::mrg_skip(s, n, 0); }
PGS_I void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *s) { pygpu_sim::mrg_skip(s, n, 76); }
PGS_I void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *s) { pygpu_sim::mrg_skip(s, n, 127); }
PGS_I void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateMRG32k3a_t *s) {
    const unsigned long long low = (unsigned)seed ^ 0x55555555u, high = (unsigned)(seed >> 32) ^ 0xaaaaaaaau;
    for (int i = 0; i < 3; i++) {
        s->s1[i] = seed == 0 ? 12345u : (unsigned)((i == 1 ? high : low) * 12345u % pygpu_sim::mrg_m1);
        s->s2[i] = seed == 0 ? 12345u : (unsigned)((i == 1 ? low : high) * 12345u % pygpu_sim::mrg_m2);
    }
    pygpu_sim::forget(s);
    skipahead_subsequence(subsequence, s);
    skipahead(offset, s);
}

/* ---- uniform: above 0, up to and including 1 ------------------------------------------------------------------------ */

namespace pygpu_sim {
PGS_F float unit(unsigned x) { return (float)x * 2.3283064e-10f + 1.1641532e-10f; }
PGS_F double unit_double(unsigned x, unsigned y) { /* 53 bits of two words */
    const unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << 21;
    return (double)z * 0x1p-53 + 0x1p-54;
}
PGS_F double unit_double(unsigned x) { return (double)x * 0x1p-32 + 0x1p-32; }
} // namespace pygpu_sim
PGS_I float curand_uniform(curandStateXORWOW_t *s) { return pygpu_sim::unit(curand(s)); }
PGS_I float curand_uniform(curandStatePhilox4_32_10_t *s) { return pygpu_sim::unit(curand(s)); }
PGS_I float curand_uniform(curandStateMRG32k3a_t *s) { return (float)(pygpu_sim::mrg_next(s) * 2.3283065498378289e-10); }
PGS_I float4 curand_uniform4(curandStatePhilox4_32_10_t *s) {
    const uint4 x = curand4(s);
    return float4{pygpu_sim::unit(x.x), pygpu_sim::unit(x.y), pygpu_sim::unit(x.z), pygpu_sim::unit(x.w)};
}
PGS_I double curand_uniform_double(curandStateXORWOW_t *s) {
    const unsigned x = curand(s), y = curand(s);
    return pygpu_sim::unit_double(x, y);
}
PGS_I double curand_uniform_double(curandStatePhilox4_32_10_t *s) { return pygpu_sim::unit_double(curand(s)); }
PGS_I double curand_uniform_double(curandStateMRG32k3a_t *s) { return pygpu_sim::mrg_next(s) * 2.3283065498378289e-10; }
PGS_I double2 curand_uniform2_double(curandStatePhilox4_32_10_t *s) {
    const uint4 x = curand4(s);
    return double2{pygpu_sim::unit_double(x.x, x.y), pygpu_sim::unit_double(x.z, x.w)};
}
PGS_I double4 curand_uniform4_double(curandStatePhilox4_32_10_t *s) {
    const double2 x = curand_uniform2_double(s), y = curand_uniform2_double(s);
    return double4{x.x, x.y, y.x, y.y};
}

/* ---- normal: G. E. P. Box and M. E. Muller's pairs, of which one is kept for the next call --------------------------- */

namespace pygpu_sim {
PGS_I float2 box_muller(float u, float v) {
    const float r = __builtin_sqrtf(-2.0f * __builtin_logf(u));
    return float2{r * __builtin_sinf(v), r * __builtin_cosf(v)};
}
PGS_F float2 box_muller(unsigned x, unsigned y) {
    return box_muller((float)x * 2.3283064e-10f + 1.1641532e-10f, (float)y * 1.4629181e-09f + 7.314590e-10f);
}
PGS_I double2 box_muller_double(double u, double half_turns) {
    const double r = __builtin_sqrt(-2.0 * __builtin_log(u)), v = half_turns * 3.1415926535897931;
    return double2{r * __builtin_sin(v), r * __builtin_cos(v)};
}
PGS_I double2 box_muller_double(unsigned x, unsigned y, unsigned z, unsigned w) {
    return box_muller_double(unit_double(x, y), ((double)((unsigned long long)z ^ (unsigned long long)w << 21)) * 0x1p-52 + 0x1p-53);
}
} // namespace pygpu_sim
PGS_I float2 curand_normal2(curandStateXORWOW_t *s) {
    const unsigned x = curand(s), y = curand(s);
    return pygpu_sim::box_muller(x, y);
}
PGS_I float2 curand_normal2(curandStatePhilox4_32_10_t *s) {
    const unsigned x = curand(s), y = curand(s);
    return pygpu_sim::box_muller(x, y);
}
PGS_I float2 curand_normal2(curandStateMRG32k3a_t *s) {
    const float x = curand_uniform(s), y = curand_uniform(s) * 6.2831853f;
    return pygpu_sim::box_muller(x, y);
}
PGS_I float4 curand_normal4(curandStatePhilox4_32_10_t *s) {
    const uint4 x = curand4(s);
    const float2 p = pygpu_sim::box_muller(x.x, x.y), q = pygpu_sim::box_muller(x.z, x.w);
    return float4{p.x, p.y, q.x, q.y};
}
PGS_I double2 curand_normal2_double(curandStateXORWOW_t *s) {
    const unsigned x = curand(s), y = curand(s), z = curand(s), w = curand(s);
    return pygpu_sim::box_muller_double(x, y, z, w);
}
PGS_I double2 curand_normal2_double(curandStatePhilox4_32_10_t *s) {
    const uint4 x = curand4(s);
    return pygpu_sim::box_muller_double(x.x, x.y, x.z, x.w);
}
PGS_I double2 curand_normal2_double(curandStateMRG32k3a_t *s) {
    const double x = curand_uniform_double(s), y = curand_uniform_double(s);
    return pygpu_sim::box_muller_double(x, 2.0 * y);
}
PGS_I double4 curand_normal4_double(curandStatePhilox4_32_10_t *s) {
    const double2 p = curand_normal2_double(s), q = curand_normal2_double(s);
    return double4{p.x, p.y, q.x, q.y};
}
namespace pygpu_sim {
constexpr int kept = 0x5b0c; /* the flag says that the extra number is valid */
} // namespace pygpu_sim
#define PGS_ROW(S) \
    PGS_I float curand_normal(S *s) { \
        if (s->boxmuller_flag == pygpu_sim::kept) { \
            s->boxmuller_flag = 0; \
            return s->boxmuller_extra; \
        } \
        const float2 v = curand_normal2(s); \
        s->boxmuller_extra = v.y; \
        s->boxmuller_flag = pygpu_sim::kept; \
        return v.x; \
    } \
    PGS_I double curand_normal_double(S *s) { \
        if (s->boxmuller_flag_double == pygpu_sim::kept) { \
            s->boxmuller_flag_double = 0; \
            return s->boxmuller_extra_double; \
        } \
        const double2 v = curand_normal2_double(s); \
        s->boxmuller_extra_double = v.y; \
        s->boxmuller_flag_double = pygpu_sim::kept; \
        return v.x; \
    } \
    PGS_I float curand_log_normal(S *s, float mean, float stddev) { return __builtin_expf(mean + stddev * curand_normal(s)); } \
    PGS_I double curand_log_normal_double(S *s, double mean, double stddev) { return __builtin_exp(mean + stddev * curand_normal_double(s)); } \
    PGS_I float2 curand_log_normal2(S *s, float mean, float stddev) { \
        const float2 v = curand_normal2(s); \
        return float2{__builtin_expf(mean + stddev * v.x), __builtin_expf(mean + stddev * v.y)}; \
    } \
    PGS_I double2 curand_log_normal2_double(S *s, double mean, double stddev) { \
        const double2 v = curand_normal2_double(s); \
        return double2{__builtin_exp(mean + stddev * v.x), __builtin_exp(mean + stddev * v.y)}; \
    } \
    PGS_I unsigned curand_poisson(S *s, double lambda) { return pygpu_sim::poisson(s, lambda); }

/* ---- Poisson -------------------------------------------------------------------------------------------------------- */

namespace pygpu_sim {
/* Small means: how many uniform numbers can be multiplied before the product is below exp(-lambda). Large ones: the normal
 * approximation. Between: W. Hoermann's transformed rejection, "The transformed rejection method for generating Poisson random variables",
 * Insurance: Mathematics and Economics 12(1), 1993, algorithm PTRS. */
template <class S> PGS_I unsigned poisson(S *s, double lambda) {
    if (lambda < 64.0) {
        const double limit = __builtin_exp(-lambda);
        double product = 1.0;
        unsigned k = 0;
        do {
            k++;
            product *= curand_uniform(s);
        } while (product > limit);
        return k - 1;
    }
    const double root = __builtin_sqrt(lambda);
    if (lambda > 4000.0) return (unsigned)(root * curand_normal_double(s) + lambda + 0.5);
    const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b, inverse = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        const double u = curand_uniform_double(s) - 0.5, v = curand_uniform_double(s), us = 0.5 - __builtin_fabs(u);
        const double k = __builtin_floor((2.0 * a / us + b) * u + lambda + 0.43);
        if (us >= 0.07 && v <= v_r) return (unsigned)k;
        if (k < 0.0 || (us < 0.013 && v > us)) continue;
        if (__builtin_log(v) + __builtin_log(inverse) - __builtin_log(a / (us * us) + b) <=
            k * __builtin_log(lambda) - lambda - __builtin_lgamma(k + 1.0)) return (unsigned)k;
    }
}
} // namespace pygpu_sim
PGS_ROW(curandStateXORWOW_t)
PGS_ROW(curandStatePhilox4_32_10_t)
PGS_ROW(curandStateMRG32k3a_t)
#undef PGS_ROW
PGS_I float4 curand_log_normal4(curandStatePhilox4_32_10_t *s, float mean, float stddev) {
    const float4 v = curand_normal4(s);
    return float4{__builtin_expf(mean + stddev * v.x), __builtin_expf(mean + stddev * v.y), __builtin_expf(mean + stddev * v.z),
                  __builtin_expf(mean + stddev * v.w)};
}
PGS_I uint4 curand_poisson4(curandStatePhilox4_32_10_t *s, double lambda) {
    const unsigned x = curand_poisson(s, lambda), y = curand_poisson(s, lambda), z = curand_poisson(s, lambda), w = curand_poisson(s, lambda);
    return uint4{x, y, z, w};
}

#include "sim_show.h"
#endif
