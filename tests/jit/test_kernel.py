"""Whole kernels: arrays, shared memory, atomics, launches, arguments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda, grid, syncthreads
from pygpu._src.jit.calls import intrinsics
from pygpu._src.runtime.backends import backend_of
from pygpu.pykernel import ArrayType

pytestmark = pytest.mark.sampled(3)

SIZE = 16
WEIGHTS = np.array([0.25, 0.5, 0.25], np.float32)


@pygpu.kernel
def views(a, out):
    """Slices and negative indices of an array with two axes."""
    if cuda.grid(1) > 0:
        return
    row = a[-2]
    out[0] = row[1] + a[-1, -1]
    part = a[1:, ::2]
    out[1] = part.shape[0] * 100 + part.shape[1]
    out[2] = part[0, 1] + part[-1, -1]
    back = row[::-1]
    out[3] = back[0] * 10 + len(back)
    column = a[:, 1]
    total = 0.0
    for x in column:
        total += x
    out[4] = total
    for r in a[:2]:
        out[5] += r[0] + r.size
    out[6:8] = 7
    out[-2:] = a[0, :2]
    n = 3
    step = -2
    out[8] = row[n:0:step][0] + len(row[n:0:step]) + len(row[5:2]) + len(row[-100:100])
    out[9] = a.T[1, 2] + a.T.shape[0] + a.ndim + a.size + a[..., 0][1] + a[None, 1][0, 0]
    row = row[1:]
    row = row[1:]
    out[10] = row[0]
    out[11:13] += 5
    tail = out[13:15]
    tail[0], tail[1] = tail[1] + 1, tail[0] + 2


def test_views(make: Any) -> None:
    a = np.arange(20.0).reshape(4, 5)
    for host in (a, np.asfortranarray(a), np.arange(160.0).reshape(8, 20)[::2, 10::2][:, :5]):
        out = make(np.zeros(18))
        views[1, 2](make(host) if host.flags.forc else _strided(make, host), out)
        b = host
        row = b[-2]
        expected = np.zeros(18)
        expected[0] = row[1] + b[-1, -1]
        expected[1] = 303
        expected[2] = b[1, 2] + b[-1, 4]
        expected[3] = row[-1] * 10 + 5
        expected[4] = b[:, 1].sum()
        expected[5] = b[0, 0] + b[1, 0] + 10
        expected[6:8] = 7
        expected[-2:] = b[0, :2]
        expected[8] = row[3] + 2 + 0 + 5
        expected[9] = b[2, 1] + 5 + 2 + 20 + b[1, 0] * 2
        expected[10] = row[2]
        expected[11:13] = 5
        expected[13:15] = 1, 2
        assert out.get().tolist() == expected.tolist()


def _strided(make: Any, host: np.ndarray) -> Any:
    """A device array with the strides of a view."""
    whole = np.zeros((8, 20))
    whole[::2, 10::2] = np.pad(host, ((0, 0), (0, 0)))
    return make(whole)[::2, 10::2]


@pygpu.jit
def add_to(a, i, x=1):
    a[i] += x
    return a[i], i


@pygpu.kernel
def shared_sum(a, sums, dynamic):
    """A tree in shared memory of both kinds, a barrier that counts, local memory."""
    fixed = cuda.shared.array(SIZE, np.float64)
    more = cuda.shared.array(0, dtype=np.int32)
    own = cuda.local.array((2, 2), np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    own[0, 0] = a[i]
    own[1, 1] = own[0, 0] * 2
    fixed[t] = own[1, 1]
    more[t] = t
    cuda.syncthreads()
    half = SIZE // 2
    while half > 0:
        if t < half:
            fixed[t] += fixed[t + half]
        cuda.syncthreads()
        half //= 2
    n = cuda.syncthreads_count(a[i] > 2)
    large, positive = cuda.syncthreads_or(a[i] > 1000), cuda.syncthreads_and(a[i] >= 0)
    if large or not positive:
        n += 100000
    if t == 0:
        sums[cuda.blockIdx.x] = fixed[0] + n * 1000
        value, where = add_to(sums, cuda.blockIdx.x)
        add_to(sums, where, x=value - value)
        dynamic[cuda.blockIdx.x] = more[cuda.blockDim.x - 1] + len(more)


def test_shared(make: Any) -> None:
    a = np.arange(4 * SIZE, dtype=np.float32) % 7
    sums, dynamic = make(np.zeros(4)), make(np.zeros(4, np.int64))
    shared_sum[4, SIZE, None, 4 * SIZE](make(a), sums, dynamic)
    blocks = a.reshape(4, SIZE)
    expected = 2 * blocks.sum(1) + (blocks > 2).sum(1) * 1000 + 1
    assert sums.get().tolist() == expected.tolist()
    assert dynamic.get().tolist() == [SIZE - 1 + SIZE] * 4


@pygpu.kernel
def atomics(ints, floats, x):
    i = cuda.grid(1)
    n = x.size
    if i < n:
        cuda.atomic.add(ints, 0, x[i])
        cuda.atomic.sub(ints, 1, x[i])
        cuda.atomic.max(ints, 2, x[i])
        cuda.atomic.min(ints, 3, x[i])
        cuda.atomic.and_(ints, 4, x[i] | 8)
        cuda.atomic.or_(ints, 5, x[i])
        cuda.atomic.xor(ints, 6, x[i])
        cuda.atomic.inc(ints, 7, 6)
        cuda.atomic.dec(ints, 8, 6)
        old = cuda.atomic.exch(ints, 9, i)
        if old == -5:
            cuda.atomic.add(ints, 10, 1)
        if cuda.atomic.cas(ints, 11, 3, i) == 3:
            cuda.atomic.add(ints, 12, 1)
        cuda.atomic.add(floats, (0, 0), x[i] / 2)
        cuda.atomic.max(floats, (0, 1), x[i])
        cuda.atomic.min(floats, (1, 0), x[i])
        cuda.atomic.exch(floats, (1, 1), 3.0)


@pygpu.vectorize(["int16(int16)", "float32(float32)"])
def tripled(x):
    return x * 3


@pygpu.vectorize(["Tuple((float32, int8))(float64)"])
def third_and_hundred(x):
    return x / 3, x * 10


@pygpu.kernel
def typed_calls(a, b, out):
    i = grid(1)
    b[i] = tripled(b[i])
    out[i] = tripled(b[i])
    third, much = third_and_hundred(a[i])
    out[i + 2] = third
    out[i + 4] = much


@pygpu.kernel
def untyped_call(a):
    a[0] = tripled(a[0])


def test_ufuncs_with_signatures(make: Any) -> None:
    """A kernel that calls a ufunc converts what it gives as the ufunc does."""
    a, b, out = np.array([1, 2], "i4"), np.array([20000, 3], "i2"), make(np.zeros(6))
    typed_calls[1, 2](make(a), on_device := make(b), out)
    b = tripled(b)
    assert on_device.get().tolist() == b.tolist()
    assert out.get().tolist() == [*tripled(b), *np.concatenate(third_and_hundred(a))]
    with pytest.raises(pygpu.KernelError, match=r"tripled has no loop for \(int32\), only int16"):
        untyped_call[1, 1](make(a))


def both(x, y):
    return x + y


both_typed = pygpu.jit(["float32(float32, float32)", "float64(float64, float64)"])(both)


def store_sum(out, x, y):
    out[0] = both(x, y)


@pygpu.kernel
def call_both(out, x, y):
    out[0] = both_typed(x, y)


def test_nearest_signature(make: Any) -> None:
    """Of several signatures, the one that keeps the numbers is meant, not the first that fits."""
    sums = pygpu.kernel(
        store_sum,
        signatures=[("float64[:]", "float32", "float32"), ("float64[:]", "float64", "float64")],
    )
    out = make(np.zeros(1))
    for k in (sums, call_both):
        for x, y in ((1, 2**-25), (np.float64(1), np.float64(2**-25)), (1.0, np.float32(2**-25))):
            k[1, 1](out, x, y)
            assert out.get() == 1 + 2**-25
        k[1, 1](out, np.float32(1), np.float32(2**-25))
        assert out.get() == 1
    types = ("float64[:]", "float64", "float64")
    assert sums.inspect_source()[types] == sums.overloads[types].text


@pygpu.jit
def folded(op, a, b):
    return op(a, b)


@pygpu.kernel
def operated(a, b, out):
    i = grid(1)
    x, y = a[i], b[i]
    out[i, 0] = operator.add(x, y) - operator.mul(x, 2)
    out[i, 1] = operator.floordiv(x, y) + operator.mod(x, y)
    out[i, 2] = operator.truediv(x, y)
    out[i, 3] = operator.lt(x, y) + 2 * operator.ne(x, y)
    out[i, 4] = operator.neg(x) + operator.abs(x) + operator.not_(x)
    out[i, 5] = operator.iadd(x, y) + operator.xor(x, y) + operator.pow(x, 2)
    out[i, 6] = folded(operator.sub, x, y)


def test_operator_functions(make: Any) -> None:
    a, b = np.array([-7, 9, 0]), np.array([2, -4, 5])
    out = make(np.zeros((3, 7)))
    operated[1, 3](make(a), make(b), out)
    wanted = [a + b - a * 2, a // b + a % b, a / b, (a < b) + 2 * (a != b), -a + abs(a) + (a == 0)]
    wanted += [a + b + (a ^ b) + a**2, a - b]
    assert out.get().T.tolist() == [w.tolist() for w in wanted]


@pygpu.kernel
def wrapped(u, w, out):
    i = grid(1)
    v = int(np.int8(u[i]))
    out[i, 0] = v // 3
    out[i, 1] = v % 3
    out[i, 2] = int(np.int64(w[i])) // 3
    small = np.int8(u[i] & 127)
    out[i, 3] = int(small + np.int8(u[i] & 127)) // 3
    out[i, 4] = int(small * small) // 3
    out[i, 5] = int(small**2) // 3
    out[i, 6] = int(small << np.int8(1)) // 3


def test_numbers_that_wrap_around(make: Any) -> None:
    """Of sums and conversions that become negative, quotients are rounded down as well."""
    u, w = np.array([250, 100, 5], "u1"), np.array([2**63 + 17, 2**64 - 1, 3], "u8")
    out = make(np.zeros((3, 7), "i8"))
    wrapped[1, 3](make(u), make(w), out)
    with np.errstate(over="ignore"):
        s = (u & 127).astype("i1")
        v = u.astype("i1").astype(int)
        columns = [v // 3, v % 3, w.astype("i8") // 3]
        columns += [x.astype(int) // 3 for x in (s + s, s * s, s**2, s << np.int8(1))]
    assert out.get().T.tolist() == [c.tolist() for c in columns]


@pygpu.kernel
def backwards(a, counts):
    shared = pygpu.shared.array(32, np.float32)
    own = pygpu.local.array(2, np.int32)
    t, i = pygpu.threadIdx.x, grid(1)
    own[0] = pygpu.blockIdx.x
    shared[t] = a[i]
    syncthreads()
    a[i] = shared[pygpu.blockDim.x - 1 - t] + own[0] * pygpu.gridDim.x
    pygpu.atomic.add(counts, 0, pygpu.gridsize(1))


def test_names_of_no_backend(make: Any) -> None:
    """What kernels use is there without pygpu.cuda."""
    assert pygpu.grid is cuda.grid and pygpu.atomic is cuda.atomic
    assert set(pygpu._IN_KERNELS) == {*intrinsics.__all__, "atomic"} <= {*dir(pygpu)}
    assert not {*pygpu._IN_KERNELS} & {*pygpu.__all__}
    a, counts = make(np.arange(64, dtype="f4")), make(np.zeros(1, "i4"))
    backwards[2, 32](a, counts)
    assert a.get().tolist() == [*range(31, -1, -1), *range(65, 33, -1)]
    assert counts.get() == 64 * 64


@pytest.mark.parametrize("dtype", ["i4", pytest.param("i8", marks=pytest.mark.slow), "u8"])
def test_atomics(make: Any, dtype: str) -> None:
    x = (np.arange(40) * 7 % 31).astype(dtype)
    start = np.array([0, 10**6, 0, 99, 15, 0, 0, 0, 5, 250, 0, 3, 0], dtype)
    floats = np.array([[0, -1], [99, 0]], "f4" if dtype == "i4" else "f8")
    ints, f = make(start), make(floats)
    atomics[2, 32](ints, f, make(x))
    got = ints.get().tolist()
    assert got[:7] == [
        x.sum(),
        10**6 - x.sum(),
        x.max(),
        0,
        np.bitwise_and.reduce(x | 8) & 15,
        np.bitwise_or.reduce(x),
        np.bitwise_xor.reduce(x),
    ]
    assert got[7] == 40 % 7
    down = 5
    for _ in range(40):
        down = 6 if down == 0 or down > 6 else down - 1
    assert got[8] == down
    assert 0 <= got[9] < 40 and got[10] == 0 and got[12] == 1
    assert f.get().tolist() == [[x.sum() / 2, x.max()], [0, 3]]


@pygpu.kernel
def indices(out):
    x, y, z = cuda.grid(3)
    sx, sy, sz = cuda.gridsize(3)
    value = x + 10 * y + 100 * z + 1000 * cuda.threadIdx.y + 10000 * cuda.blockIdx.z
    out[z, y, x] = value + sx * sy * sz * 100000 + cuda.blockDim.x * cuda.gridDim.y


def test_indices(make: Any) -> None:
    out = make(np.zeros((2, 4, 6), np.int64))
    indices[(3, 2, 2), (2, 2, 1)](out)
    z, y, x = np.indices((2, 4, 6))
    expected = x + 10 * y + 100 * z + 1000 * (y % 2) + 10000 * z + 48 * 100000 + 4
    assert (out.get() == expected).all()


@pygpu.kernel
def stencil(a, out):
    i = cuda.grid(1)
    w = cuda.const.array_like(WEIGHTS)
    if 0 < i < len(a) - 1:
        total = np.float32(0)
        for k in range(3):
            total += w[k] * a[i + k - 1]
        out[i] = total
    elif i < len(a):
        out[i] = a[i]


def test_stencil(make: Any) -> None:
    a = np.random.default_rng(1).random(100).astype("f4")
    out = make(np.zeros(100, "f4"))
    stencil.forall(100)(make(a), out)
    expected = a.copy()
    expected[1:-1] = np.convolve(a, WEIGHTS, "valid")
    assert np.allclose(out.get(), expected)


@pygpu.kernel
def arguments(out, pair, flag, z, nothing=None, k=3):
    first, second = pair
    out[0] = first + second[0]
    out[1] = 1 if flag else 2
    out[2] = z.real + z.imag
    out[3] = 5 if nothing is None else nothing
    out[4] = k


def test_tuples_views_bools_and_complex_numbers_as_arguments(make: Any) -> None:
    out = make(np.zeros(5))
    inner = make(np.array([4.0, 5.0]))
    arguments[1, 1](out, (2, inner[1:]), True, 1 + 2j)
    assert out.get().tolist() == [7, 1, 3, 5, 3]
    arguments(
        out, (np.int8(2), inner), np.bool_(False), np.complex64(2j), k=9, nothing=8, grid=1, block=1
    )
    assert out.get().tolist() == [6, 2, 2, 8, 9]
    with pytest.raises(TypeError, match="missing a required argument"):
        arguments[1, 1](out)
    with pytest.raises(TypeError, match="argument flag: a str cannot be an argument"):
        arguments[1, 1](out, (1, inner), "x", 1j)
    with pytest.raises(ValueError, match="needs a launch size"):
        arguments(out, (1, inner), True, 1j)
    for config in ((1,), 5, (1, 2, None, 0, 0)):
        with pytest.raises(ValueError, match="blocks and threads"):
            arguments[config]
    with pytest.raises(ValueError, match="at least one thread"):
        arguments[1, 0]
    with pytest.raises(TypeError, match="must be an int"):
        arguments[1.5, 1]


@pygpu.kernel
def unpacks(shape, out):
    height, width = shape
    out[cuda.grid(1)] = height * 10 + width


def test_unpacked_array(make: Any) -> None:
    out = make(np.zeros(3, np.int32))
    unpacks.forall(1, tpb=3)(make(np.array([4, 7])), out)
    assert out.get().tolist() == [47] * 3
    unpacks.forall(3)(make(np.array([1, 2])), make(np.zeros(1024, np.int32)))


@pygpu.kernel
def checked(a, limit):
    i = cuda.grid(1)
    assert a[i] < limit, "too large"
    a[i] += 1


def test_assert(make: Any) -> None:
    a = make(np.arange(8))
    checked[1, 8](a, 100)
    with pytest.raises(AssertionError, match=r"a\[i\] < limit: too large \(checked, .*:\d+\)"):
        checked[1, 8](a, 5)
    checked[1, 8](a, 100)
    assert a.get().tolist() == [i + 3 for i in range(8)]


@pygpu.kernel
def scale(a, k):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= k


def test_any_dtype_and_size(make: Any) -> None:
    for dtype in ("i4", "f4"):
        for n in (0, 1, 1000):
            host = np.arange(n).astype(dtype)
            a = make(host)
            scale[4, 256](a, 3)
            assert (a.get() == host * 3).all() and a.dtype == host.dtype
    assert len(scale.signatures) >= 2


def test_an_empty_grid_is_refused(make: Any) -> None:
    a = make(np.ones(3))
    for blocks in (0, (0, 2), (1, 1, 0)):
        with pytest.raises(pygpu.LogicError, match="scale: a grid has at least one block, not .*0"):
            scale[blocks, 256](a, 3)
        with pytest.raises(pygpu.LogicError, match="skip the launch if there is nothing to do"):
            scale(a, 3, grid=blocks, block=256)
    scale.forall(0)(a[:0], 3)  # one block, as in Numba
    assert (a.get() == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u1", "i2", "u2", "u4", "i8", "u8", "f2", "f8", "c8", "c16"]
)
def test_every_dtype(make: Any, dtype: str) -> None:
    host = np.arange(10).astype(dtype)
    a = make(host)
    scale[1, 16](a, True if dtype == "?" else 3)
    assert (a.get() == host * np.array(3, dtype)).all()


def test_host_arrays() -> None:
    a = np.arange(10.0)
    scale[1, 16](a[::2], 10)
    assert a.tolist() == [0, 1, 20, 3, 40, 5, 60, 7, 80, 9]
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="scale: argument a: the array is read-only"):
        scale[1, 4](fixed, 2)
    assert fixed.tolist() == [0, 1, 2]


def test_numba_names(cuda_context: Any) -> None:
    cuda_context.push()
    try:

        @cuda.jit("void(float32[:], int32)")
        def add(a, n):
            i = cuda.grid(1)
            if i < a.size:
                a[i] += n

        stream = cuda.stream()
        d = cuda.to_device(np.zeros(5, np.float32), stream)
        add[1, 32, stream](d, 2)
        stream.synchronize()
        assert d.copy_to_host().tolist() == [2] * 5
        assert "pg_i32 v_n" in add.inspect_source("float32[:]", "int32")
        with pytest.raises(TypeError, match="the signature says"):
            add[1, 32](cuda.to_device(np.zeros(5)), 2)
        assert d[2] == 2 and isinstance(d[2], np.float32)
        other = cuda.device_array_like(d)
        other.copy_to_device(d)
        assert other.copy_to_host(np.empty(5, np.float32)).tolist() == [2] * 5
        begin, end = cuda.event(), cuda.event()
        begin.record()
        end.record()
        end.synchronize()
        assert cuda.event_elapsed_time(begin, end) >= 0
        assert len(cuda.gpus) >= 1 and cuda.is_available()
        assert cuda.current_context().get_memory_info().total > 0
        with cuda.pinned(np.zeros(1000)):
            pass

        @cuda.jit
        def shuffles(out):
            lane = cuda.laneid
            out[0, lane] = cuda.shfl_sync(-1, lane * 2, 3)
            out[1, lane] = cuda.shfl_down_sync(0xFFFFFFFF, np.float64(lane), 1)
            out[2, lane] = cuda.shfl_xor_sync(-1, np.int32(lane), 1)
            out[3, lane] = cuda.popc(cuda.ballot_sync(-1, lane % 3 == 0)) + cuda.warpsize
            out[4, lane] = cuda.any_sync(-1, lane == 5) + 2 * cuda.all_sync(-1, lane < 31)
            cuda.syncwarp()
            out[5, lane] = cuda.clz(np.int32(lane)) + cuda.ffs(lane) + cuda.brev(np.uint32(1 << 31))

        d = cuda.to_device(np.zeros((6, 32)))
        shuffles[1, 32](d)
        got = d.copy_to_host()
        lanes = np.arange(32)
        assert (got[0] == 6).all() and (got[2] == lanes ^ 1).all()
        assert (got[1] == np.minimum(lanes + 1, 31)).all()
        assert (got[3] == 43).all() and (got[4] == 1).all()
        bits = [32 - int(i).bit_length() + (int(i) & -int(i)).bit_length() + 1 for i in lanes]
        assert got[5].tolist() == bits
    finally:
        type(cuda_context).pop()


def test_detect(cuda_context: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert cuda.detect()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Found ") and lines[0].endswith(" CUDA devices")
    assert lines[1].startswith("id 0 ") and lines[1].endswith("[SUPPORTED]")
    assert lines[-1] == f"\t{len(cuda.gpus)}/{len(cuda.gpus)} devices are supported"


@pytest.mark.slow
def test_nvrtc(cuda_context: Any, nvrtc: Any) -> None:
    """NVIDIA's compiler takes the texts, also where the simulator runs them."""

    def array(dtype: str, ndim: int = 1, contiguous: bool = True) -> ArrayType:
        return ArrayType(np.dtype(dtype), ndim, contiguous)

    cases = [
        (views, [array("f8", 2, False), array("f8")]),
        (shared_sum, [array("f4"), array("f8"), array("i8")]),
        (atomics, [array("i4"), array("f4", 2), array("i4")]),
        (atomics, [array("i8"), array("f8", 2), array("i8")]),
        (atomics, [array("u8"), array("f8", 2), array("u8")]),
        (indices, [array("i8", 3)]),
        (stencil, [array("f4"), array("f4")]),
        (checked, [array("i8"), int]),
        (scale, [array("f2"), float]),
        (scale, [array("c8"), complex]),
    ]
    cuda_context.push()
    try:
        backend = backend_of(cuda_context)
        for function, types in cases:
            nvrtc(backend, function.inspect_source(*types, backend=cuda_context))
    finally:
        type(cuda_context).pop()


@pygpu.jit
def nested(x):
    return (x, (x + 1, x * 2.5)), 7


@pygpu.kernel
def prints(a, z):
    i = cuda.grid(1)
    (p, (q, r)), s = nested(a[i])
    if i == 0:
        print("100%", i, a[i], z, (p, q), a.size > 1, True, sep=" | ", end=' "end"\n')
        print(f"{i}%{q:7.2f}|{i + 1:<3d}|{a.size:03}|{r:+.1e}|{i:.1f}|{p > 1:d}", f"{z}{{}}")
    a[i] = p + q + r + s


def test_print_and_nested_results(make: Any, capfd: pytest.CaptureFixture[str]) -> None:
    a = make(np.arange(4.0))
    prints[1, 4](a, 1 + 2j)
    assert a.get().tolist() == [x + x + 1 + x * 2.5 + 7 for x in range(4)]
    if make.name == "cuda":
        cuda.synchronize()
    truth = "True" if make.name == "cuda" else "1"
    expected = f'100% | 0 | 0 | (1+2j) | (0, 1) | {truth} | True "end"\n'
    expected += f"0%{1:7.2f}|{1:<3d}|{4:03}|{0.0:+.1e}|{0:.1f}|0 (1+2j){{}}\n"
    assert capfd.readouterr().out == expected


@pytest.mark.parametrize("form", ["x", "d", ".3", "{a[0]}", "^9.1f"])
def test_wrong_formats(form: str) -> None:
    text = f'def shows(a):\n    print(f"{{a[0]:{form}}}")\n'
    space: dict[str, Any] = {}
    exec(text, space)
    with pytest.raises(pygpu.KernelError, match="format"):
        pygpu.kernel(space["shows"], src=text)[1, 1](np.zeros(1))


def test_wrong_launches(make: Any) -> None:
    """Launches that cannot be are errors that name the kernel, or the driver's call and why."""

    @pygpu.kernel
    def fill(a):
        a[cuda.grid(1)] = 1

    a = make(np.zeros(1))
    for shared in (-1, "x", 1.5):
        with pytest.raises(
            ValueError, match=f"fill: shared memory must be 0 or more bytes, not {shared!r}"
        ):
            fill[1, 1, None, shared]
    for blocks in (np.array([1]), 1.5, "a", (), (1, 1, 1, 1), -1):
        kind = TypeError if isinstance(blocks, (np.ndarray, float, str)) else ValueError
        with pytest.raises(kind, match="fill: blocks must be an int or up to three"):
            fill[blocks, 1]
    for sizes in ((1 << 31, 1), (1, 1 << 31), ((1, 1, 1 << 40), 1)):
        with pytest.raises(ValueError, match="fill: .* at most 2147483647 in a direction"):
            fill[sizes]
    for n in ("a", -1, 1.5):
        with pytest.raises((TypeError, ValueError), match=f"fill.forall: .*{n!r}"):
            fill.forall(n)
    with pytest.raises((TypeError, ValueError), match="string|str"):
        fill[1, 1, "string"](a)
    if a.backend.name == "cuda":
        for wrong in ({"shape": (1,)}, 5):
            given = type("Foreign", (), {"__cuda_array_interface__": wrong})()
            with pytest.raises(TypeError, match="fill: the __cuda_array_interface__ of a Foreign"):
                cuda.jit(fill)[1, 1](given)
        with pytest.raises(ValueError, match=r"grid\[1\] = 1048576, but this device allows"):
            fill[(1, 1 << 20), 1](a)
    elif "pocl" in a.queue.device.platform.version.lower():
        with pytest.raises(ValueError, match="PoCL counts them with 32 bits"):
            fill[(1 << 30, 1 << 10), 1](a)
    fill[1, 1](a)
    assert a.get()[0] == 1


def test_reprs_show_the_parameters_and_the_launch():
    @pygpu.kernel
    def scale(x, by):
        x[0] *= by

    assert repr(scale).endswith("scale(x, by)>") and repr(scale).startswith("<pygpu.kernel ")
    assert repr(scale[2, 64]) == f"<{scale!r} with grid (2,), block (64,)>"
    assert repr(scale.forall(7)) == f"<{scale!r} for at least 7 threads>"
