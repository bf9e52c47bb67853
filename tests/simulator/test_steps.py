"""Warp-synchronous code: volatile variables in shared memory keep the threads of a warp in step."""

import numpy as np
import pytest

SOURCE = r"""
#define K extern "C" __global__ void
template <class T, unsigned B> __device__ void warpReduce(volatile T *s, unsigned tid) {
    if (B >= 64) s[tid] += s[tid + 32];
    if (B >= 32) s[tid] += s[tid + 16];
    s[tid] += s[tid + 8]; s[tid] += s[tid + 4]; s[tid] += s[tid + 2]; s[tid] += s[tid + 1];
}
template <unsigned B> __device__ void reduce_block(const float *x, float *y, int n) {
    extern __shared__ float sdata[];
    unsigned tid = threadIdx.x;
    float sum = 0;
    for (unsigned i = blockIdx.x * B + tid; i < n; i += B * gridDim.x) sum += x[i];
    sdata[tid] = sum; __syncthreads();
    if (B >= 256) { if (tid < 128) sdata[tid] += sdata[tid + 128]; __syncthreads(); }
    if (B >= 128) { if (tid < 64) sdata[tid] += sdata[tid + 64]; __syncthreads(); }
    if (tid < 32) warpReduce<float, B>(sdata, tid);
    if (tid == 0) y[blockIdx.x] = sdata[0];
}
K reduce(const float *x, float *y, int n) { reduce_block<256>(x, y, n); }
#define OP(a, b) max(a, b)
K smem(const float *x, float *y) {
    __shared__ float sdata[64];
    int tid = threadIdx.x; float mySum = x[blockIdx.x*64+tid];
    sdata[tid] = mySum; __syncthreads();
    if (tid < 32) {
        volatile float *smem = sdata;
        smem[tid] = mySum = OP(mySum, smem[tid + 32]);
        smem[tid] = mySum = OP(mySum, smem[tid + 16]);
        smem[tid] = mySum = OP(mySum, smem[tid + 8]);
        smem[tid] = mySum = OP(mySum, smem[tid + 4]);
        smem[tid] = mySum = OP(mySum, smem[tid + 2]);
        smem[tid] = mySum = OP(mySum, smem[tid + 1]);
    }
    if (tid == 0) y[blockIdx.x] = sdata[0];
}
K scan_if(const int *x, int *y) {
    volatile __shared__ int s[128];
    int tid = threadIdx.x, lane = tid & 31;
    s[tid] = x[tid];
    if (lane >= 1) s[tid] += s[tid - 1];
    if (lane >= 2) s[tid] += s[tid - 2];
    if (lane >= 4) s[tid] += s[tid - 4];
    if (lane >= 8) s[tid] += s[tid - 8];
    if (lane >= 16) s[tid] += s[tid - 16];
    y[tid] = s[tid];
}
K scan_pad(const int *x, int *y) {
    __shared__ volatile int s[2][4][48];
    int tid = threadIdx.x, lane = tid & 31, w = tid >> 5;
    volatile int *p = &s[1][w][16 + lane];
    p[-16] = 0;
    *p = x[tid];
    for (int d = 1; d < 32; d <<= 1) *p = *p + *(p - d);
    y[tid] = *p;
}
K broadcast(int *y) {
    __shared__ volatile int first;
    int w = threadIdx.x >> 5;
    for (int r = 0; r < 3; r++) {
        if ((threadIdx.x & 31) == 7 && w == 0) first = 100 + r;
        if (w == 0) y[r * 32 + threadIdx.x] = first;
    }
}
K spin(int *y) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x != 63) { while (flag == 0) {} } else { y[64] = 1; flag = 5; }
    y[threadIdx.x] = flag;
}
K locked(int *y) {
    __shared__ volatile int n; __shared__ int lock;
    if (threadIdx.x == 0) { n = 0; lock = 0; }
    __syncthreads();
    bool done = false;
    while (!done) if (atomicCAS(&lock, 0, 1) == 0) {
        n = n + 1;
        __threadfence();
        atomicExch(&lock, 0);
        done = true;
    }
    __syncthreads();
    y[threadIdx.x] = n;
}
K sorted(int *x) {
    volatile __shared__ int s[32];
    int i = threadIdx.x; s[i] = x[i];
    for (int k = 2; k <= 32; k *= 2) for (int j = k / 2; j > 0; j /= 2) {
        int o = i ^ j;
        if (o > i) { if ((s[i] > s[o]) == ((i & k) == 0)) { int t = s[i]; s[i] = s[o]; s[o] = t; } }
    }
    x[i] = s[i];
}
"""


@pytest.fixture(scope="module")
def steps(simulator):
    return simulator.module(SOURCE)


def numbers(n):
    return np.random.default_rng(n).integers(0, 99, n).astype(np.int32)


def test_reduction_of_a_block(steps):
    x, y = numbers(10_000).astype("f"), np.zeros(4, "f")
    steps.launch("reduce", 4, 256, x, y, np.int32(x.size), shared=1024)
    assert y.sum() == x.sum()


def test_maximum_with_assignments_in_a_chain(steps):
    x, y = numbers(512).astype("f"), np.zeros(8, "f")
    steps.launch("smem", 8, 64, x, y)
    np.testing.assert_array_equal(y, x.reshape(8, 64).max(1))


@pytest.mark.parametrize("kernel", ["scan_if", "scan_pad"])
def test_scan_reads_what_lower_lanes_write(steps, kernel):
    x, y = numbers(128), np.zeros(128, np.int32)
    steps.launch(kernel, 1, 128, x, y)
    np.testing.assert_array_equal(y, x.reshape(4, 32).cumsum(1).ravel())


def test_one_lane_writes_for_all(steps):
    y = np.zeros(96, np.int32)
    steps.launch("broadcast", 1, 64, y)
    np.testing.assert_array_equal(y, 100 + np.arange(96) // 32)


def test_threads_wait_in_a_loop_for_one_of_their_warp(steps):
    y = np.zeros(65, np.int32)
    steps.launch("spin", 1, 64, y)
    assert (y[:64] == 5).all() and y[64] == 1


def test_the_holder_of_a_lock_goes_on_while_others_try(steps):
    y = np.zeros(256, np.int32)
    steps.launch("locked", 1, 256, y)
    assert (y == 256).all()


def test_lanes_that_skip_a_branch_wait_at_the_next_round(steps):
    x = numbers(32)
    y = x.copy()
    steps.launch("sorted", 1, 32, y)
    np.testing.assert_array_equal(y, np.sort(x))


def test_the_check_still_says_what_is_missing(make_simulator):
    checked = make_simulator(PYGPU_SIM_CHECK="1")
    x, y = numbers(128), np.zeros(128, np.int32)
    with pytest.raises(Exception, match="race on shared memory.*, nor a __syncwarp"):
        checked.module(SOURCE).launch("scan_if", 1, 128, x, y)


OUTSIDE = r"""
extern __shared__ volatile float%(members)s cache[];
namespace spare {
__shared__ volatile int part[2], flag;
__device__ int twice() { return 2 * flag; }
}
__device__ float other(float *cache, int flag) {
    float *spare = cache;
    int a = 2 * flag;
    return a * cache[0] + *spare;
}
struct Own { int flag, cache; __device__ int product() { return flag * cache; } };
extern "C" __global__ void total(const float *x, float *y)
{
    int t = threadIdx.x;
    cache[t]%(x)s = x[blockIdx.x * 64 + t];
    if (t == 3) { spare::part[1] = 3; spare::flag = 4; }
    __syncthreads();
    if (t < 32) {
        cache[t]%(x)s += cache[t + 32]%(x)s;
        cache[t]%(x)s += cache[t + 16]%(x)s;
        cache[t]%(x)s = cache[t]%(x)s + 1 * cache[t + 8]%(x)s;
        cache[t]%(x)s += cache[t + 4]%(x)s;
        cache[t]%(x)s += cache[t + 2]%(x)s;
        cache[t]%(x)s += cache[t + 1]%(x)s;
    }
    float mine[1] = {5};
    Own own{2, 3};
    int zero = spare::part[1] + spare::twice() - 11 + own.product() - 6;
    if (t == 0) y[blockIdx.x] = cache[0]%(x)s + other(mine, 1) - 15 + zero;
}
"""


@pytest.mark.parametrize("members", ["", "2"])
def test_a_variable_outside_of_functions(simulator, members):
    x, y = numbers(256).astype("f"), np.zeros(4, "f")
    module = simulator.module(OUTSIDE % {"members": members, "x": ".y" if members else ""})
    module.launch("total", 4, 64, x, y, shared=512)
    np.testing.assert_array_equal(y, x.reshape(4, 64).sum(1))


DECLARED = r"""
__device__ void rows(volatile int (*s)[32], int w, int t) {
    s[w][t] += s[w][t + 16]; s[w][t] += s[w][t + 8]; s[w][t] += s[w][t + 4];
    s[w][t] += s[w][t + 2]; s[w][t] += s[w][t + 1];
}
extern "C" __global__ void total(const int *x, int *y)
{
    __shared__ int s[2][32];
    int t = threadIdx.x & 31, w = threadIdx.x >> 5;
    s[w][t] = x[blockIdx.x * 64 + threadIdx.x];
    %s
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = s[0][0] + s[1][0];
}
"""
FOLD = """if (t < 16) {
    p[t] += p[t + 16]; p[t] += p[t + 8]; p[t] += p[t + 4]; p[t] += p[t + 2]; p[t] += p[t + 1];
}"""
POINTERS = ["volatile int (&p)[32] = s[w];", "volatile int *p(s[w]);", "volatile int *p{s[w]};"]


@pytest.mark.parametrize("use", ["if (t < 16) rows(s, w, t);", *(p + FOLD for p in POINTERS)])
def test_ways_to_declare(simulator, use):
    x, y = numbers(256), np.zeros(4, np.int32)
    simulator.module(DECLARED.replace("%s", use)).launch("total", 4, 64, x, y)
    np.testing.assert_array_equal(y, x.reshape(4, 64).sum(1))
