"""PYGPU_CHECK=1: launches of OpenCL C kernels that detect indices out of bounds.

Programs built while it is set are not modified. Next to each one, a twin is built from the source
that checked_source.py derives. The program's kernels become `CheckedKernel`s: they answer all
queries themselves, but launch the twin's kernel. A kernel or pointer that cannot be checked causes
a single warning.
"""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu import _opencl
from pygpu._src.util.check_switch import check_asked
from pygpu.constants import (
    command_execution_status,
    kernel_arg_address_qualifier,
    kernel_arg_info,
    mem_flags,
    program_build_info,
)
from pygpu.errors import Error

from .checked_source import RECORD_BYTES, SIZES, Form, read

HINT = (
    "run the program under oclgrind: "
    "PYGPU_OPENCL_LIBRARY=/usr/lib/oclgrind/liboclgrind-rt.so python program.py"
)
_UNKNOWN = 2**63 - 1  # items, if the size of memory is unknown
_FIRST = ("queue", "global_size", "local_size")
_OPTIONS = {"global_offset", "g_times_l", "allow_empty_ndrange", "wait_for"}


def _is_asked() -> bool:
    """Whether PYGPU_CHECK=1, and the program being built is not one of pygpu's own."""
    if not check_asked():
        return False
    name = sys._getframe(3).f_globals.get("__name__", "")
    return name != "pygpu" and (not name.startswith("pygpu.") or name.endswith(".ipython_ext"))


def _warn(text: str, depth: int) -> None:
    warnings.warn(f"PYGPU_CHECK=1: {text}; {HINT}", UserWarning, stacklevel=depth + 1)


def begin_build(program: _opencl.Program) -> None:
    """Called by a function that Program.build calls."""
    if program._checks is not None or not _is_asked():
        return
    if program._source_bytes is None:
        _warn("a program that was not made from source is not checked", 3)
        return
    program._checks = _Checks()


def begin_compile() -> None:
    """Called by a function that Program.compile calls."""
    if _is_asked():
        _warn("a program that is compiled and linked apart is not checked", 3)


class _Checks:
    """Makes a program's kernels: Program._checks."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._options: bytes | None = None
        self._warned: set[str] = set()
        self.forms: dict[str, Form] = {}
        self.twin: _opencl.Program | None = None
        self._reason = ""

    def type_of(self, program: _opencl.Program, name: str) -> type[_opencl.Kernel]:
        """Return the type of program.name, for Kernel."""
        with self._lock:
            if self._options != program._options:
                self._build(program)
            form = self.forms.get(name)
            if form is None:
                form = self.forms[name] = Form(name, reason="its definition was not found")
            form.reason = form.reason or self._reason
            if name not in self._warned:
                self._warned.add(name)
                self._warn_of_unchecked(program, form)
        return CheckedKernel if form.checked else _opencl.Kernel

    def _build(self, program: _opencl.Program) -> None:
        self._options = options = program._options
        self._warned.clear()
        self.twin, self._reason = None, ""
        source = program._source_bytes or b""
        self.forms, text = read(source, (options or b"").decode("latin-1").split())
        if not any([form.checked for form in self.forms.values()]):
            return
        self.twin = _opencl.Program(program.context, text)
        try:
            self.twin._build(options or b"", _built_for(program))
        except Error:
            self._reason = "its source with checks does not compile"

    def _warn_of_unchecked(self, program: _opencl.Program, form: Form) -> None:
        """Warn of the parts of a kernel that are not checked."""
        if not form.reason:
            form.reason = _contradiction(program, form)
        if form.reason:
            _warn(f"kernel {form.name!r} is not checked ({form.reason})", 4)
            return
        left = [f"{p.name!r} ({p.reason})" for p in form.pointers if p.reason]
        if left:
            names = ", ".join(left)
            _warn(f"kernel {form.name!r}: accesses through {names} are not checked", 4)


class _PlainKernel(_opencl.Kernel):
    """A kernel for which no check was requested."""


def _built_for(program: _opencl.Program) -> list[_opencl.Device]:
    status = program_build_info.STATUS
    return [d for d in program.context.devices if program.get_build_info(d, status) == 0]


def _contradiction(program: _opencl.Program, form: Form) -> str:
    """Return why a kernel differs from what was read, according to the compiler's result."""
    kernel = _PlainKernel(program, form.name)
    if kernel.num_args != form.n_args:
        return "its parameters cannot be read"
    spaces = kernel_arg_address_qualifier.GLOBAL, kernel_arg_address_qualifier.CONSTANT
    pointers = {pointer.index for pointer in form.pointers}
    for i in range(form.n_args):
        try:
            space = kernel.get_arg_info(i, kernel_arg_info.ADDRESS_QUALIFIER)
            kind = str(kernel.get_arg_info(i, kernel_arg_info.TYPE_NAME))
        except Error:
            return ""
        is_memory = space in spaces and not kind.startswith(("image", "pipe"))
        if is_memory != (i in pointers):
            return f"the declaration of {form.names[i]!r} cannot be read"
    return ""


def _reach(memory: Any) -> int | None:
    """Return the bytes of an argument after the address to which the kernel's pointer points."""
    if memory is None:
        return 0
    if isinstance(memory, (_opencl.MemoryObjectHolder, _opencl.SVMPointer)):
        try:
            return int(memory.size)
        except (AttributeError, Error):
            return None
    shape, strides = getattr(memory, "shape", None), getattr(memory, "strides", None)
    dtype = getattr(memory, "dtype", None)
    if isinstance(shape, tuple) and isinstance(strides, tuple) and isinstance(dtype, np.dtype):
        offset = int(getattr(memory, "offset", 0))
        if 0 in shape:
            return offset
        steps: list[int] = [(n - 1) * step for n, step in zip(shape, strides) if step > 0]
        return offset + sum(steps) + dtype.itemsize
    data = getattr(memory, "data", None)
    return _reach(data) if data is not None else None


# Launches that wait for a user event without a status: (event, record, queue, form).
_later: list[tuple[Any, Any, Any, Form]] = []


class CheckedKernel(_opencl.Kernel):
    """A kernel that launches its twin, waits, and raises IndexError if an index was out of
    bounds."""

    # Made by Kernel(program, name) without a call of __init__.
    _given: dict[int, Any] | None = None
    _twin_kernel: _opencl.Kernel | None = None
    _sizes: list[int] | None = None
    # Indices of parameters among the arguments; None: the same.
    _arg_indices: dict[int, int] | None = None

    def _form(self) -> Form:
        form: Form = self.program._checks.forms[self.function_name]
        return form

    def _twin(self) -> _opencl.Kernel:
        if self._twin_kernel is None:
            twin = self.program._checks.twin
            self._twin_kernel = _opencl.Kernel(twin, self.function_name)
        return self._twin_kernel

    # ---- arguments ----

    def _keep(self, index: int, arg: object) -> None:
        if self._given is None:
            self._given = {}
        self._given[index] = arg

    def set_arg(self, arg_index: int, arg: object) -> None:
        super().set_arg(arg_index, arg)
        self._keep(int(arg_index), arg)

    def set_args(self, *args: object) -> None:
        super().set_args(*args)
        self._given = dict(enumerate(args))

    def _set_arg_multi(self, pairs: tuple[object, ...], /) -> None:
        super()._set_arg_multi(pairs)
        for index, value in zip(pairs[::2], pairs[1::2]):
            self._keep(int(index), value)  # type: ignore[call-overload]

    def _set_arg_buf_multi(self, pairs: tuple[object, ...], /) -> None:
        self._set_arg_multi(pairs)

    def _set_arg_buf_pack_multi(self, groups: tuple[object, ...], /) -> None:
        super()._set_arg_buf_pack_multi(groups)
        for index, value in zip(groups[::3], groups[2::3]):
            self._keep(int(index), value)  # type: ignore[call-overload]

    def set_scalar_arg_dtypes(self, arg_types: Sequence[object]) -> None:
        arg_types = list(arg_types)
        super().set_scalar_arg_dtypes(arg_types)
        hidden = [None, *[np.dtype(np.uint64)] * len(self._form().checked)]
        self._twin().set_scalar_arg_dtypes([*arg_types, *hidden])
        self._arg_indices, at = {}, 0
        for i, kind in enumerate(arg_types):
            self._arg_indices[at] = i
            at += 2 if getattr(kind, "with_offset", False) else 1

    set_arg_types = set_scalar_arg_dtypes

    def clone(self) -> _opencl.Kernel:
        copy = super().clone()
        copy.__dict__.update(self.__dict__)
        if isinstance(copy, CheckedKernel):
            copy._given = None if self._given is None else dict(self._given)
        return copy

    def get_work_group_info(self, param: int, device: _opencl.Device) -> Any:
        return self._twin().get_work_group_info(param, device)

    # ---- launches ----

    def __call__(self, *args: Any, **options: Any) -> _opencl.Event:
        names = [*_FIRST, *[f"arg{i}" for i in range(self.num_args)]]
        left, placed = dict(options), list(args)
        while len(placed) < len(names) and names[len(placed)] in left:
            placed.append(left.pop(names[len(placed)]))
        if len(placed) < 3 or not left.keys() <= _OPTIONS:
            return super().__call__(*args, **options)  # which explains the error
        queue, global_size, local_size, *given = placed
        # Let this kernel check its arguments; it runs nothing.
        super().__call__(queue, (0,), None, *given, allow_empty_ndrange=True)
        self._given = dict(enumerate(given))
        return self._launch(queue, global_size, local_size, given, left)

    def _enqueue_checked(
        self,
        queue: Any,
        global_size: Any,
        local_size: Any,
        offset: Any,
        wait_for: Any,
        g_times_l: Any,
        allow_empty: Any,
    ) -> _opencl.Event | None:
        """Implement enqueue_nd_range_kernel(); None if arguments are missing, so that the caller
        says which."""
        given = self._given or {}
        n = self.num_args if self._arg_indices is None else len(self._arg_indices)
        if any([i not in given for i in range(n)]):
            return None
        options = {"global_offset": offset, "wait_for": wait_for}
        options |= {"g_times_l": bool(g_times_l), "allow_empty_ndrange": bool(allow_empty)}
        values = [given[i] for i in range(n)]
        return self._launch(queue, global_size, local_size, values, options)

    def _launch(
        self, queue: Any, global_size: Any, local_size: Any, given: Sequence[Any], options: Any
    ) -> _opencl.Event:
        _raise_later()
        form = self._form()
        values = list(given)
        context = queue.context
        flags = mem_flags.READ_WRITE | mem_flags.COPY_HOST_PTR
        record = _opencl.Buffer(context, flags, hostbuf=np.zeros(RECORD_BYTES, np.uint8))
        counts = []
        for pointer, size in zip(form.checked, self._item_sizes(queue)):
            index = pointer.index if self._arg_indices is None else self._arg_indices[pointer.index]
            reach = _reach(values[index])
            items = _UNKNOWN if reach is None else reach // size
            if items < 1:  # the target of accesses out of bounds
                hostbuf = np.zeros(size, np.uint8)
                values[index] = _opencl.Buffer(context, flags, hostbuf=hostbuf)
            counts.append(np.uint64(items))
        twin = self._twin()
        event = twin(queue, global_size, local_size, *values, record, *counts, **options)
        if _ends(event, queue):
            _raise_if_reported(record, queue, form)
        else:
            _later.append((event, record, queue, form))
        return event

    def _item_sizes(self, queue: Any) -> list[int]:
        """Return sizeof(*p) of the checked pointers."""
        form = self._form()
        if self._sizes is None:
            found: list[int] = []
            if form.measured:
                twin = self.program._checks.twin
                sizes = np.zeros(len(form.measured), np.uint64)
                out = _opencl.Buffer(queue.context, mem_flags.READ_WRITE, sizes.nbytes)
                aside = _opencl.CommandQueue(queue.context, queue.device)
                _opencl.Kernel(twin, SIZES + form.name)(aside, (1,), (1,), out)
                _opencl.enqueue_copy(aside, sizes, out)
                found = [int(size) for size in sizes]
            measured = iter(found)
            self._sizes = [p.size or max(next(measured), 1) for p in form.checked]
        return self._sizes


def _raise_if_reported(record: Any, queue: Any, form: Form) -> None:
    """Raise what the record of a finished launch shows."""
    words = np.zeros(RECORD_BYTES // 4, np.int32)
    if _opencl._user_events_pending() > 0:  # the queue may be waiting for it by now
        queue = _opencl.CommandQueue(queue.context, queue.device)
    _opencl.enqueue_copy(queue, words, record)
    if not words[0]:
        return
    site = form.sites[int(words[1])]
    index, items, *where = words[2:12].view(np.int64).tolist()
    raise IndexError(
        f"{form.name}: index {index} is out of bounds for {site.pointer} with {items} items "
        f"(line {site.line}: {site.text}; global id {tuple(where)})"
    )


def _ends(event: Any, queue: Any) -> bool:
    """Wait for a launch; returns False if it seems to wait for a user event that this very thread
    may have to set."""
    if _opencl._user_events_pending() == 0:
        event.wait()
        return True
    queue.flush()
    patience = time.monotonic() + 0.1
    while not _is_done(event):
        if time.monotonic() > patience:
            return False
        time.sleep(0.001)
    event.wait()  # raises if it failed
    return True


def _is_done(event: Any) -> bool:
    return bool(event.command_execution_status <= command_execution_status.COMPLETE)


def _raise_later() -> None:
    """Raise the errors of launches for which the call could not wait."""
    for launch in _later[:]:
        event, record, queue, form = launch
        if _opencl._user_events_pending() > 0 and not _is_done(event):
            continue
        try:
            _later.remove(launch)
        except ValueError:
            continue  # another thread handles it
        try:
            event.wait()
        except Error:
            continue  # it did not run
        _raise_if_reported(record, queue, form)
