"""Run misuse cases in subprocesses with time limits, and say what became of each.

Cases that need a process of their own get one. The others of a file share one process; when it
crashes, hangs or ends badly, the culprit is known from the last line it wrote, and the rest goes
on in a new process. As a program: supervisor.py [PATTERN ...] prints how long each process took,
and a table of all cases that did not end as wanted.
"""

from __future__ import annotations

import collections
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness import CASE_FILES, CASES, CUDA_FILES, PEER, load_cases

HERE = Path(__file__).parent
START_LIMIT = 60.0
DRIVER_NOISE = re.compile(
    r"^(\d+ (error|warning)s?( and \d+ (error|warning)s?)? generated\."
    r"|==\d+==WARNING: AddressSanitizer failed to allocate .*)\n",
    re.MULTILINE,
)
"""What PoCL's compiler prints, whoever calls it, and AddressSanitizer when a huge size is
refused."""
JOBS = int(os.environ.get("PYGPU_TEST_JOBS", "2"))
PART_LIMIT = 600.0 if JOBS > 4 else float("inf")
"""Seconds that the limits of the cases of one process may sum up to. With few processes at a time
a new one costs more than it saves."""


@dataclass
class Outcome:
    """kind "ok" or what went wrong: CRASH, HANG, EXIT, STDERR, or a kind of harness.Missed."""

    kind: str
    text: str


def environment(names: list[str]) -> dict[str, str]:
    """The worker's environment: ours, with the pygpu that we import, the modules beside this one
    and a faulthandler; with a pattern in freed memory for cases that would read it."""
    env = dict(os.environ)
    package = sys.modules["pygpu"].__file__ or ""
    paths = [str(Path(package).parent.parent)] if not PEER else []
    paths += [str(HERE), env.get("PYTHONPATH", "")]
    env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    env["PYTHONFAULTHANDLER"] = "1"
    if any("reentry:" in name for name in names):
        env["PYTHONMALLOC"] = "debug"
    env["PYOPENCL_COMPILER_OUTPUT"] = "0"
    return env


def how_it_ended(returncode: int) -> str:
    """The words for an exit status."""
    if returncode < 0:
        return signal.Signals(-returncode).name
    return f"exit status {returncode}"


def batch(names: list[str], outcomes: dict[str, Outcome], exit_limit: float = 60.0) -> list[str]:
    """Run *names* in one process until it ends; fill *outcomes*; return the names that were not
    reached."""
    with tempfile.TemporaryDirectory(prefix="pygpu-misuse-") as folder:
        results = Path(folder, "results")
        errors = Path(folder, "stderr")
        results.touch()
        with errors.open("wb") as stream:
            process = subprocess.Popen(
                [sys.executable, str(HERE / "worker.py"), str(results), *names],
                env=environment(names), cwd=folder, stdin=subprocess.DEVNULL,
                stdout=stream, stderr=stream, start_new_session=True,
            )  # fmt: skip
        current, step, pending = "", "start", ""
        done: set[str] = set()
        clock = time.monotonic()
        with results.open() as reader:
            while True:
                ended = process.poll() is not None
                for line in reader:
                    pending += line
                    if not pending.endswith("\n"):
                        continue
                    row, pending = json.loads(pending), ""
                    step, clock = row["step"], time.monotonic()
                    if step == "begin":
                        current = row["case"]
                    elif step == "end":
                        done.add(row["case"])
                        outcomes[row["case"]] = Outcome(row["kind"], row["text"])
                if ended:
                    break
                limit = CASES[current].limit if step == "begin" else exit_limit
                if time.monotonic() - clock > (START_LIMIT if step == "start" else limit):
                    break
                time.sleep(0.01)
        hung = process.poll() is None
        if hung:
            # The worker leads its own group: forked children that hang with it are ended too.
            process.send_signal(signal.SIGABRT)
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        noise = errors.read_text(errors="replace")
        blame(names, outcomes, done, current, step, hung, process.returncode, noise)
        return [n for n in names if n not in outcomes]


def blame(
    names: list[str], outcomes: dict[str, Outcome], done: set[str], current: str, step: str,
    hung: bool, returncode: int, noise: str,
) -> None:  # fmt: skip
    """Give the end of a process, and what it wrote, to the case it belongs to."""
    said = dict.fromkeys(names, "")
    for part in re.split(r"^@@", noise, flags=re.MULTILINE)[1:]:
        name, _, text = part.partition("\n")
        said[name] = DRIVER_NOISE.sub("", text)
    if step == "start":
        kind = "HANG" if hung else "CRASH"
        for name in names:
            outcomes[name] = Outcome(kind, "before the first case: " + noise[-1500:])
        return
    alone = len(names) == 1
    wanted = CASES[current].rc
    if step == "begin":
        text = "" if hung else how_it_ended(returncode) + "\n"
        outcomes[current] = Outcome("HANG" if hung else "CRASH", text + said[current][-1500:])
        if not hung and returncode == wanted != 0 and alone:
            outcomes[current] = Outcome("ok", "")
    elif hung or returncode != (wanted if alone else 0):
        text = "at exit: " + ("no end" if hung else how_it_ended(returncode))
        if outcomes[current].kind == "ok" or not alone:
            for name in names:
                if name in done and outcomes[name].kind == "ok":
                    outcomes[name] = Outcome("EXIT", text + "\n" + said[current][-1500:])
    for name in done:
        case = CASES[name]
        if outcomes[name].kind == "ok" and not re.fullmatch(case.stderr, said[name], re.DOTALL):
            outcomes[name] = Outcome("STDERR", said[name][-800:])


def run_group(names: list[str]) -> dict[str, Outcome]:
    """Run cases in as few processes as they allow; a shared process that ended badly is told
    apart by repeats."""
    outcomes: dict[str, Outcome] = {}
    if len(names) == 1:
        batch(names, outcomes, CASES[names[0]].limit)
        return outcomes
    rest = names
    while rest:
        rest = batch(rest, outcomes)
    for name in [n for n in names if outcomes[n].kind in ("CRASH", "HANG", "EXIT")]:
        again: dict[str, Outcome] = {}
        batch([name], again, CASES[name].limit)
        if again[name].kind != "ok":
            outcomes[name] = again[name]
        elif outcomes[name].kind != "EXIT":
            outcomes[name].text = f"(alone it passes) {outcomes[name].text}"
        elif all(outcomes[n].kind == "EXIT" for n in names[:1]):
            outcomes[name].text = f"(in company only) {outcomes[name].text}"
    return outcomes


def seconds_allowed(names: list[str]) -> float:
    """What the limits of *names* sum up to."""
    return sum(CASES[name].limit for name in names)


def in_groups(names: list[str]) -> list[list[str]]:
    """What shares a process, the longest first. Cases that may take long are not many to one."""
    groups: dict[str, list[list[str]]] = collections.defaultdict(list)
    for name in names:
        parts = groups[name if CASES[name].alone else CASES[name].group]
        if not parts or seconds_allowed([*parts[-1], name]) > PART_LIMIT:
            parts.append([])
        parts[-1].append(name)
    found = [part for parts in groups.values() for part in parts]
    return sorted(found, key=seconds_allowed, reverse=True)


def run_cases(names: list[str], progress: bool = False) -> dict[str, Outcome]:
    """Run *names* on JOBS processes at a time; *progress*: say what is done."""

    def run(part: list[str]) -> dict[str, Outcome]:
        start = time.monotonic()
        done = run_group(part)
        if progress:
            spent = time.monotonic() - start
            print(f"{spent:6.1f} s  {part[0]}" + f" and {len(part) - 1} more" * (len(part) > 1))
        return done

    outcomes: dict[str, Outcome] = {}
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for done in pool.map(run, in_groups(names)):
            outcomes.update(done)
    return outcomes


class Outcomes:
    """What became of *names*, all run when the first is asked for; of a run by several processes
    (xdist) each runs what shares a process with a case that it tests."""

    def __init__(self, names: list[str]) -> None:
        self.parts = in_groups(names) if "PYTEST_XDIST_WORKER" in os.environ else [names]
        self.done: dict[str, Outcome] = {}

    def __getitem__(self, name: str) -> Outcome:
        if name not in self.done:
            self.done |= run_cases(next(part for part in self.parts if name in part))
        return self.done[name]


def main() -> int:
    patterns = [re.compile(p) for p in sys.argv[1:]] or [re.compile("")]
    load_cases(CASE_FILES + CUDA_FILES)
    names = [n for n in CASES if any(p.search(n) for p in patterns)]
    start = time.monotonic()
    outcomes = run_cases(names, progress=True)
    for name in names:
        if outcomes[name].kind != "ok":
            text = outcomes[name].text.strip().replace("\n", "\n    ")
            print(f"{outcomes[name].kind:9} {name}\n    {text[-1200:]}")
    counts = collections.Counter(o.kind for o in outcomes.values())
    print(f"{len(names)} cases in {time.monotonic() - start:.0f} s:", dict(counts))
    return 0 if set(counts) <= {"ok", "SKIP"} else 1


if __name__ == "__main__":
    sys.exit(main())
