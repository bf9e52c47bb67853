"""Makers of PyCUDA's elementwise kernels that read arrays by texture references.

CUDA 12 removed these, so the kernels here take pointers; in place of a texture reference there is
an object to which an array can be bound, as before:

    kernel, (source,) = get_take_kernel(np.float32, np.int32)
    a.bind_to_texref_ext(source)
    kernel.prepared_call(grid, block, indices.gpudata, result.gpudata, indices.size)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.runtime.cuda.c_types import ScalarArg, VectorArg, dtype_to_ctype

from .cuda_elementwise import get_elwise_kernel
from .cuda_tools import context_dependent_memoize


class Source:
    """Memory that a kernel reads, in place of a texture reference."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.memory: Any = None

    def set_address(self, devptr: Any, bytes: int = 0, allow_offset: bool = False) -> int:
        """Read *devptr*, memory or an address, from now on. Returns 0, the offset in bytes."""
        self.memory = np.uintp(0) if devptr is None else devptr
        return 0

    def set_format(self, fmt: Any, num_components: int) -> None:
        """Has no effect: the kernel's own types are used."""

    def set_flags(self, flags: int) -> None:
        """Has no effect: the kernel's own types are used."""


class BoundKernel:
    """A prepared kernel whose first arguments are the arrays bound to its sources.

    The other arguments follow as for the Function. Raises ValueError if a source is not bound.
    """

    def __init__(self, function: Any, sources: Sequence[Source]) -> None:
        self.function = function
        self.sources = list(sources)

    def _memory(self) -> list[Any]:
        for source in self.sources:
            if source.memory is None:
                raise ValueError(
                    f"kernel {self.function.name!r}: nothing is bound to {source.name!r}: call "
                    "array.bind_to_texref_ext() with it first"
                )
        return [source.memory for source in self.sources]

    def prepared_call(self, grid: Any, block: Any, *args: Any, **kwargs: Any) -> None:
        """Launch on the default stream."""
        self.function.prepared_call(grid, block, *self._memory(), *args, **kwargs)

    def prepared_async_call(
        self, grid: Any, block: Any, stream: Any, *args: Any, **kwargs: Any
    ) -> None:
        """Launch on a stream."""
        self.function.prepared_async_call(grid, block, stream, *self._memory(), *args, **kwargs)

    def prepared_timed_call(self, grid: Any, block: Any, *args: Any, **kwargs: Any) -> Any:
        """Launch; returns a function that waits and returns the seconds."""
        return self.function.prepared_timed_call(grid, block, *self._memory(), *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch, with block= and grid=."""
        return self.function(*self._memory(), *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["function"], name)


def _vectors(dtype: Any, name: str, count: int) -> list[Any]:
    return [VectorArg(dtype, f"{name}{k}") for k in range(count)]


def _bound(
    name: str, sources: Sequence[Any], arguments: Sequence[Any], operation: str
) -> tuple[BoundKernel, list[Source]]:
    function = get_elwise_kernel([*sources, *arguments], operation, name)
    bound = [Source(argument.name) for argument in sources]
    return BoundKernel(function, bound), bound


@context_dependent_memoize
def get_take_kernel(
    dtype: Any, idx_dtype: Any, vec_count: int = 1
) -> tuple[BoundKernel, list[Source]]:
    """(kernel, sources) for ``dest[i] = source[idx[i]]`` of *vec_count* arrays; arguments: idx,
    the dests, n."""
    body = f"{dtype_to_ctype(idx_dtype)} from_ = idx[i];\n"
    body += "\n".join(f"dest{k}[i] = source{k}[from_];" for k in range(vec_count))
    arguments = [VectorArg(idx_dtype, "idx"), *_vectors(dtype, "dest", vec_count)]
    return _bound("take", _vectors(dtype, "source", vec_count), arguments, body)


@context_dependent_memoize
def get_take_put_kernel(
    dtype: Any, idx_dtype: Any, with_offsets: bool, vec_count: int = 1
) -> tuple[BoundKernel, list[Source]]:
    """(kernel, sources) for ``dest[to[i]] = source[from[i]]`` of *vec_count* arrays; arguments:
    to, from, the dests, with *with_offsets* what is added to ``from[i]`` for each array, n."""
    offsets = [ScalarArg(idx_dtype, f"offset{k}") for k in range(vec_count if with_offsets else 0)]
    index = dtype_to_ctype(idx_dtype)
    body = f"{index} from_ = from[i], to_ = to[i];\n" + "\n".join(
        f"dest{k}[to_] = source{k}[from_{f' + offset{k}' if with_offsets else ''}];"
        for k in range(vec_count)
    )
    arguments = [
        *(VectorArg(idx_dtype, "to"), VectorArg(idx_dtype, "from")),
        *_vectors(dtype, "dest", vec_count),
        *offsets,
    ]
    return _bound("take_put", _vectors(dtype, "source", vec_count), arguments, body)


@context_dependent_memoize
def get_put_kernel(dtype: Any, idx_dtype: Any, vec_count: int = 1) -> Any:
    """The kernel ``dest[idx[i]] = source[i]`` of *vec_count* arrays; arguments: idx, the dests,
    the sources, n."""
    body = f"{dtype_to_ctype(idx_dtype)} to_ = idx[i];\n"
    body += "\n".join(f"dest{k}[to_] = source{k}[i];" for k in range(vec_count))
    arguments = [
        VectorArg(idx_dtype, "idx"),
        *_vectors(dtype, "dest", vec_count),
        *_vectors(dtype, "source", vec_count),
    ]
    return get_elwise_kernel(arguments, body, "put")


@context_dependent_memoize
def get_linear_combination_kernel(
    summand_descriptors: tuple[tuple[bool, Any, Any], ...], dtype_z: Any
) -> tuple[Any, list[Source]]:
    """(kernel, sources) for z = a0 * x0 + a1 * x1 + ...; arguments a0, x0, a1, x1, ..., z, n.

    summand_descriptors: (False, dtype of a, dtype of x) for each. With True in the first place the
    factor is the first item of an array that is bound to the next of the sources, and no argument.
    """
    sources: list[Any] = []
    arguments: list[Any] = []
    summands: list[str] = []
    for k, (on_device, scalar, vector) in enumerate(summand_descriptors):
        if on_device:
            sources.append(VectorArg(scalar, f"a{k}"))
        else:
            arguments.append(ScalarArg(scalar, f"a{k}"))
        arguments.append(VectorArg(vector, f"x{k}"))
        summands.append(f"a{k}{'[0]' * bool(on_device)} * x{k}[i]")
    arguments.append(VectorArg(dtype_z, "z"))
    operation = f"z[i] = {' + '.join(summands)}"
    if not sources:
        return get_elwise_kernel(arguments, operation, "linear_combination"), []
    return _bound("linear_combination", sources, arguments, operation)
