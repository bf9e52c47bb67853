"""Values that may be None: results of functions that return only on some paths, and variables that
are None until they are set. In C, each is two variables: the value, and whether there is one."""

from __future__ import annotations

from .. import emit
from ..ir import Value
from ..types import BOOL, WEAK_BOOL, ArrayType, OptionalType, Scalar, TupleType, Type


def _nothing(t: Type) -> Value:
    """Return a placeholder value of a type, which is never read."""
    if isinstance(t, Scalar):
        return Value(t, emit.literal(0, t.dtype))
    if isinstance(t, ArrayType):
        strides = None if t.contiguous else ["0"] * t.ndim
        return Value(t, "0", shape=["0"] * t.ndim, strides=strides)
    if isinstance(t, TupleType):
        return Value(t, items=list(map(_nothing, t.items)))
    return Value(t, "0")


def as_optional(t: OptionalType, value: Value) -> Value:
    """Convert a value, or None, to type *t*."""
    if value.is_none:
        return Value(t, items=[_nothing(t.item), Value(BOOL, "0")])
    if value.is_optional:
        return Value(t, items=value.items)
    return Value(t, items=[value, Value(BOOL, "1")])


def unwrapped(value: Value) -> Value:
    """Return the value itself, where it is used. If it is None after all, its contents are
    undefined."""
    return value.items[0] if value.is_optional else value


def is_there(value: Value) -> Value:
    """Whether it is not None."""
    return Value(WEAK_BOOL, value.items[1].text)
