"""Options that a compiler supports, and advice for programs that it rejects."""

from __future__ import annotations

import os


def source_text(call: str, source: object) -> str:
    """Return the source as a string; code generators (cgen, ...) pass objects with a str()."""
    if isinstance(source, str):
        if "\0" in source:
            raise ValueError(
                f"{call}: the source has a NUL character at index {source.index(chr(0))}, where "
                "the compiler would cut it off; compiled code is for module_from_buffer()"
            )
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
# Errors caused by habits that no longer work, or only without extern "C" { }: the beginning and
# the possible ends of a line of the log, and advice.
_ADVICE = (
    ("no template named 'texture'", ("",), _TEXTURE),
    ("no template named 'surface'", ("",), _SURFACE),
    ('may not have extern "C" linkage', ("",), _TEMPLATE),
    ("texture", _GONE, _TEXTURE),
    ("surface", _GONE, _SURFACE),
    ("template", (" C linkage", " C++ linkage"), _TEMPLATE),
)


_HEADS = (": error", ": warning", ": fatal error", ": catastrophic error", ": internal error")
_REPEATED = (
    "template with C linkage",
    "template specialization with C linkage",
    'may not have extern "C" linkage',
    'has "C" linkage',
    "conflicting declaration of C function",
)
_SHOWN = 3


def advised(log: str, program: str) -> str:
    """Return a compiler's errors, after a line of advice if there is any.

    A C++ header in extern "C" causes an error for each template; all but a few are omitted, and
    those in the file *program* come last.
    """
    text = advice(log)
    return (f"(hint: {text})\n" if text else "") + _shortened(log, program)


def advice(log: str) -> str:
    """Return advice on a compiler's errors, or ""."""
    for line in log.splitlines():
        for begin, ends, text in _ADVICE:
            before, found, after = line.partition(begin)
            if found and _is_word(before, after) and any(end in after for end in ends):
                return text
    return ""


def _shortened(log: str, program: str) -> str:
    """Return the log without most linkage errors."""
    parts = _parts(log)
    repeated = [part for part in parts if any(text in part for text in _REPEATED)]
    own = [part for part in repeated if part.startswith(program)]
    shown = {id(part) for part in [*own, *repeated][:_SHOWN]}
    left_out = {id(part) for part in repeated} - shown
    if not left_out:
        return log
    kept = "".join(part for part in parts if id(part) not in left_out)
    more = f"({len(left_out)} more errors of templates and functions in C linkage)\n"
    return kept + ("" if kept.endswith("\n") else "\n") + more


def _parts(log: str) -> list[str]:
    """Split a log before each error or warning (with its include chain), and before the summary."""
    parts: list[list[str]] = [[]]
    headed = True
    for line in log.splitlines(keepends=True):
        is_head = any(head in line for head in _HEADS)
        included = line.startswith("In file included from ")
        is_end = line[:1].isdigit() and " error" in line
        if headed and (is_head or included or is_end):
            parts.append([])
            headed = False
        headed = headed or is_head or is_end
        parts[-1].append(line)
    return ["".join(part) for part in parts]


def _is_word(before: str, after: str) -> bool:
    return not (before[-1:].isidentifier() or after[:1].isalnum() or after[:1] == "_")
