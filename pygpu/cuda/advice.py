"""What a compiler can be given, and what to tell those whose program it refuses."""

from __future__ import annotations

import os

__all__ = ["advice", "source_text"]


def source_text(call: str, source: object) -> str:
    """The source's text; code generators (cgen, ...) give objects that are text by str()."""
    if isinstance(source, str):
        return source
    no_text = (object.__str__, bytes.__str__, bytearray.__str__)
    if type(source).__str__ not in no_text and not isinstance(source, os.PathLike):
        return str(source)
    hint = ""
    if isinstance(source, os.PathLike):
        hint = "; give the file's text, as of Path.read_text()"
    elif isinstance(source, (bytes, bytearray)):
        hint = "; decode() it first. Code that is compiled already is for module_from_buffer()"
    raise TypeError(f"{call}: source must be a str, not {type(source).__name__}{hint}")


_TEXTURE = (
    "CUDA 12 removed texture references: pass a cudaTextureObject_t, from "
    "pygpu.cuda.driver.TextureObject"
)
_SURFACE = (
    "CUDA 12 removed surface references: pass a cudaSurfaceObject_t, from "
    "pygpu.cuda.driver.SurfaceObject"
)
_TEMPLATE = (
    'templates cannot be in extern "C": give no_extern_c=True, and extern "C" to the kernels'
)
_GONE = ("not name a type", "not a template", "undefined")
# What compilers say of habits that no longer work, or only without extern "C" { }: the beginning
# and the possible ends of what a line contains, and what to do.
_ADVICE = (
    ("no template named 'texture'", ("",), _TEXTURE),
    ("no template named 'surface'", ("",), _SURFACE),
    ('may not have extern "C" linkage', ("",), _TEMPLATE),
    ("texture", _GONE, _TEXTURE),
    ("surface", _GONE, _SURFACE),
    ("template", (" C linkage", " C++ linkage"), _TEMPLATE),
)


def advice(log: str) -> str:
    """A line to add to a compiler's errors."""
    for line in log.splitlines():
        for begin, ends, text in _ADVICE:
            before, found, after = line.partition(begin)
            if found and _is_word(before, after) and any(end in after for end in ends):
                return ("" if log.endswith("\n") else "\n") + f"(hint: {text})"
    return ""


def _is_word(before: str, after: str) -> bool:
    return not (before[-1:].isidentifier() or after[:1].isalnum() or after[:1] == "_")
