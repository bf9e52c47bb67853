"""The axes of a generalized ufunc's operands: ``axes=``, ``axis=`` and ``keepdims=``.

Operands become views whose core axes are last, and results are views with the axes moved back.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.array import primitives
from pygpu._src.array.ufuncs import is_array


class Axes:
    """The axes of one call. cores: the core dimensions of each input and output; nin: the number
    of inputs. Raises TypeError and ValueError as NumPy does."""

    def __init__(
        self, name: str, cores: Sequence[Any], nin: int, axes: Any, axis: Any, keepdims: Any
    ) -> None:
        self.name, self.nin = name, nin
        counts = [len(core) for core in cores]
        self.keepdims = bool(keepdims)
        if self.keepdims and (any(counts[nin:]) or len(set(counts[:nin])) > 1):
            raise TypeError(
                f"{name}: keepdims is for layouts whose inputs have the same number of core "
                "dimensions and whose outputs have none"
            )
        if self.keepdims:
            counts[nin:] = [counts[0]] * (len(counts) - nin)
        if axis is not None:
            if axes is not None:
                raise TypeError(f"{name}: cannot specify both 'axis' and 'axes'")
            keys = {key for core in cores for key in core}
            if len(keys) != 1 or max(map(len, cores)) != 1:
                raise TypeError(
                    f"{name}: axis can only be used with a single shared core dimension"
                )
            one = (self._index(axis, "axis"),)
            axes = [one if n else () for n in counts]
        if axes is None:
            axes = [tuple(range(-n, 0)) for n in counts]
        if not isinstance(axes, list):
            raise TypeError(f"{name}: axes should be a list, not {axes!r}")
        if len(axes) == nin and not any(counts[nin:]) or (self.keepdims and len(axes) == nin):
            more = axes[0] if self.keepdims else ()
            axes = [*axes, *[more] * (len(counts) - nin)]
        if len(axes) != len(counts):
            raise ValueError(
                f"{name}: axes should be a list with an entry for each of {len(counts)} inputs and "
                "outputs; those of outputs can be left out if these have no core dimensions"
            )
        self.axes = []
        for k, (entry, n) in enumerate(zip(axes, counts)):
            items = entry if isinstance(entry, tuple) else (entry,)
            found = tuple(self._index(i, f"axes item {k}") for i in items)
            if len(found) != n:
                raise ValueError(f"{name}: axes item {k} should be a tuple with {n} elements")
            self.axes.append(found)

    def _index(self, value: Any, what: str) -> int:
        try:
            return operator.index(value)
        except TypeError:
            raise TypeError(f"{self.name}: {what}: {value!r} is not an integer") from None

    def _normal(self, axes: tuple[int, ...], ndim: int) -> tuple[int, ...]:
        for axis in axes:
            if not -ndim <= axis < ndim:
                raise np.exceptions.AxisError(axis, ndim, self.name)
        found = tuple(axis % ndim for axis in axes)
        if len(set(found)) < len(found):
            raise ValueError(f"{self.name}: axes {axes} have a repeated axis")
        return found

    def operand(self, k: int, a: Any) -> Any:
        """Return operand *k* with its core axes last, without an output's kept axes."""
        axes = self.axes[k]
        if a is None or not axes or not hasattr(a, "shape"):
            return a
        chosen = self._normal(axes, a.ndim)
        rest = [i for i in range(a.ndim) if i not in chosen]
        if self.keepdims and k >= self.nin:
            if any(a.shape[i] != 1 for i in chosen):
                raise ValueError(f"{self.name}: axes {axes} of an output must have length 1")
            return _picked(a, rest)
        return _picked(a, [*rest, *chosen])

    def result(self, k: int, given: Any, view: Any, found: Any) -> Any:
        """Return the result for output *k*: the passed output, or the new one with its axes in
        their places."""
        if given is not None:
            if is_array(given) and view is not given:
                primitives.changed(given, view)
            return given
        axes = self.axes[self.nin + k]
        if not axes:
            return found
        ndim = np.ndim(found) + (len(axes) if self.keepdims else 0)
        chosen = self._normal(axes, ndim)
        order: list[int | None] = [None] * ndim
        if not self.keepdims:
            for n, position in enumerate(chosen):
                order[position] = ndim - len(chosen) + n
        rest = iter(range(ndim - len(chosen)))
        for position in range(ndim):
            if position not in chosen:
                order[position] = next(rest)
        return _picked(found, order)


def _picked(a: Any, order: Sequence[int | None]) -> Any:
    """Return a view with the axes in this order; None stands for a new one of length 1."""
    if is_array(a):
        shape = tuple(1 if i is None else a.shape[i] for i in order)
        strides = tuple(0 if i is None else a.strides[i] for i in order)
        return a._view(shape, strides, a.offset)
    moved = np.transpose(a, [i for i in order if i is not None])
    return moved[tuple(None if i is None else slice(None) for i in order)]
