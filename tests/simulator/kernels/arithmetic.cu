// Where C++ leaves open what a GPU does: shifts by all bits or more, conversions of what is too large.

//@ case: shifts
//@ block: 64
//@ in n: np.arange(64, dtype=np.int32) * 2
//@ out y: np.zeros((8, 64), np.int32)
//@ out z: np.zeros((4, 64), np.int64)
//@ expect y: [shift(1, n, 32), shift(1, n, 32) - 1, shift(-77, -n, 32), shift(0x80000001, -n, 32), shift(200, n, 32), shift(-1, n + 32, 32),
//@+ shift(12, -n, 32), shift(3, n, 32) % 2**16]
//@ expect z: [shift(1, n, 64), shift(-5, -n, 64), shift(2**63 + 1, -n, 64), shift(0x123456789, n + 3, 64)]
struct Bits { unsigned low : 5; int high : 9; };
template <int N, int M = 1 << N> struct Table { int v[M]; };
enum Flags { NONE = 0, ONE = 1 << 0, BIG = (int)3.7f << 2 };
__device__ int shifted(int x, int n) { return x << n; }
extern "C" __global__ void k(const int *n, int *y, long long *z) {
    int i = threadIdx.x, s = n[i];
    y[i] = 1 << s;
    y[64 + i] = (1u << s) - 1;
    y[128 + i] = -77 >> s;
    y[192 + i] = 0x80000001u >> s;
    unsigned char c = 200;
    y[256 + i] = c << s;
    y[320 + i] = shifted(-1, s + 32);
    Bits b{12, -3};
    y[384 + i] = b.low >> s;
    y[448 + i] = (unsigned short)(3u << s);
    z[i] = 1ll << s;
    z[64 + i] = -5ll >> s;
    z[128 + i] = ((1ull << 63) + 1) >> s;
    z[192 + i] = 0x123456789ull << s + 3;
    static_assert(sizeof(Table<4>) == 64 && BIG == 12 && (Flags)(ONE << 3) == 8, "constant expressions");
    static_assert((-1 >> 3) == -1 && sizeof((char)1 << 2) == 4 && (7 >> 1) >> 1 == 1, "types");
}

//@ case: shifts_beside_templates
//@ block: 1
//@ in n: np.int32(5)
//@ out y: np.zeros(11, np.int32)
//@ expect y: [2, 1, 8, 5 + 4, 5 - 4, 15, 20, 3, 1, 40, 7]
template <class T> struct Wrapped { T value; };
struct Number {
    int v;
    __device__ Number operator<<(int n) const { return Number{v + n}; }
    __device__ Number operator>>(int n) const { return Number{v - n}; }
};
__device__ Number operator<<(Number a, Number b) { return Number{a.v * b.v}; }
struct Like { int v; __device__ operator int() const { return v; } };
template <int N> __device__ int constant() { return N; }
extern "C" __global__ void k(int n, int *y) {
    Wrapped<Wrapped<int>> w{{n}};
    y[0] = w.value.value >> n - 4;
    y[1] = n < 6 && 9 >> n - 2 > 0;
    y[2] = 1 << Like{3};
    y[3] = (Number{n} << n - 1).v;
    y[4] = (Number{n} >> n - 1).v;
    y[5] = (Number{3} << Number{n}).v;
    y[6] = Like{n} << n - 3;
    int a = 96;
    a >>= n;
    y[7] = a;
    a <<= n;
    y[8] = a == 96;
    y[9] = 80 >> 1 >> n - 5 << 0;
    y[10] = constant<(448 >> 6)>();
}

//@ case: conversions
//@ block: 16
//@ in x: np.array([0, -0.5, 2.9, -2.9, 255.5, 256, 70000, -1, -70000, 2e9, 3e9, -3e9, 5e9, np.inf, -np.inf, np.nan], np.float32)
//@ in d: np.array([0, -0.5, 2.9, -2.9, 255.5, 256, 70000, -1, -70000, 2e9, 3e9, -3e9, 1e19, np.inf, -np.inf, 9e18])
//@ out y: np.zeros((10, 16), np.int32)
//@ out z: np.zeros((4, 16), np.int64)
//@ expect y: [f(v) for f, v in ((s32, x), (u32, x), (s32, x), (s32, d), (u32, d))] + [u32(x) % 256, u32(x) % 2**16, s32(x).astype(np.int8),
//@+ s32(d).astype(np.int16), s32(x) + 1]
//@ expect z: [saturated(d, -2**63, 2**63 - 1), saturated(d, 0, 2**64 - 1), s32(x), u32(d)]
extern "C" __global__ void k(const float *x, const double *d, int *y, long long *z) {
    int i = threadIdx.x;
    float v = x[i];
    y[i] = (int)v;
    y[16 + i] = (unsigned)v;
    y[32 + i] = static_cast<int>(v);
    y[48 + i] = int(d[i]);
    y[64 + i] = (unsigned int)(d[i]);
    y[80 + i] = (unsigned char)v;
    y[96 + i] = (unsigned short)x[i];
    y[112 + i] = (signed char)v;
    y[128 + i] = static_cast<short>(d[i]);
    auto same = (int)v;
    static_assert(sizeof((short)v) == 2 && sizeof((long long)v) == 8 && (int)-2.9f == -2 && int(7.9) == 7, "types and constants");
    y[144 + i] = (unsigned)same + 1u;
    z[i] = (long long)d[i];
    z[16 + i] = (unsigned long long)d[i];
    z[32 + i] = (int)(float)x[i];
    z[48 + i] = (unsigned)d[i];
}
