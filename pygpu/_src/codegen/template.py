"""Text with placeholders: ``$name``, or ``${name}`` where a letter follows.

Kernels have too many braces for format strings. (string.Template does the same, but takes a
millisecond to import.)

>>> Template("x[$i] = ${type}_zero;").fill(i=3, type="f32")
'x[3] = f32_zero;'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PLACEHOLDER = r"\$(?:\{(\w+)\}|(\w+))"


class Template:
    """A text with placeholders."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def fill(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> str:
        """Return the text with each placeholder replaced by str(value). Extra values are ignored;
        placeholders inside values are not replaced. Raises KeyError for a placeholder without a
        value."""
        substitutions = {**(values or {}), **more}
        return re.sub(
            _PLACEHOLDER, lambda match: str(substitutions[match[1] or match[2]]), self.text
        )
