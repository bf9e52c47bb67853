"""Devices: an array's ``.device``, and the values that ``device=`` accepts.

A :class:`Device` is a backend (one device in one context) with the queue or stream for operations
of arrays made on it. :func:`as_device` makes one from anything that names a device, and
:func:`default_device` is the one used by default.
"""

from __future__ import annotations

import importlib
import os
import threading
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pygpu._src.runtime.backend import Backend
from pygpu._src.runtime.backends import backend_of
from pygpu._src.util import progress
from pygpu._src.util.lazy import lazy, provided
from pygpu._src.util.public import publish
from pygpu.errors import Error

from . import layout

if TYPE_CHECKING:
    from typing import TypeVar

    from numpy.typing import NDArray

    from .array_types import AnyDevice, GPUArray

    _ScalarT = TypeVar("_ScalarT", bound=np.generic)

VARIABLE = "PYGPU_DEVICE"

_default: Device | None = None
_device_stack = threading.local()  # stack: of ``with device:``
_contexts: dict[Any, Any] = {}  # of OpenCL devices, for callers who name a device but no context


class Device:
    """One device in one context, with a queue.

    Devices are equal if arrays made on them can be operands of the same operation: the queue does
    not matter. ``with device:`` makes it this thread's default device for new arrays, and makes a
    CUDA device's context current. Other attributes (``global_mem_size``, ``name``, ...) are those
    of the driver's device, :attr:`driver_device`.

    backend: what as_device() accepts, such as "cuda:1". queue: a queue or stream for the
    operations.
    """

    __slots__ = ("backend", "queue")

    backend: Backend
    queue: Any

    def __init__(self, backend: AnyDevice | Backend, queue: Any = None) -> None:
        if not isinstance(backend, Backend):  # a name, or a driver object
            named = as_device(backend)
            backend, queue = named.backend, named.queue if queue is None else queue
        if queue is None and backend.name == "opencl":
            queue = backend.default_queue  # type: ignore[attr-defined]
        self.backend = backend
        self.queue = queue

    @property
    def kind(self) -> str:
        """ "opencl" or "cuda"."""
        return self.backend.name

    @property
    def context(self) -> Any:
        """The Context."""
        return self.backend.context

    @property
    def driver_device(self) -> Any:
        """The pygpu.Device or pygpu.cuda.driver.Device."""
        return self.backend.device

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.backend.device, name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Device):
            return self.backend is other.backend
        return NotImplemented

    def __hash__(self) -> int:
        return hash(id(self.backend))

    def __repr__(self) -> str:
        device: Any = self.backend.device
        name = device.name() if self.kind == "cuda" else device.name
        return f"<Device {self.backend.label}, {name!r}>"

    def __enter__(self) -> Self:
        _device_stack.stack = (*getattr(_device_stack, "stack", ()), self)
        if self.kind == "cuda":
            try:
                self.context.push()
            except BaseException:
                _device_stack.stack = _device_stack.stack[:-1]
                raise
        return self

    def __exit__(self, *exception: object) -> None:
        if not getattr(_device_stack, "stack", ()) or _device_stack.stack[-1] is not self:
            raise RuntimeError(
                "Device.__exit__: another device was entered later; leave the 'with' blocks in "
                "reverse order"
            )
        _device_stack.stack = _device_stack.stack[:-1]
        if self.kind == "cuda":
            driver: Any = importlib.import_module("pygpu._cuda")
            driver.Context.pop()

    def __reduce__(self) -> Any:
        raise TypeError("a Device belongs to this process and is not pickled")

    def empty(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[_ScalarT],
        strides: tuple[int, ...] | None = None,
    ) -> GPUArray[_ScalarT]:
        """Make an uninitialized array."""
        cls: Any = provided(f"{self.kind} array")
        array: GPUArray[_ScalarT] = cls.__new__(cls)
        with self.current():
            memory = self.backend.allocate(prod(shape) * dtype.itemsize, None, self.queue)
        array._init(self.backend, self.queue, memory, 0, shape, strides, dtype, None)
        return array

    def put(self, host: NDArray[_ScalarT]) -> GPUArray[_ScalarT]:
        """Copy a host array to the device."""
        from .primitives import contiguous_host

        host = contiguous_host(host, "asarray")
        layout.as_shape(host.shape)
        strides = None if host.flags.c_contiguous else host.strides
        array = self.empty(host.shape, host.dtype, strides)
        with self.current(), progress.copying(host.nbytes, "to the device", True):
            array._set_event(self.backend.to_device(self.queue, array.base_data, 0, host))
        return array

    def current(self) -> AbstractContextManager[Any]:
        """Make a CUDA device's context current inside ``with device.current():``."""
        if self.kind == "opencl":
            return nullcontext()
        cuda = lazy("pygpu._src.runtime.cuda.backend")
        current: AbstractContextManager[Any] = cuda._current(self.backend.context)
        return current


def as_device(obj: AnyDevice | Backend = None) -> Device:
    """Return the Device that *obj* names.

    obj: None for the default; a Device; a CommandQueue, Context or Device of OpenCL; a Stream,
    Context or Device of CUDA; or text: "cuda", "cuda:1", "opencl", "opencl:PLATFORM",
    "opencl:PLATFORM:DEVICE" (indices, or parts of names in any case), "simulator". Raises
    ValueError if there is no such device, TypeError for anything else.
    """
    if obj is None:
        return default_device()
    if isinstance(obj, Device):
        return obj
    if isinstance(obj, Backend):
        return Device(obj)
    if isinstance(obj, str):
        return _device_by_name(obj)
    from pygpu import _opencl

    if isinstance(obj, _opencl.CommandQueue):
        return Device(backend_of(obj), obj)
    if isinstance(obj, _opencl.Context):
        return Device(backend_of(obj))
    if isinstance(obj, _opencl.Device):
        return _opencl_device(obj)
    from pygpu import _cuda

    if isinstance(obj, _cuda.Stream):
        return Device(backend_of(obj.context), obj)  # the context need not be current
    if isinstance(obj, _cuda.Context):
        return Device(backend_of(obj))
    if isinstance(obj, _cuda.Device):
        return _cuda_device(obj)
    raise TypeError(
        "device: a pygpu.xp.Device, a queue, stream, context or device of a driver, or a name such "
        f"as 'cuda:0' or 'opencl:0:0' is needed, not {type(obj).__name__}"
    )


def _opencl_device(device: Any) -> Device:
    from pygpu import _opencl as cl

    context = _contexts.get(device)
    if context is None:
        context = _contexts.setdefault(device, cl.Context([device]))
    return Device(backend_of(context))


def _cuda_device(device: Any) -> Device:
    """Use the primary context, which CuPy, PyTorch and the CUDA runtime share."""
    return Device(backend_of(device.retain_primary_context()))


def _device_by_name(text: str) -> Device:
    kind, *parts = text.strip().lower().split(":")
    if kind == "opencl" and len(parts) <= 2:
        return _opencl_device(_choose_opencl(text, parts))
    if kind in ("cuda", "gpu", "simulator") and len(parts) <= 1:
        from pygpu import _cuda as driver

        driver.init()
        if kind == "simulator" and not is_simulator():
            raise ValueError(
                f"device {text!r}: this process has loaded NVIDIA's driver; set "
                "PYGPU_CUDA=simulator before the first use of CUDA"
            )
        if not parts:
            return _first_cuda()
        count = driver.Device.count()
        if not parts[0].isdecimal() or int(parts[0]) >= count:
            last = f"'cuda:0' to 'cuda:{count - 1}'" if count > 1 else "'cuda:0' only"
            raise ValueError(f"device {text!r} does not exist; there is {last}")
        return _cuda_device(driver.Device(int(parts[0])))
    raise ValueError(
        f"device {text!r}: it must be 'cuda', 'cuda:N', 'simulator', 'opencl', 'opencl:PLATFORM' "
        "or 'opencl:PLATFORM:DEVICE'"
    )


def _choose_opencl(text: str, parts: list[str]) -> Any:
    from pygpu import _opencl as cl

    found: list[Any] = cl.get_platforms()
    for level, wanted in enumerate((*parts, "", "")[:2]):
        if wanted.isdecimal():
            fitting = found[int(wanted) : int(wanted) + 1]
        else:
            fitting = [x for x in found if wanted in x.name.lower()]
        if level == 0:
            found = [d for platform in fitting for d in platform.get_devices()]
        else:
            found = fitting
        if not found:
            what = "platform with a device" if level == 0 else "device"
            raise ValueError(f"device {text!r}: there is no such OpenCL {what}")
    return found[0]


def is_simulator() -> bool:
    from pygpu import _cuda
    from pygpu._src.drivers import cuda_loader as loader

    return _cuda._library() == str(loader.simulator_path())


def _first_cuda() -> Device:
    """Return the current context, else the primary context of the default device."""
    from pygpu import _cuda
    from pygpu import _cuda as driver
    from pygpu._src.drivers import cuda_loader as loader

    driver.init()
    current = _cuda.Context.get_current()
    if current is not None:
        return Device(backend_of(current))
    return _cuda_device(driver.Device(loader.default_device()))


def default_device() -> Device:
    """The device used if none is named: that of set_default_device() or the environment variable
    PYGPU_DEVICE, otherwise the first of these that works: a GPU with NVIDIA's driver, an OpenCL
    device, the CUDA simulator. Once chosen, it stays. Inside ``with device:`` it is that one."""
    global _default
    stack: tuple[Device, ...] = getattr(_device_stack, "stack", ())
    if stack:
        return stack[-1]
    if _default is None:
        named = os.environ.get(VARIABLE, "").strip()
        _default = _device_by_name(named) if named else _first()
        if named and _default.kind == "cuda":
            _set_default_context(_default)
    return _default


def set_default_device(device: AnyDevice) -> Device | None:
    """Set the default device; None: choose again when it is needed. Accepts what as_device()
    accepts; returns the previous one, None if none was chosen yet. A CUDA device's primary context
    then becomes current in threads that use CUDA without having chosen a context."""
    global _default
    before = _default
    _default = None if device is None else as_device(device)
    for changed in (_default, before):
        if changed is not None and changed.kind == "cuda":
            _set_default_context(_default)
            break
    return before


def _set_default_context(device: Device | None) -> None:
    """A launch in a thread whose context is another one has to be waited for."""
    from pygpu import _cuda

    if device is not None and device.kind == "cuda":
        _cuda.Context._set_default(device.context)
    else:
        _cuda.Context._set_default(None)


def _first() -> Device:
    from pygpu import _cuda
    from pygpu import _opencl as cl
    from pygpu._src.drivers import cuda_loader as loader

    if loader.has_gpu(_cuda):
        return _first_cuda()
    try:
        platforms = [p for p in cl.get_platforms() if p.get_devices()]
    except Error:
        platforms = []
    if platforms:
        return _opencl_device(platforms[0].get_devices()[0])
    try:
        return _device_by_name("cuda")
    except Error as error:
        error.add_note("There is no OpenCL device either; python -m pygpu shows what was tried.")
        raise


def devices() -> list[Device]:
    """List the devices: those of NVIDIA's driver (or of the simulator, if it is in use), then
    those of OpenCL. Each has the context that its name alone (``"cuda:0"``) selects."""
    from pygpu import _cuda
    from pygpu import _cuda as driver
    from pygpu import _opencl as cl
    from pygpu._src.drivers import cuda_loader as loader

    found = []
    if loader.has_gpu(_cuda) or _cuda._library() is not None:
        driver.init()
        found = [_cuda_device(driver.Device(i)) for i in range(driver.Device.count())]
    try:
        found += [_opencl_device(d) for p in cl.get_platforms() for d in p.get_devices()]
    except Error:
        pass
    for chosen in [] if _default is None else [_default]:
        if chosen not in found:
            found.insert(0, chosen)
    return found


publish(globals(), ["Device"], "pygpu.xp")
