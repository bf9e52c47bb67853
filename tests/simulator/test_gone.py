"""Memory that has gone when queued work gets there: an error of the work, never the process's end.
What ends with the threads that a launch made."""

import ctypes
import re
import threading
from ctypes import byref
from pathlib import Path

import numpy as np
import pytest
from simulator.sim_driver import ILLEGAL_ADDRESS, fails

N = 1 << 24  # bytes: a mapping of its own, of which nothing is left once it is freed


@pytest.fixture
def pinned(cuda):
    host = np.ones(N, "u1")
    cuda.cuMemHostRegister(host.ctypes.data, N, 0)
    return host


@pytest.mark.parametrize("work", ["copy", "back", "fill"])
def test_a_graph_over_freed_memory(cuda, pinned, work):
    address, stream = cuda.alloc(N), cuda.stream(1)
    cuda.cuStreamBeginCapture(stream, 0)
    if work == "copy":
        cuda.cuMemcpyHtoDAsync(address, pinned.ctypes.data, N, stream)
    elif work == "back":
        cuda.cuMemcpyDtoHAsync(pinned.ctypes.data, address, N, stream)
    else:
        cuda.cuMemsetD32Async(address, 7, N // 4, stream)
    graph = ctypes.c_void_p()
    cuda.cuStreamEndCapture(stream, byref(graph))
    ready = cuda.get("cuGraphInstantiateWithFlags", graph.value, 0)
    cuda.cuMemFree(address)
    cuda.cuGraphLaunch(ready, stream)
    detail = fails(ILLEGAL_ADDRESS, cuda.cuStreamSynchronize, stream)
    assert f"in memory of {N} bytes that was freed" in detail


def test_a_copy_to_a_variable_of_a_module_that_goes(cuda, image):
    flags = np.zeros(2, "i4")
    cuda.cuMemHostRegister(flags.ctypes.data, 8, 0)
    at = flags.ctypes.data
    waiting = cuda.function(cuda.load(image), "wait_for")
    module, stream = cuda.load(image), cuda.stream()
    variable, size = ctypes.c_ulonglong(), ctypes.c_size_t()
    cuda.cuModuleGetGlobal(byref(variable), byref(size), module, b"variable")
    cuda.launch(waiting, 1, 1, at, at + 4, stream=stream)
    cuda.cuMemcpyHtoDAsync(variable.value, at, 8, stream)
    cuda.cuModuleUnload(module)
    flags[0] = 1
    fails(ILLEGAL_ADDRESS, cuda.cuStreamSynchronize, stream)


def test_freeing_waits_for_the_copy_of_another_thread(cuda, driver):
    host = np.ones(8 * N, "u1")
    for _ in range(3):
        address = cuda.alloc(host.size)
        answers = []

        def copy(address=address, answers=answers):
            driver.cuCtxPushCurrent(driver.context)
            answers.append(driver.status("cuMemcpyHtoD", address, host.ctypes.data, host.size))

        thread = threading.Thread(target=copy)
        thread.start()
        thread.join(0.003)
        cuda.cuMemFree(address)
        thread.join()
        assert answers in ([0], [1])  # 1: it came too late


def test_threads_of_cooperative_launches_leave_nothing(simulator):
    source = """
    #include <cooperative_groups.h>
    extern "C" __global__ void k(int *a) {
        cooperative_groups::this_grid().sync(); /* so that all the threads are there at once */
        a[blockIdx.x] = 1;
    }"""
    a = np.zeros(64, "i4")

    def used():
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmSize:\s+(\d+)", status)[1])

    sizes = []
    for _ in range(12):
        simulator.run(source, 64, 1, a, cooperative=True)
        sizes.append(used())
    assert (a == 1).all()
    assert sizes[-1] - sizes[2] < 9 * 63 * 64 // 4  # [KiB]; the stack of a thread's signals has 64
