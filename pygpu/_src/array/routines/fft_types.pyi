"""The types of pygpu.fft's functions, for type checkers alone."""

from collections.abc import Sequence
from typing import Any, Protocol, overload

import numpy as np
from typing_extensions import TypeVar

from pygpu._src.array.array_types import GPUArray

_ComplexT = TypeVar("_ComplexT", bound=GPUArray[np.complexfloating[Any, Any]])

class Transform(Protocol):
    """To complex numbers."""
    @overload
    def __call__(
        self, a: _ComplexT, n: int | None = None, axis: int = -1,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> _ComplexT: ...
    @overload
    def __call__(
        self, a: GPUArray[np.float32], n: int | None = None, axis: int = -1,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.complex64]: ...
    @overload
    def __call__(
        self, a: GPUArray[Any], n: int | None = None, axis: int = -1,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.complex128]: ...

class RealTransform(Protocol):
    """To real numbers."""
    @overload
    def __call__(
        self, a: GPUArray[np.complex64 | np.float32], n: int | None = None, axis: int = -1,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.float32]: ...
    @overload
    def __call__(
        self, a: GPUArray[Any], n: int | None = None, axis: int = -1,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.float64]: ...

class TransformN(Protocol):
    """To complex numbers, over axes."""
    @overload
    def __call__(
        self, a: _ComplexT,
        s: Sequence[int] | None = None, axes: Sequence[int] | None = ...,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> _ComplexT: ...
    @overload
    def __call__(
        self, a: GPUArray[np.float32],
        s: Sequence[int] | None = None, axes: Sequence[int] | None = ...,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.complex64]: ...
    @overload
    def __call__(
        self, a: GPUArray[Any],
        s: Sequence[int] | None = None, axes: Sequence[int] | None = ...,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.complex128]: ...

class RealTransformN(Protocol):
    """To real numbers, over axes."""
    @overload
    def __call__(
        self, a: GPUArray[np.complex64 | np.float32],
        s: Sequence[int] | None = None, axes: Sequence[int] | None = ...,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.float32]: ...
    @overload
    def __call__(
        self, a: GPUArray[Any],
        s: Sequence[int] | None = None, axes: Sequence[int] | None = ...,
        norm: str | None = None, out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.float64]: ...
