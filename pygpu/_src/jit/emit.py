"""C source in the common language of the dialects: literals, conversions, operations.

The expression of an operation comes from :mod:`pygpu._src.codegen.ufunc_loops`, as for arrays. A
:class:`Unit` collects the declarations that a kernel needs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.array import ufuncs
from pygpu._src.codegen import dates, dtypes
from pygpu._src.codegen.ufunc_loops import expression

from .ir import Value
from .types import ArrayType, DateType, RecordType, Scalar, Type, c_name, scalar_type

_SIMPLE = re.compile(r"\w+|\w*\([\w.]*\)|-?[\d.]+f?")
WORD = re.compile(r"\w+")
_DEFINED = re.compile(
    r"^(?:PG_(?:INLINE|NOINLINE|FUNCTION) [^(\n]*?|PG_TABLE [^\[\n]*?|typedef [^{}\n]*\{[^{}\n]*\} "
    r"|#include <)"
    r"\b(\w++)[(\[;.]",
    re.M,
)
_OPERAND = re.compile(r"\bx([01])\b")
_SPACE = {
    "global": "PG_GLOBAL ",
    "local": "PG_LOCAL_PTR ",
    "private": "",
    "constant": "PG_CONSTANT ",
}

_HELPERS = {
    "pg_wrap": "PG_INLINE pg_i64 pg_wrap(pg_i64 i, pg_i64 n) { return i + (n & i >> 63); }\n",
    "pg_clip": """\
PG_INLINE pg_i64 pg_clip(pg_i64 i, pg_i64 n, pg_i64 low, pg_i64 high)
{ /* an end of a slice, as slice.indices gives it */
    if (i < 0) i += n;
    return i < low ? low : i > high ? high : i;
}
""",
    "pg_steps": """\
PG_INLINE pg_i64 pg_steps(pg_i64 start, pg_i64 stop, pg_i64 step)
{ /* how many items a range has */
    if (step > 0) return start < stop ? (stop - start - 1) / step + 1 : 0;
    return start > stop ? (start - stop - 1) / -step + 1 : 0;
}
""",
}


class Unit:
    """The parts of one source, besides the dialect's prefix.

    options: used by the walkers: fp64, whether the device has it; dialect, its name.
    """

    def __init__(
        self,
        dialect: str = "cuda",
        fp64: bool = True,
        prefix: str = "pgf",
        int64_atomics: bool = True,
    ) -> None:
        self.dialect = dialect
        self.fp64 = fp64
        self.int64_atomics = int64_atomics
        self.prefix = prefix
        self.definitions: dict[Any, str] = {}  # in the order in which they are needed
        self.types: dict[str, str] = {}  # typedefs, before the definitions
        self.features: set[str] = set()
        self.warps = dialect == "cuda"  # whether there are functions of warps
        self.shared_bytes = 1 << 18  # the most shared memory per block; the driver may have less
        self.private_arrays: dict[Any, int] = {}  # by where they are made: their bytes
        # Whether an error was caused by a number that is not a known constant.
        self.wants_constant = False
        self.widens = False  # whether arithmetic of small integers has 64 bits, as in Numba
        self.divides = False  # whether a division by zero raises an exception, as in Python
        self.cooperative = False  # whether all blocks must run at once
        self.functions: dict[Any, Any] = {}
        self.names: dict[str, int] = {}
        self.device_function: Any = None  # compiles a device function; see compiler.make_unit()
        self.refuses: Any = None  # why a function does not accept dates, see calls/dates.py
        self.stack: list[Any] = []  # functions that are being compiled
        self.active: list[Any] = []  # the same as seen by recursive calls, see infer.Active
        self.external: dict[str, str] = {}  # CUDA C sources, and the folders of their files
        self.prototypes: dict[str, str] = {}  # for recursive functions
        self.guards: dict[tuple[int, Any], tuple[Any, Any, Any]] = {}
        # Messages of failed assertions, and checked indices: their numbers, from 1.
        self.asserts: dict[Any, int] = {}
        self.checks = False  # whether indices are checked, see index_checks.py
        self.forced: frozenset[Any] = frozenset()  # sites that the kernel itself checks
        # The tests of launches, and the sites for which they are; None: launches make none.
        self.tests: dict[tuple[Any, Any], set[Any]] | None = {}
        # Parameters that device functions need from their kernel, by name: the declaration of the
        # parameter, and for local memory that of the array.
        self.implicit: dict[str, tuple[str, str]] = {}
        # Device arrays from outside, each as (the object, its array); None if a function that is
        # called for each item cannot have them.
        self.captured: list[tuple[Any, Any]] | None = None

    def helper(self, name: str) -> str:
        """Add a helper function if it is missing. Returns its name."""
        if name not in self.definitions:
            self.definitions[name] = _HELPERS[name]
        return name

    def number_of(self, what: Any) -> int:
        """Return the number for *pg_error of a message or a site."""
        return self.asserts.setdefault(what, len(self.asserts) + 1)

    def unique(self, name: str) -> str:
        """Return an unused name for a C function."""
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        return f"{name}_{count}" if count else name

    def function_name(self, name: str, arg_types: Sequence[Type]) -> str:
        """Return an unused C name for a device function."""
        plain = c_name(name).replace("<lambda>", "lambda")
        return self.unique(f"{self.prefix}_{plain}__{'_'.join(t.code for t in arg_types)}")

    def need(self, *found: np.dtype[Any]) -> None:
        """Record what these dtypes need from the prefix."""
        self.features |= dtypes.features(*found)
        for dtype in found:
            if not dtypes.computes(dtype):
                self.types.setdefault(dtypes.storage_type(dtype), dtypes.declare(dtype))

    def text(self, root: str) -> str:
        """Return *root* after its dependencies, without versions from before the final types."""
        used = set(WORD.findall(root))
        parts = [root]
        for text in reversed(
            [*self.types.values(), *self.prototypes.values(), *self.definitions.values()]
        ):
            if not used.isdisjoint(_DEFINED.findall(text)):
                parts.append(text)
                used.update(WORD.findall(text))
        if any(word.startswith("pg_t64_") for word in used):
            self.features.add("dates")
        return "".join(reversed(parts))


def c_type(t: Scalar) -> str:
    """Return the C type of a variable of this type."""
    return dtypes.compute_type(t.dtype)


def pointer_type(t: ArrayType | RecordType) -> str:
    """Return the C type of a pointer to items of the array: "PG_GLOBAL pg_f32 *"; for records, to
    bytes."""
    if isinstance(t, RecordType):
        return f"{_SPACE[t.space]}char *"
    return f"{_SPACE[t.space]}{dtypes.storage_type(t.dtype)} *"


def parameters(t: Type, name: str) -> list[str]:
    """Return the declaration of a value of this type as parameters of a device function."""
    if isinstance(t, Scalar):
        return [f"{c_type(t)} {name}"]
    if isinstance(t, ArrayType):
        found = [f"{pointer_type(t)}{name}", *(f"pg_i64 {name}_n{i}" for i in range(t.ndim))]
        if not t.contiguous:
            found += [f"pg_i64 {name}_s{i}" for i in range(t.ndim)]
        return found
    if isinstance(t, RecordType):
        return [f"{pointer_type(t)}{name}"]
    found = []
    for i, item in enumerate(getattr(t, "items", ())):
        found += parameters(item, f"{name}_{i}")
    return found


def results(t: Type, name: str) -> list[str]:
    """Return the parameters by which a device function returns a part of its result."""
    found = []
    for text in parameters(t, name):
        kind = text.removesuffix(name) if text.endswith(name) else "pg_i64 "
        found.append(f"{kind}*{text[len(kind) :]}")
    return found


def strides_of(value: Value) -> list[str]:
    """Return the strides of an array in bytes, also for a contiguous one."""
    if value.strides is not None:
        return list(value.strides)
    assert isinstance(value.type, ArrayType)
    found, step = [], str(value.type.dtype.itemsize)
    for n in reversed(value.shape):
        found.append(step)
        step = f"{step} * {n}"
    return [s if s.isalnum() else f"({s})" for s in reversed(found)]


def arguments(value: Value, t: Type) -> list[str]:
    """Return a value as arguments for the parameters of type *t*."""
    if isinstance(t, Scalar):
        return [convert(value, t)]
    if isinstance(t, ArrayType):
        found = [value.text, *value.shape]
        return found if t.contiguous else [*found, *strides_of(value)]
    if isinstance(t, RecordType):
        return [value.text]
    found = []
    for item, kind in zip(value.items, getattr(t, "items", ())):
        found += arguments(item, kind)
    return found


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """Return a number as C source of the compute type of *dtype*. Raises OverflowError as NumPy
    does."""
    name = dtypes.code(dtype)
    if dtype.kind == "b":
        return "1" if value else "0"
    if dtype.kind in "iu":
        if isinstance(value, (float, np.floating)):
            value = int(value)
        limits = np.iinfo(dtype)
        value = int(value)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"Python integer {value} out of bounds for {dtype.name}")
        if value == -(1 << 63):
            return "(-9223372036854775807 - 1)"
        if value < 0:
            return f"({value})"
        return f"{value}u" if name in ("u32", "u64") else str(value)
    if name[0] == "f":
        single = name != "f64"
        narrow = dtypes.is_narrow(dtype)
        number = np.float32(dtype.type(value)) if narrow else dtype.type(value)
        kind = "F32" if single else "F64"
        if math.isnan(number):
            return f"PG_NAN_{kind}"
        if math.isinf(number):
            return f"PG_INF_{kind}" if number > 0 else f"(-PG_INF_{kind})"
        text = str(number) if single else repr(float(number))
        if not any(c in text for c in ".en"):
            text += ".0"
        text += "f" if single else ""
        return f"({text})" if text[0] == "-" else text
    part = np.dtype("f4" if name == "c64" else "f8")
    number = complex(value)
    return f"pg_{name}_make({literal(number.real, part)}, {literal(number.imag, part)})"


def convert(value: Value, to: Scalar) -> str:
    """Return the C source of a number converted to another type, as by NumPy's astype."""
    assert isinstance(value.type, Scalar)
    if isinstance(to, DateType):
        return _date(value, to)
    if value.is_const:
        try:
            found = literal(value.const, to.dtype)
            if not (isinstance(value.const, complex) and to.dtype.kind in "iufb"):
                return found
        except TypeError:
            pass
    if value.type.dtype == to.dtype:
        return value.text
    if to.dtype == np.dtype("i8") and value.type.dtype.kind in "biu" and value.type.dtype != "u8":
        return f"(pg_i64){value.text}"
    return f"({dtypes.cast(value.text, value.type.dtype, to.dtype)})"


def _date(value: Value, to: DateType) -> str:
    """The text of a date or duration in another unit; an integer is a number of units."""
    if not isinstance(value.type, DateType):
        return convert(value, Scalar(to.dtype))
    return dates.convert(value.text, value.type.date, to.date)


def truth(value: Value) -> str:
    """Return the C source of a number's truth."""
    assert isinstance(value.type, Scalar)
    if value.type.dtype.kind == "b":
        return value.text
    if value.type.dtype.kind == "c":
        return f"({value.text}.re != 0 || {value.text}.im != 0)"
    return f"({value.text} != 0)"


def resolve(name: str, values: Sequence[Value]) -> tuple[tuple[np.dtype[Any], ...], bool]:
    """Return the dtypes of a ufunc's loop for these operands, and whether all operands are weak."""
    kinds = [v.type.kind for v in values if isinstance(v.type, Scalar)]
    all_weak = all(v.is_weak for v in values)
    if all_weak:
        kinds = [v.type.dtype for v in values if isinstance(v.type, Scalar)]
    nout = getattr(np, name).nout
    return ufuncs.resolve(name, (*kinds, *(None,) * nout)), all_weak


def ufunc_results(unit: Unit, name: str, values: Sequence[Value], loop: Sequence[Any]) -> list[str]:
    """Return the C source of the results of NumPy's ufunc *name* in a loop of these dtypes.

    Raises TypeError if devices have no such loop."""
    nin = len(values)
    codes = tuple(dtypes.code(d) for d in loop[:nin])
    found = expression(name, codes)
    if found is None:
        raise TypeError(f"{name} of {' and '.join(str(d) for d in loop[:nin])} is not supported")
    body, helpers = found
    if helpers:
        unit.definitions.setdefault(helpers, helpers)
    unit.need(*loop)
    operands = [convert(v, scalar_type(d)) for v, d in zip(values, loop)]
    outs = loop[nin:]
    if body.startswith("y0 = ") and body.find(";") == len(body) - 1 and len(outs) == 1:
        text = body[5:-1]
        uses = _OPERAND.findall(text)
        if all(
            uses.count(str(i)) <= 1 or _SIMPLE.fullmatch(operand)
            for i, operand in enumerate(operands)
        ):
            text = _OPERAND.sub(lambda m: operands[int(m.group(1))], text)
            function, _, rest = text.partition("(")
            whole = rest[-1:] == ")" and not {*"()"} & {*rest[:-1]}
            return [text if whole and function.isidentifier() else f"({text})"]
    results = []
    for k, out in enumerate(outs):
        full = f"pgu_{name}_{'_'.join(codes)}{f'_{k}' if k else ''}"
        if full not in unit.definitions:
            declared = ", ".join(f"{dtypes.compute_type(d)} x{i}" for i, d in enumerate(loop[:nin]))
            ys = " ".join(f"PG_UNUSED {dtypes.compute_type(d)} y{i};" for i, d in enumerate(outs))
            kind = dtypes.compute_type(out)
            unit.definitions[full] = (
                f"PG_INLINE {kind} {full}({declared}) {{ {ys} {body} return y{k}; }}\n"
            )
        results.append(f"{full}({', '.join(operands)})")
    return results


def strip_parentheses(text: str) -> str:
    """Return the text without its outer parentheses."""
    if text[:1] == "(" and text[-1:] == ")":
        depth = 0
        for i, c in enumerate(text):
            depth += (c == "(") - (c == ")")
            if depth == 0 and i < len(text) - 1:
                return text
        return text[1:-1]
    return text
