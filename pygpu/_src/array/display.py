"""Arrays as text and as HTML for notebooks, with bounded work however large the array is.

A few items at the edges, or a picture of at most :data:`SIDE` pixels a side, are copied to the
host; the whole array only if it is small.
"""

from __future__ import annotations

import html
import itertools
import struct
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .array_types import GPUArray

__all__ = ["array_html", "array_repr", "array_str", "png"]

COPIED = 1 << 16  # up to so many bytes are copied rather than gathered
SIDE = 128  # of a picture, in pixels


def _edges(array: GPUArray[Any], edge: int) -> np.ndarray:
    """The items at the edges: each axis longer than 2 * edge is 2 * edge + 1 long, so that NumPy
    writes dots for its middle."""
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
    """write(host array), which is what NumPy writes of the whole array."""
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
    """str() of an array."""
    return _text(array, str)


def array_repr(array: GPUArray[Any], name: str) -> str:
    """repr() of an array, as NumPy's with *name* in place of "array", and its lines aligned."""
    text = _text(array, repr).removeprefix("array")
    return name + text.replace("\n", "\n" + " " * (len(name) - len("array")))


# ---- HTML


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of uint8 pixels: grey (h, w), or colours (h, w, 3) or (h, w, 4)."""
    height, width = pixels.shape[:2]
    kind = {2: 0, 3: 2 if pixels.shape[-1] == 3 else 6}[pixels.ndim]
    rows = np.zeros((height, pixels[0].size + 1), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows.tobytes()))
        + chunk(b"IEND", b"")
    )


def _grey(values: np.ndarray) -> np.ndarray:
    """From the least finite value (black) to the largest (white); what is not finite is black."""
    scaled = (np.abs(values) if values.dtype.kind == "c" else values).astype(np.float64)
    finite = np.isfinite(scaled)
    if not finite.any():
        return np.zeros(values.shape, np.uint8)
    low, high = scaled[finite].min(), scaled[finite].max()
    # Halves, so that the difference of two very large numbers is finite.
    span = high / 2 - low / 2
    scaled[~finite] = low
    return (255 * ((scaled / 2 - low / 2) / span if span else scaled * 0)).astype(np.uint8)


def _picture(array: GPUArray[Any]) -> np.ndarray | None:
    """Pixels of a 2-D array of numbers or of an image of uint8; None of anything else."""
    image = array.ndim == 3 and array.shape[2] in (3, 4) and array.dtype == np.uint8
    if not (image or array.ndim == 2) or array.dtype.kind not in "biufc" or min(array.shape) < 2:
        return None
    steps = tuple(slice(None, None, -(-n // SIDE)) for n in array.shape[:2])
    small = array.get()[steps] if array.nbytes <= COPIED else array[steps].get()
    return small if image else _grey(small)


def _bytes(n: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= size:
            return f"{n / size:.1f} {unit}"
    return f"{n} B"


def array_html(array: GPUArray[Any], name: str) -> str:
    """A table of what the array is, a small picture if it is 2-D or an image, and its items."""
    shape = " × ".join(map(str, array.shape)) or "()"
    rows = {
        "shape": shape,
        "dtype": str(array.dtype),
        "memory": _bytes(array.nbytes),
        "device": str(getattr(array.device, "name", array.device)),
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
        scale = max(1, SIDE // max(pixels.shape[:2]))
        picture = (
            f"<img alt='the items as a picture' width='{pixels.shape[1] * scale}' "
            f"height='{pixels.shape[0] * scale}' style='image-rendering:pixelated' "
            f"src='data:image/png;base64,{b64encode(png(pixels)).decode()}'>"
        )
    items = f"<pre>{html.escape(array_str(array))}</pre>"
    return (
        "<div style='display:flex;gap:1em;align-items:center;flex-wrap:wrap'>"
        f"{table}{picture}{items}</div>"
    )
