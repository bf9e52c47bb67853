"""English for messages."""

from __future__ import annotations

__all__ = ["counted"]


def counted(n: int, noun: str) -> str:
    """Return the number and the noun, in its plural unless n is 1: 1 call, 2 calls."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
