"""Small pictures for notebooks, as PNG."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np

SIDE = 128  # pixels on each side of a picture


def png(pixels: np.ndarray) -> bytes:
    """Encode uint8 pixels as a PNG file: grey (h, w), or colours (h, w, 3) or (h, w, 4)."""
    height, width = pixels.shape[:2]
    kind = {2: 0, 3: 2 if pixels.shape[-1] == 3 else 6}[pixels.ndim]
    # Each row begins with a filter byte, 0 for none.
    rows = np.zeros((height, pixels[0].size + 1), np.uint8)
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


def grey(values: np.ndarray) -> np.ndarray:
    """Scale from the least finite value (black) to the largest (white); non-finite values are
    black."""
    scaled = (np.abs(values) if values.dtype.kind == "c" else values).astype(np.float64)
    finite = np.isfinite(scaled)
    if not finite.any():
        return np.zeros(values.shape, np.uint8)
    low, high = scaled[finite].min(), scaled[finite].max()
    # Halve them, so that the difference of two very large numbers is finite.
    span = high / 2 - low / 2
    scaled[~finite] = low
    return (255 * ((scaled / 2 - low / 2) / span if span else scaled * 0)).astype(np.uint8)


def image_element(pixels: np.ndarray, what: str) -> str:
    """Return an HTML element that shows the pixels, enlarged if they are few. what: their
    description."""
    scale = max(1, SIDE // max(pixels.shape[:2]))
    return (
        f"<img alt='{what}' width='{pixels.shape[1] * scale}' "
        f"height='{pixels.shape[0] * scale}' style='image-rendering:pixelated' "
        f"src='data:image/png;base64,{b64encode(png(pixels)).decode()}'>"
    )
