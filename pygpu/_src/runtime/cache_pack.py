"""The cache's entries in one file, for other machines: `python -m pygpu.cache pack` and `unpack`.

A pack consists of a JSON header and the entries' files, after a SHA-256 of both. It is checked
completely before anything is written. Its contents will be executed, so the rule of private_files
applies to it: only its owner, who is this user or the administrator, may be able to write to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pygpu._src.util import private_files
from pygpu._src.util.public import publish

from . import disk_cache

_MAGIC = b"pygpu cache pack 1\n"
_KEY = re.compile(r"[0-9a-f]{64}")
_MOST_HEAD = 1 << 26  # [bytes]
_MOST = 1 << 34  # the most bytes of a pack, whatever PYGPU_CACHE_SIZE says


class PackError(RuntimeError):
    """A pack cannot be made or used."""


class Report(NamedTuple):
    """The result of pack() or unpack(): the number of entries, and those left out, with reasons."""

    entries: int
    left_out: list[str]


class _Entry(NamedTuple):
    key: str
    data: bytes  # as in its file
    compiler: list[int] | None  # NVRTC's version if the entry names NVRTC's files


# ---- pack ---------------------------------------------------------------------------------------


def _read_folder(folder: str | os.PathLike[str]) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Yield key, binary and facts of each valid entry."""
    for suffix in (disk_cache._SUFFIX, disk_cache.RECIPE):
        entries = disk_cache.Entries(Path(folder), suffix)
        for path in sorted(Path(folder).glob(f"??/*{suffix}")):
            entry = entries.read(path.stem) if _KEY.fullmatch(path.stem) else None
            if entry is not None:
                yield path.stem, *entry


def _folder(call: str, folder: str | os.PathLike[str] | None) -> Path:
    chosen = disk_cache.default_folder() if folder is None else Path(folder)
    if chosen is None:
        raise PackError(f"{call}: there is no folder for the cache; give folder=")
    return chosen


def pack(
    file: str | os.PathLike[str],
    arch: str | Sequence[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Report:
    """Write the cache's entries to *file*.

    arch: architectures such as "sm_80,sm_90", for which all recorded CUDA sources are compiled by
    NVRTC, without a GPU. folder: of the cache; by default the default one. Raises PackError.
    """
    names = [] if arch is None else arch.split(",") if isinstance(arch, str) else [*arch]
    source = _folder("cache.pack", folder)
    found = list(_read_folder(source))
    left_out: list[str] = []
    if names:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="pygpu-pack-") as made:
            left_out += _cross_compile(names, found, made)
            found += _read_folder(made)
    entries: dict[str, _Entry] = {}
    for key, binary, facts in found:
        compiler = None
        if facts.get("files"):
            compiler = _compiler_of(facts)
            if compiler is None:
                left_out.append(f"{key[:12]}: its compiler has been replaced since")
                continue
        entries[key] = _Entry(key, disk_cache._pack(key, binary, _without_key(facts)), compiler)
    if not entries:
        raise PackError(f"cache.pack: there are no entries in {source}")
    _write_file(os.fspath(file), [*entries.values()])
    return Report(len(entries), left_out)


def _without_key(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name != "key"}


def _compiler_of(facts: dict[str, Any]) -> list[int] | None:
    from .cuda import kernel_images, nvrtc

    try:
        return [*nvrtc.version()] if kernel_images.is_current(facts["files"]) else None
    except (TypeError, ValueError, nvrtc.NvrtcMissing):
        return None


def _cross_compile(
    names: Sequence[str], found: Sequence[tuple[str, bytes, dict[str, Any]]], folder: str
) -> list[str]:
    from concurrent.futures import ThreadPoolExecutor

    from .cuda import cross_compile, nvrtc, recipes

    try:
        targets = cross_compile.known_architectures("cache.pack", [name.strip() for name in names])
    except nvrtc.NvrtcMissing as error:
        raise PackError(f"cache.pack: {error}") from None
    store = disk_cache.Entries(Path(folder))
    jobs = [
        (binary, target)
        for _, binary, facts in found
        if recipes.is_recipe(facts)
        for target in targets
    ]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        messages = pool.map(lambda job: cross_compile.compile_for(store, *job), jobs)
        return [message for message in messages if message is not None]


def _write_file(path: str, entries: Sequence[_Entry]) -> None:
    listed = [[entry.key, len(entry.data), entry.compiler] for entry in entries]
    head = json.dumps({"entries": listed}).encode()
    body = b"".join([struct.pack("<Q", len(head)), head, *(entry.data for entry in entries)])
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        try:
            with open(temporary, "xb") as stream:
                if os.name == "posix":
                    os.fchmod(stream.fileno(), 0o644)  # the umask may allow the group to write
                stream.write(_MAGIC + hashlib.sha256(body).digest() + body)
            os.replace(temporary, path)
        except BaseException:
            private_files.remove(temporary)
            raise
    except OSError as error:
        raise PackError(f"cache.pack: {path} cannot be written: {error.strerror}") from None


# ---- unpack -------------------------------------------------------------------------------------


def unpack(file: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> Report:
    """Write the entries of a pack into the cache. If any of it is damaged, nothing is written.

    folder: of the cache; by default the default one. Raises PackError.
    """
    path = os.fspath(file)
    target = _folder("cache.unpack", folder)
    left_out: list[str] = []
    entries = []
    for entry in _parse(path, _read_file(path)):
        data, reason = _adapted(entry)
        if reason is None:
            entries.append((entry.key, data))
        else:
            left_out.append(f"{entry.key[:12]}: {reason}")
    total = sum(len(data) for _, data in entries)
    if total > disk_cache._size_limit():
        raise PackError(
            f"cache.unpack: {path} has {total >> 20} MiB, more than the cache may have; set "
            "PYGPU_CACHE_SIZE [MiB], also where programs run"
        )
    _write_entries(target, entries)
    disk_cache.prune(target, disk_cache._size_limit())
    return Report(len(entries), left_out)


def _read_file(path: str) -> bytes:
    flags = private_files._READ
    try:
        file = os.open(path, flags)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise PackError(f"cache.unpack: {path} cannot be read: {why}") from None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise PackError(f"cache.unpack: {path} is not a file")
        if not private_files.is_private(found):
            raise PackError(
                f"cache.unpack: {path} belongs to another user, or others may write to it, and its "
                "kernels would be run; if you trust it, make your own copy with mode 0644"
            )
        if found.st_size > _MOST:
            raise _damaged(path, "it is too large")
        return private_files.read_bytes(file, found.st_size)
    finally:
        os.close(file)


def _damaged(path: str, why: str) -> PackError:
    return PackError(f"cache.unpack: {path} is damaged or not a pack: {why}")


def _parse(path: str, data: bytes) -> list[_Entry]:
    """Return the entries of a pack after checking all of them."""
    start = len(_MAGIC) + 32
    body = memoryview(data)[start:]
    if data[: len(_MAGIC)] != _MAGIC:
        raise _damaged(path, "it does not begin as one")
    if len(body) < 8 or hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
        raise _damaged(path, "its checksum is wrong")
    (size,) = struct.unpack_from("<Q", body)
    if size > min(_MOST_HEAD, len(body) - 8):
        raise _damaged(path, "its head is too long")
    entries = []
    position = 8 + size
    try:
        for key, length, compiler in json.loads(bytes(body[8:position]))["entries"]:
            if not _KEY.fullmatch(key) or type(length) is not int or length < 0:
                raise ValueError(f"{key!r} is not an entry's name and size")
            part = bytes(body[position : position + length])
            if len(part) != length:
                raise ValueError("it ends too early")
            disk_cache._unpack(key, part)
            entries.append(_Entry(key, part, compiler))
            position += length
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error) as error:
        raise _damaged(path, str(error)) from None
    if position != len(body):
        raise _damaged(path, "something follows its entries")
    return entries


def _adapted(entry: _Entry) -> tuple[bytes, str | None]:
    """Adapt the entry to the dates of the compiler's files on this machine, or return why that is
    impossible."""
    if entry.compiler is None:
        return entry.data, None
    from .cuda import kernel_images, nvrtc

    binary, facts = disk_cache._unpack(entry.key, entry.data)
    try:
        here = [*nvrtc.version()]
    except nvrtc.NvrtcMissing:
        files: list[list[Any]] | None = []  # no compiler here that could compile it anew
    else:
        if here != entry.compiler:
            versions = [".".join(map(str, one)) for one in (entry.compiler, here)]
            return b"", "compiled by NVRTC {}, and here is {}".format(*versions)
        files = kernel_images.makers(len(facts["files"]) > 1)
    if files is None:
        return b"", "cuda_fp16.h, with which it was compiled, is not here"
    return disk_cache._pack(entry.key, binary, {**_without_key(facts), "files": files}), None


def _write_entries(folder: Path, entries: Sequence[tuple[str, bytes]]) -> None:
    """Write all entries that do not exist yet, or none."""
    written: list[Path] = []
    try:
        for key, data in entries:
            is_recipe = "recipe" in disk_cache._unpack(key, data)[1]
            suffix = disk_cache.RECIPE if is_recipe else disk_cache._SUFFIX
            store = disk_cache.Entries(folder, suffix)
            stored = store.read(key)
            if (
                stored is not None
                and disk_cache._pack(key, stored[0], _without_key(stored[1])) == data
            ):
                continue
            path = store.path(key)
            if not private_files.write(str(path.parent), path.name, data):
                raise PackError(
                    f"cache.unpack: {path} cannot be written: is the disk full, or the folder "
                    "read-only, another user's, or one that others may write to?"
                )
            if stored is None:
                written.append(path)
    except BaseException:
        for path in written:
            private_files.remove(path)
        raise


# ---- the command --------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """python -m pygpu.cache. Exit status: 0; 1 if something was left out; 2 if nothing was done."""
    import argparse
    import sys

    parser = argparse.ArgumentParser(
        prog="python -m pygpu.cache", description="Take compiled kernels to other machines."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("pack", "write the cache's entries to FILE"), ("unpack", "read them")):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("file", metavar="FILE")
        command.add_argument("--folder", help="the cache's folder, if not the default one")
        if name == "pack":
            command.add_argument(
                "--arch", help="compile the CUDA sources for these, such as sm_80,sm_90"
            )
    options = parser.parse_args(arguments)
    try:
        if options.command == "pack":
            report = pack(options.file, options.arch, options.folder)
        else:
            report = unpack(options.file, options.folder)
    except (PackError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    for line in report.left_out:
        print(f"left out: {line}", file=sys.stderr)
    print(f"{report.entries} entries")
    return 1 if report.left_out else 0


publish(globals(), ["PackError", "Report", "pack", "unpack"], "pygpu.cache")
