"""The macros for kernels that run on both systems: CLUDA_PREAMBLE of PyOpenCL's and PyCUDA's
private module _cluda, which their scan kernels also define for users' sources."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORDS = re.compile(
    r"\b(?:KERNEL|WITHIN_KERNEL|GLOBAL_MEM|LOCAL_MEM(?:_ARG)?|REQD_WG_SIZE|local_barrier"
    r"|[LG](?:ID|DIM)_[012])\b"
)


def definitions_for(language: str, texts: Iterable[str]) -> str:
    """Return their definitions, if one of the texts uses any."""
    if any(_WORDS.search(text) for text in texts):
        return OPENCL_PREAMBLE if language == "opencl" else CUDA_PREAMBLE
    return ""


def _defines(words: dict[str, str], indices: dict[str, str]) -> str:
    lines = [f"#define {word} {text}".rstrip() for word, text in words.items()]
    lines += [
        f"#define {word}_{axis} ((ptrdiff_t)({text.format(axis=axis, letter='xyz'[axis])}))"
        for word, text in indices.items()
        for axis in range(3)
    ]
    return "\n".join(["", *lines, ""])


OPENCL_PREAMBLE = _defines(
    {
        "KERNEL": "__kernel",
        "WITHIN_KERNEL": "",
        "GLOBAL_MEM": "__global",
        "LOCAL_MEM": "__local",
        "LOCAL_MEM_ARG": "__local",
        "REQD_WG_SIZE(x, y, z)": "__attribute__((reqd_work_group_size(x, y, z)))",
        "local_barrier()": "barrier(CLK_LOCAL_MEM_FENCE);",
    },
    {
        "LID": "get_local_id({axis})",
        "LDIM": "get_local_size({axis})",
        "GID": "get_group_id({axis})",
        "GDIM": "get_num_groups({axis})",
    },
)

CUDA_PREAMBLE = _defines(
    {
        "KERNEL": 'extern "C" __global__',
        "WITHIN_KERNEL": "__device__",
        "GLOBAL_MEM": "",
        "LOCAL_MEM": "__shared__",
        "LOCAL_MEM_ARG": "",
        "REQD_WG_SIZE(x, y, z)": "__launch_bounds__((x) * (y) * (z), 1)",
        "local_barrier()": "__syncthreads();",
    },
    {
        "LID": "threadIdx.{letter}",
        "LDIM": "blockDim.{letter}",
        "GID": "blockIdx.{letter}",
        "GDIM": "gridDim.{letter}",
    },
)
