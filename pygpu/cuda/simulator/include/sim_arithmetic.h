/* sim_arithmetic.h - shifts and conversions as a GPU does them. src/simulator/compiler/rewrite_arithmetic.c writes
 *
 *   a << ::pygpu_sim::by << b          for  a << b      nothing is left of a number that is shifted by all its bits or more
 *   (int)(::pygpu_sim::to<int>)x       for  (int)x      the nearest int where x is too large; 0 for NaN
 *
 * which keep the precedence and the type of what stood there, and are constant expressions where that was one. Operands of classes
 * get their own operators. */
#ifndef PYGPU_SIM_ARITHMETIC_H
#define PYGPU_SIM_ARITHMETIC_H

#pragma GCC system_header
#include "sim_base.h"

#define PGS_A constexpr inline __attribute__((always_inline))

SIM_LATE(By by bare shiftable word Left Right LeftOf RightOf saturate converted to)
namespace pygpu_sim {
enum By { by };
template <class T> struct bare { typedef T type; };
template <class T> struct bare<T &> : bare<T> {};
template <class T> struct bare<T &&> : bare<T> {};
template <class T> struct bare<const T> { typedef T type; };
template <class T> struct bare<volatile T> { typedef T type; };
template <class T> struct bare<const volatile T> { typedef T type; };
template <class T, class = void> struct shiftable { static constexpr bool value = false; };
template <class T> struct shiftable<T, typename enable<(is_integer<T>::value || same<T, __int128>::value || same<T, unsigned __int128>::value || __is_enum(T)) && sizeof(+T()) != 0>::type> {
    static constexpr bool value = true;
};
template <unsigned size> struct word { typedef unsigned type; typedef int number; };
template <> struct word<8> { typedef unsigned long long type; typedef long long number; };
template <> struct word<16> { typedef unsigned __int128 type; typedef __int128 number; };

template <class R> struct Left { R value; }; /* a << by, with a promoted */
template <class R> struct Right { R value; };
template <class T> struct LeftOf { T &&value; };
template <class T> struct RightOf { T &&value; };
template <class T> PGS_A typename enable<shiftable<T>::value, Left<decltype(+T())>>::type operator<<(T a, By) { return {+a}; }
template <class T> PGS_A typename enable<shiftable<T>::value, Right<decltype(+T())>>::type operator>>(T a, By) { return {+a}; }
template <class T> PGS_A typename enable<!shiftable<typename bare<T>::type>::value, LeftOf<T>>::type operator<<(T &&a, By) { return {static_cast<T &&>(a)}; }
template <class T> PGS_A typename enable<!shiftable<typename bare<T>::type>::value, RightOf<T>>::type operator>>(T &&a, By) { return {static_cast<T &&>(a)}; }

template <class R, class U> PGS_A typename enable<shiftable<U>::value, R>::type operator<<(Left<R> a, U b) {
    constexpr unsigned bits = 8 * sizeof(R);
    typedef typename word<sizeof(+U())>::type Count;
    typedef typename word<sizeof(R)>::type Word;
    return (Count)b < bits ? (R)((Word)a.value << ((unsigned)b & (bits - 1))) : (R)0;
}
template <class R, class U> PGS_A typename enable<shiftable<U>::value, R>::type operator>>(Right<R> a, U b) {
    constexpr unsigned bits = 8 * sizeof(R);
    typedef typename word<sizeof(+U())>::type Count;
    if ((R)-1 < (R)0) return a.value >> ((Count)b < bits ? (unsigned)b : bits - 1);
    return (Count)b < bits ? a.value >> ((unsigned)b & (bits - 1)) : (R)0;
}
template <class R, class U> PGS_A auto operator<<(Left<R> a, U &&b) -> typename enable<!shiftable<typename bare<U>::type>::value, decltype(a.value << static_cast<U &&>(b))>::type {
    return a.value << static_cast<U &&>(b);
}
template <class R, class U> PGS_A auto operator>>(Right<R> a, U &&b) -> typename enable<!shiftable<typename bare<U>::type>::value, decltype(a.value >> static_cast<U &&>(b))>::type {
    return a.value >> static_cast<U &&>(b);
}
template <class T, class U> PGS_A auto operator<<(LeftOf<T> a, U &&b) -> decltype(static_cast<T &&>(a.value) << static_cast<U &&>(b)) {
    return static_cast<T &&>(a.value) << static_cast<U &&>(b);
}
template <class T, class U> PGS_A auto operator>>(RightOf<T> a, U &&b) -> decltype(static_cast<T &&>(a.value) >> static_cast<U &&>(b)) {
    return static_cast<T &&>(a.value) >> static_cast<U &&>(b);
}

/* T from a floating-point number, by way of 32 or 64 bits as on a GPU: shorter types get the lowest bits of that. */
template <class T, class F> PGS_A T saturate(F x) {
    typedef typename word<(sizeof(T) < 4 ? 4 : sizeof(T))>::type Word;
    typedef typename word<(sizeof(T) < 4 ? 4 : sizeof(T))>::number Number;
    constexpr unsigned bits = 8 * sizeof(Word);
    constexpr Word top = (Word)1 << (bits - 1);
    constexpr F end = (F)top * ((T)-1 < (T)0 ? 1 : 2);
    constexpr Word none = sizeof(F) == 8 || bits == 64 ? top : 0; /* of NaN */
    if ((T)-1 < (T)0) return (T)(Number)(x >= end ? (Word)(top - 1) : x == x ? (Word)(Number)x : none);
    return (T)(x >= end ? (Word)-1 : x > 0 ? (Word)x : x == x ? (Word)0 : none);
}
template <class T, class F> struct converted {
    static PGS_A T from(F x) { return (T)x; }
};
#define PGS_ROW(F) \
    template <class T> struct converted<T, F> { \
        static PGS_A T from(F x) { return saturate<T>(x); } \
    };
PGS_ROW(float) PGS_ROW(double)
#undef PGS_ROW
template <class T> struct to {
    T value;
    template <class F, class = typename enable<!__is_class(F) && !__is_union(F)>::type> PGS_A to(F x) : value(converted<T, F>::from(x)) {}
    template <class F, class B = typename bare<F>::type, class = typename enable<__is_class(B) || __is_union(B)>::type, class = void>
    PGS_A to(F &&x) : value((T)static_cast<F &&>(x)) {}
    PGS_A operator T() const { return value; }
};
} // namespace pygpu_sim
SIM_END

#endif
