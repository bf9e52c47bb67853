"""Fourier transforms by our own kernels: tables, plans, and their execution."""
