"""The types of the namespace's functions, for type checkers alone: arrays of either system are
pygpu.GPUArray, and a function that keeps the dtype keeps the class too."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypedDict, overload

import numpy as np
from numpy.typing import DTypeLike
from typing_extensions import TypeVar, Unpack

from pygpu._src.array.array_types import AnyDevice as AnyDevice
from pygpu._src.array.array_types import GPUArray as GPUArray
from pygpu._src.array.device import Device as Device

ResultT_co = TypeVar("ResultT_co", covariant=True)
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
Mask: TypeAlias = bool | GPUArray[np.bool_]

# ---- elementwise functions

Out: TypeAlias = GPUArray[Any] | tuple[GPUArray[Any] | None, ...] | None

class UfuncOptions(TypedDict, total=False):
    """NumPy's options of ufuncs."""

    where: Mask
    dtype: DTypeLike | None
    casting: str
    order: str

class UfuncMethods(Protocol):
    """NumPy's methods of ufuncs with two operands."""
    def reduce(
        self,
        array: GPUArray[Any],
        axis: Axis = 0,
        dtype: DTypeLike | None = None,
        out: Out = None,
        keepdims: bool = False,
        initial: Number | None = None,
        where: Mask = True,
    ) -> GPUArray[Any]: ...
    def accumulate(
        self, array: GPUArray[Any], axis: int = 0, dtype: DTypeLike | None = None, out: Out = None
    ) -> GPUArray[Any]: ...
    def reduceat(
        self,
        array: GPUArray[Any],
        indices: Sequence[int] | GPUArray[Any],
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: Out = None,
    ) -> GPUArray[Any]: ...
    def outer(
        self, A: Operand, B: Operand, /, **options: Unpack[UfuncOptions]
    ) -> GPUArray[Any]: ...
    def at(self, a: GPUArray[Any], indices: Any, b: Operand, /) -> None: ...

class Same(Protocol):
    @overload
    def __call__(
        self, x: ArrayT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x: Number, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Any: ...

class Absolute(Protocol):
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, x: GPUArray[np.complex64], /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> GPUArray[np.float32]: ...
    @overload
    def __call__(
        self, x: GPUArray[np.complex128], /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> GPUArray[np.float64]: ...
    @overload
    def __call__(
        self, x: ArrayT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x: Number, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Any: ...

class Transcendental(Protocol):
    @overload
    def __call__(
        self, x: InexactT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> InexactT: ...
    @overload
    def __call__(
        self, x: GPUArray[Any], /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Floating: ...
    @overload
    def __call__(
        self, x: Number, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Any: ...

class OfArray(Protocol[ResultT_co]):
    @overload
    def __call__(
        self, x: GPUArray[Any], /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ResultT_co: ...
    @overload
    def __call__(
        self, x: Number, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Any: ...

Test: TypeAlias = OfArray[Bool]
Count: TypeAlias = OfArray[GPUArray[np.uint8]]
Parts: TypeAlias = OfArray[tuple[GPUArray[Any], GPUArray[Any]]]

class Arithmetic(UfuncMethods, Protocol):
    @overload
    def __call__(
        self, x1: NumberT, x2: NumberT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> NumberT: ...
    @overload
    def __call__(
        self, x1: NumberT, x2: int, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> NumberT: ...
    @overload
    def __call__(
        self, x1: int, x2: NumberT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> NumberT: ...
    @overload
    def __call__(
        self, x1: InexactT, x2: float, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> InexactT: ...
    @overload
    def __call__(
        self, x1: float, x2: InexactT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> InexactT: ...
    @overload
    def __call__(
        self, x1: ComplexT, x2: complex, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ComplexT: ...
    @overload
    def __call__(
        self, x1: complex, x2: ComplexT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ComplexT: ...
    @overload
    def __call__(
        self, x1: Number, x2: Number, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Any: ...
    @overload
    def __call__(
        self, x1: Operand, x2: Operand, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> GPUArray[Any]: ...

class Division(UfuncMethods, Protocol):
    @overload
    def __call__(
        self,
        x1: InexactT,
        x2: InexactT | float,
        /,
        out: Out = None,
        **options: Unpack[UfuncOptions],
    ) -> InexactT: ...
    @overload
    def __call__(
        self, x1: float, x2: InexactT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> InexactT: ...
    @overload
    def __call__(
        self, x1: ComplexT, x2: complex, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ComplexT: ...
    @overload
    def __call__(
        self, x1: complex, x2: ComplexT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ComplexT: ...
    @overload
    def __call__(
        self, x1: Whole, x2: Whole | int, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Floating: ...
    @overload
    def __call__(
        self, x1: Number, x2: Number, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Any: ...
    @overload
    def __call__(
        self, x1: Operand, x2: Operand, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> GPUArray[Any]: ...

class Bitwise(UfuncMethods, Protocol):
    @overload
    def __call__(
        self, x1: ArrayT, x2: ArrayT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x1: ArrayT, x2: int, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x1: int, x2: ArrayT, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x1: Number, x2: Number, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Any: ...

class OfArrays(Protocol[ResultT_co]):
    @overload
    def __call__(
        self, x1: Number, x2: Number, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> Any: ...
    @overload
    def __call__(
        self, x1: Operand, x2: Operand, /, out: Out = None, **options: Unpack[UfuncOptions]
    ) -> ResultT_co: ...

class Comparison(UfuncMethods, OfArrays[Bool], Protocol): ...

Pair: TypeAlias = OfArrays[tuple[GPUArray[Any], GPUArray[Any]]]

# ---- transforms

class Transform(Protocol):
    """To complex numbers of the precision of x."""
    @overload
    def __call__(
        self,
        x: ComplexT,
        /,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> ComplexT: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: GPUArray[np.float32],
        /,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.complex64]: ...
    @overload
    def __call__(
        self,
        x: GPUArray[np.float64],
        /,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.complex128]: ...
    @overload
    def __call__(
        self,
        x: GPUArray[Any],
        /,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> ComplexFloating: ...

class RealTransform(Protocol):
    """To real numbers of the precision of x."""
    @overload
    def __call__(
        self,
        x: FloatingT,
        /,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> FloatingT: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: GPUArray[np.complex64],
        /,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.float32]: ...
    @overload
    def __call__(
        self,
        x: GPUArray[np.complex128],
        /,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.float64]: ...
    @overload
    def __call__(
        self,
        x: GPUArray[Any],
        /,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> Floating: ...

class TransformN(Protocol):
    """The same over axes."""
    @overload
    def __call__(
        self,
        x: ComplexT,
        /,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> ComplexT: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: GPUArray[np.float32],
        /,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.complex64]: ...
    @overload
    def __call__(
        self,
        x: GPUArray[np.float64],
        /,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.complex128]: ...
    @overload
    def __call__(
        self,
        x: GPUArray[Any],
        /,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> ComplexFloating: ...

class RealTransformN(Protocol):
    """The same over axes."""
    @overload
    def __call__(
        self,
        x: FloatingT,
        /,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> FloatingT: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: GPUArray[np.complex64],
        /,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.float32]: ...
    @overload
    def __call__(
        self,
        x: GPUArray[np.complex128],
        /,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> GPUArray[np.float64]: ...
    @overload
    def __call__(
        self,
        x: GPUArray[Any],
        /,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = "backward",
        out: GPUArray[Any] | None = None,
    ) -> Floating: ...
