"""python benchmarks [--write] [OPTIONS]: all benchmarks, one after another.

OPTIONS go to each of them (--quick, --repeats=R, --platform=P, --device=D); --only=NAME,NAME, with
names of files, leaves the others out. --write puts what they
print into README.md, between the lines <!-- NAME --> and <!-- end of NAME -->.
"""

from __future__ import annotations

import subprocess
import sys

import common

NAMES = (
    "launch",
    "transfer",
    "build",
    "arrays",
    "import",
    "cuda_launch",
    "cuda_memory",
    "cuda_compile",
    "simulator",
)
WITHOUT_OPENCL = NAMES[4:]  # which know nothing of its platforms and devices


def written(text: str, name: str, output: str) -> str:
    """The README with the section of this benchmark replaced."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{output}{end}{after}"


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--write"]
    only = [word for word in words if word.startswith("--only=")]
    words = [word for word in words if word not in only]
    chosen = ",".join(word.removeprefix("--only=") for word in only).split(",") if only else NAMES
    if unknown := set(chosen) - set(NAMES):
        raise SystemExit(f"{', '.join(sorted(unknown))}: none of {', '.join(NAMES)}")
    if "--help" in words or "-h" in words:
        print(__doc__)
        return
    readme = common.HERE / "README.md"
    for name in chosen:
        options = [
            word
            for word in words
            if name not in WITHOUT_OPENCL or not word.startswith(("--device", "--platform"))
        ]
        command = [sys.executable, str(common.HERE / f"{name}.py"), *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        print(done.stdout, flush=True)
        if done.returncode:
            raise SystemExit(f"{name}: exit status {done.returncode}")
        if "--write" in sys.argv:
            readme.write_text(written(readme.read_text(), name, done.stdout))


if __name__ == "__main__":
    main()
