"""pygpu.reduce, pygpu.cuda.reduce and the kernels that join items in their order."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import pygpu as cl
from pygpu._src.array import associative as ordered
from pygpu._src.jit.decorators import binary

pytestmark = pytest.mark.sampled(3)

SIZES = (1, 2, 7, 8, 33, 255, 257, 4097, 70001)


def _host(x):
    return x.get() if hasattr(x, "get") else x


def maps(a, b):
    """x -> a.real * x + a.imag, one after the other: associative, exact here, not commutative."""
    return complex(a.real * b.real, a.imag * b.real + b.imag)


def test_order(make):
    """Composed maps at sizes around those of tiles, reduced and accumulated."""
    compose = cl.reduce(maps, target=make.name)
    running = cl.vectorize(maps, target=make.name)
    rng = np.random.default_rng(0)
    for n in SIZES:
        x = (rng.choice([-1, 1], n) + 1j * rng.integers(-3, 4, n)).astype("c16")
        expected = np.array(list(itertools.accumulate(x.tolist(), maps)))
        assert _host(compose(make(x))) == expected[-1], n
        if n in (1, 33, 4097, 70001):
            assert np.array_equal(_host(running.accumulate(make(x))), expected), n


def test_shapes_and_strides(make):
    """First and last item tell whether the order was kept; sums tell that each item counts once."""
    ends = cl.reduce(lambda a, b: (a // 100) * 100 + b % 100, target=make.name)
    total = cl.reduce(lambda a, b: a + b + 0, target=make.name)
    for shape in ((3, 4, 5), (2, 9000), (70, 3, 40)):
        whole = np.arange(np.prod(shape)).reshape(shape) * 7919 % 100003
        device = make(whole)
        for x, d in (
            (whole, device),
            (whole.T, device.T),
            (whole[::-1, ..., ::2], device[::-1, ..., ::2]),
        ):
            for axes in ((0,), (1,), (x.ndim - 1, 0), tuple(range(x.ndim))):
                kept = [k for k in range(x.ndim) if k not in axes]
                rows = x.transpose(*kept, *sorted(axes)).reshape(*(x.shape[k] for k in kept), -1)
                expected = rows[..., 0] // 100 * 100 + rows[..., -1] % 100
                assert np.array_equal(_host(ends(d, axis=axes)), expected), (shape, axes)
                assert np.array_equal(_host(total(d, axis=axes)), x.sum(axes)), (shape, axes)
    assert total(whole, axis=1, keepdims=True).shape == (70, 1, 40)
    out = make(np.zeros((40, 70)))
    assert total(device, axis=1, out=out.T) is not None
    assert np.array_equal(out.get().T, whole.sum(1))


@pytest.mark.sampled(opencl=2)
@pytest.mark.parametrize("code", ["b", "h", "i", "d", "D"])
def test_rows(make, code):
    """Rows that share a work-group, begin anywhere, lie apart, or have several groups each."""
    total = cl.reduce(lambda a, b: b + a + 0, target=make.name)
    for shape in (
        (1, 1),
        (4100, 2),
        (900, 9),
        (700, 34),
        (600, 129),
        (40, 300),
        (3, 8193),
        (2, 16385),
    ):
        rows = (np.arange(np.prod(shape)).reshape(shape) * 7919 % 101 % 3).astype(code)
        device = make(rows)
        for x, d in ((rows, device), (rows[1:, 1:], device[1:, 1:]), (rows[::-2], device[::-2])):
            for initial in (None, 5):
                if x.size:
                    begin = {} if initial is None else {"init": initial}
                    expected = x.sum(1, dtype=code) + np.array(initial or 0, code)
                    assert np.array_equal(_host(total(d, axis=1, **begin)), expected), x.shape
        flat, d = rows.reshape(-1)[1:], device.reshape(-1)[1:]
        if flat.size:
            assert _host(total(d)) == flat.sum(dtype=code), flat.shape


def test_one_kernel_for_all_lengths(cuda_context):
    """What long rows leave is joined by the kernel that made it: another one would be compiled."""
    from pygpu._src.runtime.cuda.backend import backend_of

    total = cl.reduce(lambda a, b: b + a + 0, target="cuda")
    assert total(np.ones(9, np.int32)) == 9
    known = backend_of(None).kernels
    count = len(known["ordered plans"]), len(known)
    assert total(np.ones(20000, np.int32)) == 20000
    assert total(np.ones((3, 70), np.int32), axis=1, init=2).tolist() == [72] * 3
    plans = len(known["ordered plans"]) - count[0]
    assert plans >= 2 and len(known) == count[1] + plans  # plans, and no kernel


@pytest.mark.parametrize("code", ["b", "f", "D"])
@pytest.mark.parametrize("axis", [0, 1])
def test_nvrtc(cuda_context, nvrtc, code, axis):
    """NVIDIA's compiler takes both texts."""
    from pygpu._src.array import associative as module
    from pygpu._src.codegen.kernels import associative as ordered_text
    from pygpu._src.runtime.cuda.backend import backend_of

    cuda_context.push()
    try:
        backend, number = backend_of(None), np.dtype(code)
        function = binary.function(lambda a, b: a * 2 + b, number, backend)
        sizes = number.itemsize, 48 << 10, max(number.itemsize, 4)
        if axis == 0:
            source, each = ordered_text.row_source, ordered_text.row_loads(*sizes)
        else:
            source, each = ordered_text.tile_source, ordered_text.chunk(*sizes)
        text = source(2, each, number.itemsize, *module._initial_text(number))
        nvrtc(backend, module._text(function, number, number) + text)
    finally:
        type(cuda_context).pop()


def test_every_dtype(make):
    """Sums wrap as NumPy's; the dtype is that of the items, or what the function makes of it."""
    for code in "BheD" if make.name == "opencl" else "bQfF":
        x = (np.arange(300) % 7).astype(code)
        total = cl.reduce(lambda a, b: b + a, target=make.name)  # not known as a sum
        expected = x.sum(dtype=code)
        got = _host(total(make(x)))
        assert got.dtype == np.dtype(code) and got == expected, code
    mean = cl.reduce(lambda a, b: (a + b) / 2, target=make.name)
    assert _host(mean(make(np.array([2, 4], "i4")))).dtype == np.float64
    big = np.full(5000, 2**61 + 1)
    assert int(_host(cl.reduce(lambda a, b: a + b)(make(big)))) == int(big.sum())


def test_known_functions(make):
    """a + b and a * b take the array's own kernels; with the same results for integers."""
    x = np.arange(1, 20001).reshape(20, 1000) % 9 - 4
    total, product = cl.reduce(lambda a, b: a + b), cl.reduce(lambda p, q: p * q)
    d = make(x)
    for axis in (None, 0, 1):
        assert np.array_equal(_host(total(d, axis=axis)), x.sum(axis))
        assert np.array_equal(_host(product(d, axis=axis, init=3)), 3 * np.prod(x, axis))
    assert _host(total(d[:, ::-3], init=5)) == x[:, ::-3].sum() + 5


def test_extrema_are_known(make):
    """max and min however they are written, with NumPy's results, and what only looks like them."""
    kinds = (
        (np.max, lambda p, q: max(p, q), lambda p, q: q if p < q else p),
        (np.min, lambda p, q: min(q, p), lambda p, q: p if p <= q else q),
    )
    x = (np.arange(1, 20001) * 7919 % 10007 - 5000).reshape(20, 1000).astype("f4")
    d = make(x)
    for expected, *functions in kinds:
        for function in functions:
            assert binary._known_operation(function) == expected.__name__.removeprefix("a")
        best = cl.reduce(functions[0], target=make.name)
        for axis in (None, 0, 1):
            assert np.array_equal(_host(best(d, axis=axis)), expected(x, axis))
        assert _host(best(d[:, ::-3], init=-9000)) == expected(x[:, ::-3], initial=-9000)
    x[7, 7] = np.nan  # where the order of the items would tell, it stays
    assert np.isnan(_host(best(make(x))))
    space = {"max": lambda a, b: a + b + 0}
    other = eval("lambda p, q: max(p, q)", space)
    assert (
        binary._known_operation(other) is None
        and binary._known_operation(lambda a, b: a if b else b) is None
    )


def test_init_size_res(make):
    largest = cl.reduce(lambda a, b: max(a, b), target=make.name)
    x = -np.arange(1.0, 50.0)
    d = make(x)
    assert largest(x) == -1 and _host(largest(d)) == -1 and largest(x, init=7.0) == 7
    assert largest(x[::-1], size=3) == x[-3] and _host(largest(d, 4)) == -1
    assert largest(np.zeros(0), init=2.5) == 2.5
    assert (
        cl.reduce(lambda a, b: max(a, b), identity=-1.5)(np.zeros((0, 3)), axis=0).tolist()
        == [-1.5] * 3
    )
    res = np.zeros(2)
    assert largest(x, res=res) is None and res.tolist() == [-1, 0]
    res = make(np.zeros(2))
    assert largest(d, res=res) is None and res.get().tolist() == [-1, 0]
    first = cl.reduce(lambda a, b: a)
    assert first(np.arange(5), init=9) == 9 and first(np.arange(5)) == 0
    for bad, error in (
        (lambda: largest(np.zeros(0)), ValueError),
        (lambda: largest(np.zeros((2, 2)), size=1), ValueError),
        (lambda: largest(x, size=50), ValueError),
        (lambda: largest(np.zeros((2, 2)), axis=2), np.exceptions.AxisError),
        (lambda: largest(x, res=np.zeros(0)), ValueError),
        (lambda: largest(np.zeros((2, 2)), axis=0, res=np.zeros(2)), ValueError),
        (lambda: largest(np.zeros((2, 2)), axis=0, out=np.zeros(3)), ValueError),
        (lambda: largest(np.zeros((2, 2)), axis=0, out=np.zeros(2, "i4")), TypeError),
        (lambda: largest("text"), TypeError),
    ):
        with pytest.raises(error):
            bad()


def test_as_numba_has_it(cuda_context):
    from pygpu import cuda

    cuda_context.push()
    try:
        total = cuda.reduce(lambda a, b: a + b)
        assert cuda.Reduce is cuda.reduce
        a = np.arange(1234, dtype=np.float64) + 1
        device = cuda.to_device(a)
        for x in (a, device):
            got = total(x)
            assert type(got) is np.float64 and got == a.sum()
        assert total(a, init=3) == a.sum() + 3 and total(a, size=10) == 55
        assert total(np.zeros(0)) == 0
        res = cuda.to_device(np.zeros(1))
        assert total(device, res=res, stream=cuda.stream()) is None and res[0] == a.sum()
        assert cuda.reduce(lambda a, b: a * b)(a[:20], init=1) == np.prod(a[:20])
        small = cuda.reduce(lambda a, b: (a + b) / 2)(np.array([2, 4], "i4"), init=4)
        assert small.dtype == np.int32  # the items' own
    finally:
        type(cuda_context).pop()


def test_three_ways():
    """functools.reduce, and the function called by Python."""
    gcd = cl.reduce(lambda a, b: abs(a) if b == 0 else abs(b) if a == 0 else _gcd(a, b))
    x = np.array([84, 126, 210, 42 * 11])
    assert gcd(x) == functools.reduce(gcd.py_func, x.tolist()) == 42


def _gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return abs(a)


def test_functions_that_cannot_reduce_are_refused():
    for bad in (lambda a: a, lambda a, b, c: a, max, 3):
        with pytest.raises(TypeError):
            cl.reduce(bad)
    with pytest.raises(TypeError, match="one result"):
        cl.reduce(lambda a, b: (a, b))(np.arange(3))
    with pytest.raises(ValueError, match="target"):
        cl.reduce(lambda a, b: a, target="tpu")


@pytest.mark.slow
def test_every_form(make):
    """Reductions and scans of the kernels' own test function at many sizes of rows."""
    ends = ordered.Function(
        "ends", np.dtype("i8"), "", "r = a / 1000 * 1000 + b % 1000;", "test ends"
    )
    for rows, n in itertools.product((1, 3, 65, 300), (1, 5, 8, 31, 64, 200, 2049)):
        x = np.arange(rows * n).reshape(rows, n) * 7919 % 1000003
        d = make(x)
        for axis in (0, 1):
            out = d._new((x.shape[1 - axis],), np.dtype("i8"))
            ordered.reduce(ends, d, (axis,), out)
            expected = x.take(0, axis) // 1000 * 1000 + x.take(-1, axis) % 1000
            assert np.array_equal(out.get(), expected), (rows, n, axis)
            every = d._new(x.shape, np.dtype("i8"))
            ordered.scan(ends, d, axis, every)
            firsts = x.take([0], axis) // 1000 * 1000 + x % 1000
            head = [slice(None)] * 2
            head[axis] = slice(0, 1)
            firsts[tuple(head)] = x[tuple(head)]
            assert np.array_equal(every.get(), firsts), (rows, n, axis)
