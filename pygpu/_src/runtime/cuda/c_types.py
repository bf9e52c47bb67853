"""Conversion between NumPy dtypes and CUDA C++ types, and the arguments of generated kernels."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from pygpu._src.runtime.c_types import (
    DTypeRegistry,
    fill_registry_with_c_types,
    parse_c_arg_backend,
)
from pygpu._src.util.public import publish

__all__ = [
    "TYPE_REGISTRY",
    "Argument",
    "ScalarArg",
    "VectorArg",
    "dtype_to_ctype",
    "get_arg_type",
    "get_or_register_dtype",
    "parse_c_arg",
    "register_dtype",
]

TYPE_REGISTRY: DTypeRegistry = DTypeRegistry()
fill_registry_with_c_types(TYPE_REGISTRY, respect_windows=sys.platform == "win32")
_MORE: tuple[tuple[list[str], DTypeLike], ...] = (
    (["long long", "signed long long", "long long int"], np.longlong),
    (["unsigned long long", "unsigned long long int"], np.ulonglong),
    (["half", "__half"], np.float16),
    (["pycuda::complex<float>"], np.complex64),
    (["pycuda::complex<double>"], np.complex128),
    (["int8_t"], np.int8),
    (["uint8_t", "uchar"], np.uint8),
    (["int16_t"], np.int16),
    (["uint16_t", "ushort"], np.uint16),
    (["int32_t"], np.int32),
    (["uint32_t", "uint"], np.uint32),
    (["int64_t"], np.int64),
    (["uint64_t"], np.uint64),
    (["size_t"], np.uintp),
)
for _names, _dtype in _MORE:
    TYPE_REGISTRY.get_or_register_dtype(_names, _dtype)

if TYPE_CHECKING:

    def get_or_register_dtype(
        names: str | Sequence[str], dtype: DTypeLike | None = None
    ) -> np.dtype[Any]: ...
else:
    get_or_register_dtype = TYPE_REGISTRY.get_or_register_dtype

_TEXTURE_NAMES = {
    "f": "fp_tex_float",
    "d": "fp_tex_double",
    "F": "fp_tex_cfloat",
    "D": "fp_tex_cdouble",
}


def dtype_to_ctype(dtype: DTypeLike, with_fp_tex_hack: bool = False) -> str:
    """Return the C name of a dtype. with_fp_tex_hack: the name of the type that stores it in a
    texture.

    Raises ValueError for None and for a dtype without a registered type.
    """
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = np.dtype(dtype)
    if with_fp_tex_hack and dtype.char in _TEXTURE_NAMES:
        return _TEXTURE_NAMES[dtype.char]
    return TYPE_REGISTRY.dtype_to_ctype(dtype)


def register_dtype(dtype: DTypeLike, c_names: Sequence[str] | str, alias_ok: bool = False) -> None:
    """Older spelling of get_or_register_dtype(c_names, dtype).

    Raises RuntimeError if *dtype* already has a name, unless *alias_ok*.
    """
    warnings.warn(
        "register_dtype is deprecated, use get_or_register_dtype(names, dtype)",
        DeprecationWarning,
        stacklevel=2,
    )
    registered = TYPE_REGISTRY.dtype_to_name.get(np.dtype(dtype))
    if registered is not None and not alias_ok:
        raise RuntimeError(
            f"dtype '{np.dtype(dtype)}' already registered (as '{registered}', new names "
            f"{c_names!r}); pass alias_ok=True to add names to it"
        )
    get_or_register_dtype(c_names, np.dtype(dtype))


class Argument:
    """A parameter of a generated kernel: a dtype and a name."""

    def __init__(self, dtype: DTypeLike, name: str) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


class VectorArg(Argument):
    """A pointer."""

    struct_char = "P"

    def declarator(self) -> str:
        """Return the parameter as C++ source."""
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A value."""

    def declarator(self) -> str:
        """Return the parameter as C++ source."""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self) -> str:
        """Return the value's type character for Function.prepare."""
        return f"{self.dtype.itemsize}s" if self.dtype.char == "V" else self.dtype.char


def parse_c_arg(c_arg: str) -> Any:
    """Return the ScalarArg or VectorArg for a declaration such as "float *x"."""
    return parse_c_arg_backend(c_arg, ScalarArg, VectorArg, TYPE_REGISTRY)


def get_arg_type(c_arg: str) -> str:
    """Return the type character of a declaration for Function.prepare."""
    char: str = parse_c_arg(c_arg).struct_char
    return char


del _names, _dtype


publish(globals(), __all__, "pygpu.cuda.dtypes")
