"""numpy.einsum by views, sums and matrix products.

The steps depend only on the subscripts and the operands' layouts, by which they are cached.
"""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import layout, primitives
from pygpu._src.array.matmul import diagonal, matmul
from pygpu._src.array.reduction import reduce

Shape = tuple[int, ...]


def _parse(subscripts: str, operands: list[Any]) -> tuple[list[str], str]:
    """Return the labels of each operand and of the result; an ellipsis becomes separate labels
    (private-use characters)."""
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise ValueError(
            "more operands provided to einstein sum function than specified in the subscripts "
            "string"
            if len(terms) < len(operands)
            else "fewer operands provided to einstein sum function than specified in the "
            "subscripts string"
        )
    for part in (*terms, output):
        labels = part.replace("...", "", 1)
        if labels and not (labels.isascii() and labels.isalpha()):
            raise ValueError(
                f"einstein sum subscripts string {subscripts!r}: {part!r} must be letters and at "
                "most one ellipsis ('...')"
            )
    extra = [x.ndim - len(t.replace("...", "")) for t, x in zip(terms, operands, strict=True)]
    most = max((e for t, e in zip(terms, extra, strict=True) if "..." in t), default=0)
    names = "".join(chr(0xE000 + k) for k in range(max(most, 0)))  # of no alphabet
    parsed = []
    for term, more in zip(terms, extra, strict=True):
        if "..." not in term and more != 0:
            raise ValueError(
                f"einsum: the subscripts {term!r} do not have as many labels as their operand "
                "has axes"
            )
        if more < 0:
            raise ValueError("einstein sum subscripts string contains too many subscripts")
        parsed.append(term.replace("...", names[len(names) - more :]))
    if arrow:
        if names and "..." not in output:
            raise ValueError(
                f"einstein sum subscripts string {subscripts!r}: the output has no ellipsis for "
                "the axes of those of the operands"
            )
        result = output.replace("...", names)
    else:
        letters = "".join(terms).replace("...", "")
        result = names + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    for label in result:
        if result.count(label) > 1 or all(label not in term for term in parsed):
            reason = "is there twice" if result.count(label) > 1 else "labels no axis of an operand"
            raise ValueError(f"einsum: the output label {label!r} {reason}")
    return parsed, result


class _Work:
    """The steps from operands to a result, computed once and recorded. Arrays are identified by
    numbers: the operands first, then one more per step."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays
        self.steps: list[tuple[Any, ...]] = []

    def _add(self, *step: Any) -> int:
        self.steps.append(step)
        self.arrays.append(_done(self.arrays, *step))
        return len(self.arrays) - 1

    def view(self, k: int, shape: Shape, strides: Shape, offset: int = 0) -> int:
        a = self.arrays[k]
        if (shape, strides) == (a.shape, a.strides):
            return k
        return self._add("view", k, shape, strides, offset)

    def reshape(self, k: int, shape: Shape) -> int:
        a = self.arrays[k]
        strides = layout.reshape_strides(a.shape, a.strides, a.itemsize, shape)
        if strides is None:
            k, strides = self._add("copy", k), layout.c_strides(shape, a.itemsize)
        return self.view(k, shape, strides)

    def transpose(self, k: int, order: list[int]) -> int:
        a = self.arrays[k]
        return self.view(k, tuple(a.shape[i] for i in order), tuple(a.strides[i] for i in order))

    def sum(self, k: int, axes: Shape) -> int:
        return self._add("sum", k, axes)

    def product(self, k: int, other: int) -> int:
        return self._add("product", k, other)


def _done(arrays: list[Any], what: str, k: int, *how: Any) -> Any:
    """Do a step and return its result."""
    a = arrays[k]
    if what == "view":
        shape, strides, offset = how
        return a._view(shape, strides, a.offset + offset)
    if what == "product":
        return matmul(a, arrays[how[0]])
    if what == "copy":
        return primitives.c_order(a)
    wide = a.dtype.kind in "fc" or a.itemsize == 8  # sums use it anyway
    return reduce("sum", a, how[0], dtype=None if wide else a.dtype)


def _no_repeats(does: _Work, k: int, labels: str) -> tuple[int, str]:
    """Take diagonals for labels that occur twice."""
    for label in labels:
        while labels.count(label) > 1:
            a = does.arrays[k]
            i = labels.index(label)
            j = labels.index(label, i + 1)
            if a.shape[i] != a.shape[j]:
                raise ValueError(f"einsum: axes named {label!r} have different lengths")
            found = diagonal(a, 0, i, j)
            k = does.view(k, found.shape, found.strides)
            labels = labels[:i] + labels[i + 1 : j] + labels[j + 1 :] + label
    return k, labels


def _summed(does: _Work, k: int, labels: str, keep: set[str]) -> tuple[int, str]:
    """Sum over labels that occur nowhere else."""
    axes = tuple(i for i, label in enumerate(labels) if label not in keep)
    if axes:
        k = does.sum(k, axes)
        labels = "".join(label for label in labels if label in keep)
    return k, labels


def _pair(does: _Work, a: int, x: str, b: int, y: str, keep: set[str]) -> tuple[int, str]:
    """Multiply two operands, summed over the labels that are in both and not kept."""
    a, x = _summed(does, a, x, keep | set(y))
    b, y = _summed(does, b, y, keep | set(x))
    sizes = dict(zip(x, does.arrays[a].shape, strict=True))
    for label, n in zip(y, does.arrays[b].shape, strict=True):
        if sizes.get(label, 1) not in (n, 1) and n != 1:
            raise ValueError(f"einsum: axes named {label!r} have lengths {sizes[label]} and {n}")
        sizes[label] = max(sizes.get(label, 1), n) if n else 0
    over = [c for c in x if c in y and c not in keep]
    stack = [c for c in x if c in y and c in keep]
    rows, columns = [c for c in x if c not in y], [c for c in y if c not in x]

    def arranged(k: int, labels: str, order: list[str], shape: Shape) -> int:
        k = does.transpose(k, [labels.index(c) for c in order])
        full_shape, view = tuple(sizes[c] for c in order), does.arrays[k]
        strides = layout.broadcast_strides(view.shape, view.strides, full_shape)
        return does.reshape(does.view(k, full_shape, strides), shape)

    def count(labels: list[str]) -> int:
        return prod(sizes[c] for c in labels)

    shape = tuple(sizes[c] for c in stack)
    left = arranged(a, x, stack + rows + over, (*shape, count(rows), count(over)))
    right = arranged(b, y, stack + over + columns, (*shape, count(over), count(columns)))
    order = stack + rows + columns
    result = does.reshape(does.product(left, right), tuple(sizes[c] for c in order))
    return result, "".join(order)


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _of_lists(items: list[Any]) -> tuple[str, list[Any]]:
    """Convert einsum's other form (an operand, its labels, ..., optionally the result's) to a
    string."""

    def text(labels: Any) -> str:
        found = ["..." if k is Ellipsis else operator.index(k) for k in labels]
        if any(k is not Ellipsis and not 0 <= int(k) < len(_LETTERS) for k in labels):
            raise ValueError("einsum: subscript is not within the valid range [0, 52)")
        return "".join(k if isinstance(k, str) else _LETTERS[k] for k in found)

    result = "->" + text(items.pop()) if len(items) % 2 else ""
    return ",".join(text(labels) for labels in items[1::2]) + result, items[::2]


def einsum(subscripts: Any, *operands: Any, out: Any = None, optimize: Any = True) -> Any:
    """Implement numpy.einsum. More than two operands are joined in the order of numpy.einsum_path,
    or (optimize False) from left to right. Raises ValueError for subscripts that do not fit."""
    if isinstance(subscripts, str):
        arrays = list(operands)
    else:
        subscripts, arrays = _of_lists([subscripts, *operands])
    if not all(isinstance(x, GPUArray) for x in arrays):
        like = next((x for x in arrays if isinstance(x, GPUArray)), None)
        if like is None:
            raise TypeError("einsum: an operand must be an array on the device")
        arrays = [primitives.as_array(like, x, call="einsum") for x in arrays]
    number = np.result_type(*(x.dtype for x in arrays))
    arrays = [primitives.astype(x, number) for x in arrays]
    key: Any = (subscripts, bool(optimize), *((x.shape, x.strides, number) for x in arrays))
    cached, many = _CACHED.get(key), len(arrays)
    if cached is None:
        does = _Work(list(arrays))
        result_index = _joined(does, subscripts, optimize)
        found = does.arrays[result_index]
        if len(_CACHED) >= _MOST:
            _CACHED.clear()
        _CACHED[key] = does.steps, result_index
    else:
        steps, result_index = cached
        for one in steps:
            arrays.append(_done(arrays, *one))
        found = arrays[result_index]
    if out is not None:
        out[...] = found
        return out
    return found if result_index >= many else found._view(found.shape, found.strides, found.offset)


_CACHED: dict[Any, tuple[list[tuple[Any, ...]], int]] = {}  # steps by subscripts and layouts
_MOST = 512  # bounded, for programs with ever-changing shapes


def _joined(does: _Work, subscripts: str, optimize: Any) -> int:
    """Execute the steps; returns the number of the result."""
    operands = list(does.arrays)
    terms, result = _parse(subscripts, operands)
    arrays = list(range(len(operands)))
    for i, term in enumerate(terms):
        arrays[i], terms[i] = _no_repeats(does, i, term)
    path: list[tuple[int, ...]] = [(0, 1)] * (len(arrays) - 1)
    if len(arrays) > 2 and optimize:
        shapes = [does.arrays[k].shape for k in arrays]
        stand_ins = [np.broadcast_to(np.zeros((), np.int8), shape) for shape in shapes]
        letters = dict(zip(sorted(set("".join(terms))), map(chr, range(97, 123)), strict=False))
        named = ["".join(letters[c] for c in term) for term in [*terms, result]]
        path = np.einsum_path(
            ",".join(named[:-1]) + "->" + named[-1], *stand_ins, optimize="greedy"
        )[0][1:]

    def join(i: int, j: int) -> None:
        b, y = arrays.pop(j), terms.pop(j)
        a, x = arrays.pop(i), terms.pop(i)
        joined, labels = _pair(does, a, x, b, y, set(result).union(*terms))
        arrays.append(joined)
        terms.append(labels)

    for step in path:
        i, j = sorted(step[:2])
        join(i, j)
    while len(arrays) > 1:
        join(len(arrays) - 2, len(arrays) - 1)
    k, labels = _summed(does, arrays[0], terms[0], set(result))
    return does.transpose(k, [labels.index(c) for c in result])
