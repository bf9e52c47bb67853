"""Kernels of OpenCL for the operations of arrays, by the names that PyOpenCL's have.

For programs that launch them with work sizes of their own, or by
:func:`pygpu.array.elwise_kernel_runner`. pygpu's arrays do not use them: theirs know about strides
and broadcasting.

Each function makes one Kernel for a context and keeps it there. The kernel takes
``(queue, global_size, local_size, *arrays_and_numbers, n)``: contiguous Arrays of the dtypes that
it was made for, the results first, and the number of items to do. A parameter ending in
``_is_scalar`` says that this array has one item, which is used for all others. Types are converted
as C does it, real numbers to complex ones where the result is complex. Raises TypeError for dtypes
that the operation is not defined for.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.array.opencl_array import Array
from pygpu._src.array.opencl_splay import splay
from pygpu._src.codegen.fastpath import public_functions as _public_functions
from pygpu._src.user_kernels.arguments import ScalarArg, VectorArg
from pygpu._src.user_kernels.elementwise_programs import get_elwise_kernel
from pygpu._src.user_kernels.structs import dtype_to_c_struct
from pygpu._src.util.memoize import context_dependent_memoize
from pygpu.constants import kernel_work_group_info
from pygpu.dtypes import dtype_to_ctype

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pygpu._opencl import CommandQueue, Context, Event, Kernel
    from pygpu._src.runtime.opencl.types import WaitList

__all__ = [
    "ArgumentKind",
    "complex_dtype_to_name",
    "elwise_kernel_runner",
    "get_arange_kernel",
    "get_argument_kind",
    "get_array_binop_kernel",
    "get_array_comparison_kernel",
    "get_array_scalar_binop_kernel",
    "get_array_scalar_comparison_kernel",
    "get_axpbyz_kernel",
    "get_axpbz_kernel",
    "get_bessel_kernel",
    "get_binary_func_kernel",
    "get_copy_kernel",
    "get_decl_and_access_for_kind",
    "get_diff_kernel",
    "get_divide_kernel",
    "get_float_binary_func_kernel",
    "get_fmod_kernel",
    "get_frexp_kernel",
    "get_hankel_01_kernel",
    "get_if_positive_kernel",
    "get_ldexp_kernel",
    "get_logical_not_kernel",
    "get_minmaximum_kernel",
    "get_modf_kernel",
    "get_multiply_kernel",
    "get_pow_kernel",
    "get_put_kernel",
    "get_rdivide_elwise_kernel",
    "get_take_kernel",
    "get_take_put_kernel",
    "get_unop_kernel",
    "real_dtype",
    "splay",
]


_GROUP_SIZE = kernel_work_group_info.WORK_GROUP_SIZE


class ArgumentKind(enum.Enum):
    """The kind of an operand: an array, an array of one item, or a number."""

    ARRAY = 1
    DEV_SCALAR = 2
    SCALAR = 3


def get_argument_kind(v: Any) -> ArgumentKind:
    """The kind of an operand; of arrays, those of no dimensions are DEV_SCALAR."""
    if not isinstance(v, Array):
        return ArgumentKind.SCALAR
    return ArgumentKind.ARRAY if v.shape else ArgumentKind.DEV_SCALAR


def get_decl_and_access_for_kind(name: str, kind: ArgumentKind) -> tuple[str, str]:
    """How a parameter is declared, after its type, and what its item i is called."""
    if kind is ArgumentKind.SCALAR:
        return name, name
    return f"*{name}", f"{name}[i]" if kind is ArgumentKind.ARRAY else f"{name}[0]"


def complex_dtype_to_name(dtype: DTypeLike) -> str:
    """How functions of a complex type begin: "cfloat" or "cdouble"."""
    name = {"F": "cfloat", "D": "cdouble"}.get(np.dtype(dtype).char)
    if name is None:
        raise RuntimeError(f"complex_dtype_to_name: {np.dtype(dtype)} is not a complex type")
    return name


def real_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The type of the real part."""
    kind: np.dtype[Any] = np.zeros((), dtype).real.dtype
    return kind


def _out(dtype: DTypeLike, name: str = "z") -> VectorArg:
    return VectorArg(np.dtype(dtype), name, with_offset=True)


_in = _out


def _to(dtype: DTypeLike, source: DTypeLike, text: str, call: str) -> str:
    """An expression of one dtype as one of another."""
    dtype, source = np.dtype(dtype), np.dtype(source)
    if dtype == source:
        return text
    if dtype.kind == "c":
        name = complex_dtype_to_name(dtype)
        return f"{name}_{'cast' if source.kind == 'c' else 'fromreal'}({text})"
    if source.kind not in "biuf" or dtype.kind not in "biuf":
        raise TypeError(f"{call}: {source} cannot become {dtype}")
    return f"(({dtype_to_ctype(dtype)})({text}))"


def _binary(dtype: DTypeLike, operator: str, function: str, x: str, y: str) -> str:
    """x and y of one dtype, joined by an operator, which for complex numbers is a function."""
    if np.dtype(dtype).kind == "c":
        return f"{complex_dtype_to_name(dtype)}_{function}({x}, {y})"
    return f"({x} {operator} {y})"


def _item(name: str, is_scalar: bool) -> str:
    return f"{name}[0]" if is_scalar else f"{name}[i]"


def _structs(context: Context, dtype: DTypeLike) -> str:
    return dtype_to_c_struct(context.devices[0], np.dtype(dtype))


def _make(
    context: Context, arguments: Sequence[Any], operation: str, name: str, preamble: str = ""
) -> Kernel:
    return get_elwise_kernel(context, list(arguments), operation, name=name, preamble=preamble)


def elwise_kernel_runner(kernel_getter: Callable[..., Kernel]) -> Callable[..., Event]:
    """Make of a function that gives a kernel one that launches it: decorator.

    kernel_getter: called as ``kernel_getter(out, *args, **options)``; gives a Kernel that takes
    out, args and the number of items of out. The function takes the same arguments, an Array first,
    and queue and wait_for; it returns the Event. Raises TypeError if out is not an
    Array.
    """

    @functools.wraps(kernel_getter)
    def run(
        out: Any,
        *args: Any,
        queue: CommandQueue | None = None,
        wait_for: WaitList = None,
        **options: Any,
    ) -> Event:
        if not isinstance(out, Array):
            raise TypeError(f"{run.__name__}: out must be an Array, not {type(out).__name__}")
        queue = out.queue if queue is None else queue
        if queue is None:
            raise ValueError(f"{run.__name__}: no queue was given and the array has none")
        kernel = kernel_getter(out, *args, **options)
        sizes = out._get_sizes(queue, kernel.get_work_group_info(_GROUP_SIZE, queue.device))
        return kernel(queue, *sizes, out, *args, out.size, wait_for=wait_for)

    return run


# Moving items


@context_dependent_memoize
def get_take_kernel(
    context: Context, dtype: DTypeLike, idx_dtype: DTypeLike, vec_count: int = 1
) -> Kernel:
    """dest = src[idx]; arguments the dests, the srcs, idx, n."""
    count = range(vec_count)
    arguments = [_out(dtype, f"dest{k}") for k in count]
    arguments += [_in(dtype, f"src{k}") for k in count] + [_in(idx_dtype, "idx")]
    body = f"const {dtype_to_ctype(np.dtype(idx_dtype))} pg_from = idx[i];\n"
    body += "\n".join(f"dest{k}[i] = src{k}[pg_from];" for k in count)
    return _make(context, arguments, body, "take", _structs(context, dtype))


@context_dependent_memoize
def get_take_put_kernel(
    context: Context, dtype: DTypeLike, idx_dtype: DTypeLike, with_offsets: bool, vec_count: int = 1
) -> Kernel:
    """dest[dest_idx] = src[src_idx + offset]; arguments the dests, dest_idx, src_idx, the srcs,
    the offsets if there are any, n."""
    count, index = range(vec_count), dtype_to_ctype(np.dtype(idx_dtype))
    arguments: list[Any] = [_out(dtype, f"dest{k}") for k in count]
    arguments += [_in(idx_dtype, "gmem_dest_idx"), _in(idx_dtype, "gmem_src_idx")]
    arguments += [_in(dtype, f"src{k}") for k in count]
    if with_offsets:
        arguments += [ScalarArg(np.dtype(idx_dtype), f"offset{k}") for k in count]
    body = f"const {index} pg_from = gmem_src_idx[i], pg_to = gmem_dest_idx[i];\n"
    body += "\n".join(
        f"dest{k}[pg_to] = src{k}[pg_from{f' + offset{k}' if with_offsets else ''}];" for k in count
    )
    return _make(context, arguments, body, "take_put", _structs(context, dtype))


@context_dependent_memoize
def get_put_kernel(
    context: Context, dtype: DTypeLike, idx_dtype: DTypeLike, vec_count: int = 1
) -> Kernel:
    """dest[dest_idx] = src, from its start again where it ends; arguments the dests, dest_idx, the
    srcs, use_fill (uint8, nonzero: only the first item of that src), the lengths of the srcs
    (int64), n."""
    count = range(vec_count)
    arguments = [_out(dtype, f"dest{k}") for k in count] + [_in(idx_dtype, "gmem_dest_idx")]
    arguments += [_in(dtype, f"src{k}") for k in count]
    arguments += [_in(np.uint8, "use_fill"), _in(np.int64, "val_ary_lengths")]
    body = f"const {dtype_to_ctype(np.dtype(idx_dtype))} pg_to = gmem_dest_idx[i];\n"
    body += "\n".join(
        f"dest{k}[pg_to] = src{k}[use_fill[{k}] ? 0 : i % val_ary_lengths[{k}]];" for k in count
    )
    return _make(context, arguments, body, "put", _structs(context, dtype))


@context_dependent_memoize
def get_copy_kernel(context: Context, dtype_dest: DTypeLike, dtype_src: DTypeLike) -> Kernel:
    """dest = src, converted; arguments dest, src, n."""
    value = _to(dtype_dest, dtype_src, "src[i]", "get_copy_kernel")
    arguments = [_out(dtype_dest, "dest"), _in(dtype_src, "src")]
    return _make(context, arguments, f"dest[i] = {value}", "copy", _structs(context, dtype_dest))


@context_dependent_memoize
def get_arange_kernel(context: Context, dtype: DTypeLike) -> Kernel:
    """z = start + i * step; arguments z, start, step, n."""
    index = _to(dtype, np.int64, "i", "get_arange_kernel")
    value = _binary(dtype, "+", "add", "start", _binary(dtype, "*", "mul", index, "step"))
    numbers = [ScalarArg(np.dtype(dtype), name) for name in ("start", "step")]
    return _make(context, [_out(dtype), *numbers], f"z[i] = {value}", "arange")


@context_dependent_memoize
def get_diff_kernel(context: Context, dtype: DTypeLike) -> Kernel:
    """result = array[i + 1] - array[i]; arguments result, array, n, one less than array has."""
    value = _binary(dtype, "-", "sub", "array[i + 1]", "array[i]")
    arguments = [_out(dtype, "result"), _in(dtype, "array")]
    return _make(context, arguments, f"result[i] = {value}", "diff")


@context_dependent_memoize
def get_if_positive_kernel(
    context: Context,
    crit_dtype: DTypeLike,
    then_else_dtype: DTypeLike,
    is_then_array: bool,
    is_else_array: bool,
    is_then_scalar: bool,
    is_else_scalar: bool,
) -> Kernel:
    """result = crit > 0 ? then : else; arguments result, crit, then, else, n."""
    branches: list[VectorArg | ScalarArg] = []
    texts = []
    for name, is_array, is_scalar in (
        ("then_", is_then_array, is_then_scalar),
        ("else_", is_else_array, is_else_scalar),
    ):
        if is_array:
            branches.append(_in(then_else_dtype, name))
            texts.append(_item(name, is_scalar))
        else:
            branches.append(ScalarArg(np.dtype(then_else_dtype), name))
            texts.append(name)
    return _make(
        context,
        [_out(then_else_dtype, "result"), _in(crit_dtype, "crit"), *branches],
        f"result[i] = crit[i] > 0 ? {texts[0]} : {texts[1]}",
        "if_positive",
    )


# Arithmetic


def _arithmetic(name: str, operator: str, function: str) -> Callable[..., Kernel]:
    """get_NAME_kernel; of complex numbers, *function* stands for *operator*."""

    def get(
        context: Context,
        dtype_x: DTypeLike,
        dtype_y: DTypeLike,
        dtype_z: DTypeLike,
        x_is_scalar: bool = False,
        y_is_scalar: bool = False,
    ) -> Kernel:
        x = _to(dtype_z, dtype_x, _item("x", x_is_scalar), get.__name__)
        y = _to(dtype_z, dtype_y, _item("y", y_is_scalar), get.__name__)
        arguments = [_out(dtype_z), _in(dtype_x, "x"), _in(dtype_y, "y")]
        return _make(
            context, arguments, f"z[i] = {_binary(dtype_z, operator, function, x, y)}", name
        )

    get.__name__ = get.__qualname__ = f"get_{name}_kernel"
    get.__doc__ = f"z = x {operator} y; arguments z, x, y, n."
    return context_dependent_memoize(get)


get_multiply_kernel: Callable[..., Kernel] = _arithmetic("multiply", "*", "mul")
get_divide_kernel: Callable[..., Kernel] = _arithmetic("divide", "/", "divide")


@context_dependent_memoize
def get_axpbyz_kernel(
    context: Context,
    dtype_x: DTypeLike,
    dtype_y: DTypeLike,
    dtype_z: DTypeLike,
    x_is_scalar: bool = False,
    y_is_scalar: bool = False,
) -> Kernel:
    """z = a * x + b * y; arguments z, a, x, b, y, n; a and b are of z's type."""
    call = "get_axpbyz_kernel"
    x = _to(dtype_z, dtype_x, _item("x", x_is_scalar), call)
    y = _to(dtype_z, dtype_y, _item("y", y_is_scalar), call)
    ax, by = _binary(dtype_z, "*", "mul", "a", x), _binary(dtype_z, "*", "mul", "b", y)
    factors = [ScalarArg(np.dtype(dtype_z), name) for name in "ab"]
    arguments = [_out(dtype_z), factors[0], _in(dtype_x, "x"), factors[1], _in(dtype_y, "y")]
    return _make(context, arguments, f"z[i] = {_binary(dtype_z, '+', 'add', ax, by)}", "axpbyz")


@context_dependent_memoize
def get_axpbz_kernel(
    context: Context, dtype_a: DTypeLike, dtype_x: DTypeLike, dtype_b: DTypeLike, dtype_z: DTypeLike
) -> Kernel:
    """z = a * x + b; arguments z, a, x, b, n."""
    a, x, b = (
        _to(dtype_z, dtype, text, "get_axpbz_kernel")
        for dtype, text in ((dtype_a, "a"), (dtype_x, "x[i]"), (dtype_b, "b"))
    )
    value = _binary(dtype_z, "+", "add", _binary(dtype_z, "*", "mul", a, x), b)
    numbers = [ScalarArg(np.dtype(dtype_a), "a"), ScalarArg(np.dtype(dtype_b), "b")]
    arguments = [_out(dtype_z), numbers[0], _in(dtype_x, "x"), numbers[1]]
    return _make(context, arguments, f"z[i] = {value}", "axpb")


@context_dependent_memoize
def get_rdivide_elwise_kernel(
    context: Context, dtype_x: DTypeLike, dtype_y: DTypeLike, dtype_z: DTypeLike
) -> Kernel:
    """z = y / x, where y is a number; arguments z, x, y, n."""
    x = _to(dtype_z, dtype_x, "x[i]", "get_rdivide_elwise_kernel")
    y = _to(dtype_z, dtype_y, "y", "get_rdivide_elwise_kernel")
    arguments = [_out(dtype_z), _in(dtype_x, "x"), ScalarArg(np.dtype(dtype_y), "y")]
    value = _binary(dtype_z, "/", "divide", y, x)
    return _make(context, arguments, f"z[i] = {value}", "divide_r")


@context_dependent_memoize
def get_pow_kernel(
    context: Context,
    dtype_x: DTypeLike,
    dtype_y: DTypeLike,
    dtype_z: DTypeLike,
    is_base_array: bool,
    is_exp_array: bool,
) -> Kernel:
    """z = x ** y, each an array or a number; arguments z, x, y, n. Of integers to integers, the
    power is exact, modulo 2**64; a negative exponent gives what is left of the quotient."""
    dtype_z = np.dtype(dtype_z)
    exact = {np.dtype(d).kind for d in (dtype_x, dtype_y, dtype_z)} <= set("iu")
    work = dtype_z if dtype_z.kind in "fc" else np.dtype(np.float64)
    operands: list[VectorArg | ScalarArg] = []
    texts = []
    for name, dtype, is_array in (("x", dtype_x, is_base_array), ("y", dtype_y, is_exp_array)):
        operands.append(_in(dtype, name) if is_array else ScalarArg(np.dtype(dtype), name))
        text = f"{name}[i]" if is_array else name
        texts.append(text if exact else _to(work, dtype, text, "get_pow_kernel"))
    arguments = [_out(dtype_z), *operands]
    if exact:  # a pow() of floating point may end below the integer
        negative = "(long)e < 0" if np.dtype(dtype_y).kind == "i" else "0"
        operation = f"""
            ulong b = (ulong)({texts[0]}), e = (ulong)({texts[1]}), r = 1;
            if ({negative})
                r = b == 1 || (b == ~(ulong)0 && (e & 1) == 0) ? 1 : b == ~(ulong)0 ? b : 0;
            else
                for (; e != 0; e >>= 1, b *= b) r *= (e & 1) ? b : 1;
            z[i] = ({dtype_to_ctype(dtype_z)})r"""
        return _make(context, arguments, operation, "pow_method")
    function = f"{complex_dtype_to_name(work)}_pow" if work.kind == "c" else "pow"
    value = _to(dtype_z, work, f"{function}({texts[0]}, {texts[1]})", "get_pow_kernel")
    return _make(context, arguments, f"z[i] = {value}", "pow_method")


@context_dependent_memoize
def get_unop_kernel(
    context: Context, operator: str, res_dtype: DTypeLike, in_dtype: DTypeLike
) -> Kernel:
    """z = OPERATOR y; arguments z, y, n."""
    arguments = [_out(res_dtype), _in(in_dtype, "y")]
    return _make(context, arguments, f"z[i] = {operator} y[i]", "unary_op_kernel")


@context_dependent_memoize
def get_array_scalar_binop_kernel(
    context: Context, operator: str, dtype_res: DTypeLike, dtype_a: DTypeLike, dtype_b: DTypeLike
) -> Kernel:
    """out = a OPERATOR b, where b is a number; arguments out, a, b, n."""
    arguments = [_out(dtype_res, "out"), _in(dtype_a, "a"), ScalarArg(np.dtype(dtype_b), "b")]
    return _make(context, arguments, f"out[i] = a[i] {operator} b", "scalar_binop_kernel")


@context_dependent_memoize
def get_array_binop_kernel(
    context: Context,
    operator: str,
    dtype_res: DTypeLike,
    dtype_a: DTypeLike,
    dtype_b: DTypeLike,
    a_is_scalar: bool = False,
    b_is_scalar: bool = False,
) -> Kernel:
    """out = a OPERATOR b; arguments out, a, b, n."""
    arguments = [_out(dtype_res, "out"), _in(dtype_a, "a"), _in(dtype_b, "b")]
    value = f"{_item('a', a_is_scalar)} {operator} {_item('b', b_is_scalar)}"
    return _make(context, arguments, f"out[i] = {value}", "binop_kernel")


@context_dependent_memoize
def get_array_scalar_comparison_kernel(
    context: Context, operator: str, dtype_a: DTypeLike
) -> Kernel:
    """out (int8) = a OPERATOR b, where b is a number of a's type; arguments out, a, b, n."""
    return get_array_scalar_binop_kernel(context, operator, np.int8, dtype_a, dtype_a)


@context_dependent_memoize
def get_array_comparison_kernel(
    context: Context, operator: str, dtype_a: DTypeLike, dtype_b: DTypeLike
) -> Kernel:
    """out (int8) = a OPERATOR b; arguments out, a, b, n."""
    return get_array_binop_kernel(context, operator, np.int8, dtype_a, dtype_b)


@context_dependent_memoize
def get_logical_not_kernel(context: Context, in_dtype: DTypeLike) -> Kernel:
    """z (int8) = y == 0; arguments z, y, n."""
    arguments = [_out(np.int8), _in(in_dtype, "y")]
    return _make(context, arguments, "z[i] = (y[i] == 0)", "logical_not_kernel")


# Functions


def _called(name: str, text: str, work: Callable[[Any, Any], str]) -> Callable[..., Kernel]:
    """get_NAME_kernel; work: what stands before each argument of func, of the dtypes of x and y."""

    def get(
        context: Context,
        func_name: str,
        x_dtype: DTypeLike,
        y_dtype: DTypeLike,
        out_dtype: DTypeLike,
        preamble: str = "",
        name: str | None = None,
    ) -> Kernel:
        arguments = [_out(out_dtype), _in(x_dtype, "x"), _in(y_dtype, "y")]
        cast = work(x_dtype, y_dtype)
        operation = f"z[i] = {func_name}({cast}x[i], {cast}y[i])"
        return _make(context, arguments, operation, f"{name or func_name}_kernel", preamble)

    get.__name__ = get.__qualname__ = f"get_{name}_kernel"
    get.__doc__ = text
    return context_dependent_memoize(get)


get_binary_func_kernel: Callable[..., Kernel] = _called(
    "binary_func", "z = func(x, y); arguments z, x, y, n.", lambda x, y: ""
)
get_float_binary_func_kernel: Callable[..., Kernel] = _called(
    "float_binary_func",
    "z = func(x, y), both as floats, or as doubles if NumPy's product of such arrays has more than "
    "four bytes; arguments z, x, y, n.",
    lambda x, y: "(double)" if np.result_type(x, y).itemsize > 4 else "(float)",
)


@context_dependent_memoize
def get_fmod_kernel(
    context: Context, out_dtype: DTypeLike, arg_dtype: DTypeLike, mod_dtype: DTypeLike
) -> Kernel:
    """z = fmod(x, y); arguments z, x, y, n."""
    return get_float_binary_func_kernel(context, "fmod", arg_dtype, mod_dtype, out_dtype)


@context_dependent_memoize
def get_modf_kernel(
    context: Context, int_dtype: DTypeLike, frac_dtype: DTypeLike, x_dtype: DTypeLike
) -> Kernel:
    """The integral and the fractional part of x; arguments intpart, fracpart, x, n."""
    arguments = [_out(int_dtype, "intpart"), _out(frac_dtype, "fracpart"), _in(x_dtype, "x")]
    work = dtype_to_ctype(np.dtype(x_dtype))
    operation = f"{work} pg_whole; fracpart[i] = modf(x[i], &pg_whole); intpart[i] = pg_whole"
    return _make(context, arguments, operation, "modf_kernel")


@context_dependent_memoize
def get_frexp_kernel(
    context: Context, sign_dtype: DTypeLike, exp_dtype: DTypeLike, x_dtype: DTypeLike
) -> Kernel:
    """x = significand * 2 ** exponent; arguments significand, exponent, x, n."""
    arguments = [_out(sign_dtype, "significand"), _out(exp_dtype, "exponent"), _in(x_dtype, "x")]
    operation = "int pg_power = 0; significand[i] = frexp(x[i], &pg_power); exponent[i] = pg_power"
    return _make(context, arguments, operation, "frexp_kernel")


@context_dependent_memoize
def get_ldexp_kernel(
    context: Context, out_dtype: DTypeLike, sig_dtype: DTypeLike, expt_dtype: DTypeLike
) -> Kernel:
    """z = x * 2 ** y; arguments z, x, y, n."""
    define = "#define PG_LDEXP(x, y) ldexp(x, (int)(y))\n"
    return get_binary_func_kernel(
        context, "PG_LDEXP", sig_dtype, expt_dtype, out_dtype, preamble=define, name="ldexp"
    )


@context_dependent_memoize
def get_minmaximum_kernel(
    context: Context,
    minmax: str,
    dtype_z: DTypeLike,
    dtype_x: DTypeLike,
    dtype_y: DTypeLike,
    kind_x: ArgumentKind,
    kind_y: ArgumentKind,
) -> Kernel:
    """z = the "min" or "max" of x and y, NaN if one of them is; arguments z, x, y, n."""
    call, dtype_z = "get_minmaximum_kernel", np.dtype(dtype_z)
    if dtype_z.kind not in "iuf":
        raise TypeError(f"{call}: complex numbers and structs have no order, and z is {dtype_z}")
    if minmax not in ("min", "max"):
        raise ValueError(f"{call}: minmax is 'min' or 'max', not {minmax!r}")
    operands: list[VectorArg | ScalarArg] = []
    texts = []
    for name, dtype, kind in (("x", dtype_x, kind_x), ("y", dtype_y, kind_y)):
        number = kind is ArgumentKind.SCALAR
        operands.append(ScalarArg(np.dtype(dtype), name) if number else _in(dtype, name))
        texts.append(_to(dtype_z, dtype, get_decl_and_access_for_kind(name, kind)[1], call))
    x, y = texts
    order = "<" if minmax == "min" else ">"
    value = f"({x} {order} {y} || {x} != {x}) ? {x} : {y}"
    return _make(context, [_out(dtype_z), *operands], f"z[i] = {value}", f"{minmax}imum")


@context_dependent_memoize
def get_bessel_kernel(
    context: Context,
    which_func: str,
    out_dtype: DTypeLike,
    order_dtype: DTypeLike,
    x_dtype: DTypeLike,
) -> Kernel:
    """z = the Bessel function "j" or "y" of an order, for real x in float64, "j" also for
    complex128; arguments z, order, x, n."""
    x_dtype = np.dtype(x_dtype)
    if which_func not in ("j", "y"):
        raise ValueError(f"get_bessel_kernel: which_func is 'j' or 'y', not {which_func!r}")
    head = [_out(out_dtype), ScalarArg(np.dtype(order_dtype), "ord_n"), _in(x_dtype, "x")]
    if x_dtype.kind != "c":
        return _make(
            context,
            head,
            f"z[i] = bessel_{which_func}n(ord_n, x[i])",
            f"bessel_{which_func}n_kernel",
            f"#include <pyopencl-bessel-{which_func}.cl>\n",
        )
    if which_func != "j" or x_dtype != np.complex128 or np.dtype(out_dtype) != x_dtype:
        raise NotImplementedError("get_bessel_kernel: the only complex one is j of complex128")
    return _make(
        context,
        head,
        "cdouble_t pg_j, pg_next; bessel_j_complex(ord_n, x[i], &pg_j, &pg_next); z[i] = pg_j",
        "bessel_j_complex_kernel",
        "#include <pyopencl-bessel-j-complex.cl>\n",
    )


@context_dependent_memoize
def get_hankel_01_kernel(context: Context, out_dtype: DTypeLike, x_dtype: DTypeLike) -> Kernel:
    """The Hankel functions of the first kind, of orders 0 and 1, for complex128; arguments h0, h1,
    x, n."""
    if not np.dtype(x_dtype) == np.dtype(out_dtype) == np.complex128:
        raise NotImplementedError("get_hankel_01_kernel: the dtype must be complex128")
    return _make(
        context,
        [_out(out_dtype, "h0"), _out(out_dtype, "h1"), _in(x_dtype, "x")],
        "cdouble_t pg_0, pg_1; hankel_01_complex(x[i], &pg_0, &pg_1, 1); h0[i] = pg_0; "
        "h1[i] = pg_1",
        "hankel_complex_kernel",
        "#include <pyopencl-hankel-complex.cl>\n",
    )


_public_functions(globals(), __all__)
