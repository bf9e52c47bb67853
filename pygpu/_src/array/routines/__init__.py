"""NumPy's functions for device arrays, by the chapters of its reference."""
