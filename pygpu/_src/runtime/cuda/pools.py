"""DebugMemoryPool: a pool that prints who requests memory, and how much is in use."""

from __future__ import annotations

import os
import sys
import weakref
from collections import Counter
from typing import TextIO

from pygpu import _cuda
from pygpu._src.util.public import publish

__all__ = ["DebugMemoryPool"]


class DebugMemoryPool(_cuda.DeviceMemoryPool):
    """A DeviceMemoryPool that prints a report for each request.

    interactive: ask for a name for each new place that allocates, and wait for Enter after each
    report.
    logfile: where reports go; by default sys.stdout.
    """

    last_free: int

    def __init__(self, interactive: bool = True, logfile: TextIO | None = None) -> None:
        super().__init__()
        self.interactive = interactive
        self.logfile: TextIO = sys.stdout if logfile is None else logfile
        self.last_free, _ = _cuda.mem_get_info()
        self.blocks: weakref.WeakKeyDictionary[_cuda.PooledDeviceAllocation, tuple[int, str]] = (
            weakref.WeakKeyDictionary()
        )
        self.stacktrace_mnemonics: dict[tuple[tuple[str, ...], int], str] = {}

    def allocate(self, size: int) -> _cuda.PooledDeviceAllocation:
        """Return memory of at least *size* bytes, after reporting the caller and the memory in
        use."""
        import traceback  # slow to import, and only needed here

        stack = tuple(frame.name for frame in traceback.extract_stack()[:-1])
        site = self.describe(stack, size)
        in_use = Counter(self.blocks.values())
        shared = os.path.commonprefix([where for _, where in in_use])
        free, total = _cuda.mem_get_info()
        self._print(
            f"\n  Allocation of size {size} (mem: last_free:{self.last_free}, free: {free}, "
            f"total:{total}) (pool: held:{self.held_blocks}, active:{self.active_blocks}):"
        )
        self._print(f"      at: {site}")
        for (block_size, where), count in sorted(in_use.items()):
            self._print(f"  {where[len(shared) :]} ({block_size} bytes): {count}x")
        if self.interactive:
            input("  [Enter]")
        result = super().allocate(size)
        self.blocks[result] = size, site
        self.last_free, _ = _cuda.mem_get_info()
        return result

    def describe(self, stack: tuple[str, ...], size: int) -> str:
        """Return the name of a place in reports: the names of its functions, or what the user
        entered."""
        if not self.interactive:
            return "|".join(stack)
        if (stack, size) not in self.stacktrace_mnemonics:
            self._print(f"{stack} {size}")
            while (name := input("Name for this place, or [Enter] to see where it is: ")) == "":
                import traceback

                traceback.print_stack(file=self.logfile)
            self.stacktrace_mnemonics[stack, size] = name
        return self.stacktrace_mnemonics[stack, size]

    def _print(self, line: str) -> None:
        print(line, file=self.logfile)


publish(globals(), ["DebugMemoryPool"], "pygpu.cuda.tools")
