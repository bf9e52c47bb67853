"""``pygpu.jit``: a helper function for kernels; on the host, the plain function."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from pygpu._src.codegen.fastpath import public_functions
from pygpu._src.util.public import publish

from ..source import KernelError
from .options import check_options


class _LaunchError(KernelError, RuntimeError):
    """A device function that is launched: a RuntimeError as in Numba."""


class DeviceFunction:
    """A function decorated with :func:`jit`. py_func: the function; src: its source, if passed.
    declared: its signatures, to whose types kernels convert the arguments and the result."""

    def __init__(
        self, function: types.FunctionType, src: str | None = None, declared: Sequence[Any] = ()
    ) -> None:
        self.py_func = function
        self.src = src
        self.declared: tuple[Any, ...] = tuple(declared)
        count = function.__code__.co_argcount + function.__code__.co_kwonlyargcount
        for one in self.declared:
            if len(one.args) != count:
                raise TypeError(
                    f"{function.__name__}: the signature has {len(one.args)} types, but the "
                    f"function has {count} parameters"
                )
        functools.update_wrapper(self, function)
        if "cloudpickle" in sys.modules:
            from .pickling import register_with_cloudpickle

            register_with_cloudpickle(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.py_func(*args, **kwargs)

    def __getitem__(self, config: Any) -> Any:
        raise _LaunchError(
            f"Cannot compile a device function as a kernel: {self.py_func.__name__}[...]; decorate "
            "it without device=True"
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        from .pickling import reduce_by_name

        return reduce_by_name(self)

    def _options(self) -> dict[str, Any]:
        return {"declared": self.declared}

    def __repr__(self) -> str:
        return f"<pygpu.jit function {self.py_func.__qualname__}>"

    def inspect_source(self, *arg_types: Any, dialect: Any = "cuda") -> str:
        """Return the C text for these argument types; compile_function says which types are
        possible."""
        from ..compiler import compile_function

        return compile_function(self.py_func, arg_types, dialect, src=self.src).text


def jit(
    function: Any = None,
    /,
    *,
    src: str | None = None,
    declared: Sequence[Any] = (),
    **options: Any,
) -> Any:
    """A decorator for functions that kernels call; also usable with options, ``@jit(...)``.

    Called from the host, it is the plain function. Kernels can also call functions without the
    decorator; it only states the purpose. src: the source of the function, if Python does not know
    it. A signature, or a list of them, may come first; see DeviceFunction. Numba's other options
    (inline, fastmath, device, ...) are accepted and have no effect. Raises KernelError for
    anything that is not a function, TypeError for unknown options.
    """
    if options:
        check_options("pygpu.jit", jit, options)
    if isinstance(function, DeviceFunction):
        return function
    if isinstance(function, types.FunctionType):
        return DeviceFunction(function, src, declared)
    if function is None or isinstance(function, (str, list, tuple)) or hasattr(function, "args"):
        from .. import signature

        given = [] if function is None else function if isinstance(function, list) else [function]
        parsed = tuple(map(signature.parse, given))
        decorator: Callable[[Any], DeviceFunction] = functools.partial(
            jit, src=src, declared=parsed
        )
        return decorator
    raise KernelError(f"pygpu.jit: {function!r} is not a Python function")


public_functions(globals(), ["jit"])
publish(globals(), ["jit"], "pygpu")
