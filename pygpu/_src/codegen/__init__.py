"""Text of kernels: the common language of both backends. Nothing here touches a device."""
