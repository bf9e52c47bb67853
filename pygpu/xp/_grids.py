"""NumPy's functions that make ranges, grids, indices and windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.array import layout
from pygpu._src.array.device import as_device

from ._creation import arange, asarray, eye, linspace, ones
from ._dtypes import default_dtype
from ._elementwise import greater_equal
from ._elementwise import pow as _pow
from ._manipulation import broadcast_to, stack
from ._statistics import nonzero

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ._types import AnyDevice, ArrayT, Floating, GPUArray, Index, Operand, Shape
else:
    from .._array import GPUArray

__all__ = [
    "bartlett",
    "blackman",
    "diag_indices",
    "fromfunction",
    "geomspace",
    "hamming",
    "hanning",
    "identity",
    "indices",
    "kaiser",
    "logspace",
    "mask_indices",
    "mgrid",
    "ogrid",
    "tri",
    "tril_indices",
    "triu_indices",
]


def identity(n: int, dtype: DTypeLike | None = None, *, device: AnyDevice = None) -> GPUArray[Any]:
    """The n x n identity matrix."""
    return eye(n, dtype=dtype, device=device)


def tri(
    N: int,  # noqa: N803
    M: int | None = None,  # noqa: N803
    k: int = 0,
    dtype: DTypeLike | None = None,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]:
    """Ones at and below diagonal k of an N x M matrix, zeros above."""
    where = as_device(device)
    rows = arange(N, device=where).reshape(N, 1)
    columns = arange(-k, (N if M is None else M) - k, device=where)
    return greater_equal(rows, columns).astype(ones(0, dtype=dtype, device=where).dtype)


def indices(
    dimensions: Shape,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any] | tuple[GPUArray[Any], ...]:
    """The indices of an array of this shape: an array with a new first axis, or, sparse, a tuple
    of arrays that broadcast to the shape."""
    shape = layout.as_shape(dimensions, "indices")
    where = as_device(device)
    kind = np.int64 if dtype is None else dtype
    each = tuple(
        arange(n, dtype=kind, device=where).reshape(_along(i, n, len(shape)))
        for i, n in enumerate(shape)
    )
    if sparse:
        return each
    if not shape:
        return asarray(np.empty(0, kind), device=where)
    return stack([broadcast_to(x, shape) for x in each])


def _along(axis: int, n: int, ndim: int) -> tuple[int, ...]:
    """A shape with n items on one axis and 1 on the others."""
    return (1,) * axis + (n,) + (1,) * (ndim - axis - 1)


def fromfunction(
    function: Callable[..., ArrayT],
    shape: Shape,
    *,
    dtype: DTypeLike = float,
    device: AnyDevice = None,
    **options: Any,
) -> ArrayT:
    """What a function makes of the indices of an array of this shape, an array for each axis."""
    grid = indices(shape, dtype, device=device)
    return function(*grid, **options)


def logspace(
    start: Operand,
    stop: Operand,
    num: int = 50,
    endpoint: bool = True,
    base: Operand = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]:
    """Powers of *base* whose exponents are evenly spaced from start to stop."""
    numpys: Any = np.logspace
    result: GPUArray[Any]
    lists = (list, tuple, np.ndarray)
    if any(isinstance(x, (GPUArray, *lists)) for x in (start, stop, base)):
        if not any(isinstance(x, GPUArray) for x in (start, stop, base)):
            start = asarray(start, device=device)
        result = numpys(start, stop, num, endpoint, base, dtype, axis)
    else:
        result = _pow(base, linspace(start, stop, num, endpoint, device=device))
        result = result if dtype is None else result.astype(dtype)
    return result


def geomspace(
    start: Operand,
    stop: Operand,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]:
    """Numbers from start to stop, of which each is the one before times the same factor.

    Raises ValueError for ends that are 0."""
    numpys: Any = np.geomspace
    found = numpys(start, stop, num, endpoint, dtype, axis)
    result: GPUArray[Any]
    if isinstance(found, GPUArray):
        result = found
    else:
        result = _put(found, dtype, device)
    return result


# ---- indices of a part of a matrix


def diag_indices(n: int, ndim: int = 2, *, device: AnyDevice = None) -> tuple[Index, ...]:
    """The indices of the main diagonal of an array with ndim axes of length n."""
    return (arange(n, device=device),) * ndim


def tril_indices(
    n: int, k: int = 0, m: int | None = None, *, device: AnyDevice = None
) -> tuple[Index, ...]:
    """The indices of the items at and below diagonal k of an n x m matrix."""
    return nonzero(tri(n, m, k, np.bool_, device=device))


def triu_indices(
    n: int, k: int = 0, m: int | None = None, *, device: AnyDevice = None
) -> tuple[Index, ...]:
    """The indices of the items at and above diagonal k of an n x m matrix."""
    return nonzero(~tri(n, m, k - 1, np.bool_, device=device))


def mask_indices(
    n: int,
    mask_func: Callable[[GPUArray[Any], Any], GPUArray[Any]],
    k: Any = 0,
    *,
    device: AnyDevice = None,
) -> tuple[Index, ...]:
    """The indices of an n x n matrix that a function such as triu() keeps."""
    return nonzero(mask_func(ones((n, n), dtype=np.int64, device=device), k) != 0)


# ---- grids by slices


class _Grid:
    """mgrid and ogrid."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __repr__(self) -> str:
        return f"<pygpu.xp.{'ogrid' if self._sparse else 'mgrid'}>"

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        lines = np.ogrid[key]
        if isinstance(lines, np.ndarray):  # of one slice
            return _put(lines, None, None)
        each = tuple(_put(line, None, None) for line in lines)
        if self._sparse:
            return each
        shape = layout.broadcast_shapes(*(line.shape for line in each))
        return stack([broadcast_to(line, shape) for line in each])


mgrid: _Grid = _Grid(False)
ogrid: _Grid = _Grid(True)


# ---- windows: few numbers, which NumPy computes


def _put(made: Any, dtype: Any, device: Any) -> Any:
    """Host numbers as an array, by default in the default dtype of their kind."""
    where = as_device(device)
    if dtype is None and made.dtype.kind in "fc":
        kind = "real floating" if made.dtype.kind == "f" else "complex floating"
        dtype = default_dtype(kind, where)
    return asarray(made if dtype is None else made.astype(dtype), device=where)


def bartlett(M: int, *, device: AnyDevice = None) -> Floating:  # noqa: N803
    """The triangular window of M points."""
    result: Floating = _put(np.bartlett(M), None, device)
    return result


def blackman(M: int, *, device: AnyDevice = None) -> Floating:  # noqa: N803
    """Blackman's window of M points."""
    result: Floating = _put(np.blackman(M), None, device)
    return result


def hamming(M: int, *, device: AnyDevice = None) -> Floating:  # noqa: N803
    """Hamming's window of M points."""
    result: Floating = _put(np.hamming(M), None, device)
    return result


def hanning(M: int, *, device: AnyDevice = None) -> Floating:  # noqa: N803
    """Hann's window of M points."""
    result: Floating = _put(np.hanning(M), None, device)
    return result


def kaiser(M: int, beta: float, *, device: AnyDevice = None) -> Floating:  # noqa: N803
    """Kaiser's window of M points with the shape beta."""
    result: Floating = _put(np.kaiser(M, beta), None, device)
    return result
