"""Named tuples of results, with the names of NumPy and the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from .array_types import GPUArray

__all__ = ["UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult"]

_ArrayT = TypeVar("_ArrayT")


class UniqueAllResult(NamedTuple, Generic[_ArrayT]):
    """Of unique_all()."""

    values: _ArrayT
    indices: GPUArray[np.int64]
    inverse_indices: GPUArray[np.int64]
    counts: GPUArray[np.int64]


class UniqueCountsResult(NamedTuple, Generic[_ArrayT]):
    """Of unique_counts()."""

    values: _ArrayT
    counts: GPUArray[np.int64]


class UniqueInverseResult(NamedTuple, Generic[_ArrayT]):
    """Of unique_inverse()."""

    values: _ArrayT
    inverse_indices: GPUArray[np.int64]
