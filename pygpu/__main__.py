"""``pygpu`` and ``python -m pygpu``: what is installed, which libraries are used, each device and
its test.

Without a command, and with ``check``, devices are tested; ``info`` only lists them. ``cache`` tells
of the files that keep compiled kernels, and ``cache clear`` removes them.

OpenCL comes first, then CUDA. Where there is no NVIDIA GPU, CUDA's simulator is listed and tested,
but neither its presence nor its failure counts: it may lack no more than a C++ compiler.

Exit status: 0 if every device passed its self-test (or, with --no-test, there is a device), 1 if a
self-test failed or a driver died while it was listed, 2 if there is no device, 64 for a wrong
option.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import sys
import textwrap
from collections.abc import Iterator
from typing import Any, NoReturn

from pygpu._src.diagnosis import selftest
from pygpu._src.drivers import opencl_loader as loader
from pygpu.version import VERSION_TEXT

WIDTH = 96
PASSED, FAILED, NO_DEVICE, USAGE = 0, 1, 2, 64
VARIABLES = (
    loader.VARIABLE, *loader.ICD_VARIABLES, "OPENCL_LAYERS", "PYGPU_CTX", "PYOPENCL_CTX",
    "PYGPU_TEST", "PYOPENCL_TEST", "PYGPU_CUDA", "PYGPU_CUDA_LIBRARY", "PYGPU_NVRTC_LIBRARY",
    "PYGPU_SIM_CXX", "CUDA_VISIBLE_DEVICES", "POCL_DEVICES", "ZE_AFFINITY_MASK",
)  # fmt: skip


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n")


def collect(test: bool = True, timeout: float = 60.0) -> dict[str, Any]:
    """The whole report as a dict that JSON can hold; never raises on account of a driver.

    test: whether to run the self-test of each device. timeout: in seconds, for each child process.
    """
    report: dict[str, Any] = {
        "pygpu": _version("pygpu"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": _version("numpy"),
        "system": platform.platform(),
        "machine": platform.machine(),
        "folder": os.path.dirname(os.path.abspath(__file__)),
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }
    report.update(selftest.list_platforms(timeout))
    report["tried"] = [{"path": path, "result": result} for path, result in report["tried"]]
    count = 0
    for i, found in enumerate(report["platforms"]):
        for j, device in enumerate(found["devices"]):
            count += 1
            device["selftest"] = selftest.test_device(i, j, timeout) if test else None
    report["cuda"] = selftest.list_cuda(timeout)
    for i, device in enumerate(report["cuda"]["devices"]):
        device["selftest"] = selftest.test_cuda_device(i, timeout) if test else None
        count += not report["cuda"]["simulator"]
    report["advice"] = loader.install_lines() if count == 0 else []
    report["status"] = _status(report)
    return report


def _status(report: dict[str, Any]) -> int:
    cuda = report["cuda"]
    devices = [device for found in report["platforms"] for device in found["devices"]]
    devices += [] if cuda["simulator"] else cuda["devices"]
    tests = [device["selftest"] for device in devices if device["selftest"] is not None]
    if (
        report["error"] is not None
        or cuda["error"] is not None
        or not all(test["passed"] for test in tests)
    ):
        return FAILED
    return PASSED if devices else NO_DEVICE


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        module = sys.modules.get(name)
        return getattr(module, "__version__", None)


# ---- text -------------------------------------------------------------------------------------


def lines_of(report: dict[str, Any]) -> Iterator[str]:
    """The report as lines of text, none wider than WIDTH unless one word is."""
    yield f"pygpu {report['pygpu']}, {report['python']}, NumPy {report['numpy']}"
    yield report["system"]
    yield f"pygpu is in {report['folder']}"
    for name, value in report["environment"].items():
        yield from _wrap(f"{name}={value}", "", "    ")
    yield ""
    yield from _library_lines(report)
    if report["error"] is not None:
        yield from _wrap(f"LISTING FAILED: {report['error']}", "", "    ")
    for i, found in enumerate(report["platforms"]):
        yield ""
        yield f"Platform {i}: {found['name']}"
        yield from _wrap(f"{found['version']}, by {found['vendor']}", "    ", "    ")
        if not found["devices"]:
            from pygpu._src.runtime.opencl.device_selection import why_no_devices

            why = why_no_devices(found["name"])
            yield from _wrap(f"has no device{why}", "    ", "    ")
        for j, device in enumerate(found["devices"]):
            yield from _device_lines(i, j, device)
    yield ""
    yield from _cuda_lines(report["cuda"])
    yield ""
    yield from _verdict_lines(report)


def _cuda_lines(cuda: dict[str, Any]) -> Iterator[str]:
    version = f" (CUDA {cuda['version'] // 1000}.{cuda['version'] % 1000 // 10})"
    kind = "simulator" if cuda["simulator"] else "driver"
    yield f"CUDA {kind}: {cuda['library']}{version}" if cuda["library"] else "CUDA driver: none"
    for row in cuda["tried"]:
        if row["path"] != cuda["library"]:
            words = row["result"].removeprefix(f"{row['path']}: ")
            yield from _wrap(f"{row['path']}: {words}", "    not ", "        ")
    if cuda["error"] is not None:
        yield from _wrap(f"LISTING FAILED: {cuda['error']}", "", "    ")
    for i, device in enumerate(cuda["devices"]):
        major, minor = device["compute_capability"]
        yield ""
        yield f"  CUDA device {i}: {device['name']}"
        yield from _row("versions", f"compute capability {major}.{minor}; at {device['pci']}")
        shared, threads = _bytes(device["shared_memory"]), device["threads"]
        yield from _row("memory", f"{_bytes(device['memory'])}, shared {shared} a block")
        units = device["multiprocessors"]
        yield from _row("units", f"{units} multiprocessors, blocks of up to {threads} threads")
        yield from _selftest_lines(device["selftest"])


def _row(name: str, text: Any) -> list[str]:
    return _wrap(str(text), f"    {name:<13}", " " * 17)


def _selftest_lines(test: dict[str, Any] | None) -> Iterator[str]:
    if test is not None:
        steps = ", ".join(f"{name} {ms:.1f}" for name, ms in test["steps"].items())
        result = "passed" if test["passed"] else f"FAILED: {test['message']}"
        yield from _row("self-test", result + (f" (ms: {steps})" if steps else ""))


def _library_lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"OpenCL library: {report['library'] or 'none'}"
    for path in report["offered"]:
        yield f"    was offered the driver {path}"
    for row in report["tried"]:
        if row["path"] != report["library"]:
            words = row["result"].removeprefix(f"{row['path']}: ")
            yield from _wrap(f"{row['path']}: {words}", "    not ", "        ")
    if report["library"] is not None and report["library"] not in report["drivers"]:
        for path in report["drivers"]:
            if path not in report["offered"]:
                yield "    there is also a driver from a package, which no loader lists; to use it:"
                yield f"        {loader.VARIABLE}={path}"


def _device_lines(i: int, j: int, device: dict[str, Any]) -> Iterator[str]:
    def has(name: str) -> str:
        return "yes" if device[name] else "no"

    kind = " ".join(device["type"] or ["device"])
    yield ""
    yield f"  Device {i}:{j}: {device['name']}"
    yield from _row("kind", f"{kind}, by {device['vendor']}")
    yield from _row("versions", f"{device['version']}; {device['c_version']}")
    yield from _row("driver", device["driver_version"])
    if device["available"] is False:
        yield from _row("available", "no")
    if device["compiler"] is False:
        yield from _row("compiler", "none: only binaries and built-in kernels")
    yield from _row(
        "memory",
        f"{_bytes(device['global_memory'])}, largest buffer {_bytes(device['largest_buffer'])}, "
        f"local {_bytes(device['local_memory'])}",
    )
    speed = f" at {device['frequency']} MHz" if device["frequency"] else ""
    yield from _row(
        "units", f"{device['compute_units']}{speed}, work-groups of up to {device['work_group']}"
    )
    yield from _row("fp64, fp16", f"{has('fp64')}, {has('fp16')}")
    size = " x ".join(map(str, device["image_size"]))
    yield from _row("images", f"yes, up to {size}" if device["images"] else "no")
    yield from _row("SVM", ", ".join(device["svm"] or []) or "no")
    yield from _row("IL", ", ".join(device["il"]) or "no")
    yield from _row("sub-groups", f"{has('sub_groups')}; pipes: {has('pipes')}")
    yield from _selftest_lines(device["selftest"])


def _verdict_lines(report: dict[str, Any]) -> Iterator[str]:
    devices = [device for found in report["platforms"] for device in found["devices"]]
    devices += [] if report["cuda"]["simulator"] else report["cuda"]["devices"]
    count = len(devices)
    tests = [device["selftest"] for device in devices if device["selftest"] is not None]
    failed = sum(not test["passed"] for test in tests)
    if count == 0:
        yield "There is no OpenCL device and no GPU for CUDA. To get an OpenCL device:"
        yield from (f"    {line}" for line in report["advice"])
        yield "Without one, arrays and CUDA kernels run on the CPU, in the simulator of CUDA, which"
        yield "needs a C++ compiler (g++, clang++, or pip install ziglang)."
    elif not tests:
        yield f"{_plural(count)}; not tested."
    elif not failed:
        yield f"{_plural(count)}; the self-test passed on {'it' if count == 1 else 'each'}."
    if failed:
        yield f"{_plural(count)}; {failed} FAILED the self-test."


def _plural(count: int) -> str:
    return "1 device" if count == 1 else f"{count} devices"


def _bytes(n: int | None) -> str:
    if n is None:
        return "?"
    for unit in ("GiB", "MiB", "KiB"):
        size = 1 << {"GiB": 30, "MiB": 20, "KiB": 10}[unit]
        if n >= size:
            return f"{n / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{n} B"


def _wrap(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]


# ---- the command ------------------------------------------------------------------------------


def _report(test: bool, timeout: float, as_json: bool) -> int:
    report = collect(test, timeout)
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        for line in lines_of(report):
            print(line.rstrip())
    sys.stdout.flush()
    return int(report["status"])


def _cache(clear: bool, as_json: bool) -> int:
    """Print one line for each kind of file in the cache, or remove all files."""
    from pygpu._src.runtime import disk_cache

    folder = disk_cache.default_folder()
    if clear:
        disk_cache.clear()
    files = [] if folder is None else list(folder.glob("??/*.program"))
    sizes = []
    for path in files:
        try:
            sizes.append(path.lstat().st_size)
        except OSError:  # another process has removed it
            continue
    if as_json:
        facts = {"folder": None if folder is None else str(folder)}
        print(json.dumps({**facts, "entries": len(sizes), "bytes": sum(sizes)}, indent=2))
    elif folder is None:
        print("There is no home directory, and so no cache: set PYGPU_CACHE_DIR.")
    else:
        entries = "1 entry" if len(sizes) == 1 else f"{len(sizes)} entries"
        print(f"{folder}\n{entries}, {_bytes(sum(sizes))}")
    sys.stdout.flush()
    return PASSED


def _options(prog: str) -> argparse.ArgumentParser:
    parser = _Parser(prog=prog, description="What pygpu finds here, and a self-test.")
    parser.add_argument(
        "command",
        nargs="?",
        choices=["check", "info", "cache"],
        default="check",
        help="check: list the devices and test each (the default); info: only list them; cache: "
        "the compiled kernels on disk",
    )
    parser.add_argument("action", nargs="?", choices=["clear"], help="with cache: remove them")
    parser.add_argument("--version", action="store_true", help="print pygpu's version, and end")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    parser.add_argument("--no-test", action="store_true", help="leave out the self-tests, as info")
    parser.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="for listing the devices, and for each self-test (60)",
    )
    return parser


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says; the exit status, see this module's text."""
    called = os.path.basename(sys.argv[0]) if sys.argv else ""
    parser = _options("pygpu" if called == "pygpu" else "python -m pygpu")
    options = parser.parse_args(argv)
    if options.version:
        print(f"pygpu {VERSION_TEXT}")
        return PASSED
    if options.action is not None and options.command != "cache":
        parser.error(f"{options.action} is part of: python -m pygpu cache {options.action}")
    if options.command == "cache":
        return _cache(options.action == "clear", options.json)
    test = options.command == "check" and not options.no_test
    return _report(test, options.timeout, options.json)


def run() -> int:
    """main, with no traceback whatever happens."""
    try:
        return main()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `python -m pygpu | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASSED
    except Exception as error:
        print(f"python -m pygpu: {type(error).__name__}: {error}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(run())
