"""Arguments of kernels, read from OpenCL C source.

If a driver does not describe the arguments of a kernel (`clGetKernelArgInfo`), the declaration in
the source does. This is not a compiler: uncertain cases, above all macros, are skipped.
"""

from __future__ import annotations

import re

GLOBAL, LOCAL, CONSTANT, PRIVATE = 0x119B, 0x119C, 0x119D, 0x119E
READ_ONLY, WRITE_ONLY, READ_WRITE, NO_ACCESS = 0x11A0, 0x11A1, 0x11A2, 0x11A3
CONST, RESTRICT, VOLATILE, PIPE = 1, 2, 4, 8

_TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


def without_comments(source: str) -> str:
    """Return the source with each comment replaced by a space, and continued lines joined."""
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
_WORD = re.compile(r"\s*+(?:(\w++)|(\*)|(\[\s*+\w*+\s*+\]))")
_DIMENSIONS = re.compile(r"(?:\[[\s\w]*+\]\s*+)*+")
_LAST_WORD = re.compile(r"\b[A-Za-z_]\w*+\Z")
_TYPEDEF = re.compile(r"\btypedef\s")


def split_declaration(text: str) -> tuple[str, str, str, str] | None:
    """Return the type, asterisks, name and dimensions of ``float *x[3]``, None if it has no
    name."""
    end = text.find("[")
    head, dimensions = (text, "") if end < 0 else (text[:end], text[end:])
    head = head.rstrip()
    name = _LAST_WORD.search(head)
    if name is None or not _DIMENSIONS.fullmatch(dimensions):
        return None
    before = head[: name.start()]
    base = before.rstrip("* \t\n\r\f\v")
    return base, before[len(base) :], name[0], dimensions


def typedefs(text: str) -> list[tuple[str, str]]:
    """Return (meaning, name) of each ``typedef float2 *name;`` without braces."""
    found = []
    for statement in text.split(";")[:-1]:
        after = statement[max(statement.rfind("{"), statement.rfind("}")) + 1 :]
        word = _TYPEDEF.search(after)
        declared = after[word.end() :].strip() if word is not None else ""
        name = _LAST_WORD.search(declared)
        if name is not None:
            found.append((declared[: name.start()], name[0]))
    return found


def _plain(word: str) -> str:
    """Return global for __global, and so on."""
    return word[2:].rstrip("_") if word.startswith("__") else word


def _base_type(words: list[str], types: dict[str, str]) -> str | None:
    """Return the type as clGetKernelArgInfo spells it, None if it is not certainly a type."""
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
            return None  # a pointer without an address space: OpenCL 2's generic one, or a macro
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


def _without_bodies(text: str) -> str:
    """Return the text with each pair of braces and its contents replaced by a space."""
    parts: list[str] = []
    opened: list[int] = []
    for part in re.split(r"([{}])", text):
        if part == "}" and opened:
            del parts[opened.pop() :]
            part = " "
        elif part == "{":
            opened.append(len(parts))
        parts.append(part)
    return "".join(parts)


def _typedefs(text: str) -> dict[str, str]:
    """Return the meanings of typedefs of scalars, vectors and structs."""
    types: dict[str, str] = {}
    unsure = set()
    for original, alias in typedefs(_without_bodies(text)):
        words = original.split()
        known = alias if words[:1] in (["struct"], ["union"]) else _base_type(words, types)
        if known is None or "*" in original or types.get(alias, known) != known:
            unsure.add(alias)
        else:
            types[alias] = known
    return {alias: known for alias, known in types.items() if alias not in unsure}


def kernel_arguments(source: str, name: str) -> list[tuple[int, int, str, int, str]] | None:
    """Return what clGetKernelArgInfo would answer for the kernel *name*, None if that is
    uncertain.

    The result is a list with (address qualifier, access qualifier, type name, type qualifiers,
    name) for each argument, in OpenCL's constants. Typedefs are replaced by their meanings.
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


# ---- types that a source defines ----------------------------------------------------------------

_SCALAR_SIZES = dict(char=1, uchar=1, short=2, ushort=2, half=2, int=4, uint=4, float=4)
_SCALAR_SIZES |= dict(long=8, ulong=8, double=8)
_SIZES = _SCALAR_SIZES | {
    f"{scalar}{count}": size * (4 if count == 3 else count)
    for scalar, size in _SCALAR_SIZES.items()
    for count in (2, 3, 4, 8, 16)
}
_DEFINITION = re.compile(
    r"""\b(?P<typedef>typedef\s++)?struct\b\s*+(?P<tag>\w++)?\s*+
        \{(?P<body>[^{}]*+)\}\s*+(?P<name>\w++)?\s*+;
    |\btypedef(?P<words>(?:\s++(?!typedef\b)\w++){2,}+)\s*+;""",
    re.VERBOSE,
)
_FIRST = re.compile(r"((?:\w++\s++)+)(\w++\s*+(?:\[.*\])?)", re.DOTALL)
_MEMBER = re.compile(r"\s*+(\w++)\s*+((?:\[\s*+(?:0[xX][\da-fA-F]++|\d++)\s*+\]\s*+)*+)")


def type_size(text: str) -> int | None:
    """Return the size of a number or vector of OpenCL C [bytes]; None for any other type."""
    return _SIZES.get(_base_type(text.split(), {}) or "")


def _conditional_lines(text: str) -> tuple[str, str]:
    """Split the text into what is always compiled, and what is between #if and #endif."""
    always: list[str] = []
    sometimes: list[str] = []
    depth = 0
    for line in text.split("\n"):
        directive = re.match(r"[ \t]*#[ \t]*(\w*)", line)
        if directive is None:
            (sometimes if depth else always).append(line)
        else:
            depth += directive[1].startswith("if") - (directive[1] == "endif")
    return "\n".join(always), "\n".join(sometimes)


def _statements(text: str) -> list[str]:
    """Return the statements that end with a semicolon, each from the previous brace or semicolon
    on."""
    parts = re.split(r"([;{}])", text)
    return [part for part, end in zip(parts[::2], parts[1::2]) if end == ";"]


def _named_size(words: list[str], sizes: dict[str, tuple[int, int]]) -> tuple[int, int] | None:
    words = [word for word in words if _plain(word) not in _QUALIFIERS]
    name = " ".join(words)
    if name in sizes:
        return sizes[name]
    base = _base_type(words, {})
    return (_SIZES[base],) * 2 if base in _SIZES else None


def _struct_size(body: str, sizes: dict[str, tuple[int, int]]) -> tuple[int, int] | None:
    """Return the size and alignment of a struct with these members; None if they are not certainly
    understood."""
    size, largest = 0, 0
    for statement in body.split(";")[:-1]:
        first, *others = statement.split(",")
        head = _FIRST.fullmatch(first.strip())
        kind = _named_size(head[1].split(), sizes) if head is not None else None
        if head is None or kind is None:
            return None
        for declared in (head[2], *others):
            member = _MEMBER.fullmatch(declared)
            if member is None:
                return None
            count = 1
            for length in re.findall(r"\w+", member[2]):
                if length[0] == "0" and length[1:2] not in ("x", "X"):
                    return None  # octal, or no items at all
                count *= int(length, 0)
            size = -(-size // kind[1]) * kind[1] + count * kind[0]
            largest = max(largest, kind[1])
    if not size or body.split(";")[-1].strip():
        return None
    return -(-size // largest) * largest, largest


def type_definitions(source: str) -> dict[str, int | str]:
    """Return the types that the source defines, by the names that arguments have for them.

    The value is the size of a struct [bytes]; for another name of a number or vector, that type.
    Uncertain types are omitted: those with members of unknown types, pointers, bit-fields, unions,
    attributes, macros, definitions under #if, or several definitions.
    """
    text = without_comments(source)
    if re.search(r"#[ \t]*pragma[ \t]+pack|\b_Pragma\b", text):
        return {}
    macros = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.MULTILINE))
    text, conditional = _conditional_lines(text)
    unsure = {*macros, *re.findall(r"\b\w+\b", " ".join(_statements(conditional)))}
    unsure -= {*_SIZES, "unsigned", "signed"} - macros
    sizes: dict[str, tuple[int, int]] = {}
    plain: dict[str, str] = {}  # types other than structs
    for match in _DEFINITION.finditer(text):
        if match["body"] is not None:
            words = set(re.findall(r"\w+", match["body"]))
            found = None if unsure & words else _struct_size(match["body"], sizes)
            names = [f"struct {match['tag']}"] if match["tag"] else []
            names += [match["name"]] if match["typedef"] and match["name"] else []
        else:
            *declared, alias = match["words"].split()
            original = [word for word in declared if word not in _QUALIFIERS]
            found = None if unsure.intersection(original) else _named_size(original, sizes)
            names = [alias]
            base = _base_type(original, plain) or ""
            if base in _SIZES:
                plain[names[0]] = base
        for name in names:
            if found is None or sizes.get(name, found) != found or name.split()[-1] in unsure:
                unsure.add(name)
                sizes.pop(name, None)
            elif name not in unsure:
                sizes[name] = found
    return {name: plain.get(name, size) for name, (size, _) in sizes.items()}
