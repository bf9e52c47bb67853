"""Errors and warnings under the names of ``numba.core.errors``, for programs that catch or filter
them: what a kernel cannot be compiled for is a KernelError under each name, and no warning of these
is ever given."""

from __future__ import annotations

from pygpu._src.jit.source import KernelError

__all__ = [
    "CompilerError",
    "ConstantInferenceError",
    "CudaLoweringError",
    "DeprecationError",
    "ForceLiteralArg",
    "InternalError",
    "KernelRuntimeError",
    "LiteralTypingError",
    "LoweringError",
    "NumbaDebugInfoWarning",
    "NumbaDeprecationWarning",
    "NumbaAssertionError",
    "NumbaAttributeError",
    "NumbaError",
    "NumbaIndexError",
    "NumbaKeyError",
    "NumbaExperimentalFeatureWarning",
    "NumbaIRAssumptionWarning",
    "NumbaInvalidConfigWarning",
    "NumbaNotImplementedError",
    "NumbaParallelSafetyWarning",
    "NumbaPedanticWarning",
    "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaRuntimeError",
    "NumbaSystemWarning",
    "NumbaTypeError",
    "NumbaTypeSafetyWarning",
    "NumbaValueError",
    "NumbaWarning",
    "RequireLiteralValue",
    "TypingError",
    "UntypedAttributeError",
    "UnsupportedError",
]

NumbaError = TypingError = LoweringError = UnsupportedError = CompilerError = KernelError
NumbaTypeError = NumbaValueError = NumbaNotImplementedError = NumbaRuntimeError = KernelError
NumbaAssertionError = NumbaAttributeError = NumbaIndexError = NumbaKeyError = KernelError
ConstantInferenceError = RequireLiteralValue = UntypedAttributeError = KernelError
CudaLoweringError = DeprecationError = ForceLiteralArg = InternalError = KernelError
LiteralTypingError = KernelError


class KernelRuntimeError(RuntimeError):
    """For programs that catch it; never raised: kernels report exceptions of Python."""


class NumbaWarning(Warning):
    """The base of Numba's warnings; never given."""


class NumbaDebugInfoWarning(NumbaWarning):
    """Never given."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Never given."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Never given."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """Never given."""


class NumbaIRAssumptionWarning(NumbaWarning):
    """Never given."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """Never given."""


class NumbaParallelSafetyWarning(NumbaWarning):
    """Never given."""


class NumbaPedanticWarning(NumbaWarning):
    """Never given."""


class NumbaPerformanceWarning(NumbaWarning):
    """Never given."""


class NumbaSystemWarning(NumbaWarning):
    """Never given."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """Never given."""
