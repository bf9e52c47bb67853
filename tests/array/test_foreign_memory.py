"""Claims of other libraries about device memory: what the protocols do not allow, and items that do
not lie in the memory that there is, are refused before anything is read; the rest is taken."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import _array, xp

if "test_dlpack" not in sys.modules:  # test folders are not packages
    _spec = importlib.util.spec_from_file_location(
        "test_dlpack", Path(__file__).with_name("test_dlpack.py")
    )
    assert _spec is not None and _spec.loader is not None
    sys.modules["test_dlpack"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["test_dlpack"])
import test_dlpack

HUGE = 1 << 62


class Shown:
    """Another library's array by its interface."""

    def __init__(self, interface: Any) -> None:
        self.__cuda_array_interface__ = interface


@pytest.fixture
def cuda(cuda_context: Any) -> Any:
    cuda_context.push()
    import pygpu.cuda

    yield pygpu.cuda
    type(cuda_context).pop()


def doubled(a):
    i = pygpu.grid(1)
    if i < a.size:
        a[i] *= 2


def take_as_array(cuda: Any, x: Any) -> Any:
    return xp.asarray(x)


def take_as_numba(cuda: Any, x: Any) -> Any:
    return cuda.as_cuda_array(x)


def take_as_argument(cuda: Any, x: Any) -> Any:
    cuda.jit(doubled)[1, 1](x)
    return None


def take_as_operand(cuda: Any, x: Any) -> Any:
    return pygpu.vectorize(lambda a: a + a, target="cuda")(x)


WAYS = [take_as_array, take_as_numba, take_as_argument, take_as_operand]

# Each differs from a description of 16 numbers of float32 by one claim.
BEYOND = {
    "one item more": {"shape": (17,)},
    "a length beyond 2**61": {"shape": (HUGE // 8,)},
    "rows beyond": {"shape": (2, 8), "strides": (36, 4)},
    "a stride of 2**61": {"shape": (2,), "strides": (HUGE >> 1,)},
    "a stride of -2**61": {"shape": (2,), "strides": (-(HUGE >> 1),)},
    "before the memory": {"shape": (2,), "strides": (-4,)},
}
UNKNOWN = {
    "an address of nothing": {"data": (1 << 44, False)},
    "an address in the first page": {"data": (16, False)},
    "the last address": {"data": ((1 << 64) - 4, False)},
}
WRONG = {
    "no dict": None,
    "typestr None": {"typestr": None},
    "typestr of a type": {"typestr": np.float32},
    "typestr of a name": {"typestr": "float32"},
    "typestr empty": {"typestr": ""},
    "typestr of several": {"typestr": "<f4,<f4"},
    "typestr unknown": {"typestr": "<q4"},
    "typestr of no size": {"typestr": "|V0"},
    "typestr of objects": {"typestr": "|O8"},
    "typestr of the other order": {"typestr": ">f4"},
    "descr of another size": {"typestr": "|V4", "descr": [("a", "<f8")]},
    "descr of nonsense": {"typestr": "|V4", "descr": [3]},
    "shape None": {"shape": None},
    "shape of a number": {"shape": 16},
    "shape of strings": {"shape": ("16",)},
    "shape of floats": {"shape": (16.0,)},
    "shape of bools": {"shape": (True,)},
    "shape negative": {"shape": (-1,)},
    "shape of 2**64": {"shape": (1 << 64,)},
    "shape of 40 axes": {"shape": (1,) * 40},
    "strides of other length": {"strides": (4, 4)},
    "strides of strings": {"strides": ("4",)},
    "strides of 2**64 where nothing moves": {"shape": (1,), "strides": (1 << 64,)},
    "version 1": {"version": 1},
    "version of a string": {"version": "3"},
    "stream 0": {"stream": 0},
    "stream negative": {"stream": -1},
    "stream of a string": {"stream": "1"},
    "stream of 2**64": {"stream": 1 << 64},
    "data None": {"data": None},
    "data of one": {"data": (4096,)},
    "an address of a string": {"data": ("4096", False)},
    "a negative address": {"data": (-4096, False)},
    "an address of 2**64": {"data": (1 << 64, False)},
    "read-only of a string": {"data": (4096, "no")},
    "items and no memory": {"data": (0, False)},
}


def described(memory: Any, changes: Any) -> Any:
    if changes is None:
        return "an interface"
    return {**memory.__cuda_array_interface__, "shape": (16,), "typestr": "<f4", **changes}


@pytest.mark.parametrize("take", WAYS)
@pytest.mark.parametrize("claim", BEYOND)
def test_items_outside_of_the_memory_are_refused(cuda: Any, take: Any, claim: str) -> None:
    memory = cuda.driver.mem_alloc(64)
    with pytest.raises(
        BufferError, match="outside of their allocation, which is at 0x|not memory of"
    ):
        take(cuda, Shown(described(memory, BEYOND[claim])))


@pytest.mark.parametrize("take", WAYS)
@pytest.mark.parametrize("claim", UNKNOWN)
def test_memory_that_the_driver_does_not_know_is_refused(cuda: Any, take: Any, claim: str) -> None:
    memory = cuda.driver.mem_alloc(64)
    with pytest.raises(BufferError, match="not memory of the CUDA driver"):
        take(cuda, Shown(described(memory, UNKNOWN[claim])))


@pytest.mark.parametrize("take", WAYS)
@pytest.mark.parametrize("claim", WRONG)
def test_what_the_protocol_does_not_allow_is_refused(cuda: Any, take: Any, claim: str) -> None:
    memory = cuda.driver.mem_alloc(64)
    with pytest.raises(BufferError, match="interface") as caught:
        take(cuda, Shown(described(memory, WRONG[claim])))
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("take", WAYS)
def test_a_mask_is_refused(cuda: Any, take: Any) -> None:
    memory = cuda.driver.mem_alloc(64)
    with pytest.raises((BufferError, NotImplementedError), match="[Mm]ask"):
        take(cuda, Shown(described(memory, {"mask": memory})))


def test_a_mask_is_refused_by_a_kernel_of_cuda_c(cuda: Any) -> None:
    memory = cuda.driver.mem_alloc(64)
    module = cuda.compiler.SourceModule("__global__ void k(float *x) { x[0] = 1; }")
    with pytest.raises(TypeError, match="has a mask"):
        module.get_function("k")(
            Shown(described(memory, {"mask": memory})), block=(1, 1, 1), grid=(1, 1)
        )


@pytest.mark.parametrize("typestr", [None, np.float32, b"<f4"])
def test_a_type_that_is_not_text_is_refused_by_a_kernel_of_cuda_c(cuda: Any, typestr: Any) -> None:
    memory = cuda.driver.mem_alloc(64)
    module = cuda.compiler.SourceModule("__global__ void k(float *x) { x[0] = 1; }")
    with pytest.raises(TypeError, match="'typestr' in the __cuda_array_interface__"):
        module.get_function("k")(
            Shown(described(memory, {"typestr": typestr})), block=(1, 1, 1), grid=(1, 1)
        )


@pytest.mark.parametrize("take", WAYS)
def test_items_that_are_not_aligned_are_refused(cuda: Any, take: Any) -> None:
    memory = cuda.driver.mem_alloc(64)
    for changes in ({"data": (int(memory) + 2, False)}, {"strides": (6,)}):
        with pytest.raises(BufferError, match="multiples of 4 bytes"):
            take(cuda, Shown(described(memory, {"shape": (4,), "strides": None, **changes})))


def test_a_pooled_block_is_one_range(cuda: Any) -> None:
    x = cuda.gpuarray.to_gpu(np.arange(16, dtype=np.float32))
    with pytest.raises(BufferError, match="outside of their allocation, which is at"):
        xp.asarray(Shown({**x.__cuda_array_interface__, "shape": (4096,), "strides": None}))


# ---- what is taken


def memories(cuda: Any) -> dict[str, tuple[Any, int]]:
    """Memory of every kind: what keeps it, and the address of 64 bytes."""
    driver = cuda.driver
    plain, ordered = driver.mem_alloc(64), driver.mem_alloc_async(64)
    pooled = cuda.gpuarray.empty(16, np.float32)
    managed, host = driver.managed_empty(16, np.float32), driver.pagelocked_empty(16, np.float32)
    return {
        "plain": (plain, int(plain)),
        "ordered": (ordered, int(ordered)),
        "pooled": (pooled, pooled.ptr),
        "managed": (managed, managed.ctypes.data),
        "host": (host, host.ctypes.data),
    }


@pytest.mark.parametrize("kind", ["plain", "ordered", "pooled", "managed", "host"])
def test_whole_allocations_of_every_kind_are_accepted(cuda: Any, kind: str) -> None:
    owner, address = memories(cuda)[kind]
    shown = Shown({"shape": (16,), "typestr": "<f4", "data": (address, False), "version": 3})
    taken = xp.asarray(shown)
    taken[...] = np.arange(16, dtype=np.float32)
    assert cuda.as_cuda_array(shown).copy_to_host().tolist() == list(range(16))
    cuda.jit(doubled)[1, 16](shown)
    assert taken.get().tolist() == list(range(0, 32, 2))
    assert owner is not None


VIEWS = {
    "at an offset": ((4,), None, 12, np.arange(12, 16)),
    "backwards": ((16,), (-4,), 15, np.arange(15, -1, -1)),
    "of two axes": ((2, 3), (32, -8), 5, np.array([[5, 3, 1], [13, 11, 9]])),
    "repeated": ((3, 2), (0, 4), 14, np.array([[14, 15]] * 3)),
    "of one item": ((1,), (HUGE >> 1,), 15, np.array([15])),
    "of nothing": ((0, 3), (HUGE >> 1, 4), 0, np.zeros((0, 3))),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_inside_of_the_memory_are_taken(cuda: Any, view: str) -> None:
    shape, strides, first, expected = VIEWS[view]
    memory = cuda.driver.to_device(np.arange(16, dtype=np.float32))
    shown = Shown(
        {
            "shape": shape,
            "strides": strides,
            "typestr": "<f4",
            "data": (int(memory) + 4 * first, False),
            "version": 2,
        }
    )
    for found in (xp.asarray(shown).get(), cuda.as_cuda_array(shown).copy_to_host()):
        assert found.tolist() == expected.tolist()


def test_an_array_without_items_needs_no_memory(cuda: Any) -> None:
    for address in (0, None):
        shown = Shown({"shape": (0, 5), "typestr": "<f4", "data": (address, False), "version": 3})
        assert xp.asarray(shown).shape == (0, 5)
        assert cuda.as_cuda_array(shown).shape == (0, 5)


@pytest.mark.parametrize("named", [True, False])
def test_a_launch_comes_after_the_stream_that_its_argument_names(cuda: Any, named: bool) -> None:
    from pygpu import _cuda

    stream = cuda.driver.Stream(cuda.driver.stream_flags.NON_BLOCKING)
    x = cuda.gpuarray.zeros(16, np.float32)
    kernel = cuda.jit(doubled)[1, 16]
    kernel(x)
    _cuda._call_counts(True)
    try:
        kernel(Shown({**x.__cuda_array_interface__, "stream": stream.handle if named else 1}))
    finally:
        counts = _cuda._call_counts(False)
    assert counts.get("cuEventRecord", 0) == named


# ---- DLPack


def exporter(cuda: Any, memory: Any, kind: Any = None, **changes: Any) -> Any:
    """16 numbers of float32 of a DeviceAllocation by a capsule made by hand."""
    own = memory.__dlpack_device__()
    made = test_dlpack.Foreign(
        **{
            "shape": (16,),
            "data": int(memory),
            "device": test_dlpack.Device(*own),
            **changes,
        }
    )
    made.memory = memory
    made.__class__ = type(
        "Exporter",
        (test_dlpack.Foreign,),
        {"__dlpack_device__": lambda self: own if kind is None else kind},
    )
    return made


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (17,)}, "outside of their allocation"),
        ({"shape": (2,), "strides": (-1,)}, "outside of their allocation|not memory of"),
        ({"shape": (2,), "strides": (1 << 58,)}, "not memory of|outside of their allocation"),
        ({"offset": 4}, "outside of their allocation"),
        ({"offset": 1 << 40}, "not memory of|outside of their allocation"),
        ({"data": (1 << 64) - 8, "offset": 64}, "not memory of|on device"),
        ({"data": 4096}, "not memory of"),
        ({"offset": 2, "shape": (4,)}, "multiples of 4 bytes"),
    ],
    ids=str,
)
def test_dlpack_beyond_the_memory_is_refused(cuda: Any, changes: Any, message: str) -> None:
    made = exporter(cuda, cuda.driver.mem_alloc(64), **changes)
    with pytest.raises(BufferError, match=message):
        xp.from_dlpack(made)
    assert made.deleted <= 1


def test_a_negative_stride_that_was_divided_without_a_sign_is_refused_with_advice(
    cuda: Any,
) -> None:
    """As CuPy exports x[::-1]."""
    memory = cuda.driver.mem_alloc(64)
    made = exporter(cuda, memory, strides=((2**64 - 4) // 4,), offset=60)
    with pytest.raises(BufferError, match="a stride is larger than any memory .*xp.asarray"):
        xp.from_dlpack(made)


def test_asarray_prefers_the_cuda_interface_to_dlpack(cuda: Any) -> None:
    memory = cuda.driver.to_device(np.arange(16, dtype=np.float32))
    made = exporter(cuda, memory, strides=((2**64 - 4) // 4,), offset=60)
    made.__cuda_array_interface__ = {
        **memory.__cuda_array_interface__,
        "shape": (16,),
        "typestr": "<f4",
        "strides": (-4,),
        "data": (int(memory) + 60, False),
    }
    assert xp.asarray(made).get().tolist() == list(range(15, -1, -1))


def test_dlpack_inside_of_the_memory_is_taken(cuda: Any) -> None:
    memory = cuda.driver.to_device(np.arange(16, dtype=np.float32))
    made = exporter(cuda, memory, shape=(4, 2), strides=(-2, 1), offset=4 * 14)
    assert xp.from_dlpack(made).get().tolist() == [[14, 15], [12, 13], [10, 11], [8, 9]]
    assert xp.from_dlpack(exporter(cuda, memory)).get().tolist() == list(range(16))


@pytest.mark.parametrize("kind", [(2, 5), (2, -1), (4, 0), (1, 0), (13, 0), (99, 0)])
def test_a_device_other_than_the_capsule_s_is_refused(cuda: Any, kind: Any) -> None:
    with pytest.raises(BufferError, match="from_dlpack"):
        xp.from_dlpack(exporter(cuda, cuda.driver.mem_alloc(64), kind))


@pytest.mark.parametrize("kind", [None, 4, (4,), (4, 0, 0), ("4", 0), (4.0, 0)])
def test_a_device_that_is_none_is_refused(on: Any, kind: Any) -> None:
    class Exporter(test_dlpack.Exporter):
        def __dlpack_device__(self) -> Any:
            return kind

    with pytest.raises(BufferError, match="__dlpack_device__.* is .*, not two ints"):
        xp.from_dlpack(Exporter(on(np.zeros(4))))


on = test_dlpack.on


@pytest.mark.parametrize("said", [(4, 0), (4, 7), (2, 0), (3, 0)])
def test_host_memory_that_is_said_to_be_a_device_s_is_refused(said: Any, opencl_maker: Any) -> None:
    class Foreign(test_dlpack.Foreign):
        def __dlpack_device__(self) -> tuple[int, int]:
            return said

    made = Foreign()
    with pytest.raises(BufferError, match=r"the capsule of Foreign is for device \(1, 0\)"):
        xp.from_dlpack(made)
    assert made.deleted == 1


def test_a_buffer_that_is_said_to_be_host_memory_is_refused(opencl_maker: Any) -> None:
    x = opencl_maker(np.zeros(4))

    class Exporter(test_dlpack.Exporter):
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    with pytest.raises(BufferError, match=r"the capsule of Exporter is for device \(4, 0\)"):
        xp.from_dlpack(Exporter(x))


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [((17,), (4,), 0), ((2,), (-4,), 0), ((16,), (4,), 4), ((2,), (1 << 40,), 0)],
)
def test_dlpack_beyond_a_buffer_is_refused(
    opencl_maker: Any, shape: Any, strides: Any, offset: int
) -> None:
    x = opencl_maker(np.arange(16, dtype=np.float32))
    part = pygpu.Buffer(x.queue.context, pygpu.mem_flags.READ_WRITE, 64)

    class Exporter(test_dlpack.Exporter):
        def __dlpack__(self, **options: Any) -> Any:
            return _array._dlpack_export(
                part, part.int_ptr, self.array.__dlpack_device__(), shape, strides,
                np.dtype(np.float32), offset, True, 0,
            )  # fmt: skip

    with pytest.raises(BufferError, match="items lie"):
        xp.from_dlpack(Exporter(x))


def test_what_an_exporter_raises_arrives(on: Any) -> None:
    class Exporter(test_dlpack.Exporter):
        def __dlpack__(self, **options: Any) -> Any:
            raise ZeroDivisionError("broken")

    with pytest.raises(ZeroDivisionError, match="broken"):
        xp.from_dlpack(Exporter(on(np.zeros(4))))


def test_a_capsule_that_is_exported_twice_is_refused_the_second_time(on: Any) -> None:
    x = on(np.arange(4.0))
    capsule = x.__dlpack__()

    class Exporter(test_dlpack.Exporter):
        def __dlpack__(self, **options: Any) -> Any:
            return capsule

    first = xp.from_dlpack(Exporter(x))
    with pytest.raises(ValueError, match="already consumed"):
        xp.from_dlpack(Exporter(x))
    assert first.get().tolist() == [0, 1, 2, 3]


TWO_DEVICES = """
import numpy as np
import pygpu.cuda as cuda
from pygpu import xp
from pygpu.cuda import driver

driver.init()
first, second = (driver.Device(k).retain_primary_context() for k in (0, 1))
second.push()
memory = driver.to_device(np.arange(16, dtype=np.float32))
driver.Context.pop()
first.push()


class Shown:
    __cuda_array_interface__ = {
        **memory.__cuda_array_interface__, "shape": (16,), "typestr": "<f4"
    }


taken = xp.asarray(Shown())
assert taken.backend.device == driver.Device(1), taken.backend
assert taken.get().tolist() == list(range(16))


class Exporter:
    def __dlpack__(self, **options):
        return memory.__dlpack__()

    def __dlpack_device__(self):
        return 2, 1


assert xp.from_dlpack(Exporter()).backend.device == driver.Device(1)
"""


def test_memory_of_another_device_is_an_array_of_that_device() -> None:
    env = {**os.environ, "PYGPU_CUDA": "simulator", "PYGPU_SIM_DEVICES": "2"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", TWO_DEVICES], env=env, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_what_is_imported_from_the_host_is_checked_before_it_is_read(on: Any) -> None:
    null = ctypes.POINTER(ctypes.c_int64)()
    for changes in (
        {"data": None},
        {"ndim": -1},
        {"ndim": 33},
        {"dtype": test_dlpack.Type(2, 32, 2)},
    ):
        made = test_dlpack.Foreign(**changes)
        with pytest.raises(BufferError, match="from_dlpack"):
            xp.from_dlpack(made)
    made = test_dlpack.Foreign()
    made.managed.tensor.shape = null
    with pytest.raises(BufferError, match="the shape is missing"):
        xp.from_dlpack(made)
