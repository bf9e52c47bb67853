"""One function for one set of argument types: inference to a fixed point, and its C source.

The walk over the syntax tree computes the type of each expression from those of the variables, and
its C source at the same time. Each assignment may widen its variable; the walk is repeated until
none does, and the last source counts. :mod:`pygpu._src.jit.walk` handles each kind of node.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from . import emit
from .ir import Value
from .source import KernelError
from .types import VOID, ArrayType, ObjectType, RecordType, Scalar, TupleType, Type
from .walk import (  # noqa: F401 - they register what they do for nodes
    assignment,
    attributes,
    calls,
    comparisons,
    conditionals,
    indexing,
    inner_functions,
    names,
    operators,
    sequences,
    unsupported,
)
from .walk.constants import constant
from .walk.context import FunctionContext
from .walk.names import UnboundName
from .walk.statements import block, return_value, terminates
from .walk.variables import Split, variable_value

_ROUNDS = 40


class Function:
    """A compiled function: name in C, types, and the implicit parameters that its callers pass."""

    def __init__(self, name: str, result: Type, implicit: Sequence[str]) -> None:
        self.name = name
        self.result = result
        self.implicit = tuple(implicit)


class Active(Function):
    """A function that is being compiled, as seen by recursive calls. key: its types; depth: how
    many are being compiled around it."""

    def __init__(self, fc: FunctionContext, key: Any, depth: int) -> None:
        self.fc = fc
        self.key = key
        self.depth = depth
        self.lowest = depth  # the outermost of the enclosing functions that it calls
        self.is_recursive = False
        self.implicit = ()
        self._name = ""

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its name in C, chosen at first use."""
        if not self._name:
            self._name = self.fc.unit.function_name(self.fc.source.name, self.key[1])
        return self._name

    @property
    def result(self) -> Any:  # type: ignore[override]
        """The result type as far as it is known, else None."""
        if self.fc.result is None and not returns_a_value(self.fc.body):
            return VOID
        return self.fc.result

    def needs_more(self, fc: FunctionContext) -> bool:
        """Whether the finished walk found parameters that recursive calls did not pass."""
        before, self.implicit = self.implicit, tuple(fc.implicit)
        return self.is_recursive and before != self.implicit


def returns_a_value(body: Sequence[ast.stmt]) -> bool:
    """Whether there is a return with an expression."""
    return any(
        isinstance(node, ast.Return) and node.value is not None
        for statement in body
        for node in ast.walk(statement)
    )


def set_literals(fc: FunctionContext, literals: Sequence[tuple[Any, ...]]) -> None:
    """Set the parameters whose values are known, see compiler.device_function."""
    for name, t, known in zip(fc.vars.parameters, fc.vars.arg_types, literals):
        if known and name not in fc.vars.stores:
            fc.vars.literals[name] = _literal(fc, t, iter(known))


def _literal(fc: FunctionContext, t: Type, known: Iterator[Any]) -> Value:
    if isinstance(t, TupleType):
        return Value(t, items=[_literal(fc, item, known) for item in t.items])
    return constant(fc, next(known), fc.source.node)


def infer(fc: FunctionContext) -> tuple[list[str], Type]:
    """Return the lines of the body with the declarations, and the type of the result."""
    try:
        return _infer(fc)
    except RecursionError:
        raise fc.source.error("its expressions are nested too deeply; use variables") from None
    except KernelError as error:
        # The message shows the place in the user's function; the compiler's own frames hide it.
        error.__traceback__ = None
        raise


def _infer(fc: FunctionContext) -> tuple[list[str], Type]:
    for _ in range(_ROUNDS):
        fc.begin_walk()
        try:
            block(fc, fc.body)
        except Split:
            fc.vars.analyse()
            continue
        if fc.result not in (None, VOID) and not terminates(fc.body):
            return_value(fc, Value(VOID), fc.source.node)
        if fc.active is not None and fc.active.needs_more(fc):
            continue
        if not (fc.changed or fc.vars.is_outdated):
            break
    else:
        if fc.active is not None and fc.active.is_recursive:
            raise fc.source.error("Return type of recursive function does not converge")
        raise fc.source.error(
            "type inference does not converge; assign each variable values of one type"
        )
    if fc.pending is not None:
        if fc.waits_for is None or fc.waits_for is fc.active:
            raise fc.pending
        fc.waits_for.fc.changed = True  # that function's walk will compile this one again
        if fc.result is None:
            raise UnboundName(fc.pending, fc.waits_for)
    return [*_declarations(fc), *fc.lines], fc.result or VOID


def _declarations(fc: FunctionContext) -> list[str]:
    """Return the variables of a function, and the initial values of parameters to which it
    assigns."""
    lines = []
    for name, v in fc.vars.by_key.items():
        if v.type is None or isinstance(v.type, ObjectType):
            continue
        if name in fc.vars.const_locals or name in fc.vars.left:
            continue
        if name not in fc.vars.parameters:
            lines += _declare(v.type, v.cname)
        elif name in fc.vars.stores:
            t = fc.vars.arg_types[fc.vars.parameters.index(name)]
            lines += _declare(v.type, v.cname)
            lines += fc.store_variable(v.type, v.cname, variable_value(t, f"p_{v.cname}"))
    for name, kind, size in fc.temps:
        lines.append(f"PG_UNUSED {kind}{name}{size};")
    return [f"    {line}" for line in lines]


def _declare(t: Type, name: str) -> list[str]:
    if isinstance(t, Scalar):
        zero = "" if t.dtype.kind == "c" else " = 0"
        return [f"PG_UNUSED {emit.c_type(t)} {name}{zero};"]
    if isinstance(t, RecordType):
        return [f"PG_UNUSED {emit.pointer_type(t)}{name} = 0;"]
    if isinstance(t, ArrayType):
        lines = [f"PG_UNUSED {emit.pointer_type(t)}{name} = 0;"]
        lines += [f"PG_UNUSED pg_i64 {name}_n{i} = 0;" for i in range(t.ndim)]
        if not t.contiguous:
            lines += [f"PG_UNUSED pg_i64 {name}_s{i} = 0;" for i in range(t.ndim)]
        return lines
    lines = []
    for i, item in enumerate(getattr(t, "items", ())):
        lines += _declare(item, f"{name}_{i}")
    return lines
