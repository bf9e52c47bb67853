"""Mako under the name by which PyOpenCL's and PyCUDA's programs import it from there."""

import importlib
from typing import Any

_NAMES = {"mako": "mako", "template": "mako.template", "lookup": "mako.lookup"}


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return importlib.import_module(_NAMES[name])
    except ImportError:
        raise ImportError(
            "this program generates its kernels with Mako, which is not installed: pip install mako"
        ) from None
