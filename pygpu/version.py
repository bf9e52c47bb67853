"""Version of pygpu, also as PyOpenCL spells it."""

VERSION = (0, 1, 0)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(map(str, VERSION)) + VERSION_STATUS
