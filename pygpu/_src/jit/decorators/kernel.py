"""``pygpu.kernel`` and ``pygpu.cuda.jit``: a Python function as an entry point of a device.

A :class:`Kernel` keeps one compiled kernel for each set of argument types and each device
(:class:`Specialization`). A call finds it by the types, converts the arguments to the C kernel's
parameters, and launches.
"""

from __future__ import annotations

import enum
import functools
import inspect
import math
import operator
import types
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pygpu._array import GPUArray, KernelBase, Launcher
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.fastpath import public_functions, public_methods
from pygpu._src.runtime import disk_cache
from pygpu._src.runtime.backend import Backend, differ
from pygpu._src.runtime.backends import backend_of
from pygpu._src.util.lazy import lazy
from pygpu._src.util.public import publish
from pygpu.errors import LogicError

from .. import check_report
from .. import signature as _signature
from ..compiler import guards_hold, make_unit, source_of
from ..infer import infer
from ..source import KernelError, python_function
from ..types import (
    ArrayType,
    ObjectType,
    Scalar,
    TupleType,
    Type,
    as_type,
    distances,
    match_argument,
    numpy_dtype,
    scalar_type,
    weak,
)
from ..walk.context import FunctionContext
from . import arguments
from .options import check_options
from .pickling import reduce_by_name, register_with_cloudpickle
from .specialization import Specialization
from .written import assigned_parameters

__all__ = ["CompileStats", "Kernel", "Specialization", "kernel"]

_PYTHON = (bool, int, float, complex)

# Called with the blocks of a new launch configuration of a CUDA kernel; compat issues warnings.
on_configure: Callable[[tuple[int, ...]], None] | None = None


class CompileStats(NamedTuple):
    """See :attr:`Kernel.stats`. cache_path: the folder of the disk cache."""

    cache_path: str | None
    cache_hits: Counter[Any]
    cache_misses: Counter[Any]


@public_methods
class Kernel(KernelBase):
    """A kernel that :func:`kernel` made of a function.

    ``k[blocks, threads, stream, shared](*args)`` launches it, or
    ``k(*args, grid=blocks, block=threads, stream=None, shared=0)``: blocks and threads are ints or
    tuples of up to three, none of them 0, stream a CommandQueue or Stream, shared the bytes of
    dynamic shared memory. py_func: the function.
    """

    __name__: str

    def __init__(
        self,
        function: types.FunctionType,
        *,
        backend: str | None = None,
        src: str | None = None,
        signatures: Sequence[Any] = (),
        exact: bool = False,
        options: Sequence[str] = (),
        fastmath: bool = False,
        check: bool | None = None,
        freezes: bool = False,
        most_threads: int | None = None,
        external: Sequence[tuple[str, str]] = (),
        extensions: Sequence[Any] = (),
    ) -> None:
        self.py_func = function
        self.freezes = freezes
        self.most_threads = most_threads
        self.external = tuple(external)
        self.extensions = list(extensions)
        self.check = check
        self.src = src
        self.exact = exact
        self.fastmath = fastmath
        self.options = list(options)
        self._backend_name = backend
        self._given = [tuple(s) for s in signatures]
        self._declared = [tuple(as_type_of_signature(a) for a in s) for s in signatures]
        self._pointers = {
            i: a.dtype for s in signatures for i, a in enumerate(s) if hasattr(a, "is_pointer")
        }
        self._specializations_by_backend: weakref.WeakKeyDictionary[
            Backend, dict[Any, Specialization]
        ] = weakref.WeakKeyDictionary()
        # Kernels with additional checks, by those without them.
        self._checked: weakref.WeakKeyDictionary[Specialization, Specialization] = (
            weakref.WeakKeyDictionary()
        )
        self._specializations: dict[Any, Kernel] = {}
        self._source = source_of(function, src)
        self._signature = inspect.signature(function)
        self._count = len(self._signature.parameters)
        for kinds in self._declared:
            if len(kinds) != self._count:
                raise TypeError(
                    f"{function.__name__}: the signature has {len(kinds)} types, but the function "
                    f"has {self._count} parameters"
                )
        functools.update_wrapper(self, function)
        register_with_cloudpickle(self)

    def __reduce__(self) -> Any:
        return reduce_by_name(self)

    def _options(self) -> dict[str, Any]:
        """Return the options, to make a similar kernel."""
        return {
            "backend": self._backend_name,
            "signatures": self._given,
            "exact": self.exact,
            "options": self.options,
            "fastmath": self.fastmath,
            "check": self.check,
            "freezes": self.freezes,
            "most_threads": self.most_threads,
            "external": self.external,
            "extensions": self.extensions,
        }

    def __repr__(self) -> str:
        return f"<pygpu.kernel {self.py_func.__qualname__}{self._signature}>"

    def _configure(self, config: Any) -> Launcher:
        """Return ``kernel[config]``; launchers with only blocks and threads are cached."""
        if not isinstance(config, tuple) or not 2 <= len(config) <= 4:
            raise ValueError(
                f"{self.__name__}[...]: blocks and threads are needed, then a stream and bytes of "
                f"shared memory may follow, not {config!r}"
            )
        return self._launcher(*config)

    def _launcher(self, blocks: Any, threads: Any, queue: Any = None, shared: int = 0) -> Launcher:
        grid, block = _size(self, "blocks", blocks), _size(self, "threads", threads)
        if 0 in block:
            raise ValueError(f"{self.__name__}: a block has at least one thread, not {threads!r}")
        if 0 in grid:  # CUDA refuses it, too
            code = "CUDA_ERROR_INVALID_VALUE: " * (self._backend_name == "cuda")
            raise LogicError(
                f"{code}{self.__name__}: a grid has at least one block, not {blocks!r}; skip the "
                "launch if there is nothing to do"
            )
        if self.most_threads is not None and math.prod(block) > self.most_threads:
            raise LogicError(
                f"{self.__name__}: a block of {threads!r} threads exceeds launch_bounds, which "
                f"allows {self.most_threads}"
            )
        if on_configure is not None and self._backend_name == "cuda":
            on_configure(grid)
        if isinstance(queue, int) and queue == 0:
            queue = None  # Numba's default stream
        elif hasattr(queue, "__cuda_stream__") and not hasattr(queue, "wait_for_event"):
            queue = lazy("pygpu._src.runtime.cuda.streams").stream_of(  # another library's
                queue, self.__name__
            )
        if not isinstance(shared, (int, np.integer)) or shared < 0:
            raise ValueError(
                f"{self.__name__}: shared memory must be 0 or more bytes, not {shared!r}"
            )
        shared = int(shared)
        n = max(len(grid), len(block))
        grid, block = grid + (1,) * (n - len(grid)), block + (1,) * (n - len(block))
        size = tuple(g * b for g, b in zip(grid, block))
        return Launcher(self, grid, block, queue, shared, size)

    def forall(
        self, n: int, tpb: int = 0, stream: Any = None, shared: int = 0, sharedmem: int = 0
    ) -> ForAll:
        """Return a launcher for at least *n* threads in one dimension, with *tpb* threads per
        block; 0: as many as fit on CUDA, at most 256 on OpenCL. sharedmem: Numba's name of
        *shared*."""
        if not isinstance(n, (int, np.integer)):
            raise TypeError(f"{self.__name__}.forall: an int is needed, not {n!r}")
        if n < 0:
            raise ValueError(
                f"{self.__name__}.forall: Can't create ForAll with negative task count: {n!r}"
            )
        return ForAll(self, n, tpb, stream, shared or sharedmem)

    def _threads(self, args: tuple[Any, ...], queue: Any) -> int:
        """Return the threads per block for forall()."""
        backend = self._backend_for(args, queue)
        most = min(backend.limits.group_size, 256)
        if backend.name == "cuda" and all(isinstance(a, (GPUArray, *_PYTHON)) for a in args):
            made = self._specialized(backend, args)
            most = max(made.kernel.max_threads_per_block // 32 * 32, 32)
        return most

    @property
    def configure(self) -> Callable[..., Any]:
        """``k.configure(blocks, threads)`` is ``k[blocks, threads]``."""
        return lambda *config: self[config]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        grid, block = kwargs.pop("grid", None), kwargs.pop("block", None)
        stream = kwargs.pop("stream", None)
        queue = kwargs.pop("queue", None)
        shared = kwargs.pop("shared", 0)
        if grid is None or block is None:
            raise ValueError(
                f"kernel {self.__name__!r} needs a launch size (launch configuration was not "
                f"specified): {self.__name__}[blocks, threads](...), or grid= and block="
            )
        made: Any = self._launcher(grid, block, queue if stream is None else stream, shared)
        return made(*args, **kwargs)

    # ---- types

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the arguments in the order of the parameters, with defaults."""
        if not kwargs and len(args) == self._count:
            return args
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}(): {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _type_of(self, arg: Any, position: int) -> Type:
        """Return the type of an argument, treating host arrays as device arrays."""
        kind = type(arg)
        if kind in _PYTHON:
            return weak(kind)
        if isinstance(arg, GPUArray):
            dtype: Any = arg.dtype
            if not dtypes.computes(dtype) and not dtype.names:
                raise KernelError(f"{self._where(position)}: arrays of {dtype} are not supported")
            if not arg._is_aligned:  # type: ignore[attr-defined]
                raise ValueError(
                    f"{self._where(position)}: items begin at addresses that are not multiples of "
                    f"{dtypes.alignment(dtype)} bytes: make a copy of the array first"
                )
            return ArrayType(dtype, arg.ndim, arg._c_contiguous)
        if isinstance(arg, np.generic):
            if not dtypes.computes(arg.dtype):
                raise KernelError(f"{self._where(position)}: dtype {arg.dtype} is not supported")
            return scalar_type(arg.dtype)
        if isinstance(arg, tuple):
            items = tuple(self._type_of(a, position) for a in arg)
            return TupleType(items, getattr(arg, "_fields", ()))
        if arg is None:
            return ObjectType(None)
        if isinstance(arg, enum.Enum) and not isinstance(arg, _PYTHON):
            return ObjectType(arg)
        for python in _PYTHON:
            if isinstance(arg, python):
                return weak(python)
        raise TypeError(
            f"{self._where(position)}: a {type(arg).__name__} cannot be an argument of a kernel; "
            "arrays, numbers and tuples of them can"
        )

    def _where(self, position: int) -> str:
        name = list(self._signature.parameters)[position]
        return f"{self.__name__}: argument {name}"

    def _match(self, found: tuple[Type, ...]) -> tuple[Type, ...]:
        """Match the types with the declared signatures: numbers get the declared type."""
        best: tuple[Type, ...] | None = None
        least = -1
        nearest: list[tuple[Type, ...]] = []
        for declared in self._declared:
            if len(declared) != len(found):
                continue
            fits = _match_by_size if self.freezes else match_argument
            result = [fits(want, have) for want, have in zip(declared, found)]
            if None in result:
                continue
            far = sum(map(distances, declared, found))
            if best is None or far < least:
                best, least, nearest = tuple(result), far, []  # type: ignore[arg-type]
            if far == least:
                nearest.append(declared)
        if best is not None:
            if self.freezes and least and len(set(nearest)) > 1:
                raise self._ambiguous(found, nearest)
            return best
        wanted = " or ".join("(" + ", ".join(map(str, d)) + ")" for d in self._declared)
        raise TypeError(
            f"{self.__name__}: No matching definition: the arguments are "
            f"({', '.join(map(str, found))}), and the signature says {wanted}"
        )

    def _ambiguous(self, found: tuple[Type, ...], nearest: Sequence[tuple[Type, ...]]) -> TypeError:
        """Make the error for arguments that several signatures match equally well, none of them
        exactly."""
        rows = "".join(f"\n({', '.join(map(str, one))}) -> none" for one in nearest)
        return TypeError(
            f"{self.__name__}: Ambiguous overloading for {self.py_func!r} "
            f"({', '.join(map(str, found))}):{rows}\nconvert the arguments to the types of one"
        )

    def _specialized(self, backend: Backend, args: Sequence[Any]) -> Specialization:
        """Return the kernel for these arguments, compiled if needed."""
        key: list[Any] = [check_report.mode(self.check, backend)[0]]
        at_start = True
        for arg in args:
            if isinstance(arg, GPUArray):
                at_start = at_start and arg.offset == 0
                key.append((arg.dtype, arg.ndim, arg._c_contiguous, arg._is_aligned))  # type: ignore[attr-defined]
            elif isinstance(arg, np.generic):
                key.append(arg.dtype)
            elif isinstance(arg, tuple):
                at_start = at_start and all(
                    not isinstance(a, GPUArray) or a.offset == 0 for a in arg
                )
                key.append(self._type_of(arg, 0))
            elif isinstance(arg, enum.Enum) and not isinstance(arg, _PYTHON):
                key.append(arg)
            else:
                key.append(arg.__class__)
        key.append(at_start)
        whole = tuple(key)
        specializations = self._specializations_on(backend)
        found = specializations.get(whole)
        if found is None or not guards_hold(found.guards):
            kinds = tuple(self._type_of(a, i) for i, a in enumerate(args))
            if self._declared:
                kinds = self._match(kinds)
            found = self._compile(backend, kinds, at_start)
            specializations[whole] = found
        return found

    def _specializations_on(self, backend: Backend) -> dict[Any, Specialization]:
        """Return the kernels compiled for a backend; the function does not keep its context
        alive."""
        found = self._specializations_by_backend.get(backend)
        return self._specializations_by_backend.setdefault(backend, {}) if found is None else found

    def check_signatures(self) -> None:
        """Raise KernelError if the function cannot be compiled for the types of a signature. Does
        not need a device."""
        for kinds in self._declared:
            unit = make_unit("cuda", True, "pgf")
            unit.captured = []
            unit.stack.append(self.py_func)
            infer(FunctionContext(unit, self._source, kinds, kernel=True))

    def _compile(
        self,
        backend: Backend,
        kinds: Sequence[Type],
        at_start: bool,
        forced: frozenset[Any] = frozenset(),
    ) -> Specialization:
        check, _ = check_report.mode(self.check, backend)
        options = list(self.options)
        if self.fastmath:
            options.append("--use_fast_math" if backend.name == "cuda" else "-cl-fast-relaxed-math")
        return Specialization(
            backend,
            self._source,
            kinds,
            at_start,
            options,
            self.exact,
            check,
            forced,
            self.freezes,
            self.freezes and bool(self._declared),
            self.freezes and self.check is True,
            self.external,
        )

    def _for_launch(
        self, made: Specialization, backend: Backend, args: Sequence[Any], launcher: Launcher
    ) -> Specialization:
        """Return the kernel for a launch: if ranges of indices may leave the arrays, one that
        checks them."""
        grid, block = launcher.grid, launcher.block
        failing = made.failing_checks(args, grid, block)
        if not failing:
            return made
        found = self._checked.get(made)
        while found is None or (failing := found.failing_checks(args, grid, block)):
            before = found or made
            forced = before.forced | failing
            if forced == before.forced:  # cannot be: before checks these sites
                raise RuntimeError(f"{self.__name__}: a checked index is out of bounds")
            found = self._compile(backend, made.arg_types, made.at_start, forced)
            self._checked[made] = found
        return found

    def compile(self, signature: Any) -> Specialization:
        """Compile the kernel now for the types of a signature, so that the first call with such
        arguments need not. signature: "void(float32[:], int32)", a tuple of types, or text in the
        notation of signatures. Returns the compiled kernel, which is also an item of overloads.
        Raises TypeError if the kernel has signatures, and this is not one of them."""
        given = _signature.parse(signature).args
        kinds = tuple(as_type_of_signature(t) for t in given)
        if len(kinds) != self._count:
            raise TypeError(
                f"{self.__name__}.compile: the signature has {len(kinds)} types, but the function "
                f"has {self._count} parameters"
            )
        if self._declared:
            kinds = self._match(kinds)
        return self._compiled_for(kinds)

    def _compiled_for(self, kinds: tuple[Type, ...]) -> Specialization:
        backend = _default_backend(self._backend_name)
        specializations = self._specializations_on(backend)
        found = next((s for s in specializations.values() if s.arg_types == kinds), None)
        if found is None or not guards_hold(found.guards):
            found = self._compile(backend, kinds, True)
            specializations[self._key_of(backend, kinds)] = found
        return found

    def _key_of(self, backend: Backend, kinds: Sequence[Type]) -> tuple[Any, ...]:
        """Return the key of a kernel for arguments of these types, as in :meth:`_specialized`."""
        key: list[Any] = [check_report.mode(self.check, backend)[0]]
        for t in kinds:
            if isinstance(t, ArrayType):
                key.append((t.item_dtype, t.ndim, t.contiguous, True))
            elif isinstance(t, Scalar):
                key.append(t.python if t.weak else numpy_dtype(t))
            else:
                key.append(t)
        return (*key, True)

    def recompile(self) -> None:
        """Compile everything again, with the current values of names from outside."""
        for backend, specializations in list(self._specializations_by_backend.items()):
            was = list(specializations.items())
            specializations.clear()
            for key, made in was:
                specializations[key] = self._compile(backend, made.arg_types, made.at_start)

    @property
    def stats(self) -> CompileStats:
        """How often a compiled kernel came from the disk cache, by the types of its arguments, and
        how often it was compiled."""
        hits: Counter[Any] = Counter()
        misses: Counter[Any] = Counter()
        for made in self._all_specializations():
            (hits if made.from_cache else misses)[made.arg_types] += 1
        folder = disk_cache.default_folder()
        return CompileStats(None if folder is None else str(folder), hits, misses)

    # ---- compiled kernels

    @property
    def signatures(self) -> list[tuple[Type, ...]]:
        """The argument types for which there is a compiled kernel."""
        return list(self.overloads)

    def _all_specializations(self) -> list[Specialization]:
        return [
            s
            for specializations in list(self._specializations_by_backend.values())
            for s in specializations.values()
        ]

    @property
    def overloads(self) -> dict[Any, Specialization]:
        """The compiled kernels by their argument types, under Numba's name. Declared signatures
        are compiled for it."""
        made = _TypeKeyDict({s.arg_types: s for s in self._all_specializations()})
        for kinds in self._declared:
            if made.get_like(kinds) is None:
                made[kinds] = self._compiled_for(kinds)
        return made

    def _attributes(self, name: str, signature: Any) -> Any:
        """Return an attribute of the compiled kernel for a signature; a dictionary for all kernels
        if it is None."""
        if signature is None and self.specialized:
            return self.overloads[self._declared[0]].attribute(name)
        if signature is None:
            return _TypeKeyDict(
                {types: made.attribute(name) for types, made in self.overloads.items()}
            )
        return self.overloads[signature].attribute(name)

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Return the registers per thread (CUDA): for one signature, else a dictionary for all."""
        return self._attributes("num_regs", signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Return the bytes of shared memory that the kernel itself declares (CUDA)."""
        return self._attributes("shared_size_bytes", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Return the bytes of local memory per thread (CUDA); on the simulator, those of its arrays
        (local.array)."""
        return self._attributes("local_size_bytes", signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """Return the bytes of constant memory (CUDA)."""
        return self._attributes("const_size_bytes", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """Return the largest block size of the kernel (CUDA)."""
        return self._attributes("max_threads_per_block", signature)

    def inspect_source(self, *arg_types: Any, backend: Any = None) -> Any:
        """Return the generated C for these argument types: dtypes, int and float for Python's
        numbers, ArrayType(dtype, ndim), or text such as "float32[:]". Without types, a dictionary
        of everything compiled so far."""
        if not arg_types:
            return _TypeKeyDict({types: made.text for types, made in self.overloads.items()})
        if len(arg_types) == 1 and isinstance(arg_types[0], (tuple, list)):
            arg_types = tuple(arg_types[0])
        kinds = [as_type_of_signature(t) for t in arg_types]
        target = _default_backend(self._backend_name) if backend is None else backend_of(backend)
        return self._compile(target, kinds, True).text

    # ---- Numba's names

    def specialize(self, *args: Any) -> Kernel:
        """Return a kernel that accepts only arguments of these types, which may also be given as
        types. The same types return the same kernel."""
        if self.specialized:
            raise RuntimeError(
                f"{self.__name__}: Dispatcher already specialized: it has one signature"
            )
        kinds = tuple(self._kind_of(a, i) for i, a in enumerate(args))
        backend = self._backend_for(args, None)
        found = self._specializations.get((backend.name, kinds))
        if found is None:
            found = Kernel(self.py_func, src=self.src, **{**self._options(), "signatures": ()})
            if len(kinds) != self._count:
                raise TypeError(
                    f"{self.__name__}.specialize: {len(kinds)} types given, but the function "
                    f"has {self._count} parameters"
                )
            found._declared = [kinds]
            found._specializations_on(backend)[kinds] = found._compile(backend, kinds, True)
            self._specializations[backend.name, kinds] = found
        return found

    def _kind_of(self, arg: Any, position: int) -> Type:
        """Return the type of an argument of specialize(): that of a value, or the type itself."""
        if isinstance(arg, np.ndarray):
            return ArrayType(arg.dtype, arg.ndim, arg.flags.c_contiguous)
        if isinstance(arg, (GPUArray, np.generic, *_PYTHON)) or arg is None:
            return self._type_of(arg, position)
        if isinstance(arg, tuple):
            return TupleType(tuple(self._kind_of(a, position) for a in arg))
        return as_type_of_signature(arg)

    @property
    def specializations(self) -> dict[Any, Kernel]:
        """The results of specialize(), by backend and types."""
        return dict(self._specializations)

    @property
    def specialized(self) -> bool:
        """Whether it accepts only arguments of one signature."""
        return len(self._declared) == 1

    def inspect_asm(self, signature: Any = None) -> Any:
        """Return the generated C, since there is no assembly: for a signature, else a
        dictionary."""
        return self.inspect_source() if signature is None else self.overloads[signature].text

    inspect_llvm = inspect_sass = inspect_asm

    def inspect_types(self, file: Any = None) -> None:
        """Print the generated C of everything compiled."""
        for kinds, text in self.inspect_source().items():
            print(f"{self.__name__} {kinds}", text, sep="\n", file=file)

    # ---- launching

    def _backend_for(self, args: Sequence[Any], queue: Any) -> Backend:
        for arg in args:
            if isinstance(arg, GPUArray):
                found: Backend = arg.backend
                if self._backend_name not in (None, found.name):
                    raise TypeError(
                        f"{self.__name__} is a kernel for {self._backend_name}, and an argument "
                        f"is an array of {found.name}; copy it with "
                        f".to({self._backend_name!r})"
                    )
                return found
        if queue is None:
            return _default_backend(self._backend_name)
        try:
            return backend_of(queue)
        except TypeError:
            raise TypeError(
                f"{self.__name__}: the stream of a launch must be a Stream of CUDA or a "
                f"CommandQueue of OpenCL, not {type(queue).__name__}"
            ) from None

    def _launch(self, launcher: Launcher, /, *args: Any, **kwargs: Any) -> Any:
        """Handle a call of a Launcher that C does not handle. Returns an OpenCL Event, or None for
        CUDA."""
        if kwargs or len(args) != self._count:
            args = self._bind(args, kwargs)
        try:
            return self._launch_bound(launcher, args)
        except OverflowError:
            self._check_sizes(args)
            raise
        except KernelError as error:
            error.__traceback__ = None  # as in infer()
            raise

    def _check_sizes(self, args: tuple[Any, ...]) -> None:
        """Raise for the first int that no parameter can be, by its name in Python."""
        for position, arg in enumerate(args):
            for number in _flatten([arg]):
                if type(number) is int and not -(1 << 63) <= number < 1 << 63:
                    raise OverflowError(
                        f"{self._where(position)}: {number} does not fit into the parameter's "
                        "type, which is int64 unless a signature declares another one"
                    ) from None

    def _launch_bound(self, launcher: Launcher, args: tuple[Any, ...]) -> Any:
        given, queue, shared = args, launcher.queue, launcher.shared
        backend = self._backend_for(args, queue)
        if queue is None:
            queue = _queue_of(backend, args)
        elif backend.name == "opencl" and not hasattr(queue, "properties"):
            raise self._wrong_queue(queue)
        check_report.before_launch(backend, queue)
        back: list[Any] = []
        args = self._on_device(args, backend, queue, back)
        made = self._specialized(backend, args)
        if self._declared:
            args = tuple(map(arguments.declared_number, args, made.arg_types))
            if self.freezes:
                args = tuple(map(arguments.as_int, args))
        arrays = [a for a in _flatten(args) if isinstance(a, GPUArray)] + made.captured
        for array in arrays:
            if array.backend is not backend:
                raise differ(self.__name__, backend, array.backend)
        if made.tests:
            made = self._for_launch(made, backend, args, launcher)
        error = record = None
        if made.asserts:
            error, record = self._record(made, backend, queue)
        flat = made.flat(args, shared, record if error is None else error)
        event, ordered = None, True
        if backend.name == "cuda":
            how = {"cooperative": True} if made.cooperative else {}
            grid, block = launcher.grid, launcher.block
            made.kernel(*flat, grid=grid, block=block, stream=queue, shared=shared, **how)
        else:
            ordered = backend.is_ordered(queue)
            waits = backend.wait_list(queue, arrays)
            size = tuple(g * b for g, b in zip(launcher.grid, launcher.block))
            event = made.kernel(queue, size, launcher.block, *flat, wait_for=waits)
            backend.note_event(queue, event, arrays, ())
        if error is not None:
            self._check_asserts(made, backend, queue, error)
        arguments.copy_back(back)
        steps, tests = made.steps, made.program
        if error is None and steps is not None and tests is not None and ordered:
            if all(map(operator.is_, given, args)):
                cuda, more = backend.name == "cuda", (record, made.number)
                self._remember(args, made.kernel, steps, made.guards, queue, cuda, tests, more)
        return event

    def _wrong_queue(self, queue: Any) -> TypeError:
        return TypeError(
            f"{self.__name__}: the arrays are on OpenCL; pass a CommandQueue, not "
            f"{type(queue).__name__}"
        )

    def _on_device(
        self, args: tuple[Any, ...], backend: Backend, queue: Any, back: list[Any]
    ) -> tuple[Any, ...]:
        """Replace host arrays by device arrays, and record what must be copied back."""
        if self.extensions:
            args = self._apply_extensions(args, queue, back)
        if self._pointers:
            args = self._with_pointers(args)
        for i, arg in enumerate(args):
            if isinstance(arg, np.ndarray) and not arg.flags.writeable and i in self._assigned:
                raise ValueError(
                    f"{self._where(i)}: the array is read-only, and the kernel assigns its items; "
                    "pass a copy"
                )
        return tuple([arguments.to_device(self.__name__, a, backend, queue, back) for a in args])

    @functools.cached_property
    def _assigned(self) -> frozenset[int]:
        """The numbers of the parameters whose items are assigned."""
        return assigned_parameters(self._source)

    def _apply_extensions(
        self, args: tuple[Any, ...], queue: Any, back: list[Any]
    ) -> tuple[Any, ...]:
        """Return the arguments as prepared by the extensions, the last extension first."""
        found = []
        for value in args:
            kind = None
            for one in reversed(self.extensions):
                kind, value = one.prepare_args(kind, value, stream=queue or 0, retr=back)
            found.append(value)
        return tuple(found)

    def _with_pointers(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Replace addresses for declared pointers by arrays of unknown length."""
        for i, dtype in self._pointers.items():
            if isinstance(args[i], (int, np.integer)):
                view = arguments.pointer_view(self._where(i), int(args[i]), dtype)
                args = (*args[:i], view, *args[i + 1 :])
        return args

    def _record(self, made: Specialization, backend: Backend, queue: Any) -> tuple[Any, Any]:
        """Return where a kernel writes errors: memory for this launch, which then waits, or the
        process's record. The other one is None."""
        waits = made.waits or check_report.mode(self.check, backend)[1]
        record = None if waits else check_report.shared_record(backend)
        if record is not None:
            return None, record
        error = backend.allocate(made.record_bytes, None, queue)
        backend.fill(queue, error, 0, 4 * check_report.WORDS)
        return error, None

    def _check_asserts(
        self, made: Specialization, backend: Backend, queue: Any, error: Any
    ) -> None:
        words = np.zeros(check_report.WORDS, np.int32)
        backend.to_host(queue, words, error, 0)
        check_report.check(self.__name__, made.asserts, words)


def _match_by_size(want: Type, have: Type) -> Type | None:
    """As match_argument(); but arrays of integers of the same size are read as the declared type,
    as in Numba."""
    dates = getattr(want, "date", None) or getattr(have, "date", None)
    if isinstance(want, ArrayType) and isinstance(have, ArrayType) and want.ndim == have.ndim:
        both = want.dtype, have.dtype
        if (
            dates is None
            and all(d.kind in "iu" for d in both)
            and both[0].itemsize == both[1].itemsize
        ):
            return ArrayType(want.dtype, have.ndim, have.contiguous, have.space)
    return match_argument(want, have)


class _TypeKeyDict(dict[Any, Any]):
    """A dict by argument types, also in the notation of signatures, whatever the layout of
    arrays."""

    def get_like(self, key: Any) -> Any:
        wanted = _dtype_and_ndim(key)
        return next((v for kinds, v in self.items() if _dtype_and_ndim(kinds) == wanted), None)

    def __missing__(self, key: Any) -> Any:
        found = self.get_like(key)
        if found is None:
            raise KeyError(key)
        return found


def _dtype_and_ndim(key: Any) -> list[Any]:
    """Return types without the layout of arrays, and Python's numbers as their dtypes."""
    given = getattr(key, "args", key)
    kinds = map(as_type_of_signature, given if isinstance(given, (tuple, list)) else (given,))
    return [
        (getattr(k, "date", None) or k.dtype, getattr(k, "ndim", None))
        if isinstance(k, (Scalar, ArrayType))
        else k
        for k in kinds
    ]


@public_methods
class ForAll:
    """``kernel.forall(n)``."""

    def __init__(self, kernel: Kernel, n: int, tpb: int, stream: Any, shared: int) -> None:
        self.kernel, self.n, self.tpb, self.stream, self.shared = kernel, n, tpb, stream, shared

    def __repr__(self) -> str:
        return f"<{self.kernel!r} for at least {self.n} threads>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        kernel = self.kernel
        bound = kernel._bind(args, kwargs)
        threads = self.tpb or kernel._threads(bound, self.stream or None)
        blocks = max(-(-self.n // threads), 1)
        launch: Any = kernel._launcher(blocks, threads, self.stream, self.shared)
        return launch(*bound)


def _size(kernel: Kernel, what: str, value: Any) -> tuple[int, ...]:
    """Return blocks or threads as a tuple of ints."""
    items = value if isinstance(value, (tuple, list)) else (value,)
    dim = "griddim" if what == "blocks" else "blockdim"  # Numba's names
    try:
        found = tuple(n.__index__() for n in items)
    except (AttributeError, TypeError):
        raise TypeError(
            f"{kernel.__name__}: {what} must be an int or up to three of them, not {value!r}: "
            f"{dim} must be a sequence of integers, got {list(items)!r}"
        ) from None
    if not 1 <= len(found) <= 3 or min(found) < 0:
        raise ValueError(
            f"{kernel.__name__}: {what} must be an int or up to three of them, none negative, not "
            f"{value!r}: {dim} must be a sequence of 1, 2 or 3 integers, got {list(items)!r}"
        )
    if max(found) >= 2**31:  # CUDA's limit; some OpenCL drivers accept more and never finish
        raise ValueError(f"{kernel.__name__}: {what} {value!r}: at most {2**31 - 1} in a direction")
    return found


def _flatten(args: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for arg in args:
        found += _flatten(arg) if isinstance(arg, tuple) else [arg]
    return found


def _queue_of(backend: Backend, args: Sequence[Any]) -> Any:
    """Return the queue of the first array, or the backend's own."""
    for arg in _flatten(args):
        if isinstance(arg, GPUArray) and arg.queue is not None:
            return arg.queue
    return getattr(backend, "default_queue", None)


def _default_backend(name: str | None) -> Backend:
    """Return the backend for kernels without device arguments."""
    if name == "cuda":
        return backend_of(None)
    from .target import resolve_target

    return resolve_target(name).backend


def as_type_of_signature(obj: Any) -> Type:
    """Convert a type of a signature: float32[:], "float32[:]", a dtype, int, ArrayType(...)."""
    from .. import signature

    if isinstance(obj, str):
        obj = signature.as_type(obj)
    if isinstance(obj, signature.ArrayType):
        return ArrayType(np.dtype(obj.dtype), obj.ndim, obj.layout == "C")
    if isinstance(obj, signature.PointerType):
        return ArrayType(obj.dtype, 1)
    if isinstance(obj, signature.TupleType):
        return TupleType(tuple(map(as_type_of_signature, obj.items)))
    if isinstance(obj, signature.ScalarType) and obj.dtype.names:  # a record as an argument
        return ArrayType(obj.dtype, 0)
    return as_type(obj)


def kernel(
    function: Any = None,
    /,
    *,
    backend: str | None = None,
    src: str | None = None,
    signatures: Sequence[Any] = (),
    exact: bool = False,
    options: Sequence[str] = (),
    fastmath: bool = False,
    check: bool | None = None,
    **unknown: Any,
) -> Any:
    """Decorator that compiles a Python function to a kernel, for OpenCL and CUDA.

    It also accepts options, ``@kernel(exact=True)``: *exact*: no fused multiply-add, every
    operation is rounded as in NumPy; *fastmath*: the compiler may be inexact; *options*: for the
    device's compiler; *backend*: "opencl" or "cuda" to refuse arrays of the other; *signatures*:
    types of the arguments; *src*: the source of the function; *check*: whether indices are
    checked, and each call waits for the outcome; by default, PYGPU_CHECK decides, or else the
    device: CPUs check, and raise errors later. Raises KernelError for anything but a function,
    TypeError for unknown options; other errors are raised at the first call.
    """
    if unknown:
        check_options("pygpu.kernel", kernel, unknown)
    given: dict[str, Any] = {
        "backend": backend, "src": src, "signatures": signatures, "exact": exact,
        "options": options, "fastmath": fastmath, "check": check,
    }  # fmt: skip
    if function is None:
        return functools.partial(kernel, **given)
    inner = python_function(function)
    if inner is None:
        hint = ""
        if isinstance(function, (staticmethod, classmethod)):
            hint = f"; put {type(function).__name__} above the decorator, not below"
        raise KernelError(f"pygpu.kernel: {function!r} is not a Python function{hint}")
    return Kernel(inner, **given)


public_functions(globals(), ["kernel"])
publish(globals(), ["kernel"], "pygpu")
