"""The layer that uses devices: the protocol of a backend, and compiled kernels by key."""
