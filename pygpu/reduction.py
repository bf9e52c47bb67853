"""Reductions of arrays from snippets of C: sums, extremes, anything associative.

::

    dot = ReductionKernel(context, np.float32, neutral="0", reduce_expr="a + b",
                          map_expr="x[i] * y[i]", arguments="const float *x, const float *y")
    result = dot(x, y).get()

The context is OpenCL's or CUDA's, and the snippets in its language; :mod:`pygpu.cuda.reduction` has
PyCUDA's form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu import _opencl
from pygpu._src.codegen.fastpath import public_functions as _public_functions
from pygpu._src.codegen.fastpath import public_methods as _public_methods
from pygpu._src.runtime.backends import backend_of
from pygpu._src.user_kernels import reductions
from pygpu._src.user_kernels.language import OPENCL, language_for
from pygpu._src.user_kernels.reduction import Reduction
from pygpu._src.user_kernels.snippet import FLAT, kernel_repr
from pygpu._src.user_kernels.stages import Stage
from pygpu._src.user_kernels.templates import KernelTemplateBase
from pygpu._src.util.memoize import context_dependent_memoize

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from numpy.typing import DTypeLike

    from pygpu import _cuda
    from pygpu._src.array.array_types import GPUArray
    from pygpu._src.array.opencl_array import Array
    from pygpu._src.runtime.opencl.types import WaitList

    _Allocator: TypeAlias = Callable[[int], Any] | None
    _Queue: TypeAlias = _opencl.CommandQueue | _cuda.Stream | None

__all__ = [
    "ReductionKernel",
    "ReductionTemplate",
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


@_public_methods
class ReductionKernel:
    """A reduction of the values of an expression over the items of arrays.

    ctx: an OpenCL Context, or a CUDA Context (None: the current one). dtype_out: of the
    computation and the result, possibly a structure. neutral: an expression for the neutral
    element. reduce_expr: an expression of ``a`` and ``b``, associative and commutative. map_expr:
    an expression of the index ``i``, by default ``in[i]``. arguments: as ElementwiseKernel's;
    which arrays may be strided or broadcast is decided as there, by map_expr. name, options,
    preamble: as there.
    """

    def __init__(
        self,
        ctx: Any,
        dtype_out: DTypeLike,
        neutral: str,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[Any] | None = None,
        name: str = "reduce_kernel",
        options: Any = None,
        preamble: str = "",
    ) -> None:
        self.context = ctx
        language = language_for(type(self).__name__, ctx)
        self._do = Reduction(
            language, dtype_out, neutral, reduce_expr, map_expr, arguments, name, options, preamble
        )
        self.dtype_out: np.dtype[Any] = self._do.dtype

    def __repr__(self) -> str:
        return kernel_repr(self, self._do.name, self._do.first.parameters)

    @overload
    def __call__(
        self,
        array: Array[Any],
        /,
        *args: Any,
        queue: _Queue = None,
        allocator: _Allocator = None,
        wait_for: WaitList = None,
        out: Array[Any] | None = None,
        range: _slice | None = None,
        slice: _slice | None = None,
        return_event: Literal[False] = False,
    ) -> Array[Any]: ...
    @overload
    def __call__(
        self,
        *args: Any,
        queue: _Queue = None,
        allocator: _Allocator = None,
        wait_for: WaitList = None,
        out: GPUArray[Any] | None = None,
        range: _slice | None = None,
        slice: _slice | None = None,
        return_event: Literal[False] = False,
    ) -> GPUArray[Any]: ...
    @overload
    def __call__(
        self,
        *args: Any,
        queue: _Queue = None,
        allocator: _Allocator = None,
        wait_for: WaitList = None,
        out: GPUArray[Any] | None = None,
        range: _slice | None = None,
        slice: _slice | None = None,
        return_event: Literal[True],
    ) -> tuple[GPUArray[Any], _opencl.Event]: ...
    def __call__(
        self,
        *args: Any,
        queue: Any = None,
        allocator: Any = None,
        wait_for: Sequence[Any] | None = None,
        out: Any = None,
        range: _slice | None = None,
        slice: _slice | None = None,
        return_event: bool = False,
    ) -> Any:
        """The result as an array of shape (); with return_event, (result, event).

        args: arrays and numbers, as declared. out: an array whose first item becomes the result.
        allocator: for a new result. range: a slice with the indices to reduce; slice: the same,
        relative to the first array. Without items the result is neutral. One or two launches.

        Raises TypeError for a wrong number of arguments or a wrong dtype, ValueError if shapes do
        not fit, indices are out of range or contexts differ, before anything is launched.
        """
        result, event = self._do(args, range, slice, queue, wait_for, out, allocator)
        return (result, event) if return_event else result

    def _stage(self, number: int) -> Stage:
        backend, do = backend_of(self.context), self._do
        return Stage(self.context, do.kernel(backend, FLAT, number), do.group_size(backend))

    @property
    def stage_1_inf(self) -> Stage:
        """Kernel and text of the first launch; on OpenCL."""
        return self._stage(1)

    @property
    def stage_2_inf(self) -> Stage:
        """Kernel and text of the second launch; on OpenCL."""
        return self._stage(2)


class ReductionTemplate(KernelTemplateBase):
    """A ReductionKernel with placeholders for types and values, for OpenCL.

    arguments, neutral, reduce_expr, map_expr, name_prefix, preamble: as ReductionKernel's, with
    type aliases and variables in them; the alias ``reduction_t`` is the result's dtype.
    is_segment_start_expr and input_fetch_exprs are not used.
    """

    arguments: str | Sequence[Any]
    neutral: str
    reduce_expr: str
    map_expr: str | None
    name_prefix: str
    preamble: str

    def __init__(
        self,
        arguments: str | Sequence[Any],
        neutral: str,
        reduce_expr: str,
        map_expr: str | None = None,
        is_segment_start_expr: str | None = None,
        input_fetch_exprs: Sequence[tuple[str, str, int]] | None = None,
        name_prefix: str = "reduce",
        preamble: str = "",
        template_processor: str | None = None,
    ) -> None:
        super().__init__(template_processor=template_processor)
        self.arguments, self.neutral, self.reduce_expr = arguments, neutral, reduce_expr
        self.map_expr, self.name_prefix, self.preamble = map_expr, name_prefix, preamble

    def build_inner(
        self,
        context: Any,
        type_aliases: Mapping[str, Any] | Sequence[tuple[str, Any]] = (),
        var_values: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        more_preamble: str = "",
        more_arguments: str | Sequence[Any] = (),
        declare_types: Sequence[DTypeLike] = (),
        options: Any = None,
        devices: Any = None,
    ) -> ReductionKernel:
        """The ReductionKernel for these types and values."""
        renderer = self.get_renderer(type_aliases, var_values, context, options)
        arguments = renderer.render_argument_list(self.arguments, more_arguments)
        declared = renderer.get_type_decl_preamble(context.devices[0], declare_types, arguments)
        own_preamble = renderer(f"{self.preamble}\n{more_preamble}")
        return ReductionKernel(
            context,
            renderer.type_aliases["reduction_t"],
            renderer(self.neutral) or "",
            renderer(self.reduce_expr) or "",
            renderer(self.map_expr),
            arguments,
            name=renderer(self.name_prefix) or "reduce",
            options=options,
            preamble=f"{declared}\n{own_preamble}",
        )


def _make(ctx: _opencl.Context, texts: dict[str, Any], name: str) -> ReductionKernel:
    dtype, neutral, reduce_expr = (texts.pop(key) for key in ("dtype", "neutral", "reduce_expr"))
    return ReductionKernel(ctx, dtype, neutral, reduce_expr, name=name, **texts)


@context_dependent_memoize
def get_sum_kernel(
    ctx: _opencl.Context, dtype_out: DTypeLike | None, dtype_in: DTypeLike
) -> ReductionKernel:
    """The sum of an array of dtype_in, in dtype_out (None: the same)."""
    return _make(ctx, reductions.sum_texts(OPENCL, dtype_out, dtype_in), "sum")


@context_dependent_memoize
def get_subset_sum_kernel(
    ctx: _opencl.Context, dtype_out: DTypeLike | None, dtype_subset: DTypeLike, dtype_in: DTypeLike
) -> ReductionKernel:
    """The sum of the items that an index array (the first argument) picks from the second."""
    texts = reductions.sum_texts(OPENCL, dtype_out, dtype_in)
    texts["map_expr"] = texts["map_expr"].replace("in[i]", "in[lookup_tbl[i]]")
    lookup = OPENCL.ctype(np.dtype(dtype_subset))
    texts["arguments"] = f"const {lookup} *lookup_tbl, {texts['arguments']}"
    return _make(ctx, texts, "subset_sum")


@context_dependent_memoize
def get_dot_kernel(
    ctx: _opencl.Context,
    dtype_out: DTypeLike | None,
    dtype_a: DTypeLike,
    dtype_b: DTypeLike | None = None,
    conjugate_first: bool = False,
) -> ReductionKernel:
    """The sum of the products of two arrays; optionally with the conjugate of the first."""
    texts = reductions.dot_texts(OPENCL, dtype_out, dtype_a, dtype_b, None, conjugate_first)
    return _make(ctx, texts, "dot")


@context_dependent_memoize
def get_subset_dot_kernel(
    ctx: _opencl.Context,
    dtype_out: DTypeLike | None,
    dtype_subset: DTypeLike,
    dtype_a: DTypeLike | None = None,
    dtype_b: DTypeLike | None = None,
    conjugate_first: bool = False,
) -> ReductionKernel:
    """The same for the items that an index array (the first argument) picks from both."""
    texts = reductions.dot_texts(OPENCL, dtype_out, dtype_a, dtype_b, dtype_subset, conjugate_first)
    return _make(ctx, texts, "subset_dot")


def get_minmax_neutral(what: str, dtype: DTypeLike) -> str:
    """An expression for the neutral element of the dtype's "min" or "max"."""
    return str(reductions.extreme_texts(OPENCL, what, dtype)["neutral"])


@context_dependent_memoize
def get_minmax_kernel(ctx: _opencl.Context, what: str, dtype: DTypeLike) -> ReductionKernel:
    """The "min" or "max" of an array; NaN if it contains one."""
    return _make(ctx, reductions.extreme_texts(OPENCL, what, dtype), what)


@context_dependent_memoize
def get_subset_minmax_kernel(
    ctx: _opencl.Context, what: str, dtype: DTypeLike, dtype_subset: DTypeLike
) -> ReductionKernel:
    """The same of the items that an index array (the first argument) picks."""
    return _make(ctx, reductions.extreme_texts(OPENCL, what, dtype, dtype_subset), f"subset_{what}")


@context_dependent_memoize
def get_any_kernel(ctx: _opencl.Context, dtype_in: DTypeLike) -> ReductionKernel:
    """Whether any item is not zero, as int8."""
    return _make(ctx, reductions.all_any_texts(OPENCL, "any", np.int8, dtype_in), "any_of")


@context_dependent_memoize
def get_all_kernel(ctx: _opencl.Context, dtype_in: DTypeLike) -> ReductionKernel:
    """Whether no item is zero, as int8."""
    return _make(ctx, reductions.all_any_texts(OPENCL, "all", np.int8, dtype_in), "all_of")


_public_functions(globals(), __all__)
