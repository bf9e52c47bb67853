"""OpenCL kernels in notebook cells.

``%load_ext pygpu.ipython_ext`` adds three magics:

* ``%%cl_kernel [-o OPTIONS]`` builds the cell's source; each of its kernels becomes a variable of
  the same name,
* ``%cl_kernel_from_file [-o OPTIONS] FILE`` does the same with a file,
* ``%cl_load_edit_kernel [-o OPTIONS] FILE`` puts a file into a new ``%%cl_kernel`` cell.

OPTIONS are build options, in quotes if there are several: ``-o "-DN=16 -cl-mad-enable"``. The
context is the variable ``cl_ctx`` or else ``ctx``; if neither is a context, one is made on the
default device and named ``cl_ctx``.
"""

from __future__ import annotations

import getopt
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pygpu as cl

__all__ = ["load_ipython_extension"]


def _parse(line: str, magic: str, takes_file: bool) -> tuple[str, str]:
    """(build options, file) from a magic's line. Raises ValueError that shows how the magic is
    used.
    """
    usage = f"use {magic} [-o OPTIONS]{' FILE' if takes_file else ''}"
    try:
        found, rest = getopt.gnu_getopt(
            shlex.split(line), "o:f:" if takes_file else "o:", ["options="] + ["file="] * takes_file
        )
    except (getopt.GetoptError, ValueError) as error:
        raise ValueError(f"{magic}: {error}; {usage}") from None
    options = " ".join(value for name, value in found if name in ("-o", "--options"))
    file = next((value for name, value in found if name in ("-f", "--file")), " ".join(rest))
    if takes_file and not file:
        raise ValueError(f"{magic}: the name of a file is missing; {usage}")
    if rest and not takes_file:
        raise ValueError(f"{magic}: unexpected argument '{' '.join(rest)}'; {usage}")
    return options, file


class _Magics:
    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def _context(self) -> cl.Context:
        import pygpu as cl

        for name in ("cl_ctx", "ctx"):
            context = self.shell.user_ns.get(name)
            if isinstance(context, cl.Context):
                return context
        context = cl.create_some_context(interactive=False)
        self.shell.user_ns["cl_ctx"] = context
        print(f"cl_ctx = {context!r}  # made here, as neither cl_ctx nor ctx is a context")
        return context

    def _build(self, source: str, options: str) -> None:
        import pygpu as cl

        program = cl.Program(self._context(), source).build(options=shlex.split(options))
        for kernel in program.all_kernels():
            self.shell.user_ns[kernel.function_name] = kernel

    def cl_kernel(self, line: str, cell: str) -> None:
        """%%cl_kernel [-o OPTIONS]: build the cell and make each of its kernels a variable."""
        options, _ = _parse(line, "%%cl_kernel", takes_file=False)
        self._build(cell, options)

    def cl_kernel_from_file(self, line: str) -> None:
        """%cl_kernel_from_file [-o OPTIONS] FILE: build a file and make each of its kernels a
        variable.
        """
        options, file = _parse(line, "%cl_kernel_from_file", takes_file=True)
        self._build(self.shell.find_user_code(file), options)

    def cl_load_edit_kernel(self, line: str) -> None:
        """%cl_load_edit_kernel [-o OPTIONS] FILE: put a file into a new %%cl_kernel cell."""
        options, file = _parse(line, "%cl_load_edit_kernel", takes_file=True)
        header = f'%%cl_kernel -o "{options}"' if options else "%%cl_kernel"
        self.shell.set_next_input(f"{header}\n\n{self.shell.find_user_code(file)}")


def load_ipython_extension(ip: Any) -> None:
    """Called by ``%load_ext pygpu.ipython_ext``: register the three magics."""
    magics = _Magics(ip)
    ip.register_magic_function(magics.cl_kernel, "cell", "cl_kernel")
    ip.register_magic_function(magics.cl_kernel_from_file, "line", "cl_kernel_from_file")
    ip.register_magic_function(magics.cl_load_edit_kernel, "line", "cl_load_edit_kernel")
