"""Host arguments of kernels: host arrays, copying them back, arrays of other libraries,
addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import foreign_memory
from pygpu._src.codegen import dtypes
from pygpu._src.runtime.backend import Backend
from pygpu._src.runtime.backends import backend_of

from ..types import Scalar, numpy_dtype

# Called with each host array that is copied for a launch; compat issues warnings.
on_host_copy: Callable[[np.ndarray], None] | None = None


class _Directed:
    """A host array with the direction of its copy; device arrays are passed unchanged."""

    copies_in: bool = True
    copies_out: bool = True
    value: Any

    def __init__(self, value: Any) -> None:
        if not (isinstance(value, (np.ndarray, GPUArray)) or hasattr(value, "shape")):
            raise TypeError(
                f"cuda.{type(self).__name__}(): an array is needed, not {type(value).__name__}"
            )
        self.value = value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class In(_Directed):
    """``k[...](cuda.In(a))``: the host array *a* is copied to the device, and not back."""

    copies_out = False


class Out(_Directed):
    """``k[...](cuda.Out(a))``: the host array *a* receives the kernel's output; items that the
    kernel does not set are undefined."""

    copies_in = False


class InOut(_Directed):
    """``k[...](cuda.InOut(a))``: copied both ways, as a plain host array is."""


def wrap_arg(value: Any, default: Any = InOut) -> Any:
    """Return the value as In, Out or InOut; *default* for plain values."""
    return value if isinstance(value, _Directed) else default(value)


def to_device(name: str, arg: Any, backend: Backend, queue: Any, back: list[Any]) -> Any:
    """Copy a host array to a device array, and record it if it must be copied back. name: for
    messages."""
    if isinstance(arg, (GPUArray, int, float)):
        return arg
    copies_in = copies_out = True
    if isinstance(arg, _Directed):
        copies_in, copies_out, arg = arg.copies_in, arg.copies_out, arg.value
        if isinstance(arg, GPUArray):
            return arg
    if isinstance(arg, np.ndarray) and not _is_managed(arg, backend):
        dtypes.native(arg.dtype, name)
        if on_host_copy is not None:
            on_host_copy(arg)
        if copies_out and not copies_in and not arg.flags.writeable:
            raise ValueError(f"{name}: the array of cuda.Out() is not writable")
        made = _copy_of(backend, queue, arg, copies_in)
        if copies_out and arg.flags.writeable:
            back.append((arg, made))
        return made
    if isinstance(arg, tuple):
        found = [to_device(name, a, backend, queue, back) for a in arg]
        make: Any = getattr(type(arg), "_make", tuple)  # for a namedtuple
        return make(found)
    if isinstance(arg, np.void) and arg.dtype.names:
        made = _copy_of(backend, queue, np.asarray(arg))
        back.append((arg, made))
        return made
    interface = getattr(arg, "__cuda_array_interface__", None)
    if interface is not None and backend.name == "cuda":
        call = f"{name}: the __cuda_array_interface__ of a {type(arg).__name__}"
        shown = foreign_memory.read(interface, call)
        foreign_memory.check_current(call, shown)
        foreign_memory.wait_for(backend, queue, shown.stream)
        return view_of(_typed(shown, arg), arg)
    if backend.name == "cuda" and hasattr(arg, "__dlpack_device__"):
        from pygpu._src.array.interchange import from_dlpack

        try:
            return from_dlpack(arg, copy=False)
        except ValueError:  # on the host
            return arg
    return arg


def _typed(shown: foreign_memory.ForeignArray, arg: Any) -> foreign_memory.ForeignArray:
    """The description with the array's own dtype, if that is a type of ml_dtypes, which
    __cuda_array_interface__ can only describe as bytes."""
    dtype = getattr(arg, "dtype", None)
    if isinstance(dtype, np.dtype) and dtypes.is_of_ml_dtypes(dtype):
        if dtype.itemsize == shown.dtype.itemsize:
            return shown._replace(dtype=dtype)
    return shown


def _is_managed(arg: np.ndarray, backend: Backend) -> bool:
    """Whether a host array is in memory that kernels use without a copy."""
    return backend.name == "cuda" and getattr(arg, "is_managed", False)


def declared_number(arg: Any, kind: Any) -> Any:
    """Convert a NumPy number to the declared type; return other arguments unchanged."""
    if isinstance(arg, np.generic) and isinstance(kind, Scalar):
        dtype = numpy_dtype(kind)
        return arg if arg.dtype == dtype else arg.astype(dtype)
    return arg


def as_int(arg: Any) -> Any:
    """Convert a NumPy integer of fewer than 64 bits to an int, for a parameter that the kernel
    truncates."""
    if isinstance(arg, np.integer) and arg.dtype.itemsize < 8:
        return int(arg)
    return arg


def copy_back(back: list[Any]) -> None:
    """Copy the recorded arrays back to the host."""
    for one in back:
        if callable(one):  # a function of an extension
            one()
            continue
        host, array = one
        if isinstance(host, np.void):
            found = array.get()[()]
            for name in host.dtype.names or ():
                host[name] = found[name]
        else:
            host[...] = array.get()


def _copy_of(backend: Backend, queue: Any, host: np.ndarray, copies: bool = True) -> Any:
    if backend.name == "cuda":
        from pygpu._src.array import cuda_array

        if not copies:
            return cuda_array.empty(host.shape, host.dtype)
        return (
            cuda_array.to_gpu_async(host, stream=queue)
            if queue is not None
            else cuda_array.to_gpu(host)
        )
    from pygpu._src.array import opencl_array

    if not copies:
        return opencl_array.empty(queue, host.shape, host.dtype)
    return opencl_array.to_device(queue, host)


def view_of(shown: foreign_memory.ForeignArray, owner: Any) -> Any:
    """Make an array on the memory of another library's array, which was checked."""
    from pygpu._src.array.cuda_array import GPUArray as CudaArray

    cls: Any = CudaArray
    array = cls.__new__(cls)
    _, _, shape, strides, dtype, _ = shown
    array._init(backend_of(None), None, shown.address, 0, shape, strides, dtype, None)
    array.base = owner
    return array


def pointer_view(name: str, address: int, dtype: np.dtype[Any]) -> Any:
    """Return an array over the memory at an address, up to the end of its allocation, for a
    parameter that is declared as a pointer. Raises ValueError for an address that is not
    allocated."""
    from pygpu import _cuda, errors
    from pygpu._src.runtime.cuda.errors import is_unknown_address

    address = int(address)
    try:
        begin, size = _cuda.mem_get_address_range(address)
    except (errors.Error, OverflowError) as error:
        if isinstance(error, errors.Error) and not is_unknown_address(error):
            raise
        raise ValueError(f"{name}: no device memory is allocated at {address:#x}") from None
    if address % dtype.itemsize:
        raise ValueError(
            f"{name}: the address {address:#x} is not a multiple of {dtype.itemsize}, the size of "
            f"{dtype}"
        )
    count = (begin + size - address) // dtype.itemsize
    shown = foreign_memory.ForeignArray(address, False, (count,), (dtype.itemsize,), dtype, None)
    return view_of(shown, None)
