"""The state of the compilation of one function, which is passed to all visitors and handlers."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.util.wording import counted

from .. import emit
from ..ir import Value
from ..source import KernelError, Source
from ..types import ArrayType, OptionalType, RecordType, Scalar, TupleType, Type
from .known_ranges import KnownRanges
from .optional import as_optional, unwrapped
from .registry import EXPRESSIONS
from .variables import Split, Variables, variable_value


class FunctionContext:
    """One function while it is compiled for one set of argument types.

    unit: what is compiled together, and the device's abilities. source: the function's syntax
    tree, which makes the errors that show a place in it. kernel: whether it is an entry point,
    whose parameters the caller declares. vars: its variables. ranges: what is known of its
    integers. result: the result type, as far as it is known. implicit: the names of what it needs
    from its kernel.

    These persist between walks over the function; the state of a single walk is in
    :meth:`begin_walk`.
    """

    def __init__(
        self,
        unit: emit.Unit,
        source: Source,
        arg_types: Sequence[Type],
        kernel: bool = False,
        given_ranges: Sequence[Any] = (),
    ) -> None:
        self.unit = unit
        unit.widens = unit.widens or source.widens  # also in the functions that it calls
        self.source = source
        self.kernel = kernel
        self.body = _body(source, kernel)
        parameters = _parameters(source)
        if len(arg_types) != len(parameters):
            raise source.error(
                f"{source.name} takes {counted(len(parameters), 'argument')}, "
                f"{len(arg_types)} given"
            )
        rest = source.node.args.vararg
        given = dict(zip(parameters, arg_types))
        if rest and (kernel or not isinstance(given[rest.arg], TupleType)):
            raise source.error(
                "*args are only supported in functions that kernels call", source.node
            )
        self.vars = Variables(parameters, arg_types, self.body)
        self.ranges = KnownRanges(unit, given_ranges)
        self.result: Type | None = None
        self.ordered: set[int] = set()  # statements whose parts must be evaluated in order
        self.as_statements: set[int] = set()  # conditional expressions, see conditionals.py
        self.active: Any = None  # what recursive calls see, see infer.Active
        self.pointers: set[str] = set()  # variables that may point into a private array

    def begin_walk(self) -> None:
        """Drop the source of the last walk."""
        self.changed = False  # whether the walk found facts that the next one must know
        self.pending: KernelError | None = None
        self.waits_for: Any = None  # the function whose result type is pending
        self.vars.begin_walk()
        self.ranges.begin_walk(self.vars.arguments(), self.kernel)
        self.implicit: dict[str, None] = {}
        self.lines: list[str] = []
        self.indent = 1
        self.temps: list[tuple[str, str, str]] = []  # name, C type, "[size]" of an array
        self.temp_pointers: set[str] = set()  # those into a private array
        self.counters = 0
        self.conditional = 0  # inside an expression that may not be evaluated
        self.branches = 0  # inside conditional expressions that are written as statements
        self.flags = [""]  # of the enclosing loops, see statements.py
        self.may_write = False  # whether the last call may modify memory
        self.begin_statement(0)

    def begin_statement(self, statement: int) -> None:
        """statement: its identity in the next walk."""
        self.statement = statement
        self.outermost: ast.IfExp | None = None  # the conditional expression that is visited
        self.accesses = 0  # memory accesses in the expressions of the statement itself
        self.writes = False

    def postpone(self, error: Any) -> None:
        """Record that something is not known yet in this walk. error: an UnboundName."""
        if self.pending is None:
            self.pending, self.waits_for = error.error, error.active

    # ---- expressions

    def expr(self, node: ast.expr) -> Value:
        """Return the value of an expression, by the visitor of its kind."""
        visitor = EXPRESSIONS.get(node.__class__)
        if visitor is None:
            kind = type(node).__name__
            raise self.source.error(f"{kind} is not supported in kernels", node)
        return visitor(self, node)

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression, unwrapped if it may be None."""
        return unwrapped(self.expr(node))

    def number(self, node: ast.expr, what: str = "a number") -> Value:
        """Return the value of an expression that must be a number."""
        return self.as_number(self.expr(node), node, what)

    def as_number(self, value: Value, node: ast.AST, what: str = "a number") -> Value:
        """Return the value if it is a number."""
        value = unwrapped(value)
        if not value.is_scalar:
            hint = ""
            if value.is_array:
                hint = "; arithmetic is on items: a[i]"
            elif value.is_object and isinstance(value.const, str):
                hint = "; strings are only supported in print()"
            raise self.source.error(f"{what} is needed, not {value.type}{hint}", node)
        return value

    def need_dtype(self, dtype: np.dtype[Any], node: ast.AST) -> None:
        """Record that the kernel computes with a dtype. Raises KernelError if the device cannot."""
        self.unit.need(dtype)
        if not self.unit.fp64 and dtypes.needs_fp64(dtype):
            raise self.source.error(
                f"the device has no double precision, and this is {dtype}; convert operands with "
                "numpy.float32()",
                node,
            )

    def need_implicit(self, name: str, parameter: str, local: str) -> None:
        """Record that the function needs something from its kernel."""
        self.unit.implicit[name] = parameter, local
        self.implicit[name] = None

    def statement_only(self, node: ast.AST, what: str) -> None:
        """Handle an expression that needs statements in a place where it may not be evaluated: a
        conditional expression becomes statements in the next walk; others are refused."""
        if self.conditional and self.outermost is not None:
            self.as_statements.add(id(self.outermost))
            raise Split
        if self.conditional:
            raise self.source.error(
                f"{what} inside of a conditional expression, or on the right of and/or, is not "
                "supported; use an if statement",
                node,
            )

    def in_order(self, value: Value, writes: bool = False) -> Value:
        """Handle a value that is read from memory, or computed by a call that may modify it
        (*writes*). C may evaluate the parts of an expression in any order, so if a statement has
        such a call and another part, each gets its own statement."""
        self.accesses += 1
        self.writes = self.writes or writes
        if self.writes and self.accesses > 1 and self.statement not in self.ordered:
            self.ordered.add(self.statement)
            self.changed = True
        if (
            self.statement in self.ordered
            and isinstance(value.type, Scalar)
            and not self.conditional
        ):
            return self.keep(value)
        return value

    # ---- text

    def emit(self, line: str) -> None:
        """Write a statement."""
        self.lines.append("    " * self.indent + line)

    def counter(self) -> str:
        """Return a new name for the counter of a loop."""
        self.counters += 1
        return f"i_{self.counters}"

    def temp(self, kind: str, size: str = "") -> str:
        """Return a new temporary variable of C type *kind*."""
        name = f"t_{len(self.temps) + 1}"
        self.temps.append((name, kind, size))
        return name

    def temp_array(self, t: ArrayType) -> str:
        """Return new temporary variables for an array: the pointer, the shape, the strides."""
        name = self.temp(emit.pointer_type(t))
        self.temps += [(f"{name}_n{i}", "pg_i64 ", "") for i in range(t.ndim)]
        if not t.contiguous:
            self.temps += [(f"{name}_s{i}", "pg_i64 ", "") for i in range(t.ndim)]
        return name

    def stable(self, text: str) -> str:
        """Return a text that is computed once: in a temporary variable unless it is a number."""
        if text.strip("()-").isdigit():
            return text
        temp = self.temp("pg_i64 ")
        self.emit(f"{temp} = {text};")
        return temp

    def keep(self, value: Value) -> Value:
        """Return the value, computed now: a copy in temporary variables, unless it cannot
        change."""
        t = value.type
        if isinstance(t, TupleType):
            return Value(t, items=[self.keep(item) for item in value.items])
        if isinstance(t, RecordType):
            temp = self.temp(emit.pointer_type(t))
            for line in self.store_variable(t, temp, value):
                self.emit(line)
            return Value(t, temp)
        if value.is_const:
            return value
        if isinstance(t, Scalar):
            temp = self.temp(f"{emit.c_type(t)} ")
            self.emit(f"{temp} = {value.text};")
            return self.ranges.copied(Value(t, temp, nonneg=value.nonneg), value)
        if not isinstance(t, ArrayType):
            return value
        kept = variable_value(t, self.temp_array(t))
        for line in self.store_variable(t, kept.text, value):
            self.emit(line)
        # Known lengths stay known.
        kept.shape = [n if n.isdigit() else name for n, name in zip(value.shape, kept.shape)]
        self.note(kept.text, t, value)
        return kept

    def store_variable(self, t: Type, name: str, value: Value) -> list[str]:
        """Return statements that set a C variable of type *t*."""
        if isinstance(t, OptionalType):
            value = as_optional(t, value)
        if isinstance(t, Scalar):
            text = emit.convert(value, t)
            return [] if text == name else [f"{name} = {text};"]
        if isinstance(t, (ArrayType, RecordType)):
            if self.is_private_array(t, value.text):
                self.record_private_pointer(name)
            lines = [f"{name} = {value.text};"]
        if isinstance(t, RecordType):
            return lines
        if isinstance(t, ArrayType):
            lines += [f"{name}_n{i} = {n};" for i, n in enumerate(value.shape)]
            if not t.contiguous:
                strides = emit.strides_of(value)
                lines += [f"{name}_s{i} = {s};" for i, s in enumerate(strides)]
            return lines
        lines = []
        for i, (item, part) in enumerate(zip(getattr(t, "items", ()), value.items)):
            lines += self.store_variable(item, f"{name}_{i}", part)
        return lines

    # ---- known facts about variables

    def note(self, cname: str, t: Type, value: Value) -> None:
        """Record what is known of a variable that was set to a value."""
        if self.unit.checks and self.ranges.note(cname, t, value):
            self.changed = True

    def invalidate_stored(self, node: ast.AST) -> None:
        """Forget the ranges of all variables that a statement assigns: before a loop, whose body
        may run again."""
        if self.unit.checks:
            for cname in self.vars.c_names_stored(node):
                self.ranges.invalidate(cname)

    def is_private_array(self, t: ArrayType | RecordType, text: str) -> bool:
        """Whether a pointer may point to an array that the function makes (local.array)."""
        if t.space != "private":
            return False
        own = {name for name, _, size in self.temps if size}
        return any(
            word in own or word in self.pointers or word in self.temp_pointers
            for word in emit.WORD.findall(text)
        )

    def record_private_pointer(self, name: str) -> None:
        """Record that a C variable may point into a private array of the function."""
        if name.startswith("t_"):
            self.temp_pointers.add(name)
        elif name not in self.pointers:
            self.pointers.add(name)
            self.changed = True  # it may have been read earlier, in a loop


def _parameters(source: Source) -> list[str]:
    a = source.node.args
    if a.kwarg:
        raise source.error("**kwargs are not supported in kernels", source.node)
    rest = [a.vararg] if a.vararg else []
    return [p.arg for p in (*a.posonlyargs, *a.args, *rest, *a.kwonlyargs)]


def _body(source: Source, kernel: bool) -> list[ast.stmt]:
    """Return the statements of a function; for a lambda, the equivalent one."""
    node = source.node
    if isinstance(node, ast.FunctionDef):
        return node.body
    made = ast.Expr(node.body) if kernel else ast.Return(node.body)
    return [ast.copy_location(made, node.body)]
