"""Kernel source with placeholders, filled in for each set of types and built once per context.

A :class:`KernelTemplateBase` subclass defines in ``build_inner(context, ...)`` how its kernel is
made; ``build`` adds caching. Its sources may be plain, printf-style (``%(name)s``) or Mako
templates: the class chooses by *template_processor*, and a source that starts with ``//CL:mako//``
(``:printf``, ``:none``) chooses for itself. Mako is needed only if it is used.
"""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.runtime.c_types import NAME_TO_DTYPE, dtype_to_ctype, parse_c_arg_backend
from pygpu._src.util.memoize import FirstArgCache

from .arguments import Argument, DtypedArgument, ScalarArg, VectorArg
from .structs import CDeclList

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pygpu import _opencl as cl

_PROCESSOR_MARK = re.compile(r"//CL(?::(\w+))?//")
_BLOCK_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)


class _PlainText:
    def __init__(self, text: str) -> None:
        self.text = text

    def render(self, variables: Mapping[str, Any]) -> str:
        return self.text


class _PrintfText(_PlainText):
    def render(self, variables: Mapping[str, Any]) -> str:
        return self.text % variables


class _MakoText(_PlainText):
    def __init__(self, text: str) -> None:
        try:
            template = importlib.import_module("mako.template")  # an optional package
        except ImportError as error:
            raise ImportError(
                "this kernel template is written in Mako: pip install mako"
            ) from error
        super().__init__(text)
        self.template = template.Template(text, strict_undefined=True)

    def render(self, variables: Mapping[str, Any]) -> str:
        return str(self.template.render(**variables))


_PROCESSORS: dict[str | None, type[_PlainText]] = {
    None: _PlainText,
    "none": _PlainText,
    "printf": _PrintfText,
    "mako": _MakoText,
}


def _as_macro_body(code: str) -> str:
    """Make *code* valid after a #define: ``//CL//`` and line ends become line continuations."""
    code = code.replace("//CL//", "\n")
    if "//" in code:
        raise RuntimeError(
            "end-of-line comments ('//') may not be used in code snippets, write /* ... */"
        )
    return code.replace("\n", " \\\n")


class _Renderer:
    """One template with its type aliases and variables filled in."""

    def __init__(
        self,
        template: KernelTemplateBase,
        type_aliases: Mapping[str, Any] | Sequence[tuple[str, Any]],
        var_values: Mapping[str, str] | Sequence[tuple[str, str]],
        context: cl.Context | None = None,
        options: Any = None,
    ) -> None:
        self.template = template
        self.type_aliases: dict[str, np.dtype[Any]] = {
            name: np.dtype(dtype) for name, dtype in dict(type_aliases).items()
        }
        self.var_dict: dict[str, str] = {
            name: _as_macro_body(value) if name.startswith("macro_") else value
            for name, value in dict(var_values).items()
        }
        self.context = context
        self.options = options

    def __call__(self, txt: str | None) -> str | None:
        """Return *txt* with the variables filled in; None stays None."""
        return None if txt is None else self.template.get_text_template(txt).render(self.var_dict)

    def get_rendered_kernel(self, txt: str, kernel_name: str) -> cl.Kernel:
        """Build *txt*, rendered, and return its kernel (prefix variable ``kernel_name_prefix`` +
        *kernel_name*).
        """
        if self.context is None:
            raise ValueError(
                "context not provided -- cannot render kernel; pass context= to get_renderer"
            )
        from pygpu import _opencl as cl  # the tools for dtypes must work without the extension

        source = self.template.get_text_template(txt).render(self.var_dict)
        program = cl.Program(self.context, source).build(self.options)
        name = self.var_dict.get("kernel_name_prefix", "") + kernel_name
        kernel: cl.Kernel = getattr(program, name)
        return kernel

    def parse_type(self, typename: DTypeLike) -> np.dtype[Any]:
        """Return the dtype of a type alias, a C type name, or anything that ``numpy.dtype``
        accepts."""
        if not isinstance(typename, str):
            return np.dtype(typename)
        alias = self.type_aliases.get(typename)
        return NAME_TO_DTYPE[typename] if alias is None else alias

    def render_argument_list(self, *arg_lists: Any, with_offset: bool = False) -> list[Argument]:
        """Parse argument lists: template texts, or sequences of declarations, Arguments and
        (type, name) pairs.
        """
        pieces: list[Any] = []
        for arg_list in arg_lists:
            if isinstance(arg_list, str):
                pieces.extend(_BLOCK_COMMENT.sub(" ", self(arg_list) or "").split(","))
            else:
                pieces.extend(arg_list)
        return [
            self._argument(piece, with_offset)
            for piece in pieces
            if piece.__class__ is not str or piece.strip()
        ]

    def _argument(self, piece: Any, with_offset: bool) -> Argument:
        if isinstance(piece, Argument):
            return piece
        if isinstance(piece, tuple):
            return ScalarArg(self.parse_type(piece[0]), piece[1])
        if isinstance(piece, str):
            make_vector: Callable[[Any, str], DtypedArgument] = lambda dtype, name: VectorArg(  # noqa: E731
                dtype, name, with_offset
            )
            return parse_c_arg_backend(piece, ScalarArg, make_vector, self.parse_type)
        raise TypeError(f"unexpected argument type: {type(piece)}")

    def get_type_decl_preamble(
        self,
        device: cl.Device,
        decl_type_names: Sequence[DTypeLike],
        arguments: Sequence[Argument] | None = None,
    ) -> str:
        """Return declarations of the named types, of the aliases' types, and typedefs for the
        aliases."""
        needed = CDeclList(device)
        for typename in decl_type_names:
            needed.add_dtype(self.parse_type(typename))
        needed.visit_arguments(arguments or ())
        aliases = sorted(self.type_aliases.items())
        for _, dtype in aliases:
            needed.add_dtype(dtype)
        typedefs = "\n".join(f"typedef {dtype_to_ctype(dtype)} {name};" for name, dtype in aliases)
        return f"{needed.get_declarations()}\n{typedefs}"


class KernelTemplateBase(ABC):
    """Base of kernel templates; a subclass writes ``build_inner``.

    template_processor: "none", "printf" or "mako", for templates that do not choose one themselves.
    """

    def __init__(self, template_processor: str | None = None) -> None:
        self.template_processor = template_processor
        self.build_cache: FirstArgCache = FirstArgCache()
        self._texts: dict[str, _PlainText] = {}

    def get_preamble(self) -> str:
        """Return the source before every kernel of this template; a subclass may override it."""
        return ""

    def get_text_template(self, txt: str) -> _PlainText:
        """Return *txt* as an object with ``render(variables) -> str``. Raises RuntimeError for an
        unknown processor.
        """
        template = self._texts.get(txt)
        if template is None:
            mark = _PROCESSOR_MARK.match(txt)
            processor = (mark and mark[1]) or self.template_processor
            if processor not in _PROCESSORS:
                raise RuntimeError(
                    f"unknown template processor '{processor}'; it must be none, printf or mako"
                )
            template = _PROCESSORS[processor](txt[mark.end() :] if mark else txt)
            self._texts[txt] = template
        return template

    def get_renderer(
        self,
        type_aliases: Mapping[str, Any] | Sequence[tuple[str, Any]],
        var_values: Mapping[str, str] | Sequence[tuple[str, str]],
        context: cl.Context | None = None,
        options: Any = None,
    ) -> _Renderer:
        """A callable that inserts *var_values* into templates and resolves types with
        *type_aliases*."""
        return _Renderer(self, type_aliases, var_values, context, options)

    @abstractmethod
    def build_inner(self, context: cl.Context, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Build the kernel for these arguments; called once for each set of arguments and
        context."""

    def build(self, context: cl.Context, *args: Any, **kwargs: Any) -> Any:
        """Return the result of ``build_inner`` for these (hashable) arguments, built at the first
        call."""
        key = (args, tuple(sorted(kwargs.items())))
        return self.build_cache.get(
            context, key, lambda: self.build_inner(context, *args, **kwargs)
        )


def _process_code_for_macro(code: str) -> str:
    """Return a snippet as the body of a #define, for programs that make their own kernels by
    templates."""
    if "//" in code:
        raise RuntimeError("a // comment would hide the rest of the macro: write /* */")
    return code.replace("\n", " \\\n")
