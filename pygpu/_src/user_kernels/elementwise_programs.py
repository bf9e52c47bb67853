"""Elementwise kernels of OpenCL as programs and kernels that users launch themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygpu import _opencl
from pygpu._src.runtime.backends import backend_of
from pygpu._src.util.public import publish

from .elementwise import Elementwise
from .language import OPENCL, Parameter
from .snippet import FLAT, RANGE

__all__ = ["get_elwise_kernel", "get_elwise_kernel_and_types", "get_elwise_program"]


def get_elwise_program(
    context: _opencl.Context,
    arguments: str | Sequence[Any],
    operation: str,
    *,
    name: str = "elwise_kernel",
    options: Any = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
    use_range: bool = False,
) -> _opencl.Program:
    """Return the built Program whose kernel *name* does the operation for contiguous arrays.

    arguments: without n, start, stop and step, which follow them; an array is passed as a buffer
    and an offset in bytes. The others are as for ElementwiseKernel.
    """
    do = Elementwise(OPENCL, arguments, operation, name, options, preamble, loop_prep, after_loop)
    source = do.source(backend_of(context), RANGE if use_range else FLAT)
    return _opencl.Program(context, source).build(do.options)


def get_elwise_kernel_and_types(
    context: _opencl.Context,
    arguments: str | Sequence[Any],
    operation: str,
    *,
    name: str = "elwise_kernel",
    options: Any = None,
    preamble: str = "",
    use_range: bool = False,
    **kwargs: Any,
) -> tuple[_opencl.Kernel, list[Parameter]]:
    """Return (kernel, arguments). After the queue, the global and the local size, the kernel takes
    an Array for each array, numbers, and n, or start, stop and step."""
    kwargs.pop("auto_preamble", None)
    do = Elementwise(OPENCL, arguments, operation, name, options, preamble, **kwargs)
    return do.launch(backend_of(context), RANGE if use_range else FLAT), list(do.parameters)


def get_elwise_kernel(
    context: _opencl.Context,
    arguments: str | Sequence[Any],
    operation: str,
    *,
    name: str = "elwise_kernel",
    options: Any = None,
    **kwargs: Any,
) -> _opencl.Kernel:
    """Return the kernel of get_elwise_kernel_and_types."""
    return get_elwise_kernel_and_types(
        context, arguments, operation, name=name, options=options, **kwargs
    )[0]


publish(globals(), __all__, "pygpu.elementwise")
