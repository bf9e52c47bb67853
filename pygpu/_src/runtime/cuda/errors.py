"""CompileError, as in PyCUDA."""

from pygpu.errors import CompileError, Error

__all__ = ["CompileError"]

_INVALID_VALUE, _NOT_FOUND = 1, 500


def is_unknown_address(error: Exception) -> bool:
    """Whether a driver said that it does not know any memory at an address. Otherwise the context
    is unusable, and the error must be reported."""
    return isinstance(error, Error) and error.code in (_INVALID_VALUE, _NOT_FOUND)
