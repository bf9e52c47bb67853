// Atomic functions.

//@ case: add
//@ grid: 4
//@ block: 64
//@ out i: np.array([-5], np.int32)
//@ out u: np.array([2**32 - 10], np.uint32)
//@ out l: np.array([2**40], np.uint64)
//@ out f: np.zeros(1, np.float32)
//@ out d: np.zeros(1, np.float64)
//@ expect i: [-5 - 256]
//@ expect u: [246]
//@ expect l: [2**40 + 256 * 2**33]
//@ expect f: [128]
//@ expect d: [64]
extern "C" __global__ void k(int *i, unsigned *u, unsigned long long *l, float *f, double *d) {
    atomicAdd(i, -1);
    atomicAdd(u, 1u);
    atomicAdd(l, 1ull << 33);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
}

//@ case: add_returns_the_old_value
//@ grid: 3
//@ block: 50
//@ out n: np.zeros(1, np.int32)
//@ out y: np.zeros(150, np.int32)
//@ expect y: np.ones(150)
extern "C" __global__ void k(int *n, int *y) { y[atomicAdd(n, 1)] += 1; }

//@ case: histogram
//@ grid: 8
//@ block: 128
//@ in x: rng.integers(0, 16, 1024).astype(np.uint8)
//@ out y: np.zeros(16, np.uint32)
//@ expect y: np.bincount(x, minlength=16)
extern "C" __global__ void k(const unsigned char *x, unsigned *y) {
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[x[blockIdx.x * 128 + threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
}

//@ case: sub_inc_dec
//@ block: 100
//@ out y: np.array([1000, 5, 0, 3], np.uint32)
//@ expect y: [900, (5 + 100) % 8, 100 % 7 and 7 - 100 % 8 + 1, 3]
extern "C" __global__ void k(unsigned *y) {
    atomicSub(&y[0], 1u);
    atomicInc(&y[1], 7u);
    atomicDec(&y[2], 7u);
}

//@ case: min_max
//@ grid: 2
//@ block: 64
//@ in x: rng.integers(-2**31, 2**31, 128).astype(np.int32)
//@ out i: np.array([0, 0], np.int32)
//@ out u: np.array([2**32 - 1, 0], np.uint32)
//@ out l: np.array([0, 0], np.int64)
//@ out m: np.array([2**64 - 1, 0], np.uint64)
//@ expect i: [min(0, x.min()), max(0, x.max())]
//@ expect u: [x.view(np.uint32).min(), x.view(np.uint32).max()]
//@ expect l: [min(0, int(x.min())) * 2**20, max(0, int(x.max())) * 2**20]
//@ expect m: [int(x.view(np.uint32).min()) << 31, int(x.view(np.uint32).max()) << 31]
extern "C" __global__ void k(const int *x, int *i, unsigned *u, long long *l, unsigned long long *m) {
    int v = x[blockIdx.x * 64 + threadIdx.x];
    atomicMin(&i[0], v); atomicMax(&i[1], v);
    atomicMin(&u[0], (unsigned)v); atomicMax(&u[1], (unsigned)v);
    atomicMin(&l[0], (long long)v << 20); atomicMax(&l[1], (long long)v << 20);
    atomicMin(&m[0], (unsigned long long)(unsigned)v << 31); atomicMax(&m[1], (unsigned long long)(unsigned)v << 31);
}

//@ case: and_or_xor
//@ out y: np.array([2**32 - 1, 0, 0], np.uint32)
//@ out l: np.array([2**64 - 1, 0, 0], np.uint64)
//@ expect y: [0, 2**32 - 1, 2**32 - 1]
//@ expect l: [2**32 - 1, (2**32 - 1) << 32, (2**32 - 1) << 16]
extern "C" __global__ void k(unsigned *y, unsigned long long *l) {
    unsigned bit = 1u << threadIdx.x;
    atomicAnd(&y[0], ~bit); atomicOr(&y[1], bit); atomicXor(&y[2], bit);
    atomicAnd(&l[0], ~((unsigned long long)bit << 32)); atomicOr(&l[1], (unsigned long long)bit << 32); atomicXor(&l[2], (unsigned long long)bit << 16);
}

//@ case: and_or_xor_of_64_bits
//@ block: 60
//@ out s: np.array([-1, 0, -(2**40)], np.int64)
//@ expect s: [-(2**60), 2**60 - 1, -(2**40) ^ (2**60 - 1)]
extern "C" __global__ void k(long long *s) {
    const long long bit = 1ll << threadIdx.x;
    atomicAnd(&s[0], ~bit);
    atomicOr_block(&s[1], bit);
    atomicXor_system(&s[2], bit);
}

//@ case: exchange
//@ out y: np.array([100], np.int32)
//@ out f: np.array([0.5], np.float32)
//@ out old: np.zeros(32, np.int32)
//@ check: sorted([*old, y[0]]) == [*range(32), 100] and f[0] in range(32)
extern "C" __global__ void k(int *y, float *f, int *old) {
    old[threadIdx.x] = atomicExch(y, (int)threadIdx.x);
    atomicExch(f, (float)threadIdx.x);
}

//@ case: compare_and_swap
//@ block: 64
//@ out y: np.array([0], np.uint64)
//@ out h: np.zeros(2, np.uint16)
//@ out d: np.zeros(1)
//@ expect y: [64]
//@ expect h: [0, 64]
//@ expect d: [32]
__device__ void add(double *p, double v) {
    unsigned long long *a = (unsigned long long *)p, old = *a, assumed;
    do {
        assumed = old;
        old = atomicCAS(a, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
    } while (assumed != old);
}
extern "C" __global__ void k(unsigned long long *y, unsigned short *h, double *d) {
    unsigned long long old = *y, seen;
    while ((seen = atomicCAS(y, old, old + 1)) != old) old = seen;
    unsigned short s = h[1], t;
    while ((t = atomicCAS(&h[1], s, (unsigned short)(s + 1))) != s) s = t;
    add(d, 0.5);
}

//@ case: scopes
//@ block: 32
//@ out y: np.zeros(4, np.int32)
//@ expect y: [32, 32, 31, -31]
extern "C" __global__ void k(int *y) {
    atomicAdd_block(&y[0], 1);
    atomicAdd_system(&y[1], 1);
    atomicMax_block(&y[2], (int)threadIdx.x);
    atomicMin_system(&y[3], -(int)threadIdx.x);
}

//@ case: vectors
//@ block: 32
//@ out y: np.zeros((2, 4), np.float32)
//@ expect y: [[32, 64, 96, 128], [16, 8, 0, 0]]
extern "C" __global__ void k(float4 *y) {
    atomicAdd(&y[0], make_float4(1, 2, 3, 4));
    atomicAdd((float2 *)&y[1], make_float2(0.5f, 0.25f));
}

//@ case: loads_and_stores_with_hints
//@ block: 8
//@ in x: np.arange(32, dtype=np.float32)
//@ out y: np.zeros((4, 8), np.float32)
//@ expect y: [np.arange(8) * 5 + 6, np.arange(8), np.arange(8), np.arange(8) * 4 + 3]
extern "C" __global__ void k(const float *x, float *y) {
    int t = threadIdx.x;
    float4 v = __ldg((const float4 *)x + t);
    __stcs(y + t, v.w + v.x - 3 * t + 3);
    __stcg(y + 8 + t, __ldcg(x + t));
    __stwb(y + 16 + t, __ldca(x + t));
    __stwt(y + 24 + t, __ldcs((const float4 *)x + t).w);
}
