"""The common base of both backends' arrays, on top of the C header: new arrays on the same device,
launches with the right order of commands, copies and transfers."""

from __future__ import annotations

import operator
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from pygpu import _array
from pygpu._array import GPUArray
from pygpu._src.codegen import dtypes
from pygpu._src.util import progress
from pygpu._src.util.lazy import lazy
from pygpu._src.util.sequences import as_list

from . import elementwise, launch_cache, layout
from .primitives import contiguous_host

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pygpu._array import _ScalarT_co as _ScalarT_co
else:
    _ScalarT_co = TypeVar("_ScalarT_co")

_EVENTS_MANY = 12
_TRANSPOSED = 4096  # items from which on a copy by tiles is faster


@lru_cache(maxsize=256)
def _copy_operation(dtype: np.dtype[Any]) -> elementwise.Operation:
    return elementwise.Operation("copy", (dtype,), (dtype,), "y0 = x0;")


def _view_by_class(
    self: Any,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    offset: int,
    dtype: np.dtype[Any] | None = None,
    cls: type | None = None,
) -> Any:
    """Implement _view() for a class with its own __init__: returns an array of the base class, as
    in PyCUDA, or calls the class with that, as in PyOpenCL."""
    other = cls is not None and cls is not type(self)
    view = GPUArray._view(self, shape, strides, offset, dtype, cls if other else self._plain_class)
    if other or not self._views_by_class:
        return view
    return self._by_class(view.shape, view.dtype, view.strides, self.queue, view)


def _form_of(cls: Any) -> frozenset[str] | None:
    """Return the first form of a call that the class's __init__ accepts, if there is one: with the
    shape as in the base class, or with arguments that it passes on."""
    import inspect

    try:
        signature = inspect.signature(cls.__init__)
    except ValueError:
        return None
    parameters = list(signature.parameters.values())[1:]
    for count, keywords in cls._init_forms:
        names = keywords.split()
        second = parameters[count - 2 : count - 1]
        hands_on = bool(parameters) and parameters[0].kind is inspect.Parameter.VAR_POSITIONAL
        if not hands_on and [parameter.name for parameter in second] != ["shape"]:
            continue
        try:
            signature.bind(None, *range(count), **dict.fromkeys(names))
        except TypeError:
            continue
        return frozenset(names)
    return None


class ArrayCore(GPUArray[_ScalarT_co]):
    """Memory, ordering of commands, copies."""

    __array_priority__ = 100
    # For a subclass with its own __init__ that accepts the arguments which other packages pass for
    # results. C leaves its arrays to Python.
    _own_init = False
    _init_form: frozenset[str] = frozenset()  # the keywords of such a call
    _init_forms: tuple[tuple[int, str], ...] = ()  # the known ones, after so many other arguments
    _plain_class: Any = None  # its nearest base class that is not such a subclass
    _views_by_class = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        owners = [c for c in cls.__mro__ if "__init__" in c.__dict__]
        ours = [c for c in owners if isinstance(c.__dict__["__init__"], _array.FastPath)]
        own_init = bool(ours) and owners[0] is not ours[0]
        form = _form_of(cls) if own_init else None
        cls._own_init = form is not None
        if form is not None:
            cls._init_form = form
            own: Any = cls
            own._view = _view_by_class
            bases = [c for c in cls.__mro__ if issubclass(c, ours[0])]
            cls._plain_class = next(c for c in bases if not getattr(c, "_own_init", False))

    def _by_class(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        strides: tuple[int, ...] | None,
        queue: Any,
        of: Any = None,
    ) -> Any:
        """Make a new array, or one over the memory of the array *of*, by calling the class. Raises
        TypeError if its __init__ makes a different one."""
        made = self._call_class(shape, dtype, strides, queue, of)
        wanted = layout.c_strides(shape, dtype.itemsize) if strides is None else strides
        same = isinstance(made, GPUArray) and (made.shape, made.dtype) == (shape, dtype)
        if same and of is not None:
            same = made.base_data is of.base_data and made.offset == of.offset
        if (
            not same
            or made.backend is not self.backend
            or any(n > 1 and x != y for n, x, y in zip(shape, made.strides, wanted, strict=True))
        ):
            raise TypeError(
                f"{type(self).__name__}.__init__ did not make the requested array: results need "
                f"shape {shape}, dtype {dtype}, strides {wanted} and the passed memory; pass these "
                "arguments on to the base class"
            )
        return made

    def _call_class(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        strides: tuple[int, ...] | None,
        queue: Any,
        of: Any,
    ) -> Any:
        raise NotImplementedError

    # ---- new arrays on the same device

    def _new(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        strides: tuple[int, ...] | None = None,
        queue: Any = None,
    ) -> Any:
        """Make an uninitialized array with the same class, backend, queue and allocator. strides:
        without gaps, None for C order."""
        cls = type(self)
        backend, allocator = self.backend, self.allocator
        queue = self.queue if queue is None else queue
        if cls._own_init:
            return self._by_class(shape, dtype, strides, queue)
        array = cls.__new__(cls)
        data = backend.allocate(prod(shape) * dtype.itemsize, allocator, queue)
        array._init(backend, queue, data, 0, shape, strides, dtype, allocator)
        return array

    def _from_host(self, host: np.ndarray) -> Any:
        """Copy a host array to this array's device."""
        host = contiguous_host(host, "array")
        strides = None if host.flags.c_contiguous else host.strides
        array = self._new(host.shape, host.dtype, strides)
        with progress.copying(host.nbytes, "to the device", True):
            event = self.backend.to_device(array._queue(), array.base_data, 0, host)
        array._set_event(event)
        return array

    def _set_memory(self, data: Any, offset: Any) -> None:
        """Move the array to other memory, or to another offset: what assigning to base_data and
        offset does. An array made at a plain address stays there, if the memory contains it.
        Raises ValueError if items would be outside."""
        offset = operator.index(offset)
        shape, strides, dtype = self.shape, self.strides, self.dtype
        address = self.base_data
        was_address = (
            isinstance(address, int) and not isinstance(data, int) and hasattr(data, "__int__")
        )
        if was_address and offset == self.offset:
            position, size = address + offset - int(data), getattr(data, "size", 0)
            offset = position if 0 <= position < size else offset
        name = type(self).__name__
        layout.check_memory(name, data, offset, shape, strides, dtype.itemsize)
        if 0 not in shape:
            low, high = layout.byte_bounds(shape, strides, dtype.itemsize)
            self.backend.check_room(f"{name}: memory", data, offset + low, offset + high)
        self._init(self.backend, self.queue, data, offset, shape, strides, dtype, self.allocator)

    def _shares_memory(self, other: Any) -> bool:
        """Whether both use the same memory. Sub-buffers of one buffer are not recognized."""
        a, b = self.base_data, other.base_data
        return a is b or (isinstance(a, int) and isinstance(b, int))

    # ---- order of commands

    def _queue(self, queue: Any = None) -> Any:
        """Return the queue for a command: *queue*, or the array's. Raises ValueError if it has
        none."""
        if queue is None:
            queue = self.queue
            if queue is None and self.backend.name == "opencl":
                raise ValueError(
                    "the array has no queue: pass queue=, or use array.with_queue(queue)"
                )
        return queue

    def _on_queue(self, queue: Any, wait_for: Any = None) -> Any:
        """Return the array with its commands on *queue*, if given, after the events *wait_for*."""
        array: Any = self
        if queue is not None and queue is not self.queue:
            opencl = self.backend.name == "opencl"
            array = array.with_queue(queue) if opencl else array.with_stream(queue)
        for event in self._events_of(wait_for):
            array._add_event(event)
        return array

    def _events_of(self, wait_for: Any) -> list[Any]:
        return as_list(wait_for, type(self).__name__, "wait_for") if wait_for else []

    def _add_event(self, event: Any) -> None:
        """Make later commands wait for one more event."""
        events = self.events
        events.append(event)
        self._foreign = True
        if len(events) > _EVENTS_MANY:
            events[:] = [e for e in events if e.command_execution_status > 0] or [event]

    # ---- items at addresses that are not multiples of their size: fields of packed structs, views

    @property
    def _is_aligned(self) -> bool:
        bits = self.offset
        for length, stride in zip(self.shape, self.strides):
            if length > 1:
                bits |= stride
        return not bits % dtypes.alignment(self.dtype)

    def _bytes(self) -> Any:
        """Return the same items as bytes, with one more axis."""
        shape, strides = (*self.shape, self.dtype.itemsize), (*self.strides, 1)
        return self._view(shape, strides, self.offset, np.dtype(np.uint8))

    def _copy_bytes(self, other: Any, queue: Any = None, wait_for: Any = None) -> Any:
        """Set all items from an array of the same dtype and shape, with any strides."""
        mine = self._bytes()
        event = mine._copy_from(other._bytes(), queue, wait_for)
        self.events = mine.events
        return event

    def _aligned(self, queue: Any = None, wait_for: Any = None) -> Any:
        """Return this array, or a copy in C order whose alignment allows kernels to read it."""
        if self._is_aligned:
            return self
        copy = self._new(self.shape, self.dtype, None, queue)
        copy._copy_bytes(self, queue, wait_for)
        return copy

    # ---- copies on the device

    def _copy_from(self, other: Any, queue: Any = None, wait_for: Any = None) -> Any:
        """Set all items from an array or number that broadcasts to this one, with conversion."""
        if queue is None and wait_for is None and _array._call("copy", other, out=self) is not None:
            return self.events[-1] if self.events else None
        dtype = other.dtype if isinstance(other, GPUArray) else self.dtype
        source: Any = other
        if not self.backend.limits.fp64 and dtypes.needs_fp64(dtype):
            if isinstance(other, ArrayCore) and (dtype, source.shape) == (self.dtype, self.shape):
                return self._copy_bytes(other, queue, wait_for)  # every device can do that
        if not isinstance(other, GPUArray) and not dtypes.computes(dtype):
            other = self._from_host(np.asarray(other, dtype))
        if dtype.type is np.void or self.dtype.type is np.void:
            structured = lazy("pygpu._src.array.structured")
            if dtype != self.dtype or structured.has_gaps(dtype):
                return structured.assign(self, other, queue, wait_for)
        if self.size == 0:
            return None
        if self.size >= _TRANSPOSED and isinstance(other, ArrayCore) and wait_for is None:
            here = queue is None and other.queue is self.queue
            same = here and other.dtype == self.dtype and other.shape == self.shape
            if same and self._is_aligned and source._is_aligned:
                if lazy("pygpu._src.array.transpose").copy(self, source):
                    return self.events[-1] if self.events else None
        call = launch_cache.Call("copy", (other,), self)
        operation = _copy_operation(dtype)
        return elementwise.run(operation, [self], [other], self.shape, queue, wait_for, call)

    def _copy(self, queue: Any = None, order: str = "K") -> Self:
        """Return a copy without gaps, with this array's order of axes ("K"), in C or Fortran
        order, or "A": in Fortran order if this one is."""
        shape, dtype = self.shape, self.dtype
        if order not in ("K", "C", "F"):
            fortran = self._f_contiguous and not self._c_contiguous
            order = layout.as_order("copy", order, fortran, "K")
        if order == "C" or (self._c_contiguous and order != "F"):
            strides = None
        elif order == "F" or self._f_contiguous:
            strides = layout.f_strides(shape, dtype.itemsize)
        else:
            strides = layout.keep_order_strides(shape, self.strides, dtype.itemsize)
        new: Self = self._new(shape, dtype, strides, queue)
        flags = new._c_contiguous and self._c_contiguous, new._f_contiguous and self._f_contiguous
        if any(flags):
            queue = self._queue(queue)
            event = self.backend.copy(
                queue,
                new.base_data,
                0,
                self.base_data,
                self.offset,
                self.size * dtype.itemsize,
                wait_for=self.backend.wait_list(queue, [self]),
            )
            self.backend.note_event(queue, event, [new], [self])
        else:
            new._copy_from(self, queue)
        return new

    def _dense(self) -> Any:
        """Return this array, or a copy in C order if it has gaps."""
        return self if self._c_contiguous or self._f_contiguous else self._copy(order="C")

    # ---- to the host and back

    def _get(
        self, ary: np.ndarray | None, queue: Any, blocking: bool, call: str = "get"
    ) -> tuple[NDArray[_ScalarT_co], Any]:
        """Copy to the host: into *ary* with the same dtype and size (and shape, except for old
        programs) or into a new array. Returns it and the event."""
        source = self._dense()
        shape, dtype = self.shape, self.dtype
        order: Any = "C" if source._c_contiguous else "F"
        if ary is None:
            ary = np.empty(shape, dtype, order)
            host = ary
        else:
            if not isinstance(ary, np.ndarray):
                raise TypeError(f"{call}: 'ary' must be a NumPy array, not {type(ary).__name__}")
            if ary.dtype != dtype:
                raise TypeError(
                    f"{call}: 'ary' has non-matching type: {ary.dtype}, and the array has {dtype}"
                )
            if ary.size != self.size:
                raise ValueError(f"{call}: 'ary' has non-matching size: {ary.shape} for {shape}")
            fits = ary.flags.c_contiguous if order == "C" else ary.flags.f_contiguous
            host = ary if fits and ary.shape == shape else np.empty(shape, dtype, order)
        queue = source._queue(queue)
        waits = blocking or host is not ary
        with progress.copying(host.nbytes, "to the host", waits):
            event = self.backend.to_host(
                queue,
                host,
                source.base_data,
                source.offset,
                blocking=waits,
                wait_for=self.backend.wait_list(queue, [source]),
            )
        if host is not ary:
            ary[...] = host.reshape(ary.shape)
        if not blocking:
            self.backend.note_event(queue, event, [], [self])
        return ary, event

    def _set(self, ary: np.ndarray, queue: Any, blocking: bool, call: str = "set") -> Any:
        """Copy from a host array with the same dtype and size. Returns the event."""
        ary = np.asarray(ary)
        self._check_like(ary, call)
        layout.check_writable(self, call)
        if self.size == 0:
            return None
        if not (self._c_contiguous or self._f_contiguous):
            return self._copy_from(self._from_host(ary.reshape(self.shape)), queue)
        host = ary.reshape(self.shape)
        fits = host.flags.c_contiguous if self._c_contiguous else host.flags.f_contiguous
        if not fits:
            host = np.array(host, order="C" if self._c_contiguous else "F")
        queue = self._queue(queue)
        with progress.copying(host.nbytes, "to the device", blocking):
            event = self.backend.to_device(
                queue,
                self.base_data,
                self.offset,
                host,
                blocking=blocking,
                wait_for=self.backend.wait_list(queue, [self]),
            )
        self.backend.note_event(queue, event, [self], [])
        return event

    def _check_like(self, ary: Any, call: str) -> None:
        """Raise ValueError unless an array has this one's size and dtype."""
        if ary.size != self.size:
            raise ValueError(f"{call}: 'ary' has non-matching size: {ary.shape} for {self.shape}")
        if ary.dtype != self.dtype:
            raise ValueError(
                f"{call}: 'ary' has non-matching dtype: {ary.dtype}, and the array has {self.dtype}"
            )
