"""Launches: sizes and their limits, streams, shared memory, contexts, attributes, errors."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from cuda.stream_gate import run_in_threads

from pygpu import _cuda
from pygpu.cuda import driver as cuda
from pygpu.cuda.compiler import SourceModule

pytestmark = pytest.mark.sampled(3)

SOURCE = """
__global__ void where(int *out)
{
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[thread + block * blockDim.x * blockDim.y * blockDim.z] = 1 + thread + 1000 * block;
}
__global__ void sizes(int *out)
{
    out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z;
    out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z;
}
__global__ void __launch_bounds__(64) bounded(int *out) { out[threadIdx.x] = 1; }
extern __shared__ int space[];
__global__ void reverse(int *data)
{
    space[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = space[blockDim.x - 1 - threadIdx.x];
}
__global__ void touch(int *out, int n)
{
    extern __shared__ char bytes[];
    bytes[n - 1] = 5;
    out[0] = bytes[n - 1];
}
__shared__ int fixed[64];
__global__ void late(int *data, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += sinf(sum + i);
    data[threadIdx.x] = sum > n ? 0 : 7;
}
__global__ void add_one(int *data) { data[threadIdx.x + blockIdx.x * blockDim.x] += 1; }
"""


@pytest.fixture
def out(kernels):
    """Device memory for 4096 ints, zero."""
    memory = cuda.mem_alloc(4 * 4096)
    cuda.memset_d8(memory, 0, 4 * 4096)
    return memory


def ints(memory, n: int) -> list[int]:
    host = np.empty(n, np.int32)
    cuda.memcpy_dtoh(host, memory)
    return host.tolist()


@pytest.mark.parametrize(
    "block, grid, want",
    [
        ((3, 2, 1), (2, 2), (2, 2, 1, 3, 2, 1)),
        ((3, 2, 2), (2, 1, 3), (2, 1, 3, 3, 2, 2)),
        ([4], [5], (5, 1, 1, 4, 1, 1)),
        (7, 3, (3, 1, 1, 7, 1, 1)),
        (np.int64(7), np.uint8(3), (3, 1, 1, 7, 1, 1)),
        ((np.int32(2), 3), np.array([4, 5]), (4, 5, 1, 2, 3, 1)),
        ((2, 3, np.int16(2)), (np.int64(1), 2), (1, 2, 1, 2, 3, 2)),
    ],
)
def test_block_and_grid(kernels, out, block, grid, want):
    for _ in range(2):
        cuda.memset_d8(out, 0, 24)
        kernels.get_function("sizes")(out, block=block, grid=grid)
        assert tuple(ints(out, 6)) == want


def test_every_thread_runs_once(kernels, out):
    kernels.get_function("where")(out, block=(4, 3, 2), grid=(3, 2, 2))
    want = [1 + thread + 1000 * block for block in range(12) for thread in range(24)]
    assert ints(out, 24 * 12) == want


def test_grid_is_one_block_unless_given(kernels, out):
    kernels.get_function("sizes")(out, block=(1, 1, 1))
    assert ints(out, 6) == [1, 1, 1, 1, 1, 1]


def test_a_changed_list_is_read_again(kernels, out):
    sizes, block = kernels.get_function("sizes"), [2]
    sizes(out, block=block)
    block[0] = 3
    sizes(out, block=block)
    assert ints(out, 6)[3] == 3


def test_keywords(kernels, out):
    sizes = kernels.get_function("sizes")
    with pytest.raises(ValueError, match=r"^must specify block size: pass block=\(x, y, z\)$"):
        sizes(out)
    with pytest.raises(ValueError, match=r"^must specify block size: pass block=\(x, y, z\)$"):
        sizes(out, block=None, grid=(1, 1))
    with pytest.raises(ValueError, match="^extra keyword arguments: foo; "):
        sizes(out, block=(1, 1, 1), foo=1)
    with pytest.raises(ValueError, match="^extra keyword arguments: foo,bar; "):
        sizes(out, foo=1, block=(1, 1, 1), bar=2)
    keywords = {"".join(["bl", "ock"]): (1, 1, 1), "".join(["gr", "id"]): (2, 1)}  # not interned
    sizes(out, **keywords)
    assert ints(out, 2) == [2, 1]
    sizes(out, block=(1, 1, 1), grid=(1, 1), stream=None, shared=0, texrefs=[], time_kernel=False)
    with pytest.raises(cuda.LogicError, match="texture references"):
        sizes(out, block=(1, 1, 1), texrefs=[object()])
    with pytest.raises(TypeError):
        sizes(out, block=(1, 1, 1), texrefs=3)


@pytest.mark.parametrize(
    "block, grid, error, words",
    [
        ((1, 1, 1), (1, 1, 1, 1), cuda.LogicError, "too many grid dimensions in kernel launch"),
        ((1, 1, 1, 1), (1,), cuda.LogicError, "too many block dimensions in kernel launch"),
        ((0, 1, 1), (1,), cuda.LogicError, r"block\[0\] is 0"),
        ((1, 0, 1), (1,), cuda.LogicError, r"block\[1\] is 0"),
        ((1, 1, 1), (1, 0), cuda.LogicError, r"grid\[1\] is 0"),
        ((), (1,), cuda.LogicError, "block is empty"),
        ((2**40, 1, 1), (1,), cuda.LogicError, r"block\[0\]"),
        ((1, 1, 1), (2**33,), cuda.LogicError, r"grid\[0\]"),
        (
            (1, 1, 1),
            (1, 2**17),
            cuda.LogicError,
            r"grid\[1\] = 131072, but this device",
        ),
        ((1, 1, 65), (1,), cuda.LogicError, r"block\[2\] = 65, but this device allows 64"),
        ((1024, 2, 1), (1,), cuda.LogicError, "2048 threads, but this device allows 1024"),
        ((-1, 1, 1), (1,), (OverflowError, ValueError), "block"),
        ((1, 1, 1), (10**30,), (OverflowError, ValueError), "grid"),
        ((1.0, 1, 1), (1,), TypeError, "block"),
        ("11", (1,), TypeError, "block"),
        (1.5, (1,), TypeError, "block"),
        ((1, 1, 1), None, TypeError, "grid"),
        ((1, 1, 1), "a", TypeError, "grid"),
        ((None,), (1,), TypeError, "block"),
    ],
)
def test_wrong_sizes(kernels, out, block, grid, error, words):
    sizes = kernels.get_function("sizes")
    with pytest.raises(error, match=words):
        sizes(out, block=block, grid=grid)
    sizes(out, block=(1, 1, 1))


def test_a_kernel_with_smaller_blocks_than_the_device(kernels, out):
    bounded = kernels.get_function("bounded")
    most = bounded.max_threads_per_block
    if most > 64:
        pytest.skip("needs a driver that tells launch bounds (max_threads_per_block)")
    bounded(out, block=(64, 1, 1))
    with pytest.raises(cuda.LaunchError, match="'bounded' runs in blocks of at most 64 threads"):
        bounded(out, block=(65, 1, 1))


def test_shared_memory(kernels, out):
    values = np.arange(100, dtype=np.int32)
    cuda.memcpy_htod(out, values)
    kernels.get_function("reverse")(out, block=(100, 1, 1), shared=values.nbytes)
    assert ints(out, 100) == values[::-1].tolist()
    with pytest.raises((OverflowError, ValueError)):
        kernels.get_function("reverse")(out, block=(1, 1, 1), shared=-1)
    with pytest.raises(TypeError):
        kernels.get_function("reverse")(out, block=(1, 1, 1), shared=4.0)


def test_all_of_the_shared_memory(kernels, out):
    """More than 48 KiB are opted in to where the device has them; more than that is an error."""
    touch, device = kernels.get_function("touch"), cuda.Device(0)
    most = device.get_attribute(cuda.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    most = max(most, device.get_attribute(cuda.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK))
    own = touch.shared_size_bytes
    for bytes_ in (1, 49152 - own, most - own, 100):
        cuda.memset_d8(out, 0, 4)
        touch(out, bytes_, block=(1, 1, 1), shared=bytes_)
        assert ints(out, 1) == [5]
    with pytest.raises(cuda.LogicError, match=f"a block on this device has at most {most}"):
        touch(out, 1, block=(1, 1, 1), shared=most - own + 1)


def test_a_kernel_counts_its_own_static_shared_memory(context):
    body = "s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[threadIdx.x] = s[31 - threadIdx.x];"
    module = SourceModule(
        f"""
        extern "C" __global__ void floats(float *a) {{ __shared__ float s[100]; {body} }}
        __global__ void doubles(double *a) {{ __shared__ double s[50]; {body} }}
        template <int N> __global__ void many(float *a) {{ __shared__ float s[N]; {body} }}
        template __global__ void many<64>(float *);
        template __global__ void many<128>(float *);
        namespace inner {{ __global__ void nested(int *a) {{ __shared__ int s[40]; {body} }} }}
        extern "C" __global__ void none(float *a) {{ a[threadIdx.x] = 1; }}
        """,
        no_extern_c=True,
    )
    sizes = {
        **{"floats": 400, "_Z7doublesPd": 400, "_Z4manyILi64EEvPf": 256, "_Z4manyILi128EEvPf": 512},
        **{"_ZN5inner6nestedEPi": 160, "none": 0},
    }
    found = {name: module.get_function(name).shared_size_bytes for name in sizes}
    reserved = found["none"]  # some GPUs keep a kilobyte of each block for themselves
    assert {name: size - reserved for name, size in found.items()} == sizes
    kernel = module.get_function("floats")
    values = np.arange(32, dtype=np.float32)
    kernel(cuda.InOut(values), block=(32, 1, 1), shared=49152 - 400 - reserved)
    assert (values == np.arange(31, -1, -1)).all()


def test_streams(kernels, out):
    add_one = kernels.get_function("add_one")
    stream = cuda.Stream()

    class Foreign:
        def __cuda_stream__(self):
            return (0, stream.handle)

    for given in (stream, stream.handle, Foreign(), None, 0):
        add_one(out, block=(8, 1, 1), stream=given)
        stream.synchronize()
    cuda.Context.synchronize()
    assert ints(out, 8) == [5] * 8
    with pytest.raises(TypeError, match="stream"):
        add_one(out, block=(8, 1, 1), stream="default")


def test_a_stream_of_another_context(kernels, out):
    other = cuda.Device(0).make_context()
    try:
        stream = cuda.Stream()
        other.pop()
        with pytest.raises(cuda.LogicError, match="different contexts"):
            kernels.get_function("add_one")(out, block=(1, 1, 1), stream=stream)
        other.push()
    finally:
        other.detach()
    with pytest.raises(cuda.LogicError):
        kernels.get_function("add_one")(out, block=(1, 1, 1), stream=stream)


def test_launch_order(kernels, out):
    add_one = kernels.get_function("add_one")
    for _ in range(3000):  # more than the driver's queue holds
        add_one(out, block=(4, 1, 1), grid=(2, 1))
    assert ints(out, 8) == [3000] * 8


def test_time_kernel(kernels, out):
    add_one = kernels.get_function("add_one")
    seconds = add_one(out, block=(8, 1, 1), time_kernel=True)
    assert isinstance(seconds, float) and 0 < seconds < 60
    assert add_one(out, block=(8, 1, 1)) is None
    with pytest.raises(AssertionError, match="asynchronous"):
        add_one(out, block=(8, 1, 1), time_kernel=True, stream=cuda.Stream())


def test_a_thread_without_a_context(kernels, out):
    """The launch goes to the kernel's own context."""
    add_one, errors = kernels.get_function("add_one"), []

    def run():
        try:
            add_one(out, block=(8, 1, 1))
            add_one(out, block=(8, 1, 1))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert not errors
    cuda.Context.synchronize()
    assert ints(out, 8) == [2] * 8


def test_another_context_is_current(kernels, out):
    add_one = kernels.get_function("add_one")
    other = cuda.Device(0).make_context()
    try:
        add_one(out, block=(8, 1, 1))
        assert cuda.Context.get_current() == other
        assert ints(out, 8) == [1] * 8
        kernels.get_function("late")(out, np.int32(200000), block=(8, 1, 1))
        assert ints(out, 8) == [7] * 8  # a copy of the other context comes after it
    finally:
        other.detach()


def test_a_destroyed_context(context):
    other = cuda.Device(0).make_context()
    try:
        module = SourceModule(SOURCE)
        launched, fresh = module.get_function("add_one"), module.get_function("sizes")
        launched.prepare("P")
        memory = cuda.mem_alloc(4)
        launched(memory, block=(1, 1, 1))
    finally:
        other.detach()
    for call in (
        lambda: launched(0, block=(1, 1, 1)),
        lambda: fresh(0, block=(1, 1, 1)),
        lambda: launched.prepared_call((1, 1), (1, 1, 1), 0),
        lambda: launched.num_regs,
        lambda: module.get_function("where"),
        lambda: module.get_global("fixed"),
    ):
        with pytest.raises(cuda.LogicError, match="context"):
            call()
    module = launched = fresh = memory = None
    gc.collect()


def test_threads_share_a_function(kernels):
    """Eight threads launch one function on their own streams and memory."""
    add_one, errors, results = kernels.get_function("add_one"), [], []
    primary = cuda.Context.get_current()

    def run():
        primary.push()
        try:
            stream, memory = cuda.Stream(), cuda.mem_alloc(64)
            cuda.memset_d8(memory, 0, 64)
            for i in range(200):
                add_one(memory, block=(8 if i % 2 else 16, 1, 1), stream=stream)
            stream.synchronize()
            results.append(ints(memory, 16))
        except BaseException as error:
            errors.append(error)
        finally:
            cuda.Context.pop()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert results == [[200] * 8 + [100] * 8] * 8


def test_attributes(kernels, out):
    sizes = kernels.get_function("sizes")
    for name in (
        "max_threads_per_block shared_size_bytes const_size_bytes local_size_bytes num_regs "
        "ptx_version binary_version cache_mode_ca max_dynamic_shared_size_bytes"
    ).split():
        value = getattr(sizes, name)
        assert isinstance(value, int)
        assert value == sizes.get_attribute(getattr(cuda.function_attribute, name.upper()))
    assert 1 <= sizes.max_threads_per_block <= 1024
    assert sizes.name == "sizes" and isinstance(sizes.handle, int) and sizes.handle
    assert "sizes" in repr(sizes)
    assert sizes.parameters == [(0, 8, "int *out")]
    assert [p[:2] for p in kernels.get_function("touch").parameters] == [(0, 8), (8, 4)]
    with pytest.raises(AttributeError, match="no_such_thing"):
        sizes.no_such_thing  # noqa: B018
    with pytest.raises(AttributeError):
        sizes.max  # noqa: B018
    with pytest.raises(cuda.LogicError, match="'sizes'"):
        sizes.get_attribute(12345)
    with pytest.raises(TypeError):
        sizes.get_attribute("NUM_REGS")
    sizes.set_cache_config(cuda.func_cache.PREFER_L1)
    sizes.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024)
    assert sizes.max_dynamic_shared_size_bytes == 1024
    sizes(out, block=(1, 1, 1), shared=2048)  # opts in anew
    with pytest.raises(cuda.LogicError):
        sizes.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 2**40)
    for attribute, value in ((0, 1), (10, 1), (16, 0), (2**31, 0), (8, -1), (9, -2), (14, 2**31)):
        with pytest.raises(cuda.LogicError, match="cuFuncSetAttribute failed: invalid argument"):
            sizes.set_attribute(attribute, value)
    with pytest.raises(cuda.LogicError, match="texture references"):
        sizes.param_set_texref(None)


def test_an_error_of_our_own_does_not_quote_another_call(context):
    kernel = SourceModule("__global__ void f(int a) {}").get_function("f")
    with pytest.raises(cuda.LogicError, match="kernel as a parameter$"):
        kernel(1, block=1, texrefs=[1])  # it asks first how many parameters there are


def test_attributes_of_the_user(kernels):
    function = kernels.get_function("sizes")
    function.note = "mine"
    assert function.note == "mine"
    function.itself = function  # a cycle, which the collector finds
    del function
    gc.collect()


def test_handles_are_not_pickled(kernels):
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(kernels.get_function("sizes"))
    with pytest.raises(TypeError):
        type(kernels.get_function("sizes"))()


def test_packed_parameters(kernels, out):
    add_one = kernels.get_function("add_one")
    packed = np.array([int(out)], np.uintp)
    add_one._launch_kernel((1, 1), (4, 1, 1), packed, 0, None)
    add_one._launch_kernel((1, 1), (4, 1, 1), packed.tobytes(), 0, cuda.Stream())
    cuda.Context.synchronize()
    assert ints(out, 5) == [2, 2, 2, 2, 0]
    with pytest.raises(TypeError, match="has 4 bytes, and kernel 'add_one' takes 8"):
        add_one._launch_kernel((1, 1), (4, 1, 1), b"1234", 0, None)
    with pytest.raises(TypeError):
        add_one._launch_kernel((1, 1), (4, 1, 1))


def test_modules_are_unloaded(balance):
    for _ in range(3):
        module = SourceModule("__global__ void f(int *x) { *x = 3; }")
        function = module.get_function("f")
        value = np.zeros(1, np.int32)
        function(cuda.Out(value), block=(1, 1, 1))
        assert value[0] == 3
        del module
        function(cuda.Out(value), block=(1, 1, 1))  # a function keeps its module
        del function


def test_faults(kernels, out):
    add_one = kernels.get_function("add_one")
    add_one(out, block=(4, 1, 1))
    for code, error in [(1, cuda.LogicError), (2, cuda.MemoryError), (701, cuda.LaunchError)]:
        _cuda._fault("cuLaunchKernel", code)
        try:
            with pytest.raises(error, match="cuLaunchKernel failed"):
                add_one(out, block=(4, 1, 1))
        finally:
            _cuda._fault(None, 0)
    for code in (700, 715, 719):  # what leaves the context unusable says how to go on
        _cuda._fault("cuLaunchKernel", code)
        with pytest.raises(cuda.Error, match=r"unusable from now on.*restart the kernel\)\)$"):
            add_one(out, block=(4, 1, 1))
    _cuda._fault("cuLaunchKernel", 712)  # of host memory: no kernel has failed
    with pytest.raises(cuda.LogicError) as caught:
        add_one(out, block=(4, 1, 1))
    assert "last kernel" not in str(caught.value) and "unusable" not in str(caught.value)
    fresh = kernels.module.get_function("where")
    for routine in ("cuFuncGetAttribute", "cuDeviceGetAttribute"):
        module = SourceModule("__global__ void f() {}", no_extern_c=False)
        fresh = module.get_function("f")
        _cuda._fault(routine, 999)
        try:
            with pytest.raises(cuda.Error, match=routine):
                fresh(block=(1, 1, 1))
        finally:
            _cuda._fault(None, 0)
        fresh(block=(1, 1, 1))


def test_a_driver_that_tells_no_parameters(out, context):
    """Before CUDA 12.4: from the PTX, else from the source, else by the arguments' own types."""
    source = "__global__ void f(char *out, char a, double b, short c) { out[0] = a + b + c; }"
    for with_source in (True, False):
        module = SourceModule(source)
        function = module.module.get_function("f")
        module.module._set_source(source if with_source else None, None)
        _cuda._fault("cuFuncGetParamInfo", 801)
        try:
            result = np.zeros(1, np.int8)
            args = (np.int8(1), np.float64(2), np.int16(3))
            function(cuda.Out(result), *args, block=(1, 1, 1))
        finally:
            _cuda._fault(None, 0)
        assert result[0] == 6
        if with_source:
            function(cuda.Out(result), 2, 3, 4, block=(1, 1, 1))
            assert result[0] == 9
            assert [p[:2] for p in function.parameters] == [(0, 8), (8, 1), (16, 8), (24, 2)]
        elif function.parameters is None:
            function(cuda.Out(result), *args, block=(1, 1, 1))
            with pytest.raises(TypeError, match="nothing is known of the parameters"):
                function(cuda.Out(result), 2, 3, 4, block=(1, 1, 1))


BAD = """
import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

module = SourceModule('''
__global__ void good(int *x) { x[threadIdx.x] = 1; }
__global__ void bad(int *x) { x[threadIdx.x + (1LL << 40)] = 1; }
''')
memory = cuda.mem_alloc(64)
module.get_function("good")(memory, block=4)
module.get_function("bad")(memory, block=(4, 2), grid=(3, 1))
for call in (
    cuda.Context.synchronize,
    lambda: module.get_function("good")(memory, block=4),
    lambda: module.get_function("bad")(cuda.InOut(bytearray(64)), block=4),
):
    try:
        call()
        print("nothing")
    except cuda.LogicError as error:
        print(error.code, error)
"""


def test_a_kernel_that_fails_is_named():
    """The call that waits tells which launch was the last; later ones fail too."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", BAD], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and all(line.startswith("700 ") for line in lines), done.stdout
    last = "the last kernel launched was bad, grid (3, 1, 1), block (4, 2, 1)"
    assert lines[0].startswith("700 cuCtxSynchronize failed") and last in lines[0]


def test_one_kernel_asked_for_by_many_threads_at_once(context):
    """The first one's plan is the one of all of them, and lives as long as the module."""
    n = 100
    text = "".join(f"__global__ void k{i}(int *a) {{ a[threadIdx.x] = {i}; }}\n" for i in range(n))
    module, start = SourceModule(text), threading.Barrier(8)

    def work(_: int) -> None:
        out = cuda.mem_alloc(4 * 32)
        for i in range(n):
            start.wait(60)
            kernel = module.get_function(f"k{i}")
            kernel(out, block=(32, 1, 1))
            assert (cuda.from_device(out, 32, np.int32) == i).all()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        run_in_threads(work, 8)
    finally:
        sys.setswitchinterval(interval)
