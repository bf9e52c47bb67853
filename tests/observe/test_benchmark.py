"""pygpu.benchmark(): what is called, what is waited for, and what is told."""

from __future__ import annotations

import functools
import re
import time

import numpy as np
import pytest

import pygpu
from pygpu.profiling import Times


def test_times_of_an_operation(make):
    x = make(np.arange(1000, dtype=np.float32))
    result = pygpu.benchmark(lambda a: a * 2 + 1, x, repeat=5)
    assert result.calls == 5
    assert (result.total.values >= result.host.values).all()
    assert 0 < result.total.least <= result.median
    assert result.where == (x.backend.label,)
    assert x.backend.label in repr(result) and "median" in result._repr_html_()


def test_device_time_where_the_queue_keeps_times(make):
    x = make(np.arange(1000, dtype=np.float32))
    result = pygpu.benchmark(np.negative, x, repeat=3)
    if make.name == "cuda":
        assert (result.device.values >= 0).all()
        assert result.device.least <= result.total.values.max()
    else:  # a queue without PROFILING_ENABLE
        assert result.device is None and "unknown" in repr(result)


def test_device_time_of_a_profiling_queue(queue):
    import pygpu.array

    x = pygpu.array.to_device(queue, np.zeros(1 << 16, np.float32))
    result = pygpu.benchmark(lambda: x + 1, repeat=3, warmup=2)
    assert result.device is not None and 0 <= result.device.median < 1


def test_calls_are_counted():
    calls = []
    result = pygpu.benchmark(calls.append, 1, repeat=4, warmup=2)
    assert len(calls) == 6 and result.calls == 4
    pygpu.benchmark(calls.append, 1, repeat=1, warmup=0)
    assert len(calls) == 7


def test_seconds_limit_the_calls():
    result = pygpu.benchmark(time.sleep, 0.01, seconds=0.05)
    assert 3 <= result.calls <= 6
    assert result.median >= 0.01


def test_keywords_of_the_function():
    seen = []
    pygpu.benchmark(
        lambda a, *, repeat: seen.append((a, repeat)), 1, kwargs={"repeat": 2}, repeat=1
    )
    assert seen == [(1, 2)] * 2


def test_work_is_found_around_the_function(make):
    x = make(np.arange(10, dtype=np.float32))
    label = x.backend.label
    for function in (lambda: x + 1, functools.partial(np.add, x, 1), x.copy):
        assert pygpu.benchmark(function, repeat=1).where == (label,)
    inside = {"a": [(x,)]}
    assert pygpu.benchmark(len, inside, repeat=1).where == (label,)


def test_one_call_is_in_the_singular():
    assert re.search(r": 1 call\b", repr(pygpu.benchmark(len, [], repeat=1)))


def test_the_host_alone():
    result = pygpu.benchmark(len, [], repeat=3, queue=None)
    assert result.where in ((), ("cuda:0",)) and result.host.least >= 0


def test_statistics():
    times = Times(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert (times.median, times.least, times.mean, times.spread) == (3, 1, 3, 2 / 3)
    assert repr(times) == "3 s (least 1 s, spread 67 %)"


def test_what_the_function_raises():
    with pytest.raises(ZeroDivisionError):
        pygpu.benchmark(lambda: 1 / 0)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"repeat": 0}, ValueError),
        ({"repeat": 1.5}, TypeError),
        ({"warmup": -1}, ValueError),
        ({"seconds": 0}, ValueError),
        ({"seconds": float("nan")}, ValueError),
        ({"seconds": "1"}, ValueError),
        ({"queue": 5}, TypeError),
        ({"kwargs": 5}, TypeError),
    ],
)
def test_wrong_arguments(options, error):
    with pytest.raises(error, match=f"benchmark: {next(iter(options))} must"):
        pygpu.benchmark(len, [], **options)


def test_a_result_in_place_of_a_function():
    with pytest.raises(TypeError, match=r"a function is needed, not int; .*benchmark\(f, x\)"):
        pygpu.benchmark(3)
