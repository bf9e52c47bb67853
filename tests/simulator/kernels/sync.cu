// Threads that wait for each other in a block.

//@ case: reduction
//@ grid: 4
//@ block: 256
//@ in x: rng.random(1024)
//@ out y: np.zeros(4)
//@ expect y: x.reshape(4, 256).sum(1)
//@ rtol: 1e-13
extern "C" __global__ void k(const double *x, double *y) {
    __shared__ double s[256];
    unsigned t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    for (unsigned n = 128; n > 0; n /= 2) {
        __syncthreads();
        if (t < n) s[t] += s[t + n];
    }
    if (t == 0) y[blockIdx.x] = s[0];
}

//@ case: scan
//@ block: 128
//@ out y: rng.integers(0, 100, 128).astype(np.int32)
//@ expect y: np.cumsum(y)
extern "C" __global__ void k(int *y) {
    __shared__ int s[2][128];
    int t = threadIdx.x, now = 0;
    s[0][t] = y[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2, now ^= 1) {
        s[now ^ 1][t] = s[now][t] + (t >= d ? s[now][t - d] : 0);
        __syncthreads();
    }
    y[t] = s[now][t];
}

//@ case: counting_barriers
//@ block: 100
//@ in x: (np.arange(100) % 3 == 0).astype(np.int32)
//@ out y: np.zeros((3, 100), np.int32)
//@ expect y: [[34] * 100, [0] * 100, [1] * 100]
extern "C" __global__ void k(const int *x, int *y) {
    int p = x[threadIdx.x];
    y[threadIdx.x] = __syncthreads_count(p);
    y[100 + threadIdx.x] = __syncthreads_and(p) != 0;
    y[200 + threadIdx.x] = __syncthreads_or(p) != 0;
}

//@ case: early_return_before_a_barrier
//@ block: 64
//@ out y: np.zeros(64, np.int32)
//@ expect y: np.where(np.arange(64) < 40, 39 - np.arange(64), 0)
extern "C" __global__ void k(int *y) {
    __shared__ int s[64];
    if (threadIdx.x >= 40) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = s[39 - threadIdx.x];
}

//@ case: barrier_in_a_device_function_and_a_loop
//@ block: 48
//@ out y: np.zeros(48, np.int32)
//@ expect y: (np.arange(48) + 10) % 48
__device__ void rotate(int *s) {
    int v = s[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
}
extern "C" __global__ void k(int *y) {
    __shared__ int s[48];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int i = 0; i < 10; i++) rotate(s);
    y[threadIdx.x] = s[threadIdx.x];
}

//@ case: last_block_sums_up
//@ grid: 16
//@ block: 32
//@ in x: rng.integers(0, 1000, 512).astype(np.uint32)
//@ out partial: np.zeros(16, np.uint32)
//@ out count: np.zeros(1, np.uint32)
//@ out y: np.zeros(1, np.uint32)
//@ expect y: x.sum()
extern "C" __global__ void k(const unsigned *x, volatile unsigned *partial, unsigned *count, unsigned *y) {
    __shared__ bool last;
    unsigned v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = v;
        __threadfence();
        last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) sum += partial[i];
        *y = sum;
    }
}

//@ case: fences_and_volatile
//@ block: 64
//@ out y: np.zeros(1, np.int32)
//@ expect y: [64]
extern "C" __global__ void k(volatile int *y) {
    __shared__ volatile int turn;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    for (int i = 0; i < 64; i++) {
        if (i == (int)threadIdx.x) {
            y[0] = y[0] + 1;
            __threadfence_block();
            turn = turn + 1;
        }
        __syncthreads();
    }
    __threadfence_system();
}

//@ case: spin_lock
//@ grid: 8
//@ block: 1
//@ out lock: np.zeros(1, np.int32)
//@ out y: np.zeros(1, np.int32)
//@ expect y: [800]
extern "C" __global__ void k(int *lock, volatile int *y) {
    for (int i = 0; i < 100; i++) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *y = *y + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

//@ case: clocks
//@ block: 1
//@ out y: np.zeros(3, np.int64)
//@ check: y[0] >= 0 and y[1] >= 0 and y[2] == 1
extern "C" __global__ void k(long long *y) {
    long long a = clock64();
    clock_t c = clock();
    __nanosleep(100);
    y[0] = clock64() - a;
    y[1] = (unsigned)(clock() - c);
    y[2] = 1;
}
