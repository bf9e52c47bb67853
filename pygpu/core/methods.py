"""allow_host_copies() under its old name: use pygpu.allow_host_copies()."""

from .._src.array.methods import allow_host_copies

__all__ = ["allow_host_copies"]
