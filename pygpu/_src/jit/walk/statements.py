"""Statements of kernels. Part of the function compiler."""

from __future__ import annotations

import ast
import collections
from collections.abc import Callable, Sequence
from typing import Any

from .. import emit
from ..emit import bare
from ..ir import Value, flat_values
from ..types import (
    VOID,
    ArrayType,
    ObjectType,
    RecordType,
    Scalar,
    TupleType,
    Type,
    Void,
    flat_types,
    join,
)
from .expressions import Expressions, NotYet

__all__ = ["Statements", "terminates"]

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
    "Delete": "del is not supported",
    "Match": "match is supported of values, |, _ and names only; use if",
}


class Statements(Expressions):
    """Methods of the function compiler; *self* is one."""

    kernel: bool
    decided: dict[int, bool]
    has_walrus: bool
    pending: Any
    result: Type | None
    assign_name: Callable[..., None]
    _store_variable: Callable[..., list[str]]

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Statements that may be done never, or several times: the constants of their names are
        known in them only."""
        before = len(self.const_locals)
        self._statements(statements)
        for name in [*self.const_locals][before:]:
            self.left[name] = self.const_locals.pop(name)

    def _statements(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            method = getattr(self, f"do_{type(statement).__name__}", None)
            if method is None:
                kind = type(statement).__name__
                raise self.source.error(
                    _NOT_SUPPORTED.get(kind, f"{kind} is not supported in kernels"), statement
                )
            self.begin_statement(id(statement))
            if self.has_walrus:
                self.renewed = _named(statement)
            try:
                method(statement)
            except NotYet as error:
                self.pending = self.pending or error.error
            except OverflowError as error:  # a constant that its type cannot hold
                raise self.source.error(str(error), statement) from None
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                return

    def inner(self, statements: Sequence[ast.stmt]) -> None:
        self.indent += 1
        self.block(statements)
        self.indent -= 1

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Global(self, node: ast.Global) -> None:
        """Names that are only read are what they are without it."""
        if any(name in self.stores for name in node.names):
            raise self.source.error("global variables cannot be assigned in a kernel", node)

    def do_Nonlocal(self, node: ast.Nonlocal) -> None:
        if any(name in self.stores for name in node.names):
            raise self.source.error(
                "variables of the enclosing function cannot be assigned in a kernel", node
            )

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
            if value.is_tuple and any(self._mentions(i, target) for i in value.items):
                value = self.keep(value)
            self.assign_name(target, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if any(isinstance(t, ast.Starred) for t in target.elts):
                plain, value = self._starred(target, value)
                return self.assign(plain, value)
            items = self.unpack(value, target, len(target.elts))
            if len(items) != len(target.elts):
                raise self.source.error(f"{len(items)} values for {len(target.elts)} names", target)
            if any(not isinstance(t, ast.Name) for t in target.elts) or any(
                self._mentions(item, t)
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

    def _starred(self, target: Any, value: Value) -> tuple[ast.Tuple, Value]:
        """``a, *b, c = value`` as ``a, b, c``, where b is the tuple of the items between."""
        starred = [i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)]
        if not value.is_tuple:
            raise self.source.error(f"only tuples have a starred part, not {value.type}", target)
        items, before = list(value.items), starred[0]
        after = len(target.elts) - before - 1
        if len(items) < before + after:
            raise self.source.error(
                f"{len(items)} values for at least {before + after} names", target
            )
        end = len(items) - after
        middle = items[before:end]
        rest = Value(TupleType(tuple(v.type for v in middle)), items=middle)
        items[before:end] = [rest]
        elements = [t.value if isinstance(t, ast.Starred) else t for t in target.elts]
        plain = ast.copy_location(ast.Tuple(elements, ast.Store()), target)
        return plain, Value(TupleType(tuple(v.type for v in items)), items=items)

    def _mentions(self, value: Value, target: ast.Name) -> bool:
        """Whether the text of a value reads the variable of a target."""
        v = self.vars.get(self.key_of(target, stored=True))
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
        value = self.binary(node, node.op, self.on_Name(node.target), self.expr(node.value))
        self.assign_name(node.target, value)

    def do_If(self, node: ast.If) -> None:
        test = self.test(node.test)
        if test.is_const:  # only one of them is ever taken
            self.decided[id(node)] = bool(test.const)
            self._statements(node.body if test.const else node.orelse)
            return
        self.emit(f"if ({bare(test.text)}) {{")
        before = self.state()
        self.taken(test, True)
        self.inner(node.body)
        one = None if _leaves(node.body) else self.state()
        self.restore(before)
        self.taken(test, False)
        if node.orelse:
            self.emit("} else {")
            self.inner(node.orelse)
        self.merge(one, None if _leaves(node.orelse) else self.state())
        self.emit("}")

    def do_While(self, node: ast.While) -> None:
        flag = self.loop_flag(node)
        self.forget_stored(node)
        place = len(self.lines)
        self.indent += 1
        test = self.test(node.test)
        self.indent -= 1
        if test.is_const:
            self.decided[id(node)] = bool(test.const)
        if len(self.lines) > place or test.is_const:
            self.lines.insert(place, "    " * self.indent + "for (;;) {")
            if not (test.is_const and test.const):
                self.emit(f"    if (!({test.text if not test.is_const else '0'})) break;")
        else:
            self.emit(f"while ({bare(test.text)}) {{")
        before = self.state()
        self.taken(test, True)
        self.loop_body(node, flag, before)

    def loop_flag(self, node: Any) -> str:
        """A variable that tells whether the loop was left by break, if it has an else."""
        if not node.orelse or not _has_break(node.body):
            return ""
        flag = self.temp("int ")
        self.emit(f"{flag} = 0;")
        return flag

    def loop_body(self, node: Any, flag: str, before: Any) -> None:
        """The body of a loop after its head, to the end with its else. before: what was known of
        ranges before it, and is after it of what it does not assign."""
        self.flags.append(flag)
        self.inner(node.body)
        self.flags.pop()
        self.emit("}")
        self.restore(before)
        self.forget_stored(node)
        if node.orelse:
            if flag:
                self.emit(f"if (!{flag}) {{")
                self.inner(node.orelse)
                self.emit("}")
            else:
                self.block(node.orelse)
            self.forget_stored(node)

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
        before = self.state()
        self.forget_stored(node)
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
                test = f"({by_text} > 0 && {counter} < {high})"  # a step of 0 would never end
                if not step.nonneg:
                    down_text = f"({by_text} < 0 && {counter} > {high})"
                    test = f"({by_text} > 0 ? {counter} < {high} : {down_text})"
            self.emit(f"for (pg_i64 {counter} = {low}; {test}; {move}) {{")
            up = start.nonneg and (step.nonneg or (step.is_const and step.const > 0))
            down = step.is_const and step.const < 0 and stop.is_const and stop.const >= -1
            item = Value(self.WEAK_INT, counter, nonneg=bool(up or down))
            self.count_range(item, start, stop, step, node)
            self.indent += 1
            self.assign(node.target, item)
            self.indent -= 1
        else:
            length, choose = parts
            self.emit(f"for (pg_i64 {counter} = 0; {counter} < {length}; {counter}++) {{")
            self.indent += 1
            choose(counter, node.target)
            self.indent -= 1
        self.loop_body(node, flag, before)

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
            for i, (item, part) in enumerate(zip(flat_types(new), flat_values(value))):
                self._give_back(item, f"*r_{i}", part, node)
            self.emit("return;")

    def _give_back(self, t: Any, name: str, value: Value, node: ast.Return) -> None:
        """Sets a part of the result through its parameters."""
        if isinstance(t, Scalar):
            self.emit(f"{name} = {bare(emit.convert(value, t))};")
            return
        if not isinstance(t, (ArrayType, RecordType)):
            raise self.source.error(f"{t} cannot be returned", node)
        if self.is_own(t, value.text):
            raise self.source.error(
                "an array of the function's own (local.array) cannot be returned: it is gone with "
                "the call; make the array where it is used, and pass it",
                node,
            )
        for line in self._store_variable(t, name, value):
            self.emit(line)

    def do_Assert(self, node: ast.Assert) -> None:
        test = self.test(node.test)
        if test.is_const and test.const:
            return
        text = ast.unparse(node.test)
        if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
            text = f"{text}: {node.msg.value}"
        place = f"{self.source.filename}:{node.lineno + self.source.first}"
        message = f"{text} ({self.source.name}, {place})"
        number = self.unit.number_of(message)
        self.need_implicit("pg_error", "PG_GLOBAL pg_i32 *pg_error", "")
        condition = "0" if test.is_const else test.text
        self.emit(f"if (!({condition})) *pg_error = {number};")
        # The thread goes on, so nothing is known by it.


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether what comes behind the statements is not reached from them."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
            return True
        if isinstance(statement, ast.If) and statement.orelse:
            if _leaves(statement.body) and _leaves(statement.orelse):
                return True
    return False


def _named(statement: ast.stmt) -> dict[str, int]:
    """The names that ``:=`` assigns to in the expressions of a statement itself, and how often."""
    todo: list[Any] = [
        part
        for _, field in ast.iter_fields(statement)
        for part in (field if isinstance(field, list) else [field])
        if isinstance(part, ast.expr)
    ]
    walked = (node for part in todo for node in ast.walk(part))
    return collections.Counter(n.target.id for n in walked if isinstance(n, ast.NamedExpr))


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
