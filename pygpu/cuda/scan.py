"""PyCUDA's scans: the current context, CUDA C++ snippets.

::

    InclusiveScanKernel(np.int32, "a + b")(x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.array.cuda_functions import stream_of
from pygpu._src.codegen.dtypes import native
from pygpu._src.codegen.fastpath import public_methods as _public_methods
from pygpu._src.user_kernels.language import CUDA
from pygpu._src.user_kernels.scan import Scan
from pygpu._src.user_kernels.snippet import kernel_repr

if TYPE_CHECKING:
    from typing import Literal, TypeVar

    from pygpu import _cuda
    from pygpu._src.array.cuda_array import GPUArray

    _ArrayT = TypeVar("_ArrayT", bound=GPUArray[Any])

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]


@_public_methods
class _ScanKernel:
    """A scan of one-dimensional arrays.

    dtype: possibly a structure. scan_expr: of ``a`` (before) and ``b``, associative. neutral: an
    expression for the neutral element. name_prefix: of the kernels. options, preamble: as
    ElementwiseKernel's. Compiled at the first call, in the context of the array.
    """

    _output = ""

    def __init__(
        self,
        dtype: Any,
        scan_expr: str,
        neutral: str | None = None,
        name_prefix: str = "scan",
        options: Any = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        if neutral is None and "prev_item" in self._output:
            raise ValueError(f"{type(self).__name__}: an exclusive scan needs a neutral element")
        self.dtype: np.dtype[Any] = native(dtype, type(self).__name__)
        ctype = CUDA.ctype(self.dtype)
        self._do = Scan(
            CUDA,
            dtype,
            f"{ctype} *input_ary, {ctype} *output_ary",
            "input_ary[i]",
            scan_expr,
            neutral,
            self._output,
            name_prefix=name_prefix,
            options=options,
            preamble=preamble,
        )

    def __repr__(self) -> str:
        return kernel_repr(self, self._do.name, self._do.snippet.parameters)

    def __call__(
        self,
        input_ary: _ArrayT,
        output_ary: _ArrayT | Literal["new"] | None = None,
        allocator: Any = None,
        stream: _cuda.Stream | None = None,
    ) -> _ArrayT:
        """Scan into *output_ary*: the input itself if left out, a new array for "new". Returns
        the output.

        Raises TypeError for a wrong dtype, ValueError for other than one axis or other shapes.
        """
        from pygpu.scan import scan_array

        if stream is not None:
            stream = stream_of(stream, self._do.call)
        output: _ArrayT = scan_array(self._do, input_ary, output_ary, allocator, stream)
        return output


class InclusiveScanKernel(_ScanKernel):
    """y[i] = x[0] o ... o x[i]. A neutral element is not needed."""

    __doc__ = f"{__doc__}\n{_ScanKernel.__doc__}"
    _output = "output_ary[i] = item;"


class ExclusiveScanKernel(_ScanKernel):
    """y[i] = x[0] o ... o x[i - 1]; y[0] is the neutral element."""

    __doc__ = f"{__doc__}\n{_ScanKernel.__doc__}"
    _output = "output_ary[i] = prev_item;"
