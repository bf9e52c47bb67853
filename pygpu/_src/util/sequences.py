"""Sequences from callers: any iterable except endless ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def as_list(items: Iterable[T], call: str, name: str, most: int = 1 << 16) -> list[T]:
    """Return the items of the argument *name* of *call*. Raises TypeError if it is not a sequence,
    ValueError if there are more than *most*."""
    try:
        given = iter(items)
    except TypeError:
        raise TypeError(f"{call}: {name} must be a sequence, not {type(items).__name__}") from None
    found: list[T] = []
    for item in given:
        if len(found) == most:
            raise ValueError(f"{call}: {name} has more than {most} entries")
        found.append(item)
    return found
