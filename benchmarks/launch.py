"""What a kernel launch costs: pygpu, pyopencl and a C program making the same calls, in one run.

python benchmarks/launch.py [--platform P] [--device D] [--repeats R] [--launches N] [--quick]

A launch is k(queue, (1,), None, *args) with its Event dropped; in C, every argument set, the
enqueue with an event, the event's release. N launches are enqueued, then one finish.
1 argument: a Buffer. 4: two Buffers, int, float. 16: four Buffers, ints, floats and longs.
"constant": always the same arguments; "changing": every one differs from the launch before. Last,
pygpu and C by turns.
Once with the device's driver, and once with null_opencl.c in front of it, which leaves the
caller's own cost. "arguments kept": enqueue_nd_range_kernel() alone.
"""

from __future__ import annotations

import json
import statistics
import sys
import warnings
from collections.abc import Callable
from itertools import repeat
from time import monotonic, perf_counter_ns, sleep, thread_time_ns
from typing import Any

import numpy as np

import common

COUNTS = (1, 4, 16)
HOWS = ("constant", "changing")
PAIRS = 4  # a round: measurements of pygpu and C by turns
SECONDS = 12.0  # after which there are no more rounds, and no more pairs
PAUSE = 0.002  # s: the C program has waited for its turn too, which busy schedulers reward
SETS = 4
BUFFERS = {1: 1, 4: 2, 16: 4}
EACH = {1: (0, 0, 0), 4: (1, 1, 0), 16: (4, 4, 4)}  # ints, floats, longs
KINDS = {"NumPy scalars": (np.int32, np.float32, np.int64), "Python scalars": (int, float, int)}

# Name of the case -> library, how the kernel is called, which scalars, whether dtypes are declared.
CASES = {
    "pygpu, held, NumPy scalars": ("pygpu", "held", "NumPy scalars", False),
    "pygpu, held, Python scalars": ("pygpu", "held", "Python scalars", False),
    "pygpu, `prg.k`, NumPy scalars": ("pygpu", "attribute", "NumPy scalars", False),
    "pygpu, arguments kept": ("pygpu", "enqueue", "NumPy scalars", False),
    "pyopencl, held, NumPy scalars": ("pyopencl", "held", "NumPy scalars", False),
    "pyopencl, held, NumPy scalars, dtypes declared": ("pyopencl", "held", "NumPy scalars", True),
    "pyopencl, held, Python scalars, dtypes declared": ("pyopencl", "held", "Python scalars", True),
    "pyopencl, `prg.k`, NumPy scalars": ("pyopencl", "attribute", "NumPy scalars", False),
    "pyopencl, arguments kept": ("pyopencl", "enqueue", "NumPy scalars", False),
}
OURS = "pygpu, held, NumPy scalars"
# The targets in us, for any machine: they were set where PyOpenCL took 0.53 us for 1 argument and
# 65 us for 16, as 0.20 and 0.45 us.
OVER = ((1, 0.53 / 0.20), (16, 65 / 0.45))
# These launch so many times fewer, or a run would take minutes.
SLOW = {"pyopencl, `prg.k`, NumPy scalars": 20, "pyopencl, held, NumPy scalars": 4}


def expected_sum(n_args: int, which: int) -> int:
    """count[1] after a launch with the arguments of set *which* (see launch.cl)."""
    scalars = sum(EACH[n_args])
    return sum(range(1, BUFFERS[n_args])) + sum(range(1 + which, 1 + which + scalars))


def make_sets(buffers: list[Any], others: list[Any], n_args: int, kind: str) -> list[tuple]:
    """SETS tuples of arguments that differ in every place but the constant buffers' contents."""
    sets = []
    for which in range(SETS):
        value, scalars = 1 + which, []
        for how_many, convert in zip(EACH[n_args], KINDS[kind]):
            scalars += [convert(value + i) for i in range(how_many)]
            value += how_many
        first = 0 if which % 2 == 0 else len(others) // 2
        sets.append((buffers[which], *others[first : first + BUFFERS[n_args] - 1], *scalars))
    return sets


def make_loop(how: str, n_args: int) -> Callable:
    """loop(target, queue, sets, n, enqueue): n launches written out as a program would write them,
    four a turn; ns until enqueued, until finished, and of processor time until enqueued."""
    call = {
        "held": "target(queue, size, None, {})",
        "attribute": f"target.launch{n_args}(queue, size, None, {{}})",
        "enqueue": "enqueue(queue, target, size, None)",
    }[how]
    names = [", ".join(f"{letter}{i}" for i in range(n_args)) for letter in "abcd"]
    lines = ["def loop(target, queue, sets, n, enqueue):", "    size = (1,)"]
    lines += [f"    {name}, = sets[{i}]" for i, name in enumerate(names)]
    lines += ["    begin, begin_busy = clock(), busy()", "    for _ in repeat(None, n // 4):"]
    lines += ["        " + call.format(name) for name in names]
    lines += ["    enqueued_busy, enqueued = busy(), clock()", "    queue.finish()"]
    lines += ["    return enqueued - begin, clock() - begin, enqueued_busy - begin_busy"]
    space: dict[str, Any] = {"clock": perf_counter_ns, "busy": thread_time_ns, "repeat": repeat}
    exec("\n".join(lines), space)
    return space["loop"]


class Library:
    """One of the Python libraries with its context, kernels and buffers."""

    def __init__(self, cl: Any, device: common.Device, null: bool) -> None:
        self.cl, self.null = cl, null
        self.context, self.queue = common.open_queue(cl, device)
        source = (common.HERE / "launch.cl").read_text()
        self.program = cl.Program(self.context, source).build()
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR

        def buffer(first: int) -> Any:
            return cl.Buffer(self.context, flags, hostbuf=np.array([first, 0], np.uint32))

        self.buffers = [buffer(0) for _ in range(SETS)]
        self.others = [buffer(i) for i in (1, 2, 3, 1, 2, 3)]

    def kernel(self, n_args: int, kind: str, declared: bool) -> Any:
        kernel = self.cl.Kernel(self.program, f"launch{n_args}")
        if declared:
            types = [
                t for many, t in zip(EACH[n_args], KINDS["NumPy scalars"]) for _ in range(many)
            ]
            kernel.set_scalar_arg_dtypes([None] * BUFFERS[n_args] + types)
        return kernel

    def case(self, n_args: int, spec: tuple, changing: bool, launches: int) -> Callable[[], tuple]:
        """One measurement: ns a launch until enqueued and until finished; checks the results."""
        _, how, kind, declared = spec
        target = self.program if how == "attribute" else self.kernel(n_args, kind, declared)
        sets = make_sets(self.buffers, self.others, n_args, kind)
        if not changing:
            sets = [sets[0]] * SETS
        if how == "enqueue":
            sets = [sets[0]] * SETS
            target.set_args(*sets[0])
        loop = make_loop(how, n_args)
        last = SETS - 1 if changing and how != "enqueue" else 0

        def measure() -> tuple[float, ...]:
            zeros, result = np.zeros(2, np.uint32), np.zeros(2, np.uint32)
            for buffer in self.buffers:
                self.cl.enqueue_copy(self.queue, buffer, zeros)
            enqueue = self.cl.enqueue_nd_range_kernel
            sleep(PAUSE)
            times = loop(target, self.queue, sets, launches, enqueue)
            counted = 0
            for buffer in self.buffers:
                self.cl.enqueue_copy(self.queue, result, buffer)
                counted += int(result[0])
            if not self.null:
                self.cl.enqueue_copy(self.queue, result, self.buffers[last])
                want = 0 if n_args == 1 else expected_sum(n_args, last)
                check(
                    counted == launches and result[1] == want,
                    spec,
                    counted,
                    launches,
                    result[1],
                    want,
                )
            return tuple(time / launches for time in times)

        return measure


def check(right: bool, *what: object) -> None:
    if not right:
        raise SystemExit(f"launches or arguments were lost: {what}")


def worker(device: common.Device, null: bool, repeats: int, launches: int) -> dict[str, list]:
    """All cases with one driver: "CASE|ARGS|constant" -> [[ns, ns, ns], ...]."""
    warnings.simplefilter("ignore")  # pyopencl's own about prg.k
    opened = common.open_libraries(lambda module: Library(module, device, null))
    program = common.CProgram("launch.c", device, str(common.HERE / "launch.cl"))
    cases: dict[str, Callable] = {}
    for n_args in COUNTS:
        for how in HOWS:
            changing, end = how == "changing", f"|{n_args}|{how}"
            cases["C" + end] = c_case(program, n_args, changing, launches, null)
            for name, spec in CASES.items():
                if spec[0] in opened and not (spec[1] == "enqueue" and changing):
                    few = max(4, launches // SLOW.get(name, 1) // 4 * 4)
                    cases[name + end] = opened[spec[0]].case(n_args, spec, changing, few)
    series = common.rounds(cases, repeats, SECONDS)
    if "pygpu" in opened and not null:
        series |= pairs(cases, PAIRS * repeats)
    program.close()
    return series


def pairs(cases: dict[str, Callable], how_many: int) -> dict[str, list]:
    """pygpu and C by turns with nothing in between, so that a slow phase of the machine meets both:
    "pair|ARGS|constant" -> [[time to enqueue over C's, processor time over C's], ...]."""
    found: dict[str, list] = {}
    stop = monotonic() + SECONDS
    for number in range(how_many):
        if number > 3 and monotonic() > stop:
            break
        for end in [f"|{n_args}|{how}" for n_args in COUNTS for how in HOWS]:
            names = ("C" + end, OURS + end)
            times = {name: cases[name]() for name in (names if number % 2 else names[::-1])}
            ours, c = times[OURS + end], times["C" + end]
            found.setdefault("pair" + end, []).append([ours[0] / c[0], ours[2] / c[2]])
    return found


def c_case(
    program: common.CProgram, n_args: int, changing: bool, launches: int, null: bool
) -> Callable:
    def measure() -> tuple[float, ...]:
        sets = SETS if changing else 1
        *times, counted, seen = program.ask(n_args, sets, launches)
        want = 0 if n_args == 1 else expected_sum(n_args, sets - 1)
        check(null or (counted == launches and seen == want), "C", counted, launches, seen, want)
        return tuple(times)

    return measure


def show(title: str, series: dict[str, list], column: int) -> dict[str, float]:
    """Prints medians (and least) in us; returns medians by name, the least by "least NAME"."""
    picked = {name: [value[column] for value in values] for name, values in series.items()}
    measured = {name.split(",")[0].split("|")[0] for name in picked}
    rows = []
    for name in ("C", *CASES):
        row = [name]
        for n_args in COUNTS:
            for how in HOWS:
                value = common.median(picked, f"{name}|{n_args}|{how}")
                least = common.best(picked, f"{name}|{n_args}|{how}")
                if value is not None:
                    row.append(f"{common.number(value, 1e3)} ({common.number(least, 1e3)})")
                else:
                    row.append("" if name.split(",")[0] in measured else common.NOT_INSTALLED)
        rows.append(row)
    header = [f"{n} arg{'s' if n > 1 else ''}, {how}" for n in COUNTS for how in HOWS]
    common.table(f"{title}, us a launch: median (least)", ["", *header], rows)
    least = {f"least {name}": common.best(picked, name) or 0.0 for name in picked}
    return least | {name: common.median(picked, name) or 0.0 for name in picked}


def compare(
    real: dict[str, float], busy: dict[str, float], null: dict[str, float], paired: dict[str, list]
) -> None:
    """The ratios that matter, and the targets; busy is processor time."""
    ours, theirs = OURS, "pyopencl, held, NumPy scalars"
    our_attribute = "pygpu, `prg.k`, NumPy scalars"
    their_attribute = "pyopencl, `prg.k`, NumPy scalars"
    pairs = {
        "pygpu / C": (real, ours, "C"),
        "pygpu / C, processor time": (busy, ours, "C"),
        "pyopencl / C": (real, theirs, "C"),
        "pyopencl / pygpu": (real, theirs, ours),
        "pyopencl / pygpu, `prg.k`": (real, their_attribute, our_attribute),
        "pyopencl / pygpu, own cost": (null, theirs, ours),
    }
    rows = []
    for end in [f"|{n_args}|{how}" for n_args in COUNTS for how in HOWS]:
        row = [end[1:].replace("|", ", ")]
        for figures, over, under in pairs.values():
            row.append(common.ratio(figures.get(over + end), figures.get(under + end)))
        rows.append(row)
    common.table("Ratios, NumPy scalars", ["arguments", *pairs], rows)

    rows = []
    for end in [f"|{n_args}|{how}" for n_args in COUNTS for how in HOWS]:
        columns = list(zip(*paired.get("pair" + end, [])))
        row = [end[1:].replace("|", ", ")]
        for column in columns:
            quarters = statistics.quantiles(column, n=4)
            row.append(f"{quarters[1]:.2f} ({quarters[0]:.2f} to {quarters[2]:.2f})")
        rows.append(row if columns else [*row, common.NOT_INSTALLED, common.NOT_INSTALLED])
    header = ["arguments", "time to enqueue", "processor time"]
    common.table("pygpu / C by turns: median of the pairs' ratios (quartiles)", header, rows)

    changing = "|{}|changing".format
    goals = [
        ("own cost, 1 argument, us", null.get(ours + changing(1)), 1e3, 0.20),
        ("own cost, 16 arguments, us", null.get(ours + changing(16)), 1e3, 0.45),
    ]
    for figures, which in ((busy, "launch"), (null, "own cost")):
        for n_args in COUNTS:
            attribute = figures.get(our_attribute + changing(n_args))
            held = figures.get(ours + changing(n_args))
            goals.append((f"`prg.k` / held, {which}, {n_args} arg", attribute, held, 1.1))
    for how in HOWS:
        columns = list(zip(*paired.get(f"pair|4|{how}", [])))
        for column, which in zip(columns, ("time to enqueue", "processor time")):
            median = statistics.median(column)
            goals.append((f"pygpu / C by turns, 4 arguments, {how}, {which}", median, 1.0, 1.3))
    rows = []
    for what, value, base, most in goals:
        rows.append([what, *judged(value, base, most, least=False)])
    for n_args, least in OVER:
        own = [null.get(name + changing(n_args)) for name in (theirs, ours)]
        rows.append([f"own cost, pyopencl / pygpu, {n_args} arg", *judged(*own, least, least=True)])
    common.table("Targets", ["what", "measured", "target", "reached"], rows)


def judged(value: float | None, base: float | None, bound: float, *, least: bool) -> list[str]:
    """The cells of a target that value / base is to keep: measured, the target, whether it does."""
    target = f"at {'least' if least else 'most'} {common.number(bound)}"
    if not value or not base:
        return ["-", target, "-"]
    measured = value / base
    kept = measured >= bound if least else measured <= bound
    return [common.number(measured), target, "yes" if kept else "no"]


def main() -> None:
    parser = common.arguments(str(__doc__).splitlines()[0], repeats=30)
    parser.add_argument("--launches", type=int, default=500, help="a round (default %(default)s)")
    parser.add_argument("--worker", choices=("real", "null"), help="used by the script itself")
    options = parser.parse_args()
    if options.quick:
        options.repeats, options.launches = 3, 400
    device = common.choose_device(options)
    if options.worker:
        done = worker(device, options.worker == "null", options.repeats, options.launches)
        print(json.dumps(done))
        return
    words = [f"--chosen={device.word()}", f"--repeats={options.repeats}"]
    words.append(f"--launches={options.launches}")
    real_series = common.in_worker([*words, "--worker=real"], {})
    null_series = common.in_worker([*words, "--worker=null"], common.null_environment())
    print(
        f"{common.machine(device)}; {options.launches} launches, then one finish; "
        f"at most {options.repeats} rounds"
    )
    paired = {name: real_series.pop(name) for name in list(real_series) if name.startswith("pair|")}
    real = show("The driver: time to enqueue", real_series, 0)
    show("The driver: time to enqueue and finish", real_series, 1)
    real_busy = show("The driver: processor time of the enqueuing thread", real_series, 2)
    null = show("Own cost: commands cost nothing", null_series, 0)
    compare(real, real_busy, null, paired)


if __name__ == "__main__":
    sys.exit(main())
