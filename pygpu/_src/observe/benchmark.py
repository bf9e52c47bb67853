"""Times of calls, on the host and on the device."""

from __future__ import annotations

import inspect
import math
import operator
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pygpu._src.runtime.backend import Backend
from pygpu._src.util.public import publish
from pygpu._src.util.wording import counted

from . import text
from .work import Work, current_work, find_work, surroundings

_MOST = 10_000  # the most calls that fit a time limit
_LEAST = 3


class Times:
    """Times of single calls [s], in the array *values*, and their statistics."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @property
    def median(self) -> float:
        return float(np.median(self.values))

    @property
    def least(self) -> float:
        return float(self.values.min())

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def spread(self) -> float:
        """Return the interquartile range of the times, as a fraction of the median."""
        low, high = np.percentile(self.values, (25, 75))
        return float((high - low) / self.median) if self.median else 0.0

    def __repr__(self) -> str:
        return (
            f"{text.seconds(self.median)} (least {text.seconds(self.least)}, "
            f"spread {100 * self.spread:.0f} %)"
        )


class BenchmarkResult:
    """The measurements of :func:`pygpu.benchmark`.

    name: of the function. calls: how many were timed. host: times until the call returned. total:
    times until the device was done. device: times between the start of the first command and the
    end of the last one on the device's own clock; None if that is unknown. where: the devices by
    number.
    """

    def __init__(
        self, name: str, host: Times, total: Times, device: Times | None, where: tuple[str, ...]
    ) -> None:
        self.name = name
        self.host = host
        self.total = total
        self.device = device
        self.where = where

    @property
    def calls(self) -> int:
        return len(self.host.values)

    @property
    def median(self) -> float:
        """Return the median time of a call and its work on the device [s]."""
        return self.total.median

    def _rows(self) -> list[list[str]]:
        rows = []
        for name in ("host", "total", "device"):
            times: Times | None = getattr(self, name)
            if times is None:
                rows.append([name, "unknown", "", ""])
            else:
                numbers = [text.seconds(t) for t in (times.median, times.least)]
                rows.append([name, *numbers, f"{100 * times.spread:.0f} %"])
        return rows

    def _title(self) -> str:
        where = f" on {', '.join(self.where)}" if self.where else ", no work on a device was found"
        return f"{self.name}: {counted(self.calls, 'call')}{where}"

    def __repr__(self) -> str:
        return f"{self._title()}\n{text.table(_HEAD, self._rows())}"

    def _repr_html_(self) -> str:
        return text.html_table(self._title(), _HEAD, self._rows())


_HEAD = ["", "median", "least", "spread"]


def benchmark(
    function: Callable[..., Any],
    /,
    *args: Any,
    repeat: int | None = None,
    warmup: int = 1,
    seconds: float = 0.5,
    queue: Any = None,
    kwargs: Mapping[str, Any] | None = None,
) -> BenchmarkResult:
    """Time ``function(*args, **kwargs)``, waiting for the device after each call.

    repeat: the number of timed calls; None makes as many as take *seconds*, at least three.
    warmup: the number of calls before them, which compile kernels. queue: a queue, stream or array
    (or several) whose work belongs to the call; by default, those of the arguments, of the result,
    and of what the function refers to. Raises TypeError and ValueError for wrong arguments, and
    the function's own exceptions.
    """
    if not callable(function):
        raise TypeError(
            f"benchmark: a function is needed, not {type(function).__name__}; pass the function "
            "and its arguments: benchmark(f, x)"
        )
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError(
            f"benchmark: the body of {function.__name__} does not run when it is called; pass a "
            "function that runs it, such as lambda: asyncio.run(f()) or lambda: list(f())"
        )
    count = None if repeat is None else _count("repeat", repeat, 1)
    warmup = _count("warmup", warmup, 0)
    if not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf:
        raise ValueError(f"benchmark: seconds must be a positive number, not {seconds!r}")
    if not isinstance(kwargs or {}, Mapping):
        raise TypeError(f"benchmark: kwargs must be a dict, not {type(kwargs).__name__}")
    options = dict(kwargs or {})

    def call() -> Any:
        return function(*args, **options)

    result: Any = None
    for _ in range(warmup):
        result = call()
    if queue is not None:
        works = find_work(queue)
        if not works:
            raise TypeError(
                "benchmark: queue must be a queue, a stream, a context, an array or a tuple of "
                f"these, not {type(queue).__name__}"
            )
    else:
        works = find_work(args, options, surroundings(function), result) or current_work()
    result = None
    _wait(works)
    host, total, device = _measure(call, works, count, float(seconds))
    name = getattr(function, "__qualname__", None) or repr(function)
    where = dict.fromkeys(backend.label for backend, _ in works)
    return BenchmarkResult(
        name, Times(host), Times(total), None if device is None else Times(device), tuple(where)
    )


def _count(name: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"benchmark: {name} must be an int, not {type(value).__name__}") from None
    if number < least:
        raise ValueError(f"benchmark: {name} must be at least {least}, not {number}")
    return number


def _wait(works: list[Work]) -> None:
    for backend, queue in works:
        backend.synchronize(queue)


def _measure(
    call: Callable[[], Any], works: list[Work], count: int | None, limit: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    host: list[float] = []
    total: list[float] = []
    device: list[Any] = []
    clock = _clock(works)
    now = time.perf_counter
    begin = now()
    while len(host) < (_MOST if count is None else count):
        first = clock[0]() if clock else None
        start = now()
        kept = call()  # keep the result, or freeing it would count
        returned = now()
        last = clock[0]() if clock else None
        _wait(works)
        done = now()
        del kept
        host.append(returned - start)
        total.append(done - start)
        if clock:
            device.append(clock[1](first, last))
        if count is None and done - begin > limit and len(host) >= _LEAST:
            break
    known = bool(clock) and None not in device
    return np.array(host), np.array(total), np.array(device, float) if known else None


def _clock(works: list[Work]) -> Any:
    """Return an object that marks moments on the device and gives the seconds between two. None if
    there is no such clock: no queue, several queues, or an OpenCL queue without profiling."""
    if len(works) != 1:
        return None
    backend, queue = works[0]
    return _cuda_clock(backend, queue) if backend.name == "cuda" else _opencl_clock(backend, queue)


def _cuda_clock(backend: Backend, queue: Any) -> Any:
    from pygpu import _cuda
    from pygpu._src.runtime.cuda.backend import _current

    def mark() -> Any:
        with _current(backend.context):
            return _cuda.Event().record(queue)

    return mark, lambda first, last: last.time_since(first) * 1e-3


def _opencl_clock(backend: Backend, queue: Any) -> Any:
    from pygpu.constants import command_queue_properties

    if not queue.properties & command_queue_properties.PROFILING_ENABLE:
        return None

    def between(first: Any, last: Any) -> float | None:
        span = (last.profile.end - first.profile.end) * 1e-9
        return span if span >= 0 else None  # some drivers do not time markers

    return lambda: backend.event(queue), between


publish(globals(), ["benchmark"], "pygpu")
publish(globals(), ["BenchmarkResult", "Times"], "pygpu.profiling")
