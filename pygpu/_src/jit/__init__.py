"""Python functions as kernels.

The compiler's interface, for the decorators (vectorize, guvectorize, reduce, kernel)::

    from pygpu.pykernel import ArrayType, Scalar, compile_function

    made = compile_function(func, arg_types, dialect, prefix="pgf")

*func* is a Python function, or the result of ``pygpu.jit``. *arg_types* has for each parameter

- a NumPy dtype: a number of that type ("strong", like an item of an array);
- ``bool``, ``int``, ``float``, ``complex``: a Python number ("weak" in NEP 50), stored as b8, i64,
  f64, c128;
- ``ArrayType(dtype, ndim, contiguous=True, space="global")``: an array. contiguous: in C order;
  otherwise it has any strides. space: "global", "local" (of a work-group), "private", "constant";
- a tuple of types, or None for a parameter that is None.

*dialect* is a Backend, a Dialect, or "opencl" or "cuda". The result is a
:class:`~pygpu._src.jit.compiler.CompiledFunction`, the same object for the same function, values
of outside names, types and dialect:

- ``.text`` (and ``.preamble``, the same): the C source of the device function and everything that
  it calls, in the common language of pygpu._src.codegen.dialect, so that it can be the *helpers* of
  an elementwise ``Operation``. It must follow ``Dialect.prefix(made.features)``, which
  ``kernel_cache.get(..., features=made.features)`` adds. *prefix* distinguishes the C names of two
  functions in one source; helper functions ``pgu_*``, ``pg_wrap``, ... would still be defined
  twice: use one Python function that calls both, or remove duplicate definitions.
- ``.name``: the C function, mangled by its types.
- ``.arg_types``, ``.result``: types in :mod:`pygpu._src.jit.types`; ``.return_types``: a tuple of
  NumPy dtypes, ``()`` if it returns nothing.
- ``.implicit``: names of extra last parameters: "pg_error" (``PG_GLOBAL pg_i32 *pg_error``, set to
  the number of a failed assertion, whose message is ``.asserts[number]``), local arrays. Usually
  empty.

C parameters, in order:

- a number: one, by value, of the compute type of its dtype (``codegen.dtypes.compute_type``: pg_f32
  for float16, pg_b8 for bool);
- an array of n dimensions: a pointer of its storage type to its first item (the offset is already
  added: what ``PG_START`` declares), then n ``pg_i64`` of its shape, then, if it is not
  contiguous, n ``pg_i64`` of its strides in bytes;
- a tuple: those of its items;
- the implicit ones;
- for a function that returns a tuple, a private pointer ``pg_T *`` for each number in it, and the C
  function returns void. A function that returns one number returns it;
  one without a result is void.

``emit.parameters(type, name)`` returns these declarations, and ``types.as_type`` converts callers'
types. A function may write through its array parameters, because parameters are never const.

Errors are :class:`KernelError` (a TypeError) with file, line and the marked expression.
"""

from __future__ import annotations

from pygpu._src.jit.compiler import CompiledFunction, compile_function
from pygpu._src.jit.decorators.jit import DeviceFunction, jit
from pygpu._src.jit.source import KernelError
from pygpu._src.jit.types import ArrayType, Scalar, TupleType, as_type

__all__ = [
    "ArrayType",
    "CompiledFunction",
    "DeviceFunction",
    "KernelError",
    "Scalar",
    "TupleType",
    "as_type",
    "compile_function",
    "jit",
]
