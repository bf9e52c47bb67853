"""Faults of drivers' compilers that the generated kernels avoid. src/opencl/quirks.h is the same
table for the drivers' functions; docs/guide/reliability.md and docs/design/drivers.md list both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pygpu import _opencl as cl


class Quirk(NamedTuple):
    driver: str  # a part of the name of the platform or the device
    seen: str  # the version with which it was observed; all are treated alike
    reason: str


LOSES_LONG_LOOPS = Quirk(
    "llvmpipe",
    "Mesa 22.3",
    "ends the loops of a work-item after 65,535 rounds in all, without an error, so more "
    "work-items share the work, and using arrays warns",
)
MISCOMPILES_REJECTION = Quirk(
    "llvmpipe",
    "Mesa 22.3",
    "in a loop that work-items leave in different rounds, log, log1p, expm1 and pow give them "
    "numbers of others, so distributions that are sampled by such loops are refused",
)
MISCOMPILES_TRANSFORMS = Quirk(
    "llvmpipe",
    "Mesa 22.3",
    "kernels of Fourier transforms compute wrong numbers or never end, so NumPy computes them",
)
NO_CASTS_OF_BYTES = Quirk(
    "rusticl",
    "Mesa 22.3",
    "crashes in clCreateKernel if a kernel copies a structure through a pointer that was cast "
    "from char *, as in *(__global S *)((__global char *)p + n), so addresses have another type",
)


def has(device: cl.Device, quirk: Quirk) -> bool:
    return quirk.driver in device.platform.name or quirk.driver in device.name


_BYTES = re.compile(r"(PG_GLOBAL (?:const )?)char \*")


def without_bytes(source: str) -> str:
    """Return the kernels with byte addresses of a type other than char (:data:`NO_CASTS_OF_BYTES`).

    A structure with a char and nothing else would not do: the driver takes a pointer to it for one
    to the char, and all items of an array of bytes for the first.
    """
    return "typedef struct { char byte[1]; } pg_byte;\n" + _BYTES.sub(r"\1pg_byte *", source)
