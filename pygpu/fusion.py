"""``@pygpu.fuse``: a function of arrays as one kernel.

::

    @pygpu.fuse
    def step(x, v, dt):
        return numpy.where(x < 0, 0, x + dt * v)

    x = step(x, v, 0.01)
"""

from __future__ import annotations

import hashlib
import operator
import types
from collections.abc import Callable, Iterable
from functools import partial, update_wrapper
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from pygpu import _array
from pygpu._array import GPUArray
from pygpu._src.array import (
    chains,
    elementwise,
    launch_cache,
    layout,
    reduction,
    ufuncs,
)
from pygpu._src.array.trace import Graph, Node, Number, Reduced, Tracer, Untraceable
from pygpu._src.codegen import dtypes

if TYPE_CHECKING:
    from typing import Protocol

    class _Decorator(Protocol):
        def __call__(self, function: Callable[_P, _R], /) -> Fused[_P, _R]: ...


__all__ = ["Fused", "Untraceable", "fuse", "off", "on", "statistics"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_MOST = 256  # variants of a function
_NUMBERS = (int, float, complex)


class _Plainly(Exception):
    """A call that is better done step by step."""


def _constant(value: Any, args: Any) -> Any:
    return value


class _Kernel:
    """One launch: the leaves of the graph that it reads, and what it computes."""

    def __init__(self, graph: Graph, places: tuple[int, ...], reduced: Reduced | None) -> None:
        self.leaves, text, helpers, features = graph.text(places)
        nodes = graph.nodes
        self.reads: list[int | tuple[Callable[[Any], Any], type]] = [
            nodes[k].what if nodes[k].kind == "array" else graph.numbers[nodes[k].what]
            for k in self.leaves
        ]
        self.types = tuple(nodes[k].dtype for k in self.leaves)
        self.outputs = tuple(nodes[k].dtype for k in places)
        self.reduced = reduced
        body = "\n        ".join([text, *(f"y{i} = v{k};" for i, k in enumerate(places))])
        self.arrays = [i for i, k in enumerate(self.leaves) if nodes[k].kind == "array"]
        codes = (*map(dtypes.code, (*self.types, *self.outputs)), str(self.arrays))
        if reduced is not None:
            codes = (*codes, reduced.kind, str(reduced.dtype), str(reduced.ddof))
        digest = hashlib.sha256("\0".join((body, helpers, *codes)).encode()).hexdigest()
        self.name = f"fused {digest}"
        self.operation = elementwise.Operation(
            "fused", self.types, self.outputs, body, helpers, features, key=digest
        )

    def run(self, args: tuple[Any, ...]) -> Any:
        """The results for a call's arguments."""
        operands = [args[r] if isinstance(r, int) else self._number(r, args) for r in self.reads]
        if self.reduced is None:
            known = launch_cache.known(self.name, *operands)
            return self._launch(operands) if known is None else [known]
        r = self.reduced
        if len(operands) == len(self.arrays):
            known = _array._reduce(self.name, r.axis, r.keepdims, *operands)
            if known is not None:
                return [known]
        if any(operands[i].size == 0 for i in self.arrays):
            raise _Plainly
        return [
            reduction.fused(
                self.operation, self.name, r.kind, operands, r.axis, r.dtype, r.keepdims, r.ddof
            )
        ]

    @staticmethod
    def _number(how: tuple[Callable[[Any], Any], type], args: tuple[Any, ...]) -> Any:
        value = how[0](args)
        if type(value) is not how[1]:  # as 2**n is an int or a float, by the sign of n
            raise _Plainly
        return value

    def _launch(self, operands: list[Any]) -> list[Any]:
        arrays = [operands[i] for i in self.arrays]
        ufuncs.same_device("fuse", arrays)
        shape = layout.broadcast_shapes(*(a.shape for a in arrays))
        first = arrays[0]
        dtypes.require(first.backend, "fuse", *self.types, *self.outputs)
        outs = [ufuncs.empty_like_operands(first, arrays, shape, d) for d in self.outputs]
        if 0 not in shape:
            call = launch_cache.Call(self.name, tuple(operands)) if len(outs) == 1 else None
            first._run(self.operation, outs, operands, shape, call=call)
        return outs


class _Variant:
    """A function traced for some types of arguments."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], static: tuple[bool, ...]
    ) -> None:
        first = next(a for a in args if isinstance(a, GPUArray))
        graph = Graph(first.backend.name)
        stands = [
            arg if fixed else self._stand(graph, i, arg)
            for i, (arg, fixed) in enumerate(zip(args, static, strict=True))
        ]
        result = function(*stands)
        self.wrap: Any = None
        if isinstance(result, (tuple, list)):
            self.wrap = list if isinstance(result, list) else tuple
            results = list(result)
        else:
            results = [result]
        self.kernels = self._kernels(graph, results)
        self.watched = _watched(function)

    def _stand(self, graph: Graph, i: int, arg: Any) -> Any:
        """What the function gets for an argument."""
        if isinstance(arg, GPUArray):
            dtypes.code(arg.dtype)
            return Tracer(graph, graph.add(Node("array", i, (), (), arg.dtype)))
        if type(arg) in _NUMBERS or isinstance(arg, np.number):
            return Number(graph, operator.itemgetter(i), arg)
        return arg

    def _kernels(self, graph: Graph, results: list[Any]) -> list[tuple[_Kernel, tuple[int, ...]]]:
        """Launches, and which results each gives. Results of the same arrays are one launch."""
        groups: dict[tuple[int, ...], list[int]] = {}
        self.n = len(results)
        self.read: dict[int, Callable[[Any], Any]] = {}
        kernels: list[tuple[_Kernel, tuple[int, ...]]] = []
        for i, result in enumerate(results):
            if isinstance(result, Reduced):
                kernels.append((_Kernel(graph, (result.place,), result), (i,)))
            elif isinstance(result, Tracer):
                needed = graph.needed((result.place,))
                arrays = tuple(k for k in needed if graph.nodes[k].kind == "array")
                groups.setdefault(arrays, []).append(i)
            elif isinstance(result, Number):
                self.read[i] = result.read
            elif result is None or isinstance(result, (str, bytes, np.generic, *_NUMBERS)):
                self.read[i] = partial(_constant, result)
            else:
                raise Untraceable(
                    f"fuse: the function returns a {type(result).__name__}; it may return arrays, "
                    "numbers and tuples of them"
                )
        for members in groups.values():
            places = tuple(results[i].place for i in members)
            kernels.append((_Kernel(graph, places, None), tuple(members)))
        return kernels

    def fresh(self) -> bool:
        """Whether the names that the function reads still mean what they meant."""
        try:
            return all(read() is value for read, value in self.watched)
        except (KeyError, ValueError):
            return False

    def run(self, args: tuple[Any, ...]) -> Any:
        results: list[Any] = [None] * self.n
        for kernel, members in self.kernels:
            for i, made in zip(members, kernel.run(args), strict=True):
                results[i] = made
        for i, read in self.read.items():
            results[i] = read(args)
        return results[0] if self.wrap is None else self.wrap(results)


def _watched(function: Callable[..., Any]) -> list[tuple[Callable[[], Any], Any]]:
    """(how to read it, what it was) of the globals and closed-over variables of a function, and of
    the functions among them."""
    found: list[tuple[Callable[[], Any], Any]] = []
    waiting: list[Any] = [function]
    seen: set[int] = set()
    while waiting:
        f = waiting.pop()
        if id(f) in seen or not isinstance(f, types.FunctionType):
            continue
        seen.add(id(f))
        if (f.__module__ or "").partition(".")[0] in ("numpy", "pygpu"):
            continue
        for cell in f.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            found.append((partial(getattr, cell, "cell_contents"), value))
            waiting.append(value)
        for name in f.__code__.co_names:
            if name in f.__globals__:
                value = f.__globals__[name]
                found.append((partial(f.__globals__.__getitem__, name), value))
                waiting.append(value)
    return found


class Fused(Generic[_P, _R]):
    """A function that runs as one kernel; ``plain`` is the function itself."""

    plain: Callable[_P, _R]

    def __init__(self, function: Callable[_P, _R], static: Iterable[str] = ()) -> None:
        update_wrapper(self, function)
        self.plain = function
        self._signature = signature(function)
        names = list(self._signature.parameters)
        kinds = {p.kind for p in self._signature.parameters.values()}
        if not kinds <= {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}:
            raise TypeError(
                f"fuse: {function!r} takes *args, ** or keyword-only arguments; name its arguments"
            )
        self._static = frozenset((static,) if isinstance(static, str) else static)
        unknown = self._static - set(names)
        if unknown:
            raise ValueError(f"fuse: no argument is named {', '.join(sorted(unknown))}")
        self._is_static = tuple(name in self._static for name in names)
        self._variants: dict[Any, _Variant] = {}

    def _key(self, args: tuple[Any, ...]) -> Any:
        key: list[Any] = []
        for arg, static in zip(args, self._is_static):
            if static:
                key.append((type(arg), arg))
            elif isinstance(arg, GPUArray):
                key.append((type(arg), arg.dtype))
            elif type(arg) in _NUMBERS or isinstance(arg, np.number):
                key.append(type(arg))
            elif isinstance(arg, np.ndarray):
                raise TypeError(
                    f"{self.plain.__name__}: a NumPy array is given to a fused function; copy it "
                    "to the device first (to_device, to_gpu)"
                )
            else:
                key.append((type(arg), arg))
        return tuple(key)

    def __call__(self, *args: _P.args, **options: _P.kwargs) -> _R:
        """The function's result. Arrays are broadcast; numbers may change from call to call, what
        is neither (or is static) is part of the kernel."""
        given: Any = args
        if options or len(given) != len(self._is_static):
            bound = self._signature.bind(*given, **options)
            bound.apply_defaults()
            given = bound.args
        key = self._key(given)
        variant = self._variants.get(key)
        if variant is None or not variant.fresh():
            variant = self._trace(key, given)
            if variant is None:
                return self.plain(*given)  # type: ignore[call-arg]
        try:
            result: _R = variant.run(given)
            return result
        except (OverflowError, _Plainly):  # such as a number that a step's type cannot hold
            return self.plain(*given)  # type: ignore[call-arg]

    def _trace(self, key: Any, args: tuple[Any, ...]) -> _Variant | None:
        if not any(isinstance(a, GPUArray) for a in args):
            return None
        variant = _Variant(self.plain, args, self._is_static)
        if len(self._variants) >= _MOST:
            self._variants.clear()
        self._variants[key] = variant
        return variant


@overload
def fuse(function: Callable[_P, _R], *, static: Iterable[str] = ()) -> Fused[_P, _R]: ...
@overload
def fuse(function: None = None, *, static: Iterable[str] = ()) -> _Decorator: ...
def fuse(function: Any = None, *, static: Iterable[str] = ()) -> Any:
    """Turn a function of arrays into one kernel: ``@pygpu.fuse`` or ``@pygpu.fuse(static="n")``.

    The function runs once for each combination of argument types, with stand-ins for its arrays and
    numbers. The operations on them become a kernel. It may use operators, NumPy's ufuncs,
    numpy.where, clip, astype, and reductions as its last step. Arrays of any shapes are broadcast;
    results have NumPy's dtypes and the same bits as without fuse. static: names of arguments that
    determine which operations run: each value has its own kernel.

    Raises Untraceable (a TypeError) for operations that one kernel cannot do, such as ``if`` on
    values.
    """
    if function is None:
        return lambda f: Fused(f, static)
    return Fused(function, static)


def on() -> None:
    """From now on, elementwise operations on arrays that follow each other again and again become
    one launch, with the same results. ``PYGPU_FUSE=1`` in the environment does the same.
    """
    chains.set_mode(1)


def off() -> None:
    """From now on, each operation is a launch of its own, as it is unless :func:`on` was called.
    Operations that were deferred are launched."""
    chains.set_mode(0)


def statistics() -> dict[str, int]:
    """What :func:`on` has done in this process.

    ``watched``: operations that were launched one by one, while chains were looked for;
    ``compiled``: chains that have a kernel; ``deferred``: operations that waited for others;
    ``fused``: launches of such kernels; ``unfused``: operations that waited, and were launched one
    by one after all.
    """
    found = chains.counts()
    del found["mode"]
    return found
