// Numbers of 16 bits: __half, __half2, __nv_bfloat16, __nv_bfloat162.

#include <cuda_fp16.h>
#include <cuda_bf16.h>

//@ case: every_half_to_float
//@ grid: 256
//@ block: 256
//@ in x: np.arange(65536, dtype=np.uint16).view(np.float16)
//@ out y: np.zeros(65536, np.float32)
//@ expect y: x
extern "C" __global__ void k(const __half *x, float *y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] = __half2float(x[i]); }

//@ case: float_to_half
//@ grid: 16
//@ block: 256
//@ in x: np.r_[rng.normal(size=2048) * 10.0 ** rng.integers(-8, 6, 2048), half_ties(2040), 65504, 65519.9, 65520, -65520, 2.0**-25, 2.0**-24 * 1.5, 0, -0.0].astype(np.float32)
//@ out y: np.zeros(4096, np.float16)
//@ out z: np.zeros(4096, np.float16)
//@ expect y: to_half(x)
//@ expect z: to_half(x)
extern "C" __global__ void k(const float *x, __half *y, half *z) {
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = __float2half(x[i]);
    z[i] = x[i];
}

//@ case: directed_rounding
//@ block: 6
//@ in x: np.array([1 + 2.0**-12, -1 - 2.0**-12, 1e6, -1e6, 1e-9, 3], np.float32)
//@ out y: np.zeros((3, 6), np.float16)
//@ expect y: [[1, -1, 65504, -65504, 0, 3], [1 + 2.0**-10, -1, np.inf, -65504, 2.0**-24, 3], [1, -1 - 2.0**-10, 65504, -np.inf, 0, 3]]
extern "C" __global__ void k(const float *x, __half *y) {
    int i = threadIdx.x;
    y[i] = __float2half_rz(x[i]); y[6 + i] = __float2half_ru(x[i]); y[12 + i] = __float2half_rd(x[i]);
}

//@ case: operators
//@ block: 256
//@ in a: rng.normal(size=256).astype(np.float16)
//@ in b: rng.normal(size=256).astype(np.float16)
//@ out y: np.zeros((6, 256), np.float16)
//@ expect y: [a + b, a - b, a * b, a / b, -a, a + np.float16(1)]
extern "C" __global__ void k(const half *a, const half *b, half *y) {
    int i = threadIdx.x;
    half x = a[i], z = b[i];
    y[i] = x + z; y[256 + i] = x - z; y[512 + i] = x * z; y[768 + i] = x / z; y[1024 + i] = -x;
    x++;
    y[1280 + i] = x;
}

//@ case: intrinsics
//@ block: 64
//@ in a: rng.normal(size=64).astype(np.float16)
//@ in b: rng.normal(size=64).astype(np.float16)
//@ out y: np.zeros((8, 64), np.float16)
//@ expect y: [a + b, a - b, a * b, a / b, np.maximum(a, b), np.minimum(a, b), np.abs(a), np.clip(a + b, 0, 1)]
extern "C" __global__ void k(const half *a, const half *b, half *y) {
    int i = threadIdx.x;
    half r[8] = {__hadd(a[i], b[i]), __hsub(a[i], b[i]), __hmul(a[i], b[i]), __hdiv(a[i], b[i]), __hmax(a[i], b[i]), __hmin(a[i], b[i]), __habs(a[i]), __hadd_sat(a[i], b[i])};
    for (int j = 0; j < 8; j++) y[64 * j + i] = r[j];
}

//@ case: fused_multiply_add
//@ block: 256
//@ in a: rng.normal(size=256).astype(np.float16)
//@ in b: rng.normal(size=256).astype(np.float16)
//@ in c: (rng.normal(size=256) * 10.0 ** rng.integers(-6, 3, 256)).astype(np.float16)
//@ out y: np.zeros((2, 256), np.float16)
//@ expect y: [half_fma(a, b, c), np.maximum(half_fma(a, b, c), 0)]
extern "C" __global__ void k(const half *a, const half *b, const half *c, half *y) {
    int i = threadIdx.x;
    y[i] = __hfma(a[i], b[i], c[i]);
    y[256 + i] = __hfma_relu(a[i], b[i], c[i]);
}

//@ case: pairs
//@ block: 32
//@ in a: rng.normal(size=(32, 2)).astype(np.float16)
//@ in b: rng.normal(size=(32, 2)).astype(np.float16)
//@ out y: np.zeros((8, 32, 2), np.float16)
//@ expect y: [a + b, a * b, half_fma(a, b, a), a[:, ::-1], np.stack([a[:, 0], a[:, 0]], 1), np.stack([a[:, 1], b[:, 1]], 1), np.abs(a) / b, a - b]
extern "C" __global__ void k(const half2 *a, const half2 *b, half2 *y) {
    int i = threadIdx.x;
    half2 r[8] = {__hadd2(a[i], b[i]), a[i] * b[i], __hfma2(a[i], b[i], a[i]), __lowhigh2highlow(a[i]), __low2half2(a[i]), __highs2half2(a[i], b[i]),
                  __h2div(__habs2(a[i]), b[i]), __hsub2(a[i], b[i])};
    for (int j = 0; j < 8; j++) y[32 * j + i] = r[j];
}

//@ case: comparisons
//@ block: 4
//@ in a: np.array([1, 2, np.nan, -0.0], np.float16)
//@ in b: np.array([1, 3, 1, 0], np.float16)
//@ out y: np.zeros((8, 4), np.int32)
//@ expect y: [[1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0], [0, 1, 1, 0]]
extern "C" __global__ void k(const half *a, const half *b, int *y) {
    int i = threadIdx.x;
    half x = a[i], z = b[i];
    y[i] = x == z; y[4 + i] = __hlt(x, z); y[8 + i] = x < z; y[12 + i] = __hequ(x, z); y[16 + i] = __hltu(x, z); y[20 + i] = __hle(x, z);
    y[24 + i] = __hisnan(x); y[28 + i] = x != z;
}

//@ case: comparisons_of_pairs
//@ block: 1
//@ in a: np.array([1, 2], np.float16)
//@ out y: np.zeros(6, np.uint32)
//@ expect y: [0x00003c00, 0, 0xffff0000, 1, 0x3c003c00, 0xffff]
extern "C" __global__ void k(const half2 *a, unsigned *y) {
    half2 x = *a, z = __floats2half2_rn(1, 3), r = __heq2(x, z), s = __hle2(x, z);
    y[0] = *(unsigned *)&r; y[1] = __hbeq2(x, z); y[2] = __hlt2_mask(x, z); y[3] = __hble2(x, z); y[4] = *(unsigned *)&s; y[5] = __heq2_mask(x, z);
}

//@ case: whole_numbers
//@ block: 6
//@ in x: np.array([-2.5, -0.5, 0.5, 1.5, 60000, -7], np.float16)
//@ out y: np.zeros((6, 6), np.int32)
//@ expect y: [[-2, 0, 0, 2, 60000, -7], [-2, 0, 0, 1, 60000, -7], [-2, 0, 1, 2, 60000, -7], [-3, -1, 0, 1, 60000, -7], [0, 0, 0, 2, 60000, 0], [-2, 0, 0, 2, 32767, -7]]
extern "C" __global__ void k(const half *x, int *y) {
    int i = threadIdx.x;
    y[i] = __half2int_rn(x[i]); y[6 + i] = __half2int_rz(x[i]); y[12 + i] = __half2int_ru(x[i]); y[18 + i] = __half2int_rd(x[i]);
    y[24 + i] = __half2uint_rn(x[i]); y[30 + i] = __half2short_rn(x[i]);
}

//@ case: from_whole_numbers
//@ block: 6
//@ in x: np.array([2049, 2051, -2049, 65519, 65520, 7], np.int32)
//@ out y: np.zeros((3, 6), np.float16)
//@ expect y: [[2048, 2052, -2048, 65504, np.inf, 7], [2050, 2052, -2048, np.inf, np.inf, 7], [2048, 2052, -2048, 65504, np.inf, 7]]
extern "C" __global__ void k(const int *x, half *y) {
    int i = threadIdx.x;
    y[i] = __int2half_rn(x[i]); y[6 + i] = __int2half_ru(x[i]); y[12 + i] = __ll2half_rn(x[i]);
}

//@ case: bits_and_float_pairs
//@ block: 1
//@ out y: np.zeros(7, np.float32)
//@ expect y: [1, 0x4000, 0.5, 0.25, 3, 4, 7]
extern "C" __global__ void k(float *y) {
    y[0] = __half2float(__ushort_as_half(0x3c00)); y[1] = __half_as_ushort(__float2half(2.0f));
    half2 h = __float22half2_rn(make_float2(0.5f, 0.25f));
    float2 f = __half22float2(h);
    y[2] = f.x; y[3] = f.y; y[4] = __low2float(__halves2half2(__float2half(3.0f), __float2half(4.0f))); y[5] = __high2float(make_half2(__float2half(3.0f), __float2half(4.0f)));
    y[6] = __half2float(__double2half(7.0));
}

//@ case: functions
//@ block: 64
//@ in x: np.linspace(0.1, 3, 64).astype(np.float16)
//@ out y: np.zeros((12, 64), np.float16)
//@ expect y: [f(x.astype(float)) for f in (np.sin, np.cos, np.exp, np.exp2, np.log, np.log2, np.sqrt, np.floor, np.ceil, np.trunc, np.tanh)] + [1 / x]
//@ rtol: 1.5e-3
//@ atol: 1e-3
extern "C" __global__ void k(const half *x, half *y) {
    int i = threadIdx.x;
    half v = x[i], r[12] = {hsin(v), hcos(v), hexp(v), hexp2(v), hlog(v), hlog2(v), hsqrt(v), hfloor(v), hceil(v), htrunc(v), h2tanh(__half2half2(v)).x, hrcp(v)};
    for (int j = 0; j < 12; j++) y[64 * j + i] = r[j];
}

//@ case: shuffle_and_atomics
//@ out y: np.zeros(32, np.float16)
//@ out s: np.zeros((2, 2), np.float16)
//@ expect y: np.arange(32) ^ 1
//@ expect s: [[32, 64], [16, 0]]
extern "C" __global__ void k(half *y, half2 *s) {
    y[threadIdx.x] = __shfl_xor_sync(~0u, __int2half_rn(threadIdx.x), 1);
    atomicAdd(&s[0], __floats2half2_rn(1, 2));
    atomicAdd((half *)&s[1], __float2half(0.5f));
}

//@ case: bfloat16_to_float
//@ grid: 256
//@ block: 256
//@ in x: np.arange(65536, dtype=np.uint16)
//@ out y: np.zeros(65536, np.float32)
//@ expect y: (x.astype(np.uint32) << 16).view(np.float32)
extern "C" __global__ void k(const __nv_bfloat16 *x, float *y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] = __bfloat162float(x[i]); }

//@ case: float_to_bfloat16
//@ block: 512
//@ in x: np.r_[rng.normal(size=506) * 10.0 ** rng.integers(-30, 30, 506), 1 + 2.0**-8, 1 + 3 * 2.0**-8, 3.4e38, -3.4e38, 1e-40, 0].astype(np.float32)
//@ out y: np.zeros(512, np.uint16)
//@ expect y: to_bfloat16(x)
extern "C" __global__ void k(const float *x, __nv_bfloat16 *y) { y[threadIdx.x] = __float2bfloat16(x[threadIdx.x]); }

//@ case: bfloat16_arithmetic
//@ block: 128
//@ in a: to_bfloat16(rng.normal(size=128).astype(np.float32))
//@ in b: to_bfloat16(rng.normal(size=128).astype(np.float32))
//@ out y: np.zeros((6, 128), np.uint16)
//@ expect y: [to_bfloat16(v) for v in (bf(a) + bf(b), bf(a) - bf(b), bf(a) * bf(b), bf(a) / bf(b), np.maximum(bf(a), bf(b)), np.abs(bf(a)))]
extern "C" __global__ void k(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *y) {
    int i = threadIdx.x;
    y[i] = a[i] + b[i]; y[128 + i] = __hsub(a[i], b[i]); y[256 + i] = a[i] * b[i]; y[384 + i] = __hdiv(a[i], b[i]); y[512 + i] = __hmax(a[i], b[i]);
    y[640 + i] = __habs(a[i]);
}

//@ case: bfloat16_pairs
//@ block: 1
//@ out y: np.zeros(8, np.float32)
//@ expect y: [4, 6, 3, 8, 5, 9, 2, 1]
extern "C" __global__ void k(float *y) {
    __nv_bfloat162 a = __floats2bfloat162_rn(1, 2), b = __floats2bfloat162_rn(3, 4), s = __hadd2(a, b), p = a * b, f = __hfma2(a, b, __bfloat162bfloat162(__float2bfloat16(2.0f)));
    float2 v = __bfloat1622float2(s);
    y[0] = v.x; y[1] = v.y; y[2] = __low2float(p); y[3] = __high2float(p); y[4] = __low2float(f); y[5] = __high2float(f) - 1;
    y[6] = __bfloat162int_rz(__float2bfloat16(2.5f)); y[7] = a < b;
}
