"""Operations into a given result, under the private names that programs for PyCUDA call.

``x._axpbyz(1, y, 1, out)`` writes ``x + y`` to *out*, which may be one of the operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .cuda_functions import stream_of
from .routines import joining


class Operations:
    """Methods of GPUArray. Shapes are broadcast to that of *out*; each returns *out*.

    They raise ValueError if shapes do not fit, and all except _axpbyz, which converts as C does,
    raise TypeError if *out* cannot hold numbers of that kind.
    """

    _mul_add: Any

    def _axpbyz(
        self,
        selffac: Any,
        other: Any,
        otherfac: Any,
        out: Any,
        add_timer: Any = None,
        stream: Any = None,
    ) -> Any:
        """``out = selffac * self + otherfac * other``."""
        return self._mul_add(selffac, other, otherfac, stream_of(stream, "_axpbyz"), out)

    def _axpbz(self, selffac: Any, other: Any, out: Any, stream: Any = None) -> Any:
        """``out = selffac * self + other``, where *other* is a number."""
        stream = stream_of(stream, "_axpbz")
        joining.binary("multiply", self, selffac, out, stream)
        return joining.binary("add", out, other, out, stream)

    def _elwise_multiply(self, other: Any, out: Any, stream: Any = None) -> Any:
        """``out = self * other``."""
        return joining.binary("multiply", self, other, out, stream_of(stream, "_elwise_multiply"))

    def _div(self, other: Any, out: Any, stream: Any = None) -> Any:
        """``out = self / other``; rounded down if *out* is of integers."""
        return _divide(self, other, out, stream)

    def _rdiv_scalar(self, other: Any, out: Any, stream: Any = None) -> Any:
        """``out = other / self``, where *other* is a number."""
        return _divide(other, self, out, stream)

    def _pow(self, other: Any, new: bool) -> Any:
        """``self ** other``, in a new array or, if not *new*, in this one."""
        return joining.binary("power", self, other, None if new else self)


def _divide(a: Any, b: Any, out: Any, stream: Any) -> Any:
    name = "floor_divide" if out.dtype.kind in "iu" else "true_divide"
    return joining.binary(name, a, b, out, stream_of(stream, "_div"))


def common_dtype(obj1: Any, obj2: Any) -> np.dtype[Any]:
    """Return the dtype of a result of two arrays, or of an array and a number."""
    return np.result_type(*(obj.dtype if hasattr(obj, "dtype") else obj for obj in (obj1, obj2)))


def broadcast_result(obj1: Any, obj2: Any, dtype_getter: Any = common_dtype) -> Any:
    """Make an uninitialized array for the result of two arrays of the same shape, or of which one
    has shape (). Raises NotImplementedError for other shapes."""
    if obj1.shape == obj2.shape or obj2.shape == ():
        return obj1._new_like_me(dtype_getter(obj1, obj2))
    if obj1.shape == ():
        return obj2._new_like_me(dtype_getter(obj1, obj2))
    raise NotImplementedError(
        f"_get_broadcasted_binary_op_result: shapes {obj1.shape} and {obj2.shape}; operators "
        "broadcast them"
    )
