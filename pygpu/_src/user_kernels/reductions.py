"""Snippets for the usual reductions: sums, products of two arrays, extremes, any, all."""

from __future__ import annotations

from typing import Any

import numpy as np

from .language import Language

Texts = dict[str, Any]


def _complex_name(dtype: np.dtype[Any]) -> str:
    return "cdouble" if dtype.itemsize == 16 else "cfloat"


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.empty(0, dtype).real.dtype


def sum_texts(language: Language, dtype_out: Any, dtype_in: Any) -> Texts:
    """Return neutral, reduce_expr, map_expr and arguments of a sum."""
    dtype_in = np.dtype(dtype_in)
    dtype_out = dtype_in if dtype_out is None else np.dtype(dtype_out)
    texts = _sum(language, dtype_out)
    texts["map_expr"] = converted(language, "in[i]", dtype_in, dtype_out)
    texts["arguments"] = f"const {language.ctype(dtype_in)} *in"
    return texts


def _sum(language: Language, dtype: np.dtype[Any]) -> Texts:
    if dtype.kind == "c" and language.name == "opencl":
        name = _complex_name(dtype)
        return {"dtype": dtype, "neutral": f"{name}_new(0, 0)", "reduce_expr": f"{name}_add(a, b)"}
    return {"dtype": dtype, "neutral": "0", "reduce_expr": "a + b"}


def converted(language: Language, text: str, source: np.dtype[Any], target: np.dtype[Any]) -> str:
    """Convert an expression to the target's type."""
    if source == target:
        return text
    ctype = language.ctype(target)
    if target.kind == "c" and language.name == "opencl":
        name = _complex_name(target)
        return f"{name}_cast({text})" if source.kind == "c" else f"{name}_fromreal({text})"
    if target.kind == "c" and source.kind != "c":
        return f"{ctype}(({language.ctype(_real(target))})({text}))"
    return f"({ctype})({text})"


def dot_texts(
    language: Language,
    dtype_out: Any,
    dtype_a: Any,
    dtype_b: Any = None,
    subset: Any = None,
    conjugate_first: bool = False,
) -> Texts:
    """The same for a sum of products; if given, only of the items selected by *subset*, an index
    dtype."""
    dtype_a = np.dtype(dtype_out if dtype_a is None else dtype_a)
    dtype_b = dtype_a if dtype_b is None else np.dtype(dtype_b)
    dtype_out = np.result_type(dtype_a, dtype_b) if dtype_out is None else np.dtype(dtype_out)
    index = "i" if subset is None else "lookup_tbl[i]"
    a, b = (
        converted(
            language,
            f"{name}[{index}]",
            source,
            dtype_out if source.kind == "c" else _part(dtype_out),
        )
        for name, source in (("a", dtype_a), ("b", dtype_b))
    )
    a_complex, b_complex = dtype_a.kind == "c", dtype_b.kind == "c"
    texts = _sum(language, dtype_out)
    if language.name == "opencl" and dtype_out.kind == "c":
        name = _complex_name(dtype_out)
        if conjugate_first and a_complex:
            a = f"{name}_conj({a})"
        if a_complex and b_complex:
            texts["map_expr"] = f"{name}_mul({a}, {b})"
        elif a_complex or b_complex:
            texts["map_expr"] = f"{name}_{'mulr' if a_complex else 'rmul'}({a}, {b})"
        else:
            texts["map_expr"] = f"{name}_fromreal({a} * {b})"
    else:
        if conjugate_first and a_complex:
            a = f"pycuda::conj({a})"
        texts["map_expr"] = f"{a} * {b}"
    arguments = [f"const {language.ctype(dtype_a)} *a", f"const {language.ctype(dtype_b)} *b"]
    if subset is not None:  # first, because its length determines the sum's
        arguments.insert(0, f"const {language.ctype(np.dtype(subset))} *lookup_tbl")
    texts["arguments"] = ", ".join(arguments)
    return texts


def _part(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return _real(dtype) if dtype.kind == "c" else dtype


def extreme_texts(language: Language, what: str, dtype: Any, subset: Any = None) -> Texts:
    """The same for "min" or "max"; if there is a NaN, it is the result."""
    dtype = np.dtype(dtype)
    if what not in ("min", "max"):
        raise ValueError("what must be 'min' or 'max'")
    if dtype.kind not in "fiub":
        raise TypeError(f"get_minmax_kernel: unsupported dtype {dtype} specified")
    sign = "<" if what == "min" else ">"
    if dtype.kind == "f":
        neutral = "INFINITY" if language.name == "opencl" else "__int_as_float(0x7f800000)"
        neutral = neutral if what == "min" else f"-{neutral}"
        reduce_expr = f"((a {sign} b || a != a) ? a : b)"
    else:
        limits = np.iinfo(dtype) if dtype.kind != "b" else np.iinfo(np.uint8)
        number = int(limits.max if what == "min" else limits.min)
        suffix = "ul" if number > (1 << 63) - 1 else "l" if abs(number) > 1 << 31 else ""
        if number == -(1 << 63):
            neutral = "(-9223372036854775807l - 1)"
        else:
            neutral = f"{number}{suffix.replace('l', 'll') if language.name == 'cuda' else suffix}"
        reduce_expr = f"(a {sign} b ? a : b)"
    texts = {"dtype": dtype, "neutral": neutral, "reduce_expr": reduce_expr}
    texts["map_expr"] = "in[i]" if subset is None else "in[lookup_tbl[i]]"
    texts["arguments"] = f"const {language.ctype(dtype)} *in"
    if subset is not None:
        texts["arguments"] = (
            f"const {language.ctype(np.dtype(subset))} *lookup_tbl, {texts['arguments']}"
        )
    return texts


def all_any_texts(language: Language, what: str, dtype_out: Any, dtype_in: Any) -> Texts:
    """The same for "any" or "all": 1 or 0."""
    dtype_in = np.dtype(dtype_in)
    item = "in[i]"
    if dtype_in.kind == "c":
        item = (
            "(in[i].real != 0 || in[i].imag != 0)"
            if language.name == "opencl"
            else ("(in[i].real() != 0 || in[i].imag() != 0)")
        )
    return {
        "dtype": np.dtype(dtype_out),
        "neutral": "0" if what == "any" else "1",
        "reduce_expr": f"((a != 0) {'||' if what == 'any' else '&&'} (b != 0))",
        "map_expr": f"({item} != 0)" if dtype_in.kind != "c" else item,
        "arguments": f"const {language.ctype(dtype_in)} *in",
    }
