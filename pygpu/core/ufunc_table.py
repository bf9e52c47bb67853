"""What each ufunc computes: statements over x0, x1 that set y0, by the codes of the loop's inputs.
"""

from __future__ import annotations

__all__ = ["expression", "names", "result_codes"]

Found = tuple[str, str, tuple[str, ...]]  # body, helpers, features

_COMPARE = {
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}


def _wrap(code: str, text: str) -> str:
    """Signed arithmetic that wraps around, as NumPy's does; in C its overflow is undefined."""
    return f"(pg_{code})({text})"


def _arithmetic(sign: str, function: str, c: str) -> str:
    if c[0] == "c":
        return f"pg_{c}_{function}(x0, x1)"
    if c in ("i32", "i64"):
        u = "u" + c[1:]
        return f"(pg_{c})((pg_{u})x0 {sign} (pg_{u})x1)"
    if c in ("i16", "u16"):  # the product of two may exceed an int
        return f"(pg_{c})((pg_u32)x0 {sign} (pg_u32)x1)"
    return f"x0 {sign} x1" if c[0] == "f" else _wrap(c, f"x0 {sign} x1")


def expression(name: str, codes: tuple[str, ...]) -> Found | None:
    """(statements, helper functions, features of the prefix) of a loop; None if there is none."""
    c = codes[0]
    features = ("complex",) if c[0] == "c" else ()
    text = None
    if name in ("add", "subtract", "multiply"):
        if c == "b8":
            text = {"add": "x0 | x1", "multiply": "x0 & x1"}.get(name)
        else:
            sign, function = {
                "add": ("+", "add"),
                "subtract": ("-", "sub"),
                "multiply": ("*", "mul"),
            }[name]
            text = _arithmetic(sign, function, c)
    elif name in ("true_divide", "divide"):
        text = f"pg_{c}_div(x0, x1)" if c[0] == "c" else "x0 / x1"
    elif name in _COMPARE and c[0] != "c":
        text = f"x0 {_COMPARE[name]} x1"
    elif name == "negative":
        text = f"pg_{c}_neg(x0)" if c[0] == "c" else "-x0" if c[0] == "f" else _wrap(c, "0 - x0")
    elif name == "positive":
        text = "x0"
    if text is None:
        return None
    return f"y0 = {text};", "", features


def result_codes(name: str, codes: tuple[str, ...]) -> tuple[str, ...]:
    return (codes[0],)


def names() -> tuple[str, ...]:
    return ()
