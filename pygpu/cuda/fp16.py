"""Operations on float16 under the names of ``numba.cuda.fp16``. Kernels also take the operators.

>>> import numpy as np
>>> from pygpu import cuda
>>> @cuda.jit
... def join(a, b, out):
...     i = cuda.grid(1)
...     if i < out.size:
...         out[i] = cuda.fp16.hfma(a[i], b[i], a[i])
>>> a, out = np.array([1, 2, 3], np.float16), np.zeros(3, np.float16)
>>> join[1, 3](a, a, out)
>>> out.tolist()
[2.0, 6.0, 12.0]

``hne`` is False if an argument is NaN, as in CUDA; the operator ``!=`` is True.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pygpu._src.jit.calls.narrow_functions import UFUNCS, NarrowFunctions

if TYPE_CHECKING:
    from pygpu._src.jit.calls.intrinsics import Intrinsic

_make = NarrowFunctions("fp16", np.float16)
_MADE = {name: _make.by_ufunc(name, ufunc) for name, ufunc in UFUNCS.items()}
_MADE |= {
    "hexp10": _make.by_text("hexp10", "exp2({0} * 3.32192809f)"),
    "hfma": _make.by_text("hfma", "pgu_odd_fma({0}, {1}, {2})", 3),
    "hne": _make.by_text("hne", "pgu_ordered_ne({0}, {1})", 2, "bool"),
    "hrcp": _make.by_text("hrcp", "1.0f / {0}"),
    "hrsqrt": _make.by_text("hrsqrt", "1.0f / sqrt({0})"),
}
__all__ = sorted(_MADE)
globals().update(_MADE)


if TYPE_CHECKING:

    def __getattr__(name: str) -> Intrinsic: ...
