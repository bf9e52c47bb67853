"""Files that only this user can have written, for caches, because their contents are executed.

A file is used only if it and its folder belong to this user or to the system's administrator, and
nobody else may write to them. A file that breaks this rule (another owner, permission for others
to write, a link, a pipe, an endless file) is treated as missing and left alone. The simulator's
cache follows the same rule (src/simulator/compiler/cache.c).
"""

from __future__ import annotations

import os
import stat

_POSIX = os.name == "posix"
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
# O_NONBLOCK: a pipe is opened without waiting, found not to be a file, and closed.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | _NO_LINK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | _NO_LINK


def is_private(found: os.stat_result) -> bool:
    """Whether only this user and the administrator can have modified the file with this status."""
    if not _POSIX:
        return True
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & _WRITABLE_BY_OTHERS


def make_folder(path: str) -> None:
    """Make a folder and its missing parents, accessible only to this user."""
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass  # another process was faster; whatever is opened later is checked anyway


def _open_folder(path: str) -> int | None:
    """Open a folder that satisfies the rule. Returns None if the system does not support
    descriptors of folders."""
    if not _POSIX:
        return None
    folder = os.open(path, _FOLDER)
    if not is_private(os.fstat(folder)):
        os.close(folder)
        raise PermissionError(f"others may write to {path}")
    return folder


def _close(folder: int | None) -> None:
    if folder is not None:
        os.close(folder)


def _at(folder: int | None, path: str, name: str) -> str:
    return name if folder is not None else os.path.join(path, name)


def read_bytes(file: int, size: int) -> bytes:
    """Return the next bytes of an open file, at most *size*."""
    parts = []
    while size > 0 and (part := os.read(file, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read(path: str, name: str, most: int) -> bytes | None:
    """Return the contents of the file *name* in the folder *path* and mark it as recently used.
    None if it is missing, breaks the rule or has more than *most* bytes."""
    try:
        folder = _open_folder(path)
        try:
            file = os.open(_at(folder, path, name), _READ, dir_fd=folder)
        finally:
            _close(folder)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or not is_private(found) or found.st_size > most:
            return None
        data = read_bytes(file, found.st_size)
        if os.utime in os.supports_fd:
            try:
                os.utime(file)  # pruning removes the least recently used files
            except OSError:
                pass
        return data
    except OSError:
        return None
    finally:
        os.close(file)


def write(path: str, name: str, data: bytes) -> bool:
    """Write the file *name* into the folder *path*, which is made if needed. Readers see the whole
    file or none. Returns False on failure."""
    temporary = f"{name[:8]}{os.urandom(8).hex()}.tmp"
    made = False
    folder = None
    try:
        make_folder(path)
        folder = _open_folder(path)
        file = os.open(_at(folder, path, temporary), _NEW, 0o600, dir_fd=folder)
        made = True
        with os.fdopen(file, "wb") as stream:
            stream.write(data)
        os.replace(
            _at(folder, path, temporary),
            _at(folder, path, name),
            src_dir_fd=folder,
            dst_dir_fd=folder,
        )
        return True
    except (OSError, ValueError):
        if made:
            try:
                os.unlink(_at(folder, path, temporary), dir_fd=folder)
            except OSError:
                pass
        return False
    finally:
        _close(folder)


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file if it exists and can be removed."""
    try:
        os.unlink(path)
    except OSError:
        pass
