"""Helpers for the algorithms' kernels: new arrays, scratch memory, ordering of commands."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.runtime.backend import differ
from pygpu._src.util.user_frame import user_stacklevel

from . import layout, pending


def is_array(obj: Any) -> bool:
    """Whether it is an array on a device."""
    return hasattr(obj, "base_data") and hasattr(obj, "backend")


def empty(
    like: Any, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None = None
) -> Any:
    """Make an uninitialized array of the type of *like*, on its queue, by its allocator."""
    dtype = np.dtype(dtype)
    if type(like)._own_init:
        return like._new(shape, dtype, strides)
    size = 1
    for n in shape:
        size *= n
    backend = like.backend
    memory = backend.allocate(size * dtype.itemsize, like.allocator, like.queue)
    cls: Any = type(like)
    array = cls.__new__(cls)
    array._init(backend, like.queue, memory, 0, shape, strides, dtype, like.allocator)
    return array


def result(like: Any, made: Any) -> Any:
    """Return *made*, which is new and perhaps a plain view, as a result: subclasses get their own
    class also on CUDA, where views are plain."""
    if type(like)._own_init and type(made) is not type(like):
        return like._by_class(made.shape, made.dtype, made.strides, made.queue, made)
    return made


def contiguous_host(host: np.ndarray, call: str) -> np.ndarray:
    """Return the array itself if it is contiguous in C or Fortran order, else a copy in C order;
    a copy in the byte order of devices if it has the other one."""
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    dtypes.native(host.dtype, call)
    if host.flags.c_contiguous or host.flags.f_contiguous:
        return host
    return np.ascontiguousarray(host).reshape(host.shape)


def as_array(like: Any, obj: Any, dtype: Any = None, call: str = "array") -> Any:
    """Return *obj* as an array on the device of *like*: itself if it is there, a copy if it is on
    the host."""
    if is_array(obj):
        if obj.backend is not like.backend:
            raise differ(call, like.backend, obj.backend)
        return obj
    host = contiguous_host(np.asarray(obj, dtype=dtype), call)
    array = empty(like, host.shape, host.dtype, host.strides if host.size else None)
    if host.size:
        array.backend.to_device(array.queue, array.base_data, 0, host)
    return array


class Memory:
    """Scratch memory; an operand of launch()."""

    __slots__ = ("_foreign", "base_data", "events", "offset", "queue")

    def __init__(self, backend: Any, like: Any, nbytes: int) -> None:
        self.base_data = backend.allocate(nbytes, like.allocator, like.queue)
        self.offset = 0
        self.queue = like.queue
        self.events: list[Any] = []
        self._foreign = False

    def after(self, offset: int) -> Memory:
        """Return the part after an offset [bytes]."""
        rest = Memory.__new__(Memory)
        rest.base_data, rest.offset = self.base_data, self.offset + offset
        rest.queue, rest.events, rest._foreign = self.queue, self.events, self._foreign
        return rest

    def _set_event(self, event: Any) -> None:
        self.events = [] if event is None else [event]

    def _add_event(self, event: Any) -> None:
        self.events.append(event)


def scratch(like: Any, nbytes: int) -> Memory:
    """Allocate memory for data between two launches."""
    return Memory(like.backend, like, max(nbytes, 1))


def launch(
    like: Any,
    kernel: Any,
    groups: int | tuple[int, ...],
    group_size: int | tuple[int, ...],
    reads: Sequence[Any],
    writes: Sequence[Any],
    numbers: Iterable[Any] = (),
) -> Any:
    """Launch a kernel, which may be Compiling, on the queue of *like*, after the events of its
    operands.

    Its parameters are the arrays that are read, those that are written, then numbers. Returns the
    event, on which the written arrays now depend.
    """
    args: list[Any] = []
    for operand in (*reads, *writes):
        if not getattr(operand, "_is_aligned", True):
            raise ValueError(
                f"items of {operand.dtype} begin at addresses that are not multiples of "
                f"{dtypes.alignment(operand.dtype)} bytes: make a copy of the array first"
            )
        args.append(operand.base_data)
        args.append(operand.offset)
    args.extend(numbers)
    queue = like._queue()
    waits = like.backend.wait_list(queue, [*reads, *writes])
    memory = [operand.base_data for operand in (*reads, *writes)]
    event = pending.launch(like.backend, kernel, queue, groups, group_size, args, memory, waits)
    like.backend.note_event(queue, event, writes, reads)
    return event


def changed(array: Any, view: Any) -> None:
    """Make an array wait for the commands on a view of it."""
    array.events = view.events


def fill(array: Any, value: Any) -> None:
    """Set all items of an array, of any strides, to a number."""
    from . import elementwise

    if array.size:
        dtype = array.dtype
        operation = elementwise.Operation("fill", (dtype,), (dtype,), "y0 = x0;")
        elementwise.run(operation, [array], [value], array.shape)


def c_order(array: Any) -> Any:
    """Return the array, or a copy of it in C order."""
    if layout.flags(array.shape, array.strides, array.itemsize)[0]:
        return array._aligned()
    copy = empty(array, array.shape, array.dtype)
    copy._copy_from(array)
    return copy


def reshape(array: Any, shape: tuple[int, ...]) -> Any:
    """Return the same items in another shape: a view if possible, else a copy."""
    strides = layout.reshape_strides(array.shape, array.strides, array.itemsize, shape)
    if strides is None:
        array = c_order(array)
        strides = layout.c_strides(shape, array.itemsize)
    return array._view(shape, strides, array.offset)


def flat(array: Any) -> Any:
    """Return the items in C order along one axis: a view if possible, else a copy."""
    return array if array.ndim == 1 else reshape(array, (array.size,))


def warn_of_real(source: np.dtype[Any], to: np.dtype[Any]) -> None:
    """Warn, as NumPy does, if a conversion drops imaginary parts."""
    if source.kind == "c" and to.kind in "iuf":
        warnings.warn(
            "Casting complex values to real discards the imaginary part",
            np.exceptions.ComplexWarning,
            stacklevel=user_stacklevel(),
        )


def warn_of_few(text: str) -> None:
    """Warn, as NumPy does, of too few items for a mean or variance."""
    warnings.warn(text, RuntimeWarning, stacklevel=user_stacklevel())


def astype(array: Any, dtype: Any) -> Any:
    """Return the array itself if it has that dtype, else a converted copy in C order."""
    if array.dtype == dtype:
        return array
    copy = empty(array, array.shape, dtype)
    copy._copy_from(array)
    return copy


def power_of_two(n: int) -> int:
    """Return the least power of two that is not below n."""
    return 1 << max(n - 1, 0).bit_length()
