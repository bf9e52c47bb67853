"""The C dialect of users' snippets for each backend: declarations of arguments, and the source
before a kernel.

A *language* here is that of PyOpenCL's or PyCUDA's programs: OpenCL C with PyOpenCL's complex
numbers, or CUDA C++ with PyCUDA's. The source around the snippets is written in the common
language of :mod:`pygpu._src.codegen.dialect` or with the few names that :class:`Language` adds to
it.
"""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.codegen.dtypes import ML_CODES, is_of_ml_dtypes
from pygpu._src.runtime.c_types import NARROW_NAMES
from pygpu._src.runtime.c_types import dtype_to_ctype as cl_ctype
from pygpu._src.util.lazy import lazy

from . import arguments as cl_arguments

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend


@dataclass(frozen=True)
class Parameter:
    """An argument of a user's kernel. vector: a pointer to items of the dtype; otherwise a
    value."""

    name: str
    dtype: Any  # np.dtype; None: an argument described only by its declaration
    vector: bool
    declaration: str  # of a value; of a vector, the type of its items


def _listed(arguments: Any) -> list[Any]:
    if not isinstance(arguments, Iterable):
        raise TypeError(
            "the arguments of a kernel must be a str such as 'float *x, int n' or a sequence of "
            f"declarations, not {type(arguments).__name__}"
        )
    return list(arguments)


class Language:
    """The differences between the two languages.

    index: the type of ``i`` and ``n`` in loops without a range. long, ulong: 64 bits. pointer: the
    address space of arrays. loop_variables: statements that declare variables for users' loops.
    """

    name: str
    index: str
    long: str
    ulong: str
    pointer: str
    loop_variables: str

    def ctype(self, dtype: np.dtype[Any]) -> str:
        """Return the C name of a dtype. Raises ValueError if it has none."""
        raise NotImplementedError

    def parse(self, arguments: Any) -> list[Parameter]:
        """Parse an argument list: a string, or a sequence of declarations and argument objects."""
        raise NotImplementedError

    def declare(self, parameter: Parameter) -> str:
        """Return the parameter's declaration in a kernel's list."""
        raise NotImplementedError

    def start(self, parameters: Iterable[Parameter]) -> str:
        """Return statements at the start of a kernel that make each vector's name a pointer."""
        raise NotImplementedError

    def prefix(self, backend: Backend, texts: Sequence[str], dtypes: Iterable[Any]) -> str:
        """Return the source before the user's preamble: the common language, and complex numbers
        if they occur."""
        raise NotImplementedError

    def kernel(self, name: str, parameters: Sequence[str]) -> str:
        """Return the head of a kernel."""
        raise NotImplementedError

    def set_types(
        self,
        kernel: Any,
        parameters: Sequence[Parameter],
        more: int,
        before: int = 0,
        scratch: int = 0,
        flags: int = 0,
    ) -> None:
        """Declare a kernel's arguments, so that each array is a single one: *before* arrays, the
        parameters, *scratch* arrays, *flags* ints and *more* 64-bit numbers."""
        raise NotImplementedError

    @staticmethod
    def array(name: str, ctype: str, dtype: Any = None) -> Parameter:
        """Make a parameter for an array with a C type and a dtype."""
        return Parameter(name, dtype, True, ctype)

    def array_type(self) -> type:
        """The class of its arrays."""
        raise NotImplementedError

    def local_array(self, ctype: str, name: str, length: str) -> str:
        """Return statements that declare an array in local memory, without running constructors."""
        raise NotImplementedError


_COMPLEX_WORDS = re.compile(r"\bc(?:float|double)_|complex")


def _special(backend: Backend, texts: Sequence[str]) -> str:
    """Return the special functions that a user's sources call, such as pg_erfinv(x)."""
    if not any("pg_" in text for text in texts):
        return ""
    special = lazy("pygpu._src.codegen.special")
    names = special.used_in(*texts)
    text: str = special.overloads(names, backend.limits.fp64, backend.name == "cuda")
    return text


# A struct, so that the compiler rejects arithmetic on the bits.
_NARROW = """\
typedef struct {{ pg_{code} bits; }} pygpu_{name};
PG_INLINE float pygpu_from_{name}(pygpu_{name} x) {{ return pg_from_{code}(x.bits); }}
PG_INLINE pygpu_{name} pygpu_to_{name}(float x)
{{
    pygpu_{name} result;
    result.bits = pg_to_{code}(x);
    return result;
}}
"""


def _narrow(texts: Sequence[str], dtypes: Iterable[Any]) -> tuple[set[str], str]:
    """Return the features of the prefix, the types and the functions for the narrow floats of
    ml_dtypes that occur in dtypes and texts."""
    named = {name for name in NARROW_NAMES if any(f"_{name}" in text for text in texts)}
    named |= {d.name for d in dtypes if d is not None and is_of_ml_dtypes(d)} & {*NARROW_NAMES}
    codes = {name: ML_CODES[name] for name in sorted(named)}
    text = "".join(_NARROW.format(name=name, code=code) for name, code in codes.items())
    return {*codes.values()}, text


def _no_narrow_numbers(parameters: list[Parameter]) -> list[Parameter]:
    """Return the parameters. Raises TypeError for a number that would be a struct."""
    for p in parameters:
        if not p.vector and isinstance(p.dtype, np.dtype) and is_of_ml_dtypes(p.dtype):
            raise TypeError(
                f"'{p.declaration.strip()}': numbers of {p.dtype} are not passed to kernels: "
                f"declare 'float {p.name}'"
            )
    return parameters


class _OpenCL(Language):
    name = "opencl"
    index = long = "long"
    ulong = "ulong"
    pointer = "__global"
    loop_variables = (
        "  const int lid = get_local_id(0);\n"
        "  const long gsize = get_global_size(0);\n"
        "  const long work_group_start = get_local_size(0) * get_group_id(0);\n"
        "  const long tid = lid, total_threads = gsize, cta_start = work_group_start;\n"
    )

    def ctype(self, dtype: np.dtype[Any]) -> str:
        return cl_ctype(dtype)

    def parse(self, arguments: Any) -> list[Parameter]:
        if type(arguments) is str:
            return _no_narrow_numbers(list(self._parse_text(arguments)))
        if not isinstance(arguments, str):
            arguments = _listed(arguments)
            if any(isinstance(item, Parameter) for item in arguments):
                return [
                    item if isinstance(item, Parameter) else self.parse([item])[0]
                    for item in arguments
                ]
        parameters = [self._parameter(item) for item in cl_arguments.parse_arg_list(arguments)]
        return _no_narrow_numbers(parameters)

    @lru_cache(maxsize=256)  # noqa: B019 - there is one object of this class
    def _parse_text(self, arguments: str) -> tuple[Parameter, ...]:
        return tuple(self._parameter(item) for item in cl_arguments.parse_arg_list(arguments))

    def _parameter(self, item: Any) -> Parameter:
        if isinstance(item, cl_arguments.VectorArg):
            return Parameter(item.name, item.dtype, True, cl_ctype(item.dtype))
        dtype = getattr(item, "dtype", None)
        return Parameter(item.name, dtype, False, item.declarator())

    def declare(self, parameter: Parameter) -> str:
        if not parameter.vector:
            return parameter.declaration
        name = parameter.name
        return f"__global {parameter.declaration} *{name}__base, long {name}__offset"

    def start(self, parameters: Iterable[Parameter]) -> str:
        return "".join(
            f"  __global {p.declaration} *{p.name} = (__global {p.declaration} *)"
            f"((__global char *){p.name}__base + {p.name}__offset);\n"
            for p in parameters
            if p.vector
        )

    def prefix(self, backend: Backend, texts: Sequence[str], dtypes: Iterable[Any]) -> str:
        dtypes = list(dtypes)
        features, narrow = _narrow(texts, dtypes)
        text = backend.dialect.prefix(features) + "#pragma OPENCL FP_CONTRACT ON\n" + narrow
        if _has_complex(texts, dtypes):
            if backend.limits.fp64:
                text += "#define PYOPENCL_DEFINE_CDOUBLE\n"
            text += "#include <pyopencl-complex.h>\n"
        return text + _special(backend, texts)

    def set_types(
        self,
        kernel: Any,
        parameters: Sequence[Parameter],
        more: int,
        before: int = 0,
        scratch: int = 0,
        flags: int = 0,
    ) -> None:
        array = cl_arguments.VectorArg(np.uint8, "array", with_offset=True)
        types = [array if p.vector else p.dtype for p in parameters]
        kernel.set_arg_types(
            [array] * before + types + [array] * scratch + [np.int32] * flags + [np.int64] * more
        )

    def array_type(self) -> type:
        from pygpu._src.array.opencl_array import Array

        return Array

    def local_array(self, ctype: str, name: str, length: str) -> str:
        return f"__local {ctype} {name}[{length}];"

    def kernel(self, name: str, parameters: Sequence[str]) -> str:
        return f"__kernel void {_checked(name)}({', '.join(parameters)})"


class _CUDA(Language):
    name = "cuda"
    index = "size_t"
    long = "long long"
    ulong = "unsigned long long"
    pointer = ""
    loop_variables = (
        "  const size_t tid = threadIdx.x;\n"
        "  const size_t total_threads = (size_t)gridDim.x * blockDim.x;\n"
        "  const size_t cta_start = (size_t)blockDim.x * blockIdx.x;\n"
        "  (void)tid; (void)total_threads; (void)cta_start;\n"
    )

    def ctype(self, dtype: np.dtype[Any]) -> str:
        from pygpu._src.runtime.cuda.c_types import dtype_to_ctype

        return dtype_to_ctype(dtype)

    def parse(self, arguments: Any) -> list[Parameter]:
        from pygpu._src.runtime.cuda import c_types as dtypes

        if isinstance(arguments, str):
            arguments = [part for part in arguments.split(",") if part.strip()]
        arguments = _listed(arguments)
        parameters = [
            self._parameter(dtypes.parse_c_arg(item) if isinstance(item, str) else item)
            for item in arguments
        ]
        return _no_narrow_numbers(parameters)

    def _parameter(self, item: Any) -> Parameter:
        from pygpu._src.runtime.cuda.c_types import VectorArg

        if isinstance(item, Parameter):
            return item
        if isinstance(item, (VectorArg, cl_arguments.VectorArg)):
            return Parameter(item.name, item.dtype, True, self.ctype(item.dtype))
        if not hasattr(item, "declarator"):
            raise TypeError(
                f"{item!r} is neither a C declaration nor an argument such as VectorArg or "
                "ScalarArg"
            )
        if isinstance(item, cl_arguments.ScalarArg):
            return Parameter(item.name, item.dtype, False, f"{self.ctype(item.dtype)} {item.name}")
        return Parameter(item.name, getattr(item, "dtype", None), False, item.declarator())

    def declare(self, parameter: Parameter) -> str:
        if parameter.vector:
            return f"{parameter.declaration} *{parameter.name}"
        return parameter.declaration

    def start(self, parameters: Iterable[Parameter]) -> str:
        return ""

    def prefix(self, backend: Backend, texts: Sequence[str], dtypes: Iterable[Any]) -> str:
        dtypes = list(dtypes)
        features, narrow = _narrow(texts, dtypes)
        if any(d is not None and d.char == "e" for d in dtypes):
            features.add("half")
        text = backend.dialect.prefix(features) + narrow
        if _has_complex(texts, dtypes):
            text += "#include <pycuda-complex.hpp>\n"
        return text + _special(backend, texts)

    def kernel(self, name: str, parameters: Sequence[str]) -> str:
        return f'extern "C" __global__ void {_checked(name)}({", ".join(parameters)})'

    def set_types(
        self,
        kernel: Any,
        parameters: Sequence[Parameter],
        more: int,
        before: int = 0,
        scratch: int = 0,
        flags: int = 0,
    ) -> None:
        pass  # the kernel's own signature is sufficient

    def array_type(self) -> type:
        from pygpu._src.array.cuda_array import GPUArray

        return GPUArray

    def local_array(self, ctype: str, name: str, length: str) -> str:
        return (
            f"__shared__ __align__(16) unsigned char {name}_bytes[({length}) * sizeof({ctype})]; "
            f"{ctype} *{name} = ({ctype} *){name}_bytes;"
        )


OPENCL, CUDA = _OpenCL(), _CUDA()


def language_of(backend: Backend) -> Language:
    """The language of a backend's users."""
    return OPENCL if backend.name == "opencl" else CUDA


def language_for(call: str, context: Any) -> Language:
    """The language of a context's users; None is CUDA's current context. Raises TypeError for
    anything else."""
    from pygpu import _cuda, _opencl

    if isinstance(context, _opencl.Context):
        return OPENCL
    if context is None or isinstance(context, _cuda.Context):
        return CUDA
    hint = "; pass its attribute context" if isinstance(context, _opencl.CommandQueue) else ""
    raise TypeError(
        f"{call}: context must be a Context of OpenCL or CUDA, or None for CUDA's current one, not "
        f"{type(context).__name__}{hint}"
    )


def _checked(name: str) -> str:
    """Return a kernel's name. Raises ValueError if C has no such names."""
    if not (isinstance(name, str) and name.isascii() and name.isidentifier()):
        raise ValueError(f"the name of a kernel must be an identifier of C, not {name!r}")
    return name


def split_options(options: Any, call: str) -> list[str]:
    """Compiler options given as a string or a sequence. Raises TypeError for anything else."""
    if options is None:
        return []
    if isinstance(options, str):
        return shlex.split(options)
    if not isinstance(options, Iterable):
        raise TypeError(
            f"{call}: options must be a str or a sequence of them, not {type(options).__name__}"
        )
    found = list(options)
    for option in found:
        if not isinstance(option, (str, bytes)):
            raise TypeError(f"{call}: options must be strings, not {option!r}")
    return found


def pairs(call: str, name: str, given: Any) -> list[tuple[str, Any]]:
    """Return an argument that is a sequence of pairs (name, value) as a list of them. Raises
    TypeError for anything else."""
    found = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    for pair in found:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)):
            raise TypeError(
                f"{call}: {name} must be a sequence of pairs such as ('name', value), and has "
                f"{pair!r}"
            )
    return [(name, value) for name, value in found]


def require_text(call: str, **texts: Any) -> None:
    """Raise TypeError for the first argument that is not a str."""
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"{call}: {name} must be a str, not {type(text).__name__}")


def _has_complex(texts: Sequence[str], dtypes: Iterable[Any]) -> bool:
    return any(d is not None and d.kind == "c" for d in dtypes) or any(
        _COMPLEX_WORDS.search(text) for text in texts
    )


def to_number(value: Any, parameter: Parameter, call: str) -> Any:
    """Convert *value* to a NumPy number of the parameter's dtype.

    Raises TypeError if it is not a number or would lose its fraction or imaginary part,
    OverflowError if an integer does not fit.
    """
    dtype = parameter.dtype
    if dtype is None or (type(value) is dtype.type and dtype.kind in "iufbc"):
        return value  # unchanged, so that the call can be cached
    if getattr(value, "backend", None) is not None:
        raise TypeError(
            f"{call}: argument '{parameter.name}' is a number (declared "
            f"'{parameter.declaration.strip()}'), and an array was given; pass its value, "
            "array.get(), "
            f"or declare '*{parameter.name}'"
        )
    kind = dtype.kind
    try:
        if kind in "fbc" and isinstance(value, (str, bytes, type(None))):
            raise TypeError  # float() and complex() would parse a str, and any object is a bool
        if kind in "iu":
            number = operator.index(value.item() if isinstance(value, np.generic) else value)
            low, high = _bounds(dtype)
            if not low <= number <= high:
                raise OverflowError(
                    f"{call}: argument '{parameter.name}' ({dtype}) cannot be {number}"
                )
            return dtype.type(number)
        if kind == "f":
            return dtype.type(float(value))
        if kind == "b":
            return np.bool_(bool(value))
        if kind == "c":
            return dtype.type(complex(value))
        array = np.asarray(value)
        if array.dtype.itemsize != dtype.itemsize or array.ndim:
            array = np.asarray(value, dtype=dtype)
        return array.view(dtype)[()]
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{call}: argument '{parameter.name}' needs a number of type {dtype}, not {value!r}"
        ) from error


def _bounds(dtype: np.dtype[Any]) -> tuple[int, int]:
    bits = 8 * dtype.itemsize
    return (0, (1 << bits) - 1) if dtype.kind == "u" else (-1 << (bits - 1), (1 << (bits - 1)) - 1)
