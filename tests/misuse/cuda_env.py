"""What a case about CUDA works with: a context, a module, kernels, memory."""

from __future__ import annotations

import contextlib
import gc
from typing import Any

import numpy as np
from harness import Missed

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
struct Pair { int number; float weight; };
__constant__ float table[4];
__global__ void add1(float *a) { a[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void axpy(float s, const float *x, float *y, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += s * x[i]; }
__global__ void is_null(const float *a, int *out) { out[0] = a == nullptr; }
__global__ void to_int(int value, long long *out) { out[0] = value; }
__global__ void to_uchar(unsigned char value, long long *out) { out[0] = value; }
__global__ void to_float(float value, float *out) { out[0] = value; }
__global__ void to_pair(Pair value, float *out) { out[0] = value.number; out[1] = value.weight; }
__global__ void scratch(float *out)
{ extern __shared__ float s[]; s[threadIdx.x] = threadIdx.x; __syncthreads();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x]; }
__global__ void nothing() {}
__global__ void spin(int n, int *out)
{ volatile int x = 0;
  for (int i = 0; i < n; ++i) for (int j = 0; j < 1000; ++j) x += j;
  out[0] = x; }
__global__ void wild(float *a) { a[0] = 1; }
"""
CALLER = (TypeError, ValueError, IndexError, OverflowError, BufferError)
"""Mistakes that pygpu's own checks find."""
ANY = (*CALLER, cuda.Error)
"""Mistakes that our check or the driver may find."""


class Env:
    """The primary context, current in the main thread, and everything that a health check needs."""

    N = 64

    def __init__(self) -> None:
        self.device = cuda.Device(0)
        self.context = self.device.retain_primary_context()
        self.context.push()
        self.module = SourceModule(SOURCE)
        self.host = np.arange(self.N, dtype=np.float32)
        self.stream = cuda.Stream()
        self._health = cuda.mem_alloc(self.host.nbytes)
        self.add1 = self.module.get_function("add1")
        self._strangers: list[Any] = []
        self.healthy()

    def kernel(self, name: str) -> Any:
        """The kernel of that name."""
        return self.module.get_function(name)

    def memory(self, n: int = N) -> Any:
        """Device memory with *n* float32, 0, 1, 2, ..."""
        return cuda.to_device(np.arange(n, dtype=np.float32))

    def read(self, memory: Any, n: int = N, dtype: Any = np.float32) -> np.ndarray:
        """The first *n* items."""
        return cuda.from_device(memory, n, dtype)

    def spin(self, stream: Any = None, n: int = 3000) -> Any:
        """Keeps a stream busy for some milliseconds; gives the memory that it writes to."""
        out = cuda.mem_alloc(4)
        self.kernel("spin")(np.int32(n), out, block=(1, 1, 1), stream=stream)
        return out

    def strangers(self) -> list[Any]:
        """A context that is gone, memory and a stream of it, and the same of one that is alive but
        not current; made once for a case, as making a context takes a driver up to a second."""
        if not self._strangers:
            gone = self.device.make_context()
            self._strangers += [gone, self.memory(), cuda.Stream()]
            gone.detach()
            self._strangers += [self.device.make_context(), self.memory(), cuda.Stream()]
            cuda.Context.pop()
        return self._strangers

    def forget(self) -> None:
        """Wait for the device and drop what is kept for it and for the case."""
        self._strangers.clear()
        if cuda.Context.get_current() != self.context:
            self.context.push()
        with contextlib.suppress(cuda.Error):  # of a kernel that failed, after which nothing works
            cuda.Context.synchronize()
        gc.collect()

    def healthy(self) -> None:
        """A copy, a launch and a copy back give the right numbers, in the context of before."""
        if cuda.Context.get_current() != self.context:
            raise Missed("UNUSABLE", f"{cuda.Context.get_current()} was left current")
        cuda.memcpy_htod(self._health, self.host)
        self.add1(self._health, block=(self.N, 1, 1))
        if not np.array_equal(self.read(self._health), self.host + 1):
            raise Missed("UNUSABLE", "a plain launch no longer gives the right numbers")
