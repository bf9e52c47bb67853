"""Tables for reports, as text and as HTML, and numbers with units."""

from __future__ import annotations

import html
from collections.abc import Sequence


def seconds(value: float) -> str:
    """Format a time with three digits and a suitable unit: 12.3 us."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(value) >= scale:
            return f"{value / scale:.3g} {unit}" if abs(value) < 1000 else f"{value:.0f} s"
    return f"{value / 1e-9:.3g} ns"


def size(nbytes: float) -> str:
    """Format a number of bytes: 1.5 MiB."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(nbytes) >= scale:
            return f"{nbytes / scale:.1f} {unit}"
    return f"{int(nbytes)} B"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format columns with two spaces between them: the first aligned to the left, numbers to the
    right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if k == 0 else text.rjust(width)
            for k, (text, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


def html_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], kind: str) -> str:
        made = (
            f"<{kind} style='text-align:{'right' if k else 'left'}'>{html.escape(cell)}</{kind}>"
            for k, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        f"<table><caption><b>{html.escape(caption)}</b></caption>"
        f"<thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"
    )
