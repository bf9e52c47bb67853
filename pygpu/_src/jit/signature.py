"""Types and signatures in Numba's notation: ``float32``, ``int64[:, ::1]``, ``float64(float64,
float64)``, and all of these as strings.

>>> from pygpu._src.jit.signature import float32, parse
>>> parse("float32(float32, int64[:, :])")
float32(float32, array(int64, 2d, A))
>>> float32(float32, float32) == parse("f4(f4, f4)")
True
>>> float32(0.1)
np.float32(0.1)

NumPy's dtypes and scalar types stand for the same types. A layout "C" (``[:, ::1]``), "F" (``[::1,
:]``) or "A" is kept and printed; kernels accept arrays of any strides in all cases.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

__all__ = [
    "TYPES",
    "ArrayType",
    "ScalarType",
    "PointerType",
    "Signature",
    "TupleType",
    "Type",
    "Void",
    "as_type",
    "layout_of",
    "narrow",
    "parse",
    "signatures",
]


class Type:
    """The base of all these types, and of types that programs define."""

    __slots__ = ()

    def __init__(self, name: str = "") -> None:
        pass


class ScalarType(Type):
    """A type of numbers. Called with types, it returns the signature of a function with this
    result; called with a value, it converts it to a NumPy number; indexed with slices, it returns
    the type of an array."""

    __slots__ = ("dtype", "name")

    dtype: Any
    name: str

    def __init__(self, name: str, dtype: Any) -> None:
        self.name = name
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @property
    def bitwidth(self) -> int:
        """The number of its bits."""
        return 8 * int(self.dtype.itemsize)

    @property
    def underlying_float(self) -> ScalarType:
        """The type of a complex type's parts."""
        if self.dtype.kind != "c":
            raise AttributeError(f"{self.name} is not a complex type")
        return _SCALARS[np.dtype(f"f{self.dtype.itemsize // 2}")]

    def __call__(self, *args: Any) -> Any:
        if not args:
            return Signature(self, ())
        if all(_is_type(a) for a in args):
            return Signature(self, tuple(map(as_type, args)))
        if len(args) != 1:
            raise TypeError(f"{self.name}(...): either the types of parameters or one value")
        return np.asarray(args[0]).astype(self.dtype)[()]

    def __getitem__(self, index: Any) -> ArrayType:
        items = index if isinstance(index, tuple) else (index,)
        steps = []
        for item in items:
            if not isinstance(item, slice) or (item.start, item.stop) != (None, None):
                raise TypeError(
                    f"{self.name}[{index!r}]: the type of an array is written with a ':' for each "
                    "axis, '::1' for one whose items are neighbours"
                )
            steps.append(item.step)
        layout = "A"
        if steps[-1] == 1 and not any(steps[:-1]):
            layout = "C"
        elif steps[0] == 1 and not any(steps[1:]):
            layout = "F"
        elif any(steps):
            raise TypeError(f"{self.name}[...]: '::1' belongs to the first or to the last axis")
        return ArrayType(self.dtype, len(items), layout)

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScalarType) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> Any:
        return _scalar, (self.dtype,)


class ArrayType(Type):
    """The type of an array: dtype, number of axes, layout ("A", "C" or "F")."""

    __slots__ = ("dtype", "layout", "ndim")

    dtype: Any
    layout: str
    ndim: int

    def __init__(self, dtype: Any, ndim: int, layout: str = "A") -> None:
        self.dtype: np.dtype[Any] = np.dtype(getattr(dtype, "dtype", dtype))
        self.ndim, self.layout = ndim, layout

    def __call__(self, *args: Any) -> Signature:
        return Signature(self, tuple(map(as_type, args)))

    def __repr__(self) -> str:
        return f"array({self.dtype}, {self.ndim}d, {self.layout})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayType) and (other.dtype, other.ndim, other.layout) == (
            self.dtype,
            self.ndim,
            self.layout,
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.ndim, self.layout))


class PointerType(Type):
    """The type of an address of numbers, ``CPointer(float32)``: arguments are ints, and the memory
    is indexed like a one-dimensional array."""

    __slots__ = ("dtype",)
    is_pointer = True

    def __init__(self, dtype: Any) -> None:
        self.dtype: np.dtype[Any] = np.dtype(getattr(dtype, "dtype", dtype))

    def __repr__(self) -> str:
        return f"{self.dtype}*"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointerType) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(("pointer", self.dtype))


class TupleType(Type):
    """The type of several results: ``Tuple((float64, int32))``, ``UniTuple(float64, 2)``."""

    __slots__ = ("items",)

    items: tuple[Any, ...]

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = tuple(map(as_type, items))

    def __call__(self, *args: Any) -> Signature:
        return Signature(self, tuple(map(as_type, args)))

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self.items))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TupleType) and other.items == self.items

    def __hash__(self) -> int:
        return hash(self.items)


class Void(Type):
    """No result."""

    __slots__ = ()

    def __call__(self, *args: Any) -> Signature:
        return Signature(self, tuple(map(as_type, args)))

    def __repr__(self) -> str:
        return "none"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Void)

    def __hash__(self) -> int:
        return 0


class Signature:
    """Types of a function's arguments and result. returns: None if the signature does not say."""

    __slots__ = ("args", "returns")

    args: tuple[Any, ...]
    returns: Any

    def __init__(self, returns: Any, args: tuple[Any, ...]) -> None:
        self.returns, self.args = returns, args

    @property
    def return_type(self) -> Any:
        """Numba's name for returns."""
        return self.returns

    @property
    def results(self) -> tuple[np.dtype[Any], ...] | None:
        """The dtypes of the results; None if the signature does not say."""
        if self.returns is None:
            return None
        if isinstance(self.returns, Void):
            return ()
        if isinstance(self.returns, TupleType):
            return tuple(item.dtype for item in self.returns.items)
        return (self.returns.dtype,)

    def __repr__(self) -> str:
        head = "" if self.returns is None else repr(self.returns)
        return f"{head}({', '.join(map(repr, self.args))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signature) and (other.returns, other.args) == (
            self.returns,
            self.args,
        )

    def __hash__(self) -> int:
        return hash((self.returns, self.args))


_NAMES = {
    "boolean": "?",
    "bool_": "?",
    "bool": "?",
    "b1": "?",
    "byte": "u1",
    "char": "i1",
    "uchar": "u1",
    "int_": "i8",
    "int": "i8",
    "uint": "u8",
    "intp": "i8",
    "uintp": "u8",
    "size_t": "u8",
    "ssize_t": "i8",
    "intc": "i4",
    "uintc": "u4",
    "short": "i2",
    "ushort": "u2",
    "long_": np.dtype("l").str[1:],
    "ulong": np.dtype("L").str[1:],
    "longlong": "i8",
    "ulonglong": "u8",
    "float_": "f4",
    "float": "f8",
    "double": "f8",
    "complex": "c16",
}
for _name in (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
).split():
    _dtype = np.dtype(_name)
    _NAMES[_name] = _NAMES[_dtype.str[1:]] = _dtype.str[1:] if _dtype.itemsize > 1 else _dtype.str
_NAMES = {name: code.lstrip("|") for name, code in _NAMES.items()}

_SCALARS: dict[np.dtype[Any], ScalarType] = {}
for _name in (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128"
).split():
    _dtype = np.dtype(_name)
    _SCALARS[_dtype] = ScalarType(_name, _dtype)
_SHADOWING = ("bool", "int", "float", "complex")  # only in strings: Python uses these names
_SEVERAL = ("Tuple", "UniTuple")

void = none = Void()
# The type names that a module such as numba exports.
TYPES: dict[str, Any] = {
    name: _SCALARS[np.dtype(code)] for name, code in _NAMES.items() if name not in _SHADOWING
}
TYPES["void"] = TYPES["none"] = void
globals().update(TYPES)


def Tuple(items: Iterable[Any]) -> TupleType:
    """Return the type of a tuple of numbers of given types."""
    return TupleType(items)


def UniTuple(item: Any, count: int) -> TupleType:
    """Return the type of a tuple of *count* numbers of one type."""
    return TupleType([item] * count)


def NPDatetime(unit: str) -> ScalarType:
    """Return the type of dates in a unit, under Numba's name."""
    return _scalar(f"M8[{unit}]")


def NPTimedelta(unit: str) -> ScalarType:
    """Return the type of durations in a unit, under Numba's name."""
    return _scalar(f"m8[{unit}]")


def record(dtype: Any) -> ScalarType:
    """Return the type of the items of an array of structs."""
    found = np.dtype(dtype)
    return ScalarType(f"record({', '.join(found.names or ())})", found)


def _scalar(dtype: Any) -> ScalarType:
    found = np.dtype(dtype)
    if found in _SCALARS:
        return _SCALARS[found]
    if dtypes.is_of_ml_dtypes(found) and dtypes.is_numeric(found):
        return _SCALARS.setdefault(found, ScalarType(found.name, found))
    if found.kind in "mM":
        return ScalarType(str(found), found)
    return record(found)


def narrow(name: str) -> ScalarType:
    """Return a type of ml_dtypes, "bfloat16", by its name. Raises ImportError without the
    package."""
    try:
        module = importlib.import_module("ml_dtypes")
    except ImportError as error:
        raise ImportError(f"{name}: install the package ml_dtypes, which defines it") from error
    return _scalar(getattr(module, name))


def _is_type(obj: Any) -> bool:
    return isinstance(obj, (ScalarType, ArrayType, PointerType, TupleType, Void, np.dtype)) or (
        isinstance(obj, type)
        and (issubclass(obj, np.generic) or obj in (bool, int, float, complex))
    )


def as_type(obj: Any) -> Any:
    """Convert to a ScalarType, ArrayType, TupleType or Void, also from a dtype or a NumPy scalar
    type.

    Raises TypeError for anything else, and for dtypes with which devices do not compute."""
    if isinstance(obj, (ScalarType, ArrayType, PointerType, TupleType, Void)):
        return obj
    if obj is None:
        return void
    if isinstance(obj, str):
        return _read(obj, obj)
    if isinstance(obj, tuple):
        return TupleType(obj)
    if isinstance(obj, np.dtype) or _is_type(obj):
        dtype = np.dtype(obj)
        if dtype.hasobject or not (dtype.names or dtypes.computes(dtype)):
            raise TypeError(f"signature: devices do not compute with dtype {dtype}")
        return _scalar(dtype)
    raise TypeError(
        f"signature: {obj!r} is not a type; types are float32, int64[:], NumPy's dtypes and their "
        "names"
    )


def parse(text: Any) -> Signature:
    """Parse a signature: a string such as ``"float32(float32, int64[:])"`` or ``"(f4, f4)"``, a
    Signature, or a tuple of the types of parameters.

    Raises TypeError that shows the text and what is wrong with it."""
    if isinstance(text, Signature):
        return text
    if isinstance(text, (tuple, list)):
        return Signature(None, tuple(map(as_type, text)))
    if not isinstance(text, str):
        if _is_type(text):
            raise TypeError(f"signature: {text!r} is a type; a signature is {text!r}(...)")
        raise TypeError(
            f"signature: text, a tuple of types or float32(float32, ...) is needed, not {text!r}"
        )
    found = _read(text, text)
    if isinstance(found, Signature):
        return found
    if isinstance(found, TupleType):
        return Signature(None, found.items)
    if "(" in text:  # one type in brackets
        return Signature(None, (found,))
    raise TypeError(f"signature {text!r}: the types of parameters are missing: {text}(...)")


def _read(text: str, signature: str) -> Any:
    source = text.strip().replace("->", "@")
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        raise TypeError(f"signature {signature!r}: {error.msg}") from None
    return _node(tree, signature)


def _node(node: ast.expr, signature: str) -> Any:
    """Return the meaning of an expression in a signature."""
    if isinstance(node, ast.Name):
        code = _NAMES.get(node.id)
        if code is not None:
            return _SCALARS[np.dtype(code)]
        if node.id in ("void", "none"):
            return void
        if node.id in dtypes.ML_CODES:
            return narrow(node.id)
        raise TypeError(
            f"signature {signature!r}: there is no type {node.id!r}; numbers are int8 to int64, "
            "uint8 to uint64, float16 to float64, complex64, complex128 and boolean"
        )
    if isinstance(node, ast.Constant) and node.value is None:
        return void
    if isinstance(node, ast.Attribute):  # types.float32, np.float32
        return _node(ast.Name(node.attr), signature)
    if isinstance(node, ast.Tuple):
        return TupleType(_node(item, signature) for item in node.elts)
    if isinstance(node, ast.Subscript):
        base = _node(node.value, signature)
        if not isinstance(base, ScalarType):
            raise TypeError(f"signature {signature!r}: arrays are of numbers, not of {base!r}")
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return base[tuple(_slice(item, signature) for item in items)]
    if isinstance(node, ast.Call) and not node.keywords:
        if isinstance(node.func, ast.Name) and node.func.id in _SEVERAL:
            return _tuple(node, signature)
        if isinstance(node.func, ast.Name) and node.func.id == "CPointer" and len(node.args) == 1:
            return PointerType(_node(node.args[0], signature))
        if isinstance(node.func, ast.Name) and node.func.id == "Array":
            return _array(node, signature)
        head = _node(node.func, signature)
        args = tuple(_node(item, signature) for item in node.args)
        if isinstance(head, (Signature, ArrayType)) or any(
            isinstance(a, (Signature, TupleType, Void)) for a in args
        ):
            raise TypeError(
                f"signature {signature!r}: parameters are numbers or arrays, results numbers"
            )
        return Signature(head, args)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):  # (args) -> result
        left, right = _node(node.left, signature), _node(node.right, signature)
        return Signature(right, left.items if isinstance(left, TupleType) else (left,))
    raise TypeError(f"signature {signature!r}: {ast.unparse(node)!r} is not a type")


def _array(node: ast.Call, signature: str) -> ArrayType:
    """Return the type that Numba writes ``Array(float32, 2, "C")``."""
    values = [item.value for item in node.args[1:] if isinstance(item, ast.Constant)]
    if len(node.args) == 3 and len(values) == 2:
        base, (ndim, layout) = _node(node.args[0], signature), values
        if isinstance(base, ScalarType) and isinstance(ndim, int) and layout in ("A", "C", "F"):
            return ArrayType(base, ndim, layout)
    raise TypeError(
        f"signature {signature!r}: {ast.unparse(node)} is not a type; an array is Array(dtype, "
        "number of axes, 'A', 'C' or 'F')"
    )


def _tuple(node: ast.Call, signature: str) -> TupleType:
    name: Any = node.func
    args = node.args
    if name.id == "Tuple" and len(args) == 1 and isinstance(args[0], (ast.Tuple, ast.List)):
        return TupleType(_node(item, signature) for item in args[0].elts)
    if name.id == "UniTuple" and len(args) == 2 and isinstance(args[1], ast.Constant):
        count = args[1].value
        if isinstance(count, int) and count > 0:
            return TupleType([_node(args[0], signature)] * count)
    raise TypeError(
        f"signature {signature!r}: several results are Tuple((float64, int32)) or "
        "UniTuple(float64, 2)"
    )


def _slice(node: ast.expr, signature: str) -> slice:
    if isinstance(node, ast.Slice) and node.lower is None and node.upper is None:
        step = node.step
        if step is None:
            return slice(None)
        if isinstance(step, ast.Constant) and step.value == 1:
            return slice(None, None, 1)
    raise TypeError(f"signature {signature!r}: an axis of an array is ':' or '::1'")


def signatures(given: Any, call: str) -> list[Signature]:
    """Return the signatures of a decorator's first argument: one, or a list of them.

    Raises TypeError if their numbers of parameters or results differ."""
    if isinstance(given, (str, Signature)):
        given = [given]
    elif isinstance(given, tuple) and not all(
        isinstance(g, (str, Signature, tuple)) for g in given
    ):
        given = [given]
    try:
        items = list(given)
    except TypeError:
        raise TypeError(
            f"{call}: a signature is a string such as 'float32(float32)', or a list of them, "
            f"not {given!r}"
        ) from None
    found = [parse(item) for item in items]
    for one in found:
        if len(one.args) != len(found[0].args):
            raise TypeError(
                f"{call}: {one!r} and {found[0]!r} differ in their numbers of parameters"
            )
        if not one.args:
            raise TypeError(f"{call}: {one!r} has no parameters")
    return found


def layout_of(text: str, call: str = "guvectorize") -> tuple[list[Any], list[Any]]:
    """Return the core dimensions of a layout such as ``"(m,n),(n,p)->(m,p)"``: lists of tuples of
    names, of the inputs and of the outputs. An int stands for a fixed length: ``"(3),(3)->(3)"``.
    Without ``->`` all are inputs, which the function may write to.

    Raises ValueError that shows the layout and what is wrong with it."""
    if not isinstance(text, str):
        raise TypeError(f"{call}: the layout is a string such as '(n),()->(n)', not {text!r}")
    sides = "".join(text.split()).split("->")
    if len(sides) > 2:
        raise ValueError(f"{call}: layout {text!r} must have one '->' between inputs and outputs")
    found = [_side(side, text, call) for side in sides]
    if not all(found[1:] if len(sides) == 2 else found):
        raise ValueError(f"{call}: layout {text!r} has no outputs")
    return found[0], found[1] if len(sides) == 2 else []


def _side(side: str, layout: str, call: str) -> list[Any]:
    if not side:
        return []
    if not (side.startswith("(") and side.endswith(")")):
        raise ValueError(
            f"{call}: layout {layout!r}: bad token in signature: {side!r} is not a list of axes "
            "such as '(n),(n,m)'"
        )
    found = []
    for part in side[1:-1].split("),("):
        names: list[Any] = []
        for name in part.split(",") if part else []:
            if name.isdigit() and int(name) > 0:
                names.append(int(name))
            elif name.isidentifier():
                names.append(name)
            else:
                raise ValueError(
                    f"{call}: layout {layout!r}: bad token in signature: {name!r} is not the name "
                    "of a dimension"
                )
        found.append(tuple(names))
    return found


def code(dtype: np.dtype[Any]) -> str:
    """The character of a dtype in ufunc.types."""
    dtypes.code(dtype)
    return dtype.char
