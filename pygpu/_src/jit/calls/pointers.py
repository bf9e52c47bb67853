"""Arrays over the memory of a pointer: Numba's ``carray`` and ``farray`` in kernels."""

from __future__ import annotations

import ast

from .. import emit
from ..ir import Value
from ..types import WEAK_INT, ArrayType
from ..walk.attributes import product_text
from ..walk.context import FunctionContext
from ..walk.conversions import dtype_of
from ..walk.registry import Args, Kwargs, WrongCall, count


def carray(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    """A view of a pointer's memory in C order."""
    return _view(fc, node, args, kwargs, "carray")


def farray(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    """The same in Fortran order."""
    return _view(fc, node, args, kwargs, "farray")


def _view(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs, name: str) -> Value:
    given = dict(zip(("pointer", "shape", "dtype"), args), **kwargs)
    count(name, list(given.values()), {}, 2, 3)
    pointer, shape = args[0], given.get("shape")
    t = pointer.type
    if not isinstance(t, ArrayType) or t.ndim != 1 or not t.contiguous or shape is None:
        raise WrongCall(f"{name}() takes a pointer, CPointer(float32), and a shape, not {t}")
    if "dtype" in given:
        dtype = dtype_of(fc, given["dtype"], node)
        if dtype != t.item_dtype:
            raise WrongCall(f"{name}(): dtype is {dtype}, but the pointer is to {t.item_dtype}")
    texts = []
    for item in shape.items if shape.is_tuple else [shape]:
        if not item.is_scalar or item.dtype.kind not in "iu":
            raise WrongCall(f"{name}() takes a shape of integers, not of {item.type}")
        texts.append(fc.stable(emit.convert(item, WEAK_INT)))
    # An empty view if it is larger than the memory: indices are then out of bounds.
    signs = "".join(f" && {n} >= 0" for n in texts)
    fits = fc.stable(f"({product_text(texts)} <= {pointer.shape[0]}{signs})")
    texts = [fc.stable(f"({fits} ? {n} : 0)") for n in texts]
    kind = ArrayType(t.item_dtype, len(texts), name == "carray" or len(texts) == 1, t.space)
    strides = None
    if not kind.contiguous:
        size = str(t.item_dtype.itemsize)
        strides = [
            fc.stable(product_text([size, *texts[:k]])) if k else size for k in range(len(texts))
        ]
    return Value(kind, pointer.text, shape=texts, strides=strides)
