// Launches: indices, arguments, variables, shared memory.

//@ case: saxpy
//@ grid: 5
//@ block: 64
//@ in a: np.float32(2.5)
//@ in x: rng.random(300, np.float32)
//@ out y: rng.random(300, np.float32)
//@ in n: np.int32(300)
//@ expect y: 2.5 * x + y
//@ rtol: 2e-7
extern "C" __global__ void k(float a, const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

//@ case: indices_in_three_dimensions
//@ grid: (2, 3, 4)
//@ block: (4, 2, 3)
//@ out y: np.zeros((24, 24), np.uint32)
//@ expect y: np.arange(24 * 24).reshape(24, 24)
extern "C" __global__ void k(unsigned *y) {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    y[block * 24 + thread] = block * 24 + thread;
}

//@ case: indices_in_device_functions
//@ grid: 3
//@ block: 40
//@ out y: np.zeros(120, np.int32)
//@ expect y: np.arange(120) * 2
static __device__ __forceinline__ int here() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __noinline__ int twice() { return 2 * here(); }
extern "C" __global__ void k(int *y) { y[here()] = twice(); }

//@ case: builtin_types
//@ out y: np.zeros(6, np.int32)
//@ block: 1
//@ expect y: [4, 12, 12, 4, 32, 1]
extern "C" __global__ void k(int *y) {
    auto t = threadIdx.x;
    static_assert(sizeof(t) == 4 && decltype(t)(-1) > 0, "unsigned");
    y[0] = sizeof t;
    y[1] = sizeof(uint3);
    y[2] = sizeof(dim3);
    t += 4;
    y[3] = t;
    y[4] = warpSize;
    dim3 d(1, 1);
    y[5] = d.z;
}

//@ case: grid_stride_loop
//@ grid: 2
//@ block: 32
//@ in n: np.int32(1000)
//@ out y: np.arange(1000, dtype=np.float64)
//@ expect y: np.sqrt(y)
//@ ulp: 1
extern "C" __global__ void k(int n, double *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = sqrt(y[i]);
}

//@ case: scalars_of_every_type
//@ block: 1
//@ in a: np.int8(-3)
//@ in b: np.uint64(2**63 + 5)
//@ in c: np.int16(-300)
//@ in d: np.float64(0.5)
//@ in e: np.bool_(True)
//@ in f: np.float32(-7.25)
//@ in g: np.uint8(200)
//@ in h: np.int64(-2**40)
//@ out y: np.zeros(8)
//@ expect y: [-3, 2.0**63, -300, 0.5, 1, -7.25, 200, -2.0**40]
extern "C" __global__ void k(signed char a, unsigned long long b, short c, double d, bool e, float f, unsigned char g, long long h, double *y) {
    y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e; y[5] = f; y[6] = g; y[7] = h;
}

//@ case: structure_argument
//@ block: 4
//@ in s: np.array([(7, 2.5, (1, 2, 3))], np.dtype([("a", "i4"), ("b", "f8"), ("c", "i2", 3)], align=True))[0]
//@ out y: np.zeros(4)
//@ expect y: np.arange(4) * 2.5 + 7 + 6
struct S { int a; double b; short c[3]; };
extern "C" __global__ void k(S s, double *y) { y[threadIdx.x] = threadIdx.x * s.b + s.a + s.c[0] + s.c[1] + s.c[2]; }

//@ case: vector_argument
//@ block: 1
//@ in v: np.array([(1, 2, 3, 4)], np.dtype({"names": "xyzw", "formats": ["f4"] * 4}))[0]
//@ out y: np.zeros(4, np.float32)
//@ expect y: [4, 3, 2, 1]
extern "C" __global__ void k(float4 v, float *y) { *(float4 *)y = make_float4(v.w, v.z, v.y, v.x); }

//@ case: grid_constant_argument
//@ block: 3
//@ in s: np.array([((5, 6, 7),)], np.dtype([("a", "i4", 3)]))[0]
//@ out y: np.zeros(3, np.int32)
//@ expect y: [5, 6, 7]
struct S { int a[3]; };
__device__ int at(const S &s, int i) { return s.a[i]; }
extern "C" __global__ void k(const __grid_constant__ S s, int *y) { y[threadIdx.x] = at(s, threadIdx.x); }

//@ case: constant_memory
//@ block: 5
//@ out y: np.zeros(5, np.float32)
//@ expect y: [1, 4, 9, 16, 25]
__constant__ float table[5] = {1, 4, 9, 16, 25};
extern "C" __global__ void k(float *y) { y[threadIdx.x] = table[threadIdx.x]; }

//@ case: device_variables
//@ block: 64
//@ out y: np.zeros(2, np.int32)
//@ expect y: [64, 2016]
__device__ int count = 0;
static __device__ int sums[2];
extern "C" __global__ void k(int *y) {
    atomicAdd(&count, 1);
    atomicAdd(&sums[1], (int)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) {
        y[0] = count;
        y[1] = sums[1];
    }
}

//@ case: managed_variable
//@ block: 1
//@ out y: np.zeros(1, np.int32)
//@ expect y: [42]
__managed__ int m = 41;
extern "C" __global__ void k(int *y) { *y = ++m; }

//@ case: static_shared_memory
//@ grid: 3
//@ block: 64
//@ in x: rng.integers(0, 100, 192).astype(np.int32)
//@ out y: np.zeros(192, np.int32)
//@ expect y: x.reshape(3, 64)[:, ::-1].ravel()
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = s[63 - threadIdx.x];
}

//@ case: dynamic_shared_memory
//@ block: 96
//@ shared: 96 * 8
//@ out y: np.arange(96, dtype=np.float64)
//@ expect y: np.roll(y, -1)
extern __shared__ double s[];
extern "C" __global__ void k(double *y) {
    s[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
}

//@ case: dynamic_shared_memory_in_parts
//@ block: 32
//@ shared: 32 * 4 + 32
//@ out y: np.zeros(32, np.float32)
//@ expect y: np.arange(32)[::-1] * 1.5 + np.arange(32)[::-1]
extern "C" __global__ void k(float *y) {
    extern __shared__ __align__(16) unsigned char bytes[];
    float *f = (float *)bytes;
    unsigned char *c = bytes + 32 * sizeof(float);
    f[threadIdx.x] = threadIdx.x * 1.5f;
    c[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = f[31 - threadIdx.x] + c[31 - threadIdx.x];
}

//@ case: shared_structure_in_device_function
//@ block: 32
//@ out y: np.arange(32, dtype=np.int32)
//@ expect y: np.arange(32) ^ 1
struct Pair { int a, b; };
__device__ int swap(int v) {
    __shared__ Pair p[16];
    if (threadIdx.x & 1) p[threadIdx.x / 2].b = v; else p[threadIdx.x / 2].a = v;
    __syncthreads();
    return threadIdx.x & 1 ? p[threadIdx.x / 2].a : p[threadIdx.x / 2].b;
}
extern "C" __global__ void k(int *y) { y[threadIdx.x] = swap(y[threadIdx.x]); }

//@ case: launch_bounds
//@ block: 128
//@ out y: np.zeros(128, np.int32)
//@ expect y: np.arange(128) + 1
extern "C" __global__ void __launch_bounds__(128, 2) k(int *y) {
#pragma unroll 4
    for (int i = 0; i <= (int)threadIdx.x; i++) y[threadIdx.x]++;
}

//@ case: mangled_name
//@ block: 8
//@ kernel: _Z7doublesPfi
//@ out y: np.arange(8, dtype=np.float32)
//@ in n: np.int32(5)
//@ expect y: np.where(np.arange(8) < 5, 2 * y, y)
__global__ void doubles(float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] *= 2; }

//@ case: instantiated_outside_of_its_namespace
//@ block: 32
//@ kernel: _ZN5outer5inner4fillIiEEvPT_i
//@ out y: np.zeros(32, np.int32)
//@ in n: np.int32(20)
//@ expect y: np.where(np.arange(32) < 20, np.arange(32), y)
namespace outer { namespace inner {
template <class T> __global__ void fill(T *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = threadIdx.x; }
}
template <int N> __global__ __launch_bounds__(N) void turn(int *y, int n) {
    __shared__ int s[N];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = s[N - 1 - threadIdx.x];
} }
template __global__ void outer::inner::fill<int>(int *, int);
template __global__ void ::outer::turn<32>(int *, int);

//@ case: instantiated_outside_of_its_namespace_behind_a_barrier
//@ block: 32
//@ kernel: _ZN5outer4turnILi32EEEvPii
//@ out y: np.zeros(32, np.int32)
//@ in n: np.int32(20)
//@ expect y: np.where(np.arange(32) < 20, 31 - np.arange(32), y)
namespace outer { namespace inner {
template <class T> __global__ void fill(T *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = threadIdx.x; }
}
template <int N> __global__ __launch_bounds__(N) void turn(int *y, int n) {
    __shared__ int s[N];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = s[N - 1 - threadIdx.x];
} }
template __global__ void outer::inner::fill<int>(int *, int);
template __global__ void ::outer::turn<32>(int *, int);

//@ case: inline_kernels
//@ block: 32
//@ kernel: turn
//@ out y: np.zeros(32, np.int32)
//@ in n: np.int32(20)
//@ expect y: np.where(np.arange(32) < 20, 31 - np.arange(32), y)
__global__ inline void fill(int *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = threadIdx.x; }
inline __global__ void stride(int *y, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = i; }
static __forceinline__ __device__ int other(int i) { return 31 - i; }
extern "C" __global__ __inline__ void turn(int *y, int n) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = s[other(threadIdx.x)];
}

//@ case: transpose
//@ grid: (3, 2)
//@ block: (16, 16)
//@ in x: rng.random((32, 48), np.float32)
//@ out y: np.zeros((48, 32), np.float32)
//@ expect y: x.T
#define TILE 16
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float tile[TILE][TILE + 1];
    tile[threadIdx.y][threadIdx.x] = x[(blockIdx.y * TILE + threadIdx.y) * 48 + blockIdx.x * TILE + threadIdx.x];
    __syncthreads();
    y[(blockIdx.x * TILE + threadIdx.y) * 32 + blockIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

//@ case: matrix_product
//@ grid: (2, 2)
//@ block: (16, 16)
//@ in a: rng.random((32, 32), np.float32)
//@ in b: rng.random((32, 32), np.float32)
//@ out c: np.zeros((32, 32), np.float32)
//@ expect c: a.astype(float) @ b
//@ rtol: 1e-5
extern "C" __global__ void k(const float *a, const float *b, float *c) {
    __shared__ float s[16][16], t[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < 2; tile++) {
        s[threadIdx.y][threadIdx.x] = a[row * 32 + tile * 16 + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(tile * 16 + threadIdx.y) * 32 + column];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[row * 32 + column] = sum;
}

//@ case: macros_of_the_compiler
//@ block: 1
//@ out y: np.zeros(3, np.int32)
//@ check: y[0] >= 700 and y[1] == 1 and y[2] >= 12
extern "C" __global__ void k(int *y) {
    y[0] = __CUDA_ARCH__;
#ifdef __CUDACC__
    y[1] = 1;
#endif
    y[2] = __CUDACC_VER_MAJOR__;
}

//@ case: spaces_of_addresses
//@ block: 2
//@ shared: 64
//@ out y: np.zeros((2, 5), np.int32)
//@ expect y: [[1, 0, 1, 1, 1]] * 2
extern "C" __global__ void k(int *y) {
    __shared__ int s[2];
    extern __shared__ int d[];
    int local[4] = {(int)threadIdx.x};
    int *o = y + 5 * threadIdx.x;
    o[0] = __isGlobal(y) != 0;
    o[1] = __isShared(y) != 0;
    o[2] = __isShared(s + 1) != 0;
    o[3] = __isShared(d + threadIdx.x) != 0;
    o[4] = __isLocal(local + threadIdx.x) != 0;
}

//@ case: address_of_a_shared_array
//@ block: 4
//@ shared: 32
//@ out y: np.zeros((5, 4), np.int32)
//@ expect y: [[3, 2, 1, 0], [7, 6, 5, 4], [3, 2, 1, 0], [1, 1, 1, 1], [5, 5, 5, 5]]
extern __shared__ char space[];
__device__ int *whole() { return (int *)&space; }
__device__ void one(int *p) { *p = 1; }
__device__ int shadowed() { int space; one((int *)&space); return space; }
__device__ int parameter(int (&space)[1]) { int *p = (int *)&space; return *p; }
extern "C" __global__ void k(int *y) {
    int *first = (int *)&space, *second = (int *)&first[blockDim.x], i = threadIdx.x, n = blockDim.x, five[1] = {5};
    first[i] = i;
    second[i] = 4 + i;
    __syncthreads();
    y[i] = first[n - 1 - i];
    y[n + i] = second[n - 1 - i];
    y[2 * n + i] = reinterpret_cast<int *>(&space)[n - 1 - i] + (whole() != (int *)space);
    y[3 * n + i] = shadowed();
    y[4 * n + i] = parameter(five);
}
