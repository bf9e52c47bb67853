"""Functions of the common language that generated kernels call."""
