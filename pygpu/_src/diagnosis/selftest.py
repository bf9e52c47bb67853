"""The driver checks of ``python -m pygpu``, each in its own process.

A broken driver may crash or hang as soon as it is listed, so the report's own process never loads
one. A child writes its results as lines of JSON, so that those before a crash are kept.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from pygpu._src.util import child_process

KERNELS = """
kernel void scale(global const uint *x, global uint *y, uint factor) {
    size_t i = get_global_id(0);
    y[i] = factor * x[i] + (uint)i;
}
kernel void reverse(global const float *x, global float *y, local float *group) {
    size_t i = get_local_id(0), n = get_local_size(0);
    group[i] = 0.5f * x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = group[n - 1 - i];
}
kernel void total(global const uint *x, global uint *y, local uint *sums, uint n) {
    uint i = get_local_id(0), sum = 0;
    for (uint k = get_global_id(0); k < n; k += get_global_size(0))
        sum += x[k];
    sums[i] = sum;
    for (uint d = get_local_size(0) / 2; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < d)
            sums[i] += sums[i + d];
    }
    if (i == 0)
        y[get_group_id(0)] = sums[0];
}
kernel void running(global const uint *x, global uint *y, local uint *sums) {
    uint i = get_local_id(0), sum = x[get_global_id(0)];
    sums[i] = sum;
    for (uint d = 1; d < get_local_size(0); d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint left = i >= d ? sums[i - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += left;
        sums[i] = sum;
    }
    y[get_global_id(0)] = sum;
}
kernel void gather(global const uint *x, volatile global uint *sum) {
    atomic_add(sum, x[get_global_id(0)]);
}
kernel void rounds(global uint *y, uint n) {
    uint state = 1;
    for (uint i = 0; i < n; i++)
        state = state * 1664525u + 1013904223u;
    y[0] = state;
}
"""
DOUBLES = """
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void halve(global const double *x, global double *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] / 2;
}
"""
SVM_KINDS = ("COARSE_GRAIN_BUFFER", "FINE_GRAIN_BUFFER", "FINE_GRAIN_SYSTEM", "ATOMICS")
FACTOR = 2654435761  # odd and large, so that products wrap
ROUNDS = 100_000  # Mesa's llvmpipe silently ends loops after 65,535 iterations


# ---- in the report's process ------------------------------------------------------------------


def list_platforms(timeout: float) -> dict[str, Any]:
    """List the library's platforms and devices.

    Keys: library (path or None), offered, drivers, tried ([path, result] pairs), platforms (a list
    of dicts, each with its devices), error (None, or why the list is incomplete).
    """
    lines, error = _run_child(["list"], timeout)
    found: dict[str, Any] = {
        "library": None, "offered": [], "drivers": [], "tried": [], "platforms": [], "error": error,
    }  # fmt: skip
    for line in lines:
        if "platform" in line:
            found["platforms"].append({**line["platform"], "devices": []})
        elif "device" in line:
            found["platforms"][-1]["devices"].append(line["device"])
        else:
            found.update(line)
    loading = found.pop("loading", None)
    if found["error"] is not None and found["library"] is None and loading is not None:
        found["error"] = f"{found['error']} (in {loading})"
    return found


def test_device(platform: int, device: int, timeout: float) -> dict[str, Any]:
    """Build, launch, copy and compare on one device, numbered as in list_platforms.

    Keys: passed (bool), message (what went wrong, or ""), steps (milliseconds by name).
    """
    return _outcome(["test", str(platform), str(device)], timeout)


def list_cuda(timeout: float) -> dict[str, Any]:
    """Describe the CUDA driver, or the simulator, with its devices; see
    cuda_selftest.describe()."""
    lines, error = _run_child(["list-cuda"], timeout)
    found: dict[str, Any] = {
        "library": None, "simulator": False, "version": 0, "devices": [], "tried": [],
        "error": None,
    }  # fmt: skip
    for line in lines:
        found.update(line)
    if error is not None:
        found["error"] = error
    return found


def test_cuda_device(device: int, timeout: float) -> dict[str, Any]:
    """As test_device, for a CUDA device."""
    return _outcome(["test-cuda", str(device)], timeout)


def _outcome(arguments: Sequence[str], timeout: float) -> dict[str, Any]:
    lines, error = _run_child(arguments, timeout)
    result: dict[str, Any] = {"passed": False, "message": "", "steps": {}}
    for line in lines:
        if "step" in line:
            result["steps"][line["step"]] = line["ms"]
        else:
            result.update(line)
    if error is not None:
        result.update(passed=False, message=error)
    elif not result["passed"] and not result["message"]:
        result["message"] = "it ended early without an error"
    return result


def _run_child(arguments: Sequence[str], timeout: float) -> tuple[list[dict[str, Any]], str | None]:
    """Return the lines that a child wrote, and how it died (None if it ended normally)."""
    # The child imports modules from the same paths as this process, whatever Python's options.
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import child; child()"
    command = [sys.executable, "-X", "faulthandler", "-c", code, *arguments]
    try:
        done = child_process.run(command, timeout=timeout)
        output, words, error = done.stdout, done.stderr, _death(done.returncode)
    except subprocess.TimeoutExpired as expired:
        output, words, error = expired.stdout or b"", b"", f"it took more than {timeout:g} seconds"
    except OSError as failure:
        return [], f"a process for it cannot be started: {failure}"
    lines = []
    for line in output.decode("utf-8", "replace").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue  # drivers also print
        if isinstance(value, dict):
            lines.append(value)
    if error is not None and (said := _last_words(words.decode("utf-8", "replace"))):
        error = f"{error}: {said}"
    return lines, error


def _death(status: int) -> str | None:
    if status == 0:
        return None
    if status < 0:
        try:
            return f"it crashed ({signal.Signals(-status).name})"
        except ValueError:
            return f"it crashed (signal {-status})"
    if status > 0x80000000:
        return f"it crashed (0x{status:08X})"
    return f"it ended with status {status}"


def _last_words(text: str) -> str:
    """Return the last output of a dying process, before Python's traceback."""
    said = text.split("Fatal Python error")[0].strip().splitlines()
    return said[-1].strip()[:300] if said else ""


# ---- in the child -----------------------------------------------------------------------------


def child() -> None:
    """Do what sys.argv asks for: list, test PLATFORM DEVICE, list-cuda, test-cuda DEVICE."""
    try:
        if sys.argv[1] == "list":
            _list()
        elif sys.argv[1].endswith("-cuda"):
            from . import cuda_selftest

            if sys.argv[1] == "list-cuda":
                _write(cuda_selftest.describe())
            else:
                cuda_selftest.run(int(sys.argv[2]), _write)
                _write({"passed": True})
        else:
            _test(int(sys.argv[2]), int(sys.argv[3]))
    except BaseException as error:  # report it instead of printing a traceback
        text = " ".join(str(error).split()) if not _is_no_platform(error) else str(error)
        key = "error" if sys.argv[1].startswith("list") else "message"
        _write({key: f"{type(error).__name__}: {text}"[:4000]})


def _is_no_platform(error: BaseException) -> bool:
    return getattr(error, "code", 0) == -1001


def _write(line: dict[str, Any]) -> None:
    print("\n" + json.dumps(line), flush=True)  # a driver may have printed half a line


def _list() -> None:
    import pygpu as cl
    from pygpu import _opencl
    from pygpu._src.drivers import opencl_loader as loader

    open_library = _opencl._load_library

    def announce(path: str, preload: Sequence[str] = ()) -> None:
        _write({"loading": path})  # blame it if the process dies
        open_library(path, preload)

    _opencl._load_library = announce
    try:
        platforms = cl.get_platforms()
    except cl.LogicError as error:
        if not _is_no_platform(error):
            raise
        platforms = []
    _write(
        {
            "library": _opencl._library(),
            "offered": loader.offered(),
            "drivers": loader.drivers(),
            "tried": loader.tried(_opencl),
        }
    )
    for platform in platforms:
        _write(
            {"platform": {name: _probe(platform, name) for name in ("name", "vendor", "version")}}
        )
        for device in platform.get_devices():
            _write({"device": features(device)})


def _probe(obj: Any, name: str) -> Any:
    """Return a property, or None if the driver does not know it."""
    try:
        value = getattr(obj, name)
    except Exception:
        return None
    return value.strip() if isinstance(value, str) else value


def features(device: Any) -> dict[str, Any]:
    """Return a device's main features under plain names, None where the driver does not report it.

    Memory is in bytes, frequency in MHz; svm and type are lists of strings.
    """
    import pygpu as cl

    def ask(name: str) -> Any:
        return _probe(device, name)

    def words(kind: Any, value: int | None, names: Sequence[str]) -> list[str]:
        return [name for name in names if (value or 0) & int(getattr(kind, name, 0))]

    extensions = (ask("extensions") or "").split()
    return {
        "name": ask("name"),
        "vendor": ask("vendor"),
        "type": words(cl.device_type, ask("type"), ("CPU", "GPU", "ACCELERATOR", "CUSTOM")),
        "version": ask("version"),
        "c_version": ask("opencl_c_version"),
        "driver_version": ask("driver_version"),
        "available": ask("available"),
        "compiler": ask("compiler_available"),
        "global_memory": ask("global_mem_size"),
        "largest_buffer": ask("max_mem_alloc_size"),
        "local_memory": ask("local_mem_size"),
        "compute_units": ask("max_compute_units"),
        "frequency": ask("max_clock_frequency"),
        "work_group": ask("max_work_group_size"),
        "fp64": bool(ask("double_fp_config")) or "cl_khr_fp64" in extensions,
        "fp16": "cl_khr_fp16" in extensions,
        "images": bool(ask("image_support")),
        "image_size": [ask("image2d_max_width"), ask("image2d_max_height")],
        "svm": [
            word.lower().replace("_", " ")
            for word in words(cl.device_svm_capabilities, ask("svm_capabilities"), SVM_KINDS)
        ],
        "il": (ask("il_version") or "").split(),
        "sub_groups": bool(ask("max_num_sub_groups")) or "cl_khr_subgroups" in extensions,
        "pipes": bool(ask("pipe_support")) or bool(ask("max_pipe_args")),
        "extensions": extensions,
    }


def _timed(name: str, work: Callable[[], Any]) -> Any:
    """Report how long a step took."""
    start = time.perf_counter()
    result = work()
    _write({"step": name, "ms": 1e3 * (time.perf_counter() - start)})
    return result


def _test(platform_index: int, device_index: int) -> None:
    import numpy as np

    import pygpu as cl

    device = cl.get_platforms()[platform_index].get_devices()[device_index]
    # A unique source, because a build from a cache would not test the compiler.
    source = f"{KERNELS}\n/* {time.time_ns()} */\n"
    has_double = features(device)["fp64"]
    n = 1 << 20
    random = np.random.default_rng(5)
    x = random.integers(0, 2**32, n, dtype=np.uint32)
    f = random.random(n, dtype=np.float32)
    context = _timed("context", lambda: cl.Context([device]))
    queue = cl.CommandQueue(context)

    def build() -> Any:
        return cl.Program(context, source + (DOUBLES if has_double else "")).build()

    program = _timed("build", build)
    flags = cl.mem_flags.READ_WRITE

    def upload() -> list[Any]:
        buffers = [cl.Buffer(context, flags, n * 8) for _ in range(2)]
        cl.enqueue_copy(queue, buffers[0], x)
        return buffers

    a, b = _timed("copy to", upload)

    def launch() -> None:
        program.scale(queue, (n,), None, a, b, np.uint32(FACTOR))
        queue.finish()

    _timed("launch", launch)
    y = np.empty_like(x)
    _timed("copy from", lambda: cl.enqueue_copy(queue, y, b))
    start = time.perf_counter()
    expected = x * np.uint32(FACTOR) + np.arange(n, dtype=np.uint32)
    _compare("integers", y, expected)
    group = min(64, device.max_work_group_size, *device.max_work_item_sizes[:1])
    group = 1 << (group.bit_length() - 1)  # a divisor of n
    _test_local_memory(queue, program, f, a, b, group)
    _test_together(queue, program, x, a, b, group)
    if has_double:
        _test_doubles(queue, program, random.random(n), a, b)
    _write({"step": "compare", "ms": 1e3 * (time.perf_counter() - start)})
    _write({"passed": True})


def _test_local_memory(queue: Any, program: Any, f: Any, a: Any, b: Any, group: int) -> None:
    import numpy as np

    import pygpu as cl

    cl.enqueue_copy(queue, a, f)
    program.reverse(queue, (len(f),), (group,), a, b, cl.LocalMemory(4 * group))
    g = np.empty_like(f)
    cl.enqueue_copy(queue, g, b)
    _compare("floats through local memory", g, (f / 2).reshape(-1, group)[:, ::-1].ravel())


def _test_doubles(queue: Any, program: Any, d: Any, a: Any, b: Any) -> None:
    import numpy as np

    import pygpu as cl

    cl.enqueue_copy(queue, a, d)
    program.halve(queue, (len(d),), None, a, b)
    e = np.empty_like(d)
    cl.enqueue_copy(queue, e, b)
    _compare("doubles", e, d / 2)


def _test_together(queue: Any, program: Any, x: Any, a: Any, b: Any, group: int) -> None:
    """Test cooperating work-items: sums, running sums, sums over all groups; and long loops."""
    import numpy as np

    import pygpu as cl

    n, local = x.size, cl.LocalMemory(4 * group)
    one, partial = np.empty(1, np.uint32), np.empty(16, np.uint32)
    cl.enqueue_copy(queue, a, x)
    program.total(queue, (16 * group,), (group,), a, b, local, np.uint32(n))
    cl.enqueue_copy(queue, partial, b)
    program.total(queue, (group,), (group,), b, a, local, np.uint32(16))
    cl.enqueue_copy(queue, one, a)
    total = np.add.reduce(x, dtype=np.uint32)
    _compare("a sum of sums of groups", one, np.array([total]))

    cl.enqueue_copy(queue, a, x)
    program.running(queue, (n,), (group,), a, b, local)
    sums = np.empty_like(x)
    cl.enqueue_copy(queue, sums, b)
    rows = np.cumsum(x.reshape(-1, group), axis=1, dtype=np.uint32)
    _compare("running sums in groups", sums, rows.ravel())

    cl.enqueue_copy(queue, b, np.zeros(1, np.uint32))
    program.gather(queue, (n,), (group,), a, b)
    cl.enqueue_copy(queue, one, b)
    _compare("a sum that all groups add to", one, np.array([total]))

    program.rounds(queue, (1,), (1,), b, np.uint32(ROUNDS))
    cl.enqueue_copy(queue, one, b)
    state = 1
    for _ in range(ROUNDS):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
    _compare(f"a loop of {ROUNDS} rounds", one, np.array([state], np.uint32))


def _compare(what: str, got: Any, expected: Any) -> None:
    """Raise if two arrays differ in any bit: every operation of the test is exact."""
    wrong = (got != expected).nonzero()[0]
    if len(wrong):
        at = int(wrong[0])
        raise AssertionError(
            f"{what}: {len(wrong)} of {len(got)} are wrong, first element {at}: "
            f"{got[at]} instead of {expected[at]}"
        )
