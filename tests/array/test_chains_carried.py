"""Results carried over when a reduction ends their chain: read again, dropped, or written."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

os.environ.setdefault("PYGPU_CUDA", "auto")

from pygpu._src.array import chains
from pygpu.cuda import driver, gpuarray

pytestmark = pytest.mark.usefixtures("current_context")


@pytest.fixture(autouse=True)
def _late():
    """Every operation is deferred as long as possible, and results of any size are carried over."""
    chains.set_mode(2, wait=True, often=1, wait_us=1_000_000)
    yield
    chains.set_from_environment()


X = np.random.default_rng(5).uniform(-2, 2, (33, 9)).astype(np.float32)
M = X.max(axis=1, keepdims=True)


def launched(program, *hosts):
    """What the program returns once its kernels are known, and how many launches it took."""
    chains.flush()
    arrays = [gpuarray.to_gpu(h) for h in hosts]
    for _ in range(5):
        kept = program(*arrays)
        chains.flush()
        del kept
        arrays = [gpuarray.to_gpu(h) for h in hosts]
    before = chains.counts()
    results = program(*arrays)
    chains.flush()
    after = chains.counts()
    count = after["fused"] + after["unfused"] - before["fused"] - before["unfused"]
    return [np.asarray(r.get()) if hasattr(r, "get") else r for r in results], count


def plain(program, *hosts):
    chains.set_mode(0)
    arrays = [gpuarray.to_gpu(h) for h in hosts]
    results = [np.asarray(r.get()) if hasattr(r, "get") else r for r in program(*arrays)]
    chains.set_mode(2, wait=True, often=1, wait_us=1_000_000)
    return results


def normalized(x, m):
    e = np.exp(x - m)
    return (e / e.sum(axis=1, keepdims=True),)


def entropy(x, m):
    e = np.exp(x - m)
    p = e / e.sum(axis=1, keepdims=True)
    return ((p * np.log(p + 1e-6)).sum(axis=1),)


def both(x, m):
    e = np.exp(x - m)
    return e, e.sum(axis=1)


def operand_changes(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1)
    x += 1
    return e, s, x


def operand_is_assigned(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1, keepdims=True)
    x[3:5] = 0
    return e / s, x


def result_changes(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1)
    e *= 2
    return e, s


def result_is_written(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1)
    np.add(x, 1, out=e)
    return e, s


def view_is_read(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1)
    return e[:, 2] + s, e.T + 1


def view_is_written(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1)
    e[:, :2] = 7
    return e, s


def reduced_again(x, m):
    e = np.exp(x - m)
    return e.sum(axis=1), e.sum(axis=0), e.max()


def another_result_is_carried(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1, keepdims=True)
    f = x * m
    t = f.sum(axis=1, keepdims=True)
    return e - t, f - s


def other_shapes_between(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1)
    w = np.sqrt(s + 1) * 3
    return ((e * w[:, None]).sum(axis=0), w)


def a_view_keeps_it(x, m):
    e = np.exp(x - m)
    v = e[1:]
    s = e.sum(axis=1)
    del e
    return v, s


def sums_are_written_to_the_operand(x, m):
    """By reductions that have nothing to do with what waits, and so could overtake it."""
    e = np.exp(x - m)
    s = e.sum(axis=1, keepdims=True)
    np.sum(m, axis=0, out=x[0, :1])
    np.sum(np.concatenate([m, m], axis=1), axis=1, out=x[:, 1])
    return e / s, x


def sums_of_a_chain_are_written_to_its_operand(x, m):
    e = np.exp(x - m)
    np.sum(e, axis=1, out=x[:, 0])
    np.sum(x * 2, axis=0, out=x[5])
    return e, x


def sums_of_another_chain_are_written_to_the_operand(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1, keepdims=True)
    np.sum(m * 2 + s, axis=1, out=x[:, 0])
    return e / s, x


def sums_are_written_to_the_result(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1)
    np.max(m * 3, axis=1, out=e[:, 4])
    return e, s


def the_operand_is_filled_and_sorted(x, m):
    e = np.exp(x - m)
    s = e.sum(axis=1, keepdims=True)
    x[7].fill(3)
    np.cumsum(x[1], out=x[2])
    x[3] = np.sort(x[4])
    np.matmul(x[9:18], x[18:27], out=x[:9])
    return e / s, x


PROGRAMS = [
    sums_are_written_to_the_operand,
    sums_of_a_chain_are_written_to_its_operand,
    sums_of_another_chain_are_written_to_the_operand,
    sums_are_written_to_the_result,
    the_operand_is_filled_and_sorted,
    normalized,
    entropy,
    both,
    operand_changes,
    operand_is_assigned,
    result_changes,
    result_is_written,
    view_is_read,
    view_is_written,
    reduced_again,
    another_result_is_carried,
    other_shapes_between,
    a_view_keeps_it,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_results_are_the_same_bits(program):
    expected = plain(program, X, M)
    got, _ = launched(program, X, M)
    for a, b in zip(got, expected, strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_command_after_the_first_launch_of_a_kernel_finds_nothing_carried():
    """With the modes that users have: the command itself launches the chain, and writes what its
    steps read."""
    chains.set_mode(1, wait=True, often=3)
    big = np.random.default_rng(6).uniform(-2, 2, (300, 300)).astype(np.float32)
    expected = np.exp(big) / np.exp(big).sum(axis=1, keepdims=True)
    for _ in range(12):
        x, y = gpuarray.to_gpu(big), gpuarray.to_gpu(big)
        e = np.exp(x)
        s = e.sum(axis=1, keepdims=True)
        np.sum(y, axis=1, out=x[:, 0])
        np.testing.assert_allclose((e / s).get(), expected, rtol=1e-5)


def test_softmax_and_its_entropy_take_two_launches():
    _, count = launched(entropy, X, M)
    assert count == 2


def test_pairs_are_never_written():
    x, m = X[:, :3].copy(), np.ones(33, np.float32)

    def forces(x, m):
        d = x[None] - x[:, None]
        r = (d * d).sum(axis=-1) + 1
        w = m[None] / (r * np.sqrt(r))
        return ((d * w[:, :, None]).sum(axis=1),)

    expected = plain(forces, x, m)
    got, count = launched(forces, x, m)
    assert got[0].tobytes() == expected[0].tobytes()
    assert count == 3


def test_any_other_command_has_them_written():
    x, m = gpuarray.to_gpu(X), gpuarray.to_gpu(M)
    for _ in range(6):  # also after it is known that carrying over brings nothing
        e = np.exp(x - m)
        s = e.sum(axis=1)
        address = int(e.gpudata)
        got = np.empty_like(X)
        driver.memcpy_dtoh(got, address)
        np.testing.assert_allclose(got, np.exp(X - M), rtol=1e-6)
        np.testing.assert_allclose(s.get(), np.exp(X - M).sum(axis=1), rtol=1e-5)
        del e


def test_they_are_written_after_a_while():
    x, m = gpuarray.to_gpu(X), gpuarray.to_gpu(M)
    for _ in range(4):
        chains.flush()
        e = np.exp(x - m)
        s = e.sum(axis=1, keepdims=True)
    f = s + 1  # launches the chain, but not what is carried over
    chains.set_mode(2, wait=True, often=1, wait_us=1000)
    f = s + 1
    before = chains.counts()
    deadline = time.monotonic() + 10
    while chains.counts() == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert chains.counts() != before
    np.testing.assert_allclose(e.get(), np.exp(X - M), rtol=1e-6)
    assert (f.get() == s.get() + 1).all()
