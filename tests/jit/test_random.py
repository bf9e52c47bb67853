"""Random numbers in kernels, against the generator in Python's integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pygpu import cuda
from pygpu.cuda import random as ours

MASK = (1 << 64) - 1


def _rotate(x: int, k: int) -> int:
    return (x << k | x >> (64 - k)) & MASK


def _next(state: list[int]) -> int:
    s0, s1 = state
    result = (s0 + s1) & MASK
    s1 ^= s0
    state[:] = _rotate(s0, 55) ^ s1 ^ (s1 << 14 & MASK), _rotate(s1, 36)
    return result


def _jump(state: list[int]) -> None:
    found = [0, 0]
    for word in ours._JUMP:
        for bit in range(64):
            if word >> bit & 1:
                found = [found[0] ^ state[0], found[1] ^ state[1]]
            _next(state)
    state[:] = found


@cuda.jit
def draw(states, bits, doubles, floats, normals, singles):
    i = cuda.grid(1)
    if i < bits.size:
        bits[i] = ours.xoroshiro128p_next(states, i)
        doubles[i] = ours.xoroshiro128p_uniform_float64(states, i)
        floats[i] = ours.xoroshiro128p_uniform_float32(states, i)
        normals[i] = ours.xoroshiro128p_normal_float64(states, i)
        singles[i] = ours.xoroshiro128p_normal_float32(states, i)


@pytest.mark.parametrize("start", [0, 5])
def test_states_give_numbas_numbers(cuda_context: Any, start: int) -> None:
    n = 11
    states = ours.create_xoroshiro128p_states(n, seed=1, subsequence_start=start)
    bits, doubles = np.zeros(n, np.uint64), np.zeros(n)
    floats, normals, singles = np.zeros(n, np.float32), np.zeros(n), np.zeros(n, np.float32)
    draw[1, 32](states, bits, doubles, floats, normals, singles)
    # The first word of SplitMix64 for the seed 1, twice, as Numba begins.
    state = [10451216379200822465, 10451216379200822465]
    for _ in range(start):
        _jump(state)
    last = states.copy_to_host()
    for i in range(n):
        own = list(state)
        assert int(bits[i]) == _next(own)
        assert doubles[i] == (_next(own) >> 11) / 2**53
        assert floats[i] == np.float32((_next(own) >> 11) / 2**53)
        u, v = ((_next(own) >> 11) / 2**53 for _ in range(2))
        right = math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)
        assert abs(normals[i] - right) < 1e-12
        u, v = ((_next(own) >> 11) / 2**53 for _ in range(2))
        right = math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)
        assert abs(singles[i] - right) < 1e-5
        assert [int(last[i]["s0"]), int(last[i]["s1"])] == own
        _jump(state)


def test_states(cuda_context: Any) -> None:
    assert ours.create_xoroshiro128p_states(0, seed=1).shape == (0,)
    one = ours.create_xoroshiro128p_states(3, seed=-2).copy_to_host()
    two = cuda.device_array(3, ours.xoroshiro128p_dtype)
    ours.init_xoroshiro128p_states(two, (1 << 64) - 2)
    assert (one == two.copy_to_host()).all()
    for bad in ({"n": -1}, {"n": 2, "subsequence_start": -1}):
        with pytest.raises(ValueError, match="cannot be negative"):
            ours.create_xoroshiro128p_states(**{"seed": 1, **bad})


@cuda.jit
def shift(a, steps):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(steps):
        neighbour = a[(i + 1) % a.size]
        grid.sync()
        a[i] = neighbour
        grid.sync()


def test_grid_barrier(cuda_context: Any) -> None:
    a = cuda.to_device(np.arange(96))
    shift[3, 32](a, 5)
    shift[3, 32](a, 5)  # a second call is cooperative as well
    assert (a.copy_to_host() == np.roll(np.arange(96), -10)).all()
    made = next(iter(shift.overloads.values()))
    assert made.max_cooperative_grid_blocks(32) >= 3
