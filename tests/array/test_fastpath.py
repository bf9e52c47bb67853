"""Making, viewing and copying arrays in C: the same as Python's functions, and as NumPy."""

from __future__ import annotations

import gc
import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pygpu import _array
from pygpu._src.array import chains

HOST = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
ALL = slice(None)
KEYS: list[Any] = [
    *(
        0,
        -1,
        1,
        ALL,
        slice(1, -1),
        slice(None, None, -1),
        slice(5, 1, -2),
        slice(0, 0),
        slice(-9, 9),
    ),
    *(
        ...,
        None,
        (),
        (1, 2, 3),
        (-1, -2, -3),
        (ALL, 1),
        (..., 2),
        (0, ...),
        (..., 0, None),
        (None,),
    ),
    *((ALL, ALL, slice(None, None, 3)), (1, None, ALL, ..., 1), (0, 1, 2, ...), (None, ..., None)),
    *(
        np.int64(1),
        (np.int32(0), slice(np.int64(1), None)),
        slice(None, None, 2**62),
        slice(-(2**70), 2**70),
    ),
    *(slice(3, 1), (slice(2, None, -1), slice(None, None, -3))),
]
WRONG: list[Any] = [
    2,
    -3,
    (0, 0, 0, 0),
    (..., ...),
    slice(None, None, 0),
    "x",
    1.0,
    2**64,
    (ALL, 3),
]


def module_of(make: Any) -> tuple[Any, tuple[Any, ...]]:
    """The module of the backend, and what its functions take first."""
    if make.name == "opencl":
        import pygpu.array

        return pygpu.array, (make.queue,)
    from pygpu.cuda import gpuarray

    return gpuarray, ()


def layout(a: Any) -> tuple[Any, ...]:
    flags = a.flags.c_contiguous, a.flags.f_contiguous
    return type(a), a.shape, a.strides, a.dtype, a.offset, a.allocator, a.queue, *flags


def dotted(key: Any) -> tuple[Any, ...]:
    """The same index with "...", for which NumPy always gives a view."""
    items = key if isinstance(key, tuple) else (key,)
    return items if Ellipsis in items else (*items, ...)


def places(view: np.ndarray, host: np.ndarray) -> tuple[Any, ...]:
    offset = view.__array_interface__["data"][0] - host.__array_interface__["data"][0]
    return view.shape, view.strides if view.size else None, offset if view.size else None


def test_indices(make):
    a = make(HOST)
    getitem = type(a).__getitem__
    for key in KEYS:
        view, expected = a[key], places(HOST[dotted(key)], HOST)
        found = view.shape, view.strides if view.size else None, view.offset if view.size else None
        assert layout(view) == layout(getitem.__wrapped__(a, key)), key
        if key == slice(None, None, 2**62):  # whose stride is that of one item
            found, expected = found[::2], expected[::2]
        assert found == expected, key
        assert view.base_data is a.base_data and view.ndim == len(expected[0])
    assert layout(a.T[1:, ::2, -1]) == layout(
        getitem.__wrapped__(a.T, (slice(1, None), slice(None, None, 2), -1))
    )
    for key in WRONG:
        with pytest.raises(Exception) as mine:
            a[key]
        with pytest.raises(Exception) as python:
            getitem.__wrapped__(a, key)
        assert (mine.type, str(mine.value)) == (python.type, str(python.value))
    with pytest.raises(ValueError, match="at most 32"):
        a[(None,) * 33]
    assert [x.offset for x in make(HOST[0, 0])] == [0, 4, 8, 12]


def test_an_index_of_a_program_runs_once(make):
    class Counting:
        n = 0

        def __index__(self) -> int:
            self.n += 1
            if self.n > 1:
                raise AssertionError("asked twice")
            return 1

    a, one, start = make(HOST), Counting(), Counting()
    assert a[one].shape == (3, 4) and a[start:].shape == (1, 3, 4)
    assert a.reshape(Counting(), 24).shape == (1, 24)

    class Refusing:
        def __index__(self) -> int:
            raise KeyError("no")

    for key in (slice(Refusing(), None), slice(None, None, Refusing())):
        with pytest.raises(KeyError):
            a[key]


SHAPINGS: list[tuple[str, tuple[Any, ...]]] = [
    *(("reshape", (24,)), ("reshape", (4, 6)), ("reshape", ((2, 12),)), ("reshape", (-1, 8))),
    *(
        ("reshape", ([3, -1, 2],)),
        ("reshape", (np.int64(24),)),
        ("reshape", (1, 24, 1)),
        ("ravel", ()),
    ),
    *(
        ("transpose", ()),
        ("transpose", (1, 0, 2)),
        ("transpose", ((-1, 0, 1),)),
        ("transpose", ([2, 1, 0],)),
    ),
    *(
        ("view", (np.int32,)),
        ("view", (np.dtype("u2"),)),
        ("view", ("f8",)),
        ("view", (np.uint8,)),
        ("view", ()),
    ),
    ("squeeze", ()),
]
UNSHAPEABLE: list[tuple[str, tuple[Any, ...]]] = [
    *(
        ("reshape", (25,)),
        ("reshape", (-1, -1)),
        ("reshape", (5, -1)),
        ("reshape", (-2, -12)),
        ("reshape", (2**62, 4)),
    ),
    *(
        ("transpose", (0, 0, 1)),
        ("transpose", (0, 1)),
        ("transpose", (0, 1, 3)),
        ("reshape", ("x",)),
    ),
    *(
        ("view", (object,)),
        ("view", (">f4",)),
        ("view", ("c16", "x")),
        ("squeeze", (0,)),
        ("reshape", (0, -1)),
    ),
]


def test_shapes(make):
    a = make(HOST)
    for name, args in SHAPINGS:
        view, expected = getattr(a, name)(*args), getattr(HOST, name)(*args)
        assert (view.shape, view.strides, view.dtype) == (
            expected.shape,
            expected.strides,
            expected.dtype,
        )
        assert layout(view) == layout(getattr(type(a), name).__wrapped__(a, *args)), (name, args)
        assert view.base_data is a.base_data
    assert a.T.strides == HOST.T.strides and a[:1, :, 1:2].squeeze().shape == (3,)
    for name, args in UNSHAPEABLE:
        with pytest.raises(Exception) as mine:
            getattr(a, name)(*args)
        with pytest.raises(Exception) as python:
            getattr(type(a), name).__wrapped__(a, *args)
        assert (mine.type, str(mine.value)) == (python.type, str(python.value))
    empty = make(np.empty((0, 3), "f8"))
    for shape in ((0,), (3, 0, 5), (0, 2**40)):
        assert layout(empty.reshape(shape)) == layout(type(a).reshape.__wrapped__(empty, shape))
    assert empty.view("f4").shape == (0, 6) and empty.ravel().shape == (0,)
    scalar = make(np.array(3.0))
    assert (
        scalar.reshape(1, 1).shape == (1, 1)
        and scalar.reshape(()).shape == ()
        and scalar[...].ndim == 0
    )


FORMS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    *(
        ((5, np.float32), {}),
        (((2, 3), "i4"), {}),
        (([4, 0], np.dtype("f8")), {}),
        (((), float), {}),
    ),
    *(((np.int64(3), bool), {}), ((3,), {"dtype": np.uint8}), (((2, 3, 4), "c8"), {"order": "F"})),
    *((((2, 2), np.float16), {"order": "C"}), (((3,), [("a", "f4"), ("b", "i4")]), {})),
]


def test_forms_of_making(make):
    module, first = module_of(make)
    for args, options in FORMS:
        shape, dtype = (*args, options.get("dtype"))[:2]
        expected = np.zeros(shape, dtype, options.get("order", "C"))
        made = [getattr(module, name)(*first, *args, **options) for name in ("empty", "zeros")]
        behind = module.zeros.__wrapped__(*first, *args, **options)
        for a in made:
            assert layout(a) == layout(behind) and (a.shape, a.dtype) == (
                expected.shape,
                expected.dtype,
            )
            assert a.strides == expected.strides or 0 in a.shape
        assert (made[1].get() == expected).all() and made[1].get().strides == expected.strides
        assert (
            module.empty_like(made[0]).strides == made[0].strides
            and module.zeros_like(made[0]).get().tolist() == expected.tolist()
        )
    for value in (3, 2.5, 0, -0.0, True, np.float32(2)):
        a, expected = module.full(*first, (2, 3), value), np.full((2, 3), value)
        assert a.dtype == expected.dtype and a.get().tobytes() == expected.tobytes()
    wrong: list[tuple[Any, ...]] = [
        (-1, "f4"),
        ((2**40, 2**40), "f4"),
        ("x", "f4"),
        (3, object),
        (3, ">f4"),
        (3, "nope"),
    ]
    for args in wrong:
        with pytest.raises((TypeError, ValueError)) as mine:
            module.zeros(*first, *args)
        with pytest.raises((TypeError, ValueError)) as python:
            module.zeros.__wrapped__(*first, *args)
        assert (mine.type, str(mine.value)) == (python.type, str(python.value))


def test_there_and_back_in_c(make):
    a, out = make(HOST), np.empty_like(HOST)
    assert a.get(ary=out) is out and (out == HOST).all()
    a.set(HOST + 1)
    a[1].set(HOST[1])  # at an offset
    assert (a[1].get() == HOST[1]).all() and (a[0].get() == HOST[0] + 1).all()
    assert (make(HOST.T).get() == HOST.T).all() and make(HOST.T).get().flags.f_contiguous
    assert (a.set(HOST), a.T.get().tolist())[1] == HOST.T.tolist()
    for wrong in (HOST.astype("f8"), HOST[0]):
        with pytest.raises(ValueError):
            a.set(wrong)
        with pytest.raises((TypeError, ValueError)):
            a.get(ary=wrong)
    fixed = HOST.copy()
    fixed.flags.writeable = False
    with pytest.raises((ValueError, TypeError, BufferError)):
        a.get(ary=fixed)
    a[0].fill(0), a[1].fill(7)
    assert a.get().ravel().tolist() == [0.0] * 12 + [7.0] * 12
    a.fill(-0.0)
    assert np.signbit(a.get()).all()


COPIED: list[Callable[[Any], Any]] = [
    *(lambda a: a, lambda a: a.T, lambda a: a[1], lambda a: a[:, 1:, ::2], lambda a: a[::-1]),
    *(
        lambda a: a.transpose(1, 2, 0),
        lambda a: a.transpose(1, 0, 2)[:, ::-1],
        lambda a: a[1, 1, 1],
    ),
    *(lambda a: a[:, :0], lambda a: a[:, None, 1:2], lambda a: a[1:, :, 2].T),
]


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize("dtype", ["f4", "i2", "c8", "?", "f2"])
def test_copies(make, dtype):
    host = (HOST - 5).astype(dtype)
    a = make(host)
    module, _ = module_of(make)
    for part in COPIED:
        x, expected = part(a), part(host)
        for _ in range(2):  # by Python, which remembers it, and in C
            for call, of in (
                (lambda y: y.copy(), "copy"),
                (lambda y: y.astype(dtype), "astype"),
                (lambda y: y.astype("f4" if dtype != "c8" else "c16"), "astype"),
            ):
                mine, theirs = call(x), call(expected)
                theirs = theirs.copy("K") if of == "copy" else theirs
                assert mine.base_data is not x.base_data or not mine.size
                assert (mine.get() == theirs).all() and mine.dtype == theirs.dtype
                assert mine.shape == theirs.shape and mine.offset == 0
                if mine.size and 1 not in mine.shape:
                    twin = expected.copy("K").astype(mine.dtype)
                    assert mine.strides == twin.strides, (part, of)
                assert mine.queue is x.queue and type(mine) is type(x)
        assert x.astype(dtype, copy=False) is x
        for wrong in (object, "x", ">f4"):
            with pytest.raises((TypeError, ValueError)) as in_c:
                x.astype(wrong)
            with pytest.raises((TypeError, ValueError)) as python:
                type(x).astype.__wrapped__(x, wrong)
            assert str(in_c.value) == str(python.value)
    original = a.copy()
    a.fill(0)
    assert (original.get() == host).all()
    sizes: list[int] = []
    x = make.to_device(host, allocator=lambda n: (sizes.append(n), a.backend.allocate(n))[1])
    assert (x.copy().get() == host).all() and (x.T.astype("f4" if dtype != "c8" else "c8").size)
    assert len(sizes) == 3


def test_copies_of_a_class_are_made_by_it(make):
    module, first = module_of(make)
    base = module.empty

    class Noting(base):  # type: ignore[misc, valid-type]
        made = 0

        def _new(self, *args: Any, **options: Any) -> Any:
            type(self).made += 1
            return super()._new(*args, **options)

    a = Noting(*first, (2, 3), np.float32)
    a.fill(1)
    results = a.copy(), a.astype("f4"), a.astype("i4"), a[:, ::2].copy()
    assert Noting.made == 4 and all(type(x) is Noting for x in results)


def test_allocators(make):
    module, first = module_of(make)
    a = make(HOST)
    sizes: list[int] = []

    def allocator(nbytes: int) -> Any:
        sizes.append(nbytes)
        return a.backend.allocate(nbytes)

    def failing(nbytes: int) -> Any:
        raise MemoryError("none of it")

    makers: list[Callable[[Any], Any]] = [
        lambda how: module.empty(*first, 6, np.float32, allocator=how),
        lambda how: module.zeros(*first, (2, 3), np.float32, allocator=how),
        lambda how: make.to_device(HOST[0, :, :2].copy(), allocator=how),
    ]
    for k, call in enumerate(makers):
        x = call(allocator)
        assert sizes == [24] * (2 * k + 1) and x.allocator is allocator
        assert module.empty_like(x).allocator is allocator and sizes[-1] == 24
        for _ in range(3):
            with pytest.raises(MemoryError, match="none of it"):
                call(failing)
    gc.collect()
    before = sys.getrefcount(failing), sys.getrefcount(a.backend), sys.getrefcount(a.backend.table)
    for call in makers:
        for _ in range(20):
            with pytest.raises(MemoryError):
                call(failing)
    gc.collect()
    assert before == (
        sys.getrefcount(failing),
        sys.getrefcount(a.backend),
        sys.getrefcount(a.backend.table),
    )


def test_subclasses(make):
    module, first = module_of(make)
    base = module.empty

    class Named(base):  # type: ignore[misc, valid-type]
        def __init__(self, name: str, *args: Any, **options: Any) -> None:
            super().__init__(*first, *args, **options)
            self.name = name

        def reshape(self, *shape: Any, **options: Any) -> Any:
            return "mine"

        def __getitem__(self, key: Any) -> Any:
            return super().__getitem__(key)

    a = Named("x", (2, 3), np.float32)
    assert a.name == "x" and type(a[0]) is Named and type(a.T) is Named and a[0].shape == (3,)
    assert a.ravel() == "mine" and a.reshape(6) == "mine"
    a.__init__("y", 33, "f8", order="F")  # again: the header is another one
    assert (a.name, a.shape, a.dtype, a.nbytes) == ("y", (33,), np.dtype("f8"), 264)
    a.fill(2)
    assert (a.get() == 2).all()


def test_no_python(make):
    """What the issue asks of small operations: not one frame of Python."""
    module, first = module_of(make)
    a, out, pool = make(HOST), HOST.copy(), make(HOST).backend.pool
    a.set(HOST), a.fill(1), module.ones(*first, 4, np.float32)
    calls: list[Callable[[], Any]] = [
        *(
            lambda: a[1, :, ::2],
            lambda: a.T,
            lambda: a.reshape(6, 4),
            lambda: a.reshape((-1,)),
            lambda: a.ravel(),
        ),
        *(
            lambda: a.view(np.int32),
            lambda: a.transpose(0, 2, 1),
            lambda: a.squeeze(),
            lambda: a[..., None],
        ),
        *(
            lambda: a.get(),
            lambda: a.get(ary=out),
            lambda: a.set(HOST),
            lambda: a[1].get(),
            lambda: a.fill(0),
        ),
        *(
            lambda: module.zeros(*first, (2, 3), np.float32),
            lambda: module.empty_like(a),
            lambda: module.zeros_like(a),
        ),
        *(
            lambda: module.empty(*first, 7, dtype="f4"),
            lambda: make.to_device(HOST),
            lambda: module.ones(*first, 4, np.float32),
        ),
        lambda: module.empty(*first, 7, np.uint8, allocator=getattr(pool, "allocate", pool)),
        *(lambda: a.copy(), lambda: a.T.copy(), lambda: a[:, 1:, ::2].copy(), lambda: a[1].copy()),
        *(lambda: a.astype(np.float32), lambda: a.astype("i4"), lambda: a[..., ::-1].astype("f8")),
        lambda: a.astype(np.float32, copy=False),
    ]
    frames: list[str] = []

    def note(frame: Any, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<lambda>":
            frames.append(frame.f_code.co_qualname)

    for k, call in enumerate(calls):
        call()
        chains.flush()  # waits for the kernel
        sys.setprofile(note)
        try:
            call()
        finally:
            sys.setprofile(None)
        assert not frames, (k, frames)


def test_it_passes_for_the_function(make):
    module, _ = module_of(make)
    zeros = module.zeros
    assert list(inspect.signature(zeros).parameters) == list(
        inspect.signature(zeros.__wrapped__).parameters
    )
    assert pickle.loads(pickle.dumps(zeros)) is zeros
    assert (zeros.__name__, zeros.__module__, zeros.__doc__) == (
        "zeros",
        module.__name__,
        zeros.__wrapped__.__doc__,
    )
    assert "shape" in inspect.signature(module.empty).parameters
    assert "one axis" in (module.empty.ravel.__doc__ or "").lower() and inspect.isroutine(
        module.empty.ravel
    )
    assert "reverse" in module.empty.T.__doc__
    a = make(HOST)
    for call in (
        lambda: zeros(),
        lambda: a.get(nonsense=1),
        lambda: a.ravel("C", "C"),
        lambda: a.set(),
        lambda: a.set(HOST, ary=HOST),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="no fast path 'nothing'"):
        _array.FastPath("nothing", zeros.__wrapped__)
    with pytest.raises(AttributeError):
        _array.FastPath("fill", 3)
    with pytest.raises(ValueError):
        _array._register("cuda", nothing=None)


def test_doubles_came_first():
    """np.dtype(float) == None: fills of other dtypes were not remembered after one of doubles."""
    code = """
import sys
import numpy as np, pygpu as cl, pygpu.array
queue = cl.CommandQueue(cl.create_some_context(interactive=False))
for dtype in "f8", "f4", "i4":
    a = cl.array.empty(queue, 33, dtype)
    a.fill(2)
    frames = []
    sys.setprofile(lambda frame, event, arg: frames.append(frame) if event == "call" else None)
    a.fill(2)
    sys.setprofile(None)
    assert not frames, (dtype, frames)
    assert (a.get() == 2).all()
"""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=120)


def test_what_was_set_by_parts_stays_fast(make):
    """On CUDA, items set by indices or in a view once sent all later calls the slow way."""
    a, index = make(np.arange(16, dtype=np.float32)), make(np.arange(16)[::-1].copy())
    a[index] = make(np.arange(16, dtype=np.float32))
    assert not a._foreign
    for _ in range(2):
        a + a
    frames: list[Any] = []
    sys.setprofile(lambda frame, event, arg: frames.append(frame) if event == "call" else None)
    try:
        total = a + a
    finally:
        sys.setprofile(None)
    assert not frames
    assert (total.get() == 2 * np.arange(16)[::-1]).all()
