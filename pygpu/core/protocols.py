"""How other libraries see arrays: NumPy's ufuncs called with device arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import ufuncs
from .parts import part
from .ufunc_table import NAMES

__all__ = ["array_ufunc"]

_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_and": "all",
    "logical_or": "any",
}


def array_ufunc(
    like: Any, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """``__array_ufunc__``: the ufunc on the device, NotImplemented for what devices do not have."""
    name = ufunc.__name__
    out = options.pop("out", None)
    if any(isinstance(o, np.ndarray) for o in out or ()):
        raise TypeError(f"{name}: out must be an array on the device, not a NumPy array")
    if method == "reduce" and name in _REDUCTIONS:
        (a,) = inputs
        axis = options.pop("axis", 0)
        if options.get("initial") is np._NoValue:
            del options["initial"]
        return like._reduce(_REDUCTIONS[name], axis, out=None if out is None else out[0], **options)
    if method == "accumulate" and name in ("add", "multiply"):
        scan = part("scan")

        kind = "cumsum" if name == "add" else "cumprod"
        (a,) = inputs
        return scan.scan(kind, a, options.get("axis", 0), dtype=options.get("dtype"))
    if method != "__call__":
        return NotImplemented
    if name == "matmul":
        return ufuncs.matmul(inputs[0], inputs[1], None if out is None else out[0])
    if name == "vecdot" and out is None:
        return part("array_table").vecdot(*inputs, axis=options.get("axis", -1))
    if name not in NAMES:
        return NotImplemented
    operands = tuple(ufuncs.to_operand(x, like) for x in inputs)
    if any(x is NotImplemented for x in operands):
        return NotImplemented
    options = {k: v for k, v in options.items() if k in ("where", "dtype", "casting")}
    return ufuncs.call(name, operands, out, **options)
