"""A kernel compiled for one set of argument types on one device."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu import _array
from pygpu._src.codegen import dtypes
from pygpu._src.runtime.backend import Backend
from pygpu.errors import LogicError

from .. import check_report, emit, ranges

# Imported now rather than in a call.
from ..calls import builtins, dates, external, intrinsics, mathematics, numpy_functions  # noqa: F401
from ..compiler import make_unit
from ..infer import infer
from ..source import KernelError
from ..types import ArrayType, DateType, ObjectType, Scalar, TupleType, Type, c_name
from ..walk.context import FunctionContext

# The codes of KernelBase._remember() for parameters; the last two are passed unchanged.
_CODES = {
    "number": _array._GIVE_NUMBER,
    "memory": _array._GIVE_MEMORY,
    "offset": _array._GIVE_OFFSET,
    "shape": _array._GIVE_SHAPE,
    "strides": _array._GIVE_STRIDES,
    "pg_error": _array._GIVE_RECORD,
    "pg_kernel": _array._GIVE_ID,
}
# Stack per thread, if a function calls itself: CUDA's default is 1 KiB, and compilers cannot know
# the depth.
_STACK_OF_RECURSION = 8192
_MOST_PARAMETERS = 512  # of 8 bytes: the 4 KiB that every CUDA device supports


def _unit_for(
    backend: Backend,
    check: bool,
    forced: frozenset[Any],
    divides: bool,
    linked: Sequence[tuple[str, str]],
) -> Any:
    """Make a unit for a kernel of this backend; see Specialization for the other arguments."""
    limits = backend.limits
    unit = make_unit(backend.name, limits.fp64, "pgf", limits.int64_atomics)
    unit.shared_bytes = max(limits.local_bytes, unit.shared_bytes)
    unit.checks, unit.forced, unit.captured = check, forced, []
    unit.divides = divides
    unit.warps = limits.warps or backend.name == "cuda"
    unit.external.update(linked)
    return unit


def _check_number(source: Any, parameters: int) -> None:
    if parameters > _MOST_PARAMETERS:
        raise source.error(
            f"{source.name} has {parameters} numbers and pointers as parameters, counting "
            f"items of tuples and lengths of arrays, and may have {_MOST_PARAMETERS}; pass "
            "tuples as arrays"
        )


def _by_value(arg_types: Sequence[Type]) -> bool:
    """Whether arguments differ by more than their classes: members of an Enum."""
    return any(isinstance(t, ObjectType) and t.value is not None for t in arg_types)


def _include_options(unit: Any) -> list[str]:
    """Return the options for files that linked C sources include."""
    found = [*unit.external.values(), *external.search_paths()] if unit.external else []
    return [f"-I{folder}" for folder in dict.fromkeys(found) if folder]


def _captured_arrays(unit: Any, source: Any, backend: Backend) -> list[Any]:
    """Return device arrays from outside the function, which each launch passes."""
    arrays = [array for _, array in unit.captured]
    for array in arrays:
        if array.backend is not backend:
            raise KernelError(
                f"{source.name}: a global array is on {array.backend.label}, and the kernel runs "
                f"on {backend.label}; copy it with .to({backend.label!r})"
            )
    return arrays


class Specialization:
    """A kernel compiled for one set of argument types on one device.

    arg_types: types of the parameters. text: the C source without the dialect's prefix. plan: for
    each C parameter (index of the argument, which part of it, axis).
    """

    def __init__(
        self,
        backend: Backend,
        source: Any,
        arg_types: Sequence[Type],
        at_start: bool,
        options: Sequence[str],
        exact: bool,
        check: bool = False,
        forced: frozenset[Any] = frozenset(),
        freezes: bool = False,
        cuts: bool = False,
        divides: bool = False,
        linked: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._cuts = cuts  # truncates integers that do not fit their declared type, as in Numba
        unit = _unit_for(backend, check, forced, divides, linked)
        for t in arg_types:
            _check_fp64(t, backend, source.name)
        unit.stack.append(source.function)
        fc = FunctionContext(unit, source, arg_types, kernel=True)
        lines, _ = infer(fc)
        self.arg_types = tuple(arg_types)
        self.guards = tuple(g for g in unit.guards.values() if not (freezes and _is_data(g[2])))
        self.captured = _captured_arrays(unit, source, backend)
        self.forced = forced
        self._keep_checks(unit, source)
        self.dynamic = "pg_dynamic" in fc.implicit
        self.cooperative = unit.cooperative
        self.local_bytes = sum(unit.private_arrays.values())
        self.at_start = at_start
        self.name = f"pgk_{c_name(source.name)}"
        starts: list[str] = []
        declared: list[str] = []
        self.plan: list[tuple[Any, str, Any]] = []
        body = "\n".join(lines)
        used = set(emit.WORD.findall(body))
        for i, (t, name) in enumerate(zip(arg_types, fc.vars.parameter_names())):
            self._declare(t, name, (i,), used, declared, starts)
        implicit = {name: unit.implicit[name] for name in fc.implicit}
        starts += self._declare_implicit(implicit, backend.name == "cuda", declared)
        if backend.name == "cuda":
            _check_number(source, len(declared))
        self.program = ranges.program([*self.tests])
        self.steps = None if self.cooperative or _by_value(arg_types) else self._steps()
        head = "".join(f"    {line}\n" for line in starts)
        for t in arg_types:
            unit.need(*_dtypes_of(t))
        root = f"PG_KERNEL void {self.name}({', '.join(declared)})\n{{\n{head}{body}\n}}\n"
        self.text = "".join(unit.external) + unit.text(root)
        options = [*options, *_include_options(unit)]
        if unit.prototypes:  # for recursive functions
            backend.need_stack(_STACK_OF_RECURSION)  # type: ignore[attr-defined]
        self.features = frozenset(unit.features)
        self._compile(backend, [*options, *(backend.dialect.exact if exact else ())])
        self.record_bytes = (
            check_report.RECORD_BYTES if "pgc_record_" in self.text else 4 * check_report.WORDS
        )

    def _keep_checks(self, unit: Any, source: Any) -> None:
        """Store the messages of failed checks, and the tests before a launch that make checks
        unnecessary."""
        self.asserts = {number: text for text, number in unit.asserts.items()}
        self.waits = any(isinstance(text, str) for text in unit.asserts)
        self.tests = unit.tests or {}
        self.number = check_report.number_of(source.name, self.asserts) if self.asserts else 0
        if self.number:
            weakref.finalize(self, check_report.release, self.number)

    def _compile(self, backend: Backend, options: Sequence[str]) -> None:
        full = backend.dialect.source(self.text, self.features)
        made = backend.compile(full, options)
        self.from_cache = made.from_cache
        kernel = made.kernel(self.name)
        self._kernel = weakref.ref(kernel)
        backend.caches[self] = kernel

    def _declare_implicit(
        self, implicit: dict[str, tuple[str, str]], cuda: bool, declared: list[str]
    ) -> list[str]:
        """Add what the function needs from its kernel to the parameters *declared*. Returns the
        declarations of local variables."""
        locals_: list[str] = []
        for name, (parameter, local) in implicit.items():
            if local == "dynamic" and name == "pg_dynamic" and cuda:
                locals_.append("extern __shared__ __align__(16) char pg_dynamic[];")
            elif local and local != "dynamic":
                locals_.append(local)
            else:
                declared.append(parameter)
                self.plan.append((-1, name, 0))
        return locals_

    def _steps(self) -> tuple[int, ...] | None:
        """Return the plan in C's form, three numbers per parameter; None if C cannot handle it."""
        if not all(what in _CODES and isinstance(where, int) for where, what, _ in self.plan):
            return None
        return tuple(
            n for where, what, axis in self.plan for n in (_CODES[what], max(where, 0), axis)
        )

    @property
    def kernel(self) -> Any:
        """Return the compiled kernel, which the backend keeps. Raises LogicError if its context
        was freed."""
        kernel = self._kernel()
        if kernel is None:
            raise LogicError(f"{self.name}: the context that it was compiled for is gone")
        return kernel

    def failing_checks(
        self, args: Sequence[Any], grid: Sequence[int], block: Sequence[int]
    ) -> set[Any]:
        """Return the sites whose ranges a launch does not keep within bounds."""

        def leaf(end: tuple[Any, ...]) -> int:
            what, where = end[:2]
            if what in ("groups", "size"):
                sizes = grid if what == "groups" else block
                return sizes[where] if where < len(sizes) else 1
            arg: Any = args
            for i in where if isinstance(where, tuple) else (where,):
                arg = arg[i]
            return int(arg if what == "value" else arg.shape[end[2]])

        found: set[Any] = set()
        for test, sites in self.tests.items():
            if not ranges.holds(test, leaf):
                found |= sites
        return found

    def _declare(
        self,
        t: Type,
        name: str,
        path: tuple[int, ...],
        used: set[str],
        declared: list[str],
        starts: list[str],
    ) -> None:
        """Return the C parameters of one argument, without unused ones."""
        where: Any = path[0] if len(path) == 1 else path
        if isinstance(t, DateType):
            declared.append(f"pg_i64 {name}")
            self.plan.append((where, "date", 0))
        elif isinstance(t, Scalar):
            code = dtypes.code(t.dtype)
            if code[0] == "c":  # as two numbers: PoCL misplaces structs in argument lists
                part = "pg_f32" if code == "c64" else "pg_f64"
                declared += [f"{part} {name}_re", f"{part} {name}_im"]
                starts.append(f"pg_{code} {name} = pg_{code}_make({name}_re, {name}_im);")
                self.plan += [(where, "real", 0), (where, "imag", 0)]
                return
            if self._cuts and t.dtype.kind in "iu" and t.dtype.itemsize < 8:
                declared.append(f"pg_i64 {name}_whole")
                starts.append(f"{emit.c_type(t)} {name} = ({emit.c_type(t)}){name}_whole;")
            else:
                declared.append(f"{emit.c_type(t)} {name}")
            if dtypes.is_narrow(t.dtype):
                self.plan.append((where, "narrow", t.dtype))
            else:
                self.plan.append((where, "bool" if code == "b8" else "number", 0))
        elif isinstance(t, ArrayType):
            storage = dtypes.storage_type(t.dtype)
            if self.at_start:
                declared.append(f"PG_GLOBAL {storage} *{name}")
                self.plan.append((where, "memory", 0))
            else:
                declared.append(f"PG_ARRAY({storage}, {name})")
                starts.append(f"PG_START({storage}, {name});")
                self.plan += [(where, "memory", 0), (where, "offset", 0)]
            for what, letter in (("shape", "n"), ("strides", "s")):
                for axis in range(t.ndim):
                    if f"{name}_{letter}{axis}" in used:
                        declared.append(f"pg_i64 {name}_{letter}{axis}")
                        self.plan.append((where, what, axis))
        elif isinstance(t, TupleType):
            for i, item in enumerate(t.items):
                self._declare(item, f"{name}_{i}", (*path, i), used, declared, starts)

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Return the most blocks of a launch whose blocks wait for each other (CUDA)."""
        from pygpu import _cuda
        from pygpu._src.runtime.cuda.enums import device_attribute

        threads = math.prod(blockdim) if isinstance(blockdim, tuple) else int(blockdim)
        blocks: int = self.kernel.max_active_blocks(threads, int(dynsmemsize))
        device = _cuda.Context.get_device()
        units: int = device.get_attribute(device_attribute.MULTIPROCESSOR_COUNT)
        return blocks * units

    def attribute(self, name: str) -> Any:
        """Return an attribute of the compiled kernel (CUDA)."""
        if name == "local_size_bytes":
            from pygpu import _cuda

            if _cuda._is_simulator():  # which has no compiler's count
                return self.local_bytes
        return getattr(self.kernel, name)

    def flat(self, args: Sequence[Any], shared: int, error: Any) -> list[Any]:
        """Return the arguments of the C kernel."""
        found: list[Any] = []
        for where, what, axis in self.plan:
            if where.__class__ is tuple:
                arg: Any = args
                for i in where:
                    arg = arg[i]
            elif where >= 0:
                arg = args[where]
            if what == "memory":
                found.append(arg.base_data)
            elif what == "number":
                found.append(arg)
            elif what == "shape":
                found.append(arg.shape[axis])
            elif what == "strides":
                found.append(arg.strides[axis])
            elif what == "offset":
                found.append(arg.offset)
            elif what == "bool":
                found.append(1 if arg else 0)
            elif what == "narrow":
                found.append(float(axis.type(arg)))
            elif what == "date":
                found.append(int(arg.view(np.int64)))
            elif what == "real":
                found.append(arg.real)
            elif what == "imag":
                found.append(arg.imag)
            elif what == "pg_error":
                found.append(error)
            elif what == "pg_kernel":
                found.append(self.number)
            elif what.startswith("pg_captured_"):
                found.append(self.captured[int(what[12:])].base_data)
            elif what == "pg_dynamic":
                from pygpu import _opencl as cl

                found.append(cl.LocalMemory(max(shared, 1)))
            else:
                found.append(shared)
        return found


def _is_data(value: Any) -> bool:
    """Whether a name from outside refers to data, not to a function or a module."""
    return isinstance(value, (bool, int, float, complex, str, tuple, np.generic, np.ndarray)) or (
        hasattr(value, "__cuda_array_interface__") or isinstance(value, _array.GPUArray)
    )


def _dtypes_of(t: Type) -> list[np.dtype[Any]]:
    if isinstance(t, TupleType):
        return [d for item in t.items for d in _dtypes_of(item)]
    return [t.dtype] if isinstance(t, (Scalar, ArrayType)) else []


def _check_fp64(t: Type, backend: Backend, name: str) -> None:
    if not backend.limits.fp64:
        found = [d for d in _dtypes_of(t) if dtypes.needs_fp64(d)]
        if found:
            raise KernelError(
                f"{name}: an argument is {found[0]}, and {backend!r} has no double precision; pass "
                "numpy.float32"
            )
