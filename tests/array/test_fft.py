"""numpy.fft by kernels of our own: NumPy's results, and its errors; cuFFT is left out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pygpu.fft
from pygpu import xp
from pygpu._src.array.fft import plan, transform
from pygpu._src.array.routines import host_fallback
from pygpu._src.runtime.libraries import cufft
from tests.array.test_reduction import host

pytestmark = pytest.mark.sampled(3)

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = [f"{kind}{rank}" for kind in ("fft", "ifft", "rfft", "irfft") for rank in "2n"]
TIGHT = plan.Tuning(
    single=512, column=128, least=16, threads=64, together=32, cpu_single=512, cpu_column=128
)


@pytest.fixture(autouse=True)
def _own_and_silent(monkeypatch):
    monkeypatch.setenv("PYGPU_FFT", "own")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


@pytest.fixture
def tight():
    """Short lines take several passes, and long ones three or four."""
    transform.set_tuning(TIGHT)
    yield
    transform.set_tuning(plan.Tuning())


def input_of(name, shape, dtype="F", seed=0):
    """Numbers that a function takes: real ones for rfft and ihfft."""
    dtype = np.dtype(dtype)
    if name.startswith(("rfft", "ihfft")) and dtype.kind == "c":
        dtype = np.dtype(dtype.char.lower())
    return host(dtype, shape, seed)


def close(got, want):
    """Equal to the rounding of some operations, by the norm of all items."""
    want = np.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    limit = {"e": 1e-3, "f": 8e-7, "F": 8e-7}.get(want.dtype.char, 1.5e-15)
    wide = np.clongdouble
    got, want = got.get().astype(wide).ravel(), want.astype(wide).ravel()
    assert np.linalg.norm(got - want) <= limit * np.linalg.norm(want)


def numpys(name, a, **options):
    """NumPy's result; of float16 with a factor in single precision, which NumPy rounds to half."""
    found = getattr(np.fft, name)(a, **options)
    if a.dtype == np.float16:
        found = getattr(np.fft, name)(a.astype(np.float32), **options).astype(found.dtype)
    return found


def same_as_numpy(make, name, a, **options):
    close(getattr(np.fft, name)(make(a), **options), numpys(name, a, **options))


@pytest.mark.parametrize("make", ["opencl"], indirect=True)
@pytest.mark.parametrize(
    "changes",
    [
        {"cpu_turns": 0},
        pytest.param({"vector": 32}, marks=pytest.mark.slow),
        pytest.param({"vector": 8}, marks=pytest.mark.slow),
    ],
)
def test_lines_by_other_numbers_of_a_plan(make, changes):
    transform.set_tuning(TIGHT.but(**changes))
    try:
        for n in (480, 97):  # two passes, and a convolution of two passes
            same_as_numpy(make, "fft", input_of("fft", (3, n)))
        same_as_numpy(make, "fft", input_of("fft", (480, 3)), axis=0)
    finally:
        transform.set_tuning(plan.Tuning())


def _launches(backend):
    """The numbers of launches of the plans made since clear_plans()."""
    plans = backend._fft_plans.values()
    return [len(made.steps) for made in plans if isinstance(made, transform._Plan)]


@pytest.mark.parametrize("make", ["opencl"], indirect=True)
@pytest.mark.parametrize(
    "name, n, dtype, launches",
    [
        ("fft", 240, "F", 1),
        ("ifft", 127, "F", 1),  # a convolution
        pytest.param("fft", 8192, "F", 1, marks=pytest.mark.slow),  # three passes
        pytest.param("rfft", 480, "f", 2, marks=pytest.mark.slow),
        pytest.param("irfft", 480, "d", 1, marks=pytest.mark.slow),
    ],
)
def test_all_passes_of_a_line_in_one_kernel_on_cpus(make, name, n, dtype, launches):
    transform.set_tuning(TIGHT.but(cpu_single=128, cpu_short=128, cpu_column=512))
    try:
        backend = make(np.zeros(1)).backend
        if not backend.limits.is_cpu:
            pytest.skip("the device is not a CPU")
        many = backend.limits.units * transform._SHARES + 1
        a = input_of(name, (many, n // 2 + 1 if name == "irfft" else n), dtype)
        transform.clear_plans(backend)
        same_as_numpy(make, name, a, n=n)
        assert _launches(backend) == [launches]
        if n == 8192:
            same_as_numpy(make, name, a[::-1, ::2], n=n // 2)
            x = make(a)
            assert np.fft.fft(x, out=x) is x
            close(x, np.fft.fft(a).astype(dtype))
    finally:
        transform.set_tuning(plan.Tuning())


@pytest.mark.parametrize("dtype", ["F", pytest.param("D", marks=pytest.mark.slow)])
def test_a_convolution_in_three_passes(make, dtype):
    transform.set_tuning(TIGHT.but(column=512, cpu_column=512))
    try:
        a = input_of("fft", (3, 127), dtype)
        backend = make(np.zeros(1)).backend
        transform.clear_plans(backend)
        same_as_numpy(make, "fft", a)
        assert _launches(backend) == [3]
        if dtype == "D":
            same_as_numpy(make, "ifft", np.ascontiguousarray(a.T), axis=0)
    finally:
        transform.set_tuning(plan.Tuning())


@pytest.mark.sampled(opencl=7)
@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("n, dtype", [(1, "F"), (3, "D"), (16, "F"), (30, "D"), (97, "F")])
def test_lines(make, name, n, dtype):
    m = n // 2 + 1 if name in ("irfft", "hfft") else n
    same_as_numpy(make, name, input_of(name, (3, m), dtype), n=n)


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
@pytest.mark.parametrize("n", [60, 256, 2 * 113])
def test_passes(make, tight, name, n):
    m = n // 2 + 1 if name == "irfft" else n
    a = input_of(name, (5, m, 2), "F")
    same_as_numpy(make, name, a, n=n, axis=1)
    same_as_numpy(make, name, np.ascontiguousarray(a[:, :, 0]), n=n)


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize("name", MANY)
def test_several_axes(make, name):
    a = input_of(name, (4, 6, 5), "D")
    same_as_numpy(make, name, a)
    same_as_numpy(make, name, a, s=(8, 3), axes=(0, 1), norm="ortho")


@pytest.mark.sampled(opencl=2)
@pytest.mark.parametrize(
    "shape, axes",
    [
        ((3, 4, 6), (1, 2)),
        ((2, 16, 7), (2, 1)),
        ((32, 32), None),
        ((2, 3, 4, 5), (1, 2, 3)),
        ((6, 10, 5), (0, 1)),
        ((2, 6, 10, 3), (1, 2)),
        ((1, 8, 1, 8), None),
        ((4, 13, 97), (1, 2)),
    ],
)
@pytest.mark.parametrize(
    "name, dtype",
    [
        ("fftn", "F"),
        pytest.param("ifftn", "D", marks=pytest.mark.slow),
        pytest.param("fftn", "f", marks=pytest.mark.slow),
        ("rfftn", "d"),
    ],
)
def test_images(make, name, dtype, shape, axes):
    """Axes that are next to each other in memory are transformed in one pass."""
    a = input_of(name, shape, dtype)
    same_as_numpy(make, name, a, axes=axes)
    got = getattr(np.fft, name)(make(a).T, axes=None if axes is None else (0, 1))
    close(got, getattr(np.fft, name)(a.T, axes=None if axes is None else (0, 1)))


def test_images_in_place_and_into_others(make):
    a = input_of("fft2", (3, 8, 12), "F")
    x = make(a)
    assert np.fft.fft2(x, out=x) is x
    close(x, np.fft.fft2(a).astype("F"))
    wide = make(np.zeros((3, 8, 24), "F"))
    np.fft.fft2(make(a), out=wide[:, :, ::2])
    close(wide[:, :, ::2].copy(), np.fft.fft2(a).astype("F"))
    assert not wide[:, :, 1::2].get().any()


@pytest.mark.sampled(opencl=5)
@pytest.mark.parametrize("n", [64, 90, 49, 343])
@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
def test_lines_that_go_through_local_memory_by_halves(make, monkeypatch, name, n):
    """A group has so little local memory that numbers are exchanged in four pieces."""
    monkeypatch.setattr(transform, "_LOCAL", 5 * n)
    transform.set_tuning(plan.Tuning(full=5 * n, together=8, radix=8))
    try:
        m = n // 2 + 1 if name == "irfft" else n
        same_as_numpy(make, name, input_of(name, (3, m), "D"), n=n)
        same_as_numpy(make, "fft2", input_of("fft2", (n // 4, 4), "F"))
    finally:
        transform.set_tuning(plan.Tuning())


@pytest.mark.parametrize("name", ["fftn", "rfftn", "irfftn"])
def test_an_axis_that_is_named_twice(make, name):
    a = input_of(name, (4, 6), "D")
    same_as_numpy(make, name, a, s=(5, 3), axes=(1, 1))


@pytest.mark.sampled(opencl=5)
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ihfft", "irfft"])
def test_norms(make, name, norm):
    same_as_numpy(make, name, input_of(name, (2, 9), "F"), norm=norm)


@pytest.mark.sampled(opencl=5)
@pytest.mark.parametrize("n", [3, 13])
@pytest.mark.parametrize("name", ONE)
def test_cutting_and_filling_up(make, name, n):
    same_as_numpy(make, name, input_of(name, (4, 8), "F"), n=n)


@pytest.mark.parametrize("name", ["fft", "ihfft", "irfft"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "e", "d"])
def test_dtypes(make, name, dtype):
    a = host(dtype, (3, 6))
    same_as_numpy(make, name, a % 100 if a.dtype.kind in "iu" else a)


def test_strides(make):
    a = host("D", (6, 10, 4))
    device = make(a)
    for key in (np.s_[::2, ::-1], np.s_[:, 1::3, ::-2], np.s_[::-1, 3, 1:]):
        for axis in (0, -1):
            close(np.fft.fft(device[key], axis=axis), np.fft.fft(a[key], axis=axis))
    close(np.fft.rfft(device.real, axis=1), np.fft.rfft(a.real, axis=1))
    close(np.fft.irfft(device.T, axis=1), np.fft.irfft(a.T, axis=1))
    wide = np.broadcast_to(a[:1, :, :1], (5, 10, 3))
    close(
        np.fft.fft(np.broadcast_to(device[:1, :, :1], (5, 10, 3)), axis=1), np.fft.fft(wide, axis=1)
    )


def test_items_at_odd_addresses(make):
    packed = np.zeros(7, np.dtype([("a", "i1"), ("z", "c8")]))
    packed["z"] = host("F", 7)
    close(np.fft.fft(make(packed)["z"]), np.fft.fft(packed["z"]))
    a = host("f", 33)
    close(np.fft.rfft(make(a)[1:]), np.fft.rfft(a[1:]))
    out = make(np.zeros(33, np.float32))
    np.fft.irfft(make(np.fft.rfft(a[1:])), out=out[1:])
    np.testing.assert_allclose(out.get()[1:], a[1:], atol=1e-6)
    assert out.get()[0] == 0


@pytest.mark.parametrize("axis", [0, 1])
def test_the_result_keeps_the_order_of_axes(make, axis):
    a = np.asfortranarray(host("F", (4, 6)))
    got = np.fft.fft(make(a), axis=axis)
    assert got.strides == a.strides
    close(got, np.fft.fft(a, axis=axis))


# ---- out=


@pytest.mark.parametrize("name", [*ONE, "fft2", "rfftn", "irfftn"])
def test_into_an_array(make, name):
    a = input_of(name, (4, 6), "F")
    want = getattr(np.fft, name)(a)
    for out in (np.empty_like(want), np.empty(want.shape[::-1], want.dtype).T):
        place = make(out)
        assert getattr(np.fft, name)(make(a), out=place) is place
        close(place, want)
    wider = make(np.zeros(want.shape, np.result_type(want.dtype, "f8")))
    assert getattr(np.fft, name)(make(a), out=wider) is wider
    np.testing.assert_allclose(wider.get(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [6, pytest.param(60, marks=pytest.mark.slow), 97])
def test_in_place(make, tight, n):
    a = host("F", (3, n))
    for axis in (0, 1):
        x = make(a)
        assert np.fft.fft(x, axis=axis, out=x) is x
        close(x, np.fft.fft(a, axis=axis))
    x = make(a)
    np.fft.ifft2(x, out=x)
    close(x, np.fft.ifft2(a))


def test_into_a_part_that_overlaps(make):
    a = host("F", (4, 12))
    x = make(a)
    np.fft.fft(x[:, :8], out=x[:, 4:])
    close(x[:, 4:], np.fft.fft(a[:, :8]))
    np.testing.assert_array_equal(x[:, :4].get(), a[:, :4])
    x = make(a)
    np.fft.fft(x, out=x[::-1])
    close(x[::-1], np.fft.fft(a))


@pytest.mark.parametrize(
    "error, call",
    [
        (ValueError, lambda x, out: np.fft.fft(x, out=out[:2])),
        (ValueError, lambda x, out: np.fft.fft(x, out=np.zeros((3, 4), np.complex64))),
        (TypeError, lambda x, out: np.fft.fft(x, out=out.real)),
        (ValueError, lambda x, out: np.fft.fft2(x, out=out[:2])),
    ],
    ids=["shape", "host", "dtype", "shape of two axes"],
)
def test_wrong_out(make, error, call):
    with pytest.raises(error, match="out must be|cannot cast"):
        call(make(host("F", (3, 4))), make(np.zeros((3, 4), np.complex64)))


# ---- limits


@pytest.mark.parametrize("name", ONE)
def test_no_lines(make, name):
    a = np.zeros((0, 6), np.float32)
    same_as_numpy(make, name, a)
    same_as_numpy(make, name, np.zeros((3, 0), np.float32), n=4)


def test_many_lines(make):
    same_as_numpy(make, "fft", host("F", (10000, 4)))
    same_as_numpy(make, "rfft", host("f", (6, 2000)), axis=0)


@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_wrong_lengths_axes_and_dtypes_are_refused(make, name):
    function, x = getattr(np.fft, name), make(input_of(name, (2, 3), "d"))
    length = "n" if name in ONE else "s"
    wrong = 0 if name in ONE else (0, 2)
    with pytest.raises(ValueError, match=r"Invalid number of FFT data points \(0\)"):
        function(x, **{length: wrong})
    with pytest.raises(ValueError, match="Invalid norm value x"):
        function(x, norm="x")
    with pytest.raises((np.exceptions.AxisError, IndexError)):
        function(x, **({"axis": 2} if name in ONE else {"axes": (0, 2)}))
    if name.endswith("n"):
        for namespace in (np.fft, xp.fft):
            with pytest.raises(np.exceptions.AxisError, match="axis -3 is out of bounds"):
                getattr(namespace, name)(x, s=(1, 2, 3))
    if name.startswith(("rfft", "ihfft")):
        with pytest.raises(TypeError, match="the input must be real"):
            function(make(np.zeros((2, 3), np.complex64)))


def test_nothing_to_transform(make):
    x = make(host("F", (2, 3)))
    close(np.fft.fftn(x, axes=()), x.get())
    with pytest.raises(ValueError, match="points"):
        np.fft.fft(x[:, :0])


@pytest.mark.parametrize("n", [8, 12, 37])
def test_nan_reaches_its_line_and_no_other(make, n):
    a = host("F", (3, n))
    a[1, 2] = np.nan
    got = np.fft.fft(make(a)).get()
    assert np.isnan(got[1]).all() and np.isfinite(got[[0, 2]]).all()
    a[1, 2] = np.inf
    got = np.fft.fft(make(a)).get()
    assert not np.isfinite(got[1]).any() and np.isfinite(got[[0, 2]]).all()


def test_imaginary_parts_that_do_not_count(make):
    for n in (7, 8):
        a = host("F", (2, n // 2 + 1))
        want = np.fft.irfft(a, n)
        a.imag[:, 0] = np.nan
        if n == 8:
            a.imag[:, -1] = np.nan
        close(np.fft.irfft(make(a), n), want)


def test_a_choice_that_there_is_not(make, monkeypatch):
    if make.name != "cuda":
        pytest.skip("cuFFT is for CUDA")
    monkeypatch.setenv("PYGPU_FFT", "fftw")
    with pytest.raises(ValueError, match="PYGPU_FFT=fftw: it must be one of auto, own, cufft"):
        np.fft.fft(make(host("F", 4)))


# ---- plans


def test_a_second_call_compiles_and_copies_nothing(make):
    x = make(host("F", (2, 24)))
    out = np.fft.fft(x)
    launches, copies = make.calls(lambda: np.fft.fft(x, out=out))
    assert (launches, copies) == (1, [])
    before = len(make.backend._fft_plans)
    np.fft.fft(make(host("F", (2, 24), 1)))
    assert len(make.backend._fft_plans) == before


def test_plans_are_bounded(make, monkeypatch):
    monkeypatch.setattr(transform, "_MOST", 6)
    transform.clear_plans(make.backend)  # plans of earlier tests are never evicted by hits
    a = host("F", (2, 8))
    for n in range(1, 9):
        close(np.fft.fft(make(a[:, :n])), np.fft.fft(a[:, :n]))
        assert len(make.backend._fft_plans) <= 6
    transform.clear_plans(make.backend)
    close(np.fft.fft(make(a)), np.fft.fft(a))


# ---- accuracy


def error(got, exact):
    return float(np.linalg.norm(got - exact) / np.linalg.norm(exact))


@pytest.mark.sampled(opencl=2)
@pytest.mark.parametrize("n", [5, 64, 210, 1024, 31, 2 * 127])
def test_double_is_as_accurate_as_numpy(make, n):
    """The error against a transform in long double; a tenth is left to chance, and a factor to
    convolutions of lengths for which NumPy still sums up directly."""
    z = host("D", (16, n))
    exact = np.fft.fft(z.astype(np.clongdouble))
    limit = 1.15 if plan.is_smooth(n) else 2
    assert error(np.fft.fft(make(z)).get(), exact) <= limit * error(np.fft.fft(z), exact) + 2e-17
    x = z.real.copy()
    exact = np.fft.rfft(x.astype(np.longdouble))
    assert error(np.fft.rfft(make(x)).get(), exact) <= 2 * error(np.fft.rfft(x), exact) + 2e-17


@pytest.mark.sampled(opencl=2)
@pytest.mark.parametrize("n", [5, 64, 210, 1024, 31, 2 * 127])
def test_single_is_as_accurate_as_scipy(make, n):
    scipy_fft = pytest.importorskip("scipy.fft")
    z = host("F", (16, n))
    exact = np.fft.fft(z.astype(np.complex128))
    limit = 1.15 if plan.is_smooth(n) else 2
    assert error(np.fft.fft(make(z)).get(), exact) <= limit * error(scipy_fft.fft(z), exact) + 5e-9


# ---- properties


@st.composite
def calls(draw):
    """(name, shape, dtype, options), of few lengths, since each has a kernel of its own."""
    name = draw(st.sampled_from([*ONE, *MANY]))
    shape = tuple(draw(st.lists(st.sampled_from([2, 3, 8, 12]), min_size=2, max_size=3)))
    dtype = draw(st.sampled_from(["e", "f", "d", "F", "D", "i4"]))
    if name.startswith(("rfft", "ihfft")):
        dtype = dtype.lower()
    options = {"norm": draw(st.sampled_from([None, "ortho", "forward"]))}
    size = st.sampled_from([2, 5, 8])
    if name in ONE:
        options["axis"] = draw(st.integers(-len(shape), len(shape) - 1))
        options["n"] = draw(st.none() | size)
    else:
        axes = draw(st.permutations(range(len(shape))))[: draw(st.integers(1, 2))]
        options["axes"] = axes
        options["s"] = draw(st.none() | st.lists(size, min_size=len(axes), max_size=len(axes)))
    order = draw(st.permutations(range(len(shape))))
    steps = draw(st.lists(st.sampled_from([1, -1, 2]), min_size=len(shape), max_size=len(shape)))
    return name, shape, dtype, options, order, steps


def check_call(make, call, into):
    name, shape, dtype, options, order, steps = call
    full = tuple(n * abs(step) for n, step in zip(shape, steps))
    key = tuple(slice(None, None, step) for step in steps)
    base = input_of(name, full, dtype)
    base = base % 50 if base.dtype.kind == "i" else base
    a, x = base[key].transpose(order), make(base)[key].transpose(order)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            want = numpys(name, a, **options)
    except (ValueError, IndexError) as wrong:
        with pytest.raises(type(wrong)):
            getattr(np.fft, name)(x, **options)
        return
    if into:
        out = make(np.zeros(want.shape, want.dtype))
        assert getattr(pygpu.fft, name)(x, out=out, **options) is out
        close(out, want)
    else:
        close(getattr(pygpu.fft, name)(x, **options), want)


quick = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
long = settings(quick, max_examples=60)


@given(call=calls(), into=st.booleans())
@quick
def test_any_call_is_numpys(make, call, into):
    check_call(make, call, into)


@pytest.mark.slow
@given(call=calls(), into=st.booleans())
@long
def test_any_call_is_numpys_at_length(make, call, into):
    check_call(make, call, into)


# ---- calls that are made again


def test_a_call_is_repeated_with_other_arrays(make):
    a, b = host("D", (3, 4, 6)), host("D", (3, 4, 6), 1)
    for name in ("fft2", "ifft", "fftn"):
        for values in (a, b, a):
            close(getattr(np.fft, name)(make(values)), getattr(np.fft, name)(values))
        for values in (a, b):
            x, out = make(values), make(np.zeros_like(a))
            assert getattr(np.fft, name)(x, out=out) is out
            close(out, getattr(np.fft, name)(values))
            assert getattr(np.fft, name)(x, out=x) is x
            close(x, getattr(np.fft, name)(values))


def test_a_call_is_repeated_elsewhere_in_memory(make):
    a = host("F", (9, 8))
    x = make(a)
    for start in (0, 1, 2, 5):
        close(np.fft.fft(x[start : start + 4]), np.fft.fft(a[start : start + 4]))
        close(np.fft.rfft(x.real[start:, 1:]), np.fft.rfft(a.real[start:, 1:]))
    y = make(np.zeros((9, 8), np.complex64))
    for start in (3, 0, 5):
        np.fft.fft(x[:4], out=y[start : start + 4])
        close(y[start : start + 4], np.fft.fft(a[:4]))


def test_a_call_that_only_looks_the_same_is_refused(make):
    x = make(host("F", (2, 8)))
    np.fft.fft(x, 8)
    np.fft.fft(x, n=1)
    with pytest.raises(TypeError):
        np.fft.fft(x, 8.0)
    with pytest.raises(ValueError, match="out must be"):
        np.fft.fft(x, 8, out=make(np.zeros((2, 9), np.complex64)))


# ---- cuFFT, which here is NumPy


@pytest.fixture
def library(make, monkeypatch):
    """The calls of cuFFT, which are computed on the host."""
    calls = []

    def transform(source, out, axes, inverse=False):
        calls.append((source.shape, out.dtype.char, inverse))
        a = source.get()
        places = tuple(range(-axes, 0))
        if out.dtype.kind == "f":
            found = np.fft.irfft(a, out.shape[-1]) * out.shape[-1]
        elif a.dtype.kind == "f":
            found = np.fft.rfft(a)
        elif inverse:
            found = np.fft.ifftn(a, axes=places, norm="forward")
        else:
            found = np.fft.fftn(a, axes=places)
        out.set(found.astype(out.dtype))

    monkeypatch.setenv("PYGPU_FFT", "cufft")
    monkeypatch.setattr(cufft.LIBRARY, "available", lambda: True)
    monkeypatch.setattr(cufft, "transform", transform)
    return calls


@pytest.mark.parametrize("name", ONE + MANY)
@pytest.mark.parametrize("dtype", "eFD")
@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_results_of_the_library_are_numpys(make, library, name, dtype):
    a = input_of(name, (3, 4, 6), dtype)
    same_as_numpy(make, name, a)
    same_as_numpy(make, name, a[:, ::-1].T, norm="ortho")
    length = {"n": 5} if name in ONE else {"s": (5, 7), "axes": (1, 2)}
    same_as_numpy(make, name, a, **length)
    want = numpys(name, a)
    out = make(np.zeros(want.shape, want.dtype))
    assert getattr(np.fft, name)(make(a), out=out) is out
    close(out, want)
    assert library


@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_the_library_writes_where_it_is_asked_to(make, library):
    x, out = make(host("F", (3, 8))), make(np.zeros((3, 8), "F"))
    launches, copies = make.calls(lambda: np.fft.fft(x, out=out))
    assert launches == 0 and len(copies) == 2  # those of the library that is NumPy


LONG = plan.Tuning(single=128, column=64)


@pytest.mark.parametrize(
    "name, shape, options, chosen",
    [
        ("fft", (3, 32), {}, True),
        ("fft", (3, 8), {}, False),  # one pass of ours
        ("fft", (3, 74), {}, False),  # a prime number in it
        ("fft", (3, 32), {"n": 32}, True),
        ("fft", (3, 32), {"n": 40}, False),
        ("fft", (32, 3), {"axis": 0}, False),
        ("fft", (3, 32), {"norm": "ortho"}, False),
        ("ifft", (3, 32), {}, False),
        ("rfft", (3, 64), {}, True),
        ("irfft", (3, 33), {}, False),
        ("fft2", (32, 32), {}, True),
        ("fft2", (4, 4), {}, False),
        ("fftn", (4, 4, 8), {"axes": (-2, -1), "s": (4, 8)}, True),
        ("fftn", (4, 8, 4), {"axes": (2, 1)}, False),
        ("fftn", (2, 2, 8, 8), {}, False),
    ],
)
@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_the_library_is_asked_where_it_is_faster(
    make, library, monkeypatch, name, shape, options, chosen
):
    monkeypatch.setenv("PYGPU_FFT", "auto")
    transform.set_tuning(LONG)
    try:
        same_as_numpy(make, name, input_of(name, shape), **options)
    finally:
        transform.set_tuning(plan.Tuning())
    assert bool(library) is chosen


@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_the_library_is_not_asked_for_copies(make, library, monkeypatch):
    monkeypatch.setenv("PYGPU_FFT", "auto")
    transform.set_tuning(LONG)
    try:
        a = input_of("fft", (3, 64))
        x = make(a)
        close(np.fft.fft(x[:, ::2]), np.fft.fft(a[:, ::2]))
        assert np.fft.fft(x, out=x) is x
        close(x, np.fft.fft(a).astype("F"))
        close(np.fft.fft(make(a), out=make(np.zeros((3, 128), "F"))[:, ::2]), np.fft.fft(a))
        assert not library
    finally:
        transform.set_tuning(plan.Tuning())


@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_a_driver_that_miscompiles_transforms_gets_them_from_numpy(make, monkeypatch, name):
    a = host("f8", (3, 4, 8))
    x = make(a)
    monkeypatch.setattr(x.backend, "transforms", False)
    monkeypatch.setattr(transform, "transform", None)
    monkeypatch.setattr(host_fallback, "_warned", True)
    monkeypatch.setenv("PYGPU_FFT", "own")
    function = getattr(pygpu.fft, name)
    want = getattr(np.fft, name)(a)
    got = function(x)
    assert type(got) is type(x) and got.dtype == want.dtype
    np.testing.assert_array_equal(got.get(), want)
    out = make(np.zeros_like(want))
    assert function(x, out=out) is out
    np.testing.assert_array_equal(out.get(), want)
