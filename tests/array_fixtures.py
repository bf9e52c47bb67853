"""Fixtures for tests of arrays on both backends: OpenCL and CUDA (a GPU, else the simulator)."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import pygpu as cl


class Maker:
    """Arrays of one backend: ``make(host_array)`` and what tests need to know of the backend."""

    def __init__(self, name: str, queue: Any, to_device: Callable[..., Any]) -> None:
        self.name = name
        self.queue = queue
        self.to_device = to_device

    def __call__(self, host: Any, **options: Any) -> Any:
        return self.to_device(np.asarray(host), **options)

    @property
    def backend(self) -> Any:
        from pygpu._src.runtime.backends import backend_of

        return backend_of(self.queue)

    def calls(self, work: Callable[[], Any]) -> tuple[int, list[str]]:
        """(launches, names of driver calls that copy) of what *work* asks for."""
        if self.name == "opencl":
            from pygpu import _opencl as module
        else:
            from pygpu import _cuda as module  # type: ignore[no-redef]
        module._call_counts(True)
        try:
            work()
            calls = module._call_counts(False)
        finally:
            module._call_counts(False)
        launches = sum(n for name, n in calls.items() if name in _LAUNCHES)
        return launches, [name for name in calls if any(word in name for word in _COPIES)]


_COPIES = ("Read", "Write", "Map", "HtoD", "DtoH", "Copy", "Memcpy")
_LAUNCHES = ("clEnqueueNDRangeKernel", "cuLaunchKernel", "cuLaunchKernelEx")


def _opencl() -> Maker:
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        platforms = []
    wanted = os.environ.get("PYGPU_TEST", "").partition(":")[0].lower()
    for i, platform in enumerate(platforms):
        devices = platform.get_devices()
        if devices and (not wanted or wanted in platform.name.lower() or wanted == str(i)):
            context = cl.Context(devices[:1])
            queue = cl.CommandQueue(context)
            from pygpu.array import to_device

            return Maker("opencl", queue, partial(to_device, queue))
    pytest.skip("no OpenCL device")


@pytest.fixture
def cuda_context() -> Iterator[Any]:
    """The primary context; not kept, as other tests of the process may end it."""
    os.environ.setdefault("PYGPU_CUDA", "auto")
    from pygpu.cuda import driver

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no GPU
            driver.init()
    except Exception as error:
        if sys.platform.startswith("linux"):
            raise  # the simulator is built there
        pytest.skip(f"no CUDA driver, and no simulator: {error}")
    yield driver.Device(0).retain_primary_context()


@pytest.fixture(scope="module")
def current_context() -> Iterator[None]:
    """CUDA's primary context, current during the tests of a module."""
    from pygpu import _cuda

    try:
        primary = _cuda.Device(0).retain_primary_context()
    except (cl.Error, ImportError) as error:
        pytest.skip(f"no CUDA driver, and no simulator: {error}")
    primary.push()
    yield
    _cuda.Context.synchronize()
    _cuda.Context.pop()


@pytest.fixture(scope="session")
def opencl_maker() -> Maker:
    return _opencl()


@pytest.fixture(params=["opencl", "cuda"])
def make(request: pytest.FixtureRequest) -> Iterator[Maker]:
    """A Maker of each backend; CUDA's context is current during the test."""
    if request.param == "opencl":
        yield request.getfixturevalue("opencl_maker")
        return
    context = request.getfixturevalue("cuda_context")
    context.push()
    try:
        from pygpu.cuda.gpuarray import to_gpu

        yield Maker("cuda", None, to_gpu)
    finally:
        type(context).pop()
