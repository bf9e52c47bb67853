"""Functions in CUDA C that kernels in Python call: ``cuda.declare_device``, ``link=`` and cffi
pointers.

The C source becomes part of the kernel's source, so it is compiled with it, and inlined. By
Numba's convention a function writes its result through its first parameter and returns an int
error code; with ``abi="c"`` it is a plain function.
"""

from __future__ import annotations

import ast
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .. import emit
from ..ir import Value
from ..signature import PointerType, Signature, Void, parse
from ..source import KernelError
from ..types import VOID, ArrayType, Scalar
from ..walk.context import FunctionContext
from ..walk.registry import Args, Handler, Kwargs, WrongCall, count, finds, one_array

# The folders of files that C sources include; compat sets it.
search_paths: Callable[[], list[str]] = list


class CUSource:
    """CUDA C source, and the name of its file for compiler messages. nrt has no effect; Numba's
    callbacks for the module of the source are refused with NotImplementedError."""

    def __init__(
        self,
        data: bytes | str,
        name: str = "<unnamed-cu>",
        setup_callback: Any = None,
        teardown_callback: Any = None,
        nrt: bool = False,
    ) -> None:
        if setup_callback is not None or teardown_callback is not None:
            raise NotImplementedError(
                "cuda.CUSource: setup_callback and teardown_callback are not supported: the source "
                "is compiled with each kernel that links it, and has no module of its own"
            )
        self.data, self.name = data, name

    def __repr__(self) -> str:
        return f"CUSource({self.name!r})"


def sources(link: Any, call: str) -> tuple[tuple[str, str], ...]:
    """Return the linked sources, each with the folder of its file. Raises KernelError for anything
    but CUDA C, OSError for files that cannot be read."""
    one = isinstance(link, (str, os.PathLike, CUSource))
    found = []
    for item in [link] if one else link if isinstance(link, Iterable) else [link]:
        folder = ""
        if isinstance(item, (str, os.PathLike)):
            path = Path(item)
            if path.suffix not in (".cu", ".cuh", ".h"):
                raise KernelError(
                    f"{call}: link: {path.name} is not CUDA C (.cu), which is compiled with the "
                    "kernel; compiled code (PTX, cubins, archives) is not linked"
                )
            data: Any = path.read_text()
            name, folder = str(path), str(path.parent)
        elif hasattr(item, "data") and hasattr(item, "name"):
            data, name = item.data, item.name
        else:
            raise KernelError(
                f"{call}: link: a file of CUDA C or a cuda.CUSource is needed, not {item!r}"
            )
        text = data.decode() if isinstance(data, bytes) else str(data)
        shown = name.replace("\\", "/").replace('"', "'").replace("\n", " ")
        found.append((f'#line 1 "{shown}"\n{text}\n', folder))
    return tuple(found)


class ExternalFunction:
    """A function in CUDA C. name: its name; sig: its types."""

    def __init__(
        self, name: str, sig: Signature, link: Any, abi: str, cooperative: bool = False
    ) -> None:
        if not name.isidentifier() or not name.isascii():
            raise ValueError(f"cuda.declare_device: {name!r} is not the name of a C function")
        if abi not in ("numba", "c"):
            raise ValueError(f"cuda.declare_device: abi is 'numba' or 'c', not {abi!r}")
        self.__name__ = self.name = name
        self.sig = sig
        self._abi, self._cooperative = abi, cooperative
        self._sources = sources(link, f"cuda.declare_device({name!r})")

    def __repr__(self) -> str:
        return f"<CUDA C function {self.name}{self.sig!r}>"

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.name}() can only be called in a kernel")

    def emit_call(self, fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        """Write a call in a kernel."""
        count(self.name, args, kwargs, len(self.sig.args), len(self.sig.args))
        if fc.unit.dialect != "cuda":
            raise WrongCall(f"{self.name} is a function in CUDA C, and this is OpenCL")
        fc.unit.external.setdefault("", "")  # record that there is such a call
        for text, folder in self._sources:
            fc.unit.external.setdefault(text, folder)
        given = [self._argument(fc, node, a, t) for a, t in zip(args, self.sig.args)]
        fc.may_write = True
        fc.unit.cooperative = fc.unit.cooperative or self._cooperative
        if isinstance(self.sig.returns, Void):
            first = [] if self._abi == "c" else ["0"]
            return Value(VOID, f"{self.name}({', '.join(first + given)})")
        dtype = getattr(self.sig.returns, "dtype", None)
        if dtype is None or dtype.kind not in "biuf" or hasattr(self.sig.returns, "ndim"):
            raise WrongCall(f"{self.name}: {self.sig.returns} cannot be the result of a C function")
        t = Scalar(dtype)
        fc.need_dtype(dtype, node)
        if self._abi == "c":
            return Value(t, f"(({emit.c_type(t)}){self.name}({', '.join(given)}))")
        return Value(t, f"{self._wrapper(fc, args, t)}({', '.join(given)})")

    def _wrapper(self, fc: FunctionContext, args: list[Value], t: Scalar) -> str:
        """Return the name of a function that returns the result which the C function writes."""
        declared = []
        for i, (value, kind) in enumerate(zip(args, self.sig.args)):
            t_arg = value.type
            if isinstance(t_arg, ArrayType):
                c = emit.pointer_type(t_arg)
            else:
                c = f"{emit.c_type(Scalar(kind.dtype))} "
            declared.append(f"{c}x{i}")
        name = f"pgx_{self.name}_{zlib.crc32(', '.join(declared).encode()):x}"
        result = "bool" if t.dtype.kind == "b" else emit.c_type(t)
        passed = ", ".join(["&r", *(f"x{i}" for i in range(len(declared)))])
        fc.unit.definitions.setdefault(
            name,
            f"PG_INLINE {emit.c_type(t)} {name}({', '.join(declared) or 'void'})\n"
            f"{{ {result} r = 0; (void){self.name}({passed}); return r; }}\n",
        )
        return name

    def _argument(self, fc: FunctionContext, node: ast.AST, value: Value, kind: Any) -> str:
        """Return a value as an argument in C."""
        if isinstance(kind, PointerType):
            if not isinstance(value.type, ArrayType) or value.type.dtype != kind.dtype:
                raise WrongCall(
                    f"{self.name}: a pointer to {kind.dtype} is needed: ffi.from_buffer"
                )
            return value.text
        dtype = getattr(kind, "dtype", None)
        if dtype is None or hasattr(kind, "ndim") or dtype.kind not in "biuf":
            raise WrongCall(f"{self.name}: {kind} cannot be an argument of a C function")
        return emit.convert(fc.as_number(value, node), Scalar(dtype))


def declare_device(
    name: str,
    sig: Any,
    link: Any = (),
    use_cooperative: bool = False,
    abi: str = "numba",
) -> ExternalFunction:
    """Declare a function in CUDA C that kernels can call.

    sig: its types, ``"int32(int32)"`` or ``int32(int32)``. link: a file of CUDA C or a CUSource
    with its definition, or several; a kernel that calls it may name them instead. use_cooperative:
    whether it makes all blocks wait for each other, so that they must run at once. abi: "numba" for
    a function that returns an int and writes its result through its first parameter, "c" for a
    plain one. Raises TypeError if the result type is missing.
    """
    found = parse(sig)
    if found.returns is None:
        raise TypeError(
            f"cuda.declare_device({name!r}): Return type must be provided: "
            "'int32(int32)', 'void(CPointer(float32))'"
        )
    return ExternalFunction(name, found, link, abi, use_cooperative)


@finds
def _from_buffer(obj: Any) -> Handler | None:
    """Return the handler of from_buffer() of a cffi.FFI: the address of an array's first item."""
    owner = getattr(obj, "__self__", None)
    if getattr(obj, "__name__", "") != "from_buffer" or owner is None:
        return None
    return _pointer_of if type(owner).__module__ in ("cffi.api", "_cffi_backend") else None


def _pointer_of(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    return one_array("from_buffer", args, kwargs)
