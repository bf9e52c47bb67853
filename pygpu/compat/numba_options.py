"""Numba's checks of the options of ``vectorize`` and ``guvectorize``, with its errors."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from pygpu._src.jit.decorators.options import unknown_options

__all__ = ["checking_options"]


def checking_options(decorator: Any) -> Any:
    """The decorator, which refuses options that it does not have, and warns of nopython for CUDA,
    as Numba does."""

    @functools.wraps(decorator)
    def decorate(*args: Any, **options: Any) -> Any:
        on_cuda = options.get("target") == "cuda"
        name = decorator.__name__
        unknown, remedy = unknown_options(name, decorator, options)
        if unknown and on_cuda and name == "guvectorize":
            listed = ", ".join(map(repr, unknown))
            raise TypeError(f"The following target options are not supported: {listed}")
        if unknown:
            raise KeyError(f"{name}: Unrecognized options: {', '.join(unknown)}; {remedy}")
        if on_cuda and name == "vectorize" and options.get("nopython"):
            text = "nopython kwarg for cuda target is redundant"
            warnings.warn(text, RuntimeWarning, stacklevel=3)
        return decorator(*args, **options)

    return decorate
