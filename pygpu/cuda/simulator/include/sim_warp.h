/* sim_warp.h - shuffles, votes, matches and reductions among the 32 threads of a warp. */
#ifndef PYGPU_SIM_WARP_H
#define PYGPU_SIM_WARP_H

#pragma GCC system_header
#include "sim_base.h"
#include "sim_runtime.h"

PGS_UNIT(__syncwarp)
PGS_F void __syncwarp(unsigned mask = 0xffffffffu) { sim_warp(SIM_WARP_SYNC, mask, 0, 0); }
PGS_END
PGS_UNIT(lane pgs_lane)
namespace pygpu_sim {
PGS_F unsigned lane() { return sim_here()->linear & 31u; }
} // namespace pygpu_sim
PGS_END

/* ---- values of other lanes ----------------------------------------------------------------------------------------- */

PGS_UNIT(__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync pgs_shuffle word_of)
namespace pygpu_sim {
/* The types that can be shuffled: numbers; the half types add themselves. */
template <class T> struct shuffled { static constexpr bool value = is_number<T>::value; };
template <class T> PGS_F SimWord word_of(T x) {
    SimWord word = 0;
    __builtin_memcpy(&word, &x, sizeof x);
    return word;
}
template <class T> PGS_F T from_word(SimWord word) {
    T x;
    __builtin_memcpy(&x, &word, sizeof x);
    return x;
}
template <class T> PGS_F T read_lane(unsigned mask, T value, unsigned source) {
    return from_word<T>(sim_warp(SIM_WARP_READ, mask, word_of(value), source));
}
} // namespace pygpu_sim
#define PGS_SHUFFLE template <class T> PGS_F typename pygpu_sim::enable<pygpu_sim::shuffled<T>::value, T>::type
PGS_SHUFFLE __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    const unsigned lane = pygpu_sim::lane(), w = (unsigned)width - 1;
    return pygpu_sim::read_lane(mask, value, (lane & ~w) | ((unsigned)source & w));
}
PGS_SHUFFLE __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = pygpu_sim::lane(), w = (unsigned)width - 1;
    return pygpu_sim::read_lane(mask, value, (lane & w) >= delta ? lane - delta : lane);
}
PGS_SHUFFLE __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = pygpu_sim::lane(), w = (unsigned)width - 1;
    return pygpu_sim::read_lane(mask, value, delta <= w && (lane & w) + delta <= w ? lane + delta : lane);
}
/* Earlier segments can be read, later ones not. */
PGS_SHUFFLE __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    const unsigned lane = pygpu_sim::lane(), w = (unsigned)width - 1, source = lane ^ (unsigned)bits;
    return pygpu_sim::read_lane(mask, value, source <= (lane | w) ? source : lane);
}
#undef PGS_SHUFFLE
PGS_END

/* ---- votes --------------------------------------------------------------------------------------------------------- */

PGS_UNIT(__ballot_sync __any_sync __all_sync __uni_sync)
PGS_F unsigned __ballot_sync(unsigned mask, int predicate) { return (unsigned)sim_warp(SIM_WARP_BALLOT, mask, predicate != 0, 0); }
PGS_F int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
PGS_F int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == mask; }
PGS_F int __uni_sync(unsigned mask, int predicate) {
    const unsigned votes = __ballot_sync(mask, predicate);
    return votes == 0 || votes == mask;
}
PGS_END
/* The place of the call tells which lanes are together: that of the code into which this was inlined, and the number of the call in the
 * source, because compilers merge the ends of two branches. */
PGS_UNIT(__activemask pgs_activemask)
PGS_F unsigned pgs_activemask(unsigned call) {
    SimWord address;
#if defined(__x86_64__)
    __asm__ volatile("lea (%%rip), %0" : "=r"(address));
#else
    __asm__ volatile("adr %0, ." : "=r"(address));
#endif
    return (unsigned)sim_warp(SIM_WARP_ACTIVE, 0xffffffffu, call, address);
}
#define __activemask() pgs_activemask(__COUNTER__)
PGS_END
PGS_UNIT(__match_any_sync __match_all_sync)
template <class T> PGS_F typename pygpu_sim::enable<pygpu_sim::is_number<T>::value, unsigned>::type __match_any_sync(unsigned mask, T value) {
    SimWord word = 0;
    __builtin_memcpy(&word, &value, sizeof value);
    return (unsigned)sim_warp(SIM_WARP_MATCH_ANY, mask, word, 0);
}
template <class T>
PGS_F typename pygpu_sim::enable<pygpu_sim::is_number<T>::value, unsigned>::type __match_all_sync(unsigned mask, T value, int *predicate) {
    SimWord word = 0;
    __builtin_memcpy(&word, &value, sizeof value);
    const unsigned lanes = (unsigned)sim_warp(SIM_WARP_MATCH_ALL, mask, word, 0);
    *predicate = lanes != 0;
    return lanes;
}
PGS_END

/* ---- reductions ----------------------------------------------------------------------------------------------------- */

#define PGS_ROW(n, T, W, op) PGS_F T n(unsigned mask, T value) { return (T)sim_warp(op, mask, (SimWord)(W)value, 0); }
PGS_UNIT(__reduce_add_sync)
PGS_ROW(__reduce_add_sync, int, long long, SIM_WARP_ADD)
PGS_ROW(__reduce_add_sync, unsigned, unsigned, SIM_WARP_ADD)
PGS_END
PGS_UNIT(__reduce_min_sync)
PGS_ROW(__reduce_min_sync, int, long long, SIM_WARP_MIN_SIGNED)
PGS_ROW(__reduce_min_sync, unsigned, unsigned, SIM_WARP_MIN)
PGS_END
PGS_UNIT(__reduce_max_sync)
PGS_ROW(__reduce_max_sync, int, long long, SIM_WARP_MAX_SIGNED)
PGS_ROW(__reduce_max_sync, unsigned, unsigned, SIM_WARP_MAX)
PGS_END
PGS_UNIT(__reduce_and_sync __reduce_or_sync __reduce_xor_sync)
PGS_ROW(__reduce_and_sync, unsigned, unsigned, SIM_WARP_AND)
PGS_ROW(__reduce_or_sync, unsigned, unsigned, SIM_WARP_OR)
PGS_ROW(__reduce_xor_sync, unsigned, unsigned, SIM_WARP_XOR)
PGS_END
#undef PGS_ROW

/* Gone since compute capability 7.0, where lanes may be at different places. */
PGS_UNIT(__shfl __shfl_up __shfl_down __shfl_xor __ballot __any __all)
#define PGS_ROW(n) \
    template <class... A> SIM_ERROR(#n " is not available since compute capability 7.0: use " #n "_sync, whose first argument is the mask of lanes") \
    int n(A...);
PGS_ROW(__shfl) PGS_ROW(__shfl_up) PGS_ROW(__shfl_down) PGS_ROW(__shfl_xor) PGS_ROW(__ballot) PGS_ROW(__any) PGS_ROW(__all)
#undef PGS_ROW
PGS_END

/* Before a use of a volatile variable: see src/simulator/compiler/rewrite_step.c. */
PGS_UNIT(volatile)
namespace pygpu_sim {
template <class T, bool = is_number<T>::value || __is_enum(T)> struct SteppedValue { typedef T type; };
template <class T> struct SteppedValue<T, false> { typedef volatile T &type; };
template <class T> struct SteppedValue<T *, false> { typedef T *type; };
template <class T> struct SteppedOf { typedef T &type; };
template <class T> struct SteppedOf<volatile T> : SteppedValue<T> {};
template <class T> struct SteppedOf<const volatile T> : SteppedValue<const T> {};
template <class T> struct SteppedBare { typedef T type; };
template <class T> struct SteppedBare<T &> { typedef T type; };
template <class T> using Stepped = typename SteppedOf<typename SteppedBare<T>::type>::type;
template <class T> static SIM_INLINE T &sim_in_step(T &x, unsigned) { return x; }
template <class T> static SIM_INLINE volatile T &sim_in_step(volatile T &x, unsigned step) {
    if (sim_space((const void *)&reinterpret_cast<const volatile char &>(x)) == SIM_SPACE_SHARED) sim_warp(SIM_WARP_STEP, 0xffffffffu, 0, step);
    return x;
}
static SIM_INLINE bool sim_together(unsigned step) {
    sim_warp(SIM_WARP_STEP, 0xffffffffu, 0, step);
    return true;
}
}
PGS_END

#endif
