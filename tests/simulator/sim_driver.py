"""The simulator's driver by ctypes, called by the names of cuda.fn; failures are DriverError."""

import ctypes
import os
import re
import subprocess
import sys
import textwrap
from ctypes import byref
from pathlib import Path

import numpy as np
import pytest

import pygpu

ROOT = Path(__file__).parents[2]
LIBRARY = Path(pygpu.__file__).parent / "cuda" / "simulator" / "libpygpu_cudasim.so"

INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED = 1, 2, 3
INVALID_DEVICE, INVALID_IMAGE, INVALID_CONTEXT = 101, 200, 201
INVALID_HANDLE, ILLEGAL_STATE, NOT_FOUND, NOT_READY = 400, 401, 500, 600
ILLEGAL_ADDRESS, CONTEXT_IS_DESTROYED, ASSERT = 700, 709, 710
NOT_PERMITTED, NOT_SUPPORTED = 800, 801

LEGACY, PER_THREAD = 1, 2  # streams


def rows():
    """(since, name, symbol, parameters) of each row of cuda.fn."""
    text = (ROOT / "src/cuda/api/cuda.fn").read_text("utf-8")
    row = r'^CU_(?:FN|OTHER)\((\d+), (\w+), "(\w+)",\s*\((.*?)\)\)$'
    found = re.findall(row, text, re.M | re.S)
    return [(int(since), name, symbol, " ".join(p.split())) for since, name, symbol, p in found]


def enum(name):
    """The members of a class of enums.def: {name: number}."""
    text = (ROOT / "src/cuda/api/enums.def").read_text("utf-8")
    found = re.findall(rf"^ENUM\({name}, (\w+), (-?\d+), \w+\)$", text, re.M)
    return {member: int(number) for member, number in found}


class IpcHandle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * 64)]


def ctype(parameter):
    """The ctypes type of a C parameter; pointers and handles are plain addresses."""
    words = parameter.replace("*", " * ").split()
    if "*" in words or words[0] == "const":
        return ctypes.c_void_p
    if words[0].startswith("CUipc"):
        return IpcHandle
    if words[0] == "unsigned":
        if words[1:3] == ["long", "long"]:
            return ctypes.c_ulonglong
        return {"int": ctypes.c_uint, "short": ctypes.c_ushort, "char": ctypes.c_ubyte}[words[1]]
    if words[0] in ("CUdeviceptr", "CUtexObject", "CUsurfObject"):
        return ctypes.c_ulonglong
    if words[0] == "size_t":
        return ctypes.c_size_t
    handles = "context module function array event stream graph graphExec graphNode linkState"
    if words[0] in {f"CU{h}" for h in handles.split()} | {
        "CUgraphExec",
        "CUgraphNode",
        "CUmemoryPool",
    }:
        return ctypes.c_void_p
    if words[0] in ("CUhostFn", "CUstreamCallback", "CUoccupancyB2DSize"):
        return ctypes.c_void_p
    return ctypes.c_int  # int and enumerations


class DriverError(Exception):
    def __init__(self, name, code, detail):
        super().__init__(f"{name}: {code}: {detail}")
        self.name, self.code, self.detail = name, code, detail


def fails(code, call, *args, **kwargs):
    """The call fails with this code; returns the detail."""
    with pytest.raises(DriverError) as caught:
        call(*args, **kwargs)
    assert caught.value.code == code, caught.value
    return caught.value.detail


class Driver:
    def __init__(self, path=LIBRARY):
        self.library = ctypes.CDLL(str(path))
        self.library.pygpuSimLastErrorDetail.restype = ctypes.c_char_p
        self.functions = {}
        for _since, name, symbol, parameters in rows():
            function = getattr(self.library, symbol)
            names = [] if parameters == "void" else parameters.split(", ")
            function.argtypes = [ctype(p) for p in names]
            self.functions[name] = function

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)
        function = self.functions[name]

        def call(*args):
            status = function(*args)
            if status:
                raise DriverError(name, status, self.detail())

        return call

    def detail(self):
        return self.library.pygpuSimLastErrorDetail().decode()

    def status(self, name, *args):
        """What the call answers."""
        return self.functions[name](*args)

    def get(self, name, *args, kind=ctypes.c_void_p):
        """The value that the call writes through its first parameter."""
        out = kind()
        getattr(self, name)(byref(out), *args)
        return out.value

    # what nearly all tests need

    def alloc(self, size):
        return self.get("cuMemAlloc", size, kind=ctypes.c_ulonglong)

    def to_device(self, array):
        address = self.alloc(array.nbytes)
        self.cuMemcpyHtoD(address, array.ctypes.data, array.nbytes)
        return address

    def from_device(self, address, shape, dtype):
        array = np.empty(shape, dtype)
        self.cuMemcpyDtoH(array.ctypes.data, address, array.nbytes)
        return array

    def stream(self, flags=0):
        return self.get("cuStreamCreate", flags)

    def event(self, flags=0):
        return self.get("cuEventCreate", flags)

    def mem_info(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.cuMemGetInfo(byref(free), byref(total))
        return free.value, total.value

    def load(self, image):
        return self.get("cuModuleLoadData", image)

    def function(self, module, name):
        return self.get("cuModuleGetFunction", module, name.encode())

    def launch(self, function, grid, block, *args, stream=None, shared=0):
        """args: ctypes objects or NumPy scalars, by value."""
        self.cuLaunchKernel(function, *dim3(grid), *dim3(block), shared, stream, params(args), None)


def dim3(value):
    value = (value,) if isinstance(value, int) else tuple(value)
    return value + (1,) * (3 - len(value))


def params(args):
    """kernelParams: the addresses of the arguments. Keeps them alive with the array."""
    held = []
    for arg in args:
        if isinstance(arg, int):
            arg = ctypes.c_ulonglong(arg)  # an address
        elif isinstance(arg, np.generic):
            arg = (ctypes.c_char * arg.nbytes)(*arg.tobytes())
        held.append(arg)
    pointers = (ctypes.c_void_p * (len(held) + 1))(*(ctypes.addressof(arg) for arg in held))
    pointers.held = held
    return pointers


def run_script(script, **environment):
    """What a script prints in a process of its own, with `d` a Driver. It must end well."""
    preamble = f"""
import ctypes, os, sys, threading
from ctypes import byref
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
from sim_driver import *
d = Driver()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", preamble + textwrap.dedent(script)],
        env=os.environ | {key: str(value) for key, value in environment.items()},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()
