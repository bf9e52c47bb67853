"""Arrays that kernels make by NumPy's functions, and methods that return an array: views, and
thread-private arrays."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import emit
from ..ir import Value
from ..types import VOID, WEAK_INT, ArrayType, TupleType
from ..walk.attributes import product_text
from ..walk.calls import METHODS
from ..walk.constants import constant
from ..walk.context import FunctionContext
from ..walk.conversions import dtype_of
from ..walk.items import length_value
from ..walk.registry import Args, Handler, Kwargs, WrongCall, count, handles
from ..walk.stores import fill, writable
from . import reductions
from .intrinsics import local

METHODS |= reductions.METHODS


_HandlerT = TypeVar("_HandlerT", bound=Handler)


def _private_array(
    fc: FunctionContext, node: ast.Call, name: str, shape: Value, dtype: Value | None
) -> Value:
    """Make a new thread-private array."""
    fc.statement_only(node, f"numpy.{name}()")
    named = constant(fc, np.dtype("f8"), node) if dtype is None else dtype
    try:
        made: Value = local.array.emit_call(fc, node, [shape, named], {})
    except WrongCall as error:
        raise WrongCall(str(error).replace("local.array", f"numpy.{name}")) from None
    return made


def _filled(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    function = fc.expr(node.func).const
    name = function.__name__
    like = name.endswith("_like")
    names = ["shape", "dtype"]
    if name.startswith("full"):
        names.insert(1, "fill_value")
    given = dict(zip(names, args), **kwargs)
    shape, dtype = given.pop("shape", None) or given.pop("a", None), given.pop("dtype", None)
    number = given.pop("fill_value", None)
    if shape is None or given or len(args) > len(names) or (len(names) == 3 and number is None):
        raise WrongCall(f"numpy.{name}() takes {', '.join(names)} in kernels")
    if like:
        if not isinstance(shape.type, ArrayType):
            raise WrongCall(f"numpy.{name}() takes an array, not {shape.type}")
        dtype = dtype or constant(fc, shape.type.item_dtype, node)
        shape = _shape_value(shape)
    elif number is not None and dtype is None:
        dtype = constant(fc, fc.as_number(number, node).dtype, node)
    made = _private_array(fc, node, name, shape, dtype)
    if number is None and not name.startswith("empty"):
        number = constant(fc, int(name.startswith("ones")), node)
    if number is not None:
        fill(fc, made, number, node)
    return made


for _function in (
    *(np.empty, np.zeros, np.ones, np.full),
    *(np.empty_like, np.zeros_like, np.ones_like, np.full_like),
):
    handles(_function)(_filled)


def _shape_value(array: Value) -> Value:
    items = [length_value(n) for n in array.shape]
    return Value(TupleType((WEAK_INT,) * len(items)), items=items)


def _method(name: str) -> Callable[[_HandlerT], _HandlerT]:
    def keep(handler: _HandlerT) -> _HandlerT:
        METHODS[name] = handler
        return handler

    return keep


@_method("copy")
def _copy(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("copy", args, kwargs, 1, 1)
    assert isinstance(args[0].type, ArrayType)
    return _converted(fc, node, args[0], args[0].type.item_dtype, "copy")


@_method("astype")
def _astype(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("astype", args, kwargs, 2, 2)
    return _converted(fc, node, args[0], dtype_of(fc, args[1], node), "astype")


def _converted(
    fc: FunctionContext, node: ast.Call, array: Value, dtype: np.dtype[Any], name: str
) -> Value:
    made = _private_array(fc, node, name, _shape_value(array), constant(fc, dtype, node))
    fill(fc, made, array, node)
    return made


@_method("fill")
def _fill(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("fill", args, kwargs, 2, 2)
    fc.statement_only(node, "fill()")
    writable(fc, args[0], node)
    fill(fc, args[0], args[1] if args[1].is_date else fc.as_number(args[1], node), node)
    return Value(VOID)


@_method("reshape")
def _reshape(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    array, *given = args
    if len(given) == 1 and given[0].is_tuple:
        given = list(given[0].items)
    if kwargs or not given:
        raise WrongCall("reshape() takes a shape in kernels")
    t = array.type
    assert isinstance(t, ArrayType)
    if not t.contiguous:
        raise WrongCall(f"reshape() of {t} needs a contiguous array")
    size = product_text(array.shape)
    texts: list[str] = []
    for item in given:
        if not item.is_scalar or item.dtype.kind not in "iu":
            raise WrongCall(f"reshape() takes integers, not {item.type}")
        texts.append(
            str(int(item.const)) if item.is_const else fc.stable(emit.convert(item, WEAK_INT))
        )
    if texts.count("-1") > 1 or any(t[0] == "-" and t != "-1" for t in texts):
        raise WrongCall(f"reshape(): ({', '.join(texts)}) is not a shape")
    if "-1" in texts:
        rest = product_text([n for n in texts if n != "-1"] or ["1"])
        texts[texts.index("-1")] = _divided(size, rest)
    elif any(not (item.is_const or item.nonneg) for item in given):
        rest = fc.stable(
            product_text([n if n.isdigit() else f"({n} == -1 ? 1 : {n})" for n in texts])
        )
        texts = [n if n.isdigit() else f"({n} == -1 ? {_divided(size, rest)} : {n})" for n in texts]
        texts = list(map(fc.stable, texts))
    made = product_text(texts)
    if made.isdigit() and size.isdigit():
        if made != size:
            raise WrongCall(f"cannot reshape {size} items into shape ({', '.join(texts)})")
    else:  # an empty view if the sizes differ
        signs = "".join(f" && {n} >= 0" for n in texts if not n.isdigit())
        fits = fc.stable(f"({made} == {size}{signs})")
        texts = [fc.stable(f"({fits} ? {n} : 0)") for n in texts]
    return Value(ArrayType(t.item_dtype, len(texts), True, t.space), array.text, shape=texts)


def _divided(size: str, rest: str) -> str:
    if size.isdigit() and rest.isdigit():
        if rest == "0" or int(size) % int(rest):
            raise WrongCall(f"cannot reshape {size} items into rows of {rest}")
        return str(int(size) // int(rest))
    return f"({rest} > 0 ? {size} / {rest} : 0)" if not rest.isdigit() else f"({size} / {rest})"


@_method("ravel")
def _ravel(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("ravel", args, kwargs, 1, 1)
    return _reshape(fc, node, [args[0], constant(fc, -1, node)], {})


@_method("flatten")
def _flatten(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("flatten", args, kwargs, 1, 1)
    return _ravel(fc, node, [_copy(fc, node, args, {})], {})


@handles(np.reshape)
def _np_reshape(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    if len(args) != 2 or kwargs or not args[0].is_array:
        raise WrongCall("numpy.reshape() takes an array and a shape in kernels")
    return _reshape(fc, node, args, {})


@handles(np.ravel)
def _np_ravel(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    if len(args) != 1 or kwargs or not args[0].is_array:
        raise WrongCall("numpy.ravel() takes an array in kernels")
    return _ravel(fc, node, args, {})


@_method("item")
def _item(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    raise WrongCall("item() is not supported for arrays in kernels; index the array: a[i]")
