"""What generated kernels do for the faults of drivers' compilers, on any driver."""

from __future__ import annotations

import numpy as np
import pytest

import pygpu as cl
import pygpu.array as cla
from pygpu._src.runtime.opencl import backend as backends
from pygpu._src.runtime.opencl import quirks
from pygpu.random import default_rng


@pytest.fixture(scope="module")
def queue(device: cl.Device) -> cl.CommandQueue:
    """A queue of a device that is taken for one with the faults, those of speed excepted."""
    wanted = quirks.NO_CASTS_OF_BYTES, quirks.LOSES_LONG_LOOPS, quirks.MISCOMPILES_REJECTION
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quirks, "has", lambda device, quirk: quirk in wanted)
        queue = cl.CommandQueue(cl.Context([device]))
        with pytest.warns(RuntimeWarning, match="ends loops after 65535 rounds"):
            backend = backends.backend_of(queue)
    assert not backend._casts_bytes and backend.limits.share < 4096 < backend.limits.units * 8
    return queue


def test_addresses_have_a_type_of_their_own():
    source = "(PG_GLOBAL const char *)a + (PG_GLOBAL char *)b; char c; PG_LOCAL char *d;"
    changed = "(PG_GLOBAL const pg_byte *)a + (PG_GLOBAL pg_byte *)b; char c; PG_LOCAL char *d;"
    assert quirks.without_bytes(source).splitlines()[1:] == [changed]


@pytest.mark.parametrize("dtype", ["i1", "F"])
def test_kernels_with_such_addresses(queue, dtype):
    rng = np.random.default_rng(0)
    a = (rng.integers(-9, 9, (40, 30)) * (1 + 2j if dtype == "F" else 1)).astype(dtype)
    x = cla.to_device(queue, a)
    np.testing.assert_array_equal((x.T[::-1] + x.T).get(), a.T[::-1] + a.T)
    np.testing.assert_array_equal(x[x.real > 2].get(), a[a.real > 2])
    np.testing.assert_array_equal(np.cumsum(x, axis=1).get(), np.cumsum(a, axis=1))


@pytest.mark.parametrize("shape", [(100, 1000), (9, 75, 85), (16, 2, 2)])
def test_many_work_items_share_a_reduction(queue, shape):
    a = np.random.default_rng(0).integers(-99, 99, shape, np.int32)
    x = cla.to_device(queue, a)
    for axis in (0, 1, None):
        np.testing.assert_array_equal(x.sum(axis=axis).get(), a.sum(axis=axis))


def test_distributions_that_would_be_wrong_are_refused(queue):
    generator = default_rng(1, device=queue)
    for name, parameters in {
        "poisson": (50.0,),
        "binomial": (100, 0.5),
        "hypergeometric": (20, 30, 10),
        "negative_binomial": (5, 0.4),
        "zipf": (3.0,),
        "noncentral_chisquare": (2.0, 3.0),
        "multinomial": (9, [0.5, 0.5]),
        "multivariate_hypergeometric": ([4, 5], 3),
    }.items():
        with pytest.raises(NotImplementedError, match=f"{name}: the driver of .* wrong numbers"):
            getattr(generator, name)(*parameters, size=9)
    assert generator.standard_gamma(3.0, size=9).get().min() > 0


def test_error_of_a_kernel_is_not_taken_for_missing_doubles(queue):
    with pytest.raises(cl.RuntimeError, match="undeclared"):
        backends.backend_of(queue).compile("__kernel void k(void) { undeclared; }")
