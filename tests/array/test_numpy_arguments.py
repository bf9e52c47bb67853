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


def filled(x, a, *arguments):
    a = x(a.copy())
    np.fill_diagonal(a[:, 1:], *arguments)
    return a


SKEW = np.array([[1.0, 2], [3, 4]])

CALLS = {
    "sum from a start by position": lambda x: np.sum(x(ROW), 0, None, None, False, 5),
    "max of masked items by position": lambda x: np.max(x(ROW), 0, None, True, 0, x(ROW < 3)),
    "std with all by position": lambda x: np.std(x(MATRIX), 1, None, None, 1, True),
    "any with axes kept by position": lambda x: np.any(x(MATRIX), 1, None, True),
    "count_nonzero, too many": lambda x: np.count_nonzero(x(ROW), 0, True),
    "std about a mean": lambda x: np.std(x(MATRIX), 1, mean=x(MATRIX).mean(1, keepdims=True)),
    "var about a number": lambda x: x(MATRIX * 1j).var(0, mean=2, ddof=1),
    "var about a mean, masked": lambda x: np.var(x(MATRIX), mean=[1.0], where=x(MATRIX > 2)),
    "ravel in memory order": lambda x: x(MATRIX).T[:, ::-1].ravel("k"),
    "ravel of repeated items": lambda x: np.broadcast_to(x(MATRIX[:2, :1]), (3, 2, 4)).ravel("K"),
    "flatten of repeated items": lambda x: np.broadcast_to(x(ROW), (3, 4)).flatten("K"),
    "reshape in no order": lambda x: x(MATRIX).T.reshape(12, order=None),
    "reshape in memory order": lambda x: x(MATRIX).reshape(12, order="K"),
    "ravel in an unknown order": lambda x: x(MATRIX).ravel("CF"),
    "ravel in order 1": lambda x: x(MATRIX).ravel(1),
    "unravel_index in no order": lambda x: np.unravel_index(x(ROW), (2, 3), None)[1],
    "astype in Fortran order": lambda x: x(MATRIX).astype("f4", "f"),
    "diagonal of columns, filled": lambda x: filled(x, np.zeros((11, 4)), [1, 2, 3, 4], True),
    "diagonal of wide columns, filled": lambda x: filled(x, np.zeros((2, 5)), 3, True),
    "copyto by numbers": lambda x: np.copyto(x(ROW), 1, where=x(ROW)),
    "vstack by name": lambda x: np.vstack(tup=[x(ROW), x(ROW)]),
    "isin by name": lambda x: np.isin(element=x(ROW), test_elements=[1], invert=True),
    "append to a number": lambda x: np.append(1.5, x(ROW)),
    "atleast_2d of a number": lambda x: np.atleast_2d(4, x(ROW))[0],
    "einsum of other characters": lambda x: np.einsum("i%", x(MATRIX)),
    "einsum of two ellipses": lambda x: np.einsum("...i...", x(CUBE)),
    "einsum without the output's ellipsis": lambda x: np.einsum("...i->i", x(MATRIX)),
    "interp beside infinities": lambda x: np.interp(
        x([0, 1.0, 2, 3, 4, 5, 6]), x([1.0, 3, 4, 5]), x([2.0, np.inf, 1, np.inf])
    ),
    "interp of complex numbers": lambda x: np.interp(
        x([1.0, 2, 2.5, 4]), x([1.0, 2, 3]), x([2 + 1j, 3 - 1j, complex(np.inf, 2)])
    ),
    "nan_to_num to arrays": lambda x: np.nan_to_num(x(HOLES), nan=x(ROW * 1.0)),
    "mean in a whole out": lambda x: np.mean(x(MATRIX + 0.7), 0, out=x([7, 7, 7, 7])),
    "mean in a real out": lambda x: np.mean(x(MATRIX * 1j), 0, out=x(MATRIX[0].astype("f4"))),
    "var in a whole out": lambda x: np.var(x(MATRIX), 0, out=x([7, 7, 7, 7])),
    "std in a whole out": lambda x: np.std(x(MATRIX), 0, out=x([7, 7, 7, 7])),
    "nanmean in a whole out": lambda x: np.nanmean(x(CUBE), 2, out=x(CUBE[:, :, 0].copy())),
    "nanvar of holes in a whole out": lambda x: np.nanvar(x(HOLES), out=x(np.array(5))),
    "mean as a bool": lambda x: np.mean(x([-1, 1, 0]), dtype=bool),
    "std of complex numbers as reals": lambda x: np.std(x(SKEW * (1 + 2j)), 0, dtype="f4"),
    "sum of numbers as durations": lambda x: np.sum(x(ROW), dtype="m8[s]"),
    "median of durations in a finer unit": lambda x: np.median(
        x(np.array([5, 2], "m8[s]")), out=x(np.array(0, "m8[ms]"))
    ),
    "sum of no items without a start": lambda x: np.sum(x(MATRIX[:0]), axis=0, initial=None),
    "sums of no rows without a start": lambda x: np.sum(x(MATRIX[:0]), axis=1, initial=None),
    "sum of a mask without a start": lambda x: np.sum(x(ROW), initial=None, where=x(ROW > 1)),
    "or of no items without a start": lambda x: np.bitwise_or.reduce(x(ROW[:0]), initial=None),
    "or without a start": lambda x: np.bitwise_or.reduce(x(ROW), initial=None),
    "add in an unknown order": lambda x: np.add(x(ROW), 1, order="Q"),
    "add in no order": lambda x: np.add(x(ROW), 1, order=None),
    "add of subclasses perhaps": lambda x: np.add(x(ROW), 1, subok="x"),
    "percentile of no items": lambda x: np.percentile(x(HOLES[:0]), 50),
    "percentiles of no rows": lambda x: np.percentile(x(MATRIX[:0]), [50, 60], axis=1),
    "nanpercentile of no integers": lambda x: np.nanpercentile(x(ROW[:0]), [50, 60]),
    "nanquantile beyond 1": lambda x: np.nanquantile(x(HOLES[:0]), 2),
    "nanmedian of no integers": lambda x: np.nanmedian(x(ROW[:0])),
    "conjugate of bools": lambda x: np.conjugate(x(ROW > 1)),
    "searchsorted by a matrix": lambda x: np.searchsorted(x(ROW), 2, sorter=x(ROW[None])),
    "apply_along_axis of pairs": lambda x: np.apply_along_axis(
        lambda row: (row.sum(), row.max()), 0, x(MATRIX)
    ),
    "outer with None": lambda x: np.outer(x(ROW), None),
    "inner with None": lambda x: np.inner(None, x(ROW)),
    "tensordot with None": lambda x: np.tensordot(x(ROW), None, 0),
    "interp of durations": lambda x: np.interp(x([1.0]), x([1.0, 2]), x(np.array([3, 4], "m8[s]"))),
    "norm along no axis": lambda x: np.linalg.norm(x(np.array(2.0)), axis=0),
    "split into no parts": lambda x: np.split(x(ROW), 0),
    "split into a float": lambda x: np.split(x(ROW), 4.0)[3],
    "split into parts of a float": lambda x: np.array_split(x(ROW), 2.5)[1],
    "split at a float": lambda x: np.array_split(x(ROW), [1.5]),
    "tensordot of a float": lambda x: np.tensordot(x(MATRIX), x(MATRIX), 1.5),
    "bincount of a float": lambda x: np.bincount(x(ROW), minlength=2.5),
    "sort of an unknown kind": lambda x: np.sort(x(ROW), kind="x"),
    "sort of kind 3": lambda x: x(ROW).argsort(kind=3),
    "sort by two names": lambda x: np.argsort(x(ROW), kind="stable", stable=True),
    "partition of an unknown kind": lambda x: x(ROW).argpartition(1, kind="quick"),
    "partition of no items": lambda x: np.partition(x(MATRIX[:0]), 7, axis=1),
    "isin of an unknown kind": lambda x: np.isin(x(ROW), [1], kind="hash"),
    "isin of floats by a table": lambda x: np.isin(x(MATRIX), [1], kind="table"),
    "cond of singular matrices": lambda x: np.linalg.cond(x(np.array([np.ones((2, 2)), SKEW])), 1),
    "cond of zeros": lambda x: np.linalg.cond(x(np.array([np.zeros((2, 2)), SKEW]))),
    "cond of NaN": lambda x: np.linalg.cond(x(np.array([[1, NAN], [1, 2]])), np.inf),
    "polymul with zeros in front": lambda x: np.polymul(x([0, 0, 1, 2]), x([0, 3, 0])),
    "polymul of zeros": lambda x: np.polymul(x([0, 0]), x([0, 3, 0])),
    "polyval of a number": lambda x: np.polyval(x(2.0), x(ROW)),
    "clip without limits": lambda x: x(ROW).clip(),
    "searchsorted with a short sorter": lambda x: np.searchsorted(x(ROW), 2, sorter=x(ROW[:2])),
    "roll by an array": lambda x: np.roll(x(MATRIX), x(ROW[:2]), (0, 1)),
    "argsort with an unknown argument": lambda x: x(ROW).argsort(unknown=1),
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
    "take of a float": lambda x: np.take(x(ROW), x(HOLES)),
    "take of booleans": lambda x: np.take(x(MATRIX), x(ROW > 1), 1),
    "reciprocal of booleans": lambda x: np.reciprocal(x(ROW > 1)),
    "reciprocal of bytes": lambda x: np.reciprocal(x((ROW - 1).astype("i1"))),
    "clip to limits beyond the dtype": lambda x: np.clip(x(ROW.astype("u1")), -1, 300),
    "clip above the dtype": lambda x: np.clip(x(ROW.astype("u1")), 300, None),
    "where of an int beyond the dtype": lambda x: np.where(x(ROW > 1), 300, x(ROW.astype("u1"))),
    "where of one choice": lambda x: np.where(x(ROW > 1), x(ROW)),
    "round to more digits than there are": lambda x: np.round(x(ROW), -30),
    "round to a float": lambda x: np.round(x(HOLES), 1.5),
    "sort by an unknown algorithm": lambda x: np.sort(x(ROW), kind="x"),
    "quantile of booleans": lambda x: np.quantile(x(ROW > 1), 0.5),
    "bincount of a huge number": lambda x: np.bincount(x(np.array([1, 2**63], "u8"))),
    "mean in bytes, which wraps": lambda x: np.mean(x(ROW.astype("u1") * 80), dtype="u1"),
    "var in complex numbers": lambda x: np.var(x(MATRIX), axis=0, dtype=complex),
    "view of a transposed array": lambda x: x(MATRIX).T.view(np.float32),
    "view in smaller items, not a divisor": lambda x: x(MATRIX[0]).view("V3"),
    "unravel_index of an order": lambda x: np.unravel_index(x(ROW), (4, 1), "X"),
    "ravel_multi_index, clipped": lambda x: np.ravel_multi_index(
        (x(ROW), x(-ROW)), (2, 2), mode=("wrap", "clip")
    ),
    "cov of counts": lambda x: np.cov(x(CUBE[0]), fweights=x(ROW), ddof=0),
    "cov of weights": lambda x: np.cov(x(CUBE[0]), aweights=[1, 2, 0.5, 3], fweights=x(ROW)),
    "cov of halves of observations": lambda x: np.cov(x(CUBE[0]), fweights=[0.5, 1, 1, 1]),
    "cov of negative weights": lambda x: np.cov(x(CUBE[0]), aweights=x(-ROW)),
    "cov of too many weights": lambda x: np.cov(x(CUBE[0]), aweights=np.ones(5)),
    "cov in float32": lambda x: np.cov(x(ROW), dtype="f4"),
    "quantile of weights": lambda x: np.quantile(
        x(MATRIX), [0, 0.3, 1], axis=1, weights=x(ROW - 1), method="inverted_cdf"
    ),
    "quantile of weights and a NaN": lambda x: np.percentile(
        x(HOLES), 40, weights=ROW, method="inverted_cdf"
    ),
    "quantile of weights, interpolated": lambda x: np.quantile(x(ROW), 0.3, weights=x(ROW)),
    "quantile of negative weights": lambda x: np.quantile(
        x(ROW), 0.3, weights=x(-ROW), method="inverted_cdf"
    ),
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
        kind = type(error)
        while "._" in kind.__module__:  # a private kind of NumPy's
            kind = kind.__base__
        return kind
    return result.get() if hasattr(result, "get") else result


def agree(call, make):
    expected = outcome(lambda: call(np.asarray))
    got = outcome(lambda: call(lambda x: make(np.asarray(x))))
    if isinstance(expected, type):
        assert isinstance(got, type) and issubclass(got, expected), (got, expected)
    else:
        dtype = np.asarray(expected).dtype
        assert np.asarray(got).dtype == dtype
        np.testing.assert_allclose(got, expected, rtol=1e-6 if dtype == np.float32 else 1e-12)


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


LISTS = {
    "outer": lambda x: np.outer(x(ROW), [1, 2]),
    "outer of a number": lambda x: np.outer(2, x(ROW)),
    "inner": lambda x: np.inner([1, 2, 3, 4], x(ROW)),
    "dot": lambda x: np.dot(x(ROW), [1, 2, 3, 4]),
    "tensordot": lambda x: np.tensordot(x(MATRIX), [1.0, 2, 3, 4], 1),
    "append": lambda x: np.append([1], x(ROW)),
    "searchsorted": lambda x: np.searchsorted([1, 2, 3], x(ROW)),
    "average": lambda x: np.average([1, 2, 3, 4], weights=x(ROW)),
    "where": lambda x: np.where([True, False, True, False], x(ROW), [5, 6, 7, 8]),
    "clip": lambda x: np.clip(x(ROW), [1, 2, 2, 1], 2),
    "stack": lambda x: np.stack([x(ROW), [1, 2, 3, 4]]),
    "stack of the host's": lambda x: np.stack([ROW * 0.5, x(ROW)], axis=1),
    "stack with another shape": lambda x: np.stack([x(ROW), ROW[:2]]),
    "nanmedian of durations": lambda x: np.nanmedian(x(np.array([3, "NaT", 5, 1, 7], "m8[s]"))),
    "nanvar in float32": lambda x: np.nanvar(x(HOLES), dtype="f4"),
    "nanmax from a number": lambda x: np.nanmax(x(HOLES), initial=9),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_and_missing_values(make, name):
    if not make.backend.limits.fp64:
        pytest.skip("the device has no double precision")
    agree(LISTS[name], make)
