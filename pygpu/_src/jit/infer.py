"""One function for one set of argument types: inference to a fixed point, and its text.

The walk over the syntax tree computes the type of each expression from those of the variables, and
its text at the same time. Each assignment may widen its variable; the walk is repeated until none
does, and the last text counts. Variables are here, statements in :mod:`statements`, expressions in
:mod:`expressions`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from . import emit
from .ir import Value, wide_enough
from .source import Source
from .types import VOID, ArrayType, ObjectType, RecordType, Scalar, TupleType, Type, join
from .walk.reaching_definitions import Reaching
from .walk.statements import Statements, terminates

__all__ = ["Function", "FunctionCompiler"]

_ROUNDS = 40
_PART = re.compile(r"_(\d+|[ns]\d+|re|im|x)$")


class _Split(Exception):
    """A name has several variables now: the walk begins anew."""


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
    """A Python name as part of a C name, another one for each name."""
    if name.isascii() and name.isidentifier():
        return name
    plain = (c.isascii() and (c.isalnum() or c == "_") and c != "u" for c in name)
    return "".join(c if kept else f"u{ord(c):x}_" for c, kept in zip(name, plain))


def variable_name(name: str) -> str:
    """The C name of a variable; those of its parts are longer by what a name cannot end with."""
    name = c_name(name)
    return f"v_{name}_x" if _PART.search(name) else f"v_{name}"


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
        self.split: set[str] = set()  # names of several variables, see key_of
        self.reaching: Reaching | None = None
        self.decided: dict[int, bool] = {}  # tests of if and while that are known
        self.result: Type | None = None
        self.literals: dict[str, Value] = {}  # parameters whose numbers are known
        self.may_be_unset: set[str] = set()  # variables that are read where nothing may be assigned
        self.ordered: set[int] = set()  # statements whose parts must be done in order
        self.pointers: set[str] = set()  # variables that may point into an array of its own
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
        self.has_walrus = False
        self.stores = self._count_stores(body)
        for name, t in zip(self.parameters, self.arg_types):
            self._add_parameter(name, t)

    def _add_parameter(self, name: str, t: Type) -> None:
        v = self.vars[name] = Variable(variable_name(name))
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
            if self.reaching is not None and self.reaching.decided != self.decided:
                self._analyse()
            self.decided = {}
            self.begin_walk()
            self.begin_ranges()
            self.const_locals.update(self.literals)
            self.implicit = {}
            try:
                self.block(self.body)
            except _Split:
                self._analyse()
                continue
            if not terminates(self.body):
                if self.result not in (None, VOID):
                    raise self.source.error(
                        f"{self.source.name} returns {self.result} in one place, and may end "
                        "without return, which gives None; add a return at its end"
                    )
            if self.reaching is not None and self.reaching.decided != self.decided:
                self.changed = True  # it was of other tests
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
        for name, v in self.vars.items():
            if v.type is None or isinstance(v.type, ObjectType):
                continue
            if name in self.const_locals or name in self.left:
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

    def _count_stores(self, body: list[ast.stmt]) -> dict[str, int]:
        found: dict[str, int] = {}
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, ast.NamedExpr):
                    self.has_walrus = True
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
        if isinstance(t, (ArrayType, RecordType)):
            if self.is_own(t, value.text):
                self.points_to_own(name)
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
            lines += self._store_variable(item, f"{name}_{i}", part)
        return lines

    def _analyse(self) -> Reaching:
        made = self.reaching = Reaching(self.body, self.parameters, dict(self.decided))
        for name in self.split:  # they are other variables now
            for key in [key for key in self.vars if key.partition("#")[0] == name]:
                self._forget(key)
        return made

    def _forget(self, key: str) -> None:
        """What is known of a variable's type."""
        self.vars.pop(key, None)
        self.may_be_unset.discard(key)
        if key in self.parameters:
            self._add_parameter(key, self.arg_types[self.parameters.index(key)])

    def key_of(self, node: ast.Name, stored: bool = False) -> str:
        """The variable that a name means here, in vars: the name itself, unless its assignments
        have types with nothing in common. Then those that a use has in common are one variable."""
        if node.id not in self.split:
            return node.id
        return (self.reaching or self._analyse()).key(node, stored)

    def is_single(self, key: str) -> bool:
        """Whether a variable is assigned at one place, once."""
        if "#" in key:
            return (self.reaching or self._analyse()).stores(key) == 1
        return self.stores.get(key) == 1 and key not in self.parameters

    def is_set(self, node: ast.Name) -> bool:
        """Whether this use of a name is reached on ways only that assign to it."""
        return not (self.reaching or self._analyse()).may_be_unset(node)

    def is_own(self, t: Any, text: str) -> bool:
        """Whether a pointer may be to an array that the function makes (local.array)."""
        if t.space != "private":
            return False
        own = {name for name, _, size in self.temps if size}
        return any(
            word in own or word in self.pointers or word in self.temp_pointers
            for word in emit.WORD.findall(text)
        )

    def points_to_own(self, name: str) -> None:
        """Note that a C variable may point into an array of the function's own."""
        if name.startswith("t_"):
            self.temp_pointers.add(name)
        elif name not in self.pointers:
            self.pointers.add(name)
            self.changed = True  # it may have been read before, in a loop

    def is_never_set(self, node: ast.Name) -> bool:
        """Whether what assigns to the name is never done before this use."""
        return (self.reaching or self._analyse()).is_never_set(node)

    def assign_name(self, target: ast.Name, value: Value) -> None:
        """``name = value``."""
        name = target.id
        if value.type == VOID:
            raise self.source.error(f"{name} would be None: the function returns nothing", target)
        key = self.key_of(target, stored=True)
        self.assigned.add(key)
        v = self.vars.get(key)
        if v is None:
            number = key.partition("#")[2]
            v = self.vars[key] = Variable(f"w{number}" + variable_name(name)[1:])
            if not number:
                v.cname = variable_name(name)
        if self.is_single(key) and self._is_alias(key, v, value):
            self.const_locals[key] = value
            return
        if value.is_object:
            self._split(name)
            raise self.source.error(
                f"{value.const!r} cannot be kept in a variable that changes", target
            )
        new = value.type if v.type is None else join(v.type, value.type)
        if new is None:
            self._split(name)
            raise self.source.error(
                f"{name} was {v.type} before, and would become {value.type}: a variable has one "
                "type; use two names",
                target,
            )
        if isinstance(new, Scalar):
            new = wide_enough(new, value)
        nonneg = v.nonneg and value.nonneg
        if new != v.type or nonneg != v.nonneg:
            self.changed = True
            v.type, v.nonneg = new, nonneg
        for line in self._ordered(self._store_variable(new, v.cname, value), v.cname, value):
            self.emit(line)
        self.note(v.cname, new, value)

    def _is_alias(self, key: str, v: Variable, value: Value) -> bool:
        """Whether a name that is assigned once needs no variable: its value exists while
        compiling, or it is memory of the kernel's own. It has that value in the block of the
        assignment, and what uses it elsewhere looks whether it may not be set."""
        place = _is_place(value)
        if not (place or _is_known(value)):
            return False
        if v.type != value.type:
            self.changed = self.changed or v.type is None
            v.type = value.type
        return key not in self.may_be_unset

    def _split(self, name: str) -> None:
        """Give the name several variables, as what is assigned does not fit the one that it has; if
        it has several, by the tests that are known by now."""
        decided = {} if self.reaching is None else self.reaching.decided
        if name not in self.split or not self.decided.items() <= decided.items():
            self.split.add(name)
            raise _Split

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
            for line in self._store_variable(value.type, temp, value):
                self.emit(line)
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
