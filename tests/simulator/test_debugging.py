"""The guide to debugging: its examples print what it says that they print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "simulator"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def lines(text):
    """Without what differs from run to run: addresses, and by how much an address is off one."""
    return re.sub(r"0x[0-9a-f]{9,}|(?<=address )0x[0-9a-f]+", "ADDRESS", text).splitlines()


@pytest.mark.parametrize("page", ["debugging", "check"])
def test_messages_are_those_of_the_page(page):
    blocks = BLOCK.findall((DOCS / f"{page}.md").read_text())
    program = "\n".join(text for kind, text in blocks if kind == "python")
    said = "".join(text for kind, text in blocks if kind == "text")
    environment = {key: value for key, value in os.environ.items() if "PYGPU_SIM_" not in key}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-P", "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert result.returncode == 0, result.stderr
    assert len(lines(said)) >= 8
    assert lines(result.stdout) == lines(said)
