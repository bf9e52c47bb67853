"""The device and queue for functions called with host arrays, by the target's name.

=====================  =========================================================================
target                 device
=====================  =========================================================================
"opencl"               the first OpenCL device, or the one that PYGPU_CTX names
"cuda", "gpu"          that of the current CUDA context; without a GPU the simulator
"cpu", "parallel"      an OpenCL device that is a CPU, else the CUDA simulator
None                   a CUDA GPU, else an OpenCL device, else the CUDA simulator
=====================  =========================================================================
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from pygpu import errors
from pygpu._src.array.primitives import contiguous_host
from pygpu._src.runtime.backend import Backend
from pygpu._src.runtime.backends import backend_of

TARGETS = (None, "opencl", "cuda", "gpu", "cpu", "parallel")

_opencl_targets: dict[str, Target] = {}
_default: list[str] = []


class Target:
    """One device, with the queue for functions there and the class of its arrays."""

    def __init__(self, backend: Backend, queue: Any, array: type) -> None:
        self.backend, self.queue, self.array = backend, queue, array

    def new(self, shape: tuple[int, ...], dtype: Any, strides: Any = None) -> Any:
        """Make an uninitialized device array in pooled memory."""
        cls: Any = self.array
        made = cls.__new__(cls)
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        memory = self.backend.allocate(nbytes, None, self.queue)
        made._init(self.backend, self.queue, memory, 0, shape, strides, dtype, None)
        return made

    def to_device(self, host: np.ndarray) -> Any:
        """Start copying a host array, without waiting. Axes with stride 0 keep it."""
        repeated = [n > 1 and s == 0 for n, s in zip(host.shape, host.strides)]
        if any(repeated) and host.size:
            one = tuple(slice(0, 1) if r else slice(None) for r in repeated)
            part = self.to_device(host[one])
            strides = tuple(0 if r else s for r, s in zip(repeated, part.strides))
            return part._view(host.shape, strides, part.offset)
        host = contiguous_host(host, "array")
        made = self.new(host.shape, host.dtype, None if host.flags.c_contiguous else host.strides)
        if host.size:
            event = self.backend.to_device(self.queue, made.base_data, 0, host, blocking=False)
            if event is not None:
                made._set_event(event)
        return made


def check_target(target: Any, call: str) -> None:
    """Raise ValueError for an unknown target."""
    if target not in TARGETS:
        raise ValueError(
            f"{call}: target {target!r} is not one of {', '.join(repr(t) for t in TARGETS if t)}"
        )


def resolve_target(target: str | None) -> Target:
    """Return the target of this name. Raises RuntimeError or LogicError if there is no such
    device."""
    if target is None:
        if not _default:
            _default.append(_first_that_works())
        target = _default[0]
    if target in ("cuda", "gpu"):
        return _cuda()
    found = _opencl_targets.get(target)
    if found is not None:
        return found
    if target == "opencl":
        return _opencl(target)
    device = _cpu_device()
    return _cuda() if device is None else _opencl(target, device)


def _opencl(target: str, device: Any = None) -> Target:
    from pygpu import _opencl as cl
    from pygpu._src.array.opencl_array import Array
    from pygpu._src.runtime.opencl.device_selection import create_some_context

    context = cl.Context([device]) if device is not None else create_some_context(interactive=False)
    backend = backend_of(context)
    made = Target(backend, cl.CommandQueue(context, backend.device), Array)
    return _opencl_targets.setdefault(target, made)


def _cuda() -> Target:
    from pygpu._src.array.cuda_array import GPUArray

    backend = backend_of(None)
    found: Target | None = backend.kernels.get("target of host arrays")
    if found is None:
        found = backend.kernels.setdefault("target of host arrays", Target(backend, None, GPUArray))
    return found


def _cpu_device() -> Any:
    from pygpu.constants import device_type

    for platform in _platforms():
        for device in platform.get_devices():
            if device.type & device_type.CPU:
                return device
    return None


def _platforms() -> list[Any]:
    from pygpu import _opencl as cl

    try:
        return list(cl.get_platforms())
    except errors.LogicError:
        return []


def _first_that_works() -> str:
    if _has_gpu():
        return "cuda"
    if any(platform.get_devices() for platform in _platforms()):
        return "opencl"
    return "cuda"


def _has_gpu() -> bool:
    """Whether the CUDA driver has a device; does not load the simulator."""
    choice = os.environ.get("PYGPU_CUDA", "").strip().lower() or "auto"
    if choice == "simulator" or "PYGPU_CUDA_LIBRARY" in os.environ:
        return False
    import ctypes
    import ctypes.util  # it imports subprocess: 5 ms

    name = ctypes.util.find_library("cuda") or (os.name == "nt" and "nvcuda.dll")
    if not name:
        return False
    try:
        library = ctypes.CDLL(name)
        count = ctypes.c_int(0)
        return (
            library.cuInit(0) == 0
            and library.cuDeviceGetCount(ctypes.byref(count)) == 0
            and count.value > 0
        )
    except (OSError, AttributeError):
        return False


def from_interface(obj: Any) -> Any:
    """Make a DeviceNDArray on the memory of another library's device array, by its
    __cuda_array_interface__; waits for work on the stream that it names."""
    from ..cuda_arrays import from_cuda_array_interface

    return from_cuda_array_interface(obj.__cuda_array_interface__, owner=obj)
