"""The same as pygpu.cuda.autoinit, which uses the primary context too."""

from .autoinit import context, device

__all__ = ["context", "device"]
