"""Writes docs/reference/index.md from the built package: python tools/reference.py [--check]

Every public name with its types and its text, from the docstrings. --check writes nothing and exits
with 1 if the page is not what it should be.
"""

import inspect
import re
import sys
from pathlib import Path
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

sys.path.append(str(Path(__file__).parent.parent))  # after an installed or instrumented build

import pygpu
from pygpu import _opencl, constants

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "index.md"
HEAD = """\
# Reference

Every public name of `pygpu`, with its types and what it does. `tools/reference.py` writes this page
from the docstrings, which `help()` shows as well. The pages listed in [index](../index.md) explain
what each is for, with examples and limits.

Sizes and offsets are in bytes unless stated otherwise.
"""


def main() -> int:
    parts = [HEAD, "## Classes\n"]
    names = sorted({name for name in pygpu.__all__ if not is_constants(getattr(pygpu, name))})
    values = {name: getattr(pygpu, name) for name in names}
    pools = {name: getattr(pygpu.tools, name) for name in pygpu.tools.__all__}
    for name, item in values.items():
        if inspect.isclass(item):
            parts.append(class_text(name, item))
    parts.append("## Classes of `pygpu.tools`\n")
    for name, item in sorted(pools.items()):
        if inspect.isclass(item) and getattr(_opencl, name, None) is item:
            parts.append(class_text(name, item))
    parts.append("## Functions\n")
    for name, item in values.items():
        if inspect.isroutine(item):
            parts.append(f"### {name}\n\n{function_text(name, item)}")
    parts.append("## Values\n")
    for name, item in values.items():
        if not inspect.isclass(item) and not inspect.isroutine(item):
            parts.append(f"- `{name}: {type(item).__name__}`")
    parts.append("\n## Constants\n")
    for name in constants.__all__:
        if name != "Constants":
            parts.append(constants_text(name, getattr(constants, name)))
    text = "\n".join(parts)
    if PAGE.exists() and PAGE.read_text("utf-8") == text:
        return 0
    if "--check" in sys.argv[1:]:
        print(
            "docs/reference/index.md is not that of the built package. Run: make stubs",
            file=sys.stderr,
        )
        return 1
    PAGE.write_text(text, "utf-8")
    print("wrote docs/reference/index.md")
    return 0


def is_constants(item: Any) -> bool:
    return inspect.isclass(item) and issubclass(item, constants.Constants)


def types_and_text(item: Any) -> tuple[str, str]:
    """What a docstring begins with, or the signature of Python code, and the rest."""
    doc = inspect.cleandoc(item.__doc__ or "")
    types, _, text = doc.partition("\n\n")
    if types.startswith("("):
        return types, text
    if inspect.isfunction(item):
        return str(inspect.signature(item)).replace("'", ""), doc
    return "", doc


def class_text(name: str, cls: type) -> str:
    types, text = types_and_text(cls)
    bases = [base.__name__ for base in cls.__bases__ if base.__name__ not in ("object", "_Object")]
    lines = [f"### {name}", ""]
    if types:
        lines += [code(name, types), ""]
    if bases:
        lines += [f"Derived from {', '.join(bases)}.", ""]
    lines += [plain(text), ""]
    members = []
    for key, member in sorted(vars(cls).items()):
        if key.startswith("_"):
            continue
        if isinstance(member, GetSetDescriptorType | MemberDescriptorType | property):
            kind, _, text = (member.__doc__ or "").partition(": ")
            members.append(
                f"- `{key}: {kind}`  \n  {plain(text)}" if text else f"- `{key}`: {kind}"
            )
        elif callable(member) or isinstance(member, classmethod | staticmethod):
            function = getattr(member, "__func__", member)
            types, text = types_and_text(function)
            if types or text:
                members.append(f"- `{key}{types}`  \n  {plain(text)}".replace("\n\n", "\n\n  "))
    return "\n".join(lines + members).rstrip() + "\n"


def function_text(name: str, item: Any) -> str:
    types, text = types_and_text(item)
    return f"{code(name, types)}\n\n{plain(text)}\n"


def constants_text(name: str, cls: Any) -> str:
    members = ", ".join(f"`{key}`" for key in cls._members())
    return f"### {name}\n\n{plain(cls.__doc__ or '')}\n\n{members or 'No members.'}\n"


def code(name: str, types: str) -> str:
    return f"```\n{name}{types}\n```"


def plain(text: str) -> str:
    """Docstrings mark arguments as *name* and code as ``name``."""
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    text = re.sub(r":(?:func|mod|class):`([^`]+)`", r"`\1`", text)
    return re.sub(r"(?<!`)\b(CL_\w+)\b(?!`)", r"`\1`", text).strip()


if __name__ == "__main__":
    sys.exit(main())
