"""One wrong argument after the other, for every module of pygpu.cuda.

Each line of a table is evaluated with what names() gives, and must raise.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from pygpu.cuda import characterize, compiler, cumath, curandom, gpuarray, tools
from pygpu.cuda import driver as cuda
from pygpu.cuda.compiler import SourceModule
from pygpu.cuda.elementwise import ElementwiseKernel
from pygpu.cuda.reduction import ReductionKernel
from pygpu.cuda.scan import ExclusiveScanKernel, InclusiveScanKernel

WRONG = (TypeError, ValueError, LookupError, OverflowError, AttributeError, MemoryError, cuda.Error)
WRONG += (struct.error, FileNotFoundError, RuntimeError)
F = np.float32
PLAIN = "__global__ void f(){}"
SOURCE = """
__global__ void f(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = n; }
__constant__ float k[4];
"""


def lost() -> dict[str, Any]:
    """Objects of a context that was destroyed."""
    context = cuda.Device(0).make_context()
    module = SourceModule(PLAIN)
    found = {
        **{"dead": context, "dead_memory": cuda.mem_alloc(16), "dead_stream": cuda.Stream()},
        **{"dead_event": cuda.Event(), "dead_f": module.get_function("f")},
        "dead_array": gpuarray.zeros(3, F),
    }
    context.pop()
    context.detach()
    return found


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    if not cuda.Context.get_current():
        cuda.Device(0).retain_primary_context().push()
    module, freed, locked = SourceModule(SOURCE), cuda.mem_alloc(40), np.zeros(10, F)
    freed.free()
    locked.flags.writeable = False
    return {
        **{"np": np, "d": cuda, "ga": gpuarray, "cr": curandom, "cm": cumath, "t": tools},
        **{"c": compiler, "ch": characterize, "E": ElementwiseKernel, "R": ReductionKernel},
        **{"I": InclusiveScanKernel, "X": ExclusiveScanKernel, "f32": F, "PLAIN": PLAIN},
        **{"a": gpuarray.arange(10, dtype=F), "b": gpuarray.arange(7, dtype=F)},
        **{"i": gpuarray.arange(10, dtype=np.int32), "z": gpuarray.zeros(10, np.complex64)},
        **{"m": module, "f": module.get_function("f"), "mem": cuda.mem_alloc(40), "freed": freed},
        **{"s": cuda.Stream(), "e": cuda.Event(), "pool": tools.DeviceMemoryPool()},
        **{"host": np.zeros(10, F), "locked": locked},
        "k": ElementwiseKernel("float *x, float *y, float v", "y[i] = x[i] * v"),
        "r": ReductionKernel(F, "0", "a+b", arguments="const float *in"),
        "scan": InclusiveScanKernel(np.int32, "a+b"),
        "g": curandom.XORWOWRandomNumberGenerator(),
        **lost(),
    }


ARRAYS = r"""
ga.to_gpu(np.array([object()]))
ga.empty(-1, f32)
ga.empty((2, -3), f32)
ga.empty("x", f32)
ga.empty(3, "nonsense")
ga.empty(2 ** 62, f32)
ga.empty((2 ** 40, 2 ** 40), f32)
ga.empty(3.5, f32)
ga.zeros(3, object)
ga.empty(3, f32, order="Q")
ga.empty(3, f32, allocator=3)
ga.empty(3, f32, allocator=lambda n: None)
ga.GPUArray((3,), f32, strides=(1, 2))
ga.GPUArray((3,), f32, gpudata=freed)
ga.GPUArray((3,), f32, strides="x")
a.set(np.zeros(9, f32))
a.set(np.zeros(10))
a.set(None)
a.get(np.zeros(9, f32))
a.get(locked)
a.get(np.zeros(10))
a.get([1] * 10)
a + b
a.reshape(3, 4)
a.reshape(-1, -1)
a[11]
a[1, 2]
a["x"]
a.__setitem__(11, 1)
a.__setitem__(slice(0, 3), b)
a.view(np.dtype("V7"))
a.view("nope")
a.astype("nope")
a.transpose((0, 1))
a.transpose((3,))
a + "x"
a + None
a + object()
a.fill("x")
a.fill([1, 2])
bool(a)
int(a)
hash(a)
a.get_async(stream="x")
a.mul_add(1, b, 1)
a.mul_add("x", a, 1)
dead_array.get()
dead_array + dead_array
dead_array.fill(1)
dead_array.copy()
a + dead_array
ga.dot(a, b)
ga.sum(3)
ga.max(np.zeros(3))
ga.max(ga.empty(0, f32))
ga.take(a, b)
ga.take(a, 3.5)
ga.take(3, i)
ga.concatenate(())
ga.concatenate((a, 3))
ga.concatenate((a, ga.zeros((2, 2), f32)))
ga.stack((a, b))
ga.stack(())
ga.if_positive(a, a, b)
ga.maximum(a, b)
ga.subset_dot(i, a, b)
ga.arange()
ga.arange(0, 10, 0)
ga.arange("x")
ga.arange(0, 1e+30)
ga.multi_take(3, i)
ga.multi_take([a], i, out=[3])
ga.multi_take([a], i, out=3)
ga.multi_put([a], i, out=[a, a])
ga.multi_take_put([a], 3, i)
ga.multi_put([a], b)
ga.splay(-1)
ga.splay("x")
ga.transpose(3)
ga.reshape(a, (3,))
ga.logical_and(a, b)
ga.zeros_like(3)
ga.where(a, b, b)
"""

FUNCTIONS = r"""
cm.sin(3)
cm.sin("x")
cm.sin(a, out=b)
cm.sin(a, out=3)
cm.sin(a, out=i)
cm.fmod(a, b)
cm.fmod(a, "x")
cm.ldexp(a, b)
cm.modf(3)
cm.frexp(z)
cm.sin(a, stream="x")
cm.floor(z)
cm.sin()
"""

RANDOM_NUMBERS = r"""
cr.rand(-1)
cr.rand(3, "x")
cr.XORWOWRandomNumberGenerator(3)
cr.XORWOWRandomNumberGenerator(offset=-1)
cr.XORWOWRandomNumberGenerator(offset="x")
cr.XORWOWRandomNumberGenerator(lambda n: None)
g.gen_uniform(-3, f32)
g.gen_normal(3, np.int32)
g.fill_uniform(host)
g.fill_uniform(3)
g.fill_normal(None)
g.gen_uniform(3, f32, stream=host)
g.call_skip_ahead("x")
g.gen_log_normal(3, f32, "x", 1)
cr.Sobol32RandomNumberGenerator(dir_vector=3)
cr.generate_direction_vectors(-1)
cr.seed_getter_uniform("x")
"""

KERNELS_FROM_SNIPPETS = r"""
E("float *x", "x[i]=")(a)
E("nonsense", "x")
E("", "")
E(3, "x")
k(a)
k(a, a)
k(a, a, 2, 3)
k(a, b, 2)
k(i, a, 2)
k(a, a, "x")
k(host, a, 2)
k(3, a, 2)
k(a, a, 2, range=3)
k(a, a, 2, slice="x")
k(a, a, 2, slice=slice(0, 5), range=slice(0, 5))
k(a, a, 2, stream="x")
k(a, a, 2, nope=1)
k(a, dead_array, 2)
R("nope", "0", "a+b", arguments="float *x")
R(f32, "0", "a+", arguments="const float *in")(a)
R(f32, "0", "a+b", arguments="float x")(2)
r()
r(a, a)
r(3)
r(i)
r(a, out=3)
r(a, stream=3.5)
r(a, allocator=3)
I("nope", "a+b")
X(np.int32, "a+b")
scan(a)
scan(3)
scan(ga.zeros((2, 2), np.int32))
scan(i, b)
scan(i, stream="x")
I(np.int32, "a+")(i)
"""

COMPILATION = r"""
c.SourceModule(3)
c.SourceModule(b"x")
c.SourceModule("__global__ void f(){")
c.SourceModule(PLAIN, options=3)
c.SourceModule(PLAIN, options=[3])
c.SourceModule(PLAIN, arch="sm_1")
c.SourceModule(PLAIN, arch=3)
c.SourceModule(PLAIN, include_dirs=3)
c.SourceModule(PLAIN, nope=1)
c.compile("x", target="nope")
c.compile(None)
c.DynamicModule().add_source(3)
c.DynamicModule().get_function("x")
c.DynamicModule().add_file("/no/such/file", d.jit_input_type.PTX)
c.DynamicModule().add_stdlib("nope").link()
m.get_function(3)
m.get_function("")
m.get_function("f\x00x")
m.get_global("nope")
m.get_global(None)
"""

TOOLS_AND_POOLS = r"""
t.DeviceMemoryPool(3)
pool.allocate(-1)
pool.allocate("x")
pool.allocate(2 ** 60)
pool.bin_number(-1)
pool.alloc_size("x")
t.PageLockedMemoryPool(3)
t.PageLockedMemoryPool().allocate(-1, f32)
t.PageLockedMemoryPool().allocate(3, "nope")
t.PageLockedAllocator("x")
t.dtype_to_ctype("nope")
t.dtype_to_ctype(None)
t.dtype_to_ctype(object)
t.parse_c_arg("nope")
t.parse_c_arg(3)
t.get_arg_type("nope")
t.bitlog2(-1)
t.bitlog2("x")
t.context_dependent_memoize(3)(1)
t.context_dependent_memoize(lambda x: x)([])
t.make_default_context(3)
t.register_dtype(3, 4)
t.VectorArg("nope", "x")
ch.sizeof("no_such_type")
"""

DRIVER_CALLS = r"""
f(mem, 3)
f(mem, 3, block=(0, 1, 1))
f(mem, 3, block=(1, 1, 1), grid=(0,))
f(freed, 3, block=1)
f(dead_memory, 3, block=1)
dead_f(block=1)
dead_stream.synchronize()
dead_event.record()
f(mem, 3, block=1, stream=dead_stream)
f(mem, 3, block=1, stream=e)
f(mem, 3, block=1, shared=-1)
f(mem, 3, block=1, shared=2 ** 40)
f(host, 3, block=1)
f(d.Out(3), 3, block=1)
f(d.In("x"), 3, block=1)
f(d.Out(locked), 3, block=1)
f.prepare("Q" * 5).prepared_call((1, 1), (1, 1, 1), 1)
f.prepare("Pi").prepared_call((1, 1), (1, 1, 1), mem)
f.prepare(3)
f.prepare("!!")
f.get_attribute(999)
f.set_attribute(8, -5)
d.memcpy_htod(mem, np.zeros(11, f32))
d.memcpy_htod(freed, host)
d.memcpy_htod(dead_memory, host[:4])
d.memcpy_htod(host, mem)
d.memcpy_dtoh(locked, mem)
d.memcpy_dtoh(np.zeros(11, f32), mem)
d.memcpy_dtod(mem, freed, 4)
d.memcpy_dtod(mem, mem, 41)
d.memcpy_dtod(mem, mem, -1)
d.memcpy_peer(mem, mem, 41)
d.memset_d8(mem, 1, 41)
d.memset_d32(int(mem) + 2, 1, 1)
d.memset_d8(mem, 300, 1)
d.memset_d2d8(mem, 10, 1, 20, 4)
d.from_device(mem, 11, f32)
d.from_device(mem, -1, f32)
d.from_device(freed, 1, f32)
d.mem_alloc(-1)
d.mem_alloc("x")
d.mem_alloc_pitch(-1, 1, 4)
d.mem_alloc_pitch(4, 4, 3)
d.pagelocked_empty(-1, f32)
d.pagelocked_empty(3, f32, order="Z")
d.aligned_empty(3, f32, alignment=3)
d.managed_empty(3, f32, mem_flags=99)
d.register_host_memory(3)
freed.free()
int(freed)
d.Stream("x")
d.Stream(flags=77)
d.Event(flags=9999)
e.time_since(d.Event())
d.Event().time_till(3)
d.Event().record(3.5)
s.wait_for_event(3)
s.wait_for_event(dead_event)
d.Device(-1)
d.Device(99)
d.Device("zz")
d.Device(0).get_attribute(99999)
d.Device(0).nope
d.Device(0).can_access_peer(3)
d.Device(0).make_context("x")
d.Device(0).make_context(65535)
dead.push()
dead.detach()
d.Context()
d.Context.set_limit(99, 1)
d.Context.set_cache_config(99)
d.Context.enable_peer_access(3)
d.module_from_buffer(b"")
d.module_from_buffer(b"junk" * 100)
d.module_from_file("/no/such")
d.module_from_buffer(None)
d.Linker().add_data(b"x", 99)
d.Linker(3)
d.Linker(options=3)
d.Array(3)
d.Array(d.ArrayDescriptor())
d.matrix_to_array(3, "C")
d.matrix_to_array(host, "C")
d.np_to_array(np.zeros((2, 2)), "Z")
d.make_multichannel_2d_array(host, "C")
d.dtype_to_array_format(np.complex64)
d.TextureObject(3)
d.TextureObject(host)
d.SurfaceObject(mem)
d.IPCMemoryHandle(b"x" * 64)
d.IPCMemoryHandle(3)
d.mem_get_ipc_handle(3)
d.mem_get_address_range(3)
d.to_device(3)
d.to_device(["x"])
d.GraphExec()
s.end_capture()
d.launch_host_func(s, 3)
mem.as_buffer(41)
mem.as_buffer(-1)
d.PointerHolderBase().get_pointer()
f(d.PointerHolderBase(), 3, block=1)
d.mem_free_async(freed)
object.__new__(d.Stream)
d.Stream.__new__(int)
d.DeviceAllocation()
d.Function()
d.Module()
type("S", (d.Function,), {})
d.Event.__init__(d.Stream())
setattr(d.Stream(), "handle", 3)
setattr(mem, "size", 3)
delattr(mem, "size")
setattr(s, "__dict__", 3)
setattr(s, "__class__", d.Event)
setattr(mem, "__class__", d.PooledDeviceAllocation)
"""


TABLES = (ARRAYS, FUNCTIONS, RANDOM_NUMBERS, KERNELS_FROM_SNIPPETS, COMPILATION, TOOLS_AND_POOLS)
CASES = [text for table in (*TABLES, DRIVER_CALLS) for text in table.strip().splitlines()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", CASES)
def test_a_wrong_argument_is_an_error(names: dict[str, Any], context: cuda.Context, text: str):
    with pytest.raises(WRONG) as caught:
        eval(text, dict(names))
    assert str(caught.value).strip()


def test_all_is_well_after_them(names: dict[str, Any], context: cuda.Context) -> None:
    memory, host = names["mem"], np.zeros(10, F)
    names["f"](memory, 10, block=(10, 1, 1))
    cuda.memcpy_dtoh(host, memory)
    assert (host == 10).all() and (names["b"] + 1).get().tolist() == list(range(1, 8))
