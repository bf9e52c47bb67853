"""The functions of a family of polynomials, which the modules here have under their own names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pygpu._src.array.routines import series

if TYPE_CHECKING:
    from pygpu.xp._types import GPUArray

__all__ = ["Functions", "functions"]


class Value(Protocol):
    def __call__(self, x: Any, c: Any, tensor: bool = True) -> GPUArray[Any]: ...


class OfTwo(Protocol):
    def __call__(self, x: Any, y: Any, c: Any) -> GPUArray[Any]: ...


class OfThree(Protocol):
    def __call__(self, x: Any, y: Any, z: Any, c: Any) -> GPUArray[Any]: ...


class Vander(Protocol):
    def __call__(self, x: Any, deg: int) -> GPUArray[Any]: ...


class VanderOfTwo(Protocol):
    def __call__(self, x: Any, y: Any, deg: Sequence[int]) -> GPUArray[Any]: ...


class VanderOfThree(Protocol):
    def __call__(self, x: Any, y: Any, z: Any, deg: Sequence[int]) -> GPUArray[Any]: ...


class Fit(Protocol):
    def __call__(
        self,
        x: Any,
        y: Any,
        deg: int | Sequence[int],
        rcond: float | None = None,
        full: bool = False,
        w: Any = None,
    ) -> Any: ...


class Functions(NamedTuple):
    """In the order in which the modules name them; NumPy's names are a prefix and these."""

    val: Value
    val2d: OfTwo
    val3d: OfThree
    grid2d: OfTwo
    grid3d: OfThree
    vander: Vander
    vander2d: VanderOfTwo
    vander3d: VanderOfThree
    fit: Fit


def functions(family: series.Family, module: str) -> Functions:
    """Make the functions of a family, for a module to publish."""

    def val(x: Any, c: Any, tensor: bool = True) -> GPUArray[Any]:
        """The values at x of series with coefficients along the first axis of c; tensor: of every
        series at every point, else the shapes are broadcast."""
        result: GPUArray[Any] = series.value(family, x, c, tensor)
        return result

    def val2d(x: Any, y: Any, c: Any) -> GPUArray[Any]:
        """The values at points (x, y) of series in two variables."""
        result: GPUArray[Any] = series.value_of_several(family, (x, y), c)
        return result

    def val3d(x: Any, y: Any, z: Any, c: Any) -> GPUArray[Any]:
        """The values at points (x, y, z) of series in three variables."""
        result: GPUArray[Any] = series.value_of_several(family, (x, y, z), c)
        return result

    def grid2d(x: Any, y: Any, c: Any) -> GPUArray[Any]:
        """The values of series in two variables at every combination of x and y."""
        result: GPUArray[Any] = series.grid(family, (x, y), c)
        return result

    def grid3d(x: Any, y: Any, z: Any, c: Any) -> GPUArray[Any]:
        """The values of series in three variables at every combination of x, y and z."""
        result: GPUArray[Any] = series.grid(family, (x, y, z), c)
        return result

    def vander(x: Any, deg: int) -> GPUArray[Any]:
        """The polynomials of degrees 0 to deg at each point, along a new last axis."""
        result: GPUArray[Any] = series.vander(family, x, deg)
        return result

    def vander2d(x: Any, y: Any, deg: Sequence[int]) -> GPUArray[Any]:
        """The products of a polynomial of x and one of y, along a new last axis."""
        result: GPUArray[Any] = series.vander_of_several(family, (x, y), deg)
        return result

    def vander3d(x: Any, y: Any, z: Any, deg: Sequence[int]) -> GPUArray[Any]:
        """The products of polynomials of x, y and z, along a new last axis."""
        result: GPUArray[Any] = series.vander_of_several(family, (x, y, z), deg)
        return result

    def fit(
        x: Any,
        y: Any,
        deg: int | Sequence[int],
        rcond: float | None = None,
        full: bool = False,
        w: Any = None,
    ) -> Any:
        """The least-squares series of a degree, or of the polynomials whose degrees are given;
        full: and [residuals, rank, singular values, rcond]."""
        return series.fit(family, x, y, deg, rcond, full, w)

    made = Functions(val, val2d, val3d, grid2d, grid3d, vander, vander2d, vander3d, fit)
    for function in made:
        _rename(function, family.name, module)
    return made


def _rename(function: Any, prefix: str, module: str) -> None:
    function.__name__ = function.__qualname__ = prefix + function.__name__
    function.__module__ = module
