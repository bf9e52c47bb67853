"""The argument *stream* of everything that arrays have: what is taken, what is refused."""

import numpy as np
import pytest

import pygpu.cuda.driver as cuda
from pygpu.cuda import cumath, curandom, gpuarray
from pygpu.cuda.elementwise import ElementwiseKernel
from pygpu.cuda.gpuarray import to_gpu
from pygpu.cuda.reduction import ReductionKernel
from pygpu.cuda.scan import InclusiveScanKernel

from .stream_gate import Gate, opened_by

pytestmark = pytest.mark.usefixtures("context")

HOST = np.arange(1, 9, dtype=np.float32)
WRONG = ("x", object(), 2.5, HOST, True, [], b"")


def calls(a, b, index):
    """(name in the message, call with a stream): everything that has the argument."""
    xorwow, sobol = curandom.XORWOWRandomNumberGenerator(), curandom.Sobol32RandomNumberGenerator()
    fill = ElementwiseKernel("float *x", "x[i] = 1", name="fill_one")
    total = ReductionKernel(np.float32, "0", "a+b", "x[i]", arguments="float *x", name="total")
    scan = InclusiveScanKernel(np.int32, "a+b", name_prefix="running")
    g = gpuarray
    return [
        ("get", lambda s: a.get(stream=s)), ("get", lambda s: a.get_async(s)),
        ("set", lambda s: a.set(HOST, stream=s)), ("set", lambda s: a.set_async(HOST, s)),
        ("to_gpu_async", lambda s: g.to_gpu_async(HOST, stream=s)), ("copy", a.copy),
        ("astype", lambda s: a.astype(np.float64, s)), ("fill", lambda s: a.fill(1, s)),
        ("reverse", a.reverse), ("mul_add", lambda s: a.mul_add(1, b, 2, stream=s)),
        ("any", lambda s: a.any(stream=s)), ("all", lambda s: a.all(stream=s)),
        ("GPUArray", lambda s: g.GPUArray(3, np.int8, stream=s)), ("with_stream", a.with_stream),
        ("arange", lambda s: g.arange(5, dtype=np.float32, stream=s)),
        ("take", lambda s: g.take(a, index, stream=s)),
        ("multi_take", lambda s: g.multi_take([a], index, stream=s)),
        ("multi_put", lambda s: g.multi_put([a], index, out=[b], stream=s)),
        ("multi_take_put", lambda s: g.multi_take_put([a], index, index, out=[b], stream=s)),
        ("if_positive", lambda s: g.if_positive(a, a, b, stream=s)),
        ("where", lambda s: g.where(a, a, b, stream=s)),
        ("minimum", lambda s: g.minimum(a, b, stream=s)),
        ("maximum", lambda s: g.maximum(a, b, stream=s)),
        *((name, lambda s, name=name: getattr(g, name)(a, stream=s)) for name in
          ("sum", "any", "all", "min", "max")),
        ("dot", lambda s: g.dot(a, b, stream=s)),
        *((name, lambda s, name=name: getattr(g, name)(index, a, stream=s)) for name in
          ("subset_sum", "subset_min", "subset_max")),
        ("subset_dot", lambda s: g.subset_dot(index, a, b, stream=s)),
        ("sin", lambda s: cumath.sin(a, stream=s)), ("fmod", lambda s: cumath.fmod(a, b, s)),
        ("ldexp", lambda s: cumath.ldexp(a, b, s)), ("frexp", lambda s: cumath.frexp(a, s)),
        ("modf", lambda s: cumath.modf(a, s)),
        ("rand", lambda s: curandom.rand(8, stream=s)),
        ("fill_uniform", lambda s: xorwow.gen_uniform(8, np.float32, s)),
        ("fill_poisson", lambda s: xorwow.gen_poisson(8, np.float32, 2.0, s)),
        ("fill_normal", lambda s: sobol.fill_normal(a, s)),
        ("fill_one", lambda s: fill(a, stream=s)), ("total", lambda s: total(a, stream=s)),
        ("running", lambda s: scan(index, stream=s)),
        ("cuEventRecord", lambda s: cuda.Event().record(s)),
        ("memset_d32_async", lambda s: cuda.memset_d32_async(a.gpudata, 0, 8, s)),
        ("memcpy_htod_async", lambda s: cuda.memcpy_htod_async(a.gpudata, HOST, s)),
    ]  # fmt: skip


def test_values_other_than_streams_are_refused():
    a, b, index = to_gpu(HOST), to_gpu(HOST), to_gpu(np.arange(8, dtype=np.int32))
    for name, call in calls(a, b, index):
        for wrong in (*WRONG, a, cuda.Event()):
            if name == "astype" and isinstance(wrong, str):  # NumPy's second argument is an order
                continue
            with pytest.raises(TypeError, match=rf"{name}.*stream must be a Stream"):
                call(wrong)
        with pytest.raises(cuda.LogicError, match=f"{name}.*stream = 4660 is not a CUstream"):
            call(0x1234)
    assert (a.get() == HOST).all() and (b.get() == HOST).all() and (index.get() == range(8)).all()


@pytest.mark.parametrize("dtype", ["i1", "f4", "c16", [("a", "i4"), ("b", "f8")]], ids=str)
def test_arrays_are_set_from_the_device(dtype):
    host = np.arange(15).astype(np.int8).astype(dtype).reshape(3, 5)
    stream = cuda.Stream()
    for given in (host, np.asfortranarray(host), host[:0], host[0, 0].reshape(())):
        there = to_gpu(given)
        for copied in (to_gpu(there), gpuarray.to_gpu_async(there, stream=stream)):
            assert not there.size or copied.ptr != there.ptr
            assert (copied.shape, copied.strides) == (there.shape, there.strides)
            assert (copied.get() == given).all()
        other = gpuarray.empty(given.shape, dtype)
        other.set(there)
        assert (other.get() == given).all()
        other.fill(np.zeros((), dtype))
        other.set_async(there, stream=stream)
        assert (other.get_async(stream) == given).all()
    a = to_gpu(host)
    with pytest.warns(UserWarning, match="different shape"):
        a.set(to_gpu(host[::-1].ravel()))
    assert (a.get() == host[::-1]).all()
    a[:, :4].set(a[:, 1:])  # they overlap
    assert (a.get() == host[::-1][:, [1, 2, 3, 4, 4]]).all()
    with pytest.raises(ValueError, match="non-matching size"):
        a.set(a[0])
    with pytest.raises(ValueError, match="non-matching dtype"):
        a.set(gpuarray.zeros(a.shape, np.int16))


class Theirs:
    """A stream of another library."""

    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return 0, self.stream.handle


def test_streams_are_used():
    a, b, index = to_gpu(HOST), to_gpu(HOST[::-1].copy()), to_gpu(np.arange(0, 8, 3, np.int32))
    stream = cuda.Stream(1)  # one that does not wait for the default stream by itself
    for given in (stream, stream.handle, Theirs(stream)):
        for result, expected in (
            (gpuarray.sum(a, stream=given), 36),
            (gpuarray.max(a, stream=given), 8),
            (gpuarray.take(a, index, stream=given), HOST[::3]),
            (a.any(stream=given), True),
            (cumath.sqrt(a, stream=given), np.sqrt(HOST)),
            (gpuarray.subset_sum(index, a, stream=given), 12),
        ):
            assert result.stream == stream
            assert np.allclose(result.get(), expected)
    assert gpuarray.sum(a, stream=1).stream is None  # the default stream by its number
    allocated = []

    def allocator(n):
        allocated.append(n)
        return cuda.mem_alloc(n)

    assert gpuarray.logical_and(a, b, allocator=allocator).get().all()
    assert a.all(stream=stream, allocator=allocator).get()
    assert gpuarray.stack([a, b], allocator=allocator).shape == (2, 8)
    assert gpuarray.concatenate([a, b], allocator=allocator).size == 16
    assert len(allocated) == 4


def test_arrays_of_other_streams_are_waited_for():
    """Also by what C has remembered: each call is made twice, with the array's stream held up."""
    copy = ElementwiseKernel("float *z, const float *x", "z[i] = x[i]", name="copy_it")
    dot = ReductionKernel(
        np.float32, "0", "a+b", "x[i]*y[i]", "float *y, float *x", name="dot_product"
    )
    scan = InclusiveScanKernel(np.float32, "a+b", name_prefix="running_sum")
    uses = [
        lambda y, x: [copy(y, x), y.get()][1].sum() == 40,
        lambda y, x: dot(y, x).get() == 40,
        lambda y, x: [scan(x, y), y.get()][1][-1] == 40,
        lambda y, x: [copy(y, x, stream=cuda.Stream(1)), cuda.Context.synchronize()] and (
            y.get().sum() == 40),
        lambda y, x: [copy(x, y), x.get()][1].sum() == 8,  # and they wait for it
    ]  # fmt: skip
    for use in [*uses, *uses]:
        stream = cuda.Stream(1)  # one that does not wait for the default stream by itself
        y, whole = to_gpu(np.ones(8, np.float32)), gpuarray.zeros(8, np.float32)
        cuda.Context.synchronize()
        x = whole.with_stream(stream)
        with Gate(stream) as gate:
            x.fill(5)
            timer = opened_by(gate, 0.03)
            assert use(y, x)
        timer.join()


def test_the_default_stream_waits_without_the_host():
    copy = ElementwiseKernel("float *z, const float *x", "z[i] = x[i]", name="copy_it")
    for use in (lambda y, x: copy(y, x), lambda y, x: y.__iadd__(x)):
        y, whole = gpuarray.zeros(8, np.float32), gpuarray.zeros(8, np.float32)
        use(y, whole)  # compiled before
        stream = cuda.Stream(1)
        x = whole.with_stream(stream)
        x.fill(4)  # loading a kernel waits for the device
        cuda.Context.synchronize()
        with Gate(stream) as gate:
            x.fill(5)
            use(y, x)
            assert not gate.passed.is_set()
        assert (y.get() == 5).all()


def test_arrays_of_a_context_that_is_not_current():
    """None is the default stream of the array's context, not of the one that is current: what the
    one was told, copies on the other do not wait for."""
    a = to_gpu(HOST)
    other = cuda.Device(0).make_context()
    try:
        for _ in range(20):
            b = a + 1
            assert b.get().tolist() == (HOST + 1).tolist() == b.copy().get().tolist()
            assert gpuarray.sum(b).get() == (HOST + 1).sum()
            b.set(HOST)
            b[2:] = 7
            assert b.get().tolist() == [1, 2] + [7] * 6
            assert b.fill(3).get().tolist() == [3] * 8
        assert cuda.Context.get_current() is other
    finally:
        other.pop()
        other.detach()
    assert (a + 1).get().tolist() == (HOST + 1).tolist()
