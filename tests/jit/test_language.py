"""The language of kernels: each construct as Python runs it, on OpenCL and on CUDA."""

from __future__ import annotations

import cmath
import enum
import math
import warnings
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu._src.runtime.backends import backend_of
from pygpu.pykernel import ArrayType

SCALE = 2.5
TABLE = (3, 1, 4, 1, 5)
PAIRS = ((1, 2.5), (2, 0.5))
LOOKUP = np.array([2.0, 3.0, 5.0, 7.0])


def square(x):
    return x * x


@pygpu.jit
def both(x, y=2):
    return x + y, x * y


def nothing(x):
    pass


# ---- of two numbers of any real type, y never zero


def arithmetic(x, y):
    return (x + y) * x - y / 4


def floor_division(x, y):
    return x // y + (x % y) * 3


def divisions(x, y):
    q, r = divmod(x, y)
    return q * 1000 + r


def powers(x, y):
    return x**2 + x**3 - y**4 + 2**3


def conditional(x, y):
    return x if x > y else y if y > 0 else -y


def branches(x, y):
    if x > y:
        z = 1
    elif x == y:
        z = 2.5
    else:
        z = y
    return z


def chained(x, y):
    return (0 < x < y) + 2 * (x != y != 3) + 4 * (x < y > 1 < 2)


def logic(x, y):
    if x > 0 and y > 0 or not x:
        return 1
    return (x or y) + (x and y)


def loops(x, y):
    total = 0
    for i in range(5):
        if i == 3:
            continue
        total += x * i
    for i in range(10, 2, -3):
        total -= i
    for _ in range(3):
        if x > 100:
            break
    else:
        total += 7
    n = 0
    while n < 4:
        n += 1
        if n == 3:
            break
    else:
        total += 1000
    return total + n


def steps(x, y):
    total = 0
    for i in range(0, 20, 7):
        for j in range(i):
            if j % 2:
                continue
            if j > 8:
                break
            total = total + i * j + x
    return total


def tuples(x, y):
    a, b = y, x
    a, b = b, a
    p = (a, b, 3)
    (c, d), e = (p[0], p[1]), p[-1]
    return c * 10 + d + e + len(p) + sum(p)


def calls_in_branches(x, y):
    p = both(x, y) if x > y else (y, x)
    q = (both(y, 2) if y > 3 else both(2, y)) if x > 1 else (x, y)
    return p[0] * 3 + p[1] + q[0] * 5 + q[1] * 7 + (both(x, 1)[0] if x < 4 else y)


def over_tuples(x, y):
    total = 0
    for v in (x, y, 2):
        total += v
    for i, (a, b) in enumerate(PAIRS):
        total += a * b * i
    for u, w in zip((1, 2, 3), TABLE):
        total += u * w
    return total + TABLE[1]


def calls(x, y):
    nothing(x)
    s, p = both(x)
    t, q = both(y=y, x=x)
    return square(s) + p - t * q


def extremes(x, y):
    return min(x, y) + 2 * max(x, y, 1) + abs(x - y)


def conversions(x, y):
    return int(x) + float(y) * 2 + bool(x) + round(x / 4) + np.float32(2)


def augmented(x, y):
    z = x
    z += y
    z -= 1
    z *= 2
    z /= 4
    z //= 1
    return z


def walrus(x, y):
    if (n := x + y) > 3:
        return n
    return n * 2


def closures(x, y):
    k = 10
    return x * SCALE + TABLE[2] + k


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


def members(x, y):
    return (x in (1, Level.LOW + 1, 3)) + (y not in TABLE) * 2 + (x > Level.LOW) * Level.HIGH.value


def widening(x, y):
    z = 0
    for i in range(3):
        z = z + x / 2 if i else z
    return z


def lookup(x, y):
    total = 0.0
    for i in range(len(LOOKUP)):
        total += LOOKUP[i] * x
    return total + LOOKUP[-1]


def shadows(x, y):
    x = x + 1
    for x in range(3):
        y = y + x
    return x + y


REAL = (
    arithmetic,
    floor_division,
    divisions,
    powers,
    conditional,
    branches,
    chained,
    logic,
    loops,
    steps,
    tuples,
    over_tuples,
    calls_in_branches,
    calls,
    extremes,
    conversions,
    augmented,
    walrus,
    closures,
    members,
    widening,
    lookup,
    shadows,
)


# ---- of two integers


def bits(x, y):
    return ((x & y) | (x ^ 5)) + (~x) + (x << 2) + (x >> 1)


def integer_power(x, y):
    return x**2 + 3 ** (y & 3)


def collatz(x, y):
    n = abs(int(x)) + 1
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def gcd(x, y):
    a, b = abs(x), abs(y)
    while b:
        a, b = b, a % b
    return a + math.gcd(x, y)


INTEGER = (bits, integer_power, collatz, gcd)


# ---- of two real numbers, x in (-1, 1), y > 0


def trigonometry(x, y):
    return math.sin(x) + math.cos(y) * math.tan(x) - math.atan2(x, y) + math.asin(x)


def exponentials(x, y):
    return math.exp(x) + math.log(y) + math.log(y, 2) - math.log1p(y) + math.expm1(x)


def roots(x, y):
    return math.sqrt(y) + np.cbrt(x) + math.hypot(x, y) + y**0.5 + math.pow(y, x)


def rounding(x, y):
    return (
        math.floor(x) + math.ceil(y) * 2 + math.trunc(float(y)) * 3 + round(x * 4) + np.rint(x * 3)
    )


def predicates(x, y):
    z = x / (y - y) if x > 5 else x
    return math.isnan(z) + 2 * math.isinf(y) + 4 * np.isfinite(x) + np.sign(x)


def special(x, y):
    return (
        math.erf(x)
        + math.gamma(y)
        + math.copysign(y, x)
        + math.fmod(y, 0.7)
        + np.where(x > 0, x, y)
    )


def digits(x, y):
    return round(x * 100, 1) + np.clip(x, -0.5, 0.5) + np.maximum(x, y)


def constants(x, y):
    return math.pi * x + np.e * y + (1 / 3) + float("inf") * 0 if x > 9 else math.tau


def complexes(x, y):
    z = complex(x, y)
    w = z * z + 1j / (z + 2) - z.conjugate()
    w = cmath.exp(w) + cmath.sqrt(z) + z**2
    return abs(w) + w.real * 2 + w.imag + cmath.phase(z)


FLOAT = (
    trigonometry,
    exponentials,
    roots,
    rounding,
    predicates,
    special,
    digits,
    constants,
    complexes,
)


def mandelbrot(x, y):
    c = complex(x, y)
    z = 0j
    for i in range(50):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return i
    return 50


def rows_of(several: Any) -> Any:
    """A kernel that makes a row of results of each function."""
    lines = [f"    out[{k}, i] = f{k}(x[i], y[i])" for k in range(len(several))]
    text = "def rows(x, y, out):\n    i = cuda.grid(1)\n    if i >= x.size:\n        return\n"
    text += "\n".join(lines) + "\n"
    names = {f"f{k}": f for k, f in enumerate(several)}
    exec(text, space := {"cuda": cuda, **names})
    return pygpu.kernel(space["rows"], src=text, exact=True)


def apply_all(make: Any, several: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A row of results of each function, from one kernel."""
    rows = rows_of(several)
    out = make(np.zeros((len(several), len(x))))
    rows[1, 32](make(x), make(y), out)
    return out.get()


def plain(several: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.array([[float(f(a, b)) for a, b in zip(x, y)] for f in several])


def compare(several: Any, got: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    wrong = [
        (f.__name__, mine.tolist(), right.tolist())
        for f, mine, right in zip(several, got, expected)
        if not np.allclose(mine, right, tolerance, tolerance, equal_nan=True)
    ]
    assert not wrong, "\n".join(map(str, wrong))


X = [-9, -4, -3, -1, 0, 1, 2, 3, 4, 7, 10, 100]
Y = [4, -3, 2, -1, 5, 1, -2, 3, 7, -7, 3, 9]


@pytest.mark.parametrize("dtype", ["i8", "f8"])
def test_real(make: Any, dtype: str) -> None:
    x, y = np.array(X, dtype), np.array(Y, dtype)
    if dtype == "f8":
        x, y = x + 0.25, y + 0.5
    several = REAL + (INTEGER if dtype == "i8" else ())
    got = apply_all(make, several, x, y)
    compare(several, got, plain(several, x, y), 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u1", "u2", "u4", "u8", "f2", "f4"])
def test_real_of_any_dtype(make: Any, dtype: str) -> None:
    x, y = np.array(X[5:10]).astype(dtype), np.abs(Y[5:10]).astype(dtype)
    several = [f for f in REAL if f not in (loops, divisions)]
    if dtype[0] != "f":
        several += INTEGER
        several.remove(integer_power)
    got = apply_all(make, several, x, y)
    compare(several, got, plain(several, x, y), 2e-2 if dtype == "f2" else 1e-5)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_float(make: Any, dtype: str) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.uniform(-1, 1, 12).astype(dtype), rng.uniform(0.1, 4, 12).astype(dtype)
    several = (*FLOAT, mandelbrot)
    got = apply_all(make, several, x, y)
    compare(several, got, plain(several, x, y), 1e-12 if dtype == "f8" else 2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_nvrtc(cuda_context: Any, nvrtc: Any, dtype: str) -> None:
    """NVIDIA's compiler takes the texts, also where the simulator runs them."""
    several = REAL + (INTEGER if dtype == "i4" else (*FLOAT, mandelbrot))
    one, two = ArrayType(np.dtype(dtype), 1), ArrayType(np.dtype("f8"), 2)
    cuda_context.push()
    try:
        text = rows_of(several).inspect_source(one, one, two, backend=cuda_context)
        nvrtc(backend_of(cuda_context), text)
    finally:
        type(cuda_context).pop()


# ---- what stands in programs written for Numba


class Way(enum.Enum):
    LEFT = 0
    RIGHT = 1


def matched(x, dim):
    result = 0.0
    for i in range(3):
        match x + i:
            case Way.LEFT.value:
                result += 10
            case Way.RIGHT.value | 2:
                result += 20
                continue
            case 3 if dim > 1:
                result += 30
            case k if k > 5:
                result += k
            case 4 as four:
                result += 100 * four
                break
            case _:
                result -= 1
        result += 0.5
    match dim:
        case 2:
            return result + 1000
        case _:
            return result + 2000


def bound_anew(a, i):
    row = a[i]
    first = row[0]
    row = row[1] * 10  # a number now
    pair = (row, 2.5)
    pair = pair[1] + first
    for k in range(2):
        part = a[k]
        part = part[1] - part[0]
        row += part
    a = a[i + 1]  # a parameter
    return row + pair + a[2]


def row_of(a, i):
    return a[i]


def halves(a, n):
    return a[:n], a[n:], a.shape[0]


def added(a, b, out):
    for i in range(out.size):
        out[i] = a[i] + b[i]
    return out


def from_functions(a, i):
    low, high, n = halves(row_of(a, i), 1)
    mine = cuda.local.array(3, np.float64)
    mine = added(a[i], row_of(a, 0), mine)
    table = row_of(TWO_ROWS, i % 2)
    return low[0] + high[1] * n + mine[2] + table[1]


TWO_ROWS = np.array([[1.0, 2.0], [3.0, 4.0]])


def test_match(make: Any) -> None:
    for dim in (2, 3):

        @pygpu.kernel
        def k(x, out, dim=dim):
            i = pygpu.grid(1)
            if i < out.size:
                out[i] = matched(x[i], dim)

        x = np.arange(-2, 9)
        out = make(np.zeros(x.size))
        k(make(x), out, block=16, grid=1)
        assert (out.get() == [matched(i, dim) for i in x.tolist()]).all()


@pytest.mark.parametrize("function", [bound_anew, from_functions])
def test_arrays_in_variables_and_results(make: Any, function: Any, monkeypatch: Any) -> None:
    """A name that is given something of another type, and functions that return arrays."""

    @pygpu.kernel
    def k(a, out):
        i = pygpu.grid(1)
        if i < out.size:
            out[i] = function(a, i)

    a = np.random.default_rng(3).standard_normal((5, 3))
    out = make(np.zeros(4))
    k(make(a), out, block=4, grid=1)
    monkeypatch.setattr(cuda.local, "array", lambda n, dtype: np.zeros(n, dtype), raising=False)
    np.testing.assert_allclose(out.get(), [function(a, i) for i in range(4)], rtol=1e-14)


def test_names_without_assignment(make: Any) -> None:
    """global and nonlocal of what is only read, and const.array_like of an argument."""
    factor = 3.0

    def make_kernel() -> Any:
        @pygpu.kernel
        def k(a, out):
            global SCALE
            nonlocal factor
            i = pygpu.grid(1)
            held = pygpu.const.array_like(a)
            out[i] = held[i] * factor + SCALE

        return k

    out = make(np.zeros(4))
    make_kernel()(make(np.arange(4.0)), out, block=4, grid=1)
    assert (out.get() == np.arange(4.0) * factor + SCALE).all()


def loop_target(a):
    s = 0.0
    for x in range(0):
        s += x
    for x in (a,):
        s += x[1]
    return x[0] + s


def own_array(a):
    mine = cuda.local.array(3, np.float64)
    return mine


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (loop_target, "x was .* before, and would become .*; use two names"),
        (lambda a: own_array(a)[0], "array of the function's own"),
        (lambda a: a, "cannot be returned to the host"),
    ],
)
def test_types_that_depend_on_the_way(function: Any, message: str) -> None:
    with pytest.raises(pygpu.KernelError, match=message):
        pygpu.pykernel.compile_function(function, [ArrayType(np.dtype("f8"), 1)])
