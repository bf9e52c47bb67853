"""Functions of warps, on CUDA and on OpenCL devices that have warps; others refuse them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import KernelError, cuda
from pygpu._src.jit.calls import opencl_warps

FULL = 0xFFFFFFFF


@pygpu.kernel
def shuffles(i, f, d, b, h, out):
    t = cuda.threadIdx.x
    out[0, t] = cuda.shfl_sync(-1, i[t], 5)
    out[1, t] = cuda.shfl_up_sync(-1, f[t], 3)
    out[2, t] = cuda.shfl_down_sync(-1, d[t], 2)
    out[3, t] = cuda.shfl_xor_sync(-1, np.int64(i[t]) << 40, 7) >> 40
    out[4, t] = cuda.shfl_xor_sync(-1, b[t], 1)
    out[6, t] = cuda.shfl_up_sync(-1, h[t], 3)
    x = f[t]
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(-1, x, step)
    out[5, t] = cuda.shfl_sync(-1, x, 0)


@pygpu.kernel
def votes(i, d, out):
    t = cuda.threadIdx.x
    out[0, t] = cuda.ballot_sync(-1, i[t] % 3 == 0)
    out[1, t] = cuda.all_sync(-1, i[t] < 40)
    out[2, t] = cuda.any_sync(-1, i[t] == 40)
    out[3, t] = cuda.match_any_sync(-1, i[t] // 8)
    out[4, t] = cuda.match_any_sync(-1, d[t] // 16)
    same, is_same = cuda.match_all_sync(-1, i[t] // 32)
    out[5, t] = same
    out[6, t] = is_same
    out[7, t] = cuda.eq_sync(-1, i[t] < 32)
    out[8, t] = cuda.activemask()
    out[9, t] = cuda.laneid + 100 * cuda.warpsize
    out[10, t] = cuda.lanemask_lt()
    if t % 32 < 16:
        out[11, t] = cuda.ballot_sync(0xFFFF, t % 2 == 1)
        cuda.syncwarp(0xFFFF)
    cuda.nanosleep(10)
    cuda.syncwarp()


def has_warps(make: Any) -> bool:
    return make.name == "cuda" or bool(make(np.zeros(1)).backend.limits.warps)


def test_shuffles(make: Any) -> None:
    i = np.arange(64, dtype="i4") + 1
    f, d, b = i.astype("f4"), i * 1e100, i.astype("i1")
    out = make(np.zeros((7, 64)))
    given = [make(x) for x in (i, f, d, b, i.astype("f2"))]
    if not has_warps(make):
        with pytest.raises(KernelError, match="shfl_sync: of OpenCL devices only NVIDIA's have"):
            shuffles[1, 64](*given, out)
        return
    shuffles[1, 64](*given, out)
    lane, first = np.arange(64) % 32, np.arange(64) // 32 * 32
    right = [
        i[first + 5],
        np.where(lane < 3, i, i - 3),
        np.where(lane > 29, i, i + 2) * 1e100,
        i[first + (lane ^ 7)],
        i[first + (lane ^ 1)],
        i.reshape(2, 32).sum(1)[first // 32],
        np.where(lane < 3, i, i - 3),
    ]
    assert out.get().tolist() == np.array(right, float).tolist()


def test_votes(make: Any) -> None:
    i = np.arange(64, dtype="i4")
    out = make(np.zeros((12, 64)))
    if not has_warps(make):
        with pytest.raises(KernelError, match="ballot_sync: of OpenCL devices only NVIDIA's have"):
            votes[1, 64](make(i), make(i.astype(float)), out)
        return
    votes[1, 64](make(i), make(i.astype(float)), out)
    got = out.get()
    lane, warp = i % 32, i // 32
    threes = [sum(1 << k for k in range(32) if (32 * w + k) % 3 == 0) for w in (0, 1)]
    assert got[0].tolist() == np.array(threes, float)[warp].tolist()
    assert got[1].tolist() == (warp == 0).tolist() and got[2].tolist() == (warp == 1).tolist()
    assert got[3].tolist() == [0xFF << int(k) // 8 * 8 for k in lane]
    assert got[4].tolist() == [0xFFFF << int(k) // 16 * 16 for k in lane]
    assert (got[5] == FULL).all() and (got[6] == 1).all() and (got[7] == 1).all()
    assert (got[9] == lane + 3200).all()
    assert got[10].tolist() == [(1 << int(k)) - 1 for k in lane]
    assert got[11].tolist() == np.where(lane < 16, 0xAAAA, 0).tolist()


@pytest.mark.parametrize("code", ["i32", "f32", "u64", "f64", "b8"])
def test_opencl_functions_define_what_they_call(code: str) -> None:
    texts: dict[str, str] = {}
    for name in ("shfl_sync", "match_any_sync", "match_all_sync", "ballot_sync", "all_sync"):
        assert opencl_warps.function(texts, name, code) in texts
    known: set[str] = set()
    for full, text in texts.items():  # in the order in which C needs them
        called = {word for word in text.replace("(", " ").split() if word.startswith("pgw_")}
        assert called - {full} <= known, full
        known.add(full)
