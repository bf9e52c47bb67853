/* sim_math.h - the CUDA mathematical functions in double and float, and their overloads.
 *
 * The functions of the C library are those of the machine's libm (or the compiler's built-ins); what CUDA has beyond them is computed here.
 * Results agree with a GPU's within the errors that the CUDA C++ Programming Guide states, not to the last bit. */
#ifndef PYGPU_SIM_MATH_H
#define PYGPU_SIM_MATH_H

#pragma GCC system_header
#include "sim_base.h"

/* ---- what the C library has --------------------------------------------------------------------------------------- */

/* Two whole numbers, or a double and a float, are taken as double; of a float and a whole number overloading makes floats, as with NVRTC. */
#define PGS_PAIR(A, B) typename pygpu_sim::enable<pygpu_sim::is_number<A>::value && pygpu_sim::is_number<B>::value && \
        pygpu_sim::is_integer<A>::value == pygpu_sim::is_integer<B>::value && \
        (pygpu_sim::is_integer<A>::value || !pygpu_sim::same<A, B>::value), double>::type

#if !defined(SIM_HOSTED)

/* A function of one number, with the form for float, the overload for float, and one for whole numbers, which are taken as double. */
#define PGS_ROW(n) \
    PGS_UNIT(n n##f) \
    extern "C" double n(double) noexcept; \
    extern "C" float n##f(float) noexcept; \
    PGS_K float n(float x) noexcept { return __builtin_##n##f(x); } \
    template <class T> PGS_K typename pygpu_sim::enable<pygpu_sim::is_integer<T>::value, double>::type n(T x) noexcept \
    { return __builtin_##n((double)x); } \
    namespace std { using ::n; using ::n##f; } \
    PGS_END
PGS_ROW(acos) PGS_ROW(acosh) PGS_ROW(asin) PGS_ROW(asinh) PGS_ROW(atan) PGS_ROW(atanh) PGS_ROW(cbrt) PGS_ROW(ceil) PGS_ROW(cos)
PGS_ROW(cosh) PGS_ROW(erf) PGS_ROW(erfc) PGS_ROW(exp) PGS_ROW(exp2) PGS_ROW(expm1) PGS_ROW(fabs) PGS_ROW(floor) PGS_ROW(lgamma)
PGS_ROW(log) PGS_ROW(log10) PGS_ROW(log1p) PGS_ROW(log2) PGS_ROW(logb) PGS_ROW(nearbyint) PGS_ROW(rint) PGS_ROW(round) PGS_ROW(sin)
PGS_ROW(sinh) PGS_ROW(sqrt) PGS_ROW(tan) PGS_ROW(tanh) PGS_ROW(tgamma) PGS_ROW(trunc)
#undef PGS_ROW

#define PGS_ROW(n) \
    PGS_UNIT(n n##f) \
    extern "C" double n(double, double) noexcept; \
    extern "C" float n##f(float, float) noexcept; \
    PGS_K float n(float x, float y) noexcept { return __builtin_##n##f(x, y); } \
    template <class A, class B> PGS_K PGS_PAIR(A, B) n(A x, B y) noexcept { return __builtin_##n((double)x, (double)y); } \
    namespace std { using ::n; using ::n##f; } \
    PGS_END
PGS_ROW(atan2) PGS_ROW(copysign) PGS_ROW(fdim) PGS_ROW(fmod) PGS_ROW(hypot) PGS_ROW(nextafter) PGS_ROW(remainder)
#undef PGS_ROW

/* pow with a whole exponent: two overloads more than the others, as in CUDA. */
PGS_UNIT(pow powf)
extern "C" double pow(double, double) noexcept;
extern "C" float powf(float, float) noexcept;
PGS_K float pow(float x, float y) noexcept { return __builtin_powf(x, y); }
PGS_K float pow(float x, int e) noexcept { return __builtin_powf(x, (float)e); }
PGS_K double pow(double x, int e) noexcept { return __builtin_pow(x, e); }
template <class A, class B> PGS_K PGS_PAIR(A, B) pow(A x, B y) noexcept { return __builtin_pow((double)x, (double)y); }
namespace std { using ::pow; using ::powf; }
PGS_END

/* IEEE 754's minNum and maxNum: a NaN counts as missing. Written out, since a call of libm would keep loops from being vectorized. */
#define PGS_ROW(n, op) \
    PGS_UNIT(n n##f) \
    PGS_C double n(double x, double y) noexcept { return x != x ? y : y op x ? y : x; } \
    PGS_C float n##f(float x, float y) noexcept { return x != x ? y : y op x ? y : x; } \
    PGS_K float n(float x, float y) noexcept { return x != x ? y : y op x ? y : x; } \
    template <class A, class B> PGS_F PGS_PAIR(A, B) n(A x, B y) noexcept { return n((double)x, (double)y); } \
    namespace std { using ::n; using ::n##f; } \
    PGS_END
PGS_ROW(fmax, >)
PGS_ROW(fmin, <)
#undef PGS_ROW

#define PGS_ROW(T, n, tail, parameters, parameters_f, call) \
    PGS_UNIT(n n##f) \
    extern "C" T n##tail parameters noexcept; \
    extern "C" float n##f parameters_f noexcept; \
    PGS_I float n parameters_f noexcept { return n##f call; } \
    namespace std { using ::n; using ::n##f; } \
    PGS_END
PGS_ROW(double, fma, , (double x, double y, double z), (float x, float y, float z), (x, y, z))
PGS_ROW(double, frexp, , (double x, int *e), (float x, int *e), (x, e))
PGS_ROW(double, ldexp, , (double x, int e), (float x, int e), (x, e))
PGS_ROW(double, modf, , (double x, double *whole), (float x, float *whole), (x, whole))
PGS_ROW(double, remquo, , (double x, double y, int *q), (float x, float y, int *q), (x, y, q))
PGS_ROW(double, scalbln, , (double x, long e), (float x, long e), (x, e))
PGS_ROW(double, scalbn, , (double x, int e), (float x, int e), (x, e))
#undef PGS_ROW
#define PGS_ROW(T, n) \
    PGS_UNIT(n n##f) \
    extern "C" T n(double) noexcept; \
    extern "C" T n##f(float) noexcept; \
    PGS_I T n(float x) noexcept { return n##f(x); } \
    namespace std { using ::n; using ::n##f; } \
    PGS_END
PGS_ROW(int, ilogb) PGS_ROW(long, lrint) PGS_ROW(long, lround) PGS_ROW(long long, llrint) PGS_ROW(long long, llround)
#undef PGS_ROW
PGS_UNIT(nan nanf)
extern "C" unsigned long long strtoull(const char *, char **, int) noexcept;
/* A GPU takes no tag (0) for an empty one, where the C library's would read it. Never calls, as those would find the C library's; the
 * assembler text hides the tag from the compiler, which knows of its own nan that it is never 0. */
#define PGS_ROW(T, n, U, quiet, mask) \
    extern "C" PGS_F T n(const char *tag) noexcept { \
        __asm__("" : "+r"(tag)); \
        const U bits = quiet | (tag != nullptr ? (U)strtoull(tag, nullptr, 0) & mask : 0); \
        T x; \
        __builtin_memcpy(&x, &bits, sizeof x); \
        return x; \
    }
PGS_ROW(double, nan, unsigned long long, 0x7ff8000000000000ull, 0x7ffffffffffffull)
PGS_ROW(float, nanf, unsigned, 0x7fc00000u, 0x3fffffu)
#undef PGS_ROW
namespace std { using ::nan; using ::nanf; }
PGS_END

PGS_UNIT(abs labs llabs)
extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
PGS_F constexpr long abs(long x) noexcept { return x < 0 ? -x : x; }
PGS_F constexpr long long abs(long long x) noexcept { return x < 0 ? -x : x; }
PGS_F constexpr float abs(float x) noexcept { return __builtin_fabsf(x); }
PGS_F constexpr double abs(double x) noexcept { return __builtin_fabs(x); }
namespace std { using ::abs; using ::labs; using ::llabs; }
PGS_END
#define PGS_ROW(n, k) \
    PGS_UNIT(n) \
    PGS_F k int n(float x) noexcept { return __builtin_##n(x); } \
    PGS_F k int n(double x) noexcept { return __builtin_##n(x); } \
    template <class T> PGS_F k typename pygpu_sim::enable<pygpu_sim::is_integer<T>::value, int>::type n(T x) noexcept \
    { return __builtin_##n((double)x); } \
    namespace std { using ::n; } \
    PGS_END
PGS_ROW(isnan, constexpr) PGS_ROW(isinf, constexpr) PGS_ROW(isfinite, constexpr) PGS_ROW(isnormal, constexpr) PGS_ROW(signbit, )
#undef PGS_ROW

#ifndef SIM_HOSTED /* older names of the same, which the C library has too */
#define PGS_ROW(n, f, T) PGS_UNIT(n) PGS_F int n(T x) noexcept { return __builtin_##f(x); } PGS_END
PGS_ROW(__isnanf, isnan, float) PGS_ROW(__isnan, isnan, double) PGS_ROW(__isinff, isinf, float) PGS_ROW(__isinf, isinf, double)
PGS_ROW(__finitef, isfinite, float) PGS_ROW(__finite, isfinite, double) PGS_ROW(__signbitf, signbit, float) PGS_ROW(__signbit, signbit, double)
#undef PGS_ROW
#endif

/* What NVRTC has without any include. */
PGS_UNIT(move forward)
namespace std {
template <class T> struct pgs_no_reference { typedef T type; };
template <class T> struct pgs_no_reference<T &> { typedef T type; };
template <class T> struct pgs_no_reference<T &&> { typedef T type; };
template <class T> constexpr typename pgs_no_reference<T>::type &&move(T &&x) noexcept
{ return static_cast<typename pgs_no_reference<T>::type &&>(x); }
template <class T> constexpr T &&forward(typename pgs_no_reference<T>::type &x) noexcept { return static_cast<T &&>(x); }
template <class T> constexpr T &&forward(typename pgs_no_reference<T>::type &&x) noexcept { return static_cast<T &&>(x); }
} // namespace std
PGS_END
/* The compiler knows this class by its name and by the order of its members. It is also meant by braces without the name. */
namespace std {
template <class T> class initializer_list {
    const T *first;
    decltype(sizeof 0) count;
    constexpr initializer_list(const T *p, decltype(sizeof 0) n) : first(p), count(n) {}
public:
    typedef T value_type;
    typedef const T &reference;
    typedef const T &const_reference;
    typedef const T *iterator;
    typedef const T *const_iterator;
    typedef decltype(sizeof 0) size_type;
    constexpr initializer_list() noexcept : first(nullptr), count(0) {}
    constexpr size_type size() const noexcept { return count; }
    constexpr const T *begin() const noexcept { return first; }
    constexpr const T *end() const noexcept { return first + count; }
};
} // namespace std

#endif /* plain */

/* ---- smaller and larger ------------------------------------------------------------------------------------------- */

/* The types in which CUDA has them; of a signed and an unsigned number of one width, both are taken as unsigned. For floating point,
 * a NaN counts as missing. */
#define PGS_ROW(T, A, B, n, op) PGS_F constexpr T n(const A x, const B y) { return (T)y op (T)x ? (T)y : (T)x; }
#define PGS_NUM(T, A, B, n, op) PGS_F constexpr T n(const A x, const B y) { return (T)x != (T)x ? (T)y : (T)y op (T)x ? (T)y : (T)x; }
#define PGS_SET(n, op) \
    PGS_UNIT(n) \
    PGS_ROW(int, int, int, n, op) \
    PGS_ROW(unsigned, unsigned, unsigned, n, op) PGS_ROW(unsigned, int, unsigned, n, op) PGS_ROW(unsigned, unsigned, int, n, op) \
    PGS_ROW(long, long, long, n, op) \
    PGS_ROW(unsigned long, unsigned long, unsigned long, n, op) \
    PGS_ROW(unsigned long, long, unsigned long, n, op) PGS_ROW(unsigned long, unsigned long, long, n, op) \
    PGS_ROW(long long, long long, long long, n, op) \
    PGS_ROW(unsigned long long, unsigned long long, unsigned long long, n, op) \
    PGS_ROW(unsigned long long, long long, unsigned long long, n, op) \
    PGS_ROW(unsigned long long, unsigned long long, long long, n, op) \
    PGS_NUM(float, float, float, n, op) PGS_NUM(double, double, double, n, op) \
    PGS_NUM(double, float, double, n, op) PGS_NUM(double, double, float, n, op) \
    PGS_END \
    PGS_UNIT(u##n ll##n ull##n) \
    PGS_ROW(unsigned, unsigned, unsigned, u##n, op) PGS_ROW(long long, long long, long long, ll##n, op) \
    PGS_ROW(unsigned long long, unsigned long long, unsigned long long, ull##n, op) \
    PGS_END
PGS_SET(min, <)
PGS_SET(max, >)
#undef PGS_SET
#undef PGS_NUM
#undef PGS_ROW

/* ---- what CUDA has beyond C++ ------------------------------------------------------------------------------------- */

PGS_UNIT(sincospi)
namespace pygpu_sim {
/* sin and cos of pi x: the argument is reduced exactly to an eighth of a turn. */
PGS_I void sincospi(double x, double *s, double *c) {
    double r = x - 2.0 * __builtin_rint(0.5 * x); /* [-1, 1] */
    if (!(r >= -1.0 && r <= 1.0)) { /* infinity, NaN */
        *s = *c = __builtin_nan("");
        return;
    }
    double turns = __builtin_rint(2.0 * r), a = 3.141592653589793238 * (r - 0.5 * turns);
    double sine = __builtin_sin(a), cosine = __builtin_cos(a);
    int quadrant = (int)turns & 3;
    double u = quadrant & 1 ? cosine : sine, v = quadrant & 1 ? sine : cosine;
    *s = quadrant & 2 ? -u : u;
    *c = quadrant == 1 || quadrant == 2 ? -v : v;
    if (x == __builtin_trunc(x)) {
        *s = __builtin_copysign(0.0, x); /* whole x: a zero with the sign of x */
    } else if (turns != 0.0 && *c == 0.0) {
        *c = 0.0;
    }
}
}
PGS_END
PGS_UNIT(erfcx)
namespace pygpu_sim {
PGS_I double erfcx(double x) { /* exp(x^2) erfc(x) */
    if (x > 10.0) { /* asymptotic series, A&S 7.1.23; ten terms are below the last bit */
        double u = 0.5 / (x * x), term = 1.0, sum = 1.0;
        for (int k = 1; k <= 10; k++) {
            term *= -(2 * k - 1) * u;
            sum += term;
        }
        return sum * 0.56418958354775628695 / x;
    }
    double square = x * x, rest = __builtin_fma(x, x, -square), e = __builtin_exp(square);
    return square > 709.0 ? 2.0 * e : (e + e * rest) * __builtin_erfc(x);
}
}
PGS_END
PGS_UNIT(erfcinv normcdfinv)
namespace pygpu_sim {
/* y with erfc(y) = x: Winitzki's estimate, then Newton's method, on the logarithm where erfc is small. */
PGS_I double erfcinv(double x) {
    if (!(x >= 0.0 && x <= 2.0)) return __builtin_nan("");
    if (x == 0.0) return __builtin_inf();
    if (x == 2.0) return -__builtin_inf();
    if (x == 1.0) return 0.0;
    double logarithm = __builtin_log(x * (2.0 - x)), b = 4.3307467508 + 0.5 * logarithm;
    double root = b * b - logarithm * 6.8027210884353742;
    double y = __builtin_sqrt(__builtin_fmax(0.0, __builtin_sqrt(root) - b));
    if (x > 1.0) y = -y;
    for (int step = 0; step < 4; step++) {
        double slope = 1.1283791670955125739 * __builtin_exp(-y * y), value = __builtin_erfc(y);
        if (x < 0.1 && slope > 0.0 && value > 0.0) {
            y += (__builtin_log(value) - __builtin_log(x)) * (value / slope);
        } else if (slope > 0.0) {
            double d = (value - x) / slope;
            y += d / (1.0 + y * d); /* Halley's correction: the second derivative is -2 y times the first */
        }
    }
    return y;
}
}
PGS_END
PGS_UNIT(erfinv)
namespace pygpu_sim {
PGS_I double erfinv(double x) {
    double a = __builtin_fabs(x);
    if (!(a <= 1.0)) return __builtin_nan("");
    if (a > 0.5) return __builtin_copysign(erfcinv(1.0 - a), x);
    double y = x * 0.88622692545275801365; /* sqrt(pi) / 2 */
    y += y * y * y / 3.0;
    for (int step = 0; step < 4; step++) {
        double d = (__builtin_erf(y) - x) / (1.1283791670955125739 * __builtin_exp(-y * y));
        y -= d / (1.0 + y * d);
    }
    return x == 0.0 ? x : y;
}
}
PGS_END
PGS_UNIT(normcdf)
namespace pygpu_sim {
PGS_I double normcdf(double x) {
    double t = -0.70710678118654752440 * x;
    double rest = __builtin_fma(-0.70710678118654752440, x, -t) + 4.8336466567264567e-17 * x; /* what t and the constant have lost */
    double slope = 1.1283791670955125739 * __builtin_exp(-t * t);
    double value = __builtin_erfc(t);
    return 0.5 * (slope > 0.0 ? value - slope * rest : value);
}
}
PGS_END
PGS_UNIT(bessel_i)
namespace pygpu_sim {
PGS_I double bessel_i(int order, double x) { /* A&S 9.6.10 and 9.7.1 */
    double a = __builtin_fabs(x), sum = 1.0, term = 1.0;
    if (a < 25.0) {
        double u = 0.25 * a * a;
        for (int k = 1; k < 100 && term > 1e-18 * sum; k++) {
            term *= u / ((double)k * (k + order));
            sum += term;
        }
        sum *= order ? 0.5 * a : 1.0;
    } else if (a <= 1.7976931348623157e308) {
        double mu = 4.0 * order * order, half = __builtin_exp(0.5 * a);
        for (int k = 1; k < 30; k++) {
            double odd = 2 * k - 1, next = term * (odd * odd - mu) / (8.0 * k * a);
            if (__builtin_fabs(next) < 1e-18) break;
            term = next;
            sum += term;
        }
        sum = half * (sum / __builtin_sqrt(6.2831853071795864769 * a)) * half;
    } else {
        sum = a; /* infinity, NaN */
    }
    return order && x < 0.0 ? -sum : sum;
}
}
PGS_END
PGS_UNIT(length)
namespace pygpu_sim {
/* The length of n numbers, without overflow on the way. */
template <class T> PGS_I double length(int n, const T *p) {
    double largest = 0.0, sum = 0.0;
    bool nan = false;
    for (int i = 0; i < n; i++) {
        double a = __builtin_fabs((double)p[i]);
        nan |= a != a;
        largest = a > largest ? a : largest;
    }
    if (largest == __builtin_inf()) return largest;
    if (nan) return __builtin_nan("");
    if (largest == 0.0) return 0.0;
    int e = __builtin_ilogb(largest);
    double scale = __builtin_scalbn(1.0, -e < 1023 ? -e : 1023);
    for (int i = 0; i < n; i++) {
        double a = p[i] * scale;
        sum += a * a;
    }
    return __builtin_sqrt(sum) / scale;
}
}
PGS_END

/* The functions below keep their C names free of overloads, as the C library may declare some of them too. */
#define PGS_ROW(n, call) \
    PGS_UNIT(n n##f) \
    PGS_C double n(double x) noexcept { return call; } \
    PGS_C float n##f(float a) noexcept { double x = a; return (float)(call); } \
    PGS_I float n(float a) noexcept { return n##f(a); } \
    PGS_END
PGS_ROW(rcbrt, 1.0 / __builtin_cbrt(x))
PGS_ROW(erfcx, pygpu_sim::erfcx(x))
PGS_ROW(erfinv, pygpu_sim::erfinv(x))
PGS_ROW(erfcinv, pygpu_sim::erfcinv(x))
PGS_ROW(normcdf, pygpu_sim::normcdf(x))
PGS_ROW(normcdfinv, -1.4142135623730950488 * pygpu_sim::erfcinv(2.0 * x))
PGS_ROW(cyl_bessel_i0, pygpu_sim::bessel_i(0, x))
PGS_ROW(cyl_bessel_i1, pygpu_sim::bessel_i(1, x))
#undef PGS_ROW
PGS_UNIT(rsqrt rsqrtf)
PGS_C double rsqrt(double x) noexcept { return 1.0 / __builtin_sqrt(x); }
PGS_C float rsqrtf(float x) noexcept { return 1.0f / __builtin_sqrtf(x); }
PGS_I float rsqrt(float x) noexcept { return 1.0f / __builtin_sqrtf(x); }
PGS_END
/* One body for double and for float. Only sinpi and cospi are overloaded, as in CUDA. */
#define PGS_ROW(n, parameters, body, overload) \
    PGS_UNIT(n n##f) \
    PGS_C double n parameters(double) noexcept { body(double) } \
    PGS_C float n##f parameters(float) noexcept { body(float) } \
    overload \
    PGS_END
#define PGS_P1(T) (T x)
#define PGS_P2(T) (T x, T y)
#define PGS_P3(T) (T x, T y, T z)
#define PGS_P4(T) (T x, T y, T z, T w)
#define PGS_PN(T) (int n, const T *p)
#define PGS_SC(T) double u, v; pygpu_sim::sincospi(x, &u, &v); *sine = (T)u; *cosine = (T)v;
#define PGS_S(T) double u, v; pygpu_sim::sincospi(x, &u, &v); return (T)u;
#define PGS_V(T) double u, v; pygpu_sim::sincospi(x, &u, &v); return (T)v;
#define PGS_R2(T) T p[2] = {x, y}; return (T)(1.0 / pygpu_sim::length(2, p));
#define PGS_N3(T) T p[3] = {x, y, z}; return (T)pygpu_sim::length(3, p);
#define PGS_R3(T) T p[3] = {x, y, z}; return (T)(1.0 / pygpu_sim::length(3, p));
#define PGS_N4(T) T p[4] = {x, y, z, w}; return (T)pygpu_sim::length(4, p);
#define PGS_R4(T) T p[4] = {x, y, z, w}; return (T)(1.0 / pygpu_sim::length(4, p));
#define PGS_NN(T) return (T)pygpu_sim::length(n, p);
#define PGS_RN(T) return (T)(1.0 / pygpu_sim::length(n, p));
PGS_ROW(sinpi, PGS_P1, PGS_S, PGS_I float sinpi(float x) noexcept { return sinpif(x); })
PGS_ROW(cospi, PGS_P1, PGS_V, PGS_I float cospi(float x) noexcept { return cospif(x); })
PGS_ROW(rhypot, PGS_P2, PGS_R2, )
PGS_ROW(norm3d, PGS_P3, PGS_N3, )
PGS_ROW(rnorm3d, PGS_P3, PGS_R3, )
PGS_ROW(norm4d, PGS_P4, PGS_N4, )
PGS_ROW(rnorm4d, PGS_P4, PGS_R4, )
PGS_ROW(norm, PGS_PN, PGS_NN, )
PGS_ROW(rnorm, PGS_PN, PGS_RN, )
#undef PGS_ROW
PGS_UNIT(sincospi sincospif)
PGS_C void sincospi(double x, double *sine, double *cosine) noexcept { PGS_SC(double) }
PGS_C void sincospif(float x, float *sine, float *cosine) noexcept { PGS_SC(float) }
PGS_I void sincospi(float x, float *sine, float *cosine) noexcept { PGS_SC(float) }
PGS_END
#undef PGS_P1
#undef PGS_P2
#undef PGS_P3
#undef PGS_P4
#undef PGS_PN
#undef PGS_SC
#undef PGS_S
#undef PGS_V
#undef PGS_R2
#undef PGS_N3
#undef PGS_R3
#undef PGS_N4
#undef PGS_R4
#undef PGS_NN
#undef PGS_RN
PGS_UNIT(sincos sincosf __sincosf)
extern "C" void sincos(double, double *, double *) noexcept;
extern "C" void sincosf(float, float *, float *) noexcept;
PGS_I void sincos(float x, float *sine, float *cosine) noexcept { sincosf(x, sine, cosine); }
PGS_C void __sincosf(float x, float *sine, float *cosine) noexcept { sincosf(x, sine, cosine); }
PGS_END
#define PGS_ROW(n, extra) \
    PGS_UNIT(n n##f extra) \
    extern "C" double n(double) noexcept; \
    extern "C" float n##f(float) noexcept; \
    PGS_I float n(float x) noexcept { return n##f(x); } \
    PGS_END
PGS_ROW(exp10, __exp10f) PGS_ROW(j0, ) PGS_ROW(j1, ) PGS_ROW(y0, ) PGS_ROW(y1, )
#undef PGS_ROW
#define PGS_ROW(n) \
    PGS_UNIT(n n##f) \
    extern "C" double n(int, double) noexcept; \
    extern "C" float n##f(int, float) noexcept; \
    PGS_I float n(int order, float x) noexcept { return n##f(order, x); } \
    PGS_END
PGS_ROW(jn) PGS_ROW(yn)
#undef PGS_ROW
PGS_UNIT(fdivide fdividef __fdividef)
PGS_I double fdivide(double x, double y) noexcept { return x / y; }
PGS_I float fdividef(float x, float y) noexcept { return x / y; }
PGS_I float fdivide(float x, float y) noexcept { return x / y; }
PGS_F float __fdividef(float x, float y) { return x / y; }
PGS_END

/* ---- fast forms: here as exact as the others ---------------------------------------------------------------------- */

#define PGS_ROW(n) PGS_UNIT(__##n##f) PGS_C float __##n##f(float x) noexcept { return __builtin_##n##f(x); } PGS_END
PGS_ROW(sin) PGS_ROW(cos) PGS_ROW(tan) PGS_ROW(tanh) PGS_ROW(exp) PGS_ROW(log) PGS_ROW(log2) PGS_ROW(log10)
#undef PGS_ROW
PGS_UNIT(__exp10f)
PGS_C float __exp10f(float x) noexcept { return exp10f(x); }
PGS_END
PGS_UNIT(__powf)
PGS_C float __powf(float x, float y) noexcept { return __builtin_powf(x, y); }
PGS_END
PGS_UNIT(__saturatef __frsqrt_rn)
PGS_F float __saturatef(float x) { return x > 0.0f ? x < 1.0f ? x : 1.0f : 0.0f; /* NaN is 0 */ }
PGS_F float __frsqrt_rn(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
PGS_END

/* ---- one rounding, in a given direction; never contracted --------------------------------------------------------- */

PGS_UNIT(rounding)
namespace pygpu_sim {
#if defined(__x86_64__) || defined(__aarch64__)
/* mode: bits of the processor's control register. Operands and result are made opaque between the two switches, so that the operation
 * stays there: volatile asm statements keep their order. */
#if defined(__x86_64__)
enum { round_down = 0x2000, round_up = 0x4000, round_zero = 0x6000 };
#define PGS_PIN(x) __asm__ volatile("" : "+x"(x))
template <int mode> struct rounding {
    unsigned before;
    PGS_F rounding() {
        __asm__ volatile("stmxcsr %0" : "=m"(before));
        unsigned now = (before & ~0x6000u) | (unsigned)mode;
        __asm__ volatile("ldmxcsr %0" : : "m"(now));
    }
    PGS_F ~rounding() { __asm__ volatile("ldmxcsr %0" : : "m"(before)); }
};
#else
enum { round_up = 1 << 22, round_down = 2 << 22, round_zero = 3 << 22 };
#define PGS_PIN(x) __asm__ volatile("" : "+w"(x))
template <int mode> struct rounding {
    unsigned long before;
    PGS_F rounding() {
        __asm__ volatile("mrs %0, fpcr" : "=r"(before));
        unsigned long now = (before & ~(3ul << 22)) | (unsigned long)mode;
        __asm__ volatile("msr fpcr, %0" : : "r"(now));
    }
    PGS_F ~rounding() { __asm__ volatile("msr fpcr, %0" : : "r"(before)); }
};
#endif
#else
#error "pygpu's CUDA simulator runs on x86-64 and aarch64"
#endif
} // namespace pygpu_sim
PGS_END
#define PGS_ROUNDED(T, name, suffix, mode, parameters, pin, expression) \
    PGS_I T name##suffix parameters { \
        pygpu_sim::rounding<pygpu_sim::mode> direction; \
        pin; \
        T result = expression; \
        PGS_PIN(result); \
        return result; \
    }
#define PGS_ROW(T, name, parameters, pin, expression) \
    PGS_UNIT(name##_rn name##_rd name##_ru name##_rz) \
    PGS_F T name##_rn parameters { return pygpu_sim::opaque<T>(expression); } \
    PGS_ROUNDED(T, name, _rd, round_down, parameters, pin, expression) \
    PGS_ROUNDED(T, name, _ru, round_up, parameters, pin, expression) \
    PGS_ROUNDED(T, name, _rz, round_zero, parameters, pin, expression) \
    PGS_END
#define PGS_SET(T, d, f) \
    PGS_ROW(T, __##d##add, (T x, T y), PGS_PIN(x); PGS_PIN(y), x + y) \
    PGS_ROW(T, __##d##sub, (T x, T y), PGS_PIN(x); PGS_PIN(y), x - y) \
    PGS_ROW(T, __##d##mul, (T x, T y), PGS_PIN(x); PGS_PIN(y), x * y) \
    PGS_ROW(T, __##d##div, (T x, T y), PGS_PIN(x); PGS_PIN(y), x / y) \
    PGS_ROW(T, __##d##rcp, (T x), PGS_PIN(x), (T)1 / x) \
    PGS_ROW(T, __##d##sqrt, (T x), PGS_PIN(x), __builtin_sqrt##f(x)) \
    PGS_ROW(T, __fma##f, (T x, T y, T z), PGS_PIN(x); PGS_PIN(y); PGS_PIN(z), __builtin_fma##f(x, y, z))
PGS_SET(float, f, f)
PGS_SET(double, d, )
#undef PGS_SET
#undef PGS_ROW
#undef PGS_ROUNDED
#undef PGS_PIN
#define PGS_ROW(r) PGS_UNIT(__fmaf_ieee_##r) PGS_F float __fmaf_ieee_##r(float x, float y, float z) { return __fmaf_##r(x, y, z); } PGS_END
PGS_ROW(rn) PGS_ROW(rd) PGS_ROW(ru) PGS_ROW(rz)
#undef PGS_ROW
#undef PGS_PAIR

#endif
