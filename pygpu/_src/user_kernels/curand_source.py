"""CUDA C++ sources over cuRAND's own states, under PyCUDA's names.

``pygpu.cuda.curandom`` does not need cuRAND; these are for programs that put such sources into
their own modules, or derive a generator from ``curandom._PseudoRandomNumberGeneratorBase``. They
need ``curand_kernel.h`` from the toolkit, pip's ``nvidia-curand``, or the simulator.

Each source is a template for ``%`` and a dictionary: with ``name``, ``state_type``, ``out_type``,
``in_type``, ``inout_type`` and ``suffix`` for one kernel, with ``generators`` for random_source,
with ``state_type``, ``vector_type`` and ``scramble_type`` for the others. Thread number t uses
state number t and computes the items t, t + threads, t + 2 * threads, ...
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._cuda import mem_alloc
from pygpu._src.array.cuda_array import GPUArray
from pygpu._src.array.cuda_functions import stream_of
from pygpu._src.runtime.cuda.source_module import SourceModule

from .cuda_characterize import sizeof
from .cuda_random import Distributions, seed_getter_unique
from .random import real


def _filling(out_type: str, more: str, value: str) -> str:
    """A template of a kernel that computes *value*, an expression of the state ``mine`` and of the
    item ``item``, for all *n* items."""
    return f"""
__global__ void %(name)s(%(state_type)s *states, %({out_type})s *items,{more} const size_t n)
{{
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    %(state_type)s *mine = states + thread;
    for (size_t i = thread; i < n; i += (size_t)gridDim.x * blockDim.x) {{
        %({out_type})s &item = items[i];
        item = {value};
    }}
}}
"""


gen_template = _filling("out_type", "", "curand%(suffix)s(mine)")
gen_log_template = _filling(
    "out_type",
    " %(in_type)s mean, %(in_type)s stddev,",
    "curand_log%(suffix)s(mine, mean, stddev)",
)
gen_poisson_template = _filling(
    "out_type", " double lambda,", "curand_poisson%(suffix)s(mine, lambda)"
)
gen_poisson_inplace_template = _filling(
    "inout_type", "", "(%(inout_type)s)curand_poisson%(suffix)s(mine, (double)item)"
)

random_source = """
#include <curand_kernel.h>
extern "C" {
%(generators)s
}
"""


def _for_each_state(name: str, parameters: str, call: str) -> str:
    """A kernel that does *call* for each of n states; ``id`` is the state's number."""
    return f"""
extern "C" __global__ void {name}(%(state_type)s *states, const size_t n, {parameters})
{{
    const size_t id = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (id < n) {call};
}}
"""


def _skipping(name: str, function: str, word: str) -> str:
    """The kernels *name* and *name*_array: one distance for all states, and one for each."""
    one = _for_each_state(name, f"const {word} skip", f"{function}(skip, states + id)")
    each = f"{function}(skip[id], states + id)"
    return one + _for_each_state(name + "_array", f"const {word} *skip", each)


_WIDE = "unsigned long long"
random_skip_ahead32_source = _skipping("skip_ahead", "skipahead", "unsigned int")
random_skip_ahead64_source = _skipping("skip_ahead", "skipahead", _WIDE)
xorwow_random_source = mrg32k3a_random_source = _for_each_state(
    "prepare",
    "const %(vector_type)s *seeds, const size_t offset",
    "curand_init(seeds[id], id, offset, states + id)",
)
xorwow_skip_ahead_sequence_source = _skipping("skip_ahead_sequence", "skipahead_sequence", _WIDE)
mrg32k3a_skip_ahead_sequence_source = xorwow_skip_ahead_sequence_source + _skipping(
    "skip_ahead_subsequence", "skipahead_subsequence", _WIDE
)
sobol_random_source = _for_each_state(
    "prepare",
    "%(vector_type)s *directions, const size_t offset",
    "curand_init(directions[id], offset, states + id)",
)
scrambledsobol_random_source = _for_each_state(
    "prepare",
    "%(vector_type)s *directions, const %(scramble_type)s *scramble, const size_t offset",
    "curand_init(directions[id], scramble[id], offset, states + id)",
)

# PyCUDA's names of the kernels, with the types of their items and parameters and the suffixes of
# cuRAND's functions.
gen_info = [
    ("uniform_int", "unsigned int", ""),
    ("uniform_long", "unsigned long long", ""),
    ("uniform_float", "float", "_uniform"),
    ("uniform_double", "double", "_uniform_double"),
    ("normal_float", "float", "_normal"),
    ("normal_double", "double", "_normal_double"),
    ("normal_float2", "float2", "_normal2"),
    ("normal_double2", "double2", "_normal2_double"),
]
gen_log_info = [
    (name.replace("normal", "normal_log"), out_type.removesuffix("2"), out_type, suffix)
    for name, out_type, suffix in gen_info
    if name.startswith("normal")
]
gen_poisson_info = [("poisson_int", "unsigned int", "")]
gen_poisson_inplace_info = [
    ("poisson_inplace_float", "float", ""),
    ("poisson_inplace_double", "double", ""),
    ("poisson_inplace_int", "unsigned int", ""),
]


_FLOATS = {"f4": "float", "f8": "double"}
_UNIFORM = {**_FLOATS, "i4": "int", "u4": "int", "i8": "long", "u8": "long"}
_IN_PLACE = {**_FLOATS, "u4": "int"}


class _RandomNumberGeneratorBase(Distributions):
    """A generator over cuRAND's states of the type *state_type*, compiled when it is made.

    vector_type, scramble_type: C types, for additional_source. generator_bits: of the numbers and
    of the distances that skip_ahead takes, 32 or 64. additional_source: a template with the kernels
    ``prepare``, ``skip_ahead`` and ``skip_ahead_array``; a subclass launches ``prepare``.
    Attributes: module; generators, prepared functions by name; skip_ahead, skip_ahead_array; state.

    Raises CompileError where there is no ``curand_kernel.h``.
    """

    gen_info = gen_info
    gen_log_info = gen_log_info
    gen_poisson_info = gen_poisson_info
    gen_poisson_inplace_info = gen_poisson_inplace_info

    def __init__(
        self,
        state_type: str,
        vector_type: str,
        generator_bits: int,
        additional_source: str,
        scramble_type: str | None = None,
    ) -> None:
        super().__init__()
        self.state_type = state_type
        self.generator_bits = generator_bits
        self._state: Any = None
        types = {
            "state_type": state_type,
            "vector_type": vector_type,
            "scramble_type": scramble_type,
        }
        rows = [
            row for row in self._rows() if self.has_box_muller or not row[3]["out_type"][-1] == "2"
        ]
        made = "".join(text % {**types, "name": name, **own} for text, name, _, own in rows)
        source = (random_source + additional_source) % {**types, "generators": made}
        self.module = SourceModule(source, no_extern_c=True)
        self.generators = {name: self._function(name, formats) for _, name, formats, _ in rows}
        self._prepare_skipahead()

    def _rows(self) -> list[tuple[str, str, str, dict[str, str]]]:
        """Return template, name, types of parameters and entries of each kernel."""
        rows = [(gen_template, "PPn", row[0], row[1], "", row[2]) for row in self.gen_info]
        for name, given, out_type, suffix in self.gen_log_info:
            rows.append((gen_log_template, f"PP{2 * given[0]}n", name, out_type, given, suffix))
        for name, out_type, suffix in self.gen_poisson_info:
            rows.append((gen_poisson_template, "PPdn", name, out_type, "", suffix))
        for name, out_type, suffix in self.gen_poisson_inplace_info:
            rows.append((gen_poisson_inplace_template, "PPn", name, out_type, "", suffix))
        return [
            (
                *(text, name, formats),
                {"out_type": item, "inout_type": item, "in_type": given, "suffix": suffix},
            )
            for text, formats, name, item, given, suffix in rows
        ]

    def _function(self, name: str, formats: str) -> Any:
        return self.module.get_function(name).prepare(formats)

    def _prepare_skipahead(self) -> None:
        word = "I" if self.generator_bits == 32 else "Q"
        self.skip_ahead = self._function("skip_ahead", "Pn" + word)
        self.skip_ahead_array = self._function("skip_ahead_array", "PnP")

    def _kernels(self) -> list[Any]:
        return [*self.generators.values(), self.skip_ahead, self.skip_ahead_array]

    @property
    def state(self) -> Any:
        """Memory for block_count * generators_per_block states, which ``prepare`` must fill."""
        if self._state is None:
            size = sizeof(self.state_type, "#include <curand_kernel.h>")
            self._state = mem_alloc(size * self.block_count * self.generators_per_block)
        return self._state

    def _launch(self, kernel: Any, stream: Any, *args: Any) -> None:
        grid, block = (self.block_count, 1), (self.generators_per_block, 1, 1)
        kernel.prepared_async_call(grid, block, stream, self.state, *args)

    def _fill_by(
        self, name: str, names: dict[str, str], data: Any, stream: Any, call: str, *numbers: float
    ) -> None:
        if not isinstance(data, GPUArray) or data.dtype.str[1:] not in names:
            raise TypeError(
                f"{call}: a GPUArray is needed, of a dtype among {', '.join(sorted(names))}, not "
                f"{getattr(data, 'dtype', type(data).__name__)}"
            )
        if not (data.flags.c_contiguous or data.flags.f_contiguous):
            raise ValueError(f"{call}: the array must be contiguous")
        name, size = name + names[data.dtype.str[1:]], data.size
        if f"{name}2" in self.generators and size % 2 == 0:
            name, size = f"{name}2", size // 2
        if name not in self.generators:
            raise TypeError(f"{call}: {type(self).__name__} does not support {data.dtype}")
        queue = stream_of(stream, call) or data.queue
        data.backend.wait_list(queue, [data])
        if size:
            self._launch(self.generators[name], queue, data.gpudata, *numbers, size)

    def fill_uniform(self, data: Any, stream: Any = None) -> None:
        """Fill with numbers uniform in (0, 1], as cuRAND does, or with random bits for integers."""
        if getattr(data, "dtype", np.int32) in (np.int64, np.uint64) and self.generator_bits < 64:
            raise TypeError(f"fill_uniform: {type(self).__name__} makes 32 bits, not 64")
        self._fill_by("uniform_", _UNIFORM, data, stream, "fill_uniform")

    def fill_normal(self, data: Any, stream: Any = None) -> None:
        """Fill with normally distributed numbers of mean 0 and deviation 1."""
        self._fill_by("normal_", _FLOATS, data, stream, "fill_normal")

    def fill_log_normal(self, data: Any, mean: float, stddev: float, stream: Any = None) -> None:
        """Fill with numbers whose logarithm has this mean and standard deviation."""
        call = "fill_log_normal"
        shift, scale = real(mean, "mean", call), real(stddev, "stddev", call)
        self._fill_by("normal_log_", _FLOATS, data, stream, call, shift, scale)

    def fill_poisson(
        self, data: Any, lambda_value: float | None = None, stream: Any = None
    ) -> None:
        """Fill an array of uint32 with Poisson-distributed numbers with this mean; by default,
        each item, of uint32 or a float, is the mean of the number that replaces it."""
        if lambda_value is None:
            self._fill_by("poisson_inplace_", _IN_PLACE, data, stream, "fill_poisson")
        else:
            self._fill_by(
                *("poisson_", {"u4": "int"}, data, stream, "fill_poisson"),
                real(lambda_value, "lambda_value", "fill_poisson"),
            )

    def _all_states(self) -> int:
        return self.block_count * self.generators_per_block

    def call_skip_ahead(self, i: int, stream: Any = None) -> None:
        """Skip the next *i* numbers of each state."""
        self._launch(self.skip_ahead, stream, self._all_states(), i)

    def call_skip_ahead_array(self, i: Any, stream: Any = None) -> None:
        """The same; *i* is an array with a number for each state."""
        self._launch(self.skip_ahead_array, stream, self._all_states(), i.gpudata)


class _PseudoRandomNumberGeneratorBase(_RandomNumberGeneratorBase):
    """The same with states that ``prepare(states, n, seeds, offset)`` makes from seeds.

    seed_getter: a function of a count that gives an int32 array of as many seeds; random seeds if
    None. offset: numbers left out at the start. additional_source needs the kernels
    ``skip_ahead_sequence`` and ``skip_ahead_sequence_array`` as well.
    """

    def __init__(
        self,
        seed_getter: Any,
        offset: int,
        state_type: str,
        vector_type: str,
        generator_bits: int,
        additional_source: str,
        scramble_type: str | None = None,
    ) -> None:
        super().__init__(state_type, vector_type, generator_bits, additional_source, scramble_type)
        seeds = self._seeds_of(seed_getter or seed_getter_unique)
        self._launch(
            self._function("prepare", "PnPn"), None, self._all_states(), seeds.gpudata, offset
        )

    def _prepare_skipahead(self) -> None:
        # The steps of pseudo-random generators have 64 bits, whatever their numbers have.
        self.skip_ahead = self._function("skip_ahead", "PnQ")
        self.skip_ahead_array = self._function("skip_ahead_array", "PnP")
        self.skip_ahead_sequence = self._function("skip_ahead_sequence", "PnQ")
        self.skip_ahead_sequence_array = self._function("skip_ahead_sequence_array", "PnP")

    def _kernels(self) -> list[Any]:
        more = self.skip_ahead_sequence, self.skip_ahead_sequence_array
        return [*super()._kernels(), self.module.get_function("prepare"), *more]

    def call_skip_ahead_sequence(self, i: int, stream: Any = None) -> None:
        """Skip *i* whole sequences of each state."""
        self._launch(self.skip_ahead_sequence, stream, self._all_states(), i)

    def call_skip_ahead_sequence_array(self, i: Any, stream: Any = None) -> None:
        """The same; *i* is an array with a number for each state."""
        self._launch(self.skip_ahead_sequence_array, stream, self._all_states(), i.gpudata)
