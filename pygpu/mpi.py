"""MPI on device arrays: mpi4py's communicators, whatever the MPI library can do.

>>> from pygpu import mpi, xp                                                  # doctest: +SKIP
>>> mpi.COMM_WORLD.Allreduce(mpi.IN_PLACE, xp.ones(4))                         # doctest: +SKIP

Needs mpi4py (``pip install ".[mpi]"``), which this module imports, and so initializes MPI.
"""

from __future__ import annotations

from mpi4py import MPI

from ._src.interop.mpi import Comm, Request
from ._src.runtime.mpi_library import knows_cuda

__all__ = ["COMM_SELF", "COMM_WORLD", "IN_PLACE", "Comm", "Request", "knows_cuda"]

IN_PLACE = MPI.IN_PLACE
COMM_WORLD = Comm(MPI.COMM_WORLD)
COMM_SELF = Comm(MPI.COMM_SELF)
