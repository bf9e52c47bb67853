"""Ways in which a file or folder breaks the caches' rule, see pygpu/_src/util/private_files.py."""

import os

import pytest

OTHER = 65534  # another user
AS_ROOT = os.name == "posix" and os.geteuid() == 0
needs_root = pytest.mark.skipif(not AS_ROOT, reason="only root can give files away")


def give_away(path):
    os.chown(path, OTHER, OTHER, follow_symlinks=False)


def replace_by_link(path):
    moved = path.with_name("moved")
    path.rename(moved)
    path.symlink_to(moved)


def replace_by_endless_file(path):
    path.unlink()
    path.symlink_to("/dev/zero")


def replace_by_pipe(path):
    path.unlink()
    os.mkfifo(path)


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


FILES = {
    "of another owner": pytest.param(give_away, marks=needs_root),
    "writable by the group": lambda path: path.chmod(0o620),
    "writable by all": lambda path: path.chmod(0o602),
    "a link": replace_by_link,
    "a link to an endless file": replace_by_endless_file,
    "a pipe": replace_by_pipe,
    "a folder": replace_by_folder,
}
FOLDERS = {
    "folder of another owner": pytest.param(give_away, marks=needs_root),
    "folder writable by the group": lambda path: path.chmod(0o770),
    "folder writable by all": lambda path: path.chmod(0o1707),
    "folder that is a link": replace_by_link,
}


def parameters(rows):
    return [
        pytest.param(*row.values, id=name, marks=row.marks)
        if hasattr(row, "values")
        else pytest.param(row, id=name)
        for name, row in rows.items()
    ]


breaks_file = pytest.mark.parametrize("break_rule", parameters(FILES))
breaks_folder = pytest.mark.parametrize("break_rule", parameters(FOLDERS))
