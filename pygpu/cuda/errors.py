"""CompileError, as PyCUDA has it. See docs/cuda/compiling.md."""

from pygpu.errors import CompileError

__all__ = ["CompileError"]
