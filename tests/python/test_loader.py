"""Finding the OpenCL library: which files are tried, in which order, what is said if none will do.

A stand-in for the extension says which files exist and what they list; the tests at the end use
the real one, each in a process of its own, as a library is loaded once.
"""

import ctypes
import os
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import pytest

import pygpu.errors
from pygpu._src.drivers import opencl_loader as loader

if sys.platform != "linux":
    pytest.skip("the file names below are Linux's", allow_module_level=True)

SYSTEM = ["libOpenCL.so.1", "libOpenCL.so"]
CHOICES = (loader.VARIABLE, *loader.ICD_VARIABLES)


class Library:
    """A file that can be opened; *sees* tells how many platforms it has in an environment."""

    def __init__(self, sees=lambda: 1):
        self.sees = sees


def listed_drivers():
    """What a loader finds: the drivers named by the files in OCL_ICD_VENDORS."""
    folder = os.environ.get("OCL_ICD_VENDORS")
    if not folder:
        return []
    return [path.read_text().strip() for path in sorted(Path(folder).glob("*.icd"))]


class Extension:
    """What of pygpu._opencl the loader uses, with the same rules."""

    def __init__(self, libraries):
        self.libraries = libraries
        self.path = None
        self.asked = []
        self.preloaded = {}

    def _library(self):
        return self.path

    def _load_library(self, path, preload=()):
        assert self.path is None, "a second library on top of one that is open"
        self.asked.append(path)
        self.preloaded[path] = list(preload)
        if path not in self.libraries:
            raise OSError(f"{path}: cannot open shared object file: No such file or directory")
        self.path = path

    def _unload_library(self):
        self.path = None

    def _platform_count(self):
        return self.libraries[self.path].sees()


@pytest.fixture
def world(monkeypatch, tmp_path):
    """Installs a stand-in with the given libraries; nothing of the machine is seen."""
    for name in (*CHOICES, "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    prefix = tmp_path / "env"
    (prefix / "lib").mkdir(parents=True)
    for name in ("prefix", "exec_prefix", "base_prefix"):
        monkeypatch.setattr(sys, name, str(prefix))
    monkeypatch.setattr(sys, "path", [str(prefix / "packages")])
    monkeypatch.setattr(loader.site, "ENABLE_USER_SITE", False)
    monkeypatch.setattr(loader, "_tried", [])
    monkeypatch.setattr(loader, "_offered", [])

    def make(libraries):
        extension = Extension(libraries)
        monkeypatch.setitem(sys.modules, "pygpu._opencl", extension)
        return extension

    make.prefix = prefix
    return make


def load():
    loader.load_opencl(sys.modules["pygpu._opencl"])


def tried():
    return loader.tried(sys.modules["pygpu._opencl"])


def put(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_the_systems_loader_is_first(world):
    put(world.prefix / "lib/libOpenCL.so.1")
    extension = world({"libOpenCL.so.1": Library()})
    load()
    assert extension.asked == ["libOpenCL.so.1"]
    assert tried() == [("libOpenCL.so.1", "loaded")]
    load()  # again: nothing to do
    assert extension.asked == ["libOpenCL.so.1"]


def test_search_order_of_all_folders(world):
    own = put(world.prefix / "lib/libOpenCL.so.1")
    bundled = put(world.prefix / "packages/pyopencl/.libs/libOpenCL-5519dec5.so.1.0.0")
    driver = put(world.prefix / "lib/libintelocl.so")
    extension = world({driver: Library()})
    load()
    assert extension.asked == [*SYSTEM, own, bundled, driver]
    assert [path for path, _ in tried()] == extension.asked
    assert tried()[-1] == (driver, "loaded")
    assert "cannot open shared object file" in tried()[0][1]


def test_two_names_of_one_file_are_tried_once(world):
    own = put(world.prefix / "lib/libOpenCL.so.1")
    (world.prefix / "lib/libOpenCL.so").symlink_to(own)
    extension = world({})
    with pytest.raises(pygpu.errors.LogicError):
        load()
    assert extension.asked == [*SYSTEM, own]


def test_user_site_conda_and_base(world, monkeypatch, tmp_path):
    paths = {}
    for name in ("user", "conda", "base"):
        paths[name] = put(tmp_path / name / "lib/libOpenCL.so.1")
    monkeypatch.setattr(loader.site, "ENABLE_USER_SITE", True)
    monkeypatch.setattr(loader.site, "getuserbase", lambda: str(tmp_path / "user"))
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "base"))
    extension = world({})
    with pytest.raises(pygpu.errors.LogicError):
        load()
    assert extension.asked == [*SYSTEM, paths["user"], paths["conda"], paths["base"]]


def test_what_intels_libraries_need_is_opened_before(world):
    own = put(world.prefix / "lib/libOpenCL.so.1")
    needs = [put(world.prefix / "lib" / name) for name in ("libintlc.so.5", "libsvml.so")]
    extension = world({own: Library()})
    load()
    assert extension.preloaded == {"libOpenCL.so.1": [], "libOpenCL.so": [], own: needs}


def test_pyopencls_loader_gets_the_vendors_folder(world, monkeypatch):
    # Without that variable it crashes.
    bundled = put(world.prefix / "packages/pyopencl/.libs/libOpenCL-5519dec5.so.1.0.0")
    homes = []

    def sees():
        homes.append(os.environ.get("PYOPENCL_HOME"))
        return len(homes) > 1

    monkeypatch.delenv("PYOPENCL_HOME", raising=False)
    world({bundled: Library(sees)})
    with pytest.raises(pygpu.errors.LogicError):
        load()
    assert "PYOPENCL_HOME" not in os.environ
    monkeypatch.setenv("PYOPENCL_HOME", "/a/users")
    load()
    assert homes == [str(world.prefix / "packages/pyopencl"), "/a/users"]


def test_a_named_library_is_the_only_one(world, monkeypatch, tmp_path):
    monkeypatch.setenv(loader.VARIABLE, "/somewhere/libmine.so")
    extension = world({"libOpenCL.so.1": Library()})
    put(world.prefix / "lib/libintelocl.so")
    with pytest.raises(pygpu.errors.LogicError, match="/somewhere/libmine.so: cannot open") as info:
        load()
    assert extension.asked == ["/somewhere/libmine.so"]
    assert f"{loader.VARIABLE}=/somewhere/libmine.so was obeyed" in str(info.value)

    extension.libraries["/somewhere/libmine.so"] = Library()
    load()
    assert tried() == [("/somewhere/libmine.so", "loaded")]


def test_an_empty_variable_is_none(world, monkeypatch):
    monkeypatch.setenv(loader.VARIABLE, "")
    world({"libOpenCL.so.1": Library()})
    load()
    assert tried() == [("libOpenCL.so.1", "loaded")]


def test_drivers_are_offered_to_a_loader_that_finds_none(world):
    driver = put(world.prefix / "lib/libintelocl.so")
    extension = world({"libOpenCL.so.1": Library(lambda: len(listed_drivers()))})
    load()
    assert tried() == [("libOpenCL.so.1", "loaded")]
    assert loader.offered() == [driver]
    assert extension.asked == ["libOpenCL.so.1"] * 2  # it reads its environment once
    assert "OCL_ICD_VENDORS" not in os.environ


def test_a_loader_of_the_environment_gets_the_vendors_folder_at_once(world):
    # Khronos's loader reads OCL_ICD_FILENAMES, and does so only once in a process.
    own = put(world.prefix / "lib/libOpenCL.so.1")
    driver = put(world.prefix / "lib/libintelocl.so")
    extension = world({own: Library(lambda: os.environ.get("OCL_ICD_FILENAMES") == driver)})
    load()
    assert extension.asked == [*SYSTEM, own]
    assert loader.offered() == [driver]
    assert "OCL_ICD_FILENAMES" not in os.environ


def test_nothing_is_offered_to_a_loader_that_finds_a_platform(world):
    put(world.prefix / "lib/libintelocl.so")
    seen = []

    def sees():
        seen.append(listed_drivers())
        return 1

    world({"libOpenCL.so.1": Library(sees)})
    load()
    assert seen == [[]] and loader.offered() == []


def test_drivers_named_by_icd_files(world):
    # Intel's file names a folder of the machine that built it, PyOpenCL's wheel a file beside it.
    intel = put(world.prefix / "lib/libintelocl.so")
    put(world.prefix / "etc/OpenCL/vendors/intel.icd", "/opt/conda1conda2/lib/libintelocl.so\n")
    pocl = put(world.prefix / "packages/pyopencl/.libs/libpocl.so.2")
    put(world.prefix / "packages/pyopencl/.libs/pocl.icd", "libpocl.so.2\n")
    put(world.prefix / "packages/other.libs/gone.icd", "/nowhere/libgone.so\n")
    put(world.prefix / "packages/other.libs/empty.icd", "")
    (world.prefix / "packages/other.libs/bytes.icd").write_bytes(b"\xff\xfe\xff")
    world({})
    assert loader.drivers() == [intel, pocl]


@pytest.mark.parametrize("name", loader.ICD_VARIABLES)
def test_a_users_drivers_are_not_overridden(world, monkeypatch, name, tmp_path):
    monkeypatch.setenv(name, str(tmp_path))
    driver = put(world.prefix / "lib/libintelocl.so")
    during = []

    def sees():
        during.append(os.environ.get(name))
        return 0

    extension = world({"libOpenCL.so.1": Library(sees), driver: Library()})
    with pytest.raises(pygpu.errors.LogicError, match=f"{name}=.* was obeyed"):
        load()
    assert during == [str(tmp_path)]
    assert driver not in extension.asked
    assert tried()[-1] == (driver, f"not tried, as {name} says which drivers to use")


def test_the_driver_itself_if_the_loader_refuses_it(world):
    driver = put(world.prefix / "lib/libintelocl.so")
    world({"libOpenCL.so.1": Library(lambda: 0), driver: Library()})
    load()
    assert tried()[0] == ("libOpenCL.so.1", loader.NO_PLATFORM)
    assert tried()[-1] == (driver, "loaded")


def test_a_full_disk_does_not_matter(world, monkeypatch):
    def no_space(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(loader.tempfile, "mkdtemp", no_space)
    driver = put(world.prefix / "lib/libintelocl.so")
    world({"libOpenCL.so.1": Library(lambda: len(listed_drivers())), driver: Library()})
    load()
    assert tried()[-1] == (driver, "loaded")


def test_failure_names_every_file_and_what_to_install(world, monkeypatch):
    monkeypatch.setattr(loader.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(loader.platform, "machine", lambda: "x86_64")
    own = put(world.prefix / "lib/libOpenCL.so.1")
    extension = world({own: Library(lambda: 0)})
    with pytest.raises(pygpu.errors.LogicError) as info:
        load()
    error, text = info.value, str(info.value)
    assert (error.code, error.routine) == (-1001, "clGetPlatformIDs")
    assert text.startswith("clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR - ")
    assert "libOpenCL.so.1: cannot open shared object file: No such file or directory" in text
    assert f"{own}: {loader.NO_PLATFORM}" in text
    assert "apt-get install pocl-opencl-icd ocl-icd-libopencl1" in text
    assert 'pip install ".[cpu]"' in text
    assert extension.path is None  # nothing stays open that was not approved


@pytest.mark.parametrize(
    ("system", "machine", "apt", "expected"),
    [
        ("linux", "x86_64", True, ["apt-get", "pip install"]),
        ("linux", "aarch64", True, ["apt-get"]),
        ("linux", "x86_64", False, ["pip install"]),
        ("win32", "AMD64", False, ["pip install"]),
        ("win32", "ARM64", False, []),
    ],
)
def test_install_lines_fit_the_machine(monkeypatch, system, machine, apt, expected):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(loader.platform, "machine", lambda: machine)
    monkeypatch.setattr(loader.shutil, "which", lambda name: "/usr/bin/apt-get" if apt else None)
    lines = loader.install_lines()
    assert len(lines) == len(expected) + 1
    assert all(word in line for word, line in zip(expected, lines))
    assert "graphics card" in lines[-1]


def test_macos_has_nothing_to_install(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert loader.install_lines() == ["OpenCL is part of macOS: this system lacks its framework"]


def test_a_later_call_tries_again(world):
    extension = world({})
    with pytest.raises(pygpu.errors.LogicError):
        load()
    extension.libraries["libOpenCL.so"] = Library()
    load()
    assert tried()[-1] == ("libOpenCL.so", "loaded")
    assert len(tried()) == 2  # of this attempt only


def test_ctrl_c_leaves_no_library_open(world):
    def interrupted():
        raise KeyboardInterrupt

    extension = world({"libOpenCL.so.1": Library(interrupted)})
    with pytest.raises(KeyboardInterrupt):
        load()
    assert extension.path is None


def test_threads_load_once(world):
    start = threading.Barrier(8)
    inside = []

    def sees():
        inside.append(threading.get_ident())
        return 1

    extension = world({"libOpenCL.so.1": Library(sees)})

    def work():
        start.wait()
        load()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert extension.asked == ["libOpenCL.so.1"] and len(inside) == 1


def test_a_dropped_module_still_knows_the_path(world):
    world({}).path = "/lib/libOpenCL.so.1"
    assert tried() == [("/lib/libOpenCL.so.1", "loaded")]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows' loader reads the registry")
def test_a_loader_that_cuts_the_list_of_drivers(monkeypatch):
    """Khronos's does, where the list stands; child processes shall get all of it."""
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    monkeypatch.setenv("OCL_ICD_FILENAMES", "a.so:b.so")

    class Cutting:
        def _platform_count(self):
            ctypes.memset(libc.getenv(b"OCL_ICD_FILENAMES") + len("a.so"), 0, 1)
            return 1

    assert loader._count(Cutting()) == 1
    assert ctypes.string_at(libc.getenv(b"OCL_ICD_FILENAMES")) == b"a.so:b.so"
    child = [sys.executable, "-c", "import os; print(os.environ['OCL_ICD_FILENAMES'])"]
    done = subprocess.run(child, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "a.so:b.so"


# ---- the real extension -----------------------------------------------------------------------


def run(code, **environment):
    """Runs code in a fresh interpreter; its output, or an AssertionError with its errors."""
    env = {name: value for name, value in os.environ.items() if name not in CHOICES}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=env | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


REFUSED = """
import pygpu as cl
from pygpu._src.drivers import opencl_loader as loader
for i in range(2):
    try:
        cl.get_platforms()
    except cl.LogicError as error:
        print(error.code, error)
    else:
        raise SystemExit("no error")
"""


def test_a_missing_library_gives_the_linkers_words():
    text = run(REFUSED, PYGPU_OPENCL_LIBRARY="/nowhere/libOpenCL.so")
    words = "/nowhere/libOpenCL.so: cannot open shared object file: No such file or directory"
    assert text.count(f"  {words}") == 2  # the second call tried again
    assert text.startswith("-1001 clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR")


def test_another_library_is_not_an_opencl_library():
    import _ctypes

    text = run(REFUSED, PYGPU_OPENCL_LIBRARY=_ctypes.__file__)
    assert "not an OpenCL library: it has no function clGetPlatformIDs" in text


def test_no_vendors_is_an_error_that_says_so(tmp_path):
    text = run(REFUSED, OCL_ICD_VENDORS=str(tmp_path), OCL_ICD_FILENAMES="")
    assert f"OCL_ICD_VENDORS={tmp_path} was obeyed" in text
    assert "-1001" in text


def test_retry_after_failure():
    code = """
import os, pygpu as cl
path = os.environ["PYGPU_OPENCL_LIBRARY"]
try:
    cl.get_platforms()
except cl.LogicError:
    del os.environ["PYGPU_OPENCL_LIBRARY"]
print(len(cl.get_platforms()), path)
"""
    needs_a_device()
    assert int(run(code, PYGPU_OPENCL_LIBRARY="/nowhere").split()[0]) >= 1


def test_importing_loads_nothing():
    code = "import pygpu; from pygpu import _opencl; print(_opencl._library())"
    assert run(code) == "None"


def needs_a_device():
    """Skip where this machine has no OpenCL platform."""
    code = "import pygpu as cl\ntry: print(len(cl.get_platforms()))\nexcept cl.Error: print(0)"
    if run(code) == "0":
        pytest.skip("no OpenCL platform on this machine")


def intel_driver():
    path = Path(sysconfig.get_path("data"), "lib", "libintelocl.so")
    if not path.exists():
        pytest.skip("no intel-opencl-rt in this environment: pip install '.[cpu]'")
    return str(path)


def test_intels_driver_without_a_loader():
    driver = intel_driver()
    code = "import pygpu as cl; print(cl.get_platforms()[0].name)"
    assert "Intel" in run(code, PYGPU_OPENCL_LIBRARY=driver)


def test_intels_loader_gets_the_drivers_path():
    driver = intel_driver()
    code = """
import os, pygpu as cl
from pygpu._src.drivers import opencl_loader as loader
print([platform.name for platform in cl.get_platforms()])
print(loader.offered())
print("OCL_ICD_FILENAMES" in os.environ)
"""
    own = str(Path(driver).parent / "libOpenCL.so.1")
    names, offered, left = run(code, PYGPU_OPENCL_LIBRARY=own).splitlines()
    assert "Intel" in names and driver in offered and left == "False"
