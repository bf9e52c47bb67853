"""What `import pygpu as cl` offers beside PyOpenCL's names, and what importing does not do."""

from __future__ import annotations

import importlib
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import typing

import pytest

import pygpu as cl
from pygpu import _opencl

ROOT = pathlib.Path(__file__).parents[2]

# pyopencl.__all__ of 2026.1.
PYOPENCL = """
Buffer CommandQueue Context CtxFactory Device DeviceTopologyAmd Error Event GLBuffer GLRenderBuffer
GLTexture Image ImageDescriptor ImageFormat Kernel LocalMemory LogicError MemoryError MemoryMap
MemoryObject MemoryObjectHolder NannyEvent Pipe Platform Program RuntimeError SVM SVMAllocation
SVMMap SVMPointer Sampler UserEvent VERSION VERSION_STATUS VERSION_TEXT WaitList _csc
addressing_mode channel_order channel_type choose_devices command_execution_status
command_queue_info command_queue_properties command_type context_info context_properties
create_image create_program_with_built_in_kernels create_some_context csvm_empty csvm_empty_like
device_affinity_domain device_atomic_capabilities device_device_enqueue_capabilities
device_exec_capabilities device_fp_config device_info device_local_mem_type device_mem_cache_type
device_partition_property device_svm_capabilities device_topology_type_amd device_type
enable_debugging enqueue_acquire_gl_objects enqueue_barrier enqueue_copy
enqueue_copy_buffer_p2p_amd enqueue_fill enqueue_fill_buffer enqueue_fill_image enqueue_map_buffer
enqueue_map_image enqueue_marker enqueue_migrate_mem_objects enqueue_nd_range_kernel
enqueue_release_gl_objects enqueue_svm_memfill enqueue_svm_migrate_mem event_info filter_mode
fsvm_empty fsvm_empty_like get_apple_cgl_share_group get_cl_header_version get_platforms
get_supported_image_formats gl_context_info gl_object_type gl_texture_info have_gl image_from_array
image_info kernel_arg_access_qualifier kernel_arg_address_qualifier kernel_arg_info
kernel_arg_type_qualifier kernel_info kernel_sub_group_info kernel_work_group_info
khronos_vendor_id link_program map_flags mem_flags mem_info mem_migration_flags mem_object_type
pipe_info pipe_properties platform_info profiling_info program_binary_type program_build_info
program_info program_kind queue_properties sampler_info sampler_properties status_code svm_empty
svm_empty_like svm_mem_flags unload_platform_compiler version_bits wait_for_events
""".split()

# Not in __all__, and used by programs all the same.
ALSO = """
CommandQueueUsedAfterExit CompilerWarning DTYPE_TO_CHANNEL_TYPE DTYPE_TO_CHANNEL_TYPE_NORM
RepeatedKernelRetrieval enqueue_task
""".split()
SUBMODULES = ["cltypes", "tools", "characterize", "cache", "capture_call", "version", "ipython_ext"]


def run(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.parametrize("name", [*PYOPENCL, *ALSO])
def test_names_of_pyopencl(name):
    assert getattr(cl, name) is not None
    if not name.startswith("_"):
        assert name in cl.__all__


def test_the_list_is_complete():
    assert len(PYOPENCL) == len(set(PYOPENCL)) == 126


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodules(name):
    module = importlib.import_module(f"pygpu.{name}")
    assert getattr(cl, name) is module
    assert module.__doc__


def test_names_in_all_exist_and_are_distinct():
    assert len(cl.__all__) == len(set(cl.__all__))
    for name in cl.__all__:
        assert getattr(cl, name) is not None
        assert name in dir(cl)
    with pytest.raises(AttributeError, match="'pygpu' has no attribute 'nonsense'"):
        _ = cl.nonsense
    assert "Constants" not in cl.__all__


def test_star_import():
    code = (
        "before = set(dir())\nfrom pygpu import *\n"
        "print(len(set(dir()) - before), Buffer.__name__, create_some_context.__name__, "
        "mem_flags.READ_WRITE)"
    )
    count, *rest = run(code).split()
    assert rest == ["Buffer", "create_some_context", "1"]
    assert int(count) >= len(cl.__all__)


def test_import_loads_no_driver_and_little_else():
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "import pygpu, pygpu._opencl as c\n"
        "new = sorted(m for m in set(sys.modules) - before if not m.startswith('pygpu'))\n"
        "maps = open('/proc/self/maps').read() if sys.platform == 'linux' else ''\n"
        "print(c._library(), 'libOpenCL' in maps, new)\n"
    )
    library, mapped, new = run(code).split(maxsplit=2)
    assert (library, mapped) == ("None", "False")
    assert len(eval(new)) <= 5, new


def test_listing_names_loads_no_driver():
    code = (
        "import pygpu, pygpu._opencl as c\n"
        "dir(pygpu); [getattr(pygpu, n) for n in pygpu.__all__]; print(c._library())\n"
        "import pygpu._cuda\n"  # TAB in Python's shell gets every name
        "[getattr(pygpu.cuda, n, None) for n in dir(pygpu.cuda)]; print(pygpu._cuda._library())"
    )
    assert run(code).split() == ["None", "None"]


def test_the_first_use_loads_the_driver(device):
    assert (
        run(
            "import pygpu, pygpu._opencl as c\n"
            "pygpu.get_platforms(); print(c._library() is not None)"
        )
        == "True"
    )


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("nm") is None, reason="needs nm, on Linux"
)
def test_the_extension_shows_one_symbol():
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", _opencl.__file__], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    names = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] in "TDBRVWi"}
    assert names - {"_init", "_fini", "_edata", "_end", "__bss_start"} == {"PyInit__opencl"}


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("nm") is None, reason="needs nm, on Linux"
)
def test_the_extension_is_not_linked_with_opencl():
    lines = subprocess.run(
        ["nm", "-D", "--undefined-only", _opencl.__file__],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not [name for name in lines if name.startswith("cl") and name[2:3].isupper()]


def test_version():
    assert cl.__version__ == cl.VERSION_TEXT
    assert isinstance(cl.VERSION, tuple) and all(isinstance(part, int) for part in cl.VERSION)
    assert cl.VERSION_TEXT.startswith(".".join(map(str, cl.VERSION)))
    assert isinstance(cl.VERSION_STATUS, str)


def classes_and_functions():
    for name in cl.__all__:
        value = getattr(cl, name)
        if inspect.isclass(value) or callable(value):
            if typing.get_origin(value) is None:  # not a type for annotations
                yield name, value


def test_everything_has_a_docstring():
    missing = [name for name, value in classes_and_functions() if not inspect.getdoc(value)]
    for name, cls in classes_and_functions():
        if inspect.isclass(cls) and cls.__module__ == "pygpu":
            missing += [
                f"{name}.{member}"
                for member, value in vars(cls).items()
                if not member.startswith("_")
                and hasattr(value, "__get__")
                and not inspect.getdoc(value)
            ]
    assert missing == []


def test_signatures_can_be_inspected():
    broken = []
    for name, value in classes_and_functions():
        if inspect.isclass(value):
            continue
        try:
            inspect.signature(value)
        except ValueError:
            broken.append(name)
    assert broken == []


def test_types_name_the_package():
    for name, value in classes_and_functions():
        if inspect.isclass(value) and not issubclass(value, (BaseException,)):
            assert value.__module__.split(".")[0] == "pygpu", name


def test_importing_twice_is_the_same_module():
    assert (
        run(
            "import pygpu, importlib; a = pygpu.Buffer; importlib.reload(pygpu)\n"
            "print(pygpu.Buffer is a)"
        )
        == "True"
    )


def test_modules_without_a_driver():
    """Everything that needs none works with a library that cannot be loaded."""
    code = (
        "import os; os.environ['PYGPU_OPENCL_LIBRARY'] = '/nowhere/libnothing.so'\n"
        "import pygpu as cl\n"
        "cl.mem_flags.to_string(1); cl.LocalMemory(4)\n"
        "cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)\n"
        "try:\n    cl.get_platforms()\nexcept cl.Error as error:\n"
        "    print(type(error).__name__, '/nowhere/libnothing.so' in str(error))\n"
    )
    name, printed = run(code).split()
    assert printed == "True"


def test_every_public_module_is_an_attribute_and_completes():
    """None is loaded by importing pygpu; each is when it is asked for."""
    done = run(
        "import pygpu, sys, pathlib\n"
        "folder = pathlib.Path(pygpu.__file__).parent\n"
        "names = {path.stem for path in folder.glob('*.py')}\n"
        "names |= {path.parent.name for path in folder.glob('*/__init__.py')}\n"
        "names = {n for n in names if n[0] != '_'} - {'core', 'arguments', 'pytest_plugin'}\n"
        "assert len(names) > 20 and not names - set(dir(pygpu)), names - set(dir(pygpu))\n"
        "assert 'pygpu.cuda' not in sys.modules and 'pygpu.xp' not in sys.modules\n"
        "for name in sorted(names): assert getattr(pygpu, name).__name__ == f'pygpu.{name}'\n"
        "print('good')"
    )
    assert done.endswith("good")


def test_the_citation_names_the_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {cl.__version__}\n" in text


@pytest.mark.parametrize("repository", ["", "Someone/pygpu"])
def test_metadata_names_the_repository_whose_workflow_builds_it(tmp_path, repository):
    environment = os.environ | {"GITHUB_SERVER_URL": "https://hub", "GITHUB_REPOSITORY": repository}
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", tmp_path]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    lines = (tmp_path / "pygpu.egg-info" / "PKG-INFO").read_text("utf-8").splitlines()
    urls = [line for line in lines if line.startswith("Project-URL: ")]
    assert len(urls) == (4 if repository else 0)
    assert not repository or "Project-URL: Source, https://hub/Someone/pygpu" in urls
    assert not repository or "Project-URL: Documentation, https://someone.github.io/pygpu/" in urls
