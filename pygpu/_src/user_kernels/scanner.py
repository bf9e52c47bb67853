"""Find how a user's snippet of C uses an array argument, and rewrite its accesses.

The kernel generators insert the user's snippet into a loop over ``i``. An argument that is only
used as ``x[i]`` can have any strides and is broadcast; one that is used in any other way (``x[i +
1]``, ``x[idx[i]]``, ``f(x)``) is a plain pointer to a contiguous array whose length does not
affect the loop. This is not a compiler: anything that is not certainly ``x[i]`` makes it a
pointer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SKIPPED = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
_ASSIGNED = re.compile(
    r"(?:\s*(?:\.\s*\w+|\[[^\[\]]*\]))*\s*(?:=(?!=)|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<=|>>=|\+\+|--)"
)
_MOVES_I = re.compile(
    r"(?<![\w.])i\s*(?:=(?!=)|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<=|>>=|\+\+|--)"
    r"|(?:\+\+|--)\s*i\b|(?<![\w)\]&\s])\s*&\s*i\b"
)
_INDEX_I = re.compile(r"\s*+\[\s*+i\s*+\]")
_OPEN = "([{"
_VALUE_ENDS = ("_", ")", "]", "&")  # an & after these has two operands


@dataclass(frozen=True)
class Uses:
    """How the text uses one name.

    elementwise: it occurs, and always as ``name[i]``. written: an element is assigned to, or its
    address is taken. used: it occurs at all.
    """

    elementwise: bool
    written: bool
    used: bool


def blank(text: str) -> str:
    """Return the text with comments and literals replaced by spaces; positions stay the same."""
    return _SKIPPED.sub(lambda match: " " * len(match[0]), text)


def mentions(text: str, name: str) -> bool:
    """Whether the identifier occurs in the text (and not as a member of something)."""
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}\b", blank(text)))


def moves_index(text: str) -> bool:
    """Whether the text may change ``i``, or declares its own variable of that name."""
    return bool(_MOVES_I.search(blank(text)))


def _last(code: str, end: int) -> int:
    """Return the position after the last character before *end* that is not a space."""
    while end > 0 and code[end - 1].isspace():
        end -= 1
    return end


def _occurrences(code: str, name: str, closing: Mapping[int, int]) -> list[tuple[int, int, int]]:
    """Start, end of the name and end of a following [...] (-1: there is none), in blanked text."""
    found = []
    for match in re.finditer(rf"(?<![\w.]){re.escape(name)}\b", code):
        if code.endswith(("->", "."), 0, _last(code, match.start())):
            continue
        at = match.end()
        while at < len(code) and code[at].isspace():
            at += 1
        close = closing.get(at, -1) if code[at : at + 1] == "[" else -1
        found.append((match.start(), match.end(), close))
    return found


def _closing(code: str) -> dict[int, int]:
    """Return, for each bracket, the position after the bracket that closes it."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"[(\[{]|[)\]}]", code):
        if match[0] in _OPEN:
            opened.append(match.start())
        elif opened:
            found[opened.pop()] = match.end()
    return found


def uses_of(text: str, name: str) -> Uses:
    """Return how *text* uses the argument *name*."""
    code = blank(text)
    elementwise, written, used = True, False, False
    for start, end, close in _occurrences(code, name, _closing(code)):
        used = True
        index = _INDEX_I.match(code, end)
        if index is None or index.end() != close:
            elementwise = False
        if close >= 0 and _ASSIGNED.match(code, close):
            written = True
        before = _last(code, start)
        if code.endswith(("++", "--"), 0, before) or _takes_address(code, before):
            written = True
    return Uses(elementwise and used, written, used)


def _takes_address(code: str, end: int) -> bool:
    """Whether the text up to *end*, before an access, ends with a unary &."""
    if not code.endswith("&", 0, end):
        return False
    end = _last(code, end - 1)
    before = code[max(end - 1, 0) : end]
    return not (before.isalnum() or before in _VALUE_ENDS) or code.endswith("return", 0, end)


def replace_accesses(text: str, names: dict[str, str]) -> str:
    """Replace each access ``name[...]`` in *text* by ``names[name]``."""
    code = blank(text)
    closing = _closing(code)
    spans = [
        (start, close, new)
        for name, new in names.items()
        for start, _, close in _occurrences(code, name, closing)
        if close >= 0
    ]
    parts, at = [], 0
    for start, close, new in sorted(spans):
        if start >= at:  # otherwise it is part of what was replaced
            parts += [text[at:start], new]
            at = close
    return "".join([*parts, text[at:]])
