"""Other libraries' functions and conversions with our arrays, on OpenCL and on CUDA. A library that
is not installed is skipped by name, or an error with PYGPU_TEST_INTEROP=1, as in CI."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

import pygpu
from pygpu import xp

A = np.arange(12, dtype=np.float32).reshape(3, 4)


def library(name: str):
    if os.environ.get("PYGPU_TEST_INTEROP") and name != "cupy":  # which needs a GPU
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"the package {name} is not installed")


@pytest.fixture(params=["opencl", "cuda"])
def x(request):
    """An array on the default device, where xarray puts numbers that it makes into arrays."""
    before = xp.default_device()
    try:
        x = xp.asarray(A, device=request.param)
    except pygpu.errors.Error as error:
        pytest.skip(f"no device of {request.param}: {error}".splitlines()[0])
    xp.set_default_device(x.device)
    yield x
    xp.set_default_device(before)


def same(got, want, like) -> None:
    """An array of the same class on the same device, with NumPy's result."""
    assert type(got) is type(like) and got.device == like.device
    np.testing.assert_allclose(got.get(), want, rtol=1e-5)


def test_numpy(x):
    same(np.hypot(x, x[::-1]), np.hypot(A, A[::-1]), x)
    assert (np.from_dlpack(x, device="cpu") == A).all()
    same(xp.from_dlpack(A, device=x.device), A, x)


def test_conversions_are_refused_until_allowed(x):
    """What calls np.asarray() gets an error that names both ways out."""
    pandas = library("pandas")
    for convert in (np.asarray, lambda a: pandas.Series(a[0])):
        with pytest.raises(TypeError, match=r"(?s)x\.get\(\).*allow_host_copies"):
            convert(x)
    with pygpu.allow_host_copies():
        assert pandas.Series(x[1]).tolist() == [4, 5, 6, 7]
        assert (pandas.DataFrame(x).to_numpy() == A).all()


def has_gpu(jax) -> bool:
    return any(device.platform == "gpu" for device in jax.devices())


def test_jax(x):
    jax = library("jax")
    if x.__dlpack_device__()[0] == 1 or (x.device.kind == "cuda" and has_gpu(jax)):
        theirs = jax.numpy.from_dlpack(x)
        assert theirs.unsafe_buffer_pointer() == x.ptr
        assert (np.asarray(theirs) == A).all()
        assert (np.asarray(jax.numpy.from_dlpack(x[1:])) == A[1:]).all()
    else:
        theirs = jax.numpy.asarray(np.from_dlpack(x, device="cpu"))
    theirs += 1
    same(xp.from_dlpack(theirs, device=x.device), A + 1, x)
    same(xp.asarray(theirs, device=x.device), A + 1, x)


def test_torch(x):
    torch = library("torch")
    if x.__dlpack_device__()[0] == 1 or (x.device.kind == "cuda" and torch.cuda.is_available()):
        theirs = torch.from_dlpack(x)
        assert theirs.data_ptr() == x.ptr
        theirs = theirs + 1
    else:
        theirs = torch.from_dlpack(x.__dlpack__(dl_device=(1, 0))) + 1
    assert theirs.sum().item() == A.sum() + A.size
    same(xp.from_dlpack(theirs, device=x.device), A + 1, x)
    same(xp.asarray(theirs, device=x.device), A + 1, x)


def test_cupy(x):
    cupy = library("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"cupy finds no GPU: {error}")
    if x.device.kind != "cuda":
        pytest.skip("CuPy has no OpenCL")
    theirs = cupy.from_dlpack(x)
    theirs += 1
    same(xp.from_dlpack(theirs), A + 1, x)
    same(xp.asarray(theirs), x.get(), x)


def test_einops(x):
    """By its functions for the array API standard; the others know their libraries only."""
    library("einops")
    einops = library("einops.array_api")
    same(einops.rearrange(x, "a (b c) -> b a c", c=2), A.reshape(3, 2, 2).transpose(1, 0, 2), x)
    same(einops.reduce(x, "a b -> a", "sum"), A.sum(axis=1), x)
    same(einops.repeat(x, "a b -> a b c", c=2), np.repeat(A[..., None], 2, axis=2), x)
    packed, shapes = einops.pack([x, x[0]], "* b")
    same(packed, np.concatenate([A, A[:1]]), x)
    same(einops.unpack(packed, shapes, "* b")[0], A, x)


def test_xarray(x):
    xarray = library("xarray")
    ours, theirs = (xarray.DataArray(data, dims=("row", "column")) for data in (x, A))
    for work in (
        lambda d: (d * 2).mean("column"),
        lambda d: d.isel(row=1) - d,
        lambda d: d.T.where(d.T > 3, 0),
        lambda d: xarray.concat([d, d], "row").std(),
    ):
        same(work(ours).data, work(theirs).data, x)


def test_dask(x):
    library("dask")
    da = library("dask.array")
    ours, theirs = (da.from_array(data, chunks=(2, 2)) for data in (x, A))
    for work in (lambda d: (d + 1).sum(axis=0), lambda d: d @ d.T):
        same(work(ours).compute(scheduler="synchronous"), work(theirs).compute(), x)


# SciPy asks for its switch when it is imported, so these have a process of their own.
SWITCHED = """
import sys
import numpy as np
import pygpu
from pygpu import xp

a = np.arange(12, dtype=np.float32).reshape(3, 4)
xp.set_default_device(sys.argv[2])
x = xp.asarray(a)


def scipy():
    import scipy.special
    import scipy.stats
    yield scipy.special.erf(x), scipy.special.erf(a)
    yield scipy.special.logsumexp(x, axis=1), scipy.special.logsumexp(a, axis=1)
    yield scipy.stats.zscore(x), scipy.stats.zscore(a)
    import scipy.ndimage
    try:
        scipy.ndimage.gaussian_filter(x, 1)
    except TypeError as error:
        assert "allow_host_copies" in str(error), error
    else:
        raise AssertionError("scipy.ndimage took a device array")
    with pygpu.allow_host_copies():
        smooth = xp.asarray(scipy.ndimage.gaussian_filter(x, 1), device=x.device)
        yield smooth, scipy.ndimage.gaussian_filter(a, 1)


def sklearn():
    from sklearn import config_context
    from sklearn.preprocessing import StandardScaler
    with config_context(array_api_dispatch=True):
        yield StandardScaler().fit_transform(x), StandardScaler().fit_transform(a)


for got, want in globals()[sys.argv[1]]():
    assert type(got) is type(x) and got.device == x.device, type(got)
    np.testing.assert_allclose(got.get(), want, rtol=1e-4, atol=1e-6)
"""


@pytest.mark.slow  # imports, and kernels that nothing else needs
@pytest.mark.parametrize("name", ["scipy", "sklearn"])
def test_with_the_switch_of_scipy(x, name):
    library(name)
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", SWITCHED, name, x.device.kind],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
