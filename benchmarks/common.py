"""What the benchmarks share: C helpers, the libraries, the choice of a device, rounds and tables.

Times are in nanoseconds inside and printed with their unit. A measurement is repeated in rounds;
each round asks every case once, in an order that changes, so that a slow phase of the machine
falls on all of them. Tables give the median over the rounds; ratios are those of the medians.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.metadata
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from zlib import crc32

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "benchmarks"
NOT_INSTALLED = "not installed"
LIBRARIES = ("pygpu", "pyopencl")

Series = dict[str, list[float]]

# Libraries change the environment when they are imported; what C programs see stays the same.
ENVIRONMENT = dict(os.environ)


def find_library(name: str) -> ModuleType | None:
    """The library of this name, from the interpreter's path or from this checkout, or None."""
    if name == "pygpu" and str(HERE.parent) not in sys.path:
        sys.path.append(str(HERE.parent))
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    return module if module.__file__ else None  # a folder of that name is not a library


# ---- C helpers -----------------------------------------------------------------------------------


@cache
def opencl_library() -> str:
    """What the C programs open: PYGPU_OPENCL_LIBRARY or the system's loader, with its path."""
    name = ENVIRONMENT.get("PYGPU_OPENCL_LIBRARY") or "libOpenCL.so.1"
    if "/" in name:
        return name
    ctypes.CDLL(name)  # the dynamic linker looks in more places than the compiler's
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[-1]
        if path.startswith("/") and Path(path).name.startswith(name.split(".so")[0] + ".so"):
            return path
    return name


def compile_c(source: str, *flags: str) -> Path:
    """Compiles HERE/source with $CC (cc) unless that has been done; returns what was made."""
    mark = f"-{crc32(' '.join(flags).encode()):08x}" if flags else ""
    made = BUILD / (Path(source).stem + mark + (".so" if "-shared" in flags else ""))
    needed = [HERE / source, *HERE.glob("*.h"), *HERE.parent.glob("src/**/*.fn")]
    newest = max(file.stat().st_mtime for file in needed)
    if made.exists() and made.stat().st_mtime > newest:
        return made
    BUILD.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler) is None:
        raise SystemExit(f"{compiler}: no C compiler; the benchmarks compare with C (set CC)")
    command = [compiler, "-std=gnu11", "-O2"]
    command += [f"-I{HERE.parent / 'src' / folder}" for folder in ("", "opencl/api", "cuda/api")]
    command += [str(HERE / source), "-o", str(made), *flags, "-ldl"]
    subprocess.run(command, check=True)
    return made


def null_library() -> Path:
    """The library whose commands cost nothing, in front of the real one (null_opencl.c)."""
    real = opencl_library()
    flags = ["-shared", "-fPIC", f'-DREAL_LIBRARY="{real}"', "-Wl,--no-as-needed"]
    return compile_c("null_opencl.c", *flags, real, f"-Wl,-rpath,{Path(real).parent}")


def null_environment() -> dict[str, str]:
    """What a process needs to see the null library, in pygpu and in what is linked to libOpenCL."""
    null = str(null_library())
    return {"LD_PRELOAD": null, "PYGPU_OPENCL_LIBRARY": null}


class CProgram:
    """A compiled helper that answers questions, one line each (see bench.h)."""

    def __init__(self, source: str, device: Device, *args: str) -> None:
        program = [str(compile_c(source)), opencl_library(), device.word(), *args]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            program, stdin=pipe, stdout=pipe, text=True, bufsize=1, env=ENVIRONMENT
        )

    def ask(self, *words: object) -> list[float]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} stopped with {self._process.wait()}")
        return [float(word) for word in line.split()]

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


# ---- devices -------------------------------------------------------------------------------------


class Device(NamedTuple):
    """A device by its names: loaders list different platforms, and in different orders."""

    platform: str
    name: str
    rank: int  # among devices of the same names

    def word(self) -> str:
        """What the C programs take."""
        return "\t".join(map(str, self))


def list_devices(before: Sequence[str] = ()) -> list[Device]:
    """Every device of the loader that the C programs use. before: a command that runs the program
    that lists them."""
    program = [*before, str(compile_c("launch.c")), opencl_library(), "list"]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    if done.returncode:
        raise SystemExit(f"{opencl_library()}: no OpenCL platform")
    devices: list[Device] = []
    for line in done.stdout.splitlines():
        names = line.split("\t")[:2]
        rank = sum(list(device[:2]) == names for device in devices)
        devices.append(Device(names[0], names[1], rank))
    return devices


def choose_device(options: argparse.Namespace) -> Device:
    """What --platform and --device say, else PYGPU_CTX or PYOPENCL_CTX, else the first.

    The variables hold "PLATFORM[:DEVICE]", each a number or a part of the name.
    """
    if options.chosen:
        platform_name, name, rank = options.chosen.split("\t")
        return Device(platform_name, name, int(rank))
    devices = list_devices()
    if not devices:
        raise SystemExit("no OpenCL device")
    platform_wish, device_wish = options.platform, options.device
    if platform_wish is None and device_wish is None:
        words = ENVIRONMENT.get("PYGPU_CTX") or ENVIRONMENT.get("PYOPENCL_CTX") or "0"
        platform_wish, _, device_wish = words.partition(":")
    if platform_wish is not None:
        names = list(dict.fromkeys(device.platform for device in devices))
        chosen = names[_pick(names, platform_wish)]
        devices = [device for device in devices if device.platform == chosen]
    return devices[_pick([device.name for device in devices], device_wish or "0")]


def _pick(names: Sequence[str], answer: str) -> int:
    if answer.isdigit() and int(answer) < len(names):
        return int(answer)
    for number, name in enumerate(names):
        if answer.lower() in name.lower():
            return number
    raise SystemExit(f"{answer!r}: none of {', '.join(names)}")


def open_queue(cl: Any, wanted: Device) -> tuple[Any, Any]:
    """A context and an in-order queue on this device.

    Raises LookupError if the library does not see it.
    """
    found = [
        device
        for platform in cl.get_platforms()
        for device in platform.get_devices()
        if (platform.name, device.name.strip()) == (wanted.platform, wanted.name.strip())
    ]
    if len(found) <= wanted.rank:
        seen = ", ".join(platform.name for platform in cl.get_platforms())
        raise LookupError(f"{cl.__name__} does not see {wanted.name}; its platforms: {seen}")
    context = cl.Context([found[wanted.rank]])
    return context, cl.CommandQueue(context)


def other_drivers() -> list[str]:
    """Drivers that PyOpenCL's own loader does not find, but pygpu does: those of OCL_ICD_FILENAMES,
    and NVIDIA's where no file of the system names it."""
    named = ENVIRONMENT.get("OCL_ICD_FILENAMES")
    if named:
        return named.split(os.pathsep)
    known = [file.read_text().strip() for file in Path("/etc/OpenCL/vendors").glob("*.icd")]
    nvidia = "libnvidia-opencl.so.1"
    if any("nvidia" in name for name in known):
        return []
    try:
        ctypes.CDLL(nvidia)
    except OSError:
        return []
    return [*known, nvidia]


@contextmanager
def drivers_in_a_folder() -> Iterator[None]:
    """These as OCL_ICD_VENDORS, which PyOpenCL's own loader reads when it is first used."""
    drivers = [] if "OCL_ICD_VENDORS" in ENVIRONMENT else other_drivers()
    if not drivers:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        for number, driver in enumerate(drivers):
            Path(folder, f"{number}.icd").write_text(driver + "\n")
        os.environ["OCL_ICD_VENDORS"] = folder
        try:
            yield
        finally:
            del os.environ["OCL_ICD_VENDORS"]


def open_libraries(make: Callable[[Any], Any]) -> dict[str, Any]:
    """make(module) for each library that is there and sees the device."""
    opened = {}
    for name in LIBRARIES:
        with drivers_in_a_folder() if name == "pyopencl" else nullcontext():
            module = find_library(name)
            if module is not None:
                module.get_platforms()  # a loader looks for drivers once
        if module is not None:
            try:
                opened[name] = make(module)
            except LookupError as error:
                print(error, file=sys.stderr)
    return opened


# ---- rounds and tables ---------------------------------------------------------------------------


def rounds(
    cases: dict[str, Callable[[], float]], repeats: int, seconds: float = float("inf")
) -> Series:
    """Asks each case *repeats* times, interleaved, after one round that is not counted; no further
    than three times once so many seconds are over."""
    series: Series = {name: [] for name in cases}
    order = list(cases)
    shuffle = random.Random(0).shuffle
    end = time.monotonic() + seconds
    for number in range(repeats + 1):
        if number > 3 and time.monotonic() > end:
            break
        shuffle(order)
        for name in order:
            value = cases[name]()
            if number:
                series[name].append(value)
    return series


def median(series: Series, name: str) -> float | None:
    values = series.get(name)
    return statistics.median(values) if values else None


def best(series: Series, name: str) -> float | None:
    values = series.get(name)
    return min(values) if values else None


def number(value: float | None, scale: float = 1.0, missing: str = "-") -> str:
    """Three significant digits, never in exponent form."""
    if value is None:
        return missing
    value /= scale
    digits = 3 if abs(value) < 1 else 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}"


def ratio(value: float | None, base: float | None) -> str:
    return "-" if value is None or not base else f"{number(value / base)}x"


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a Markdown table under a heading."""
    print(f"\n### {title}\n")
    lines = [list(header), ["---"] * len(header), *[list(row) for row in rows]]
    for line in lines:
        print("| " + " | ".join(line) + " |")
    sys.stdout.flush()


def machine(device: Device | None = None) -> str:
    """One line that says what the figures were taken on, in general terms."""
    parts = [f"{os.cpu_count()} cores {platform.machine()}", f"Python {platform.python_version()}"]
    if device is not None:
        parts.append(" / ".join(device[:2]))
    for name in ("numpy", *LIBRARIES):
        try:
            parts.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found = find_library(name) is not None
            parts.append(f"{name} from the checkout" if found else f"{name} {NOT_INSTALLED}")
    return ", ".join(parts)


def arguments(description: str, repeats: int, *, device: bool = True) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--repeats", type=int, default=repeats, help="rounds (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="few rounds, to see whether it runs")
    if device:
        parser.add_argument("--platform", help="number, or part of the name")
        parser.add_argument(
            "--device", help="number, over all or the platform's; or part of a name"
        )
        parser.add_argument("--chosen", help=argparse.SUPPRESS)  # what a worker is told
    return parser


def in_worker(arguments: Sequence[str], environment: dict[str, str]) -> Any:
    """Runs the calling script again in a fresh interpreter; its last line of output is JSON."""
    command = [sys.executable, sys.argv[0], *arguments]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | environment
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])
