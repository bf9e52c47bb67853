"""Kernels, from source to result: indices, shared memory, barriers, variables, arguments."""

import ctypes
import platform
import re
import shutil
import subprocess

import numpy as np
import pytest

SAXPY = """
extern "C" __global__ void k(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}"""


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 100_003])
def test_saxpy(simulator, n):
    rng = np.random.default_rng(n)
    x, y = rng.random(n, dtype="f"), rng.random(n, dtype="f")
    expected = 2.5 * x + y
    simulator.run(SAXPY, -(-n // 256), 256, np.float32(2.5), x, y, np.int32(n))
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_a_grid_barrier_that_threads_returned_before(simulator):
    """The last thread of a block to reach the barrier is one that returns."""
    source = """
    #include <cooperative_groups.h>
    extern "C" __global__ void k(volatile int *a, int most) {
        if (threadIdx.x >= most) return;
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            for (volatile int i = 0; i < 10000000; i++) ;
            a[0] = 1;
        }
        cooperative_groups::this_grid().sync();
        a[1 + blockIdx.x * most + threadIdx.x] = a[0];
    }"""
    for most in (1, 5):
        a = np.zeros(1 + 3 * most, "i4")
        simulator.run(source, 3, 32, a, np.int32(most), cooperative=True)
        assert (a == 1).all()


@pytest.mark.parametrize("grid", [(1, 1, 1), (3, 1, 1), (2, 3, 4)])
@pytest.mark.parametrize("block", [(1, 1, 1), (33, 1, 1), (4, 3, 5), (1, 1024, 1), (2, 2, 64)])
@pytest.mark.parametrize("waits", [0, 1])
def test_every_thread_knows_where_it_is(simulator, grid, block, waits):
    source = """
    __device__ unsigned where() {
        return ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * 1024
             + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    extern "C" __global__ void k(unsigned *out, unsigned *count) {
        if (WAITS) __syncthreads();
        unsigned n = blockDim.x * blockDim.y * blockDim.z;
        unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        out[b * n + t] = where();
        __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    }"""
    blocks, threads = int(np.prod(grid)), int(np.prod(block))
    out, count = np.full((blocks, threads), 999_999, "u4"), np.zeros(1, "u4")
    simulator.run(source, grid, block, out, count, options=[f"-DWAITS={waits}"])
    expected = np.arange(blocks)[:, None] * 1024 + np.arange(threads)
    assert (out == expected).all()
    assert count[0] == blocks * threads


def test_shared_memory_and_barriers(simulator):
    source = """
    extern "C" __global__ void k(float *a) {
        __shared__ float s[256];
        unsigned t = threadIdx.x;
        s[t] = a[blockIdx.x * 256 + t];
        for (int d = 1; d < 256; d *= 2) {
            __syncthreads();
            float v = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += v;
        }
        a[blockIdx.x * 256 + t] = s[t];
    }"""
    a = np.arange(5 * 256, dtype="f").reshape(5, 256) % 7
    expected = np.cumsum(a, axis=1)
    simulator.run(source, 5, 256, a)
    assert (a == expected).all()


def test_threads_that_return_are_not_waited_for(simulator):
    source = """
    extern "C" __global__ void k(int *a, int n) {
        int t = threadIdx.x;
        if (t >= n) return;
        for (int i = 0; i < 3; i++) {
            int v = a[(t + 1) % n];
            __syncthreads();
            a[t] = v;
            __syncthreads();
        }
    }"""
    for n in (1, 5, 64, 100):
        a = np.arange(n, dtype="i4")
        simulator.run(source, 1, 128, a, np.int32(n))
        assert (a == (np.arange(n) + 3) % n).all()


def test_a_shuffle_from_lanes_that_take_no_part_gives_zero(simulator):
    """As the last warp of a reduction has it that goes on with fewer lanes, or a block of fewer."""
    source = """
    extern "C" __global__ void k(float *sums) {
        int t = threadIdx.x;
        float sum = t + 1;
        unsigned few = __ballot_sync(~0u, t < 8);
        if (t < 8) for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(few, sum, d);
        if (t == 0) sums[0] = sum;
        if (t == 31) return;
        float rest = __shfl_sync(~0u, 5.0f, 31);
        if (t == 0) sums[1] = rest;
    }"""
    sums = np.full(2, -1, "f4")
    simulator.run(source, 1, 32, sums)
    assert sums.tolist() == [36, 0]


def test_barriers_that_count(simulator):
    source = """
    extern "C" __global__ void k(int *out) {
        int t = threadIdx.x;
        out[t * 4] = __syncthreads_count(t % 3 == 0);
        out[t * 4 + 1] = __syncthreads_and(t < 50);
        out[t * 4 + 2] = __syncthreads_or(t == 17);
        out[t * 4 + 3] = __syncthreads_and(1) + 2 * __syncthreads_or(0);
    }"""
    out = np.zeros((64, 4), "i4")
    simulator.run(source, 1, 64, out)
    assert (out == [22, 0, 1, 1]).all()


@pytest.mark.parametrize("where", ["inside", "outside", "template"])
def test_dynamic_shared_memory(simulator, where):
    declaration = "extern __shared__ __align__(16) int s[];"
    outside, inside = (declaration, "") if where == "outside" else ("", declaration)
    source = f"""
    {outside}
    template <class T> __device__ void reverse(T *a) {{
        {inside}
        s[threadIdx.x] = a[threadIdx.x];
        __syncthreads();
        a[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
    }}
    extern "C" __global__ void k(int *a) {{
        {inside if where == "inside" else ""}
        reverse(a);
    }}"""
    a = np.arange(200, dtype="i4")
    simulator.run(source, 1, 200, a, shared=800)
    assert (a == np.arange(200)[::-1]).all()


def test_variables_by_name(simulator):
    source = """
    __constant__ float scale[4];
    __device__ int counter = 5;
    static __device__ double hidden = 2.5;
    __managed__ long long managed;
    namespace inner { __device__ unsigned char bytes[3] = {1, 2, 3}; }
    __device__ float *pointer;
    extern "C" __global__ void k(float *out) {
        counter += 1;
        managed = counter;
        pointer = out;
        out[0] = scale[0] + scale[3] + (float)hidden + inner::bytes[2];
    }"""
    module = simulator.module(source)
    module.variable("scale", "f4")[:] = [1, 2, 3, 4]
    out = np.zeros(1, "f")
    module.launch("k", 1, 1, out)
    assert out[0] == 1 + 4 + 2.5 + 3
    assert module.variable("counter", "i4")[0] == 6
    assert module.variable("hidden", "f8")[0] == 2.5
    assert module.variable("managed", "i8")[0] == 6
    assert module.variable("_ZN5inner5bytesE", "u1").tolist() == [1, 2, 3]
    assert module.variable("pointer", "u8")[0] == out.ctypes.data
    with pytest.raises(Exception, match="the module has: .*counter"):
        module.variable("nothing", "f4")


def test_messages_name_the_programs_own_variables(simulator):
    module = simulator.module("""
    __device__ int counter;
    extern "C" __global__ void k(int *a) {
        __shared__ int s[8];
        s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[threadIdx.x] = s[7 - threadIdx.x];
    }""")
    with pytest.raises(Exception, match="the module has: counter$"):
        module.variable("nothing", "i4")


def test_each_load_has_its_own_variables(simulator):
    source = '__device__ int v = 1; extern "C" __global__ void k() { v *= 2; }'
    first, second = simulator.module(source), simulator.module(source)
    for _ in range(3):
        first.launch("k", 1, 1)
    second.launch("k", 1, 1)
    assert first.variable("v", "i4")[0] == 8
    assert second.variable("v", "i4")[0] == 2


def test_kernels_are_found_by_mangled_or_c_name(simulator):
    source = """
    __global__ void plain(int *a) { *a = 1; }
    __global__ void plain(float *a) { *a = 2; }
    namespace n { __global__ void inner(int *a) { *a = 3; } }
    extern "C" { __global__ void wrapped(int *a) { *a = 4; } }
    #define MAKE(name, value) extern "C" __global__ void name(int *a) { *a = value; }
    MAKE(made, 5)
    __global__ void abort(int *a) { *a = 6; }
    __global__ void later(int *a);
    __global__ void __launch_bounds__(64, 2) later(int *a) { *a = 7; }"""
    module = simulator.module(source)
    out = np.zeros(1, "i4")
    names = {"_Z5plainPi": 1, "_ZN1n5innerEPi": 3, "wrapped": 4, "made": 5, "_Z5abortPi": 6}
    for name, value in (names | {"_Z5laterPi": 7}).items():
        module.launch(name, 1, 1, out)
        assert out[0] == value
    module.launch("_Z5plainPf", 1, 1, out)
    assert out.view("f4")[0] == 2
    with pytest.raises(Exception, match="the module has: .*_Z5plainPi"):
        module.kernel("plain")
    with pytest.raises(Exception, match="__launch_bounds__ allow 64"):
        module.launch("_Z5laterPi", 1, 65, out)


def test_templates_by_expression(simulator):
    source = """
    template <class T> struct Add { __device__ T operator()(T a, T b) const { return a + b; } };
    template <class T, int N> __global__ void power(T *a) {
        T x = a[threadIdx.x], y = 1;
        for (int i = 0; i < N; i++) y *= x;
        a[threadIdx.x] = y;
    }
    namespace n {
    template <class F, class... Rest> __global__ void apply(float *a, F f, Rest... rest) {
        a[threadIdx.x] = f(a[threadIdx.x], (rest + ...));
    }
    }
    template __global__ void power<int, 2>(int *);
    template <class T> __global__ void special(T *a) { *a = 1; }
    template <> __global__ void special<double>(double *a) { *a = 2; }
    __device__ float variable = 1;"""
    names = [
        "power<double, 3>",
        "n::apply<Add<float>, float, float>",
        "&variable",
        "special<float>",
    ]
    image, lowered = simulator.compile(source, names=names)
    assert lowered[2:] == ["variable", "_Z7specialIfEvPT_"]
    module = type(simulator.module(SAXPY))(simulator, image)
    a = np.arange(8.0)
    module.launch(lowered[0], 1, 8, a)
    assert (a == np.arange(8.0) ** 3).all()
    i = np.arange(8, dtype="i4")
    module.launch("_Z5powerIiLi2EEvPT_", 1, 8, i)
    assert (i == np.arange(8) ** 2).all()
    f = np.arange(8, dtype="f")
    functor = ctypes.c_char(b"\0")
    module.launch(lowered[1], 1, 8, f, functor, np.float32(10), np.float32(0.5))
    assert (f == np.arange(8) + 10.5).all()
    one = np.zeros(1)
    module.launch("_Z7specialIdEvPT_", 1, 1, one)
    assert one[0] == 2


def test_lambdas_and_local_classes(simulator):
    source = """
    extern "C" __global__ void k(int *out) {
        auto none = [](int x) { return x + (int)threadIdx.x; };
        auto all = [=](int x) { return x * (int)blockDim.x + none(1); };
        struct Local { __device__ int get() const { return threadIdx.x * 3; } };
        int y = 2;
        auto one = [y] __device__ (int x) { return x + y + (int)threadIdx.x; };
        out[threadIdx.x] = none(1) + 100 * all(2) + 10000 * Local().get() + 1000000 * one(0);
    }"""
    out = np.zeros(16, "i4")
    simulator.run(source, 1, 16, out)
    t = np.arange(16)
    assert (out == (t + 1) + 100 * (32 + t + 1) + 30000 * t + 1000000 * (t + 2)).all()


def test_virtual_functions_and_memory_from_the_heap(simulator):
    source = """
    struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} };
    struct Square : Shape { float a; __device__ Square(float a) : a(a) {}
                            __device__ float area() const override { return a * a; } };
    struct Circle : Shape { float r; __device__ Circle(float r) : r(r) {}
                            __device__ float area() const override { return 3 * r * r; } };
    extern "C" __global__ void k(float *out) {
        Shape *s;
        if (threadIdx.x % 2) s = new Square(threadIdx.x); else s = new Circle(threadIdx.x);
        int *more = (int *)malloc(100 * sizeof(int));
        for (int i = 0; i < 100; i++) more[i] = i;
        __syncthreads();
        out[threadIdx.x] = s->area() + more[99];
        delete s;
        free(more);
    }"""
    out = np.zeros(40, "f")
    simulator.run(source, 1, 40, out)
    t = np.arange(40)
    assert (out == np.where(t % 2, t * t, 3 * t * t) + 99).all()


def test_the_heap_of_kernels(simulator):
    """Blocks of all sizes, taken and given back by many threads, never overlap."""
    source = """
    #define N 24
    __device__ unsigned sizes(unsigned x) {
        x = x * 1664525u + 1013904223u;
        return 1 + (x >> 8) % (x % 7 == 0 ? 9000 : 300);
    }
    extern "C" __global__ void k(int *wrong, int *missing) {
        unsigned char *p[N];
        unsigned size[N], me = blockIdx.x * blockDim.x + threadIdx.x;
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < N; i++) {
                if (round > 0 && (i + round) % 3 != 0) continue;
                if (round > 0) {
                    for (unsigned j = 0; j < size[i]; j++)
                        if (p[i][j] != (unsigned char)(me * 7 + i)) atomicAdd(wrong, 1);
                    free(p[i]);
                }
                size[i] = sizes(me * 1000 + round * 100 + i);
                p[i] = (unsigned char *)malloc(size[i]);
                if (p[i] == nullptr) { atomicAdd(missing, 1); return; }
                if ((size_t)p[i] % 16 != 0) atomicAdd(wrong, 1);
                memset(p[i], me * 7 + i, size[i]);
            }
            __syncthreads();
        }
        for (int i = 0; i < N; i++) free(p[i]);
    }
    extern "C" __global__ void exhaust(int *count, int size) {
        void *last = nullptr;
        while (void **p = (void **)malloc(size)) { *p = last; last = p; ++*count; }
        while (last) { void *p = last; last = *(void **)p; free(p); }
    }"""
    module = simulator.module(source)
    wrong, missing, count = (np.zeros(1, "i4") for _ in range(3))
    for _ in range(2):
        module.launch("k", 4, 64, wrong, missing)
        assert (wrong[0], missing[0]) == (0, 0)
    for size in (100, 5000, 70000, 16, 4 << 20):  # of 8 MiB; all of it is there again each time
        count[0] = 0
        module.launch("exhaust", 1, 1, count, np.int32(size))
        assert (8 << 20) * 0.5 < count[0] * size <= 8 << 20


def test_arguments_by_value(simulator):
    source = """
    struct Big { char c; double d[20]; float *p; };
    extern "C" __global__ void k(char a, Big b, short s, float3 v, double4 w, int *out) {
        out[0] = a + (int)b.d[19] + s + (int)v.z + (int)w.w;
        *b.p = (float)b.d[0];
        s = 0;
    }"""
    big = np.zeros(1, np.dtype([("c", "i1"), ("d", "f8", 20), ("p", "u8")], align=True))
    target, out = np.zeros(1, "f"), np.zeros(2, "i4")
    big["d"] = np.arange(20) + 0.5
    big["p"] = target.ctypes.data
    values = np.int8(-3), big[0], np.int16(1000), np.array([(1, 2, 3)], "3f4"), np.arange(4.0)
    raw = [np.frombuffer(value.tobytes(), f"V{value.nbytes}")[0] for value in values]
    module = simulator.run(source, 1, 1, *raw, out)
    assert out[0] == -3 + 19 + 1000 + 3 + 3
    assert target[0] == 0.5
    offsets = []
    kernel = module.kernel("k")
    for i in range(6):
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        simulator.inner.kernel_param(kernel, i, ctypes.byref(offset), ctypes.byref(size))
        offsets.append((offset.value, size.value))
    assert offsets == [(0, 1), (8, 176), (184, 2), (188, 12), (208, 32), (240, 8)]


def test_printf_and_assert(simulator):
    source = r"""
    #include <stdio.h>
    #include <assert.h>
    extern "C" __global__ void k(int n) {
        printf("thread %u of %d: %5.2f %s %c %lld %%\n",
               threadIdx.x, n, 1.5f * threadIdx.x, "text", 'x', 1ll << 40);
        assert(threadIdx.x < n);
    }"""
    simulator.output()
    simulator.run(source, 1, 3, np.int32(3))
    lines = [f"thread {t} of 3: {1.5 * t:5.2f} text x 1099511627776 %\n" for t in range(3)]
    assert simulator.output() == "".join(lines)
    with pytest.raises(
        Exception, match=r"710: kernel k, block \(0,0,0\), thread \(2,0,0\): .*threadIdx.x < n"
    ) as e:
        simulator.run(source, 1, 3, np.int32(2), name="k")
    assert e.value.code == 710


def test_the_text_in_place_of_ptx_can_be_loaded(simulator):
    image, _ = simulator.compile('extern "C" __global__ void k(int *a) { *a = 42; }', kind="PTX")
    assert image.startswith(b"// Not PTX: an image for pygpu's CPU simulator")
    module = type(simulator.module(SAXPY))(simulator, image)
    out = np.zeros(1, "i4")
    module.launch("k", 1, 1, out)
    assert out[0] == 42


def test_the_text_in_place_of_ptx_names_the_kernels(simulator):
    """Some programs look for the name there, as tinygrad did."""
    source = """template <class T> __global__ void fill(T *a) { *a = 42; }
    template __global__ void fill<int>(int *); extern "C" __global__ void k(int *) {}"""
    image, _ = simulator.compile(source, kind="PTX")
    names = [part.split(b"(")[0].decode() for part in image.split(b".visible .entry ")[1:]]
    assert sorted(names) == ["_Z4fillIiEvPT_", "k"]
    module = type(simulator.module(SAXPY))(simulator, image)
    out = np.zeros(1, "i4")
    module.launch("_Z4fillIiEvPT_", 1, 1, out)
    assert out[0] == 42


@pytest.mark.parametrize(
    "image, message",
    [
        (b"", "in an unknown format"),
        (b"\x7fELF" + bytes(60), "in an unknown format"),
        (b"//\n// Generated by NVIDIA NVVM Compiler\n.version 8.0\n", "is PTX"),
        (b"\0" * 100, "in an unknown format"),
    ],
)
def test_other_images_are_refused(simulator, image, message):
    module = type(simulator.module(SAXPY))
    with pytest.raises(Exception, match=message):
        module(simulator, image)


def test_damaged_images_are_refused_or_load(simulator):
    """Cut off and with bytes changed in the headers: an error or a module, never a crash."""
    image, _ = simulator.compile(SAXPY)
    module = type(simulator.module(SAXPY))
    for size in [10, 64, 200, len(image) // 2, len(image) - 1]:
        with pytest.raises(Exception, match="2[0-9][0-9]: "):
            module(simulator, image[:size])


@pytest.mark.parametrize(
    "grid, block, kwargs, message",
    [
        (0, 1, {}, "a grid of"),
        (1, 0, {}, "a block of"),
        (1, 1025, {}, "a block of"),
        (1, (33, 32), {}, "at most 1024"),
        (1, (1, 1, 65), {}, "64"),
        ((1, 65536), 1, {}, "a grid of"),
        (1, 1, {"shared": 49153}, "MAX_DYNAMIC_SHARED_SIZE_BYTES"),
        (1025, 1, {"cooperative": True}, "at most 1024"),
    ],
)
def test_limits_of_launches(simulator, grid, block, kwargs, message):
    x = np.zeros(1, "f")
    with pytest.raises(Exception, match=message):
        simulator.run(SAXPY, grid, block, np.float32(1), x, x, np.int32(0), **kwargs)


STRIDED = [
    ("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) "
     "y[i] = 2 * x[i] + y[i];"),
    ("unsigned tid = threadIdx.x; unsigned total = gridDim.x * blockDim.x; "
     "unsigned start = blockDim.x * blockIdx.x; (void)tid; (void)total; unsigned i; ; "
     "for (i = start + tid; i < n; i += total) { y[i] = 2 * x[i] + y[i]; } ;"),
    ("const size_t step = (size_t)gridDim.x * blockDim.x; "
     "for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) "
     "{ if (i % 7 == 3) continue; y[i] = 2 * x[i] + y[i]; }"),
    # those that must stay as they are
    ("int i = blockIdx.x * blockDim.x + threadIdx.x; int c = 0; "
     "for (; i < n; i += gridDim.x * blockDim.x) { y[i] = x[i] + c; c++; }"),
    ("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) "
     "{ if (i > n / 2) break; y[i] = 2 * x[i]; }"),
    ("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) "
     "{ y[i] = 2 * x[i]; i += 0; n -= 1; }"),
    ("float s = 0; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; "
     "i += blockDim.x * gridDim.x) { s += x[i]; y[i] = s; }"),
    ("for (int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x); i < n; "
     "i += n + gridDim.x) if (i >= 0) y[i] = x[i];"),
]  # fmt: skip


@pytest.mark.slow
def test_indices_that_do_not_fit_into_an_int(simulator):
    """Blocks beyond them run thread by thread: what the loops assume does not hold there."""
    source = """
    extern "C" __global__ void k(unsigned long long *out) {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= 0x7fffff00u) out[i - 0x7fffff00u] = i;
    }"""
    blocks, out = (1 << 21) + 1, np.zeros(256 + 1024, np.uint64)
    simulator.run(source, blocks, 1024, out)
    assert (out == 0x7FFFFF00 + np.arange(out.size, dtype=np.uint64)).all()


@pytest.mark.parametrize("text", STRIDED, ids=range(len(STRIDED)))
@pytest.mark.parametrize("n, grid, block", [(0, 1, 32), (1, 3, 64), (1000, 3, 64), (5000, 2, 33)])
def test_loops_in_strides_of_the_grid(simulator, make_simulator, text, n, grid, block):
    """Threads do their steps together; the result is that of one thread after the other."""
    source = (
        'extern "C" __global__ void k(const float *x, float *y, int n) {' + text + "}\n"
        "template <class T> __global__ void t(const T *x, T *y, int n) {" + text + "}"
    )
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 100, 5000).astype("f"), rng.integers(0, 100, 5000).astype("f")
    expected = y.copy()
    image, [name] = simulator.compile(source, names=["t<float>"])
    slow_image, _ = simulator.compile(source, names=["t<float>"], options=["-G"])  # no loops
    module = type(simulator.module(SAXPY))
    slow, fast = module(simulator, slow_image), module(simulator, image)
    slow.launch("k", grid, block, x, expected, np.int32(n))
    for kernel in ("k", name):
        result = y.copy()
        fast.launch(kernel, grid, block, x, result, np.int32(n))
        assert (result == expected).all()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for x86-64's vector registers")
def test_threads_with_a_condition_are_vectorized(simulator, tmp_path):
    """`if (i < n)` around what a thread does must not keep the loop over the threads scalar."""
    if shutil.which("objdump") is None:
        pytest.skip("needs objdump, of binutils")
    source = """extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y[i];
    }"""
    image = tmp_path / "saxpy.so"
    image.write_bytes(simulator.module(source).image)
    text = subprocess.run(["objdump", "-d", image], capture_output=True, text=True, check=True)
    assert re.search(r"fmadd\w*ps|mulps", text.stdout)
