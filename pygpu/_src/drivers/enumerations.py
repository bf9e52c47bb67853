"""Classes for a driver's enumerations, made from the tables of an extension.

Members are ints; `str()` returns only the name, as in PyCUDA. A plain int is accepted wherever a
member is. Flags are combined by `|`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Enumeration(int):
    """Base of the enumerations."""

    names: dict[str, Enumeration] = {}
    values: dict[int, Enumeration] = {}

    @property
    def name(self) -> str:
        """Return the member's name, or its number if it has none."""
        for name, member in type(self).names.items():
            if member is self:
                return name
        same = type(self).values.get(int(self))
        return same.name if same is not None and same is not self else int.__repr__(self)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        cls, name = f"pygpu.cuda.driver.{type(self).__name__}", self.name
        return f"{cls}.{name}" if name in type(self).names else f"{cls}({name})"

    def __reduce__(self) -> tuple[type, tuple[int]]:
        return type(self), (int(self),)


_classes: dict[str, dict[str, type[Enumeration]]] = {}


def cuda_classes(
    rows: Callable[[], list[tuple[str, str, bool, dict[str, int]]]],
) -> dict[str, type[Enumeration]]:
    """Return the classes of CUDA's enumerations by name, made at the first call."""
    found = _classes.get("cuda")  # without a lock: if memory ran out, it might not be released
    return _classes.setdefault("cuda", _make_classes(rows())) if found is None else found


def _make_classes(
    rows: list[tuple[str, str, bool, dict[str, int]]],
) -> dict[str, type[Enumeration]]:
    classes: dict[str, type[Enumeration]] = {}
    for class_name, doc, _, members in rows:
        cls: Any = type(
            class_name, (Enumeration,), {"__doc__": doc, "__module__": "pygpu.cuda.driver"}
        )
        cls.names, cls.values = {}, {}
        for name, number in members.items():
            member = cls(number)
            cls.names[name] = member
            cls.values.setdefault(number, member)
            setattr(cls, name, member)
        classes[class_name] = cls
    # PyCUDA's name for it, which is not a valid attribute in source code.
    flags = classes["array3d_flags"]
    setattr(flags, "2DARRAY", flags.names["ARRAY3D_2DARRAY"])
    return classes
