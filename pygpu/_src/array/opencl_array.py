"""Arrays on an OpenCL device: NumPy's results, PyOpenCL's names.

>>> import numpy as np, pygpu as cl, pygpu.array as cla
>>> queue = cl.CommandQueue(cl.create_some_context(interactive=False))
>>> a = cla.to_device(queue, np.arange(4, dtype=np.float32))
>>> (2 * a + 1).get().tolist()
[1.0, 3.0, 5.0, 7.0]

The first argument of functions that make arrays is a CommandQueue. Arrays of CUDA are in
:mod:`pygpu.cuda.gpuarray`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from pygpu import _array, _opencl
from pygpu._array import GPUArray
from pygpu._src.codegen.dtypes import native
from pygpu._src.codegen.fastpath import fastpath, public_functions, public_methods
from pygpu._src.runtime.backends import backend_of
from pygpu._src.util.lazy import lazy
from pygpu._src.util.overloads import overloads_of
from pygpu._src.util.public import publish

from . import chains, layout
from .base import _ScalarT_co
from .methods import ArrayBase
from .primitives import contiguous_host
from .routines import joining, manipulation

if TYPE_CHECKING:
    from typing import SupportsIndex, TypeAlias, TypeVar

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from pygpu._src.runtime.opencl.types import Allocator, WaitList

    from .array_types import ArrayTypes, _Axes, _DType, _Where

    _Memory: TypeAlias = _opencl.Buffer | _opencl.SVMPointer
    _QueueOrContext: TypeAlias = _opencl.CommandQueue | _opencl.Context | None
    _Queue: TypeAlias = _opencl.CommandQueue | None
    _Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
    _ScalarT = TypeVar("_ScalarT", bound=np.generic)
else:
    ArrayTypes = ArrayBase

__all__ = [
    "Array",
    "ArrayHasOffsetError",
    "DoubleDowncastWarning",
    "InconsistentOpenCLQueueWarning",
    "arange",
    "as_strided",
    "empty",
    "empty_like",
    "full",
    "ones",
    "to_device",
    "zeros",
    "zeros_like",
]

ARRAY_KERNEL_EXEC_HOOK = None  # a name that PyOpenCL's programs may set; not called here
_SAME: Any = object()
_PRIVATE = ("_fast", "_flags", "_size")  # PyOpenCL's own arguments, of no effect here


class ArrayHasOffsetError(ValueError):
    """The array does not begin at the start of its memory; use base_data and offset."""

    def __init__(
        self,
        val: str = "the array starts at an offset in its buffer, which `data` cannot tell: use "
        "base_data and offset, or copy()",
    ) -> None:
        super().__init__(val)


class InconsistentOpenCLQueueWarning(UserWarning):
    """An array's queue is not the one its memory is bound to."""


class DoubleDowncastWarning(UserWarning):
    """A name of PyOpenCL's; never issued: operations that need double on a device without it raise
    an error."""


@public_methods
class Array(ArrayTypes[_ScalarT_co]):
    """An array in the memory of an OpenCL device.

    cq: a CommandQueue, on which the array's operations run, or a Context; operations then need a
    queue (with_queue()). order: "C" or "F". allocator: called with a number of bytes, for memory;
    by default the context's own pool. data: a Buffer, SVM allocation or similar memory to use
    instead, with the first item *offset* bytes from its start, and *strides* in bytes; 0 for memory
    that is assigned later, to base_data. events: what commands on the array must wait for.
    """

    @overload
    def __init__(
        self: Array[_ScalarT],
        cq: _QueueOrContext,
        shape: _Shape,
        dtype: _DType[_ScalarT],
        order: str = ...,
        allocator: Callable[[int], Any] | None = ...,
        data: Any = ...,
        offset: int = ...,
        strides: Sequence[int] | None = ...,
        events: list[Any] | None = ...,
        _context: _opencl.Context | None = ...,
        _queue: _opencl.CommandQueue | None = ...,
        **_ignored: Any,
    ) -> None: ...
    @overload
    def __init__(
        self: Array[Any],
        cq: _QueueOrContext,
        shape: _Shape,
        dtype: DTypeLike,
        order: str = ...,
        allocator: Callable[[int], Any] | None = ...,
        data: Any = ...,
        offset: int = ...,
        strides: Sequence[int] | None = ...,
        events: list[Any] | None = ...,
        _context: _opencl.Context | None = ...,
        _queue: _opencl.CommandQueue | None = ...,
        **_ignored: Any,
    ) -> None: ...
    @fastpath("opencl_init")
    def __init__(
        self,
        cq: Any,
        shape: Any,
        dtype: DTypeLike,
        order: str = "C",
        allocator: Callable[[int], Any] | None = None,
        data: Any = None,
        offset: int = 0,
        strides: Sequence[int] | None = None,
        events: list[Any] | None = None,
        _context: Any = None,
        _queue: Any = None,
        **_ignored: Any,
    ) -> None:
        queue_or_context = cq if cq is not None else _queue if _queue is not None else _context
        if not isinstance(queue_or_context, (_opencl.CommandQueue, _opencl.Context)):
            raise TypeError(f"Array: cq may be a queue or a context, not '{type(cq).__name__}'")
        for name in _ignored:
            if name not in _PRIVATE:
                raise TypeError(f"Array: unexpected keyword argument {name!r}")
        if not isinstance(offset, (int, np.integer)):
            raise TypeError(f"Array: offset must be an int, not {type(offset).__name__}")
        queue = queue_or_context if isinstance(queue_or_context, _opencl.CommandQueue) else None
        backend = backend_of(queue_or_context)
        dtype = native(dtype, "Array")
        shape = layout.as_shape(shape, "Array")
        if strides is not None:
            strides = layout.as_strides(strides, shape, "Array")
        elif order in ("F", "f"):
            strides = layout.f_strides(shape, dtype.itemsize)
        elif order not in ("C", "c"):
            raise ValueError(f"invalid order: {order}")
        nbytes = prod(shape) * dtype.itemsize
        if data is None:
            if strides is not None:
                low, high = layout.byte_bounds(shape, strides, dtype.itemsize)
                nbytes, offset = high - low, offset - low
            if offset < 0:
                raise ValueError("Array: offset must not be negative")
            data = backend.allocate(nbytes + offset, allocator, queue)
        elif not (type(data) is int and data == 0):
            backend.check_room("Array: data", data, 0, 0)
            layout.check_memory(
                "Array",
                data,
                offset,
                shape,
                layout.c_strides(shape, dtype.itemsize) if strides is None else strides,
                dtype.itemsize,
            )
        self._init(backend, queue, data, offset, shape, strides, dtype, allocator)
        if events:
            self.events = events

    _init_forms = (
        (3, "allocator strides data offset events _context _queue"),
        (3, "allocator strides data offset events"),
    )

    def _call_class(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        strides: tuple[int, ...] | None,
        queue: Any,
        of: Any,
    ) -> Any:
        cls: Any = type(self)
        has_memory = of is not None and of.base_data is not None
        new_form = "_queue" in cls._init_form
        queue_or_context = queue if queue is not None else self.context
        made = cls(
            None if new_form else queue_or_context,
            shape,
            dtype,
            allocator=self.allocator,
            strides=strides,
            data=of.base_data if has_memory else None,
            offset=of.offset if has_memory else 0,
            events=of.events if has_memory else None,
            **({"_context": self.context, "_queue": queue} if new_form else {}),
        )
        if has_memory:
            made.events = of.events  # shared, even if the list is empty
        return made

    if TYPE_CHECKING:

        @property
        def context(self) -> _opencl.Context:
            """The context of the array."""

        @property
        def queue(self) -> _opencl.CommandQueue | None:
            """The queue of the array's operations."""

        @queue.setter
        def queue(self, value: _opencl.CommandQueue | None) -> None: ...
        @property
        def base_data(self) -> _Memory:
            """The memory, which begins `offset` bytes before the first item."""

        @base_data.setter
        def base_data(self, value: _Memory) -> None: ...
        @property
        def events(self) -> list[_opencl.Event]:
            """The events that later commands on the array wait for."""

        @events.setter
        def events(self, value: list[_opencl.Event]) -> None: ...
    else:
        context = GPUArray._context

    @property
    def data(self) -> _Memory:
        """The memory, if the array begins at its start; otherwise raises ArrayHasOffsetError."""
        if self.offset:
            raise ArrayHasOffsetError()
        return self.base_data

    # ---- queues and events

    def with_queue(self, queue: _opencl.CommandQueue | None) -> Self:
        """A view whose operations run on another queue of the context; None for no queue."""
        if queue is not None and not isinstance(queue, _opencl.CommandQueue):
            raise TypeError(f"with_queue: a CommandQueue is needed, not {type(queue).__name__}")
        if queue is not None and queue.context != self.context:
            raise ValueError("with_queue: the queue belongs to another context than the array")
        if type(self)._own_init:
            if queue is None or queue.device == self.backend.device:
                own: Self = self._by_class(self.shape, self.dtype, self.strides, queue, self)
                return own
        view = self._view(self.shape, self.strides, self.offset)
        if queue is not None and queue.device != self.backend.device:
            events = self.events
            view._init(
                backend_of(queue),
                queue,
                self.base_data,
                self.offset,
                self.shape,
                self.strides,
                self.dtype,
                self.allocator,
            )
            view.events = events
        view.queue = queue
        return view

    def add_event(self, evt: _opencl.Event) -> None:
        """Make later commands on the array wait for one more event. Raises TypeError for anything
        else."""
        if not isinstance(evt, _opencl.Event):
            raise TypeError(f"add_event: evt must be an Event, not {type(evt).__name__}")
        self._add_event(evt)

    def finish(self) -> None:
        """Wait for the array's events, and drop them."""
        events = self.events
        if events:
            _opencl.wait_for_events(events)
            del events[:]

    # ---- transfers

    @fastpath("opencl_get")
    def get(
        self,
        queue: _Queue = None,
        ary: NDArray[Any] | None = None,
        async_: bool | None = None,
    ) -> NDArray[_ScalarT_co]:
        """The contents as a host array: *ary* (same dtype and size) or a new one; waits. async_: an
        old name for get_async(), whose event is then one of the array's."""
        if isinstance(queue, np.ndarray):
            raise TypeError(
                "get: the first argument is a queue; pass an array to fill as ary=, as in PyOpenCL"
            )
        return self._get(ary, queue, not async_)[0]

    def get_async(
        self, queue: _Queue = None, ary: NDArray[Any] | None = None
    ) -> tuple[NDArray[_ScalarT_co], _opencl.Event]:
        """(host array, event): the array is complete when the event is."""
        array, event = self._get(ary, queue, False)
        if event is None:
            event = self.backend.event(self._queue(queue))
        return array, event

    @fastpath("opencl_set")
    def set(self, ary: NDArray[Any], queue: _Queue = None, async_: bool = False) -> None:
        """Copy from a host array of the same dtype and size; async_: without waiting; then *ary*
        must not change until the array's events are complete."""
        self._set(ary, queue, not async_)

    def map_to_host(
        self, queue: Any = None, flags: Any = None, is_blocking: bool = True, wait_for: Any = None
    ) -> Any:
        """The array's memory as a host array, or (array, event) if not blocking; see
        :func:`pygpu.enqueue_map_buffer`."""
        if flags is None:
            flags = 3  # READ | WRITE
        memory: Any = self.base_data
        if isinstance(memory, int):
            raise TypeError(
                "map_to_host: the array was made with data=0 and has no memory yet: assign a "
                "Buffer to its base_data first"
            )
        array, event = _opencl.enqueue_map_buffer(
            self._queue(queue),
            memory,
            flags,
            self.offset,
            self.shape,
            self.dtype,
            strides=self.strides,
            wait_for=[*self._events_of(wait_for), *self.events],
            is_blocking=is_blocking,
        )
        return array if is_blocking else (array, event)

    @fastpath("copy")
    def copy(self, queue: _Queue | str = _SAME, *, order: str = "K") -> Self:
        """A copy, on the array's queue or another one (None: without a queue). order: as NumPy's,
        which may also be passed in place of the queue."""
        if isinstance(queue, str):
            order, queue = queue, _SAME
        if queue is _SAME or queue is None:
            new = self._copy(None, order)
            return new if queue is _SAME else new.with_queue(None)
        return self._copy(queue, order)

    def mul_add(
        self, selffac: complex, other: Array[Any], otherfac: complex, queue: _Queue = None
    ) -> Array[Any]:
        """``selffac * self + otherfac * other``, in one launch."""
        found: Array[Any] = self._mul_add(selffac, other, otherfac, queue)
        return found

    def _new_like_me(self, dtype: Any = None, queue: Any = None) -> Any:
        """A new, uninitialized array of the same shape and order."""
        return empty_like(self, queue or _SAME, dtype=dtype)

    def _new_with_changes(
        self,
        data: Any,
        offset: int | None,
        shape: Any = None,
        dtype: Any = None,
        strides: Any = None,
        queue: Any = _SAME,
        allocator: Any = None,
    ) -> Any:
        """Return an array like this one with some changes; data None: new memory."""
        queue = self.queue if queue is _SAME else queue
        return type(self)(
            queue if queue is not None else self.context,
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            allocator=self.allocator if allocator is None else allocator,
            data=data,
            offset=(self.offset if offset is None else offset) if data is not None else 0,
            strides=self.strides if strides is None and shape is None else strides,
            events=None if data is None else self.events,
        )

    def _get_sizes(
        self, queue: Any, kernel_specific_max_wg_size: int | None = None
    ) -> tuple[tuple[int], tuple[int]]:
        """Return (global size, local size) for the caller's own kernel that steps through the
        items."""
        from pygpu._src.array.opencl_splay import splay

        return splay(queue.device, self.size, kernel_specific_max_wg_size)

    get_sizes = _get_sizes

    def _zero_fill(self, queue: Any = None, wait_for: Any = None) -> None:
        self.fill(0, queue, wait_for)

    # ---- reductions with PyOpenCL's signatures

    def any(
        self,
        axis: _Axes | _opencl.CommandQueue = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: _Where = None,
        queue: _Queue = None,
        wait_for: WaitList = None,
    ) -> Array[np.bool_]:
        """Whether any item is not zero, over axes."""
        return self._test("any", axis, out, keepdims, where, queue, wait_for)

    def all(
        self,
        axis: _Axes | _opencl.CommandQueue = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: _Where = None,
        queue: _Queue = None,
        wait_for: WaitList = None,
    ) -> Array[np.bool_]:
        """Whether all items are not zero, over axes."""
        return self._test("all", axis, out, keepdims, where, queue, wait_for)

    def _test(
        self, name: str, axis: Any, out: Any, keepdims: bool, where: Any, queue: Any, wait_for: Any
    ) -> Array[np.bool_]:
        if isinstance(axis, _opencl.CommandQueue):  # PyOpenCL's any(queue, wait_for)
            axis, queue, wait_for = None, axis, out or wait_for
            out = None
        here = self._on_queue(queue, wait_for)
        found: Array[np.bool_] = here._reduce(name, axis, out=out, keepdims=keepdims, where=where)
        return found

    # ---- text

    def __str__(self) -> str:
        if self.queue is None:
            return (
                f"<cl.{type(self).__name__} {self.shape} of {self.dtype} "
                "without queue, call with_queue()>"
            )
        text: str = lazy("pygpu._src.array.display").array_str(self)
        return text

    def __repr__(self) -> str:
        if self.queue is None:
            return (
                f"<cl.{type(self).__name__} {self.shape} of {self.dtype} at {id(self):x} "
                "without queue, call with_queue()>"
            )
        text: str = lazy("pygpu._src.array.display").array_repr(self, f"cl.{type(self).__name__}")
        return text

    def _repr_html_(self) -> str:
        if self.queue is None:
            return f"<code>{self.safely_stringify_for_pudb()}</code>"
        text: str = lazy("pygpu._src.array.display").array_html(self, f"cl.{type(self).__name__}")
        return text

    def safely_stringify_for_pudb(self) -> str:
        """Type, dtype and shape, without querying the device."""
        return f"cl.{type(self).__name__} {self.dtype} {self.shape}"

    def __reduce__(self) -> Any:
        return _unpickle, (type(self), self.get(), self.queue is not None)


_array._register("opencl", array_class=Array)
_array._chain_connect(False, _opencl._deferral())


def _unpickle(cls: Any, host: np.ndarray, with_queue: bool) -> Any:
    """Make the array in :func:`queue_for_pickle`'s queue, or a default one."""
    queue = _pickle_queue
    if queue is None:
        from .device import as_device, default_device

        device = default_device()
        queue = (device if device.kind == "opencl" else as_device("opencl")).queue
    array: Any = to_device(queue, host)
    if type(array) is not cls:
        array = array._view(array.shape, array.strides, 0, None, cls)
    return array if with_queue else array.with_queue(None)


_pickle_queue: Any = None


class queue_for_pickle:
    """Context manager: arrays unpickled inside are made on this queue's device; by default, on
    pygpu.xp's default device, or on OpenCL's first if the default is not an OpenCL device."""

    def __init__(self, queue: Any) -> None:
        self.queue = queue

    def __enter__(self) -> None:
        global _pickle_queue
        self.before, _pickle_queue = _pickle_queue, self.queue

    def __exit__(self, *args: Any) -> None:
        global _pickle_queue
        _pickle_queue = self.before


# ---- making arrays


@overload
def to_device(
    queue: _opencl.CommandQueue,
    ary: NDArray[_ScalarT],
    allocator: Allocator | None = ...,
    async_: bool = ...,
    array_queue: _Queue = ...,
) -> Array[_ScalarT]: ...
@overload
def to_device(
    queue: _opencl.CommandQueue,
    ary: ArrayLike,
    allocator: Allocator | None = ...,
    async_: bool = ...,
    array_queue: _Queue = ...,
) -> Array[Any]: ...
@fastpath("to_device")
def to_device(
    queue: Any,
    ary: Any,
    allocator: Allocator | None = None,
    async_: bool = False,
    array_queue: _Queue = _SAME,
) -> Array[Any]:
    """A copy of a host array on the device; async_: without waiting. array_queue: the queue of the
    result, None for none."""
    given, ary = ary, np.asarray(ary)
    if ary.dtype.hasobject:
        _refuse_objects(given)
    host = contiguous_host(ary, "to_device")
    order = "C" if host.flags.c_contiguous else "F"
    result = Array(queue, host.shape, host.dtype, order, allocator)
    result._set(host, queue, not async_, "to_device")
    return result if array_queue is _SAME else result.with_queue(array_queue)


def _refuse_objects(given: Any) -> None:
    foreign = hasattr(given, "__cuda_array_interface__") or hasattr(given, "__dlpack__")
    if foreign and not isinstance(given, np.ndarray):
        raise TypeError(
            f"to_device: a host array is needed, and {type(given).__name__} is an array of another "
            "library: pygpu.xp.asarray() takes it where it is, and .get() then copies to the host"
        )
    raise RuntimeError("to_device does not work on object arrays.")


empty = Array


@overload
def zeros(
    queue: _QueueOrContext,
    shape: _Shape,
    dtype: _DType[_ScalarT],
    order: str = ...,
    allocator: Allocator | None = ...,
) -> Array[_ScalarT]: ...
@overload
def zeros(
    queue: _QueueOrContext,
    shape: _Shape,
    dtype: DTypeLike,
    order: str = ...,
    allocator: Allocator | None = ...,
) -> Array[Any]: ...
@fastpath("opencl_zeros")
def zeros(
    queue: _QueueOrContext,
    shape: _Shape,
    dtype: DTypeLike,
    order: str = "C",
    allocator: Allocator | None = None,
) -> Array[Any]:
    """A new array of zeros."""
    return Array(queue, shape, dtype, order, allocator).fill(0)


@overloads_of(zeros)
@fastpath("opencl_ones")
def ones(
    queue: _QueueOrContext,
    shape: _Shape,
    dtype: DTypeLike,
    order: str = "C",
    allocator: Allocator | None = None,
) -> Array[Any]:
    """A new array of ones."""
    return Array(queue, shape, dtype, order, allocator).fill(1)


@overload
def full(
    queue: _QueueOrContext,
    shape: _Shape,
    fill_value: Any,
    dtype: _DType[_ScalarT],
    order: str = ...,
    allocator: Allocator | None = ...,
) -> Array[_ScalarT]: ...
@overload
def full(
    queue: _QueueOrContext,
    shape: _Shape,
    fill_value: Any,
    dtype: DTypeLike | None = ...,
    order: str = ...,
    allocator: Allocator | None = ...,
) -> Array[Any]: ...
@fastpath("opencl_full")
def full(
    queue: _QueueOrContext,
    shape: _Shape,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: str = "C",
    allocator: Allocator | None = None,
) -> Array[Any]:
    """A new array of one value."""
    dtype = np.asarray(fill_value).dtype if dtype is None else dtype
    return Array(queue, shape, dtype, order, allocator).fill(fill_value)


@overload
def empty_like(
    ary: Array[_ScalarT],
    queue: _Queue = ...,
    allocator: Allocator | None = ...,
    dtype: None = ...,
) -> Array[_ScalarT]: ...
@overload
def empty_like(
    ary: Array[Any],
    queue: _Queue = ...,
    allocator: Allocator | None = ...,
    *,
    dtype: _DType[_ScalarT],
) -> Array[_ScalarT]: ...
@overload
def empty_like(
    ary: Array[Any],
    queue: _Queue = ...,
    allocator: Allocator | None = ...,
    dtype: DTypeLike | None = ...,
) -> Array[Any]: ...
@fastpath("opencl_empty_like")
def empty_like(
    ary: Any,
    queue: _Queue = _SAME,
    allocator: Allocator | None = None,
    dtype: DTypeLike | None = None,
) -> Any:
    """A new, uninitialized array of the same shape, dtype and order."""
    known = isinstance(ary, ArrayBase)  # of any backend
    if not known:
        raise TypeError(f"empty_like: ary must be an array on the device, not {type(ary).__name__}")
    dtype = ary.dtype if dtype is None else native(dtype, "empty_like")
    strides = None
    if not ary._c_contiguous:
        strides = layout.keep_order_strides(ary.shape, ary.strides, dtype.itemsize)
    if queue is _SAME and allocator is None and ary.queue is not None:
        return ary._new(ary.shape, dtype, strides)
    where = ary.queue if queue is _SAME else queue
    return type(ary)(
        ary.context if where is None else where,
        ary.shape,
        dtype,
        allocator=ary.allocator if allocator is None else allocator,
        strides=strides,
    )


@fastpath("opencl_zeros_like")
def zeros_like(ary: Array[_ScalarT]) -> Array[_ScalarT]:
    """A new array of zeros, of the same shape, dtype and order."""
    return empty_like(ary).fill(0)


@overload
def arange(
    queue: _QueueOrContext,
    *args: complex | np.generic | None,
    dtype: _DType[_ScalarT],
    allocator: Allocator | None = ...,
) -> Array[_ScalarT]: ...
@overload
def arange(
    queue: _QueueOrContext,
    *args: Any,
    dtype: DTypeLike = ...,
    allocator: Allocator | None = ...,
    **kwargs: Any,
) -> Array[Any]: ...
def arange(queue: Any, *args: Any, **kwargs: Any) -> Array[Any]:
    """``arange(queue, [start,] stop[, step], dtype=..., allocator=None)``: evenly spaced numbers,
    as numpy.arange."""
    allocator = kwargs.pop("allocator", None)
    start, step, n, dtype, explicit = joining.arange_plan("arange", args, kwargs)
    if not explicit:
        raise TypeError("arange requires a dtype argument")
    made: Array[Any] = Array(queue, (n,), dtype, allocator=allocator)
    joining.arange_into(made, start, step)
    return made


def as_strided(
    ary: Array[_ScalarT], shape: _Shape | None = None, strides: Sequence[int] | None = None
) -> Array[_ScalarT]:
    """A view with any shape and strides (bytes). Raises ValueError if it leaves the memory."""
    if not isinstance(ary, ArrayBase):
        raise TypeError(f"as_strided: an array on the device is needed, not {type(ary).__name__}")
    view: Array[_ScalarT] = manipulation.as_strided(ary, shape, strides)
    return view


publish(globals(), ["_unpickle", *__all__], "pygpu.array")
public_functions(globals(), __all__)

chains.start()
