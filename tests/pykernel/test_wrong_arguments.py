"""Misuses of vectorize, guvectorize, reduce, kernel, jit and what goes with them, one by one.

Each line of a table is evaluated with what names() gives, and must raise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu.cuda import driver
from pygpu.cuda import random as device_random
from pygpu.pykernel import ArrayType, compile_function, signature

WRONG = (TypeError, ValueError, LookupError, OverflowError, AttributeError, MemoryError)
WRONG += (driver.Error, RuntimeError, AssertionError, NotImplementedError, pygpu.KernelError)


def names() -> dict[str, Any]:
    cuda.synchronize()

    def fill(a, v):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = v

    def rows(a, v):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i, 0] = v

    def move(points, v):
        points[0].x = v

    def first(t, out):
        out[0] = t[0]

    def recursive(x):
        return recursive(x - 1)

    def asserts(a):
        assert a[0] > 5, "too small"

    def double(x, out):
        for i in range(x.shape[0]):
            out[i] = 2 * x[i]

    def keyword_only(x, *, y):
        return x + y

    def star(*x):
        return x[0]

    def add(x, y):
        return x + y

    freed = cuda.to_device(np.zeros(8, np.float32))
    freed.gpudata.free()
    locked = np.zeros(8, np.float32)
    locked.flags.writeable = False
    types = signature.TYPES
    return {
        **{"np": np, "pygpu": pygpu, "cuda": cuda, "types": types, "ArrayType": ArrayType},
        **{"compile": compile_function, "random": device_random, "signature": signature},
        **{"f4": types["float32"], "i4": types["int32"], "void": signature.void},
        "fill": pygpu.kernel(backend="cuda")(fill),
        "rows": cuda.jit(rows),
        "move": cuda.jit(move),
        "first": cuda.jit(first),
        "asserts": cuda.jit(asserts),
        "declared": cuda.jit("void(float32[:], float32)")(fill),
        "plain": {"fill": fill, "double": double, "add": add, "recursive": recursive},
        **{"star": star, "keyword_only": keyword_only, "freed": freed, "locked": locked},
        "add": pygpu.vectorize(target="cuda")(add),
        "add_f4": pygpu.vectorize(["float32(float32, float32)"], target="cuda")(add),
        "double": pygpu.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)", target="cuda")(
            double
        ),
        "matvec": pygpu.guvectorize(
            ["void(float32[:,:], float32[:], float32[:])"], "(m,n),(n)->(m)", target="cuda"
        )(lambda a, x, out: None),
        **{"total": pygpu.reduce(add), "cuda_total": cuda.reduce(add)},
        **{"host": np.arange(8, dtype=np.float32), "square": np.zeros((3, 4), np.float32)},
        **{"d": cuda.to_device(np.arange(8, dtype=np.float32)), "s": cuda.stream()},
        "z": cuda.to_device(np.zeros(8, np.complex64)),
        "point": np.zeros(2, [("x", "f4"), ("y", "f4")]),
    }


KERNELS = r"""
fill(d, 1)
fill[1](d, 1)
fill[1, 2, 3, 4, 5](d, 1)
fill[0, 0](d, 1)
fill[1, 0](d, 1)
fill[1, -1](d, 1)
fill[-1, 8](d, 1)
fill[1, 1 << 40](d, 1)
fill[1 << 40, 8](d, 1)
fill[1, 2048](d, 1)
fill[(1, 1, 1, 1), 8](d, 1)
fill[(1, 1 << 20), 8](d, 1)
fill[1, (32, 32, 32)](d, 1)
fill[1, (1, 1, 128)](d, 1)
fill["1", 8](d, 1)
fill[1.5, 8](d, 1)
fill[None, 8](d, 1)
fill[1, None](d, 1)
fill[(), 8](d, 1)
fill[1, 8, "stream"](d, 1)
fill[1, 8, 3.5](d, 1)
fill[1, 8, s, -4](d, 1)
fill[1, 8, s, 1 << 40](d, 1)
fill[1, 8, s, "x"](d, 1)
fill[1, 8]()
fill[1, 8](d)
fill[1, 8](d, 1, 2)
fill[1, 8](d, w=1)
fill[1, 8](d, 1, v=2)
fill[1, 8](d, "x")
fill[1, 8](d, object())
fill[1, 8](d, [1, 2])
fill[1, 8](d, {})
fill[1, 8](d, d)
fill[1, 8](d, host)
fill[1, 8](d, 1j)
fill[1, 8](d, z)
fill[1, 8](d, np.zeros(3, object))
fill[1, 8]("x", 1)
fill[1, 8](None, 1)
fill[1, 8](3, 1)
fill[1, 8](np.array(["a"]), "a")
fill[1, 8](freed, 1)
fill[1, 8](point, 1)
fill.forall(-1)(d, 1)
fill.forall("x")(d, 1)
fill.forall(8, tpb=-5)(d, 1)
fill.forall(1 << 50)(d, 1)
rows[1, 8](d, 1)
rows[1, 8](np.zeros(()), 1)
move[1, 1](d, 1)
move[1, 1](point, 1j)
move[1, 1](np.zeros(2, [("y", "f4")]), 1)
first[1, 1]((), d)
first[1, 1](("a",), d)
first[1, 1]((d,), d)
first[1, 1]({1: 2}, d)
asserts[1, 1](d)
declared[1, 8](square, 1)
declared[1, 8](np.zeros(3), 1)
declared[1, 8](d, 1j)
declared[1, 8](d)
declared[1, 8](d, "x")
declared[1, 8](np.zeros(3, "i4"), 1)
fill.inspect_source("nonsense")
fill.inspect_source("float32[:]")
fill.inspect_source("float32[:]", "float32", "float32")
pygpu.kernel(3)
pygpu.kernel("x")
pygpu.kernel(len)
pygpu.kernel(fill=3)(plain["fill"])
pygpu.kernel(backend="nonsense")(plain["fill"])[1, 1](d, 1)
pygpu.kernel(backend="opencl")(plain["fill"])[1, 1](d, 1)
pygpu.kernel(int)
pygpu.kernel(star)[1, 1](d)
cuda.jit("nonsense")(plain["fill"])
cuda.jit("void(float32[:]")(plain["fill"])
cuda.jit("void(nothing)")(plain["fill"])
cuda.jit(3)(plain["fill"])
cuda.jit([3])(plain["fill"])
cuda.jit(plain["recursive"])[1, 1](d)
cuda.jit(len)
cuda.jit(max_registers="x")(plain["fill"])[1, 1](d, 1)
cuda.jit(lambda a: a.append(1))[1, 1](d)
cuda.jit(lambda a: print(undefined))[1, 1](d)
cuda.jit(lambda a: [x for x in a])[1, 1](d)
cuda.jit(lambda a: {1: 2})[1, 1](d)
cuda.jit(lambda a: a @ a)[1, 1](d)
cuda.jit(lambda a: a + 1)[1, 1](d)
cuda.jit(lambda a: open("x"))[1, 1](d)
cuda.jit(lambda a: np.linalg.inv(a))[1, 1](d)
cuda.jit(lambda a: cuda.shared.array(1 << 40, np.float32))[1, 1](d)
cuda.jit(lambda a: cuda.shared.array(-1, np.float32))[1, 1](d)
cuda.jit(lambda a: cuda.shared.array(4, "nonsense"))[1, 1](d)
cuda.jit(lambda a: cuda.shared.array(a.size, np.float32))[1, 1](d)
cuda.jit(lambda a: cuda.local.array(1 << 40, np.float32))[1, 1](d)
cuda.jit(lambda a: cuda.local.array(2.5, np.float32))[1, 1](d)
cuda.jit(lambda a: cuda.grid(4))[1, 1](d)
cuda.jit(lambda a: cuda.grid())[1, 1](d)
cuda.jit(lambda a: cuda.gridsize(0))[1, 1](d)
cuda.jit(lambda a: cuda.threadIdx.w)[1, 1](d)
cuda.jit(lambda a: cuda.atomic.add(a, "x", 1))[1, 1](d)
cuda.jit(lambda a: cuda.atomic.add(a, (0, 0), 1))[1, 1](d)
cuda.jit(lambda a: cuda.atomic.add(a, 0))[1, 1](d)
cuda.jit(lambda a: cuda.atomic.add(1, 0, 1))[1, 1](d)
cuda.jit(lambda a: cuda.atomic.xor(a, 0, 1))[1, 1](d)
cuda.jit(lambda a: cuda.atomic.add(a, 0, 1))[1, 1](z)
cuda.jit(lambda a: cuda.popc(a[0]))[1, 1](d)
cuda.jit(lambda a: cuda.fma(1, 2))[1, 1](d)
cuda.jit(lambda a: cuda.shfl_sync(1))[1, 1](d)
cuda.jit(lambda a: cuda.syncthreads(1))[1, 1](d)
cuda.jit(lambda a: cuda.const.array_like(a))[1, 1](d)
cuda.jit(lambda a: cuda.const.array_like(3))[1, 1](d)
cuda.jit(lambda a: round(a[0], 1.5))[1, 1](d)
cuda.jit(lambda a: round(a[0], a[1]))[1, 1](d)
cuda.jit(lambda a: a.view("nonsense"))[1, 1](d)
cuda.jit(lambda a: a.view(np.float64, np.int32))[1, 1](d)
cuda.jit(lambda a: a[0.5])[1, 1](d)
cuda.jit(lambda a: a["x"])[1, 1](d)
cuda.jit(lambda a: a[0, 0])[1, 1](d)
cuda.jit(lambda a: a[0](1))[1, 1](d)
cuda.jit(lambda a: (yield))[1, 1](d)
compile(plain["add"], [np.float32])
compile(plain["add"], ["nonsense", int])
compile(plain["recursive"], [int])
compile(3, [int])
compile(star, [int])
"""

FUNCTIONS = r"""
pygpu.vectorize(3)
pygpu.vectorize(["nonsense"])(plain["add"])
pygpu.vectorize(["float32(float32)"])(plain["add"])
pygpu.vectorize([3])(plain["add"])
pygpu.vectorize(["void(float32, float32)"])(plain["add"])
pygpu.vectorize(["float32[:](float32, float32)"])(plain["add"])
pygpu.vectorize(target="nowhere")(plain["add"])
pygpu.vectorize(star)
pygpu.vectorize(keyword_only)
pygpu.vectorize(len)
pygpu.vectorize(plain["recursive"])(d)
pygpu.vectorize(lambda: 1)
pygpu.vectorize(lambda x: [x])(d)
pygpu.vectorize(lambda x: None)(d)
pygpu.vectorize(lambda x: cuda.shared.array(3, f4)[0])(d)
add()
add(d)
add(d, d, d, d)
add(d, square)
add(d, "x")
add(d, None)
add(d, object())
add(d, [object()])
add(d, freed)
add(d, d, out=host[:3])
add(d, d, out=3)
add(d, d, out=locked)
add(d, d, out=(d, d))
add(d, d, dtype="nonsense")
add(d, d, where=3.5)
add(d, d, where=host)
add(d, d, nothing=3)
add(d, d, queue=s, stream=s)
add(d, d, stream="x")
add(np.zeros(3, object), 1)
add(np.array(["a"]), 1)
add.reduce(3)
add.reduce(d, axis=3)
add.reduce(d, axis="x")
add.reduce(d, axis=(0, 0))
add.accumulate(d, axis=2)
add.reduce(d, out=host[:3])
add_f4(z, z)
add_f4(d, 1j)
add_f4(np.zeros(3), np.zeros(3), casting="no")
add_f4(d, d, dtype="int8")
pygpu.guvectorize()
pygpu.guvectorize(["void(float32[:], float32[:])"])
pygpu.guvectorize(["void(float32[:])"], "(n)->(n)")(plain["double"])
pygpu.guvectorize(["void(float32[:], float32[:])"], "nonsense")(plain["double"])
pygpu.guvectorize(["void(float32[:], float32[:])"], "(n)->(m)")(plain["double"])(d)
pygpu.guvectorize(["void(float32[:], float32[:])"], "(n),(n)->(n)")(plain["double"])
pygpu.guvectorize(["nonsense"], "(n)->(n)")(plain["double"])
pygpu.guvectorize([], "(n)->(n)")(plain["double"])(object())
pygpu.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)", target="nowhere")(plain["double"])
pygpu.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")(len)
double()
double(3)
double("x")
double(d, d, d)
double(d, out=square)
double(d, out=locked)
double(d, out=3)
double(z)
double(freed)
double(d, axis=5)
double(d, nothing=3)
matvec(d, d)
matvec(square, host)
matvec(square)
matvec(square, np.zeros((2, 5), "f4"))
pygpu.reduce(3)
pygpu.reduce(len)
pygpu.reduce(lambda x: x)
pygpu.reduce(lambda x, y, z: x)
pygpu.reduce(star)
pygpu.reduce(lambda x, y: [x])(d)
pygpu.reduce(plain["add"], target="nowhere")
total()
total("x")
total(None)
total(object())
total(d, axis=4)
total(d, axis="x")
total(d, size=100)
total(d, size=-1)
total(d, size="x")
total(d, init="x")
total(d, init=object())
total(d, init=1j)
total(d, res=3)
total(d, stream="x")
total(d, nothing=3)
total(np.zeros(0, "f4"))
total(np.zeros(3, object))
total(freed)
cuda_total()
cuda_total(d, size=9)
cuda_total(d, res=locked)
cuda_total(d, init=1j)
cuda.reduce(3)
pygpu.jit(3)
pygpu.jit(len)
cuda.to_device(object())
cuda.to_device(np.zeros(3, object))
cuda.to_device(host, to=square)
cuda.to_device(host, to=3)
cuda.to_device(host, stream="x")
cuda.device_array(-1)
cuda.device_array("x")
cuda.device_array(1 << 60)
cuda.device_array((1 << 40, 1 << 40))
cuda.device_array(3, dtype="nonsense")
cuda.device_array(3, dtype=object)
cuda.device_array(3, order="Q")
cuda.device_array_like(3)
cuda.pinned_array(-1)
cuda.pinned_array(3, dtype="nonsense")
cuda.mapped_array("x")
cuda.managed_array(-2)
cuda.as_cuda_array(3)
cuda.as_cuda_array(host)
cuda.from_cuda_array_interface(3)
cuda.select_device(100)
cuda.select_device("x")
cuda.select_device(-1)
cuda.gpus[100]
cuda.event_elapsed_time(3, 4)
cuda.event_elapsed_time(cuda.event(), cuda.event())
cuda.event().record("x")
cuda.external_stream("x")
cuda.grid(1)
cuda.syncthreads()
cuda.shared.array(3, np.float32)
cuda.atomic.add(d, 0, 1)
cuda.laneid + 1
d.copy_to_host(square)
d.copy_to_host(locked)
d.copy_to_host(3)
d.copy_to_host(stream="x")
d.copy_to_device(square)
d.copy_to_device("x")
d[100]
d["x"]
d.__setitem__(100, 1)
d.__setitem__(0, "x")
d.reshape(3, 5)
d.view("nonsense")
freed.copy_to_host()
random.create_xoroshiro128p_states(-1, 1)
random.create_xoroshiro128p_states("x", 1)
random.create_xoroshiro128p_states(4, "x")
random.xoroshiro128p_uniform_float32(d, 0)
signature.as_type("nonsense")
signature.as_type(3)
f4[3]
f4["x"]
void("x")
"""

CASES = [text for table in (KERNELS, FUNCTIONS) for text in table.strip().splitlines()]


@pytest.fixture(scope="module", name="known")
def known_names() -> Iterator[dict[str, Any]]:
    os.environ.setdefault("PYGPU_CUDA", "auto")
    if not cuda.is_available():
        pytest.skip("CUDA: neither a GPU nor the simulator")
    context = driver.Device(0).retain_primary_context()
    context.push()
    yield names()
    driver.Context.pop()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", CASES)
def test_a_misuse_is_an_error(known: dict[str, Any], text: str) -> None:
    with pytest.raises(WRONG) as caught:
        eval(text, dict(known))
    assert str(caught.value).strip()


def test_all_is_well_after_them(known: dict[str, Any]) -> None:
    known["fill"][1, 8](known["d"], 3)
    assert known["d"].copy_to_host().tolist() == [3] * 8
    assert known["total"](known["d"]) == 24
