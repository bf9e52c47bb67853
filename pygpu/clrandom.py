"""Random numbers on OpenCL devices: counter-based generators that give the same numbers everywhere.

::

    numbers = PhiloxGenerator(context, seed=17).uniform(queue, (1000,), np.float32)

Numbers are uniform in [a, b) or normal; float32, float64, complex numbers and vectors of them, and,
if uniform, integers.
"""

from __future__ import annotations

import random as _random
import threading
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu import _opencl
from pygpu._src.user_kernels.random import Generator, item_dtype, numbers_of_block, real
from pygpu._src.util.memoize import first_arg_dependent_memoize

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex, TypeAlias, TypeVar

    from numpy.typing import DTypeLike

    from pygpu import _cuda
    from pygpu._src.array.array_types import GPUArray, _DType
    from pygpu._src.array.opencl_array import Array

    _ScalarT = TypeVar("_ScalarT", bound=np.generic)
    _Queue: TypeAlias = _opencl.CommandQueue | _cuda.Stream | None
    _Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]

__all__ = ["PhiloxGenerator", "ThreefryGenerator", "fill_rand", "rand"]


class _CounterGenerator:
    """Random numbers from a key and a counter.

    context: an OpenCL Context, or a queue, or None for CUDA. key: 32-bit words (one for Philox,
    three for Threefry). counter: four 32-bit words, the lowest first. seed: determines whichever of
    them is missing; by default from the operating system. Threads may share a generator; then it is
    not determined which numbers each thread gets.
    """

    context: Any
    key: Any

    _name = ""
    key_length = 2
    generator_name: str  # as in PyOpenCL, of the functions that the header has for programs
    header_name: str

    def __init__(
        self,
        context: Any = None,
        key: Any = None,
        counter: Any = None,
        seed: Any = None,
    ) -> None:
        if key is not None and counter is not None and seed is not None:
            raise TypeError(
                f"{type(self).__name__}: seed is unused if both counter and key are given"
            )
        source: Any = _random.SystemRandom() if seed is None else _random.Random(seed)
        if key is None:
            key = [source.getrandbits(32) for _ in range(self.key_length - 1)]
        if counter is None:
            counter = [source.getrandbits(32) for _ in range(4)]
        key, counter = [int(word) for word in key], [int(word) for word in counter]
        if len(key) > self.key_length or len(counter) > 4:
            raise ValueError(
                f"{type(self).__name__}: a key has {self.key_length - 1} words and a counter 4, "
                "not "
                f"{len(key)} and {len(counter)}"
            )
        self.context, self.key = context, key
        number = sum((word & 0xFFFFFFFF) << 32 * k for k, word in enumerate(counter))
        self._generator = Generator(self._name, key, number)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        state = f"key={self.key}, counter={self.counter}"
        return f"<pygpu.clrandom.{type(self).__name__} {state}>"

    @property
    def counter(self) -> list[int]:
        """The counter of the next block, four words, the lowest first."""
        number = self._generator.counter
        return [number >> 32 * k & 0xFFFFFFFF for k in range(4)]

    def _fill(
        self, ary: Any, kind: str, scale: Any, shift: Any, queue: Any, call: str
    ) -> _opencl.Event:
        with self._lock:
            event: _opencl.Event = self._generator.fill(ary, kind, scale, shift, queue, call)
        return event

    def fill_uniform(
        self, ary: GPUArray[Any], a: float = 0, b: float = 1, queue: _Queue = None
    ) -> _opencl.Event:
        """Fill an array with numbers from *a* to below *b*; integers for an array of integers.
        Returns an Event. Raises TypeError for other dtypes, ValueError if there is no such
        integer."""
        item = item_dtype(ary.dtype, "fill_uniform")[0] if hasattr(ary, "dtype") else None
        if item is not None and item.kind in "iu":
            real(a, "a", "fill_uniform"), real(b, "b", "fill_uniform")
            limits = np.iinfo(item)
            if a < limits.min or b - 1 > limits.max:
                raise OverflowError(f"fill_uniform: {a} to {b} do not fit into {item}")
            return self._fill(ary, "integer", int(b) - int(a), int(a), queue, "fill_uniform")
        low, high = real(a, "a", "fill_uniform"), real(b, "b", "fill_uniform")
        return self._fill(ary, "uniform", high - low, low, queue, "fill_uniform")

    def uniform(self, *args: Any, a: float = 0, b: float = 1, **kwargs: Any) -> GPUArray[Any]:
        """A new array, of the arguments that pygpu.array.Array takes, filled by fill_uniform."""
        result = _empty(args, kwargs)
        self.fill_uniform(result, a, b)
        return result

    def fill_normal(
        self, ary: GPUArray[Any], mu: float = 0, sigma: float = 1, queue: _Queue = None
    ) -> _opencl.Event:
        """Fill an array with normally distributed numbers of mean *mu* and standard deviation
        *sigma*. Returns an Event. Raises TypeError for arrays of integers."""
        mean, deviation = real(mu, "mu", "fill_normal"), real(sigma, "sigma", "fill_normal")
        return self._fill(ary, "normal", deviation, mean, queue, "fill_normal")

    def normal(self, *args: Any, mu: float = 0, sigma: float = 1, **kwargs: Any) -> GPUArray[Any]:
        """A new array, of the arguments that pygpu.array.Array takes, filled by fill_normal."""
        result = _empty(args, kwargs)
        self.fill_normal(result, mu, sigma)
        return result

    def get_gen_kernel(self, dtype: Any, distribution: str) -> tuple[Any, int, int]:
        """A kernel that fills memory with numbers of a dtype, for the caller's own key and counter,
        as in PyOpenCL. distribution: "uniform" or "normal".

        Returns a callable; by how much a counter has to rise for each item; and how many numbers an
        item has. ``callable(queue, None, None, *key, *counter, data, count, scale, shift)`` writes
        *count* numbers to *data* (a Buffer, SVM, ...): with scale 1 and shift 0 what fill_uniform()
        and fill_normal() of a generator with this key and counter would. It returns an Event."""
        dtype = np.dtype(dtype)
        item, each = item_dtype(dtype, "get_gen_kernel")
        whole = item.kind in "iu"
        if distribution not in (("uniform",) if whole else ("uniform", "normal")):
            raise ValueError(
                f"get_gen_kernel: distribution {distribution!r} of {dtype} is not supported; pass "
                f"{'uniform' if whole else 'uniform or normal'}"
            )
        kind = "integer" if whole else distribution
        return _GenKernel(self, kind, item), -(-each // numbers_of_block(kind, item)), each


class _GenKernel:
    """The kernel that get_gen_kernel() returns."""

    def __init__(self, generator: _CounterGenerator, kind: str, item: np.dtype[Any]) -> None:
        self._name, self._keys = generator._name, generator.key_length - 1
        self._kind, self._item = kind, item

    def __call__(
        self, queue: Any, global_size: Any, local_size: Any, *args: Any, wait_for: Any = None
    ) -> Any:
        """Fill *data*; the sizes are ours to choose, so those given are not used."""
        from pygpu.array import Array

        if len(args) != self._keys + 8:
            raise TypeError(
                f"get_gen_kernel's callable needs {self._keys} words of the key, 4 of the counter, "
                f"data, count, scale and shift: {self._keys + 8} arguments, not {len(args)}"
            )
        key, counter = args[: self._keys], args[self._keys : self._keys + 4]
        data, count, scale, shift = args[self._keys + 4 :]
        number = sum((int(word) & 0xFFFFFFFF) << 32 * k for k, word in enumerate(counter))
        array = Array(queue, (int(count),), self._item, data=data)
        return Generator(self._name, [int(k) for k in key], number).fill(
            array, self._kind, scale, shift, queue, "get_gen_kernel", wait_for
        )


class PhiloxGenerator(_CounterGenerator):
    """Philox 4x32 with ten rounds. key: one word."""

    __doc__ = f"{__doc__}\n{_CounterGenerator.__doc__}"
    _name = "philox"
    key_length = 2
    generator_name = "philox4x32"
    header_name = "pyopencl-random123/philox.cl"


class ThreefryGenerator(_CounterGenerator):
    """Threefry 4x32 with twenty rounds. key: three words."""

    __doc__ = f"{__doc__}\n{_CounterGenerator.__doc__}"
    _name = "threefry"
    key_length = 4
    generator_name = "threefry4x32"
    header_name = "pyopencl-random123/threefry.cl"


def _empty(args: tuple[Any, ...], kwargs: dict[str, Any]) -> GPUArray[Any]:
    if (args and isinstance(args[0], _opencl.CommandQueue)) or "cq" in kwargs:
        from pygpu.array import Array

        return Array(*args, **kwargs)
    from pygpu.cuda.gpuarray import GPUArray

    return GPUArray(*args[1:], **kwargs)


@first_arg_dependent_memoize
def _generator_of(context: Any) -> PhiloxGenerator:
    return PhiloxGenerator(context)


def fill_rand(result: GPUArray[Any], queue: _Queue = None, a: float = 0, b: float = 1) -> None:
    """Fill an array with numbers from *a* to below *b*."""
    if not hasattr(result, "backend"):
        raise TypeError(
            f"fill_rand: result must be an array on the device, not {type(result).__name__}"
        )
    queue = result.queue if queue is None else queue
    _generator_of(result.backend.context).fill_uniform(result, a, b, queue)


@overload
def rand(
    queue: _opencl.CommandQueue,
    shape: _Shape,
    dtype: _DType[_ScalarT],
    luxury: Any = None,
    a: float = 0,
    b: float = 1,
) -> Array[_ScalarT]: ...
@overload
def rand(
    queue: _opencl.CommandQueue,
    shape: _Shape,
    dtype: DTypeLike,
    luxury: Any = None,
    a: float = 0,
    b: float = 1,
) -> Array[Any]: ...
@overload
def rand(
    queue: _cuda.Stream | None,
    shape: _Shape,
    dtype: DTypeLike,
    luxury: Any = None,
    a: float = 0,
    b: float = 1,
) -> GPUArray[Any]: ...
def rand(queue: Any, shape: Any, dtype: Any, luxury: Any = None, a: Any = 0, b: Any = 1) -> Any:
    """A new array of numbers from *a* to below *b*. luxury is not used."""
    result = _empty((queue, shape, dtype), {})
    fill_rand(result, a=a, b=b)
    return result
