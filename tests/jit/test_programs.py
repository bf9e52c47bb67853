"""Small programs that hypothesis makes, run by Python and on devices."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import pygpu
from pygpu import cuda

ATOMS = st.sampled_from(["x", "y", "t", "i", "1", "2", "7", "-3", "k"])


def _expressions(more: list[str]) -> Any:
    def combine(inner: Any) -> Any:
        shapes = [
            "({0} + {1})",
            "({0} - {1})",
            "({0} * {1})",
            "({0} // (abs({1}) + 1))",
            "({0} % (abs({1}) + 2))",
            "({0} % -(abs({1}) + 2))",
            "-{0}",
            "({0})**2",
            "abs({0})",
            "min({0}, {1})",
            "max({0}, {1}, x)",
            "({0} if {1} > 2 else {1})",
            "({0} if x < {1} <= y else 3)",
            "({0} and {1})",
            "({0} or {1})",
            "(not {0}) + {1}",
            "(({0} == {1}) * 5)",
            "int({0})",
            "sum(divmod({0}, 4))",
            "divmod({0}, -3)[1]",
            "g({0}, {1})",
            "g({0}, q={1})",
            "({0}, {1}, x)[i % 3]",
            "({0} in ({1}, 2, y))",
            "int({0} < {1} != t)",
            "bool({0}) + True",
            "first({0})",
            *more,
        ]
        return st.builds(lambda s, a, b: s.format(a, b), st.sampled_from(shapes), inner, inner)

    return st.recursive(ATOMS, combine, max_leaves=5)


INTEGER = _expressions(["({0} & {1})", "({0} ^ {1})", "(~{0} | {1})", "({0} >> 2)", "({0} << 1)"])
REAL = _expressions(["({0} / (abs({1}) + 1))", "float({0})", "(0.5 * {0})", "round({0}, 1)"])


def _programs(expressions: Any) -> Any:
    """Functions of x and y with a variable t that changes, a loop and branches."""
    text = """
def f(x, y):
    t = x
    i = 1
    t = {0}
    for i in range({n}):
        if {1} > t:
            t = {2}
            continue
        elif t == {3}:
            break
        t += {4}
        t = t % 1000
    else:
        t -= 1
    u, n = 2, 0
    while u > {6} and n < 20:
        u, n = u - 1, n + 1
        if t > {7}:
            t, u = u, t % 50 - 10
            continue
        for t in (x, u, 3):
            if t == {8}:
                return t
        if u < -15:
            break
    else:
        u, t = t, u
    return t * 3 - u + {5}
"""
    fields = [expressions] * 9
    numbers = st.sampled_from(["3", "0, 6, 2", "4, -1, -1", "2, 2", "-3, 4, 3", "int(x), 3"])
    return st.builds(lambda n, *e: text.format(*e, n=n), numbers, *fields)


# What the programs call: defaults, keywords, an early return from a loop.
HELPERS = """
def g(p, q=3, *, r=2):
    return p * 2 - q + r
def first(a):
    for b in range(5, -2, -2):
        if b < a:
            return b
    return a
"""


def _run(make: Any, programs: list[str], dtype: str) -> None:
    x, y = np.meshgrid(np.array([-5, -1, 0, 2, 9], dtype), np.array([-3, 1, 4], dtype))
    x, y = x.ravel(), y.ravel()
    if dtype[0] == "f":
        x += 0.25
    text, space = HELPERS, {"cuda": cuda, "k": 5}
    exec(text, space)
    expected, possible = [], []
    for program in programs:
        name = f"f{len(expected)}"
        exec(program.replace("def f(", f"def {name}("), space)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                expected.append([float(space[name](a, b)) for a, b in zip(x, y)])
        except TypeError as error:  # NumPy's bools have no - and no round(); here they are numbers
            assert "numpy.bool" in str(error) or "numpy boolean" in str(error)  # noqa: PT017
        else:
            possible.append(program)
    programs = possible
    for name in ("g", "first"):
        space[name] = pygpu.jit(space[name], src=HELPERS)
    body = "".join(f"    out[{n}, j] = f{n}(x[j], y[j])\n" for n in range(len(programs)))
    entry = "def rows(x, y, out):\n    j = cuda.grid(1)\n    if j >= x.size:\n        return\n"
    for n in range(len(programs)):
        space[f"f{n}"] = pygpu.jit(space[f"f{n}"], src=programs[n].replace("def f(", f"def f{n}("))
    exec(entry + body, space)
    out = make(np.zeros((len(programs), x.size)))
    kernel = pygpu.kernel(space["rows"], src=entry + body, exact=True)
    kernel[1, 32](make(x), make(y), out)
    for program, mine, right in zip(programs, out.get(), np.array(expected)):
        assert np.allclose(mine, right, 1e-9, 1e-9, equal_nan=True), (program, mine, right)


# Nothing is made smaller: each attempt compiles, and the assertion names the program.
COMMON: dict[str, Any] = {
    "deadline": None,
    "phases": [Phase.generate],
    "suppress_health_check": list(HealthCheck),
}
QUICK = settings(max_examples=1, derandomize=True, **COMMON)
# PYGPU_EXAMPLES=400 is some 2400 programs.
LONG = settings(max_examples=int(os.environ.get("PYGPU_EXAMPLES", "8")), **COMMON)


@QUICK
@given(programs=st.lists(_programs(INTEGER), min_size=6, max_size=6))
def test_integers(make: Any, programs: list[str]) -> None:
    _run(make, programs, "i8")


@QUICK
@given(programs=st.lists(_programs(REAL), min_size=6, max_size=6))
def test_reals(make: Any, programs: list[str]) -> None:
    _run(make, programs, "f8")


@pytest.mark.slow
@LONG
@given(programs=st.lists(_programs(INTEGER), min_size=4, max_size=8))
def test_integers_long(make: Any, programs: list[str]) -> None:
    _run(make, programs, "i8")


@pytest.mark.slow
@LONG
@given(programs=st.lists(_programs(REAL), min_size=4, max_size=8))
def test_reals_long(make: Any, programs: list[str]) -> None:
    _run(make, programs, "f8")
