"""Named tuples of results, as NumPy and the array API standard call them."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult"]


class UniqueAllResult(NamedTuple):
    """Of unique_all()."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """Of unique_counts()."""

    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """Of unique_inverse()."""

    values: Any
    inverse_indices: Any
