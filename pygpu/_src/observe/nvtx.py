"""NVIDIA's Tools Extension (NVTX): ranges that Nsight Systems shows. The library is optional."""

from __future__ import annotations

import ctypes
import os
from functools import cache as once

__all__ = ["addresses"]

VARIABLE = "PYGPU_NVTX_LIBRARY"
_NAMES = ("libnvToolsExt.so.1", "libnvtx3interop.so.1", "libnvtx3interop.so")


@once
def _open(named: str | None) -> tuple[ctypes.CDLL, int, int]:
    from pygpu._src.runtime.libraries.loading import _places

    tried = [named] if named else [path for name in _NAMES for path in _places(name)]
    for path in tried:
        try:
            library = ctypes.CDLL(path)
            push, pop = library.nvtxRangePushA, library.nvtxRangePop
        except (OSError, AttributeError):
            continue
        found = [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (push, pop)]
        return library, found[0], found[1]
    raise ImportError(
        "profile(nvtx=True) needs NVIDIA's library NVTX: pip install nvidia-nvtx-cu12, or "
        f"{VARIABLE}=PATH. These were tried: {', '.join(tried)}"
    )


def addresses() -> tuple[int, int]:
    """Return the addresses of nvtxRangePushA and nvtxRangePop. Raises ImportError if the library
    is missing."""
    return _open(os.environ.get(VARIABLE) or None)[1:]
