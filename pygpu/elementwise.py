"""Kernels that run a snippet of C for each item of arrays.

::

    saxpy = ElementwiseKernel(context, "float a, float *x, float *y, float *z", "z[i] = a * x[i] +
    y[i]") saxpy(2.0, x, y, z)

The context is OpenCL's or CUDA's, and the snippet in its language; :mod:`pygpu.cuda.elementwise`
has PyCUDA's form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from pygpu import _opencl
from pygpu._src.codegen.fastpath import public_functions as _public_functions
from pygpu._src.codegen.fastpath import public_methods as _public_methods
from pygpu._src.runtime.backends import backend_of
from pygpu._src.user_kernels.arguments import (  # noqa: F401 - as in PyOpenCL's module
    ScalarArg,
    VectorArg,
)
from pygpu._src.user_kernels.elementwise import Elementwise
from pygpu._src.user_kernels.elementwise_programs import (
    get_elwise_kernel,
    get_elwise_kernel_and_types,
    get_elwise_program,
)
from pygpu._src.user_kernels.language import OPENCL, language_for
from pygpu._src.user_kernels.snippet import FLAT, RANGE, kernel_repr
from pygpu._src.user_kernels.templates import KernelTemplateBase
from pygpu._src.util.memoize import context_dependent_memoize

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pygpu import _cuda
    from pygpu._src.runtime.opencl.types import WaitList
    from pygpu._src.user_kernels.arguments import Argument

__all__ = [
    "ElementwiseKernel",
    "ElementwiseTemplate",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_program",
    "get_fill_kernel",
    "get_reverse_kernel",
    "get_unary_func_kernel",
]

_slice = slice


@_public_methods
class ElementwiseKernel:
    """A kernel that runs a snippet of C for each item of arrays.

    context: an OpenCL Context, or a CUDA Context (None: the current one).
    arguments: C declarations, ``"float a, float *x"``, or a sequence of declarations and VectorArg,
    ScalarArg. operation: statements that use the index ``i``; PYOPENCL_ELWISE_CONTINUE goes on to
    the next item. name: of the kernel. options: for the compiler. preamble: text before the
    kernel. loop_prep, after_loop: statements before and after the loop over the items.

    An array that the operation uses only as ``x[i]`` may have any strides, and is broadcast against
    the other such arrays; an array used in another way is passed as a pointer: contiguous, of any
    length. Raises TypeError or ValueError for arguments that cannot be parsed, RuntimeError if
    there is no array among them. The operation is compiled at the first call.
    """

    arguments: str | Sequence[Any]
    operation: str
    name: str
    options: Any

    def __init__(
        self,
        context: Any,
        arguments: str | Sequence[Any],
        operation: str,
        name: str = "elwise_kernel",
        options: Any = None,
        *,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
        auto_preamble: bool = True,
    ) -> None:
        self.context = context
        language = language_for(type(self).__name__, context)
        self.arguments, self.operation, self.name, self.options = (
            arguments,
            operation,
            name,
            options,
        )
        self._do = Elementwise(
            language, arguments, operation, name, options, preamble, loop_prep, after_loop
        )

    def __repr__(self) -> str:
        return kernel_repr(self, self._do.name, self._do.parameters)

    def __call__(
        self,
        *args: Any,
        range: _slice | None = None,
        slice: _slice | None = None,
        capture_as: str | TextIO | None = None,
        queue: _opencl.CommandQueue | _cuda.Stream | None = None,
        wait_for: WaitList = None,
    ) -> _opencl.Event:
        """Enqueue the operation for all items. Returns an Event, None on CUDA.

        args: arrays and numbers, as declared. range: a slice with the indices to do; slice: the
        same, relative to the first array, as ``array[slice]`` means it. queue: the first array's
        if left out. capture_as: a file for the call as a program of its own (OpenCL).

        Raises TypeError for a wrong number of arguments or a wrong dtype, ValueError if shapes do
        not fit, indices are out of range or contexts differ, before anything is launched.
        """
        event: _opencl.Event = self._do(args, range, slice, queue, wait_for, capture_as)
        return event

    def get_kernel(self, use_range: bool = False) -> tuple[Any, list[Any]]:
        """The compiled kernel for contiguous arrays, and its arguments. It takes each array as a
        buffer and an offset in bytes (OpenCL), then n, or start, stop and step."""
        backend = backend_of(self.context)
        kernel = self._do.launch(backend, RANGE if use_range else FLAT)
        return kernel, list(self._do.parameters)


class ElementwiseTemplate(KernelTemplateBase):
    """An ElementwiseKernel with placeholders for types and values, for OpenCL.

    arguments, operation, name, preamble: as ElementwiseKernel's, with type aliases and variables in
    them. template_processor: "none", "printf" or "mako".
    """

    arguments: str | Sequence[Argument]
    operation: str
    name: str
    preamble: str

    def __init__(
        self,
        arguments: str | Sequence[Argument],
        operation: str,
        name: str = "elwise",
        preamble: str = "",
        template_processor: str | None = None,
    ) -> None:
        super().__init__(template_processor=template_processor)
        self.arguments, self.operation, self.name, self.preamble = (
            arguments,
            operation,
            name,
            preamble,
        )

    def build_inner(
        self,
        context: Any,
        type_aliases: Mapping[str, Any] | Sequence[tuple[str, Any]] = (),
        var_values: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        more_preamble: str = "",
        more_arguments: str | Sequence[Any] = (),
        declare_types: Sequence[DTypeLike] = (),
        options: Any = None,
    ) -> ElementwiseKernel:
        """The ElementwiseKernel for these types and values."""
        renderer = self.get_renderer(type_aliases, var_values, context, options)
        arguments = renderer.render_argument_list(self.arguments, more_arguments, with_offset=True)
        declared = renderer.get_type_decl_preamble(context.devices[0], declare_types, arguments)
        return ElementwiseKernel(
            context,
            arguments,
            renderer(self.operation) or "",
            name=renderer(self.name) or "elwise",
            options=options,
            preamble=f"{declared}\n{renderer(f'{self.preamble}{chr(10)}{more_preamble}')}",
        )


@context_dependent_memoize
def get_fill_kernel(context: _opencl.Context, dtype: DTypeLike) -> _opencl.Kernel:
    """z = a; arguments z, a, n."""
    ctype = OPENCL.ctype(np.dtype(dtype))
    return get_elwise_kernel(context, f"{ctype} *z, {ctype} a", "z[i] = a", name="fill")


@context_dependent_memoize
def get_reverse_kernel(context: _opencl.Context, dtype: DTypeLike) -> _opencl.Kernel:
    """z, the items of y from the last to the first; arguments z, y, n."""
    ctype = OPENCL.ctype(np.dtype(dtype))
    return get_elwise_kernel(
        context, f"{ctype} *z, {ctype} *y", "z[i] = y[n - 1 - i]", name="reverse"
    )


@context_dependent_memoize
def get_unary_func_kernel(
    context: _opencl.Context,
    func_name: str,
    in_dtype: DTypeLike,
    out_dtype: DTypeLike | None = None,
) -> _opencl.Kernel:
    """z = func(y); arguments z, y, n."""
    out = OPENCL.ctype(np.dtype(in_dtype if out_dtype is None else out_dtype))
    arguments = f"{out} *z, {OPENCL.ctype(np.dtype(in_dtype))} *y"
    operation = f"z[i] = {func_name}(y[i])"
    return get_elwise_kernel(context, arguments, operation, name=f"{func_name}_kernel")


_public_functions(globals(), __all__)


def __getattr__(name: str) -> Any:
    """Fetch one of the kernels of array operations when it is first asked for."""
    from pygpu import array_kernels

    if name not in array_kernels.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(array_kernels, name)
    return value


def __dir__() -> list[str]:
    from pygpu import array_kernels

    return sorted({*globals(), *array_kernels.__all__})
