"""f-strings, as arguments of ``print``."""

from __future__ import annotations

import ast
import re
from typing import Any

from ..ir import Value, tuple_of
from .constants import constant
from .context import FunctionContext

_SPEC = re.compile(r"([<>]?)([+ ]?)(0?)(\d*)((?:\.\d+)?)([deEfFgG]?)")


class Formatted:
    """The parts of an f-string: texts, and for each value the flags, width and precision of C's
    conversion and its letter, "" for the usual one of its type."""

    def __init__(self, parts: list[str | tuple[str, str]]) -> None:
        self.parts = parts


def formatted(fc: FunctionContext, node: ast.JoinedStr) -> Value:
    """Return an f-string as a tuple: a Formatted, and the values."""
    parts: list[str | tuple[str, str]] = []
    values: list[Value] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            parts.append(_conversion(fc, part))
            values.append(fc.expr(part.value))
        else:
            assert isinstance(part, ast.Constant)
            parts.append(str(part.value))
    return tuple_of([constant(fc, Formatted(parts), node), *values])


def _conversion(fc: FunctionContext, part: ast.FormattedValue) -> tuple[str, str]:
    spec: Any = part.format_spec
    if spec is None:
        return "", ""
    text = "".join(str(v.value) if isinstance(v, ast.Constant) else "?" for v in spec.values)
    found = _SPEC.fullmatch(text)
    if found is None or (found[5] and not found[6]):
        raise fc.source.error(
            "formats in kernels are a constant width, precision and one of d, e, f and g, such as "
            "8.3f",
            part.value,
        )
    align, sign, zero, width, precision, letter = found.groups()
    return f"{'-' * (align == '<')}{sign}{zero}{width}{precision}", letter
