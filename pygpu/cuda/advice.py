"""What a compiler can be given, and what to tell those whose program it refuses."""

from __future__ import annotations

import os
import re

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


# What compilers say of habits that no longer work, or only without extern "C" { }.
_ADVICE = {
    r"\btexture\b.*(not name a type|not a template|undefined)|no template named 'texture'": (
        "CUDA 12 removed texture references: pass a cudaTextureObject_t, from "
        "pygpu.cuda.driver.TextureObject"
    ),
    r"\bsurface\b.*(not name a type|not a template|undefined)|no template named 'surface'": (
        "CUDA 12 removed surface references: pass a cudaSurfaceObject_t, from "
        "pygpu.cuda.driver.SurfaceObject"
    ),
    r"template.* C(\+\+)? linkage|may not have extern \"C\" linkage": (
        'templates cannot be in extern "C": give no_extern_c=True, and extern "C" to the kernels'
    ),
}


def advice(log: str) -> str:
    """A line to add to a compiler's errors."""
    for pattern, text in _ADVICE.items():
        if re.search(pattern, log):
            return ("" if log.endswith("\n") else "\n") + f"(hint: {text})"
    return ""
