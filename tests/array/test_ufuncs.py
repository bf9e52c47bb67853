"""Every loop of every ufunc against NumPy, on numbers chosen to break it: all in one program."""

from __future__ import annotations

import numpy as np
import pytest
from one_program import Packed, block

from pygpu._src.array import elementwise, ufuncs
from pygpu._src.codegen import dtypes
from pygpu._src.codegen import ufunc_loops as ufunc_table
from pygpu._src.runtime import kernel_cache as kernels

KINDS = "?bBhHiIlLefdFD"
# Of complex infinities and NaN only: NumPy's answer is that of the C library, or (expm1) neither
# that nor the standard's; test_standard.py has what is right.
UNSPECIFIED = frozenset(
    "sin sinh tan arcsin arccos arctan tanh arcsinh arccosh arctanh power float_power expm1".split()
    + ["reciprocal"]
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
                found.append((name, kind, operation))
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
    """Where each part of the numbers is the same, or close beside the size of the number."""
    size = np.where(np.isfinite(want), np.abs(want), 0)
    limit = TOLERANCE[want.dtype.char] * np.maximum(size, 1e-3)

    def close(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= limit)

    return close(got.real, want.real) & close(got.imag, want.imag)


# All loops of a dtype in one kernel: a kernel for each would take minutes to compile.
@pytest.mark.sampled(opencl=5)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_loop(make, kind):
    if kind in ("bHiLdD" if make.name == "opencl" else "BhIlFe"):
        return  # the table is one for both: each width and sign on one of them is enough
    todo = [(name, operation) for name, k, operation in loops() if k == kind]
    assert len(todo) > 20
    sources, results = Packed(), Packed()
    text, checks, features = "", [], set()
    for name, operation in todo:
        given = arguments(name, kind)
        want = getattr(np, name)(*given)
        want = want if isinstance(want, tuple) else (want,)
        places = [results.add(np.zeros(w.shape, w.dtype)) for w in want]
        text += block(operation, places + [sources.add(x) for x in given])
        checks.append((name, given, want, places))
        features |= dtypes.features(*operation.inputs, *operation.outputs)
        assert [w.dtype for w in want] == list(operation.outputs), (name, kind)
    helpers = "".join(dict.fromkeys(operation.helpers for _, operation in todo))
    text = f"""{helpers}
PG_KERNEL void loops(PG_ARRAY_IN(pg_u8, in), PG_ARRAY(pg_u8, out), pg_i64 n)
{{
    PG_START_IN(pg_u8, in);
    PG_START(pg_u8, out);
    {text}
}}
"""
    x, y = make(sources.bytes()), make(results.bytes())
    backend = x.backend
    compiled = backend.compile(kernels.source(backend, text, features), backend.dialect.exact)
    args = (*backend.arguments(x), *backend.arguments(y), 257)
    y._set_event(backend.launch(compiled.kernel("loops"), x.queue, 2, 32, args))
    whole = y.get()
    wrong = []
    for name, given, want, places in checks:
        for expected, at in zip(want, places):
            got = whole[at : at + expected.nbytes].view(expected.dtype)
            if expected.dtype.kind in "biu":
                fine = got == expected
            else:
                fine = agree(got, expected)
                if kind in "FD" and name in UNSPECIFIED:
                    fine |= ~np.isfinite(given[0]) | ~np.isfinite(given[-1]) | (given[0] == 0)
            for k in np.flatnonzero(~fine)[:2]:
                shown = tuple(x[k] for x in given)
                wrong.append(f"{name} {kind} of {shown} gives {got[k]}, not {expected[k]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.filterwarnings("ignore")  # of NumPy, which converts the kept items there and back
@pytest.mark.parametrize("loop, stored", [("f4", "f8"), ("i4", "i8"), ("f4", "c8"), ("f2", "f4")])
def test_where_keeps_what_the_loop_cannot_hold(make, loop, stored):
    a, mask = np.arange(40).astype(loop), np.arange(40) % 3 == 0
    out = (np.arange(40) * 1.1 + 1e-9 + 2**40).astype(stored) * (1j if stored == "c8" else 1)
    for want, step in ((out, slice(None)), (np.repeat(out, 2), slice(None, None, 2))):
        got = make(want)
        np.add(a, a, out=want[step], where=mask)
        np.add(make(a), make(a), out=got[step], where=make(mask))
        np.testing.assert_array_equal(got.get(), want)


def test_halves_are_rounded_before_they_become_something_else(make):
    a = np.linspace(0, 3, 33)
    half, single = a.astype(np.float16), a.astype(np.float32)
    want, got = np.zeros(33, np.float32), make(np.zeros(33, np.float32))
    np.multiply(half, half, out=want)
    np.multiply(make(half), make(half), out=got)
    np.testing.assert_array_equal(got.get(), want)
    want = np.add(single, single, dtype=np.float16)
    np.testing.assert_array_equal(np.add(make(single), make(single), dtype=np.float16).get(), want)


def test_powers(make):
    for exponent in (-3, np.int8(-3), np.array(-3)):
        with pytest.raises(ValueError, match="negative integer powers"):
            make(np.ones(3, np.int64)) ** exponent
    zero = make(np.zeros(3, np.complex64))
    assert (zero ** (2 + 1j)).get().tolist() == [0, 0, 0]
    assert np.isnan((zero ** (-1 + 1j)).get()).all()


@pytest.mark.parametrize("where", ["array", "list", "number", False])
def test_where_on_the_host(make, where):
    """It was ignored."""
    a, mask = np.arange(6.0).reshape(2, 3), np.array([True, False, True])
    mask = {"array": mask, "list": mask.tolist(), "number": np.bool_(False)}.get(where, False)
    for out in (np.full((2, 3), -1.0), np.full((2, 3), -1)):
        there = make(out)
        np.negative(make(a), out=there, where=mask, casting="unsafe")
        np.negative(a, out=out, where=mask, casting="unsafe")
        np.testing.assert_array_equal(there.get(), out)


def test_where_of_numbers_is_refused(make):
    a = make(np.arange(3.0))
    for mask in (np.array([1, 0, 1]), make(np.array([1, 0, 1]))):
        with pytest.raises(TypeError, match="bools"):
            np.add(a, 1, out=a, where=mask)


@pytest.mark.parametrize("signature", ["ff->f", ("d", "d", "d"), ("f4", None, None), "ll->l"])
def test_signature(make, signature):
    a = np.arange(5, dtype=np.int16)
    wanted = np.multiply(a, a, signature=signature, casting="unsafe")
    found = np.multiply(make(a), make(a), signature=signature, casting="unsafe")
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.get(), wanted)
    with pytest.raises(TypeError):
        np.multiply(make(a), make(a), signature=("f4", None, None), dtype="f4")
    with pytest.raises(TypeError):
        np.multiply(make(a), make(a), signature="f")
    with pytest.raises(ValueError, match="dtypes"):
        np.multiply(make(a), make(a), signature=("f4", "f4"))


@pytest.mark.parametrize("order", ["C", "F", "K", "A"])
def test_order(make, order):
    a = np.arange(6.0).reshape(2, 3)
    for host in (a, a.T):
        wanted = np.add(host, 1, order=order)
        found = np.add(make(host), 1, order=order)
        np.testing.assert_array_equal(found.get(), wanted)
        assert found.flags.c_contiguous == wanted.flags.c_contiguous


def test_casting_is_not_forgotten(make):
    """The second call was answered by what the first one had left."""
    a = make(np.arange(4, dtype=np.int32))
    out = make(np.zeros(4, np.int16))
    np.add(a, a, out=out)
    with pytest.raises(TypeError, match="casting"):
        np.add(a, a, out=out, casting="safe")


def test_numbers_that_do_not_fit_an_empty_array(make):
    with pytest.raises(OverflowError):
        make(np.zeros(0, np.int8)) ^ 2**40
