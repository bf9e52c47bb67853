"""PyCUDA's elementwise kernels: the current context, CUDA C++ snippets.

::

    saxpy = ElementwiseKernel("float a, float *x, float *y, float *z", "z[i] = a * x[i] + y[i]")
    saxpy(2.0, x, y, z)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.array.cuda_functions import stream_of
from pygpu._src.codegen.fastpath import public_functions as _public_functions
from pygpu._src.codegen.fastpath import public_methods as _public_methods
from pygpu._src.runtime.backends import backend_of
from pygpu._src.runtime.cuda.c_types import (  # noqa: F401 - as in PyCUDA's module
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
)
from pygpu._src.runtime.cuda.source_module import SourceModule
from pygpu._src.user_kernels.elementwise import Elementwise
from pygpu._src.user_kernels.language import CUDA
from pygpu._src.user_kernels.snippet import FLAT, RANGE, Form, kernel_repr
from pygpu._src.util.public import publish

from .cuda_tools import context_dependent_memoize

if TYPE_CHECKING:
    from pygpu import _cuda

__all__ = [
    "ElementwiseKernel",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_module",
    "get_elwise_range_module",
]

_slice = slice


@_public_methods
class ElementwiseKernel:
    """A kernel that runs a snippet of CUDA C++ for each item of arrays.

    arguments: C declarations, ``"float a, float *x"``, or a sequence of declarations, VectorArg
    and ScalarArg. operation: statements that use the index ``i`` and may use ``n``, ``tid``,
    ``total_threads`` and ``cta_start``; ``continue`` skips to the next item. name: of the kernel.
    keep: print where the source was saved. options: for the compiler. preamble: source before the
    kernel. loop_prep, after_loop: statements before and after the loop over the items.

    An array that the operation uses only as ``x[i]`` may have any strides, and is broadcast
    against the other such arrays; an array used in another way is passed as a pointer, and must be
    contiguous, of any length. Raises ValueError for arguments that cannot be parsed, RuntimeError
    if there is no array among them. The operation is compiled at the first call, in the context of
    the arrays.
    """

    def __init__(
        self,
        arguments: str | Sequence[Any],
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        *,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None:
        self._do = Elementwise(
            CUDA, arguments, operation, name, options, preamble, loop_prep, after_loop, keep=keep
        )

    def __repr__(self) -> str:
        return kernel_repr(self, self._do.name, self._do.parameters)

    def __call__(
        self,
        *args: Any,
        range: _slice | None = None,
        slice: _slice | None = None,
        stream: _cuda.Stream | None = None,
    ) -> None:
        """Launch the operation for all items.

        args: arrays and numbers, as declared. range: a slice with the indices to process; slice:
        the same, relative to the first array. stream: None for the first array's.

        Raises TypeError for a wrong number of arguments or a wrong dtype, ValueError if shapes do
        not fit or indices are out of range, before anything is launched.
        """
        if stream is not None:
            stream = stream_of(stream, self._do.call)
        self._do(args, range, slice, stream)

    def generate_stride_kernel_and_types(self, use_range: bool) -> tuple[Any, Any, list[Any]]:
        """Return (module, kernel, arguments) for contiguous arrays. The kernel takes a pointer for
        each array, then n, or start, stop and step."""
        kernel = self._do.launch(backend_of(None), RANGE if use_range else FLAT)
        return None, kernel, list(self._do.parameters)

    def get_texref(self, name: str, use_range: bool = False) -> Any:
        """Raise NotImplementedError: CUDA 12 removed texture references."""
        raise NotImplementedError(
            f"ElementwiseKernel.get_texref({name!r}): CUDA 12 removed texture references; "
            "declare a "
            "cudaTextureObject_t argument and pass a texture object"
        )


def _without_length(arguments: Sequence[Any], names: Sequence[str]) -> list[Any]:
    return [argument for argument in arguments if getattr(argument, "name", None) not in names]


def get_elwise_module(
    arguments: Sequence[Any],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """Return the module with a kernel over i from 0 to n - 1; *arguments* end with ``n``, of 8
    bytes."""
    return _module(arguments, operation, name, keep, options, preamble, loop_prep, after_loop, FLAT)


def get_elwise_range_module(
    arguments: Sequence[Any],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """Return the module with a kernel over a range; *arguments* end with ``start``, ``stop``,
    ``step``."""
    return _module(
        arguments, operation, name, keep, options, preamble, loop_prep, after_loop, RANGE
    )


def _module(
    arguments: Sequence[Any],
    operation: str,
    name: str,
    keep: bool,
    options: Sequence[str] | None,
    preamble: str,
    loop_prep: str,
    after_loop: str,
    form: Form,
) -> SourceModule:
    own = _without_length(arguments, ("n",) if not form.ranged else ("start", "stop", "step"))
    do = Elementwise(CUDA, own, operation, name, options, preamble, loop_prep, after_loop)
    source = do.source(backend_of(None), form)
    return SourceModule(source, options=do.options, keep=keep, no_extern_c=True)


def get_elwise_kernel_and_types(
    arguments: str | Sequence[Any],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    use_range: bool = False,
    **kwargs: Any,
) -> tuple[SourceModule, Any, list[Any]]:
    """Return (module, prepared kernel, arguments); the arguments end with n, or with start, stop,
    step."""
    from pygpu._src.runtime.cuda.c_types import parse_c_arg

    if isinstance(arguments, str):
        arguments = [part for part in arguments.split(",") if part.strip()]
    full = [parse_c_arg(item) if isinstance(item, str) else item for item in arguments]
    if use_range:
        full += [ScalarArg(np.intp, part) for part in ("start", "stop", "step")]
    else:
        full.append(ScalarArg(np.uintp, "n"))
    make = get_elwise_range_module if use_range else get_elwise_module
    module = make(full, operation, name, keep, options, **kwargs)
    kernel = module.get_function(name)
    kernel.prepare("".join(argument.struct_char for argument in full))
    return module, kernel, full


def get_elwise_kernel(
    arguments: str | Sequence[Any],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    **kwargs: Any,
) -> Any:
    """Return a prepared Function for the operation; it takes pointers, numbers and the length n."""
    return get_elwise_kernel_and_types(arguments, operation, name, keep, options, **kwargs)[1]


def _simple(name: str, arguments: str, operation: str, order: tuple[str, ...] = ()) -> Any:
    """Make a getter whose arguments are the dtypes for the names in braces, in the given order or
    in that of their appearance."""
    names: list[str] = list(order)
    for part in arguments.split("{")[1:]:
        field = part.split("}")[0]
        if field not in names:
            names.append(field)

    @context_dependent_memoize
    def get(*dtypes: Any) -> Any:
        types = {field: dtype_to_ctype(dtype) for field, dtype in zip(names, dtypes, strict=True)}
        return get_elwise_kernel(arguments.format(**types), operation.format(**types), name)

    get.__doc__ = f"The kernel {operation!r}; its arguments: {arguments!r}, n."
    return get


get_copy_kernel = _simple("copy", "{dest} *dest, {src} *src", "dest[i] = src[i]")
get_fill_kernel = _simple("fill", "{z} a, {z} *z", "z[i] = a")
get_reverse_kernel = _simple("reverse", "{z} *y, {z} *z", "z[i] = y[n - 1 - i]")
get_real_kernel = _simple("real", "{y} *y, {z} *z", "z[i] = pycuda::real(y[i])")
get_imag_kernel = _simple("imag", "{y} *y, {z} *z", "z[i] = pycuda::imag(y[i])")
get_conj_kernel = _simple("conj", "{y} *y, {z} *z", "z[i] = pycuda::conj(y[i])")
get_arange_kernel = _simple("arange", "{z} *z, {z} start, {z} step", "z[i] = start + ({z})i * step")
get_axpbz_kernel = _simple(
    "axpb", "{z} a, {x} *x, {z} b, {z} *z", "z[i] = a * ({z})x[i] + b", ("x", "z")
)
get_rdivide_elwise_kernel = _simple(
    "divide_r", "{x} *x, {z} y, {z} *z", "z[i] = y / ({z})x[i]", ("x", "z")
)
get_if_positive_kernel = _simple(
    "if_positive",
    "{crit} *crit, {item} *then_, {item} *else_, {item} *result",
    "result[i] = crit[i] > 0 ? then_[i] : else_[i]",
)
get_where_kernel = _simple(
    "where",
    "{crit} *crit, {item} *then_, {item} *else_, {item} *result",
    "result[i] = crit[i] != 0 ? then_[i] : else_[i]",
)
get_logical_not_kernel = _simple("logical_not", "{x} *x, {out} *out", "out[i] = x[i] == 0")
get_fmod_kernel = _simple(
    "fmod_kernel", "float *arg, float *mod, float *z", "z[i] = fmodf(arg[i], mod[i])"
)
get_modf_kernel = _simple(
    "modf_kernel",
    "float *x, float *intpart, float *fracpart",
    "fracpart[i] = modff(x[i], &intpart[i])",
)
get_frexp_kernel = _simple(
    "frexp_kernel",
    "float *x, float *significand, float *exponent",
    "int power; significand[i] = frexpf(x[i], &power); exponent[i] = power",
)
get_ldexp_kernel = _simple(
    "ldexp_kernel", "float *sig, float *expt, float *z", "z[i] = ldexpf(sig[i], (int)expt[i])"
)


def _of_type(name: str, source: Any, target: Any) -> str:
    """Convert an operand to the type of the result; real numbers stay real."""
    target = np.dtype(target)
    if target.kind == "c" and np.dtype(source).kind != "c":
        target = np.empty(0, target).real.dtype
    return f"({dtype_to_ctype(target)}){name}"


@context_dependent_memoize
def get_axpbyz_kernel(
    dtype_x: Any, dtype_y: Any, dtype_z: Any, x_is_scalar: bool = False, y_is_scalar: bool = False
) -> Any:
    """z = a * x + b * y; arguments a, x, b, y, z, n. x_is_scalar, y_is_scalar: one item, used for
    all."""
    x = _of_type("x[0]" if x_is_scalar else "x[i]", dtype_x, dtype_z)
    y = _of_type("y[0]" if y_is_scalar else "y[i]", dtype_y, dtype_z)
    a, b = _of_type("a", dtype_x, dtype_z), _of_type("b", dtype_y, dtype_z)
    tx, ty, tz = (dtype_to_ctype(d) for d in (dtype_x, dtype_y, dtype_z))
    return get_elwise_kernel(
        f"{tx} a, {tx} *x, {ty} b, {ty} *y, {tz} *z", f"z[i] = {a} * {x} + {b} * {y}", "axpbyz"
    )


@context_dependent_memoize
def get_binary_op_kernel(
    dtype_x: Any,
    dtype_y: Any,
    dtype_z: Any,
    operator: str,
    x_is_scalar: bool = False,
    y_is_scalar: bool = False,
) -> Any:
    """z = x operator y; arguments x, y, z, n."""
    x = _of_type("x[0]" if x_is_scalar else "x[i]", dtype_x, dtype_z)
    y = _of_type("y[0]" if y_is_scalar else "y[i]", dtype_y, dtype_z)
    tx, ty, tz = (dtype_to_ctype(d) for d in (dtype_x, dtype_y, dtype_z))
    return get_elwise_kernel(
        f"{tx} *x, {ty} *y, {tz} *z", f"z[i] = ({tz})({x} {operator} {y})", "binary_op"
    )


@context_dependent_memoize
def get_scalar_op_kernel(dtype_x: Any, dtype_a: Any, dtype_y: Any, operator: str) -> Any:
    """y = x operator a; arguments x, a, y, n."""
    tx, ta, ty = (dtype_to_ctype(d) for d in (dtype_x, dtype_a, dtype_y))
    return get_elwise_kernel(f"{tx} *x, {ta} a, {ty} *y", f"y[i] = x[i] {operator} a", "scalar_op")


@context_dependent_memoize
def get_unary_func_kernel(func_name: str, in_dtype: Any, out_dtype: Any = None) -> Any:
    """z = func(y); arguments y, z, n."""
    out = dtype_to_ctype(in_dtype if out_dtype is None else out_dtype)
    arguments = f"{dtype_to_ctype(in_dtype)} *y, {out} *z"
    return get_elwise_kernel(arguments, f"z[i] = {func_name}(y[i])", _name(func_name))


@context_dependent_memoize
def get_binary_func_kernel(func: str, dtype_x: Any, dtype_y: Any, dtype_z: Any) -> Any:
    """z = func(x, y); arguments x, y, z, n."""
    tx, ty, tz = (dtype_to_ctype(d) for d in (dtype_x, dtype_y, dtype_z))
    return get_elwise_kernel(
        f"{tx} *x, {ty} *y, {tz} *z", f"z[i] = {func}(x[i], y[i])", _name(func)
    )


@context_dependent_memoize
def get_binary_func_scalar_kernel(func: str, dtype_x: Any, dtype_y: Any, dtype_z: Any) -> Any:
    """z = func(x, y) with one number y; arguments x, y, z, n."""
    tx, ty, tz = (dtype_to_ctype(d) for d in (dtype_x, dtype_y, dtype_z))
    return get_elwise_kernel(f"{tx} *x, {ty} y, {tz} *z", f"z[i] = {func}(x[i], y)", _name(func))


def get_binary_minmax_kernel(
    func: str, dtype_x: Any, dtype_y: Any, dtype_z: Any, use_scalar: bool
) -> Any:
    """z = func(x, y), where func is "min" or "max"; use_scalar: y is one number."""
    make = get_binary_func_scalar_kernel if use_scalar else get_binary_func_kernel
    floats = any(np.dtype(dtype).kind == "f" for dtype in (dtype_x, dtype_y, dtype_z))
    return make("f" + func if floats else func, dtype_x, dtype_y, dtype_z)


@context_dependent_memoize
def get_pow_array_kernel(
    dtype_x: Any, dtype_y: Any, dtype_z: Any, is_base_array: bool, is_exp_array: bool
) -> Any:
    """z = x ** y, where one of x and y may be a number; arguments x, y, z, n."""
    tx, ty, tz = (dtype_to_ctype(d) for d in (dtype_x, dtype_y, dtype_z))
    func = "powf" if np.dtype(dtype_z) == np.float32 else "pow"
    x, y = ("x[i]" if is_base_array else "x"), ("y[i]" if is_exp_array else "y")
    arguments = f"{tx} {'*' * is_base_array}x, {ty} {'*' * is_exp_array}y, {tz} *z"
    return get_elwise_kernel(arguments, f"z[i] = {func}({x}, {y})", "pow_method")


def get_multiply_kernel(dtype_x: Any, dtype_y: Any, dtype_z: Any) -> Any:
    """z = x * y, by the name of earlier versions; arguments x, y, z, n."""
    return get_binary_op_kernel(dtype_x, dtype_y, dtype_z, "*")


def get_divide_kernel(dtype_x: Any, dtype_y: Any, dtype_z: Any) -> Any:
    """z = x / y, by the name of earlier versions; arguments x, y, z, n."""
    return get_binary_op_kernel(dtype_x, dtype_y, dtype_z, "/")


@context_dependent_memoize
def get_pow_kernel(dtype: Any) -> Any:
    """z = y ** value, by the name of earlier versions; arguments value, y, z, n."""
    name = dtype_to_ctype(dtype)
    func = "powf" if np.dtype(dtype) == np.float32 else "pow"
    return get_elwise_kernel(
        f"{name} value, {name} *y, {name} *z", f"z[i] = {func}(y[i], value)", "pow_method"
    )


def _name(func: str) -> str:
    """Derive a kernel's name from a function's, which may be qualified."""
    return "".join(c if c.isalnum() else "_" for c in func) + "_kernel"


publish(globals(), __all__, "pygpu.cuda.elementwise")
_public_functions(globals(), [name for name in globals() if name.startswith("get_")])
