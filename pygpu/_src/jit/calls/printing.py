"""``print`` in kernels."""

from __future__ import annotations

import ast
import warnings

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value, tuple_of
from ..types import VOID, WEAK_FLOAT
from ..walk.context import FunctionContext
from ..walk.formatted import Formatted
from ..walk.optional import unwrapped
from ..walk.registry import Args, Kwargs, WrongCall
from .intrinsics import Index3

_MOST = 32  # items that CUDA's printf accepts
_FORMAT = {
    "b": ("%d", "(int)"),
    "i": ("%lld", "(long long)"),
    "u": ("%llu", "(unsigned long long)"),
    "f": ("%g", ""),
}


def emit_print(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
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


def _format(
    fc: FunctionContext,
    node: ast.Call,
    value: Value,
    texts: list[str],
    flags: str = "",
    letter: str = "",
) -> str:
    """Return the conversion for a value; the arguments for it are added to *texts*. flags, letter:
    those of an f-string's format, see Formatted."""
    value = unwrapped(value)
    if value.is_tuple and value.items and isinstance(value.items[0].const, Formatted):
        items = iter(value.items[1:])
        return "".join(
            _c_string(part)
            if isinstance(part, str)
            else _format(fc, node, next(items), texts, *part)
            for part in value.items[0].const.parts
        )
    if flags or letter:
        return _formatted_number(fc, node, value, texts, flags, letter)
    if isinstance(value.const, Index3):
        parts = [getattr(value.const, name).emit_value(fc, node) for name in "xyz"]
        value = tuple_of(parts)
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
    if kind == "b" and fc.unit.dialect != "opencl":  # OpenCL's %s accepts only literals
        texts.append(f'(({value.text}) ? "True" : "False")')
        return "%s"
    form, text = _conversion(fc, kind, value.text)
    texts.append(text)
    return "%f" if kind == "f" and fc.unit.widens else form  # as Numba prints it


def _formatted_number(
    fc: FunctionContext, node: ast.Call, value: Value, texts: list[str], flags: str, letter: str
) -> str:
    value = fc.as_number(value, node)
    kind = dtypes.kind(value.dtype)
    if kind == "c" or (letter == "d" and kind == "f"):
        raise WrongCall(f"print(): {value.type} has no format {letter or flags!r}")
    if kind != "f" and letter not in ("", "d"):
        kind, value = "f", Value(WEAK_FLOAT, emit.convert(value, WEAK_FLOAT))
    form, text = _conversion(fc, kind, value.text)
    texts.append(text)
    form = form[:-1] + letter if letter else form
    return f"%{flags}{form[1:]}"


def _conversion(fc: FunctionContext, kind: str, text: str) -> tuple[str, str]:
    """Return C's conversion for a number and the argument for it."""
    form, text_cast = _FORMAT[kind]
    if fc.unit.dialect == "opencl" and kind in "iu":  # long is 64 bits there
        form = form.replace("ll", "l")
        text_cast = text_cast.replace("long long", "long")
    return form, f"{text_cast}{text}"


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
