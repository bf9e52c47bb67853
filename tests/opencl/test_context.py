"""Context: ways to make one, properties, information, lifetime."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

properties = cl.context_properties


def test_from_devices(device):
    for given in ([device], (device,), iter([device]), device, {device}):
        ctx = cl.Context(given)
        assert ctx.devices == [device] and ctx.num_devices == 1
    assert cl.Context(devices=[device], properties=None).devices == [device]
    assert cl.Context([device, device]).num_devices in (1, 2)


def test_from_type(device):
    platform = device.platform
    ctx = cl.Context(
        dev_type=device.type
        & (cl.device_type.CPU | cl.device_type.GPU | cl.device_type.ACCELERATOR),
        properties=[(properties.PLATFORM, platform)],
    )
    assert device in ctx.devices
    ctx = cl.Context(dev_type=cl.device_type.ALL, properties=[(properties.PLATFORM, platform)])
    assert ctx.devices == platform.get_devices()
    assert cl.Context(dev_type=np.uint64(cl.device_type.ALL)).num_devices >= 1


def test_without_anything():
    ctx = cl.Context()
    assert ctx.num_devices >= 1


def test_properties(device):
    platform = device.platform
    ctx = cl.Context([device], properties=[(properties.PLATFORM, platform)])
    assert ctx.properties == [(properties.PLATFORM, platform)]
    assert isinstance(ctx.properties[0][1], cl.Platform)
    assert cl.Context([device], properties=()).devices == [device]


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"devices": []}, ValueError), ({"devices": 3}, TypeError), ({"devices": [3]}, TypeError),
        ({"devices": [None]}, TypeError), ({"devices": "gpu"}, TypeError),
        ({"properties": 3}, TypeError), ({"properties": [3]}, TypeError),
        ({"properties": [(1, 2, 3)]}, TypeError), ({"properties": [(0x1084, 3)]}, TypeError),
        ({"properties": [("a", 3)]}, TypeError), ({"properties": [(1, "b")]}, TypeError),
        ({"properties": [(0x1084, None)]}, TypeError), ({"properties": [(12345, 1)]}, cl.Error),
        ({"properties": [(12345, 2**70)]}, OverflowError),
        ({"properties": [(12345, 1)] * 17}, ValueError), ({"dev_type": "GPU"}, TypeError),
        ({"dev_type": -1}, OverflowError), ({"dev_type": 1 << 20}, cl.Error),
        ({"dev_type": 1.0}, TypeError), ({"flags": 1}, TypeError),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_properties_and_device_types_are_refused(device, kwargs, error, balance):
    with pytest.raises(error):
        cl.Context(**kwargs)


def test_devices_and_type_exclude_each_other(device):
    with pytest.raises(ValueError, match="not both"):
        cl.Context([device], dev_type=cl.device_type.ALL)


def test_devices_of_two_platforms(device):
    others = [d for p in cl.get_platforms() if p != device.platform for d in p.get_devices()]
    if not others:
        pytest.skip("there is only one platform")
    with pytest.raises(cl.Error):
        cl.Context([device, others[0]])


def test_information(device):
    ctx = cl.Context([device])
    assert ctx.reference_count >= 1
    devices = ctx.devices
    devices.clear()  # a list of its own
    assert ctx.devices == [device]
    assert ctx.get_info(cl.context_info.NUM_DEVICES) == 1
    assert ctx.get_info(cl.context_info.DEVICES) == [device]
    assert repr(ctx).startswith("<pygpu.Context at 0x") and repr(device) in repr(ctx)


def test_equality_and_handles(device, balance):
    ctx = cl.Context([device])
    twin = cl.Context.from_int_ptr(ctx.int_ptr)
    assert twin == ctx and hash(twin) == hash(ctx) and twin.devices == [device]
    assert cl.Context([device]) != ctx
    count = twin.reference_count
    del ctx
    gc.collect()
    assert twin.reference_count == count - 1
    cl.Buffer(twin, cl.mem_flags.READ_WRITE, 4)
    for wrong, error in [(0, ValueError), (-1, OverflowError), ("1", TypeError)]:
        with pytest.raises(error):
            cl.Context.from_int_ptr(wrong)
    del twin


def test_objects_made_through_a_twin_belong_together(device):
    ctx = cl.Context([device])
    twin = cl.Context.from_int_ptr(ctx.int_ptr)
    queue, buffer = cl.CommandQueue(ctx), cl.Buffer(twin, cl.mem_flags.READ_WRITE, 4)
    cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 4).wait()


def test_attributes_subclasses_weak_references(device, balance):
    class Named(cl.Context):
        name = "mine"

    ctx = Named([device], cache_dir="somewhere")
    assert (ctx.name, ctx.cache_dir) == ("mine", "somewhere")
    ctx.me = ctx
    gone = weakref.ref(ctx)
    del ctx
    gc.collect()
    assert gone() is None


def test_set_default_queue_refused(device, ctx):
    queue = cl.CommandQueue(ctx)
    with pytest.raises(cl.LogicError):
        ctx.set_default_device_command_queue(device, queue)  # not an on-device queue
    for args in [(), (device,), (queue, device), (None, queue)]:
        with pytest.raises(TypeError):
            ctx.set_default_device_command_queue(*args)


@pytest.mark.parametrize(
    "routine", ["clCreateContext", "clCreateContextFromType", "clGetContextInfo"]
)
def test_failures(device, routine, balance):
    make = (
        (lambda: cl.Context(dev_type=cl.device_type.ALL))
        if "Type" in routine
        else lambda: cl.Context([device])
    )
    for nth in (1, 2) if routine == "clGetContextInfo" else (1,):
        _opencl._fault(routine, -6, nth, 2)
        try:
            with pytest.raises(cl.Error) as caught:
                make()
        finally:
            _opencl._fault(None, 0)
        assert (caught.value.code, caught.value.routine) == (-6, routine)
        del caught
    _opencl._fault(routine, cl.status_code.OUT_OF_HOST_MEMORY, 1, 1)
    try:
        if routine != "clGetContextInfo":
            make()  # tried again
    finally:
        _opencl._fault(None, 0)
