"""Tools for CUDA kernels: default context, caches by context, occupancy, C types, pools.

Everything here has the same name in ``pycuda.tools``. The pools are C types of pygpu.cuda.driver.
"""

from __future__ import annotations

import functools
import numbers
import os
import warnings
from collections.abc import Callable, Hashable, Iterator
from typing import Any, ParamSpec, TypeVar

from pygpu import _cuda
from pygpu._cuda import (
    DeviceMemoryPool,
    PageLockedAllocator,
    PageLockedMemoryPool,
    bitlog2,
)
from pygpu._src.runtime.cuda.c_types import (
    Argument,
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)
from pygpu._src.runtime.cuda.pools import DebugMemoryPool
from pygpu._src.util.memoize import FirstArgCache
from pygpu._src.util.public import publish
from pygpu.errors import Error

__all__ = [
    "Argument",
    "DebugMemoryPool",
    "DeviceData",
    "DeviceMemoryPool",
    "OccupancyRecord",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "ScalarArg",
    "VectorArg",
    "bitlog2",
    "clear_context_caches",
    "context_dependent_memoize",
    "context_dependent_memoized_functions",
    "dtype_to_ctype",
    "get_arg_type",
    "get_default_device",
    "get_or_register_dtype",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
    "parse_c_arg",
    "register_dtype",
]

P = ParamSpec("P")
ResultT = TypeVar("ResultT")


# ---- device and context -------------------------------------------------------------------------


def _chosen_device() -> int | None:
    """Return the number of the device that the user chose, or None."""
    from pygpu._src.drivers.cuda_loader import default_device

    if os.environ.get("CUDA_DEVICE", "").strip():
        return default_device()
    if os.path.exists(os.path.join(os.path.expanduser("~"), ".cuda_device")):
        return default_device()
    return None


def get_default_device(default: int = 0) -> _cuda.Device:
    """The device that CUDA_DEVICE or ~/.cuda_device names. Deprecated: see make_default_context."""
    warnings.warn(
        "get_default_device() is deprecated; use make_default_context() instead",
        DeprecationWarning,
        stacklevel=2,
    )
    chosen = _chosen_device()
    return _cuda.Device(default if chosen is None else chosen)


def make_default_context(
    ctx_maker: Callable[[_cuda.Device], _cuda.Context] | None = None,
) -> _cuda.Context:
    """A new context on the device of CUDA_DEVICE or ~/.cuda_device, or on the first that works.

    ctx_maker creates it, by default Device.make_context. Raises RuntimeError if all fail.
    """
    if ctx_maker is None:
        ctx_maker = _cuda.Device.make_context
    count = _cuda.Device.count()
    if count == 0:
        raise RuntimeError("No CUDA enabled device found. Please check your installation.")
    chosen = _chosen_device()
    if chosen is not None:
        return ctx_maker(_cuda.Device(chosen))
    failures = []
    for number in range(count):
        try:
            return ctx_maker(_cuda.Device(number))
        except Error as error:
            failures.append(f"device {number}: {error}")
    raise RuntimeError(
        f"make_default_context() wasn't able to create a context on any of the {count} detected "
        f"devices: {'; '.join(failures)}"
    )


# ---- results kept by context ---------------------------------------------------------------------

context_dependent_memoized_functions: list[Any] = []


def context_dependent_memoize(function: Callable[P, ResultT]) -> Callable[P, ResultT]:
    """Cache the function's results for each current context, as long as it lives or until
    clear_context_caches().

    Arguments must be hashable.
    """
    results = FirstArgCache()
    function._pycuda_ctx_dep_memoize_dic = results  # type: ignore[attr-defined]
    context_dependent_memoized_functions.append(function)

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> ResultT:
        key: Hashable = (args, frozenset(kwargs.items())) if kwargs else args
        context = _cuda.Context.get_current()
        return results.get(context, key, lambda: function(*args, **kwargs))

    return wrapper


def clear_context_caches() -> None:
    """Empty the caches of functions with context_dependent_memoize."""
    for function in context_dependent_memoized_functions:
        function._pycuda_ctx_dep_memoize_dic.clear()


# ---- occupancy ----------------------------------------------------------------------------------


def _round_up(value: float, multiple_of: int = 1) -> int:
    return int(-(-value // multiple_of)) * multiple_of


class DeviceData:
    """The limits on how many blocks a multiprocessor of the device runs at once.

    dev: by default the current context's device.
    """

    def __init__(self, dev: _cuda.Device | None = None) -> None:
        if dev is None:
            dev = _cuda.Context.get_device()
        if not hasattr(dev, "get_attribute"):
            raise TypeError(f"DeviceData: dev must be a Device, not {type(dev).__name__}")
        from pygpu._src.runtime.cuda.enums import device_attribute as attribute

        get = dev.get_attribute
        self.max_threads: int = get(attribute.MAX_THREADS_PER_BLOCK)
        self.warp_size: int = get(attribute.WARP_SIZE)
        self.warps_per_mp: int = max(
            1, get(attribute.MAX_THREADS_PER_MULTIPROCESSOR) // self.warp_size
        )
        self.thread_blocks_per_mp: int = get(attribute.MAX_BLOCKS_PER_MULTIPROCESSOR) or 8
        self.registers: int = get(attribute.MAX_REGISTERS_PER_BLOCK)
        self.shared_memory: int = get(attribute.MAX_SHARED_MEMORY_PER_BLOCK)
        self.smem_alloc_granularity = 128
        self.smem_granularity = 32
        self.register_allocation_unit = "warp"

    def align(self, bytes: int, word_size: int = 4) -> int:
        """Round bytes up so that rows of that size can be read at full speed."""
        return _round_up(bytes, self.align_bytes(word_size))

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """Round a number of elements up in the same way."""
        return _round_up(elements, self.align_words(dtype_size))

    def align_words(self, word_size: int) -> int:
        """The alignment for words of this size [words]."""
        return self.align_bytes(word_size) // word_size

    def align_bytes(self, word_size: int = 4) -> int:
        """The alignment for words of 4, 8 or 16 bytes [bytes]."""
        if word_size == 4:
            return 64
        if word_size in (8, 16):
            return 128
        raise ValueError(f"no alignment possible for fetches of size {word_size}")

    def coalesce(self, thread_count: int) -> int:
        """A number of threads rounded up to half a warp."""
        return _round_up(thread_count, 16)

    def __repr__(self) -> str:
        return (
            f"<pygpu.cuda.tools.DeviceData max_threads={self.max_threads}, "
            f"warps_per_mp={self.warps_per_mp}, registers={self.registers}, "
            f"shared_memory={self.shared_memory}>"
        )

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """The next number of channels that a texture can have: 1, 2 or 4."""
        for valid in (1, 2, 4):
            if size <= valid:
                return valid
        raise ValueError("could not enlarge argument to valid channel count")


class OccupancyRecord:
    """How many blocks of a size a multiprocessor runs at once, and what limits it.

    threads, shared_mem [bytes] per block, registers per thread. Attributes: tb_per_mp (blocks),
    limited_by ("device", "warps", "regs" or "smem"), warps_per_mp, occupancy (0 to 1). An
    estimate; Function.max_active_blocks() asks the driver.
    """

    tb_per_mp: int
    limited_by: str

    def __init__(
        self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0
    ) -> None:
        if not hasattr(devdata, "max_threads"):
            kind = type(devdata).__name__
            raise TypeError(f"OccupancyRecord: devdata must be a DeviceData, not {kind}")
        sizes = {"threads": threads, "shared_mem": shared_mem, "registers": registers}
        for name, value in sizes.items():
            if not isinstance(value, numbers.Real):
                kind = type(value).__name__
                raise TypeError(f"OccupancyRecord: {name} must be a number, not {kind}")
            if value < (least := int(name == "threads")):
                raise ValueError(f"OccupancyRecord: {name} must be at least {least}, not {value}")
        if threads > devdata.max_threads:
            raise ValueError("too many threads")
        warps = _round_up(threads / devdata.warp_size)
        memory = _round_up(shared_mem, devdata.smem_alloc_granularity)
        all_registers = warps * 32 * registers
        if all_registers > devdata.registers:
            raise ValueError("too many registers")
        if memory > devdata.shared_memory:
            raise ValueError("too much smem")
        self.tb_per_mp_limits: list[tuple[int, str]] = [
            (devdata.thread_blocks_per_mp, "device"),
            (devdata.warps_per_mp // max(warps, 1), "warps"),
        ]
        if registers > 0:
            self.tb_per_mp_limits.append((devdata.registers // max(all_registers, 1), "regs"))
        if shared_mem > 0:
            self.tb_per_mp_limits.append((devdata.shared_memory // memory, "smem"))
        self.tb_per_mp, self.limited_by = min(self.tb_per_mp_limits)
        self.warps_per_mp: int = self.tb_per_mp * warps
        self.occupancy: float = self.warps_per_mp / devdata.warps_per_mp

    def __repr__(self) -> str:
        return (
            f"<pygpu.cuda.tools.OccupancyRecord tb_per_mp={self.tb_per_mp}, "
            f"limited_by={self.limited_by!r}, occupancy={self.occupancy:.3g}>"
        )


# ---- tests --------------------------------------------------------------------------------------


def mark_cuda_test(inner_f: Callable[..., Any]) -> Callable[..., None]:
    """Decorate a test function to run in its own context."""

    def test(*args: Any, **kwargs: Any) -> None:
        fixture = init_cuda_context_fixture()
        next(fixture)
        try:
            inner_f(*args, **kwargs)
        finally:
            next(fixture, None)

    test.__name__ = getattr(inner_f, "__name__", "test")
    test.__doc__ = inner_f.__doc__
    return test


def init_cuda_context_fixture() -> Iterator[None]:
    """For a pytest fixture: a context for the duration of a test."""
    import gc

    _cuda.init()
    context = make_default_context()
    try:
        yield
    finally:
        gc.collect()
        if context.is_alive and _cuda.Context.get_current() == context:
            _cuda.Context.pop()
        clear_context_caches()
        gc.collect()


publish(globals(), __all__, "pygpu.cuda.tools")
