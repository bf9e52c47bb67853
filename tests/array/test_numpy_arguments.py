"""NumPy's functions with arguments that are rarely given: the same result, or the same kind of
exception."""

from __future__ import annotations

import numpy as np
import pytest

NAN = np.nan
MATRIX = np.arange(12.0).reshape(3, 4)
CUBE = np.arange(24).reshape(2, 3, 4) % 5
ROW = np.array([3, 1, 2, 1])
HOLES = np.array([3.0, 1, NAN, -2])
FRAMED = np.pad(np.ones((2, 3)), ((1, 2), (0, 3)))

CALLS = {
    "convolve of a NaN in the kernel": lambda x: np.convolve(x(ROW * 1.0), x(HOLES[1:3])),
    "convolve of infinity beside the end": lambda x: np.convolve(x(HOLES), x([np.inf, 1.0])),
    "convolve, same": lambda x: np.convolve(x(HOLES), x(HOLES[::-1].copy()), "same"),
    "convolve, valid": lambda x: np.convolve(x(ROW * 1.0), x(HOLES[1:]), "valid"),
    "correlate, full": lambda x: np.correlate(x(HOLES[:2]), x(HOLES), "full"),
    "convolve of complex numbers": lambda x: np.convolve(x([1j, 2, NAN]), x([1, 1j])),
    "trim_zeros of two axes": lambda x: np.trim_zeros(x(FRAMED)),
    "trim_zeros along one": lambda x: np.trim_zeros(x(FRAMED), axis=1),
    "trim_zeros in front": lambda x: np.trim_zeros(x(FRAMED), "f"),
    "trim_zeros of zeros": lambda x: np.trim_zeros(x(FRAMED * 0)),
    "trim_zeros, wrong": lambda x: np.trim_zeros(x(ROW), "x"),
    "trim_zeros, wrong axis": lambda x: np.trim_zeros(x(FRAMED), axis=5),
    "lexsort of matrices": lambda x: np.lexsort((x(CUBE[0]), x(-CUBE[1])), axis=0),
    "lexsort of a cube": lambda x: np.lexsort(x(CUBE)),
    "lexsort of unlike keys": lambda x: np.lexsort((x(ROW), x(ROW[:2]))),
    "lexsort of a number": lambda x: np.lexsort(x(5.0)),
    "size of no axis": lambda x: np.size(x(5.0), 0),
    "size of an axis": lambda x: np.size(x(MATRIX), -1),
    "size of axes": lambda x: np.size(x(MATRIX), (0, 1)),
    "size of a missing axis": lambda x: np.size(x(MATRIX), 2),
    "var in integers": lambda x: np.var(x(ROW), dtype=int),
    "var in bytes": lambda x: np.var(x(MATRIX), axis=1, dtype=np.int8),
    "std in integers": lambda x: np.std(x(ROW * 9), dtype=int, ddof=1),
    "select of a default that wraps": lambda x: np.select(
        [x(ROW > 1)], [x(ROW.astype(np.uint8))], 300
    ),
    "select of a float default": lambda x: np.select([x(ROW > 1)], [x(ROW)], 2.5),
}
AXES = {
    "sum": np.sum,
    "max": np.max,
    "mean": np.mean,
    "std": np.std,
    "all": np.all,
    "argmax": np.argmax,
    "cumsum": np.cumsum,
    "argsort": np.argsort,
    "squeeze": np.squeeze,
    "take": lambda a, axis: np.take(a, 0, axis),
    "repeat": lambda a, axis: np.repeat(a, 2, axis),
    "concatenate": lambda a, axis: np.concatenate([a, a], axis),
    "swapaxes": lambda a, axis: np.swapaxes(a, axis, 0),
    "median": np.median,
    "flip": np.flip,
}


def outcome(call):
    try:
        result = call()
    except Exception as error:
        return type(error)
    return result.get() if hasattr(result, "get") else result


def agree(call, make):
    expected = outcome(lambda: call(np.asarray))
    got = outcome(lambda: call(lambda x: make(np.asarray(x))))
    if isinstance(expected, type):
        assert isinstance(got, type) and issubclass(got, expected), (got, expected)
    else:
        assert np.asarray(got).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_results_are_numpys(make, name):
    if not make.backend.limits.fp64:
        pytest.skip("the device has no double precision")
    agree(CALLS[name], make)


@pytest.mark.parametrize("axis", [True, [0], np.True_, 1])
@pytest.mark.parametrize("name", AXES)
def test_axes_are_accepted_as_by_numpy(make, name, axis):
    if not make.backend.limits.fp64:
        pytest.skip("the device has no double precision")
    agree(lambda x: AXES[name](x(MATRIX[:, :1]), axis), make)
