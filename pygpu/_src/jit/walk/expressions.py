"""Expressions of kernels: their types and texts. Half of :class:`infer.FunctionCompiler`."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Method, Value
from ..source import KernelError
from ..types import WEAK_BOOL, WEAK_INT, ArrayType, ObjectType, Scalar, TupleType, has_object, weak
from .calls import Calls
from .index_checks import together

__all__ = ["Expressions", "NotYet"]

# Attributes of these types may be assigned anew, but not those of these packages.
_CHANGING: tuple[type, ...] = (
    *(bool, int, float, complex, str, tuple),
    *(np.generic, np.ndarray, types.FunctionType),
)
_STEADY = frozenset(("cmath", "math", "numba", "numpy", "pygpu"))

_NOT_SUPPORTED = {
    "List": "lists are not supported; use a tuple, or an array of the caller's",
    "ListComp": "comprehensions are not supported; write a loop",
    "SetComp": "comprehensions are not supported; write a loop",
    "DictComp": "comprehensions are not supported; write a loop",
    "GeneratorExp": "generators are not supported; write a loop",
    "Dict": "dictionaries are not supported",
    "Set": "sets are not supported",
    "Lambda": "a function inside of a kernel is not supported; define it outside",
    "Await": "coroutines are not supported",
    "Yield": "generators are not supported",
    "YieldFrom": "generators are not supported",
    "JoinedStr": "strings are not supported; print() takes several arguments",
    "Starred": "starred expressions are not supported",
}


class NotYet(Exception):
    """An expression uses a variable whose type is not known in this walk."""

    def __init__(self, error: KernelError) -> None:
        self.error = error


class Expressions(Calls):
    WEAK_INT = WEAK_INT

    # What FunctionCompiler has.
    vars: dict[str, Any]
    stores: dict[str, int]
    parameters: list[str]
    may_be_unset: set[str]
    changed: bool
    ordered: set[int]
    key_of: Callable[..., str]
    is_never_set: Callable[[ast.Name], bool]
    is_set: Callable[[ast.Name], bool]
    keep: Callable[[Value], Value]
    _variable_value: Callable[..., Value]

    def begin_walk(self) -> None:
        """Forget the text of the last walk."""
        self.lines: list[str] = []
        self.indent = 1
        self.temps: list[tuple[str, str, str]] = []
        self.temp_pointers: set[str] = set()  # those into an array of the function's own
        self.counters = 0
        self.conditional = 0  # inside of an expression that may not be evaluated
        self.flags = [""]
        self.const_locals: dict[str, Value] = {}
        self.left: dict[str, Value] = {}  # those of blocks that are behind
        self.assigned: set[str] = set()
        self.begin_statement(0)
        self.renewed: dict[str, int] = {}  # names that the statement's expressions assign to

    def begin_statement(self, statement: int) -> None:
        """statement: what it is known by in the next walk."""
        self.statement = statement
        self.accesses = 0  # to memory, in the expressions of the statement itself
        self.writes = False

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def counter(self) -> str:
        self.counters += 1
        return f"i_{self.counters}"

    def temp(self, kind: str, size: str = "") -> str:
        """A new temporary variable of C type *kind*."""
        name = f"t_{len(self.temps) + 1}"
        self.temps.append((name, kind, size))
        return name

    def stable(self, text: str) -> str:
        """A text that is computed once: in a temporary variable unless it is a number."""
        if text.strip("()-").isdigit():
            return text
        temp = self.temp("pg_i64 ")
        self.emit(f"{temp} = {text};")
        return temp

    def in_order(self, value: Value, writes: bool = False) -> Value:
        """What an expression reads of memory, or computes by a call that may write it. C may do
        the parts of an expression in any order, so where a statement has such a call and something
        beside it, each is done in a statement of its own."""
        self.accesses += 1
        self.writes = self.writes or writes
        if self.writes and self.accesses > 1 and self.statement not in self.ordered:
            self.ordered.add(self.statement)
            self.changed = True
        if self.statement in self.ordered and value.is_scalar and not self.conditional:
            return self.keep(value)
        return value

    def statement_only(self, node: ast.AST, what: str) -> None:
        """Refuse an expression that needs statements where it may not be evaluated at all."""
        if self.conditional:
            raise self.source.error(
                f"{what} inside of a conditional expression, or on the right of and/or, is not "
                "supported; use an if statement",
                node,
            )

    def need_implicit(self, name: str, parameter: str, local: str) -> None:
        """The function needs something of the kernel around it."""
        self.unit.implicit[name] = parameter, local
        self.implicit[name] = None

    # ---- dispatch

    def expr(self, node: ast.expr) -> Value:
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            kind = type(node).__name__
            raise self.source.error(
                _NOT_SUPPORTED.get(kind, f"{kind} is not supported in kernels"), node
            )
        found: Value = method(node)
        return found

    def number(self, node: ast.expr, what: str = "a number") -> Value:
        """An expression that must be a number."""
        value = self.expr(node)
        return self.as_number(value, node, what)

    def as_number(self, value: Value, node: ast.AST, what: str = "a number") -> Value:
        if not value.is_scalar:
            hint = ""
            if value.is_array:
                hint = "; arithmetic is on items: a[i]"
            elif value.is_object and isinstance(value.const, str):
                hint = "; strings are only supported in print()"
            raise self.source.error(f"{what} is needed, not {value.type}{hint}", node)
        return value

    def test(self, node: ast.expr) -> Value:
        """The truth of an expression, as a bool."""
        if isinstance(node, ast.BoolOp):
            texts: list[str] = []
            facts: list[Any] = []
            is_and = isinstance(node.op, ast.And)
            self_conditional = 0
            before = self.state()
            for part in node.values:
                value = self.test(part)
                self.taken(value, is_and)
                if not self_conditional:
                    self.conditional += 1
                    self_conditional = 1
                if value.is_const:
                    if bool(value.const) != is_and:  # decides
                        if not texts:
                            self.conditional -= 1
                            self.restore(before)
                            return self.constant(not is_and, node)
                        texts.append("0" if is_and else "1")
                        break
                    continue
                texts.append(value.text)
                facts.append(value.facts)
            self.conditional -= 1
            self.restore(before)
            if not texts:
                return self.constant(is_and, node)
            result = Value(WEAK_BOOL, f"({(' && ' if is_and else ' || ').join(texts)})")
            result.facts = together(facts, is_and)
            return result
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self.test(node.operand)
            if value.is_const:
                return self.constant(not value.const, node)
            result = Value(WEAK_BOOL, f"!{value.text}")
            result.facts = value.facts[::-1]
            return result
        value = self.expr(node)
        if value.is_const:
            return self.constant(bool(value.const), node)
        if value.is_tuple:
            return self.constant(bool(value.items), node)
        value = self.as_number(value, node, "a truth value")
        result = Value(WEAK_BOOL, emit.truth(value))
        result.facts = value.facts
        return result

    # ---- names and constants

    def constant(self, obj: Any, node: ast.AST) -> Value:
        """The value of a Python object that is known now."""
        kind = type(obj)
        if kind in (bool, int, float, complex):
            t = weak(kind)
            if kind is int and not -(1 << 63) <= obj < 1 << 64:
                return Value(t, const=obj)
            text = emit.literal(obj, np.dtype("u8") if kind is int and obj >= 1 << 63 else t.dtype)
            self.unit.need(t.dtype)
            return Value(t, text, const=obj, nonneg=kind is int and obj >= 0)
        if isinstance(obj, np.generic) and dtypes.is_numeric(obj.dtype):
            self.need_dtype(obj.dtype, node)
            text = emit.literal(obj, obj.dtype)
            nonneg = obj.dtype.kind in "biu" and bool(obj >= 0)  # type: ignore[operator]
            return Value(Scalar(obj.dtype), text, const=obj, nonneg=nonneg)
        if isinstance(obj, tuple):
            items = [self.constant(item, node) for item in obj]
            names = getattr(obj, "_fields", ())
            return Value(TupleType(tuple(v.type for v in items), names), items=items)
        if isinstance(obj, np.ndarray):
            return self.table(obj, node)
        for python in (int, float, complex):
            if isinstance(obj, python):  # of a class of its own: IntEnum, IntFlag
                value = self.constant(python(obj), node)  # type: ignore[arg-type]
                value.origin = obj
                return value
        return Value(ObjectType(obj), const=obj)

    def table(self, array: np.ndarray, node: ast.AST) -> Value:
        """A constant array: part of the program."""
        if not (dtypes.is_numeric(array.dtype) or array.dtype.names) or array.dtype.hasobject:
            raise self.source.error(f"constant arrays of {array.dtype} are not supported", node)
        self.need_dtype(array.dtype, node)
        if array.nbytes > 65536:
            raise self.source.error(
                f"a constant array of {array.nbytes} bytes is too large (at most 65536); pass it "
                "as an argument",
                node,
            )
        t = ArrayType(array.dtype, array.ndim, True, "constant")
        shape = [str(n) for n in array.shape]
        key = ("table", array.dtype, array.shape, array.tobytes())
        storage = dtypes.storage_type(array.dtype)
        as_words = array.dtype.kind in "cV"  # C has no literals of these
        if as_words:
            array = np.frombuffer(array.tobytes() + bytes(-array.nbytes % 8), np.uint64)
            storage = "pg_u64"
        known = self.unit.functions.get(key)
        if known is None:
            known = self.unit.functions[key] = self.unit.unique("pgk_table")
            flat = array.ravel()
            if array.dtype.char == "e":
                items = [str(bits) for bits in flat.view(np.uint16).tolist()]
            else:
                items = [emit.literal(x, array.dtype) for x in flat]
            body = ", ".join(items or ["0"])
            self.unit.texts[known] = (
                f"PG_TABLE {storage} {known}[{max(len(items), 1)}] = {{{body}}};\n"
            )
        text = f"(({emit.pointer_type(t)}){known})" if as_words else known
        return Value(t, text, shape=shape)

    def need_dtype(self, dtype: np.dtype[Any], node: ast.AST) -> None:
        self.unit.need(dtype)
        if not self.unit.fp64 and dtypes.needs_fp64(dtype):
            raise self.source.error(
                f"the device has no double precision, and this is {dtype}; convert operands with "
                "numpy.float32()",
                node,
            )

    def guard_attribute(self, obj: Any, name: str, found: Any) -> None:
        """What was compiled holds as long as the attribute of a module, class or object does."""
        if not isinstance(found, _CHANGING):
            return
        place: Any = getattr(obj, "__dict__", None)
        if isinstance(obj, types.ModuleType):
            if obj.__name__.partition(".")[0] in _STEADY:
                return
        elif isinstance(obj, type):
            place = obj
            if getattr(obj, name) is not found:  # made anew each time
                return
        if place is obj or (type(place) is dict and place.get(name) is found):
            self.unit.guards[id(place), name] = place, name, found

    def on_Constant(self, node: ast.Constant) -> Value:
        return self.constant(node.value, node)

    def on_Name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.vars or name in self.stores:
            value = self.variable(self.key_of(node), node)
            return self.keep(value) if name in self.renewed else value
        found, value, place = self.source.resolve(name)
        if not found:
            raise self.source.error(f"name {name!r} is not defined", node)
        if place is not None and not isinstance(
            value, (types.ModuleType, types.BuiltinFunctionType)
        ):
            self.unit.guards[id(place), name] = place, name, value
        return self.constant(value, node)

    def variable(self, key: str, node: ast.Name) -> Value:
        """What a variable is at this use of its name."""
        known = self.const_locals.get(key)
        if known is not None:
            return known
        v = self.vars.get(key)
        early = key not in self.assigned and key not in self.parameters
        in_loop = len(self.flags) > 1
        if v is None or v.type is None or (early and (not in_loop or self.is_never_set(node))):
            error = self.source.error(f"{node.id} is used before anything is assigned to it", node)
            raise NotYet(error) if in_loop else error
        known = self.left.get(key)
        if known is not None and (known.is_array or self.is_set(node)):
            return known
        if has_object(v.type) and not self.is_set(node):
            raise self.source.error(
                f"{node.id} is {v.type} on some of the ways that lead here, and is not set on "
                "others; assign it before, or use it where it is assigned",
                node,
            )
        if (early or known is not None) and key not in self.may_be_unset:
            self.may_be_unset.add(key)  # so it needs a variable, which is 0 until it is set
            self.changed = True
        return self._variable_value(v.type, v.cname, v.nonneg)

    def on_NamedExpr(self, node: ast.NamedExpr) -> Value:
        self.statement_only(node, "an assignment")
        value = self.expr(node.value)
        self.assign(node.target, value)
        value = self.variable(self.key_of(node.target, stored=True), node.target)
        return self.keep(value) if self.renewed.get(node.target.id, 0) > 1 else value

    def on_Tuple(self, node: ast.Tuple | ast.List) -> Value:
        items: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                items += self.unpack(self.expr(element.value), element)
            else:
                items.append(self.expr(element))
        return Value(TupleType(tuple(v.type for v in items)), items=items)

    def collection(self, node: ast.expr) -> Value:
        """What stands after ``in``, or after ``for ... in``, where nothing else can see it: lists
        and sets are tuples there, as for CPython."""
        if isinstance(node, ast.List):
            return self.on_Tuple(node)
        if isinstance(node, ast.Set):
            values = [self.expr(element) for element in node.elts]
            if all(v.is_scalar and v.is_const for v in values):  # each once, in Python's order
                return self.constant(tuple(frozenset(v.const for v in values)), node)
            return Value(TupleType(tuple(v.type for v in values)), items=values)
        value = self.expr(node)
        if value.is_object and type(value.const) is frozenset:
            return self.constant(tuple(value.const), node)
        return value

    def unpack(self, value: Value, node: ast.AST, count: int | None = None) -> list[Value]:
        """The items of a tuple, or the first *count* of an array with one axis."""
        if value.is_tuple:
            return list(value.items)
        if value.is_array and count is not None and len(value.shape) == 1:
            places = [self.constant(i, node) for i in range(count)]
            return [self.load(value, *self.item_place(value, [i], node)) for i in places]
        raise self.source.error(f"{value.type} cannot be unpacked", node)

    # ---- attributes

    def on_Attribute(self, node: ast.Attribute) -> Value:
        value = self.expr(node.value)
        name = node.attr
        if value.is_object:
            try:
                found = getattr(value.const, name)
            except AttributeError as error:
                raise self.source.error(str(error), node) from None
            emitter = getattr(found, "emit_value", None)
            if emitter is not None:
                result: Value = emitter(self, node)
                return result
            self.guard_attribute(value.const, name, found)
            return self.constant(found, node)
        if value.is_record or (value.is_array and name in (value.type.dtype.names or ())):  # type: ignore[union-attr]
            return self.field(value, name, node)
        if value.is_array:
            return self.array_attribute(value, name, node)
        if isinstance(value.type, TupleType) and name in value.type.names:
            return value.items[value.type.names.index(name)]
        if value.origin is not None and hasattr(value.origin, name):
            return self.constant(getattr(value.origin, name), node)
        if value.is_scalar:
            assert isinstance(value.type, Scalar)
            if name == "dtype":
                return self.constant(value.type.dtype, node)
            if name == "real" or (name == "imag" and value.type.dtype.kind == "c"):
                if value.type.dtype.kind != "c":
                    return value
                part = np.dtype("f4" if value.type.dtype.itemsize == 8 else "f8")
                letter = "re" if name == "real" else "im"
                return Value(Scalar(part, value.is_weak), f"({value.text}).{letter}")
            if name == "imag":
                return Value(value.type, emit.literal(0, value.type.dtype))
            if name in ("ndim", "size", "shape"):
                return self.constant({"ndim": 0, "size": 1, "shape": ()}[name], node)
            if name in ("conjugate", "conj", "item", "astype"):
                return Value(ObjectType(Method(name, value)), const=Method(name, value))
        raise self.source.error(f"{value.type} has no attribute {name!r} in kernels", node)
