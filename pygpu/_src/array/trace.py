"""Functions of arrays as graphs: the placeholders for arrays while :func:`pygpu.fuse` runs a
function once, and the conversion of the graph to a kernel's source.

Each step computes what the same ufunc does on arrays: NumPy's types, rounded after each step (also
in float16), so a fused function gives the same bits as the plain one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.ufunc_loops import NAMES

from . import elementwise, ufuncs

REDUCTIONS = frozenset("sum prod min max argmin argmax any all mean var std count_nonzero".split())
# As in the operators of arrays.
_POWERS = {2: "square", 1: "positive", 0.5: "sqrt", -1: "reciprocal"}
_WIDE = ("f64", "i32", "u32", "i64", "u64", "c128")


class Untraceable(TypeError):
    """A function cannot be compiled to one kernel."""

    __module__ = "pygpu.fusion"  # where users find it


class Node(NamedTuple):
    """A step. kind: "array" (argument number), "number" (see Graph.numbers), "literal" (its text)
    or "step" (statements that set y0 from x0, ... of the dtypes *takes*)."""

    kind: str
    what: Any
    inputs: tuple[int, ...]
    takes: tuple[np.dtype[Any], ...]
    dtype: np.dtype[Any]
    helpers: str = ""


class Graph:
    """The steps of a function, without duplicates. language: the backend's name."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.nodes: list[Node] = []
        self.numbers: list[tuple[Callable[[Any], Any], type]] = []  # how to read it, its type
        self._ids: dict[Node, int] = {}

    def add(self, node: Node) -> int:
        node_id = self._ids.get(node)
        if node_id is None:
            node_id = self._ids[node] = len(self.nodes)
            self.nodes.append(node)
        return node_id

    def node_id(self, operand: Any, dtype: np.dtype[Any]) -> int:
        """Return the node of an operand of a step that takes *dtype*."""
        if isinstance(operand, Tracer):
            return operand.node_id
        if not isinstance(operand, Number):
            text = literal(operand, dtype)
            if text is not None:
                return self.add(Node("literal", text, (), (), dtype))
            operand = Number(self, partial(_constant, operand), operand)
        number = operand.read, type(operand.value)
        if number not in self.numbers:
            self.numbers.append(number)
        return self.add(Node("number", self.numbers.index(number), (), (), dtype))

    def ufunc(self, name: str, operands: tuple[Any, ...]) -> Any:
        """Add a step by the name of NumPy's ufunc."""
        if name not in NAMES:
            raise Untraceable(f"fuse: numpy.{name} is not an elementwise operation")
        if not any(isinstance(x, Tracer) for x in operands):
            return _on_numbers(self, getattr(np, name), operands)
        if name == "power" and type(operands[1]) in (int, float):
            special = _POWERS.get(operands[1])
            if special and isinstance(operands[0], Tracer) and operands[0].dtype.kind in "fc":
                name, operands = special, operands[:1]
        kinds = tuple(_kind(x) for x in operands)
        if getattr(np, name).nout != 1:
            raise Untraceable(f"fuse: {name} has two results, which is not supported")
        loop = ufuncs.resolve(name, (*kinds, None))
        if any(map(dtypes.is_date, loop)):
            raise Untraceable(f"fuse: {name} is not supported for dates and durations")
        if name == "power" and loop[0].kind in "iu" and kinds[1] is int:
            if isinstance(operands[1], Number) or operands[1] < 0:
                raise Untraceable(
                    "fuse: an integer cannot be raised to a power that is an argument; convert it "
                    "first"
                )
        operation = ufuncs.operation_for(name, loop[:-1], loop[-1:])
        return self.step(operation, operands)

    def step(self, operation: elementwise.Operation, operands: tuple[Any, ...]) -> Tracer:
        """Add a step by an Operation with one output."""
        node_ids = tuple(
            self.node_id(x, d) for x, d in zip(operands, operation.inputs, strict=True)
        )
        (dtype,) = operation.outputs
        node = Node("step", operation.body, node_ids, operation.inputs, dtype, operation.helpers)
        return Tracer(self, self.add(node))

    def needed(self, node_ids: tuple[int, ...], cut: Collection[int] = ()) -> list[int]:
        """Return the nodes on which these depend, in order; dependencies of nodes in *cut* are not
        followed."""
        found: set[int] = set()
        waiting = list(node_ids)
        while waiting:
            node_id = waiting.pop()
            if node_id not in found:
                found.add(node_id)
                if node_id not in cut:
                    waiting += self.nodes[node_id].inputs
        return sorted(found)

    def statement(self, node_id: int, name: str = "", inputs: Sequence[str] = ()) -> str:
        """Return the statement that sets a variable of a literal or a step from those of its
        inputs; without names, v<node_id>, and v<number> of each input."""
        node = self.nodes[node_id]
        name = name or f"v{node_id}"
        inputs = inputs or [f"v{k}" for k in node.inputs]
        kind = dtypes.compute_type(node.dtype)
        if node.kind == "literal":
            return f"PG_UNUSED const {kind} {name} = {node.what};"
        values = " ".join(
            f"PG_UNUSED const {dtypes.compute_type(d)} x{i} = "
            f"{dtypes.cast(inputs[i], self.nodes[j].dtype, d)};"
            for i, (j, d) in enumerate(zip(node.inputs, node.takes, strict=True))
        )
        rounded = dtypes.rounded(node.dtype, "y0")
        return f"{kind} {name}; {{ {values} {kind} y0; {node.what} {name} = {rounded}; }}"

    def text(
        self, node_ids: tuple[int, ...], cut: Collection[int] = ()
    ) -> tuple[list[int], str, str, frozenset[str]]:
        """Return (leaves, statements, helpers, features): the leaves are the nodes for x0, x1,
        ...; the statements store the value of each node in v<node_id>. cut: nodes to treat as
        leaves."""
        needed = self.needed(node_ids, cut)
        leaves = [k for k in needed if k in cut or self.nodes[k].kind in ("array", "number")]
        lines = [
            f"PG_UNUSED const {dtypes.compute_type(self.nodes[k].dtype)} v{k} = x{i};"
            for i, k in enumerate(leaves)
        ]
        steps = [k for k in needed if k not in cut and self.nodes[k].kind in ("literal", "step")]
        lines += map(self.statement, steps)
        helpers = dict.fromkeys(self.nodes[k].helpers for k in steps if self.nodes[k].helpers)
        seen: set[np.dtype[Any]] = set()
        for k in needed:
            seen.update((self.nodes[k].dtype, *self.nodes[k].takes))
        return leaves, "\n        ".join(lines), "".join(helpers), frozenset(dtypes.features(*seen))


def _constant(value: Any, args: Any) -> Any:
    return value


def literal(value: Any, dtype: np.dtype[Any]) -> str | None:
    """Return a number as C source of the compute type of *dtype*; None if it has no exact
    representation."""
    kind = dtypes.compute_type(dtype)
    if dtype.kind in "iu" and isinstance(value, (int, np.integer)):
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise Untraceable(f"fuse: the number {value} does not fit into {dtype}")
        if value == limits.min < 0:
            return f"(({kind})({int(value) + 1}{'L' if dtype.itemsize == 8 else ''}) - 1)"
        suffix = ("U" if dtype.kind == "u" else "") + ("L" if dtype.itemsize == 8 else "")
        return f"({kind})({int(value)}{suffix})"
    if dtype.kind == "f" and isinstance(value, (int, float, np.number)):
        with np.errstate(over="ignore"):
            number = elementwise.as_scalar(value, dtype)
        if np.isfinite(number):
            return f"({kind}){float(number).hex()}{'f' if kind == 'pg_f32' else ''}"
    if dtype.kind == "b" and isinstance(value, (bool, np.bool_)):
        return f"({kind}){int(value)}"
    return None


def _kind(operand: Any) -> Any:
    """Return the type that NumPy's promotion uses."""
    if isinstance(operand, Tracer):
        return operand.dtype
    value = operand.value if isinstance(operand, Number) else operand
    if isinstance(value, (bool, np.bool_)):
        return np.dtype(bool)
    if isinstance(value, np.generic):
        return value.dtype
    for kind in (int, float, complex):
        if isinstance(value, kind):
            return kind
    if isinstance(value, GPUArray):
        raise Untraceable(
            "fuse: an array that is not an argument of the function; make it one, so that the "
            "kernel reads it"
        )
    raise Untraceable(f"fuse: a {type(value).__name__} cannot be an operand")


def _on_numbers(graph: Graph, function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """Handle a function of numbers alone: it is computed on the host at each call."""
    for operand in operands:
        _kind(operand)  # raises for anything else
    values = [x.value if isinstance(x, Number) else x for x in operands]
    reads = [x.read if isinstance(x, Number) else None for x in operands]

    def read(args: Any) -> Any:
        return function(*(v if r is None else r(args) for v, r in zip(values, reads, strict=True)))

    return Number(graph, read, function(*values))


def _refuse(what: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *args: Any, **options: Any) -> NoReturn:
        raise Untraceable(
            f"fuse: {what}, and that is not known while the function is traced; "
            "use numpy.where() instead of if, and pygpu.fuse(static=...) for arguments whose "
            "values the function needs"
        )

    return refuse


_OPERATORS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "true_divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "power": "pow",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "left_shift": "lshift",
    "right_shift": "rshift",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "ne",
}


def _binary(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    on_numbers = getattr(operator, _OPERATORS.get(name, name))

    def apply(graph: Graph, a: Any, b: Any) -> Any:
        if isinstance(a, Tracer) or isinstance(b, Tracer):
            return graph.ufunc(name, (a, b))
        # The result of two Python floats is not np.float64.
        return _on_numbers(graph, on_numbers, (a, b))

    def forward(self: Any, other: Any) -> Any:
        return apply(self.graph, self, other)

    def backward(self: Any, other: Any) -> Any:
        return apply(self.graph, other, self)

    return forward, backward


class _Operators:
    """The operators of arrays and numbers in a traced function."""

    graph: Graph
    __array_priority__ = 200

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __truediv__, __rtruediv__ = _binary("true_divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide")
    __mod__, __rmod__ = _binary("remainder")
    __pow__, __rpow__ = _binary("power")
    __and__, __rand__ = _binary("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor")
    __lshift__, __rlshift__ = _binary("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift")
    __lt__, __gt__ = _binary("less")[0], _binary("greater")[0]
    __le__, __ge__ = _binary("less_equal")[0], _binary("greater_equal")[0]
    __eq__, __ne__ = _binary("equal")[0], _binary("not_equal")[0]
    __hash__ = object.__hash__

    def _unary(self, name: str, on_numbers: Callable[..., Any]) -> Any:
        if isinstance(self, Tracer):
            return self.graph.ufunc(name, (self,))
        return _on_numbers(self.graph, on_numbers, (self,))

    def __neg__(self) -> Any:
        return self._unary("negative", operator.neg)

    def __pos__(self) -> Any:
        return self._unary("positive", operator.pos)

    def __abs__(self) -> Any:
        return self._unary("absolute", operator.abs)

    def __invert__(self) -> Any:
        return self._unary("invert", operator.invert)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce" and isinstance(inputs[0], Tracer):
            from .protocols import _REDUCTIONS

            if ufunc.__name__ in _REDUCTIONS:
                options = {k: v for k, v in options.items() if v is not np._NoValue}
                return inputs[0]._reduce(
                    _REDUCTIONS[ufunc.__name__], options.pop("axis", 0), **options
                )
        if method != "__call__" or options:
            raise Untraceable(
                f"fuse: {ufunc.__name__} with options or its method {method} is not supported"
            )
        return self.graph.ufunc(ufunc.__name__, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        found = _functions().get(function)
        if found is None:
            raise Untraceable(f"fuse: numpy.{function.__name__} is not traced")
        options = {k: v for k, v in options.items() if v is not np._NoValue}
        return found(*args, **options)

    __array__ = _refuse("an argument is converted to a NumPy array")
    __bool__ = _refuse("the function asks whether a value is true")
    __float__ = __int__ = __complex__ = __index__ = _refuse("a value is converted to a number")
    __len__ = __iter__ = _refuse("the function asks for the length or the items of an array")
    __getitem__ = __setitem__ = _refuse("the function asks for items of an array")
    __matmul__ = __rmatmul__ = _refuse("a matrix product is more than one kernel")


class Number(_Operators):
    """A number among the arguments, or computed from them. read: returns it for a call's
    arguments; value: its value in the traced call."""

    def __init__(self, graph: Graph, read: Callable[[Any], Any], value: Any) -> None:
        self.graph, self.read, self.value = graph, read, value


class Reduced:
    """A reduction of the value of a node: the end of a function."""

    def __init__(
        self, kind: str, node_id: int, axis: Any, dtype: Any, keepdims: bool, ddof: float
    ) -> None:
        self.kind, self.node_id, self.axis, self.dtype = kind, node_id, axis, dtype
        self.keepdims, self.ddof = keepdims, ddof

    def __array_ufunc__(self, *args: Any, **options: Any) -> NoReturn:
        raise Untraceable("fuse: a reduction must be the last step of the function")

    __array_function__ = __array_ufunc__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __array_ufunc__
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __abs__ = __array_ufunc__
    __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = __bool__ = __float__ = __array_ufunc__


class Tracer(_Operators):
    """A placeholder for an array. It has a dtype, but no shape."""

    def __init__(self, graph: Graph, node_id: int) -> None:
        self.graph, self.node_id = graph, node_id

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.graph.nodes[self.node_id].dtype

    def astype(self, dtype: Any, *, copy: bool = True) -> Tracer:
        target = np.dtype(dtype)
        value = dtypes.cast("x0", self.dtype, target)
        if dtypes.code(target) == "f16" and dtypes.code(self.dtype) in _WIDE:  # round only once
            real = "x0.re" if self.dtype.kind == "c" else "x0"
            value = f"pg_from_f16(pg_to_f16d({real}))"
        operation = elementwise.Operation("astype", (self.dtype,), (target,), f"y0 = {value};")
        return self.graph.step(operation, (self,))

    def conj(self) -> Any:
        return self.graph.ufunc("conjugate", (self,)) if self.dtype.kind == "c" else self

    conjugate = conj

    def clip(self, min: Any = None, max: Any = None) -> Any:
        low = self if min is None else self.graph.ufunc("maximum", (self, min))
        return low if max is None else self.graph.ufunc("minimum", (low, max))

    def _reduce(
        self,
        kind: str,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        ddof: float = 0,
        **options: Any,
    ) -> Reduced:
        if out is not None or any(v is not None and v is not True for v in options.values()):
            raise Untraceable(f"fuse: {kind} does not support out=, initial= and where=")
        return Reduced(kind, self.node_id, axis, dtype, bool(keepdims), ddof)

    def __getattr__(self, name: str) -> Any:
        if name in REDUCTIONS:
            return lambda *args, **options: self._reduce(name, *args, **options)
        if name in ("shape", "size", "ndim", "nbytes", "strides", "T", "reshape", "ravel"):
            raise Untraceable(
                f"fuse: .{name} of an array is not known while the function is traced; do that "
                "outside of it"
            )
        raise AttributeError(
            f"{name}: arrays of a traced function have operators, astype, clip, conj and reductions"
        )


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    operands = (condition, then, otherwise)
    graph = next(x.graph for x in operands if isinstance(x, _Operators))
    if not any(isinstance(x, Tracer) for x in operands):
        return _on_numbers(graph, lambda c, a, b: np.asarray(np.where(c, a, b))[()], operands)
    kinds = [_kind(x) for x in operands]
    samples = [k(1) if isinstance(k, type) else k for k in kinds[1:]]
    dtype = np.result_type(*samples)
    test = np.dtype(bool) if isinstance(kinds[0], type) else kinds[0]
    text = "x0.re != 0 || x0.im != 0" if test.kind == "c" else "x0 != 0"
    body = f"if ({text}) y0 = x1; else y0 = x2;"
    operation = elementwise.Operation("where", (test, dtype, dtype), (dtype,), body)
    return graph.step(operation, operands)


_table: dict[Any, Any] = {}


def _functions() -> dict[Any, Any]:
    if not _table:
        for kind in REDUCTIONS:
            _table[getattr(np, kind)] = lambda a, *args, _kind=kind, **options: a._reduce(
                _kind, *args, **options
            )
        _table[np.where] = _where
        _table[np.clip] = lambda a, low=None, high=None: a.clip(low, high)
    return _table
