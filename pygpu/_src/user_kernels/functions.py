"""Mathematical functions of arrays by their C names: the implementation of clmath and cumath.

Integers are converted as in NumPy (int8 to float16, int16 to float32, others to float64); float16
is computed in float32. Results are those of the device's own functions, except erf, erfc, lgamma
and tgamma, which are pygpu.special's, because OpenCL leaves their errors unspecified or large.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import elementwise, launch_cache, layout, ufuncs
from pygpu._src.codegen import dtypes
from pygpu._src.util.lazy import lazy

# Functions whose source is not simply name(x0) in both languages; {T} is the type of x0.
_SAME = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi exp exp10 exp2 expm1 fabs floor log "
    "log10 log1p log2 logb rint round sin sinh sinpi sqrt tan tanh trunc"
).split()
_TEXTS = {
    **{name: f"{name}(x0)" for name in _SAME},
    "acospi": "acos(x0) * ({T})0.31830988618379067154",
    "asinpi": "asin(x0) * ({T})0.31830988618379067154",
    "atanpi": "atan(x0) * ({T})0.31830988618379067154",
    "tanpi": "sinpi(x0) / cospi(x0)",
    "ilogb": "({T})ilogb(x0)",
}
_SPECIAL = {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln", "tgamma": "gamma"}
_OPENCL = {name: f"{name}(x0)" for name in ("acospi", "asinpi", "atanpi", "tanpi")}
_COMPLEX = frozenset(
    "acos acosh asin asinh atan atanh cos cosh exp log sin sinh sqrt tan tanh".split()
)
_BINARY = {
    "fmod": "fmod(x0, x1)",
    "atan2": "atan2(x0, x1)",
    "atan2pi": "atan2(x0, x1) * ({T})0.31830988618379067154",
    "ldexp": "ldexp(x0, x1)",
}
NAMES = tuple(sorted({*_TEXTS, *_SPECIAL}))


def float_dtype(*given: Any, call: str, backend: Any) -> np.dtype[Any]:
    """Return the dtype in which a function computes, from those of its operands."""
    dtype = np.result_type(*given, np.float16)
    if dtype.kind not in "fc":
        raise TypeError(f"{call}: numbers are needed, not {given[0]}")
    if not any(d.kind in "fc" for d in given) and not backend.limits.fp64:
        dtype = np.dtype(np.float32)
    dtypes.require(backend, call, dtype)
    return dtype


@cache
def _unary(language: str, name: str, dtype: np.dtype[Any], fp64: bool) -> elementwise.Operation:
    helpers = ""
    if dtype.kind == "c":
        if name == "log10":
            real = "pg_f32" if dtype.itemsize == 8 else "pg_f64"
            code = dtypes.code(dtype)
            body = f"y0 = pg_{code}_scale(pg_{code}_log(x0), ({real})0.43429448190325182765);"
        elif name in _COMPLEX:
            body = f"y0 = pg_{dtypes.code(dtype)}_{name}(x0);"
        else:
            raise TypeError(f"{name}: this function is not supported for complex numbers")
        features = frozenset(["complex"])
    elif name in _SPECIAL:  # computed by pygpu.special
        code = "f64" if dtype.itemsize == 8 else "f32"
        body, texts = lazy("pygpu._src.codegen.special").expression(_SPECIAL[name], code, fp64)
        helpers = "".join(texts.values())
        features = frozenset()
    else:
        text = _TEXTS[name]
        if language == "opencl":
            text = _OPENCL.get(name, text)
        body = f"y0 = {text.replace('{T}', dtypes.compute_type(dtype))};"
        features = frozenset()
    return elementwise.Operation(
        f"function_{name}", (dtype,), (dtype,), body, helpers, features=features
    )


def _result(call: str, like: Any, shape: Any, dtype: np.dtype[Any], out: Any, queue: Any) -> Any:
    """Return *out* after checking it, or a new array."""
    if out is None:
        if shape == like.shape:
            strides = layout.keep_order_strides(shape, like.strides, dtype.itemsize)
        else:
            strides = None
        return like._new(shape, dtype, strides, queue)
    if getattr(out, "backend", None) is None:
        raise TypeError(f"{call}: out must be an array on the device, not {type(out).__name__}")
    if out.dtype != dtype:
        raise TypeError(f"{call}: out must have dtype {dtype}, not {out.dtype}")
    if out.shape != shape:
        raise ValueError(f"{call}: out must have shape {shape}, not {out.shape}")
    return out


def _check(call: str, *arrays: Any) -> None:
    for array in arrays:
        if getattr(array, "backend", None) is None:
            raise TypeError(
                f"{call}: an array on the device is needed, not {type(array).__name__}; "
                "copy it there first (to_device, to_gpu)"
            )
    if any(array.backend.context != arrays[0].backend.context for array in arrays):
        raise ValueError(f"{call}: the arrays are in different contexts")


def apply(name: str, array: Any, queue: Any = None, out: Any = None) -> Any:
    """Apply the function to each item."""
    if queue is None:
        cached = launch_cache.run_cached(f"function_{name}", array, out=out)
        if cached is not None:
            return cached
    _check(name, array)
    backend = array.backend
    dtype = float_dtype(array.dtype, call=name, backend=backend)
    operation = _unary(backend.name, name, dtype, backend.limits.fp64)
    result = _result(name, array, array.shape, dtype, out, queue)
    _run(array, operation, [result], [array], array.shape, queue, (out,))
    return result


def _run(
    array: Any,
    operation: elementwise.Operation,
    results: list[Any],
    operands: list[Any],
    shape: Any,
    queue: Any,
    given: tuple[Any, ...] | None = None,
) -> None:
    """Launch on the array's queue or another one, as if all operands were read before anything is
    written. given: the argument out of a call that is cached."""
    apart = [ufuncs.without_overlap(x, results) for x in operands]
    call = None
    if given is not None and all(x is y for x, y in zip(apart, operands, strict=True)):
        call = launch_cache.Call(operation.name, tuple(operands), *given)
    queue = array.queue if queue is None else queue
    elementwise.run(operation, results, apart, shape, queue, call=call)


@cache
def _binary(name: str, dtype: np.dtype[Any], second: np.dtype[Any]) -> elementwise.Operation:
    body = f"y0 = {_BINARY[name].replace('{T}', dtypes.compute_type(dtype))};"
    return elementwise.Operation(f"function_{name}", (dtype, second), (dtype,), body)


def binary(name: str, a: Any, b: Any, queue: Any = None, out: Any = None) -> Any:
    """Apply the function to the items of two arrays, which are broadcast against each other. ldexp
    takes integers as its second argument; fractions of exponents are dropped."""
    if queue is None:
        cached = launch_cache.run_cached(f"function_{name}", a, b, out=out)
        if cached is not None:
            return cached
    _check(name, a, b)
    backend = a.backend
    if name == "ldexp":
        dtype = float_dtype(a.dtype, call=name, backend=backend)
        second = np.dtype(np.int32)
    else:
        dtype = second = float_dtype(a.dtype, b.dtype, call=name, backend=backend)
    if "c" in (dtype.kind, second.kind, b.dtype.kind):
        raise TypeError(f"{name}: this function is not supported for complex numbers")
    shape = layout.broadcast_shapes(a.shape, b.shape)
    result = _result(name, a, shape, dtype, out, queue)
    operation = _binary(name, dtype, second)
    _run(a, operation, [result], [a, b], shape, queue, (out,))
    return result


@cache
def _split(name: str, dtype: np.dtype[Any], second: np.dtype[Any]) -> elementwise.Operation:
    if name == "frexp":
        body = f"int e; y0 = frexp(x0, &e); y1 = ({dtypes.compute_type(second)})e;"
    else:
        real = dtypes.compute_type(dtype)
        body = f"{real} whole; y0 = modf(x0, &whole); y1 = whole;"
    return elementwise.Operation(f"function_{name}", (dtype,), (dtype, second), body)


def split(name: str, array: Any, queue: Any = None, exponent: Any = None) -> tuple[Any, Any]:
    """frexp: (significands, exponents of dtype *exponent*); modf: (fractions, whole numbers)."""
    if queue is None and isinstance(array, GPUArray):
        cached = _cached_split(name, array, exponent)
        if cached is not None:
            return cached
    _check(name, array)
    backend = array.backend
    dtype = float_dtype(array.dtype, call=name, backend=backend)
    if dtype.kind == "c":
        raise TypeError(f"{name}: this function is not supported for complex numbers")
    second = dtype if exponent is None else np.dtype(exponent)
    first = _result(name, array, array.shape, dtype, None, queue)
    other = _result(name, array, array.shape, second, None, queue)
    operation = _split(name, dtype, second)
    _run(array, operation, [first, other], [array], array.shape, queue)
    arrays = first, other, array
    if array.size and array.dtype == dtype and all(x._is_aligned for x in arrays):
        launch = elementwise.prepare(backend, operation, arrays, array.shape)
        slots = (launch_cache.RESULT, 1, 0)  # the result, and the same for the operands
        step = launch_cache.step(
            backend, launch.kernel, launch.groups, launch.group_size, slots, launch.numbers
        )
        plans = backend.table.plans
        plans.add(operation.name, 0, (array, other), None, first, (step,), (), (1,))
    return first, other


def _cached_split(name: str, array: Any, exponent: Any) -> tuple[Any, Any] | None:
    """Run split() from the cache, if it has a launch for such an array."""
    if not array._c_contiguous or array.dtype.kind != "f":
        return None
    other = array._new(array.shape, array.dtype if exponent is None else np.dtype(exponent))
    first = array.backend.table.plans.run(f"function_{name}", array, other)
    return None if first is None else (first, other)
