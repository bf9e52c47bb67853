"""Finding and opening a library, and calling its functions.

A library is a table of functions with a letter for each argument: p pointer, i int, l long long or
size_t, c char, f float, d double; all return an int, 0 for success. tests/contract/ compares the
tables with the headers. `PYGPU_<NAME>_LIBRARY` names the file to open and nothing else, or is
"none".
"""

from __future__ import annotations

import ctypes
import glob
import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from pygpu.errors import _make_error

_TYPES: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "i": ctypes.c_int,
    "l": ctypes.c_longlong,
    "c": ctypes.c_char,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
}
_every: list[Library] = []


class Library:
    """A shared library that may be missing.

    name: as in the environment variable; functions: names and argument letters; files: names of the
    file for each major version of CUDA, or under 0 if it has nothing to do with CUDA; needs: files
    to open before, where they exist; status: names of its error codes.
    """

    def __init__(
        self,
        name: str,
        functions: Mapping[str, str],
        files: Mapping[int, str],
        needs: Mapping[int, tuple[str, ...]] | None = None,
        status: Mapping[int, str] | None = None,
    ) -> None:
        self.name, self.functions, self.files = name, functions, files
        self.needs, self.status = needs or {}, status or {}
        self.lock = threading.RLock()
        self._handle: Any = None
        self._tried = False
        self.path: str | None = None
        _every.append(self)

    def available(self) -> bool:
        """Whether it is open, or could be opened now."""
        if not self._tried:
            with self.lock:
                if not self._tried:
                    self._open()
                    self._tried = True
        return self._handle is not None

    def function(self, name: str) -> Callable[..., int]:
        """A function, which returns a status."""
        if not self.available():
            raise _make_error("RuntimeError", "", name, -1, "NOT_FOUND", None, "")
        found: Callable[..., int] = getattr(self._handle, name)
        return found

    def call(self, function: str, *args: Any) -> None:
        """Call a function. Raises pygpu.RuntimeError (MemoryError) with its name and status."""
        self.check(function, self.function(function)(*args))

    def check(self, function: str, status: int) -> None:
        """Raise for the status that a function returned, if it is an error."""
        if status != 0:
            name = self.status.get(status, "unknown status")
            kind = "MemoryError" if "ALLOC_FAILED" in name else "RuntimeError"
            raise _make_error(kind, "", function, status, name, None, "")

    def _open(self) -> None:
        named = os.environ.get(f"PYGPU_{self.name.upper()}_LIBRARY", "").strip()
        if named.lower() == "none":
            return
        for path in [named] if named else self._candidates():
            try:
                handle = ctypes.CDLL(path)
                for function, letters in self.functions.items():
                    entry = getattr(handle, function)
                    entry.argtypes = [_TYPES[letter] for letter in letters]
                    entry.restype = ctypes.c_int
            except (OSError, AttributeError):
                if named:
                    raise
                continue
            self._handle, self.path = handle, path
            return

    def _candidates(self) -> list[str]:
        if 0 in self.files:
            return [self.files[0]]
        from pygpu._src.drivers.cuda_loader import simulator_path
        from pygpu._src.runtime.cuda import nvrtc

        cuda = nvrtc._cuda()
        driver = cuda._library()
        if driver is None or os.path.basename(driver) == simulator_path().name:
            return []  # the simulator's memory is not a GPU's
        found = []
        for major in sorted((m for m in self.files if m <= nvrtc._driver_major()), reverse=True):
            for file in self.needs.get(major, ()):
                for path in _candidate_paths(file):
                    try:
                        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
                    except OSError:
                        continue
                    break
            found += _candidate_paths(self.files[major])
        return found


def _candidate_paths(file: str) -> list[str]:
    """Where pip's packages, toolkits and the system may have a file, best first."""
    from pygpu._src.runtime.cuda import nvrtc

    found = []
    for folder in nvrtc._library_folders():
        found += sorted(glob.glob(os.path.join(glob.escape(folder), file)))
    return [*found, *([] if sys.platform == "win32" and "*" in file else [file])]


def reset() -> None:
    """Look for all libraries again when they are needed next; for tests."""
    for library in _every:
        library._handle, library._tried, library.path = None, False, None
