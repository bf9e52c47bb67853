"""What kernels can call: Python's own functions, NumPy's, and those that only kernels have."""
