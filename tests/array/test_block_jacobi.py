"""Eigenvalues of large Hermitian matrices by blocks, which devices with warps do: on the simulator,
small matrices of two blocks or more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pygpu._src.array.factorization import jacobi

from .test_factorizations import errors, hard_matrices, hermitian, product, skewness, within

pytestmark = pytest.mark.parametrize("make", ["cuda"], indirect=True)


def check(make: Any, a: np.ndarray, upper: bool = False) -> None:
    n = a.shape[-1]
    triangle = np.triu(a) if upper else np.tril(a)  # the other one is not read
    values, vectors = (x.get() for x in jacobi.eigh(make(triangle), upper, True))
    want = np.linalg.eigvalsh(a.astype(np.result_type(a, np.float64)))
    assert values.dtype == want.astype(a.dtype.char.lower()).dtype and vectors.dtype == a.dtype
    assert (np.diff(values, axis=-1) >= 0).all()
    within(errors(values, want, want.astype(values.dtype)), n)
    adjoint = vectors.swapaxes(-1, -2).conj()
    within(errors(product(vectors * values[..., None, :], adjoint), a, a), n)
    within(skewness(vectors) / n**0.5, n)
    alone, nothing = jacobi.eigh(make(triangle), upper, False)
    assert nothing is None
    within(errors(alone.get(), want, want.astype(values.dtype)), n)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((40, 40), "f"),
        ((17, 17), "D"),
        pytest.param((3, 20, 20), "F", marks=pytest.mark.slow),
        pytest.param((64, 64), "d", marks=pytest.mark.slow),
        pytest.param((1, 1), "f", marks=pytest.mark.slow),
    ],
)
def test_errors_are_those_of_lapack(make, shape, dtype):
    check(make, hermitian(shape, dtype), dtype == "D")


@pytest.mark.parametrize("name", ["repeated", "zero", "huge", "graded", "anti"])
def test_hard_matrices(make, name):
    check(make, hard_matrices(35)[name])


def test_views_and_what_is_not_finite(make):
    a = hermitian((40, 40), "d")
    whole = np.zeros((80, 40))
    whole[::2] = a
    values, vectors = jacobi.eigh(make(whole)[::2][::-1, ::-1], False, True)
    assert np.allclose(values.get(), np.linalg.eigvalsh(a))
    a[3, 2] = np.nan
    values, vectors = jacobi.eigh(make(a), False, True)
    assert np.isnan(values.get()).all() and np.isnan(vectors.get()).all()
