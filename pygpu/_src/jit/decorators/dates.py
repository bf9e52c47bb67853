"""Dates and durations in calls of vectorize and guvectorize, whose kernels get them as int64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen.dtypes import is_date

from .loops import Loop


def has_dates(loop: Loop) -> bool:
    """Whether an input or output of the loop is a date or a duration."""
    return any(map(is_date, (*loop.inputs, *loop.outputs)))


class DateViews:
    """The operands of a call, with int64 for dates, converted to the loop's units.

    inputs, outs: these operands. :meth:`results` converts results back to dates."""

    def __init__(self, name: str, loop: Loop, inputs: Sequence[Any], outs: Sequence[Any]) -> None:
        self.loop = loop
        self.given = list(outs)
        self.inputs = [_as_int64(name, a, d) for a, d in zip(inputs, loop.inputs)]
        self.outs: list[Any] = []
        for o, d in zip(outs, loop.outputs):
            if o is not None and o.dtype != d and (is_date(o.dtype) or is_date(d)):
                raise TypeError(f"{name}: an output of {d} cannot be an array of {o.dtype}")
            self.outs.append(o.view("i8") if o is not None and is_date(d) else o)

    def results(self, found: Sequence[Any]) -> list[Any]:
        """Return the results with the loop's dtypes, and passed outputs unchanged."""
        given = self.given or [None] * len(found)
        return [
            o if o is not None else r.view(d) if is_date(d) else r
            for o, r, d in zip(given, found, self.loop.outputs)
        ]


def _as_int64(name: str, operand: Any, dtype: np.dtype[Any]) -> Any:
    """Return an operand for an input of *dtype*."""
    have = getattr(operand, "dtype", None)
    if is_date(dtype):
        if not is_date(have):  # a whole number of units
            return operand
        converted = operand if have == dtype else operand.astype(dtype)
        return converted.view("i8")
    if is_date(have):
        raise TypeError(f"{name}: cannot convert {have} to {dtype}")
    return operand
