"""Decorators that make kernels and ufuncs of Python functions, and their launches."""
