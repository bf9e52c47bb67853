"""Records: items of arrays of structs, read and written by field."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda

ALIGNED = np.dtype([("a", "f4"), ("b", "i8"), ("v", "f8", (3,))], align=True)
INNER = np.dtype([("x", "i2"), ("y", "c8")])
PACKED = np.dtype([("c", "i1"), ("d", "f8"), ("h", "f2"), ("n", INNER)])
FIELD = "d"
Pair = namedtuple("Pair", ["left", "right"])
HALVES = Pair(0.5, 2)


@pygpu.jit
def twice(record):
    record.d *= 2
    return record.n.x


@pygpu.kernel
def fields(r, p, out):
    i = cuda.grid(1)
    if i >= r.size:
        return
    one = r[i]
    one.a = i * HALVES.left
    one["b"] += 3
    r[i].v[1] = one.b
    r.v[i, 2] = 7
    r["b"][i] += 1
    p[i].c = -i
    p[i][FIELD] = i + 0.25
    p[i].h = 1.5
    p[i].n.x = 4
    p[i].n.y = 1 + 2j
    out[i] = twice(p[i]) + p[i].d + p[i].n.y.imag + r.a[i] + p[i].h
    other = p[i] if i % 2 else p[i]
    out[i] += other.n.x
    own = cuda.local.array(2, ALIGNED)
    own[1] = r[i]
    own[1].a += HALVES.right
    own[1]["a"] += 1
    r[i] = own[1]


@pygpu.kernel
def store_halves(p, x):
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        p[i].h = x[i]


def test_halves_at_any_address(make: Any) -> None:
    """Rounded as NumPy does: ties, what is too small or too large for a half, inf and nan."""
    halves = np.arange(0, 0x7C00, dtype="u2").view("f2").astype("f4")
    middle = (halves[1:] + halves[:-1]) / 2
    x = np.concatenate(
        [halves, middle, np.nextafter(middle, np.float32(0)), np.nextafter(middle, np.float32(9e9))]
    )
    x = np.concatenate([x, -x, np.array([65519.9, 65520, 1e6, 1e38, 1e-9, 1e-40, np.inf, np.nan])])
    x = x.astype("f4")
    p = make(np.zeros(len(x), PACKED))
    store_halves[64, 64](p, make(x))
    with np.errstate(over="ignore"):
        assert np.array_equal(p.get()["h"], x.astype("f2"), equal_nan=True)


@pytest.mark.parametrize("n", [1, 37])
def test_fields(make: Any, n: int) -> None:
    r, p, out = make(np.zeros(n, ALIGNED)), make(np.zeros(n, PACKED)), make(np.zeros(n))
    fields[2, 32](r, p, out)
    i = np.arange(n)
    found = r.get()
    assert (found["a"] == i * 0.5 + 3).all()
    assert (found["b"] == 4).all()
    assert (found["v"] == [0, 3, 7]).all()
    found = p.get()
    assert (found["c"] == (-i).astype("i1")).all()
    assert (found["d"] == 2 * i + 0.5).all()
    assert (found["h"] == 1.5).all()
    assert (found["n"]["x"] == 4).all()
    assert (found["n"]["y"] == 1 + 2j).all()
    assert np.allclose(out.get(), 4 + 2 * i + 0.5 + 2 + 0.5 * i + 1.5 + 4)


@pygpu.kernel(backend="cuda")
def one_record(record, pair, out):
    record.b = 5
    record.v[0] = pair.left[0]
    out[0] = record.a + pair.right


def test_records_are_passed_by_value(cuda_context: Any) -> None:
    host = np.array([(1.5, 0, [0, 0, 0])], ALIGNED)[0]
    out = np.zeros(1)
    one_record[1, 1](host, Pair(np.array([9.0]), 3), out)
    assert (host["b"], host["v"][0], out[0]) == (5, 9, 4.5)


def _refused(body: str, message: str) -> None:
    text = f"def f(r, p, a):\n    {body}\n"
    space: dict[str, Any] = {"HALVES": HALVES, "np": np}
    exec(text, space)
    kernel = pygpu.kernel(space["f"], src=text, backend="cuda")
    with pytest.raises(pygpu.KernelError, match=message) as caught:
        kernel[1, 1](np.zeros(2, ALIGNED), np.zeros(2, PACKED), np.zeros(2))
    assert "^" in str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("r[0].q = 1", "no field 'q'; it has a, b, v"),
        ("a[0] = r[0].q", "no field 'q'"),
        ("a[0] = r[0]['q']", "no field 'q'"),
        ("a[0] = r[0][9]", "a record of"),
        ("r[0] = p[0]", "cannot be stored as"),
        ("r[0] = 3", "cannot be stored as"),
        ("a[0] = r[0]", "a number is needed"),
        ("a[0] = r[0] + 1", "a number is needed"),
        ("a[0] = p.d[0]", "align=True"),
        ("HALVES.left = 2", "attributes cannot be assigned"),
        ("a[:] = r.v", "cannot be assigned to"),
    ],
)
def test_wrong_uses_of_records_are_refused(cuda_context: Any, body: str, message: str) -> None:
    _refused(body, message)


@pygpu.kernel
def halves(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = x[i] + y[i] - x[i]
        out[i, 1] = x[i] * y[i] / x[i]
        out[i, 2] = x[i] * y[i] + y[i] * y[i] - x[i]
        out[i, 3] = (x[i] + np.float16(2048)) - np.float16(2048)
        out[i, 4] = x[i] * 3 + y[i] ** 2


def test_float16_is_rounded_after_each_operation(make: Any) -> None:
    rng = np.random.default_rng(5)
    x, y = (rng.uniform(-300, 300, 500).astype("f2") for _ in range(2))
    x[:3], y[:3] = [0, np.inf, 6e-8], [3, 1, np.nan]
    out = make(np.zeros((500, 5), "f2"))
    halves[2, 256](make(x), make(y), out)
    big = np.float16(2048)
    with np.errstate(all="ignore"):
        right = [x + y - x, x * y / x, x * y + y * y - x, (x + big) - big, x * 3 + y * y]
    assert np.array_equal(out.get(), np.stack(right, 1), equal_nan=True)


def test_too_much_memory(make: Any) -> None:
    for kind in ("shared", "local"):
        text = f"def f(a):\n    s = cuda.{kind}.array(1 << 30, np.float64)\n    a[0] = s[0]\n"
        space: dict[str, Any] = {"cuda": cuda, "np": np}
        exec(text, space)
        with pytest.raises(pygpu.KernelError, match=f"{kind}.array.. of 8589934592 bytes"):
            pygpu.kernel(space["f"], src=text)[1, 1](make(np.zeros(1)))
