"""Sharing with OpenGL on a device that has it: python gl_device_cases.py CASE

Each case runs in a process of its own; test_gl_device.py starts them. It ends with "skip: " and
what is missing, or fails by an exception.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import pygpu as cl

MF = cl.mem_flags
TEXTURE_2D, RENDERBUFFER, RGBA8 = 0x0DE1, 0x8D41, 0x8058
SOURCE = """
kernel void add1(global float *x) { x[get_global_id(0)] += 1; }
constant sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
kernel void flip(read_only image2d_t from, write_only image2d_t to)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, plain, at).wzyx);
}
"""


def opengl() -> Any:
    if not cl.have_gl():
        raise SystemExit("skip: no device here shares with OpenGL (cl_khr_gl_sharing)")
    try:
        moderngl = importlib.import_module("moderngl")
    except ImportError:
        raise SystemExit("skip: moderngl is not installed") from None
    problems = []
    for how in ({}, {"backend": "egl"}):
        try:
            return moderngl.create_standalone_context(**how)
        except Exception as error:
            problems.append(str(error))
    raise SystemExit(f"skip: no OpenGL context can be made: {'; '.join(problems)}")


def shared_context() -> cl.Context:
    properties = cl.tools.get_gl_sharing_context_properties()
    current = cl.gl_context_info.CURRENT_DEVICE_FOR_GL_CONTEXT_KHR
    several = cl.gl_context_info.DEVICES_FOR_GL_CONTEXT_KHR
    for platform in cl.get_platforms():
        try:
            device = cl.get_gl_context_info_khr(properties, current, platform)
        except cl.LogicError:
            continue
        if device is not None:
            assert device in cl.get_gl_context_info_khr(properties, several, platform)
            return cl.Context([device], properties=properties)
    raise SystemExit("skip: OpenGL draws on a device that no OpenCL platform has")


gl = opengl()
ctx = shared_context()
queue = cl.CommandQueue(ctx)
program = cl.Program(ctx, SOURCE).build()


@contextmanager
def acquired(*objects: Any) -> Iterator[None]:
    gl.finish()
    cl.enqueue_acquire_gl_objects(queue, list(objects)).wait()
    yield
    released = cl.enqueue_release_gl_objects(queue, objects)
    queue.finish()
    assert released.command_execution_status == cl.command_execution_status.COMPLETE
    assert released.command_type == cl.command_type.RELEASE_GL_OBJECTS


def refused(call: Any, *kinds: type[Exception]) -> None:
    try:
        call()
    except kinds as error:
        assert str(error)
    else:
        raise AssertionError("a mistake was accepted")


def buffers() -> None:
    for n in (1, 1000, 65537):
        drawn = gl.buffer(np.arange(n, dtype=np.float32))
        shared = cl.GLBuffer(ctx, MF.READ_WRITE, drawn.glo)
        assert shared.size == 4 * n and shared.gl_object == drawn.glo
        assert shared.get_gl_object_info() == (cl.gl_object_type.BUFFER, drawn.glo)
        for _ in range(3):
            with acquired(shared):
                program.add1(queue, (n,), None, shared)
                got = np.empty(n, np.float32)
                cl.enqueue_copy(queue, got, shared)
        assert (got == np.arange(n) + 3).all()
        assert (np.frombuffer(drawn.read(), np.float32) == got).all()


def textures() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (19, 37, 4), np.uint8)
    textures = [gl.texture((37, 19), 4, p.tobytes()) for p in (pixels, 0 * pixels)]
    one, two = (
        cl.GLTexture(ctx, flags, TEXTURE_2D, 0, t.glo, 2)
        for flags, t in zip((MF.READ_ONLY, MF.WRITE_ONLY), textures, strict=True)
    )
    assert one.shape == (37, 19) and one.format.channel_data_type == cl.channel_type.UNORM_INT8
    assert one.get_gl_object_info() == (cl.gl_object_type.TEXTURE2D, textures[0].glo)
    assert one.get_gl_texture_info(cl.gl_texture_info.TEXTURE_TARGET) == TEXTURE_2D
    assert one.get_gl_texture_info(cl.gl_texture_info.MIPMAP_LEVEL) == 0
    with acquired(one, two):
        program.flip(queue, (37, 19), None, one, two)
        got = np.zeros_like(pixels)
        cl.enqueue_copy(queue, got, two, origin=(0, 0), region=(37, 19))
    assert (got == pixels[..., ::-1]).all()
    assert textures[1].read() == pixels[..., ::-1].tobytes()


def renderbuffers() -> None:
    colour = gl.renderbuffer((8, 4), 4)
    frame = gl.framebuffer([colour])
    frame.use()
    frame.clear(1.0, 0.0, 1.0, 0.0)
    shared = cl.GLRenderBuffer(ctx, MF.READ_WRITE, colour.glo)
    assert shared.get_gl_object_info() == (cl.gl_object_type.RENDERBUFFER, colour.glo)
    with acquired(shared):
        got = np.zeros((4, 8, 4), np.uint8)
        cl.enqueue_copy(queue, got, shared, origin=(0, 0), region=(8, 4))
        assert (got == (255, 0, 255, 0)).all()
        cl.enqueue_copy(queue, shared, 255 - got, origin=(0, 0), region=(8, 4))
    assert frame.read(components=4) == bytes((0, 255, 0, 255)) * 32


def mistakes() -> None:
    drawn = gl.buffer(reserve=64)
    texture = gl.texture((4, 4), 4)
    for call in (
        lambda: cl.GLBuffer(ctx, MF.READ_WRITE, 12345),
        lambda: cl.GLBuffer(ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, drawn.glo),
        lambda: cl.GLTexture(ctx, MF.READ_WRITE, TEXTURE_2D, 0, 12345, 2),
        lambda: cl.GLTexture(ctx, MF.READ_WRITE, TEXTURE_2D, 99, texture.glo, 2),
        lambda: cl.GLTexture(ctx, MF.READ_WRITE, 5, 0, texture.glo, 2),
        lambda: cl.GLRenderBuffer(ctx, MF.READ_WRITE, 12345),
        lambda: cl.enqueue_acquire_gl_objects(queue, [cl.Buffer(ctx, MF.READ_WRITE, 4)]),
    ):
        refused(call, cl.LogicError, ValueError, TypeError, cl.MemoryError)
    shared = cl.GLBuffer(ctx, MF.READ_WRITE, drawn.glo)
    with acquired(shared):
        pass
    drawn.release()  # OpenCL still has it: it lives on
    with acquired(shared):
        program.add1(queue, (16,), None, shared)
    shared.release()
    refused(lambda: cl.enqueue_acquire_gl_objects(queue, [shared]), ValueError)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    gc.collect()
    left = {kind: n for kind, n in cl._opencl._handle_counts().items() if kind == "mem" and n}
    assert not left, left
