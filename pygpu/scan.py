"""Prefix sums from snippets of C, with any associative operation, segments, and any output.

::

    cumsum = GenericScanKernel(context, np.int32, "int *x, int *y", input_expr="x[i]",
                               scan_expr="a + b", neutral="0", output_statement="y[i] = item;")
    cumsum(x, y)

The context is OpenCL's or CUDA's, and the snippets in its language; :mod:`pygpu.cuda.scan` has
PyCUDA's form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu import _opencl
from pygpu._src.codegen.dtypes import native
from pygpu._src.codegen.fastpath import public_functions as _public_functions
from pygpu._src.codegen.fastpath import public_methods as _public_methods
from pygpu._src.runtime.backends import backend_of
from pygpu._src.user_kernels.language import OPENCL, language_for
from pygpu._src.user_kernels.reductions import converted
from pygpu._src.user_kernels.scan import Scan
from pygpu._src.user_kernels.snippet import kernel_repr
from pygpu._src.user_kernels.stages import Stage
from pygpu._src.user_kernels.templates import KernelTemplateBase
from pygpu._src.util.memoize import context_dependent_memoize

if TYPE_CHECKING:
    from typing import Literal, TypeAlias, TypeVar

    from numpy.typing import DTypeLike

    from pygpu import _cuda
    from pygpu._src.array.array_types import GPUArray
    from pygpu._src.runtime.opencl.types import WaitList

    _ArrayT = TypeVar("_ArrayT", bound=GPUArray[Any])
    _Queue: TypeAlias = _opencl.CommandQueue | _cuda.Stream | None

__all__ = [
    "ExclusiveScanKernel",
    "GenericDebugScanKernel",
    "GenericScanKernel",
    "GenericScanKernelBase",
    "InclusiveScanKernel",
    "ScanPerformanceWarning",
    "ScanTemplate",
    "get_cumsum_kernel",
]


class ScanPerformanceWarning(UserWarning):
    """PyOpenCL's warning about a scan on a slow device; pygpu never issues it."""


@_public_methods
class GenericScanKernelBase:
    """The base of the scan kernels.

    ctx: an OpenCL Context, or a CUDA Context (None: the current one). dtype: of the scan,
    possibly a structure. arguments: as ElementwiseKernel's; arrays must be contiguous, and the
    first one's length is the scan's. input_expr: the value to scan, as an expression of the index
    ``i``. scan_expr:
    of ``a`` (before) and ``b``, associative; in a segmented scan, ``across_seg_boundary`` is true
    if b begins a segment, and the value must then be b. neutral: an expression for the neutral
    element. output_statement: runs for each i with ``item`` (the scan up to i),
    ``prev_item`` (up to i - 1; neutral where a segment begins) and ``last_item`` (of the whole
    scan). is_segment_start_expr: whether a segment begins at i; ``a`` is input_expr's value.
    input_fetch_exprs: (name, array, 0 or -1), variables for the first two expressions that hold
    array[i] or array[i - 1]; of the latter, nothing at i = 0. index_dtype: of ``i`` and ``N``,
    the length; 64 bits are taken where they are needed. name_prefix, options, preamble: as
    ElementwiseKernel's.
    """

    context: Any
    dtype: np.dtype[Any]

    _serial = False

    def __init__(
        self,
        ctx: Any,
        dtype: DTypeLike,
        arguments: str | Sequence[Any],
        input_expr: str,
        scan_expr: str,
        neutral: str | None,
        output_statement: str,
        is_segment_start_expr: str | None = None,
        input_fetch_exprs: Sequence[tuple[str, str, int]] | None = None,
        index_dtype: Any = None,
        name_prefix: str = "scan",
        options: Any = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        if neutral is None:
            raise ValueError(f"{type(self).__name__}: must provide a 'neutral' element in scan")
        self._make(
            ctx,
            dtype,
            arguments,
            input_expr,
            scan_expr,
            neutral,
            output_statement,
            is_segment_start_expr,
            input_fetch_exprs,
            index_dtype,
            name_prefix,
            options,
            preamble,
        )

    def _make(self, ctx: Any, dtype: Any, *rest: Any) -> None:
        language = language_for(type(self).__name__, ctx)
        options: dict[str, Any] = {"serial": self._serial}
        self._do = Scan(language, dtype, *rest, **options)
        self.context, self.dtype = ctx, self._do.dtype
        self.index_dtype: np.dtype[Any] = self._do.index_dtype

    def __repr__(self) -> str:
        return kernel_repr(self, self._do.name, self._do.snippet.parameters)

    def __call__(
        self,
        *args: Any,
        queue: _Queue = None,
        allocator: Any = None,
        size: int | None = None,
        wait_for: WaitList = None,
    ) -> _opencl.Event:
        """Enqueue the scan. Returns an Event, None on CUDA.

        args: arrays and numbers, as declared. queue: the first array's if left out. size: the
        length, the first array's if left out. allocator is not used: temporary memory comes from
        the backend's pool.

        Raises TypeError for a wrong number of arguments or a wrong dtype, ValueError for arrays
        that are not contiguous, for arrays with fewer items than the scan if each of its items [i]
        is used without a condition, or for a size beyond the first one's.
        """
        event: _opencl.Event = self._do(args, queue, wait_for, size, allocator)
        return event

    def _stage(self, which: int) -> Stage:
        backend = backend_of(self.context)
        kernel = self._do.kernels(backend, False, False)[which]
        return Stage(self.context, kernel, self._do.tile(backend)[0])

    @property
    def first_level_scan_info(self) -> Stage:
        """Kernel and text of the first launch; on OpenCL."""
        return self._stage(0)

    second_level_scan_info = first_level_scan_info  # the last launch does what there is to do

    @property
    def final_update_info(self) -> Stage:
        """Kernel and text of the last launch; on OpenCL."""
        return self._stage(1)


@_public_methods
class GenericScanKernel(GenericScanKernelBase):
    """A scan in one or two launches."""

    __doc__ = f"{__doc__}\n{GenericScanKernelBase.__doc__}"


@_public_methods
class GenericDebugScanKernel(GenericScanKernelBase):
    """The same with one work-item, item by item: slow, but easy to follow with printf."""

    __doc__ = f"{__doc__}\n{GenericScanKernelBase.__doc__}"
    _serial = True


@_public_methods
class _ArrayScanKernel(GenericScanKernelBase):
    """A scan of one array.

    ctx, dtype, scan_expr, neutral, name_prefix, options, preamble: as GenericScanKernel's.
    """

    _output = ""

    def __init__(
        self,
        ctx: Any,
        dtype: DTypeLike,
        scan_expr: str,
        neutral: str | None = None,
        name_prefix: str = "scan",
        options: Any = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        language = language_for(type(self).__name__, ctx)
        ctype = language.ctype(native(dtype, type(self).__name__))
        if neutral is None and "prev_item" in self._output:
            raise ValueError(f"{type(self).__name__}: an exclusive scan needs a neutral element")
        self._make(
            ctx,
            dtype,
            f"{ctype} *input_ary, {ctype} *output_ary",
            "input_ary[i]",
            scan_expr,
            neutral,
            self._output,
            None,
            None,
            None,
            name_prefix,
            options,
            preamble,
        )

    def __call__(  # type: ignore[override]
        self,
        input_ary: _ArrayT,
        output_ary: _ArrayT | Literal["new"] | None = None,
        allocator: Any = None,
        queue: _Queue = None,
    ) -> _ArrayT:
        """Scan a one-dimensional array into *output_ary*: itself if left out, a new array for
        "new". Returns the output."""
        output: _ArrayT = scan_array(self._do, input_ary, output_ary, allocator, queue)
        return output


def scan_array(do: Scan, input_ary: Any, output_ary: Any, allocator: Any, queue: Any) -> Any:
    """Scan one array, for the kernels here and in pygpu.cuda.scan."""
    if getattr(input_ary, "backend", None) is None:
        raise TypeError(
            f"{do.call}: an array on the device is needed, not {type(input_ary).__name__}; "
            "copy it there first (to_device, to_gpu)"
        )
    if input_ary.ndim != 1:
        raise ValueError(f"{do.call}: a one-dimensional array is needed, not {input_ary.shape}")
    if output_ary is None:
        output_ary = input_ary
    elif isinstance(output_ary, str) and output_ary == "new":
        output_ary = input_ary._new(input_ary.shape, input_ary.dtype, None, queue)
    if input_ary.shape != output_ary.shape:
        raise ValueError(f"{do.call}: input and output must have the same shape")
    do((input_ary, output_ary), queue)
    return output_ary


class InclusiveScanKernel(_ArrayScanKernel):
    """y[i] = x[0] o ... o x[i]. A neutral element is not needed."""

    __doc__ = f"{__doc__}\n{_ArrayScanKernel.__doc__}"
    _output = "output_ary[i] = item;"


class ExclusiveScanKernel(_ArrayScanKernel):
    """y[i] = x[0] o ... o x[i - 1]; y[0] is the neutral element."""

    __doc__ = f"{__doc__}\n{_ArrayScanKernel.__doc__}"
    _output = "output_ary[i] = prev_item;"


class ScanTemplate(KernelTemplateBase):
    """A GenericScanKernel with placeholders for types and values, for OpenCL.

    The arguments are GenericScanKernel's, with type aliases and variables in them; the alias
    ``scan_t`` is the scan's dtype, ``index_t`` the index's.
    """

    arguments: str | Sequence[Any]
    input_expr: str
    scan_expr: str
    neutral: str | None
    output_statement: str
    name_prefix: str
    preamble: str

    def __init__(
        self,
        arguments: str | Sequence[Any],
        input_expr: str,
        scan_expr: str,
        neutral: str | None,
        output_statement: str,
        is_segment_start_expr: str | None = None,
        input_fetch_exprs: Sequence[tuple[str, str, int]] | None = None,
        name_prefix: str = "scan",
        preamble: str = "",
        template_processor: str | None = None,
    ) -> None:
        super().__init__(template_processor=template_processor)
        self.arguments, self.input_expr, self.scan_expr = arguments, input_expr, scan_expr
        self.neutral, self.output_statement = neutral, output_statement
        self.is_segment_start_expr = is_segment_start_expr
        self.input_fetch_exprs: list[tuple[str, str, int]] = list(input_fetch_exprs or ())
        self.name_prefix, self.preamble = name_prefix, preamble

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
        scan_cls: type[GenericScanKernelBase] = GenericScanKernel,
    ) -> GenericScanKernelBase:
        """The scan kernel for these types and values, of the class *scan_cls*."""
        renderer = self.get_renderer(type_aliases, var_values, context, options)
        arguments = renderer.render_argument_list(self.arguments, more_arguments)
        declared = renderer.get_type_decl_preamble(context.devices[0], declare_types, arguments)
        own_preamble = renderer(f"{self.preamble}\n{more_preamble}")
        return scan_cls(
            context,
            renderer.type_aliases["scan_t"],
            arguments,
            renderer(self.input_expr) or "",
            renderer(self.scan_expr) or "",
            renderer(self.neutral),
            renderer(self.output_statement) or "",
            is_segment_start_expr=renderer(self.is_segment_start_expr),
            input_fetch_exprs=self.input_fetch_exprs,
            index_dtype=renderer.type_aliases.get("index_t", np.dtype(np.int32)),
            name_prefix=renderer(self.name_prefix) or "scan",
            options=options,
            preamble=f"{declared}\n{own_preamble}",
            devices=devices,
        )


@context_dependent_memoize
def get_cumsum_kernel(
    context: _opencl.Context | _cuda.Context, input_dtype: DTypeLike, output_dtype: DTypeLike
) -> GenericScanKernel:
    """Running sums of an array of input_dtype into one of output_dtype."""
    source, target = np.dtype(input_dtype), np.dtype(output_dtype)
    language = language_for("get_cumsum_kernel", context)
    scan_expr, neutral = "a + b", "0"
    if target.kind == "c" and language is OPENCL:
        name = "cdouble" if target.itemsize == 16 else "cfloat"
        scan_expr, neutral = f"{name}_add(a, b)", f"{name}_new(0, 0)"
    return GenericScanKernel(
        context,
        target,
        f"{language.ctype(source)} *input, {language.ctype(target)} *output",
        input_expr=converted(language, "input[i]", source, target),
        scan_expr=scan_expr,
        neutral=neutral,
        output_statement="output[i] = item;",
        name_prefix="cumsum",
    )


_public_functions(globals(), __all__)
