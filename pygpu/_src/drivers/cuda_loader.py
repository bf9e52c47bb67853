"""Finding the CUDA driver when it is first used.

Nothing of pygpu is linked to CUDA: the extension asks this module to open a library, once.

1. PYGPU_CUDA_LIBRARY, a path or a name, is opened and nothing else, if it is set.
2. PYGPU_CUDA=driver: the system's driver (libcuda.so.1, nvcuda.dll) alone.
3. PYGPU_CUDA=simulator: the CPU simulator that comes with pygpu alone.
4. PYGPU_CUDA=auto, or not set: the driver if it has a device, else the simulator, with a warning.

If nothing can be used, the next use tries again.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from functools import cache as once
from pathlib import Path
from typing import Any

from pygpu._src.util import log
from pygpu._src.util.package_folder import PACKAGE_FOLDER
from pygpu._src.util.user_frame import user_stacklevel
from pygpu.errors import _make_error

VARIABLE = "PYGPU_CUDA_LIBRARY"
CHOICE = "PYGPU_CUDA"
CHOICES = ("auto", "driver", "simulator")
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE

_lock = threading.RLock()
_tried: list[tuple[str, str]] = []


class SimulatorWarning(UserWarning):
    """There is no NVIDIA GPU, and kernels run on the CPU."""


def load_driver(cuda: Any) -> None:
    """Open the CUDA driver or the simulator; called by the extension *cuda* at first use.

    Raises RuntimeError (code NO_DEVICE) with every file that was tried, the linker's message for
    each, and what to install; ValueError if PYGPU_CUDA is not one of auto, driver, simulator.
    """
    with _lock:
        if cuda._library() is not None:
            return  # another thread was first
        choice = os.environ.get(CHOICE, "").strip().lower() or "auto"
        if choice not in CHOICES:
            raise ValueError(f"{CHOICE}={choice!r}: it must be one of {', '.join(CHOICES)}")
        _tried.clear()
        found = False
        try:
            found = _search(cuda, choice)
        finally:
            if not found:  # also if Ctrl-C interrupted it
                cuda._unload_library()
        if not found:
            raise _make_error(
                "RuntimeError",
                "",
                "cuInit",
                NO_DEVICE,
                "no CUDA-capable device is detected",
                no_driver_advice(cuda),
                "",
            )


def has_gpu(cuda: Any) -> bool:
    """Whether NVIDIA's driver is loaded or can be loaded (then it is): PYGPU_CUDA allows it, and
    it has a device. Does not load the simulator."""
    with _lock:
        if cuda._library() is not None:
            return bool(cuda._library() != str(simulator_path()))
        choice = os.environ.get(CHOICE, "").strip().lower() or "auto"
        if choice == "simulator" or os.environ.get(VARIABLE):
            return False
        _tried.clear()
        return _search(cuda, "driver")


def tried(cuda: Any) -> list[tuple[str, str]]:
    """List every file that was tried, in order, as (path, "loaded" or why it was not used)."""
    with _lock:
        if _tried:
            return list(_tried)
        path = cuda._library()  # this module was reloaded
        return [(path, "loaded")] if path is not None else []


def no_driver_advice(cuda: Any) -> str:
    """Describe the attempts to find a driver, and how to run CUDA programs here."""
    lines = ["no CUDA driver with a device was found. These were tried:"]
    lines += [f"  {path}: {result.removeprefix(path + ': ')}" for path, result in tried(cuda)]
    for name in (VARIABLE, CHOICE):
        if os.environ.get(name):
            lines.append(f"The environment variable {name}={os.environ[name]} was obeyed.")
    lines += [
        "For an NVIDIA GPU, install NVIDIA's driver (on Debian: apt-get install nvidia-driver).",
        f"To run on the CPU, set {CHOICE}=simulator; it needs a C++ compiler: "
        "apt-get install g++, or pip install ziglang",
    ]
    return "\n".join(lines)


@once
def simulator_path() -> Path:
    """Return the path of the CPU simulator's shared library; it may not exist."""
    names = {"win32": "pygpu_cudasim.dll", "darwin": "libpygpu_cudasim.dylib"}
    return PACKAGE_FOLDER / "cuda" / "simulator" / names.get(sys.platform, "libpygpu_cudasim.so")


def default_device() -> int:
    """Return the number of the device that is used by default.

    It is the environment variable CUDA_DEVICE, else the number in the file .cuda_device in the
    home folder, else 0.
    """
    text = os.environ.get("CUDA_DEVICE", "").strip()
    source = "the environment variable CUDA_DEVICE"
    if not text:
        try:
            file = Path.home() / ".cuda_device"
            text, source = file.read_text().strip(), str(file)
        except (OSError, RuntimeError, UnicodeDecodeError):
            return 0
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{source} holds {text!r}, which is not a device number") from None


def _search(cuda: Any, choice: str) -> bool:
    named = os.environ.get(VARIABLE)
    if named:
        return _open(cuda, named) and _has_device(cuda, named)
    if choice != "simulator":
        for path in _drivers():
            if _open(cuda, path) and _has_device(cuda, path):
                return True
        if choice == "driver":
            return False
    path = str(simulator_path())
    if not (_open(cuda, path) and _has_device(cuda, path)):
        return False
    if choice == "auto":
        log.log("fallback", log.INFO, "no NVIDIA GPU was found: kernels of CUDA run on the CPU")
        warnings.warn(
            f"no NVIDIA GPU was found: kernels run on the CPU. Set {CHOICE}=simulator to run there "
            f"without this warning, or {CHOICE}=driver to get an error instead.",
            SimulatorWarning,
            stacklevel=user_stacklevel(),
        )
    return True


def _open(cuda: Any, path: str) -> bool:
    """Open one library. If that fails, record the linker's message."""
    try:
        cuda._load_library(path)
    except OSError as error:
        _tried.append((path, str(error) or "it cannot be opened"))
        return False
    return True


def _has_device(cuda: Any, path: str) -> bool:
    """Whether the open library has a device. If not, it is closed."""
    status, count, text = cuda._probe()
    if status == 0 and count > 0:
        _tried.append((path, "loaded"))
        return True
    _tried.append((path, f"loaded, but {text or 'it has no device'}"))
    cuda._unload_library()
    return False


def _drivers() -> list[str]:
    """List names and paths of NVIDIA's driver, best first."""
    if sys.platform == "win32":
        return ["nvcuda.dll"]
    if sys.platform == "darwin":
        return []  # NVIDIA's last driver for macOS is older than CUDA 11.8
    wsl = "/usr/lib/wsl/lib/libcuda.so.1"
    return ["libcuda.so.1", *([wsl] if os.path.exists(wsl) else [])]
