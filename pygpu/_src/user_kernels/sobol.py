"""Direction numbers of Sobol sequences.

A dimension needs a primitive polynomial over GF(2) and odd initial numbers. Dimension 0 is the
sequence of van der Corput; the others take the primitive polynomials in order of their degree,
with initial numbers drawn from a fixed generator. Each dimension by itself, and so each interval
of 2**k numbers of it, is evenly distributed; the numbers are not those of other libraries, whose
initial numbers were searched for good projections to pairs of dimensions.
"""

from __future__ import annotations

import random
from functools import cache

import numpy as np


def _factors(n: int) -> list[int]:
    found, p = [], 2
    while p * p <= n:
        if n % p == 0:
            found.append(p)
            while n % p == 0:
                n //= p
        p += 1
    return [*found, n] if n > 1 else found


def _power(exponent: int, polynomial: int, degree: int) -> int:
    """x**exponent modulo the polynomial; bit k is the coefficient of x**k."""
    result, base = 1, 2
    if degree == 1:
        base ^= polynomial
    while exponent:
        if exponent & 1:
            result = _times(result, base, polynomial, degree)
        base = _times(base, base, polynomial, degree)
        exponent >>= 1
    return result


def _times(a: int, b: int, polynomial: int, degree: int) -> int:
    result = 0
    while b:
        if b & 1:
            result ^= a
        b >>= 1
        a <<= 1
        if a >> degree & 1:
            a ^= polynomial
    return result


def _is_primitive(polynomial: int, degree: int) -> bool:
    order = (1 << degree) - 1
    return _power(order, polynomial, degree) == 1 and all(
        _power(order // factor, polynomial, degree) != 1 for factor in _factors(order) if factor > 1
    )


@cache
def _numbers(dimension: int, bits: int) -> tuple[int, ...]:
    if dimension == 0:
        return tuple(1 << (bits - 1 - k) for k in range(bits))
    degree, polynomial = _polynomial(dimension)
    source = random.Random(dimension)
    m = [source.randrange(1 << k) * 2 + 1 for k in range(degree)]
    for k in range(degree, bits):
        value = m[k - degree] ^ m[k - degree] << degree
        for j in range(1, degree):
            if polynomial >> (degree - j) & 1:
                value ^= m[k - j] << j
        m.append(value)
    return tuple(m[k] << (bits - 1 - k) for k in range(bits))


_found: list[tuple[int, int]] = []


def _polynomial(dimension: int) -> tuple[int, int]:
    """(degree, polynomial) of a dimension from 1 on."""
    if len(_found) < dimension:
        degree, candidate = _found[-1] if _found else (0, 0)
        candidate = candidate + 2 if _found else 3
        degree = candidate.bit_length() - 1
        while len(_found) < dimension:
            if _is_primitive(candidate, degree):
                _found.append((degree, candidate))
            candidate += 2
            degree = candidate.bit_length() - 1
    return _found[dimension - 1]


def direction_numbers(count: int, bits: int) -> np.ndarray:
    """Return an array of shape (count, bits), uint32 or uint64."""
    dtype = np.uint32 if bits == 32 else np.uint64
    return np.array([_numbers(d, bits) for d in range(count)], dtype).reshape(count, bits)
