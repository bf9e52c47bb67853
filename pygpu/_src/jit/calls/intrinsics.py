"""Functions that exist only in kernels: thread indices, barriers, shared memory, shuffles, bits.

Each name here is an object that is meaningful only inside a kernel; the compiler asks it for its C
text (``emit_call``, ``emit_value``). Names and arguments are those of ``numba.cuda``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value
from ..types import BOOL, VOID, WEAK_INT, ArrayType, Scalar, TupleType
from ..walk.conditionals import choose
from ..walk.context import FunctionContext
from ..walk.conversions import item_type
from ..walk.operators import call_ufunc
from ..walk.registry import Args, Handler, Kwargs, WrongCall, count, one_array
from . import opencl_warps

__all__ = [
    "activemask",
    "all_sync",
    "any_sync",
    "ballot_sync",
    "blockDim",
    "blockIdx",
    "brev",
    "cbrt",
    "clz",
    "const",
    "eq_sync",
    "ffs",
    "fma",
    "grid",
    "gridDim",
    "gridsize",
    "laneid",
    "lanemask_lt",
    "local",
    "match_all_sync",
    "match_any_sync",
    "nanosleep",
    "popc",
    "selp",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "syncwarp",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "warpsize",
]

_I32, _U32 = Scalar(np.dtype("i4")), Scalar(np.dtype("u4"))


class Intrinsic:
    """A function for kernels."""

    def __init__(self, name: str, emitter: Handler, doc: str) -> None:
        self.__name__ = name
        self.__doc__ = doc
        self.emit_call = emitter

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.__name__}() can only be called in a kernel")

    def __repr__(self) -> str:
        return f"<{self.__name__} of kernels>"


class IndexPart:
    """A number such as threadIdx.x."""

    def __init__(self, name: str, text: str, dtype: str = "") -> None:
        self.name = name
        self.text = text

    def emit_value(self, fc: FunctionContext, node: ast.AST) -> Value:
        return Value(WEAK_INT, self.text, nonneg=True)

    def __repr__(self) -> str:
        return f"<{self.name} of kernels>"


class Index3:
    """threadIdx and similar objects, with components x, y, z."""

    def __init__(self, name: str, macro: str) -> None:
        self._name = name
        for d, letter in enumerate("xyz"):
            setattr(self, letter, IndexPart(f"{name}.{letter}", f"((pg_i64){macro}({d}))"))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._name} has x, y and z, not {name!r}")

    def __repr__(self) -> str:
        return f"<{self._name} of kernels>"


threadIdx = Index3("threadIdx", "PG_LOCAL_ID")
blockIdx = Index3("blockIdx", "PG_GROUP_ID")
blockDim = Index3("blockDim", "PG_SIZE")
gridDim = Index3("gridDim", "PG_GROUPS")


class _Warp(IndexPart):
    def emit_value(self, fc: FunctionContext, node: ast.AST) -> Value:
        _warps(fc, node, self.name)
        return super().emit_value(fc, node)


_FLAT = "(PG_LOCAL_ID(0) + PG_SIZE(0) * (PG_LOCAL_ID(1) + PG_SIZE(1) * PG_LOCAL_ID(2)))"
laneid = _Warp("laneid", f"((pg_i64)({_FLAT} % 32))")
warpsize = _Warp("warpsize", "32")


def intrinsic(doc: str) -> Callable[[Handler], Any]:
    def make(emitter: Handler) -> Intrinsic:
        return Intrinsic(emitter.__name__.rstrip("_"), emitter, doc)

    return make


def _warps(fc: FunctionContext, node: ast.AST, name: str) -> None:
    if not fc.unit.warps:
        raise fc.source.error(
            f"{name}: of OpenCL devices only NVIDIA's have warps of 32; use shared memory", node
        )


def _warp_call(fc: FunctionContext, name: str, value: Value | Scalar, *args: str) -> str:
    """The call of a function of warps, of which there is one for each type in OpenCL C."""
    if fc.unit.dialect == "cuda":
        return f"__{name}({', '.join(args)})"
    kind = value.type if isinstance(value, Value) else value
    assert isinstance(kind, Scalar)
    full = opencl_warps.function(fc.unit.definitions, name, emit.c_type(kind).removeprefix("pg_"))
    return f"{full}({', '.join(args)})"


def _dimensions(args: Args, kwargs: Kwargs, name: str) -> int:
    count(name, args, kwargs, 1, 1)
    if args[0].const not in (1, 2, 3):
        raise WrongCall(
            f"{name}() takes the number of dimensions, 1, 2 or 3, as a constant "
            "(RequireLiteralValue)"
        )
    return int(args[0].const)


def _per_dimension(macro: str, n: int) -> Value:
    items = [Value(WEAK_INT, f"{macro}({d})", nonneg=True) for d in range(n)]
    return items[0] if n == 1 else Value(TupleType((WEAK_INT,) * n), items=items)


@intrinsic("This thread among all of the grid: an int for grid(1), tuples for grid(2), grid(3).")
def grid(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    return _per_dimension("PG_ID", _dimensions(args, kwargs, "grid"))


@intrinsic("How many threads the grid has: an int for gridsize(1), else a tuple.")
def gridsize(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    return _per_dimension("PG_IDS", _dimensions(args, kwargs, "gridsize"))


# ---- barriers and fences


def _statement(name: str, text: str, doc: str) -> Any:
    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(name, args, kwargs, 0, 0)
        fc.statement_only(node, f"{name}()")
        fc.emit(f"{text};")
        return Value(VOID)

    return Intrinsic(name, emitter, doc)


syncthreads = _statement(
    "syncthreads", "PG_BARRIER_GLOBAL", "Wait for all threads of the block, and for their writes."
)
threadfence = _statement("threadfence", "PG_FENCE", "Order writes for all threads of the device.")
threadfence_block = _statement(
    "threadfence_block", "PG_FENCE_GROUP", "Order writes for the threads of the block."
)
threadfence_system = _statement(
    "threadfence_system", "PG_FENCE_SYSTEM", "Order writes; the same as threadfence on OpenCL."
)


def _vote(name: str, how: str, doc: str) -> Any:
    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(name, args, kwargs, 1, 1)
        fc.statement_only(node, f"{name}()")
        test = emit.truth(fc.as_number(args[0], node))
        temp = fc.temp("pg_i32 ")
        if fc.unit.dialect == "cuda":
            fc.emit(f"{temp} = __{name}((int){test});")
            return Value(_I32, temp, nonneg=True)
        votes = "pgs_votes"
        fc.need_implicit(votes, f"PG_LOCAL_PTR pg_i32 *{votes}", f"PG_LOCAL pg_i32 {votes}[1];")
        fc.unit.features.add("atomics")
        flag = temp
        fc.emit("PG_BARRIER;")
        fc.emit(f"if (PG_LOCAL_ID(0) + PG_LOCAL_ID(1) + PG_LOCAL_ID(2) == 0) {votes}[0] = 0;")
        fc.emit("PG_BARRIER;")
        counted = f"!{test}" if how == "all" else test
        fc.emit(f"if ({counted}) pg_local_atomic_add_i32({votes}, 1);")
        fc.emit("PG_BARRIER_GLOBAL;")
        result = {"count": f"{votes}[0]", "all": f"{votes}[0] == 0", "any": f"{votes}[0] != 0"}
        fc.emit(f"{flag} = {result[how]};")
        return Value(_I32, flag, nonneg=True)

    return Intrinsic(name, emitter, doc)


syncthreads_count = _vote(
    "syncthreads_count",
    "count",
    "A barrier that counts the threads for which the argument is true.",
)
syncthreads_and = _vote("syncthreads_and", "all", "A barrier: whether it is true for all.")
syncthreads_or = _vote("syncthreads_or", "any", "A barrier: whether it is true for any.")


# ---- warps


@intrinsic("Wait for the threads of the warp that the mask names, all by default.")
def syncwarp(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("syncwarp", args, kwargs, 0, 1)
    _warps(fc, node, "syncwarp")
    fc.statement_only(node, "syncwarp()")
    mask = emit.convert(args[0], _U32) if args else "0xffffffffu"
    is_cuda = fc.unit.dialect == "cuda"
    fc.emit(f"__syncwarp({mask});" if is_cuda else opencl_warps.SYNCWARP.format(mask))
    return Value(VOID)


def _mask(value: Value) -> str:
    """Return a mask of threads; -1 stands for all."""
    if not value.is_scalar or value.dtype.kind not in "iu":
        raise WrongCall(f"Mask type must be an integer, not {value.type}")
    if value.is_const and isinstance(value.const, int):
        return f"0x{value.const & 0xFFFFFFFF:x}u"
    return f"((pg_u32){value.text})"


def _shuffle(name: str, doc: str) -> Any:
    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(name, args, kwargs, 3, 3)
        _warps(fc, node, name)
        value = fc.as_number(args[1], node)
        t = Scalar(value.dtype)
        if t.dtype.kind == "c":
            raise WrongCall(f"{name}() is not supported for {value.type}")
        other = emit.convert(args[2], _I32)
        text = _warp_call(fc, name, t, _mask(args[0]), emit.convert(value, t), other)
        return kept(fc, Value(t, f"(({emit.c_type(t)}){text})"))

    return Intrinsic(name, emitter, doc)


shfl_sync = _shuffle("shfl_sync", "shfl_sync(mask, value, lane): the value of another lane.")
shfl_up_sync = _shuffle("shfl_up_sync", "shfl_up_sync(mask, value, delta): of a lane below.")
shfl_down_sync = _shuffle("shfl_down_sync", "shfl_down_sync(mask, value, delta): of a lane above.")
shfl_xor_sync = _shuffle("shfl_xor_sync", "shfl_xor_sync(mask, value, bits): lane ^ bits.")


def _ballot(name: str, doc: str) -> Any:
    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(name, args, kwargs, 2, 2)
        _warps(fc, node, name)
        test = fc.as_number(args[1], node)
        if test.dtype.kind not in "biu":
            raise WrongCall(f"Predicate must be an integer or boolean, not {test.type}")
        text = _warp_call(fc, name, _I32, _mask(args[0]), f"(int){emit.truth(test)}")
        if name == "ballot_sync":
            return kept(fc, Value(_U32, text, nonneg=True))
        return kept(fc, Value(BOOL, f"((pg_b8)({text} != 0))"))

    return Intrinsic(name, emitter, doc)


ballot_sync = _ballot("ballot_sync", "ballot_sync(mask, predicate): a bit for each lane.")
all_sync = _ballot("all_sync", "all_sync(mask, predicate): whether it is true for all lanes.")
any_sync = _ballot("any_sync", "any_sync(mask, predicate): whether it is true for any lane.")


@intrinsic("The lanes of the warp that are active, as bits.")
def activemask(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("activemask", args, kwargs, 0, 0)
    _warps(fc, node, "activemask")
    return kept(fc, Value(_U32, _warp_call(fc, "activemask", _U32), nonneg=True))


@intrinsic("The lanes below this one, as bits.")
def lanemask_lt(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("lanemask_lt", args, kwargs, 0, 0)
    _warps(fc, node, "lanemask_lt")
    return Value(_U32, f"((1u << ({_FLAT} % 32)) - 1u)", nonneg=True)


@intrinsic("eq_sync(mask, predicate): whether it is the same for all lanes.")
def eq_sync(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("eq_sync", args, kwargs, 2, 2)
    _warps(fc, node, "eq_sync")
    test = fc.keep(Value(BOOL, emit.truth(fc.as_number(args[1], node)))).text
    mask = fc.keep(Value(_U32, _mask(args[0]))).text
    voted = _warp_call(fc, "ballot_sync", _I32, mask, f"(int){test}")
    seen = fc.keep(Value(_U32, voted)).text
    return Value(BOOL, f"((pg_b8)({seen} == 0 || {seen} == {mask}))")


def _match(name: str, doc: str) -> Any:
    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(name, args, kwargs, 2, 2)
        _warps(fc, node, name)
        value = fc.as_number(args[1], node)
        if value.dtype.kind == "c" or value.dtype.itemsize < 4:
            raise WrongCall(f"{name}() is not supported for {value.type}")
        text = emit.convert(value, Scalar(value.dtype))
        if name == "match_any_sync":
            found = _warp_call(fc, name, value, _mask(args[0]), text)
            return kept(fc, Value(_U32, found, nonneg=True))
        fc.statement_only(node, f"{name}()")
        same = fc.temp("int ")
        found = _warp_call(fc, name, value, _mask(args[0]), text, f"&{same}")
        mask = fc.keep(Value(_U32, found, nonneg=True))
        items = [mask, Value(BOOL, f"((pg_b8)({same} != 0))")]
        return Value(TupleType((_U32, BOOL)), items=items)

    return Intrinsic(name, emitter, doc)


match_any_sync = _match("match_any_sync", "match_any_sync(mask, value): lanes with the same value.")
match_all_sync = _match(
    "match_all_sync",
    "match_all_sync(mask, value): the mask if all lanes have the same value, else 0; and whether.",
)


@intrinsic("nanosleep(ns): suspend the thread for about so many nanoseconds.")
def nanosleep(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("nanosleep", args, kwargs, 1, 1)
    _warps(fc, node, "nanosleep")
    fc.statement_only(node, "nanosleep()")
    time = emit.convert(fc.as_number(args[0], node), _U32)
    is_cuda = fc.unit.dialect == "cuda"
    fc.emit(f"__nanosleep({time});" if is_cuda else opencl_warps.NANOSLEEP.format(time))
    return Value(VOID)


# ---- bits


def _bits(name: str, cuda32: str, cuda64: str, opencl: str, doc: str) -> Any:
    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(name, args, kwargs, 1, 1)
        value = fc.as_number(args[0], node)
        if value.dtype.kind not in "iu":
            raise WrongCall(f"{name}() takes an integer")
        wide = value.dtype.itemsize == 8
        text = emit.convert(value, Scalar(np.dtype("u8" if wide else "u4")))
        bits = 64 if wide else 32
        if fc.unit.dialect == "cuda":
            return Value(_I32, f"{(cuda64 if wide else cuda32)}({text})", nonneg=True)
        return Value(
            _I32, f"((pg_i32){opencl.format(x=text, n=bits, t=f'pg_u{bits}')})", nonneg=True
        )

    return Intrinsic(name, emitter, doc)


popc = _bits("popc", "__popc", "__popcll", "popcount({x})", "How many bits are set.")
clz = _bits("clz", "__clz", "__clzll", "clz({x})", "How many leading bits are not set.")
ffs = _bits(
    "ffs",
    "__ffs",
    "__ffsll",
    "({n} - clz(({t})({x} & (({t})0 - {x}))))",
    "The lowest bit that is set, from 1; 0 if there is none.",
)


@intrinsic("The bits of an integer in reverse order.")
def brev(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("brev", args, kwargs, 1, 1)
    value = fc.as_number(args[0], node)
    wide = value.dtype.itemsize == 8
    bits = 64 if wide else 32
    name = f"pgu_brev_u{bits}"
    fc.unit.definitions.setdefault(
        name,
        f"PG_INLINE pg_u{bits} {name}(pg_u{bits} x) {{ pg_u{bits} r = 0; "
        f"for (int i = 0; i < {bits}; i++) {{ r = (r << 1) | (x & 1); x >>= 1; }} return r; }}\n",
    )
    t = Scalar(np.dtype(f"u{bits // 8}"))
    return Value(t, f"{name}({emit.convert(value, t)})", nonneg=True)


@intrinsic("fma(a, b, c): a * b + c, rounded once.")
def fma(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("fma", args, kwargs, 3, 3)
    kinds = [fc.as_number(a, node) for a in args]
    # Otherwise all are literals.
    strong = [a.dtype for a in kinds if not a.is_weak] or [np.dtype("f8")]
    t = Scalar(dtypes.result_type(*strong))
    if t.dtype.kind != "f" or t.dtype.itemsize == 2:
        raise WrongCall("fma() takes float32 or float64")
    fc.need_dtype(t.dtype, node)
    return Value(t, f"fma({', '.join(emit.convert(a, t) for a in args)})")


@intrinsic("cbrt(x): the cube root of a float32 or float64.")
def cbrt(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("cbrt", args, kwargs, 1, 1)
    result: Value = call_ufunc(fc, node, "cbrt", args)[0]
    return result


@intrinsic("selp(test, a, b): a if test else b, both evaluated.")
def selp(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("selp", args, kwargs, 3, 3)
    return choose(fc, node, emit.truth(fc.as_number(args[0], node)), args[1], args[2])


def kept(fc: FunctionContext, value: Value) -> Value:
    """Evaluate a value with side effects here, once, if possible."""
    if fc.conditional:
        return value
    result: Value = fc.keep(value)
    return result


# ---- arrays made in kernels


def _shape(fc: FunctionContext, args: Args, kwargs: Kwargs, name: str) -> tuple[Any, Any]:
    """Return the shape and the dtype of shared.array(shape, dtype)."""
    given = dict(zip(("shape", "dtype"), args))
    for key, value in kwargs.items():
        if key not in ("shape", "dtype", "alignment"):
            raise WrongCall(f"{name}() has no argument {key!r}")
        given[key] = value
    if "shape" not in given or "dtype" not in given:
        raise WrongCall(f"{name}() takes a shape and a dtype")
    shape = given["shape"]
    items = list(shape.items) if shape.is_tuple else [shape]
    sizes = []
    for item in items:
        n = item.const if item.is_const else None
        if isinstance(n, (int, np.integer)) and n < 0:
            raise WrongCall(f"the shape of {name}() cannot be negative: {n}")
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
            fc.unit.wants_constant = True
            raise WrongCall(
                f"the shape of {name}() must be constant: numbers, or names from outside of the "
                "kernel"
            )
        sizes.append(int(n))
    return tuple(sizes), given["dtype"]


_LOCAL_BYTES = 1 << 19  # per thread, as in CUDA


class _Space:
    """``shared``, ``local``."""

    def __init__(self, name: str, emitter: Handler, doc: str) -> None:
        self.array = Intrinsic(f"{name}.array", emitter, doc)
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name} memory of kernels>"


def _product(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _at_most(fc: FunctionContext, what: str, size: int, most: int, node: ast.AST) -> None:
    """Refuse sizes that are too large for the compiler, or for a stack."""
    if size > most:
        raise fc.source.error(f"{what} of {size} bytes is too large; at most {most}", node)


def _shared_array(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    fc.statement_only(node, "shared.array()")
    shape, named = _shape(fc, args, kwargs, "shared.array")
    dtype = item_type(fc, named, node)
    t = ArrayType(dtype, len(shape), True, "local")
    storage = dtypes.storage_type(t.dtype)
    size = _product(shape)
    if shape == (0,):  # the launch sets the number of bytes
        fc.need_implicit("pg_dynamic", "PG_LOCAL_PTR char *pg_dynamic", "dynamic")
        fc.need_implicit("pg_dynamic_bytes", "pg_i64 pg_dynamic_bytes", "dynamic")
        n = f"(pg_dynamic_bytes / {dtype.itemsize})"
        return Value(t, f"((PG_LOCAL_PTR {storage} *)pg_dynamic)", shape=[n])
    if size == 0:
        raise WrongCall("shared.array() needs at least one item")
    _at_most(fc, "shared.array()", size * dtype.itemsize, fc.unit.shared_bytes, node)
    key = ("shared", fc.source.function, node.lineno, node.col_offset)
    name = fc.unit.functions.get(key)
    if name is None:
        name = fc.unit.functions[key] = fc.unit.unique("pgs_shared")
    fc.need_implicit(name, f"PG_LOCAL_PTR {storage} *{name}", f"PG_LOCAL {storage} {name}[{size}];")
    return Value(t, name, shape=[str(n) for n in shape])


def _local_array(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    shape, named = _shape(fc, args, kwargs, "local.array")
    dtype = item_type(fc, named, node)
    size = _product(shape)
    if size == 0:
        raise WrongCall("local.array() needs at least one item")
    _at_most(fc, "local.array()", size * dtype.itemsize, _LOCAL_BYTES, node)
    t = ArrayType(dtype, len(shape), True, "private")
    call = fc.source.function, node.lineno, node.col_offset, dtype
    fc.unit.private_arrays[call] = size * dtype.itemsize
    name = fc.temp(f"{dtypes.storage_type(t.dtype)} ", f"[{size}]")
    return Value(t, name, shape=[str(n) for n in shape])


shared = _Space("shared", _shared_array, "shared.array(shape, dtype): memory of the block.")
local = _Space("local", _local_array, "local.array(shape, dtype): memory of the thread.")


class _Const:
    """``const``"""

    @staticmethod
    def _emit(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        return one_array("const.array_like", args, kwargs)

    def __init__(self) -> None:
        self.array_like = Intrinsic(
            "const.array_like", self._emit, "A NumPy array as a constant of the kernel."
        )


const = _Const()
