"""Factorizations of matrices by pygpu's own kernels."""
