/* sim_launch.h - from the list of a kernel's arguments to calls of it: the templates that the compiler instantiates for each kernel.
 *
 * Of `__global__ void k(P... p) {body}` the compiler makes `void k(P... p)`, which only has the name, and
 * `void sim_v_k(const uint3 threadIdx, const uint3 blockIdx, const dim3 blockDim, const dim3 gridDim, P... p) {body}`. */
#ifndef PYGPU_SIM_LAUNCH_H
#define PYGPU_SIM_LAUNCH_H

#pragma GCC system_header
#include "sim_vector_types.h"

static const int warpSize = 32;

template <unsigned... I> struct SimIndices {};
template <unsigned N, unsigned... I> struct SimCount : SimCount<N - 1, N - 1, I...> {};
template <unsigned... I> struct SimCount<0, I...> { typedef SimIndices<I...> Type; };

static SIM_INLINE uint3 sim_triple(const SimTriple &t) { return uint3{t.x, t.y, t.z}; }

SIM_LATE(sim_take)
/* Makes the next thread of the block the running one. */
static SIM_INLINE bool sim_take(SimContext *c) {
    if (c->next >= c->threads) return false;
    c->thread = c->cursor;
    c->linear = c->next++;
    if (++c->cursor.x == c->block_size.x) {
        c->cursor.x = 0;
        if (++c->cursor.y == c->block_size.y) {
            c->cursor.y = 0;
            ++c->cursor.z;
        }
    }
    return true;
}
SIM_END

/* ---- kernels that src/simulator/compiler/rewrite_region.c has cut at their barriers ------------------------------------------------------------ */



SIM_LATE(SimBlock SimBare SimNumber sim_frame sim_frame_clear sim_region)
struct SimBlock {
    SimContext *c;
    dim3 size;
    bool single; /* one thread, on a fiber; otherwise all of them, in loops */
};

template <class X> struct SimBare { typedef X T; };
template <class X> struct SimBare<const X> { typedef X T; };

/* Numbers: what can be kept in the frame without asking. */
template <class X> struct SimNumber { static constexpr bool value = __is_enum(X); };
template <class X> struct SimNumber<const X> : SimNumber<X> {};
template <class X, size_t n> struct SimNumber<X[n]> : SimNumber<X> {};
template <class X, size_t n> struct SimNumber<const X[n]> : SimNumber<X> {};
#define SIM_NUMBER(X) template <> struct SimNumber<X> { static constexpr bool value = true; };
SIM_NUMBER(bool) SIM_NUMBER(char) SIM_NUMBER(signed char) SIM_NUMBER(unsigned char) SIM_NUMBER(short) SIM_NUMBER(unsigned short) SIM_NUMBER(int)
SIM_NUMBER(unsigned) SIM_NUMBER(long) SIM_NUMBER(unsigned long) SIM_NUMBER(long long) SIM_NUMBER(unsigned long long) SIM_NUMBER(float)
SIM_NUMBER(double)
#undef SIM_NUMBER

static SIM_INLINE char *sim_frame(const SimBlock &b, unsigned long long size) {
    if (SIM_UNLIKELY(b.c->frame_size < size)) b.c->runtime->frame(b.c, size);
    return b.c->frame;
}
/* Nobody has returned yet: the number of threads. */
static SIM_INLINE unsigned sim_frame_clear(const SimBlock &b, unsigned char *gone) {
    if (b.single) {
        gone[b.c->linear] = 0;
        return 1;
    }
    __builtin_memset(gone, 0, b.c->threads);
    return b.c->threads;
}

/* Between barriers threads do not depend on each other. */
template <class F> static SIM_INLINE void sim_region(const SimBlock &b, const F &f) {
    if (b.single) {
        f(sim_triple(b.c->thread), (int)b.c->linear);
        return;
    }
    const int n = (int)b.size.x;
    int row = 0;
    for (unsigned z = 0; z < b.size.z; z++) {
        for (unsigned y = 0; y < b.size.y; y++, row += n) {
#if defined(__clang__)
#pragma clang loop vectorize(enable)
#else
#pragma GCC ivdep
#endif
            for (int x = 0; x < n; x++) {
                if (x < 0 || x > 1023) __builtin_unreachable();
                f(uint3{(unsigned)x, y, z}, row + x);
            }
        }
    }
}
SIM_END

SIM_LATE(SimRegions)
template <class F, F function, class B, B body> struct SimRegions;

template <class... P, void (*function)(P...), class B, B body> struct SimRegions<void (*)(P...), function, B, body> {
    static constexpr unsigned count = sizeof...(P);
    static constexpr unsigned sizes[2 * sizeof...(P) + 2] = {(unsigned)sizeof(P)..., 0, (unsigned)alignof(P)..., 0};

    template <unsigned... I> static SIM_INLINE void start(SimContext *c, SimIndices<I...>) {
        const uint3 block = sim_triple(c->block);
        const dim3 block_size = sim_triple(c->block_size), grid_size = sim_triple(c->grid_size);
        while (sim_take(c)) {
            body(SimBlock{c, block_size, true}, block, block_size, grid_size, *(P *)c->params[I]...);
            c->ended[c->linear / SIM_WARP] |= 1u << c->linear % SIM_WARP;
            --c->alive;
            if (SIM_UNLIKELY(c->waiting)) c->runtime->thread_end(c);
        }
    }
    template <unsigned... I> static SIM_INLINE void all(SimContext *c, SimIndices<I...>) {
        const uint3 block = sim_triple(c->block);
        const dim3 block_size = sim_triple(c->block_size), grid_size = sim_triple(c->grid_size);
        if (block_size.x > 1024 || block.x * block_size.x > 0x7fffffff - 1024) __builtin_unreachable();
        body(SimBlock{c, block_size, false}, block, block_size, grid_size, *(P *)c->params[I]...);
    }
    __attribute__((cold)) static void threads(SimContext *c) { start(c, typename SimCount<sizeof...(P)>::Type()); }
    static void block(SimContext *c) { all(c, typename SimCount<sizeof...(P)>::Type()); }
};
SIM_END

/* ---- all others ----------------------------------------------------------------------------------------------------------------------- */

SIM_LATE(SimKernel)
template <class F, F function, class B, B body> struct SimKernel;

template <class... P, void (*function)(P...), class B, B body> struct SimKernel<void (*)(P...), function, B, body> {
    static constexpr unsigned count = sizeof...(P);
    static constexpr unsigned sizes[2 * sizeof...(P) + 2] = {(unsigned)sizeof(P)..., 0, (unsigned)alignof(P)..., 0};

    static SIM_INLINE void start(SimContext *c, P... p) {
        const uint3 block = sim_triple(c->block);
        const dim3 block_size = sim_triple(c->block_size), grid_size = sim_triple(c->grid_size);
        while (sim_take(c)) {
            body(sim_triple(c->thread), block, block_size, grid_size, p...);
            c->ended[c->linear / SIM_WARP] |= 1u << c->linear % SIM_WARP;
            --c->alive;
            if (SIM_UNLIKELY(c->waiting)) c->runtime->thread_end(c);
        }
    }
    template <unsigned... I> static SIM_INLINE void start_with(SimContext *c, SimIndices<I...>) { start(c, *(P *)c->params[I]...); }
    static void threads(SimContext *c) { start_with(c, typename SimCount<sizeof...(P)>::Type()); }
};
SIM_END

/* ---- kernels whose threads never wait --------------------------------------------------------------------------------------------------- */

SIM_LATE(SimLoops)
template <class F, F function, class B, B body> struct SimLoops;

template <class... P, void (*function)(P...), class B, B body> struct SimLoops<void (*)(P...), function, B, body> {
    static constexpr unsigned count = sizeof...(P);
    static constexpr unsigned sizes[2 * sizeof...(P) + 2] = {(unsigned)sizeof(P)..., 0, (unsigned)alignof(P)..., 0};

    /* A row of threads along x. The ranges given to the optimizer let it see that blockIdx.x * blockDim.x + threadIdx.x does
     * not overflow, in whatever type, and so that neighbours access neighbouring memory. Threads of a block depend on each other
     * through barriers only, and there are none here. */
    static SIM_INLINE void row(uint3 block, dim3 block_size, dim3 grid_size, unsigned y, unsigned z, P... p) {
        const int n = (int)block_size.x;
        if (n < 1 || n > 1024) __builtin_unreachable(); /* here, not in the loop: there it is a branch that g++ does not vectorize */
        if (block.x * block_size.x > 0x7fffffff - 1024) __builtin_unreachable();
#if defined(__clang__)
#pragma clang loop vectorize(enable)
#else
#pragma GCC ivdep
#endif
        for (int x = 0; x < n; x++) {
            body(uint3{(unsigned)x, y, z}, block, block_size, grid_size, p...);
        }
    }
    /* The library loops over z: g++ takes longer for each loop around the one over x than for most kernels. */
    static SIM_INLINE void rows(SimContext *c, P... p) {
        const uint3 block = sim_triple(c->block);
        const dim3 block_size = sim_triple(c->block_size), grid_size = sim_triple(c->grid_size);
        if (SIM_UNLIKELY(c->alone)) {
            body(sim_triple(c->thread), block, block_size, grid_size, p...);
            __asm__ __volatile__(""); /* what the kernel calls last returns to it, so that its line is known */
            return;
        }
        const unsigned z = c->thread.z;
        unsigned y = 0;
        do {
            row(block, block_size, grid_size, y, z, p...);
        } while (++y < block_size.y);
    }
    template <unsigned... I> static SIM_INLINE void rows_with(SimContext *c, SimIndices<I...>) { rows(c, *(P *)c->params[I]...); }
    static void block(SimContext *c) { rows_with(c, typename SimCount<sizeof...(P)>::Type()); }
};
SIM_END

/* A kernel in strides of the grid, as src/simulator/compiler/rewrite_stride.c makes it: step(..., k, ask, p...) does step number k of a thread, or only
 * says whether there is one. Threads of a block do a step together, so that memory is touched in order. */
SIM_LATE(SimStride)
template <class F, F function, class S, S step> struct SimStride;

template <class... P, void (*function)(P...), class S, S step> struct SimStride<void (*)(P...), function, S, step> {
    static SIM_INLINE void row(uint3 block, dim3 block_size, dim3 grid_size, unsigned y, unsigned z, P... p) {
        const int n = (int)block_size.x;
        const bool small = (unsigned long long)block.x * block_size.x <= 0x7fffffff - 1024;
        /* where neither the first nor the last thread goes on, none does: the first index is linear in threadIdx.x */
        for (unsigned long long k = 0; step(uint3{0, y, z}, block, block_size, grid_size, k, true, p...) ||
                                       step(uint3{(unsigned)n - 1, y, z}, block, block_size, grid_size, k, true, p...);
             k++) {
            if (SIM_UNLIKELY(!small)) {
                for (int x = 0; x < n; x++) step(uint3{(unsigned)x, y, z}, block, block_size, grid_size, k, false, p...);
                continue;
            }
            if (block.x * block_size.x > 0x7fffffff - 1024) __builtin_unreachable();
#if defined(__clang__)
#pragma clang loop vectorize(enable)
#else
#pragma GCC ivdep
#endif
            for (int x = 0; x < n; x++) {
                if (x < 0 || x > 1023) __builtin_unreachable();
                step(uint3{(unsigned)x, y, z}, block, block_size, grid_size, k, false, p...);
            }
        }
    }
    static SIM_INLINE void rows(SimContext *c, P... p) {
        const uint3 block = sim_triple(c->block);
        const dim3 block_size = sim_triple(c->block_size), grid_size = sim_triple(c->grid_size);
        for (unsigned y = 0; y < block_size.y; y++) row(block, block_size, grid_size, y, c->thread.z, p...);
    }
    template <unsigned... I> static SIM_INLINE void rows_with(SimContext *c, SimIndices<I...>) { rows(c, *(P *)c->params[I]...); }
    static void block(SimContext *c) { rows_with(c, typename SimCount<sizeof...(P)>::Type()); }
};
SIM_END

#endif
