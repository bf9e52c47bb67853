"""``@pygpu.fuse``: a function of arrays as one kernel.

::

    @pygpu.fuse
    def step(x, v, dt):
        return numpy.where(x < 0, 0, x + dt * v)

    x = step(x, v, 0.01)
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable
from functools import update_wrapper
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar, overload

import numpy as np

from pygpu import _array
from pygpu._array import GPUArray
from pygpu._src.array import chains, trace_arrays, trace_recorder
from pygpu._src.array.trace import Number, Tracer, Untraceable
from pygpu._src.codegen import dtypes
from pygpu._src.util import log

if TYPE_CHECKING:
    from typing import Protocol

    class _Decorator(Protocol):
        def __call__(self, function: Callable[_P, _R], /) -> Fused[_P, _R]: ...


__all__ = ["Fused", "Untraceable", "fuse", "off", "on", "statistics"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_MOST = 256  # variants of a function
_NUMBERS = (int, float, complex)
_RESULTS = (type(None), Tracer, Number, str, bytes, np.generic, *_NUMBERS)
_NUMBER = 4  # the code of a step, as in src/array/program.h


def _watched(function: Callable[..., Any]) -> tuple[tuple[Any, Any, Any], ...]:
    """(dict, name, value) and (cell, None, value) of the globals and closed-over variables of a
    function, and of the functions among them."""
    found: list[tuple[Any, Any, Any]] = []
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
            found.append((cell, None, value))
            waiting.append(value)
        for name in f.__code__.co_names:
            if name in f.__globals__:
                value = f.__globals__[name]
                found.append((f.__globals__, name, value))
                waiting.append(value)
    return tuple(found)


def _never(args: Any) -> None:
    """No number: the step that asks for one leaves the call to the plain function."""


def _plain_program(n: int, watched: tuple[Any, ...]) -> Any:
    """A program that runs the plain function."""
    step = (_NUMBER, (), (n,), (), None, 0, _never, int, (), (), 0)
    return _array.FusedProgram(n + 1, (step,), (n,), None, (), watched, True, False)


class Fused(_array.FusedCall, Generic[_P, _R]):
    """A function that runs as few kernels; ``plain`` is the function itself.

    Called with arrays of kinds (and, where it matters, shapes) that it was called with before, it
    runs what was recorded then, without Python.
    """

    plain: Callable[_P, _R]

    def __new__(cls, function: Callable[_P, _R], static: Iterable[str] = ()) -> Self:
        parameters = signature(function).parameters
        kinds = {p.kind for p in parameters.values()}
        if not kinds <= {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}:
            raise TypeError(
                f"fuse: {function!r} takes *args, ** or keyword-only arguments; name its arguments"
            )
        names = (static,) if isinstance(static, str) else tuple(static)
        unknown = set(names) - set(parameters)
        if unknown:
            raise ValueError(f"fuse: no argument is named {', '.join(sorted(unknown))}")
        is_static = tuple(name in names for name in parameters)
        made: Self = super().__new__(cls, function, is_static)
        return made

    def __init__(self, function: Callable[_P, _R], static: Iterable[str] = ()) -> None:
        update_wrapper(self, function)
        self._signature = signature(function)
        names = (static,) if isinstance(static, str) else tuple(static)
        self._is_static = tuple(name in names for name in self._signature.parameters)
        self._programs: dict[Any, Any] = {}  # what C does not tell apart

    def __repr__(self) -> str:
        return f"<fused function {self.plain.__qualname__}{self._signature}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a function of a class, a method; each instance has programs of its own."""
        return self if instance is None else types.MethodType(self, instance)

    if TYPE_CHECKING:

        def __call__(self, *args: _P.args, **options: _P.kwargs) -> _R: ...

    def _kinds(self, args: tuple[Any, ...]) -> Any:
        key: list[Any] = []
        for arg, static in zip(args, self._is_static, strict=True):
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

    def _layouts(self, args: tuple[Any, ...]) -> Any:
        arrays: list[Any] = [a for a in args if isinstance(a, GPUArray)]
        key: list[Any] = []
        for i, a in enumerate(arrays):
            same = next((k for k, b in enumerate(arrays[:i]) if a._shares_memory(b)), None)
            apart = None if same is None else a.offset - arrays[same].offset
            key.append((a.shape, a.strides, a.offset % 32, same, apart))
        return tuple(key)

    def _call(self, *args: Any, **options: Any) -> Any:
        """A call that C leaves: by names, of other kinds of arguments, the first one."""
        given: Any = args
        if options or len(given) != len(self._is_static):
            bound = self._signature.bind(*given, **options)
            bound.apply_defaults()
            given = bound.args
        kinds = self._kinds(given)
        program = self._find(given)
        if program is None:
            program = self._programs.get(kinds)
            if program is None:
                program = self._programs.get((kinds, self._layouts(given)))
        if program is None or not program.fresh():
            return self._first(kinds, given)
        try:
            result = program.run(given)
        except OverflowError:  # such as a number that a step's type cannot hold
            if program.mutates:
                raise
            result = NotImplemented
        return self._plain(given) if result is NotImplemented else result

    def _plain(self, args: tuple[Any, ...]) -> Any:
        function: Any = self.plain
        return function(*args)

    def _first(self, kinds: Any, args: tuple[Any, ...]) -> Any:
        """Trace the function; the results for these arguments."""
        arrays: list[Any] = [a for a in args if isinstance(a, GPUArray)]
        if not arrays or any(dtypes.is_date(a.dtype) for a in arrays):
            return self._plain(args)
        watched = _watched(self.plain)
        recorder = trace_recorder.Recorder(args, trace_arrays.TracedArray)
        try:
            program, result = _trace(self.plain, recorder, args, self._is_static, watched)
        except trace_recorder.Aliased:
            recorder.restore()
            program = _plain_program(len(args), watched)
            result = NotImplemented
            self._log_plain("arguments share memory")
        except (Untraceable, OverflowError) as error:
            recorder.restore()
            if isinstance(error, Untraceable):
                raise
            self._log_plain(error)
            return self._plain(args)
        else:
            log.log(
                "fusion",
                log.INFO,
                "%s: operations %d, launches %d",
                self.plain.__qualname__,
                sum(node.kind == "step" for node in recorder.nodes),
                recorder.launches(),
            )
        if len(self._programs) >= _MOST:
            self._programs.clear()
        if not self._remember(args, program) or any(self._is_static):
            key = (kinds, self._layouts(args)) if program.shaped else kinds
            self._programs[key] = program
        return self._plain(args) if result is NotImplemented else result

    def _log_plain(self, why: object) -> None:
        log.log("fallback", log.INFO, "%s is not fused: %s", self.plain.__qualname__, why)


def _trace(
    function: Callable[..., Any],
    recorder: trace_recorder.Recorder,
    args: tuple[Any, ...],
    static: tuple[bool, ...],
    watched: tuple[Any, ...],
) -> tuple[Any, Any]:
    """(program, results for these arguments)."""
    stands = [
        arg if fixed else _stand(recorder, i, arg)
        for i, (arg, fixed) in enumerate(zip(args, static, strict=True))
    ]
    with trace_arrays.tracing(recorder):
        result = function(*stands)
        results: list[Any] = []
        form = _each_result(result, results.append)
        program, values = recorder.program(results, form, watched)
    remaining = iter(values)
    return program, _each_result(result, lambda _: next(remaining), keep=True)


def _each_result(result: Any, do: Callable[[Any], Any], *, keep: bool = False) -> Any:
    """The tuples, lists and dicts of a result, with None for each array or number in them, or, if
    *keep*, with what *do* gives for it."""
    if isinstance(result, tuple) and (type(result) is tuple or hasattr(result, "_make")):
        items = [_each_result(x, do, keep=keep) for x in result]
        return tuple(items) if type(result) is tuple else type(result)(*items)
    if type(result) is list:
        return [_each_result(x, do, keep=keep) for x in result]
    if type(result) is dict:
        return {k: _each_result(x, do, keep=keep) for k, x in result.items()}
    if not isinstance(result, _RESULTS):
        raise Untraceable(
            f"fuse: the function returns a {type(result).__name__}; it may return arrays, numbers, "
            "and tuples, lists and dicts of them"
        )
    made = do(result)
    return made if keep else None


def _stand(recorder: trace_recorder.Recorder, i: int, arg: Any) -> Any:
    """What the function gets for an argument."""
    if isinstance(arg, GPUArray):
        dtypes.code(arg.dtype)
        return recorder.stand(i)
    if type(arg) in _NUMBERS or isinstance(arg, np.number):
        return Number(recorder, operator.itemgetter(i), arg)
    return arg


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
    one launch, with the same results, as they do unless :func:`off` was called or ``PYGPU_FUSE=0``
    is in the environment.
    """
    chains.set_mode(1)


def off() -> None:
    """From now on, each operation of plain array code is a launch of its own. Operations that were
    deferred are launched. ``PYGPU_FUSE=0`` in the environment does the same."""
    chains.set_mode(0)


def statistics() -> dict[str, int]:
    """What fusing plain array code has done in this process.

    ``watched``: operations that were launched one by one, while chains were looked for;
    ``compiled``: chains that have a kernel; ``deferred``: operations that waited for others;
    ``fused``: launches of such kernels; ``unfused``: operations that waited, and were launched one
    by one after all.
    """
    found = chains.counts()
    del found["mode"]
    return found
