"""`reduce`: turns a function of two numbers into a reduction of arrays.

>>> import numpy as np, pygpu
>>> @pygpu.reduce
... def total(a, b):
...     return a + b
>>> total(np.arange(5)), total(np.ones((2, 3)), axis=0).tolist()
(np.int64(10), [2.0, 2.0, 2.0])

Items are joined in order, so the function must be associative but need not be commutative, and
does not need a neutral element.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import primitives
from pygpu._src.array.ufuncs import is_array
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.fastpath import public, public_methods
from pygpu._src.util.public import publish

from . import binary, device
from .operands import operand, stream_of, undecorated
from .target import check_target

DType = np.dtype[Any]
_NONE: Any = object()


@public_methods
class Reduce:
    """A reduction by a Python function; made by :func:`reduce`.

    py_func: the function. identity: the initial value if a call does not pass `init`; None for
    none.
    """

    _keeps_dtype = False  # the result has the dtype of the items

    def __init__(
        self, functor: Callable[[Any, Any], Any], identity: Any = None, target: str | None = None
    ) -> None:
        self.py_func = functor
        self.identity = identity
        self.target = target
        self._name = getattr(functor, "__name__", "reduce")
        if device.parameter_count(functor, "reduce") != 2:
            raise TypeError(f"reduce: {self._name} must have two parameters, such as (a, b)")
        self._functions: dict[Any, Any] = {}
        functools.update_wrapper(self, functor, updated=())

    def __repr__(self) -> str:
        return f"<reduction by {self._name!r}>"

    def _function(self, given: DType, dtype: Any, backend: Any) -> Any:
        key = given, dtype, backend
        found = self._functions.get(key)
        if found is None or not device.is_current(found[1]):
            number = given if dtype is None else dtypes.native(dtype, self._name)
            if dtype is None and not self._keeps_dtype:
                number = binary.closure(self.py_func, number, backend)
            text = device.compile(self.py_func, (number, number), backend)
            found = binary.function(self.py_func, number, backend), text
            self._functions[key] = found
        return found[0]

    def __call__(
        self,
        arr: Any,
        size: int | None = None,
        res: Any = None,
        init: Any = _NONE,
        stream: Any = None,
        *,
        axis: Any = None,
        keepdims: bool = False,
        dtype: Any = None,
        out: Any = None,
        queue: Any = None,
    ) -> Any:
        """Reduce *arr*, a host or device array of any shape and strides, over *axis*: an int, a
        tuple of ints, or None for all.

        size: reduce only the first items of an array with one axis. init: the initial value. res:
        an array whose first item receives the result; then nothing is returned, and the call does
        not wait. dtype: of calculation and result; by default that of the items, or of the
        function's result for them. out: an array of the result's shape.

        The result is on the host if the array is, on the device if the array is. Raises ValueError
        for no items without `init`, TypeError for a dtype that the function's result does not fit.
        """
        given = operand(arr, self._name)
        if not is_array(given):
            given = np.asarray(given)
        if size is not None:
            if given.ndim != 1:
                raise ValueError(f"{self._name}: size needs an array with one axis")
            if not 0 <= size <= given.shape[0]:
                raise ValueError(
                    f"{self._name}: size must be from 0 to {given.shape[0]}, not {size}"
                )
            given = given[:size]
        found = binary.reduce(
            self._name,
            lambda d, backend: self._function(d, dtype, backend),
            given,
            axis,
            out=out,
            keepdims=keepdims,
            initial=self._initial(init),
            target=self.target,
            queue=stream_of(queue, stream, self._name),
        )
        if res is None:
            return found
        return self._store_in(res, found)

    def _initial(self, init: Any) -> Any:
        return self.identity if init is _NONE else init

    def _store_in(self, res: Any, found: Any) -> None:
        """Store a result of one item in the first item of an array."""
        array: Any = operand(res, self._name)
        if not isinstance(array, (np.ndarray, GPUArray)) or array.size < 1:
            raise ValueError(f"{self._name}: res must be an array with at least one item")
        if getattr(found, "size", 1) != 1:
            raise ValueError(f"{self._name}: res is for a result of one item; use out")
        index = (0,) * array.ndim
        if isinstance(array, np.ndarray):
            array[index] = found.get().reshape(())[()] if is_array(found) else found
            return
        view: Any = array._view((1,) * array.ndim, array.strides, array.offset)
        if not is_array(found):
            found = primitives.as_array(array, np.asarray(found))
        view._copy_from(found._view((1,) * array.ndim, (0,) * array.ndim, found.offset))
        primitives.changed(array, view)


@public
def reduce(functor: Any = None, *, identity: Any = None, target: str | None = None) -> Any:
    """Compile an associative function of two numbers to a reduction; for use as a decorator, with
    or without options, or as a function: ``reduce(lambda a, b: a + b)``.

    identity: the initial value of reductions, and the result for no items. target: where host
    arrays are reduced, as for vectorize. Returns a :class:`Reduce`.
    """
    check_target(target, "reduce")
    if functor is None:
        return public(lambda function: Reduce(undecorated(function), identity, target))
    return Reduce(undecorated(functor), identity, target)


publish(globals(), ["reduce"], "pygpu")
