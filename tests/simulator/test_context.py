"""Contexts: stacks of threads, what dies with them, what breaks them."""

import ctypes
import threading
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import (
    CONTEXT_IS_DESTROYED,
    ILLEGAL_ADDRESS,
    INVALID_CONTEXT,
    INVALID_DEVICE,
    INVALID_HANDLE,
    INVALID_VALUE,
    fails,
    run_script,
)


def test_nothing_works_before_init():
    assert run_script(
        """
        n = ctypes.c_int()
        print(d.status("cuDeviceGetCount", byref(n)), d.detail())
        print(d.status("cuCtxSynchronize"))
        print(d.status("cuInit", 1))
        d.cuInit(0)
        d.cuInit(0)
        print(d.get("cuDeviceGetCount", kind=ctypes.c_int))
        """
    ).splitlines() == ["3 cuDeviceGetCount before cuInit", "3", "1", "1"]


def test_a_forked_child_has_no_driver():
    assert run_script(
        """
        d.cuInit(0)
        d.get("cuCtxCreate", 0, 0)
        if os.fork() == 0:
            codes = [d.status("cuCtxSynchronize"), d.status("cuInit", 0)]
            print(*codes, "fork" in d.detail(), flush=True)
            os._exit(0)
        os.wait()
        print(d.status("cuCtxSynchronize"))
        """
    ).splitlines() == ["3 3 True", "0"]


def test_a_child_forked_before_init_has_one():
    assert run_script(
        """
        if os.fork() == 0:
            print(d.status("cuInit", 0), flush=True)
            os._exit(0)
        os.wait()
        print(d.status("cuInit", 0))
        """
    ).splitlines() == ["0", "0"]


@pytest.fixture
def bare(driver):
    """The driver in a thread without a current context, whatever earlier tests left there."""
    before = []
    while driver.get("cuCtxGetCurrent") is not None:
        before.append(driver.get("cuCtxPopCurrent"))
    yield driver
    for context in reversed(before):
        driver.cuCtxPushCurrent(context)


def test_the_stack_of_a_thread(bare):
    driver = bare
    assert driver.get("cuCtxGetCurrent") is None
    fails(INVALID_CONTEXT, driver.cuCtxPopCurrent, None)
    fails(INVALID_CONTEXT, driver.cuCtxSynchronize)
    a = driver.get("cuCtxCreate", 0, 0)
    b = driver.get("cuCtxCreate", 0, 0)
    assert a != b and driver.get("cuCtxGetCurrent") == b
    assert driver.get("cuCtxPopCurrent") == b
    assert driver.get("cuCtxGetCurrent") == a
    driver.cuCtxPushCurrent(b)
    driver.cuCtxSetCurrent(a)  # replaces the top
    assert driver.get("cuCtxPopCurrent") == a
    assert driver.get("cuCtxPopCurrent") == a
    driver.cuCtxSetCurrent(b)  # onto an empty stack
    assert driver.get("cuCtxGetCurrent") == b
    driver.cuCtxSetCurrent(None)
    assert driver.get("cuCtxGetCurrent") is None
    driver.cuCtxDestroy(a)
    driver.cuCtxDestroy(b)


def test_destroying_the_current_context_pops_it(bare):
    driver = bare
    a = driver.get("cuCtxCreate", 0, 0)
    b = driver.get("cuCtxCreate", 0, 0)
    driver.cuCtxDestroy(b)
    assert driver.get("cuCtxGetCurrent") == a
    driver.cuCtxDestroy(a)
    assert driver.get("cuCtxGetCurrent") is None
    fails(INVALID_CONTEXT, driver.cuCtxDestroy, a)
    fails(INVALID_CONTEXT, driver.cuCtxPushCurrent, a)


def test_stacks_are_of_threads(cuda):
    seen = []

    def other():
        seen.append(cuda.get("cuCtxGetCurrent"))
        cuda.cuCtxPushCurrent(cuda.context)
        seen.append(cuda.get("cuCtxGetCurrent"))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [None, cuda.context]
    assert cuda.get("cuCtxGetCurrent") == cuda.context


def test_a_context_that_another_thread_destroyed(cuda):
    thread = threading.Thread(target=lambda: cuda.cuCtxDestroy(cuda.context))
    thread.start()
    thread.join()
    fails(CONTEXT_IS_DESTROYED, cuda.cuCtxSynchronize)
    fails(CONTEXT_IS_DESTROYED, cuda.alloc, 4)
    assert cuda.get("cuCtxPopCurrent") == cuda.context


@pytest.mark.parametrize("handle", [0, 0x10, 0xDEADBEEF0, 0x7FFF_FFFF_FFFF_FFF0, 2**64 - 16])
def test_invented_handles(cuda, handle):
    fails(INVALID_CONTEXT, cuda.cuCtxPushCurrent, handle)
    fails(INVALID_CONTEXT, cuda.cuCtxDestroy, handle)
    fails(INVALID_HANDLE, cuda.cuEventQuery, handle)
    fails(INVALID_HANDLE, cuda.cuModuleUnload, handle)
    if handle:
        fails(INVALID_HANDLE, cuda.cuStreamQuery, handle)
    fails(INVALID_VALUE, cuda.cuGraphDestroy, handle)


def test_handles_of_another_type(cuda):
    stream, event = cuda.stream(), cuda.event()
    fails(INVALID_HANDLE, cuda.cuStreamQuery, event)
    fails(INVALID_HANDLE, cuda.cuEventQuery, stream)
    fails(INVALID_CONTEXT, cuda.cuCtxPushCurrent, stream)
    fails(INVALID_HANDLE, cuda.cuStreamQuery, stream + 1)


def test_stale_handles_stay_stale_when_their_place_is_used_again(cuda):
    old = cuda.event()
    cuda.cuEventDestroy(old)
    new = [cuda.event() for _ in range(100)]
    assert old not in new
    fails(INVALID_HANDLE, cuda.cuEventQuery, old)
    fails(INVALID_HANDLE, cuda.cuEventDestroy, old)


def test_objects_and_memory_die_with_their_context(driver, image):
    context = driver.get("cuCtxCreate", 0, 0)
    before = driver.mem_info()
    stream, event, module = driver.stream(), driver.event(), driver.load(image)
    function = driver.function(module, "nop")
    address = driver.alloc(1 << 20)
    driver.launch(function, 1, 1)
    driver.cuCtxDestroy(context)
    again = driver.get("cuCtxCreate", 0, 0)
    fails(INVALID_HANDLE, driver.cuStreamQuery, stream)
    fails(INVALID_HANDLE, driver.cuEventQuery, event)
    fails(INVALID_HANDLE, driver.cuModuleUnload, module)
    fails(INVALID_HANDLE, driver.launch, function, 1, 1)
    assert "freed" in fails(INVALID_VALUE, driver.cuMemsetD8, address, 0, 1)
    assert driver.mem_info() == before
    driver.cuCtxDestroy(again)


def test_questions(cuda):
    assert cuda.get("cuCtxGetDevice", kind=ctypes.c_int) == 0
    assert cuda.get("cuCtxGetFlags", kind=ctypes.c_uint) == 0
    other = cuda.get("cuCtxCreate", 4 | 8, 0)
    assert cuda.get("cuCtxGetFlags", kind=ctypes.c_uint) == 12
    ids = [ctypes.c_ulonglong(), ctypes.c_ulonglong()]
    cuda.cuCtxGetId(cuda.context, byref(ids[0]))
    cuda.cuCtxGetId(None, byref(ids[1]))
    assert ids[0].value != ids[1].value
    version = ctypes.c_uint()
    cuda.cuCtxGetApiVersion(other, byref(version))
    assert version.value == 3020
    cuda.cuCtxDestroy(other)
    fails(INVALID_VALUE, cuda.cuCtxGetDevice, None)


@pytest.mark.parametrize("flags", [3, 5, 7, 0x100, 0x80000000])
def test_flags_that_are_none(driver, flags):
    fails(INVALID_VALUE, driver.get, "cuCtxCreate", flags, 0)


@pytest.mark.parametrize("device", [-1, 1, 64, 2**31 - 1])
def test_devices_that_are_none(driver, device):
    fails(INVALID_DEVICE, driver.get, "cuCtxCreate", 0, device)
    fails(INVALID_DEVICE, driver.get, "cuDevicePrimaryCtxRetain", device)
    fails(INVALID_DEVICE, driver.cuDevicePrimaryCtxReset, device)


def test_limits_and_preferences(cuda):
    for limit in range(5):
        value = ctypes.c_size_t()
        cuda.cuCtxGetLimit(byref(value), limit)
        assert value.value > 0
    cuda.cuCtxSetLimit(1, 1 << 21)
    cuda.cuCtxGetLimit(byref(value), 1)
    assert value.value == 1 << 21
    fails(INVALID_VALUE, cuda.cuCtxGetLimit, byref(value), 99)
    fails(215, cuda.cuCtxGetLimit, byref(value), 7)  # UNSUPPORTED_LIMIT
    cuda.cuCtxSetCacheConfig(2)
    assert cuda.get("cuCtxGetCacheConfig", kind=ctypes.c_int) == 2
    fails(INVALID_VALUE, cuda.cuCtxSetCacheConfig, 4)
    cuda.cuCtxSetSharedMemConfig(2)
    assert cuda.get("cuCtxGetSharedMemConfig", kind=ctypes.c_int) == 2
    least, greatest = ctypes.c_int(), ctypes.c_int()
    cuda.cuCtxGetStreamPriorityRange(byref(least), byref(greatest))
    assert least.value == 0 and greatest.value < 0


class TestPrimary:
    def state(self, driver):
        flags, active = ctypes.c_uint(), ctypes.c_int()
        driver.cuDevicePrimaryCtxGetState(0, byref(flags), byref(active))
        return flags.value, active.value

    def test_is_one_for_all_who_retain_it(self, driver):
        before = self.state(driver)  # tests of pygpu.cuda in this process may keep it
        a = driver.get("cuDevicePrimaryCtxRetain", 0)
        b = driver.get("cuDevicePrimaryCtxRetain", 0)
        assert a == b and self.state(driver) == (0, 1)
        assert driver.get("cuCtxGetCurrent") is None
        driver.cuDevicePrimaryCtxRelease(0)
        driver.cuCtxPushCurrent(a)
        driver.cuCtxSynchronize()
        driver.cuDevicePrimaryCtxRelease(0)
        assert self.state(driver) == before
        if before == (0, 0):
            fails(CONTEXT_IS_DESTROYED, driver.cuCtxSynchronize)
        driver.cuCtxPopCurrent(None)
        if before == (0, 0):
            fails(INVALID_CONTEXT, driver.cuDevicePrimaryCtxRelease, 0)

    def test_is_not_destroyed_like_others(self, driver):
        context = driver.get("cuDevicePrimaryCtxRetain", 0)
        fails(INVALID_CONTEXT, driver.cuCtxDestroy, context)
        driver.cuDevicePrimaryCtxRelease(0)

    # In processes of their own: what pygpu.cuda keeps of the primary context is not to see these.

    def test_reset_ends_it_and_flags_begin_it(self):
        assert run_script(
            """
            d.cuInit(0)
            def state():
                flags, active = ctypes.c_uint(), ctypes.c_int()
                d.cuDevicePrimaryCtxGetState(0, byref(flags), byref(active))
                return flags.value, active.value
            d.cuCtxPushCurrent(d.get("cuDevicePrimaryCtxRetain", 0))
            address = d.alloc(100)
            d.cuDevicePrimaryCtxReset(0)
            print(*state(), d.status("cuMemFree", address) == CONTEXT_IS_DESTROYED)
            d.cuCtxPopCurrent(None)
            d.cuDevicePrimaryCtxReset(0)  # nothing to do
            d.cuDevicePrimaryCtxSetFlags(0, 4)
            print(*state())
            d.cuCtxPushCurrent(d.get("cuDevicePrimaryCtxRetain", 0))
            print(d.get("cuCtxGetFlags", kind=ctypes.c_uint))
            d.cuCtxPopCurrent(None)
            d.cuDevicePrimaryCtxRelease(0)
            d.cuDevicePrimaryCtxSetFlags(0, 0)
            print(*state(), d.status("cuDevicePrimaryCtxSetFlags", 0, 7) == INVALID_VALUE)
            """
        ).splitlines() == ["0 0 True", "4 0", "4", "0 0 True"]


class TestFailedKernel:
    """A fault breaks its context: who waits is told, and from then on each call."""

    def test_shows_when_waited_for_and_stays(self, cuda, kernels):
        address, stream = cuda.alloc(100), cuda.stream()
        cuda.launch(kernels.wild, 1, 1, 0x10)
        cuda.launch(kernels.nop, 1, 1)  # no news before somebody waits
        detail = fails(ILLEGAL_ADDRESS, cuda.cuCtxSynchronize)
        assert "wild" in detail and "0x10" in detail
        out = np.zeros(25, "i4")
        for call, args in [
            (cuda.cuCtxSynchronize, ()),
            (cuda.cuStreamSynchronize, (stream,)),
            (cuda.cuStreamQuery, (stream,)),
            (cuda.alloc, (4,)),
            (cuda.cuMemcpyDtoH, (out.ctypes.data, address, 100)),
            (cuda.cuMemsetD8, (address, 0, 4)),
            (cuda.get, ("cuEventCreate", 0)),
        ]:
            assert fails(ILLEGAL_ADDRESS, call, *args) == detail
        cuda.cuCtxDestroy(cuda.context)

    def test_what_is_queued_behind_it_does_not_run(self, cuda, kernels):
        host = np.zeros(1, "i4")
        cuda.cuMemHostRegister(host.ctypes.data, 4, 0)
        address = cuda.to_device(np.ones(1, "i4"))
        cuda.launch(kernels.wild, 1, 1, 0x10)
        cuda.launch(kernels.scale, 1, 1, address, np.int32(7), np.int32(1))
        cuda.cuMemcpyDtoHAsync(host.ctypes.data, address, 4, None)
        fails(ILLEGAL_ADDRESS, cuda.cuCtxSynchronize)
        assert host[0] == 0

    def test_leaves_other_contexts_alone(self, cuda, kernels):
        cuda.launch(kernels.wild, 1, 1, 0x10)
        fails(ILLEGAL_ADDRESS, cuda.cuStreamSynchronize, None)
        other = cuda.get("cuCtxCreate", 0, 0)
        array = np.arange(10, dtype="f4")
        assert (cuda.from_device(cuda.to_device(array), 10, "f4") == array).all()
        cuda.cuCtxDestroy(other)

    def test_memory_can_be_freed_and_the_context_destroyed(self, cuda, kernels):
        before = cuda.mem_info()
        address = cuda.alloc(1 << 20)
        cuda.launch(kernels.wild, 1, 1, 0x10)
        fails(ILLEGAL_ADDRESS, cuda.cuMemFree, address)  # it waits, so it tells; and frees
        cuda.cuCtxDestroy(cuda.context)
        other = cuda.get("cuCtxCreate", 0, 0)
        assert cuda.mem_info() == before
        cuda.cuCtxDestroy(other)

    def test_a_callback_gets_the_error_and_a_host_function_is_not_called(self, cuda, kernels):
        called = []
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
        callback = kind(lambda stream, status, data: called.append(status))
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: called.append("no"))
        stream = cuda.stream()
        cuda.launch(kernels.wild, 1, 1, 0x10, stream=stream)
        cuda.cuLaunchHostFunc(stream, ctypes.cast(function, ctypes.c_void_p), None)
        cuda.cuStreamAddCallback(stream, ctypes.cast(callback, ctypes.c_void_p), None, 0)
        fails(ILLEGAL_ADDRESS, cuda.cuStreamSynchronize, stream)
        assert called == [ILLEGAL_ADDRESS]
