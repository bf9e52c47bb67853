"""Fourier transforms by kernels of our own: tables, plans, and what runs them."""
