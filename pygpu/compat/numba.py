"""Names of Numba: its decorators for functions of arrays, and its types.

``jit`` and ``njit`` leave a function the plain Python function that it is, which kernels can call:
pygpu compiles for devices, not for the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.jit.decorators.guvectorize import guvectorize as _guvectorize
from pygpu._src.jit.decorators.jit import jit
from pygpu._src.jit.decorators.vectorize import vectorize as _vectorize
from pygpu._src.jit.signature import (
    TYPES,
    NPDatetime,
    NPTimedelta,
    ScalarType,
    Signature,
    Tuple,
    Type,
    UniTuple,
    as_type,
    narrow,
)
from pygpu._src.jit.signature import ArrayType as Array
from pygpu._src.jit.signature import PointerType as CPointer
from pygpu._src.jit.source import keep_texts
from pygpu._src.util.lazy import lazy
from pygpu.compat import numba_config as config
from pygpu.compat import numba_warnings
from pygpu.compat.numba_errors import *  # noqa: F403
from pygpu.compat.numba_errors import __all__ as _errors
from pygpu.compat.numba_integers import widening
from pygpu.compat.numba_options import checking_options

__all__ = [
    "Array",
    "Boolean",
    "CPointer",
    "Complex",
    "Float",
    "Integer",
    "NPDatetime",
    "NPTimedelta",
    "Number",
    "Record",
    "Tuple",
    "Type",
    "UniTuple",
    "as_dtype",
    "carray",
    "complex_domain",
    "config",
    "farray",
    "from_dtype",
    "guvectorize",
    "integer_domain",
    "jit",
    "literal_unroll",
    "literally",
    "njit",
    "number_domain",
    "prange",
    "real_domain",
    "signature",
    "signed_domain",
    "typeof",
    "unsigned_domain",
    "vectorize",
    *TYPES,
    *_errors,
]

globals().update(TYPES)
numba_warnings.install()
keep_texts()  # Numba reads bytecode and needs no source
njit = jit
signed_domain = frozenset(TYPES[f"int{n}"] for n in (8, 16, 32, 64))
unsigned_domain = frozenset(TYPES[f"uint{n}"] for n in (8, 16, 32, 64))
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset((TYPES["float32"], TYPES["float64"]))
complex_domain = frozenset((TYPES["complex64"], TYPES["complex128"]))
number_domain = integer_domain | real_domain | complex_domain
if TYPE_CHECKING:
    from pygpu._src.kernel_types import guvectorize, vectorize
else:
    guvectorize = widening(checking_options(_guvectorize))
    vectorize = widening(checking_options(_vectorize))
prange = range


def from_dtype(dtype: Any) -> Any:
    """The type of a NumPy dtype, of numbers or of records, as signatures write it."""
    return as_type(np.dtype(dtype))


def as_dtype(kind: Any) -> Any:
    """The NumPy dtype of a type of numbers or records."""
    return np.dtype(getattr(kind, "dtype", kind))


class _PointerView:
    """``carray`` or ``farray``: in kernels, an array over the memory of a pointer."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, pointer: Any, shape: Any, dtype: Any = None) -> Any:
        """Refused on the host, where it would read any address. Raises NotImplementedError."""
        raise NotImplementedError("carray, farray: use numpy.ctypeslib.as_array for host memory")

    def emit_call(self, fc: Any, node: Any, args: Any, kwargs: Any) -> Any:
        """A call in a kernel."""
        views = lazy("pygpu._src.jit.calls.pointers")
        return getattr(views, self.__name__)(fc, node, args, kwargs)


carray, farray = _PointerView("carray"), _PointerView("farray")


numpy_version = tuple(int(part) for part in np.__version__.split(".")[:2])


class _NumberClassMeta(type):
    """The class of types whose numbers are of some kinds, for isinstance()."""

    kinds: str

    def __new__(cls, name: str, kinds: str) -> Any:
        made = super().__new__(cls, name, (), {})
        made.kinds = kinds
        return made

    def __init__(cls, name: str, kinds: str) -> None:
        super().__init__(name, (), {})

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, ScalarType) and obj.dtype.kind in cls.kinds


Boolean, Integer, Float = (
    _NumberClassMeta("Boolean", "b"),
    _NumberClassMeta("Integer", "iu"),
    _NumberClassMeta("Float", "f"),
)
Complex, Number = _NumberClassMeta("Complex", "c"), _NumberClassMeta("Number", "iufc")


class Record:
    """Makes types of records."""

    @staticmethod
    def make_c_struct(fields: Any) -> Any:
        """The type of a struct as C lays it out. fields: (name, type) of each."""
        return from_dtype(np.dtype([(n, getattr(t, "dtype", t)) for n, t in fields], align=True))


def signature(returns: Any, *args: Any) -> Signature:
    """The types of a function's result and arguments, as numba.cuda.typing has it."""
    return Signature(as_type(returns), tuple(map(as_type, args)))


def literally(value: Any) -> Any:
    """The value: what is known when a kernel is compiled needs no marking."""
    return value


def _emit_argument(fc: Any, node: Any, args: Any, kwargs: Any) -> Any:
    """A call in a kernel: its argument."""
    from pygpu._src.jit.walk.registry import count

    count("literal_unroll", args, kwargs, 1, 1)
    return args[0]


literally.emit_call = _emit_argument  # type: ignore[attr-defined]
literal_unroll = literally


def typeof(value: Any) -> Any:
    """The type of a number or an array, as signatures write it."""
    from pygpu._src.jit.signature import ArrayType

    found = value if hasattr(value, "dtype") else np.asarray(value)
    if getattr(found, "ndim", 0):
        flags = found.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return ArrayType(found.dtype, found.ndim, layout)
    return as_type(found.dtype)


def set_num_threads(count: int) -> None:
    """Has no effect: a device decides how much of it is used."""
    if count < 1:
        raise ValueError(f"set_num_threads: count must be at least 1, not {count}")


def get_num_threads() -> int:
    """1; see set_num_threads."""
    return 1


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        return narrow(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
