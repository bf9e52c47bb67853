"""How a transform is divided: into passes, stages of a pass, columns of a group.

The numbers were chosen by measurement: docs/design/arrays.md, benchmarks/fft.py.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product
from math import isqrt, prod
from typing import Any

from pygpu._src.util.frozen import Frozen

DIRECT_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)  # those with butterflies


class Tuning(Frozen):
    """Parameters that benchmarks/fft.py can vary.

    single: bytes of the longest line that one group transforms. column: bytes of the longest
    column if neighbouring columns are read together. together: bytes of neighbours that are read
    together. elements: roughly how many numbers a work-item holds. radix: the largest radix.
    least, threads: work-items per group. long: lines of more bytes, in single precision, use
    long_elements and long_radix instead. full: bytes of local memory up to which real and imaginary
    parts are exchanged at once.
    For CPUs: bytes of a vector, at most, of the longest line and of the longest column; the largest
    radix; the most factors between two passes that are a table; bytes of the longest line whose
    passes are one kernel, and of the longest one that has a single pass nevertheless.
    """

    single: int = 147456
    long: int = 32768
    long_elements: int = 32
    long_radix: int = 32
    column: int = 16384
    together: int = 64
    elements: int = 16
    radix: int = 16
    least: int = 128
    threads: int = 512
    full: int = 36864
    vector: int = 64
    cpu_single: int = 65536
    cpu_column: int = 8192
    cpu_radix: int = 8
    cpu_turns: int = 1 << 17
    cpu_joined: int = 1 << 20
    cpu_short: int = 8192


class Stages(Frozen):
    """The radices of a pass, and the work-items per column."""

    radices: tuple[int, ...]
    threads: int


@cache
def factors(n: int) -> tuple[int, ...]:
    """The prime factors, in order."""
    found, p = [], 2
    while n > 1 and p <= isqrt(n):
        while n % p == 0:
            found.append(p)
            n //= p
        p += 1
    if n > 1:
        found.append(n)
    return tuple(found)


def is_smooth(n: int) -> bool:
    """Whether it is a product of radices."""
    for p in DIRECT_PRIMES:
        while n % p == 0:
            n //= p
    return n == 1


@lru_cache(1024)
def convolution_length(n: int) -> int:
    """Return a fast transform length for Bluestein's convolution of n numbers."""
    least = 2 * n - 1
    best = 1 << (least - 1).bit_length()
    for odd in (3, 5, 9, 15, 25, 27, 45, 75, 81):
        m = odd << max((-(-least // odd) - 1).bit_length(), 0)
        if least <= m < best:
            best = m
    return best


def _splits(n: int, most: int, last: int) -> Any:
    """Yield ways to write n as a product of radices, the largest first."""
    if n == 1:
        yield ()
        return
    for radix in range(min(last, n), 1, -1):
        if n % radix == 0 and (radix <= most or radix in DIRECT_PRIMES):
            for rest in _splits(n // radix, most, radix):
                yield (radix, *rest)


@lru_cache(4096)
def stages(axes: tuple[int, ...], tuning: Tuning) -> Stages:
    """Return the radices of a pass over the axes of an image, one after another; a line is one
    axis."""
    n = prod(axes)
    if n == 1:
        return Stages((1,), 1)
    best, cost = None, 0.0
    most = max(tuning.radix, DIRECT_PRIMES[-1])
    splits = [list(_splits(length, tuning.radix, most)) for length in axes]
    for parts in product(*splits):
        radices = sum(parts, ())
        if best is not None and len(radices) > len(best.radices) + 1:
            continue
        wanted = {-(-(n // radix) // rounds) for radix in radices for rounds in (1, 2, 3, 4, 5, 8)}
        for threads in wanted | {min(tuning.threads, n)}:
            if threads > tuning.threads:
                continue
            rounds = [-(-(n // radix) // threads) for radix in radices]
            held = max(r * radix for r, radix in zip(rounds, radices, strict=True))
            idle = sum(
                r * threads * radix / n - 1 for r, radix in zip(rounds, radices, strict=True)
            ) / len(radices)
            now = len(radices) + idle + 0.15 * max(held - tuning.elements, 0)
            now += 0.001 * sum(r * r for r in radices) / len(radices)
            if best is None or now < cost:
                best, cost = Stages(radices, threads), now
    if best is None:
        raise ValueError(f"no stages of {axes} numbers with {tuning.threads} work-items")
    return best


def _near(n: int, wanted: float, most: int) -> int | None:
    """Return the divisor of n up to *most* that is nearest to a number."""
    best = None
    for d in range(1, isqrt(n) + 1):
        if n % d == 0:
            for x in (d, n // d):
                if x <= most and (best is None or abs(x - wanted) < abs(best - wanted)):
                    best = x
    return best


@lru_cache(4096)
def passes(n: int, single: int, column: int) -> tuple[int, ...]:
    """Return the lengths of the passes: one, or several that are at most *column*."""
    if n <= single:
        return (n,)
    for count in range(2, 8):
        if column**count < n:
            continue
        rest, found = n, []
        for left in range(count, 1, -1):
            part = _near(rest, rest ** (1 / left), column)
            if part is None:
                break
            found.append(part)
            rest //= part
        if rest <= column and prod(found) * rest == n:
            return tuple(sorted((*found, rest), reverse=True))
    raise ValueError(f"no passes for {n}")


def tuning_of(changes: dict[str, int]) -> Tuning:
    """Return the default numbers with some changes."""
    wrong = set(changes) - set(Tuning._names)
    if wrong:
        raise ValueError(f"Tuning has no {', '.join(sorted(wrong))}: {', '.join(Tuning._names)}")
    return Tuning(*(changes.get(name, getattr(Tuning, name)) for name in Tuning._names))
