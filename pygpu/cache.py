"""The cache of program binaries on disk, and packs of it. See docs/guide/cache.md.

``python -m pygpu.cache pack FILE`` and ``unpack FILE`` take compiled kernels to other machines.
"""

from typing import Any as _Any

from ._src.runtime import disk_cache as _implementation
from ._src.runtime.cache_pack import PackError, Report, pack, unpack
from ._src.runtime.disk_cache import clear, default_folder

__all__ = ["PackError", "Report", "clear", "default_folder", "pack", "unpack"]


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if __name__ == "__main__":
    from ._src.runtime.cache_pack import main as _main

    raise SystemExit(_main())
