"""A user's snippet of C, run for each item of arrays: what ElementwiseKernel is on both backends.

A snippet is compiled in up to three forms, each when it is first needed: *flat*, where item i of each
array lies at i; *range*, with a start, a stop and a step; *strided*, where the place of item i is
computed from shape and strides. Arguments that are always written ``x[i]`` are broadcast against each
other; the others are pointers (see :mod:`pygpu.generators.usertext`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from pygpu.core import layout
from pygpu.core.backend import Backend, backend_of

from .language import Language, Parameter, to_number
from .usertext import blank, mentions, moves_index, replace_accesses, uses_of

__all__ = ["Elementwise", "check_arrays", "groups_for", "reinterprets"]

GROUP = 256
_KEEP = 64  # layouts that a kernel remembers
_NUMBERS = frozenset((int, float))
_LOOP_VARIABLES = ("tid", "total_threads", "cta_start", "lid", "gsize", "work_group_start")


def reinterprets(given: np.dtype[Any], declared: np.dtype[Any]) -> bool:
    """Whether items of one dtype may be read as another: integers of one size, or bytes that a
    structure or vector type gives names to."""
    if given == declared:
        return True
    if given.itemsize != declared.itemsize:
        return False
    kinds = given.kind + declared.kind
    return "V" in kinds or all(kind in "iub" for kind in kinds)


def groups_for(backend: Backend, n: int) -> tuple[int, int]:
    """(groups, group size) for a loop over n items, each taken by one work-item."""
    limits = backend.limits
    if limits.is_cpu:
        return max(1, min(limits.units * 4, n >> 10)), 1
    size = min(GROUP, limits.group_size)
    return max(1, min(-(-n // size), limits.units * 64)), size


def check_arrays(call: str, parameters: Sequence[Parameter], args: Sequence[Any]) -> None:
    """Raise TypeError for the first argument that is not what it is declared to be."""
    if len(args) != len(parameters):
        names = ", ".join(p.name for p in parameters)
        raise TypeError(f"{call} takes {len(parameters)} arguments ({names}), {len(args)} given")
    for number, (arg, parameter) in enumerate(zip(args, parameters, strict=True), 1):
        if not parameter.vector:
            continue
        dtype = getattr(arg, "dtype", None)
        declared = f"argument {number} ('{parameter.declaration} *{parameter.name}')"
        if getattr(arg, "backend", None) is None:
            advice = ""
            if isinstance(arg, np.ndarray):
                advice = "; copy it to the device first (to_device, to_gpu)"
            raise TypeError(
                f"{call}: {declared} needs an array on the device, not "
                f"{type(arg).__module__}.{type(arg).__qualname__}{advice}"
            )
        if not reinterprets(dtype, parameter.dtype):
            wanted = _dtype_name(parameter.dtype)
            advice = f"convert it with .astype({wanted})"
            if dtype.itemsize == parameter.dtype.itemsize:
                advice += f", or read its bytes as they are with .view({wanted})"
            raise TypeError(
                f"{call}: {declared} is an array of {parameter.dtype}, and the array given has dtype "
                f"{dtype}; {advice}"
            )


def _dtype_name(dtype: np.dtype[Any]) -> str:
    return f"np.{dtype.name}" if dtype.names is None and dtype.kind != "V" else repr(dtype)


class Elementwise:
    """A snippet with its arguments, for one language.

    arguments, operation, preamble, loop_prep, after_loop: as ElementwiseKernel's. call: the kernel's
    name for messages. Raises TypeError or ValueError for an argument list that cannot be parsed,
    RuntimeError without an array among the arguments.
    """

    def __init__(
        self,
        language: Language,
        arguments: Any,
        operation: str,
        name: str,
        options: Any = None,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
        keep: bool = False,
    ) -> None:
        self.language = language
        self.name = name
        self.call = f"ElementwiseKernel '{name}'"
        self.parameters = language.parse(arguments)
        self.operation = operation
        self.options = options.split() if isinstance(options, str) else list(options or ())
        self.preamble, self.loop_prep, self.after_loop = preamble, loop_prep, after_loop
        self.vectors = [k for k, p in enumerate(self.parameters) if p.vector]
        if not self.vectors:
            raise RuntimeError(
                f"{self.call}: ElementwiseKernel can only be used with functions that have at least "
                "one vector argument"
            )
        if mentions(operation, "return"):
            warnings.warn(
                f"{self.call}: a 'return' in the operation skips the items that the same work-item "
                "would do later; write PYOPENCL_ELWISE_CONTINUE (or continue)",
                stacklevel=4,
            )
        self._analyse()
        self.plan = tuple(
            (p.vector, k in self.elementwise, p.dtype, p) for k, p in enumerate(self.parameters)
        )
        self._first_counts = self.vectors[0] in self.elementwise or not self.elementwise
        self._is_cuda = language.name == "cuda"
        self._queue: Any = self  # the last one, and whether it keeps the order
        self._ordered = True
        self._launches: dict[Any, Any] = {}
        self._layouts: dict[Any, Any] = {}

    # ---- what the text does

    def _analyse(self) -> None:
        text, around = self.operation, f"{self.loop_prep}\n{self.after_loop}"
        macros = "\n".join(
            line for line in blank(self.preamble).splitlines() if line.lstrip().startswith("#")
        )
        moves = moves_index(text)
        self.elementwise: set[int] = set()
        self.written: list[int] = []
        for k in self.vectors:
            name = self.parameters[k].name
            uses = uses_of(text, name)
            other = mentions(around, name) or mentions(macros, name)
            if uses.elementwise and not moves and not other:
                self.elementwise.add(k)
            if uses.written or not uses.elementwise or other:
                self.written.append(k)
        left = replace_accesses(text, {self.parameters[k].name: "" for k in self.elementwise})
        self.uses_index = mentions(f"{left}\n{around}\n{macros}", "i")
        everything = f"{text}\n{around}\n{self.preamble}"
        self.loop_is_ours = not moves and not any(mentions(everything, v) for v in _LOOP_VARIABLES)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return (self.operation, self.preamble, self.loop_prep, self.after_loop)

    # ---- text

    def source(self, backend: Backend, mode: str, ndim: int, strided: tuple[int, ...], wide: bool) -> str:
        """The program of one form: mode "flat" or "range", *ndim* axes of the arguments *strided*."""
        language, parameters = self.language, self.parameters
        long, index = language.long, "long long" if language.name == "cuda" else "long"
        operation, places, extra = self.operation, "", ""
        declared = [language.declare(p) for p in parameters]
        if strided:
            names = {parameters[k].name: f"PG_AT_{parameters[k].name}" for k in strided}
            operation = replace_accesses(operation, names)
            extra = self._access_macros(strided)
            places = self._places(ndim, strided, wide)
            declared += [f"{long} pg_n{d}" for d in range(1, ndim)]
            declared += [f"{long} pg_{parameters[k].name}_s{d}" for k in strided for d in range(ndim)]
        if mode == "range":
            declared += [f"{long} start", f"{long} stop", f"{long} step"]
        else:
            index = language.index
            declared.append(f"{index} n")
        body = f"{{\n{places}{operation};\n}}"
        prefix = language.prefix(backend, self._texts, [p.dtype for p in parameters])
        return (
            f"{prefix}{self.preamble}\n#define PYOPENCL_ELWISE_CONTINUE continue\n{extra}"
            f"{language.kernel(self.name, declared)}\n{{\n{language.start(parameters)}"
            f"{self._variables(index)}{self.loop_prep};\n"
            f"{self._loop(backend, mode, index, body)}\n{self.after_loop};\n}}\n"
        )

    def _access_macros(self, strided: tuple[int, ...]) -> str:
        space = self.language.pointer
        return "".join(
            f"#define PG_AT_{p.name} (*({space} {p.declaration} *)(({space} char *){p.name} + pg_{p.name}_at))\n"
            for p in (self.parameters[k] for k in strided)
        )

    def _places(self, ndim: int, strided: tuple[int, ...], wide: bool) -> str:
        """Statements that compute the offset in bytes of item i of each strided argument."""
        long = self.language.long
        number = ("unsigned long long" if self.language.name == "cuda" else "ulong") if wide else "unsigned int"
        names = [self.parameters[k].name for k in strided]
        lines = [f"{long} pg_{name}_at = 0;" for name in names]
        lines.append(f"{number} pg_rest = ({number})i;")
        for axis in reversed(range(ndim)):
            if axis:
                lines.append(f"{{ {number} pg_q = pg_rest / ({number})pg_n{axis};")
                lines.append(f"  {long} pg_c = ({long})(pg_rest - pg_q * ({number})pg_n{axis}); pg_rest = pg_q;")
            else:
                lines.append(f"{{ {long} pg_c = ({long})pg_rest;")
            lines += [f"  pg_{name}_at += pg_c * pg_{name}_s{axis};" for name in names]
            lines.append("}")
        return "\n".join(lines) + "\n"

    def _variables(self, index: str) -> str:
        if self.language.name == "cuda":
            return (
                "  const size_t tid = threadIdx.x;\n"
                "  const size_t total_threads = (size_t)gridDim.x * blockDim.x;\n"
                "  const size_t cta_start = (size_t)blockDim.x * blockIdx.x;\n"
                f"  {index} i;\n  (void)tid; (void)total_threads; (void)cta_start;\n"
            )
        return (
            "  const int lid = get_local_id(0);\n"
            "  const long gsize = get_global_size(0);\n"
            "  const long work_group_start = get_local_size(0) * get_group_id(0);\n"
            "  const long tid = lid, total_threads = gsize, cta_start = work_group_start;\n"
            f"  {index} i;\n"
        )

    def _loop(self, backend: Backend, mode: str, index: str, body: str) -> str:
        if mode == "range":
            return (
                "if (step < 0) {\n"
                "  for (i = start + (cta_start + tid) * step; i > stop; i += total_threads * step)\n"
                f"{body}\n}} else {{\n"
                "  for (i = start + (cta_start + tid) * step; i < stop; i += total_threads * step)\n"
                f"{body}\n}}"
            ).replace("(cta_start + tid)", f"({index})(cta_start + tid)").replace(
                "total_threads * step", f"({index})total_threads * step"
            )
        if backend.limits.is_cpu and self.loop_is_ours:
            return (
                "const long pg_each = (n + gsize - 1) / gsize, pg_first = pg_each * get_global_id(0);\n"
                "const long pg_end = pg_first + pg_each < n ? pg_first + pg_each : n;\n"
                f"for (i = pg_first; i < pg_end; i++)\n{body}"
            )
        return f"for (i = cta_start + tid; i < n; i += total_threads)\n{body}"

    def launch(
        self, backend: Backend, mode: str, ndim: int = 1, strided: tuple[int, ...] = (), wide: bool = False
    ) -> Any:
        """The kernel of a form, compiled when it is first asked for."""
        key = (backend, mode, ndim, strided, wide) if strided else (backend, mode)
        found = self._launches.get(key)
        if found is None:
            program = backend.compile(self.source(backend, mode, ndim, strided, wide), self.options)
            kernel = program.kernel(self.name)
            if not self._is_cuda:  # an array is one argument then, its memory and offset are read in C
                more = len(strided) * ndim + ndim - 1 if strided else 0
                more += 3 if mode == "range" else 1
                kernel.set_arg_types(self.language.arg_types(self.parameters, more))
            found = self._launches.setdefault(key, kernel)
        return found

    # ---- layouts

    def place(self, args: Sequence[Any], ranged: bool) -> tuple[int, int, tuple[int, ...], list[int]]:
        """(items, axes, the arguments to be strided, the numbers that a strided form gets).

        Remembered by the shapes and strides of the arguments.
        """
        key = (tuple((args[k].shape, args[k].strides) for k in self.vectors), ranged)
        found = self._layouts.get(key)
        if found is None:
            found = self._place(args, ranged)
            if len(self._layouts) >= _KEEP:
                self._layouts.clear()
            self._layouts[key] = found
        return found

    def _place(self, args: Sequence[Any], ranged: bool) -> tuple[int, int, tuple[int, ...], list[int]]:
        parameters = self.parameters
        for k in self.vectors:
            if k not in self.elementwise and not _is_dense(args[k]):
                raise ValueError(
                    f"{self.call}: '{parameters[k].name}' is used as a pointer, not only as "
                    f"{parameters[k].name}[i], and the array given is not contiguous; pass a copy "
                    "(array.copy())"
                )
        moving = [k for k in self.vectors if k in self.elementwise]
        first = self.vectors[0]
        if ranged and len({args[k].shape for k in moving}) > 1:
            if not all(_is_dense(args[k]) for k in moving):
                raise ValueError(
                    f"{self.call}: with range or slice, arrays of different shapes must be contiguous; "
                    + self._shapes(args)
                )
            return args[first].size, 1, (), []
        if not moving:
            return args[first].size, 1, (), []
        shape = self._common_shape(args, moving)
        n = prod(shape)
        if first not in self.elementwise and args[first].size != n and not ranged:
            raise ValueError(
                f"{self.call}: it is not clear how many items there are: the first array has "
                f"{args[first].size}, those indexed by [i] {n}; say it with range=slice(0, n)"
            )
        same = all(args[k].shape == shape for k in moving)
        if same and (
            all(args[k]._c_contiguous for k in moving) or all(args[k]._f_contiguous for k in moving)
        ):
            return n, 1, (), []
        strides = [layout.broadcast_strides(args[k].shape, args[k].strides, shape) for k in moving]
        if same and len({tuple(s) for s in strides}) == 1 and _is_dense(args[moving[0]]):
            return n, 1, (), []
        if self.uses_index or ranged:
            shape, strides = _join(shape, strides)
        else:
            shape, strides = layout.collapse(shape, *strides)
        strided = tuple(
            k
            for k, s in zip(moving, strides, strict=True)
            if len(shape) > 1 or s != (args[k].dtype.itemsize,)
        )
        if not strided:
            return n, 1, (), []
        kept = [s for k, s in zip(moving, strides, strict=True) if k in strided]
        return n, len(shape), strided, [*shape[1:], *(step for s in kept for step in s)]

    def _common_shape(self, args: Sequence[Any], moving: Sequence[int]) -> tuple[int, ...]:
        try:
            shape = layout.broadcast_shapes(*(args[k].shape for k in moving))
        except ValueError:
            raise ValueError(
                f"{self.call}: the arrays do not fit each other: {self._shapes(args)}; with range=, "
                "arrays of different lengths can be used"
            ) from None
        for k in self.written:
            if k in self.elementwise and args[k].shape != shape:
                raise ValueError(
                    f"{self.call}: '{self.parameters[k].name}' is written and has shape "
                    f"{args[k].shape}, which is not that of the operation, {shape}"
                )
            if k in self.elementwise and any(
                s == 0 and length > 1 for s, length in zip(args[k].strides, shape, strict=True)
            ):
                raise ValueError(
                    f"{self.call}: '{self.parameters[k].name}' is written, and several of its items "
                    "are one and the same in memory (stride 0)"
                )
        return shape

    def _shapes(self, args: Sequence[Any]) -> str:
        return ", ".join(f"{self.parameters[k].name} has shape {args[k].shape}" for k in self.vectors)

    # ---- the call

    def __call__(
        self,
        args: tuple[Any, ...],
        bounds: slice | None = None,
        part: slice | None = None,
        queue: Any = None,
        wait_for: Any = None,
        capture: Any = None,
    ) -> Any:
        """Check, choose the form, launch. bounds, part: range= and slice=. Returns an event, or None."""
        plan = self.plan
        if len(args) != len(plan):
            check_arrays(self.call, self.parameters, args)
        first = args[self.vectors[0]]
        try:
            backend = first.backend
            if queue is None or queue is first.queue:
                queue = first.queue
            else:
                backend = self._backend_for(backend, queue)
            numbers: list[Any] = []
            shape, flat = None, bounds is None and part is None
            for arg, (vector, elementwise, dtype, parameter) in zip(args, plan):
                if vector:
                    if arg.dtype is not dtype and not reinterprets(arg.dtype, dtype):
                        check_arrays(self.call, self.parameters, args)
                    if arg.backend is not backend:
                        self._check_context(arg, backend)
                    if not arg._c_contiguous:
                        flat = False
                    elif elementwise and flat:
                        if shape is None:
                            shape = arg.shape
                        elif arg.shape != shape:
                            flat = False
                    numbers.append(arg)
                elif type(arg) in _NUMBERS and dtype is not None and dtype.kind in "iuf":
                    numbers.append(arg)
                else:
                    numbers.append(to_number(arg, parameter, self.call))
        except AttributeError:
            check_arrays(self.call, self.parameters, args)
            raise
        n = first.size
        if flat and (self._first_counts or shape is None or prod(shape) == n):
            numbers.append(n)
            launch = self._launches.get((backend, "flat"))
            if launch is None:
                launch = self.launch(backend, "flat")
        else:
            n, launch = self._other_form(backend, args, bounds, part, numbers)
        if n == 0:
            return self._nothing(backend, queue, wait_for)
        groups, size = groups_for(backend, n)
        if self._is_cuda:
            launch(*numbers, block=(size, 1, 1), grid=(groups, 1), stream=queue)
            return None
        return self._enqueue(backend, launch, queue, (groups * size,), (size,), numbers, wait_for, capture)

    def _other_form(
        self, backend: Backend, args: Any, bounds: slice | None, part: slice | None, numbers: list[Any]
    ) -> tuple[int, Any]:
        """(items, kernel) for what is not flat; appends the numbers that the form takes."""
        ranged = bounds is not None or part is not None
        n, ndim, strided, layout_numbers = self.place(args, ranged)
        numbers += layout_numbers
        wide = n >= 1 << 31
        if not ranged:
            numbers.append(n)
            return n, self.launch(backend, "flat", ndim, strided, wide)
        indices = self._range(args, bounds, part)
        numbers += (indices.start, indices.stop, indices.step)
        return len(indices), self.launch(backend, "range", ndim, strided, wide)

    def _range(self, args: Any, bounds: slice | None, part: slice | None) -> range:
        """The indices that range= or slice= mean; those of elementwise arrays must exist."""
        if part is not None:
            if bounds is not None:
                raise TypeError("may not specify both range and slice keyword arguments")
            bounds = slice(*part.indices(args[self.vectors[0]].size))
        assert bounds is not None
        if bounds.stop is None:
            raise TypeError(f"{self.call}: range needs a stop: range=slice(start, stop, step)")
        indices = range(
            0 if bounds.start is None else bounds.start,
            bounds.stop,
            1 if bounds.step is None else bounds.step,
        )
        if indices:
            low, high = min(indices[0], indices[-1]), max(indices[0], indices[-1])
            for k in self.elementwise:
                if low < 0 or high >= args[k].size:
                    raise ValueError(
                        f"{self.call}: the range reaches from {low} to {high}, and "
                        f"'{self.parameters[k].name}' has {args[k].size} items"
                    )
        return indices

    def _enqueue(
        self,
        backend: Backend,
        launch: Any,
        queue: Any,
        global_size: tuple[int],
        local_size: tuple[int],
        numbers: list[Any],
        wait_for: Any,
        capture: Any,
    ) -> Any:
        """The launch on OpenCL, where an array is two arguments and may have events to wait for."""
        if queue is not self._queue:
            if queue is None:
                raise ValueError(
                    f"{self.call}: the arrays have no queue; pass queue=, or array.with_queue(queue)"
                )
            self._ordered = backend.is_ordered(queue)
            self._queue = queue
        ordered = self._ordered
        events = list(wait_for) if wait_for else []
        for k in self.vectors:
            array = numbers[k]
            if not ordered or array.queue is not queue:
                events += array.events
        if capture is not None:
            launch.capture_call(capture, queue, global_size, local_size, *numbers)
        event = launch(queue, global_size, local_size, *numbers, wait_for=events or None)
        for k in self.written:
            if ordered:
                numbers[k]._set_event(event)
            else:
                numbers[k].add_event(event)
        return event

    def _nothing(self, backend: Backend, queue: Any, wait_for: Any) -> Any:
        return None if self._is_cuda else backend.event(queue, wait_for)

    def _backend_for(self, backend: Backend, queue: Any) -> Backend:
        """The backend of a queue that is not the first array's own."""
        other = backend if self._is_cuda else backend_of(queue)
        if other.context != backend.context:
            raise ValueError(f"{self.call}: the queue belongs to another context than the first array")
        return other

    def _check_context(self, arg: Any, backend: Backend) -> None:
        """Memory of one context cannot be read by kernels of another."""
        if arg.backend.context != backend.context:
            raise ValueError(
                f"{self.call}: the arrays are in different contexts ({arg.backend!r} and {backend!r}); "
                "copy one to the other's with .get() and to_device or to_gpu"
            )


def _is_dense(array: Any) -> bool:
    """Whether the items lie without gaps, in C or Fortran order."""
    return bool(array._c_contiguous or array._f_contiguous)


def _join(shape: tuple[int, ...], strides: list[tuple[int, ...]]) -> tuple[tuple[int, ...], list[Any]]:
    """Fewer axes, in the same order: those that run on in all operands are one."""
    axes = [axis for axis, length in enumerate(shape) if length != 1]
    if not axes:
        return (1,), [(0,) for _ in strides]
    new_shape = [shape[axes[0]]]
    new_strides = [[s[axes[0]]] for s in strides]
    for axis in axes[1:]:
        length = shape[axis]
        if all(new[-1] == s[axis] * length for new, s in zip(new_strides, strides, strict=True)):
            new_shape[-1] *= length
            for new, s in zip(new_strides, strides, strict=True):
                new[-1] = s[axis]
        else:
            new_shape.append(length)
            for new, s in zip(new_strides, strides, strict=True):
                new.append(s[axis])
    return tuple(new_shape), [tuple(new) for new in new_strides]
