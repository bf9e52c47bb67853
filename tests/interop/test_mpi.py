"""pygpu.mpi: two processes of mpiexec, with arrays on either backend."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pygpu._src.runtime import mpi_library

pytest.importorskip("mpi4py", reason="mpi4py is not installed")

MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")

PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
from pygpu import mpi, xp

device = sys.argv[1]
world = mpi.COMM_WORLD
rank, other = world.rank, 1 - world.rank
assert isinstance(world, mpi.Comm) and world.size == 2


def array(values, dtype="f8"):
    return xp.asarray(np.asarray(values).astype(dtype), device=device)


# Collective calls, into another array and in place, over dtypes.
table = np.arange(6).reshape(2, 3)
for dtype in ("i4", "f4", "f8", "c16"):
    x = array(table + 10 * rank, dtype)
    y = xp.zeros_like(x)
    world.Allreduce(x, y)
    assert (y.get() == 2 * table + 10).all(), y
    world.Allreduce(mpi.IN_PLACE, x)
    assert (x.get() == y.get()).all()
x = array([rank] * 5, "f4")
world.Bcast(x, root=1)
assert (x.get() == 1).all()
both = array(np.zeros((2, 4)), "i4")
world.Allgather(array([rank + 5] * 4, "i4"), both)
assert both.get().tolist() == [[5] * 4, [6] * 4]
everything = array(np.full(7, -1))  # MPI writes five of the items
places = [everything, ([2, 3], [0, 3]), MPI.DOUBLE]
world.Gatherv(array(range(2 + rank)), places if rank == 0 else None)
assert rank == 1 or everything.get().tolist() == [0, 1, -1, 0, 1, 2, -1]
nothing = array([])
world.Allreduce(mpi.IN_PLACE, nothing)

# Messages: of views, into views, shorter than the array.
if rank == 0:
    world.Send(array(range(12))[::2], dest=1, tag=3)
    world.Send([array([7] * 3), 2, MPI.DOUBLE], dest=1)
else:
    big = array(np.zeros((6, 4)))
    world.Recv(big[:, 1], source=0, tag=3)
    assert big.get()[:, 1].tolist() == [0, 2, 4, 6, 8, 10] and big.get().sum() == 30
    short = array([-1] * 4)
    world.Recv([short, MPI.DOUBLE], source=0)
    assert short.get().tolist() == [7, 7, -1, -1]
a, b = array([rank] * 1000, "i8"), array([9] * 1000, "i8")
world.Sendrecv(a, dest=other, recvbuf=b, source=other)
assert (b.get() == other).all()

# Calls that go on, also those that nobody waits for.
b[...] = 9
mpi.Request.Waitall([world.Irecv(b, source=other), world.Isend(a, dest=other)])
assert (b.get() == other).all()
column = array(np.zeros((5, 3)), "f4")
request = world.Irecv(column[:, 1], source=other, tag=9)
world.Isend(array([rank + 1] * 5, "f4"), dest=other, tag=9)
while not request.Test():
    pass
assert column.get().sum(0).tolist() == [0, 5 * (other + 1), 0]

# Everything else is mpi4py's.
half = world.Split(rank)
assert isinstance(half, mpi.Comm) and half.size == 1
assert world.sendrecv({"a": rank}, dest=other, source=other) == {"a": other}
host = np.ones(2)
world.Allreduce(mpi.IN_PLACE, host)
assert host.tolist() == [2, 2]

# What would read device memory as if it were the host's is refused.
try:
    world.Send_init(a, dest=0)
except TypeError as error:
    assert "Comm.Send_init: device arrays are not supported here" in str(error)
else:
    raise SystemExit("Send_init took an array")
if device == "opencl":
    try:
        MPI.COMM_WORLD.Bcast(a)
    except BufferError as error:
        assert "cannot read opencl" in str(error) and "pygpu.mpi.COMM_WORLD" in str(error)
    else:
        raise SystemExit("mpi4py took an OpenCL array")
print("done", rank)
"""


@pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec")
@pytest.mark.parametrize(
    ("device", "direct"), [("opencl", ""), ("cuda", "0"), ("cuda", "1")], ids=str
)
def test_two_processes(device, direct, tmp_path):
    if direct == "1" and os.environ.get("PYGPU_CUDA") == "driver" and not mpi_library.knows_cuda():
        pytest.skip("the MPI library of this machine was built without CUDA")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "PYGPU_MPI_CUDA": direct,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = subprocess.run(
        [str(MPIEXEC), "-n", "2", sys.executable, str(program), device],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["done 0", "done 1"]


def test_wrong_words(monkeypatch):
    from pygpu import mpi

    with pytest.raises(TypeError, match="comm must be a communicator of mpi4py, not int"):
        mpi.Comm(3)
    monkeypatch.setenv("PYGPU_MPI_CUDA", "yes")
    with pytest.raises(ValueError, match="PYGPU_MPI_CUDA='yes': it must be 0 or 1"):
        mpi_library.knows_cuda()
    monkeypatch.setenv("PYGPU_MPI_CUDA", "0")
    assert repr(mpi.COMM_SELF).endswith("CUDA arrays through the host>")
