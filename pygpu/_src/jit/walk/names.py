"""Names: the value of a variable where it is read, and the effect of an assignment."""

from __future__ import annotations

import ast
import types
from typing import Any

from .. import emit
from ..ir import Value, as_enum, wide_enough
from ..source import KernelError
from ..types import VOID, ArrayType, OptionalType, Scalar, TupleType, has_object, join
from .constants import constant
from .context import FunctionContext
from .optional import as_optional
from .registry import visits_expression
from .variables import Variable, variable_name, variable_value


class UnboundName(Exception):
    """An expression uses a variable whose type is not known in this walk, or calls a function that
    is being compiled, *active*, and whose result is not known yet."""

    def __init__(self, error: KernelError, active: Any = None) -> None:
        self.error = error
        self.active = active


@visits_expression(ast.Name)
def read_name(fc: FunctionContext, node: ast.Name) -> Value:
    name = node.id
    if name in fc.vars.by_key or name in fc.vars.stores:
        value = read_variable(fc, fc.vars.key_of(node), node)
        return fc.keep(value) if name in fc.vars.renewed else value
    found, value, namespace = fc.source.resolve(name)
    if not found:
        raise fc.source.error(f"name {name!r} is not defined", node)
    if namespace is not None and not isinstance(
        value, (types.ModuleType, types.BuiltinFunctionType)
    ):
        fc.unit.guards[id(namespace), name] = namespace, name, value
    return constant(fc, value, node)


def read_variable(fc: FunctionContext, key: str, node: ast.Name) -> Value:
    """Return the value of a variable at this use of its name."""
    value = fc.vars.const_locals.get(key)
    if value is not None:
        return value
    v = fc.vars.by_key.get(key)
    early = key not in fc.vars.assigned and key not in fc.vars.parameters
    in_loop = len(fc.flags) > 1
    if v is None or v.type is None or (early and (not in_loop or fc.vars.is_never_set(node))):
        error = fc.source.error(f"{node.id} is used before anything is assigned to it", node)
        raise UnboundName(error) if in_loop else error
    value = fc.vars.left.get(key)
    if value is not None and (value.is_array or fc.vars.is_set(node)):
        return value
    if has_object(v.type) and not fc.vars.is_set(node):
        raise fc.source.error(
            f"{node.id} is {v.type} on some paths that lead here, and not set on others; "
            "assign it before, or use it where it is assigned",
            node,
        )
    if (early or value is not None) and key not in fc.vars.may_be_unset:
        fc.vars.may_be_unset.add(key)  # so it needs a variable, which is 0 until it is set
        fc.changed = True
    fc.vars.reads_none = fc.vars.reads_none or v.type == VOID
    return variable_value(v.type, v.cname, v.nonneg)


def assign_name(fc: FunctionContext, target: ast.Name, value: Value) -> None:
    """Handle ``name = value``."""
    name = target.id
    if value.type == VOID:
        if value.text:
            fc.emit(f"{value.text};")
        value = constant(fc, None, target)
    key = fc.vars.key_of(target, stored=True)
    fc.vars.assigned.add(key)
    v = fc.vars.by_key.get(key)
    if v is None:
        number = key.partition("#")[2]
        v = fc.vars.by_key[key] = Variable(f"w{number}" + variable_name(name)[1:])
        if not number:
            v.cname = variable_name(name)
    if fc.vars.is_single(key) and _is_alias(fc, key, v, value):
        fc.vars.const_locals[key] = value
        return
    if value.is_none:
        fc.vars.split_name(name)
        value = Value(VOID)
    value = as_enum(value)
    if value.is_object:
        fc.vars.split_name(name)
        raise fc.source.error(
            f"{value.const!r} cannot be assigned to a variable that is assigned again", target
        )
    new = value.type if v.type is None else join(v.type, value.type)
    if new is None:
        fc.vars.split_name(name)
        raise fc.source.error(
            f"{name} was {v.type} before, and would become {value.type}: a variable has one "
            "type; use two names",
            target,
        )
    if isinstance(new, Scalar):
        new = wide_enough(new, value)
    if isinstance(new, OptionalType):
        value = as_optional(new, value)
    nonneg = v.nonneg and value.nonneg
    if new != v.type or nonneg != v.nonneg:
        fc.changed = True
        v.type, v.nonneg = new, nonneg
    for line in _in_turn(fc, fc.store_variable(new, v.cname, value), v.cname, value):
        fc.emit(line)
    fc.note(v.cname, new, value)


def _is_alias(fc: FunctionContext, key: str, v: Variable, value: Value) -> bool:
    """Whether a name that is assigned once needs no variable: its value exists while compiling, or
    it is the kernel's own memory. It has that value in the block of the assignment; uses elsewhere
    check whether it may be unset."""
    if not (_is_declared(value) or _is_compile_time(value)):
        return False
    if v.type != value.type:
        fc.changed = fc.changed or v.type is None
        v.type = value.type
    return key not in fc.vars.may_be_unset


def _in_turn(fc: FunctionContext, lines: list[str], name: str, value: Value) -> list[str]:
    """Do several assignments, through temporary variables if a later one reads what an earlier one
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
            return lines  # they are assigned one by one, see assign()
        temp = fc.temp(kind)
        first.append(f"{temp} = {text}")
        second.append(f"{target} = {temp};")
    return first + second


def _is_compile_time(value: Value) -> bool:
    """Whether a value exists while compiling."""
    if value.is_tuple:
        return all(map(_is_compile_time, value.items))
    return value.is_const


def _is_declared(value: Value) -> bool:
    """Whether it is an array of constant shape that is declared under its name."""
    return (
        value.is_array
        and value.strides is None
        and value.text.isidentifier()
        and all(n.isdigit() for n in value.shape)
    )
