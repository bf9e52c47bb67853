"""`python -m pygpu.cuda.debug script.py arguments`: a script whose kernels have debug information.

For cuda-gdb, compute-sanitizer or, with the CPU simulator, gdb; nothing is taken from the cache.
"""

from __future__ import annotations

import os
import runpy
import sys

from .driver import set_debugging


def main() -> None:
    """Run the script named by the command line."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print("usage: python -m pygpu.cuda.debug SCRIPT [ARGUMENTS]")
        sys.exit(2)
    script = sys.argv[1]
    if not os.path.exists(script):
        print(f"Error: {script} does not exist")
        sys.exit(1)
    set_debugging()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
