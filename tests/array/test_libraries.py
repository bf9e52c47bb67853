"""Libraries that take arrays by their protocols: Dask's chunks, scikit-learn's dispatch."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from pygpu import xp

A = np.random.default_rng(0).normal(size=(12, 9))


CHUNKWISE = [
    lambda d, da: (d + 1).sum(axis=0),
    lambda d, da: d[2:9, ::2].T,
    lambda d, da: da.concatenate([d, d], axis=1).rechunk((3, 9)),
]
MORE = [
    lambda d, da: da.exp(d),
    lambda d, da: d @ d.T,
    lambda d, da: d.max(axis=1),
    lambda d, da: da.where(d > 0, d, 0).reshape(-1),
    lambda d, da: d.argmax(axis=0),
    lambda d, da: d.std(),
    lambda d, da: da.roll(d, 2, axis=0),
]


@pytest.mark.parametrize("works", [CHUNKWISE, pytest.param(MORE, marks=pytest.mark.slow)])
def test_dask_chunks(opencl_maker, works):
    dask = pytest.importorskip("dask", reason="the package dask is not installed")
    da = pytest.importorskip("dask.array", reason="dask's arrays are not installed")
    x, host = da.from_array(opencl_maker(A), chunks=(5, 4)), da.from_array(A, chunks=(5, 4))
    assert type(x._meta) is type(opencl_maker(A))
    with dask.config.set(scheduler="synchronous"):
        for work in works:
            got, want = work(x, da).compute(), work(host, da).compute()
            assert type(got) is type(opencl_maker(A)) and got.dtype == want.dtype
            np.testing.assert_allclose(got.get(), want, rtol=1e-12)


SKLEARN = """
import sys
import numpy as np
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from pygpu import xp

rng = np.random.default_rng(0)
a = rng.normal(size=(60, 5))
b = a @ np.arange(5.0)
x, y = xp.asarray(a), xp.asarray(b)
for fit in {
    "scaler": [lambda a, b: StandardScaler().fit_transform(a)],
    "more": [
        lambda a, b: MinMaxScaler().fit_transform(a),
        lambda a, b: abs(PCA(2, svd_solver="full").fit_transform(a)),
        lambda a, b: Ridge(solver="svd").fit(a, b).predict(a),
    ],
}[sys.argv[1]]:
    want = fit(a, b)
    with config_context(array_api_dispatch=True):
        got = fit(x, y)
    assert type(got) is type(x), type(got)
    np.testing.assert_allclose(got.get(), want, rtol=1e-6, atol=1e-9)
"""


@pytest.mark.parametrize("which", ["scaler", pytest.param("more", marks=pytest.mark.slow)])
def test_scikit_learn(opencl_maker, which):
    """In a process of its own, as SciPy asks for its switch when it is imported."""
    pytest.importorskip("sklearn", reason="the package scikit-learn is not installed")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYGPU_DEVICE": "opencl"}
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", SKLEARN, which],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_namespace_of_compat(on):
    compat = pytest.importorskip(
        "array_api_compat", reason="the package array-api-compat is not installed"
    )
    x = xp.asarray(A)
    assert compat.array_namespace(x, x) is xp and compat.is_array_api_obj(x)
    assert compat.device(x) == x.device and compat.size(x) == A.size
    assert compat.to_device(x, x.device) is x
