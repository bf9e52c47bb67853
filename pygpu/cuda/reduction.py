"""PyCUDA's reductions: the current context, CUDA C++ snippets.

::

    dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]",
                          arguments="float *x, float *y")
    result = dot(x, y).get()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pygpu.generators import reductions
from pygpu.generators.language import CUDA
from pygpu.generators.reduction import Reduction

from .array_functions import stream_of
from .tools import context_dependent_memoize

__all__ = [
    "ReductionKernel",
    "get_all_kernel",
    "get_any_kernel",
    "get_dot_kernel",
    "get_minmax_kernel",
    "get_minmax_neutral",
    "get_subset_dot_kernel",
    "get_subset_minmax_kernel",
    "get_subset_sum_kernel",
    "get_sum_kernel",
]

_slice = slice


class ReductionKernel:
    """A reduction of the values that an expression has for the items of arrays.

    dtype_out: of the computation and the result, possibly a structure. neutral: an expression for
    what changes nothing. reduce_expr: an expression of ``a`` and ``b``, associative and
    commutative. map_expr: an expression of the index ``i``, ``in[i]`` if left out. arguments: as
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
        self.dtype_out = np.dtype(dtype_out)
        self._do = Reduction(
            CUDA, dtype_out, neutral, reduce_expr, map_expr, arguments, name, options, preamble
        )

    def __call__(
        self,
        *args: Any,
        stream: Any = None,
        out: Any = None,
        allocator: Callable[[int], Any] | None = None,
        kernel_wrapper: Callable[[Any], Any] | None = None,
        range: _slice | None = None,
        slice: _slice | None = None,
    ) -> Any:
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
        return self._do(args, range, slice, stream, None, out, allocator, kernel_wrapper)[0]


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
    """An expression for what changes no "min" or "max" of the dtype."""
    return str(reductions.extreme_texts(CUDA, what, dtype)["neutral"])


@context_dependent_memoize
def get_minmax_kernel(what: str, dtype: Any) -> ReductionKernel:
    """The "min" or "max" of an array; NaN if there is one in it."""
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
