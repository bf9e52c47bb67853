"""Kernels of fused functions over rows: chooses the nodes that one of them computes. These are
reductions over the last axis, their operands, and what is computed from their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pygpu._src.codegen import accumulators, dtypes
from pygpu._src.codegen.kernels import fused_rows

from . import layout

if TYPE_CHECKING:
    from .trace_recorder import Recorder

_MOST_ARRAYS = 14
_MOST_DEPTH = 100  # of nested steps in a kernel over rows
_MOST_LOCAL = 96  # bytes per work-item in local memory of a kernel over rows


class _TooDeep(Exception):
    """The steps are nested more deeply than Python's stack allows."""


def plan(recorder: Recorder, shape: tuple[int, ...], node_ids: list[int]) -> Any:
    """Return (plan, registers of its operands) of a kernel over rows of a shape; None if it does
    not suit these nodes."""
    return _Region(recorder, shape).plan(node_ids)


class _Region:
    """The nodes that one kernel over rows of a shape computes."""

    def __init__(self, recorder: Recorder, shape: tuple[int, ...]) -> None:
        self.recorder, self.shape = recorder, shape
        self.kept = (*shape[:-1], 1)
        # "full", "row", "bare": that of a row without the last axis.
        self.level: dict[int, str] = {}
        self.cut: set[int] = set()
        self.depth = 0

    def plan(self, node_ids: list[int]) -> Any:
        """Return (plan, registers of its operands); None if it is not suitable."""
        r = self.recorder
        for node_id in node_ids:
            try:
                level = self._level(node_id)
            except _TooDeep:
                return None
            wanted = {"full": self.shape, "row": self.kept, "bare": self.shape[:-1]}
            if node_id in self.cut or level is None or r.shapes[node_id] != wanted[level]:
                return None
        inner = [k for k in r.needed(tuple(node_ids), self._inputs()) if k not in self._inputs()]
        reduces = [k for k in inner if r.nodes[k].kind == "reduce"]
        if not reduces or (len(reduces) == 1 and list(node_ids) == reduces):
            return None
        for k in sorted(self.cut):
            if r.nodes[k].kind != "array" and k not in r.made:
                r.force([k])
        return self._describe(node_ids)

    def _inputs(self) -> set[int]:
        return self.cut | set(self.recorder.made)

    def _level(self, node_id: int) -> str | None:
        """Return how often a node is computed; None if this kernel cannot compute it. Nodes that
        are computed in advance are added to *cut*."""
        if node_id in self.level:
            return self.level[node_id]
        if self.depth > _MOST_DEPTH:
            raise _TooDeep
        self.depth += 1
        level = self._find(node_id)
        self.depth -= 1
        if level is None and self._loads(node_id):
            self.cut.add(node_id)
            level = self._of_array(node_id)
        if level is not None:
            self.level[node_id] = level
        return level

    def _loads(self, node_id: int) -> bool:
        """Whether a node can be read as an array."""
        shape = self.recorder.shapes.get(node_id)
        if shape is None:
            return False
        try:
            return layout.broadcast_shapes(shape, self.shape) == self.shape
        except ValueError:
            return False

    def _of_array(self, node_id: int) -> str | None:
        shape = self.recorder.shapes[node_id]
        if not self._loads(node_id):
            return None
        return "row" if not shape or (shape[-1] == 1 and self.shape[-1] != 1) else "full"

    def _find(self, node_id: int) -> str | None:
        r, node = self.recorder, self.recorder.nodes[node_id]
        if node.kind in ("number", "literal"):
            return "row"
        if node_id in r.made or node.kind == "array":
            return self._of_array(node_id)
        if node.kind == "reduce":
            (child,) = node.inputs
            if r.shapes[child] != self.shape or node.what[5] != (len(self.shape) - 1,):
                return None
            if self._level(child) is None:
                return None
            return "row" if node.what[3] or len(self.shape) == 1 else "bare"
        if node.kind == "view":
            (child,) = node.inputs
            bare = r.shapes[node_id] == self.kept and self._is_row_independent(child)
            return "row" if bare else None
        if node.kind == "product":
            return None
        levels = [self._level(k) for k in node.inputs]
        if None in levels or not self._loads(node_id) and "bare" not in levels:
            return None
        if "bare" in levels:
            pure = all(
                level == "bare" or r.nodes[k].kind in ("number", "literal")
                for k, level in zip(node.inputs, levels, strict=True)
            )
            return "bare" if pure else None
        if "full" in levels:
            return "full"
        return "row" if r.shapes[node_id] in (self.kept, ()) or self.shape[-1] == 1 else "full"

    def _is_row_independent(self, node_id: int) -> bool:
        return self._level(node_id) == "bare" and node_id not in self.cut

    def _describe(self, node_ids: list[int]) -> Any:
        r = self.recorder
        stops = self._inputs()
        every = r.needed(tuple(node_ids), stops)
        leaves = [k for k in every if k in stops or r.nodes[k].kind == "array"]
        numbers = [k for k in every if k not in stops and r.nodes[k].kind == "number"]
        operations, local = [], 0
        stages = []
        for k in every:
            node = r.nodes[k]
            if k in leaves or k in numbers or self.level.get(k) == "full":
                continue
            kind = dtypes.compute_type(node.dtype)
            if node.kind == "view":
                stages.append(fused_rows.Stage(f"PG_UNUSED const {kind} v{k} = v{node.inputs[0]};"))
            elif node.kind == "reduce":
                stage, size = self._stage(k)
                operations.append(stage)
                local += size
                stages.append(stage)
            else:
                stages.append(fused_rows.Stage(r.statement(k)))
        if local > _MOST_LOCAL:
            return None
        used = [r.nodes[k] for k in every]
        arrays = tuple((k, r.nodes[k].dtype) for k in leaves)
        plan = fused_rows.Plan(
            arrays,
            tuple((k, r.nodes[k].dtype) for k in numbers),
            tuple((f"v{k}", r.nodes[k].dtype, self.level[k] == "full") for k in node_ids),
            tuple(node_ids),
            tuple(stages),
            self._items(every, stops),
            "".join(dict.fromkeys(n.helpers for n in used if n.helpers)),
            frozenset(dtypes.features(*(d for n in used for d in (n.dtype, *n.takes))))
            | frozenset(f for s in operations if s.operation for f in s.operation.features),
            tuple({n.dtype for n in used}),
        )
        registers = [r.made[k] if k in r.made else r.register(k) for k in leaves]
        registers += [r._number(r.nodes[k].what) for k in numbers]
        if len(registers) + len(node_ids) > _MOST_ARRAYS:
            return None
        return plan, registers

    def _stage(self, node_id: int) -> tuple[fused_rows.Stage, int]:
        r, node = self.recorder, self.recorder.nodes[node_id]
        kind, _, _, _, ddof, _, number = node.what
        (child,) = node.inputs
        operation = accumulators.operation(kind, (r.nodes[child].dtype,), number, node.dtype)
        stage = fused_rows.Stage("", operation, child, f"v{node_id}", float(ddof))
        return stage, operation.acc_bytes

    def _items(self, every: Sequence[int], stops: set[int]) -> tuple[fused_rows.Item, ...]:
        """Return what is computed for each item."""
        r = self.recorder
        found = []
        for k in every:
            node = r.nodes[k]
            if k in stops or node.kind == "array":
                found.append(fused_rows.Item(k, node.dtype, (), ""))
            elif self.level.get(k) == "full":
                found.append(fused_rows.Item(k, node.dtype, node.inputs, r.statement(k)))
        return tuple(found)
