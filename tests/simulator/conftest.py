"""Kernels on the simulator's library itself, by ctypes: no driver layer, no pygpu above it."""

import ctypes
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from simulator.sim_driver import Driver

import pygpu

REGISTERED = 3  # SIM_REGISTERED: host memory that kernels may use
LIBRARY = Path(pygpu.__file__).parent / "cuda" / "simulator" / "libpygpu_cudasim.so"


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Launch(ctypes.Structure):
    _fields_ = [
        ("grid", Dim3),
        ("block", Dim3),
        ("cluster", Dim3),
        ("shared", ctypes.c_size_t),
        ("cooperative", ctypes.c_bool),
        ("params", ctypes.POINTER(ctypes.c_void_p)),
        ("origin", ctypes.c_uint64 * 2),
    ]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 1000)]


class CompileError(Exception):
    pass


class KernelError(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code, self.text = code, text


def dim3(value):
    value = (value,) if isinstance(value, int) else tuple(value)
    return Dim3(*value, *(1,) * (3 - len(value)))


class Module:
    def __init__(self, simulator, image):
        self.simulator = simulator
        self.handle = ctypes.c_void_p()
        self.image = image
        status = simulator.inner.module_load(None, image, len(image), ctypes.byref(self.handle))
        if status:
            raise KernelError(status, simulator.detail())

    def __del__(self):
        if self.handle:
            self.simulator.inner.module_unload(self.handle)

    def kernel(self, name):
        out = ctypes.c_void_p()
        status = self.simulator.inner.module_kernel(self.handle, name.encode(), ctypes.byref(out))
        if status:
            raise KernelError(status, self.simulator.detail())
        return out

    def variable(self, name, dtype):
        """The variable as an array: device addresses are host addresses."""
        address, size = ctypes.c_size_t(), ctypes.c_size_t()
        status = self.simulator.inner.module_variable(
            self.handle, name.encode(), ctypes.byref(address), ctypes.byref(size)
        )
        if status:
            raise KernelError(status, self.simulator.detail())
        raw = (ctypes.c_char * size.value).from_address(address.value)
        return np.frombuffer(raw, dtype)

    def launch(self, name, grid, block, *args, shared=0, cooperative=False):
        """Arguments: arrays by their address, NumPy scalars and ctypes objects by value."""
        kernel = self.kernel(name)
        held, entered = [], []
        for arg in args:
            if isinstance(arg, np.ndarray):
                if arg.nbytes and not self.simulator.inner.memory_adopt(
                    None, arg.ctypes.data, arg.nbytes, REGISTERED, 0
                ):
                    entered.append(arg.ctypes.data)
                arg = ctypes.c_void_p(arg.ctypes.data)
            elif isinstance(arg, np.generic | np.void):
                arg = (ctypes.c_char * arg.nbytes)(*arg.tobytes())
            held.append(arg)
        params = (ctypes.c_void_p * (len(held) + 1))(
            *(ctypes.cast(ctypes.pointer(arg), ctypes.c_void_p) for arg in held)
        )
        assert self.simulator.inner.kernel_n_params(kernel) == len(held)
        launch = Launch(dim3(grid), dim3(block), Dim3(), shared, cooperative, params, (1, 1))
        error = Error()
        try:
            status = self.simulator.inner.exec_check(kernel, ctypes.byref(launch))
            if status:
                raise KernelError(status, self.simulator.detail())
            status = self.simulator.inner.exec(kernel, ctypes.byref(launch), ctypes.byref(error))
            if status:
                raise KernelError(status, error.text.decode())
        finally:
            for address in entered:
                self.simulator.inner.memory_free(address, REGISTERED)


class Simulator:
    """libpygpu_cudasim: compile() as NVRTC does, then launch() without a driver."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.library.pygpuSimLastErrorDetail.restype = ctypes.c_char_p
        self.library.pygpuSimInner.restype = ctypes.POINTER(ctypes.c_void_p)
        self.library.pygpuSimReadOutput.restype = ctypes.c_size_t
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        table = {
            "module_load": (ctypes.c_int, pointer, ctypes.c_char_p, size, pointer),
            "module_unload": (None, pointer),
            "module_kernel": (ctypes.c_int, pointer, ctypes.c_char_p, pointer),
            "module_variable": (ctypes.c_int, pointer, ctypes.c_char_p, pointer, pointer),
            "kernel_n_params": (ctypes.c_int, pointer),
            "kernel_param": (None, pointer, ctypes.c_int, pointer, pointer),
            "kernel_attribute": (ctypes.c_int, pointer, ctypes.c_int, pointer),
            "kernel_set_attribute": (ctypes.c_int, pointer, ctypes.c_int, ctypes.c_int),
            "exec_check": (ctypes.c_int, pointer, pointer),
            "exec": (ctypes.c_int, pointer, pointer, pointer),
            "memory_adopt": (ctypes.c_int, pointer, size, size, ctypes.c_int, ctypes.c_uint),
            "memory_free": (ctypes.c_int, size, ctypes.c_int),
            "kernel_in_regions": (ctypes.c_int, pointer),
        }
        addresses = self.library.pygpuSimInner()

        class Inner:
            pass

        self.inner = Inner()
        for i, (name, signature) in enumerate(table.items()):
            setattr(self.inner, name, ctypes.CFUNCTYPE(*signature)(addresses[i]))

    def detail(self):
        return self.library.pygpuSimLastErrorDetail().decode()

    def output(self):
        """What kernels have printed since the last call."""
        buffer = ctypes.create_string_buffer(1 << 20)
        n = self.library.pygpuSimReadOutput(buffer, ctypes.c_size_t(len(buffer)))
        return buffer.raw[:n].decode()

    def compile(self, source, options=(), names=(), headers=None, name=None, kind="CUBIN"):
        """The image of a program, and the lowered names; CompileError holds the log."""
        nvrtc = self.library
        headers = headers or {}
        program = ctypes.c_void_p()
        texts = (ctypes.c_char_p * len(headers))(*(text.encode() for text in headers.values()))
        keys = (ctypes.c_char_p * len(headers))(*(key.encode() for key in headers))
        status = nvrtc.nvrtcCreateProgram(
            ctypes.byref(program),
            source.encode(),
            name and name.encode(),
            len(headers),
            texts,
            keys,
        )
        assert status == 0
        try:
            for expression in names:
                assert nvrtc.nvrtcAddNameExpression(program, expression.encode()) == 0
            words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            status = nvrtc.nvrtcCompileProgram(program, len(options), words)
            size = ctypes.c_size_t()
            assert nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size)) == 0
            log = ctypes.create_string_buffer(size.value)
            assert nvrtc.nvrtcGetProgramLog(program, log) == 0
            self.log = log.value.decode()
            if status:
                raise CompileError(self.log, status)
            assert getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)) == 0
            image = ctypes.create_string_buffer(size.value)
            assert getattr(nvrtc, f"nvrtcGet{kind}")(program, image) == 0
            lowered = []
            for expression in names:
                out = ctypes.c_char_p()
                status = nvrtc.nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(out))
                if status:
                    raise CompileError(f"no lowered name: {expression}", status)
                lowered.append(out.value.decode())
            return image.raw, lowered
        finally:
            assert nvrtc.nvrtcDestroyProgram(ctypes.byref(program)) == 0

    def module(self, source, **kwargs):
        return Module(self, self.compile(source, **kwargs)[0])

    def load(self, image):
        return Module(self, image)

    def run(self, source, grid, block, *args, name="k", **kwargs):
        """Compiles a program and runs its kernel k once."""
        launch = {key: kwargs.pop(key) for key in ("shared", "cooperative") if key in kwargs}
        module = self.module(source, **kwargs)
        module.launch(name, grid, block, *args, **launch)
        return module


@pytest.fixture(scope="session")
def make_simulator(tmp_path_factory):
    """A simulator with settings of its own: a copy of the library, which reads them once."""

    def make(**environment):
        if not LIBRARY.exists():
            pytest.skip("libpygpu_cudasim is not built on this platform")
        folder = tmp_path_factory.mktemp("library")
        environment["PYGPU_SIM_INCLUDE"] = str(LIBRARY.parent / "include")
        environment["PYGPU_CACHE_DIR"] = str(folder)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            copy = shutil.copy(LIBRARY, folder / "libcopy.so")
            simulator = Simulator(copy)
            simulator.run('extern "C" __global__ void k() {}', 1, 1)  # reads them
        simulator.output()
        return simulator

    return make


@pytest.fixture(scope="session")
def simulator(tmp_path_factory):
    if not LIBRARY.exists():
        pytest.skip("libpygpu_cudasim is not built on this platform")
    os.environ["PYGPU_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    simulator = Simulator(LIBRARY)
    simulator.output()
    return simulator


@pytest.fixture(scope="session")
def driver(simulator):
    """The driver's calls of the same library, initialized."""
    driver = Driver(LIBRARY)
    driver.cuInit(0)
    return driver


@pytest.fixture
def cuda(driver):
    """The driver with a fresh context that is current; all that a test makes goes with it."""
    context = driver.get("cuCtxCreate", 0, 0)
    driver.context = context
    yield driver
    while driver.get("cuCtxGetCurrent"):
        driver.cuCtxPopCurrent(None)
    driver.status("cuCtxDestroy", context)


KERNELS = """
extern "C" __global__ void add(float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += b[i];
}
extern "C" __global__ void scale(int *a, int factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= factor;
}
extern "C" __global__ void plus(int *a, int term, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += term;
}
extern "C" __global__ void nop() {}
extern "C" __global__ void wait_for(volatile int *flag, volatile int *started) {
    *started = 1;
    while (*flag == 0) {}
}
extern "C" __global__ void wild(int *p) { *p = 1; }
struct Many { int v[200]; };
extern "C" __global__ void many(Many m, int *out, char last) {
    for (int i = 0; i < 200; i++) out[i] = m.v[i] + last;
}
__device__ int variable[4] = {1, 2, 3, 4};
extern "C" __global__ void read_variable(int *out) {
    for (int i = 0; i < 4; i++) out[i] = variable[i];
}
"""


@pytest.fixture(scope="session")
def image(simulator):
    """An image with a few kernels that move little."""
    return simulator.compile(KERNELS)[0]


@pytest.fixture
def kernels(cuda, image):
    """Those kernels in the context of the test: kernels.add, ..., and kernels.module."""

    class Kernels:
        module = cuda.load(image)

        def __getattr__(self, name):
            return cuda.function(self.module, name)

    return Kernels()
