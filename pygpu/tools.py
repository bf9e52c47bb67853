"""Tools around kernels: memory pools, C types of dtypes, argument lists, caches and test fixtures.

Everything here is what PyOpenCL has under the same name in ``pyopencl.tools``; each group lives
in a module of its
own: dtypes, structs, arguments, memoize, templates, testing. The pools and allocators are C types.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.runtime.opencl.test_devices import (  # noqa: F401 - arraycontext's
    ContextFactory as _ContextFactory,
)
from pygpu._src.runtime.opencl.test_devices import (
    get_pyopencl_fixture_arg_names,
    get_pyopencl_fixture_arg_values,
    get_test_platforms_and_devices,
    pytest_generate_tests_for_pyopencl,
)
from pygpu._src.user_kernels.arguments import (
    Argument,
    DtypedArgument,
    OtherArg,
    ScalarArg,
    VectorArg,
    get_arg_list_arg_types,
    get_arg_list_scalar_arg_dtypes,
    get_arg_offset_adjuster_code,
    parse_arg_list,
    parse_c_arg,
)
from pygpu._src.user_kernels.structs import dtype_to_c_struct, match_dtype_to_c_struct
from pygpu._src.user_kernels.templates import (  # noqa: F401 - gputools'
    KernelTemplateBase,
    _process_code_for_macro,
)
from pygpu._src.util.memoize import (
    clear_first_arg_caches,
    context_dependent_memoize,
    first_arg_dependent_memoize,
    first_arg_dependent_memoize_nested,
)
from pygpu.dtypes import (
    DTYPE_TO_NAME,
    NAME_TO_DTYPE,
    TYPE_REGISTRY,
    DTypeRegistry,
    TypeNameNotKnown,
    dtype_to_ctype,
    fill_registry_with_c99_complex_types,
    fill_registry_with_c99_stdint_types,
    fill_registry_with_c_types,
    fill_registry_with_opencl_c_types,
    get_or_register_dtype,
    parse_c_arg_backend,
    register_dtype,
)
from pygpu.gl import get_gl_sharing_context_properties

if TYPE_CHECKING:
    from pygpu._opencl import (
        AllocatorBase,
        DeferredAllocator,
        ImmediateAllocator,
        MemoryPool,
        PooledBuffer,
        PooledSVM,
        SVMAllocator,
        SVMPool,
    )

__all__ = [
    "DTYPE_TO_NAME",
    "NAME_TO_DTYPE",
    "TYPE_REGISTRY",
    "AllocatorBase",
    "Argument",
    "DTypeRegistry",
    "DeferredAllocator",
    "DtypedArgument",
    "ImmediateAllocator",
    "KernelTemplateBase",
    "MemoryPool",
    "OtherArg",
    "PooledBuffer",
    "PooledSVM",
    "SVMAllocator",
    "SVMPool",
    "ScalarArg",
    "TypeNameNotKnown",
    "VectorArg",
    "array_module",
    "bitlog2",
    "clear_first_arg_caches",
    "context_dependent_memoize",
    "dtype_to_c_struct",
    "dtype_to_ctype",
    "fill_registry_with_c99_complex_types",
    "fill_registry_with_c99_stdint_types",
    "fill_registry_with_c_types",
    "fill_registry_with_opencl_c_types",
    "first_arg_dependent_memoize",
    "first_arg_dependent_memoize_nested",
    "get_arg_list_arg_types",
    "get_arg_list_scalar_arg_dtypes",
    "get_arg_offset_adjuster_code",
    "get_gl_sharing_context_properties",
    "get_or_register_dtype",
    "get_pyopencl_fixture_arg_names",
    "get_pyopencl_fixture_arg_values",
    "get_test_platforms_and_devices",
    "is_spirv",
    "match_dtype_to_c_struct",
    "parse_arg_list",
    "parse_c_arg",
    "parse_c_arg_backend",
    "pytest_generate_tests_for_pyopencl",
    "register_dtype",
]

_C_TYPES = frozenset(
    (
        "AllocatorBase",
        "DeferredAllocator",
        "ImmediateAllocator",
        "MemoryPool",
        "PooledBuffer",
        "PooledSVM",
        "SVMAllocator",
        "SVMPool",
    )
)


def __getattr__(name: str) -> Any:
    """Fetch a pool or allocator type from the C extension when it is first asked for."""
    if name not in _C_TYPES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import pygpu._opencl  # the dtype tools work without the extension

    value = getattr(pygpu._opencl, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_C_TYPES})


def bitlog2(n: int) -> int:
    """The position of the highest bit set in *n*: floor(log2(n)), and 0 for 0. Raises ValueError
    if n < 0.
    """
    if type(n) is int and n > 0:
        return n.bit_length() - 1
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"bitlog2: n must not be negative, got {n}")
    return max(n.bit_length() - 1, 0)


def is_spirv(s: str | bytes) -> bool:
    """Whether *s* is a SPIR-V module: bytes that start with its magic number in either byte
    order.
    """
    return isinstance(s, bytes) and s[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")


class _DeviceArrayModule:
    """The few functions of numpy's that :func:`array_module` promises, on device arrays."""

    def __init__(self, array: Any, queue: Any) -> None:
        self._array = array  # the module pygpu.array
        self.queue = queue

    @property
    def ndarray(self) -> Any:
        return self._array.Array

    def dot(self, x: Any, y: Any) -> Any:
        return self._array.dot(x, y, queue=self.queue).get()

    def vdot(self, x: Any, y: Any) -> Any:
        return self._array.vdot(x, y, queue=self.queue).get()

    def empty(self, shape: Any, dtype: Any, order: str = "C") -> Any:
        return self._array.empty(self.queue, shape, dtype, order=order)

    def hstack(self, arrays: Any) -> Any:
        return self._array.hstack(arrays, self.queue)


def array_module(a: Any) -> Any:
    """numpy for a numpy array; for a device array an object with dot, vdot, empty, hstack and
    ndarray.

    Raises TypeError for anything else.
    """
    if isinstance(a, np.ndarray):
        return np
    array = sys.modules.get("pygpu.array")  # nobody has a device array before that module is loaded
    if array is not None and isinstance(a, array.Array):
        return _DeviceArrayModule(array, a.queue)
    raise TypeError(f"array type not understood: {type(a)}")
