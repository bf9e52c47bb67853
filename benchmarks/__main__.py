"""python benchmarks [--write] [OPTIONS]: all benchmarks, one after another.

OPTIONS go to each of them (--quick, --repeats R, --platform=P, --device=D). --write puts what they
print into README.md, between the lines <!-- NAME --> and <!-- end of NAME -->.
"""

from __future__ import annotations

import subprocess
import sys

import common

NAMES = ("launch", "transfer", "build", "import")


def written(text: str, name: str, output: str) -> str:
    """The README with the section of this benchmark replaced."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{output}{end}{after}"


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--write"]
    if "--help" in words or "-h" in words:
        print(__doc__)
        return
    readme = common.HERE / "README.md"
    for name in NAMES:
        # Importing has nothing to do with devices.
        options = [
            word
            for word in words
            if name != "import" or not word.startswith(("--device", "--platform"))
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
