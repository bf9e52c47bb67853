"""The constant classes of OpenCL: `mem_flags.READ_WRITE` and others, as plain ints.

Every value of OpenCL 1.0 to 3.0 and of the common extensions is there, whatever the driver knows.
What an object answers (`buffer.flags`, `device.type`) is an int too, whose repr has the names.
"""

from pygpu._opencl import _constants, _value_names


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
            named_bits = 0
            for name in names:
                named_bits |= members[name]
            if names and named_bits == value:
                return " | ".join(names)
            if value == 0:
                return ""
        if default_format is None:
            raise ValueError(f"{cls.__name__} has no name for {value}")
        return default_format % value


def _make_classes() -> dict[str, type[Constants]]:
    classes = {}
    for name, doc, is_bitfield, members in _constants():
        body = {"__doc__": doc, "__module__": "pygpu", "_is_bitfield": is_bitfield}
        for member, value in members.items():  # a query has the name of the property
            body[member.upper() if member.islower() else member] = value
        classes[name] = type(name, (Constants,), body)
    return classes


class _Value(int):
    """A driver's answer. Only its repr differs from an int's: with names in str() or format(),
    programs that put it into source text or build options would break."""

    _constants: type[Constants]

    def __repr__(self) -> str:
        cls = self._constants
        try:
            names = cls.to_string(self)
        except ValueError:  # it has none
            names = ""
        if not names:
            return int.__repr__(self)
        return " | ".join(f"{cls.__name__}.{name}" for name in names.split(" | "))

    __str__ = int.__repr__

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)


class _Values(dict[int, _Value]):
    """The answers to a question, each made when it is first given."""

    def __init__(self, constants: type[Constants]) -> None:
        self._type = type(constants.__name__, (_Value,), {"_constants": constants})

    def __missing__(self, value: int) -> _Value:
        return self.setdefault(value, self._type(value))


# Questions whose answers have names, by class: (info class, member)
_QUESTIONS = {
    "device_type": [("device_info", "TYPE")],
    "device_fp_config": [
        ("device_info", f"{kind}_FP_CONFIG") for kind in ("HALF", "SINGLE", "DOUBLE")
    ],
    "device_exec_capabilities": [("device_info", "EXECUTION_CAPABILITIES")],
    "device_mem_cache_type": [("device_info", "GLOBAL_MEM_CACHE_TYPE")],
    "device_local_mem_type": [("device_info", "LOCAL_MEM_TYPE")],
    "device_svm_capabilities": [("device_info", "SVM_CAPABILITIES")],
    "device_atomic_capabilities": [
        ("device_info", f"ATOMIC_{kind}_CAPABILITIES") for kind in ("MEMORY", "FENCE")
    ],
    "command_queue_properties": [
        ("device_info", "QUEUE_ON_HOST_PROPERTIES"),
        ("device_info", "QUEUE_ON_DEVICE_PROPERTIES"),
        ("command_queue_info", "PROPERTIES"),
    ],
    "command_type": [("event_info", "COMMAND_TYPE")],
    "mem_object_type": [("mem_info", "TYPE")],
    "mem_flags": [("mem_info", "FLAGS")],
    "addressing_mode": [("sampler_info", "ADDRESSING_MODE")],
    "filter_mode": [("sampler_info", "FILTER_MODE")],
    "program_binary_type": [("program_build_info", "BINARY_TYPE")],
    "kernel_arg_address_qualifier": [("kernel_arg_info", "ADDRESS_QUALIFIER")],
    "kernel_arg_access_qualifier": [("kernel_arg_info", "ACCESS_QUALIFIER")],
    "kernel_arg_type_qualifier": [("kernel_arg_info", "TYPE_QUALIFIER")],
}


def _name_values() -> None:
    names = _value_names()
    for name, questions in _QUESTIONS.items():
        values = _Values(_classes[name])
        for info, member in questions:
            names[getattr(_classes[info], member)] = values


_classes = _make_classes()
_name_values()
globals().update(_classes)
__all__ = ["Constants", *_classes]
