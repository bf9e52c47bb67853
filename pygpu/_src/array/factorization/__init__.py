"""Factorizations of matrices by kernels of pygpu."""
