// Shuffles, votes, matches and reductions.

//@ case: shfl
//@ block: 64
//@ out y: np.arange(64, dtype=np.int32) * 10
//@ expect y: np.r_[[50] * 32, [370] * 32]
extern "C" __global__ void k(int *y) { y[threadIdx.x] = __shfl_sync(0xffffffffu, y[threadIdx.x], 5); }

//@ case: shfl_with_width
//@ out y: np.zeros((4, 32), np.int32)
//@ expect y: [np.arange(32) // 8 * 8 + 3, shuffle_up(8, 2), shuffle_down(8, 2), shuffle_xor(8, 3)]
extern "C" __global__ void k(int *y) {
    int t = threadIdx.x;
    y[t] = __shfl_sync(~0u, t, 11, 8);
    y[32 + t] = __shfl_up_sync(~0u, t, 2, 8);
    y[64 + t] = __shfl_down_sync(~0u, t, 2, 8);
    y[96 + t] = __shfl_xor_sync(~0u, t, 3, 8);
}

//@ case: shfl_xor_beyond_its_segment
//@ out y: np.zeros((2, 32), np.int32)
//@ expect y: [shuffle_xor(8, 12), shuffle_xor(32, 31)]
extern "C" __global__ void k(int *y) {
    y[threadIdx.x] = __shfl_xor_sync(~0u, (int)threadIdx.x, 12, 8);
    y[32 + threadIdx.x] = __shfl_xor_sync(~0u, (int)threadIdx.x, 31);
}

//@ case: shfl_at_the_ends
//@ out y: np.zeros((3, 32), np.int32)
//@ expect y: [shuffle_up(32, 1), shuffle_down(32, 31), np.arange(32)]
extern "C" __global__ void k(int *y) {
    int t = threadIdx.x;
    y[t] = __shfl_up_sync(~0u, t, 1);
    y[32 + t] = __shfl_down_sync(~0u, t, 31);
    y[64 + t] = __shfl_sync(~0u, t, t + 32);
}

//@ case: shfl_of_every_type
//@ out y: np.zeros((7, 32))
//@ expect y: [-(np.arange(32) ^ 1), np.arange(32) ^ 1, (np.arange(32) ^ 1) * 2.0**40, (np.arange(32) ^ 1) * 0.5, (np.arange(32) ^ 1) * 0.25,
//@+         (np.arange(32) ^ 1) * -2.0**33, np.arange(32) ^ 1]
extern "C" __global__ void k(double *y) {
    int t = threadIdx.x;
    y[t] = __shfl_xor_sync(~0u, -t, 1);
    y[32 + t] = __shfl_xor_sync(~0u, (unsigned)t, 1);
    y[64 + t] = __shfl_xor_sync(~0u, (unsigned long long)t << 40, 1);
    y[96 + t] = __shfl_xor_sync(~0u, t * 0.5f, 1);
    y[128 + t] = __shfl_xor_sync(~0u, t * 0.25, 1);
    y[160 + t] = __shfl_xor_sync(~0u, -((long long)t << 33), 1);
    y[192 + t] = __shfl_xor_sync(~0u, (unsigned long)t, 1);
}

//@ case: warp_sum
//@ block: 256
//@ in x: rng.random(256, np.float32)
//@ out y: np.zeros(8, np.float32)
//@ expect y: x.reshape(8, 32).sum(1)
//@ rtol: 1e-5
extern "C" __global__ void k(const float *x, float *y) {
    float v = x[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = v;
}

//@ case: votes
//@ block: 96
//@ out y: np.zeros((3, 96), np.uint32)
//@ expect y: [[0x55555555] * 32 + [0] * 32 + [0xffffffff] * 32, [1] * 32 + [0] * 32 + [1] * 32, [0] * 64 + [1] * 32]
extern "C" __global__ void k(unsigned *y) {
    int t = threadIdx.x, p = t < 32 ? t % 2 == 0 : t >= 64;
    y[t] = __ballot_sync(~0u, p);
    y[96 + t] = __any_sync(~0u, p) != 0;
    y[192 + t] = __all_sync(~0u, p) != 0;
}

//@ case: part_of_a_warp
//@ out y: np.zeros(32, np.uint32)
//@ expect y: [0xff if i < 8 else 0xffffff00 for i in range(32)]
extern "C" __global__ void k(unsigned *y) {
    if (threadIdx.x < 8) y[threadIdx.x] = __ballot_sync(0xffu, 1);
    else y[threadIdx.x] = __ballot_sync(0xffffff00u, 1);
}

//@ case: block_that_is_no_multiple_of_32
//@ block: 40
//@ out y: np.zeros(40, np.uint32)
//@ expect y: [0xffffffff] * 32 + [0xff] * 8
extern "C" __global__ void k(unsigned *y) { y[threadIdx.x] = __ballot_sync(threadIdx.x < 32 ? ~0u : 0xffu, 1); }

//@ case: match_any
//@ in x: np.array([3, 1, 3, 2] * 8, np.int32)
//@ out y: np.zeros((2, 32), np.uint32)
//@ expect y: [[0x55555555, 0x22222222, 0x55555555, 0x88888888] * 8] * 2
extern "C" __global__ void k(const int *x, unsigned *y) {
    y[threadIdx.x] = __match_any_sync(~0u, x[threadIdx.x]);
    y[32 + threadIdx.x] = __match_any_sync(~0u, x[threadIdx.x] * 0.5);
}

//@ case: match_all
//@ out y: np.zeros((4, 32), np.uint32)
//@ expect y: [[0xffffffff] * 32, [1] * 32, [0] * 32, [0] * 32]
extern "C" __global__ void k(unsigned *y) {
    int p, q;
    y[threadIdx.x] = __match_all_sync(~0u, 7ll, &p);
    y[32 + threadIdx.x] = p;
    y[64 + threadIdx.x] = __match_all_sync(~0u, threadIdx.x / 31, &q);
    y[96 + threadIdx.x] = q;
}

//@ case: reduce
//@ in x: rng.integers(-1000, 1000, 32).astype(np.int32)
//@ out y: np.zeros(7, np.int64)
//@ expect y: [x.sum(), x.min(), x.max(), np.uint32(x.view(np.uint32).sum()), np.bitwise_and.reduce(x.view(np.uint32)),
//@+         np.bitwise_or.reduce(x.view(np.uint32)), np.bitwise_xor.reduce(x.view(np.uint32))]
extern "C" __global__ void k(const int *x, long long *y) {
    int v = x[threadIdx.x];
    unsigned u = v;
    long long r[7] = {__reduce_add_sync(~0u, v), __reduce_min_sync(~0u, v), __reduce_max_sync(~0u, v), __reduce_add_sync(~0u, u),
                      __reduce_and_sync(~0u, u), __reduce_or_sync(~0u, u), __reduce_xor_sync(~0u, u)};
    if (threadIdx.x == 9) for (int i = 0; i < 7; i++) y[i] = r[i];
}

//@ case: reduce_unsigned_order
//@ in x: np.array([2**31 + 5] + [7] * 31, np.uint32)
//@ out y: np.zeros(2, np.uint32)
//@ expect y: [7, 2**31 + 5]
extern "C" __global__ void k(const unsigned *x, unsigned *y) {
    unsigned a = __reduce_min_sync(~0u, x[threadIdx.x]), b = __reduce_max_sync(~0u, x[threadIdx.x]);
    if (threadIdx.x == 0) { y[0] = a; y[1] = b; }
}

//@ case: syncwarp
//@ out y: np.zeros(32, np.int32)
//@ expect y: np.arange(32)[::-1]
extern "C" __global__ void k(int *y) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    y[threadIdx.x] = s[31 - threadIdx.x];
}

//@ case: activemask
//@ block: 64
//@ out y: np.zeros(64, np.uint32)
//@ expect y: [0xffffffff] * 64
extern "C" __global__ void k(unsigned *y) { y[threadIdx.x] = __activemask(); }

//@ case: activemask_of_branches_that_compilers_merge
//@ out y: np.zeros(32, np.uint32)
//@ expect y: [0x55555555, 0xaaaaaaaa] * 16
extern "C" __global__ void k(unsigned *y) {
    if (threadIdx.x % 2 == 0)
        y[threadIdx.x] = __activemask();
    else
        y[threadIdx.x] = __activemask();
}

//@ case: aggregated_atomics
//@ block: 128
//@ in x: (np.arange(128) % 3 == 0).astype(np.int32)
//@ out n: np.zeros(1, np.int32)
//@ out y: np.full(128, -1, np.int32)
//@ expect n: [43]
//@ check: sorted(y[y >= 0]) == list(range(0, 128, 3))
__device__ int next(int *n) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, lane = threadIdx.x % 32, base;
    if (lane == leader) base = atomicAdd(n, __popc(active));
    base = __shfl_sync(active, base, leader);
    return base + __popc(active & ((1u << lane) - 1));
}
extern "C" __global__ void k(const int *x, int *n, int *y) {
    if (x[threadIdx.x]) y[next(n)] = threadIdx.x;
}

//@ case: bitonic_sort_in_a_warp
//@ out y: rng.permutation(32).astype(np.int32)
//@ expect y: np.arange(32)
extern "C" __global__ void k(int *y) {
    int v = y[threadIdx.x], t = threadIdx.x;
    for (int size = 2; size <= 32; size *= 2) {
        for (int d = size / 2; d > 0; d /= 2) {
            int other = __shfl_xor_sync(~0u, v, d);
            bool up = (t & size) == 0, low = (t & d) == 0;
            v = (up == low) ? min(v, other) : max(v, other);
        }
    }
    y[t] = v;
}
