"""NumPy dtypes in kernels of the common language: names, loads and stores, promotion.

A dtype has a *storage type*, for items in memory, and a *compute type*, with which kernels
compute:

=================  =========  =========
dtype              storage    compute
=================  =========  =========
bool               pg_b8      pg_b8
int8 ... uint64    pg_i8 ...  the same
float16            pg_f16     pg_f32
bfloat16           pg_f16b    pg_f32
float8_e4m3fn      pg_f8e4m3  pg_f32
float8_e5m2        pg_f8e5m2  pg_f32
float32, float64   pg_f32     the same
complex64, 128     pg_c64     the same
datetime64, ...    pg_i64     the same; NaT is the least, see :mod:`.dates`
others (structs)   pg_bytesN  the same; only moved
=================  =========  =========

*Narrow* floats are stored as bits and computed in float32: float16, and the types of ml_dtypes.
That package is never imported here: such a dtype comes from a program that has imported it. Results
are rounded to the storage type when they are stored, as in NumPy.

Names of real floating-point types begin with f, whatever dtype.kind is ("V" for bfloat16).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dates
from .fastpath import fastpath

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pygpu._src.runtime.backend import Backend

_CODES = {
    "?": "b8",
    "i1": "i8",
    "i2": "i16",
    "i4": "i32",
    "i8": "i64",
    "u1": "u8",
    "u2": "u16",
    "u4": "u32",
    "u8": "u64",
    "f2": "f16",
    "f4": "f32",
    "f8": "f64",
    "c8": "c64",
    "c16": "c128",
}
_BY_CODE = {value: np.dtype(key) for key, value in _CODES.items()}
# The names in kernels of ml_dtypes' types that kernels compute with.
ML_CODES = {"bfloat16": "f16b", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2"}
_DATE = np.dtype("m8")  # represents dates and durations of all units
_USER_TYPES = 256  # the least number of a dtype that another package has registered with NumPy
_NARROW = {"f16": "half", **{name: name for name in ML_CODES.values()}}  # code -> feature
_HELD: dict[str, tuple[str, ...]] = {
    "f16": ("b8", "i8", "u8", "f8e4m3", "f8e5m2"),
    "f16b": ("b8", "i8", "u8", "f8e4m3", "f8e5m2"),
    "f8e4m3": ("b8",),
    "f8e5m2": ("b8",),
}


def is_of_ml_dtypes(dtype: np.dtype[Any]) -> bool:
    """Whether it is one of ml_dtypes' types, for which dtype.kind and dtype.str are meaningless."""
    return dtype.num >= _USER_TYPES and dtype.type.__module__ == "ml_dtypes"


@cache
def code(dtype: np.dtype[Any]) -> str:
    """Return the short name of a dtype in kernels: "f32", "b8", ...; "t64" for dates and durations
    of any unit; "v12" for 12 bytes of any other type."""
    if dtype.kind == "b":
        return "b8"
    if is_of_ml_dtypes(dtype):
        found = ML_CODES.get(dtype.name)
        if found is not None:
            _BY_CODE.setdefault(found, dtype)
            return found
    elif dtype.kind in "iufc":
        found = _CODES.get(f"{dtype.kind}{dtype.itemsize}")
        if found is not None:
            return found
    elif dtype.kind in "mM":
        return "t64"
    if dtype.hasobject:
        raise TypeError(f"dtype {dtype} holds Python objects, which a device cannot use")
    return f"v{dtype.itemsize}"


def from_code(name: str) -> np.dtype[Any]:
    """Return the dtype of a code other than "v...": np.dtype("float32") for "f32"."""
    return _BY_CODE[name]


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Whether kernels compute with it: not with structs, dates, strings, long double."""
    return code(dtype)[0] not in "vt"


def is_date(dtype: Any) -> bool:
    """Whether it is a dtype of dates or durations: datetime64 or timedelta64."""
    return isinstance(dtype, np.dtype) and dtype.kind in "mM" and not is_of_ml_dtypes(dtype)


def computes(dtype: np.dtype[Any]) -> bool:
    """Whether kernels can store an item in a variable of a C type: numbers and dates."""
    return code(dtype)[0] != "v"


def unitless(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype for a kernel's key that is the same for dates of all units; others
    unchanged."""
    return _DATE if is_date(dtype) else dtype


@cache
def memory_code(stored: np.dtype[Any] | None, computed: np.dtype[Any]) -> str | None:
    """Return the part of a kernel's key for an operand: its storage and, for dates, their
    conversion. None for a number, which is an argument."""
    if stored is None:
        return None
    name = code(stored)
    if name == "t64" and code(computed) == "t64" and stored != computed:
        return f"{name} {stored.str} {computed.str}"
    return name


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether kernels store it as bits, and compute in float32."""
    return code(dtype) in _NARROW


def kind(dtype: np.dtype[Any]) -> str:
    """Return dtype.kind, but "f" for the floating-point types of ml_dtypes and "V" for its others,
    for which NumPy's value is meaningless."""
    if not is_of_ml_dtypes(dtype):
        return dtype.kind
    return "f" if code(dtype)[0] == "f" else "V"


@fastpath("native")
def native(dtype: DTypeLike, call: str = "array") -> np.dtype[Any]:
    """Return np.dtype(dtype). Raises TypeError if devices cannot store it: objects, the other byte
    order."""
    try:
        dtype = np.dtype(dtype)
    except TypeError as error:
        raise TypeError(f"{call}: dtype: {error}") from None
    if dtype.hasobject:
        raise TypeError(f"{call}: dtype {dtype} holds Python objects, which a device cannot use")
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        raise TypeError(
            f"{call}: dtype {dtype} has a shape of its own; make an array of {base} with the axes "
            f"{shape} at the end"
        )
    if not dtype.isnative:
        raise TypeError(
            f"{call}: dtype {dtype} is of the other byte order; convert with "
            f".astype({dtype.newbyteorder('=').str!r})"
        )
    return dtype


def storage_type(dtype: np.dtype[Any]) -> str:
    """Return the type of items in memory."""
    name = code(dtype)
    if name == "t64":
        return "pg_i64"
    return f"pg_bytes{name[1:]}" if name[0] == "v" else f"pg_{name}"


def compute_type(dtype: np.dtype[Any]) -> str:
    """Return the type of a local variable for an item."""
    return "pg_f32" if code(dtype) in _NARROW else storage_type(dtype)


@cache
def alignment(dtype: np.dtype[Any]) -> int:
    """Return the alignment of items in kernels [bytes]."""
    size = dtype.itemsize
    return size if computes(dtype) else _unit(size)


def _unit(size: int) -> int:
    """Return the largest integer size that divides *size* bytes."""
    return next(u for u in (8, 4, 2, 1) if size % u == 0) if size else 1


def declare(*dtypes: np.dtype[Any]) -> str:
    """Declare the storage types that the prefix does not have."""
    lines = []
    for size in sorted({int(code(d)[1:]) for d in dtypes if code(d)[0] == "v"}):
        unit = _unit(size)
        lines.append(
            f"typedef struct {{ pg_u{8 * unit} item[{max(size // unit, 1)}]; }} pg_bytes{size};\n"
        )
    return "".join(lines)


def features(*dtypes: np.dtype[Any]) -> set[str]:
    """Return the features of :meth:`Dialect.prefix` that these dtypes need."""
    found = set()
    for dtype in dtypes:
        name = code(dtype)
        if name in _NARROW:
            found.add(_NARROW[name])
        elif name[0] == "c":
            found.add("complex")
        elif name == "t64":
            found.add("dates")
    return found


def from_bits(dtype: np.dtype[Any], item: str) -> str:
    """Convert an expression for an item, read from memory, to the compute type."""
    name = code(dtype)
    return f"pg_from_{name}({item})" if name in _NARROW else item


def to_bits(dtype: np.dtype[Any], value: str) -> str:
    """Convert an expression of the compute type to the storage type."""
    name = code(dtype)
    return f"pg_to_{name}({value})" if name in _NARROW else value


def rounded(dtype: np.dtype[Any], value: str) -> str:
    """Round a value of the compute type to the precision of the storage type."""
    return from_bits(dtype, to_bits(dtype, value))


def holds(dtype: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Whether a narrow float represents all numbers of another dtype exactly."""
    return code(other) == code(dtype) or code(other) in _HELD[code(dtype)]


def load(dtype: np.dtype[Any], pointer: str, index: str) -> str:
    """Return an expression of the compute type for pointer[index]."""
    return from_bits(dtype, f"{pointer}[{index}]")


def store(
    dtype: np.dtype[Any], pointer: str, index: str, value: str, of: np.dtype[Any] | None = None
) -> str:
    """Return a statement that stores the expression *value*, of the compute type of dtype *of* (by
    default *dtype* itself), converted as NumPy's astype does."""
    if code(dtype) == "f16" and of is not None:
        if code(of) in ("f64", "i32", "u32", "i64", "u64", "t64", "c128"):  # round only once
            real = f"({value}).re" if code(of) == "c128" else value
            return f"{pointer}[{index}] = pg_to_f16d({real});"
    return f"{pointer}[{index}] = {to_bits(dtype, cast(value, of or dtype, dtype))};"


def cast(value: str, source: np.dtype[Any], target: np.dtype[Any]) -> str:
    """Convert *value* from *source*'s to *target*'s compute type, as NumPy's astype does."""
    a, b = code(source), code(target)
    if "t64" in (a, b):
        if a == b:
            return dates.convert(value, source, target)
        if a[0] in "fc" or "v" in (a[0], b[0]):
            return _date_of(value, source, target)
        a, b = (("i64" if name == "t64" else name) for name in (a, b))
    if a == b:
        return f"(pg_{a})({value})" if a[0] in "iu" else value
    if a[0] == "v" or b[0] == "v":
        raise TypeError(f"cannot convert {source} to {target} on a device")
    real = compute_type(target)
    if b[0] == "c":
        part = "pg_f32" if b == "c64" else "pg_f64"
        if a[0] == "c":
            return f"pg_{b}_make(({part})({value}).re, ({part})({value}).im)"
        return f"pg_{b}_make(({part})({value}), ({part})0)"
    if a[0] == "c":
        if b == "b8":
            return f"(pg_b8)(({value}).re != 0 || ({value}).im != 0)"
        return cast(f"({value}).re", from_code("f32" if a == "c64" else "f64"), target)
    if b == "b8":
        return f"(pg_b8)(({value}) != 0)"
    if a[0] == "f" and b[0] == "u" and b != "u64":  # negative numbers wrap around, as on the host
        return f"({real})(pg_i64)({value})"
    if a[0] == "f" and b == "u64":
        return f"(({value}) < 0 ? (pg_u64)(pg_i64)({value}) : (pg_u64)({value}))"
    if a[0] == "f" and b in ("i8", "i16"):
        return f"({real})(pg_i32)({value})"
    return f"({real})({value})"


def _date_of(value: str, source: np.dtype[Any], target: np.dtype[Any]) -> str:
    """Convert a real or complex number to a date: NaT for NaN and for too large numbers."""
    name = code(source)
    if name[0] == "v" or code(target)[0] == "v":
        raise TypeError(f"cannot convert {source} to {target} on a device")
    real = f"({value}).re" if name[0] == "c" else value
    wide = name in ("f64", "c128")
    return f"pg_t64_from_{'f64' if wide else 'f32'}({real})"


def needs_fp64(*dtypes: np.dtype[Any]) -> bool:
    """Whether kernels with these dtypes compute in double."""
    return any(code(d) in ("f64", "c128") for d in dtypes)


def require(backend: Backend, call: str, *dtypes: np.dtype[Any], dates: bool = False) -> None:
    """Raise TypeError if the device cannot compute with one of the dtypes. dates: whether dates
    are allowed."""
    for dtype in dtypes:
        if not (computes(dtype) if dates else is_numeric(dtype)):
            if is_date(dtype):
                raise TypeError(
                    f"{call}: not supported on a device for dtype {dtype}; pass numbers, such as "
                    "x.view('int64') or x / numpy.timedelta64(1, 's')"
                )
            raise TypeError(f"{call}: a device does not compute with dtype {dtype}")
    if needs_fp64(*dtypes) and not backend.limits.fp64:
        raise TypeError(
            f"{call}: {backend!r} has no double precision, and the result would be float64 or "
            "complex128; convert operands with .astype(numpy.float32) first"
        )


def result_type(*operands: Any) -> np.dtype[Any]:
    """Return NumPy's promotion (NEP 50) of arrays and dtypes, and Python numbers, which are weak.

    Never raises OverflowError: whether a Python int fits is checked when it is converted.
    """
    return np.result_type(
        *(
            item
            if isinstance(item, (int, float, complex, np.dtype, np.generic, type))
            else item.dtype
            for item in operands
        )
    )
