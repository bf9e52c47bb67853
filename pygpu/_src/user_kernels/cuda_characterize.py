"""Properties of the current device."""

from __future__ import annotations

import sys

import numpy as np

from pygpu._src.util.public import publish

from .cuda_tools import context_dependent_memoize

__all__ = ["has_double_support", "has_stack", "platform_bits", "sizeof"]


def platform_bits() -> int:
    """Bits of an address on the host: 64 or 32."""
    return 64 if sys.maxsize > 2**32 else 32


def has_stack() -> bool:
    """Whether kernels can call functions: True on every device that pygpu supports."""
    return True


def has_double_support() -> bool:
    """Whether kernels can use double: True on every device that pygpu supports."""
    return True


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """Bytes of a type of CUDA C++, which *preamble* may define."""
    from pygpu import _cuda
    from pygpu._src.runtime.cuda.source_module import SourceModule

    source = f"""{preamble}
extern "C" __global__ void pygpu_write_size(unsigned long long *size) {{
    *size = sizeof({type_name});
}}
"""
    kernel = SourceModule(source, no_extern_c=True).get_function("pygpu_write_size")
    size = np.zeros(1, np.uint64)
    kernel(_cuda.Out(size), block=(1, 1, 1), grid=(1, 1))
    return int(size[0])


publish(globals(), __all__, "pygpu.cuda.characterize")
