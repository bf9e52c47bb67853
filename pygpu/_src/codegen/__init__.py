"""Source of kernels in the common language of both backends. Nothing here uses a device."""
