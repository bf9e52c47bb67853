"""The protocol of a backend: what arrays and generated kernels ask of a device.

A backend stands for one device in one OpenCL context, or for one CUDA context. It is made once and
kept with the context; backends.backend_of() finds it from a queue, stream, context or array. Sizes
and offsets are bytes unless a name says otherwise; a *memory* is whatever the backend's allocator
gives (a Buffer, a DeviceAllocation, ...), a *queue* a CommandQueue, or a Stream, or None for CUDA's
default stream.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pygpu._src.util.frozen import Frozen

if TYPE_CHECKING:
    import numpy as np

    from pygpu._src.codegen.dialect import Dialect

__all__ = ["Backend", "Compiled", "Limits", "call_allocator"]


class Limits(Frozen):
    """The abilities of a device, as far as generated kernels depend on them.

    group_size: work-items of a work-group (threads of a block) at most. local_bytes: local (shared)
    memory of a group. units: compute units (multiprocessors). warp: work-items that run in step, 1
    on a CPU. fp64, fp16: arithmetic in double and half (float16 arrays need neither: they are
    computed in float). int64_atomics: 64-bit atomic functions. is_cpu: an OpenCL device that is a
    CPU, where a work-item should do a stretch of consecutive items; the CUDA simulator counts as a
    GPU. align: of memory that an allocator gives [bytes]. warps: there is what
    codegen/prelude/warp.py has.
    """

    group_size: int
    local_bytes: int
    units: int
    warp: int
    fp64: bool
    fp16: bool
    int64_atomics: bool
    is_cpu: bool
    align: int
    warps: bool = False


class Compiled(ABC):
    """A compiled source. from_cache: whether it is known to come from the disk cache."""

    from_cache: bool = False

    @abstractmethod
    def kernel(self, name: str) -> Any:
        """The kernel of this name: a pygpu.Kernel or a pygpu.cuda.driver.Function."""


def differ(call: str, first: Backend, second: Backend) -> ValueError:
    """The error of a call that was given arrays of both."""
    here, other = (getattr(b, "label", repr(b)) for b in (first, second))
    where, there = f"{here} and {other}", f"{other!r}"
    if here == other:
        where, there = f"two contexts of {here}", "other.device"
    return ValueError(
        f"{call}: the arrays are on different devices or in different contexts ({where}); copy one "
        f"with .to({there})"
    )


def call_allocator(allocator: Any, nbytes: int) -> Any:
    """Memory of a user's allocator."""
    if not callable(allocator):
        raise TypeError(
            "allocator must be callable with a number of bytes, such as a MemoryPool, not "
            f"{type(allocator).__name__}"
        )
    return allocator(nbytes)


class Backend(ABC):
    """One device in one context. Equal only to itself."""

    name: str  # "opencl" or "cuda"
    context: Any
    device: Any
    limits: Limits
    dialect: Dialect
    kernels: dict[Any, Any]  # what kernel_cache.get() keeps
    compiling: dict[Any, Any]  # threads that kernel_cache.start() began, by the kernels' keys
    pool: Any  # the default allocator's memory pool
    table: Any  # the KernelTable of what operators launch without asking Python
    transforms: bool = True  # False: the driver miscompiles the kernels of Fourier transforms
    kept: weakref.WeakKeyDictionary[Any, Any]
    """Kernels of objects that outlive contexts (an ElementwiseKernel, a Python function), by object
    and for its life. Such an object refers neither to the kernels nor to the backend, except
    weakly, or it would keep the context; and nothing in here refers to the object."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The device by number, as pygpu.xp.as_device() takes it: "cuda:1", "opencl:0:0"."""

    def kept_for(self, owner: Any) -> dict[Any, Any]:
        """The dict of things kept for an object, empty at first."""
        found: dict[Any, Any] | None = self.kept.get(owner)
        return self.kept.setdefault(owner, {}) if found is None else found

    # ---- memory

    @abstractmethod
    def allocate(
        self, nbytes: int, allocator: Callable[[int], Any] | None = None, queue: Any = None
    ) -> Any:
        """Memory of *nbytes* (0 allowed), from *allocator* or the backend's pool.

        The pool knows which queues use its blocks: memory may be dropped while work that uses it is
        queued, and what gets the block next comes after that work. Raises pygpu.MemoryError.
        """

    @abstractmethod
    def check_room(self, name: str, data: Any, low: int, high: int) -> None:
        """Raises ValueError if the memory *data*, which messages call *name*, is known to have no
        bytes from *low* to *high*; TypeError if it is not memory at all."""

    @abstractmethod
    def to_device(
        self,
        queue: Any,
        dest: Any,
        offset: int,
        array: np.ndarray,
        *,
        blocking: bool = True,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Copy the bytes of a contiguous (C or Fortran) host array to *dest* + offset. Returns an
        event, None where the backend has none. Not blocking: the array is kept until then."""

    @abstractmethod
    def to_host(
        self,
        queue: Any,
        array: np.ndarray,
        src: Any,
        offset: int,
        *,
        blocking: bool = True,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Copy bytes from *src* + offset to fill a contiguous, writable host array."""

    @abstractmethod
    def copy(
        self,
        queue: Any,
        dest: Any,
        dest_offset: int,
        src: Any,
        src_offset: int,
        nbytes: int,
        *,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Copy bytes on the device. The two ranges must not overlap."""

    @abstractmethod
    def fill(
        self,
        queue: Any,
        dest: Any,
        offset: int,
        nbytes: int,
        byte: int = 0,
        *,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Set *nbytes* bytes to *byte*."""

    # ---- kernels

    @abstractmethod
    def compile(self, source: str, options: Sequence[str] = ()) -> Compiled:
        """Compile a text in the common language (see dialect.py) or the backend's own, without
        adding
        anything to it; the binary is cached on disk. Raises pygpu.RuntimeError or CompileError with
        the compiler's log."""

    @abstractmethod
    def launch(
        self,
        kernel: Any,
        queue: Any,
        groups: int | tuple[int, ...],
        group_size: int | tuple[int, ...],
        args: Sequence[Any],
        *,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Launch *groups* work-groups of *group_size* work-items each; up to three dimensions, the
        first one varies fastest. Nothing happens if a number of groups is 0.

        Arguments are memories, numbers (converted to the parameter's type and checked; complex ones
        as NumPy numbers) and NumPy numbers; an array of the common language is two arguments, see
        :meth:`arguments`. Returns an event, or None for CUDA. Local memory is declared inside the
        kernel, of constant size.
        """

    @staticmethod
    def arguments(array: Any) -> tuple[Any, int]:
        """An array as arguments of a kernel whose parameter was declared by PG_ARRAY."""
        return array.base_data, array.offset

    # ---- order

    @abstractmethod
    def synchronize(self, queue: Any) -> None:
        """Wait until all work of the queue is done. Raises what the work did wrong."""

    @abstractmethod
    def event(self, queue: Any, wait_for: Sequence[Any] | None = None) -> Any:
        """An event that is complete when all work so far on the queue is (and *wait_for* too)."""

    @abstractmethod
    def order(self, queue: Any, other: Any) -> Any:
        """Let work that is queued on *queue* from now on come after what is on the queue *other*
        now, on the device. Returns an event to wait for, or None if none is needed."""

    @abstractmethod
    def is_ordered(self, queue: Any) -> bool:
        """Whether commands of the queue run in the order in which they were given."""
