"""Rules for the C code that no compiler checks, read from its text and from the built module."""

import inspect
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import GetSetDescriptorType, MemberDescriptorType, ModuleType

import pytest
from contract.unused_functions import UNUSED

from pygpu import _cuda, _opencl

SRC = Path(__file__).parents[2] / "src"
FILES = sorted([*SRC.rglob("*.c"), *SRC.rglob("*.h")])
SOURCES = [path for path in FILES if path.suffix == ".c"]

pytestmark = pytest.mark.skipif(not SOURCES, reason="no C sources beside the tests")


@cache
def code(path: Path) -> str:
    """The text without comments, each replaced by as many line ends as it has."""
    text = path.read_text("utf-8")
    return re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S)


def blocks(path: Path) -> list[tuple[int, str]]:
    """(line, text) of each stretch with the GIL released."""
    text = code(path).replace("\\\n", " \n")
    found = re.finditer(r"Py_BEGIN_ALLOW_THREADS(.*?)Py_END_ALLOW_THREADS", text, re.S)
    return [(text[: match.start()].count("\n") + 1, match[1]) for match in found]


def broken_rules(block: str) -> list[str]:
    """What must not be done where the GIL is released."""
    broken = []
    if re.search(r"\b(return|goto)\b", block):
        broken.append("leaves without taking the GIL back")
    if re.search(r"\b(break|continue)\b", block) and not re.search(r"\b(for|while|do)\b", block):
        broken.append("leaves without taking the GIL back")
    python = re.findall(r"\b(?:_?Py(?!Thread_|Mem_Raw)\w*|PG_NEW|(?:ocl|cud)_raise\w*)\s*\(", block)
    if python:
        broken.append(f"touches Python: {python}")
    if re.search(r"Py_BEGIN_ALLOW_THREADS|\bC[LU]_NOGIL\b", block):
        broken.append("releases the GIL twice")
    calls = len(re.findall(r"\bC[LU]_(?:CALL|MAKE)\s*\(|\bc[lu]\.\w+\(", block))
    if calls > 1 + len(re.findall(r"\belse\b", block)):
        broken.append(f"makes {calls} driver calls, of which only the last one's status is seen")
    return broken


def test_the_rules_find_what_they_look_for():
    assert broken_rules("CL_CALL(status, clFinish, q);") == []
    assert broken_rules("if (a) { CL_CALL(s, f, q); } else { CL_CALL(s, g, q); }") == []
    assert broken_rules("PyThread_acquire_lock(self->lock, 1);") == []
    for bad in (
        "CL_CALL(s, f, q); return NULL;",
        "goto fail;",
        "if (x) break;",
        "Py_DECREF(x);",
        "ocl_raise(state, name, status);",
        "CL_CALL(s, f, q); CL_CALL(s, g, q);",
        "Py_BEGIN_ALLOW_THREADS CL_CALL(s, f, q);",
        "CL_NOGIL(s, f, q);",
    ):
        assert broken_rules(bad), bad


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(SRC).as_posix())
def test_gil_is_released_around_one_driver_call_and_taken_back(path: Path):
    text = code(path)
    begins, ends = (text.count(f"Py_{word}_ALLOW_THREADS") for word in ("BEGIN", "END"))
    assert begins == ends == len(blocks(path))
    for line, block in blocks(path):
        assert not broken_rules(block), f"{path.name}:{line}: {block.strip()}"


def test_blocks_without_the_gil_are_found():
    # Also those inside of macros, such as CL_NOGIL.
    assert sum(len(blocks(path)) for path in FILES) > 30
    assert blocks(SRC / "opencl" / "api" / "driver.h")


def test_every_driver_function_is_used_or_said_why_not():
    rows = re.findall(r"CL_(?:FN|EXT)\([^,()]*,[^,()]*,\s*(cl\w+)", code(SRC / "opencl/api/cl.fn"))
    assert len(rows) > 100
    used = {word for path in SOURCES for word in re.findall(r"\bcl\w+", code(path))}
    assert set(rows) - used == set(UNUSED), "a new row needs a use, a used one no excuse"
    assert set(_opencl._functions()) == set(rows)


def test_every_row_of_cuda_is_used():
    rows = re.findall(r"^CU_FN\(\d+, (\w+)", code(SRC / "cuda/api/cuda.fn"), re.M)
    rows += re.findall(r"^NVRTC_FN\(\d, (\w+)", code(SRC / "cuda/api/nvrtc.fn"), re.M)
    assert len(rows) > 150
    calls = "\n".join(code(path) for path in SOURCES if path.relative_to(SRC).parts[0] == "cuda")
    made = re.findall(r"\b(?:CU_(?:CALL|NOGIL|QUEUED|BESIDE)|NVRTC_CALL)\(\s*[^,]+,\s*(\w+)", calls)
    made += re.findall(r"\bcu\.(cu\w+)|\"(cuDriverGetVersion)\"", calls)
    spelled = {"".join(one) for one in made}
    # Spelled by macros: CONFIG(..., CacheConfig, ...) and similar, nvrtcGet##what.
    pasted = {
        row
        for row in set(rows) - spelled
        if re.search(r"cu(Ctx|Func)[GS]et(Cache|SharedMem)Config", row)
        or re.search(r"nvrtcGet(ProgramLog|CUBIN|PTX)(Size)?$", row)
    }
    assert not set(rows) - spelled - pasted, "a row that nothing calls is a CU_OTHER"
    assert set(_cuda._functions()) == set(rows)


def test_driver_calls_by_name_are_rows_of_the_lists():
    rows = set(_opencl._functions())
    for path in SOURCES:
        made = re.findall(r"\bCL_CALL\(\s*[^,]+,\s*(cl\w+)", code(path))
        made += re.findall(r"\bCL_MAKE\(\s*[^,]+,\s*[^,]+,\s*(cl\w+)", code(path))
        assert set(made) <= rows, path.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SRC).as_posix())
def test_files_are_short_and_say_what_they_are_for(path: Path):
    text = path.read_text("utf-8")
    assert text.startswith(f"/* {path.name} - "), "the first line says what the file is for"
    assert text.count("\n") < 1000


# These repeat what the vendors' headers declare, a row a declaration.
VENDOR_LISTS = {"opencl/api/cl_api.h", "cuda/api/cu_api.h"}
MOST_COLUMNS = 100
MOST_LINES = 60  # of a function, from its type to its closing brace


def functions(text: str) -> list[tuple[str, int]]:
    """(head, number of lines) of each function: a head at the left margin, a body, and a brace
    alone at the end, as tables and structs do not have it."""
    found = []
    head, inside = 0, False
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line == "}" and inside:
            found.append((lines[head], at - head + 1))
        if line.startswith("}"):
            inside = False
        elif not inside and line[:1] not in ("", " ", "\t", "#", "/", "*"):
            head = at
        inside = inside or line.endswith("{")
    return found


def test_functions_and_their_lines_are_found():
    text = (
        "typedef struct {\n    int a;\n} A;\n\nstatic const int table[] = {\n    1,\n};\n\n"
        "int f(int a,\n      int b) {\n    if (a) {\n        goto end;\n    }\n"
        "#if X\n    b++;\n#endif\nend:\n    return b;\n}\nMACRO(g) {\n    return 0;\n}\n"
    )
    assert functions(text) == [("int f(int a,", 11), ("MACRO(g) {", 3)]


def test_functions_are_short():
    assert len(FILES) > 200
    found = [(path, *one) for path in FILES for one in functions(path.read_text("utf-8"))]
    assert len(found) > 2500
    long = [
        f"{path.relative_to(SRC).as_posix()}: {head}"
        for path, head, lines in found
        if lines > MOST_LINES
    ]
    assert not long, "split them where the work divides"


def test_lines_are_narrow():
    names = {path.relative_to(SRC).as_posix() for path in FILES}
    assert len(names) > 200
    assert names > VENDOR_LISTS
    wide = [
        f"{path.name}:{number}"
        for path in FILES
        if path.relative_to(SRC).as_posix() not in VENDOR_LISTS
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ]
    assert not wide, "run .ci/format.sh"


def test_every_quirk_of_a_driver_is_asked_for():
    text = code(SRC / "opencl/quirks.h")
    rows = re.findall(r'\bQUIRK\((\w+), (\w+), "([\w.]+)",\s*\\\s*"', text)
    assert len(rows) > 10
    assert len(rows) == len(re.findall(r"\bQUIRK\(", text))
    asked = {
        bit
        for path in FILES
        if path.name != "quirks.h"
        for bit in re.findall(r"\bOCL_QUIRK_(\w+)", code(path))
    }
    assert asked == {bit for bit, _, _ in rows}


def test_drivers_are_distinguished_in_one_file():
    """By the table of quirks, whose drivers platform.c finds."""
    asking = {
        path.name
        for path in SOURCES
        if path.relative_to(SRC).parts[0] == "opencl"
        and re.search(r'"(?:NVIDIA|PoCL|pocl|Intel)"|\bis_(?:pocl|nvidia|intel\w*)\b', code(path))
    }
    assert asking == {"platform.c"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(SRC).as_posix())
def test_formats_of_exceptions_are_those_of_python_3_11(path: Path):
    """PyErr_Format and similar functions copy %lx, %llx, %zx and %.*s as they are: use pg_hex()."""
    calls = re.findall(
        r"\b(?:PyErr_Format|PyUnicode_FromFormat|PyErr_WarnFormat|\w+_(?:reject|raise)\w*)\("
        r"(?:[^;\"]|\"(?:\\.|[^\"\\])*\")*;",
        code(path),
    )
    assert [c for c in calls if re.search(r"%(?:(?:l|ll|z)[xXo]|\.\*s|#|[efg])", c)] == []


def test_python_comes_from_one_header_and_nothing_from_vendors():
    for path in FILES:
        included = set(re.findall(r"^\s*#\s*include\s*<([^>]+)>", code(path), re.M))
        if path.name != "pg.h":
            assert not {
                name for name in included if re.match(r"Python\.h|structmember|numpy/", name)
            }
        vendors = {name for name in included if re.match(r"CL/|OpenCL/|cuda|nvrtc", name)}
        assert not vendors, f"{path.name} includes {vendors}"


def documented(module: ModuleType) -> list[tuple[str, object]]:
    """Everything that a table of methods, properties or functions adds, with its full name."""
    found = []
    for name, item in vars(module).items():
        if inspect.isbuiltin(item):
            found.append((name, item))
        elif isinstance(item, type) and not issubclass(item, tuple):
            for key, member in vars(item).items():
                dunder = key.startswith("__") and key not in ("__enter__", "__exit__", "__dir__")
                if not dunder and type(member).__name__ != "wrapper_descriptor":
                    found.append((f"{name}.{key}", member))
    return found


@pytest.mark.parametrize(("module", "at_least"), [(_opencl, 300), (_cuda, 60)])
def test_every_table_entry_has_its_types_and_a_text(module: ModuleType, at_least: int):
    entries = documented(module)
    assert len(entries) > at_least
    for name, item in entries:
        item = item.__func__ if isinstance(item, staticmethod) else item
        doc = item.__doc__ or ""
        if isinstance(item, GetSetDescriptorType | MemberDescriptorType):
            assert re.match(r"[A-Za-z_][\w.\[\], |]*: \S", doc), f"{name}: {doc!r}"
            continue
        typed, _, text = doc.partition("\n\n")
        assert re.fullmatch(r"\(.*\) -> \S.*", typed), f"{name}: {doc!r}"
        assert text.strip(), f"{name} has no text"
        # The untyped line, which help() and inspect read, has the same arguments.
        given = [key for key in inspect.signature(item).parameters if key not in ("self", "type")]
        listed = re.findall(r"(?:^|, )\*{0,2}(\w+)(?=:|,|$)", re.sub(r"\[[^]]*\]", "", typed[1:]))
        assert set(given) <= set(listed), f"{name}: {given} are not all in {typed}"


@pytest.mark.parametrize("module", [_opencl, _cuda])
def test_no_symbol_leaks_from_the_extension(module: ModuleType):
    nm = shutil.which("nm")
    if nm is None or not sys.platform.startswith("linux"):
        pytest.skip("nm is not installed, or this is not Linux")
    listed = subprocess.run(
        [nm, "-D", "--defined-only", module.__file__], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1] for line in listed.splitlines()}
    ours = {name for name in names if not name.startswith(("__asan", "__odr_asan", "__ubsan", "_"))}
    assert ours == {"PyInit_" + module.__name__.rpartition(".")[2]}
