"""For pickles of MemoryInfo that were written before it moved."""

from .._src.runtime.memory import *  # noqa: F403
