"""Calls in kernels: of builtins, of device functions, of methods of numbers."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Method, Value, flat_values, tuple_of
from ..source import KernelError, python_function
from ..types import (
    VOID,
    WEAK_INT,
    ArrayType,
    RecordType,
    Scalar,
    TupleType,
    distance,
    flat_types,
    weak,
)
from .attributes import view_as
from .comparisons import FUNCTIONS, compare
from .constants import constant
from .context import FunctionContext
from .conversions import cast, dtype_of, item_type
from .date_operations import to_dtype
from .formatted import formatted
from .names import UnboundName
from .operators import binary, call_ufunc
from .optional import unwrapped
from .registry import Args, Handler, Kwargs, WrongCall, find, import_rare, visits_expression
from .sequences import unpack
from .variables import variable_value

METHODS: dict[str, Handler] = {}  # methods of arrays; the array is the first argument
_METHODS_OF_DATES = frozenset("astype copy fill flatten ravel reshape".split())
_MOST_TYPES = 16  # for which a recursive function is compiled


def _describe(obj: Any) -> str:
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    module = getattr(obj, "__module__", None)
    if name is None:
        return repr(obj)
    return f"{module}.{name}" if module and module != "builtins" else str(name)


def _is_pygpus(function: types.FunctionType) -> bool:
    """Whether a function is defined in pygpu, where its lines mean nothing to users."""
    return str(function.__globals__.get("__name__")).startswith("pygpu.")


def as_constants(value: Value) -> tuple[Any, ...]:
    """Return the known integer values of a value; () if unknown."""
    items = flat_values(value)
    constants = tuple(
        v.const for v in items if v.is_const and isinstance(v.const, (int, np.integer))
    )
    return constants if len(constants) == len(items) else ()


def _rebuild(t: Any, parts: Any) -> Value:
    if isinstance(t, TupleType):
        return Value(t, items=[_rebuild(item, parts) for item in t.items])
    found: Value = next(parts)
    return found


def _casts_safely(kind: Any, value: Value) -> bool:
    """Whether a number can be cast safely to the type of a signature."""
    dtype = getattr(kind, "dtype", None)
    if not value.is_scalar or dtype is None:
        return True
    if hasattr(kind, "ndim") or dtypes.kind(dtype) not in "biufc":
        return False
    assert isinstance(value.type, Scalar)
    if value.type.weak:
        return "biufc".index(dtypes.kind(dtype)) >= "biufc".index(value.type.dtype.kind)
    return np.can_cast(value.type.dtype, dtype)


def _cast_cost(kind: Any, value: Value) -> int:
    """Return how far a number is from the type of a signature."""
    dtype = getattr(kind, "dtype", None)
    if not isinstance(value.type, Scalar) or dtype is None or hasattr(kind, "ndim"):
        return 0
    found = distance(dtype, value.type)
    return 10000 if found is None else found


@visits_expression(ast.Call)
def call(fc: FunctionContext, node: ast.Call) -> Value:
    function = fc.expr(node.func)
    if not function.is_object:
        raise fc.source.error(f"{function.type} cannot be called", node.func)
    target = function.const
    if isinstance(target, Method) and not target.value.is_array:
        return call_method(fc, node, target)
    args: list[Value] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            args += unpack(fc, fc.expr(arg.value), arg)
        elif isinstance(arg, ast.JoinedStr) and target is print:
            args.append(formatted(fc, arg))
        else:
            args.append(fc.expr(arg))
    kwargs: Kwargs = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise fc.source.error("** is not supported in calls", node)
        kwargs[keyword.arg] = fc.expr(keyword.value)
    fc.may_write = False
    if isinstance(target, Method):
        value = _call_array_method(fc, node, target, args, kwargs)
    else:
        value = call_object(fc, node, target, args, kwargs)
    if fc.may_write:
        fc.may_write = False
        return fc.in_order(value, writes=True)
    return value


def call_object(
    fc: FunctionContext, node: ast.Call, target: Any, args: Args, kwargs: Kwargs
) -> Value:
    emitter = getattr(target, "emit_call", None)
    handler = emitter if emitter is not None else find(target)
    if handler is not None:
        refusal = fc.unit.refuses(target, [*args, *kwargs.values()])
        if refusal:
            raise fc.source.error(refusal, node)
        try:
            result: Value = handler(fc, node, args, kwargs)
        except WrongCall as error:
            raise fc.source.error(str(error), node) from None
        return result
    if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
        fields = _bind(fc, node, target, args, kwargs)  # of a namedtuple
        return tuple_of(list(fields.values()), tuple(fields))
    inner = python_function(target)
    if isinstance(target, types.BuiltinFunctionType) and target in FUNCTIONS:
        if len(args) != 2 or kwargs:
            raise fc.source.error(f"operator.{target.__name__}() takes two numbers", node)
        op = FUNCTIONS[target]()
        compares = isinstance(op, ast.cmpop)
        return compare(fc, node, op, *args) if compares else binary(fc, node, op, *args)
    if inner is None:
        raise fc.source.error(f"{_describe(target)} cannot be called in a kernel", node.func)
    src = getattr(target, "src", None)
    declared = getattr(target, "declared", ())
    if not declared:
        try:
            return call_function(fc, node, inner, args, kwargs, src)
        except KernelError as error:
            inner_only = _is_pygpus(inner) and not _is_pygpus(fc.source.function)
            if isinstance(error, UnboundName) or not inner_only:
                raise
            reason = str(error).partition("\n")[0]
            name = f"{_describe(target)} cannot be called in a kernel"
            raise fc.source.error(f"{name} ({reason})", node.func) from None
    try:
        return _call_declared(fc, node, target, inner, args, kwargs, src)
    except WrongCall as error:  # a number of a type that it does not accept
        raise fc.source.error(str(error), node) from None


def _call_declared(
    fc: FunctionContext,
    node: ast.Call,
    target: Any,
    function: types.FunctionType,
    args: Args,
    kwargs: Kwargs,
    src: str | None,
) -> Value:
    """Call a function with signatures: numbers are converted to the types of the nearest
    signature, the result to its result type."""
    declared: Sequence[Any] = target.declared
    names = list(inspect.signature(function).parameters)
    given = {**dict(zip(names, args)), **kwargs}
    if hasattr(target, "nin"):  # as NumPy's ufuncs choose their loops
        fitting = [
            one
            for one in declared
            if all(_casts_safely(t, given[n]) for n, t in zip(names, one.args) if n in given)
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
                _cast_cost(t, given[n]) for n, t in zip(names, one.args) if n in given
            ),
        )
    kinds = dict(zip(names, chosen.args))

    def converted(kind: Any, value: Value) -> Value:
        value = unwrapped(value)
        if value.is_tuple and len(value.items) == len(getattr(kind, "items", ())):
            items = list(map(converted, kind.items, value.items))
            return tuple_of(items)
        dtype = getattr(kind, "dtype", None)
        if dtype is not None and value.is_date:
            return to_dtype(fc, value, dtype, node)
        if dtype is None or hasattr(kind, "ndim") or not value.is_scalar or dtype.names:
            return value
        if value.dtype.kind == "c" and dtype.kind != "c":
            raise WrongCall(f"{function.__name__}: cannot convert {value.type} to {dtype}")
        return cast(fc, node, value, dtype, node, wraps=True)

    args = [converted(kinds[n], v) for n, v in zip(names, args)] + args[len(names) :]
    kwargs = {n: converted(kinds.get(n), v) for n, v in kwargs.items()}
    result = call_function(fc, node, function, args, kwargs, src)
    return converted(chosen.returns, result)


def call_function(
    fc: FunctionContext,
    node: ast.Call,
    function: types.FunctionType,
    args: Args,
    kwargs: Kwargs,
    src: str | None = None,
) -> Value:
    """Call a device function."""
    values = list(_bind(fc, node, function, args, kwargs).values())
    arg_types = tuple(v.type for v in values)
    parts_given = [t for given in arg_types for t in flat_types(given)]
    fc.may_write = any(isinstance(t, (ArrayType, RecordType)) for t in parts_given)
    made = device_function(fc, node, function, arg_types, src, values)
    texts: list[str] = []
    for value, t in zip(values, arg_types):
        texts += emit.arguments(value, t)
    for name in made.implicit:
        fc.implicit[name] = None
        texts.append(name)
    if isinstance(made.result, Scalar):
        return Value(made.result, f"{made.name}({', '.join(texts)})")
    if made.result == VOID:
        return Value(VOID, f"{made.name}({', '.join(texts)})")
    fc.statement_only(node, "a call of a function that returns a tuple, an array or None")
    parts = []
    given = " ".join(texts)  # what it returns may be any of these
    for t in flat_types(made.result):
        if isinstance(t, ArrayType):
            parts.append(variable_value(t, fc.temp_array(t)))
        else:
            kind = emit.pointer_type(t) if isinstance(t, RecordType) else f"{emit.c_type(t)} "
            parts.append(Value(t, fc.temp(kind)))
        if isinstance(t, (ArrayType, RecordType)) and fc.is_private_array(t, given):
            fc.record_private_pointer(parts[-1].text)
        texts += [f"&{text}" for text in emit.arguments(parts[-1], t)]
    fc.emit(f"{made.name}({', '.join(texts)});")
    return _rebuild(made.result, iter(parts))


def _bind(
    fc: FunctionContext,
    node: ast.Call,
    function: Any,
    args: Args,
    kwargs: Kwargs,
) -> dict[str, Value]:
    """Return the value of each parameter; that of ``*args`` is a tuple."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise fc.source.error(f"{function.__name__}(): {error}", node) from None
    bound.apply_defaults()
    values = {}
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            raise fc.source.error("**kwargs are not supported in device functions", node)
        if kind is inspect.Parameter.VAR_POSITIONAL:
            value = tuple_of(value)
        values[name] = value if isinstance(value, Value) else constant(fc, value, node)
    return values


def device_function(
    fc: FunctionContext,
    node: ast.AST,
    function: types.FunctionType,
    arg_types: Any,
    src: str | None,
    values: Sequence[Value] = (),
) -> Any:
    """Return the function for these types. If it needs a known number, for the shape of its own
    array, it is compiled for the numbers among *values* that are known."""
    key: tuple[Any, ...] = (function, arg_types)
    around = sum(f.__code__ is function.__code__ for f in fc.unit.stack)
    if around:
        return _recursive(fc, node, function, arg_types, src, around)
    given = tuple(map(fc.ranges.ranges_of, values)) if fc.unit.checks else ()
    constants = tuple(as_constants(v) for v in values)
    made = fc.unit.functions.get((*key, *given)) or fc.unit.functions.get(
        (*key, *constants, *given)
    )
    if made is not None:
        return made
    fc.unit.wants_constant = False
    try:
        return fc.unit.device_function(fc.unit, function, arg_types, src, given=given)
    except KernelError:
        if not (fc.unit.wants_constant and any(constants)):
            raise
    return fc.unit.device_function(fc.unit, function, arg_types, src, constants, given)


def _recursive(
    fc: FunctionContext,
    node: ast.AST,
    function: types.FunctionType,
    arg_types: Any,
    src: str | None,
    around: int,
) -> Any:
    """Return the function for these types in a recursive call, possibly through others. *around*:
    how many of it, for other types, are being compiled."""
    name = function.__name__
    if fc.unit.dialect == "opencl":
        raise fc.source.error(f"{name} calls itself; OpenCL has no recursion, write a loop", node)
    if len(fc.unit.stack) > len(fc.unit.active) and fc.unit.stack[0] is function:
        raise fc.source.error(f"{name} is a kernel, which cannot call itself", node)
    made = fc.unit.functions.get((function, arg_types))
    if made is not None:
        return made
    for active in fc.unit.active:
        if active.key == (function, arg_types):
            if fc.active is not None:
                fc.active.lowest = min(fc.active.lowest, active.depth)
            if active.result is None:
                raise UnboundName(
                    fc.source.error(
                        f"cannot type infer runaway recursion: {name} returns nothing but what it "
                        "returns itself",
                        node,
                    ),
                    active,
                )
            active.is_recursive = True
            return active
    if around >= _MOST_TYPES:
        raise fc.source.error(f"{name} calls itself with too many different argument types", node)
    return fc.unit.device_function(fc.unit, function, arg_types, src)


def _call_array_method(
    fc: FunctionContext, node: ast.Call, method: Method, args: Args, kwargs: Kwargs
) -> Value:
    if method.name == "view":
        if len(args) != 1 or kwargs:
            raise fc.source.error("view() takes a dtype", node)
        return view_as(fc, method.value, item_type(fc, args[0], node), node)
    array_type = method.value.type
    assert isinstance(array_type, ArrayType)
    if array_type.date is not None and method.name not in _METHODS_OF_DATES:
        raise fc.source.error(
            f"{method.name}() of an array of {array_type.date} is not supported in kernels; view "
            "it as int64",
            node,
        )
    import_rare()
    handler = METHODS.get(method.name)
    if handler is None:
        raise fc.source.error(f"{method.name} of an array cannot be called in kernels", node)
    try:
        return handler(fc, node, [method.value, *args], kwargs)
    except WrongCall as error:
        raise fc.source.error(str(error), node) from None


def call_method(fc: FunctionContext, node: ast.Call, method: Method) -> Value:
    """Call a method of a number."""
    value = method.value
    if value.is_date:
        if len(node.args) != 1 or node.keywords:
            raise fc.source.error(f"{method.name}() of {value.type} takes a dtype", node)
        return to_dtype(fc, value, dtype_of(fc, fc.expr(node.args[0]), node), node)
    if method.name == "bit_count":
        if node.args or node.keywords or value.dtype.kind not in "iu":
            raise fc.source.error(f"{value.type} has no bit_count() with these arguments", node)
        counted = call_ufunc(fc, node, "bitwise_count", [value])[0]
        return Value(WEAK_INT, emit.convert(counted, WEAK_INT), nonneg=True)
    if method.name in ("conjugate", "conj"):
        return call_ufunc(fc, node, "conjugate", [value])[0]
    if method.name == "item":
        kind = weak(
            {"b": bool, "i": int, "u": int, "f": float, "c": complex}[dtypes.kind(value.dtype)]
        )
        made = Value(kind, emit.convert(value, kind), nonneg=value.nonneg)
        return fc.ranges.copied(made, value)
    return cast(fc, node, value, dtype_of(fc, fc.expr(node.args[0]), node), node)
