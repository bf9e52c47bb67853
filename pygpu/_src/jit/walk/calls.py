"""Calls in kernels: of builtins, of device functions, of methods of numbers."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import emit
from ..ir import Method, Value, flat_values
from ..source import KernelError, python_function
from ..types import VOID, ArrayType, RecordType, Scalar, TupleType, distance, flat_types, weak
from .conversions import cast
from .operators import FUNCTIONS, Operators
from .registry import WrongCall, find

__all__ = ["Calls"]


def _describe(obj: Any) -> str:
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    module = getattr(obj, "__module__", None)
    if name is None:
        return repr(obj)
    return f"{module}.{name}" if module and module != "builtins" else str(name)


def as_known(value: Value) -> tuple[Any, ...]:
    """The integers that a value is known to be; () if it is not."""
    items = flat_values(value)
    known = tuple(v.const for v in items if v.is_const and isinstance(v.const, (int, np.integer)))
    return known if len(known) == len(items) else ()


def _rebuild(t: Any, parts: Any) -> Value:
    if isinstance(t, TupleType):
        return Value(t, items=[_rebuild(item, parts) for item in t.items])
    found: Value = next(parts)
    return found


def _takes(kind: Any, value: Value) -> bool:
    """Whether a number can be cast safely to the type of a signature."""
    dtype = getattr(kind, "dtype", None)
    if not value.is_scalar or dtype is None:
        return True
    if hasattr(kind, "ndim") or dtype.kind not in "biufc":
        return False
    assert isinstance(value.type, Scalar)
    if value.type.weak:
        return "biufc".index(dtype.kind) >= "biufc".index(value.type.dtype.kind)
    return np.can_cast(value.type.dtype, dtype)


def _far(kind: Any, value: Value) -> int:
    """How far a number is from the type of a signature."""
    dtype = getattr(kind, "dtype", None)
    if not isinstance(value.type, Scalar) or dtype is None or hasattr(kind, "ndim"):
        return 0
    found = distance(dtype, value.type)
    return 10000 if found is None else found


class Calls(Operators):
    """Methods of the function compiler; *self* is one."""

    implicit: dict[str, None]
    _variable_value: Callable[..., Value]
    temp_array: Callable[[ArrayType], str]
    is_own: Callable[[Any, str], bool]
    points_to_own: Callable[[str], None]
    in_order: Callable[..., Value]
    may_write: bool  # whether the last call was one that may change memory

    def on_Call(self, node: ast.Call) -> Value:
        function = self.expr(node.func)
        if not function.is_object:
            raise self.source.error(f"{function.type} cannot be called", node.func)
        target = function.const
        if isinstance(target, Method):
            return self.method(node, target)
        args: list[Value] = []
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                args += self.unpack(self.expr(arg.value), arg)
            else:
                args.append(self.expr(arg))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.source.error("** is not supported in calls", node)
            kwargs[keyword.arg] = self.expr(keyword.value)
        self.may_write = False
        value = self.call(node, target, args, kwargs)
        if self.may_write:
            self.may_write = False
            return self.in_order(value, writes=True)
        return value

    def call(
        self, node: ast.Call, target: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        emitter = getattr(target, "emit_call", None)
        handler = emitter if emitter is not None else find(target)
        if handler is not None:
            try:
                result: Value = handler(self, node, args, kwargs)
            except WrongCall as error:
                raise self.source.error(str(error), node) from None
            return result
        inner = python_function(target)
        if isinstance(target, types.BuiltinFunctionType) and target in FUNCTIONS:
            if len(args) != 2 or kwargs:
                raise self.source.error(f"operator.{target.__name__}() takes two numbers", node)
            op = FUNCTIONS[target]()
            compares = isinstance(op, ast.cmpop)
            return self.compare(node, op, *args) if compares else self.binary(node, op, *args)
        if inner is None:
            from ..calls.mathematics import WRITTEN

            inner = WRITTEN.get(target) if isinstance(target, types.BuiltinFunctionType) else None
        if inner is None:
            raise self.source.error(f"{_describe(target)} cannot be called in a kernel", node.func)
        src = getattr(target, "src", None)
        declared = getattr(target, "declared", ())
        if not declared:
            return self.call_function(node, inner, args, kwargs, src)
        try:
            return self._call_declared(node, target, inner, args, kwargs, src)
        except WrongCall as error:  # a number of no type that it takes
            raise self.source.error(str(error), node) from None

    def _call_declared(
        self,
        node: ast.Call,
        target: Any,
        function: types.FunctionType,
        args: list[Value],
        kwargs: dict[str, Value],
        src: str | None,
    ) -> Value:
        """A call of a function with signatures: numbers are converted to the types of the
        nearest, the result to its own."""
        declared: Sequence[Any] = target.declared
        names = list(inspect.signature(function).parameters)
        given = {**dict(zip(names, args)), **kwargs}
        if hasattr(target, "nin"):  # as NumPy's ufuncs choose their loops
            fitting = [
                one
                for one in declared
                if all(_takes(t, given[n]) for n, t in zip(names, one.args) if n in given)
            ]
            if not fitting:
                found = ", ".join(str(v.type) for v in given.values())
                raise WrongCall(
                    f"{function.__name__} has no loop for ({found}), only "
                    f"{', '.join(map(repr, declared))}; convert the arguments"
                )
            chosen = fitting[0]
        else:
            chosen = min(
                declared,
                key=lambda one: sum(
                    _far(t, given[n]) for n, t in zip(names, one.args) if n in given
                ),
            )
        kinds = dict(zip(names, chosen.args))

        def converted(kind: Any, value: Value) -> Value:
            if value.is_tuple and len(value.items) == len(getattr(kind, "items", ())):
                items = list(map(converted, kind.items, value.items))
                return Value(TupleType(tuple(v.type for v in items)), items=items)
            dtype = getattr(kind, "dtype", None)
            if dtype is None or hasattr(kind, "ndim") or not value.is_scalar or dtype.names:
                return value
            if value.type.dtype.kind == "c" and dtype.kind != "c":  # type: ignore[union-attr]
                raise WrongCall(f"{function.__name__}: {value.type} does not become {dtype}")
            return cast(self, node, value, dtype, node, wraps=True)

        args = [converted(kinds[n], v) for n, v in zip(names, args)] + args[len(names) :]
        kwargs = {n: converted(kinds.get(n), v) for n, v in kwargs.items()}
        result = self.call_function(node, function, args, kwargs, src)
        return converted(chosen.returns, result)

    def call_function(
        self,
        node: ast.Call,
        function: types.FunctionType,
        args: list[Value],
        kwargs: dict[str, Value],
        src: str | None = None,
    ) -> Value:
        """A call of a device function."""
        try:
            bound = inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            raise self.source.error(f"{function.__name__}(): {error}", node) from None
        bound.apply_defaults()
        values = []
        for value in bound.arguments.values():
            if isinstance(value, tuple) and (not value or isinstance(value[0], Value)):
                raise self.source.error("*args are not supported in device functions", node)
            if isinstance(value, dict):
                raise self.source.error("**kwargs are not supported in device functions", node)
            values.append(value if isinstance(value, Value) else self.constant(value, node))
        arg_types = tuple(v.type for v in values)
        parts_given = [t for given in arg_types for t in flat_types(given)]
        self.may_write = any(isinstance(t, (ArrayType, RecordType)) for t in parts_given)
        made = self.device_function(node, function, arg_types, src, values)
        texts: list[str] = []
        for value, t in zip(values, arg_types):
            texts += emit.arguments(value, t)
        for name in made.implicit:
            self.implicit[name] = None
            texts.append(name)
        if isinstance(made.result, Scalar):
            return Value(made.result, f"{made.name}({', '.join(texts)})")
        if made.result == VOID:
            return Value(VOID, f"{made.name}({', '.join(texts)})")
        self.statement_only(node, "a call of a function that returns a tuple or an array")
        parts = []
        given = " ".join(texts)  # what it returns may be any of it
        for t in flat_types(made.result):
            if isinstance(t, ArrayType):
                parts.append(self._variable_value(t, self.temp_array(t)))
            else:
                kind = emit.pointer_type(t) if isinstance(t, RecordType) else f"{emit.c_type(t)} "
                parts.append(Value(t, self.temp(kind)))
            if isinstance(t, (ArrayType, RecordType)) and self.is_own(t, given):
                self.points_to_own(parts[-1].text)
            texts += [f"&{text}" for text in emit.arguments(parts[-1], t)]
        self.emit(f"{made.name}({', '.join(texts)});")
        return _rebuild(made.result, iter(parts))

    def device_function(
        self,
        node: ast.AST,
        function: types.FunctionType,
        arg_types: Any,
        src: str | None,
        values: Sequence[Value] = (),
    ) -> Any:
        """The function for these types. If it needs a number that is known, for the shape of its
        own array, it is compiled for the numbers among *values* that are."""
        key: tuple[Any, ...] = (function, arg_types)
        given = tuple(map(self.ranges_of, values)) if self.unit.checks else ()
        if any(f.__code__ is function.__code__ for f in self.unit.stack):
            raise self.source.error(
                f"{function.__name__} calls itself; devices have no recursion, write a loop", node
            )
        known = tuple(as_known(v) for v in values)
        made = self.unit.functions.get((*key, *given)) or self.unit.functions.get(
            (*key, *known, *given)
        )
        if made is not None:
            return made
        self.unit.wants_constant = False
        try:
            return self.unit.device_function(self.unit, function, arg_types, src, given=given)
        except KernelError:
            if not (self.unit.wants_constant and any(known)):
                raise
        return self.unit.device_function(self.unit, function, arg_types, src, known, given)

    def method(self, node: ast.Call, method: Method) -> Value:
        """A method of a number or an array."""
        value = method.value
        if method.name == "view":
            if len(node.args) != 1 or node.keywords:
                raise self.source.error("view() takes a dtype", node)
            return self.view_as(value, self.item_type(self.expr(node.args[0]), node), node)
        if method.name in ("conjugate", "conj"):
            return self.ufunc(node, "conjugate", [value])[0]
        if method.name == "item":
            assert isinstance(value.type, Scalar)
            kind = weak(
                {"b": bool, "i": int, "u": int, "f": float, "c": complex}[value.type.dtype.kind]
            )
            made = Value(kind, emit.convert(value, kind), nonneg=value.nonneg)
            return self.copied(made, value)
        return cast(self, node, value, self.dtype_of(self.expr(node.args[0]), node), node)

    def item_type(self, value: Value, node: ast.AST) -> np.dtype[Any]:
        """The dtype of the items of a kernel's own array: of numbers or of records."""
        named = getattr(value.const, "dtype", value.const) if value.is_object else None
        if isinstance(named, np.dtype) and named.names and not named.hasobject:
            self.unit.need(named)
            return named
        dtype = self.dtype_of(value, node)
        self.need_dtype(dtype, node)
        return dtype

    def dtype_of(self, value: Value, node: ast.AST) -> np.dtype[Any]:
        """The dtype that an argument names."""
        from ..types import as_dtype

        if value.is_object:
            try:
                return as_dtype(value.const)
            except TypeError as error:
                raise self.source.error(str(error), node) from None
        raise self.source.error(f"a dtype is needed, not {value.type}", node)
