"""The constant classes of OpenCL: `mem_flags.READ_WRITE` and others, as plain ints.

Every value of OpenCL 1.0 to 3.0 and of the common extensions is there, whatever the driver knows.
"""

from pygpu._opencl import _constants

__all__ = ["Constants"]


class Constants:
    """Base of the constant classes; members are ints."""

    _is_bitfield = False

    @classmethod
    def _members(cls) -> dict[str, int]:
        return {name: value for name, value in vars(cls).items() if not name.startswith("_")}

    @classmethod
    def to_string(cls, value: int, default_format: str | None = None) -> str:
        """Name of a value; for flags the names of those that are set, joined with " | ".

        A value without a name gives default_format % value, or raises ValueError.
        """
        members = cls._members()
        for name, member in members.items():
            if member == value:
                return name
        if cls._is_bitfield:
            names = [n for n, m in members.items() if m and m & (m - 1) == 0 and value & m]
            known = 0
            for name in names:
                known |= members[name]
            if names and known == value:
                return " | ".join(names)
            if value == 0:
                return ""
        if default_format is None:
            raise ValueError(f"{cls.__name__} has no name for {value}")
        return default_format % value


def _make_classes() -> dict[str, type[Constants]]:
    classes = {}
    for name, doc, is_bitfield, members in _constants():
        body = {"__doc__": doc, "__module__": "pygpu", "_is_bitfield": is_bitfield, **members}
        classes[name] = type(name, (Constants,), body)
    return classes


_classes = _make_classes()
globals().update(_classes)
__all__ += list(_classes)
