"""bfloat16 and the float8 types of ml_dtypes in arrays, against the package itself: all of their
bit patterns, where a test can have them."""

import pickle

import numpy as np
import pytest

import pygpu
from pygpu import xp

ml = pytest.importorskip("ml_dtypes", reason="the package ml_dtypes is not installed")
BFLOAT16 = np.dtype(ml.bfloat16)
DTYPES = [BFLOAT16, np.dtype(ml.float8_e4m3fn), np.dtype(ml.float8_e5m2)]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of hosts: overflow, NaN

every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
two_dtypes = pytest.mark.parametrize(  # of both sizes; the third where there is time
    "dtype", [*DTYPES[:2], pytest.param(DTYPES[2], marks=pytest.mark.slow)], ids=str
)


def bits_of(dtype):
    return np.dtype(f"u{dtype.itemsize}")


def patterns(dtype):
    """All of the numbers."""
    bits = bits_of(dtype)
    return np.arange(np.iinfo(bits).max + 1, dtype=bits).view(dtype)


def equal(got, want):
    """Of one dtype, and the same bits; NaNs may have any."""
    if hasattr(got, "get"):
        got = got.get()
    assert got.dtype == want.dtype and got.shape == want.shape
    if got.dtype.kind not in "biu":
        nan = np.isnan(want)
        assert (np.isnan(got) == nan).all()
        got, want = got[~nan].view(bits_of(got.dtype)), want[~nan].view(bits_of(got.dtype))
    assert (got == want).all(), np.argwhere(got != want)[:5]


# ---- conversions


@every_dtype
def test_all_bits_as_float32(make, dtype):
    equal(make(patterns(dtype)).astype(np.float32), patterns(dtype).astype(np.float32))


@every_dtype
def test_rounding_of_float32(make, dtype):
    """To nearest even, at the ends of the range, of subnormal numbers, and with the bits of NaN."""
    rng = np.random.default_rng(0)
    any_bits = rng.integers(0, 1 << 32, 50000, dtype=np.uint32).view(np.float32)
    numbers = patterns(dtype).astype(np.float32)
    middles = (numbers[:-1] + numbers[1:]) / 2
    up, down = (np.nextafter(middles, np.float32(to)) for to in (np.inf, -np.inf))
    ends = np.float32([464, 464.1, 480, 57344, 61439.9, 61440, 3.4e38, -3.4e38, np.nan, -np.nan])
    x = np.concatenate([any_bits, middles, up, down, ends])
    got, want = make(x).astype(dtype).get(), x.astype(dtype)
    assert (got.view(bits_of(dtype)) == want.view(bits_of(dtype))).all()


def test_conversions_go_through_float32(make):
    """As those of ml_dtypes: what is halfway in float32 is a tie, whatever was there before."""
    doubles = np.array([1 + 2.0**-8 + 2.0**-40, 1e300, -1e-300, np.pi])
    whole = np.array([2**31 - 1, -(2**31), 257, 65793, 0], np.int32)
    for x in (doubles, whole):
        equal(make(x).astype(BFLOAT16), x.astype(BFLOAT16))
    with np.errstate(all="ignore"):
        small = patterns(BFLOAT16)[np.abs(patterns(BFLOAT16).astype("f4")) < 1e4]
    equal(make(small).astype(np.int64), small.astype("f4").astype(np.int64))


# ---- operations


@pygpu.fuse
def many(x, y):
    rounded = np.rint(x), np.sqrt(np.abs(x)), -x
    larger = np.maximum(x, y) + 0  # of -0.0 and 0.0 either may be it
    return (x + y, x - y, x * y, x / y, *rounded, larger, x < y, x == y, np.isnan(x))


@every_dtype
def test_operations_of_all_bits(make, dtype):
    """Computed in float32 and rounded once, as by ml_dtypes. Of one byte: all pairs."""
    x = patterns(dtype)
    if dtype.itemsize == 1:
        x, y = np.repeat(x, 256), np.tile(x, 256)
    else:
        y = np.random.default_rng(1).permutation(x)
    a, b = make(x), make(y)
    plain = many.__wrapped__(x, y)
    for _ in range(2):  # the first call records, the second has one kernel
        for got, want in zip(many(a, b), plain, strict=True):
            equal(got, want)
    for _ in range(2):  # the second call is launched by C
        equal(a + b, x + y)


def test_next_numbers(make):
    x = patterns(DTYPES[1])
    equal(np.spacing(make(x)), np.spacing(x))


def test_types_of_results_are_numpys(make):
    x = patterns(BFLOAT16)[16000:16400]
    a = make(x)
    equal(a * 3, x * 3)
    equal(a + x.astype(np.float32), x + x.astype(np.float32))
    equal(a + BFLOAT16.type(1.5), x + BFLOAT16.type(1.5))
    assert (a.dtype, (a[:3] * 2.5).dtype) == (x.dtype, (x[:3] * 2.5).dtype)
    whole = np.arange(400, dtype=np.int32)
    equal(a + make(whole), x + whole)
    assert (a + make(whole)).dtype == np.float64


def test_other_types_of_the_package_are_only_moved(make):
    x = np.arange(7).astype(ml.int4)
    a = make(x)
    assert (a.copy().get() == x).all()
    with pytest.raises(TypeError, match="int4"):
        a + a
    with pytest.raises(TypeError, match="linalg"):
        np.linalg.inv(make(np.ones((3, 3), BFLOAT16)))


def test_chains_do_not_take_them():
    """Their compiler knows NumPy's own dtypes, by number."""
    from pygpu._src.array.chain_operations import number_of
    from pygpu._src.array.ufuncs import operation_for

    float32 = np.dtype(np.float32)
    for dtype in DTYPES:
        assert number_of(operation_for("add", (dtype,) * 2, (dtype,)), dtype) == 0
        assert number_of(operation_for("positive", (float32,), (float32,)), dtype) == 0


# ---- arrays


def test_views_and_items(make):
    x = patterns(BFLOAT16)[: 15 * 64].reshape(15, 64)
    a, want = make(x), x.copy()
    equal(a.T[3::7, ::-2], want.T[3::7, ::-2])
    equal(a.view(np.uint16).view(BFLOAT16), want)
    a[3:9, ::3] = want[3:9, ::3] = 2.5
    a[1] = want[1] = np.linspace(0, 1, 64, dtype=np.float32)
    a[np.array([2, 4])] = want[[2, 4]] = BFLOAT16.type(-1)
    equal(a, want)
    equal(a[np.array([5, 0, 5])], want[[5, 0, 5]])
    equal(a[a > 2], want[want > 2])
    assert type(a[3, 0].item()) is type(want[3, 0].item()) and float(a[3, 0]) == 2.5
    equal(pickle.loads(pickle.dumps(a)), want)
    assert repr(a[3, :3]).endswith("dtype=bfloat16)") and str(a[3, :3]) == str(want[3, :3])


def test_creation(on):
    equal(xp.full(5, 1.7, dtype=BFLOAT16), np.full(5, 1.7, BFLOAT16))
    equal(xp.asarray([1.5, 2.5], dtype="bfloat16"), np.array([1.5, 2.5], BFLOAT16))
    equal(xp.arange(5, dtype=BFLOAT16), np.arange(5, dtype=BFLOAT16))
    assert xp.isdtype(BFLOAT16, "real floating") and not xp.isdtype(np.dtype(ml.int4), "numeric")
    info = xp.finfo(BFLOAT16)
    assert (info.bits, info.eps, info.smallest_normal) == (16, 2.0**-7, 2.0**-126)
    assert xp.finfo(DTYPES[1]).max == 448


@every_dtype
def test_dlpack(make, dtype):
    x = patterns(dtype)
    a = make(x)
    back = xp.from_dlpack(a)
    equal(back, x)
    assert back.dtype == dtype
    if make.name == "cuda":
        interface = a.__cuda_array_interface__
        assert interface["typestr"] == f"|V{dtype.itemsize}"  # which has no name for it


def test_dlpack_has_no_type_for_nibbles(make):
    with pytest.raises(BufferError, match="int4"):
        make(np.zeros(3, ml.int4)).__dlpack__()


# ---- algorithms


def test_reductions(make):
    """Sums are kept in float32, and rounded at the end."""
    x = np.random.default_rng(2).normal(size=(33, 65)).astype(BFLOAT16)
    a = make(x)
    exact = x.astype(np.float32)
    for axis in (0, 1):
        got = a.sum(axis=axis)
        assert got.dtype == BFLOAT16
        np.testing.assert_allclose(got.get().astype("f4"), exact.sum(axis), rtol=2**-8, atol=1e-6)
    equal(a.T.max(axis=0), x.T.max(axis=0))
    equal(a.argmin(axis=1), x.argmin(axis=1))
    ones = make(np.ones(1000, BFLOAT16))  # whose sum in bfloat16 would not leave 256
    assert float(ones.sum()) == 1000


def test_maximum_with_nan_of_float8(make):
    x = patterns(DTYPES[1])
    a = make(x)
    assert np.isnan(float(a.max())) and int(a.argmax()) == 0x7F
    assert float(a[:0x7F].max()) == 448
    assert np.isnan(float(a[:0x7F].sum()))  # above the largest number, and the type has no infinity


def test_statistics_are_those_of_float32(on):
    """Rounded at the end. NaN is ignored where asked for, which NumPy only does for its own."""
    x = np.append(np.arange(-7, 8), np.nan).astype(DTYPES[1])
    a, exact = on(x), x.astype(np.float32)
    for function in (np.nanmax, np.nanmin, np.nanmean, np.nansum, np.nanvar, np.nanmedian):
        equal(function(a), np.asarray(function(exact)).astype(x.dtype))
    assert int(np.nanargmax(a)) == 14
    equal(np.nan_to_num(a), np.nan_to_num(exact).astype(x.dtype))
    equal(np.median(a[:-1], axis=0), np.asarray(np.median(exact[:-1])).astype(x.dtype))


@two_dtypes
def test_sorting_puts_nan_last(make, dtype):
    x = np.random.default_rng(3).permutation(patterns(dtype))[: 1000 if dtype == BFLOAT16 else 256]
    got = np.sort(make(x)).get().astype(np.float32)
    want = np.sort(x.astype(np.float32))
    assert np.array_equal(got, want, equal_nan=True)


def test_products(make):
    rng = np.random.default_rng(4)
    x, y = (rng.normal(size=s).astype(BFLOAT16) for s in ((17, 33), (33, 9)))
    got = make(x) @ make(y)
    assert got.dtype == BFLOAT16  # as of numpy.dot; numpy.matmul has no loop of it
    np.testing.assert_allclose(
        got.get().astype("f4"), x.astype("f4") @ y.astype("f4"), rtol=2**-8, atol=2**-8
    )


# ---- kernels


@pygpu.kernel
def saxpy(a, x, y):
    i = pygpu.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] + 0.5


@two_dtypes
def test_kernels_from_python(make, dtype):
    x = patterns(dtype)[16:96]
    y = make(x[::-1].copy())
    saxpy[3, 32](dtype.type(1.5), make(x), y)
    with np.errstate(all="ignore"):
        half = dtype.type(0.5)
        equal(y, dtype.type(1.5) * x + x[::-1] + half)


def elementwise(make, arguments, body):
    if make.name == "cuda":
        from pygpu.cuda.elementwise import ElementwiseKernel

        return ElementwiseKernel(arguments, body, "narrow")
    from pygpu.elementwise import ElementwiseKernel

    return ElementwiseKernel(make.queue.context, arguments, body, "narrow")


def test_kernels_from_snippets(make):
    kernel = elementwise(
        make,
        "pygpu_bfloat16 *x, pygpu_float8_e4m3fn *y, float a",
        "y[i] = pygpu_to_float8_e4m3fn(a * pygpu_from_bfloat16(x[i]))",
    )
    x = np.linspace(-9, 9, 77).astype(BFLOAT16)
    out = make(np.zeros(77, DTYPES[1]))
    kernel(make(x), out, 3)
    equal(out, (3 * x.astype("f4")).astype(DTYPES[1]))
    with pytest.raises(TypeError, match="ml_dtypes.bfloat16"):
        kernel(make(x.astype(np.float16)), out, 3)
    with pytest.raises(TypeError, match="declare 'float a'"):
        elementwise(make, "pygpu_bfloat16 a, float *y", "y[i] = 0")
