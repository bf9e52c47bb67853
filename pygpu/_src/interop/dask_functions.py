"""Functions of Dask that compute on NumPy's or SciPy's arrays only, for chunks on a device.

Dask finds most functions of a chunk by NumPy's protocols or by its dispatch tables. The few here it
calls by name: these versions replace them, and call Dask's own unless a chunk is on a device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array.routines
import dask.array.utils
import numpy as np
from dask.array.dispatch import empty_lookup, percentile_lookup
from dask.array.percentile import _percentile

from pygpu._array import GPUArray
from pygpu._src.array import primitives, ufunc_methods
from pygpu._src.array.device import default_device
from pygpu._src.array.factorization import blocked
from pygpu._src.array.routines import factorizations, joining, statistics

_plain: dict[str, Callable[..., Any]] = {}  # Dask's own


def _unique_internal(ar: Any, indices: Any, counts: Any, return_inverse: bool = False) -> Any:
    """Return the distinct items of a chunk as records with, if asked for, the least of their
    indices, their numbers, and the sum of their counts."""
    if not isinstance(ar, GPUArray):
        return _plain["_unique_internal"](ar, indices, counts, return_inverse)
    kinds = [("values", ar.dtype)]
    parts: dict[str, Any] = {}
    parts["values"], inverse = np.unique(ar, return_inverse=True)  # type: ignore[call-overload]
    n = parts["values"].size
    if indices is not None:
        parts["indices"] = primitives.empty(ar, (n,), np.intp).fill(np.iinfo(np.intp).max)
        indices = primitives.as_array(ar, indices, np.intp)
        ufunc_methods.at("minimum", parts["indices"], inverse, indices)
    if return_inverse:
        parts["inverse"] = primitives.as_array(ar, np.arange(n, dtype=np.intp))
    if counts is not None:
        parts["counts"] = primitives.empty(ar, (n,), np.intp).fill(0)
        ufunc_methods.at("add", parts["counts"], inverse, primitives.as_array(ar, counts, np.intp))
    kinds += [(name, np.dtype(np.intp)) for name in [*parts][1:]]
    records = primitives.empty(ar, (n,), np.dtype(kinds))
    for name, part in parts.items():
        records[name] = part
    return records


def _block_histogramdd_rect(sample: Any, bins: Any, range: Any, weights: Any) -> Any:
    """Count the rows of a chunk by bins, with a first axis for the chunks."""
    if not isinstance(sample, GPUArray):
        return _plain["_block_histogramdd_rect"](sample, bins, range, weights)
    return statistics.histogramdd(sample, bins, range, None, weights)[0][np.newaxis]


def _block_histogramdd_multiarg(*args: Any) -> Any:
    """Do the same with a chunk for each coordinate."""
    if not isinstance(args[0], GPUArray):
        return _plain["_block_histogramdd_multiarg"](*args)
    *sample, bins, range, weights = args
    return _block_histogramdd_rect(joining.stack(sample, 1), bins, range, weights)


def _scipy_linalg_safe(func_name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function of scipy.linalg. Those that Dask asks for: cholesky, solve_triangular."""
    if not isinstance(args[0], GPUArray):
        return _plain["scipy_linalg_safe"](func_name, *args, **kwargs)
    if func_name == "cholesky":
        return factorizations.cholesky(args[0], not kwargs.get("lower", False))
    if func_name == "solve_triangular":
        a, b = args
        return blocked.triangular(a, primitives.as_array(a, b), upper=not kwargs.get("lower"))
    raise TypeError(f"dask.array: scipy.linalg.{func_name} does not take arrays on a device")


def _empty(shape: Any, dtype: Any = float) -> Any:
    shape = shape if isinstance(shape, tuple) else (shape,)
    return default_device().empty(shape, np.dtype(dtype))


def install() -> None:
    """Register the functions. A version of Dask that has no such function needs none."""
    for lookup, answer in ((empty_lookup, _empty), (percentile_lookup, _percentile)):
        register: Any = lookup.register
        register(GPUArray, answer)
    _replace(dask.array.routines, "_block_histogramdd_multiarg", _block_histogramdd_multiarg)
    _replace(dask.array.routines, "_block_histogramdd_rect", _block_histogramdd_rect)
    _replace(dask.array.routines, "_unique_internal", _unique_internal)
    _replace(dask.array.utils, "scipy_linalg_safe", _scipy_linalg_safe)


def _replace(module: Any, name: str, function: Callable[..., Any]) -> None:
    if hasattr(module, name) and name not in _plain:
        _plain[name] = getattr(module, name)
        setattr(module, name, function)
