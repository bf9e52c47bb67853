"""NVIDIA's Tools Extension (NVTX): ranges that Nsight Systems shows, through the package nvtx or a
library with NVTX's functions. Both are optional.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache as once
from typing import Any

VARIABLE = "PYGPU_NVTX_LIBRARY"
DOMAIN = "pygpu"  # under which the package's ranges are listed
_NAMES = ("libnvToolsExt.so.1", "libnvtx3interop.so.1", "libnvtx3interop.so")
_PUSH, _POP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p), ctypes.CFUNCTYPE(ctypes.c_int)


class Ranges:
    """nvtxRangePushA and nvtxRangePop, or functions that do the same, for Python and for C."""

    def __init__(self, push: Any, pop: Any, library: Any = None) -> None:
        self._push, self._pop, self._library = push, pop, library
        self.addresses: tuple[int, int] = (
            ctypes.cast(push, ctypes.c_void_p).value or 0,
            ctypes.cast(pop, ctypes.c_void_p).value or 0,
        )

    def push(self, name: str) -> None:
        self._push(name.encode("utf-8", "replace"))

    def pop(self) -> None:
        self._pop()


@once  # C keeps the addresses
def _of_package(package: Any) -> Ranges:
    def push(name: bytes) -> int:
        package.push_range(name.decode("utf-8", "replace"), domain=DOMAIN)
        return 0

    def pop() -> int:
        package.pop_range(domain=DOMAIN)
        return 0

    return Ranges(_PUSH(push), _POP(pop))


@once
def _of_library(path: str) -> Ranges | None:
    try:
        library = ctypes.CDLL(path)
        push, pop = library.nvtxRangePushA, library.nvtxRangePop
    except (OSError, AttributeError):
        return None
    push.argtypes = [ctypes.c_char_p]
    return Ranges(push, pop, library)


def find(requested: bool | None) -> Ranges | None:
    """The library that ranges are passed to; None if *requested* is False, or if it is None and no
    tool collects ranges. Raises ImportError if *requested* is True and neither the package nor a
    library is found."""
    # Nsight Systems and other tools set this variable, so that NVTX passes ranges to them.
    if requested is False or (requested is None and not os.environ.get("NVTX_INJECTION64_PATH")):
        return None
    named = os.environ.get(VARIABLE)
    if named:
        tried = [named]
    else:
        try:
            import nvtx  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            from pygpu._src.runtime.libraries.loading import _candidate_paths

            tried = [path for name in _NAMES for path in _candidate_paths(name)]
        else:
            return _of_package(nvtx)
    found = next(filter(None, map(_of_library, tried)), None)
    if found is None and requested:
        raise ImportError(
            "profile(nvtx=True) needs NVTX: pip install nvtx, or "
            f"{VARIABLE}=PATH. These libraries were tried: {', '.join(tried)}"
        )
    return found
