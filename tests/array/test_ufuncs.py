"""Every loop of every ufunc against NumPy, on numbers chosen to break it: all in one program."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

from pygpu.core import dtypes, elementwise, kernels, ufunc_table, ufuncs

KINDS = "?bBhHiIlLefdFD"
# Of complex infinities and NaN only: NumPy's answer is that of the C library, which differs.
UNSPECIFIED = frozenset(
    "tan arcsin arccos arctan tanh arcsinh arccosh arctanh power float_power reciprocal".split()
)
TOLERANCE = {"e": 2e-3, "f": 4e-6, "d": 2e-13, "F": 2e-5, "D": 1e-12}


def operands(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays with every pair of special values, small numbers and random ones."""
    dtype, n = np.dtype(kind), 257
    rng = np.random.default_rng(0)
    if kind == "?":
        return rng.integers(0, 2, n).astype(bool), rng.integers(0, 2, n).astype(bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        a, b = (rng.integers(limits.min, limits.max, n, dtype, endpoint=True) for _ in "ab")
        small = rng.integers(-20 if dtype.kind == "i" else 0, 20, n).astype(dtype)
        a[:100], b[:150] = small[:100], small[100:250]
        a[-1], b[-1], b[-2] = limits.min, small.min(), 0
        b[-3] = limits.max
        a[-4], b[-4] = limits.min, -1 if dtype.kind == "i" else 1
        return a, b
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5]
    pairs = [(x, y) for x in special for y in special]
    a, b = (3 * rng.normal(size=n) for _ in "ab")
    if dtype.kind == "c":
        a, b = a + 1j * rng.normal(size=n), b + 1j * rng.normal(size=n)
        a[:64], b[:64] = [complex(*p) for p in pairs], [complex(*p[::-1]) for p in pairs]
    else:
        a[:64], b[:64] = zip(*pairs)
    return a.astype(dtype), b.astype(dtype)


def loops() -> list[tuple[str, str, elementwise.Operation]]:
    found = []
    for name in dict.fromkeys(ufunc_table.NAMES):
        if not hasattr(np, name):  # newer than this NumPy
            continue
        ufunc = getattr(np, name)
        for kind in KINDS:
            dtype = np.dtype(kind)
            second = [np.dtype("i")] if name == "ldexp" else [dtype] * (ufunc.nin - 1)
            try:
                loop = ufuncs.resolve(name, (dtype, *second) + (None,) * ufunc.nout)
            except TypeError:
                continue
            if loop[0] == dtype:
                operation = ufuncs.operation_for(name, loop[: ufunc.nin], loop[ufunc.nin :])
                name_of = f"{name}_{dtypes.code(dtype)}"
                found.append((name, kind, dataclasses.replace(operation, name=name_of)))
    return found


def arguments(name: str, kind: str) -> tuple[np.ndarray, ...]:
    a, b = operands(kind)
    if name == "ldexp":
        return a, np.random.default_rng(1).integers(-20, 20, a.size).astype("i")
    if name == "power" and a.dtype.kind == "i":
        return a, (np.abs(b.astype(object)) % 10).astype(a.dtype)
    if name in ("left_shift", "right_shift"):
        return a, (b.astype(object) % 70).astype(a.dtype)
    if name == "reciprocal" and a.dtype.kind in "iu":
        return (np.where(a == 0, 1, a).astype(a.dtype),)
    return (a, b)[: getattr(np, name).nin]


def agree(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    tolerance = TOLERANCE[want.dtype.char]
    near = np.abs(got - want) <= tolerance * np.maximum(np.abs(want), 1e-3)
    return (got == want) | (np.isnan(got) & np.isnan(want)) | near


# A program of a quarter of the loops compiles in a few seconds; one for each loop takes minutes.
@pytest.mark.parametrize("part", range(4))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_loop(make, part):
    todo = loops()[part::4]
    assert len(todo) > 100
    helpers = dict.fromkeys(operation.helpers for _, _, operation in todo)
    text, names, features = "".join(helpers), [], set()
    for _, _, operation in todo:
        bare = dataclasses.replace(operation, helpers="")
        memory = operation.outputs + operation.inputs
        body, kernel = elementwise.text(bare, memory, 0, False)
        text += body
        names.append(kernel)
        features |= dtypes.features(*memory)
    backend = make.backend
    program = backend.compile(kernels.source(backend, text, features), backend.dialect.exact)
    for (name, kind, operation), kernel in zip(todo, names):
        given = arguments(name, kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = getattr(np, name)(*given)
        want = want if isinstance(want, tuple) else (want,)
        inputs = [make(x) for x in given]
        outputs = [inputs[0]._new(inputs[0].shape, d) for d in operation.outputs]
        args = [part for x in outputs + inputs for part in backend.arguments(x)]
        groups, size = kernels.grid(backend, given[0].size)
        event = backend.launch(program.kernel(kernel), inputs[0].queue, groups, size, [*args, 257])
        for x, expected in zip(outputs, want):
            x._set_event(event)
            got = x.get()
            assert got.dtype == expected.dtype, (name, kind)
            if expected.dtype.kind in "biu":
                fine = got == expected
            elif kind in "FD":
                fine = agree(got.real, expected.real) & agree(got.imag, expected.imag)
                if name in UNSPECIFIED:
                    fine |= ~np.isfinite(given[0]) | ~np.isfinite(given[-1]) | (given[0] == 0)
            else:
                fine = agree(got, expected)
            if not fine.all():
                k = int(np.argmin(fine))
                shown = tuple(x[k] for x in given)
                pytest.fail(f"{name} {kind} of {shown} gives {got[k]}, not {expected[k]}")
