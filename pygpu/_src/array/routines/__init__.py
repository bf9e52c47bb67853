"""NumPy's functions for device arrays, organized like its reference."""
