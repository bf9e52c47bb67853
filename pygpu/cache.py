"""The cache of program binaries on disk. See docs/guide/cache.md."""

from typing import Any as _Any

from ._src.runtime import disk_cache as _implementation
from ._src.runtime.disk_cache import *  # noqa: F403
from ._src.runtime.disk_cache import __all__  # noqa: F401


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
