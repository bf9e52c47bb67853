"""CompileError, as PyCUDA has it."""

from pygpu.errors import CompileError

__all__ = ["CompileError"]
