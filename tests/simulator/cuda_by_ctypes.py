"""The CUDA driver and NVRTC by ctypes, with nothing of pygpu between, for test_kernels.py.

open_driver() gives the simulator's library, or the system's where PYGPU_CUDA=driver.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

import numpy as np

import pygpu

SIMULATOR = Path(pygpu.__file__).parent / "cuda" / "simulator" / "libpygpu_cudasim.so"
NVRTC_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so")

pointer, size_t, uint = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
address = ctypes.c_ulonglong

ADDRESS_MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
FORMATS = {"u1": 1, "u2": 2, "u4": 3, "i1": 8, "i2": 9, "i4": 10, "f2": 16, "f4": 32}


class ArrayDescriptor(ctypes.Structure):
    _fields_ = [
        ("Width", size_t),
        ("Height", size_t),
        ("Depth", size_t),
        ("Format", ctypes.c_int),
        ("NumChannels", uint),
        ("Flags", uint),
    ]


class Copy3D(ctypes.Structure):
    _fields_ = [
        *((f"src{name}", size_t) for name in ("XInBytes", "Y", "Z", "LOD")),
        ("srcMemoryType", ctypes.c_int),
        ("srcHost", pointer),
        ("srcDevice", address),
        ("srcArray", pointer),
        ("reserved0", pointer),
        ("srcPitch", size_t),
        ("srcHeight", size_t),
        *((f"dst{name}", size_t) for name in ("XInBytes", "Y", "Z", "LOD")),
        ("dstMemoryType", ctypes.c_int),
        ("dstHost", pointer),
        ("dstDevice", address),
        ("dstArray", pointer),
        ("reserved1", pointer),
        ("dstPitch", size_t),
        ("dstHeight", size_t),
        ("WidthInBytes", size_t),
        ("Height", size_t),
        ("Depth", size_t),
    ]


class ResourceArray(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("array", pointer),
        ("rest", ctypes.c_int * 30),
        ("flags", uint),
    ]


class ResourceLinear(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("data", address),
        ("format", ctypes.c_int),
        ("channels", uint),
        ("size", size_t),
        ("rest", ctypes.c_int * 26),
        ("flags", uint),
    ]


class TextureDescriptor(ctypes.Structure):
    _fields_ = [
        ("address_mode", ctypes.c_int * 3),
        ("filter_mode", ctypes.c_int),
        ("flags", uint),
        ("anisotropy", uint),
        ("mipmap_filter", ctypes.c_int),
        ("mipmap", ctypes.c_float * 3),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    ]


class CudaError(Exception):
    pass


class CompileError(Exception):
    pass


class Nvrtc:
    """compile() with a library that has NVRTC's symbols."""

    def __init__(self, library: ctypes.CDLL):
        self.library = library

    def compile(self, source: str, options: tuple[str, ...] = (), kind: str = "CUBIN") -> bytes:
        lib = self.library
        program = ctypes.c_void_p()
        lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
        try:
            words = (ctypes.c_char_p * len(options))(*(word.encode() for word in options))
            status = lib.nvrtcCompileProgram(program, len(options), words)
            size = size_t()
            lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            lib.nvrtcGetProgramLog(program, log)
            self.log = log.value.decode()
            if status:
                raise CompileError(self.log)
            getattr(lib, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
            image = ctypes.create_string_buffer(size.value)
            getattr(lib, f"nvrtcGet{kind}")(program, image)
            return image.raw[: size.value]
        finally:
            lib.nvrtcDestroyProgram(ctypes.byref(program))


def toolkit_options() -> tuple[str, ...]:
    """Where NVIDIA's compiler finds the headers that the simulator has of its own."""
    folders = [path for path in ("/usr/local/cuda/include",) if Path(path).is_dir()]
    return tuple(f"-I{path}" for path in (*folders, *(f"{path}/cccl" for path in folders)))


def open_nvrtc() -> Nvrtc | None:
    """NVIDIA's NVRTC, or None where it is not installed."""
    for name in NVRTC_NAMES:
        with contextlib.suppress(OSError):
            return Nvrtc(ctypes.CDLL(name))
    return None


class Driver:
    """A device with its primary context current."""

    def __init__(self, library: ctypes.CDLL, nvrtc: Nvrtc, simulated: bool):
        self.cu, self.nvrtc, self.simulated = library, nvrtc, simulated
        library.cuGetErrorName.argtypes = [ctypes.c_int, pointer]
        self.call("cuInit", uint(0))
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
        self.call("cuDeviceGetAttribute", ctypes.byref(minor), 76, device)
        self.architecture = f"sm_{major.value}{minor.value}"

    def call(self, name: str, *args) -> None:
        status = getattr(self.cu, name)(*args)
        if status:
            text = ctypes.c_char_p()
            self.cu.cuGetErrorName(status, ctypes.byref(text))
            detail = ""
            if self.simulated:
                self.cu.pygpuSimLastErrorDetail.restype = ctypes.c_char_p
                detail = ": " + self.cu.pygpuSimLastErrorDetail().decode()
            raise CudaError(f"{name}: {(text.value or b'?').decode()}{detail}")

    def module(self, source: str, options: tuple[str, ...] = ()) -> Module:
        headers = () if self.simulated else toolkit_options()
        image = self.nvrtc.compile(source, (f"-arch={self.architecture}", *headers, *options))
        return Module(self, image)

    def to_device(self, array: np.ndarray) -> Memory:
        return Memory(self, np.ascontiguousarray(array))

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize")


class Memory:
    """Device memory with the contents of an array."""

    def __init__(self, driver: Driver, array: np.ndarray):
        self.driver, self.dtype, self.shape = driver, array.dtype, array.shape
        self.size = array.nbytes
        self.address = address()
        driver.call("cuMemAlloc_v2", ctypes.byref(self.address), size_t(max(1, self.size)))
        if self.size:
            driver.call(
                "cuMemcpyHtoD_v2", self.address, pointer(array.ctypes.data), size_t(self.size)
            )

    def get(self) -> np.ndarray:
        array = np.empty(self.shape, self.dtype)
        if self.size:
            self.driver.call(
                "cuMemcpyDtoH_v2", pointer(array.ctypes.data), self.address, size_t(self.size)
            )
        return array

    def free(self) -> None:
        self.driver.call("cuMemFree_v2", self.address)


class Module:
    def __init__(self, driver: Driver, image: bytes):
        self.driver, self.handle = driver, ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(self.handle), image)

    def launch(self, name, grid, block, args, shared=0, cooperative=False) -> None:
        """args: ctypes objects and NumPy scalars, by value."""
        function = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(function), self.handle, name.encode())
        held = [
            (ctypes.c_char * arg.nbytes)(*arg.tobytes()) if isinstance(arg, np.generic) else arg
            for arg in args
        ]
        params = (ctypes.c_void_p * max(1, len(held)))(
            *(ctypes.cast(ctypes.pointer(arg), ctypes.c_void_p) for arg in held)
        )
        sizes = [uint(n) for n in (*three(grid), *three(block), shared)]
        if cooperative:
            self.driver.call("cuLaunchCooperativeKernel", function, *sizes, None, params)
        else:
            self.driver.call("cuLaunchKernel", function, *sizes, None, params, None)
        self.driver.synchronize()

    def unload(self) -> None:
        self.driver.call("cuModuleUnload", self.handle)


def three(value) -> tuple[int, int, int]:
    value = (value,) if isinstance(value, int) else tuple(value)
    return (*value, *(1,) * (3 - len(value)))


class Array:
    """A CUDA array with the contents of a NumPy array: (depth,) (height,) width, channels."""

    def __init__(self, driver: Driver, data: np.ndarray, layered: bool = False, surface=False):
        self.driver, self.data = driver, np.ascontiguousarray(data)
        *shape, channels = data.shape
        shape = [0] * (3 - len(shape)) + shape
        if layered and shape[0] == 0:  # layers of one dimension
            shape = [shape[1], 0, shape[2]]
        code = FORMATS[data.dtype.str[1:]]
        descriptor = ArrayDescriptor(
            shape[2], shape[1], shape[0], code, channels, layered * 1 + surface * 2
        )
        self.row = shape[2] * channels * data.itemsize
        self.extent = self.row, max(1, shape[1]), max(1, shape[0])
        self.handle = ctypes.c_void_p()
        driver.call("cuArray3DCreate_v2", ctypes.byref(self.handle), ctypes.byref(descriptor))
        self.copy(self.data, True)

    def copy(self, host: np.ndarray, to_array: bool) -> None:
        copy = Copy3D()
        side, other = ("src", "dst") if to_array else ("dst", "src")
        setattr(copy, side + "MemoryType", 1)
        setattr(copy, side + "Host", host.ctypes.data)
        setattr(copy, side + "Pitch", self.row)
        setattr(copy, side + "Height", self.extent[1])
        setattr(copy, other + "MemoryType", 3)
        setattr(copy, other + "Array", self.handle)
        copy.WidthInBytes, copy.Height, copy.Depth = self.extent
        self.driver.call("cuMemcpy3D_v2", ctypes.byref(copy))

    def get(self) -> np.ndarray:
        array = np.empty_like(self.data)
        self.copy(array, False)
        return array

    def free(self) -> None:
        self.driver.call("cuArrayDestroy", self.handle)


class Texture:
    """A texture object on an array, or on linear memory."""

    def __init__(
        self,
        driver: Driver,
        data: np.ndarray,
        address: str = "clamp",
        filter: str = "point",
        normalized: bool = False,
        as_integer: bool = False,
        layered: bool = False,
        linear_memory: bool = False,
        border: tuple[float, ...] = (0, 0, 0, 0),
    ):
        self.driver = driver
        if linear_memory:
            self.holder = Memory(driver, np.ascontiguousarray(data))
            resource = ResourceLinear(
                2, self.holder.address, FORMATS[data.dtype.str[1:]], data.shape[-1], data.nbytes
            )
        else:
            self.holder = Array(driver, data, layered)
            resource = ResourceArray(0, self.holder.handle)
        mode = ADDRESS_MODES[address]
        descriptor = TextureDescriptor(
            (ctypes.c_int * 3)(mode, mode, mode),
            {"point": 0, "linear": 1}[filter],
            as_integer * 1 + normalized * 2,
            border=(ctypes.c_float * 4)(*border),
        )
        self.value = ctypes.c_ulonglong()
        driver.call(
            "cuTexObjectCreate",
            ctypes.byref(self.value),
            ctypes.byref(resource),
            ctypes.byref(descriptor),
            None,
        )

    def free(self) -> None:
        self.driver.call("cuTexObjectDestroy", self.value)
        self.holder.free()


class Surface:
    def __init__(self, driver: Driver, data: np.ndarray, layered: bool = False):
        self.driver = driver
        self.holder = Array(driver, data, layered, surface=True)
        resource = ResourceArray(0, self.holder.handle)
        self.value = ctypes.c_ulonglong()
        driver.call("cuSurfObjectCreate", ctypes.byref(self.value), ctypes.byref(resource))

    def get(self) -> np.ndarray:
        return self.holder.get()

    def free(self) -> None:
        self.driver.call("cuSurfObjectDestroy", self.value)
        self.holder.free()


def open_driver() -> Driver:
    """The simulator, or the real driver where PYGPU_CUDA=driver.

    Raises OSError or CudaError if there is none.
    """
    if os.environ.get("PYGPU_CUDA", "").lower() == "driver":
        nvrtc = open_nvrtc()
        if nvrtc is None:
            raise OSError("NVRTC is not installed")
        return Driver(ctypes.CDLL("libcuda.so.1"), nvrtc, False)
    library = ctypes.CDLL(str(SIMULATOR))
    return Driver(library, Nvrtc(library), True)
