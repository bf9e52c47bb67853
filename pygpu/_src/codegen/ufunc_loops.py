"""The loops of ufuncs: statements over x0, x1 that set y0 (and y1), by the codes of the loop.

A loop in a narrow float (float16, bfloat16, float8) is computed in float. Integers wrap around;
division of integers by zero gives 0.
"""

from __future__ import annotations

from . import dates

# NumPy's names of ufuncs that have another name in the array API standard
STANDARD_NAMES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "divide": "true_divide",
    "pow": "power",
    "round": "rint",
}

Found = tuple[str, str]  # statements, helper functions

_COMPARE = {
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}
# ufunc -> function of both languages, for real numbers
_REAL = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sqrt": "sqrt",
    "cbrt": "cbrt",
    "fabs": "fabs",
}
_ROUND = {"rint": "rint", "floor": "floor", "ceil": "ceil", "trunc": "trunc"}
# ufunc -> function of prelude/complex.py
_COMPLEX = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "true_divide": "div",
    "divide": "div",
    "power": "pow",
    "float_power": "pow",
    "negative": "neg",
    "conjugate": "conj",
    "absolute": "abs",
    "exp": "exp",
    "log": "log",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
}
_LN2, _LN10 = "0.693147180559945309417232", "2.30258509299404568401799"
_LOG2E = "1.44269504088896340735992"

NAMES = (
    *_COMPARE,
    *_REAL,
    *_ROUND,
    *"add subtract multiply true_divide divide floor_divide remainder mod divmod power".split(),
    *"float_power negative positive absolute conjugate conj invert bitwise_and bitwise_or".split(),
    *"bitwise_xor left_shift right_shift logical_and logical_or logical_xor logical_not".split(),
    *"maximum minimum fmax fmin fmod hypot arctan2 copysign nextafter ldexp frexp modf".split(),
    *"isnan isinf isfinite isnat signbit sign square reciprocal deg2rad rad2deg degrees".split(),
    *"radians logaddexp logaddexp2 heaviside gcd lcm spacing bitwise_count".split(),
)


# The next narrow float in the direction of another one, as floats, by their bits.
_NEXT = """\
PG_INLINE float pg_next_CODE(float x, float to)
{
    if (isnan(x) || isnan(to) || x == to)
        return isnan(x) ? x : to;
    UNSIGNED bits = pg_to_CODE(x);
    if (x == 0.0f)
        return pg_from_CODE((UNSIGNED)(to > 0.0f ? 1 : SIGN | 1));
    return pg_from_CODE((UNSIGNED)((x < to) == (x > 0.0f) ? bits + 1 : bits - 1));
}
"""
_NEXT_NARROW = {
    "nextafter": "y0 = pg_next_CODE(x0, x1);",
    "spacing": "y0 = isinf(x0) ? x0 - x0 : pg_next_CODE(x0, PG_INF_F32) - x0;",
}
_UNSIGNED = {  # of the narrow floats: the type of the bits, and the sign's
    "f16": ("pg_u16", "0x8000"),
    "f16b": ("pg_u16", "0x8000"),
    "f8e4m3": ("pg_u8", "0x80"),
    "f8e5m2": ("pg_u8", "0x80"),
}


def expression(name: str, codes: tuple[str, ...]) -> Found | None:
    """Return the statements and the helper functions of a loop; None if devices do not have it."""
    name = {"mod": "remainder", "divide": "true_divide", "conj": "conjugate"}.get(name, name)
    name = {"degrees": "rad2deg", "radians": "deg2rad"}.get(name, name)
    c = codes[0]
    if "t64" in codes:
        return dates.expression(name, codes)
    if c in _UNSIGNED:
        if name in _NEXT_NARROW:
            unsigned, sign = _UNSIGNED[c]
            text = _NEXT.replace("UNSIGNED", unsigned).replace("SIGN", sign)
            body = _NEXT_NARROW[name].replace("CODE", c)
            if c != "f16":
                # NumPy's spacing is positive for float16; for others it has the sign of the
                # number.
                body = body.replace("x0, PG_INF_F32", "x0, copysign(PG_INF_F32, x0)")
            return body, text.replace("CODE", c)
        if name == "sign" and c != "f16":  # for -0.0, as ml_dtypes does
            return "y0 = x0 > 0 ? 1.0f : x0 < 0 ? -1.0f : x0;", ""
        c = "f32"
    if c[0] == "v":
        return None
    found: str | Found | None
    if c[0] == "c":
        found = _complex(name, c)
    elif c[0] == "f":
        found = _float(name, c) or _any(name, c)
    elif len(codes) > 1 and set(codes) == {"i64", "u64"}:
        found = _mixed(name, codes)
    else:
        found = _integer(name, c) or _any(name, c)
    if isinstance(found, str):
        found = (found if ";" in found else f"y0 = {found};", "")
    return found


def _any(name: str, c: str) -> str | None:
    """Return the statements that are the same for all real numbers."""
    if name in _COMPARE:
        return f"x0 {_COMPARE[name]} x1"
    return {
        "positive": "x0",
        "conjugate": "x0",
        "logical_and": "x0 != 0 && x1 != 0",
        "logical_or": "x0 != 0 || x1 != 0",
        "logical_xor": "(x0 != 0) != (x1 != 0)",
        "logical_not": "x0 == 0",
    }.get(name)


def _mixed(name: str, codes: tuple[str, ...]) -> str | None:
    """Comparisons of int64 with uint64."""
    if name not in _COMPARE:
        return None
    if codes[0] == "u64":
        swapped = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
        sign, i, u = swapped[_COMPARE[name]], "x1", "x0"
    else:
        sign, i, u = _COMPARE[name], "x0", "x1"
    below = "1" if sign in ("<", "<=", "!=") else "0"
    return f"{i} < 0 ? {below} : (pg_u64){i} {sign} {u}"


# ---- integers and bools


_BOOL = {
    "add": "x0 | x1",
    "multiply": "x0 & x1",
    "absolute": "x0",
    "invert": "!x0",
    "bitwise_and": "x0 & x1",
    "bitwise_or": "x0 | x1",
    "bitwise_xor": "x0 ^ x1",
    "maximum": "x0 | x1",
    "fmax": "x0 | x1",
    "minimum": "x0 & x1",
    "fmin": "x0 & x1",
    "isnan": "0",
    "isinf": "0",
    "isfinite": "1",
}


class _Integer:
    """An integer type in loops: t; u: its unsigned counterpart; wide: the type of arithmetic,
    which wraps around."""

    def __init__(self, c: str) -> None:
        self.bits = int(c[1:])
        self.signed = c[0] == "i"
        self.t, self.u = f"pg_{c}", f"pg_u{self.bits}"
        self.wide = "pg_u64" if self.bits == 64 else "pg_u32"
        self.lowest = f"({self.t})(({self.u})1 << {self.bits - 1})"
        self.negated = self.wrapped(f"({self.wide})0 - ({self.wide})x0")

    def wrapped(self, value: str) -> str:
        # NVIDIA's compiler (NVRTC 13.0) assumes that a negated 16-bit number is sign-extended,
        # which is wrong for -32768; so the conversion is explicit.
        if self.t == "pg_i16":
            return f"({self.t})((pg_i32)(({value}) << 16) >> 16)"
        return f"({self.t})({value})"

    def division(self, name: str) -> str | None:
        t, negated = self.t, self.negated
        if name == "fmod":
            guard = " || x1 == -1" if self.signed else ""
            return f"(x1 == 0{guard}) ? 0 : x0 % x1"
        if not self.signed:
            quotient, rest = "x1 == 0 ? 0 : x0 / x1", "x1 == 0 ? 0 : x0 % x1"
            both = f"y0 = {quotient}; y1 = {rest};"
            return {"floor_divide": quotient, "remainder": rest, "divmod": both}.get(name)
        if name == "floor_divide":
            return (
                f"{t} q = 0; if (x1 == -1) q = {negated}; else if (x1 != 0) {{ "
                f"q = ({t})(x0 / x1); if (x0 % x1 != 0 && (x0 < 0) != (x1 < 0)) q--; }} y0 = q;"
            )
        if name == "remainder":
            return (
                f"{t} r = 0; if (x1 != 0 && x1 != -1) {{ r = ({t})(x0 % x1); "
                f"if (r != 0 && (r < 0) != (x1 < 0)) r = ({t})(r + x1); }} y0 = r;"
            )
        if name == "divmod":
            return (
                f"{t} q = 0, r = 0; if (x1 == -1) q = {negated}; "
                f"else if (x1 != 0) {{ q = ({t})(x0 / x1); r = ({t})(x0 % x1); if (r != 0 && "
                f"(r < 0) != (x1 < 0)) {{ q--; r = ({t})(r + x1); }} }} y0 = q; y1 = r;"
            )
        return None

    def power(self) -> str:
        wide, t = self.wide, self.t
        negative = "if (x1 < 0) r = x0 == 1 ? 1 : x0 == -1 ? (x1 & 1 ? -1 : 1) : 0; else "
        return (
            f"{wide} b = ({wide})x0; {t} r = 1; {negative if self.signed else ''}{{ {wide} p = 1; "
            f"for (pg_u64 e = (pg_u64)x1; e != 0; e >>= 1) {{ if (e & 1) p *= b; b *= b; }} "
            f"r = ({t})p; }} y0 = r;"
        )

    def common_divisor(self, name: str) -> str:
        u, t, wide = self.u, self.t, self.wide
        a = f"({u})(x0 < 0 ? ({wide})0 - ({wide})x0 : ({wide})x0)" if self.signed else "x0"
        b = a.replace("x0", "x1")
        last = f"({t})a" if name == "gcd" else f"a == 0 ? 0 : ({t})(({u})({a}) / a * ({u})({b}))"
        return (
            f"{u} a = {a}, b = {b}; while (b != 0) {{ {u} r = a % b; a = b; b = r; }} y0 = {last};"
        )

    def of_bits(self, name: str) -> str | None:
        t, u, bits = self.t, self.u, self.bits
        if name == "left_shift":
            return f"({u})x1 < {bits} ? ({t})(({self.wide})x0 << x1) : 0"
        if name == "right_shift":
            fill = "(x0 < 0 ? -1 : 0)" if self.signed else "0"
            return f"({u})x1 < {bits} ? ({t})(x0 >> x1) : ({t}){fill}"
        if name == "bitwise_count":
            absolute = "x0 < 0 ? 0 - x0 : x0" if self.signed else "x0"
            return (
                f"{u} v = ({u})({absolute}); int k = 0; "
                f"for (; v != 0; k++) v &= ({u})(v - 1); y0 = (pg_u8)k;"
            )
        return None

    def expression(self, name: str) -> str | None:
        signed, t, wide = self.signed, self.t, self.wide
        return {
            "negative": self.negated,
            "absolute": f"x0 < 0 ? {self.negated} : x0" if signed else "x0",
            "sign": "(x0 > 0) - (x0 < 0)" if signed else "x0 > 0",
            "square": f"({t})(({wide})x0 * ({wide})x0)",
            # of 0, what comes of NumPy's conversion of infinity by way of 32 bits
            "reciprocal": f"x0 == 0 ? {self.lowest if signed and self.bits >= 32 else '0'} : 1 / x0",
            "invert": f"({t})~x0",
            "bitwise_and": "x0 & x1",
            "bitwise_or": "x0 | x1",
            "bitwise_xor": "x0 ^ x1",
            "maximum": "x0 > x1 ? x0 : x1",
            "fmax": "x0 > x1 ? x0 : x1",
            "minimum": "x0 < x1 ? x0 : x1",
            "fmin": "x0 < x1 ? x0 : x1",
            "isnan": "0",
            "isinf": "0",
            "isfinite": "1",
        }.get(name)


def _integer(name: str, c: str) -> str | Found | None:
    if name in _ROUND:
        return "x0"
    if c == "b8":
        return _BOOL.get(name)
    kind = _Integer(c)
    if name in ("add", "subtract", "multiply"):
        sign = {"add": "+", "subtract": "-", "multiply": "*"}[name]
        return kind.wrapped(f"({kind.wide})x0 {sign} ({kind.wide})x1")
    if name in ("floor_divide", "remainder", "divmod", "fmod"):
        return kind.division(name)
    if name == "power":
        return kind.power()
    if name in ("gcd", "lcm"):
        return kind.common_divisor(name)
    return kind.of_bits(name) or kind.expression(name)


# ---- real numbers

# C's fmod with Python's sign, and the matching quotient, both exact where possible.
_DIVMOD = """\
PG_INLINE void pg_divmod_T(pg_T a, pg_T b, pg_T *quotient, pg_T *rest)
{
    pg_T mod = fmod(a, b), div;
    if (b == 0) {
        *quotient = a / b;
        *rest = mod;
        return;
    }
    div = (a - mod) / b;
    if (mod != 0) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1;
        }
    } else {
        mod = copysign((pg_T)0, b);
    }
    if (div != 0) {
        pg_T whole = floor(div);
        *quotient = div - whole > (pg_T)0.5 ? whole + 1 : whole;
    } else {
        *quotient = copysign((pg_T)0, a / b);
    }
    *rest = mod;
}
"""


def _float(name: str, c: str) -> str | Found | None:
    t = f"pg_{c}"
    if name in _REAL:
        return f"{_REAL[name]}(x0)"
    if name in _ROUND:
        return f"{_ROUND[name]}(x0)"
    if name in ("floor_divide", "remainder", "divmod"):
        helper = _DIVMOD.replace("_T", f"_{c}")
        tell = {"floor_divide": "y0 = q;", "remainder": "y0 = r;", "divmod": "y0 = q; y1 = r;"}
        return f"{t} q, r; pg_divmod_{c}(x0, x1, &q, &r); {tell[name]}", helper
    inf = f"PG_INF_{c.upper()}"
    pi = "3.14159265358979323846"
    return {
        "add": "x0 + x1",
        "subtract": "x0 - x1",
        "multiply": "x0 * x1",
        "true_divide": "x0 / x1",
        "power": "pow(x0, x1)",
        "float_power": "pow(x0, x1)",
        "negative": "-x0",
        "absolute": "fabs(x0)",
        "square": "x0 * x0",
        "reciprocal": f"({t})1 / x0",
        "sign": f"x0 > 0 ? ({t})1 : x0 < 0 ? ({t})-1 : x0 == 0 ? ({t})0 : x0",
        "maximum": "x0 >= x1 || isnan(x0) ? x0 : x1",
        "minimum": "x0 <= x1 || isnan(x0) ? x0 : x1",
        "fmax": "x0 >= x1 || isnan(x1) ? x0 : x1",
        "fmin": "x0 <= x1 || isnan(x1) ? x0 : x1",
        "fmod": "fmod(x0, x1)",
        "hypot": "hypot(x0, x1)",
        "arctan2": "atan2(x0, x1)",
        "copysign": "copysign(x0, x1)",
        "nextafter": "nextafter(x0, x1)",
        "ldexp": "ldexp(x0, (int)(x1 > 20000 ? 20000 : x1 < -20000 ? -20000 : x1))",
        "frexp": "int e = 0; y0 = isfinite(x0) ? frexp(x0, &e) : x0; y1 = e;",
        "modf": f"{t} whole; {t} part = modf(x0, &whole); "
        f"y0 = isinf(x0) ? copysign(({t})0, x0) : part; y1 = whole;",
        "isnan": "isnan(x0) != 0",
        "isinf": "isinf(x0) != 0",
        "isfinite": "isfinite(x0) != 0",
        "signbit": "signbit(x0) != 0",
        "deg2rad": f"x0 * ({t})({pi} / 180.0)",
        "rad2deg": f"x0 * ({t})(180.0 / {pi})",
        "heaviside": f"isnan(x0) ? x0 : x0 == 0 ? x1 : x0 < 0 ? ({t})0 : ({t})1",
        "logaddexp": f"{t} d = x0 - x1; y0 = x0 == x1 ? x0 + ({t}){_LN2} : "
        "d > 0 ? x0 + log1p(exp(-d)) : d <= 0 ? x1 + log1p(exp(d)) : d;",
        "logaddexp2": f"{t} d = x0 - x1; y0 = x0 == x1 ? x0 + ({t})1 : "
        f"d > 0 ? x0 + ({t}){_LOG2E} * log1p(exp2(-d)) : "
        f"d <= 0 ? x1 + ({t}){_LOG2E} * log1p(exp2(d)) : d;",
        "spacing": f"isinf(x0) ? x0 - x0 : nextafter(x0, x0 == 0 ? {inf} : copysign({inf}, x0)) - x0",
    }.get(name)


# ---- complex numbers


def _complex(name: str, c: str) -> str | None:
    f = f"pg_{c}"
    r = "pg_f32" if c == "c64" else "pg_f64"
    if name in _COMPLEX:
        two = name in ("add", "subtract", "multiply", "true_divide", "power", "float_power")
        return f"{f}_{_COMPLEX[name]}({'x0, x1' if two else 'x0'})"
    one = f"{f}_make(({r})1, ({r})0)"
    true0, true1 = "(x0.re != 0 || x0.im != 0)", "(x1.re != 0 || x1.im != 0)"
    nan = f"{f}_isnan"
    return {
        "positive": "x0",
        "square": f"{f}_mul(x0, x0)",
        "reciprocal": f"{f}_div({one}, x0)",
        "equal": f"{f}_eq(x0, x1)",
        "not_equal": f"!{f}_eq(x0, x1)",
        "less": f"{nan}(x0) || {nan}(x1) ? 0 : {f}_lt(x0, x1)",
        "greater": f"{nan}(x0) || {nan}(x1) ? 0 : {f}_lt(x1, x0)",
        "less_equal": f"{nan}(x0) || {nan}(x1) ? 0 : !{f}_lt(x1, x0)",
        "greater_equal": f"{nan}(x0) || {nan}(x1) ? 0 : !{f}_lt(x0, x1)",
        "maximum": f"{nan}(x0) ? x0 : {nan}(x1) ? x1 : {f}_lt(x0, x1) ? x1 : x0",
        "minimum": f"{nan}(x0) ? x0 : {nan}(x1) ? x1 : {f}_lt(x1, x0) ? x1 : x0",
        "fmax": f"{nan}(x1) ? x0 : {nan}(x0) ? x1 : {f}_lt(x0, x1) ? x1 : x0",
        "fmin": f"{nan}(x1) ? x0 : {nan}(x0) ? x1 : {f}_lt(x1, x0) ? x1 : x0",
        "isnan": f"{nan}(x0)",
        "isinf": "isinf(x0.re) || isinf(x0.im)",
        "isfinite": "isfinite(x0.re) && isfinite(x0.im)",
        "logical_and": f"{true0} && {true1}",
        "logical_or": f"{true0} || {true1}",
        "logical_xor": f"{true0} != {true1}",
        "logical_not": f"!{true0}",
        "rint": f"{f}_make(rint(x0.re), rint(x0.im))",
        "exp2": f"{f}_exp({f}_scale(x0, ({r}){_LN2}))",
        "expm1": f"{f}_expm1(x0)",
        "log2": f"{f}_scale({f}_log(x0), ({r}){_LOG2E})",
        "log10": f"{f}_scale({f}_log(x0), ({r})(1.0 / {_LN10}))",
        "log1p": f"{f}_make({f}_logabs({f}_make(x0.re + 1, x0.im)), atan2(x0.im, x0.re + 1))",
        "sign": f"{r} a = {f}_abs(x0); "
        f"y0 = x0.re == 0 && x0.im == 0 ? {f}_make(({r})0, ({r})0) : isinf(a) ? "
        f"(isinf(x0.re) && isinf(x0.im) ? {f}_make(PG_NAN_{r[3:].upper()}, PG_NAN_{r[3:].upper()}) : "
        f"isinf(x0.re) ? {f}_make(copysign(({r})1, x0.re), ({r})0) : "
        f"{f}_make(({r})0, copysign(({r})1, x0.im))) : {f}_make(x0.re / a, x0.im / a);",
    }.get(name)


# Ufuncs of which a program that uses one is likely to use another, for inputs of one dtype.
_FAMILIES = (
    ("add", "subtract", "multiply", "true_divide"),
    ("negative", "absolute", "conjugate"),
)
_RELATED_CODES = ("i32", "i64", "f32", "f64", "c64", "c128")


def related(name: str, codes: tuple[str, ...], body: str) -> list[tuple[str, str, str]]:
    """Return the loops of the other ufuncs of a family as (name, statements, code of the output).
    Empty if *body* is that of another operation with the name."""
    family = next((names for names in _FAMILIES if name in names), ())
    found: list[tuple[str, str, str]] = []
    if not family or not codes:
        return found
    first = codes[0]
    if first not in _RELATED_CODES or codes.count(first) != len(codes):
        return found
    if expression(name, codes) != (body, ""):
        return found
    real = {"c64": "f32", "c128": "f64"}.get(first, first)
    for other in family:
        if other == name or (other == "true_divide" and first[0] == "i"):
            continue
        if other == "conjugate" and real == first:  # a copy
            continue
        loop = expression(other, codes)
        if loop is not None and not loop[1]:
            found.append((other, loop[0], real if other == "absolute" else first))
    return found
