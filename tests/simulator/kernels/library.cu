// NVIDIA's C++ library, of which the simulator has the parts that kernels use most; and asynchronous copies.

//@ case: cp_async_pipeline
//@ block: 32
//@ in x: rng.standard_normal(256).astype(np.float32)
//@ out y: np.zeros(32, np.float32)
//@ expect y: x.reshape(8, 32).sum(0)
//@ rtol: 1e-5
//@ atol: 1e-6
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[2][32];
    float sum = 0;
    __pipeline_memcpy_async(&s[0][threadIdx.x], x + threadIdx.x, sizeof(float));
    __pipeline_commit();
    for (int i = 0; i < 8; i++) {
        if (i + 1 < 8) {
            __pipeline_memcpy_async(&s[(i + 1) & 1][threadIdx.x], x + (i + 1) * 32 + threadIdx.x, 4);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        } else __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[i & 1][threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

//@ case: cuda_atomic
//@ grid: 4
//@ block: 64
//@ out y: np.zeros(4, np.int32)
//@ expect y: [256, 255, 1, 0]
#include <cuda/atomic>
extern "C" __global__ void k(int *y) {
    cuda::atomic_ref<int, cuda::thread_scope_device> n(y[0]), m(y[1]);
    n.fetch_add(1, cuda::memory_order_relaxed);
    m.fetch_max((int)(blockIdx.x * blockDim.x + threadIdx.x));
    __shared__ cuda::atomic<int, cuda::thread_scope_block> s;
    if (threadIdx.x == 0) new (&s) cuda::atomic<int, cuda::thread_scope_block>(0);
    __syncthreads();
    s++;
    __syncthreads();
    if (threadIdx.x == 0) y[2] = s.load(cuda::std::memory_order_acquire) == 64;
    int zero = 5;
    if (n.compare_exchange_strong(zero, 9)) y[3] = 1;
}

//@ case: cuda_barrier
//@ block: 64
//@ in x: rng.integers(0, 100, 64).astype(np.int32)
//@ out y: np.zeros(64, np.int32)
//@ expect y: x[::-1] + 1
#include <cuda/barrier>
#include <cuda/std/utility>
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int s[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    s[threadIdx.x] = x[threadIdx.x];
    bar.arrive_and_wait();
    int v = s[63 - threadIdx.x];
    auto token = bar.arrive();
    v++;
    bar.wait(cuda::std::move(token));
    y[threadIdx.x] = v;
}

//@ case: cuda_pipeline_cpp
//@ block: 32
//@ in x: rng.standard_normal(128).astype(np.float32)
//@ out y: np.zeros(32, np.float32)
//@ expect y: x.reshape(4, 32).sum(0)
//@ rtol: 1e-5
//@ atol: 1e-6
#include <cuda/pipeline>
#include <cooperative_groups.h>
extern "C" __global__ void k(const float *x, float *y) {
    auto block = cooperative_groups::this_thread_block();
    __shared__ float s[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int fetch = 0, i = 0; i < 4; i++) {
        for (; fetch < 4 && fetch < i + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetch % 2], x + 32 * fetch, sizeof(float) * 32, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        sum += s[i % 2][threadIdx.x];
        block.sync();
        pipe.consumer_release();
    }
    y[threadIdx.x] = sum;
}

//@ case: cuda_std
//@ block: 16
//@ out y: np.zeros(16, np.float32)
//@ expect y: [min(i, 5) + i + 3 + 2 for i in range(16)]
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/limits>
#include <cuda/std/cstdint>
#include <cuda/std/utility>
#include <cuda/std/cmath>
extern "C" __global__ void k(float *y) {
    cuda::std::array<int, 3> a = {1, 2, 3};
    auto t = cuda::std::make_tuple((int)threadIdx.x, 2.0f);
    static_assert(cuda::std::is_same_v<cuda::std::uint32_t, unsigned>);
    float r = min((int)threadIdx.x, 5) + cuda::std::get<0>(t) + a[2] + cuda::std::get<1>(t);
    if (cuda::std::numeric_limits<float>::max() < r) r = 0;
    y[threadIdx.x] = cuda::std::abs(r);
}

//@ case: waiting_by_parity_latch_and_semaphore
//@ block: 64
//@ out y: np.zeros((4, 64), np.int32)
//@ expect y: [np.arange(63, -1, -1) + 1, np.full(64, 64), np.full(64, 64), np.full(64, 1)]
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/std/atomic>
#include <cuda/semaphore>
extern "C" __global__ void k(int *y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    using Latch = cuda::latch<cuda::thread_scope_block>;
    using Lock = cuda::binary_semaphore<cuda::thread_scope_block>;
    alignas(16) __shared__ char rooms[3][64];
    Latch &done = *reinterpret_cast<Latch *>(rooms[0]);
    Lock &lock = *reinterpret_cast<Lock *>(rooms[1]);
    cuda::std::atomic_flag &flag = *reinterpret_cast<cuda::std::atomic_flag *>(rooms[2]);
    __shared__ int s[64], total, first;
    const int t = threadIdx.x;
    if (t == 0) {
        init(&bar, blockDim.x);
        new (&done) Latch(blockDim.x);
        new (&lock) Lock(1);
        new (&flag) cuda::std::atomic_flag();
        total = first = 0;
    }
    __syncthreads();
    s[t] = t;
    (void)bar.arrive();
    bar.wait_parity(false);
    y[t] = s[63 - t] + 1;
    (void)bar.arrive();
    bar.wait_parity(true);
    s[t] = 0;
    lock.acquire();
    total++;
    lock.release();
    if (!flag.test_and_set()) first++;
    done.arrive_and_wait();
    y[64 + t] = total;
    y[128 + t] = blockDim.x;
    y[192 + t] = first;
}

//@ case: pipeline_with_roles
//@ block: 64
//@ in x: rng.integers(0, 100, 8 * 32).astype(np.int32)
//@ out y: np.zeros(32, np.int32)
//@ expect y: x.reshape(8, 32)[:, ::-1].sum(0)
#include <cuda/pipeline>
#include <cooperative_groups.h>
extern "C" __global__ void k(const int *x, int *y) {
    auto block = cooperative_groups::this_thread_block();
    __shared__ int s[3][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    const bool produces = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    const int t = threadIdx.x % 32;
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        if (produces) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[i % 3][t], x + 32 * i + t, cuda::aligned_size_t<4>(4), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += s[i % 3][31 - t];
            pipe.consumer_release();
        }
    }
    if (!produces) y[t] = sum;
}

//@ case: span_functional_dispatch
//@ block: 8
//@ in x: np.arange(8, dtype=np.int32)
//@ out y: np.zeros(8, np.int32)
//@ expect y: np.maximum(x, 3) + 28 + 3
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/std/span>
#include <nv/target>
extern "C" __global__ void k(const int *x, int *y) {
    cuda::std::span<const int> all(x, 8);
    int sum = 0, more = 0;
    for (int v : all.subspan(1)) sum += v;
    NV_IF_ELSE_TARGET(NV_IS_HOST, (no_such_function();), (more = 1;))
    NV_DISPATCH_TARGET(NV_IS_EXACTLY_SM_50, (no_such_function();), NV_PROVIDES_SM_60, (more += 1;), NV_ANY_TARGET, (no_such_function();))
    NV_IF_TARGET(NV_IS_DEVICE, (more += cuda::ceil_div(3, 4);))
    y[threadIdx.x] = cuda::maximum<>()(x[threadIdx.x], 3) + sum + more;
}

//@ case: memcpy_to_shared
//@ block: 32
//@ in x: rng.integers(0, 100, (32, 4)).astype(np.int32)
//@ out y: np.zeros((32, 5), np.int32)
//@ expect y: np.concatenate([x[::-1], np.zeros((32, 1), np.int32)], 1)
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int s[32][5];
    const int t = threadIdx.x, n = blockDim.x / 2;
    memset(s[t], 0, sizeof s[t]);
    memcpy(s[t], x + 4 * t, n);
    __syncthreads();
    memcpy(y + 5 * t, s[31 - t], n + 4);
}

//@ case: cuda_atomic_brings_integers_of_a_size
//@ block: 8
//@ out y: np.zeros(2, np.uint64)
//@ expect y: [28, 8]
#include <cuda/atomic>
struct Usage { cuda::atomic<uint64_t, cuda::thread_scope_device> sum, calls; };
extern "C" __global__ void k(uint64_t *y) {
    Usage *usage = reinterpret_cast<Usage *>(y);
    usage->sum.fetch_add((uint32_t)threadIdx.x, cuda::memory_order_relaxed);
    usage->calls++;
}
