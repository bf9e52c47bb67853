"""CompileError, as PyCUDA has it."""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.errors import Error

__all__ = ["CompileError"]


class CompileError(Error):
    """The compiler refused a source.

    msg: what failed; command_line: the compiler and its options; stdout, stderr: what it said.
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
