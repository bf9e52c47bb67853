"""What building a program costs, cold and warm: pygpu, pyopencl and C, each in fresh processes.

python benchmarks/build.py [--platform P] [--device D] [--repeats R] [--quick]

"cold": all caches empty, the library's and the driver's. "warm": the same program was built
before by another process. "warm, driver's cache": the same with the library's own cache turned
off. Each figure is a median; "first launch" counts because some drivers compile only then (PoCL).
"again": the same source a second time in the same process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter_ns

import common

STEPS = ("build", "kernel", "first launch", "again")
CACHES = ("cold", "warm", "warm, driver's cache")
NO_CACHE = {"PYOPENCL_NO_CACHE": "1"}  # pygpu: cache_dir=False


def source(kernels: int) -> str:
    """A program of so many different kernels; the first is called "first"."""
    text = []
    for i in range(kernels):
        text.append(f"""
kernel void {"first" if i == 0 else f"kernel{i}"}(global float *a)
{{
    int at = get_global_id(0);
    float x = a[at] + {i}.0f;
    for (int step = 0; step < {i + 3}; step++)
        x = fma(x, 0.5f, sin(x) * {i + 1}.0f) + (at % {i + 2} == 0 ? sqrt(fabs(x)) : exp(-x * x));
    a[at] = x;
}}
""")
    return "".join(text)


SOURCES = {"1 kernel": source(1), "40 kernels": source(40)}


def sample(library: str, device: common.Device, path: str, cached: bool) -> list[float]:
    """One measurement, in this process."""
    with common.drivers_in_a_folder() if library == "pyopencl" else nullcontext():
        cl = common.find_library(library)
        assert cl is not None
        context, queue = common.open_queue(cl, device)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
    text = Path(path).read_text()
    keywords = {} if cached or library != "pygpu" else {"cache_dir": False}
    times = [perf_counter_ns()]
    program = cl.Program(context, text).build(**keywords)
    times.append(perf_counter_ns())
    kernel = program.first
    times.append(perf_counter_ns())
    kernel(queue, (1,), None, buffer)
    queue.finish()
    times.append(perf_counter_ns())
    cl.Program(context, text).build(**keywords)
    times.append(perf_counter_ns())
    return [after - before for before, after in zip(times, times[1:])]


def caches_in(folder: str) -> dict[str, str]:
    """Environment variables that put every cache, the drivers' too, under this folder."""
    variables = {
        "XDG_CACHE_HOME": "xdg",
        "POCL_CACHE_DIR": "pocl",
        "CUDA_CACHE_PATH": "cuda",
        "NEO_CACHE_DIR": "intel",
    }
    for place in variables.values():
        (Path(folder) / place).mkdir(parents=True, exist_ok=True)
    return {name: str(Path(folder) / place) for name, place in variables.items()}


def case(
    library: str, device: common.Device, path: str, cache: str, warm: str
) -> Callable[[], list[float]]:
    cached = cache != CACHES[2]

    def in_folder(folder: str) -> list[float]:
        outside = caches_in(folder) | ({} if cached else NO_CACHE)
        if library == "C":
            command = [
                str(common.compile_c("build.c")),
                common.opencl_library(),
                device.word(),
                path,
            ]
            done = subprocess.run(
                command,
                env=common.ENVIRONMENT | outside,
                check=True,
                capture_output=True,
                text=True,
            )
            return [float(word) for word in done.stdout.split()]
        words = [f"--worker={library}", f"--chosen={device.word()}", f"--path={path}"]
        return common.in_worker(words + ([] if cached else ["--no-cache"]), outside)

    def measure() -> list[float]:
        if cache == "cold":
            with tempfile.TemporaryDirectory() as folder:
                return in_folder(folder)
        return in_folder(warm)

    return measure


def main() -> None:
    parser = common.arguments(str(__doc__).splitlines()[0], repeats=7)
    parser.add_argument("--worker", choices=common.LIBRARIES, help="used by the script itself")
    parser.add_argument("--path", help="used by the script itself")
    parser.add_argument("--no-cache", action="store_true", help="used by the script itself")
    options = parser.parse_args()
    device = common.choose_device(options)
    if options.worker:
        print(json.dumps(sample(options.worker, device, options.path, not options.no_cache)))
        return
    repeats = 2 if options.quick else options.repeats
    installed = [name for name in common.LIBRARIES if common.find_library(name)]
    names = ["C", *installed]
    with tempfile.TemporaryDirectory() as folder:
        cases = {}
        for number, (size, text) in enumerate(SOURCES.items()):
            path = Path(folder) / f"{number}.cl"
            path.write_text(text)
            for name in names:
                for cache in CACHES:
                    if name == "C" and cache == CACHES[2]:
                        continue
                    # Warm caches of its own; the first round, not counted, fills them.
                    warm = str(Path(folder) / f"{number}-{name}-{CACHES.index(cache)}")
                    cases[f"{name}|{size}|{cache}"] = case(name, device, str(path), cache, warm)
        series = common.rounds(cases, repeats)
    print(f"{common.machine(device)}; medians of {repeats} fresh processes")
    rows = []
    for size in SOURCES:
        for cache in CACHES:
            for name in ("C", *common.LIBRARIES):
                values = series.get(f"{name}|{size}|{cache}")
                if values is None:
                    if name != "C":
                        rows.append([size, cache, name, *[common.NOT_INSTALLED] * (len(STEPS) + 1)])
                    continue
                steps = {step: [value[i] for value in values] for i, step in enumerate(STEPS)}
                steps["until launched"] = [sum(value[:3]) for value in values]
                times = [common.number(common.median(steps, step), 1e6) for step in steps]
                rows.append([size, cache, name, *times])
    header = ["program", "caches", "library", *[f"{step}, ms" for step in STEPS]]
    common.table("Build", [*header, "until launched, ms"], rows)


if __name__ == "__main__":
    sys.exit(main())
