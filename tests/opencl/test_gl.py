"""Sharing with OpenGL: what is said where it is missing, and all of it on a library that has it.

No driver for CPUs shares with OpenGL. gl_shim.c, compiled here, puts the extension in front of the
real driver; gl_cases.py runs on it, each case in a process of its own.
"""

from __future__ import annotations

import ast
import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pygpu as cl
from pygpu import _opencl, tools
from pygpu._src.runtime.opencl import gl

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src/opencl/api"
KEYS = cl.context_properties
LACKS = "lacks the extension cl_khr_gl_sharing"
NO_CONTEXT = "INVALID_GL_SHAREGROUP_REFERENCE_KHR - no OpenGL context is current"

ENVIRONMENT = {
    "an_extension_of_a_similar_name": {"GL_SHIM_EXTENSION": "cl_khr_gl_sharing2"},
    "apples_extension": {"GL_SHIM_EXTENSION": "cl_APPLE_gl_sharing"},
    "no_device_for_the_context": {"GL_SHIM_NO_DEVICE": "1"},
    "old_devices_have_other_functions": {"GL_SHIM_VERSION": "OpenCL 1.1 shim"},
}


def cases() -> list[str]:
    tree = ast.parse((HERE / "gl_cases.py").read_text("utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [name for name in names if name != "main"]


# ---- without the extension ----------------------------------------------------------------------


@pytest.fixture
def plain(device):
    """A context on a device that lacks the extension."""
    if gl.EXTENSIONS & set(device.extensions.split()):
        pytest.skip("a device without cl_khr_gl_sharing")
    return cl.Context([device])


def test_have_gl(plain):
    shares = [
        bool(gl.EXTENSIONS & set(device.extensions.split()))
        for platform in cl.get_platforms()
        for device in platform.get_devices()
    ]
    assert cl.have_gl() is any(shares)


NAMES = """
GLBuffer GLRenderBuffer GLTexture enqueue_acquire_gl_objects enqueue_release_gl_objects
get_apple_cgl_share_group get_gl_context_info_khr gl_context_info gl_object_type gl_texture_info
have_gl
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_the_names_are_there_whatever_the_driver_has(name):
    assert hasattr(cl, name) and name in cl.__all__ and name in dir(cl)


def test_each_call_names_what_is_missing(plain):
    [device] = plain.devices
    queue, buffer = cl.CommandQueue(plain), cl.Buffer(plain, 1, 4)
    properties = [(KEYS.GL_CONTEXT_KHR, 0x1234), (KEYS.GLX_DISPLAY_KHR, 0x5678)]
    alias = cl.GLBuffer.from_int_ptr(buffer.int_ptr)
    for call in (
        lambda: cl.GLBuffer(plain, 1, 1),
        lambda: cl.GLRenderBuffer(plain, 1, 1),
        lambda: cl.GLTexture(plain, 1, 0x0DE1, 0, 1, 2),
        lambda: cl.enqueue_acquire_gl_objects(queue, [buffer]),
        lambda: cl.enqueue_release_gl_objects(queue, []),
        lambda: cl.Context([device], properties=properties),
        lambda: cl.get_gl_context_info_khr(properties, 0x2006, device.platform),
        alias.get_gl_object_info,
        lambda: alias.gl_object,
    ):
        with pytest.raises(cl.LogicError, match=LACKS) as caught:
            call()
        assert caught.value.code == cl.status_code.INVALID_OPERATION
        assert device.platform.name in str(caught.value)


def test_arguments_are_looked_at_first(plain):
    queue, released = cl.CommandQueue(plain), cl.Buffer(plain, 1, 4)
    released.release()
    other = cl.Buffer(cl.Context(plain.devices), 1, 4)
    for call, kind, words in (
        (lambda: cl.GLBuffer(None, 1, 1), TypeError, "GLBuffer: context must be a Context"),
        (lambda: cl.GLBuffer(plain, 1, "1"), TypeError, "bufobj must be an integer, not str"),
        (lambda: cl.GLRenderBuffer(plain, 1, 0), ValueError, "bufobj = 0 is not an object"),
        (lambda: cl.GLTexture(plain, 1, 0, 0, 1), TypeError, "dims"),
        (lambda: cl.enqueue_acquire_gl_objects(plain, []), TypeError, "must be a CommandQueue"),
        (lambda: cl.enqueue_acquire_gl_objects(queue, [released]), ValueError, "was released"),
        (lambda: cl.enqueue_release_gl_objects(queue, [other]), ValueError, "another context"),
        (lambda: cl.get_gl_context_info_khr([], 7), ValueError, "gl_context_info"),
        (lambda: cl.get_gl_context_info_khr([], 0x2006), ValueError, "name an OpenGL context"),
    ):
        with pytest.raises(kind, match=words):
            call()


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(Path(cl.__file__).parents[1]), str(HERE.parent)))
    return subprocess.run(
        [sys.executable, "-P", *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_without_any_driver_there_is_none():
    done = run(
        "-c",
        "import pygpu as cl\nassert cl._opencl._library() is None\nassert cl.have_gl() is False",
        PYGPU_OPENCL_LIBRARY="/nowhere/libOpenCL.so",
    )
    assert done.returncode == 0, done.stderr


# ---- the current context ------------------------------------------------------------------------


def test_no_current_context():
    """Neither where no OpenGL library is loaded, nor where one is that has nothing current."""
    for load in ("", "import ctypes; ctypes.CDLL('libEGL.so.1'); ctypes.CDLL('libGL.so.1')\n"):
        done = run(
            "-c",
            f"try:\n    {load.strip() or 'pass'}\nexcept OSError: pass\n"
            "import pygpu as cl\n"
            "try: cl.tools.get_gl_sharing_context_properties()\n"
            "except cl.LogicError as error: print(error)\n"
            "assert cl._opencl._library() is None",
        )
        assert done.returncode == 0, done.stderr
        assert NO_CONTEXT in done.stdout


def compiler() -> str:
    name = os.environ.get("CC", "cc")
    if not sys.platform.startswith("linux"):
        pytest.skip("the libraries for these tests are made for Linux")
    if shutil.which(name) is None:
        pytest.skip(f"no C compiler: {name} is not installed")
    return name


FAKE_GLX = """
void *glXGetCurrentContext(void) { return (void *)CONTEXT; }
void *glXGetCurrentDisplay(void) { return (void *)DISPLAY; }
"""


CONTEXT, DISPLAY = 0x7000000000001234, 0x7000000000008888  # addresses of all 64 bits


@pytest.mark.parametrize(
    ("context", "soname"),
    [(CONTEXT, "libGL.so.1"), (CONTEXT, "libGLX.so.0"), (0, "libGL.so.1")],
)
def test_glx(tmp_path, context, soname):
    source, library = tmp_path / "glx.c", tmp_path / "other name.so"
    source.write_text(FAKE_GLX)
    command = [compiler(), "-shared", "-fPIC", f"-Wl,-soname,{soname}"]
    command += [f"-DCONTEXT={context}", f"-DDISPLAY={DISPLAY}"]
    subprocess.run([*command, source, "-o", library], check=True)
    done = run(
        "-c",
        "import ctypes, sys\nctypes.CDLL(sys.argv[1])\nimport pygpu as cl\n"
        "try: print(cl.tools.get_gl_sharing_context_properties())\n"
        "except cl.LogicError as error: print(error)",
        str(library),
    )
    assert done.returncode == 0, done.stderr
    if context == 0:
        assert NO_CONTEXT in done.stdout
    else:
        expected = [(KEYS.GL_CONTEXT_KHR, CONTEXT), (KEYS.GLX_DISPLAY_KHR, DISPLAY)]
        assert ast.literal_eval(done.stdout) == expected


EGL = """
import ctypes
from ctypes import c_uint, c_void_p as P
try:
    egl = ctypes.CDLL("libEGL.so.1")
    for name, types in (("GetPlatformDisplay", (c_uint, P, P)), ("CreateContext", (P, P, P, P))):
        function = getattr(egl, "egl" + name)
        function.restype, function.argtypes = P, types
except (OSError, AttributeError) as error:
    raise SystemExit(f"skip: {error}")
display = egl.eglGetPlatformDisplay(0x31DD, None, None)  # Mesa's, without a surface
if not display or not egl.eglInitialize(P(display), None, None) or not egl.eglBindAPI(0x30A2):
    raise SystemExit("skip: EGL has no display without a screen")
context = egl.eglCreateContext(display, None, None, None)
if not context or not egl.eglMakeCurrent(P(display), None, None, P(context)):
    raise SystemExit("skip: EGL makes no context here")
import pygpu as cl
import threading
keys = cl.context_properties
wanted = [(keys.GL_CONTEXT_KHR, context), (keys.EGL_DISPLAY_KHR, display)]
assert cl.tools.get_gl_sharing_context_properties() == wanted
said = []
def elsewhere():
    try: cl.tools.get_gl_sharing_context_properties()
    except cl.LogicError as error: said.append(str(error))
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
assert "no OpenGL context is current in this thread" in said[0]
"""


def test_a_real_context_of_egl():
    done = run("-c", EGL)
    if "skip: " in done.stderr:
        pytest.skip(done.stderr.strip().removeprefix("skip: "))
    assert done.returncode == 0, done.stderr


def test_other_systems(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    answers = {"CGLGetCurrentContext": 11, "CGLGetShareGroup": 22}
    monkeypatch.setattr(ctypes, "CDLL", lambda path: path)
    monkeypatch.setattr(gl, "_call", lambda _, name, *arguments: answers[name])
    expected = [(KEYS.CONTEXT_PROPERTY_USE_CGL_SHAREGROUP_APPLE, 22)]
    assert tools.get_gl_sharing_context_properties() == expected
    answers["CGLGetCurrentContext"] = 0
    with pytest.raises(cl.LogicError, match=NO_CONTEXT):
        cl.get_apple_cgl_share_group()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(gl, "_opengl", lambda: iter([("wgl", "opengl32"), ("egl", "libEGL")]))
    current = {"wglGetCurrentContext": 5, "wglGetCurrentDC": 6}
    monkeypatch.setattr(gl, "_call", lambda library, name: current.get(name, 0))
    expected = [(KEYS.GL_CONTEXT_KHR, 5), (KEYS.WGL_HDC_KHR, 6)]
    assert tools.get_gl_sharing_context_properties() == expected
    current.clear()
    current |= {"eglGetCurrentContext": 7, "eglGetCurrentDisplay": 8}
    expected = [(KEYS.GL_CONTEXT_KHR, 7), (KEYS.EGL_DISPLAY_KHR, 8)]
    assert tools.get_gl_sharing_context_properties() == expected
    monkeypatch.undo()
    if sys.platform != "darwin":
        with pytest.raises(NotImplementedError, match="macOS"):
            cl.get_apple_cgl_share_group()
    monkeypatch.setattr(sys, "platform", "plan9")
    monkeypatch.delattr(os, "RTLD_NOLOAD", raising=False)
    with pytest.raises(NotImplementedError, match="plan9"):
        tools.get_gl_sharing_context_properties()


# ---- with the extension -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shims(device, tmp_path_factory):
    """gl_shim.c compiled twice, with exported functions and without; the environment to run in."""
    if not (SOURCES / "cl.fn").exists():
        pytest.skip("no C sources beside the tests")
    folder, real = tmp_path_factory.mktemp("gl"), _opencl._library()
    command = [
        compiler(),
        "-std=gnu11",
        "-shared",
        "-fPIC",
        "-Wall",
        "-Werror",
        "-I",
        SOURCES,
        "-I",
        SOURCES.parents[1],
    ]
    command += [f'-DREAL_LIBRARY="{real}"', HERE / "gl_shim.c", "-Wl,--no-as-needed"]
    command += [real if os.sep in real else f"-l:{real}"]
    path = [str(Path(real).parent)] if os.sep in real else []
    path += filter(None, [os.environ.get("LD_LIBRARY_PATH")])
    names = [name for name in _opencl._functions() if "GL" in name]
    hidden = ["-DHIDDEN", *(f"-Wl,--defsym={name}=0" for name in names)]
    for name, more in (("shared.so", []), ("hidden.so", hidden)):
        subprocess.run([*command, "-o", folder / name, *more, "-ldl"], check=True)
    return folder, {"GL_SHIM_REAL": real, "LD_LIBRARY_PATH": os.pathsep.join(path)}


@pytest.mark.parametrize("name", cases())
def test_on_a_driver_that_shares(name, shims, device):
    if device != next(d for p in cl.get_platforms() for d in p.get_devices()):
        pytest.skip("the cases run on the first device")
    if name == "images" and not device.image_support:
        pytest.skip("the device has no images")
    folder, environment = shims
    library = folder / ("hidden.so" if name == "functions_of_the_platform" else "shared.so")
    done = run(
        str(HERE / "gl_cases.py"),
        name,
        PYGPU_OPENCL_LIBRARY=str(library),
        **environment,
        **ENVIRONMENT.get(name, {}),
    )
    assert done.returncode == 0, done.stderr
