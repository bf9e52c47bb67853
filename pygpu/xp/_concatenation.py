"""NumPy's concatenation by subscripts: ``r_[a, 0, b]``, ``c_[a, b]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._creation import asarray
from ._manipulation import concat

if TYPE_CHECKING:
    from ._types import GPUArray
else:
    from .._array import GPUArray

__all__ = ["c_", "r_"]


class _Concatenator:
    """Joins arrays, numbers and ranges that are its subscript. A string in front has the axis to
    join along, the least number of axes, and where those of arrays with fewer axes go."""

    def __init__(self, name: str, numpys: Any, axis: int, ndmin: int, first: int) -> None:
        self._name = name
        self._numpys = numpys
        self._defaults = axis, ndmin, first

    def __repr__(self) -> str:
        return f"<pygpu.xp.{self._name}>"

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> GPUArray[Any]:
        items = list(key) if isinstance(key, tuple) else [key]
        like = next((x for x in items if isinstance(x, GPUArray)), None)
        if like is None:
            return asarray(self._numpys[key])
        axis, ndmin, first = self._defaults
        if isinstance(items[0], str):
            axis, ndmin, first = self._directive(items.pop(0))
        if any(isinstance(x, str) for x in items):
            raise ValueError(f"{self._name}: a string must be the first item")
        items = [np.r_[x] if isinstance(x, slice) else x for x in items]
        items = [x if isinstance(x, GPUArray) or np.isscalar(x) else np.asarray(x) for x in items]
        dtype = np.result_type(*(x.dtype if isinstance(x, GPUArray) else x for x in items))
        device: Any = like.device
        arrays = [asarray(x, dtype=dtype, device=device) for x in items]
        return concat([_with_axes(x, max(ndmin, 1), first) for x in arrays], axis)

    def _directive(self, given: str) -> tuple[int, int, int]:
        try:
            numbers = [int(x) for x in given.split(",")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise ValueError(
                f"{self._name}: {given!r} is not one of 'axis', 'axis,ndmin', 'axis,ndmin,first'"
            )
        return tuple([*numbers, *self._defaults[len(numbers) :]])  # type: ignore[return-value]


def _with_axes(x: Any, ndmin: int, first: int) -> Any:
    """Axes of length 1 around those of x, which begin at *first* (-1: new axes in front)."""
    new = ndmin - x.ndim
    if new <= 0:
        return x
    before = first if first >= 0 else first + new + 1
    return x.reshape((1,) * before + x.shape + (1,) * (new - before))


r_ = _Concatenator("r_", np.r_, 0, 1, -1)
c_ = _Concatenator("c_", np.c_, -1, 2, 0)
