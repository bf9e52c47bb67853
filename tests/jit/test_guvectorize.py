"""pygpu.guvectorize: NumPy's generalized ufuncs' broadcasting, layouts, types, arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu as cl
from pygpu import cuda
from pygpu._src.jit.signature import float32, float64, int64, layout_of, void

pytestmark = pytest.mark.sampled(3)


def matmulcore(A, B, C):
    m, n = A.shape
    n, p = B.shape
    for i in range(m):
        for j in range(p):
            C[i, j] = 0
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]


def _host(x):
    return x.get() if hasattr(x, "get") else x


def test_matrix_product(make):
    """Numba's example, for all ways in which stacks may lie and broadcast."""
    types = [
        "void(float32[:,:], float32[:,:], float32[:,:])",
        void(float64[:, :], float64[:, :], float64[:, :]),
    ]
    product = cl.guvectorize(types, "(m,n),(n,p)->(m,p)", target=make.name)(matmulcore)
    rng = np.random.default_rng(0)
    a = rng.integers(-5, 6, (3, 1, 4, 5)).astype("f4")
    b = rng.integers(-5, 6, (7, 5, 6)).astype("f4")
    turned = np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
    for x, y in ((a, b), (a[0, 0], b[0]), (a[::-1], b[..., ::-2]), (turned, b[2:3]), (a[:0], b)):
        got = product(x, y)
        assert got.dtype == np.float32 and np.array_equal(got, x @ y)
    da, db = make(a), make(b)
    assert np.array_equal(product(da[::-1], db[:, :, ::2]).get(), a[::-1] @ b[:, :, ::2])
    assert np.array_equal(product(da, b).get(), a @ b)  # the others are copied to the device
    wide = product(a.astype("i4"), b)
    assert wide.dtype == np.float64 and np.array_equal(wide, a @ b)
    for out in (np.zeros((3, 7, 4, 6)), np.zeros((3, 7, 6, 4), "f4").swapaxes(-1, -2)):
        assert product(a, b, out) is out and np.array_equal(out, a @ b)
    out = make(np.zeros((3, 7, 4, 6)))
    assert product(da, db, out=out) is out and np.array_equal(out.get(), a @ b)
    square = make(a[0, 0, :, :4].copy())
    product(square, square, out=square)  # as if the inputs were copied
    assert np.array_equal(square.get(), a[0, 0, :, :4] @ a[0, 0, :, :4])
    assert product.types == ["ff->f", "dd->d"] and product.signature == "(m,n),(n,p)->(m,p)"
    for bad in (
        lambda: product(a, a),
        lambda: product(a[0, 0, 0], b),
        lambda: product(a[:2], np.zeros((3, 1, 5, 2), "f4")),
        lambda: product(a, b, np.zeros((3, 7, 4, 5))),
        lambda: product(a, b, out, out=out),
    ):
        with pytest.raises(ValueError):
            bad()
    for bad in (
        lambda: product(a),
        lambda: product(a, b, a, a),
        lambda: product(a.astype("c8"), b),
        lambda: product(a, b, np.zeros((3, 7, 4, 6), "i4")),
        lambda: product(da, b, np.zeros((3, 7, 4, 6), "f4")),
        lambda: product(a, "text"),
    ):
        with pytest.raises(TypeError):
            bad()


def test_numbers_and_several_outputs(make):
    @cl.guvectorize([(int64[:], int64, int64[:])], "(n),()->(n)", target=make.name)
    def shift(x, by, result):
        for i in range(x.shape[0]):
            result[i] = x[i] + by

    x = np.arange(6).reshape(2, 3)
    for a in (x, make(x)):
        assert np.array_equal(_host(shift(a, 10)), x + 10)
        assert np.array_equal(_host(shift(a, np.array([10, 20]))), x + [[10], [20]])
        assert np.array_equal(_host(shift(a[:, ::-1], np.int64(1))), x[:, ::-1] + 1)

    @cl.guvectorize("(f8[:], f8[:], f8[:], i8[:])", "(n),()->(),()", target=make.name)
    def largest(x, start, value, place):  # a number given as an array of one item
        value[0] = start[0]
        place[0] = -1
        for i in range(len(x)):
            if x[i] > value[0]:
                value[0] = x[i]
                place[0] = i

    values = np.random.default_rng(1).random((4, 5, 6))
    for a in (values, make(values)):
        value, place = map(_host, largest(a, -1.0))
        assert np.array_equal(value, values.max(-1)) and np.array_equal(place, values.argmax(-1))
        assert place.dtype == np.int64
    value, place = largest(values[0, 0], 5.0)
    assert type(value) is np.float64 and (value, place) == (5, -1)
    value, place = largest(np.zeros((2, 0)), 3.0)  # no items, but the function runs
    assert value.tolist() == [3, 3] and place.tolist() == [-1, -1]


def test_inference_and_lengths(make):
    @cl.guvectorize("(n),(3)->(n)", target=make.name)
    def dot3(x, w, r):
        for i in range(x.shape[0]):
            r[i] = x[i] * (w[0] + w[1] + w[2])

    x, w = np.arange(4, dtype="f4"), np.arange(3)
    out = np.zeros(4, "f8")
    assert dot3(x, w, out) is out and out.tolist() == [0, 3, 6, 9]
    assert dot3(x, w, dtype="f4").dtype == np.float32
    assert dot3(x, w, np.zeros((1, 4))).shape == (1, 4)
    with pytest.raises(TypeError, match="give the outputs"):
        dot3(x, w)
    with pytest.raises(ValueError, match=r"mismatch in its core dimension 0, .*different from 3"):
        dot3(x, np.arange(4), dtype="f4")

    @cl.guvectorize("(f4[:], f4[:])", "(n)->(m)", target=make.name)
    def head(x, r):
        for i in range(r.shape[0]):
            r[i] = x[i]

    assert head(x, np.zeros(2, "f4")).tolist() == [0, 1]
    with pytest.raises(ValueError, match="in no input"):
        head(x)


def test_layouts_of_text():
    assert layout_of("(m, n),(n,p)->(m,p)") == ([("m", "n"), ("n", "p")], [("m", "p")])
    assert layout_of("(),(3)->(),(n)") == ([(), (3,)], [(), ("n",)])
    assert layout_of("(n),()") == ([("n",), ()], [])
    for wrong in ("", "(n)->", "n->(n)", "(n)->(n)->(n)", "(n;m)->()", "(0)->()", "(n)(m)->()"):
        with pytest.raises(ValueError, match="layout"):
            layout_of(wrong)


@pytest.mark.parametrize(
    ("types", "layout", "error"),
    [
        ("(f8[:], f8)", "(n)->()", TypeError),
        ("(f8[:], f8[:,:])", "(n)->(n)", TypeError),
        ("(f8, f8[:])", "(n)->(n)", TypeError),
        ("f8(f8[:], f8[:])", "(n)->(n)", TypeError),
        ("(f8[:], f8[:], f8[:])", "(n)->(n)", TypeError),
        ("(f8[:], f8[:])", "(n)", TypeError),
        ("(f8[:], f8[:])", "(n)->", ValueError),
        ("(f8[:], f8[:])", "(n),(n)->(n)", TypeError),
    ],
)
def test_types_that_do_not_fit_the_layout_are_refused(types, layout, error):
    with pytest.raises(error):
        cl.guvectorize(types, layout)(lambda x, r: None)
    with pytest.raises(TypeError):
        cl.guvectorize(types, "(n)->(n)", warp=3)
    with pytest.raises(ValueError):
        cl.guvectorize(types, "(n)->(n)", target="tpu")


def test_identity():
    made = cl.guvectorize("(f8[:], f8[:])", "(n)->(n)", identity=1)(lambda x, r: None)
    assert made.identity == 1
    assert cl.guvectorize("(n)->(n)", identity="reorderable")(lambda x, r: None).identity is None
    with pytest.raises(ValueError, match="identity"):
        cl.guvectorize("(n)->(n)", identity=2)


def test_results_are_written(make):
    wrong = cl.guvectorize([(float32[:], float32[:])], "(n)->(n)", target=make.name)(
        lambda x, r: x[0]
    )
    with pytest.raises(TypeError, match="returns nothing"):
        wrong(np.zeros(3, "f4"))


@cl.guvectorize("(n,k),(k,m)->(n,m)")
def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            out[i, j] = total


@cl.guvectorize("(i),(i)->()")
def inner(a, b, out):
    total = 0.0
    for x, y in zip(a, b):
        total += x * y
    out[0] = total


def test_axes(make: Any) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(-9, 9, (2, 3, 4)) * 1.0, rng.integers(-9, 9, (4, 5, 2)) * 1.0
    x, y = make(a), make(b)
    for axes in ([(1, 2), (0, 1), (0, 2)], [(-2, -1), (0, 1), (1, 0)], [(0, 2), (0, 2), (-1, 0)]):
        # (0, 2) of a is 2 x 4, of b 4 x 2, with 3 and 5 left over: these do not broadcast.
        if axes[0] == (0, 2):
            with pytest.raises(ValueError, match="broadcast"):
                product(x, y, axes=axes, dtype=float)
            continue
        right = np.matmul(a, b, axes=axes)
        found = product(x, y, axes=axes, dtype=float)
        assert found.shape == right.shape
        assert (found.get() == right).all()
        out = make(np.zeros(right.shape))
        assert product(x, y, axes=axes, out=out) is out
        assert (out.get() == right).all()
        if axes[2] == (0, 2):
            assert (product(a, b, axes=axes, dtype=float) == right).all()
    c = rng.integers(-9, 9, (4, 3, 2)) * 1.0
    z = make(c)
    for axis in (0, 1, -1):
        right = (c * c).sum(axis)
        assert (inner(z, z, axis=axis, dtype=float).get() == right).all()
        kept = inner(z, z, axis=axis, keepdims=True, dtype=float)
        assert (kept.get() == (c * c).sum(axis, keepdims=True)).all()
        out = make(np.zeros(kept.shape))
        assert inner(z, z, axis=axis, keepdims=True, out=out) is out
        assert (out.get() == kept.get()).all()
    assert (inner(c, c, axes=[0, 0], dtype=float) == (c * c).sum(0)).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"axis": 0, "axes": [0, 0]}, TypeError, "both 'axis' and 'axes'"),
        ({"axes": (0, 0)}, TypeError, "should be a list"),
        ({"axes": [0]}, ValueError, "an entry for each of 3"),
        ({"axes": [(0, 1), 0]}, ValueError, "a tuple with 1 elements"),
        ({"axes": ["a", 0]}, TypeError, "not an integer"),
        ({"axis": 3}, ValueError, "out of bounds"),
        ({"axis": 1.5}, TypeError, "not an integer"),
    ],
)
def test_axes_refused(options: Any, error: Any, message: str) -> None:
    a = np.ones((2, 3))
    with pytest.raises(error, match=message):
        inner(a, a, dtype=float, **options)


def test_axes_layouts() -> None:
    a = np.ones((2, 2))
    with pytest.raises(TypeError, match="single shared core dimension"):
        product(a, a, axis=0, dtype=float)
    with pytest.raises(TypeError, match="keepdims is for layouts"):
        product(a, a, keepdims=True, dtype=float)
    with pytest.raises(ValueError, match="repeated axis"):
        product(a, a, axes=[(0, 0), (0, 1), (0, 1)], dtype=float)


def _loses_result(x, out):
    out = x[0]  # noqa: F841


def _first(x, out):
    out[0] = x[0]


def test_output_without_axes_of_one_item() -> None:
    """For target="cuda", as Numba accepts it; otherwise an error, as in NumPy."""

    @cl.guvectorize(["(i4[:], i4[:], i4[:])"], "(n),()->(n)", target="cuda")
    def add(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + y[0]

    x, one, result = np.arange(4, dtype="i4"), np.array([2], "i4"), np.zeros(4, "i4")
    assert add(x, one, out=result) is result and result.tolist() == [2, 3, 4, 5]
    device = cuda.to_device(np.zeros(4, "i4"))
    assert add(cuda.to_device(x), one, device) is device
    assert device.copy_to_host().tolist() == [2, 3, 4, 5]
    with pytest.raises(ValueError, match="non-broadcastable output operand"):
        add(x, np.array([2, 3], "i4"), out=result)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f, x: f(_loses_result)(x), TypeError, r"out is an output.*out\[0\] = "),
        (lambda f, x: f(lambda x, out: x[0])(x), TypeError, "assign the items of its outputs"),
        (lambda f, x: f(_first)(x, out=[0.0]), TypeError, "an output must be an array"),
        (lambda f, x: f(_first)(), TypeError, "Too few arguments for function"),
        (lambda f, x: f(_first)(np.ma.array(x)), TypeError, r"mask.*a\.filled"),
        (lambda f, x: f(_first)(np.array(["a"])), TypeError, "argument 0 has dtype <U1"),
        (
            lambda f, x: f(_first)(np.zeros((1, 2, 3)), np.zeros(2)),
            ValueError,
            r"non-broadcastable output operand with shape \(2,\)",
        ),
        (
            lambda f, x: f(_first)(np.zeros((4, 3)), np.zeros(5)),
            ValueError,
            r"operands of shapes \(4, 3\) \(5,\) have loop dimensions \(4,\) \(5,\)",
        ),
        (lambda f, x: f(_first)(x[0]), ValueError, "enough dimensions"),
        (lambda f, x: f(_first).reduce(x), RuntimeError, "Reduction not defined"),
    ],
)
def test_messages(call, error, message):
    decorate = cl.guvectorize([(float64[:], float64[:])], "(n)->()")
    with pytest.raises(error, match=message):
        call(decorate, np.zeros(3))


def test_inputs_in_the_other_byte_order_are_converted():
    f = cl.guvectorize([(float64[:], float64[:])], "(n)->()")(_first)
    assert f(np.array([7.0, 8], ">f8")) == 7
    assert cl.vectorize(lambda x: x + 1)(np.array([1, 300], ">i4")).tolist() == [2, 301]
