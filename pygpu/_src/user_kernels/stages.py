"""The stages of a generated kernel, for programs: the kernel and its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stage:
    """One launch of a reduction or scan, for contiguous arrays, on OpenCL.

    group_size: in work-items. The kernel's arguments are internal to pygpu.
    """

    context: Any
    kernel: Any
    group_size: int

    @property
    def wg_size(self) -> int:
        """The same as group_size."""
        return self.group_size

    @property
    def program(self) -> Any:
        """The program of the kernel."""
        return self.kernel.program

    @property
    def source(self) -> str:
        """Its source."""
        text: str = self.program.source
        return text
