"""Butterflies: the transforms of 2 to 32 numbers in registers, as straight-line C.

A composite length is split according to Cooley and Tukey (An algorithm for the machine calculation
of complex Fourier series, 1965), or, if both parts are coprime, without factors between them: Good
(1958) and Thomas (1963), the prime-factor algorithm. An odd prime is summed directly, by pairs of
inputs x[k], x[p-k], which share their factors.
"""

from __future__ import annotations

from math import gcd, isqrt

import numpy as np

Value = tuple[str, str]


def root(m: int, n: int) -> tuple[np.longdouble, np.longdouble]:
    """The real and imaginary part of exp(-2 pi i m / n). Integer arithmetic first reduces the
    angle to below an eighth of a turn, so the result is as accurate as the sine there."""
    m %= n
    flip = 2 * m > n
    if flip:
        m = n - m
    left = 4 * m > n
    if left:  # the second quarter, in halves: 2m of 2n
        m, n = n - 2 * m, 2 * n
    swap = 8 * m > n
    if swap:
        m, n = n - 4 * m, 4 * n
    angle = _TURN * np.longdouble(m) / np.longdouble(n)
    c, s = np.cos(angle), np.sin(angle)
    if swap:
        c, s = s, c
    return (-c if left else c), (s if flip else -s)


_TURN = 8 * np.arctan(np.longdouble(1))


def _prime_factor(n: int) -> int:
    return next((p for p in range(2, isqrt(n) + 1) if n % p == 0), n)


class _Lines:
    """A list of statements, each of which defines one number."""

    def __init__(self, suffix: str) -> None:
        self.text: list[str] = []
        self.suffix = suffix

    def let(self, expression: str) -> str:
        name = f"t{len(self.text)}"
        self.text.append(f"    const fft_lanes {name} = {expression};")
        return name

    def number(self, value: np.longdouble) -> str:
        text = np.format_float_scientific(value, precision=20, unique=False)
        return f"({text}{self.suffix})"

    def add(self, a: Value, b: Value) -> Value:
        return self.let(f"{a[0]} + {b[0]}"), self.let(f"{a[1]} + {b[1]}")

    def sub(self, a: Value, b: Value) -> Value:
        return self.let(f"{a[0]} - {b[0]}"), self.let(f"{a[1]} - {b[1]}")

    def turned(self, a: Value, m: int, n: int) -> Value:
        """*a* times exp(-2 pi i m / n)."""
        m %= n
        x, y = a
        if 8 * m % n:
            c, s = (self.number(v) for v in root(m, n))
            return self.let(f"{x} * {c} - {y} * {s}"), self.let(f"{x} * {s} + {y} * {c}")
        eighths = 8 * m // n
        if eighths % 2:
            half = self.number(np.sqrt(np.longdouble(0.5)))
            x, y = self.let(f"({x} + {y}) * {half}"), self.let(f"({y} - {x}) * {half}")
        for _ in range(eighths // 2):
            x, y = y, f"-{x}" if x[0] != "-" else x[1:]
        if "-" in (x[0], y[0]):
            x, y = (self.let(v) if v[0] == "-" else v for v in (x, y))
        return x, y

    def transform(self, xs: list[Value]) -> list[Value]:
        n = len(xs)
        if n == 1:
            return xs
        if n == 2:
            return [self.add(*xs), self.sub(*xs)]
        p = _prime_factor(n)
        if p == n:
            return self._prime(xs)
        a = 4 if n % 4 == 0 and n > 4 else p
        b = n // a
        if gcd(a, b) == 1:
            return self._coprime(xs, a, b)
        rows = [self.transform([xs[j + b * i] for i in range(a)]) for j in range(b)]
        found: list[Value] = [("", "")] * n
        for k in range(a):
            column = [self.turned(rows[j][k], j * k, n) for j in range(b)]
            for i, value in enumerate(self.transform(column)):
                found[k + a * i] = value
        return found

    def _coprime(self, xs: list[Value], a: int, b: int) -> list[Value]:
        n = a * b
        rows = [self.transform([xs[(b * i + a * j) % n] for i in range(a)]) for j in range(b)]
        found: list[Value] = [("", "")] * n
        for k in range(a):
            for i, value in enumerate(self.transform([rows[j][k] for j in range(b)])):
                index = next(m for m in range(k, n, a) if m % b == i)
                found[index] = value
        return found

    def _prime(self, xs: list[Value]) -> list[Value]:
        p, half = len(xs), len(xs) // 2
        sums = [self.add(xs[k], xs[p - k]) for k in range(1, half + 1)]
        differences = [self.sub(xs[k], xs[p - k]) for k in range(1, half + 1)]
        first = xs[0]
        for value in sums:
            first = self.add(first, value)
        found: list[Value] = [first] + [("", "")] * (p - 1)
        for m in range(1, half + 1):
            even, odd = list(xs[0]), ["", ""]
            for k in range(1, half + 1):
                c, s = root(m * k, p)
                for part in (0, 1):
                    even[part] = self.let(f"{even[part]} + {sums[k - 1][part]} * {self.number(c)}")
                    term = f"{differences[k - 1][part]} * {self.number(s)}"
                    odd[part] = self.let(f"{odd[part]} + {term}" if odd[part] else term)
            # the sine of exp() has a negative sign: s is negative already
            found[m] = self.let(f"{even[0]} - {odd[1]}"), self.let(f"{even[1]} + {odd[0]}")
            found[p - m] = self.let(f"{even[0]} + {odd[1]}"), self.let(f"{even[1]} - {odd[0]}")
        return found


def butterfly(n: int, real: str) -> str:
    """``fft_radix_N(x, y)``: the transform of *n* numbers x[k] + i y[k] of the type fft_lanes, in
    place. real: "f32" or "f64", for the constants."""
    lines = _Lines("f" if real == "f32" else "")
    found = lines.transform([(f"x[{k}]", f"y[{k}]") for k in range(n)])
    body = lines.text + [
        f"    x[{k}] = {value[0]}; y[{k}] = {value[1]};" for k, value in enumerate(found)
    ]
    text = "\n".join(body)
    return f"PG_INLINE void fft_radix_{n}(fft_lanes *x, fft_lanes *y)\n{{\n{text}\n}}\n"
