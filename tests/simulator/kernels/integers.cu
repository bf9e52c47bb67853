// Integer intrinsics, conversions, parts of words.

//@ case: bits
//@ block: 64
//@ in x: np.r_[0, 1, 2**32 - 1, 2**31, rng.integers(0, 2**32, 60)].astype(np.uint32)
//@ out y: np.zeros((8, 64), np.int64)
//@ expect y: [[32 - int(v).bit_length() for v in x], [int(v).bit_count() for v in x], [(int(v) & -int(v)).bit_length() for v in x],
//@+         [int(f"{v:032b}"[::-1], 2) for v in x], [64 - (int(v) * 5).bit_length() for v in x], [(int(v) * 5).bit_count() for v in x],
//@+         [(int(v) * 8 & -int(v) * 8).bit_length() for v in x], [int(f"{v:032b}"[::-1], 2) << 20 for v in x]]
extern "C" __global__ void k(const unsigned *x, long long *y) {
    int i = threadIdx.x;
    unsigned v = x[i];
    y[i] = __clz(v); y[64 + i] = __popc(v); y[128 + i] = __ffs(v); y[192 + i] = __brev(v);
    y[256 + i] = __clzll(5ull * v); y[320 + i] = __popcll(5ull * v); y[384 + i] = __ffsll(8ull * v); y[448 + i] = __brevll((unsigned long long)v << 12);
}

//@ case: find_nth_set
//@ block: 1
//@ out y: np.zeros(6, np.uint32)
//@ expect y: [0, 4, 2**32 - 1, 7, 4, 1]
extern "C" __global__ void k(unsigned *y) {
    y[0] = __fns(0x93, 0, 0); y[1] = __fns(0x93, 0, 3); y[2] = __fns(0x93, 0, 9); y[3] = __fns(0x93, 31, -1); y[4] = __fns(0x93, 7, -2); y[5] = __fns(0x93, 3, -1);
}

//@ case: high_products
//@ block: 64
//@ in a: rng.integers(-2**63, 2**63, 64, np.int64)
//@ in b: rng.integers(-2**63, 2**63, 64, np.int64)
//@ out y: np.zeros((2, 64), np.int64)
//@ out z: np.zeros((2, 64), np.int32)
//@ expect y: [[int(p) * int(q) >> 64 for p, q in zip(a, b)], [signed((int(p) % 2**64) * (int(q) % 2**64) >> 64, 64) for p, q in zip(a, b)]]
//@ expect z: [[signed(int(p), 32) * signed(int(q), 32) >> 32 for p, q in zip(a, b)], [signed((int(p) % 2**32) * (int(q) % 2**32) >> 32, 32) for p, q in zip(a, b)]]
extern "C" __global__ void k(const long long *a, const long long *b, long long *y, int *z) {
    int i = threadIdx.x;
    y[i] = __mul64hi(a[i], b[i]); y[64 + i] = __umul64hi(a[i], b[i]);
    z[i] = __mulhi((int)a[i], (int)b[i]); z[64 + i] = __umulhi((unsigned)a[i], (unsigned)b[i]);
}

//@ case: products_of_24_bits
//@ block: 32
//@ in a: rng.integers(-2**31, 2**31, 32).astype(np.int32)
//@ in b: rng.integers(-2**31, 2**31, 32).astype(np.int32)
//@ out y: np.zeros((2, 32), np.int32)
//@ expect y: [[signed(signed(int(p), 24) * signed(int(q), 24), 32) for p, q in zip(a, b)], [signed((int(p) % 2**24) * (int(q) % 2**24), 32) for p, q in zip(a, b)]]
extern "C" __global__ void k(const int *a, const int *b, int *y) {
    y[threadIdx.x] = __mul24(a[threadIdx.x], b[threadIdx.x]);
    y[32 + threadIdx.x] = __umul24(a[threadIdx.x], b[threadIdx.x]);
}

//@ case: means_and_differences
//@ block: 32
//@ in a: rng.integers(-2**31, 2**31, 32).astype(np.int32)
//@ in b: rng.integers(-2**31, 2**31, 32).astype(np.int32)
//@ out y: np.zeros((6, 32), np.uint32)
//@ expect y: [[v % 2**32 for v in row] for row in ([int(p) + int(q) >> 1 for p, q in zip(a, b)], [int(p) + int(q) + 1 >> 1 for p, q in zip(a, b)],
//@+         [int(p) % 2**32 + int(q) % 2**32 >> 1 for p, q in zip(a, b)], [int(p) % 2**32 + int(q) % 2**32 + 1 >> 1 for p, q in zip(a, b)],
//@+         [abs(int(p) - int(q)) + 7 for p, q in zip(a, b)], [abs(int(p) % 2**32 - int(q) % 2**32) + 7 for p, q in zip(a, b)])]
extern "C" __global__ void k(const int *a, const int *b, unsigned *y) {
    int i = threadIdx.x;
    y[i] = __hadd(a[i], b[i]); y[32 + i] = __rhadd(a[i], b[i]); y[64 + i] = __uhadd(a[i], b[i]); y[96 + i] = __urhadd(a[i], b[i]);
    y[128 + i] = __sad(a[i], b[i], 7u); y[160 + i] = __usad(a[i], b[i], 7u);
}

//@ case: byte_perm
//@ block: 5
//@ in s: np.array([0x3210, 0x7654, 0x0123, 0x5140, 0x8888], np.uint32)
//@ out y: np.zeros(5, np.uint32)
//@ expect y: [0x33221100, 0x77665544, 0x00112233, 0x55114400, 0]
extern "C" __global__ void k(const unsigned *s, unsigned *y) { y[threadIdx.x] = __byte_perm(0x33221100, 0x77665544, s[threadIdx.x]); }

//@ case: funnel_shifts
//@ block: 34
//@ out y: np.zeros((4, 34), np.uint32)
//@ expect y: [[(0x1234567889abcdef << (n % 32) >> 32) % 2**32 for n in range(34)], [(0x1234567889abcdef >> (n % 32)) % 2**32 for n in range(34)],
//@+         [(0x1234567889abcdef << min(n, 32) >> 32) % 2**32 for n in range(34)], [(0x1234567889abcdef >> min(n, 32)) % 2**32 for n in range(34)]]
extern "C" __global__ void k(unsigned *y) {
    unsigned n = threadIdx.x, low = 0x89abcdef, high = 0x12345678;
    y[n] = __funnelshift_l(low, high, n); y[34 + n] = __funnelshift_r(low, high, n);
    y[68 + n] = __funnelshift_lc(low, high, n); y[102 + n] = __funnelshift_rc(low, high, n);
}

//@ case: dot_products_of_bytes
//@ block: 1
//@ out y: np.zeros(6, np.int32)
//@ expect y: [10 - 2 * 5 + 3 * 6 - 4 * 7 + 100, 254 * 5 + 10 + 3 * 6 + 252 * 7 + 100, 300 * 5 - 2 * 6, 300 * 5 + 65534 * 6, 300 * 7 - 2 * 8, 300 * 7 + 65534 * 8]
extern "C" __global__ void k(int *y) {
    unsigned a = 0xfc03fe0a, b = 0x07060501; /* 10, -2, 3, -4; 1, 5, 6, 7 */
    unsigned c = 0xfffe012c, d = 0x08070605; /* 300, -2; 5, 6, 7, 8 */
    y[0] = __dp4a((int)a, (int)b, 100); y[1] = __dp4a(a, b, 100u);
    y[2] = __dp2a_lo((int)c, (int)d, 0); y[3] = __dp2a_lo(c, d, 0u); y[4] = __dp2a_hi((int)c, (int)d, 0); y[5] = __dp2a_hi(c, d, 0u);
}

//@ case: bits_of_other_types
//@ block: 1
//@ out y: np.zeros(8, np.int64)
//@ expect y: [0x3f800000, 2**31, 3, -2, 0x3ff0000000000000, 5, 0x40080000, 0]
extern "C" __global__ void k(long long *y) {
    y[0] = __float_as_int(1.0f); y[1] = __float_as_uint(-0.0f); y[2] = (int)__int_as_float(0x40400000); y[3] = (int)__uint_as_float(0xc0000000u);
    y[4] = __double_as_longlong(1.0); y[5] = (int)__longlong_as_double(0x4014000000000000ll); y[6] = __double2hiint(3.0); y[7] = __double2loint(__hiloint2double(0x40080000, 0));
}

//@ case: float_to_integer
//@ block: 12
//@ in x: np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3e9, -3e9, 1e20, -1e20, 0, 2147483520], np.float32)
//@ out y: np.zeros((4, 4, 12), np.int64)
//@ expect y: to_integers(x)
extern "C" __global__ void k(const float *x, long long *y) {
    int i = threadIdx.x;
    float v = x[i];
#define SET(row, name) y[(4 * row) * 12 + i] = name##_rn(v); y[(4 * row + 1) * 12 + i] = name##_rz(v); y[(4 * row + 2) * 12 + i] = name##_ru(v); y[(4 * row + 3) * 12 + i] = name##_rd(v);
    SET(0, __float2int) SET(1, __float2uint) SET(2, __float2ll) SET(3, (long long)__float2ull)
}

//@ case: double_to_integer
//@ block: 12
//@ in x: np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3e9, -3e9, 1e20, -1e20, 0, 2147483647.5])
//@ out y: np.zeros((4, 4, 12), np.int64)
//@ expect y: to_integers(x)
extern "C" __global__ void k(const double *x, long long *y) {
    int i = threadIdx.x;
    double v = x[i];
#define SET(row, name) y[(4 * row) * 12 + i] = name##_rn(v); y[(4 * row + 1) * 12 + i] = name##_rz(v); y[(4 * row + 2) * 12 + i] = name##_ru(v); y[(4 * row + 3) * 12 + i] = name##_rd(v);
    SET(0, __double2int) SET(1, __double2uint) SET(2, __double2ll) SET(3, (long long)__double2ull)
}

//@ case: not_a_number_to_integer
//@ block: 1
//@ in nan: np.array([np.nan])
//@ out y: np.zeros(4, np.int64)
//@ expect y: [0, 0, -2**63, -2**31]
extern "C" __global__ void k(const double *nan, long long *y) {
    float f = (float)*nan;
    y[0] = __float2int_rn(f); y[1] = __float2uint_rz(f); y[2] = __double2ll_rn(*nan); y[3] = __double2int_rz(*nan);
}

//@ case: integer_to_float
//@ block: 64
//@ in x: np.r_[0, -1, 2**24 + 1, 2**53 + 1, 2**63 - 1, -2**63, rng.integers(-2**63, 2**63, 58)].astype(np.int64)
//@ out y: np.zeros((2, 4, 64), np.float32)
//@ out z: np.zeros((2, 4, 64))
//@ expect y: from_integers(x, 24)
//@ expect z: from_integers(x, 53)
extern "C" __global__ void k(const long long *x, float *y, double *z) {
    int i = threadIdx.x;
    long long v = x[i];
    unsigned long long u = v;
#define SET(p, row, name, v) p[(4 * row) * 64 + i] = name##_rn(v); p[(4 * row + 1) * 64 + i] = name##_rz(v); p[(4 * row + 2) * 64 + i] = name##_ru(v); p[(4 * row + 3) * 64 + i] = name##_rd(v);
    SET(y, 0, __ll2float, v) SET(y, 1, __ull2float, u) SET(z, 0, __ll2double, v) SET(z, 1, __ull2double, u)
}

//@ case: small_integer_to_float
//@ block: 4
//@ in x: np.array([2**24 + 1, -2**24 - 1, 2**31 - 1, 7], np.int32)
//@ out y: np.zeros((4, 4), np.float32)
//@ expect y: [[2**24, -2**24, 2.0**31, 7], [2**24 + 2, -2**24, 2.0**31, 7], [2**24, -2**24, 2.0**31 - 128, 7], [2**24, -2**24 - 2, 2.0**31 - 128, 7]]
extern "C" __global__ void k(const int *x, float *y) {
    int i = threadIdx.x;
    y[i] = __int2float_rn(x[i]); y[4 + i] = __int2float_ru(x[i]); y[8 + i] = __int2float_rz(x[i]); y[12 + i] = __int2float_rd(x[i]);
}

//@ case: double_to_float
//@ block: 6
//@ in x: np.array([1 + 2.0**-30, -1 - 2.0**-30, 1e300, -1e300, 1e-50, 0.5])
//@ out y: np.zeros((4, 6), np.float32)
//@ expect y: [[1, -1, np.inf, -np.inf, 0, 0.5], [1, -1, 3.4028234663852886e38, -3.4028234663852886e38, 0, 0.5],
//@+         [1 + 2.0**-23, -1, np.inf, -3.4028234663852886e38, 1e-45, 0.5], [1, -1 - 2.0**-23, 3.4028234663852886e38, -np.inf, 0, 0.5]]
extern "C" __global__ void k(const double *x, float *y) {
    int i = threadIdx.x;
    y[i] = __double2float_rn(x[i]); y[6 + i] = __double2float_rz(x[i]); y[12 + i] = __double2float_ru(x[i]); y[18 + i] = __double2float_rd(x[i]);
}

//@ case: halves_of_a_word
//@ block: 256
//@ in a: rng.integers(0, 2**32, 256).astype(np.uint32)
//@ in b: np.where(np.arange(256) % 4 == 0, rng.integers(0, 2**32, 256), np.roll(rng.integers(0, 2**32, 256), 1)).astype(np.uint32)
//@ out y: np.zeros((20, 256), np.uint32)
//@ expect y: lanes(a, b, 2)
#define ALL(n) \
    SET(0, __vadd##n) SET(1, __vsub##n) SET(2, __vaddss##n) SET(3, __vsubss##n) SET(4, __vaddus##n) SET(5, __vsubus##n) SET(6, __vabsdiffs##n) \
    SET(7, __vabsdiffu##n) SET(8, __vmaxs##n) SET(9, __vminu##n) SET(10, __vavgs##n) SET(11, __vavgu##n) SET(12, __vcmpeq##n) SET(13, __vcmpgts##n) \
    SET(14, __vcmpltu##n) SET(15, __vsetges##n) SET(16, __vhaddu##n)
#define SET(row, name) y[256 * row + i] = name(a[i], b[i]);
extern "C" __global__ void k(const unsigned *a, const unsigned *b, unsigned *y) {
    int i = threadIdx.x;
    ALL(2)
    y[256 * 17 + i] = __vabs2(a[i]); y[256 * 18 + i] = __vnegss2(a[i]); y[256 * 19 + i] = __vsadu2(a[i], b[i]);
}

//@ case: bytes_of_a_word
//@ block: 256
//@ in a: rng.integers(0, 2**32, 256).astype(np.uint32)
//@ in b: rng.integers(0, 2**32, 256).astype(np.uint32)
//@ out y: np.zeros((20, 256), np.uint32)
//@ expect y: lanes(a, b, 4)
#define ALL(n) \
    SET(0, __vadd##n) SET(1, __vsub##n) SET(2, __vaddss##n) SET(3, __vsubss##n) SET(4, __vaddus##n) SET(5, __vsubus##n) SET(6, __vabsdiffs##n) \
    SET(7, __vabsdiffu##n) SET(8, __vmaxs##n) SET(9, __vminu##n) SET(10, __vavgs##n) SET(11, __vavgu##n) SET(12, __vcmpeq##n) SET(13, __vcmpgts##n) \
    SET(14, __vcmpltu##n) SET(15, __vsetges##n) SET(16, __vhaddu##n)
#define SET(row, name) y[256 * row + i] = name(a[i], b[i]);
extern "C" __global__ void k(const unsigned *a, const unsigned *b, unsigned *y) {
    int i = threadIdx.x;
    ALL(4)
    y[256 * 17 + i] = __vabs4(a[i]); y[256 * 18 + i] = __vnegss4(a[i]); y[256 * 19 + i] = __vsadu4(a[i], b[i]);
}

//@ case: dynamic_programming
//@ block: 1
//@ out y: np.zeros(6, np.int32)
//@ expect y: [9, -3, 7, 0, 0x00050007, 5]
extern "C" __global__ void k(int *y) {
    bool first;
    y[0] = __vimax3_s32(3, 9, -4); y[1] = __vimin_s32_relu(-3, 5) - 3; y[2] = __viaddmax_s32(3, 4, 6); y[3] = __vimax_s32_relu(-3, -5);
    y[4] = __vimax3_u16x2(0x00050001, 0x00020007, 0); y[5] = __vibmax_s32(5, 4, &first) * first;
}
