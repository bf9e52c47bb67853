"""Functions that no library computes on a device: NumPy's own on host copies, with one warning."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.util import log
from pygpu._src.util.user_frame import user_stacklevel

_warned = False


def _to_host(value: Any) -> Any:
    if isinstance(value, GPUArray):
        return value.get()  # type: ignore[attr-defined]
    if isinstance(value, (list, tuple)):
        return type(value)(_to_host(v) for v in value)
    return value


def _to_device(like: Any, value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return like._from_host(np.asarray(value))
    if isinstance(value, tuple):
        parts = [_to_device(like, v) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def compute(like: Any, function: Any, *args: Any, **options: Any) -> Any:
    """Call a function of NumPy with the arrays' contents; its results are arrays on the device of
    *like*. Warns, once per process, unless an array has no items, or with quiet=True."""
    global _warned
    quiet = options.pop("quiet", False)
    log.log(
        "fallback",
        log.INFO,
        "%s runs on the host: no library for %s computes it",
        f"{function.__module__}.{function.__name__}",
        like.backend.label,
    )
    if not quiet and not _warned and all(x.size for x in args if isinstance(x, GPUArray)):
        _warned = True
        name = f"{function.__module__}.{function.__name__}"
        warnings.warn(
            f"{name} is computed by NumPy on the host: its arrays are copied there and back. "
            "docs/arrays/linalg_fft.md lists such functions and what to install. "
            "This warning is shown once.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    out = options.pop("out", None)
    host = function(*_to_host(args), **{k: _to_host(v) for k, v in options.items()})
    if out is None:
        return _to_device(like, host)
    out[...] = _to_device(like, host)
    return out
