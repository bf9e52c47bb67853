"""The heat equation on all ranks of MPI: each has a band of the plate and sends its edges on.

mpiexec -n 2 python mpi_heat.py [--device opencl|cuda]       (one rank: python mpi_heat.py)
"""

import sys

import numpy as np
from mpi4py import MPI

import pygpu.xp as xp
from pygpu import mpi

device = sys.argv[2] if sys.argv[1:2] == ["--device"] else None
world = mpi.COMM_WORLD
rank, size = world.rank, world.size
N, STEPS, RATE = 256, 100, 0.2

# Rank r has these rows, and a row of each neighbour around them.
first, last = rank * N // size, (rank + 1) * N // size
plate = np.zeros((N + 2, N + 2), np.float32)
plate[0] = 100  # a hot edge
u = xp.asarray(plate[first : last + 2], device=device)
above, below = rank - 1 if rank > 0 else None, rank + 1 if rank < size - 1 else None


def exchange():
    requests = []
    for neighbour, inner, outer in ((above, 1, 0), (below, -2, -1)):
        if neighbour is not None:
            requests.append(world.Irecv(u[outer], source=neighbour))
            requests.append(world.Isend(u[inner], dest=neighbour))
    mpi.Request.Waitall(requests)


def step(u):
    middle = u[1:-1, 1:-1]
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    middle += RATE * (around - 4 * middle)


for _ in range(STEPS):
    exchange()
    step(u)

for _ in range(STEPS):  # the whole plate on the host
    step(plate)
apart = float(xp.max(xp.abs(u - xp.asarray(plate[first : last + 2], device=device))[1:-1]))
worst = xp.asarray([apart], dtype=xp.float32, device=device)
world.Allreduce(mpi.IN_PLACE, worst, op=MPI.MAX)
if rank == 0:
    print(f"{size} ranks, {u.device}: at most {float(worst[0]):.1e} K from one plate on the host")
    assert float(worst[0]) < 1e-4
