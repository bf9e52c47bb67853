"""Writes the type stubs of pygpu from the built module: python tools/stubs.py [--check]

pygpu/_opencl.pyi     classes, methods, properties, functions of the C extension
pygpu/_cuda.pyi       likewise
pygpu/_array.pyi      likewise
pygpu/constants.pyi  the constant classes with their members
pygpu/_src/array/array_types.pyi  the classes of arrays with their dtypes
pygpu/_src/runtime/cuda/enums.pyi  CUDA's enumerations with their members
pygpu/__init__.pyi    every public name, with those loaded when first used and the submodules

The docstring of a function begins with its types, "(size: int, flags: int = 0) -> Buffer", that of
a property with "int: ". --check writes nothing; it shows what differs and exits with 1 then.
"""

import ast
import ctypes
import difflib
import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

sys.path.append(str(Path(__file__).parent.parent))  # after an installed or instrumented build

import pygpu
from pygpu import _array, _cuda, _opencl, constants
from pygpu._src.runtime.cuda import enums

PACKAGE = Path(__file__).parent.parent / "pygpu"
WIDTH = 100
BASETYPE = 1 << 10  # Py_TPFLAGS_BASETYPE: may be derived from

NAMES = {  # in docstrings -> in stubs
    r"numpy\.ndarray": "NDArray[Any]",
    r"\bSVMMap\b": "SVMMap[Any]",
    r"\bHostBuffer\b": "_HostBuffer",
    r"\bdict\b(?!\[)": "dict[str, Any]",
    r"(?<=-> )object\b": "Any",  # the answer to get_info() depends on the question
}

ROOTS = {"object", "_Object"}  # bases that stubs do not name
OMITTED = {
    "__new__",
    "__class_getitem__",  # of classes in GENERIC
    "__doc__",
    "__module__",
    "__dict__",
    "__vectorcalloffset__",
    "__setattr__",
    "__signature__",
    "__delattr__",
    "__reduce_ex__",  # object's serves
}
# Subclasses of these may make themselves by super().__init__(). Their __new__() takes anything: a
# type checker that knew of it would refuse subclasses whose __init__() has other arguments.
MADE_BY_INIT = {
    *("Buffer", "CommandQueue", "Context", "DeferredAllocator", "Image", "ImageDescriptor"),
    *("ImageFormat", "ImmediateAllocator", "Kernel", "LocalMemory", "MemoryPool", "Pipe"),
    *("Program", "SVM", "SVMAllocation", "SVMAllocator", "SVMPool", "Sampler", "UserEvent"),
}

# Types of what a slot of the class does, where the slot's name alone does not give them.
SLOTS = {
    "AllocatorBase.__call__": "(self, size: int, /) -> Buffer | None",
    "ArgumentHandler.__init__": None,  # takes what the class's docstring says
    "Buffer.__getitem__": "(self, key: slice, /) -> Buffer",
    "CallTime.__call__": "(self) -> float",
    "Context.__del__": None,
    "Device.__getattribute__": "(self, name: str, /) -> Any",  # an attribute, in lower case
    "FusedCall.__call__": "(self, *args: Any, **kwargs: Any) -> Any",
    "Function.__call__": "(self, *args: Any, block: int | Sequence[int], "
    "grid: int | Sequence[int] = ..., stream: object = ..., shared: int = ..., "
    "texrefs: Sequence[Any] = ..., time_kernel: bool = ..., cooperative: bool = ..., "
    "cluster: int | Sequence[int] | None = ...) -> float | None",
    "Function.__delattr__": None,
    "Function.__getattribute__": "(self, name: str, /) -> Any",  # an attribute, in lower case
    "Function.__setattr__": None,
    "GPUArray.__delattr__": None,
    "GPUArray.__setattr__": None,
    "Kernel.__call__": "(self, queue: CommandQueue, global_size: int | Sequence[int], "
    "local_size: int | Sequence[int] | None, *args: Any, "
    "global_offset: int | Sequence[int] | None = ..., g_times_l: bool = ..., "
    "allow_empty_ndrange: bool = ..., wait_for: Sequence[Event] | None = ...) -> Event",
    "KernelBase.__getitem__": "(self, config: Any, /) -> Launcher",
    "Launcher.__call__": "(self, *args: Any, **kwargs: Any) -> Any",
    "Memcpy2D.__call__": "(self, aligned: bool | Stream | None = ..., "
    "stream: object = ...) -> None",
    "Memcpy3D.__call__": "(self, stream: object = ...) -> None",
    "Memcpy3DPeer.__call__": "(self, stream: object = ...) -> None",
    "MemoryPool.__call__": "(self, size: int) -> PooledBuffer",
    "PageLockedMemoryPool.__init__": None,  # takes what the class's docstring says
    "Program.__delattr__": None,
    "Program.__getattribute__": "(self, name: str, /) -> Kernel",  # of any other name
    "Program.__setattr__": None,
    "SVMAllocator.__call__": "(self, size: int, /) -> SVMAllocation",
    "_Profile.__getattribute__": "(self, name: str, /) -> Any",  # a time, in upper case
    "SVMPool.__call__": "(self, size: int) -> PooledSVM",
    "FastPath.__call__": "(self, *args: Any, **kwargs: Any) -> Any",
    "FastPath.__delattr__": None,
    "FastPath.__get__": "(self, obj: Any, owner: Any = None, /) -> Any",
    "FastPath.__getattribute__": "(self, name: str, /) -> Any",  # an attribute of the function
    "FastPath.__setattr__": None,
    "__buffer__": "(self, flags: int, /) -> memoryview",
    "__index__": "(self, /) -> int",
    "__int__": "(self, /) -> int",
    "__len__": "(self, /) -> int",
    # richcompare makes these too, and they raise TypeError: they are not part of the interface
    "__ge__": None,
    "__gt__": None,
    "__le__": None,
    "__lt__": None,
    **dict.fromkeys(["__eq__", "__hash__", "__ne__", "__repr__"]),  # object's serve
}

# The types of the C base class are for the package itself; those for users are in array_types.pyi.
_BINARY = "add sub mul truediv floordiv mod divmod lshift rshift and or xor matmul".split()
_COMPARISONS = "lt le eq ne gt ge".split()
SLOTS["GPUArray.__add__"] = "(self, value: Any, /) -> Any"
# Aliases, because pyright would give the declarations here to the aliases in array_types.pyi.
for _name in _BINARY:
    for _form in ("", "r", "i") if _name != "divmod" else ("", "r"):
        SLOTS.setdefault(f"GPUArray.__{_form}{_name}__", " = __add__")
for _name in _COMPARISONS:
    SLOTS[f"GPUArray.__{_name}__"] = "(self, value: Any, /) -> Any"
for _name in "neg pos invert".split():
    SLOTS[f"GPUArray.__{_name}__"] = "(self, /) -> Self"
SLOTS["GPUArray.__abs__"] = "(self, /) -> Any"
for _name in "pow", "ipow":
    SLOTS[f"GPUArray.__{_name}__"] = "(self, value: Any, mod: None = None, /) -> Any"
SLOTS["GPUArray.__rpow__"] = " = __pow__"

TYPED = {"GPUArray": "_src.array.array_types"} | dict.fromkeys(
    ["guvectorize", "jit", "kernel", "reduce", "vectorize", *pygpu._IN_KERNELS],
    "_src.kernel_types",
)
"""Names of pygpu -> the module that has their types, where that is not the one they come from."""

GENERIC = {"GPUArray": "_ScalarT_co"}
"""Classes with a type parameter."""

LAYOUT = {"shape", "strides", "dtype", "size", "nbytes", "itemsize", "ndim"}
"""Attributes of GPUArray whose setter only says what to use instead."""

BUFFERS = {"DeviceView"}
"""Classes with the buffer protocol: ``__buffer__`` is seen from Python 3.12 on alone."""

# More precise types than the docstrings have: info.def calls everything without a kind "object".
PROPERTIES = {
    "GPUArray.dtype": "np.dtype[_ScalarT_co]",
    "Device.pci_bus_info_khr": "tuple[int, int, int, int]",
    "Device.topology_amd": "tuple[int, int, int]",
    "ImageDescriptor.buffer": "MemoryObject | None",
    "ImageDescriptor.shape": "tuple[int, ...] | None",
    "MemoryObject.hostbuf": "Any",
    "Program.binaries": "list[bytes]",
    "Sampler.lod_max": "float",
    "Sampler.lod_max_khr": "float",
    "Sampler.lod_min": "float",
    "Sampler.lod_min_khr": "float",
    "SVM.mem": "Any",
}
# Where more can be assigned than comes back.
SETTERS = {
    "ImageDescriptor.buffer": "MemoryObjectHolder | None",
    "ImageDescriptor.pitches": "int | Sequence[int] | None",
    "ImageDescriptor.shape": "int | Sequence[int]",
}
# Read-only attributes, or all of a class, that stay properties: classes of the package override
# them by properties, and of a property mypy says that it cannot be assigned to.
OVERRIDDEN = {"Stream.handle", "GPUArray"}
OPENCL_HEAD = """\
# Written by tools/stubs.py from the docstrings of the built module: `make stubs`.

import os
from collections.abc import {abc}
from typing import {typing}

import numpy as np
from _typeshed import structseq
from numpy.typing import DTypeLike, NDArray
from typing_extensions import Buffer as _HasBuffer
from typing_extensions import disjoint_base

from ._src.runtime.opencl.build import program_kind
from ._src.runtime.opencl.svm import SVMMap
from ._src.util.attributes import ReadOnly as _ReadOnly

# Until Python 3.12 NumPy's types do not say that they are buffers.
_HostBuffer: TypeAlias = _HasBuffer | NDArray[Any] | np.generic
"""
CUDA_HEAD = """\
# Written by tools/stubs.py from the docstrings of the built module: `make stubs`.

import os
from collections.abc import {abc}
from typing import {typing}

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import Buffer as _HasBuffer
from typing_extensions import disjoint_base

from ._src.util.attributes import ReadOnly as _ReadOnly

# Until Python 3.12 NumPy's types do not say that they are buffers.
_HostBuffer: TypeAlias = _HasBuffer | NDArray[Any] | np.generic
"""
# Names that docstrings may use; imported if they do.
ABC = "Callable Iterable Iterator Mapping Sequence".split()
TYPING = "IO Any ClassVar Final Generic Literal NoReturn Self SupportsIndex TypeAlias final".split()

ARRAY_HEAD = CUDA_HEAD.replace("import os\n", "")
ARRAY_HEAD = ARRAY_HEAD.split("from typing_extensions import Buffer")[0]
ARRAY_HEAD = ARRAY_HEAD.replace("from numpy.typing import DTypeLike, NDArray\n", "")
ARRAY_HEAD += """\
from typing_extensions import TypeVar, disjoint_base

from ._src.util.attributes import ReadOnly as _ReadOnly

_ScalarT_co = TypeVar("_ScalarT_co", bound=np.generic, default=Any, covariant=True)
"""

ENUMS_HEAD = """\
# Written by tools/stubs.py from the built module: `make stubs`.

from typing import ClassVar

from typing_extensions import disjoint_base

__all__ = {names}

@disjoint_base
class Enumeration(int):
    names: ClassVar[dict[str, Enumeration]]
    values: ClassVar[dict[int, Enumeration]]
    @property
    def name(self) -> str: ...
    def __reduce__(self) -> tuple[type, tuple[int]]: ...
"""

CONSTANTS_HEAD = """\
# Written by tools/stubs.py from the built module: `make stubs`.

from typing import Final

__all__ = {names}

class Constants:
    @classmethod
    def to_string(cls, value: int, default_format: str | None = None) -> str: ...
"""


def main() -> int:
    made = {
        "_opencl.pyi": extension_stub(_opencl, OPENCL_HEAD),
        "_cuda.pyi": extension_stub(_cuda, CUDA_HEAD),
        "_array.pyi": extension_stub(_array, ARRAY_HEAD),
        "constants.pyi": constants_stub(constants),
        "_src/array/array_types.pyi": array_types_stub(),
        "_src/runtime/cuda/enums.pyi": enums_stub(enums),
        "__init__.pyi": package_stub(pygpu),
    }
    stale = 0
    for name, text in made.items():
        path = PACKAGE / name
        old = path.read_text("utf-8") if path.exists() else ""
        if old == text:
            continue
        if "--check" in sys.argv[1:]:
            stale = 1
            lines = old.splitlines(True), text.splitlines(True)
            sys.stdout.writelines(difflib.unified_diff(*lines, f"pygpu/{name}", "as it should be"))
        else:
            path.write_text(text, "utf-8")
            print(f"wrote pygpu/{name}")
    if stale:
        print("stubs: not those of the built module. Run: make stubs", file=sys.stderr)
    return stale


# ---- pygpu._opencl and pygpu._cuda


def extension_stub(module: ModuleType, head: str) -> str:
    classes = [item for item in vars(module).values() if isinstance(item, type)]
    classes = sorted(set(classes), key=lambda cls: (len(cls.__mro__), cls.__name__))
    parts = [*map(class_stub, classes)]
    functions = []
    named: dict[str, str] = {}  # signature -> the first function that has it
    for name, item in sorted(vars(module).items()):
        if inspect.isbuiltin(item):
            types = signature(item, name)
            line = wrapped(f"def {name}{types}: ...")
            first = named.setdefault(types, name)
            functions.append(f"{name} = {first}" if first != name and "\n" in line else line)
    constants = [f"{name}: int" for name, item in sorted(vars(module).items()) if type(item) is int]
    body = "\n".join([*parts, *constants, *functions]) + "\n"
    used = {*re.findall(r"\w+", body + head), "Any"}
    abc, typing = (", ".join(name for name in names if name in used) for names in (ABC, TYPING))
    head = head if abc else head.replace("from collections.abc import {abc}\n", "")
    return head.format(abc=abc, typing=typing) + "\n" + body


def class_stub(cls: type) -> str:
    if issubclass(cls, tuple):
        return structseq_stub(cls)
    names = [base.__name__ for base in cls.__bases__ if base.__name__ not in ROOTS]
    if cls.__name__ in GENERIC:
        names.append(f"Generic[{GENERIC[cls.__name__]}]")
    bases = ", ".join(names)
    head = f"class {cls.__name__}" + (f"({bases})" if bases else "") + ":"
    body = []
    if (cls.__doc__ or "").startswith("(") and cls.__name__ not in MADE_BY_INIT | GENERIC.keys():
        body.append(f"def __new__{signature(cls, cls.__name__, 'cls', 'Self')}: ...")
    if cls.__name__ in BUFFERS and "__buffer__" not in vars(cls):
        body.append(f"def __buffer__{SLOTS['__buffer__']}: ...")
    for name, item in sorted(vars(cls).items()):
        body += member_stub(cls, name, item)
    lines = [] if cls.__flags__ & BASETYPE else ["@final"]
    if not lines and cls.__basicsize__ > cls.__bases__[0].__basicsize__:
        lines.append("@disjoint_base")
    lines.append(head if body else head + " ...")
    lines += [wrapped(line, 1) for entry in body for line in entry.split("\n")]
    return "\n".join(lines) + "\n"


def structseq_stub(cls: Any) -> str:
    """A struct sequence: a tuple whose items have names."""
    fields = {
        name: property_type(f"{cls.__name__}.{name}", vars(cls)[name])
        for name in cls.__match_args__
    }
    kinds = " | ".join(dict.fromkeys(fields.values()))
    lines = [
        "@final",
        f"class {cls.__name__}(structseq[{kinds}], tuple[{', '.join(fields.values())}]):",
        f"    __match_args__: Final = ({', '.join(map(quoted, fields))})",
    ]
    for name, kind in fields.items():
        lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
    return "\n".join(lines) + "\n"


def member_stub(cls: type, name: str, item: object) -> list[str]:
    where = f"{cls.__name__}.{name}"
    if name == "__hash__" and item is None:
        return ["__hash__: ClassVar[None]  # type: ignore[assignment]"]
    if name == "__init__" and cls.__name__ in MADE_BY_INIT:
        return [f"def __init__{signature(cls, cls.__name__, 'self', 'None')}: ..."]
    if name == "__init__" and where not in SLOTS and cls.__new__ is not object.__new__:
        return []  # it does nothing: __new__ has done it
    if name in OMITTED:
        return []
    if isinstance(item, GetSetDescriptorType | MemberDescriptorType):
        kind = property_type(where, item)
        settable = is_settable(item) and not (name in LAYOUT and where == f"GPUArray.{name}")
        if settable and where not in SETTERS and cls.__name__ != "GPUArray":
            return [f"{name}: {kind}"]  # Python's classes of arrays assign to theirs
        if not settable and OVERRIDDEN.isdisjoint([where, cls.__name__]):
            return [f"{name}: _ReadOnly[{kind}]"]
        lines = ["@property", f"def {name}(self) -> {kind}: ..."]
        if settable:
            lines.append(f"@{name}.setter")
            kind = SETTERS.get(where, kind)
            lines.append(f"def {name}(self, value: {kind}, /) -> None: ...")
        return ["\n".join(lines)]
    if inspect.ismethoddescriptor(item) and type(item).__name__ == "wrapper_descriptor":
        types = SLOTS[where] if where in SLOTS else SLOTS[name]
        if types and types.startswith(" = "):
            return [name + types]
        return [f"def {name}{types}: ..."] if types else []
    if isinstance(item, staticmethod):
        return [f"@staticmethod\ndef {name}{signature(item.__func__, where)}: ..."]
    if type(item).__name__ == "classmethod_descriptor":
        return [f"@classmethod\ndef {name}{signature(item, where, 'cls')}: ..."]
    return [f"def {name}{signature(item, where, 'self')}: ..."]


def property_type(where: str, item: object) -> str:
    found = re.match(r"([A-Za-z_][\w.\[\], |]*): ", item.__doc__ or "")
    if not found:
        raise SystemExit(f"stubs: the docstring of {where} does not begin with a type")
    kind = PROPERTIES.get(where, found[1])
    if kind == "object":
        raise SystemExit(f"stubs: {where} needs a better type than object")
    return in_stub(kind)


def is_settable(item: object) -> bool:
    """Whether the C table has a setter. Python does not tell, so this looks into the descriptor."""
    word = ctypes.sizeof(ctypes.c_void_p)
    row = ctypes.c_void_p.from_address(id(item) + object.__basicsize__ + 3 * word).value
    assert (
        row is not None
    )  # the PyGetSetDef {name, get, set} or PyMemberDef {name, type, offset, flags}
    if isinstance(item, MemberDescriptorType):
        return not ctypes.c_int.from_address(row + 3 * word).value & 1  # READONLY
    return ctypes.c_void_p.from_address(row + 2 * word).value is not None


def signature(item: Any, where: str, first: str = "", returns: str = "") -> str:
    """The typed signature of a docstring, with defaults that are literals or "..."."""
    types = (item.__doc__ or "").split("\n\n")[0]
    if returns:
        types += f" -> {returns}"
    try:
        [made] = ast.parse(f"def f{types}: ...").body
    except SyntaxError:
        raise SystemExit(f"stubs: the docstring of {where} does not begin with types") from None
    assert isinstance(made, ast.FunctionDef)
    arguments = made.args
    for defaults in arguments.defaults, arguments.kw_defaults:
        for i, default in enumerate(defaults):
            if default is not None and not is_literal(default):
                defaults[i] = ast.Constant(...)
    text = ast.unparse(made).removeprefix("def f").removesuffix("...").rstrip().rstrip(":")
    if first:
        text = text.replace("(", f"({first}, ", 1).replace(f"({first}, )", f"({first})")
    return in_stub(spaced(text))


def is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def spaced(text: str) -> str:
    """ast.unparse writes `a: int=0`."""
    return re.sub(r"(?<=[\w\]])=(?=\S)", " = ", text)


def in_stub(types: str) -> str:
    for name, stub_name in NAMES.items():
        types = re.sub(name, stub_name, types)
    return types


# ---- pygpu.constants


def constants_stub(module: Any) -> str:
    parts = [CONSTANTS_HEAD.format(names=name_list(module.__all__))]
    for name in module.__all__:
        cls = getattr(module, name)
        if cls is module.Constants:
            continue
        members = [f"    {key}: Final = {value}" for key, value in cls._members().items()]
        parts.append("\n".join([f"class {name}(Constants):", *(members or ["    ..."])]) + "\n")
    return "\n".join(parts)


# ---- pygpu._src.runtime.cuda.enums


def enums_stub(module: Any) -> str:
    parts = [ENUMS_HEAD.format(names=name_list(module.__all__))]
    for name in module.__all__:
        cls = getattr(module, name)
        if cls is not module.Enumeration:
            members = [f"    {key}: ClassVar[{name}]" for key in cls.names]
            parts.append("\n".join([f"class {name}(Enumeration):", *members]) + "\n")
    return "\n".join(parts)


# ---- pygpu._src.array

ARRAY_TYPES = Path(__file__).with_name("array_types.txt")
_ARITHMETIC = [  # (type of self, type of the other operand, result), the first that fits
    ("_Number{A}", "_Number{A}", "_Number{A}"),
    ("{T}[_NumberT]", "_NumberT | NDArray[_NumberT]", "{A}[_NumberT]"),
    ("{T}[_Real]", "np.float64", "{A}[np.float64]"),  # which float includes
    ("", "np.complex128", "{A}[Any]"),  # which complex includes
    ("_Number{A}", "int", "_Number{A}"),
    ("_Inexact{A}", "float", "_Inexact{A}"),
    ("_Complex{A}", "complex", "_Complex{A}"),
    ("{T}[np.float64]", "{T}[_Real]", "{A}[np.float64]"),
    ("{T}[_Real]", "{T}[np.float64]", "{A}[np.float64]"),
    ("{T}[np.float32]", "complex", "{A}[np.complex64]"),
    ("{T}[np.float64]", "complex", "{A}[np.complex128]"),
    ("{T}[np.bool_]", "int", "{A}[np.int64]"),
    ("{T}[_Whole]", "float", "{A}[np.float64]"),
    ("", "_Operand", "{A}[Any]"),
]
_OVERLOADS = {
    "add sub mul floordiv mod": _ARITHMETIC,
    "pow": _ARITHMETIC,
    "truediv": [
        ("_Inexact{A}", "_Inexact{A}", "_Inexact{A}"),
        ("{T}[_Whole]", "{T}[_Whole] | float", "{A}[np.float64]"),
        ("{T}[np.float64]", "{T}[_Real]", "{A}[np.float64]"),
        ("{T}[_Real]", "{T}[np.float64] | np.float64", "{A}[np.float64]"),
        ("", "np.complex128", "{A}[Any]"),
        ("_Inexact{A}", "float", "_Inexact{A}"),
        ("_Complex{A}", "complex", "_Complex{A}"),
        ("", "_Operand", "{A}[Any]"),
    ],
    "divmod": [
        ("_Number{A}", "_Number{A} | int", "tuple[_Number{A}, _Number{A}]"),
        ("", "_Operand", "tuple[{A}[Any], {A}[Any]]"),
    ],
    "and or xor": [
        ("", "Self | bool", "Self"),
        ("_Integer{A}", "int", "_Integer{A}"),
        ("", "_Operand", "{A}[Any]"),
    ],
    "lshift rshift": [
        ("_Integer{A}", "_Integer{A} | int", "_Integer{A}"),
        ("", "_Operand", "{A}[Any]"),
    ],
    "matmul": [
        ("_Number{A}", "_Number{A}", "_Number{A}"),
        ("", "_Operand", "{A}[Any]"),
    ],
}
_SUMS = {  # methods with a dtype to add up in -> their arguments after it
    "sum prod": "out: _Out = None, keepdims: bool = False, "
    "initial: complex | np.generic | None = None, where: _Where = None",
    "mean": "out: _Out = None, keepdims: bool = False, where: _Where = None",
    "var std": "out: _Out = None, ddof: float = 0, keepdims: bool = False, where: _Where = None, "
    "mean: Any = None",
    "cumsum cumprod": "out: _Out = None",
}
_ADDED = [  # (type of self, result) where no dtype is named, the first that fits
    ("_Inexact{A}", "_Inexact{A}"),
    ("{T}[np.signedinteger[Any] | np.bool_]", "{A}[np.int64]"),
    ("{T}[np.unsignedinteger[Any]]", "{A}[np.uint64]"),
]
_AVERAGED = {
    "mean": [("_Inexact{A}", "_Inexact{A}"), ("{T}[_Whole]", "{A}[np.float64]")],
    "var std": [
        ("_Floating{A}", "_Floating{A}"),
        ("{T}[np.complex64]", "{A}[np.float32]"),
        ("{T}[_Whole | np.complex128]", "{A}[np.float64]"),
    ],
}
_CLASSES = (  # {A}, {T}, {base}, {doc}, {queue}
    ("GPUArray", "GPUArray", "ArrayBase", "An array of either system.", "queue"),
    ("Array", "ArrayTypes", "GPUArray", "The types of Array that depend on dtypes.", "queue"),
    ("CUDAArray", "GPUArrayTypes", "GPUArray", "The same for CUDA's GPUArray.", "stream"),
)
_OF_BOTH = """\
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: Any, *inputs: Any, **options: Any
    ) -> Any: ...
    def to_device(
        self, device: AnyDevice, /, *, stream: Any = None
    ) -> GPUArray[_ScalarT_co]: ...
    def get(self, *, ary: NDArray[Any] | None = None) -> NDArray[_ScalarT_co]: ...
    def set(self, ary: NDArray[Any]) -> None: ...
    def copy(self, *, order: str = "K") -> Self: ...
    def any(
        self, axis: _Axes = None, out: Any = None, keepdims: bool = False, *, where: _Where = None
    ) -> GPUArray[np.bool_]: ...
    all = any
"""
"""Methods that both classes define for themselves."""


def array_types_stub() -> str:
    """The template, once for what both classes of arrays have and once for each."""
    head, body = ARRAY_TYPES.read_text("utf-8").split("# ---- a class\n")
    classes = []
    for name, types, base, doc, queue in _CLASSES:
        in_base = base == "ArrayBase"
        text = body.replace("{operators}", "\n".join(operators_stub(in_base)))
        text += _OF_BOTH * in_base
        text = text.replace("{queue}", queue).replace("{doc}", doc).replace("{base}", base)
        classes.append(text.replace("{A}", name).replace("{T}", types).lstrip())
    return head + "\n".join(classes)


def operators_stub(in_base: bool) -> list[str]:
    """The operators that depend on dtypes; those in place only in the base class of all."""
    lines = []
    for names, overloads in _OVERLOADS.items():
        first, *others = names.split()
        more = ", mod: None = None" if first == "pow" else ""
        for of, value, result in overloads:
            own = f"self: {of}" if of else "self"
            line = f"def __{first}__({own}, value: {value}{more}, /) -> {result}: ..."
            lines += overloaded(line, of)
        same = [*others, *(f"r{name}" for name in names.split())]
        lines += [f"    __{name}__ = __{first}__" for name in same]
        for name in names.split():
            if name != "divmod" and in_base:
                line = f"    def __i{name}__(self, value: _Operand{more}, /) -> Self: ..."
                differs = len(overloads) > 2  # from what mypy expects beside the other operator
                lines.append(line + "  # type: ignore[misc]" * differs)
    for names, arguments in _SUMS.items():
        found = [(own, "None = None", result) for own, result in _AVERAGED.get(names, _ADDED)]
        found.append(("", "_DType[_ScalarT]", "{A}[_ScalarT]"))
        found.append(("", "DTypeLike | None = None", "{A}[Any]"))
        axis = "axis: int | None = None" if names.startswith("cum") else "axis: _Axes = None"
        for name in names.split():
            for of, dtype, result in found:
                own = f"self: {of}" if of else "self"
                before = axis if "=" in dtype else f"{axis}, *"
                line = f"def {name}({own}, {before}, dtype: {dtype}, {arguments}) -> {result}: ..."
                lines += overloaded(line, of)
    for name in _COMPARISONS:
        value, ignored = "_Operand", ""
        if name in ("eq", "ne"):
            value, ignored = "object", "  # type: ignore[override]"
        line = f"    def __{name}__(self, value: {value}, /) -> {{A}}[np.bool_]: ..."
        lines.append(line + ignored)
    return lines


def overloaded(line: str, of: str) -> list[str]:
    """A definition that is one of several, for arrays *of* a dtype. mypy takes float32 and float64
    for types that an array could be of at once."""
    text = wrapped(line, 1)
    if "float32" in of or "complex64" in of:
        head, _, rest = text.partition("\n")
        text = f"{head}  # type: ignore[overload-overlap]" + ("\n" + rest if rest else "")
    return ["    @overload", text]


# ---- pygpu


def package_stub(package: Any) -> str:
    """Imports only, so that each name keeps the types it has where it is defined."""
    homes: dict[str, list[str]] = {}  # module -> names
    aliases = []
    lazy = {**package._LAZY, **package._IN_KERNELS, **TYPED}

    for name, item in vars(package).items():
        if name in lazy or name.startswith("__") or isinstance(item, ModuleType):
            continue
        if item is getattr(_opencl, getattr(item, "__name__", ""), None):
            if item.__name__ == name:
                homes.setdefault("_opencl", []).append(name)
            else:
                aliases.append(f"{name} = {item.__name__}")
        elif item is getattr(package.version, name, None):
            homes.setdefault("version", []).append(name)
    for name, home in lazy.items():
        homes.setdefault(home, []).append(name)
    lines = [
        "# ruff: noqa: F403, F405, F821, I001 - it wants a statement for each `as`",
        "# Written by tools/stubs.py from the built module: `make stubs`.",
        "",
        "from . import (",
        *(
            f"    {name} as {name},"
            for name in sorted(package._SUBMODULES)
            if importlib.util.find_spec(f"pygpu.{name}")
        ),
        ")",
    ]
    lines += ["from .constants import *", "from .errors import *"]
    for home in sorted(homes):
        lines.append(f"from .{home} import (")
        lines += [f"    {name} as {name}," for name in sorted(homes[home])]
        lines.append(")")
    lines += [
        "",
        "del Constants",
        *sorted(aliases),
        "",
        "__version__: str",
        f"__all__ = {name_list(package.__all__)}",
        "",
    ]
    return "\n".join(lines)


# ---- text


def quoted(name: str) -> str:
    return f'"{name}"'


def name_list(names: Any) -> str:
    return "[\n" + "".join(f'    "{name}",\n' for name in names) + "]"


def wrapped(line: str, depth: int = 0) -> str:
    """A definition within WIDTH columns, its arguments one a line if need be."""
    indent = "    " * depth
    if len(indent + line) <= WIDTH or not line.startswith("def "):
        return indent + line
    head, rest = line.split("(", 1)
    inside, tail = rest[: rest.rindex(") -> ")], rest[rest.rindex(") -> ") :]
    parts, level, start = [], 0, 0
    for i, char in enumerate(inside):
        level += (char in "[(") - (char in "])")
        if char == "," and level == 0:
            parts.append(inside[start:i].strip())
            start = i + 1
    parts.append(inside[start:].strip())
    return "\n".join(
        [indent + head + "(", *(f"{indent}    {part}," for part in parts), indent + tail]
    )


if __name__ == "__main__":
    sys.exit(main())
