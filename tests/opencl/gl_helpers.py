"""What the cases of gl_cases.py share: the shim's notes and what is expected of them."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pygpu as cl

hooks: Any = cl._opencl
ctypes.CDLL(os.environ["GL_SHIM_REAL"])  # by itself, so that its own calls are not the shim's
assert hooks._library() is None, "importing pygpu loaded the driver"
KEYS, MF = cl.context_properties, cl.mem_flags
GL = [(KEYS.GL_CONTEXT_KHR, 0x1234), (KEYS.GLX_DISPLAY_KHR, 0x5678)]


class Shim:
    """What the shim notes."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(os.environ["PYGPU_OPENCL_LIBRARY"])
        self.library.shim_notes.restype = ctypes.c_char_p
        self.asked: list[str] = []  # functions that the platform was asked for

    def notes(self) -> list[str]:
        """What was done since the last time, a line each."""
        lines = self.library.shim_notes().decode().splitlines()
        self.library.shim_forget()
        self.asked = [line.split()[-1] for line in lines if line.startswith("asked for ")]
        return [line for line in lines if not line.startswith("asked for ")]


shim = Shim()


def first_platform() -> cl.Platform:
    """The first that has a device."""
    return next(platform for platform in cl.get_platforms() if platform.get_devices())


def first_device() -> cl.Device:
    return first_platform().get_devices()[0]


def some_context() -> cl.Context:
    return cl.Context([first_device()], properties=GL)


@contextmanager
def refused(
    *words: str, kind: type[Exception] = cl.LogicError, asked: bool = False
) -> Iterator[None]:
    """The block raises *kind* with *words* in its message, before the driver hears of it."""
    shim.notes()
    try:
        yield
    except kind as error:
        for word in words:
            assert word in str(error), f"{word!r} is not in {error}"
        if kind is TypeError:
            assert isinstance(error, TypeError), error
    else:
        raise AssertionError(f"no {kind.__name__} with {words}")
    notes = shim.notes()
    assert asked or not notes, f"the driver was asked: {notes}"


def all_released(names: str) -> None:
    """Each of the objects of these names was released once since the last look."""
    gc.collect()
    released = [line for line in shim.notes() if line.startswith("release ")]
    assert sorted(released) == sorted(f"release {name}" for name in names.split()), released
