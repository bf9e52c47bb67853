"""NumPy's functions, other than ufuncs, that kernels may call."""

from __future__ import annotations

import ast

import numpy as np

from .. import emit
from ..ir import Value
from ..walk.conditionals import choose
from ..walk.constants import constant
from ..walk.context import FunctionContext
from ..walk.conversions import dtype_of
from ..walk.operators import call_ufunc
from ..walk.registry import Args, Kwargs, WrongCall, count, handles
from .builtins import _round


@handles(np.where)
def _where(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("numpy.where", args, kwargs, 3, 3)
    test = fc.as_number(args[0], node)
    if test.is_const:
        return args[1] if test.const else args[2]
    return choose(fc, node, emit.truth(test), args[1], args[2])


@handles(np.clip)
def _clip(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("numpy.clip", args, kwargs, 3, 3)
    low = call_ufunc(fc, node, "maximum", [args[0], args[1]], strong=True)[0]
    return call_ufunc(fc, node, "minimum", [low, args[2]], strong=True)[0]


@handles(np.round, np.around)
def _np_round(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("numpy.round", args, kwargs, 1, 2)
    value = fc.as_number(args[0], node)
    if value.dtype.kind in "iu":
        return value
    if len(args) == 1 or (args[1].is_const and args[1].const == 0):
        return call_ufunc(fc, node, "rint", [value], strong=True)[0]
    return _round(fc, node, args, kwargs)


@handles(np.finfo, np.iinfo)
def _limits(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    """Return the limits of a dtype, or of a number's dtype, as an object with constant
    attributes."""
    function = fc.expr(node.func).const
    count(f"numpy.{function.__name__}", args, kwargs, 1, 1)
    value = args[0]
    dtype = value.dtype if value.is_scalar else dtype_of(fc, value, node)
    try:
        return constant(fc, function(dtype), node)
    except ValueError as error:
        raise WrongCall(str(error)) from None


@handles(np.real, np.imag)
def _real(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("numpy.real", args, kwargs, 1, 1)
    raise WrongCall("write z.real or z.imag")
