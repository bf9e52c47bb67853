"""cuRAND's own states in device memory, for users' kernels that include ``curand_kernel.h``."""

from __future__ import annotations

from typing import Any

from pygpu._cuda import mem_alloc
from pygpu._src.runtime.cuda.source_module import SourceModule

from .cuda_tools import context_dependent_memoize

_TEXT = """
#include <curand_kernel.h>
extern "C" __global__ void size_of_state(unsigned int *size) {{ *size = sizeof({state}); }}
extern "C" __global__ void make_states({state} *states, unsigned int n, const int *seeds,
                                       unsigned long long offset)
{{
    unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < n) curand_init((unsigned int)seeds[id], id, offset, &states[id]);
}}
"""


@context_dependent_memoize
def _kernels(state: str) -> tuple[Any, Any]:
    module = SourceModule(_TEXT.format(state=state), no_extern_c=True)
    return module.get_function("size_of_state"), module.get_function("make_states")


def make_states(state: str, groups: int, size: int, seeds: Any, offset: int) -> Any:
    """Return memory with groups * size states of the C type *state*; state number k is that of
    ``curand_init(seeds[k], k, offset, &states[k])``. seeds: an int32 array of as many.

    Raises CompileError if ``curand_kernel.h`` is missing.
    """
    from pygpu._src.array.cuda_array import zeros

    size_of_state, fill = _kernels(state)
    length = zeros(1, "uint32")
    size_of_state(length, block=(1, 1, 1), grid=(1, 1))
    memory = mem_alloc(int(length.get()[0]) * groups * size)
    fill(memory, groups * size, seeds, offset, block=(size, 1, 1), grid=(groups, 1))
    return memory
