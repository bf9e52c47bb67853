"""Special functions of arrays: the implementation of pygpu.special.

Each is an elementwise operation with source from :mod:`pygpu._src.codegen.special`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import elementwise, launch_cache, ufuncs
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.fastpath import plain
from pygpu._src.codegen.special import FUNCTIONS, argument_code, expression
from pygpu._src.util.public import publish
from pygpu._src.util.wording import counted

# names here of the ufuncs that SciPy's functions call
_UFUNCS = {"_zeta": "zeta", "_riemann_zeta": "riemann_zeta", "_lambertw": "lambertw"}
_PYTHON_FUNCTIONS = frozenset("zeta polygamma lambertw softplus".split())
_PYTHON_FUNCTIONS |= {f"spherical_{kind}n" for kind in "jyik"}


@cache
def _operation(name: str, dtype: np.dtype[Any], fp64: bool) -> elementwise.Operation:
    body, texts = expression(name, dtypes.code(dtype), fp64)
    inputs = argument_dtypes(name, dtype)
    outputs = (dtype,) * FUNCTIONS[name].results
    return elementwise.Operation(f"special_{name}", inputs, outputs, body, "".join(texts.values()))


def argument_dtypes(name: str, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], ...]:
    """Those that the arguments are converted to, for a calculation in *dtype*."""
    kinds: dict[str, np.dtype[Any]] = {
        "i64": np.dtype(np.int64),
        "f32": np.dtype(np.float32),
        "f64": np.dtype(np.float64),
    }
    code = dtypes.code(dtype)
    codes = (argument_code(name, k, code) for k in range(len(FUNCTIONS[name].kinds)))
    return tuple(kinds.get(code, dtype) for code in codes)


def loop_dtype(name: str, kinds: Sequence[Any], fp64: bool) -> np.dtype[Any]:
    """Return float32 or float64, from the dtypes of the arguments or Python's classes of numbers;
    complex64 or complex128 for complex arguments or for functions with complex results."""
    function = FUNCTIONS[name]
    strong = [kind for kind in kinds if not isinstance(kind, type)]
    for k, kind in enumerate(kinds):
        allowed = "biufc" if function.plane and k >= function.orders else "biuf"
        letter = np.dtype(kind).kind if isinstance(kind, type) else kind.kind
        if letter not in allowed:
            what = kind.__name__ if isinstance(kind, type) else kind
            wanted = "numbers are" if "c" in allowed else "real numbers are"
            orders = "parameters" if name.startswith("hyp") else "order"
            where = f" for the {orders}" if k < function.orders else ""
            raise TypeError(f"{name}: {wanted} needed{where}, not {what}")
    numbers = [kind(0) if isinstance(kind, type) else kind for kind in kinds]
    dtype = np.result_type(np.float32, np.result_type(*numbers))
    if not strong:
        dtype = np.result_type(np.float64, dtype)
    if not function.texts:
        dtype = np.result_type(np.complex64, dtype)
    if not fp64 and not any(kind.kind in "fc" for kind in strong):
        dtype = np.dtype(np.complex64 if dtype.kind == "c" else np.float32)
    return dtype


def _integer(name: str, value: Any) -> Any:
    """Convert an argument that must be an integer: an order, a degree or a branch."""
    kind = getattr(value, "dtype", None)
    if kind is None and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind is None and isinstance(value, int):
        return int(value)
    if kind is None or kind.kind not in "biu":
        what = type(value).__name__ if kind is None else kind
        place = "first" if FUNCTIONS[name].kinds[0] == "n" else "second"
        raise TypeError(
            f"{name}: the {place} argument must be an integer, not {what}; convert it by "
            ".astype(int)"
        )
    return int(value) if isinstance(value, np.generic) else value


def call(
    name: str, operands: Sequence[Any], out: Any = None, *, where: Any = True, dtype: Any = None
) -> Any:
    """Apply the function to each item of the broadcast operands, which are arrays and numbers.

    out: an array, or a tuple of one for each result. dtype: of the calculation.
    """
    key, function = f"special_{name}", FUNCTIONS[name]
    if name == "lambertw":
        operands = operands[:2]  # SciPy's ufunc takes a tolerance as well
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    plain = where is True and dtype is None
    if plain and function.results == 1 and len(operands) == len(function.kinds):
        cached = launch_cache.run_cached(key, *operands, out=out)
        if cached is not None:
            return cached
    if len(operands) != len(function.kinds):
        needed = counted(len(function.kinds), "argument")
        raise TypeError(f"{name} takes {needed}, not {len(operands)}")
    outs = list(out) if isinstance(out, tuple) else [out] * function.results
    if len(outs) != function.results or (out is not None and outs.count(out) > 1):
        raise TypeError(f"{name}: out must be a tuple of {function.results} arrays")
    given = [o for o in outs if o is not None]
    for o in given:
        if not isinstance(o, GPUArray):
            raise TypeError(f"{name}: out must be an array on the device, not {type(o).__name__}")
    arrays = [x for x in (*operands, *given) if isinstance(x, GPUArray)]
    if not arrays:
        raise TypeError(
            f"{name}: at least one operand must be an array on a device, not "
            f"{', '.join(type(x).__name__ for x in operands)}; see pygpu.xp.asarray()"
        )
    like: Any = arrays[0]
    inputs = [ufuncs.to_operand(x, like) for x in operands]
    for x, y in zip(operands, inputs, strict=True):
        if y is NotImplemented:
            raise TypeError(f"{name}: {type(x).__name__} is neither an array nor a number")
    inputs = [
        _integer(name, x) if kind == "n" else x
        for x, kind in zip(inputs, function.kinds, strict=True)
    ]
    mask = ufuncs.mask_of(name, where, like)
    ufuncs.same_device(name, arrays if mask is None else [*arrays, mask])
    operation = _operation_for(name, function.kinds, inputs, dtype, like.backend)
    for o in given:
        if not np.can_cast(operation.outputs[0], o.dtype, "same_kind"):
            raise TypeError(
                f"{name}: cannot store {operation.outputs[0]} in out of dtype {o.dtype} under the "
                "casting rule 'same_kind'"
            )
    call = None
    if plain and len(outs) == 1:
        call = launch_cache.Call(key, tuple(inputs), outs[0])
    results = ufuncs.apply(operation, inputs, outs, mask, None, call)
    return results[0] if len(results) == 1 else tuple(results)


def _operation_for(
    name: str, kinds: str, inputs: Sequence[Any], dtype: Any, backend: Any
) -> elementwise.Operation:
    fp64 = backend.limits.fp64
    if dtype is None:
        real = [ufuncs.kind_of(x) for x, kind in zip(inputs, kinds, strict=True) if kind == "x"]
        found = loop_dtype(name, real, fp64)
    else:
        found = np.dtype(dtype)
        function = FUNCTIONS[name]
        allowed = ["float32", "float64"] if function.texts else []
        allowed += ["complex64", "complex128"] if function.plane else []
        if found.name not in allowed:
            raise TypeError(f"{name}: dtype must be {' or '.join(allowed)}, not {found}")
    dtypes.require(backend, name, found)
    return _operation(name, found, fp64)


_functions: dict[Any, str] = {}


def keep(function: Any, name: str) -> None:
    """Register a function under its name in FUNCTIONS."""
    _functions[function] = name


def name_of(function: Any) -> str | None:
    """Return the name in FUNCTIONS of a function here or in scipy.special, None for any other
    object."""
    if isinstance(function, np.ufunc):
        return of_scipy(function)
    found = _functions.get(plain(function))
    if found is None and str(getattr(function, "__module__", None)).startswith("scipy.special."):
        name: str = function.__name__
        return name if name in _PYTHON_FUNCTIONS else None
    return found


def of_scipy(ufunc: Any) -> str | None:
    """Return the name of the function that a ufunc of scipy.special implements, None for any other
    object."""
    module = sys.modules.get("scipy.special._ufuncs")
    name = getattr(ufunc, "__name__", None)
    if module is None or name is None or getattr(module, name, None) is not ufunc:
        return None
    name = _UFUNCS.get(name, name)
    return name if name in FUNCTIONS else None


# ---- functions along axes


def _prepared(name: str, x: Any, kinds: str = "biuf") -> Any:
    if not isinstance(x, GPUArray):
        raise TypeError(
            f"{name}: an array on a device is needed, not {type(x).__name__}; see "
            "pygpu.xp.asarray()"
        )
    if x.dtype.kind not in kinds:
        numbers = "numbers" if "c" in kinds else "real numbers"
        raise TypeError(f"{name}: {numbers} are needed, not {x.dtype}")
    array: Any = x
    if x.dtype.kind not in "fc" or x.dtype.itemsize == 2:
        wide = array.backend.limits.fp64
        array = array.astype(np.result_type(np.float32, x.dtype) if wide else np.float32)
    return array


def _shift(array: Any, axis: Any) -> Any:
    """Return the largest items, 0 where they are not finite."""
    most = array._reduce("max", axis, keepdims=True)
    return np.where(np.isfinite(most), most, most.dtype.type(0))


def softmax(x: Any, axis: Any = None) -> Any:
    """Compute exp(x) divided by its sum along an axis, several axes, or all of them (None)."""
    array = _prepared("softmax", x)
    top = array._reduce("max", axis, keepdims=True)
    powers = np.exp(array - top)
    return powers / powers._reduce("sum", axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """Compute the logarithm of softmax(x, axis), without computing softmax."""
    array = _prepared("log_softmax", x)
    shifted = array - _shift(array, axis)
    return shifted - np.log(np.exp(shifted)._reduce("sum", axis, keepdims=True))


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """Compute log(sum(b * exp(a))) along an axis, several axes, or all of them (None).

    return_sign: return (the logarithm of the absolute value, the sign); otherwise the logarithm of
    a negative sum is NaN.
    """
    array = _prepared("logsumexp", a, "biufc")
    if b is not None:
        factors = ufuncs.to_operand(b, array)
        if factors is NotImplemented:
            raise TypeError(f"logsumexp: b: {type(b).__name__} is neither an array nor a number")
        array = array + factors * array.dtype.type(0)  # broadcast
        array = np.where(factors == 0, array.dtype.type(-np.inf), array)
    if array.size == 0:
        total = array._reduce("sum", axis, keepdims=keepdims)
        return (np.log(total), total) if return_sign else np.log(total)
    if array.dtype.kind == "c":
        return _complex_logsumexp(array, axis, b, keepdims, return_sign)
    top = _shift(array, axis)
    greatest = array == top
    weight = greatest.astype(array.dtype)
    rest = np.where(greatest, array.dtype.type(0), np.exp(array - top))
    if b is not None:
        weight, rest = weight * factors, rest * factors
    count = weight._reduce("sum", axis, keepdims=keepdims)
    others = rest._reduce("sum", axis, keepdims=keepdims)
    if not keepdims:
        top = top._reduce("max", axis)
    total = count + others
    sign = np.sign(total)
    near = (count != 0) & (np.abs(others) < 0.5 * np.abs(count))
    safe = np.where(near, count, count.dtype.type(1))
    size = np.where(near, np.log1p(others / safe) + np.log(np.abs(safe)), np.log(np.abs(total)))
    result = size + top
    if return_sign:
        return result, sign
    return np.where(total < 0, result.dtype.type(np.nan), result)


def _complex_logsumexp(array: Any, axis: Any, b: Any, keepdims: bool, return_sign: bool) -> Any:
    top = _shift(array.real, axis)
    powers = np.exp(array - top)
    total = (powers if b is None else powers * b)._reduce("sum", axis, keepdims=keepdims)
    if not keepdims:
        top = top._reduce("max", axis)
    if not return_sign:
        return np.log(total) + top
    size = np.abs(total)
    return np.log(size) + top, np.where(size == 0, total, total / size)


publish(globals(), ["log_softmax", "logsumexp", "softmax"], "pygpu.special")
