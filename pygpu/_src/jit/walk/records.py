"""Records: items of arrays of structs, whose fields kernels read and write.

A record is a pointer to its first byte. A field is a number at an offset from it, another record,
or an array of the field's shape; a field of an array of records is a strided view of the array.
"""

from __future__ import annotations

import ast
from math import gcd
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value
from ..types import ArrayType, RecordType
from .context import FunctionContext
from .index_checks import Checked, checked_record

# Integers are used because ptxas (CUDA 13.0) miscompiles the float version: if a byte is stored of
# a constant that cvt.rn.f16.f32 has made a half, it stores the constant converted to an integer
# (F2I.U8.F16).
_HALF = """\
PG_INLINE pg_u32 pgu_half(pg_f32 x)
{ /* the bits of the nearest half, of two the even one */
    pg_u32 u = PG_BITS_F32(x), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu, r;
    if (a > 0x7f800000u)
        r = 0x7e00u | (a >> 13 & 0x3ffu);
    else if (a >= 0x477ff000u) /* 65520, halfway to what is beyond */
        r = 0x7c00u;
    else if (a >= 0x38800000u)
        r = (a - 0x38000000u + 0xfffu + (a >> 13 & 1u)) >> 13;
    else /* in units of the least half */
        r = (pg_u32)rint(PG_FROM_BITS_F32(a) * 16777216.0f);
    return sign | r;
}
"""


def record_at(fc: FunctionContext, t: ArrayType, pointer: str, index: str) -> Value:
    """Return the record at an index of an array."""
    kind = RecordType(t.dtype, t.space, dtypes.alignment(t.dtype))
    if isinstance(index, Checked):
        return Value(kind, checked_record(fc, t, pointer, index))
    address = pointer if index == "0" else f"({pointer} + {index})"
    return Value(kind, f"(({emit.pointer_type(kind)}){address})")


def field_name(fc: FunctionContext, value: Value, node: ast.expr) -> str | None:
    """Return the name in ``record["name"]`` or ``array["name"]``; None for another index."""
    if value.is_record or (value.is_array and value.dtype.names):
        if isinstance(node, (ast.Constant, ast.Name, ast.Attribute)):
            index = fc.expr(node)
            if index.is_object and isinstance(index.const, str):
                return index.const
            names = value.dtype.names or ()
            one = value.is_record or not value.shape
            if one and isinstance(index.const, int):
                if not -len(names) <= index.const < len(names):
                    raise fc.source.error(f"a record of {len(names)} fields", node)
                return names[index.const]
        if value.is_record:
            raise fc.source.error("the index of a record must be the name of a field", node)
    return None


def field_dtype(
    fc: FunctionContext, value: Value, name: str, node: ast.AST
) -> tuple[np.dtype[Any], int]:
    """Return the dtype of a field, and its offset in the record."""
    dtype = value.dtype
    if name not in (dtype.names or ()):
        has = f"; it has {', '.join(dtype.names)}" if dtype.names else ""
        raise fc.source.error(f"{value.type} has no field {name!r}{has}", node)
    fields: Any = dtype.fields
    inner, offset = fields[name][:2]
    return inner, offset


def is_aligned(t: RecordType, dtype: np.dtype[Any], offset: int) -> bool:
    """Whether a number at an offset of a record is aligned for a load."""
    return gcd(t.align, offset) % dtypes.alignment(dtype) == 0


def field_value(fc: FunctionContext, value: Value, name: str, node: ast.AST) -> Value:
    """Return a field of a record, or of all records of an array."""
    dtype, offset = field_dtype(fc, value, name, node)
    base, shape = dtype.base, dtype.shape
    kept = ArrayType(base, 1).dtype  # int64 for dates
    if not (base.names or dtypes.is_numeric(kept)):
        raise fc.source.error(f"fields of {base} are not supported in kernels", node)
    fc.unit.need(kept)
    if value.is_array and value.shape:
        return _column(fc, value, name, base, shape, offset, node)
    t = value.type
    if isinstance(t, ArrayType):  # of no dimensions: a record that was an argument
        value = record_at(fc, t, value.text, "0")
        t = value.type
    assert isinstance(t, RecordType)
    address = f"({value.text} + {offset})" if offset else value.text
    if shape:
        kind = ArrayType(base, len(shape), True, t.space)
        _must_align(fc, t, kept, offset, name, node)
        text = f"(({emit.pointer_type(kind)}){address})"
        return Value(kind, text, shape=[str(n) for n in shape])
    if base.names:
        return Value(RecordType(base, t.space, gcd(t.align, offset)), address)
    one = ArrayType(base, 1, True, t.space)
    if not is_aligned(t, kept, offset):
        text = f"{by_bytes(fc, 'load', t, kept)}({address})"
    else:
        text = dtypes.load(kept, f"(({emit.pointer_type(one)}){address})", "0")
    return Value(one.item_type, text, nonneg=base.kind in "bu")


def _column(
    fc: FunctionContext,
    value: Value,
    name: str,
    base: np.dtype[Any],
    shape: tuple[int, ...],
    offset: int,
    node: ast.AST,
) -> Value:
    """Return a field of an array of records as an array."""
    t = value.type
    assert isinstance(t, ArrayType)
    record = RecordType(t.dtype, t.space, dtypes.alignment(t.dtype))
    kind = ArrayType(base, t.ndim + len(shape), False, t.space)
    _must_align(fc, record, kind.dtype, offset, name, node)
    inner, step = [], base.itemsize
    for n in reversed(shape):
        inner.append(str(step))
        step *= n
    text = f"(({emit.pointer_type(kind)})(({emit.pointer_type(record)}){value.text} + {offset}))"
    return Value(
        kind,
        text,
        shape=[*value.shape, *map(str, shape)],
        strides=[*emit.strides_of(value), *reversed(inner)],
    )


def _must_align(
    fc: FunctionContext, t: RecordType, dtype: np.dtype[Any], offset: int, name: str, node: ast.AST
) -> None:
    if not is_aligned(t, dtype, offset):
        raise fc.source.error(
            f"items of the field {name!r} are at addresses that are not multiples of "
            f"{dtypes.alignment(dtype)} bytes; make the dtype with align=True",
            node,
        )


def by_bytes(fc: FunctionContext, what: str, t: RecordType, dtype: np.dtype[Any]) -> str:
    """Return a function that loads or stores a number at any address."""
    storage, code = dtypes.storage_type(dtype), dtypes.code(dtype)
    name = f"pgu_{what}_{t.space}_{code}"
    kind, n = emit.pointer_type(t), dtype.itemsize
    number = dtypes.from_bits(dtype, "u.v")
    union = f"union {{ {storage} v; char b[{n}]; }} u;"
    if what == "load":
        text = (
            f"PG_INLINE {dtypes.compute_type(dtype)} {name}({kind}p) {{ {union} "
            f"for (int i = 0; i < {n}; i++) u.b[i] = p[i]; return {number}; }}\n"
        )
    elif code == "f16":
        fc.unit.definitions.setdefault("pgu_half", _HALF)
        text = (
            f"PG_INLINE void {name}({kind}p, {dtypes.compute_type(dtype)} x) {{ "
            f"pg_u32 u = pgu_half(x); p[0] = (char)(u & 255u); p[1] = (char)(u >> 8); }}\n"
        )
    else:
        text = (
            f"PG_INLINE void {name}({kind}p, {dtypes.compute_type(dtype)} x) {{ {union} "
            f"u.v = {dtypes.to_bits(dtype, 'x')}; for (int i = 0; i < {n}; i++) p[i] = u.b[i]; }}\n"
        )
    fc.unit.definitions.setdefault(name, text)
    return name


def store_record(
    fc: FunctionContext, t: ArrayType, pointer: str, index: str, value: Value, node: ast.AST
) -> None:
    """Handle ``array[i] = record``: all of its bytes."""
    if isinstance(value.type, ArrayType) and not value.type.ndim and value.type.dtype.names:
        value = record_at(fc, value.type, value.text, "0")
    if not value.is_record or value.dtype != t.dtype:
        if not t.dtype.names:
            raise fc.source.error(f"a kernel cannot store items of dtype {t.dtype}", node)
        raise fc.source.error(
            f"{value.type} cannot be stored as {RecordType(t.dtype)}: records are copied whole "
            "from records of the same dtype, or field by field",
            node,
        )
    assert isinstance(value.type, RecordType)
    to = RecordType(t.dtype, t.space)
    name = f"pgu_copy_{t.space}_{value.type.space}"
    kinds = emit.pointer_type(to), emit.pointer_type(value.type)
    fc.unit.definitions.setdefault(
        name,
        f"PG_INLINE void {name}({kinds[0]}to, {kinds[1]}from, int n) "
        "{ for (int i = 0; i < n; i++) to[i] = from[i]; }\n",
    )
    address = pointer if index == "0" else f"({pointer} + {index})"
    fc.emit(f"{name}(({kinds[0]}){address}, {value.text}, {t.dtype.itemsize});")
