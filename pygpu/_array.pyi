# Written by tools/stubs.py from the docstrings of the built module: `make stubs`.

from collections.abc import Callable
from typing import Any, ClassVar, Generic, Self, final

import numpy as np
from typing_extensions import TypeVar, disjoint_base

from ._src.util.attributes import ReadOnly as _ReadOnly

_ScalarT_co = TypeVar("_ScalarT_co", bound=np.generic, default=Any, covariant=True)

@final
class DLPackTensor:
    def __new__(cls) -> Self: ...
    __array_interface__: _ReadOnly[dict[str, Any]]
    address: _ReadOnly[int]
    device: _ReadOnly[tuple[int, int]]
    dtype: _ReadOnly[np.dtype[Any]]
    offset: _ReadOnly[int]
    read_only: _ReadOnly[bool]
    shape: _ReadOnly[tuple[int, ...]]
    strides: _ReadOnly[tuple[int, ...]]

@final
class FastPath:
    def __new__(cls, name: str, function: Callable[..., Any]) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, obj: Any, owner: Any = None, /) -> Any: ...
    def __getattribute__(self, name: str, /) -> Any: ...
    def __reduce__(self) -> str: ...
    __wrapped__: _ReadOnly[Callable[..., Any]]

@disjoint_base
class FusedCall:
    def __new__(cls, plain: Callable[..., Any], is_static: tuple[bool, ...]) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _find(self, args: tuple[Any, ...], /) -> FusedProgram | None: ...
    def _forget(self) -> None: ...
    def _remember(self, args: tuple[Any, ...], program: FusedProgram, /) -> bool: ...
    plain: _ReadOnly[Callable[..., Any]]

@final
class FusedProgram:
    def __new__(
        cls,
        n_registers: int,
        steps: tuple[Any, ...],
        results: tuple[int, ...],
        form: Any,
        constants: tuple[tuple[int, Any], ...],
        watched: tuple[Any, ...],
        shaped: bool,
        mutates: bool,
    ) -> Self: ...
    def fresh(self) -> bool: ...
    mutates: _ReadOnly[bool]
    n_steps: _ReadOnly[int]
    def run(self, args: tuple[Any, ...], /) -> Any: ...
    shaped: _ReadOnly[bool]

@disjoint_base
class GPUArray(Generic[_ScalarT_co]):
    def __abs__(self, /) -> Any: ...
    def __add__(self, value: Any, /) -> Any: ...
    __and__ = __add__
    def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **options: Any) -> Any: ...
    __divmod__ = __add__
    def __eq__(self, value: Any, /) -> Any: ...
    __floordiv__ = __add__
    def __ge__(self, value: Any, /) -> Any: ...
    def __gt__(self, value: Any, /) -> Any: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    __iadd__ = __add__
    __iand__ = __add__
    __ifloordiv__ = __add__
    __ilshift__ = __add__
    __imatmul__ = __add__
    __imod__ = __add__
    __imul__ = __add__
    def __invert__(self, /) -> Self: ...
    __ior__ = __add__
    def __ipow__(self, value: Any, mod: None = None, /) -> Any: ...
    __irshift__ = __add__
    __isub__ = __add__
    __itruediv__ = __add__
    __ixor__ = __add__
    def __le__(self, value: Any, /) -> Any: ...
    def __len__(self, /) -> int: ...
    __lshift__ = __add__
    def __lt__(self, value: Any, /) -> Any: ...
    __matmul__ = __add__
    __mod__ = __add__
    __mul__ = __add__
    def __ne__(self, value: Any, /) -> Any: ...
    def __neg__(self, /) -> Self: ...
    __or__ = __add__
    def __pos__(self, /) -> Self: ...
    def __pow__(self, value: Any, mod: None = None, /) -> Any: ...
    __radd__ = __add__
    __rand__ = __add__
    __rdivmod__ = __add__
    __rfloordiv__ = __add__
    __rlshift__ = __add__
    __rmatmul__ = __add__
    __rmod__ = __add__
    __rmul__ = __add__
    __ror__ = __add__
    __rpow__ = __pow__
    __rrshift__ = __add__
    __rshift__ = __add__
    __rsub__ = __add__
    __rtruediv__ = __add__
    __rxor__ = __add__
    __sub__ = __add__
    __truediv__ = __add__
    __xor__ = __add__
    @property
    def _c_contiguous(self) -> bool: ...
    @property
    def _context(self) -> Any: ...
    @property
    def _f_contiguous(self) -> bool: ...
    @property
    def _foreign(self) -> bool: ...
    @_foreign.setter
    def _foreign(self, value: bool, /) -> None: ...
    @property
    def _gpudata(self) -> Any: ...
    def _init(
        self,
        backend: Any,
        queue: Any,
        data: Any,
        offset: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None,
        dtype: np.dtype[Any],
        allocator: Any = None,
    ) -> None: ...
    def _set_event(self, event: Any, /) -> None: ...
    def _view(
        self,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None,
        offset: int,
        dtype: np.dtype[Any] | None = None,
        cls: type | None = None,
    ) -> Self: ...
    @property
    def allocator(self) -> Any: ...
    @allocator.setter
    def allocator(self, value: Any, /) -> None: ...
    @property
    def backend(self) -> Any: ...
    @property
    def base_data(self) -> Any: ...
    @base_data.setter
    def base_data(self, value: Any, /) -> None: ...
    @property
    def dtype(self) -> np.dtype[_ScalarT_co]: ...
    @property
    def events(self) -> list[Any]: ...
    @events.setter
    def events(self, value: list[Any], /) -> None: ...
    @property
    def flags(self) -> Any: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @offset.setter
    def offset(self, value: int, /) -> None: ...
    @property
    def queue(self) -> Any: ...
    @queue.setter
    def queue(self, value: Any, /) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]: ...

@disjoint_base
class KernelBase:
    def __getitem__(self, config: Any, /) -> Launcher: ...
    def _remember(
        self,
        args: tuple[Any, ...],
        kernel: Any,
        steps: tuple[int, ...],
        guards: tuple[Any, ...],
        queue: Any,
        cuda: bool,
        tests: tuple[int, ...],
        given: tuple[Any, Any],
    ) -> None: ...

@final
class KernelTable:
    def __new__(
        cls,
        cuda: bool,
        allocate: Callable[[int], Any],
        local: tuple[int, ...],
    ) -> Self: ...
    def add(
        self,
        name: Any,
        kinds: tuple[int, ...],
        kernel: Any,
        dtype: np.dtype[Any],
        per_group: int,
        max_groups: int,
        group_size: int,
        op: int = 0,
    ) -> None: ...
    context: Any
    ordered: Any
    plans: _ReadOnly[Plans]

@final
class Launcher:
    def __new__(
        cls,
        kernel: KernelBase,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        queue: Any,
        shared: int,
        global_size: tuple[int, ...],
    ) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    block: _ReadOnly[Any]
    grid: _ReadOnly[Any]
    kernel: _ReadOnly[Any]
    queue: _ReadOnly[Any]
    shared: _ReadOnly[Any]

@final
class Plans:
    def __new__(cls) -> Self: ...
    def __len__(self, /) -> int: ...
    def add(
        self,
        name: Any,
        extra: int,
        operands: tuple[Any, ...],
        out: Any,
        result: Any,
        steps: tuple[Any, ...],
        scratch: tuple[tuple[np.dtype[Any], int], ...] = (),
        written: tuple[int, ...] = (),
        op: int = 0,
    ) -> bool: ...
    def clear(self) -> None: ...
    def run(self, name: Any, /, *operands: Any) -> Any: ...

@final
class PlansOfBackends:
    def __new__(cls) -> Self: ...
    def link(self, backend: Any, plans: Plans, /) -> None: ...
    def run(self, name: Any, /, *operands: Any) -> Any: ...

_CALL_MAX: int
_GIVE_ID: int
_GIVE_MEMORY: int
_GIVE_NUMBER: int
_GIVE_OFFSET: int
_GIVE_RECORD: int
_GIVE_SHAPE: int
_GIVE_STRIDES: int
_KIND_FLOAT: int
_KIND_INT: int
_KIND_SCALAR: int
_PLAN_FIRST_SCRATCH: int
_PLAN_RESULT: int
_RECORD_BYTES: int
_TEST_ADD: int
_TEST_CONSTANT: int
_TEST_FITS: int
_TEST_FLOOR: int
_TEST_GROUPS: int
_TEST_LESS: int
_TEST_MAX: int
_TEST_MIN: int
_TEST_MINUS: int
_TEST_SHAPE: int
_TEST_SIZE: int
_TEST_TIMES: int
_TEST_VALUE: int
def _axes(axis: Any, keepdims: bool, /) -> int: ...
def _cache_backend(queue: Any, backend: Any, /) -> None: ...
def _cache_context(context: Any, backend: Any, /) -> None: ...
def _call(name: Any, /, *operands: Any, out: Any = None) -> Any: ...
def _chain_compiler() -> None: ...
def _chain_connect(cuda: bool, deferral: Any) -> None: ...
def _chain_counts() -> dict[str, int]: ...
def _chain_flush() -> None: ...
def _chain_known(table: KernelTable, key: bytes, hashes: bytes, made: tuple[Any, ...]) -> None: ...
def _chain_set(
    mode: int,
    on_frequent: Callable[[tuple[Any, ...]], None] | None = None,
    often: int = 3,
    wait_us: int = 300,
    on_copy: Callable[[int], int] | None = None,
) -> None: ...
def _dlpack_export(
    owner: Any,
    address: int,
    device: tuple[int, int],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: np.dtype[Any],
    offset: int,
    versioned: bool,
    flags: int,
) -> Any: ...
def _dlpack_import(capsule: Any, /) -> DLPackTensor: ...
def _launch_pending() -> None: ...
def _launch_when_compiled(
    launch: Callable[[], tuple[Any, tuple[Any, ...], dict[str, Any]] | None],
    queue: Any,
    /,
    *memory: Any,
) -> bool: ...
def _pending() -> bool: ...
def _raise_after_launches(error: BaseException, /) -> None: ...
def _record() -> memoryview: ...
def _reduce(name: Any, axis: Any, keepdims: bool, /, *arrays: Any) -> Any: ...
def _register(owner: str, /, **entries: Any) -> None: ...
def _set_operate(operate: Callable[..., Any], /) -> None: ...
def _set_trace(trace: Callable[..., Any], /) -> None: ...
def _tracing(change: int, /) -> None: ...
