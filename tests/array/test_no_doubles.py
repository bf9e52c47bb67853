"""Arrays of float64 on a device that lacks double precision: here one that is said to."""

from __future__ import annotations

import numpy as np
import pytest

import pygpu as cl
import pygpu.array
from pygpu._src.codegen.dialect import OpenCLDialect
from pygpu._src.runtime.backend import Limits
from pygpu._src.runtime.backends import backend_of


@pytest.fixture
def queue(device):
    queue = cl.CommandQueue(cl.Context([device]))
    backend = backend_of(queue)
    known = {name: getattr(backend.limits, name) for name in Limits.__annotations__}
    backend.limits = Limits(**{**known, "fp64": False})
    backend.dialect = OpenCLDialect(backend.limits)
    return queue


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_items_can_be_copied_whatever_the_layout(queue, dtype):
    host = np.arange(24, dtype=dtype).reshape(4, 6) / 7
    array = pygpu.array.to_device(queue, host)
    assert (array[::2, 1::3].get() == host[::2, 1::3]).all()
    assert (array.T.copy().get() == host.T).all()
    array[1:3] = array[2:4]
    host[1:3] = host[2:4].copy()
    assert (array.get() == host).all()


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda a: a + a, id="add"),
        pytest.param(lambda a: a.astype(np.float32), id="astype"),
        pytest.param(lambda a: a.fill(3), id="fill"),
        pytest.param(lambda a: np.sum(a), id="sum"),
        pytest.param(lambda a: np.maximum.reduceat(a, [0, 3]), id="reduceat"),
        pytest.param(lambda a: a @ a, id="matmul"),
    ],
)
def test_computing_raises_a_type_error_that_says_so(queue, work):
    array = pygpu.array.to_device(queue, np.arange(10.0))
    with pytest.raises(TypeError, match="no double precision"):
        work(array)


def test_transforms_of_single_precision_run_and_others_say_why_not(queue):
    a = np.random.default_rng(0).standard_normal((3, 20)).astype(np.float32)
    array = pygpu.array.to_device(queue, a)
    np.testing.assert_allclose(np.fft.rfft(array).get(), np.fft.rfft(a), atol=1e-5)
    if not array.backend.transforms:  # NumPy's, which can do it
        return
    for wide in (np.float64, np.int32):
        with pytest.raises(TypeError, match="no double precision"):
            np.fft.fft(pygpu.array.to_device(queue, a.astype(wide)))
