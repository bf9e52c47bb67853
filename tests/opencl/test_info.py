"""Every information property: its type, that get_info agrees, that only LogicError refuses."""

from __future__ import annotations

import re

import numpy as np
import pytest
from opencl.memory_helpers import quiet

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
DOC = re.compile(r"^([\w\[\], ]+): .*\(((?:CL_)\w+)\)$", re.DOTALL)

TYPES = {
    "str": str, "bool": bool, "int": int, "bytes": bytes, "Platform": cl.Platform,
    "Device": cl.Device, "Context": cl.Context, "CommandQueue": cl.CommandQueue,
    "Program": cl.Program, "MemoryObject": cl.MemoryObject, "ImageFormat": cl.ImageFormat,
}  # fmt: skip


def info_rows(cls):
    """(attribute, type in words, number of the query) of the class's information properties."""
    for base in cls.__mro__:
        for name, attribute in vars(base).items():
            match = (
                DOC.match(getattr(attribute, "__doc__", None) or "")
                if hasattr(attribute, "__get__")
                else None
            )
            if match:
                yield name, match[1], match[2]


def number_of(cl_name):
    """CL_DEVICE_NAME by way of the constant classes; None if they do not name it."""
    for prefix, cls in PREFIXES:
        if cl_name.startswith(prefix):
            value = getattr(cls, cl_name[len(prefix) :], None)
            if value is not None:
                return value
    return None


PREFIXES = [
    ("CL_PLATFORM_", cl.platform_info), ("CL_DEVICE_", cl.device_info),
    ("CL_CONTEXT_", cl.context_info), ("CL_QUEUE_", cl.command_queue_info),
    ("CL_EVENT_", cl.event_info), ("CL_PROFILING_COMMAND_", cl.profiling_info),
    ("CL_MEM_", cl.mem_info), ("CL_PROGRAM_", cl.program_info), ("CL_KERNEL_", cl.kernel_info),
]  # fmt: skip


def matches(value, words):
    if words.startswith("list["):
        inside = words[5:-1]
        return isinstance(value, list) and all(matches(v, inside) for v in value)
    if words == "NameVersion":
        return (
            type(value).__name__ == "NameVersion"
            and isinstance(value.version, int)
            and isinstance(value.name, str)
        )
    if words == "object":
        return True
    if words == "int":  # flags and other constants are ints with a repr of their own
        return isinstance(value, int) and not isinstance(value, bool)
    return type(value) is TYPES[words] or (
        words not in ("str", "bool", "bytes") and isinstance(value, TYPES[words])
    )


def make(kind, device, ctx):
    queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    program = cl.Program(ctx, "__kernel void f(__global int *a) { *a = 1; }").build()
    if kind == "Profile":
        event = cl.enqueue_marker(queue)
        event.wait()
        return event.profile
    return {
        "Platform": lambda: device.platform,
        "Device": lambda: device,
        "Context": lambda: ctx,
        "CommandQueue": lambda: queue,
        "Event": lambda: cl.enqueue_marker(queue),
        "UserEvent": lambda: cl.UserEvent(ctx),
        "Buffer": lambda: cl.Buffer(ctx, mf.READ_WRITE, 64),
        "Buffer in place": lambda: cl.Buffer(
            ctx, mf.READ_WRITE | mf.USE_HOST_PTR, hostbuf=np.zeros(64, np.uint8)
        ),
        "region": lambda: cl.Buffer(ctx, mf.READ_WRITE, 1 << 16)[: 1 << 10],
        "Program": lambda: program,
        "Kernel": lambda: program.f,
    }[kind]()


KINDS = [
    "Platform",
    "Device",
    "Context",
    "CommandQueue",
    "Event",
    "UserEvent",
    "Profile",
    "Buffer",
    "Buffer in place",
    "region",
    "Program",
    "Kernel",
]
CHANGING = {"reference_count", "command_execution_status"}
NOT_PLAIN = {"properties"}  # of a context: pairs with objects


@pytest.mark.parametrize("kind", KINDS)
def test_every_property(device, ctx, kind):
    subject = make(kind, device, ctx)
    rows = list(info_rows(type(subject)))
    assert len(rows) >= {"Device": 100, "Platform": 8, "Profile": 5}.get(kind, 5)
    answered = 0
    for name, words, cl_name in rows:
        try:
            value = getattr(subject, name)
        except cl.LogicError as error:
            # Intel's runtime answers with objects that are gone already.
            gone = error.routine.startswith("clRetain")
            assert error.code < 0
            assert gone or (error.routine.startswith("clGet") and name in str(error))
            continue
        except cl.RuntimeError as error:
            assert error.code == cl.status_code.PROFILING_INFO_NOT_AVAILABLE
            continue
        answered += 1
        assert (
            value is None or (kind == "Context" and name in NOT_PLAIN) or matches(value, words)
        ), (name, words, value)
        number = number_of(cl_name)
        if number is not None and hasattr(subject, "get_info") and name not in CHANGING:
            assert subject.get_info(number) == value, name
            assert subject.get_info(np.uint32(number)) == value, name
    assert answered >= 3


def test_the_properties_of_devices_are_the_constants_of_device_info():
    """So that a query which is added has both."""
    rows = {cl_name for _, _, cl_name in info_rows(cl.Device)}
    named = {f"CL_DEVICE_{name}" for name in cl.device_info._members()}
    assert len(rows & named) > 100


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "Profile"])
def test_get_info_refuses(device, ctx, kind):
    subject = make(kind, device, ctx)
    for wrong, error in [
        ("NAME", TypeError),
        (None, TypeError),
        (1.0, TypeError),
        (-1, OverflowError),
        (2**32, OverflowError),
        (2**70, OverflowError),
    ]:
        with pytest.raises(error, match="param"):
            subject.get_info(wrong)
    with pytest.raises(cl.LogicError) as caught:
        subject.get_info(0x7FFF)
    assert (
        "0x7fff" in str(caught.value).lower() or caught.value.code == cl.status_code.INVALID_VALUE
    )
    for args in [(), (1, 2)]:
        with pytest.raises(TypeError):
            subject.get_info(*args)


@pytest.mark.parametrize(
    ("kind", "routine"),
    [
        ("Platform", "clGetPlatformInfo"),
        ("Device", "clGetDeviceInfo"),
        ("Context", "clGetContextInfo"),
        ("CommandQueue", "clGetCommandQueueInfo"),
        ("Event", "clGetEventInfo"),
        ("Buffer", "clGetMemObjectInfo"),
        ("Program", "clGetProgramInfo"),
        ("Kernel", "clGetKernelInfo"),
    ],
)
def test_failures(device, ctx, kind, routine):
    subject = make(kind, device, ctx)
    name = "name" if kind in ("Platform", "Device") else "reference_count"
    for nth in (1, 2):
        quiet()
        _opencl._fault(routine, cl.status_code.OUT_OF_HOST_MEMORY, nth)
        try:
            with pytest.raises(cl.Error) as caught:
                getattr(subject, name)
        finally:
            _opencl._fault(None, 0)
        assert caught.value.routine == routine and name in str(caught.value)


def test_profiling_properties_and_numbers(ctx):
    queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    event = cl.enqueue_marker(queue)
    event.wait()
    for name in ("queued", "submit", "start", "end"):
        assert getattr(event.profile, name) == event.get_profiling_info(
            getattr(cl.profiling_info, name.upper())
        )
    with pytest.raises(cl.LogicError):
        event.get_profiling_info(0x7FFF)
    with pytest.raises(TypeError):
        event.get_profiling_info("end")
