"""Arrays behave as NumPy's: indices, assignment, promotion, in-place rules, order, numbers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def same(got, want) -> None:
    want = np.asarray(want)
    host = got.get()
    assert (host.dtype, host.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(host, want)


def test_views(make):
    d = make(A)
    for key in (
        (1, slice(None, None, -1), slice(None, None, 2)),
        (Ellipsis, None, -1),
        slice(5, 2),
        slice(9, 2),
        (0, 0, 0),
        (),
    ):
        same(d[key], A[key])
    for change in (
        lambda x: x.T,
        lambda x: x.T.reshape(4, 6),
        lambda x: x[:, ::-1].reshape(-1),
        lambda x: x.ravel("F"),
        lambda x: x.transpose(1, 2, 0),
        lambda x: x.swapaxes(0, -1),
        lambda x: x[:, :1].squeeze(),
        lambda x: x.view(np.int32),
        lambda x: x.view(np.int8),
        lambda x: x[0, 0].view(np.float64),
        lambda x: x.astype(np.int16),
        lambda x: x.T.astype(np.float32),
        lambda x: x.flatten(),
    ):
        same(change(d), change(A))
    assert d[1].base_data is d.base_data and d.reshape(24).base_data is d.base_data
    with pytest.raises(ValueError, match="reshape"):
        d.reshape(5, 5)
    with pytest.raises(ValueError, match="last axis"):
        d[..., ::2].view(np.float64)


def test_layouts_mix(make):
    d = make(A)
    same(d.T + d.T, A.T + A.T)
    same(d[:, ::-1] + d, A[:, ::-1] + A)
    same(make(np.asfortranarray(A)) + d, A + A)
    same(d + d[0, 0], A + A[0, 0])
    same(d.T[::2] + d.T[1::2], A.T[::2] + A.T[1::2])
    assert (d.T + d.T).strides == (A.T + A.T).strides
    same(make(A[:0]) + 1, A[:0] + 1)
    same(make(A[:0]) + make(A[:1]), A[:0] + A[:1])
    with pytest.raises(ValueError, match="broadcast"):
        d + d[:, :2]


def test_assignment(make):
    d, b = make(A).copy(), A.copy()
    for key, value in (
        (0, 7),
        ((slice(None), slice(None, None, 2)), A[:, 1:2]),
        ((1, 2), np.arange(4)),
        ((Ellipsis, slice(1, None)), None),  # overlaps
        ((1, 1), [1.5, 2.5, 3.5, 4.5]),
        (slice(0, 0), 3),
        (..., A[None]),
    ):
        if value is None:
            d[key] = d[..., :-1]
            b[key] = b[..., :-1].copy()
        else:
            d[key] = make(value) if isinstance(value, np.ndarray) and value.size > 4 else value
            b[key] = value
        same(d, b)
    with pytest.raises(ValueError, match="broadcast"):
        d[0] = make(A)
    with pytest.raises(TypeError):
        d[0] = object()


def test_in_place(make):
    d, b = make(A).copy(), A.copy()
    d += 1
    b += 1
    d *= d[::-1]  # a view of itself in another order
    b *= b[::-1].copy()
    same(d, b)
    view = d[..., ::2]
    view -= 1
    b[..., ::2] -= 1
    same(d, b)
    i = make(np.arange(10))
    i[::2] += i[1::2]
    want = np.arange(10)
    want[::2] += want[1::2]
    same(i, want)
    with pytest.raises(TypeError):
        i += 1.5
    with pytest.raises(ValueError, match="broadcast"):
        d[0, 0] += d[0]


def test_promotion(make):
    u8, i32, f16, f32 = (np.arange(4).astype(t) for t in ("u1", "i4", "f2", "f4"))
    du, di, dh, df = (make(x) for x in (u8, i32, f16, f32))
    same(du + 5, u8 + np.uint8(5))
    same(di * 1.5, i32 * 1.5)
    same(dh / 3, f16 / np.float16(3))
    same(df * 1j, f32 * np.complex64(1j))
    same(u8 + du, u8 + u8)
    same(make(np.array(3.0)) + df, np.array(3.0) + f32)
    same(du < 300, [True] * 4)
    same(du == 256, [False] * 4)
    with pytest.raises(OverflowError):
        du + 300
    with pytest.raises(TypeError):
        make(np.array([True])) - make(np.array([True]))
    with pytest.raises(TypeError):
        df << 2
    with pytest.raises(ValueError, match="negative integer powers"):
        di**-1


def test_each_operator_is_its_ufunc(make, monkeypatch):
    """What the ufuncs compute is tested in test_ufuncs.py, in few programs."""
    from pygpu._src.array import operators

    d, calls = make(np.arange(3)), []
    d._foreign = True  # not the fast path, if the process knows the kernels already
    for call in ("call", "call_uncached"):
        monkeypatch.setattr(
            operators.ufuncs, call, lambda name, inputs, out=None: calls.append((name, inputs)) or d
        )
    for symbol, name in (
        ("+", "add"),
        ("-", "subtract"),
        ("*", "multiply"),
        ("/", "true_divide"),
        ("//", "floor_divide"),
        ("%", "remainder"),
        ("**", "power"),
        ("<<", "left_shift"),
        (">>", "right_shift"),
        ("&", "bitwise_and"),
        ("|", "bitwise_or"),
        ("^", "bitwise_xor"),
    ):
        fresh = make(np.arange(3))
        fresh._foreign = True
        for text in (f"d {symbol} 3", f"3 {symbol} d", f"d {symbol}= 3"):
            scope = {"d": fresh}
            exec(text, scope)
            was, inputs = calls.pop()
            assert was == name
            assert (inputs[0] is fresh) == (not text.startswith("3"))
            assert [type(x) for x in inputs].count(int) == 1
    for symbol, name in (("<", "less"), ("<=", "less_equal"), ("==", "equal"), ("!=", "not_equal")):
        eval(f"d {symbol} 3", {"d": fresh})
        assert calls.pop()[0] == name
    for run, name in ((lambda: -d, "negative"), (lambda: +d, "positive"), (lambda: ~d, "invert")):
        run()
        assert calls.pop()[0] == name
    abs(d), divmod(d, 2)
    assert [name for name, _ in calls] == ["absolute", "divmod"]


def test_operators(make):
    d, i, b = make(A), make(np.arange(-6, 6)), np.arange(-6, 6)
    quotient, rest = divmod(i, 4)
    same(quotient, b // 4)
    same(rest, b % 4)
    same(d**2, A**2)
    np.testing.assert_allclose((2**d).get(), np.float32(2) ** A, 2e-7)  # OpenCL: 16 ulp
    assert (i == "text") is False and (i != "text") is True
    with pytest.raises(TypeError):
        i + "text"


def test_numpy_functions(make):
    d = make(A)
    same(np.add(d, 1), A + 1)
    out = d.copy()
    assert np.multiply(d, 2, out=out) is out
    same(out, 2 * A)
    np.add(d, 1, out=out, where=d > 5)
    same(out, np.where(A > 5, A + 1, 2 * A))
    same(np.add(d, 1, dtype=np.float64), np.add(A, 1, dtype=np.float64))
    f = make(np.float32([0.25, 2.5]))
    same(np.modf(f)[0], np.modf(np.float32([0.25, 2.5]))[0])
    with pytest.raises(TypeError):
        np.add(d, 1, out=A.copy())
    with pytest.raises(ValueError, match="output operand"):
        np.add(d, 1, out=make(A[0]))


def test_complex_parts(make):
    z = (A + 1j * A[::-1]).astype(np.complex64)
    d = make(z)
    same(d.real, z.real)
    same(d.imag, z.imag)
    same(d.conj(), z.conj())
    d.real[...] = 0
    d.imag = 2
    same(d, np.full_like(z, 2j))
    same(make(A).imag, np.zeros_like(A))
    assert make(A).conj().base_data is not None


def test_structs(make):
    rows = np.zeros(5, [("a", "i4"), ("b", "f8"), ("c", "u1", (3,))])
    rows["a"] = range(5)
    d = make(rows)
    assert (d[::2].get() == rows[::2]).all()
    same(d["a"], rows["a"])
    d["b"] = 3.0
    d["c"][1:, 0] = 9
    rows["b"] = 3
    rows["c"][1:, 0] = 9
    assert (d.get() == rows).all() and (d.copy().get() == rows).all()
    assert (d[::-1].copy().get() == rows[::-1]).all()
    d[0] = rows[4]
    assert d.get()[0] == rows[4]
    with pytest.raises(TypeError):
        d + d
    with pytest.raises((TypeError, RuntimeError), match="object"):
        make(np.array([None]))


@pytest.mark.sampled(opencl=0)
def test_addresses_that_are_not_multiples_of_the_size(make):
    """Fields of packed structs: a GPU stops a kernel that reads a double at such an address."""
    rows = np.zeros(600, [("a", "i1"), ("b", "f8"), ("c", "c16"), ("d", "V8")])
    rows["b"] = np.random.default_rng(5).permutation(600) - 300
    rows["c"] = rows["b"] * 1j
    d = make(rows)
    b, host = d["b"], rows["b"]
    assert not b._is_aligned and make(host)._is_aligned
    same(b + 1, host + 1)
    same(b * b[::-1], host * host[::-1])
    np.testing.assert_allclose(np.sin(b).get(), np.sin(host), 1e-13)
    same(b.sum(), host.sum())
    same(b.argmax(), host.argmax())
    same(b.cumsum(), host.cumsum())
    ordered = b.copy()
    ordered.sort()
    same(ordered, np.sort(host))
    same(b[b > 0], host[host > 0])
    same(b[[5, 3, -1]], host[[5, 3, -1]])
    same(b @ b, host @ host)
    same(b.argsort(), host.argsort())
    same(b.copy(), host)
    same(d["c"].imag, rows["c"].imag)
    b += 2
    host += 2
    b[10:20] = b[20:10:-1]
    host[10:20] = host[20:10:-1].copy()
    b[b == 7] = 8
    host[host == 7] = 8
    same(b, host)
    assert (d.get() == rows).all() and (d[::-2].copy().get() == rows[::-2]).all()
    one = d[3:4]["b"]  # without gaps, and not where a double begins
    same(one + one, host[3:4] * 2)


def test_as_a_number(make):
    d = make(np.float32([[2.5]]))
    assert (float(d), int(d), bool(d), complex(d), d.item()) == (2.5, 2, True, 2.5, 2.5)
    assert [10, 11, 12][make(np.array(1))] == 11
    assert len(make(A)) == 2 and [x.shape for x in make(A)] == [(3, 4)] * 2
    assert make(A).tolist() == A.tolist() and make(A).item(5) == 5
    for wrong in (lambda: float(make(A)), lambda: len(make(np.array(1))), lambda: hash(d)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="ambiguous"):
        bool(make(A))
    with pytest.raises(TypeError, match="get"):
        np.asarray(d)


def test_copies(make):
    d = make(A)
    for other in (copy.copy(d), copy.deepcopy(d), d.copy(), d[:, ::2].copy()):
        assert other.base_data is not d.base_data
    e = d[:, ::2].copy()
    e[...] = 0
    same(d, A)
    f = make(np.asfortranarray(A)).copy()
    assert f.strides == A.T.copy().T.strides


def test_pickle(make):
    if make.name == "opencl":
        from pygpu.array import queue_for_pickle

        text = pickle.dumps(make(A))
        with queue_for_pickle(make.queue):
            same(pickle.loads(text), A)
        assert pickle.loads(text).queue is not make.queue  # a default one
    else:
        same(pickle.loads(pickle.dumps(make(A))), A)


def test_transfers(make):
    d = make(A)
    d.set(A[::-1].copy())
    same(d, A[::-1])
    d[:, ::2].set(np.zeros((2, 2, 4), np.float32))
    want = A[::-1].copy()
    want[:, ::2] = 0
    same(d, want)
    out = np.empty_like(A)
    assert d.get(ary=out) is out
    np.testing.assert_array_equal(out, want)
    strided = np.zeros((2, 3, 8), np.float32)[..., ::2]
    d.get(ary=strided)
    np.testing.assert_array_equal(strided, want)
    with pytest.raises((TypeError, ValueError)):
        d.get(ary=np.empty(A.shape, np.float64))
    with pytest.raises(ValueError):
        d.set(A[:1])
    with pytest.raises(ValueError):
        d.set(A.astype(np.float64))
    with pytest.raises(TypeError, match="byte order"):
        d.astype(">f4")


SWAPPED = np.array([3, 1, 2], ">f4")
WITH_SWAPPED = {
    "add": lambda x: x + SWAPPED,
    "append": lambda x: np.append(x, SWAPPED),
    "bincount": lambda x: np.bincount(x.astype("i4"), weights=SWAPPED),
    "choose": lambda x: np.choose(x.astype("i4") - 1, [SWAPPED] * 3),
    "interp": lambda x: np.interp(x, SWAPPED[[1, 2, 0]], SWAPPED),
    "isin": lambda x: np.isin(x, SWAPPED),
    "solve": lambda x: np.linalg.solve(np.diag(x), SWAPPED),
    "take": lambda x: x[np.array([2, 0], ">i8")],
    "the array": lambda x: x * 0 + (x + SWAPPED.astype(">f8")),
}


@pytest.mark.parametrize("name", WITH_SWAPPED)
def test_host_arrays_in_the_other_byte_order(make, name):
    host = np.array([1, 2, 3], np.float32)
    got, want = WITH_SWAPPED[name](make(host)), WITH_SWAPPED[name](host)
    assert got.dtype == want.dtype and got.dtype.isnative
    np.testing.assert_allclose(got.get(), want, rtol=1e-6)


def test_a_host_array_in_the_other_byte_order_becomes_an_array(make):
    there = make(A.astype(">f4")[:, ::2])
    assert there.dtype == np.float32
    np.testing.assert_array_equal(there.get(), A[:, ::2])
    there[...] = A[:, ::2].astype(">f8") + 1
    np.testing.assert_array_equal(there.get(), A[:, ::2] + 1)


def test_huge_shapes_are_refused(make):
    with pytest.raises((ValueError, OverflowError)):
        make(A)._new((1 << 40, 1 << 40), A.dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators_after_operators(make):
    """The second time an operator is launched from C; it must see every change of its operands."""
    n = make(np.arange(5, dtype=np.float32))
    for k in range(4):
        same(n + n, np.arange(5, dtype=np.float32) * 2)
        same(3 * n + k, np.arange(5, dtype=np.float32) * 3 + k)
    for m in (1, 100, 70000, 3):
        big = np.arange(m, dtype=np.float32)
        d = make(big)
        same(d + d, big + big)
        same(d - 1e39, big - np.float32(np.inf))
        same(d[m // 2 :] + d[: m - m // 2], big[m // 2 :] + big[: m - m // 2])
        d += d
        same(d, big + big)
    with pytest.raises(ValueError, match="broadcast"):
        n + make(np.arange(4, dtype=np.float32))
    same(make(np.float32([1, 2]))[:, None] + n, np.float32([[1], [2]]) + np.arange(5, dtype="f"))


def test_choices(make):
    if make.name == "opencl":
        import pygpu.array as module
    else:
        import pygpu.cuda.gpuarray as module
    d = make(A)
    same(module.if_positive(d - 5, d, -d), np.where(A - 5 > 0, A, -A))
    same(module.where(d > 5, d, 0), np.where(A > 5, A, np.float32(0)))
    same(module.maximum(d, 7), np.maximum(A, np.float32(7)))
    same(module.minimum(d, d[::-1]), np.minimum(A, A[::-1]))
    assert module.maximum(3, 4) == 4
    same(module.logical_and(d, d), np.logical_and(A, A))
    same(module.concatenate([d, d[:1]]), np.concatenate([A, A[:1]]))
    same(module.concatenate([d, d.astype("f8")], axis=-1), np.concatenate([A, A], -1).astype("f8"))
    same(module.stack([d, d], axis=1), np.stack([A, A], 1))
    with pytest.raises(ValueError):
        module.concatenate([d, d[0]])
    same(d.clip(None, 9), A.clip(None, 9))
    same(d.mul_add(2, d, 3), 5 * A)
    same(make(A[0, 0]).reverse(), A[0, 0, ::-1])
    same(d.copy().fill(3), np.full_like(A, 3))


def test_rows(make):
    """Long rows and many of them, in layouts that no walk over all items at once fits."""
    a = np.arange(40 * 34, dtype=np.float32).reshape(40, 34)
    d = make(a)
    same(d[:, ::2] + d[:, 1::2], a[:, ::2] + a[:, 1::2])
    same(d[:, :32] + d[:, :1], a[:, :32] + a[:, :1])
    same(d[:, :17] + d[::-1, 17:], a[:, :17] + a[::-1, 17:])
    b = a.reshape(20, 2, 34)
    e = make(b)
    same(e[:, ::-1, :20] + e[:1, :, :20], b[:, ::-1, :20] + b[:1, :, :20])
    e[..., 1:30] += 1
    b[..., 1:30] += 1
    same(e, b)


NUMBERS = [float("inf"), float("nan"), 1j, 2**63, 1e20, 2.7, True, np.float64(2.5)]
PLACES = [Ellipsis, slice(0, 2), 0, [0, 1], np.array([True, False, True])]


def outcome(change, *args):
    try:
        change(*args)
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("dtype", ["i1", "u8", "f4", "?"])
def test_numbers_assigned_as_numpy_does(make, dtype):
    """Twice each: the first call finds the kernel, the second one is made by C."""
    for value in NUMBERS * 2:
        for place in PLACES:
            a = np.zeros(3, dtype)
            d = make(a)
            refused = outcome(a.__setitem__, place, value)
            assert outcome(d.__setitem__, place, value) is refused, (value, place)
            same(d, a)
        a = np.zeros(3, dtype)
        d = make(a)
        assert outcome(d.fill, value) is outcome(a.fill, value), value
        same(d, a)


def test_dates_and_text_are_refused(make):
    d = make(np.arange(3, dtype=np.int32))
    for value in (np.datetime64("2020-01-01"), np.timedelta64(1)):
        for place in (*PLACES, d > 0):
            with pytest.raises(TypeError, match="(date|time)"):
                d[place] = value
    for value in ("x", None, [1, 2, 3]):
        before = d
        with pytest.raises(TypeError):
            d += value
        assert d is before
    same(d, np.arange(3, dtype=np.int32))

    class Reflected:
        def __radd__(self, other):
            return "theirs"

    e = d
    e += Reflected()
    assert e == "theirs"


def test_contains(make):
    assert 2 in make([1, 2, 3]) and 7 not in make([1, 2, 3])
    assert 5 in make(5) and 1 not in make(np.zeros((0, 3), np.int64))


def test_like_and_ranges(make):
    """Each three times: the later ones are launched by C."""
    from pygpu._src.array.routines import joining as functions

    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    b = make(a)
    for h, d in ((a, b), (a.T, b.T), (a[:, ::-1], b[:, ::-1]), (a[:0], b[:0])):
        z = np.zeros_like(d)
        same(z, np.zeros_like(h))
        assert z.flags.c_contiguous == np.zeros_like(h).flags.c_contiguous
    for zero in (0, 0.0, -0.0, False, np.float32(-0.0), np.int8(0)):
        filled = make(np.ones(3, np.float32)).fill(zero).get()
        assert (filled == 0).all() and (np.signbit(filled) == np.signbit(np.float32(zero))).all()
    for dtype in ("i1", "u8", "f4", "f2"):
        for start, stop, step in ((3, 20, 2), (0.5, 9, 0.75), (10, 0, -3), (5, 6, 300)):
            want = np.arange(start, stop, step, dtype=dtype)
            for _ in range(3):
                same(functions.arange_into(make(np.empty_like(want)), start, step), want)
    i = make([1, 3])
    for dtype in ("f4", "i4", "c8", "?"):
        h, d = np.zeros(5, dtype), make(np.zeros(5, dtype))
        for value in (1, np.float64(2.5), np.array(3)):
            h[[1, 3]] = value
            d[i] = value
            same(d, h)
