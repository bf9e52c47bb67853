"""Prints the OpenCL devices that there are, one a line; exit status 1 if there is none.

Knows nothing of pygpu, so that it can tell what a machine lacks before pygpu is built.
"""

import ctypes
import os
import sys

PLATFORM_NAME, DEVICE_NAME = 0x0902, 0x102B
ALL_DEVICES = 0xFFFFFFFF
LIBRARIES = [
    os.environ.get("PYGPU_OPENCL_LIBRARY"),
    "libOpenCL.so.1",
    "/System/Library/Frameworks/OpenCL.framework/OpenCL",
    os.path.join(sys.prefix, "lib", "libintelocl.so"),  # a driver from PyPI; needs no loader
]


def handles(function, *head) -> list[ctypes.c_void_p]:
    """What a function of the kind (..., capacity, handles, count) -> status lists."""
    count = ctypes.c_uint(0)
    if function(*head, 0, None, ctypes.byref(count)) != 0 or count.value == 0:
        return []
    found = (ctypes.c_void_p * count.value)()
    function(*head, count, found, None)
    return [ctypes.c_void_p(handle) for handle in found if handle]


def name(function, handle: ctypes.c_void_p, query: int) -> str:
    text = ctypes.create_string_buffer(1024)
    function(handle, query, ctypes.c_size_t(len(text) - 1), text, None)
    return text.value.decode("utf-8", "replace").strip()


def devices(path: str) -> list[str]:
    try:
        cl = ctypes.CDLL(path)
    except OSError:
        return []
    return [
        f"{name(cl.clGetDeviceInfo, device, DEVICE_NAME)}"
        f" ({name(cl.clGetPlatformInfo, platform, PLATFORM_NAME)}, through {path})"
        for platform in handles(cl.clGetPlatformIDs)
        for device in handles(cl.clGetDeviceIDs, platform, ctypes.c_ulonglong(ALL_DEVICES))
    ]


for path in filter(None, LIBRARIES):
    if found := devices(path):
        print(*found, sep="\n")
        sys.exit(0)
sys.exit(1)
