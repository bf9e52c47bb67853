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
    platform_wish, _, device_wish = wanted.partition(":")
    found = []
    for i, platform in enumerate(platforms):
        if (
            platform_wish
            and platform_wish != str(i)
            and platform_wish.lower() not in platform.name.lower()
        ):
            continue
        devices = platform.get_devices()
        if device_wish:
            devices = [
                d
                for j, d in enumerate(devices)
                if device_wish == str(j) or device_wish.lower() in d.name.lower()
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

# Slow on one backend alone, whose driver takes ten times as long to compile, and examples.
SLOW = {
    "test_ufunc_methods.py::test_from_left_to_right[opencl]",
    "test_ufunc_methods.py::test_reduceat[opencl]",
    "test_fusion.py::test_the_bits_of_the_plain_function[opencl]",
    "test_array_function.py::test_distinct_rows[opencl]",
    "test_ufuncs.py::test_every_loop[opencl-e]",
    "test_sort.py::test_sort[cuda-f4]",
    "test_reduction.py::test_out_of_another_dtype[opencl-i4]",
    "test_reduction.py::test_out_of_another_dtype[opencl-u1]",
    "test_linalg.py::test_factors_wherever_they_are_computed[cuda]",
    "test_numpy_more.py::test_close_items_without_signs[cuda]",
    "test_factorizations.py::test_blocks[cuda-33-F]",
    "test_factorizations.py::test_blocks[cuda-33-d]",
    "test_factorizations.py::test_small_orthogonal_factors[cuda-31-F]",
    "test_factorizations.py::test_small_orthogonal_factors[cuda-4-D]",
    "test_factorizations.py::test_small_orthogonal_factors[cuda-4-f]",
    "test_special.py::test_softmax_and_logsumexp[opencl-None]",
    "test_special.py::test_softmax_and_logsumexp[opencl-axis2]",
    "test_factorizations.py::test_blocks[cuda-65-F]",
    "test_factorizations.py::test_small_matrices[cuda-1-f]",  # this and the next run on OpenCL
    "test_factorizations.py::test_small_matrices[cuda-32-d]",
    "test_fusion_functions.py::test_names_of_pygpu_xp[opencl]",
    "test_ufunc_methods.py::test_many_at_few_places[opencl-maximum]",
    "test_array_function.py::test_dtypes_as_numpys[opencl]",
    "test_array_function.py::test_joining_with_options[opencl]",
    "test_array_function.py::test_quantiles_have_the_dtype_of_numpys[opencl]",
    "test_array_function.py::test_weights[opencl]",
    "test_fft.py::test_lines_by_other_numbers_of_a_plan[changes1-opencl]",
    "test_numpy.py::test_addresses_that_are_not_multiples_of_the_size[opencl]",
    "test_factorizations.py::test_blocks[opencl-65-F]",
    "test_factorizations.py::test_hard_matrices[opencl-hilbert]",
    "test_factorizations.py::test_what_is_built_on_them[opencl]",
    "test_fft.py::test_in_place[opencl-97]",
    "test_fft.py::test_lines_by_other_numbers_of_a_plan[changes2-opencl]",
    "test_block_jacobi.py::test_errors_are_those_of_lapack[shape1-D-cuda]",
    "test_examples.py::test_example[array_api]",
    "test_examples.py::test_example[arrays_histogram]",
    "test_examples.py::test_example[arrays_table]",
    "test_examples.py::test_example[dask_svd]",
    "test_examples.py::test_example_in_a_new_process[dask_monte_carlo]",
    "test_examples.py::test_example_in_a_new_process[dask_subspace]",
}
# The same of whole groups: their kernels are one text for both backends.
SLOW_GROUPS = (
    "test_fuse_forms.py::test_forms[opencl-",
    "test_structured.py::test_sets_and_searches[opencl-",
    "test_structured.py::test_comparison_is_that_of_all_fields[opencl-",
    "test_structured.py::test_sort_is_lexicographic[opencl-nested",
    "test_structured.py::test_items_move_whole[opencl-",
    "test_datetime.py::test_operators_with_scalars[opencl-",
    "test_datetime.py::test_python_operators[opencl-",
    "test_datetime.py::test_conversion_of_numbers_to_dates[opencl-",
    "test_datetime.py::test_strided_arrays[opencl",
    "test_datetime.py::test_sort_of_many[opencl",
)


# Of functions in these folders that run on OpenCL and on CUDA, whose kernels are one text for both,
# one OpenCL case of four runs, or of so many as is said here, and of four CUDA cases or more each
# second one; of functions with one case each, every second runs on CUDA and the others on OpenCL.
# The other cases are slow.
THIN_FOLDERS = {"array", "jit", "user_kernels"}
THINNED = {
    "test_advanced_indexing.py::test_integers": 3,
    "test_array_function.py::test_borders": 6,
    "test_array_function.py::test_methods_of_quantiles": 4,
    "test_chains.py::test_astype_is_a_step": 8,
    "test_chains.py::test_numbers_as_without_chains": 5,
    "test_constructs.py::test_arrays": 2,
    "test_constructs.py::test_integers_wrap": 3,
    "test_constructs.py::test_numbers": 2,
    "test_datetime.py::test_functions": 3,
    "test_datetime.py::test_reductions": 3,
    "test_factorizations.py::test_small_matrices": 2,
    "test_factorizations.py::test_small_orthogonal_factors": 2,
    "test_fastpath.py::test_copies": 3,
    "test_fft.py::test_cutting_and_filling_up": 5,
    "test_fft.py::test_double_is_as_accurate_as_numpy": 2,
    "test_fft.py::test_dtypes": 4,
    "test_fft.py::test_images": 2,
    "test_fft.py::test_into_an_array": 4,
    "test_fft.py::test_lines": 7,
    "test_fft.py::test_lines_that_go_through_local_memory_by_halves": 5,
    "test_fft.py::test_norms": 5,
    "test_fft.py::test_passes": 4,
    "test_fft.py::test_several_axes": 3,
    "test_fft.py::test_single_is_as_accurate_as_scipy": 2,
    "test_fusion_functions.py::test_assignments": 3,
    "test_fusion_functions.py::test_functions": 3,
    "test_fusion_functions.py::test_rows_of_any_length": 3,
    "test_generator.py::test_counts_have_their_distribution": 3,
    "test_generator.py::test_real_numbers_have_their_distribution": 3,
    "test_reduce.py::test_rows": 2,
    "test_reduction.py::test_axes": 2,
    "test_reduction.py::test_dtypes": 2,
    "test_special.py::test_complex_values_are_scipys": 3,
    "test_special.py::test_values_are_scipys": 3,
    "test_numpy_edges.py::test_means_of_chosen_items": 4,
    "test_ufuncs.py::test_every_loop": 5,
}


# Of these, each second case is slow: each starts a process or a compiler.
HALVED = (
    "test_misuse.py::test_misuse",
    "test_cuda_misuse.py::test_misuse",
    "test_kernels.py::test_kernel",
)


# Of these files, two of three cases are slow: together they take half of the tests' time.
IN_PART = set(
    "array/test_array_function array/test_block_jacobi array/test_chains array/test_datetime "
    "array/test_factorizations array/test_fft array/test_fusion_functions array/test_generator "
    "array/test_kernel_binaries array/test_matmul_kernels array/test_single_group array/test_sort "
    "array/test_special array/test_ufunc_methods array/test_vendor_libraries cuda/test_function "
    "interop/test_dask_operations jit/test_against_python jit/test_bounds jit/test_guvectorize "
    "jit/test_kernel jit/test_pickling jit/test_reduce leaks/test_contexts python/test_cache_pack "
    "python/test_compat python/test_compat_names python/test_compat_numba".split()
)


@pytest.hookimpl(tryfirst=True)  # before those that the command line leaves out go
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    names = {name: k for k, name in enumerate(LONG)}
    items.sort(key=lambda item: names.get(item.path.stem, len(LONG)))
    for item in items:
        name = item.nodeid.rpartition("/")[2]
        if name in SLOW or name.startswith(SLOW_GROUPS):
            item.add_marker(pytest.mark.slow)
    for function in HALVED:
        cases = [x for x in items if x.nodeid.rpartition("/")[2].startswith(f"{function}[")]
        for item in cases[1::2]:
            item.add_marker(pytest.mark.slow)
    functions = _cases_by_backend(items)
    for number, (function, (opencl, cuda)) in enumerate(functions.items()):
        if len(opencl) == len(cuda) == 1:
            left_out = opencl if number % 2 else cuda
        else:
            step = THINNED.get(function, 4)
            left_out = [item for k, item in enumerate(opencl) if k % step]
            left_out += cuda[1::2] if len(cuda) >= 4 else []
        for item in left_out:
            item.add_marker(pytest.mark.slow)
    kept = [item for item in items if item.get_closest_marker("slow") is None]
    kept = [item for item in kept if f"{item.path.parent.name}/{item.path.stem}" in IN_PART]
    for number, item in enumerate(kept):
        if number % 3:
            item.add_marker(pytest.mark.slow)


def _cases_by_backend(items: list[pytest.Item]) -> dict[str, list[list[pytest.Item]]]:
    """[OpenCL cases, CUDA cases] that are not slow, of functions with both, by file::function."""
    found: dict[str, list[list[pytest.Item]]] = {}
    for item in items:
        function, _, case = item.nodeid.rpartition("/")[2].partition("[")
        if item.path.parent.name in THIN_FOLDERS and item.get_closest_marker("slow") is None:
            opencl, cuda = found.setdefault(function, [[], []])
            if "cuda" in case:
                cuda.append(item)
            elif "opencl" in case:
                opencl.append(item)
    return {name: cases for name, cases in found.items() if all(cases)}


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
