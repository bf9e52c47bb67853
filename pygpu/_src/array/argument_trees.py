"""Arguments and results of functions of :func:`pygpu.fuse` that contain arrays: tuples, named
tuples, lists, dicts and dataclasses, in each other. They are taken apart into leaves, and what is
left (a form, which can be a key) puts leaves together again."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from pygpu._array import GPUArray

_NUMBERS = (int, float, complex)
_LEAF_TYPES = frozenset((type(None), bool, str, bytes, *_NUMBERS))


class TreeDef(NamedTuple):
    """A container without its leaves. kind: its type; names: the keys of a dict, or the attributes
    of a dataclass; items: a TreeDef, or None for a leaf, for each child."""

    kind: Any
    names: tuple[Any, ...]
    items: tuple[TreeDef | None, ...]


def is_container(value: Any) -> bool:
    kind = type(value)
    if kind in _LEAF_TYPES or isinstance(value, GPUArray):
        return False
    return (
        kind in (tuple, list, dict)
        or (isinstance(value, tuple) and hasattr(kind, "_make"))
        or dataclasses.is_dataclass(kind)
    )


def children(value: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """(names, items) of a container; a dataclass may have attributes that are not fields."""
    if isinstance(value, tuple) or type(value) is list:
        return (), tuple(value)
    if type(value) is dict:
        return tuple(value), tuple(value.values())
    names = dict.fromkeys(f.name for f in dataclasses.fields(value) if hasattr(value, f.name))
    names.update(dict.fromkeys(getattr(value, "__dict__", ())))
    return tuple(names), tuple(getattr(value, name) for name in names)


def build(kind: Any, names: tuple[Any, ...], items: tuple[Any, ...]) -> Any:
    """A container of a type. A dataclass is made without its __init__, which may convert."""
    if kind is tuple or kind is list:
        return kind(items)
    if kind is dict:
        return dict(zip(names, items, strict=True))
    if issubclass(kind, tuple):
        return kind._make(items)
    made = object.__new__(kind)
    for name, item in zip(names, items, strict=True):
        object.__setattr__(made, name, item)  # also of frozen ones
    return made


def has_arrays(value: Any) -> bool:
    if isinstance(value, GPUArray):
        return True
    return is_container(value) and any(map(has_arrays, children(value)[1]))


def _is_constant(value: Any) -> bool:
    """Whether a container is one value, such as a shape: it has no arrays, and cannot change."""
    parameters: Any = getattr(type(value), "__dataclass_params__", None)
    if has_arrays(value) or (parameters is not None and not parameters.frozen):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True


def flatten(value: Any, leaves: list[Any]) -> TreeDef | None:
    """The form of an argument; its arrays, numbers and other values are added to *leaves*."""
    if not is_container(value) or _is_constant(value):
        leaves.append(value)
        return None
    names, items = children(value)
    return TreeDef(type(value), names, tuple(flatten(item, leaves) for item in items))


def unflatten(form: TreeDef | None, leaves: Iterator[Any], made: list[Any]) -> Any:
    """The argument again, of other leaves. *made* gets each container and what it contains."""
    if form is None:
        return next(leaves)
    items = tuple(unflatten(item, leaves, made) for item in form.items)
    container = build(form.kind, form.names, items)
    made.append((container, form.names, items))
    return container


def is_changed(container: Any, names: tuple[Any, ...], items: tuple[Any, ...]) -> bool:
    """Whether a function assigned to items of a container that it was given."""
    now, values = children(container)
    return (
        now != names
        or len(values) != len(items)
        or any(one is not other for one, other in zip(values, items, strict=True))
    )


def value_key(value: Any) -> Any:
    """A key of an argument that decides which operations run: it tells 1 from 1.0 and True, 0.0
    from -0.0, and takes NaN as equal to itself. TypeError if there is none."""
    if isinstance(value, (float, complex, np.inexact)):
        return type(value), repr(value)
    if is_container(value):
        names, items = children(value)
        return type(value), tuple(map(value_key, names)), tuple(map(value_key, items))
    hash(value)
    return type(value), value


def private_copy(value: Any) -> Any:
    """The value, or a copy if the caller could change it."""
    try:
        hash(value)
    except TypeError:
        return copy.deepcopy(value)
    return value


_TUPLE_TYPES: dict[tuple[Any, tuple[Any, ...]], type] = {}


def result_treedef(kind: Any, names: tuple[Any, ...], items: tuple[Any, ...]) -> Any:
    """The description of a container in a program's form. C makes tuples, lists and dicts; where it
    finds another type of tuple, it calls the type with the items."""
    if kind in (tuple, list, dict):
        return build(kind, names, items)
    key = kind, names
    maker = _TUPLE_TYPES.get(key)
    if maker is None:

        def new(cls: type, *items: Any) -> Any:
            return build(kind, names, items)

        made: Callable[..., Any] = type
        maker = made(f"_make_{kind.__name__}", (tuple,), {"__new__": new})
        _TUPLE_TYPES[key] = maker
    form: Any = tuple.__new__(maker, items)
    return form
