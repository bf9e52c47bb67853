"""Results kept by their first argument: hits, lifetime, threads."""

import gc
import threading
import weakref

import pytest

import pygpu as cl
from pygpu import tools
from pygpu._src.util.memoize import FirstArgCache


class Holder:
    """Something like a context: hashable, weakly referable, with attributes."""


class Slotted:
    __slots__ = ("__weakref__",)


class Bare:
    __slots__ = ()


class Handle:
    """Two of these are equal if their number is, as wrappers of one OpenCL handle are."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Handle) and self.number == other.number

    def __hash__(self):
        return hash(self.number)


@pytest.mark.parametrize("kind", [Holder, Slotted, Bare])
def test_memoize_calls_once_per_key(kind):
    calls = []

    @tools.first_arg_dependent_memoize
    def make(obj, *args, **kwargs):
        calls.append((args, kwargs))
        return object()

    one, two = kind(), kind()
    assert make(one, 1) is make(one, 1)
    assert make(one, 1) is not make(two, 1)
    assert make(one, 1) is not make(one, 1.0), "an equal number of another type makes other code"
    assert make(one, True) is not make(one, 1)
    assert make(one, x=1, y=2) is make(one, y=2, x=1)
    assert make(one, x=1) is not make(one, y=1)
    assert len(calls) == 7
    kept = make(one, 1)
    tools.clear_first_arg_caches()
    assert make(one, 1) is not kept
    assert make.__name__ == "make"
    assert tools.context_dependent_memoize is tools.first_arg_dependent_memoize


def test_memoize_keeps_none():
    calls = []

    @tools.first_arg_dependent_memoize
    def nothing(obj):
        calls.append(obj)

    holder = Holder()
    assert nothing(holder) is None and nothing(holder) is None
    assert len(calls) == 1


def test_memoize_rejects_what_has_no_hash():
    @tools.first_arg_dependent_memoize
    def make(obj, *args):
        return 1

    with pytest.raises(TypeError, match="unhashable"):
        make([])
    with pytest.raises(TypeError, match="unhashable"):
        make(Holder(), [])


def test_memoize_does_not_keep_what_failed():
    calls = []

    @tools.first_arg_dependent_memoize
    def fragile(obj):
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("first time")
        return "done"

    holder = Holder()
    with pytest.raises(RuntimeError, match="first time"):
        fragile(holder)
    assert fragile(holder) == "done"


def test_equal_objects_share():
    @tools.first_arg_dependent_memoize
    def make(obj):
        return object()

    first, second = Handle(3), Handle(3)
    assert make(first) is make(second)
    result = make(second)
    del first
    gc.collect()
    assert make(second) is make(second)
    assert make(second) is not result or result is make(Handle(3))


@pytest.mark.parametrize("kind", [Holder, Slotted])
def test_memoize_lets_the_object_go(kind):
    @tools.first_arg_dependent_memoize
    def make(obj):
        return object()

    obj = kind()
    make(obj)
    gone = weakref.ref(obj)
    del obj
    gc.collect()
    assert gone() is None


def test_memoize_lets_go_of_an_object_that_its_result_refers_to():
    """A kernel refers to its context: a cache keyed weakly by the context alone would never die."""

    @tools.first_arg_dependent_memoize
    def make(obj):
        return [obj]

    obj = Holder()
    make(obj)
    gone = weakref.ref(obj)
    del obj
    gc.collect()
    assert gone() is None


def test_memoized_results_die_with_the_function():
    class Result:
        pass

    def scope(obj):
        @tools.first_arg_dependent_memoize
        def make(obj):
            return Result()

        return weakref.ref(make(obj))

    holder = Holder()
    result = scope(holder)
    gc.collect()
    assert result() is None


def test_memoize_nested():
    calls = []

    def outer(obj, n):
        @tools.first_arg_dependent_memoize_nested
        def inner(obj, n):
            calls.append(n)
            return object()

        return inner(obj, n)

    holder = Holder()
    assert outer(holder, 1) is outer(holder, 1)
    assert outer(holder, 1) is not outer(holder, 2)
    assert calls == [1, 2]
    tools.clear_first_arg_caches()
    outer(holder, 1)
    assert calls == [1, 2, 1]


def test_memoize_in_threads():
    """Whoever computes, everybody gets the same object."""
    barrier = threading.Barrier(8)

    @tools.first_arg_dependent_memoize
    def make(obj, n):
        barrier.wait(timeout=30)
        return object()

    holder, results = Holder(), []
    threads = [threading.Thread(target=lambda: results.append(make(holder, 0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and len(set(map(id, results))) == 1


def test_memoize_threads_with_clearing():
    @tools.first_arg_dependent_memoize
    def make(obj, n):
        return (obj, n)

    holders, stop, errors = [Holder() for _ in range(20)], threading.Event(), []

    def work():
        try:
            while not stop.is_set():
                for i, holder in enumerate(holders):
                    assert make(holder, i) == (holder, i)
        except BaseException as error:  # noqa: BLE001 - reported below
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        tools.clear_first_arg_caches()
        holders[3] = Holder()
        gc.collect(0)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors


def test_memoize_kernels_of_a_real_context(device):
    @tools.first_arg_dependent_memoize
    def get_kernel(context, name):
        return getattr(cl.Program(context, f"__kernel void {name}() {{}}").build(), name)

    context = cl.Context([device])
    kernel = get_kernel(context, "one")
    assert get_kernel(context, "one") is kernel
    queue = cl.CommandQueue(context)
    assert get_kernel(queue.context, "one") is kernel
    assert get_kernel(context, "two") is not kernel
    kernel(queue, (1,), None).wait()
    gone = weakref.ref(context)
    del kernel, queue, context
    gc.collect()
    assert gone() is None, "its own kernels keep the context alive"


def test_first_arg_cache_does_not_fill_up():
    cache = FirstArgCache()
    for i in range(100):
        cache.get(Holder(), i, object)
    gc.collect()
    assert len(cache._in_object) == 0
