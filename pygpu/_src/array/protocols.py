"""Protocols of other libraries: NumPy's ufuncs called with device arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.codegen.ufunc_loops import NAMES
from pygpu._src.util.lazy import lazy

from . import ufuncs

_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_and": "all",
    "logical_or": "any",
}

_ASSOCIATIVE = frozenset(
    "maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and bitwise_or "
    "bitwise_xor gcd lcm".split()
)


def _joined(name: str, a: Any, method: str, out: Any, options: dict[str, Any]) -> Any:
    """Implement reduce() or accumulate() of a ufunc whose items may be joined from left to right
    in parts."""
    layout, associative, primitives = (
        lazy("pygpu._src.array.layout"),
        lazy("pygpu._src.array.associative"),
        lazy("pygpu._src.array.primitives"),
    )
    a = _chosen(name, method, a, options)
    dtype = options.get("dtype")
    *_, number = ufuncs.resolve(name, (a.dtype, a.dtype, None), dtype=dtype)
    operation = ufuncs.operation_for(name, (number, number), (number,))
    kind = lazy("pygpu._src.codegen.dtypes").compute_type(number)
    join = f"{{ PG_UNUSED const {kind} x0 = a, x1 = b; {kind} y0; {{ {operation.body} }} r = y0; }}"
    key = ("ufunc", name)
    function = associative.Function(name, number, operation.helpers, join, key, operation.features)
    axis = options.get("axis", 0)
    if method == "accumulate":
        if a.ndim == 0:
            raise TypeError("cannot accumulate on a scalar")
        axis = layout.normalize_axis(axis, a.ndim, f"{name}.accumulate")
        out = primitives.empty(a, a.shape, number) if out is None else _fits(name, out, a.shape)
        source = a.copy() if out.base_data is a.base_data else a
        associative.scan(function, source, axis, out)
        return out
    if axis is None or (a.ndim == 0 and type(axis) is int and axis in (0, -1)):  # as in NumPy
        axes = tuple(range(a.ndim))
    else:
        axes = layout.normalize_axes(axis, a.ndim, name)
    shape = tuple(n for k, n in enumerate(a.shape) if k not in axes)
    initial = options.get("initial")
    initial = None if initial is np._NoValue else initial
    if initial is None and (0 in a.shape or name == "gcd"):  # it also changes a single item
        initial = getattr(np, name).identity
    given = out
    if out is None:
        out = primitives.empty(a, shape, number)
    elif options.get("keepdims"):
        _fits(name, out, tuple(1 if k in axes else n for k, n in enumerate(a.shape)))
        kept = tuple(s for k, s in enumerate(out.strides) if k not in axes)
        out = out._view(shape, kept, out.offset)
    source = a.copy() if _fits(name, out, shape).base_data is a.base_data else a
    if a.ndim != 0 and axes:
        associative.reduce(function, source, axes, out, initial)
    elif initial is None:
        out[...] = source.astype(number)
    else:
        ufuncs.call(name, (source, np.asarray(initial, number)[()]), (out,))
    if given is not None or not options.get("keepdims"):
        return out if given is None else given
    return out.reshape(tuple(1 if k in axes else n for k, n in enumerate(a.shape)))


def _chosen(name: str, method: str, a: Any, options: dict[str, Any]) -> Any:
    """Replace the items that where= leaves out by one that changes no result: the ufunc's identity,
    or initial=, for min(x, x) is x, and so for all ufuncs that have no identity here."""
    where = options.get("where", True)
    if where is True:
        return a
    if method != "reduce":
        raise TypeError(f"{name}.{method}: where= is an argument of reduce() only")
    reduction, neutral = lazy("pygpu._src.array.reduction"), getattr(np, name).identity
    if neutral is None:
        neutral = options.get("initial")
        if neutral is None or neutral is np._NoValue:
            raise reduction.no_identity(name)
    return np.where(reduction.where_mask(name, a, where, a.shape), a, neutral)


def _fits(name: str, out: Any, shape: tuple[int, ...]) -> Any:
    if out.shape != shape:
        raise ValueError(f"{name}: out must have shape {shape}, not {out.shape}")
    return out


def array_ufunc(
    like: Any, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Implement ``__array_ufunc__``: run the ufunc on the device; NotImplemented if devices do not
    support it."""
    name = ufunc.__name__
    out = options.pop("out", None)
    if any(isinstance(o, np.ndarray) for o in out or ()):
        raise TypeError(f"{name}: out must be an array on the device, not a NumPy array")
    if method == "reduce" and "initial" in options:
        lazy("pygpu._src.array.reduction").without_initial(name, inputs[0], options)
    if method == "reduce" and name in _REDUCTIONS:
        (a,) = inputs
        axis = options.pop("axis", 0)
        if options.get("initial") is np._NoValue:
            del options["initial"]
        return like._reduce(_REDUCTIONS[name], axis, out=None if out is None else out[0], **options)
    if method == "accumulate" and name in ("add", "multiply"):
        scan = lazy("pygpu._src.array.scan")

        kind = "cumsum" if name == "add" else "cumprod"
        (a,) = inputs
        given = None if out is None else out[0]
        return scan.scan(kind, a, options.get("axis", 0), dtype=options.get("dtype"), out=given)
    if method in ("reduce", "accumulate") and name in _ASSOCIATIVE:
        (a,) = inputs
        return _joined(name, a, method, None if out is None else out[0], options)
    if method == "outer" and name in NAMES and ufunc.nin == 2:
        a, b = (
            lazy("pygpu._src.array.primitives").as_array(like, x, call=f"{name}.outer")
            for x in inputs
        )
        a = a.reshape((*a.shape, *(1,) * b.ndim))
        return array_ufunc(like, ufunc, "__call__", (a, b), {**options, "out": out})
    if method != "__call__":
        return _folded(ufunc, method, inputs, out, options)
    gufunc = lazy("pygpu._src.array.gufunc")
    if name in gufunc.NAMES:
        return gufunc.call(name, inputs, None if out is None else out[0], options)
    if name not in NAMES:
        return _special(ufunc, inputs, out, options)
    operands = tuple(ufuncs.to_operand(x, like) for x in inputs)
    if any(x is NotImplemented for x in operands):
        return NotImplemented
    order = options.pop("order", "K")
    if order not in ("K", "C", "F", "A"):
        order = _order(order)
    if not isinstance(options.pop("subok", True), (bool, np.bool_)):
        raise TypeError(f"{name}: 'subok' must be a boolean")
    result = ufuncs.call(name, operands, out, **options)
    if order in ("C", "F") and out is None and isinstance(result, GPUArray):
        array: Any = result
        wanted = array._c_contiguous if order == "C" else array._f_contiguous
        return array if wanted else array._copy(order=order)
    return result


def _order(order: Any) -> str:
    """Return an order other than in capitals as one, None as "K"."""
    name = "K" if order is None else order.upper() if isinstance(order, str) else order
    if name not in ("K", "C", "F", "A"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return str(name)


def _special(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any, options: dict[str, Any]) -> Any:
    """Run a ufunc of scipy.special."""
    special = lazy("pygpu._src.array.routines.special")
    name = special.of_scipy(ufunc)
    if name is None:
        return NotImplemented
    options.pop("subok", None)
    if options.get("order") in ("K", "A", "C"):
        del options["order"]
    if not options.keys() <= {"where", "dtype"}:
        return NotImplemented
    return special.call(name, inputs, out, **options)


def _folded(
    ufunc: np.ufunc,
    method: str,
    inputs: tuple[Any, ...],
    out: Any,
    options: dict[str, Any],
) -> Any:
    """Run the methods of ufuncs that process items sequentially."""
    name, folds = ufunc.__name__, lazy("pygpu._src.array.ufunc_methods")
    given = None if out is None else out[0]
    if name not in NAMES or ufunc.nout != 1 or ufunc.nin > 2:
        return NotImplemented
    if method == "at":
        if not isinstance(inputs[0], GPUArray):
            raise TypeError(f"{name}.at: the first operand must be an array on the device")
        return folds.at(name, *inputs)
    if ufunc.nin != 2 or not isinstance(inputs[0], GPUArray):
        return NotImplemented
    where = options.get("where", True)
    if where is not True and method != "reduce":
        raise TypeError(f"{name}.{method}: where= is an argument of reduce() only")
    axis, dtype = options.get("axis", 0), options.get("dtype")
    if method == "reduceat":
        return folds.reduceat(name, *inputs, axis, dtype, given)
    if method == "accumulate":
        return folds.accumulate(name, *inputs, axis, dtype, given)
    if method == "reduce":
        initial = options.get("initial")
        initial = None if initial is np._NoValue else initial
        keep = bool(options.get("keepdims", False))
        mask = None if where is True else where
        return folds.reduce(name, *inputs, axis, dtype, given, keep, initial, mask)
    return NotImplemented
