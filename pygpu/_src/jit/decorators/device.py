"""Device functions for ufuncs and reductions, compiled from Python functions."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.util.frozen import Frozen

from ..compiler import compile_function, guards_hold
from ..source import KernelError, python_function
from ..types import Scalar
from ..walk.index_checks import IMPLICIT


class DeviceText(Frozen):
    """A compiled function.

    text: of it and everything that it calls, in the common language; features: for Dialect.prefix.
    results: dtypes of the returned values. key: distinguishes it from all other functions. guards:
    see is_current(). implicit: parameters after its arguments, if indices are checked; sites: the
    checked indices, by number, and the exceptions that it raises.
    """

    name: str
    text: str
    results: tuple[np.dtype[Any], ...]
    features: frozenset[str]
    by_value: bool
    guards: tuple[Any, ...] = ()
    implicit: tuple[str, ...] = ()
    sites: Any = None

    @property
    def key(self) -> str:
        return self.text

    @property
    def raises(self) -> bool:
        """Whether it has ``raise`` or ``assert``, for which a launch waits."""
        return any(isinstance(one, str) for one in (self.sites or {}).values())

    def call(self, outs: Sequence[str], args: Sequence[str]) -> str:
        """Return a statement that assigns the results to the variables *outs*, of the compute
        types of results. args: the C arguments."""
        if self.by_value:
            return f"{outs[0]} = {self.name}({', '.join([*args, *self.implicit])});"
        return f"{self.name}({', '.join([*args, *(f'&{o}' for o in outs), *self.implicit])});"


def is_current(text: DeviceText) -> bool:
    """Whether the function's outside names still refer to the same objects."""
    return not text.guards or guards_hold(text.guards)


def compile(
    function: Any,
    types: Sequence[Any],
    backend: Any = None,
    check: bool = False,
    raises: bool = False,
) -> DeviceText:
    """Compile the device function for types of parameters that compiler.compile_function accepts.

    backend: of the device; None if it is not known yet. check: whether indices are checked. raises:
    whether the caller passes a record for exceptions. Raises KernelError for unsupported code: in
    addition to the compiler's reasons, for shared memory, which only kernels support.
    """
    made = compile_function(function, types, "cuda" if backend is None else backend, check=check)
    asserts = any(isinstance(one, str) for one in made.asserts.values())
    name = getattr(function, "__name__", "function")
    if not set(made.implicit) <= set(IMPLICIT):
        raise KernelError(
            f"{name}: shared memory needs a kernel around it (pygpu.kernel); a function of "
            "vectorize, guvectorize or reduce cannot have it"
        )
    if asserts and not raises:
        raise KernelError(
            f"{name}: reductions cannot report exceptions; use a kernel (pygpu.kernel), or remove "
            "raise and assert"
        )
    return DeviceText(
        made.name,
        made.text,
        made.return_types,
        made.features,
        isinstance(made.result, Scalar),
        made.guards,
        made.implicit,
        made.asserts,
    )


def parameter_count(function: Any, call: str) -> int:
    """Return the number of a function's parameters. Raises TypeError for anything but a Python
    function, and for one with *args, **kwargs or keyword-only parameters."""
    plain = python_function(function)
    if plain is None:
        hint = "; write a def or lambda that calls it" if callable(function) else ""
        raise TypeError(f"{call}: a Python function is needed, not {function!r}{hint}")
    for one in inspect.signature(plain).parameters.values():
        if one.kind not in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
            raise TypeError(
                f"{call}: {plain.__name__} has the parameter {str(one)!r}; all must be positional"
            )
    code: Any = plain.__code__
    count: int = code.co_argcount
    if count == 0:
        raise TypeError(f"{call}: {plain.__name__} has no parameters")
    return count
