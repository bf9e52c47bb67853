"""pygpu.cuda.tools: C types of dtypes, occupancy by arithmetic, results kept by context."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from pygpu import _cuda
from pygpu.cuda import driver as cuda
from pygpu.cuda import tools
from pygpu.cuda.compiler import SourceModule

NAMES = {
    "b": "signed char",
    "u1": "unsigned char",
    "i2": "short",
    "u2": "unsigned short",
    "i4": "int",
    "u4": "unsigned",
    "f2": "half",
    "f4": "float",
    "f8": "double",
    "c8": "pycuda::complex<float>",
    "c16": "pycuda::complex<double>",
    "?": "bool",
}


def test_types_are_what_the_compiler_thinks(context):
    """Each dtype's C type has its size and alignment in a kernel."""
    dtypes = [np.dtype(name) for name in (*NAMES, "i8", "u8", "p", "P")]
    lines = [
        f"    out[{2 * i}] = sizeof({tools.dtype_to_ctype(dtype)});"
        f" out[{2 * i + 1}] = alignof({tools.dtype_to_ctype(dtype)});"
        for i, dtype in enumerate(dtypes)
    ]
    source = "#include <pycuda-complex.hpp>\n#include <cuda_fp16.h>\n"
    source += 'extern "C" __global__ void sizes(int *out)\n{\n' + "\n".join(lines) + "\n}\n"
    out = np.zeros(2 * len(dtypes), np.int32)
    module = SourceModule(source, no_extern_c=True)
    module.get_function("sizes")(cuda.Out(out), block=1)
    assert out[::2].tolist() == [dtype.itemsize for dtype in dtypes]
    for dtype, alignment in zip(dtypes, out[1::2], strict=True):
        assert alignment >= dtype.alignment


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_have_their_c_names(name):
    assert tools.dtype_to_ctype(name) == NAMES[name]


def test_names_of_textures_and_of_nothing():
    assert tools.dtype_to_ctype(np.float32, with_fp_tex_hack=True) == "fp_tex_float"
    assert tools.dtype_to_ctype(np.complex128, True) == "fp_tex_cdouble"
    assert tools.dtype_to_ctype(np.int32, True) == "int"
    nowhere_registered = np.dtype([("nowhere", "i4"), ("registered", "u1")])
    for unknown in (None, nowhere_registered, np.dtype("S3"), object):
        with pytest.raises(ValueError):
            tools.dtype_to_ctype(unknown)


def test_registering():
    pair = np.dtype([("first", "i4"), ("second", "f4")])
    with pytest.warns(DeprecationWarning):
        tools.register_dtype(pair, "cuda_test_pair")
    assert tools.dtype_to_ctype(pair) == "cuda_test_pair"
    assert tools.get_or_register_dtype("cuda_test_pair") == pair
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError, match="already registered"):
        tools.register_dtype(pair, c_names=["cuda_test_pair2"])
    with pytest.warns(DeprecationWarning):
        tools.register_dtype(pair, ["cuda_test_pair2"], alias_ok=True)
    argument = tools.parse_c_arg("const cuda_test_pair2 *__restrict__ p")
    assert isinstance(argument, tools.VectorArg) and argument.dtype == pair
    with pytest.raises(RuntimeError):
        tools.get_or_register_dtype("cuda_test_pair", np.dtype("i4"))


@pytest.mark.parametrize(
    ("text", "kind", "dtype", "char"),
    [
        ("float *x", tools.VectorArg, "f4", "P"),
        ("unsigned int const n", tools.ScalarArg, "u4", "I"),
        ("double x", tools.ScalarArg, "f8", "d"),
        ("long long *a", tools.VectorArg, "i8", "P"),
        ("pycuda::complex<float> z", tools.ScalarArg, "c8", "F"),
        ("uint8_t b", tools.ScalarArg, "u1", "B"),
    ],
)
def test_c_arguments_are_parsed(text, kind, dtype, char):
    argument = tools.parse_c_arg(text)
    assert type(argument) is kind and argument.dtype == np.dtype(dtype)
    assert argument.struct_char == char == tools.get_arg_type(text)
    again = tools.parse_c_arg(argument.declarator())
    assert (again.name, again.dtype) == (argument.name, argument.dtype)


@pytest.mark.parametrize("text", ["", "float", "nonsense x", "float **x", "float x y z!"])
def test_text_that_is_not_an_argument(text):
    with pytest.raises(ValueError):
        tools.parse_c_arg(text)


def test_device_data(context):
    data, device = tools.DeviceData(), cuda.Device(0)
    assert data.max_threads == device.max_threads_per_block and data.warp_size == 32
    assert data.warps_per_mp == device.max_threads_per_multiprocessor // 32
    assert (data.align(1), data.align(64), data.align(65, 8)) == (64, 64, 128)
    assert (data.align_dtype(3, 4), data.align_dtype(17, 4), data.align_words(16)) == (16, 32, 8)
    assert (data.coalesce(0), data.coalesce(1), data.coalesce(17)) == (0, 16, 32)
    assert [data.make_valid_tex_channel_count(n) for n in (1, 2, 3, 4)] == [1, 2, 4, 4]
    for wrong in (lambda: data.make_valid_tex_channel_count(5), lambda: data.align_bytes(3)):
        with pytest.raises(ValueError):
            wrong()


class Fake:
    """A multiprocessor with round numbers."""

    max_threads, warp_size, warps_per_mp, thread_blocks_per_mp = 1024, 32, 64, 8
    registers, shared_memory, smem_alloc_granularity = 65536, 49152, 128


@pytest.mark.parametrize(
    ("threads", "shared", "registers", "blocks", "limit"),
    [
        (32, 0, 0, 8, "device"),
        (256, 0, 0, 8, "device"),
        (257, 0, 0, 7, "warps"),  # nine warps
        (1024, 0, 0, 2, "warps"),
        (256, 0, 64, 4, "regs"),
        (64, 12288, 0, 4, "smem"),
        (64, 12289, 0, 3, "smem"),
        (1, 1, 1, 8, "device"),
    ],
)
def test_occupancy(threads, shared, registers, blocks, limit):
    record = tools.OccupancyRecord(Fake, threads, shared_mem=shared, registers=registers)
    warps = -(-threads // 32)
    assert (record.tb_per_mp, record.limited_by) == (blocks, limit)
    assert record.warps_per_mp == blocks * warps and record.occupancy == blocks * warps / 64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((1025,), "threads"), ((1024, 0, 65), "registers"), ((1, 49153), "smem")],
)
def test_what_does_not_fit(arguments, message):
    with pytest.raises(ValueError, match=f"too (many|much) {message}"):
        tools.OccupancyRecord(Fake, *arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((None, 128), TypeError, "devdata must be a DeviceData, not NoneType"),
        ((3, 128), TypeError, "devdata must be a DeviceData, not int"),
        ((Fake, None), TypeError, "threads must be a number, not NoneType"),
        ((Fake, 0), ValueError, "threads must be at least 1, not 0"),
        ((Fake, 128, -1), ValueError, "shared_mem must be at least 0, not -1"),
        ((Fake, 128, 0, -1), ValueError, "registers must be at least 0, not -1"),
    ],
)
def test_invalid_arguments_of_occupancy_record(arguments, error, message):
    with pytest.raises(error, match=f"OccupancyRecord: {message}"):
        tools.OccupancyRecord(*arguments)


def test_device_data_of_a_str():
    with pytest.raises(TypeError, match="DeviceData: dev must be a Device, not str"):
        tools.DeviceData("0")


def test_results_by_context(context):
    calls = []

    @tools.context_dependent_memoize
    def f(*args, **kwargs):
        calls.append((args, kwargs))
        return len(calls)

    assert [f(1), f(1), f(2), f(1, x=2), f(1, x=2)] == [1, 1, 2, 3, 3]
    other = cuda.Device(0).make_context()
    try:
        assert f(1) == 4 and f(1) == 4
    finally:
        cuda.Context.pop()
    assert f(1) == 1
    tools.clear_context_caches()
    assert f(1) == 5
    tools.clear_context_caches()
    other.detach()


def test_default_context(monkeypatch):
    made = []
    monkeypatch.setenv("CUDA_DEVICE", "0")

    def maker(device):
        made.append(device)
        return device.retain_primary_context()

    assert tools.make_default_context(maker).is_primary and made == [cuda.Device(0)]
    monkeypatch.delenv("CUDA_DEVICE")
    monkeypatch.setenv("HOME", "/nonexistent")

    def failing(device):
        raise cuda.LogicError("not this one")

    with pytest.raises(RuntimeError, match="wasn't able to create a context.*not this one"):
        tools.make_default_context(failing)
    with pytest.warns(DeprecationWarning):
        assert tools.get_default_device() == cuda.Device(0)


def test_marked_tests_have_a_context_of_their_own():
    seen = []

    @tools.mark_cuda_test
    def check(a, b=0):
        """What it checks."""
        seen.append((a, b, cuda.Context.get_current()))

    gc.collect()
    before = _cuda._handle_counts()
    check(1, b=2)
    assert check.__name__ == "check" and check.__doc__ == "What it checks."
    assert seen[0][:2] == (1, 2) and seen[0][2] is not None
    seen.clear()
    gc.collect()
    assert _cuda._handle_counts() == before

    @tools.mark_cuda_test
    def fails():
        raise KeyError("what it raises")

    with pytest.raises(KeyError, match="what it raises"):
        fails()
