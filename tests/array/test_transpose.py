"""Copies in another order of axes, which go through tiles."""

import numpy as np
import pytest

from tests.array.test_reduction import host


@pytest.mark.parametrize("dtype", ["?", "f2", "f4", "D"])
def test_transposed_copies(make, dtype):
    for shape in ((64, 64), (63, 130), (300, 17), (16, 1000)):
        a = host(dtype, shape)
        np.testing.assert_array_equal(make(a).T._copy(order="C").get(), a.T)
    a = host(dtype, (5, 40, 60))
    device = make(a)
    for order in ((0, 2, 1), (2, 1, 0), (1, 0, 2), (2, 0, 1)):
        copied = device.transpose(order)._copy(order="C")
        assert copied._c_contiguous
        np.testing.assert_array_equal(copied.get(), a.transpose(order))
    np.testing.assert_array_equal(
        device[:, ::-2, 3:].transpose(0, 2, 1)._copy(order="C").get(),
        a[:, ::-2, 3:].transpose(0, 2, 1),
    )


def test_into_a_part(make):
    a = host("f4", (100, 90))
    device, target = make(a), make(np.zeros((120, 130), np.float32))
    target[5:95, 7:107] = device.T
    want = np.zeros((120, 130), np.float32)
    want[5:95, 7:107] = a.T
    np.testing.assert_array_equal(target.get(), want)
