"""Conversion between NumPy dtypes and the C types of OpenCL kernels.

The registry starts with OpenCL C's scalars and pygpu's complex types; the vector types
(``float4``) are added when :mod:`pygpu.cltypes` is loaded, which happens automatically when one is
looked up. Structures are added by :func:`get_or_register_dtype`, preferably with the dtype that
:func:`pygpu.tools.match_dtype_to_c_struct` returns.

>>> dtype_to_ctype(np.uint32)
'uint'
>>> get_or_register_dtype("unsigned int")
dtype('uint32')
"""

from __future__ import annotations

import importlib
import re
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pygpu._src.codegen.dtypes import is_of_ml_dtypes
from pygpu._src.util.public import publish

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "DTYPE_TO_NAME",
    "NAME_TO_DTYPE",
    "TYPE_REGISTRY",
    "DTypeRegistry",
    "TypeNameNotKnown",
    "dtype_to_ctype",
    "fill_registry_with_c99_complex_types",
    "fill_registry_with_c99_stdint_types",
    "fill_registry_with_c_types",
    "fill_registry_with_opencl_c_types",
    "get_or_register_dtype",
    "parse_c_arg_backend",
    "register_dtype",
]

# Patterns are compiled at first use, which halves this module's import time.
_VECTOR_NAME = r"u?(char|short|int|long|float|double)(2|3|4|8|16)\Z"

# In kernels from snippets: names of ml_dtypes' types; the first one used imports ml_dtypes.
NARROW_NAMES = {
    "bfloat16": "pygpu_bfloat16",
    "float8_e4m3fn": "pygpu_float8_e4m3fn",
    "float8_e5m2": "pygpu_float8_e5m2",
}

ArgumentT = TypeVar("ArgumentT")


class TypeNameNotKnown(RuntimeError, KeyError):  # the published name
    """A C type name is not registered."""

    def __str__(self) -> str:
        return RuntimeError.__str__(self) if len(self.args) != 1 else str(self.args[0])


class _NamesToDtypes(dict[str, "np.dtype[Any]"]):
    """C type name -> dtype; the vector types are registered when one is first looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.registry: DTypeRegistry | None = None  # the registry that has the vector types, if any

    def __missing__(self, name: str) -> np.dtype[Any]:
        registry = self.registry
        if registry is not None and isinstance(name, str) and re.match(_VECTOR_NAME, name):
            registry._add_vector_types()
            if name in self:
                return self[name]
        if name in NARROW_NAMES.values():
            self[name] = dtype = _narrow_dtype(name)
            return dtype
        raise KeyError(name)


def _narrow_dtype(name: str) -> np.dtype[Any]:
    try:
        module = importlib.import_module("ml_dtypes")
    except ImportError as error:
        raise ImportError(
            f"{name}: NumPy has such a type by the package ml_dtypes: pip install ml_dtypes"
        ) from error
    dtype: np.dtype[Any] = np.dtype(getattr(module, name.removeprefix("pygpu_")))
    return dtype


class DTypeRegistry:
    """A two-way table between C type names and dtypes.

    :meth:`dtype_to_ctype` returns the first name under which a dtype was registered.
    """

    def __init__(self) -> None:
        self.dtype_to_name: dict[np.dtype[Any] | str, str] = {}
        self.name_to_dtype: dict[str, np.dtype[Any]] = _NamesToDtypes()
        self._lock = threading.Lock()
        self._has_vectors = False

    def _add_vector_types(self) -> None:
        """Register OpenCL's 50 vector types, which is slow and so waits for their first use."""
        if self._has_vectors:
            return
        from .vector_dtypes import vector_dtypes

        for name, _, _, dtype in vector_dtypes():
            self._register([name], dtype)
        self._has_vectors = True

    def get_or_register_dtype(
        self, names: str | Sequence[str], dtype: DTypeLike | None = None
    ) -> np.dtype[Any]:
        """Look up the C type *names*, or (with *dtype*) register them as names of *dtype*.

        names: one C type name or several that mean the same type.
        dtype: what they stand for; None only looks them up.
        Returns the registered dtype object, which is the older one if an equal dtype is already
        known.
        Raises TypeNameNotKnown if *dtype* is None and a name is unknown; RuntimeError if a name
        already has another meaning (nothing is registered then); ValueError if the names have
        different dtypes.
        """
        names = [names] if isinstance(names, str) else list(names)
        if not names:
            raise ValueError("get_or_register_dtype: names is empty, give at least one C type name")
        if dtype is None:
            return self._look_up(names)
        dtype = np.dtype(dtype)
        if self is TYPE_REGISTRY and any(re.match(_VECTOR_NAME, name) for name in names):
            self._add_vector_types()
        return self._register(names, dtype)

    def _register(self, names: list[str], dtype: np.dtype[Any]) -> np.dtype[Any]:
        with self._lock:
            first_name = self.dtype_to_name.get(dtype)
            if first_name is not None:
                dtype = self.name_to_dtype[first_name]
            for name in names:
                if self.name_to_dtype.get(name, dtype) != dtype:
                    raise RuntimeError(
                        f"name '{name}' already registered to different dtype: it means "
                        f"{self.name_to_dtype[name]}, so it cannot also mean {dtype}"
                    )
            for name in names:
                self.name_to_dtype.setdefault(name, dtype)
            self.dtype_to_name.setdefault(dtype, names[0])
            if dtype.fields is None:
                self.dtype_to_name.setdefault(str(dtype), names[0])
        return dtype

    def _look_up(self, names: list[str]) -> np.dtype[Any]:
        found = []
        for name in names:
            try:
                found.append(self.name_to_dtype[name])
            except KeyError:
                raise TypeNameNotKnown(
                    f"no dtype is registered for the C type '{name}'; "
                    f"get_or_register_dtype('{name}', dtype) registers one"
                ) from None
        if any(dtype != found[0] for dtype in found):
            raise ValueError(f"get_or_register_dtype: the names {names} stand for different dtypes")
        return found[0]

    def dtype_to_ctype(self, dtype: DTypeLike) -> str:
        """The C type name of *dtype*. Raises ValueError for None and for a dtype that is not
        registered.
        """
        if dtype is None:
            raise ValueError("dtype may not be None")
        dtype = np.dtype(dtype)
        name = self.dtype_to_name.get(dtype)
        if name is None and dtype.fields is not None and self is TYPE_REGISTRY:
            self._add_vector_types()
            name = self.dtype_to_name.get(dtype)
        if name is None and is_of_ml_dtypes(dtype):
            name = NARROW_NAMES.get(dtype.name)
        if name is None:
            raise ValueError(
                f"unable to map dtype '{dtype}' to a C type; register a structure with "
                "get_or_register_dtype(name, dtype)"
            )
        return name


def _signed_names(stem: str) -> list[str]:
    """Return the spellings that C allows for the signed type *stem* (short, long)."""
    return [stem, f"{stem} int", f"signed {stem}", f"signed {stem} int", f"{stem} signed int"]


def _unsigned_names(stem: str) -> list[str]:
    return [f"unsigned {stem}", f"unsigned {stem} int", f"{stem} unsigned int"]


def fill_registry_with_opencl_c_types(reg: DTypeRegistry) -> None:
    """Register OpenCL C's scalar types under each of their spellings."""
    for names, dtype in (
        (["char", "signed char"], np.int8),
        (["uchar", "unsigned char"], np.uint8),
        (_signed_names("short"), np.int16),
        (["ushort", *_unsigned_names("short")], np.uint16),
        (["int", "signed int", "signed"], np.int32),
        (["uint", "unsigned", "unsigned int"], np.uint32),
        (_signed_names("long"), np.int64),
        (["ulong", *_unsigned_names("long")], np.uint64),
        (["intptr_t", "ptrdiff_t"], np.intp),
        (["uintptr_t", "size_t"], np.uintp),
        (["half"], np.float16),
        (["float"], np.float32),
        (["double"], np.float64),
    ):
        reg.get_or_register_dtype(names, dtype)


def fill_registry_with_c_types(
    reg: DTypeRegistry, respect_windows: bool, include_bool: bool = True
) -> None:
    """Register the types of C itself, for host code.

    respect_windows: on Windows call 64-bit integers ``long long``, as its compilers do.
    include_bool: register ``bool``, which has no fixed size in OpenCL C.
    """
    wide = "long long" if respect_windows and sys.platform == "win32" else "long"
    for names, dtype in (
        (["bool"] * include_bool, np.bool_),
        (["signed char", "char"], np.int8),
        (["unsigned char"], np.uint8),
        (_signed_names("short"), np.int16),
        (_unsigned_names("short"), np.uint16),
        (["int", "signed int", "signed"], np.int32),
        (["unsigned", "unsigned int"], np.uint32),
        (_signed_names(wide), np.int64),
        (_unsigned_names(wide), np.uint64),
        (["float"], np.float32),
        (["double"], np.float64),
    ):
        if names:
            reg.get_or_register_dtype(names, dtype)


def fill_registry_with_c99_stdint_types(reg: DTypeRegistry) -> None:
    """Register ``int8_t`` to ``uint64_t``, ``uintptr_t``, ``bool``, ``float`` and ``double``."""
    for bits in (8, 16, 32, 64):
        reg.get_or_register_dtype(f"int{bits}_t", np.dtype(f"i{bits // 8}"))
        reg.get_or_register_dtype(f"uint{bits}_t", np.dtype(f"u{bits // 8}"))
    reg.get_or_register_dtype("uintptr_t", np.uintp)
    reg.get_or_register_dtype("bool", np.bool_)
    reg.get_or_register_dtype("float", np.float32)
    reg.get_or_register_dtype("double", np.float64)


def fill_registry_with_c99_complex_types(reg: DTypeRegistry) -> None:
    """Register C99's three complex types."""
    reg.get_or_register_dtype("float complex", np.complex64)
    reg.get_or_register_dtype("double complex", np.complex128)
    reg.get_or_register_dtype("long double complex", np.clongdouble)


TYPE_REGISTRY: DTypeRegistry = DTypeRegistry()
fill_registry_with_opencl_c_types(TYPE_REGISTRY)
TYPE_REGISTRY.get_or_register_dtype("cfloat_t", np.complex64)
TYPE_REGISTRY.get_or_register_dtype("cdouble_t", np.complex128)
TYPE_REGISTRY.name_to_dtype.registry = TYPE_REGISTRY  # type: ignore[attr-defined]

DTYPE_TO_NAME = TYPE_REGISTRY.dtype_to_name
NAME_TO_DTYPE = TYPE_REGISTRY.name_to_dtype
if TYPE_CHECKING:

    def dtype_to_ctype(dtype: DTypeLike) -> str: ...
    def get_or_register_dtype(
        names: str | Sequence[str], dtype: DTypeLike | None = None
    ) -> np.dtype[Any]: ...
else:
    dtype_to_ctype = TYPE_REGISTRY.dtype_to_ctype
    get_or_register_dtype = TYPE_REGISTRY.get_or_register_dtype


def register_dtype(dtype: DTypeLike, c_names: Sequence[str] | str, alias_ok: bool = False) -> None:
    """Older spelling of :func:`get_or_register_dtype`.

    Raises RuntimeError if *dtype* already has a name, unless *alias_ok*.
    """
    warnings.warn(
        "register_dtype is deprecated, use get_or_register_dtype(names, dtype)",
        DeprecationWarning,
        stacklevel=2,
    )
    names = [c_names] if isinstance(c_names, str) else list(c_names)
    registered = TYPE_REGISTRY.dtype_to_name.get(np.dtype(dtype))
    if registered is not None and not alias_ok:
        raise RuntimeError(
            f"dtype '{np.dtype(dtype)}' already registered (as '{registered}', new names {names}); "
            "pass alias_ok=True to add names to it"
        )
    TYPE_REGISTRY.get_or_register_dtype(names, dtype)


_QUALIFIER = r"\b(?:const|volatile|restrict|__restrict__|__restrict|register)\b"


def parse_c_arg_backend(
    c_arg: str,
    scalar_arg_factory: Callable[[Any, str], ArgumentT],
    vec_arg_factory: Callable[[Any, str], ArgumentT],
    name_to_dtype: Callable[[str], Any] | DTypeRegistry | None = None,
) -> ArgumentT:
    """Parse one C parameter declaration such as ``const float *restrict x`` or ``uint n``.

    Calls *vec_arg_factory(dtype, name)* for a pointer or an array, *scalar_arg_factory(dtype,
    name)* otherwise.
    name_to_dtype: a registry or a function from type name to dtype; None means the global registry.
    Raises ValueError if the text is not a declaration, is a pointer to a pointer or contains an
    unknown type.
    """
    from pygpu._src.drivers.declarations import split_declaration

    declared = split_declaration(re.sub(_QUALIFIER, " ", c_arg))
    if declared is None:
        raise ValueError(
            f"couldn't parse C declarator '{c_arg}', expected something like 'float *x'"
        )
    type_name, stars, name, dimensions = declared
    levels = stars.count("*") + dimensions.count("[")
    if stars.count("*") > 1 or "*" in type_name or (dimensions and "*" in stars):
        raise ValueError(
            f"'{c_arg.strip()}' is a pointer to a pointer, which no kernel argument can be"
        )
    if name_to_dtype is None:
        name_to_dtype = TYPE_REGISTRY
    look_up = (
        name_to_dtype.name_to_dtype.__getitem__
        if isinstance(name_to_dtype, DTypeRegistry)
        else name_to_dtype
    )
    type_name = " ".join(type_name.split())
    try:
        dtype = look_up(type_name)
    except KeyError:
        raise ValueError(
            f"unknown type '{type_name}' in '{c_arg.strip()}'; "
            "get_or_register_dtype makes a type known"
        ) from None
    return (vec_arg_factory if levels else scalar_arg_factory)(dtype, name)


publish(globals(), __all__, "pygpu.dtypes")
