// Mathematical functions, in double and in float, by their own names and as overloads.

//@ case: elementary
//@ grid: 8
//@ block: 32
//@ in x: np.linspace(-3, 3, 256)
//@ out y: np.zeros((12, 256))
//@ expect y: [np.sin(x), np.cos(x), np.tan(x), np.arctan(x), np.sinh(x), np.cosh(x), np.tanh(x), np.arcsinh(x), np.exp(x), np.exp2(x), np.expm1(x), np.cbrt(x)]
//@ rtol: 4e-15
//@ atol: 1e-300
extern "C" __global__ void k(const double *x, double *y) {
    int i = blockIdx.x * 32 + threadIdx.x;
    double v = x[i], r[12] = {sin(v), cos(v), tan(v), atan(v), sinh(v), cosh(v), tanh(v), asinh(v), exp(v), exp2(v), expm1(v), cbrt(v)};
    for (int j = 0; j < 12; j++) y[256 * j + i] = r[j];
}

//@ case: elementary_float
//@ grid: 8
//@ block: 32
//@ in x: np.linspace(-3, 3, 256).astype(np.float32)
//@ out y: np.zeros((12, 256), np.float32)
//@ expect y: [f(x.astype(float)) for f in (np.sin, np.cos, np.tan, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.exp, np.exp2, np.expm1, np.cbrt)]
//@ rtol: 6e-7
//@ atol: 1e-7
extern "C" __global__ void k(const float *x, float *y) {
    int i = blockIdx.x * 32 + threadIdx.x;
    float v = x[i], r[12] = {sinf(v), cosf(v), tanf(v), atanf(v), sinhf(v), coshf(v), tanhf(v), asinhf(v), expf(v), exp2f(v), expm1f(v), cbrtf(v)};
    for (int j = 0; j < 12; j++) y[256 * j + i] = r[j];
}

//@ case: overloads_are_of_the_argument_s_type
//@ block: 1
//@ out y: np.zeros(8, np.int32)
//@ expect y: [4, 8, 4, 8, 4, 4, 4, 8]
extern "C" __global__ void k(int *y) {
    float f = 2;
    double d = 2;
    y[0] = sizeof(sin(f)); y[1] = sizeof(sin(d)); y[2] = sizeof(pow(f, f)); y[3] = sizeof(pow(d, d)); y[4] = sizeof(max(f, f)); y[5] = sizeof(abs(-1));
    y[6] = sizeof(rsqrt(f)); y[7] = sizeof(fma(d, d, d));
}

//@ case: positive_arguments
//@ block: 128
//@ in x: np.linspace(0.01, 0.99, 128)
//@ out y: np.zeros((8, 128))
//@ expect y: [np.log(x), np.log2(x), np.log10(x), np.log1p(x), np.arcsin(x), np.arccos(x), np.arctanh(x), np.arccosh(1 + x)]
//@ rtol: 4e-15
extern "C" __global__ void k(const double *x, double *y) {
    int i = threadIdx.x;
    double v = x[i], r[8] = {log(v), log2(v), log10(v), log1p(v), asin(v), acos(v), atanh(v), acosh(1 + v)};
    for (int j = 0; j < 8; j++) y[128 * j + i] = r[j];
}

//@ case: roundings
//@ block: 14
//@ in x: np.array([-2.5, -1.5, -0.5, -0.2, 0, 0.2, 0.5, 1.5, 2.5, 3.7, 1e20, -1e20, np.inf, -np.inf])
//@ out y: np.zeros((6, 14))
//@ expect y: [np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.rint(x), np.where(np.abs(x) < 1e19, np.trunc(x + np.copysign(0.5, x)), x)]
extern "C" __global__ void k(const double *x, double *y) {
    int i = threadIdx.x;
    double v = x[i], r[6] = {floor(v), ceil(v), trunc(v), rint(v), nearbyint(v), round(v)};
    for (int j = 0; j < 6; j++) y[14 * j + i] = r[j];
}

//@ case: roundings_to_integers
//@ block: 6
//@ in x: np.array([-2.5, -0.5, 0.5, 1.5, 2.5, 1e9 + 0.5])
//@ out y: np.zeros((4, 6), np.int64)
//@ expect y: [[-2, 0, 0, 2, 2, 10**9], [-3, -1, 1, 2, 3, 10**9 + 1]] * 2
extern "C" __global__ void k(const double *x, long long *y) {
    int i = threadIdx.x;
    y[i] = lrint(x[i]); y[6 + i] = lround(x[i]); y[12 + i] = llrint(x[i]); y[18 + i] = llround(x[i]);
}

//@ case: two_arguments
//@ block: 100
//@ in x: rng.normal(0, 3, 100)
//@ in z: rng.normal(0, 3, 100)
//@ out y: np.zeros((9, 100))
//@ expect y: [np.arctan2(x, z), np.hypot(x, z), np.fmod(x, z), np.copysign(x, z), np.maximum(x, z), np.minimum(x, z), np.abs(x) ** z,
//@+         np.maximum(x - z, 0), np.nextafter(x, z)]
//@ rtol: 4e-15
extern "C" __global__ void k(const double *x, const double *z, double *y) {
    int i = threadIdx.x;
    double a = x[i], b = z[i], r[9] = {atan2(a, b), hypot(a, b), fmod(a, b), copysign(a, b), fmax(a, b), fmin(a, b), pow(fabs(a), b), fdim(a, b), nextafter(a, b)};
    for (int j = 0; j < 9; j++) y[100 * j + i] = r[j];
}

//@ case: remainders
//@ block: 5
//@ in x: np.array([5.5, -5.5, 7, 2.5, 1e300])
//@ in z: np.array([2, 2, -3, 1, 3.0])
//@ out y: np.zeros((3, 5))
//@ expect y: [[-0.5, 0.5, 1, 0.5, ieee_remainder(1e300, 3)], [-0.5, 0.5, 1, 0.5, ieee_remainder(1e300, 3)], [3, 3, 2, 2, -1]]
extern "C" __global__ void k(const double *x, const double *z, double *y) {
    int i = threadIdx.x, q;
    y[i] = remainder(x[i], z[i]);
    y[5 + i] = remquo(x[i], z[i], &q);
    y[10 + i] = i == 4 ? -1 : abs(q) & 7;
}

//@ case: parts_of_numbers
//@ block: 4
//@ in x: np.array([6.75, -0.1, 1024, 3e-310])
//@ out y: np.zeros((8, 4))
//@ expect y: [np.frexp(x)[0], np.frexp(x)[1], np.modf(x)[0], np.modf(x)[1], np.floor(np.log2(np.abs(x))), np.floor(np.log2(np.abs(x))), x * 8, x / 4]
extern "C" __global__ void k(const double *x, double *y) {
    int i = threadIdx.x, e;
    double whole;
    y[i] = frexp(x[i], &e);
    y[4 + i] = e;
    y[8 + i] = modf(x[i], &whole);
    y[12 + i] = whole;
    y[16 + i] = ilogb(x[i]);
    y[20 + i] = logb(x[i]);
    y[24 + i] = ldexp(x[i], 3);
    y[28 + i] = scalbn(x[i], -2);
}

//@ case: classification
//@ block: 7
//@ in x: np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan])
//@ out y: np.zeros((4, 7), np.int32)
//@ expect y: [np.isnan(x), np.isinf(x), np.isfinite(x), np.signbit(x) & ~np.isnan(x)]
extern "C" __global__ void k(const double *x, int *y) {
    int i = threadIdx.x;
    float f = x[i];
    y[i] = isnan(x[i]) && isnan(f);
    y[7 + i] = isinf(x[i]) != 0 && isinf(f) != 0;
    y[14 + i] = isfinite(x[i]) && isfinite(f);
    y[21 + i] = !isnan(f) && signbit(x[i]) && signbit(f);
}

//@ case: nan_with_and_without_a_tag
//@ block: 1
//@ out y: np.zeros(3, np.uint32)
//@ expect y: [0x7fc00000, 0x7fc00000, 0x7fc00005]
//@ out z: np.zeros(3, np.uint64)
//@ expect z: [0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000123]
extern "C" __global__ void k(unsigned *y, unsigned long long *z) {
    y[0] = __float_as_uint(nanf(0)); y[1] = __float_as_uint(nanf("")); y[2] = __float_as_uint(nanf("5"));
    z[0] = __double_as_longlong(nan(0)); z[1] = __double_as_longlong(nan("")); z[2] = __double_as_longlong(nan("0x123"));
}

//@ case: nan_in_min_and_max
//@ block: 1
//@ in nan: np.array([np.nan], np.float32)
//@ out y: np.zeros(6, np.float32)
//@ expect y: [1, 2, 1, 2, 3, 3]
extern "C" __global__ void k(const float *nan, float *y) {
    y[0] = fmaxf(*nan, 1); y[1] = fminf(2, *nan); y[2] = max(*nan, 1.0f); y[3] = min(2.0f, *nan); y[4] = (float)fmax((double)*nan, 3.0);
    y[5] = (float)min(3.0, (double)*nan);
}

//@ case: min_and_max_of_whole_numbers
//@ block: 1
//@ out y: np.zeros(8, np.int64)
//@ in minus: np.int32(-1)
//@ expect y: [-1, 2**32 - 1, 3, 2**32 - 1, -1, 5, -7, 9]
extern "C" __global__ void k(long long *y, int minus) {
    y[0] = min(minus, 3); y[1] = max((unsigned)minus, 3u); y[2] = min(minus, 3u); y[3] = max(minus, 3u);
    y[4] = min((long long)minus, 3ll); y[5] = max(5ull, 3ull); y[6] = llmin(-7, 9); y[7] = umax(4, 9);
}

//@ case: error_function
//@ block: 61
//@ in x: np.linspace(-3, 3, 61)
//@ out y: np.zeros((3, 61))
//@ expect y: [each(math.erf, x), each(math.erfc, x), each(lambda v: math.exp(v * v) * math.erfc(v), x)]
//@ rtol: 4e-15
extern "C" __global__ void k(const double *x, double *y) {
    int i = threadIdx.x;
    y[i] = erf(x[i]); y[61 + i] = erfc(x[i]); y[122 + i] = erfcx(x[i]);
}

//@ case: inverse_error_function
//@ block: 64
//@ in x: np.linspace(-3, 3, 64)
//@ in z: np.linspace(-2, 26, 64)
//@ out y: np.zeros((4, 64))
//@ expect y: [x, z, x, z]
//@ rtol: 3e-11
extern "C" __global__ void k(const double *x, const double *z, double *y) {
    int i = threadIdx.x;
    y[i] = erfinv(erf(x[i]));
    y[64 + i] = erfcinv(erfc(z[i]));
    y[128 + i] = normcdfinv(normcdf(x[i]));
    y[192 + i] = -normcdfinv(normcdf(-z[i]));
}

//@ case: normal_distribution
//@ block: 41
//@ in x: np.linspace(-37, 8, 41)
//@ out y: np.zeros((2, 41))
//@ expect y: [each(normal_cdf, x), each(lambda v: float(np.float32(normal_cdf(np.float32(v)))), x)]
//@ rtol: 1e-6
//@ atol: 1e-43
extern "C" __global__ void k(const double *x, double *y) {
    y[threadIdx.x] = normcdf(x[threadIdx.x]);
    y[41 + threadIdx.x] = normcdff((float)x[threadIdx.x]);
}

//@ case: normal_distribution_exactly
//@ block: 41
//@ in x: np.linspace(-37, 8, 41)
//@ out y: np.zeros(41)
//@ expect y: each(normal_cdf, x)
//@ rtol: 1e-13
extern "C" __global__ void k(const double *x, double *y) { y[threadIdx.x] = normcdf(x[threadIdx.x]); }

//@ case: gamma
//@ block: 40
//@ in x: np.linspace(0.1, 20, 40)
//@ out y: np.zeros((2, 40))
//@ expect y: [each(math.gamma, x), each(math.lgamma, x)]
//@ rtol: 1e-13
extern "C" __global__ void k(const double *x, double *y) { y[threadIdx.x] = tgamma(x[threadIdx.x]); y[40 + threadIdx.x] = lgamma(x[threadIdx.x]); }

//@ case: bessel
//@ block: 30
//@ in x: np.linspace(0.5, 30, 30)
//@ out y: np.zeros((6, 30))
//@ expect y: [bessel_j(0, x), bessel_j(1, x), bessel_j(3, x), bessel_i(0, x), bessel_i(1, x), 2 / (np.pi * x)]
//@ rtol: 1e-11
//@ atol: 1e-11
extern "C" __global__ void k(const double *x, double *y) {
    int i = threadIdx.x;
    double v = x[i];
    y[i] = j0(v); y[30 + i] = j1(v); y[60 + i] = jn(3, v); y[90 + i] = cyl_bessel_i0(v); y[120 + i] = cyl_bessel_i1(v);
    y[150 + i] = j1(v) * y0(v) - j0(v) * y1(v);
}

//@ case: half_turns
//@ block: 33
//@ in x: np.arange(-16, 17) / 4
//@ out y: np.zeros((6, 33))
//@ expect y: [np.sin(np.pi * (x % 2)), np.cos(np.pi * (x % 2))] * 3
//@ rtol: 1e-6
//@ atol: 3e-7
extern "C" __global__ void k(const double *x, double *y) {
    int i = threadIdx.x;
    float s, c;
    y[i] = sinpi(x[i]); y[33 + i] = cospi(x[i]);
    sincospi(x[i], &y[66 + i], &y[99 + i]);
    sincospif((float)x[i], &s, &c);
    y[132 + i] = s; y[165 + i] = c;
}

//@ case: half_turns_are_exact
//@ block: 9
//@ in x: np.arange(9) / 2
//@ out y: np.zeros((2, 9))
//@ expect y: [[0, 1, 0, -1, 0, 1, 0, -1, 0], [1, 0, -1, 0, 1, 0, -1, 0, 1]]
extern "C" __global__ void k(const double *x, double *y) { y[threadIdx.x] = sinpi(x[threadIdx.x]); y[9 + threadIdx.x] = cospi(x[threadIdx.x]); }

//@ case: sincos
//@ block: 16
//@ in x: np.linspace(-3, 3, 16)
//@ out y: np.zeros((6, 16))
//@ expect y: [np.sin(x), np.cos(x)] * 3
//@ rtol: 1e-5
//@ atol: 2e-6
extern "C" __global__ void k(const double *x, double *y) {
    int i = threadIdx.x;
    float s, c;
    sincos(x[i], &y[i], &y[16 + i]);
    sincosf((float)x[i], &s, &c);
    y[32 + i] = s; y[48 + i] = c;
    __sincosf((float)x[i], &s, &c);
    y[64 + i] = s; y[80 + i] = c;
}

//@ case: lengths
//@ block: 1
//@ in p: np.array([1.0, -2, 3, -4, 5])
//@ out y: np.zeros(9)
//@ expect y: [14**0.5, 30**0.5, 55**0.5, 14**-0.5, 30**-0.5, 55**-0.5, 5**-0.5, 3e200 * 3**0.5, 8**(-1 / 3)]
//@ rtol: 1e-15
extern "C" __global__ void k(const double *p, double *y) {
    y[0] = norm3d(p[0], p[1], p[2]); y[1] = norm4d(p[0], p[1], p[2], p[3]); y[2] = norm(5, p);
    y[3] = rnorm3d(p[0], p[1], p[2]); y[4] = rnorm4d(p[0], p[1], p[2], p[3]); y[5] = rnorm(5, p);
    y[6] = rhypot(p[0], p[1]); y[7] = norm3d(3e200, -3e200, 3e200); y[8] = rcbrt(8.0);
}

//@ case: roots_and_powers
//@ block: 50
//@ in x: rng.random(50) * 100
//@ out y: np.zeros((5, 50))
//@ expect y: [np.sqrt(x), x**-0.5, x**(-1 / 3), 10**(x / 10), x**3]
//@ rtol: 1e-14
extern "C" __global__ void k(const double *x, double *y) {
    int i = threadIdx.x;
    y[i] = sqrt(x[i]); y[50 + i] = rsqrt(x[i]); y[100 + i] = rcbrt(x[i]); y[150 + i] = exp10(x[i] / 10); y[200 + i] = pow(x[i], 3);
}

//@ case: fast_intrinsics
//@ block: 64
//@ in x: np.linspace(0.1, 3, 64).astype(np.float32)
//@ out y: np.zeros((10, 64), np.float32)
//@ expect y: [f(x.astype(float)) for f in (np.sin, np.cos, np.tan, np.exp, np.log, np.log2, np.log10)] + [10.0**x, x**1.5, x / 3.0]
//@ rtol: 1e-4
//@ atol: 2e-6
extern "C" __global__ void k(const float *x, float *y) {
    int i = threadIdx.x;
    float v = x[i], r[10] = {__sinf(v), __cosf(v), __tanf(v), __expf(v), __logf(v), __log2f(v), __log10f(v), __exp10f(v), __powf(v, 1.5f), __fdividef(v, 3)};
    for (int j = 0; j < 10; j++) y[64 * j + i] = r[j];
}

//@ case: saturate_and_abs
//@ block: 5
//@ in x: np.array([-1, 0.25, 1, 7, np.nan], np.float32)
//@ out y: np.zeros((3, 5), np.float32)
//@ expect y: [[0, 0.25, 1, 1, 0], [1, 0.25, 1, 7, 0], [1, 0, 1, 7, 0]]
extern "C" __global__ void k(const float *x, float *y) {
    int i = threadIdx.x;
    y[i] = __saturatef(x[i]);
    y[5 + i] = i == 4 ? 0 : fabsf(x[i]) + abs(x[i]) - fabs(x[i]);
    y[10 + i] = i == 4 ? 0 : abs((int)x[i]);
}

//@ case: directed_rounding
//@ block: 200
//@ in a: rng.normal(size=200)
//@ in b: rng.normal(size=200)
//@ in c: rng.normal(size=200)
//@ out y: np.zeros((7, 4, 200))
//@ expect y: directed(a, b, c, 53)
extern "C" __global__ void k(const double *a, const double *b, const double *c, double *y) {
    int i = threadIdx.x;
    double x = a[i], z = b[i], w = c[i], p = fabs(a[i]);
#define SET(row, name, arguments) \
    y[(4 * row + 0) * 200 + i] = name##_rn arguments; y[(4 * row + 1) * 200 + i] = name##_rd arguments; \
    y[(4 * row + 2) * 200 + i] = name##_ru arguments; y[(4 * row + 3) * 200 + i] = name##_rz arguments;
    SET(0, __dadd, (x, z)) SET(1, __dsub, (x, z)) SET(2, __dmul, (x, z)) SET(3, __ddiv, (x, z)) SET(4, __drcp, (x)) SET(5, __dsqrt, (p)) SET(6, __fma, (x, z, w))
}

//@ case: directed_rounding_float
//@ block: 200
//@ in a: rng.normal(size=200).astype(np.float32)
//@ in b: rng.normal(size=200).astype(np.float32)
//@ in c: rng.normal(size=200).astype(np.float32)
//@ out y: np.zeros((7, 4, 200), np.float32)
//@ expect y: directed(a, b, c, 24)
extern "C" __global__ void k(const float *a, const float *b, const float *c, float *y) {
    int i = threadIdx.x;
    float x = a[i], z = b[i], w = c[i], p = fabsf(a[i]);
#define SET(row, name, arguments) \
    y[(4 * row + 0) * 200 + i] = name##_rn arguments; y[(4 * row + 1) * 200 + i] = name##_rd arguments; \
    y[(4 * row + 2) * 200 + i] = name##_ru arguments; y[(4 * row + 3) * 200 + i] = name##_rz arguments;
    SET(0, __fadd, (x, z)) SET(1, __fsub, (x, z)) SET(2, __fmul, (x, z)) SET(3, __fdiv, (x, z)) SET(4, __frcp, (x)) SET(5, __fsqrt, (p)) SET(6, __fmaf, (x, z, w))
}

//@ case: rn_is_never_contracted
//@ block: 64
//@ in x: (1 + rng.random(64)).astype(np.float32)
//@ out y: np.zeros(64, np.float32)
//@ expect y: np.zeros(64)
extern "C" __global__ void k(const float *x, float *y) {
    float p = __fmul_rn(x[threadIdx.x], x[threadIdx.x]);
    y[threadIdx.x] = __fadd_rn(__fmul_rn(x[threadIdx.x], x[threadIdx.x]), -p);
}

//@ case: fma_is_rounded_once
//@ block: 1
//@ in a: np.array([1 + 2.0**-30, 1 + 2.0**-12])
//@ out y: np.zeros(2)
//@ expect y: [2.0**-60, 2.0**-24]
extern "C" __global__ void k(const double *a, double *y) {
    y[0] = fma(a[0], a[0], -(1 + ldexp(1.0, -29)));
    float f = (float)a[1];
    y[1] = fmaf(f, f, -(1 + ldexpf(1.0f, -11)));
}

//@ case: constants
//@ block: 1
//@ out y: np.zeros(6)
//@ expect y: [np.pi, 2**0.5, np.log(2), 1, np.pi / 2, 1]
//@ rtol: 1e-7
#include <math_constants.h>
extern "C" __global__ void k(double *y) {
    y[0] = CUDART_PI; y[1] = CUDART_SQRT_TWO; y[2] = CUDART_LN2; y[3] = CUDART_INF > 1e300 && isinf(CUDART_INF_F); y[4] = CUDART_PIO2_F; y[5] = isnan(CUDART_NAN) && isnan(CUDART_NAN_F);
}

//@ case: types_of_results
//@ block: 1
//@ in f: np.float32(0.1)
//@ in d: np.float64(0.1)
//@ in i: np.int32(2)
//@ out y: np.zeros(20, np.int32)
//@ expect y: [4] * 8 + [8] * 9 + [4] * 3
extern "C" __global__ void k(float f, double d, int i, int *y) {
    int n = 0;
    // A float and a whole number make a float,
    y[n++] = sizeof(fmax(f, i)); y[n++] = sizeof(fmin(i, f)); y[n++] = sizeof(fmod(f, 2u)); y[n++] = sizeof(pow(f, i));
    y[n++] = sizeof(pow(i, f)); y[n++] = sizeof(atan2(f, 1ll)); y[n++] = sizeof(hypot(f, i)); y[n++] = sizeof(remainder(i, f));
    // a double and anything a double; so does what has one form alone.
    y[n++] = sizeof(fmax(d, i)); y[n++] = sizeof(fmod(i, d)); y[n++] = sizeof(pow(d, i)); y[n++] = sizeof(norm3d(f, f, f));
    y[n++] = sizeof(rnorm3d(f, d, i)); y[n++] = sizeof(norm4d(f, f, f, f)); y[n++] = sizeof(rnorm4d(i, i, i, i));
    y[n++] = sizeof(rhypot(f, f)); y[n++] = sizeof(rhypot(3, 4));
    y[n++] = sizeof(isnan(f)); y[n++] = sizeof(isfinite(d)); y[n++] = sizeof(signbit(d));
}
