// What programs write besides the plain forms of the language.

//@ case: static_device_members
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: np.arange(4) + 100 + 7
struct Config { static const int base = 100; static constexpr int off[3] = {5, 6, 7}; __device__ static int twice(int x); };
__device__ int Config::twice(int x) { return 2 * x; }
template <class T> __device__ T counter = T(0);
extern "C" __global__ void k(int *y) {
    int i = threadIdx.x;
    if (Config::twice(i) == 2 * i) y[i] = i + Config::base + Config::off[2];
    atomicAdd(&counter<int>, 1);
}

//@ case: switch_fallthrough_and_duff
//@ block: 16
//@ out y: np.zeros(16, np.int32)
//@ expect y: [sum(range(1, i + 1)) + (100 if i % 4 == 2 else 0) for i in range(16)]
extern "C" __global__ void k(int *y) {
    int n = threadIdx.x, s = 0, i = n, extra = 0;
    int rounds = (n + 3) / 4;
    if (n) switch (n % 4) {
    case 0: do { s += i--; [[fallthrough]];
    case 3: s += i--;
    case 2: s += i--;
    case 1: s += i--;
            } while (--rounds > 0);
    }
    switch (n & 3) { case 0: case 1: break; case 2: extra += 40; /* falls */ case 99: extra += 60; break; default: extra = 0; }
    y[threadIdx.x] = s + extra;
}

//@ case: goto_out_of_nested_loops
//@ block: 8
//@ out y: np.zeros(8, np.int32)
//@ expect y: [[10 * i + j for i in range(5) for j in range(5) if i * j >= t][0] for t in range(8)]
extern "C" __global__ void k(int *y) {
    int i, j = 0;
    for (i = 0; i < 5; i++) for (j = 0; j < 5; j++) if (i * j >= threadIdx.x) goto found;
    i = j = -1;
found:
    y[threadIdx.x] = 10 * i + j;
}

//@ case: goto_with_barrier
//@ block: 64
//@ out y: np.zeros(64, np.int32)
//@ expect y: np.arange(63, -1, -1) + 3
extern "C" __global__ void k(int *y) {
    __shared__ int s[64];
    int n = 0;
again:
    s[threadIdx.x] = threadIdx.x + n;
    __syncthreads();
    int v = s[63 - threadIdx.x];
    __syncthreads();
    if (++n < 4) goto again;
    y[threadIdx.x] = v;
}

//@ case: device_function_pointer_table_constant
//@ block: 9
//@ in x: np.arange(9, dtype=np.float32)
//@ out y: np.zeros(9, np.float32)
//@ expect y: [x[0] + 2, x[1] - 2, x[2] * 2] + [x[3] + 2, x[4] - 2, x[5] * 2] + [x[6] + 2, x[7] - 2, x[8] * 2]
typedef float (*op_t)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ op_t const table[3] = {add, sub, mul};
__device__ op_t chosen = mul;
extern "C" __global__ void k(const float *x, float *y) { op_t f = table[threadIdx.x % 3]; y[threadIdx.x] = threadIdx.x % 3 == 2 ? (*chosen)(x[threadIdx.x], 2.f) : f(x[threadIdx.x], 2.f); }

//@ case: pointer_to_member_and_crtp
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: [1, 12, 23, 34]
template <class D> struct Base { __device__ int run(int x) const { return static_cast<const D *>(this)->impl(x); } };
struct D1 : Base<D1> { int v = 1; __device__ int impl(int x) const { return v + x; } __device__ int other(int x) const { return 11 * x + v; } };
extern "C" __global__ void k(int *y) {
    D1 d; int (D1::*m)(int) const = threadIdx.x ? &D1::other : &D1::impl; int D1::*pv = &D1::v;
    y[threadIdx.x] = (d.*m)(threadIdx.x) - 1 + d.*pv;
}

//@ case: fold_expressions_and_index_sequence
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: [0 + 10, 6 + 10, 12 + 10, 18 + 10]
template <int... I> struct Seq {};
template <int N, int... I> struct Make : Make<N - 1, N - 1, I...> {};
template <int... I> struct Make<0, I...> { using type = Seq<I...>; };
template <class... A> __device__ constexpr auto sum(A... a) { return (a + ... + 0); }
template <int... I> __device__ int scaled(int x, Seq<I...>) { return sum((I * x)...); }
extern "C" __global__ void k(int *y) { y[threadIdx.x] = scaled(threadIdx.x, typename Make<4>::type{}) + sum(1, 2, 3, 4); }

//@ case: if_constexpr_and_traits_by_hand
//@ block: 2
//@ out y: np.zeros(2)
//@ expect y: [7.5, 21]
template <class A, class B> struct same { enum { value = 0 }; };
template <class A> struct same<A, A> { enum { value = 1 }; };
template <class T> inline constexpr bool is_float_v = same<T, float>::value || same<T, double>::value;
template <class T> __device__ auto pick(T x) { if constexpr (is_float_v<T>) return x * 2.5; else if constexpr (sizeof(T) == 4) { return x * 7; } else static_assert(sizeof(T) == 4); }
extern "C" __global__ void k(double *y) { y[0] = pick(3.0f); y[1] = pick(3); }

//@ case: structured_bindings_tuple_like
//@ block: 8
//@ out y: np.zeros((8, 2), np.int32)
//@ expect y: [[i // 3, i % 3] for i in range(8)]
struct QR { int q, r; };
__device__ QR divmod(int a, int b) { return {a / b, a % b}; }
extern "C" __global__ void k(int (*y)[2]) {
    auto [q, r] = divmod(threadIdx.x, 3);
    auto &[a, b] = y[threadIdx.x];
    if (int t = q; t >= 0) a = t;
    b = r;
}

//@ case: constant_struct_array_indexed
//@ block: 6
//@ out y: np.zeros(6, np.float32)
//@ expect y: [0.5, 1.5, 12, 0.5, 1.5, 12]
struct __align__(16) Material { float4 color; float n; unsigned flags : 4, kind : 12; enum Kind { A, B } e; };
__constant__ Material mats[] = {{{0.5f, 0, 0, 0}, 1, 3, 1, Material::A}, {{1.5f}, 2, 0, 2, Material::B}, {{1, 2, 3, 4}, 3, 15, 0xfff, Material::B}};
extern "C" __global__ void k(float *y) {
    const Material &m = mats[threadIdx.x % 3];
    y[threadIdx.x] = m.kind == 0xfff && m.flags == 15 ? m.color.w * m.n : m.color.x;
}

//@ case: anonymous_union_type_punning
//@ block: 8
//@ in x: np.array([0, 1, -1, 0.5, 2, -2, 1e30, -1e-30], np.float32)
//@ out y: np.zeros((8, 3), np.int32)
//@ expect y: np.stack([(x.view(np.uint32) >> 31), (x.view(np.uint32) >> 23) & 255, x.view(np.uint32) & 0x7fffff], 1)
union Bits { float f; struct { unsigned mantissa : 23, exponent : 8, sign : 1; }; unsigned u; };
extern "C" __global__ void k(const float *x, int *y) {
    Bits b; b.f = x[threadIdx.x];
    int *p = &y[3 * threadIdx.x]; *p++ = b.sign; *p++ = b.exponent; *p = b.mantissa;
}

//@ case: dynamic_shared_carved_by_alignment
//@ block: 32
//@ shared: 32*8 + 32*4 + 32*2 + 32
//@ out y: np.zeros(32)
//@ expect y: 4.0 * np.arange(31, -1, -1)
extern "C" __global__ void k(double *y) {
    extern __shared__ __align__(8) unsigned char raw[];
    double *d = reinterpret_cast<double *>(raw); float *f = (float *)(d + blockDim.x); short *h = (short *)&f[blockDim.x]; char *c = (char *)(h + blockDim.x);
    const int t = threadIdx.x;
    d[t] = t; f[t] = t; h[t] = t; c[t] = t;
    __syncthreads();
    const int r = blockDim.x - 1 - t;
    y[t] = d[r] + f[r] + h[r] + c[r];
}

//@ case: two_extern_shared_names_one_memory
//@ block: 32
//@ shared: 128
//@ out y: np.zeros(32, np.uint32)
//@ expect y: np.arange(32, dtype=np.float32).view(np.uint32)
__device__ void store(int i, float v) { extern __shared__ float as_float[]; as_float[i] = v; }
__device__ unsigned load(int i) { extern __shared__ unsigned as_word[]; return as_word[i]; }
extern "C" __global__ void k(unsigned *y) { store(threadIdx.x, threadIdx.x); __syncthreads(); y[threadIdx.x] = load(threadIdx.x); }

//@ case: shared_struct_with_arrays_and_union
//@ block: 64
//@ out y: np.zeros(64, np.int32)
//@ expect y: np.arange(64)[::-1] * 2
template <int N> struct Storage { union { int load[N]; struct { int lo[N / 2], hi[N / 2]; } exch; }; int total; };
extern "C" __global__ void k(int *y) {
    __shared__ Storage<64> st;
    st.load[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) st.total = 2;
    __syncthreads();
    int r = 63 - threadIdx.x;
    int v = r < 32 ? st.exch.lo[r] : st.exch.hi[r - 32];
    y[threadIdx.x] = v * st.total;
}

//@ case: shared_reference_alias_and_multidim
//@ block: (8, 8)
//@ out y: np.zeros((8, 8), np.int32)
//@ expect y: np.arange(64).reshape(8, 8).T
extern "C" __global__ void k(int *y) {
    __shared__ int tile[2][8][8 + 1], count;
    auto &mine = tile[1];
    int(&row)[9] = mine[threadIdx.y];
    row[threadIdx.x] = threadIdx.y * 8 + threadIdx.x;
    if (threadIdx.x + threadIdx.y == 0) count = 0;
    __syncthreads();
    y[threadIdx.y * 8 + threadIdx.x] = mine[threadIdx.x][threadIdx.y] + count;
}

//@ case: half2_arithmetic_program
//@ block: 32
//@ in x: (rng.random(64) * 4).astype(np.float16)
//@ out y: np.zeros(64, np.float16)
//@ expect y: np.maximum((x.astype(np.float32) * 2 + 1).astype(np.float16), np.float16(3))
#include <cuda_fp16.h>
extern "C" __global__ void k(const __half *x, __half *y) {
    const __half2 *x2 = reinterpret_cast<const __half2 *>(x);
    half2 v = x2[threadIdx.x];
    half2 r = __hfma2(v, __float2half2_rn(2.f), __half2half2(__int2half_rn(1)));
    r = __hmax2(r, __halves2half2(half(3.f), half(3.f)));
    half lo = __low2half(r), hi = __high2half(r);
    if (__hgt(lo, hi) && __hisnan(lo)) lo = hi;
    reinterpret_cast<half2 *>(y)[threadIdx.x] = make_half2(lo, hi);
}

//@ case: half_operators_mixed
//@ block: 16
//@ in x: np.arange(16).astype(np.float16)
//@ out y: np.zeros(16, np.float32)
//@ expect y: (x.astype(np.float32) + 1) * 2 - x.astype(np.float32) / 4
//@ rtol: 1e-3
#include <cuda_fp16.h>
extern "C" __global__ void k(const half *x, float *y) {
    half a = x[threadIdx.x];
    half b = (a + half(1)) * __float2half(2.0f);
    b -= a / half(4); half c = b; c++; --c; 
    if (c != b && !(c < b)) b = -c;
    y[threadIdx.x] = (float)c;
}

//@ case: atomic_max_float_by_cas_loop
//@ grid: 4
//@ block: 128
//@ in x: rng.standard_normal(512).astype(np.float32)
//@ out y: np.full(2, -1e30, np.float32)
//@ expect y: [x.max(), x.max()]
__device__ static float atomicMaxF(float *address, float val) {
    int *address_as_int = (int *)address, old = *address_as_int, assumed;
    while (val > __int_as_float(old)) { assumed = old; old = ::atomicCAS(address_as_int, assumed, __float_as_int(val)); if (old == assumed) break; }
    return __int_as_float(old);
}
__device__ inline void atomicMax2(float *a, float v) { v >= 0 ? (float)atomicMax((int *)a, __float_as_int(v)) : (float)atomicMin((unsigned *)a, __float_as_uint(v)); }
extern "C" __global__ void k(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; atomicMaxF(y, x[i]); atomicMax2(y + 1, x[i]); }

//@ case: atomic_add_double_cas_and_short
//@ grid: 2
//@ block: 64
//@ out y: np.zeros(1)
//@ out z: np.zeros(2, np.uint16)
//@ expect y: [sum(range(128)) / 2]
//@ expect z: [0, 128]
__device__ double atomicAddD(double *address, double val) {
    unsigned long long int *address_as_ull = (unsigned long long int *)address, old = *address_as_ull, assumed;
    do { assumed = old; old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed))); } while (assumed != old);
    return __longlong_as_double(old);
}
extern "C" __global__ void k(double *y, unsigned short *z) {
    atomicAddD(y, 0.5 * (blockIdx.x * blockDim.x + threadIdx.x));
    unsigned short old = z[1], assumed;
    do { assumed = old; old = atomicCAS(z + 1, assumed, (unsigned short)(assumed + 1)); } while (old != assumed);
}

//@ case: ldg_and_vector_loads
//@ block: 8
//@ in x: np.arange(64, dtype=np.int32)
//@ out y: np.zeros(64, np.int32)
//@ expect y: x * 3
extern "C" __global__ void k(const int *__restrict__ x, int *__restrict__ y) {
    const int4 *p = reinterpret_cast<const int4 *>(x) + 2 * threadIdx.x;
    int4 a = __ldg(p), b = __ldcs(p + 1);
    a.x *= 3; a.y *= 3; a.z *= 3; a.w *= 3;
    longlong2 l; int *q = (int *)&l; q[0] = b.x * 3; q[1] = b.y * 3; q[2] = b.z * 3; q[3] = b.w * 3;
    __stwt((int4 *)y + 2 * threadIdx.x, a);
    ((longlong2 *)y)[2 * threadIdx.x + 1] = l;
}

//@ case: macros_that_write_kernels
//@ block: 4
//@ kernel: run_double
//@ out y: np.zeros(4)
//@ expect y: np.arange(4) * 3.0
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define STR(x) #x
#define FOR_TYPES(M) M(int) M(float) M(double)
#define IDX (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL(T) extern "C" __global__ void CAT(run_, T)(T *y) { const char *name = STR(T); y[IDX] = (T)(IDX * 3 + (name[0] == 0)); }
FOR_TYPES(KERNEL)

//@ case: nested_namespaces_using_and_inline
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: np.arange(4) + 6
namespace a::b { namespace { __device__ int one() { return 1; } } inline namespace v1 { __device__ int two() { return 2; } } namespace detail { __constant__ int three = 3; } }
namespace ab = a::b; using ab::two; using namespace a::b::detail;
namespace kernels { extern "C" __global__ void k(int *y) { y[::threadIdx.x] = int(threadIdx.x) + ab::one() + ::two() + three; } }

//@ case: recursion_ackermann_and_trees
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: [3, 5, 7, 9]
__device__ int ack(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
extern "C" __global__ void k(int *y) { y[threadIdx.x] = ack(2, threadIdx.x); }

//@ case: local_struct_operator_overload_conversion
//@ block: 4
//@ out y: np.zeros(4, np.float32)
//@ expect y: [1, 4, 7, 10]
extern "C" __global__ void k(float *y) {
    struct Dual { float v, d; __device__ Dual operator*(const Dual &o) const { return {v * o.v, v * o.d + d * o.v}; } __device__ Dual &operator+=(float f) { v += f; return *this; } __device__ explicit operator float() const { return d; } };
    Dual x{(float)threadIdx.x, 1.f}; Dual c{1.f, 0.f};
    Dual z = x * c; z = x * z; z += 1;
    y[threadIdx.x] = float(z) + z.v / z.v + (float)threadIdx.x;
}

//@ case: dim3_arithmetic_and_uint3
//@ grid: (2, 3)
//@ block: (4, 2, 2)
//@ out y: np.zeros(96, np.uint32)
//@ expect y: np.arange(96)
__device__ unsigned flat(uint3 i, dim3 d) { return (i.z * d.y + i.y) * d.x + i.x; }
extern "C" __global__ void k(unsigned *y) {
    uint3 t = threadIdx; dim3 b = blockDim, g(gridDim);
    const dim3 *pb = &b;
    unsigned n = pb->x * pb->y * b.z;
    unsigned i = flat(blockIdx, g) * n + flat(t, b);
    y[i] = i;
}

//@ case: grid_stride_with_size_t_and_long_long
//@ grid: 3
//@ block: 32
//@ in n: np.int64(1000)
//@ out y: np.zeros(1000, np.int64)
//@ expect y: np.arange(1000) * 4_000_000_000
extern "C" __global__ void k(long long n, long long *y) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, stride = (size_t)gridDim.x * blockDim.x; i < (size_t)n; i += stride) y[i] = (long long)i * 4000000000LL;
}

//@ case: volatile_warp_reduction_with_syncwarp
//@ block: 64
//@ in x: rng.random(64).astype(np.float32)
//@ out y: np.zeros(1, np.float32)
//@ expect y: [x.sum()]
//@ rtol: 1e-5
__device__ void warpReduce(volatile float *s, int t) {
    float v = s[t];
    v += s[t + 32]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 16]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 8]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 4]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 2]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 1]; __syncwarp(); s[t] = v;
}
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[96];
    s[threadIdx.x] = x[threadIdx.x]; if (threadIdx.x < 32) s[threadIdx.x + 64] = 0;
    __syncthreads();
    if (threadIdx.x < 32) warpReduce(s, threadIdx.x);
    if (threadIdx.x == 0) y[0] = s[0];
}

//@ case: cooperative_reduce_include_style
//@ grid: 2
//@ block: 96
//@ in x: rng.integers(0, 50, 192).astype(np.int32)
//@ out y: np.zeros((2, 3), np.int32)
//@ expect y: [[x[:96].sum(), x[:96].max(), x[:32].sum()], [x[96:].sum(), x[96:].max(), x[96:128].sum()]]
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int *x, int *y) {
    cg::thread_block cta = cg::this_thread_block();
    auto tile32 = cg::tiled_partition<32>(cta);
    __shared__ int sums[3], maxs[3];
    int v = x[blockIdx.x * blockDim.x + cta.thread_rank()];
    int s = cg::reduce(tile32, v, cg::plus<int>()), m = cg::reduce(tile32, v, cg::greater<int>{});
    if (tile32.thread_rank() == 0) { sums[tile32.meta_group_rank()] = s; maxs[tile32.meta_group_rank()] = m; }
    cg::sync(cta);
    if (cta.thread_rank() == 0) { y[3 * blockIdx.x] = sums[0] + sums[1] + sums[2]; y[3 * blockIdx.x + 1] = max(maxs[0], max(maxs[1], maxs[2])); y[3 * blockIdx.x + 2] = sums[0]; }
}

//@ case: aggregated_filter_coalesced
//@ grid: 4
//@ block: 64
//@ in x: rng.integers(-50, 50, 256).astype(np.int32)
//@ out y: np.zeros(256, np.int32)
//@ out n: np.zeros(1, np.int32)
//@ check: n[0] == (x > 0).sum() and sorted(y[:n[0]]) == sorted(x[x > 0])
#include <cooperative_groups.h>
using namespace cooperative_groups;
__device__ int atomicAggInc(int *ptr) {
    coalesced_group g = coalesced_threads();
    int prev;
    if (g.thread_rank() == 0) prev = atomicAdd(ptr, g.size());
    prev = g.thread_rank() + g.shfl(prev, 0);
    return prev;
}
extern "C" __global__ void k(const int *src, int *dst, int *nres) { int i = threadIdx.x + blockIdx.x * blockDim.x; if (src[i] > 0) dst[atomicAggInc(nres)] = src[i]; }

//@ case: match_based_histogram
//@ block: 64
//@ in x: rng.integers(0, 4, 64).astype(np.int32)
//@ out y: np.zeros(4, np.int32)
//@ expect y: np.bincount(x, minlength=4)
extern "C" __global__ void k(const int *x, int *y) {
    unsigned m = __match_any_sync(__activemask(), x[threadIdx.x]);
    if (__ffs(m) - 1 == (threadIdx.x & 31)) atomicAdd(y + x[threadIdx.x], __popc(m));
}

//@ case: inline_ptx_common
//@ block: 32
//@ out y: np.zeros((32, 5), np.uint32)
//@ expect y: np.stack([np.arange(32), 1 << np.arange(32), (1 << np.arange(32)) - 1, np.arange(32) * 3 + 7, (np.arange(32) >> 2) & 7], 1)
__device__ __forceinline__ unsigned laneid() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lt() { unsigned r; asm volatile("mov.u32 %0, %lanemask_lt;" : "=r"(r)); return r; }
__device__ unsigned bfe(unsigned x, unsigned b, unsigned n) { unsigned r; asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(b), "r"(n)); return r; }
extern "C" __global__ void k(unsigned *y) {
    unsigned *p = y + 5 * threadIdx.x, eq, mad;
    asm("mov.u32 %0, %lanemask_eq;" : "=r"(eq));
    asm("{\n\t.reg .u32 t;\n\tmul.lo.u32 t, %1, 3;\n\tadd.u32 %0, t, %2;\n\t}" : "=r"(mad) : "r"(laneid()), "n"(7));
    p[0] = laneid(); p[1] = eq; p[2] = lt(); p[3] = mad; p[4] = bfe(laneid(), 2, 3);
}

//@ case: texture_object_bilinear_image
//@ block: (8, 8)
//@ texture t: dict(data=np.arange(64, dtype=np.float32).reshape(8, 8)[..., None], filter='linear', address='clamp')
//@ out y: np.zeros((8, 8), np.float32)
//@ expect y: [[min(i + .5, 7) * 8 + min(j + .5, 7) for j in range(8)] for i in range(8)]
extern "C" __global__ void k(cudaTextureObject_t t, float *y) {
    float u = threadIdx.x + 1.0f, v = threadIdx.y + 1.0f;
    y[threadIdx.y * 8 + threadIdx.x] = tex2D<float>(t, u, v);
}

//@ case: surface_write_uchar4_swap
//@ block: (4, 4)
//@ surface s: dict(data=np.arange(64, dtype=np.uint8).reshape(4, 4, 4))
//@ expect s: np.arange(64, dtype=np.uint8).reshape(4, 4, 4)[..., ::-1]
extern "C" __global__ void k(cudaSurfaceObject_t s) {
    uchar4 c; surf2Dread(&c, s, threadIdx.x * sizeof(uchar4), threadIdx.y);
    surf2Dwrite(make_uchar4(c.w, c.z, c.y, c.x), s, (int)(threadIdx.x * sizeof(uchar4)), threadIdx.y, cudaBoundaryModeTrap);
}

//@ case: default_template_args_alias_variable_template
//@ block: 4
//@ out y: np.zeros(4, np.float32)
//@ expect y: np.arange(4) * np.float32(3.14159274)
template <class T> constexpr T pi_v = T(3.14159265358979323846L);
template <class T = float, int Scale = 1> using Fn = T (*)(T);
template <class T> __device__ T times_pi(T x) { return x * pi_v<T>; }
extern "C" __global__ void k(float *y) { Fn<> f = times_pi<float>; y[threadIdx.x] = f(threadIdx.x); }

//@ case: generic_lambda_recursive_and_mutable
//@ options: -default-device
//@ block: 6
//@ out y: np.zeros(6, np.int32)
//@ expect y: [1 + 3, 1 + 3, 2 + 3, 6 + 3, 24 + 3, 120 + 3]
extern "C" __global__ void k(int *y) {
    auto fact = [](auto self, int n) -> int { return n < 2 ? 1 : n * self(self, n - 1); };
    int c = 0;
    auto next = [n = 0]() mutable { return n += 1; };
    auto call = [&c](auto &&f, auto... v) { c += f(v...); };
    call([](int a, int b) { return a + b; }, next(), next());
    y[threadIdx.x] = fact(fact, threadIdx.x) + c;
}

//@ case: enum_class_and_constexpr_table
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: [0, 1, 4, 9]
enum class Op : unsigned char { Sq = 2, Id };
struct Table { int v[16]; __device__ constexpr Table() : v() { for (int i = 0; i < 16; ++i) v[i] = i * i; } };
__constant__ constexpr Table squares{};
template <Op o> __device__ int apply(int x) { switch (o) { case Op::Sq: return squares.v[x]; case Op::Id: return x; } return -1; }
extern "C" __global__ void k(int *y) { static_assert(Table().v[3] == 9); y[threadIdx.x] = apply<Op::Sq>(threadIdx.x); }

//@ case: raw_string_and_comments_in_odd_places
//@ block: 1
//@ out y: np.zeros(2, np.int32)
//@ expect y: [1, 5]
extern "C" __global__ /* a kernel */ void // its name
k /* (int *z) */ (int * /* out */ y /* } */) {
    const char *s = R"x(__shared__ int a[3]; "); // <<<1,1>>> )x";
    int n = 0; for (; s[n]; ++n) ;
    y[0] = n > 20; y[1] = '"' == 34 ? 5 : '\'' ; // "
}

//@ case: trailing_return_decltype_auto_noexcept
//@ block: 3
//@ out y: np.zeros(3, np.int32)
//@ expect y: [0, 2, 4]
template <class A, class B> __host__ __device__ auto add(A a, B b) noexcept -> decltype(a + b) { return a + b; }
__device__ [[nodiscard]] constexpr decltype(auto) same(const int &x) noexcept { return (x); }
extern "C" __global__ auto k(int *y) -> void { int t = threadIdx.x; y[t] = add(same(t), (short)t); }

//@ case: old_style_texture_free_macros_and_align_structs
//@ block: 4
//@ in p: np.array([(i, i * 2, i * 0.5) for i in range(4)], np.dtype([('a', 'u1'), ('b', '<i4'), ('c', '<f8')], align=True))
//@ out y: np.zeros(4)
//@ expect y: [0, 3.5, 7, 10.5]
typedef struct { unsigned char a; int b; double c; } Rec;
static_assert(sizeof(Rec) == 16 && __alignof__(Rec) == 8, "layout");
extern "C" __global__ void k(const Rec *p, double *y) { Rec r = p[threadIdx.x]; y[threadIdx.x] = r.a + r.b + r.c; }
