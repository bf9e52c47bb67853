"""The way of data through an array: to the device, one operation, back."""

import numpy as np
import pytest

from pygpu._src.runtime import kernel_cache as kernels


def test_there_and_back(make):
    for host in (np.arange(12.0).reshape(3, 4), np.zeros((0, 3), np.int8), np.array(5, np.uint16)):
        for a in (host, np.asfortranarray(host), host[..., ::-1] if host.ndim else host):
            got = make(a).get()
            assert got.dtype == a.dtype and got.shape == a.shape
            np.testing.assert_array_equal(got, a)


@pytest.mark.parametrize("dtype", "bhilBHILefdFD")
def test_twice(make, dtype):
    a = np.arange(12).astype(dtype).reshape(3, 4)
    got = (2 * make(a)).get()
    assert got.dtype == a.dtype
    np.testing.assert_array_equal(got, 2 * a)


def test_broadcast(make):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    row, column = np.float32([1, 2, 3, 4]), np.float32([[10], [20], [30]])
    np.testing.assert_array_equal((make(a) + make(row) * make(column)).get(), a + row * column)
    with pytest.raises(ValueError, match="broadcast"):
        make(a) + make(row[:3])


def test_a_kernel_of_the_common_language(make):
    text = """
PG_DECLARE_VECTOR(pg_i32, 4)
PG_KERNEL void reverse(PG_ARRAY_IN(pg_i32, x), PG_ARRAY(pg_i32, y), pg_c64 z, pg_i64 n)
{
    PG_START_IN(pg_i32, x);
    PG_START(pg_i32, y);
    PG_LOCAL pg_i32 part[64];
    pg_u32 k = PG_LOCAL_ID(0);
    pg_i64 i = PG_ID(0);
    part[k] = i < n ? x[i] : 0;
    PG_BARRIER;
    if (i < n) {
        y[i] = part[63 - k] + (pg_i32)pg_c64_mul(z, z).re;
        pg_atomic_max_i32(y + n, y[i]);
    }
}
"""
    a = np.arange(129, dtype=np.int32)
    a[128] = 0
    x, y = make(a), make(a)
    backend = x.backend
    kernel = kernels.get(
        backend, ("test", "reverse"), lambda: (text, "reverse"), ("complex", "atomics")
    )
    args = (*backend.arguments(x), *backend.arguments(y), np.complex64(2 + 1j), 128)
    y._set_event(backend.launch(kernel, x.queue, 2, 64, args))
    expected = a[:128].reshape(2, 64)[:, ::-1].ravel() + 3
    assert y.get().tolist() == [*expected.tolist(), 130]
