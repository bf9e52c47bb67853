"""What is checked of PoCL's binaries before PoCL reads them."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import pygpu as cl
from pygpu._src.runtime.opencl.pocl_binary import is_complete

SOURCE = """
kernel void fill(global int *a) { a[0] = 1; }
kernel void add(local float *b, float x) { local int q[7]; q[0] = x; b[0] = q[0]; }
__attribute__((reqd_work_group_size(8, 1, 1))) kernel void one(global char4 *c) { c[0] = 1; }
"""


def text(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def made(version: int, groups: int = 1, empty: bytes = b"x") -> bytes:
    """A binary of two kernels in PoCL's format, put together by hand."""
    flags = 2 if version >= 10 else 0
    binary = b"poclbin\0" + struct.pack("<QIIQI", 1, version, 2, flags, groups) + b"h" * 41
    binary += bytes(8) if flags else b""
    files = text(b"/program.bc") + text(b"BC" * 50)
    binary += (struct.pack("<Q", len(files)) + files) * groups
    for name, extra in ((b"f", 0), (b"long_name", 2 | 4)):
        arguments = (bytes(24) + text(b"a") + text(b"int*")) * 2
        kept = text(b"/k/parallel.so") + text(empty)
        flagged = extra << 32 if version >= 11 else 0
        rest = text(name) + struct.pack("<II", 2, 1) + bytes(24) + bytes(8) + text(b"")
        rest += struct.pack("<Q", flagged)
        if flagged:
            rest += bytes(28)
        rest += arguments + kept
        binary += struct.pack("<QQI", 20 + len(rest), len(kept), len(arguments)) + rest
    return binary


@pytest.mark.parametrize("version", [9, 10, 11])
def test_every_cut_is_found(version: int) -> None:
    whole = made(version)
    assert is_complete(whole)
    assert not any(is_complete(whole[:n]) for n in range(8, len(whole)))
    assert is_complete(made(version, groups=2)) and not is_complete(made(version, groups=3))
    assert is_complete(made(version, empty=b"")) == (version >= 11)


@pytest.mark.parametrize("version", [9, 10, 11])
def test_any_changed_number_is_survived(version: int) -> None:
    whole = made(version)
    found = 0
    for at in range(20, len(whole)):
        for byte in (0, 0x7F, 0xFF):
            found += not is_complete(whole[:at] + bytes([byte]) + whole[at + 1 :])
    assert found > 100


def test_what_is_not_known_is_let_through() -> None:
    assert is_complete(b"") and is_complete(b"\x7fELF") and is_complete(made(99))
    assert not is_complete(b"poclbin\0")


def test_binaries_of_the_device(ctx: cl.Context) -> None:
    program = cl.Program(ctx, SOURCE).build()
    before = program.binaries[0]
    queue, host = cl.CommandQueue(ctx), np.zeros(4, np.int32)
    memory = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, host.nbytes)
    program.fill(queue, (1,), None, memory)
    queue.finish()
    for binary in (before, program.binaries[0]):  # PoCL adds what it compiled at the first launch
        assert is_complete(binary)
        again = cl.Program(ctx, ctx.devices, [binary]).build()
        assert sorted(again.kernel_names.split(";")) == ["add", "fill", "one"]
    empty = cl.Program(ctx, "int f(int a) { return a; }").build().binaries[0]
    assert is_complete(empty)
