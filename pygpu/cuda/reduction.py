"""PyCUDA's reductions: the current context, CUDA C++ snippets.

::

    dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]",
                          arguments="float *x, float *y")
    result = dot(x, y).get()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.array.cuda_functions import stream_of
from pygpu._src.codegen.dtypes import native
from pygpu._src.codegen.fastpath import public_functions as _public_functions
from pygpu._src.codegen.fastpath import public_methods as _public_methods
from pygpu._src.user_kernels import reductions
from pygpu._src.user_kernels.language import CUDA
from pygpu._src.user_kernels.reduction import Reduction
from pygpu._src.user_kernels.snippet import kernel_repr

from .dtypes import get_arg_type
from .tools import context_dependent_memoize

if TYPE_CHECKING:
    from pygpu import _cuda
    from pygpu._src.array.cuda_array import GPUArray
    from pygpu._src.runtime.cuda.source_module import SourceModule

__all__ = [
    "ReductionKernel",
    "get_all_kernel",
    "get_any_kernel",
    "get_dot_kernel",
    "get_minmax_kernel",
    "get_minmax_neutral",
    "get_reduction_kernel_and_types",
    "get_reduction_module",
    "get_subset_dot_kernel",
    "get_subset_minmax_kernel",
    "get_subset_sum_kernel",
    "get_sum_kernel",
]

_slice = slice
_MOST_THREADS = 1024


@_public_methods
class ReductionKernel:
    """A reduction of the values of an expression over the items of arrays.

    dtype_out: of the computation and the result, possibly a structure. neutral: an expression for
    the neutral element. reduce_expr: an expression of ``a`` and ``b``, associative and
    commutative. map_expr: an expression of the index ``i``, by default ``in[i]``. arguments: as
    ElementwiseKernel's; which arrays may be strided or broadcast is decided as there, by
    map_expr. name, keep, options, preamble: as there. Compiled at the first call, in the context
    of the arrays.
    """

    def __init__(
        self,
        dtype_out: Any,
        neutral: str,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[Any] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
    ) -> None:
        self.dtype_out: np.dtype[Any] = native(dtype_out, "ReductionKernel")
        self._do = Reduction(
            CUDA, dtype_out, neutral, reduce_expr, map_expr, arguments, name, options, preamble
        )
        self._texts = (neutral, reduce_expr, map_expr, arguments, name, keep, options, preamble)

    def __repr__(self) -> str:
        return kernel_repr(self, self._do.name, self._do.first.parameters)

    def __call__(
        self,
        *args: Any,
        stream: _cuda.Stream | None = None,
        out: GPUArray[Any] | None = None,
        allocator: Callable[[int], Any] | None = None,
        kernel_wrapper: Callable[[Any], Any] | None = None,
        range: _slice | None = None,
        slice: _slice | None = None,
    ) -> GPUArray[Any]:
        """The result as a GPUArray of shape ().

        args: arrays and numbers, as declared. out: an array whose first item becomes the result.
        allocator: for a new result. kernel_wrapper: is given each kernel as a function of (grid,
        block, stream, *arguments, shared_size=) and returns what is called in its place. range,
        slice: as for ElementwiseKernel. Without items the result is neutral. One or two launches.

        Raises TypeError for a wrong number of arguments or a wrong dtype, ValueError if shapes do
        not fit or indices are out of range, before anything is launched.
        """
        if stream is not None:
            stream = stream_of(stream, self._do.call)
        found = self._do(args, range, slice, stream, None, out, allocator, kernel_wrapper)
        result: GPUArray[Any] = found[0]
        return result

    # PyCUDA's parts, for subclasses that launch the stages themselves (PyCBC's does). A call does
    # not use them, so they are compiled only when asked for.

    block_size = 512

    @cached_property
    def _stages(self) -> tuple[tuple[Any, list[str]], tuple[Any, list[str]]]:
        neutral, reduce_expr, map_expr, arguments, name, keep, options, preamble = self._texts
        if not isinstance(arguments, str):
            arguments = ", ".join(CUDA.declare(p) for p in self._do.first.parameters)
        start = (CUDA.ctype(self.dtype_out), self.block_size, neutral, reduce_expr)
        end = (keep, options, preamble)
        return (
            get_reduction_kernel_and_types(1, *start, map_expr, arguments, f"{name}_stage1", *end),
            get_reduction_kernel_and_types(2, *start, None, arguments, f"{name}_stage2", *end),
        )

    @property
    def stage1_func(self) -> Callable[..., None]:
        """get_reduction_kernel_and_types's kernel of stage 1, as a function of (grid, block,
        stream, out, *arguments, seq_count, n, shared_size=), for blocks of block_size threads."""
        launch: Callable[..., None] = self._stages[0][0].prepared_async_call
        return launch

    @property
    def stage1_arg_types(self) -> list[str]:
        """The struct characters of its arguments."""
        return self._stages[0][1]

    @property
    def stage2_func(self) -> Callable[..., None]:
        """The same of stage 2, which has the values of stage 1 before the arguments."""
        launch: Callable[..., None] = self._stages[1][0].prepared_async_call
        return launch

    @property
    def stage2_arg_types(self) -> list[str]:
        """The struct characters of its arguments, of which those values are the first."""
        return self._stages[1][1]


# The loop makes one value of a thread's items, the tree one of a block's. `a` and `b` hide
# arguments of these names from the reduction, not from map_expr. out_type may be the preamble's.
_MODULE = """
#include <pycuda-complex.hpp>
{preamble}
typedef {out_type} out_type;
extern "C" __global__ void {name}(out_type *out, {arguments}, unsigned int seq_count, size_t n)
{{
    extern __shared__ __align__(16) unsigned char pg_shared[];
    out_type *pg_values = (out_type *)pg_shared, pg_value = {neutral};
    const unsigned pg_thread = threadIdx.x;
    size_t i = (size_t)blockIdx.x * {block_size} * seq_count + pg_thread;
    for (unsigned pg_turn = 0; pg_turn < seq_count && i < n; pg_turn++, i += {block_size}) {{
        const out_type pg_item = {map_expr};
        {{ out_type a = pg_value, b = pg_item; pg_value = {reduce_expr}; }}
    }}
    pg_values[pg_thread] = pg_value;
    for (unsigned pg_width = {block_size}; pg_width > 1;) {{
        const unsigned pg_half = (pg_width + 1) / 2;
        __syncthreads();
        if (pg_thread < pg_width / 2) {{
            out_type a = pg_values[pg_thread], b = pg_values[pg_thread + pg_half];
            pg_values[pg_thread] = {reduce_expr};
        }}
        pg_width = pg_half;
    }}
    if (pg_thread == 0) out[blockIdx.x] = pg_values[0];
}}
"""


def get_reduction_module(
    out_type: str,
    block_size: int,
    neutral: str,
    reduce_expr: str,
    map_expr: str,
    arguments: str,
    name: str = "reduce_kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
) -> SourceModule:
    """A SourceModule with the kernel ``name(out_type *out, arguments, unsigned int seq_count,
    size_t n)``, for programs that launch a reduction's stages themselves.

    Launched with blocks of *block_size* threads and ``block_size * sizeof(out_type)`` bytes of
    shared memory, block number k makes one value of the items from ``k * block_size * seq_count``
    on, as many as that is, and below n. Other parameters are ReductionKernel's, which reduces whole
    arrays with a kernel of its own. Raises ValueError for a block_size outside 1 to 1024.
    """
    from .compiler import SourceModule

    size = index(block_size)
    if not 1 <= size <= _MOST_THREADS:
        raise ValueError(
            f"get_reduction_module: block_size must be from 1 to {_MOST_THREADS}, not {size}"
        )
    text = _MODULE.format(
        out_type=out_type,
        block_size=size,
        neutral=neutral,
        reduce_expr=reduce_expr,
        map_expr=map_expr,
        arguments=arguments,
        name=name,
        preamble=preamble,
    )
    return SourceModule(text, options=options, keep=keep, no_extern_c=True)


def get_reduction_kernel_and_types(
    stage: int,
    out_type: str,
    block_size: int,
    neutral: str,
    reduce_expr: str,
    map_expr: str | None = None,
    arguments: str | None = None,
    name: str = "reduce_kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
) -> tuple[Any, list[str]]:
    """A kernel of get_reduction_module, prepared, and the struct characters of its *arguments*.

    stage: 1 maps items (``in[i]`` if map_expr is left out); 2 reduces values that came from stage
    1, the array ``pycuda_reduction_inp``, before the arguments. Raises ValueError for another one,
    and for a stage 1 without arguments.
    """
    if stage == 1:
        map_expr = "in[i]" if map_expr is None else map_expr
    elif stage == 2:
        map_expr = "pycuda_reduction_inp[i]" if map_expr is None else map_expr
        own = f"const {out_type} *pycuda_reduction_inp"
        arguments = f"{own}, {arguments}" if arguments else own
    else:
        raise ValueError(f"get_reduction_kernel_and_types: stage is 1 or 2, not {stage!r}")
    if not arguments:
        raise ValueError("get_reduction_kernel_and_types: stage 1 needs arguments")
    texts = (neutral, reduce_expr, map_expr, arguments, name, keep, options, preamble)
    module = get_reduction_module(out_type, block_size, *texts)
    types = [get_arg_type(argument) for argument in arguments.split(",")]
    return module.get_function(name).prepare(f"P{''.join(types)}In"), types


def _make(texts: dict[str, Any], name: str) -> ReductionKernel:
    dtype, neutral, reduce_expr = (texts.pop(key) for key in ("dtype", "neutral", "reduce_expr"))
    return ReductionKernel(dtype, neutral, reduce_expr, name=name, **texts)


@context_dependent_memoize
def get_sum_kernel(dtype_out: Any, dtype_in: Any) -> ReductionKernel:
    """The sum of an array of dtype_in, in dtype_out (None: the same)."""
    return _make(reductions.sum_texts(CUDA, dtype_out, dtype_in), "sum")


@context_dependent_memoize
def get_subset_sum_kernel(dtype_out: Any, dtype_subset: Any, dtype_in: Any) -> ReductionKernel:
    """The sum of the items that an index array (the first argument) picks from the second."""
    texts = reductions.sum_texts(CUDA, dtype_out, dtype_in)
    texts["map_expr"] = texts["map_expr"].replace("in[i]", "in[lookup_tbl[i]]")
    lookup = CUDA.ctype(np.dtype(dtype_subset))
    texts["arguments"] = f"const {lookup} *lookup_tbl, {texts['arguments']}"
    return _make(texts, "subset_sum")


@context_dependent_memoize
def get_dot_kernel(dtype_out: Any, dtype_a: Any, dtype_b: Any = None) -> ReductionKernel:
    """The sum of the products of two arrays."""
    return _make(reductions.dot_texts(CUDA, dtype_out, dtype_a, dtype_b), "dot")


@context_dependent_memoize
def get_subset_dot_kernel(
    dtype_out: Any, dtype_subset: Any, dtype_a: Any = None, dtype_b: Any = None
) -> ReductionKernel:
    """The same for the items that an index array (the first argument) picks from both."""
    return _make(
        reductions.dot_texts(CUDA, dtype_out, dtype_a, dtype_b, dtype_subset), "subset_dot"
    )


def get_minmax_neutral(what: str, dtype: Any) -> str:
    """An expression for the neutral element of the dtype's "min" or "max"."""
    return str(reductions.extreme_texts(CUDA, what, dtype)["neutral"])


@context_dependent_memoize
def get_minmax_kernel(what: str, dtype: Any) -> ReductionKernel:
    """The "min" or "max" of an array; NaN if it contains one."""
    return _make(reductions.extreme_texts(CUDA, what, dtype), what)


@context_dependent_memoize
def get_subset_minmax_kernel(what: str, dtype: Any, dtype_subset: Any) -> ReductionKernel:
    """The same of the items that an index array (the first argument) picks."""
    return _make(reductions.extreme_texts(CUDA, what, dtype, dtype_subset), f"subset_{what}")


@context_dependent_memoize
def get_any_kernel(dtype_out: Any, dtype_in: Any) -> ReductionKernel:
    """Whether any item is not zero, as 1 or 0 in dtype_out (None: dtype_in)."""
    dtype_out = dtype_in if dtype_out is None else dtype_out
    return _make(reductions.all_any_texts(CUDA, "any", dtype_out, dtype_in), "any_of")


@context_dependent_memoize
def get_all_kernel(dtype_out: Any, dtype_in: Any) -> ReductionKernel:
    """Whether no item is zero, as 1 or 0 in dtype_out (None: dtype_in)."""
    dtype_out = dtype_in if dtype_out is None else dtype_out
    return _make(reductions.all_any_texts(CUDA, "all", dtype_out, dtype_in), "all_of")


_public_functions(globals(), __all__)
