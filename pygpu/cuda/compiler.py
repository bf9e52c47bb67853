"""CUDA C++ to modules: SourceModule and what is under it. See docs/cuda/compiling.md."""

import sys as _sys
from types import ModuleType as _ModuleType
from typing import Any as _Any

from .._src.runtime.cuda import source_module as _implementation
from .._src.runtime.cuda.source_module import *  # noqa: F403
from .._src.runtime.cuda.source_module import __all__  # noqa: F401
from .._src.util.public import Forwarding as _Forwarding
from .._src.util.public import forwarding as _forwarding


class _Compiler(_ModuleType):
    """Programs set DEFAULT_NVCC_FLAGS here; SourceModule reads it in the implementation."""

    def __setattr__(self, name: str, value: _Any) -> None:
        if name == "DEFAULT_NVCC_FLAGS":
            _implementation.DEFAULT_NVCC_FLAGS = value
        super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Compiler

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
