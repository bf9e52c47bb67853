"""Kernels that are cut at their barriers give what they give with a fiber for each thread.

Each kernel gets (int *out, const int *in, int n): n threads a block, 4 n ints each way, a grid of 3.
"""

import re

import numpy as np
import pytest

N = 96
HEAD = "extern __shared__ int sh[];\n#define T (int)threadIdx.x\n"

# name: text; what __syncthreads() cuts
CUT = {
    "straight": "sh[T] = in[T]; __syncthreads(); out[T] = sh[n - 1 - T];",
    "reduction": """
        int sum = in[T] + in[T + n];
        sh[T] = sum;
        __syncthreads();
        for (unsigned s = 64; s > 0; s >>= 1) {
            if (T < s && T + s < n) sh[T] += sh[T + s];
            __syncthreads();
        }
        out[T] = sh[0] * sum;""",
    "scan": """
        int from = 0, to = 1, *s = sh;
        s[T] = in[T];
        __syncthreads();
        for (int d = 1; d < n; d <<= 1) {
            s[to * n + T] = s[from * n + T] + (T >= d ? s[from * n + T - d] : 0);
            int swap = from;
            from = to;
            to = swap;
            __syncthreads();
        }
        out[T] = s[from * n + T];""",
    "while_": """
        int k = n;
        int x = T;
        while (k > 3) {
            sh[T] = x + k;
            __syncthreads();
            x += sh[(T + k) % n] ^ k;
            k = k / 2 - 1;
            __syncthreads();
        }
        out[T] = x;""",
    "do_while": """
        int k = 0; int x = in[T];
        if (n < 0) { __syncthreads(); x = 0; }
        do {
            sh[T] = x;
            __syncthreads();
            x = 3 * sh[(T + 1) % n] - k;
            __syncthreads();
            ++k;
        } while (k < 4);
        out[T] = x;""",
    "nested": """
        long long total = T;
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 4; j += 2) {
                sh[T] = (int)total + i * j;
                __syncthreads();
                total = total * 3 + sh[(T + j + i) % n];
                __syncthreads();
            }
            total -= i;
        }
        for (int i = 4; i-- > 0;) {
            sh[T] = (int)total;
            __syncthreads();
            for (int j = 0; j < 3; j++) { if (j == 1) continue; total += sh[(T * j + i) % n]; if (total & 1) break; }
            __syncthreads();
        }
        out[T] = (int)total;""",
    "return_some": """
        sh[T] = in[T];
        if (T % 3 == 1) return;
        __syncthreads();
        int x = sh[(T + 1) % n];
        if (x & 1) { out[T] = -x; return; }
        for (int i = 0; i < 3; i++) {
            sh[T] += x;
            __syncthreads();
            if (T == i) return;
            x += sh[(T + 7) % n] & 3;
            __syncthreads();
        }
        out[T] = x;""",
    "return_all": """
        out[T] = 1;
        if (n > 0) return;
        for (int i = 0; i != 5; i += 2) { sh[T] = i; __syncthreads(); }
        out[T] = sh[T];""",
    "arrays": """
        const int R = 3;
        int sums[R][2], last[4] = {1, 2, T, 4};
        for (int r = 0; r < R; r++) { sums[r][0] = r; sums[r][1] = in[T + r]; }
        for (int k = 0; k < 5; k++) {
            sh[T] = sums[k % R][k & 1] + last[k & 3];
            __syncthreads();
            for (int r = 0; r < R; r++) sums[r][1] += sh[(T + r) % n] * sums[r][0];
            last[k & 3]++;
            __syncthreads();
        }
        out[T] = sums[0][1] + sums[1][1] + sums[2][1] + sums[1][0] + last[0] + last[2];""",
    "pointers": """
        const int *p = in + T;
        int *q = out + T;
        int *const mine = &sh[T];
        for (int k = 0; k < 3; k++) {
            *mine = *p;
            p += n;
            __syncthreads();
            *q = sh[n - 1 - T];
            if (T & 1) q += n;
            __syncthreads();
        }""",
    "parameters": """
        in += blockIdx.x * 2;
        sh[T] = in[0];
        __syncthreads();
        out[T] = sh[(T + 1) % n] + n;
        n = n - T;
        __syncthreads();
        out[T] += n + in[1];""",
    "branches": """
        int x = in[T];
        if (n == 5) { __syncthreads(); x = 0; }
        else if (blockIdx.x == 1) { sh[T] = x; __syncthreads(); x = sh[n - 1 - T]; }
        else { x = -x; }
        if (gridDim.x > 2) { sh[T] = x; __syncthreads(); }
        out[T] = x + sh[(T + 1) % n];""",
    "late": """
        int x, y;
        sh[T] = in[T];
        __syncthreads();
        x = sh[(T + 5) % n];
        if (x & 1) y = 1; else y = 2;
        __syncthreads();
        out[T] = x * y;""",
    "vectors": """
        int4 v = make_int4(T, in[T], 1, 0);
        int2 const w{in[T], 2};
        for (int k = 0; k < 3; k++) {
            sh[T] = v.x + v.y;
            __syncthreads();
            v.z += sh[(T + k) % n];
            v.w = v.z ^ w.x;
            __syncthreads();
        }
        out[T] = v.z + v.w + w.y;""",
    "by_reference": """
        int x = in[T], y = 1;
        sh[T] = x;
        __syncthreads();
        bump(x, sh[(T + 1) % n]);
        swap_(x, y);
        __syncthreads();
        out[T] = x - 3 * y;""",
    "switch_": """
        unsigned char kind = in[T] & 3;
        sh[T] = 0;
        __syncthreads();
        switch (kind) {
        case 0: sh[T] = 5; break;
        case 1: sh[T] = 6;
        default: for (int i = 0; i < 9; i++) { if (i == 4) break; sh[T] += i; }
        }
        __syncthreads();
        out[T] = sh[(T + 1) % n] + kind;""",
    "atomics": """
        __shared__ int bins[8];
        __shared__ unsigned count;
        if (T < 8) bins[T] = 0;
        if (T == 8) count = 0;
        __syncthreads();
        atomicAdd(&bins[in[T] & 7], T);
        atomicAdd(&count, 1u);
        __syncthreads();
        out[T] = bins[T & 7] + count;""",
    "shadows": """
        int i = T, x = 0;
        sh[i] = in[i];
        __syncthreads();
        for (int i = 0; i < 5; i++) x += sh[(T + i) % n];
        { float x = 2; out[i + n] = (int)x; }
        __syncthreads();
        out[i] = x;""",
    "pragma": """
        float sum = 0;

#pragma unroll
        for (int k = 0; k < 4; ++k)
        {
            sh[T] = in[T + k];


            __syncthreads();
#pragma unroll 2
            for (int j = 0; j < 8; j++) sum += sh[(T + j) % n];
            __syncthreads();
        }
        out[T] = (int)sum;""",
    "tiles": """
        for (int tile = blockIdx.x; tile < 7; tile += gridDim.x) {
            const int first = tile * 8, mine = first + T;
            sh[T] = mine < n ? in[mine] : 0;
            __syncthreads();
            out[(T + first) % n] = sh[(T + 1) % n];
            __syncthreads();
        }""",
    "counted": """
        int t = 0;
        int wrong = t + T; /* t is another one when it is used */
        for (; t < 3; t++) {
            int right = t + T;
            sh[T] = right;
            __syncthreads();
            out[T] += wrong + sh[(T + 1) % n] * right;
            __syncthreads();
        }""",
    "warps": """
        sh[T] = in[T];
        __syncwarp();
        int x = sh[T ^ 1];
        __syncthreads();
        sh[T] = x;
        __syncthreads();
        out[T] = sh[n - 1 - T];""",
    "braces": """
        int x = in[T];
        {
            const int half = n / 2;
            sh[T] = x;
            __syncthreads();
            int x = half + sh[(T + half) % n];
            __syncthreads();
            out[T + n] = x;
        }
        out[T] = x;""".replace("int x = half", "int y = half").replace(
        "n] = x;\n        }", "n] = y;\n        }"
    ),
    "typed": """
        typedef unsigned short Small;
        Small s = (Small)(in[T] * 3);
        enum_t e = (enum_t)(in[T] & 1);
        sh[T] = s;
        __syncthreads();
        out[T] = s + sh[(T + 1) % n] + (e == enum_b);""",
    "constants": """
        int x = 0;
        for (int k = 0; k < COUNT; k += STEP) {
            sh[T] = k;
            __syncthreads();
            x += sh[(T + k) % n];
            __syncthreads();
        }
        out[T] = x;""",
}

# What stays on fibers, for a reason that the text shows
UNCUT = {
    "memory_decides": "sh[T] = in[T]; if (in[0] >= 0) { __syncthreads(); } out[T] = sh[T ^ 1];",
    "memory_bound": "int x = 0; for (int i = 0; i < (in[5] & 3); i++) { sh[T] = i; __syncthreads(); x += sh[T ^ 1]; } out[T] = x;",
    "shared_bound": """__shared__ int m; if (T == 0) m = 3; __syncthreads();
        int x = 0; for (int i = 0; i < m; i++) { __syncthreads(); x += i; } out[T] = x;""",
    "thread_bound": "sh[T] = 0; for (int i = T; i < T + 3; i++) { sh[T] += i; __syncthreads(); } out[T] = sh[T ^ 1];",
    "changed_counter": """sh[T] = T; for (int i = 0; i < 6; i++) { sh[T] += i; __syncthreads(); if (n > 5) i++; if (in[0] > 1 << 30) i--; }
        out[T] = sh[T ^ 1];""",
    "in_function": "sh[T] = in[T]; meet(); out[T] = sh[T ^ 1];",
    "count": "out[T] = __syncthreads_count(in[T] & 1); __syncthreads();",
    "address": """int x = in[T]; int *p = &x; sh[T] = x; __syncthreads(); *p += sh[T ^ 1]; __syncthreads(); out[T] = x;""",
    "array_address": """int a[2] = {1, in[T]}; int *p = a + 1; sh[T] = *p; __syncthreads(); *p += sh[T ^ 1]; __syncthreads(); out[T] = a[1];""",
    "address_of_other": """int a[2] = {1, in[T]}; int *p; p = in[T] & 1 ? &a[0] : &a[1]; sh[T] = *p; __syncthreads(); out[T] = *p + sh[T ^ 1];""",
    "array_argument": """int a[2] = {1, in[T]}; sh[T] = 1; __syncthreads(); bump(*a, sh[T ^ 1]); __syncthreads(); out[T] = a[0];""",
    "reference": "int &r = sh[T]; r = in[T]; __syncthreads(); int x = sh[T ^ 1]; __syncthreads(); r = x; __syncthreads(); out[T] = sh[T ^ 1];",
    "lambda": "auto f = [=](int i) { return in[i]; }; sh[T] = f(T); __syncthreads(); out[T] = sh[T ^ 1];",
    "no_braces": "for (int i = 0; i < 3; i++) __syncthreads(); sh[T] = 1; __syncthreads(); out[T] = sh[T ^ 1];",
    "macro": "sh[T] = in[T]; SYNC_IF(n > 0); out[T] = sh[T ^ 1];",
    "goto_": "int k = 0; again: sh[T] = k; __syncthreads(); if (++k < 3) goto again; out[T] = sh[T ^ 1];",
    "shuffle": "sh[T] = __shfl_xor_sync(~0u, in[T], 1); __syncthreads(); out[T] = sh[T ^ 1];",
    "auto_": "auto x = in[T]; sh[T] = x; __syncthreads(); out[T] = x + sh[T ^ 1];",
    "diverged": "sh[T] = in[T]; if (T < 32) { __syncthreads(); } else { __syncthreads(); } out[T] = sh[T ^ 1];",
    "comma": "sh[T] = in[T], __syncthreads(); out[T] = sh[T ^ 1];",
    "shared_pointer": """__shared__ int *where; if (T == 0) where = sh + 1; __syncthreads();
        int *w = where; w[T] = in[T]; __syncthreads(); for (int i = 0; i < *w + 0 * n && i < 2; i++) { __syncthreads(); } out[T] = sh[1 + (T ^ 1)];""",
    "static_": "sh[T] = in[T]; __syncthreads(); static const int three = 3; out[T] = sh[T ^ 1] + three;",
    "hidden_change": "for (int i = 0; i < 6; i++) { sh[T] = i; __syncthreads(); out[T] += sh[T ^ 1]; __syncthreads(); bump(i, 1); }",
    "hidden_pointer": "int *p = out + T; sh[T] = 1; __syncthreads(); move(p, 1); __syncthreads(); *p = sh[T ^ 1];",
    "asserts": "sh[T] = in[T]; assert(n > 0); __syncthreads(); out[T] = sh[T ^ 1];",
}

# What only the C++ compiler sees: it refuses what was made of the kernel, and gets the other form
REFUSED = {
    "mutable_bound": "int x = 0; for (int i = 0; i < bound; i++) { sh[T] = i; __syncthreads(); x += sh[T ^ 1]; } out[T] = x;",
    "structure": "Pair p{in[T], 2}; sh[T] = p.a; __syncthreads(); p.b += sh[T ^ 1]; __syncthreads(); out[T] = p.b;",
    "continues": "for (int i = 0; i < 3; i++) { if (n == 3) continue; sh[T] = i; __syncthreads(); out[T] += sh[T ^ 1]; __syncthreads(); }",
}

PROGRAM = """
#define COUNT (2 * STEP)
#define STEP 3
#define SYNC_IF(c) if (c) __syncthreads()
enum enum_t { enum_a, enum_b };
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
def test_refused(simulator, fibers, name):
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
        module = type(backend.module("__global__ void k() {}"))(backend, image)
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
extern "C" __global__ void wild(int *out, const int *in, int n) {
    __shared__ int s[256];
    int x = in[threadIdx.x];
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
    given = np.arange(256, dtype=np.int32)
    assert in_regions(product, "wild")
    with pytest.raises(Exception, match=r"thread \(\d+,0,0\): integer division by zero.*:2[12]"):
        product.launch("wild", 1, 256, np.zeros(256, np.int32), given, np.int32(0))
    given[10] = 1 << 28
    with pytest.raises(Exception, match=r"thread \(245,0,0\): invalid write.*:2[12]"):
        product.launch("wild", 1, 256, np.zeros(256, np.int32), given, np.int32(1))


def test_time_limit(make_simulator):
    simulator = make_simulator(PYGPU_SIM_TIMEOUT="0.5")
    module = simulator.module(PRODUCT)
    assert in_regions(module, "endless")
    with pytest.raises(Exception, match=r"ran for more than 0.5 s .*:2[6-9]"):
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
            "\n    int x = in[T];\n    sh[T] = x;\n    __syncthreads();\n    out[T] = x + undeclared;\n",
        )
    )
    logs = []
    for backend in (simulator, fibers):
        with pytest.raises(Exception, match="undeclared") as caught:
            backend.compile(source)
        logs.append(str(caught.value))
    assert logs[0] == logs[1]
    assert re.search(r"\(9\): error: .*undeclared", logs[0]), logs[0]


def test_namesakes(simulator):
    """Overloads of one name are left alone, and work."""
    source = """
    template <class V> __global__ void k(V *out) { __shared__ V s[32]; s[threadIdx.x] = threadIdx.x; __syncthreads(); out[threadIdx.x] = s[31 - threadIdx.x]; }
    template <> __global__ void k<float>(float *out) { __shared__ float s[32]; s[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = s[31 - threadIdx.x]; }
    __global__ void later(int *out);
    __global__ void later(int *out) { __shared__ int s[32]; s[threadIdx.x] = threadIdx.x; __syncthreads(); out[threadIdx.x] = s[31 - threadIdx.x]; }
    """
    image, names = simulator.compile(source, names=("k<int>", "k<float>", "later"))
    module = type(simulator.module("__global__ void k() {}"))(simulator, image)
    expected = np.arange(32)[::-1]
    for name, dtype, values in zip(names, ("i4", "f4", "i4"), (expected, 1, expected), strict=True):
        out = np.zeros(32, dtype)
        module.launch(name, 1, 32, out)
        np.testing.assert_array_equal(out, np.broadcast_to(values, 32).astype(dtype))
        assert not in_regions(module, name)
