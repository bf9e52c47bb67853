"""Functions of math, cmath and operator that are written in the kernel language itself.

Where Python's functions raise ValueError, for numbers outside their domain, these return 0.
"""

from __future__ import annotations

import ast
import cmath
import math
import operator
from typing import Any

import numpy as np

from ..ir import Value
from ..walk.calls import call_function
from ..walk.context import FunctionContext
from ..walk.registry import HANDLERS, Args, Handler, Kwargs


def within(a: Any, b: Any, rel_tol: Any, abs_tol: Any) -> Any:
    difference = abs(a - b)
    return difference <= rel_tol * abs(a) or difference <= rel_tol * abs(b) or difference <= abs_tol


def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return within(a, b, rel_tol, abs_tol)


def complex_isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if a == b:
        return True
    if cmath.isinf(a) or cmath.isinf(b):
        return False
    return within(a, b, rel_tol, abs_tol)


def negative(x: Any) -> Any:
    return -x


def inverted(x: Any) -> Any:
    return ~x


def negated(x: Any) -> Any:
    return not x


def magnitude(x: Any) -> Any:
    return abs(x)


def polar(z: Any) -> Any:
    return abs(z), cmath.phase(z)


def rect(r: Any, phi: Any) -> Any:
    if r == 0 and not math.isfinite(phi):
        return complex(r * 0, r * 0)
    if phi == 0:  # keep the sign of 0, also for an infinite r
        return complex(r, math.copysign(1.0, r) * phi)
    return complex(r * math.cos(phi), r * math.sin(phi))


def isqrt(n: Any) -> Any:
    rest = max(int(n), 0)
    root = 0
    bit = 1 << 62
    while bit > rest:
        bit >>= 2
    while bit > 0:
        if rest >= root + bit:
            rest -= root + bit
            root = (root >> 1) + bit
        else:
            root >>= 1
        bit >>= 2
    return root


def factorial(n: Any) -> Any:
    return perm(n)


def perm(n: Any, k: Any = None) -> Any:
    first = int(n)
    count = first if k is None else int(k)
    product = 1 if count >= 0 and first >= 0 else 0
    for i in range(count):
        product *= first - i
    return product


def comb(n: Any, k: Any) -> Any:
    first = int(n)
    count = int(k)
    if count < 0 or count > first:
        return 0
    count = min(count, first - count)
    product = 1
    for i in range(count):
        product = product * (first - i) // (i + 1)
    return product


def lcm(a: Any, b: Any) -> Any:
    return np.lcm(a, b)


def ulp(x: Any) -> Any:
    return np.spacing(abs(x))


_WRITTEN: dict[Any, Any] = {
    operator.abs: magnitude,
    operator.invert: inverted,
    operator.neg: negative,
    operator.not_: negated,
    math.isclose: isclose,
    cmath.isclose: complex_isclose,
    cmath.polar: polar,
    cmath.rect: rect,
    math.isqrt: isqrt,
    math.factorial: factorial,
    math.perm: perm,
    math.comb: comb,
    math.lcm: lcm,
    math.ulp: ulp,
}


def _handler(function: Any) -> Handler:
    def handler(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        return call_function(fc, node, function, args, kwargs)

    return handler


HANDLERS |= {obj: _handler(function) for obj, function in _WRITTEN.items()}
