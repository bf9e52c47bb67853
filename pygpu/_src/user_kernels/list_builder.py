"""ListOfListsBuilder: many lists whose lengths are computed on the device.

The user's function ``generate`` runs twice for each object: first to count what it appends, then
to store it at the positions given by a scan of the counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.codegen.dtypes import native
from pygpu._src.codegen.template import Template
from pygpu._src.runtime.backend import Backend
from pygpu._src.runtime.backends import backend_of
from pygpu._src.util.frozen import Frozen
from pygpu._src.util.public import publish
from pygpu._src.util.wording import counted

from .language import OPENCL, Parameter, pairs, split_options, to_number
from .scan import Scan

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pygpu._opencl import CommandQueue, Context, Device, Event
    from pygpu._src.array.opencl_array import Array
    from pygpu._src.runtime.opencl.types import Allocator, WaitList


@dataclass
class BuiltList:
    """The result of a ListOfListsBuilder for one list name.

    count: entries of all lists. starts: list i is lists[starts[i]:starts[i + 1]]. lists: all
    entries. If empty lists are omitted: num_nonempty_lists, nonempty_indices (the objects
    that have the lists), compressed_indices (the list of each object).
    """

    count: int | None
    starts: Array[np.int32]
    lists: Array[Any] = None  # type: ignore[assignment]  # until its entries are counted
    num_nonempty_lists: int | None = None
    nonempty_indices: Array[np.int32] | None = None
    compressed_indices: Array[np.int32] | None = None


class _List(Frozen):
    """A list in a kernel: its APPEND macro, the kernel's parameters for it, the arguments of
    ``generate`` for it (types pointed to, names and values), and statements before and after."""

    macro: str
    parameters: list[Parameter]
    arguments: list[tuple[str, str, str]]
    before: str = ""
    after: str = ""


_SOURCE = Template("""\
$prefix
$preamble
typedef int index_type;
#define PLB_${stage}_STAGE
$macros#define LIST_ARG_DECL $list_declared
#define LIST_ARGS $list_args
#define USER_ARG_DECL $user_declared
#define USER_ARGS $user_args
$generate
$head
{
$start
  for (long pg_i = get_global_id(0); pg_i < n; pg_i += get_global_size(0)) {
    const index_type i = (index_type)pg_i;
    $before
    generate($values${user_args}i);
    $after
  }
}
""")


class ListOfListsBuilder:
    """Builds lists of variable length, some for each of n objects; for OpenCL.

    context: a Context. list_names_and_dtypes: pairs. generate_template: OpenCL C with a function
    ``void generate(LIST_ARG_DECL USER_ARG_DECL index_type i)``, which calls ``APPEND_name(value)``
    for what object i adds to the list with that name, and has no other side effects; pass
    ``LIST_ARGS USER_ARGS`` to functions that it calls. arg_decls: further arguments, as for
    ElementwiseKernel. count_sharing: maps the name of a list to that of another one that always
    has as many entries, appended just before. eliminate_empty_output_lists: names of lists (True:
    all) without their empty ones. name_prefix, options, preamble: as for ElementwiseKernel. debug:
    run on one work-item. devices and complex_kernel are not used.
    """

    generate_template: str
    preamble: str
    name_prefix: str
    options: list[str]
    debug: bool

    def __init__(
        self,
        context: Context,
        list_names_and_dtypes: Sequence[tuple[str, DTypeLike]],
        generate_template: str,
        arg_decls: str | Sequence[Any],
        count_sharing: Mapping[str, str] | None = None,
        devices: Sequence[Device] | None = None,
        name_prefix: str = "plb_build_list",
        options: Any = None,
        preamble: str = "",
        debug: bool = False,
        complex_kernel: bool = False,
        eliminate_empty_output_lists: Sequence[str] | bool = False,
    ) -> None:
        self.context = context
        call = "ListOfListsBuilder"
        self.lists: list[tuple[str, np.dtype[Any]]] = [
            (name, native(dtype, call))
            for name, dtype in pairs(call, "list_names_and_dtypes", list_names_and_dtypes)
        ]
        self.generate_template, self.preamble = generate_template, preamble
        self.parameters: list[Parameter] = OPENCL.parse(arg_decls)
        self.count_sharing: dict[str, str] = dict(count_sharing or {})
        self.name_prefix, self.debug = name_prefix, debug
        self.options = split_options(options, call)
        names = [name for name, _ in self.lists]
        if eliminate_empty_output_lists is True:
            eliminate_empty_output_lists = names
        self.eliminate: list[str] = list(eliminate_empty_output_lists or ())
        for name in self.eliminate:
            if name not in names:
                raise ValueError(
                    f"ListOfListsBuilder: invalid list name '{name}' in "
                    "eliminate_empty_output_lists"
                )
        for child, mother in self.count_sharing.items():
            if child not in names or mother not in names or mother in self.count_sharing:
                raise ValueError(
                    f"ListOfListsBuilder: count_sharing maps {child!r} to {mother!r}: both must be "
                    "names of lists, and the second must not share a count itself"
                )
        self._scans: dict[str, Scan] = {}

    # ---- text

    def __repr__(self) -> str:
        names = ", ".join(name for name, _ in self.lists)
        return f"<pygpu.algorithm.ListOfListsBuilder of {names}>"

    def _user_declarations(self) -> tuple[str, str]:
        """USER_ARG_DECL and USER_ARGS."""
        declared = "".join(
            f"__global {p.declaration} *{p.name}, " if p.vector else f"{p.declaration}, "
            for p in self.parameters
        )
        return declared, "".join(f"{p.name}, " for p in self.parameters)

    def source(self, backend: Backend, writing: bool) -> str:
        """Return the program of the counting or the writing kernel. Lists that a call omits have a
        flag that is 0."""
        render = self._written if writing else self._counted
        lists = [
            render(name, OPENCL.ctype(dtype), self.count_sharing.get(name))
            for name, dtype in self.lists
        ]
        user_declared, user_args = self._user_declarations()
        parameters = [*(p for one in lists for p in one.parameters), *self.parameters]
        flags = [
            f"int plb_{name}_wanted" for name, _ in self.lists if name not in self.count_sharing
        ]
        declared = [*map(OPENCL.declare, parameters), *flags, "long n"]
        texts = ("complex", self.preamble)  # PyOpenCL's programs rely on that header
        dtypes = [d for _, d in self.lists] + [p.dtype for p in self.parameters]
        given = [argument for one in lists for argument in one.arguments]
        return _SOURCE.fill(
            prefix=OPENCL.prefix(backend, texts, dtypes),
            preamble=self.preamble,
            stage="WRITE" if writing else "COUNT",
            macros="".join(one.macro for one in lists),
            list_declared="".join(f"{type_} *{name}, " for type_, name, _ in given),
            list_args="".join(f"{name}, " for _, name, _ in given),
            user_declared=user_declared,
            user_args=user_args,
            generate=self.generate_template,
            head=OPENCL.kernel(self._name(writing), declared),
            start=OPENCL.start(parameters),
            before="".join(one.before for one in lists),
            values="".join(f"{value}, " for _, _, value in given),
            after="".join(one.after for one in lists),
        )

    @staticmethod
    def _counted(name: str, ctype: str, shared: str | None) -> _List:
        """A list in the counting kernel. shared: the list that has its counts, if another."""
        if shared:
            return _List(f"#define APPEND_{name}(value) {{ }}\n", [], [])
        count = f"plb_loc_{name}_count"
        return _List(
            f"#define APPEND_{name}(value) {{ ++(*{count}); }}\n",
            [OPENCL.array(f"plb_{name}_count", "index_type")],
            [("index_type", count, f"&plb_loc_{name}")],
            f"index_type plb_loc_{name} = 0;\n",
            f"if (plb_{name}_wanted) plb_{name}_count[i] = plb_loc_{name};\n",
        )

    def _written(self, name: str, ctype: str, shared: str | None) -> _List:
        """A list in the writing kernel."""
        items = f"plb_{name}_list"
        index = f"(*plb_{shared}_index) - 1" if shared else f"(*plb_{name}_index)++"
        macro = f"#define APPEND_{name}(value) {{ {items}[{index}] = value; }}\n"
        parameters = [OPENCL.array(items, ctype)]
        arguments = [(f"__global {ctype}", items, items)]
        if shared:
            return _List(macro, parameters, arguments)
        parameters.append(OPENCL.array(f"plb_{name}_start_index", "index_type"))
        parameters.append(OPENCL.array(f"plb_{name}_compressed", "index_type"))
        arguments.append(("index_type", f"plb_{name}_index", f"&plb_{name}_at"))
        at = f"plb_{name}_compressed[i]" if name in self.eliminate else "i"
        start = f"plb_{name}_wanted ? plb_{name}_start_index[{at}] : 0"
        return _List(macro, parameters, arguments, f"index_type plb_{name}_at = {start};\n")

    def _name(self, writing: bool) -> str:
        return f"{self.name_prefix}_{'write' if writing else 'count'}"

    def _kernel(self, backend: Backend, writing: bool) -> Any:
        cache = backend.cache_for(self)
        found = cache.get(writing)
        if found is None:
            program = backend.compile(self.source(backend, writing), self.options)
            found = program.kernel(self._name(writing))
            counted = len(self.lists) - len(self.count_sharing)
            before = len(self.lists) + 2 * counted if writing else counted
            OPENCL.set_types(found, self.parameters, 1, before=before, flags=counted)
            found = cache.setdefault(writing, found)
        return found

    def _scan(self, which: str) -> Scan:
        found = self._scans.get(which)
        if found is None:
            if which == "starts":
                found = Scan(
                    OPENCL, np.int32, "int *counts", "counts[i]", "a + b", "0",
                    "counts[i] = prev_item;", name_prefix="plb_starts",
                )  # fmt: skip
            else:
                found = Scan(
                    OPENCL,
                    np.int32,
                    "int *counts, int *kept, int *nonempty, int *compressed, int *number",
                    "counts[i] == 0 ? 0 : 1",
                    "a + b",
                    "0",
                    "compressed[i] = prev_item; if (prev_item != item) { nonempty[item - 1] = i; "
                    "kept[item - 1] = counts[i]; } if (i + 1 == N) *number = item;",
                    name_prefix="plb_compress",
                )
            found = self._scans.setdefault(which, found)
        return found

    # ---- the call

    def _count(
        self, queue: Any, n_objects: int, counts: dict[str, Any]
    ) -> tuple[dict[str, BuiltList], dict[str, Any]]:
        """Count: return the lists without their entries, from each object's counts, and the
        compressed indices of the non-empty ones."""
        result: dict[str, BuiltList] = {}
        compressed: dict[str, Any] = {}
        for name, count in counts.items():
            built = BuiltList(None, count)
            if name in self.eliminate:
                self._compress(built, queue, n_objects)
                compressed[name] = built.compressed_indices
            self._scan("starts")((built.starts,), queue)
            built.count = int(built.starts[-1].get())
            if built.count < 0:
                raise ValueError(f"ListOfListsBuilder: more than 2**31 - 1 entries of '{name}'")
            result[name] = built
        return result, compressed

    def _entries(
        self,
        queue: Any,
        result: dict[str, BuiltList],
        compressed: dict[str, Any],
        omitted: set[str],
        allocator: Any,
    ) -> list[Any]:
        """Allocate the arrays of entries. Returns the arguments of the kernel that writes them,
        with placeholders for lists that are not built."""
        from pygpu._src.array.opencl_array import Array, zeros

        arrays: list[Any] = []
        empty = zeros(queue, 1, np.int32)
        for name, dtype in self.lists:
            mother = self.count_sharing.get(name, name)
            if mother in result and name not in omitted:
                if name != mother:
                    result[name] = BuiltList(result[mother].count, result[mother].starts)
                n_entries: Any = result[mother].count
                result[name].lists = Array(queue, n_entries, dtype, allocator=allocator)
                arrays.append(result[name].lists)
            else:
                arrays.append(empty)
            if name == mother:
                built_starts = result[name].starts if name in result else empty
                arrays += [built_starts, compressed.get(name, empty)]
        return arrays

    def __call__(
        self,
        queue: CommandQueue,
        n_objects: int,
        *args: Any,
        allocator: Allocator | None = None,
        omit_lists: Sequence[str] | None = None,
        wait_for: WaitList = None,
    ) -> tuple[dict[str, BuiltList], Event]:
        """Return (lists by name, event) for n_objects objects.

        args: for arg_decls; an array may be None or a buffer. omit_lists: names of lists that are
        not built; ``generate`` must not append to them. Waits for the counts. Raises ValueError
        for an unknown name or more than 2**31 - 1 objects or entries, TypeError for arguments that
        do not fit.
        """
        from pygpu._src.array.opencl_array import zeros

        omitted = set(omit_lists or ())
        unknown = omitted - {name for name, _ in self.lists}
        if unknown:
            raise ValueError(
                f"ListOfListsBuilder: invalid list names {sorted(unknown)} in omit_lists"
            )
        if not 0 <= n_objects < (1 << 31) - 1:
            raise ValueError(
                f"ListOfListsBuilder: n_objects must be from 0 to 2**31 - 2, not {n_objects}"
            )
        backend = backend_of(queue)
        values = self._arguments(args)
        events = list(wait_for or ())
        for value in args:
            events += getattr(value, "events", [])
        counted = [name for name, _ in self.lists if name not in self.count_sharing]
        counts: dict[str, Any] = {}
        for name in counted:
            length = n_objects + 1 if name not in omitted else 1
            counts[name] = zeros(queue, length, np.int32, allocator=allocator)
            events += counts[name].events
        flags = [int(name not in omitted) for name in counted]
        size = 1 if self.debug or backend.limits.is_cpu else min(128, backend.limits.group_size)
        groups = 1 if self.debug else max(1, min(-(-n_objects // size), backend.limits.units * 16))
        sizes = (groups * size,), (size,)
        kernel = self._kernel(backend, False)
        arrays = [counts[name] for name in counted]
        event = kernel(queue, *sizes, *arrays, *values, *flags, n_objects, wait_for=events or None)
        made = {name: counts[name] for name in counted if name not in omitted}
        for starts in made.values():
            starts.events = [event]
        result, compressed = self._count(queue, n_objects, made)
        arrays = self._entries(queue, result, compressed, omitted, allocator)
        waits = [event for array in arrays for event in array.events]
        kernel = self._kernel(backend, True)
        event = kernel(queue, *sizes, *arrays, *values, *flags, n_objects, wait_for=waits or None)
        for built in result.values():
            built.lists.events = [event]
        return result, event

    def _compress(self, built: BuiltList, queue: Any, n_objects: int) -> None:
        """Leave out the empty lists."""
        from pygpu._src.array.opencl_array import zeros

        arrays = [zeros(queue, n_objects + 1, np.int32) for _ in range(3)]
        kept, nonempty, compressed = arrays
        number = zeros(queue, 1, np.int32)
        self._scan("compress")((built.starts, kept, nonempty, compressed, number), queue)
        found = int(number.get()[0])
        built.num_nonempty_lists = found
        built.nonempty_indices = nonempty[:found]
        built.compressed_indices = compressed
        built.starts = kept[: found + 1]

    def _arguments(self, args: Sequence[Any]) -> list[Any]:
        call = "ListOfListsBuilder"
        if len(args) != len(self.parameters):
            declared = counted(len(self.parameters), "argument")
            raise TypeError(f"{call}: {declared} declared, {len(args)} given")
        values = []
        for value, parameter in zip(args, self.parameters, strict=True):
            if not parameter.vector:
                values.append(to_number(value, parameter, call))
            elif hasattr(value, "base_data"):
                if value.dtype.itemsize != parameter.dtype.itemsize:
                    raise TypeError(
                        f"{call}: '{parameter.name}' is an array of {parameter.dtype}, not "
                        f"{value.dtype}"
                    )
                values.append(value)
            else:
                values.append(_Memory(value))
        return values


class _Memory:
    """A buffer, or None, in place of an array."""

    def __init__(self, memory: Any) -> None:
        self.base_data, self.offset = memory, 0


publish(globals(), ["ListOfListsBuilder", "BuiltList"], "pygpu.algorithm")
