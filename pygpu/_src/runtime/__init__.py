"""The layer that uses devices: the backend protocol, and the cache of compiled kernels."""
