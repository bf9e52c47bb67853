"""What a program of Dask would take on 1, 2, 8, 64 and 1000 GPUs, and which chunks it should have.

python benchmarks/scale_model.py [--task MS] [--scheduler MS] [--link GB/S] [--figures FILE]

A model, run event by event: a scheduler that deals with one task after the other, workers with a
GPU each, and partial results that go from worker to worker. docs/arrays/scale.md explains it.
--figures: what scaling.py --json wrote; its programs are compared with the model.
"""

from __future__ import annotations

import argparse
import heapq
import json
from pathlib import Path
from typing import NamedTuple

import common

GPUS = (1, 2, 8, 64, 1000)
FAN_IN = 4  # how many partial results dask.array adds up at once


class Costs(NamedTuple):
    """Seconds, and bytes a second."""

    task: float  # of a worker, for each task, besides the GPU's work
    scheduler: float  # for each task; tasks of all workers wait for each other here
    latency: float  # of a message between workers
    link: float  # between workers


class Program(NamedTuple):
    """Rounds that depend on each other: a task for each chunk, then a tree of sums."""

    name: str
    chunks: int
    seconds: float  # of a GPU, for a chunk in a round
    rounds: int = 1
    partial: float = 8.0  # bytes of a partial result


def run(program: Program, gpus: int, costs: Costs) -> float:
    """The seconds that a program takes."""
    start = 0.0
    free = [0.0] * gpus
    for _ in range(program.rounds):
        start = one_round(program, start, free, costs)
    return start


def one_round(program: Program, start: float, free: list[float], costs: Costs) -> float:
    """When the last sum of this round is there. free: when each worker is."""
    gpus = len(free)
    # (when a task is ready for the scheduler, number, level, worker, seconds of its GPU)
    ready = [(start, n, 0, n % gpus, program.seconds) for n in range(program.chunks)]
    heapq.heapify(ready)
    waiting: dict[int, list[tuple[float, int]]] = {}  # by level: when and where inputs are there
    left = {0: program.chunks}  # results that are still to come, by level
    scheduler, number, end = start, program.chunks, start
    while ready:
        when, _, level, worker, work = heapq.heappop(ready)
        scheduler = max(scheduler, when) + costs.scheduler
        begin = max(scheduler, free[worker])
        free[worker] = end = begin + costs.task + work
        inputs = waiting.setdefault(level, [])
        inputs.append((end, worker))
        left[level] -= 1
        if len(inputs) == FAN_IN or (left[level] == 0 and (len(inputs) > 1 or level == 0)):
            there = max(time for time, _ in inputs)
            place = inputs[0][1]
            away = sum(w != place for _, w in inputs)
            there += away * (costs.latency + program.partial / costs.link)
            ready_there = (there, number, level + 1, place, 0.0)
            expected = sums_after(program.chunks, level)
            left.setdefault(level + 1, expected)
            heapq.heappush(ready, ready_there)
            number += 1
            inputs.clear()
    return end


def sums_after(chunks: int, level: int) -> int:
    """How many sums there are one level above this one."""
    for _ in range(level + 1):
        chunks = -(-chunks // FAN_IN)
    return chunks


def advised(gpus: int, costs: Costs, overhead: float = 0.1) -> float:
    """Seconds of a GPU's work in a task for which all else is at most this part of it.

    A worker spends costs.task beside it; the scheduler must have dealt with a task of each other
    GPU until it is over.
    """
    return max(costs.task / overhead, gpus * costs.scheduler * (1 + overhead))


def check(figures: dict[str, float], costs: Costs) -> list[list[str]]:
    """The programs of scaling.py: the GPU's work is what one GPU took, two are predicted."""
    rows = []
    for name, chunks, rounds, partial in (
        ("map-reduce", 96, 1, 8.0),
        ("Monte Carlo", 64, 1, 8.0),
        ("randomized SVD", 8, 10, 5120 * 500 * 4.0),
    ):
        one, two = (figures.get(f"Dask {name}, {n} GPU, s") for n in (1, 2))
        if one is None or two is None:
            continue
        idle = run(Program(name, chunks, 0.0, rounds, partial), 1, costs)
        work = max(0.0, one - idle) / chunks / rounds
        program = Program(name, chunks, work, rounds, partial)
        modelled = run(program, 2, costs)
        rows.append(
            [name, common.number(1e3 * work), *(f"{s:.2f}" for s in (one, two, modelled))]
            + [f"{one / two:.2f}", f"{run(program, 1, costs) / modelled:.2f}"]
        )
    return rows


def scaled(milliseconds: float, costs: Costs, chunks_each: int = 16) -> list[str]:
    """Efficiency with so many chunks for each GPU, of so many ms each."""
    row = [f"{milliseconds:g} ms"]
    for gpus in GPUS:
        program = Program("", chunks_each * gpus, milliseconds / 1e3)
        row.append(f"{chunks_each * milliseconds / 1e3 / run(program, gpus, costs):.0%}")
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--task", type=float, default=3.3, help="a worker's ms for a task")
    parser.add_argument("--scheduler", type=float, default=1.0, help="the scheduler's ms for one")
    parser.add_argument("--latency", type=float, default=2.0, help="ms of a message")
    parser.add_argument("--link", type=float, default=1.1, help="GB/s between workers")
    parser.add_argument("--memory", type=float, default=2.5, help="TB/s of a GPU's memory")
    parser.add_argument("--figures", help="a file of scaling.py --json")
    options = parser.parse_args()
    costs = Costs(
        options.task / 1e3, options.scheduler / 1e3, options.latency / 1e3, options.link * 1e9
    )
    if options.figures:
        rows = check(json.loads(Path(options.figures).read_text()), costs)
        header = ["program", "ms a chunk", "1 GPU, s", "2 GPUs, s", "model", "times", "model"]
        common.table("Measured and modelled", header, rows)
    header = ["a GPU's work in a task", *(f"{gpus} GPUs" for gpus in GPUS)]
    rows = [scaled(ms, costs) for ms in (1, 10, 50, 200, 1000, 5000)]
    common.table("Efficiency of map-reduce, 16 chunks for each GPU", header, rows)
    rows = []
    for gpus in GPUS:
        work = advised(gpus, costs)
        sizes = (work * options.memory * 1e12 / passes / 2**30 for passes in (4, 100))
        rows.append(
            [str(gpus), common.number(1e3 * work), *(common.number(size) for size in sizes)]
        )
    header = ["GPUs", "ms in a task", "GiB a chunk, 4 passes", "GiB a chunk, 100 passes"]
    common.table("Least work in a task for 90 %", header, rows)


if __name__ == "__main__":
    main()
