"""What runs on a device: the protocol of a backend, and compiled kernels by key."""
