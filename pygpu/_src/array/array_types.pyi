# Written by tools/stubs.py from tools/array_types.txt: `make stubs`.

from collections.abc import Iterator
from types import EllipsisType
from typing import Any, Self, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import TypeVar

from pygpu import _array

from .cuda_array import GPUArray
from .methods import ArrayBase
from .opencl_array import Array

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

_NumberArray = TypeVar("_NumberArray", bound=ArrayTypes[np.number[Any]])
_IntegerArray = TypeVar("_IntegerArray", bound=ArrayTypes[np.integer[Any]])
_InexactArray = TypeVar("_InexactArray", bound=ArrayTypes[np.inexact[Any]])
_ComplexArray = TypeVar("_ComplexArray", bound=ArrayTypes[np.complexfloating[Any, Any]])

class ArrayTypes(ArrayBase[_ScalarT_co]):
    """What Array answers where the dtype of the answer depends on that of the array."""
    @overload
    def __add__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __add__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __add__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __add__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __add__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __add__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __add__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __radd__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __radd__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __radd__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __radd__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __radd__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __radd__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __radd__(self, value: _Operand, /) -> Array[Any]: ...
    def __iadd__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __sub__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __sub__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __sub__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __sub__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __sub__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __sub__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __sub__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rsub__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __rsub__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __rsub__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __rsub__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __rsub__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __rsub__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __rsub__(self, value: _Operand, /) -> Array[Any]: ...
    def __isub__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __mul__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __mul__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __mul__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __mul__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __mul__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __mul__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __mul__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rmul__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __rmul__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __rmul__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __rmul__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __rmul__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __rmul__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __rmul__(self, value: _Operand, /) -> Array[Any]: ...
    def __imul__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __floordiv__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __floordiv__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __floordiv__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __floordiv__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __floordiv__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __floordiv__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __floordiv__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rfloordiv__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __rfloordiv__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __rfloordiv__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __rfloordiv__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __rfloordiv__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __rfloordiv__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __rfloordiv__(self, value: _Operand, /) -> Array[Any]: ...
    def __ifloordiv__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __mod__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __mod__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __mod__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __mod__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __mod__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __mod__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __mod__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rmod__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __rmod__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __rmod__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __rmod__(self: _NumberArray, value: int, /) -> _NumberArray: ...
    @overload
    def __rmod__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __rmod__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __rmod__(self, value: _Operand, /) -> Array[Any]: ...
    def __imod__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
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
    def __pow__(self, value: np.float64 | np.complex128, mod: None = None, /) -> Array[Any]: ...
    @overload
    def __pow__(self: _NumberArray, value: int, mod: None = None, /) -> _NumberArray: ...
    @overload
    def __pow__(self: _InexactArray, value: float, mod: None = None, /) -> _InexactArray: ...
    @overload
    def __pow__(self: _ComplexArray, value: complex, mod: None = None, /) -> _ComplexArray: ...
    @overload
    def __pow__(self, value: _Operand, mod: None = None, /) -> Array[Any]: ...
    @overload
    def __rpow__(self: _NumberArray, value: _NumberArray, mod: None = None, /) -> _NumberArray: ...
    @overload
    def __rpow__(
        self: ArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        mod: None = None,
        /,
    ) -> Array[_NumberT]: ...
    @overload
    def __rpow__(self, value: np.float64 | np.complex128, mod: None = None, /) -> Array[Any]: ...
    @overload
    def __rpow__(self: _NumberArray, value: int, mod: None = None, /) -> _NumberArray: ...
    @overload
    def __rpow__(self: _InexactArray, value: float, mod: None = None, /) -> _InexactArray: ...
    @overload
    def __rpow__(self: _ComplexArray, value: complex, mod: None = None, /) -> _ComplexArray: ...
    @overload
    def __rpow__(self, value: _Operand, mod: None = None, /) -> Array[Any]: ...
    def __ipow__(self, value: _Operand, mod: None = None, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __truediv__(self: _InexactArray, value: _InexactArray, /) -> _InexactArray: ...
    @overload
    def __truediv__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __truediv__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __truediv__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __truediv__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rtruediv__(self: _InexactArray, value: _InexactArray, /) -> _InexactArray: ...
    @overload
    def __rtruediv__(self, value: np.float64 | np.complex128, /) -> Array[Any]: ...
    @overload
    def __rtruediv__(self: _InexactArray, value: float, /) -> _InexactArray: ...
    @overload
    def __rtruediv__(self: _ComplexArray, value: complex, /) -> _ComplexArray: ...
    @overload
    def __rtruediv__(self, value: _Operand, /) -> Array[Any]: ...
    def __itruediv__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __divmod__(
        self: _NumberArray,
        value: _NumberArray | int,
        /,
    ) -> tuple[_NumberArray, _NumberArray]: ...
    @overload
    def __divmod__(self, value: _Operand, /) -> tuple[Array[Any], Array[Any]]: ...
    @overload
    def __rdivmod__(
        self: _NumberArray,
        value: _NumberArray | int,
        /,
    ) -> tuple[_NumberArray, _NumberArray]: ...
    @overload
    def __rdivmod__(self, value: _Operand, /) -> tuple[Array[Any], Array[Any]]: ...
    @overload
    def __and__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __and__(self: _IntegerArray, value: int, /) -> _IntegerArray: ...
    @overload
    def __and__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rand__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __rand__(self: _IntegerArray, value: int, /) -> _IntegerArray: ...
    @overload
    def __rand__(self, value: _Operand, /) -> Array[Any]: ...
    def __iand__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __or__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __or__(self: _IntegerArray, value: int, /) -> _IntegerArray: ...
    @overload
    def __or__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __ror__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __ror__(self: _IntegerArray, value: int, /) -> _IntegerArray: ...
    @overload
    def __ror__(self, value: _Operand, /) -> Array[Any]: ...
    def __ior__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __xor__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __xor__(self: _IntegerArray, value: int, /) -> _IntegerArray: ...
    @overload
    def __xor__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rxor__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __rxor__(self: _IntegerArray, value: int, /) -> _IntegerArray: ...
    @overload
    def __rxor__(self, value: _Operand, /) -> Array[Any]: ...
    def __ixor__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __lshift__(self: _IntegerArray, value: _IntegerArray | int, /) -> _IntegerArray: ...
    @overload
    def __lshift__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rlshift__(self: _IntegerArray, value: _IntegerArray | int, /) -> _IntegerArray: ...
    @overload
    def __rlshift__(self, value: _Operand, /) -> Array[Any]: ...
    def __ilshift__(self, value: _Operand, /) -> Self: ...
    @overload
    def __rshift__(self: _IntegerArray, value: _IntegerArray | int, /) -> _IntegerArray: ...
    @overload
    def __rshift__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rrshift__(self: _IntegerArray, value: _IntegerArray | int, /) -> _IntegerArray: ...
    @overload
    def __rrshift__(self, value: _Operand, /) -> Array[Any]: ...
    def __irshift__(self, value: _Operand, /) -> Self: ...
    @overload
    def __matmul__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __matmul__(self, value: _Operand, /) -> Array[Any]: ...
    @overload
    def __rmatmul__(self: _NumberArray, value: _NumberArray, /) -> _NumberArray: ...
    @overload
    def __rmatmul__(self, value: _Operand, /) -> Array[Any]: ...
    def __imatmul__(self, value: _Operand, /) -> Self: ...
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
        self: _InexactArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
    ) -> _InexactArray: ...
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
    ) -> Array[Any]: ...
    @overload
    def std(
        self: _InexactArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
    ) -> _InexactArray: ...
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
    @property
    def real(self) -> Array[Any]: ...
    @real.setter
    def real(self, value: _Operand) -> None: ...
    @property
    def imag(self) -> Array[Any]: ...
    @imag.setter
    def imag(self, value: _Operand) -> None: ...
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
        self, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None
    ) -> Array[np.int64]: ...
    def searchsorted(self, v: _Operand, side: Any = "left", sorter: Any = None) -> Array[np.int64]: ...
    def nonzero(self) -> tuple[Array[np.int64], ...]: ...
    @overload
    def dot(self: _NumberArray, other: _NumberArray, out: None = None) -> _NumberArray: ...
    @overload
    def dot(self, other: _Operand, out: _Out = None) -> Array[Any]: ...

_NumberGPUArray = TypeVar("_NumberGPUArray", bound=GPUArrayTypes[np.number[Any]])
_IntegerGPUArray = TypeVar("_IntegerGPUArray", bound=GPUArrayTypes[np.integer[Any]])
_InexactGPUArray = TypeVar("_InexactGPUArray", bound=GPUArrayTypes[np.inexact[Any]])
_ComplexGPUArray = TypeVar("_ComplexGPUArray", bound=GPUArrayTypes[np.complexfloating[Any, Any]])

class GPUArrayTypes(ArrayBase[_ScalarT_co]):
    """What GPUArray answers where the dtype of the answer depends on that of the array."""
    @overload
    def __add__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __add__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __add__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __add__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __add__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __add__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __add__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __radd__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __radd__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __radd__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __radd__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __radd__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __radd__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __radd__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __iadd__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __sub__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __sub__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __sub__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __sub__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __sub__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __sub__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __sub__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rsub__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __rsub__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __rsub__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __rsub__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __rsub__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __rsub__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __rsub__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __isub__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __mul__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __mul__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __mul__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __mul__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __mul__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __mul__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __mul__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rmul__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __rmul__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __rmul__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __rmul__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __rmul__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __rmul__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __rmul__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __imul__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __floordiv__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __floordiv__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __floordiv__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __floordiv__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __floordiv__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __floordiv__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __floordiv__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rfloordiv__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __rfloordiv__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __rfloordiv__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __rfloordiv__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __rfloordiv__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __rfloordiv__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __rfloordiv__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __ifloordiv__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __mod__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __mod__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __mod__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __mod__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __mod__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __mod__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __mod__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rmod__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __rmod__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __rmod__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __rmod__(self: _NumberGPUArray, value: int, /) -> _NumberGPUArray: ...
    @overload
    def __rmod__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __rmod__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __rmod__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __imod__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __pow__(self: _NumberGPUArray, value: _NumberGPUArray, mod: None = None, /) -> _NumberGPUArray: ...
    @overload
    def __pow__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        mod: None = None,
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __pow__(self, value: np.float64 | np.complex128, mod: None = None, /) -> GPUArray[Any]: ...
    @overload
    def __pow__(self: _NumberGPUArray, value: int, mod: None = None, /) -> _NumberGPUArray: ...
    @overload
    def __pow__(self: _InexactGPUArray, value: float, mod: None = None, /) -> _InexactGPUArray: ...
    @overload
    def __pow__(self: _ComplexGPUArray, value: complex, mod: None = None, /) -> _ComplexGPUArray: ...
    @overload
    def __pow__(self, value: _Operand, mod: None = None, /) -> GPUArray[Any]: ...
    @overload
    def __rpow__(self: _NumberGPUArray, value: _NumberGPUArray, mod: None = None, /) -> _NumberGPUArray: ...
    @overload
    def __rpow__(
        self: GPUArrayTypes[_NumberT],
        value: _NumberT | NDArray[_NumberT],
        mod: None = None,
        /,
    ) -> GPUArray[_NumberT]: ...
    @overload
    def __rpow__(self, value: np.float64 | np.complex128, mod: None = None, /) -> GPUArray[Any]: ...
    @overload
    def __rpow__(self: _NumberGPUArray, value: int, mod: None = None, /) -> _NumberGPUArray: ...
    @overload
    def __rpow__(self: _InexactGPUArray, value: float, mod: None = None, /) -> _InexactGPUArray: ...
    @overload
    def __rpow__(self: _ComplexGPUArray, value: complex, mod: None = None, /) -> _ComplexGPUArray: ...
    @overload
    def __rpow__(self, value: _Operand, mod: None = None, /) -> GPUArray[Any]: ...
    def __ipow__(self, value: _Operand, mod: None = None, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __truediv__(self: _InexactGPUArray, value: _InexactGPUArray, /) -> _InexactGPUArray: ...
    @overload
    def __truediv__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __truediv__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __truediv__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __truediv__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rtruediv__(self: _InexactGPUArray, value: _InexactGPUArray, /) -> _InexactGPUArray: ...
    @overload
    def __rtruediv__(self, value: np.float64 | np.complex128, /) -> GPUArray[Any]: ...
    @overload
    def __rtruediv__(self: _InexactGPUArray, value: float, /) -> _InexactGPUArray: ...
    @overload
    def __rtruediv__(self: _ComplexGPUArray, value: complex, /) -> _ComplexGPUArray: ...
    @overload
    def __rtruediv__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __itruediv__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __divmod__(
        self: _NumberGPUArray,
        value: _NumberGPUArray | int,
        /,
    ) -> tuple[_NumberGPUArray, _NumberGPUArray]: ...
    @overload
    def __divmod__(self, value: _Operand, /) -> tuple[GPUArray[Any], GPUArray[Any]]: ...
    @overload
    def __rdivmod__(
        self: _NumberGPUArray,
        value: _NumberGPUArray | int,
        /,
    ) -> tuple[_NumberGPUArray, _NumberGPUArray]: ...
    @overload
    def __rdivmod__(self, value: _Operand, /) -> tuple[GPUArray[Any], GPUArray[Any]]: ...
    @overload
    def __and__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __and__(self: _IntegerGPUArray, value: int, /) -> _IntegerGPUArray: ...
    @overload
    def __and__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rand__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __rand__(self: _IntegerGPUArray, value: int, /) -> _IntegerGPUArray: ...
    @overload
    def __rand__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __iand__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __or__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __or__(self: _IntegerGPUArray, value: int, /) -> _IntegerGPUArray: ...
    @overload
    def __or__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __ror__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __ror__(self: _IntegerGPUArray, value: int, /) -> _IntegerGPUArray: ...
    @overload
    def __ror__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __ior__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __xor__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __xor__(self: _IntegerGPUArray, value: int, /) -> _IntegerGPUArray: ...
    @overload
    def __xor__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rxor__(self, value: Self | bool, /) -> Self: ...
    @overload
    def __rxor__(self: _IntegerGPUArray, value: int, /) -> _IntegerGPUArray: ...
    @overload
    def __rxor__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __ixor__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    @overload
    def __lshift__(self: _IntegerGPUArray, value: _IntegerGPUArray | int, /) -> _IntegerGPUArray: ...
    @overload
    def __lshift__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rlshift__(self: _IntegerGPUArray, value: _IntegerGPUArray | int, /) -> _IntegerGPUArray: ...
    @overload
    def __rlshift__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __ilshift__(self, value: _Operand, /) -> Self: ...
    @overload
    def __rshift__(self: _IntegerGPUArray, value: _IntegerGPUArray | int, /) -> _IntegerGPUArray: ...
    @overload
    def __rshift__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rrshift__(self: _IntegerGPUArray, value: _IntegerGPUArray | int, /) -> _IntegerGPUArray: ...
    @overload
    def __rrshift__(self, value: _Operand, /) -> GPUArray[Any]: ...
    def __irshift__(self, value: _Operand, /) -> Self: ...
    @overload
    def __matmul__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __matmul__(self, value: _Operand, /) -> GPUArray[Any]: ...
    @overload
    def __rmatmul__(self: _NumberGPUArray, value: _NumberGPUArray, /) -> _NumberGPUArray: ...
    @overload
    def __rmatmul__(self, value: _Operand, /) -> GPUArray[Any]: ...
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
        self: _InexactGPUArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
    ) -> _InexactGPUArray: ...
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
    ) -> GPUArray[Any]: ...
    @overload
    def std(
        self: _InexactGPUArray,
        axis: _Axes = None,
        dtype: None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
    ) -> _InexactGPUArray: ...
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
        self: GPUArrayTypes[np.complex64], /
    ) -> GPUArray[np.float32]: ...
    @overload
    def __abs__(self: GPUArrayTypes[np.complex128], /) -> GPUArray[np.float64]: ...
    @overload
    def __abs__(self, /) -> Self: ...
    @overload
    def __getitem__(self, key: _Fields, /) -> GPUArray[Any]: ...
    @overload
    def __getitem__(self, key: _Index | tuple[_Index, ...], /) -> Self: ...
    def __iter__(self) -> Iterator[Self]: ...
    @overload
    def astype(
        self, dtype: _DType[_ScalarT], stream: Any = None, *, copy: bool = True,
        order: str = "K", casting: Any = "unsafe", subok: bool = True,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def astype(
        self, dtype: DTypeLike, stream: Any = None, *, copy: bool = True,
        order: str = "K", casting: Any = "unsafe", subok: bool = True,
    ) -> GPUArray[Any]: ...
    @overload
    def view(self, dtype: None = None) -> Self: ...
    @overload
    def view(self, dtype: _DType[_ScalarT]) -> GPUArray[_ScalarT]: ...
    @overload
    def view(self, dtype: DTypeLike) -> GPUArray[Any]: ...
    @property
    def real(self) -> GPUArray[Any]: ...
    @real.setter
    def real(self, value: _Operand) -> None: ...
    @property
    def imag(self) -> GPUArray[Any]: ...
    @imag.setter
    def imag(self, value: _Operand) -> None: ...
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
        self, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None
    ) -> GPUArray[np.int64]: ...
    def searchsorted(self, v: _Operand, side: Any = "left", sorter: Any = None) -> GPUArray[np.int64]: ...
    def nonzero(self) -> tuple[GPUArray[np.int64], ...]: ...
    @overload
    def dot(self: _NumberGPUArray, other: _NumberGPUArray, out: None = None) -> _NumberGPUArray: ...
    @overload
    def dot(self, other: _Operand, out: _Out = None) -> GPUArray[Any]: ...
