"""Random numbers in kernels, under the names of ``numba.cuda.random``: the generator xoroshiro128+.

Each thread has a state of 128 bits, a record of an array on the device. States are 2**64 numbers
apart, so streams of threads do not overlap. The numbers are Numba's.

>>> import numpy as np
>>> from pygpu import cuda
>>> from pygpu.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32
>>> @cuda.jit
... def fill(states, out):
...     i = cuda.grid(1)
...     out[i] = xoroshiro128p_uniform_float32(states, i)
>>> states = create_xoroshiro128p_states(64, seed=1)
>>> out = cuda.device_array(64, np.float32)
>>> fill[2, 32](states, out)
>>> host = out.copy_to_host()
>>> bool(0 <= host.min() and host.max() <= 1 and 0.3 < host.mean() < 0.7)
True
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from pygpu._src.jit import cuda_arrays

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "xoroshiro128p_dtype",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_type",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

xoroshiro128p_dtype: np.dtype[Any] = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
xoroshiro128p_type = xoroshiro128p_dtype

_MASK = (1 << 64) - 1
_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
_SMALLEST = 1 / (1 << 53)
_TWO_PI = 2 * math.pi


# ---- on the host: where the states begin


def _rotate(x: Any, k: int) -> Any:
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


def _jump(s0: np.ndarray, s1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All states 2**64 numbers on."""
    t0, t1 = np.zeros_like(s0), np.zeros_like(s1)
    for word in _JUMP:
        for bit in range(64):
            if word >> bit & 1:
                t0, t1 = t0 ^ s0, t1 ^ s1
            s1 = s1 ^ s0
            s0, s1 = _rotate(s0, 55) ^ s1 ^ (s1 << np.uint64(14)), _rotate(s1, 36)
    return t0, t1


class _Linear:
    """A linear map of the 128 bits of states: for each byte of a state, what its values give."""

    def __init__(self, columns: tuple[np.ndarray, np.ndarray]) -> None:
        self.columns = columns  # what each of the bits gives
        self.tables = []
        for byte in range(16):
            table = np.zeros((2, 256), np.uint64)
            for bit in range(8):
                ones = (np.arange(256) >> bit & 1).astype(bool)
                for part in range(2):
                    table[part, ones] ^= columns[part][8 * byte + bit]
            self.tables.append(table)

    def __call__(self, s0: np.ndarray, s1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = np.zeros_like(s0), np.zeros_like(s1)
        for byte, table in enumerate(self.tables):
            word = s0 if byte < 8 else s1
            index = (word >> np.uint64(8 * (byte % 8))) & np.uint64(255)
            for part in range(2):
                found[part][...] ^= table[part][index]
        return found


_powers: list[_Linear] = []


def _jumps(power: int) -> _Linear:
    """2**power jumps."""
    if not _powers:
        one, none = np.uint64(1) << np.arange(64, dtype=np.uint64), np.zeros(64, np.uint64)
        _powers.append(_Linear(_jump(np.concatenate([one, none]), np.concatenate([none, one]))))
    while len(_powers) <= power:
        last = _powers[-1]
        _powers.append(_Linear(last(*last.columns)))
    return _powers[power]


def _first_word(seed: int) -> int:
    """A word of SplitMix64, which both halves of Numba's first state are."""
    z = (seed + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _states(call: str, n: Any, seed: Any, start: Any) -> np.ndarray:
    """The states; *call* is for messages. Raises TypeError, ValueError for wrong arguments."""
    for name, given in (("n", n), ("seed", seed), ("subsequence_start", start)):
        if not hasattr(given, "__index__"):
            raise TypeError(f"{call}: {name} must be an integer, not {given!r}")
    n, seed, start = operator.index(n), operator.index(seed), operator.index(start)
    if n < 0 or start < 0:
        raise ValueError(f"{call}: n and subsequence_start cannot be negative")
    first = second = np.array([_first_word(seed & _MASK)], np.uint64)
    power = 0
    while start >> power:
        if start >> power & 1:
            first, second = _jumps(power)(first, second)
        power += 1
    power = 0
    while first.size < n:  # as many again, each 2**power jumps on
        more = _jumps(power)(first, second)
        first, second = np.concatenate([first, more[0]]), np.concatenate([second, more[1]])
        power += 1
    found = np.empty(n, xoroshiro128p_dtype)
    found["s0"], found["s1"] = first[:n], second[:n]
    return found


def init_xoroshiro128p_states(
    states: Any, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> None:
    """Set the states of an array on the device anew; see create_xoroshiro128p_states."""
    call = "init_xoroshiro128p_states"
    is_array = hasattr(states, "copy_to_device") and len(states.shape) == 1
    if not is_array or states.dtype != xoroshiro128p_dtype:
        raise TypeError(f"{call}: states must be an array of create_xoroshiro128p_states")
    states.copy_to_device(_states(call, states.shape[0], seed, subsequence_start), stream)


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> Any:
    """A device array of *n* states, one for each thread. seed: which sequence of them; the first
    is *subsequence_start* * 2**64 numbers after its begin."""
    made = _states("create_xoroshiro128p_states", n, seed, subsequence_start)
    return cuda_arrays.to_device(made, stream)


# ---- in kernels


def _left(x: Any, k: Any) -> Any:
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


def xoroshiro128p_next(states: Any, index: Any) -> Any:
    """64 random bits (uint64) of state *index*, which goes on by one."""
    s0 = states[index].s0
    s1 = states[index].s1
    result = s0 + s1
    s1 ^= s0
    states[index].s0 = _left(s0, 55) ^ s1 ^ (s1 << np.uint64(14))
    states[index].s1 = _left(s1, 36)
    return result


def xoroshiro128p_uniform_float64(states: Any, index: Any) -> Any:
    """A float64 uniform in [0, 1)."""
    return np.float64(xoroshiro128p_next(states, index) >> np.uint64(11)) * np.float64(_SMALLEST)


def xoroshiro128p_uniform_float32(states: Any, index: Any) -> Any:
    """A float32 uniform in [0, 1]: the float64 number, rounded."""
    return np.float32(xoroshiro128p_uniform_float64(states, index))


def xoroshiro128p_normal_float64(states: Any, index: Any) -> Any:
    """A normally distributed float64 of mean 0 and standard deviation 1, by Box and Muller."""
    u = xoroshiro128p_uniform_float64(states, index)
    v = xoroshiro128p_uniform_float64(states, index)
    u = max(u, np.float64(_SMALLEST))
    return math.sqrt(np.float64(-2.0) * math.log(u)) * math.cos(np.float64(_TWO_PI) * v)


def xoroshiro128p_normal_float32(states: Any, index: Any) -> Any:
    """A normally distributed float32 of mean 0 and standard deviation 1, by Box and Muller."""
    u = xoroshiro128p_uniform_float32(states, index)
    v = xoroshiro128p_uniform_float32(states, index)
    u = max(u, np.float32(_SMALLEST))
    return math.sqrt(np.float32(-2.0) * math.log(u)) * math.cos(np.float32(_TWO_PI) * v)
