"""Arrays as text, as HTML with a picture, and the switch for copies to the host."""

from __future__ import annotations

import html
import io
import re
import struct
import zlib
from base64 import b64decode

import numpy as np
import pytest

import pygpu
from pygpu._src.array import display
from pygpu._src.util import pictures

NAMES = {"opencl": "cl.Array", "cuda": "cuda.GPUArray"}
SMALL = [
    np.arange(6.0).reshape(2, 3),
    np.array(3.5),
    np.zeros((0, 4)),
    np.array([1 + 2j], "c8"),
]


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(display, "COPIED", 64)


def as_numpy(text: str, name: str) -> str:
    """A repr with NumPy's name and its indentation."""
    return text.replace(name, "array", 1).replace("\n" + " " * (len(name) - 5), "\n")


@pytest.mark.parametrize("host", SMALL, ids=lambda host: str(host.shape))
def test_small_arrays_read_as_numpys_under_their_own_name(make, host):
    name = NAMES[make.name]
    assert as_numpy(repr(make(host)), name) == repr(host)
    assert str(make(host)) == str(host)


@pytest.mark.parametrize("shape", [(2000,), (7, 6, 50), (400, 5), (6, 400)], ids=str)
def test_only_the_edges_of_large_arrays_are_copied(make, shape, monkeypatch):
    host = (np.arange(np.prod(shape)) * 7 % 1013 - 3).reshape(shape).astype("i4")
    array = make(host)
    copied = []
    get = type(array).get
    monkeypatch.setattr(
        type(array), "get", lambda self, *args: copied.append(self.size) or get(self, *args)
    )
    assert as_numpy(repr(array), NAMES[make.name]) == repr(host) and str(array) == str(host)
    assert 0 < sum(copied) < host.size


def pixels_of(shown: str) -> np.ndarray:
    """The picture in the HTML, decoded by hand."""
    data = b64decode(re.search(r"base64,([^']+)'", shown)[1])
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (n,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + n]
        assert struct.unpack(">I", data[at + 8 + n : at + 12 + n]) == (zlib.crc32(name + body),)
        chunks[name], at = body, at + 12 + n
    width, height, bits, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert bits == 8
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, {0: 1, 2: 3, 6: 4}[kind])


def test_html_says_what_the_array_is_and_shows_it(make):
    host = np.linspace(-1, 1, 12, dtype="f4").reshape(3, 4)
    text = make(host)._repr_html_()
    for part in (NAMES[make.name], "3 × 4", "float32", "48 B"):
        assert part in text
    assert (pixels_of(text)[..., 0] == np.floor(np.linspace(0, 255, 12)).reshape(3, 4)).all()


def test_pictures_of_large_arrays_are_small(make):
    host = np.zeros((3, 1000), "u1")
    host[0, 0] = 200
    pixels = pixels_of(make(host)._repr_html_())
    assert pixels.shape[0] == 3 and pixels.shape[1] <= pictures.SIDE
    assert pixels[0, 0, 0] == 255 and pixels.astype(int).sum() == 255


def test_pictures_keep_their_proportions(make):
    assert pixels_of(make(np.zeros((200, 300), "u1"))._repr_html_()).shape[:2] == (67, 100)


def test_colours_are_shown_as_they_are(make):
    host = np.arange(24, dtype="u1").reshape(2, 4, 3)
    text = make(host)._repr_html_()
    assert (pixels_of(text) == host).all()
    assert "<pre>" not in text  # the picture has all of it


def test_html_names_the_device(make):
    x = make(np.arange(5))
    name = x.device.name
    assert f">{html.escape(name() if callable(name) else name)}<" in x._repr_html_()


@pytest.mark.parametrize(
    "values", [[np.nan, 1, 2, np.inf], [np.nan] * 4, [7.0] * 4, [-1.7e308, 0, 1.7e308, 0]], ids=str
)
def test_any_numbers_make_a_picture(values):
    grey = pictures.grey(np.array(values).reshape(2, 2))
    assert grey.dtype == np.uint8
    if len({value for value in values if np.isfinite(value)}) > 1:
        assert grey.max() == 255 and grey.min() == 0


def test_no_picture_of_vectors(make):
    assert "<img" not in make(np.arange(5))._repr_html_()


def test_copies_for_other_libraries_are_allowed_in_a_block(make):
    x = make(np.arange(4.0))
    with pygpu.allow_host_copies():
        file = io.BytesIO()
        np.save(file, x)
        with pygpu.allow_host_copies(False), pytest.raises(TypeError):
            np.asarray(x)
        assert np.asarray(x).sum() == 6
    with pytest.raises(TypeError, match="allow_host_copies"):
        np.savez(io.BytesIO(), x=x)
    with pytest.raises(TypeError) as caught:
        np.asarray(x)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3 and "pygpu.allow_host_copies()" in lines[2]
    file.seek(0)
    assert (np.load(file) == np.arange(4.0)).all()


@pytest.mark.parametrize("dtype", ["?", "u1", "f8", "c8", "M8[s]", [("a", "i4"), ("b", "f8")]])
def test_the_array_interface_is_a_copy_of_the_host_and_refused_until_allowed(make, dtype):
    host = np.arange(12).reshape(4, 3).astype(dtype)
    for a in (host, host.T, host[::2], host[:0], host[1, 2]):
        x = make(np.asarray(a))
        with pytest.raises(AttributeError, match=r"(?s)x\.get\(\).*allow_host_copies"):
            x.__array_interface__  # noqa: B018
        assert not hasattr(x, "__array_interface__")
        with pygpu.allow_host_copies():
            got = np.asarray(x)
        assert got.dtype == a.dtype and got.shape == a.shape and (got == a).all()


def test_pillow_makes_pictures_of_arrays(make):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    a = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    with pytest.raises(AttributeError, match="allow_host_copies"):
        image.fromarray(make(a))
    with pygpu.allow_host_copies():
        for b in (a, a[..., 0], a[::-1, ::2]):
            assert (np.asarray(image.fromarray(make(b))) == b).all()
