"""Run the named cases one after another in this process: worker.py RESULTS CASE [CASE ...]

Each step is a JSON line appended to RESULTS, so that the supervisor knows which case a crash or
hang belongs to.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
import traceback
import warnings
from typing import Any, TextIO

from harness import CASE_FILES, CASES, CUDA_FILES, MISSES, Missed, cl, is_cuda, load_cases


def report(stream: TextIO, **row: Any) -> None:
    """Append one row and push it out at once: the next instruction may be the last."""
    stream.write(json.dumps(row) + "\n")
    stream.flush()


def handles() -> dict[str, int]:
    """Live driver handles by kind, zero ones left out; empty where the build has no counters."""
    counts = getattr(cl, "_cuda" if is_cuda(sys.argv[2]) else "_opencl", None)
    counts = getattr(counts, "_handle_counts", None)
    return {k: v for k, v in counts().items() if v} if counts else {}


def settled(before: dict[str, int]) -> dict[str, int]:
    """Collect until the handles are back to *before*, at most 30 seconds (completions come from
    other threads)."""
    deadline = time.monotonic() + 30
    while True:
        gc.collect()
        after = handles()
        if after == before or time.monotonic() > deadline:
            return after
        time.sleep(0.01)


def run(env: Any, name: str) -> tuple[str, str]:
    """Run one case with all checks around it; return the outcome and the explanation."""
    case = CASES[name]
    gc.collect()
    before = handles()
    MISSES.clear()
    try:
        case.function(env)
        if MISSES:
            first = next((m for m in MISSES if m.kind != "MESSAGE"), MISSES[0])
            raise Missed(first.kind, "\n".join(dict.fromkeys(str(m) for m in MISSES))[:3000])
        if not case.alone:
            env.healthy()
    except Missed as missed:
        outcome = missed.kind, str(missed)
    except BaseException as error:
        text = "".join(traceback.format_exception(error)[-2:])
        outcome = "REFUSED", text[-800:]
    else:
        outcome = "ok", ""
    env.forget()
    if outcome[0] == "ok" and not case.leaves and not case.alone:
        after = settled(before)
        if after != before:
            return "LEAK", f"handles before {before}, after {after}"
    return outcome


def main() -> None:
    warnings.simplefilter("ignore")  # what pygpu warns of is not what these cases are about
    with open(sys.argv[1], "a") as results:
        cuda = is_cuda(sys.argv[2])
        load_cases(CUDA_FILES if cuda else CASE_FILES)
        report(results, step="start")
        env = importlib.import_module("cuda_env" if cuda else "harness").Env()
        gc.collect()
        gc.freeze()  # the collections around each case need not look at all modules again
        for name in sys.argv[2:]:
            report(results, step="begin", case=name)
            print(f"@@{name}", file=sys.stderr, flush=True)
            kind, text = run(env, name)
            report(results, step="end", case=name, kind=kind, text=text)
        report(results, step="exit")


if __name__ == "__main__":
    main()
