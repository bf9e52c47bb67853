"""Context: the stack of each thread, what survives what, settings."""

import gc
import pickle
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import pygpu
import pygpu.cuda.driver as cuda
from pygpu import _cuda
from pygpu.cuda import tools

Context = cuda.Context


@pytest.fixture(autouse=True)
def stack_is_left_as_it_was(context):
    before = Context.get_current()
    yield
    assert Context.get_current() == before


@pytest.fixture
def gpu():
    return cuda.Device(0)


def in_thread(function):
    """What a function returns, or raises, in a new thread."""
    result = []

    def run():
        try:
            result.append(function())
        except BaseException as error:
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    [value] = result
    if isinstance(value, BaseException):
        raise value
    return value


def test_primary_context(gpu, context):
    primary = gpu.retain_primary_context()
    assert primary == context and hash(primary) == hash(context)
    assert primary.is_primary and primary.is_alive
    assert repr(primary).startswith("<pygpu.cuda.Context primary, on device 0 at 0x")
    assert gpu.retain_primary_context() is primary


def test_make_push_pop(gpu, context):
    made = gpu.make_context()
    assert Context.get_current() is made and not made.is_primary
    assert Context.get_device() == gpu
    made.push()
    Context.pop()
    assert Context.get_current() is made
    made.pop()  # a static method in PyCUDA, callable on the object as well
    assert Context.get_current() == context
    made.push()
    assert Context.get_current() is made
    made.detach()
    assert Context.get_current() == context


def test_an_object_stays_while_its_context_is_on_the_stack(gpu):
    gpu.make_context()
    gc.collect()
    current = Context.get_current()
    assert current.is_alive
    Context.pop()
    gone = weakref.ref(current)
    del current
    gc.collect()
    assert gone() is None


def test_detach_destroys(gpu, balance):
    made = gpu.make_context()
    stream, event = cuda.Stream(), cuda.Event()
    made.detach()
    assert not made.is_alive and "detached" in repr(made)
    for call in (
        stream.synchronize,
        stream.is_done,
        event.record,
        event.query,
        event.synchronize,
        made.push,
        made.get_api_version,
    ):
        with pytest.raises(cuda.LogicError, match="destroyed"):
            call()
    with pytest.raises(cuda.LogicError, match="already detached"):
        made.detach()
    other = cuda.Stream()
    with pytest.raises(cuda.LogicError, match="destroyed"):
        other.wait_for_event(event)
    with pytest.raises(cuda.LogicError, match="destroyed"):
        cuda.Event().record(stream)


def test_detach_leaves_arrays_in_host_memory(gpu, balance):
    """The driver's context goes with the last of them, and nothing can be made in it meanwhile."""
    before = _cuda._handle_counts()
    made = gpu.make_context()
    pool = tools.PageLockedMemoryPool()
    arrays = {
        "page-locked": cuda.pagelocked_zeros(70, np.float32),
        "managed": cuda.managed_zeros((), np.float32, mem_flags=1),
        "pooled": pool.allocate((1 << 17,), np.float32),
    }
    pool.allocate(5, np.int8)  # held by the pool
    memory = cuda.mem_alloc(1 << 20)
    views = {name: array[...] for name, array in arrays.items()}
    for number, view in enumerate(views.values()):
        view[...] = number
    del view
    made.detach()
    assert not made.is_alive and _cuda._handle_counts()["context"] == before["context"] + 1
    with pytest.raises(cuda.LogicError, match="gone: destroyed by detach"):
        pool.allocate(5, np.int8)
    with pytest.raises(cuda.LogicError, match="gone: destroyed by detach"):
        cuda.memset_d8(memory, 0, 4)
    for number, name in enumerate(list(arrays)):
        assert _cuda._handle_counts()["context"] == before["context"] + 1
        assert (arrays.pop(name) == number).all() and (views[name] == number).all()
        del views[name]
    assert _cuda._handle_counts()["context"] == before["context"]
    del memory


def test_detach_of_the_primary_context_leaves_it_alive(context):
    context.push()
    context.detach()
    assert context.is_alive
    cuda.Stream().synchronize()


def test_pop_too_often():
    def pop_twice():
        with pytest.raises(cuda.LogicError, match="no context is current"):
            Context.pop()

    in_thread(pop_twice)


def test_a_thread_without_a_context_gets_the_primary_one(gpu):
    def first_use():
        assert Context.get_current() is None
        with pytest.raises(cuda.LogicError):
            Context.attach()
        cuda.Stream().synchronize()
        return Context.get_current()

    assert in_thread(first_use) == gpu.retain_primary_context()


def test_stacks_are_the_threads_own(gpu):
    made = gpu.make_context()
    assert in_thread(Context.get_current) is None

    def push_here():
        made.push()
        current = Context.get_current()
        Context.pop()
        return current

    assert in_thread(push_here) is made
    made.detach()


def test_objects_dropped_in_another_thread(gpu, balance):
    made = gpu.make_context()
    things = [cuda.Stream(), cuda.Event()]
    Context.pop()
    in_thread(things.clear)
    made.push()
    made.detach()


def test_attach_is_the_current_one(context):
    assert Context.attach() == context and Context.attach(0) == context


def test_settings():
    limit = cuda.limit.STACK_SIZE
    before = Context.get_limit(limit)
    Context.set_limit(limit, 4096)
    assert Context.get_limit(limit) >= 4096
    Context.set_limit(limit, before)
    for wrong in (-1, 2**64, None, "x"):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            Context.set_limit(limit, wrong)
    with pytest.raises(cuda.LogicError):
        Context.get_limit(12345)
    Context.set_cache_config(cuda.func_cache.PREFER_L1)
    assert Context.get_cache_config() in (0, int(cuda.func_cache.PREFER_L1))
    Context.set_cache_config(cuda.func_cache.PREFER_NONE)
    least, greatest = Context.get_stream_priority_range()
    assert greatest <= least
    assert Context.get_current().get_api_version() >= 3000


def test_peers_are_checked(context):
    with pytest.raises(TypeError, match="peer"):
        Context.enable_peer_access(0)
    with pytest.raises(cuda.LogicError):  # of the same device
        Context.enable_peer_access(context)


def test_make_context_checks_its_flags(gpu):
    with pytest.raises(cuda.LogicError):
        gpu.make_context(1 << 30)
    with pytest.raises(TypeError):
        gpu.make_context("flags")
    with pytest.raises((ValueError, OverflowError)):
        gpu.make_context(-1)


def test_not_made_directly_and_not_pickled(context):
    with pytest.raises(TypeError):
        Context()
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(context)


@pytest.mark.parametrize("call", ["cuCtxCreate", "cuCtxPushCurrent", "cuCtxGetCurrent"])
def test_failures_of_the_driver(gpu, context, call, balance):
    made = gpu.make_context() if call == "cuCtxPushCurrent" else None
    _cuda._fault(call, 2, 1, 2)  # twice: without memory, a context is tried again
    try:
        with pytest.raises(cuda.MemoryError, match=call) as caught:
            if call == "cuCtxCreate":
                gpu.make_context()
            elif call == "cuCtxPushCurrent":
                made.push()
            else:
                cuda.Stream()
    finally:
        _cuda._fault(None, 0)
    assert caught.value.code == 2 and isinstance(caught.value, MemoryError)
    if made is not None:
        made.detach()


EXITS = {
    "context on the stack": "cuda.Device(0).make_context()",
    "pushed twice": "c = cuda.Device(0).make_context(); c.push(); c.push()",
    "objects left": "x = cuda.Stream(), cuda.Event(), cuda.Device(0).make_context(), cuda.Stream()",
    "autoinit": "import pygpu.cuda.autoinit",
    "autoinit popped": "import pygpu.cuda.autoinit as a; a.context.pop()",
    "autoinit finished": "import pygpu.cuda.autoinit as a; a._finish_up(); assert not a.context",
    "autoinit detached": "import pygpu.cuda.autoinit as a; a.context.detach()",
    "a cycle": "class A: pass\na = A(); a.s = cuda.Stream(); a.a = a",
}


@pytest.mark.parametrize("what", EXITS)
def test_exit_is_quiet(what):
    program = f"import pygpu.cuda.driver as cuda\n{EXITS[what]}\nprint('end')"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_a_forked_child_raises():
    program = """
import os
import pygpu.cuda.driver as cuda
stream = cuda.Stream()
child = os.fork()
if child == 0:
    status = 1
    try:
        try:
            cuda.Stream()
        except cuda.LogicError as error:
            assert "fork" in str(error), error
            del stream
            status = 0
    finally:
        os._exit(status)
_, status = os.waitpid(child, 0)
assert status == 0
stream.synchronize()
print("end")
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "end\n", done.stderr


def test_settings_are_members(context):
    config = cuda.Context.get_cache_config()
    assert isinstance(config, cuda.func_cache) and str(config) in cuda.func_cache.names
    assert isinstance(cuda.Context.get_shared_config(), cuda.shared_config)
    mode = cuda.Device(0).get_attribute(cuda.device_attribute.COMPUTE_MODE)
    assert isinstance(mode, cuda.compute_mode) and mode == cuda.Device(0).compute_mode
    assert repr(cuda.func_cache(77)) == "pygpu.cuda.driver.func_cache(77)"


FOREIGN = """
import ctypes, sys
import numpy as np, pygpu.cuda.driver as cuda
below = cuda.mem_alloc(1)  # of the primary context, which is current below
driver = ctypes.CDLL(sys.argv[1])
made, popped = ctypes.c_void_p(), ctypes.c_void_p()
def foreign_objects():
    assert driver.cuCtxCreate_v2(ctypes.byref(made), 0, 0) == 0
    assert cuda.Context.get_current().handle == made.value
    h = np.arange(8, dtype=np.float32)
    objects = [cuda.to_device(h), cuda.Stream(), cuda.Event(), cuda.matrix_to_array(h[None], "C")]
    cuda.memcpy_htod_async(objects[0], h, objects[1])
    driver.cuCtxPopCurrent_v2(ctypes.byref(popped))
    return objects
objects = foreign_objects()
memory = int(objects[0])
objects.clear()  # alive, and current nowhere: memory is freed all the same
driver.cuCtxPushCurrent_v2(made)
try:
    cuda.mem_get_address_range(memory)
except cuda.LogicError:
    print("freed")
driver.cuCtxDestroy_v2(made)
objects = foreign_objects()
driver.cuCtxDestroy_v2(made)
objects.clear()  # gone with their context
cuda.mem_alloc(10)
print("end")
"""


@pytest.mark.simulator
def test_objects_of_a_context_that_its_library_destroyed():
    library = Path(pygpu.__file__).parent / "cuda" / "simulator" / "libpygpu_cudasim.so"
    done = subprocess.run(
        [sys.executable, "-P", "-c", FOREIGN, str(library)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["freed", "end"], done.stderr
    assert (done.returncode, done.stderr) == (0, "")


FOREIGN_IN_USE = """
import ctypes, gc, sys, weakref
import numpy as np, pygpu.cuda.driver as cuda
from pygpu.cuda import gpuarray
driver = ctypes.CDLL(sys.argv[1])
cuda.init()
made = ctypes.c_void_p()
assert driver.cuCtxCreate_v2(ctypes.byref(made), 0, 0) == 0
backend = weakref.ref(gpuarray.zeros(4, np.float32).backend)
gc.collect()
print(backend() is not None and backend() is gpuarray.zeros(4, np.float32).backend)
"""


@pytest.mark.simulator
def test_the_context_of_another_library_keeps_its_kernels_and_pool():
    """Nothing here refers to it while it has no arrays, and the other library goes on with it."""
    library = Path(pygpu.__file__).parent / "cuda" / "simulator" / "libpygpu_cudasim.so"
    done = subprocess.run(
        [sys.executable, "-P", "-c", FOREIGN_IN_USE, str(library)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout == "True\n", done.stderr


RESET = """
import ctypes, sys, threading
import pygpu.cuda.driver as cuda
def first_use():
    try:
        cuda.Stream().synchronize()
        print(cuda.Context.get_current().get_device() == cuda.Device(0))
    except cuda.Error as error:
        print(error)
def in_thread():
    thread = threading.Thread(target=first_use)
    thread.start()
    thread.join()
in_thread()
kept = cuda.mem_alloc(100)  # of the context that goes
print(ctypes.CDLL(sys.argv[1]).cuDevicePrimaryCtxReset_v2(0))
in_thread()
del kept
in_thread()
"""

RESET_HERE = """
import ctypes, sys
import numpy as np, pygpu.cuda.autoinit, pygpu.cuda.driver as cuda
from pygpu.cuda import gpuarray
def attempt(step):
    try:
        return step()
    except cuda.LogicError as error:
        return error
h = np.arange(5, dtype=np.float32)
a, stream, event = gpuarray.to_gpu(h), cuda.Stream(), cuda.Event()
(a + a).get()
ctypes.CDLL(sys.argv[1]).cuDevicePrimaryCtxReset_v2(0)
print("context is destroyed" in str(attempt(lambda: gpuarray.to_gpu(h))))  # said once
for _ in range(2):
    b = gpuarray.to_gpu(h)
    print(float((b + b).get().sum()))
steps = a.get, stream.synchronize, event.record, lambda: a + 1
print(*(type(attempt(step)).__name__ for step in steps))
del a, stream, event, steps
print(float(gpuarray.sum(b).get()))
"""


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("program", "printed"),
    [
        (RESET, "True 0 True True"),
        (
            RESET_HERE,
            "True 20.0 20.0 InvalidArgumentError InvalidArgumentError InvalidArgumentError "
            "InvalidArgumentError 10.0",
        ),
    ],
)
def test_a_reset_by_another_library_is_survived(program, printed):
    library = Path(pygpu.__file__).parent / "cuda" / "simulator" / "libpygpu_cudasim.so"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(library)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.split() == printed.split(), done.stderr
    assert (done.returncode, done.stderr) == (0, "")
