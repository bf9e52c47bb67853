"""What a user gets wrong: an error of NumPy's type that says what is wrong, or NumPy's result."""

from __future__ import annotations

import copy
import math
import operator
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pygpu as cl
import pygpu.array
import pygpu.fft
import pygpu.linalg
import pygpu.random
from pygpu import xp

HUGE = 2**62


class Arrays:
    """The same arrays on the host and on a device."""

    def __init__(self, make):
        self.put = make
        self.f = make(np.arange(6, dtype=np.float32))
        self.g = make(np.arange(12, dtype=np.float64).reshape(3, 4))
        self.i = make(np.array([3, -1, 2, 0], np.int32))
        self.u = make(np.array([1, 2, 3], np.uint8))
        self.b = make(np.array([True, False, True]))
        self.c = make(np.array([1 + 2j, 3 - 1j, 0]))
        self.z = make(np.float32(2))
        self.e = make(np.zeros((0, 3), np.float32))
        self.n = make(np.array([1.0, np.nan, -2.0]))


def _set(array, key, value):
    array[key] = value


def _del(array, key):
    del array[key]


def _inplace(name, a, b):
    getattr(operator, name)(a, b)


ALIKE = {
    # indices
    "index beyond": lambda x: x.f[6],
    "index below": lambda x: x.f[-7],
    "index of second axis": lambda x: x.g[0, 4],
    "index too many": lambda x: x.f[0, 0],
    "index of no axes": lambda x: x.z[0],
    "index float": lambda x: x.f[1.5],
    "index str": lambda x: x.f["field"],
    "index complex": lambda x: x.f[1j],
    "index huge": lambda x: x.f[HUGE],
    "index beyond 64 bits": lambda x: x.f[2**70],
    "index two ellipses": lambda x: x.g[..., ...],
    "index list beyond": lambda x: x.f[[0, 6]],
    "index list of floats": lambda x: x.f[[0.0, 1.0]],
    "index ragged list": lambda x: x.f[[[0], [1, 2]]],
    "index array of floats": lambda x: x.f[x.put(np.array([0.5]))],
    "index mask too short": lambda x: x.f[x.b],
    "index mask of another shape": lambda x: x.g[x.put(np.ones((4, 3), bool))],
    "index arrays do not broadcast": lambda x: x.g[[0, 1], [0, 1, 2]],
    "index step 0": lambda x: x.f[::0],
    "index slice of floats": lambda x: x.f[0.0:2.0],
    "index slice far": lambda x: x.f[HUGE : 2 * HUGE],
    "index into nothing": lambda x: x.e[0],
    "set beyond": lambda x: _set(x.f, 6, 1),
    "set of another shape": lambda x: _set(x.f, slice(0, 3), np.zeros(2, np.float32)),
    "set array of another shape": lambda x: _set(x.g, 0, x.f),
    "set None in integers": lambda x: _set(x.i, 0, None),
    "set int beyond uint8": lambda x: _set(x.u, 0, 300),
    "set -1 in uint8": lambda x: _set(x.u, 0, -1),
    "set int beyond int64": lambda x: _set(x.i, 0, 2**70),
    "set complex in float": lambda x: _set(x.f, 0, 1j),
    "set list beyond": lambda x: _set(x.f, [0, 9], 1),
    "set mask too long": lambda x: _set(x.u, x.put(np.ones(5, bool)), 1),
    "set mask with too many": lambda x: _set(x.f, x.put(np.arange(6) < 3), np.zeros(2, np.float32)),
    "set broadcast view too wide": lambda x: _set(x.z, (), np.zeros(2, np.float32)),
    "delete an item": lambda x: _del(x.f, 0),
    "take beyond": lambda x: np.take(x.f, [6]),
    "take of nothing": lambda x: np.take(x.e, [0], 0),
    "take mode": lambda x: np.take(x.f, [0], mode="perhaps"),
    "take axis": lambda x: np.take(x.g, [0], axis=2),
    "put beyond": lambda x: np.put(x.f, [6], 1),
    "take_along_axis of floats": lambda x: np.take_along_axis(x.g, x.g, 1),
    "compress too long": lambda x: np.compress([0, 0, 0, 0, 0, 0, 1], x.f),
    # shapes and axes
    "reshape to another size": lambda x: x.f.reshape(4),
    "reshape two unknown": lambda x: x.f.reshape(-1, -1),
    "reshape unknown beside 0": lambda x: x.f.reshape(-1, 0),
    "reshape negative": lambda x: x.f.reshape(-2, -3),
    "reshape float": lambda x: x.f.reshape(2.0, 3.0),
    "reshape huge": lambda x: x.f.reshape(HUGE, HUGE),
    "reshape order": lambda x: x.f.reshape(2, 3, order="Q"),
    "transpose axes too few": lambda x: x.g.transpose(0),
    "transpose axis twice": lambda x: x.g.transpose(0, 0),
    "swapaxes beyond": lambda x: x.g.swapaxes(0, 2),
    "squeeze of 3": lambda x: x.g.squeeze(0),
    "squeeze beyond": lambda x: x.g.squeeze(5),
    "expand_dims twice": lambda x: np.expand_dims(x.f, (0, 0)),
    "expand_dims beyond": lambda x: np.expand_dims(x.f, 3),
    "moveaxis of two": lambda x: np.moveaxis(x.g, (0, 1), 0),
    "flip beyond": lambda x: np.flip(x.f, 1),
    "roll axes": lambda x: np.roll(x.g, (1, 2), (0, 1, 0)),
    "repeat negative": lambda x: np.repeat(x.f, -1),
    "repeat of other length": lambda x: np.repeat(x.f, [1, 2]),
    "broadcast_to smaller": lambda x: np.broadcast_to(x.f, (3,)),
    "broadcast_to negative": lambda x: np.broadcast_to(x.z, (-1,)),
    "concatenate nothing": lambda x: np.concatenate([x.f, x.g]),
    "concatenate other lengths": lambda x: np.concatenate([x.g, x.g[:2]], axis=1),
    "concatenate axis": lambda x: np.concatenate([x.f, x.f], axis=1),
    "concatenate without axes": lambda x: np.concatenate([x.z, x.z]),
    "stack other shapes": lambda x: np.stack([x.f, x.f[:2]]),
    "stack axis": lambda x: np.stack([x.f, x.f], axis=3),
    "split unevenly": lambda x: np.split(x.f, 4),
    "diagonal of one axis": lambda x: np.diagonal(x.f),
    "diagonal of one axis twice": lambda x: np.diagonal(x.g, 0, 1, 1),
    "pad mode": lambda x: np.pad(x.f, 1, "perhaps"),
    "pad negative": lambda x: np.pad(x.f, -1),
    "pad width of three": lambda x: np.pad(x.f, (1, 2, 3)),
    "sum axis": lambda x: x.f.sum(axis=1),
    "sum axis twice": lambda x: x.g.sum(axis=(0, 0)),
    "sum axis float": lambda x: x.g.sum(axis=0.5),
    "sum axis str": lambda x: x.g.sum(axis="rows"),
    "sum where of another shape": lambda x: np.sum(x.f, where=x.b),
    "sum out of another shape": lambda x: np.sum(x.g, axis=0, out=x.f),
    "sum into integers": lambda x: np.mean(x.g, axis=1, out=x.u, casting="no"),
    "max of nothing": lambda x: x.e.max(),
    "min of nothing over an axis": lambda x: np.min(x.e, axis=0),
    "argmax of nothing": lambda x: np.argmax(x.e, axis=0),
    "argmax of two axes": lambda x: np.argmax(x.g, axis=(0, 1)),
    "max where without initial": lambda x: np.max(x.f, where=x.f > 1),
    "cumsum axis": lambda x: np.cumsum(x.g, axis=2),
    "cumsum of axes": lambda x: np.cumsum(x.g, axis=(0, 1)),
    "sort axis": lambda x: np.sort(x.g, axis=2),
    "sort in place axis": lambda x: x.f.sort(axis=1),
    "sort of no axes": lambda x: np.sort(x.z),
    "searchsorted of two axes": lambda x: np.searchsorted(x.g, 1.0),
    "searchsorted side": lambda x: np.searchsorted(x.f, 1.0, side="middle"),
    "partition beyond": lambda x: np.partition(x.f, 6),
    "quantile beyond": lambda x: np.quantile(x.g, 1.5),
    "percentile below": lambda x: np.percentile(x.g, -1),
    "bincount negative": lambda x: np.bincount(x.i),
    "bincount of floats": lambda x: np.bincount(x.g[0]),
    "bincount weights": lambda x: np.bincount(x.u, x.g[0]),
    "histogram bins 0": lambda x: np.histogram(x.g, 0),
    "histogram range turned": lambda x: np.histogram(x.g, 3, (2, 1)),
    "histogram of NaN": lambda x: np.histogram(x.n, 3),
    "digitize unsorted": lambda x: np.digitize(x.f, np.array([3.0, 1.0, 2.0])),
    "interp lengths": lambda x: np.interp(x.f, x.f, x.g[0]),
    "choose beyond": lambda x: np.choose(x.put(np.array([0, 5])), [x.f[:2], x.f[:2]]),
    "select of other lengths": lambda x: np.select([x.f > 1], [x.f, x.f]),
    # operands
    "add of other lengths": lambda x: x.f + x.f[:4],
    "add str": lambda x: x.f + "word",
    "add None": lambda x: x.f + None,
    "add object": lambda x: x.f + object(),
    "add dict": lambda x: np.add(x.f, {}),
    "int beyond int32": lambda x: x.i + 2**40,
    "int beyond uint8": lambda x: x.u + 256,
    "negative int and uint8": lambda x: x.u - (-1),
    "int beyond 64 bits": lambda x: x.i * 2**70,
    "minus of bools": lambda x: x.b - x.b,
    "negative of bools": lambda x: -x.b,
    "floor_divide of complex": lambda x: x.c // 2,
    "remainder of complex": lambda x: x.c % x.c,
    "less of float and shift": lambda x: x.f << 1,
    "and of floats": lambda x: x.f & x.f,
    "invert of floats": lambda x: ~x.f,
    "shift by floats": lambda x: x.i >> 1.0,
    "negative power of integers": lambda x: x.i**-1,
    "floor of complex": lambda x: np.floor(x.c),
    "arctan2 of complex": lambda x: np.arctan2(x.c, x.c),
    "gcd of floats": lambda x: np.gcd(x.f, x.f),
    "ldexp of floats": lambda x: np.ldexp(x.f, x.f),
    "iadd float to int": lambda x: _inplace("iadd", x.i, 1.5),
    "itruediv of int": lambda x: _inplace("itruediv", x.i, 2),
    "iadd complex to float": lambda x: _inplace("iadd", x.f, 1j),
    "iadd wider": lambda x: _inplace("iadd", x.f[:1], x.f),
    "iadd of broadcast view": lambda x: _inplace("iadd", x.z, x.f),
    "isub of bools": lambda x: _inplace("isub", x.b, x.b),
    "out of another shape": lambda x: np.add(x.f, 1, out=x.g),
    "out of another kind": lambda x: np.add(x.f, 1, out=x.i[:3]),
    "out with float to int": lambda x: np.multiply(x.g[0], 2.0, out=x.i),
    "out two for one": lambda x: np.add(x.f, x.f, out=(x.f, x.f)),
    "out of a word": lambda x: np.add(x.f, x.f, out="word"),
    "where of another shape": lambda x: np.add(x.f, 1, out=x.f, where=x.b),
    "where of numbers": lambda x: np.add(x.f, 1, out=x.f, where=x.f),
    "dtype that cannot": lambda x: np.add(x.f, 1, dtype=np.int8),
    "dtype of a word": lambda x: np.add(x.f, 1, dtype="perhaps"),
    "casting rule": lambda x: np.add(x.f, 1, casting="perhaps"),
    "operands too few": lambda x: np.add(x.f),
    "operands too many": lambda x: np.sin(x.f, x.f, x.f),
    "keyword unknown": lambda x: np.add(x.f, 1, colour="red"),
    "astype of a word": lambda x: x.f.astype("perhaps"),
    "view of other size": lambda x: x.u.view(np.int32),
    "view of gaps": lambda x: x.f[::2].view(np.float64),
    "matmul of numbers": lambda x: x.g @ 2,
    "matmul of other lengths": lambda x: x.g @ x.g,
    "matmul without axes": lambda x: np.matmul(x.z, x.z),
    "dot of other lengths": lambda x: np.dot(x.f, x.g),
    "vdot of other lengths": lambda x: np.vdot(x.f, x.g),
    "tensordot axes": lambda x: np.tensordot(x.g, x.g, axes=3),
    "einsum letters": lambda x: np.einsum("ij,jk->iz", x.g, x.g.T),
    "einsum operands": lambda x: np.einsum("ij,jk", x.g),
    "einsum lengths": lambda x: np.einsum("ij,ij->i", x.g, x.g.T),
    "cross of four": lambda x: np.cross(x.g, x.g),
    "trace of one axis": lambda x: np.trace(x.f),
    "solve of no square": lambda x: np.linalg.solve(x.g, x.g),
    "norm of a word": lambda x: np.linalg.norm(x.g, "perhaps"),
    "bool of many": lambda x: bool(x.f),
    "bool of nothing": lambda x: bool(x.e),
    "int of many": lambda x: int(x.f),
    "index by float array": lambda x: operator.index(x.z),
    "len of no axes": lambda x: len(x.z),
    "iter of no axes": lambda x: list(x.z),
    "item of many": lambda x: x.f.item(),
    "item beyond": lambda x: x.f.item(6),
    "hash": lambda x: hash(x.f),
    "ceil by math": lambda x: math.ceil(x.f),
    # no errors in NumPy
    "argmax of NaN": lambda x: np.argmax(x.n),
    "argmin of NaN": lambda x: np.argmin(x.n),
    "sort of NaN": lambda x: np.sort(x.n),
    "argsort of NaN": lambda x: np.argsort(x.n),
    "max of NaN": lambda x: np.max(x.n),
    "maximum with NaN": lambda x: np.maximum(x.n, 0),
    "fmax with NaN": lambda x: np.fmax(x.n, 0),
    "sum of nothing": lambda x: np.sum(x.e, axis=1),
    "prod of nothing": lambda x: np.prod(x.e),
    "all of nothing": lambda x: np.all(x.e),
    "sort of nothing": lambda x: np.sort(x.e, axis=0),
    "cumsum of nothing": lambda x: np.cumsum(x.e),
    "unique of nothing": lambda x: np.unique(x.e),
    "concatenate with nothing": lambda x: np.concatenate([x.f, x.f[:0]]),
    "matmul of nothing": lambda x: np.matmul(x.e, x.e.T),
    "matmul over nothing": lambda x: np.matmul(x.e.T, x.e),
    "int8 overflow": lambda x: (x.u + np.uint8(255)) * np.uint8(3),
    "overlapping out": lambda x: np.add(x.f[1:], x.f[:-1], out=x.f[1:]),
    "overlapping out turned": lambda x: np.multiply(x.f, 2, out=x.f[::-1]),
    "overlapping assignment": lambda x: (_set(x.f, slice(1, None), x.f[:-1]), x.f)[1],
    "in place with itself turned": lambda x: operator.iadd(x.g, x.g[::-1]),
}


def outcome(case, arrays):
    try:
        with np.errstate(all="ignore"):
            return case(arrays), None
    except Exception as error:
        return None, error


KINDS = (IndexError, OverflowError, TypeError, ValueError, AttributeError)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ALIKE)
def test_as_numpy(make, name):
    want, error = outcome(ALIKE[name], Arrays(np.array))
    got, ours = outcome(ALIKE[name], Arrays(make))
    if error is None:
        assert ours is None, ours
        assert np.asarray(want).dtype == got.dtype
        np.testing.assert_array_equal(got.get(), want)
        return
    assert ours is not None, f"NumPy: {error!r}"
    kind = next(kind for kind in KINDS if isinstance(error, kind))
    assert isinstance(ours, kind), f"{ours!r}, NumPy: {error!r}"
    assert len(str(ours)) > 9  # it says something


DEVICES = {
    "no dtype": (TypeError, lambda m, x: m.zeros(x.q, 3, "perhaps")),
    "object": (TypeError, lambda m, x: m.zeros(x.q, 3, object)),
    "other byte order": (TypeError, lambda m, x: m.zeros(x.q, 3, ">f4")),
    "negative length": (ValueError, lambda m, x: m.zeros(x.q, -1, np.float32)),
    "float length": (TypeError, lambda m, x: m.zeros(x.q, 2.5, np.float32)),
    "huge": ((MemoryError, ValueError), lambda m, x: m.empty(x.q, (HUGE, HUGE), np.float64)),
    "more than memory": ((MemoryError, cl.Error), lambda m, x: m.empty(x.q, 2**50, np.uint8)),
    "33 axes": (ValueError, lambda m, x: m.zeros(x.q, (1,) * 33, np.float32)),
    "objects": ((TypeError, RuntimeError), lambda m, x: m.to_device(x.q, np.array([None]))),
    "get into another shape": (ValueError, lambda m, x: x.a.get(ary=np.empty(5, np.float32))),
    "get into another dtype": (TypeError, lambda m, x: x.a.get(ary=np.empty(6, np.int32))),
    "get into no array": (TypeError, lambda m, x: x.a.get(ary=[0] * 6)),
    "get into what is read-only": (ValueError, lambda m, x: x.a.get(ary=x.frozen)),
    "set of another size": (ValueError, lambda m, x: x.a.set(np.zeros(5, np.float32))),
    "to NumPy": (TypeError, lambda m, x: np.asarray(x.a)),
    "out on the host": (TypeError, lambda m, x: np.add(x.a, 1, out=np.empty(6, np.float32))),
    "host out of a sum": (TypeError, lambda m, x: np.sum(x.a, out=np.empty((), np.float32))),
    "array of words": (TypeError, lambda m, x: x.a + np.array(["a"])),
    "word as item": (TypeError, lambda m, x: _set(x.a, 0, "word")),
    "float of complex": (TypeError, lambda m, x: float((x.a[:1] * 1j)[0])),
    "shape as an attribute": (AttributeError, lambda m, x: setattr(x.a, "shape", (2, 3))),
    "datetimes": (TypeError, lambda m, x: x.a + np.datetime64("2020-01-01")),
    "function that is not there": (TypeError, lambda m, x: np.emath.sqrt(x.a)),
    "other device": (ValueError, lambda m, x: x.a + x.other),
    "index from another device": (ValueError, lambda m, x: x.a[x.other.astype(np.int32)]),
    "concatenate over devices": (ValueError, lambda m, x: np.concatenate([x.a, x.other])),
    "out on another device": (ValueError, lambda m, x: np.add(x.a, 1, out=x.other)),
}


@pytest.mark.parametrize("name", DEVICES)
def test_on_devices(make, opencl_maker, name):
    """What NumPy has no case of."""
    kind, case = DEVICES[name]

    class Names:
        q = make.queue
        a = make(np.arange(6, dtype=np.float32))
        frozen = np.zeros(6, np.float32)

    Names.frozen.flags.writeable = False
    if make.name == "opencl":
        import pygpu.array as module

        Names.other = module.to_device(
            cl.CommandQueue(cl.Context([make.backend.device])), np.arange(6, dtype=np.float32)
        )
    else:
        import pygpu.cuda.gpuarray as gpuarray

        Names.other = opencl_maker(np.arange(6, dtype=np.float32))

        class module:  # noqa: N801
            to_device = staticmethod(lambda queue, a: gpuarray.to_gpu(a))
            zeros = staticmethod(lambda queue, *a: gpuarray.zeros(*a))
            empty = staticmethod(lambda queue, *a: gpuarray.empty(*a))

    with pytest.raises(kind) as error:
        case(module, Names)
    assert len(str(error.value)) > 9
    assert Names.a.get().tolist() == [0, 1, 2, 3, 4, 5]


LAYOUT = {
    "shape": "reshape",
    "strides": "transpose",
    "dtype": r"astype.*view",
    "size": "shape",
    "nbytes": "shape",
    "itemsize": "dtype",
    "ndim": "shape",
}


@pytest.mark.parametrize("name", LAYOUT)
def test_the_layout_cannot_be_assigned(make, name):
    array = make(np.zeros((2, 3), np.float32))
    before, kind = getattr(array, name), type(array).__name__
    message = f"^{name} of {kind} objects cannot be assigned: .*{LAYOUT[name]}"
    with pytest.raises(AttributeError, match=message):
        setattr(array, name, before)
    with pytest.raises(AttributeError, match=message):
        delattr(array, name)
    assert getattr(array, name) == before


OPERATORS = (operator.add, operator.iadd, operator.eq, operator.lt, operator.pow, divmod)


@pytest.mark.parametrize("function", OPERATORS)
def test_shapes_that_do_not_fit_are_refused_at_the_line_of_the_operator(make, function):
    a, b = make(np.zeros((2, 3, 1))), make(np.zeros((4, 2)))
    for other in (b, np.zeros((4, 2))):
        with pytest.raises(ValueError, match=r"broadcast.* \(2, 3, 1\) \(4, 2\)") as caught:
            function(a, other)
        assert len(caught.traceback) == 1


def test_shapes_that_fit(make):
    a, b = make(np.zeros((2, 3, 1))), make(np.zeros((4, 2)))
    assert (a + b[:1]).shape == (2, 3, 2)
    assert (a[:, :0] + b[:1]).shape == (2, 0, 2)
    assert (a + np.zeros((1, 0))).shape == (2, 3, 0)
    assert (a + b[0, 0]).shape == (2, 3, 1)


def test_flags_are_copied_and_pickled(make):
    for array in (make(np.zeros((2, 3))), make(np.zeros((2, 3), order="F"))):
        for flags in (copy.copy(array.flags), pickle.loads(pickle.dumps(array.flags))):
            assert flags.c_contiguous == array.flags.c_contiguous
            assert flags.f_contiguous == array.flags.f_contiguous
            with pytest.raises(AttributeError, match="the flag 'forc' of an array cannot be set"):
                flags.forc = True


def _frames(function):
    """The pygpu files in the traceback of the error that a function raises."""
    with pytest.raises(Exception) as caught:
        function()
    folder = os.path.dirname(cl.__file__)
    found, trace = [], caught.value.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(folder + os.sep):
            found.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return found


def test_tracebacks_of_mistakes_have_no_frames_of_pygpu(make):
    x = make(np.arange(6.0).reshape(2, 3))
    mistakes = {
        "function": lambda: xp.sum(x, axis=5),
        "linear algebra": lambda: xp.linalg.inv(x),
        "index": lambda: x[5],
        "list": lambda: x[[0, 7]],
        "assignment": lambda: _set(x, [0, 9], 1),
        "operator": lambda: ~x,
        "method": lambda: x.sum(axis=7),
        "conversion": lambda: float(x),
        "NumPy's function": lambda: np.sum(x, axis=4),
        "NumPy's ufunc": lambda: np.invert(x),
        "copy": lambda: x.get(ary=np.zeros(9)),
        "generator": lambda: cl.random.default_rng(0).normal(size="x"),
    }
    assert {name: _frames(mistake) for name, mistake in mistakes.items()} == dict.fromkeys(
        mistakes, []
    )


def test_tracebacks_of_decorators_and_of_what_makes_kernels_have_none_either(ctx):
    def function(a, b):
        return a

    kernel = cl.kernel(function)
    mistakes = {
        "kernel": lambda: cl.kernel(3),
        "kernel's option": lambda: cl.kernel(exactly=True),
        "kernel with options": lambda: cl.kernel(exact=True)(3),
        "launch size": lambda: kernel[1],
        "launch": lambda: kernel[1, 1](2),
        "jit": lambda: cl.jit(3),
        "cuda.jit": lambda: cl.cuda.jit(3),
        "vectorize": lambda: cl.vectorize(["f4(f4"]),
        "vectorized": lambda: cl.vectorize(["f4(f4)"])(function),
        "method": lambda: cl.vectorize(function).reduce(3),
        "guvectorize": lambda: cl.guvectorize(["void(f4[:])"], "(n->"),
        "guvectorized": lambda: cl.guvectorize(["void(f4[:])"], "(n)->(n)")(function),
        "reduce": lambda: cl.reduce(3),
        "reduce with options": lambda: cl.reduce(identity=0)(3),
        "ElementwiseKernel": lambda: cl.elementwise.ElementwiseKernel(ctx, "float", "x"),
        "get_elwise_kernel": lambda: cl.elementwise.get_elwise_kernel(ctx, "float", "x"),
        "get_axpbyz_kernel": lambda: cl.elementwise.get_axpbyz_kernel(3, "f4", "f4", "f4"),
        "get_sum_kernel": lambda: cl.reduction.get_sum_kernel(ctx, "zz", "f4"),
        "get_cumsum_kernel": lambda: cl.scan.get_cumsum_kernel(3, "f4", "f4"),
    }
    assert {name: _frames(mistake) for name, mistake in mistakes.items()} == dict.fromkeys(
        mistakes, []
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda x: cl.linalg.inv(np.eye(2)),
        lambda x: cl.linalg.svd(a=3),
        lambda x: cl.linalg.tensordot(np.eye(2), np.eye(2)),
        lambda x: cl.fft.fft([1, 2]),
        lambda x: cl.array.diff(None),
    ],
)
def test_functions_of_arrays_say_that_there_is_none(call):
    with pytest.raises(TypeError, match=r"\w+: an array on a device is needed, not \w+") as caught:
        call(None)
    assert len(caught.traceback) == 2


def test_an_out_that_is_not_an_array_is_named():
    x = xp.arange(3.0)
    for function in (xp.cumulative_sum, xp.nanmedian, x.cumprod):
        args = () if function == x.cumprod else (x,)
        with pytest.raises(TypeError, match="out must be an array on the device, not tuple"):
            function(*args, out=(1,))


def test_errors_of_the_programs_own_objects_stay():
    class Index:
        def __index__(self):
            return self.missing

    with pytest.raises(AttributeError, match="missing"):
        xp.zeros(Index())


def test_tracebacks_keep_the_frames_of_callbacks():
    x = xp.arange(6.0).reshape(2, 3)

    def callback(row):
        return row[7]

    with pytest.raises(IndexError) as caught:
        xp.apply_along_axis(callback, 1, x)
    assert caught.traceback[-1].name == "callback"


def test_errors_have_no_context_of_pygpu_but_that_of_the_program():
    x = xp.arange(6.0).reshape(2, 3)
    with pytest.raises(ValueError) as caught:
        xp.sum(x, axis=(0, 7))
    assert caught.value.__context__ is None
    own = KeyError("the program's")
    with pytest.raises(ValueError) as caught:
        try:
            raise own
        except KeyError:
            xp.sum(x, axis=(0, 7))
    assert caught.value.__context__ is own


def test_full_tracebacks_on_demand():
    code = "from pygpu import xp; xp.zeros(-1)"
    environment = {**os.environ, "PYGPU_FULL_TRACEBACKS": "1"}
    shown = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    ).stderr
    assert shown.count("  File ") > 1 and "_creation.py" in shown


def test_arrays_whose_items_share_memory_are_read_only(make):
    x = make(np.arange(3.0))
    b = np.broadcast_to(x, (4, 3))
    ones = make(np.ones((4, 3)))
    writes = {
        "item": lambda: _set(b, 0, 9),
        "items": lambda: _set(b, Ellipsis, ones),
        "list": lambda: _set(b, [0, 1], 5),
        "mask": lambda: _set(b, b > 1, 5),
        "in place": lambda: operator.iadd(b, 1),
        "out": lambda: np.add(ones, 1, out=b),
        "sum": lambda: np.sum(ones, axis=0, out=np.broadcast_to(make(np.float64(0)), (3,))),
        "running sum": lambda: np.cumsum(ones, axis=0, out=b),
        "matrix product": lambda: np.matmul(np.ones((4, 4)), ones, out=b),
        "fill": lambda: b.fill(0),
        "host": lambda: b.set(np.ones((4, 3))),
        "sort": lambda: b.sort(axis=0),
    }
    for name, write in writes.items():
        for _ in range(2):  # not even once more, when the kernel is known
            with pytest.raises(ValueError, match="read-only"):
                write()
                pytest.fail(name)
    assert (x.get() == np.arange(3)).all()
    c = b.copy()
    c += 1
    assert (c.get() == np.arange(3) + np.ones((4, 1))).all()
    np.broadcast_to(x, (1, 3)).fill(7)
    assert (x.get() == 7).all()
