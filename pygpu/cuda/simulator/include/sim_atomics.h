/* sim_atomics.h - atomic functions, and loads and stores with a cache hint.
 *
 * The scopes (_block, none, _system) are one here: memory is the machine's. All are sequentially consistent, where CUDA promises less. */
#ifndef PYGPU_SIM_ATOMICS_H
#define PYGPU_SIM_ATOMICS_H

#pragma GCC system_header
#include "sim_base.h"
#include "sim_runtime.h"

PGS_UNIT(pgs_update atomicMin atomicMin_block atomicMin_system atomicMax atomicMax_block atomicMax_system atomicInc atomicInc_block
         atomicInc_system atomicDec atomicDec_block atomicDec_system atomicAdd atomicAdd_block atomicAdd_system)
/* old value of *p, which becomes next(old); U is the unsigned number as wide as T. */
template <class U, class T, class F> PGS_F T pgs_update(T *p, F next) {
    U old = __atomic_load_n((U *)p, __ATOMIC_RELAXED), now;
    do {
        now = pygpu_sim::bits<U>(next(pygpu_sim::bits<T>(old)));
    } while (now != old && !__atomic_compare_exchange_n((U *)p, &old, now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return pygpu_sim::bits<T>(old);
}
PGS_END
#define PGS_SCOPES(row, n, ...) row(n, __VA_ARGS__) row(n##_block, __VA_ARGS__) row(n##_system, __VA_ARGS__)
#define PGS_NAMES(n) PGS_UNIT(n n##_block n##_system)
#define PGS_FETCH(n, T, builtin) PGS_F T n(T *p, T value) { return builtin(p, value, __ATOMIC_SEQ_CST); }
#define PGS_UPDATE(n, T, U, expression) \
    PGS_F T n(T *p, T value) { return pgs_update<U>(p, [value](T old) -> T { return expression; }); }
#define PGS_INTEGERS(row, n, ...) \
    PGS_SCOPES(row, n, int, __VA_ARGS__) PGS_SCOPES(row, n, unsigned, __VA_ARGS__) PGS_SCOPES(row, n, unsigned long long, __VA_ARGS__)

PGS_NAMES(atomicAdd)
PGS_INTEGERS(PGS_FETCH, atomicAdd, __atomic_fetch_add)
PGS_SCOPES(PGS_UPDATE, atomicAdd, float, unsigned, old + value)
PGS_SCOPES(PGS_UPDATE, atomicAdd, double, unsigned long long, old + value)
#define PGS_VECTOR(n, tail) \
    PGS_I float2 n(float2 *p, float2 value) { return float2{n(&p->x, value.x), n(&p->y, value.y)}; } \
    PGS_I float4 n(float4 *p, float4 value) { return float4{n(&p->x, value.x), n(&p->y, value.y), n(&p->z, value.z), n(&p->w, value.w)}; }
PGS_SCOPES(PGS_VECTOR, atomicAdd, )
#undef PGS_VECTOR
PGS_END
PGS_NAMES(atomicSub)
PGS_SCOPES(PGS_FETCH, atomicSub, int, __atomic_fetch_sub)
PGS_SCOPES(PGS_FETCH, atomicSub, unsigned, __atomic_fetch_sub)
PGS_END
PGS_NAMES(atomicAnd)
PGS_INTEGERS(PGS_FETCH, atomicAnd, __atomic_fetch_and)
PGS_SCOPES(PGS_FETCH, atomicAnd, long long, __atomic_fetch_and)
PGS_END
PGS_NAMES(atomicOr)
PGS_INTEGERS(PGS_FETCH, atomicOr, __atomic_fetch_or)
PGS_SCOPES(PGS_FETCH, atomicOr, long long, __atomic_fetch_or)
PGS_END
PGS_NAMES(atomicXor)
PGS_INTEGERS(PGS_FETCH, atomicXor, __atomic_fetch_xor)
PGS_SCOPES(PGS_FETCH, atomicXor, long long, __atomic_fetch_xor)
PGS_END
#define PGS_ROW(n, op) \
    PGS_NAMES(n) \
    PGS_SCOPES(PGS_UPDATE, n, int, unsigned, value op old ? value : old) \
    PGS_SCOPES(PGS_UPDATE, n, unsigned, unsigned, value op old ? value : old) \
    PGS_SCOPES(PGS_UPDATE, n, long long, unsigned long long, value op old ? value : old) \
    PGS_SCOPES(PGS_UPDATE, n, unsigned long long, unsigned long long, value op old ? value : old) \
    PGS_END
PGS_ROW(atomicMin, <)
PGS_ROW(atomicMax, >)
#undef PGS_ROW
PGS_NAMES(atomicInc)
PGS_SCOPES(PGS_UPDATE, atomicInc, unsigned, unsigned, old >= value ? 0 : old + 1)
PGS_END
PGS_NAMES(atomicDec)
PGS_SCOPES(PGS_UPDATE, atomicDec, unsigned, unsigned, old == 0 || old > value ? value : old - 1)
PGS_END
/* An exchange that changes nothing, or a comparison that fails, is what a thread gets that waits for a lock. */
PGS_NAMES(atomicExch)
#define PGS_ROW(n, T, U) \
    PGS_F T n(T *p, T value) { \
        const U u = pygpu_sim::bits<U>(value), old = __atomic_exchange_n((U *)p, u, __ATOMIC_SEQ_CST); \
        if (__builtin_expect(old == u && old != 0, 0)) sim_yield(); \
        return pygpu_sim::bits<T>(old); \
    }
PGS_SCOPES(PGS_ROW, atomicExch, int, unsigned)
PGS_SCOPES(PGS_ROW, atomicExch, unsigned, unsigned)
PGS_SCOPES(PGS_ROW, atomicExch, unsigned long long, unsigned long long)
PGS_SCOPES(PGS_ROW, atomicExch, float, unsigned)
#undef PGS_ROW
PGS_END
PGS_NAMES(atomicCAS)
#define PGS_ROW(n, T) \
    PGS_F T n(T *p, T compare, T value) { \
        if (__builtin_expect(!__atomic_compare_exchange_n(p, &compare, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST), 0)) sim_yield(); \
        return compare; \
    }
PGS_SCOPES(PGS_ROW, atomicCAS, int)
PGS_SCOPES(PGS_ROW, atomicCAS, unsigned)
PGS_SCOPES(PGS_ROW, atomicCAS, unsigned long long)
PGS_SCOPES(PGS_ROW, atomicCAS, unsigned short)
#undef PGS_ROW
PGS_END
#undef PGS_INTEGERS
#undef PGS_UPDATE
#undef PGS_FETCH

/* The newer spelling, with an order and a scope that do not matter here. */
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
PGS_UNIT(__nv_atomic_load __nv_atomic_load_n __nv_atomic_store __nv_atomic_store_n __nv_atomic_thread_fence __nv_atomic_exchange_n
         __nv_atomic_compare_exchange_n __nv_atomic_fetch_add __nv_atomic_fetch_sub __nv_atomic_fetch_and __nv_atomic_fetch_or
         __nv_atomic_fetch_xor __nv_atomic_add __nv_atomic_sub __nv_atomic_and __nv_atomic_or __nv_atomic_xor __nv_atomic_fetch_min
         __nv_atomic_fetch_max __nv_atomic_min __nv_atomic_max)
namespace pygpu_sim {
template <int size> struct unsigned_of;
template <> struct unsigned_of<1> { typedef unsigned char type; };
template <> struct unsigned_of<2> { typedef unsigned short type; };
template <> struct unsigned_of<4> { typedef unsigned type; };
template <> struct unsigned_of<8> { typedef unsigned long long type; };
template <class T> struct self { typedef T type; };
template <class T, class F> PGS_F T update(T *p, F next) {
    typedef typename unsigned_of<sizeof(T)>::type U;
    U old = __atomic_load_n((U *)p, __ATOMIC_RELAXED), now;
    do {
        now = bits<U>((T)next(bits<T>(old)));
    } while (!__atomic_compare_exchange_n((U *)p, &old, now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return bits<T>(old);
}
} // namespace pygpu_sim
#define PGS_VALUE typename pygpu_sim::self<T>::type
template <class T> PGS_F T __nv_atomic_load_n(const T *p, int, int = 4) {
    typedef typename pygpu_sim::unsigned_of<sizeof(T)>::type U;
    return pygpu_sim::bits<T>(__atomic_load_n((const U *)p, __ATOMIC_SEQ_CST));
}
template <class T> PGS_F void __nv_atomic_load(const T *p, T *out, int order, int = 4) { *out = __nv_atomic_load_n(p, order); }
template <class T> PGS_F void __nv_atomic_store_n(T *p, PGS_VALUE value, int, int = 4) {
    typedef typename pygpu_sim::unsigned_of<sizeof(T)>::type U;
    __atomic_store_n((U *)p, pygpu_sim::bits<U>(value), __ATOMIC_SEQ_CST);
}
template <class T> PGS_F void __nv_atomic_store(T *p, T *value, int order, int = 4) { __nv_atomic_store_n(p, *value, order); }
PGS_F void __nv_atomic_thread_fence(int, int = 4) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
template <class T> PGS_F T __nv_atomic_exchange_n(T *p, PGS_VALUE value, int, int = 4) {
    return pygpu_sim::update(p, [value](T) { return value; });
}
template <class T> PGS_F bool __nv_atomic_compare_exchange_n(T *p, T *expected, PGS_VALUE value, bool, int, int, int = 4) {
    typedef typename pygpu_sim::unsigned_of<sizeof(T)>::type U;
    const bool done = __atomic_compare_exchange_n((U *)p, (U *)expected, pygpu_sim::bits<U>(value), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (!done) sim_yield();
    return done;
}
#define PGS_ROW(n, expression) \
    template <class T> PGS_F T __nv_atomic_fetch_##n(T *p, PGS_VALUE value, int, int = 4) { return pygpu_sim::update(p, [value](T old) { return expression; }); } \
    template <class T> PGS_F void __nv_atomic_##n(T *p, PGS_VALUE value, int order, int = 4) { __nv_atomic_fetch_##n(p, value, order); }
PGS_ROW(add, old + value)
PGS_ROW(sub, old - value)
PGS_ROW(and, old & value)
PGS_ROW(or, old | value)
PGS_ROW(xor, old ^ value)
PGS_ROW(min, value < old ? value : old)
PGS_ROW(max, value > old ? value : old)
#undef PGS_ROW
#undef PGS_VALUE
PGS_END

/* ---- loads and stores with a hint for the cache: plain ones -------------------------------------------------------- */

#define PGS_ROW(n) PGS_UNIT(n) template <class T> PGS_F T n(const T *p) { return *p; } PGS_END
PGS_ROW(__ldg) PGS_ROW(__ldcg) PGS_ROW(__ldca) PGS_ROW(__ldcs) PGS_ROW(__ldlu)
#undef PGS_ROW
PGS_UNIT(__ldcv)
template <class T> PGS_F T __ldcv(const T *p) { return *(const volatile T *)p; }
PGS_END
#define PGS_ROW(n) PGS_UNIT(n) template <class T> PGS_F void n(T *p, typename pygpu_sim::enable<true, T>::type value) { *p = value; } PGS_END
PGS_ROW(__stwb) PGS_ROW(__stcg) PGS_ROW(__stcs) PGS_ROW(__stwt)
#undef PGS_ROW
PGS_UNIT(__cvta_generic_to_shared __cvta_generic_to_global __cvta_shared_to_generic __cvta_global_to_generic)
PGS_F size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }
PGS_F size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
PGS_F void *__cvta_shared_to_generic(size_t p) { return (void *)p; }
PGS_F void *__cvta_global_to_generic(size_t p) { return (void *)p; }
PGS_END

#endif
