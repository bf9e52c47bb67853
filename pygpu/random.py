"""numpy.random.Generator on a device: the same methods, whose results are arrays of the device.

>>> from pygpu import random
>>> rng = random.default_rng(17)
>>> x = rng.normal(180, 8, size=1000)

The numbers are those of a counter-based generator, the same on every device: docs/arrays/random.md.
"""

from __future__ import annotations

from pygpu._src.user_kernels.bit_generator import Philox4x32
from pygpu._src.user_kernels.generator import Generator, default_rng

__all__ = ["Generator", "Philox4x32", "default_rng"]
