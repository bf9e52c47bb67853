"""Whether the process's MPI library supports device memory."""

from __future__ import annotations

import ctypes
import os
import sys

VARIABLE = "PYGPU_MPI_CUDA"

_is_cuda_aware: bool | None = None


def is_loaded() -> bool:
    """Whether the process uses mpi4py."""
    return "mpi4py.MPI" in sys.modules


def knows_cuda() -> bool:
    """Whether MPI reads and writes CUDA memory.

    The environment variable PYGPU_MPI_CUDA (0 or 1) decides; else Open MPI's, MPICH's or MVAPICH's
    own answer (MPIX_Query_cuda_support), else the key mpi_memory_alloc_kinds of MPI 4.1.
    """
    global _is_cuda_aware
    said = os.environ.get(VARIABLE, "").strip()
    if said in ("0", "1"):
        return said == "1"
    if said:
        raise ValueError(f"{VARIABLE}={said!r}: it must be 0 or 1")
    if _is_cuda_aware is None:
        _is_cuda_aware = _asked() or "cuda" in _memory_kinds()
    return _is_cuda_aware


def _asked() -> bool:
    for path in (None, *_libraries()):
        try:
            query = ctypes.CDLL(path).MPIX_Query_cuda_support
        except (OSError, AttributeError):
            continue
        query.restype = ctypes.c_int
        return bool(query() == 1)
    return False


def _libraries() -> list[str]:
    """List the loaded MPI libraries: mpi4py opens its own without making its symbols global."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "libmpi" in line}
    except OSError:
        return []
    return sorted(path for path in paths if os.path.basename(path).startswith("libmpi"))


def _memory_kinds() -> str:
    from mpi4py import MPI

    if not MPI.Is_initialized() or MPI.Is_finalized():
        return ""
    return str(MPI.COMM_WORLD.Get_info().get("mpi_memory_alloc_kinds") or "")
