"""Draws lanes of coloured bars over time, as an SVG file."""

from __future__ import annotations

import html
import math
from typing import NamedTuple

from . import text

_WIDTH, _LEFT, _LANE, _AXIS = 960, 180, 26, 22  # [px]
_COLOURS = {
    "kernel": "#4878cf",
    "graph": "#8d5fd3",
    "copy to device": "#3a9b5c",
    "copy to host": "#d98032",
    "copy on device": "#8f8f3f",
    "fill": "#b0b0b0",
    "call": "#9aa5b1",
    "range": "#d4b94e",
}
_OTHER = "#c85a7c"
_LEAST = 0.3  # the least width of a bar [px]; smaller ones inside the previous bar are omitted
_LETTER = 6.5  # [px]


class Bar(NamedTuple):
    kind: str
    name: str
    start: float  # [s]
    end: float


class Lane(NamedTuple):
    name: str
    bars: list[Bar]


def escape(words: str) -> str:
    return html.escape(words)


def _ticks(duration: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10(duration / 4))
    step *= next(k for k in (1, 2, 5, 10) if duration / (step * k) <= 8)
    return [k * step for k in range(int(duration / step) + 1)]


def _bars(lane: Lane, top: int, scale: float) -> list[str]:
    made = []
    covered = -1.0
    for bar in sorted(lane.bars, key=lambda b: (b.start, -b.end)):
        left, right = _LEFT + bar.start * scale, _LEFT + bar.end * scale
        right = max(right, left + _LEAST)
        if right - covered < _LEAST:
            continue
        covered = max(covered, right)
        width = right - left
        about = f"{bar.name}: {text.seconds(bar.end - bar.start)} at {text.seconds(bar.start)}"
        made.append(
            f"<rect x='{left:.2f}' y='{top + 3}' width='{width:.2f}' height='{_LANE - 6}' "
            f"fill='{_COLOURS.get(bar.kind, _OTHER)}'><title>{escape(about)}</title></rect>"
        )
        letters = int((width - 6) / _LETTER)
        if letters >= 3:
            name = bar.name if len(bar.name) <= letters else f"{bar.name[: letters - 1]}…"
            made.append(
                f"<text x='{left + 3:.2f}' y='{top + _LANE - 9}' fill='white' "
                f"pointer-events='none'>{escape(name)}</text>"
            )
    return made


def svg(lanes: list[Lane], duration: float) -> str:
    """Draw *duration* seconds."""
    duration = duration if duration > 0 else 1e-6
    scale = (_WIDTH - _LEFT - 10) / duration
    height = _AXIS + _LANE * len(lanes) + 24
    made = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{height}' "
        f"viewBox='0 0 {_WIDTH} {height}' font-family='sans-serif' font-size='11'>",
        f"<rect width='{_WIDTH}' height='{height}' fill='white'/>",
    ]
    for tick in _ticks(duration):
        x = _LEFT + tick * scale
        made.append(f"<path d='M{x:.2f} {_AXIS}V{height - 24}' stroke='#e4e4e4'/>")
        label = "0" if tick == 0 else text.seconds(tick)
        made.append(f"<text x='{x:.2f}' y='14' text-anchor='middle' fill='#444'>{label}</text>")
    for row, lane in enumerate(lanes):
        top = _AXIS + row * _LANE
        name = lane.name if len(lane.name) <= 27 else f"{lane.name[:26]}…"
        made.append(
            f"<text x='6' y='{top + _LANE - 9}' fill='#222'>{escape(name)}"
            f"<title>{escape(lane.name)}</title></text>"
        )
        made += _bars(lane, top, scale)
    kinds = dict.fromkeys(bar.kind for lane in lanes for bar in lane.bars)
    x = float(_LEFT)
    for kind in kinds:
        made.append(
            f"<rect x='{x:.0f}' y='{height - 16}' width='10' height='10' "
            f"fill='{_COLOURS.get(kind, _OTHER)}'/>"
            f"<text x='{x + 14:.0f}' y='{height - 7}' fill='#444'>{escape(kind)}</text>"
        )
        x += 28 + _LETTER * len(kind)
    return "".join([*made, "</svg>"])
