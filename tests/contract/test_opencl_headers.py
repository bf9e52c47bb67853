"""The rows of src/opencl against the real OpenCL headers, and against one another.

pygpu brings its own cl_api.h, cl.fn and .def tables, so that building it needs no OpenCL headers.
Where the real ones are installed, a C file that includes both asserts that every constant, type,
structure and prototype is the same. Ours is renamed for that: cl_int becomes our_cl_int, CL_SUCCESS
OUR_CL_SUCCESS. The other tests read the tables as text; none needs a built pygpu.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src/opencl/api"
COMPILERS = ("gcc", "clang")
VERSIONS = (100, 110, 120, 200, 210, 220, 300)
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")

# What the headers of February 2023 do not have: the vendors publish these in headers of their own.
NOT_IN_HEADERS = {
    "CL_CONTEXT_PROPERTY_USE_CGL_SHAREGROUP_APPLE",
    "CL_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT_NV",
    "CL_DEVICE_PCI_BUS_ID_NV",
    "CL_DEVICE_PCI_DOMAIN_ID_NV",
    "CL_DEVICE_PCI_SLOT_ID_NV",
    "clEnqueueCopyBufferP2PAMD",
}

STRUCTURES = {
    "cl_image_format": ("image_channel_order", "image_channel_data_type"),
    "cl_image_desc": (
        *("image_type", "image_width", "image_height", "image_depth", "image_array_size"),
        *("image_row_pitch", "image_slice_pitch", "num_mip_levels", "num_samples"),
        *("buffer", "mem_object"),
    ),
    "cl_buffer_region": ("origin", "size"),
    "cl_name_version": ("version", "name"),
    "cl_device_topology_amd": (
        *("raw", "raw.type", "raw.data", "pcie", "pcie.type", "pcie.unused"),
        *("pcie.bus", "pcie.device", "pcie.function"),
    ),
    "cl_device_pci_bus_info_khr": ("pci_domain", "pci_bus", "pci_device", "pci_function"),
}

# Which constant class lists the questions of which table.
CLASS_OF_TABLE = {
    "PLATFORM_INFO": "platform_info",
    "DEVICE_INFO": "device_info",
    "CONTEXT_INFO": "context_info",
    "QUEUE_INFO": "command_queue_info",
    "EVENT_INFO": "event_info",
    "PROFILING_INFO": "profiling_info",
    "MEM_INFO": "mem_info",
    "IMAGE_INFO": "image_info",
    "SAMPLER_INFO": "sampler_info",
    "PIPE_INFO": "pipe_info",
    "PROGRAM_INFO": "program_info",
    "PROGRAM_BUILD_INFO": "program_build_info",
    "KERNEL_INFO": "kernel_info",
    "KERNEL_ARG_INFO": "kernel_arg_info",
    "WORK_GROUP_INFO": "kernel_work_group_info",
    "SUB_GROUP_INFO": "kernel_sub_group_info",
}

KINDS = set(
    "STRING BOOL INT UINT ULONG SIZE BITS HANDLE SIZES UINTS ULONGS INTPTRS VERSION NAME_VERSIONS"
    " BYTES PLATFORM DEVICE DEVICES CONTEXT QUEUE PROGRAM MEM IMAGE_FORMAT TOPOLOGY_AMD PCI_BUS"
    " SPECIAL".split()
)


class Function(NamedTuple):
    macro: str
    version: int
    result: str
    name: str
    parameters: str


class Question(NamedTuple):
    table: str
    attribute: str
    kind: str
    number: str
    constant: str
    unit: str
    text: str


# ---- reading our tables -------------------------------------------------------------------------


@cache
def text_of(name: str) -> str:
    """A source file without its comments."""
    return re.sub(r"/\*.*?\*/", "", (SOURCE / name).read_text(encoding="utf-8"), flags=re.S)


@cache
def interface() -> str:
    """Types and constants, without comments, and with a #define for each row of the tables."""
    known = [(f"CL_{name}", text) for name, text, _, _ in statuses()]
    known += [(row.constant, row.number) for row in questions()]
    known += [(constant, text) for _, _, text, constant in numbers()]
    defines = "".join(f"#define {name} ({text})\n" for name, text in known)
    text, changes = re.subn(r"^enum \{.*?^\};\n", defines, text_of("cl_api.h"), flags=re.M | re.S)
    assert changes == 1
    return text


def rows(name: str, pattern: str, start: str) -> list[tuple[str, ...]]:
    """All rows that match. A line that starts like a row and is none fails: none is overlooked."""
    text = text_of(name)
    found = [match.groups() for match in re.finditer(pattern, text, re.M | re.S)]
    begun = len(re.findall(rf"^(?:{start})\(", text, re.M))
    assert len(found) == begun, f"unreadable row in {name}"
    assert found
    return found


def functions() -> list[Function]:
    pattern = r"^(CL_FN|CL_EXT)\((\d+), ([\w *]+), (\w+),\s+\((.*?)\)\)$"
    return [
        Function(macro, int(version), result, name, " ".join(parameters.split()))
        for macro, version, result, name, parameters in rows("cl.fn", pattern, "CL_FN|CL_EXT")
    ]


def statuses() -> list[tuple[str, ...]]:
    return rows("status.def", r'^STATUS\((\w+), (-?\d+), (\w+), "([^"\n]*)"\)$', "STATUS")


def enum_classes() -> list[tuple[str, ...]]:
    return rows("enums.def", r'^ENUM_CLASS\((\w+), "(b?)", "([^"\n]+)"\)$', "ENUM_CLASS")


def numbers() -> list[tuple[str, ...]]:
    return rows("enums.def", r"^NUMBER\((\w+), (\w+), (-?\w+), (CL_\w+)\)$", "NUMBER")


def members() -> list[tuple[str, ...]]:
    own = rows("enums.def", r"^ENUM\((\w+), (\w+), (CL_\w+)\)$", "ENUM")
    own += [(name, member, constant) for name, member, _, constant in numbers()]
    own += [("status_code", name, f"CL_{name}") for name, *_ in statuses()]
    return own + [
        (CLASS_OF_TABLE[row.table], row.attribute.upper(), row.constant) for row in questions()
    ]


def questions() -> list[Question]:
    pattern = r'^(\w+_INFO)\((\w+), (\w+), (\w+), (CL_\w+), "([^"\n]*)", "([^"\n]+)"\)$'
    return [Question(*row) for row in rows("info.def", pattern, r"\w+_INFO")]


@cache
def constants() -> dict[str, str]:
    """Name to text of each number that the headers define."""
    found = re.findall(r"^#define (CL_\w+) +(\S.*)$", interface(), re.M)
    found = [row for row in found if row[0] not in ("CL_API_CALL", "CL_CALLBACK")]
    assert len(found) > 500
    assert len(found) == len(dict(found)), "defined twice"
    return dict(found)


def number(constant: str) -> int:
    text = constants()[constant].strip("() ").replace("ULL", "")
    value, _, shift = text.partition(" << ")
    return int(value, 0) << int(shift or "0")


def type_names(text: str) -> list[str]:
    """The names that the typedefs of cl_api.h introduce."""
    return re.findall(r"^(?:typedef .*?\*?|\} )(cl_\w+);", text, re.M)


def twice(items: Sequence[Hashable]) -> list[Hashable]:
    return [item for item, count in Counter(items).items() if count > 1]


# ---- the tables among themselves ----------------------------------------------------------------


def test_no_row_occurs_twice() -> None:
    assert twice([function.name for function in functions()]) == []
    assert twice([name for name, *_ in statuses()]) == []
    assert twice([name for name, _, _ in enum_classes()]) == []
    assert twice([row[:2] for row in members()]) == []
    assert twice([(row.table, row.attribute) for row in questions()]) == []
    assert twice([(row.table, row.constant) for row in questions()]) == []


def test_every_constant_of_a_row_is_defined() -> None:
    used = {constant for _, _, constant in members()} | {row.constant for row in questions()}
    assert sorted(used - constants().keys()) == []


def test_members_follow_their_class() -> None:
    text = re.sub(r"^#define \w+_INFO\(.*\) (ENUM\(\w+)", r"\1", text_of("enums.def"), flags=re.M)
    current = ""
    for macro, name in re.findall(r"^(ENUM_CLASS|ENUM|NUMBER)\((\w+)", text, re.M):
        if macro == "ENUM_CLASS":
            current = name
        else:
            assert name == current
    named = {name for name, _, _ in members()}
    assert [name for name, _, _ in enum_classes() if name not in named] == []


def test_flags_are_single_bits() -> None:
    flags = {name for name, bits, _ in enum_classes() if bits}
    assert "mem_flags" in flags
    several = [
        (name, member)
        for name, member, constant in members()
        if name in flags and number(constant) & (number(constant) - 1)
    ]
    assert several == [("device_type", "ALL")]


def test_class_of_a_status_follows_from_its_number() -> None:
    for name, text, kind, _ in statuses():
        code = int(text)
        assert code <= 0
        expected = "MemoryError" if code == -4 else "LogicError" if code <= -30 else "RuntimeError"
        if code == 0:
            expected = "Error"  # as in PyOpenCL: a success that is raised all the same
        assert (name, kind) == (name, expected)
    codes = [int(text) for _, text, _, _ in statuses()]
    assert twice(codes) == [], "raise_status switches over these"
    assert set(codes) >= {*range(-19, 1), *range(-72, -29)}


def test_every_table_of_questions_is_a_class() -> None:
    assert set(CLASS_OF_TABLE) == {row.table for row in questions()}
    text = text_of("enums.def")
    for table, name in CLASS_OF_TABLE.items():
        row = f"#define {table}(attr, KIND, number, PARAM, unit, text) ENUM({name}, attr, PARAM)\n"
        assert text.count(row) == 1, table


def test_questions_have_known_kinds_and_units() -> None:
    for row in questions():
        assert row.kind in KINDS, row
        assert re.fullmatch(r"(\[\w+\] )?", row.unit), row
        assert row.text.endswith("."), row


def test_functions_have_versions() -> None:
    for function in functions():
        expected = {0} if function.macro == "CL_EXT" else set(VERSIONS)
        assert function.version in expected, function


def test_every_structure_is_compared() -> None:
    assert sorted(re.findall(r"^\} (cl_\w+);", text_of("cl_api.h"), re.M)) == sorted(STRUCTURES)


# ---- the tables beside the real headers ---------------------------------------------------------


class Compiler:
    """One C compiler, and what the real headers say to it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder

    def run(self, source: str, *options: str) -> subprocess.CompletedProcess[str]:
        path = self.folder / "contract.c"
        path.write_text(source, encoding="utf-8")
        command = [self.name, *options, str(path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=self.folder)

    def preprocess(self, version: int, *options: str) -> str:
        done = self.run(real_headers(version), "-E", "-P", *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def errors(self, source: str) -> str:
        """Diagnostics, "" if there are none. Deprecated functions are meant to be compared."""
        done = self.run(
            source, "-std=c11", "-w", "-fsyntax-only", f"-I{SOURCE}", f"-I{SOURCE.parents[1]}"
        )
        assert (done.returncode == 0) == ("error" not in done.stderr), done.stderr
        return done.stderr if done.returncode else ""


def real_headers(version: int = 300) -> str:
    old = ("1_0", "1_1", "1_2", "2_0", "2_1", "2_2")
    return (
        f"#define CL_TARGET_OPENCL_VERSION {version}\n"
        + "".join(f"#define CL_USE_DEPRECATED_OPENCL_{name}_APIS\n" for name in old)
        + "#include <stddef.h>\n#include <CL/cl.h>\n#include <CL/cl_ext.h>\n#include <CL/cl_gl.h>\n"
    )


@pytest.fixture(params=COMPILERS)
def compiler(request: pytest.FixtureRequest, tmp_path: Path) -> Compiler:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return Compiler(request.param, tmp_path)


@pytest.fixture
def headers(compiler: Compiler) -> Compiler:
    for name in ("cl.h", "cl_ext.h", "cl_gl.h"):
        source = f"#define CL_TARGET_OPENCL_VERSION 300\n#include <CL/{name}>\n"
        if compiler.run(source, "-E", "-P").returncode != 0:
            pytest.skip(f"the OpenCL headers are not installed: {compiler.name} finds no CL/{name}")
    return compiler


def declared(preprocessed: str) -> set[str]:
    return set(re.findall(r"\b(cl[A-Z]\w+)\s*\(", preprocessed))


def defined(preprocessed: str) -> set[str]:
    return set(re.findall(r"^#define (CL_\w+)", preprocessed, re.M))


def ours(text: str) -> str:
    """Our names with a prefix. Handles keep their tags, so that they stay the same type."""
    text = re.sub(r"\b(cl_|CL_)", lambda m: ("our_" if m[1] == "cl_" else "OUR_") + m[1], text)
    for name in STRUCTURES:
        text = re.sub(rf"\bstruct _{name}\b", f"struct our_{name}", text)
    return text


def comparison(api: str, known: list[Function], names: set[str]) -> str:
    """A C file of one assertion for each constant, type, structure, field and prototype of ours."""
    return "\n".join([real_headers(), ours(api), *assertions(api, known, names)]) + "\n"


def assertions(api: str, known: list[Function], names: set[str]) -> Iterator[str]:
    for name in re.findall(r"^#define (CL_\w+) +\S", api, re.M):
        if name in names and name in constants():
            yield f'_Static_assert(OUR_{name} == {name}, "value of {name}");'
    for name in type_names(api):
        if name in STRUCTURES:
            yield f'_Static_assert(sizeof(our_{name}) == sizeof({name}), "size of {name}");'
            for field in STRUCTURES[name]:
                where, size = f"offsetof(%s, {field})", f"sizeof(((%s *)0)->{field})"
                for what in (where, size):
                    equal = f"{what % f'our_{name}'} == {what % name}"
                    yield f'_Static_assert({equal}, "field {name}.{field}");'
        else:
            same = f"__builtin_types_compatible_p(our_{name}, {name})"
            yield f'_Static_assert({same}, "type {name}");'
    for function in known:
        if function.name in names:
            kind = ours(f"{function.result} (CL_API_CALL *)({function.parameters})")
            for name in STRUCTURES:
                kind = re.sub(rf"\bour_{name}\b", name, kind)
            same = f"__builtin_types_compatible_p(__typeof__(&{function.name}), {kind})"
            yield f'_Static_assert({same}, "prototype {function.name}");'


NAMES: dict[str, set[str]] = {}


def header_names(headers: Compiler) -> set[str]:
    """Every constant and function that the real headers have; asked once for each compiler."""
    if headers.name not in NAMES:
        numbers = defined(headers.preprocess(300, "-dM"))
        NAMES[headers.name] = numbers | declared(headers.preprocess(300))
    return NAMES[headers.name]


def test_tables_compile_without_warnings(compiler: Compiler) -> None:
    tables = "".join(
        f"#define {name}(attr, KIND, n, PARAM, unit, text) PARAM,\n" for name in CLASS_OF_TABLE
    )
    source = (
        '#include "cl_api.h"\n'
        "struct table {\n#define CL_FN(v, r, n, a) r (CL_API_CALL *n) a;\n#include <cl.fn>\n};\n"
        "extern const cl_int codes[];\n"
        "const cl_int codes[] = {\n#define STATUS(n, v, k, h) CL_##n,\n#include <status.def>\n};\n"
        "extern const cl_bitfield values[];\n"
        "const cl_bitfield values[] = {\n#define ENUM_CLASS(n, b, d)\n"
        "#define ENUM(c, m, v) (cl_bitfield)v,\n#include <enums.def>\n};\n"
        f"extern const cl_uint params[];\n{tables}"
        "const cl_uint params[] = {\n#include <info.def>\n};\n"
        "#include <info.def>\n#include <enums.def>\n"
        "cl_mem_flags without(cl_mem_flags flags);\n"
        "cl_mem_flags without(cl_mem_flags flags) { return flags & ~CL_MEM_HOST_NO_ACCESS; }\n"
    )
    done = compiler.run(source, *STRICT, f"-I{SOURCE}", f"-I{SOURCE.parents[1]}", "-fsyntax-only")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_real_headers_lack_is_known(headers: Compiler) -> None:
    mine = constants().keys() | {function.name for function in functions()}
    assert sorted(mine - header_names(headers) - NOT_IN_HEADERS) == []


def test_rows_equal_the_real_headers(headers: Compiler) -> None:
    source = comparison(interface(), functions(), header_names(headers))
    assert source.count("_Static_assert") > 700
    assert headers.errors(source) == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_functions_appear_in_the_version_of_their_row(headers: Compiler, version: int) -> None:
    source = "#include <CL/cl.h>\n"
    done = headers.run(real_headers(version).split("#include")[0] + source, "-E", "-P")
    assert done.returncode == 0, done.stderr
    core = {function.name for function in functions() if 0 < function.version <= version}
    assert core == declared(done.stdout)


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        (r"(#define CL_MEM_READ_ONLY .*)2\)", r"\g<1>3)", "value of CL_MEM_READ_ONLY"),
        (r"(#define CL_INVALID_VALUE )\(-30\)", r"\1(-31)", "value of CL_INVALID_VALUE"),
        (r"typedef intptr_t cl_pipe", "typedef cl_uint cl_pipe", "type cl_pipe_properties"),
        (r"struct _cl_event \*cl_event", "struct _cl_mem *cl_event", "type cl_event"),
        (r"size_t image_depth;", "cl_uint image_depth;", "field cl_image_desc.image_depth"),
        (r"(size_t origin;\s+)(size_t size;)", r"\2\1", "field cl_buffer_region.origin"),
        (r"(cl_uint pci_function;)", r"\1 cl_uint more;", "size of cl_device_pci_bus_info_khr"),
    ],
)
def test_a_wrong_constant_type_or_field_is_noticed(
    headers: Compiler, before: str, after: str, complaint: str
) -> None:
    wrong, changes = re.subn(before, after, interface())
    assert changes == 1
    assert complaint in headers.errors(comparison(wrong, functions(), header_names(headers)))


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("clCreateBuffer", "size_t size", "cl_uint size"),
        ("clBuildProgram", "const char *options", "char *options"),
        ("clSetEventCallback", "cl_int event_command_status", "cl_ulong event_command_status"),
        ("clEnqueueTask", ", cl_event *event", ""),
        ("clCreateImage", "const cl_image_desc *", "const cl_image_format *"),
        ("clGetGLContextInfoKHR", "cl_context_properties *", "cl_queue_properties *"),
    ],
)
def test_a_wrong_prototype_is_noticed(
    headers: Compiler, name: str, before: str, after: str
) -> None:
    (right,) = (function for function in functions() if function.name == name)
    assert before in right.parameters
    wrong = right._replace(parameters=right.parameters.replace(before, after))
    source = comparison(interface(), [wrong], header_names(headers))
    assert f"prototype {name}" in headers.errors(source)
