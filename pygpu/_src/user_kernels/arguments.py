"""Kernel arguments as the kernel generators describe them: ``"float *x, int n"`` as objects.

>>> x, n = parse_arg_list("float *x, int n")
>>> x, n.dtype
(VectorArg(dtype=dtype('float32'), name='x', with_offset=False), dtype('int32'))

With ``with_offset`` an array argument becomes two kernel parameters, a base pointer and an offset
in bytes; :func:`get_arg_offset_adjuster_code` is the code that makes one pointer of them at the
start of the kernel.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.runtime.c_types import dtype_to_ctype, parse_c_arg_backend
from pygpu._src.util.public import publish

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "Argument",
    "DtypedArgument",
    "OtherArg",
    "ScalarArg",
    "VectorArg",
    "get_arg_list_arg_types",
    "get_arg_list_scalar_arg_dtypes",
    "get_arg_offset_adjuster_code",
    "parse_arg_list",
    "parse_c_arg",
]


class Argument(ABC):
    """One argument of a generated kernel."""

    @abstractmethod
    def declarator(self) -> str:
        """Return the argument as written in the kernel's parameter list."""


@dataclass(frozen=True, init=False)
class DtypedArgument(Argument):
    """An argument with a dtype (anything that ``numpy.dtype`` accepts) and a name."""

    dtype: np.dtype[Any]
    name: str

    def __init__(self, dtype: DTypeLike, name: str) -> None:
        object.__setattr__(self, "dtype", np.dtype(dtype))
        object.__setattr__(self, "name", name)


@dataclass(frozen=True, init=False)
class VectorArg(DtypedArgument):
    """A pointer to global memory, for which an array is passed.

    with_offset: pass the array as its base buffer and a byte offset, so that views need no
    sub-buffer.
    """

    with_offset: bool

    def __init__(self, dtype: DTypeLike, name: str, with_offset: bool = False) -> None:
        super().__init__(dtype, name)
        object.__setattr__(self, "with_offset", with_offset)

    def declarator(self) -> str:
        ctype = dtype_to_ctype(self.dtype)
        if self.with_offset:
            return f"__global {ctype} *{self.name}__base, long {self.name}__offset"
        return f"__global {ctype} *{self.name}"


@dataclass(frozen=True, init=False)
class ScalarArg(DtypedArgument):
    """A value, for which a Python or NumPy number (or structure) is passed."""

    def declarator(self) -> str:
        return f"{dtype_to_ctype(self.dtype)} {self.name}"


@dataclass(frozen=True)
class OtherArg(Argument):
    """An argument without a dtype, such as an image: *decl* is its complete declaration."""

    decl: str
    name: str

    def declarator(self) -> str:
        return self.decl


_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_GLOBAL = re.compile(r"\b(?:__global|global|__private|private)\b")
_OTHER_SPACE = re.compile(r"\b(?:__local|local|__constant|constant)\b")


def parse_c_arg(c_arg: str, with_offset: bool = False) -> DtypedArgument:
    """Parse one declaration, such as ``"__global const float *x"``, to a VectorArg or a ScalarArg.

    Raises ValueError if it cannot be parsed or its type is unknown; RuntimeError if it is a pointer
    to local or constant memory, to which no array can be passed.
    """
    if not isinstance(c_arg, str):
        raise TypeError(f"parse_c_arg: c_arg must be a str, not {type(c_arg).__name__}")
    text = _COMMENT.sub(" ", c_arg)
    if _OTHER_SPACE.search(text):
        raise RuntimeError(
            "cannot deal with local or constant OpenCL address spaces in C argument lists: "
            f"'{c_arg.strip()}'"
        )

    def vector(dtype: DTypeLike, name: str) -> DtypedArgument:
        return VectorArg(dtype, name, with_offset=with_offset)

    return parse_c_arg_backend(_GLOBAL.sub(" ", text), ScalarArg, vector)


def parse_arg_list(
    arguments: str | Sequence[str | Argument], with_offset: bool = False
) -> list[DtypedArgument]:
    """Parse a kernel's argument list.

    arguments: declarations separated by commas in one string, or a sequence of declarations and
    Argument objects (which are used unchanged). with_offset: passed to the VectorArgs that are
    created.
    Raises what :func:`parse_c_arg` raises, and TypeError for anything that is neither string nor
    Argument.
    """
    if isinstance(arguments, str):
        text = _COMMENT.sub(" ", arguments)
        arguments = text.split(",") if text.strip() else []
    parsed: list[Any] = []
    for argument in arguments:
        if isinstance(argument, str):
            parsed.append(parse_c_arg(argument, with_offset))
        elif isinstance(argument, Argument):
            parsed.append(argument)
        else:
            raise TypeError(
                f"parse_arg_list: {argument!r} is neither a C declaration nor an Argument "
                "such as VectorArg"
            )
    return parsed


def _array_or_scalar(argument: Argument) -> VectorArg | ScalarArg:
    if not isinstance(argument, (VectorArg, ScalarArg)):
        raise RuntimeError(f"arg type not understood: {type(argument)}")
    return argument


def get_arg_list_arg_types(arg_types: Sequence[Argument]) -> tuple[np.dtype[Any] | VectorArg, ...]:
    """The argument of ``Kernel.set_arg_types`` for these arguments: the dtype of a scalar, a
    VectorArg itself."""
    return tuple(
        argument if isinstance(argument, VectorArg) else argument.dtype
        for argument in map(_array_or_scalar, arg_types)
    )


def get_arg_list_scalar_arg_dtypes(arg_types: Sequence[Argument]) -> list[np.dtype[Any] | None]:
    """The argument of ``Kernel.set_scalar_arg_dtypes``: a dtype for each scalar parameter, None for
    each buffer.
    """
    dtypes: list[np.dtype[Any] | None] = []
    for argument in map(_array_or_scalar, arg_types):
        if isinstance(argument, VectorArg):
            dtypes.append(None)
            if argument.with_offset:
                dtypes.append(np.dtype(np.int64))
        else:
            dtypes.append(argument.dtype)
    return dtypes


def get_arg_offset_adjuster_code(arg_types: Sequence[Argument]) -> str:
    """C statements that define ``x`` from ``x__base`` and ``x__offset`` for each VectorArg with
    an offset.
    """
    lines = []
    for argument in arg_types:
        if isinstance(argument, VectorArg) and argument.with_offset:
            name, pointer = argument.name, f"__global {dtype_to_ctype(argument.dtype)} *"
            lines.append(
                f"{pointer}{name} = ({pointer}) ((__global char *) {name}__base + {name}__offset);"
            )
    return "\n".join(lines)


publish(globals(), __all__, "pygpu.tools")
