"""Several pieces of code linked to one module."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest

from pygpu import _cuda
from pygpu.cuda import driver as cuda
from pygpu.cuda.compiler import DynamicModule, compile

LIBRARY = "__device__ int twice(int x) { return 2 * x; }"
PROGRAM = """
extern __device__ int twice(int x);
__global__ void run(int *out, int x) { out[0] = twice(x) + 1; }
"""


@pytest.fixture(scope="module")
def pieces():
    """The PTX of a function and of a program that calls it."""
    primary = cuda.Device(0).retain_primary_context()
    primary.push()
    try:
        yield [compile(text, options=["-rdc=true"], target="ptx") for text in (LIBRARY, PROGRAM)]
    finally:
        primary.pop()


def run(module) -> None:
    out = np.zeros(1, np.int32)
    module.get_function("run")(cuda.Out(out), np.int32(21), block=(1, 1, 1))
    assert out[0] == 43


def test_link(context, pieces):
    messages = []
    linker = cuda.Linker(lambda *said: messages.append(said), log_verbose=True)
    for number, piece in enumerate(pieces):
        linker.add_data(piece, cuda.jit_input_type.PTX, f"piece{number}")
    module = linker.link_module()
    run(module)
    assert [said[0] for said in messages] == [True]
    with pytest.raises(cuda.LogicError, match="has linked its module"):
        linker.link_module()
    with pytest.raises(cuda.LogicError, match="has linked its module"):
        linker.add_data(pieces[0], cuda.jit_input_type.PTX)


def test_other_buffers_and_options(context, pieces):
    linker = cuda.Linker(options=[(cuda.jit_option.OPTIMIZATION_LEVEL, 3)])
    linker.add_data(bytearray(pieces[0]), cuda.jit_input_type.PTX, name=None)
    for piece in pieces[1:]:
        linker.add_data(memoryview(piece), input_type=cuda.jit_input_type.PTX)
    run(linker.link_module())


def test_files(context, pieces, tmp_path):
    linker = cuda.Linker()
    for number, piece in enumerate(pieces):
        path = tmp_path / f"piece{number}.ptx"
        path.write_bytes(piece)
        linker.add_file(path if number else str(path), cuda.jit_input_type.PTX)
    run(linker.link_module())
    with pytest.raises(cuda.RuntimeError, match="cuLinkAddFile failed"):
        cuda.Linker().add_file(tmp_path / "none.ptx", cuda.jit_input_type.PTX)


def test_a_missing_function(context, pieces):
    messages = []
    linker = cuda.Linker(lambda *said: messages.append(said))
    with pytest.raises(cuda.Error, match="cuLink"):
        linker.add_data(pieces[1], cuda.jit_input_type.PTX)
        linker.link_module()
    assert messages and messages[-1][0] is False


def test_a_function_that_is_there_twice(context, pieces):
    linker = cuda.Linker()
    with pytest.raises(cuda.Error, match="cuLink"):
        for _ in range(2):
            linker.add_data(pieces[0], cuda.jit_input_type.PTX)
        linker.link_module()


def test_variables_templates_and_barriers_of_other_pieces(context):
    """What pieces share: variables, constants, virtual functions; callees that wait."""
    module = DynamicModule(no_extern_c=True)
    module.add_source("""
        __constant__ int table[4] = {1, 2, 3, 4};
        __device__ int counter = 5;
        struct Shape { __device__ virtual int area(int) const; };
        __device__ int Shape::area(int x) const { return -x; }
        __device__ int reverse(int x) {
            __shared__ int s[64];
            s[threadIdx.x] = x;
            __syncthreads();
            return s[blockDim.x - 1 - threadIdx.x];
        }""")
    module.add_source("""
        extern __constant__ int table[4];
        extern __device__ int counter;
        extern __device__ int reverse(int x);
        struct Shape { __device__ virtual int area(int) const; };
        struct Square : Shape { __device__ int area(int x) const override { return x * x; } };
        template <class S> __device__ int of(const Shape &s, int x) { return s.area(x); }
        extern "C" __global__ void first(int *out) {
            Square square;
            Shape shape;
            int i = threadIdx.x;
            out[i] = reverse(of<Shape>(square, i) * table[i & 3] + of<Shape>(shape, i));
            atomicAdd(&counter, 1);
        }""")
    module.add_source("""
        extern __device__ int counter;
        extern "C" __global__ void second(int *out) { *out = counter; }""")
    module.link()
    out, count = np.zeros(64, np.int32), np.zeros(1, np.int32)
    module.get_function("first")(cuda.Out(out), block=(64, 1, 1))
    i = np.arange(64)
    assert (out == (i * i * (i % 4 + 1) - i)[::-1]).all()
    module.get_function("second")(cuda.Out(count), block=(1, 1, 1))
    assert count[0] == 5 + 64
    assert module.get_global("table")[1] == 16


@pytest.mark.simulator
def test_what_the_simulator_says(context, pieces):
    def linked(*texts, **kwargs):
        linker = cuda.Linker()
        for number, text in enumerate(texts):
            linker.add_data(text, cuda.jit_input_type.PTX, f"piece{number}")
        return linker.link_module()

    plain = compile(LIBRARY + "__global__ void k() {}", target="ptx")
    with pytest.raises(cuda.LogicError, match="linking failed: undefined: twice"):
        linked(pieces[1])
    with pytest.raises(cuda.LogicError, match="linking failed: defined twice: twice"):
        linked(pieces[0], pieces[0], pieces[1])
    with pytest.raises(cuda.LogicError, match="piece1 was not compiled with -rdc=true"):
        linked(pieces[0], plain)
    with pytest.raises(cuda.LogicError, match="undefined symbol"):
        cuda.module_from_buffer(pieces[1])
    linked(plain).get_function("k")(block=(1, 1, 1))
    cuda.module_from_buffer(pieces[0])


def test_a_handler_that_fails(context, pieces):
    def fail(ok, info, error):
        raise KeyError("handler")

    linker = cuda.Linker(fail)
    for piece in pieces:
        linker.add_data(piece, cuda.jit_input_type.PTX)
    with pytest.raises(KeyError, match="handler"):
        linker.link_module()


def test_wrong_arguments(context, pieces):
    linker = cuda.Linker()
    with pytest.raises(TypeError, match="message_handler must be callable"):
        cuda.Linker(3)
    for wrong in (3, None):
        with pytest.raises(TypeError):
            linker.add_data(wrong, cuda.jit_input_type.PTX)
        with pytest.raises(TypeError):
            linker.add_file(wrong, cuda.jit_input_type.PTX)
    with pytest.raises(TypeError):
        linker.add_data(pieces[0], "PTX")
    with pytest.raises(TypeError):
        linker.add_data(pieces[0], cuda.jit_input_type.PTX, 3)
    with pytest.raises(TypeError):
        linker.add_data(pieces[0])
    with pytest.raises(cuda.LogicError, match="cannot be loaded: it is empty"):
        linker.add_data(b"", cuda.jit_input_type.PTX)
    with pytest.raises(cuda.LogicError, match="not a cubin, fatbin or PTX"):
        linker.add_data(b"\0\1\2", cuda.jit_input_type.CUBIN)
    with pytest.raises(TypeError):
        cuda.Linker(options=3)
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(linker)


def test_nothing_leaks(balance, pieces):
    for linked in (False, True):
        linker = cuda.Linker(lambda *said: None)
        for piece in pieces:
            linker.add_data(piece, cuda.jit_input_type.PTX)
        module = linker.link_module() if linked else None
        del linker, module
    gc.collect()


@pytest.mark.parametrize(
    "routine", ["cuLinkCreate", "cuLinkAddData", "cuLinkComplete", "cuModuleLoadData"]
)
def test_faults(balance, pieces, routine):
    _cuda._fault(routine, 719)
    try:
        with pytest.raises(cuda.LaunchError, match=routine):
            linker = cuda.Linker()
            for piece in pieces:
                linker.add_data(piece, cuda.jit_input_type.PTX)
            linker.link_module()
    finally:
        _cuda._fault(None, 0)
