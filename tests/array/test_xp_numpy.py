"""pygpu.xp as NumPy's namespace: its names, the order of arguments, and what NumPy returns."""

import io
import pickle
import warnings

import numpy as np
import pytest

from pygpu import GPUArray, xp
from pygpu._src.array import array_function, gufunc
from pygpu._src.array.routines import table
from pygpu._src.codegen.ufunc_loops import NAMES

A = np.linspace(-3, 3, 24).reshape(4, 6)


def compare(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            compare(one, other)
    elif isinstance(want, (np.ndarray, np.generic)) and not isinstance(want, np.bool_):
        assert isinstance(got, GPUArray), type(got)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got.get(), want, rtol=1e-6, atol=1e-12)
    else:
        assert got == want


def test_has_each_function_that_works_on_arrays_of_a_device():
    known = {**table.makers(None), **array_function._table()}
    ufuncs = {*NAMES, *gufunc.NAMES}
    for ours, numpys in ((xp, np), (xp.linalg, np.linalg), (xp.fft, np.fft)):
        for name in numpys.__all__:
            function = getattr(numpys, name)
            works = function in known if isinstance(function, type(np.sum)) else (
                isinstance(function, np.ufunc) and function.__name__ in ufuncs
            )  # fmt: skip
            if works:
                assert hasattr(ours, name), name
    assert xp.isnat.__doc__ and "numpy.pad" in xp.pad.__doc__


def test_numbers_alone_need_no_device():
    for call in (
        lambda np: (
            np.sqrt(2),
            np.exp2(0.5),
            np.maximum(2, 3.5),
            np.round(2.567, 2),
            np.deg2rad(9),
        ),
        lambda np: (np.clip(5, 0, 3), np.clip(-1.5, a_min=0, a_max=None), np.real(1j), np.imag(2)),
        lambda np: (np.conj(1j), np.divmod(7, 3), np.isclose(1, 1.1), np.nan_to_num(np.nan)),
        lambda np: (np.angle(1j), np.sinc(0.5), np.isneginf(-np.inf), np.isreal(1), np.i0(1.0)),
        lambda np: (np.unravel_index(5, (3, 4)), np.ravel_multi_index((1, 1), (3, 4))),
        lambda np: (np.shape([[1, 2]]), np.ndim(3), np.size([1]), np.isrealobj(3)),
        lambda np: (np.min_scalar_type(300), np.iscomplexobj(1j), np.isfortran(A)),
    ):
        for got, want in zip(call(xp), call(np), strict=True):
            assert type(got) is type(want) and got == want
    for got, want in zip(xp.ix_([0, 2], [True, False]), np.ix_([0, 2], [True, False])):
        np.testing.assert_array_equal(got, want, strict=True)
    x = xp.asarray(A)
    compare(x[xp.ix_([0, 2], [1, 3])], A[np.ix_([0, 2], [1, 3])])
    compare(x.astype("f4") / xp.sqrt(2), A.astype("f4") / np.sqrt(2))
    assert xp.isfortran(x.T) and not xp.isfortran(x)
    info = pickle.loads(pickle.dumps(xp.finfo("c8")))
    assert (info.tiny, info.resolution) == (np.finfo("f4").tiny, np.finfo("f4").resolution)
    with pytest.raises(AttributeError, match="nothing"):
        info.nothing  # noqa: B018


def test_stride_tricks_are_in_lib():
    x = xp.asarray(np.arange(10, dtype="i4"))
    tricks = xp.lib.stride_tricks
    compare(tricks.sliding_window_view(x, 3), np.lib.stride_tricks.sliding_window_view(x.get(), 3))
    compare(tricks.as_strided(x[1:], (2, 3), (12, 8)), np.array([[1, 3, 5], [4, 6, 8]], "i4"))
    compare(tricks.as_strided(x[::-1], (2,), (-8,)), np.array([9, 7], "i4"))
    for shape, strides in (((999, 2), (4, 4000)), ((2,), (-4,))):
        with pytest.raises(ValueError, match="as_strided: items lie"):
            tricks.as_strided(x, shape, strides)
    with pytest.raises(TypeError, match="list is not an array on a device"):
        tricks.sliding_window_view([1, 2, 3], 2)


# Each is called with (namespace, array of the namespace).
CALLS = {
    "axis by position": lambda np, x: (
        np.sum(x, 0), np.mean(x, 1), np.max(x, 0), np.argmin(x, 1), np.any(x > 2, 0),
        np.roll(x, 1, 0), np.flip(x, 1), np.repeat(x, 2, 0), np.stack([x, x], -1),
        np.concatenate([x, x], 1), np.sort(x, 0), np.argsort(x, None), np.expand_dims(x, 1),
        np.cumsum(x, 1), np.diff(x, 2, 0), np.squeeze(x[:1]), np.count_nonzero(x > 0, 1),
    ),
    "options of reductions": lambda np, x: (
        np.var(x, 0, ddof=1), np.std(x, ddof=1), np.sum(x, 1, np.float32, keepdims=True),
        np.sum(x, where=x > 0), np.max(x, 1, initial=2.5), np.mean(x, 0, np.float32),
        np.prod(x, None, np.complex64), np.min(x, axis=0, keepdims=True),
    ),
    "ufuncs": lambda np, x: (
        np.add(x, 1, dtype=np.float32), np.exp2(x), np.arctan2(x, 2.0), np.fmod(x, 2),
        np.power(x, 2), np.degrees(x), np.divmod(x, 2.0), np.modf(x), np.heaviside(x, 0.5),
        np.add.reduce(x, 1), np.maximum.accumulate(x, 1), np.multiply.outer(x[0], x[:, 0]),
        np.add.reduceat(x[0], [0, 2]), np.round(x, 2), np.around(x, 1), np.absolute(x),
    ),
    "creation": lambda np, x: (
        np.zeros((2, 3), np.int32), np.ones(3, np.float32), np.full((2,), 7, np.int8),
        np.eye(3, 4, 1), np.identity(2), np.arange(0, 10, 3, np.float64), np.linspace(0, 1),
        np.linspace(0, 1, 5, False), np.linspace(x[0], x[1], 3), np.linspace(x[0], 1, 4, axis=1),
        np.logspace(0, 2, 5), np.geomspace(1, 8, 4), np.geomspace(x[2] + 4, x[3] + 9, 3),
        np.zeros_like(x, np.int8), np.full_like(x, 2, shape=(3,)), np.tri(3, 4, 1),
        np.indices((2, 3)), np.fromfunction(lambda i, j: i + 2 * j, (2, 3)),
        np.mgrid[0:3, 0:2], np.ogrid[0:1:4j, 0:2], np.mgrid[0:3], np.hanning(5), np.kaiser(4, 2.0),
        np.diag_indices(3), np.tril_indices(3, -1), np.triu_indices(3, 1, 4),
        np.array([1.5, 2], ndmin=2), np.array(x, np.float32), np.ascontiguousarray(x.T),
        np.meshgrid(x[0], x[1], sparse=True), np.array([x, x]), np.mask_indices(3, np.triu),
    ),
    "shapes": lambda np, x: (
        np.pad(x, 1), np.vstack([x, x]), np.hstack([x, x]), np.split(x, 2), np.rot90(x),
        np.transpose(x), np.swapaxes(x, 0, 1), np.atleast_3d(x), np.ravel(x), np.take(x, [1, 2]),
        np.block([[x, x]]), np.tril(x, 1), np.trace(x), np.diag(x), np.moveaxis(x, 0, 1),
        np.reshape(x, (6, 4), "F"), np.tile(x, 2), np.resize(x, (5, 5)), np.ndim(x), np.shape(x),
    ),
    "searching and counting": lambda np, x: (
        np.unique(x.astype(np.int32)), np.unique(x.astype(np.int32), return_counts=True),
        np.histogram(x, 4), np.bincount(np.abs(x[0]).astype(np.int64)), np.digitize(x, x[0]),
        np.searchsorted(x[0], x[1], "right"), np.where(x > 2), np.argwhere(x > 2),
        np.percentile(x, 30), np.median(x, 1), np.isin(x, x[:1]), np.interp(x[0], x[0], x[1]),
        np.select([x > 1, x < -1], [x, 2 * x]), np.clip(x, -1, 1), np.nan_to_num(x),
    ),
    "products": lambda np, x: (
        np.dot(x, x.T), np.tensordot(x, x, ([1], [1])), np.outer(x[0], x[1]), np.inner(x, x),
        np.kron(x[:2, :2], x[:2, :2]), np.convolve(x[0], x[1, :3], "same"), np.vdot(x, x),
        np.cov(x), np.corrcoef(x), np.cross(x[:, :3], x[:, 3:]), np.einsum("ij,kj->ik", x, x),
        np.linalg.norm(x), np.linalg.norm(x, 1, 0), np.linalg.svd(x, compute_uv=False),
        np.linalg.lstsq(x.T, x[0], None)[0],
        np.linalg.multi_dot([x, x.T, x]), np.linalg.cond(x[:, :4] @ x[:, :4].T + np.eye(4)),
    ),
    "transforms": lambda np, x: (
        np.fft.fft(x, 8, 0), np.fft.rfft2(x), np.fft.irfft2(np.fft.rfft2(x), (4, 6)),
        np.fft.fft2(x, norm="ortho"), np.fft.ifft2(x, None, (0, 1)), np.fft.fftshift(x, 0),
        np.fft.fftfreq(5, 0.5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CALLS)
def test_calls_as_numpys(opencl_maker, kind):
    """On one system: each function is tested on both under NumPy's name."""
    x = xp.asarray(A, device=opencl_maker.queue)
    before = xp.set_default_device(opencl_maker.queue)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # computed on the host
        got = CALLS[kind](xp, x)
    xp.set_default_device(before)
    compare(got, CALLS[kind](np, A))


def test_out(on):
    x, out = xp.asarray(A), xp.empty(A.shape)
    assert xp.add(x, 1, out) is out and xp.sqrt(abs(x), out=out) is out
    np.testing.assert_allclose(out.get(), np.sqrt(abs(A)))
    xp.multiply(x, 2, out=out, where=x > 0)
    np.testing.assert_allclose(out.get(), np.where(A > 0, 2 * A, np.sqrt(abs(A))))
    row = xp.empty(6)
    assert xp.sum(x, 0, out=row) is row and xp.clip(x[0], -1, 1, row) is row
    np.testing.assert_allclose(row.get(), A[0].clip(-1, 1))
    xp.add.at(row, [0, 0], 1.0)
    assert row.get()[0] == 1.0


@pytest.mark.parametrize("order", "CF")
def test_order(on, order):
    flag = "c_contiguous" if order == "C" else "f_contiguous"
    x = xp.asarray(A)
    for made in (
        xp.zeros((2, 3), order=order), xp.full((2, 3), 4, order=order),
        xp.eye(2, 3, 1, order=order), xp.asarray(x, order=order), xp.array(x, order=order),
        xp.empty_like(x, order=order), xp.ones_like(xp.zeros((2, 3), order=order)),
        xp.full_like(x.T, 2, order=order),
    ):  # fmt: skip
        assert getattr(made.flags, flag)
    np.testing.assert_array_equal(xp.eye(2, 3, 1, order=order).get(), np.eye(2, 3, 1))
    with pytest.raises(ValueError, match="order must be 'C' or 'F', not 'X'"):
        xp.zeros(3, order="X")
    with pytest.raises(ValueError, match="order 'F' needs a copy"):
        xp.asarray(xp.asarray(A), order="F", copy=False)


def test_types_make_numbers(on):
    assert xp.float32(2.5) == 2.5 and xp.int8 is np.int8 and xp.asarray(A).dtype == xp.float64
    assert isinstance(xp.asarray(A), xp.ndarray) and xp.issubdtype(xp.float32, xp.floating)
    assert xp.isdtype(xp.float32, "real floating") and xp.dtype("i4") == xp.int32


def test_from_and_to_the_host(on, tmp_path):
    x = xp.asarray(A)
    assert isinstance(xp.asnumpy(x), np.ndarray) and xp.asnumpy(A) is A
    for save, name in ((xp.save, "a.npy"), (xp.savetxt, "a.txt")):
        save(tmp_path / name, x)
    compare(xp.load(tmp_path / "a.npy"), A)
    compare(xp.loadtxt(tmp_path / "a.txt"), A)
    for save in (xp.savez, xp.savez_compressed):
        save(tmp_path / "b.npz", x, other=x[0])
        with xp.load(tmp_path / "b.npz") as found:
            assert set(found) == set(found.files) == {"arr_0", "other"}
            compare(found["other"], A[0])
        found.close()
    compare(xp.frombuffer(b"\1\2", np.uint8), np.array([1, 2], np.uint8))
    compare(xp.fromiter(range(3), np.int32), np.arange(3, dtype=np.int32))
    compare(xp.fromstring("1, 2", sep=","), np.array([1.0, 2.0]))
    compare(xp.genfromtxt(io.StringIO("1 2\n3 x")), np.array([[1.0, 2.0], [3.0, np.nan]]))
    (tmp_path / "raw").write_bytes(A.tobytes())
    compare(xp.fromfile(tmp_path / "raw"), A.ravel())


def test_arguments_without_an_array_on_a_device_are_refused():
    for call in (
        lambda: xp.pad([1, 2], 1),
        lambda: xp.median(A),
        lambda: xp.exp2([2.0]),
        lambda: xp.sinc([2.0]),
        lambda: xp.add.reduce([1, 2]),
        lambda: xp.histogram(None),
        lambda: xp.block([[A, A]]),
        lambda: xp.gradient(),
    ):
        with pytest.raises(TypeError, match="an array on a device is needed, not"):
            call()
    with pytest.raises(ValueError, match="var: ddof and correction are two names"):
        xp.var(xp.asarray(A), ddof=1, correction=1)
    with pytest.raises(ValueError, match="array: a copy is needed"):
        xp.array(A, copy=False)
    with pytest.raises(ValueError, match="cannot include zero"):
        xp.geomspace(xp.asarray([1.0, 0.0]), 2.0)


def test_random_functions_draw_from_one_generator(on):
    xp.random.seed(7)
    got = [xp.random.rand(2, 3), xp.random.randn(4), xp.random.randint(5, size=3),
           xp.random.normal(1.0, 2.0, 4), xp.random.random_sample(2)]  # fmt: skip
    rng = xp.random.default_rng(7)
    want = [rng.random((2, 3)), rng.standard_normal(4), rng.integers(5, size=3),
            rng.normal(1.0, 2.0, 4), rng.random(2)]  # fmt: skip
    for one, other in zip(got, want, strict=True):
        assert one.get().tolist() == other.get().tolist()
    assert xp.random.rand().shape == ()
    missing = {n for n in np.random.__all__ if callable(getattr(np.random, n))}
    missing -= {*xp.random.__all__, "get_state", "set_state", "ranf", "sample", "random_integers"}
    assert {n for n in missing if n[0].islower()} == set()


def test_clip_to_limits_of_another_kind(on):
    x, i = xp.asarray(A), np.array([1, 2, 3])
    compare(xp.clip(xp.asarray(i), 1.5, None), i.clip(1.5))
    compare(xp.clip(xp.asarray(i), a_min=xp.asarray(2.5), a_max=4), np.clip(i, 2.5, 4))
    compare(xp.clip(x, a_max=[0, 1, 2, 3, 4, 5]), A.clip(max=[0, 1, 2, 3, 4, 5]))
    compare(xp.clip(x, -1, 1, dtype="f4"), np.clip(A, -1, 1, dtype="f4"))
    with pytest.raises(TypeError, match="clip: a_min and min are two names of one argument"):
        xp.clip(x, 1, min=2)


def test_dtypes_with_a_shape_are_refused(on):
    for call in (xp.zeros, xp.empty):
        with pytest.raises(TypeError, match="has a shape of its own; make an array of float32"):
            call(3, "(2,)f4")
    with pytest.raises(TypeError, match="has a shape of its own"):
        xp.asarray(A).astype("(2,)f4")


def test_the_class_of_all_arrays_makes_none(on):
    with pytest.raises(TypeError, match="call pygpu.xp.empty"):
        xp.ndarray((2, 3))


def test_concatenation_by_subscripts(on):
    x, a = xp.asarray(A), A
    compare(xp.r_[x[0], 0, 5.0, x[1, :2]], np.r_[a[0], 0, 5.0, a[1, :2]])
    compare(xp.r_["-1", x, x], np.r_["-1", a, a])
    compare(xp.r_["0,2", x[0], x[0]], np.r_["0,2", a[0], a[0]])
    compare(xp.r_["1,2,0", x[0], x[1]], np.r_["1,2,0", a[0], a[1]])
    compare(xp.r_[x[0], 1:3, -1:1:3j], np.r_[a[0], 1:3, -1:1:3j])
    compare(xp.c_[x[:, 0], x[:, 1], x], np.c_[a[:, 0], a[:, 1], a])
    compare(xp.r_[1, 2, 0:3], np.r_[1, 2, 0:3])
    compare(xp.c_[xp.asarray([1, 2], dtype=xp.int8), [3, 4]], np.c_[np.int8([1, 2]), [3, 4]])
    with pytest.raises(ValueError, match="must be the first"):
        xp.r_[x, "0"]
    with pytest.raises(ValueError, match="'q' is not one of"):
        xp.r_["q", x]


def test_flat(on):
    for given in (A, A[:, ::2], A.T):
        a, x = given.copy("K"), xp.asarray(A)
        x = x[:, ::2] if given.shape == (4, 3) else x.T if given.shape == (6, 4) else x
        for key in (3, slice(1, None, 2), -1, [0, 2], ...):
            compare(x.flat[key], a.flat[key])
        for key, value in ((2, 9.0), (slice(0, 7, 2), [1, 2]), (..., a), ([1, 3], 5)):
            a.flat[key] = value
            x.flat[key] = value
        compare(x, a)
        a.flat = [1, 2, 3]
        x.flat = [1, 2, 3]
        compare(x, a)
        assert len(x.flat) == a.size and [float(item) for item in x.flat] == a.ravel().tolist()
        part = x.flat[:2]
        part[...] = 70
        assert 70 not in x.get() and x.flat.base is x
    with pytest.raises(ValueError, match="flat: cannot set 2 items from an empty array"):
        xp.asarray(A).flat[:2] = []


def test_get_array_module(on):
    assert xp.get_array_module(A, 1) is np and xp.get_array_module() is np
    assert xp.get_array_module(A, xp.asarray(A)) is xp


def test_asnumpy(on):
    x, host = xp.asarray(A), np.zeros((4, 6))
    assert xp.asnumpy(x, out=host) is host and (host == A).all()
    assert xp.asnumpy(A + 1, out=host) is host and (host == A + 1).all()
    assert xp.asnumpy(x, order="F").flags.f_contiguous
    assert xp.asnumpy(x, "f4").dtype == np.float32
    with pytest.raises(TypeError, match="asnumpy: out has a dtype and an order"):
        xp.asnumpy(x, "f4", out=host)
    assert np.isfortran(x.T) and not np.isfortran(x)


def test_ranges_between_lists(on):
    compare(xp.linspace([1, 2], [3.0, 5], 3), np.linspace([1, 2], [3.0, 5], 3))
    compare(xp.linspace(0, A[0], 4, axis=-1), np.linspace(0, A[0], 4, axis=-1))
    compare(xp.linspace(xp.asarray([1, 2]), [0, 3], 2), np.linspace([1, 2], [0, 3], 2))
    compare(xp.logspace([1, 2], 3, 3), np.logspace([1, 2], 3, 3))
    compare(xp.arange(0, 5, None), np.arange(0, 5, None))
    with pytest.raises(TypeError, match="3 items of bool would not differ"):
        xp.arange(3, dtype=bool)


def test_axes_of_new_arrays_have_the_order_of_the_given(on):
    cube = np.ones((2, 3, 4))
    for axes in ((1, 2, 0), (0, 2, 1), (2, 1, 0)):
        x, a = xp.asarray(cube).transpose(axes), cube.transpose(axes)
        for options in ({}, {"dtype": "f4"}, {"shape": (5, 6, 7)}, {"shape": (5, 6)}):
            assert xp.zeros_like(x, **options).strides == np.zeros_like(a, **options).strides
    compare(xp.full_like(x, 3), np.full_like(a, 3))


def test_transforms_of_halves(on):
    a = np.array([1, 2, 3], np.float16)
    for name in ("fft", "rfft", "ihfft", "irfft"):
        got, want = getattr(xp.fft, name)(xp.asarray(a)), getattr(np.fft, name)(a)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got.get(), want, rtol=1e-3, atol=1e-5)


def test_functions_are_pickled_by_their_public_name():
    for module in (xp, xp.linalg, xp.fft):
        for name in module.__all__:
            function = getattr(module, name)
            home = getattr(function, "__module__", None) or ""
            if home.startswith("pygpu") and callable(function):
                assert pickle.loads(pickle.dumps(function)) is function, name
                assert "._" not in home, name
    assert np.isscalar.__module__ == "numpy"
