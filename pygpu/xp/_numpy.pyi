"""The types of the functions in _numpy.py: NumPy's parameters, with arrays on a device."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike

from ._types import (
    Arithmetic,
    ArrayT,
    Axis,
    Bool,
    Count,
    Division,
    GPUArray,
    Index,
    Mask,
    Number,
    Operand,
    Pair,
    Parts,
    Shape,
    Test,
    Transcendental,
)

NAMES: tuple[str, ...]
UFUNCS: tuple[str, ...]
__all__ = [
    "allclose",
    "angle",
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "argpartition",
    "argwhere",
    "array2string",
    "array_equal",
    "array_equiv",
    "array_repr",
    "array_split",
    "array_str",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "bincount",
    "bitwise_count",
    "block",
    "busday_count",
    "busday_offset",
    "cbrt",
    "choose",
    "column_stack",
    "common_type",
    "compress",
    "convolve",
    "copy",
    "copyto",
    "corrcoef",
    "correlate",
    "cov",
    "cross",
    "cumprod",
    "cumsum",
    "deg2rad",
    "degrees",
    "delete",
    "diag",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "digitize",
    "divmod",
    "dot",
    "dsplit",
    "dstack",
    "ediff1d",
    "einsum_path",
    "exp2",
    "extract",
    "fabs",
    "fill_diagonal",
    "fix",
    "flatnonzero",
    "fliplr",
    "flipud",
    "float_power",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "gradient",
    "heaviside",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "hsplit",
    "hstack",
    "i0",
    "inner",
    "insert",
    "interp",
    "intersect1d",
    "is_busday",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isfortran",
    "isnat",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "ix_",
    "kron",
    "lcm",
    "ldexp",
    "lexsort",
    "logaddexp2",
    "matvec",
    "may_share_memory",
    "median",
    "min_scalar_type",
    "modf",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "ndim",
    "outer",
    "packbits",
    "pad",
    "partition",
    "percentile",
    "piecewise",
    "place",
    "poly",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "ptp",
    "put",
    "put_along_axis",
    "putmask",
    "quantile",
    "rad2deg",
    "radians",
    "ravel",
    "ravel_multi_index",
    "real_if_close",
    "resize",
    "rint",
    "rollaxis",
    "roots",
    "rot90",
    "select",
    "setdiff1d",
    "setxor1d",
    "shape",
    "shares_memory",
    "sinc",
    "size",
    "sort_complex",
    "spacing",
    "split",
    "swapaxes",
    "trace",
    "transpose",
    "trapezoid",
    "tril_indices_from",
    "trim_zeros",
    "triu_indices_from",
    "union1d",
    "unique",
    "unpackbits",
    "unravel_index",
    "unwrap",
    "vander",
    "vdot",
    "vecmat",
    "vsplit",
    "vstack",
]

def apply_over_axes(
    func: Callable[..., Any], a: GPUArray[Any], axes: int | Sequence[int]
) -> GPUArray[Any]: ...
def common_type(*arrays: GPUArray[Any]) -> type[Any]: ...
def einsum_path(
    subscripts: str, *operands: GPUArray[Any], optimize: bool | str = ...
) -> tuple[list[Any], str]: ...
@overload
def ix_(*args: GPUArray[Any]) -> tuple[GPUArray[Any], ...]: ...
@overload
def ix_(*args: Sequence[int] | Sequence[bool]) -> tuple[Any, ...]: ...
def min_scalar_type(a: Any, /) -> np.dtype[Any]: ...
def packbits(
    a: GPUArray[Any], /, axis: int | None = ..., bitorder: str = ...
) -> GPUArray[np.uint8]: ...
def poly(seq_of_zeros: GPUArray[Any]) -> GPUArray[Any]: ...
def polydiv(u: Operand, v: Operand) -> tuple[GPUArray[Any], GPUArray[Any]]: ...
def roots(p: GPUArray[Any]) -> GPUArray[Any]: ...
def unpackbits(
    a: GPUArray[Any], /, axis: int | None = ..., count: int | None = ..., bitorder: str = ...
) -> GPUArray[np.uint8]: ...
def allclose(
    a: Operand, b: Operand, rtol: float = ..., atol: float = ..., equal_nan: bool = ...
) -> bool: ...
@overload
def angle(z: GPUArray[Any], deg: bool = ...) -> GPUArray[Any]: ...
@overload
def angle(z: Number, deg: bool = ...) -> Any: ...
def append(arr: ArrayT, values: Operand, axis: int | None = ...) -> ArrayT: ...
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Operand, *args: Any, **kwargs: Any
) -> GPUArray[Any]: ...
def argpartition(
    a: GPUArray[Any],
    kth: int | Sequence[int],
    axis: int | None = ...,
    kind: str = ...,
    order: str | None = ...,
) -> Index: ...
def argwhere(a: GPUArray[Any]) -> Index: ...
def array2string(
    a: GPUArray[Any],
    max_line_width: int | None = ...,
    precision: int | None = ...,
    suppress_small: bool | None = ...,
    separator: str = ...,
    prefix: str = ...,
    *,
    formatter: dict[str, Callable[[Any], str]] | None = ...,
    threshold: int | None = ...,
    edgeitems: int | None = ...,
    sign: str | None = ...,
    floatmode: str | None = ...,
    suffix: str = ...,
    legacy: str | None = ...,
) -> str: ...
def array_equal(a1: Operand, a2: Operand, equal_nan: bool = ...) -> bool: ...
def array_equiv(a1: Operand, a2: Operand) -> bool: ...
def array_repr(
    arr: GPUArray[Any],
    max_line_width: int | None = ...,
    precision: int | None = ...,
    suppress_small: bool | None = ...,
) -> str: ...
def array_split(
    ary: GPUArray[Any], indices_or_sections: int | Sequence[int], axis: int = ...
) -> list[GPUArray[Any]]: ...
def array_str(
    a: GPUArray[Any],
    max_line_width: int | None = ...,
    precision: int | None = ...,
    suppress_small: bool | None = ...,
) -> str: ...
@overload
def atleast_1d(ary: ArrayT, /) -> ArrayT: ...
@overload
def atleast_1d(*arys: GPUArray[Any]) -> tuple[GPUArray[Any], ...]: ...
atleast_2d = atleast_1d
atleast_3d = atleast_1d
@overload
def average(
    a: GPUArray[Any],
    axis: Axis = ...,
    weights: GPUArray[Any] | None = ...,
    returned: Literal[False] = ...,
    *,
    keepdims: bool = ...,
) -> GPUArray[Any]: ...
@overload
def average(
    a: GPUArray[Any],
    axis: Axis = ...,
    weights: GPUArray[Any] | None = ...,
    *,
    returned: Literal[True],
    keepdims: bool = ...,
) -> tuple[GPUArray[Any], GPUArray[Any]]: ...
def bincount(
    x: GPUArray[Any], /, weights: GPUArray[Any] | None = ..., minlength: int = ...
) -> GPUArray[Any]: ...
def busday_count(
    begindates: Any,
    enddates: Any,
    weekmask: Any = ...,
    holidays: Any = ...,
    busdaycal: np.busdaycalendar | None = ...,
    out: GPUArray[Any] | None = ...,
) -> GPUArray[Any]: ...
def busday_offset(
    dates: Any,
    offsets: Any,
    roll: str = ...,
    weekmask: Any = ...,
    holidays: Any = ...,
    busdaycal: np.busdaycalendar | None = ...,
    out: GPUArray[Any] | None = ...,
) -> GPUArray[Any]: ...
def is_busday(
    dates: Any,
    weekmask: Any = ...,
    holidays: Any = ...,
    busdaycal: np.busdaycalendar | None = ...,
    out: GPUArray[Any] | None = ...,
) -> GPUArray[Any]: ...
def block(arrays: Sequence[Any]) -> GPUArray[Any]: ...
def choose(
    a: GPUArray[Any],
    choices: Sequence[GPUArray[Any]] | GPUArray[Any],
    out: GPUArray[Any] | None = ...,
    mode: str = ...,
) -> GPUArray[Any]: ...
def column_stack(tup: Sequence[GPUArray[Any]]) -> GPUArray[Any]: ...
def compress(
    condition: GPUArray[Any], a: ArrayT, axis: int | None = ..., out: GPUArray[Any] | None = ...
) -> ArrayT: ...
def convolve(a: Operand, v: Operand, mode: str = ...) -> GPUArray[Any]: ...
def copy(a: ArrayT, order: str | None = ..., subok: bool = ...) -> ArrayT: ...
def copyto(dst: GPUArray[Any], src: Operand, casting: str = ..., where: Mask = ...) -> None: ...
def corrcoef(
    x: GPUArray[Any],
    y: GPUArray[Any] | None = ...,
    rowvar: bool = ...,
    *,
    dtype: DTypeLike | None = ...,
) -> GPUArray[Any]: ...
def correlate(a: Operand, v: Operand, mode: str = ...) -> GPUArray[Any]: ...
def cov(
    m: GPUArray[Any],
    y: GPUArray[Any] | None = ...,
    rowvar: bool = ...,
    bias: bool = ...,
    ddof: int | None = ...,
    fweights: GPUArray[Any] | None = ...,
    aweights: GPUArray[Any] | None = ...,
    *,
    dtype: DTypeLike | None = ...,
) -> GPUArray[Any]: ...
def cross(
    a: Operand,
    b: Operand,
    axisa: int = ...,
    axisb: int = ...,
    axisc: int = ...,
    axis: int | None = ...,
) -> GPUArray[Any]: ...
def cumprod(
    a: GPUArray[Any],
    axis: int | None = ...,
    dtype: DTypeLike | None = ...,
    out: GPUArray[Any] | None = ...,
) -> GPUArray[Any]: ...
cumsum = cumprod
def delete(
    arr: ArrayT, obj: int | slice | Sequence[int] | GPUArray[Any], axis: int | None = ...
) -> ArrayT: ...
def diag(v: ArrayT, k: int = ...) -> ArrayT: ...
def diag_indices_from(arr: GPUArray[Any]) -> tuple[Index, ...]: ...
def diagflat(v: ArrayT, k: int = ...) -> ArrayT: ...
def diagonal(a: ArrayT, offset: int = ..., axis1: int = ..., axis2: int = ...) -> ArrayT: ...
def digitize(
    x: GPUArray[Any], bins: int | str | Sequence[float] | GPUArray[Any], right: bool = ...
) -> Index: ...
def dot(a: Operand, b: Operand, out: GPUArray[Any] | None = ...) -> GPUArray[Any]: ...
def dsplit(ary: GPUArray[Any], indices_or_sections: int | Sequence[int]) -> list[GPUArray[Any]]: ...
def dstack(tup: Sequence[GPUArray[Any]]) -> GPUArray[Any]: ...
def ediff1d(
    ary: GPUArray[Any], to_end: Operand | None = ..., to_begin: Operand | None = ...
) -> GPUArray[Any]: ...
def extract(condition: GPUArray[Any], arr: ArrayT) -> ArrayT: ...
def fill_diagonal(a: GPUArray[Any], val: Operand, wrap: bool = ...) -> None: ...
@overload
def fix(x: ArrayT, out: GPUArray[Any] | None = ...) -> ArrayT: ...
@overload
def fix(x: Number) -> Any: ...
def flatnonzero(a: GPUArray[Any]) -> Index: ...
def fliplr(m: ArrayT) -> ArrayT: ...
def flipud(m: ArrayT) -> ArrayT: ...
def gradient(
    f: GPUArray[Any], *varargs: Operand, axis: Axis = ..., edge_order: int = ...
) -> GPUArray[Any] | tuple[GPUArray[Any], ...]: ...
def histogram(
    a: GPUArray[Any],
    bins: int | str | Sequence[float] | GPUArray[Any] = ...,
    range: tuple[float, float] | None = ...,
    density: bool | None = ...,
    weights: GPUArray[Any] | None = ...,
) -> tuple[GPUArray[Any], GPUArray[Any]]: ...
def histogram2d(
    x: GPUArray[Any],
    y: Operand,
    bins: int | Sequence[int] | Sequence[GPUArray[Any]] | GPUArray[Any] = ...,
    range: Sequence[Sequence[float]] | None = ...,
    density: bool | None = ...,
    weights: GPUArray[Any] | None = ...,
) -> tuple[GPUArray[Any], GPUArray[Any], GPUArray[Any]]: ...
def histogram_bin_edges(
    a: GPUArray[Any],
    bins: int | str | Sequence[float] | GPUArray[Any] = ...,
    range: tuple[float, float] | None = ...,
    weights: GPUArray[Any] | None = ...,
) -> GPUArray[Any]: ...
def histogramdd(
    sample: GPUArray[Any],
    bins: int | Sequence[int] | Sequence[GPUArray[Any]] = ...,
    range: Sequence[tuple[float, float] | None] | None = ...,
    density: bool | None = ...,
    weights: GPUArray[Any] | None = ...,
) -> tuple[GPUArray[Any], tuple[GPUArray[Any], ...]]: ...
def hsplit(ary: GPUArray[Any], indices_or_sections: int | Sequence[int]) -> list[GPUArray[Any]]: ...
def hstack(
    tup: Sequence[GPUArray[Any]], *, dtype: DTypeLike | None = ..., casting: str = ...
) -> GPUArray[Any]: ...
@overload
def i0(x: GPUArray[Any]) -> GPUArray[Any]: ...
@overload
def i0(x: Number) -> Any: ...
def inner(a: Operand, b: Operand, /) -> GPUArray[Any]: ...
def insert(
    arr: ArrayT,
    obj: int | slice | Sequence[int] | GPUArray[Any],
    values: Operand,
    axis: int | None = ...,
) -> ArrayT: ...
def interp(
    x: Operand,
    xp: Operand,
    fp: Operand,
    left: float | None = ...,
    right: float | None = ...,
    period: float | None = ...,
) -> GPUArray[Any]: ...
@overload
def intersect1d(
    ar1: Operand, ar2: Operand, assume_unique: bool = ..., return_indices: Literal[False] = ...
) -> GPUArray[Any]: ...
@overload
def intersect1d(
    ar1: Operand, ar2: Operand, assume_unique: bool = ..., *, return_indices: Literal[True]
) -> tuple[GPUArray[Any], Index, Index]: ...
@overload
def isclose(
    a: Number, b: Number, rtol: float = ..., atol: float = ..., equal_nan: bool = ...
) -> Any: ...
@overload
def isclose(
    a: Operand, b: Operand, rtol: float = ..., atol: float = ..., equal_nan: bool = ...
) -> Bool: ...
@overload
def iscomplex(x: GPUArray[Any]) -> Bool: ...
@overload
def iscomplex(x: Number) -> Any: ...
def iscomplexobj(x: Any) -> bool: ...
def isfortran(a: Any) -> bool: ...
@overload
def isneginf(x: GPUArray[Any], out: GPUArray[Any] | None = ...) -> Bool: ...
@overload
def isneginf(x: Number) -> Any: ...
@overload
def isposinf(x: GPUArray[Any], out: GPUArray[Any] | None = ...) -> Bool: ...
@overload
def isposinf(x: Number) -> Any: ...
@overload
def isreal(x: GPUArray[Any]) -> Bool: ...
@overload
def isreal(x: Number) -> Any: ...
def isrealobj(x: Any) -> bool: ...
def kron(a: Operand, b: Operand) -> GPUArray[Any]: ...
def lexsort(keys: Sequence[GPUArray[Any]] | GPUArray[Any], axis: int = ...) -> Index: ...
def may_share_memory(a: Operand, b: Operand, /, max_work: int | None = ...) -> bool: ...
def median(
    a: GPUArray[Any],
    axis: Axis = ...,
    out: GPUArray[Any] | None = ...,
    overwrite_input: bool = ...,
    keepdims: bool = ...,
) -> GPUArray[Any]: ...
@overload
def nan_to_num(
    x: ArrayT,
    copy: bool = ...,
    nan: float = ...,
    posinf: float | None = ...,
    neginf: float | None = ...,
) -> ArrayT: ...
@overload
def nan_to_num(
    x: Number,
    copy: bool = ...,
    nan: float = ...,
    posinf: float | None = ...,
    neginf: float | None = ...,
) -> Any: ...
def nanargmax(
    a: GPUArray[Any],
    axis: int | None = ...,
    out: GPUArray[Any] | None = ...,
    *,
    keepdims: bool = ...,
) -> Index: ...
nanargmin = nanargmax
nancumprod = cumprod
nancumsum = cumprod
def nanmax(
    a: ArrayT,
    axis: Axis = ...,
    out: GPUArray[Any] | None = ...,
    keepdims: bool = ...,
    initial: Number | None = ...,
    where: Mask = ...,
) -> ArrayT: ...
def nanmean(
    a: GPUArray[Any],
    axis: Axis = ...,
    dtype: DTypeLike | None = ...,
    out: GPUArray[Any] | None = ...,
    keepdims: bool = ...,
    *,
    where: Mask = ...,
) -> GPUArray[Any]: ...
nanmedian = median
nanmin = nanmax
def nanpercentile(
    a: GPUArray[Any],
    q: float | Sequence[float] | GPUArray[Any],
    axis: Axis = ...,
    out: GPUArray[Any] | None = ...,
    overwrite_input: bool = ...,
    method: str = ...,
    keepdims: bool = ...,
    *,
    weights: GPUArray[Any] | None = ...,
) -> GPUArray[Any]: ...
def nanprod(
    a: GPUArray[Any],
    axis: Axis = ...,
    dtype: DTypeLike | None = ...,
    out: GPUArray[Any] | None = ...,
    keepdims: bool = ...,
    initial: Number | None = ...,
    where: Mask = ...,
) -> GPUArray[Any]: ...
nanquantile = nanpercentile
def nanstd(
    a: GPUArray[Any],
    axis: Axis = ...,
    dtype: DTypeLike | None = ...,
    out: GPUArray[Any] | None = ...,
    ddof: float = ...,
    keepdims: bool = ...,
    *,
    where: Mask = ...,
    mean: GPUArray[Any] | None = ...,
    correction: float = ...,
) -> GPUArray[Any]: ...
nansum = nanprod
nanvar = nanstd
def ndim(a: Any) -> int: ...
def outer(a: Operand, b: Operand, out: GPUArray[Any] | None = ...) -> GPUArray[Any]: ...
def pad(
    array: GPUArray[Any],
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: str = ...,
    **kwargs: Any,
) -> GPUArray[Any]: ...
def partition(
    a: ArrayT,
    kth: int | Sequence[int],
    axis: int | None = ...,
    kind: str = ...,
    order: str | None = ...,
) -> ArrayT: ...
percentile = nanpercentile
def piecewise(
    x: GPUArray[Any],
    condlist: Sequence[GPUArray[Any]],
    funclist: Sequence[Callable[[Any], Any] | Operand],
    *args: Any,
    **kw: Any,
) -> GPUArray[Any]: ...
def place(arr: GPUArray[Any], mask: GPUArray[Any], vals: Operand) -> None: ...
def polyadd(a1: Operand, a2: Operand) -> GPUArray[Any]: ...
def polyder(p: GPUArray[Any], m: int = ...) -> GPUArray[Any]: ...
def polyfit(
    x: GPUArray[Any],
    y: Operand,
    deg: int,
    rcond: float | None = ...,
    full: bool = ...,
    w: GPUArray[Any] | None = ...,
    cov: bool | str = ...,
) -> GPUArray[Any] | tuple[Any, ...]: ...
def polyint(p: GPUArray[Any], m: int = ..., k: Operand | None = ...) -> GPUArray[Any]: ...
def polymul(a1: Operand, a2: Operand) -> GPUArray[Any]: ...
def polysub(a1: Operand, a2: Operand) -> GPUArray[Any]: ...
def polyval(p: Operand, x: Operand) -> GPUArray[Any]: ...
def ptp(
    a: ArrayT, axis: Axis = ..., out: GPUArray[Any] | None = ..., keepdims: bool = ...
) -> ArrayT: ...
def put(
    a: GPUArray[Any], ind: int | Sequence[int] | GPUArray[Any], v: Operand, mode: str = ...
) -> None: ...
def put_along_axis(
    arr: GPUArray[Any],
    indices: Sequence[GPUArray[Any]] | GPUArray[Any],
    values: Operand,
    axis: int | None,
) -> None: ...
def putmask(a: GPUArray[Any], /, mask: GPUArray[Any], values: Operand) -> None: ...
quantile = nanpercentile
def ravel(a: ArrayT, order: str | None = ...) -> ArrayT: ...
@overload
def ravel_multi_index(
    multi_index: Sequence[GPUArray[Any]] | GPUArray[Any],
    dims: Shape,
    mode: str | tuple[str, ...] = ...,
    order: str | None = ...,
) -> Index: ...
@overload
def ravel_multi_index(
    multi_index: Sequence[int],
    dims: Shape,
    mode: str | tuple[str, ...] = ...,
    order: str | None = ...,
) -> Any: ...
@overload
def real_if_close(a: GPUArray[Any], tol: float = ...) -> GPUArray[Any]: ...
@overload
def real_if_close(a: Number, tol: float = ...) -> Any: ...
def resize(a: ArrayT, new_shape: Shape) -> ArrayT: ...
def rollaxis(a: ArrayT, axis: int, start: int = ...) -> ArrayT: ...
def rot90(m: ArrayT, k: int = ..., axes: tuple[int, int] = ...) -> ArrayT: ...
def select(
    condlist: Sequence[GPUArray[Any]], choicelist: Sequence[Operand], default: Operand = ...
) -> GPUArray[Any]: ...
def setdiff1d(ar1: Operand, ar2: Operand, assume_unique: bool = ...) -> GPUArray[Any]: ...
def setxor1d(ar1: Operand, ar2: Operand, assume_unique: bool = ...) -> GPUArray[Any]: ...
def shape(a: Any) -> tuple[int, ...]: ...
def shares_memory(a: Operand, b: Operand, /, max_work: int | None = ...) -> bool: ...
@overload
def sinc(x: GPUArray[Any]) -> GPUArray[Any]: ...
@overload
def sinc(x: Number) -> Any: ...
def size(a: Any, axis: Axis = ...) -> int: ...
def sort_complex(a: GPUArray[Any]) -> GPUArray[Any]: ...
split = array_split
def swapaxes(a: ArrayT, axis1: int, axis2: int) -> ArrayT: ...
def trace(
    a: GPUArray[Any],
    offset: int = ...,
    axis1: int = ...,
    axis2: int = ...,
    dtype: DTypeLike | None = ...,
    out: GPUArray[Any] | None = ...,
) -> GPUArray[Any]: ...
def transpose(a: ArrayT, axes: Sequence[int] | None = ...) -> ArrayT: ...
def trapezoid(
    y: GPUArray[Any], x: GPUArray[Any] | None = ..., dx: float = ..., axis: int = ...
) -> GPUArray[Any]: ...
def tril_indices_from(arr: GPUArray[Any], k: int = ...) -> tuple[Index, ...]: ...
def trim_zeros(filt: ArrayT, trim: str = ..., axis: Axis = ...) -> ArrayT: ...
def triu_indices_from(arr: GPUArray[Any], k: int = ...) -> tuple[Index, ...]: ...
def union1d(ar1: Operand, ar2: Operand) -> GPUArray[Any]: ...
@overload
def unique(
    ar: ArrayT,
    return_index: Literal[False] = ...,
    return_inverse: Literal[False] = ...,
    return_counts: Literal[False] = ...,
    axis: int | None = ...,
    *,
    equal_nan: bool = ...,
    sorted: bool = ...,
) -> ArrayT: ...
@overload
def unique(
    ar: GPUArray[Any],
    return_index: bool = ...,
    return_inverse: bool = ...,
    return_counts: bool = ...,
    axis: int | None = ...,
    *,
    equal_nan: bool = ...,
    sorted: bool = ...,
) -> tuple[GPUArray[Any], ...]: ...
@overload
def unravel_index(
    indices: GPUArray[Any], shape: Shape, order: str | None = ...
) -> tuple[Index, ...]: ...
@overload
def unravel_index(indices: int, shape: Shape, order: str | None = ...) -> Any: ...
def unwrap(
    p: GPUArray[Any], discont: float | None = ..., axis: int = ..., *, period: float | None = ...
) -> GPUArray[Any]: ...
def vander(x: GPUArray[Any], N: int | None = ..., increasing: bool = ...) -> GPUArray[Any]: ...
def vdot(a: Operand, b: Operand, /) -> GPUArray[Any]: ...
def vsplit(ary: GPUArray[Any], indices_or_sections: int | Sequence[int]) -> list[GPUArray[Any]]: ...
vstack = hstack

bitwise_count: Count
cbrt: Transcendental
deg2rad: Transcendental
degrees: Transcendental
divmod: Pair
exp2: Transcendental
fabs: Transcendental
float_power: Division
fmax: Arithmetic
fmin: Arithmetic
fmod: Arithmetic
frexp: Parts
gcd: Arithmetic
heaviside: Division
isnat: Test
lcm: Arithmetic
ldexp: Division
logaddexp2: Division
matvec: Arithmetic
modf: Parts
rad2deg: Transcendental
radians: Transcendental
rint: Transcendental
spacing: Transcendental
vecmat: Arithmetic
