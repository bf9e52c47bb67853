"""What the library exports, and how a program finds it; the texts of its codes."""

import ctypes
import re
import shutil
import subprocess
from ctypes import byref

import pytest
from simulator.sim_driver import (
    INVALID_VALUE,
    LIBRARY,
    NOT_FOUND,
    NOT_SUPPORTED,
    ROOT,
    fails,
    rows,
    run_script,
)


def look_up(driver, symbol, version=13000, flags=0):
    pointer, status = ctypes.c_void_p(), ctypes.c_int(-1)
    function = driver.library.cuGetProcAddress_v2
    code = function(
        symbol.encode(), byref(pointer), version, ctypes.c_ulonglong(flags), byref(status)
    )
    return code, pointer.value, status.value


@pytest.mark.parametrize(
    "since, name, symbol, _parameters",
    rows(),
    ids=lambda value: value if isinstance(value, str) and value.startswith("cu") else "",
)
def test_every_row_is_found(driver, since, name, symbol, _parameters):
    address = ctypes.cast(getattr(driver.library, symbol), ctypes.c_void_p).value
    assert look_up(driver, symbol) == (0, address, 0)
    assert look_up(driver, re.sub("_v[23]$", "", symbol)) == (0, address, 0)


def test_what_is_not_found(driver):
    assert look_up(driver, "cuNothing") == (NOT_FOUND, None, 1)
    assert look_up(driver, "") == (NOT_FOUND, None, 1)
    assert look_up(driver, "cuFuncGetParamInfo", 12000) == (NOT_FOUND, None, 2)
    assert look_up(driver, "cuMemAlloc", 3000)[0] == 0
    assert look_up(driver, "cuMemAlloc", flags=2)[0] == NOT_SUPPORTED
    assert look_up(driver, "cuMemAlloc", flags=8)[0] == INVALID_VALUE
    assert look_up(driver, "cuGetProcAddress")[0] == 0


def test_an_older_driver():
    assert run_script(
        """
        print(d.get("cuDriverGetVersion", kind=ctypes.c_int))
        d.cuInit(0)
        d.get("cuCtxCreate", 0, 0)
        print(d.status("cuCtxGetId", None, byref(ctypes.c_ulonglong())), d.detail(), sep=";")
        pointer = ctypes.c_void_p()
        look_up = d.library.cuGetProcAddress_v2
        print(look_up(b"cuCtxGetId", byref(pointer), 13000, ctypes.c_ulonglong(0), None))
        """,
        PYGPU_SIM_VERSION=11080,
    ).splitlines() == [
        "11080",
        "801;cuCtxGetId came with driver 12.0; this one is 11.8 "
        "(PYGPU_SIM_VERSION, PYGPU_SIM_HIDE)",
        "500",
    ]


def test_hidden_functions():
    assert run_script(
        """
        d.cuInit(0)
        d.get("cuCtxCreate", 0, 0)
        print(d.status("cuMemAlloc", byref(ctypes.c_ulonglong()), 4))
        print(d.status("cuMemAllocManaged", byref(ctypes.c_ulonglong()), 4, 1))
        print(d.status("cuStreamCreate", byref(ctypes.c_void_p()), 0))
        """,
        PYGPU_SIM_HIDE="cuMemAlloc, cuStreamCreate",
    ).split() == ["801", "0", "801"]


def test_nothing_else_is_visible():
    if shutil.which("nm") is None:
        pytest.skip("no nm (binutils)")
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", str(LIBRARY)], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1] for line in listing.splitlines()}
    driver = {symbol for _, _, symbol, _ in rows()}
    assert driver <= names
    rest = {name for name in names - driver if not name.startswith(("nvrtc", "pygpuSim"))}
    assert rest == {"cuGetProcAddress_v2"}


def test_names_and_texts_of_codes(driver):
    text = ctypes.c_char_p()
    table = re.findall(
        r"^STATUS\((\w+), (\d+),", (ROOT / "src/cuda/api/status.def").read_text(), re.M
    )
    assert len(table) > 90
    for name, number in table:
        driver.cuGetErrorName(int(number), byref(text))
        assert text.value.decode() == f"CUDA_ERROR_{name}"
        driver.cuGetErrorString(int(number), byref(text))
        assert text.value and text.value.decode() == text.value.decode().strip()
    driver.cuGetErrorName(0, byref(text))
    assert text.value == b"CUDA_SUCCESS"
    driver.cuGetErrorString(2, byref(text))
    assert text.value == b"out of memory"
    for call in (driver.cuGetErrorName, driver.cuGetErrorString):
        fails(INVALID_VALUE, call, 12345, byref(text))
        assert text.value is None
        fails(INVALID_VALUE, call, 1, None)


def test_the_profiler_has_switches(cuda):
    cuda.cuProfilerStart()
    cuda.cuProfilerStop()
