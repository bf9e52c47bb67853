"""The launches of ``pygpu.fuse`` functions, as objects that launch for given operands and let C
repeat the launch on its own (see ``src/array/program.c``)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import fused_nests, fused_rows, fused_rows_gpu
from pygpu._src.runtime import kernel_cache

from . import elementwise, launch_cache, layout, primitives, reduction, ufuncs

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend


class ShapeChanged(OverflowError):
    """A step returned an array of another shape than in the traced call."""


def _is_plain(operation: elementwise.Operation, operands: Sequence[Any], name: str) -> bool:
    """Whether C passes the numbers to the kernel unchanged."""
    call = launch_cache.Call(name, tuple(operands))
    return launch_cache._converts_exactly(call, operation)


def _as_it_is(number: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a launch converts the number exactly as as_scalar() does."""
    if isinstance(number, np.generic):
        return number.dtype == dtype
    if type(number) is float:
        return dtype.kind == "f" and dtype.itemsize > 2
    return type(number) is int and dtype.kind in "iuf" and dtype.num != 23


class Elementwise:
    """A kernel with a new array as its result, for arrays of any shapes."""

    def __init__(self, operation: elementwise.Operation, name: str) -> None:
        self.operation, self.name = operation, name

    def __call__(self, *operands: Any) -> Any:
        arrays = [x for x in operands if isinstance(x, GPUArray)]
        ufuncs.same_device("fuse", arrays)
        shape = layout.broadcast_shapes(*(a.shape for a in arrays))
        first: Any = arrays[0]
        operation = self.operation
        dtypes.require(first.backend, "fuse", *operation.inputs, *operation.outputs)
        out = ufuncs.empty_like_operands(first, arrays, shape, operation.outputs[0])
        if 0 not in shape:
            call = launch_cache.Call(self.name, operands)
            elementwise.run(operation, [out], operands, shape, call=call)
        return out


class Into:
    """A kernel that writes arrays, which come before its operands."""

    def __init__(self, operation: elementwise.Operation, name: str) -> None:
        self.operation, self.name = operation, name

    def __call__(self, *operands: Any) -> None:
        operation = self.operation
        n = len(operation.outputs)
        outs, inputs = operands[:n], operands[n:]
        arrays: list[Any] = [x for x in operands if isinstance(x, GPUArray)]
        ufuncs.same_device("fuse", arrays)
        first: Any = outs[0]
        if first.size == 0:
            return
        backend = first.backend
        dtypes.require(backend, "fuse", *operation.inputs, *operation.outputs)
        if not all(a._is_aligned for a in arrays):
            elementwise.run(operation, outs, inputs, first.shape)
            return
        queue = first._queue()
        waits = backend.wait_list(queue, arrays)
        launch = elementwise.prepare(backend, operation, operands, first.shape)
        event = elementwise.start(backend, queue, launch, operation, operands, waits)
        if waits is None and _is_plain(operation, inputs, self.name):
            groups, size = launch.groups, launch.group_size
            registers = range(len(operands))
            step = launch_cache.step(
                backend, launch.kernel, groups, size, registers, launch.numbers
            )
            backend.table.plans.add(
                self.name, 0, operands, None, None, (step,), (), tuple(range(n))
            )
        backend.note_event(queue, event, outs, [a for a in inputs if isinstance(a, GPUArray)])


class Reduction:
    """A reduction of an array, like its method."""

    def __init__(self, kind: str, options: dict[str, Any]) -> None:
        self.kind, self.options = kind, options

    def __call__(self, a: Any) -> Any:
        return a._reduce(self.kind, **self.options)


class FusedReduction:
    """A reduction of the results of an elementwise operation."""

    def __init__(
        self, operation: elementwise.Operation, name: str, kind: str, options: dict[str, Any]
    ) -> None:
        self.operation, self.name, self.kind, self.options = operation, name, kind, options

    def __call__(self, *operands: Any) -> Any:
        arrays = [x for x in operands if isinstance(x, GPUArray)]
        ufuncs.same_device("fuse", arrays)
        if any(a.size == 0 for a in arrays):
            items = Elementwise(self.operation, self.name + " items")(*operands)
            return items._reduce(self.kind, **self.options)
        o = self.options
        return reduction.fused(
            self.operation,
            self.name,
            self.kind,
            operands,
            o["axis"],
            o["dtype"],
            o["keepdims"],
            o["ddof"],
        )


class New:
    """A new array on another one's device, where C cannot make it."""

    def __init__(
        self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self.shape, self.strides, self.dtype = shape, strides, dtype

    def __call__(self, like: Any) -> Any:
        return like._new(self.shape, self.dtype, self.strides)


def _vector(arrays: Sequence[tuple[Any, tuple[int, ...], str]]) -> int:
    """Return how many items of rows can be moved in one access: 16 bytes of the largest, if all
    rows of (array, strides, letter) are aligned to that."""
    dense = [(a, s) for a, s, letter in arrays if letter == "c"]
    if not dense:
        return 1
    vector: int = max(16 // max(a.itemsize for a, _ in dense), 1)
    while vector > 1 and any(
        start % (vector * a.itemsize) for a, s in dense for start in (a.offset, *s[:-1])
    ):
        vector //= 2
    return vector


class _RowLayout:
    """The layout of rows: the axes before the last one, of all operands together, and how the
    items of a row follow each other in each operand ("b": the same item, "c": dense, "s":
    strided)."""

    def __init__(self, shape: tuple[int, ...], read: Sequence[Any], outs: Sequence[Any]) -> None:
        length = shape[-1]
        self.strides = [layout.broadcast_strides(a.shape, a.strides, shape) for a in read]
        self.out_strides = [
            o.strides if o.ndim == len(shape) else (*o.strides, 0) for o in outs
        ]  # a result with one item per row may lack the last axis
        self.kept_shape, self.kept = layout.collapse(
            shape[:-1] or (1,),
            *((s[:-1] or (0,)) for s in (*self.strides, *self.out_strides)),
        )
        self.rows = prod(self.kept_shape)
        self.letters = "".join(
            "b" if s[-1] == 0 or length == 1 else "c" if s[-1] == a.itemsize else "s"
            for s, a in zip(self.strides, read, strict=True)
        )
        self.dense = "".join(
            "c" if s[-1] == o.itemsize else "s" for s, o in zip(self.out_strides, outs, strict=True)
        )


def _prepare(
    plan: fused_rows.Plan | fused_nests.Plan, n: int, operands: Sequence[Any]
) -> tuple[Backend, Sequence[Any], list[Any]]:
    """Check the operands of a kernel: *n* results, arrays, numbers. Returns the backend, the
    results, and the arrays, copied if they are not aligned."""
    outs, arrays = operands[:n], operands[n : n + len(plan.arrays)]
    ufuncs.same_device("fuse", [*outs, *arrays])
    backend: Backend = outs[0].backend
    dtypes.require(backend, "fuse", *(a.dtype for a in (*outs, *arrays)), *plan.computed)
    return backend, outs, [a._aligned() for a in arrays]


def _launch(
    name: str,
    number_dtypes: tuple[np.dtype[Any], ...],
    kernel: Any,
    groups: int,
    size: int,
    n: int,
    operands: Sequence[Any],
    read: Sequence[Any],
    constants: Sequence[int],
) -> None:
    """Launch a kernel for *n* results, arrays and numbers, and let C repeat it. read: the arrays,
    copied if they were not aligned."""
    outs, arrays, given = operands[:n], operands[n : n + len(read)], operands[n + len(read) :]
    backend: Backend = outs[0].backend
    numbers = [elementwise.as_scalar(x, d) for x, d in zip(given, number_dtypes, strict=True)]
    same = all(x is y for x, y in zip(read, arrays, strict=True))
    quiet = same and not any(a._foreign for a in (*outs, *read))
    primitives.launch(outs[0], kernel, groups, size, read, outs, [*numbers, *constants])
    if quiet and all(_as_it_is(x, d) for x, d in zip(given, number_dtypes, strict=True)):
        registers = [*range(n, n + len(read)), *range(n), *range(n + len(read), len(operands))]
        step = launch_cache.step(backend, kernel, groups, size, registers, constants)
        backend.table.plans.add(name, 0, operands, None, None, (step,), (), tuple(range(n)))


class Rows:
    """A kernel that processes whole rows: reductions over the last axis, their operands, and what
    is computed from their results. Operands: results, then arrays, then numbers."""

    def __init__(self, plan: fused_rows.Plan, shape: tuple[int, ...]) -> None:
        self.plan, self.shape = plan, shape
        digest = hashlib.sha256(repr(plan).encode()).hexdigest()
        self.name = f"rows {digest} {shape}"

    def _geometry(
        self, backend: Backend, at: _RowLayout, read: Sequence[Any], outs: Sequence[Any]
    ) -> tuple[Any, int, int]:
        """Return the form of the kernel (None on CPU devices), the number of groups, and their
        size."""
        limits = backend.limits
        if limits.is_cpu:
            return None, max(min(at.rows, limits.units * 4), 1), 1
        pieces = _vector([*zip(read, at.strides, at.letters), *zip(outs, at.out_strides, at.dense)])
        form = fused_rows_gpu.geometry(
            self.plan,
            at.rows,
            self.shape[-1],
            pieces,
            limits.units,
            limits.group_size,
            limits.warps,
        )
        together = form.group // form.lanes
        return form, min(-(-at.rows // together), 1 << 20), form.group

    def __call__(self, *operands: Any) -> None:
        plan = self.plan
        n = len(plan.outputs)
        backend, outs, read = _prepare(plan, n, operands)
        at = _RowLayout(self.shape, read, outs)
        form, groups, size = self._geometry(backend, at, read, outs)
        axes, letters, dense = len(at.kept_shape), at.letters, at.dense
        key = ("fused rows", self.name, axes, letters, dense, form)

        def make() -> tuple[str, str]:
            if form is None:
                return fused_rows.cpu_source(plan, axes, letters, dense), "fused_rows"
            return fused_rows_gpu.source(plan, axes, letters, dense, form), "fused_rows"

        features = plan.features | ({"warps"} if form is not None and form.warps else set())
        kernel = kernel_cache.get(backend, key, make, features)
        constants = [at.rows, self.shape[-1], *at.kept_shape[1:]]
        steps = [s[-1] for s in (*at.strides, *at.out_strides)]
        for s, step in zip(at.kept, steps, strict=True):
            constants += [*s, step]
        _launch(self.name, plan.number_dtypes, kernel, groups, size, n, operands, read, constants)


class Nest:
    """A kernel for nested loops. Operands: results, then arrays, then numbers."""

    def __init__(self, plan: fused_nests.Plan) -> None:
        self.plan = plan
        digest = hashlib.sha256(repr(plan).encode()).hexdigest()
        self.name = f"nest {digest}"

    def __call__(self, *operands: Any) -> None:
        plan = self.plan
        n = len(plan.results)
        backend, outs, read = _prepare(plan, n, operands)
        strides = [a.strides for a in (*read, *outs)]
        baked_strides = tuple(fused_nests.baked(s) for s in strides)
        lengths = [k for k, large in zip(plan.shape, plan.large, strict=True) if large]
        rows = prod(lengths)
        limits = backend.limits
        if limits.is_cpu:
            groups, size = max(min(rows, limits.units * 4), 1), 1
        else:
            together = fused_nests.GROUP // plan.lanes * plan.each
            groups, size = min(-(-rows // together), 1 << 20), fused_nests.GROUP
        warps = limits.warps and not limits.is_cpu and plan.lanes > 1
        text = fused_nests.source(plan, baked_strides, limits.is_cpu, warps)
        key = ("fused nest", hashlib.sha256(text.encode()).hexdigest())
        features = plan.features | ({"warps"} if warps else set())
        kernel = kernel_cache.get(backend, key, lambda: (text, "fused_nest"), features)
        constants = [rows, plan.length, *lengths[1:]]
        for its, baked in zip(strides, baked_strides, strict=True):
            constants += [s for s, b in zip(its, baked, strict=True) if b is None]
        _launch(self.name, plan.number_dtypes, kernel, groups, size, n, operands, read, constants)
