"""``@pygpu.fuse``: a function of arrays as one kernel.

::

    @pygpu.fuse
    def step(x, v, dt):
        return numpy.where(x < 0, 0, x + dt * v)

    x = step(x, v, 0.01)
"""

from __future__ import annotations

import dis
import operator
import types
from collections.abc import Callable, Iterable
from functools import update_wrapper
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, Self, TypeVar, overload

import numpy as np

from pygpu import _array
from pygpu._array import GPUArray
from pygpu._src.array import argument_trees as trees
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
_ARGUMENTS_MOST = 64  # that C looks at, as in src/array/fused.c
_NUMBERS = (int, float, complex)
_LITERALS = frozenset((type(None), bool, str, bytes, *_NUMBERS))
_RESULTS = (type(None), Tracer, Number, str, bytes, np.generic, *_NUMBERS)
_NUMBER = 4  # the code of a step, as in src/array/program.h


def _global_names(code: types.CodeType) -> dict[str, None]:
    """The globals that a function reads, also in its comprehensions and lambdas."""
    names = dict.fromkeys(
        str(i.argval) for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"
    )
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(_global_names(constant))
    return names


def _captured_names(function: Callable[..., Any]) -> tuple[tuple[Any, Any, Any], ...]:
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
        for name in _global_names(f.__code__):
            if name in f.__globals__:
                value = f.__globals__[name]
                found.append((f.__globals__, name, value))
                waiting.append(value)
    return tuple(found)


def _no_number(args: Any) -> None:
    """No number: the step that asks for one leaves the call to the plain function."""


def _plain_program(n: int, watched: tuple[Any, ...]) -> Any:
    """A program that runs the plain function."""
    step = (_NUMBER, (), (n,), (), None, 0, _no_number, int, (), (), 0)
    return _array.FusedProgram(n + 1, (step,), (n,), None, (), watched, True, False)


class _FlatCall(_array.FusedCall):
    """A function whose arguments are arrays, numbers and values by which programs differ.

    Called with arrays of kinds (and, where it matters, shapes) that it was called with before, it
    runs what was recorded then, without Python.
    """

    def __init__(
        self, function: Callable[..., Any], is_static: tuple[bool, ...], source: Any = None
    ) -> None:
        self._is_static = is_static
        self._source: Any = source or function  # whose names are watched
        self._programs: dict[Any, Any] = {}  # by all that the C table does not distinguish
        self._values: dict[Any, Any] = {}  # by value_key(): C compares addresses

    def _signature_key(self, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """The types of the arguments, and the arguments with one object for equal values."""
        key: list[Any] = []
        given: list[Any] = []
        for arg, static in zip(args, self._is_static, strict=True):
            if static:
                kind: Any = None
            elif isinstance(arg, GPUArray):
                kind = type(arg), arg.dtype
            elif type(arg) in _NUMBERS or isinstance(arg, np.number):
                kind = type(arg)
            elif isinstance(arg, np.ndarray):
                raise TypeError(
                    f"{self.plain.__name__}: the fused function got a NumPy array; copy it "
                    "to the device first (to_device, to_gpu)"
                )
            else:
                kind = None
            if kind is None:
                kind = self._value_key(arg)
                arg = self._values.get(kind, arg)
            key.append(kind)
            given.append(arg)
        return tuple(key), tuple(given)

    def _value_key(self, arg: Any) -> Any:
        try:
            key = trees.value_key(arg)
        except TypeError:
            raise TypeError(
                f"{self.plain.__name__}: an argument of type {type(arg).__name__} is not an "
                "array or a number, and cannot be compared between calls, as it is not hashable; "
                "pass arrays, numbers, and tuples, lists, dicts or dataclasses of them"
            ) from None
        if key not in self._values:
            if len(self._values) >= _MOST:
                self._values.clear()
            self._values[key] = trees.private_copy(arg)
        return key

    def _layouts(self, args: tuple[Any, ...]) -> Any:
        arrays: list[Any] = [a for a in args if isinstance(a, GPUArray)]
        key: list[Any] = []
        for i, a in enumerate(arrays):
            same = next((k for k, b in enumerate(arrays[:i]) if a._shares_memory(b)), None)
            apart = None if same is None else a.offset - arrays[same].offset
            key.append((a.shape, a.strides, a.offset % 32, same, apart))
        return tuple(key)

    def _call(self, *args: Any) -> Any:
        """A call that C leaves: of other kinds of arguments, the first one."""
        kinds, given = self._signature_key(args)
        program = self._find(given) if len(given) <= _ARGUMENTS_MOST else None
        if program is None:
            program = self._programs.get(kinds)
            if program is None and self._programs:
                program = self._programs.get((kinds, self._layouts(given)))
        if program is None or not program.fresh():
            return self._trace_first_call(kinds, given)
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

    def _trace_first_call(self, kinds: Any, args: tuple[Any, ...]) -> Any:
        """Trace the function; the results for these arguments."""
        arrays: list[Any] = [a for a in args if isinstance(a, GPUArray)]
        if not arrays or any(dtypes.is_date(a.dtype) for a in arrays):
            return self._plain(args)
        watched = _captured_names(self._source)
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
        if len(args) > _ARGUMENTS_MOST or not self._remember(args, program):
            key = (kinds, self._layouts(args)) if program.shaped else kinds
            self._programs[key] = program
        return self._plain(args) if result is NotImplemented else result

    def _log_plain(self, why: object) -> None:
        log.log("fallback", log.INFO, "%s is not fused: %s", self.plain.__qualname__, why)


class _Binding(NamedTuple):
    """How the arguments of a call by some names become values in the order of the parameters.

    order: places in (*args, *options.values(), *defaults); n: how many go by position; names:
    those of the others; static: for each, whether it is static."""

    order: tuple[int, ...]
    n: int
    names: tuple[str, ...]
    static: tuple[bool, ...]
    defaults: tuple[Any, ...]
    plain: bool  # all parameters, all by position


class Fused(_FlatCall, Generic[_P, _R]):
    """A function that runs as few kernels; ``plain`` is the function itself.

    Called with arrays of kinds (and, where it matters, shapes) that it was called with before, it
    runs what was recorded then, without Python.
    """

    plain: Callable[_P, _R]

    def __new__(cls, function: Callable[_P, _R], static: Iterable[str] = ()) -> Self:
        parameters = signature(function).parameters
        names = (static,) if isinstance(static, str) else tuple(static)
        unknown = set(names) - set(parameters)
        if unknown:
            raise ValueError(f"fuse: no argument is named {', '.join(sorted(unknown))}")
        made: Self = super().__new__(cls, function, _is_static_by_position(parameters, names))
        return made

    def __init__(self, function: Callable[_P, _R], static: Iterable[str] = ()) -> None:
        update_wrapper(self, function)
        self._signature = signature(function)
        names = (static,) if isinstance(static, str) else tuple(static)
        super().__init__(function, _is_static_by_position(self._signature.parameters, names))
        self._static_names = frozenset(names)
        self._bindings: dict[Any, _Binding] = {}
        self._forms: dict[Any, _FlatCall] = {}

    def __repr__(self) -> str:
        return f"<fused function {self.plain.__qualname__}{self._signature}>"

    def __reduce__(self) -> str:
        return self.plain.__qualname__  # as a function, by its name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a function of a class, a method; each instance has programs of its own."""
        return self if instance is None else types.MethodType(self, instance)

    if TYPE_CHECKING:

        def __call__(self, *args: _P.args, **options: _P.kwargs) -> _R: ...

    def _call(self, *args: Any, **options: Any) -> Any:
        """A call that C leaves: by names, with containers, of other kinds of arguments, the first
        one."""
        key = len(args), *options
        binding = self._bindings.get(key)
        if binding is None:
            binding = self._bind(args, options)
            if len(self._bindings) >= _MOST:
                self._bindings.clear()
            self._bindings[key] = binding
        values = (*args, *options.values(), *binding.defaults)
        given = tuple([values[i] for i in binding.order])
        if binding.plain and not any(map(trees.is_container, given)):
            return super()._call(*given)
        leaves: list[Any] = []
        forms: list[Any] = []
        static: list[bool] = []
        for value, fixed in zip(given, binding.static, strict=True):
            if fixed:
                leaves.append(value)
                forms.append(None)
            else:
                forms.append(trees.flatten(value, leaves))
            static += [fixed] * (len(leaves) - len(static))
        if binding.plain and not any(forms):
            return super()._call(*leaves)
        if not any(isinstance(leaf, GPUArray) for leaf in leaves):
            return self.plain(*args, **options)
        form = tuple(forms), binding.n, binding.names
        inner = self._forms.get(form)
        if inner is None:
            inner = self._flat_call(form, tuple(static))
        return inner(*leaves)

    def _bind(self, args: tuple[Any, ...], options: dict[str, Any]) -> _Binding:
        """The places of values, from those of marks."""
        bound = self._signature.bind(
            *range(len(args)), **{name: len(args) + i for i, name in enumerate(options)}
        )
        explicit = set(bound.arguments)
        bound.apply_defaults()
        order: list[int] = []
        names: list[str] = []
        static: list[bool] = []
        defaults: list[Any] = []
        n = 0
        for name, parameter in self._signature.parameters.items():
            value = bound.arguments[name]
            if parameter.kind == Parameter.VAR_POSITIONAL:
                order += value
                n += len(value)
            elif parameter.kind == Parameter.VAR_KEYWORD:
                names += value
                order += value.values()
            else:
                if name not in explicit:
                    if parameter.kind == Parameter.KEYWORD_ONLY and type(value) in _LITERALS:
                        continue  # the function has it; so a call without names is one of C's
                    defaults.append(value)
                    value = len(args) + len(options) + len(defaults) - 1
                order.append(value)
                if parameter.kind == Parameter.KEYWORD_ONLY:
                    names.append(name)
                else:
                    n += 1
            static += [name in self._static_names] * (len(order) - len(static))
        plain = not names and n == len(self._is_static)
        return _Binding(tuple(order), n, tuple(names), tuple(static), tuple(defaults), plain)

    def _flat_call(self, form: Any, static: tuple[bool, ...]) -> _FlatCall:
        """The function as one of leaves."""
        forms, n, names = form
        function: Any = self.plain

        def flat(*leaves: Any) -> Any:
            made: list[Any] = []
            remaining = iter(leaves)
            values = [trees.unflatten(f, remaining, made) for f in forms]
            result = function(*values[:n], **dict(zip(names, values[n:], strict=True)))
            for container, labels, items in made:
                if trees.is_changed(container, labels, items):
                    raise Untraceable(
                        f"fuse: the function assigns to items of an argument of type "
                        f"{type(container).__name__}; return the new ones instead, or write to "
                        "the array: a[...] = b"
                    )
            return result

        flat.__name__, flat.__qualname__ = function.__name__, function.__qualname__
        if len(self._forms) >= _MOST:
            self._forms.clear()
        made = _FlatCall.__new__(_FlatCall, flat, static)
        made.__init__(flat, static, function)  # type: ignore[misc]
        self._forms[form] = made
        return made


def _is_static_by_position(parameters: Any, names: tuple[str, ...]) -> tuple[bool, ...]:
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(name in names for name, p in parameters.items() if p.kind in positional)


def _trace(
    function: Callable[..., Any],
    recorder: trace_recorder.Recorder,
    args: tuple[Any, ...],
    static: tuple[bool, ...],
    watched: tuple[Any, ...],
) -> tuple[Any, Any]:
    """(program, results for these arguments)."""
    placeholders = [
        arg if fixed else _placeholder(recorder, i, arg)
        for i, (arg, fixed) in enumerate(zip(args, static, strict=True))
    ]
    with trace_arrays.tracing(recorder):
        result = function(*placeholders)
        results: list[Any] = []
        form = _each_result(result, results.append)
        program, values = recorder.program(results, form, watched)
    remaining = iter(values)
    return program, _each_result(result, lambda _: next(remaining), keep=True)


def _each_result(result: Any, do: Callable[[Any], Any], *, keep: bool = False) -> Any:
    """The containers of a result, with None for each array or number in them, or, if *keep*, with
    what *do* gives for it."""
    if trees.is_container(result):
        names, items = trees.children(result)
        made = tuple(_each_result(x, do, keep=keep) for x in items)
        join = trees.build if keep else trees.result_treedef
        return join(type(result), names, made)
    if not isinstance(result, _RESULTS):
        raise Untraceable(
            f"fuse: the function returns a {type(result).__name__}; it may return arrays, numbers, "
            "and tuples, lists, dicts and dataclasses of them"
        )
    value = do(result)
    return value if keep else None


def _placeholder(recorder: trace_recorder.Recorder, i: int, arg: Any) -> Any:
    """The object that stands for an argument while the function is traced."""
    if isinstance(arg, GPUArray):
        dtypes.code(arg.dtype)
        return recorder.placeholder(i)
    if type(arg) in _NUMBERS or isinstance(arg, np.number):
        return Number(recorder, operator.itemgetter(i), arg)
    return arg


@overload
def fuse(function: Callable[_P, _R], *, static: Iterable[str] = ()) -> Fused[_P, _R]: ...
@overload
def fuse(function: None = None, *, static: Iterable[str] = ()) -> _Decorator: ...
def fuse(function: Any = None, *, static: Iterable[str] = ()) -> Any:
    """Turn a function of arrays into one kernel: ``@pygpu.fuse`` or ``@pygpu.fuse(static="n")``.

    The function runs once for each combination of argument types, with placeholders for its arrays
    and numbers. The operations on them become a kernel. It may use operators, NumPy's ufuncs,
    numpy.where, clip, astype, and reductions as its last step. Arrays of any shapes are broadcast;
    results have NumPy's dtypes and the same bits as without fuse. Arguments and results may be
    tuples, named tuples, lists, dicts and dataclasses of arrays. static: names of arguments that
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
    """Counts of the fusion of plain array code in this process.

    ``watched``: operations that were launched one by one, while chains were looked for;
    ``compiled``: chains that have a kernel; ``deferred``: operations that waited for others;
    ``fused``: launches of such kernels; ``unfused``: operations that waited, and were launched one
    by one after all.
    """
    found = chains.counts()
    del found["mode"]
    return found
