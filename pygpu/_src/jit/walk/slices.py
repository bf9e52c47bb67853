"""Slices of arrays: views of a part of their memory."""

from __future__ import annotations

import ast
from typing import Any

from .. import emit
from ..ir import Value
from ..types import WEAK_INT, ArrayType
from .context import FunctionContext
from .items import check_axis, index_text, moved


def slice_view(fc: FunctionContext, value: Value, given: list[Any], node: ast.AST) -> Value:
    t = value.type
    assert isinstance(t, ArrayType)
    strides = emit.strides_of(value)
    axis = 0
    offsets: list[str] = []
    shape: list[str] = []
    steps: list[str] = []
    whole_rest = t.contiguous  # the remaining axes are complete, and only items precede them
    sliced = False
    inside: list[str] = []
    for g in given:
        if isinstance(g, Value) and g.is_object and g.const is None:
            shape.append("1")
            steps.append("0")
            whole_rest = False
            continue
        n, stride = value.shape[axis], strides[axis]
        axis += 1
        if isinstance(g, Value):
            fc.as_number(g, node, "an index")
            i = index_text(fc, g, n, node)
            if fc.unit.checks:
                i, ok = _slice_index(fc, i, g, n, node, axis - 1, t.ndim)
                inside += [ok] if ok else []
            if i != "0":
                offsets.append(f"{i} * {stride}")
            if sliced:
                whole_rest = False
            continue
        start, length, step = _slice_parts(fc, g, n)
        if start != "0":
            offsets.append(f"{start} * {stride}")
        if (sliced and (length != n or start != "0")) or step != "1":
            whole_rest = False
        sliced = True
        shape.append(length)
        steps.append(stride if step == "1" else f"({stride} * {step})")
    contiguous = whole_rest
    if inside:  # out of bounds, it is an empty view, rather than the first row
        shape = [_empty_unless(fc, " && ".join(inside), n) for n in shape]
    kind = ArrayType(t.item_dtype, len(shape), contiguous, t.space)
    pointer = value.text if not offsets else moved(t, value.text, " + ".join(offsets))
    return Value(kind, pointer, shape=shape, strides=None if contiguous else steps)


def _slice_index(
    fc: FunctionContext, text: str, value: Value, n: str, node: ast.AST, axis: int, ndim: int
) -> tuple[str, str]:
    """Return the source of an index beside slices, 0 if it is out of bounds, and that of whether
    it is not; "" if that is known."""
    found = check_axis(fc, value, n, node, axis, ndim)
    if found is None:
        return text, ""
    if fc.conditional:  # where it may not be evaluated, only items report errors
        return f"((pg_u64){text} < (pg_u64){n} ? {text} : 0)", f"(pg_u64){text} < (pg_u64){n}"
    at = fc.stable(found)
    return f"({at} < 0 ? 0 : {at})", f"{at} >= 0"


def _empty_unless(fc: FunctionContext, inside: str, n: str) -> str:
    text = f"({inside} ? {n} : 0)"
    made = text if fc.conditional else fc.stable(text)
    fc.ranges.known[made] = 0, fc.ranges.length_range(n)[1]
    return made


def _slice_end(fc: FunctionContext, node: ast.expr) -> Value | None:
    value = fc.expr(node)
    if value.is_object and value.const is None:
        return None
    fc.as_number(value, node, "an end of a slice")
    if value.dtype.kind not in "iub":
        raise fc.source.error("ends of slices must be integers", node)
    return value


def _slice_parts(fc: FunctionContext, node: ast.Slice, n: str) -> tuple[str, str, str]:
    """Return the start, the length and the step of a slice of an axis of *n* items."""
    ends = []
    for part in (node.lower, node.upper, node.step):
        ends.append(None if part is None else _slice_end(fc, part))
    lower, upper, step = ends
    clip = fc.unit.helper("pg_clip")
    by = 1 if step is None else int(step.const) if step.is_const else None
    if by == 0:
        raise fc.source.error("slice step cannot be zero", node)
    if by == 1 and lower is None and upper is None:
        return "0", n, "1"
    if by is not None and by > 0:
        start = "0" if lower is None else f"{clip}({emit.convert(lower, WEAK_INT)}, {n}, 0, {n})"
        if lower is not None and lower.is_const and lower.const == 0:
            start = "0"
        stop = n if upper is None else f"{clip}({emit.convert(upper, WEAK_INT)}, {n}, 0, {n})"
    elif by is not None:
        last = f"{n} - 1"
        start = (
            f"({last})"
            if lower is None
            else f"{clip}({emit.convert(lower, WEAK_INT)}, {n}, -1, {last})"
        )
        stop = (
            "-1" if upper is None else f"{clip}({emit.convert(upper, WEAK_INT)}, {n}, -1, {last})"
        )
    else:
        assert step is not None
        by_text = fc.stable(emit.convert(step, WEAK_INT))
        low, high = f"({by_text} < 0 ? -1 : 0)", f"({by_text} < 0 ? {n} - 1 : {n})"
        start = (
            f"({by_text} < 0 ? {n} - 1 : 0)"
            if lower is None
            else f"{clip}({emit.convert(lower, WEAK_INT)}, {n}, {low}, {high})"
        )
        stop = (
            f"({by_text} < 0 ? -1 : {n})"
            if upper is None
            else f"{clip}({emit.convert(upper, WEAK_INT)}, {n}, {low}, {high})"
        )
        start = fc.stable(start)
        steps = fc.unit.helper("pg_steps")
        return start, fc.stable(f"{steps}({start}, {stop}, {by_text})"), by_text
    if start != "0" or not stop.isidentifier():
        start = fc.stable(start)
        steps = fc.unit.helper("pg_steps")
        return start, fc.stable(f"{steps}({start}, {stop}, {by})"), str(by)
    return start, stop if by == 1 else fc.stable(f"(({stop} + {by - 1}) / {by})"), str(by)
