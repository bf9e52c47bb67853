"""Pools, and allocation in the order of a stream."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import (
    INVALID_HANDLE,
    INVALID_VALUE,
    NOT_SUPPORTED,
    OUT_OF_MEMORY,
    enum,
    fails,
)
from simulator.test_stream import Gate

A = enum("mem_pool_attribute")


class Props(ctypes.Structure):
    _fields_ = [
        ("alloc", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("where", ctypes.c_int),
        ("id", ctypes.c_int),
        ("security", ctypes.c_void_p),
        ("rest", ctypes.c_char * 64),
    ]


def alloc(cuda, size, stream=None, pool=None):
    out = ctypes.c_ulonglong()
    if pool is None:
        cuda.cuMemAllocAsync(byref(out), size, stream)
    else:
        cuda.cuMemAllocFromPoolAsync(byref(out), size, pool, stream)
    return out.value


def ask(cuda, pool, name):
    out = ctypes.c_ulonglong(0)
    cuda.cuMemPoolGetAttribute(pool, A[name], byref(out))
    return out.value


def tell(cuda, pool, name, value):
    cuda.cuMemPoolSetAttribute(pool, A[name], byref(ctypes.c_ulonglong(value)))


@pytest.fixture
def pool(cuda):
    pool = cuda.get("cuMemPoolCreate", byref(Props(1, 0, 1, 0)))
    yield pool
    cuda.status("cuMemPoolDestroy", pool)


def test_memory_is_freed_when_the_stream_gets_there(cuda, kernels):
    stream = cuda.stream(1)
    before = cuda.mem_info()
    gate = Gate(cuda, kernels, stream)
    address = alloc(cuda, 1 << 20, stream)
    cuda.cuMemsetD8Async(address, 7, 1 << 20, stream)
    host = cuda.get("cuMemHostAlloc", 1 << 20, 0)
    cuda.cuMemcpyDtoHAsync(host, address, 1 << 20, stream)
    cuda.cuMemFreeAsync(address, stream)
    assert before[0] - cuda.mem_info()[0] == 1 << 20
    # it is the caller's no more
    assert "freed" in fails(INVALID_VALUE, cuda.cuMemsetD8Async, address, 0, 1, stream)
    fails(INVALID_VALUE, cuda.cuMemFreeAsync, address, stream)
    fails(INVALID_VALUE, cuda.cuPointerGetAttribute, byref(ctypes.c_ulonglong()), 2, address)
    gate.open()
    cuda.cuStreamSynchronize(stream)
    assert cuda.mem_info() == before
    assert (np.ctypeslib.as_array((ctypes.c_ubyte * (1 << 20)).from_address(host)) == 7).all()


def test_either_call_frees_the_others_memory(cuda):
    before = cuda.mem_info()
    cuda.cuMemFree(alloc(cuda, 1000))
    cuda.cuMemFreeAsync(cuda.alloc(1000), None)
    cuda.cuMemFreeAsync(0, None)
    cuda.cuCtxSynchronize()
    assert cuda.mem_info() == before


def test_what_went_with_its_context_is_not_freed_again(cuda, kernels):
    """Another block may be at its place when the stream of another context gets there."""
    stream = cuda.stream(1)
    gate = Gate(cuda, kernels, stream)
    other = cuda.get("cuCtxCreate", 0, 0)
    lost = [alloc(cuda, 1000), alloc(cuda, 1 << 20)]
    for address in lost:
        cuda.cuMemFreeAsync(address, stream)
    cuda.cuCtxDestroy(other)
    before = cuda.mem_info()
    blocks = [cuda.alloc(1000) for _ in lost]
    gate.open()
    cuda.cuStreamSynchronize(stream)
    for address in blocks:
        cuda.cuMemFree(address)
    assert cuda.mem_info() == before


def test_allocation_waits_for_what_streams_have_yet_to_free(cuda, kernels):
    import threading

    stream = cuda.stream(1)
    size = cuda.mem_info()[0] // 3 * 2
    gate = Gate(cuda, kernels, stream)
    cuda.cuMemFreeAsync(alloc(cuda, size, stream), stream)
    threading.Timer(0.05, gate.open).start()
    cuda.cuMemFreeAsync(alloc(cuda, size, stream), stream)
    cuda.cuStreamSynchronize(stream)
    fails(OUT_OF_MEMORY, alloc, cuda, 1 << 50)
    fails(INVALID_VALUE, alloc, cuda, 0)


def test_counts(cuda, pool):
    assert ask(cuda, pool, "USED_MEM_CURRENT") == 0
    a, b = alloc(cuda, 1 << 20, None, pool), alloc(cuda, 1 << 20, None, pool)
    assert ask(cuda, pool, "USED_MEM_CURRENT") == ask(cuda, pool, "RESERVED_MEM_CURRENT") == 2 << 20
    cuda.cuMemFreeAsync(a, None)
    cuda.cuCtxSynchronize()
    assert ask(cuda, pool, "USED_MEM_CURRENT") == 1 << 20
    assert ask(cuda, pool, "USED_MEM_HIGH") == 2 << 20
    tell(cuda, pool, "USED_MEM_HIGH", 0)
    assert ask(cuda, pool, "USED_MEM_HIGH") == 1 << 20
    out = ctypes.c_ulonglong()
    cuda.cuPointerGetAttribute(byref(out), enum("pointer_attribute")["MEMPOOL_HANDLE"], b)
    assert out.value == pool
    cuda.cuMemPoolDestroy(pool)  # before its blocks
    fails(INVALID_HANDLE, ask, cuda, pool, "USED_MEM_CURRENT")
    cuda.cuMemFreeAsync(b, None)
    cuda.cuCtxSynchronize()


def test_attributes(cuda, pool):
    tell(cuda, pool, "RELEASE_THRESHOLD", 12345)
    assert ask(cuda, pool, "RELEASE_THRESHOLD") == 12345
    for name in A:
        if name.startswith("REUSE"):
            assert ask(cuda, pool, name) == 1
            tell(cuda, pool, name, 0)
            assert ask(cuda, pool, name) == 0
    fails(INVALID_VALUE, tell, cuda, pool, "USED_MEM_CURRENT", 0)
    fails(INVALID_VALUE, tell, cuda, pool, "USED_MEM_HIGH", 5)
    fails(INVALID_VALUE, cuda.cuMemPoolGetAttribute, pool, 99, byref(ctypes.c_ulonglong()))
    cuda.cuMemPoolTrimTo(pool, 0)


def test_the_pool_of_the_device(cuda, pool):
    default = cuda.get("cuDeviceGetDefaultMemPool", 0)
    assert cuda.get("cuDeviceGetMemPool", 0) == default
    cuda.cuDeviceSetMemPool(0, pool)
    assert cuda.get("cuDeviceGetMemPool", 0) == pool
    address = alloc(cuda, 1 << 20)
    assert ask(cuda, pool, "USED_MEM_CURRENT") == 1 << 20
    cuda.cuMemFreeAsync(address, None)
    cuda.cuMemPoolDestroy(pool)
    assert cuda.get("cuDeviceGetMemPool", 0) == default
    fails(INVALID_VALUE, cuda.cuMemPoolDestroy, default)


def test_pools_that_are_none(cuda, pool):
    fails(INVALID_VALUE, cuda.get, "cuMemPoolCreate", byref(Props(2, 0, 1, 0)))
    fails(INVALID_VALUE, cuda.get, "cuMemPoolCreate", byref(Props(1, 0, 2, 0)))
    fails(101, cuda.get, "cuMemPoolCreate", byref(Props(1, 0, 1, 5)))
    fails(NOT_SUPPORTED, cuda.get, "cuMemPoolCreate", byref(Props(1, 1, 1, 0)))
    access = (ctypes.c_int * 3)(1, 0, 3)
    cuda.cuMemPoolSetAccess(pool, access, 1)
    fails(INVALID_VALUE, cuda.cuMemPoolSetAccess, pool, (ctypes.c_int * 3)(1, 0, 0), 1)
