"""Kernel arguments that are not what the kernel takes: objects, local memory, counts, indices."""

from __future__ import annotations

import gc

from harness import ANY, CALLER, Boom, Env, Liar, case, check, cl, expect, np, skip, tolerate

ARGUMENT = (TypeError, ValueError, cl.LogicError)


@case
def numpy_scalar_for_a_buffer(env: Env) -> None:
    with expect(TypeError, "add1", r"\b0\b|\b1\b", r"\ba\b", r"float", "int64"):
        env.kernel("add1")(env.queue, (64,), None, np.int64(5))


@case
def python_int_for_a_buffer(env: Env) -> None:
    with expect(TypeError, "add1", r"float", r"\bint\b"):
        env.kernel("add1")(env.queue, (64,), None, 5)


@case
def address_for_a_buffer(env: Env) -> None:
    with expect(TypeError, "add1"):
        env.kernel("add1")(env.queue, (64,), None, 2**47 - 4096)


@case
def none_for_a_pointer_is_null(env: Env) -> None:
    out = env.out()
    env.kernel("is_null")(env.queue, (1,), None, None, out)
    check(env.read(out, np.int32)[0] == 1, "None did not arrive as a NULL pointer")
    env.kernel("is_null")(env.queue, (1,), None, env.buffer(), out)
    check(env.read(out, np.int32)[0] == 0, "a buffer arrived as a NULL pointer")


@case
def none_for_a_scalar(env: Env) -> None:
    with expect(TypeError, "to_int", "value", "int", "None"):
        env.kernel("to_int")(env.queue, (1,), None, None, env.out())


@case
def none_for_local_memory(env: Env) -> None:
    with expect(TypeError, "scratch", r"\bs\b"):
        env.kernel("scratch")(env.queue, (8,), (8,), None, env.out())


@case
def none_for_an_image_and_a_sampler(env: Env) -> None:
    kernel = env.image_program().texel
    sampler = cl.Sampler(env.ctx, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
    with expect(ARGUMENT, "texel"):
        kernel(env.queue, (1,), None, None, sampler, env.out())
    with expect(ARGUMENT, "texel"):
        kernel(env.queue, (1,), None, env.image(), None, env.out())


@case
def array_for_a_buffer(env: Env) -> None:
    with expect(TypeError, "add1", "ndarray"):
        env.kernel("add1")(env.queue, (64,), None, env.host)


@case
def bytes_for_a_buffer(env: Env) -> None:
    with expect(TypeError, "add1", "bytes"):
        env.kernel("add1")(env.queue, (64,), None, b"\0" * 8)


@case
def odd_objects_for_a_buffer(env: Env) -> None:
    odd = [
        "text", 1.5, True, [], {}, object(), type, cl, env.ctx, env.queue, env.dev, env.prg,
        env.kernel("add1"), cl.enqueue_marker(env.queue), cl.Buffer, NotImplemented, ...,
        slice(None),
        np.float32(1), np.zeros(1, object)[0:1], memoryview(b"12345678"), range(3),
    ]  # fmt: skip
    for value in odd:
        with expect(ARGUMENT, "add1"):
            env.kernel("add1")(env.queue, (64,), None, value)


@case
def released_buffer(env: Env) -> None:
    buffer = env.buffer()
    buffer.release()
    with expect((ValueError, cl.LogicError), "add1|kernel|argument", "released"):
        env.kernel("add1")(env.queue, (64,), None, buffer)


@case
def released_between_set_and_launch(env: Env) -> None:
    buffer = env.buffer()
    kernel = cl.Kernel(env.prg, "add1")
    kernel.set_args(buffer)
    buffer.release()
    # Either the kernel keeps the memory alive for the launch, or the launch says what is wrong.
    with tolerate((ValueError, cl.LogicError)):
        cl.enqueue_nd_range_kernel(env.queue, kernel, (64,), None).wait()


@case
def dropped_between_set_and_launch(env: Env) -> None:
    kernel = cl.Kernel(env.prg, "add1")
    kernel.set_args(env.buffer())
    gc.collect()
    others = [env.buffer() for _ in range(50)]
    cl.enqueue_nd_range_kernel(env.queue, kernel, (64,), None)
    env.queue.finish()
    for other in others:
        check(np.array_equal(env.read(other), env.host), "the launch wrote another buffer")


@case
def dropped_after_set_arg_overwritten_by_set_arg(env: Env) -> None:
    kernel, out = cl.Kernel(env.prg, "add1"), env.buffer()
    for _ in range(100):
        kernel.set_arg(0, env.buffer())
    kernel.set_arg(0, out)
    cl.enqueue_nd_range_kernel(env.queue, kernel, (64,), None)
    check(np.array_equal(env.read(out), env.host + 1), "not the last argument was used")


@case
def failed_set_arg_keeps_the_old_argument(env: Env) -> None:
    kernel, out = cl.Kernel(env.prg, "add1"), env.buffer()
    kernel.set_arg(0, out)
    with expect(ARGUMENT):
        kernel.set_arg(0, 5)
    cl.enqueue_nd_range_kernel(env.queue, kernel, (64,), None)
    check(np.array_equal(env.read(out), env.host + 1), "the failed set_arg changed the argument")


@case
def buffer_of_another_context(env: Env) -> None:
    with expect((ValueError, cl.LogicError), "add1|argument", "context"):
        env.kernel("add1")(env.queue, (64,), None, env.buffer(ctx=env.other))


@case
def image_of_another_context(env: Env) -> None:
    kernel = env.image_program().texel
    sampler = cl.Sampler(env.ctx, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
    with expect((ValueError, cl.LogicError), "context"):
        kernel(env.queue, (1,), None, env.image(ctx=env.other), sampler, env.out())


@case
def sampler_of_another_context(env: Env) -> None:
    kernel = env.image_program().texel
    sampler = cl.Sampler(env.other, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
    with expect((ValueError, cl.LogicError), "context"):
        kernel(env.queue, (1,), None, env.image(), sampler, env.out())


@case
def queue_of_another_context(env: Env) -> None:
    with expect((ValueError, cl.LogicError), "context"):
        env.kernel("add1")(env.other_queue, (64,), None, env.buffer())
    with expect((ValueError, cl.LogicError), "context"):
        env.kernel("add1")(env.other_queue, (64,), None, env.buffer(ctx=env.other))


@case
def sampler_for_a_buffer(env: Env) -> None:
    sampler = cl.Sampler(env.ctx, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
    with expect(ARGUMENT, "add1"):
        env.kernel("add1")(env.queue, (64,), None, sampler)


@case
def image_and_buffer_mixed_up(env: Env) -> None:
    with expect(ARGUMENT, "add1"):
        env.kernel("add1")(env.queue, (64,), None, env.image())
    sampler = cl.Sampler(env.ctx, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
    kernel = env.image_program().texel
    with expect(ARGUMENT, "texel", "image"):
        kernel(env.queue, (1,), None, env.buffer(), sampler, env.out())
    with expect(ARGUMENT, "texel"):
        kernel(env.queue, (1,), None, env.image(), env.buffer(), env.out())
    with expect(ARGUMENT, "texel"):
        kernel(env.queue, (1,), None, sampler, env.image(), env.out())


@case
def local_memory_too_large(env: Env) -> None:
    for size in (2**26, 2**31, 2**32, 2**62, 2**63 - 1):
        with expect((*CALLER, cl.Error), r"local"):
            memory = cl.LocalMemory(size)
            env.kernel("scratch")(env.queue, (8,), (8,), memory, env.out())


@case
def local_memory_just_too_large_in_two_parts(env: Env) -> None:
    half = env.dev.local_mem_size // 2 + 64
    with expect((*CALLER, cl.Error), "local"):
        pair = cl.LocalMemory(half), cl.LocalMemory(half)
        env.kernel("scratch2")(env.queue, (8,), (8,), *pair, env.out())


@case
def local_memory_sizes_that_wrap(env: Env) -> None:
    with expect((*CALLER, cl.Error)):
        pair = cl.LocalMemory(2**63), cl.LocalMemory(2**63)
        env.kernel("scratch2")(env.queue, (8,), (8,), *pair, env.out())


@case
def local_memory_of_nothing(env: Env) -> None:
    with expect(ValueError, "local", "0|positive"):
        env.kernel("scratch")(env.queue, (8,), (8,), cl.LocalMemory(0), env.out())


@case
def local_memory_of_odd_sizes(env: Env) -> None:
    for size in (-1, 2**64, "8", None, 1.5, b"8", [8]):
        with expect(CALLER):
            cl.LocalMemory(size)


@case
def local_memory_where_a_buffer_is_due(env: Env) -> None:
    with expect(TypeError, "add1", "LocalMemory"):
        env.kernel("add1")(env.queue, (8,), (8,), cl.LocalMemory(256))
    with expect(TypeError, "to_int", "LocalMemory"):
        env.kernel("to_int")(env.queue, (1,), None, cl.LocalMemory(4), env.out())
    with expect(TypeError, "lookup"):
        env.kernel("lookup")(env.queue, (1,), None, cl.LocalMemory(4), env.out())


@case
def other_things_where_local_memory_is_due(env: Env) -> None:
    for value in (env.buffer(), np.float32(4), 32, b"1234"):
        with expect(TypeError, "scratch"):
            env.kernel("scratch")(env.queue, (8,), (8,), value, env.out())


@case
def too_few_arguments(env: Env) -> None:
    with expect(TypeError, "axpy", "3", r"\b2\b"):
        env.kernel("axpy")(env.queue, (64,), None, np.float32(1), env.buffer())
    with expect(TypeError, "axpy"):
        env.kernel("axpy")(env.queue, (64,), None)


@case
def too_many_arguments(env: Env) -> None:
    with expect(TypeError, "add1", r"\b1\b", r"\b2\b"):
        env.kernel("add1")(env.queue, (64,), None, env.buffer(), env.buffer())
    with expect(TypeError, "add1"):
        env.kernel("add1")(env.queue, (64,), None, *[env.buffer()] * 300)


@case
def call_without_queue_or_sizes(env: Env) -> None:
    with expect(TypeError):
        env.kernel("add1")()
    with expect(TypeError):
        env.kernel("add1")(env.queue)
    with expect(TypeError):
        env.kernel("add1")(env.queue, (64,))


@case
def call_with_something_else_for_the_queue(env: Env) -> None:
    for value in (None, 5, "queue", env.ctx, env.dev, env.buffer(), object()):
        with expect(TypeError, "queue"):
            env.kernel("add1")(value, (64,), None, env.buffer())


@case
def unknown_keyword_in_a_call(env: Env) -> None:
    with expect(TypeError, "stream"):
        env.kernel("add1")(env.queue, (64,), None, env.buffer(), stream=3)
    with expect(TypeError):
        env.kernel("add1")(env.queue, (64,), None, a=env.buffer())


@case
def kernel_without_arguments(env: Env) -> None:
    kernel = env.kernel("nothing")
    kernel(env.queue, (8,), None).wait()
    with expect(TypeError, "nothing"):
        kernel(env.queue, (8,), None, 3)
    with expect((*CALLER, cl.LogicError)):
        kernel.set_arg(0, np.int32(3))
    kernel.set_args()
    cl.enqueue_nd_range_kernel(env.queue, kernel, (8,), None).wait()


@case
def launch_before_all_arguments_are_set(env: Env) -> None:
    kernel = cl.Kernel(env.prg, "axpy")
    with expect((*CALLER, cl.LogicError), "axpy|KERNEL_ARGS"):
        cl.enqueue_nd_range_kernel(env.queue, kernel, (64,), None)
    kernel.set_arg(1, env.buffer())
    with expect((*CALLER, cl.LogicError), "axpy|KERNEL_ARGS"):
        cl.enqueue_nd_range_kernel(env.queue, kernel, (64,), None)


@case
def set_arg_with_bad_indices(env: Env) -> None:
    kernel, buffer = cl.Kernel(env.prg, "add1"), env.buffer()
    for index in (
        1,
        99,
        -1,
        2**31,
        2**32,
        2**63,
        2**64,
        2**64 + 1,
        "0",
        None,
        0.0,
        Liar(index="x"),
    ):
        with expect(ANY):
            kernel.set_arg(index, buffer)
    with expect(Boom):
        kernel.set_arg(Liar(index=Boom("index")), buffer)


@case
def set_args_with_a_wrong_count(env: Env) -> None:
    kernel = cl.Kernel(env.prg, "axpy")
    with expect((TypeError, cl.LogicError), "axpy"):
        kernel.set_args(np.float32(1))
    with expect((TypeError, cl.LogicError), "axpy"):
        kernel.set_args(np.float32(1), env.buffer(), env.buffer(), env.buffer())
    with expect((TypeError, cl.LogicError)):
        kernel.set_args()


@case
def one_failing_argument_of_many(env: Env) -> None:
    kernel = cl.Kernel(env.prg, "twelve")
    out = env.out()
    for bad in range(1, 12):
        args = [out, *range(11)]
        args[bad] = "x"
        with expect(
            TypeError, "twelve", rf"\b{bad}\b|\b{bad + 1}\b", rf"\b{'abcdefghijk'[bad - 1]}\b"
        ):
            kernel(env.queue, (1,), None, *args)


@case
def attribute_data_that_misbehaves(env: Env) -> None:
    class Holder:
        def __init__(self, data: object) -> None:
            self._data = data

        @property
        def data(self) -> object:
            if isinstance(self._data, BaseException):
                raise self._data
            return self if self._data is None else self._data

    for data in (None, 5, "x", env.host):
        with expect((TypeError, ValueError, RecursionError, cl.LogicError)):
            env.kernel("add1")(env.queue, (64,), None, Holder(data))
    with expect((Boom, TypeError, cl.LogicError)):
        env.kernel("add1")(env.queue, (64,), None, Holder(Boom("data")))
    chain = env.buffer()
    for _ in range(20000):
        chain = Holder(chain)
    with tolerate((TypeError, RecursionError, cl.LogicError)):
        env.kernel("add1")(env.queue, (64,), None, chain)
    while isinstance(chain, Holder):
        chain = chain._data


@case
def argument_that_releases_its_neighbour(env: Env) -> None:
    x, y = env.buffer(), env.buffer()

    def release() -> float:
        x.release()
        return 1.0

    kernel = cl.Kernel(env.prg, "axpy")
    for scalar in (Liar(float=release, index=release),):
        with tolerate():
            kernel(env.queue, (64,), None, scalar, x, y).wait()
    gc.collect()
    env.queue.finish()


@case
def argument_that_launches_the_same_kernel(env: Env) -> None:
    kernel, x, y = cl.Kernel(env.prg, "axpy"), env.buffer(), env.buffer()

    def launch() -> float:
        kernel(env.queue, (64,), None, np.float32(0), x, y)
        return 1.0

    with tolerate():
        kernel(env.queue, (64,), None, Liar(float=launch), x, y).wait()
    env.queue.finish()


@case
def declared_types_nonsense(env: Env) -> None:
    kernel = cl.Kernel(env.prg, "axpy")
    for types in (
        5,
        None,
        [],
        [np.float32],
        [None] * 4,
        ["nonsense", None, None],
        [object, None, None],
    ):
        with expect((*CALLER, cl.Error)):
            kernel.set_scalar_arg_dtypes(types)
            kernel(env.queue, (64,), None, object(), env.buffer(), env.buffer())


@case
def declared_types_and_values_that_do_not_fit(env: Env) -> None:
    kernel = cl.Kernel(env.prg, "to_int")
    kernel.set_scalar_arg_dtypes([np.int32, None])
    for value in (2**31, -(2**31) - 1, 2**64, "x", None, 1.5, [1], float("nan")):
        with expect(CALLER, "to_int"):
            kernel(env.queue, (1,), None, value, env.out())
    out = env.out()
    kernel(env.queue, (1,), None, 7, out)
    check(env.read(out, np.int64)[0] == 7, "a declared int arrived wrong")


@case
def declared_type_of_another_size(env: Env) -> None:
    kernel = cl.Kernel(env.prg, "to_int")
    # Our conversion follows the kernel's own type; whatever was declared, never another number.
    with tolerate((*CALLER, cl.LogicError)) as caught:
        kernel.set_scalar_arg_dtypes([np.float64, None])
        out = env.out()
        kernel(env.queue, (1,), None, 7, out)
    check(caught or env.read(out, np.int64)[0] == 7, "a declared float64 for an int arrived wrong")


@case
def kernel_by_odd_names(env: Env) -> None:
    with expect(AttributeError, "no_such"):
        _ = env.prg.no_such
    with expect((*CALLER, cl.LogicError), "no_such"):
        cl.Kernel(env.prg, "no_such")
    for name in (5, None, "add1\0", "", "é", "\ud800", "x" * 100000, [], object()):
        with expect(ANY):
            cl.Kernel(env.prg, name)


@case
def kernel_of_something_else(env: Env) -> None:
    for program in (None, 5, "add1", env.ctx, env.queue, env.kernel("add1")):
        with expect(TypeError):
            cl.Kernel(program, "add1")
    with expect(TypeError):
        cl.Kernel()
    with expect(TypeError):
        cl.Kernel(env.prg)
    with expect(TypeError):
        cl.Kernel(env.prg, "add1", "axpy")


@case
def kernel_info_of_odd_arguments(env: Env) -> None:
    kernel = env.kernel("axpy")
    info = cl.kernel_arg_info.NAME
    for index in (3, 99, -1, 2**32, 2**64, "0", None):
        with expect(ANY):
            kernel.get_arg_info(index, info)
    for param in (0, -1, 2**32, 2**64, "NAME", None):
        with expect(ANY):
            kernel.get_arg_info(0, param)
    size = cl.kernel_work_group_info.WORK_GROUP_SIZE
    for device in (5, "cpu", env.ctx, object()):
        with expect(TypeError):
            kernel.get_work_group_info(size, device)
    for param in (0, -1, 2**64, "x", None):
        with expect(ANY):
            kernel.get_work_group_info(param, env.dev)


@case
def clone_is_independent(env: Env) -> None:
    kernel, first, second = cl.Kernel(env.prg, "add1"), env.buffer(), env.buffer()
    kernel.set_args(first)
    try:
        twin = kernel.clone()
    except (cl.LogicError, cl.RuntimeError, NotImplementedError) as error:
        skip(f"clCloneKernel: {error}")
    del first
    gc.collect()
    kernel.set_args(second)
    # The clone carries its own argument, which only it keeps alive now.
    cl.enqueue_nd_range_kernel(env.queue, twin, (64,), None)
    env.queue.finish()
    check(np.array_equal(env.read(second), env.host), "the clone wrote its twin's argument")
