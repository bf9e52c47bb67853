"""A function of ``pygpu.fuse`` as a program: the operations on its placeholders, in few launches.

Operations on placeholders are nodes of a graph. Values that must be in memory (results, operands
of functions that cannot be steps of kernels, items that are assigned to) are computed by steps,
each an entry of a :class:`pygpu._array.FusedProgram`. A step is executed when it is added, for the
arguments of the traced call: so all shapes and strides are known, whatever function produced them.
"""

from __future__ import annotations

import hashlib
import operator
import weakref
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from pygpu import _array
from pygpu._array import GPUArray
from pygpu._src.codegen import dtypes

from . import elementwise, layout, precision, reduction, trace_rows, ufuncs
from . import trace_nests as nests
from .trace import Graph, Node, Number, Tracer, Untraceable
from .trace_steps import (
    Elementwise,
    FusedReduction,
    Into,
    Nest,
    New,
    Reduction,
    Rows,
    ShapeChanged,
)

_RUN, _LAUNCH, _VIEW, _NEW, _NUMBER, _PYTHON = range(6)
_OWN_LAUNCH = ("reduce", "view", "product")  # nodes that are not steps of an elementwise kernel
_MOST_ARRAYS = 14  # per kernel
_MOST_STEPS = 40  # of a value that several kernels compute separately
_MOST_NODES = 400  # per kernel: compilers are slow for more
_LONG = 4096  # items per row: longer ones need many rows to keep a device busy


class Aliased(Exception):
    """A function that assigns to its arguments got arguments that share memory."""


class Recorder(Graph):
    """The graph of a function, with shapes, and the steps so far."""

    def __init__(self, args: Sequence[Any], make: Callable[[Recorder, int], Any]) -> None:
        self.like: Any = next(a for a in args if isinstance(a, GPUArray))
        super().__init__(self.like.backend.name)
        self.args, self.make = args, make
        self.values: list[Any] = list(args)  # of the registers, in the traced call
        self.roots = list(range(len(args)))  # for each register, the register that owns its memory
        self.shapes: dict[int, tuple[int, ...]] = {}  # of nodes other than numbers
        self.versions: dict[int, int] = {}  # how often the memory of a register was written
        self.made: dict[int, int] = {}  # node: the register that holds it
        self.steps: list[tuple[Any, ...]] = []
        self.first: list[tuple[Any, ...]] = []  # steps that compute numbers
        self.constants: list[tuple[int, Any]] = []
        self.live: weakref.WeakSet[Any] = weakref.WeakSet()
        self.saved: list[tuple[Any, Any]] = []  # arguments that were written, and copies of them
        self.mutates = self.shaped = False
        self.owners: dict[int, weakref.ref[Any]] = {}  # which placeholder owns a register
        self._registers: dict[Any, int] = {}  # of numbers

    # ---- nodes

    def leaf(self, register: int) -> int:
        """Return the node of a register's current contents."""
        version = self.versions.get(self.roots[register], 0)
        what = (register, version) if version else register
        array = self.values[register]
        node_id = self.add(Node("array", what, (), (), array.dtype))
        self.shapes[node_id] = array.shape
        return node_id

    def _register_of(self, node_id: int) -> int:
        what = self.nodes[node_id].what
        return what if isinstance(what, int) else what[0]

    def shape_of(self, operand: Any) -> tuple[int, ...]:
        return self.shapes[operand.node_id] if isinstance(operand, Tracer) else ()

    def step(self, operation: elementwise.Operation, operands: tuple[Any, ...]) -> Any:
        shape = layout.broadcast_shapes(*(self.shape_of(x) for x in operands))
        node_ids = tuple(
            self.node_id(x, d) for x, d in zip(operands, operation.inputs, strict=True)
        )
        (dtype,) = operation.outputs
        node = Node("step", operation.body, node_ids, operation.inputs, dtype, operation.helpers)
        return self.new(node, shape)

    def new(self, node: Node, shape: tuple[int, ...]) -> Any:
        node_id = self.add(node)
        self.shapes[node_id] = shape
        return self.make(self, node_id)

    def constant(self, value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Return an array filled with one number."""
        self.shaped = True
        with np.errstate(all="ignore"):
            number = np.asarray(value).astype(dtype)[()]
        node_id = self.node_id(number, dtype)
        what = f"y0 = x0; /* {shape} */"  # the shape distinguishes it from others
        return self.new(Node("step", what, (node_id,), (dtype,), dtype), shape)

    def ufunc(self, name: str, operands: tuple[Any, ...]) -> Any:
        operands = tuple(self._operand(x) for x in operands)
        if any(isinstance(x, Tracer) for x in operands):
            try:
                return super().ufunc(name, operands)
            except Untraceable:
                if any(isinstance(x, Number) for x in operands) or not hasattr(np, name):
                    raise
                if not all(
                    isinstance(x, (Tracer, np.generic, int, float, complex)) for x in operands
                ):
                    raise
            return self.opaque(getattr(np, name), operands, {})
        return super().ufunc(name, operands)

    def _operand(self, x: Any) -> Any:
        """Host arrays are copied at each call, as in plain code."""
        if isinstance(x, np.ndarray):
            return x[()] if x.ndim == 0 else self.opaque(self.like._from_host, (x,), {})
        return x

    def reduce(self, kind: str, child: Any, options: dict[str, Any]) -> Any:
        """Reduce a placeholder, lazily. options: axis, dtype, keepdims, ddof."""
        shape, axis = self.shapes[child.node_id], options["axis"]
        item = reduction._Item(child.dtype)
        number, result = reduction._result_dtypes(kind, item, options["dtype"], None)
        if axis is None or (not shape and axis in (0, -1)):
            axes: tuple[int, ...] = tuple(range(len(shape)))
        elif kind in ("argmin", "argmax"):
            axes = (layout.normalize_axis(axis, len(shape)),)
        else:
            axes = layout.normalize_axes(axis, len(shape))
        if isinstance(axis, list):
            axis = tuple(axis)
        if options["dtype"] is not None and kind in ("min", "max") and number != child.dtype:
            return self.reduce(kind, child.astype(number), {**options, "dtype": None})
        dtypes.require(self.like.backend, kind, child.dtype, number)
        keep = options["keepdims"]
        kept = tuple(1 if k in axes else n for k, n in enumerate(shape) if keep or k not in axes)
        given = None if options["dtype"] is None else np.dtype(options["dtype"])
        what = (kind, axis, given, keep, options["ddof"], axes, number)
        return self.new(Node("reduce", what, (child.node_id,), (child.dtype,), result), kept)

    def matmul(self, function: Callable[..., Any], a: Any, b: Any) -> Any:
        """Multiply matrices: lazily for short rows and columns, which kernels compute inline, else
        by the ordinary function."""
        self.shaped = True
        if isinstance(a, Tracer) and isinstance(b, Tracer) and a.dtype == b.dtype:
            one, other = self.shapes[a.node_id], self.shapes[b.node_id]
            if (
                len(one) == len(other) == 2
                and 0 < one[1] == other[0] <= nests.SMALL
                and a.dtype.char in "fd"
                and precision.asked() == "highest"
                and not self.like.backend.limits.is_cpu
            ):
                node = Node("product", function, (a.node_id, b.node_id), (a.dtype,) * 2, a.dtype)
                return self.new(node, (one[0], other[1]))
        return self.opaque(function, (a, b), {})

    def insert(self, child: Any, shape: tuple[int, ...]) -> Any:
        """Return a placeholder with additional axes of length 1."""
        node = Node("view", shape, (child.node_id,), (child.dtype,), child.dtype)
        return self.new(node, shape)

    def launches(self) -> int:
        """Return how many of the steps so far launch kernels."""
        return sum(step[0] in (_RUN, _LAUNCH) for step in self.steps)

    # ---- steps

    def _add(
        self,
        code: int,
        reads: Sequence[int],
        values: Sequence[Any],
        *,
        name: str | None = None,
        extra: int = 0,
        function: Any = None,
        kind: Any = None,
        shape: tuple[int, ...] = (),
        strides: tuple[int, ...] = (),
        delta: int = 0,
        roots: Sequence[int | None] | None = None,
    ) -> list[int]:
        first = len(self.values)
        registers = list(range(first, first + len(values)))
        self.values += values
        self.roots += (
            registers
            if roots is None
            else [r if k is None else k for r, k in zip(registers, roots, strict=True)]
        )
        step = (code, tuple(reads), tuple(registers), name, extra, function, kind, shape, strides)
        self.steps.append((*step, delta))
        return registers

    def _values(self, registers: Sequence[int]) -> list[Any]:
        return [self.values[r] for r in registers]

    def view(self, source: int, array: Any) -> int:
        """Return a register for a view of the contents of another one."""
        self.shaped = True
        (register,) = self._add(
            _VIEW,
            (source,),
            (array,),
            kind=array.dtype,
            shape=array.shape,
            strides=array.strides,
            delta=array.offset - self.values[source].offset,
            roots=(self.roots[source],),
        )
        return register

    def _number(self, index: int) -> int:
        read, kind = self.numbers[index]
        found = self._registers.get(index)
        if found is None:
            found = self._argument(read)
            if found is None:
                found = len(self.values)
                self.values.append(read(self.args))
                self.roots.append(found)
                step = (_NUMBER, (), (found,), None, 0, read, kind, (), (), 0)
                self.first.append(step)
            self._registers[index] = found
        return found

    def _argument(self, read: Any) -> int | None:
        if isinstance(read, operator.itemgetter):
            for i in range(len(self.args)):  # which register it gets
                marks = [object() for _ in self.args]
                if read(marks) is marks[i]:
                    return i
        return None

    # ---- values in memory

    def register(self, node_id: int) -> int:
        """Return the register of a node, computed if needed."""
        if self.nodes[node_id].kind == "array":
            register = self._register_of(node_id)
            version = self.versions.get(self.roots[register], 0)
            what = self.nodes[node_id].what
            if version == (0 if isinstance(what, int) else what[1]):
                return register
        if node_id not in self.made:
            self.force([node_id])
        return self.made[node_id]

    def force(self, node_ids: Sequence[int], *, copies: bool = False) -> None:
        """Compute nodes into registers. copies: also for leaves."""
        wanted = [
            k
            for k in dict.fromkeys(node_ids)
            if k not in self.made and (copies or self.nodes[k].kind != "array")
        ]
        wanted = self._nests(wanted)
        if self._rows(wanted):
            return
        for k in wanted:
            self._prepare(k)
        groups: dict[tuple[int, ...], list[int]] = {}
        for k in wanted:
            node = self.nodes[k]
            if k in self.made:
                continue
            if node.kind == "reduce":
                self._reduction(k)
            elif node.kind == "product":
                self._product(k)
            elif node.kind == "view":
                source = self.register(node.inputs[0])
                shape = self.shapes[k]
                self.made[k] = self.view(source, self.values[source].reshape(shape))
            else:
                groups.setdefault(self.shapes[k], []).append(k)
        for shape, members in groups.items():
            self._elementwise(members, shape)

    def _prepare(self, node_id: int) -> None:
        """Compute operands of a node that its kernel cannot compute inline, or would compute
        repeatedly."""
        shared: set[int] = set()
        while True:
            needed = self.needed((node_id,), self.made)
            others = [k for k in needed if k != node_id and self._needs_own_launch(k)]
            if not others:
                break
            for k in others:
                shared.update(self.needed((k,), self.made))
            self.force([others[-1]])
        for k in needed:
            if k != node_id and k not in self.made and self.nodes[k].kind == "step":
                most = _MOST_STEPS if k in shared else _MOST_NODES
                if len(self.needed((k,), self.made)) > most:
                    self.force([k])

    def _needs_own_launch(self, node_id: int) -> bool:
        return node_id not in self.made and self.nodes[node_id].kind in _OWN_LAUNCH

    def _operands(self, leaves: Sequence[int]) -> list[int]:
        return [
            self.made[k]
            if k in self.made
            else self._number(self.nodes[k].what)
            if self.nodes[k].kind == "number"
            else self.register(k)
            for k in leaves
        ]

    def _kernel(
        self, node_ids: tuple[int, ...], outputs: tuple[np.dtype[Any], ...]
    ) -> tuple[elementwise.Operation, str, list[int], list[int]]:
        """Return (operation, name, registers of its operands, leaves)."""
        leaves, text, helpers, features = self.text(node_ids, self.made)
        body = "\n        ".join(
            [
                text,
                *(
                    f"y{i} = {dtypes.cast(f'v{k}', self.nodes[k].dtype, d)};"
                    for i, (k, d) in enumerate(zip(node_ids, outputs, strict=True))
                ),
            ]
        )
        takes = tuple(self.nodes[k].dtype for k in leaves)
        registers = self._operands(leaves)
        arrays = str([isinstance(self.values[r], GPUArray) for r in registers])
        codes = (*map(dtypes.code, (*takes, *outputs)), arrays)
        digest = hashlib.sha256("\0".join((body, helpers, *codes)).encode()).hexdigest()
        operation = elementwise.Operation(
            "fused", takes, outputs, body, helpers, features, key=digest
        )
        return operation, f"fused {digest}", registers, leaves

    def _elementwise(self, node_ids: list[int], shape: tuple[int, ...]) -> None:
        """Add one launch for nodes of one shape, or several if it had too many arrays."""
        if len(node_ids) > 1:
            leaves = self.text(tuple(node_ids), self.made)[0]
            if len(node_ids) + len(leaves) > _MOST_ARRAYS:
                half = len(node_ids) // 2
                self._elementwise(node_ids[:half], shape)
                self._elementwise(node_ids[half:], shape)
                return
        outputs = tuple(self.nodes[k].dtype for k in node_ids)
        operation, name, registers, _ = self._kernel(tuple(node_ids), outputs)
        arrays = [x for x in self._values(registers) if isinstance(x, GPUArray)]
        whole = bool(arrays) and layout.broadcast_shapes(*(a.shape for a in arrays)) == shape
        if len(node_ids) == 1 and whole:
            step = Elementwise(operation, name)
            out = step(*self._values(registers))
            (self.made[node_ids[0]],) = self._add(_RUN, registers, (out,), name=name, function=step)
            return
        outs = [self.empty(arrays, shape, d) for d in outputs]
        self._into(operation, name, outs, registers)
        self.made.update(zip(node_ids, outs, strict=True))

    def empty(self, arrays: Sequence[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """Return a register with a new array."""
        self.shaped = True
        like = next(i for i, a in enumerate(self.args) if isinstance(a, GPUArray))
        given = [a for a in arrays if a.shape == shape] or [self.like]
        array = ufuncs.empty_like_operands(self.like, given, shape, dtype)
        strides = array.strides
        (register,) = self._add(
            _NEW,
            (like,),
            (array,),
            function=New(shape, strides, dtype),
            kind=dtype,
            shape=shape,
            strides=strides,
        )
        return register

    def _into(
        self,
        operation: elementwise.Operation,
        name: str,
        outs: Sequence[int],
        registers: Sequence[int],
    ) -> None:
        self.shaped = True
        step = Into(operation, name + " into")
        every = [*outs, *registers]
        step(*self._values(every))
        self._add(_LAUNCH, every, (), name=step.name, function=step)

    def _reduction(self, node_id: int) -> None:
        node = self.nodes[node_id]
        kind, axis, dtype, keep, ddof, axes, number = node.what
        (child,) = node.inputs
        options = {"axis": axis, "dtype": dtype, "keepdims": keep, "ddof": ddof}
        extra = _array._axes(axis, keep)
        if self.nodes[child].kind == "array" or child in self.made or not prod(self.shapes[child]):
            source = self.register(child)
            used = {k: v for k, v in options.items() if k == "axis" or v}
            step: Any = Reduction(kind, used)
            registers, name, plain = [source], kind, dtype is None and not ddof
        else:
            operation, name, registers, _ = self._kernel((child,), (self.nodes[child].dtype,))
            name = f"{name} {kind} {number} {ddof}"
            arrays = [i for i, r in enumerate(registers) if isinstance(self.values[r], GPUArray)]
            shape = self.shapes[child]
            if not arrays:
                registers, arrays = [self.register(child)], [0]
                step, plain = (
                    Reduction(kind, {k: v for k, v in options.items() if k == "axis" or v}),
                    False,
                )
            else:
                shapes = [self.values[registers[i]].shape for i in arrays]
                if layout.broadcast_shapes(*shapes) != shape:
                    i = arrays[0]
                    array = self.values[registers[i]]
                    strides = layout.broadcast_strides(array.shape, array.strides, shape)
                    whole = array._view(shape, strides, array.offset)
                    registers[i] = self.view(registers[i], whole)
                step, plain = FusedReduction(operation, name, kind, options), True
        out = step(*self._values(registers))
        if plain and extra > 0:
            (made,) = self._add(_RUN, registers, (out,), name=name, extra=extra, function=step)
        else:
            (made,) = self._add(_PYTHON, registers, (out,), function=_in_tuple(step))
        self.made[node_id] = made

    def _product(self, node_id: int) -> None:
        node = self.nodes[node_id]
        registers = [self.register(k) for k in node.inputs]
        call = _Call(node.what, [_Position(0), _Position(1)], {})
        made = call.made(self._values(registers))
        call.expect([made])
        (self.made[node_id],) = self._add(_PYTHON, registers, (made,), function=call)

    # ---- rows

    def _rows(self, node_ids: list[int]) -> bool:
        """Compute nodes by one kernel over rows, if it suits them all."""
        shapes = {s for k in node_ids if (s := self._row_shape(k)) is not None}
        if len(shapes) != 1:
            return False
        (shape,) = shapes
        rows, length = prod(shape[:-1]), shape[-1]
        limits = self.like.backend.limits
        few_rows = rows < (limits.units if limits.is_cpu else 2 * limits.units)
        if not rows or not length or (few_rows and length > _LONG):
            return False
        found = trace_rows.plan(self, shape, node_ids)
        if found is None:
            return False
        plan, registers = found
        self._launch(Rows(plan, shape), node_ids, registers)
        return True

    def _row_shape(self, node_id: int) -> tuple[int, ...] | None:
        """Return the shape of the operand of a reduction over its last axis on which a node
        depends."""
        if self.nodes[node_id].kind == "array":
            return None
        for k in reversed(self.needed((node_id,), self.made)):
            node = self.nodes[k]
            if k not in self.made and node.kind == "reduce":
                shape = self.shapes[node.inputs[0]]
                if shape and node.what[5] == (len(shape) - 1,):
                    return shape
        return None

    # ---- nests

    def _nests(self, node_ids: list[int]) -> list[int]:
        """Compute nodes of one shape by kernels that do small reductions inside large ones.
        Returns the remaining ones."""
        if not any(self._has_small(k) for k in node_ids):
            return node_ids
        shapes = dict.fromkeys(self.shapes[k] for k in node_ids)
        left: list[int] = []
        for shape in shapes:
            members = [k for k in node_ids if self.shapes[k] == shape]
            if not self._nest(members):
                left += members
        return left

    def _has_small(self, node_id: int) -> bool:
        """Whether a node depends on a small reduction with a larger shape."""
        size = prod(self.shapes[node_id])
        return any(
            k != node_id
            and k not in self.made
            and prod(self.shapes.get(k, ())) > size
            and self._is_small(self.nodes[k])
            for k in self.needed((node_id,), self.made)
        )

    def _is_small(self, node: Node) -> bool:
        if node.kind == "reduce":
            reduced = prod(self.shapes[node.inputs[0]][a] for a in node.what[5])
            return bool(0 < reduced <= nests.SMALL)
        return node.kind == "product"

    def _launch(self, step: Rows | Nest, node_ids: list[int], registers: Sequence[int]) -> None:
        """Compute nodes by one kernel that reads the registers."""
        self.shaped = True
        arrays = [x for x in self._values(registers) if isinstance(x, GPUArray)]
        outs = [self.empty(arrays, self.shapes[k], self.nodes[k].dtype) for k in node_ids]
        every = [*outs, *registers]
        step(*self._values(every))
        self._add(_LAUNCH, every, (), name=step.name, function=step)
        self.made.update(zip(node_ids, outs, strict=True))

    def _nest(self, node_ids: list[int]) -> bool:
        found = nests.plan(self, node_ids)
        if found is None:
            return False
        plan, registers = found
        self._launch(Nest(plan), node_ids, registers)
        return True

    # ---- assignments

    def write(
        self, register: int, value: Any, *, casting: Any = "unsafe", dead: Any = None
    ) -> None:
        """Assign a placeholder or a number to all items of a register's array. dead: a placeholder
        that is not needed afterwards."""
        target = self.values[register]
        value = self._operand(value)
        if isinstance(value, Tracer):
            have = self.shapes[value.node_id]
            trimmed = have
            while len(trimmed) > len(target.shape) and trimmed[0] == 1:
                trimmed = trimmed[1:]
            try:
                fits = layout.broadcast_shapes(trimmed, target.shape) == target.shape
            except ValueError:
                fits = False
            if not fits:
                raise ValueError(
                    f"could not broadcast input array from shape {layout.plain(have)} into shape "
                    f"{layout.plain(target.shape)}"
                )
            if not np.can_cast(value.dtype, target.dtype, casting):
                raise TypeError(
                    f"fuse: cannot cast from {value.dtype} to {target.dtype} with casting rule "
                    f"{casting!r}"
                )
            if trimmed != have:
                value = value.reshape(trimmed)
            same = trimmed == target.shape and value.dtype == target.dtype
            leaf = self.leaf(register)
            if value.node_id == leaf:
                return  # u[key] += x has already written the items
            if self._would_overwrite(value.node_id, register) or not same:
                self.force([value.node_id], copies=True)
        self._before_write(register, value, dead)
        node_id = (
            self.node_id(value, target.dtype) if not isinstance(value, Tracer) else value.node_id
        )
        if target.size:
            operation, name, registers, _ = self._kernel((node_id,), (target.dtype,))
            self._into(operation, name, [register], registers)
        self._after_write(register)
        if isinstance(value, Tracer) and value.is_lazy and node_id not in self.made:
            value.move(self.leaf(register))

    def _would_overwrite(self, node_id: int, register: int) -> bool:
        """Whether a node depends on other items of the memory that will be written."""
        out, root = self.values[register], self.roots[register]
        for k in self.needed((node_id,), self.made):
            if k in self.made:
                read = self.made[k]
            elif self.nodes[k].kind == "array":
                read = self._register_of(k)
            elif self.nodes[k].kind in _OWN_LAUNCH:
                if self._depends(k, root):
                    return True
                continue
            else:
                continue
            if self.roots[read] == root:
                a = self.values[read]
                if (a.offset, a.shape, a.strides, a.dtype) != (
                    out.offset,
                    out.shape,
                    out.strides,
                    out.dtype,
                ):
                    return True
        return False

    def _depends(self, node_id: int, root: int) -> bool:
        return any(
            self.roots[self.made[k]] == root
            if k in self.made
            else self.nodes[k].kind == "array" and self.roots[self._register_of(k)] == root
            for k in self.needed((node_id,), self.made)
        )

    def _before_write(self, register: int, value: Any = None, dead: Any = None) -> None:
        """Compute everything that depends on the current contents."""
        root = self.roots[register]
        if root < len(self.args):
            self._save(root)
        waiting = [
            t
            for t in self.live
            if t is not value and t is not dead and t.is_lazy and self._depends(t.node_id, root)
        ]
        if isinstance(value, Tracer):
            for k in self.needed((value.node_id,), self.made):
                if k not in self.made and self.nodes[k].kind in _OWN_LAUNCH:
                    self.force([k])
        if waiting:
            self.force([t.node_id for t in waiting], copies=True)
            for t in waiting:
                self.assign_register(t)

    def _after_write(self, register: int) -> None:
        root = self.roots[register]
        self.versions[root] = self.versions.get(root, 0) + 1
        for k in [k for k, r in self.made.items() if self.roots[r] == root]:
            del self.made[k]

    def _save(self, root: int) -> None:
        """Save an argument before it is written."""
        self.mutates = self.shaped = True
        arrays = [a for a in self.args if isinstance(a, GPUArray)]
        for i, a in enumerate(arrays):
            for b in arrays[:i]:
                if a is not self.args[root] and b is not self.args[root]:
                    continue
                one: Any = a
                if one._shares_memory(b):
                    raise Aliased
        if all(a is not self.args[root] for a, _ in self.saved):
            self.saved.append((self.args[root], self.args[root]._copy()))

    def restore(self) -> None:
        """Restore the arguments' original items."""
        for array, copy in self.saved:
            array._copy_from(copy)

    # ---- other functions

    def opaque(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        options: dict[str, Any],
        changes: Sequence[Any] = (),
    ) -> Any:
        """Call a function with arrays in place of placeholders, now and at each call of the
        program. changes: placeholders whose items it writes."""
        self.shaped = True
        found: list[Any] = []

        def collect(x: Any) -> Any:
            if isinstance(x, Tracer):
                found.append(x)
                return _Position(len(found) - 1)
            if isinstance(x, Number):
                raise Untraceable(
                    f"fuse: {_name(function)} of a number that is an argument; declare it by "
                    "pygpu.fuse(static=...)"
                )
            if isinstance(x, (tuple, list)):
                items = [collect(i) for i in x]
                return x._make(items) if hasattr(x, "_make") else type(x)(items)
            if isinstance(x, GPUArray):
                raise Untraceable(
                    f"fuse: {_name(function)} of an array that is not an argument of the function; "
                    "make it one"
                )
            if isinstance(x, slice):
                return slice(*map(collect, (x.start, x.stop, x.step)))
            return x

        given = [collect(x) for x in args]
        named = {k: collect(v) for k, v in options.items()}
        for t in changes:
            self._before_write(self.register(t.node_id))
        self.force([t.node_id for t in found])
        registers = [self.register(t.node_id) for t in found]
        for t in found:
            if t.is_lazy:
                self.assign_register(t)
        call = _Call(function, given, named)
        made = call.made(self._values(registers))
        for t in changes:
            self._after_write(self.register(t.node_id))
        return self._wrap_results(call, made, registers)

    def _wrap_results(self, call: _Call, made: Any, registers: list[int]) -> Any:
        """Return placeholders for what a function returned."""
        items = list(made) if isinstance(made, (tuple, list)) else [made]
        if any(not isinstance(x, GPUArray) for x in items if x is not None):
            raise Untraceable(
                f"fuse: {_name(call.function)} gives {type(items[0]).__name__}, which is not an "
                "array on the device; call it outside"
            )
        arrays = [x for x in items if x is not None]
        sources = [self._source(x, registers) for x in arrays]
        views = [(s, x) for s, x in zip(sources, arrays, strict=True) if s is not None]
        if arrays and len(views) == len(arrays):
            out = [self.view(s, x) for s, x in views]
        else:
            call.expect(arrays)
            roots = [None if s is None else self.roots[s] for s in sources]
            out = self._add(_PYTHON, registers, arrays, function=call, roots=roots)
        placeholders = iter([self.placeholder(r) for r in out])
        results = [None if x is None else next(placeholders) for x in items]
        if not isinstance(made, (tuple, list)):
            return results[0]
        return made._make(results) if hasattr(made, "_make") else type(made)(results)

    def _source(self, array: Any, registers: Sequence[int]) -> int | None:
        for r in registers:
            if self.values[r].base_data is array.base_data:
                return r
        return None

    def placeholder(self, register: int) -> Any:
        """Return a placeholder for the contents of a register."""
        made = self.make(self, self.leaf(register))
        self.owners[register] = weakref.ref(made)
        made.assign_register(register)
        return made

    def assign_register(self, placeholder: Any) -> int:
        """Give a computed lazy placeholder its own register, because it may be written."""
        if not placeholder.is_lazy:
            return self.register(placeholder.node_id)
        node_id = placeholder.node_id
        if self.nodes[node_id].kind == "array":
            # It may be changed through the place to which it was assigned.
            self.force([node_id], copies=True)
            register = self.made.pop(node_id)
        else:
            register = self.register(node_id)
        owner = self.owners.get(register)
        other = None if owner is None else owner()
        if other is not None and other is not placeholder:
            source = self.leaf(register)
            self.made.pop(source, None)
            self.force([source], copies=True)
            register = self.made.pop(source)
        self.owners[register] = weakref.ref(placeholder)
        placeholder.assign_register(register)
        return register

    # ---- the program

    def program(self, results: Sequence[Any], form: Any, watched: tuple[Any, ...]) -> Any:
        """Return (program, the values of the results in this call)."""
        lazy = [x.node_id for x in results if isinstance(x, Tracer) and x.is_lazy]
        self.force(lazy, copies=True)
        registers: list[int] = []
        for x in results:
            if isinstance(x, Tracer):
                registers.append(self.assign_register(x))
            elif isinstance(x, Number):
                registers.append(self._result_number(x))
            else:
                registers.append(len(self.values))
                self.values.append(x)
                self.roots.append(registers[-1])
                self.constants.append((registers[-1], x))
        steps = [*self.first, *self.steps]
        used = {r for step in steps for r in step[1]} | set(registers)
        steps = [s for s in steps if s[0] != _VIEW or s[2][0] in used]
        last: dict[int, int] = {}
        for i, step in enumerate(steps):
            for r in (*step[1], *step[2]):
                last[r] = i
        for r in registers:
            last.pop(r, None)
        drops: dict[int, list[int]] = {}
        for r, i in last.items():
            drops.setdefault(i, []).append(r)
        whole = tuple(
            (code, reads, made, tuple(drops.get(i, ())), *rest)
            for i, (code, reads, made, *rest) in enumerate(steps)
        )
        return _array.FusedProgram(
            len(self.values),
            whole,
            tuple(registers),
            form,
            tuple(self.constants),
            watched,
            self.shaped,
            self.mutates,
        ), self._values(registers)

    def _result_number(self, number: Number) -> int:
        key = number.read, type(number.value)
        if key not in self.numbers:
            self.numbers.append(key)
        return self._number(self.numbers.index(key))


def _in_tuple(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: (function(*operands),)


def _name(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    return f"numpy.{name}" if module == "numpy" else str(name)


class _Position:
    """The position of an operand in a call's arguments."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Call:
    """A function with arguments, some of which come from registers."""

    def __init__(self, function: Any, args: list[Any], options: dict[str, Any]) -> None:
        self.function, self.args, self.options = function, args, options
        self.layouts: list[Any] = []

    def made(self, operands: Sequence[Any]) -> Any:
        def put(x: Any) -> Any:
            if isinstance(x, _Position):
                return operands[x.number]
            if isinstance(x, (tuple, list)):
                items = [put(i) for i in x]
                return x._make(items) if hasattr(x, "_make") else type(x)(items)
            if isinstance(x, slice):
                return slice(*map(put, (x.start, x.stop, x.step)))
            return x

        return self.function(*map(put, self.args), **{k: put(v) for k, v in self.options.items()})

    def expect(self, arrays: Sequence[Any]) -> None:
        self.layouts = [(a.shape, a.strides, a.dtype) for a in arrays]

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        made = self.made(operands)
        items = made if isinstance(made, (tuple, list)) else (made,)
        arrays = tuple(x for x in items if x is not None)
        if [(a.shape, a.strides, a.dtype) for a in arrays] != self.layouts:
            raise ShapeChanged(
                f"fuse: {_name(self.function)} returned arrays of different shapes than before"
            )
        return arrays
