"""Devices: what the environment makes of them, and their attributes."""

import ctypes
from ctypes import byref

import pytest
from simulator.sim_driver import INVALID_DEVICE, INVALID_VALUE, enum, fails, run_script


def attribute(driver, number, device=0):
    out = ctypes.c_int(-77)
    driver.cuDeviceGetAttribute(byref(out), number, device)
    return out.value


def test_the_name_says_what_it_is(driver):
    name = ctypes.create_string_buffer(200)
    driver.cuDeviceGetName(name, 200, 0)
    assert name.value.startswith(b"CPU simulator (") and name.value.endswith(b")")
    driver.cuDeviceGetName(name, 4, 0)
    assert name.value == b"CPU"
    fails(INVALID_VALUE, driver.cuDeviceGetName, name, 0, 0)
    fails(INVALID_VALUE, driver.cuDeviceGetName, None, 10, 0)


def test_every_attribute_answers(driver):
    answers = {name: attribute(driver, number) for name, number in enum("device_attribute").items()}
    assert answers["COMPUTE_CAPABILITY_MAJOR"] == 9 and answers["COMPUTE_CAPABILITY_MINOR"] == 0
    assert answers["WARP_SIZE"] == 32 and answers["MAX_THREADS_PER_BLOCK"] == 1024
    assert answers["UNIFIED_ADDRESSING"] == answers["MANAGED_MEMORY"] == 1
    assert answers["MAX_SHARED_MEMORY_PER_BLOCK"] <= answers["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"]
    assert answers["MULTIPROCESSOR_COUNT"] >= 1
    for name in ("CLUSTER_LAUNCH", "ECC_ENABLED", "IPC_EVENT_SUPPORTED", "TCC_DRIVER"):
        assert answers[name] == 0
    assert -77 not in answers.values()
    for number in (0, -1, 1000):
        fails(INVALID_VALUE, attribute, driver, number)


@pytest.mark.parametrize("device", [-1, 1, 1000])
def test_devices_that_are_none(driver, device):
    fails(INVALID_DEVICE, driver.get, "cuDeviceGet", device)
    fails(INVALID_DEVICE, attribute, driver, 1, device)
    fails(INVALID_DEVICE, driver.get, "cuDeviceTotalMem", device)
    fails(INVALID_DEVICE, driver.cuDeviceGetUuid, ctypes.create_string_buffer(16), device)


def test_addresses_on_the_bus(driver):
    text = ctypes.create_string_buffer(20)
    driver.cuDeviceGetPCIBusId(text, 20, 0)
    assert text.value == b"0000:01:00.0"
    for spelling in (b"0000:01:00.0", b"01:00.0", b"0000:01:00"):
        assert driver.get("cuDeviceGetByPCIBusId", spelling, kind=ctypes.c_int) == 0
    for wrong in (b"", b"junk", b"0000:01:00.0x", b"1"):
        fails(INVALID_VALUE, driver.get, "cuDeviceGetByPCIBusId", wrong)
    fails(INVALID_DEVICE, driver.get, "cuDeviceGetByPCIBusId", b"0000:02:00.0")


def test_the_environment_decides():
    assert run_script(
        """
        d.cuInit(0)
        print(d.get("cuDeviceGetCount", kind=ctypes.c_int))
        out = ctypes.c_int()
        for number in (75, 76, 16):
            d.cuDeviceGetAttribute(byref(out), number, 2)
            print(out.value)
        uuids = set()
        for i in range(3):
            uuid = ctypes.create_string_buffer(16)
            d.cuDeviceGetUuid(uuid, i)
            uuids.add(uuid.raw)
        print(len(uuids))
        print(d.get("cuDeviceGetByPCIBusId", b"0000:03:00.0", kind=ctypes.c_int))
        """,
        PYGPU_SIM_DEVICES=3,
        PYGPU_SIM_ARCH=86,
        PYGPU_SIM_THREADS=5,
    ).split() == ["3", "8", "6", "5", "3", "2"]


def test_without_devices():
    assert (
        run_script('print(d.status("cuInit", 0), d.detail())', PYGPU_SIM_DEVICES=0)
        == "100 PYGPU_SIM_DEVICES is 0"
    )


def test_settings_that_are_nonsense_are_refused():
    said = run_script(
        """
        print(d.get("cuDriverGetVersion", kind=ctypes.c_int), d.status("cuInit", 0), d.detail())
        """,
        PYGPU_SIM_DEVICES="many",
        PYGPU_SIM_VERSION="1e99",
        PYGPU_SIM_MEMORY="-5",
        PYGPU_SIM_THREADS="2.5",
        PYGPU_SIM_CHECK="ture",
        PYGPU_SIM_DEBUG=2,
        PYGPU_SIM_ORDER="shuffle:x",
    )
    assert said.startswith("13000 1 ")
    for part in (
        "PYGPU_SIM_CHECK=ture: 0 or 1 is allowed",
        "PYGPU_SIM_DEBUG=2: 0 or 1",
        "PYGPU_SIM_DEVICES=many: a whole number from 0 to 64 is allowed",
        "PYGPU_SIM_MEMORY=-5: a number from 1048576 to 1000000000000000, also with K, M or G,",
        "PYGPU_SIM_ORDER=shuffle:x: forward, reverse, shuffle or shuffle:NUMBER",
    ):
        assert part in said, part


def test_settings_as_names_and_with_units():
    assert run_script(
        """
        d.cuInit(0)
        print(d.get("cuDeviceTotalMem", 0, kind=ctypes.c_size_t) >> 20)
        """,
        PYGPU_SIM_MEMORY="1.5g",
        PYGPU_SIM_CHECK="off",
        PYGPU_SIM_DEBUG="no",
        PYGPU_SIM_DEFERRED="ON",
        PYGPU_SIM_ORDER="forward",
        PYGPU_SIM_TIMEOUT="0.5",
        PYGPU_SIM_THREADS="",
    ).split() == ["1536"]


def test_two_devices():
    assert run_script(
        """
        d.cuInit(0)
        out = ctypes.c_int()
        for pair in ((0, 1), (0, 0)):
            d.cuDeviceCanAccessPeer(byref(out), *pair)
            print(out.value)
        d.cuDeviceGetP2PAttribute(byref(out), 2, 0, 1)
        print(out.value, d.status("cuDeviceGetP2PAttribute", byref(out), 2, 1, 1))
        a = d.get("cuCtxCreate", 0, 0)
        b = d.get("cuCtxCreate", 0, 1)
        print(d.status("cuCtxEnablePeerAccess", a, 1), d.status("cuCtxEnablePeerAccess", b, 0))
        print(d.status("cuCtxDisablePeerAccess", a), d.status("cuCtxEnablePeerAccess", a, 0),
              d.status("cuCtxEnablePeerAccess", a, 0), d.status("cuCtxDisablePeerAccess", a))
        data = np.arange(1000, dtype="u1")
        there = d.to_device(data)
        free = d.mem_info()[0]
        d.cuCtxSetCurrent(a)
        assert d.mem_info()[0] > free, "each device has memory of its own"
        here = d.alloc(1000)
        d.cuMemcpyPeer(here, a, there, b, 1000)
        print((d.from_device(here, 1000, "u1") == data).all())
        """,
        PYGPU_SIM_DEVICES=2,
    ).split() == ["1", "0", "1", "101", "1", "217", "705", "0", "704", "0", "True"]
