"""Types of values in kernels written in Python.

A number is a :class:`Scalar`: a NumPy dtype that is *strong*, like an item of an array, or *weak*,
like a Python number, which takes the type of the other operand (NEP 50). An array is an
:class:`ArrayType`, passed to device functions as a pointer, its shape and, if it is not
contiguous, its strides in bytes. :func:`join` returns the type of a variable to which both types
are assigned.
"""

from __future__ import annotations

import enum
import zlib
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.dates import common_unit
from pygpu._src.codegen.dtypes import is_date

_INT64 = np.dtype("i8")
_SPACES = {"global": "g", "local": "l", "private": "p", "constant": "k"}
_WEAK = {bool: np.dtype(bool), int: np.dtype("i8"), float: np.dtype("f8"), complex: np.dtype("c16")}
_RANK = {"b": 0, "i": 1, "f": 2, "c": 3}
_PYTHON = {"b": bool, "i": int, "f": float, "c": complex}


class _Type:
    """Types are equal if their attributes are. Attributes are set once."""

    __slots__: tuple[str, ...] = ()

    def _key(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.__class__, self._key()))

    def __repr__(self) -> str:
        return f"<{self}>"


class Scalar(_Type):
    """A number. weak: a Python number; *dtype* is then the dtype of a variable that stores it:
    bool, int64, float64 or complex128."""

    __slots__ = ("dtype", "weak")

    dtype: np.dtype[Any]
    weak: bool

    def __init__(self, dtype: np.dtype[Any], weak: bool = False) -> None:
        self.dtype = dtype
        self.weak = weak

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not Scalar:
            return NotImplemented
        return self.weak == other.weak and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.dtype, self.weak))

    @property
    def code(self) -> str:
        """Its part of the name of a device function."""
        return ("w" if self.weak else "") + dtypes.code(self.dtype)

    @property
    def python(self) -> type:
        """The class of a weak number: bool, int, float or complex."""
        return _PYTHON[self.dtype.kind]

    @property
    def kind(self) -> Any:
        """The type by which NumPy promotes it: the dtype, or int, float or complex."""
        return self.python if self.weak and self.dtype.kind != "b" else self.dtype

    def __str__(self) -> str:
        return self.python.__name__ if self.weak else self.dtype.name


class DateType(Scalar):
    """A datetime64 or timedelta64. Its variables and parameters in C are int64, but it is not a
    number: see :attr:`Value.is_scalar`."""

    __slots__ = ("date",)

    date: np.dtype[Any]

    def __init__(self, date: np.dtype[Any]) -> None:
        super().__init__(_INT64)
        self.date = date

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DateType) and other.date == self.date

    def __hash__(self) -> int:
        return hash(self.date)

    @property
    def code(self) -> str:
        return _code_of_date(self.date)

    @property
    def kind(self) -> Any:
        return self.date

    def __str__(self) -> str:
        return str(self.date)


def _code_of_date(date: np.dtype[Any]) -> str:
    return "".join(c for c in date.str if c.isalnum())


class EnumType(Scalar):
    """A member of an Enum that is known only on the device: in C its index among the members. Like
    a date, it is not a number."""

    __slots__ = ("kind_of",)

    kind_of: type[enum.Enum]

    def __init__(self, kind: type[enum.Enum]) -> None:
        super().__init__(np.dtype("i8"))
        self.kind_of = kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnumType) and other.kind_of is self.kind_of

    def __hash__(self) -> int:
        return hash(self.kind_of)

    @property
    def code(self) -> str:
        return f"e{c_name(self.kind_of.__name__)}"

    def __str__(self) -> str:
        return f"member of {self.kind_of.__name__}"


class ArrayType(_Type):
    """An array. contiguous: in C order, so its strides follow from its shape. space: "global",
    "local" (of a work-group), "private" (of a work-item) or "constant". dtype: of the stored
    items, int64 for dates; date: the dtype of these, else None."""

    __slots__ = ("contiguous", "date", "dtype", "ndim", "space")

    contiguous: bool
    date: np.dtype[Any] | None
    dtype: np.dtype[Any]
    ndim: int
    space: str

    def __init__(
        self, dtype: np.dtype[Any], ndim: int, contiguous: bool = True, space: str = "global"
    ) -> None:
        self.date = dtype if is_date(dtype) else None
        self.dtype, self.ndim = storage_dtype(dtype), ndim
        self.contiguous, self.space = contiguous, space

    @property
    def item_dtype(self) -> np.dtype[Any]:
        """The dtype as seen by programs."""
        return self.date or self.dtype

    @property
    def item_type(self) -> Scalar:
        """The type of an item other than a record."""
        return Scalar(self.dtype) if self.date is None else DateType(self.date)

    @property
    def code(self) -> str:
        letter = "c" if self.contiguous else "s"
        code = dtypes.code(self.dtype) if self.date is None else _code_of_date(self.date)
        if self.dtype.names:  # structs of the same size differ
            code += f"_{zlib.crc32(repr(self.dtype).encode()):x}"
        return f"{_SPACES[self.space]}{self.ndim}{letter}{code}"

    def __str__(self) -> str:
        space = "" if self.space == "global" else f"{self.space} "
        order = "" if self.contiguous else ", strided"
        return f"{space}array({self.item_dtype.name}, {self.ndim}-d{order})"


class RecordType(_Type):
    """An item of an array of structs; in C a pointer to its first byte, so that changes of the
    array are visible through it. space: as for arrays. align: its address is a multiple of this."""

    __slots__ = ("align", "dtype", "space")

    align: int
    dtype: np.dtype[Any]
    space: str

    def __init__(self, dtype: np.dtype[Any], space: str = "global", align: int = 1) -> None:
        self.dtype, self.space, self.align = dtype, space, align

    @property
    def code(self) -> str:
        fields = zlib.crc32(repr(self.dtype).encode())
        return f"{_SPACES[self.space]}r{self.align}_{self.dtype.itemsize}_{fields:x}"

    def __str__(self) -> str:
        return f"record({', '.join(self.dtype.names or ())})"


class TupleType(_Type):
    """A tuple; in C, a variable for each item. names: of the items, if it is a namedtuple."""

    __slots__ = ("items", "names")

    items: tuple[Any, ...]
    names: tuple[str, ...]

    def __init__(self, items: tuple[Any, ...], names: tuple[str, ...] = ()) -> None:
        self.items, self.names = items, names

    @property
    def code(self) -> str:
        return "t" + "".join(f"_{t.code}" for t in self.items) + "_e"

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


class OptionalType(TupleType):
    """A value that may be None: in C the value, and whether there is one."""

    __slots__ = ()

    def __init__(self, item: Any) -> None:
        super().__init__((item, BOOL))

    def _key(self) -> tuple[Any, ...]:
        return self.items

    @property
    def item(self) -> Any:
        """The type of the value."""
        return self.items[0]

    @property
    def code(self) -> str:
        return f"n_{self.item.code}"

    def __str__(self) -> str:
        return f"{self.item} or None"


class Void(_Type):
    """None: the result of a function without ``return``."""

    __slots__ = ()
    code = "none"

    def __str__(self) -> str:
        return "None"


VOID = Void()


class ObjectType:
    """A Python object that is known when the kernel is compiled: a function, a module, a dtype."""

    __slots__ = ("value",)

    value: Any

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def code(self) -> str:
        return "o"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectType) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __str__(self) -> str:
        return repr(self.value)[:60]


Type = Scalar | ArrayType | RecordType | TupleType | Void | ObjectType

BOOL = Scalar(np.dtype(bool))
WEAK_BOOL, WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX = (Scalar(d, True) for d in _WEAK.values())
_BY_CLASS = dict(zip(_WEAK, (WEAK_BOOL, WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX)))


def weak(kind: type) -> Scalar:
    """Return the type of a Python number of class bool, int, float or complex."""
    return _BY_CLASS[kind]


def as_type(obj: Any) -> Type:
    """Convert a type that callers pass: one of this module's, bool, int, float or complex for a
    Python number, a tuple of types, or anything that numpy.dtype accepts. Raises TypeError."""
    if isinstance(obj, (Scalar, ArrayType, RecordType, TupleType, ObjectType, Void)):
        return obj
    if isinstance(obj, type) and obj in _BY_CLASS:
        return _BY_CLASS[obj]
    if isinstance(obj, tuple):
        return TupleType(tuple(map(as_type, obj)))
    if obj is None:
        return ObjectType(None)
    found = as_dtype(obj)
    return DateType(found) if is_date(found) else Scalar(found)


def scalar_type(dtype: np.dtype[Any]) -> Scalar:
    """Return the type of a NumPy number, date or duration."""
    return DateType(dtype) if is_date(dtype) else Scalar(dtype)


def storage_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of items in memory: int64 for dates, otherwise the same."""
    return _INT64 if is_date(dtype) else dtype


def numpy_dtype(t: Scalar) -> np.dtype[Any]:
    """Return the dtype of a value of this type on the host."""
    return t.date if isinstance(t, DateType) else t.dtype


def as_dtype(obj: Any) -> np.dtype[Any]:
    """Return the dtype that a program names: a NumPy dtype, its name, a type of a signature, bool,
    int, float, complex. Raises TypeError if devices do not compute with it."""
    found = obj if isinstance(obj, type) else getattr(obj, "dtype", obj)
    try:
        dtype = np.dtype(found) if found is not None else None
    except TypeError as error:
        named = f"Invalid NumPy dtype specified: {obj!r}" if isinstance(obj, str) else str(error)
        raise TypeError(named) from None
    if dtype is None or not dtype.isnative or dtype.hasobject or not dtypes.computes(dtype):
        raise TypeError(f"{obj!r} is not a dtype that kernels compute with")
    return dtype


def join(a: Any, b: Any) -> Any:
    """Return the type of a variable to which both types are assigned; None if there is none."""
    if a == b:
        return a
    if any(isinstance(t, (OptionalType, Void)) for t in (a, b)):
        return _join_optional(a, b)
    if isinstance(a, EnumType) or isinstance(b, EnumType):
        return None
    if isinstance(a, DateType) or isinstance(b, DateType):
        return _join_dates(a, b)
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        if a.weak and b.weak:
            return a if _RANK[a.dtype.kind] >= _RANK[b.dtype.kind] else b
        try:
            return Scalar(dtypes.result_type(*(_result_type_argument(t) for t in (a, b))))
        except TypeError:
            return None
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        if (a.item_dtype, a.ndim, a.space) != (b.item_dtype, b.ndim, b.space):
            return None
        return ArrayType(a.item_dtype, a.ndim, False, a.space)
    if isinstance(a, RecordType) and isinstance(b, RecordType):
        if (a.dtype, a.space) != (b.dtype, b.space):
            return None
        return RecordType(a.dtype, a.space, min(a.align, b.align))
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.items) == len(b.items):
        items = tuple(map(join, a.items, b.items))
        return None if None in items else TupleType(items, a.names if a.names == b.names else ())
    return None


def _join_dates(a: Any, b: Any) -> Any:
    """Return the type of two dates, or of two durations, in the finer unit."""
    if not (isinstance(a, DateType) and isinstance(b, DateType)) or a.date.kind != b.date.kind:
        return None
    found = common_unit(a.date, b.date)
    return None if found is None else DateType(found)


def _join_optional(a: Any, b: Any) -> Any:
    """Return the type of a value that may be None."""
    found = None
    for t in (a, b):
        item = t.item if isinstance(t, OptionalType) else t
        if isinstance(item, Void):
            continue
        found = item if found is None else join(found, item)
        if found is None or has_object(found):
            return None
    return OptionalType(found)


def distance(want: np.dtype[Any], have: Scalar) -> int | None:
    """Return how far a number is from a type that a signature declares: 0 if the types are equal,
    1 if the declared one holds all values, 100 if the kinds fit; None if not. Of several
    signatures, the one with the least sum is chosen."""
    if have.dtype == want:
        return 0
    if np.can_cast(have.dtype, want):
        return 1
    fits = np.can_cast(have.dtype, want, "same_kind") or (have.weak and have.dtype.kind in "bi")
    return 100 if fits else None


def match_argument(want: Type, have: Type) -> Type | None:
    """Match the type of an argument with the declared one, None if it does not fit."""
    if isinstance(want, ArrayType) and isinstance(have, ArrayType):
        return have if (want.item_dtype, want.ndim) == (have.item_dtype, have.ndim) else None
    if isinstance(want, DateType) and isinstance(have, DateType):
        return want if np.can_cast(have.date, want.date, "same_kind") else None
    if isinstance(want, DateType) or isinstance(have, DateType):
        return None
    if isinstance(want, Scalar) and isinstance(have, Scalar):
        return None if distance(want.dtype, have) is None else want
    if isinstance(want, TupleType) and isinstance(have, TupleType):
        if len(want.items) != len(have.items):
            return None
        items = tuple(map(match_argument, want.items, have.items))
        return None if None in items else TupleType(items, have.names)
    return have if want == have else None


def distances(want: Type, have: Type) -> int:
    """Return the sum of the numbers' distances from the declared types, which fit."""
    if isinstance(want, TupleType) and isinstance(have, TupleType):
        return sum(map(distances, want.items, have.items))
    if isinstance(want, DateType) or isinstance(have, DateType):
        return int(want != have)
    if isinstance(want, Scalar) and isinstance(have, Scalar):
        return distance(want.dtype, have) or 0
    return 0


def _result_type_argument(t: Scalar) -> Any:
    """Return the argument of numpy.result_type for it: a Python number is weak there."""
    return t.python(0) if t.weak and t.dtype.kind != "b" else t.dtype


def flat_types(t: Type) -> list[Any]:
    """Return the types of the numbers in a tuple, nested ones included."""
    if isinstance(t, TupleType):
        return [inner for item in t.items for inner in flat_types(item)]
    return [t]


def flat_tuples(t: Type) -> list[Any]:
    """Return the type itself, and if it is a tuple all tuples in it."""
    return [t] + [inner for item in getattr(t, "items", ()) for inner in flat_tuples(item)]


def c_name(name: str) -> str:
    """Return a Python name as part of a C name, uniquely."""
    if name.isascii() and name.isidentifier():
        return name
    plain = (c.isascii() and (c.isalnum() or c == "_") and c != "u" for c in name)
    return "".join(c if kept else f"u{ord(c):x}_" for c, kept in zip(name, plain))


def has_object(t: Any) -> bool:
    """Whether it is an object known when the kernel is compiled, or a tuple with one."""
    return isinstance(t, ObjectType) or any(map(has_object, getattr(t, "items", ())))
