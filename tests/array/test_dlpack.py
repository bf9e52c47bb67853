"""Memory shared with other libraries: DLPack, ``__cuda_array_interface__``; pickles and tokens."""

from __future__ import annotations

import ctypes
import pickle
import sys
from typing import Any, ClassVar

import numpy as np
import pytest

from pygpu import _array, allow_host_copies, xp
from pygpu._src.array.device import is_simulator

DTYPES = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def on(make):
    before = xp.set_default_device(make.queue if make.name == "opencl" else make.backend.context)
    yield make
    xp.set_default_device(before)


class Exporter:
    """Another library's array: DLPack's two methods and nothing else."""

    def __init__(self, array: Any, known: tuple[str, ...] | None = None) -> None:
        self.array = array
        self.known = known
        self.options: dict[str, Any] = {}

    def __dlpack__(self, **options: Any) -> Any:
        if self.known is not None and set(options) - set(self.known):
            raise TypeError("unexpected keyword argument")
        self.options = options
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class CUDAExporter(Exporter):
    """An array on a GPU, also if it is the simulator's."""

    def __dlpack__(self, **options: Any) -> Any:
        return super().__dlpack__(dl_device=(2, 0), **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_over_the_same_memory(on):
    kind = {"opencl": 4, "cuda": 1 if is_simulator() else 2}[on.name]
    for dtype in DTYPES:
        x = on(A.astype(dtype))
        for known in (None, ("stream",)):  # versioned, and what older libraries have
            y = xp.from_dlpack(Exporter(x, known))
            assert type(y) is type(x) and (y.dtype, y.shape) == (x.dtype, x.shape)
            assert y.device == x.device and y.__dlpack_device__()[0] == kind
            assert (y.get() == x.get()).all()
    part = x[1, ::-1, 1::2]
    y = xp.from_dlpack(Exporter(part))
    assert y.strides == part.strides and y.base_data is not part.base_data
    assert (y.get() == part.get()).all()
    y[0, 1] = 77
    assert x[1, 2, 3].item() == 77
    again = xp.from_dlpack(Exporter(y[1:]))  # of what was imported
    again[...] = 5
    assert x[1, 0, 1::2].get().tolist() == [5, 5]
    for empty in (x[:0], x[:, 1:1]):
        assert xp.from_dlpack(Exporter(empty)).shape == empty.shape
    number = xp.from_dlpack(Exporter(x[0, 0, 0]))
    assert number.shape == () and number.item() == 0
    own = xp.from_dlpack(x)  # of pygpu's own
    assert own is not x and own.base_data is x.base_data


def test_copies(on):
    x = on(A)
    copied = xp.from_dlpack(Exporter(x), copy=True)
    x[...] = 0
    assert (copied.get() == A).all()
    host = np.from_dlpack(copied, device="cpu")
    assert (host == A).all() and (
        np.from_dlpack(copied[:, ::-1].T, device="cpu") == A[:, ::-1].T
    ).all()
    for capsule in (
        copied.__dlpack__(dl_device=(1, 0)),
        copied.__dlpack__(copy=True),
        copied.__dlpack__(dl_device=copied.__dlpack_device__(), max_version=(1, 3), copy=True),
    ):
        assert (_array._dlpack_import(capsule).shape) == A.shape
    if copied.__dlpack_device__() != (1, 0):
        with pytest.raises(BufferError, match="copy=False"):
            copied.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match=r"\.get\(\)"):
        copied.__dlpack__(dl_device=(10, 0))


def test_simulators_memory_is_the_hosts(cuda_context):
    """Libraries for the CPU use it in place, and it comes back as an array over it."""
    if not is_simulator():
        pytest.skip("needs the simulator: a GPU's memory is not the host's")
    from pygpu.cuda.gpuarray import to_gpu

    x = to_gpu(A)
    assert x.__dlpack_device__() == (1, 0)
    for part in (x, x[1, ::-1], x.T, x[:, :0], x[1, 1, 1:2]):
        host = np.from_dlpack(part)
        assert host.shape == part.shape and (host == part.get()).all()
    host = np.from_dlpack(x + 1)  # which may be queued or deferred still
    assert (host == A + 1).all()
    host = np.from_dlpack(x, copy=True)
    host[...] = 3
    assert (x.get() == A).all()
    host = np.from_dlpack(x)
    host[1, 2, 3] = 70
    assert x[1, 2, 3].item() == 70
    for back in (xp.from_dlpack(host), xp.from_dlpack(host, device=x.device, copy=False)):
        assert type(back) is type(x) and back.device == x.device
        back[0, 0, 0] = 80
        assert x[0, 0, 0].item() == host[0, 0, 0] == 80
    host.flags.writeable = False
    copied = xp.from_dlpack(host)
    copied[...] = 0
    assert x[1, 2, 3].item() == 70
    with pytest.raises(ValueError, match="read-only"):
        xp.from_dlpack(host, copy=False)
    capsule = x.__dlpack__(dl_device=(2, 0), stream=1)  # as on a GPU
    assert _array._dlpack_import(capsule).device == (2, 0)


def test_from_the_host(on):
    x = xp.from_dlpack(A[:, ::-1])
    assert x.device == xp.default_device() and (x.get() == A[:, ::-1]).all()
    frozen = A.copy()
    frozen.flags.writeable = False
    assert (xp.from_dlpack(frozen).get() == A).all()
    with pytest.raises(ValueError, match="copy=False"):
        xp.from_dlpack(A, copy=False)
    with pytest.raises(TypeError, match="__dlpack__"):
        xp.from_dlpack([1, 2])


def test_elsewhere(on):
    class Metal:
        def __dlpack_device__(self):
            return 8, 0

        def __dlpack__(self, **options):
            raise AssertionError

    with pytest.raises(BufferError, match="Metal"):
        xp.from_dlpack(Metal())


def test_lifetime(on):
    x = on(A)
    before = sys.getrefcount(x)
    capsule = x.__dlpack__()
    assert sys.getrefcount(x) > before
    del capsule  # nobody took it
    assert sys.getrefcount(x) == before
    y = xp.from_dlpack(Exporter(x))
    view = y[1:]
    del y
    assert sys.getrefcount(x) > before
    assert view[0, 0, 0].item() == 12
    del view
    assert sys.getrefcount(x) == before
    capsule = x.__dlpack__(max_version=(1, 0))
    assert '"dltensor_versioned"' in repr(capsule)
    tensor = _array._dlpack_import(capsule)
    assert '"used_dltensor_versioned"' in repr(capsule)
    with pytest.raises(ValueError, match="only once"):
        _array._dlpack_import(capsule)
    del capsule
    assert tensor.shape == A.shape and sys.getrefcount(x) > before
    del tensor
    assert sys.getrefcount(x) == before
    wrong = x.view("V4")
    count = sys.getrefcount(wrong)
    with pytest.raises(BufferError, match="no type for dtype"):
        wrong.__dlpack__()
    assert sys.getrefcount(wrong) == count
    odd = on(np.zeros(4, [("a", "i1"), ("b", "f4")]))["b"]
    with pytest.raises(BufferError, match="make a copy"):
        odd.__dlpack__()


# ---- what others export, down to the structures


class Device(ctypes.Structure):
    _fields_: ClassVar = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_: ClassVar = [
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


class Tensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_: ClassVar = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Foreign:
    """A tensor of the host's made by hand, whose deleter counts its calls.

    It lives until its deleter was called: the capsule and what is made of it hold an address into
    it and no reference, so a test may drop it at once, as another library's caller would.
    """

    alive: ClassVar[set[Foreign]] = set()

    def __init__(self, shape=(2, 3), strides=None, **changes: Any) -> None:
        self.data = np.arange(64, dtype=np.float32)
        self.dims = (ctypes.c_int64 * 40)(*shape)
        self.steps = None if strides is None else (ctypes.c_int64 * 40)(*strides)
        self.deleted = 0
        self.managed = Versioned(major=1)
        tensor = self.managed.tensor
        tensor.data = self.data.ctypes.data
        tensor.device.type = 1
        tensor.ndim = len(shape)
        tensor.dtype = Type(2, 32, 1)
        tensor.shape = self.dims
        if self.steps is not None:
            tensor.strides = self.steps
        for name, value in changes.items():
            setattr(self.managed if hasattr(Versioned, name) else tensor, name, value)
        self.end = Deleter(self._delete)
        self.managed.deleter = ctypes.cast(self.end, ctypes.c_void_p)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
        self.capsule = new(ctypes.addressof(self.managed), b"dltensor_versioned", None)
        Foreign.alive.add(self)

    def _delete(self, managed: int) -> None:
        assert managed == ctypes.addressof(self.managed)
        self.deleted += 1
        Foreign.alive.discard(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule


def test_deleter_is_called_once(on):
    foreign = Foreign(shape=(3, 2), strides=(1, 3), offset=8)
    x = xp.from_dlpack(foreign)
    assert x.get().tolist() == [[2, 5], [3, 6], [4, 7]]
    assert foreign.deleted == 1 and '"used_' in repr(foreign.capsule)
    tensor = _array._dlpack_import(Foreign(flags=1).capsule)
    assert tensor.read_only and not np.asarray(tensor).flags.writeable
    nobodys = Foreign(shape=(0, 5), data=None)
    assert xp.from_dlpack(nobodys).shape == (0, 5) and nobodys.deleted == 1


def test_headers_that_make_no_sense():
    huge = 1 << 62
    for options, error in (
        ({"major": 2}, "version 2.0"),
        ({"ndim": -1}, "number of axes"),
        ({"ndim": 33}, "number of axes"),
        ({"ndim": 2, "shape": ctypes.POINTER(ctypes.c_int64)()}, None),
        ({"dtype": Type(4, 32, 1)}, "code 4, 32 bits"),
        ({"dtype": Type(2, 32, 4)}, "4 lanes"),
        ({"dtype": Type(2, 80, 1)}, "80 bits"),
        ({"shape": (2, -1)}, "negative"),
        ({"shape": (huge, 8)}, "larger than any memory"),
        ({"shape": (huge, 0)}, "larger than any memory"),
        ({"shape": (2, 2), "strides": (huge, 1)}, "stride"),
        ({"shape": (9, 2), "strides": (1 << 58, 1)}, "span more than any memory"),
        ({"data": None}, "address is NULL"),
        ({"offset": (1 << 64) - 1}, "offset"),
    ):
        if "shape" in options and isinstance(options["shape"], tuple):
            foreign = Foreign(**options)
        else:
            shape = options.pop("shape", None)
            foreign = Foreign(**options)
            if shape is not None:
                foreign.managed.tensor.shape = shape
                error = "shape is missing"
        with pytest.raises(BufferError, match=error):
            _array._dlpack_import(foreign.capsule)
        assert foreign.deleted == 0 and '"dltensor_versioned"' in repr(
            foreign.capsule
        )  # still its own
    for wrong in (None, "dltensor", object()):
        with pytest.raises(TypeError, match="capsule"):
            _array._dlpack_import(wrong)


def test_bfloat16_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    foreign = Foreign(dtype=Type(4, 16, 1))
    with pytest.raises(BufferError, match="no bfloat16: install ml_dtypes"):
        _array._dlpack_import(foreign.capsule)
    assert foreign.deleted == 0


def test_read_only_memory_is_copied(on):
    x = on(A)

    class Frozen(Exporter):
        def __dlpack__(self, **options):
            array = self.array
            kind = array.__dlpack_device__()
            address = array.ptr if on.name == "cuda" else array.base_data.int_ptr
            return _array._dlpack_export(
                array, address, kind, array.shape, array.strides, array.dtype, 0, True, 1
            )

    y = xp.from_dlpack(Frozen(x))
    y[...] = 0
    assert (x.get() == A).all()
    with pytest.raises(ValueError, match="read-only"):
        xp.from_dlpack(Frozen(x), copy=False)


# ---- order


def test_opencl_waits(opencl_maker):
    x = opencl_maker(A) + 1
    x.__dlpack__()
    assert x.events == []
    with pytest.raises(BufferError, match="no streams"):
        x.__dlpack__(stream=1)


@pytest.fixture
def calls(cuda_context):
    """Who waits in what a function does: a stream, the host, both or none."""
    from pygpu import _cuda

    cuda_context.push()

    def count(function):
        _cuda._call_counts(True)
        try:
            kept = function()
        finally:
            found = _cuda._call_counts(False)
        del kept
        kinds = {
            "cuStreamWaitEvent": "stream",
            "cuEventQuery": "host",
            "cuEventSynchronize": "host",
            "cuStreamSynchronize": "host",
            "cuStreamQuery": "host",
            "cuCtxSynchronize": "host",
        }
        return {kinds[n] for n in found if n in kinds}

    yield count
    type(cuda_context).pop()


def test_cuda_streams_are_put_in_order(calls):
    from pygpu.cuda import driver, gpuarray

    one, two = driver.Stream(), driver.Stream()
    x = gpuarray.to_gpu(A)
    y = x.with_stream(one)
    z = y + 1
    waits, host_waits = {"stream"}, {"host"}
    assert calls(lambda: x.__dlpack__()) == (host_waits if is_simulator() else set())
    assert calls(lambda: x.__dlpack__(stream=1)) == set()
    assert calls(lambda: x.__dlpack__(stream=two.handle)) == waits
    assert calls(lambda: z.__dlpack__(stream=two.handle)) == waits
    assert calls(lambda: z.__dlpack__(stream=2)) == waits  # the thread's own default stream
    assert calls(lambda: z.__dlpack__(stream=one.handle)) == set()
    assert calls(lambda: z.__dlpack__(stream=-1)) == set()
    assert calls(lambda: z.__dlpack__()) == host_waits
    exporter = CUDAExporter(z)
    assert calls(lambda: xp.from_dlpack(exporter, device=two)) == waits
    assert exporter.options["stream"] == two.handle
    for wrong, error in ((0, ValueError), (-2, ValueError), ("1", TypeError)):
        with pytest.raises(error, match="stream"):
            x.__dlpack__(stream=wrong)
    assert (z.get() == A + 1).all()
    one.synchronize()
    two.synchronize()


# ---- __cuda_array_interface__


class Shown:
    """Another library's array by its interface."""

    def __init__(self, array: Any, **changes: Any) -> None:
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


def test_cuda_array_interface(calls):
    from pygpu.cuda import driver, gpuarray

    x = gpuarray.to_gpu(A)
    y = xp.asarray(Shown(x.T[::-1]))
    assert y.strides == x.T[::-1].strides and (y.get() == A.T[::-1]).all()
    y[-1, 0, 0] = 50
    assert x[0, 0, 0].item() == 50
    assert xp.asarray(Shown(x[:0])).shape == (0, 3, 4)
    copied = xp.asarray(Shown(x), copy=True)
    frozen = xp.asarray(Shown(x, data=(x.ptr, True)))
    x[...] = 0
    assert copied[0, 0, 0].item() == frozen[0, 0, 0].item() == 50
    pairs = gpuarray.to_gpu(np.array([(1, 2.0)], [("a", "i4"), ("b", "f4")]))
    assert xp.asarray(Shown(pairs)).get().tolist() == [(1, 2.0)]
    before = sys.getrefcount(x)
    kept = xp.asarray(Shown(x))[0]
    assert sys.getrefcount(x) > before
    del kept
    assert sys.getrefcount(x) == before
    stream = driver.Stream()
    on_stream = Shown(x.with_stream(stream))
    assert on_stream.__cuda_array_interface__["stream"] == stream.handle
    assert calls(lambda: xp.asarray(on_stream)) == {"host"}
    assert calls(lambda: xp.asarray(on_stream, device=stream)) == set()
    assert calls(lambda: xp.asarray(Shown(x), device=stream)) == {"stream"}
    for changes in (
        {"version": 1},
        {"mask": x},
        {"stream": 0},
        {"data": (0, False)},
        {"data": (12345678, False)},
        {"data": None},
        {"typestr": "<q9"},
        {"shape": (2, -3)},
        {"strides": (4,)},
    ):
        with pytest.raises(BufferError, match="__cuda_array_interface__"):
            xp.asarray(Shown(x, **changes))
    with pytest.raises(ValueError, match="read-only"):
        xp.asarray(Shown(x, data=(x.ptr, True)), copy=False)


# ---- the host, pickles, tokens


def test_numpy_does_not_convert_by_itself(on):
    x = on(A)
    with pytest.raises(TypeError, match=r"\.get\(\)"):
        np.asarray(x)
    allow_host_copies()
    try:
        assert (np.asarray(x) == A).all() and np.asarray(x, "i4").dtype == np.int32
        with pytest.raises(ValueError, match="without a copy"):
            np.asarray(x.astype("m8[s]"), copy=False)
    finally:
        allow_host_copies(False)


def test_pickle_goes_to_the_default_device(on):
    for a in (A, np.asfortranarray(A), A[:0], np.array(3.5)):
        x = pickle.loads(pickle.dumps(on(a)))
        assert type(x) is type(on(A)) and x.device == xp.default_device()
        assert (x.get() == a).all() and x.dtype == a.dtype
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(xp.default_device())


def test_tokens(on):
    x = on(A)
    same = [x, on(A), x._copy(), x.T._copy(order="C").T]
    assert len({a.__dask_tokenize__() for a in same}) == 1
    different = [x, x[:1], x.reshape(4, 6), on(A.view("i4")), on(A + 1), on(A[:0])]
    assert len({a.__dask_tokenize__() for a in different}) == len(different)
    assert sys.getsizeof(x) >= x.nbytes


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_consumer_that_calls_the_deleter_and_leaves_the_capsule(on, version):
    """As PyTorch does, of devices that it does not know; what was exported is let go once."""
    x = on(np.arange(4, dtype=np.float32))
    data = x.base_data
    x.__dlpack__(max_version=version, dl_device=x.__dlpack_device__())  # its own end
    before = sys.getrefcount(data)
    capsule = x.__dlpack__(max_version=version, dl_device=x.__dlpack_device__())
    name = b"dltensor" if version is None else b"dltensor_versioned"
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, name)
    place = address + (48 + 8 if version is None else 16)  # behind the manager
    deleter = ctypes.c_void_p.from_address(place).value
    ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(deleter)(address)
    del capsule
    assert sys.getrefcount(data) == before
    assert x.get().tolist() == [0, 1, 2, 3]
