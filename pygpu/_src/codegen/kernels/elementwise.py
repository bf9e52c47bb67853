"""The kernels of an elementwise operation: one expression, operands of any dtypes and strides.

An :class:`Operation` says what is computed from the values x0, x1, ... and stored from y0, y1, ...
Each of these is an operand of the kernel: a :class:`Number`, which is an argument, or an
:class:`Array`. An operand knows how it is declared and converted; a renderer for each kernel knows
where the items of an array lie:

* :func:`flat_source`: arrays are contiguous, and the items come one by one;
* :func:`vector_source`: arrays are contiguous, and a work-item moves several items in one access;
* :func:`strided_source`: arrays have any strides;
* :func:`rows_source`: arrays have any strides, and a CPU walks them row by row;
* :mod:`.row_tiles` has the kernel over rows for GPUs.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.util.frozen import Frozen

DType = np.dtype[Any]
Memory = Sequence[DType | None]  # of each operand, outputs first: None for a number
_PLAIN = {  # as vectors in memory
    "pg_b8": "pg_u8",
    "pg_f16": "pg_u16",
    "pg_f16b": "pg_u16",
    "pg_f8e4m3": "pg_u8",
    "pg_f8e5m2": "pg_u8",
}


class Operation(Frozen):
    """An elementwise operation.

    name: for the kernel's name and key; with the dtypes it must identify the operation, or *key*
    has the rest. body: statements; x0, x1, ... are variables of the compute types of *inputs*, and
    it sets y0, y1, ... of the compute types of *outputs*. The operands in memory may have other
    dtypes: they are converted. helpers: functions that body calls. index: body uses ``i``, the
    number of the item in C order (pg_i64). guard: if given, an expression; where it is 0, nothing
    is stored. setup: statements before body; those that use no array are executed before the loop
    over the items. Only kernels of one item at a time have them: a setup needs a guard.
    """

    name: str
    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    body: str
    helpers: str = ""
    features: frozenset[str] = frozenset()
    index: bool = False
    key: Hashable = None
    guard: str = ""
    setup: tuple[str, ...] = ()


# ---- operands


class Operand:
    """The variable *name* in the body of an operation, of the compute type of *computed*."""

    def __init__(self, name: str, computed: DType) -> None:
        self.name = name
        self.computed = computed
        self.kind = dtypes.compute_type(computed)

    def constant(self, value: str) -> str:
        """Declare the variable of an input."""
        return f"PG_UNUSED const {self.kind} {self.name} = {value};"


class Number(Operand):
    """An input that is an argument of its compute type."""

    @property
    def parameter(self) -> str:
        return f"{self.kind} {self.name}_"

    def take(self) -> str:
        """Declare the variable."""
        return self.constant(f"{self.name}_")


class Array(Operand):
    """An operand in memory, of dtype *stored*; parameter ``<name>_p``, with strides ``<name>_s0``,
    ... where they matter."""

    def __init__(self, name: str, computed: DType, stored: DType, output: bool) -> None:
        super().__init__(name, computed)
        self.stored = stored
        self.output = output
        self.storage = dtypes.storage_type(stored)
        self.unit = _PLAIN.get(self.storage, self.storage)  # of a vector
        self.const, self._macro = ("", "") if output else ("const ", "_IN")

    @property
    def parameter(self) -> str:
        return f"PG_ARRAY{self._macro}({self.storage}, {self.name}_p)"

    @property
    def start(self) -> str:
        return f"PG_START{self._macro}({self.storage}, {self.name}_p);"

    def offset(self, axes: int) -> str:
        """The offset in bytes of the item at k0, k1, ... along the first *axes* axes."""
        return " + ".join(f"k{axis} * {self.name}_s{axis}" for axis in range(axes))

    def point(self, target: str, base: str, offset: str) -> str:
        """Declare ``<name>_<target>``, a pointer *offset* bytes after ``<name>_<base>``."""
        pointer = f"PG_GLOBAL {self.const}{self.storage} *"
        address = f"(PG_GLOBAL {self.const}char *){self.name}_{base} + {offset}"
        return f"{pointer}{self.name}_{target} = ({pointer})({address});"

    def load(self, pointer: str, index: str) -> str:
        """The item at ``<name>_<pointer>[index]`` as a value of the compute type. If it is
        computed as a narrow float, it is rounded to that first, since the compute type is float."""
        item = dtypes.load(self.stored, f"{self.name}_{pointer}", index)
        value = dtypes.cast(item, self.stored, self.computed)
        narrow = dtypes.is_narrow(self.computed)
        if narrow and not dtypes.holds(self.computed, self.stored):
            value = dtypes.rounded(self.computed, value)
        return value

    def take(self, pointer: str, index: str) -> str:
        """Declare the variable; that of an input with the item at ``<name>_<pointer>[index]``."""
        if self.output:
            return f"{self.kind} {self.name};"
        return self.constant(self.load(pointer, index))

    def put(self, pointer: str, index: str) -> str:
        """Store the variable of an output at ``<name>_<pointer>[index]``."""
        address = f"{self.name}_{pointer}"
        return dtypes.store(self.stored, address, index, self.name, self.computed)

    def vector(self, many: int, target: str) -> str:
        """Declare ``<name>_<target>``, a vector."""
        return f"PG_VECTOR({self.unit}, {many}) {self.name}_{target};"

    def _units(self, pointer: str, index: str) -> str:
        """A pointer to the item at ``<name>_<pointer>[index]``, as an item of a vector."""
        return f"((PG_GLOBAL {self.const}{self.unit} *)({self.name}_{pointer} + {index}))"

    def fetch(self, many: int, target: str, pointer: str, index: str) -> str:
        """Set the vector of an input to the items from ``<name>_<pointer>[index]`` on."""
        kind = f"PG_GLOBAL const PG_VECTOR({self.unit}, {many}) *"
        return f"{self.name}_{target} = *({kind})({self.name}_{pointer} + {index});"

    def gather(self, target: str, pointer: str, index: str, k: str) -> str:
        """Set item *k* of the vector of an input to the one at ``<name>_<pointer>[index]``."""
        return f"{self.name}_{target}.item[{k}] = *{self._units(pointer, index)};"

    def flush(self, many: int, source: str, pointer: str, index: str) -> str:
        """Store the vector of an output at ``<name>_<pointer>[index]``."""
        kind = f"PG_GLOBAL PG_VECTOR({self.unit}, {many}) *"
        return f"*({kind})({self.name}_{pointer} + {index}) = {self.name}_{source};"

    def scatter(self, source: str, pointer: str, index: str, k: str) -> str:
        """Store item *k* of the vector of an output at ``<name>_<pointer>[index]``."""
        return f"*{self._units(pointer, index)} = {self.name}_{source}.item[{k}];"


def operands_of(operation: Operation, memory: Memory) -> list[Number | Array]:
    """The operands of a kernel, outputs first."""
    outs = [(f"y{i}", dtype, True) for i, dtype in enumerate(operation.outputs)]
    ins = [(f"x{i}", dtype, False) for i, dtype in enumerate(operation.inputs)]
    return [
        Number(name, computed) if stored is None else Array(name, computed, stored, output)
        for (name, computed, output), stored in zip([*outs, *ins], memory)
    ]


# ---- shared by the kernels


def kernel_name(operation: Operation) -> str:
    return "pg_run_" + "".join(c if c.isalnum() else "_" for c in operation.name)


def block(indent: int, *lines: str) -> str:
    """Indent lines of source."""
    return ("\n" + " " * indent).join(lines)


def integers(wide: bool) -> tuple[str, str]:
    """The types of indices and strides, signed and unsigned."""
    return ("pg_i64", "pg_u64") if wide else ("pg_i32", "pg_u32")


def unravel(index: str, axes: int, integer: str, unsigned: str) -> list[str]:
    """Statements that declare the indices k0, k1, ... along so many axes."""
    lines, rest = [], f"({unsigned}){index}"
    for axis in reversed(range(1, axes)):
        lines.append(f"const {unsigned} r{axis} = {rest} / ({unsigned})n{axis};")
        index_value = f"{rest} - r{axis} * ({unsigned})n{axis}"
        lines.append(f"const {integer} k{axis} = ({integer})({index_value});")
        rest = f"r{axis}"
    return [*lines, f"const {integer} k0 = ({integer})({rest});"]


def declarations(
    operands: Sequence[Number | Array], moved: Sequence[Array] = (), vector: int = 1
) -> str:
    """Declare the types that the prefix does not have: structs, and vectors of *vector* items for
    the arrays *moved*."""
    stored = [o.stored for o in operands if isinstance(o, Array)]
    units = dict.fromkeys(a.unit for a in moved)
    return dtypes.declare(*stored, *(o.computed for o in operands)) + "".join(
        f"PG_DECLARE_VECTOR({unit}, {vector})\n" for unit in units
    )


class _Kernel:
    """A kernel in the making: the common base of all renderers."""

    def __init__(self, operation: Operation, memory: Memory) -> None:
        self.operation = operation
        self.operands = operands_of(operation, memory)
        self.arrays = [o for o in self.operands if isinstance(o, Array)]
        self.outputs = [a for a in self.arrays if a.output]
        names = "|".join(a.name for a in self.arrays)
        self.before: list[str] = []
        self.first: list[str] = []
        for statement in operation.setup:
            varies = re.search(rf"\b({names})\b", statement)
            (self.first if varies else self.before).append(statement)
        if self.before:
            numbers = [o.take() for o in self.operands if isinstance(o, Number)]
            self.before = [*numbers, *self.before]

    def lengths(self, ndim: int, integer: str) -> list[str]:
        """The parameters of strided kernels: lengths of the axes except the first, strides of each
        array."""
        axes = range(ndim)
        lengths = [f"{integer} n{axis}" for axis in axes[1:]]
        return lengths + [f"{integer} {a.name}_s{axis}" for a in self.arrays for axis in axes]

    def item(self, takes: Sequence[str], puts: Sequence[str]) -> list[str]:
        """The statements for one item, from those that read and write it."""
        guard = self.operation.guard
        if guard:
            puts = [f"if ({guard}) {{", *puts, "}"]
        return [*takes, "{", *self.first, self.operation.body, "}", *puts]

    def flat_item(self) -> list[str]:
        """The statements for item i of contiguous arrays."""
        takes = [o.take("p", "i") if isinstance(o, Array) else o.take() for o in self.operands]
        return self.item(takes, [a.put("p", "i") for a in self.outputs])

    def source(self, loop: str, lengths: Sequence[str] = (), vector: int = 1) -> str:
        """The complete source around a loop."""
        moved = self.arrays if vector > 1 else ()
        parameters = ", ".join([*(o.parameter for o in self.operands), *lengths, "pg_i64 n"])
        before = block(4, " ".join(a.start for a in self.arrays), *self.before)
        return (
            f"{declarations(self.operands, moved, vector)}{self.operation.helpers}"
            f"PG_KERNEL void {kernel_name(self.operation)}({parameters})\n"
            f"{{\n    {before}\n{loop}}}\n"
        )


# ---- the kernels


def flat_source(operation: Operation, memory: Memory) -> str:
    """The kernel for contiguous arrays, item by item."""
    kernel = _Kernel(operation, memory)
    return kernel.source(f"""\
    PG_INDEPENDENT
    PG_FOR(i, n) {{
        {block(8, *kernel.flat_item())}
    }}
""")


def moving_loop(
    arrays: Sequence[Array], vector: int, names: tuple[str, str], takes: list[str], body: str
) -> tuple[list[str], list[str], list[str]]:
    """The statements that read a work-item's *vector* items, compute, and store them.

    names: of the vectors and of the pointers. The items are those at ``first``, ``first + apart``,
    ...; they are adjacent if ``aligned``, and then one access moves all of them. Otherwise items of
    neighbouring work-items are adjacent, so that a warp's accesses are still dense.
    """
    v, p = names
    inputs, outputs = [a for a in arrays if not a.output], [a for a in arrays if a.output]
    each = f"PG_UNROLL for (int k = 0; k < {vector}; k++)"
    at = "first + k * apart"

    def either(wide: list[str], single: list[str]) -> list[str]:
        if not wide:
            return []
        return ["if (aligned) {", *wide, "} else {", f"{each} {{", *single, "}", "}"]

    fetch = either(
        [a.fetch(vector, v, p, "first") for a in inputs],
        [a.gather(v, p, at, "k") for a in inputs],
    )
    puts = [a.put(f"{v}.item", "k") for a in outputs]
    computed = [f"{each} {{", *takes, "{", body, "}", *puts, "}"]
    store = either(
        [a.flush(vector, v, p, "first") for a in outputs],
        [a.scatter(v, p, at, "k") for a in outputs],
    )
    return [*(a.vector(vector, v) for a in arrays), *fetch], computed, store


def vector_source(operation: Operation, memory: Memory, vector: int) -> str:
    """The kernel for contiguous arrays: a work-item reads and writes *vector* items in one access
    where all arrays are aligned for it. Guards are not supported."""
    kernel = _Kernel(operation, memory)
    aligned = [f"PG_ALIGNED({a.name}_p, sizeof(*{a.name}_p) * {vector})" for a in kernel.arrays]
    takes = ["const pg_i64 i = first + k * apart;"] if operation.index else []
    takes += [o.take("v.item", "k") if isinstance(o, Array) else o.take() for o in kernel.operands]
    parts = moving_loop(kernel.arrays, vector, ("v", "p"), takes, operation.body)
    fetch, computed, store = parts
    loop = f"""\
    const int aligned = {" && ".join(aligned)};
    const pg_i64 apart = aligned ? 1 : PG_SIZE(0);
    pg_i64 first = PG_GROUP_ID(0) * (pg_i64)PG_SIZE(0) * {vector};
    first += PG_LOCAL_ID(0) * (pg_i64)(aligned ? {vector} : 1);
    for (; first < n; first += PG_IDS(0) * {vector}) {{
        if (first + {vector - 1} * apart < n) {{
            {block(12, *fetch, *computed, *store)}
        }} else {{
            PG_ROLLED
            for (pg_i64 i = first; i < n; i += apart) {{
                {block(16, *kernel.flat_item())}
            }}
        }}
    }}
"""
    return kernel.source(loop, vector=vector)


def strided_source(operation: Operation, memory: Memory, ndim: int, wide: bool) -> str:
    """The kernel for arrays of *ndim* axes with any strides. wide: indices have 64 bits."""
    kernel = _Kernel(operation, memory)
    takes = []
    for operand in kernel.operands:
        if isinstance(operand, Array):
            takes.append(operand.point("q", "p", f"({operand.offset(ndim)})"))
            takes.append(operand.take("q", "0"))
        else:
            takes.append(operand.take())
    item = kernel.item(takes, [a.put("q", "0") for a in kernel.outputs])
    integer, unsigned = integers(wide)
    loop = f"""\
    PG_INDEPENDENT
    PG_FOR(i, n) {{
        {block(8, *unravel("i", ndim, integer, unsigned), *item)}
    }}
"""
    return kernel.source(loop, kernel.lengths(ndim, integer))


# The position of an array's items along a row that begins at <name>_r, by the array's letter:
# (pointer, index).
_IN_ROW = {"c": ("r", "k"), "b": ("r", "0"), "s": ("q", "0")}


def rows_source(operation: Operation, memory: Memory, ndim: int, wide: bool, letters: str) -> str:
    """The kernel for CPUs that processes arrays of at least 2 axes row by row, in a loop that the
    compiler can vectorize.

    letters: for each array, whether along the last axis its items are adjacent ("c"), the same
    ("b"), or have any stride ("s").
    """
    kernel = _Kernel(operation, memory)
    pointers = {a.name: _IN_ROW[letter] for a, letter in zip(kernel.arrays, letters)}
    takes = []
    for operand in kernel.operands:
        if isinstance(operand, Array):
            if pointers[operand.name][0] == "q":
                takes.append(operand.point("q", "r", f"k * {operand.name}_s{ndim - 1}"))
            takes.append(operand.take(*pointers[operand.name]))
        else:
            takes.append(operand.take())
    item = kernel.item(takes, [a.put(*pointers[a.name]) for a in kernel.outputs])
    integer, unsigned = integers(wide)
    rows = [a.point("r", "p", f"({a.offset(ndim - 1)})") for a in kernel.arrays]
    loop = f"""\
    PG_FOR(row, n / n{ndim - 1}) {{
        {block(8, *unravel("row", ndim - 1, integer, unsigned), *rows)}
        PG_INDEPENDENT
        for ({integer} k = 0; k < n{ndim - 1}; k++) {{
            {block(12, *item)}
        }}
    }}
"""
    return kernel.source(loop, kernel.lengths(ndim, integer))
