"""Decorators that make kernels and ufuncs from Python functions, and their launches."""
