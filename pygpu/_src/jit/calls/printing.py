"""``print`` in kernels."""

from __future__ import annotations

import ast
import warnings

from pygpu._src.codegen import dtypes

from ..ir import Value
from ..types import VOID, WEAK_INT, TupleType
from ..walk.context import FunctionContext
from ..walk.optional import unwrapped
from ..walk.registry import WrongCall
from .intrinsics import Index3

__all__ = ["emit_print"]

_MOST = 32  # items that CUDA's printf accepts
_FORMAT = {
    "b": ("%d", "(int)"),
    "i": ("%lld", "(long long)"),
    "u": ("%llu", "(unsigned long long)"),
    "f": ("%g", ""),
}


def emit_print(
    fc: FunctionContext, node: ast.Call, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """``print(...)``"""
    fc.statement_only(node, "print()")
    for name, value in kwargs.items():
        if name not in ("sep", "end") or not isinstance(value.const, str):
            raise WrongCall("print() in kernels takes sep= and end= with constant strings")
    sep = kwargs["sep"].const if "sep" in kwargs else " "
    end = kwargs["end"].const if "end" in kwargs else "\n"
    texts: list[str] = []
    formats = [_format(fc, node, value, texts) for value in args]
    line = _c_string(sep).join(formats) + _c_string(end)
    if len(texts) > _MOST and fc.unit.dialect == "cuda":
        warnings.warn(
            f"CUDA print() cannot print more than {_MOST} items. The raw format string will be "
            "emitted by the kernel instead.",
            stacklevel=2,
        )
        line, texts = _c_string(line), []
    fc.emit(f"printf({', '.join([_quote(line), *texts])});")
    return Value(VOID)


def _format(fc: FunctionContext, node: ast.Call, value: Value, texts: list[str]) -> str:
    """Return the conversion for a value; the arguments for it are added to *texts*."""
    is_cl = fc.unit.dialect == "opencl"
    value = unwrapped(value)
    if isinstance(value.const, Index3):
        parts = [getattr(value.const, letter).emit_value(fc, node) for letter in "xyz"]
        value = Value(TupleType((WEAK_INT,) * 3), items=parts)
    if value.is_object:
        return _c_string(str(value.const))
    if value.is_tuple:
        inner = ", ".join(_format(fc, node, item, texts) for item in value.items)
        return f"({inner}{',' if len(value.items) == 1 else ''})"
    if isinstance(value.const, bool):
        return str(value.const)
    value = fc.as_number(value, node)
    kind = dtypes.kind(value.dtype)
    if kind == "c":
        texts.extend([f"({value.text}).re", f"({value.text}).im"])
        return "(%f%+fj)" if fc.unit.widens else "(%g%+gj)"
    if kind == "b" and not is_cl:  # OpenCL's %s accepts only literals
        texts.append(f'(({value.text}) ? "True" : "False")')
        return "%s"
    form, text_cast = _FORMAT[kind]
    if kind == "f" and fc.unit.widens:
        form = "%f"  # as Numba prints it
    if is_cl and kind in "iu":  # long is 64 bits there
        form = form.replace("ll", "l")
        text_cast = text_cast.replace("long long", "long")
    texts.append(f"{text_cast}{value.text}")
    return form


def _c_string(text: str) -> str:
    """Escape plain text for a format."""
    return text.replace("%", "%%")


def _quote(text: str) -> str:
    out = []
    for byte in text.encode():
        c = chr(byte)
        if c in '"\\':
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif 32 <= byte < 127:
            out.append(c)
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out) + '"'
