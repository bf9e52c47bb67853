"""PoCL's file format of program binaries, as far as it must be whole.

PoCL (3.1 to 6.0, lib/CL/pocl_binary.c) ends the process, or reads beyond the end, where the parts
of a binary do not have the sizes that they claim. All numbers are little-endian:

* header: "poclbin\\0", device (8 bytes), version (4), number of kernels (4), flags (8), number of
  file groups (4), hash (41); with flag 2, from version 10, the size of program-scope variables (8)
* file groups: size (8), then files
* kernels: size of all (8), of its files (8), of its arguments (4), then name, numbers of arguments
  and local variables, required work-group size (3 times 8), sizes of the local variables (8 each),
  attributes, flags (8; from version 11 the upper half says what follows: 8 and 20 bytes), arguments
  (24 bytes, name, type), files
* a file is its name and its content; texts, names and contents have their length (4) in front
"""

from __future__ import annotations

import struct

MAGIC = b"poclbin\0"
VERSIONS = range(9, 12)
SCOPE_VARIABLES = 2
SUBGROUPS, WORKGROUPS = 2, 4  # of a kernel's flags
MOST_GROUPS = 2


class _Damaged(Exception):
    pass


class _Reader:
    """Reads within data[at:end]."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        if not at <= end <= len(data):
            raise _Damaged
        self.data, self.at, self.end = data, at, end

    def skip(self, n: int) -> None:
        self.at += n
        if self.at > self.end:
            raise _Damaged

    def number(self, size: int) -> int:
        start = self.at
        self.skip(size)
        return int.from_bytes(self.data[start : self.at], "little")

    def text(self) -> int:
        length = self.number(4)
        self.skip(length)
        return length

    def part(self, size: int) -> _Reader:
        start = self.at
        self.skip(size)
        return _Reader(self.data, start, self.at)

    def files(self, version: int) -> None:
        while self.at < self.end:
            if self.text() == 0 or (self.text() == 0 and version < 11):
                raise _Damaged


def _kernel(whole: _Reader, files: int, arguments: int, version: int) -> None:
    """Read the bytes after a kernel's three sizes."""
    if whole.text() == 0:
        raise _Damaged
    count, local = whole.number(4), whole.number(4)
    whole.skip(24 + 8 * local)
    whole.text()
    flags = whole.number(8) >> 32
    if version < 11:
        flags = 0
    whole.skip((8 if flags & SUBGROUPS else 0) + (20 if flags & WORKGROUPS else 0))
    records = whole.part(arguments)
    for _ in range(count):
        records.skip(24)
        records.text()
        records.text()
    if records.at != records.end:
        raise _Damaged
    whole.part(files).files(version)
    if whole.at != whole.end:
        raise _Damaged


def is_complete(binary: bytes) -> bool:
    """Whether the parts of a PoCL binary have the sizes that they claim. True for binaries that
    are not known to be PoCL's, and for unknown versions of the format."""
    if not binary.startswith(MAGIC):
        return True
    if len(binary) < 77:
        return False
    version, kernels, flags, groups = struct.unpack_from("<IIQI", binary, 16)
    if version not in VERSIONS:
        return True
    try:
        reader = _Reader(binary, 77, len(binary))
        if version >= 10 and flags & SCOPE_VARIABLES:
            reader.skip(8)
        if groups > MOST_GROUPS:
            return False
        for _ in range(groups):
            reader.part(reader.number(8)).files(version)
        for _ in range(kernels):
            start = reader.at
            size, files, arguments = reader.number(8), reader.number(8), reader.number(4)
            reader.at = start
            whole = reader.part(size)
            whole.skip(20)
            _kernel(whole, files, arguments, version)
    except _Damaged:
        return False
    return True
