"""Arrays as programs for PyOpenCL and PyCUDA expect them, where NumPy's answer is another one.

``Array`` and ``GPUArray`` here are pygpu's, except that comparisons have the dtype that those
programs know: int8 in PyOpenCL, the array's own in PyCUDA. isinstance() holds for all arrays of the
backend, as some functions of pygpu make plain ones.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["opencl_names", "cuda_names"]


class _AnyArray(type):
    """isinstance(x, alias) asks for the class that the alias stands for."""

    def __instancecheck__(cls, obj: Any) -> bool:
        real = cls.__dict__.get("_stands_for")
        return isinstance(obj, real) if real is not None else type.__instancecheck__(cls, obj)


def _alias(real: type, comparisons: Any) -> Any:
    return _AnyArray(
        real.__name__,
        (real,),
        {
            "__doc__": real.__doc__,
            "__module__": real.__module__,
            "__slots__": (),
            "_comparison_dtype": comparisons,
            "_stands_for": real,
        },
    )


def _making(function: Callable[..., Any], alias: Any) -> Callable[..., Any]:
    """A function that makes arrays, making the alias's."""

    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        return made._view(made.shape, made.strides, made.offset, None, alias)

    return make


def _names(module: ModuleType, cls: str, makers: str, comparisons: Any) -> dict[str, Any]:
    alias = _alias(getattr(module, cls), comparisons)
    names = {cls: alias, "empty": alias}
    for name in makers.split():
        names[name] = _making(getattr(module, name), alias)
    return names


@functools.cache
def opencl_names() -> dict[str, Any]:
    """What pyopencl.array has of its own."""
    module = importlib.import_module("pygpu.array")
    return _names(module, "Array", "to_device zeros arange", "int8")


@functools.cache
def cuda_names() -> dict[str, Any]:
    """What pycuda.gpuarray has of its own."""
    module = importlib.import_module("pygpu.cuda.gpuarray")
    makers = "to_gpu to_gpu_async zeros ones arange empty_like zeros_like ones_like"
    return _names(module, "GPUArray", makers, "same")
