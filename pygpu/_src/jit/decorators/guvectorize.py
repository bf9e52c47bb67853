"""`guvectorize`: turns a function of small arrays into one of stacks of them.

>>> import numpy as np, pygpu
>>> @pygpu.guvectorize(["(float64[:], float64, float64[:])"], "(n),()->(n)")
... def shift(x, by, result):
...     for i in range(x.shape[0]):
...         result[i] = x[i] + by
>>> shift(np.zeros((2, 3)), np.array([1.0, 2.0])).tolist()
[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]

The axes before the core dimensions are broadcast as in NumPy; for each of their indices, one
work-item runs the function on views of any strides.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from pygpu._src.array import elementwise, layout, primitives, ufuncs
from pygpu._src.array.ufuncs import is_array
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.fastpath import public, public_methods
from pygpu._src.runtime import kernel_cache
from pygpu._src.util.public import publish
from pygpu._src.util.wording import counted

from .. import check_report
from ..signature import layout_of, signatures
from ..source import OperandError, without_frames
from ..types import ArrayType, storage_dtype
from ..walk.index_checks import THREAD_IDENTITY
from . import device, loops
from . import kernel as kernel_module
from .axes import Axes
from .dates import DateViews, has_dates
from .loops import Loop
from .operands import (
    array_or_none,
    check_ufunc_options,
    input_operand,
    operand,
    stream_of,
    undecorated,
    where_of,
)
from .overrides import call_override, has_override
from .pickling import reduce_by_name, register_with_cloudpickle
from .target import Target, check_target
from .written import check_outputs, writable_inputs, written_parameters

DType = np.dtype[Any]

narrow_on_cuda = False
"""Set by pygpu.compat: with target="cuda", arguments for which there is no loop are converted for
the first one whose inputs can be cast to them (float64 to float32), as Numba does."""


@public_methods
class GUFunc(loops.LoopAttributes):
    """A Python function that is applied to the last axes of arrays, like NumPy's generalized
    ufuncs.

    Made by :func:`guvectorize`. Called with the inputs, and optionally with outputs to write to,
    by position or as `out`; otherwise they are allocated. Host arrays and numbers give host
    arrays; if any argument is a device array, the others are copied to its device and the results
    are device arrays.

    nin, nout, nargs: numbers of inputs, outputs, both. signature: the layout. identity: as given.
    max_blocksize: the most work-items per group.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        given: Sequence[Any],
        text: str,
        target: str | None = None,
        writable_args: Sequence[Any] = (),
        identity: Any = None,
    ) -> None:
        self.py_func = function
        self.target = target
        self.identity = None if identity == "reorderable" else identity
        self._named_identity = identity
        self._name = getattr(function, "__name__", "gufunc")
        functools.update_wrapper(self, function, updated=())
        self._in, self._out = layout_of(text)
        self.signature = "".join(text.split())
        self._layout = text
        self.nin, self.nout = len(self._in), len(self._out)
        self.max_blocksize = 256
        self._cores = [*self._in, *self._out]
        count = device.parameter_count(function, "guvectorize")
        if count != self.nargs:
            raise TypeError(
                f"guvectorize: {self._name} has {count} parameters, but the layout {text!r} "
                f"has {self.nin} inputs and {self.nout} outputs"
            )
        self._writable = writable_inputs(function, self.nin, writable_args, target)
        self._written = self._writable
        if not self.nout:
            axes = [max(len(core), 1) for core in self._in]
            self._written = self._writable | written_parameters(function, axes)
        self._is_typed = bool(given)
        self._loops = []
        self._axes: dict[Loop, tuple[int, ...]] = {}
        self._cache: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()
        self._given = tuple(given)
        for one in given:
            self._add(one)
        register_with_cloudpickle(self)

    def __reduce__(self) -> Any:
        return reduce_by_name(self)

    def _options(self) -> dict[str, Any]:
        return {
            "given": self._given, "text": self._layout, "target": self.target,
            "writable_args": sorted(self._writable), "identity": self._named_identity,
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<gufunc {self._name!r} {self.signature}>"

    @property
    def is_dynamic(self) -> bool:
        """Whether loops are made for the types of calls, since no signature was given."""
        return not self._is_typed

    def reduce(self, *args: Any, **options: Any) -> NoReturn:
        """Not defined, as for NumPy's generalized ufuncs. Raises RuntimeError."""
        raise RuntimeError("Reduction not defined on ufunc with signature")

    accumulate = reduceat = reduce

    def outer(self, *args: Any, **options: Any) -> NoReturn:
        """Not defined, as for NumPy's generalized ufuncs. Raises TypeError."""
        raise TypeError("method outer is not allowed in ufunc with non-trivial signature")

    def at(self, *args: Any, **options: Any) -> NoReturn:
        """Not defined, as for NumPy's generalized ufuncs. Raises TypeError."""
        raise TypeError("Only two input ufuncs without a signature have at()")

    def inspect_source(self) -> str:
        """Return the C text of the device function of the first loop, for arrays of any strides."""
        if not self._loops:
            raise TypeError(f"{self._name}.inspect_source: no signature, and not called yet")
        loop = self._loops[0]
        return device.compile(
            self.py_func, self._types(loop, self._axes[loop], (False,) * self.nargs), raises=True
        ).text

    def _add(self, one: Any) -> None:
        if one.results:
            raise TypeError(
                f"guvectorize: signature {one!r}: guvectorized functions cannot return values, and "
                f"it specifies {one.returns!r} return type; write to the outputs, and return void"
            )
        if len(one.args) != self.nargs:
            raise TypeError(
                f"guvectorize: signature {one!r}: it has the types of {self.nin} inputs and then "
                f"of {self.nout} outputs, and returns void"
            )
        axes = []
        for t, core in zip(one.args, self._cores):
            ndim = getattr(t, "ndim", 0)
            if ndim != len(core) and not (ndim == 1 and not core):
                raise TypeError(
                    f"guvectorize: signature {one!r}: {t!r} stands for ({','.join(map(str, core))})"
                    f" in {self.signature!r}, which has {len(core)} axes"
                )
            axes.append(ndim)
        if any(a == 0 for a in axes[self.nin :]):
            raise TypeError(
                f"guvectorize: signature {one!r}: outputs are arrays, as the function writes to "
                "them; '()' is the type of an array of one item, such as float64[:]"
            )
        found = [t.dtype for t in one.args]
        loop = Loop(tuple(found[: self.nin]), tuple(found[self.nin :]))
        if not any(o.inputs == loop.inputs for o in self._loops):
            self._loops.append(loop)
            self._axes[loop] = tuple(axes)

    def _types(self, loop: Loop, axes: Sequence[int], dense: Sequence[bool]) -> list[Any]:
        """Return the types for which the device function is compiled."""
        return [
            ArrayType(d, n, c) if n else d
            for d, n, c in zip((*loop.inputs, *loop.outputs), axes, dense)
        ]

    # ---- calls

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        dtype: Any = None,
        casting: Any = "same_kind",
        axes: Any = None,
        axis: Any = None,
        keepdims: bool = False,
        queue: Any = None,
        stream: Any = None,
    ) -> Any:
        """Apply the function to all stacked items; see the class. dtype: of new outputs, if there
        are no signatures. axes, axis, keepdims: as for NumPy's generalized ufuncs. Raises
        TypeError for arguments without a loop, ValueError for shapes that do not fit the layout."""
        name = self._name
        if not self.nin <= len(args) <= self.nargs:
            many = "few" if len(args) < self.nin else "many"
            fewest, most, got = (
                counted(n, "positional argument") for n in (self.nin, self.nargs, len(args))
            )
            raise TypeError(
                f"Too {many} arguments for function {name!r}: {name}(): gufunc accepts "
                f"{fewest} (the inputs) or {most} (the outputs, too). Got {got}."
            )
        if has_override(args, out):
            options = {"dtype": dtype, "axes": axes, "axis": axis, "keepdims": keepdims or None}
            return call_override(self, args, out, options)
        loops.check_casting(name, casting)
        outs = self._output_args(args, out)
        inputs = [
            operand(a, name) if k in self._written else input_operand(a, name)
            for k, a in enumerate(args[: self.nin])
        ]
        if axes is not None or axis is not None or keepdims:
            chosen = Axes(name, self._cores, self.nin, axes, axis, keepdims)
            options = {"dtype": dtype, "casting": casting, "queue": queue, "stream": stream}
            return self._call_with_axes(chosen, inputs, outs, options)
        backend, here = where_of(self, [*inputs, *outs])
        loop = self._find(inputs, outs, dtype)
        dtypes.require(backend, name, *map(storage_dtype, (*loop.inputs, *loop.outputs)))
        loops.check_results(name, loop, outs, casting)
        self._check_written(loop, inputs, casting)
        dated = DateViews(name, loop, inputs, outs) if has_dates(loop) else None
        if dated is not None:
            inputs, outs = dated.inputs, dated.outs
        outer, sizes = self._shapes(inputs, outs)
        shapes = [(*outer, *(_size(k, sizes) for k in core)) for core in self._out]
        given, outs = outs, self._fitting_outputs(outs, shapes)
        queue = stream_of(queue, stream, self._name)
        results = without_frames(self._run, loop, inputs, outs, shapes, outer, here, queue)
        results = [r if o is view else o for o, view, r in zip(given, outs, results)]
        if dated is not None:
            results = dated.results(results)
        return _as_result(results)

    def _fitting_outputs(self, outs: list[Any], shapes: list[tuple[int, ...]]) -> list[Any]:
        """Return the outputs, which must have these shapes. For target="cuda", Numba accepts an
        array of one item for a number, so that outputs may lack the loop's first axes if these have
        one item: their views have them."""
        found = []
        for o, shape, core in zip(outs, shapes, self._out):
            missing = 0 if o is None else len(shape) - len(o.shape)
            if self.target == "cuda" and missing > 0 and set(shape[:missing]) == {1}:
                o = o[(None,) * missing]
            if o is not None and o.shape != shape:
                raise ValueError(
                    f"{self._name}: Loop and array shapes are incompatible: non-broadcastable "
                    f"output operand with shape {o.shape} doesn't match the broadcast shape "
                    f"{shape}: {self.signature}, with core dimensions ({','.join(map(str, core))})"
                )
            found.append(o)
        return found

    def _check_written(self, loop: Loop, inputs: list[Any], casting: Any) -> None:
        """Raise for inputs in which the results of ``writable_args`` cannot be stored."""
        for k in self._writable:
            a, d = inputs[k], storage_dtype(loop.inputs[k])
            if not hasattr(a, "ndim") or not a.ndim:
                continue
            if isinstance(a, np.ndarray) and not a.flags.writeable:
                raise ValueError(f"{self._name}: the function writes input {k}, which is read-only")
            if not np.can_cast(d, a.dtype, casting):
                raise TypeError(
                    f"{self._name}: cannot cast the written input {k} from {d} to {a.dtype} with "
                    f"casting rule {casting!r}"
                )

    def _call_with_axes(
        self, chosen: Axes, inputs: list[Any], outs: list[Any], options: dict[str, Any]
    ) -> Any:
        """Call the function on views whose core axes are last."""
        views = [chosen.operand(k, a) for k, a in enumerate((*inputs, *outs))]
        into = views[self.nin :]
        if not self.nout:
            return self(*views, **options)
        made = self(*views[: self.nin], out=tuple(into), **options)
        each = zip(outs, into, made if self.nout > 1 else (made,))
        found = [chosen.result(k, *one) for k, one in enumerate(each)]
        return found[0] if self.nout == 1 else tuple(found)

    def _output_args(self, args: tuple[Any, ...], out: Any) -> list[Any]:
        more = list(args[self.nin :])
        if out is not None:
            if more:
                raise ValueError("cannot specify 'out' as both a positional and keyword argument")
            more = list(out) if isinstance(out, tuple) else [out]
            if len(more) != self.nout:
                raise ValueError(f"{self._name}: 'out' must be {self.nout} arrays")
        more += [None] * (self.nout - len(more))
        found = [array_or_none(o, self._name) for o in more]
        if any(isinstance(o, np.ndarray) and not o.flags.writeable for o in found):
            raise ValueError(f"{self._name}: an output array is read-only")
        return found

    def _find(self, inputs: list[Any], outs: list[Any], dtype: Any) -> Loop:
        kinds = [loops.kind_of(a) for a in inputs]
        loops.check_numbers(self._name, kinds)
        if self._is_typed:
            try:
                return loops.find(self._name, self._loops, kinds)
            except TypeError:
                for loop in self._loops if narrow_on_cuda and self.target == "cuda" else ():
                    if all(map(np.can_cast, loop.inputs, loops.promoted(kinds))):
                        return loop
                loose = [_python_kind(a, k) for a, k in zip(inputs, kinds)]
                if all(a is b for a, b in zip(loose, kinds)):
                    raise
                return loops.find(self._name, self._loops, loose)
        found, _ = loops.infer_inputs(kinds)
        results = tuple(
            o.dtype
            if o is not None
            else None
            if dtype is None
            else dtypes.native(dtype, self._name)
            for o in outs
        )
        if any(d is None for d in results):
            raise TypeError(
                f"Too few arguments for function {self._name!r}. {self._name}: without signatures "
                "the dtypes of new outputs are not known: give the outputs, or dtype="
            )
        loop = Loop(found, results)  # type: ignore[arg-type]
        if loop not in self._axes:
            axes = [len(core) for core in self._in] + [max(len(core), 1) for core in self._out]
            self._axes[loop] = tuple(axes)
            self._loops.append(loop)
        return loop

    def _shapes(self, inputs: list[Any], outs: list[Any]) -> tuple[tuple[int, ...], dict[Any, int]]:
        """Return the outer shape, and the lengths of the core dimensions."""
        sizes: dict[Any, int] = {}
        outer = []
        given = [
            (f"Input operand {i}" if i < self.nin else f"Output operand {i - self.nin}",
             getattr(a, "shape", ()), core)
            for i, (a, core) in enumerate(zip([*inputs, *outs], self._cores))
            if a is not None
        ]  # fmt: skip
        for what, shape, core in given:
            if len(shape) < len(core):
                raise OperandError(
                    f"{self._name}: {what} does not have enough dimensions (has {len(shape)}, "
                    f"gufunc core with signature {self._layout} requires {len(core)})"
                )
        for what, shape, core in given:
            split = len(shape) - len(core)
            for at, (key, n) in enumerate(zip(core, shape[split:])):
                wanted = key if isinstance(key, int) else sizes.setdefault(key, n)
                if n != wanted:
                    raise ValueError(
                        f"{self._name}: Operand has a mismatch in one of its core dimensions: "
                        f"{what} has a mismatch in its core dimension {at}, with gufunc "
                        f"signature {self.signature.replace('->', ' -> ')} (size {n} is "
                        f"different from {wanted})"
                    )
            outer.append(shape[:split])
        for core in self._out:
            for key in core:
                if not isinstance(key, int) and key not in sizes:
                    raise ValueError(
                        f"{self._name}: core dimension {key!r} of {self.signature} is in no input: "
                        "give the outputs"
                    )
        try:
            return layout.broadcast_shapes(*outer), sizes
        except ValueError:
            shapes = [shape for _, shape, _ in given]
            raise ValueError(
                f"{self._name}: Loop and array shapes are incompatible: operands of shapes "
                f"{_texts(shapes)} have loop dimensions {_texts(outer)}, which cannot be broadcast "
                f"together, with gufunc signature {self.signature}"
            ) from None

    def _run(
        self,
        loop: Loop,
        inputs: list[Any],
        outs: list[Any],
        shapes: list[tuple[int, ...]],
        outer: tuple[int, ...],
        here: Target | None,
        queue: Any,
    ) -> list[Any]:
        axes = self._axes[loop]
        if here is None:
            arrays: list[Any] = [a for a in (*inputs, *outs) if is_array(a)]
            ufuncs.same_device(self._name, arrays)
            like = arrays[0]
            lost = [o for o in outs if isinstance(o, np.ndarray)]
            lost += [a for k, a in enumerate(inputs) if k in self._written and _is_host(a)]
            if any(a.ndim for a in lost):
                raise TypeError(f"{self._name}: out must be on the device, like the inputs")
            send, new = like._from_host, like._new
        else:
            send, new = here.to_device, here.new
        operands = self._operands(loop, inputs, send)
        results: list[Any] = []
        for o, d, shape in zip(outs, map(storage_dtype, loop.outputs), shapes):
            if is_array(o) and o.dtype == d and o._is_aligned:
                results.append(o)
            else:
                results.append(new(shape, d))
        for k, a in enumerate(operands):
            if is_array(a) and any(_overlap(a, r) for r in results) and k not in self._written:
                operands[k] = a._copy()

        def fill() -> None:
            """Let items that the function does not write keep their values."""
            for o, r in zip(outs, results):
                if o is not None and o is not r:
                    r._copy_from(send(o) if isinstance(o, np.ndarray) else o)

        error = None
        if 0 not in outer:
            error = self._launch(loop, axes, operands, results, outer, queue, fill)
        for k in self._written:
            _write_back(inputs[k], operands[k], k in self._writable, queue)
        found = []
        for o, r in zip(outs, results):
            if o is r:
                found.append(o)
            elif is_array(o):
                o._copy_from(r)
                found.append(o)
            elif here is None:
                found.append(r)
            else:
                found.append(_on_host(r, o, queue))
        if error is not None:
            raise error
        return found

    def _operands(self, loop: Loop, inputs: list[Any], send: Callable[..., Any]) -> list[Any]:
        """Return the inputs as device arrays of the loop's dtypes, or as numbers. send: copies a
        host array."""
        operands: list[Any] = []
        sent: dict[int, Any] = {}
        for a, d, n in zip(inputs, map(storage_dtype, loop.inputs), self._axes[loop]):
            if not is_array(a) and not (isinstance(a, np.ndarray) and a.ndim):
                a = elementwise.as_scalar(np.asarray(a)[()] if _is_host(a) else a, d)
                if n == 0:
                    operands.append(a)
                    continue
                a = np.asarray(a, d)
            if isinstance(a, np.ndarray):
                made = sent.get(id(a))
                if made is None:
                    made = sent[id(a)] = send(a)
                a = made
            operands.append(primitives.astype(a._aligned(), d))
        return operands

    def _launch(
        self,
        loop: Loop,
        axes: tuple[int, ...],
        operands: list[Any],
        results: list[Any],
        outer: tuple[int, ...],
        queue: Any,
        fill: Callable[[], None],
    ) -> Exception | None:
        """Run the kernel. fill: sets the results to the outputs' values before. Returns what the
        function has raised."""
        every = [*operands, *results]
        arrays = [a for a in every if is_array(a)]
        like = arrays[-1]
        backend = like.backend
        strides, cores, dense = self._operand_layouts(every, axes, outer)
        flat, walked = layout.collapse_in_order(outer, *strides)
        scalar = tuple(not is_array(a) for a in every)
        checks, _ = check_report.mode(None, backend)
        record = (
            check_report.shared_record(backend) if checks and check_report.on_cpu(backend) else None
        )
        if record is not None:
            check_report.before_launch(backend, like.queue if queue is None else queue)
        key = (loop, tuple(dense), len(flat), scalar, record is not None)
        found, kernel = self._kernel(backend, axes, key)
        numbers: list[Any] = [a for a in every if not is_array(a)]
        n = math.prod(flat)
        numbers += flat[1:]
        for s in walked:
            numbers += s
        for (shape, steps), d, a in zip(cores, dense, every):
            if is_array(a):
                numbers += shape
                numbers += () if d else steps
        numbers.append(n)
        target = like._on_queue(queue)
        error = None
        if found[0].raises:
            fill()
            error = record = backend.allocate(check_report.RECORD_BYTES, None, target._queue())
            backend.fill(target._queue(), error, 0, 4 * check_report.WORDS)
        if found[2]:
            numbers += [record, found[2]]
        groups, size = self._grid(backend.limits, n)
        if kernel_module.on_configure is not None and backend.name == "cuda":
            kernel_module.on_configure((groups,))
        ends = len(arrays) - (len(arrays) if self._written else len(results))
        primitives.launch(target, kernel, groups, size, arrays[:ends], arrays[ends:], numbers)
        if error is None:
            return None
        words = np.zeros(check_report.WORDS, np.int32)
        backend.to_host(target._queue(), words, error, 0)
        return check_report.found(self._name, found[0].sites, words)

    def _operand_layouts(
        self, every: list[Any], axes: tuple[int, ...], outer: tuple[int, ...]
    ) -> tuple[list[Any], list[Any], list[bool]]:
        """Return the strides of the arrays over the stack, and for each operand the shape and the
        strides of its core dimensions and whether they are contiguous."""
        strides: list[Any] = []
        cores: list[Any] = []
        dense: list[bool] = []
        for a, core, n in zip(every, self._cores, axes):
            if not is_array(a):
                cores.append(((), ()))
                dense.append(True)
                continue
            split = a.ndim - len(core)
            shape, steps = a.shape[split:], a.strides[split:]
            strides.append(layout.broadcast_strides(a.shape[:split], a.strides[:split], outer))
            if len(cores) in self._written and any(
                n > 1 and s == 0 for n, s in zip(outer, strides[-1])
            ):
                raise ValueError(
                    f"{self._name}: input {len(cores)} is written, so it cannot be broadcast to "
                    f"{outer}"
                )
            if n > len(core):
                shape, steps = (1,), (a.itemsize,)
            cores.append((shape, steps))
            dense.append(layout.flags(shape, steps, a.itemsize)[0])
        return strides, cores, dense

    def _kernel(
        self, backend: Any, axes: tuple[int, ...], key: tuple[Any, ...]
    ) -> tuple[tuple[Any, ...], Any]:
        """Return what _compile() returns, which is kept."""
        kernels = self._cache.get(backend)
        if kernels is None:
            kernels = self._cache.setdefault(backend, {})
        found = kernels.get(key)
        kernel = None if found is None else found[1]()  # weak: the backend keeps it
        if found is None or kernel is None or not device.is_current(found[0]):
            found, kernel = self._compile(backend, axes, key)
            kernels[key] = found
        return found, kernel

    def _grid(self, limits: Any, n: int) -> tuple[int, int]:
        """Return how many groups process *n* items, and their size."""
        if limits.is_cpu:
            return min(n, limits.units * 4), 1
        size = min(self.max_blocksize, limits.group_size, 256)
        while size > 32 and n < size * limits.units:
            size //= 2
        return min(-(-n // size), 1 << 20), size

    def _compile(
        self, backend: Any, axes: tuple[int, ...], key: tuple[Any, ...]
    ) -> tuple[tuple[Any, ...], Any]:
        """Return (function, reference to the kernel, number of the kernel if it checks indices),
        and the kernel. key: see _launch()."""
        loop, dense, ndim, scalar, checks = key
        types = self._types(loop, axes, dense)
        function = device.compile(self.py_func, types, backend, checks, raises=True)
        if function.results:
            raise TypeError(
                f"{self._name}: a function of guvectorize returns nothing; assign the items of its "
                "outputs"
            )
        if self.nout:
            check_outputs(self.py_func, self.nin)
        kernel = kernel_cache.get(
            backend,
            ("guvectorize", function.key, key),
            lambda: (self._text(function, loop, axes, dense, ndim, scalar), "pg_gufunc"),
            function.features | dtypes.features(*loop.inputs, *loop.outputs),
        )
        name = getattr(self.py_func, "__name__", "function")
        number = check_report.number_of(name, function.sites) if function.sites else 0
        return (function, weakref.ref(kernel), number), kernel

    def _text(
        self,
        function: device.DeviceText,
        loop: Loop,
        axes: Sequence[int],
        dense: Sequence[bool],
        ndim: int,
        scalar: Sequence[bool],
    ) -> str:
        """Return the source of the kernel that calls the device function."""
        names = [f"p{k}" for k in range(self.nargs)]
        every = tuple(map(storage_dtype, (*loop.inputs, *loop.outputs)))
        parameters, scalars, rest, starts, body, args = [], [], [], [], [], []
        arrays = [n for n, s in zip(names, scalar) if not s]
        for n, d, s in zip(names, every, scalar):
            kind = dtypes.storage_type(d)
            if s:
                scalars.append(f"{dtypes.compute_type(d)} {n}")
            else:
                parameters.append(f"PG_ARRAY({kind}, {n})")
                starts.append(f"PG_START({kind}, {n});")
        rest += [f"pg_i64 n{k}" for k in range(1, ndim)]
        rest += [f"pg_i64 {n}_s{k}" for n in arrays for k in range(ndim)]
        left = "i"
        for k in reversed(range(1, ndim)):
            body.append(f"const pg_i64 r{k} = {left} / n{k}, k{k} = {left} - r{k} * n{k};")
            left = f"r{k}"
        body.append(f"const pg_i64 k0 = {left};")
        for n, d, s, axis, c in zip(names, every, scalar, axes, dense):
            if s:
                args.append(n)
                continue
            kind = dtypes.storage_type(d)
            at = " + ".join(f"k{k} * {n}_s{k}" for k in range(ndim))
            body.append(
                f"PG_GLOBAL {kind} *{n}_q = (PG_GLOBAL {kind} *)((PG_GLOBAL char *){n} + ({at}));"
            )
            if axis == 0:
                args.append(dtypes.load(d, f"{n}_q", "0"))
                continue
            shape = [f"{n}_n{k}" for k in range(axis)]
            steps = [] if c else [f"{n}_t{k}" for k in range(axis)]
            rest += [f"pg_i64 {x}" for x in (*shape, *steps)]
            args.append(", ".join([f"{n}_q", *shape, *steps]))
        lines = "\n        ".join([*body, function.call([], args)])
        if function.implicit:
            starts += [f"const pg_i64 {name} = {text};" for name, text in THREAD_IDENTITY.items()]
        more = ["PG_GLOBAL pg_i32 *pg_error", "pg_i32 pg_kernel"] if function.implicit else []
        head = ", ".join([*parameters, *scalars, *rest, "pg_i64 n", *more])
        return f"""\
{function.text}PG_KERNEL void pg_gufunc({head})
{{
    {" ".join(starts)}
    PG_FOR(i, n) {{
        {lines}
    }}
}}
"""


def _as_result(results: list[Any]) -> Any:
    """Return what a function with these results returns."""
    return results[0] if len(results) == 1 else tuple(results) or None


def _write_back(given: Any, operand: Any, cast: bool, queue: Any) -> None:
    """Store what the function has written to an input in the array of the call, if that is not the
    operand itself. cast: even with a conversion."""
    if operand is given or not is_array(operand) or not getattr(given, "ndim", 0):
        return
    if given.dtype != operand.dtype and not cast:
        return
    if is_array(given):
        given._copy_from(operand)
    elif given.flags.writeable:
        np.copyto(given, operand._get(None, queue, True)[0], casting="unsafe")


def _on_host(result: Any, out: Any, queue: Any) -> Any:
    """Return a result as an array or number on the host, in *out* if given."""
    host = result._get(None, queue, True)[0]
    if out is None:
        return host if host.shape else host[()]
    np.copyto(out, host, casting="unsafe")
    return out


def _texts(shapes: Sequence[tuple[int, ...]]) -> str:
    return " ".join(map(str, shapes))


def _is_host(obj: Any) -> bool:
    return isinstance(obj, np.ndarray)


def _python_kind(operand: Any, kind: Any) -> Any:
    """Return the kind of a NumPy number as that of a Python number."""
    if isinstance(operand, np.generic) and kind.kind in "iufc":
        return {"i": int, "u": int, "f": float, "c": complex}[kind.kind]
    return kind


def _size(key: Any, sizes: dict[Any, int]) -> int:
    return key if isinstance(key, int) else sizes[key]


def _overlap(a: Any, b: Any) -> bool:
    return bool(
        a._shares_memory(b)
        and layout.may_overlap(
            (a.offset, a.shape, a.strides, a.itemsize), (b.offset, b.shape, b.strides, b.itemsize)
        )
    )


@public
def guvectorize(
    ftylist_or_layout: Any,
    layout: str | None = None,
    *,
    target: str | None = None,
    identity: Any = None,
    writable_args: Sequence[Any] = (),
    **options: Any,
) -> Any:
    """Decorator that compiles a function of arrays to a generalized ufunc.

    ftylist_or_layout: signatures, one or a list, of the types of the inputs and then the outputs,
    such as ``"void(float32[:,:], float32[:,:], float32[:,:])"``; if omitted, loops are made for
    the dtypes of each call and outputs must be passed. layout: the core dimensions, such as
    ``"(m,n),(n,p)->(m,p)"``; an int is a fixed length. The function gets an array for each
    operand, which it reads or, for outputs, writes; a number where the layout has ``()`` and the
    signature no array. target: as for vectorize.

    Returns a :class:`GUFunc`. Raises TypeError, ValueError for signatures or layouts that do not
    fit.
    """
    check_target(target, "guvectorize")
    check_ufunc_options("guvectorize", guvectorize, options, target)
    if layout is None:
        ftylist_or_layout, layout = [], ftylist_or_layout
    given = signatures(ftylist_or_layout, "guvectorize")
    text: str = layout
    layout_of(text)
    if identity not in (None, 0, 1, "reorderable"):
        raise ValueError(f"guvectorize: identity must be 0, 1, None, 'reorderable': {identity!r}")

    @public
    def decorate(function: Callable[..., Any]) -> GUFunc:
        return GUFunc(undecorated(function), given, text, target, writable_args, identity)

    return decorate


publish(globals(), ["guvectorize"], "pygpu")
