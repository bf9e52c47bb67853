"""Eigenvalues and singular values of large matrices by blocks, which devices with warps do: on the
simulator, of small matrices with two blocks or more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pygpu._src.array.factorization import column_jacobi, jacobi
from pygpu._src.array.routines import factorizations

from .test_factorizations import (
    check_svd,
    errors,
    hard_matrices,
    hermitian,
    product,
    random,
    skewness,
    within,
)

pytestmark = [pytest.mark.sampled(3), pytest.mark.parametrize("make", ["cuda"], indirect=True)]


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
        pytest.param((17, 17), "D", marks=pytest.mark.slow),
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


def check_columns(make: Any, a: np.ndarray) -> None:
    n = a.shape[-1]
    u, values, v = (x.get() for x in column_jacobi.svd(make(a), True))
    want = np.linalg.svd(a.astype(np.result_type(a, np.float64)), compute_uv=False)
    assert u.dtype == v.dtype == a.dtype and u.shape == v.shape == a.shape
    assert (values >= 0).all() and values.dtype == want.astype(a.dtype.char.lower()).dtype
    within(errors(values, want, want.astype(values.dtype)), n)
    adjoint = v.swapaxes(-1, -2).conj()
    within(errors(product(u * values[..., None, :], adjoint), a, a), n)
    within(skewness(u) / n**0.5, n)
    within(skewness(v) / n**0.5, n)
    left, alone, right = column_jacobi.svd(make(a), False)
    assert left is None and right is None
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
def test_singular_values_are_those_of_lapack(make, shape, dtype):
    check_columns(make, random(shape, dtype))


@pytest.mark.parametrize("name", ["repeated", "zero", "huge", "graded", "ones"])
def test_singular_values_of_hard_matrices(make, name):
    check_columns(make, hard_matrices(35)[name])


@pytest.mark.parametrize("shape", [(40, 35), (33, 50)])
@pytest.mark.parametrize("full", [False, True])
def test_matrices_that_are_not_square(make, monkeypatch, shape, full):
    monkeypatch.setenv("PYGPU_LINALG", "own")
    monkeypatch.setattr(factorizations, "_SMALL", 8)
    monkeypatch.setattr(factorizations, "_ALONE", {"eigh": 8, "svd": 8})
    check_svd(make, random(shape, "f"), full)


def test_singular_values_of_what_is_not_finite(make):
    a = random((40, 40), "d")
    a[3, 2] = np.inf
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        column_jacobi.svd(make(a), True)
