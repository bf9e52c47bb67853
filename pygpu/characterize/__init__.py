"""The abilities of a device, where OpenCL's own queries do not say them directly.

Questions of three kinds: features (``has_double_support``, ``has_coarse_grain_buffer_svm``),
sizes that good kernels are shaped by (``get_simd_group_size``,
``reasonable_work_group_size_multiple``), and known defects (``has_struct_arg_count_bug``). If the
answer is a guess, a :class:`CLCharacterizationWarning` says so.
:mod:`pygpu.characterize.performance` measures rates.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pygpu._src.util.memoize import FirstArgCache

if TYPE_CHECKING:
    import pygpu as cl

__all__ = [
    "CLCharacterizationWarning",
    "get_fast_inaccurate_build_options",
    "get_pocl_version",
    "get_simd_group_size",
    "has_amd_double_support",
    "has_coarse_grain_buffer_svm",
    "has_double_support",
    "has_fine_grain_buffer_svm",
    "has_fine_grain_buffer_svm_atomics",
    "has_fine_grain_system_svm",
    "has_fine_grain_system_svm_atomics",
    "has_src_build_cache",
    "has_struct_arg_count_bug",
    "local_memory_access_granularity",
    "local_memory_bank_count",
    "nv_compute_capability",
    "reasonable_work_group_size_multiple",
    "simultaneous_work_items_on_local_access",
    "usable_local_mem_size",
    "why_not_local_access_conflict_free",
]

_POCL = "Portable Computing Language"
_measured = FirstArgCache()
_F = TypeVar("_F", bound=Callable[..., Any])


class CLCharacterizationWarning(UserWarning):
    """An answer of this module is a guess."""


def _of_a_device(function: _F) -> _F:
    """Have a function refuse anything but a device; otherwise it would find no property and say
    no."""

    @functools.wraps(function)
    def ask(dev: Any, *args: Any, **options: Any) -> Any:
        if not hasattr(dev, "platform"):
            raise TypeError(f"{function.__name__}: dev must be a Device, not {type(dev).__name__}")
        return function(dev, *args, **options)

    return ask  # type: ignore[return-value]


def _guess(what: str, dev: cl.Device) -> None:
    warnings.warn(
        f"{what} of {dev!r} is not known, this is a guess", CLCharacterizationWarning, stacklevel=4
    )


def _query(dev: cl.Device, name: str) -> Any:
    """A device property that the driver may not know: None then."""
    import pygpu as cl

    try:
        return getattr(dev, name)
    except (AttributeError, cl.Error):
        return None


def _is_type(dev: cl.Device, name: str) -> bool:
    import pygpu as cl

    return bool(dev.type & getattr(cl.device_type, name))


# --- number formats


@_of_a_device
def has_double_support(dev: cl.Device) -> bool:
    """Whether kernels on *dev* may use ``double``."""
    return bool(_query(dev, "double_fp_config")) or "cl_khr_fp64" in dev.extensions.split()


@_of_a_device
def has_amd_double_support(dev: cl.Device) -> bool:
    """Whether *dev* has AMD's older, incomplete ``double`` (the extension cl_amd_fp64)."""
    return "cl_amd_fp64" in dev.extensions.split()


# --- how work is grouped


@_of_a_device
def nv_compute_capability(dev: cl.Device) -> tuple[int, int] | None:
    """An NVIDIA device's compute capability (major, minor); None for other devices."""
    major = _query(dev, "compute_capability_major_nv")
    minor = _query(dev, "compute_capability_minor_nv")
    return None if major is None or minor is None else (major, minor)


@_of_a_device
def reasonable_work_group_size_multiple(dev: cl.Device, ctx: cl.Context | None = None) -> int:
    """The number of work-items that a work-group's size should be a multiple of.

    ctx: where a small kernel is built to ask for it; None makes a context.
    """
    import pygpu as cl

    warp = _query(dev, "warp_size_nv")
    if warp:
        return int(warp)

    def ask() -> int:
        context = cl.Context([dev]) if ctx is None else ctx
        source = "__kernel void put(__global float *x) { x[get_global_id(0)] = 0; }"
        kernel = cl.Program(context, source).build(devices=[dev]).put
        key = cl.kernel_work_group_info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE
        return int(kernel.get_work_group_info(key, dev))

    return _measured.get(dev, "multiple", ask)


@_of_a_device
def get_simd_group_size(dev: cl.Device, type_size: int) -> int | None:
    """How many work-items run in lockstep: NVIDIA's warp, AMD's wavefront, 1 on a CPU; None if
    not known.

    type_size: bytes of the vector entries worked on; it makes no difference with any driver known
    today.
    """
    warp = _query(dev, "warp_size_nv")
    if warp:
        return int(warp)
    vendors = f"{dev.vendor} {dev.platform.vendor}".lower()
    if "nvidia" in vendors:
        return 32
    if _is_type(dev, "CPU"):
        return 1  # compilers for CPUs turn work-items into a loop; none relies on lockstep
    if re.search(r"\badvanced micro|\bamd\b|\bati\b", vendors):
        # 64 on most, 32 on some: the driver's preferred multiple is the only reliable source.
        return int(_query(dev, "wavefront_width_amd") or reasonable_work_group_size_multiple(dev))
    return None


# --- local memory


@_of_a_device
def usable_local_mem_size(dev: cl.Device, nargs: int | None = None) -> int:
    """Bytes of local memory that a kernel can use.

    nargs: the kernel's number of 32-bit arguments, which the first NVIDIA chips (compute
    capability 1.x) keep in local memory; None assumes as many as they allow.
    """
    size = int(dev.local_mem_size)
    capability = nv_compute_capability(dev)
    if capability is not None and capability < (2, 0):
        size -= 256 if nargs is None else 4 * nargs
    return size


@_of_a_device
def simultaneous_work_items_on_local_access(dev: cl.Device) -> int:
    """How many work-items access local memory at once and so may hit the same bank."""
    capability = nv_compute_capability(dev)
    if capability is not None:
        return 16 if capability < (2, 0) else 32
    if _is_type(dev, "CPU"):
        return 1
    _guess("The number of work-items that access local memory together", dev)
    return 16


@_of_a_device
def local_memory_access_granularity(dev: cl.Device) -> int:
    """Bytes that one bank of local memory serves at a time."""
    return 4


@_of_a_device
def local_memory_bank_count(dev: cl.Device) -> int:
    """Banks of local memory. Raises RuntimeError on a CPU whose local memory is ordinary memory."""
    import pygpu as cl

    capability = nv_compute_capability(dev)
    if capability is not None:
        return 16 if capability < (2, 0) else 32
    if _is_type(dev, "CPU") and dev.local_mem_type == cl.device_local_mem_type.GLOBAL:
        raise RuntimeError(
            f"device '{dev.name}' keeps local memory in cached global memory, which has no banks"
        )
    _guess("The number of local memory banks", dev)
    return 16


@_of_a_device
def why_not_local_access_conflict_free(
    dev: cl.Device,
    itemsize: int,
    array_shape: Sequence[int],
    array_stored_shape: Sequence[int] | None = None,
) -> tuple[int, str | None]:
    """Find bank conflicts when neighbouring work-items read neighbouring entries of an array in
    local memory.

    itemsize: bytes of one entry.
    array_shape: the entries that are accessed, in C order (the last axis moves fastest).
    array_stored_shape: the shape that is stored, with its padding; None means *array_shape*.
    Returns (multiplicity, explanation): how many work-items share a bank in the worst case over
    the axes that work-items may run along, and which ones; (1, None) if none do.
    """
    stored = array_shape if array_stored_shape is None else array_stored_shape
    if len(stored) != len(array_shape):
        raise ValueError(
            f"why_not_local_access_conflict_free: array_shape {tuple(array_shape)} and "
            f"array_stored_shape {tuple(stored)} have different numbers of axes"
        )
    granularity = local_memory_access_granularity(dev)
    if itemsize != granularity:
        warnings.warn(
            f"bank conflicts are only modelled for entries of {granularity} bytes, not {itemsize}",
            CLCharacterizationWarning,
            stacklevel=2,
        )
    together = simultaneous_work_items_on_local_access(dev)
    banks = local_memory_bank_count(dev)

    sizes = list(array_shape)[::-1]
    strides = [itemsize]
    for extent in list(stored)[:0:-1]:
        strides.append(strides[-1] * extent)

    worst: tuple[int, str | None] = (1, None)
    for first_axis in range(len(sizes)):
        users: dict[int, list[str]] = {}
        for item in range(together):
            index, rest = [0] * len(sizes), item
            for axis in range(first_axis, len(sizes)):
                rest, index[axis] = divmod(rest, sizes[axis])
            if rest:
                continue  # past the end of the array: such an item accesses nothing
            address = sum(i * stride for i, stride in zip(index, strides, strict=True))
            users.setdefault(address // granularity % banks, []).append(f"{item} -> {index[::-1]}")
        bank, crowd = max(users.items(), key=lambda entry: len(entry[1]), default=(0, []))
        if len(crowd) > worst[0]:
            worst = (
                len(crowd),
                f"{len(crowd)}x conflict on axis {first_axis} (from right, 0-based): "
                f"work-items {', '.join(crowd)} access bank {bank}",
            )
    return worst


# --- compilers and drivers


@_of_a_device
def get_fast_inaccurate_build_options(dev: cl.Device) -> list[str]:
    """Build options that *dev* accepts and that trade floating-point accuracy for speed."""
    options = ["-cl-mad-enable", "-cl-fast-relaxed-math", "-cl-no-signed-zeros"]
    if dev.vendor.startswith(("Advanced Micro", "NVIDIA")):
        options.append("-cl-strict-aliasing")
    return options


def get_pocl_version(
    platform: cl.Platform, fallback_value: tuple[int, int] | None = None
) -> tuple[int, int] | None:
    """PoCL's version (major, minor); None for another platform.

    fallback_value: what to return, after a warning, if PoCL's version text cannot be read.
    """
    if platform.name != _POCL:
        return None
    match = re.match(r"OpenCL [\d.]+ pocl (\d+)\.(\d+)", platform.version, re.IGNORECASE)
    if match is None:
        warnings.warn(
            f"cannot read PoCL's version from '{platform.version}'",
            CLCharacterizationWarning,
            stacklevel=2,
        )
        return fallback_value
    return int(match[1]), int(match[2])


@_of_a_device
def has_struct_arg_count_bug(
    dev: cl.Device, ctx: cl.Context | None = None
) -> Literal["apple", "pocl", False]:
    """Whether a structure passed by value counts as several kernel arguments, and whose bug that
    is.

    Apple's CPU driver and PoCL up to 0.14 have it (pocl issue 197).
    """
    platform = dev.platform
    if platform.name == "Apple" and _is_type(dev, "CPU"):
        return "apple"
    version = get_pocl_version(platform, fallback_value=(0, 14))
    if version is None or version > (0, 14):
        return False
    if version <= (0, 13) or _splits_structs(dev, ctx):
        return "pocl"
    return False


def _splits_structs(dev: cl.Device, ctx: cl.Context | None) -> bool:
    import pygpu as cl

    def ask() -> bool:
        context = cl.Context([dev]) if ctx is None else ctx
        source = "struct pair { long a, b; }; __kernel void take(struct pair x) { }"
        return bool(cl.Program(context, source).build(devices=[dev]).take.num_args != 1)

    return _measured.get(dev, "splits structs", ask)


@_of_a_device
def has_src_build_cache(dev: cl.Device) -> bool | None:
    """Whether the driver itself caches builds from source: True, False, or None if not known."""
    name = dev.platform.name
    if name == _POCL or nv_compute_capability(dev) is not None:
        return True
    return False if name == "AMD Accelerated Parallel Processing" else None


# --- shared virtual memory


def _has_svm(dev: cl.Device, *capabilities: str) -> bool:
    import pygpu as cl

    available = _query(dev, "svm_capabilities") or 0
    return all(available & getattr(cl.device_svm_capabilities, name) for name in capabilities)


def _may_have_svm(dev: cl.Device) -> bool:
    """Whether *dev* has shared virtual memory of any kind; PyOpenCL's programs ask for it."""
    return bool(_query(dev, "svm_capabilities"))


@_of_a_device
def has_coarse_grain_buffer_svm(dev: cl.Device) -> bool:
    """Whether *dev* shares allocations with the host while they are mapped."""
    return _has_svm(dev, "COARSE_GRAIN_BUFFER")


@_of_a_device
def has_fine_grain_buffer_svm(dev: cl.Device) -> bool:
    """Whether *dev* shares allocations with the host without mapping."""
    return _has_svm(dev, "FINE_GRAIN_BUFFER")


@_of_a_device
def has_fine_grain_system_svm(dev: cl.Device) -> bool:
    """Whether *dev* can use all of the host's memory, NumPy arrays included."""
    return _has_svm(dev, "FINE_GRAIN_SYSTEM")


@_of_a_device
def has_fine_grain_buffer_svm_atomics(dev: cl.Device) -> bool:
    """Whether atomics work between host and *dev* in fine-grained allocations."""
    return _has_svm(dev, "FINE_GRAIN_BUFFER", "ATOMICS")


@_of_a_device
def has_fine_grain_system_svm_atomics(dev: cl.Device) -> bool:
    """Whether atomics work between host and *dev* in all of the host's memory."""
    return _has_svm(dev, "FINE_GRAIN_SYSTEM", "ATOMICS")
