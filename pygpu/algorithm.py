"""Algorithms on arrays: filtering, partitioning, uniq, radix sort by any key, lists of lists.

::

    out, count, event = copy_if(ary, "ary[i] > 300")
    kept = out.get()[:count.get()]

Predicates are expressions of OpenCL C for OpenCL's arrays, and of CUDA C++ for CUDA's. Results
that are only known on the device, such as counts, are left there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu import _opencl
from pygpu._src.array import sort
from pygpu._src.array.advanced_indexing import take_along_axis
from pygpu._src.codegen import dtypes
from pygpu._src.runtime.backend import Backend
from pygpu._src.user_kernels.arguments import ScalarArg, VectorArg
from pygpu._src.user_kernels.elementwise import Elementwise
from pygpu._src.user_kernels.language import (
    Language,
    Parameter,
    language_for,
    language_of,
    pairs,
    require_text,
)
from pygpu._src.user_kernels.list_builder import BuiltList, ListOfListsBuilder
from pygpu._src.user_kernels.scan import Scan
from pygpu._src.util.wording import counted

if TYPE_CHECKING:
    from pygpu._src.array.array_types import GPUArray
    from pygpu._src.runtime.opencl.types import WaitList

__all__ = [
    "BuiltList",
    "KeyValueSorter",
    "ListOfListsBuilder",
    "RadixSort",
    "copy_if",
    "partition",
    "remove_if",
    "unique",
]

Extra = Sequence[tuple[str, Any]] | None


def _check(call: str, ary: Any) -> Backend:
    backend: Backend | None = getattr(ary, "backend", None)
    if backend is None:
        raise TypeError(
            f"{call}: an array on the device is needed, not {type(ary).__name__}; "
            "copy it there first (to_device, to_gpu)"
        )
    if ary.ndim != 1:
        raise ValueError(f"{call}: a one-dimensional array is needed, not one of shape {ary.shape}")
    return backend


def _extra(call: str, extra_args: Extra) -> tuple[list[Any], list[Any]]:
    """Arguments and values of extra_args. Raises RuntimeError for one without a dtype."""
    arguments: list[Any] = []
    values = []
    for name, value in pairs(call, "extra_args", () if extra_args is None else extra_args):
        if getattr(value, "backend", None) is not None:
            arguments.append(VectorArg(value.dtype, name))
        elif isinstance(value, np.generic):
            arguments.append(ScalarArg(value.dtype, name))
        else:
            raise RuntimeError(
                f"{call}: argument '{name}' not understood; pass an array or a NumPy number, whose "
                "dtype is known"
            )
        values.append(value)
    return arguments, values


def _filter(
    call: str,
    ary: Any,
    texts: tuple[str, str],
    outs: int,
    preamble: str,
    extra_args: Extra,
    queue: Any,
    wait_for: Any,
    fetches: Any = None,
) -> tuple[Any, ...]:
    """A scan that writes *outs* arrays of the input's length and a count. texts: input expression
    and output statement."""
    backend = _check(call, ary)
    require_text(call, expression=texts[0], preamble=preamble)
    arguments, values = _extra(call, extra_args)
    count_dtype = np.dtype(np.uint64 if ary.size >= 1 << 32 else np.uint32)
    declared = tuple((type(a).__name__, a.dtype.str, a.name) for a in arguments)
    key = ("algorithm", call, ary.dtype, texts, preamble, declared, count_dtype)
    scan = backend.kernels.get(key)
    if scan is None:
        names = ["out"] if outs == 1 else ["out_true", "out_false"]
        scan = Scan(
            language_of(backend),
            count_dtype,
            [
                VectorArg(ary.dtype, "ary"),
                *(VectorArg(ary.dtype, name) for name in names),
                VectorArg(count_dtype, "count"),
                *arguments,
            ],
            texts[0],
            "a + b",
            "0",
            texts[1],
            input_fetch_exprs=fetches,
            name_prefix=call,
            preamble=preamble,
        )
        scan = backend.kernels.setdefault(key, scan)
    queue = ary.queue if queue is None else queue
    results = [ary._new(ary.shape, ary.dtype, None, queue) for _ in range(outs)]
    count = ary._new((), count_dtype, None, queue)
    if ary.size == 0:
        event = backend.fill(queue, count.base_data, count.offset, count.nbytes, wait_for=wait_for)
        if event is not None:
            count._set_event(event)
    else:
        event = scan((ary, *results, count, *values), queue, wait_for)
    return (*results, count, event)


def copy_if(
    ary: Any,
    predicate: str,
    extra_args: Extra = None,
    preamble: str = "",
    queue: Any = None,
    wait_for: Any = None,
) -> tuple[Any, Any, Any]:
    """The items for which an expression is true, in their order.

    ary: one-dimensional. predicate: an expression of ``ary[i]`` and the names in *extra_args*:
    pairs (name, array or NumPy number). preamble: source before the kernel. Returns (out, count,
    event): an array as long as *ary*, of which the first *count* items are the result, and an array
    of shape () with that number.
    """
    texts = (
        f"({predicate}) ? 1 : 0",
        "if (prev_item != item) out[item - 1] = ary[i]; if (i + 1 == N) *count = item;",
    )
    result = _filter("copy_if", ary, texts, 1, preamble, extra_args, queue, wait_for)
    return result[0], result[1], result[2]


def remove_if(
    ary: Any,
    predicate: str,
    extra_args: Extra = None,
    preamble: str = "",
    queue: Any = None,
    wait_for: Any = None,
) -> tuple[Any, Any, Any]:
    """The items for which an expression is false; otherwise as copy_if."""
    return copy_if(ary, f"!({predicate})", extra_args, preamble, queue, wait_for)


def partition(
    ary: Any,
    predicate: str,
    extra_args: Extra = None,
    preamble: str = "",
    queue: Any = None,
    wait_for: Any = None,
) -> tuple[Any, Any, Any, Any]:
    """The items for which an expression is true, and the others, each in their order.

    Arguments as copy_if's. Returns (out_true, out_false, count, event), count that of out_true.
    """
    texts = (
        f"({predicate}) ? 1 : 0",
        "if (prev_item != item) out_true[item - 1] = ary[i]; else out_false[i - item] = ary[i]; "
        "if (i + 1 == N) *count = item;",
    )
    result = _filter("partition", ary, texts, 2, preamble, extra_args, queue, wait_for)
    return result[0], result[1], result[2], result[3]


def unique(
    ary: Any,
    is_equal_expr: str = "a == b",
    extra_args: Extra = None,
    preamble: str = "",
    queue: Any = None,
    wait_for: Any = None,
) -> tuple[Any, Any, Any]:
    """The items that differ from the one before them: of a sorted array, each value once.

    is_equal_expr: of two items ``a`` and ``b``. The rest, and the result, as copy_if's.
    """
    require_text("unique", is_equal_expr=is_equal_expr)
    body = " ".join(is_equal_expr.splitlines())
    texts = (
        "(i == 0) ? 1 : (PG_IS_EQUAL(ary_before, ary_here) ? 0 : 1)",
        "if (prev_item != item) out[item - 1] = ary[i]; if (i + 1 == N) *count = item;",
    )
    preamble = f"{preamble}\n#define PG_IS_EQUAL(a, b) ({body})\n"
    fetches = [("ary_before", "ary", -1), ("ary_here", "ary", 0)]
    result = _filter("unique", ary, texts, 1, preamble, extra_args, queue, wait_for, fetches)
    return result[0], result[1], result[2]


class RadixSort:
    """Sorts arrays by the integer value of an expression, smallest first; equal keys keep their
    order.

    context: an OpenCL Context, or a CUDA Context (None: the current one). arguments: as
    ElementwiseKernel's. key_expr: of ``i`` and the arguments. sort_arg_names: the arrays to be
    sorted. key_dtype: of the key, an integer. options: for the compiler. bits_at_a_time,
    index_dtype and scan_kernel are PyOpenCL's and have no effect.
    """

    arguments: str | Sequence[Any]
    sort_arg_names: list[str]

    def __init__(
        self,
        context: Any,
        arguments: str | Sequence[Any],
        key_expr: str,
        sort_arg_names: Sequence[str],
        bits_at_a_time: int = 2,
        index_dtype: Any = np.int32,
        key_dtype: Any = np.uint32,
        scan_kernel: Any = None,
        options: Any = None,
    ) -> None:
        self.context = context
        self.language: Language = language_for(type(self).__name__, context)
        self.key_dtype: np.dtype[Any] = np.dtype(key_dtype)
        if self.key_dtype.kind not in "iu":
            raise TypeError(f"RadixSort: key_dtype must be an integer, not {self.key_dtype}")
        self.parameters: list[Parameter] = self.language.parse(arguments)
        self.arguments, self.sort_arg_names = arguments, list(sort_arg_names)
        names = [p.name for p in self.parameters if p.vector]
        for name in self.sort_arg_names:
            if name not in names:
                raise ValueError(f"RadixSort: sort_arg_names has '{name}', which is not an array")
        if not names:
            raise ValueError("RadixSort: none of the arguments is an array")
        ctype = self.language.ctype(self.key_dtype)
        key = VectorArg(self.key_dtype, "pg_key")
        mask = ScalarArg(self.key_dtype, "pg_mask")
        self._keys = Elementwise(
            self.language,
            [key, mask, *self.parameters],
            f"pg_key[i] = ({ctype})({key_expr}) & pg_mask",
            "radix_sort_keys",
            options,
            pointers=True,
        )
        self._gathers: dict[Any, Elementwise] = {}
        self._by = key_expr

    def __repr__(self) -> str:
        names = ", ".join(self.sort_arg_names)
        return f"<pygpu.algorithm.RadixSort of {names} by {self._by!r}, {self.key_dtype}>"

    def __call__(
        self,
        *args: Any,
        queue: Any = None,
        allocator: Any = None,
        key_bits: int | None = None,
        wait_for: WaitList = None,
    ) -> tuple[tuple[GPUArray[Any], ...], _opencl.Event]:
        """(sorted copies, event): of the arrays of sort_arg_names, in the order of the arguments.

        key_bits: how many of the key's bits count, from the lowest; all, with the sign, if left
        out. allocator is not used. Raises what the call of an ElementwiseKernel raises.
        """
        at = next((k for k, p in enumerate(self.parameters) if p.vector), 0)
        if len(args) != len(self.parameters):
            names = ", ".join(p.name for p in self.parameters)
            raise TypeError(
                f"RadixSort takes {counted(len(self.parameters), 'argument')} ({names}), "
                f"{len(args)} given"
            )
        first = args[at]
        backend = _check("RadixSort", first)
        queue = first.queue if queue is None else queue
        keys = first._new(first.shape, self.key_dtype, None, queue)
        width = 8 * self.key_dtype.itemsize
        if key_bits is not None and not 0 <= key_bits <= width:
            raise ValueError(f"RadixSort: key_bits must be from 0 to {width}, not {key_bits}")
        mask = (1 << width) - 1 if key_bits is None else (1 << key_bits) - 1
        if self.key_dtype.kind == "i" and mask >> (width - 1):
            mask -= 1 << width
        n = first.size
        event = self._keys((keys, mask, *args), slice(0, n), None, queue, wait_for)
        order = sort.argsort(keys)
        results = []
        for parameter, arg in zip(self.parameters, args, strict=True):
            if parameter.name in self.sort_arg_names:
                if arg.size != n:
                    raise ValueError(
                        f"RadixSort: '{parameter.name}' has {arg.size} items, but the first "
                        f"array has {n}"
                    )
                out = arg._new(arg.shape, arg.dtype, None, queue)
                event = self._gather(arg.dtype)((out, arg, order), None, None, queue) or event
                results.append(out)
        assert backend is not None
        return tuple(results), event

    def _gather(self, dtype: np.dtype[Any]) -> Elementwise:
        """out[i] = items[order[i]], as bytes."""
        found = self._gathers.get(dtype)
        if found is None:
            unit = next(size for size in (8, 4, 2, 1) if dtype.itemsize % size == 0)
            words = dtype.itemsize // unit
            # Not as floats, for their bits; pointers to unsigned ints are for integers only.
            item = np.dtype(f"u{unit}") if words == 1 and dtype.kind in "ui" else None
            if item is None:
                ctype = self.language.ctype(np.dtype(f"u{unit}"))
                preamble = f"typedef struct {{ {ctype} word[{words}]; }} pg_item_t;\n"
                arguments: Any = [
                    self.language.array("out", "pg_item_t", dtype),
                    self.language.array("items", "pg_item_t", dtype),
                ]
            else:
                preamble = ""
                ctype = self.language.ctype(item)
                arguments = [
                    self.language.array("out", ctype, dtype),
                    self.language.array("items", ctype, dtype),
                ]
            order = self.language.array("order", self.language.long, np.dtype(np.int64))
            found = Elementwise(
                self.language,
                [*arguments, order],
                "out[i] = items[order[i]]",
                "radix_sort_gather",
                preamble=preamble,
            )
            self._gathers[dtype] = found
        return found


class KeyValueSorter:
    """Groups values by integer keys.

    context: an OpenCL or CUDA context.
    """

    def __init__(self, context: Any = None) -> None:
        self.context = context

    def __repr__(self) -> str:
        return f"<pygpu.algorithm.KeyValueSorter in {self.context or 'the current CUDA context'}>"

    def __call__(
        self,
        queue: Any,
        keys: Any,
        values: Any,
        nkeys: int,
        starts_dtype: Any,
        allocator: Any = None,
        wait_for: Any = None,
    ) -> tuple[GPUArray[Any], GPUArray[Any], _opencl.Event]:
        """(starts, lists, event): the values sorted by their keys (equal keys keep their order),
        and nkeys + 1 positions: those with key k are lists[starts[k]:starts[k + 1]].

        keys, values: one-dimensional, of one length; keys are from 0 to nkeys - 1.
        """
        for array in (keys, values):
            _check("KeyValueSorter", array)
        if keys.size != values.size or keys.dtype.kind not in "iu":
            raise ValueError(
                f"KeyValueSorter: integer keys and as many values are needed, not {keys.size} of "
                f"{keys.dtype} and {values.size}"
            )
        if not isinstance(nkeys, (int, np.integer)):
            raise TypeError(f"KeyValueSorter: nkeys must be an int, not {type(nkeys).__name__}")
        if nkeys < 0:
            raise ValueError(f"KeyValueSorter: nkeys must not be negative, got {nkeys}")
        starts_dtype = dtypes.native(starts_dtype, "KeyValueSorter")
        if starts_dtype.kind not in "iu" or keys.size > np.iinfo(starts_dtype).max:
            raise ValueError(
                f"KeyValueSorter: starts_dtype must be of integers up to {keys.size}, which "
                f"{starts_dtype} is not"
            )
        backend = keys.backend
        keys, values = keys._on_queue(queue, wait_for), values._on_queue(queue)
        order = sort.argsort(keys)
        keys_sorted = take_along_axis(keys, order, 0)
        lists = take_along_axis(values, order, 0)
        if nkeys > np.iinfo(keys.dtype).max:  # 256 keys of uint8, for instance
            keys_sorted = keys_sorted.astype(np.int64)
        numbers = keys._from_host(np.arange(nkeys + 1, dtype=keys_sorted.dtype))
        starts = sort.searchsorted(keys_sorted, numbers).astype(starts_dtype)
        event: Any = None if backend.name == "cuda" else backend.event(starts.queue, starts.events)
        return starts, lists, event
