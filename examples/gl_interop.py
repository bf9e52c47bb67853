"""A kernel moves points that OpenGL draws: both use one memory, and nothing is copied.

Needs a device that shares with OpenGL (cl_khr_gl_sharing; those of graphics cards have it, those of
CPUs do not) and the package moderngl, which makes an OpenGL context without a window.

Run: python examples/gl_interop.py
"""

import importlib

import numpy as np

import pygpu as cl

SOURCE = """
kernel void turn(global float2 *points, float angle)
{
    float2 p = points[get_global_id(0)];
    float s, c;
    s = sincos(angle, &c);
    points[get_global_id(0)] = (float2)(c * p.x - s * p.y, s * p.x + c * p.y);
}
"""
N, ANGLE = 1000, 0.25


def drawing_device(properties) -> cl.Device | None:
    """The device that the current OpenGL context draws on, as OpenCL knows it."""
    current = cl.gl_context_info.CURRENT_DEVICE_FOR_GL_CONTEXT_KHR
    for platform in cl.get_platforms():
        try:
            device = cl.get_gl_context_info_khr(properties, current, platform)
        except cl.LogicError:  # this platform does not share, or not with this OpenGL
            continue
        if device is not None:
            return device
    return None


def main() -> None:
    if not cl.have_gl():
        print("no device here shares with OpenGL: none has the extension cl_khr_gl_sharing")
        return
    try:
        moderngl = importlib.import_module("moderngl")
        try:
            opengl = moderngl.create_standalone_context()
        except Exception:  # there is no screen
            opengl = moderngl.create_standalone_context(backend="egl")
    except Exception as error:  # no such package, no driver: each says it its own way
        print(f"there is no OpenGL context to share with: {error}")
        return
    properties = cl.tools.get_gl_sharing_context_properties()
    device = drawing_device(properties)
    if device is None:
        print("OpenGL draws on a device that no OpenCL platform has")
        return
    context = cl.Context([device], properties=properties)
    queue = cl.CommandQueue(context)
    turn = cl.Program(context, SOURCE).build().turn

    points = np.random.default_rng(0).uniform(-1, 1, (N, 2)).astype(np.float32)
    drawn = opengl.buffer(points)  # what a vertex array would be made of
    shared = cl.GLBuffer(context, cl.mem_flags.READ_WRITE, drawn.glo)
    opengl.finish()  # OpenGL must be done with it
    cl.enqueue_acquire_gl_objects(queue, [shared])
    turn(queue, (N,), None, shared, ANGLE)
    cl.enqueue_release_gl_objects(queue, [shared])
    queue.finish()  # and so must OpenCL, before OpenGL goes on

    rotation = [[np.cos(ANGLE), np.sin(ANGLE)], [-np.sin(ANGLE), np.cos(ANGLE)]]
    seen = np.frombuffer(drawn.read(), np.float32).reshape(N, 2)
    assert np.allclose(seen, points @ rotation, atol=1e-5)
    print(f"{device.name}: {N} points of OpenGL's buffer {shared.gl_object} turned by a kernel")


if __name__ == "__main__":
    main()
