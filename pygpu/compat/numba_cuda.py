"""Names of ``numba.cuda`` that pygpu.cuda has no use for."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from typing import TYPE_CHECKING, Any

from pygpu._src.jit.cuda_arrays import MemoryPointer
from pygpu._src.jit.decorators.cuda_kernel import jit as _jit
from pygpu._src.jit.decorators.kernel import Kernel
from pygpu.compat import numba_config as config
from pygpu.compat.numba import guvectorize, literal_unroll, literally, vectorize
from pygpu.compat.numba_arrays import (
    DeviceNDArray,
    as_cuda_array,
    device_array,
    device_array_like,
    from_cuda_array_interface,
    mapped,
    to_device,
)
from pygpu.compat.numba_driver import runtime
from pygpu.compat.numba_errors import KernelRuntimeError, NumbaInvalidConfigWarning
from pygpu.compat.numba_integers import widening
from pygpu.errors import RuntimeError as CudaSupportError

__all__ = [
    "HAS_NUMBA",
    "CudaSupportError",
    "DeviceNDArray",
    "KernelRuntimeError",
    "MemoryPointer",
    "as_cuda_array",
    "compile",
    "compile_all",
    "compile_for_current_device",
    "compile_ptx",
    "compile_ptx_for_current_device",
    "config",
    "cuda_error",
    "device_array",
    "device_array_like",
    "from_cuda_array_interface",
    "get_supported_ccs",
    "guvectorize",
    "implementation",
    "is_bfloat16_supported",
    "is_fp8_supported",
    "is_supported_version",
    "jit",
    "literal_unroll",
    "literally",
    "mapped",
    "runtime",
    "to_device",
    "vectorize",
]


def _with_warnings(decorator: Any) -> Any:
    """The decorator, with Numba's checks of its options."""

    @functools.wraps(decorator)
    def decorate(*args: Any, **options: Any) -> Any:
        debug = options.get("debug")
        debug = config.CUDA_DEBUGINFO_DEFAULT if debug is None else debug
        opt = options.get("opt")
        if debug and (config.OPT if opt is None else opt):
            warnings.warn(
                "debug=True with optimization is not supported by CUDA, and may crash in Numba; "
                "set opt=False",
                NumbaInvalidConfigWarning,
                stacklevel=3,
            )
        carveout = options.get("shared_memory_carveout")
        if isinstance(carveout, str):
            if carveout.lower() not in ("default", "maxl1", "maxshared"):
                raise ValueError(f"cuda.jit: Invalid carveout value: {carveout!r}")
        elif carveout is not None and not -1 <= carveout <= 100:
            raise ValueError(
                f"cuda.jit: a shared memory carveout must be between -1 and 100, not {carveout!r}"
            )
        return decorator(*args, **options)

    return decorate


def checked(kernel: Any) -> Any:
    """A kernel whose signatures it can be compiled for, as Numba says at the decorator."""
    if isinstance(kernel, Kernel):
        kernel.check_signatures()
    return kernel


if TYPE_CHECKING:
    from pygpu._src.cuda_kernel_types import jit
else:
    jit = widening(_with_warnings(_jit), checked)


def compile_ptx(pyfunc: Any, sig: Any, *unused: Any, **more: Any) -> Any:
    """Refused: kernels are compiled for devices, by way of C. Raises NotImplementedError."""
    raise NotImplementedError(
        "cuda.compile_ptx(): PTX needs a device; "
        "pygpu.kernel(f).inspect_source(types) gives the C text, which nvcc or NVRTC compile"
    )


compile = compile_for_current_device = compile_ptx_for_current_device = compile_ptx
compile_all = compile_ptx
HAS_NUMBA = True  # "import numba" finds names, too
implementation = "NVIDIA"


def cuda_error() -> str | None:
    """Why there is no CUDA; None if there is."""
    from pygpu import _cuda

    try:
        _cuda.init()
    except Exception as error:
        return str(error)
    return None


def is_bfloat16_supported() -> bool:
    """Whether there is ml_dtypes, by which NumPy has such numbers."""
    return importlib.util.find_spec("ml_dtypes") is not None


def is_fp8_supported() -> bool:
    """False: NumPy has no such numbers."""
    return False


def get_supported_ccs() -> tuple[tuple[int, int], ...]:
    """The compute capability of the current device: the compiler is the driver's own."""
    from pygpu.cuda import get_current_device

    return (get_current_device().compute_capability,)


def is_supported_version() -> bool:
    """True."""
    return True
