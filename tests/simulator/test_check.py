"""PYGPU_SIM_CHECK=1: what it finds, and that sound kernels pass it."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

SOURCE = """
#define K extern "C" __global__ void
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter;

K sound(float *a, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float local[8];
    for (int i = 0; i < 8; i++) local[i] = a[t] + i;
    s[t] = a[t];
    __syncthreads();
    a[t] = s[63 - t] + table[t & 3] + local[t & 7] * n;
}
K same_value(int *a) { __shared__ int f; f = 7; __syncthreads(); a[threadIdx.x] = f; }
K atomics(int *a) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    __atomic_fetch_add(&sum, a[threadIdx.x], __ATOMIC_RELAXED);
    __syncthreads();
    a[threadIdx.x] = sum;
    __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
}
K warp(int *a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncwarp();
    a[t] = s[t ^ 1];
}
K dynamic(float *a) {
    extern __shared__ float d[];
    d[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = d[threadIdx.x ^ 1];
}
K heap(int *a) {
    int *p = (int *)malloc(64);
    for (int i = 0; i < 16; i++) p[i] = i;
    a[threadIdx.x] = p[15];
    free(p);
}
struct Shape { int n; __device__ virtual int area() { return n; } };
struct Square : Shape { __device__ int area() override { return n * n; } };
K virtuals(int *a) {
    Square s;
    s.n = threadIdx.x;
    Shape *p = &s;
    a[threadIdx.x] = p->area();
}
K chars(char *a) {
    __shared__ char s[64];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x];
}

K read_race(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = 1;
    __syncthreads();
    a[t] = s[63 - t];
    s[t] = a[t] * 2 + t;
}
K write_race(int *a) {
    __shared__ int s[64];
    s[threadIdx.x / 2] = threadIdx.x;
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x / 2];
}
K no_syncwarp(int *a) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = t; // a write that changes nothing is not a race
    __syncthreads();
    s[t] += s[(t + 16) & 63];
    s[t] += s[(t + 8) & 63];
    a[t] = s[t];
}
K unwritten(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 60) s[t] = 1;
    __syncthreads();
    a[t] = s[t];
}
K past_the_end(float *a, int n) { a[threadIdx.x + n] = 1; }
K array_index(float *a) {
    __shared__ float s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    a[threadIdx.x] = s[0];
}
K local_index(int *a, int n) {
    int l[4];
    for (int i = 0; i < n; i++) l[i] = i;
    a[0] = l[n & 3];
}
K unset(int *a, int n) {
    int l;
    if (n > 100) l = 2;
    a[0] = l;
}
K like_unset(int *a)
{
    unsigned char *bytes = (unsigned char *)(a + threadIdx.x);
    bytes[0] = 0xfe; bytes[1] = 0xaa;
    ((unsigned short *)bytes)[1] = 0xfefe;
}
K ballot(unsigned *a) { a[threadIdx.x] = __ballot_sync(~0u, threadIdx.x & 1); }
template <bool fenced> __device__ void largest(int *a) {
    __shared__ int lock, value;
    if (threadIdx.x == 0) lock = value = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            value = max(value, (int)threadIdx.x);
            if (fenced) __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    a[threadIdx.x] = value;
}
K lock(int *a) { largest<true>(a); }
K lock_without_fence(int *a) { largest<false>(a); }
K flag(int *a) {
    __shared__ int data, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 63) {
        data = 42;
        __threadfence_block();
        atomicExch(&ready, 1);
    }
    while (atomicAdd(&ready, 0) == 0) __nanosleep(20);
    a[threadIdx.x] = data;
}
K copies(int *a) {
    __shared__ int s[16][4];
    int t = threadIdx.x;
    if (t < 16) memcpy(s[t], a + 4 * t, t < 20 ? 16 : 1);
    __syncthreads();
    if (t < 16) memcpy(a + 4 * t, s[15 - t], t < 20 ? 16 : 1);
}
K misaligned(char *a) { *(int *)(a + 1) = 3; }
K host_pointer(float *a, float **p) { a[0] = **p; }
"""


@pytest.fixture(scope="module")
def checked(make_simulator):
    return make_simulator(PYGPU_SIM_CHECK="1").module(SOURCE, name="kernel.cu")


@pytest.mark.parametrize(
    "name, dtype, args, shared, expected",
    [
        ("sound", "f4", [np.int32(2)], 0, None),
        ("same_value", "i4", [], 0, lambda a: a * 0 + 7),
        ("atomics", "i4", [], 0, lambda a: a * 0 + a.sum()),
        ("warp", "i4", [], 0, lambda a: a.reshape(-1, 2)[:, ::-1].ravel()),
        ("dynamic", "f4", [], 256, lambda a: a.reshape(-1, 2)[:, ::-1].ravel()),
        ("heap", "i4", [], 0, lambda a: a * 0 + 15),
        ("virtuals", "i4", [], 0, lambda a: np.arange(64) ** 2),
        ("chars", "i1", [], 0, lambda a: a[::-1]),
        ("like_unset", "u4", [], 0, lambda a: a * 0 + 0xFEFEAAFE),
        ("ballot", "u4", [], 0, lambda a: a * 0 + 0xAAAAAAAA),
        ("lock", "i4", [], 0, lambda a: a * 0 + 63),
        ("flag", "i4", [], 0, lambda a: a * 0 + 42),
        ("copies", "i4", [], 0, lambda a: a.reshape(-1, 4)[::-1].ravel()),
    ],
)
def test_sound_kernels_give_no_finding(checked, name, dtype, args, shared, expected):
    a = np.arange(64).astype(dtype)
    before = a.copy()
    checked.launch(name, 1, 64, a, *args, shared=shared)
    if expected is None:
        t = np.arange(64)
        assert (a == (63 - t) + (t % 4 + 1) + (t + t % 8) * 2).all()
    else:
        assert (a == expected(before)).all()


def line_of(text):
    return SOURCE[: SOURCE.rindex(text)].count("\n") + 1


@pytest.mark.parametrize(
    "name, args, shared, code, thread, place, message",
    [
        (
            "read_race",
            [],
            0,
            719,
            None,
            "a[t] = s[63 - t];",
            r"race on shared memory: .* of 's'.* which thread \(\d+,0,0\) .*, with no barrier",
        ),
        (
            "write_race",
            [],
            0,
            719,
            1,
            "s[threadIdx.x / 2] = threadIdx.x",
            r"race on shared memory: write of 4 bytes at offset 0 of 's'.*thread \(0,0,0\) wrote",
        ),
        (
            "no_syncwarp",
            [],
            0,
            719,
            None,
            "s[t] += s[(t + 16",
            "race on shared memory: .*with no barrier between",
        ),
        (
            "unwritten",
            [],
            0,
            719,
            None,
            "__syncthreads();\n    a[t] = s[t];",
            r"shared memory that no thread of the block has written, at offset 2\d\d of 's'",
        ),
        (
            "dynamic",
            [],
            128,
            700,
            32,
            "d[threadIdx.x] = a",
            r"write of 4 .*offset 128 of dynamic shared memory; the launch asked for 128",
        ),
        (
            "past_the_end",
            [np.int32(5)],
            0,
            700,
            59,
            "K past_the_end",
            r"write of 4 bytes at address 0x[0-9a-f]+.*: 0 bytes past the end of the 256-byte",
        ),
        ("array_index", [], 0, 719, 32, "s[threadIdx.x] = 1", "an index outside of an array"),
        ("local_index", [np.int32(9)], 0, 719, 0, "l[i] = i", "an index outside of an array"),
        (
            "unset",
            [np.int32(9)],
            0,
            719,
            0,
            "a[0] = l;",
            "the value of a local variable that was never set is written to memory",
        ),
        (
            "lock_without_fence",
            [],
            0,
            719,
            None,
            "value = max(",
            r"race on shared memory: .* which thread \(\d+,0,0\) wrote, with no barrier",
        ),
        ("misaligned", [], 0, 716, 0, "K misaligned", "misaligned write of 4 bytes"),
    ],
)
def test_findings(checked, name, args, shared, code, thread, place, message):
    a = np.zeros(64, "f4")
    with pytest.raises(Exception, match=message) as e:
        checked.launch(name, 1, 64, a, *args, shared=shared)
    assert e.value.code == code
    assert e.value.text.startswith(f"kernel {name}, block (0,0,0), thread (")
    if thread is not None:
        assert f"thread ({thread},0,0): " in e.value.text
    line = line_of(place) + place.count("\n")
    assert re.search(rf" at kernel\.cu:{line}\b", e.value.text), e.value.text
    a[:] = np.arange(64)
    checked.launch("same_value", 1, 64, a.view("i4"))  # the process and the worker go on
    assert (a.view("i4") == 7).all()


def test_host_pointers(checked):
    host, a = np.ones(4096, "f4"), np.zeros(1, "f4")
    with pytest.raises(Exception, match="invalid read of 4 bytes at address .*: ") as e:
        checked.launch("host_pointer", 1, 1, a, np.array([host.ctypes.data], "u8"))
    assert e.value.code == 700


POOLED = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import pygpu.cuda.autoinit
from pygpu.cuda import gpuarray
from pygpu.cuda.compiler import SourceModule

k = SourceModule("__global__ void k(float *x, int i) { x[i] = 1; }").get_function("k")
blocks = set()
for n in (1020, 1000, 1023, 1001):  # all have the same block, one after the other
    x = gpuarray.empty(n, np.float32)
    blocks.add(x.ptr)
    k(x, np.int32(n - 1), block=(1, 1, 1))
    del x
assert len(blocks) == 1
x = gpuarray.zeros(1000, np.float32)
try:
    k(x, np.int32(1000), block=(1, 1, 1))
    pygpu.cuda.autoinit.context.synchronize()
except Exception as error:
    print(error)
"""


def test_bounds_are_the_arrays_not_those_of_its_pools_block():
    environment = os.environ | {"PYGPU_CUDA": "simulator", "PYGPU_SIM_CHECK": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", POOLED], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "0 bytes past the end of the 4000-byte allocation" in done.stdout
