"""PYGPU_CHECK: whether kernels check their indices."""

from __future__ import annotations

import os


def check_asked() -> bool | None:
    """Return the value of PYGPU_CHECK, None if it is unset. Raises ValueError if it is neither 0
    nor 1."""
    word = os.environ.get("PYGPU_CHECK", "").strip().lower()
    if word not in ("", "0", "1", "false", "true", "no", "yes", "off", "on"):
        raise ValueError(f"PYGPU_CHECK must be 0 or 1, not {word!r}")
    return word in ("1", "true", "yes", "on") if word else None
