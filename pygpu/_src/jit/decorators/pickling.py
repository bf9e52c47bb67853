"""Pickling of kernels, device functions and ufuncs.

Like functions, they are pickled by name. cloudpickle, with which Dask and others send functions to
other processes, pickles a function by value if its name cannot be imported there: if it was
defined in another function, or in the main program. With cloudpickle, decorated functions behave
the same: the function is pickled with the options and with its source, which the other process may
not have.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import types
from typing import Any

from ..compiler import source_of
from ..source import KernelError, python_function

_registered: set[type] = set()


def register_with_cloudpickle(obj: Any) -> None:
    """Register the class of an object with cloudpickle, if it is loaded."""
    cls = type(obj)
    if cls in _registered:
        return
    module = sys.modules.get("cloudpickle")
    table = getattr(getattr(module, "Pickler", None), "dispatch_table", None)
    if table is not None:
        table[cls] = _reduce_for_cloudpickle
        _registered.add(cls)


def reduce_by_name(obj: Any) -> Any:
    """Implement ``__reduce__``: return the name, or for a local function the data to make it. The
    standard library's pickle cannot write a local function, so it is given cloudpickle's bytes, if
    that is installed."""
    register_with_cloudpickle(obj)
    name = obj.py_func.__qualname__
    if "<locals>" not in name:
        return name
    try:
        import cloudpickle  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        return _by_value(obj)
    register_with_cloudpickle(obj)
    if type(obj) not in _registered:
        return _by_value(obj)
    return cloudpickle.loads, (cloudpickle.dumps(obj),)


def _reduce_for_cloudpickle(obj: Any) -> Any:
    """The same for cloudpickle."""
    name = obj.py_func.__qualname__
    module = obj.py_func.__module__
    found: Any = None if module == "__main__" else sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is obj else _by_value(obj)


def _by_value(obj: Any) -> Any:
    # First an empty object: the function may refer to it.
    return _empty, (type(obj),), _state(obj), None, None, _restore


def _empty(cls: Any) -> Any:
    return cls.__new__(cls)


def _state(obj: Any) -> tuple[Any, ...]:
    texts: dict[types.FunctionType, str] = {}
    _collect(obj.py_func, texts)
    return obj.py_func, obj._options(), list(texts.items())


def _restore(obj: Any, state: tuple[Any, ...]) -> None:
    function, options, texts = state
    for one, text in texts:
        source_of(one, text)
    obj.__init__(function, **options)


def _collect(function: types.FunctionType, texts: dict[types.FunctionType, str]) -> None:
    """Collect the sources of a function and of the plain functions that it calls, as far as they
    are pickled with it."""
    if function in texts:
        return
    try:
        texts[function] = _text(function)
    except KernelError:  # its caller will raise the error
        return
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    for name in (*function.__code__.co_names, *cells):
        found = function.__globals__.get(name)
        if name in cells:
            try:
                found = cells[name].cell_contents
            except ValueError:
                continue
        plain = found if isinstance(found, types.FunctionType) else None
        if plain is None and type(found) in _registered:
            plain = python_function(found)
        if plain is not None and plain.__module__ == function.__module__:
            _collect(plain, texts)


def _text(function: types.FunctionType) -> str:
    source = source_of(function)
    node = source.node
    if isinstance(node, ast.Lambda):
        return f"({ast.unparse(node)})"
    return textwrap.dedent("\n".join(source.lines[node.lineno - 1 : node.end_lineno])) + "\n"
