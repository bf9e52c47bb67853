"""NumPy's numpy.polynomial for device arrays: values, matrices, fits, and series of powers.

NumPy's own functions convert their operands by ``numpy.array``, which refuses device arrays. Points
or coefficients may be on the host if the others are on a device.
"""

from . import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

__all__ = ["chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial"]
