"""Tools with which a program observes its own work: see docs/guide/seeing.md.

The functions are `pygpu.benchmark()` and its neighbours; the classes of their results are here.
"""

from ._src.observe.autotune import Autotuned, Tuned, autotune
from ._src.observe.benchmark import BenchmarkResult, Times, benchmark
from ._src.observe.memory_report import (
    DeviceMemory,
    MemoryLine,
    MemoryReport,
    memory_report,
    track_memory,
)
from ._src.observe.profile import Command, Profile, Range, profile

__all__ = [
    "Autotuned",
    "BenchmarkResult",
    "Command",
    "DeviceMemory",
    "MemoryLine",
    "MemoryReport",
    "Profile",
    "Range",
    "Times",
    "Tuned",
    "autotune",
    "benchmark",
    "memory_report",
    "profile",
    "track_memory",
]
