"""The parameters of a kernel, read from its PTX and from its CUDA C++ source.

The driver reports the size of a parameter, but not its type, which decides how a Python number is
converted. So the type is read from two sources: PTX distinguishes pointers, integers and
floating-point numbers; the C++ source also has the sign. This is not a compiler: uncertain
cases, above all templates and conditional code, are skipped, and the caller checks each size
against the driver's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pygpu._src.drivers.declarations import split_declaration, typedefs, without_comments

# A parameter: its kind, size and alignment in bytes (0: unknown), its declaration or None. Kinds:
# P pointer, i and u signed and unsigned integer, I integer of unknown sign, B bool, f float, b
# bfloat16, c complex, V bytes of a struct, ? unknown. "Pf4" is a pointer to numbers of kind f and
# 4 bytes.
Parameter = tuple[str, int, int, str | None]

_UNKNOWN = ("?", 0, 0)
_LONG = 8  # bytes of long in device code, the same as in the host's compiler

_INTEGERS = {
    "char": ("I", 1, 1),
    "signed char": ("i", 1, 1),
    "unsigned char": ("u", 1, 1),
    "short": ("i", 2, 2),
    "unsigned short": ("u", 2, 2),
    "int": ("i", 4, 4),
    "unsigned int": ("u", 4, 4),
    "long": ("i", _LONG, _LONG),
    "unsigned long": ("u", _LONG, _LONG),
    "long long": ("i", 8, 8),
    "unsigned long long": ("u", 8, 8),
}
_TYPES: dict[str, tuple[str, int, int]] = {
    **_INTEGERS,
    "bool": ("B", 1, 1),
    "float": ("f", 4, 4),
    "double": ("f", 8, 8),
    "half": ("f", 2, 2),
    "__half": ("f", 2, 2),
    "nv_bfloat16": ("b", 2, 2),
    "__nv_bfloat16": ("b", 2, 2),
    "size_t": ("u", 8, 8),
    "ptrdiff_t": ("i", 8, 8),
    "ssize_t": ("i", 8, 8),
    "intptr_t": ("i", 8, 8),
    "uintptr_t": ("u", 8, 8),
    "uchar": ("u", 1, 1),
    "ushort": ("u", 2, 2),
    "uint": ("u", 4, 4),
    "ulong": ("u", _LONG, _LONG),
    "wchar_t": ("I", 4, 4),
    "char32_t": ("u", 4, 4),
    "cudaTextureObject_t": ("u", 8, 8),
    "cudaSurfaceObject_t": ("u", 8, 8),
    "CUtexObject": ("u", 8, 8),
    "CUsurfObject": ("u", 8, 8),
    "CUdeviceptr": ("u", 8, 8),
    "cuComplex": ("c", 8, 8),
    "cuFloatComplex": ("c", 8, 8),
    "cuDoubleComplex": ("c", 16, 16),
    "float2": ("c", 8, 8),
    "double2": ("c", 16, 16),
}
for _bits in (8, 16, 32, 64):
    _TYPES[f"int{_bits}_t"] = ("i", _bits // 8, _bits // 8)
    _TYPES[f"uint{_bits}_t"] = ("u", _bits // 8, _bits // 8)
for _name, _size in (
    *(("char", 1), ("uchar", 1), ("short", 2), ("ushort", 2), ("int", 4), ("uint", 4)),
    *(("long", _LONG), ("ulong", _LONG), ("longlong", 8), ("ulonglong", 8)),
    *(("float", 4), ("double", 8)),
):
    for _n in (1, 2, 3, 4):
        _align = _size if _n == 3 else min(16, _n * _size)
        _TYPES.setdefault(f"{_name}{_n}", ("V", _n * _size, _align))
_TYPES["dim3"] = ("V", 12, 4)

# The items of pointers whose type does not depend on a platform, macro or typedef: kind and bytes
# of the number, also in vectors and complex numbers. Byte types are missing, because a pointer to
# bytes accepts any memory.
_ITEMS: dict[str, str] = {
    "bool": "u1",
    "short": "i2",
    "unsigned short": "u2",
    "ushort": "u2",
    "int": "i4",
    "unsigned int": "u4",
    "uint": "u4",
    "long long": "i8",
    "unsigned long long": "u8",
    "float": "f4",
    "double": "f8",
    "half": "f2",
    "__half": "f2",
    "half2": "f2",
    "__half2": "f2",
    "nv_bfloat16": "f2",
    "__nv_bfloat16": "f2",
    "nv_bfloat162": "f2",
    "__nv_bfloat162": "f2",
    "cuComplex": "f4",
    "cuFloatComplex": "f4",
    "cuDoubleComplex": "f8",
    **{f"{sign}int{8 * n}_t": f"{sign or 'i'}{n}" for sign in ("", "u") for n in (2, 4, 8)},
}
for _name, _item in (
    *(("short", "i2"), ("ushort", "u2"), ("int", "i4"), ("uint", "u4")),
    *(("longlong", "i8"), ("ulonglong", "u8"), ("float", "f4"), ("double", "f8")),
):
    _ITEMS |= {f"{_name}{n}": _item for n in (1, 2, 3, 4)}

_COMPLEX = re.compile(r"(?:(?:pycuda|thrust|std|cuda::std)::)?complex<(float|double)>")

_VALUE = re.compile(r"\.param\s++(?:\.align\s++(\d++)\s++)?\.([a-z])(\d++)\s++(\.ptr\b)?")
_ARRAY = re.compile(r"\[\s*+(\d++)\s*+\]\s*+$")


def parameters_from_ptx(name: str, ptx: str) -> list[Parameter] | None:
    """Return the parameters of the kernel *name*, None if the PTX has no such kernel."""
    # At the start of a line of directives: the simulator's PTX has such lines in comments, without
    # parameters.
    line = rf"^[ \t]*(?:\.\w+[ \t]+)*\.entry\s+{re.escape(name)}\s*(?:\(([^()]*)\)|[{{;.])"
    entry = re.search(line, ptx, re.MULTILINE)
    if entry is None:
        return None
    rows: list[Parameter] = []
    for part in (entry[1] or "").split(","):
        if not part.strip():
            continue
        match = _VALUE.search(part)
        if match is None:
            return None
        align, letter, bits, pointer = match.groups()
        size = int(bits) // 8
        array = _ARRAY.search(part)
        if array is not None:
            rows.append(("?", size * int(array[1]), int(align or size), None))
            continue
        kind = "P" if pointer else {"u": "I", "s": "I", "f": "f"}.get(letter, "?")
        rows.append((kind, size, int(align or size), None))
    return rows


_IGNORED = re.compile(
    r"\b(?:const|volatile|struct|class|enum|union|typename|register|"
    r"__restrict__|__restrict|restrict|__grid_constant__)\b|\[\[[^\[\]]*\]\]"
)
_WORD = re.compile(r"[A-Za-z_]\w*")


def _plain(text: str) -> str:
    """Return a type's name in the spelling that the tables use."""
    text = " ".join(text.split())
    if any(mark in text for mark in (":", "<", ">", ",")):
        text = re.sub(r" ?(::|<|>|,) ?", r"\1", text).removeprefix("::")
    words = text.split()
    if words and all(w in ("unsigned", "signed", "int", "char", "short", "long") for w in words):
        base = "char" if "char" in words else "short" if "short" in words else ""
        base = base or " ".join(["long"] * words.count("long")) or "int"
        if "unsigned" in words:
            return f"unsigned {base}"
        return "signed char" if base == "char" and "signed" in words else base
    return text.removeprefix("std::") if text.removeprefix("std::") in _TYPES else text


def _type(
    text: str, aliases: dict[str, str], structs: dict[str, tuple[str, int, int]]
) -> tuple[str, int, int]:
    text = _IGNORED.sub(" ", text)
    if "*" in text:
        return ("P", 8, 8)
    for _ in range(8):  # aliases of aliases
        plain = _plain(text)
        if plain in aliases:
            text = aliases[plain]
            if "*" in text:
                return ("P", 8, 8)
            continue
        match = _COMPLEX.fullmatch(plain)
        if match is not None:
            return ("c", 8, 4) if match[1] == "float" else ("c", 16, 8)
        return structs.get(plain) or _TYPES.get(plain, _UNKNOWN)
    return _UNKNOWN


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


_STRUCT = re.compile(r"\b(typedef\s++)?struct\s++(\w*+)\s*+\{([^{}]*+)\}\s*+(\w*+)\s*+;")
_LENGTHS = re.compile(r"(?:\[\s*+\d++\s*+\]\s*+)*+")


def _layout(
    body: str, aliases: dict[str, str], structs: dict[str, tuple[str, int, int]]
) -> tuple[str, int, int]:
    """Return the size and alignment of a struct of plain members."""
    if re.search(r"[(:&<#]|\b(?:static|alignas|union)\b", body):
        return _UNKNOWN
    end, most = 0, 1
    for line in filter(None, map(str.strip, body.split(";"))):
        said = ""
        for part in line.split(","):
            member = split_declaration(part.strip())
            if member is None or not _LENGTHS.fullmatch(member[3]):
                return _UNKNOWN
            said = member[0] or said
            is_pointer = "*" in member[1]
            _, size, align = ("P", 8, 8) if is_pointer else _type(said, aliases, structs)
            if size == 0 or "*" in said:
                return _UNKNOWN
            for number in re.findall(r"\d+", member[3]):
                size *= int(number)
            end = (end + align - 1) // align * align + size
            most = max(most, align)
    return ("V", (end + most - 1) // most * most, most) if end else _UNKNOWN


def _structs(source: str, text: str, aliases: dict[str, str]) -> dict[str, tuple[str, int, int]]:
    """Return the structs in the source whose layout is certain."""
    found: dict[str, tuple[str, int, int]] = {}
    if "struct" not in text:
        return found
    if re.search(r"^[ \t]*#[ \t]*(?:if|elif|else|pragma)|\b__align__\b", source, re.MULTILINE):
        return found
    for match in _STRUCT.finditer(text):
        typedef, name, body, after = match.groups()
        before = match.start()
        while before > 0 and text[before - 1].isspace():
            before -= 1
        template = text[before - 1 : before] == ">"
        layout = _UNKNOWN if template else _layout(body, aliases, found)
        for one in filter(None, (name, after if typedef else "")):
            found[one] = layout if found.get(one, layout) == layout else _UNKNOWN
    return found


def _item_type(text: str) -> str:
    """Return ``float`` for ``float *x`` and for ``float x[2][2]``; "" for anything else."""
    before, star, after = text.partition("*")
    if star:
        after = after.strip()
        return before if not after or _WORD.fullmatch(after) else ""
    before = text.partition("[")[0].rstrip()
    words = list(_WORD.finditer(before))
    return before[: words[-1].start()] if words and words[-1].end() == len(before) else ""


def _pointer(text: str, defined: Mapping[str, object], unsure: Mapping[str, object]) -> str:
    """Return the kind of a pointer, with its item type if that is certain, because the declaration
    has no name that the source defines."""
    item = _item_type(text)
    if any(w in defined or w in unsure for w in _WORD.findall(item)):
        return "P"
    plain = _plain(item)
    number = _COMPLEX.fullmatch(plain)
    if number is not None:
        return "Pf4" if number[1] == "float" else "Pf8"
    return f"P{_ITEMS.get(plain, '')}"


def _parameter(
    text: str, aliases: dict[str, str], structs: dict[str, tuple[str, int, int]]
) -> Parameter:
    declaration = " ".join(text.split("=")[0].split())
    text = _IGNORED.sub(" ", declaration).strip()
    if "&" in text or "..." in text or "(" in text or "alignas" in text:
        return (*_UNKNOWN, declaration)
    if text.endswith("]") and text.rfind("[") > text.rfind("]", 0, -1):  # an array
        return (_pointer(text, aliases, structs), 8, 8, declaration)
    words = list(_WORD.finditer(text))
    last = words[-1] if words else None
    if last is not None and last.end() == len(text) and len(words) > 1 and last[0] not in _TYPES:
        before = text[: last.start()].rstrip()
        if not before.endswith("::"):
            text = before  # without the parameter's name
    kind, size, align = _type(text, aliases, structs)
    if kind == "P" and "*" in text:
        kind = _pointer(text, aliases, structs)
    return (kind, size, align, declaration)


_ALIASED = re.compile(r"[\w:<>\s*]++")


def _aliases(text: str, macros: dict[str, str]) -> dict[str, str]:
    """Return the meanings of typedefs, using declarations and macros, where they are certain."""
    found: dict[str, str] = dict(macros)
    unsure: set[str] = set()
    declared = [
        (alias, original) for original, alias in typedefs(text) if _ALIASED.fullmatch(original)
    ]
    if "using" in text:
        declared += re.findall(r"\busing\s++(\w++)\s*+=\s*+([\w:<>\s*]++);", text)
    for alias, original in declared:
        original = original.rstrip()
        if found.get(alias, original) != original:
            unsure.add(alias)
        found[alias] = original
    return {alias: original for alias, original in found.items() if alias not in unsure}


def _macros(text: str) -> tuple[dict[str, str], set[str]]:
    """Return macros without parameters that have a single definition, and the names of all
    others."""
    found: dict[str, str] = {}
    others: set[str] = set()
    if "#" not in text:
        return found, others
    for name, parameters, body in re.findall(
        r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)\n]*\))?[ \t]*([^\n]*)$", text, re.MULTILINE
    ):
        if parameters or found.get(name, body.strip()) != body.strip():
            others.add(name)
        found[name] = body.strip()
    others.update(re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", text, re.MULTILINE))
    return {name: body for name, body in found.items() if name not in others}, others


def _plain_name(name: str) -> str:
    """Return a mangled C++ function's name without its namespaces and types."""
    match = re.match(r"_ZN?(?:K?)(.*)", name) if name.startswith("_Z") else None
    if match is None:
        return name
    rest, last = match[1], name
    while number := re.match(r"\d+", rest):
        length = int(number[0])
        last = rest[number.end() : number.end() + length]
        rest = rest[number.end() + length :]
    return last


def parameters_from_source(name: str, source: str) -> list[Parameter] | None:
    """Return the parameters in the declaration of the kernel *name*, None if they are uncertain."""
    plain = _plain_name(name)
    if not _WORD.fullmatch(plain):
        return None
    text = without_comments(source)
    macros, unknown_macros = _macros(text)
    if "#" in text:
        text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.MULTILINE)
    aliases = None
    structs: dict[str, tuple[str, int, int]] = {}
    found: list[Parameter] | None = None
    start, is_kernel, last = 0, False, -1
    for match in re.finditer(rf"[;{{}}]|__global__|\b{plain}\s*+\(", text):
        if len(match[0]) == 1:
            start, is_kernel = match.end(), False
            continue
        is_kernel = is_kernel or match[0] == "__global__"
        if match[0] == "__global__" or not is_kernel:
            continue
        if start == last:
            return None  # the name occurs twice in a declaration
        last = start
        before = text[start : match.start()]
        depth, end = 1, match.end()
        while end < len(text) and depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        inside = text[match.end() : end - 1]
        if depth or unknown_macros.intersection(_WORD.findall(inside)):
            return None
        if aliases is None:
            aliases = _aliases(text, macros)
            structs = _structs(without_comments(source), text, aliases)
        visible = aliases
        if "template" in before:  # its parameters may shadow aliases
            visible = {a: t for a, t in aliases.items() if a not in _WORD.findall(before)}
        parts = _split(inside) if inside.strip() not in ("", "void") else []
        rows = [_parameter(part, visible, structs) for part in parts]
        if found is not None and [row[:3] for row in found] != [row[:3] for row in rows]:
            return None  # an overload, or declared differently in two branches of an #if
        found = rows
    return found


_KNOWN = "// parameters of kernels: "


def as_source(kernels: Mapping[str, list[Parameter] | None]) -> str:
    """Return a text that a module accepts in place of its source, if its kernels' parameters are
    known."""
    return _KNOWN + json.dumps(kernels)


def kernel_parameters(name: str, source: str | None, ptx: bytes | None) -> list[Parameter] | None:
    """Return what is known about each parameter of a module's kernel *name*, None if nothing is."""
    if source is not None and source.startswith(_KNOWN):
        rows = json.loads(source[len(_KNOWN) :]).get(name)
        return None if rows is None else [tuple(row) for row in rows]
    from_ptx = from_source = None
    if ptx is not None and b".entry" in ptx:
        from_ptx = parameters_from_ptx(name, ptx.decode("utf-8", "replace"))
    if source is not None:
        from_source = parameters_from_source(name, source)
    if from_ptx is None or from_source is None:
        return from_ptx if from_source is None else from_source
    if len(from_ptx) != len(from_source):
        return from_ptx
    joined: list[Parameter] = []
    for (kind, size, align, _), (kind_said, size_said, _, declaration) in zip(
        from_ptx, from_source, strict=True
    ):
        if size_said not in (0, size):
            return from_ptx
        joined.append((kind if kind_said == "?" else kind_said, size, align, declaration))
    return joined
