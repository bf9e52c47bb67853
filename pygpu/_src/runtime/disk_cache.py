"""A cache of program binaries on disk, which can speed up a build but never makes it fail.

An entry is named by a SHA-256 of everything that the binary depends on: the source, the contents
of all headers that it includes, the options, the device with its driver's version, and the host's
processor. So lookups do not depend on dates, and an entry is never out of date.

On any problem (no home folder, no permission, a full disk, a damaged entry, a binary that the
driver rejects), the program is built from its source. Entries are written to a temporary file and
then moved, so that readers and other processes see only complete files; no locks are used.

Environment:

* PYGPU_NO_CACHE, PYOPENCL_NO_CACHE: if set, and not 0 or false, the cache is off
* PYGPU_CACHE_DIR: its folder; otherwise it is in the system's folder for caches (XDG_CACHE_HOME)
* PYGPU_CACHE_SIZE: its size limit [MiB], 512 by default
"""

from __future__ import annotations

import os
import stat
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache as once
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygpu._src.util import private_files
from pygpu._src.util.public import publish
from pygpu.errors import Error

if TYPE_CHECKING:
    import re

    from pygpu._opencl import Context, Device, Program

__all__ = ["clear", "default_folder"]

_VERSION = 1
_MAGIC = b"pygpu program 1\n"
_SUFFIX = ".program"
RECIPE = ".recipe"  # the source of a program, for pygpu.cache.pack
_DEFAULT_MIB = 512
_STALE = 3600.0  # [s] after which a half-written file has certainly been abandoned

# Drivers with their own cache; docs/guide/cache.md has the numbers.
_CACHE_THEMSELVES = ("Portable Computing Language", "NVIDIA CUDA")
# Mesa's driver crashes in programs made from binaries.
_NO_BINARIES = ("rusticl",)


# ---- where --------------------------------------------------------------------------------------


def _switched_off() -> bool:
    names = ("PYGPU_NO_CACHE", "PYOPENCL_NO_CACHE")
    return any([os.environ.get(name, "").lower() not in ("", "0", "false", "no") for name in names])


def default_folder() -> Path | None:
    """Return the folder of the entries unless the program chooses one; None if there is no home
    folder.

    It is the one that platformdirs returns; importing that for one function is not worthwhile.
    """
    chosen = os.environ.get("PYGPU_CACHE_DIR")
    if chosen:
        return Path(chosen)
    version = f"opencl-v{_VERSION}"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
        return Path(base, "pygpu", "Cache", version) if os.path.isabs(base) else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.path.expanduser("~")
        caches = ("Library", "Caches") if sys.platform == "darwin" else (".cache",)
        base = os.path.join(home, *caches) if os.path.isabs(home) and home != "/" else ""
    return Path(base, "pygpu", version) if os.path.isabs(base) else None


def chosen_folder(
    context: Context, cache_dir: str | os.PathLike[str] | bool | None
) -> tuple[Path | None, bool]:
    """Return the folder (None for no cache), and whether it was requested explicitly.

    Raises TypeError if cache_dir, or the context's attribute with that name, is not a path.
    """
    if cache_dir is None:
        cache_dir = getattr(context, "cache_dir", None)
    if cache_dir is None:
        return default_folder(), False
    if isinstance(cache_dir, bool):
        return (default_folder() if cache_dir else None), True
    if not isinstance(cache_dir, (str, os.PathLike)):
        raise TypeError(
            "Program.build: cache_dir must be a path, None or False, "
            f"not {type(cache_dir).__name__}"
        )
    path = os.fspath(cache_dir)
    if not isinstance(path, str):
        raise TypeError("Program.build: cache_dir must be a path of str, not of bytes")
    return (Path(path) if path else None), True


def open_store(
    context: Context,
    devices: Sequence[Device],
    cache_dir: str | os.PathLike[str] | bool | None,
) -> Store | None:
    """Return the cache for programs of these devices, or None."""
    folder, wanted = chosen_folder(context, cache_dir)
    if folder is None or _switched_off():
        return None
    for device in devices:
        platform = device.platform.name
        if platform in _NO_BINARIES or (not wanted and platform in _CACHE_THEMSELVES):
            return None
    return Store(folder)


# ---- the key ------------------------------------------------------------------------------------


@once
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of headers' names, and of what makes a program depend on more than its
    source."""
    import re

    include = r"""^[ \t]*(?:\#|%:|\?\?=)[ \t]*(?:include|import)(?:_next)?\b[ \t]*
        (?:<(?P<angle>[^>\n]+)>|"(?P<quote>[^"\n]+)"|(?P<other>[^\n]*))"""
    return (
        re.compile(include, re.MULTILINE | re.VERBOSE),
        re.compile(r"__DATE__|__TIME__|__TIMESTAMP__|__has_include|\binclude_next\b"),
    )


_MAX_HEADERS = 4096
_MOST_HEADER = 1 << 26  # [bytes] larger headers are not read; programs with one are not cached
# O_NONBLOCK: do not wait for a pipe. The compiler may read one, with different contents each time.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class _Scan:
    """Finds the headers of a source. Conditional ones count as included, which is always safe."""

    def __init__(self, folders: Sequence[str], opaque: Sequence[str] = ()) -> None:
        self.folders = folders
        self.opaque = tuple(opaque)  # folders whose headers are identified only by path and date
        self.complete = True  # whether all dependencies were determined
        self.seen: set[tuple[str, str]] = set()
        self.found: list[tuple[str, bytes | None]] = []

    def read(self, path: str) -> bytes | None:
        try:
            file = os.open(path, _READ)
        except (OSError, ValueError):
            return None
        try:
            found = os.fstat(file)
            if found.st_size > _MOST_HEADER or not stat.S_ISREG(found.st_mode):
                self.complete = self.complete and stat.S_ISDIR(found.st_mode)
                return None
            return private_files.read_bytes(file, found.st_size)
        except OSError:
            return None
        finally:
            os.close(file)

    def add(self, name: str, beside: str) -> None:
        if not beside:  # compilers also look in the current folder, before or after the others
            content = self.read(name)
            if content is not None:
                self.found.append((name, content))
                self.scan(content, os.path.dirname(os.path.abspath(name)))
        for folder in (beside, *self.folders) if beside else self.folders:
            path = os.path.join(folder, name)
            if folder in self.opaque:
                try:
                    found = os.stat(path)
                except (OSError, ValueError):
                    continue
                identity = f"{path} {found.st_size} {found.st_mtime_ns}"
                self.found.append((name, identity.encode("utf-8", "surrogateescape")))
                return
            content = self.read(path)
            if content is not None:
                self.found.append((name, content))
                self.scan(content, os.path.dirname(path))
                return
        # A system header, or one that is never reached. If it appears later, the key changes.
        self.found.append((name, None))

    def add_options(self, words: Sequence[str]) -> None:
        """Add files that options name, such as ``-include FILE``: their contents count."""
        for word in words:
            name = word.partition("=")[2] or word
            if not word.startswith("-I") and os.path.isfile(name):
                self.add(name, "")

    def scan(self, source: bytes, beside: str = "") -> None:
        if not any([sign in source for sign in (b"include", b"import", b"__", b"\\\n", b"\\\r")]):
            return
        from pygpu._src.drivers.declarations import without_comments

        include, uncacheable = _patterns()
        text = source.decode("utf-8", "surrogateescape")
        if uncacheable.search(text):
            self.complete = False
            return
        for match in include.finditer(without_comments(text)):
            name = match["angle"] or match["quote"]
            if name is None or len(self.found) > _MAX_HEADERS:
                self.complete = False  # through a macro
            elif (beside, name) not in self.seen:
                self.seen.add((beside, name))
                self.add(name, beside)


@once
def _processor() -> str:
    """Describe the processor, as far as a CPU driver's code may depend on it beyond the device's
    name."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            head = file.read(8192).decode("ascii", "replace")
        return next((line for line in head.splitlines() if line.startswith(("flags", "Feat"))), "")
    except OSError:
        return os.environ.get("PROCESSOR_IDENTIFIER", "")


def _driver_settings() -> list[tuple[str, str]]:
    """Return environment variables that make drivers compile differently."""
    prefixes = ("POCL_", "CL_CONFIG_", "IGC_", "CUDA_", "AMD_OCL_", "GPU_")
    path_variables = ("POCL_CACHE_DIR", "CUDA_CACHE_PATH", "CUDA_HOME", "CUDA_PATH")
    return sorted(
        item
        for item in os.environ.items()
        if item[0].startswith(prefixes) and item[0] not in path_variables
    )


def _surroundings() -> str:
    return repr((_driver_settings(), _processor(), sys.platform))


def _identity(device: Device) -> str:
    platform = device.platform
    return repr(
        (
            *(device.name, device.vendor, device.version, device.driver_version),
            *(device.vendor_id, device.type, device.address_bits),
            *(platform.name, platform.vendor, platform.version),
        )
    )


def include_folders(words: Sequence[str]) -> list[str]:
    """Return the folders of the -I options, in order."""
    folders = []
    for i, word in enumerate(words):
        if word == "-I" and i + 1 < len(words):
            folders.append(words[i + 1])
        elif word.startswith("-I") and len(word) > 2:
            folders.append(word[2:])
    return [folder.strip('"') for folder in folders]


def keys(source: bytes, words: Sequence[str], devices: Sequence[Device]) -> list[str] | None:
    """Return a key for the binary on each device; None if the dependencies cannot be determined."""
    import hashlib

    scan = _Scan(include_folders(words))
    scan.add_options(words)
    scan.scan(source)
    if not scan.complete:
        return None
    common = hashlib.sha256()

    def put(*parts: bytes | None) -> None:
        for part in parts:
            common.update(struct.pack("<q", -1 if part is None else len(part)))
            common.update(part or b"")

    put(str(_VERSION).encode(), source)
    for word in words:
        put(word.encode("utf-8", "surrogateescape"))
    put(b"headers")
    for name, content in scan.found:
        put(name.encode("utf-8", "surrogateescape"), content)
    put(_surroundings().encode("utf-8", "surrogateescape"))
    result = []
    for device in devices:
        one = common.copy()
        one.update(_identity(device).encode("utf-8", "surrogateescape"))
        result.append(one.hexdigest())
    return result


# ---- entries ------------------------------------------------------------------------------------


def _pack(key: str, binary: bytes, facts: dict[str, Any]) -> bytes:
    import hashlib
    import json

    head = json.dumps({"key": key, **facts}).encode()
    body = struct.pack("<Q", len(head)) + head + binary
    return _MAGIC + hashlib.sha256(body).digest() + body


def _unpack(key: str, data: bytes) -> tuple[bytes, dict[str, Any]]:
    """Return binary and facts. Raises ValueError if this is not a complete entry with that key."""
    import hashlib
    import json

    start = len(_MAGIC) + 32
    body = data[start:]
    if data[: len(_MAGIC)] != _MAGIC or hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
        raise ValueError("damaged")
    (size,) = struct.unpack_from("<Q", body)
    facts = json.loads(body[8 : 8 + size].decode())
    if facts["key"] != key:
        raise ValueError("renamed")
    return body[8 + size :], facts


class Entries:
    """The entries in a folder. No method raises; failures are ignored."""

    def __init__(self, folder: Path, suffix: str = _SUFFIX) -> None:
        self.folder = folder
        self.suffix = suffix
        self._under = os.path.join(folder, "")

    def path(self, key: str) -> Path:
        return Path(f"{self._under}{key[:2]}{os.sep}{key}{self.suffix}")

    def read(self, key: str) -> tuple[bytes, dict[str, Any]] | None:
        """Return binary and facts of an entry, None if there is no valid one."""
        data = private_files.read(self._under + key[:2], key + self.suffix, max(_size_limit(), 0))
        if data is None:
            return None
        try:
            return _unpack(key, data)
        except (ValueError, KeyError, TypeError, AttributeError, struct.error):
            return None

    def write(self, key: str, binary: bytes, facts: dict[str, Any]) -> None:
        """Write a binary, with facts that JSON can represent."""
        data = _pack(key, binary, facts)
        limit = _size_limit()
        if len(data) > limit // 4:
            return
        written = private_files.write(self._under + key[:2], key + self.suffix, data)
        # Prune at one of 256 entries, by its name: to search a large folder takes as long as to
        # compile several kernels.
        if written and (key[2:4] == "00" or len(data) > limit // 64):
            prune(self.folder, limit)


class Store(Entries):
    """The entries of OpenCL programs."""

    def load(
        self,
        program: Program,
        devices: Sequence[Device],
        names: Sequence[str],
        options: bytes,
    ) -> dict[Device, str] | None:
        """Build the program from entries and return the compilation's logs; None if that fails."""
        entries = []
        for key in names:
            entry = self.read(key)
            if entry is None:
                return None
            entries.append(entry)
        try:
            arguments = {
                name: [tuple(argument) for argument in rows]
                for name, rows in entries[0][1]["arguments"].items()
            }
            logs = {device: str(facts["log"]) for device, (_, facts) in zip(devices, entries)}
        except (KeyError, TypeError, AttributeError):
            return None
        try:
            if not program._load(devices, [binary for binary, _ in entries], options):
                return None
        except Error:  # a binary that this driver rejects; it will be written anew
            return None
        program._arg_info = arguments
        return logs

    def save(
        self,
        program: Program,
        devices: Sequence[Device],
        names: Sequence[str],
        logs: dict[Device, str],
    ) -> None:
        """Write an entry for each device of a program that was built from source."""
        try:
            arguments = program._kernel_arguments()
            binaries = dict(zip(program.devices, program.binaries))
        except Error:
            return
        for device, key in zip(devices, names):
            binary = binaries.get(device)
            if binary:
                self.write(key, binary, {"log": logs.get(device, ""), "arguments": arguments})


def _size_limit() -> int:
    """[bytes]"""
    try:
        return int(float(os.environ.get("PYGPU_CACHE_SIZE", _DEFAULT_MIB)) * 2**20)
    except (ValueError, OverflowError):
        return _DEFAULT_MIB * 2**20


def prune(folder: str | os.PathLike[str], limit: int) -> None:
    """Remove the least recently used entries until the rest has at most *limit* bytes."""
    entries = []
    now = time.time()
    for found in _files(folder):
        suffix = os.path.splitext(found.name)[1]
        try:
            status = found.stat(follow_symlinks=False)
        except OSError:
            continue
        if suffix in (_SUFFIX, RECIPE):
            entries.append((status.st_mtime, status.st_size, found.path))
        elif suffix == ".tmp" and now - status.st_mtime > _STALE:
            private_files.remove(found.path)
    total = sum([size for _, size, _ in entries])
    if total <= limit:
        return
    for _, size, path in sorted(entries):
        private_files.remove(path)
        total -= size
        if total <= limit:
            break


def _files(folder: str | os.PathLike[str]) -> Iterator[os.DirEntry[str]]:
    """Find the files in the cache's folders: those with names of two characters, not links."""
    try:
        with os.scandir(folder) as parts:
            names = [
                part.path
                for part in parts
                if len(part.name) == 2 and part.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return
    for name in names:
        try:
            with os.scandir(name) as files:
                yield from files
        except OSError:
            continue


def clear(folder: str | os.PathLike[str] | None = None) -> None:
    """Remove all entries from *folder*, by default the default one."""
    chosen = default_folder() if folder is None else Path(folder)
    if chosen is not None:
        prune(chosen, -1)


publish(globals(), __all__, "pygpu.cache")
