"""Memory: making and freeing it, its limits, what the driver knows of addresses."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import (
    ILLEGAL_ADDRESS,
    INVALID_VALUE,
    NOT_FOUND,
    NOT_SUPPORTED,
    OUT_OF_MEMORY,
    enum,
    fails,
    run_script,
)

ALREADY_REGISTERED, NOT_REGISTERED = 712, 713


@pytest.mark.parametrize(
    "size", [1, 3, 255, 4096, 4097, 65535, 65536, 65537, 1 << 20, (1 << 24) + 1]
)
def test_each_byte_is_usable(cuda, size):
    address = cuda.alloc(size)
    assert address % 512 == 0
    data = np.random.default_rng(size).integers(0, 256, size, dtype="u1")
    cuda.cuMemcpyHtoD(address, data.ctypes.data, size)
    assert (cuda.from_device(address, size, "u1") == data).all()
    cuda.cuMemFree(address)


def test_get_info_counts_what_is_allocated(cuda):
    start, total = cuda.mem_info()
    assert start <= total
    sizes = [1, 1000, 100_000, 10_000_000]
    addresses = [cuda.alloc(size) for size in sizes]
    free, same = cuda.mem_info()
    assert same == total
    assert sum(sizes) <= start - free <= sum(sizes) + len(sizes) * 4096
    for address in addresses:
        cuda.cuMemFree(address)
    assert cuda.mem_info() == (start, total)


def test_host_memory_is_not_the_devices(cuda):
    before = cuda.mem_info()
    p = cuda.get("cuMemHostAlloc", 1 << 20, 0)
    assert cuda.mem_info() == before
    cuda.cuMemFreeHost(p)
    managed = ctypes.c_ulonglong()
    cuda.cuMemAllocManaged(byref(managed), 1 << 20, 1)
    assert before[0] - cuda.mem_info()[0] == 1 << 20
    cuda.cuMemFree(managed)


@pytest.mark.parametrize("size", [1 << 33, 1 << 40, 2**63, 2**64 - 1, 2**64 - 4096])
def test_more_than_there_is(cuda, size):
    before = cuda.mem_info()
    if size >= before[1]:
        assert "bytes" in fails(OUT_OF_MEMORY, cuda.alloc, size)
    assert cuda.mem_info() == before


def test_the_device_is_as_large_as_asked_for():
    assert run_script(
        """
        d.cuInit(0)
        d.get("cuCtxCreate", 0, 0)
        print(*d.mem_info(), d.get("cuDeviceTotalMem", 0, kind=ctypes.c_size_t))
        half = [d.alloc(6 << 20) for _ in range(2)]
        print(d.status("cuMemAlloc", byref(ctypes.c_ulonglong()), (4 << 20) + 1), d.detail())
        d.alloc(4 << 20)
        print(d.mem_info()[0])
        d.cuMemFree(half[0])
        print(d.mem_info()[0])
        """,
        PYGPU_SIM_MEMORY="16M",
    ).splitlines() == [
        "16777216 16777216 16777216",
        "2 a block of 4198400 bytes, and 4194304 of 16777216 are free (PYGPU_SIM_MEMORY)",
        "0",
        "6291456",
    ]


def test_many_small_blocks(cuda):
    """More than the system allows mappings: they come from size classes."""
    addresses = [cuda.alloc(100) for _ in range(70_000)]
    assert len(set(addresses)) == len(addresses)
    spans = np.sort(np.array(addresses, "u8"))
    assert (np.diff(spans) >= 100).all()
    for address in addresses:
        cuda.cuMemFree(address)


def test_sizes_that_are_none(cuda):
    assert fails(INVALID_VALUE, cuda.alloc, 0) == "the size is 0"
    fails(INVALID_VALUE, cuda.cuMemAlloc, None, 4)
    fails(INVALID_VALUE, cuda.get, "cuMemHostAlloc", 0, 0)
    fails(INVALID_VALUE, cuda.get, "cuMemHostAlloc", 4, 8)


def test_wrong_frees(cuda):
    address = cuda.alloc(1000)
    assert "inside, not at the start" in fails(INVALID_VALUE, cuda.cuMemFree, address + 4)
    cuda.cuMemFree(address)
    assert "freed already" in fails(INVALID_VALUE, cuda.cuMemFree, address)
    assert "not an allocation" in fails(INVALID_VALUE, cuda.cuMemFree, 12345)
    cuda.cuMemFree(0)
    p = cuda.get("cuMemHostAlloc", 100, 0)
    assert "page-locked" in fails(INVALID_VALUE, cuda.cuMemFree, p)
    cuda.cuMemFreeHost(p)
    fails(INVALID_VALUE, cuda.cuMemFreeHost, p)
    address = cuda.alloc(100)
    fails(INVALID_VALUE, cuda.cuMemFreeHost, address)
    host = np.zeros(4)
    fails(INVALID_VALUE, cuda.cuMemFree, host.ctypes.data)


def test_pitched(cuda):
    address, pitch = ctypes.c_ulonglong(), ctypes.c_size_t()
    for width in (1, 511, 512, 513):
        cuda.cuMemAllocPitch(byref(address), byref(pitch), width, 7, 4)
        assert pitch.value == -(-width // 512) * 512
        base, size = ctypes.c_ulonglong(), ctypes.c_size_t()
        cuda.cuMemGetAddressRange(byref(base), byref(size), address.value + 6 * pitch.value)
        assert (base.value, size.value) == (address.value, 7 * pitch.value)
    fails(INVALID_VALUE, cuda.cuMemAllocPitch, byref(address), byref(pitch), 10, 10, 5)
    fails(INVALID_VALUE, cuda.cuMemAllocPitch, byref(address), byref(pitch), 0, 10, 4)
    fails(OUT_OF_MEMORY, cuda.cuMemAllocPitch, byref(address), byref(pitch), 2**63, 2**62, 4)


def test_address_range(cuda):
    address = cuda.alloc(1000)
    base, size = ctypes.c_ulonglong(), ctypes.c_size_t()
    for offset in (0, 1, 999):
        cuda.cuMemGetAddressRange(byref(base), byref(size), address + offset)
        assert (base.value, size.value) == (address, 1000)
    cuda.cuMemGetAddressRange(None, None, address)
    fails(NOT_FOUND, cuda.cuMemGetAddressRange, byref(base), byref(size), address + 1000)
    cuda.cuMemFree(address)
    fails(NOT_FOUND, cuda.cuMemGetAddressRange, byref(base), byref(size), address)


def test_kernels_run_on_managed_and_host_memory(cuda, kernels):
    managed = ctypes.c_ulonglong()
    cuda.cuMemAllocManaged(byref(managed), 400, 1)
    host = cuda.get("cuMemHostAlloc", 400, 2)
    own = np.arange(100, dtype="i4")
    cuda.cuMemHostRegister(own.ctypes.data, 400, 2)
    for p in (managed.value, host, own.ctypes.data):
        view = np.ctypeslib.as_array((ctypes.c_int * 100).from_address(p))
        view[:] = np.arange(100)
        cuda.launch(kernels.scale, 1, 128, p, np.int32(3), np.int32(100))
        cuda.cuCtxSynchronize()
        assert (view == 3 * np.arange(100)).all()
    cuda.cuMemHostUnregister(own.ctypes.data)


def test_host_memory_questions(cuda):
    p = cuda.get("cuMemHostAlloc", 100, 4)
    pointer = ctypes.c_ulonglong()
    cuda.cuMemHostGetDevicePointer(byref(pointer), p + 8, 0)
    assert pointer.value == p + 8
    flags = ctypes.c_uint()
    cuda.cuMemHostGetFlags(byref(flags), p)
    assert flags.value & 4
    device = cuda.alloc(100)
    fails(INVALID_VALUE, cuda.cuMemHostGetFlags, byref(flags), device)
    fails(INVALID_VALUE, cuda.cuMemHostGetDevicePointer, byref(pointer), device, 0)


def test_registering(cuda):
    own = np.zeros(1000, "u1")
    p = own.ctypes.data
    fails(NOT_REGISTERED, cuda.cuMemHostUnregister, p)
    cuda.cuMemHostRegister(p, 1000, 0)
    fails(ALREADY_REGISTERED, cuda.cuMemHostRegister, p, 1000, 0)
    fails(ALREADY_REGISTERED, cuda.cuMemHostRegister, p + 999, 1, 0)
    fails(NOT_REGISTERED, cuda.cuMemHostUnregister, p + 1)
    cuda.cuMemHostUnregister(p)
    cuda.cuMemHostRegister(p, 500, 1)
    cuda.cuMemHostUnregister(p)
    fails(INVALID_VALUE, cuda.cuMemHostRegister, p, 0, 0)
    fails(INVALID_VALUE, cuda.cuMemHostRegister, p, 10, 16)
    fails(INVALID_VALUE, cuda.cuMemHostRegister, None, 10, 0)
    fails(INVALID_VALUE, cuda.cuMemHostRegister, 0x1000, 10, 0)


class TestPointerAttributes:
    A = enum("pointer_attribute")

    def ask(self, cuda, name, address):
        out = ctypes.c_ulonglong(0)
        cuda.cuPointerGetAttribute(byref(out), self.A[name], address)
        return out.value

    def test_device_memory(self, cuda):
        address = cuda.alloc(1000)
        expected = {
            "CONTEXT": cuda.context,
            "MEMORY_TYPE": 2,
            "DEVICE_POINTER": address + 8,
            "IS_MANAGED": 0,
            "DEVICE_ORDINAL": 0,
            "RANGE_START_ADDR": address,
            "RANGE_SIZE": 1000,
            "MAPPED": 1,
        }
        assert {name: self.ask(cuda, name, address + 8) for name in expected} == expected
        fails(INVALID_VALUE, self.ask, cuda, "HOST_POINTER", address)
        other = cuda.alloc(1000)
        assert self.ask(cuda, "BUFFER_ID", address) != self.ask(cuda, "BUFFER_ID", other)

    def test_other_kinds(self, cuda):
        host = cuda.get("cuMemHostAlloc", 100, 0)
        assert self.ask(cuda, "MEMORY_TYPE", host) == 1
        assert self.ask(cuda, "HOST_POINTER", host + 1) == host + 1
        managed = ctypes.c_ulonglong()
        cuda.cuMemAllocManaged(byref(managed), 100, 1)
        assert self.ask(cuda, "IS_MANAGED", managed) == 1
        own = np.zeros(10)
        fails(INVALID_VALUE, self.ask, cuda, "MEMORY_TYPE", own.ctypes.data)

    def test_every_row_answers_or_says_why_not(self, cuda):
        address = cuda.alloc(1000)
        for name, number in self.A.items():
            if name.startswith("ACCESS_FLAG_"):
                continue
            out = (ctypes.c_ulonglong * 2)()
            status = cuda.status("cuPointerGetAttribute", out, number, address)
            assert status in (0, INVALID_VALUE, NOT_SUPPORTED)
            assert status == 0 or cuda.detail()
            assert out[1] == 0, "no answer is wider than eight bytes"
        fails(INVALID_VALUE, cuda.cuPointerGetAttribute, out, 0, address)
        fails(INVALID_VALUE, cuda.cuPointerGetAttribute, out, 99, address)

    def test_several_at_once(self, cuda):
        address = cuda.alloc(1000)
        values = [ctypes.c_ulonglong(7), ctypes.c_ulonglong(7)]
        which = (ctypes.c_int * 2)(self.A["MEMORY_TYPE"], self.A["RANGE_SIZE"])
        to = (ctypes.c_void_p * 2)(*(ctypes.addressof(v) for v in values))
        cuda.cuPointerGetAttributes(2, which, to, address)
        assert (values[0].value & 0xFFFFFFFF, values[1].value) == (2, 1000)
        own = np.zeros(10)
        cuda.cuPointerGetAttributes(2, which, to, own.ctypes.data)
        assert (values[0].value & 0xFFFFFFFF, values[1].value) == (0, 0)

    def test_sync_memops(self, cuda):
        address = cuda.alloc(1000)
        cuda.cuPointerSetAttribute(byref(ctypes.c_uint(1)), self.A["SYNC_MEMOPS"], address)
        assert self.ask(cuda, "SYNC_MEMOPS", address) == 1
        fails(INVALID_VALUE, cuda.cuPointerSetAttribute, byref(ctypes.c_uint(1)), 2, address)


def test_a_kernel_past_the_end_of_a_large_block_is_stopped(cuda, kernels):
    address = cuda.alloc(1 << 20)
    cuda.launch(kernels.wild, 1, 1, address + (1 << 20))
    assert "1048576-byte allocation" in fails(ILLEGAL_ADDRESS, cuda.cuCtxSynchronize)


def test_a_kernel_on_a_freed_large_block_is_stopped(cuda, kernels):
    address = cuda.alloc(1 << 20)
    cuda.cuMemFree(address)
    cuda.launch(kernels.wild, 1, 1, address + 100)
    assert "freed" in fails(ILLEGAL_ADDRESS, cuda.cuCtxSynchronize)


def test_advice(cuda):
    managed = ctypes.c_ulonglong()
    cuda.cuMemAllocManaged(byref(managed), 1000, 1)
    for advice in range(1, 7):
        cuda.cuMemAdvise(managed, 1000, advice, 0)
    cuda.cuMemAdvise(managed, 1000, 3, -1)
    cuda.cuMemPrefetchAsync(managed, 1000, 0, None)
    cuda.cuMemPrefetchAsync(managed, 1000, -1, None)
    fails(INVALID_VALUE, cuda.cuMemAdvise, managed, 1001, 1, 0)
    fails(INVALID_VALUE, cuda.cuMemAdvise, managed, 1000, 7, 0)
    fails(INVALID_VALUE, cuda.cuMemAdvise, cuda.alloc(1000), 1000, 1, 0)
    fails(101, cuda.cuMemPrefetchAsync, managed, 1000, 9, None)
    stream = cuda.stream()
    cuda.cuStreamAttachMemAsync(stream, managed, 0, 4)
    fails(INVALID_VALUE, cuda.cuStreamAttachMemAsync, None, managed, 0, 4)
    fails(INVALID_VALUE, cuda.cuStreamAttachMemAsync, stream, managed, 10, 1)


def test_memory_is_not_shared_between_processes(cuda):
    assert "processes" in fails(
        NOT_SUPPORTED, cuda.cuIpcGetMemHandle, (ctypes.c_char * 64)(), cuda.alloc(4)
    )


def test_many_larger_blocks(cuda):
    """Too many for guard pages around each: all the same they are separate, and can be used."""
    size, n = 65_600, 17_000
    addresses = [cuda.alloc(size) for _ in range(n)]
    spans = np.sort(np.array(addresses, "u8"))
    assert (np.diff(spans) >= size).all()
    for address in addresses[:: n // 50]:
        cuda.cuMemsetD8(address, 7, size)
        assert (cuda.from_device(address, size, "u1") == 7).all()
    for address in addresses:
        cuda.cuMemFree(address)
    again = cuda.alloc(size)
    cuda.cuMemsetD8(again, 1, size)
    cuda.cuMemFree(again)


def test_a_kernel_on_a_freed_small_block_does_no_harm(cuda, kernels):
    """Nobody stops it, and it must not break what keeps account of the blocks."""
    freed = [cuda.alloc(100) for _ in range(10)]
    for address in freed:
        cuda.cuMemFree(address)
    for address in freed:
        cuda.launch(kernels.wild, 1, 1, address)
    cuda.cuCtxSynchronize()
    fresh = {cuda.alloc(100) for _ in range(20)}
    assert len(fresh) == 20
    for address in fresh:
        cuda.cuMemsetD8(address, 1, 100)
        cuda.cuMemFree(address)
