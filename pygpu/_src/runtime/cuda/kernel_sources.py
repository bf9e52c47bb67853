"""Where the image of a CUDA source is looked up: in memory, then on disk, before it is compiled.

The cache on disk names an entry by a hash of all that the image depends on: making that name,
reading the entry and checking it take longer than a kernel's launch. Programs that make the same
SourceModule wherever they need it would spend most of their time on that, so a process also
remembers images by SourceModule's arguments. It does so only for sources without headers, because
a header may change, and only for what the cache on disk keeps too: if that is switched off, every
SourceModule compiles.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from pygpu._src.runtime import disk_cache
from pygpu._src.util import log

from .nvrtc import Compiled

_MOST = 64
# [bytes] for a larger one, the driver's loading takes far longer than reading it here.
_LARGEST = 1 << 18
_TOUCHED_EVERY = 60.0  # [s] mark the entry as used on disk this often, so that it is not pruned


class Key(NamedTuple):
    """The name of an entry on disk. lasting: whether it depends on no file, which might change."""

    name: str
    lasting: bool


class _Image:
    __slots__ = ("environment", "name", "result", "store", "touched")

    def __init__(self, result: Compiled, store: disk_cache.Entries, name: str) -> None:
        self.result = result
        self.store = store
        self.name = name
        self.environment = _environment()
        self.touched = time.monotonic()

    def touch(self) -> None:
        """Mark the entry of the disk cache as used, once in a while; write it again if it is
        gone."""
        now = time.monotonic()
        if now - self.touched > _TOUCHED_EVERY:
            self.touched = now
            try:
                os.utime(self.store.path(self.name))
            except OSError:
                _write(self.store, self.name, self.result)


_images: dict[Hashable, _Image] = {}


class Lookup:
    """Finds the image of a source: in memory, on disk, or by compiling it.

    open_store: returns the cache on disk, if there is one. question: what identifies the image in
    memory, None to look for it only on disk.
    """

    store: disk_cache.Entries | None = None

    def __init__(
        self,
        source: str,
        open_store: Callable[[], disk_cache.Entries | None],
        question: Hashable = None,
    ) -> None:
        self.source, self.open_store, self.question = source, open_store, question

    def get(self, compiled: Callable[[], Compiled]) -> Compiled:
        """Return the image from memory, else from *compiled*, which calls or_compile()."""
        found = self._remembered()
        if found is None:
            self.store = self.open_store()
            found = compiled()
        return found

    def or_compile(self, key: Key | None, run: Callable[[], Compiled]) -> Compiled:
        """Return the entry on disk, else the result of *run*, and keep it. key: None if nobody may
        keep it."""
        if key is None or self.store is None:
            return run()
        entry = self.store.read(key.name)
        result = _unpack(*entry) if entry is not None else None
        log.cache_lookup(result is not None, self.source)
        if result is None:
            result = run()
            _write(self.store, key.name, result)
        if key.lasting:
            self._remember(result, self.store, key.name)
        return result

    def _remembered(self) -> Compiled | None:
        try:
            image = _images.get(self.question)
        except TypeError:  # an invalid argument, which will be reported where it is used
            return None
        if image is None or image.environment != getattr(os.environ, "_data", None):
            return None
        log.log("cache", log.DEBUG, "hit in memory: %s", lambda: log.kernel_names(self.source))
        image.touch()
        return image.result

    def _remember(self, result: Compiled, store: disk_cache.Entries, name: str) -> None:
        if self.question is None or _size(result) > _LARGEST:
            return
        image = _Image(result, store, name)
        if image.environment is None:
            return
        try:
            while len(_images) >= _MOST:
                _images.pop(next(iter(_images)), None)
            _images[self.question] = image
        except (TypeError, StopIteration, RuntimeError):  # not hashable, or changed by a thread
            pass


def _environment() -> dict[Any, Any] | None:
    """Return the environment variables, some of which affect the cache, the compiler and its
    results."""
    data = getattr(os.environ, "_data", None)  # what os.environ itself decodes at each access
    return dict(data) if data is not None else None


def _size(result: Compiled) -> int:
    return len(result.cubin or b"") + len(result.ptx or b"")


def _write(store: disk_cache.Entries, name: str, result: Compiled) -> None:
    binary = (result.cubin or b"") + (result.ptx or b"")
    store.write(name, binary, {"cubin": len(result.cubin or b""), "lowered": result.lowered})


def _unpack(binary: bytes, facts: dict[str, Any]) -> Compiled | None:
    try:
        size = int(facts["cubin"])
        lowered = {str(name): str(text) for name, text in facts["lowered"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return Compiled(binary[:size] or None, binary[size:] or None, "", lowered)
