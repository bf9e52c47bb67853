"""The types of pygpu.clmath's and pygpu.cuda.cumath's functions, for type checkers alone."""

from typing import Any, Protocol, TypeAlias, overload

import numpy as np
from typing_extensions import TypeVar

from pygpu import _cuda, _opencl
from pygpu._src.array.array_types import GPUArray as GPUArray

InexactT = TypeVar("InexactT", bound=GPUArray[np.inexact[Any]])
Floating: TypeAlias = GPUArray[np.floating[Any]]
Number: TypeAlias = complex | np.generic
Queue: TypeAlias = _opencl.CommandQueue | _cuda.Stream | None
Stream: TypeAlias = _cuda.Stream | None

class OpenCLFunction(Protocol):
    """A function of each item with a floating-point or complex result."""
    @overload
    def __call__(self, array: InexactT, queue: Queue = None) -> InexactT: ...
    @overload
    def __call__(self, array: GPUArray[Any], queue: Queue = None) -> Floating: ...

class CUDAFunction(Protocol):
    @overload
    def __call__(
        self, array: InexactT, stream_or_out: Stream | GPUArray[Any] = None, *,
        out: GPUArray[Any] | None = None, stream: Stream = None,
    ) -> InexactT: ...
    @overload
    def __call__(
        self, array: GPUArray[Any], stream_or_out: Stream | GPUArray[Any] = None, *,
        out: GPUArray[Any] | None = None, stream: Stream = None,
    ) -> Floating: ...
