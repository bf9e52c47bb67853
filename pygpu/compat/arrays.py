"""Arrays as programs for PyOpenCL and PyCUDA expect them, where NumPy's answer is another one.

``Array`` and ``GPUArray`` here are pygpu's, except that

- comparisons have the dtype that those programs know: int8 in PyOpenCL (there also any, all and the
  logical functions), the array's own in PyCUDA,
- ``real`` and ``imag`` of complex arrays are copies without gaps, as such programs hand them to
  kernels of their own,
- ``dot`` of matrices is one number, the sum of all products,
- PyCUDA's ``reshape(order=)`` says in which order the memory is from then on,
- attributes can be assigned to; a class that defines ``_new_like_me`` has its results made by it.

isinstance() holds for all arrays of the backend, as some functions of pygpu make plain ones.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from numbers import Number
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["clrandom_names", "cuda_names", "curandom_names", "opencl_names"]

_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_UNARY = {"neg": "negative", "abs": "absolute", "invert": "invert"}


class _AnyArray(type):
    """isinstance(x, alias) asks for the class that the alias stands for."""

    def __instancecheck__(cls, obj: Any) -> bool:
        real = cls.__dict__.get("_stands_for")
        return isinstance(obj, real) if real is not None else type.__instancecheck__(cls, obj)


class _LegacyMixin:
    """Attributes of both packages' arrays that NumPy's lack; before pygpu's class in the MRO."""

    _own_results = False  # of a subclass that has a _new_like_me of its own

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_new_like_me" in cls.__dict__ and "_stands_for" not in cls.__dict__:
            cls._own_results = True
            if "__iter__" not in cls.__dict__:
                own: Any = cls
                own.__iter__ = None  # PyOpenCL's arrays are not collections.abc.Iterable
            _use_python_operators(cls)

    def _new(self: Any, shape: Any, dtype: Any, strides: Any = None, queue: Any = None) -> Any:
        if not self._own_results:
            return super()._new(shape, dtype, strides, queue)  # type: ignore[misc]
        if strides is None and shape == self.shape and self._c_contiguous:
            return self._new_like_me(dtype)
        made = super()._new(shape, dtype, strides, queue)  # type: ignore[misc]
        made.__dict__.update(_user_attributes(self))
        return made

    def _view(self: Any, *args: Any, **options: Any) -> Any:
        view = super()._view(*args, **options)  # type: ignore[misc]
        if self._own_results:
            view.__dict__.update(_user_attributes(self))
        return view

    def __reduce__(self: Any) -> Any:
        how: Any = super().__reduce__()
        if "_stands_for" not in type(self).__dict__:
            return how
        make, (alias, *rest) = how  # whose name is that of another class
        return _unpickle, (make, alias._stands_for.__name__, rest)

    @property
    def nbytes(self: Any) -> Any:
        """size * itemsize [bytes], or what the program put here."""
        return self.__dict__.get("_nbytes", self.size * self.itemsize)

    @nbytes.setter
    def nbytes(self: Any, value: Any) -> None:
        self.__dict__["_nbytes"] = value

    @property
    def real(self: Any) -> Any:
        """The real parts, as a copy; of real arrays the array itself."""
        return self._part(False)._copy() if self.dtype.kind == "c" else self

    @real.setter
    def real(self: Any, value: Any) -> None:
        (self._part(False) if self.dtype.kind == "c" else self)[...] = value

    @property
    def imag(self: Any) -> Any:
        """The imaginary parts, as a copy; zeros for real arrays."""
        return self._part(True)._copy() if self.dtype.kind == "c" else super().imag  # type: ignore[misc]

    @imag.setter
    def imag(self: Any, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self._part(True)[...] = value


def _unpickle(make: Callable[..., Any], name: str, rest: list[Any]) -> Any:
    names = cuda_names() if name == "GPUArray" else opencl_names()
    return make(names[name], *rest)


def _user_attributes(array: Any) -> dict[str, Any]:
    """Attributes that a program gave to an array, for arrays that are made from it."""
    return {k: v for k, v in array.__dict__.items() if k not in ("base", "_nbytes")}


def _use_python_operators(cls: Any) -> None:
    """Operators that always ask _new() for their results."""
    from pygpu._src.array.operators import operate

    def binary(name: str) -> Any:
        return lambda self, other: operate(name, None, self, other)

    def reflected(name: str) -> Any:
        return lambda self, other: operate(name, None, other, self)

    def unary(name: str) -> Any:
        return lambda self: operate(name, None, self)

    for slot, name in _BINARY.items():
        for prefix, make in (("", binary), ("r", reflected)):
            if f"__{prefix}{slot}__" not in cls.__dict__:
                setattr(cls, f"__{prefix}{slot}__", make(name))
    for slot, name in _UNARY.items():
        if f"__{slot}__" not in cls.__dict__:
            setattr(cls, f"__{slot}__", unary(name))


class _PyOpenCLMixin(_LegacyMixin):
    """Further attributes of PyOpenCL's arrays."""

    def any(self: Any, *args: Any, **options: Any) -> Any:
        """Whether any item is true, as int8."""
        return _as_int8(super().any(*args, **options))  # type: ignore[misc]

    def all(self: Any, *args: Any, **options: Any) -> Any:
        """Whether all items are true, as int8."""
        return _as_int8(super().all(*args, **options))  # type: ignore[misc]


def _as_int8(made: Any) -> Any:
    """Truth values as the numbers that PyOpenCL has for them."""
    return made.view(np.int8) if made.dtype.kind == "b" else made


def _as_int8_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of truth values, with the dtype of a comparison."""

    @functools.wraps(function)
    def make(*args: Any, **options: Any) -> Any:
        return _as_int8(function(*args, **options))

    return make


class _PyCUDAMixin(_LegacyMixin):
    """Further attributes of PyCUDA's arrays."""

    @property
    def gpudata(self: Any) -> Any:
        """The memory, as kernels take it."""
        return super().gpudata  # type: ignore[misc]

    @gpudata.setter
    def gpudata(self: Any, value: Any) -> None:
        if value is None or int(value) != self.ptr:
            self._set_memory(value, 0)

    def reshape(self: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
        """The same memory in another shape, from now on in the given order."""
        if copy is not None or not (self._c_contiguous or self._f_contiguous):
            return super().reshape(*shape, order=order, copy=copy)  # type: ignore[misc]
        flat = self._view((self.size,), None, self.offset)
        made = super(_LegacyMixin, flat).reshape(*shape, order="C")  # type: ignore[misc]
        if order == "C" or (order == "A" and self._c_contiguous):
            return made
        if order not in ("F", "A"):
            raise ValueError(f"reshape: order must be 'C', 'F' or 'A', not {order!r}")
        strides = np.cumprod((made.itemsize, *made.shape[:-1])).tolist() if made.ndim else ()
        return made._view(made.shape, tuple(strides), made.offset)


def _alias(real: type, comparisons: Any, old: type) -> Any:
    return _AnyArray(
        real.__name__,
        (old, real),
        {
            "__doc__": real.__doc__,
            "__module__": real.__module__,
            "_comparison_dtype": comparisons,
            "_stands_for": real,
        },
    )


def _make_alias_function(function: Callable[..., Any], alias: Any) -> Callable[..., Any]:
    """A function that makes arrays, making the alias's."""

    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        return made._view(made.shape, made.strides, made.offset, None, alias)

    return make


def _names(
    module: ModuleType, cls: str, makers: str, comparisons: Any, old: type
) -> dict[str, Any]:
    alias = _alias(getattr(module, cls), comparisons, old)
    names = {cls: alias, "empty": alias}
    for name in makers.split():
        names[name] = _make_alias_function(getattr(module, name), alias)
    return names


def _flat_dot(dot: Callable[..., Any]) -> Callable[..., Any]:
    """dot() of the flat arrays: one number, whatever their shapes."""

    @functools.wraps(dot)
    def work(a: Any, b: Any, *args: Any, **options: Any) -> Any:
        if getattr(a, "ndim", 0) > 1 or getattr(b, "ndim", 0) > 1:
            a, b = (x.reshape(-1) if getattr(x, "ndim", 1) != 1 else x for x in (a, b))
        return dot(a, b, *args, **options)

    return work


@functools.cache
def opencl_names() -> dict[str, Any]:
    """The names that are pyopencl.array's own."""
    module = importlib.import_module("pygpu.array")
    names = _names(module, "Array", "to_device zeros arange", "int8", _PyOpenCLMixin)
    for name in ("all", "any", "logical_and", "logical_not", "logical_or"):
        names[name] = _as_int8_function(getattr(module, name))
    names |= {"_get_common_dtype": _common_dtype, "dot": _flat_dot(module.dot)}
    names["SCALAR_CLASSES"] = (Number, np.bool_, bool)
    names["has_double_support"] = importlib.import_module("pygpu.characterize").has_double_support
    return names


@functools.cache
def cuda_names() -> dict[str, Any]:
    """The names that are pycuda.gpuarray's own."""
    module = importlib.import_module("pygpu.cuda.gpuarray")
    makers = "to_gpu to_gpu_async zeros ones arange empty_like zeros_like ones_like"
    return _names(module, "GPUArray", makers, "same", _PyCUDAMixin) | {"dot": _flat_dot(module.dot)}


def _random_names(module: ModuleType, alias: Any, methods: str) -> dict[str, Any]:
    """rand() and the generators of a module, making the alias's arrays."""
    names = {"rand": _make_alias_function(module.rand, alias)}
    for name in module.__all__:
        cls = getattr(module, name)
        if name.endswith("Generator") and isinstance(cls, type):
            made = {
                m: _make_alias_function(getattr(cls, m), alias)
                for m in methods.split()
                if hasattr(cls, m)
            }
            names[name] = type(name, (cls,), {"__module__": cls.__module__, **made})
    return names


@functools.cache
def clrandom_names() -> dict[str, Any]:
    """The names that are pyopencl.clrandom's own."""
    module = importlib.import_module("pygpu.clrandom")
    return _random_names(module, opencl_names()["Array"], "uniform normal")


@functools.cache
def curandom_names() -> dict[str, Any]:
    """The names that are pycuda.curandom's own."""
    module = importlib.import_module("pygpu.cuda.curandom")
    methods = "gen_uniform gen_normal gen_log_normal gen_poisson"
    return _random_names(module, cuda_names()["GPUArray"], methods)


def _common_dtype(obj1: Any, obj2: Any, queue: Any) -> np.dtype[Any]:
    """The dtype of an operation of arrays, other objects with a dtype, and numbers."""
    if queue is None:
        raise ValueError("the array has no queue: use array.with_queue(queue)")
    return np.result_type(*(getattr(x, "dtype", x) for x in (obj1, obj2)))
