"""The fixture `side`: a backend with its arrays and kernel classes; each test runs on both."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import pygpu as cl

os.environ.setdefault("PYGPU_CUDA", "auto")


class OpenCLSide:
    name = "opencl"
    continue_ = "PYOPENCL_ELWISE_CONTINUE"

    def __init__(self) -> None:
        self.context = cl.create_some_context(interactive=False)
        self.queue = cl.CommandQueue(self.context)
        self.is_cpu = bool(self.queue.device.type & cl.device_type.CPU)

    def array(self, host: Any, dtype: Any = None) -> Any:
        from pygpu.array import to_device

        return to_device(self.queue, np.asarray(host, dtype))

    def view(self, array: Any, host: np.ndarray, part: np.ndarray) -> Any:
        """The view of *array* (a copy of *host*, a whole C array) that *part* is of *host*."""
        offset = part.__array_interface__["data"][0] - host.__array_interface__["data"][0]
        return array._view(part.shape, part.strides, array.offset + offset, part.dtype)

    def elementwise(self, arguments: Any, operation: str, **kwargs: Any) -> Any:
        from pygpu.elementwise import ElementwiseKernel

        return ElementwiseKernel(self.context, arguments, operation, **kwargs)

    def reduction(self, dtype: Any, neutral: str, reduce_expr: str, **kwargs: Any) -> Any:
        from pygpu.reduction import ReductionKernel

        return ReductionKernel(self.context, dtype, neutral, reduce_expr, **kwargs)

    def call(self, kernel: Any, *args: Any, **kwargs: Any) -> Any:
        return kernel(*args, **kwargs)


class CUDASide(OpenCLSide):
    name = "cuda"
    continue_ = "continue"
    is_cpu = False

    def __init__(self) -> None:
        from pygpu.cuda import driver

        driver.init()
        self.context = driver.Device(0).retain_primary_context()
        self.queue = None

    def array(self, host: Any, dtype: Any = None) -> Any:
        from pygpu.cuda.gpuarray import to_gpu

        return to_gpu(np.asarray(host, dtype))

    def elementwise(self, arguments: Any, operation: str, **kwargs: Any) -> Any:
        from pygpu.cuda.elementwise import ElementwiseKernel

        return ElementwiseKernel(arguments, operation, **kwargs)

    def reduction(self, dtype: Any, neutral: str, reduce_expr: str, **kwargs: Any) -> Any:
        from pygpu.cuda.reduction import ReductionKernel

        return ReductionKernel(dtype, neutral, reduce_expr, **kwargs)


_sides: dict[str, Any] = {}


def _side(name: str) -> Any:
    found = _sides.get(name)
    if found is None:
        try:
            found = OpenCLSide() if name == "opencl" else CUDASide()
        except cl.Error as error:
            found = str(error).splitlines()[0]
        _sides[name] = found
    return found


def _pushed(found: Any) -> Any:
    """CUDA's side with its context made current; other tests of the process may have ended that."""
    try:
        found.context.push()
    except cl.Error:
        found = _sides["cuda"] = CUDASide()
        found.context.push()
    return found


@pytest.fixture(params=["opencl", "cuda"])
def side(request: pytest.FixtureRequest) -> Any:
    found = _side(request.param)
    if isinstance(found, str):
        pytest.skip(f"no {request.param} device: {found}")
    if found.name == "cuda":
        found = _pushed(found)
        yield found
        from pygpu.cuda.driver import Context

        Context.synchronize()
        Context.pop()
    else:
        yield found
        found.queue.finish()


@pytest.fixture
def opencl() -> Any:
    found = _side("opencl")
    if isinstance(found, str):
        pytest.skip(f"no OpenCL device: {found}")
    return found


@pytest.fixture
def cuda() -> Any:
    found = _side("cuda")
    if isinstance(found, str):
        pytest.skip(f"no CUDA device and no simulator: {found}")
    found = _pushed(found)
    yield found
    from pygpu.cuda.driver import Context

    Context.pop()
