"""Memcpy2D, Memcpy3D, Memcpy3DPeer: boxes between all kinds of memory, against NumPy's slices."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from cuda.stream_gate import Gate

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")

ENDS = ("host", "device", "array")


def new_array(shape, format=cuda.array_format.UNSIGNED_INT8, channels=1):
    """An Array of (h, w) or (d, h, w)."""
    descr = cuda.ArrayDescriptor3D() if len(shape) == 3 else cuda.ArrayDescriptor()
    descr.width, descr.height = shape[-1], shape[-2]
    if len(shape) == 3:
        descr.depth = shape[0]
    descr.format, descr.num_channels = format, channels
    return cuda.Array(descr)


def whole(copy, side, what, values):
    """Sets one end of a copy to memory of `what` kind; gives the memory."""
    pitch, rows = values.strides[-2], values.shape[-2]
    if what == "host":
        memory = values
        getattr(copy, f"set_{side}_host")(memory)
    elif what == "device":
        memory = cuda.to_device(values)
        getattr(copy, f"set_{side}_device")(memory)
    else:
        memory = new_array(values.shape)
        fill(memory, values)
        getattr(copy, f"set_{side}_array")(memory)
    if what != "array":
        setattr(copy, f"{side}_pitch", pitch)
        if not isinstance(copy, cuda.Memcpy2D):
            setattr(copy, f"{side}_height", rows)
    return memory


def fill(array, values):
    copy = cuda.Memcpy3D()
    copy.set_src_host(values)
    copy.set_dst_array(array)
    copy.src_pitch = copy.width_in_bytes = values.strides[-2]
    copy.src_height = copy.height = values.shape[-2]
    copy.depth = values.shape[0] if values.ndim == 3 else 1
    copy()


def read(memory, what, like):
    if what == "host":
        return memory
    out = np.zeros_like(like)
    if what == "device":
        cuda.memcpy_dtoh(out, memory)
        return out
    copy = cuda.Memcpy3D()
    copy.set_src_array(memory)
    copy.set_dst_host(out)
    copy.dst_pitch = copy.width_in_bytes = out.strides[-2]
    copy.dst_height = copy.height = out.shape[-2]
    copy.depth = out.shape[0] if out.ndim == 3 else 1
    copy()
    return out


@pytest.mark.parametrize("src", ENDS)
@pytest.mark.parametrize("dst", ENDS)
@pytest.mark.parametrize("way", ["unaligned", "aligned", "stream"])
def test_rectangles(balance, src, dst, way):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 256, (9, 32)).astype(np.uint8)
    b = rng.integers(0, 256, (7, 64)).astype(np.uint8)
    expected = b.copy()
    expected[3:7, 5:15] = a[2:6, 8:18]
    copy = cuda.Memcpy2D()
    from_, to = whole(copy, "src", src, a), whole(copy, "dst", dst, b)
    copy.src_x_in_bytes, copy.src_y = 8, 2
    copy.dst_x_in_bytes, copy.dst_y = 5, 3
    copy.width_in_bytes, copy.height = 10, 4
    stream = cuda.Stream()
    copy(stream) if way == "stream" else copy(aligned=way == "aligned")
    stream.synchronize()
    cuda.Context.synchronize()
    assert (read(to, dst, b) == expected).all()
    del from_


@pytest.mark.parametrize("kind", [cuda.Memcpy3D, cuda.Memcpy3DPeer])
@pytest.mark.parametrize("src", ENDS)
@pytest.mark.parametrize("dst", ENDS)
@pytest.mark.parametrize("async_", [False, True])
def test_boxes(balance, kind, src, dst, async_):
    rng = np.random.default_rng(4)
    a = rng.integers(0, 256, (4, 5, 16)).astype(np.uint8)
    b = rng.integers(0, 256, (6, 7, 32)).astype(np.uint8)
    expected = b.copy()
    expected[2:5, 3:5, 9:16] = a[1:4, 2:4, 4:11]
    copy = kind()
    from_, to = whole(copy, "src", src, a), whole(copy, "dst", dst, b)
    copy.src_x_in_bytes, copy.src_y, copy.src_z = 4, 2, 1
    copy.dst_x_in_bytes, copy.dst_y, copy.dst_z = 9, 3, 2
    copy.width_in_bytes, copy.height, copy.depth = 7, 2, 3
    stream = cuda.Stream()
    copy(stream) if async_ else copy()
    stream.synchronize()
    cuda.Context.synchronize()
    assert (read(to, dst, b) == expected).all()
    del from_


def test_strided_host_arrays(balance):
    a = np.arange(60, dtype=np.int16).reshape(6, 10)
    view = a[::2, 3:8]  # rows of 10 bytes, 40 bytes apart
    memory = cuda.mem_alloc(view.size * 2)
    copy = cuda.Memcpy2D()
    copy.set_src_host(view)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch = view.strides[0], 10
    copy.width_in_bytes, copy.height = 10, 3
    copy(False)
    assert (cuda.from_device(memory, (3, 5), np.int16) == view).all()
    back = np.zeros_like(a)
    copy = cuda.Memcpy2D()
    copy.set_src_device(memory)
    copy.set_dst_host(back[::2, 3:8])
    copy.src_pitch, copy.dst_pitch = 10, view.strides[0]
    copy.width_in_bytes, copy.height = 10, 3
    copy()
    expected = np.zeros_like(a)
    expected[::2, 3:8] = view
    assert (back == expected).all()


def test_to_pitched_memory(balance):
    a = np.arange(7 * 100, dtype=np.float32).reshape(7, 100)
    memory, pitch = cuda.mem_alloc_pitch(400, 7, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch = 400, pitch
    copy.width_in_bytes, copy.height = 400, 7
    copy(aligned=True)
    raw = cuda.from_device(memory, (7, pitch), np.uint8)
    assert (raw[:, :400].copy().view(np.float32) == a).all()


@pytest.mark.parametrize("kind", [cuda.Memcpy2D, cuda.Memcpy3D, cuda.Memcpy3DPeer])
def test_unified_addresses(balance, kind):
    a, b = cuda.managed_zeros(64, np.uint8), cuda.pagelocked_zeros(64, np.uint8)
    a[:] = range(64)
    copy = kind()
    copy.set_src_unified(a)
    copy.set_dst_unified(b)
    assert copy.src_memory_type == cuda.memory_type.UNIFIED
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 8
    copy.src_x_in_bytes = 0
    copy.height = 8
    if kind is not cuda.Memcpy2D:
        copy.depth = 1
    copy()
    cuda.Context.synchronize()
    assert (a == b).all()
    copy.set_src_unified(cuda.to_device(bytes(64)))
    copy()
    cuda.Context.synchronize()
    assert not b.any()


def test_attributes():
    copy = cuda.Memcpy3DPeer()
    for side in ("src", "dst"):
        for n, name in enumerate(
            ("x_in_bytes", "y", "z", "lod", "pitch", "height", "memory_type", "device"), 1
        ):
            assert getattr(copy, f"{side}_{name}") == 0
            setattr(copy, f"{side}_{name}", np.int64(n))
            assert getattr(copy, f"{side}_{name}") == n
    for name in ("width_in_bytes", "height", "depth"):
        setattr(copy, name, 5)
        assert getattr(copy, name) == 5
        for wrong in (-1, 2**64):
            with pytest.raises(OverflowError, match=f"Memcpy3DPeer: {name}"):
                setattr(copy, name, wrong)
        with pytest.raises(TypeError, match=f"{name} must be an integer"):
            setattr(copy, name, 1.5)
        with pytest.raises(AttributeError):
            delattr(copy, name)
    with pytest.raises(AttributeError):
        cuda.Memcpy2D().depth = 1
    with pytest.raises(TypeError):
        cuda.Memcpy2D(1)
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(copy)


def test_memory_types():
    copy = cuda.Memcpy2D()
    copy.set_src_host(b"abc")
    copy.set_dst_device(cuda.mem_alloc(3))
    assert copy.src_memory_type == cuda.memory_type.HOST
    assert copy.dst_memory_type == cuda.memory_type.DEVICE
    copy.set_src_array(new_array((4, 4)))
    assert copy.src_memory_type == cuda.memory_type.ARRAY


def test_addresses_as_numbers(balance):
    a, b = cuda.to_device(bytes(range(64))), cuda.to_device(bytes(64))
    copy = cuda.Memcpy2D()
    copy.set_src_device(int(a) + 2)
    copy.set_dst_device(b)
    copy.src_pitch = copy.dst_pitch = 8
    copy.width_in_bytes, copy.height = 4, 2
    copy()
    copy.dst_device = int(b) + 32  # the attribute alone
    copy()
    got = cuda.from_device(b, (8, 8), np.uint8)
    assert got[0, :4].tolist() == got[4, :4].tolist() == [2, 3, 4, 5]
    assert got[1, :4].tolist() == got[5, :4].tolist() == [10, 11, 12, 13]
    copy.dst_device = int(b) + 60
    with pytest.raises(cuda.LogicError, match="dst, which has 4"):
        copy()


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["src", "dst"])
@pytest.mark.parametrize("what", ENDS)
@pytest.mark.parametrize("async_", [False, True])
def test_past_the_end(balance, side, what, async_):
    values = np.zeros((4, 5, 16), np.uint8)
    stream = cuda.Stream()
    good = {"width_in_bytes": 16, "height": 5, "depth": 4}
    moves = {"width_in_bytes": f"{side}_x_in_bytes", "height": f"{side}_y", "depth": f"{side}_z"}
    for name in good:
        for how in ("size", "start", "huge"):
            copy = cuda.Memcpy3D()
            other = "dst" if side == "src" else "src"
            kept = (
                whole(copy, side, what, values),
                whole(copy, other, "device", np.zeros((8, 20, 64), np.uint8)),
            )
            for n, size in good.items():
                setattr(copy, n, size)
            copy(stream)
            stream.synchronize()
            if how == "size":
                setattr(copy, name, good[name] + 1)
            elif how == "start":
                setattr(copy, moves[name], 1)
            else:
                setattr(copy, moves[name], 2**63)
            with pytest.raises(ValueError, match="Memcpy3D failed"):
                copy(stream) if async_ else copy()
            del kept


def test_pitches_that_are_too_small():
    copy = cuda.Memcpy3D()
    whole(copy, "src", "host", np.zeros((2, 2, 16), np.uint8))
    kept = whole(copy, "dst", "device", np.zeros((2, 2, 16), np.uint8))
    copy.width_in_bytes, copy.height, copy.depth = 16, 2, 2
    copy.src_pitch = 15
    with pytest.raises(cuda.LogicError, match="src_pitch = 15 is less than the 16 bytes"):
        copy()
    copy.src_pitch, copy.dst_height = 16, 1
    with pytest.raises(cuda.LogicError, match="dst_height = 1 is less than the 2 rows"):
        copy()
    del kept


def test_single_rows_need_no_pitch(balance):
    a, b = cuda.to_device(b"0123456789"), bytearray(10)
    for kind in (cuda.Memcpy2D, cuda.Memcpy3D, cuda.Memcpy3DPeer):
        copy = kind()
        copy.set_src_device(a)
        copy.set_dst_host(b)
        copy.src_x_in_bytes, copy.width_in_bytes, copy.height = 4, 6, 1
        if kind is not cuda.Memcpy2D:
            copy.depth = 1
        b[:] = bytes(10)
        copy()
        assert bytes(b) == b"456789\0\0\0\0"


def test_nothing_to_copy():
    copy = cuda.Memcpy3D()
    copy()
    copy(cuda.Stream())
    copy.width_in_bytes = copy.height = copy.depth = 1
    with pytest.raises(cuda.LogicError, match="src is not set"):
        copy()
    copy.set_src_host(b"x")
    with pytest.raises(cuda.LogicError, match="dst is not set"):
        copy()
    copy.src_memory_type = 77
    with pytest.raises(cuda.LogicError, match="src is not set"):
        copy()
    copy.src_memory_type = cuda.memory_type.ARRAY  # but none was given
    with pytest.raises(cuda.LogicError, match="src is not set"):
        copy()
    copy.src_memory_type = cuda.memory_type.DEVICE
    with pytest.raises(cuda.LogicError, match="src is not set"):
        copy()


@pytest.mark.parametrize("wrong", [None, 5, "text", object()])
def test_wrong_ends(wrong):
    copy = cuda.Memcpy3DPeer()
    for side in ("src", "dst"):
        for what in ("host", "array", "context"):
            with pytest.raises(TypeError):
                getattr(copy, f"set_{side}_{what}")(wrong)
        if wrong != 5:
            with pytest.raises(TypeError):
                getattr(copy, f"set_{side}_device")(wrong)
            with pytest.raises(TypeError):
                getattr(copy, f"set_{side}_unified")(wrong)
        with pytest.raises(TypeError):
            getattr(copy, f"set_{side}_device")(np.zeros(3))


def test_read_only_destinations():
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    for wrong in (b"abcd", frozen):
        with pytest.raises((BufferError, ValueError)):
            cuda.Memcpy2D().set_dst_host(wrong)
        cuda.Memcpy2D().set_src_host(wrong)
    with pytest.raises(TypeError, match="Python objects"):
        cuda.Memcpy2D().set_src_host(np.zeros(3, object))


def test_negative_strides_do_not_reach_beyond_their_start():
    a = np.arange(16, dtype=np.uint8)[::-1]
    copy = cuda.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(cuda.mem_alloc(16))
    copy.width_in_bytes, copy.height = 2, 1
    with pytest.raises(cuda.LogicError, match="the src, which has 1"):
        copy()


def test_freed_ends():
    memory, array = cuda.mem_alloc(16), new_array((4, 4))
    copy = cuda.Memcpy2D()
    copy.set_src_device(memory)
    copy.set_dst_array(array)
    copy.width_in_bytes, copy.height, copy.src_pitch = 4, 4, 4
    copy()
    array.free()
    with pytest.raises(cuda.LogicError, match="Array at dst was already freed"):
        copy()
    copy.set_dst_array(new_array((4, 4)))
    memory.free()
    with pytest.raises(cuda.LogicError, match="already freed"):
        copy()


def test_wrong_calls():
    copy = cuda.Memcpy2D()
    copy.set_src_host(b"x")
    copy.set_dst_device(cuda.mem_alloc(1))
    copy.width_in_bytes = copy.height = 1
    copy(True), copy(False), copy(1), copy(0), copy(None), copy(aligned=True), copy(np.bool_(True))
    copy(stream=cuda.Stream())
    for wrong in ("x", 1.5, object()):
        with pytest.raises(TypeError, match="stream"):
            copy(wrong)
    with pytest.raises(TypeError):
        copy(1, 2, 3)
    with pytest.raises(TypeError):
        cuda.Memcpy3D()(aligned=True)


# ---- what is kept --------------------------------------------------------------------------------


def test_ends_are_kept(balance):
    copy = cuda.Memcpy2D()
    a, memory = np.full(16, 7, np.uint8), cuda.mem_alloc(16)
    gone = weakref.ref(a), weakref.ref(memory)
    address = int(memory)
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.width_in_bytes, copy.height = 16, 1
    del a, memory
    gc.collect()
    copy()
    assert (cuda.from_device(address, 16, np.uint8) == 7).all()
    copy.set_src_host(bytes(16))
    assert gone[0]() is None and gone[1]() is not None
    data = bytearray(16)
    copy.set_src_host(data)
    with pytest.raises(BufferError):
        data.clear()
    del copy
    data.clear()
    assert gone[1]() is None


def test_host_memory_of_an_asynchronous_copy_is_kept():
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    memory = cuda.mem_alloc(1000)
    a = cuda.pagelocked_zeros(1000, np.uint8)
    a[:] = 5
    gone = weakref.ref(a)
    copy = cuda.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.width_in_bytes, copy.height = 1000, 1
    with Gate(stream):
        copy(stream)
        del a, copy
        gc.collect()
        assert gone() is not None and not stream.is_done()
    stream.synchronize()
    cuda.Context.synchronize()
    assert gone() is None
    assert (cuda.from_device(memory, 1000, np.uint8) == 5).all()


def test_between_contexts(balance):
    here = cuda.Context.get_current()
    a = cuda.to_device(bytes(range(64)))
    there = cuda.Device(0).make_context()
    try:
        b = cuda.to_device(bytes(64))
        for given in (False, True):
            copy = cuda.Memcpy3DPeer()
            copy.set_src_device(a)
            copy.set_dst_device(b)
            if given:
                copy.set_src_context(here)
                copy.set_dst_context(there)
            copy.src_pitch = copy.dst_pitch = 8
            copy.src_height = copy.dst_height = 4
            copy.width_in_bytes, copy.height, copy.depth = 8, 4, 2
            copy()
            cuda.Context.synchronize()
            assert (cuda.from_device(b, 64, np.uint8) == np.arange(64)).all()
            cuda.memset_d8(b, 0, 64)
        del b, copy
    finally:
        there.detach()


NAMES = {
    "cuMemcpy2DUnaligned": (cuda.Memcpy2D, (False,)),
    "cuMemcpy2D": (cuda.Memcpy2D, (True,)),
    "cuMemcpy2DAsync": (cuda.Memcpy2D, "stream"),
    "cuMemcpy3D": (cuda.Memcpy3D, ()),
    "cuMemcpy3DAsync": (cuda.Memcpy3D, "stream"),
    "cuMemcpy3DPeer": (cuda.Memcpy3DPeer, ()),
    "cuMemcpy3DPeerAsync": (cuda.Memcpy3DPeer, "stream"),
}


@pytest.mark.parametrize("function", NAMES)
def test_failures_of_the_driver(balance, function):
    kind, arguments = NAMES[function]
    copy = kind()
    copy.set_src_host(b"x")
    copy.set_dst_device(cuda.mem_alloc(1))
    copy.width_in_bytes = copy.height = 1
    if kind is not cuda.Memcpy2D:
        copy.depth = 1
    arguments = (cuda.Stream(),) if arguments == "stream" else arguments
    _cuda._fault(function, 1)
    try:
        with pytest.raises(cuda.LogicError, match=f"{function} failed"):
            copy(*arguments)
    finally:
        _cuda._fault(None, 0)
    copy(*arguments)
