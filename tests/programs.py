"""Many short Python programs in one process, for tests of documentation and examples.

To import pygpu and to load a driver's compiler takes longer than most of them do. Each has a
namespace, a folder, an environment and standard streams of its own.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import select
import subprocess
import sys
import traceback
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Programs:
    """Runs programs in a process with *environment*, started anew after one that ended it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen[str] | None = None

    def run(
        self,
        text: str,
        name: str,
        folder: Path,
        raises: bool = False,
        timeout: float = 240,
    ) -> subprocess.CompletedProcess[str]:
        """Run the program *text* of the file *name* in *folder*, with `subprocess.run`'s result.

        raises: a `try` without an `else` fails if nothing is raised.
        """
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__],
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        outputs = [str(folder / "stdout"), str(folder / "stderr")]
        task = [text, name, str(folder), outputs, raises]
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()
        answered, _, _ = select.select([process.stdout], [], [], timeout)
        if not answered:
            process.kill()
        answer = process.stdout.readline()
        status = int(answer) if answer else self.close() or -1  # without an answer it has ended
        out, err = (Path(path).read_text() if Path(path).exists() else "" for path in outputs)
        if not answered:
            err += f"\nthe program did not end in {timeout:g} s"
        return subprocess.CompletedProcess(name, status, out, err)

    def close(self) -> int:
        """End the process; its exit status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with process:
            assert process.stdin is not None
            process.stdin.close()
            return process.wait(60)


class Expected(ast.NodeTransformer):
    """An example of an error fails if there is none."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST:
        if node.handlers and not node.orelse:
            node.orelse = ast.parse("raise AssertionError('nothing was raised')").body
            for each in ast.walk(node.orelse[0]):
                ast.copy_location(each, node)
        return node


@contextmanager
def redirected(outputs: list[str]) -> Iterator[None]:
    """Standard output and error of Python and of C go to these files."""
    kept = [os.dup(1), os.dup(2)]
    for number, path in zip((1, 2), outputs):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, number)
        os.close(file)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, file in zip((1, 2), kept):
            os.dup2(file, number)
            os.close(file)


def run_here(text: str, name: str, raises: bool) -> int:
    """Run a program as the main module; its exit status."""
    module = types.ModuleType("__main__")
    module.__file__ = name
    main, arguments, environment = sys.modules["__main__"], sys.argv, dict(os.environ)
    sys.modules["__main__"], sys.argv = module, [name]
    try:
        with warnings.catch_warnings():
            tree = ast.parse(text, name)
            exec(compile(Expected().visit(tree) if raises else tree, name, "exec"), vars(module))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.modules["__main__"], sys.argv = main, arguments
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")
        for variable in os.environ.keys() - environment.keys():
            del os.environ[variable]
        os.environ.update(environment)
    return 0


def main() -> None:
    tasks, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a thread writes between two programs is not an answer
    for line in tasks:
        task: list[Any] = json.loads(line)
        text, name, folder, outputs, raises = task
        os.chdir(folder)
        with redirected(outputs):
            status = run_here(text, name, raises)
            gc.collect()  # what its objects say when they go belongs to it
        print(status, file=answers, flush=True)


if __name__ == "__main__":
    main()
