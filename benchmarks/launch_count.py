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


def question(n_args: int, how: str, rounds: int) -> str:
    return f"{n_args} {launch.SETS if how == 'changing' else 1} {ROUND}\n" * rounds


def child(word: str, n_args: int, how: str) -> None:
    """pygpu's side: a round of launches for each line of stdin."""
    platform, name, rank = word.split("\t")
    device = common.Device(platform, name, int(rank))
    library = launch.Library(common.find_library("pygpu"), device, null=False)
    case = library.case(n_args, launch.CASES[launch.OURS], how == "changing", ROUND)
    for _ in sys.stdin:
        case()


def seen_by_valgrind(device: common.Device) -> common.Device:
    """The same device by the name that it has under valgrind, whose CPU is another one: PoCL's
    devices are named after the CPU."""
    place = common.list_devices().index(device)
    return common.list_devices(["valgrind", "--tool=none", "--quiet"])[place]


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
    parser.add_argument("--how", choices=launch.HOWS, default="constant", help="of the child")
    parser.add_argument("--child", help="used by the script itself")
    options = parser.parse_args()
    if options.child:
        child(options.child, options.args, options.how)
        return
    chosen = common.choose_device(options)
    device = seen_by_valgrind(chosen)
    program = str(common.compile_c("launch.c"))
    ours = [sys.executable, __file__, f"--child={device.word()}", f"--args={options.args}"]
    commands = {
        "C": [program, common.opencl_library(), device.word(), str(common.HERE / "launch.cl")],
        "pygpu": ours,
    }
    rows = []
    for how in launch.HOWS:
        counted = []
        for name, command in commands.items():
            words = [*command, f"--how={how}"] if name == "pygpu" else command
            few, many = (instructions(words, question(options.args, how, n)) for n in (FEW, MANY))
            counted.append((many - few) / ((MANY - FEW) * ROUND))
        rows.append([how, *(f"{n:.0f}" for n in counted), f"{counted[1] / counted[0]:.2f}"])
    print(common.machine(chosen))
    header = ["instructions a launch", *commands, "pygpu / C"]
    common.table(f"The enqueuing thread, {options.args} arguments", header, rows)


if __name__ == "__main__":
    sys.exit(main())
