"""Messages between Dask's workers do not wait for the task that runs, and are not overtaken."""

from __future__ import annotations

import threading

import numpy as np
import pytest

pytest.importorskip("distributed", reason="distributed is not installed")

import pygpu.cuda.driver as cuda  # noqa: E402
from pygpu import _cuda, xp  # noqa: E402
from pygpu._src.interop import dask_messages as messages  # noqa: E402
from pygpu.cuda.compiler import SourceModule  # noqa: E402

# Writes value to x[0] and x[1] once the host has set the flag, or after n reads of it.
SLOW = """
__global__ void slow(float *x, float value, volatile int *flag, long long n)
{
    for (long long i = 0; i < n && *flag == 0; i++)
        ;
    x[0] = x[1] = value;
}
"""


class Slow:
    """A kernel on the default stream that runs until go()."""

    def __init__(self):
        self._kernel = SourceModule(SLOW).get_function("slow")
        self._flag = cuda.pagelocked_empty(1, np.int32)
        self._reads = np.int64(1 << 34 if _cuda._is_simulator() else 1 << 21)  # seconds

    def __call__(self, x, value):
        self._flag[0] = 0
        address = np.uint64(self._flag.ctypes.data)  # the device sees it at the same address
        arguments = x.gpudata, np.float32(value), address, self._reads
        self._kernel(*arguments, block=(1, 1, 1), grid=(1, 1))
        return cuda.Event().record()

    def go(self, after=0.0):
        threading.Timer(after, self._flag.fill, (1,)).start()


@pytest.fixture(scope="module")
def slow():
    with xp.Device("cuda"):
        made = Slow()
        yield made
        made.go()
        cuda.Context.synchronize()


@pytest.fixture
def here():
    place = xp.Device("cuda")
    before = xp.set_default_device(place)
    with place:
        yield place
    xp.set_default_device(before)


@pytest.mark.parametrize("reused", [False, True])
def test_what_a_task_has_computed_is_sent_while_the_next_runs(slow, here, reused):
    scratch, before = xp.ones(2, dtype=xp.float32), xp.ones(6, dtype=xp.float32)
    address = int(before.gpudata)
    if reused:  # by an array that takes the block of one that the default stream has used
        del before
    result = xp.full((2, 3), 4, dtype=xp.float32)
    assert (int(result.gpudata) == address) is reused  # else this tests nothing
    cuda.Context.synchronize()
    messages.mark_complete(messages.arrays_in({"result": [(result, 1)]}), here)
    done = slow(scratch, 5)
    _, (frame,) = messages._serialize(result)
    assert not done.query()
    assert np.frombuffer(frame, "f").tolist() == [4] * 6
    slow.go()
    done.synchronize()


def test_what_is_not_known_to_be_complete_is_waited_for(slow, here):
    x = xp.ones(2, dtype=xp.float32)
    slow(x, 7)
    slow.go(after=0.1)
    _, (frame,) = messages._serialize(x)
    assert np.frombuffer(frame, "f").tolist() == [7, 7]


@pytest.mark.parametrize("order", ["C", "F"])
def test_receiving_does_not_wait_but_what_uses_it_does(slow, here, order):
    host = np.asarray(np.arange(6, dtype="f").reshape(2, 3), order=order)
    scratch = xp.ones(2, dtype=xp.float32)
    header, frames = messages._serialize(here.put(host))
    done = slow(scratch, 5)
    received = messages._deserialize(header, frames)
    assert not done.query()
    slow.go()
    assert received.shape == (2, 3) and (received + 1).get().tolist() == (host + 1).tolist()


@pytest.mark.parametrize("staged", [True, False])
def test_memory_that_a_kernel_still_writes_to(slow, here, staged, monkeypatch):
    """The pool hands out the block again at once: what was received must come after the kernel."""
    monkeypatch.setattr(messages, "STAGED", messages.STAGED if staged else 0)
    host = np.array([1, 2], "f")
    x = xp.zeros(2, dtype=xp.float32)
    address = int(x.gpudata)
    slow(x, 5)
    slow.go(after=0.1)
    del x
    y = messages._put(host)
    assert int(y.gpudata) == address  # else this tests nothing
    assert y.get().tolist() == [1, 2]


def test_which_arrays_are_marked(here):
    ours, theirs = xp.ones(2), xp.ones(2, device="opencl")
    found = messages.arrays_in({"a": [ours, (theirs, "text")], "b": {"c": 1}})
    assert [id(x) for x in found] == [id(ours), id(theirs)]
    messages.mark_complete(found, here)
    assert ours._complete and not hasattr(theirs, "_complete")
    assert not hasattr(ours + 1, "_complete") and not hasattr(ours[:1], "_complete")
    deep = [[[[[ours]]]]]
    assert messages.arrays_in(deep) == messages.arrays_in([ours] * 1001) == []  # it waits then
