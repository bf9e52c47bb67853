"""Device arrays that a function names but does not get as arguments: globals, closures,
attributes.

Each becomes a pointer parameter of the kernel, so its items are read when the kernel runs. Their
shapes and strides are constants in the compiled source.
"""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

from pygpu._array import GPUArray
from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value
from ..types import ArrayType
from .context import FunctionContext
from .items import moved


def is_device_array(obj: Any, dialect: str) -> bool:
    """Whether kernels of this dialect can read the object's items in place."""
    if isinstance(obj, GPUArray):
        return True
    if dialect != "cuda" or isinstance(obj, (type, ModuleType)):
        return False
    name = "__cuda_array_interface__"  # not by hasattr: modules and tables respond to any name
    return hasattr(type(obj), name) or name in getattr(obj, "__dict__", ())


def captured_array(fc: FunctionContext, obj: Any, node: ast.AST) -> Value:
    """Return the value of a device array that is known when the function is compiled."""
    captured = fc.unit.captured
    if captured is None:
        raise fc.source.error(
            "an array on a device cannot be a name from outside in this kind of function; pass it "
            "as an argument",
            node,
        )
    number = next((i for i, (known, _) in enumerate(captured) if known is obj), len(captured))
    if number == len(captured):
        captured.append((obj, obj if isinstance(obj, GPUArray) else _viewed(obj)))
    array: Any = captured[number][1]
    if not (dtypes.computes(array.dtype) or array.dtype.names):
        raise fc.source.error(f"arrays of {array.dtype} are not supported in kernels", node)
    if not array._is_aligned:
        raise fc.source.error(
            "the items of this array are not aligned; make a copy of the array", node
        )
    fc.need_dtype(array.dtype, node)
    name = f"pg_captured_{number}"
    t = ArrayType(array.dtype, array.ndim, bool(array._c_contiguous))
    fc.need_implicit(name, f"{emit.pointer_type(t)}{name}", "")
    text = moved(t, name, str(array.offset)) if array.offset else name
    strides = None if t.contiguous else [f"({n})" for n in array.strides]
    return Value(t, text, shape=[str(n) for n in array.shape], strides=strides)


def _viewed(obj: Any) -> Any:
    """Make an array on the memory of another library's array."""
    from pygpu._src.array import foreign_memory

    from ..decorators.arguments import view_of

    call = f"the __cuda_array_interface__ of a {type(obj).__name__}"
    shown = foreign_memory.read(obj.__cuda_array_interface__, call)
    foreign_memory.check_current(call, shown)
    return view_of(shown, obj)
