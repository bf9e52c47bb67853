"""Wrong kinds of arguments of pygpu.array and its neighbours: the message names what was wrong."""

from __future__ import annotations

import numpy as np
import pytest

from pygpu import array as cl_array
from pygpu import array_kernels, clmath, clrandom, tools


def hex_of(value):
    return str(value)[:6]


@pytest.fixture
def x(opencl):
    return opencl.array(np.arange(6, dtype=np.float32))


@pytest.mark.parametrize("queue", [True, 5, "a", [1], np.zeros(2)], ids=repr)
def test_queues(x, queue):
    with pytest.raises(TypeError, match="queue must be a CommandQueue, not"):
        clmath.sin(x, queue=queue)


def test_a_context_is_no_queue(opencl, x):
    with pytest.raises(TypeError, match="queue must be a CommandQueue, not Context"):
        clmath.sin(x, queue=opencl.context)


@pytest.mark.parametrize("event", [None, 5, np.zeros(3), object()], ids=lambda e: type(e).__name__)
def test_events(x, event):
    with pytest.raises(TypeError, match="add_event: evt must be an Event, not"):
        x.add_event(event)
    assert (x + 1).get()[0] == 1


@pytest.mark.parametrize("name", ["sum", "max", "any", "mean", "std", "squeeze"])
@pytest.mark.parametrize("axis", [object(), 1.5], ids=["object", "float"])
def test_axes(x, name, axis):
    with pytest.raises(TypeError, match=r"axis must be None, an int or a tuple of ints, not \w+"):
        getattr(x, name)(axis)


@pytest.mark.parametrize("axis", [1 << 63, -(1 << 63) - 1, 1 << 200, 5, (0, 1 << 64)], ids=hex_of)
def test_axes_that_are_not_there(x, axis):
    """Also after the same reduction over the last axis, which is remembered."""
    for name in ("max", "sum"):
        assert getattr(x, name)(axis=-1).get() == getattr(np.arange(6), name)()
        with pytest.raises(ValueError, match="axis"):
            getattr(x, name)(axis=axis)


def test_arrays(x):
    for call in ("sum", "any", "all"):
        with pytest.raises(TypeError, match=f"^{call}: needs an array on the device, not str"):
            getattr(cl_array, call)("a")
    for call in ("dot", "vdot"):
        with pytest.raises(TypeError, match=f"^{call}: needs an array on the device, not ndarray"):
            getattr(cl_array, call)(x, np.zeros(6), slice=slice(2))
    with pytest.raises(TypeError, match="^take: needs an array on the device, not list"):
        cl_array.take([1, 2], x)
    for call in ("concatenate", "stack", "hstack"):
        with pytest.raises(TypeError, match=f"^{call}: needs a sequence of arrays, not float"):
            getattr(cl_array, call)(1.5)
        with pytest.raises(TypeError, match=f"^{call}: needs an array on the device, not int"):
            getattr(cl_array, call)([x, 3])
        with pytest.raises(ValueError, match="at least one array"):
            getattr(cl_array, call)([])
    with pytest.raises(ValueError, match="at least one array"):
        cl_array.concatenate([], allocator=tools.ImmediateAllocator(x.queue))
    with pytest.raises(TypeError, match="fill_rand: result must be an array"):
        clrandom.fill_rand(np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="view: the items of the new dtype have no bytes"):
        x.view(np.dtype("V0"))


def test_others(opencl):
    with pytest.raises(TypeError, match="splay: device must be a Device, not Context"):
        array_kernels.splay(opencl.context, 5)
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        tools.bitlog2({})
