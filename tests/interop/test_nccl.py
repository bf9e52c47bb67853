"""Arrays and streams in nccl4py: on two GPUs, or on two simulated ones and nccl_stub.c."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from interop.gpus import two_gpus

for needed in ("nccl.core", "cuda.core"):
    pytest.importorskip(needed, reason=f"{needed} is not installed")

STUB = Path(__file__).with_name("nccl_stub.c")

CALLS = """
import numpy as np
from nccl import core
import pygpu.cuda.driver as cuda
from pygpu import fusion, xp


def check(comms, devices, group):
    '''Each call, of all the ranks that are in this process.'''
    ranks = [comm.rank for comm in comms]

    def arrays(make, dtype="f4"):
        return [xp.asarray(np.asarray(make(rank), dtype), device=device)
                for rank, device in zip(ranks, devices)]

    def call(name, *lists, **options):
        with group():
            for number, comm in enumerate(comms):
                getattr(comm, name)(*(values[number] for values in lists), **options)

    def expect(found, expected):
        for rank, array in zip(ranks, found):
            assert array.get().tolist() == expected(rank), (rank, array)

    table = lambda rank: np.arange(6).reshape(2, 3) + 10 * rank
    total = [[10, 12, 14], [16, 18, 20]]
    sums = [core.SUM] * len(comms)
    for dtype in ("f4", "i4"):
        x, y = arrays(table, dtype), arrays(lambda rank: np.zeros((2, 3)), dtype)
        call("allreduce", x, y, sums)
        expect(y, lambda rank: total)
        expect(x, lambda rank: table(rank).tolist())
        call("allreduce", x, x, sums)
        expect(x, lambda rank: total)

    x, y = arrays(table), arrays(lambda rank: np.zeros((2, 3)))
    call("broadcast", x, y, [1] * len(comms))
    expect(y, lambda rank: table(1).tolist())
    both = arrays(lambda rank: np.zeros((2, 2, 3)))
    call("allgather", x, both)
    expect(both, lambda rank: [table(0).tolist(), table(1).tolist()])
    half = arrays(lambda rank: np.zeros(3))
    call("reduce_scatter", x, half, sums)
    expect(half, lambda rank: total[rank])

    # A message each way, from a row and into a row.
    x, y = arrays(table), arrays(lambda rank: np.zeros((3, 3)))
    with group():
        for number, comm in enumerate(comms):
            comm.send(x[number][1], 1 - comm.rank)
            comm.recv(y[number][2], 1 - comm.rank)
    expect(y, lambda rank: [[0] * 3, [0] * 3, table(1 - rank)[1].tolist()])

    # Streams: the values are those that the stream has made by then.
    streams = []
    for device in devices:
        with device:
            streams.append(cuda.Stream(cuda.stream_flags.NON_BLOCKING))
    x = [xp.full(1 << 16, 1 + rank, dtype=xp.float32, device=stream)
         for rank, stream in zip(ranks, streams)]
    x = [array * 2 for array in x]
    with group():
        for comm, array, stream in zip(comms, x, streams):
            comm.allreduce(array, array, core.SUM, stream=stream)
    assert all((array.get() == 6).all() for array in x)

    # Deferred operations: what NCCL reads has been computed, and so has what reads the old values.
    fusion.on()
    x = [array * 2 + 1 for array in arrays(lambda rank: [rank] * 4)]
    old = [array + 1 for array in x]
    call("allreduce", x, x, sums)
    new = [array + 1 for array in x]
    fusion.off()
    expect(old, lambda rank: [2 * rank + 2] * 4)
    expect(new, lambda rank: [5] * 4)


"""

ONE_PROCESS = (
    CALLS
    + """
comms = core.Communicator.init_all(2)
assert [comm.rank for comm in comms] == [0, 1]
check(comms, [xp.Device("cuda:0"), xp.Device("cuda:1")], core.group)
for comm in comms:
    comm.destroy()
print("done")
"""
)

TWO_PROCESSES = (
    CALLS
    + """
import os, sys

if __name__ == "__main__":
    rank, receiving, sending = map(int, sys.argv[1:])
    if rank == 0:
        unique = core.get_unique_id()
        os.write(sending, bytes(unique))
    else:
        unique = core.UniqueId.from_bytes(os.read(receiving, 128))
    with xp.Device(f"cuda:{rank}") as device:  # makes its context current, by which NCCL knows it
        comm = core.Communicator.init(2, rank, unique)
        check([comm], [device], core.group)
        comm.destroy()
    print("done")
"""
)


@pytest.fixture
def environment(tmp_path):
    """The libraries of two GPUs, or in their place the simulator and the stub."""
    around = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if two_gpus():
        return around
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler, and there are not two GPUs")
    library = tmp_path / "libnccl.so.2"
    command = [compiler, "-std=gnu11", "-shared", "-fPIC", STUB, "-o", library, "-ldl"]
    subprocess.run(command, check=True)
    package = importlib.util.find_spec("pygpu").submodule_search_locations[0]
    simulator = Path(package, "cuda", "simulator", "libpygpu_cudasim.so")
    (tmp_path / "libcuda.so.1").symlink_to(simulator)  # cuda.core asks for it by this name
    return around | {
        "LD_LIBRARY_PATH": str(tmp_path),
        "PYGPU_CUDA": "simulator",
        "PYGPU_SIM_DEVICES": "2",
    }


def test_one_process_for_two_devices(tmp_path, environment):
    program = tmp_path / "program.py"
    program.write_text(ONE_PROCESS)
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "done"


@pytest.mark.gpu
@pytest.mark.skipif("not two_gpus()", reason="there are not two NVIDIA GPUs")
def test_a_process_for_each_gpu(tmp_path, environment):
    program = tmp_path / "program.py"
    program.write_text(TWO_PROCESSES)
    receiving, sending = os.pipe()
    processes = [
        subprocess.Popen(
            [sys.executable, program, str(rank), str(receiving), str(sending)],
            env=environment,
            pass_fds=(receiving, sending),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    os.close(receiving)
    os.close(sending)
    for process in processes:
        try:
            stdout, stderr = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            for other in processes:
                other.kill()
            raise
        assert process.returncode == 0, stderr
        assert stdout.splitlines()[-1] == "done"


def test_the_example(tmp_path, environment):
    example = Path(__file__).parents[2] / "examples" / "nccl_gradients.py"
    done = subprocess.run(
        [sys.executable, example],
        env=environment | {"PYGPU_DEVICE": "cuda"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "cuda:0" in done.stdout and "cuda:1" in done.stdout
