"""One function for one set of argument types: inference to a fixed point, and its text.

The walk over the syntax tree computes the type of each expression from those of the variables, and
its text at the same time. Each assignment may widen its variable; the walk is repeated until none
does, and the last text counts. Statements are here, expressions in :mod:`expressions`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from . import emit
from .expressions import Expressions, NotYet
from .ir import Value
from .source import Source
from .types import VOID, ArrayType, ObjectType, RecordType, Scalar, TupleType, Type, Void, join

__all__ = ["Function", "FunctionCompiler"]

_ROUNDS = 40
_NOT_SUPPORTED = {
    "Try": "exceptions are not supported; test what could go wrong with if",
    "TryStar": "exceptions are not supported",
    "Raise": "exceptions are not supported; use assert, or a value that tells",
    "With": "with is not supported",
    "ClassDef": "classes are not supported",
    "FunctionDef": "a function inside of a kernel is not supported; define it outside, it is "
    "called by its name",
    "AsyncFunctionDef": "coroutines are not supported",
    "AsyncFor": "coroutines are not supported",
    "AsyncWith": "coroutines are not supported",
    "Import": "import is not supported; import the module outside",
    "ImportFrom": "import is not supported; import the module outside",
    "Global": "global variables cannot be assigned in a kernel",
    "Nonlocal": "variables of the enclosing function cannot be assigned in a kernel",
    "Delete": "del is not supported",
    "Match": "match is not supported; use if",
}


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
    return "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)


class FunctionCompiler(Expressions):
    """Compiles one function. kernel: it is an entry point, whose parameters the caller declares."""

    def __init__(
        self, unit: emit.Unit, source: Source, arg_types: Sequence[Type], kernel: bool = False
    ) -> None:
        self.unit = unit
        self.source = source
        self.kernel = kernel
        self.vars: dict[str, Variable] = {}
        self.result: Type | None = None
        self.used_before: set[str] = set()  # names that are read before, in the text, they are set
        self.implicit: dict[str, None] = {}
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
            node.body if isinstance(node, ast.FunctionDef) else [ast.Return(node.body)]
        )
        if isinstance(node, ast.Lambda):
            ast.copy_location(body[0], node.body)
        self.body: list[ast.stmt] = body
        self.stores = self._count_stores(body)
        for name, t in zip(self.parameters, self.arg_types):
            v = self.vars[name] = Variable(f"v_{c_name(name)}")
            v.type = t
            v.nonneg = isinstance(t, Scalar) and t.dtype.kind in "bu"

    # ---- the whole

    def compile(self) -> tuple[list[str], Type]:
        """The lines of the body with the declarations, and the type of the result."""
        for _ in range(_ROUNDS):
            self.changed = False
            self.pending: Any = None
            self.begin_walk()
            self.implicit = {}
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
            raise self.source.error(
                f"{name} was {v.type} before, and would become {value.type}: a variable has one "
                "type",
                node,
            )
        nonneg = v.nonneg and value.nonneg
        if new != v.type or nonneg != v.nonneg:
            self.changed = True
            v.type, v.nonneg = new, nonneg
        for line in self._ordered(self._store_variable(new, v.cname, value), v.cname, value):
            self.emit(line)

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
            return Value(value.type, temp, nonneg=value.nonneg)
        kept = self._variable_value(value.type, self.temp_array(value.type))
        for line in self._store_variable(value.type, kept.text, value):
            self.emit(line)
        return kept

    def temp_array(self, t: Any) -> str:
        name = self.temp(emit.pointer_type(t))
        self.temps += [(f"{name}_n{i}", "pg_i64 ", "") for i in range(t.ndim)]
        if not t.contiguous:
            self.temps += [(f"{name}_s{i}", "pg_i64 ", "") for i in range(t.ndim)]
        return name

    # ---- statements

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            method = getattr(self, f"do_{type(statement).__name__}", None)
            if method is None:
                kind = type(statement).__name__
                raise self.source.error(
                    _NOT_SUPPORTED.get(kind, f"{kind} is not supported in kernels"), statement
                )
            try:
                method(statement)
            except NotYet as error:
                self.pending = self.pending or error.error
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                return

    def inner(self, statements: Sequence[ast.stmt]) -> None:
        self.indent += 1
        self.block(statements)
        self.indent -= 1

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring, ...
        value = self.expr(node.value)
        if value.is_scalar and not value.is_const:
            if "(" in value.text:
                self.emit(f"(void){value.text};")
        elif value.type == VOID and value.text:
            self.emit(f"{value.text};")

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.expr(node.value)
        if len(node.targets) > 1:
            value = self.keep(value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.expr(node.value))

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assignment to a name, an item, or several of them."""
        if isinstance(target, ast.Name):
            if value.is_tuple and any(self._mentions(i, target.id) for i in value.items):
                value = self.keep(value)
            self.assign_name(target.id, value, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if any(isinstance(t, ast.Starred) for t in target.elts):
                raise self.source.error("starred assignment is not supported", target)
            items = self.unpack(value, target, len(target.elts))
            if len(items) != len(target.elts):
                raise self.source.error(f"{len(items)} values for {len(target.elts)} names", target)
            if any(not isinstance(t, ast.Name) for t in target.elts) or any(
                self._mentions(item, t.id)
                for i, t in enumerate(target.elts)
                for item in items[i + 1 :]
                if isinstance(t, ast.Name)
            ):
                items = [self.keep(item) for item in items]
            for t, item in zip(target.elts, items):
                self.assign(t, item)
        elif isinstance(target, ast.Subscript):
            self.store_item(target, value)
        elif isinstance(target, ast.Attribute):
            self.store_field(target, self.expr(target.value), target.attr, value)
        else:
            raise self.source.error("starred assignment is not supported", target)

    def _mentions(self, value: Value, name: str) -> bool:
        """Whether the text of a value reads a variable (or memory, which might be written)."""
        v = self.vars.get(name)
        if v is None:
            return False
        return any(v.cname in text for text in self.texts_of(value))

    def texts_of(self, value: Value) -> list[str]:
        found = [value.text, *value.shape, *(value.strides or ())]
        for item in value.items:
            found += self.texts_of(item)
        return found

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            self.augment_item(node)
            return
        if isinstance(node.target, ast.Attribute):
            record = self.keep(self.expr(node.target.value))
            old = self.field(record, node.target.attr, node.target)
            new = self.binary(node, node.op, old, self.expr(node.value))
            self.store_field(node.target, record, node.target.attr, new)
            return
        assert isinstance(node.target, ast.Name)
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = self.binary(node, node.op, self.expr(load), self.expr(node.value))
        self.assign_name(node.target.id, value, node)

    def do_If(self, node: ast.If) -> None:
        test = self.test(node.test)
        if test.is_const:  # only one of them is ever taken
            self.block(node.body if test.const else node.orelse)
            return
        self.emit(f"if ({bare(test.text)}) {{")
        self.inner(node.body)
        if node.orelse:
            self.emit("} else {")
            self.inner(node.orelse)
        self.emit("}")

    def do_While(self, node: ast.While) -> None:
        flag = self.loop_flag(node)
        place = len(self.lines)
        self.indent += 1
        test = self.test(node.test)
        self.indent -= 1
        if len(self.lines) > place or test.is_const:
            self.lines.insert(place, "    " * self.indent + "for (;;) {")
            if not (test.is_const and test.const):
                self.emit(f"    if (!({test.text if not test.is_const else '0'})) break;")
        else:
            self.emit(f"while ({bare(test.text)}) {{")
        self.loop_body(node, flag)

    def loop_flag(self, node: Any) -> str:
        """A variable that tells whether the loop was left by break, if it has an else."""
        if not node.orelse or not _has_break(node.body):
            return ""
        flag = self.temp("int ")
        self.emit(f"{flag} = 0;")
        return flag

    def loop_body(self, node: Any, flag: str) -> None:
        """The body of a loop after its head, to the end with its else."""
        self.flags.append(flag)
        self.inner(node.body)
        self.flags.pop()
        self.emit("}")
        if node.orelse:
            if flag:
                self.emit(f"if (!{flag}) {{")
                self.inner(node.orelse)
                self.emit("}")
            else:
                self.block(node.orelse)

    def do_Break(self, node: ast.Break) -> None:
        if self.flags[-1]:
            self.emit(f"{self.flags[-1]} = 1;")
        self.emit("break;")

    def do_Continue(self, node: ast.Continue) -> None:
        self.emit("continue;")

    def do_For(self, node: ast.For) -> None:
        flag = self.loop_flag(node)
        source = self.iteration(node.iter)
        counter = self.counter()
        kind, parts = source
        if kind == "range":
            start, stop, step = parts
            low = emit.convert(start, self.WEAK_INT)
            if step.is_const and step.const == 0:
                raise self.source.error("range() step must not be zero", node.iter)
            high = self.stable(emit.convert(stop, self.WEAK_INT))
            if step.is_const:
                by = int(step.const)
                sign = "<" if by > 0 else ">"
                move = {1: f"{counter}++", -1: f"{counter}--"}.get(by, f"{counter} += {by}")
                test = f"{counter} {sign} {high}"
            else:
                by_text = self.stable(emit.convert(step, self.WEAK_INT))
                move = f"{counter} += {by_text}"
                test = f"{counter} < {high}"
                if not step.nonneg:
                    test = f"({by_text} > 0 ? {counter} < {high} : {counter} > {high})"
            self.emit(f"for (pg_i64 {counter} = {low}; {test}; {move}) {{")
            up = start.nonneg and (step.nonneg or (step.is_const and step.const > 0))
            down = step.is_const and step.const < 0 and stop.is_const and stop.const >= -1
            item = Value(self.WEAK_INT, counter, nonneg=bool(up or down))
            self.indent += 1
            self.assign(node.target, item)
            self.indent -= 1
        else:
            length, choose = parts
            self.emit(f"for (pg_i64 {counter} = 0; {counter} < {length}; {counter}++) {{")
            self.indent += 1
            choose(counter, node.target)
            self.indent -= 1
        self.loop_body(node, flag)

    def do_Return(self, node: ast.Return) -> None:
        value = Value(VOID) if node.value is None else self.expr(node.value)
        if value.is_object and value.const is None:
            value = Value(VOID)
        if self.kernel:
            if value.type != VOID:
                raise self.source.error("a kernel returns nothing; write results to an array", node)
            self.emit("return;")
            return
        new = value.type if self.result is None else join(self.result, value.type)
        if new is None or isinstance(new, ObjectType):
            raise self.source.error(
                f"{self.source.name} returns {self.result or value.type} in one place and "
                f"{value.type} in another"
                if self.result is not None
                else f"{value.type} cannot be returned",
                node,
            )
        if new != self.result:
            self.changed = True
            self.result = new
        if isinstance(new, Scalar):
            self.emit(f"return {bare(emit.convert(value, new))};")
        elif isinstance(new, Void):
            self.emit("return;")
        else:
            if isinstance(new, ArrayType):
                raise self.source.error("a device function cannot return an array", node)
            for i, (item, part) in enumerate(zip(flat_types(new), flat_values(value))):
                if not isinstance(item, Scalar):
                    raise self.source.error("a device function returns numbers only", node)
                self.emit(f"*r_{i} = {bare(emit.convert(part, item))};")
            self.emit("return;")

    def do_Assert(self, node: ast.Assert) -> None:
        test = self.test(node.test)
        if test.is_const and test.const:
            return
        text = ast.unparse(node.test)
        if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
            text = f"{text}: {node.msg.value}"
        place = f"{self.source.filename}:{node.lineno + self.source.first}"
        message = f"{text} ({self.source.name}, {place})"
        number = self.unit.asserts.setdefault(message, len(self.unit.asserts) + 1)
        self.need_implicit("pg_error", "PG_GLOBAL pg_i32 *pg_error", "")
        condition = "0" if test.is_const else test.text
        self.emit(f"if (!({condition})) *pg_error = {number};")


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


def _has_break(body: Sequence[ast.stmt]) -> bool:
    """Whether a break of this loop, not of one inside, is among the statements."""
    for statement in body:
        if isinstance(statement, ast.Break):
            return True
        for name in ("body", "orelse") if isinstance(statement, ast.If) else ("orelse",):
            if _has_break(getattr(statement, name, ())):
                return True
    return False


def terminates(body: Sequence[ast.stmt]) -> bool:
    """Whether control never reaches the end of the statements."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If) and terminates(statement.body):
            if terminates(statement.orelse):
                return True
        if isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant):
            if statement.test.value and not _has_break(statement.body):
                return True
        if isinstance(statement, (ast.For, ast.While)) and terminates(statement.orelse):
            if not _has_break(statement.body):
                return True
    return False


def flat_types(t: Type) -> list[Any]:
    """The numbers that a tuple is made of."""
    if isinstance(t, TupleType):
        return [inner for item in t.items for inner in flat_types(item)]
    return [t]


def flat_values(value: Value) -> list[Value]:
    if value.is_tuple:
        return [inner for item in value.items for inner in flat_values(item)]
    return [value]


def bare(text: str) -> str:
    """The text without parentheses around the whole."""
    if text[:1] == "(" and text[-1:] == ")":
        depth = 0
        for i, c in enumerate(text):
            depth += (c == "(") - (c == ")")
            if depth == 0 and i < len(text) - 1:
                return text
        return text[1:-1]
    return text
