"""``reduce`` and ``accumulate`` of ufuncs over dates and durations: kernels get them as int64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._src.array.ufuncs import is_array

_INT64 = np.dtype("i8")


def on_dates(
    compute: Callable[..., Any], array: Any, dtype: np.dtype[Any], out: Any, initial: Any, name: str
) -> Any:
    """The result of a method whose items are dates of *dtype*, to which the array is converted.
    compute: gets the array, out= and initial= as int64."""
    if out is not None and out.dtype != dtype:
        raise TypeError(f"{name}: cannot cast the result from {dtype} to {out.dtype}")
    given = array if array.dtype == dtype else array.astype(dtype)
    if isinstance(initial, (np.datetime64, np.timedelta64)):
        if np.result_type(initial, dtype) != dtype:
            raise TypeError(f"{name}: initial={initial!r} is not a {dtype}")
        initial = int(initial.astype(dtype).astype(_INT64))
    elif initial is not None and dtype.kind == "M":
        raise TypeError(f"{name}: initial={initial!r} is not a {dtype}")
    shown = None if out is None else out.view(_INT64)
    found = compute(given.view(_INT64), out=shown, initial=initial)
    if out is not None:
        return out
    return found.view(dtype) if is_array(found) else np.asarray(found).view(dtype)[()]
