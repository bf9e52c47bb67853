"""What makes kernels and ufuncs of Python functions, and launches them."""
