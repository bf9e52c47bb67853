"""Fixtures shared by all tests: each test runs on every OpenCL device, or PYGPU_TEST's choice.

PYGPU_TEST="0" or "portable" or "0:0" restricts the devices as PYOPENCL_TEST does.
PYGPU_TEST_AS=nvidia takes the ways that are kept for NVIDIA's driver, on whatever device there is.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Callable

import lost_workers
import pytest

import pygpu as cl
from pygpu import _opencl

try:
    from hypothesis import HealthCheck, settings
except ImportError:
    pass  # the tests that need it skip, or say so
else:  # on a busy machine making inputs takes its time
    settings.register_profile("pygpu", suppress_health_check=[HealthCheck.too_slow], deadline=None)
    settings.load_profile("pygpu")

if os.environ.get("PYGPU_TEST_AS") == "nvidia":
    _opencl._as_nvidia(True)


def _devices() -> list[cl.Device]:
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        return []
    wanted = os.environ.get("PYGPU_TEST") or os.environ.get("PYOPENCL_TEST") or ""
    platform_pattern, _, device_pattern = wanted.partition(":")
    found = []
    for i, platform in enumerate(platforms):
        if (
            platform_pattern
            and platform_pattern != str(i)
            and platform_pattern.lower() not in platform.name.lower()
        ):
            continue
        devices = platform.get_devices()
        if device_pattern:
            devices = [
                d
                for j, d in enumerate(devices)
                if device_pattern == str(j) or device_pattern.lower() in d.name.lower()
            ]
        found += devices[:1]
    return found


def pytest_configure(config: pytest.Config) -> None:
    lost_workers.register(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background job
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="module")
def _frozen_heap() -> None:
    """What was there before a module is not looked at again by each of its tests' collections of
    garbage, which took a third of a second each once other modules had filled the heap."""
    gc.collect()
    gc.freeze()


# The files that take longest, so that no process is left with one of them when the others are done.
LONG = ["test_examples", "test_constructs", "test_misuse", "test_array_function", "test_kernels"]
LONG += ["test_docs", "test_cuda_misuse", "test_driver_faults", "test_python_faults"]
LONG += ["test_advanced_indexing", "test_compiler", "test_ufuncs", "test_numpy_edges"]
LONG += ["test_ufunc_methods", "test_types"]

# Where tests of these folders run on both backends, the kernels have one source for both. So one of
# four OpenCL cases of a function is in the default run and, of four CUDA cases or more, one of two,
# of six or more, one of three; functions with one case each run on OpenCL and on CUDA in turns.
# @pytest.mark.sampled on the function changes these numbers (CONTRIBUTING.md). What is left out is
# marked as slow.
BOTH_BACKENDS = {"array", "jit", "user_kernels"}


@pytest.hookimpl(tryfirst=True)  # before -m deselects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {name: k for k, name in enumerate(LONG)}
    items.sort(key=lambda item: order.get(item.path.stem, len(LONG)))
    for in_file in _groups(items, lambda item: item.path):
        functions = _groups(in_file, lambda item: getattr(item, "originalname", item.name))
        for number, cases in enumerate(functions):
            _sample_function(cases, turn=number % 2)
        marker = next(in_file[0].parent.iter_markers("sampled"), None)
        if marker is not None:
            _sample([item for item in in_file if _is_quick(item)], *marker.args)


def _is_quick(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is None


def _groups(
    items: list[pytest.Item], key: Callable[[pytest.Item], object]
) -> list[list[pytest.Item]]:
    """The items that are not slow, by key."""
    found: dict[object, list[pytest.Item]] = {}
    for item in filter(_is_quick, items):
        found.setdefault(key(item), []).append(item)
    return list(found.values())


def _sample(cases: list[pytest.Item], number: int) -> None:
    """Mark as slow all but each number-th case, all if the number is 0."""
    for k, item in enumerate(cases):
        if number == 0 or k % number:
            item.add_marker(pytest.mark.slow)


def _sample_function(cases: list[pytest.Item], turn: int) -> None:
    marker = next((m for m in cases[0].own_markers if m.name == "sampled"), None)
    if marker is not None and marker.args:
        _sample(cases, *marker.args)
        return
    ids = [item.nodeid.partition("[")[2] for item in cases]
    cuda = [item for item, id in zip(cases, ids) if "cuda" in id]
    opencl = [item for item, id in zip(cases, ids) if "opencl" in id and "cuda" not in id]
    numbers = {"opencl": 1, "cuda": 1}
    if opencl and cuda and cases[0].path.parent.name in BOTH_BACKENDS:
        numbers = {"opencl": 4, "cuda": 3 if len(cuda) >= 6 else 2 if len(cuda) >= 4 else 1}
        if len(opencl) == len(cuda) == 1 and marker is None:
            numbers = {"opencl": 1 - turn, "cuda": turn}
    numbers |= marker.kwargs if marker is not None else {}
    if len(numbers) > 2:
        raise pytest.UsageError(
            f"{cases[0].nodeid}: sampled() takes opencl and cuda, not {numbers}"
        )
    _sample(opencl, numbers["opencl"])
    _sample(cuda, numbers["cuda"])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    by_mark = any(
        "device" in str(m.args[0]) for m in metafunc.definition.iter_markers("parametrize")
    )
    if "device" in metafunc.fixturenames and not by_mark:
        devices = _devices()
        if not devices:
            missing = pytest.param(None, marks=pytest.mark.skip(reason="no OpenCL device"))
            metafunc.parametrize("device", [missing], scope="session")
            return
        ids = [device.platform.name.split()[0].replace("(R)", "") for device in devices]
        metafunc.parametrize("device", devices, ids=ids, scope="session")


@pytest.fixture(scope="session")
def ctx(device: cl.Device) -> cl.Context:
    """A context of the device."""
    return cl.Context([device])


@pytest.fixture
def queue(ctx: cl.Context):
    """A queue with profiling, finished after the test."""
    queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    yield queue
    queue.finish()


def more_handles(found: dict[str, int], before: dict[str, int]) -> dict[str, int]:
    """The kinds of which there are more. Fewer there may be: a test that lets the driver run out of
    memory makes pools of other tests' arrays give back what they hold."""
    return {kind: n for kind, n in found.items() if n > before.get(kind, 0)}


def settled_handles(wanted: dict[str, int], seconds: float = 30) -> dict[str, int]:
    """The handles that are alive, once they are those wanted or seconds have passed: what a
    command needs goes when the command is done, by a thread that may have to wait for its turn."""
    end = time.monotonic() + seconds
    while True:
        gc.collect()
        found = _opencl._handle_counts()
        if not more_handles(found, wanted) or time.monotonic() > end:
            return found
        time.sleep(0.005)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if call.when == "call":
        item.stash[failed_key] = report.failed
    return report


failed_key = pytest.StashKey[bool]()


def pytest_runtest_teardown() -> None:
    """No test runs in the mode in which another one counted driver calls."""
    for module in _opencl, sys.modules.get("pygpu._cuda"):
        if module is not None:
            module._call_counts(stop=True)


@pytest.fixture
def balance(request: pytest.FixtureRequest):
    """Fails the test if it leaves driver handles behind."""
    before: dict[str, int] = {}
    while (now := steady_handles()) != before:  # what earlier tests left to other threads
        before = now
    yield
    if not request.node.stash.get(failed_key, True):  # else its frames have handles still
        assert not more_handles(settled_handles(before), before), before


def steady_handles() -> dict[str, int]:
    gc.collect()
    time.sleep(0.005)
    return _opencl._handle_counts()
