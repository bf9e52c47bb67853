"""Mako under the name by which PyOpenCL's and PyCUDA's programs import it from there."""

import importlib
from typing import Any

try:
    mako: Any = importlib.import_module("mako")
    template: Any = importlib.import_module("mako.template")
    lookup: Any = importlib.import_module("mako.lookup")
except ImportError:
    raise ImportError(
        "this program makes its kernels with Mako, which is not installed: pip install mako"
    ) from None

__all__ = ["lookup", "mako", "template"]
