"""Compiled images of generated CUDA kernels, cached on disk so that finding one does not need a
compiler.

NVRTC is a large library: loading it only for its version, which would be part of a key, takes
longer than everything else for a cached kernel. So an image is found by its source, options,
architecture and simulator, and the entry lists the files that made it: NVRTC's and the header for
half precision. As long as these files are unchanged, the image is valid. It also stores its
kernels' parameters, which would otherwise be read from the source.

This module does not find what a user's source includes: a source that might include something is
left to SourceModule, whose cache examines all included files (docs/guide/cache.md).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from typing import Any

from pygpu import _cuda
from pygpu._src.drivers import cuda_signature as signature
from pygpu._src.runtime.cuda.debugging import is_debugging
from pygpu.errors import Error

from . import compilation, nvrtc

_FORMAT = "generated 1"
_HALF = "#include <cuda_fp16.h>"
_UNCERTAIN = re.compile(r"include|import|embed|__DATE__|__TIME|__has_|_Pragma\s*+\(\s*+\"nv|\?\?")
_CONTINUED = re.compile(r"\\[ \t\f\v]*+(?:\r\n?|\n)")  # compilers first join such lines
KERNEL = re.compile(r"__global__\s++void\s++(?:__launch_bounds__\s*+\([^()]*+\)\s*+)?(\w++)\s*+\(")


def key_of(
    prefix: str,
    text: str,
    options: Sequence[str],
    capability: Any,
    simulated: bool | None = None,
) -> str | None:
    """Return the key of an image on disk, None if it must not be cached. prefix: of the dialect,
    before *text*. simulated: whether it is for the simulator, by default if that is the driver."""
    if is_debugging() or _UNCERTAIN.search(_CONTINUED.sub("", text)):
        return None
    if simulated is None:
        simulated = bool(nvrtc._cuda()._is_simulator())
    around = (
        _FORMAT,
        tuple(options),
        capability,
        compilation.simulator_identity() if simulated else os.environ.get(nvrtc.VARIABLE),
    )
    key = hashlib.sha256(repr(around).encode())
    key.update(prefix.encode())
    key.update(text.encode("utf-8", "surrogateescape"))
    return key.hexdigest()


def find(store: Any, key: str) -> Any:
    """Return the module of a cached image; None if there is none, or if the files that made it
    changed."""
    entry = store.read(key)
    if entry is None:
        return None
    image, facts = entry
    try:
        if not is_current(facts["files"]):
            return None
        declared = signature.as_source(facts["kernels"])
    except (KeyError, TypeError, ValueError):
        return None
    try:
        module = _cuda.module_from_buffer(image)
    except Error:  # made for another driver: it is compiled anew
        return None
    module._set_source(declared)
    return module


def is_current(files: Any) -> bool:
    """Whether the files that made an image are unchanged."""
    return all(_identity(path) == [path, *rest] for path, *rest in files)


def keep(store: Any, key: str, image: bytes, prefix: str, declared: str | None) -> str | None:
    """Write an image. Returns the declarations of its kernels' parameters, for its module."""
    if declared is None:
        return None
    kernels = {
        name: signature.kernel_parameters(name, declared, None) for name in KERNEL.findall(declared)
    }
    files = makers(_HALF in prefix)
    if files is not None and image and None not in kernels.values():
        store.write(key, image, {"files": files, "kernels": kernels})
    return signature.as_source(kernels)


def makers(half: bool) -> list[list[Any]] | None:
    """List the files that make images, besides their source; None if they are unknown."""
    if nvrtc.is_simulated():
        return []  # the simulator is part of the key
    paths = [_library_file()]
    if half:
        headers = (os.path.join(f, "cuda_fp16.h") for f in nvrtc.include_folders())
        paths.append(next((path for path in headers if os.path.isfile(path)), None))
    found = [None if path is None else _identity(path) for path in paths]
    return None if None in found else [one for one in found if one is not None]


def _identity(path: str) -> list[Any] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return [path, status.st_size, status.st_mtime_ns]


def _library_file() -> str | None:
    """Return the path from which NVRTC was loaded, None if it is unknown."""
    name: str | None = nvrtc._cuda()._nvrtc_library()
    if name is None or os.path.isabs(name):
        return name
    try:
        with open("/proc/self/maps") as file:
            paths = {line.split(None, 5)[5].rstrip("\n") for line in file if f"/{name}" in line}
    except (OSError, IndexError):
        return None
    return paths.pop() if len(paths) == 1 else None
