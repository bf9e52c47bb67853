"""Platforms, devices, contexts, queues, samplers and pipes from nonsense."""

from __future__ import annotations

import gc

from harness import ANY, CALLER, MF, Boom, Env, Liar, case, check, cl, expect, np, skip, tolerate


@case
def contexts_of_odd_things(env: Env) -> None:
    for devices in (
        5,
        "cpu",
        env.dev,
        [5],
        [None],
        [env.ctx],
        ["cpu"],
        [env.dev.platform],
        object(),
        [[env.dev]],
    ):
        with tolerate() as caught:
            cl.Context(devices)
        check(caught or devices is env.dev, f"Context({devices!r}) was made")
    for devices in ([], ()):
        with expect(ANY):
            cl.Context(devices)
    with expect(Boom):
        cl.Context(Liar(iter=Boom("iter"), len=Boom("len")))
    with expect(TypeError):
        cl.Context([env.dev], nonsense=1)


@case
def contexts_of_repeated_devices(env: Env) -> None:
    with tolerate():
        cl.Context([env.dev] * 2)
    with tolerate():
        cl.Context([env.dev] * 5000)


@case
def context_properties_of_odd_kinds(env: Env) -> None:
    key = cl.context_properties.PLATFORM
    for properties in (5, "x", [5], [(key,)], [(key, 5)], [(key, None)], [(key, env.dev)], [(0, 0)],
                       [(2**40, 1)],
                       [(-1, 1)], [("PLATFORM", env.dev.platform)], [(key, env.dev.platform)] * 2,
                       [None], {},
                       [(key, env.dev.platform, 1)], [(2**64, 1)]):  # fmt: skip
        with tolerate() as caught:
            cl.Context([env.dev], properties=properties)
        check(
            caught or properties in ([(key, env.dev.platform)] * 2, {}, [(0, 0)]),
            f"properties={properties!r} was accepted",
        )


@case
def context_types_of_odd_kinds(env: Env) -> None:
    for kind in (-1, 2**64, 2**40, "CPU", 1.5, object(), 0):
        with expect(ANY):
            cl.Context(dev_type=kind)
    with expect(ANY):
        cl.Context([env.dev], dev_type=cl.device_type.CPU)


@case
def queues_of_odd_things(env: Env) -> None:
    for context in (None, 5, env.dev, "x", env.queue):
        with expect(TypeError):
            cl.CommandQueue(context)
    for device in (5, "x", env.ctx, object()):
        with expect(TypeError):
            cl.CommandQueue(env.ctx, device)
    with expect(TypeError):
        cl.CommandQueue()
    with expect(TypeError):
        cl.CommandQueue(env.ctx, env.dev, 0, 0)
    with expect(TypeError):
        cl.CommandQueue(env.ctx, profiling=True)


@case
def queue_properties_of_odd_kinds(env: Env) -> None:
    for properties in (-1, 2**40, 2**64, "x", 1.5, object(), [5], [0x1093], [0x1093, "x"], ["x", 0],
                       [2**64, 0],
                       [0x1093, 2**64], [None, None], [0x1093, 2**40], [[0x1093, 0]],
                       [0x1093, 0] * 5000):  # fmt: skip
        with tolerate():
            cl.CommandQueue(env.ctx, properties=properties)
    for properties in (-1, 2**64, "x", 1.5, object()):
        with expect(ANY):
            cl.CommandQueue(env.ctx, properties=properties)


@case
def queue_used_after_leaving_it(env: Env) -> None:
    with cl.CommandQueue(env.ctx) as queue:
        pass
    with tolerate():
        cl.enqueue_marker(queue).wait()
    with tolerate():
        with queue:
            with queue:
                pass
    queue.__exit__(None, None, None)


@case
def queue_left_by_an_exception(env: Env) -> None:
    with expect(Boom):
        with cl.CommandQueue(env.ctx) as queue:
            env.kernel("nothing")(queue, (1,), None)
            raise Boom("inside")


@case
def device_of_another_context(env: Env) -> None:
    subs = sub_devices(env)
    ctx = cl.Context([subs[0]])
    if env.dev in ctx.devices:
        skip("a driver whose context of a sub-device does not hold the whole device (PoCL's does)")
    prg = cl.Program(ctx, "kernel void k() {}")
    for use in (lambda: cl.CommandQueue(ctx, env.dev), lambda: prg.build(devices=[env.dev])):
        with expect(ANY):
            use()
    queue = cl.CommandQueue(ctx)
    with expect(ANY, "context"):
        env.kernel("add1")(queue, (64,), None, env.buffer())


def sub_devices(env: Env) -> list:
    """The device in two parts, or a skip."""
    if (
        env.dev.max_compute_units < 2
        or cl.device_partition_property.EQUALLY not in env.dev.partition_properties
    ):
        skip("a device that can be partitioned")
    return env.dev.create_sub_devices([cl.device_partition_property.EQUALLY, 1])


@case
def sub_devices_of_nonsense(env: Env) -> None:
    equally, counts = cl.device_partition_property.EQUALLY, cl.device_partition_property.BY_COUNTS
    for properties in (None, 5, "x", [], [0], [equally], [equally, 0], [equally, -1],
                       [equally, 2**31],
                       [equally, 2**64], [equally, "1"], [counts], [counts, 2**30], [counts, -1],
                       [counts, 0],
                       [2**40, 1], [-1], [1.5], ["x"], [None], object(), [counts] + [1] * 1000,
                       [cl.device_partition_property.BY_AFFINITY_DOMAIN, 2**40]):  # fmt: skip
        with expect(ANY):
            env.dev.create_sub_devices(properties)
    with expect(Boom):
        env.dev.create_sub_devices([equally, Liar(index=Boom("index"))])


@case
def sub_devices_work_and_die(env: Env) -> None:
    subs = sub_devices(env)
    ctx = cl.Context(subs)
    queues = [cl.CommandQueue(ctx, s) for s in subs]
    del subs, ctx
    gc.collect()
    for queue in queues:
        cl.enqueue_marker(queue).wait()
        check(queue.device.parent_device == env.dev, "the parent device is lost")


@case
def device_and_platform_are_not_made(env: Env) -> None:
    for kind in (cl.Device, cl.Platform):
        for args in ((), (5,), (None,), ("x",), (env.dev,)):
            with expect(ANY):
                kind(*args)
    for kind in (-1, 2**64, "CPU", None, 1.5, 0, 2**40):
        with tolerate():
            check(
                env.dev.platform.get_devices(kind) == [], f"get_devices({kind!r}) found something"
            )


@case
def information_of_odd_parameters(env: Env) -> None:
    for thing in (env.dev.platform, env.dev, env.ctx, env.queue, env.prg, env.kernel("add1")):
        for param in (
            0,
            -1,
            0xFFFF,
            2**31,
            2**32,
            2**64,
            "NAME",
            None,
            1.5,
            [],
            cl.program_build_info.LOG + 2**32,
        ):
            with expect(ANY):
                thing.get_info(param)
        with expect(TypeError):
            thing.get_info()
        with expect(TypeError):
            thing.get_info(1, 2)


@case
def all_information_of_all_devices(env: Env) -> None:
    for platform in cl.get_platforms():
        for thing in (platform, *platform.get_devices(), env.ctx, env.queue):
            for name in dir(thing):
                if not name.startswith("_"):
                    with tolerate((*ANY, AttributeError, NotImplementedError)):
                        getattr(thing, name)


@case
def choosing_with_odd_answers(env: Env) -> None:
    for answers in (5, [5], [None], ["999"], ["no such platform"], ["0", "999"], ["-1"],
                    ["0", "0", "0", "0"], [""] * 9,
                    ["\0"], ["0,0,0"], [","]):  # fmt: skip
        with tolerate((*ANY, RuntimeError)):
            cl.create_some_context(interactive=False, answers=answers)
    with expect(TypeError):
        cl.create_some_context(nonsense=1)


@case
def samplers_of_nonsense(env: Env) -> None:
    if not env.dev.image_support:
        skip("the device has no images")
    clamp, near = cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST
    for args in ((False, 0, near), (False, clamp, 0), (False, -1, near), (False, 2**32, near),
                 (False, 2**64, near),
                 (False, "CLAMP", near), (False, None, None), (False, clamp), (), (5,), ([5],),
                 ([0x1152],),
                 ([0x1152, 2**64],), ([2**40, 0],), ("x",), (None,),
                 (False, cl.addressing_mode.REPEAT, near)):  # fmt: skip
        with tolerate() as caught:
            cl.Sampler(env.ctx, *args)
        check(caught or args[-1:] == (near,), f"Sampler{args!r} was made")
    with expect(Boom):
        cl.Sampler(env.ctx, Liar(bool=Boom("bool")), clamp, near)
    for context in (None, 5, env.queue):
        with expect(TypeError):
            cl.Sampler(context, False, clamp, near)
    sampler = cl.Sampler(env.ctx, False, clamp, near)
    for param in (0, -1, 2**64, "x", None):
        with expect(ANY):
            sampler.get_info(param)


@case
def pipes_of_nonsense(env: Env) -> None:
    if not hasattr(cl, "Pipe"):
        skip("pipes")
    for args in ((MF.READ_WRITE, 0, 0), (MF.READ_WRITE, 4, 0), (MF.READ_WRITE, 0, 4),
                 (MF.READ_WRITE, 2**31, 2**31),
                 (MF.READ_WRITE, 2**32, 4), (MF.READ_WRITE, -4, 4), (MF.READ_WRITE, 4, 2**32),
                 (-1, 4, 4),
                 (2**64, 4, 4), ("x", 4, 4), (MF.READ_WRITE, "4", 4), (MF.READ_WRITE, 4, None),
                 (MF.READ_WRITE,), (),
                 (MF.READ_WRITE, 4, 4, 5), (MF.READ_WRITE, 4, 4, [5]),
                 (MF.COPY_HOST_PTR, 4, 4)):  # fmt: skip
        with expect(ANY):
            cl.Pipe(env.ctx, *args)
    with expect(TypeError):
        cl.Pipe(None, MF.READ_WRITE, 4, 4)


@case
def timers_and_default_queue(env: Env) -> None:
    with tolerate():
        check(env.dev.host_timer() > 0, "the host timer stands still")
    with tolerate():
        check(len(env.dev.device_and_host_timer()) == 2, "device_and_host_timer is not a pair")
    for device, queue in (
        (None, None),
        (env.dev, None),
        (5, 5),
        (env.dev, env.queue),
        (env.dev, env.other_queue),
    ):
        with tolerate():
            env.ctx.set_default_device_command_queue(device, queue)


@case
def contexts_dropped_in_any_order(env: Env) -> None:
    contexts = [cl.Context([env.dev]) for _ in range(20)]
    queues = [cl.CommandQueue(c) for c in contexts]
    buffers = [cl.Buffer(c, MF.READ_WRITE, 64) for c in contexts]
    events = [
        cl.enqueue_fill_buffer(q, b, np.int32(1), 0, 64)
        for q, b in zip(queues, buffers, strict=True)
    ]
    del contexts[::2], queues[::3], buffers
    gc.collect()
    for event in events:
        event.wait()


@case
def platform_functions_of_odd_things(env: Env) -> None:
    for thing in (None, 5, env.dev, env.ctx, "x"):
        with expect((TypeError, AttributeError)):
            cl.unload_platform_compiler(thing)
    with tolerate():
        cl.unload_platform_compiler(env.dev.platform)
    with expect(CALLER):
        cl.get_platforms(5)
    check(cl.have_gl() in (True, False), "have_gl is neither true nor false")
