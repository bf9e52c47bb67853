"""`vectorize`: turns a function of numbers into a ufunc of arrays.

>>> import numpy as np, pygpu
>>> @pygpu.vectorize
... def clamp(x, low, high):
...     return min(max(x, low), high)
>>> clamp(np.array([-1, 5, 30]), 0, 10).tolist()
[0, 5, 10]

The function is compiled once for each combination of dtypes and device, and its loop uses the same
kernels as arrays' operations: any strides, broadcasting, wide loads for contiguous items.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pygpu._src.array import elementwise, launch_cache, layout, ufuncs
from pygpu._src.array.ufuncs import is_array
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.dtypes import is_date
from pygpu._src.codegen.fastpath import public, public_methods
from pygpu._src.util.public import publish
from pygpu._src.util.wording import counted

from ..signature import signatures
from ..source import OperandError, without_frames
from ..types import storage_dtype
from . import binary, device, loops, ordered, segments
from .date_reductions import on_dates
from .dates import DateViews, has_dates
from .guvectorize import GUFunc
from .loops import Loop
from .operands import (
    array_like,
    array_or_none,
    as_mask,
    check_ufunc_options,
    input_operand,
    keep_order,
    numbers,
    operand,
    select,
    stream_of,
    undecorated,
    where_of,
)
from .overrides import call_override, has_override
from .pickling import reduce_by_name, register_with_cloudpickle
from .raising import raising
from .target import Target, check_target

DType = np.dtype[Any]
_count = itertools.count()


def _check_units(name: str, results: Sequence[DType], outputs: Sequence[DType]) -> None:
    """Raise if results are dates but the signature says otherwise, or the reverse."""
    for have, want in zip(results, outputs):
        if have != want and (is_date(have) or is_date(want)):
            raise TypeError(f"{name}: returns {have}, and its signature says {want}")


@public_methods
class UFunc(loops.LoopAttributes):
    """A Python function that is applied to each item of arrays, like NumPy's ufuncs.

    Made by :func:`vectorize`. Host arrays or numbers give host arrays or NumPy numbers; if any
    argument is a device array, the others are copied to its device and the results are device
    arrays. `out`, `where`, `dtype`, `signature`, `casting` are those of NumPy's ufuncs; `queue`
    (or `stream`) replaces the first array's queue.

    nin, nout, nargs: numbers of inputs, of outputs, of both. identity: the neutral element, if
    given. py_func: the Python function.
    """

    signature = None  # of NumPy's generalized ufuncs

    def __init__(
        self,
        function: Callable[..., Any],
        given: Sequence[Any] = (),
        target: str | None = None,
        identity: Any = None,
    ) -> None:
        self.py_func = function
        self.declared = tuple(given)  # kernels that call it convert numbers by these, see jit
        self.identity = None if isinstance(identity, str) else identity
        self._named_identity = identity
        self.target = target
        self._name = getattr(function, "__name__", "ufunc")
        functools.update_wrapper(self, function, updated=())
        self._loops = []
        self._cache: dict[Any, tuple[Loop, elementwise.Operation]] = {}
        self._used: list[device.DeviceText] = []  # those that use outside names
        self._key = f"{self._name} {next(_count)}"  # key under which calls are cached
        self._binaries: dict[Any, Any] = {}
        self.nin = device.parameter_count(function, "vectorize")
        self._nout = 0
        for one in given:
            if len(one.args) != self.nin:
                raise TypeError(
                    f"vectorize: {self._name} has {self.nin} parameters, but signature {one!r} "
                    f"has {len(one.args)}"
                )
            if not all(hasattr(t, "dtype") and not hasattr(t, "ndim") for t in one.args):
                raise TypeError(f"vectorize: {one!r}: parameters are numbers; see guvectorize")
            inputs = tuple(t.dtype for t in one.args)
            outputs = one.results
            if outputs is None:
                outputs = device.compile(function, inputs, raises=True).results
            self._add(Loop(inputs, outputs))
        self._is_typed = bool(given)
        register_with_cloudpickle(self)

    def __repr__(self) -> str:
        return f"<ufunc {self._name!r}>"

    def __reduce__(self) -> Any:
        return reduce_by_name(self)

    def _options(self) -> dict[str, Any]:
        return {
            "given": self.declared, "target": self.target,
            "identity": self._named_identity,
        }  # fmt: skip

    # ---- attributes of NumPy's ufuncs

    @property
    def nout(self) -> int:
        """The number of outputs. Without signatures it is unknown before the first call, and then
        inferred for float64."""
        if not self._nout:
            self._nout = len(self._inferred((np.dtype(np.float64),) * self.nin).results)
        return self._nout

    @property
    def signatures(self) -> list[tuple[DType, ...]]:
        """The inputs' dtypes of each loop."""
        return [loop.inputs for loop in self._loops]

    def inspect_source(self, *types: Any) -> str:
        """Return the C text of the device function for parameters of these types (by default of
        the first loop), in the common language of both backends."""
        if not types:
            if not self._loops:
                raise TypeError(f"{self._name}.inspect_source: give the types of its parameters")
            inputs: tuple[Any, ...] = self._loops[0].inputs
        else:
            items = types[0] if len(types) == 1 and isinstance(types[0], (tuple, list)) else types
            inputs = tuple(np.dtype(t) for t in items)
        return device.compile(self.py_func, inputs, raises=True).text

    # ---- loops

    def _add(self, loop: Loop) -> None:
        if not self._nout:
            self._nout = len(loop.outputs)
        elif len(loop.outputs) != self._nout:
            raise TypeError(
                f"{self._name}: one signature has {len(loop.outputs)} results, another one "
                f"{self._nout}"
            )
        if not loop.outputs:
            raise TypeError(
                f"vectorize: {self._name} returns nothing; return the result for one item"
            )
        if not any(o.inputs == loop.inputs for o in self._loops):
            self._loops.append(loop)

    def _inferred(self, inputs: tuple[Any, ...], backend: Any = None) -> Any:
        return device.compile(self.py_func, inputs, backend, raises=True)

    def _loop(
        self, kinds: Sequence[Any], wanted: Sequence[Any] | None, casting: Any, backend: Any
    ) -> tuple[Loop, elementwise.Operation | GUFunc]:
        """Return the loop of a call, and what computes it: a GUFunc if the function raises."""
        system = backend.name, backend.limits.fp64  # everything on which the text depends
        key = (tuple(kinds), None if wanted is None else tuple(wanted), casting, system)
        found = self._cache.get(key)
        if found is not None:
            return found
        if self._is_typed:
            loop = loops.find(self._name, self._loops, kinds, casting, wanted)
            function = self._inferred(loop.inputs, backend)
            if len(function.results) != len(loop.outputs):
                raise TypeError(
                    f"{self._name}: returns {len(function.results)} values, and its signature "
                    f"{loops.types_text(loop.inputs, loop.outputs)} says {len(loop.outputs)}"
                )
        else:
            dtype = None
            if wanted is not None:
                dtypes_out = [d for d in wanted[self.nin :] if d is not None]
                dtype = dtypes_out[0] if dtypes_out else None
            inputs, weak = loops.infer_inputs(kinds, dtype)
            if wanted is not None:
                inputs = tuple(w or d for w, d in zip(wanted, inputs))
            given = tuple(w or d for w, d in zip(weak, inputs))
            function = self._inferred(given, backend)
            outputs = function.results
            if wanted is not None:
                named = list(wanted[self.nin :]) or [None] * len(outputs)
                outputs = tuple(w or d for w, d in zip(named, outputs, strict=True))
            loop = Loop(inputs, outputs)
            if not any(weak):
                self._add(loop)
        _check_units(self._name, function.results, loop.outputs)
        if function.guards:
            self._used.append(function)
        if function.raises:
            computed: Any = raising(self.py_func, loop, self.target)
        else:
            computed = self._operation(function, loop)
        dtypes.require(backend, self._name, *map(storage_dtype, (*loop.inputs, *loop.outputs)))
        self._cache[key] = loop, computed
        return loop, computed

    def _operation(self, function: device.DeviceText, loop: Loop) -> elementwise.Operation:
        """Return the operation of arrays that calls the function."""
        outs = [f"r{k}" for k in range(len(loop.outputs))]
        args = [f"x{k}" for k in range(self.nin)]
        ins, ends = ([storage_dtype(d) for d in part] for part in (loop.inputs, loop.outputs))
        found_types = [storage_dtype(d) for d in function.results]
        declared = " ".join(f"{dtypes.compute_type(d)} {r};" for d, r in zip(found_types, outs))
        stores = " ".join(
            f"y{k} = {dtypes.cast(r, of, d)};"
            for k, (r, of, d) in enumerate(zip(outs, found_types, ends))
        )
        return elementwise.Operation(
            f"vectorize_{self._name}",
            tuple(ins),
            tuple(ends),
            f"{declared} {function.call(outs, args)} {stores}",
            function.text,
            function.features,
            key=(function.key, loop.outputs),
        )

    def _requested_loop(self, dtype: Any, signature: Any) -> list[Any] | None:
        """Return the loop that dtype= or signature= asks for: a dtype or None for each operand."""
        if dtype is None and signature is None:
            return None
        if signature is None:
            return [None] * self.nin + [dtypes.native(dtype, self._name)] * self.nout
        if dtype is not None:
            raise TypeError(f"{self._name}: pass either dtype or signature, not both")
        if isinstance(signature, str):
            left, arrow, right = signature.partition("->")
            found = [np.dtype(c) for c in left + right]
            if arrow and (len(left), len(right)) == (self.nin, self.nout):
                return found
        elif isinstance(signature, tuple) and len(signature) == self.nin + self.nout:
            return [None if d is None else np.dtype(d) for d in signature]
        example = "f" * self.nin + "->" + "f" * self.nout
        raise ValueError(
            f"{self._name}: signature must be text such as {example!r} or a tuple of "
            f"{self.nin + self.nout} dtypes, not {signature!r}"
        )

    # ---- calls

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        signature: Any = None,
        sig: Any = None,
        casting: Any = "same_kind",
        order: str = "K",
        subok: bool = True,
        queue: Any = None,
        stream: Any = None,
    ) -> Any:
        """Apply the function to all items; see the class. Raises TypeError for arguments without a
        loop, ValueError for shapes that do not fit."""
        if where is True and dtype is None and len(args) == self.nin and self._check_globals():
            plain = signature is None and sig is None and queue is None and stream is None
            if plain and casting == "same_kind" and not isinstance(out, tuple):
                cached = launch_cache.run_cached(self._key, *args, out=out)
                if cached is not None:
                    return cached
        name = self._name
        if len(args) < self.nin:
            raise TypeError(f"{name}() takes {counted(self.nin, 'argument')}, got {len(args)}")
        if has_override(args, out):
            options = {"dtype": dtype, "where": None if where is True else where}
            options["signature"] = sig if signature is None else signature
            return call_override(self, args, out, options)
        loops.check_casting(name, casting)
        outs = self._output_args(args, out)
        inputs = [input_operand(a, name) for a in args[: self.nin]]
        mask = None if where is True else operand(where, name)
        backend, here = where_of(self, [*inputs, *outs, mask])
        kinds = [loops.kind_of(a) for a in inputs]
        loops.check_numbers(name, kinds)
        wanted = self._requested_loop(dtype, sig if signature is None else signature)
        loop, operation = without_frames(self._loop, kinds, wanted, casting, backend)
        outs = outs or [None] * len(loop.outputs)
        loops.check_results(name, loop, outs, casting)
        if isinstance(operation, GUFunc):
            if mask is not None:
                raise TypeError(
                    f"{name}: where= is not supported for functions with raise or assert"
                )
            into = None if all(o is None for o in outs) else tuple(outs)
            return operation(*inputs, out=into, casting=casting, queue=queue, stream=stream)
        queue = stream_of(queue, stream, name)
        call = None
        if mask is None and wanted is None and queue is None and casting == "same_kind":
            call = launch_cache.Call(self._key, tuple(args[: self.nin]), outs[0])
        return self._run(loop, operation, inputs, outs, mask, queue, here, call)

    def _run(
        self,
        loop: Loop,
        operation: Any,
        inputs: list[Any],
        outs: list[Any],
        mask: Any,
        queue: Any,
        here: Target | None,
        call: launch_cache.Call | None,
    ) -> Any:
        """Run a loop on the device of the arrays or, for host arrays, on *here*. call: what C
        repeats from its cache, None if it must not."""
        dated = DateViews(self._name, loop, inputs, outs) if has_dates(loop) else None
        if dated is not None:
            inputs, outs, call = dated.inputs, dated.outs, None
        if here is None:
            results = self._on_device(operation, inputs, outs, mask, queue, call)
        else:
            results = self._on_host(operation, inputs, outs, mask, queue, here)
        if dated is not None:
            results = dated.results(results)
        return results[0] if len(results) == 1 else tuple(results)

    def _output_args(self, args: tuple[Any, ...], out: Any) -> list[Any]:
        """Return the outputs that a call passes, as a list."""
        more = list(args[self.nin :])
        if more and out is not None:
            raise TypeError("cannot specify 'out' as both a positional and keyword argument")
        if out is not None:
            more = list(out) if isinstance(out, tuple) else [out]
        if not more:
            return []
        if len(more) > self.nout:
            raise TypeError(f"{self._name}: {len(more)} outputs were given, and it has {self.nout}")
        if len(more) < self.nout:
            if out is not None:
                raise ValueError(f"{self._name}: 'out' must be a tuple of {self.nout} arrays")
            more += [None] * (self.nout - len(more))
        found = [array_or_none(o, self._name) for o in more]
        for o in found:
            if isinstance(o, np.ndarray) and not o.flags.writeable:
                raise ValueError(f"{self._name}: an output array is read-only")
        return found

    def _check_globals(self) -> bool:
        """Whether outside names still refer to the same objects; if not, everything is compiled
        again."""
        if all(map(device.is_current, self._used)):
            return True
        self._used.clear()
        self._cache.clear()
        self._binaries.clear()
        self._key = f"{self._name} {next(_count)}"
        return False

    def _on_device(
        self, operation: Any, inputs: list[Any], outs: list[Any], mask: Any, queue: Any, call: Any
    ) -> list[Any]:
        """Handle a call with device arrays. call: the key for caching the launch."""
        arrays: list[Any] = [a for a in (*inputs, *outs, mask) if is_array(a)]
        ufuncs.same_device(self._name, arrays)
        first = arrays[0]
        if any(isinstance(o, np.ndarray) for o in outs):
            raise TypeError(f"{self._name}: out must be on the device, like the inputs")
        operands = [ufuncs.to_operand(a, first) for a in inputs]
        if mask is not None:
            mask = as_mask(mask, self._name)
            if not is_array(mask):
                mask = first._from_host(np.asarray(mask))
        operands = numbers(operands, operation)
        if not any(is_array(a) for a in operands) and any(o is None for o in outs):
            operands[0] = first._from_host(np.asarray(operands[0]))
        return ufuncs.apply(operation, operands, outs, mask, queue, call)

    def _on_host(
        self,
        operation: Any,
        inputs: list[Any],
        outs: list[Any],
        mask: Any,
        queue: Any,
        here: Target,
    ) -> list[Any]:
        """Handle a call with host arrays and numbers."""
        shapes = [a.shape for a in inputs if isinstance(a, np.ndarray)]
        if mask is not None:
            mask = as_mask(mask, self._name)
            shapes.append(np.shape(mask))
        shape = layout.broadcast_shapes(*shapes) if shapes else ()
        for o in outs:
            if o is not None and layout.broadcast_shapes(shape, o.shape) != o.shape:
                raise ValueError(
                    f"non-broadcastable output operand with shape {o.shape} doesn't match the "
                    f"broadcast shape {shape}"
                )
            if o is not None:
                shape = o.shape
        if 0 in shape:
            fresh = [np.empty(shape, d) for d in operation.outputs]
            return [f if o is None else o for f, o in zip(fresh, outs)]
        sent: dict[int, Any] = {}
        operands = []
        for a in inputs:
            if isinstance(a, np.ndarray) and a.ndim:
                made = sent.get(id(a))
                if made is None:
                    made = sent[id(a)] = here.to_device(a)
                operands.append(made)
            else:
                operands.append(a[()] if isinstance(a, np.ndarray) else a)
        operands = numbers(operands, operation)
        results = []
        for d, o in zip(operation.outputs, outs):
            direct = o is not None and o.dtype == d and o.flags.c_contiguous
            strides = None
            if o is None:
                strides = keep_order(shape, inputs, d)
            results.append((here.new(shape, d, strides), direct and mask is None))
        ufuncs.apply(operation, operands, [r for r, _ in results], None, queue)
        found = []
        for (r, direct), o in zip(results, outs):
            if direct:
                r._get(o, queue, True)
                found.append(o)
                continue
            host = r._get(None, queue, True)[0]
            if o is not None:
                np.copyto(o, host, casting="unsafe", where=True if mask is None else mask)
                found.append(o)
            else:
                found.append(host if shape else host[()])
        return found

    # ---- methods of ufuncs with two inputs

    def _check_binary(self, method: str) -> None:
        if self.nin != 2 or self._nout > 1:  # 0 until it is known
            raise OperandError(
                f"{method} only supported for binary functions with one result: {self._name} has "
                f"nin={self.nin}, nout={self._nout or 'unknown'}"
            )

    def _number(self, given: DType, dtype: DType | None, backend: Any) -> DType:
        """Return the dtype in which items of dtype *given* are joined: of the function's
        parameters and result. dtype: that of the call."""
        if not self._is_typed:
            number = binary.closure(self.py_func, dtype or given, backend)
            if dtype is None or number == dtype:
                return number
            if np.can_cast(number, dtype, "same_kind"):
                return dtype
            raise TypeError(
                f"{self._name}: dtype={dtype} was given, but the function returns {number} for "
                f"numbers of this dtype; pass dtype={number}, or leave it out"
            )
        same = [x for x in self._loops if {*x.inputs, *x.outputs} == {x.outputs[0]}]
        if not same:
            raise TypeError(
                f"{self._name}: none of its signatures takes its own result: {self.types}"
            )
        required = None if dtype is None else [None, None, dtype]
        return loops.find(self._name, same, [given, given], "same_kind", required).outputs[0]

    def _binary(self, given: DType, dtype: Any, backend: Any) -> Any:
        """Return the associative.Function for items of dtype *given*."""
        key = given, dtype, backend.name, backend.limits.fp64
        found = self._binaries.get(key)
        if found is not None:
            return found
        number = self._number(given, dtype, backend)
        found = self._binaries[key] = binary.function(self.py_func, number, backend)
        self._note_used(number, backend)
        return found

    def _note_used(self, number: DType, backend: Any) -> None:
        text = device.compile(self.py_func, (number, number), backend)
        if text.guards:
            self._used.append(text)

    def _reduce_types(self, given: DType, dtype: Any, backend: Any) -> tuple[DType, DType]:
        """Return the dtypes of a reduction's result and of the items that it joins to it."""
        mixed = [
            x for x in self._loops
            if x.inputs[0] == x.outputs[0] and (dtype is None or x.outputs[0] == dtype)
        ]  # fmt: skip
        if self._is_typed and mixed and not any(x.inputs[0] == x.inputs[1] for x in self._loops):
            for loop in mixed:
                if np.can_cast(given, loop.inputs[1], "same_kind"):
                    return loop.inputs[0], loop.inputs[1]
        number = self._number(given, dtype, backend)
        return number, number

    @property
    def _is_associative(self) -> bool:
        """Whether items may be joined in groups: an identity says so, as in NumPy, or the
        operation is known."""
        return self._named_identity is not None or binary.is_associative(self.py_func)

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        *,
        queue: Any = None,
        stream: Any = None,
    ) -> Any:
        """Join the items along *axis* (an int, a tuple, None for all) by the function, from the
        first to the last in C order: f(f(a[0], a[1]), a[2]). With an identity, and for operations
        known to be associative (`a + b`, `max(a, b)`), neighbours are joined in parallel.

        Raises ValueError for no items without `initial` or an identity, np.exceptions.AxisError.
        """
        self._check_binary("reduce")
        self._check_globals()
        queue = stream_of(queue, stream, self._name)
        dtype = None if dtype is None else dtypes.native(dtype, self._name)
        first = self.identity if initial is None else initial
        if where is not True:
            if first is None:
                raise ValueError(f"{self._name}.reduce: where needs initial= or an identity")
            if self.identity is not None:
                array, where = select(where, array, self.identity, self._name), True
        given = self._array(array)
        if where is not True or not self._is_joined_in_parallel(given.dtype, dtype):
            backend, _ = where_of(self, [given])
            number, items = self._reduce_types(given.dtype, dtype, backend)
            self._note_used(number, backend)
            return ordered.reduce(
                self, number, items, given, axis, self._name, out=out, keepdims=keepdims,
                initial=first, where=None if where is True else where, queue=queue,
            )  # fmt: skip

        def compute(array: Any, found: Any, **options: Any) -> Any:
            return binary.reduce(
                self._name, found, array, axis, keepdims=keepdims, target=self.target,
                queue=queue, **options,
            )  # fmt: skip

        return self._reduce_array(compute, given, dtype, out, first)

    def _array(self, array: Any) -> Any:
        return array_like(array, f'{self._name}: The first argument "array"')

    def _is_joined_in_parallel(self, given: DType, dtype: Any) -> bool:
        """Whether items are joined in groups, by a loop of one dtype."""
        if not self._is_associative:
            return False
        return not self._is_typed or any(
            {*x.inputs, *x.outputs} == {x.outputs[0]} for x in self._loops
        )

    def _reduce_array(
        self, compute: Callable[..., Any], array: Any, dtype: Any, out: Any, initial: Any
    ) -> Any:
        """Compute reduce() or accumulate() of an array of numbers or of dates."""
        given = self._array(array)
        if not is_date(given.dtype):
            return compute(
                given, lambda d, backend: self._binary(d, dtype, backend), out=out, initial=initial
            )
        number = self._result_type(given.dtype, None) if dtype is None else dtype
        return on_dates(
            lambda a, **options: compute(
                a, lambda _, backend: self._binary(number, None, backend), **options
            ),
            given,
            number,
            array_or_none(out, self._name),
            initial,
            self._name,
        )

    def accumulate(
        self,
        array: Any,
        axis: int = 0,
        dtype: Any = None,
        out: Any = None,
        *,
        queue: Any = None,
        stream: Any = None,
    ) -> Any:
        """Return the partial results along an axis: r[0] = a[0], r[i] = f(r[i - 1], a[i]), one
        after another, or in parallel as for `reduce`."""
        self._check_binary("accumulate")
        self._check_globals()
        queue = stream_of(queue, stream, self._name)
        dtype = None if dtype is None else dtypes.native(dtype, self._name)
        if not self._is_associative:
            given = self._array(array)
            backend, _ = where_of(self, [given])
            number = self._number(given.dtype, dtype, backend)
            self._note_used(number, backend)
            return ordered.accumulate(self, number, given, axis, self._name, out=out, queue=queue)

        def compute(array: Any, found: Any, initial: Any, **options: Any) -> Any:
            return binary.accumulate(
                self._name, found, array, axis, target=self.target, queue=queue, **options,
            )  # fmt: skip

        return self._reduce_array(compute, array, dtype, out, None)

    def outer(self, a: Any, b: Any, **options: Any) -> Any:
        """Apply the function to all pairs: the result has shape a.shape + b.shape."""
        if self.nin != 2:
            raise OperandError(
                f"outer product only supported for binary functions: {self._name} has "
                f"nin={self.nin}"
            )
        a, b = operand(a, self._name), operand(b, self._name)
        ndim = getattr(b, "ndim", 0)
        if ndim and getattr(a, "ndim", 0):
            a = a.reshape(*a.shape, *(1,) * ndim)
        return self(a, b, **options)

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        """a[indices] = f(a[indices], b) in place, where an index that occurs several times has
        effect each time, in order. The indices are sorted on the host."""
        self._check_globals()
        segments.at(self, a, indices, b, self._name)

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """The reductions of array[indices[i] : indices[i + 1]] along an axis, each in order; the
        item at indices[i] where that is empty."""
        self._check_binary("reduceat")
        self._check_globals()
        return segments.reduceat(self, array, indices, axis, dtype, out, self._name)

    def _segment_kernels(self, method: str, make: Any) -> Any:
        """The kernels of a method."""
        found = self._binaries.get(method)
        if found is None:
            found = self._binaries[method] = make(self)
        return found

    def _result_type(self, given: DType, *others: Any) -> DType:
        """The dtype of the first result for operands of these dtypes; None: of the result's."""
        backend, _ = where_of(self, ())
        if others and others[0] is None:
            others = (given,)
            if not self._is_typed:
                return binary.closure(self.py_func, given, backend)
        loop, _ = self._loop([given, *others], None, "same_kind", backend)
        return loop.outputs[0]


@public
def vectorize(
    ftylist_or_function: Any = (),
    *,
    target: str | None = None,
    identity: Any = None,
    **options: Any,
) -> Any:
    """Compile a function of numbers to a ufunc; also a decorator.

    ftylist_or_function: signatures, one or a list, such as ``"float32(float32, float32)"``; by
    default, loops are made for the dtypes of each call. target: "opencl", "cuda", "cpu": where
    host arrays are computed; device arrays are computed on their device. identity: the neutral
    element, for ``reduce`` of no items; "reorderable" if there is none. Either says that the
    function is associative, so that ``reduce`` and ``accumulate`` may join items in parallel.
    Numba's nopython, cache, fastmath are accepted and have no effect.

    Returns a :class:`UFunc`. Raises TypeError for signatures that do not fit the function.
    """
    check_target(target, "vectorize")
    check_ufunc_options("vectorize", vectorize, options, target)
    if isinstance(identity, str) and identity != "reorderable":
        raise ValueError(
            f"vectorize: identity must be a number, None or 'reorderable': {identity!r}"
        )
    if callable(ftylist_or_function) and not hasattr(ftylist_or_function, "dtype"):
        return UFunc(undecorated(ftylist_or_function), (), target, identity)
    given = signatures(ftylist_or_function, "vectorize")

    @public
    def decorate(function: Callable[..., Any]) -> UFunc:
        return UFunc(undecorated(function), given, target, identity)

    return decorate


publish(globals(), ["vectorize"], "pygpu")
