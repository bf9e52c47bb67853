"""Each construct of the language by itself, three ways with the same data: the plain Python call,
OpenCL and CUDA, for every dtype that it makes sense for.

A row of a table is a function of two numbers, or of an array, and the kinds of dtypes that it is
for: b(ool), i(nt), u(nsigned), f(loat), c(omplex). The plain call gets NumPy's numbers, so that its
result says what NumPy's promotion makes of them; that the compiled function returns the same dtype
is a test as well.
"""

from __future__ import annotations

import cmath
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu.pykernel import compile_function

DTYPES = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
# The table takes long: the other dtypes run with the slow tests.
SOON = "? i2 i8 u8 f4 f8 c16".split()
LATER = [pytest.param(d, marks=pytest.mark.slow) for d in DTYPES if d not in SOON]
TESTED = SOON + LATER
OUTSIDE, WEIGHTS, NESTED = 3, (1, 2.0, 4), ((1, 2), (3, 4))
BIG, FLAG = np.int16(7), True
PRIMES = np.array([2, 3, 5, 7], np.int16)

Row = tuple[str, Callable[..., Any], str]
NUMBERS: list[Row] = []
ARRAYS: list[Row] = []


def of(kinds: str, table: list[Row] = NUMBERS) -> Any:
    def add(function: Any) -> Any:
        table.append((function.__name__, function, kinds))
        return function

    return add


def add_lambdas(kinds: str, table: list[Row] = NUMBERS, **several: Any) -> None:
    table.extend((name, function, kinds) for name, function in several.items())


# ---- operators

ALL, REAL, WHOLE, SIGNED = "biufc", "biuf", "biu", "ifc"
add_lambdas(ALL, add=lambda x, y: x + y)
add_lambdas(ALL, multiply=lambda x, y: x * y)
add_lambdas("iufc", subtract=lambda x, y: x - y)
add_lambdas("iufc", divide=lambda x, y: x / y)
add_lambdas("iuf", floor_divide=lambda x, y: x // y)
add_lambdas("iuf", modulo=lambda x, y: x % y)
add_lambdas("iuf", floor_divide_by_number=lambda x, y: x // 3)
add_lambdas("iuf", modulo_of_number=lambda x, y: x % 5)
add_lambdas("if", floor_divide_by_negative=lambda x, y: x // -3)
add_lambdas("if", modulo_of_negative=lambda x, y: x % -3)
add_lambdas("iufc", square=lambda x, y: x**2)
add_lambdas("iufc", cube=lambda x, y: x**3)
add_lambdas("f", power=lambda x, y: abs(x) ** y)
add_lambdas("f", power_below_zero=lambda x, y: y**-2)
add_lambdas("f", root=lambda x, y: abs(x) ** 0.5)
add_lambdas("u", power_of_whole=lambda x, y: y**x)
add_lambdas(SIGNED, negative=lambda x, y: -x)
add_lambdas("iufc", positive=lambda x, y: +x)
add_lambdas(WHOLE, invert=lambda x, y: ~x)
add_lambdas(WHOLE, bit_and=lambda x, y: x & y)
add_lambdas(WHOLE, bit_or=lambda x, y: x | y)
add_lambdas(WHOLE, bit_xor=lambda x, y: x ^ y)
add_lambdas("iu", shift_left=lambda x, y: x << 2)
add_lambdas("iu", shift_right=lambda x, y: x >> 1)
add_lambdas("u", shift_by_number=lambda x, y: y >> x)
add_lambdas("iufc", weak_int=lambda x, y: 2 * x + 1)
add_lambdas("fc", weak_float=lambda x, y: 0.5 * x - 1.25)
add_lambdas("c", weak_complex=lambda x, y: x * 2j + 1)
add_lambdas(REAL, less=lambda x, y: x < y)
add_lambdas(REAL, less_equal=lambda x, y: x <= y)
add_lambdas(REAL, greater=lambda x, y: x > y)
add_lambdas(REAL, greater_equal=lambda x, y: x >= y)
add_lambdas(ALL, equal=lambda x, y: x == y)
add_lambdas(ALL, not_equal=lambda x, y: x != y)
add_lambdas(REAL, chained=lambda x, y: 1 < x < y)
add_lambdas(REAL, chained_thrice=lambda x, y: x <= y != x > 0)
add_lambdas("iuf", compare_number=lambda x, y: (x < 1000) + (x > -1000) + (x == 2.5))
add_lambdas(ALL, negation=lambda x, y: not x)
add_lambdas("iufc", conjunction=lambda x, y: x and y)
add_lambdas("iufc", alternative=lambda x, y: x or y)
add_lambdas(ALL, tests=lambda x, y: 1 if x and not y or y else 0)
add_lambdas(REAL, conditional=lambda x, y: x if x > y else y)
add_lambdas(REAL, conditionals=lambda x, y: x if x > y else y if y > 2 else x)
add_lambdas("iuf", membership=lambda x, y: x in (1, 2, 7))
add_lambdas("iuf", absence=lambda x, y: x not in WEIGHTS)
add_lambdas("iuf", is_none=lambda x, y: (x is None) + 2 * (y is not None))


# ---- statements


@of(ALL)
def assignment(x, y):
    z = x
    w = v = y
    z: int = z
    return z + w * v


@of(ALL)
def tuple_assignment(x, y):
    a, b = x, y
    a, b = b, a
    (c, d), e = (a, b), x
    *f, g = (a, e)
    return c * d + e + f[0] * g


@of("iufc")
def augmented(x, y):
    z = x
    z += y
    z -= 1
    z *= y
    return z


@of("iuf")
def augmented_division(x, y):
    z, w = x, x
    z //= y
    w %= y
    return z + w


@of("fc")
def augmented_true_division(x, y):
    z = x
    z /= y
    z **= 2
    return z


@of("iu")
def augmented_bits(x, y):
    z = x
    z <<= 2
    z |= y
    z &= 29
    z ^= 5
    z >>= 1
    return z


@of("iuf")
def branches(x, y):
    z = y
    if x > 3:
        z = x
    elif x < 1:
        if y > 2:
            z = x + y
    else:
        pass
    return z


@of("iufc")
def while_loop(x, y):
    n, z = 0, x
    while n < 5:
        n += 1
        if n == 2:
            continue
        z = z + y
        if n == 4:
            break
    else:
        z = z - 7
    return z


@of("iufc")
def while_else(x, y):
    n, z = 3, x
    while n:
        n -= 1
    else:
        z = z + y
    return z


@of("iufc")
def while_true(x, y):
    z = x
    while True:
        z = z + y
        if True:
            break
    return z


@of("iufc")
def for_range(x, y):
    z = x
    for i in range(3):
        z = z + y * i
    return z


@of("iufc")
def for_range_of_two(x, y):
    z = x
    for i in range(-2, 3):
        z = z + y * abs(i)
    return z


@of("ifc")
def for_backwards(x, y):
    z = x
    for i in range(5, -3, -2):
        z = z + y * i
    return z + i


@of("iufc")
def for_nothing(x, y):
    z = x
    for i in range(4, 4):  # noqa: B007
        z = y
    for i in range(1, 5, -1):  # noqa: B007
        z = y
    else:
        z = z + 1
    return z


@of("iu")
def for_range_of_variable(x, y):
    n = 0
    for i in range(x):
        for j in range(i, int(y) + 2, 2):
            n += i * j
    return n


@of("iufc")
def for_tuple(x, y):
    z = x
    for v in (x, y, y):
        z = z + v
    return z


@of("iufc")
def for_tuple_of_tuples(x, y):
    z = x
    for i, (a, b) in enumerate(NESTED):
        z = z + y * (a * b + i)
    for u, w in zip((1, 2, 3), (y, x)):
        z = z + u * w
    return z


@of("iufc")
def for_continue(x, y):
    z = x
    for i in range(6):
        if i % 2:
            continue
        z = z + y
    return z


@of("iufc")
def for_break(x, y):
    z = x
    for i in range(6):
        if i == 3:
            break
        z = z + y
    else:
        z = y
    return z


@of("iufc")
def for_else(x, y):
    z = x
    for _ in range(2):
        z = z + y
    else:
        z = z + 1
    return z


@of("iuf")
def early_return(x, y):
    for i in range(4):
        if i > x:
            return y
    if x > 4:
        return x + y
    return x


@of("iufc")
def walrus(x, y):
    z = (n := x + y) * 2
    return z + n


def helper(p, q=2, *, r=1):
    return p * q + r


@pygpu.jit
def several(p, q):
    return p + q, p * q


@of("iufc")
def calls(x, y):
    a = helper(x) + helper(x, y) + helper(q=x, p=y) + helper(y, r=3)
    s, (t) = several(x, y)
    return a + s + t


@of("iufc")
def outside(x, y):
    return x * OUTSIDE + NESTED[1][0] * y + len(WEIGHTS)


@of("fc")
def outside_floats(x, y):
    z = x
    for w in WEIGHTS:
        z = z + w * y
    return z


@of("f")
def outside_strong(x, y):
    return x * BIG + (1 if FLAG else 2)


@of("iufc")
def tuples(x, y):
    t = (x, y, 3)
    u = (*t, x) + (1,)
    return t[0] + t[-1] + u[3] + len(u) + sum(t[:2])


@of("iuf")
def conversions(x, y):
    return int(x) + float(y) * 2 + bool(x) + int(bool(y))


@of("iufc")
def to_complex(x, y):
    return complex(x) + 1j


@of("iuf")
def to_complex_parts(x, y):
    z = np.complex128(complex(x, y))
    return z.real + 2 * z.imag + z.conjugate().imag


@of("iuf")
def numpy_types(x, y):
    return np.int32(x) + np.float64(y) + np.uint8(3) + np.int64(y) * np.float32(0.5)


@of("iuf")
def numpy_bools(x, y):
    return np.bool_(x) + np.int8(1)


@of("iuf")
def literals(x, y):
    return 0x1F + 0b101 + 0o17 + 1_000 + 1e-3 + 0.5 + True + (2 + 1j).real + float("inf") * 0.0 + x


# ---- functions

add_lambdas("ifc", absolute=lambda x, y: abs(x))
add_lambdas("iuf", minimum=lambda x, y: min(x, y))
add_lambdas("iuf", maximum=lambda x, y: max(x, y, x))
add_lambdas("iuf", extreme_of_tuple=lambda x, y: min((x, y)) + max((x, y)))
add_lambdas("iuf", quotient=lambda x, y: divmod(x, y)[0])
add_lambdas("iuf", remainder=lambda x, y: divmod(x, y)[1])
add_lambdas("f", power_of_two=lambda x, y: pow(abs(x), y))
add_lambdas("f", rounded=lambda x, y: round(x * y))
add_lambdas("f", rounded_half=lambda x, y: round(y / 2))
add_lambdas("iufc", number_type=lambda x, y: x.dtype.type(2) * x)
add_lambdas("c", parts=lambda x, y: x.real * 2 + y.imag)
add_lambdas("c", conjugate=lambda x, y: x.conjugate())
add_lambdas("iuf", is_nan=lambda x, y: math.isnan(x) + 2 * math.isinf(y) + 4 * math.isfinite(x))
add_lambdas("iuf", floors=lambda x, y: math.floor(x / 2) + 10 * math.ceil(y / 2))
add_lambdas("iu", greatest_divisor=lambda x, y: math.gcd(int(x), int(y)))
add_lambdas("iuf", chosen=lambda x, y: np.where(x > y, x, y))
add_lambdas("iufc", ufunc_add=lambda x, y: np.add(x, y))
add_lambdas("iuf", ufunc_maximum=lambda x, y: np.maximum(x, y) - np.minimum(x, y))
add_lambdas("iufc", ufunc_square=lambda x, y: np.square(x))
add_lambdas("iuf", ufunc_sign=lambda x, y: np.sign(x))
add_lambdas("f", ufunc_floats=lambda x, y: np.sqrt(np.abs(x)) + np.exp(-y * y) + np.sin(x))
add_lambdas("iu", ufunc_of_whole=lambda x, y: np.sqrt(x) if x > 0 else np.cos(y))
add_lambdas("c", ufunc_complex=lambda x, y: np.exp(x / 4) + np.sqrt(y))
add_lambdas("iu", ufunc_bits=lambda x, y: np.bitwise_and(x, y) + np.left_shift(y, 1))
add_lambdas("biufc", ufunc_logic=lambda x, y: np.logical_and(x, y))
add_lambdas("f", clipped=lambda x, y: np.clip(x, x.dtype.type(-1), y))

# math and cmath give Python's floats, kernels the type of their arguments: by value only.
BY_VALUE = set("power_of_two chosen quotient remainder floors greatest_divisor is_nan".split())
BY_VALUE |= {"to_complex", "outside_strong"}
_INSIDE = "sin cos tan asin acos atan sinh cosh tanh asinh atanh exp expm1 erf erfc fabs".split()
_POSITIVE = "sqrt log log2 log10 log1p gamma lgamma cbrt degrees radians exp2".split()
for _name in (*_INSIDE, *_POSITIVE):
    _body = f"math.{_name}(x / 9)" if _name in _INSIDE else f"math.{_name}(abs(y) + 0.5)"
    exec(f"_made = lambda x, y: {_body}", _space := {"math": math})
    _space["_made"].src = f"_made = lambda x, y: {_body}"
    add_lambdas("f", **{f"math_{_name}": _space["_made"]})
    BY_VALUE.add(f"math_{_name}")
for _name in "atan2 copysign fmod hypot remainder ldexp".split():
    _body = f"math.{_name}(x, y)" if _name != "ldexp" else "math.ldexp(x, 3)"
    exec(f"_made = lambda x, y: {_body}", _space := {"math": math})
    _space["_made"].src = f"_made = lambda x, y: {_body}"
    add_lambdas("f", **{f"math_{_name}": _space["_made"]})
    BY_VALUE.add(f"math_{_name}")
for _name in "exp sqrt log sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh".split():
    exec(f"_made = lambda x, y: cmath.{_name}(x / 9 + 0.1)", _space := {"cmath": cmath})
    _space["_made"].src = f"_made = lambda x, y: cmath.{_name}(x / 9 + 0.1)"
    add_lambdas("c", **{f"cmath_{_name}": _space["_made"]})
    BY_VALUE.add(f"cmath_{_name}")
add_lambdas("c", cmath_phase=lambda x, y: cmath.phase(x) + abs(cmath.polar(y)[1]))
add_lambdas("c", cmath_rect=lambda x, y: cmath.rect(x.real, y.imag) + cmath.isfinite(x))
add_lambdas("f", math_isclose=lambda x, y: math.isclose(x, x * (1 + y * 1e-2), rel_tol=0.03))
add_lambdas("iu", math_whole=lambda x, y: math.isqrt(int(x * x)) + math.lcm(int(x), int(y)))
add_lambdas(
    "u", math_counts=lambda x, y: math.comb(int(x), int(y)) + math.perm(int(x), 2) + math.perm(4)
)
add_lambdas("u", math_factorial=lambda x, y: math.factorial(int(x)) * math.prod((int(y), 2)))
add_lambdas("f", math_ulp=lambda x, y: np.spacing(abs(x)) + math.prod((x, y), start=2))
BY_VALUE |= {"cmath_phase", "cmath_rect"}
add_lambdas("f", math_trunc=lambda x, y: math.trunc(float(x)) + math.trunc(-float(y)))
add_lambdas("f", math_constants=lambda x, y: x * math.pi + math.e + math.tau + math.inf * 0)
add_lambdas("f", math_modf=lambda x, y: math.modf(x / 2)[0] + math.frexp(y)[0])
BY_VALUE |= {"math_modf"}


# ---- arrays: of a (2, 4) array, its first row and a number


@of(ALL, ARRAYS)
def items(a, b, i):
    return a[1, 2] + b[i] + a[i % 2, -1] + b[-2] + a[1][i]


@of(ALL, ARRAYS)
def view_of_slice(a, b, i):
    c = b[1:3]
    return c[0] + c[-1] + len(c)


@of(ALL, ARRAYS)
def view_backwards(a, b, i):
    c = b[::-1]
    return c[0] * c[3] + c[i]


@of(ALL, ARRAYS)
def view_with_steps(a, b, i):
    c = a[:, ::2]
    return c[1, 1] + c[0, 0] + c.shape[1] + c.size


@of(ALL, ARRAYS)
def view_of_column(a, b, i):
    c = a[..., i]
    return c[0] + c[1] + c.ndim


@of(ALL, ARRAYS)
def view_with_bounds_from_variables(a, b, i):
    c = b[i:]
    d = b[: i + 1]
    e = b[-2:]
    return c[0] + d[i] + e[1] + len(c) * 10 + len(d)


@of(ALL, ARRAYS)
def view_of_new_axis(a, b, i):
    c = b[None, :]
    return c[0, i] + c.ndim + c.shape[0]


@of(ALL, ARRAYS)
def shapes(a, b, i):
    m, n = a.shape
    return m + 10 * n + 100 * a.size + 1000 * a.ndim + len(a) + a.shape[-1] + a.nbytes // a.size


@of(ALL, ARRAYS)
def transposed(a, b, i):
    t = a.T
    return t[i, 1] + t.shape[0]


class Pair(NamedTuple):
    first: Any
    second: Any = 3


def joined(x, *rest, factor=2):
    total = x * factor + len(rest)
    for one in rest:
        total = total + one
    return total


@of(ALL)
def made_namedtuple(x, y):
    p, q = Pair(x, second=y), Pair(second=x, first=1)
    return p.first + p.second * q.second + Pair(x).second + Pair(*q)[0]


@of(ALL)
def star_parameters(x, y):
    def inner(*given):
        return len(given) + x

    return joined(x) + joined(x, y, x, factor=3) + joined(*(y, 1)) + inner(y, y)


@of(REAL)
def ordered_tuples(x, y):
    below = (x, y) < (y, x), (1, x, y) <= (1, y, x), (x, 1, y) > (x, 1, 2.5), (x, y) >= (x,)
    n = 0
    for one in below:
        n = n * 2 + (1 if one else 0)
    return n + (8 if x > 0 and (x + 1, y) < (x + 1, 3) else 0)


@of(ALL)
def deleted_names(x, y):
    z = x + y
    del y
    return z


@of("iufc", ARRAYS)
def broadcast_items(a, b, i):
    c = cuda.local.array((2, 4), a.dtype)
    c[:] = b
    c[1:] += a[0]
    c[:, 1:3] *= b[:2][:, None]
    np.add(c, b, c)
    return c[0, i] + c[1, i]


@of(ALL, ARRAYS)
def item_type(a, b, i):
    return a.dtype.type(1) * b[i] + a.dtype.itemsize


@of(ALL, ARRAYS)
def for_items(a, b, i):
    z = 0 * b[0]
    for v in b:
        z = z + v
    for row in a:
        z = z + row[i]
    for k, v in enumerate(b):
        z = z + v * k
    for k, v in enumerate(b[1:], 1):
        z = z + v * k
    for u, v in zip(b, a[1]):
        z = z + u * v
    return z


@of(ALL, ARRAYS)
def for_nested_iterables(a, b, i):
    z = 0 * b[0]
    for k, (u, v) in enumerate(zip(b, a[1])):
        z = z + u * k + v
    for (k, u), v in zip(enumerate(b), range(5, 1, -1)):
        z = z + u * (k + v)
    for k, v in enumerate(range(3)):
        z = z + b[k] * v
    for v in reversed(b):
        z = z * 1 + v
    for k in reversed(range(4)):
        z = z + b[k] * k
    return z


@of(ALL, ARRAYS)
def unpacked(a, b, i):
    p, q, r, s = b
    return p + q + r * s


@of("iuf", ARRAYS)
def constant_table(a, b, i):
    return b[i] + PRIMES[i] + len(PRIMES)


@of("iufc", ARRAYS)
def stored(a, b, i):
    c = cuda.local.array((2, 4), a.dtype)
    c[:] = 1
    c[0] = b
    c[1, i] = b[i]
    c[1, i] += 2
    c[0, 1:3] = a[1, 1:3]
    c[:, 0] *= 2
    c[0, 2], c[0, 3] = c[0, 3], c[0, 2]
    return c[0, 0] + c[0, 1] * c[0, 2] - c[0, 3] + c[1, i] + c[1, 0]


class LocalArrays:
    """What the plain call of a function has in the place of pygpu.cuda."""

    class local:
        @staticmethod
        def array(shape: Any, dtype: Any) -> Any:
            return np.zeros(shape, dtype)


# ---- three ways

X = [7, 0, 1, 3, 2, 5]
Y = [2, 3, 1, 4, 2, 3]
SIGNS = [1, -1, 1, -1, -1, 1]


def numbers_of(dtype: str) -> tuple[Any, Any]:
    """Numbers of a dtype with signs where it has them; y is never zero."""
    kind = np.dtype(dtype).kind
    x, y = np.array(X), np.array(Y)
    if kind in "ifc":
        x, y = x * SIGNS, y * SIGNS[::-1]
    if kind == "b":
        return np.array([1, 0, 1, 0, 1, 1], bool), np.ones(6, bool)
    if kind in "fc":
        x, y = x + 0.25, y + 0.5
    if kind == "c":
        x, y = x + 1j * y[::-1], y - 0.5j * x
    return x.astype(dtype), y.astype(dtype)


def plainly(function: Any, *args: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args)


def wide(results: list[Any]) -> str:
    """The dtype that results of one function are written as."""
    kinds = {np.asarray(r).dtype.kind for r in results}
    for kind, dtype in zip("cfui", ("c16", "f8", "u8", "i8")):
        if kind in kinds:
            return dtype
    return "i8"


# By the dtype of the floats that come of it: as in NumPy, float16 of int8, float32 of int16.
TOLERANCE = dict.fromkeys(("f2", "i1", "u1", "?"), 4e-3)
TOLERANCE |= dict.fromkeys(("f4", "c8", "i2", "u2"), 3e-6)


def rows_for(dtype: str, table: list[Row]) -> list[Row]:
    kind = np.dtype(dtype).kind
    return [row for row in table if kind in row[2]]


def expected_of(rows: list[Row], arguments: list[tuple[Any, ...]]) -> dict[str, Any]:
    found = {}
    for name, function, _ in rows:
        results = [plainly(function, *args) for args in arguments]
        found[name] = np.array(results, wide(results))
    return found


def kernel_of(rows: list[Row], names: str, call: str, writes: dict[str, Any]) -> Any:
    """A kernel that calls each function for each of the arguments."""
    body = [f"def all_of({names}, oi, ou, of, oc):", "    i = cuda.grid(1)"]
    body += [f"    if i >= {names[0]}.size:", "        return"]
    counts = dict.fromkeys("iufc", 0)
    space: dict[str, Any] = {"cuda": cuda}
    places = {}
    for n, (name, function, _) in enumerate(rows):
        letter = writes[name].dtype.kind
        body.append(f"    o{letter}[{counts[letter]}, i] = f{n}({call})")
        places[name] = letter, counts[letter]
        counts[letter] += 1
        text = getattr(function, "src", None)
        space[f"f{n}"] = pygpu.jit(function, src=text) if text else function
    text = "\n".join(body) + "\n"
    exec(text, space)
    return pygpu.kernel(space["all_of"], src=text, exact=True), places


def compare(
    make: Any, dtype: str, rows: list[Row], expected: dict[str, Any], kernel: Any, given: Any
) -> None:
    made, places = kernel
    size = len(next(iter(expected.values())))
    outs = {k: make(np.zeros((len(rows), size), f"{k}{16 if k == 'c' else 8}")) for k in "iufc"}
    made[1, size](*given, *outs.values())
    got = {k: v.get() for k, v in outs.items()}
    wrong = []
    tolerance = TOLERANCE.get(dtype, 1e-12)
    for name, right in expected.items():
        letter, place = places[name]
        mine = got[letter][place]
        if letter in "iu":
            same = (mine == right).all()
        else:
            same = np.allclose(mine, right, tolerance, tolerance, equal_nan=True)
        if not same:
            wrong.append(f"{name}: {mine.tolist()}, Python has {right.tolist()}")
    assert not wrong, "\n".join(wrong)


def test_every_kind_has_rows() -> None:
    assert all(len(rows_for(d, NUMBERS)) > 15 for d in DTYPES)
    names = [name for name, *_ in NUMBERS + ARRAYS]
    assert len(set(names)) == len(names) > 140


@pytest.mark.sampled(opencl=2)
@pytest.mark.parametrize("dtype", TESTED)
def test_expressions_of_numbers_give_pythons_results(make: Any, dtype: str) -> None:
    x, y = numbers_of(dtype)
    rows = rows_for(dtype, NUMBERS)
    expected = expected_of(rows, list(zip(x, y)))
    kernel = kernel_of(rows, "x, y", "x[i], y[i]", expected)
    compare(make, dtype, rows, expected, kernel, (make(x), make(y)))


@pytest.mark.sampled(opencl=2)
@pytest.mark.parametrize("dtype", TESTED)
def test_arrays(make: Any, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.stack([v[:4] for v in numbers_of(dtype)])
    b = a[0].copy()
    rows = rows_for(dtype, ARRAYS)
    monkeypatch.setitem(globals(), "cuda", LocalArrays)
    expected = expected_of(rows, [(a, b, i) for i in range(4)])
    monkeypatch.undo()
    kernel = kernel_of(rows, "b, a", "a, b, i", expected)
    compare(make, dtype, rows, expected, kernel, (make(b), make(a)))
    # the same of arrays whose rows and items lie apart
    spaced, apart = np.zeros((4, 8), dtype), np.zeros(8, dtype)
    spaced[::2, ::2], apart[::2] = a, b
    views = make(apart)[::2], make(spaced)[::2, ::2]
    compare(make, dtype, rows, expected, kernel, views)


@pytest.mark.parametrize("dtype", TESTED)
def test_dtypes_of_results(dtype: str) -> None:
    """The compiled function returns what the plain one does: a dtype, or Python's number."""
    x, y = (v[0] for v in numbers_of(dtype))
    wrong = []
    for name, function, _ in rows_for(dtype, NUMBERS):
        if name in BY_VALUE:
            continue
        result = plainly(function, x, y)
        (mine,) = compile_function(function, [x.dtype, x.dtype]).return_types
        right = np.asarray(result).dtype
        if mine != right:
            wrong.append(f"{name}: {mine}, Python has {right}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_integers_wrap(make: Any, dtype: str) -> None:
    """At the ends of a dtype NumPy's numbers wrap around; quotients by 0 are 0."""
    limits = np.iinfo(dtype)
    ends = [limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max]
    x, y = (v.ravel() for v in np.meshgrid(np.array(ends, dtype), np.array(ends, dtype)))
    wanted = "add subtract multiply floor_divide modulo square negative bit_and bit_xor invert"
    wanted += " less equal greater minimum maximum absolute quotient remainder shift_left weak_int"
    wanted += " shift_right divide floor_divide_by_number modulo_of_number augmented_bits"
    rows = [row for row in rows_for(dtype, NUMBERS) if row[0] in wanted.split()]
    expected = expected_of(rows, list(zip(x, y)))
    kernel = kernel_of(rows, "x, y", "x[i], y[i]", expected)
    compare(make, dtype, rows, expected, kernel, (make(x), make(y)))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floats_without_bounds(make: Any, dtype: str) -> None:
    """Infinities, nan and signs of zeros."""
    ends = [-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf, np.nan]
    x, y = (v.ravel() for v in np.meshgrid(np.array(ends, dtype), np.array(ends, dtype)))
    wanted = "add subtract multiply divide floor_divide modulo less equal not_equal is_nan square"
    wanted += " chained conditional conjunction alternative negation ufunc_maximum ufunc_sign"
    wanted += " absolute minimum maximum negative tests branches"
    rows = [row for row in rows_for(dtype, NUMBERS) if row[0] in wanted.split()]
    expected = expected_of(rows, list(zip(x, y)))
    kernel = kernel_of(rows, "x, y", "x[i], y[i]", expected)
    compare(make, dtype, rows, expected, kernel, (make(x), make(y)))
