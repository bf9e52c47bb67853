"""Random numbers into arrays: one generator object, one launch per array.

A :class:`Generator` has a key and a counter; filling an array of n items uses the next blocks of
the counter. So the numbers depend on key, counter and the sizes of the arrays filled so far, but
not on the device.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from pygpu import _array
from pygpu._src.codegen import dtypes
from pygpu._src.runtime import kernel_cache

from .random_source import blocks_at_once, distribution, fill_text

_MASK64 = (1 << 64) - 1
_SMALL, _LARGE = 1e-30, float(1 << 60)  # a power of two, with which products are exact


def item_dtype(dtype: np.dtype[Any], call: str) -> tuple[np.dtype[Any], int]:
    """Return the real dtype of which items consist, and how many make an item: complex numbers and
    vectors are several numbers."""
    if dtype.kind == "c":
        return np.dtype(np.float32 if dtype.itemsize == 8 else np.float64), 2
    if dtype.names is not None:
        from pygpu._src.runtime.opencl.vector_types import vec_type_to_scalar_and_count

        vector_types: Any = vec_type_to_scalar_and_count
        if dtype in vector_types:
            scalar = np.dtype(vector_types[dtype][0])
            return scalar, dtype.itemsize // scalar.itemsize
    if dtype.kind not in "fiu" or dtype.itemsize > 8:
        raise TypeError(f"{call}: random numbers of dtype {dtype} are not supported")
    return dtype, 1


def real(value: Any, name: str, call: str) -> float:
    """Return a parameter of a distribution as a float. Raises TypeError for anything but a number,
    also for a str, which float() would parse."""
    if isinstance(value, (float, int, np.number, np.ndarray)) and not np.iscomplexobj(value):
        try:
            return float(value)
        except TypeError:
            pass  # an array with several items
    raise TypeError(f"{call}: {name} must be a real number, not {value!r}")


def numbers_of_block(kind: str, item: np.dtype[Any]) -> int:
    """Return how many numbers of a dtype one step of the counter gives."""
    return distribution(kind, dtypes.code(item))[0]


def _width(kind: str, scale: Any, shift: Any, call: str) -> int:
    """Return the number of integers from *shift* on, or 2**64 - 1 for 2**64."""
    if kind == "integer" and not 0 < int(scale) <= 1 << 64:
        raise ValueError(f"{call}: there is no integer from {shift} to below {shift + scale}")
    return min(int(scale), _MASK64)


class Generator:
    """A counter-based generator. name: "philox" or "threefry". key: four 32-bit words (Philox uses
    two). counter: a 128-bit number, the next block."""

    def __init__(self, name: str, key: Any = None, counter: int | None = None) -> None:
        self.name = name
        words = [secrets.randbits(32) for _ in range(4)] if key is None else [int(k) for k in key]
        self.key = [word & 0xFFFFFFFF for word in words] + [0] * (4 - len(words))
        self.counter = secrets.randbits(127) if counter is None else counter

    def __repr__(self) -> str:
        cls = type(self)
        return f"<{cls.__module__}.{cls.__qualname__} {self.name!r}, at block {self.counter}>"

    def fill(
        self,
        array: Any,
        kind: str,
        scale: Any = 1,
        shift: Any = 0,
        queue: Any = None,
        call: str = "fill",
        wait_for: Any = None,
    ) -> Any:
        """Fill an array (any strides). kind, scale, shift: as in random_text. Returns the event."""
        if getattr(array, "backend", None) is None:
            raise TypeError(f"{call}: an array on the device is needed, not {type(array).__name__}")
        number: Any = float
        if kind in ("integer", "bounded"):
            number, scale = int, _width(kind, scale, shift, call)
        backend, queue = array.backend, array.queue if queue is None else queue
        if -_SMALL < scale < _SMALL:
            is_filled = self._fill_small(array, kind, scale, shift, queue, call, wait_for)
            if is_filled:
                return array.events[-1] if array.events else None
        # A block has at least 4 bytes; and a launch fewer than 2**28 + 256 work-items.
        carries = (self.counter & 0xFFFFFFFF) + (array.nbytes >> 2) > 0xE0000000
        key = "filling", self.name, kind, array.dtype, carries
        cached = backend.kernels.get(key)
        if cached is None:
            cached = backend.kernels[key] = self._prepare(backend, key, call)
        kernel, per_block, each, rule = cached
        n = array.size * each
        blocks = -(-n // per_block)
        counter = self.counter
        self.counter = (counter + blocks) & ((1 << 128) - 1)
        numbers = (
            counter & _MASK64,
            counter >> 64,
            self.key[0] | self.key[1] << 32,
            self.key[2] | self.key[3] << 32,
            number(scale),
            number(shift),
        )
        if each == 1 and not wait_for and queue is array.queue:
            if _array._call(key, *numbers, out=array) is not None:
                return array.events[-1] if array.events else None
        target = array
        if not (array._c_contiguous or array._f_contiguous) or not array._is_aligned:
            target = array._new(array.shape, array.dtype, None, queue)
        per_group, most, size = rule
        groups = min(-(-n // per_group), most)
        args = (target.base_data, target.offset, *numbers, n)
        waits = array.backend.wait_list(queue, [target])
        if wait_for:
            waits = [*(waits or ()), *wait_for]
        event = backend.launch(kernel, queue, groups if n else 0, size, args, wait_for=waits)
        array.backend.note_event(queue, event, [target], ())
        if target is not array:
            array._copy_from(target, queue)
        return event

    def _fill_small(
        self, array: Any, kind: str, scale: Any, shift: Any, queue: Any, call: str, wait_for: Any
    ) -> bool:
        """Fill with larger numbers, and divide: kernels of float32 multiply the scale by less than
        1, which would take digits of such a one. Returns whether that was necessary."""
        if kind not in ("normal", "rayleigh") or scale == 0 or not -1 < shift < 1:
            return False
        if array.dtype.char not in "fF" or queue is not array.queue:
            return False
        self.fill(array, kind, scale * _LARGE, shift * _LARGE, queue, call, wait_for)
        array *= np.float32(1 / _LARGE)
        return True

    def _prepare(
        self, backend: Any, key: tuple[Any, ...], call: str
    ) -> tuple[Any, int, int, tuple[int, int, int]]:
        """Return the kernel for a key of fill(), how many numbers a block of it makes, how many an
        item has, and kernel_cache.rule(). Raises TypeError if such numbers do not exist."""
        _, _, kind, dtype, carries = key
        item, each = item_dtype(dtype, call)
        if item.kind in "iu" and kind not in ("bits", "integer", "bounded"):
            raise TypeError(f"{call}: {kind} numbers are floats, and the array has {dtype}")
        if item.kind == "f" and item.itemsize == 2:
            raise TypeError(f"{call}: fill an array of float32 and convert it to float16")
        dtypes.require(backend, call, item)
        code = dtypes.code(item)
        kernel = kernel_cache.get(
            backend,
            ("random", self.name, kind, code, carries),
            lambda: fill_text(self.name, kind, code, backend.limits.is_cpu, carries),
            exact=False,
        )
        per_block = distribution(kind, code)[0]
        at_once = blocks_at_once(kind, code)
        per_group, most, size = kernel_cache.rule(backend, per_block * at_once)
        if backend.limits.warps:
            # Persistent groups: 3.0 TB/s of uniform numbers on an H100, instead of 2.2.
            most = min(most, backend.limits.units * 32 // at_once)
        whole = kind in ("integer", "bounded")
        kinds = (_array._KIND_INT,) * 4 + (_array._KIND_INT if whole else _array._KIND_FLOAT,) * 2
        if each == 1:
            backend.table.add(key, kinds, kernel, dtype, per_group, most, size)
        return kernel, per_block, each, (per_group, most, size)
