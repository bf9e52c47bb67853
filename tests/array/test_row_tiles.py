"""The kernel over rows: operands that are broadcast or have gaps, on GPUs and the simulator."""

from __future__ import annotations

import numpy as np
import pytest

from pygpu._src.array import elementwise
from pygpu._src.codegen.kernels import row_tiles as tiles_text

SHAPES = ((7, 40), (3, 4, 129), (2, 3, 5, 64), (600, 33))


@pytest.fixture
def rows(cuda_context, monkeypatch):
    """to_gpu, and a list that tells of each launch whether it was by rows."""
    from pygpu.cuda.gpuarray import to_gpu

    used, tiles = [], elementwise._tiles

    def spy(*args):
        launch = tiles(*args)
        used.append(launch is not None)
        return launch

    monkeypatch.setattr(elementwise, "_tiles", spy)
    cuda_context.push()
    yield to_gpu, used
    type(cuda_context).pop()


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1"])
def test_against_numpy(rows, dtype):
    to_gpu, used = rows
    for shape in SHAPES if dtype == "f4" else SHAPES[:2]:
        h = (np.arange(np.prod(shape)).reshape(shape) % 23).astype(dtype)
        column, row = h[..., :1].copy(), h[(0,) * (h.ndim - 1)].copy()
        a, c, r = to_gpu(h), to_gpu(column), to_gpu(row)
        a.backend.table.plans.clear()  # what C has remembered of an earlier test
        used.clear()
        assert ((a + c).get() == h + column).all()
        assert ((c + r).get() == column + row).all()
        assert ((a[..., 3:] + c).get() == h[..., 3:] + column).all()
        assert ((a[..., 1:-1] - a[..., 2:]).get() == h[..., 1:-1] - h[..., 2:]).all()
        a[..., 1:] += c
        h[..., 1:] += column
        assert (a.get() == h).all()
        assert ((a > c).get() == (h > column)).all()
        assert ((a[::-1] + c + 2).get() == h[::-1] + column + 2).all()
        assert (np.maximum(a, c).get() == np.maximum(h, column)).all()
        assert used.count(True) >= 6


@pytest.mark.parametrize("dtype", ["f4", "i1", "f8", "?"])
@pytest.mark.parametrize("n", [1, 5, 1023, 1024, 1025, 4099])
def test_contiguous_operands_that_are_not_aligned_for_vectors(rows, dtype, n):
    """Of sizes around what a group processes at a time."""
    to_gpu, _ = rows
    h = (np.arange(n + 3) % 23).astype(dtype)
    a = to_gpu(h)
    for begin in (0, 1, 3):
        x, y = a[begin : begin + n], h[begin : begin + n]
        assert (np.maximum(x, 1).get() == np.maximum(y, 1)).all()
        assert ((x == x).get() == (y == y)).all()
    out, expected = to_gpu(np.zeros(n + 3, dtype)), np.zeros(n + 3, dtype)
    np.maximum(a[1 : n + 1], a[2 : n + 2], out=out[2 : n + 2])
    np.maximum(h[1 : n + 1], h[2 : n + 2], out=expected[2 : n + 2])
    assert (out.get() == expected).all()


def test_float16_arithmetic_rounds_its_inputs(rows):
    to_gpu, used = rows
    h = np.full((7, 40), 2049, np.float32)  # 2048 as float16
    a, row = to_gpu(h), to_gpu(np.ones(40, np.float32))
    got = np.add(a, row, dtype=np.float16, casting="unsafe").get()
    assert used == [True]
    assert (got == np.add(h, np.float32(1), dtype=np.float16, casting="unsafe")).all()


def test_what_it_is_not_for(rows):
    to_gpu, used = rows
    a = to_gpu(np.ones((40, 50), np.float32))
    a.backend.table.plans.clear()
    assert ((a.T + a[0, 0]).get() == 2).all() and not any(used)
    assert ((a[:, ::2] + a[:, :1]).get() == 2).all()
    assert ((a[:, :20] + a[:, 20:40]).get() == 2).all()
    assert not any(used)


def test_groups_cover_all_rows_and_items():
    for n_rows, length, vector in (
        (1, 32, 1),
        (8192, 8192, 4),
        (1 << 20, 33, 16),
        (3, 10**9, 4),
        (1 << 33, 40, 2),
    ):
        (gx, gy), (x, y) = tiles_text.shape_of_group(n_rows, length, vector)
        assert x * y == 256 and 1 <= gy <= 65535 and gx < 1 << 31
        assert gx * x * vector >= length or gx == 1 << 20
        rows = gy * y  # at a time
        assert rows * 8 >= n_rows or gy == 65535
        assert rows >= n_rows or gy == 65535 or gx * gy >= 8192 // 2
        assert (gx - 1) * x * vector < length and (gy - 1) * y < n_rows
