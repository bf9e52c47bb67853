"""Kernel.capture_call: the script that it writes makes the same call with the same data."""

from __future__ import annotations

import io
import runpy
import subprocess
import sys

import numpy as np
import pytest

import pygpu as cl
from pygpu.capture_call import capture_kernel_call

mf = cl.mem_flags

SOURCE = r"""// 'quotes' and "double quotes", a \ backslash, ünïcode, {braces}
#ifndef N
#define N 1
#endif
typedef struct { char a; double b; } pair_t;
__kernel void work(__global float *out, __global const float *in, float f, int i, ulong u,
                   double d, pair_t p, float4 v, __local float *scratch, __global int *null)
{
    int g = get_global_id(0);
    scratch[get_local_id(0)] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = scratch[get_local_id(0)] * f + i * N + (float)u + (float)d + p.a + (float)p.b + v.w
             + (null == 0);
}
__kernel void where(__global int *out)
{ out[get_global_id(0) + 100 * get_global_id(1)] = get_local_size(0); }
__kernel void build(__global int *out) { *out = 5; }
__kernel void scalars(__global double *out, float a, double b, char c, ulong d, float2 z)
{ out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = z.x; out[5] = z.y; }
"""


@pytest.fixture(scope="module")
def program(ctx):
    return cl.Program(ctx, SOURCE).build(["-DN=3"])


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


def run_script(path, device, monkeypatch):
    """main() of the script, here, on the device of the test: bytes of its memory objects."""
    context = cl.Context([device])
    monkeypatch.setattr(cl, "create_some_context", lambda *args, **kwargs: context)
    queue, memory = runpy.run_path(str(path))["main"]()
    results = []
    for item in memory:
        host = np.empty(item.size, np.uint8)
        cl.enqueue_copy(queue, host, item)
        results.append(host)
    return results


def test_everything_at_once(device, ctx, queue, program, tmp_path, monkeypatch):
    n = 16
    data = np.random.default_rng(3).random(n, np.float32)
    pair = np.zeros((), np.dtype([("a", np.int8), ("b", np.float64)], align=True))
    pair["a"], pair["b"] = -3, 0.5
    source = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=data)
    out = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(n, 7, np.float32))
    args = (
        out,
        source,
        np.float32(1.5),
        4,
        np.uint64(2**40),
        0.25,
        pair,
        np.arange(4, dtype=np.float32),
        cl.LocalMemory(16),
        None,
    )
    path = tmp_path / "call.py"
    assert program.work.capture_call(path, queue, (n,), (4,), *args) is None
    before = np.empty(n, np.float32)
    cl.enqueue_copy(queue, before, out)
    assert (before == 7).all()  # captured, not called
    program.work(queue, (n,), (4,), *args)
    expected = np.empty(n, np.float32)
    cl.enqueue_copy(queue, expected, out)
    results = run_script(path, device, monkeypatch)
    assert (results[0].view(np.float32) == expected).all()
    assert (results[1].view(np.float32) == data).all()
    assert "-DN=3" in path.read_text() and "pygpu/cl" not in path.read_text()


def test_the_script_runs_on_its_own(device, ctx, queue, program, tmp_path):
    path = tmp_path / "call.py"
    out = cl.Buffer(ctx, mf.READ_WRITE, 16)
    cl.Kernel(program, "build").capture_call(str(path), queue, 1, None, out)
    result = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        input="\n" * 5,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("a", "b", "c", "d", "z"),
    [
        (float("inf"), float("-inf"), -128, 2**64 - 1, 1 + 2j),
        (np.float32(0.1), np.float64(0.1), np.int8(-1), np.uint64(2**63), np.complex64(1j)),
        (True, 1, False, True, complex("inf")),
        (np.float64(1e-45), 5e-324, np.int64(3), np.int8(3), np.complex128(-0.5)),
        (1e-40, np.float16(0.1), 0, 0, 0j),
        (np.array(2.5), np.array([3.5]), np.array(4), np.uint16(7), np.array(1 + 1j, np.complex64)),
        (-0.0, np.float32("nan"), b"\x05", np.timedelta64(5, "s"), np.arange(2, dtype=np.float32)),
    ],
)  # fmt: skip
def test_numbers_arrive_bit_for_bit(
    device, ctx, queue, program, tmp_path, monkeypatch, a, b, c, d, z
):
    out = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(6))
    path = tmp_path / "call.py"
    program.scalars.capture_call(path, queue, (1,), None, out, a, b, c, d, z)
    program.scalars(queue, (1,), None, out, a, b, c, d, z)
    expected = np.empty(48, np.uint8)
    cl.enqueue_copy(queue, expected, out)
    assert (run_script(path, device, monkeypatch)[0] == expected).all()


def test_sizes_and_keywords(device, ctx, queue, program, tmp_path, monkeypatch):
    for size, local, keywords in [
        ((4, 3), None, {}), ([4], [2], {"global_offset": (5,)}), (np.int64(6), (3,), {}),
        ((2, 3), (2, 1), {"g_times_l": True}), ((3,), 2, {"g_times_l": True}),
        ((0,), None, {"allow_empty_ndrange": True}),
        (np.array([4, 2]), (2, 2), {"global_offset": [1, 1], "wait_for": []}),
    ]:  # fmt: skip
        out = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(1000, np.int32))
        path = tmp_path / "call.py"
        program.where.capture_call(path, queue, size, local, out, **keywords)
        program.where(queue, size, local, out, **keywords)
        expected = np.empty(4000, np.uint8)
        cl.enqueue_copy(queue, expected, out)
        result = run_script(path, device, monkeypatch)[0]
        if local is None:  # the driver chooses
            result, expected = result > 0, expected > 0
        assert (result == expected).all()


def test_every_argument_by_name(device, ctx, queue, tmp_path, monkeypatch):
    """The method's names and the function's, which are not the same in PyOpenCL either."""
    program = cl.Program(ctx, "kernel void nothing() {}").build()
    sizes = {"global_offset": (2,), "g_times_l": True, "allow_empty_ndrange": True, "wait_for": []}
    paths = [tmp_path / "method.py", tmp_path / "function.py"]
    program.nothing.capture_call(
        output_file=paths[0], queue=queue, global_size=(4,), local_size=(2,), **sizes
    )
    capture_kernel_call(
        kernel=program.nothing, output_file=paths[1], queue=queue, g_size=(4,), l_size=(2,), **sizes
    )
    assert paths[0].read_text() == paths[1].read_text()
    assert "kernel(queue, (4,), (2,), global_offset=(2,), g_times_l=True" in paths[0].read_text()
    assert run_script(paths[1], device, monkeypatch) == []


def test_one_buffer_given_twice_is_one_buffer(device, ctx, queue, tmp_path, monkeypatch):
    program = cl.Program(
        ctx, "__kernel void both(__global int *a, __global int *b) { a[0] = 1; b[1] = 2; }"
    ).build()
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(2, np.int32))
    path = tmp_path / "call.py"
    program.both.capture_call(path, queue, (1,), None, a, cl.Buffer.from_int_ptr(a.int_ptr))
    results = run_script(path, device, monkeypatch)
    assert len(results) == 1 and results[0].view(np.int32).tolist() == [1, 2]


def test_shared_virtual_memory(device, ctx, queue, tmp_path, monkeypatch):
    if not device.svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
        pytest.skip("the device has no SVM")
    program = cl.Program(
        ctx, "__kernel void inc(__global int *a) { a[get_global_id(0)] += 1; }"
    ).build()
    svm = cl.SVM(cl.csvm_empty(ctx, 10, np.int32))
    with svm.map_rw(queue) as host:
        host[:] = np.arange(10)
    path = tmp_path / "call.py"
    program.inc.capture_call(path, queue, (10,), None, svm)
    assert run_script(path, device, monkeypatch)[0].view(np.int32).tolist() == list(range(1, 11))


def test_images_and_samplers(device, ctx, queue, tmp_path, monkeypatch):
    if not device.image_support:
        pytest.skip("the device has no images")
    program = cl.Program(
        ctx,
        "__kernel void get(__global float *out, read_only image2d_t image, sampler_t s)\n"
        "{ int i = get_global_id(0), j = get_global_id(1);\n"
        "  out[3 * j + i] = read_imagef(image, s, (int2)(i, j)).y; }",
    ).build()
    pixels = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    image = cl.create_image(
        ctx,
        mf.READ_ONLY | mf.COPY_HOST_PTR,
        cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT),
        shape=(3, 2),
        hostbuf=pixels,
    )
    sampler = cl.Sampler(ctx, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST)
    out = cl.Buffer(ctx, mf.READ_WRITE, 24)
    path = tmp_path / "call.py"
    program.get.capture_call(path, queue, (3, 2), None, out, image, sampler)
    assert (
        run_script(path, device, monkeypatch)[0].view(np.float32) == pixels[:, :, 1].ravel()
    ).all()


@pytest.mark.parametrize(
    "text",
    [
        "// it's '''triple''' ",
        "// ends with a backslash \\",
        "// carriage\r\n",
        "// \f form feed",
        "// tab\t\n\n\n",
        "// \N{SNOWMAN}",
        "//'",
    ],
)
def test_any_source(device, ctx, queue, tmp_path, monkeypatch, text):
    source = "__kernel void f(__global int *a) { *a = 3; }\n" + text
    program = cl.Program(ctx, source).build()
    path = tmp_path / "call.py"
    program.f.capture_call(path, queue, (1,), None, cl.Buffer(ctx, mf.READ_WRITE, 4))
    assert runpy.run_path(str(path))["SOURCE"] == source
    assert run_script(path, device, monkeypatch)[0].view(np.int32)[0] == 3


def test_scalars_of_structs_and_vectors(device, ctx, queue, program, tmp_path, monkeypatch):
    pair = np.zeros((), np.dtype([("a", np.int8), ("b", np.float64)], align=True))
    pair["a"], pair["b"] = 100, 0.25
    local_program = cl.Program(
        ctx,
        "typedef struct { char a; double b; } pair_t;\n"
        "__kernel void get(__global double *out, pair_t p, int4 v)"
        " { out[0] = p.a; out[1] = p.b; out[2] = v.s3; }",
    ).build()
    out = cl.Buffer(ctx, mf.READ_WRITE, 24)
    path = tmp_path / "call.py"
    vector = cl.cltypes.make_int4(1, 2, 3, 4)
    for forms in [(pair[()], vector), (pair.tobytes(), vector[()]), (pair.reshape(1), bytes(16))]:
        local_program.get.capture_call(path, queue, (1,), None, out, *forms)
        result = run_script(path, device, monkeypatch)[0].view(np.float64).tolist()
        assert result == [100, 0.25, 0 if isinstance(forms[1], bytes) else 4]


def test_file_objects(ctx, queue, program):
    file = io.StringIO()
    cl.Kernel(program, "build").capture_call(
        file, queue, (1,), None, cl.Buffer(ctx, mf.READ_WRITE, 4)
    )
    text = file.getvalue()
    compile(text, "call.py", "exec")
    assert "the kernel build" in text and "arg0_data" in text, text


def test_waits_for_events_before_it_reads(device, ctx, queue, program, tmp_path, monkeypatch):
    out = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(4, np.uint8))
    other = cl.CommandQueue(ctx)
    event = cl.enqueue_fill_buffer(other, out, b"\x09", 0, 4)
    other.flush()
    path = tmp_path / "call.py"
    program.where.capture_call(
        path, queue, (0,), None, out, wait_for=[event], allow_empty_ndrange=True
    )
    assert run_script(path, device, monkeypatch)[0].tolist() == [9] * 4


def test_wrong_calls_are_not_captured(device, ctx, queue, program, tmp_path):
    path = tmp_path / "call.py"
    out = cl.Buffer(ctx, mf.READ_WRITE, 4)
    kernel = cl.Kernel(program, "where")
    for args, keywords, error in [
        ((queue, (1,), None, object()), {}, TypeError), ((queue, "1", None, out), {}, TypeError),
        ((queue, (1.5,), None, out), {}, TypeError), ((None, (1,), None, out), {}, TypeError),
        ((queue, (1,), 1.5, out), {}, TypeError),
        ((queue, (1,), None, out), {"offset": 3}, TypeError),
        ((queue, (1,), None, "text"), {}, TypeError),
        ((queue, (1,), None, out), {"wait_for": 3}, TypeError), ((queue,), {}, TypeError),
    ]:  # fmt: skip
        with pytest.raises(error):
            kernel.capture_call(path, *args, **keywords)
    binary = program.get_info(cl.program_info.BINARIES)[0]
    from_binary = cl.Program(ctx, [device], [binary]).build()
    with pytest.raises(cl.RuntimeError, match="not made from source"):
        cl.Kernel(from_binary, "where").capture_call(path, queue, (1,), None, out)
    out.release()
    with pytest.raises(cl.LogicError, match="released"):
        kernel.capture_call(path, queue, (1,), None, out)
    assert not path.exists()
