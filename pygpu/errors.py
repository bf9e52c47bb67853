"""Exceptions of pygpu, shared by its backends.

Driver errors are LogicError (the call was wrong), MemoryError (no memory for an object) or
RuntimeError (the device or driver failed), as in PyOpenCL; the last two are the builtin classes of
these names too. Each carries `.code` (the driver's status, an int), `.routine` (the driver call)
and `.what` (the whole text).

What pygpu finds wrong before it asks the driver raises the class of its status code, as a rule
LogicError, that is also the builtin ValueError or TypeError, so that `except cl.LogicError` and
`except ValueError` both catch it.
"""

import builtins
from collections.abc import Sequence
from typing import Self

__all__ = [
    "CommandQueueUsedAfterExit",
    "CompilerWarning",
    "Error",
    "InvalidArgumentError",
    "InvalidArgumentTypeError",
    "LaunchError",
    "LogicError",
    "MemoryError",
    "RepeatedKernelRetrieval",
    "RuntimeError",
    "UnsupportedArgumentError",
]


class _ErrorRecord:
    """The record of a failed driver call: `Error.args[0]`, with PyOpenCL's accessors."""

    __slots__ = ("_code", "_name", "_routine", "_what")

    def __init__(self, routine: str, code: int, name: str, what: str) -> None:
        self._routine, self._code, self._name, self._what = routine, code, name, what

    def routine(self) -> str:
        return self._routine

    def code(self) -> int:
        return self._code

    def what(self) -> str:
        return self._what

    def is_out_of_memory(self) -> bool:
        return self._code in (-4, -5, -6)

    def __str__(self) -> str:
        text = f"{self._routine} failed: {self._name}"
        return f"{text} - {self._what}" if self._what else text

    __repr__ = __str__

    def __reduce__(self) -> tuple[object, ...]:
        return _ErrorRecord, (self._routine, self._code, self._name, self._what)


class Error(Exception):
    """Base of all driver errors."""

    @property
    def code(self) -> int:
        """Status code of the driver call, 0 if none was made."""
        record = self.args[0] if self.args else None
        return record.code() if isinstance(record, _ErrorRecord) else 0

    @property
    def routine(self) -> str:
        """Name of the driver call, or of the pygpu method that rejected its arguments."""
        record = self.args[0] if self.args else None
        return record.routine() if isinstance(record, _ErrorRecord) else ""

    @property
    def what(self) -> object:
        """The record of the failed call (PyOpenCL's `what`), or the message."""
        return self.args[0] if self.args else ""

    def is_out_of_memory(self) -> bool:
        """Whether the driver ran out of memory or of other resources of the device or host."""
        return self.code in (-4, -5, -6)

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class LogicError(Error):
    """The call is invalid: a wrong value, object, context or order of calls."""


class LaunchError(Error):
    """A CUDA kernel could not be started, or failed."""


class MemoryError(Error, builtins.MemoryError):
    """The device has no memory left for an object."""

    # The builtin MemoryError's, which would be found otherwise, refuses classes that derive from
    # another exception first. Libraries that restore exceptions (tblib, for Dask) call it by name.
    def __new__(cls, *args: object) -> Self:
        return Exception.__new__(cls, *args)


class RuntimeError(Error, builtins.RuntimeError):
    """The driver or the device failed, or a program did not build."""


class InvalidArgumentError(LogicError, ValueError):
    """A wrong value, found before the driver was called."""


class InvalidArgumentTypeError(LogicError, TypeError):
    """An argument of a wrong type, found before the driver was called."""


class UnsupportedArgumentError(RuntimeError, ValueError):
    """A wrong value, found before the driver was called, whose status OpenCL counts as a failure:
    overlapping copies, image formats, offsets of sub-buffers."""


class ShapeError(TypeError, ValueError):
    """An invalid shape of an array: a TypeError as in NumPy, a ValueError as in PyOpenCL."""


class InvalidOptionsError(RuntimeError, LogicError):
    """A compiler refused its options: a wrong call, and a failed build, which PyOpenCL takes it
    for."""


class CompilerWarning(UserWarning):
    """A program compiled, but with warnings from the compiler."""


class RepeatedKernelRetrieval(UserWarning):  # PyOpenCL's name
    """Exists for programs that filter it; pygpu never issues it, because a program keeps its
    kernels."""


class CommandQueueUsedAfterExit(UserWarning):  # PyOpenCL's name
    """A queue was used after the `with` block that finished it."""


class CompileError(Error):
    """A CUDA compiler rejected a source.

    msg: what failed; command_line: the compiler and its options; stdout, stderr: its output.
    """

    def __init__(
        self,
        msg: str,
        command_line: Sequence[str] | None,
        stdout: str | None = None,
        stderr: str | None = None,
    ) -> None:
        super().__init__(msg, command_line, stdout, stderr)
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self) -> str:
        text = self.msg
        if self.command_line:
            text += f"\n[command: {' '.join(map(str, self.command_line))}]"
        if self.stdout:
            text += f"\n[stdout:\n{self.stdout}]"
        if self.stderr:
            text += f"\n[stderr:\n{self.stderr}]"
        return text


CompileError.__module__ = "pygpu.cuda.driver"


_CLASSES = {
    ("LogicError", ""): LogicError,
    ("MemoryError", ""): MemoryError,
    ("RuntimeError", ""): RuntimeError,
    ("LaunchError", ""): LaunchError,
    ("LogicError", "ValueError"): InvalidArgumentError,
    ("LogicError", "TypeError"): InvalidArgumentTypeError,
    ("RuntimeError", "ValueError"): UnsupportedArgumentError,
}

for _class in [
    Error,
    *_CLASSES.values(),
    CompilerWarning,
    RepeatedKernelRetrieval,
    CommandQueueUsedAfterExit,
]:
    _class.__module__ = "pygpu"
del _class


def _make_error(
    kind: str, twin: str, routine: str, code: int, name: str, extra: str | None, hint: str
) -> Error:
    """The exception for a status code; called by the C modules."""
    what = extra if extra is not None else hint
    if extra is not None and hint:
        what = f"{extra} ({hint})"
    return _CLASSES.get((kind, twin), Error)(_ErrorRecord(routine, code, name, what))
