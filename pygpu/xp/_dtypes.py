"""Dtypes of the standard, and its functions on them. Dtypes are NumPy's."""

from __future__ import annotations

import sys
from builtins import bool as _bool
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu._src.array.device import Device, as_device
from pygpu._src.codegen import dtypes

from ._arguments import need_arrays

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ._types import AnyDevice, DType, GPUArray, Operand, ScalarT
else:
    from .._array import GPUArray

__all__ = [
    "astype",
    "bool",
    "can_cast",
    "complex128",
    "complex64",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "int16",
    "int32",
    "int64",
    "int8",
    "isdtype",
    "result_type",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]

bool: type[np.bool_] = np.bool_  # noqa: A001
int8: type[np.int8] = np.int8
int16: type[np.int16] = np.int16
int32: type[np.int32] = np.int32
int64: type[np.int64] = np.int64
uint8: type[np.uint8] = np.uint8
uint16: type[np.uint16] = np.uint16
uint32: type[np.uint32] = np.uint32
uint64: type[np.uint64] = np.uint64
float16: type[np.float16] = np.float16  # not one of the standard's
float32: type[np.float32] = np.float32
float64: type[np.float64] = np.float64
complex64: type[np.complex64] = np.complex64
complex128: type[np.complex128] = np.complex128


def _dtypes(*names: str) -> tuple[np.dtype[Any], ...]:
    return tuple(map(np.dtype, names))


_SIGNED = _dtypes("int8", "int16", "int32", "int64")
_UNSIGNED = _dtypes("uint8", "uint16", "uint32", "uint64")
_FLOATING = _dtypes("float32", "float64")
_COMPLEX = _dtypes("complex64", "complex128")
KINDS: dict[str, tuple[np.dtype[Any], ...]] = {
    "bool": _dtypes("bool"),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": _FLOATING,
    "complex floating": _COMPLEX,
    "numeric": (*_SIGNED, *_UNSIGNED, *_FLOATING, *_COMPLEX),
}
_DOUBLE = _dtypes("float64", "complex128")


def default_dtype(kind: str, device: Device) -> np.dtype[Any]:
    """Of arrays on a device for which none is named: those of NumPy, or single precision where the
    device has no double."""
    wide = device.backend.limits.fp64
    if kind in ("real floating", "complex floating"):
        return KINDS[kind][1 if wide else 0]
    return KINDS["bool"][0] if kind == "bool" else _SIGNED[3]


def dtypes_of(device: Device, kind: Any = None) -> dict[str, np.dtype[Any]]:
    """The standard's dtypes that a device computes with, by name."""
    if kind is None:
        found = KINDS["bool"] + KINDS["numeric"]
    elif isinstance(kind, tuple):
        found = tuple(d for k in kind for d in _of_kind(k))
    else:
        found = _of_kind(kind)
    if not device.backend.limits.fp64:
        found = tuple(d for d in found if d not in _DOUBLE)
    return {d.name: d for d in found}


def _of_kind(kind: Any) -> tuple[np.dtype[Any], ...]:
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r}: it must be one of {', '.join(map(repr, KINDS))}")
    return KINDS[kind]


class _FloatInfo:
    """The result of finfo(): the standard's names in Python's numbers, and NumPy's others."""

    __slots__ = ("bits", "dtype", "eps", "max", "min", "smallest_normal")

    bits: int
    dtype: np.dtype[Any]
    eps: float
    max: float
    min: float
    smallest_normal: float

    def __init__(self, dtype: np.dtype[Any]) -> None:
        info = _numpys_info(dtype)
        self.bits = int(info.bits)
        self.dtype = dtype
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.smallest_normal = float(info.tiny)

    def __getattr__(self, name: str) -> Any:
        """``tiny``, ``resolution`` and what else NumPy's has."""
        if name in self.__slots__:  # not set yet, while a copy is made
            raise AttributeError(name)
        return getattr(_numpys_info(self.dtype), name)

    def __repr__(self) -> str:
        return f"finfo({', '.join(f'{n}={getattr(self, n)!r}' for n in self.__slots__)})"


class _IntInfo:
    """The result of iinfo()."""

    __slots__ = ("bits", "dtype", "max", "min")

    bits: int
    dtype: np.dtype[Any]
    max: int
    min: int

    def __init__(self, info: Any, dtype: np.dtype[Any]) -> None:
        self.bits = int(info.bits)
        self.dtype = dtype
        self.max = int(info.max)
        self.min = int(info.min)

    def __repr__(self) -> str:
        return f"iinfo({', '.join(f'{n}={getattr(self, n)!r}' for n in self.__slots__)})"


def _dtype_of(obj: Any) -> np.dtype[Any]:
    return obj.dtype if isinstance(obj, (GPUArray, np.generic)) else np.dtype(obj)


def _numpys_info(dtype: np.dtype[Any]) -> Any:
    return (sys.modules["ml_dtypes"] if dtypes.is_of_ml_dtypes(dtype) else np).finfo(dtype)


def finfo(dtype: DTypeLike | GPUArray[Any] | np.generic) -> _FloatInfo:
    """bits, dtype, eps, max, min, smallest_normal and NumPy's other attributes of a floating dtype,
    or an array's; of a complex one, of its parts."""
    dtype = _dtype_of(dtype)
    if dtypes.is_narrow(dtype) and dtypes.is_of_ml_dtypes(dtype):
        return _FloatInfo(dtype)
    if dtypes.kind(dtype) not in "fc":
        raise TypeError(f"finfo: a floating dtype is needed, not {dtype}")
    real = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    return _FloatInfo(real)


def iinfo(int_type: DTypeLike | GPUArray[Any] | np.generic) -> _IntInfo:
    """bits, dtype, max, min of an integer dtype, or an array's."""
    dtype = _dtype_of(int_type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: an integer dtype is needed, not {dtype}")
    return _IntInfo(np.iinfo(dtype), dtype)


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> _bool:
    """Whether a dtype is another one, of a kind ("integral", ...), or of one of a tuple of them."""
    dtype = np.dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if dtypes.kind(dtype) == "f" and kind in ("real floating", "numeric"):
            return True  # float16 and those of ml_dtypes too
        return dtype in _of_kind(kind)
    return _bool(dtype == np.dtype(kind))


def result_type(*arrays_and_dtypes: Operand | DTypeLike) -> np.dtype[Any]:
    """The dtype of an operation on arrays, dtypes and Python's numbers. Raises TypeError if there
    is none."""
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one array or dtype is needed")
    return np.result_type(*(x.dtype if isinstance(x, GPUArray) else x for x in arrays_and_dtypes))


def can_cast(from_: GPUArray[Any] | DTypeLike, to: DTypeLike, casting: Any = "safe") -> _bool:
    """Whether a dtype, or an array's, may be converted to another one; by default if all values
    are kept."""
    return _bool(np.can_cast(_dtype_of(from_), np.dtype(to), casting))


@overload
def astype(
    x: GPUArray[Any],
    dtype: DType[ScalarT],
    /,
    *,
    copy: _bool = True,
    device: AnyDevice = None,
) -> GPUArray[ScalarT]: ...
@overload
def astype(
    x: GPUArray[Any], dtype: DTypeLike, /, *, copy: _bool = True, device: AnyDevice = None
) -> GPUArray[Any]: ...
def astype(x: Any, dtype: Any, /, *, copy: _bool = True, device: Any = None) -> Any:
    """A copy converted to another dtype (copy=False: x itself if it has it), and moved."""
    need_arrays("astype", x)
    if device is not None and as_device(device) != x.device:
        x, copy = x.to_device(as_device(device)), False
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        raise TypeError(
            f"astype: complex numbers are not converted to {np.dtype(dtype)}; "
            "take real(x) or imag(x)"
        )
    return x.astype(dtype, copy=copy)
