"""The types of the namespace's functions, for type checkers alone: arrays of either system are
pygpu.GPUArray, and a function that keeps the dtype keeps the class too."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, overload

import numpy as np
from typing_extensions import TypeVar

from pygpu._src.array.array_types import AnyDevice as AnyDevice
from pygpu._src.array.array_types import GPUArray as GPUArray
from pygpu._src.array.device import Device as Device

ScalarT = TypeVar("ScalarT", bound=np.generic)
ArrayT = TypeVar("ArrayT", bound=GPUArray[Any])
OtherT = TypeVar("OtherT", bound=GPUArray[Any])
NumberT = TypeVar("NumberT", bound=GPUArray[np.number[Any]])
IntegerT = TypeVar("IntegerT", bound=GPUArray[np.integer[Any]])
FloatingT = TypeVar("FloatingT", bound=GPUArray[np.floating[Any]])
InexactT = TypeVar("InexactT", bound=GPUArray[np.inexact[Any]])
ComplexT = TypeVar("ComplexT", bound=GPUArray[np.complexfloating[Any, Any]])

Bool: TypeAlias = GPUArray[np.bool_]
Index: TypeAlias = GPUArray[np.int64]
Floating: TypeAlias = GPUArray[np.floating[Any]]
ComplexFloating: TypeAlias = GPUArray[np.complexfloating[Any, Any]]
Signed: TypeAlias = GPUArray[np.signedinteger[Any] | np.bool_]
Unsigned: TypeAlias = GPUArray[np.unsignedinteger[Any]]
Whole: TypeAlias = GPUArray[np.integer[Any] | np.bool_]

DType: TypeAlias = type[ScalarT] | np.dtype[ScalarT]
Number: TypeAlias = complex | np.generic
Operand: TypeAlias = Number | GPUArray[Any]
Shape: TypeAlias = int | tuple[int, ...] | list[int]
Axis: TypeAlias = int | tuple[int, ...] | None

# ---- elementwise functions

class Same(Protocol):
    def __call__(self, x: ArrayT, /) -> ArrayT: ...

class Absolute(Protocol):
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, x: GPUArray[np.complex64], /
    ) -> GPUArray[np.float32]: ...
    @overload
    def __call__(self, x: GPUArray[np.complex128], /) -> GPUArray[np.float64]: ...
    @overload
    def __call__(self, x: ArrayT, /) -> ArrayT: ...

class Transcendental(Protocol):
    @overload
    def __call__(self, x: InexactT, /) -> InexactT: ...
    @overload
    def __call__(self, x: GPUArray[Any], /) -> Floating: ...

class Test(Protocol):
    def __call__(self, x: GPUArray[Any], /) -> Bool: ...

class Arithmetic(Protocol):
    @overload
    def __call__(self, x1: NumberT, x2: NumberT, /) -> NumberT: ...
    @overload
    def __call__(self, x1: NumberT, x2: int, /) -> NumberT: ...
    @overload
    def __call__(self, x1: int, x2: NumberT, /) -> NumberT: ...
    @overload
    def __call__(self, x1: InexactT, x2: float, /) -> InexactT: ...
    @overload
    def __call__(self, x1: float, x2: InexactT, /) -> InexactT: ...
    @overload
    def __call__(self, x1: ComplexT, x2: complex, /) -> ComplexT: ...
    @overload
    def __call__(self, x1: complex, x2: ComplexT, /) -> ComplexT: ...
    @overload
    def __call__(self, x1: Operand, x2: Operand, /) -> GPUArray[Any]: ...

class Division(Protocol):
    @overload
    def __call__(self, x1: InexactT, x2: InexactT | float, /) -> InexactT: ...
    @overload
    def __call__(self, x1: float, x2: InexactT, /) -> InexactT: ...
    @overload
    def __call__(self, x1: ComplexT, x2: complex, /) -> ComplexT: ...
    @overload
    def __call__(self, x1: complex, x2: ComplexT, /) -> ComplexT: ...
    @overload
    def __call__(self, x1: Whole, x2: Whole | int, /) -> Floating: ...
    @overload
    def __call__(self, x1: Operand, x2: Operand, /) -> GPUArray[Any]: ...

class Bitwise(Protocol):
    @overload
    def __call__(self, x1: ArrayT, x2: ArrayT, /) -> ArrayT: ...
    @overload
    def __call__(self, x1: ArrayT, x2: int, /) -> ArrayT: ...
    @overload
    def __call__(self, x1: int, x2: ArrayT, /) -> ArrayT: ...

class Comparison(Protocol):
    def __call__(self, x1: Operand, x2: Operand, /) -> Bool: ...

# ---- transforms

class Transform(Protocol):
    """To complex numbers of the precision of x."""
    @overload
    def __call__(
        self, x: ComplexT, /, *, n: int | None = None, axis: int = -1,
        norm: str = "backward",
    ) -> ComplexT: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, x: GPUArray[np.float32], /, *, n: int | None = None, axis: int = -1,
        norm: str = "backward",
    ) -> GPUArray[np.complex64]: ...
    @overload
    def __call__(
        self, x: GPUArray[np.float64], /, *, n: int | None = None, axis: int = -1,
        norm: str = "backward",
    ) -> GPUArray[np.complex128]: ...
    @overload
    def __call__(
        self, x: GPUArray[Any], /, *, n: int | None = None, axis: int = -1,
        norm: str = "backward",
    ) -> ComplexFloating: ...

class RealTransform(Protocol):
    """To real numbers of the precision of x."""
    @overload
    def __call__(
        self, x: FloatingT, /, *, n: int | None = None, axis: int = -1,
        norm: str = "backward",
    ) -> FloatingT: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, x: GPUArray[np.complex64], /, *, n: int | None = None, axis: int = -1,
        norm: str = "backward",
    ) -> GPUArray[np.float32]: ...
    @overload
    def __call__(
        self, x: GPUArray[np.complex128], /, *, n: int | None = None, axis: int = -1,
        norm: str = "backward",
    ) -> GPUArray[np.float64]: ...
    @overload
    def __call__(
        self, x: GPUArray[Any], /, *, n: int | None = None, axis: int = -1,
        norm: str = "backward",
    ) -> Floating: ...

class TransformN(Protocol):
    """The same over axes."""
    @overload
    def __call__(
        self, x: ComplexT, /, *, s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> ComplexT: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, x: GPUArray[np.float32], /, *, s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> GPUArray[np.complex64]: ...
    @overload
    def __call__(
        self, x: GPUArray[np.float64], /, *, s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> GPUArray[np.complex128]: ...
    @overload
    def __call__(
        self, x: GPUArray[Any], /, *, s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> ComplexFloating: ...

class RealTransformN(Protocol):
    """The same over axes."""
    @overload
    def __call__(
        self, x: FloatingT, /, *, s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> FloatingT: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, x: GPUArray[np.complex64], /, *, s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> GPUArray[np.float32]: ...
    @overload
    def __call__(
        self, x: GPUArray[np.complex128], /, *, s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> GPUArray[np.float64]: ...
    @overload
    def __call__(
        self, x: GPUArray[Any], /, *, s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> Floating: ...
