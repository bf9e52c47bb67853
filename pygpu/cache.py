"""The cache of program binaries on disk, and packs of it. See docs/guide/cache.md.

``python -m pygpu.cache pack FILE`` and ``unpack FILE`` take compiled kernels to other machines.
"""

from ._src.runtime import disk_cache as _implementation
from ._src.runtime.cache_pack import PackError, Report, pack, unpack
from ._src.runtime.disk_cache import clear, default_folder
from ._src.util.public import Forwarding as _Forwarding
from ._src.util.public import forwarding as _forwarding

__all__ = ["PackError", "Report", "clear", "default_folder", "pack", "unpack"]

__getattr__: _Forwarding = _forwarding(__name__, _implementation)


if __name__ == "__main__":
    from ._src.runtime.cache_pack import main as _main

    raise SystemExit(_main())
