"""Misuse of pygpu.cuda.driver: each piece in its own process may neither crash nor hang.

The pieces print `sound` after a launch that still gives the right numbers.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAD = """
import itertools, os, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import pygpu.cuda.driver as drv
import pygpu.cuda.autoinit
from pygpu.cuda.compiler import SourceModule

module = SourceModule("__global__ void add1(float *a) { a[threadIdx.x] += 1; }")
add1 = module.get_function("add1")

def sound():
    pygpu.cuda.autoinit.context.push()
    a = np.arange(32, dtype=np.float32)
    add1(drv.InOut(a), block=(32, 1, 1), grid=(1, 1))
    assert (a == np.arange(1, 33)).all(), a
    print("sound", flush=True)
"""
JUNK = """
freed = drv.mem_alloc(64)
freed.free()
junk = [None, -1, 2**70, 2**63 - 1, "x", b"", object(), float("nan"), (), [1, "a"], {}, freed,
        np.zeros(0), np.zeros((3, 2), "c16")[::2, ::-1], np.array([object()]), add1, drv, int]
"""
FUZZ = (
    HEAD
    + JUNK
    + """
group = int(sys.argv[1])
bad = []
names = sorted(n for n in dir(drv) if not n.startswith("_") and callable(getattr(drv, n)))
assert len(names) > 140, len(names)
for name in names[group::4]:
    function = getattr(drv, name)
    tries = [()] + [(j,) for j in junk] + [(j, k) for j in junk for k in junk[::3]]
    tries += [(j,) * n for j in junk for n in (3, 4, 5, 8)]
    for values in tries:
        print(name, [type(v).__name__ for v in values], file=sys.stderr, flush=True)
        try:
            function(*values)
        except SystemError as error:
            bad.append((name, repr(error)))
        except Exception as error:
            if not str(error):
                bad.append((name, repr(error)))
assert not bad, bad[:10]
sound()
"""
)
LAUNCH = (
    HEAD
    + JUNK
    + """
live = drv.mem_alloc(64)
add1(live, block=(16, 1, 1), grid=(1, 1), stream=None)  # what the calls below spoil
for value in junk:
    if isinstance(value, int) or value is None:
        continue  # a plain integer is a device address: faults belong to the launch's own tests
    for call in (lambda: add1(value, block=(1, 1, 1)), lambda: add1(live, block=value),
                 lambda: add1(live, block=(1, 1, 1), grid=value),
                 lambda: add1(live, block=(1, 1, 1), stream=value),
                 lambda: add1(block=(1, 1, 1)), lambda: add1(live, live, block=(1, 1, 1)),
                 lambda: add1.prepare(value).prepared_call((1, 1), (1, 1, 1), value, value)):
        try:
            call()
        except Exception as error:
            assert str(error) and not isinstance(error, SystemError), repr(error)
        else:
            raise AssertionError(("accepted", value, call.__code__.co_consts))
sound()
"""
)
THREADS = (
    HEAD
    + """
import threading
pool, stream, failed = drv.DeviceMemoryPool(), drv.Stream(), []

def work(k):
    pygpu.cuda.autoinit.context.push()
    try:
        for _ in range(40):
            a = np.full(32, k, np.float32)
            b = np.empty_like(a)
            p = pool.allocate(a.nbytes)
            drv.memcpy_htod(p, a)
            add1(p, block=(32, 1, 1), stream=stream)
            stream.synchronize()
            drv.memcpy_dtoh(b, p)
            assert (b == k + 1).all(), b
    except BaseException as error:
        failed.append(error)
    finally:
        drv.Context.pop()

threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not failed, failed
sound()
"""
)
PENDING = (
    HEAD
    + """
a, stream = drv.mem_alloc(128), drv.Stream()
sound()
for _ in range(50):
    add1(a, block=(32, 1, 1), stream=stream)
"""
)
FORK = (
    HEAD
    + """
sound()
pid = os.fork()
if not pid:
    try:
        drv.mem_alloc(64)
    except Exception as error:
        os._exit(0 if "fork" in str(error) else 3)
    os._exit(4)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
)


def child(source: str, *args: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", source, *args], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and "sound" in done.stdout, (done.returncode, done.stderr[-1500:])


@pytest.mark.parametrize("group", range(4))
def test_every_name_refuses_junk(group: int) -> None:
    child(FUZZ, str(group))


def test_launches_refuse_junk() -> None:
    child(LAUNCH)


def test_threads_share_a_function_a_stream_and_a_pool() -> None:
    child(THREADS)


def test_exit_with_work_pending() -> None:
    child(PENDING)


def test_a_forked_child_gets_an_exception() -> None:
    child(FORK)
