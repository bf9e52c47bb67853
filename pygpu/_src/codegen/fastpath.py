"""Functions that run without Python code if their arguments have common types.

``@fastpath("zeros")`` tries the C function of that name (src/array/fastpaths.def) before the
Python function, which documents the call, rejects invalid arguments, and handles all other cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeVar, cast

from pygpu._array import FastPath

_F = TypeVar("_F", bound=Callable[..., Any])
_C = TypeVar("_C", bound=type)

_traced: dict[FunctionType, Any] = {}  # one object for all names and modules of a function
_public: dict[Any, FunctionType] = {}  # the functions behind those of public_functions()


def fastpath(name: str) -> Callable[[_F], _F]:
    """Make a decorator. Raises ValueError for a name that is not in src/array/fastpaths.def."""

    def decorate(function: _F) -> _F:
        return cast(_F, FastPath(name, function))

    return decorate


def traceable(namespace: dict[str, Any], names: Sequence[str]) -> None:
    """Make a module's functions with these names traceable by pygpu.fuse. Users and pickle find
    each of them in the first module that this is called for."""
    for name in names:
        function = plain(namespace[name])
        if type(function) is FunctionType:
            if function not in _traced:
                if function.__module__.startswith("pygpu."):  # not NumPy's own function
                    function.__module__ = namespace["__name__"]
                _traced[function] = FastPath("traced", function)
            namespace[name] = _traced[function]


def plain(function: Any) -> Any:
    """Return the Python function behind one of public_functions(), anything else as it is."""
    return _public[function] if type(function) is FastPath and function in _public else function


def public(function: _F) -> _F:
    """Make a function hide pygpu's frames in the tracebacks of mistakes, as functions with a fast
    path do."""
    return cast(_F, FastPath("python", function))


def public_functions(namespace: dict[str, Any], names: Sequence[str]) -> None:
    """Make a module's functions with these names public(); other names are left alone."""
    for name in names:
        function = namespace[name]
        if type(function) is FunctionType and function.__module__.startswith("pygpu."):
            namespace[name] = public(function)
            _public[namespace[name]] = function


def public_methods(cls: _C) -> _C:
    """Make a class's methods public(), except __call__, whose every call this would slow down a
    little."""
    for name, value in list(vars(cls).items()):
        exported = name.startswith("__") or not name.startswith("_")
        if type(value) is FunctionType and exported and name != "__call__":
            setattr(cls, name, public(value))
    return cls
