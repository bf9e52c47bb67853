"""``python -m pygpu.compat``: run a program, unchanged, with pygpu in PyOpenCL's place.

    python -m pygpu.compat PROGRAM.py [ARGUMENTS]
    python -m pygpu.compat -m MODULE [ARGUMENTS]
    python -m pygpu.compat -c CODE [ARGUMENTS]

The program sees sys.argv, sys.path, __main__ and __file__ as under plain Python; its exit status
and its tracebacks are its own.
"""

from __future__ import annotations

import importlib.util
import io
import os
import pkgutil
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn

from pygpu import compat

USAGE = __doc__.partition("\n\n")[2]


def main() -> None:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        sys.exit(0 if arguments else 2)
    if arguments[0] in ("-m", "-c") and len(arguments) < 2:
        _stop(f"{arguments[0]} needs a value; see --help", 2)
    if arguments[0].startswith("-") and arguments[0] not in ("-m", "-c"):
        _stop(f"no such option: {arguments[0]}; see --help", 2)
    compat.install()
    try:
        if arguments[0] == "-m":
            _run_module(arguments[1], arguments[2:])
        elif arguments[0] == "-c":
            sys.argv[:] = ["-c", *arguments[2:]]
            _run_code(compile(arguments[1], "<string>", "exec", dont_inherit=True), {})
        else:
            _run_script(arguments[0], arguments[1:])
    except SystemExit:
        raise
    except KeyboardInterrupt as error:
        _show(error)
        sys.excepthook = lambda *_: None  # Python ends as after Ctrl-C, but has shown it already
        raise
    except BaseException as error:
        _show(error)
        sys.exit(1)


def _run_script(path: str, arguments: list[str]) -> None:
    sys.argv[:] = [path, *arguments]
    full = os.path.abspath(path)
    if pkgutil.get_importer(full) is not None:  # a folder or an archive, with a __main__.py in it
        sys.path[0 : not sys.flags.safe_path] = [full]
        spec = PathFinder.find_spec("__main__", [full])
        if spec is None:
            _stop(f"can't find '__main__' module in {path!r}", 1)
        _run_spec(spec, "__main__")
        return
    try:
        with io.open_code(full) as file:
            source = file.read()
    except OSError as error:
        _stop(f"can't open file {path!r}: {error.strerror}", 2)
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    code = compile(source, full, "exec", dont_inherit=True)
    _run_code(code, {"__file__": full, "__cached__": None})


def _run_module(name: str, arguments: list[str]) -> None:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        spec = None
    if spec is None:
        _stop(f"no module named {name}", 1)
    sys.argv[:] = [spec.origin or name, *arguments]
    _run_spec(spec, name)


def _run_spec(spec: ModuleSpec, name: str) -> None:
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code(spec.name) if get_code is not None else None
    if code is None:
        _stop(f"{name} is not a module that can be run", 1)
    _run_code(code, {"__file__": spec.origin, "__cached__": spec.cached}, spec)


def _run_code(code: CodeType, names: dict[str, Any], spec: ModuleSpec | None = None) -> None:
    """Run code as __main__, which it stays until Python ends, as exit handlers and pickle need."""
    module = ModuleType("__main__")
    module.__dict__.update(names)
    module.__dict__.update(
        __builtins__=sys.modules["builtins"],
        __spec__=spec,
        __loader__=spec.loader if spec is not None else None,
        __package__=spec.parent if spec is not None else None,
    )
    global _runner
    _runner = sys.modules["__main__"]  # else its names would go with it
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


_runner: ModuleType


def _show(error: BaseException) -> None:
    """Report an exception of the program, without the frames that are not its own."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and _is_ours(trace):
        trace = trace.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException:  # a hook of the program's that fails
        sys.__excepthook__(type(error), error, trace)


def _is_ours(trace: TracebackType) -> bool:
    file = trace.tb_frame.f_code.co_filename
    return file == __file__ or file in ("<frozen runpy>", "<frozen importlib.util>")


def _stop(message: str, status: int) -> NoReturn:
    print(f"python -m pygpu.compat: {message}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
