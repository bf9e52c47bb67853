"""Misuses of vectorize, guvectorize, reduce, kernel, jit and what goes with them, one by one.

Each line of a table is evaluated with what names() gives, and must raise: on CUDA, and on OpenCL
unless it is about CUDA's own.
"""

from __future__ import annotations

import math
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu._src.jit import signature
from pygpu.array import to_device
from pygpu.cuda import driver
from pygpu.cuda import random as device_random
from pygpu.pykernel import ArrayType, compile_function

WRONG = (TypeError, ValueError, LookupError, OverflowError, AttributeError, MemoryError)
WRONG += (driver.Error, RuntimeError, AssertionError, NotImplementedError, pygpu.KernelError)


class OnCuda:
    """What names() needs to know of a backend."""

    name, other = "cuda", "opencl"
    to_device = staticmethod(cuda.to_device)
    jit = staticmethod(cuda.jit)
    stream = staticmethod(cuda.stream)


class OnOpenCL:
    name, other = "opencl", "cuda"

    def __init__(self, queue: Any) -> None:
        self.queue = queue

    def to_device(self, host: Any) -> Any:
        return to_device(self.queue, host)

    def jit(self, given: Any = None, **options: Any) -> Any:
        """cuda.jit's ways of being called, for kernels of OpenCL."""
        if isinstance(given, types.FunctionType):
            return pygpu.kernel(backend="opencl", **options)(given)
        several = [] if given is None else signature.signatures(given, "jit")
        return pygpu.kernel(backend="opencl", signatures=[s.args for s in several], **options)

    def stream(self) -> Any:
        return pygpu.CommandQueue(self.queue.context)


def names(on: Any) -> dict[str, Any]:
    if on.name == "cuda":
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

    freed = on.to_device(np.zeros(8, np.float32))
    getattr(freed, "gpudata" if on.name == "cuda" else "base_data").__getattribute__(
        "free" if on.name == "cuda" else "release"
    )()
    locked = np.zeros(8, np.float32)
    locked.flags.writeable = False
    known = signature.TYPES

    def dates(a):
        a[0] = a[1]

    return {
        "other": on.other,
        **{"math": math, "np": np, "pygpu": pygpu, "cuda": cuda, "types": known},
        "ArrayType": ArrayType,
        **{"compile": compile_function, "random": device_random, "signature": signature},
        **{"f4": known["float32"], "i4": known["int32"], "void": signature.void},
        "jit": on.jit,
        "fill": pygpu.kernel(backend=on.name)(fill),
        "rows": on.jit(rows),
        "move": on.jit(move),
        "first": on.jit(first),
        "asserts": on.jit(asserts),
        "declared": on.jit("void(float32[:], float32)")(fill),
        "plain": {"fill": fill, "double": double, "add": add, "recursive": recursive},
        **{"star": star, "keyword_only": keyword_only, "freed": freed, "locked": locked},
        "dates": dates,
        "add": pygpu.vectorize(target=on.name)(add),
        "add_f4": pygpu.vectorize(["float32(float32, float32)"], target=on.name)(add),
        "double": pygpu.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)", target=on.name)(
            double
        ),
        "matvec": pygpu.guvectorize(
            ["void(float32[:,:], float32[:], float32[:])"], "(m,n),(n)->(m)", target=on.name
        )(lambda a, x, out: None),
        **{"total": pygpu.reduce(add), "cuda_total": cuda.reduce(add)},
        **{"host": np.arange(8, dtype=np.float32), "square": np.zeros((3, 4), np.float32)},
        **{"d": on.to_device(np.arange(8, dtype=np.float32)), "s": on.stream()},
        "z": on.to_device(np.zeros(8, np.complex64)),
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
pygpu.kernel(backend=other)(plain["fill"])[1, 1](d, 1)
pygpu.kernel(int)
pygpu.kernel(star)[1, 1](d)
jit("nonsense")(plain["fill"])
jit("void(float32[:]")(plain["fill"])
jit("void(nothing)")(plain["fill"])
jit(3)(plain["fill"])
jit([3])(plain["fill"])
jit("void(float32[:])")(plain["fill"])
jit("void(float32[:], float32, float32)")(plain["fill"])
jit(plain["recursive"])[1, 1](d)
jit(len)
jit(max_registers="x")(plain["fill"])[1, 1](d, 1)
jit(lambda a: a.append(1))[1, 1](d)
jit(lambda a: print(undefined))[1, 1](d)
jit(lambda a: [x for x in a])[1, 1](d)
jit(lambda a: {1: 2})[1, 1](d)
jit(lambda a: a @ a)[1, 1](d)
jit(lambda a: a + 1)[1, 1](d)
jit(lambda a: open("x"))[1, 1](d)
jit(lambda a: np.linalg.inv(a))[1, 1](d)
jit(lambda a: cuda.shared.array(1 << 40, np.float32))[1, 1](d)
jit(lambda a: cuda.shared.array(-1, np.float32))[1, 1](d)
jit(lambda a: cuda.shared.array(4, "nonsense"))[1, 1](d)
jit(lambda a: cuda.shared.array(a.size, np.float32))[1, 1](d)
jit(lambda a: cuda.local.array(1 << 40, np.float32))[1, 1](d)
jit(lambda a: cuda.local.array(2.5, np.float32))[1, 1](d)
jit(lambda a: cuda.grid(4))[1, 1](d)
jit(lambda a: cuda.grid())[1, 1](d)
jit(lambda a: cuda.gridsize(0))[1, 1](d)
jit(lambda a: cuda.threadIdx.w)[1, 1](d)
jit(lambda a: cuda.atomic.add(a, "x", 1))[1, 1](d)
jit(lambda a: cuda.atomic.add(a, (0, 0), 1))[1, 1](d)
jit(lambda a: cuda.atomic.add(a, 0))[1, 1](d)
jit(lambda a: cuda.atomic.add(1, 0, 1))[1, 1](d)
jit(lambda a: cuda.atomic.xor(a, 0, 1))[1, 1](d)
jit(lambda a: cuda.atomic.add(a, 0, 1))[1, 1](z)
jit(lambda a: cuda.popc(a[0]))[1, 1](d)
jit(lambda a: cuda.fma(1, 2))[1, 1](d)
jit(lambda a: cuda.shfl_sync(1))[1, 1](d)
jit(lambda a: cuda.syncthreads(1))[1, 1](d)
jit(lambda a: cuda.const.array_like(3))[1, 1](d)
jit(lambda a: [*a])[1, 1](d)
jit(lambda a: enumerate(3))[1, 1](d)
jit(lambda a: reversed(a))[1, 1](d)
jit(lambda a: math.dist(a, a))[1, 1](d)
jit(lambda a: math.isclose(a[0]))[1, 1](d)
jit(lambda a: math.prod(a))[1, 1](d)
jit(lambda a: a.astype(int))[1, 1](d)
jit(lambda a: a.copy())[1, 1](d)
jit(lambda a: np.zeros(a.size))[1, 1](d)
jit(lambda a: np.sum(a, axis=0))[1, 1](d)
jit(lambda a: sorted(a))[1, 1](d)
jit(lambda a: str(a[0]))[1, 1](d)
jit(lambda a: a[0] < "x")[1, 1](d)
jit(lambda a: a[0] + None)[1, 1](d)
jit(lambda a: a[0] << 1)[1, 1](d)
jit(lambda a: a[0] < 1j)[1, 1](d)
jit(lambda a: int(1j * a[0]))[1, 1](d)
jit(lambda a: a[0:2:0])[1, 1](d)
jit(lambda a: a.shape[5])[1, 1](d)
jit(lambda a: (1, 2)[3])[1, 1](d)
jit(lambda a: (1, 2)[a[0]])[1, 1](d)
jit(lambda a: 1 // 0)[1, 1](d)
jit(lambda a: math.sqrt(-1))[1, 1](d)
jit(lambda a: math.sqrt(1j * a[0]))[1, 1](d)
jit(lambda a: range(3))[1, 1](d)
jit(lambda a: (lambda b: b)(a))[1, 1](d)
jit(lambda a: f"{a}")[1, 1](d)
jit(lambda a: a[..., ...])[1, 1](d)
jit(lambda a: a[0] in a)[1, 1](d)
jit(lambda a: np.sqrt(a[0]))[1, 1](np.zeros(3, "M8[s]"))
jit(dates)[1, 1](np.zeros(3, "S4"))
jit(dates)[1, 1](np.zeros(3, ">f4"))
jit(dates)[1, 1](np.zeros(3, "g"))
jit(lambda a: round(a[0], 1.5))[1, 1](d)
cuda.jit(lambda a: cuda.all_sync(a[0], 1))[1, 1](d)
cuda.jit(lambda a: cuda.any_sync(-1, a[0]))[1, 1](d)
cuda.jit(lambda a: cuda.shfl_sync(a, a[0], 0))[1, 1](d)
jit(lambda a: round(a[0], a[1]))[1, 1](d)
jit(lambda a: a.view("nonsense"))[1, 1](d)
jit(lambda a: a.view(np.float64, np.int32))[1, 1](d)
jit(lambda a: a[0.5])[1, 1](d)
jit(lambda a: a["x"])[1, 1](d)
jit(lambda a: a[0, 0])[1, 1](d)
jit(lambda a: a[0](1))[1, 1](d)
jit(lambda a: (yield))[1, 1](d)
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
add(d, d, casting="nonsense")
add(d, d, casting=3)
double(d, casting="nonsense")
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

# What OpenCL's devices may well do, or has no counterpart there.
_CUDA_ONLY = """
fill[1, 2048](d, 1)
fill[(1, 1 << 20), 8](d, 1)
fill[1, (1, 1, 128)](d, 1)
fill[1, (32, 32, 32)](d, 1)
fill[1, 8, s, 1 << 40](d, 1)
""".split("\n")
_WORDS = ("cuda.", "random.", "cuda_total", "copy_to", "max_registers", "freed.copy", "asserts")


def _is_for(backend: str, text: str) -> bool:
    if backend == "cuda":
        return True
    inside = text.startswith("jit(lambda") or text.startswith("pygpu.vectorize(lambda")
    return text not in _CUDA_ONLY and (inside or not any(word in text for word in _WORDS))


LINES = [text for table in (KERNELS, FUNCTIONS) for text in table.strip().splitlines()]
CASES = [(backend, text) for backend in ("cuda", "opencl") for text in LINES]
CASES = [case for case in CASES if _is_for(*case)]


@pytest.fixture(scope="module")
def known() -> Iterator[Callable[[str], dict[str, Any]]]:
    """What names() gives, for a backend; CUDA's context stays current."""
    made: dict[str, dict[str, Any]] = {}
    pushed = False

    def of(backend: str) -> dict[str, Any]:
        nonlocal pushed
        if backend not in made:
            if backend == "opencl":
                try:
                    context = pygpu.create_some_context(interactive=False)
                except pygpu.Error:
                    pytest.skip("no OpenCL device")
                made[backend] = names(OnOpenCL(pygpu.CommandQueue(context)))
            else:
                os.environ.setdefault("PYGPU_CUDA", "auto")
                if not cuda.is_available():
                    pytest.skip("CUDA: neither a GPU nor the simulator")
                driver.Device(0).retain_primary_context().push()
                pushed = True
                made[backend] = names(OnCuda)
        return made[backend]

    yield of
    if pushed:
        driver.Context.pop()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("backend", "text"), CASES)
def test_a_misuse_is_an_error(known: Any, backend: str, text: str) -> None:
    space = dict(known(backend))
    with pytest.raises(WRONG) as caught:
        eval(text, space)
    assert str(caught.value).strip()


@pytest.mark.parametrize("backend", ["cuda", "opencl"])
def test_all_is_well_after_them(known: Any, backend: str) -> None:
    space = known(backend)
    space["fill"][1, 8](space["d"], 3)
    assert space["d"].get().tolist() == [3] * 8
    assert space["total"](space["d"]) == 24
