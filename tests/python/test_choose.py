"""Choosing devices: PyOpenCL's rules, measured on it, and what pygpu adds to them.

Platforms are stand-ins, so that there are several with several devices on any machine.
"""

import builtins
import importlib
import sys
import types

import pytest

import pygpu.errors
from pygpu._src.runtime.opencl import device_selection as choose


class Thing:
    """A device or a platform."""

    def __init__(self, name, devices=()):  # devices: or the error of listing them
        self.name, self.devices = name, devices

    def get_devices(self):
        if isinstance(self.devices, Exception):
            raise self.devices
        return list(self.devices)

    def __repr__(self):
        return f"<{self.name}>"


CPU, GPU, BIG = Thing("Intel CPU i7"), Thing("Iris GPU"), Thing("GeForce GPU")
INTEL, NVIDIA = Thing("Intel OpenCL", [CPU, GPU]), Thing("NVIDIA CUDA", [BIG])
CLOVER = Thing("Clover")


class Terminal:
    """Standard input with a user, or without."""

    def __init__(self, is_terminal, typed):
        self.is_terminal, self.typed, self.prompts = is_terminal, iter(typed), []

    def isatty(self):
        return self.is_terminal

    def input(self, prompt=""):
        self.prompts.append(prompt)
        answer = next(self.typed, None)
        if answer is None:
            raise EOFError
        if answer == "^C":
            raise KeyboardInterrupt
        return answer


@pytest.fixture
def world(monkeypatch):
    """Sets the platforms and what the user types; no terminal unless something is typed."""
    for name in (*choose.CTX_VARIABLES, *choose.TEST_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(choose, "_was_reported", False)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)

    def make(platforms=(INTEL, NVIDIA), typed=None):
        fake = types.SimpleNamespace(
            get_platforms=lambda: list(platforms), Context=lambda devices: ("context", devices)
        )
        monkeypatch.setattr(choose, "_opencl", fake)
        terminal = Terminal(typed is not None, typed or ())
        monkeypatch.setattr(sys, "stdin", terminal)
        monkeypatch.setattr(builtins, "input", terminal.input)
        return terminal

    return make


@pytest.mark.parametrize(
    ("answers", "devices"),
    [
        (["0"], [CPU]),
        ([], [CPU]),
        ([""], [CPU]),
        (["", ""], [CPU]),
        (["0", "1"], [GPU]),
        (["0", "1,0"], [GPU, CPU]),
        (["0", "0,0"], [CPU, CPU]),
        (["0", ""], [CPU]),
        (["1"], [BIG]),
        (["1", "0"], [BIG]),
        (["nvi"], [BIG]),
        (["INTEL", "gpu"], [GPU]),
        (["intel", "i7, iris"], [CPU, GPU]),
        (["n"], [BIG]),  # of several platforms that fit, the last
        (["intel", "i"], [CPU]),  # of several devices that fit, the first
        ([0, 1], [GPU]),
        (("0", "1"), [GPU]),
    ],
)
def test_answers(world, answers, devices):
    world()
    before = list(answers)
    assert choose.choose_devices(answers=answers) == devices
    assert list(answers) == before  # the caller's list is not used up
    assert choose.create_some_context(answers=answers) == ("context", devices)


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        (["5"], "input did not match any platform"),
        (["-1"], "input did not match any platform"),
        (["amd"], "input did not match any platform: 'amd' .* there are: .0. Intel OpenCL, .1. NV"),
        (["0", "2"], "input did not match any device"),
        (["0", "0,tesla"], "input did not match any device: 'tesla'"),
        (["0", "0", "1"], "not all provided choices were used .*left over: '1'"),
        (["0", "0", "1", "x"], "left over: '1:x'"),
        (["1", "", ""], "left over: ''"),
    ],
)
def test_wrong_answers(world, answers, text):
    world()
    with pytest.raises(pygpu.errors.RuntimeError, match=text) as info:
        choose.choose_devices(answers=answers)
    assert isinstance(info.value, builtins.RuntimeError)


def test_one_text_is_not_a_list_of_answers(world):
    world()
    with pytest.raises(TypeError, match=r"choose_devices: answers .* not '0:1'"):
        choose.choose_devices(answers="0:1")


@pytest.mark.parametrize(
    ("environment", "devices"),
    [
        ({"PYOPENCL_CTX": "1"}, [BIG]),
        ({"PYOPENCL_CTX": "intel:1"}, [GPU]),
        ({"PYOPENCL_CTX": ""}, [CPU]),
        ({"PYOPENCL_CTX": ":"}, [CPU]),
        ({"PYOPENCL_CTX": ":1"}, [GPU]),
        ({"PYOPENCL_CTX": "0:1", "PYGPU_CTX": "1"}, [BIG]),
        ({"PYGPU_CTX": "0:iris"}, [GPU]),
    ],
)
def test_environment(world, monkeypatch, environment, devices):
    world()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert choose.choose_devices() == devices


def test_what_the_environment_leaves_open_is_asked(world, monkeypatch):
    terminal = world(typed=["1"])
    monkeypatch.setenv("PYGPU_CTX", "0")
    assert choose.choose_devices() == [GPU]
    assert terminal.prompts == ["Choice, comma-separated [0]:"]
    monkeypatch.setenv("PYGPU_CTX", "0:0")
    assert choose.choose_devices() == [CPU]


def test_answers_go_before_the_environment(world, monkeypatch):
    world()
    monkeypatch.setenv("PYGPU_CTX", "1")
    assert choose.choose_devices(answers=["0"]) == [CPU]


def test_left_over_in_the_environment(world, monkeypatch):
    world()
    monkeypatch.setenv("PYOPENCL_CTX", "::")
    with pytest.raises(pygpu.errors.RuntimeError, match="left over: ''"):
        choose.choose_devices()


@pytest.mark.parametrize("name", choose.TEST_VARIABLES)
def test_test_variables_go_before_the_others(world, monkeypatch, name):
    testing = importlib.import_module("pygpu._src.runtime.opencl.test_devices")
    world()
    monkeypatch.setattr(
        testing, "get_test_platforms_and_devices", lambda: [(CLOVER, []), (INTEL, [GPU, CPU])]
    )
    monkeypatch.setenv(name, "intel:gpu,0")
    monkeypatch.setenv("PYOPENCL_CTX", "nonsense")
    assert choose.choose_devices() == [GPU]
    assert choose.choose_devices(answers=["1"]) == [BIG]


def test_prompts(world, capsys):
    terminal = world(typed=["0", "1"])
    assert choose.choose_devices() == [GPU]
    assert terminal.prompts == ["Choice [0]:", "Choice, comma-separated [0]:"]
    assert capsys.readouterr().out.splitlines() == [
        "Choose platform:",
        "[0] <Intel OpenCL>",
        "[1] <NVIDIA CUDA>",
        "Choose device(s):",
        "[0] <Intel CPU i7>",
        "[1] <Iris GPU>",
        "Set the environment variable PYGPU_CTX='0:1' to avoid being asked again.",
    ]


def test_a_single_device_needs_no_question(world, capsys):
    terminal = world(typed=["nvidia"])
    assert choose.choose_devices() == [BIG]
    assert terminal.prompts == ["Choice [0]:"]
    out = capsys.readouterr().out
    assert "Choosing only available device: <GeForce GPU>" in out
    assert "PYGPU_CTX='nvidia'" in out


def test_given_answers_are_in_the_advice(world, capsys):
    terminal = world(typed=["iris"])
    assert choose.choose_devices(answers=["0"]) == [GPU]
    assert terminal.prompts == ["Choice, comma-separated [0]:"]
    assert "PYGPU_CTX='0:iris'" in capsys.readouterr().out


def test_enter_is_the_default(world):
    world(typed=["", ""])
    assert choose.choose_devices() == [CPU]


def test_end_of_input_is_the_default(world, capsys):
    terminal = world(typed=[])
    assert choose.choose_devices() == [CPU]
    assert len(terminal.prompts) == 2
    assert "Choice" not in capsys.readouterr().err


def test_ctrl_c_at_the_prompt(world):
    world(typed=["^C"])
    with pytest.raises(KeyboardInterrupt):
        choose.choose_devices()


@pytest.mark.parametrize("stdin", [None, "closed"])
def test_no_standard_input(world, monkeypatch, stdin, tmp_path):
    world()
    if stdin == "closed":
        stdin = open(tmp_path / "x", "w+")
        stdin.close()
    monkeypatch.setattr(sys, "stdin", stdin)
    assert choose.choose_devices() == [CPU]


def test_interactive_overrides_the_terminal(world, capsys):
    terminal = world(typed=["1"])
    assert choose.choose_devices(interactive=False) == [CPU]
    assert terminal.prompts == [] and capsys.readouterr().out == ""
    terminal.is_terminal = False
    assert choose.choose_devices(interactive=True) == [BIG]


def test_not_interactive_says_nothing(world, capsys):
    world()
    assert choose.choose_devices() == [CPU]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("broken", [CLOVER, Thing("broken", pygpu.errors.RuntimeError("driver"))])
def test_the_default_has_a_device(world, capsys, broken):
    terminal = world([broken, INTEL], typed=["", ""])
    assert choose.choose_devices(interactive=False) == [CPU]
    assert choose.choose_devices() == [CPU]
    assert terminal.prompts[0] == "Choice [1]:"
    assert choose.choose_devices(answers=["1"]) == [CPU]  # indices are those of get_platforms()


def test_a_platform_without_devices_that_was_asked_for(world):
    world([CLOVER, INTEL])
    with pytest.raises(pygpu.errors.Error, match="no devices found on the platform 'Clover'"):
        choose.choose_devices(answers=["0"])


def test_what_may_keep_pocl_from_having_a_device(monkeypatch, tmp_path):
    name = "Portable Computing Language"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert "set POCL_CACHE_DIR" in choose.why_no_devices(name)
    assert str(tmp_path) in choose.why_no_devices(name)
    assert choose.why_no_devices("Clover") == ""
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "new" / "cache"))  # PoCL makes it
    assert choose.why_no_devices(name) == ""
    monkeypatch.delenv("POCL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert str(tmp_path / "file" / "pocl") in choose.why_no_devices(name)


def test_no_device_at_all(world):
    world([CLOVER])
    with pytest.raises(pygpu.errors.Error, match="no devices found"):
        choose.choose_devices()


def no_platform():
    raise pygpu.errors._make_error(
        "LogicError", "", "clGetPlatformIDs", -1001, "PLATFORM_NOT_FOUND_KHR", "apt-get ...", ""
    )


def test_no_platform(world, monkeypatch):
    world()
    monkeypatch.setattr(choose._opencl, "get_platforms", no_platform)
    for kind in (pygpu.errors.LogicError, builtins.RuntimeError):  # get_platforms', PyOpenCL's
        with pytest.raises(kind, match="apt-get") as info:
            choose.choose_devices()
        assert info.value.code == -1001


def test_other_errors_pass(world, monkeypatch):
    world()

    def broken():
        raise pygpu.errors._make_error("LogicError", "", "f", -30, "INVALID_VALUE", None, "")

    monkeypatch.setattr(choose._opencl, "get_platforms", broken)
    with pytest.raises(pygpu.errors.LogicError, match="INVALID_VALUE"):
        choose.choose_devices()


def in_notebook(monkeypatch, kernel=True):
    shell = types.SimpleNamespace(**({"kernel": object()} if kernel else {}))
    fake = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", fake)


def test_a_notebook_gets_one_hint(world, monkeypatch, capsys):
    world()
    in_notebook(monkeypatch)
    assert choose.choose_devices() == [CPU]
    out = capsys.readouterr().out
    assert out.startswith("Using <Intel CPU i7>") and "os.environ['PYGPU_CTX']" in out
    assert choose.choose_devices() == [CPU]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("answers", [["0", "0"], ["0"]])
def test_a_notebook_that_has_chosen_gets_no_hint(world, monkeypatch, capsys, answers):
    world()
    in_notebook(monkeypatch)
    choose.choose_devices(answers=answers)
    assert capsys.readouterr().out == ""


def test_a_notebook_without_a_choice_gets_no_hint(world, monkeypatch, capsys):
    world([NVIDIA])
    in_notebook(monkeypatch)
    assert choose.choose_devices() == [BIG]
    assert capsys.readouterr().out == ""


def test_ipython_in_a_script_is_not_a_notebook(world, monkeypatch, capsys):
    world()
    in_notebook(monkeypatch, kernel=False)
    choose.choose_devices()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    choose.choose_devices()
    assert capsys.readouterr().out == ""
