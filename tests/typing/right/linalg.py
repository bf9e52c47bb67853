"""The types of pygpu.linalg: the class and the dtype of the array, where NumPy keeps the dtype."""

from typing import Any, assert_type

import numpy as np

from pygpu import GPUArray, linalg
from pygpu.array import Array
from pygpu.cuda import gpuarray

Floating = GPUArray[np.floating[Any]]


def factorizations(a: Array[np.float32], c: gpuarray.GPUArray[np.complex128]) -> None:
    assert_type(linalg.cholesky(a), Array[np.float32])
    assert_type(linalg.inv(c), gpuarray.GPUArray[np.complex128])
    assert_type(linalg.det(a), Array[np.float32])
    assert_type(linalg.solve(a, a), Array[np.float32])
    assert_type(linalg.solve(a, np.ones(3)), GPUArray[Any])
    assert_type(linalg.qr(a).Q, Array[np.float32])
    assert_type(linalg.qr(a, "r"), Array[np.float32])
    u, s, vh = linalg.svd(c)
    assert_type(u, gpuarray.GPUArray[np.complex128])
    assert_type(s, Floating)
    assert_type(linalg.svd(a).Vh, Array[np.float32])
    assert_type(linalg.svd(a, compute_uv=False), Floating)
    assert_type(linalg.svd(a, False, False), Floating)
    assert_type(linalg.eigh(a).eigenvalues, Floating)
    assert_type(linalg.eigh(a).eigenvectors, Array[np.float32])
    assert_type(linalg.eig(a).eigenvectors, GPUArray[np.inexact[Any]])
    assert_type(linalg.slogdet(c).sign, gpuarray.GPUArray[np.complex128])


def of_integers(a: Array[np.int32]) -> None:
    assert_type(linalg.inv(a), Floating)
    assert_type(linalg.svd(a).U, Floating)
    assert_type(linalg.matrix_power(a, 3), Array[np.int32])


def what_is_built_on_them(a: Array[np.float64]) -> None:
    assert_type(linalg.pinv(a, rtol=1e-6), Array[np.float64])
    assert_type(linalg.matrix_rank(a), GPUArray[np.int64])
    x, residuals, rank, s = linalg.lstsq(a, a)
    assert_type(x, Array[np.float64])
    assert_type(rank, int)
    assert_type(linalg.norm(a, "fro"), Floating)
    assert_type(linalg.cond(a), Floating)


def products(a: Array[np.float32], b: Array[np.float64]) -> None:
    assert_type(a @ a, Array[np.float32])
    assert_type(linalg.multi_dot([a, a, a]), Array[np.float32])
    assert_type(linalg.tensordot(a, a, axes=1), Array[np.float32])
    assert_type(linalg.trace(a), Array[np.float32])
    assert_type(linalg.trace(a, dtype=np.float64), GPUArray[np.float64])
