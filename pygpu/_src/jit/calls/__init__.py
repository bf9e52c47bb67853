"""Functions that kernels can call: Python's own, NumPy's, and those that only kernels have."""
