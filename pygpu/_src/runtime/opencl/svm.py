"""Shared virtual memory: arrays that kernels and the host use at one address (OpenCL 2.0).

Coarse-grained memory (`csvm_empty`) is mapped before the host touches it and unmapped before a
device does; fine-grained memory (`fsvm_empty`) is used by both at will, only not at the same time.
Wrap such an array in `SVM` to give it to a kernel or a command. The memory is freed when the last
array over it has gone and the commands that use it are done.

Sizes are in bytes. Raises MemoryError if there is not enough memory, LogicError if no device of the
context has such memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from pygpu import _opencl
from pygpu._opencl import (
    SVM,
    SVMAllocation,
    SVMPointer,
    enqueue_svm_memfill,
    enqueue_svm_migrate_mem,
)
from pygpu._src.util.public import publish
from pygpu.errors import Error, _make_error

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from pygpu._opencl import Buffer, CommandQueue, Context, Event

__all__ = [
    "SVM",
    "SVMAllocation",
    "SVMMap",
    "SVMPointer",
    "copy_svm",
    "csvm_empty",
    "csvm_empty_like",
    "enqueue_svm_memfill",
    "enqueue_svm_migrate_mem",
    "enqueue_svm_migratemem",
    "fsvm_empty",
    "fsvm_empty_like",
    "svm_empty",
    "svm_empty_like",
]

_READ_WRITE = 1 << 0
_FINE_GRAIN = 1 << 10
_USE_HOST_PTR = 1 << 3

_Array = TypeVar("_Array")

enqueue_svm_migratemem = enqueue_svm_migrate_mem


class SVMMap(Generic[_Array]):
    """Shared memory while it is mapped for the host; returned by `SVMPointer.map`.

    As a context manager, it yields `array` and unmaps at the end. Dropping it also unmaps.

    svm: the mapped memory, None once released. array: the wrapped array of an `SVM`, otherwise one
    of bytes. queue: where it was mapped. event: that of the map command.
    """

    def __init__(self, svm: SVMPointer, array: _Array, queue: CommandQueue, event: Event) -> None:
        self.svm: SVMPointer | None = svm
        self.array = array
        self.queue = queue
        self.event = event

    def __repr__(self) -> str:
        return f"SVMMap(svm={self.svm!r}, queue={self.queue!r}, event={self.event!r})"

    def release(
        self, queue: CommandQueue | None = None, wait_for: Sequence[Event] | None = None
    ) -> Event:
        """Unmap: return the memory to the devices, with a command after *wait_for*.

        queue: by default that of the mapping. Raises LogicError if it was already released.
        """
        svm, self.svm = self.svm, None
        if svm is None:
            raise _make_error(
                "LogicError", "ValueError", "SVMMap.release", -30, "INVALID_VALUE",
                "the mapping was already released", "",
            )  # fmt: skip
        try:
            return _opencl._enqueue_svm_unmap(queue or self.queue, svm, wait_for)
        except BaseException:
            self.svm = svm  # still mapped
            raise

    def __enter__(self) -> _Array:
        return self.array

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.svm is not None:
            self.release()

    def __del__(self) -> None:
        if getattr(self, "svm", None) is not None:
            with contextlib.suppress(Error):  # nobody can receive the error
                self.release()


def _map(
    svm: SVMPointer,
    queue: CommandQueue,
    flags: int,
    is_blocking: bool,
    wait_for: Sequence[Event] | None,
    size: int | None,
) -> SVMMap[Any]:
    """Implements SVMPointer.map, map_ro and map_rw."""
    array = svm.mem if isinstance(svm, SVM) and size is None else svm.buf[:size]
    event = _opencl._enqueue_svm_map(queue, is_blocking, flags, svm, wait_for, size)
    return SVMMap(svm, array, queue, event)


def _as_buffer(svm: SVMPointer, ctx: Context, flags: int | None, size: int | None) -> Buffer:
    """Implements SVMPointer.as_buffer."""
    flags = (_READ_WRITE if flags is None else flags) | _USE_HOST_PTR
    return _opencl.Buffer(ctx, flags, svm.size if size is None else size, svm.buf)


def copy_svm(
    queue: CommandQueue,
    dest: Any,
    src: Any,
    *,
    is_blocking: bool = True,
    wait_for: Sequence[Event] | None = None,
    byte_count: int | None = None,
) -> Event:
    """Implement `enqueue_copy` between shared memory and shared or host memory.

    dest, src: SVMPointer or contiguous host memory, one of them shared; of equal sizes unless
    *byte_count* is given. Host memory is kept alive until the copy is done. Raises LogicError if
    the ranges do not fit or overlap.
    """
    return _opencl._enqueue_svm_memcpy(queue, is_blocking, dest, src, wait_for, byte_count)


def svm_empty(
    ctx: Context,
    flags: int,
    shape: int | Sequence[int],
    dtype: DTypeLike,
    order: str = "C",
    alignment: int | None = None,
    queue: CommandQueue | None = None,
) -> NDArray[Any]:
    """Return an uninitialized array in shared memory; its `base` is the SVMAllocation.

    flags: svm_mem_flags. order: "C" or "F". alignment: bytes, a power of two; by default enough
    for any OpenCL type. queue: the queue that the allocation is bound to.
    """
    return _opencl._svm_empty(ctx, flags, shape, dtype, order, alignment, queue)


def svm_empty_like(
    ctx: Context, flags: int, ary: NDArray[Any], alignment: int | None = None
) -> NDArray[Any]:
    """`svm_empty` with the shape, dtype and order of *ary*, which must be contiguous."""
    ary = np.asarray(ary)
    if ary.flags.c_contiguous:
        order = "C"
    elif ary.flags.f_contiguous:
        order = "F"
    else:
        raise ValueError("svm_empty_like: ary is neither C- nor Fortran-contiguous")
    return svm_empty(ctx, flags, ary.shape, ary.dtype, order, alignment)


def csvm_empty(
    ctx: Context,
    shape: int | Sequence[int],
    dtype: DTypeLike,
    order: str = "C",
    alignment: int | None = None,
    queue: CommandQueue | None = None,
) -> NDArray[Any]:
    """`svm_empty` for coarse-grained memory: the host maps it before use."""
    return svm_empty(ctx, _READ_WRITE, shape, dtype, order, alignment, queue)


def csvm_empty_like(ctx: Context, ary: NDArray[Any], alignment: int | None = None) -> NDArray[Any]:
    """`svm_empty_like` for coarse-grained memory."""
    return svm_empty_like(ctx, _READ_WRITE, ary, alignment)


def fsvm_empty(
    ctx: Context,
    shape: int | Sequence[int],
    dtype: DTypeLike,
    order: str = "C",
    alignment: int | None = None,
    queue: CommandQueue | None = None,
) -> NDArray[Any]:
    """`svm_empty` for fine-grained memory: the host needs no mapping, only ordering with the
    device."""
    return svm_empty(ctx, _READ_WRITE | _FINE_GRAIN, shape, dtype, order, alignment, queue)


def fsvm_empty_like(ctx: Context, ary: NDArray[Any], alignment: int | None = None) -> NDArray[Any]:
    """`svm_empty_like` for fine-grained memory."""
    return svm_empty_like(ctx, _READ_WRITE | _FINE_GRAIN, ary, alignment)


publish(
    globals(),
    [
        "SVMMap",
        "csvm_empty",
        "csvm_empty_like",
        "fsvm_empty",
        "fsvm_empty_like",
        "svm_empty",
        "svm_empty_like",
    ],
    "pygpu",
)
