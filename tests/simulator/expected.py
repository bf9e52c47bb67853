"""What the kernels in kernels/*.cu should compute: functions for the expressions there."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def shuffle_up(width: int, delta: int) -> np.ndarray:
    """Lane that each of 32 lanes reads."""
    lane = np.arange(32)
    return np.where(lane % width >= delta, lane - delta, lane)


def shuffle_down(width: int, delta: int) -> np.ndarray:
    lane = np.arange(32)
    return np.where(lane % width + delta < width, lane + delta, lane)


def shuffle_xor(width: int, mask: int) -> np.ndarray:
    """Lanes of later segments cannot be read."""
    lane = np.arange(32)
    return np.where((lane ^ mask) <= (lane | (width - 1)), lane ^ mask, lane)


def each(function, values) -> np.ndarray:
    return np.array([function(float(v)) for v in values])


def ieee_remainder(x: float, y: float) -> float:
    return math.remainder(x, y)


def normal_cdf(x: float) -> float:
    """The integral of the normal density up to x: erfc, with the bits its argument has lost."""
    exact = Fraction(float(x)) * Fraction(-0.70710678118654752440)
    argument = float(exact)
    lost = float(exact - Fraction(argument)) + 4.833646656726457e-17 * x
    slope = -2 / math.sqrt(math.pi) * math.exp(-argument * argument)
    return 0.5 * (math.erfc(argument) + slope * lost)


def _series(n: int, x: float, sign: int) -> float:
    """(x/2)^n sum of (sign x^2/4)^k / (k! (n+k)!), in exact arithmetic up to the last step."""
    u = Fraction(x) ** 2 / 4
    term = (Fraction(x) / 2) ** n / math.factorial(n)
    total, k = term, 0
    while abs(term) > Fraction(1, 10**25) * (abs(total) + Fraction(1, 10**15)) or k < abs(x):
        k += 1
        term = Fraction(int(term * sign * u / (k * (n + k)) * 2**200), 2**200)
        total += term
    return float(total)


def bessel_j(n: int, x) -> np.ndarray:
    return np.array([_series(n, float(v), -1) for v in x])


def bessel_i(n: int, x) -> np.ndarray:
    return np.array([_series(n, float(v), 1) for v in x])


def signed(value: int, bits: int) -> int:
    """The number that the lowest bits mean in two's complement."""
    value %= 2**bits
    return value - 2**bits if value >= 2 ** (bits - 1) else value


def _rounded(exact: Fraction, digits: int, mode: str) -> float:
    """exact with that many binary digits (no overflow, no subnormals); mode: n, d, u or z."""
    if exact == 0:
        return 0.0
    power = math.frexp(float(exact))[1] - digits
    for _ in range(2):
        scaled = exact / Fraction(2) ** power
        if abs(scaled) >= 2**digits:
            power += 1
        elif abs(scaled) < 2 ** (digits - 1):
            power -= 1
    scaled = exact / Fraction(2) ** power
    down, up = math.floor(scaled), math.ceil(scaled)
    whole = {"n": round(scaled), "d": down, "u": up, "z": down if exact > 0 else up}[mode]
    return math.ldexp(whole, power)


def _root(x: Fraction, digits: int, mode: str) -> float:
    scale = 4**300
    root = math.isqrt(x.numerator * scale * x.denominator)
    exact = Fraction(root, x.denominator * 2**300)
    if exact * exact != x:  # between two numbers of 2^-300: on neither side of a rounding
        exact += Fraction(1, x.denominator * 2**302)
    return _rounded(exact, digits, mode)


def directed(a, b, c, digits: int) -> np.ndarray:
    """Sum, difference, product, quotient, reciprocal, root and a b + c, rounded in four ways."""
    result = []
    rows = list(zip(*([Fraction(float(v)) for v in array] for array in (a, b, c)), strict=True))
    for function in (
        lambda x, y, z: x + y,
        lambda x, y, z: x - y,
        lambda x, y, z: x * y,
        lambda x, y, z: x / y,
        lambda x, y, z: 1 / x,
        None,
        lambda x, y, z: x * y + z,
    ):
        for mode in "nduz":
            if function is None:
                result.append([_root(abs(x), digits, mode) for x, _, _ in rows])
            else:
                result.append([_rounded(function(*row), digits, mode) for row in rows])
    return np.array(result).reshape(7, 4, -1)


def to_integers(x) -> np.ndarray:
    """int, unsigned, long long, unsigned long long; to nearest, to zero, up, down; as long long."""
    limits = [(-(2**31), 2**31 - 1), (0, 2**32 - 1), (-(2**63), 2**63 - 1), (0, 2**64 - 1)]
    roundings = (round, math.trunc, math.ceil, math.floor)
    return np.array(
        [
            [[signed(min(max(f(float(v)), low), high), 64) for v in x] for f in roundings]
            for low, high in limits
        ]
    )


def from_integers(x, digits: int) -> np.ndarray:
    """long long, unsigned long long; to nearest, to zero, up, down."""
    values = [[int(v) for v in x], [int(v) % 2**64 for v in x]]
    return np.array(
        [[[_rounded(Fraction(v), digits, m) for v in row] for m in "nzud"] for row in values]
    )


def lanes(a, b, count: int) -> np.ndarray:
    """What the functions on two or four parts of a word give, in the order of integers.cu."""
    unsigned = {2: np.uint16, 4: np.uint8}[count]
    low, high = (-(2**15), 2**15 - 1) if count == 2 else (-128, 127)
    width = 2 ** (32 // count)
    s, t = (v.view(f"i{4 // count}").astype(int) for v in (a, b))
    u, v = (v.view(unsigned).astype(int) for v in (a, b))
    ones = width - 1
    rows = [
        u + v,
        u - v,
        np.clip(s + t, low, high),
        np.clip(s - t, low, high),
        np.minimum(u + v, ones),
        np.maximum(u - v, 0),
        np.abs(s - t),
        np.abs(u - v),
        np.maximum(s, t),
        np.minimum(u, v),
        (s + t + (s + t >= 0)) >> 1,
        (u + v + 1) >> 1,
        np.where(u == v, ones, 0),
        np.where(s > t, ones, 0),
        np.where(u < v, ones, 0),
        np.where(s >= t, 1, 0),
        (u + v) >> 1,
        np.abs(s),
        np.clip(-s, low, high),
    ]
    words = [(row % width).astype(unsigned).view(np.uint32) for row in rows]
    return np.array([*words, np.abs(u - v).reshape(-1, count).sum(1)])


def half_ties(count: int) -> np.ndarray:
    """Numbers halfway between two neighbours in float16."""
    codes = np.linspace(1, 0x7BFE, count).astype(np.uint16)
    low, high = codes.view(np.float16), (codes + np.uint16(1)).view(np.float16)
    return (low.astype(float) + high.astype(float)) / 2


def to_half(x) -> np.ndarray:
    with np.errstate(over="ignore"):
        return x.astype(np.float16)


def half_fma(a, b, c) -> np.ndarray:
    """a b + c, rounded once: doubles hold products of halves, Fractions the sums."""
    shape, result = a.shape, []
    for x, y, z in zip(a.ravel(), b.ravel(), c.ravel(), strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        unit = Fraction(2) ** max(math.frexp(float(exact))[1] - 11, -24)
        result.append(float(round(exact / unit) * unit))
    return np.array(result).astype(np.float16).reshape(shape)


def to_bfloat16(x) -> np.ndarray:
    """The upper halves of floats, rounded to nearest even; no NaNs."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def bf(x) -> np.ndarray:
    return (x.astype(np.uint32) << 16).view(np.float32)


def xorwow(seed: int, sequence: int, offset: int, count: int) -> list[int]:
    """G. Marsaglia's generator with cuRAND's seeding, without jumps: sequence must be 0."""
    assert sequence == 0
    low = 1099087573 * ((seed & 0xFFFFFFFF) ^ 0xAAD26B49) % 2**32
    high = 2591861531 * ((seed >> 32) ^ 0xF7DCEFDD) % 2**32
    d = (6615241 + high + low) % 2**32
    v = [123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low]
    v = [word % 2**32 for word in v]
    result = []
    for _ in range(offset + count):
        t = v[0] ^ v[0] >> 2
        last = v[4] ^ v[4] << 4 ^ t ^ t << 1
        v = [*v[1:], last % 2**32]
        d = (d + 362437) % 2**32
        result.append((v[4] + d) % 2**32)
    return result[offset:]


def philox(counter: int, key: int = 0) -> list[int]:
    """Philox4x32-10 of J. K. Salmon et al., 2011."""
    c = [counter >> 32 * i & 0xFFFFFFFF for i in range(4)]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q % 2**32, p >> 32 ^ c[3] ^ k[1], p % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def filtered(texels, x) -> np.ndarray:
    """Linear filtering at x with clamping; exact weights."""
    at = np.asarray(x, float) - 0.5
    first = np.floor(at)
    weight = at - first
    low, high = (np.clip(first + i, 0, len(texels) - 1).astype(int) for i in (0, 1))
    return texels[low] * (1 - weight) + texels[high] * weight


def shift(x: int, n, bits: int) -> np.ndarray:
    """x shifted left by n, or right where n is negative, in so many bits; as signed numbers."""
    shifted = [x << i if i >= 0 else x >> -i for i in map(int, n)]
    half = 1 << (bits - 1)
    return np.array([(value + half) % (2 * half) - half for value in shifted], np.int64)


def saturated(x, low: int, high: int) -> np.ndarray:
    """Numbers without their fraction, not below low nor above high; 0 for NaN. 64 bits, wrapped."""
    cut = [0 if v != v else low if v <= low else high if v >= high else int(v) for v in x.tolist()]
    return np.array([(v + 2**63) % 2**64 - 2**63 for v in cut], np.int64)


def s32(x) -> np.ndarray:
    return saturated(x, -(2**31), 2**31 - 1)


def u32(x) -> np.ndarray:
    return saturated(x, 0, 2**32 - 1)
