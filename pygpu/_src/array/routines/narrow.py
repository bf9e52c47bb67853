"""Functions in float32 for arrays of bfloat16 and float8, with results rounded at the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import primitives
from pygpu._src.codegen import dtypes

_DTYPE_VALUES = (
    GPUArray,
    np.dtype,
    type,
    str,
)  # values that specify a result's dtype: out or dtype


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function: arrays of ml_dtypes' narrow floats are computed in float32."""

    @wraps(function)
    def call(a: Any, *args: Any, **options: Any) -> Any:
        given: np.dtype[Any] = a.dtype
        if not dtypes.is_of_ml_dtypes(given) or not dtypes.is_narrow(given):
            return function(a, *args, **options)
        result = function(primitives.astype(a, np.dtype(np.float32)), *args, **options)
        named = any(isinstance(value, _DTYPE_VALUES) for value in args)
        named = named or options.get("dtype") is not None or options.get("out") is not None
        if named or not isinstance(result, GPUArray) or result.dtype != np.float32:
            return result
        return primitives.astype(result, given)

    return call
