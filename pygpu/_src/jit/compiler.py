"""Compiles a Python function for given types to the source of a device function, with a cache in
memory.

:func:`compile_function` is called by :mod:`vectorize`, :mod:`guvectorize` and :mod:`reduce`.
"""

from __future__ import annotations

import ast
import threading
import weakref
from collections.abc import Iterator, Sequence
from types import CellType
from typing import Any

import numpy as np

from pygpu._src.util.frozen import Frozen

from . import emit
from . import source as sources
from .infer import Active, Function, infer, set_literals
from .source import KernelError, python_function
from .types import (
    VOID,
    OptionalType,
    Scalar,
    Type,
    as_type,
    flat_tuples,
    flat_types,
    numpy_dtype,
)
from .walk.context import FunctionContext
from .walk.registry import RARE

RARE.extend((f"{__package__}.calls.array_methods", f"{__package__}.calls.special"))
_lock = threading.RLock()
_MISSING: Any = object()
_sources: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_compiled: weakref.WeakKeyDictionary[Any, dict[Any, CompiledFunction]] = weakref.WeakKeyDictionary()


class CompiledFunction(Frozen):
    """A device function in the common language of :mod:`pygpu._src.codegen.dialect`.

    name: of the C function. text: the function and everything that it calls, without the dialect's
    prefix. arg_types, result: types of :mod:`types`. return_types: the dtypes of the returned
    values, () for none; a single one is the C function's value, several are written through
    pointers to private variables of their compute types, which follow the arguments. features: for
    Dialect.prefix. implicit: the names of the last parameters, see compile_function. asserts: the
    message for each number that a failed assertion stores in *pg_error.
    """

    name: str
    text: str
    arg_types: tuple[Type, ...]
    result: Type
    return_types: tuple[np.dtype[Any], ...]
    features: frozenset[str]
    implicit: tuple[str, ...]
    asserts: dict[int, Any]
    guards: tuple[tuple[Any, Any, Any], ...]

    @property
    def preamble(self) -> str:
        """Return the text: it must precede a kernel that calls the function."""
        return self.text

    def call(self, *args: str) -> str:
        """Return the text of a call; args: for all C parameters."""
        return f"{self.name}({', '.join(args)})"


def source_of(function: Any, text: str | None = None) -> Any:
    """Return the function's Source, read once."""
    found = _sources.get(function)
    if found is None:
        found = _sources.setdefault(function, sources.get(function, text))
    return found


def device_function(
    unit: emit.Unit,
    function: Any,
    arg_types: Sequence[Type],
    src: str | None = None,
    literals: Sequence[tuple[Any, ...]] = (),
    given: Sequence[Any] = (),
) -> Function:
    """Add a function to a unit, under its types. literals: for each parameter the integers that it
    is known to be, () if unknown; without them the function is compiled for all numbers. given:
    the ranges of the arguments, see KnownRanges.ranges_of, if indices are checked."""
    key = (function, tuple(arg_types), *literals, *given)
    source = source_of(function, src)
    fc = FunctionContext(unit, source, arg_types, given_ranges=given)
    active = fc.active = Active(fc, key, len(unit.stack))
    unit.stack.append(function)
    unit.active.append(active)
    try:
        set_literals(fc, literals)
        lines, result = infer(fc)
    finally:
        unit.stack.pop()
        unit.active.pop()
    name = active.name
    declared: list[str] = []
    for t, c in zip(arg_types, fc.vars.parameter_names()):
        declared += emit.parameters(t, c)
    declared += [unit.implicit[n][0] for n in fc.implicit]
    kind = "void"
    if isinstance(result, Scalar):
        kind = emit.c_type(result)
    elif result != VOID:
        for i, t in enumerate(flat_types(result)):
            declared += emit.results(t, f"r_{i}")
    body = "\n".join(lines)
    head = f"{kind} {name}({', '.join(declared) or 'void'})"
    recursive = active.is_recursive or active.lowest < active.depth
    if recursive:
        unit.prototypes[name] = f"PG_FUNCTION {head};\n"
    unit.definitions[name] = (
        f"{'PG_FUNCTION' if recursive else 'PG_INLINE'} {head}\n{{\n{body}\n}}\n"
    )
    made = Function(name, result, tuple(fc.implicit))
    if active.lowest == active.depth:
        unit.functions[key] = made
    elif unit.active:  # it calls an enclosing function, whose result type may still change
        unit.active[-1].lowest = min(unit.active[-1].lowest, active.lowest)
    return made


def make_unit(dialect: str, fp64: bool, prefix: str, int64_atomics: bool = True) -> emit.Unit:
    """Make a unit whose functions may call everything that kernels can."""
    # Importing these modules registers the functions that can be called.
    from .calls import (  # noqa: F401
        builtins,
        dates,
        external,
        mathematics,
        numpy_functions,
    )

    unit = emit.Unit(dialect, fp64, prefix, int64_atomics)
    unit.device_function = device_function
    unit.refuses = dates.refused
    return unit


def guards_hold(guards: Sequence[tuple[Any, Any, Any]]) -> bool:
    """Whether what functions name from outside still is the same: the item of a dictionary or
    list, the attribute of a class or object, or the value of a closure's cell."""
    for namespace, name, value in guards:
        try:
            if type(namespace) is dict:
                now = namespace.get(name, _MISSING)
            elif type(namespace) is CellType:
                now = namespace.cell_contents
            elif type(namespace) is list:
                now = namespace[name]
            else:
                now = getattr(namespace, name)
        except (AttributeError, IndexError, ValueError):
            return False
        if now is not value:
            return False
    return True


def _check_alone(function: Any, unit: emit.Unit, result: Type) -> None:
    """Raise KernelError for operations that a function compiled without a kernel does not
    support."""
    name, source = function.__name__, source_of(function)
    if unit.external:
        raise source.error(f"{name} calls a function in CUDA C, which only kernels can")
    if any(isinstance(t, OptionalType) for t in flat_tuples(result)):
        raise _no_value(name, source)
    if not all(isinstance(t, Scalar) for t in flat_types(result) if t != VOID):
        raise source.error(f"{result} cannot be returned to the host")


def _no_value(name: str, source: Any) -> KernelError:
    """Return the error for a function that returns a value on some paths only, at the place where
    it returns None."""
    returns = [node for node in _nodes_of_body(source.node) if isinstance(node, ast.Return)]
    for node in returns:
        if node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            found: KernelError = source.error(
                f"{name} returns None here, and a value on other paths; return a number for each "
                "item, such as nan",
                node,
            )
            return found
    found = source.error(
        f"{name} may end without return, which gives None, after its last line; add a return at "
        "its end, for the paths on which no other one is reached",
        source.node.body[-1] if isinstance(source.node.body, list) else source.node,
    )
    return found


def _nodes_of_body(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.Lambda)):
            yield child
            yield from _nodes_of_body(child)


def compile_function(
    func: Any,
    arg_types: Sequence[Any],
    dialect: Any = "cuda",
    *,
    prefix: str = "pgf",
    src: str | None = None,
    check: bool = False,
) -> CompiledFunction:
    """Compile a Python function to a device function for these argument types.

    func: a function, or the result of pygpu.jit. arg_types: for each parameter a type that
    :func:`types.as_type` accepts: a NumPy dtype for a strong number, bool, int, float or complex
    for a Python number, an ArrayType, a tuple of types. dialect: a Backend, a Dialect, or "opencl"
    or "cuda". prefix: the start of the C name, so that one source can contain two functions.
    check: whether indices are checked, see index_checks.py. Raises KernelError, with file, line
    and the marked expression, for unsupported code.

    Results are cached: the same function, values of its outside names, types and dialect return
    the same object.
    """
    function = python_function(func)
    if function is None:
        raise KernelError(f"{func!r} is not a Python function")
    types = tuple(map(as_type, arg_types))
    found = getattr(dialect, "dialect", dialect)
    limits = getattr(found, "limits", None)
    name = getattr(found, "name", found)
    fp64 = True if limits is None else bool(limits.fp64)
    key = (types, name, fp64, prefix, check)
    kernels = _compiled.get(function)
    if kernels is not None:
        made = kernels.get(key)
        if made is not None and guards_hold(made.guards):
            return made
    with _lock:
        unit = make_unit(str(name), fp64, prefix)
        unit.checks, unit.tests = check, None
        inner = device_function(unit, function, types, src or getattr(func, "src", None))
        _check_alone(function, unit, inner.result)
        returned = () if inner.result == VOID else tuple(map(numpy_dtype, flat_types(inner.result)))
        root = unit.definitions.pop(inner.name)
        result = CompiledFunction(
            inner.name,
            unit.text(root),
            types,
            inner.result,
            returned,
            frozenset(unit.features),
            inner.implicit,
            {number: text for text, number in unit.asserts.items()},
            tuple(unit.guards.values()),
        )
        _compiled.setdefault(function, {})[key] = result
    return result
