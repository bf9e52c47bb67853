"""Placeholders for arrays while a function of ``pygpu.fuse`` is traced: operators, methods,
NumPy's functions and those of ``pygpu.xp``."""

from __future__ import annotations

import operator
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from pygpu import _array
from pygpu._array import GPUArray
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.ufunc_loops import NAMES, STANDARD_NAMES

from . import layout
from .trace import REDUCTIONS, Number, Tracer, Untraceable, _Operators, _where
from .trace_recorder import Recorder

# The number of items in their results is known only after they have run.
_DATA_DEPENDENT = frozenset(
    "nonzero flatnonzero argwhere unique unique_all unique_counts unique_inverse unique_values "
    "extract compress trim_zeros intersect1d union1d setdiff1d setxor1d bincount".split()
)
_TO_HOST = frozenset(
    "get get_async item tolist tobytes dump dumps map_to_host set set_async ptr gpudata data "
    "base_data events add_event finish wait synchronize to_dlpack __dlpack__ "
    "__cuda_array_interface__".split()
)
_CHANGE_FIRST = frozenset(
    (np.place, np.put, np.put_along_axis, np.putmask, np.fill_diagonal, np.copyto)
)
_CHANGE_SELF = frozenset("sort partition put fill setfield byteswap".split())
_CONSTANTS = {"zeros": 0, "ones": 1, "empty": 0}
_WHOLE = frozenset(("ceil", "floor", "rint", "trunc"))
_PLAIN_INDICES = (int, np.integer, slice, type(None), type(Ellipsis))
_state = threading.local()


class tracing:
    """Context manager: calls of pygpu.xp in this thread belong to a traced function."""

    def __init__(self, graph: Recorder) -> None:
        self.graph = graph

    def __enter__(self) -> None:
        self.before = getattr(_state, "graph", None)
        _state.graph = self.graph
        _array._tracing(1)

    def __exit__(self, *error: Any) -> None:
        _state.graph = self.before
        _array._tracing(-1)


class _Probe:
    """Finds out how many references an operand of an in-place operator has: see _temporary()."""

    def __init__(self) -> None:
        self.count = 0

    def __iadd__(self, other: Any) -> Any:
        self.count = sys.getrefcount(other)
        return self


def _temporary() -> int:
    """Return the reference count of an operand that is a temporary; 0 if that cannot be
    distinguished."""
    probe, kept = _Probe(), object()
    probe += kept
    of_kept = probe.count
    probe += object()
    return probe.count if probe.count < of_kept else 0


_TEMPORARY = _temporary()


def _inplace(name: str) -> Callable[..., Any]:
    calculate = getattr(operator, name)

    def apply(self: TracedArray, other: Any) -> Any:
        dead = other if sys.getrefcount(other) <= _TEMPORARY else None
        self._update(calculate(self, other), dead)
        return self

    return apply


class TracedArray(Tracer):
    """A placeholder for an array of known shape: a node of the graph, or the array in a
    register."""

    graph: Recorder

    def __init__(self, graph: Recorder, node_id: int) -> None:
        self.graph = graph
        self._node_id, self._register = node_id, -1
        graph.live.add(self)

    @property
    def node_id(self) -> int:  # type: ignore[override]
        return self._node_id if self._register < 0 else self.graph.leaf(self._register)

    @property
    def is_lazy(self) -> bool:
        return self._register < 0

    def assign_register(self, register: int) -> None:
        self._register = register

    def move(self, node_id: int) -> None:
        self._node_id = node_id

    def _array(self) -> Any:
        """The array in the traced call."""
        self.graph.shaped = True
        return self.graph.values[self.graph.assign_register(self)]

    # ---- attributes

    @property
    def shape(self) -> tuple[int, ...]:
        self.graph.shaped = True
        return self.graph.shapes[self.node_id]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    def __len__(self) -> int:  # type: ignore[override]
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    # ---- items

    def _insertion(self, key: Any) -> tuple[int, ...] | None:
        """Return the shape for an index that only inserts axes."""
        keys = key if isinstance(key, tuple) else (key,)
        if (
            not all(
                k is None or k is Ellipsis or (isinstance(k, slice) and k == slice(None))
                for k in keys
            )
            or None not in keys
        ):
            return None
        dots = sum(k is Ellipsis for k in keys)
        taken = sum(isinstance(k, slice) for k in keys)
        if dots > 1 or taken > self.ndim:
            return None
        rest = list(self.shape)
        if not dots:
            keys = (*keys, Ellipsis)
        shape: list[int] = []
        for k in keys:
            if k is None:
                shape.append(1)
            elif k is Ellipsis:
                n = self.ndim - taken
                shape += rest[:n]
                del rest[:n]
            else:
                shape.append(rest.pop(0))
        return tuple(shape)

    def __getitem__(self, key: Any) -> Any:
        self.graph.shaped = True
        if self.is_lazy and (shape := self._insertion(key)) is not None:
            return self.graph.insert(self, shape)
        keys = key if isinstance(key, tuple) else (key,)
        for k in keys:
            if isinstance(k, Tracer) and k.dtype.kind == "b":
                _refuse_shape("a[mask]")
            if isinstance(k, Number):
                k.__index__()
        if all(isinstance(k, _PLAIN_INDICES) for k in keys):
            register = self.graph.assign_register(self)
            view = self.graph.values[register][key]
            if isinstance(view, GPUArray):
                return self.graph.placeholder(self.graph.view(register, view))
        return self.graph.opaque(operator.getitem, (self, key), {})

    def __setitem__(  # type: ignore[override]
        self, key: Any, value: Any
    ) -> None:
        keys = key if isinstance(key, tuple) else (key,)
        if any(isinstance(k, Number) for k in keys):
            keys[0].__index__()
        register = self.graph.assign_register(self)
        if isinstance(value, (list, tuple)):
            value = np.asarray(value)
        if not isinstance(
            value, (TracedArray, Number, np.ndarray, np.generic, int, float, complex)
        ):
            raise Untraceable(
                f"fuse: items cannot be set to a {type(value).__name__}; use an array or a number"
            )
        if all(isinstance(k, _PLAIN_INDICES) for k in keys):
            view = self.graph.values[register][key]
            if isinstance(value, TracedArray) and not value.is_lazy:
                if _is_same(view, self.graph.values[value._register]):
                    return
            self.graph.write(self.graph.view(register, view), value)
            return
        if isinstance(value, Number):
            raise Untraceable(
                "fuse: items selected by an array cannot be set to a number that is an argument; "
                "declare it by pygpu.fuse(static=...)"
            )
        self.graph.opaque(_setitem, (self, key, value), {}, (self,))

    def _update(self, value: Any, dead: Any = None) -> None:
        """Store an in-place operator's result. dead: an operand that is no longer referenced."""
        if isinstance(value, Number):
            raise Untraceable(
                "fuse: an in-place operator cannot replace an array by a number; use a[...] = x"
            )
        shape = self.graph.shapes[self.node_id]
        if layout.broadcast_shapes(self.graph.shapes[value.node_id], shape) != shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {shape} doesn't match the broadcast "
                f"shape {self.graph.shapes[value.node_id]}"
            )
        if not np.can_cast(value.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"fuse: cannot cast from {value.dtype} to {self.dtype} with casting rule "
                "'same_kind'"
            )
        if self.is_lazy and self.graph.shapes[value.node_id] == shape:
            self._node_id = (
                value.astype(self.dtype).node_id if value.dtype != self.dtype else value.node_id
            )
            return
        self.graph.write(self.graph.assign_register(self), value, casting="same_kind", dead=dead)

    __iadd__, __isub__, __imul__ = _inplace("add"), _inplace("sub"), _inplace("mul")
    __itruediv__, __ifloordiv__ = _inplace("truediv"), _inplace("floordiv")
    __imod__, __ipow__ = _inplace("mod"), _inplace("pow")
    __iand__, __ior__, __ixor__ = _inplace("and_"), _inplace("or_"), _inplace("xor")
    __ilshift__, __irshift__ = _inplace("lshift"), _inplace("rshift")
    __imatmul__ = _inplace("matmul")

    def __matmul__(self, other: Any) -> Any:
        return self.graph.matmul(operator.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self.graph.opaque(operator.matmul, (other, self), {})

    def dot(self, b: Any, out: Any = None) -> Any:
        if out is None:
            return self.graph.matmul(np.dot, self, b)
        self.graph.opaque(_method, ("dot", self, b), {"out": out}, (out,))
        return out

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    # ---- functions

    def astype(self, dtype: Any, *args: Any, copy: bool = True, **options: Any) -> Any:
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        if not dtypes.is_numeric(np.dtype(dtype)):
            raise Untraceable(f"fuse: astype() to {dtype!r} is not supported")
        return super().astype(dtype)

    def copy(self, order: Any = None) -> Any:
        return super().astype(self.dtype)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def _reduce(
        self,
        kind: str,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        ddof: float = 0,
        **options: Any,
    ) -> Any:
        rest = {k: v for k, v in options.items() if not (v is None or (k == "where" and v is True))}
        if rest.get("correction") is not None and kind in ("var", "std"):
            ddof = rest.pop("correction")
        if out is not None or rest or isinstance(axis, (Tracer, Number)):
            every = {"axis": axis, "keepdims": keepdims, **rest}
            every |= {} if dtype is None else {"dtype": dtype}
            every |= {} if not ddof else {"ddof": ddof}
            if out is None:
                return self.graph.opaque(_method, ("_reduce", self, kind), every)
            self.graph.opaque(_method, ("_reduce", self, kind), {**every, "out": out}, (out,))
            return out
        given = {"axis": axis, "dtype": dtype, "keepdims": bool(keepdims), "ddof": ddof}
        return self.graph.reduce(kind, self, given)

    def fill(self, value: Any) -> Any:
        self[...] = value
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        options = {k: v for k, v in options.items() if v is not np._NoValue}
        outs = options.get("out")
        name = ufunc.__name__
        if method == "__call__" and set(options) <= {"out"} and name in NAMES and ufunc.nout == 1:
            made = self.graph.ufunc(name, inputs)
            if outs is None:
                return made
            if not isinstance(outs[0], TracedArray):
                raise Untraceable(f"fuse: out= of {name} is not an argument of the function")
            outs[0]._update(made)
            return outs[0]
        if name == "matmul" and method == "__call__" and not options:
            return self.graph.matmul(np.matmul, *inputs)
        if method == "reduce" and isinstance(inputs[0], Tracer) and outs is None:
            return super().__array_ufunc__(ufunc, method, *inputs, **options)
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        if method == "at":
            return self.graph.opaque(_at, (ufunc, *inputs), {}, (inputs[0],))
        if outs is not None:
            self.graph.opaque(function, inputs, options, [o for o in outs if o is not None])
            return outs[0] if ufunc.nout == 1 else outs
        return self.graph.opaque(function, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        options = {k: v for k, v in options.items() if v is not np._NoValue}
        return _numpy_function(self.graph, function, args, options)

    def __getattr__(self, name: str) -> Any:
        if name in REDUCTIONS or name == "ptp":
            if name == "ptp":
                return lambda *args, **options: self.graph.opaque(
                    _method, ("ptp", self, *args), options
                )
            return lambda *args, **options: self._reduce(name, *args, **options)
        if name in _TO_HOST:
            raise Untraceable(
                f"fuse: .{name} copies an array to the host or hands out its memory; call it "
                "outside, on what the function returns"
            )
        if name in _DATA_DEPENDENT:
            _refuse_shape(name)
        if name.startswith("_"):
            raise AttributeError(name)
        attribute = getattr(type(self.graph.like), name, None)
        if attribute is None:
            raise AttributeError(f"{type(self.graph.like).__name__!r} has no attribute {name!r}")
        if not callable(attribute):
            value = self.graph.like if name in ("backend", "device", "context", "queue") else None
            if value is not None:
                return getattr(value, name)
            made = getattr(self._array(), name)
            if isinstance(made, GPUArray):
                return self.graph.opaque(_attribute, (name, self), {})
            return made
        changes = (self,) if name in _CHANGE_SELF else ()

        def call(*args: Any, **options: Any) -> Any:
            out = options.get("out")
            if out is not None:
                self.graph.opaque(_method, (name, self, *args), options, (out,))
                return out
            return self.graph.opaque(_method, (name, self, *args), options, changes)

        return call


def _setitem(array: Any, key: Any, value: Any) -> None:
    array[key] = value


def _method(name: str, array: Any, *args: Any, **options: Any) -> Any:
    made = getattr(array, name)(*args, **options)
    return None if made is array and name in _CHANGE_SELF else made


def _attribute(name: str, array: Any) -> Any:
    return getattr(array, name)


def _at(ufunc: Any, *args: Any) -> None:
    ufunc.at(*args)


def _is_same(view: Any, value: Any) -> bool:
    """Whether both are the same items of the same memory."""
    return bool(
        view.base_data is value.base_data
        and (view.offset, view.dtype, view.shape, view.strides)
        == (value.offset, value.dtype, value.shape, value.strides)
    )


def _refuse_shape(name: str) -> NoReturn:
    raise Untraceable(
        f"fuse: the shape of the result of {name} depends on values, which are not known while the "
        "function is traced; call it outside"
    )


def _plain_dtype(x: Any) -> Any:
    return x.dtype if isinstance(x, Tracer) else x


# ---- NumPy's functions


def _full(graph: Recorder, like: Any, value: Any, options: dict[str, Any]) -> Any:
    dtype = np.dtype(options.get("dtype") or like.dtype)
    shape = options.get("shape")
    if shape is None:
        shape = like.shape
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if isinstance(value, (Tracer, Number)):
        made = graph.constant(0, shape, dtype)
        made[...] = value
        return made
    return graph.constant(value, shape, dtype)


def _numpy_function(graph: Recorder, function: Any, args: Any, options: Any) -> Any:
    name = function.__name__
    first = args[0] if args else None
    if name in _DATA_DEPENDENT:
        _refuse_shape(f"numpy.{name}")
    if name.startswith("a") and name[1:] in ("max", "min"):
        name = name[1:]
    if isinstance(first, TracedArray):
        if name in REDUCTIONS:
            axis = args[1] if len(args) > 1 else options.pop("axis", None)
            if len(args) <= 2:
                return first._reduce(name, axis, **options)
            if len(args) == 3 and name in ("sum", "prod", "mean", "var", "std"):
                return first._reduce(name, axis, args[2], **options)
        if name in ("zeros_like", "ones_like", "empty_like") and len(args) == 1:
            return _full(graph, first, _CONSTANTS[name[:-5]], options)
        if name == "full_like" and len(args) == 2:
            return _full(graph, first, args[1], options)
        if name == "clip" and not options and 1 < len(args) <= 3:
            return first.clip(*args[1:])
        if name in ("shape", "ndim", "size") and len(args) == 1:
            return getattr(first, name)
        if name == "dot" and len(args) == 2 and not options:
            return graph.matmul(np.dot, *args)
        if name == "copy":
            return first.copy()
        if name == "expand_dims":
            return _expanded(first, *args[1:], **options)
        if name == "astype" and len(args) == 2:
            return first.astype(args[1])
    if name == "where" and len(args) == 3 and not options:
        return _where(*(graph._operand(x) for x in args))
    if name in ("result_type", "can_cast", "min_scalar_type", "promote_types", "common_type"):
        return function(*map(_plain_dtype, args), **options)
    from .array_function import _table
    from .routines import table as array_table

    if function not in _table() and function not in array_table.makers(graph.like):
        raise Untraceable(f"fuse: numpy.{name} is not traced")
    out = options.get("out")
    if isinstance(out, TracedArray):
        graph.opaque(function, args, options, (out,))
        return out
    changes = (first,) if function in _CHANGE_FIRST else ()
    return graph.opaque(function, args, options, changes)


def _expanded(x: TracedArray, axis: Any = 0) -> Any:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = x.ndim + len(axes)
    inserted = set(layout.normalize_axes(tuple(axes), ndim))
    return x[tuple(None if k in inserted else slice(None) for k in range(ndim))]


# ---- pygpu.xp's functions


def _trace(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Handle a call of a function of pygpu.xp while a function is traced."""
    graph = getattr(_state, "graph", None)
    placeholders = [x for x in _placeholders(args)] + [
        x for x in _placeholders(tuple(options.values()))
    ]
    if graph is None and placeholders:
        graph = placeholders[0].graph
    if graph is None:
        return function(*args, **options)
    name = function.__name__
    if not placeholders:
        return _without_arrays(graph, function, name, args, options)
    if name in _DATA_DEPENDENT:
        _refuse_shape(f"xp.{name}")
    first = args[0] if args else None
    ufunc = STANDARD_NAMES.get(name, name)
    if ufunc in NAMES and not options and function.__module__.endswith(".xp"):
        if ufunc in _WHOLE and isinstance(first, TracedArray) and first.dtype.kind in "iu":
            ufunc = "positive"
        return graph.ufunc(ufunc, args)
    if name in ("result_type", "can_cast", "isdtype", "finfo", "iinfo"):
        return function(*map(_plain_dtype, args), **options)
    found = _xp_function(graph, name, args, dict(options))
    return graph.opaque(function, args, options) if found is NotImplemented else found


def _xp_function(graph: Recorder, name: str, args: Any, options: dict[str, Any]) -> Any:
    first = args[0] if args else None
    if name == "where" and len(args) == 3:
        return _where(*(graph._operand(x) for x in args))
    if not isinstance(first, TracedArray):
        return NotImplemented
    if name == "matmul" and len(args) == 2 and not options:
        return graph.matmul(np.matmul, *args)
    if name in REDUCTIONS and len(args) == 1:
        return first._reduce(name, **options)
    if name in ("zeros_like", "ones_like", "empty_like") and not options.get("device"):
        return _full(graph, first, _CONSTANTS[name[:-5]], options)
    if name == "full_like" and len(args) == 2 and not options.get("device"):
        return _full(graph, first, args[1], options)
    if name == "expand_dims":
        return _expanded(first, *args[1:], **options)
    if name == "astype" and len(args) == 2 and not options.get("device"):
        return first.astype(args[1], copy=options.get("copy", True))
    if name == "clip" and first.dtype.kind == "f":
        limits = (*args[1:], *options.values())
        if set(options) <= {"min", "max"} and all(
            x is None or isinstance(x, (int, float)) for x in limits
        ):
            return first.clip(*args[1:], **options)
    if name == "conj":
        return first.conj() if first.dtype.kind == "c" else +first
    return NotImplemented


def _without_arrays(
    graph: Recorder, function: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Handle a function that makes arrays, or returns information."""
    if name in ("zeros", "ones", "empty", "full"):
        value = args[1] if name == "full" and len(args) > 1 else options.get("fill_value")
        shape = args[0] if args else options.get("shape")
        rest = {k: v for k, v in options.items() if k in ("dtype", "device")}
        if not isinstance(value, (Number, Tracer)):
            like = function((), value, **rest) if name == "full" else function((), **rest)
            if like.backend is not graph.like.backend:
                raise ValueError(
                    f"xp.{name}: the arrays are on different devices or in different contexts; "
                    "name the device= of the other arrays"
                )
            lengths: Any = shape
            shape = (lengths,) if isinstance(lengths, (int, np.integer)) else tuple(lengths)
            return graph.constant(_CONSTANTS.get(name, value), shape, like.dtype)
    made = function(*args, **options)
    return graph.opaque(function, args, options) if isinstance(made, GPUArray) else made


def _placeholders(items: Sequence[Any]) -> Iterator[Any]:
    for x in items:
        if isinstance(x, _Operators):
            yield x
        elif isinstance(x, (tuple, list)):
            yield from _placeholders(x)


_array._set_trace(_trace)
