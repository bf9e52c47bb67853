"""How many instructions a launch takes on the thread that enqueues: pygpu and C, under valgrind.

python benchmarks/launch_count.py [--platform P] [--device D] [--args 4]

Times of a launch on a CPU device depend on what else runs: the driver's own threads want the
cores too. Instructions do not. Each program runs twice under callgrind, with few and with many
launches of the kernel of launch.cl; the difference is what a launch takes, the driver's part in it
and what the interpreter needs for the call. Waiting is counted as well, so scatter remains.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import launch

import common

ROUND = 500  # launches
FEW, MANY = 4, 24  # rounds


def question(n_args: int, rounds: int) -> str:
    return f"{n_args} 1 {ROUND}\n" * rounds


def child(word: str, n_args: int) -> None:
    """pygpu's side: a round of launches for each line of stdin."""
    name, platform, rank = word.split("\t")[1], word.split("\t")[0], word.split("\t")[2]
    device = common.Device(platform, name, int(rank))
    library = launch.Library(common.find_library("pygpu"), device, null=False)
    case = library.case(n_args, launch.CASES[launch.OURS], changing=False, launches=ROUND)
    for _ in sys.stdin:
        case()


def instructions(command: list[str], asked: str) -> int:
    """Of the first thread of a program, from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes"]
        valgrind += [f"--callgrind-out-file={folder}/out"]
        done = subprocess.run(
            [*valgrind, *command], input=asked, capture_output=True, text=True, env=dict(os.environ)
        )
        if done.returncode:
            raise SystemExit(done.stderr[-2000:])
        text = Path(folder, "out-01").read_text()
    found = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
    if found is None:
        raise SystemExit("callgrind wrote no sum")
    return int(found[1])


def main() -> None:
    parser = common.arguments(str(__doc__).splitlines()[0], repeats=1)
    parser.add_argument("--args", type=int, choices=launch.COUNTS, default=4)
    parser.add_argument("--child", help="used by the script itself")
    options = parser.parse_args()
    if options.child:
        child(options.child, options.args)
        return
    device = common.choose_device(options)
    program = str(common.compile_c("launch.c"))
    ours = [sys.executable, __file__, f"--child={device.word()}", f"--args={options.args}"]
    commands = {
        "C": [program, common.opencl_library(), device.word(), str(common.HERE / "launch.cl")],
        "pygpu": ours,
    }
    counted = {}
    for name, command in commands.items():
        few, many = (instructions(command, question(options.args, n)) for n in (FEW, MANY))
        counted[name] = (many - few) / ((MANY - FEW) * ROUND)
    rows = [[name, f"{n:.0f}", f"{n / counted['C']:.2f}"] for name, n in counted.items()]
    print(common.machine(device))
    header = ["", "instructions a launch", "over C"]
    common.table(f"The enqueuing thread, {options.args} arguments", header, rows)


if __name__ == "__main__":
    sys.exit(main())
