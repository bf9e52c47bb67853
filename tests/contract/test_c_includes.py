"""Which C folder may include which: arrows of #include go down, between folders and their rooms."""

import re
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
FILES = sorted(path for path in SRC.rglob("*") if path.suffix in (".c", ".h", ".def", ".fn"))

pytestmark = pytest.mark.skipif(not FILES, reason="no C sources beside the tests")

# What a folder may include besides its own files. The simulator is a library without Python: of
# CUDA it takes the lists of the driver's functions and codes, and its ABI from the headers that
# kernels are compiled with.
MAY_INCLUDE = {
    "common": set(),
    "array": {"common"},
    "opencl": {"common"},
    "cuda": {"common"},
    "simulator": {"cuda/api", "../pygpu/cuda/simulator/include"},
}

# The rooms of a folder, from the bottom. Files beside the rooms are the module, which may include
# every room, and headers of the nouns that the rooms below their own files need to know.
ROOMS = {
    "opencl": ["api", "lifetime", "objects", "commands"],
    "cuda": ["api", "lifetime", "objects", "commands"],
    "simulator": ["image", "compiler", "device", "exec", "driver"],
}


def folder(name: str) -> str:
    return name.rpartition("/")[0]


def includes() -> set[tuple[str, str]]:
    """(file, what it includes), both as paths from src, without those of the system."""
    pattern = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
    return {
        (path.relative_to(SRC).as_posix(), target)
        for path in FILES
        for target in pattern.findall(path.read_text("utf-8"))
    }


def forbidden(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those that leave their folder for one that it may not include."""
    found = set()
    for source, target in pairs:
        top = source.partition("/")[0]
        allowed = {top, *MAY_INCLUDE[top]}
        if not any(f"{folder(target)}/".startswith(f"{name}/") for name in allowed):
            found.add((source, target))
    return found


def upward(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """(room, header) of the arrows that go to a room above."""
    found = set()
    for source, target in pairs:
        top = source.partition("/")[0]
        order = {f"{top}/{room}": at for at, room in enumerate(ROOMS.get(top, []))}
        above, own = order.get(folder(target)), order.get(folder(source))
        if own is not None and above is not None and above > own:
            found.add((folder(source), target))
    return found


def test_the_rules_find_what_they_look_for():
    bad = ("common/args.c", "opencl/opencl.h")
    assert forbidden({bad, ("opencl/init.c", "opencl/opencl.h")}) == {bad}
    assert forbidden({("simulator/driver/error.c", "common/pg.h")})
    assert not forbidden({("simulator/driver/error.c", "cuda/api/status.def")})
    assert forbidden({("simulator/driver/error.c", "cuda/cuda.h")})
    down = ("opencl/commands/map.c", "opencl/lifetime/gates.h")
    up = ("opencl/lifetime/gates.c", "opencl/commands/map.h")
    assert upward({up, down, ("opencl/init.c", "opencl/commands/map.h")}) == {
        ("opencl/lifetime", "opencl/commands/map.h")
    }


def test_every_folder_and_room_has_its_place():
    assert len(FILES) > 200
    assert len(includes()) > 300
    assert {path.name for path in SRC.iterdir() if path.is_dir()} == set(MAY_INCLUDE)
    for top in MAY_INCLUDE:
        rooms = {path.name for path in (SRC / top).iterdir() if path.is_dir()}
        assert rooms == set(ROOMS.get(top, []))


def test_files_are_included_by_their_path_from_src():
    """Else the arrow would not be seen."""
    assert {
        (source, target) for source, target in includes() if not (SRC / target).exists()
    } == set()


def test_folders_include_only_what_lies_below():
    assert forbidden(includes()) == set()


def test_rooms_include_only_what_lies_below():
    assert upward(includes()) == set()
