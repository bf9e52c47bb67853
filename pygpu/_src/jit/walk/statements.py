"""Statements of kernels, except assignments."""

from __future__ import annotations

import ast
import collections
from collections.abc import Sequence
from typing import Any

from .. import emit
from ..ir import Value, as_enum, flat_values
from ..types import (
    VOID,
    WEAK_INT,
    ArrayType,
    ObjectType,
    OptionalType,
    RecordType,
    Scalar,
    Void,
    flat_types,
    join,
)
from .assignment import assign
from .context import FunctionContext
from .index_checks import RaisedException, report
from .iteration import Range, Unrolled, iteration
from .names import UnboundName
from .optional import as_optional
from .registry import STATEMENTS, visits_statement
from .sequences import unpack
from .truth import truth_of


def block(fc: FunctionContext, statements: Sequence[ast.stmt]) -> None:
    """Handle statements that may run never, or several times: constants assigned in them are only
    known inside."""
    before = len(fc.vars.const_locals)
    _statements(fc, statements)
    for name in [*fc.vars.const_locals][before:]:
        fc.vars.left[name] = fc.vars.const_locals.pop(name)


def _statements(fc: FunctionContext, statements: Sequence[ast.stmt]) -> None:
    for statement in statements:
        visitor = STATEMENTS.get(statement.__class__)
        if visitor is None:
            kind = type(statement).__name__
            raise fc.source.error(f"{kind} is not supported in kernels", statement)
        fc.begin_statement(id(statement))
        if fc.vars.has_walrus:
            fc.vars.renewed = _walrus_names(statement)
        inside = fc.indent, fc.conditional
        try:
            visitor(fc, statement)
        except UnboundName as error:
            fc.postpone(error)
            fc.indent, fc.conditional = inside
        except OverflowError as error:  # a constant that does not fit its type
            raise fc.source.error(str(error), statement) from None
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return


def _indented_block(fc: FunctionContext, statements: Sequence[ast.stmt]) -> None:
    fc.indent += 1
    block(fc, statements)
    fc.indent -= 1


@visits_statement(ast.Pass)
def pass_statement(fc: FunctionContext, node: ast.Pass) -> None:
    pass


@visits_statement(ast.Delete)
def delete(fc: FunctionContext, node: ast.Delete) -> None:
    """Handle ``del name``, which has no effect: variables end with the function."""
    for target in node.targets:
        if not isinstance(target, ast.Name):
            raise fc.source.error("del is only supported for names", target)


@visits_statement(ast.Global)
def global_statement(fc: FunctionContext, node: ast.Global) -> None:
    """Names that are only read need no declaration."""
    if any(name in fc.vars.stores for name in node.names):
        raise fc.source.error("global variables cannot be assigned in a kernel", node)


@visits_statement(ast.Nonlocal)
def nonlocal_statement(fc: FunctionContext, node: ast.Nonlocal) -> None:
    if any(name in fc.vars.stores for name in node.names):
        raise fc.source.error(
            "variables of the enclosing function cannot be assigned in a kernel", node
        )


@visits_statement(ast.Expr)
def expression_statement(fc: FunctionContext, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return  # a docstring, ...
    value = fc.expr(node.value)
    if isinstance(value.type, Scalar) and not value.is_const:
        if "(" in value.text:
            fc.emit(f"(void){value.text};")
    elif value.type == VOID and value.text:
        fc.emit(f"{value.text};")


@visits_statement(ast.If)
def if_statement(fc: FunctionContext, node: ast.If) -> None:
    fc.vars.reads_none = False
    test = truth_of(fc, node.test)
    if test.is_const:  # only one branch is ever taken
        fc.vars.decide(node, test)
        _statements(fc, node.body if test.const else node.orelse)
        return
    fc.emit(f"if ({emit.strip_parentheses(test.text)}) {{")
    before = fc.ranges.state()
    fc.ranges.taken(test, True)
    _indented_block(fc, node.body)
    one = None if _ends_control_flow(node.body) else fc.ranges.state()
    fc.ranges.restore(before)
    fc.ranges.taken(test, False)
    if node.orelse:
        fc.emit("} else {")
        _indented_block(fc, node.orelse)
    fc.ranges.merge(one, None if _ends_control_flow(node.orelse) else fc.ranges.state())
    fc.emit("}")


@visits_statement(ast.While)
def while_loop(fc: FunctionContext, node: ast.While) -> None:
    flag = _loop_flag(fc, node)
    fc.invalidate_stored(node)
    start = len(fc.lines)
    fc.indent += 1
    fc.vars.reads_none = False
    test = truth_of(fc, node.test)
    fc.indent -= 1
    if test.is_const:
        fc.vars.decide(node, test)
    if len(fc.lines) > start or test.is_const:
        fc.lines.insert(start, "    " * fc.indent + "for (;;) {")
        if not (test.is_const and test.const):
            fc.emit(f"    if (!({test.text if not test.is_const else '0'})) break;")
    else:
        fc.emit(f"while ({emit.strip_parentheses(test.text)}) {{")
    before = fc.ranges.state()
    fc.ranges.taken(test, True)
    _loop_body(fc, node, flag, before)


def _loop_flag(fc: FunctionContext, node: Any) -> str:
    """Return a variable that records whether the loop was left by break, if it has an else."""
    if not node.orelse or not _has_break(node.body):
        return ""
    flag = fc.temp("int ")
    fc.emit(f"{flag} = 0;")
    return flag


def _loop_body(fc: FunctionContext, node: Any, flag: str, before: Any) -> None:
    """Write the body of a loop after its head, up to the end of its else. before: the known ranges
    before it, which remain valid afterwards for variables that it does not assign."""
    fc.flags.append(flag)
    _indented_block(fc, node.body)
    fc.flags.pop()
    fc.emit("}")
    fc.ranges.restore(before)
    fc.invalidate_stored(node)
    if node.orelse:
        if flag:
            fc.emit(f"if (!{flag}) {{")
            _indented_block(fc, node.orelse)
            fc.emit("}")
        else:
            block(fc, node.orelse)
        fc.invalidate_stored(node)


@visits_statement(ast.Break)
def break_statement(fc: FunctionContext, node: ast.Break) -> None:
    if fc.flags[-1]:
        fc.emit(f"{fc.flags[-1]} = 1;")
    fc.emit("break;")


@visits_statement(ast.Continue)
def continue_statement(fc: FunctionContext, node: ast.Continue) -> None:
    fc.emit("continue;")


@visits_statement(ast.For)
def for_loop(fc: FunctionContext, node: ast.For) -> None:
    flag = _loop_flag(fc, node)
    source = iteration(fc, node.iter)
    if isinstance(source, Unrolled):
        _unrolled_loop(fc, node, source.items, flag)
        return
    counter = fc.counter()
    before = fc.ranges.state()
    fc.invalidate_stored(node)
    if isinstance(source, Range):
        _begin_range(fc, node, counter, source)
    else:
        fc.emit(f"for (pg_i64 {counter} = 0; {counter} < {source.length}; {counter}++) {{")
        fc.indent += 1
        source.assign(counter, node.target)
        fc.indent -= 1
    _loop_body(fc, node, flag, before)


def _unrolled_loop(fc: FunctionContext, node: ast.For, items: list[Value], flag: str) -> None:
    """Write the body once for each item of a tuple; in it, the target's names stand for the
    item."""
    if not flag and _has_break(node.body):
        flag = fc.temp("int ")
        fc.emit(f"{flag} = 0;")
    for item in items:
        counter = fc.counter()
        go_on = f" && !{flag}" if flag else ""
        fc.invalidate_stored(node)
        fc.emit(f"for (int {counter} = 0; {counter} < 1{go_on}; {counter}++) {{")
        bound = _bind(fc, node.target, item)
        fc.flags.append(flag)
        _indented_block(fc, node.body)
        fc.flags.pop()
        fc.emit("}")
        for key in bound:
            del fc.vars.const_locals[key]
    fc.invalidate_stored(node)
    if node.orelse:
        fc.emit(f"if ({f'!{flag}' if flag else '1'}) {{")
        _indented_block(fc, node.orelse)
        fc.emit("}")
        fc.invalidate_stored(node)


def _bind(fc: FunctionContext, target: ast.expr, value: Value) -> list[str]:
    """Make the names of a loop's target stand for a value."""
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = unpack(fc, value, target, len(target.elts))
        if len(parts) != len(target.elts):
            raise fc.source.error(
                f"cannot unpack {len(parts)} values into {len(target.elts)} names", target
            )
        return [key for t, part in zip(target.elts, parts) for key in _bind(fc, t, part)]
    if not isinstance(target, ast.Name) or fc.vars.stores.get(target.id) != 3:  # see Variables
        raise fc.source.error(
            "the items of the tuple have no common type, so what they are assigned to must be "
            "names that nothing else is assigned to",
            target,
        )
    fc.vars.const_locals[target.id] = value
    return [target.id]


def _begin_range(fc: FunctionContext, node: ast.For, counter: str, source: Range) -> None:
    """Write the head of a loop over a range, and the assignment to its target."""
    start, stop, step = source
    low = emit.convert(start, WEAK_INT)
    if step.is_const and step.const == 0:
        raise fc.source.error("range() step must not be zero", node.iter)
    high = fc.stable(emit.convert(stop, WEAK_INT))
    if step.is_const:
        by = int(step.const)
        sign = "<" if by > 0 else ">"
        move = {1: f"{counter}++", -1: f"{counter}--"}.get(by, f"{counter} += {by}")
        test = f"{counter} {sign} {high}"
    else:
        by_text = fc.stable(emit.convert(step, WEAK_INT))
        move = f"{counter} += {by_text}"
        test = f"({by_text} > 0 && {counter} < {high})"  # a step of 0 would loop forever
        if not step.nonneg:
            down_text = f"({by_text} < 0 && {counter} > {high})"
            test = f"({by_text} > 0 ? {counter} < {high} : {down_text})"
    fc.emit(f"for (pg_i64 {counter} = {low}; {test}; {move}) {{")
    up = start.nonneg and (step.nonneg or (step.is_const and step.const > 0))
    down = step.is_const and step.const < 0 and stop.is_const and stop.const >= -1
    item = Value(WEAK_INT, counter, nonneg=bool(up or down))
    if fc.unit.checks:
        stored = fc.vars.c_names_stored(node)
        fc.ranges.count_range(item, start, stop, step, stored)
    fc.indent += 1
    assign(fc, node.target, item)
    fc.indent -= 1


@visits_statement(ast.Return)
def return_statement(fc: FunctionContext, node: ast.Return) -> None:
    value = Value(VOID) if node.value is None else fc.expr(node.value)
    return_value(fc, value, node)


def return_value(fc: FunctionContext, value: Value, node: ast.AST) -> None:
    """Leave the function with a value."""
    if value.is_object and value.const is None:
        value = Value(VOID)
    value = as_enum(value)
    if fc.kernel:
        if value.type != VOID:
            raise fc.source.error("a kernel returns nothing; write results to an array", node)
        fc.emit("return;")
        return
    new = value.type if fc.result is None else join(fc.result, value.type)
    if new is None or isinstance(new, ObjectType):
        raise fc.source.error(
            f"{fc.source.name} returns {fc.result or value.type} in one place and "
            f"{value.type} in another"
            if fc.result is not None
            else f"{value.type} cannot be returned",
            node,
        )
    if new != fc.result:
        fc.changed = True
        fc.result = new
    if isinstance(new, Scalar):
        fc.emit(f"return {emit.strip_parentheses(emit.convert(value, new))};")
    elif isinstance(new, Void):
        fc.emit("return;")
    else:
        if isinstance(new, OptionalType):
            value = as_optional(new, value)
        for i, (item, part) in enumerate(zip(flat_types(new), flat_values(value))):
            _store_result(fc, item, f"*r_{i}", part, node)
        fc.emit("return;")


def _store_result(fc: FunctionContext, t: Any, name: str, value: Value, node: ast.AST) -> None:
    """Set a part of the result through its parameters."""
    if isinstance(t, Scalar):
        fc.emit(f"{name} = {emit.strip_parentheses(emit.convert(value, t))};")
        return
    if not isinstance(t, (ArrayType, RecordType)):
        recursive = fc.active is not None and fc.active.is_recursive
        does = "Return type of recursive function does not converge: " if recursive else ""
        raise fc.source.error(f"{does}{t} cannot be an item of a tuple that is returned", node)
    if fc.is_private_array(t, value.text):
        raise fc.source.error(
            "an array of the function's own (local.array) cannot be returned: it is gone with "
            "the call; make the array where it is used, and pass it",
            node,
        )
    for line in fc.store_variable(t, name, value):
        fc.emit(line)


@visits_statement(ast.Raise)
def raise_statement(fc: FunctionContext, node: ast.Raise) -> None:
    """Report the exception, and leave the function."""
    call = node.exc
    if call is None:
        raise fc.source.error("raise without an exception is not supported", node)
    parts: list[ast.expr] = []
    if isinstance(call, ast.Call):
        parts = call.args
        if call.keywords:
            raise fc.source.error("exceptions take no keyword arguments in kernels", node)
        call = call.func
    kind = fc.expr(call).const
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise fc.source.error("only classes of exceptions can be raised in kernels", node)
    args = []
    for part in parts:
        value = fc.expr(part)
        if not value.is_const:
            raise fc.source.error("arguments of exceptions must be constant in kernels", part)
        args.append(value.const)
    location = f"{fc.source.filename}:{node.lineno + fc.source.first}"
    named = fc.unit.widens and fc.unit.captured is not None  # a kernel with Numba's rules
    about = report(
        fc, RaisedException(kind, tuple(args), location, fc.source.name if named else "")
    )
    fc.emit(f"(void)pgc_bad({about}, 0, 0);")
    for i, t in enumerate([] if fc.result is None else flat_types(fc.result)):
        if isinstance(fc.result, Scalar):
            fc.emit(f"return {emit.literal(0, fc.result.dtype)};")
            return
        if isinstance(t, Scalar):
            fc.emit(f"*r_{i} = {emit.literal(0, t.dtype)};")
        elif not isinstance(t, Void):
            raise fc.source.error(
                "a function that returns an array cannot raise; test what could go wrong before",
                node,
            )
    fc.emit("return;")


@visits_statement(ast.Assert)
def assert_statement(fc: FunctionContext, node: ast.Assert) -> None:
    test = truth_of(fc, node.test)
    if test.is_const and test.const:
        return
    text = ast.unparse(node.test)
    if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
        text = f"{text}: {node.msg.value}"
    location = f"{fc.source.filename}:{node.lineno + fc.source.first}"
    message = f"{text} ({fc.source.name}, {location})"
    number = fc.unit.number_of(message)
    fc.need_implicit("pg_error", "PG_GLOBAL pg_i32 *pg_error", "")
    condition = "0" if test.is_const else test.text
    fc.emit(f"if (!({condition})) *pg_error = {number};")


def _ends_control_flow(body: Sequence[ast.stmt]) -> bool:
    """Whether control never continues after the statements."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return True
        if isinstance(statement, ast.If) and statement.orelse:
            if _ends_control_flow(statement.body) and _ends_control_flow(statement.orelse):
                return True
    return False


def _walrus_names(statement: ast.stmt) -> dict[str, int]:
    """Return the names that ``:=`` assigns in the expressions of a statement itself, and how
    often."""
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
        if isinstance(statement, (ast.Return, ast.Raise)):
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
