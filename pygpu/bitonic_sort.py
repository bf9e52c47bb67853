"""Sorting arrays in place along an axis, by PyOpenCL's name. `pygpu.array` has ``sort`` and
``argsort``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygpu._src.array import sort
from pygpu._src.array.advanced_indexing import take_along_axis

__all__ = ["BitonicSort"]


class BitonicSort:
    """Sorts an array in place, and a second one in the same way.

    context: an OpenCL or CUDA context. Lengths need not be powers of two. The algorithm is that of
    argsort, so items that are equal keep their order.
    """

    def __init__(self, context: Any = None) -> None:
        self.context = context

    def __repr__(self) -> str:
        return f"<pygpu.bitonic_sort.BitonicSort in {self.context or 'the current CUDA context'}>"

    def __call__(
        self,
        arr: Any,
        idx: Any = None,
        queue: Any = None,
        wait_for: Sequence[Any] | None = None,
        axis: int = 0,
    ) -> tuple[Any, Any]:
        """Sort *arr* along an axis, and *idx*, of the same shape, along with it. Returns (arr,
        event).

        Raises TypeError for dtypes that devices do not sort, ValueError if the shapes differ.
        """
        for array in (arr, *(() if idx is None else (idx,))):
            if getattr(array, "backend", None) is None:
                raise TypeError(
                    f"BitonicSort: an array on the device is needed, not {type(array).__name__}"
                )
        if idx is not None and idx.shape != arr.shape:
            raise ValueError(
                f"BitonicSort: idx must have the shape of arr, {arr.shape}, not {idx.shape}"
            )
        backend, queue = arr.backend, arr.queue if queue is None else queue
        if wait_for:
            backend.event(queue, wait_for)
        if arr.size:
            if idx is None:
                arr._copy_from(sort.sort(arr, axis), queue)
            else:
                order = sort.argsort(arr, axis)
                new, moved = take_along_axis(arr, order, axis), take_along_axis(idx, order, axis)
                arr._copy_from(new, queue)
                idx._copy_from(moved, queue)
        return arr, None if backend.name == "cuda" else backend.event(queue, arr.events)
