"""Work sizes, local sizes and offsets that make no sense."""

from __future__ import annotations

import itertools
from typing import Any

from harness import ANY, CALLER, Boom, Env, Liar, case, check, cl, expect, np, tolerate


def launch(env: Env, gs: Any, ls: Any = None, **kwargs: Any) -> np.ndarray:
    """Run kernel where; the ids it saw (the buffer has room for 4096)."""
    out = env.out(4 * 4096)
    env.kernel("where")(env.queue, gs, ls, out, **kwargs)
    return env.read(out, np.int32)


@case
def global_size_is_an_int(env: Env) -> None:
    with tolerate(TypeError) as caught:
        ids = launch(env, 8)
    check(caught or ids[7] == 7, "a global size of 8 ran something else")


@case
def global_size_is_empty(env: Env) -> None:
    with expect(ANY, "global|dimension"):
        launch(env, ())


@case
def global_size_of_zero(env: Env) -> None:
    for size in ((0,), (0, 4), (4, 0)):
        with tolerate() as caught:
            ids = launch(env, size)
        check(caught or not ids.any(), "a launch of nothing wrote something")
    launch(env, (0,), allow_empty_ndrange=True)


@case
def global_size_negative(env: Env) -> None:
    for size in ((-1,), (8, -1), (-(2**63),), (-(2**70),)):
        with expect(CALLER, "global"):
            launch(env, size)


@case
def global_size_too_many_dimensions(env: Env) -> None:
    for n in (4, 10, 11, 64, 1000, 100000):
        with expect(ANY, "dimension|entries"):
            launch(env, (1,) * n)


@case
def global_size_of_odd_things(env: Env) -> None:
    for size in (None, "8", b"8", 8.0, (8.0,), ("8",), (None,), ([8],), ((8,),), object(), {},
                 (1j,),
                 np.float32(8), np.array([8.0]), np.array(["8"]), Liar(),
                 (Liar(index="8"),)):  # fmt: skip
        with expect(ANY, "global|dimension"):
            launch(env, size)


@case
def global_size_of_other_sequences(env: Env) -> None:
    for size in (
        [8],
        np.array([8]),
        (np.int64(8),),
        (np.uint8(8),),
        range(8, 9),
        (Liar(index=lambda: 8),),
    ):
        with tolerate(TypeError) as caught:
            ids = launch(env, size)
        check(caught or ids[7] == 7, f"a global size of {size!r} ran something else")


@case
def global_size_huge(env: Env) -> None:
    for size in (2**64, 2**64 + 8, 2**200):
        with expect(CALLER, "global"):
            launch(env, (size,))
    # The product is what wraps here: 2**64 work-items in all.
    with expect(ANY):
        launch(env, (2**32, 2**32))
    with expect(ANY):
        launch(env, (2**22, 2**21, 2**21))


@case
def global_size_never_ends(env: Env) -> None:
    with expect((*CALLER, cl.Error), "dimension|global"):
        launch(env, itertools.count(1))
    with expect((*CALLER, cl.Error)):
        launch(env, Liar(iter=lambda: itertools.repeat(1)))


@case
def global_size_raises(env: Env) -> None:
    with expect((Boom, TypeError)):
        launch(env, Liar(iter=Boom("iter"), len=Boom("len")))
    with expect(Boom):
        launch(env, (Liar(index=Boom("index")),))

    def explode() -> Any:
        yield 8
        raise Boom("generator")

    with expect((Boom, TypeError)):
        launch(env, explode())


@case
def global_size_that_changes_while_read(env: Env) -> None:
    sizes: list[Any] = []

    def shrink() -> int:
        sizes.clear()
        return 4

    sizes.extend([Liar(index=shrink), 4, 4])
    with tolerate():
        launch(env, sizes)

    def grow() -> int:
        sizes.extend([1] * 1000)
        return 4

    sizes[:] = [Liar(index=grow), 2]
    with tolerate():
        launch(env, sizes)


@case
def lengths_that_lie(env: Env) -> None:
    class Long(list):
        def __len__(self) -> int:
            return 1000

    class Short(tuple):
        def __len__(self) -> int:
            return 0

    for size in (Long([4]), Short([4]), Liar(len=lambda: -1), Liar(len=lambda: 2**70)):
        with tolerate():
            launch(env, size)


@case
def local_size_of_zero(env: Env) -> None:
    for gs, ls in (((8,), (0,)), ((8, 8), (8, 0)), ((8,), [0])):
        with expect(ValueError, "local", "0"):
            launch(env, gs, ls)


@case
def local_size_negative_or_huge(env: Env) -> None:
    for size in (-1, 2**63, 2**64, 2**64 + 8, -(2**64)):
        with expect(ANY, "local|WORK_GROUP|WORK_ITEM"):
            launch(env, (8,), (size,))


@case
def local_size_above_the_limit(env: Env) -> None:
    limit = env.dev.max_work_group_size
    with expect(ANY, "local|WORK_GROUP|WORK_ITEM", str(limit)):
        launch(env, (2 * limit,), (2 * limit,))
    sizes = env.dev.max_work_item_sizes
    with expect(ANY, "local|WORK_GROUP|WORK_ITEM"):
        launch(env, (sizes[0], 2), (sizes[0], 2))
    # A product that wraps to 0 must not pass for a small group.
    with expect(ANY):
        launch(env, (2**32, 2**32), (2**32, 2**32))


@case
def local_size_does_not_divide(env: Env) -> None:
    with tolerate() as caught:
        ids = launch(env, (8,), (3,))
    check(caught or list(ids[:8]) == list(range(8)), "an uneven local size ran something else")
    with expect(ANY):
        launch(env, (3,), (5, 5))


@case
def local_size_of_odd_things(env: Env) -> None:
    for size in (4.0, "4", b"4", ("4",), (4.0,), (None,), object(), {}, (), (4, 1), (4, 1, 1, 1)):
        with expect(ANY, "local|dimension"):
            launch(env, (8,), size)


@case
def local_size_as_int(env: Env) -> None:
    with tolerate(TypeError) as caught:
        ids = launch(env, (8,), 4)
    check(caught or ids[7] == 7, "a local size of 4 ran something else")


@case
def g_times_l_overflow(env: Env) -> None:
    for gs in (2**63, 2**62, 2**61 + 1):
        with expect(ANY):
            launch(env, (gs,), (8,), g_times_l=True)


@case
def g_times_l_shapes(env: Env) -> None:
    ids = launch(env, (2,), (4,), g_times_l=True)
    check(list(ids[:8]) == list(range(8)), "g_times_l ran something else")
    with tolerate():
        launch(env, (2,), None, g_times_l=True)
    with tolerate():
        launch(env, (2,), (4, 1, 1), g_times_l=True)
    with expect(ANY):
        launch(env, (2,), (1,) * 4, g_times_l=True)
    with expect(Boom):
        launch(env, (2,), (4,), g_times_l=Liar(bool=Boom("bool")))


@case
def offset_nonsense(env: Env) -> None:
    for offset in ((-1,), (1, 1), (), "1", 1.5, (1.5,), (2**64,), object(), (None,)):
        with expect(ANY, "offset|dimension"):
            launch(env, (8,), None, global_offset=offset)


@case
def offset_wraps(env: Env) -> None:
    for offset in (2**64 - 4, 2**64 - 8 + 1):
        with expect(ANY, "offset"):
            launch(env, (8,), None, global_offset=(offset,))


@case
def offset_works(env: Env) -> None:
    ids = launch(env, (8,), None, global_offset=(100,))
    check(list(ids[:8]) == list(range(100, 108)), "the offset ran something else")


@case
def nd_range_kernel_function(env: Env) -> None:
    kernel = env.kernel("nothing")
    for bad in (None, 5, "k", env.queue):
        with expect(TypeError):
            cl.enqueue_nd_range_kernel(env.queue, bad, (8,), None)
        with expect(TypeError):
            cl.enqueue_nd_range_kernel(bad if bad is not env.queue else env.ctx, kernel, (8,), None)
    for gs, ls in (
        (None, None),
        ((), None),
        ((8,), (0,)),
        ((-1,), None),
        ((1,) * 4, None),
        ((8,), (8, 1)),
    ):
        with expect(ANY):
            cl.enqueue_nd_range_kernel(env.queue, kernel, gs, ls)
    with expect(TypeError):
        cl.enqueue_nd_range_kernel(env.queue, kernel)
