"""The elementwise kernel for GPUs over rows: for operands that are broadcast or have gaps, but
whose items along the last axis are adjacent, or the same.

A group has x work-items along a row and y rows; a work-item does *vector* items of a row at a
time. So the start of a row is computed once for all its items, without a division if there are two
axes, and memory is accessed in units of 16 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from .elementwise import (
    Array,
    Memory,
    Number,
    Operation,
    block,
    declarations,
    integers,
    kernel_name,
    moving_loop,
    operands_of,
    unravel,
)

_GROUP = 256
_ROWS_EACH = 8  # rows per work-item: 0.95 of an H200's copy rate, 0.89 with one, 0.91 with 16
_ENOUGH = 8192  # groups, before any does more than one row
_ROWS_MOST = 65535  # the most groups along a grid's second dimension


def shape_of_group(rows: int, length: int, vector: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(groups, group size) for rows of *length* items."""
    x = min(_GROUP, max(8, 1 << (-(-length // vector) - 1).bit_length()))
    y = _GROUP // x
    across = -(-length // (x * vector))
    down = -(-rows // y)
    each = max(min(across * down // _ENOUGH, _ROWS_EACH), 1)
    return (min(across, 1 << 20), min(-(-down // each), _ROWS_MOST)), (x, y)


class _Parts:
    """The statements for the kernel's operands, by where they belong.

    once: before all rows. rows: at the start of each row. moved: the arrays that are read and
    written in vectors. takes: before the body within a vector; one_takes, one_puts: around it for
    single items. aligned: the condition for vectors.
    """

    def __init__(self, operands: Sequence[Number | Array], axes: int, letters: str, vector: int):
        self.once: list[str] = []
        self.rows: list[str] = []
        self.moved: list[Array] = []
        self.takes: list[str] = []
        self.one_takes: list[str] = []
        self.one_puts: list[str] = []
        self.aligned: list[str] = []
        self.vector = vector
        along = iter(letters)
        for operand in operands:
            if isinstance(operand, Number):
                self._keep(self.once, operand, f"{operand.name}_")
                continue
            self.rows.append(operand.point("r", "p", f"({operand.offset(axes)})"))
            if next(along) == "b":
                self._keep(self.rows, operand, operand.load("r", "0"))
            else:
                self._move(operand)

    def _keep(self, where: list[str], operand: Number | Array, value: str) -> None:
        """Handle an input that is the same for all items of a row, or of all rows."""
        where.append(f"const {operand.kind} {operand.name}_v = {value};")
        take = operand.constant(f"{operand.name}_v")
        self.takes.append(take)
        self.one_takes.append(take)

    def _move(self, array: Array) -> None:
        """Handle an array whose items are adjacent."""
        self.aligned.append(f"PG_ALIGNED({array.name}_r, sizeof(*{array.name}_p) * {self.vector})")
        self.moved.append(array)
        self.takes.append(array.take("w.item", "k"))
        self.one_takes.append(array.take("r", "i"))
        if array.output:
            self.one_puts.append(array.put("r", "i"))


def source(
    operation: Operation, memory: Memory, ndim: int, wide: bool, letters: str, vector: int
) -> str:
    """The kernel: operands, the lengths of the axes except the first, the strides of each array
    along them [bytes], the number of rows.

    letters: for each array "c" (items are adjacent along the last axis) or "b" (they are the
    same).
    """
    operands = operands_of(operation, memory)
    arrays = [o for o in operands if isinstance(o, Array)]
    parts = _Parts(operands, ndim - 1, letters, vector)
    parameters = [o.parameter for o in operands]
    parameters += [f"pg_i64 n{axis}" for axis in range(1, ndim)]
    parameters += [f"pg_i64 {a.name}_s{axis}" for a in arrays for axis in range(ndim)]
    parameters.append("pg_i64 rows")
    walk = unravel("row", ndim - 1, "pg_i64", integers(wide)[1])
    unused = " ".join(f"(void){a.name}_s{ndim - 1};" for a in arrays)
    fetch, computed, store = moving_loop(
        parts.moved, vector, ("w", "r"), parts.takes, operation.body
    )
    head = f"PG_KERNEL void {kernel_name(operation)}({', '.join(parameters)})"
    return f"""\
{declarations(operands, parts.moved, vector)}{operation.helpers}{head}
{{
    {" ".join(a.start for a in arrays)} {unused}
    {" ".join(parts.once)}
    const pg_i64 length = n{ndim - 1}, step = PG_IDS(0) * {vector};
    const pg_i64 begin = PG_GROUP_ID(0) * (pg_i64)PG_SIZE(0) * {vector};
    for (pg_i64 row = PG_ID(1); row < rows; row += PG_IDS(1)) {{
        {block(8, *walk)}
        {block(8, *parts.rows)}
        const int aligned = {" && ".join(parts.aligned) or "1"};
        const pg_i64 apart = aligned ? 1 : PG_SIZE(0);
        pg_i64 first = begin + PG_LOCAL_ID(0) * (pg_i64)(aligned ? {vector} : 1);
        for (; first < length; first += step) {{
            if (first + {vector - 1} * apart < length) {{
                {block(16, *fetch, *computed, *store)}
            }} else {{
                PG_ROLLED
                for (pg_i64 i = first; i < length; i += apart) {{
                    {block(20, *parts.one_takes)}
                    {{
                    {operation.body}
                    }}
                    {block(20, *parts.one_puts)}
                }}
            }}
        }}
    }}
}}
"""
