"""Arguments of kernels, read from OpenCL C source.

For drivers that do not describe the arguments of a kernel (`clGetKernelArgInfo`), the declaration
in the source does. This is no compiler: what it cannot be sure of, macros above all, it leaves
alone.
"""

from __future__ import annotations

import re

__all__ = ["kernel_arguments", "without_comments"]

GLOBAL, LOCAL, CONSTANT, PRIVATE = 0x119B, 0x119C, 0x119D, 0x119E
READ_ONLY, WRITE_ONLY, READ_WRITE, NO_ACCESS = 0x11A0, 0x11A1, 0x11A2, 0x11A3
CONST, RESTRICT, VOLATILE, PIPE = 1, 2, 4, 8

_TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


def without_comments(source: str) -> str:
    """The source with a space for each comment and its continued lines joined."""
    source = source.replace("\\\r\n", "").replace("\\\n", "")
    return _TOKENS.sub(lambda match: " " if match["comment"] is not None else match[0], source)


_SPACES = {
    "global": GLOBAL,
    "local": LOCAL,
    "constant": CONSTANT,
    "private": PRIVATE,
}
_ACCESS = {"read_only": READ_ONLY, "write_only": WRITE_ONLY, "read_write": READ_WRITE}
_QUALIFIERS = {"const": CONST, "restrict": RESTRICT, "volatile": VOLATILE}
_UNSIGNED = {"char": "uchar", "short": "ushort", "int": "uint", "long": "ulong"}
_SCALARS = "bool char uchar short ushort int uint long ulong float double half".split()
_KNOWN_TYPES = {
    *_SCALARS,
    *(f"{scalar}{count}" for scalar in _SCALARS[1:] for count in (2, 3, 4, 8, 16)),
    *"size_t ptrdiff_t intptr_t uintptr_t void sampler_t event_t queue_t".split(),
    *"image1d_t image1d_array_t image1d_buffer_t image2d_t image2d_array_t image3d_t".split(),
    *"image2d_depth_t image2d_array_depth_t image2d_msaa_t image2d_array_msaa_t".split(),
    *"image2d_msaa_depth_t image2d_array_msaa_depth_t".split(),
}
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_WORD = re.compile(r"\s*(?:(\w+)|(\*)|(\[\s*\w*\s*\]))")


def _plain(word: str) -> str:
    """global for __global, and so on."""
    return word[2:].rstrip("_") if word.startswith("__") else word


def _base_type(words: list[str], types: dict[str, str]) -> str | None:
    """The type as clGetKernelArgInfo spells it, None if these words are not surely a type."""
    if words[:1] in (["struct"], ["union"], ["enum"]) and len(words) == 2:
        return " ".join(words)
    sign = [word for word in words if word in ("unsigned", "signed")]
    rest = [word for word in words if word not in ("unsigned", "signed")]
    if len(sign) > 1:
        return None
    if sign:
        if sorted(rest) in (["int", "long"], ["int", "short"]):
            rest.remove("int")
        base = rest[0] if len(rest) == 1 else "int" if not rest else ""
        if base not in _UNSIGNED:
            return None
        return _UNSIGNED[base] if sign[0] == "unsigned" else base
    if sorted(rest) in (["int", "long"], ["int", "short"]):
        rest.remove("int")
    if len(rest) == 1 and rest[0] in types:
        return types[rest[0]]
    return rest[0] if len(rest) == 1 and rest[0] in _KNOWN_TYPES else None


def _parse(text: str, types: dict[str, str]) -> tuple[int, int, str, int, str] | None:
    address = access = 0
    qualifiers, pointer_qualifiers = 0, 0
    words: list[str] = []
    stars, array, pipe, at = 0, False, False, 0
    text = text.strip()
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            return None
        at = match.end()
        word, star, brackets = match.groups()
        if star:
            stars += 1
            continue
        if brackets:
            array = True
            continue
        plain = _plain(word)
        if plain in _SPACES and not stars:
            address = _SPACES[plain]
        elif plain in _ACCESS:
            access = _ACCESS[plain]
        elif plain in _QUALIFIERS:
            if stars:
                pointer_qualifiers |= _QUALIFIERS[plain]
            else:
                qualifiers |= _QUALIFIERS[plain]
        elif plain == "pipe":
            pipe = True
        else:
            words.append(word)
    if array:
        stars += 1
    if len(words) < 2 or stars > 1:
        return None  # without a name, or a pointer to a pointer
    name = words.pop()
    base = _base_type(words, types)
    if base is None:
        return None
    image = base.startswith("image")
    if stars:
        if not address:
            return None  # a pointer in no address space: OpenCL 2's generic one, or a macro
        return address, NO_ACCESS, f"{base}*", qualifiers | (pointer_qualifiers & RESTRICT), name
    if image or pipe:
        return GLOBAL, access or READ_ONLY, base, PIPE if pipe else 0, name
    return PRIVATE, NO_ACCESS, base, 0, name


def _split_arguments(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _typedefs(text: str) -> dict[str, str]:
    """What the typedefs of scalars, vectors and structs in the text stand for."""
    bodies = 1
    while bodies:
        text, bodies = re.subn(r"\{[^{}]*\}", " ", text)
    types: dict[str, str] = {}
    unsure = set()
    for original, alias in re.findall(r"\btypedef\s+([^;]*?)\b(\w+)\s*;", text):
        words = original.split()
        known = alias if words[:1] in (["struct"], ["union"]) else _base_type(words, types)
        if known is None or "*" in original or types.get(alias, known) != known:
            unsure.add(alias)
        else:
            types[alias] = known
    return {alias: known for alias, known in types.items() if alias not in unsure}


def kernel_arguments(source: str, name: str) -> list[tuple[int, int, str, int, str]] | None:
    """What clGetKernelArgInfo would say of the kernel *name*, None where that is not certain.

    A list with (address qualifier, access qualifier, type name, type qualifiers, name) for each
    argument, in OpenCL's constants. Types defined with typedef appear as what they stand for.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return None
    text = without_comments(source)
    macros = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.MULTILINE))
    text = _ATTRIBUTE.sub(" ", re.sub(r"^[ \t]*#.*$", "", text, flags=re.MULTILINE))
    types = _typedefs(text)
    found = None
    for match in re.finditer(rf"\b(?:__)?kernel\s+(?:void\s+)?{name}\s*\(", text):
        depth, end = 1, match.end()
        while end < len(text) and depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        inside = text[match.end() : end - 1]
        if depth or macros.intersection(re.findall(r"\w+", inside)):
            return None
        parts = _split_arguments(inside) if inside.strip() not in ("", "void") else []
        arguments = []
        for part in parts:
            argument = _parse(part, types)
            if argument is None:
                return None
            arguments.append(argument)
        if found is not None and [row[:4] for row in found] != [row[:4] for row in arguments]:
            return None  # declared differently in two branches of an #if
        found = arguments
    return found
