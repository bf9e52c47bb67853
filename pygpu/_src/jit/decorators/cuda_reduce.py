"""`pygpu.cuda.reduce`: reductions by a Python function, as in numba.cuda."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pygpu._src.array.ufuncs import is_array
from pygpu._src.codegen.fastpath import public_methods

from .reduce import Reduce as _Reduce

__all__ = ["Reduce", "reduce"]


@public_methods
class Reduce(_Reduce):
    """The variant `numba.cuda.reduce`: the result has the dtype of the items, starts from *init*,
    by default 0, and is a NumPy number even for device arrays."""

    _keeps_dtype = True

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        super().__init__(functor, 0, "cuda")

    def __call__(
        self,
        arr: Any,
        size: int | None = None,
        res: Any = None,
        init: Any = 0,
        stream: Any = None,
        **options: Any,
    ) -> Any:
        """See :meth:`pygpu._src.jit.decorators.reduce.Reduce.__call__`."""
        found: Any = super().__call__(arr, size, res, init, stream, **options)
        if is_array(found) and found.ndim == 0 and options.get("out") is None:
            return found.get()[()]
        return found


reduce = Reduce
