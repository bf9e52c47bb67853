"""The loops of a ufunc: the dtypes for which it exists, and the choice of a loop for a call.

With signatures, these are the loops, and a call uses NumPy's choice among them: the first to whose
dtypes all arguments can be cast safely, where Python's numbers are weak. NumPy cannot be asked
itself, because it resolves the dtypes only of its own ufuncs, and a ufunc made for that from C has
no loops for dates with units, or for narrow floats. Without signatures, a loop is inferred for the
dtypes of a call's arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.array import ufuncs
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.dtypes import is_date
from pygpu._src.util.frozen import Frozen

from ..source import KernelError

DType = np.dtype[Any]
_CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")
_RANK = {int: "iufc", float: "fc", complex: "c"}


class Loop(Frozen):
    """Dtypes of a loop's inputs and outputs. weak: for inputs that are Python numbers the type
    bool, int, float or complex, None for others."""

    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    weak: tuple[Any, ...] = ()


def check_casting(name: str, casting: Any) -> None:
    """Raise ValueError for an unknown casting rule."""
    if casting not in _CASTING:
        raise ValueError(f"{name}: casting must be one of {', '.join(_CASTING)}, not {casting!r}")


def check_results(name: str, loop: Loop, outs: Sequence[Any], casting: Any) -> None:
    """Raise TypeError for outputs that do not take the loop's results."""
    for out, dtype in zip(outs, loop.outputs):
        if out is not None and not np.can_cast(dtype, out.dtype, casting):
            raise TypeError(
                f"{name}: cannot cast a result from {dtype} to {out.dtype} with casting rule "
                f"{casting!r}"
            )


def types_text(inputs: Sequence[DType], outputs: Sequence[DType]) -> str:
    """As in numpy.ufunc.types: "ff->f"."""
    return "".join(d.char for d in inputs) + "->" + "".join(d.char for d in outputs)


class LoopAttributes:
    """The attributes of NumPy's ufuncs that tell their loops."""

    nin: int
    nout: Any
    _loops: list[Loop]

    @property
    def nargs(self) -> int:
        """The number of inputs and outputs."""
        return int(self.nin + self.nout)

    @property
    def types(self) -> list[str]:
        """The loops in NumPy's notation: "ff->f". Without signatures, those made so far."""
        return [types_text(loop.inputs, loop.outputs) for loop in self._loops]

    @property
    def ntypes(self) -> int:
        """The number of loops."""
        return len(self._loops)


def kind_of(operand: Any) -> Any:
    """Return the type by which a loop is chosen: a dtype, or int, float or complex for a Python
    number."""
    return operand.dtype if hasattr(operand, "dtype") else ufuncs.kind_of(operand)


def _is_number(dtype: DType) -> bool:
    return not dtype.hasobject and (dtypes.computes(dtype) or is_date(dtype))


def check_numbers(name: str, kinds: Sequence[Any]) -> None:
    """Raise TypeError for operands of dtypes with which devices do not compute."""
    for k, kind in enumerate(kinds):
        if isinstance(kind, np.dtype) and not _is_number(kind):
            raise KernelError(
                f"{name}: argument {k} has dtype {kind}, with which a device does not compute; "
                "convert it with astype()"
            )


def promoted(kinds: Sequence[Any]) -> list[DType]:
    """Return the operands' dtypes with NumPy's for Python numbers: the least one of that kind of
    number with which the other operands keep theirs, otherwise int64, float64 or complex128."""
    strong = [k for k in kinds if isinstance(k, np.dtype) and not is_date(k)]
    return [k if isinstance(k, np.dtype) else np.result_type(k(0), *strong) for k in kinds]


def _fits(kind: Any, dtype: DType, casting: Any) -> bool:
    if isinstance(kind, np.dtype):
        return bool(np.can_cast(kind, dtype, casting))
    return dtype.kind in _RANK[kind]


def find(
    name: str,
    loops: Sequence[Loop],
    kinds: Sequence[Any],
    casting: Any = "same_kind",
    wanted: Sequence[Any] | None = None,
) -> Loop:
    """Find the loop of a call. wanted: a required dtype or None for each input and output. Raises
    TypeError if there is none."""
    rule: Any = "safe" if wanted is None else casting
    # Where NumPy would find none, Python numbers fit loops of any size.
    for given in (promoted(kinds), kinds):
        for loop in loops:
            if wanted is not None and any(
                w is not None and w != d for w, d in zip(wanted, loop.inputs + loop.outputs)
            ):
                continue
            if all(_fits(k, d, rule) for k, d in zip(given, loop.inputs)):
                return loop
    listed = ", ".join(str(k) if isinstance(k, np.dtype) else k.__name__ for k in kinds)
    has = ", ".join(types_text(loop.inputs, loop.outputs) for loop in loops)
    raise TypeError(
        f"{name}: no loop for arguments ({listed}) with casting rule {rule!r}: its signatures are "
        f"{has}"
    )


def infer_inputs(kinds: Sequence[Any], dtype: DType | None = None) -> tuple[Any, tuple[Any, ...]]:
    """Return the dtypes of a call's inputs for inference, and which are weak (int for a Python
    int).

    A Python float or complex takes the size of the floating arguments beside it. dtype: of the
    calculation, if the call specifies one: inputs that can be cast to it are converted.
    """
    mixed = any(isinstance(kind, np.dtype) for kind in kinds)
    weak = tuple(int if mixed and dtype is None and kind is int else None for kind in kinds)
    found: list[DType] = []
    for kind, one in zip(kinds, promoted(kinds)):
        if kind is int:
            one = np.dtype(np.int64)
        if dtype is not None and np.can_cast(one, dtype, "same_kind"):
            one = dtype
        if not dtypes.computes(one):
            raise TypeError(f"a device does not compute with dtype {one}")
        found.append(one)
    return tuple(found), weak
