"""GenericScanKernel: prefix sums of an expression of each index, with any associative operation.

The index space is split into intervals. A first launch reduces each interval and stores only the
result; in a second one each work-group combines the results of the intervals before its own, then
scans its interval tile by tile and runs the output statement. Both evaluate the input expression,
so an item is read twice and written once. If the output statement writes to places that the input
expressions read, other than ``i``, the first launch stores their values for the second. Operands
are always combined in order. On a CPU a work-item scans an interval, item by item.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.array.launch_cache import SCRATCH, step
from pygpu._src.codegen.dtypes import native
from pygpu._src.runtime.backend import Backend

from .cluda import definitions_for
from .language import Language, Parameter, require_text, split_options
from .reduction import macro_body
from .scanner import blank, mentions, moves_index, uses_of
from .snippet import Snippet

_CONDITION = re.compile(r"\b(?:if|for|while|switch|goto|return|continue|break)\b|\?|&&|\|\|")
_GROUP = 256
_TILE_BYTES = 1 << 13  # bytes of local memory for the items of a tile


class Scan:
    """A scan for one language. The arguments are GenericScanKernel's; neutral None: the operation
    has no neutral element (then there are no segments). serial: run on one work-item."""

    language: Language
    dtype: np.dtype[Any]
    neutral: str
    scan_expr: str
    output: str
    input_expr: str
    segment_expr: str | None
    preamble: str
    options: list[str]
    name: str
    elsewhere: set[str]
    written: list[int]

    def __init__(
        self,
        language: Language,
        dtype: Any,
        arguments: Any,
        input_expr: str,
        scan_expr: str,
        neutral: str | None,
        output_statement: str,
        is_segment_start_expr: str | None = None,
        input_fetch_exprs: Sequence[tuple[str, str, int]] | None = None,
        index_dtype: Any = None,
        name_prefix: str = "scan",
        options: Any = None,
        preamble: str = "",
        serial: bool = False,
    ) -> None:
        self.call: str = f"ScanKernel '{name_prefix}'"
        self.language, self.dtype = language, native(dtype, self.call)
        require_text(
            self.call,
            scan_expr=scan_expr,
            input_expr=input_expr,
            output_statement=output_statement,
            is_segment_start_expr=is_segment_start_expr or "",
        )
        self.index_dtype: np.dtype[Any] = np.dtype(np.int32 if index_dtype is None else index_dtype)
        if self.index_dtype.kind != "i":
            raise TypeError(f"{self.call}: index_dtype must be signed, not {self.index_dtype}")
        self.bare: bool = neutral is None
        if neutral is None:
            if is_segment_start_expr is not None:
                raise ValueError(f"{self.call}: a segmented scan needs a neutral element")
            # As if a segment began at the first item: nothing before it is combined with it.
            is_segment_start_expr = "i == 0"
            scan_expr = f"(across_seg_boundary ? (b) : ({macro_body(scan_expr)}))"
            neutral = self._zero()
        self.neutral, self.scan_expr, self.output = str(neutral), scan_expr, output_statement
        self.input_expr, self.segment_expr = input_expr, is_segment_start_expr
        self.fetches: list[tuple[str, str, int]] = list(input_fetch_exprs or ())
        self.preamble, self.name = preamble, name_prefix
        self.options = split_options(options, self.call)
        self.serial = serial
        parameters = language.parse(arguments)
        reading = f"{input_expr}\n{is_segment_start_expr or ''}"
        self.snippet: Snippet = Snippet(
            language, self.call, parameters, f"{reading}\n{output_statement}", "", preamble, True
        )
        if not self.snippet.vectors:
            raise RuntimeError(f"{self.call}: a scan needs an array among its arguments")
        self.types: dict[str, str] = {p.name: p.declaration for p in parameters if p.vector}
        self.elsewhere, self.written = self._uses(parameters, reading)
        self.whole: list[int] = self._used_throughout(parameters, reading)
        #: whether the first launch stores the input values; two arguments may also be the same
        #: array
        self.stored: bool = any(parameters[k].name in self.elsewhere for k in self.written)
        self.needs_last: bool = mentions(output_statement, "last_item")

    def _zero(self) -> str:
        """Return an expression of the scan's type whose value does not matter."""
        if self.dtype.names is None and self.dtype.kind != "c":
            return "0"
        return "((scan_type){0})" if self.language.name == "opencl" else "scan_type()"

    def _uses(self, parameters: Sequence[Parameter], reading: str) -> tuple[set[str], list[int]]:
        """Return (names of arrays that are, or may be, read elsewhere than at item i, indices of
        those that are written)"""
        elsewhere, written = set(), []
        for _, name, offset in self.fetches:
            if offset not in (0, -1):
                raise RuntimeError(f"{self.call}: input_fetch_expr offsets must either be 0 or -1")
            if name not in self.types:
                raise ValueError(
                    f"{self.call}: input_fetch_exprs: '{name}' is not the name of an array argument"
                )
            if offset:
                elsewhere.add(name)
        for k in self.snippet.vectors:
            name = parameters[k].name
            read, out = uses_of(reading, name), uses_of(self.output, name)
            if read.used and not read.elementwise:
                elsewhere.add(name)
            if out.written or (out.used and not out.elementwise):
                written.append(k)
                if not out.elementwise and (read.used or any(f[1] == name for f in self.fetches)):
                    elsewhere.add(name)
        return elsewhere, written

    def _used_throughout(self, parameters: Sequence[Parameter], reading: str) -> list[int]:
        """Return the indices of the arrays of which certainly each item [i] is used: in a text
        without conditions, or as an array of input_fetch_exprs."""
        certain = [
            text
            for text in (reading, self.output)
            if not (_CONDITION.search(blank(text)) or moves_index(text))
        ]
        fetched = {array for _, array, offset in self.fetches if offset == 0}
        return [
            k
            for k in self.snippet.vectors
            if parameters[k].name in fetched
            or any(uses_of(text, parameters[k].name).elementwise for text in certain)
        ]

    # ---- text

    def source(self, backend: Backend, wide: bool, stored: bool) -> str:
        """Return the program: kernels NAME_reduce and NAME_output."""
        language, parameters = self.language, self.snippet.parameters
        serial = self.serial or backend.limits.is_cpu
        texts = (
            self.preamble,
            self.input_expr,
            self.scan_expr,
            self.neutral,
            self.output,
            self.segment_expr or "",
        )
        index = language.long if wide else "int"
        group, each = self.tile(backend)
        flag = "unsigned char"
        declared = [language.declare(p) for p in parameters]
        scratch = [
            language.declare(language.array("pg_sums", "scan_type")),
            language.declare(language.array("pg_flags", flag)),
            language.declare(language.array("pg_values", "scan_type")),
            language.declare(language.array("pg_starts", flag)),
        ]
        arrays = [p for p in parameters if p.vector] + [
            language.array(name, kind)
            for name, kind in (
                ("pg_sums", "scan_type"),
                ("pg_flags", flag),
                ("pg_values", "scan_type"),
                ("pg_starts", flag),
            )
        ]
        head = [*declared, *scratch, f"{language.long} pg_n", f"{language.long} pg_interval"]
        dtypes = [self.dtype, *(p.dtype for p in parameters)]
        start = f"{language.start(arrays)}  const index_type N = (index_type)pg_n; (void)N;\n"
        reduce_body = self._serial_reduce(stored) if serial else self._group_reduce(stored)
        output_body = self._serial_output(stored) if serial else self._group_output(stored)
        return f"""\
{language.prefix(backend, texts, dtypes)}{definitions_for(language.name, texts)}
{self.preamble}
typedef {language.ctype(self.dtype)} scan_type;
typedef {index} index_type;
#define PG_GROUP {group}
#define PG_EACH {each}
#define PG_TILE (PG_GROUP * PG_EACH)
#define PG_PAD(k) ((k) + (k) / 32)
#define PG_SCAN(a, b, across_seg_boundary) \\
    ((void)(across_seg_boundary), ({macro_body(self.scan_expr)}))
{language.kernel(f"{self.name}_reduce", head)}
{{
{start}{reduce_body}}}
{language.kernel(f"{self.name}_output", head)}
{{
{start}{output_body}}}
"""

    def _read(self, stored: bool, first: str = "") -> str:
        """Statements that set the value and the flag of item i. first: a condition for the first
        item of an interval in the first launch, where the result starts anew if there is no
        neutral element."""
        target, flag = "pg_v", "pg_f"
        if stored:
            return f"{target} = pg_values[i]; {flag} = pg_starts[i];"
        lines = []
        for name, array, offset in self.fetches:
            kind = self.types[array]
            if offset:
                lines.append(f"{kind} {name}; if (i > 0) {name} = {array}[i - 1];")
            else:
                lines.append(f"{kind} {name} = {array}[i];")
        lines.append(f"{target} = ({self.input_expr});")
        if self.bare and first:
            lines.append(f"{flag} = {first};")
        elif self.segment_expr is not None:
            lines.append(
                f"{{ const scan_type a = {target}; (void)a; "
                f"{flag} = ({self.segment_expr}) ? 1 : 0; }}"
            )
        else:
            lines.append(f"{flag} = 0;")
        return "\n".join(lines)

    def _store(self, stored: bool) -> str:
        return "pg_values[i] = pg_v; pg_starts[i] = pg_f;" if stored else ""

    def _before(self, upto: str, value: str) -> str:
        """Combine the intervals' results serially."""
        return (
            f"for ({self.language.long} pg_k = 0; pg_k < {upto}; pg_k++) {{\n"
            f"  scan_type pg_b = pg_sums[pg_k]; const int pg_s = pg_flags[pg_k];\n"
            f"  scan_type pg_r = PG_SCAN({value}, pg_b, pg_s); {value} = pg_r;\n}}\n"
        )

    def _serial_reduce(self, stored: bool) -> str:
        long = self.language.long
        return f"""\
  const {long} pg_first = pg_interval * PG_GROUP_ID(0);
  const {long} pg_end = pg_first + pg_interval < pg_n ? pg_first + pg_interval : pg_n;
  scan_type pg_acc = {self.neutral};
  int pg_any = 0;
  for ({long} pg_i = pg_first; pg_i < pg_end; pg_i++) {{
    const index_type i = (index_type)pg_i;
    scan_type pg_v; PG_UNUSED int pg_f;
    {self._read(False, "pg_i == pg_first")}
    {self._store(stored)}
    scan_type pg_r = PG_SCAN(pg_acc, pg_v, pg_f);
    pg_acc = pg_r; pg_any |= pg_f;
  }}
  pg_sums[PG_GROUP_ID(0)] = pg_acc; pg_flags[PG_GROUP_ID(0)] = (unsigned char){self._any("pg_any")};
"""

    def _any(self, flag: str) -> str:
        """Whether a segment begins in an interval."""
        return "(PG_GROUP_ID(0) == 0)" if self.bare else flag

    def _prev(self, value: str) -> str:
        """Statements that declare prev_item, if the output statement uses it."""
        if not mentions(self.output, "prev_item"):
            return ""
        if self.segment_expr is None:
            return f"const scan_type prev_item = {value}; (void)prev_item;"
        return (
            f"scan_type prev_item = {value}; if (pg_f) prev_item = {self.neutral}; (void)prev_item;"
        )

    def _serial_output(self, stored: bool) -> str:
        long = self.language.long
        last = ""
        if self.needs_last:
            last = f"scan_type last_item = {self.neutral};\n"
            last += self._before("PG_GROUPS(0)", "last_item")
        return f"""\
  const {long} pg_first = pg_interval * PG_GROUP_ID(0);
  const {long} pg_end = pg_first + pg_interval < pg_n ? pg_first + pg_interval : pg_n;
  scan_type pg_acc = {self.neutral};
  {self._before("PG_GROUP_ID(0)", "pg_acc")}
  {last}
  for ({long} pg_i = pg_first; pg_i < pg_end; pg_i++) {{
    const index_type i = (index_type)pg_i;
    scan_type pg_v; PG_UNUSED int pg_f;
    {{ {self._read(stored)} }}
    const scan_type item = PG_SCAN(pg_acc, pg_v, pg_f);
    {self._prev("pg_acc")}
    pg_acc = item;
    {{ {self.output}; }}
  }}
"""

    def _tile(self, stored_read: bool, store: bool, first: str = "") -> str:
        """Statements that read a tile into local memory and scan each work-item's part of it, then
        the totals of the work-items: pg_totals[k], pg_marks[k] are those of items 0 to k."""
        return f"""\
    for (int pg_j = 0; pg_j < PG_EACH; pg_j++) {{
      const int pg_at = pg_j * PG_GROUP + pg_lid;
      const {self.language.long} pg_i = pg_tile + pg_at;
      scan_type pg_v = {self.neutral}; PG_UNUSED int pg_f = 0;
      if (pg_i < pg_end) {{
        const index_type i = (index_type)pg_i;
        {self._read(stored_read, first)}
        {self._store(store)}
      }}
      pg_items[PG_PAD(pg_at)] = pg_v;
      pg_begin[pg_at] = (unsigned char)pg_f;
    }}
    PG_BARRIER;
    scan_type pg_acc = pg_items[PG_PAD(pg_lid * PG_EACH)];
    int pg_any = pg_begin[pg_lid * PG_EACH];
    for (int pg_j = 1; pg_j < PG_EACH; pg_j++) {{
      const int pg_at = pg_lid * PG_EACH + pg_j, pg_f = pg_begin[pg_at];
      scan_type pg_b = pg_items[PG_PAD(pg_at)];
      scan_type pg_r = PG_SCAN(pg_acc, pg_b, pg_f);
      pg_acc = pg_r; pg_any |= pg_f;
      pg_items[PG_PAD(pg_at)] = pg_acc;
    }}
    pg_totals[pg_lid] = pg_acc; pg_marks[pg_lid] = (unsigned char)pg_any;
    PG_BARRIER;
    for (int pg_d = 1; pg_d < PG_GROUP; pg_d *= 2) {{
      if (pg_lid >= pg_d) {{
        scan_type pg_a = pg_totals[pg_lid - pg_d];
        scan_type pg_r = PG_SCAN(pg_a, pg_acc, pg_any);
        pg_acc = pg_r; pg_any |= pg_marks[pg_lid - pg_d];
      }}
      PG_BARRIER;
      pg_totals[pg_lid] = pg_acc; pg_marks[pg_lid] = (unsigned char)pg_any;
      PG_BARRIER;
    }}
"""

    def _locals(self) -> str:
        local = self.language.local_array
        return f"""\
  {local("scan_type", "pg_items", "PG_PAD(PG_TILE) + 1")}
  {local("scan_type", "pg_totals", "PG_GROUP")}
  {local("unsigned char", "pg_begin", "PG_TILE")}
  {local("unsigned char", "pg_marks", "PG_GROUP")}
  const int pg_lid = (int)PG_LOCAL_ID(0);
  const {self.language.long} pg_first = pg_interval * PG_GROUP_ID(0);
  const {self.language.long} pg_end = pg_first + pg_interval < pg_n ? pg_first + pg_interval : pg_n;
"""

    def _group_reduce(self, stored: bool) -> str:
        return f"""\
{self._locals()}  scan_type pg_carry = {self.neutral};
  int pg_seen = 0;
  for ({self.language.long} pg_tile = pg_first; pg_tile < pg_end; pg_tile += PG_TILE) {{
{self._tile(False, stored, "pg_i == pg_first")}
    scan_type pg_b = pg_totals[PG_GROUP - 1];
    const int pg_s = pg_marks[PG_GROUP - 1];
    scan_type pg_r2 = PG_SCAN(pg_carry, pg_b, pg_s);
    pg_carry = pg_r2; pg_seen |= pg_s;
    PG_BARRIER;
  }}
  if (pg_lid == 0) {{
    pg_sums[PG_GROUP_ID(0)] = pg_carry;
    pg_flags[PG_GROUP_ID(0)] = (unsigned char){self._any("pg_seen")};
  }}
"""

    def _group_before(self, upto: str, value: str) -> str:
        """The same combination by a group: each work-item combines a stretch, then pairs are
        joined."""
        long = self.language.long
        if self.bare:  # every stretch would have to begin with a neutral element
            return self._before(upto, value)
        return f"""\
  {{
    const {long} pg_count = {upto}, pg_part = (pg_count + PG_GROUP - 1) / PG_GROUP;
    scan_type pg_acc = {self.neutral};
    int pg_any = 0;
    const {long} pg_from = pg_lid * pg_part;
    for ({long} pg_k = pg_from; pg_k < pg_from + pg_part && pg_k < pg_count; pg_k++) {{
      scan_type pg_b = pg_sums[pg_k]; const int pg_s = pg_flags[pg_k];
      scan_type pg_r = PG_SCAN(pg_acc, pg_b, pg_s); pg_acc = pg_r; pg_any |= pg_s;
    }}
    pg_totals[pg_lid] = pg_acc; pg_marks[pg_lid] = (unsigned char)pg_any;
    for (int pg_d = 1; pg_d < PG_GROUP; pg_d *= 2) {{
      PG_BARRIER;
      if (pg_lid % (2 * pg_d) == 0) {{
        scan_type pg_a = pg_totals[pg_lid], pg_b = pg_totals[pg_lid + pg_d];
        const int pg_s = pg_marks[pg_lid + pg_d];
        scan_type pg_r = PG_SCAN(pg_a, pg_b, pg_s);
        pg_totals[pg_lid] = pg_r; pg_marks[pg_lid] |= (unsigned char)pg_s;
      }}
    }}
    PG_BARRIER;
    {{ scan_type pg_a = {value}, pg_b = pg_totals[0]; const int pg_s = pg_marks[0];
      scan_type pg_r = PG_SCAN(pg_a, pg_b, pg_s); {value} = pg_r; }}
    PG_BARRIER;
  }}
"""

    def _group_output(self, stored: bool) -> str:
        last = ""
        if self.needs_last:
            last = f"  scan_type last_item = {self.neutral};\n"
            last += self._group_before("PG_GROUPS(0)", "last_item")
        prev = self._prev("pg_at > 0 ? pg_items[PG_PAD(pg_at - 1)] : pg_carry")
        return f"""\
{self._locals()}  scan_type pg_carry = {self.neutral};
{self._group_before("PG_GROUP_ID(0)", "pg_carry")}{last}
  for ({self.language.long} pg_tile = pg_first; pg_tile < pg_end; pg_tile += PG_TILE) {{
{self._tile(stored, False)}
    scan_type pg_pre = pg_carry;
    if (pg_lid > 0) {{
      scan_type pg_b = pg_totals[pg_lid - 1];
      const int pg_s = pg_marks[pg_lid - 1];
      scan_type pg_r = PG_SCAN(pg_pre, pg_b, pg_s);
      pg_pre = pg_r;
    }}
    int pg_seen = 0;
    for (int pg_j = 0; pg_j < PG_EACH; pg_j++) {{
      const int pg_at = pg_lid * PG_EACH + pg_j;
      pg_seen |= pg_begin[pg_at];
      scan_type pg_b = pg_items[PG_PAD(pg_at)];
      scan_type pg_r = PG_SCAN(pg_pre, pg_b, pg_seen);
      pg_items[PG_PAD(pg_at)] = pg_r;
    }}
    PG_BARRIER;
    for (int pg_j = 0; pg_j < PG_EACH; pg_j++) {{
      const int pg_at = pg_j * PG_GROUP + pg_lid;
      const {self.language.long} pg_i = pg_tile + pg_at;
      if (pg_i < pg_end) {{
        const index_type i = (index_type)pg_i;
        const int pg_f = pg_begin[pg_at]; (void)pg_f;
        const scan_type item = pg_items[PG_PAD(pg_at)];
        (void)item; (void)i;
        {prev}
        {{ {self.output}; }}
      }}
    }}
    scan_type pg_b2 = pg_totals[PG_GROUP - 1];
    const int pg_s2 = pg_marks[PG_GROUP - 1];
    scan_type pg_r2 = PG_SCAN(pg_carry, pg_b2, pg_s2);
    pg_carry = pg_r2;
    PG_BARRIER;
  }}
"""

    # ---- geometry

    def tile(self, backend: Backend) -> tuple[int, int]:
        """Return (group size, items per work-item in a tile)."""
        limits = backend.limits
        if self.serial or limits.is_cpu:
            return 1, 1
        size = self.dtype.itemsize
        group = min(_GROUP, limits.group_size)
        group = 1 << (group.bit_length() - 1)
        while group > 1 and group * (size + 2) * 3 > limits.local_bytes:
            group //= 2
        return group, max(1, min(8, _TILE_BYTES // (group * size)))

    def kernels(self, backend: Backend, wide: bool, stored: bool) -> tuple[Any, Any]:
        """Return the two kernels, compiled at first use."""
        cache, key = backend.cache_for(self), (wide, stored)
        found: tuple[Any, Any] | None = cache.get(key)
        if found is None:
            program = backend.compile(self.source(backend, wide, stored), self.options)
            found = program.kernel(f"{self.name}_reduce"), program.kernel(f"{self.name}_output")
            for kernel in found:
                self.language.set_types(kernel, self.snippet.parameters, 2, scratch=4)
            found = cache.setdefault(key, found)
        return found

    def __call__(
        self,
        args: tuple[Any, ...],
        queue: Any = None,
        wait_for: Any = None,
        size: int | None = None,
        allocator: Any = None,
    ) -> Any:
        """Scan. Returns an event, None on CUDA."""
        snippet = self.snippet
        simple = queue is wait_for is size is allocator is None
        if simple and not self.elsewhere:
            cached = snippet.plans.run("", *args)
            if cached is not None:
                return cached[0]
        given = queue is not None
        backend, queue, numbers, _, n, _ = snippet.prepare(args, None, None, queue)
        n = self._checked_size(args, size, n)
        cuda = snippet.is_cuda
        events = None if cuda else snippet.wait_list(backend, queue, numbers, wait_for)
        if n == 0:
            return None if cuda else backend.event(queue, events)
        group, each = self.tile(backend)
        tile = group * each
        if self.serial:
            intervals = 1
        elif backend.limits.is_cpu:
            intervals = max(1, min(backend.limits.units * 4, n >> 12))
        else:
            intervals = max(1, min(backend.limits.units * 4, -(-n // tile)))
        interval = -(-n // (intervals * tile)) * tile
        intervals = -(-n // interval)
        stored = self.stored or self._overlaps(args)
        wide = n >= 1 << 31 or self.index_dtype.itemsize == 8
        kernels: Sequence[Any] = self.kernels(backend, wide, stored)
        like = args[snippet.vectors[0]]
        sums = self._scratch(like, backend, queue, intervals, self.dtype)
        flags = self._scratch(like, backend, queue, intervals, np.dtype(np.uint8))
        values, starts = sums, flags
        if stored:
            values = self._scratch(like, backend, queue, n, self.dtype)
            starts = self._scratch(like, backend, queue, n, np.dtype(np.uint8))
        if intervals == 1 and not (stored or self.needs_last):
            kernels = kernels[1:]
        if simple and not self.elsewhere:
            sizes = intervals, group, interval, n
            self._cache_launch(backend, queue, args, numbers, kernels, sizes, stored)
        numbers += (sums, flags, values, starts, n, interval)
        used = [args[k] for k in snippet.vectors]
        if cuda:
            snippet.order(backend, queue, given, used)
        for kernel in kernels:
            event = self._launch(kernel, queue, intervals, group, numbers, events)
            events = event and [event]
        if cuda:
            snippet.order(backend, queue, given, used, after=True)
        else:
            read = [args[k] for k in snippet.vectors if k not in self.written]
            backend.note_event(queue, event, [args[k] for k in self.written], read)
        return event

    def _checked_size(self, args: Sequence[Any], size: int | None, n: int) -> int:
        """Return the number of items to scan, which the arrays must have. n: of the first one."""
        if size is not None:
            if not isinstance(size, (int, np.integer)):
                raise TypeError(f"{self.call}: size must be an int, not {type(size).__name__}")
            if not 0 <= size <= n:
                raise ValueError(
                    f"{self.call}: size must be from 0 to {n}, the size of the first array, "
                    f"not {size}"
                )
            n = size
        for k in self.whole:
            if args[k].size < n:
                raise ValueError(
                    f"{self.call}: '{self.snippet.parameters[k].name}' has {args[k].size} items, "
                    f"and the scan uses {n}; pass a longer array, or size="
                )
        return n

    def _cache_launch(
        self,
        backend: Backend,
        queue: Any,
        args: tuple[Any, ...],
        numbers: list[Any],
        kernels: Sequence[Any],
        sizes: tuple[int, int, int, int],
        stored: bool,
    ) -> None:
        """Cache the launches for C. sizes: intervals, work-items per group, items per interval,
        items."""
        intervals, group, interval, n = sizes
        scratch, more = (SCRATCH, SCRATCH - 1), (SCRATCH - 2, SCRATCH - 3)
        slots = [*range(len(args)), *scratch, *(more if stored else scratch)]
        literal = [*numbers[len(args) :], n, interval]
        steps = [step(backend, k, intervals, group, slots, literal, True) for k in kernels]
        byte = np.dtype(np.uint8)
        own = (self.dtype, intervals), (byte, intervals)
        whole = ((self.dtype, n), (byte, n)) if stored else ()
        self.snippet.cache_launch(
            backend, queue, args, numbers, steps, None, (*own, *whole), self.written
        )

    def _launch(
        self, kernel: Any, queue: Any, groups: int, size: int, numbers: list[Any], events: Any
    ) -> Any:
        if self.snippet.is_cuda:
            kernel(*numbers, block=(size, 1, 1), grid=(groups, 1), stream=queue)
            return None
        return kernel(queue, (groups * size,), (size,), *numbers, wait_for=events)

    def _overlaps(self, args: Sequence[Any]) -> bool:
        """Whether an array that is written shares memory with one that is read elsewhere."""
        if not self.elsewhere:
            return False
        parameters = self.snippet.parameters
        return any(
            args[k].base_data is args[j].base_data
            for k in self.written
            for j in self.snippet.vectors
            if parameters[j].name in self.elsewhere
        )

    def _scratch(
        self, like: Any, backend: Backend, queue: Any, n: int, dtype: np.dtype[Any]
    ) -> Any:
        cls: Any = type(like)
        array = cls.__new__(cls)
        data = backend.allocate(n * dtype.itemsize, None, queue)
        array._init(backend, queue, data, 0, (n,), None, dtype, None)
        return array
