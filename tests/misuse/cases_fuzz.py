"""Every function with every argument replaced by every nasty value: never a crash.

Each case gives `attack` the arguments of a correct call. Values that are correct by chance pass;
those that would only be slow (a global size of 2**31, say) are left out by the argument's name.
"""

from __future__ import annotations

import gc
from typing import Any

from fuzz import attempt, nasty_values, wrong_counts
from harness import MF, Boom, Env, Liar, Missed, case, cl, np


def nasty(env: Env) -> list[Any]:
    """Values that no parameter likes."""
    released = env.buffer()
    released.release()
    foreign = env.buffer(ctx=env.other)
    return [
        *nasty_values(), env.ctx, env.dev, env.dev.platform, env.queue, env.other_queue, env.prg,
        env.kernel("add1"), env.buffer(4), released, foreign, cl.enqueue_marker(env.queue),
        cl.enqueue_marker(env.other_queue), cl.LocalMemory(8), cl.Buffer, cl.Context, env.image(),
        [cl.enqueue_marker(env.queue), None], [released], [foreign], [env.queue],
    ]  # fmt: skip


def attack(
    env: Env,
    function: Any,
    *args: Any,
    skip: tuple[Any, ...] = (),
    keep: tuple[Any, ...] = (),
    **kwargs: Any,
) -> None:
    """Call *function* rightly once, then with each argument in turn replaced by each nasty
    value."""
    function(*args, **kwargs)
    values = nasty(env)
    names = [n for n in (*range(len(args)), *kwargs) if n not in keep]
    for name in names:
        for value in values:
            if name in skip and isinstance(value, (int, tuple, range, np.ndarray, Liar)):
                continue
            attempt(function, name, value, args, kwargs)
    wrong_counts(function, args)
    env.queue.finish()
    gc.collect()


@case(limit=60)
def buffer(env: Env) -> None:
    attack(env, cl.Buffer, env.ctx, MF.READ_WRITE, 64)
    attack(env, cl.Buffer, env.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, 0, env.host)
    attack(env, cl.Buffer, env.ctx, MF.READ_WRITE | MF.USE_HOST_PTR, 64, env.host)
    whole = env.buffer()
    attack(env, whole.get_sub_region, 0, 128, 0)
    attack(env, whole.__getitem__, slice(0, 64))
    attack(env, whole.get_info, cl.mem_info.SIZE)


@case(limit=60)
def launch(env: Env) -> None:
    # This kernel writes out[0] only, whatever sizes and offsets come through.
    kernel, target, out = cl.Kernel(env.prg, "is_null"), env.buffer(), env.out()
    attack(env, kernel, env.queue, (64,), (8,), target, out, skip=(1,), keep=(4,), wait_for=[],
           global_offset=None, g_times_l=False, allow_empty_ndrange=False)  # fmt: skip
    kernel.set_args(target, out)
    attack(env, kernel.set_arg, 0, target)
    attack(env, kernel.set_args, target, out)


@case(limit=60)
def launch_of_a_kernel_without_arguments(env: Env) -> None:
    kernel = cl.Kernel(env.prg, "nothing")
    attack(
        env,
        cl.enqueue_nd_range_kernel,
        env.queue,
        kernel,
        (64,),
        (8,),
        skip=(2,),
        global_work_offset=(0,),
        wait_for=[],
    )


@case(limit=60)
def scalar_argument(env: Env) -> None:
    out = env.out()
    for name in ("to_int", "to_ulong", "to_float", "to_float4", "to_pair", "to_uchar"):
        kernel = cl.Kernel(env.prg, name)
        for value in nasty(env):
            try:
                kernel(env.queue, (1,), None, value, out)
            except SystemError as error:
                raise Missed("CLASS", f"{name}({value!r:.80}): {error!r}") from None
            except Exception:
                pass


@case(limit=60)
def kernel(env: Env) -> None:
    attack(env, cl.Kernel, env.prg, "add1")
    one = cl.Kernel(env.prg, "add1")
    attack(env, one.get_work_group_info, cl.kernel_work_group_info.WORK_GROUP_SIZE, env.dev)
    attack(env, one.get_info, cl.kernel_info.NUM_ARGS)
    attack(env, one.get_arg_info, 0, cl.kernel_arg_info.NAME)
    attack(env, one.set_scalar_arg_dtypes, [None])


@case(limit=60)
def copy_host(env: Env) -> None:
    host, target = env.host.copy(), env.buffer()
    attack(
        env, cl.enqueue_copy, env.queue, host, target, src_offset=0, is_blocking=True, wait_for=[]
    )
    attack(
        env, cl.enqueue_copy, env.queue, target, host, dst_offset=0, is_blocking=True, wait_for=[]
    )
    attack(env, cl.enqueue_copy, env.queue, target, host, is_blocking=False)


@case(limit=60)
def copy_device(env: Env) -> None:
    attack(env, cl.enqueue_copy, env.queue, env.buffer(), env.buffer(), byte_count=8, src_offset=0,
           dst_offset=0,
           wait_for=[])  # fmt: skip


@case(limit=60)
def copy_rectangle(env: Env) -> None:
    host, target = env.host.copy(), env.buffer()
    attack(env, cl.enqueue_copy, env.queue, host, target, buffer_origin=(0, 0, 0),
           host_origin=(0, 0, 0), region=(8, 4, 1),
           buffer_pitches=(16, 64), host_pitches=(16, 64), is_blocking=True,
           wait_for=[])  # fmt: skip
    attack(env, cl.enqueue_copy, env.queue, target, host, buffer_origin=(0, 0, 0),
           host_origin=(0, 0, 0), region=(8, 4, 1),
           buffer_pitches=(16, 64), host_pitches=(16, 64), is_blocking=True)  # fmt: skip
    attack(env, cl.enqueue_copy, env.queue, target, env.buffer(), src_origin=(0, 0, 0),
           dst_origin=(0, 0, 0), region=(8, 4, 1),
           src_pitches=(16, 64), dst_pitches=(16, 64))  # fmt: skip


@case(limit=60)
def copy_image(env: Env) -> None:
    image, host, target = env.image(), np.zeros((8, 8, 4), np.float32), env.buffer(256)
    place = {"origin": (0, 0, 0), "region": (8, 8, 1)}
    attack(
        env,
        cl.enqueue_copy,
        env.queue,
        host,
        image,
        **place,
        pitches=(128,),
        is_blocking=True,
        wait_for=[],
    )
    attack(env, cl.enqueue_copy, env.queue, image, host, **place, pitches=(128,), is_blocking=True)
    attack(env, cl.enqueue_copy, env.queue, image, target, **place, offset=0)
    attack(env, cl.enqueue_copy, env.queue, target, image, **place, offset=0)
    attack(env, cl.enqueue_copy, env.queue, env.image(), image, src_origin=(0, 0, 0),
           dest_origin=(0, 0, 0),
           region=(8, 8, 1))  # fmt: skip


@case(limit=60)
def fill(env: Env) -> None:
    target = env.buffer()
    attack(env, cl.enqueue_fill_buffer, env.queue, target, np.int32(1), 0, 64, wait_for=[])
    attack(env, cl.enqueue_fill, env.queue, target, np.int32(1), 64, offset=0)
    attack(
        env,
        cl.enqueue_fill_image,
        env.queue,
        env.image(),
        np.zeros(4, np.float32),
        (0, 0, 0),
        (8, 8, 1),
        wait_for=[],
    )


@case(limit=60)
def map_(env: Env) -> None:
    target, image = env.buffer(), env.image()
    flags = cl.map_flags.READ
    attack(env, cl.enqueue_map_buffer, env.queue, target, flags, 0, (4,), np.float32, order="C",
           strides=None, wait_for=[],
           is_blocking=True)  # fmt: skip
    attack(env, cl.enqueue_map_image, env.queue, image, flags, (0, 0, 0), (8, 8, 1), (8, 8, 4),
           np.float32, order="C",
           strides=None, wait_for=[], is_blocking=True)  # fmt: skip
    view = cl.enqueue_map_buffer(env.queue, target, flags, 0, (4,), np.float32)[0]
    attack(
        env, view.base.release, env.queue, []
    )  # the first call releases it: the others meet a released map


@case(limit=60)
def other_commands(env: Env) -> None:
    event = cl.enqueue_marker(env.queue)
    attack(env, cl.enqueue_marker, env.queue, wait_for=[event])
    attack(env, cl.enqueue_barrier, env.queue, wait_for=[event])
    attack(env, cl.enqueue_migrate_mem_objects, env.queue, [env.buffer()], 0, wait_for=[event])
    attack(env, cl.wait_for_events, [event])
    attack(env, event.get_info, cl.event_info.COMMAND_TYPE)
    gate = cl.UserEvent(env.ctx)
    attack(env, gate.set_status, 0)
    attack(env, cl.UserEvent, env.ctx)


@case(limit=60)
def underscored_commands(env: Env) -> None:
    host, one, two = env.host.copy(), env.buffer(), env.buffer()
    for name, args, kwargs in (
        (
            "_enqueue_read_buffer",
            (env.queue, one, host),
            {"src_offset": 0, "wait_for": [], "is_blocking": True},
        ),
        (
            "_enqueue_write_buffer",
            (env.queue, one, host),
            {"dst_offset": 0, "wait_for": [], "is_blocking": True},
        ),
        (
            "_enqueue_copy_buffer",
            (env.queue, one, two),
            {"byte_count": 8, "src_offset": 0, "dst_offset": 0, "wait_for": []},
        ),
    ):
        function = getattr(cl, name, None) or getattr(getattr(cl, "_cl", None), name)
        attack(env, function, *args, **kwargs)


@case(limit=60)
def contexts_and_queues(env: Env) -> None:
    attack(env, cl.Context, [env.dev])
    attack(
        env,
        cl.Context,
        devices=[env.dev],
        properties=[(cl.context_properties.PLATFORM, env.dev.platform)],
    )
    attack(env, cl.CommandQueue, env.ctx, env.dev, 0)
    attack(env, env.ctx.get_info, cl.context_info.DEVICES)
    attack(env, env.queue.get_info, cl.command_queue_info.CONTEXT)
    attack(env, env.dev.get_info, cl.device_info.NAME)
    attack(env, env.dev.platform.get_info, cl.platform_info.NAME)
    attack(env, env.dev.platform.get_devices, cl.device_type.ALL)


@case(limit=60)
def images_and_samplers(env: Env) -> None:
    form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    host = np.zeros((8, 8, 4), np.float32)
    make = getattr(cl, "create_image", cl.Image)
    attack(
        env,
        make,
        env.ctx,
        MF.READ_WRITE | MF.COPY_HOST_PTR,
        form,
        shape=(8, 8),
        pitches=(128,),
        hostbuf=host,
    )
    attack(env, cl.ImageFormat, cl.channel_order.RGBA, cl.channel_type.FLOAT)
    attack(env, cl.Sampler, env.ctx, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
    attack(env, cl.get_supported_image_formats, env.ctx, MF.READ_ONLY, cl.mem_object_type.IMAGE2D)
    attack(env, cl.image_from_array, env.ctx, host, 4, mode="r", norm_int=False)


@case(limit=120)
def programs(env: Env) -> None:
    source = "kernel void k(global int *a) { a[0] = 42; }"
    attack(env, cl.Program, env.ctx, source)
    binary = env.prg.get_info(cl.program_info.BINARIES)[0]
    attack(env, lambda *a: cl.Program(*a).build(), env.ctx, [env.dev], [binary])
    attack(
        env,
        lambda *a, **k: cl.Program(env.ctx, source).build(*a, **k),
        "",
        devices=[env.dev],
        cache_dir=None,
    )
    attack(
        env, lambda *a, **k: cl.Program(env.ctx, source).compile(*a, **k), "", [env.dev], headers=[]
    )
    done = cl.Program(env.ctx, source)
    done.compile()
    attack(env, cl.link_program, env.ctx, [done], "", [env.dev])
    attack(env, env.prg.get_info, cl.program_info.NUM_DEVICES)
    attack(env, env.prg.get_build_info, env.dev, cl.program_build_info.LOG)


@case(limit=60)
def shared_memory(env: Env) -> None:
    if not env.dev.svm_capabilities:
        return
    flags = cl.svm_mem_flags.READ_WRITE
    attack(env, cl.SVMAllocation, env.ctx, 64, 0, flags)
    attack(env, cl.csvm_empty, env.ctx, (4,), np.float32, "C", 0)
    array = cl.csvm_empty(env.ctx, (64,), np.float32)
    attack(env, cl.SVM, array)
    attack(env, cl.enqueue_svm_memfill, env.queue, cl.SVM(array), np.int32(1), 64, [])
    attack(env, cl.enqueue_svm_migrate_mem, env.queue, [cl.SVM(array)], 0, [])
    attack(env, cl.enqueue_copy, env.queue, cl.SVM(array), env.host, is_blocking=True, wait_for=[])


@case(limit=60)
def pools(env: Env) -> None:
    tools = cl.tools
    attack(env, tools.ImmediateAllocator, env.queue, MF.READ_WRITE)
    attack(env, tools.DeferredAllocator, env.ctx, MF.READ_WRITE)
    attack(env, tools.MemoryPool, tools.ImmediateAllocator(env.queue), 4)
    pool = tools.MemoryPool(tools.ImmediateAllocator(env.queue))
    attack(env, pool.allocate, 64)
    attack(env, pool.bin_number, 64)
    attack(env, pool.alloc_size, 64)


@case(limit=60)
def handles(env: Env) -> None:
    keep = env.buffer()
    for kind, value in (
        (cl.Buffer, keep),
        (cl.Context, env.ctx),
        (cl.CommandQueue, env.queue),
        (cl.Kernel, env.kernel("add1")),
    ):
        # Only what is not an address at all: another number is beyond reach.
        for bad in (
            None,
            "x",
            b"",
            1.5,
            -1,
            2**64,
            10**100,
            [],
            Liar(index=Boom("index")),
            value,
            0,
        ):
            for retain in (True, False, Liar(bool=Boom("bool"))):
                try:
                    kind.from_int_ptr(bad, retain)
                except SystemError as error:
                    raise Missed(
                        "CLASS", f"{kind.__name__}.from_int_ptr({bad!r:.80}): {error!r}"
                    ) from None
                except Exception:
                    continue
                raise Missed("NOERROR", f"{kind.__name__}.from_int_ptr({bad!r:.80}) was accepted")
