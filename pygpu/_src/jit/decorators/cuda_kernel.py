"""``pygpu.cuda.jit``, and the names that kernels use: Numba's, for CUDA.

>>> import numpy as np
>>> from pygpu import cuda
>>> @cuda.jit
... def twice(a):
...     i = cuda.grid(1)
...     if i < a.size:
...         a[i] *= 2
>>> a = cuda.to_device(np.arange(4.0))
>>> twice[1, 32](a)
>>> a.copy_to_host().tolist()
[0.0, 2.0, 4.0, 6.0]
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pygpu._src.codegen.fastpath import public
from pygpu._src.util.public import publish

from ..calls import cache_hints, intrinsics
from ..calls.atomics import atomic
from ..calls.cache_hints import *  # noqa: F403
from ..calls.external import CUSource, declare_device, sources
from ..calls.intrinsics import *  # noqa: F403
from ..calls.vectors import VECTORS
from ..signature import Void
from ..source import KernelError, python_function
from .jit import DeviceFunction
from .kernel import Kernel
from .options import check_options

__all__ = [
    *intrinsics.__all__,
    *cache_hints.__all__,
    "CUSource",
    "atomic",
    "declare_device",
    "jit",
    *VECTORS,
]
globals().update(VECTORS)


@public
def jit(
    func_or_sig: Any = None,
    device: bool = False,
    inline: Any = None,
    link: Any = (),
    debug: Any = None,
    opt: Any = None,
    lineinfo: bool = False,
    cache: bool = False,
    *,
    fastmath: bool = False,
    max_registers: int | None = None,
    exact: bool = False,
    src: str | None = None,
    check: bool | None = None,
    launch_bounds: int | tuple[int, ...] | None = None,
    extensions: Any = (),
    **options: Any,
) -> Any:
    """A decorator that compiles a Python function to a CUDA kernel, or with ``device=True`` to a
    function that kernels call.

    func_or_sig: the function, or its signature ("void(float32[:], int32)"), or a list of them.
    fastmath: the compiler may be inexact. exact: no fused multiply-add. max_registers: of a thread.
    debug, lineinfo: for debuggers and profilers. check: whether indices are checked, see
    pygpu.kernel; debug asks for it. launch_bounds: the largest block that launches may have, or
    a tuple that begins with it. link: files of CUDA C or CUSources whose functions the kernel
    calls, see declare_device. extensions: objects whose prepare_args(type, value, stream=, retr=)
    returns the type and the value of each argument before a launch, and may append functions to
    retr, which are called after it. Numba's other options are accepted and have no effect
    (compiled code is always cached on disk). Raises TypeError for unknown options, and KernelError
    at the first call for a function that cannot be compiled.
    """
    if options:
        check_options("cuda.jit", jit, options)
    function = python_function(func_or_sig)
    if debug and check is None:
        check = True
    given: dict[str, Any] = {
        "device": device,
        "signatures": _signatures(func_or_sig) if function is None else (),
        "options": _compiler_options(debug, lineinfo, max_registers),
        "fastmath": fastmath,
        "exact": exact,
        "src": src,
        "check": check,
        "launch_bounds": launch_bounds,
        "external": sources(link, "cuda.jit") if link else (),
        "extensions": extensions,
    }
    return (
        functools.partial(_decorate, **given) if function is None else _decorate(function, **given)
    )


def _compiler_options(debug: Any, lineinfo: bool, max_registers: Any) -> list[str]:
    """Return NVRTC's options for those of jit(). Raises ValueError."""
    options: list[str] = []
    if debug:
        options.append("-G")
    elif lineinfo:
        options.append("-lineinfo")
    if max_registers is not None:
        if not isinstance(max_registers, (int, np.integer)) or max_registers < 1:
            raise ValueError(
                f"cuda.jit: max_registers must be a positive int, not {max_registers!r}"
            )
        options.append(f"--maxrregcount={int(max_registers)}")
    return options


def _most_threads(bounds: int | tuple[int, ...] | None) -> int | None:
    """Return the first of launch_bounds. Raises ValueError if there are too many, or if one is not
    a positive int."""
    if bounds is None:
        return None
    given = bounds if isinstance(bounds, tuple) else (bounds,)
    if not 1 <= len(given) <= 3:
        raise ValueError(f"cuda.jit: Got {len(given)} launch bounds: one to three, not {bounds!r}")
    if not all(isinstance(b, (int, np.integer)) and b > 0 for b in given):
        raise ValueError(f"cuda.jit: launch_bounds must be positive ints, not {bounds!r}")
    return int(given[0])


def _signatures(given: Any) -> list[Any]:
    from .. import signature

    if given is None:
        return []
    partial = isinstance(given, functools.partial)
    if partial or callable(given) and not hasattr(given, "args") and not hasattr(given, "dtype"):
        raise KernelError(
            f"cuda.jit: a Python function is needed, not {given!r}; write a def that calls it"
        )
    found = given if isinstance(given, list) else [given]
    return [signature.parse(one) for one in found]


@public
def _decorate(
    function: Any,
    device: bool,
    signatures: Any,
    options: list[str],
    fastmath: bool,
    exact: bool,
    src: str | None,
    check: bool | None = None,
    launch_bounds: int | tuple[int, ...] | None = None,
    external: Any = (),
    extensions: Any = (),
) -> Any:
    inner = python_function(function)
    if inner is None:
        raise KernelError(f"cuda.jit: {function!r} is not a Python function")
    if device:
        return DeviceFunction(inner, src, signatures)
    for one in signatures:
        if not isinstance(one.returns, (type(None), Void)):
            raise TypeError(f"cuda.jit: CUDA kernel must have void return type, not {one!r}")
    return Kernel(
        inner,
        backend="cuda",
        src=src,
        signatures=[s.args for s in signatures],
        exact=exact,
        options=options,
        fastmath=fastmath,
        check=check,
        freezes=True,
        most_threads=_most_threads(launch_bounds),
        external=external,
        extensions=extensions,
    )


publish(globals(), __all__, "pygpu.cuda")
