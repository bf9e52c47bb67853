"""One function for one set of argument types: inference to a fixed point, and its text.

The walk over the syntax tree computes the type of each expression from those of the variables, and
its text at the same time. Each assignment may widen its variable; the walk is repeated until none
does, and the last text counts. Variables are here, statements in :mod:`statements`, expressions in
:mod:`expressions`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from . import emit
from .ir import Value, wide_enough
from .source import Source
from .statements import Statements, terminates
from .types import VOID, ArrayType, ObjectType, RecordType, Scalar, TupleType, Type, join

__all__ = ["Function", "FunctionCompiler"]

_ROUNDS = 40


class Variable:
    """A local variable: what is known of it so far."""

    __slots__ = ("cname", "nonneg", "type")

    def __init__(self, cname: str) -> None:
        self.cname = cname
        self.type: Type | None = None
        self.nonneg = True


class Function:
    """A compiled function: name in C, types, and the implicit parameters that its callers pass."""

    def __init__(self, name: str, result: Type, implicit: Sequence[str]) -> None:
        self.name = name
        self.result = result
        self.implicit = tuple(implicit)


def c_name(name: str) -> str:
    """A Python name as part of a C name."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):x}" for c in name)


class FunctionCompiler(Statements):
    """Compiles one function. kernel: it is an entry point, whose parameters the caller declares."""

    def __init__(
        self, unit: emit.Unit, source: Source, arg_types: Sequence[Type], kernel: bool = False
    ) -> None:
        self.unit = unit
        unit.widens = unit.widens or source.widens  # also what it calls
        self.source = source
        self.kernel = kernel
        self.vars: dict[str, Variable] = {}
        self.versions: dict[str, list[Variable]] = {}  # of names that were bound anew, see rebind
        self.rebound: dict[int, set[str]] = {}  # those of each block
        self.conflicts: dict[str, str] = {}  # what would be wrong without
        self.result: Type | None = None
        self.literals: dict[str, Value] = {}  # parameters whose numbers are known
        self.used_before: set[str] = set()  # names that are read before, in the text, they are set
        self.implicit: dict[str, None] = {}
        self.given_ranges: Sequence[Any] = ()
        self.wild: set[str] = set()
        node = source.node
        a = node.args
        self.parameters = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        if a.vararg or a.kwarg:
            raise source.error("*args and **kwargs are not supported in kernels", node)
        if len(arg_types) != len(self.parameters):
            raise source.error(
                f"{source.name} takes {len(self.parameters)} arguments, {len(arg_types)} given"
            )
        self.arg_types = tuple(arg_types)
        body: list[Any] = (
            node.body
            if isinstance(node, ast.FunctionDef)
            else [ast.Expr(node.body) if kernel else ast.Return(node.body)]
        )
        if isinstance(node, ast.Lambda):
            ast.copy_location(body[0], node.body)
        self.body: list[ast.stmt] = body
        self.stores = self._count_stores(body)
        for name, t in zip(self.parameters, self.arg_types):
            v = self.vars[name] = Variable(f"v_{c_name(name)}")
            v.type = t
            v.nonneg = isinstance(t, Scalar) and t.dtype.kind in "bu"

    def set_literals(self, literals: Sequence[tuple[Any, ...]]) -> None:
        """What parameters are known to be, see compiler.device_function."""
        for name, t, known in zip(self.parameters, self.arg_types, literals):
            if known and name not in self.stores:
                self.literals[name] = self._literal(t, iter(known))

    def _literal(self, t: Type, known: Iterator[Any]) -> Value:
        if isinstance(t, TupleType):
            return Value(t, items=[self._literal(item, known) for item in t.items])
        return self.constant(next(known), self.source.node)

    # ---- the whole

    def compile(self) -> tuple[list[str], Type]:
        """The lines of the body with the declarations, and the type of the result."""
        try:
            return self._compile()
        except RecursionError:
            raise self.source.error("what it does is nested too deeply; use variables") from None

    def _compile(self) -> tuple[list[str], Type]:
        for _ in range(_ROUNDS):
            self.changed = False
            self.pending: Any = None
            self.begin_walk()
            self.begin_ranges()
            self.const_locals.update(self.literals)
            self.implicit = {}
            self.versions_used: dict[str, int] = {}
            self.replaced: list[dict[str, Variable]] = []  # in each block that is open
            self.block(self.body)
            if not terminates(self.body):
                if self.result not in (None, VOID):
                    raise self.source.error(
                        f"{self.source.name} returns {self.result} in one place, and may end "
                        "without return, which gives None; add a return at its end"
                    )
            if not self.changed:
                break
        else:
            raise self.source.error("the types of the variables do not settle")
        if self.pending is not None:
            raise self.pending
        result = self.result or VOID
        return [*self._declarations(), *self.lines], result

    def _declarations(self) -> list[str]:
        lines = []
        for versions in self.versions.values():
            for v in versions:
                if v.type is not None:
                    lines += self._declare(v.type, v.cname)
        for name, v in self.vars.items():
            if v.type is None or isinstance(v.type, ObjectType) or name in self.const_locals:
                continue
            if name in self.parameters:
                t = self.arg_types[self.parameters.index(name)]
                if name not in self.stores:
                    continue
                parameter = self._variable_value(t, f"p_{v.cname}")
                lines += self._declare(v.type, v.cname)
                lines += self._store_variable(v.type, v.cname, parameter)
            else:
                lines += self._declare(v.type, v.cname)
        for name, kind, size in self.temps:
            lines.append(f"PG_UNUSED {kind}{name}{size};")
        return [f"    {line}" for line in lines]

    def parameter_names(self) -> list[str]:
        """The C names of the parameters: one that is assigned to has a variable beside it."""
        return [
            f"p_{self.vars[n].cname}" if n in self.stores else self.vars[n].cname
            for n in self.parameters
        ]

    def _declare(self, t: Type, name: str) -> list[str]:
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
            lines += self._declare(item, f"{name}_{i}")
        return lines

    @staticmethod
    def _count_stores(body: list[ast.stmt]) -> dict[str, int]:
        found: dict[str, int] = {}
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                    found[node.id] = found.get(node.id, 0) + 1
                if isinstance(node, (ast.For, ast.AugAssign)):
                    for target in ast.walk(node.target):  # assigned many times
                        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                            found[target.id] = found.get(target.id, 0) + 2
        return found

    # ---- variables

    def _variable_value(self, t: Type, name: str, nonneg: bool = False) -> Value:
        """The value of a C variable of this type."""
        if isinstance(t, Scalar):
            return Value(t, name, nonneg=nonneg or t.dtype.kind in "bu")
        if isinstance(t, ArrayType):
            shape = [f"{name}_n{i}" for i in range(t.ndim)]
            strides = None if t.contiguous else [f"{name}_s{i}" for i in range(t.ndim)]
            return Value(t, name, shape=shape, strides=strides)
        if isinstance(t, TupleType):
            items = [
                self._variable_value(item, f"{name}_{i}", nonneg) for i, item in enumerate(t.items)
            ]
            return Value(t, items=items)
        if isinstance(t, ObjectType):
            return Value(t, const=t.value)
        return Value(t, name) if isinstance(t, RecordType) else Value(t)

    def _store_variable(self, t: Type, name: str, value: Value) -> list[str]:
        """Statements that set a C variable of type *t*."""
        if isinstance(t, Scalar):
            text = emit.convert(value, t)
            return [] if text == name else [f"{name} = {text};"]
        if isinstance(t, RecordType):
            return [f"{name} = {value.text};"]
        if isinstance(t, ArrayType):
            lines = [f"{name} = {value.text};"]
            lines += [f"{name}_n{i} = {n};" for i, n in enumerate(value.shape)]
            if not t.contiguous:
                strides = emit.strides_of(value)
                lines += [f"{name}_s{i} = {s};" for i, s in enumerate(strides)]
            return lines
        lines = []
        for i, (item, part) in enumerate(zip(getattr(t, "items", ()), value.items)):
            lines += self._store_variable(item, f"{name}_{i}", part)
        return lines

    def assign_name(self, name: str, value: Value, node: ast.AST) -> None:
        """``name = value``."""
        if value.type == VOID:
            raise self.source.error(f"{name} would be None: the function returns nothing", node)
        self.assigned.add(name)
        v = self.vars.get(name)
        if v is None:
            v = self.vars[name] = Variable(f"v_{c_name(name)}")
        if (
            self.stores.get(name) == 1
            and name not in self.parameters
            and (_is_known(value) and (name not in self.used_before or value.is_object))
        ):
            if v.type != value.type:
                self.changed = self.changed or v.type is None
                v.type = value.type
            self.const_locals[name] = value
            return
        if self.stores.get(name) == 1 and name not in self.parameters and _is_place(value):
            v.type = value.type  # memory of the kernel's own: the name is another one for it
            if name not in self.used_before:
                self.const_locals[name] = value
                return
        if value.is_object:
            what = value.const
            raise self.source.error(f"{what!r} cannot be kept in a variable that changes", node)
        new = value.type if v.type is None else join(v.type, value.type)
        if new is None:
            self.conflicts[name] = f"{name} was {v.type} before, and would become {value.type}"
            v = self.rebind(name)
            new = value.type if v.type is None else join(v.type, value.type)
        if new is None:
            raise self.source.error(
                f"{name} was {v.type} before, and would become {value.type}: a variable has one "
                "type",
                node,
            )
        if isinstance(new, Scalar):
            new = wide_enough(new, value)
        self.unknown.discard(name)
        nonneg = v.nonneg and value.nonneg
        if new != v.type or nonneg != v.nonneg:
            self.changed = True
            v.type, v.nonneg = new, nonneg
        for line in self._ordered(self._store_variable(new, v.cname, value), v.cname, value):
            self.emit(line)
        self.note(v.cname, new, value)

    def rebind(self, name: str) -> Variable:
        """Another variable of the same name, from here to the end of the block: what is assigned is
        of a type that its variable does not take."""
        number = self.versions_used.get(name, 0)
        self.versions_used[name] = number + 1
        known = self.versions.setdefault(name, [])
        if number == len(known):
            known.append(Variable(f"v_{c_name(name)}__{number + 1}"))
            self.changed = True
        self.replaced[-1].setdefault(name, self.vars[name])
        self.vars[name] = known[number]
        return known[number]

    def _ordered(self, lines: list[str], name: str, value: Value) -> list[str]:
        """Several assignments, through temporary variables if a later one reads what an earlier one
        set: ``a = a[1:]``."""
        if len(lines) < 2 or not any(name in line.partition(" = ")[2] for line in lines):
            return lines
        first, second = [], []
        for line in lines:
            target, _, text = line.partition(" = ")
            kind = "pg_i64 "
            if isinstance(value.type, ArrayType) and target == name:
                kind = emit.pointer_type(value.type)
            if isinstance(value.type, TupleType):
                return lines  # parted before, see assign_tuple
            temp = self.temp(kind)
            first.append(f"{temp} = {text}")
            second.append(f"{target} = {temp};")
        return first + second

    def keep(self, value: Value) -> Value:
        """The value, computed now: a copy in temporary variables, unless it cannot change."""
        if isinstance(value.type, TupleType):
            return Value(value.type, items=[self.keep(item) for item in value.items])
        if value.is_record:
            temp = self.temp(emit.pointer_type(value.type))  # type: ignore[arg-type]
            self.emit(f"{temp} = {value.text};")
            return Value(value.type, temp)
        if value.is_const or not (value.is_scalar or value.is_array):
            return value
        if value.is_scalar:
            temp = self.temp(f"{emit.c_type(value.type)} ")  # type: ignore[arg-type]
            self.emit(f"{temp} = {value.text};")
            return self.copied(Value(value.type, temp, nonneg=value.nonneg), value)
        kept = self._variable_value(value.type, self.temp_array(value.type))
        for line in self._store_variable(value.type, kept.text, value):
            self.emit(line)
        self.note(kept.text, value.type, value)
        return kept

    def temp_array(self, t: Any) -> str:
        name = self.temp(emit.pointer_type(t))
        self.temps += [(f"{name}_n{i}", "pg_i64 ", "") for i in range(t.ndim)]
        if not t.contiguous:
            self.temps += [(f"{name}_s{i}", "pg_i64 ", "") for i in range(t.ndim)]
        return name


def _is_known(value: Value) -> bool:
    """Whether a value exists while compiling."""
    if value.is_tuple:
        return all(map(_is_known, value.items))
    return value.is_const


def _is_place(value: Value) -> bool:
    """Whether it is an array of constant shape that is declared by its name."""
    return (
        value.is_array
        and value.strides is None
        and value.text.isidentifier()
        and all(n.isdigit() for n in value.shape)
    )
