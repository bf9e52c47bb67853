"""ReductionKernel: maps items of arrays by one snippet of C, and reduces them to one by another.

One launch if a single work-group suffices, else two: groups write partial results, and one group
reduces those. On a GPU the work-items of a group process adjacent items, four at a time, and join
their results in a tree in local memory; on a CPU a work-item processes a stretch of items, with
eight separate partial results, so that the compiler can use vector instructions. In both cases
items are not combined in order: the operation must be associative and commutative.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pygpu._src.array.launch_cache import RESULT, SCRATCH, step
from pygpu._src.codegen.dtypes import native
from pygpu._src.runtime.backend import Backend

from .language import Language, Parameter, require_text, split_options
from .snippet import FLAT, Form, Snippet

_GROUP = 256
_PARTIAL = "pg_partial"


def macro_body(text: str) -> str:
    """Return text that can follow a #define: line comments would swallow the rest."""
    lines = [line.split("//")[0] if '"' not in line else line for line in text.splitlines()]
    return " ".join(line.rstrip("\\ ") for line in lines)


class Reduction:
    """A reduction for one language.

    dtype: of the result. neutral, reduce_expr (of ``a`` and ``b``), map_expr (of ``i``):
    expressions. arguments: as ElementwiseKernel's; None for one array ``in`` of the result's
    dtype.
    """

    def __init__(
        self,
        language: Language,
        dtype: Any,
        neutral: str,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: Any = None,
        name: str = "reduce_kernel",
        options: Any = None,
        preamble: str = "",
    ) -> None:
        self.call = f"ReductionKernel '{name}'"
        require_text(self.call, reduce_expr=reduce_expr)
        if neutral is None or not str(neutral).strip():
            raise TypeError(
                f"{self.call}: neutral must be an expression such as '0', not {neutral!r}"
            )
        self.language, self.dtype = language, native(dtype, self.call)
        self.ctype = language.ctype(self.dtype)
        self.neutral, self.reduce_expr, self.name = str(neutral), reduce_expr, name
        self.options, self.preamble = split_options(options, self.call), preamble
        if arguments is None:
            arguments = f"{self.ctype} *in"
        parameters = language.parse(arguments)
        if map_expr is None and not any(p.name == "in" for p in parameters):
            raise ValueError(
                f"{self.call}: map_expr is needed, such as '{parameters[0].name}[i]': without it "
                f"items are in[i], and none of the arguments {arguments!r} is called 'in'"
            )
        # a and b are the operands here, whatever the arguments' names
        around = re.sub(r"(?<![\w.])[ab]\b", " ", f"{reduce_expr}\n{neutral}")
        self.first = Snippet(language, self.call, parameters, map_expr or "in[i]", around, preamble)
        partial = Parameter(_PARTIAL, self.dtype, True, self.ctype)
        self.second = Snippet(
            language, self.call, [partial, *parameters], f"{_PARTIAL}[i]", around, preamble
        )

    # ---- text

    def source(self, backend: Backend, form: Form, stage: int) -> str:
        """The program of a stage."""
        language, snippet = self.language, self.first if stage == 1 else self.second
        parameters, long, cpu = snippet.parameters, language.long, backend.limits.is_cpu
        out = Parameter("pg_out", self.dtype, True, self.ctype)
        declared = [language.declare(p) for p in (out, *parameters)]
        declared += snippet.layout_parameters(form)
        declared += [f"{long} pg_start", f"{long} pg_step", f"{long} n"]
        texts = (self.preamble, self.reduce_expr, self.neutral, snippet.text)
        dtypes = [self.dtype, *(p.dtype for p in parameters)]
        size = self.group_size(backend)
        return (
            f"{language.prefix(backend, texts, dtypes)}#define PG_GROUP {size}\n{self.preamble}\n"
            f"typedef {self.ctype} pg_out_t;\n#define PG_REDUCE(a, b) "
            f"({macro_body(self.reduce_expr)})\n"
            f"{snippet.access_macros(form)}"
            f"{language.kernel(self._kernel_name(stage), declared)}\n{{\n"
            f"{language.start((out, *parameters))}"
            f"{self._cpu_loop(snippet, form) if cpu else self._group_loop(snippet, form)}}}\n"
        )

    def _kernel_name(self, stage: int) -> str:
        return f"{self.name}_stage{stage}"

    def _item(self, snippet: Snippet, form: Form, target: str, k: str) -> str:
        """Statements that set *target* to item number k."""
        long = self.language.long
        return (
            f"{{ const {long} i = pg_start + ({k}) * pg_step; (void)i;\n{snippet.offsets(form)}"
            f"{target} = {snippet.operation(form)};\n}}\n"
        )

    def _items(self, snippet: Snippet, form: Form, count: int, place: str) -> str:
        """Statements that add *count* items to as many partial results."""
        text = "".join(f"pg_out_t pg_v{j};\n" for j in range(count))
        text += "".join(
            self._item(snippet, form, f"pg_v{j}", place.format(j=j)) for j in range(count)
        )
        return text + "".join(f"pg_acc{j} = PG_REDUCE(pg_acc{j}, pg_v{j});\n" for j in range(count))

    def _accumulators(self, count: int) -> str:
        return "".join(f"pg_out_t pg_acc{j} = {self.neutral};\n" for j in range(count))

    @staticmethod
    def _join(count: int) -> str:
        text, half = "", count // 2
        while half:
            text += "".join(
                f"pg_acc{j} = PG_REDUCE(pg_acc{j}, pg_acc{j + half});\n" for j in range(half)
            )
            half //= 2
        return text

    def _group_loop(self, snippet: Snippet, form: Form) -> str:
        long = self.language.long
        return f"""\
{self.language.local_array("pg_out_t", "pg_local", "PG_GROUP")}
{self._accumulators(4)}
const unsigned int pg_lid = PG_LOCAL_ID(0);
const {long} pg_items = ({long})PG_GROUPS(0) * PG_GROUP;
{long} pg_k = ({long})PG_GROUP_ID(0) * PG_GROUP + pg_lid;
for (; pg_k + 3 * pg_items < n; pg_k += 4 * pg_items) {{
{self._items(snippet, form, 4, "pg_k + {j} * pg_items")}}}
for (; pg_k < n; pg_k += pg_items) {{
{self._items(snippet, form, 1, "pg_k")}}}
{self._join(4)}pg_local[pg_lid] = pg_acc0;
for (unsigned int pg_half = PG_GROUP / 2; pg_half > 0; pg_half /= 2) {{
  PG_BARRIER;
  if (pg_lid < pg_half) {{
    pg_out_t pg_x = pg_local[pg_lid], pg_y = pg_local[pg_lid + pg_half];
    pg_local[pg_lid] = PG_REDUCE(pg_x, pg_y);
  }}
}}
if (pg_lid == 0) pg_out[PG_GROUP_ID(0)] = pg_local[0];
"""

    def _cpu_loop(self, snippet: Snippet, form: Form) -> str:
        long = self.language.long
        return f"""\
{self._accumulators(8)}
const {long} pg_each = (n + PG_GROUPS(0) - 1) / PG_GROUPS(0);
{long} pg_k = pg_each * PG_GROUP_ID(0);
const {long} pg_end = pg_k + pg_each < n ? pg_k + pg_each : n;
for (; pg_k + 8 <= pg_end; pg_k += 8) {{
{self._items(snippet, form, 8, "pg_k + {j}")}}}
for (; pg_k < pg_end; pg_k++) {{
{self._items(snippet, form, 1, "pg_k")}}}
{self._join(8)}pg_out[PG_GROUP_ID(0)] = pg_acc0;
"""

    # ---- geometry

    def group_size(self, backend: Backend) -> int:
        """Return a power of two for which a group's results fit local memory."""
        limits = backend.limits
        if limits.is_cpu:
            return 1
        size = min(_GROUP, limits.group_size)
        while size > 1 and size * self.dtype.itemsize > limits.local_bytes // 2:
            size //= 2
        return 1 << (size.bit_length() - 1)

    def groups(self, backend: Backend, n: int, size: int) -> int:
        limits = backend.limits
        if limits.is_cpu:
            return max(1, min(limits.units * 4, n >> 12))
        return max(1, min(-(-n // (size * 8)), limits.units * 8, 4096))

    def kernel(self, backend: Backend, form: Form, stage: int) -> Any:
        """Return the kernel of a stage, compiled at first use."""
        cache, key = backend.cache_for(self), (form, stage)
        found = cache.get(key)
        if found is None:
            program = backend.compile(self.source(backend, form, stage), self.options)
            found = program.kernel(self._kernel_name(stage))
            parameters = (self.first if stage == 1 else self.second).parameters
            self.language.set_types(found, parameters, form.n_layout + 3, before=1)
            found = cache.setdefault(key, found)
        return found

    # ---- the call

    def __call__(
        self,
        args: tuple[Any, ...],
        bounds: slice | None = None,
        part: slice | None = None,
        queue: Any = None,
        wait_for: Any = None,
        out: Any = None,
        allocator: Any = None,
        wrapper: Any = None,
    ) -> tuple[Any, Any]:
        """Return (result, event). out: an array whose first item receives the result. allocator:
        for a new one. wrapper: PyCUDA's kernel_wrapper=."""
        simple = bounds is part is queue is wait_for is out is allocator is wrapper is None
        if simple:
            cached = self.first.plans.run("", *args)
            if cached is not None:
                return cached, cached.events[-1] if cached.events else None
        given = queue is not None
        backend, queue, numbers, form, n, indices = self.first.prepare(args, bounds, part, queue)
        events = None
        if not self.first.is_cuda:
            events = self.first.wait_list(backend, queue, numbers, wait_for)
        like = next((args[k] for k in self.first.vectors), None)
        if out is None:
            out = self._new(like, backend, queue, (), allocator)
        else:
            self._check_out(out, backend)
        numbers += (0, 1, n) if indices is None else (indices.start, indices.step, n)
        size = self.group_size(backend)
        groups = self.groups(backend, n, size)
        used = [out, *(args[k] for k in self.first.vectors)]
        if self.first.is_cuda:
            self.first.order(backend, queue, given, used)
        target = out if groups == 1 else self._new(like, backend, queue, (groups,), None)
        kernel = self.kernel(backend, form, 1)
        if simple and n:
            self._cache_launch(backend, queue, args, numbers, out, (kernel, groups, size))
        event = self._launch(kernel, queue, groups, size, [target, *numbers], events, wrapper)
        if groups > 1:
            kernel = self.kernel(backend, FLAT, 2)
            rest = numbers[: len(self.first.parameters)]
            numbers = [out, target, *rest, 0, 1, groups]
            event = self._launch(kernel, queue, 1, size, numbers, event and [event], wrapper)
        if self.first.is_cuda:
            self.first.order(backend, queue, given, used, after=True)
        else:
            backend.note_event(queue, event, [out], used[1:])
        return out, event

    def _cache_launch(
        self,
        backend: Backend,
        queue: Any,
        args: tuple[Any, ...],
        numbers: list[Any],
        out: Any,
        first: tuple[Any, int, int],
    ) -> None:
        """Cache the launch for C."""
        kernel, groups, size = first
        slots = range(len(args))
        target = RESULT if groups == 1 else SCRATCH
        literal = numbers[len(args) :]
        steps = [step(backend, kernel, groups, size, [target, *slots], literal, True)]
        if groups > 1:
            final = self.kernel(backend, FLAT, 2)
            rest = range(len(self.first.parameters))
            steps.append(
                step(backend, final, 1, size, [RESULT, SCRATCH, *rest], [0, 1, groups], True)
            )
        scratch = ((self.dtype, groups),) if groups > 1 else ()
        self.first.cache_launch(backend, queue, args, numbers, steps, out, scratch)

    def _launch(
        self,
        kernel: Any,
        queue: Any,
        groups: int,
        size: int,
        numbers: Sequence[Any],
        events: Any,
        wrapper: Any,
    ) -> Any:
        if not self.first.is_cuda:
            return kernel(queue, (groups * size,), (size,), *numbers, wait_for=events)
        if wrapper is not None:

            def launch(
                grid: Any, block: Any, stream: Any, *args: Any, shared_size: int = 0
            ) -> None:
                kernel(*args, block=block, grid=grid, stream=stream, shared=shared_size)

            wrapper(launch)((groups, 1), (size, 1, 1), queue, *numbers, shared_size=0)
        else:
            kernel(*numbers, block=(size, 1, 1), grid=(groups, 1), stream=queue)
        return None

    def _new(
        self, like: Any, backend: Backend, queue: Any, shape: tuple[int, ...], allocator: Any
    ) -> Any:
        """Make an array in the place of the first one, with the result's dtype."""
        nbytes = self.dtype.itemsize * (shape[0] if shape else 1)
        if like is None:
            cls: Any = self.language.array_type()
        else:
            cls = type(like)
            if allocator is None and not shape:
                allocator = like.allocator
        array = cls.__new__(cls)
        data = backend.allocate(nbytes, allocator, queue)
        array._init(backend, queue, data, 0, shape, None, self.dtype, allocator)
        return array

    def _check_out(self, out: Any, backend: Backend) -> None:
        if getattr(out, "backend", None) is None:
            raise TypeError(
                f"{self.call}: out must be an array on the device, not {type(out).__name__}"
            )
        if out.dtype != self.dtype:
            raise ValueError(
                f"{self.call}: out must have the same dtype as dtype_out, {self.dtype}, not "
                f"{out.dtype}"
            )
        if out.size == 0:
            raise ValueError(f"{self.call}: out array is empty")
        if out.backend.context != backend.context:
            raise ValueError(f"{self.call}: out is in another context than the arguments")
