"""Arrays as text and as HTML for notebooks, with bounded work even for very large arrays.

A few items at the edges, or a picture of at most :data:`SIDE` pixels per side, are copied to the
host; the whole array only if it is small.
"""

from __future__ import annotations

import html
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.util.pictures import SIDE, grey, image_element, png

if TYPE_CHECKING:
    from .array_types import GPUArray

__all__ = ["array_html", "array_repr", "array_str", "png"]

COPIED = 1 << 16  # up to so many bytes are copied rather than gathered


def _edges(array: GPUArray[Any], edge: int) -> np.ndarray:
    """Return the items at the edges: each axis longer than 2 * edge gets length 2 * edge + 1, so
    that NumPy prints dots for its middle."""
    parts = [
        [slice(None)] if n <= 2 * edge else [slice(edge + 1), slice(n - edge, n)]
        for n in array.shape
    ]
    shape = tuple(min(n, 2 * edge + 1) for n in array.shape)
    small = np.empty(shape, array.dtype)
    for index in itertools.product(*parts):
        to = tuple(
            piece if piece.start is None else slice(piece.start - n + length, length)
            for piece, n, length in zip(index, array.shape, shape)
        )
        small[to] = array[index].get()
    return small


def _text(array: GPUArray[Any], write: Any) -> str:
    """Return write(host array), with the text that NumPy would write for the whole array."""
    options = np.get_printoptions()
    edge = options["edgeitems"]
    if (
        array.nbytes <= COPIED
        or array.size <= options["threshold"]
        or array.ndim > 3
        or array.ndim * edge > 30
    ):
        return str(write(array.get()))
    small = _edges(array, edge)
    with np.printoptions(threshold=0):
        text = str(write(small))
    return text.replace(f"shape={small.shape}", f"shape={tuple(array.shape)}")


def array_str(array: GPUArray[Any]) -> str:
    """Implement str() of an array."""
    return _text(array, str)


def array_repr(array: GPUArray[Any], name: str) -> str:
    """Implement repr() of an array, as NumPy's with *name* in place of "array", and its lines
    aligned."""
    text = _text(array, repr).removeprefix("array")
    return name + text.replace("\n", "\n" + " " * (len(name) - len("array")))


# ---- HTML


def _picture(array: GPUArray[Any]) -> np.ndarray | None:
    """Return pixels of a 2-D array of numbers or of a uint8 image; None for anything else."""
    image = array.ndim == 3 and array.shape[2] in (3, 4) and array.dtype == np.uint8
    if not (image or array.ndim == 2) or array.dtype.kind not in "biufc" or min(array.shape) < 2:
        return None
    rows, columns = (-(-n // SIDE) for n in array.shape[:2])
    if image or max(rows, columns) <= 4 * min(rows, columns):  # in proportion
        rows = columns = max(rows, columns)
    steps = slice(None, None, rows), slice(None, None, columns)
    small = array.get()[steps] if array.nbytes <= COPIED else array[steps].get()
    return small if image else grey(small)


def _bytes(n: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= size:
            return f"{n / size:.1f} {unit}"
    return f"{n} B"


def array_html(array: GPUArray[Any], name: str) -> str:
    """Return a table of the array's properties, a small picture if it is 2-D or an image, and its
    items unless it is an image."""
    shape = " × ".join(map(str, array.shape)) or "()"
    device = getattr(array.device, "name", array.device)
    rows = {
        "shape": shape,
        "dtype": str(array.dtype),
        "memory": _bytes(array.nbytes),
        "device": str(device() if callable(device) else device),
    }
    cells = "".join(
        f"<tr><th style='text-align:left'>{key}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for key, value in rows.items()
    )
    table = f"<table><caption><b>{html.escape(name)}</b></caption>{cells}</table>"
    pixels = _picture(array)
    picture = ""
    if pixels is not None:
        picture = image_element(pixels, "the items as a picture")
    items = "" if pixels is not None and array.ndim == 3 else html.escape(array_str(array))
    return (
        "<div style='display:flex;gap:1em;align-items:flex-start;flex-wrap:wrap'>"
        f"{table}{picture}{items and f'<pre>{items}</pre>'}</div>"
    )
