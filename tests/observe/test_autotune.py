"""@pygpu.autotune: which configuration is chosen, what trials leave behind, what is kept."""

from __future__ import annotations

import logging
import math
import os
import pickle
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import pygpu
from pygpu import errors
from pygpu._src.observe import autotune as module
from pygpu._src.runtime import disk_cache


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where results are kept. The kernels' own cache is left alone, which saves compilations."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(module, "_folder", lambda: folder)
    return folder


@pygpu.kernel
def scale(x, n, factor):
    i = pygpu.grid(1)
    if i < n:
        x[i] = x[i] * factor


def sleeper(calls):
    """A function for which 2 ms are faster than 10 and 20."""

    def work(x=None, *, ms):
        calls.append(ms)
        time.sleep(ms * 1e-3)
        return x

    return work


@pygpu.autotune({"block": [32]}, cache=False)
@pygpu.kernel
def named(x):
    x[pygpu.grid(1)] = 1


CONFIGS = [{"ms": 10}, {"ms": 2}, {"ms": 20}]


def test_the_fastest_is_chosen():
    calls = []
    tuned = pygpu.autotune(CONFIGS, cache=False)(sleeper(calls))
    assert tuned("a") == "a"
    assert {*calls} == {10, 2, 20} and calls[-1] == 2
    found = tuned.best("a")
    assert found.config == {"ms": 2} and not found.from_disk
    assert np.argmin(found.times) == 1 and found.times[0] >= 0.010
    before = len(calls)
    tuned("b")
    assert calls[before:] == [2]


def test_a_kernel_in_place_is_as_if_called_once(make):
    x = make(np.arange(100, dtype=np.float32))
    tuned = pygpu.autotune({"block": [16, 32]}, seconds=1e-3)(scale)
    tuned(x, 100, 2.0, grid=lambda config: math.ceil(100 / config["block"]))
    assert (x.get() == np.arange(100) * 2).all()
    tuned.forall(100)(x, 100, 3.0)
    assert (x.get() == np.arange(100) * 6).all()
    assert len(tuned.results) == 1
    (found,) = tuned.results.values()
    assert found.config["block"] in (16, 32) and len(found.times) == 2
    assert "2 configurations" in repr(tuned)


def test_arguments_of_a_kernel_in_configurations(make):
    x = make(np.ones(8, np.float32))
    tuned = pygpu.autotune([{"block": 8, "grid": 1, "factor": 5.0}], seconds=1e-3)(scale)
    tuned(x, 8)
    assert (x.get() == 5).all()


def test_everything_written_is_restored(make):
    """Views, memory of others, host arrays, containers."""
    base = make(np.arange(12, dtype=np.int32))
    host, frozen = np.arange(3), np.arange(3)
    frozen.flags.writeable = False

    @pygpu.autotune([{"k": 1}, {"k": 2}], seconds=1e-3, cache=False)
    def work(view, rest, host, frozen, *, k):
        view += k
        rest["more"][0][:2] = -k
        host += k

    work(base[::3], {"more": [base[1:3]]}, host, frozen)
    k = next(iter(work.results.values())).config["k"]
    wanted = np.arange(12)
    wanted[::3] += k
    wanted[1:3] = -k
    assert (base.get() == wanted).all()
    assert (host == np.arange(3) + k).all()


def test_buffers_are_restored(queue):
    x = np.arange(5, dtype=np.int32)
    flags = pygpu.mem_flags
    buffer = pygpu.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=x)
    source = "kernel void inc(global int *x) { x[get_global_id(0)] += 1; }"
    program = pygpu.Program(queue.context, source).build()

    @pygpu.autotune({"size": [1, 5]}, seconds=1e-3)
    def inc(queue, buffer, *, size):
        program.inc(queue, (5,), (size,), buffer)

    inc(queue, buffer)
    out = np.empty_like(x)
    pygpu.enqueue_copy(queue, out, buffer)
    assert (out == x + 1).all()

    @pygpu.autotune([{"size": 1}])
    def hidden(buffer, *, size):
        raise AssertionError("not reached")

    with pytest.raises(TypeError, match="no queue is known"):
        hidden(buffer)


def test_allocations_are_restored(cuda_context):
    from pygpu.cuda import driver
    from pygpu.cuda.compiler import SourceModule

    cuda_context.push()
    try:
        source = "__global__ void inc(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }"
        kernel = SourceModule(source).get_function("inc")
        x = np.arange(4, dtype=np.int32)
        memory = driver.to_device(x)

        @pygpu.autotune([{"block": 2}, {"block": 4}], seconds=1e-3)
        def inc(memory, host, *, block):
            kernel(memory, block=(block, 1, 1), grid=(4 // block,))
            kernel(host, block=(block, 1, 1), grid=(4 // block,))

        inc(memory, driver.InOut(x))
        assert (driver.from_device_like(memory, x) == np.arange(4) + 1).all()
        assert (x == np.arange(4) + 1).all()
    finally:
        type(cuda_context).pop()


def test_restore_names_what_is_written(make):
    a, b = make(np.zeros(4)), make(np.zeros(4))

    @pygpu.autotune([{"k": 1}, {"k": 2}], restore="a", seconds=1e-3, cache=False)
    def work(a, b, *, k):
        a += 1
        b += 1

    work(a, b)
    assert (a.get() == 1).all() and (b.get() > 1).all()


def test_values_in_the_key(make):
    calls = []

    @pygpu.autotune([{"k": 1}, {"k": 2}], key=["n", "x"], seconds=1e-3)
    def work(x, n=3, *, k):
        calls.append(n)

    x = make(np.zeros(4, np.float32))
    work(x, 1)
    assert len(work.results) == 1
    work(x, n=1)
    work(x, 2)
    work(x)
    assert len(work.results) == 3 or len(work.results) == 4  # by place and by name
    before = len(calls)
    work(x, 1)
    assert len(calls) == before + 1
    work(make(np.zeros(5, np.float32)), 1)
    assert len(calls) > before + 4
    with pytest.raises(TypeError, match="cannot be part of a key"):
        work(x, object())


def test_types_are_always_in_the_key(make):
    @pygpu.autotune([{"k": 1}], seconds=1e-3)
    def work(x, *, k):
        return x + k

    for dtype in (np.float32, np.int32):
        work(make(np.zeros(4, dtype)))
    work(make(np.zeros((2, 2), np.float32)))
    assert len(work.results) == 3


def test_a_configuration_that_fails_is_left_out(make, caplog):
    caplog.set_level(logging.INFO, "pygpu")
    x = make(np.ones(4, np.float32))

    @pygpu.autotune([{"k": 0}, {"k": 2}], seconds=1e-3)
    def work(x, *, k):
        x *= 3
        return 1 // k

    work(x)
    (found,) = work.results.values()
    assert found.config == {"k": 2} and math.isnan(found.times[0])
    assert (x.get() == 3).all()
    said = [r.getMessage() for r in caplog.records]
    assert any(re.search(r"{'k': 0} failed: .*division.* by zero", text) for text in said)


def test_all_fail(make):
    x = make(np.ones(4, np.float32))

    @pygpu.autotune([{"k": 1}, {"k": 2}])
    def alike(x, *, k):
        x *= 3
        raise KeyError("missing")

    with pytest.raises(KeyError, match="missing") as caught:
        alike(x)
    assert "none of the 2 configurations of alike works" in caught.value.__notes__[0]
    assert (x.get() == 1).all()

    @pygpu.autotune([{"k": 1}, {"k": 2}])
    def different(x, *, k):
        raise ValueError(f"{k} is wrong")

    with pytest.raises(RuntimeError, match=r"(?s)none of the 2.*1 is wrong.*2 is wrong"):
        different(x)
    assert different.results == {}


def test_blocks_that_a_device_does_not_have(make):
    x = make(np.ones(4, np.float32))
    tuned = pygpu.autotune({"block": [1 << 24, 4]}, seconds=1e-3)(scale)
    tuned.forall(4)(x, 4, 2.0)
    assert (x.get() == 2).all()
    assert next(iter(tuned.results.values())).config == {"block": 4}
    tuned = pygpu.autotune({"block": [1 << 24]})(scale)
    with pytest.raises((errors.LogicError, ValueError)):
        tuned.forall(4)(x, 4, 2.0)
    assert (x.get() == 2).all()


def test_interruption_restores(make):
    x = make(np.ones(4, np.float32))

    @pygpu.autotune([{"k": 1}, {"k": 2}])
    def work(x, *, k):
        x += 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work(x)
    assert (x.get() == 1).all() and work.results == {}


def test_threads_try_once():
    calls = []
    tuned = pygpu.autotune(CONFIGS, seconds=1e-3, cache=False)(sleeper(calls))
    threads = [threading.Thread(target=tuned) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls.count(20) == 5  # one to compile, one to estimate, three timed


def test_nested(make):
    @pygpu.autotune([{"k": 1}, {"k": 2}], seconds=1e-3, cache=False)
    def inner(x, *, k):
        x += 1

    @pygpu.autotune([{"m": 1}, {"m": 2}], seconds=1e-3, cache=False)
    def outer(x, *, m):
        inner(x)

    x = make(np.zeros(4))
    outer(x)
    assert (x.get() == 1).all()


def test_methods():
    class Model:
        @pygpu.autotune([{"k": 1}], cache=False)
        def step(self, a, *, k):
            return a + k

    assert Model().step(2) == 3
    assert isinstance(Model.step, pygpu.profiling.Autotuned)


# ---- on disk

PROGRAM = """
import pygpu
queue = pygpu.CommandQueue(pygpu.create_some_context(interactive=False))
calls = []
@pygpu.autotune([{"k": 1}, {"k": 2}], seconds=1e-3)
def work(queue, *, k):
    calls.append(k)
work(queue)
print(len(calls), next(iter(work.results.values())).config)
"""


def test_another_process_reads_it(device, tmp_path, folder):
    path = Path(tmp_path, "program.py")
    path.write_text(PROGRAM)

    def run(**more):
        done = subprocess.run(
            [sys.executable, "-P", path],
            capture_output=True,
            text=True,
            env={**os.environ, "PYGPU_CACHE_DIR": str(folder), **more},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split(" ", 1)

    first = run()
    assert int(first[0]) > 1
    assert run() == ["1", first[1]]
    assert int(run(PYGPU_NO_CACHE="1")[0]) > 1
    path.write_text(PROGRAM.replace("append(k)", "append(k) "))
    assert int(run()[0]) > 1  # another text


def test_what_is_on_disk_is_checked(make, folder):
    x = make(np.zeros(4, np.float32))

    def tuned():
        @pygpu.autotune([{"k": 1}, {"k": 2}], seconds=1e-3)
        def work(x, *, k):
            pass

        return work

    assert not tuned().best(x).from_disk
    assert tuned().best(x).from_disk
    (path,) = folder.glob("??/*.program")
    entries = disk_cache.Entries(folder)
    for facts in ({}, {"autotune": "autotune 1", "best": 5, "times": [1, 2]},
                  {"autotune": "autotune 1", "best": 0, "times": "x"},
                  {"autotune": "autotune 1", "best": None, "times": [1, 2]}):  # fmt: skip
        entries.write(path.stem, b"", facts)
        assert not tuned().best(x).from_disk
        assert tuned().best(x).from_disk


# ---- wrong arguments


@pytest.mark.parametrize(
    "configs, options, error",
    [
        ([], {}, (ValueError, "configs is empty")),
        ({}, {}, (TypeError, "takes|must|")),
        ({"k": []}, {}, (ValueError, "configs is empty")),
        ({"k": 3}, {}, (TypeError, r"configs\['k'\] must be the values")),
        ("abc", {}, (TypeError, "configs must be a list of dicts")),
        (3, {}, (TypeError, "configs must be a list of dicts")),
        ([3], {}, (TypeError, r"configs\[0\] must be a dict")),
        ([{1: 2}], {}, (TypeError, r"configs\[0\] must be a dict")),
        ([{"z": 1}], {}, (ValueError, "sets 'z', which is not a parameter of work")),
        ([{"k": 1}], {"key": "y"}, (ValueError, "key names 'y'")),
        ([{"k": 1}], {"restore": "y"}, (ValueError, "restore names 'y'")),
        ([{"k": 1}], {"key": 3}, (TypeError, "autotune: key must be a sequence, not int")),
        ([{"k": 1}], {"restore": [3]}, (TypeError, "autotune: restore must contain names, not 3")),
        ([{"k": 1}], {"seconds": 0}, (ValueError, "seconds must be")),
    ],
)
def test_wrong_options(configs, options, error):
    def work(x, *, k):
        pass

    if configs == {}:
        pygpu.autotune(configs)(work)  # one configuration, of nothing
        return
    with pytest.raises(error[0], match=error[1]):
        pygpu.autotune(configs, **options)(work)


def test_pickles_by_name():
    assert pickle.loads(pickle.dumps(named)) is named
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(pygpu.autotune(CONFIGS)(sleeper([])))


def test_wrong_functions():
    with pytest.raises(TypeError, match="pass a function or kernel, not int"):
        pygpu.autotune([{"k": 1}])(3)
    with pytest.raises(ValueError, match="does not set 'block'"):
        pygpu.autotune([{"factor": 1}])(scale)
    with pytest.raises(TypeError, match="only kernels have this method"):
        pygpu.autotune([{"ms": 1}])(sleeper([])).forall(4)
    with pytest.raises(ValueError, match="n must not be negative, not -1"):
        pygpu.autotune([{"block": 1}])(scale).forall(-1)
