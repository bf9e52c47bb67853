"""NumPy's second names of the standard's functions, and names of NumPy's that need no device."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from numpy import (
    base_repr,
    binary_repr,
    bool_,
    busdaycalendar,
    byte,
    cdouble,
    complexfloating,
    csingle,
    datetime64,
    double,
    dtype,
    errstate,
    exceptions,
    floating,
    format_float_positional,
    format_float_scientific,
    generic,
    get_printoptions,
    half,
    index_exp,
    inexact,
    int_,
    intc,
    integer,
    intp,
    isscalar,
    issubdtype,
    iterable,
    longlong,
    ndindex,
    number,
    printoptions,
    promote_types,
    s_,
    set_printoptions,
    short,
    signedinteger,
    single,
    timedelta64,
    ubyte,
    uint,
    uintc,
    uintp,
    ulonglong,
    unsignedinteger,
    ushort,
)

from ._elementwise import abs as absolute
from ._elementwise import acos as arccos
from ._elementwise import acosh as arccosh
from ._elementwise import asin as arcsin
from ._elementwise import asinh as arcsinh
from ._elementwise import atan as arctan
from ._elementwise import atan2 as arctan2
from ._elementwise import atanh as arctanh
from ._elementwise import bitwise_invert as bitwise_not
from ._elementwise import bitwise_invert as invert
from ._elementwise import bitwise_left_shift as left_shift
from ._elementwise import bitwise_right_shift as right_shift
from ._elementwise import conj as conjugate
from ._elementwise import divide as true_divide
from ._elementwise import pow as power
from ._elementwise import remainder as mod
from ._elementwise import round as around
from ._manipulation import concat as concatenate
from ._statistics import max as amax
from ._statistics import min as amin

if TYPE_CHECKING:
    from ._types import GPUArray
else:
    from .._array import GPUArray

ndarray: TypeAlias = GPUArray

__all__ = [
    "absolute",
    "amax",
    "amin",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "around",
    "base_repr",
    "binary_repr",
    "bitwise_not",
    "bool_",
    "busdaycalendar",
    "byte",
    "cdouble",
    "complexfloating",
    "concatenate",
    "conjugate",
    "csingle",
    "datetime64",
    "double",
    "dtype",
    "errstate",
    "exceptions",
    "floating",
    "format_float_positional",
    "format_float_scientific",
    "generic",
    "get_printoptions",
    "half",
    "index_exp",
    "inexact",
    "int_",
    "intc",
    "integer",
    "intp",
    "invert",
    "isscalar",
    "issubdtype",
    "iterable",
    "left_shift",
    "longlong",
    "mod",
    "ndarray",
    "ndindex",
    "number",
    "power",
    "printoptions",
    "promote_types",
    "right_shift",
    "s_",
    "set_printoptions",
    "short",
    "signedinteger",
    "single",
    "timedelta64",
    "true_divide",
    "ubyte",
    "uint",
    "uintc",
    "uintp",
    "ulonglong",
    "unsignedinteger",
    "ushort",
]
