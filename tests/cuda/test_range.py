"""The bounds of memory that was mapped in pieces, as torch's expandable segments are.

The driver tells of one piece at a time; here every allocation is taken to consist of 64-byte ones.
"""

from __future__ import annotations

import numpy as np
import pytest

import pygpu.cuda.driver as cuda
from pygpu import _cuda
from pygpu.cuda import gpuarray

pytestmark = pytest.mark.usefixtures("context")
SIZE = 1000


@pytest.fixture
def address():
    memory = cuda.to_device(np.arange(SIZE, dtype=np.uint32).astype(np.uint8))
    _cuda._set_range_piece(64)
    yield int(memory)
    _cuda._set_range_piece(0)


def box(address, n):
    copy = cuda.Memcpy2D()
    copy.set_src_device(address)
    copy.set_dst_host(np.empty(n, np.uint8))
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = n
    copy.height = 1
    copy(aligned=True)


class Holder(cuda.PointerHolderBase):
    def __init__(self, address):
        super().__init__()
        self.address = address

    def get_pointer(self):
        return self.address


FORMAT = cuda.array_format.UNSIGNED_INT8
CALLS = {
    "memcpy_htod": lambda p, n: cuda.memcpy_htod(p, np.zeros(n, np.uint8)),
    "memcpy_dtoh": lambda p, n: cuda.memcpy_dtoh(np.empty(n, np.uint8), p),
    "memcpy_dtoh_async": lambda p, n: cuda.memcpy_dtoh_async(
        cuda.pagelocked_empty(n, np.uint8), p, cuda.Stream()
    ),
    "from": lambda p, n: cuda.memcpy_dtod(cuda.mem_alloc(n), p, n),
    "to": lambda p, n: cuda.memcpy_dtod(p, cuda.mem_alloc(n), n),
    "memset_d8": lambda p, n: cuda.memset_d8(p, 1, n),
    "memset_d2d8": lambda p, n: cuda.memset_d2d8(p, n - 1, 1, 1, 2),
    "from_device": lambda p, n: cuda.from_device(p, n, np.uint8),
    "Memcpy2D": box,
    "as_buffer": lambda p, n: Holder(p).as_buffer(n - 1, 1),
    "TextureObject": lambda p, n: cuda.TextureObject(p, format=FORMAT, size=n),
    "GPUArray": lambda p, n: gpuarray.GPUArray((n,), np.uint8, gpudata=p),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("start", [0, 512])
def test_a_call_may_use_all_pieces_and_no_byte_more(address, call, start):
    for n in (64, 65, 488, SIZE - start):
        CALLS[call](address + start, n)
    with pytest.raises((cuda.LogicError, ValueError), match=rf"\b{SIZE - start}\b|\b{SIZE}\b"):
        CALLS[call](address + start, SIZE - start + 1)


def test_an_array_may_reach_back_over_pieces(address):
    back = gpuarray.GPUArray((SIZE,), np.uint8, gpudata=address + SIZE - 1, strides=(-1,))
    assert (back.get() == np.arange(SIZE, dtype=np.uint32).astype(np.uint8)[::-1]).all()
    with pytest.raises(ValueError, match="items lie from byte -1 "):
        gpuarray.GPUArray((SIZE,), np.uint8, gpudata=address + SIZE - 2, strides=(-1,))


def test_of_other_libraries_arrays_all_pieces_count(address):
    assert _cuda._memory_range(address + 70, 1) == (address + 64, 64, None)
    assert _cuda._memory_range(address + 70, 900) == (address + 64, SIZE - 64, None)


def test_a_texture_without_a_size_is_of_all_pieces(address):
    cuda.TextureObject(address, format=FORMAT)
    with pytest.raises(cuda.LogicError, match="1001 bytes end past the 1000 "):
        cuda.TextureObject(address, format=FORMAT, size=1001)


def test_bounds_of_our_own_allocations_take_no_question_to_the_driver(address):
    memory, host = cuda.mem_alloc(SIZE), np.empty(SIZE, np.uint8)

    def asked(place, host):
        _cuda._call_counts(reset=True)
        cuda.memcpy_dtoh(host, place)
        return _cuda._call_counts().get("cuMemGetAddressRange", 0)

    assert asked(memory, host) == 0
    assert asked(address, host[:64]) == 1
    assert asked(address, host[:65]) > 1
