"""What the array API standard demands and its own test suite found wanting here."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from pygpu import xp

INF, NAN, PI = float("inf"), float("nan"), np.pi
# (function, operand, result) of C99's Annex G, which the array API standard repeats; None is a
# component of a zero or infinity with either sign.
ANNEX_G = [
    ("acos", (0, NAN), (PI / 2, NAN)),
    ("acos", (-0.0, NAN), (PI / 2, NAN)),
    ("acos", (2, INF), (PI / 2, -INF)),
    ("acos", (-INF, 2), (PI, -INF)),
    ("acos", (INF, 2), (0.0, -INF)),
    ("acos", (-INF, INF), (3 * PI / 4, -INF)),
    ("acos", (INF, -INF), (PI / 4, INF)),
    ("acos", (NAN, INF), (NAN, -INF)),
    ("acos", (2, NAN), (NAN, NAN)),
    ("acosh", (2, INF), (INF, PI / 2)),
    ("acosh", (-INF, 2), (INF, PI)),
    ("acosh", (-INF, INF), (INF, 3 * PI / 4)),
    ("acosh", (INF, -INF), (INF, -PI / 4)),
    ("acosh", (INF, NAN), (INF, NAN)),
    ("acosh", (NAN, INF), (INF, NAN)),
    ("acosh", (0, NAN), (NAN, PI / 2)),
    ("acosh", (NAN, 2), (NAN, NAN)),
    ("asinh", (2, INF), (INF, PI / 2)),
    ("asinh", (-INF, 2), (-INF, 0.0)),
    ("asinh", (INF, INF), (INF, PI / 4)),
    ("asinh", (INF, NAN), (INF, NAN)),
    ("asinh", (NAN, 0.0), (NAN, 0.0)),
    ("asinh", (NAN, 2), (NAN, NAN)),
    ("atanh", (0.0, NAN), (0.0, NAN)),
    ("atanh", (INF, NAN), (0.0, NAN)),
    ("atanh", (NAN, INF), (0.0, PI / 2)),
    ("atanh", (-INF, 2), (-0.0, PI / 2)),
    ("atanh", (2, NAN), (NAN, NAN)),
    ("exp", (-1000, NAN), (NAN, NAN)),
    ("exp", (-1000, INF), (NAN, NAN)),
    ("exp", (-1000, 2), (-0.0, 0.0)),
    ("exp", (-INF, NAN), (0.0, 0.0)),
    ("expm1", (INF, 0.0), (INF, 0.0)),
    ("expm1", (-INF, INF), (-1, 0.0)),
    ("expm1", (INF, INF), (INF, NAN)),
    ("expm1", (-INF, NAN), (-1, 0.0)),
    ("expm1", (INF, NAN), (INF, NAN)),
    ("expm1", (NAN, 0.0), (NAN, 0.0)),
    ("expm1", (2, INF), (NAN, NAN)),
    ("expm1", (0.0, -0.0), (0.0, -0.0)),
    ("expm1", (INF, 2), (-INF, INF)),
    ("tanh", (2, INF), (NAN, NAN)),
    ("tanh", (200, INF), (NAN, NAN)),
    ("tanh", (0.0, INF), (0.0, NAN)),
    ("tanh", (-0.0, NAN), (-0.0, NAN)),
    ("tanh", (INF, NAN), (1, 0.0)),
    ("tanh", (-INF, INF), (-1, 0.0)),
    ("tanh", (NAN, 0.0), (NAN, 0.0)),
]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_functions_at_infinity_and_nan(on, dtype):
    for name in dict.fromkeys(name for name, _, _ in ANNEX_G):
        cases = [(z, w) for other, z, w in ANNEX_G if other == name]
        z = np.array([complex(*z) for z, _ in cases], dtype)
        want = np.array([complex(*w) for _, w in cases], dtype)
        got = getattr(xp, name)(xp.asarray(z)).get()
        for part in ("real", "imag"):
            ours, theirs = getattr(got, part), getattr(want, part)
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, err_msg=f"{name}{z}")
            sure = ~np.isnan(theirs)
            np.testing.assert_array_equal(np.signbit(ours)[sure], np.signbit(theirs)[sure])


def test_arguments_other_than_arrays_are_refused_by_name():
    others = {"axes": (0, 1), "shape": (4,), "dtype": xp.float32, "repetitions": (2,)}
    called = set()
    for space in (xp, xp.linalg, xp.fft):
        for name in space.__all__:
            function = getattr(space, name)
            if not callable(function) or isinstance(function, type):
                continue
            if name.startswith("format_float_") or name in ("iscomplexobj", "isrealobj"):
                continue  # of numbers; of whatever it is
            given = list(inspect.signature(function).parameters.values())
            if not given or given[0].name not in ("x", "x1", "arrays", "condition"):
                continue
            rest = [others.get(p.name, 1) for p in given[1:] if p.default is p.empty]
            for wrong in ([1.0, 2.0], np.ones((2, 2)), None):
                if name == "from_dlpack" and wrong is not None and not isinstance(wrong, list):
                    continue
                with pytest.raises(TypeError, match=rf"^({name}|{function.__name__}): "):
                    function(wrong, *rest)
            called.add(name)
    assert len(called) > 120


def test_arange_counts_integers_exactly(on):
    step = 1080863910568919
    x = xp.arange(0, 100 * step + 1, step)  # whose quotient is 100.0 in doubles
    assert x.get().tolist() == list(range(0, 100 * step + 1, step))
    assert xp.arange(5, 0, -2).get().tolist() == [5, 3, 1] and xp.arange(5, 5).shape == (0,)
    with pytest.raises(TypeError, match="arange: real numbers are needed, not str"):
        xp.arange("5")
    for start, stop in ((0, np.inf), (np.nan, 1), (-1e308, 1e308)):
        with pytest.raises(ValueError, match="arange: steps of .* never reach"):
            xp.arange(start, stop, 0.5)


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (0, 0)])
def test_masks_of_no_item_select_nothing(on, shape):
    a, mask = np.ones((2, 3)), np.zeros(shape, bool)
    x = xp.asarray(a)
    assert x[xp.asarray(mask)].shape == x[mask].shape == a[mask].shape
    x[mask] = 7
    assert np.array_equal(x.get(), a)
    with pytest.raises(IndexError, match="boolean index did not match"):
        x[np.zeros((3, 0), bool)]
