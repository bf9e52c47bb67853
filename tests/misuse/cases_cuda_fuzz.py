"""CUDA: every function with every argument replaced by every nasty value: never a crash.

Each case gives `attack` the arguments of a correct call. Where a plain integer is a device address
that a kernel would follow, integers are left out by the argument's name.
"""

from __future__ import annotations

import gc
import math
import tempfile
from typing import Any

import numpy as np
from cuda_env import Env, cuda
from fuzz import attempt, nasty_values, wrong_counts
from harness import Boom, Liar, Missed, case

from pygpu import _cuda

ONE = (1, 1, 1)


def nasty(env: Env) -> list[Any]:
    """Values that no parameter likes."""
    freed = env.memory()
    freed.free()
    return [
        *nasty_values(), env.context, env.device, env.stream, env.module, env.add1, env.memory(1),
        freed, *env.strangers(), cuda.Event(), cuda.Stream, cuda.Event, cuda.Graph(),
        cuda.In(env.host), cuda.DeviceMemoryPool(), cuda.Memcpy2D(), cuda.ArrayDescriptor(),
        cuda.pagelocked_empty(4, np.float32), [freed], [env.stream],
    ]  # fmt: skip


def restore(env: Env) -> None:
    """The context of the cases is current again, whatever was pushed or popped."""
    while cuda.Context.get_current() not in (None, env.context):
        cuda.Context.pop()
    if cuda.Context.get_current() is None:
        env.context.push()


def attack(env: Env, function: Any, *args: Any, no_numbers: tuple[int, ...] = ()) -> None:
    """Call *function* rightly once, then with each argument in turn replaced by each nasty
    value."""
    function(*args)
    values = nasty(env)
    for place in range(len(args)):
        # NVIDIA's driver follows any number that could be a handle or an address.
        pointed = isinstance(args[place], (cuda.Stream, cuda.DeviceAllocation))
        for value in values:
            number = isinstance(value, (int, np.ndarray, np.generic)) or hasattr(value, "__index__")
            if number and (place in no_numbers or (pointed and not _cuda._is_simulator())):
                continue
            attempt(function, place, value, args, {})
    wrong_counts(function, args)
    restore(env)
    cuda.Context.synchronize()
    values.clear()
    gc.collect()


@case(limit=60)
def copies(env: Env) -> None:
    a, b, host, n = env.memory(), env.memory(), env.host.copy(), env.host.nbytes
    attack(env, cuda.memcpy_htod, a, host)
    attack(env, cuda.memcpy_dtoh, host, a)
    attack(env, cuda.memcpy_dtod, a, b, n)
    attack(env, cuda.memcpy_htod_async, a, host, env.stream)
    attack(env, cuda.memcpy_dtoh_async, host, a, env.stream)
    attack(env, cuda.memcpy_dtod_async, a, b, n, env.stream)
    attack(env, cuda.memcpy_peer, a, b, n, env.context, env.context)
    attack(env, cuda.memcpy_peer_async, a, b, n, env.context, env.context, env.stream)
    attack(env, cuda.to_device, host)
    attack(env, cuda.from_device, a, (4,), np.float32, "C")
    attack(env, cuda.from_device_like, a, host)


@case(limit=60)
def fills(env: Env) -> None:
    a = env.memory()
    for bits in (8, 16, 32):
        attack(env, getattr(cuda, f"memset_d{bits}"), a, 1, 4)
        attack(env, getattr(cuda, f"memset_d{bits}_async"), a, 1, 4, env.stream)
        attack(env, getattr(cuda, f"memset_d2d{bits}"), a, 64, 1, 4, 2)
        attack(env, getattr(cuda, f"memset_d2d{bits}_async"), a, 64, 1, 4, 2, env.stream)


def shaped(function: Any) -> Any:
    """What makes an array, without shapes that take the machine's memory."""

    def call(shape: Any, *more: Any) -> Any:
        sizes = shape if isinstance(shape, tuple) else (shape,)
        ints = [abs(int(n)) for n in sizes if isinstance(n, (int, np.integer))]
        return function(-1 if math.prod(ints) > 2**20 else shape, *more)

    return call


@case(limit=60)
def memory(env: Env) -> None:
    small = 2**20  # what is larger takes the machine's memory, which is not what this is about

    def of_size(function: Any) -> Any:
        return lambda n, *more: function(n if not isinstance(n, int) or n < small else -1, *more)

    attack(env, of_size(cuda.mem_alloc), 64)
    attack(env, of_size(cuda.mem_alloc_async), 64, env.stream)
    attack(env, lambda w, h, s: cuda.mem_alloc_pitch(min(w, small), min(h, 64), s), 64, 4, 4)
    attack(env, cuda.mem_alloc_like, env.host)
    attack(env, cuda.mem_get_address_range, env.memory())
    attack(env, cuda.mem_get_ipc_handle, env.memory()) if not _cuda._is_simulator() else None
    attack(env, lambda a: cuda.mem_free_async(cuda.mem_alloc_async(64), a), env.stream)
    attack(env, env.memory().as_buffer, 4, 0)
    pool, locked = cuda.DeviceMemoryPool(), cuda.PageLockedMemoryPool()
    attack(env, of_size(pool.allocate), 64)
    attack(env, pool.bin_number, 64)
    attack(env, pool.alloc_size, 3)
    attack(env, shaped(locked.allocate), (4,), np.float32)
    pool.free_held()
    locked.free_held()


@case(limit=60)
def host_memory(env: Env) -> None:
    for name in ("pagelocked_empty", "pagelocked_zeros", "aligned_empty", "aligned_zeros"):
        attack(env, shaped(getattr(cuda, name)), (4,), np.float32, "C")
    attack(env, shaped(cuda.managed_empty), (4,), np.float32, "C", 1)
    attack(env, cuda.pagelocked_empty_like, env.host)
    attack(env, lambda a: cuda.register_host_memory(a).base.unregister(),
           cuda.aligned_empty(4096, np.uint8))  # fmt: skip
    managed = cuda.managed_empty(4, np.float32, mem_flags=1)
    attack(env, managed.base.attach, 1, env.stream)


@case(limit=60)
def launches(env: Env) -> None:
    # This kernel looks at no memory but out[0], whatever addresses and sizes come through.
    memory, out, nothing = env.memory(), env.memory(), env.kernel("nothing")
    is_null = env.kernel("is_null")
    attack(env, lambda a: is_null(a, out, block=ONE), memory)
    attack(env, lambda b: nothing(block=b), ONE)
    attack(env, lambda g: nothing(block=ONE, grid=g), (1, 1), no_numbers=(0,))
    attack(env, lambda s, h: is_null(memory, out, block=ONE, stream=s, shared=h), env.stream, 0)
    attack(env, lambda c, t: nothing(block=ONE, cluster=c, texrefs=t), None, [])
    for name, right in (
        ("to_int", 1),
        ("to_uchar", 1),
        ("to_float", 1.5),
        ("to_pair", b"12345678"),
    ):
        kernel = env.kernel(name)
        attack(env, lambda v, kernel=kernel: kernel(v, out, block=ONE), right)
    one = env.module.get_function("is_null")
    one.prepare("PP")
    attack(env, lambda a: one.prepared_call((1, 1), ONE, a, out), memory)
    attack(env, lambda b: one.prepared_call((1, 1), b, memory, out), ONE)
    attack(env, lambda g: one.prepared_call(g, ONE, memory, out), (1, 1), no_numbers=(0,))
    attack(env, lambda s: one.prepared_async_call((1, 1), ONE, s, memory, out), env.stream)
    attack(env, lambda a: one.prepared_timed_call((1, 1), ONE, a, out)(), memory)
    attack(env, lambda f: env.kernel("axpy").prepare(f), "fPPi")
    for kind in (cuda.In, cuda.Out, cuda.InOut):
        attack(env, lambda a, kind=kind: is_null(kind(a), out, block=ONE), env.host.copy())


@case(limit=60)
def functions_and_modules(env: Env) -> None:
    add1 = env.module.get_function("add1")
    attack(env, add1.get_attribute, 0)
    attack(env, add1.set_attribute, 8, 0)
    attack(env, add1.set_cache_config, 0)
    attack(env, add1.set_shared_config, 0)
    attack(env, add1.max_active_blocks, 32, 0, 0)
    attack(env, add1.suggest_block, 0, 0)
    attack(env, add1.available_shared, 1, 32)
    attack(env, env.module.get_function, "add1")
    attack(env, env.module.get_global, "table")
    attack(env, lambda o: cuda.Linker(options=o), [(cuda.jit_option.OPTIMIZATION_LEVEL, 3)])
    for wrong in nasty(env):
        for use in (cuda.module_from_buffer, cuda.module_from_file,
                    lambda w: cuda.Linker().add_data(w, 1), lambda w: cuda.Linker(w)):  # fmt: skip
            try:
                use(wrong)
            except SystemError as error:
                raise Missed("CLASS", f"{use} with {wrong!r:.80}: {error!r}") from None
            except Exception:
                pass


@case(limit=60, stderr=".*")  # what is called as a host function there
def streams_events_graphs(env: Env) -> None:
    event = cuda.Event().record().synchronize()
    attack(env, cuda.Stream, 0, 0)
    attack(env, cuda.Event, 0)
    attack(env, cuda.Event().record, env.stream)
    attack(env, event.time_since, event)
    attack(env, event.time_till, event)
    attack(env, env.stream.wait_for_event, event)
    attack(env, lambda s: cuda.launch_host_func(s, len, ()), env.stream)
    attack(env, lambda f: cuda.launch_host_func(None, f), gc.isenabled)

    def capture(mode: Any) -> Any:
        stream = cuda.Stream()
        stream.begin_capture(mode)
        return stream.end_capture()

    attack(env, capture, 2)
    graph = capture(2)
    attack(env, graph.instantiate, 0)
    attack(env, graph.instantiate().launch, env.stream)
    attack(env, graph.instantiate().upload, env.stream)
    attack(env, graph.instantiate().update, graph)
    with tempfile.TemporaryDirectory() as folder:
        attack(env, lambda f: graph.debug_dot(f"{folder}/a", f), 1)
    for wrong in (None, "x", b"", 1.5, -1, 2**64, 10**100, [], Liar(index=Boom("index"))):
        try:
            cuda.Stream.from_handle(wrong)
        except SystemError as error:
            raise Missed("CLASS", f"from_handle({wrong!r}): {error!r}") from None
        except Exception:
            continue
        raise Missed("NOERROR", f"from_handle({wrong!r}) was accepted")


@case(limit=60)
def arrays(env: Env) -> None:
    line = cuda.ArrayDescriptor()
    line.width, line.height, line.format, line.num_channels = 64, 0, cuda.array_format.FLOAT, 1
    row, other, memory, host = cuda.Array(line), cuda.Array(line), env.memory(), env.host.copy()
    attack(env, cuda.Array, line)
    for name in ("width", "height", "format", "num_channels"):
        attack(env, lambda v, name=name: setattr(cuda.ArrayDescriptor(), name, v), 1)
    attack(env, cuda.memcpy_htoa, row, 0, host)
    attack(env, cuda.memcpy_atoh, host, row, 0)
    attack(env, cuda.memcpy_dtoa, row, 0, memory, 64)
    attack(env, cuda.memcpy_atod, memory, row, 0, 64)
    attack(env, cuda.memcpy_atoa, other, 0, row, 0, 64)
    attack(env, cuda.matrix_to_array, host.reshape(8, 8), "C")
    attack(env, cuda.np_to_array, host.reshape(4, 4, 4), "C")
    attack(env, cuda.TextureObject, row)
    attack(env, cuda.SurfaceObject, row) if row is None else None
    for kind, fields in ((cuda.Memcpy2D, ("src_pitch", "height")), (cuda.Memcpy3D, ("depth",))):
        attack(env, lambda v, kind=kind: kind().set_src_host(v), host)
        attack(env, lambda v, kind=kind: kind().set_dst_host(v), host)
        attack(env, lambda v, kind=kind: kind().set_src_device(v), memory)
        attack(env, lambda v, kind=kind: kind().set_dst_array(v), row)
        for name in fields:
            attack(env, lambda v, kind=kind, name=name: setattr(kind(), name, v), 1)


@case(limit=60)
def devices_and_contexts(env: Env) -> None:
    device = env.device
    attack(env, cuda.Device, 0)
    attack(env, device.get_attribute, 1)
    attack(env, device.can_access_peer, device)
    attack(env, cuda.Context.get_limit, 0)
    attack(env, cuda.Context.set_cache_config, 0)
    attack(env, cuda.Context.set_shared_config, 0)
    attack(env, lambda f: device.make_context(f).detach(), 0)
    attack(env, cuda.Context.enable_peer_access, env.context, 0) if env is None else None
    for wrong in nasty(env):
        for use in (cuda.Context.enable_peer_access, cuda.Context.disable_peer_access,
                    lambda w: cuda.Context.set_limit(w, w), cuda.init, cuda.Event.from_ipc_handle,
                    cuda.IPCMemoryHandle, cuda.initialize_profiler):  # fmt: skip
            try:
                use(wrong)
            except SystemError as error:
                raise Missed("CLASS", f"{use} with {wrong!r:.80}: {error!r}") from None
            except Exception:
                pass
    while cuda.Context.get_current() not in (None, env.context):
        cuda.Context.pop()


@case(limit=60)
def types_that_cannot_be_made(env: Env) -> None:
    """Constructors of all types, and methods on objects that __new__ alone has made."""
    kinds = [t for t in vars(_cuda).values() if isinstance(t, type)]
    for kind in kinds:
        for args in ((), (None,), (5,), ("x", 5), (object(),) * 3):
            for make in (kind, lambda *a, kind=kind: kind.__new__(kind, *a), object.__new__):
                try:
                    made = make(*args) if make is not object.__new__ else object.__new__(kind)
                except SystemError as error:
                    raise Missed("CLASS", f"{kind}: {error!r}") from None
                except Exception:
                    continue
                for name in dir(made):
                    if name.startswith("__") and name not in ("__repr__", "__hash__", "__int__"):
                        continue
                    try:
                        value = getattr(made, name)
                        if callable(value) and name not in ("__class__", "begin_capture"):
                            value()
                    except SystemError as error:
                        raise Missed("CLASS", f"{kind}.{name}: {error!r}") from None
                    except Exception:
                        continue
    restore(env)
