"""Everything that a function of ``pygpu.fuse`` may contain, a row each, against NumPy; and what it
may not contain, with the error that says what to do instead."""

from __future__ import annotations

import types
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import xp
from pygpu.fusion import Untraceable

X = (np.arange(24, dtype=np.float32).reshape(4, 6) * 7 % 11 - 4) / 2
S = X[:, :4] @ X[:, :4].T + 20 * np.eye(4, dtype=np.float32)
K = np.arange(24, dtype=np.int32).reshape(4, 6) % 5
Pair = namedtuple("Pair", "low high")


class _OnHost(np.ndarray):
    """NumPy's arrays, with the device that constructors of pygpu.xp are given."""

    device = None


class _Names:
    """NumPy's functions by the names of pygpu.xp."""

    cumulative_sum = staticmethod(np.cumsum)
    astype = staticmethod(lambda x, dtype: x.astype(dtype))

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, device: Any = None, **options: Any) -> Any:
            return getattr(np, name)(*args, **options)

        return call if callable(getattr(np, name)) and name not in _TYPES else getattr(np, name)


_TYPES = ("float32", "int16")


def of_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with NumPy's functions in the place of those of pygpu.xp."""
    names = {**function.__globals__, "xp": _Names()}
    return types.FunctionType(function.__code__, names, None, function.__defaults__)


def assigned(x: Any) -> Any:
    y = x + 1
    y[1:-1, ::2] = x[1:-1, ::2] * 2
    y[0] = 7
    y[:, 1] += x[:, 0]
    v = y[2:]
    v *= 3
    y[-1][1:] = x[0, :-1]
    return y, v


def into(x: Any) -> Any:
    y = np.empty_like(x)
    np.add(x, 1, out=y)
    np.multiply(y, 2, out=y[:, ::-1])
    return y


def branches(x: Any, scale: float = 2.0, flip: bool = True) -> Any:
    for i in range(x.shape[0] - 1):
        x = x + x[i] if i % 2 else x * scale
    if x.ndim == 2 and flip and x.dtype.kind == "f":
        x = x[::-1]
    return x


def nested(x: Any) -> Any:
    return {"sum": x.sum(0), "parts": [x[:2], (x[2:] + 1, 3)], 2: None, "name": "n"}


def iterated(x: Any) -> Any:
    first, *rest = x
    return first + sum(rest), [row.max() for row in x]


def choices(x: Any, i: Any) -> Any:
    return np.where(x > 1, x, i), np.where(i, x, 0.5), np.select([x > 1, x < -1], [x, -x], 9)


FORMS: dict[str, Callable[..., Any]] = {
    "operators": lambda x: (-x + 3) * 2 / (x * x + 1) - x // 2 + (x % 3) ** 2 + abs(x) ** 0.5,
    "integers": lambda i: ((i << 2 | 1) ^ (i & 3), ~i, i // 2, i % 3, i**2, i / 2, divmod(i, 3)[1]),
    "comparisons": lambda x, i: ((x > 1) & (i < 3) | (x == i), x != 0, ~(x >= 0)),
    "scalars": lambda x: (x * np.float64(2), x + np.float32(1), x * np.pi, x + 1j),
    "ufuncs": lambda x: np.exp(np.sin(x)) + np.hypot(x, 2) + np.log1p(np.abs(x)) + np.sqrt(x * x),
    "more ufuncs": lambda x: np.maximum(x, 0) + np.minimum(x, 1) + np.sign(x) + np.floor(x),
    "tests of items": lambda x: (np.isnan(x), np.isfinite(x), np.signbit(x), np.logical_not(x)),
    "two results": lambda x: (*np.modf(x), *np.divmod(x, 2)),
    "casts": lambda x: (x.astype("i4"), x.astype(np.float64), xp.astype(x, np.int16)),
    "where": choices,
    "clip": lambda x: (x.clip(-1, 1), np.clip(x, 0, None), xp.clip(x, -1, 2), np.clip(x, x / 2, 3)),
    "arange": lambda x: (x + np.arange(6), xp.arange(6, dtype=xp.float32, device=x.device) * x),
    "constructors": lambda x: (
        np.zeros_like(x) + x,
        np.ones_like(x),
        np.full_like(x, 2.5),
        xp.zeros((2, 3), device=x.device) + xp.ones(3, device=x.device),
        xp.full((2,), 3, device=x.device) * 2,
        xp.linspace(0, 1, 6, device=x.device) + x,
        xp.eye(4, device=x.device) @ x,
    ),
    "host arrays": lambda x: x * np.array([1, 2, 3, 4, 5, 6], np.float32),
    "several reductions": lambda x: (x.sum(), x.max(0), x.argmin(1), (x > 0).any(1), x.prod(0)),
    "reductions in the middle": lambda x: (x - x.mean()) / (x.std() + 1) + x.sum(0),
    "reductions of reductions": lambda x: ((x - x.max(1, keepdims=True)).sum(1) * 2).max(),
    "keywords": lambda x: (
        np.sum(x, axis=1, keepdims=True),
        np.mean(x, axis=(0, 1)),
        np.var(x, axis=0, ddof=1),
        x.std(axis=-1, ddof=1, keepdims=True),
        np.sum(x, axis=0, dtype=np.float64),
        np.all(x, axis=1),
        np.amax(x, axis=0),
        np.count_nonzero(x, axis=0),
        np.ptp(x, axis=1),
    ),
    "reductions with where= and initial=": lambda x: (
        np.sum(x, where=x > 0),
        np.max(x, axis=1, initial=0),
        np.add.reduce(x, axis=1),
        np.maximum.reduce(x),
    ),
    "other statistics": lambda x: (
        np.median(x, axis=1),
        np.average(x, axis=0),
        np.nanmax(x, axis=0),
    ),
    "products": lambda x: (x @ x.T, np.dot(x, x.T) + 1, np.matmul(x.T, x), x[0] @ x[1]),
    "tensor products": lambda x: (
        np.einsum("ij,kj->ik", x, x),
        np.outer(x[0], x[1]),
        np.tensordot(x, x, 2),
        np.inner(x, x),
    ),
    "solutions": lambda s: (np.linalg.solve(s, s[0]), np.linalg.inv(s), np.linalg.norm(s)),
    "slices": lambda x: (x[1:-1, ::2] + 1, x[::-1], x[2], x[1, 2] + 0, x[..., -1], x[:, None, 1:]),
    "indices": lambda x, i: (x[i[0] % 4], x[:, [0, 2]], x[np.array([1, 0])], np.take(x, i, axis=1)),
    "taken along": lambda x: (
        np.take_along_axis(x, np.argsort(x, axis=1), 1),
        x.take([1, 3], axis=1),
    ),
    "assignments": assigned,
    "out=": into,
    "sorted": lambda x: (np.sort(x, axis=0), np.argsort(x, axis=1, kind="stable"), np.sort(x + 1)),
    "scans": lambda x: (np.cumsum(x, axis=1), (x + 1).cumsum(0), np.cumprod(x[:2]), np.diff(x)),
    "searches": lambda x: (np.searchsorted(np.arange(6.0), x), np.digitize(x, np.arange(3.0))),
    "shapes": lambda x: (
        x.reshape(6, 4) + 1,
        x.reshape(-1, 2, order="C"),
        np.reshape(x + 1, (2, 12)),
        x.ravel()[::2],
        x.flatten(),
        np.squeeze(x[:1]),
        x[:, :, None] + np.expand_dims(x, 1),
    ),
    "transposes": lambda x: (
        x.T + 1,
        x.transpose(1, 0),
        np.swapaxes(x, 0, 1),
        np.moveaxis(x, 0, 1),
    ),
    "joins": lambda x: (
        np.concatenate([x, x + 1], axis=1),
        np.stack([x, -x]),
        np.vstack((x, x)),
        np.hstack([x, x]),
        np.concatenate((x[0], x[:, 0])) * 2,
    ),
    "splits": lambda x: (*np.split(x, 2), *np.array_split(x + 1, 3, axis=1)),
    "repeats": lambda x: (
        np.tile(x, (2, 1)),
        np.repeat(x, 2, axis=0),
        np.broadcast_to(x[0], (3, 6)),
    ),
    "moves": lambda x: (
        np.roll(x, 1, axis=0),
        np.flip(x, 1),
        np.pad(x, 1),
        np.rot90(x),
        np.tril(x),
    ),
    "transforms": lambda x: (np.fft.rfft(x), np.fft.fft(x, axis=0).real),
    "methods": lambda x: (x.dot(x.T), x.copy(), x.round(), x.repeat(2), x.trace(), x.diagonal()),
    "complex numbers": lambda x: (
        (x + 1j * x).conj(),
        np.abs(x - 1j),
        (x * 1j).imag + 1,
        np.real(x * (1 + 1j)),
    ),
    "pygpu.xp": lambda x: (
        xp.exp(x) + xp.sum(x, axis=1, keepdims=True),
        xp.stack([x, x]),
        xp.matmul(x, x.T),
        xp.where(x > 0, x, xp.zeros_like(x)),
        xp.argmax(x, axis=1),
        xp.reshape(x, (-1,)),
        xp.cumulative_sum(x, axis=1),
    ),
    "shapes that decide": branches,
    "rows of an array": iterated,
    "dicts, lists and tuples": nested,
    "named tuples": lambda x: Pair(x.min(), (x.max(),)),
    "attributes": lambda x: x * x.size + x.shape[1] + len(x) + x.ndim + x.nbytes + x.itemsize,
    "lambda and comprehension": lambda x: sum([(lambda v: v * 2)(x[:, k]) for k in range(3)]),
}
ARGUMENTS = {"x": X, "i": K, "s": S, "scale": 1.5, "flip": True}


def items(result: Any) -> Any:
    """The structure of a result, with arrays on the host."""
    if isinstance(result, dict):
        return {k: items(v) for k, v in result.items()}
    if isinstance(result, (tuple, list)):
        each = [items(v) for v in result]
        return type(result)(*each) if hasattr(result, "_make") else type(result)(each)
    return result.get() if hasattr(result, "backend") else result


def same(got: Any, wanted: Any, what: str) -> None:
    if isinstance(wanted, dict):
        assert list(got) == list(wanted)
        got, wanted = list(got.values()), list(wanted.values())
    elif isinstance(wanted, (tuple, list)):
        assert type(got) is type(wanted)
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for k, (g, w) in enumerate(zip(got, wanted, strict=True)):
            same(g, w, f"{what}[{k}]")
    elif wanted is None or isinstance(wanted, (str, int)):
        assert got == wanted, what
    else:
        g, w = np.asarray(got), np.asarray(wanted).view(np.ndarray)
        assert g.shape == w.shape, what
        assert g.dtype.kind == w.dtype.kind, what
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-4, err_msg=what)


@pytest.mark.sampled(opencl=0, cuda=1)
@pytest.mark.parametrize("name", FORMS)
def test_forms(make, name):
    function = FORMS[name]
    count = function.__code__.co_argcount - len(function.__defaults__ or ())
    hosts = [ARGUMENTS[k] for k in function.__code__.co_varnames[:count]]
    with np.errstate(all="ignore"):
        wanted = of_host(function)(*(h.copy().view(_OnHost) for h in hosts))
    fused = pygpu.fuse(function)
    arrays = [make(h) for h in hosts]
    for _ in range(2):
        same(items(fused(*arrays)), wanted, name)
    for array, host in zip(arrays, hosts, strict=True):
        assert np.array_equal(array.get(), host)


def refused_value(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def refused_loop(x: Any) -> Any:
    while float(x.max()) > 1:
        x = x / 2
    return x


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "if": (refused_value, "use numpy.where"),
    "float": (refused_loop, "use numpy.where"),
    "masks": (lambda x: x[x > 0], "call it outside"),
    "shapes by values": (lambda x: np.nonzero(x), "call it outside"),
    "unique": (lambda x: xp.unique_values(x), "call it outside"),
    "to the host": (lambda x: x.get(), "call it outside"),
    "NumPy array": (lambda x: np.asarray(x), "use numpy.where"),
    "sets": (lambda x: {1, 2}, "tuples, lists, dicts and dataclasses"),
    "strings of arrays": (lambda x: np.array2string(x), "numpy.array2string"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_forms_say_what_to_do(opencl_maker, name):
    function, message = REFUSED[name]
    with pytest.raises(Untraceable, match=message):
        pygpu.fuse(function)(opencl_maker(X))


def test_arguments_by_name(opencl_maker):
    fused = pygpu.fuse(branches)
    for options in ({}, {"scale": 3.0}, {"flip": False, "scale": 1}):
        got = fused(opencl_maker(X), **options)
        np.testing.assert_allclose(got.get(), branches(X, **options), rtol=1e-5)


def test_results_are_new_containers(opencl_maker):
    fused = pygpu.fuse(nested)
    x = opencl_maker(X)
    one, other = fused(x), fused(x)
    assert one is not other
    assert one["parts"] is not other["parts"]
    one["parts"].clear()
    assert len(fused(x)["parts"]) == 2
