"""What a user's snippet of C does with an array argument, and rewriting its accesses.

The kernel generators paste the user's text into a loop over ``i``. An argument that is only ever
written as ``x[i]`` can have any strides and takes part in broadcasting; one that is used in any
other way (``x[i + 1]``, ``x[idx[i]]``, ``f(x)``) is a plain pointer to a contiguous array whose
length says nothing about the loop. This is no compiler: what is not surely ``x[i]`` is a pointer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Uses", "blank", "mentions", "moves_index", "replace_accesses", "uses_of"]

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
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Uses:
    """What the text does with one name.

    elementwise: it occurs, and always as ``name[i]``. written: an element is assigned to, or its
    address is taken. used: it occurs at all.
    """

    elementwise: bool
    written: bool
    used: bool


def blank(text: str) -> str:
    """The text with spaces in place of comments and literals; positions stay the same."""
    return _SKIPPED.sub(lambda match: " " * len(match[0]), text)


def mentions(text: str, name: str) -> bool:
    """Whether the identifier occurs in the text (and not as a member of something)."""
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}\b", blank(text)))


def moves_index(text: str) -> bool:
    """Whether the text may change ``i``, or has a variable of its own that is called so."""
    return bool(_MOVES_I.search(blank(text)))


def _occurrences(code: str, name: str) -> list[tuple[int, int, int]]:
    """Start, end of the name and end of a following [...] (-1: there is none), in blanked text."""
    found = []
    for match in re.finditer(rf"(?<![\w.]){re.escape(name)}\b", code):
        before = code[: match.start()].rstrip()
        if before.endswith(("->", ".")):
            continue
        at = match.end()
        while at < len(code) and code[at].isspace():
            at += 1
        found.append(
            (match.start(), match.end(), _closing(code, at) if code[at : at + 1] == "[" else -1)
        )
    return found


def _closing(code: str, start: int) -> int:
    """The position after the bracket that closes the one at *start*, -1 if none does."""
    depth = 0
    for at in range(start, len(code)):
        if code[at] in _OPEN:
            depth += 1
        elif code[at] in _CLOSE:
            depth -= 1
            if depth == 0:
                return at + 1
    return -1


def uses_of(text: str, name: str) -> Uses:
    """How *text* uses the argument *name*."""
    code = blank(text)
    elementwise, written, used = True, False, False
    for start, end, close in _occurrences(code, name):
        used = True
        index = code[end:close].strip()[1:-1].strip() if close >= 0 else ""
        if index != "i":
            elementwise = False
        if close >= 0 and _ASSIGNED.match(code, close):
            written = True
        before = code[:start].rstrip()
        if before.endswith(("++", "--")) or _takes_address(before):
            written = True
    return Uses(elementwise and used, written, used)


def _takes_address(before: str) -> bool:
    """Whether the text before an access ends in a unary &."""
    if not before.endswith("&"):
        return False
    rest = before[:-1].rstrip()
    return not rest or not (rest[-1].isalnum() or rest[-1] in "_)]&") or rest.endswith("return")


def replace_accesses(text: str, names: dict[str, str]) -> str:
    """*text* with each access ``name[...]`` replaced by ``names[name]``."""
    code = blank(text)
    spans = [
        (start, close, new)
        for name, new in names.items()
        for start, _, close in _occurrences(code, name)
        if close >= 0
    ]
    for start, close, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[close:]
    return text
