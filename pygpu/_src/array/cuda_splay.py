"""The number of threads for n items of an array."""

from __future__ import annotations

from functools import cache
from typing import Any

from pygpu._src.runtime.backends import backend_of


@cache
def _splay(n: int, units: int, warp: int) -> tuple[Any, Any]:
    most_blocks, most_threads = 32 * units, 128
    if n < warp:
        return (1, 1), (warp, 1, 1)
    if n < most_blocks * warp:
        return (-(-n // warp), 1), (warp, 1, 1)
    if n < most_blocks * most_threads:
        warps = -(-n // warp)
        return (most_blocks, 1), (-(-warps // most_blocks) * warp, 1, 1)
    return (most_blocks, 1), (most_threads, 1, 1)


def splay(n: int, dev: Any = None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Return a grid and a block for n items. For many items there are fewer threads than items, so
    a kernel must loop."""
    if n < 0:
        raise ValueError(f"splay: n must be at least 0, not {n}")
    if dev is None:
        limits = backend_of(None).limits
        return _splay(n, limits.units, limits.warp)
    from pygpu._src.runtime.cuda.enums import device_attribute as attribute

    return _splay(
        n,
        dev.get_attribute(attribute.MULTIPROCESSOR_COUNT),
        dev.get_attribute(attribute.WARP_SIZE),
    )
