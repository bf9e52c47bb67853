"""Names of ``numba.cuda`` that pygpu.cuda has no use for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygpu._src.jit.decorators.cuda_kernel import jit as _jit
from pygpu.compat import numba_config as config
from pygpu.compat.numba_integers import widening
from pygpu.errors import RuntimeError as CudaSupportError

__all__ = [
    "CudaSupportError",
    "KernelRuntimeError",
    "compile",
    "compile_for_current_device",
    "compile_ptx",
    "compile_ptx_for_current_device",
    "config",
    "declare_device",
    "get_supported_ccs",
    "is_supported_version",
    "jit",
]

if TYPE_CHECKING:
    from pygpu._src.cuda_kernel_types import jit
else:
    jit = widening(_jit)


def compile_ptx(pyfunc: Any, sig: Any, *unused: Any, **more: Any) -> Any:
    """Refused: kernels are compiled for devices, by way of C. Raises NotImplementedError."""
    raise NotImplementedError(
        "cuda.compile_ptx(): there is no PTX before there is a device; "
        "pygpu.kernel(f).inspect_source(types) gives the C text, which nvcc or NVRTC compile"
    )


compile = compile_for_current_device = compile_ptx_for_current_device = compile_ptx


class KernelRuntimeError(RuntimeError):
    """For programs that catch it; never raised: of kernels only IndexError is reported."""


def declare_device(name: str, sig: Any, **unused: Any) -> Any:
    """Refused: functions of other compilers are not linked. Raises NotImplementedError."""
    raise NotImplementedError(
        f"cuda.declare_device({name!r}): functions in CUDA C are not linked to kernels in Python; "
        "write the function in Python, or the kernel in C (pygpu.cuda.compiler.SourceModule)"
    )


def get_supported_ccs() -> tuple[tuple[int, int], ...]:
    """The compute capability of the current device: the compiler is the driver's own."""
    from pygpu.cuda import get_current_device

    return (get_current_device().compute_capability,)


def is_supported_version() -> bool:
    """True."""
    return True
