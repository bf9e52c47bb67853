"""Settings of Numba (``numba.config``) that programs read and assign to. These have an effect:
CUDA_LOW_OCCUPANCY_WARNINGS, CUDA_WARN_ON_IMPLICIT_COPY and CUDA_NVRTC_EXTRA_SEARCH_PATHS, which the
environment sets as Numba's."""

import os


def _OptLevel(level: int | str = 3) -> int:
    """A level of optimization; "max" is 3."""
    return 3 if level == "max" else int(level)


def _switch(name: str) -> int:
    return int(os.environ.get(f"NUMBA_{name}", "1").strip() not in ("0", ""))


CUDA_ARRAY_INTERFACE_SYNC = 1
CUDA_DEBUGINFO_DEFAULT = 0
CUDA_DEFAULT_PTX_CC = (5, 0)
CUDA_ENABLE_NRT = 0
CUDA_ENABLE_PYNVJITLINK = 0
CUDA_LOG_LEVEL = ""
CUDA_LOW_OCCUPANCY_WARNINGS = _switch("CUDA_LOW_OCCUPANCY_WARNINGS")
CUDA_NVRTC_EXTRA_SEARCH_PATHS = os.environ.get("NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS", "")
CUDA_PER_THREAD_DEFAULT_STREAM = 0
CUDA_WARN_ON_IMPLICIT_COPY = _switch("CUDA_WARN_ON_IMPLICIT_COPY")
DISABLE_CUDA = 0
DISABLE_JIT = 0
DISABLE_PERFORMANCE_WARNINGS = 0
ENABLE_CUDASIM = 0
OPT = 3
NUMBA_DEFAULT_NUM_THREADS = 1
NUMBA_NUM_THREADS = 1
THREADING_LAYER = "default"
