"""NumPy's functions called with device arrays."""

import inspect
import warnings

import numpy as np
import pytest

from pygpu._src.array import array_function
from tests.array.test_reduction import host

pytestmark = pytest.mark.sampled(3)


def same(got, want):
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got.get(), want, rtol=1e-5, atol=1e-5)


def test_on_the_device(make):
    a = host("f4", (40, 30))
    device = make(a)
    same(np.sum(device, axis=1), np.sum(a, axis=1))
    same(np.max(device, 0), np.max(a, 0))
    same(np.argmin(device), np.argmin(a))
    same(np.cumsum(device, 1), np.cumsum(a, 1))
    same(np.sort(device, axis=1), np.sort(a, axis=1))
    same(np.argsort(device, axis=1), np.argsort(a, axis=1))
    same(np.where(device > 0, device, 0), np.where(a > 0, a, np.float32(0)))
    same(np.nonzero(device > 0)[1], np.nonzero(a > 0)[1])
    same(np.take(device, [1, 3], 1), np.take(a, [1, 3], 1))
    same(np.compress(a[0] > 0, device, 1), np.compress(a[0] > 0, a, 1))
    same(np.einsum("ij,kj->ik", device, device), np.einsum("ij,kj->ik", a, a))
    same(np.dot(device, device.T), np.dot(a, a.T))
    same(np.inner(device, device), np.inner(a, a))
    same(np.trace(device), np.trace(a))
    same(np.concatenate([device, device], 1), np.concatenate([a, a], 1))
    same(np.transpose(device), a.T)
    assert np.shape(device) == a.shape and np.size(device, 0) == 40


def test_on_the_host_with_one_warning(make, monkeypatch):
    from pygpu._src.array.routines import host_fallback as on_host
    from pygpu._src.runtime.libraries import loading

    for name in ("CUFFT", "CUSOLVER"):
        monkeypatch.setenv(f"PYGPU_{name}_LIBRARY", "none")
    loading.reset()
    monkeypatch.setattr(on_host, "_warned", False)
    a = host("f8", (5, 5)) + 5 * np.eye(5)
    b = host("f8", 5)
    with pytest.warns(UserWarning, match="numpy.linalg.eigvals is computed by NumPy on") as seen:
        same(np.linalg.eigvals(make(a + a.T)), np.linalg.eigvals(a + a.T))
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(np.linalg.solve(make(a), b), np.linalg.solve(a, b))
        q, r = np.linalg.qr(make(a))
        same(np.dot(q, r), a)
        same(np.fft.fft(make(b)), np.fft.fft(b))
        out = make(np.zeros(5, np.complex128))
        assert np.fft.ifft(make(b), out=out) is out
        same(out, np.fft.ifft(b))
        same(np.linalg.eig(make(a + a.T)).eigenvalues, np.linalg.eig(a + a.T).eigenvalues)
    monkeypatch.undo()
    loading.reset()


def test_what_there_is_not(make):
    with pytest.raises(TypeError, match="no implementation found"):
        np.emath.sqrt(make(np.ones(3)))


def test_sliding_windows_are_views(make):
    windows = np.lib.stride_tricks.sliding_window_view
    a = np.arange(24.0).reshape(4, 6)[:, ::-1]
    x = make(a)
    for shape, axis in (((2, 3), None), (2, 1), ((2, 2), (1, 1)), (0, 0)):
        got = windows(x, shape, axis)
        same(got, windows(a, shape, axis))
        assert np.shares_memory(got, x) or got.size == 0
    for shape, axis in ((7, 1), (2, None), ((2, 2), 0), (-1, 0)):
        for array in (a, x):
            with pytest.raises(ValueError):
                windows(array, shape, axis)


def test_lists_of_device_arrays_become_one(make):
    x = make(np.arange(3.0))
    same(np.array([x[2], 5, x[0]], like=x), np.array([2.0, 5.0, 0.0]))
    same(np.asarray([x, x], np.float32, like=x), np.float32([[0, 1, 2]] * 2))


@pytest.mark.sampled(opencl=0)
def test_quantiles_have_the_dtype_of_numpys(make):
    a = np.arange(12, dtype=np.float32) ** 1.5
    x = make(a)
    for q in (30, [10, 50], np.float32([20, 80]), np.float64(30)):
        same(np.percentile(x, q), np.asarray(np.percentile(a, q)))
        shares = np.float32(q) / 100 if isinstance(q, np.ndarray) else np.divide(q, 100).tolist()
        same(np.quantile(x, shares), np.asarray(np.quantile(a, shares)))


def test_numbers_have_no_order(make):
    x = make(np.float32(3))
    with pytest.raises(np.exceptions.AxisError):
        np.sort(x)
    assert np.argsort(x).get().tolist() == [0]
    assert np.sort(x, axis=None).get().tolist() == [3]


def results(call, arrays):
    """What a function of arrays gives, as host arrays; or the exception."""
    try:
        found = call(*arrays)
    except Exception as error:
        return error
    found = found if isinstance(found, (tuple, list)) else [found]
    return [x.get() if hasattr(x, "get") else np.asarray(x) for x in found]


def check(make, name, *args, inplace=False, **options):
    """numpy.name of device arrays and of host arrays."""
    function = getattr(np, name)
    places = [k for k, x in enumerate(args) if isinstance(x, np.ndarray)]

    def call(*arrays):
        given = list(args)
        for k, x in zip(places, arrays, strict=True):
            given[k] = x
        result = function(*given, **options)
        return given[0] if inplace else result

    want = results(call, [args[k].copy() for k in places])
    got = results(call, [make(args[k].copy()) for k in places])
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert isinstance(want, Exception) and isinstance(got, type(want)), (name, got, want)
        return
    assert len(got) == len(want), name
    for g, w in zip(got, want, strict=True):
        assert (g.dtype, g.shape) == (w.dtype, w.shape), (name, args, options)
        near = 1e-4 if w.dtype.itemsize <= 4 else 1e-9
        np.testing.assert_allclose(g, w, rtol=near, atol=near, err_msg=name)


RNG = np.random.default_rng(3)
F = RNG.normal(size=(3, 5))
G = RNG.normal(size=7)
WHOLE = RNG.integers(-3, 9, (3, 5))
NANS = np.where(RNG.random((4, 5)) < 0.4, np.nan, RNG.normal(size=(4, 5)))
NANS[2] = np.nan


def test_methods_of_ufuncs(make):
    device, more = make(WHOLE), make(G)
    same(np.less.outer(device, G), np.less.outer(WHOLE, G))
    same(np.less.outer(WHOLE, more), np.less.outer(WHOLE, G))
    for axis in (0, 1):
        same(np.maximum.accumulate(device, axis=axis), np.maximum.accumulate(WHOLE, axis=axis))
        same(np.bitwise_xor.reduce(device, axis), np.bitwise_xor.reduce(WHOLE, axis))
    same(
        np.bitwise_xor.reduce(device, 1, keepdims=True),
        np.bitwise_xor.reduce(WHOLE, 1, keepdims=True),
    )
    same(np.bitwise_xor.reduce(device[:0]), np.bitwise_xor.reduce(WHOLE[:0]))
    out = make(np.zeros_like(G))
    assert np.add.accumulate(more, out=out) is out
    same(out, np.add.accumulate(G))
    with pytest.raises(TypeError, match="bitwise_xor"):
        np.bitwise_xor.reduce(more)
    with pytest.raises(ValueError, match="maximum: out must have shape"):
        np.maximum.accumulate(device, out=(make(WHOLE[:1]),))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_some_of_each_kind(make):
    check(make, "nanmean", NANS, 1)
    check(make, "nanargmax", NANS, 1)  # ValueError: there is a row of NaNs only
    check(make, "convolve", G[:2], G, "same")
    check(make, "cross", F[:, :3], F[:, 2:])
    check(make, "kron", F, G)
    check(make, "argwhere", WHOLE > 2)
    check(make, "diag", G, -2)
    check(make, "delete", F, [0, 2], 1)
    check(make, "copyto", WHOLE, 2.5, inplace=True)  # TypeError
    assert np.amax(make(F)).item() == F.max()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_without_nans(make):
    for name in ("nanmean", "nanstd", "nanmedian", "nanmax"):
        check(make, name, NANS, 1)
    check(make, "nanmean", NANS, keepdims=True)
    check(make, "nanmedian", NANS)
    check(make, "nanvar", NANS, axis=1, ddof=1)
    check(make, "nanpercentile", NANS, [0, 30, 99], axis=1)
    check(make, "nanargmin", NANS[:2], 1)
    check(make, "nanargmax", NANS, 1)  # ValueError: there is a row of NaNs only
    check(make, "nancumsum", NANS, 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_series(make):
    for mode in ("full", "same", "valid"):
        for a, v in ((G, G[:4] + 1), (G[:2], G)):
            check(make, "convolve", a, v, mode)
            check(make, "correlate", a, v, mode)
    x = np.sort(G)
    places = np.array([-9, 9, np.nan, *x, *(x + 0.01), np.inf])
    check(make, "interp", places, x, F.ravel()[:7])
    check(make, "interp", places[3:-1], x, G, period=2.5)
    check(make, "gradient", F, 2.0)
    check(make, "gradient", G, x, edge_order=2)
    check(make, "trapezoid", F, F, axis=0)
    check(make, "cov", F)
    check(make, "corrcoef", F, rowvar=False)
    check(make, "cross", F[:, :3], F[:, 2:])
    check(make, "cross", F[:, :2], F[:, 2:])
    check(make, "kron", F, G)
    check(make, "polyval", [1.0, 2.0, 3.0], F)
    check(make, "vander", G, 4)


@pytest.mark.slow
def test_choices_by_conditions(make):
    low = WHOLE > 2
    check(make, "argwhere", low)
    check(make, "extract", low, F)
    check(make, "choose", WHOLE, [1.0, 2.0, 3.0], mode="wrap")
    check(make, "choose", WHOLE, [1.0, 2.0])  # ValueError
    check(make, "putmask", F, low, np.array([1.0, 2.0, 3.0]), inplace=True)
    check(make, "place", F, low, np.array([1.0, 2.0, 3.0]), inplace=True)
    check(make, "copyto", F, WHOLE, inplace=True)
    check(make, "copyto", WHOLE, 2.5, inplace=True)  # TypeError
    check(make, "copyto", WHOLE, F, inplace=True)  # TypeError
    check(make, "fill_diagonal", np.zeros((7, 3)), 1.0, wrap=True, inplace=True)
    check(make, "diag", G, -2)
    check(make, "delete", F, [0, 2], 1)
    check(make, "delete", F, 99)  # IndexError
    check(make, "resize", F, (2, 9))
    check(make, "unravel_index", abs(WHOLE), (3, 4))
    for mode, order in (("raise", "C"), ("wrap", "F"), (("clip", "wrap", "raise"), "C")):
        check(make, "ravel_multi_index", abs(WHOLE), (9, 4, 12), mode=mode, order=order)
    check(make, "ravel_multi_index", WHOLE, (20, 20, 20))  # ValueError
    check(make, "ravel_multi_index", abs(WHOLE), (20, 20))  # ValueError
    check(make, "trim_zeros", np.array([0, 0, 1, 0, 2, 0]))
    check(make, "setxor1d", WHOLE[0], WHOLE[1])
    check(make, "lexsort", WHOLE)
    check(make, "array_equiv", F, F[0])
    pair = [make(F), make(F + 1)]
    want = np.select([low, F > 0], [F, F + 1], 7)
    same(np.select([make(low), pair[0] > 0], pair, 7), want)
    same(np.apply_along_axis(lambda v: v[::-1], 1, pair[0]), F[:, ::-1])
    assert np.shares_memory(pair[0], pair[0][1:]) and not np.shares_memory(*pair)
    h = np.arange(100, dtype="i2").reshape(10, 10)
    d = make(h)
    for one, other in (
        (np.s_[::2], np.s_[1::3]), (np.s_[::2], np.s_[1::4]), (np.s_[::2], np.s_[:, 1::2]),
        (np.s_[0, 5:], np.s_[:2, 2:3]), (np.s_[::-2, ::3], np.s_[1::2]), (np.s_[:0], np.s_[:]),
        (np.s_[:, :3], np.s_[:, 3:]), (np.s_[0], np.s_[0, 9:]), (np.s_[2:4], np.s_[4:]),
    ):  # fmt: skip
        for test in (np.shares_memory, np.may_share_memory):
            assert test(d[one], d[other]) is test(h[one], h[other]), (test, one, other)
    assert np.amax(pair[0]).item() == F.max() and np.array_repr(pair[0]) == np.array_repr(F)


@pytest.mark.sampled(opencl=0)
def test_joining_with_options(make):
    """out= and dtype= were ignored."""
    a, b = np.arange(6, dtype=np.int16).reshape(2, 3), np.ones((2, 3), np.int8)
    for name, axis in (("concatenate", 1), ("stack", 0), ("stack", -1)):
        wanted = getattr(np, name)([a, b], axis=axis)
        out = make(np.zeros(wanted.shape, np.float32))
        assert getattr(np, name)([make(a), make(b)], axis=axis, out=out) is out
        np.testing.assert_array_equal(out.get(), wanted)
        found = getattr(np, name)([make(a), b], axis=axis, dtype="c8")
        assert found.dtype == np.complex64
        np.testing.assert_array_equal(found.get(), wanted)
        with pytest.raises(TypeError, match="int16"):
            getattr(np, name)([make(a), make(b)], axis=axis, dtype="i1", casting="safe")
        with pytest.raises(ValueError, match="shape"):
            getattr(np, name)([make(a), make(b)], axis=axis, out=out[:1])
    for name in ("hstack", "vstack"):
        found = getattr(np, name)([make(a), make(b)], dtype="f4")
        assert found.dtype == np.float32
    with pytest.raises(TypeError, match="only takes"):
        np.concatenate([make(a)], out=make(a), dtype="i2")
    both = make(np.arange(6))
    np.concatenate([both[3:], both[:3]], out=both)
    assert both.get().tolist() == [3, 4, 5, 0, 1, 2]


def test_take_into_its_operand(make):
    a = make(np.arange(9))
    np.take(a, np.arange(9)[::-1].copy(), out=a, mode="clip")
    assert a.get().tolist() == list(range(9))[::-1]


def test_intersect1d_with_indices(make):
    a, b = np.array([5, 1, 1, 3, 7]), np.array([3, 9, 1, 5])
    wanted = np.intersect1d(a, b, return_indices=True)
    found = np.intersect1d(make(a), make(b), return_indices=True)
    assert [x.get().tolist() for x in found] == [x.tolist() for x in wanted]
    assert np.setdiff1d(make(a), make(b), assume_unique=True).get().tolist() == [7]


def test_clip_with_dtype(make):
    a = np.arange(5, dtype=np.int8)
    found = np.clip(make(a), 1, 3, dtype="f8")
    assert found.dtype == np.float64
    assert found.get().tolist() == [1, 1, 2, 3, 3]


@pytest.mark.parametrize("low, high", [(1, 3), (None, 3), (1, None), (None, None), (-999, 999)])
def test_clip_of_some_items(make, low, high):
    a, some = np.array([5, -1, 2, 7, 0], np.int8), np.array([1, 0, 1, 0, 1], bool)
    for kind in ("i1", "f8"):
        out = make(np.full(5, 9, kind))
        assert np.clip(make(a), low, high, out=out, where=make(some)) is out
        same(out, np.clip(a, low, high, out=np.full(5, 9, kind), where=some))
    got = make(a).clip(low, high, out=make(a + 1), where=~some)
    same(got, a.clip(low, high, out=a + 1, where=~some))
    with pytest.raises(TypeError, match="bool"):
        np.clip(make(a), low, high, where=make(a))


def test_arguments_by_numpys_names(make):
    a = np.arange(6).reshape(2, 3)
    x = make(a)
    same(np.flip(m=x, axis=1), np.flip(m=a, axis=1))
    for axis in ((0, 0), (0, -a.ndim)):
        with pytest.raises(ValueError):
            np.flip(a, axis)
        with pytest.raises(ValueError, match="duplicate value in 'axis'"):
            np.flip(x, axis)
    same(np.isin(x, test_elements=[1, 4]), np.isin(a, [1, 4]))
    same(np.tile(A=x, reps=2), np.tile(a, 2))
    same(np.vstack(tup=(x, x)), np.vstack((a, a)))
    same(np.split(ary=x, indices_or_sections=2)[1], a[1:])
    same(np.take_along_axis(arr=x, indices=make(a % 2), axis=0), np.take_along_axis(a, a % 2, 0))


def test_every_function_takes_the_names_of_numpys_arguments():
    table = array_function._table()
    for function, known in table.items():
        if isinstance(function, np.ufunc) or function is np.einsum_path:
            continue
        ours = inspect.signature(known).parameters
        if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in ours.values()):
            continue
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                args, named = array_function._by_position(function, known, (), {name: 0})
                assert args or named.keys() <= ours.keys(), (function, name)


@pytest.mark.sampled(opencl=0)
def test_dtypes_as_numpys(make):
    """A number beside dot() has its own dtype; edges and angles have NumPy's."""
    a = np.arange(4, dtype=np.int8)
    for work in (
        lambda x: np.dot(x, 2),
        lambda x: np.angle(x > 1),
        np.angle,
        lambda x: np.histogram(x, [0, 1, 2, 5])[1],
        lambda x: np.histogram(x.astype("f4"), 3)[1],
        lambda x: np.histogram(x.astype("f4")[:0], density=True)[1],
        lambda x: np.broadcast_arrays(x, 3)[1],
    ):
        found, wanted = work(make(a)), work(a)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.get(), wanted)


def test_axes_and_dtypes_that_are_wrong(make):
    number, a = make(np.array(3.0)), make(np.ones(3))
    for work in (np.median, lambda x, axis: np.quantile(x, 0.5, axis=axis)):
        with pytest.raises(np.exceptions.AxisError):
            work(number, axis=-9)
    with pytest.raises(TypeError, match="inexact"):
        np.nanmean(a, dtype="i4")


def test_first_operand_on_the_host(make):
    """It is copied, as that of an operator is; what would be changed is not."""
    edges, x = np.array([1.0, 2.0, 4.0]), np.array([0.5, 2.0, 9.0])
    np.testing.assert_array_equal(np.searchsorted(edges, make(x)).get(), np.searchsorted(edges, x))
    np.testing.assert_allclose(np.interp(x, make(edges), edges).get(), np.interp(x, edges, edges))
    grids = np.meshgrid(make(x), edges)
    for found, wanted in zip(grids, np.meshgrid(x, edges)):
        np.testing.assert_array_equal(found.get(), wanted)
    for work in (
        lambda a: np.place(edges, edges > 1, a),
        lambda a: np.put(edges, [0], a),
        lambda a: np.putmask(edges, make(x > 1), a),
    ):
        with pytest.raises(TypeError, match="on the device"):
            work(make(x))
    assert edges.tolist() == [1, 2, 4]


def test_arguments_that_are_not_arrays(make):
    a = make(np.arange(3.0))
    for work in (
        lambda: np.percentile(2.5, a),
        lambda: np.nanmedian([1, 2], "x", a),
        lambda: np.searchsorted(5, a),
        lambda: np.gradient(0.5, a),
        lambda: np.matmul(a, a, out="x"),
        lambda: np.conjugate(a, out=("x",)),
        lambda: a.conj("x"),
        lambda: a.get(ary=1.5),
    ):
        with pytest.raises(TypeError):
            work()


METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen "
    "weibull linear median_unbiased normal_unbiased lower higher midpoint nearest"
).split()


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_quantiles(make, method):
    for dtype in ("f4", "f8", "i4", "i1"):
        a = (host("f8", (7, 12)) * 40).astype(dtype)
        x = make(a)
        for q in (0.3, 0.25, 0.0, 1.0, [0.1, 0.5, 0.77], np.linspace(0, 1, 25)):
            for axis in (None, 0, 1, -1):
                same(np.quantile(x, q, axis, method=method), np.quantile(a, q, axis, method=method))
        same(np.percentile(x, 30, method=method), np.percentile(a, 30, method=method))
    a[3] = 5
    holes = host("f8", (5, 6))
    holes[2, 3] = np.nan
    same(
        np.quantile(make(holes), 0.4, 0, method=method, keepdims=True),
        np.quantile(holes, 0.4, 0, method=method, keepdims=True),
    )
    with pytest.raises(ValueError, match="not a valid method"):
        np.quantile(x, 0.5, method="nonsense")
    with pytest.raises(ValueError, match="wrong shape"):
        np.quantile(x, 0.5, 0, out=make(np.zeros((2, 12))))


def test_quantiles_of_whole_numbers(make):
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    for q in (0, 1, [0, 1], np.array([[1, 0]])):
        for call in (np.quantile, np.nanquantile):
            same(call(make(a), q), call(a, q))
            same(call(make(a), q, axis=1), call(a, q, axis=1))
    f = a.astype(np.float32)
    same(np.quantile(make(f), [0, 1], 0), np.quantile(f, [0, 1], 0))
    with pytest.warns(RuntimeWarning):
        for shape, axis in (((0, 3), 0), ((0, 3), None), ((2, 0), 1)):
            empty = np.empty(shape, np.float32)
            for q in (0.5, [0.5, 0.2]):
                same(
                    np.nanquantile(make(empty), q, axis=axis),
                    np.nanquantile(empty, q, axis=axis),
                )
    out = make(np.zeros(3, np.int64))
    assert np.nanargmax(make(f), 1, out=out) is out and out.get().tolist() == [3, 3, 3]
    with pytest.raises(ValueError):
        np.nanargmax(make(f), 1, out=make(np.zeros((2, 3), np.int64)))


def test_one_quantile_copies_nothing_to_the_device(make):
    """Nor to the host: what it needs are numbers of the launches."""
    x, whole = make(host("f4", (16, 3))), make(np.arange(16))
    calls = (
        lambda: np.percentile(x, 30),
        lambda: np.quantile(x, 0.4, axis=0, method="hazen"),
        lambda: np.quantile(whole, 1, method="lower"),
    )
    for call in calls:
        call()
        _, copies = make.calls(call)
        assert not [name for name in copies if "Write" in name or "HtoD" in name], copies


def test_corrections(make):
    a = host("f8", (4, 5))
    same(np.std(make(a), 1, correction=1), np.std(a, 1, correction=1))
    same(np.var(make(a), correction=2), np.var(a, correction=2))
    with pytest.raises(ValueError, match="simultaneously"):
        np.var(make(a), ddof=1, correction=1)


def test_none_is_not_a_number(make):
    x = make(np.arange(6.0).reshape(2, 3))
    same(x == None, np.zeros((2, 3), bool))  # noqa: E711
    same(x != None, np.ones((2, 3), bool))  # noqa: E711
    same(x[:0] == None, np.zeros((0, 3), bool))  # noqa: E711
    assert x.T.sum(0)[0].get() is not None and (x == "no") is False


@pytest.mark.sampled(opencl=0)
def test_weights(make):
    rng = np.random.default_rng(5)
    places, weights = rng.integers(0, 9, 300), rng.random(300)
    for w in (weights, weights.astype("f4"), rng.integers(-5, 9, 300)):
        same(np.bincount(make(places), make(w), 12), np.bincount(places, w, 12))
        same(np.bincount(make(places), w), np.bincount(places, w))
    empty = np.bincount(make(places[:0]), weights=make(weights[:0]), minlength=2)
    same(empty, np.zeros(2))
    for wrong, error in ((weights[:4], ValueError), (weights * 1j, TypeError)):
        with pytest.raises(error):
            np.bincount(make(places), make(wrong))
    a = rng.normal(size=300)
    for w in (weights, weights.astype("f4"), weights * (1 + 2j), rng.integers(-5, 9, 300)):
        for bins in (10, [-1.0, 0.0, 0.25, 2.0], [0.5, 0.5, 0.7]):
            for part in ({}, {"density": True} if w.dtype.kind == "f" else {}):
                for mine, theirs in zip(
                    np.histogram(make(a), bins, weights=make(w), **part),
                    np.histogram(a, bins, weights=w, **part),
                ):
                    same(mine, theirs)
    with pytest.raises(ValueError, match="same shape"):
        np.histogram(make(a), weights=weights[:5])
    for bins in (7, [0, 1, 4]):
        same(np.histogram_bin_edges(make(a), bins), np.histogram_bin_edges(a, bins))
    same(
        np.histogram_bin_edges(make(a), 4, (0, 2)),
        np.histogram_bin_edges(a, 4, (0, 2)),
    )


PADS = [
    *((mode, {}) for mode in ("constant", "linear_ramp", "maximum", "mean", "median", "minimum")),
    *((mode, {}) for mode in ("edge", "reflect", "symmetric", "wrap")),
    *((mode, {"stat_length": 2}) for mode in ("maximum", "mean", "median", "minimum")),
    *((mode, {"stat_length": ((1, 3), (2, 9))}) for mode in ("mean", "minimum")),
    *(("constant", {"constant_values": v}) for v in (3, (1, 2), ((1, 2), (3, 4)))),
    *(("linear_ramp", {"end_values": v}) for v in (-3, (1, 8), ((1, 2), (3, -4)))),
]


@pytest.mark.sampled(opencl=6)
@pytest.mark.parametrize(("mode", "options"), PADS)
def test_borders(make, mode, options):
    for dtype in ("f8", "i4", "u1"):
        a = (np.abs(host("f8", (4, 5))) * 40).astype(dtype)
        for width in (2, (1, 3), ((0, 2), (3, 0)), 0):
            if dtype == "u1" and "end_values" in options:
                continue
            same(np.pad(make(a), width, mode, **options), np.pad(a, width, mode, **options))
    assert np.pad(make(a), 1, "empty").shape == (6, 7)
    same(np.pad(make(a), 1, "empty")[1:-1, 1:-1], a)
    for wrong in (lambda x: np.pad(x, -1, mode), lambda x: np.pad(x, 1.5, mode)):
        with pytest.raises((TypeError, ValueError)):
            wrong(make(a))
    with pytest.raises(ValueError, match="unsupported keyword"):
        np.pad(make(a), 1, mode, nonsense=1)
    with pytest.raises(TypeError, match="is not supported"):
        np.pad(make(a), 1, 5)


def test_borders_by_a_function(make):
    def stripes(vector, width, axis, options):
        vector[: width[0]] = axis + 10
        vector[vector.shape[0] - width[1] :] = vector[width[0]] * options.get("times", 2)

    for a in (np.arange(6).reshape(2, 3), np.ones((2, 1, 2), "c8"), np.arange(4.0)[::2]):
        for width in (1, (2, 1)):
            same(np.pad(make(a), width, stripes), np.pad(a, width, stripes))
    same(np.pad(make(a), 1, stripes, times=3), np.pad(a, 1, stripes, times=3))


def test_inserting(make):
    a = np.arange(12.0).reshape(3, 4)
    cases = [
        *((1, 9, None), (1, [1, 2, 3], 1), (-1, [1, 2, 3, 4], 0), ([1], [[1], [2], [3]], 1)),
        *(([0, 2, 2], [[1], [2], [3]], 0), (slice(0, 2), 7, 1), (np.arange(3) != 1, 5, 0)),
        *(([], 3, 0), (4, 1.5, 1), ([1, 5, 3], [1, 2, 3], None), (2, [5, 6], None)),
    ]
    for obj, values, axis in cases:
        same(np.insert(make(a), obj, values, axis), np.insert(a, obj, values, axis))
    same(
        np.insert(make(a), make(np.array([1, 3])), make(a[:, :2]), 1),
        np.insert(a, [1, 3], a[:, :2], 1),
    )
    for wrong in (4, [0, 9]):
        with pytest.raises(IndexError):
            np.insert(make(a), wrong, 0, 0)


def test_blocks(make):
    a, b = np.ones((2, 2)), np.arange(6.0).reshape(2, 3)
    x, y = make(a), make(b)
    same(np.block([x, y]), np.block([a, b]))
    same(
        np.block([[x, y], [np.zeros((1, 2)), make(b[:1])]]),
        np.block([[a, b], [np.zeros((1, 2)), b[:1]]]),
    )
    same(np.block([make(b[0]), 4.0]), np.block([b[0], 4.0]))
    same(np.block([[x], [x]]), np.block([[a], [a]]))
    same(np.block([[[x]], [[x]]]), np.block([[[a]], [[a]]]))
    same(np.block(x), np.block(a))
    for wrong in ([[x], x], [[], [x]], [x, (x,)]):
        with pytest.raises((TypeError, ValueError)):
            np.block(wrong)


@pytest.mark.sampled(opencl=0)
def test_distinct_rows(make):
    rng = np.random.default_rng(3)
    for dtype in ("i4", "f4", "c8", "?"):
        a = rng.integers(0, 2, (20, 3)).astype(dtype)
        if dtype == "f4":
            a[::3] *= -1  # zeros of both signs
        for axis in (0, 1, -1):
            options = {f"return_{name}": True for name in ("index", "inverse", "counts")}
            for mine, theirs in zip(
                np.unique(make(a), axis=axis, **options), np.unique(a, axis=axis, **options)
            ):
                same(mine, theirs)
            same(np.unique(make(a), axis=axis), np.unique(a, axis=axis))
    cube = rng.integers(0, 2, (6, 2, 2))
    same(np.unique(make(cube), axis=0), np.unique(cube, axis=0))
    with pytest.raises(np.exceptions.AxisError):
        np.unique(make(cube), axis=3)
    for dtype in ("f4", "i2", "c8"):
        v = rng.integers(-9, 9, 12).astype(dtype)
        same(np.sort_complex(make(v)), np.sort_complex(v))
