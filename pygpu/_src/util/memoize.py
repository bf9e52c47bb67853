"""Results that are cached as long as the OpenCL object for which they were computed exists.

``first_arg_dependent_memoize`` is for functions like ``get_kernel(context, dtype)``: the result
belongs to the context, so it is stored *with* the context and is freed with it. If the object
accepts attributes, its results are stored in it, so that the garbage collector can free both
although a kernel refers back to its context. Otherwise the results are stored under a weak
reference to the object or, if it does not support one, until :func:`clear_first_arg_caches`.

Several threads may call a memoized function. If two miss at the same time, both compute, and both
get the result of the one that finished first; no lock is held while the function itself runs.
"""

from __future__ import annotations

import atexit
import functools
import threading
import weakref
from collections.abc import Callable, Hashable
from types import CodeType
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
FirstT = TypeVar("FirstT", bound=Hashable)
ResultT = TypeVar("ResultT")

_SLOT = "_pygpu_first_arg_results"
_all_caches: weakref.WeakSet[FirstArgCache] = weakref.WeakSet()
_nested_caches: dict[tuple[str, CodeType], FirstArgCache] = {}
_lock = threading.RLock()


class _Results(dict[Hashable, Any]):
    """The results for one object: a dict that supports weak references."""

    __slots__ = ("__weakref__",)


class FirstArgCache:
    """A mapping (object, key) -> result that keeps neither the object nor its results alive, where
    that is possible.

    Equal objects (two wrappers of one handle) share their results while the first of them exists.
    """

    def __init__(self) -> None:
        self._in_object: weakref.WeakKeyDictionary[Any, weakref.ref[_Results]] = (
            weakref.WeakKeyDictionary()
        )
        self._weak: weakref.WeakKeyDictionary[Any, _Results] = weakref.WeakKeyDictionary()
        self._strong: dict[Any, _Results] = {}
        with _lock:
            _all_caches.add(self)

    def results(self, obj: Any) -> dict[Hashable, Any]:
        """Return the dict of *obj*'s results, empty the first time. Raises TypeError if *obj* is
        not hashable.
        """
        with _lock:
            known = self._find(obj)
            return self._add(obj) if known is None else known

    def _find(self, obj: Any) -> _Results | None:
        if self._strong:
            strong = self._strong.get(obj)
            if strong is not None:
                return strong
        try:
            reference = self._in_object.get(obj)
            if reference is not None:
                return reference()
            return self._weak.get(obj)
        except TypeError:
            # Raises if unhashable, which is the caller's mistake; else only weak references are
            # missing.
            hash(obj)
            return None

    def _add(self, obj: Any) -> _Results:
        results = _Results()
        try:
            weakref.ref(obj)
        except TypeError:
            self._strong[obj] = results
            return results
        try:
            owned = obj.__dict__.setdefault(_SLOT, weakref.WeakKeyDictionary())
        except (AttributeError, TypeError):
            self._weak[obj] = results
            return results
        owned[self] = results
        self._in_object[obj] = weakref.ref(results)
        return results

    def get(self, obj: Any, key: Hashable, compute: Callable[[], ResultT]) -> ResultT:
        """Return the cached result for (*obj*, *key*), or call *compute* and cache its result."""
        results = self.results(obj)
        try:
            return cast("ResultT", results[key])
        except KeyError:
            pass
        return cast("ResultT", results.setdefault(key, compute()))

    def clear(self) -> None:
        """Drop all results for all objects."""
        with _lock:
            for reference in list(self._in_object.values()):
                results = reference()
                if results is not None:
                    results.clear()
            for results in list(self._weak.values()):
                results.clear()
            self._strong.clear()


def _key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    """Return a dict key for a call. It includes types, because 1, 1.0 and True are equal but need
    different kernels.
    """
    types = tuple(map(type, args))
    if not kwargs:
        return (args, types)
    return (args, types, frozenset((name, type(value), value) for name, value in kwargs.items()))


def _memoized(
    func: Callable[Concatenate[FirstT, P], ResultT], cache: FirstArgCache
) -> Callable[Concatenate[FirstT, P], ResultT]:
    @functools.wraps(func)
    def wrapper(cl_object: FirstT, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return cache.get(cl_object, _key(args, kwargs), lambda: func(cl_object, *args, **kwargs))

    return cast("Callable[Concatenate[FirstT, P], ResultT]", wrapper)


def first_arg_dependent_memoize(
    func: Callable[Concatenate[FirstT, P], ResultT],
) -> Callable[Concatenate[FirstT, P], ResultT]:
    """Decorator: cache the results of *func* for each first argument and each set of further
    arguments.

    Meant for functions that build something inside a context (or for a queue or device), their
    first argument. All arguments must be hashable. The results are dropped with that object or by
    :func:`clear_first_arg_caches`.
    """
    return _memoized(func, FirstArgCache())


context_dependent_memoize = first_arg_dependent_memoize


def first_arg_dependent_memoize_nested(
    nested_func: Callable[Concatenate[FirstT, P], ResultT],
) -> Callable[Concatenate[FirstT, P], ResultT]:
    """:func:`first_arg_dependent_memoize` for a function defined inside another.

    The results outlive the call of the outer function: they belong to the definition of the inner
    function in the source. So the outer function's variables that the inner function uses
    are not part of the key.
    """
    code = nested_func.__code__
    definition = (code.co_filename, code)
    with _lock:
        cache = _nested_caches.get(definition)
        if cache is None:
            cache = _nested_caches[definition] = FirstArgCache()
    return _memoized(nested_func, cache)


def clear_first_arg_caches() -> None:
    """Empty the caches of all functions memoized by their first argument, for all objects.

    Frees what they hold (programs, kernels, and through them contexts); results still in use stay
    valid.
    """
    with _lock:
        caches = list(_all_caches)
    for cache in caches:
        cache.clear()


atexit.register(clear_first_arg_caches)
