"""Random numbers on CUDA devices, under the names of PyCUDA's wrappers of cuRAND.

::

    numbers = rand((1000,))
    generator = XORWOWRandomNumberGenerator()
    z = generator.gen_normal(10000, np.float32)

The kernels are pygpu's own, so cuRAND need not be installed. The pseudorandom generators are all
Philox 4x32, whatever their name, and do not reproduce cuRAND's numbers. The quasirandom ones are
Sobol sequences.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu._src.array.cuda_array import GPUArray, to_gpu
from pygpu._src.array.cuda_functions import stream_of
from pygpu._src.codegen.dtypes import code
from pygpu._src.runtime import kernel_cache
from pygpu._src.runtime.backends import backend_of
from pygpu._src.runtime.cuda.md5 import md5_code
from pygpu._src.user_kernels.curand_state import make_states
from pygpu._src.user_kernels.random import Generator, real
from pygpu._src.user_kernels.random_source import poisson_text, sobol_text
from pygpu._src.user_kernels.sobol import direction_numbers
from pygpu._src.util.overloads import overloads_of
from pygpu._src.util.public import publish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex, TypeAlias, TypeVar

    from numpy.typing import DTypeLike

    from pygpu import _cuda
    from pygpu._src.array.array_types import _DType

    _ScalarT = TypeVar("_ScalarT", bound=np.generic)
    _Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
    _Stream: TypeAlias = _cuda.Stream | None

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "md5_code",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]

_MASK64 = (1 << 64) - 1
_MOST_DIMENSIONS = 20000


def get_curand_version() -> tuple[int, int, int]:
    """Return the version of cuRAND whose interface this module has."""
    return (10, 0, 0)


class direction_vector_set:  # noqa: N801 - PyCUDA's name
    """The kinds of direction vectors that generate_direction_vectors makes."""

    VECTOR_32 = 101
    SCRAMBLED_VECTOR_32 = 102
    VECTOR_64 = 103
    SCRAMBLED_VECTOR_64 = 104


@overload
def rand(
    shape: _Shape, dtype: type[np.float32] = ..., stream: _Stream = None
) -> GPUArray[np.float32]: ...
@overload
def rand(shape: _Shape, dtype: _DType[_ScalarT], stream: _Stream = None) -> GPUArray[_ScalarT]: ...
@overload
def rand(shape: _Shape, dtype: DTypeLike, stream: _Stream = None) -> GPUArray[Any]: ...
def rand(shape: Any, dtype: Any = np.float32, stream: Any = None) -> GPUArray[Any]:
    """Return a new array of numbers uniform in [0, 1) for float32 or float64, or of random bits
    for integers."""
    result = GPUArray(shape, dtype)
    kind = "uniform" if result.dtype.kind in "fc" else "bits"
    Generator("philox").fill(result, kind, queue=stream_of(stream, "rand"), call="rand")
    return result


def _random_bits(n: int, dtype: Any) -> GPUArray:
    """Return *n* items of random bits; allocates first, so that too many raise an error."""
    result = GPUArray(n, dtype)
    result.set(np.frombuffer(secrets.token_bytes(result.nbytes), dtype).reshape(result.shape))
    return result


def seed_getter_uniform(n: int) -> GPUArray:
    """*n* times the same random seed, int32."""
    return GPUArray(n, np.int32).fill(secrets.randbits(31))


def seed_getter_unique(n: int) -> GPUArray:
    """*n* random seeds, int32, not negative."""
    return _random_bits(n, np.int32) & 0x7FFFFFFF


def generate_direction_vectors(count: int, direction: Any = None) -> GPUArray:
    """Direction vectors for *count* dimensions: shape (count, 32) uint32, or (count, 64) uint64
    for the sets of 64 bits. Raises ValueError for more than 20000 dimensions, which cuRAND has."""
    if not isinstance(count, (int, np.integer)):
        raise TypeError(
            f"generate_direction_vectors: count must be an int, not {type(count).__name__}"
        )
    if not 0 <= count <= _MOST_DIMENSIONS:
        raise ValueError(
            f"generate_direction_vectors: count must be from 0 to {_MOST_DIMENSIONS}, not {count}"
        )
    wide = direction in (direction_vector_set.VECTOR_64, direction_vector_set.SCRAMBLED_VECTOR_64)
    return to_gpu(direction_numbers(count, 64 if wide else 32))


def generate_scramble_constants32(count: int) -> GPUArray:
    """Random constants for *count* dimensions, uint32."""
    return _random_bits(count, np.uint32)


def generate_scramble_constants64(count: int) -> GPUArray:
    """Random constants for *count* dimensions, uint64."""
    return _random_bits(count, np.uint64)


class Distributions:
    """The common base of the generators. ``gen_`` methods return a new array, ``fill_`` methods
    fill one.

    They raise TypeError for dtypes that a distribution does not support.
    """

    has_box_muller = False

    def __init__(self) -> None:
        limits = backend_of(None).limits
        self.block_count: int = limits.units
        self.generators_per_block: int = min(256, limits.group_size)

    def __repr__(self) -> str:
        cls = type(self)
        count = self.block_count * self.generators_per_block
        return f"<{cls.__module__}.{cls.__qualname__} of {count} generators>"

    def _seeds_of(self, seed_getter: Any) -> Any:
        """Return the seeds from seed_getter, one for each state."""
        count = self.block_count * self.generators_per_block
        if not callable(seed_getter):
            raise TypeError(
                f"{type(self).__name__}: seed_getter must be a function of a count, such as "
                f"seed_getter_uniform, not {type(seed_getter).__name__}"
            )
        seeds = seed_getter(count)
        if getattr(seeds, "dtype", None) != np.int32 or seeds.size != count:
            raise TypeError(
                f"{type(self).__name__}: seed must be GPUArray of integers of right length "
                f"({count} of int32)"
            )
        return seeds

    @property
    def state(self) -> Any:
        """cuRAND's states in device memory, made at the first access; the pseudorandom generators
        have them."""
        raise NotImplementedError(
            f"{type(self).__name__}.state: quasi-random numbers are computed from their index and "
            "have no states; use the methods gen_... and fill_..."
        )

    def _fill(
        self, data: Any, kind: str, scale: float, shift: float, stream: Any, call: str
    ) -> None:
        raise NotImplementedError

    def _check_offset(self, offset: Any) -> None:
        if not isinstance(offset, (int, np.integer)):
            raise TypeError(
                f"{type(self).__name__}: offset must be an int, not {type(offset).__name__}"
            )
        if offset < 0:
            raise ValueError(f"{type(self).__name__}: offset must be at least 0, not {offset}")

    def fill_uniform(self, data: Any, stream: Any = None) -> None:
        """Fill with numbers uniform in [0, 1), or with random bits if *data* has an integer
        dtype."""
        if getattr(data, "backend", None) is None:
            kind = type(data).__name__
            raise TypeError(f"fill_uniform: an array on the device is needed, not {kind}")
        kind = "bits" if data.dtype.kind in "iu" else "uniform"
        self._fill(data, kind, 1.0, 0.0, stream, "fill_uniform")

    def fill_normal(self, data: Any, stream: Any = None) -> None:
        """Fill with normally distributed numbers of mean 0 and deviation 1."""
        self._fill(data, "normal", 1.0, 0.0, stream, "fill_normal")

    def fill_log_normal(self, data: Any, mean: float, stddev: float, stream: Any = None) -> None:
        """Fill with numbers whose logarithm has this mean and standard deviation."""
        call = "fill_log_normal"
        shift, scale = real(mean, "mean", call), real(stddev, "stddev", call)
        self._fill(data, "log_normal", scale, shift, stream, call)

    def fill_poisson(
        self, data: Any, lambda_value: float | None = None, stream: Any = None
    ) -> None:
        """Fill with Poisson-distributed numbers with this mean; by default, each item is the mean
        of the number that replaces it."""
        if getattr(data, "backend", None) is None or data.dtype.kind not in "iuf":
            raise TypeError("fill_poisson: an array of numbers on the device is needed")
        if not (data._c_contiguous or data._f_contiguous):
            raise ValueError("fill_poisson: the array must be contiguous")
        name, in_place = code(data.dtype), lambda_value is None
        if name == "f16":
            raise TypeError("fill_poisson: float16 is not supported")
        if lambda_value is not None:
            lambda_value = real(lambda_value, "lambda_value", "fill_poisson")
            if not 0 <= lambda_value < math.inf:
                raise ValueError(
                    f"fill_poisson: lambda_value must be at least 0, not {lambda_value}"
                )
        backend = data.backend
        kernel = kernel_cache.get(
            backend,
            ("random", "poisson", name, in_place),
            lambda: poisson_text(name, in_place),
            exact=False,
        )
        generator = self._philox()
        counter = generator.counter
        generator.counter = (counter + data.size) & ((1 << 128) - 1)
        groups, size = kernel_cache.grid(backend, data.size)
        key = generator.key[0] | generator.key[1] << 32
        numbers = (data.size, counter & _MASK64, counter >> 64, key)
        args = (data.base_data, data.offset, *numbers, float(lambda_value or 0))
        queue = stream_of(stream, "fill_poisson") or data.queue
        data.backend.wait_list(queue, [data])
        backend.launch(kernel, queue, groups if data.size else 0, size, args)

    def _philox(self) -> Generator:
        raise NotImplementedError

    @overload
    def gen_uniform(
        self, shape: _Shape, dtype: _DType[_ScalarT], stream: _Stream = None
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def gen_uniform(
        self, shape: _Shape, dtype: DTypeLike, stream: _Stream = None
    ) -> GPUArray[Any]: ...
    def gen_uniform(self, shape: Any, dtype: Any, stream: Any = None) -> GPUArray[Any]:
        """A new array filled by fill_uniform."""
        result = GPUArray(shape, dtype)
        self.fill_uniform(result, stream)
        return result

    @overloads_of(gen_uniform)
    def gen_normal(self, shape: Any, dtype: Any, stream: Any = None) -> GPUArray[Any]:
        """A new array filled by fill_normal."""
        result = GPUArray(shape, dtype)
        self.fill_normal(result, stream)
        return result

    def gen_log_normal(
        self, shape: Any, dtype: Any, mean: float, stddev: float, stream: Any = None
    ) -> GPUArray:
        """A new array filled by fill_log_normal."""
        result = GPUArray(shape, dtype)
        self.fill_log_normal(result, mean, stddev, stream)
        return result

    def gen_poisson(
        self, shape: Any, dtype: Any, lambda_value: float, stream: Any = None
    ) -> GPUArray:
        """A new array filled by fill_poisson."""
        if lambda_value is None:
            raise TypeError("gen_poisson: lambda_value must be a number, not None")
        result = GPUArray(shape, dtype)
        self.fill_poisson(result, lambda_value, stream)
        return result

    def _skip(self, blocks: int) -> None:
        raise NotImplementedError

    def call_skip_ahead(self, i: int, stream: Any = None) -> None:
        """Skip the next *i* numbers of each of the generators that cuRAND would run in parallel."""
        self._skip(int(i) * self.block_count * self.generators_per_block)

    def call_skip_ahead_array(self, i: Any, stream: Any = None) -> None:
        """The same; *i* is an array with a number for each generator, of which the largest
        counts."""
        self.call_skip_ahead(int(i.get().max()))


class _PseudoRandomNumberGenerator(Distributions):
    """Pseudorandom numbers.

    seed_getter: a function of a count that returns an int32 array of as many seeds, such as
    seed_getter_uniform; random seeds by default. offset: how many numbers are skipped at the
    start.
    """

    has_box_muller = True
    _state_type = ""

    def __init__(self, seed_getter: Any = None, offset: int = 0) -> None:
        super().__init__()
        self._check_offset(offset)
        self._state: Any = None
        self._seeds: Any = None
        self._offset = offset
        if seed_getter is None:
            self._generator = Generator("philox")
            self._generator.counter = 0
        else:
            self._seeds = seeds = self._seeds_of(seed_getter)
            words = np.asarray(seeds.get()).ravel().view(np.uint32).tolist()
            state = np.random.SeedSequence(words).generate_state(2)
            self._generator = Generator("philox", [int(word) for word in state], 0)
        self._skip(offset)

    @property
    def state(self) -> Any:
        """Memory with block_count * generators_per_block states of cuRAND's generator of this
        kind, for kernels that include ``curand_kernel.h``. They are made from the seeds at the
        first access, and are not used by the methods of this object."""
        if self._state is None:
            count = self.block_count * self.generators_per_block
            if self._seeds is None:
                self._seeds = seed_getter_uniform(count)
            self._state = make_states(
                *(self._state_type, self.block_count, self.generators_per_block),
                *(self._seeds, self._offset),
            )
        return self._state

    def _philox(self) -> Generator:
        return self._generator

    def _fill(
        self, data: Any, kind: str, scale: float, shift: float, stream: Any, call: str
    ) -> None:
        self._generator.fill(data, kind, scale, shift, stream_of(stream, call), call)

    def _skip(self, blocks: int) -> None:
        self._generator.counter = (self._generator.counter + blocks) & ((1 << 128) - 1)

    def call_skip_ahead_sequence(self, i: int, stream: Any = None) -> None:
        """Skip *i* whole sequences, of 2**67 numbers each."""
        self._skip(int(i) << 67)

    def call_skip_ahead_sequence_array(self, i: Any, stream: Any = None) -> None:
        """The same; *i* is an array with a number for each generator, of which the largest
        counts."""
        self.call_skip_ahead_sequence(int(i.get().max()))


class XORWOWRandomNumberGenerator(_PseudoRandomNumberGenerator):
    """cuRAND's default generator, by name. seed_getter, offset: see seed_getter_uniform."""

    _state_type = "curandStateXORWOW"
    generator_bits = 32


class MRG32k3aRandomNumberGenerator(_PseudoRandomNumberGenerator):
    """cuRAND's combined multiple recursive generator, by name."""

    _state_type = "curandStateMRG32k3a"
    generator_bits = 32

    def call_skip_ahead_subsequence(self, i: int, stream: Any = None) -> None:
        """Skip *i* subsequences, of 2**67 numbers each."""
        self._skip(int(i) << 67)

    def call_skip_ahead_subsequence_array(self, i: Any, stream: Any = None) -> None:
        """The same; *i* is an array with a number for each generator, of which the largest
        counts."""
        self.call_skip_ahead_subsequence(int(i.get().max()))


class _SobolRandomNumberGenerator(Distributions):
    """Quasirandom numbers: item i of an array is number i // dims of dimension i % dims.

    dir_vector: an array of shape (dims, 32 or 64) from generate_direction_vectors; one dimension
    by default. offset: how many numbers of each dimension are skipped at the start.
    """

    generator_bits = 32
    _scrambled = False

    def __init__(self, dir_vector: Any = None, offset: int = 0) -> None:
        super().__init__()
        self._set_up(dir_vector, None, offset)

    def _set_up(self, dir_vector: Any, scramble: Any, offset: int) -> None:
        bits = self.generator_bits
        dtype = np.dtype(np.uint32 if bits == 32 else np.uint64)
        name = type(self).__name__
        self._check_offset(offset)
        if dir_vector is None:
            dir_vector = to_gpu(direction_numbers(1, bits))
        fits = getattr(dir_vector, "dtype", None) == dtype
        if not fits or dir_vector.size % bits or dir_vector.size == 0:
            raise TypeError(
                f"{name}: dir_vector must be an array of {dtype}, {bits} for a dimension"
            )
        self._dims = dir_vector.size // bits
        if self._scrambled and scramble is None:
            make = generate_scramble_constants32 if bits == 32 else generate_scramble_constants64
            scramble = make(self._dims)
        if self._scrambled and (scramble.dtype != dtype or scramble.size != self._dims):
            raise TypeError(f"{name}: scramble_vector must be an array of {self._dims} {dtype}")
        self._directions, self._scramble = dir_vector, scramble
        self._start = offset
        self._other = Generator("philox", None, 0)

    def _philox(self) -> Generator:
        return self._other

    def _fill(
        self, data: Any, kind: str, scale: float, shift: float, stream: Any, call: str
    ) -> None:
        item, word = code(data.dtype), f"u{self.generator_bits}"
        wanted = ("i32", "u32", "i64", "u64") if kind == "bits" else ("f32", "f64")
        if item not in wanted or (kind == "bits" and item[1:] == "64" and word == "u32"):
            raise TypeError(f"{call}: {type(self).__name__} does not support {data.dtype}")
        if not (data._c_contiguous or data._f_contiguous):
            raise ValueError(f"{call}: the array must be contiguous")
        backend, n = data.backend, data.size
        kernel = kernel_cache.get(
            backend,
            ("random", "sobol", kind, item, word, self._scrambled),
            lambda: sobol_text(kind, item, word, self._scrambled),
            exact=False,
        )
        directions = self._directions
        scramble = self._scramble if self._scrambled else directions
        groups, size = kernel_cache.grid(backend, n)
        args = (
            *(data.base_data, data.offset, n),
            *(directions.base_data, directions.offset, scramble.base_data, scramble.offset),
            *(self._dims, self._start, float(scale), float(shift)),
        )
        queue = stream_of(stream, call) or data.queue
        data.backend.wait_list(queue, [data])
        backend.launch(kernel, queue, groups if n else 0, size, args)
        self._start += -(-n // self._dims)

    def _skip(self, blocks: int) -> None:
        self._start += blocks // (self.block_count * self.generators_per_block)


class Sobol32RandomNumberGenerator(_SobolRandomNumberGenerator):
    """32-bit Sobol sequences. dir_vector, offset: see generate_direction_vectors."""


class Sobol64RandomNumberGenerator(_SobolRandomNumberGenerator):
    """64-bit Sobol sequences."""

    generator_bits = 64


class ScrambledSobol32RandomNumberGenerator(_SobolRandomNumberGenerator):
    """32-bit Sobol sequences, each dimension scrambled by a constant. scramble_vector: these
    constants; random by default."""

    _scrambled = True

    def __init__(
        self, dir_vector: Any = None, scramble_vector: Any = None, offset: int = 0
    ) -> None:
        Distributions.__init__(self)
        self._set_up(dir_vector, scramble_vector, offset)


class ScrambledSobol64RandomNumberGenerator(ScrambledSobol32RandomNumberGenerator):
    """The same with 64 bits."""

    generator_bits = 64


publish(globals(), __all__, "pygpu.cuda.curandom")
