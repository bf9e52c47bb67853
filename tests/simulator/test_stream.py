"""Streams: they run behind the host, in order, and wait for each other as they should."""

import ctypes
import threading
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import (
    INVALID_HANDLE,
    INVALID_VALUE,
    LEGACY,
    NOT_PERMITTED,
    NOT_READY,
    PER_THREAD,
    fails,
    run_script,
)

HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p)


class Gate:
    """A kernel that runs until open() is called, so that what is behind it stays queued."""

    def __init__(self, cuda, kernels, stream):
        self.memory = cuda.get("cuMemHostAlloc", 8, 0)
        self.flag, self.started = (ctypes.c_int.from_address(self.memory + 4 * i) for i in range(2))
        self.flag.value = self.started.value = 0
        cuda.launch(kernels.wait_for, 1, 1, self.memory, self.memory + 4, stream=stream)

    def open(self):
        self.flag.value = 1


def test_the_host_goes_on_while_a_kernel_runs(cuda, kernels):
    """The kernel cannot end before the host, which came back from the launch, lets it."""
    gate = Gate(cuda, kernels, None)
    while not gate.started.value:  # it does run, at the same time
        pass
    assert cuda.status("cuStreamQuery", None) == NOT_READY
    gate.open()
    cuda.cuCtxSynchronize()
    assert cuda.status("cuStreamQuery", None) == 0


def test_streams_run_beside_each_other(cuda, kernels):
    a, b = cuda.stream(1), cuda.stream(1)
    first, second = Gate(cuda, kernels, a), Gate(cuda, kernels, b)
    while not (first.started.value and second.started.value):
        pass
    second.open()
    cuda.cuStreamSynchronize(b)
    assert cuda.status("cuStreamQuery", a) == NOT_READY
    first.open()
    cuda.cuStreamSynchronize(a)


def test_a_stream_keeps_its_order(cuda, kernels):
    stream, n = cuda.stream(), 1000
    expected = np.ones(n, "i8")
    address = cuda.to_device(np.ones(n, "i4"))
    rng = np.random.default_rng(0)
    for value in rng.integers(1, 4, 2000):
        if value == 1:
            cuda.launch(kernels.plus, 8, 128, address, np.int32(5), np.int32(n), stream=stream)
            expected += 5
        elif value == 2:
            cuda.launch(kernels.scale, 8, 128, address, np.int32(3), np.int32(n), stream=stream)
            expected *= 3
        else:
            cuda.cuMemsetD32Async(address, 7, 10, stream)
            expected[:10] = 7
        expected = expected.astype("i4").astype("i8")  # wraps around as the kernel does
    out = np.zeros(n, "i4")
    cuda.cuMemcpyDtoHAsync(out.ctypes.data, address, out.nbytes, stream)
    cuda.cuStreamSynchronize(stream)
    assert (out == expected).all()


@pytest.mark.parametrize("default", [None, LEGACY])
def test_the_default_stream_waits_for_the_others_and_they_for_it(cuda, kernels, default):
    stream = cuda.stream()
    value = cuda.to_device(np.zeros(1, "i4"))
    gate = Gate(cuda, kernels, stream)
    cuda.launch(kernels.plus, 1, 1, value, np.int32(1), np.int32(1), stream=stream)
    cuda.launch(kernels.scale, 1, 1, value, np.int32(10), np.int32(1), stream=default)
    cuda.launch(kernels.plus, 1, 1, value, np.int32(2), np.int32(1), stream=stream)
    assert cuda.status("cuStreamQuery", default) == NOT_READY
    threading.Timer(0.05, gate.open).start()
    assert cuda.from_device(value, 1, "i4")[0] == 12  # a copy on the default stream, behind all


def test_the_default_stream_is_done_when_those_it_waits_for_are(cuda, kernels):
    stream = cuda.stream()
    gate = Gate(cuda, kernels, stream)
    assert cuda.status("cuStreamQuery", None) == NOT_READY
    threading.Timer(0.05, gate.open).start()
    cuda.cuStreamSynchronize(None)
    assert cuda.status("cuStreamQuery", stream) == 0


def test_streams_that_do_not_wait_for_the_default_one(cuda, kernels):
    stream = cuda.stream(1)
    gate = Gate(cuda, kernels, stream)
    data = np.arange(10, dtype="i4")
    assert (cuda.from_device(cuda.to_device(data), 10, "i4") == data).all()
    assert cuda.status("cuStreamQuery", None) == 0
    assert cuda.status("cuStreamQuery", stream) == NOT_READY
    gate.open()
    cuda.cuStreamSynchronize(stream)


def test_each_thread_has_a_default_stream(cuda, kernels):
    gate = Gate(cuda, kernels, PER_THREAD)
    others = []

    def other():
        cuda.cuCtxSetCurrent(cuda.context)
        others.append(cuda.status("cuStreamQuery", PER_THREAD))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert others == [0]
    assert cuda.status("cuStreamQuery", PER_THREAD) == NOT_READY
    gate.open()
    cuda.cuStreamSynchronize(PER_THREAD)


def test_host_functions_run_in_order_on_another_thread(cuda, kernels):
    stream, seen = cuda.stream(), []
    function = HOST_FUNCTION(lambda data: seen.append((data, threading.get_ident())))
    gate = Gate(cuda, kernels, stream)
    for i in range(1, 20):
        cuda.cuLaunchHostFunc(stream, address_of(function), i)
    assert seen == []
    gate.open()
    cuda.cuStreamSynchronize(stream)
    assert [data for data, _ in seen] == list(range(1, 20))
    assert threading.get_ident() not in {thread for _, thread in seen}


def test_callbacks(cuda):
    seen, stream = [], cuda.stream()
    callback = CALLBACK(lambda *args: seen.append(args))
    cuda.cuStreamAddCallback(stream, address_of(callback), 5, 0)
    cuda.cuStreamSynchronize(stream)
    assert seen == [(stream, 0, 5)]
    fails(INVALID_VALUE, cuda.cuStreamAddCallback, stream, address_of(callback), 5, 1)
    fails(INVALID_VALUE, cuda.cuStreamAddCallback, stream, None, 5, 0)
    fails(INVALID_VALUE, cuda.cuLaunchHostFunc, stream, None, 5)


def test_host_functions_may_not_call_cuda(cuda):
    seen, stream = [], cuda.stream()
    function = HOST_FUNCTION(lambda data: seen.append(cuda.status("cuCtxSynchronize")))
    cuda.cuLaunchHostFunc(stream, address_of(function), None)
    cuda.cuStreamSynchronize(stream)
    assert seen == [NOT_PERMITTED]
    cuda.cuCtxSynchronize()


def test_a_destroyed_stream_still_does_what_it_had(cuda, kernels):
    stream = cuda.stream()
    value = cuda.to_device(np.zeros(1, "i4"))
    gate = Gate(cuda, kernels, stream)
    cuda.launch(kernels.plus, 1, 1, value, np.int32(4), np.int32(1), stream=stream)
    cuda.cuStreamDestroy(stream)
    fails(INVALID_HANDLE, cuda.cuStreamQuery, stream)
    gate.open()
    cuda.cuCtxSynchronize()
    assert cuda.from_device(value, 1, "i4")[0] == 4


def test_an_unloaded_module_still_runs_what_is_queued(cuda, kernels):
    value = cuda.to_device(np.zeros(1, "i4"))
    gate = Gate(cuda, kernels, None)
    function = kernels.plus
    cuda.launch(function, 1, 1, value, np.int32(4), np.int32(1))
    cuda.cuModuleUnload(kernels.module)
    fails(INVALID_HANDLE, cuda.launch, function, 1, 1)
    gate.open()
    assert cuda.from_device(value, 1, "i4")[0] == 4


def test_freeing_waits_for_work(cuda, kernels):
    value = cuda.alloc(1 << 20)
    gate = Gate(cuda, kernels, cuda.stream(1))
    threading.Timer(0.05, gate.open).start()
    cuda.cuMemFree(value)
    assert gate.flag.value == 1


def test_questions(cuda):
    stream = cuda.get("cuStreamCreateWithPriority", 1, -1)
    flags, priority = ctypes.c_uint(), ctypes.c_int()
    cuda.cuStreamGetFlags(stream, byref(flags))
    cuda.cuStreamGetPriority(stream, byref(priority))
    assert (flags.value, priority.value) == (1, -1)
    context = ctypes.c_void_p()
    for handle in (stream, None, LEGACY, PER_THREAD):
        cuda.cuStreamGetCtx(handle, byref(context))
        assert context.value == cuda.context
    clamped = cuda.get("cuStreamCreateWithPriority", 0, -100)
    cuda.cuStreamGetPriority(clamped, byref(priority))
    least, greatest = ctypes.c_int(), ctypes.c_int()
    cuda.cuCtxGetStreamPriorityRange(byref(least), byref(greatest))
    assert priority.value == greatest.value
    fails(INVALID_VALUE, cuda.get, "cuStreamCreate", 2)
    for default in (None, LEGACY, PER_THREAD):
        fails(INVALID_HANDLE, cuda.cuStreamDestroy, default)


def test_many_streams(cuda, kernels):
    value = cuda.to_device(np.zeros(500, "i4"))
    streams = [cuda.stream(i % 2) for i in range(500)]
    for i, stream in enumerate(streams):
        for _ in range(3):
            cuda.launch(kernels.plus, 1, 1, value + 4 * i, np.int32(i), np.int32(1), stream=stream)
    cuda.cuCtxSynchronize()
    assert (cuda.from_device(value, 500, "i4") == 3 * np.arange(500)).all()


def test_threads_submit_at_once(cuda, kernels):
    n, threads = 300, 6
    value = cuda.to_device(np.zeros(threads, "i4"))
    plus, errors = kernels.plus, []

    def work(i):
        try:
            cuda.cuCtxSetCurrent(cuda.context)
            stream = [None, PER_THREAD, cuda.stream(), cuda.stream(1)][i % 4]
            for k in range(n):
                cuda.launch(plus, 1, 1, value + 4 * i, np.int32(k), np.int32(1), stream=stream)
                if k % 50 == 0:
                    cuda.cuStreamSynchronize(stream)
            cuda.cuStreamSynchronize(stream)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors
    assert (cuda.from_device(value, threads, "i4") == n * (n - 1) // 2).all()


DEFERRED = """
d.cuInit(0)
d.get("cuCtxCreate", 0, 0)
p = d.get("cuMemHostAlloc", 16, 0)
value = ctypes.c_int.from_address(p)
value.value = 1
s, t = d.stream(), d.stream(1)
import time
"""


def test_deferred_commands_run_only_at_synchronization():
    assert run_script(
        DEFERRED
        + """
d.cuMemsetD32Async(p, 5, 1, s)
time.sleep(0.05)
print(value.value)
d.cuStreamSynchronize(s)
print(value.value)
d.cuMemsetD32Async(p, 6, 1, None)
time.sleep(0.05)
print(value.value)
d.cuCtxSynchronize()
print(value.value)
""",
        PYGPU_SIM_DEFERRED=1,
    ).split() == ["1", "5", "5", "6"]


def test_deferred_waits_bring_what_they_wait_for():
    assert run_script(
        DEFERRED
        + """
e = d.event()
d.cuMemsetD32Async(p, 7, 1, s)
d.cuEventRecord(e, s)
d.cuStreamWaitEvent(t, e, 0)
d.cuMemsetD32Async(p + 4, 8, 1, t)
d.cuStreamSynchronize(t)
print(value.value)
d.cuMemsetD32Async(p, 9, 1, s)
d.cuEventRecord(e, s)
while d.status("cuEventQuery", e): pass
print(value.value)
d.cuMemsetD32Async(p, 10, 1, s)
d.cuStreamDestroy(s)
d.cuCtxSynchronize()
print(value.value)
out = np.zeros(1, "i4")
d.cuMemsetD32Async(p, 11, 1, None)
d.cuMemcpyDtoH(out.ctypes.data, p, 4)
print(out[0])
d.cuMemsetD32Async(p, 12, 1, t)
d.cuCtxDestroy(d.get("cuCtxGetCurrent"))
""",
        PYGPU_SIM_DEFERRED=1,
    ).split() == ["7", "9", "10", "11"]


def test_a_process_may_end_with_work_queued(image, tmp_path):
    path = tmp_path / "image"
    path.write_bytes(image)
    script = f"""
d.cuInit(0)
d.get("cuCtxCreate", 0, 0)
module = d.get("cuModuleLoad", {str(path)!r}.encode())
p = d.get("cuMemHostAlloc", 8, 0)
ctypes.c_long.from_address(p).value = 0
d.launch(d.function(module, "wait_for"), 1, 1, p, p + 4)
print("end")
"""
    assert run_script(script) == "end"


def test_far_ahead_of_the_stream(cuda, kernels):
    """A caller who is far ahead is slowed down, and nothing gets lost."""
    value = cuda.to_device(np.zeros(1, "i4"))
    gate = Gate(cuda, kernels, None)
    for _ in range(100_200):
        cuda.functions["cuMemsetD32Async"](value, 7, 1, None)
    cuda.launch(kernels.plus, 1, 1, value, np.int32(1), np.int32(1))
    gate.open()
    assert cuda.from_device(value, 1, "i4")[0] == 8
