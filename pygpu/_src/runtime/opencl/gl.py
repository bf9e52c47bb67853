"""Finds the devices that can share with OpenGL, and the current OpenGL context.

src/opencl/objects/gl.c has the rest.

The current context comes from the OpenGL library that the program has loaded, through any package:
neither PyOpenGL nor a link to OpenGL is needed, and nothing is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pygpu._src.util.public import publish

if TYPE_CHECKING:
    from pygpu._opencl import Platform

__all__ = ["get_apple_cgl_share_group", "get_gl_sharing_context_properties", "have_gl"]

EXTENSIONS = frozenset(("cl_khr_gl_sharing", "cl_APPLE_gl_sharing"))
CGL = "/System/Library/Frameworks/OpenGL.framework/OpenGL"


def have_gl() -> bool:
    """Whether any device can share its memory with OpenGL (cl_khr_gl_sharing).

    Queries all platforms, so it loads the driver. Returns False if there is none.
    """
    from pygpu import errors  # this module must be importable while pygpu itself is being loaded

    try:
        return _first_platform() is not None
    except errors.LogicError:  # no platform
        return False


def get_gl_sharing_context_properties() -> list[tuple[int, int]]:
    """Return properties for a Context that shares with this thread's current OpenGL context.

    They contain the addresses of that context and of its display. For Linux (GLX, EGL), Windows
    (WGL, EGL) and macOS. Raises LogicError if no OpenGL context is current, NotImplementedError on
    other systems.
    """
    from pygpu.constants import context_properties as keys

    if sys.platform == "darwin":
        return [(keys.CONTEXT_PROPERTY_USE_CGL_SHAREGROUP_APPLE, get_apple_cgl_share_group())]
    queries = {
        "glX": ("GetCurrentContext", "GetCurrentDisplay", keys.GLX_DISPLAY_KHR),
        "wgl": ("GetCurrentContext", "GetCurrentDC", keys.WGL_HDC_KHR),
        "egl": ("GetCurrentContext", "GetCurrentDisplay", keys.EGL_DISPLAY_KHR),
    }
    for prefix, library in _opengl():
        get_context, get_display, key = queries[prefix]
        context = _call(library, prefix + get_context)
        display = _call(library, prefix + get_display) if context else 0
        if display:
            return [(keys.GL_CONTEXT_KHR, context), (key, display)]
    raise _no_context("get_gl_sharing_context_properties")


def get_apple_cgl_share_group() -> int:
    """Return the share group of this thread's current OpenGL context: a number for Context.

    macOS only: raises NotImplementedError elsewhere, LogicError if no context is current.
    """
    if sys.platform != "darwin":
        raise NotImplementedError("get_apple_cgl_share_group: only macOS has share groups")
    import ctypes

    library = ctypes.CDLL(CGL)
    context = _call(library, "CGLGetCurrentContext")
    group = _call(library, "CGLGetShareGroup", context) if context else 0
    if not group:
        raise _no_context("get_apple_cgl_share_group")
    return group


# ---- platforms


def _shares(platform: Platform) -> bool:
    """Whether a device of the platform has the extension."""
    return any(EXTENSIONS & set(d.extensions.split()) for d in platform.get_devices())


def _first_platform() -> Platform | None:
    """Return the first platform with such a device, skipping those that cannot be queried."""
    from pygpu import errors
    from pygpu._opencl import get_platforms

    for platform in get_platforms():
        try:
            if _shares(platform):
                return platform
        except errors.Error:
            continue
    return None


# ---- OpenGL


def _opengl() -> Iterator[tuple[str, Any]]:
    """Yield the libraries that may know a current context, with the prefix of their functions'
    names."""
    import ctypes

    if sys.platform == "win32":
        for prefix, name in (("wgl", "opengl32.dll"), ("egl", "libEGL.dll")):
            get_handle = ctypes.windll.kernel32.GetModuleHandleW
            get_handle.argtypes, get_handle.restype = [ctypes.c_wchar_p], ctypes.c_void_p
            handle = get_handle(name)  # null if the program has not loaded it
            if handle:
                yield prefix, ctypes.WinDLL(name, handle=handle)
        return
    if not hasattr(os, "RTLD_NOLOAD"):
        raise NotImplementedError(f"platform '{sys.platform}' has no way to share with OpenGL")
    for prefix, name in (
        ("glX", "libGLX.so.0"),
        ("glX", "libGL.so.1"),
        ("egl", "libEGL.so.1"),
    ):
        try:
            yield prefix, ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
        except OSError:
            pass
    for prefix in ("glX", "egl"):  # part of the program itself, or under another name
        yield prefix, ctypes.CDLL(None)


def _call(library: Any, name: str, *arguments: int) -> int:
    """Return the address that a function without side effects returns; 0 for null or a missing
    function."""
    import ctypes

    try:
        function = getattr(library, name)
    except AttributeError:
        return 0
    function.argtypes = [ctypes.c_void_p] * len(arguments)
    function.restype = ctypes.c_void_p
    return function(*arguments) or 0


def _no_context(call: str) -> Exception:
    from pygpu.errors import _make_error

    name = "INVALID_GL_SHAREGROUP_REFERENCE_KHR"
    text = "no OpenGL context is current in this thread: make one current, then call again"
    return _make_error("LogicError", "", call, -1000, name, text, "")


def _address(value: object) -> int | None:
    """Return the address in a ctypes pointer; None for anything else. Called by the extension."""
    import ctypes

    if not isinstance(value, (ctypes.c_void_p, ctypes._Pointer)):
        return None
    return ctypes.cast(value, ctypes.c_void_p).value or 0


publish(globals(), __all__, "pygpu.gl")
