"""Helpers over Array and Memcpy3D: CUDA arrays made from host or device arrays.

A matrix of shape (h, w) in C order becomes an Array of width w and height h; in Fortran order its
columns are the rows, so that the first index runs along a row. Volumes of shape (d, h, w), in
Fortran order (w, h, d), become Arrays of depth d.

Raises LogicError for an order other than "C" or "F", TypeError for a dtype that arrays do not
support.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu import _cuda
from pygpu.errors import InvalidArgumentError

from .enums import address_mode, array3d_flags, array_format, filter_mode

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

__all__ = [
    "bind_array_to_texref",
    "dtype_to_array_format",
    "gpuarray_to_array",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "matrix_to_texref",
    "np_to_array",
]

_FORMATS = {
    np.dtype(np.uint8): array_format.UNSIGNED_INT8,
    np.dtype(np.uint16): array_format.UNSIGNED_INT16,
    np.dtype(np.uint32): array_format.UNSIGNED_INT32,
    np.dtype(np.int8): array_format.SIGNED_INT8,
    np.dtype(np.int16): array_format.SIGNED_INT16,
    np.dtype(np.int32): array_format.SIGNED_INT32,
    np.dtype(np.float16): array_format.HALF,
    np.dtype(np.float32): array_format.FLOAT,
}
# Types that texture units lack are read as integers and reassembled in the kernel.
_AS_INTEGERS = {
    np.dtype(np.complex64): 2,
    np.dtype(np.float64): 2,
    np.dtype(np.complex128): 4,
}


def dtype_to_array_format(dtype: DTypeLike) -> array_format:
    """Return the channel format for a dtype: integers of up to 32 bits, float16, float32."""
    try:
        return _FORMATS[np.dtype(dtype)]
    except KeyError:
        raise TypeError(f"cannot convert dtype '{dtype}' to array format") from None


def _format_and_channels(dtype: np.dtype[Any]) -> tuple[array_format, int]:
    if dtype in _AS_INTEGERS:
        return array_format.SIGNED_INT32, _AS_INTEGERS[dtype]
    return dtype_to_array_format(dtype), 1


def _order(order: str) -> str:
    if not isinstance(order, str) or order.upper() not in ("C", "F"):
        raise InvalidArgumentError(f"make an Array: order must be 'C' or 'F', got {order!r}")
    return order.upper()


def _describe(
    call: str, shape: tuple[int, ...], format: int, channels: int, flags: int | None
) -> Any:
    """Make a descriptor for (h, w) or (d, h, w). flags None: one without flags is sufficient.
    Raises for a length of 0, which would mean an Array with fewer dimensions."""
    if 0 in shape:
        raise InvalidArgumentError(
            f"{call}: an Array has at least one item in each direction, not the shape {shape}"
        )
    if len(shape) == 2 and flags is None:
        descriptor: Any = _cuda.ArrayDescriptor()
    else:
        descriptor = _cuda.ArrayDescriptor3D()
        descriptor.depth = shape[0] if len(shape) == 3 else 1
        descriptor.flags = flags or 0
    descriptor.width, descriptor.height = shape[-1], shape[-2]
    descriptor.format, descriptor.num_channels = format, channels
    return descriptor


def _fill(array: _cuda.Array, shape: tuple[int, ...], row: int, source: Any, host: bool) -> None:
    """Copy rows of `row` bytes, without gaps, into the whole array."""
    copy: Any = _cuda.Memcpy3D()
    if host:
        copy.set_src_host(source)
    else:
        copy.set_src_device(source)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = row
    copy.src_height = copy.height = shape[-2]
    copy.depth = shape[0] if len(shape) == 3 else 1
    copy()


def _numpy_array(call: str, name: str, value: Any) -> NDArray[Any]:
    """Convert to a NumPy array. Refuse sequences: their length may be arbitrary."""
    if not (hasattr(value, "dtype") and hasattr(value, "shape")):
        raise TypeError(f"{call}: {name} must be a NumPy array, not {type(value).__name__}")
    return np.asarray(value)


def matrix_to_array(
    matrix: NDArray[Any], order: str, allow_double_hack: bool = False
) -> _cuda.Array:
    """Make an Array with the contents of a matrix.

    allow_double_hack: float64 becomes two channels of 32-bit integers, for __hiloint2double.
    """
    order = _order(order)
    matrix = _numpy_array("matrix_to_array", "matrix", matrix)
    if matrix.ndim != 2:
        raise InvalidArgumentError(
            f"matrix_to_array: matrix must have 2 dimensions, has {matrix.ndim}"
        )
    rows = np.ascontiguousarray(matrix if order == "C" else matrix.T)
    if allow_double_hack and rows.dtype == np.float64:
        format, channels = array_format.SIGNED_INT32, 2
    else:
        format, channels = dtype_to_array_format(rows.dtype), 1
    array = _cuda.Array(_describe("matrix_to_array", rows.shape, format, channels, None))
    _fill(array, rows.shape, rows.strides[0], rows, host=True)
    return array


def _geometry(
    call: str, shape: tuple[int, ...], dtype: np.dtype[Any], bindable: bool
) -> _cuda.Array:
    if len(shape) not in (2, 3):
        raise InvalidArgumentError(f"{call}: arrays have 2 or 3 dimensions, not {len(shape)}")
    flags = None
    if bindable:
        flags = int(array3d_flags.SURFACE_LDST)
        if len(shape) == 2:
            flags |= int(array3d_flags.ARRAY3D_LAYERED)
    return _cuda.Array(_describe(call, shape, *_format_and_channels(dtype), flags))


def np_to_array(
    nparray: NDArray[Any],
    order: str,
    allowSurfaceBind: bool = False,  # noqa: N803
) -> _cuda.Array:
    """Make an Array with the contents of a matrix (h, w) or a volume (d, h, w).

    float64 and complex numbers become 2 or 4 channels of 32-bit integers. allowSurfaceBind: make
    it usable for a SurfaceObject; a matrix is then an array of one layer.
    """
    nparray = _numpy_array("np_to_array", "nparray", nparray)
    rows = np.ascontiguousarray(nparray if _order(order) == "C" else nparray.T)
    array = _geometry("np_to_array", rows.shape, rows.dtype, allowSurfaceBind)
    _fill(array, rows.shape, rows.strides[-2], rows, host=True)
    return array


def gpuarray_to_array(
    gpuarray: Any,
    order: str,
    allowSurfaceBind: bool = False,  # noqa: N803
) -> _cuda.Array:
    """As np_to_array(), from a device array that is contiguous in *order*."""
    order = _order(order)
    shape = tuple(int(n) for n in gpuarray.shape)
    flags = gpuarray.flags
    if not (flags.c_contiguous if order == "C" else flags.f_contiguous):
        raise InvalidArgumentError(
            f"gpuarray_to_array: the array is not contiguous in order {order!r}"
        )
    shape = shape if order == "C" else shape[::-1]
    array = _geometry("gpuarray_to_array", shape, np.dtype(gpuarray.dtype), allowSurfaceBind)
    row = shape[-1] * np.dtype(gpuarray.dtype).itemsize
    _fill(array, shape, row, gpuarray.gpudata, host=False)
    return array


def make_multichannel_2d_array(ndarray: NDArray[Any], order: str) -> _cuda.Array:
    """Make an Array with channels: from shape (h, w, channels), in order "F" (channels, w, h)."""
    order = _order(order)
    ndarray = np.asarray(ndarray)
    if ndarray.ndim != 3:
        raise InvalidArgumentError(
            f"make_multichannel_2d_array: ndarray must have 3 dimensions, has {ndarray.ndim}"
        )
    items = np.ascontiguousarray(ndarray if order == "C" else ndarray.T)
    shape = items.shape[:2]
    format = dtype_to_array_format(items.dtype)
    array = _cuda.Array(
        _describe("make_multichannel_2d_array", shape, format, items.shape[2], None)
    )
    _fill(array, shape, items.strides[0], items, host=True)
    return array


def bind_array_to_texref(ary: _cuda.Array, texref: Any) -> None:
    """Raises LogicError: CUDA 12 removed texture references. Create a TextureObject(ary)
    instead."""
    texref.set_array(ary)
    texref.set_address_mode(0, address_mode.CLAMP)
    texref.set_address_mode(1, address_mode.CLAMP)
    texref.set_filter_mode(filter_mode.POINT)


def matrix_to_texref(matrix: NDArray[Any], texref: Any, order: str) -> None:
    """Raises LogicError: CUDA 12 removed texture references. Create a
    TextureObject(matrix_to_array(matrix, order)) instead."""
    bind_array_to_texref(matrix_to_array(matrix, order), texref)
