"""Kernels and ufuncs of the main program and of functions in other processes, by cloudpickle."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import pygpu

pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")

pytestmark = pytest.mark.sampled(3)

SENDER = """
import pickle, sys
import cloudpickle, numpy as np
import pygpu
from pygpu import cuda

def triple(x):
    return x * 3

@cuda.jit(device=True)
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)

@cuda.jit("void(float64[:], int64)")
def fill(out, n):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = triple(i) + factorial(n)

def make(c):
    @pygpu.guvectorize(["(float64[:], float64[:])"], "(n)->()")
    def total(a, out):
        s = 0.0
        for i in range(a.size):
            s += a[i]
        out[0] = s * c

    return pygpu.vectorize(lambda x: x - c), total

assert pickle.loads(pickle.dumps(fill)) is fill
sent = (fill, *make(10))
sys.stdout.buffer.write(cloudpickle.dumps(sent))
"""
RECEIVER = """
import pickle, sys
import numpy as np
fill, minus, total = pickle.loads(sys.stdin.buffer.read())
out = np.zeros(3)
fill[1, 3](out, 4)
assert out.tolist() == [24, 27, 30]
try:
    fill[1, 3](out.astype("complex64"), 4)
except TypeError as error:
    assert "No matching definition" in str(error)  # its signature came along
assert minus(np.arange(3.0)).tolist() == [-10, -9, -8]
assert total(np.ones((2, 3))).tolist() == [30, 30]
"""


def test_other_processes_get_kernels_by_value(cuda_context: object) -> None:
    options = {"check": True, "timeout": 120}
    made = subprocess.run([sys.executable, "-c", SENDER], capture_output=True, **options)
    subprocess.run([sys.executable, "-c", RECEIVER], input=made.stdout, **options)


def test_the_standard_pickle_takes_local_ufuncs(cuda_context: object) -> None:
    def made(c):  # type: ignore[no-untyped-def]
        return pygpu.vectorize(lambda x: x + c, target="cuda")

    found = pickle.loads(pickle.dumps(made(4)))
    assert found(np.arange(3)).tolist() == [4, 5, 6]
