"""Values of expressions while a function is compiled: a type and the C source that computes it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from .types import (
    ArrayType,
    DateType,
    EnumType,
    ObjectType,
    OptionalType,
    RecordType,
    Scalar,
    TupleType,
    Type,
    Void,
)


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Value:
    """The value of an expression: its type and its C source.

    text: C of the type's compute type, a name or in parentheses, so that it can be used anywhere;
    for an array, the pointer to its first item. const: the value, if it is known. nonneg: an
    integer that cannot be negative. items: of a tuple. shape: of an array, texts of pg_i64.
    strides: texts of bytes, None if contiguous. origin: the object whose number it is, such as a
    member of an IntEnum. range: of an integer, see ranges.py; None if nothing is known. facts:
    what follows if it is true, and if it is false, see KnownRanges.taken.
    """

    __slots__ = (
        *("const", "facts", "items", "nonneg", "origin", "range", "shape", "strides", "text"),
        "type",
    )

    def __init__(
        self,
        type: Type,
        text: str = "",
        const: Any = MISSING,
        nonneg: bool = False,
        items: Sequence[Value] = (),
        shape: Sequence[str] = (),
        strides: Sequence[str] | None = None,
    ) -> None:
        self.type = type
        self.text = text
        self.const = const
        self.nonneg = nonneg
        self.items = items
        self.shape = shape
        self.strides = strides
        self.origin: Any = None
        self.range: Any = None
        self.facts: Any = ((), ())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a number, of an array's items or of a record."""
        found: np.dtype[Any] = self.type.dtype  # type: ignore[union-attr]
        return found

    @property
    def is_scalar(self) -> bool:
        """Whether it is a number."""
        return self.type.__class__ is Scalar

    @property
    def is_date(self) -> bool:
        """Whether it is a datetime64 or timedelta64."""
        return isinstance(self.type, DateType)

    @property
    def is_enum(self) -> bool:
        """Whether it is a member of an Enum that is known only on the device."""
        return isinstance(self.type, EnumType)

    @property
    def is_array(self) -> bool:
        return isinstance(self.type, ArrayType)

    @property
    def is_record(self) -> bool:
        return isinstance(self.type, RecordType)

    @property
    def is_tuple(self) -> bool:
        return self.type.__class__ is TupleType

    @property
    def is_optional(self) -> bool:
        """Whether it may be None; items are the value and whether there is one."""
        return self.type.__class__ is OptionalType

    @property
    def is_none(self) -> bool:
        """Whether it is certainly None."""
        return self.const is None or self.type.__class__ is Void

    @property
    def is_const(self) -> bool:
        return self.const is not MISSING

    @property
    def is_object(self) -> bool:
        """Whether it exists only while compiling."""
        return isinstance(self.type, ObjectType)

    @property
    def is_weak(self) -> bool:
        return isinstance(self.type, Scalar) and self.type.weak

    def __repr__(self) -> str:
        return f"<{self.type} {self.text!r}>"


def tuple_of(items: Sequence[Value], names: tuple[str, ...] = ()) -> Value:
    """Return a tuple, or with *names* a namedtuple."""
    return Value(TupleType(tuple(v.type for v in items), names), items=items)


def flat_values(value: Value) -> list[Value]:
    """Return the numbers in a tuple, nested ones included."""
    if isinstance(value.type, TupleType):
        return [inner for item in value.items for inner in flat_values(item)]
    return [value]


def wide_enough(t: Scalar, *values: Value) -> Scalar:
    """Return the type of a variable or a conditional expression, or a wider one if it must hold
    known integers, such as -1, that *t* cannot. (Nothing holds -1 and uint64.)"""
    if t.dtype.kind in "iu" and not t.weak:
        for value in values:
            if value.is_weak and value.is_const and isinstance(value.const, int):
                limits = np.iinfo(t.dtype)
                if not limits.min <= value.const <= limits.max and t.dtype != np.uint64:
                    return Scalar(np.dtype("i8"))
    return t


def as_enum(value: Value) -> Value:
    """Convert a member of an Enum to a value that the device knows; return other values
    unchanged."""
    member = value.const
    if not value.is_object or not isinstance(member, enum.Enum):
        return value
    kind = type(member)
    return Value(EnumType(kind), str(list(kind).index(kind(member.value))))


class Method:
    """A method of a number, before it is called."""

    def __init__(self, name: str, value: Value) -> None:
        self.name = name
        self.value = value
