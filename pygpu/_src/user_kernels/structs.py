"""Structures with the same layout in NumPy and in a kernel.

A C compiler pads a structure by its own rules, and a device's rules may differ from the host's. So
:func:`match_dtype_to_c_struct` writes the C declaration for a structured dtype, asks the device's
compiler for the offset of each field and the total size, and returns the dtype with that layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.runtime.c_types import dtype_to_ctype
from pygpu._src.util.memoize import FirstArgCache

from .arguments import Argument, DtypedArgument

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pygpu import _opencl as cl

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)

_FP64_PREAMBLE = """\
#if __OPENCL_C_VERSION__ < 120
#pragma OPENCL EXTENSION cl_khr_fp64: enable
#endif
#define PYOPENCL_DEFINE_CDOUBLE
"""

_layouts = FirstArgCache()


def _is_vector(dtype: np.dtype[Any]) -> bool:
    from pygpu._src.runtime.opencl.vector_types import (  # imported only if structures are used
        vec_type_to_scalar_and_count,
    )

    return dtype in vec_type_to_scalar_and_count


def _element(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """A field's dtype without its array dimensions, and these dimensions."""
    shape: tuple[int, ...] = ()
    while dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape += tuple(inner)
    return dtype, shape


class CDeclList:
    """Collects the declarations that a set of dtypes needs in front of a kernel."""

    def __init__(self, device: cl.Device) -> None:
        self.device = device
        self.declared_dtypes: set[np.dtype[Any]] = set()
        self.declarations: list[str] = []
        self.saw_double = False
        self.saw_complex = False

    def add_dtype(self, dtype: DTypeLike) -> None:
        """Add the declarations for *dtype*: its structures, innermost first, and the complex
        types."""
        dtype, _ = _element(np.dtype(dtype))
        if dtype.names is None:
            self._see(dtype)
            return
        if _is_vector(dtype):
            self._see(dtype.fields["s0"][0])  # type: ignore[index]
            return
        if dtype in self.declared_dtypes:
            return
        for name in dtype.names:
            self.add_dtype(dtype.fields[name][0])  # type: ignore[index]
        self.declarations.append(
            match_dtype_to_c_struct(self.device, dtype_to_ctype(dtype), dtype)[1]
        )
        self.declared_dtypes.add(dtype)

    def _see(self, dtype: np.dtype[Any]) -> None:
        self.saw_double |= dtype.type in (np.float64, np.complex128)
        self.saw_complex |= dtype.kind == "c"

    def visit_arguments(self, arguments: Sequence[Argument]) -> None:
        """Record which of the complex and double types *arguments* need; their structures are not
        declared.
        """
        for argument in arguments:
            if isinstance(argument, DtypedArgument):
                self._see(argument.dtype)

    def get_declarations(self) -> str:
        """Return the source to insert before the kernel."""
        parts = [_FP64_PREAMBLE] if self.saw_double else []
        if self.saw_complex:
            parts.append("#include <pyopencl-complex.h>\n\n")
        return "".join(parts) + "\n\n".join(self.declarations)


def _fields_by_offset(dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any], int]]:
    """Return (name, dtype, offset) in the order of memory, after checking that a C structure can
    have this layout."""
    assert dtype.names is not None and dtype.fields is not None
    fields = sorted(
        ((name, *dtype.fields[name][:2]) for name in dtype.names), key=lambda field: field[2]
    )
    end, previous = 0, ""
    for name, field_dtype, offset in fields:
        if not _IDENTIFIER.match(name):
            raise ValueError(f"field name {name!r} of {dtype} is not a C identifier")
        if offset < end:
            raise ValueError(
                f"fields '{previous}' and '{name}' of {dtype} overlap, a C structure's cannot"
            )
        end, previous = offset + field_dtype.itemsize, name
    return fields


def _probe(
    device: cl.Device,
    name: str,
    field_names: Iterable[str],
    preamble: str,
    context: cl.Context | None,
) -> tuple[int, list[int]]:
    """Ask the device's compiler for sizeof(name) and the offset of each field, in bytes."""
    from pygpu import _opencl as cl  # the tools for dtypes must work without the extension
    from pygpu.constants import mem_flags

    names = list(field_names)
    # Addresses are only computed, relative to the result buffer's, and never accessed, so no
    # storage is needed.
    stores = "\n".join(
        f"    result[{i}] = (uint) ((__global char *) &base->{field} - (__global char *) base);"
        for i, field in enumerate(names, 1)
    )
    source = f"""{preamble}
__kernel void pygpu_layout(__global uint *result)
{{
    __global {name} *base = (__global {name} *) result;
    result[0] = sizeof({name});
{stores}
}}
"""
    if context is None:
        context = cl.Context([device])
    layout = np.zeros(1 + len(names), np.uint32)
    buffer = cl.Buffer(context, mem_flags.READ_WRITE, size=layout.nbytes)
    queue = cl.CommandQueue(context, device)
    kernel = cl.Program(context, source).build(devices=[device]).pygpu_layout
    kernel(queue, (1,), (1,), buffer)
    cl.enqueue_copy(queue, layout, buffer)
    return int(layout[0]), [int(offset) for offset in layout[1:]]


def match_dtype_to_c_struct(
    device: cl.Device, name: str, dtype: np.dtype[Any], context: cl.Context | None = None
) -> tuple[np.dtype[Any], str]:
    """The dtype with *dtype*'s fields in *device*'s layout, and its C declaration.

    name: the C name of the structure.
    dtype: structured; a field may be a scalar, a vector type, an array, or a structure registered
    before.
    context: where the small kernel that measures the layout runs; None makes a context for it.
    Returns ``(dtype, c_decl)``. Register that dtype, not the one passed in: padding may have been
    inserted.
    Raises ValueError if *dtype* has no fields, if fields overlap or have names that are not valid
    in C, or if a field's type is not registered.

    >>> fields = np.dtype([("id", "u4"), ("value", "f4")])
    >>> dtype, c_decl = match_dtype_to_c_struct(device, "id_val", fields)
    >>> dtype = get_or_register_dtype("id_val", dtype)
    """
    dtype = np.dtype(dtype)
    if not dtype.names:
        raise ValueError(f"dtype has no fields: '{dtype}'")
    if not (isinstance(name, str) and _IDENTIFIER.match(name)):
        raise ValueError(f"match_dtype_to_c_struct: name {name!r} is not a C identifier")
    return _layouts.get(device, (name, dtype), lambda: _match(device, name, dtype, context))


def _match(
    device: cl.Device, name: str, dtype: np.dtype[Any], context: cl.Context | None
) -> tuple[np.dtype[Any], str]:
    fields = _fields_by_offset(dtype)
    needed = CDeclList(device)
    lines, formats = [], []
    for field_name, field_dtype, _ in fields:
        element, shape = _element(field_dtype)
        needed.add_dtype(element)
        ctype = dtype_to_ctype(element)
        lines.append(f"  {ctype} {field_name}{''.join(f'[{n}]' for n in shape)};\n")
        if element.names is not None and not _is_vector(element):
            element = match_dtype_to_c_struct(device, ctype, element, context)[0]
        formats.append(np.dtype((element, shape)) if shape else element)
    c_decl = f"typedef struct {{\n{''.join(lines)}}} {name};\n\n"

    names = [field_name for field_name, _, _ in fields]
    size, offsets = _probe(device, name, names, f"{needed.get_declarations()}\n{c_decl}", context)
    ends = [offset + form.itemsize for offset, form in zip(offsets, formats, strict=True)]
    if any(end > limit for end, limit in zip(ends, [*offsets[1:], size], strict=True)):
        raise RuntimeError(
            f"device '{device.name}' reports an impossible layout for struct {name}: "
            f"size {size}, field offsets {dict(zip(names, offsets, strict=True))}"
        )
    matched = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})
    return matched, c_decl


def dtype_to_c_struct(device: cl.Device, dtype: np.dtype[Any]) -> str:
    """The C declaration of a registered structure; "" if *dtype* is not a structure or is built
    into OpenCL C.

    Raises ValueError if *dtype* is not registered or does not have the device's layout, which
    :func:`match_dtype_to_c_struct` returns.
    """
    dtype = np.dtype(dtype)
    if dtype.names is None or _is_vector(dtype):
        return ""
    matched, c_decl = match_dtype_to_c_struct(device, dtype_to_ctype(dtype), dtype)
    ours = {name: dtype.fields[name][:2] for name in dtype.names}  # type: ignore[index]
    theirs = {name: matched.fields[name][:2] for name in matched.names}  # type: ignore[index, union-attr]
    if ours != theirs or dtype.itemsize != matched.itemsize:
        raise ValueError(
            f"{dtype} is laid out differently on device '{device.name}' ({matched}); "
            "register the dtype that match_dtype_to_c_struct returns"
        )
    return c_decl
