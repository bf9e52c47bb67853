"""Images that this process compiled or read, by SourceModule's arguments: loading the same source
again needs no compiler and no disk.

Only sources without headers are kept, because a header may change, and only those that the cache
on disk keeps too: if that is switched off, every SourceModule compiles.
"""

from __future__ import annotations

import os
import time
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygpu._src.runtime import disk_cache

    from .nvrtc import Compiled

_MOST = 64
# [bytes] for a larger one, the driver's loading takes far longer than reading it here.
_LARGEST = 1 << 18
_TOUCHED_EVERY = 60.0  # [s] mark the entry as used on disk this often, so that it is not pruned


class _Image:
    __slots__ = ("environment", "key", "result", "store", "touched")

    def __init__(self, result: Compiled, store: disk_cache.Entries, key: str) -> None:
        self.result = result
        self.store = store
        self.key = key
        self.environment = _environment()
        self.touched = time.monotonic()

    def touch(self) -> None:
        """Mark the entry of the disk cache as used; write it again if it is gone."""
        try:
            os.utime(self.store.path(self.key))
        except OSError:
            write(self.store, self.key, self.result)


_images: dict[Hashable, _Image] = {}


def _environment() -> dict[Any, Any] | None:
    """Return the environment variables, some of which affect the cache, the compiler and its
    results."""
    data = getattr(os.environ, "_data", None)  # what os.environ itself decodes at each access
    return dict(data) if data is not None else None


def find(question: Hashable) -> Compiled | None:
    """Return the value that keep() stored for the question in the same environment."""
    try:
        image = _images.get(question)
    except TypeError:  # an invalid argument, which will be reported where it is used
        return None
    if image is None or image.environment != getattr(os.environ, "_data", None):
        return None
    now = time.monotonic()
    if now - image.touched > _TOUCHED_EVERY:
        image.touched = now
        image.touch()
    return image.result


def keep(question: Hashable, result: Compiled, store: disk_cache.Entries, key: str) -> None:
    """Keep the cache's entry *key* as the answer to the question."""
    if len(result.cubin or b"") + len(result.ptx or b"") > _LARGEST:
        return
    image = _Image(result, store, key)
    if image.environment is None:
        return
    try:
        while len(_images) >= _MOST:
            _images.pop(next(iter(_images)), None)
        _images[question] = image
    except (TypeError, StopIteration, RuntimeError):  # not hashable; or another thread changed it
        pass


def write(store: disk_cache.Entries, key: str, result: Compiled) -> None:
    """Write a result to the cache on disk."""
    binary = (result.cubin or b"") + (result.ptx or b"")
    store.write(key, binary, {"cubin": len(result.cubin or b""), "lowered": result.lowered})
