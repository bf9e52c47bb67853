"""Kernels that are cut at their barriers give what they give with a fiber for each thread.

Each kernel gets (int *out, const int *in, int n): n threads a block, 4 n ints each way.
"""

import re
from pathlib import Path

import numpy as np
import pytest

N = 96
HEAD = "extern __shared__ int sh[];\n#define T (int)threadIdx.x\n"


def read_kernels():
    """{kind: {name: text}} of regions.cu."""
    text = (Path(__file__).parent / "regions.cu").read_text()
    kernels = {"cut": {}, "uncut": {}, "refused": {}}
    for part in text.split("//@ ")[1:]:
        head, body = part.split("\n", 1)
        kind, name = head.split()
        kernels[kind][name] = body
    return kernels


CUT, UNCUT, REFUSED = read_kernels().values()

PROGRAM = """
#define COUNT (2 * STEP)
#define STEP 3
#define SYNC_IF(c) if (c) __syncthreads()
enum enum_t { enum_a, enum_b };
typedef long long Wide;
typedef Wide Index;
struct Pair { int a, b; };
__device__ int bound = 3;
__device__ void bump(int &x, int by) { x += by; }
__device__ void move(int *&x, int by) { x += by; }
__device__ void swap_(int &x, int &y) { int z = x; x = y; y = z; }
__device__ void meet() { __syncthreads(); }
"""


def kernel(name, body):
    return f'extern "C" __global__ void {name}(int *out, const int *in, int n) {{{body}}}\n'


def program(kernels):
    return HEAD + PROGRAM + "".join(kernel(name, body) for name, body in kernels.items())


def outputs(module, name, block=N, grid=3, threads=N, shared=4 * (2 * N + 1)):
    rng = np.random.default_rng(7)
    given = rng.integers(0, 1000, 4 * threads).astype(np.int32)
    out = np.zeros(4 * threads, np.int32)
    module.launch(name, grid, block, out, given, np.int32(threads), shared=shared)
    return out


def in_regions(module, name):
    return bool(module.simulator.inner.kernel_in_regions(module.kernel(name)))


@pytest.fixture(scope="module")
def fibers(make_simulator):
    return make_simulator(PYGPU_SIM_FIBERS="1")


@pytest.fixture(scope="module")
def modules(simulator, fibers):
    """The kernels of both tables: as they are, and without cutting any."""
    source = program(CUT | UNCUT)
    return simulator.module(source), fibers.module(source)


@pytest.mark.parametrize("name", CUT | UNCUT)
def test_same_as_fibers(modules, name):
    cut, uncut = modules
    assert in_regions(cut, name) == (name in CUT)
    assert not in_regions(uncut, name)
    expected = outputs(uncut, name)
    assert expected.any()
    np.testing.assert_array_equal(outputs(cut, name), expected)


@pytest.mark.parametrize("name", REFUSED)
def test_kernels_that_cannot_be_cut_run_uncut(simulator, fibers, name):
    source = program({name: REFUSED[name]})
    cut, uncut = simulator.module(source), fibers.module(source)
    assert not in_regions(cut, name)
    expected = outputs(uncut, name)
    assert expected.any()
    np.testing.assert_array_equal(outputs(cut, name), expected)


SHAPES = """
template <class V, int R> __global__ void shaped(int *out, const int *in, int n) {
    __shared__ V s[R][1024];
    const unsigned me = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    V x = in[me];
    for (int r = 0; r < R; r++) {
        s[r][me] = x + r;
        __syncthreads();
        x = s[r][(me * 5 + blockIdx.x) % n];
    }
    out[me + blockIdx.x * n] = (int)x;
}
"""


def test_shapes(simulator, fibers):
    """Blocks of one, two and three dimensions, of one thread, of 1024, and of odd sizes."""
    names = ("shaped<long long, 2>", "shaped<double, 3>")
    results = []
    for backend in (simulator, fibers):
        image, lowered = backend.compile(SHAPES, names=names)
        module = backend.load(image)
        assert [in_regions(module, name) for name in lowered] == [backend is simulator] * 2
        results.append(
            [
                outputs(module, name, block=block, grid=4, threads=int(np.prod(block)), shared=0)
                for name in lowered
                for block in ((1,), (7,), (33, 3), (1024,), (16, 16, 4), (1, 1, 64), (5, 7, 3))
            ]
        )
    for got, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(got, expected)


PRODUCT = """
extern "C" __global__ void product(float *C, const float *A, const float *B, int n) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int t = 0; t < (n + 15) / 16; t++) {
        As[ty][tx] = row < n && t * 16 + tx < n ? A[row * n + t * 16 + tx] : 0;
        Bs[ty][tx] = t * 16 + ty < n && col < n ? B[(t * 16 + ty) * n + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = sum;
}
extern "C" __global__ void wild(int *out, const long long *in, int n) {
    __shared__ long long s[256];
    long long x = in[threadIdx.x];
    s[threadIdx.x] = x;
    __syncthreads();
    out[s[255 - threadIdx.x]] =
        x / n;
}
extern "C" __global__ void endless(int *out) {
    for (int i = 0; i >= 0; i = (i + 1) & 1023) {
        out[threadIdx.x] = i;
        __syncthreads();
    }
}
"""


@pytest.fixture(scope="module")
def product(simulator):
    return simulator.module(PRODUCT)


def test_product(product):
    n = 100
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-9, 9, (n, n)).astype(np.float32) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    assert in_regions(product, "product")
    product.launch("product", (7, 7), (16, 16), c, a, b, np.int32(n))
    np.testing.assert_array_equal(c, a @ b)


def test_cooperative(product):
    """Then each block has its fibers."""
    a = np.arange(256, dtype=np.float32).reshape(16, 16)
    c = np.zeros((16, 16), np.float32)
    product.launch("product", 1, (16, 16), c, a, a, np.int32(16), cooperative=True)
    np.testing.assert_array_equal(c, a @ a)


def test_whose_fault(product):
    """A fault names the thread and its line, although no thread ran on its own."""
    given = np.arange(256, dtype=np.int64)
    assert in_regions(product, "wild")
    with pytest.raises(Exception, match=r"thread \(\d+,0,0\): integer division by zero.*:2[12]"):
        product.launch("wild", 1, 256, np.zeros(256, np.int32), given, np.int32(0))
    given[10] = -(1 << 44)  # 64 TiB below, where nothing of the process lies
    with pytest.raises(Exception, match=r"thread \(245,0,0\): invalid write.*:2[12]"):
        product.launch("wild", 1, 256, np.zeros(256, np.int32), given, np.int32(1))


def test_time_limit(make_simulator):
    """The place may be in the loop over threads, which is not a line of the kernel."""
    simulator = make_simulator(PYGPU_SIM_TIMEOUT="0.5")
    module = simulator.module(PRODUCT)
    assert in_regions(module, "endless")
    with pytest.raises(Exception, match="kernel endless, .* ran for more than 0.5 s"):
        module.launch("endless", 1, 64, np.zeros(64, np.int32))


def test_checks_and_debugger_see_the_users_text(make_simulator):
    checked = make_simulator(PYGPU_SIM_CHECK="1")
    assert not in_regions(checked.module(PRODUCT), "product")
    checked.run(
        HEAD + kernel("k", CUT["straight"]),
        1,
        64,
        np.zeros(64, np.int32),
        np.ones(64, np.int32),
        np.int32(64),
        shared=256,
    )
    with pytest.raises(Exception, match="race on shared memory"):
        checked.run(
            HEAD
            + kernel(
                "k", "sh[T] = 1; __syncthreads(); out[T] = sh[T]; sh[T ^ 1] = 2; out[T] = sh[T];"
            ),
            1,
            64,
            np.zeros(64, np.int32),
            np.zeros(1, np.int32),
            np.int32(64),
            shared=256,
        )


def test_debug_option(simulator):
    assert not in_regions(simulator.module(PRODUCT, options=["-G"]), "product")


def test_errors_are_about_the_users_text(simulator, fibers):
    source = (
        HEAD
        + "\n"
        + kernel(
            "k",
            "\n    int x = 1;\n    sh[T] = x;\n    __syncthreads();\n    out[T] = undeclared;\n",
        )
    )
    logs = []
    for backend in (simulator, fibers):
        with pytest.raises(Exception, match="undeclared") as caught:
            backend.compile(source)
        logs.append(str(caught.value))
    assert logs[0] == logs[1]
    assert re.search(r"\(8\): error: .*undeclared", logs[0]), logs[0]


def test_namesakes(simulator):
    """Overloads of one name are left alone, and work."""
    source = """
    #define BODY(V, own)        \\
        __shared__ V s[32];         \\
        s[threadIdx.x] = (own);     \\
        __syncthreads();            \\
        out[threadIdx.x] = s[31 - threadIdx.x];
    template <class V> __global__ void k(V *out) { BODY(V, threadIdx.x) }
    template <> __global__ void k<float>(float *out) { BODY(float, 1) }
    __global__ void later(int *out);
    __global__ void later(int *out) { BODY(int, threadIdx.x) }
    """
    image, names = simulator.compile(source, names=("k<int>", "k<float>", "later"))
    module = simulator.load(image)
    expected = np.arange(32)[::-1]
    for name, dtype, values in zip(names, ("i4", "f4", "i4"), (expected, 1, expected), strict=True):
        out = np.zeros(32, dtype)
        module.launch(name, 1, 32, out)
        np.testing.assert_array_equal(out, np.broadcast_to(values, 32).astype(dtype))
        assert not in_regions(module, name)
