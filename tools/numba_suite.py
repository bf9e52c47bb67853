"""Runs numba-cuda's own test suite, or Numba's of ufuncs, with pygpu in Numba's place, and counts.

    git clone https://github.com/NVIDIA/numba-cuda CHECKOUT   (or https://github.com/numba/numba)
    PYGPU_CUDA=simulator python tools/numba_suite.py CHECKOUT --result result.json
    python tools/numba_suite.py CHECKOUT --only test_atomics --verbose

Each test file is a process of its own with a time limit. `numba` and `numba.cuda` are answered by
pygpu.compat, the suite's support modules by tools/numba_suite_support.py. Tests of what users do
not see (compiler passes, PTX and LLVM text, driver objects, the extension interface) are left out:
LEFT_OUT and INTERNAL name them with the reason. The result file has each test's outcome and the
last line of its traceback.

docs/guide/numba_tests.md names the tests that fail, with the reason. The exit status is 1 if
another one fails, or if one of them passes.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Where a checkout has tests, the package that they are in, and its folders.
SUITES = (
    (Path("numba_cuda", "numba", "cuda", "tests"), "numba.cuda.tests",
     ("cudapy", "cudadrv", "doc_examples")),
    (Path("numba", "tests"), "numba.tests", ("npyufunc",)),
)  # fmt: skip
NAMED = ROOT / "docs" / "guide" / "numba_tests.md"
OUTCOMES = ("passed", "failed", "skipped", "crashed")

# Files, and tests as file::Class.test: patterns of fnmatch, and why nobody's program needs them.
LEFT_OUT = {
    "compiler passes and intermediate code": (
        "test_analysis test_byteflow test_copy_propagate test_ir test_ir_utils test_ssa "
        "test_make_function_to_jit_function test_typeconv test_typeinfer test_tracing "
        "test_function_resolution test_flow_control test_optimization test_inline "
        "test_array_alignment test_nondet"
    ),
    "the extension interface": "test_extending test_extending_types test_overload",
    "PTX, LLVM and debugging information": (
        "test_debuginfo test_debuginfo_types test_lineinfo test_const_string test_fastmath "
        "test_inspect test_compiler test_cache_hints::*ptx* test_inline_ptx test_libdevice "
        "test_alignment::*ptx* test_minmax test_atomics::*_add_double test_atomics::*_add_double_* "
        "test_debug"
    ),
    "driver objects": (
        "test_cuda_driver test_linker test_nvjitlink test_nvrtc test_nvvm_driver test_init "
        "test_module_callbacks test_emm_plugins test_deallocations test_linkable_code "
        "test_runtime test_cuda_memory test_is_fp16 test_managed_alloc "
        "test_context_stack::Test3rd* test_context_stack::TestContextLeak* "
        "test_host_alloc::*driver "
        "test_dispatcher::TestLaunchBounds*launch_bounds_[stw]*"
    ),
    "bindings generated from NVIDIA's headers": ("test_bfloat16_bindings test_fp8_bindings"),
    "interoperation with base Numba's own compiler": "test_numba_interop",
    "launch configuration inside the compiler": "test_launch_config_sensitive",
    "serialization of compiler objects": "test_serialize",
    "files of Numba's own cache": "test_caching",
    "host arrays described without a device": "test_dummyarray",
    "threads of the host": "test_parallel_env_variable",
    "the compiler's own objects": (
        "test_dufunc::TestDUFunc.test_frozen test_dufunc::TestDUFuncPickling.* "
        "test_ufuncbuilding::*JitDisabled.*"
    ),
}

# What a test's text names if it looks at something that is not an interface for users.
INTERNAL = {
    r"\binspect_(asm|llvm|sass)\b|assertFileCheck|inspect_types|get_cufunc|\bcompile_ptx": "PTX",
    r"\bcuda\.compile(_for_current_device|_all)?\(|compile_ir|\bnvvm\b": "PTX",
    r"\b_Linker\b|\bnvrtc\b|\blibs\b|NvrtcError": "driver objects",
    r"cuda_target|typingctx|targetctx|lower_attr|run_frontend": "compiler internals",
    r"_compile_for_args|_type_annotation|check_dtype\(|_codelibrary": "the compiler's own objects",
    r"rtsys|NRT|nrt\b": "Numba's own reference counting",
    r"@overload|@intrinsic|register_model|typeof_impl": "the extension interface",
    r"forceobj": "functions that run as Python on the host",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="folder of a clone of numba-cuda or numba")
    parser.add_argument("--only", default="*", help="files to run, as a pattern: test_atomic*")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each file")
    parser.add_argument("--result", type=Path, help="write outcomes to this file, as JSON")
    parser.add_argument("--jobs", type=int, default=1, help="how many files run at a time")
    parser.add_argument("--verbose", action="store_true", help="print each failed test")
    parser.add_argument("--child", nargs=2, metavar=("MODULE", "FILE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    suites = [s for s in SUITES if (given.checkout / s[0] / s[2][0]).is_dir()]
    if not suites:
        parser.error(f"{given.checkout} has no folder {SUITES[0][0]} or {SUITES[1][0]}")
    where, given.package, folders = suites[0]
    tests = given.checkout.resolve() / where
    if given.child:
        run_file(tests, given.package, given.child[0], Path(given.child[1]))
        return 0
    found: dict[str, Any] = {}
    files = sorted(f for d in folders for f in (tests / d).glob("test_*.py"))
    files = [f for f in files if fnmatch.fnmatchcase(f.stem, given.only)]
    with ThreadPoolExecutor(given.jobs) as pool:
        # The largest first: they take the longest. One at a time, in the order of their names.
        begun = sorted(files, key=lambda f: -f.stat().st_size if given.jobs > 1 else 0)
        running = {pool.submit(run_process, given, file): file for file in begun}
        for done in as_completed(running):
            name = f"{running[done].parent.name}/{running[done].stem}"
            found[name] = done.result()
            show(name, found[name], given.verbose)
            if given.result:  # after each file, so that an interrupted run is not lost
                given.result.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    total: Counter[str] = Counter()
    for one in found.values():
        total.update(counts(one))
    print("total " + " ".join(f"{total[k]} {k}" for k in OUTCOMES))
    return compare(found)


def compare(found: dict[str, Any]) -> int:
    """Print the tests that differ from those named in NAMED; 1 if there are any, else 0."""
    failures = named_failures(NAMED.read_text())
    on_gpu = os.environ.get("PYGPU_CUDA", "simulator") != "simulator"
    status = 0
    for name, one in sorted(found.items()):
        for test, (outcome, why) in one["tests"].items():
            where = failures.get(f"{name.replace('/test_', '/')} {test}", "")
            if outcome in ("failed", "crashed") and not applies(where, on_gpu):
                print(f"unexpected failure: {name} {test}: {why}")
                status = 1
            elif outcome == "passed" and where != "sometimes" and applies(where, on_gpu):
                print(f"unexpected success: {name} {test}")
                status = 1
    return status


def applies(where: str, on_gpu: bool) -> bool:
    return where in ("everywhere", "sometimes", "GPU" if on_gpu else "simulator")


def named_failures(page: str) -> dict[str, str]:
    """Where the tests fail that a page names, in rows ``| reason | where | tests |`` of its tables:
    "everywhere", on the "simulator" or a "GPU" only, or "sometimes"."""
    found: dict[str, str] = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or cells[1] not in ("everywhere", "simulator", "GPU", "sometimes"):
            continue
        for test in re.findall(r"`(\w+/\w+ [\w.]+|\w+/\w+ \(file\))`", cells[2]):
            found[test] = cells[1]
    return found


def reason_to_leave_out(name: str) -> str | None:
    for reason, patterns in LEFT_OUT.items():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split()):
            return reason
    return None


def run_process(given: Any, file: Path) -> dict[str, Any]:
    """The outcomes of one file's tests."""
    reason = reason_to_leave_out(file.stem)
    if reason:
        return {"left out": reason, "tests": {}}
    begin = time.monotonic()
    environment = dict(os.environ)
    environment.setdefault("PYGPU_CUDA", "simulator")
    with tempfile.TemporaryDirectory() as folder:
        # Tests run programs of their own in plain Python.
        Path(folder, "sitecustomize.py").write_text(
            "import os\n"
            "if 'NUMBA_SUITE' in os.environ:\n"  # children of tests, which import them
            "    from pathlib import Path\n"
            "    import numba_suite_support\n"
            "    numba_suite_support.install(\n"
            "        Path(os.environ['NUMBA_SUITE']), os.environ['NUMBA_SUITE_PACKAGE'])\n"
            "else:\n"
            "    import pygpu.compat\n"
            "    pygpu.compat.install('numba')\n"
        )
        path = [folder, str(ROOT), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
        lines = Path(folder, "lines")
        module = f"{given.package}.{file.parent.name}.{file.stem}"
        command = [sys.executable, __file__, given.checkout, "--child", module, lines]
        try:
            ended = subprocess.run(
                command, env=environment, cwd=folder, timeout=given.limit, capture_output=True
            )
            status, said = str(ended.returncode), ended.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired as error:
            status, said = "time limit", (error.stderr or b"").decode(errors="replace")
        rows = [json.loads(line) for line in read_lines(lines)]
    tests: dict[str, Any] = {}
    for test, outcome, why in rows:
        if outcome != "started" or test not in tests:
            tests[test] = [outcome, why]
    for value in tests.values():
        if value[0] == "started":
            value[:] = ["crashed", f"process ended ({status})"]
    if status != "0" and not any(v[0] == "crashed" for v in tests.values()):
        tests["(file)"] = ["crashed", f"{status}: {last_line(said)}"]
    return {"tests": tests, "seconds": round(time.monotonic() - begin, 1)}


def read_lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:400] if lines else ""


def counts(one: dict[str, Any]) -> Counter[str]:
    return Counter(outcome for outcome, _ in one["tests"].values())


def show(name: str, one: dict[str, Any], verbose: bool) -> None:
    if "left out" in one:
        print(f"{name}: left out ({one['left out']})", flush=True)
        return
    number = counts(one)
    row = " ".join(f"{number[k]} {k}" for k in OUTCOMES if number[k])
    print(f"{name}: {row or 'no tests'} ({one['seconds']} s)", flush=True)
    if verbose:
        for test, (outcome, why) in one["tests"].items():
            if outcome in ("failed", "crashed"):
                print(f"    {test}: {why}", flush=True)


# ---- in the process of one file


class Outcomes(unittest.TestResult):
    """Writes each test's outcome when it is known: the process may not live to the end."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    def write(self, test: Any, outcome: str, why: str = "") -> None:
        name = short_name(test)
        with self.file.open("a") as out:
            out.write(json.dumps([name, outcome, why]) + "\n")

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        self.write(test, "started")

    def addSuccess(self, test: Any) -> None:
        self.write(test, "passed")

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self.write(test, "passed", "expected failure")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self.write(test, "passed", "unexpected success")

    def addSkip(self, test: Any, reason: str) -> None:
        self.write(test, "skipped", reason)

    def addError(self, test: Any, err: Any) -> None:
        skipped = err[0].__name__ == "Skipped"  # pytest.importorskip's
        self.write(test, "skipped" if skipped else "failed", self.text(err, test))

    addFailure = addError

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self.write(test, "failed", self.text(err, test))

    def text(self, err: Any, test: Any) -> str:
        message = str(err[1]).strip()
        trace, line = err[2], 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename.startswith(os.environ.get("NUMBA_SUITE", "?")):
                line = trace.tb_lineno
            trace = trace.tb_next
        return f"line {line}: {err[0].__name__}: {message[:600]}"


def run_file(tests: Path, package: str, module: str, file: Path) -> None:
    from numba_suite_support import install

    os.environ["NUMBA_SUITE"], os.environ["NUMBA_SUITE_PACKAGE"] = str(tests), package
    install(tests, package)
    try:
        found = importlib.import_module(module)
    except BaseException as error:
        if type(error).__name__ != "Skipped":  # pytest.importorskip's, for the whole file
            raise
        with file.open("a") as out:
            out.write(json.dumps(["(file)", "skipped", str(error)]) + "\n")
        return
    suite = unittest.defaultTestLoader.loadTestsFromModule(found)
    result = Outcomes(file)
    stem = module.rpartition(".")[2]
    kept = []
    for test in flat(suite):
        name = f"{stem}::{short_name(test)}"
        reason = reason_to_leave_out(name) or internal(test)
        if reason:
            result.write(test, "skipped", f"left out: {reason}")
        else:
            kept.append(test)
    unittest.TestSuite(kept).run(result)  # with the fixtures of classes


def short_name(test: Any) -> str:
    name: str = test.id().rpartition(".tests.")[2].split(".", 2)[-1]
    return name


def flat(suite: Any) -> list[Any]:
    if isinstance(suite, unittest.TestSuite):
        return [test for item in suite for test in flat(item)]
    return [suite]


def internal(test: Any) -> str | None:
    """Why a test is not about what users see, judged by its text."""
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    if method is None:
        return None
    try:
        text = re.sub(
            r"@skip\w+\(.*?\)\n", "", inspect.getsource(inspect.unwrap(method)), flags=re.S
        )
    except (OSError, TypeError):
        return None
    return next((why for pattern, why in INTERNAL.items() if re.search(pattern, text)), None)


if __name__ == "__main__":
    sys.exit(main())
