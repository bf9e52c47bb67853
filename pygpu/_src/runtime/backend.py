"""The backend protocol: what arrays and generated kernels need from a device.

A backend represents one device in one OpenCL context, or one CUDA context. It is made once and
stored with the context; backends.backend_of() finds it from a queue, stream, context or array.
Sizes and offsets are in bytes unless a name says otherwise. A *memory* is what the backend's
allocator returns (a Buffer, a DeviceAllocation, ...). A *queue* is a CommandQueue, a Stream, or
None for CUDA's default stream.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pygpu._src.util.frozen import Frozen

if TYPE_CHECKING:
    import numpy as np

    from pygpu._src.codegen.dialect import Dialect


class Limits(Frozen):
    """The properties of a device on which generated kernels depend.

    group_size: the most work-items per work-group (threads per block). local_bytes: local (shared)
    memory per group. units: compute units (multiprocessors). warp: work-items that run in
    lockstep, 1 on a CPU. fp64, fp16: arithmetic in double and half (float16 arrays need neither:
    they are computed in float). int64_atomics: 64-bit atomic functions. is_cpu: an OpenCL device
    that is a CPU, where a work-item should process consecutive items; the CUDA simulator counts as
    a GPU. align: alignment of allocated memory [bytes]. warps: whether codegen/prelude/warp.py's
    functions are available. share: how many items are worth another work-item of a CPU.
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
    share: int = 1 << 15


class Compiled(ABC):
    """A compiled source. from_cache: whether it is known to come from the disk cache."""

    from_cache: bool = False

    @abstractmethod
    def kernel(self, name: str) -> Any:
        """Return the kernel with this name: a pygpu.Kernel or a pygpu.cuda.driver.Function."""


def differ(call: str, first: Backend, second: Backend) -> ValueError:
    """Make the error of a call that got arrays of two backends."""
    here, other = (getattr(b, "label", repr(b)) for b in (first, second))
    where, there = f"{here} and {other}", f"{other!r}"
    if here == other:
        where, there = f"two contexts of {here}", "other.device"
    return ValueError(
        f"{call}: the arrays are on different devices or in different contexts ({where}); copy one "
        f"with .to({there})"
    )


def call_allocator(allocator: Any, nbytes: int) -> Any:
    """Get memory from a user's allocator."""
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
    kernels: dict[Any, Any]  # the cache of kernel_cache.get()
    compiling: dict[Any, Any]  # threads started by kernel_cache.start(), by the kernels' keys
    pool: Any  # the default allocator's memory pool
    table: Any  # the KernelTable from which operators launch without running Python code
    transforms: bool = True  # False: the driver miscompiles the kernels of Fourier transforms
    rejection: bool = True  # False: it miscompiles loops that draw until a number is accepted
    caches: weakref.WeakKeyDictionary[Any, Any]
    """Kernels of objects that outlive contexts (an ElementwiseKernel, a Python function), by
    object, as long as it exists. To let the context be freed, such an object may refer to the
    kernels and the backend only weakly; and nothing stored here may refer to the object."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Return the device as pygpu.xp.as_device() accepts it: "cuda:1", "opencl:0:0"."""

    def cache_for(self, owner: Any) -> dict[Any, Any]:
        """Return the dict of data kept for an object, empty at first."""
        found: dict[Any, Any] | None = self.caches.get(owner)
        return self.caches.setdefault(owner, {}) if found is None else found

    # ---- memory

    @abstractmethod
    def allocate(
        self, nbytes: int, allocator: Callable[[int], Any] | None = None, queue: Any = None
    ) -> Any:
        """Return memory of *nbytes* (0 allowed), from *allocator* or the backend's pool.

        The pool knows which queues use its blocks: memory may be dropped while queued work still
        uses it, and later users of the block are ordered after that work. Raises
        pygpu.MemoryError.
        """

    @abstractmethod
    def check_room(self, name: str, data: Any, low: int, high: int) -> None:
        """Raises ValueError if the memory *data*, called *name* in messages, is known not to
        contain the bytes from *low* to *high*; TypeError if it is not memory at all."""

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
        event, or None for a backend without events. If not blocking, the array is kept alive until
        the copy is done."""

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

    def host_flags(self) -> tuple[Any, np.ndarray] | None:
        """Return (memory, array) of two int64 zeros on the host that kernels can write, to be read
        after wait(); None if the device cannot do that."""
        return None

    # ---- kernels

    @abstractmethod
    def compile(self, source: str, options: Sequence[str] = (), searched: bool = False) -> Compiled:
        """Compile a source in the common language (see dialect.py) or the backend's own language,
        without adding anything to it; the binary is cached on disk. searched: find() found nothing.
        Raises pygpu.RuntimeError or CompileError with the compiler's log."""

    def find(self, source: str, options: Sequence[str]) -> Compiled | None:
        """Return what compile() would find in the cache on disk, None if it would compile."""
        return None

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
        """Launch *groups* work-groups of *group_size* work-items each, in up to three dimensions,
        of which the first varies fastest. Does nothing if a number of groups is 0.

        Arguments are memories, numbers (converted to the parameter's type and checked; complex
        ones as NumPy numbers) and NumPy numbers; an array of the common language is passed as two
        arguments, see :meth:`arguments`. Returns an event, or None for CUDA. Local memory is
        declared inside the kernel, with a constant size.
        """

    @staticmethod
    def arguments(array: Any) -> tuple[Any, int]:
        """Return an array as arguments for a parameter declared by PG_ARRAY."""
        return array.base_data, array.offset

    # ---- order

    @abstractmethod
    def synchronize(self, queue: Any) -> None:
        """Wait until all work of the queue is done. Raises the errors of that work."""

    def wait(self, queue: Any) -> None:
        """Wait for the commands on the queue, not on others of the context."""
        self.synchronize(queue)

    @abstractmethod
    def event(self, queue: Any, wait_for: Sequence[Any] | None = None) -> Any:
        """Return an event that is complete when all work so far on the queue is (and *wait_for*,
        too)."""

    @abstractmethod
    def order(self, queue: Any, other: Any) -> Any:
        """Make later work on *queue* run after the current work on the queue *other*, without
        waiting on the host. Returns an event to wait for, or None if none is needed."""

    @abstractmethod
    def is_ordered(self, queue: Any) -> bool:
        """Whether commands of the queue run in the order of submission."""

    @abstractmethod
    def wait_list(self, queue: Any, operands: Iterable[Any]) -> list[Any] | None:
        """Order the next command on *queue* after the commands that its operands (arrays and
        scratch memory) depend on. Returns the events that it must wait for; None if none, or if
        the queue itself waits."""

    @abstractmethod
    def note_event(
        self, queue: Any, event: Any, written: Iterable[Any], read: Iterable[Any]
    ) -> None:
        """Make later commands on the operands wait for the command of *event* (None if there is
        nothing to wait for), which was enqueued to *queue*."""
