"""Views of an array whose items overlap: NumPy's numpy.lib.stride_tricks."""

from collections.abc import Sequence
from typing import Any

from pygpu._array import GPUArray
from pygpu._src.array.routines import manipulation

from .._arguments import need_arrays

__all__ = ["as_strided", "sliding_window_view"]


def as_strided(
    x: GPUArray[Any],
    shape: int | Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    subok: bool = False,
    writeable: bool = True,
    *,
    check_bounds: bool | None = None,
) -> GPUArray[Any]:
    """A view with any shape and strides (bytes), which must stay within the memory that x is in,
    or ValueError is raised: check_bounds, as in NumPy 2.5, changes nothing. The view can be
    written to, whatever writeable is."""
    need_arrays("as_strided", x)
    view: GPUArray[Any] = manipulation.as_strided(x, shape, strides)
    return view


def sliding_window_view(
    x: GPUArray[Any],
    window_shape: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> GPUArray[Any]:
    """A view with the windows of an array as its last axes: of x = 0 1 2 3 and window_shape = 2
    0 1, 1 2 and 2 3. The view can be written to, whatever writeable is."""
    need_arrays("sliding_window_view", x)
    view: GPUArray[Any] = manipulation.sliding_window_view(x, window_shape, axis)
    return view
