"""The types of pygpu.special's functions, for type checkers alone."""

from typing import Any, Protocol, TypeAlias

import numpy as np

from pygpu._src.array.array_types import GPUArray as GPUArray

Floating: TypeAlias = GPUArray[np.floating[Any]]
Operand: TypeAlias = GPUArray[Any] | complex | np.generic | np.ndarray[Any, Any]
Out: TypeAlias = GPUArray[Any] | tuple[GPUArray[Any]] | None

class Unary(Protocol):
    """A function of each item."""
    def __call__(
        self, x: Operand, /, out: Out = None, *, where: Any = True, dtype: Any = None
    ) -> Floating: ...

class Binary(Protocol):
    """A function of the items of two operands, which are broadcast against each other."""
    def __call__(
        self, a: Operand, b: Operand, /, out: Out = None, *, where: Any = True, dtype: Any = None
    ) -> Floating: ...

class Plane(Protocol):
    """A function of each item, of complex numbers too."""
    def __call__(
        self, x: Operand, /, out: Out = None, *, where: Any = True, dtype: Any = None
    ) -> GPUArray[Any]: ...

class PlaneBinary(Protocol):
    """A function of the items of two operands, of complex numbers too."""
    def __call__(
        self, a: Operand, b: Operand, /, out: Out = None, *, where: Any = True, dtype: Any = None
    ) -> GPUArray[Any]: ...

class Ternary(Protocol):
    """A function of the items of three operands."""
    def __call__(
        self, a: Operand, b: Operand, x: Operand, /, out: Out = None, *, where: Any = True,
        dtype: Any = None,
    ) -> Floating: ...

class PlaneTernary(Protocol):
    """A function of two real parameters and a number, which may be complex."""
    def __call__(
        self, a: Operand, b: Operand, z: Operand, /, out: Out = None, *, where: Any = True,
        dtype: Any = None,
    ) -> GPUArray[Any]: ...

class PlaneQuaternary(Protocol):
    """A function of three real parameters and a number, which may be complex."""
    def __call__(
        self, a: Operand, b: Operand, c: Operand, z: Operand, /, out: Out = None, *,
        where: Any = True, dtype: Any = None,
    ) -> GPUArray[Any]: ...

class Pair(Protocol):
    """A function of each item with two results."""
    def __call__(
        self, x: Operand, /, out: tuple[GPUArray[Any] | None, GPUArray[Any] | None] | None = None,
        *, where: Any = True, dtype: Any = None,
    ) -> tuple[Floating, Floating]: ...

class Quaternary(Protocol):
    """A function of the items of four operands."""
    def __call__(
        self, a: Operand, b: Operand, c: Operand, x: Operand, /, out: Out = None, *,
        where: Any = True, dtype: Any = None,
    ) -> Floating: ...

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
