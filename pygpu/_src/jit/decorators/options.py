"""The options of decorators: errors for misspelt ones, and those of Numba without an effect."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

__all__ = ["check_options", "unknown_options"]

_UFUNC = "nopython forceobj looplift fastmath boundscheck cache target_backend"
# Options of Numba's decorators that are accepted and have no effect.
_IGNORED = {
    "pygpu.jit": """nopython forceobj looplift error_model parallel nogil fastmath boundscheck
        inline forceinline cache debug opt lineinfo device link locals target target_backend lto
        pipeline_class no_rewrites no_cpython_wrapper no_cfunc_wrapper launch_bounds""",
    "cuda.jit": "forceinline lto shared_memory_carveout",
    "vectorize": _UFUNC,
    "guvectorize": _UFUNC,
}


def unknown_options(call: str, decorator: Any, given: Iterable[str]) -> tuple[list[str], str]:
    """Return those names that are not options of a decorator, sorted, and what to do about the
    first. call: its name in messages."""
    _, *parameters = inspect.signature(decorator).parameters.values()
    options = {p.name for p in parameters if p.kind is not p.VAR_KEYWORD}
    options |= set(_IGNORED.get(call, "").split())
    unknown = sorted(set(given) - options)
    return unknown, _remedy(unknown[0], options) if unknown else ""


def _remedy(name: str, options: set[str]) -> str:
    if name in ("argtypes", "restype"):  # of Numba before 0.36
        return "pass the signature as the first argument"
    import difflib

    near = difflib.get_close_matches(name, sorted(options), 1)
    return f"did you mean {near[0]!r}?" if near else f"its options are {', '.join(sorted(options))}"


def check_options(call: str, decorator: Any, given: Iterable[str]) -> None:
    """Raise TypeError for the first name that is not an option of a decorator."""
    unknown, remedy = unknown_options(call, decorator, given)
    if unknown:
        raise TypeError(f"{call}: unknown option {unknown[0]!r}; {remedy}")
