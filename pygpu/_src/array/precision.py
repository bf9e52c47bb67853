"""The precision of float32 and complex64 matrix products, as requested for a context.

A precision is a request: a product is never computed less precisely, and if a device has nothing
faster it is computed at "highest".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

NAMES = ("highest", "tf32", "bf16x3", "bf16x9")
_asked: ContextVar[str] = ContextVar("pygpu_precision", default="highest")
asked = _asked.get


def check(call: str, name: object) -> str:
    """Return the name of a precision. Raises ValueError that lists the valid ones."""
    if not isinstance(name, str):
        raise TypeError(f"{call}: precision must be a str, not {type(name).__name__}")
    if name not in NAMES:
        names = ", ".join(map(repr, NAMES))
        raise ValueError(f"{call}: precision must be one of {names}, not {name!r}")
    return name


@contextmanager
def precision(name: str) -> Iterator[None]:
    """Inside the block, matrix products of float32 and complex64 have this precision where that is
    faster.

    name: "highest" (the default), "tf32" (factors are rounded to 11 significant bits, sums are
    float32), "bf16x3" (factors of 16 bits, as sums of two bfloat16 numbers; float32 only) or
    "bf16x9" (of 24 bits, as sums of three). It applies to the current thread, or the current
    asyncio task.
    """
    token = _asked.set(check("precision", name))
    try:
        yield
    finally:
        _asked.reset(token)
