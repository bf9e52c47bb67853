"""Finding the OpenCL library when it is first used.

Nothing in pygpu is linked to OpenCL: the extension asks this module to open a library, once. It
tries, in this order,

1. only PYGPU_OPENCL_LIBRARY, if that environment variable is set: a path or a name,
2. the system's loader: libOpenCL.so.1 (OpenCL.dll on Windows, the framework on macOS),
3. a loader in this Python's environment (``sys.prefix/lib``, Conda's, the user's),
4. the loader in PyOpenCL's wheel,
5. a driver from PyPI itself, which needs no loader: ``sys.prefix/lib/libintelocl.so``.

If a loader finds no platform, it is opened a second time with the drivers from PyPI and Conda
offered to it, because these do not register where a loader looks. A loader that is part of the
environment is offered them at once. Neither this nor step 5 is done if the user has said where
drivers are: OCL_ICD_VENDORS, OCL_ICD_FILENAMES, OPENCL_VENDOR_PATH.

If there is no platform at all, nothing stays loaded, and the next use tries again.
"""

from __future__ import annotations

import os
import platform
import shutil
import site
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pygpu.errors import _make_error

VARIABLE = "PYGPU_OPENCL_LIBRARY"
# By these variables a user or administrator tells a loader which drivers to use.
ICD_VARIABLES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH")
PLATFORM_NOT_FOUND = -1001  # PLATFORM_NOT_FOUND_KHR
NO_PLATFORM = "loaded, but it knows no OpenCL platform"

# Intel's libraries from PyPI have no run path: their dependencies must be opened first, in this
# order, from the same folder.
_INTEL_NEEDS = ("libintlc.so.5", "libimf.so", "libirng.so", "libsvml.so")

_lock = threading.RLock()
_tried: list[tuple[str, str]] = []
_offered: list[str] = []


def load_opencl(opencl: Any) -> None:
    """Open an OpenCL library that has a platform; called by the extension *opencl* at first use.

    Raises LogicError, code PLATFORM_NOT_FOUND_KHR, with every file that was tried, the linker's
    message for each, and what to install. A later call tries again.
    """
    with _lock:
        if opencl._library() is not None:
            return  # another thread was first
        _tried.clear()
        _offered.clear()
        found = False
        try:
            found = _search(opencl)
        finally:
            if not found:
                # Also if Ctrl-C interrupted it: an unverified library must not stay loaded.
                opencl._unload_library()
        if not found:
            raise _make_error(
                "LogicError",
                "",
                "clGetPlatformIDs",
                PLATFORM_NOT_FOUND,
                "PLATFORM_NOT_FOUND_KHR",
                no_platform_advice(opencl),
                "",
            )


def tried(opencl: Any) -> list[tuple[str, str]]:
    """List every file that was tried, in order, as (path, "loaded" or why it was not used).

    The list is empty before OpenCL is first used.
    """
    with _lock:
        if _tried:
            return list(_tried)
        path = opencl._library()  # this module was reloaded
        return [(path, "loaded")] if path is not None else []


def offered() -> list[str]:
    """List the drivers that were passed to the loader because the system does not register them."""
    with _lock:
        return list(_offered)


def drivers() -> list[str]:
    """List the OpenCL drivers that pip or Conda installed where no loader looks."""
    return [str(path) for path in _pip_drivers()]


def no_platform_advice(opencl: Any) -> str:
    """Describe the attempts to find a driver, and the commands that install one here."""
    lines = ["no OpenCL platform was found. These were tried:"]
    for path, result in tried(opencl):
        lines.append(f"  {path}: {result.removeprefix(path + ': ')}")
    if not tried(opencl):
        lines[0] = "no OpenCL platform was found."
    for name in (VARIABLE, *ICD_VARIABLES):
        if os.environ.get(name):
            lines.append(f"The environment variable {name}={os.environ[name]} was obeyed.")
    lines.append("To install an OpenCL driver:")
    lines += [f"  {line}" for line in install_lines()]
    return "\n".join(lines)


def install_lines() -> list[str]:
    """List the ways to get an OpenCL driver on this machine, one per line, commands that can be
    pasted first.

    They are for the CPU: a graphics card only needs its own driver.
    """
    lines = []
    if sys.platform == "darwin":
        return ["OpenCL is part of macOS: this system lacks its framework"]
    if shutil.which("apt-get"):
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        prefix = "" if is_root else "sudo "
        lines.append(f"{prefix}apt-get install pocl-opencl-icd ocl-icd-libopencl1")
    x86_64 = platform.machine().lower() in ("x86_64", "amd64")
    if x86_64 and sys.platform in ("linux", "win32"):
        lines.append('pip install ".[cpu]"  # in the folder of pygpu\'s source')
    return [*lines, "for a graphics card: its vendor's driver, which brings OpenCL along"]


# ---- the search -------------------------------------------------------------------------------


def _search(opencl: Any) -> bool:
    """Open candidates until one has a platform. Returns whether one had."""
    named = os.environ.get(VARIABLE)
    obey = [name for name in ICD_VARIABLES if os.environ.get(name)]
    for path in [named] if named else _loaders():
        near = [] if obey else _drivers_in_environment(path)
        with _home(path), _listing(near):
            if _open(opencl, path) and _has_platform(opencl, path, may_offer=not obey):
                _offered.extend(driver for driver in near if driver not in _offered)
                return True
    if named:
        return False
    for path in map(str, _direct_drivers()):
        if obey:
            _tried.append((path, f"not tried, as {obey[0]} says which drivers to use"))
        elif _open(opencl, path) and _has_platform(opencl, path, may_offer=False):
            return True
    return False


def _open(opencl: Any, path: str) -> bool:
    """Open one library. If that fails, record the linker's message."""
    folder = Path(path).parent
    needs = [str(folder / name) for name in _INTEL_NEEDS if os.sep in path]
    try:
        opencl._load_library(path, [need for need in needs if os.path.exists(need)])
    except OSError as error:
        _tried.append((path, str(error) or "it cannot be opened"))
        return False
    return True


def _has_platform(opencl: Any, path: str, may_offer: bool) -> bool:
    """Whether the open library has a platform, if necessary with drivers offered to it.

    If not, it is closed.
    """
    if _count(opencl):
        _tried.append((path, "loaded"))
        return True
    found = drivers() if may_offer else []
    if found:
        with _offer(found) as done:
            # A loader reads its environment only once, so it must be opened again.
            if done and _open(opencl, path) and _count(opencl):
                _tried.append((path, "loaded"))
                _offered.extend(found)
                return True
    _tried.append((path, NO_PLATFORM))
    return False


def _count(opencl: Any) -> int:
    """Count the open library's platforms. If there are none, it is closed."""
    count: int = opencl._platform_count()
    for name in ICD_VARIABLES:
        if name in os.environ:  # Khronos's loader may have split the list in place,
            # So that child processes would inherit only its first part.
            os.environ[name] = os.environ[name]
    if count == 0:
        opencl._unload_library()
    return count


@contextmanager
def _offer(found: list[str]) -> Iterator[bool]:
    """Make loaders that are opened inside the block use these drivers. Yields False if that is
    impossible.

    Both common loaders for Unix read a folder of .icd files, each naming a driver; Windows' loader
    reads a list.
    """
    if sys.platform == "win32":
        with _environment("OCL_ICD_FILENAMES", os.pathsep.join(found)):
            yield True
        return
    try:
        folder = tempfile.mkdtemp(prefix="pygpu-icd-")
    except OSError:  # nowhere to write
        yield False
        return
    try:
        for i, driver in enumerate(found):
            Path(folder, f"{i}.icd").write_text(driver + "\n")
        with _environment("OCL_ICD_VENDORS", folder):
            yield True
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _drivers_in_environment(path: str) -> list[str]:
    """Return the drivers of the environment that a loader is part of.

    They belong together. Khronos's loader, which Intel's package contains, must get them at once:
    it stays loaded when it is closed, so it cannot be opened a second time.
    """
    return drivers() if Path(path).parent in _library_folders() else []


@contextmanager
def _listing(found: list[str]) -> Iterator[None]:
    """Make Khronos's loader list these drivers in addition to the system's."""
    if not found:
        yield
        return
    with _environment("OCL_ICD_FILENAMES", os.pathsep.join(found)):
        yield


@contextmanager
def _home(path: str) -> Iterator[None]:
    """Set the variable without which PyOpenCL's loader crashes: the folder of its package."""
    folder = Path(path).parent
    homes = {"pyopencl/.libs": "..", "pyopencl/.dylibs": "..", "/pyopencl.libs": "../pyopencl"}
    for ending, home in homes.items():
        if folder.as_posix().endswith(ending) and not os.environ.get("PYOPENCL_HOME"):
            with _environment("PYOPENCL_HOME", os.path.normpath(folder / home)):
                yield
            return
    yield


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set an unset variable temporarily: child processes must not inherit it."""
    empty = os.environ.get(name)  # set but empty; otherwise it would have been used
    os.environ[name] = value
    try:
        yield
    finally:
        if empty is None:
            del os.environ[name]
        else:
            os.environ[name] = empty


# ---- where libraries may be -------------------------------------------------------------------


def _loaders() -> list[str]:
    """List names and paths of loaders, best first."""
    if sys.platform == "win32":
        names, system = ["OpenCL.dll"], ["OpenCL.dll"]
    elif sys.platform == "darwin":
        names = ["libOpenCL.1.dylib", "libOpenCL.dylib"]
        system = ["/System/Library/Frameworks/OpenCL.framework/OpenCL"]
    else:
        names = system = ["libOpenCL.so.1", "libOpenCL.so"]
    own = [folder / name for folder in _library_folders() for name in names]
    bundled = [
        path
        for entry in _import_folders()
        for pattern in ("pyopencl/.libs/", "pyopencl/.dylibs/", "pyopencl.libs/")
        for name in ("libOpenCL*.so*", "libOpenCL*.dylib", "OpenCL*.dll")
        for path in sorted(entry.glob(pattern + name))
    ]
    return system + _unique(path for path in [*own, *bundled] if path.is_file())


def _direct_drivers() -> list[Path]:
    """List drivers that export OpenCL's functions themselves and so can replace a loader."""
    name = "intelocl64.dll" if sys.platform == "win32" else "libintelocl.so"
    paths = (folder / name for folder in _library_folders())
    return [Path(path) for path in _unique(path for path in paths if path.is_file())]


def _pip_drivers() -> list[Path]:
    """List the drivers in this Python's environment: those above, and those named by its .icd
    files.

    Such a file may name a path on the machine that built it; then the library with that name in
    the environment is used.
    """
    found: list[Path] = list(_direct_drivers())
    vendor_folders = [
        (folder.parent / "etc" / "OpenCL" / "vendors", folder) for folder in _library_folders()
    ]
    for entry in _import_folders():
        vendor_folders += [
            (folder, folder)
            for pattern in ("*/.libs", "*.libs")
            for folder in sorted(entry.glob(pattern))
        ]
    for folder, libraries in vendor_folders:
        for icd in sorted(folder.glob("*.icd")):
            try:
                named = Path(icd.read_text().strip().splitlines()[0])
            except (OSError, UnicodeDecodeError, IndexError):
                continue
            for path in (folder / named, libraries / named.name):
                if path.is_file():
                    found.append(path)
                    break
    return [Path(path) for path in _unique(found)]


def _library_folders() -> list[Path]:
    """List where pip and Conda put shared libraries, in every environment of this Python."""
    prefixes = [sys.prefix, sys.exec_prefix, os.environ.get("CONDA_PREFIX"), sys.base_prefix]
    if site.ENABLE_USER_SITE:
        prefixes.insert(2, site.getuserbase())
    parts = ("Library", "bin") if sys.platform == "win32" else ("lib",)
    folders = [Path(prefix, *parts) for prefix in dict.fromkeys(prefixes) if prefix]
    return [folder for folder in folders if folder.is_dir()]


def _import_folders() -> list[Path]:
    return [Path(entry) for entry in dict.fromkeys(sys.path) if entry and os.path.isdir(entry)]


def _unique(paths: Iterable[Path]) -> list[str]:
    """Return paths as strings, without those that name the same file as an earlier one."""
    seen: dict[str, str] = {}
    for path in paths:
        seen.setdefault(os.path.realpath(path), str(path))
    return list(seen.values())
