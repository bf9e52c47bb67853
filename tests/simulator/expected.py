"""Functions for the expressions in kernels/*.cu: what the kernels should compute, in NumPy and plain Python."""

from __future__ import annotations

import numpy as np
