"""Templates of kernels: the skeletons of device algorithms in the common language."""
