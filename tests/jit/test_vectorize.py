"""pygpu.vectorize: results three ways (NumPy or plain Python, OpenCL, CUDA), types, arguments."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pygpu as cl
from pygpu._src.jit.decorators import loops
from pygpu._src.jit.signature import TYPES, float32, float64, int32, parse

DTYPES = [np.dtype(c) for c in "?bBhHiIqQefdFD"]
SCALE = 2


def affine(a, b):
    return SCALE * a + b


def both(a, b):
    return a + b, a - b


def branchy(x, low, high):
    if x < low:
        return low
    return high if x > high else x


@pytest.fixture
def target(make):
    return make.name


@pytest.mark.skipif(np.__version__ < "2", reason="NumPy 2, whose rules these are, is not installed")
@pytest.mark.parametrize("name", ["hypot", "fmod", "copysign", "left_shift", "maximum"])
def test_the_loop_is_the_one_that_numpy_chooses(name):
    ufunc = getattr(np, name)
    split = [t.split("->") for t in ufunc.types if not set(t) & set("gGmMO")]
    all_loops = [loops.Loop(*(tuple(map(np.dtype, part)) for part in parts)) for parts in split]

    def outcome(resolve, kinds):
        try:
            return tuple(resolve(kinds))
        except TypeError:
            return None

    def found(kinds):
        loop = loops.find(name, all_loops, kinds)
        return loop.inputs + loop.outputs

    kinds = [*(np.dtype(c) for c in "?bBhHilLefdFD"), int, float, complex]
    for pair in itertools.product(kinds, repeat=2):
        numpys = outcome(lambda given: ufunc.resolve_dtypes((*given, None)), pair)
        assert outcome(found, pair) == numpys, pair


def test_numbers_fit_any_loop_of_their_kind_where_numpy_has_none():
    only = loops.Loop((np.dtype("f4"),) * 2, (np.dtype("f4"),))
    for kinds in ([float, int], [np.dtype("i1"), float], [int, np.dtype("f4")]):
        assert loops.find("f", [only], kinds) is only
    for kinds in ([complex, int], [np.dtype("f8"), float], [np.dtype("i8"), int]):
        with pytest.raises(TypeError, match="f: no loop for arguments"):
            loops.find("f", [only], kinds)


def sample(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2 if dtype.kind == "b" else 6, shape)
    if dtype.kind == "c":
        return (values + 1j * rng.integers(-5, 6, shape)).astype(dtype)
    return values.astype(dtype)


def test_every_dtype(make, target):
    """By inference, on host and device arrays; the same as NumPy with the plain function."""
    f = cl.vectorize(affine, target=target)
    for dtype in map(np.dtype, "?bHQeD" if make.name == "opencl" else "hIqfF"):
        a, b = sample(dtype, 37), sample(dtype, 37, 1)
        expected = affine(a, b)
        if dtype.kind == "b":  # a Python int beside a bool
            expected = expected.astype(np.int64)
        results = [f(make(a), make(b)).get(), f(a, make(b)).get()]
        for got in (*results, f(a, b)) if dtype.kind in "bq" else results:
            assert (got == expected).all(), dtype
            if dtype.kind != "b":
                assert got.dtype == expected.dtype


def test_layouts(make, target):
    f = cl.vectorize("float64(float64, float64)", target=target)(affine)
    a = np.arange(2 * 3 * 4, dtype=float).reshape(2, 3, 4)
    views = [
        a,
        a[::-1, :, ::2],
        a.T,
        a[:, 1:2],
        a[0, 0],
        a[:, :, :1],
        np.broadcast_to(a[0], a.shape),
    ]
    for x, y in itertools.product(views, views):
        try:
            shape = np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            with pytest.raises(ValueError, match="could not be broadcast"):
                f(x, y)
            continue
        got = f(x, y)
        assert got.shape == shape and (got == affine(x, y)).all()
    d = make(a)
    for x, dx in ((a, d), (a[::-1, :, ::2], d[::-1, :, ::2]), (a.T, d.T), (a[1, 2], d[1, 2])):
        got = f(dx, 1.5)
        assert (got.get() == affine(x, 1.5)).all()
        assert (f(dx[..., :1], dx).get() == affine(x[..., :1], x)).all()
    for shape in ((0,), (3, 0, 2)):
        for got in (f(np.zeros(shape), 1.0), f(make(np.zeros(shape)), 1.0)):
            assert got.shape == shape and got.dtype == np.float64


def test_numbers_as_arguments_give_numbers(make, target):
    f = cl.vectorize(["f4(f4, f4)", "f8(f8, f8)"], target=target)(affine)
    for args, dtype in (
        ((1.5, 2), np.float64),
        ((np.float32(1.5), 2), np.float32),
        ((np.float32(1.5), np.float64(2)), np.float64),
        ((np.int8(1), np.int8(2)), np.float32),
        ((np.int64(1), 2), np.float64),
        ((True, np.array(2.0)), np.float64),
    ):
        got = f(*args)
        assert type(got) is dtype and got == affine(*map(float, args))
    zero = f(make(np.array(2.0)), 1.0)
    assert zero.shape == () and zero.get() == 5
    only_float = cl.vectorize("f4(f4)", target=target)(lambda x: x * 2)
    assert only_float(1.5) == 3  # as it fits, where no loop takes what NumPy makes of it


def test_loops_are_chosen_as_numpy_does():
    """The first loop that takes all arguments safely; no device is needed to tell."""
    four = [loops.Loop((np.dtype(c),) * 2, (np.dtype(c),)) for c in "fdFD"]
    for a, b in itertools.product("?bBhHiIqQefdFD", repeat=2):
        found = loops.find("f", four, [np.dtype(a), np.dtype(b)])
        assert found.outputs[0] == np.result_type(a, b, np.float32), (a, b)
    single, whole = np.dtype("f4"), np.dtype("i4")
    for kinds, code in (
        ((single, float), "f"),
        ((single, int), "f"),
        ((whole, float), "d"),
        ((single, complex), "F"),
        ((float, int), "d"),
        ((complex, int), "D"),
    ):
        assert loops.find("f", four, kinds).inputs[0] == np.dtype(code), kinds
    assert loops.find("f", four, [np.dtype("f8")] * 2, "same_kind", [None, None, single]) is four[0]
    for kinds, options in (
        (([np.dtype("f8")] * 2), ("safe", [None, None, single])),
        (([np.dtype("f8")] * 2), ("same_kind", [None, None, whole])),
        (([np.dtype("M8[s]")] * 2), ()),
    ):
        with pytest.raises(TypeError, match="no loop for arguments"):
            loops.find("f", four, kinds, *options)


def test_out_where_dtype(make, target):
    f = cl.vectorize(["f4(f4, f4)", "f8(f8, f8)"], target=target)(affine)
    a, b = np.arange(6, dtype="f4").reshape(2, 3), np.float32(1)
    mask = np.array([True, False, True])
    for dtype in ("f4", "c16"):
        out = np.full((2, 3), -1, dtype)
        assert f(a, b, out=out) is out and (out == affine(a, b)).all()
        out = np.full((2, 3), -1, dtype)[:, ::-1]
        assert f(a, b, out, where=mask) is out
        assert (out == np.where(mask, affine(a, b), -1)).all()
        out = make(np.full((2, 3), -1, dtype))
        assert f(make(a), b, out=(out,), where=make(mask)) is out
        assert (out.get() == np.where(mask, affine(a, b), -1)).all()
    wide = f(a, b, dtype="f8")
    assert wide.dtype == np.float64 and f(a, b, signature="dd->d").dtype == np.float64
    assert f(a.astype("f8"), b, dtype="f4").dtype == np.float32
    d = make(a.copy())
    f(d[:, :2], d[:, 1:], out=d[:, :2])  # overlaps: as if the inputs were copied
    assert (d.get()[:, :2] == affine(a[:, :2], a[:, 1:])).all()
    bigger = np.zeros((4, 2, 3))
    assert (f(a, b, out=bigger) == affine(a, b)).all()
    for bad, error in (
        (lambda: f(a), TypeError),
        (lambda: f(a, b, out=np.zeros(2)), ValueError),
        (lambda: f(a, b, out=np.zeros((2, 3), "i4")), TypeError),
        (lambda: f(a, b, out=make(np.zeros((2, 3)))[:1]), ValueError),
        (lambda: f(make(a), b, out=np.zeros((2, 3))), TypeError),
        (lambda: f(a, b, a, a), TypeError),
        (lambda: f(a, b, a, out=a), TypeError),
        (lambda: f(a, b, where=a), TypeError),
        (lambda: f(a, b, dtype="i4"), TypeError),
        (lambda: f(a, b, signature="fff->f"), ValueError),
        (lambda: f(a, "text"), TypeError),
        (lambda: f(a, [object()]), TypeError),
    ):
        with pytest.raises(error):
            bad()
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(a, b, out=a)


def test_several_results(make, target):
    f = cl.vectorize(both, target=target)
    a, b = np.arange(5, dtype="i2"), np.arange(5, dtype="i4")[::-1]
    for x, y in ((a, b), (make(a), make(np.ascontiguousarray(b)))):
        total, rest = (r if isinstance(r, np.ndarray) else r.get() for r in f(x, y))
        assert (total == a + b).all() and (rest == a - b).all()
        assert total.dtype == rest.dtype == np.int32
    typed = cl.vectorize("Tuple((float64, int32))(float64)", target=target)(
        lambda x: (x / 2, int(x))
    )
    half, whole = typed(np.array([3.0, 5.0]))
    assert half.tolist() == [1.5, 2.5] and whole.tolist() == [3, 5] and whole.dtype == np.int32
    assert typed.types == ["d->di"] and (typed.nin, typed.nout, typed.nargs) == (1, 2, 3)
    first = np.zeros(2, "f4")
    assert typed(np.array([3.0, 5.0]), out=(first, None))[0] is first
    assert first.tolist() == [1.5, 2.5]


def test_branches_loops_and_helpers(make, target):
    @cl.jit
    def square(x):
        return x * x

    def collatz(n, most):
        steps = 0
        while n != 1 and steps < most:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    n = np.arange(1, 60)
    assert cl.vectorize(collatz, target=target)(n, 200).tolist() == [collatz(k, 200) for k in n]
    inner = cl.vectorize(lambda x: square(x) + math.sqrt(x), target=target)
    outer = cl.vectorize(lambda x: inner(x) + 1, target=target)
    x = np.array([0.0, 1.0, 4.0])
    assert inner(x).tolist() == [0, 2, 18] and outer(x).tolist() == [1, 3, 19]
    clamp = cl.vectorize(branchy, target=target)
    values = np.array([-3, 2, 9, np.nan])
    assert np.array_equal(clamp(values, 0, 5), [0, 2, 5, np.nan], equal_nan=True)


def test_names_from_outside(make, target):
    """A changed global is compiled anew, also where the call was remembered."""
    k = 2

    def times(x):
        return k * x

    f = cl.vectorize(times, target=target)
    x = make(np.arange(4.0))
    for k in (2, 3, 3, 5):
        for _ in range(3):
            assert f(x).get().tolist() == [0, k, 2 * k, 3 * k]


def test_reduce_accumulate_outer(make, target):
    add = cl.vectorize(lambda a, b: a + b, target=target, identity=0)
    last = cl.vectorize(lambda a, b: (a // 100) * 100 + b % 100, target=target)
    a = (np.arange(3 * 500 * 4).reshape(3, 500, 4) * 7) % 10007
    for x in (a, make(a)):
        for axis, keep in ((0, False), (1, True), (2, False), ((0, 2), True), (None, False)):
            got, kept = add.reduce(x, axis, keepdims=keep), last.reduce(x, axis, keepdims=keep)
            assert np.array_equal(_host(got), a.sum(axis, keepdims=keep))
            where = (axis,) if isinstance(axis, int) else axis or (0, 1, 2)
            ends = [
                a[tuple(slice(e, e + 1 or None) if k in where else slice(None) for k in range(3))]
                for e in (0, -1)
            ]
            both_ends = ends[0] // 100 * 100 + ends[1] % 100
            assert np.array_equal(_host(kept), both_ends if keep else both_ends.squeeze(where))
        assert np.array_equal(_host(add.accumulate(x, 1)), a.cumsum(1))
        got = _host(last.accumulate(x, 1))
        assert np.array_equal(
            got, np.where(np.arange(500)[:, None] == 0, a, a[:, :1] // 100 * 100 + a % 100)
        )
    assert add.reduce(np.zeros(0)) == 0 and add.reduce(np.arange(4), initial=10) == 16
    assert (
        add.reduce(a[0, :, 0], where=a[0, :, 0] % 2 == 0) == a[0, :, 0][a[0, :, 0] % 2 == 0].sum()
    )
    out = np.zeros((3, 4))
    assert add.reduce(a, 1, out=out) is out and (out == a.sum(1)).all()
    assert np.array_equal(
        add.outer(np.arange(3), np.arange(4)), np.add.outer(np.arange(3), np.arange(4))
    )
    assert add.reduce(np.ones(3, "f4"), dtype="f8").dtype == np.float64
    with pytest.raises(ValueError, match="no items"):
        last.reduce(np.zeros(0))
    with pytest.raises(ValueError, match="zero-size array to reduction operation"):
        last.reduce(np.zeros((0, 0)))  # also if there are no results, as in NumPy
    assert last.reduce(np.zeros((0, 3)), axis=1).shape == (0,)
    with pytest.raises(np.exceptions.AxisError):
        add.reduce(a, 3)
    with pytest.raises(ValueError, match="binary functions"):
        cl.vectorize(branchy, target=target).reduce(a)
    with pytest.raises(TypeError, match="scalar"):
        add.accumulate(np.array(1))


def test_functions_that_are_not_associative_are_joined_in_order(make, target):
    """Against NumPy's loop over Python's function, in rows that a GPU would split."""
    f = cl.vectorize(lambda a, b: a * 2 - b, target=target)
    a = np.arange(2 * 70 * 3).reshape(2, 70, 3) % 5
    host = np.frompyfunc(lambda a, b: a * 2 - b, 2, 1)
    for axis in (1, 2):
        wanted = host.reduce(a.astype(object), axis=axis)
        wrapped = np.array([int(v) % 2**64 for v in wanted.ravel()], np.uint64).reshape(
            wanted.shape
        )
        for x in (a, make(a)):
            assert np.array_equal(_host(f.reduce(x, axis)).astype(np.uint64), wrapped)
    wanted = host.accumulate(a[:, :9].astype(object), axis=1).astype(int)
    assert np.array_equal(_host(f.accumulate(make(a)[:, :9], 1)), wanted)
    ratio = cl.vectorize(lambda a, b: a / b, target=target)
    b = np.array([[8.0, 2, 2], [1, 0.5, 0.25]])
    chosen = b != 2
    got = ratio.reduce(make(b), 1, initial=3.0, where=chosen)
    assert np.array_equal(_host(got), np.divide.reduce(b, 1, initial=3.0, where=chosen))
    assert (
        ratio.reduce(b, None) == 16
        and ratio.reduce(make(b).T, (1, 0)).get() == 8 / 1 / 2 / 0.5 / 2 / 0.25
    )
    assert np.array_equal(ratio.reduce(b, ()), b)
    with pytest.raises(TypeError, match="dtype=int64 was given.*returns float64"):
        ratio.reduce(b, dtype=int)
    with pytest.raises(TypeError, match="initial='x' is not a number"):
        ratio.reduce(b, initial="x")


def test_functions_of_integers_only(target):
    f = cl.vectorize(lambda a, b: a ^ b, target=target)
    assert f.reduce(np.arange(6)) == np.bitwise_xor.reduce(np.arange(6))
    g = cl.vectorize(lambda a, b: (a ^ b) * 2, target=target)
    assert g.accumulate([1, 2, 3]).tolist() == [1, 6, 10]
    with pytest.raises(TypeError, match="one result"):
        cl.vectorize(lambda a, b: (a, b), target=target).reduce(np.arange(6))


def test_initial_is_counted_once_with_where(target):
    add = cl.vectorize(lambda a, b: a + b, target=target)
    assert add.reduce([1, 2, 3], initial=5, where=[True, False, True]) == 9
    with pytest.raises(ValueError, match="where needs initial"):
        add.reduce([1, 2], where=[True, False])
    mixed = cl.vectorize(["f8(f8, i8)"], target=target)(lambda a, b: a + b)
    total = mixed.reduce(np.arange(6).reshape(2, 3), 1)
    assert total.dtype == np.float64 and total.tolist() == [3, 12]


@pytest.mark.parametrize(
    ("function", "known"),
    [
        (lambda a, b: a + b, True),
        (lambda a, b: a ^ b, True),
        (lambda a, b: np.maximum(a, b), True),
        (lambda x, y: max(y, x), True),
        (lambda a, b: np.subtract(a, b), False),
        (lambda a, b: b & a, False),
        (lambda a, b: a + b + 1, False),
        (lambda a, b: np.add(b, a), False),
    ],
)
def test_known_to_be_associative(function, known):
    from pygpu._src.jit.decorators.binary import is_associative

    assert is_associative(function) is known


def _host(x):
    return x.get() if hasattr(x, "get") else x


def test_attributes_known_without_a_device():
    """What is known without a device."""

    def poly(x, y):
        """Doc."""
        return x * y

    f = cl.vectorize([float32(float32, float32), "f8(f8, f8)"], target="cpu", identity=1)(poly)
    assert f.__name__ == "poly" and f.__doc__ == "Doc." and repr(f) == "<ufunc 'poly'>"
    assert (f.nin, f.nout, f.nargs, f.ntypes, f.identity, f.signature) == (2, 1, 3, 2, 1, None)
    assert f.types == ["ff->f", "dd->d"] and f.py_func is poly
    assert "poly" in f.inspect_source() and "pg_f64" in f.inspect_source(np.float64, np.float64)
    bare = cl.vectorize(poly)
    assert bare.types == [] and bare.nout == 1
    assert cl.vectorize([(float32, float32)])(poly).types == ["ff->f"]  # results by inference


@pytest.mark.parametrize(
    ("make_it", "error"),
    [
        (lambda: cl.vectorize("f4(f4)")(affine), TypeError),
        (lambda: cl.vectorize(["f4(f4)", "f4(f4, f4)"]), TypeError),
        (lambda: cl.vectorize("f4(f4[:])")(lambda x: x), TypeError),
        (lambda: cl.vectorize("f4(f5)"), TypeError),
        (lambda: cl.vectorize("f4"), TypeError),
        (lambda: cl.vectorize(3), TypeError),
        (lambda: cl.vectorize(target="tpu"), ValueError),
        (lambda: cl.vectorize(warp=3), TypeError),
        (lambda: cl.vectorize(len), TypeError),
        (lambda: cl.vectorize(lambda *a: a), TypeError),
        (lambda: cl.vectorize(lambda: 1), TypeError),
    ],
)
def test_wrong_signatures_options_and_functions_are_refused(make_it, error):
    with pytest.raises(error):
        made = make_it()
        made(affine)


def test_signatures():
    assert parse("float32(float32, float32)") == float32(float32, float32)
    assert parse("void(int64[:], f4[:, ::1])").args[1].layout == "C"
    assert parse("(f8, i4)(f8)").results == (np.dtype("f8"), np.dtype("i4"))
    assert parse("UniTuple(f8, 2)(i4)").results == (np.dtype("f8"),) * 2
    assert parse('void(Array(f8, 2, "F"), i4)').args == (float64[::1, :], int32)
    assert parse((int32, np.float64)).args == (int32, float64)
    assert float32(1.1) == np.float32(1.1) and type(int32(7.9)) is np.int32
    assert np.dtype(TYPES["intp"]) == np.int64 and np.dtype(TYPES["boolean"]) == bool
    for wrong in (
        "f4(",
        "f4(g4)",
        "f4[0](f4)",
        "f4(f4[1:])",
        "f4(f4(f4))",
        "1",
        "f4(Array(f4, 1))",
        "f4(Array(f4, 1, 'Q'))",
        "f4[::2](f4)",
    ):
        with pytest.raises(TypeError, match="signature"):
            parse(wrong)


@pytest.mark.slow
def test_every_pair_of_dtypes(make, target):
    f = cl.vectorize(affine, target=target)
    for a, b in itertools.product(DTYPES[1:], DTYPES[1:]):
        x, y = sample(a, 9), sample(b, 9, 1)
        got, expected = f(x, y), affine(x, y)
        assert got.dtype == expected.dtype and (got == expected).all(), (a, b)


@cl.vectorize
def doubled_less(a, b):
    return a * 2 - b


def test_at_and_reduceat_join_in_order(queue):
    host = np.frompyfunc(lambda a, b: a * 2 - b, 2, 1)
    a = np.arange(20, dtype=np.int32).reshape(4, 5) % 7
    cases = [
        (([0, 1, 0, -4], [1, 2, 1, 1]), np.arange(4)),
        ((slice(None), [1, 1, 3]), np.arange(4).reshape(4, 1)),
        ([], np.zeros((0, 5))),
    ]
    for index, b in cases:
        b = np.asarray(b, np.int32)
        wanted = a.astype(object)
        host.at(wanted, index, b.astype(object))
        on_host, on_device = a.copy(), cl.array.to_device(queue, a)
        doubled_less.at(on_host, index, b)
        doubled_less.at(on_device, index, b)
        assert np.array_equal(on_host, wanted.astype(int))
        assert np.array_equal(on_device.get(), wanted.astype(int))
    for axis, index in ((0, [0, 3, 1]), (-1, [2, 2, 4])):
        wanted = host.reduceat(a.astype(object), index, axis=axis).astype(int)
        assert np.array_equal(doubled_less.reduceat(a, index, axis=axis), wanted)
        on_device = cl.array.to_device(queue, a)
        assert np.array_equal(doubled_less.reduceat(on_device, index, axis).get(), wanted)
    for call, error, message in [
        (lambda: doubled_less.at(a, [9], 1), IndexError, "out of bounds"),
        (lambda: doubled_less.at(a, [0]), ValueError, "second operand needed"),
        (lambda: doubled_less.at(a, [0], 1.5), TypeError, "cannot cast"),
        (lambda: doubled_less.at([1], [0], 1), TypeError, "must be an array"),
        (lambda: doubled_less.reduceat(a, [9]), IndexError, "out-of-bounds"),
        (lambda: doubled_less.reduceat(a, [0.5]), TypeError, "must be integers"),
    ]:
        with pytest.raises(error, match=message):
            call()


def half_power(x):
    return x**0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_a_half_are_exact(make, target, dtype):
    """Also where pow differs from sqrt: -0.0 and negative infinity."""
    x = np.array([0, -0.0, 9, 2, 1e-42, np.inf, -np.inf, np.nan, -1], dtype)
    expected = np.array([0, 0, 3, np.sqrt(dtype(2)), np.sqrt(x[4]), np.inf, np.inf, np.nan, np.nan])
    found = cl.vectorize(half_power, target=target)(make(x)).get()
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected.astype(dtype))
    assert not np.signbit(found[:2]).any()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: f([1], [2], out=[0]), TypeError, "an output must be an array"),
        (lambda f: f.reduce([1, 2], out=[0]), TypeError, "an output must be an array"),
        (lambda f: f(np.ma.array([1]), 1), TypeError, r"mask.*where=~a\.mask"),
        (lambda f: f(1, np.array([None])), TypeError, "argument 1 has dtype object"),
        (lambda f: f([[1, 2], [3]], 1), ValueError, r"\[\[1, 2\], \[3\]\] is not an array"),
        (lambda f: f.reduce("abc"), TypeError, 'first argument "array" must be array-like'),
        (lambda f: f.reduceat("abc", [1]), TypeError, '"array" must be array-like'),
        (lambda f: f.reduceat([1, 2], "abc"), TypeError, '"indices" must be array-like'),
        (lambda f: f.reduceat([1, 2], [[1]]), TypeError, "at most 1 dimension"),
        (lambda f: f.reduceat([1, 2], [1], axis=(0,)), TypeError, '"axis" must be an integer'),
        (lambda f: f.reduceat([1, 2], [1], out=()), TypeError, "output must be an array"),
        (lambda f: f.at(np.array(["a"]), [0], 1), TypeError, "compute with dtype <U1"),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call(doubled_less)
