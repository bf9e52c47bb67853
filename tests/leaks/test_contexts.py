"""A context goes when the program has dropped it and what it made in it, whatever it was used for.

On a GPU a context takes hundreds of megabytes. What the library keeps for reuse (kernels, pools,
plans, handles of libraries) must go with it, and objects of the program that outlive contexts, such
as functions of Python and CUDA's generators, must not keep it.
"""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
import pygpu as cl
import pygpu.fft
import pygpu.linalg
from pygpu import _opencl

pytestmark = pytest.mark.sampled(3)

os.environ.setdefault("PYGPU_CUDA", "auto")

HOST = np.arange(64, dtype=np.float32)
MATRIX = np.eye(8, dtype=np.float32) + 1


class OpenCL:
    """A new OpenCL context, and functions that make objects in it."""

    name = "opencl"

    def __init__(self) -> None:
        self.context = cl.Context([cl.create_some_context(interactive=False).devices[0]])
        self.queue = cl.CommandQueue(self.context)

    @staticmethod
    def count() -> int:
        return _opencl._handle_counts()["context"]

    def array(self, host: np.ndarray) -> Any:
        from pygpu.array import to_device

        return to_device(self.queue, host)

    def leave(self) -> None:
        self.queue.finish()


class CUDA:
    """The same of CUDA; as long as it is in use it is the current one."""

    name = "cuda"

    def __init__(self) -> None:
        from pygpu.cuda import driver

        driver.init()
        self.driver = driver
        self.context = driver.Device(0).make_context()
        self.queue = None

    @staticmethod
    def count() -> int:
        from pygpu import _cuda

        return _cuda._handle_counts()["context"]

    def array(self, host: np.ndarray) -> Any:
        from pygpu.cuda.gpuarray import to_gpu

        return to_gpu(host)

    @staticmethod
    def driver_counts() -> dict[str, int]:
        """How many modules and pieces of memory there are."""
        from pygpu import _cuda

        counts = _cuda._handle_counts()
        return {name: counts[name] for name in ("module", "mem")}

    def leave(self) -> None:
        self.driver.Context.synchronize()
        self.driver.Context.pop()


# ---- what is done in a context


def operators(there: Any) -> None:
    a = there.array(HOST)
    (2 * a + a).get()
    np.exp(a)
    a[a > 3].get()
    a.reshape(8, 8).T.copy()
    a.astype(np.int32)[there.array(np.arange(3))].get()


def reductions(there: Any) -> None:
    a = there.array(HOST)
    a.sum().get()
    a.reshape(8, 8).max(axis=0).get()
    np.cumsum(a).get()


def sorting(there: Any) -> None:
    np.sort(there.array(HOST)).get()


def failures(there: Any) -> None:
    with pytest.raises(ValueError):
        there.array(HOST) + there.array(HOST[:3])


def linear_algebra(there: Any) -> None:
    a = there.array(MATRIX)
    (a @ a).get()
    pygpu.linalg.inv(a).get()
    pygpu.linalg.solve(a, there.array(HOST[:8])).get()


def transforms(there: Any) -> None:
    pygpu.fft.fft(there.array(HOST.astype(np.complex64))).get()


def algorithms(there: Any) -> None:
    if there.name == "opencl":
        from pygpu.algorithm import RadixSort, unique
        from pygpu.bitonic_sort import BitonicSort

        ints = there.array(np.array([3, 1, 2, 2], np.int32))
        unique(ints)
        BitonicSort(there.context)(ints)
        sort = RadixSort(there.context, "int *keys", key_expr="keys[i]", sort_arg_names=["keys"])
        sort(ints)
    else:
        from pygpu.cuda.scan import ExclusiveScanKernel, InclusiveScanKernel

        InclusiveScanKernel(np.float32, "a + b")(there.array(HOST)).get()
        ExclusiveScanKernel(np.float32, "a + b", "0")(there.array(HOST)).get()


def generators(there: Any) -> None:
    a = there.array(HOST)
    if there.name == "opencl":
        from pygpu.elementwise import ElementwiseKernel
        from pygpu.reduction import ReductionKernel
        from pygpu.scan import GenericScanKernel

        before: tuple[Any, ...] = (there.context,)
        GenericScanKernel(
            there.context, np.float32, "float *x", "x[i]", "a + b", "0", "x[i] = item;"
        )(a)
    else:
        from pygpu.cuda.elementwise import ElementwiseKernel  # type: ignore[assignment]
        from pygpu.cuda.reduction import ReductionKernel  # type: ignore[assignment]

        before = ()
    twice = ElementwiseKernel(*before, "float *x, float *y", "y[i] = 2 * x[i]")
    total = ReductionKernel(*before, np.float32, "0", "a + b", "x[i]", "float *x")
    for _ in range(2):  # the second time from what C remembers
        twice(a, a)
        total(a).get()


def random_numbers(there: Any) -> None:
    if there.name == "opencl":
        from pygpu import clrandom

        clrandom.rand(there.queue, (64,), np.float32).get()
        clrandom.ThreefryGenerator(there.context).normal(there.queue, (64,), np.float32).get()
    else:
        from pygpu.cuda import curandom

        curandom.rand((64,)).get()
        curandom.XORWOWRandomNumberGenerator().gen_uniform((64,), np.float32).get()


def programs(there: Any) -> None:
    a = there.array(HOST)
    if there.name == "opencl":
        source = "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }"
        cl.Program(there.context, source).build().twice(there.queue, (64,), None, a.data)
    else:
        from pygpu.cuda.compiler import SourceModule

        module = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
        twice = module.get_function("twice")
        twice(a, block=(64, 1, 1))
        twice.prepare("P").prepared_call((1, 1), (64, 1, 1), a.gpudata)
        twice(there.driver.InOut(HOST.copy()), block=(64, 1, 1))


def queues(there: Any) -> None:
    if there.name == "opencl":
        other = cl.CommandQueue(there.context)
        a = there.array(HOST).with_queue(other)
        (a + there.array(HOST)).get()
        event = cl.enqueue_marker(other)
        event.wait()
    else:
        from pygpu.cuda.gpuarray import to_gpu_async

        streams = [there.driver.Stream() for _ in range(2)]
        for stream in streams:  # memory of the pool goes from one to the other
            a = to_gpu_async(HOST, stream=stream)
            a + 1
            a.get_async(stream=stream)
        there.driver.Event().record(streams[0]).synchronize()


def pools(there: Any) -> None:
    if there.name == "opencl":
        pool: Any = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(there.queue))
        pool.allocate(100)
    else:
        from pygpu.cuda import tools

        pool = tools.DeviceMemoryPool()
        pool.allocate(100)
        tools.PageLockedMemoryPool().allocate((10,), np.float32)[:] = 1


def memoized(there: Any) -> None:
    if there.name == "opencl":
        kept_by_context(there.context)
    else:
        kept_by_current()


def python_functions(there: Any) -> None:
    """Functions that live as long as the program."""
    a = there.array(HOST)
    for _ in range(2):  # the second time from what C remembers
        add_one[1, 64](a)
        twice_plus(a).get()
        squares(a, a).get()
        rows(a.reshape(8, 8)).get()


def kept_generators(there: Any) -> None:
    """Those of CUDA belong to no context, and programs keep them."""
    from pygpu.cuda.elementwise import ElementwiseKernel
    from pygpu.cuda.reduction import ReductionKernel
    from pygpu.cuda.scan import InclusiveScanKernel

    if not generators_kept:
        generators_kept.extend([
            ElementwiseKernel("float *x", "x[i] = 2 * x[i]"),
            ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x"),
            InclusiveScanKernel(np.float32, "a + b"),
        ])  # fmt: skip
    for _ in range(2):
        for kernel in generators_kept:
            kernel(there.array(HOST))


def numba_names(there: Any) -> None:
    import pygpu.cuda as cuda

    on_device = cuda.to_device(HOST)
    add_one[1, 64](on_device)
    add_one[1, 64](HOST.copy())
    stream = cuda.stream()
    cuda.to_device(HOST, stream=stream).copy_to_host(stream=stream)
    cuda.synchronize()


def interchange(there: Any) -> None:
    a = there.array(HOST)
    a.__dlpack__()
    if there.name == "cuda":
        assert a.__cuda_array_interface__["shape"] == (64,)


def peers_names(there: Any) -> None:
    """What programs written for the other libraries get."""
    if there.name == "opencl":
        from pygpu.compat import opencl_array as arrays

        make: Callable[..., Any] = lambda host: arrays.to_device(there.queue, host)  # noqa: E731
    else:
        from pygpu.compat import cuda_gpuarray as arrays  # type: ignore[no-redef]

        make = arrays.to_gpu  # type: ignore[attr-defined]
    (make(HOST) + 1).get()


USES = [
    operators, reductions, sorting, failures, linear_algebra, transforms, algorithms, generators,
    random_numbers, programs, queues, pools, memoized, python_functions, interchange, peers_names,
]  # fmt: skip
OF_CUDA = [kept_generators, numba_names]
CASES = [(kind, use) for kind in (OpenCL, CUDA) for use in USES] + [(CUDA, use) for use in OF_CUDA]

generators_kept: list[Any] = []


@pygpu.kernel
def add_one(x):  # type: ignore[no-untyped-def]
    x[pygpu.grid(1)] += 1


@pygpu.vectorize
def twice_plus(x):  # type: ignore[no-untyped-def]
    return 2 * x + 1


@pygpu.fuse
def squares(x, y):  # type: ignore[no-untyped-def]
    return x * x + y * y


@pygpu.guvectorize(["(float32[:], float32[:])"], "(n)->()")
def rows(x, total):  # type: ignore[no-untyped-def]
    total[0] = x[0] + x[1]


@cl.tools.first_arg_dependent_memoize
def kept_by_context(context: Any) -> Any:
    return cl.Program(context, "kernel void k(global float *x) { x[0] = 1; }").build().k


def kept_by_current() -> None:
    from pygpu.cuda import tools
    from pygpu.cuda.compiler import SourceModule

    if "memoized" not in globals_kept:
        globals_kept["memoized"] = tools.context_dependent_memoize(
            lambda: SourceModule("__global__ void k(float *x) { *x = 1; }")
        )
    assert globals_kept["memoized"]() is globals_kept["memoized"]()


globals_kept: dict[str, Any] = {}


def live(kind: Any) -> int:
    gc.collect()
    return int(kind.count())


def use_once(kind: Any, use: Callable[[Any], None]) -> None:
    there = kind()
    try:
        use(there)
    finally:
        there.leave()


@pytest.mark.parametrize(("kind", "use"), CASES, ids=lambda value: value.__name__.lower())
def test_a_context_goes_with_its_last_use(kind: Any, use: Callable[[Any], None]) -> None:
    use_once(kind, use)  # what is made once for a process
    before = live(kind)
    for _ in range(2):
        use_once(kind, use)
    assert live(kind) == before


def test_a_new_context_takes_the_place_of_dropped_ones() -> None:
    """Without a collection by Python: contexts are too large to wait for one."""
    before = live(CUDA)
    gc.disable()
    try:
        for _ in range(3):
            use_once(CUDA, operators)
            assert CUDA.count() <= before + 1
    finally:
        gc.enable()


def test_a_context_in_use_keeps_its_kernels_and_pool() -> None:
    there = CUDA()
    try:
        operators(there)
        array = there.array(HOST)
        backend = weakref.ref(array.backend)
        del array
        gc.collect()
        compiled = dict(there.driver_counts())
        operators(there)
        assert there.array(HOST).backend is backend()
        assert there.driver_counts() == compiled
    finally:
        there.leave()


USES_OF_GONE = {
    "operator": lambda a: a + a,
    "get": lambda a: a.get(),
    "set": lambda a: a.set(HOST),
    "fill": lambda a: a.fill(1),
    "setitem": lambda a: a.__setitem__(0, 1),
    "sum": lambda a: a.sum(),
    "sort": np.sort,
    "copy": lambda a: a.copy(),
    "view": lambda a: a[2:5] + 1,
    "kernel": lambda a: add_one[1, 64](a),
    "vectorize": lambda a: twice_plus(a),
    "fuse": lambda a: squares(a, a),
    "dlpack": lambda a: a.__dlpack__(),
}


@pytest.mark.parametrize("use", USES_OF_GONE.values(), ids=USES_OF_GONE)
def test_arrays_of_a_detached_context_raise(use: Callable[[Any], Any]) -> None:
    before = live(CUDA)
    there = CUDA()
    a, stream = there.array(HOST), there.driver.Stream()
    add_one[1, 64](a)
    (twice_plus(a) + a).get()
    squares(a, a)
    there.context.detach()
    with pytest.raises(there.driver.LogicError, match="destroyed by detach"):
        use(a)
    with pytest.raises(there.driver.LogicError, match="destroyed by detach"):
        stream.synchronize()
    del a, stream, there
    assert live(CUDA) == before
