"""Atomic operations of kernels on items of arrays."""

from __future__ import annotations

import ast
from typing import Any

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value
from ..types import ArrayType, Scalar
from ..walk.constants import constant
from ..walk.context import FunctionContext
from ..walk.index_checks import Checked, checked_atomic
from ..walk.items import item_address
from ..walk.operators import call_ufunc
from ..walk.registry import Args, Kwargs, WrongCall, count
from .intrinsics import Intrinsic, kept

_NATIVE_32 = {"exch": ("atomicExch", "atomic_xchg"), "and": ("atomicAnd", "atomic_and")}
_NATIVE_32 |= {"or": ("atomicOr", "atomic_or"), "xor": ("atomicXor", "atomic_xor")}
_WANTED = {
    "exch": "x",
    "and": "was & x",
    "or": "was | x",
    "xor": "was ^ x",
    "inc": "was >= x ? 0 : was + 1",
    "dec": "was == 0 || was > x ? x : was - 1",
}


def _loop_by_bits(op: str, code: str, space: str, word: str, opencl: bool) -> tuple[str, str]:
    """Return (parameters, body) of a function for floating-point numbers, by compare-and-swap of
    their bits. word: the address space of the items; space: the suffix of the functions for it."""
    kind, bits, upper = f"pg_{code}", f"pg_u{code[1:]}", code.upper()
    cas = f"pg_{space}atomic_cas_u{code[1:]}"
    cell = f"(volatile {word} {bits} *)p" if opencl else f"({bits} *)p"
    if op == "cas":
        seen = f"{cas}({cell}, PG_BITS_{upper}(e), PG_BITS_{upper}(x))"
        return (
            f"volatile {word} {kind} *p, {kind} e, {kind} x",
            f"return PG_FROM_BITS_{upper}({seen});",
        )
    if op[:3] == "nan":  # a NaN in memory is replaced, a NaN argument changes nothing
        order = ">=" if op == "nanmax" else "<="
        body = (
            f"{bits} was = PG_BITS_{upper}(*p); for (;;) {{ "
            f"{kind} f = PG_FROM_BITS_{upper}(was); if (x != x || f {order} x) return f; "
            f"{bits} seen = {cas}({cell}, was, PG_BITS_{upper}(x)); "
            "if (seen == was) return f; was = seen; }"
        )
    else:
        body = (
            f"{bits} was = PG_BITS_{upper}(*p), seen; "
            f"while ((seen = {cas}({cell}, was, PG_BITS_{upper}(x))) != was) was = seen; "
            f"return PG_FROM_BITS_{upper}(was);"
        )
    return f"volatile {word} {kind} *p, {kind} x", body


def _loop(op: str, code: str, space: str, word: str, opencl: bool) -> tuple[str, str]:
    """The same for a function of integers."""
    kind, cas = f"pg_{code}", f"pg_{space}atomic_cas_{code}"
    cell = "p" if opencl else f"({kind} *)p"
    wanted = _WANTED[op]
    if op in ("inc", "dec") and code[0] == "i":  # compared as unsigned numbers, as in CUDA
        u = f"(pg_u{code[1:]})"
        wanted = wanted.replace("was >= x", f"{u}was >= {u}x").replace("was > x", f"{u}was > {u}x")
    body = (
        f"{kind} was = *p, seen; "
        f"while ((seen = {cas}({cell}, was, ({kind})({wanted}))) != was) "
        "was = seen; return was;"
    )
    return f"volatile {word} {kind} *p, {kind} x", body


def _atomic_function(fc: FunctionContext, op: str, t: ArrayType, node: ast.AST) -> str:
    """Return the name of the C function for an operation on items of an array."""
    code = dtypes.code(t.dtype)
    if code not in ("i32", "u32", "i64", "u64", "f32", "f64"):
        raise WrongCall(f"atomic operations work on 32 and 64 bit numbers, not on {t.dtype}")
    if code[0] == "f" and op in ("and", "or", "xor", "inc", "dec"):
        raise WrongCall(f"atomic.{op} works on integers, not on {t.dtype}")
    if op[:3] == "nan" and code[0] in "iu":
        op = op[3:]
    unit = fc.unit
    if t.dtype.itemsize == 8 and not unit.int64_atomics:
        raise fc.source.error("the device has no 64-bit atomic functions", node)
    if t.space not in ("global", "local"):
        raise WrongCall("atomic operations work on global and shared arrays")
    unit.features.add("atomics")
    space = "local_" if t.space == "local" else ""
    if op in ("add", "min", "max") or (op == "cas" and code[0] in "iu"):
        return f"pg_{space}atomic_{op}_{code}"
    word = "PG_LOCAL_PTR" if t.space == "local" else "PG_GLOBAL"
    if op in _NATIVE_32 and code in ("i32", "u32"):
        return _NATIVE_32[op][unit.dialect == "opencl"]
    name = f"pgu_{space}atomic_{op}_{code}"
    if name in unit.definitions:
        return name
    loop = _loop_by_bits if code[0] == "f" else _loop
    declared, body = loop(op, code, space, word, unit.dialect == "opencl")
    unit.definitions[name] = f"PG_INLINE pg_{code} {name}({declared}) {{ {body} }}\n"
    return name


def _atomic(op: str, doc: str) -> Any:
    nargs = 4 if op == "cas" else 3

    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(f"atomic.{op}", args, kwargs, nargs, nargs)
        array = args[0]
        if not array.is_array:
            raise WrongCall(f"atomic.{op}() takes an array, an index and a number")
        t = array.type
        assert isinstance(t, ArrayType)
        index = list(args[1].items) if args[1].is_tuple else [args[1]]
        if len(index) != t.ndim:
            raise WrongCall(f"{len(index)} indices for an array of {t.ndim} dimensions")
        return _call(fc, node, op, t, item_address(fc, array, index, node), args[2:])

    return Intrinsic(f"atomic.{op}", emitter, doc)


def _call(
    fc: FunctionContext,
    node: ast.Call,
    op: str,
    t: ArrayType,
    address: tuple[str, str],
    values: list[Value],
) -> Value:
    item = Scalar(t.dtype)
    fc.need_dtype(t.dtype, node)
    values = [fc.as_number(v, node) for v in values]
    if op == "sub":
        negative = call_ufunc(fc, node, "negative", [Value(item, emit.convert(values[0], item))])
        op, values = "add", negative
    function = _atomic_function(fc, op, t, node)
    if any(v.dtype.kind == "c" for v in values):
        raise WrongCall(f"atomic.{op}: a complex number for an array of {t.dtype}")
    texts = ", ".join(emit.convert(v, item) for v in values)
    fc.may_write = True
    pointer, i = address
    if isinstance(i, Checked):
        function = checked_atomic(fc, t, function, len(values), i)
        return kept(fc, Value(item, f"{function}({pointer}, {i}, {texts})"))
    where = f"{pointer} + {i}" if i != "0" else pointer
    return kept(fc, Value(item, f"{function}({where}, {texts})"))


class _Atomic:
    """Atomic operations on items of arrays; each returns the previous value.

    ``atomic.add(array, index, value)``; index is a number, or a tuple.
    """

    add = _atomic("add", "array[index] += value")
    sub = _atomic("sub", "array[index] -= value")
    max = _atomic("max", "array[index] = max(array[index], value); a NaN value is ignored")
    min = _atomic("min", "array[index] = min(array[index], value); a NaN value is ignored")
    nanmax = _atomic("nanmax", "as max; a NaN in the array is ignored as well")
    nanmin = _atomic("nanmin", "as min; a NaN in the array is ignored as well")
    exch = _atomic("exch", "array[index] = value")
    and_ = _atomic("and", "array[index] &= value")
    or_ = _atomic("or", "array[index] |= value")
    xor = _atomic("xor", "array[index] ^= value")
    inc = _atomic("inc", "array[index] = 0 if array[index] >= value else array[index] + 1")
    dec = _atomic("dec", "array[index] -= 1, from 0 or above value to value")
    cas = _atomic("cas", "cas(array, index, old, value): set it if it is old")

    def __getattr__(self, name: str) -> Any:
        names = ", ".join(sorted(n.rstrip("_") for n in vars(type(self)) if n[0] != "_"))
        raise AttributeError(f"there is no atomic.{name}; there are {names}")

    @staticmethod
    def _compare_and_swap(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count("atomic.compare_and_swap", args, kwargs, 3, 3)
        if not args[0].is_array:
            raise WrongCall("atomic.compare_and_swap() takes an array")
        t = args[0].type
        assert isinstance(t, ArrayType)
        address = args[0].text, "0"
        if t.ndim and fc.unit.checks:
            address = item_address(fc, args[0], [constant(fc, 0, node)] * t.ndim, node)
        return _call(fc, node, "cas", t, address, args[1:])

    def __init__(self) -> None:
        self.compare_and_swap = Intrinsic(
            "atomic.compare_and_swap",
            self._compare_and_swap,
            "compare_and_swap(array, old, value): of the first item",
        )


atomic = _Atomic()
