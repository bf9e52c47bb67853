"""Images that this process compiled or read, by what SourceModule was given: to load the same text
again asks nobody.

Only texts without headers are kept, as a header may be another one next time, and only those that
the cache on disk keeps too: where that is switched off, every SourceModule compiles.
"""

from __future__ import annotations

import os
import time
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygpu._src.runtime import disk_cache

    from .nvrtc import Compiled

__all__ = ["find", "keep"]

_MOST = 64
_LARGEST = 1 << 18  # [bytes] a larger one takes the driver far longer to load than to read here
_TOUCHED_EVERY = 60.0  # [s] what was used last on disk is pruned last: this often is enough


class _Image:
    __slots__ = ("environment", "key", "result", "store", "touched")

    def __init__(self, result: Compiled, store: disk_cache.Entries, key: str) -> None:
        self.result = result
        self.store = store
        self.key = key
        self.environment = _environment()
        self.touched = time.monotonic()

    def touch(self) -> None:
        """Tell the cache that the entry is in use; write it again if it is gone."""
        try:
            os.utime(self.store.path(self.key))
        except OSError:
            write(self.store, self.key, self.result)


_images: dict[Hashable, _Image] = {}


def _environment() -> dict[Any, Any] | None:
    """The variables, some of which choose the cache, the compiler and what it does."""
    data = getattr(os.environ, "_data", None)  # what os.environ itself decodes for each question
    return dict(data) if data is not None else None


def find(question: Hashable) -> Compiled | None:
    """The value that keep() got for the question in the same environment."""
    try:
        image = _images.get(question)
    except TypeError:  # an argument that cannot be right: who reads it says so
        return None
    if image is None or image.environment != getattr(os.environ, "_data", None):
        return None
    now = time.monotonic()
    if now - image.touched > _TOUCHED_EVERY:
        image.touched = now
        image.touch()
    return image.result


def keep(question: Hashable, result: Compiled, store: disk_cache.Entries, key: str) -> None:
    """Keep what the cache has under *key* as the answer."""
    if len(result.cubin or b"") + len(result.ptx or b"") > _LARGEST:
        return
    image = _Image(result, store, key)
    if image.environment is None:
        return
    try:
        while len(_images) >= _MOST:
            _images.pop(next(iter(_images)), None)
        _images[question] = image
    except (TypeError, StopIteration, RuntimeError):  # not hashable; or another thread was here
        pass


def write(store: disk_cache.Entries, key: str, result: Compiled) -> None:
    """Write a result to the cache on disk."""
    binary = (result.cubin or b"") + (result.ptx or b"")
    store.write(key, binary, {"cubin": len(result.cubin or b""), "lowered": result.lowered})
