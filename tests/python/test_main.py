"""``python -m pygpu``: the report, its exit status, and that no driver can break it.

Broken drivers are small libraries compiled here: each replaces one function of the real one.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest

from pygpu import __main__ as report
from pygpu._src.diagnosis import selftest
from pygpu._src.drivers import opencl_loader as loader

if sys.platform == "win32":
    pytest.skip("compiles shared libraries the Unix way", allow_module_level=True)

DEVICE = {
    "name": "Fast 9000",
    "vendor": "ACME",
    "type": ["GPU"],
    "version": "OpenCL 3.0 ACME",
    "c_version": "OpenCL C 1.2",
    "driver_version": "1.0",
    "available": True,
    "compiler": True,
    "global_memory": 24 * 2**30,
    "largest_buffer": 6 * 2**30 + 2**29,
    "local_memory": 65536,
    "compute_units": 12,
    "frequency": 1500,
    "work_group": 1024,
    "fp64": True,
    "fp16": False,
    "images": True,
    "image_size": [16384, 8192],
    "svm": ["coarse grain buffer", "atomics"],
    "il": ["SPIR-V_1.0", "SPIR-V_1.2"],
    "sub_groups": True,
    "pipes": False,
    "extensions": [],
}


def listing(*platforms, **more):
    return {
        "library": "libOpenCL.so.1", "offered": [], "drivers": [], "platforms": list(platforms),
        "tried": [["libOpenCL.so.1", "loaded"]], "error": None,
    } | more  # fmt: skip


def platform(*devices):
    return {
        "name": "ACME OpenCL", "vendor": "ACME", "version": "OpenCL 3.0",
        "devices": [dict(device) for device in devices],
    }  # fmt: skip


@pytest.fixture
def main(monkeypatch, capsys):
    """Runs the command on a made-up listing; status and output."""

    for name in report.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYGPU_CUDA", "simulator")  # the machine's GPUs are not in the listing

    def run(found, *options, test=None):
        result = test or {"passed": True, "message": "", "steps": {"build": 1.25}}
        monkeypatch.setattr(selftest, "list_platforms", lambda timeout: found)
        monkeypatch.setattr(selftest, "test_device", lambda i, j, timeout: dict(result))
        status = report.main(list(options))
        return status, capsys.readouterr().out

    return run


def test_report(main):
    status, text = main(listing(platform(DEVICE, DEVICE)))
    assert status == 0
    for line in [
        "OpenCL library: libOpenCL.so.1",
        "Platform 0: ACME OpenCL",
        "  Device 0:1: Fast 9000",
        "    kind         GPU, by ACME",
        "    memory       24 GiB, largest buffer 6.5 GiB, local 64 KiB",
        "    units        12 at 1500 MHz, work-groups of up to 1024",
        "    fp64, fp16   yes, no",
        "    images       yes, up to 16384 x 8192",
        "    SVM          coarse grain buffer, atomics",
        "    IL           SPIR-V_1.0, SPIR-V_1.2",
        "    sub-groups   yes; pipes: no",
        "    self-test    passed (ms: build 1.2)",
        "2 devices; the self-test passed on each.",
    ]:
        assert f"{line}\n" in text
    assert text.startswith(f"pygpu {report._version('pygpu')}, ")


def test_unknown_values_are_not_failures(main):
    unknown = dict.fromkeys(DEVICE) | {"image_size": [None, None], "il": [], "extensions": []}
    status, text = main(listing(platform(unknown)))
    assert status == 0 and "memory       ?, largest buffer ?, local ?" in text


def test_lines_are_short(main, monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", "/a/folder " * 30)
    words = "cannot open shared object file: No such file or directory, " * 5
    device = DEVICE | {"name": "x" * 60, "il": [f"SPIR-V_1.{i}" for i in range(20)]}
    failed = {"passed": False, "message": "a long story " * 20, "steps": {}}
    status, text = main(listing(platform(device), tried=[["libCL.so", words]]), test=failed)
    assert status == 1
    folder = os.path.dirname(report.__file__)  # as long as it is
    assert max(len(line) for line in text.splitlines() if folder not in line) < 100


def test_failed_selftest(main):
    status, text = main(
        listing(platform(DEVICE)), test={"passed": False, "message": "wrong", "steps": {}}
    )
    assert status == 1
    assert "self-test    FAILED: wrong" in text and "1 device; 1 FAILED the self-test." in text


def test_without_tests(main):
    status, text = main(listing(platform(DEVICE)), "--no-test", test={"passed": False})
    assert status == 0 and "1 device; not tested." in text and "self-test" not in text


@pytest.mark.parametrize("platforms", [(), (platform(),)])
def test_no_device_says_what_to_install(main, monkeypatch, platforms):
    monkeypatch.setattr(loader, "install_lines", lambda: ["apt-get install it"])
    status, text = main(listing(*platforms))
    assert status == 2
    assert "There is no OpenCL device and no GPU for CUDA. To get an OpenCL device:" in text
    assert "\n    apt-get install it\n" in text


def test_why_other_libraries_were_not_used(main):
    tried = [["a.so", "a.so: no such file"], ["b.so", loader.NO_PLATFORM], ["c.so", "loaded"]]
    _, text = main(listing(platform(DEVICE), library="c.so", tried=tried, offered=["d.so"]))
    assert "OpenCL library: c.so\n    was offered the driver d.so\n" in text
    assert "    not a.so: no such file\n" in text
    assert f"    not b.so: {loader.NO_PLATFORM}\n" in text


def test_a_driver_that_is_not_listed_is_mentioned(main):
    _, text = main(listing(platform(DEVICE), drivers=["/env/lib/libintelocl.so"]))
    assert "PYGPU_OPENCL_LIBRARY=/env/lib/libintelocl.so\n" in text
    _, text = main(listing(platform(DEVICE), library="x.so", drivers=["x.so"]))
    assert "PYGPU_OPENCL_LIBRARY" not in text


def test_a_listing_that_broke_off(main):
    status, text = main(listing(platform(DEVICE), error="it crashed (SIGSEGV)"))
    assert status == 1 and "LISTING FAILED: it crashed (SIGSEGV)" in text


def test_json(main):
    status, text = main(listing(platform(DEVICE)), "--json")
    found = json.loads(text)
    assert status == found["status"] == 0
    assert found["tried"] == [{"path": "libOpenCL.so.1", "result": "loaded"}]
    device = found["platforms"][0]["devices"][0]
    assert device["global_memory"] == 24 * 2**30 and device["selftest"]["passed"] is True
    assert set(found) >= {"pygpu", "python", "numpy", "system", "environment", "advice", "error"}


def test_wrong_option(capsys):
    with pytest.raises(SystemExit) as info:
        report.main(["--fast"])
    assert info.value.code == 64
    assert "--fast" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "text"),
    [(0, None), (3, "it ended with status 3"), (-11, "it crashed (SIGSEGV)"),
     (-250, "it crashed (signal 250)"), (0xC0000005, "it crashed (0xC0000005)")],
)  # fmt: skip
def test_how_a_child_ended(status, text):
    assert selftest._death(status) == text


# ---- children, with real and with broken drivers ----------------------------------------------


def run(*options, **environment):
    """The command in a process of its own; its status, output and errors."""
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))) | environment
    if "ASAN_OPTIONS" in env:
        env["ASAN_OPTIONS"] += ":handle_segv=0"  # some tests are about drivers that crash
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pygpu", *options],
        env=env,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert "Traceback" not in done.stderr + done.stdout
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def real():
    """The report of this machine's devices."""
    status, text, errors = run("--json")
    found = json.loads(text)
    if not any(platform["devices"] for platform in found["platforms"]):
        pytest.skip(f"no OpenCL device on this machine: {found['tried']}")
    assert (status, errors) == (0, ""), text
    return found


def test_real_devices(real):
    assert [row for row in real["tried"] if row["result"] == "loaded"] == [
        {"path": real["library"], "result": "loaded"}
    ]
    for platform in real["platforms"]:
        for device in platform["devices"]:
            assert device["selftest"]["passed"], device["selftest"]
            steps = device["selftest"]["steps"]
            assert list(steps) == "context,build,copy to,launch,copy from,compare".split(",")
            assert device["global_memory"] >= device["largest_buffer"] > 0
            assert device["compute_units"] > 0 and device["work_group"] > 0
            assert device["version"].startswith("OpenCL ")


def test_real_text(real):
    status, text, errors = run("--no-test")
    assert (status, errors) == (0, "")
    for platform in real["platforms"]:
        for device in platform["devices"]:
            assert device["name"] in text


def test_output_closed_early(real):
    command = f'"{sys.executable}" -P -m pygpu --no-test | head -1'
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("pygpu ") and done.stderr == ""


@pytest.fixture(scope="module")
def compiler():
    path = shutil.which(os.environ.get("CC", "").partition(" ")[0] or "cc")
    if path is None:
        pytest.skip("no C compiler on this machine")
    return path


@pytest.fixture(scope="module")
def make(compiler, tmp_path_factory):
    """Compiles a library from C text; beneath it lie the functions of another, if named."""

    def compile(text, beneath=None):
        folder = tmp_path_factory.mktemp("driver")
        (folder / "driver.c").write_text("#define _GNU_SOURCE\n" + text)
        command = [compiler, "-shared", "-fPIC", "-o", "libdriver.so", "driver.c"]
        if beneath is not None:
            path = [f"-Wl,-rpath,{os.path.dirname(beneath)}", beneath]
            name = path if os.sep in beneath else [f"-l:{beneath}"]
            command += ["-Wl,--no-as-needed", *name, "-ldl"]
        subprocess.run(command, cwd=folder, check=True)
        return str(folder / "libdriver.so")

    return compile


NONE = "int clGetPlatformIDs(unsigned n, void **ids, unsigned *count) { %s }"


def test_no_platform(make):
    library = make(NONE % "if (count) *count = 0; return -1001;")
    status, text, errors = run(PYGPU_OPENCL_LIBRARY=library)
    assert (status, errors) == (2, "")
    assert f"not {library}: {loader.NO_PLATFORM}" in text.replace("\n        ", " ")
    assert all(line in text for line in loader.install_lines())


def test_no_library():
    status, text, errors = run(PYGPU_OPENCL_LIBRARY="/nowhere/libOpenCL.so")
    assert (status, errors) == (2, "")
    assert "cannot open shared object file" in text or "no such file" in text
    assert "OpenCL library: none" in text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("*(volatile int *)8 = 1; return 0;", "it crashed (SIGSEGV)"),
        ("abort();", "it crashed (SIGABRT)"),
        (
            'puts("half a line"); fputs("driver: no", stderr); exit(7);',
            "it ended with status 7: driver: no",
        ),
        ("for (;;) sleep(1);", "it took more than 3 seconds"),
    ],
)
def test_a_driver_that_dies_when_it_is_listed(make, body, words):
    headers = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
    library = make(headers + NONE % body)
    status, text, errors = run("--timeout", "3", PYGPU_OPENCL_LIBRARY=library)
    assert (status, errors) == (1, "")
    assert f"LISTING FAILED: {words} (in {library})" in text.replace("\n    ", " ")


READ = """
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef int (*Read)(void *, void *, unsigned, size_t, size_t, void *, unsigned, void *, void *);
int clEnqueueReadBuffer(void *queue, void *mem, unsigned blocking, size_t offset, size_t size,
                        void *host, unsigned n, void *wait, void *event) {
    %s
    Read next = (Read)dlsym(RTLD_NEXT, "clEnqueueReadBuffer");
    int status = next(queue, mem, 1, offset, size, host, n, wait, event);
    ((unsigned char *)host)[20]++;
    return status;
}
"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("*(volatile int *)8 = 1;", "it crashed (SIGSEGV)"),
        ("for (;;) sleep(1);", "it took more than 8 seconds"),
        ("return -5;", "OUT_OF_RESOURCES"),
        ("", "integers: 1 of 1048576 are wrong, first element 5"),
    ],
)
def test_a_driver_that_fails_the_selftest(real, make, body, words):
    library = make(READ % body, beneath=real["library"])
    status, text, errors = run("--json", "--timeout", "8", PYGPU_OPENCL_LIBRARY=library)
    found = json.loads(text)
    assert (status, errors) == (1, "")
    assert found["error"] is None and found["library"] == library
    for platform in found["platforms"]:
        for device in platform["devices"]:
            assert words in device["selftest"]["message"]
            assert "build" in device["selftest"]["steps"]
            assert device["selftest"]["passed"] is False


def test_version_and_cache(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path))
    assert report.main(["--version"]) == 0
    assert capsys.readouterr().out == f"pygpu {report.VERSION_TEXT}\n"
    entry = tmp_path / "ab" / "cd.program"
    entry.parent.mkdir()
    entry.write_bytes(b"x" * 2048)
    assert report.main(["cache"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}\n1 entry, 2 KiB\n"
    assert report.main(["cache", "clear", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 0 and not entry.exists()


@pytest.mark.parametrize("words", [["clear"], ["info", "clear"], ["nothing"]], ids=" ".join)
def test_wrong_commands_are_refused(words, capsys):
    with pytest.raises(SystemExit) as ended:
        report.main(words)
    assert ended.value.code == report.USAGE and "usage:" in capsys.readouterr().err


def test_info_tests_nothing(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        report, "collect", lambda test, timeout: asked.append(test) or {"status": 0}
    )
    for words in (["info", "--json"], ["check", "--json"], ["--json"]):
        assert report.main(words) == 0
    assert asked == [False, True, True]
