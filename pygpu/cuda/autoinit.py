"""Importing this module initializes CUDA and makes a context current, as in PyCUDA.

`context` is the primary context of `device`, so that CuPy, PyTorch and the CUDA runtime share it;
`device` is the one that CUDA_DEVICE or ~/.cuda_device names, else the first that works. Nothing has
to be undone at exit.
"""

from __future__ import annotations

from . import driver as cuda

__all__ = ["context", "device"]


def _push_primary(device: cuda.Device) -> cuda.Context:
    primary = device.retain_primary_context()
    primary.push()
    return primary


def _start() -> cuda.Context:
    from .tools import make_default_context

    cuda.init()
    return make_default_context(_push_primary)


context: cuda.Context = _start()
device: cuda.Device = cuda.Context.get_device()


def _finish_up() -> None:
    """PyCUDA's function of the exit, which some programs ask for: drops `context`. Called by
    nobody here, as nothing has to be undone."""
    global context
    from .tools import clear_context_caches

    if context is not None:
        context.pop()
    context = None  # type: ignore[assignment]  # a program that has not called this has one
    clear_context_caches()
