"""Regions of pooled buffers: the block stays its owner's while there is one."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import pygpu as cl
from pygpu import array as cl_array
from pygpu import tools

SIZE = 1 << 14


@pytest.fixture
def pool(queue):
    pool = tools.MemoryPool(tools.ImmediateAllocator(queue))
    yield pool
    pool.stop_holding()


def fill(queue, memory, value, size):
    cl.enqueue_fill_buffer(queue, memory, np.uint8(value), 0, size)


def read(queue, memory, size):
    out = np.empty(size, np.uint8)
    cl.enqueue_copy(queue, out, memory)
    return out


def test_data_of_an_array_is_a_buffer(ctx, queue, pool):
    ary = cl_array.zeros(queue, SIZE, np.uint8, allocator=pool)  # as is its own pool's
    data = ary.data
    assert isinstance(data, cl.Buffer) and isinstance(data, tools.PooledBuffer)
    region = data.get_sub_region(4096, 100)
    assert type(region) is cl.Buffer and region.size == 100
    fill(queue, region, 7, 100)
    fill(queue, data[8192:8200], 9, 8)
    expected = np.zeros(SIZE, np.uint8)
    expected[4096:4196], expected[8192:8200] = 7, 9
    assert np.array_equal(ary.get(), expected)
    kernel = cl.Program(ctx, "kernel void f(global uchar *a) { a[get_global_id(0)]++; }").build().f
    kernel(queue, (100,), None, region)
    assert (ary.get()[4096:4196] == 8).all() and ary.get()[4196] == 0
    with pytest.raises(cl.LogicError, match="ends past the"):
        data.get_sub_region(4096, 1 << 20)
    with pytest.raises(TypeError, match="index must be a slice of bytes, not int"):
        data[3]
    with pytest.raises(TypeError):
        tools.PooledBuffer(ctx, cl.mem_flags.READ_WRITE, 8)


def test_the_block_waits_for_its_regions(queue, pool):
    block = pool.allocate(SIZE)
    handle = block.int_ptr
    region = block.get_sub_region(0, 4096)
    part = region[0:64]
    del block, region
    gc.collect()
    assert (pool.active_blocks, pool.held_blocks) == (1, 0)
    other = pool.allocate(SIZE)
    assert other.int_ptr != handle
    fill(queue, part, 3, 64)
    fill(queue, other, 5, SIZE)
    assert (read(queue, part, 64) == 3).all()
    del part
    gc.collect()
    assert (pool.active_blocks, pool.held_blocks) == (1, 1)
    assert pool.allocate(SIZE).int_ptr == handle


@pytest.mark.parametrize("region_first", [True, False])
def test_a_released_block_with_regions_cannot_be_used(queue, pool, region_first):
    block = pool.allocate(SIZE)
    region = block.get_sub_region(4096, 64)
    fill(queue, region, 3, 64)
    block.release()
    with pytest.raises(cl.LogicError, match="was released"):
        fill(queue, block, 1, 8)
    with pytest.raises(cl.LogicError, match="was released"):
        block.get_sub_region(0, 8)
    assert (pool.active_blocks, pool.held_blocks) == (0, 0)
    others = [pool.allocate(SIZE) for _ in range(3)]
    for other in others:
        fill(queue, other, 5, SIZE)
    assert (read(queue, region, 64) == 3).all()
    if region_first:
        del region
        gc.collect()
        del block
    else:
        del block
        gc.collect()
        assert (read(queue, region, 64) == 3).all()
        del region
    gc.collect()
    assert pool.held_blocks == 0
    del others, other
    gc.collect()
    assert pool.held_blocks == 3 and pool.active_blocks == 0


def test_released_regions_and_a_pool_that_goes_first(queue, pool):
    block = pool.allocate(SIZE)
    region = block.get_sub_region(0, 64)
    region.release()
    with pytest.raises(cl.LogicError, match="was released"):
        fill(queue, region, 1, 8)
    del block
    gc.collect()
    assert pool.active_blocks == 1  # the region has not gone
    del region
    gc.collect()
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)

    own = tools.MemoryPool(tools.ImmediateAllocator(queue))
    region = own.allocate(SIZE)[0:128]
    own.stop_holding()
    del own
    gc.collect()
    fill(queue, region, 4, 128)
    assert (read(queue, region, 128) == 4).all()


def test_a_region_on_another_queue_comes_before_the_next_owner(ctx, queue, pool):
    """Work that goes on in a region, on a queue that the block never saw, holds up the next owner's
    commands."""
    other = cl.CommandQueue(ctx)
    block = pool.allocate(SIZE)
    fill(queue, block, 1, SIZE)
    queue.finish()
    region, gate = block.get_sub_region(0, 64), cl.UserEvent(ctx)
    cl.enqueue_copy(other, region, np.full(64, 9, np.uint8), is_blocking=False, wait_for=[gate])
    handle = block.int_ptr
    del region, block
    gc.collect()
    block = pool.allocate(SIZE)
    assert block.int_ptr == handle
    event = cl.enqueue_fill_buffer(queue, block, np.uint8(2), 0, SIZE)
    queue.flush()
    gate.set_status(cl.command_execution_status.COMPLETE)
    event.wait()
    assert (read(queue, block, SIZE) == 2).all()
    other.finish()


def test_listed_regions(queue, pool):
    """As on drivers that need regions to go in the order of their making."""
    from pygpu import _opencl

    _opencl._list_regions(True)
    try:
        block = pool.allocate(SIZE)
        first, second = block[0:4096], block[0:8192]
        fill(queue, first, 1, 64)
        fill(queue, second, 2, 64)
        del first
        assert _opencl._count_regions(block) == 2
        block.release()
        assert (read(queue, second, 64) == 2).all()
        del second, block
        gc.collect()
        assert pool.active_blocks == 0
    finally:
        _opencl._list_regions(False)
