# Written by tools/stubs.py from tools/array_types.txt: `make stubs`.

from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any, Self, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import TypeVar

from pygpu import _array, _cuda, _opencl

from .cuda_array import GPUArray as CUDAArray
from .device import Device
from .methods import ArrayBase
from .opencl_array import Array
from .shaping import Flags

_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_ScalarT_co = TypeVar("_ScalarT_co", bound=np.generic, default=Any, covariant=True)
_NumberT = TypeVar("_NumberT", bound=np.number[Any])

_DType: TypeAlias = type[_ScalarT] | np.dtype[_ScalarT]
_Operand: TypeAlias = complex | np.generic | _array.GPUArray[Any] | NDArray[Any]
_Axes: TypeAlias = int | tuple[int, ...] | None
_Out: TypeAlias = _array.GPUArray[Any] | None
_Where: TypeAlias = _array.GPUArray[Any] | NDArray[Any] | bool | None
_Index: TypeAlias = SupportsIndex | slice | EllipsisType | None | list[Any] | _Operand
_Fields: TypeAlias = str | list[str]
_Indices: TypeAlias = SupportsIndex | Sequence[Any] | _array.GPUArray[Any] | NDArray[Any]
AnyDevice: TypeAlias = (
    Device
    | _opencl.CommandQueue
    | _opencl.Context
    | _opencl.Device
    | _cuda.Stream
    | _cuda.Context
    | _cuda.Device
    | str
    | None
)
_Whole: TypeAlias = np.integer[Any] | np.bool_
_Real: TypeAlias = np.floating[Any] | _Whole

_GPUArrayT = TypeVar("_GPUArrayT", bound=GPUArray[Any])
_NumberGPUArray = TypeVar("_NumberGPUArray", bound=GPUArray[np.number[Any]])
_IntegerGPUArray = TypeVar("_IntegerGPUArray", bound=GPUArray[np.integer[Any]])
_FloatingGPUArray = TypeVar("_FloatingGPUArray", bound=GPUArray[np.floating[Any]])
_InexactGPUArray = TypeVar("_InexactGPUArray", bound=GPUArray[np.inexact[Any]])
_ComplexGPUArray = TypeVar("_ComplexGPUArray", bound=GPUArray[np.complexfloating[Any, Any]])

class _PartsGPUArray:
    """The real or the imaginary parts of an array."""
    @overload
    def __get__(self, array: None, cls: Any, /) -> Self: ...
    @overload
    def __get__(self, array: GPUArray[np.complex64], cls: Any, /) -> GPUArray[np.float32]: ...
    @overload
    def __get__(self, array: GPUArray[np.complex128], cls: Any, /) -> GPUArray[np.float64]: ...
    @overload
    def __get__(self, array: _GPUArrayT, cls: Any, /) -> _GPUArrayT: ...
    def __set__(self, array: GPUArray[Any], value: _Operand, /) -> None: ...

class GPUArray(ArrayBase[_ScalarT_co]):
    """An array of either system."""
    @overload
    def __add__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __add__(self: GPUArray[_NumberT], value: _NumberT | NDArray[_NumberT], /) -> GPUArray[_NumberT]: ...
    @overload
    def __add__(self: GPUArray[_Real], value: np.float64, /) -> GPUArray[np.float64]: ...
    @overload
    def __add__(self, value: np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __add__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __add__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __add__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __add__(self: GPUArray[np.float64], value: GPUArray[_Real], /) -> GPUArray[np.float64]: ...
    @overload
    def __add__(self: GPUArray[_Real], value: GPUArray[np.float64], /) -> GPUArray[np.float64]: ...
    @overload
    def __add__(self: GPUArray[np.float32], value: complex, /) -> GPUArray[np.complex64]: ...  # type: ignore[overload-overlap]
    @overload
    def __add__(self: GPUArray[np.float64], value: complex, /) -> GPUArray[np.complex128]: ...
    @overload
    def __add__(self: GPUArray[np.bool_], value: int, /) -> GPUArray[np.int64]: ...
    @overload
    def __add__(self: GPUArray[_Whole], value: float, /) -> GPUArray[np.float64]: ...
    @overload
    def __add__(self, value: _Operand, /) -> GPUArray[Any]: ...
    __sub__ = __add__
    __mul__ = __add__
    __floordiv__ = __add__
    __mod__ = __add__
    __radd__ = __add__
    __rsub__ = __add__
    __rmul__ = __add__
    __rfloordiv__ = __add__
    __rmod__ = __add__
    def __iadd__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    def __isub__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    def __imul__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    def __ifloordiv__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    def __imod__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __pow__(self: _NumberGPUArray, value: _NumberGPUArray, mod: None = None, /) -> _NumberGPUArray: ...
    @overload
    def __pow__(
        self: GPUArray[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        mod: None = None,
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __pow__(self: GPUArray[_Real], value: np.float64, mod: None = None, /) -> GPUArray[np.float64]: ...
    @overload
    def __pow__(self, value: np.complex128, mod: None = None, /) -> GPUArray[Any]: ...
    @overload
    def __pow__(self: _NumberGPUArray, value: int, mod: None = None, /) -> _NumberGPUArray: ...
    @overload
    def __pow__(self: _InexactGPUArray, value: float, mod: None = None, /) -> _InexactGPUArray: ...
    @overload
    def __pow__(self: _ComplexGPUArray, value: complex, mod: None = None, /) -> _ComplexGPUArray: ...
    @overload
    def __pow__(
        self: GPUArray[np.float64],
        value: GPUArray[_Real],
        mod: None = None,
        /,
    ) -> GPUArray[np.float64]: ...
    @overload
    def __pow__(
        self: GPUArray[_Real],
        value: GPUArray[np.float64],
        mod: None = None,
        /,
    ) -> GPUArray[np.float64]: ...
    @overload
    def __pow__(  # type: ignore[overload-overlap]
        self: GPUArray[np.float32],
        value: complex,
        mod: None = None,
        /,
    ) -> GPUArray[np.complex64]: ...
    @overload
    def __pow__(
        self: GPUArray[np.float64],
        value: complex,
        mod: None = None,
        /,
    ) -> GPUArray[np.complex128]: ...
    @overload
    def __pow__(self: GPUArray[np.bool_], value: int, mod: None = None, /) -> GPUArray[np.int64]: ...
    @overload
    def __pow__(self: GPUArray[_Whole], value: float, mod: None = None, /) -> GPUArray[np.float64]: ...
    @overload
    def __pow__(self, value: _Operand, mod: None = None, /) -> GPUArray[Any]: ...
    __rpow__ = __pow__
    def __ipow__(self, value: _Operand, mod: None = None, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __truediv__(self: _InexactGPUArray, value: _InexactGPUArray, /) -> _InexactGPUArray: ...
    @overload
    def __truediv__(self: GPUArray[_Whole], value: GPUArray[_Whole] | float, /) -> GPUArray[np.float64]: ...
    @overload
    def __truediv__(self: GPUArray[np.float64], value: GPUArray[_Real], /) -> GPUArray[np.float64]: ...
    @overload
    def __truediv__(
        self: GPUArray[_Real],
        value: GPUArray[np.float64] | np.float64,
        /,
    ) -> GPUArray[np.float64]: ...
    @overload
    def __truediv__(self, value: np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __truediv__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __truediv__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __truediv__(self, value: _Operand, /) -> GPUArray[Any]: ...
    __rtruediv__ = __truediv__
    def __itruediv__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __divmod__(
        self: _NumberGPUArray,
        value: _NumberGPUArray | int,
        /,
    ) -> tuple[_NumberGPUArray, _NumberGPUArray]: ...
    @overload
    def __divmod__(self, value: _Operand, /) -> tuple[GPUArray[Any], GPUArray[Any]]: ...
    __rdivmod__ = __divmod__
    @overload
    def __and__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __and__(self: _IntegerGPUArray, value: int, /) -> _IntegerGPUArray: ...
    @overload
    def __and__(self, value: _Operand, /) -> GPUArray[Any]: ...
    __or__ = __and__
    __xor__ = __and__
    __rand__ = __and__
    __ror__ = __and__
    __rxor__ = __and__
    def __iand__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    def __ior__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    def __ixor__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __lshift__(self: _IntegerGPUArray, value: _IntegerGPUArray | int, /) -> _IntegerGPUArray: ...
    @overload
    def __lshift__(self, value: _Operand, /) -> GPUArray[Any]: ...
    __rshift__ = __lshift__
    __rlshift__ = __lshift__
    __rrshift__ = __lshift__
    def __ilshift__(self, value: _Operand, /) -> Self: ...
    def __irshift__(self, value: _Operand, /) -> Self: ...
    @overload
    def __matmul__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __matmul__(self, value: _Operand, /) -> GPUArray[Any]: ...
    __rmatmul__ = __matmul__
    def __imatmul__(self, value: _Operand, /) -> Self: ...
    @overload
    def sum(
        self: _InexactGPUArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> _InexactGPUArray: ...
    @overload
    def sum(
        self: GPUArray[np.signedinteger[Any] | np.bool_],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> GPUArray[np.int64]: ...
    @overload
    def sum(
        self: GPUArray[np.unsignedinteger[Any]],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> GPUArray[np.uint64]: ...
    @overload
    def sum(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def sum(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> GPUArray[Any]: ...
    @overload
    def prod(
        self: _InexactGPUArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> _InexactGPUArray: ...
    @overload
    def prod(
        self: GPUArray[np.signedinteger[Any] | np.bool_],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> GPUArray[np.int64]: ...
    @overload
    def prod(
        self: GPUArray[np.unsignedinteger[Any]],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> GPUArray[np.uint64]: ...
    @overload
    def prod(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def prod(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> GPUArray[Any]: ...
    @overload
    def mean(
        self: _InexactGPUArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> _InexactGPUArray: ...
    @overload
    def mean(
        self: GPUArray[_Whole],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> GPUArray[np.float64]: ...
    @overload
    def mean(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def mean(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> GPUArray[Any]: ...
    @overload
    def var(
        self: _FloatingGPUArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> _FloatingGPUArray: ...
    @overload
    def var(  # type: ignore[overload-overlap]
        self: GPUArray[np.complex64],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> GPUArray[np.float32]: ...
    @overload
    def var(
        self: GPUArray[_Whole | np.complex128],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> GPUArray[np.float64]: ...
    @overload
    def var(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def var(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> GPUArray[Any]: ...
    @overload
    def std(
        self: _FloatingGPUArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> _FloatingGPUArray: ...
    @overload
    def std(  # type: ignore[overload-overlap]
        self: GPUArray[np.complex64],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> GPUArray[np.float32]: ...
    @overload
    def std(
        self: GPUArray[_Whole | np.complex128],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> GPUArray[np.float64]: ...
    @overload
    def std(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def std(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> GPUArray[Any]: ...
    @overload
    def cumsum(
        self: _InexactGPUArray,
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> _InexactGPUArray: ...
    @overload
    def cumsum(
        self: GPUArray[np.signedinteger[Any] | np.bool_],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> GPUArray[np.int64]: ...
    @overload
    def cumsum(
        self: GPUArray[np.unsignedinteger[Any]],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> GPUArray[np.uint64]: ...
    @overload
    def cumsum(
        self,
        axis: int | None = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def cumsum(
        self,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]: ...
    @overload
    def cumprod(
        self: _InexactGPUArray,
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> _InexactGPUArray: ...
    @overload
    def cumprod(
        self: GPUArray[np.signedinteger[Any] | np.bool_],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> GPUArray[np.int64]: ...
    @overload
    def cumprod(
        self: GPUArray[np.unsignedinteger[Any]],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> GPUArray[np.uint64]: ...
    @overload
    def cumprod(
        self,
        axis: int | None = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def cumprod(
        self,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]: ...
    def __lt__(self, value: _Operand, /) -> GPUArray[np.bool_]: ...
    def __le__(self, value: _Operand, /) -> GPUArray[np.bool_]: ...
    def __eq__(self, value: object, /) -> GPUArray[np.bool_]: ...  # type: ignore[override]
    def __ne__(self, value: object, /) -> GPUArray[np.bool_]: ...  # type: ignore[override]
    def __gt__(self, value: _Operand, /) -> GPUArray[np.bool_]: ...
    def __ge__(self, value: _Operand, /) -> GPUArray[np.bool_]: ...
    @overload
    def __abs__(  # type: ignore[overload-overlap]
        self: GPUArray[np.complex64], /
    ) -> GPUArray[np.float32]: ...
    @overload
    def __abs__(self: GPUArray[np.complex128], /) -> GPUArray[np.float64]: ...
    @overload
    def __abs__(self, /) -> Self: ...
    @overload
    def __getitem__(self, key: _Fields, /) -> GPUArray[Any]: ...
    @overload
    def __getitem__(self, key: _Index | tuple[_Index, ...], /) -> Self: ...
    def __iter__(self) -> Iterator[Self]: ...
    @overload
    def astype(
        self, dtype: _DType[_ScalarT], queue: Any = None, *, copy: bool = True,
        order: str = "K", casting: Any = "unsafe", subok: bool = True,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def astype(
        self, dtype: DTypeLike, queue: Any = None, *, copy: bool = True,
        order: str = "K", casting: Any = "unsafe", subok: bool = True,
    ) -> GPUArray[Any]: ...
    @overload
    def view(self, dtype: None = None) -> Self: ...
    @overload
    def view(self, dtype: _DType[_ScalarT]) -> GPUArray[_ScalarT]: ...
    @overload
    def view(self, dtype: DTypeLike) -> GPUArray[Any]: ...
    real: _PartsGPUArray
    imag: _PartsGPUArray
    @property
    def flags(self) -> Flags: ...
    def argmin(
        self, axis: int | None = None, out: _Out = None, keepdims: bool = False
    ) -> GPUArray[np.int64]: ...
    def argmax(
        self, axis: int | None = None, out: _Out = None, keepdims: bool = False
    ) -> GPUArray[np.int64]: ...
    def argsort(
        self, axis: int | None = -1, kind: Any = None, order: Any = None, **options: Any
    ) -> GPUArray[np.int64]: ...
    def argpartition(
        self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> GPUArray[np.int64]: ...
    def searchsorted(self, v: _Operand, side: Any = "left", sorter: Any = None) -> GPUArray[np.int64]: ...
    def nonzero(self) -> tuple[GPUArray[np.int64], ...]: ...
    @overload
    def dot(self: _NumberGPUArray, other: _NumberGPUArray, out: None = None) -> _NumberGPUArray: ...
    @overload
    def dot(self, other: _Operand, out: _Out = None) -> GPUArray[Any]: ...
    def choose(self, choices: Any, out: _Out = None, mode: str = "raise") -> GPUArray[Any]: ...
    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]: ...
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: Any, *inputs: Any, **options: Any
    ) -> Any: ...
    def to_device(
        self, device: AnyDevice, /, *, stream: Any = None
    ) -> GPUArray[_ScalarT_co]: ...
    def get(self, *, ary: NDArray[Any] | None = None) -> NDArray[_ScalarT_co]: ...
    def set(self, ary: NDArray[Any]) -> None: ...
    def copy(self, *, order: str = "K") -> Self: ...
    def any(
        self, axis: _Axes = None, out: Any = None, keepdims: bool = False, *, where: _Where = None
    ) -> GPUArray[np.bool_]: ...
    all = any

_ArrayT = TypeVar("_ArrayT", bound=ArrayTypes[Any])
_NumberArray = TypeVar("_NumberArray", bound=ArrayTypes[np.number[Any]])
_IntegerArray = TypeVar("_IntegerArray", bound=ArrayTypes[np.integer[Any]])
_FloatingArray = TypeVar("_FloatingArray", bound=ArrayTypes[np.floating[Any]])
_InexactArray = TypeVar("_InexactArray", bound=ArrayTypes[np.inexact[Any]])
_ComplexArray = TypeVar("_ComplexArray", bound=ArrayTypes[np.complexfloating[Any, Any]])

class _PartsArray:
    """The real or the imaginary parts of an array."""
    @overload
    def __get__(self, array: None, cls: Any, /) -> Self: ...
    @overload
    def __get__(self, array: ArrayTypes[np.complex64], cls: Any, /) -> Array[np.float32]: ...
    @overload
    def __get__(self, array: ArrayTypes[np.complex128], cls: Any, /) -> Array[np.float64]: ...
    @overload
    def __get__(self, array: _ArrayT, cls: Any, /) -> _ArrayT: ...
    def __set__(self, array: ArrayTypes[Any], value: _Operand, /) -> None: ...

class ArrayTypes(GPUArray[_ScalarT_co]):
    """The types of Array that depend on dtypes."""
    @overload
    def __add__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __add__(self: ArrayTypes[_NumberT], value: _NumberT | NDArray[_NumberT], /) -> Array[_NumberT]: ...
    @overload
    def __add__(self: ArrayTypes[_Real], value: np.float64, /) -> Array[np.float64]: ...
    @overload
    def __add__(self, value: np.complex128, /) -> Array[Any]: ...
    @overload
    def __add__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __add__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __add__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __add__(self: ArrayTypes[np.float64], value: ArrayTypes[_Real], /) -> Array[np.float64]: ...
    @overload
    def __add__(self: ArrayTypes[_Real], value: ArrayTypes[np.float64], /) -> Array[np.float64]: ...
    @overload
    def __add__(self: ArrayTypes[np.float32], value: complex, /) -> Array[np.complex64]: ...  # type: ignore[overload-overlap]
    @overload
    def __add__(self: ArrayTypes[np.float64], value: complex, /) -> Array[np.complex128]: ...
    @overload
    def __add__(self: ArrayTypes[np.bool_], value: int, /) -> Array[np.int64]: ...
    @overload
    def __add__(self: ArrayTypes[_Whole], value: float, /) -> Array[np.float64]: ...
    @overload
    def __add__(self, value: _Operand, /) -> Array[Any]: ...
    __sub__ = __add__
    __mul__ = __add__
    __floordiv__ = __add__
    __mod__ = __add__
    __radd__ = __add__
    __rsub__ = __add__
    __rmul__ = __add__
    __rfloordiv__ = __add__
    __rmod__ = __add__
    @overload
    def __pow__(self: _NumberArray, value: _NumberArray, mod: None = None, /) -> _NumberArray: ...
    @overload
    def __pow__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        mod: None = None,
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __pow__(self: ArrayTypes[_Real], value: np.float64, mod: None = None, /) -> Array[np.float64]: ...
    @overload
    def __pow__(self, value: np.complex128, mod: None = None, /) -> Array[Any]: ...
    @overload
    def __pow__(self: _NumberArray, value: int, mod: None = None, /) -> _NumberArray: ...
    @overload
    def __pow__(self: _InexactArray, value: float, mod: None = None, /) -> _InexactArray: ...
    @overload
    def __pow__(self: _ComplexArray, value: complex, mod: None = None, /) -> _ComplexArray: ...
    @overload
    def __pow__(
        self: ArrayTypes[np.float64],
        value: ArrayTypes[_Real],
        mod: None = None,
        /,
    ) -> Array[np.float64]: ...
    @overload
    def __pow__(
        self: ArrayTypes[_Real],
        value: ArrayTypes[np.float64],
        mod: None = None,
        /,
    ) -> Array[np.float64]: ...
    @overload
    def __pow__(  # type: ignore[overload-overlap]
        self: ArrayTypes[np.float32],
        value: complex,
        mod: None = None,
        /,
    ) -> Array[np.complex64]: ...
    @overload
    def __pow__(
        self: ArrayTypes[np.float64],
        value: complex,
        mod: None = None,
        /,
    ) -> Array[np.complex128]: ...
    @overload
    def __pow__(self: ArrayTypes[np.bool_], value: int, mod: None = None, /) -> Array[np.int64]: ...
    @overload
    def __pow__(self: ArrayTypes[_Whole], value: float, mod: None = None, /) -> Array[np.float64]: ...
    @overload
    def __pow__(self, value: _Operand, mod: None = None, /) -> Array[Any]: ...
    __rpow__ = __pow__
    @overload
    def __truediv__(self: _InexactArray, value: _InexactArray, /) -> _InexactArray: ...
    @overload
    def __truediv__(self: ArrayTypes[_Whole], value: ArrayTypes[_Whole] | float, /) -> Array[np.float64]: ...
    @overload
    def __truediv__(self: ArrayTypes[np.float64], value: ArrayTypes[_Real], /) -> Array[np.float64]: ...
    @overload
    def __truediv__(
        self: ArrayTypes[_Real],
        value: ArrayTypes[np.float64] | np.float64,
        /,
    ) -> Array[np.float64]: ...
    @overload
    def __truediv__(self, value: np.complex128, /) -> Array[Any]: ...
    @overload
    def __truediv__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __truediv__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __truediv__(self, value: _Operand, /) -> Array[Any]: ...
    __rtruediv__ = __truediv__
    @overload
    def __divmod__(
        self: _NumberArray,
        value: _NumberArray | int,
        /,
    ) -> tuple[_NumberArray, _NumberArray]: ...
    @overload
    def __divmod__(self, value: _Operand, /) -> tuple[Array[Any], Array[Any]]: ...
    __rdivmod__ = __divmod__
    @overload
    def __and__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __and__(self: _IntegerArray, value: int, /) -> _IntegerArray: ...
    @overload
    def __and__(self, value: _Operand, /) -> Array[Any]: ...
    __or__ = __and__
    __xor__ = __and__
    __rand__ = __and__
    __ror__ = __and__
    __rxor__ = __and__
    @overload
    def __lshift__(self: _IntegerArray, value: _IntegerArray | int, /) -> _IntegerArray: ...
    @overload
    def __lshift__(self, value: _Operand, /) -> Array[Any]: ...
    __rshift__ = __lshift__
    __rlshift__ = __lshift__
    __rrshift__ = __lshift__
    @overload
    def __matmul__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __matmul__(self, value: _Operand, /) -> Array[Any]: ...
    __rmatmul__ = __matmul__
    @overload
    def sum(
        self: _InexactArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> _InexactArray: ...
    @overload
    def sum(
        self: ArrayTypes[np.signedinteger[Any] | np.bool_],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Array[np.int64]: ...
    @overload
    def sum(
        self: ArrayTypes[np.unsignedinteger[Any]],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Array[np.uint64]: ...
    @overload
    def sum(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Array[_ScalarT]: ...
    @overload
    def sum(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Array[Any]: ...
    @overload
    def prod(
        self: _InexactArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> _InexactArray: ...
    @overload
    def prod(
        self: ArrayTypes[np.signedinteger[Any] | np.bool_],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Array[np.int64]: ...
    @overload
    def prod(
        self: ArrayTypes[np.unsignedinteger[Any]],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Array[np.uint64]: ...
    @overload
    def prod(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Array[_ScalarT]: ...
    @overload
    def prod(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Array[Any]: ...
    @overload
    def mean(
        self: _InexactArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> _InexactArray: ...
    @overload
    def mean(
        self: ArrayTypes[_Whole],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> Array[np.float64]: ...
    @overload
    def mean(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> Array[_ScalarT]: ...
    @overload
    def mean(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> Array[Any]: ...
    @overload
    def var(
        self: _FloatingArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> _FloatingArray: ...
    @overload
    def var(  # type: ignore[overload-overlap]
        self: ArrayTypes[np.complex64],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Array[np.float32]: ...
    @overload
    def var(
        self: ArrayTypes[_Whole | np.complex128],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Array[np.float64]: ...
    @overload
    def var(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Array[_ScalarT]: ...
    @overload
    def var(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Array[Any]: ...
    @overload
    def std(
        self: _FloatingArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> _FloatingArray: ...
    @overload
    def std(  # type: ignore[overload-overlap]
        self: ArrayTypes[np.complex64],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Array[np.float32]: ...
    @overload
    def std(
        self: ArrayTypes[_Whole | np.complex128],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Array[np.float64]: ...
    @overload
    def std(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Array[_ScalarT]: ...
    @overload
    def std(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Array[Any]: ...
    @overload
    def cumsum(
        self: _InexactArray,
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> _InexactArray: ...
    @overload
    def cumsum(
        self: ArrayTypes[np.signedinteger[Any] | np.bool_],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> Array[np.int64]: ...
    @overload
    def cumsum(
        self: ArrayTypes[np.unsignedinteger[Any]],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> Array[np.uint64]: ...
    @overload
    def cumsum(
        self,
        axis: int | None = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
    ) -> Array[_ScalarT]: ...
    @overload
    def cumsum(
        self,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> Array[Any]: ...
    @overload
    def cumprod(
        self: _InexactArray,
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> _InexactArray: ...
    @overload
    def cumprod(
        self: ArrayTypes[np.signedinteger[Any] | np.bool_],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> Array[np.int64]: ...
    @overload
    def cumprod(
        self: ArrayTypes[np.unsignedinteger[Any]],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> Array[np.uint64]: ...
    @overload
    def cumprod(
        self,
        axis: int | None = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
    ) -> Array[_ScalarT]: ...
    @overload
    def cumprod(
        self,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> Array[Any]: ...
    def __lt__(self, value: _Operand, /) -> Array[np.bool_]: ...
    def __le__(self, value: _Operand, /) -> Array[np.bool_]: ...
    def __eq__(self, value: object, /) -> Array[np.bool_]: ...  # type: ignore[override]
    def __ne__(self, value: object, /) -> Array[np.bool_]: ...  # type: ignore[override]
    def __gt__(self, value: _Operand, /) -> Array[np.bool_]: ...
    def __ge__(self, value: _Operand, /) -> Array[np.bool_]: ...
    @overload
    def __abs__(  # type: ignore[overload-overlap]
        self: ArrayTypes[np.complex64], /
    ) -> Array[np.float32]: ...
    @overload
    def __abs__(self: ArrayTypes[np.complex128], /) -> Array[np.float64]: ...
    @overload
    def __abs__(self, /) -> Self: ...
    @overload
    def __getitem__(self, key: _Fields, /) -> Array[Any]: ...
    @overload
    def __getitem__(self, key: _Index | tuple[_Index, ...], /) -> Self: ...
    def __iter__(self) -> Iterator[Self]: ...
    @overload
    def astype(
        self, dtype: _DType[_ScalarT], queue: Any = None, *, copy: bool = True,
        order: str = "K", casting: Any = "unsafe", subok: bool = True,
    ) -> Array[_ScalarT]: ...
    @overload
    def astype(
        self, dtype: DTypeLike, queue: Any = None, *, copy: bool = True,
        order: str = "K", casting: Any = "unsafe", subok: bool = True,
    ) -> Array[Any]: ...
    @overload
    def view(self, dtype: None = None) -> Self: ...
    @overload
    def view(self, dtype: _DType[_ScalarT]) -> Array[_ScalarT]: ...
    @overload
    def view(self, dtype: DTypeLike) -> Array[Any]: ...
    real: _PartsArray
    imag: _PartsArray
    @property
    def flags(self) -> Flags: ...
    def argmin(
        self, axis: int | None = None, out: _Out = None, keepdims: bool = False
    ) -> Array[np.int64]: ...
    def argmax(
        self, axis: int | None = None, out: _Out = None, keepdims: bool = False
    ) -> Array[np.int64]: ...
    def argsort(
        self, axis: int | None = -1, kind: Any = None, order: Any = None, **options: Any
    ) -> Array[np.int64]: ...
    def argpartition(
        self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> Array[np.int64]: ...
    def searchsorted(self, v: _Operand, side: Any = "left", sorter: Any = None) -> Array[np.int64]: ...
    def nonzero(self) -> tuple[Array[np.int64], ...]: ...
    @overload
    def dot(self: _NumberArray, other: _NumberArray, out: None = None) -> _NumberArray: ...
    @overload
    def dot(self, other: _Operand, out: _Out = None) -> Array[Any]: ...
    def choose(self, choices: Any, out: _Out = None, mode: str = "raise") -> Array[Any]: ...
    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> Array[Any]: ...

_CUDAArrayT = TypeVar("_CUDAArrayT", bound=GPUArrayTypes[Any])
_NumberCUDAArray = TypeVar("_NumberCUDAArray", bound=GPUArrayTypes[np.number[Any]])
_IntegerCUDAArray = TypeVar("_IntegerCUDAArray", bound=GPUArrayTypes[np.integer[Any]])
_FloatingCUDAArray = TypeVar("_FloatingCUDAArray", bound=GPUArrayTypes[np.floating[Any]])
_InexactCUDAArray = TypeVar("_InexactCUDAArray", bound=GPUArrayTypes[np.inexact[Any]])
_ComplexCUDAArray = TypeVar("_ComplexCUDAArray", bound=GPUArrayTypes[np.complexfloating[Any, Any]])

class _PartsCUDAArray:
    """The real or the imaginary parts of an array."""
    @overload
    def __get__(self, array: None, cls: Any, /) -> Self: ...
    @overload
    def __get__(self, array: GPUArrayTypes[np.complex64], cls: Any, /) -> CUDAArray[np.float32]: ...
    @overload
    def __get__(self, array: GPUArrayTypes[np.complex128], cls: Any, /) -> CUDAArray[np.float64]: ...
    @overload
    def __get__(self, array: _CUDAArrayT, cls: Any, /) -> _CUDAArrayT: ...
    def __set__(self, array: GPUArrayTypes[Any], value: _Operand, /) -> None: ...

class GPUArrayTypes(GPUArray[_ScalarT_co]):
    """The same for CUDA's GPUArray."""
    @overload
    def __add__(self: _NumberCUDAArray, value: _NumberCUDAArray, /) -> _NumberCUDAArray: ...
    @overload
    def __add__(self: GPUArrayTypes[_NumberT], value: _NumberT | NDArray[_NumberT], /) -> CUDAArray[_NumberT]: ...
    @overload
    def __add__(self: GPUArrayTypes[_Real], value: np.float64, /) -> CUDAArray[np.float64]: ...
    @overload
    def __add__(self, value: np.complex128, /) -> CUDAArray[Any]: ...
    @overload
    def __add__(self: _NumberCUDAArray, value: int, /) -> _NumberCUDAArray: ...
    @overload
    def __add__(self: _InexactCUDAArray, value: float, /) -> _InexactCUDAArray: ...
    @overload
    def __add__(self: _ComplexCUDAArray, value: complex, /) -> _ComplexCUDAArray: ...
    @overload
    def __add__(self: GPUArrayTypes[np.float64], value: GPUArrayTypes[_Real], /) -> CUDAArray[np.float64]: ...
    @overload
    def __add__(self: GPUArrayTypes[_Real], value: GPUArrayTypes[np.float64], /) -> CUDAArray[np.float64]: ...
    @overload
    def __add__(self: GPUArrayTypes[np.float32], value: complex, /) -> CUDAArray[np.complex64]: ...  # type: ignore[overload-overlap]
    @overload
    def __add__(self: GPUArrayTypes[np.float64], value: complex, /) -> CUDAArray[np.complex128]: ...
    @overload
    def __add__(self: GPUArrayTypes[np.bool_], value: int, /) -> CUDAArray[np.int64]: ...
    @overload
    def __add__(self: GPUArrayTypes[_Whole], value: float, /) -> CUDAArray[np.float64]: ...
    @overload
    def __add__(self, value: _Operand, /) -> CUDAArray[Any]: ...
    __sub__ = __add__
    __mul__ = __add__
    __floordiv__ = __add__
    __mod__ = __add__
    __radd__ = __add__
    __rsub__ = __add__
    __rmul__ = __add__
    __rfloordiv__ = __add__
    __rmod__ = __add__
    @overload
    def __pow__(self: _NumberCUDAArray, value: _NumberCUDAArray, mod: None = None, /) -> _NumberCUDAArray: ...
    @overload
    def __pow__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        mod: None = None,
        /,
    ) -> CUDAArray[_NumberT]: ...
    @overload
    def __pow__(self: GPUArrayTypes[_Real], value: np.float64, mod: None = None, /) -> CUDAArray[np.float64]: ...
    @overload
    def __pow__(self, value: np.complex128, mod: None = None, /) -> CUDAArray[Any]: ...
    @overload
    def __pow__(self: _NumberCUDAArray, value: int, mod: None = None, /) -> _NumberCUDAArray: ...
    @overload
    def __pow__(self: _InexactCUDAArray, value: float, mod: None = None, /) -> _InexactCUDAArray: ...
    @overload
    def __pow__(self: _ComplexCUDAArray, value: complex, mod: None = None, /) -> _ComplexCUDAArray: ...
    @overload
    def __pow__(
        self: GPUArrayTypes[np.float64],
        value: GPUArrayTypes[_Real],
        mod: None = None,
        /,
    ) -> CUDAArray[np.float64]: ...
    @overload
    def __pow__(
        self: GPUArrayTypes[_Real],
        value: GPUArrayTypes[np.float64],
        mod: None = None,
        /,
    ) -> CUDAArray[np.float64]: ...
    @overload
    def __pow__(  # type: ignore[overload-overlap]
        self: GPUArrayTypes[np.float32],
        value: complex,
        mod: None = None,
        /,
    ) -> CUDAArray[np.complex64]: ...
    @overload
    def __pow__(
        self: GPUArrayTypes[np.float64],
        value: complex,
        mod: None = None,
        /,
    ) -> CUDAArray[np.complex128]: ...
    @overload
    def __pow__(self: GPUArrayTypes[np.bool_], value: int, mod: None = None, /) -> CUDAArray[np.int64]: ...
    @overload
    def __pow__(self: GPUArrayTypes[_Whole], value: float, mod: None = None, /) -> CUDAArray[np.float64]: ...
    @overload
    def __pow__(self, value: _Operand, mod: None = None, /) -> CUDAArray[Any]: ...
    __rpow__ = __pow__
    @overload
    def __truediv__(self: _InexactCUDAArray, value: _InexactCUDAArray, /) -> _InexactCUDAArray: ...
    @overload
    def __truediv__(self: GPUArrayTypes[_Whole], value: GPUArrayTypes[_Whole] | float, /) -> CUDAArray[np.float64]: ...
    @overload
    def __truediv__(self: GPUArrayTypes[np.float64], value: GPUArrayTypes[_Real], /) -> CUDAArray[np.float64]: ...
    @overload
    def __truediv__(
        self: GPUArrayTypes[_Real],
        value: GPUArrayTypes[np.float64] | np.float64,
        /,
    ) -> CUDAArray[np.float64]: ...
    @overload
    def __truediv__(self, value: np.complex128, /) -> CUDAArray[Any]: ...
    @overload
    def __truediv__(self: _InexactCUDAArray, value: float, /) -> _InexactCUDAArray: ...
    @overload
    def __truediv__(self: _ComplexCUDAArray, value: complex, /) -> _ComplexCUDAArray: ...
    @overload
    def __truediv__(self, value: _Operand, /) -> CUDAArray[Any]: ...
    __rtruediv__ = __truediv__
    @overload
    def __divmod__(
        self: _NumberCUDAArray,
        value: _NumberCUDAArray | int,
        /,
    ) -> tuple[_NumberCUDAArray, _NumberCUDAArray]: ...
    @overload
    def __divmod__(self, value: _Operand, /) -> tuple[CUDAArray[Any], CUDAArray[Any]]: ...
    __rdivmod__ = __divmod__
    @overload
    def __and__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __and__(self: _IntegerCUDAArray, value: int, /) -> _IntegerCUDAArray: ...
    @overload
    def __and__(self, value: _Operand, /) -> CUDAArray[Any]: ...
    __or__ = __and__
    __xor__ = __and__
    __rand__ = __and__
    __ror__ = __and__
    __rxor__ = __and__
    @overload
    def __lshift__(self: _IntegerCUDAArray, value: _IntegerCUDAArray | int, /) -> _IntegerCUDAArray: ...
    @overload
    def __lshift__(self, value: _Operand, /) -> CUDAArray[Any]: ...
    __rshift__ = __lshift__
    __rlshift__ = __lshift__
    __rrshift__ = __lshift__
    @overload
    def __matmul__(self: _NumberCUDAArray, value: _NumberCUDAArray, /) -> _NumberCUDAArray: ...
    @overload
    def __matmul__(self, value: _Operand, /) -> CUDAArray[Any]: ...
    __rmatmul__ = __matmul__
    @overload
    def sum(
        self: _InexactCUDAArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> _InexactCUDAArray: ...
    @overload
    def sum(
        self: GPUArrayTypes[np.signedinteger[Any] | np.bool_],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> CUDAArray[np.int64]: ...
    @overload
    def sum(
        self: GPUArrayTypes[np.unsignedinteger[Any]],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> CUDAArray[np.uint64]: ...
    @overload
    def sum(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> CUDAArray[_ScalarT]: ...
    @overload
    def sum(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> CUDAArray[Any]: ...
    @overload
    def prod(
        self: _InexactCUDAArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> _InexactCUDAArray: ...
    @overload
    def prod(
        self: GPUArrayTypes[np.signedinteger[Any] | np.bool_],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> CUDAArray[np.int64]: ...
    @overload
    def prod(
        self: GPUArrayTypes[np.unsignedinteger[Any]],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> CUDAArray[np.uint64]: ...
    @overload
    def prod(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> CUDAArray[_ScalarT]: ...
    @overload
    def prod(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> CUDAArray[Any]: ...
    @overload
    def mean(
        self: _InexactCUDAArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> _InexactCUDAArray: ...
    @overload
    def mean(
        self: GPUArrayTypes[_Whole],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> CUDAArray[np.float64]: ...
    @overload
    def mean(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> CUDAArray[_ScalarT]: ...
    @overload
    def mean(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> CUDAArray[Any]: ...
    @overload
    def var(
        self: _FloatingCUDAArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> _FloatingCUDAArray: ...
    @overload
    def var(  # type: ignore[overload-overlap]
        self: GPUArrayTypes[np.complex64],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> CUDAArray[np.float32]: ...
    @overload
    def var(
        self: GPUArrayTypes[_Whole | np.complex128],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> CUDAArray[np.float64]: ...
    @overload
    def var(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> CUDAArray[_ScalarT]: ...
    @overload
    def var(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> CUDAArray[Any]: ...
    @overload
    def std(
        self: _FloatingCUDAArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> _FloatingCUDAArray: ...
    @overload
    def std(  # type: ignore[overload-overlap]
        self: GPUArrayTypes[np.complex64],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> CUDAArray[np.float32]: ...
    @overload
    def std(
        self: GPUArrayTypes[_Whole | np.complex128],
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> CUDAArray[np.float64]: ...
    @overload
    def std(
        self,
        axis: _Axes = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> CUDAArray[_ScalarT]: ...
    @overload
    def std(
        self,
        axis: _Axes = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> CUDAArray[Any]: ...
    @overload
    def cumsum(
        self: _InexactCUDAArray,
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> _InexactCUDAArray: ...
    @overload
    def cumsum(
        self: GPUArrayTypes[np.signedinteger[Any] | np.bool_],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> CUDAArray[np.int64]: ...
    @overload
    def cumsum(
        self: GPUArrayTypes[np.unsignedinteger[Any]],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> CUDAArray[np.uint64]: ...
    @overload
    def cumsum(
        self,
        axis: int | None = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
    ) -> CUDAArray[_ScalarT]: ...
    @overload
    def cumsum(
        self,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> CUDAArray[Any]: ...
    @overload
    def cumprod(
        self: _InexactCUDAArray,
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> _InexactCUDAArray: ...
    @overload
    def cumprod(
        self: GPUArrayTypes[np.signedinteger[Any] | np.bool_],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> CUDAArray[np.int64]: ...
    @overload
    def cumprod(
        self: GPUArrayTypes[np.unsignedinteger[Any]],
        axis: int | None = None,
        dtype: None = None,
        out: _Out = None,
    ) -> CUDAArray[np.uint64]: ...
    @overload
    def cumprod(
        self,
        axis: int | None = None,
        *,
        dtype: _DType[_ScalarT],
        out: _Out = None,
    ) -> CUDAArray[_ScalarT]: ...
    @overload
    def cumprod(
        self,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> CUDAArray[Any]: ...
    def __lt__(self, value: _Operand, /) -> CUDAArray[np.bool_]: ...
    def __le__(self, value: _Operand, /) -> CUDAArray[np.bool_]: ...
    def __eq__(self, value: object, /) -> CUDAArray[np.bool_]: ...  # type: ignore[override]
    def __ne__(self, value: object, /) -> CUDAArray[np.bool_]: ...  # type: ignore[override]
    def __gt__(self, value: _Operand, /) -> CUDAArray[np.bool_]: ...
    def __ge__(self, value: _Operand, /) -> CUDAArray[np.bool_]: ...
    @overload
    def __abs__(  # type: ignore[overload-overlap]
        self: GPUArrayTypes[np.complex64], /
    ) -> CUDAArray[np.float32]: ...
    @overload
    def __abs__(self: GPUArrayTypes[np.complex128], /) -> CUDAArray[np.float64]: ...
    @overload
    def __abs__(self, /) -> Self: ...
    @overload
    def __getitem__(self, key: _Fields, /) -> CUDAArray[Any]: ...
    @overload
    def __getitem__(self, key: _Index | tuple[_Index, ...], /) -> Self: ...
    def __iter__(self) -> Iterator[Self]: ...
    @overload
    def astype(
        self, dtype: _DType[_ScalarT], stream: Any = None, *, copy: bool = True,
        order: str = "K", casting: Any = "unsafe", subok: bool = True,
    ) -> CUDAArray[_ScalarT]: ...
    @overload
    def astype(
        self, dtype: DTypeLike, stream: Any = None, *, copy: bool = True,
        order: str = "K", casting: Any = "unsafe", subok: bool = True,
    ) -> CUDAArray[Any]: ...
    @overload
    def view(self, dtype: None = None) -> Self: ...
    @overload
    def view(self, dtype: _DType[_ScalarT]) -> CUDAArray[_ScalarT]: ...
    @overload
    def view(self, dtype: DTypeLike) -> CUDAArray[Any]: ...
    real: _PartsCUDAArray
    imag: _PartsCUDAArray
    @property
    def flags(self) -> Flags: ...
    def argmin(
        self, axis: int | None = None, out: _Out = None, keepdims: bool = False
    ) -> CUDAArray[np.int64]: ...
    def argmax(
        self, axis: int | None = None, out: _Out = None, keepdims: bool = False
    ) -> CUDAArray[np.int64]: ...
    def argsort(
        self, axis: int | None = -1, kind: Any = None, order: Any = None, **options: Any
    ) -> CUDAArray[np.int64]: ...
    def argpartition(
        self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> CUDAArray[np.int64]: ...
    def searchsorted(self, v: _Operand, side: Any = "left", sorter: Any = None) -> CUDAArray[np.int64]: ...
    def nonzero(self) -> tuple[CUDAArray[np.int64], ...]: ...
    @overload
    def dot(self: _NumberCUDAArray, other: _NumberCUDAArray, out: None = None) -> _NumberCUDAArray: ...
    @overload
    def dot(self, other: _Operand, out: _Out = None) -> CUDAArray[Any]: ...
    def choose(self, choices: Any, out: _Out = None, mode: str = "raise") -> CUDAArray[Any]: ...
    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> CUDAArray[Any]: ...
