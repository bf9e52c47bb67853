"""How a matrix lies in memory, as BLAS describes it."""

from __future__ import annotations


def layout_of(
    shape: tuple[int, int], strides: tuple[int, int], itemsize: int
) -> tuple[int, int] | None:
    """(0, leading dimension [items]) of rows that lie one after the other, (1, ...) of columns that
    do; None of a matrix whose items are apart both ways."""
    (rows, columns), (down, right) = shape, strides
    if columns == 1 or right == itemsize:
        if rows == 1:
            return 0, max(columns, 1)
        if down % itemsize == 0 and down // itemsize >= columns:
            return 0, down // itemsize
    if rows == 1 or down == itemsize:
        if columns == 1:
            return 1, max(rows, 1)
        if right % itemsize == 0 and right // itemsize >= rows:
            return 1, right // itemsize
    return None
