"""Sharing with OpenGL, on the library gl_shim.c: python gl_cases.py CASE

Each case runs in a process of its own, with PYGPU_OPENCL_LIBRARY naming the shim; test_gl.py starts
them. A case is a function; it fails by an exception, and may leave no handle behind.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from opencl.gl_helpers import (
    GL,
    KEYS,
    MF,
    all_released,
    first_device,
    first_platform,
    hooks,
    refused,
    shim,
    some_context,
)

import pygpu as cl

TEXTURE_2D, TEXTURE_3D = 0x0DE1, 0x806F
N = 64

SOURCE = """
kernel void add1(global float *x) { x[get_global_id(0)] += 1; }
kernel void paint(write_only image2d_t image)
{ write_imagef(image, (int2)(get_global_id(0), get_global_id(1)), (float4)(1, 0, 1, 0)); }
"""


# ---- what there is ------------------------------------------------------------------------------


def devices_with_the_extension() -> None:
    assert cl.have_gl() is True
    assert "cl_khr_gl_sharing" in first_device().extensions.split()


def an_extension_of_a_similar_name() -> None:
    """GL_SHIM_EXTENSION is cl_khr_gl_sharing2."""
    assert cl.have_gl() is False
    device = first_device()
    context = cl.Context([device])
    lacks = "lacks the extension cl_khr_gl_sharing,"
    with refused(lacks, device.name):
        cl.GLBuffer(context, MF.READ_WRITE, 1)
    with refused(lacks, device.name):
        cl.Context([device], properties=GL)
    with refused(lacks, device.platform.name):
        cl.Context(properties=GL)
    with refused(lacks, device.platform.name):
        cl.get_gl_context_info_khr(GL, 0x2006, device.platform)
    with refused(lacks):
        cl.get_gl_context_info_khr(GL, 0x2006)


def apples_extension() -> None:
    """GL_SHIM_EXTENSION is cl_APPLE_gl_sharing."""
    assert cl.have_gl() is True
    group = [(KEYS.CONTEXT_PROPERTY_USE_CGL_SHAREGROUP_APPLE, 0x77)]
    context = cl.Context(properties=group, devices=[])
    assert shim.notes() == ["property 0x10000000=0x77", "no devices"]
    assert len(context.devices) == 1
    assert cl.GLBuffer(context, MF.READ_WRITE, 1).gl_object == 1
    with refused("devices is empty"):
        cl.Context(properties=GL, devices=[])
    with refused("devices is empty"):
        cl.Context(devices=[])


def contexts() -> None:
    platform = first_platform()
    [device, *_] = platform.get_devices()
    noted = ["property 0x2008=0x1234", "property 0x200a=0x5678"]
    plain = [(KEYS.PLATFORM, platform)]
    pointer = ctypes.cast(0x1234, ctypes.POINTER(ctypes.c_int))
    pointers = [(KEYS.GL_CONTEXT_KHR, pointer), (KEYS.GLX_DISPLAY_KHR, ctypes.c_void_p(0x5678))]
    for properties in (GL, plain + GL, GL + plain, pointers, tuple(GL), iter(GL)):
        shim.notes()
        context = cl.Context([device], properties=properties)
        assert shim.notes() == noted
        assert context.devices == [device]
    for properties in (GL, plain + GL):
        context = cl.Context(properties=properties)
        assert shim.notes() == noted
        assert context.devices[0].platform == platform
    high = 2**64 - 16  # Windows' handles may be negative
    cl.Context([device], properties=[(KEYS.GL_CONTEXT_KHR, high), (KEYS.WGL_HDC_KHR, 5)])
    assert shim.notes() == ["property 0x2008=0xfffffffffffffff0", "property 0x200b=0x5"]


def contexts_refused() -> None:
    device = first_device()
    null = ctypes.POINTER(ctypes.c_int)()
    for nothing in (0, None, ctypes.c_void_p(), null):
        with refused("GL_CONTEXT_KHR is 0", "no OpenGL context is current", kind=cl.LogicError):
            cl.Context([device], properties=[(KEYS.GL_CONTEXT_KHR, nothing)])
    for wrong in ("x", b"x", 1.5, object(), ctypes.c_int(5), [5], (ctypes.c_int * 4)()):
        name = type(wrong).__name__
        with refused("the property GLX_DISPLAY_KHR must be an int", name, kind=TypeError):
            cl.Context([device], properties=[GL[0], (KEYS.GLX_DISPLAY_KHR, wrong)])
    for wrong in (-1, 2**64):
        with refused("GL_CONTEXT_KHR", "out of range", kind=OverflowError):
            cl.Context([device], properties=[(KEYS.GL_CONTEXT_KHR, wrong)])
    with refused("clCreateContext failed: INVALID_GL_SHAREGROUP_REFERENCE_KHR", asked=True):
        cl.Context([device], properties=[(KEYS.GL_CONTEXT_KHR, 0xBAD)])


def context_information() -> None:
    platform = first_platform()
    current = cl.gl_context_info.CURRENT_DEVICE_FOR_GL_CONTEXT_KHR
    every = cl.gl_context_info.DEVICES_FOR_GL_CONTEXT_KHR
    plain = [(KEYS.PLATFORM, platform)]
    for properties, more in (
        (GL, ()), (GL, (platform,)), (plain + GL, (None,)), (plain + GL, (platform,)),
    ):  # fmt: skip
        assert cl.get_gl_context_info_khr(properties, current, *more) == platform.get_devices()[0]
        assert cl.get_gl_context_info_khr(properties, every, *more) == platform.get_devices()
    cl.get_gl_context_info_khr(properties=GL, param_name=current, platform=platform)
    assert shim.notes()[-1] == "context info 0x2006"
    for wrong in (0, 1, 0x2008):
        with refused("param_name", "gl_context_info"):
            cl.get_gl_context_info_khr(GL, wrong)
    with refused("integer", kind=TypeError):
        cl.get_gl_context_info_khr(GL, "x")
    with refused("platform must be a Platform, not int", kind=TypeError):
        cl.get_gl_context_info_khr(GL, current, 5)
    for properties in ([], None, plain, GL[1:]):
        with refused("do not name an OpenGL context"):
            cl.get_gl_context_info_khr(properties, current)
    with refused("get_gl_context_info_khr: properties must be", kind=TypeError):
        cl.get_gl_context_info_khr([5], current)
    other = cl.Platform.from_int_ptr(platform.get_devices()[0].int_ptr)
    with refused("platform differs"):
        cl.get_gl_context_info_khr(plain + GL, current, other)
    with refused("clGetGLContextInfoKHR failed: INVALID_GL_SHAREGROUP", asked=True):
        cl.get_gl_context_info_khr([(KEYS.GL_CONTEXT_KHR, 0xBAD)], current)


def no_device_for_the_context() -> None:
    """GL_SHIM_NO_DEVICE is set."""
    assert cl.get_gl_context_info_khr(GL, 0x2006) is None
    assert cl.get_gl_context_info_khr(GL, 0x2007) == []


# ---- objects ------------------------------------------------------------------------------------


def buffers() -> None:
    context = some_context()
    queue = cl.CommandQueue(context)
    program = cl.Program(context, SOURCE).build()
    shim.notes()
    first, second = cl.GLBuffer(context, MF.READ_WRITE, 1), cl.GLBuffer(context, flags=1, bufobj=2)
    assert shim.notes() == [f"buffer {i} flags=1 target=0 level=0" for i in (1, 2)]
    assert isinstance(first, cl.MemoryObject) and first.context is context
    assert (first.size, first.type) == (4 * N, cl.mem_object_type.BUFFER)
    assert first.get_gl_object_info() == (cl.gl_object_type.BUFFER, 1)
    assert (first.gl_object, second.gl_object) == (1, 2)
    cl.enqueue_acquire_gl_objects(queue, [first, second])
    program.add1(queue, (N,), None, first)
    cl.enqueue_copy(queue, second, first)
    program.add1(queue, (N,), None, second)
    cl.enqueue_release_gl_objects(queue, [first, second]).wait()
    for buffer, wanted in ((first, 1), (second, 2)):
        got = np.zeros(N, np.float32)
        cl.enqueue_copy(queue, got, buffer)
        assert (got == wanted).all()
    assert shim.notes() == ["acquire 1 2 wait=0", "give back 1 2 wait=0"]
    del first, second, buffer, program  # a kernel keeps its arguments
    all_released("1 2")


def images() -> None:
    context = some_context()
    queue = cl.CommandQueue(context)
    image = cl.GLRenderBuffer(context, MF.READ_WRITE, 3)
    texture = cl.GLTexture(context, MF.READ_WRITE, TEXTURE_2D, 0, 4, 2)
    solid = cl.GLTexture(context, MF.READ_ONLY, TEXTURE_3D, miplevel=0, texture=5, dims=3)
    notes = [line for line in shim.notes() if " flags=" in line]
    assert notes == [
        "renderbuffer 3 flags=1 target=0 level=0",
        "texture 4 flags=1 target=0xde1 level=0",
        "texture 5 flags=4 target=0x806f level=0",
    ]
    assert isinstance(texture, cl.Image) and not isinstance(image, cl.Image)
    assert (texture.shape, solid.shape) == ((8, 4), (4, 3, 2))
    assert image.type == texture.type == cl.mem_object_type.IMAGE2D
    kind = cl.gl_object_type
    expected = {image: kind.RENDERBUFFER, texture: kind.TEXTURE2D, solid: kind.TEXTURE3D}
    for one, kind in expected.items():
        assert one.get_gl_object_info() == (kind, one.gl_object)
    info = cl.gl_texture_info
    assert texture.get_gl_texture_info(info.TEXTURE_TARGET) == TEXTURE_2D
    assert texture.get_gl_texture_info(info.MIPMAP_LEVEL) == 0
    with refused("clGetGLTextureInfo failed: INVALID_VALUE"):
        texture.get_gl_texture_info(info.NUM_SAMPLES)
    with refused("integer", kind=TypeError):
        texture.get_gl_texture_info("x")
    shared = [image, texture]
    cl.enqueue_acquire_gl_objects(queue, shared)
    paint = cl.Kernel(cl.Program(context, SOURCE).build(), "paint")
    for one in shared:
        paint(queue, (8, 4), None, one)
    got = np.zeros((4, 8, 4), np.uint8)
    cl.enqueue_copy(queue, got, texture, origin=(0, 0), region=(8, 4))
    assert (got == [255, 0, 255, 0]).all()
    got[:] = 0
    cl.enqueue_copy(queue, got, image, origin=(0, 0), region=(8, 4))
    assert (got == [255, 0, 255, 0]).all()
    cl.enqueue_release_gl_objects(queue, shared)
    queue.finish()
    shim.notes()
    del image, texture, solid, one, shared, paint, expected
    all_released("3 4 5")


def old_devices_have_other_functions() -> None:
    """GL_SHIM_VERSION is OpenCL 1.1."""
    context = some_context()
    shim.notes()
    flat = cl.GLTexture(context, MF.READ_WRITE, TEXTURE_2D, 0, 4, 2)
    solid = cl.GLTexture(context, MF.READ_WRITE, TEXTURE_3D, 0, 5, 3)
    assert [line.split()[0] for line in shim.notes()] == ["texture2d", "texture3d"]
    assert (flat.gl_object, solid.gl_object) == (4, 5)
    for target, dims in ((0x0DE0, 1), (0x8C18, 2), (0x8C1A, 3), (0x9100, 2), (0x8C2A, 1)):
        with refused("needs OpenCL 1.2"):
            cl.GLTexture(context, MF.READ_WRITE, target, 0, 4, dims)
    for routine, target, dims in (("2D", TEXTURE_2D, 2), ("3D", TEXTURE_3D, 3)):
        hooks._fault(f"clCreateFromGLTexture{routine}", -60)
        with refused(f"clCreateFromGLTexture{routine} failed: INVALID_GL_OBJECT"):
            cl.GLTexture(context, MF.READ_WRITE, target, 0, 4, dims)


def releases() -> None:
    context = some_context()
    queue = cl.CommandQueue(context)
    one = cl.GLBuffer(context, MF.READ_WRITE, 1)
    shim.notes()
    one.release()
    assert shim.notes() == ["release 1"]
    for use in (one.release, one.get_gl_object_info, lambda: one.gl_object, lambda: one.size,
                lambda: cl.enqueue_acquire_gl_objects(queue, [one]),
                lambda: cl.enqueue_release_gl_objects(queue, [one])):  # fmt: skip
        with refused("released"):
            use()
    texture = cl.GLTexture(context, MF.READ_WRITE, TEXTURE_2D, 0, 4, 2)
    texture.release()
    with refused("released"):
        texture.get_gl_texture_info(cl.gl_texture_info.TEXTURE_TARGET)
    kept = cl.GLBuffer(context, MF.READ_WRITE, 2)
    again = cl.GLBuffer.from_int_ptr(kept.int_ptr)
    assert again == kept and again.gl_object == 2 and hash(again) == hash(kept)
    shim.notes()
    cl.enqueue_acquire_gl_objects(queue, [again]).wait()
    assert shim.notes() == ["acquire 2 wait=0"]
    del again, kept
    all_released("2 2")
    plain = cl.Buffer(context, MF.READ_WRITE, 4)
    alias = cl.GLBuffer.from_int_ptr(plain.int_ptr)  # and it is not
    with refused("clGetGLObjectInfo failed: INVALID_GL_OBJECT"):
        alias.get_gl_object_info()


def objects_refused() -> None:
    context, other = some_context(), cl.Context([first_device()])
    flags = MF.READ_WRITE
    for make in (cl.GLBuffer, cl.GLRenderBuffer):
        name = make.__name__
        with refused(f"{name}: context must be a Context, not int", kind=TypeError):
            make(5, flags, 1)
        with refused(f"{name}: flags must be an integer, not str", kind=TypeError):
            make(context, "x", 1)
        with refused(f"{name}: bufobj must be an integer, not NoneType", kind=TypeError):
            make(context, flags, None)
        for wrong in (-1, 2**32, 10**100):
            with refused("bufobj", "out of range", kind=OverflowError):
                make(context, flags, wrong)
        with refused("bufobj = 0 is not an object of OpenGL"):
            make(context, flags, 0)
        for wrong in (MF.COPY_HOST_PTR, MF.READ_WRITE | MF.READ_ONLY, 2**63, MF.USE_HOST_PTR | 1):
            with refused("flags = 0x", "READ_WRITE, READ_ONLY and WRITE_ONLY"):
                make(context, wrong, 1)
        with refused("made without an OpenGL context", "get_gl_sharing_context_properties"):
            make(other, flags, 1)
        with refused("argument", kind=TypeError):
            make(context, flags)
    with refused("GLTexture: context must be a Context", kind=TypeError):
        cl.GLTexture(None, flags, TEXTURE_2D, 0, 4, 2)
    with refused("made without an OpenGL context"):
        cl.GLTexture(other, flags, TEXTURE_2D, 0, 4, 2)
    good = {"texture_target": TEXTURE_2D, "miplevel": 0, "texture": 4, "dims": 2}
    for name, wrong, words in (
        ("texture_target", 5, "texture_target = 0x5 is not one"),
        ("texture_target", 0x8513, "is not one"),  # a cube map as a whole
        ("texture_target", 0x851B, "is not one"),
        ("texture_target", TEXTURE_3D, "dims = 2, and a texture of the target 0x806f has 3"),
        ("dims", 3, "dims = 3, and a texture of the target 0xde1 has 2"),
        ("dims", 0, "dims = 0"),
        ("dims", -1, "dims = -1"),
        ("dims", 2**32 + 2, "dims = 4294967298"),
        ("miplevel", -1, "miplevel = -1"),
        ("miplevel", 2**31, "miplevel = 2147483648"),
        ("texture", 0, "texture = 0 is not an object"),
    ):
        with refused("GLTexture failed", words):
            cl.GLTexture(context, flags, **good | {name: wrong})
    for name in good:
        with refused(f"GLTexture: {name} must be an integer, not str", kind=TypeError):
            cl.GLTexture(context, flags, **good | {name: "x"})
        with refused(name, kind=OverflowError):
            cl.GLTexture(context, flags, **good | {name: 2**64})
    with refused("level 0 only"):
        cl.GLTexture(context, flags, 0x84F5, 1, 4, 2)  # RECTANGLE
    # These the driver refuses.
    with refused("clCreateFromGLBuffer failed: INVALID_GL_OBJECT", asked=True):
        cl.GLBuffer(context, flags, 77)
    with refused("clCreateFromGLRenderbuffer failed: INVALID_GL_OBJECT", asked=True):
        cl.GLRenderBuffer(context, flags, 1)
    with refused("clCreateFromGLTexture failed: INVALID_MIP_LEVEL", asked=True):
        cl.GLTexture(context, flags, TEXTURE_2D, 9, 4, 2)
    targets = {0x0DE0: 1, 0x84F5: 2, 0x8515: 2, 0x851A: 2, 0x8C18: 2, 0x8C1A: 3, 0x9102: 3}
    for target, dims in targets.items():
        with refused("clCreateFromGLTexture failed: INVALID_GL_OBJECT", asked=True):
            cl.GLTexture(context, flags, target, 0, 4, dims)


# ---- commands -----------------------------------------------------------------------------------


def wait_lists() -> None:
    context = some_context()
    queue = cl.CommandQueue(context)
    one, two = (cl.GLBuffer(context, MF.READ_WRITE, i) for i in (1, 2))
    shim.notes()
    gate = cl.UserEvent(context)
    acquired = cl.enqueue_acquire_gl_objects(queue, [one, two], wait_for=[gate])
    released = cl.enqueue_release_gl_objects(queue, mem_objects=(one, two), wait_for=acquired)
    queue.flush()
    time.sleep(0.05)
    done = cl.command_execution_status.COMPLETE
    assert acquired.command_execution_status != done != released.command_execution_status
    gate.set_status(done)
    released.wait()
    assert acquired.command_execution_status == done
    assert shim.notes() == ["acquire 1 2 wait=1", "give back 1 2 wait=1"]
    cl.enqueue_acquire_gl_objects(queue, one).wait()  # an object instead of a list
    cl.enqueue_acquire_gl_objects(queue, iter([two]), None).wait()
    cl.enqueue_release_gl_objects(queue, {one, two}, [acquired, released]).wait()
    notes = shim.notes()
    assert notes[:2] == ["acquire 1 wait=0", "acquire 2 wait=0"]
    assert notes[2] in ("give back 1 2 wait=2", "give back 2 1 wait=2")
    for function in (cl.enqueue_acquire_gl_objects, cl.enqueue_release_gl_objects):
        gate = cl.UserEvent(context)
        event = function(queue, [], wait_for=[gate])  # nothing to do but wait
        queue.flush()
        assert event.command_execution_status != done
        gate.set_status(done)
        event.wait()
    assert shim.notes() == []


def dropped_while_pending() -> None:
    """Objects and events may go before their commands are done; release() takes effect at once."""
    context = some_context()
    queue = cl.CommandQueue(context)
    gate = cl.UserEvent(context)
    one, two = (cl.GLBuffer(context, MF.READ_WRITE, i) for i in (1, 2))
    for _ in range(300):  # more than go without a look at whether the queue is full
        cl.enqueue_acquire_gl_objects(queue, [one, two], wait_for=[gate])
    cl.enqueue_release_gl_objects(queue, [one, two])
    shim.notes()
    two.release()
    del one
    all_released("1 2")
    gate.set_status(cl.command_execution_status.COMPLETE)
    queue.finish()


def commands_refused() -> None:
    context, other = some_context(), some_context()
    queue, gl = cl.CommandQueue(context), cl.GLBuffer(context, MF.READ_WRITE, 1)
    plain, image = cl.Buffer(context, MF.READ_WRITE, 4), cl.GLTexture(other, 1, TEXTURE_2D, 0, 4, 2)
    foreign = cl.enqueue_marker(cl.CommandQueue(other))

    class Releasing:
        """An iterable that releases an object while it is looked at."""

        def __init__(self) -> None:
            self.victim = cl.GLBuffer(context, MF.READ_WRITE, 2)

        def __iter__(self) -> Iterator[cl.Event]:
            self.victim.release()
            return iter([])

    def endless() -> Iterator[cl.GLBuffer]:
        while True:
            yield gl

    for function in (cl.enqueue_acquire_gl_objects, cl.enqueue_release_gl_objects):
        name = function.__name__
        with refused(f"{name}: queue must be a CommandQueue, not Context", kind=TypeError):
            function(context, [gl])
        for wrong in (None, 5, "x", b"x", object()):
            with refused(f"{name}: mem_objects must be a sequence of GLBuffer", kind=TypeError):
                function(queue, wrong)
        for wrong in ([None], [gl, 5], [queue], [gl.int_ptr], [[gl]]):
            with refused("each of mem_objects must be a memory object", kind=TypeError):
                function(queue, wrong)
        with refused("mem_objects[1] is not an object of OpenGL", "not Buffer", kind=TypeError):
            function(queue, [gl, plain])
        with refused("mem_objects[0] is not an object of OpenGL"):
            function(queue, plain)
        with refused("belongs to another context"):
            function(queue, [gl, image])
        with refused("context"):
            function(queue, [gl], wait_for=[foreign])
        with refused("wait_for", kind=TypeError):
            function(queue, [gl], wait_for=[None])
        with refused("more than", kind=ValueError):
            function(queue, endless())
        for wrong in ((), (queue,), (queue, [gl], None, None)):
            with refused("argument", kind=TypeError):
                function(*wrong)
        releasing = Releasing()
        shim.notes()
        with refused("released", asked=True):
            function(queue, [releasing.victim], wait_for=releasing)
        assert not [line for line in shim.notes() if "wait=" in line]


# ---- failures -----------------------------------------------------------------------------------


def failing_calls() -> None:
    context = some_context()
    queue, gl = cl.CommandQueue(context), cl.GLBuffer(context, MF.READ_WRITE, 1)
    texture = cl.GLTexture(context, MF.READ_WRITE, TEXTURE_2D, 0, 4, 2)
    calls: dict[str, Callable[[], object]] = {
        "clCreateFromGLBuffer": lambda: cl.GLBuffer(context, MF.READ_WRITE, 1),
        "clCreateFromGLRenderbuffer": lambda: cl.GLRenderBuffer(context, MF.READ_WRITE, 3),
        "clCreateFromGLTexture": lambda: cl.GLTexture(context, MF.READ_WRITE, TEXTURE_2D, 0, 4, 2),
        "clGetGLObjectInfo": gl.get_gl_object_info,
        "clGetGLTextureInfo": lambda: texture.get_gl_texture_info(0x2004),
        "clEnqueueAcquireGLObjects": lambda: cl.enqueue_acquire_gl_objects(queue, [gl]),
        "clEnqueueReleaseGLObjects": lambda: cl.enqueue_release_gl_objects(queue, [gl]),
        "clGetGLContextInfoKHR": lambda: cl.get_gl_context_info_khr(GL, 0x2006),
        "clCreateContext": some_context,
    }
    classes = {-60: cl.LogicError, -5: cl.RuntimeError, -4: cl.MemoryError}
    for name, call in calls.items():
        for code, kind in classes.items():
            call()
            before = hooks._handle_counts()
            shim.notes()
            hooks._fault(name, code, 1, 10**6)
            with refused(f"{name} failed", kind=kind, asked=name == "clGetGLContextInfoKHR"):
                call()
            retried = code in (-4, -5) and name.startswith("clCreate")
            assert hooks._fault_hits() == 1 + retried, name
            hooks._fault(None, 0)
            assert hooks._handle_counts() == before, name
        hooks._fault(name, -4)  # once: what is allocated is tried again
        if name.startswith("clCreate"):
            call()
        hooks._fault(None, 0)
        call()
    # What a new object asks the driver may fail as well.
    for nth in (1, 2, 3):
        before = hooks._handle_counts()
        hooks._fault("clGetMemObjectInfo", -30, nth)
        try:
            calls["clCreateFromGLBuffer"]()
        except cl.LogicError:
            pass
        hooks._fault(None, 0)
        gc.collect()
        assert hooks._handle_counts() == before
    hooks._as_nvidia(False)  # objects of platforms and devices are made anew
    [device, *_] = first_platform().get_devices()  # one that was not asked before
    hooks._fault("clGetDeviceInfo", -30, 1, 10**6)
    with refused("clGetDeviceInfo failed"):
        cl.Context([device], properties=GL)
    hooks._fault(None, 0)


def nonsense() -> None:
    """Every argument of every function replaced by what it is not: an exception or a result."""
    context = some_context()
    queue, gl = cl.CommandQueue(context), cl.GLBuffer(context, MF.READ_WRITE, 1)
    calls: list[tuple[Callable[..., object], tuple[object, ...]]] = [
        (cl.GLBuffer, (context, 1, 1)),
        (cl.GLRenderBuffer, (context, 1, 3)),
        (cl.GLTexture, (context, 1, TEXTURE_2D, 0, 4, 2)),
        (cl.enqueue_acquire_gl_objects, (queue, [gl], [])),
        (cl.enqueue_release_gl_objects, (queue, [gl], [])),
        (cl.get_gl_context_info_khr, (GL, 0x2006, None)),
        (cl.Context, ([*context.devices], GL)),
        (cl.GLTexture(context, 1, TEXTURE_2D, 0, 4, 2).get_gl_texture_info, (0x2004,)),
    ]
    values = [
        None, True, -1, 0, 7, 2**31, 2**32, 2**63, 2**64, 10**100, 0.5, float("nan"), "", "x", b"x",
        (), [()], [(1,)], [(1, 2, 3)], [(0, 0)], [(2**70, 1)], [("x", 1)], [(KEYS.PLATFORM, 5)],
        [(KEYS.GL_CONTEXT_KHR, "x")], GL * 20, {}, {1: 2}, object(), int, cl, np.zeros(3),
        np.float32(1), context, queue, gl, [gl, None], [context], [[gl]], ctypes.c_void_p(5),
        cl.Buffer(context, 1, 4), cl.enqueue_marker(queue), cl.GLBuffer, range(10**9),
    ]  # fmt: skip
    for function, arguments in calls:
        function(*arguments)
        for i in range(len(arguments)):
            for value in values:
                try:
                    function(*arguments[:i], value, *arguments[i + 1 :])
                except SystemError as error:
                    raise AssertionError(f"{function}: argument {i}: {value!r:.80}") from error
                except Exception as error:
                    assert str(error), f"{function}: argument {i}: {error!r}"
    queue.finish()


def functions_of_the_platform() -> None:
    """The library is the one that does not export them."""
    names = [name for name in hooks._functions() if "GL" in name]
    assert len(names) == 10
    dlsym = ctypes.CDLL(None).dlsym
    dlsym.restype, dlsym.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
    exported = [name for name in names if dlsym(shim.library._handle, name.encode())]
    assert not exported, exported  # else this tests nothing
    assert cl.have_gl()
    buffers()
    context = some_context()
    queue = cl.CommandQueue(context)
    texture = cl.GLTexture(context, MF.READ_WRITE, TEXTURE_2D, 0, 4, 2)
    assert texture.get_gl_texture_info(cl.gl_texture_info.TEXTURE_TARGET) == TEXTURE_2D
    cl.enqueue_acquire_gl_objects(queue, texture).wait()
    shim.notes()
    for _ in range(2):
        assert cl.get_gl_context_info_khr(GL, 0x2006) == context.devices[0]
        # Asked for each time: another platform has a function of its own.
        assert shim.notes() and shim.asked == ["clGetGLContextInfoKHR"]
    cl.GLBuffer(context, MF.READ_WRITE, 1)
    assert shim.notes() and not shim.asked
    hooks._fault("clGetExtensionFunctionAddressForPlatform", -30, 1, 10**6)
    with refused("clGetGLContextInfoKHR failed", "does not have this function"):
        cl.get_gl_context_info_khr(GL, 0x2006)
    with refused("clCreateFromGLRenderbuffer failed", "does not have this function"):
        cl.GLRenderBuffer(context, MF.READ_WRITE, 3)
    hooks._fault(None, 0)
    cl.GLRenderBuffer(context, MF.READ_WRITE, 3)


def main(name: str) -> None:
    globals()[name]()
    gc.collect()
    left = {kind: n for kind, n in hooks._handle_counts().items() if n}
    assert not left, f"handles are left: {left}"


if __name__ == "__main__":
    main(sys.argv[1])
