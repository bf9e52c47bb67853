"""The items of an array as one axis, whatever its strides: ``a.flat``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pygpu._array import GPUArray

from . import primitives
from .routines import manipulation


class Flat:
    """The items of an array in C order, to read and to set by one index: ``a.flat[::2] = 0``.

    Indexing returns copies, as NumPy's does. It is an iterator, too: ``next(a.flat)``.
    """

    __slots__ = ("_items", "base")

    def __init__(self, base: Any) -> None:
        self.base = base
        self._items: Iterator[Any] | None = None

    def __len__(self) -> int:
        size: int = self.base.size
        return size

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._items is None:
            self._items = iter(primitives.flat(self.base))
        return next(self._items)

    def __getitem__(self, key: Any) -> Any:
        found = primitives.flat(self.base)[key]
        return found._copy() if found.base_data is self.base.base_data else found

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set items to a number, or to items in turn, again from the first after the last."""
        items = primitives.flat(self.base)
        if np.ndim(value):
            value = self._as_many(value, items[key])
        items[key] = value
        if items.base_data is not self.base.base_data:
            self.base[...] = items.reshape(self.base.shape)

    def _as_many(self, value: Any, selected: Any) -> Any:
        if not isinstance(value, GPUArray):
            value = primitives.as_array(self.base, value, call="flat")
        value = primitives.flat(value)
        if value.size == 0 and selected.size:
            raise ValueError(f"flat: cannot set {selected.size} items from an empty array")
        if value.size < selected.size:
            value = manipulation.tile(value, -(-selected.size // value.size))
        return value[: selected.size].reshape(selected.shape)

    def copy(self) -> Any:
        """A copy of the array with one axis."""
        return self.base.flatten()
