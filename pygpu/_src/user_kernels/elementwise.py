"""A snippet of C that runs for each item of arrays: the implementation of ElementwiseKernel for
both backends."""

from __future__ import annotations

import warnings
from typing import Any

from pygpu._src.array.launch_cache import step
from pygpu._src.runtime.backend import Backend

from .language import Language, split_options
from .scanner import mentions
from .snippet import Form, Snippet

_GROUP = 256


def groups_for(backend: Backend, n: int) -> tuple[int, int]:
    """Return (groups, group size) for a loop over n items, one per work-item; on a CPU, a stretch
    per work-item."""
    limits = backend.limits
    if limits.is_cpu:
        return max(1, min(limits.units * 4, n >> 10)), 1
    size = min(_GROUP, limits.group_size)
    return max(1, min(-(-n // size), 1 << 16)), size


_RANGE_NAMES = "i", "start", "stop", "step"
_NAMES = "i", "n"


class Elementwise(Snippet):
    """A snippet with its arguments, for one language.

    arguments, operation, preamble, loop_prep, after_loop: as ElementwiseKernel's. Raises
    TypeError or ValueError for an argument list that cannot be parsed, RuntimeError without an
    array in it.
    """

    def __init__(
        self,
        language: Language,
        arguments: Any,
        operation: str,
        name: str,
        options: Any = None,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
        keep: bool = False,
        pointers: bool = False,
    ) -> None:
        self.name = name
        self.options = split_options(options, f"ElementwiseKernel '{name}'")
        self.loop_prep, self.after_loop, self.keep = loop_prep, after_loop, keep
        super().__init__(
            language,
            f"ElementwiseKernel '{name}'",
            language.parse(arguments),
            operation,
            f"{loop_prep}\n{after_loop}",
            preamble,
            pointers,
        )
        if not self.vectors:
            raise RuntimeError(
                f"{self.call}: ElementwiseKernel can only be used with functions that have at "
                "least "
                "one vector argument"
            )
        if mentions(operation, "return"):
            warnings.warn(
                f"{self.call}: a 'return' in the operation skips the items that the same work-item "
                "would do later; write PYOPENCL_ELWISE_CONTINUE (or continue)",
                stacklevel=3,
            )

    def source(self, backend: Backend, form: Form) -> str:
        """The program of one form."""
        language, parameters = self.language, self.parameters
        names = _RANGE_NAMES if form.ranged else _NAMES
        for p in parameters:
            if p.name in names or f" {p.name} = " in language.loop_variables:
                raise ValueError(
                    f"{self.call}: argument {p.name!r} has the name of a variable of the loop over "
                    "the items; give it another name"
                )
        declared = [language.declare(p) for p in parameters] + self.layout_parameters(form)
        index = language.long if form.ranged else language.index
        if form.ranged:
            declared += [f"{language.long} {name}" for name in ("start", "stop", "step")]
        else:
            declared.append(f"{index} n")
        body = f"{{\n{self.offsets(form)}{self.operation(form)};\n}}"
        texts = (self.text, self.preamble, self.around)
        return (
            f"{language.prefix(backend, texts, [p.dtype for p in parameters])}{self.preamble}\n"
            f"#define PYOPENCL_ELWISE_CONTINUE continue\n{self.access_macros(form)}"
            f"{language.kernel(self.name, declared)}\n{{\n{language.start(parameters)}"
            f"{language.loop_variables}  {index} i;\n{self.loop_prep};\n"
            f"{self._loop(backend, form, index, body)}\n{self.after_loop};\n}}\n"
        )

    def _loop(self, backend: Backend, form: Form, index: str, body: str) -> str:
        if form.ranged:
            first, step = (
                f"start + ({index})(cta_start + tid) * step",
                f"({index})total_threads * step",
            )
            return (
                f"if (step < 0) {{\n  for (i = {first}; i > stop; i += {step})\n{body}\n}} else "
                f"{{\n"
                f"  for (i = {first}; i < stop; i += {step})\n{body}\n}}"
            )
        if backend.limits.is_cpu and self.loop_is_ours:
            return (
                "const long pg_each = (n + gsize - 1) / gsize, pg_first = pg_each * "
                "get_global_id(0);\n"
                "const long pg_end = pg_first + pg_each < n ? pg_first + pg_each : n;\n"
                f"for (i = pg_first; i < pg_end; i++)\n{body}"
            )
        return f"for (i = cta_start + tid; i < n; i += total_threads)\n{body}"

    def launch(self, backend: Backend, form: Form) -> Any:
        """Return the kernel of a form, compiled at first use. It takes the arguments (an array is
        one of them), the layout numbers, and n or start, stop, step."""
        cache = backend.cache_for(self)
        found = cache.get(form)
        if found is None:
            program = backend.compile(self.source(backend, form), self.options)
            kernel = program.kernel(self.name)
            more = form.n_layout + (3 if form.ranged else 1)
            self.language.set_types(kernel, self.parameters, more)
            found = cache.setdefault(form, kernel)
        return found

    def __call__(
        self,
        args: tuple[Any, ...],
        bounds: slice | None = None,
        part: slice | None = None,
        queue: Any = None,
        wait_for: Any = None,
        capture: Any = None,
    ) -> Any:
        """Check, choose the form, launch. bounds, part: range= and slice=. Returns an event, or
        None."""
        simple = bounds is part is queue is wait_for is capture is None
        if simple:
            cached = self.plans.run("", *args)
            if cached is not None:
                return cached[0]
        given = queue is not None
        backend, queue, numbers, form, n, indices = self.prepare(args, bounds, part, queue)
        launch = self.launch(backend, form)
        if indices is None:
            numbers.append(n)
        else:
            numbers += (indices.start, indices.stop, indices.step)
        groups, size = groups_for(backend, n)
        if simple and n:
            slots = range(len(args))
            literal = numbers[len(args) :]
            steps = [step(backend, launch, groups, size, slots, literal, True)]
            self.cache_launch(backend, queue, args, numbers, steps, written=self.written)
        if self.is_cuda:
            if n:
                arrays = [numbers[k] for k in self.vectors]
                self.order(backend, queue, given, arrays)
                launch(*numbers, block=(size, 1, 1), grid=(groups, 1), stream=queue)
                self.order(backend, queue, given, arrays, after=True)
            return None
        events = self.wait_list(backend, queue, numbers, wait_for)
        if n == 0:
            return backend.event(queue, events)
        sizes = (groups * size,), (size,)
        if capture is not None:
            launch.capture_call(capture, queue, *sizes, *numbers)
        event = launch(queue, *sizes, *numbers, wait_for=events)
        written = [numbers[k] for k in self.written]
        read = [numbers[k] for k in self.vectors if k not in self.written]
        backend.note_event(queue, event, written, read)
        return event
