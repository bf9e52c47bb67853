"""Special functions as text of the common language, one template for float and double.

A template is C with the names below. Each of its functions ``sp_<name>`` becomes
``pgs_<name>_<code>``; :func:`parts` has those that one function calls, in an order that compiles.

=================  ===================================================================
REAL, INT, CPLX    the type: pg_f32 or pg_f64; int; pg_c64 or pg_c128
cx_mul(a, b) ...   the functions of complex numbers in the prelude
POLY(table, z)     the polynomial of that table, written out; REVERSED from the other end
CHEB(table, z)     the sum of Chebyshev polynomials of that table
TABLE(table)       the table as a constant array
EPS, SMALLEST ...  see _LIMITS; literals get the suffix of float
=================  ===================================================================

float is computed as double where the device has that and the function is not in :data:`NARROW`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import NamedTuple

from ..prelude.complex import parts_of_complex
from .coefficients import TABLES

__all__ = ["FUNCTIONS", "Function", "argument_code", "expression", "overloads", "parts", "used_in"]


class Function(NamedTuple):
    """kinds: of the arguments, "x" a number and "n" an integer. texts: the functions of the
    templates for the results. planes: those for complex numbers, if there are any. orders: how many
    arguments are real beside complex ones."""

    kinds: str
    texts: tuple[str, ...]
    planes: tuple[str, ...] = ()
    orders: int = 0

    @property
    def results(self) -> int:
        """How many there are."""
        return len(self.texts) or 1

    @property
    def plane(self) -> bool:
        """Whether there is a function of complex numbers."""
        return bool(self.planes)


_IN_THE_PLANE = (
    "dawsn digamma erf erfc erfcx erfi exp1 expi expm1 gamma lambertw log1p loggamma ndtr rgamma "
    "wofz xlog1py xlogy".split()
)
_ORDERS_IN_THE_PLANE = "hankel1 hankel1e hankel2 hankel2e iv ive jv jve kv kve yv yve".split()
_PARAMETERS = {"hyp0f1": 1, "hyp1f1": 2, "hyp2f1": 3}  # which are real beside a complex z
_AIRY = ("ai", "ai_d", "bi", "bi_d")


# Functions whose source has their own name, by the kinds of their arguments.
_OWN_TEXTS = (
    (
        "x",
        "erf erfc erfcx erfinv erfcinv ndtr ndtri log_ndtr dawsn gamma rgamma gammasgn gammaln "
        "loggamma digamma j0 j1 y0 y1 i0 i0e i1 i1e k0 k0e k1 k1e expit logit log_expit entr "
        "exprel cosm1 sinc exp10 exp1 expi ellipk ellipkm1 "
        "ellipe spence cbrt exp2 expm1 log1p round sindg cosdg tandg cotdg ndtri_exp kolmogorov "
        "wrightomega erfi zetac softplus ber bei ker kei berp beip kerp keip kolmogi",
    ),
    (
        "xx",
        "beta betaln gammainc gammaincc gammaincinv gammainccinv jv yv iv ive kv kve xlogy "
        "xlog1py rel_entr kl_div huber pseudo_huber zeta boxcox boxcox1p inv_boxcox "
        "inv_boxcox1p chdtr chdtrc chdtri pdtr pdtrc pdtri stdtr stdtrit agm powm1 binom poch "
        "elliprc ellipkinc ellipeinc hyp0f1 struve modstruve owens_t tklmbda",
    ),
    (
        "xxx",
        "betainc betaincc betaincinv betainccinv gdtr gdtrc gdtrix bdtr bdtrc bdtri nbdtr "
        "nbdtrc nbdtri fdtr fdtrc fdtri elliprf elliprd elliprg radian hyp1f1 "
        "hyperu voigt_profile",
    ),
    (
        "nx",
        "yn kn expn polygamma eval_legendre eval_chebyt eval_chebyu eval_hermite "
        "eval_hermitenorm eval_laguerre eval_chebyc eval_chebys eval_sh_chebyt eval_sh_chebyu "
        "eval_sh_legendre spherical_jn spherical_yn spherical_in spherical_kn spherical_jn_d "
        "spherical_yn_d spherical_in_d spherical_kn_d smirnov smirnovi",
    ),
    ("nxx", "eval_gegenbauer eval_genlaguerre lpmv"),
    ("nnx", "sph_legendre_p"),
    ("xxxx", "hyp2f1 elliprj"),
    ("nxxx", "eval_jacobi eval_sh_jacobi"),
)


def _functions() -> dict[str, Function]:
    found: dict[str, Function] = {}
    for kinds, names in _OWN_TEXTS:
        found |= {name: Function(kinds, (name,)) for name in names.split()}
    found |= {
        "psi": Function("x", ("digamma",)),
        "riemann_zeta": Function("x", ("riemann",)),
        "jn": Function("xx", ("jv",)),
        "legendre_p": Function("nx", ("eval_legendre",)),
        "fresnel": Function("x", ("fresnel_s", "fresnel_c")),
        "sici": Function("x", ("si", "ci")),
        "shichi": Function("x", ("shi", "chi")),
        "ellipj": Function("xx", ("ellipj_sn", "ellipj_cn", "ellipj_dn", "ellipj_ph")),
        "jve": Function("xx", ("jv",)),
        "yve": Function("xx", ("yv",)),
    }
    found |= {"wofz": Function("x", ()), "lambertw": Function("xn", ())}
    found |= {name: Function("xx", ()) for name in _ORDERS_IN_THE_PLANE if name[0] == "h"}
    for name in ("airy", "airye"):
        found[name] = Function("x", tuple(f"{name}_{what}" for what in _AIRY))
    for name in _ORDERS_IN_THE_PLANE:
        found[name] = found[name]._replace(orders=1)
    for name, function in found.items():
        if name in _IN_THE_PLANE or name in _ORDERS_IN_THE_PLANE:
            found[name] = function._replace(planes=(f"c_{name}",))
        elif name[:4] == "airy" or name[:9] == "spherical":
            found[name] = function._replace(planes=tuple(f"c_{text}" for text in function.texts))
    for name, orders in _PARAMETERS.items():
        found[name] = found[name]._replace(planes=(f"c_{name}",), orders=orders)
    found["jn"] = found["jn"]._replace(planes=("c_jv",), orders=1)
    found["psi"] = found["psi"]._replace(planes=("c_digamma",))
    return dict(sorted(found.items()))


FUNCTIONS = _functions()

# Those that are as accurate in float arithmetic as float is.
NARROW = frozenset("expit log_expit xlogy xlog1py entr huber".split())

_LIMITS = {
    "f64": {
        "EPS": "2.220446049250313e-16",
        "SMALLEST": "2.2250738585072014e-308",
        "BIGGEST": "1.7976931348623157e308",
        "HUGE_": "1e250",
        "MAXLOG": "709.782712893384",
    },
    "f32": {
        "EPS": "1.1920929e-7",
        "SMALLEST": "1.17549435e-38",
        "BIGGEST": "3.4028234e38",
        "HUGE_": "1e30",
        "MAXLOG": "88.72283",
    },
}
_COMPLEX = {"f32": "c64", "f64": "c128"}
_MODULES = (
    *("elementary", "error", "gamma", "incomplete", "bessel", "integrals"),
    *(
        "statistics",
        "elliptic",
        "plane",
        "bessel_plane",
        "spherical",
        "hypergeometric",
        "hypergeometric_plane",
        "relatives",
    ),
)
_HEAD = re.compile(r"^(?:REAL|CPLX|int|void) sp_(\w+)\(", re.M)
_POLY = re.compile(r"\b(POLY|REVERSED)\((\w+), (\w+)\)")
_LITERAL = re.compile(r"(?<![\w.])(\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(?![\w.])")
_LIMIT = 1000000  # of integer orders
_SHORT, _MANY = 250, 4200  # characters of a function that may be inlined, and of all together
# The functions of complex numbers that are long, and their arguments.
_LONG_COMPLEX = {"exp": "z", "log": "z", "sqrt": "z", "pow": "zw", "div": "zw", "abs": "z"}


@cache
def _templates() -> dict[str, str]:
    """The text of each function of the templates."""
    found = {}
    for module in _MODULES:
        text = import_module(f".{module}", __name__).TEXT
        heads = list(_HEAD.finditer(text))
        ends = [head.start() for head in heads[1:]] + [len(text)]
        for head, end in zip(heads, ends, strict=True):
            body = text[head.start() : end]
            found[head[1]] = body[: body.index("\n}\n") + 3]
    for name, arguments in _LONG_COMPLEX.items():
        result, listed = "REAL" if name == "abs" else "CPLX", ", ".join(arguments)
        declared = ", ".join(f"CPLX {one}" for one in arguments)
        found[f"cx_{name}"] = (
            f"{result} sp_cx_{name}({declared})\n{{\n    return cx_{name}({listed});\n}}\n"
        )
    for name, table in TABLES.items():
        steps = "".join(f"    c = b; b = a; a = z * b - c + {value};\n" for value in table)
        found[f"cheb_{name}"] = (
            f"REAL sp_cheb_{name}(REAL z)\n{{\n    REAL a = 0.0, b = 0.0, c = 0.0;\n{steps}"
            "    return 0.5 * (a - c);\n}\n"
        )
        values = ", ".join(table)
        found[f"table_{name}"] = f"PG_TABLE REAL sp_table_{name}[] = {{{values}}};\n"
    return found


def _horner(match: re.Match[str]) -> str:
    way, name, z = match.groups()
    first, *others = TABLES[name] if way == "POLY" else reversed(TABLES[name])
    text = first
    for value in others:
        text = f"({text} * {z} + {value})"
    return text


@cache
def _rendered(name: str, code: str) -> tuple[str, tuple[str, ...]]:
    """The text of a function of the templates in a type, and the names of those that it calls."""
    text = _templates()[name]
    if not name.startswith("cx_"):
        text = re.sub(rf"\bcx_({'|'.join(_LONG_COMPLEX)})\(", r"sp_cx_\1(", text)
    text = _POLY.sub(_horner, text)
    text = re.sub(r"\bCHEB\((\w+), ", r"sp_cheb_\1(", text)
    text = re.sub(r"\bTABLE\((\w+)\)", r"sp_table_\1", text)
    called = dict.fromkeys(re.findall(r"\bsp_(\w+)", text))
    called.pop(name, None)
    text = re.sub(r"\bsp_(\w+)", rf"pgs_\1_{code}", text)
    limits = _LIMITS[code]
    text = re.sub(r"\b(EPS|SMALLEST|BIGGEST|HUGE_|MAXLOG)\b", lambda m: limits[m[0]], text)
    text = re.sub(r"\bPI\b", "3.14159265358979323846", text)
    if code == "f32":
        text = _LITERAL.sub(r"\1f", text)
    upper = code.upper()
    text = text.replace("NAN_", f"PG_NAN_{upper}")
    text = re.sub(r"\bINF\b", f"PG_INF_{upper}", text)
    text = re.sub(r"\bINT\b", "int", text)
    text = re.sub(r"\bREAL\b", f"pg_{code}", text)
    plane = _COMPLEX[code]
    text = re.sub(r"\bCPLX\b", f"pg_{plane}", text)
    text = re.sub(r"\bcx_(\w+)", rf"pg_{plane}_\1", text)
    if not text.startswith("PG_TABLE"):
        text = "PG_FUNCTION " + text
    return text, tuple(called)


@cache
def parts(name: str, code: str) -> dict[str, str]:
    """The definitions that a function of the templates needs, its own the last, by their names in C."""
    found: dict[str, str] = {}
    text, called = _rendered(name, code)
    for other in called:
        found |= parts(other, code)
    return found | {f"pgs_{name}_{code}": text}


def _outlined(definitions: dict[str, str], results: int) -> dict[str, str]:
    """Mark the long functions, if they are many, or called for several results: NVRTC would copy
    them into each other, and compile for minutes."""
    if results == 1 and sum(map(len, definitions.values())) < _MANY:
        return definitions
    return {
        name: text.replace("PG_FUNCTION ", "PG_NOINLINE ", 1)
        if len(text) > _SHORT or "_cx_" in name
        else text
        for name, text in definitions.items()
    }


def _computed(name: str, code: str, fp64: bool) -> str:
    """The type that a function of arguments of a type is computed in."""
    return "f64" if fp64 and name not in NARROW else code


def _arguments(name: str, code: str, computed: str) -> str:
    values = []
    for k, kind in enumerate(FUNCTIONS[name].kinds):
        if kind == "n":
            values.append(f"(int)x{k}")
        elif code[0] == "c" and k < FUNCTIONS[name].orders:
            values.append(f"(pg_{'f64' if computed == 'c128' else 'f32'})x{k}")
        elif code[0] == "c":
            real = "f64" if computed == "c128" else "f32"
            values.append(f"pg_{computed}_make((pg_{real})x{k}.re, (pg_{real})x{k}.im)")
        else:
            values.append(f"(pg_{computed})x{k}")
    return ", ".join(values)


def _call(name: str, text: str, code: str, computed: str) -> str:
    value = f"pgs_{text}_{computed}({_arguments(name, code, computed)})"
    if computed != code:
        value = f"(pg_{code}){value}"
    if FUNCTIONS[name].kinds[0] == "n":
        nan = f"PG_NAN_{code.upper()}"
        value = f"x0 > {_LIMIT} || x0 < -{_LIMIT} ? {nan} : {value}"
    return value


def argument_code(name: str, k: int, code: str) -> str:
    """The type in kernels of an argument, for a calculation in *code*."""
    function = FUNCTIONS[name]
    if function.kinds[k] == "n":
        return "i64"
    return {"c64": "f32", "c128": "f64"}.get(code, code) if k < function.orders else code


@cache
def expression(name: str, code: str, fp64: bool) -> tuple[str, dict[str, str]]:
    """The statements over x0, x1, ... that set y0 (and y1), and the definitions that they need.

    code: "f32" or "f64", of the real arguments, or "c64" or "c128"; integers are pg_i64.
    """
    function = FUNCTIONS[name]
    if code[0] == "c":
        real, computed = ("f64", "c128") if fp64 else ("f32", "c64")
        part = "f32" if code == "c64" else "f64"
        body = ""
        definitions: dict[str, str] = {}
        for k, text in enumerate(function.planes):
            body += (
                f"{{ const pg_{computed} w = pgs_{text}_{real}("
                f"{_arguments(name, code, computed)}); "
                f"y{k}.re = (pg_{part})w.re; y{k}.im = (pg_{part})w.im; }} "
            )
            definitions |= parts(text, real)
        return body.rstrip(), _outlined(definitions, len(function.planes))
    computed = _computed(name, code, fp64)
    body, definitions = "", {}
    for k, text in enumerate(function.texts):
        body += f"y{k} = {_call(name, text, code, computed)}; "
        definitions |= parts(text, computed)
    body = body.rstrip()
    if any("pg_c64" in text or "pg_c128" in text for text in definitions.values()):
        body, definitions = _private(body, definitions, fp64)
    return body, _outlined(definitions, function.results)


def _private(body: str, definitions: dict[str, str], fp64: bool) -> tuple[str, dict[str, str]]:
    """Give a function of real numbers that uses complex ones its own functions of those, by other
    names: a kernel without complex arrays does not have them."""
    definitions = parts_of_complex("".join(definitions.values()), fp64) | definitions

    def rename(text: str) -> str:
        return re.sub(r"\bpg(?:s|_(?=c64_|c128_))_?", "pgr_", text)

    return rename(body), {rename(name): rename(text) for name, text in definitions.items()}


_USED = re.compile(r"\bpg_(\w+)\s*\(")


def used_in(*sources: str) -> list[str]:
    """The functions that sources call as ``pg_<name>(...)``, without those of several results."""
    names = dict.fromkeys(name for source in sources for name in _USED.findall(source))
    return [n for n in names if n in FUNCTIONS and len(FUNCTIONS[n].texts) == 1]


def overloads(names: list[str], fp64: bool, cuda: bool) -> str:
    """The source that lets a program of either language call ``pg_<name>`` with float or double."""
    definitions: dict[str, str] = {}
    heads = []
    mark = "PG_FUNCTION" if cuda else "PG_FUNCTION __attribute__((overloadable))"
    for name in names:
        for code in ("f32", "f64") if fp64 else ("f32",):
            body, needed = expression(name, code, fp64)
            definitions |= needed
            declared = ", ".join(
                f"pg_{argument_code(name, k, code)} x{k}" for k in range(len(FUNCTIONS[name].kinds))
            )
            heads.append(f"{mark} pg_{code} pg_{name}({declared})\n{{\n    return {body[5:]}\n}}\n")
    text = "".join(definitions.values()) + "".join(heads)
    if cuda or not text:
        return text
    return f"#pragma OPENCL FP_CONTRACT OFF\n{text}#pragma OPENCL FP_CONTRACT ON\n"
