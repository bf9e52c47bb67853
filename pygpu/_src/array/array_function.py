"""NumPy's functions called with device arrays: ``np.sort(a)``, ``np.linalg.solve(a, b)``.

Functions in the tables are computed on the device, except some of numpy.linalg (see
docs/arrays/linalg_fft.md); all others raise TypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from inspect import signature
from math import prod
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.util.lazy import lazy

from . import layout, primitives

# those that change their first argument
_CHANGED = frozenset((np.place, np.put, np.put_along_axis, np.putmask, np.fill_diagonal))
# those whose first argument may be a list of numbers
_LISTS = frozenset((np.append, np.average, np.histogram, np.insert, np.searchsorted))


# names of the arguments after the axis, in NumPy's order
_REDUCTIONS = {
    "sum": ("dtype", "out", "keepdims", "initial", "where"),
    "prod": ("dtype", "out", "keepdims", "initial", "where"),
    "min": ("out", "keepdims", "initial", "where"),
    "max": ("out", "keepdims", "initial", "where"),
    "ptp": ("out", "keepdims"),
    "argmin": ("out",),
    "argmax": ("out",),
    "any": ("out", "keepdims"),
    "all": ("out", "keepdims"),
    "mean": ("dtype", "out", "keepdims"),
    "var": ("dtype", "out", "ddof", "keepdims"),
    "std": ("dtype", "out", "ddof", "keepdims"),
    "count_nonzero": (),
}


def _reduction(kind: str) -> Callable[..., Any]:
    names = _REDUCTIONS[kind]

    def call(a: Any, axis: Any = None, *args: Any, **options: Any) -> Any:
        if len(args) > len(names):
            raise TypeError(
                f"{kind}: at most {len(names) + 2} positional arguments, not {len(args) + 2}"
            )
        options.update(zip(names, args, strict=False))
        options = {k: v for k, v in options.items() if v is not np._NoValue}
        if kind in ("var", "std") and "correction" in options:
            if options.get("ddof", 0) != 0:
                raise ValueError("ddof and correction can't be provided simultaneously.")
            options["ddof"] = options.pop("correction")
        if options.get("mean") is not None:
            from .routines import statistics

            return statistics.about_mean(kind, a, axis, **options)
        options.pop("mean", None)
        if options.get("initial", 0) is None:
            lazy("pygpu._src.array.reduction").without_initial(kind, a, options | {"axis": axis})
        return a._reduce(kind, axis, **options)

    return call


def _of_lists(product: Callable[..., Any], numbers: bool = False) -> Callable[..., Any]:
    """Let a product of two operands take lists; numbers: and numbers, as arrays without axes."""
    kinds: Any = object if numbers else (list, tuple)

    def call(a: Any, b: Any, *args: Any, **options: Any) -> Any:
        like = a if isinstance(a, GPUArray) else b
        a, b = (primitives.as_array(like, x) if isinstance(x, kinds) else x for x in (a, b))
        return product(a, b, *args, **options)

    return call


def _inner(a: Any, b: Any) -> Any:
    from . import matmul

    return matmul.tensordot(a, b, ([a.ndim - 1], [b.ndim - 1])) if a.ndim and b.ndim else a * b


def _size(a: Any, axis: Any = None) -> int:
    """Implement numpy.size."""
    shape: tuple[int, ...] = a.shape
    found: int = prod(shape[k] for k in layout.normalize_axes(axis, a.ndim))
    return found


@cache
def _table() -> dict[Any, Callable[..., Any]]:
    from . import advanced_indexing, matmul, scan, sort
    from .routines import fft, joining, linalg, manipulation
    from .routines import table as array_table

    table: dict[Any, Callable[..., Any]] = {
        getattr(np, kind): _reduction(kind) for kind in _REDUCTIONS
    }
    table |= {getattr(np, "a" + kind): table[getattr(np, kind)] for kind in ("max", "min")}
    table |= {
        np.cumsum: lambda a, axis=None, dtype=None, out=None: scan.scan(
            "cumsum", a, axis, dtype=dtype, out=out
        ),
        np.cumprod: lambda a, axis=None, dtype=None, out=None: scan.scan(
            "cumprod", a, axis, dtype=dtype, out=out
        ),
        np.searchsorted: sort.searchsorted,
        np.nonzero: advanced_indexing.nonzero,
        np.take: advanced_indexing.take,
        np.put: advanced_indexing.put,
        np.take_along_axis: advanced_indexing.take_along_axis,
        np.put_along_axis: advanced_indexing.put_along_axis,
        np.dot: _of_lists(lambda a, b, out=None: joining.dot(a, b, out=out)),
        np.inner: _of_lists(_inner, numbers=True),
        np.vdot: _of_lists(lambda a, b: joining.dot(a, b, conjugate=True)),
        np.tensordot: _of_lists(matmul.tensordot, numbers=True),
        np.outer: _of_lists(matmul.outer, numbers=True),
        np.trace: matmul.trace,
        np.diagonal: matmul.diagonal,
        np.clip: lambda a, a_min=None, a_max=None, out=None: joining.clip(a, a_min, a_max, out),
        np.round: lambda a, decimals=0, out=None: joining.round(a, decimals, out),
        np.diff: lambda a, n=1, axis=-1: joining.diff(a, n, axis),
        np.copy: lambda a, order="K", subok=False: a._copy(order=order),
        np.reshape: lambda a, /, shape, order="C", **options: a.reshape(shape, order=order),
        np.ravel: lambda a, order="C": a.ravel(order),
        np.transpose: lambda a, axes=None: a.transpose() if axes is None else a.transpose(axes),
        np.squeeze: lambda a, axis=None: a.squeeze(axis),
        np.swapaxes: lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
        np.lib.stride_tricks.sliding_window_view: manipulation.sliding_window_view,
        np.shape: lambda a: a.shape,
        np.ndim: lambda a: a.ndim,
        np.size: _size,
    }
    return table | array_table.table() | linalg.table() | fft.table()


_SAVING = {np.save, np.savez, np.savez_compressed, np.savetxt}


def _save(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function that writes files with host copies, which np.asarray() makes or refuses."""

    def host(value: Any) -> Any:
        return np.asarray(value) if isinstance(value, GPUArray) else value

    return function(*map(host, args), **{name: host(value) for name, value in kwargs.items()})


@cache
def _names(
    function: Any, implementation: Any
) -> tuple[tuple[str, ...], frozenset[str], dict[str, str]]:
    """Return NumPy's names of a function's positional arguments, the names of the
    implementation's, and what it calls those of NumPy's that it lacks. All are empty if either
    cannot be inspected."""
    try:
        numpys, own = signature(function).parameters, signature(implementation).parameters
    except (TypeError, ValueError):
        return (), frozenset(), {}
    theirs, ours = (
        tuple(n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD)
        for parameters in (numpys, own)
    )
    pairs = zip(theirs, ours, strict=False)
    named = frozenset(n for n, p in own.items() if p.kind is not p.POSITIONAL_ONLY)
    return theirs, named, {t: o for t, o in pairs if t not in own and o not in numpys}


def _by_position(function: Any, implementation: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Pass leading arguments by position if the implementation has other names for them than
    NumPy, as numpy.vstack(tup=arrays), and others by its names."""
    names, own, renamed = _names(function, implementation)
    last = named = len(args)
    for name in names[len(args) :]:
        if name not in kwargs:
            break
        named += 1
        if name not in own:
            last = named
    moved = names[len(args) : last]
    rest = {renamed.get(name, name): v for name, v in kwargs.items() if name not in moved}
    return (*args, *(kwargs[name] for name in moved)), rest


def array_function(like: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """Implement ``__array_function__`` of an array."""
    implementation = _table().get(function)
    if implementation is None:
        from .routines import table as array_table

        implementation = array_table.makers(like).get(function)
        if implementation is None and function in _SAVING:
            return _save(function, args, kwargs)
        if implementation is None and function is np.datetime_as_string:
            raise TypeError(
                "numpy.datetime_as_string: a device has no strings; copy the dates: "
                "numpy.datetime_as_string(x.get())"
            )
        return NotImplemented if implementation is None else implementation(*args, **kwargs)
    if kwargs:
        args, kwargs = _by_position(function, implementation, args, kwargs)
    first = args[0] if args else None
    if isinstance(first, GPUArray):
        return implementation(*args, **kwargs)
    name = f"numpy.{function.__name__}"
    if isinstance(first, (np.ndarray, list)) and function in _CHANGED:
        raise TypeError(
            f"{name}: the array to change must be on the device, like the other operands"
        )
    if isinstance(first, list) and function in _LISTS:
        first = np.asarray(first)
    if isinstance(first, np.ndarray) and first.ndim and function is not np.copyto:
        args = (like._from_host(first), *args[1:])  # copied to the device, like operands
    try:
        return implementation(*args, **kwargs)
    except (AttributeError, StopIteration) as error:  # it was mistaken for a device array
        kinds = ", ".join(type(x).__name__ for x in (*args, *kwargs.values()))
        raise TypeError(
            f"{name}: arguments ({kinds}) do not fit: arrays on the device are needed, "
            f"the first one among them ({error})"
        ) from error


def results_of_class(like: Any, made: Any, arguments: Any) -> Any:
    """Return a function's results, with new arrays made by the class of *like*, whatever views
    they were computed from; views of the arguments stay plain."""
    if isinstance(made, GPUArray):
        shared = any(made.base_data is one.base_data for one in _arrays_in(arguments))
        return made if shared else primitives.result(like, made)
    if isinstance(made, (tuple, list)):
        items = [results_of_class(like, item, arguments) for item in made]
        return made._make(items) if hasattr(made, "_make") else type(made)(items)
    return made


def _arrays_in(arguments: Any) -> Iterator[Any]:
    if isinstance(arguments, GPUArray):
        yield arguments
    elif isinstance(arguments, (tuple, list, dict)):
        for item in arguments.values() if isinstance(arguments, dict) else arguments:
            yield from _arrays_in(item)
