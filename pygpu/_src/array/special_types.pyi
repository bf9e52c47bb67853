"""The types of pygpu.special's functions, for type checkers alone."""

from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from pygpu._src.array.array_types import GPUArray as GPUArray

_ResultT_co = TypeVar("_ResultT_co", covariant=True)

Floating: TypeAlias = GPUArray[np.floating[Any]]
Operand: TypeAlias = GPUArray[Any] | complex | np.generic | np.ndarray[Any, Any]
Out: TypeAlias = GPUArray[Any] | tuple[GPUArray[Any]] | None

class OfOne(Protocol[_ResultT_co]):
    """A function of each item."""
    def __call__(
        self, x: Operand, /, out: Out = None, *, where: Any = True, dtype: Any = None
    ) -> _ResultT_co: ...

Unary: TypeAlias = OfOne[Floating]
Plane: TypeAlias = OfOne[GPUArray[Any]]  # of complex numbers, too

class OfTwo(Protocol[_ResultT_co]):
    """A function of the items of two operands, which are broadcast against each other."""
    def __call__(
        self, a: Operand, b: Operand, /, out: Out = None, *, where: Any = True, dtype: Any = None
    ) -> _ResultT_co: ...

Binary: TypeAlias = OfTwo[Floating]
PlaneBinary: TypeAlias = OfTwo[GPUArray[Any]]  # of complex numbers, too

class OfThree(Protocol[_ResultT_co]):
    """A function of the items of three operands."""
    def __call__(
        self, a: Operand, b: Operand, x: Operand, /, out: Out = None, *, where: Any = True,
        dtype: Any = None,
    ) -> _ResultT_co: ...

Ternary: TypeAlias = OfThree[Floating]
PlaneTernary: TypeAlias = OfThree[GPUArray[Any]]  # of complex numbers, too

class Pair(Protocol):
    """A function of each item with two results."""
    def __call__(
        self, x: Operand, /, out: tuple[GPUArray[Any] | None, GPUArray[Any] | None] | None = None,
        *, where: Any = True, dtype: Any = None,
    ) -> tuple[Floating, Floating]: ...

class OfFour(Protocol[_ResultT_co]):
    """A function of the items of four operands."""
    def __call__(
        self, a: Operand, b: Operand, c: Operand, x: Operand, /, out: Out = None, *,
        where: Any = True, dtype: Any = None,
    ) -> _ResultT_co: ...

Quaternary: TypeAlias = OfFour[Floating]
PlaneQuaternary: TypeAlias = OfFour[GPUArray[Any]]  # of complex numbers, too

class Quadruple(Protocol):
    """A function of the items of two operands with four results."""
    def __call__(
        self, a: Operand, b: Operand, /, out: tuple[GPUArray[Any] | None, ...] | None = None,
        *, where: Any = True, dtype: Any = None,
    ) -> tuple[Floating, Floating, Floating, Floating]: ...

class Four(Protocol):
    """A function of each item with four results, of complex numbers too."""
    def __call__(
        self, x: Operand, /, out: tuple[GPUArray[Any] | None, ...] | None = None,
        *, where: Any = True, dtype: Any = None,
    ) -> tuple[GPUArray[Any], GPUArray[Any], GPUArray[Any], GPUArray[Any]]: ...

class Spherical(Protocol):
    """A function of integers and numbers, or its derivative."""
    def __call__(self, n: Any, z: Operand, derivative: bool = False) -> GPUArray[Any]: ...
