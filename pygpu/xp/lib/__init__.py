"""NumPy's numpy.lib for device arrays: its stride_tricks."""

from . import stride_tricks

__all__ = ["stride_tricks"]
