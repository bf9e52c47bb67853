"""Array, its descriptors, runs of bytes in and out of it, arrays from matrices and volumes."""

import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")

FORMATS = {
    "u1": cuda.array_format.UNSIGNED_INT8,
    "u2": cuda.array_format.UNSIGNED_INT16,
    "u4": cuda.array_format.UNSIGNED_INT32,
    "i1": cuda.array_format.SIGNED_INT8,
    "i2": cuda.array_format.SIGNED_INT16,
    "i4": cuda.array_format.SIGNED_INT32,
    "f2": cuda.array_format.HALF,
    "f4": cuda.array_format.FLOAT,
}


def describe(width, height=0, depth=None, format=cuda.array_format.FLOAT, channels=1, flags=0):
    descr = cuda.ArrayDescriptor() if depth is None else cuda.ArrayDescriptor3D()
    descr.width, descr.height, descr.format, descr.num_channels = width, height, format, channels
    if depth is not None:
        descr.depth, descr.flags = depth, flags
    return descr


def contents(array, shape, dtype):
    """What is in an Array of (h, w[, channels]) or (d, h, w)."""
    out = np.zeros(shape, dtype)
    copy = cuda.Memcpy3D()
    copy.set_src_array(array)
    copy.set_dst_host(out)
    d = array.get_descriptor_3d()
    copy.width_in_bytes = copy.dst_pitch = out.nbytes // max(d.height, 1) // max(d.depth, 1)
    copy.height = copy.dst_height = max(d.height, 1)
    copy.depth = max(d.depth, 1)
    copy()
    return out


# ---- descriptors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [cuda.ArrayDescriptor, cuda.ArrayDescriptor3D])
def test_descriptors(kind):
    descr = kind()
    names = ["width", "height", "format", "num_channels"]
    names += ["depth", "flags"] if kind is cuda.ArrayDescriptor3D else []
    for n, name in enumerate(names, 1):
        assert getattr(descr, name) == 0
        setattr(descr, name, np.int32(n))
        assert getattr(descr, name) == n and f"{name}={n}" in repr(descr)
        for wrong in (-1, 2**64):
            with pytest.raises((ValueError, OverflowError), match=name):
                setattr(descr, name, wrong)
        with pytest.raises(TypeError, match=f"{name} must be an integer"):
            setattr(descr, name, "1")
        with pytest.raises(AttributeError):
            delattr(descr, name)
    with pytest.raises(TypeError, match="takes no arguments"):
        kind(1)
    assert hasattr(cuda.ArrayDescriptor(), "depth") is False


# ---- Array ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_every_format(balance, dtype, channels):
    array = cuda.Array(describe(7, 5, format=FORMATS[dtype], channels=channels))
    got = array.get_descriptor()
    assert (got.width, got.height, got.format, got.num_channels) == (7, 5, FORMATS[dtype], channels)
    deep = array.get_descriptor_3d()
    assert (deep.width, deep.height, deep.depth, deep.flags) == (7, 5, 0, 0)
    a = np.arange(5 * 7 * channels).astype(dtype).reshape(5, 7 * channels)
    copy = cuda.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_array(array)
    copy.src_pitch = copy.width_in_bytes = a.strides[0]
    copy.height = 5
    copy(aligned=True)
    assert (contents(array, a.shape, dtype) == a).all()
    assert isinstance(array.handle, int) and array.handle != 0


@pytest.mark.parametrize("size", [(9,), (9, 0), (9, 4), (9, 4, 0), (9, 4, 3), (9, 0, 0)])
def test_dimensions(balance, size):
    array = cuda.Array(describe(*size))
    got = array.get_descriptor_3d()
    assert (got.width, got.height, got.depth) == (*size, 0, 0)[:3]


def test_layers_and_surfaces(balance):
    flags = cuda.array3d_flags
    wanted = flags.ARRAY3D_LAYERED | flags.SURFACE_LDST
    array = cuda.Array(describe(8, 8, 3, flags=wanted))
    assert array.get_descriptor_3d().flags == wanted


@pytest.mark.parametrize(
    "descr",
    [
        describe(0, 4),
        describe(4, 4, channels=0),
        describe(4, 4, channels=3),
        describe(4, 4, channels=5),
        describe(4, 4, format=0),
        describe(4, 4, 4, flags=1 << 30),
        describe(1 << 30, 4),
    ],
    ids=repr,
)
def test_descriptors_that_are_refused(balance, descr):
    with pytest.raises(cuda.LogicError, match="Create failed"):
        cuda.Array(descr)


def test_wrong_arguments():
    for wrong in (None, 5, (4, 4), np.zeros((4, 4))):
        with pytest.raises(TypeError, match="descr must be an ArrayDescriptor"):
            cuda.Array(wrong)
    with pytest.raises(TypeError):
        cuda.Array()
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(cuda.Array(describe(4)))


def test_use_after_free(balance):
    array = cuda.Array(describe(16, format=cuda.array_format.UNSIGNED_INT8))
    memory = cuda.mem_alloc(16)
    array.free()
    for use in (
        array.free,
        array.get_descriptor,
        array.get_descriptor_3d,
        lambda: array.handle,
        lambda: cuda.memcpy_htoa(array, 0, b"x"),
        lambda: cuda.memcpy_dtoa(array, 0, memory, 1),
        lambda: cuda.Memcpy2D().set_src_array(array),
        lambda: cuda.TextureObject(array),
        lambda: cuda.SurfaceObject(array),
    ):
        with pytest.raises(cuda.LogicError, match="already freed"):
            use()


def test_descriptors_in_a_thread_without_a_context(balance):
    array, found = cuda.Array(describe(4)), []

    def ask() -> None:
        found.append(cuda.Context.get_current())
        found.append(array.get_descriptor().width)
        found.append(array.get_descriptor_3d().width)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert found == [None, 4, 4]


def test_dropped_anywhere(balance):
    arrays = [cuda.Array(describe(4)) for _ in range(3)]
    thread = threading.Thread(target=arrays.clear)
    thread.start()
    thread.join()
    other = cuda.Device(0).make_context()
    array = cuda.Array(describe(4))
    other.detach()
    with pytest.raises(cuda.LogicError, match="context"):
        array.get_descriptor()
    del array


# ---- runs of bytes -------------------------------------------------------------------------------


def bytes_array(size: int) -> cuda.Array:
    return cuda.Array(describe(size, format=cuda.array_format.UNSIGNED_INT8))


def test_there_and_back(balance):
    array, other = bytes_array(100), bytes_array(50)
    cuda.memcpy_htoa(array, 0, bytes(range(100)))
    out = bytearray(10)
    cuda.memcpy_atoh(out, array, 20)
    assert out == bytes(range(20, 30))
    cuda.memcpy_htoa(array, 95, np.full(5, 7, np.uint8))
    memory = cuda.to_device(bytes(30))
    cuda.memcpy_atod(int(memory) + 2, array, 80, 20)
    expected = bytearray(30)
    expected[2:22] = bytes([*range(80, 95), *[7] * 5])
    assert bytes(cuda.from_device(memory, 30, np.uint8)) == bytes(expected)
    cuda.memcpy_dtoa(array, 10, memory, 4)
    cuda.memcpy_atoa(other, 5, array, 8, 10)
    cuda.memcpy_atoh(out, other, 5)
    assert out == bytes([8, 9, 0, 0, 80, 81, 14, 15, 16, 17])
    cuda.memcpy_atoh(bytearray(0), array, 100)
    cuda.memcpy_atoa(other, 0, array, 0, 0)


def test_names_of_pycuda():
    assert cuda.py_memcpy_htoa is cuda.memcpy_htoa and cuda.py_memcpy_atoh is cuda.memcpy_atoh


def test_runs_past_the_end():
    array, memory, out = bytes_array(16), cuda.mem_alloc(64), bytearray(64)
    for use in (
        lambda: cuda.memcpy_htoa(array, 1, bytes(16)),
        lambda: cuda.memcpy_htoa(array, 17, b""),
        lambda: cuda.memcpy_atoh(bytearray(17), array, 0),
        lambda: cuda.memcpy_dtoa(array, 10, memory, 7),
        lambda: cuda.memcpy_atod(memory, array, 2**62, 1),
        lambda: cuda.memcpy_atod(int(memory) + 60, array, 0, 5),
        lambda: cuda.memcpy_atoa(array, 0, array, 10, 7),
    ):
        with pytest.raises(ValueError, match="end past the"):
            use()
    for use in (
        lambda: cuda.memcpy_htoa(array, -1, b"x"),
        lambda: cuda.memcpy_dtoa(array, 0, memory, -1),
    ):
        with pytest.raises(ValueError, match="must not be negative"):
            use()
    for use in (
        lambda: cuda.memcpy_htoa(memory, 0, b"x"),
        lambda: cuda.memcpy_atoh(out, out, 0),
        lambda: cuda.memcpy_atoh(b"x", array, 0),
        lambda: cuda.memcpy_dtoa(array, 0, out, 1),
        lambda: cuda.memcpy_htoa(array, "0", b"x"),
    ):
        with pytest.raises((TypeError, BufferError)):
            use()


RUNS = {
    "cuMemcpyHtoA": lambda a, d: cuda.memcpy_htoa(a, 0, b"x"),
    "cuMemcpyAtoH": lambda a, d: cuda.memcpy_atoh(bytearray(1), a, 0),
    "cuMemcpyDtoA": lambda a, d: cuda.memcpy_dtoa(a, 0, d, 1),
    "cuMemcpyAtoD": lambda a, d: cuda.memcpy_atod(d, a, 0, 1),
    "cuMemcpyAtoA": lambda a, d: cuda.memcpy_atoa(a, 0, a, 4, 1),
    "cuArrayCreate": lambda a, d: bytes_array(4),
    "cuArray3DCreate": lambda a, d: cuda.Array(describe(4, 4, 4)),
    "cuArrayGetDescriptor": lambda a, d: a.get_descriptor(),
    "cuArray3DGetDescriptor": lambda a, d: a.get_descriptor_3d(),
}


@pytest.mark.parametrize("function", RUNS)
def test_failures_of_the_driver(balance, function):
    array, memory = bytes_array(16), cuda.mem_alloc(16)
    RUNS[function](array, memory)
    _cuda._fault(function, 1)
    try:
        with pytest.raises(cuda.LogicError, match=f"{function} failed"):
            RUNS[function](array, memory)
    finally:
        _cuda._fault(None, 0)


def test_arrays_come_back_after_a_collection(balance):
    class Cycle:
        pass

    cycle = Cycle()
    cycle.self, cycle.array = cycle, bytes_array(4)
    gone = weakref.ref(cycle)
    gc.disable()
    try:
        del cycle
        _cuda._fault("cuArrayCreate", 2)
        bytes_array(4)
        assert gone() is None
    finally:
        gc.enable()
        _cuda._fault(None, 0)


# ---- from matrices and volumes -------------------------------------------------------------------


def test_formats_of_dtypes():
    for dtype, format in FORMATS.items():
        assert cuda.dtype_to_array_format(np.dtype(dtype)) == format
        assert cuda.dtype_to_array_format(dtype) == format
    for wrong in (np.float64, np.complex64, "S1", "O", np.bool_, np.int64):
        with pytest.raises(TypeError, match="cannot convert dtype"):
            cuda.dtype_to_array_format(wrong)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("order", ["C", "F", "c"])
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_matrices(balance, dtype, order, layout):
    a = np.arange(35).astype(dtype).reshape(5, 7)
    if layout == "strided":
        a = np.arange(140).astype(dtype).reshape(10, 14)[::2, ::2]
    a = np.asarray(a, order=layout if layout != "strided" else None)
    array = cuda.matrix_to_array(a, order)
    d = array.get_descriptor()
    rows = a if order.upper() == "C" else a.T
    assert (d.width, d.height) == rows.shape[::-1]
    assert (contents(array, rows.shape, dtype) == rows).all()
    assert (contents(cuda.np_to_array(a, order.upper()), rows.shape, dtype) == rows).all()


def test_doubles_as_two_integers(balance):
    a = np.linspace(0, 1, 12).reshape(3, 4)
    for array in (
        cuda.matrix_to_array(a, "C", allow_double_hack=True),
        cuda.np_to_array(a, "C"),
    ):
        d = array.get_descriptor()
        assert (d.format, d.num_channels) == (cuda.array_format.SIGNED_INT32, 2)
        assert (contents(array, a.shape, a.dtype) == a).all()
    with pytest.raises(TypeError, match="float64"):
        cuda.matrix_to_array(a, "C")


def test_matrices_without_items(balance):
    """A height or depth of 0 would mean an array with fewer dimensions."""
    for shape in ((0, 4), (4, 0), (0, 4, 4)):
        with pytest.raises(cuda.LogicError, match=r"np_to_array: .* not the shape \(\d, \d"):
            cuda.np_to_array(np.zeros(shape, np.float32), "C")
    with pytest.raises(cuda.LogicError, match="matrix_to_array: .* at least one item"):
        cuda.matrix_to_array(np.zeros((0, 4), np.float32), "C")


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i2"])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("surface", [False, True])
@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 5)])
def test_volumes(balance, dtype, order, surface, shape):
    a = np.asarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype), order=order)
    array = cuda.np_to_array(a, order, allowSurfaceBind=surface)
    rows = a if order == "C" else a.T
    d = array.get_descriptor_3d()
    assert (d.width, d.height) == (rows.shape[-1], rows.shape[-2])
    assert d.num_channels == {"c16": 4, "c8": 2, "f8": 2}.get(dtype, 1)
    assert bool(d.flags & cuda.array3d_flags.SURFACE_LDST) is surface
    assert bool(d.flags & cuda.array3d_flags.ARRAY3D_LAYERED) is (surface and len(shape) == 2)
    assert (contents(array, rows.shape, dtype) == rows).all()

    class OfTheDevice:  # what a GPUArray has
        shape, dtype, flags = a.shape, a.dtype, a.flags
        gpudata = cuda.to_device(a.T if order == "F" else a)

    array = cuda.gpuarray_to_array(OfTheDevice, order, surface)
    assert (contents(array, rows.shape, dtype) == rows).all()
    if len(shape) == 2 or order == "F":
        with pytest.raises(ValueError, match="not contiguous"):
            cuda.gpuarray_to_array(OfTheDevice, "F" if order == "C" else "C")
    OfTheDevice.gpudata = None


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_channels(balance, channels):
    a = np.arange(15 * channels, dtype=np.uint8).reshape(3, 5, channels)
    array = cuda.make_multichannel_2d_array(a, "C")
    d = array.get_descriptor()
    assert (d.width, d.height, d.num_channels) == (5, 3, channels)
    assert (contents(array, a.shape, a.dtype) == a).all()
    array = cuda.make_multichannel_2d_array(np.asfortranarray(a.T), "F")
    assert (contents(array, a.shape, a.dtype) == a).all()


def test_helpers_with_wrong_arguments():
    a = np.zeros((3, 4), np.float32)
    for helper in (cuda.matrix_to_array, cuda.np_to_array, cuda.make_multichannel_2d_array):
        for order in ("K", "", None, 5):
            with pytest.raises(cuda.LogicError, match="order must be"):
                helper(a, order)
    for call in (
        lambda: cuda.matrix_to_array(a[0], "C"),
        lambda: cuda.np_to_array(a[0], "C"),
        lambda: cuda.np_to_array(a[None, None], "C"),
        lambda: cuda.make_multichannel_2d_array(a, "C"),
    ):
        with pytest.raises(ValueError, match="dimensions"):
            call()
    with pytest.raises(cuda.LogicError, match="num_channels = 3"):
        cuda.make_multichannel_2d_array(np.zeros((4, 4, 3), np.uint8), "C")
    with pytest.raises(TypeError):
        cuda.np_to_array(np.zeros((2, 2), "O"), "C")


@pytest.mark.parametrize("make", [cuda.matrix_to_array, cuda.np_to_array])
@pytest.mark.parametrize("wrong", [range(2**40), [[1.0, 2.0]], None, 5])
def test_sequences_are_not_arrays(make, wrong):
    """A sequence may be of any length, which NumPy would have to fill memory with."""
    with pytest.raises(TypeError, match="must be a NumPy array, not"):
        make(wrong, "C")
