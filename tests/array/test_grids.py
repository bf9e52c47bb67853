"""NumPy's linspace, logspace, geomspace of arrays, ix_, packbits, unpackbits, and functions of
dtypes and shapes: as NumPy's on the host."""

from __future__ import annotations

import numpy as np
import pytest

LOW, HIGH = np.array([1.0, -2.0, 4.0]), np.array([5.0, 6.0, 4.0])
GRID = np.arange(24).reshape(2, 12)
BYTES = np.array([[0, 1, 128], [255, 37, 90]], np.uint8)

GRIDS = {
    "linspace": lambda x: np.linspace(x(LOW), x(HIGH), 5),
    "linspace, an axis": lambda x: np.linspace(0, x(HIGH), 4, axis=-1),
    "linspace of integers": lambda x: np.linspace(x(LOW), 9, 4, endpoint=False, dtype=int),
    "linspace and its steps": lambda x: np.linspace(x(LOW), 9, 4, retstep=True),
    "linspace of one": lambda x: np.linspace(x(LOW), 9, 1),
    "linspace of none": lambda x: np.linspace(x(LOW), 9, 0),
    "linspace in float32": lambda x: np.linspace(x(LOW.astype("f4")), 9, 7),
    "linspace of less": lambda x: np.linspace(x(LOW), 9, -1),
    "linspace of halves": lambda x: np.linspace(x(LOW), 9, 2.5),
    "logspace": lambda x: np.logspace(x(LOW), 2, 3, base=2),
    "logspace of bases": lambda x: np.logspace(0, 2, 3, base=x(np.array([2.0, 3.0]))),
    "geomspace": lambda x: np.geomspace(x(LOW), x(LOW * 64), 4),
    "geomspace, an axis": lambda x: np.geomspace(1, x(HIGH), 3, axis=1, endpoint=False),
    "geomspace from zero": lambda x: np.geomspace(x(LOW * 0), 5),
}
BITS = {
    "packbits": lambda x: np.packbits(x(GRID % 3 == 0)),
    "packbits of integers, an axis": lambda x: np.packbits(x(GRID % 3), -1, "little"),
    "packbits of rows": lambda x: np.packbits(x(GRID % 3 == 0), axis=0),
    "packbits of nothing": lambda x: np.packbits(x(GRID[:0] > 0), axis=0),
    "packbits of a number": lambda x: np.packbits(x(np.array(True))),
    "packbits of floats": lambda x: np.packbits(x(LOW)),
    "packbits in an order": lambda x: np.packbits(x(GRID), bitorder="x"),
    "unpackbits": lambda x: np.unpackbits(x(BYTES)),
    "unpackbits, an axis": lambda x: np.unpackbits(x(BYTES), 1, count=-3, bitorder="little"),
    "unpackbits of rows": lambda x: np.unpackbits(x(BYTES), axis=0, count=5),
    "unpackbits of more": lambda x: np.unpackbits(x(BYTES), count=60),
    "unpackbits of less": lambda x: np.unpackbits(x(BYTES), count=-60),
    "unpackbits of integers": lambda x: np.unpackbits(x(GRID)),
    "unpackbits of another axis": lambda x: np.unpackbits(x(BYTES), axis=2),
}
OTHERS = {
    "ix_": lambda x: np.ix_(x(np.array([2, 0])), x(LOW > 0), [1]),
    "ix_ of a matrix": lambda x: np.ix_(x(GRID)),
    "apply_over_axes": lambda x: np.apply_over_axes(np.sum, x(GRID), [0, -1]),
    "common_type": lambda x: np.common_type(x(GRID), x(LOW.astype("f4"))),
    "min_scalar_type": lambda x: np.min_scalar_type(x(np.array(300))),
    "min_scalar_type of an array": lambda x: np.min_scalar_type(x(GRID)),
    "einsum_path": lambda x: np.einsum_path("ij,kj->ik", x(GRID), GRID),
    "roots": lambda x: np.roots(x(np.array([0, 2.0, -3, 1, 0]))),
    "poly": lambda x: np.poly(x(LOW)),
    "polydiv": lambda x: np.polydiv(x(HIGH), x(LOW[:2])),
}


def parts(call):
    try:
        result = call()
    except Exception as error:
        return [type(error)]
    found = result if isinstance(result, (tuple, list)) else [result]
    return [x.get() if hasattr(x, "get") and hasattr(x, "dtype") else x for x in found]


@pytest.mark.filterwarnings("ignore:.*computed by NumPy on the host")
@pytest.mark.parametrize("name", [*GRIDS, *BITS, *OTHERS])
def test_results_are_numpys(make, name):
    if not make.backend.limits.fp64 and name not in BITS:
        pytest.skip("the device has no double precision")
    call = {**GRIDS, **BITS, **OTHERS}[name]
    got, expected = parts(lambda: call(lambda x: make(x))), parts(lambda: call(np.asarray))
    assert len(got) == len(expected)
    for mine, other in zip(got, expected, strict=True):
        if isinstance(other, (np.ndarray, np.generic)):
            assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(mine, other, rtol=1e-14, atol=1e-15)
        elif isinstance(other, type) and issubclass(other, Exception):
            assert issubclass(mine, other), (mine, other)
        else:
            assert mine == other
