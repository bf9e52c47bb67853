"""A user's snippet of C over items of arrays: its arguments, and the layouts of the arrays passed
for them.

Arguments that are only used as ``x[i]`` are broadcast against each other and may have any strides;
the others are pointers (see scanner.py). A snippet is compiled in several forms, each at first
use: *flat*, where item i of each array is at position i; *range*, with a start, a stop and a step;
and both of them *strided*, where the place of item i is computed from shape and strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pygpu._array import Plans, PlansOfBackends
from pygpu._src.array import layout
from pygpu._src.codegen import dtypes
from pygpu._src.runtime.backend import Backend
from pygpu._src.runtime.backends import backend_of
from pygpu._src.util.sequences import as_list
from pygpu._src.util.wording import counted

from .language import Language, Parameter, to_number
from .scanner import blank, mentions, moves_index, replace_accesses, uses_of

_KEEP = 64  # layouts that a snippet caches
_NUMBERS = frozenset((int, float))
_LOOP_VARIABLES = ("tid", "total_threads", "cta_start", "lid", "gsize", "work_group_start")


class Form(NamedTuple):
    """A form of a snippet. ndim: axes of the arguments *strided* (their numbers). wide: 64-bit
    indices are needed where places are computed."""

    ranged: bool
    ndim: int = 1
    strided: tuple[int, ...] = ()
    wide: bool = False

    @property
    def n_layout(self) -> int:
        """The number of layout numbers that a kernel of this form takes."""
        return self.ndim - 1 + self.ndim * len(self.strided) if self.strided else 0


FLAT, RANGE = Form(False), Form(True)


def reinterprets(given: np.dtype[Any], declared: np.dtype[Any]) -> bool:
    """Whether items of one dtype may be read as another: integers of the same size, or bytes for a
    structure or vector type."""
    if given == declared:
        return True
    if given.itemsize != declared.itemsize:
        return False
    kinds = dtypes.kind(given) + dtypes.kind(declared)
    return "V" in kinds or all(kind in "iub" for kind in kinds)


def check_arrays(call: str, parameters: Sequence[Parameter], args: Sequence[Any]) -> None:
    """Raise TypeError for the first argument that does not match its declaration."""
    if len(args) != len(parameters):
        names = ", ".join(p.name for p in parameters)
        taken = counted(len(parameters), "argument")
        raise TypeError(f"{call} takes {taken} ({names}), {len(args)} given")
    for number, (arg, parameter) in enumerate(zip(args, parameters, strict=True), 1):
        if not parameter.vector:
            continue
        declared = f"argument {number} ('{parameter.declaration} *{parameter.name}')"
        if getattr(arg, "backend", None) is None:
            advice = ""
            if isinstance(arg, np.ndarray):
                advice = "; copy it to the device first (to_device, to_gpu)"
            raise TypeError(
                f"{call}: {declared} needs an array on the device, not "
                f"{type(arg).__qualname__}{advice}"
            ) from None
        if not reinterprets(arg.dtype, parameter.dtype):
            wanted = _dtype_name(parameter.dtype)
            advice = f"convert it with .astype({wanted})"
            if arg.dtype.itemsize == parameter.dtype.itemsize:
                advice += f", or read its bytes as they are with .view({wanted})"
            raise TypeError(
                f"{call}: {declared} is an array of {parameter.dtype}, and the array given has "
                "dtype "
                f"{arg.dtype}; {advice}"
            )


def _dtype_name(dtype: np.dtype[Any]) -> str:
    if dtypes.is_of_ml_dtypes(dtype):
        return f"ml_dtypes.{dtype.name}"
    return f"np.{dtype.name}" if dtype.names is None and dtype.kind != "V" else repr(dtype)


class _Analysis(NamedTuple):
    """How a text uses arrays (by their numbers) and the index."""

    elementwise: tuple[int, ...]
    written: tuple[int, ...]
    uses_index: bool
    loop_is_ours: bool


@lru_cache(maxsize=256)  # programs often make the same kernel again, in loops and for each context
def _analysis(
    text: str, around: str, preamble: str, names: tuple[str, ...], pointers: bool
) -> _Analysis:
    macros = "\n".join(
        line for line in blank(preamble).splitlines() if line.lstrip().startswith("#")
    )
    moves = moves_index(text)
    elementwise: list[int] = []
    written: list[int] = []
    for k, name in enumerate(names):
        uses = uses_of(text, name)
        other = mentions(around, name) or mentions(macros, name)
        if uses.elementwise and not (moves or other or pointers):
            elementwise.append(k)
        if uses.written or not uses.elementwise or other:
            written.append(k)
    left = replace_accesses(text, {names[k]: "" for k in elementwise})
    uses_index = mentions(f"{left}\n{around}\n{macros}", "i")
    everything = f"{text}\n{around}\n{preamble}"
    loop_is_ours = not moves and not any(mentions(everything, v) for v in _LOOP_VARIABLES)
    return _Analysis(tuple(elementwise), tuple(written), uses_index, loop_is_ours)


def kernel_repr(kernel: object, name: str, parameters: Sequence[Parameter]) -> str:
    """Return the repr of a user's kernel: its class, name and parameters."""
    declared = (f"{p.declaration} *{p.name}" if p.vector else p.declaration for p in parameters)
    cls = type(kernel)
    return f"<{cls.__module__}.{cls.__qualname__} {name!r} ({', '.join(declared)})>"


class Snippet:
    """A snippet with its arguments.

    text: uses the index ``i``. around: statements of the same kernel outside the loop. preamble:
    text before the kernel. call: what messages call it.
    """

    language: Language
    call: str
    parameters: list[Parameter]
    text: str
    around: str
    preamble: str
    uses_index: bool
    loop_is_ours: bool

    def __init__(
        self,
        language: Language,
        call: str,
        parameters: list[Parameter],
        text: str,
        around: str = "",
        preamble: str = "",
        pointers: bool = False,
    ) -> None:
        self.pointers = pointers
        self.language, self.call, self.parameters = language, call, parameters
        for name, given in (("code", text), ("loop's code", around), ("preamble", preamble)):
            if not isinstance(given, str):
                raise TypeError(f"{call}: the {name} must be a str, not {type(given).__name__}")
        names = [p.name for p in parameters]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{call}: two arguments have the name {name!r}")
        self.text, self.around, self.preamble = text, around, preamble
        self.is_cuda: bool = language.name == "cuda"
        self.vectors: list[int] = [k for k, p in enumerate(parameters) if p.vector]
        self._analyse()
        self.plan: tuple[tuple[bool, bool, Any, Parameter], ...] = tuple(
            (p.vector, k in self.elementwise, p.dtype, p) for k, p in enumerate(parameters)
        )
        self._first_counts = (
            not self.vectors or self.vectors[0] in self.elementwise or not self.elementwise
        )
        self._layouts: dict[Any, Any] = {}
        self.plans: PlansOfBackends = PlansOfBackends()

    # ---- what the text does

    def _analyse(self) -> None:
        names = tuple(self.parameters[k].name for k in self.vectors)
        found = _analysis(self.text, self.around, self.preamble, names, self.pointers)
        self.elementwise: set[int] = {self.vectors[k] for k in found.elementwise}
        self.written: list[int] = [self.vectors[k] for k in found.written]
        self.uses_index, self.loop_is_ours = found.uses_index, found.loop_is_ours

    # ---- text of a form

    def names(self, form: Form) -> dict[str, str]:
        """Return macros for accesses to the arguments whose places are computed."""
        return {self.parameters[k].name: f"PG_AT_{self.parameters[k].name}" for k in form.strided}

    def operation(self, form: Form) -> str:
        """Return the snippet for the loop of this form."""
        return replace_accesses(self.text, self.names(form)) if form.strided else self.text

    def access_macros(self, form: Form) -> str:
        """Return the source before the kernel."""
        space = self.language.pointer
        return "".join(
            f"#define PG_AT_{p.name} (*({space} {p.declaration} *)"
            f"(({space} char *){p.name} + pg_{p.name}_at))\n"
            for p in (self.parameters[k] for k in form.strided)
        )

    def layout_parameters(self, form: Form) -> list[str]:
        """Return the parameters for the layout numbers from :meth:`prepare`."""
        if not form.strided:
            return []
        long = self.language.long
        return [f"{long} pg_n{d}" for d in range(1, form.ndim)] + [
            f"{long} pg_{self.parameters[k].name}_s{d}"
            for k in form.strided
            for d in range(form.ndim)
        ]

    def offsets(self, form: Form) -> str:
        """Return statements in the loop that compute the byte offset of item i of each strided
        argument."""
        if not form.strided:
            return ""
        long = self.language.long
        number = self.language.ulong if form.wide else "unsigned int"
        names = [self.parameters[k].name for k in form.strided]
        lines = [f"{long} pg_{name}_at = 0;" for name in names]
        lines.append(f"{number} pg_rest = ({number})i;")
        for axis in reversed(range(form.ndim)):
            if axis:
                lines.append(f"{{ {number} pg_q = pg_rest / ({number})pg_n{axis};")
                lines.append(f"  {long} pg_c = ({long})(pg_rest - pg_q * ({number})pg_n{axis});")
                lines.append("  pg_rest = pg_q;")
            else:
                lines.append(f"{{ {long} pg_c = ({long})pg_rest;")
            lines += [f"  pg_{name}_at += pg_c * pg_{name}_s{axis};" for name in names]
            lines.append("}")
        return "\n".join(lines) + "\n"

    # ---- calls that C repeats

    def cache_launch(
        self,
        backend: Backend,
        queue: Any,
        args: tuple[Any, ...],
        numbers: Sequence[Any],
        steps: Sequence[tuple[Any, ...]],
        result: Any = None,
        scratch: tuple[tuple[Any, int], ...] = (),
        written: Sequence[int] = (),
    ) -> None:
        """Cache the launch for ``self.plans.run("", *args)``. numbers: the arguments after
        prepare()."""
        if any(x is not y for x, y in zip(args, numbers)):
            return  # a number that was converted
        if not backend.is_ordered(queue):
            return
        if not self.is_cuda:
            backend.table.ordered = queue
        cache = backend.cache_for(self)
        plans = cache.get("plans")
        if plans is None:
            plans = cache.setdefault("plans", Plans())
        self.plans.link(backend, plans)
        plans.add("", 0, args, None, result, tuple(steps), scratch, tuple(written))

    # ---- arguments of a call

    def prepare(
        self, args: tuple[Any, ...], bounds: slice | None, part: slice | None, queue: Any
    ) -> tuple[Backend, Any, list[Any], Form, int, range | None]:
        """Check a call's arguments and return (backend, queue, arguments, form, items, indices or
        None).

        The arguments are those of the kernel, with converted numbers, and the form's layout
        numbers. bounds, part: range= and slice=.
        """
        plan = self.plan
        if len(args) != len(plan):
            check_arrays(self.call, self.parameters, args)
        if not self.vectors:
            return self._prepare_numbers(args, bounds, queue)
        first = args[self.vectors[0]]
        try:
            backend = first.backend
            if (backend.name == "cuda") is not self.is_cuda:
                self._refuse(first)
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
            return backend, queue, numbers, FLAT, n, None
        ranged = bounds is not None or part is not None
        n, ndim, strided, layout_numbers = self._layout(args, ranged)
        numbers += layout_numbers
        form = Form(ranged, ndim, strided, bool(strided) and n >= 1 << 31)
        if not ranged:
            return backend, queue, numbers, form, n, None
        indices = self._range(args, bounds, part)
        return backend, queue, numbers, form, len(indices), indices

    def _prepare_numbers(
        self, args: tuple[Any, ...], bounds: slice | None, queue: Any
    ) -> tuple[Backend, Any, list[Any], Form, int, range | None]:
        """The same without any array."""
        if bounds is None:
            raise TypeError(f"{self.call}: without an array among the arguments, pass range=")
        if queue is None and not self.is_cuda:
            raise TypeError(f"{self.call}: without an array among the arguments, pass queue=")
        numbers = [
            to_number(arg, p, self.call) for arg, p in zip(args, self.parameters, strict=True)
        ]
        indices = self._range(args, bounds, None)
        return backend_of(queue), queue, numbers, RANGE, len(indices), indices

    def wait_list(
        self, backend: Backend, queue: Any, numbers: list[Any], wait_for: Any
    ) -> list[Any] | None:
        """Return the events that an OpenCL command with these arguments must wait for."""
        if queue is None:
            raise ValueError(
                f"{self.call}: the arrays have no queue; pass queue=, or array.with_queue(queue)"
            )
        events = as_list(wait_for, self.call, "wait_for") if wait_for else []
        arrays = [numbers[k] for k in self.vectors]
        return [*events, *(backend.wait_list(queue, arrays) or ())] or None

    def order(
        self, backend: Backend, queue: Any, given: bool, arrays: Sequence[Any], after: bool = False
    ) -> None:
        """On CUDA, order the work on *queue* after the current work on the arrays' own streams;
        after: order these after that. given: the user chose the queue, and takes care of the
        default stream as in PyCUDA."""
        for array in arrays:
            other = array.queue
            if other is not queue and not (given and other is None):
                backend.order(*((other, queue) if after else (queue, other)))

    def _layout(
        self, args: Sequence[Any], ranged: bool
    ) -> tuple[int, int, tuple[int, ...], list[int]]:
        """Return (items, axes, the arguments to be strided, layout numbers), cached by the shapes
        and strides of the arguments."""
        key = (tuple((args[k].shape, args[k].strides) for k in self.vectors), ranged)
        found = self._layouts.get(key)
        if found is None:
            found = self._find_layout(args, ranged)
            if len(self._layouts) >= _KEEP:
                self._layouts.clear()
            self._layouts[key] = found
        return found

    def _find_layout(
        self, args: Sequence[Any], ranged: bool
    ) -> tuple[int, int, tuple[int, ...], list[int]]:
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
                    f"{self.call}: with range or slice, arrays of different shapes must be "
                    "contiguous; " + self._shapes(args)
                )
            return args[first].size, 1, (), []
        if not moving:
            return args[first].size, 1, (), []
        if _flat_index_matches([args[k] for k in moving]):
            return args[first].size, 1, (), []
        shape = self._common_shape(args, moving)
        n = prod(shape)
        if first not in self.elementwise and args[first].size != n and not ranged:
            raise ValueError(
                f"{self.call}: it is not clear how many items there are: the first array has "
                f"{args[first].size}, those indexed by [i] {n}; pass range=slice(0, n)"
            )
        same = all(args[k].shape == shape for k in moving)
        strides = [layout.broadcast_strides(args[k].shape, args[k].strides, shape) for k in moving]
        if same and (
            all(args[k]._c_contiguous for k in moving) or all(args[k]._f_contiguous for k in moving)
        ):
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
        if not strided or n == 0:
            return n, 1, (), []
        kept = [s for k, s in zip(moving, strides, strict=True) if k in strided]
        return n, len(shape), strided, [*shape[1:], *(step for s in kept for step in s)]

    def _common_shape(self, args: Sequence[Any], moving: Sequence[int]) -> tuple[int, ...]:
        try:
            shape = layout.broadcast_shapes(*(args[k].shape for k in moving))
        except ValueError:
            raise ValueError(
                f"{self.call}: the arrays do not fit each other: {self._shapes(args)}; with "
                "range=, "
                "arrays of different lengths can be used"
            ) from None
        for k in self.written:
            if k not in self.elementwise:
                continue
            name = self.parameters[k].name
            if args[k].shape != shape:
                raise ValueError(
                    f"{self.call}: '{name}' is written and has shape {args[k].shape}, which is not "
                    f"that of the operation, {shape}"
                )
            if any(s == 0 and length > 1 for s, length in zip(args[k].strides, shape, strict=True)):
                raise ValueError(
                    f"{self.call}: '{name}' is written, and several of its items are one and the "
                    "same "
                    "in memory (stride 0)"
                )
        return shape

    def _shapes(self, args: Sequence[Any]) -> str:
        return ", ".join(
            f"{self.parameters[k].name} has shape {args[k].shape}" for k in self.vectors
        )

    def _range(self, args: Any, bounds: slice | None, part: slice | None) -> range:
        """Return the indices that range= or slice= select; those of elementwise arrays must
        exist."""
        if part is not None:
            if bounds is not None:
                raise TypeError(
                    f"{self.call}: may not specify both range and slice keyword arguments"
                )
            if not isinstance(part, slice):
                raise TypeError(f"{self.call}: slice must be a slice, not {type(part).__name__}")
            bounds = slice(*part.indices(args[self.vectors[0]].size))
        if not isinstance(bounds, slice):
            raise TypeError(f"{self.call}: range must be a slice, not {type(bounds).__name__}")
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

    def _backend_for(self, backend: Backend, queue: Any) -> Backend:
        """Return the backend of a queue other than the first array's own."""
        other = backend if self.is_cuda else backend_of(queue)
        if other.context != backend.context:
            raise ValueError(
                f"{self.call}: the queue belongs to another context than the first array"
            )
        return other

    def _refuse(self, array: Any) -> NoReturn:
        """Raise for an array of the other system, whose compiler cannot read the source."""
        ours, other = ("CUDA", "OpenCL") if self.is_cuda else ("OpenCL", "CUDA")
        raise TypeError(
            f"{self.call} was made for {ours}, and {type(array).__name__} is an array of {other}; "
            "make the kernel with the array's context"
        )

    def _check_context(self, arg: Any, backend: Backend) -> None:
        """Raise if the memory belongs to another context, which kernels cannot read."""
        if arg.backend.context != backend.context:
            raise ValueError(
                f"{self.call}: the arrays are in different contexts ({arg.backend!r} and "
                f"{backend!r}); "
                "copy one to the other's with .get() and to_device or to_gpu"
            )


def _is_dense(array: Any) -> bool:
    """Whether the items are stored without gaps, in C or Fortran order."""
    return bool(array._c_contiguous or array._f_contiguous)


def _flat_index_matches(arrays: Sequence[Any]) -> bool:
    """Whether arrays of different shapes have the same number of items, without gaps and in C
    order: as in PyOpenCL and PyCUDA, i then counts the items of each."""
    return (
        len({a.size for a in arrays}) == 1
        and len({a.shape for a in arrays}) > 1
        and all(a._c_contiguous for a in arrays)
    )


def _join(
    shape: tuple[int, ...], strides: list[tuple[int, ...]]
) -> tuple[tuple[int, ...], list[Any]]:
    """Merge axes, in the same order, that are contiguous in all operands."""
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
