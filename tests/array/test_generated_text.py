"""NVIDIA's compiler has nothing to say about generated kernels; it does about a user's own text."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent.parent / "simulator"))
import cuda_by_ctypes  # noqa: E402

import pygpu as cl
from pygpu import cuda
from pygpu._src.runtime import kernel_cache
from pygpu._src.runtime.cuda.backend import CUDABackend
from pygpu.cuda import curandom, elementwise, gpuarray, reduction, scan


@pytest.fixture(scope="module")
def nvrtc():
    library = cuda_by_ctypes.open_nvrtc()
    if library is None:
        pytest.skip("NVIDIA's NVRTC is not installed")
    return library


class Seen(BaseException):
    """A text went to the compiler: the rest of the operation is of no interest."""


@pytest.fixture
def said(nvrtc, monkeypatch):
    """said(f): what NVRTC says of the first text that f compiles."""
    texts = []

    def note(self, source, options=(), searched=False):
        texts.append((source, tuple(options)))
        raise Seen

    headers = (f"-I{Path(cuda.__file__).parent / 'include'}", *cuda_by_ctypes.toolkit_options())

    def run(operation):
        texts.clear()
        monkeypatch.setattr(CUDABackend, "compile", note)
        monkeypatch.setattr(kernel_cache, "_works", False)  # no thread compiles
        with pytest.raises(Seen):
            operation()
        monkeypatch.undo()
        source, options = texts[0]
        nvrtc.compile(source, ("--gpu-architecture=sm_90", *headers, *options))
        return nvrtc.log.strip("\0\n ")

    return run


def arrays():
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    return gpuarray.to_gpu(a), gpuarray.to_gpu(a.astype(np.int64)), gpuarray.to_gpu(a > 3)


@cl.vectorize
def first_of_two(a, b):
    unread = b * 2  # noqa: F841
    return a


def walks(x, n):
    unread = n + 1  # noqa: F841
    i = cuda.grid(1)
    cuda.atomic.add(x, 0, 1)  # whose result nobody reads
    rows = x[1:]
    rows[i] = 2


# A dtype that no other test uses makes a new text in a process where others ran before.
OPERATIONS = {
    "unused input": lambda f, i, m: np.isnan(gpuarray.empty(77, np.uint64)),
    "half": lambda f, i, m: f.astype(np.float16),
    "complex": lambda f, i, m: f.astype(np.complex64),
    "rows": lambda f, i, m: np.copysign(gpuarray.zeros((64, 64), "f4"), gpuarray.zeros(64, "f4")),
    "columns": lambda f, i, m: gpuarray.empty((3, 70), np.int16).argmin(0),
    "sum": lambda f, i, m: gpuarray.empty((3, 70), np.int16).sum(1),
    "any": lambda f, i, m: gpuarray.empty((5, 70), np.int16).any(0),
    "scan": lambda f, i, m: gpuarray.empty(700, np.int16).cumsum(),
    "long scan": lambda f, i, m: gpuarray.empty(300_000, np.int16).cumsum(),
    "scan of long rows": lambda f, i, m: gpuarray.empty((3, 70_000), np.uint16).cumsum(1),
    "scan of columns": lambda f, i, m: gpuarray.empty((70, 3), np.int16).cumprod(0),
    "mask": lambda f, i, m: gpuarray.empty((8, 8), np.int16)[m],
    "matmul": lambda f, i, m: gpuarray.empty((8, 8), np.int16) @ gpuarray.empty((8, 8), np.int16),
    "tiles": lambda f, i, m: gpuarray.empty((70, 20), "u2") @ gpuarray.empty((20, 33), "u2"),
    "tiles of columns": lambda f, i, m: (
        gpuarray.empty((70, 20), "u2") @ gpuarray.empty((32, 20), "u2").T
    ),
    "tiles of parts": lambda f, i, m: (
        gpuarray.empty((20, 9000), "i2") @ gpuarray.empty((9000, 20), "i2")
    ),
    "row": lambda f, i, m: gpuarray.empty((300, 70), "u2") @ gpuarray.empty(70, "u2"),
    "row of columns": lambda f, i, m: gpuarray.empty(70, "i2") @ gpuarray.empty((70, 64), "i2"),
    "transposed": lambda f, i, m: gpuarray.empty((80, 80), "V3").T._copy(order="C"),
    "random": lambda f, i, m: curandom.rand(100, np.uint32),
    "snippet": lambda f, i, m: elementwise.ElementwiseKernel("float *x, int k", "x[i] = 1")(f, 2),
    "reduction": lambda f, i, m: reduction.ReductionKernel(
        np.float32, "0", "a + b", "x[i]", "float *x, float *unread"
    )(f.ravel(), f.ravel()),
    "prefix": lambda f, i, m: scan.InclusiveScanKernel(np.int64, "a + b")(i.ravel()),
    "vectorize": lambda f, i, m: first_of_two(f, i),
    "at": lambda f, i, m: np.negative.at(gpuarray.empty(9, np.uint16), [1, 1, 2]),
    "accumulate": lambda f, i, m: np.bitwise_or.accumulate(gpuarray.empty(70, np.uint16)),
    "reduce": lambda f, i, m: np.gcd.reduce(gpuarray.empty(70, np.uint16)),
    "one of two results": lambda f, i, m: cl.vectorize(fraction)(f),
    "fused": lambda f, i, m: cl.fuse(unread_parts)(i, f),
    "jit": lambda f, i, m: cuda.jit(walks)[1, 8](i.ravel(), 3),
    "guvectorize": lambda f, i, m: cl.guvectorize("(n),()->()")(total)(f, 1, dtype="f4"),
}


def fraction(x):
    return np.modf(x)[0] + np.frexp(x)[1]


def unread_parts(x, y):
    return np.isnan(x) + y


def total(x, unread, out):
    out[0] = 0
    for k in range(x.shape[0]):
        out[0] += x[k]


@pytest.mark.parametrize("name", OPERATIONS)
def test_generated_kernels_make_no_warning(said, name):
    operands = arrays()
    backend = operands[0].backend
    kept = dict(backend.kernels)
    backend.kernels.clear()  # of other tests
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert said(lambda: OPERATIONS[name](*operands)) == ""
    finally:
        backend.kernels.update(kept)


def test_a_users_own_text_does(said):
    x = arrays()[0]
    kernel = elementwise.ElementwiseKernel("float *x", "int mine; x[i] = 1", "own_text")
    assert 'variable "mine" was declared but never referenced' in said(lambda: kernel(x))
