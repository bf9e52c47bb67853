"""Launches: sizes, offsets, groups, empty ranges, waiting, threads.

Each work-item says where it was.
"""

from __future__ import annotations

import copy
import gc
import itertools
import threading
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags

SOURCE = """
#define D(i) (get_work_dim() > i)
__kernel void where(__global ulong *out, ulong stride1, ulong stride2)
{
    /* No loop: PoCL 6.0 lacks get_num_groups() of a number known only at run time. */
    ulong g[3] = {get_global_id(0), get_global_id(1), get_global_id(2)};
    ulong l[3] = {get_local_size(0), get_local_size(1), get_local_size(2)};
    ulong o[3] = {get_global_offset(0), get_global_offset(1), get_global_offset(2)};
    ulong n[3] = {get_num_groups(0), get_num_groups(1), get_num_groups(2)};
    ulong at = (g[0] - o[0]) + (g[1] - o[1]) * stride1 + (g[2] - o[2]) * stride2;
    __global ulong *row = out + 8 * at;
    row[0] = g[0] + 1000 * g[1] + 1000000 * g[2];
    row[1] = l[0] + 1000 * l[1] + 1000000 * l[2];
    row[2] = o[0] + 1000 * o[1] + 1000000 * o[2];
    row[3] = n[0] + 1000 * n[1] + 1000000 * n[2];
    row[4] = get_work_dim();
    row[5] += 1;
}
__kernel void count(__global int *n) { atomic_inc(n); }
__kernel void add(__global int *n, int k) { atomic_add(n, k); }
__kernel void store(__global int *out, int at, int value) { out[at] = value; }
__kernel void append(__global int *log, int value) { log[1 + log[0]] = value; log[0] += 1; }
__attribute__((reqd_work_group_size(4, 2, 1)))
__kernel void fixed_group(__global int *n) { atomic_inc(n); }
"""


@pytest.fixture(scope="module")
def program(ctx):
    return cl.Program(ctx, SOURCE).build()


@pytest.fixture
def counter(ctx):
    return cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(1, np.int32))


def value_of(queue, counter):
    result = np.empty(1, np.int32)
    cl.enqueue_copy(queue, result, counter)
    return int(result[0])


def digits(sizes, fill):
    sizes = [*sizes, *[fill] * (3 - len(sizes))]
    return sizes[0] + 1000 * sizes[1] + 1000000 * sizes[2]


def check_where(queue, program, ctx, expected_global, local, offset, launch):
    """Runs launch(kernel, *args) and checks each work-item's coordinates."""
    shape = [*expected_global, *[1] * (3 - len(expected_global))]
    rows = np.zeros((shape[2], shape[1], shape[0], 8), np.uint64)
    out = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=rows)
    launch(program.where, out, shape[0], shape[0] * shape[1])
    cl.enqueue_copy(queue, rows, out)
    off = [*(offset or []), *[0] * 3][:3]
    for z, y, x in itertools.product(*map(range, reversed(shape))):
        row = rows[z, y, x]
        assert row[0] == (x + off[0]) + 1000 * (y + off[1]) + 1000000 * (z + off[2])
        assert row[2] == digits(off, 0)
        assert row[4] == len(expected_global)
        assert row[5] == 1
        if local is not None:
            assert row[1] == digits(local, 1)
            groups = [g // s for g, s in zip(expected_global, local)]
            assert row[3] == digits(groups, 1)


SIZES = [
    ((1,), None),
    ((7,), None),
    ((8,), (2,)),
    ((9,), (9,)),
    ((4, 3), None),
    ((4, 6), (2, 3)),
    ((3, 1), (1, 1)),
    ((2, 3, 4), None),
] + [((2, 3, 4), (1, 3, 2)), ((4, 4, 4), (4, 4, 4)), ((1, 1, 1), (1, 1, 1))]


@pytest.mark.parametrize(("global_size", "local_size"), SIZES)
@pytest.mark.parametrize("shift", [None, 0, 5])
def test_sizes_and_offsets(ctx, queue, program, global_size, local_size, shift):
    offset = None if shift is None else tuple(shift + i for i in range(len(global_size)))

    def launch(kernel, *args):
        kernel(queue, global_size, local_size, *args, global_offset=offset)

    check_where(queue, program, ctx, global_size, local_size, offset, launch)

    def launch_set(kernel, *args):
        kernel.set_args(*args)
        cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size, offset)

    check_where(queue, program, ctx, global_size, local_size, offset, launch_set)


@pytest.mark.parametrize(
    ("groups", "local", "offset"),
    [
        ((3,), (2,), None),
        ((3, 2), (2, 4), None),
        ((3,), (2, 2), None),
        ((3, 2), (4,), None),
        ((2, 1, 3), (1, 2, 2), None),
        ((2,), (3,), (2,)),
        ((2, 2), (3, 1), (1, 2)),
        (2, 3, None),
        ((2,), (1, 1, 2), (1,)),
    ],
)
def test_g_times_l(ctx, queue, program, groups, local, offset):
    """Global size and offset count groups; what is missing in a dimension counts 1."""
    groups_full, local_full = [tuple(np.atleast_1d(v).tolist()) for v in (groups, local)]
    n = max(len(groups_full), len(local_full))
    groups_full += (1,) * (n - len(groups_full))
    local_full += (1,) * (n - len(local_full))
    expected = tuple(g * s for g, s in zip(groups_full, local_full))
    offset_full = (
        None if offset is None else tuple(o * s for o, s in zip([*offset, 0, 0][:n], local_full))
    )

    def launch(kernel, *args):
        kernel(queue, groups, local, *args, global_offset=offset, g_times_l=True)

    check_where(queue, program, ctx, expected, local_full, offset_full, launch)

    def launch_set(kernel, *args):
        kernel.set_args(*args)
        cl.enqueue_nd_range_kernel(queue, kernel, groups, local, offset, g_times_l=True)

    check_where(queue, program, ctx, expected, local_full, offset_full, launch_set)


def test_g_times_l_without_local_size_is_the_plain_meaning(queue, program, counter):
    program.count(queue, (6,), None, counter, g_times_l=True)
    assert value_of(queue, counter) == 6


@pytest.mark.parametrize(
    "size",
    [
        5,
        (5,),
        [5],
        np.int64(5),
        np.uint8(5),
        (np.int32(5),),
        np.array([5]),
        np.array([5], np.uint16),
        range(5, 6),
        iter([5]),
        {5: 1},
    ],
    ids=lambda v: type(v).__name__,
)
def test_forms_of_a_size(queue, program, counter, size):
    program.count(queue, copy.copy(size), None, counter)  # an iterator is used up
    assert value_of(queue, counter) == 5


def test_shape_of_an_array_is_a_size(queue, program, counter):
    program.count(queue, np.zeros((3, 2, 4)).shape, None, counter)
    program.count(queue, np.zeros(6).shape, (np.int64(3),), counter)
    assert value_of(queue, counter) == 30


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ((-1,), ValueError), (-3, ValueError), ((1.0,), TypeError), (2.5, TypeError),
        ("8", TypeError), (b"8", TypeError), (None, TypeError), ((2**64,), OverflowError),
        ((2**70, 1), OverflowError), ((), cl.LogicError), ((1, 1, 1, 1), cl.LogicError),
        ((1,) * 11, ValueError), (((1,),), TypeError), ((None,), TypeError), (object(), TypeError),
        (["1"], TypeError),
    ],
)  # fmt: skip
def test_bad_global_sizes(queue, program, counter, bad, error):
    with pytest.raises(error, match="global"):
        program.count(queue, bad, None, counter)
    assert value_of(queue, counter) == 0


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ((-1,), ValueError), ((1.0,), TypeError), ("8", TypeError), ((2**70,), OverflowError),
        ((1, 1), cl.LogicError), ((), cl.LogicError), ((0,), cl.LogicError),
        ((2**20,), cl.LogicError), ((3,), cl.LogicError), ((2**63 - 1,), cl.LogicError),
        ((16,), cl.LogicError), (object(), TypeError),
    ],
)  # fmt: skip
def test_bad_local_sizes(queue, program, counter, bad, error):
    with pytest.raises(error, match="local|work-group|global/local"):
        program.count(queue, (8,), bad, counter)
    assert value_of(queue, counter) == 0


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ((-1,), ValueError),
        ((1.0,), TypeError),
        ("8", TypeError),
        ((2**70,), OverflowError),
        ((1, 1), cl.LogicError),
        ((), cl.LogicError),
    ],
)
def test_bad_offsets(queue, program, counter, bad, error):
    with pytest.raises(error, match="offset"):
        program.count(queue, (8,), None, counter, global_offset=bad)
    assert value_of(queue, counter) == 0


def test_sizes_that_overflow(queue, program, counter):
    for size in [(2**32, 2**32), (2**40, 2**30, 1), (2**63 - 1, 3)]:
        with pytest.raises(cl.LogicError, match="overflow"):
            program.count(queue, size, None, counter)
    with pytest.raises(cl.LogicError, match="overflow"):
        program.count(queue, (2**62,), (8,), counter, g_times_l=True)
    assert value_of(queue, counter) == 0


def test_largest_group(device, queue, program, counter):
    most = device.max_work_group_size
    per_dimension = device.max_work_item_sizes
    assert len(per_dimension) == device.max_work_item_dimensions
    n = min(most, per_dimension[0])
    program.count(queue, (n,), (n,), counter)
    assert value_of(queue, counter) == n
    with pytest.raises(cl.LogicError, match=f"{most}"):
        program.count(queue, (most, 2), (most, 2), counter)


def test_group_size_demanded_by_the_source(queue, program, counter):
    program.fixed_group(queue, (8, 4, 1), (4, 2, 1), counter)
    assert value_of(queue, counter) == 32
    for size, local in [((8, 4, 1), (2, 2, 1)), ((8, 4), (2, 4))]:
        with pytest.raises(cl.LogicError, match="fixed_group"):
            program.fixed_group(queue, size, local, counter)


# ---- empty ranges


@pytest.mark.parametrize("size", [(0,), (0, 4), (4, 0), (0, 0, 0), (3, 0, 2), 0])
def test_empty_ranges(device, queue, program, counter, size):
    event = program.count(queue, size, None, counter, allow_empty_ndrange=True)
    assert isinstance(event, cl.Event)
    event.wait()
    assert event.command_execution_status == cl.command_execution_status.COMPLETE
    program.count.set_args(counter)
    cl.enqueue_nd_range_kernel(queue, program.count, size, None, allow_empty_ndrange=True).wait()
    if "OpenCL 1" in device.version or "OpenCL 2.0" in device.version:
        with pytest.raises(cl.LogicError, match="allow_empty_ndrange"):
            program.count(queue, size, None, counter)
    else:
        program.count(queue, size, None, counter).wait()
    assert value_of(queue, counter) == 0


@pytest.mark.parametrize(
    "size, local, keywords",
    [
        ((0,), (1 << 20,), {}),
        ((0,), (0,), {}),
        ((4,), (0,), {}),
        ((4,), (0,), {"g_times_l": True}),
        ((2**40, 2**40, 0), None, {}),
        ((0,), None, {"global_offset": (2**63 - 1,)}),
    ],
)
def test_sizes_beside_a_0_do_not_count(queue, program, counter, size, local, keywords):
    program.count(queue, size, local, counter, allow_empty_ndrange=True, **keywords).wait()
    assert value_of(queue, counter) == 0


def test_an_empty_range_still_needs_as_many_sizes_everywhere(queue, program, counter):
    with pytest.raises(ValueError, match="differing dimensions"):
        program.count(queue, (0,), (1, 1), counter, allow_empty_ndrange=True)
    with pytest.raises(ValueError, match="dimensions"):
        program.count(queue, (), None, counter, allow_empty_ndrange=True)


def test_an_empty_range_still_checks_and_waits(ctx, queue, program, counter):
    with pytest.raises(TypeError, match="arg#1"):
        program.count(queue, (0,), None, 3, allow_empty_ndrange=True)
    with pytest.raises(TypeError, match="wait_for"):
        program.count(queue, (0,), None, counter, allow_empty_ndrange=True, wait_for=[3])
    gate = cl.UserEvent(ctx)
    event = program.count(queue, (0,), None, counter, allow_empty_ndrange=True, wait_for=[gate])
    queue.flush()
    assert event.command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    event.wait()


# ---- keywords, queue


def test_keywords(queue, program, counter):
    with pytest.raises(
        TypeError, match=r"'count'.*unexpected keyword argument 'offset'.*global_offset"
    ):
        program.count(queue, (1,), None, counter, offset=(1,))
    with pytest.raises(TypeError):
        program.count(queue, (1,), None, n=counter)
    program.count(
        queue,
        (1,),
        None,
        counter,
        **dict(wait_for=None, global_offset=None, g_times_l=False, allow_empty_ndrange=0),
    ).wait()
    program.count(*(queue, (1,), None, counter)).wait()
    assert value_of(queue, counter) == 2


def test_wrong_queue(device, queue, program, counter):
    for wrong in (None, 3, "queue", counter, program, cl.CommandQueue):
        with pytest.raises(TypeError, match="queue"):
            program.count(wrong, (1,), None, counter)
    other = cl.CommandQueue(cl.Context([device]))
    with pytest.raises(cl.LogicError, match="'count' and the queue belong to different contexts"):
        program.count(other, (1,), None, counter)
    for wrong in (None, 3, program):
        with pytest.raises(TypeError, match="kernel"):
            cl.enqueue_nd_range_kernel(queue, wrong, (1,), None)
        with pytest.raises(TypeError, match="kernel"):
            cl.enqueue_task(queue, wrong)


def test_task(ctx, queue, program, counter):
    kernel = cl.Kernel(program, "add")
    kernel.set_args(counter, 5)
    event = cl.enqueue_task(queue, kernel)
    cl.enqueue_task(queue, kernel, wait_for=[event]).wait()
    assert value_of(queue, counter) == 10


# ---- waiting


def test_forms_of_wait_for(ctx, queue, program, counter):
    first = program.count(queue, (1,), None, counter)
    forms = [
        None,
        [],
        (),
        [first],
        (first,),
        iter([first]),
        {first: 1},
        {first},
        [first] * 20,
        first,
        (e for e in [first, first]),
    ]
    for form in forms:
        program.count(queue, (1,), None, counter, wait_for=form)
    assert value_of(queue, counter) == 1 + len(forms)
    for wrong in (3, "events", [3], [None], [first, "x"], object(), [[first]], b"ab"):
        with pytest.raises(TypeError, match="wait_for"):
            program.count(queue, (1,), None, counter, wait_for=wrong)

    def failing():
        yield first
        raise KeyError("later")

    with pytest.raises(KeyError):
        program.count(queue, (1,), None, counter, wait_for=failing())
    other = cl.UserEvent(cl.Context(ctx.devices))
    with pytest.raises(cl.LogicError, match=r"wait_for\[1\].*another context"):
        program.count(queue, (1,), None, counter, wait_for=[first, other])
    other.set_status(0)
    assert value_of(queue, counter) == 1 + len(forms)


def test_order_by_events_on_an_out_of_order_queue(ctx, device, program):
    wanted = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    if not device.queue_properties & wanted:
        pytest.skip("the device has no out-of-order queues")
    queue = cl.CommandQueue(ctx, properties=wanted)
    assert queue.properties & wanted
    n = 200
    log = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(n + 1, np.int32))
    event = None
    for i in range(n):
        event = program.append(queue, (1,), None, log, i, wait_for=event and [event])
    event.wait()
    result = np.empty(n + 1, np.int32)
    cl.enqueue_copy(queue, result, log)
    assert result.tolist() == [n, *range(n)]


def test_events_dropped_while_commands_are_pending(ctx, queue, program, counter):
    gc.collect()
    before = _opencl._handle_counts()["event"]
    gate = cl.UserEvent(ctx)
    program.count(queue, (1,), None, counter, wait_for=[gate])
    for _ in range(100):
        program.count(queue, (1,), None, counter)
    gate.set_status(cl.command_execution_status.COMPLETE)
    del gate
    assert value_of(queue, counter) == 101
    assert _opencl._handle_counts()["event"] == before


def test_arguments_dropped_while_the_command_is_pending(ctx, queue, program, counter):
    """The driver keeps what a command uses; the kernel and its arguments may go."""
    gate = cl.UserEvent(ctx)
    local_program = cl.Program(
        ctx, "__kernel void copy(__global const int *a, __global int *b) { *b += *a; }"
    ).build()
    kernel = local_program.copy
    events = []
    for k in range(1, 11):
        a = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=np.array([k], np.int32))
        events.append(kernel(queue, (1,), None, a, counter, wait_for=[gate]))
        del a
    del kernel, local_program
    gc.collect()
    gate.set_status(0)
    cl.wait_for_events(events)
    assert value_of(queue, counter) == 55


@pytest.mark.parametrize("keep", ["call", "set_args", "launched again"])
def test_out_of_memory_drops_what_only_a_kernel_has(ctx, queue, program, counter, keep):
    """A call's arguments, as the next call sets them anew; not those that are meant to stay."""
    kernel = cl.Kernel(program, "add")
    memory = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(1, np.int32))
    if keep == "set_args":
        kernel.set_args(memory, 1)
    kernel(queue, 1, None, memory, 1)
    if keep == "launched again":
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    queue.finish()
    alive = weakref.ref(memory)
    del memory
    assert alive() is not None, "the kernel holds its arguments"
    other = cl.Kernel(program, "add")  # somebody has this one's
    other(queue, 1, None, counter, 1)
    _opencl._fault("clCreateBuffer", cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE)
    try:
        cl.Buffer(ctx, mf.READ_WRITE, 4)
        assert _opencl._fault_hits() == 1
    finally:
        _opencl._fault(None, 0)
    assert (alive() is None) == (keep == "call")
    cl.enqueue_nd_range_kernel(queue, other, (1,), None)
    if keep == "call":
        with pytest.raises(cl.LogicError, match="was not set"):
            cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    else:
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
        result = np.empty(1, np.int32)
        cl.enqueue_copy(queue, result, alive())
        assert result[0] == (3 if keep == "launched again" else 2)
    kernel(queue, 1, None, counter, 5)
    assert value_of(queue, counter) == 7


def test_scalars_are_copied_at_the_launch(ctx, queue, program):
    out = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(10, np.int32))
    gate = cl.UserEvent(ctx)
    value = np.zeros((), np.int32)
    for i in range(10):
        value[...] = i * i
        program.store(queue, (1,), None, out, i, value, wait_for=[gate])
    value[...] = -1
    gate.set_status(0)
    result = np.empty(10, np.int32)
    cl.enqueue_copy(queue, result, out)
    assert result.tolist() == [i * i for i in range(10)]


def test_many_launches_without_waiting(ctx, queue, program, counter):
    """More than a driver's queue holds, while nothing can run: the GIL must not be kept."""
    gate = cl.UserEvent(ctx)
    program.count(queue, (1,), None, counter, wait_for=[gate])
    threading.Timer(0.5, gate.set_status, [0]).start()
    for _ in range(3000):
        program.count(queue, (1,), None, counter)
    queue.finish()
    assert value_of(queue, counter) == 3001


# ---- threads


def test_threads_share_a_kernel(ctx, program):
    """Setting arguments and launching are one step."""
    n_threads, n = 4, 400
    kernel = program.store
    out = cl.Buffer(
        ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(n_threads * n, np.int32)
    )
    errors = []

    def work(t):
        try:
            queue = cl.CommandQueue(ctx)
            for i in range(n):
                kernel(queue, (1,), None, out, t * n + i, t * n + i + 1)
            queue.finish()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(t,)) for t in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    result = np.empty(n_threads * n, np.int32)
    cl.enqueue_copy(cl.CommandQueue(ctx), result, out)
    assert (result == np.arange(1, n_threads * n + 1)).all()


# ---- failures of the driver


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (-5, cl.RuntimeError),
        (-4, cl.MemoryError),
        (-6, cl.RuntimeError),
        (-52, cl.LogicError),
        (-54, cl.LogicError),
        (-9999, cl.LogicError),
    ],
)
def test_driver_failures(queue, program, counter, code, error):
    for local in (None, (1,)):
        _opencl._fault("clEnqueueNDRangeKernel", code, 1, 10)
        try:
            with pytest.raises(error, match="'count'") as caught:
                program.count(queue, (1,), local, counter)
        finally:
            _opencl._fault(None, 0)
        assert caught.value.code == code and caught.value.routine == "clEnqueueNDRangeKernel"
    program.count(queue, (1,), None, counter)
    assert value_of(queue, counter) == 1


def test_a_full_device_is_tried_again_after_a_collection(queue, program, counter):
    _opencl._fault("clEnqueueNDRangeKernel", cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE, 1, 1)
    try:
        program.count(queue, (1,), None, counter)
        assert _opencl._fault_hits() == 1
    finally:
        _opencl._fault(None, 0)
    assert value_of(queue, counter) == 1


def test_every_way_to_give_a_value_is_seen_by_the_next_launch(queue, program):
    # Words are compared with what the driver has, and there are several ways to come by one.
    values = [-1, np.int32(-1), 7, np.int64(7), True, np.int32(1), 1, -1, 2**31 - 1, np.array(3), 0]
    out = cl.Buffer(queue.context, mf.READ_WRITE, 4 * len(values) * 2)
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))
    pooled, kernel = pool.allocate(4 * len(values) * 2), program.store
    for place in (out, pooled):
        for i, value in enumerate(values):
            kernel(queue, (1,), None, place, i, value)
            kernel(queue, (1, 1), (1, 1), place, np.int32(i + len(values)), value)
        for wrong in (2**31, -(2**31) - 1, 2**70):
            with pytest.raises(OverflowError):
                kernel(queue, (1,), None, place, 0, wrong)
        found = np.empty(2 * len(values), np.int32)
        cl.enqueue_copy(queue, found, place)
        assert found.tolist() == [int(value) for value in values] * 2


def test_a_plain_launch_of_too_much_is_refused(queue, program, counter):
    dev = queue.device
    most = dev.max_work_group_size
    for size, local in (
        ((most * 2,), (most * 2,)),
        ((2**20,) * 3, (most, most, most)),
        ((4, 4), (4,)),
        ((4,), (0,)),
        ((2**21, 2**21, 2**22), None),
        ((1,) * (dev.max_work_item_dimensions + 1), None),
        ((), None),
        ((-1,), None),
        ((1.0,), None),
        ((1,), (1.0,)),
    ):
        with pytest.raises((cl.LogicError, TypeError, ValueError)):
            program.count(queue, size, local, counter)
    program.count(queue, (True, 3), [1, 1], counter)
    program.count(queue, [2], (np.int64(1),), counter)
    assert value_of(queue, counter) == 5
