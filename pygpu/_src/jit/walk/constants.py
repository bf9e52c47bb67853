"""Python objects that are known when a kernel is compiled, as values."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.dtypes import is_date

from .. import emit
from ..ir import Value, tuple_of
from ..types import ArrayType, DateType, ObjectType, Scalar, weak
from .captured_arrays import captured_array, is_device_array
from .context import FunctionContext
from .registry import visits_expression

# Attributes of these types may be reassigned, except those of these packages.
_CHANGING: tuple[type, ...] = (
    *(bool, int, float, complex, str, tuple, list, dict),
    *(np.generic, np.ndarray, GPUArray, types.FunctionType),
)
_STEADY = frozenset(("cmath", "math", "numba", "numpy", "pygpu"))


def constant(fc: FunctionContext, obj: Any, node: ast.AST) -> Value:
    """Return the value of a Python object that is known now."""
    kind = type(obj)
    if kind in (bool, int, float, complex):
        t = weak(kind)
        if kind is int and not -(1 << 63) <= obj < 1 << 64:
            return Value(t, const=obj)
        text = emit.literal(obj, np.dtype("u8") if kind is int and obj >= 1 << 63 else t.dtype)
        fc.unit.need(t.dtype)
        return Value(t, text, const=obj, nonneg=kind is int and obj >= 0)
    if isinstance(obj, np.generic) and dtypes.is_numeric(obj.dtype):
        fc.need_dtype(obj.dtype, node)
        text = emit.literal(obj, obj.dtype)
        nonneg = obj.dtype.kind in "biu" and bool(obj >= 0)  # type: ignore[operator]
        return Value(Scalar(obj.dtype), text, const=obj, nonneg=nonneg)
    if isinstance(obj, np.generic) and is_date(obj.dtype):
        text = emit.literal(int(obj.view("i8")), np.dtype("i8"))
        return Value(DateType(obj.dtype), text)
    if isinstance(obj, tuple):
        items = [constant(fc, item, node) for item in obj]
        names = getattr(obj, "_fields", ())
        return tuple_of(items, names)
    if isinstance(obj, np.ndarray):
        return constant_array(fc, obj, node)
    for python in (int, float, complex):
        if isinstance(obj, python):  # of a subclass: IntEnum, IntFlag
            value = constant(fc, python(obj), node)  # type: ignore[arg-type]
            value.origin = obj
            return value
    if is_device_array(obj, fc.unit.dialect):
        return captured_array(fc, obj, node)
    return Value(ObjectType(obj), const=obj)


def constant_array(fc: FunctionContext, array: np.ndarray, node: ast.AST) -> Value:
    """Return a constant array: part of the program."""
    if is_date(array.dtype):
        found = constant_array(fc, array.view("i8"), node)
        found.type = ArrayType(array.dtype, array.ndim, True, "constant")
        return found
    if not (dtypes.is_numeric(array.dtype) or array.dtype.names) or array.dtype.hasobject:
        raise fc.source.error(f"constant arrays of {array.dtype} are not supported", node)
    fc.need_dtype(array.dtype, node)
    if array.nbytes > 65536:
        raise fc.source.error(
            f"a constant array of {array.nbytes} bytes is too large (at most 65536); pass it "
            "as an argument",
            node,
        )
    t = ArrayType(array.dtype, array.ndim, True, "constant")
    shape = [str(n) for n in array.shape]
    key = ("table", array.dtype, array.shape, array.tobytes())
    storage = dtypes.storage_type(array.dtype)
    # C has no literals for these, and CUDA's NaN and infinity are not constant expressions for a
    # table.
    as_words = array.dtype.kind in "cV" or (
        array.dtype.char in "fd" and not np.isfinite(array).all()
    )
    if as_words:
        array = np.frombuffer(array.tobytes() + bytes(-array.nbytes % 8), np.uint64)
        storage = "pg_u64"
    table = fc.unit.functions.get(key)
    if table is None:
        table = fc.unit.functions[key] = fc.unit.unique("pgk_table")
        flat = array.ravel()
        if array.dtype.char == "e":
            items = [str(bits) for bits in flat.view(np.uint16).tolist()]
        else:
            items = [emit.literal(x, array.dtype) for x in flat]
        body = ", ".join(items or ["0"])
        fc.unit.definitions[table] = (
            f"PG_TABLE {storage} {table}[{max(len(items), 1)}] = {{{body}}};\n"
        )
    text = f"(({emit.pointer_type(t)}){table})" if as_words else table
    return Value(t, text, shape=shape)


def guard_attribute(fc: FunctionContext, obj: Any, name: str, found: Any) -> None:
    """Guard the compiled function by the attribute of a module, class or object."""
    if not isinstance(found, _CHANGING):
        return
    namespace: Any = getattr(obj, "__dict__", None)
    if isinstance(obj, types.ModuleType):
        if obj.__name__.partition(".")[0] in _STEADY:
            return
    elif isinstance(obj, type):
        namespace = obj
    elif type(namespace) is not dict or namespace.get(name) is not found:
        namespace = obj  # a slot, or an attribute of its class, which its own may replace
    if namespace is obj:
        holds = getattr(obj, name) is found  # otherwise it is created at each access
    else:
        holds = type(namespace) is dict and namespace.get(name) is found
    if holds:
        fc.unit.guards[id(namespace), name] = namespace, name, found


def guard_item(fc: FunctionContext, container: Any, key: Any, found: Any) -> None:
    """Guard the compiled function by the item of a dictionary or list."""
    if type(container) in (dict, list):
        fc.unit.guards[id(container), key] = container, key, found


@visits_expression(ast.Constant)
def constant_node(fc: FunctionContext, node: ast.Constant) -> Value:
    return constant(fc, node.value, node)
