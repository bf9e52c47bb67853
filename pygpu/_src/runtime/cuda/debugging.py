"""Whether to compile sources for a debugger: the setting of pygpu.cuda.driver.set_debugging()."""

from __future__ import annotations

_debugging = False


def is_debugging() -> bool:
    """Whether sources are compiled with -G, and without the cache."""
    return _debugging


def set_debugging(flag: bool = True) -> None:
    """Compile sources with debug information (-G) and without the cache from now on."""
    global _debugging
    _debugging = flag
