"""What two GPUs do in the time of one: copies, NCCL, the halo exchange of a stencil, and Dask.

python benchmarks/scaling.py [--only copies,nccl,halo,dask] [--quick] [--json FILE]

Each part runs in a process of its own; what a C program reaches (scaling.c) stands beside it.
NCCL needs nccl4py, Dask dask and distributed. With PYGPU_CUDA=simulator and PYGPU_SIM_DEVICES=2,
and --quick, it only shows that everything runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cuda_common
import numpy as np

import common

MIB = 1 << 20
GIB = 1 << 30
Figures = dict[str, float]


def devices() -> list[Any]:
    from pygpu import xp

    return [xp.Device("cuda:0"), xp.Device("cuda:1")]


def wait(*places: Any) -> None:
    for device in places:
        with device:
            device.backend.synchronize(device.queue)
            device.context.synchronize()


def best(repeats: int, times: int, step: Callable[[], object], *places: Any) -> float:
    """The least seconds for one step, of *times* queued without waiting."""
    step()
    wait(*places)
    least = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(times):
            step()
        wait(*places)
        least = min(least, (time.perf_counter() - begin) / times)
    return least


def nccl_library() -> str:
    """The file of NCCL: that of the package nvidia-nccl-..., or the linker's; "-" for none, or on
    the simulator."""
    from pygpu import _cuda

    if _cuda._is_simulator():
        return "-"
    try:
        found = importlib.util.find_spec("nvidia.nccl")
    except ModuleNotFoundError:
        found = None
    for folder in found.submodule_search_locations or () if found else ():
        for path in Path(folder, "lib").glob("libnccl.so*"):
            return str(path)
    try:
        import ctypes

        ctypes.CDLL("libnccl.so.2")
    except OSError:
        return "-"
    return "libnccl.so.2"


def has_nccl4py() -> bool:
    return importlib.util.find_spec("nccl") is not None


class CSide:
    """scaling.c, asked for seconds."""

    def __init__(self, nccl: str = "-") -> None:
        from pygpu import _cuda

        command = [str(common.compile_c("scaling.c")), _cuda._library(), nccl]
        self._process = cuda_common.Process(command, {})

    def ask(self, case: str, nbytes: int, times: int) -> float:
        answers = [self._process.ask(case, nbytes, times) for _ in range(3)]
        return min((a[0] for a in answers if a), default=float("nan")) / 1e9

    def close(self) -> None:
        self._process.close()


# ---- copies --------------------------------------------------------------------------------------


def copies(quick: bool) -> Figures:
    import pygpu.cuda.driver as cuda
    from pygpu import xp

    first, second = devices()
    figures: Figures = {}
    c = CSide(nccl_library())
    for nbytes in [MIB] if quick else [MIB, 64 * MIB, GIB]:
        times = 2 if quick else max(5, min(100, 4 * GIB // nbytes))
        x = xp.zeros(nbytes // 4, dtype=xp.float32, device=first)
        y = xp.zeros(nbytes // 4, dtype=xp.float32, device=second)
        wait(first, second)
        places = y.base_data, x.base_data
        stream = cuda.Stream.from_handle(1)

        def peer(places: Any = places, nbytes: int = nbytes, stream: Any = stream) -> None:
            with first:
                cuda.memcpy_peer_async(
                    places[0], places[1], nbytes, second.context, first.context, stream
                )

        mib = nbytes // MIB
        for name, took in (
            (f"C peer copy {mib} MiB", c.ask("peer", nbytes, times)),
            (f"C NCCL send {mib} MiB", c.ask("sendrecv", nbytes, times)),
            (f"memcpy_peer_async {mib} MiB", best(3, times, peer, first, second)),
            (f".to() {mib} MiB", best(3, times, lambda x=x: x.to(second), first, second)),
        ):
            if took == took:
                figures[name] = nbytes / took / 1e9
    c.close()
    return figures


# ---- NCCL ----------------------------------------------------------------------------------------


def nccl(quick: bool) -> Figures:
    """All-reduce and send by nccl4py, one process for both GPUs and one for each."""
    c = CSide(nccl_library())
    figures: Figures = {}
    for nbytes in [MIB] if quick else [MIB, GIB]:
        figures[f"C all-reduce {nbytes // MIB} MiB"] = nbytes / c.ask("allreduce", nbytes, 20) / 1e9
    c.close()
    if has_nccl4py():
        figures |= nccl_one_process(quick)
        figures |= nccl_two_processes(quick)
    return figures


def nccl_one_process(quick: bool) -> Figures:
    import nccl.core

    from pygpu import xp

    places = devices()
    figures: Figures = {}
    comms = nccl.core.Communicator.init_all(2)
    for nbytes in [MIB] if quick else [MIB, GIB]:
        parts = [xp.ones(nbytes // 4, dtype=xp.float32, device=d) for d in places]

        def step(parts: Any = parts) -> None:
            with nccl.core.group():
                for comm, x in zip(comms, parts):
                    comm.allreduce(x, x, nccl.core.SUM)

        name = f"nccl4py all-reduce {nbytes // MIB} MiB, one process"
        figures[name] = nbytes / best(3, 20, step, *places) / 1e9
        assert all(float(x[-1]) == 2.0**61 for x in parts)
    for comm in comms:
        comm.destroy()
    return figures


def _rank(work: Callable[..., Any], rank: int, unique: bytes, pipe: Any, *args: Any) -> None:
    import nccl.core

    from pygpu import xp

    with xp.Device(f"cuda:{rank}") as device:
        # Its context is current in this thread, which is how NCCL knows the GPU.
        comm = nccl.core.Communicator.init(2, rank, nccl.core.UniqueId.from_bytes(unique))
        pipe.send(work(comm, device, *args))
        comm.destroy()


def two_ranks(work: Callable[..., Any], *args: Any) -> list[Any]:
    """What work(comm, device, *args) returns in a process for each GPU."""
    import nccl.core

    unique = bytes(nccl.core.get_unique_id())
    spawn = multiprocessing.get_context("spawn")
    pipes = [spawn.Pipe() for _ in range(2)]
    processes = [
        spawn.Process(target=_rank, args=(work, rank, unique, pipes[rank][1], *args))
        for rank in range(2)
    ]
    for process in processes:
        process.start()
    answers = []
    for mine, _ in pipes:
        if not mine.poll(100):
            for process in processes:
                process.kill()
            raise RuntimeError("a rank does not answer")
        answers.append(mine.recv())
    for process in processes:
        process.join()
    return answers


def reduce_rank(comm: Any, device: Any, sizes: list[int]) -> Figures:
    import nccl.core

    from pygpu import xp

    figures: Figures = {}
    for nbytes in sizes:
        x = xp.ones(nbytes // 4, dtype=xp.float32, device=device)
        took = best(3, 20, lambda x=x: comm.allreduce(x, x, nccl.core.SUM), device)
        figures[f"nccl4py all-reduce {nbytes // MIB} MiB, two processes"] = nbytes / took / 1e9
    return figures


def nccl_two_processes(quick: bool) -> Figures:
    answers: list[Figures] = two_ranks(reduce_rank, [MIB] if quick else [MIB, GIB])
    return {name: min(a[name] for a in answers) for name in answers[0]}


# ---- halo exchange -------------------------------------------------------------------------------


STEP = """
extern "C" __global__ void heat(const float *u, float *v, int rows, int columns)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= rows - 1 || j >= columns - 1)
        return;
    size_t at = (size_t)i * columns + j;
    float around = u[at - columns] + u[at + columns] + u[at - 1] + u[at + 1];
    v[at] = u[at] + 0.2f * (around - 4 * u[at]);
}
"""


class Band:
    """Rows of the plate on one GPU: *rows* from *first* on, and one above and below."""

    def __init__(self, device: Any, first: int, rows: int, columns: int) -> None:
        from pygpu import xp
        from pygpu.cuda.compiler import SourceModule

        self.device = device
        with device:
            heights = xp.arange(first, first + rows + 2, dtype=xp.float32) % 97
            self.u = heights[:, None] + xp.arange(columns, dtype=xp.float32) % 89
            self.v = self.u + 0
            self._kernel = SourceModule(STEP, no_extern_c=True).get_function("heat")
        self._grid = (-(-columns // 64), -(-(rows + 2) // 4))

    def step(self) -> None:
        u, v = self.u, self.v
        sizes = map(np.int32, u.shape)
        self._kernel(u.gpudata, v.gpudata, *sizes, block=(64, 4, 1), grid=self._grid)
        self.u, self.v = v, u

    def rows(self, first: int, last: int) -> Any:
        """Some columns of rows, on the host."""
        return self.u[first:last, ::7].get()


def edges_by_to(upper: Band, lower: Band) -> None:
    """The neighbours' rows, by .to()."""
    upper.u[-1] = lower.u[1].to(upper.device)
    lower.u[0] = upper.u[-2].to(lower.device)


def halo(quick: bool) -> Figures:
    rows, columns, steps = (64, 64, 3) if quick else (32768, 16384, 100)
    half = rows // 2
    first, second = devices()
    one, expected = one_gpu(first, rows, columns, steps)
    figures = {"one GPU, ms a step": 1e3 * one}
    ways: dict[str, Callable[[], tuple[float, Any]]] = {}

    def by_to(run: Callable[[tuple[Band, Band], int], None]) -> tuple[float, Any]:
        bands = Band(first, 0, half, columns), Band(second, half, half, columns)
        took = best(2, 1, lambda: run(bands, steps), first, second) / steps
        return took, [*bands[0].rows(-5, -1), *bands[1].rows(1, 5)]

    def by_nccl() -> tuple[float, Any]:
        upper, lower = two_ranks(heat_rank, half, columns, steps)
        return max(upper[0], lower[0]), [*upper[1], *lower[1]]

    ways[".to(), one thread"] = lambda: by_to(one_thread)
    ways[".to(), two threads"] = lambda: by_to(two_threads)
    if has_nccl4py() and nccl_library() != "-":
        ways["NCCL, two processes"] = by_nccl
    for name, measure in ways.items():
        took, found = measure()
        assert (np.array(found) == expected).all(), f"{name}: other rows than one GPU's"
        figures[f"{name}, ms a step"] = 1e3 * took
        figures[f"{name}, of linear"] = one / 2 / took
    return figures


def one_gpu(device: Any, rows: int, columns: int, steps: int) -> tuple[float, Any]:
    """Seconds for a step, and the rows where two bands will meet."""
    whole = Band(device, 0, rows, columns)

    def run() -> None:
        with device:
            for _ in range(steps):
                whole.step()

    took = best(2, 1, run, device) / steps
    return took, whole.rows(rows // 2 - 3, rows // 2 + 5)


def one_thread(bands: tuple[Band, Band], steps: int) -> None:
    for _ in range(steps):
        edges_by_to(*bands)
        for band in bands:
            with band.device:
                band.step()


def two_threads(bands: tuple[Band, Band], steps: int) -> None:
    """Each thread fetches its neighbour's row, when both have queued the step before."""
    meet = threading.Barrier(2)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        mine, other = bands[number], bands[1 - number]
        try:
            with mine.device:
                for _ in range(steps):
                    row = other.u[1 if number == 0 else -2].to(mine.device)
                    meet.wait(60)
                    mine.u[-1 if number == 0 else 0] = row
                    mine.step()
                    meet.wait(60)
        except BaseException as error:
            errors.append(error)
            meet.abort()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def heat_rank(comm: Any, device: Any, rows: int, columns: int, steps: int) -> tuple[float, Any]:
    import nccl.core

    band = Band(device, comm.rank * rows, rows, columns)
    other = 1 - comm.rank
    inner, outer = (-2, -1) if comm.rank == 0 else (1, 0)

    def run() -> None:
        for _ in range(steps):
            with nccl.core.group():
                comm.send(band.u[inner], other)
                comm.recv(band.u[outer], other)
            band.step()

    took = best(2, 1, run, device) / steps
    return took, band.rows(-5, -1) if comm.rank == 0 else band.rows(1, 5)


# ---- Dask ----------------------------------------------------------------------------------------


DASK_PROGRAMS = ("map-reduce", "SVD by subspace iteration", "randomized SVD", "Monte Carlo")


def numbers(seed: int, size: int) -> Any:
    """Normally distributed float32 of one chunk, made on the device."""
    import pygpu.random
    from pygpu import xp

    return pygpu.random.default_rng(seed).standard_normal(size, dtype=xp.float32)


def chunk_of_numbers(block_info: Any = None) -> Any:
    from math import prod

    place = block_info[None]
    shape, number = place["chunk-shape"], place["chunk-location"]
    return numbers(hash(number) & 0xFFFF, prod(shape)).reshape(shape)


def random_chunks(shape: tuple[int, ...], chunks: tuple[int, ...]) -> Any:
    import dask.array as da

    from pygpu import xp

    meta = xp.empty((0,) * len(shape), dtype=xp.float32)
    blocks = tuple((c,) * (n // c) for n, c in zip(shape, chunks))
    return da.map_blocks(chunk_of_numbers, chunks=blocks, dtype=np.float32, meta=meta)


def likelihoods(x: Any) -> Any:
    """Logarithms of the density of a mixture of normal distributions: much work for each item."""
    from pygpu import xp

    density = xp.zeros_like(x)
    for center in range(-8, 8):
        apart = x - center
        apart *= apart
        apart *= -0.5
        density += xp.exp(apart)
    return xp.log(density)


def inside_circle(seed: int, draws: int) -> float:
    """How many of so many points of a square are in its circle."""
    import pygpu.random
    from pygpu import xp

    total, part = 0, min(draws, 2**28)
    rng = pygpu.random.default_rng(seed)
    for _ in range(draws // part):
        x, y = (rng.random(part, dtype=xp.float32) for _ in range(2))
        total += int(xp.sum(x * x + y * y < 1))
    return total


def random_matrix(seed: int, rows: int, columns: int) -> Any:
    return numbers(seed, rows * columns).reshape(rows, columns)


def orthonormal(parts: tuple[Any, ...]) -> Any:
    """Columns that span those of the sum: the same ones wherever they are computed, as rounding
    does not choose their signs."""
    from pygpu import xp

    q, r = xp.linalg.qr(sum(parts[1:], parts[0]))
    return xp.where(xp.linalg.diagonal(r) < 0, -q, q)


def products(blocks: list[Any], x: Any) -> Any:
    """The sum of a.T @ a @ x over the blocks of rows that a worker has."""
    total = None
    for a in blocks:
        y = a.T @ (a @ x)
        total = y if total is None else total + y
    return total


def first_products(blocks: list[Any], seed: int, rows: int, columns: int) -> Any:
    return products(blocks, random_matrix(seed, rows, columns))


def next_products(blocks: list[Any], *parts: Any) -> Any:
    return products(blocks, orthonormal(parts))


def ritz_values(*parts: Any) -> Any:
    """Singular values from the sum of (a @ x).T @ (a @ x), the largest first."""
    from pygpu import xp

    return xp.sqrt(xp.linalg.eigvalsh(sum(parts[1:], parts[0])))[::-1]


def projected(blocks: list[Any], *parts: Any) -> Any:
    x, total = orthonormal(parts), None
    for a in blocks:
        y = a @ x
        total = y.T @ y if total is None else total + y.T @ y
    return total


def blocks_on_workers(client: Any, count: int, rows: int, columns: int) -> dict[str, list[Any]]:
    """By worker, futures of its blocks of rows: as many on each."""
    from distributed import wait as wait_for

    workers = [*client.scheduler_info()["workers"]]
    blocks = {
        worker: [
            client.submit(random_matrix, seed, rows, columns, workers=[worker], pure=False)
            for seed in range(number, count, len(workers))
        ]
        for number, worker in enumerate(workers)
    }
    wait_for([*blocks.values()])
    return blocks


def subspace_iteration(
    client: Any, blocks: dict[str, list[Any]], columns: int, rank: int, rounds: int
) -> Any:
    """The largest singular values of a tall matrix. A round is one task for each worker: it reads
    all its blocks of rows, and its columns * rank numbers go to each other worker. All of them
    then compute the same orthonormal columns, which is faster than to get those of one worker."""

    def on_each(function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return [
            client.submit(function, mine, *arguments, workers=[worker], pure=False)
            for worker, mine in blocks.items()
        ]

    parts = on_each(first_products, 77, columns, rank + 10)
    for _ in range(rounds - 1):
        parts = on_each(next_products, *parts)
    squares = on_each(projected, *parts)
    values = client.submit(ritz_values, *squares, pure=False).result()
    return values[:rank].get()


def rows_for_one_gpu(blocks: int, columns: int) -> int:
    """Rows of each of so many float32 blocks that fill 0.6 of a GPU together."""
    from pygpu.cuda import driver

    driver.init()
    each = 0.6 * driver.Device(0).total_memory() / (4 * blocks * columns)
    return int(each) // 4096 * 4096


def dask_programs(quick: bool, client: Any) -> dict[str, Callable[[], Any]]:
    import dask.array as da

    from pygpu import xp

    items = 2**10 if quick else 2**30
    x = random_chunks((48 * items,), (items,))  # 192 GiB, of which few chunks are there at a time
    rows, columns = (64, 16) if quick else (rows_for_one_gpu(8, 5120), 5120)
    blocks = blocks_on_workers(client, 8, rows, columns)
    matrix = da.concatenate(
        [
            da.from_delayed(block, (rows, columns), meta=xp.empty((0, 0), dtype=xp.float32))
            for block in [*itertools.chain(*blocks.values())]
        ]
    )
    rank = 4 if quick else 490
    tasks, draws = 32, 2**12 if quick else 2**33
    begin = time.perf_counter()
    # Graphs are made once: that is the client's time, and the same for any number of GPUs.
    mean = x.map_blocks(likelihoods, meta=x._meta).mean()
    rng = da.random.default_rng(1)
    values = da.linalg.svd_compressed(matrix, rank, n_power_iter=4, seed=rng)[1]
    print(f"graphs: {time.perf_counter() - begin:.3f} s", file=sys.stderr)
    return {
        "map-reduce": lambda: float(mean.compute()),
        "SVD by subspace iteration": lambda: subspace_iteration(client, blocks, columns, rank, 4),
        "randomized SVD": lambda: values.compute().get(),
        "Monte Carlo": lambda: (
            4
            * sum(client.gather(client.map(inside_circle, range(tasks), draws=draws, pure=False)))
            / (tasks * draws)
        ),
    }


def on_workers(count: int, quick: bool) -> Figures:
    import dask
    from distributed import Client, LocalCluster

    import pygpu.dask

    dask.config.set(
        {
            "array.backend": "pygpu",
            "distributed.worker.preload": ["pygpu.dask"],
            "distributed.logging.distributed": "error",
        }
    )
    figures: Figures = {}
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=0,  # of the host's memory; arrays on the device would count as such
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(pygpu.dask.DeviceOfWorker([f"cuda:{n}" for n in range(count)]))
        found = {}
        for name, run in dask_programs(quick, client).items():
            found[name] = run()  # compiles, and fills the pools
            times = []
            for _ in range(1 if quick else 2):
                begin = time.perf_counter()
                run()
                times.append(time.perf_counter() - begin)
            figures[f"Dask {name}, {count} GPU, s"] = min(times)
            print(f"{name}, {count} workers: {min(times):.3f} s", file=sys.stderr)
        two_ways = found["SVD by subspace iteration"], found["randomized SVD"]
        assert np.allclose(*two_ways, rtol=0.02), "other singular values"
        figures |= costs(quick, client)
    return figures


def same(value: Any) -> Any:
    return value


def costs(quick: bool, client: Any) -> Figures:
    """What scale_model.py needs: the scheduler's time for a task, and bytes between workers."""
    workers = [*client.scheduler_info()["workers"]]
    count = 100 if quick else 1000
    client.gather(client.map(same, range(count), pure=False))
    begin = time.perf_counter()
    client.gather(client.map(same, range(count), pure=False))
    figures = {
        f"Dask, {len(workers)} workers, ms a task": 1e3 * (time.perf_counter() - begin) / count
    }
    if len(workers) == 2:
        size = 2**16 if quick else 2**26
        took = []
        for seed in range(4):
            x = client.submit(numbers, seed, size, workers=workers[:1], pure=False)
            client.submit(len, x, workers=workers[:1], pure=False).result()
            begin = time.perf_counter()
            client.submit(len, x, workers=workers[1:], pure=False).result()
            took.append(time.perf_counter() - begin)
        figures["Dask, GB/s between workers"] = 4 * size / min(took) / 1e9
    return figures


def dask_part(quick: bool) -> Figures:
    figures = on_workers(1, quick) | on_workers(2, quick)
    for name in DASK_PROGRAMS:
        one, two = (figures[f"Dask {name}, {n} GPU, s"] for n in (1, 2))
        figures[f"Dask {name}, times one GPU"] = one / two
    return figures


# ---- the whole -----------------------------------------------------------------------------------

PARTS = {"copies": copies, "nccl": nccl, "halo": halo, "dask": dask_part}


def targets(f: Figures) -> list[tuple[str, float | None, float]]:
    def over(above: str, below: str) -> float | None:
        return f[above] / f[below] if above in f and below in f else None

    reduce_by = "nccl4py all-reduce 1024 MiB, "
    rows = [
        (".to() of 1 GiB over C's peer copy", over(".to() 1024 MiB", "C peer copy 1024 MiB"), 0.9),
        (".to() of 1 GiB over NCCL's", over(".to() 1024 MiB", "C NCCL send 1024 MiB"), 0.8),
    ]
    for way in ("one process", "two processes"):
        value = over(reduce_by + way, "C all-reduce 1024 MiB")
        rows.append((f"all-reduce of 1 GiB, {way}, over C", value, 0.98))
    for way in (".to(), one thread", ".to(), two threads", "NCCL, two processes"):
        rows.append((f"halo exchange by {way}, of linear", f.get(f"{way}, of linear"), 0.9))
    for name in DASK_PROGRAMS:
        rows.append((f"Dask, {name}, times one GPU", f.get(f"Dask {name}, times one GPU"), 1.9))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas")
    parser.add_argument("--quick", action="store_true", help="small: does it run?")
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    common.find_library("pygpu")
    if options.part:
        print(json.dumps(PARTS[options.part](options.quick)))
        return
    print(cuda_common.machine())
    figures: Figures = {}
    around = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for part in options.only.split(","):
        begin = time.perf_counter()
        command = [sys.executable, __file__, "--part", part, *["--quick"] * options.quick]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=around)
        took = time.perf_counter() - begin
        if done.returncode:
            print(f"{part}: exit status {done.returncode} after {took:.0f} s")
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        figures |= found
        unit = "GB/s" if part in ("copies", "nccl") else ""
        rows = [[name, common.number(value)] for name, value in found.items()]
        common.table(f"{part}, {took:.0f} s", ["", unit], rows)
    rows = [
        [what, common.number(value), f"{least}", "-" if value is None else yes(value >= least)]
        for what, value, least in targets(figures)
    ]
    common.table("Targets", ["", "measured", "at least", "reached"], rows)
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1))


def yes(true: bool) -> str:
    return "yes" if true else "no"


if __name__ == "__main__":
    main()
