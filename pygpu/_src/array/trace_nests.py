"""Kernels of fused functions with nested loops: reductions over a long axis of the results of
small reductions, as in sums over the forces between all pairs of bodies. The intermediate values
are never stored in memory.

A node is computed at an index: for each of its axes a variable of the kernel or, for short axes, a
number. Its index determines where a value is computed: for a row (an item of the result, without
its short axes), inside the loop over the long axis, or after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.codegen import accumulators, dtypes
from pygpu._src.codegen.kernels import fused_nests

if TYPE_CHECKING:
    from .trace_recorder import Recorder

SMALL = 32  # items of a reduction that is unrolled
_SHORT = 4  # an axis of the results that a work-item processes completely
_MOST_VALUES = 600  # values in a kernel's source
_MOST_DEPTH = 100  # of nested steps, because Python's stack is limited
_MOST_SUMS = 16  # per work-item
_MOST_BYTES = 256  # bytes of these
_MOST_ARRAYS = 14
_BUSY = 512  # work-items per unit for good occupancy
_LONG = 4096  # items of a loop: longer ones need many rows to keep a device busy

Index = tuple[Any, ...]  # for each axis a variable's name or a number


class _Unsuited(Exception):
    """The nest must be computed by other kernels."""


def plan(recorder: Recorder, node_ids: list[int]) -> Any:
    """Return (plan, registers of its operands) of a kernel for nodes of one shape; None if it is
    not suitable."""
    shape = recorder.shapes[node_ids[0]]
    rows = prod(n for n in shape if n > _SHORT)
    if not prod(shape) or rows == 1:
        return None
    limits = recorder.like.backend.limits
    if not limits.is_cpu and limits.group_size < fused_nests.GROUP:
        return None
    each = 2 if not limits.is_cpu and rows >= 16 * limits.units else 1
    lanes = 1
    while lanes < fused_nests.LANES and rows * lanes < limits.units * _BUSY * each:
        lanes *= 2
    try:
        return _Writer(recorder, shape, each).plan(node_ids, rows, lanes)
    except _Unsuited:
        return None


class _Writer:
    """Writes the source of a nest. each: rows per work-item."""

    def __init__(self, recorder: Recorder, shape: tuple[int, ...], each: int) -> None:
        self.recorder, self.shape, self.each = recorder, shape, each
        self.lines: tuple[list[str], list[str], list[str]] = ([], [], [])  # row, loop, after it
        # Variable, and where it is computed.
        self.values: dict[tuple[int, Index], tuple[str, int]] = {}
        self.sums: list[fused_nests.Sum] = []
        self.operations: dict[Any, int] = {}
        self.leaves: list[int] = []  # nodes that are arrays
        self.numbers: list[int] = []
        self.length = self.depth = 0
        self.small = False
        self.helpers: dict[str, None] = {}
        self.used: set[np.dtype[Any]] = set()

    def plan(self, node_ids: list[int], rows: int, lanes: int) -> Any:
        r = self.recorder
        outputs = []
        for row in range(self.each):
            for combination in itertools.product(
                *(self._axis(a, row) for a in range(len(self.shape)))
            ):
                for i, node_id in enumerate(node_ids):
                    name, _ = self.value(node_id, combination, 2)
                    outputs.append((row, i, name, self._address(f"y{i}", combination)))
        limits = r.like.backend.limits
        few_rows = rows < (limits.units if limits.is_cpu else 4 * limits.units)
        if not self.sums or not self.small or (few_rows and self.length > _LONG):
            raise _Unsuited
        registers = [r.made[k] if k in r.made else r.register(k) for k in self.leaves]
        registers += [r._number(r.nodes[k].what) for k in self.numbers]
        if len(registers) + len(node_ids) > _MOST_ARRAYS:
            raise _Unsuited
        return (
            fused_nests.Plan(
                tuple((k, r.nodes[k].dtype) for k in self.leaves),
                tuple((k, r.nodes[k].dtype) for k in self.numbers),
                tuple(r.nodes[k].dtype for k in node_ids),
                tuple(tuple(lines) for lines in self.lines),
                tuple(self.operations),
                tuple(self.sums),
                tuple(outputs),
                tuple(r.shapes[k] for k in self.leaves),
                self.shape,
                tuple(n > _SHORT for n in self.shape),
                self.length,
                self.each,
                lanes,
                "".join(self.helpers),
                frozenset(dtypes.features(*self.used))
                | frozenset(f for o in self.operations for f in o.features),
                tuple(self.used),
            ),
            registers,
        )

    def _axis(self, axis: int, row: int) -> Sequence[Any]:
        n = self.shape[axis]
        return range(n) if n <= _SHORT else (f"k{axis}_{row}",)

    @staticmethod
    def _address(name: str, index: Index) -> tuple[tuple[str, Any], ...]:
        """Return the strides of an array, and their factors."""
        return tuple((f"{name}_s{axis}", at) for axis, at in enumerate(index) if at != 0)

    # ---- values

    def value(self, node_id: int, index: Index, where: int) -> tuple[str, int]:
        """Return (variable, where it is computed) of a node at an index. where: in the loop (1) or
        after it."""
        key = node_id, index
        found = self.values.get(key)
        if found is None:
            if len(self.values) > _MOST_VALUES or self.depth > _MOST_DEPTH:
                raise _Unsuited
            self.depth += 1
            name = f"v{len(self.values)}_{node_id}"
            found = self.values[key] = self._make(node_id, index, where, name)
            self.depth -= 1
            self.used.add(self.recorder.nodes[node_id].dtype)
        return found

    def _make(self, node_id: int, index: Index, where: int, name: str) -> tuple[str, int]:
        r = self.recorder
        node = r.nodes[node_id]
        if node_id in r.made or node_id in self.leaves or node.kind == "array":
            return self._load(node_id, index, name)
        if node.kind == "number":
            if node_id not in self.numbers:
                self.numbers.append(node_id)
            return f"v{node_id}", 0
        if node.kind == "literal":
            self.lines[0].append(r.statement(node_id, name))
            return name, 0
        if node.kind == "view":
            (child,) = node.inputs
            return self.value(child, _behind(r.shapes[node_id], index, r.shapes[child]), where)
        if where == 1 and "j" in index and not any(str(i)[0] == "k" for i in index):
            return self._load(node_id, index, name)  # computed once for all rows, in advance
        self.used.update(node.takes)
        if node.kind == "reduce":
            return self._reduce(node_id, index, where, name)
        if node.kind == "product":
            return self._product(node_id, index, where, name)
        inputs, at = [], 0
        for child in node.inputs:
            variable, its = self.value(child, _of_input(r.shapes.get(child, ()), index), where)
            inputs.append(variable)
            at = max(at, its)
        if node.helpers:
            self.helpers[node.helpers] = None
        if where == 1 and at == 2:
            raise _Unsuited  # it would need a loop inside the loop
        self.lines[at].append(r.statement(node_id, name, inputs))
        return name, at

    def _load(self, node_id: int, index: Index, name: str) -> tuple[str, int]:
        dtype = self.recorder.nodes[node_id].dtype
        if node_id not in self.leaves:
            self.leaves.append(node_id)
        kind, storage = dtypes.compute_type(dtype), dtypes.storage_type(dtype)
        terms = self._address(f"a{node_id}", index)
        offset_in_row = fused_nests.sum_of([t for t in terms if t[1] != "j"])
        in_loop = fused_nests.sum_of([t for t in terms if t[1] == "j"])
        at = 1 if in_loop else 0
        pointer = f"(PG_GLOBAL const char *)a{node_id} + ({offset_in_row or '0'})"
        if at:
            self.lines[0].append(f"PG_GLOBAL const char *p_{name} = {pointer};")
            pointer = f"p_{name} + ({in_loop})"
        item = dtypes.load(dtype, f"((PG_GLOBAL const {storage} *)({pointer}))", "0")
        self.lines[at].append(f"PG_UNUSED const {kind} {name} = {item};")
        return name, at

    # ---- reductions and products

    def _product(self, node_id: int, index: Index, where: int, name: str) -> tuple[str, int]:
        node, (i, j) = self.recorder.nodes[node_id], index
        a, b = node.inputs
        kind, at = dtypes.compute_type(node.dtype), 0
        lines = [f"{kind} {name} = 0;"]
        for k in range(self.recorder.shapes[a][1]):
            x, its = self.value(a, (i, k), where)
            y, others = self.value(b, (k, j), where)
            at = max(at, its, others)
            lines.append(f"{name} = fma({x}, {y}, {name});")
        return self._put_small(lines, at, where, name)

    def _put_small(self, lines: list[str], at: int, where: int, name: str) -> tuple[str, int]:
        if where == 1 and at == 2:
            raise _Unsuited
        self.small = self.small or at == 1
        self.lines[at].append("\n        ".join(lines))
        return name, at

    def _operation(self, node_id: int) -> tuple[Any, int]:
        r, node = self.recorder, self.recorder.nodes[node_id]
        kind, _, _, _, _, _, number = node.what
        (child,) = node.inputs
        operation = accumulators.operation(kind, (r.nodes[child].dtype,), number, node.dtype)
        self.used.add(number)
        return operation, self.operations.setdefault(operation, len(self.operations))

    def _reduce(self, node_id: int, index: Index, where: int, name: str) -> tuple[str, int]:
        r, node = self.recorder, self.recorder.nodes[node_id]
        (child,) = node.inputs
        shape = r.shapes[child]
        _, _, _, keep, ddof, axes, _ = node.what
        length = prod(shape[a] for a in axes)
        if not length:
            raise _Unsuited
        kept = [i for a, i in enumerate(index) if not keep or a not in axes]
        full_index: list[Any] = [None] * len(shape)
        for a in range(len(shape)):
            if a not in axes:
                full_index[a] = kept.pop(0)
        operation, number = self._operation(node_id)
        store = fused_nests.store(operation, number, name, length, ddof)
        if length <= SMALL:
            return self._small(child, full_index, axes, number, name, store, where)
        if where == 1 or len(axes) != 1 or self.length not in (0, length):
            raise _Unsuited
        self.length = length
        full_index[axes[0]] = "j"
        variable, _ = self.value(child, tuple(full_index), 1)
        self.sums.append(fused_nests.Sum(number, name, variable))
        if (
            len(self.sums) > _MOST_SUMS
            or sum(list(self.operations)[s.operation].acc_bytes for s in self.sums) > _MOST_BYTES
        ):
            raise _Unsuited
        self.lines[2].append(store)
        return name, 2

    def _small(
        self,
        child: int,
        full_index: list[Any],
        axes: tuple[int, ...],
        number: int,
        name: str,
        store: str,
        where: int,
    ) -> tuple[str, int]:
        shape = self.recorder.shapes[child]
        p, at = f"red{number}", 0
        lines = [f"{p}_acc acc_{name} = {p}_none();"]
        for i, combination in enumerate(itertools.product(*(range(shape[a]) for a in axes))):
            for a, k in zip(axes, combination, strict=True):
                full_index[a] = k
            variable, its = self.value(child, tuple(full_index), where)
            at = max(at, its)
            lines.append(f"acc_{name} = {p}_item(acc_{name}, {variable}, {i});")
        return self._put_small([*lines, store], at, where, name)


def _of_input(shape: tuple[int, ...], index: Index) -> Index:
    """Return the index of an operand with this shape for an index of the step's result."""
    behind = index[len(index) - len(shape) :]
    return tuple(0 if n == 1 else i for n, i in zip(shape, behind, strict=True))


def _behind(shape: tuple[int, ...], index: Index, child: tuple[int, ...]) -> Index:
    """Return the index into the array behind a view with additional axes of length 1."""
    rest = [i for n, i in zip(shape, index, strict=True) if n != 1]
    return tuple(0 if n == 1 else rest.pop(0) for n in child)
