"""Building programs: options, the binary cache, and compiler messages.

This module implements the methods of Program and `link_program`; the driver calls are in the C
module. A build from source goes through options, cache (`pygpu.cache`), compiler, and cache again.
If it fails, the exception has the log and the source lines that it refers to; if the compiler
printed something but succeeded, there is a warning.

Environment:

* PYGPU_BUILD_OPTIONS, PYOPENCL_BUILD_OPTIONS: more options for every build and compilation
* PYGPU_COMPILER_OUTPUT, PYOPENCL_COMPILER_OUTPUT: set to 1 to have a CompilerWarning quote the log
* PYGPU_CHECK: set to 1 to look for indices out of bounds, see checked_kernel.py
* PYGPU_NO_CACHE, PYGPU_CACHE_DIR, PYGPU_CACHE_SIZE: see `pygpu.cache`
"""

from __future__ import annotations

import contextlib
import enum
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cache as once
from functools import partial
from typing import TYPE_CHECKING, Any

from pygpu._src.util import log
from pygpu._src.util.package_folder import OPENCL_HEADERS
from pygpu._src.util.sequences import as_list
from pygpu.errors import (
    CompilerWarning,
    Error,
    InvalidArgumentError,
    InvalidOptionsError,
    _ErrorRecord,
)

if TYPE_CHECKING:
    import re

    from pygpu._opencl import Context, Device, Program

# A warm build takes 30 ms, so what only some builds need (shlex, regular expressions, hashlib,
# json) is imported and compiled at first use: all of it would add half as much again. Lists in
# any([...]) and all([...]): CPython 3.12 and 3.13 crash if a generator expression runs out of
# memory.

_FRESH, _BUILT = 0, 3  # Program._stage
_SUCCESS = 0  # build_status
_STATUS, _LOG = 0x1181, 0x1183  # program_build_info

_BUILD_FAILURE, _COMPILE_FAILURE, _LINK_FAILURE = -11, -15, -17
_INVALID_OPERATION = -59
_INVALID_BUILD_OPTIONS, _INVALID_COMPILER_OPTIONS, _INVALID_LINKER_OPTIONS = -43, -66, -67
_BAD_OPTIONS = (_INVALID_BUILD_OPTIONS, _INVALID_COMPILER_OPTIONS, _INVALID_LINKER_OPTIONS)
_FAILURES = (_BUILD_FAILURE, _COMPILE_FAILURE, _LINK_FAILURE, *_BAD_OPTIONS)


class program_kind(enum.Enum):
    """The kinds of sources of a program."""

    UNKNOWN = 0
    SOURCE = 1
    BINARY = 2
    IL = 3


program_kind.__module__ = "pygpu"


# ---- options ------------------------------------------------------------------------------------


def _split(text: str, what: str) -> list[str]:
    if not any([c in text for c in "'\"\\"]):
        return text.split()
    import shlex

    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if os.name == "nt":
        lexer.escape = ""  # backslashes separate folders there
    try:
        return list(lexer)
    except ValueError as error:
        raise ValueError(f"{what}: {error} in {text!r}") from None


@once
def _piece() -> re.Pattern[str]:
    """The pattern of one word in an element of options, with its quotes."""
    import re

    return re.compile(r'(?:"(?:\\.|[^"\\])*"|\S)+')


def _words_of(element: str, before: str) -> list[str]:
    """Split an element of a list of options, which may have several words, like a command line.

    Spaces in the value of a macro or the name of a folder are part of it, unless an option
    follows. before: the last word so far, which may be a -D or -I without its value.
    """
    if not _has_space(element):
        return [element] if element else []
    words: list[str] = []
    begin = 0
    for piece in _piece().finditer(element):
        word, last = piece[0], words[-1] if words else before
        option = words[-2] if len(words) > 1 else before
        takes_spaces = words and (last[:2] in ("-D", "-I") or option in ("-D", "-I"))
        begins = word[0] == "-" and word[1:2].isalpha()
        if last not in _VALUED and takes_spaces and not begins:
            words[-1] = element[begin : piece.end()]
            continue
        begin = piece.start()
        words.append(word)
        rest = element[begin:].strip()
        if (last == "-I" or word[:2] == "-I") and os.path.isdir(rest.removeprefix("-I")):
            words[-1] = rest  # a folder name that looks like options
            break
    return words


_VALUED = ("-D", "-I", "-U")


def split_options(options: str | Iterable[str | bytes] | None, call: str) -> list[str]:
    """Return the options as a list. Raises TypeError for anything but strings, ValueError for a
    NUL."""
    if options is None:
        words = []
    elif isinstance(options, str):
        words = _split(options, f"{call}: options")
    elif isinstance(options, (bytes, bytearray)) or not isinstance(options, Iterable):
        raise TypeError(
            f"{call}: options must be a str or a list of str, not {type(options).__name__}"
        )
    else:
        words = []
        for word in as_list(options, call, "options"):
            if isinstance(word, bytes):
                word = word.decode("utf-8", "surrogateescape")
            if not isinstance(word, str):
                raise TypeError(
                    f"{call}: each of options must be a str, not {type(word).__name__}: {word!r}"
                )
            words += _words_of(word, words[-1] if words else "")
    if any(["\0" in word for word in words]):
        raise ValueError(f"{call}: options must not contain NUL characters")
    return words


def _environment_options() -> list[str]:
    words: list[str] = []
    for name in ("PYOPENCL_BUILD_OPTIONS", "PYGPU_BUILD_OPTIONS"):
        words += _split(os.environ.get(name, ""), name)
    return words


def _has_space(word: str) -> bool:
    return len(word.split(maxsplit=1)) > 1 or word != word.strip()


def _quote(word: str) -> str:
    """Quote a word in the way that all compilers accept: quotes only around the value."""
    if not _has_space(word) or '"' in word:
        return word
    import re

    head = re.match(r"-I|(?:-D)?\w+=|", word)
    assert head is not None
    return f'{head[0]}"{word[head.end() :]}"'


def is_pocl(device: Device) -> bool:
    return device.platform.name == "Portable Computing Language"


def _alias(folder: str) -> str:
    """Return a path without spaces to the same folder, or the folder itself if none can be made."""
    import hashlib
    import stat
    import tempfile

    from pygpu._src.util.private_files import is_private

    target = os.path.abspath(folder)
    if not os.path.isdir(target) or not hasattr(os, "getuid"):
        return folder
    home = os.path.join(tempfile.gettempdir(), f"pygpu-{os.getuid()}")
    name = hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
    path = os.path.join(home, name)
    if _has_space(path):
        return folder
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        found = os.lstat(home)
        if not stat.S_ISDIR(found.st_mode) or not is_private(found):
            return folder  # others could put different headers there
        try:
            os.symlink(target, path)
        except FileExistsError:
            if os.readlink(path) != target:
                return folder
    except OSError:
        return folder
    return path


def _without_spaces(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Replace folders with spaces by aliases, and return the aliases: PoCL cannot quote spaces."""
    result, aliases = list(words), {}
    for i, word in enumerate(words):
        is_value = i > 0 and words[i - 1] == "-I"
        folder = word if is_value else word[2:] if word.startswith("-I") else ""
        if _has_space(folder):
            alias = _alias(folder.strip('"'))
            aliases[alias] = folder.strip('"')
            result[i] = alias if is_value else f"-I{alias}"
    return result, aliases


class _Options:
    """Options of one build: as passed, as a list with ours, and as text for the driver."""

    def __init__(self, given: list[str], devices: Sequence[Device], arg_info: bool) -> None:
        self.words = [*given, *_environment_options(), "-I", OPENCL_HEADERS]
        if arg_info and "-cl-kernel-arg-info" not in self.words:
            self.words.append("-cl-kernel-arg-info")
        self.aliases: dict[str, str] = {}
        words = self.words
        if any(map(is_pocl, devices)):
            words, self.aliases = _without_spaces(words)
        self.text = " ".join(map(_quote, words))
        self.encoded = self.text.encode("utf-8", "surrogateescape")


# ---- compiler messages --------------------------------------------------------------------------


@once
def _ignored_messages() -> re.Pattern[str]:
    """Messages that say nothing about the source. A log with nothing else counts as empty."""
    import re

    return re.compile(
        r"Compilation (started|done)|Linking (started|done)|Device build (started|done)"
        r"|Options used by backend compiler:.*|(remark|warning): <unknown>:0:0: .*"
        r"|Kernel \S+ was (not vectorized|successfully vectorized \(\d+\))|Done\.?"
        r"|Reload Program Binary Object\.|\s*"
        # NVIDIA's, about every kernel
        r"|\(\): Warning: Function \S+ is a kernel, so overriding noinline attribute\..*"
        # PoCL's, about calls of its own functions with vectors that are wider than the registers
        r"|warning: .*: AVX vector (argument|return) of type .* changes the ABI"
    )


def is_empty_log(log: str) -> bool:
    return not log.strip() or all(map(_ignored_messages().fullmatch, log.splitlines()))


def _flag(*names: str) -> bool:
    return any([os.environ.get(name, "").lower() not in ("", "0", "false", "no") for name in names])


def _read_log(program: Program, device: Device) -> str:
    try:
        log = program.get_build_info(device, _LOG)
    except Error:  # the driver has no log of a build that it did not start
        return ""
    return str(log).rstrip().lstrip("\n")


def _collect_logs(program: Program, devices: Sequence[Device]) -> dict[Device, str]:
    return {device: _read_log(program, device) for device in devices}


def warn_of_logs(logs: dict[Device, str]) -> None:
    """Issue a CompilerWarning if a compiler printed anything about a program that it built."""
    logs = {device: log for device, log in logs.items() if not is_empty_log(log)}
    if not logs:
        return
    if _flag("PYGPU_COMPILER_OUTPUT", "PYOPENCL_COMPILER_OUTPUT"):
        text = f"The program was built, and the compiler said:\n\n{_join_logs(logs)}"
    else:
        text = (
            "Non-empty compiler output encountered. Set the environment variable "
            "PYOPENCL_COMPILER_OUTPUT=1 to see more."
        )
    warnings.warn(text, CompilerWarning, stacklevel=3)


def _join_logs(logs: dict[Device, str]) -> str:
    together: dict[str, list[str]] = {}
    for device, said in logs.items():
        together.setdefault(said, []).append(repr(device))
    return "\n\n".join(
        f"Build on {', '.join(names)}:\n\n{said}" for said, names in together.items()
    )


@once
def _positions() -> tuple[re.Pattern[str], ...]:
    """Patterns of log lines that have a position in the source."""
    import re

    kinds = r"(?:fatal error|error|warning|note)"
    location = r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+)"
    return (
        re.compile(rf"\A{location}: {kinds}\b"),  # clang
        re.compile(rf"\A{kinds}: {location}(?::| <)"),  # PoCL
    )


_MAX_SHOWN = 20
_MAX_WIDTH = 160


def _header_text(name: str, folders: Sequence[str]) -> bytes | None:
    """Return the header's contents if the log names one on the search path."""
    roots = [os.path.realpath(folder) + os.sep for folder in folders]
    path = os.path.realpath(name)
    if not any([path.startswith(root) for root in roots]):
        return None
    try:
        with open(path, "rb") as file:
            return file.read(1 << 22)
    except OSError:
        return None


def _excerpt(line: bytes, number: int, column: int) -> list[str]:
    """Return the line, and a caret below the column (in bytes, from 1)."""
    before = line[: max(column - 1, 0)].decode("utf-8", "replace")
    text = line.decode("utf-8", "replace")
    start = max(0, len(before) - _MAX_WIDTH // 2)
    shown, before = text[start : start + _MAX_WIDTH], before[start:]
    indent = "".join("\t" if c == "\t" else " " for c in before)
    return [f"{number:5} | {shown}", f"{'':5} | {indent}^"]


def annotate(
    log: str,
    source: bytes | None,
    folders: Sequence[str] = (),
    headers: Mapping[str, bytes | None] | None = None,
) -> str:
    """Return the log with the source lines that it refers to, unless it quotes them itself."""
    lines, result = log.splitlines(), []
    shown: set[tuple[str, int, int]] = set()
    for i, line in enumerate(lines):
        result.append(line)
        match = next(filter(None, (pattern.match(line) for pattern in _positions())), None)
        if match is None or len(shown) >= _MAX_SHOWN:
            continue
        name, number, column = match["file"], int(match["line"]), int(match["column"])
        text = (headers or {}).get(os.path.basename(name))
        if text is None:
            text = _header_text(name, folders)
        if text is None:
            text = source
        rows = text.split(b"\n", number)[:number] if text is not None else []
        if not 0 < number <= len(rows) or (name, number, column) in shown:
            continue
        row = rows[number - 1].rstrip(b"\r")
        quoted = row.decode("utf-8", "replace").strip()
        if not quoted or (i + 1 < len(lines) and quoted[:60] in lines[i + 1]):
            continue
        shown.add((name, number, column))
        result += _excerpt(row, number, column)
    return "\n".join(result)


_SUMMARY = {
    _BUILD_FAILURE: "the program did not build",
    _COMPILE_FAILURE: "the program did not compile",
    _LINK_FAILURE: "the programs could not be linked",
}


def _failure(
    error: Error,
    logs: dict[Device, str],
    options: _Options,
    source: bytes | None,
    headers: Mapping[str, bytes | None] | None = None,
) -> Error:
    """Return the driver's error with all details that help to understand it."""
    if error.code not in _FAILURES:
        return error
    from pygpu._src.runtime import disk_cache

    folders = disk_cache.include_folders(options.words)
    quoted = {}
    for device, said in logs.items():
        for alias, folder in options.aliases.items():
            said = said.replace(alias, folder)
        if said:
            quoted[device] = annotate(said, source, folders, headers)
    parts = [_SUMMARY.get(error.code, "the compiler refuses the options")]
    parts += [
        _join_logs(quoted) if quoted else "(the driver gave no log)",
        f"(options: {options.text})",
    ]
    record = error.args[0]
    kind = InvalidOptionsError if error.code in _BAD_OPTIONS else type(error)
    better = kind(_ErrorRecord(record.routine(), record.code(), record._name, "\n\n".join(parts)))
    better.log = "\n\n".join(dict.fromkeys(quoted.values()))  # type: ignore[attr-defined]
    better.options = options.text  # type: ignore[attr-defined]
    return better


# ---- build, compile, link -----------------------------------------------------------------------


def _targets(context: Context, devices: Sequence[Device] | None, call: str) -> list[Device]:
    if devices is None:
        return context.devices
    from pygpu._opencl import Device

    alone: object = devices
    chosen = [alone] if isinstance(alone, Device) else as_list(devices, call, "devices")
    if not chosen:
        raise InvalidArgumentError(
            _ErrorRecord(
                call, -30, "INVALID_VALUE", "devices is empty; leave it out to build for all"
            )
        )
    for device in chosen:
        if not isinstance(device, Device):
            raise TypeError(
                f"{call}: each of devices must be a Device, not {type(device).__name__}"
            )
    return chosen


def _takes_arg_info(devices: Sequence[Device]) -> bool:
    """Whether all devices have OpenCL 1.2, which introduced the option -cl-kernel-arg-info."""
    return all([not device.version.startswith(("OpenCL 1.0", "OpenCL 1.1")) for device in devices])


def _is_built_for(program: Program, devices: Sequence[Device], options: _Options) -> bool:
    if program._stage != _BUILT or program._options != options.encoded:
        return False
    try:
        return all([program.get_build_info(device, _STATUS) == _SUCCESS for device in devices])
    except Error:  # loaded from the cache for the other devices
        return False


def _refuse_rebuild(call: str) -> InvalidArgumentError:
    what = (
        "the program is built already and in use, so it cannot be built again with other options; "
        "make a new Program from its source"
    )
    return InvalidArgumentError(_ErrorRecord(call, _INVALID_OPERATION, "INVALID_OPERATION", what))


def _start_afresh(program: Program, call: str) -> None:
    """Replace the handle for another build: Intel's driver keeps the options of one that failed."""
    if program._stage != _FRESH and not program._reset() and program._cached:
        raise _refuse_rebuild(call)


def _names_of(devices: Sequence[Device]) -> str:
    return ", ".join(dict.fromkeys(device.name.strip() for device in devices))


def build_program(
    program: Program,
    options: str | Sequence[str | bytes] | None,
    devices: Sequence[Device] | None,
    cache_dir: str | os.PathLike[str] | bool | None,
) -> None:
    """Implement Program.build; the calling thread holds the program's lock."""
    from pygpu._src.runtime import disk_cache

    if "PYGPU_CHECK" in os.environ:
        from . import checked_kernel as checked

        checked.begin_build(program)
    given = split_options(options, "Program.build")
    targets = _targets(program.context, devices, "Program.build")
    all_options = _Options(given, targets, _takes_arg_info(targets))
    if _is_built_for(program, targets, all_options):
        return
    _start_afresh(program, "clBuildProgram")
    source = program._source_bytes
    store = None
    if source is not None and not program._pinned:
        store = disk_cache.open_store(program.context, targets, cache_dir)
    elif cache_dir is not None:
        disk_cache.chosen_folder(program.context, cache_dir)  # raises its TypeError
    keys = None
    if store is not None and source is not None:
        keys = disk_cache.keys(source, all_options.words, targets)
        logs = store.load(program, targets, keys, all_options.encoded) if keys else None
        log.cache_lookup(logs is not None, source)
        if logs is not None:
            warn_of_logs(logs)
            return
    with log.compiling(source, partial(_names_of, targets)):
        _build(program, given, devices, targets, all_options)
    logs = _collect_logs(program, targets)
    if store is not None and keys:
        store.save(program, targets, keys, logs)
    warn_of_logs(logs)


def _build(
    program: Program,
    given: list[str],
    devices: Sequence[Device] | None,
    targets: list[Device],
    options: _Options,
) -> None:
    chosen = targets if devices is not None else None
    try:
        program._build(options.encoded, chosen)
        return
    except Error as error:
        first = error
    if first.code == _INVALID_OPERATION:
        raise _refuse_rebuild("clBuildProgram") from None
    logs = _collect_logs(program, targets)
    # NVIDIA's assembler (580.159) fails on the code for a kernel without arguments.
    stumbled = any(["ptxas" in log for log in logs.values()])
    if (first.code in _BAD_OPTIONS or stumbled) and "-cl-kernel-arg-info" not in given:
        try:  # our own option must not make the build fail
            program._build(_Options(given, targets, False).encoded, chosen)
            return
        except Error:
            pass
    raise _failure(first, logs, options, program._source_bytes) from None


def compile_program(
    program: Program,
    options: str | Sequence[str | bytes] | None,
    devices: Sequence[Device] | None,
    headers: Sequence[tuple[str, Program]] | None,
) -> None:
    """Implement Program.compile; the calling thread holds the program's lock."""
    if "PYGPU_CHECK" in os.environ:
        from . import checked_kernel as checked

        checked.begin_compile()
    given = split_options(options, "Program.compile")
    targets = _targets(program.context, devices, "Program.compile")
    all_options = _Options(given, targets, _takes_arg_info(targets))
    pairs = as_list(headers or (), "Program.compile", "headers")
    _start_afresh(program, "clCompileProgram")
    try:
        with log.compiling(program._source_bytes, partial(_names_of, targets)):
            program._compile(all_options.encoded, targets if devices is not None else None, pairs)
    except Error as error:
        if error.code == _INVALID_OPERATION:
            raise
        texts = {os.path.basename(name): header._source_bytes for name, header in pairs}
        logs = _collect_logs(program, targets)
        raise _failure(error, logs, all_options, program._source_bytes, texts) from None
    program.__dict__[_COMPILATION] = given, targets, devices is not None, pairs
    warn_of_logs(_collect_logs(program, targets))


def _without_our_option(program: Program) -> Program:
    """Return the same program compiled with only the requested options; the program itself if that
    fails.

    With -cl-kernel-arg-info, which :func:`compile_program` adds, NVIDIA's compiler (580.159) does
    not inline C99's `inline` functions, and its linker does not find them.
    """
    source, how = program._source_bytes, program.__dict__.get(_COMPILATION)
    if source is None or how is None:
        return program
    given, targets, chosen, headers = how
    made = type(program)(program.context, source.decode("utf-8", "surrogateescape"))
    try:
        made._compile(_Options(given, targets, False).encoded, targets if chosen else None, headers)
    except Error:
        return program
    return made


_COMPILATION = "_compilation"  # key in a program's dict: how it was compiled


def link_programs(
    context: Context,
    programs: Sequence[Program],
    options: str | Sequence[str | bytes] | None,
    devices: Sequence[Device] | None,
) -> Program:
    """Implement `pygpu.link_program`."""
    from pygpu import _opencl

    given = split_options(options, "link_program")
    listed = [programs] if isinstance(programs, _opencl.Program) else programs
    chosen = as_list(listed, "link_program", "programs")
    if not chosen:
        raise InvalidArgumentError(
            _ErrorRecord("link_program", -30, "INVALID_VALUE", "programs is empty")
        )
    if not isinstance(context, _opencl.Context):
        raise TypeError(f"link_program: context must be a Context, not {type(context).__name__}")
    targets = _targets(context, devices, "link_program")
    all_options = _Options(given, targets, False)
    all_options.text = " ".join(map(_quote, given))  # a linker has no search path for headers
    failed: list[Program] = []
    encoded = all_options.text.encode("utf-8", "surrogateescape")
    try:
        linked = _opencl._link(
            context, chosen, encoded, targets if devices is not None else None, failed
        )
    except Error as error:
        second: Program | None = None
        if error.code == _LINK_FAILURE:
            again = [_without_our_option(program) for program in chosen]
            with contextlib.suppress(Error):
                second = _opencl._link(
                    context, again, encoded, targets if devices is not None else None, []
                )
        if second is None:
            logs = _collect_logs(failed[0], targets) if failed else {}
            raise _failure(error, logs, all_options, None) from None
        linked = second
    warn_of_logs(_collect_logs(linked, targets))
    return linked


# ---- binaries from users ------------------------------------------------------------------------


_seen_complete: set[tuple[int, int]] = set()  # binaries that were checked: length and hash


def _is_complete(binary: bytes) -> bool:
    key = len(binary), hash(binary)
    if key in _seen_complete:
        return True
    from .pocl_binary import is_complete

    whole = is_complete(binary)
    if whole:
        if len(_seen_complete) == 1000:
            _seen_complete.clear()
        _seen_complete.add(key)
    return whole


def check_binaries(context: Context, devices: Any, binaries: Any) -> list[bytes]:
    """Return binaries as bytes. Raises LogicError for those that are known to end the process."""
    if isinstance(binaries, (str, bytes, bytearray)) or not isinstance(binaries, Iterable):
        raise TypeError(
            f"Program: binaries must be a list with bytes for each device, "
            f"not {type(binaries).__name__}"
        )
    checked = []
    for i, binary in enumerate(as_list(binaries, "Program", "binaries")):
        if isinstance(binary, (str, int)):
            raise TypeError(f"Program: binary {i} must be bytes, not {type(binary).__name__}")
        checked.append(bytes(binary))
        if context.devices and is_pocl(context.devices[0]):
            if not _is_complete(checked[-1]):
                what = f"binary {i} is damaged: its parts do not have the sizes that it claims"
                raise InvalidArgumentError(
                    _ErrorRecord("clCreateProgramWithBinary", -42, "INVALID_BINARY", what)
                )
    return checked
