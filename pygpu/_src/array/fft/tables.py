"""The tables of transform kernels, correctly rounded or nearly so.

They are computed in long double, where it is wider, from angles below an eighth of a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen.kernels.fft_access import Segment

_TURN = 8 * np.arctan(np.longdouble(1))


def roots(m: np.ndarray, n: int) -> np.ndarray:
    """Return exp(-2 pi i m / n) for integers m."""
    m = np.asarray(m, np.int64) % n
    denominator = np.full(m.shape, n, np.int64)
    flip = 2 * m > n
    m = np.where(flip, n - m, m)
    left = 4 * m > n
    m, denominator = np.where(left, n - 2 * m, m), np.where(left, 2 * n, denominator)
    swap = 8 * m > denominator
    m, denominator = (
        np.where(swap, denominator - 4 * m, m),
        np.where(swap, 4 * denominator, denominator),
    )
    angle = _TURN * m.astype(np.longdouble) / denominator.astype(np.longdouble)
    c, s = np.cos(angle), np.sin(angle)
    c, s = np.where(swap, s, c), np.where(swap, c, s)
    value: np.ndarray = np.where(left, -c, c) + 1j * np.where(flip, s, -s)
    return value


def _near_one(m: np.ndarray, n: int) -> np.ndarray:
    """Return exp(-2 pi i m / n) - 1, without cancellation."""
    angle = _TURN * m.astype(np.longdouble) / np.longdouble(n)
    half: np.ndarray = np.sin(angle / 2)
    value: np.ndarray = -2 * half * half - 1j * np.sin(angle)
    return value


def _chirp(n: int) -> np.ndarray:
    k = np.arange(n, dtype=np.int64)
    return roots(k * k % (2 * n), 2 * n)


def _filter(n: int, m: int) -> np.ndarray:
    """Return the transform of the chirp with which Bluestein's algorithm convolves, over m."""
    chirp = _chirp(n).conj()
    line = np.zeros(m, np.clongdouble)
    line[:n] = chirp
    line[m - n + 1 :] = chirp[:0:-1]
    return np.fft.fft(line) / m


def _values(part: Segment) -> np.ndarray:
    p, q = part.p, part.q
    if part.kind == "stage":
        return roots(np.outer(np.arange(1, q), np.arange(p)).ravel(), p * q)
    if part.kind == "roots":
        return roots(np.arange(p), p)
    if part.kind == "coarse":
        return roots(np.arange(part.size) << q, p)
    if part.kind == "fine":
        return _near_one(np.arange(part.size), p)
    if part.kind == "turns":
        return roots(np.outer(np.arange(q), np.arange(p)).ravel(), p * q)
    return _chirp(p) if part.kind == "chirp" else _filter(p, q)


def build(parts: Sequence[Segment], dtype: Any) -> np.ndarray:
    """Return a table of these parts; of one number if there are none."""
    made = [_values(part) for part in parts] or [np.zeros(1)]
    return np.concatenate(made).astype(dtype)
