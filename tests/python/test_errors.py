"""Exception classes: what they are, what they carry, pickling."""

from __future__ import annotations

import builtins
import copy
import pickle
import warnings

import pytest

import pygpu as cl
from pygpu import _opencl, errors


def test_classes():
    assert issubclass(cl.Error, Exception)
    for cls in (cl.LogicError, cl.MemoryError, cl.RuntimeError):
        assert issubclass(cls, cl.Error) and cls.__module__ == "pygpu"
    assert issubclass(cl.MemoryError, builtins.MemoryError)
    assert issubclass(cl.RuntimeError, builtins.RuntimeError)
    assert not issubclass(cl.LogicError, (ValueError, TypeError))
    assert issubclass(cl.InvalidArgumentError, (cl.LogicError)) and issubclass(
        cl.InvalidArgumentError, ValueError
    )
    assert issubclass(cl.InvalidArgumentTypeError, cl.LogicError) and issubclass(
        cl.InvalidArgumentTypeError, TypeError
    )
    for warning in (cl.CompilerWarning, cl.RepeatedKernelRetrieval, cl.CommandQueueUsedAfterExit):
        assert issubclass(warning, UserWarning)
    for name in errors.__all__:
        assert getattr(cl, name) is getattr(errors, name)


def test_made_without_init():
    """As libraries do that bring an exception to another process."""
    for name in errors.__all__:
        cls = getattr(errors, name)
        made = cls.__new__(cls, "words")
        assert type(made) is cls and made.args == ("words",) and str(made) == "words"


def raised(device, routine="clGetDeviceInfo", code=-6):
    _opencl._fault(routine, code)
    try:
        with pytest.raises(cl.Error) as caught:
            _ = device.name
    finally:
        _opencl._fault(None, 0)
    return caught.value


def test_what_an_error_carries(device):
    error = raised(device, code=-33)
    assert error.code == -33 and error.routine == "clGetDeviceInfo"
    assert str(error).startswith("clGetDeviceInfo failed: INVALID_DEVICE")
    assert (
        error.what.code() == -33
        and error.what.routine() == "clGetDeviceInfo"
        and isinstance(error.what.what(), str)
    )
    assert not error.is_out_of_memory() and not error.what.is_out_of_memory()
    assert error.args == (error.what,)
    assert "INVALID_DEVICE" in repr(error)


def test_class_and_name_of_every_code(device):
    """As PyOpenCL sorts them: -4 is memory, -30 and below is logic, the rest run time."""
    for code in range(-1100, 0):
        error = raised(device, code=code)
        expected = (
            cl.MemoryError if code == -4 else cl.LogicError if code <= -30 else cl.RuntimeError
        )
        assert type(error) is expected and error.code == code
        names = [name for name, value in cl.status_code._members().items() if value == code]
        name = str(error).split("failed: ")[1].split(" ")[0]
        assert name in names or (not names and name == "UNKNOWN_STATUS"), code
        assert error.is_out_of_memory() == (code in (-4, -5, -6))


@pytest.mark.parametrize("code", [1, 5, -99999, -(2**31)])
def test_codes_out_of_the_ordinary(device, code):
    error = raised(device, code=code)
    assert error.code == code and "UNKNOWN_STATUS" in str(error)


@pytest.mark.parametrize("code", [-4, -5, -30, -9999])
def test_pickle_and_copy(device, code):
    error = raised(device, code=code)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is type(error)
        assert (str(twin), twin.code, twin.routine) == (str(error), error.code, error.routine)


def test_pickle_of_our_own_checks(ctx):
    with pytest.raises(ValueError) as caught:
        cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 0)
    twin = pickle.loads(pickle.dumps(caught.value))
    assert (
        type(twin) is cl.InvalidArgumentError
        and twin.code == cl.status_code.INVALID_BUFFER_SIZE
        and twin.routine == "Buffer"
    )


def copy_of_a_buffer(queue, buffer):
    cl.enqueue_copy(queue, buffer, buffer, src_offset=0, dst_offset=1, byte_count=2)


def copy_of_a_box(queue, buffer):
    box = {"src_origin": (0, 0), "dst_origin": (1, 0), "region": (2, 2)}
    cl.enqueue_copy(queue, buffer, buffer, **box, src_pitches=(8,), dst_pitches=(8,))


def copy_of_shared_memory(queue, buffer):
    if not cl.characterize.has_coarse_grain_buffer_svm(queue.device):
        pytest.skip("the device has no shared virtual memory")
    memory = cl.csvm_empty(queue.context, 8, "u1")
    cl.enqueue_copy(queue, cl.SVM(memory[:6]), cl.SVM(memory[1:7]))


def part_of_a_buffer(queue, buffer):
    if queue.device.mem_base_addr_align == 8:
        pytest.skip("the device takes sub-buffers at any offset")
    buffer[1:]


@pytest.mark.parametrize(
    "refused",
    [copy_of_a_buffer, copy_of_a_box, copy_of_shared_memory, part_of_a_buffer],
    ids=lambda f: f.__name__,
)
def test_what_is_refused_here_has_the_class_of_its_status(ctx, refused):
    """PyOpenCL's class for codes from -1 to -29, and ValueError besides."""
    queue = cl.CommandQueue(ctx)
    buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 64)
    with pytest.raises(cl.UnsupportedArgumentError) as caught:
        refused(queue, buffer)
    assert -30 < caught.value.code < 0
    assert isinstance(caught.value, cl.RuntimeError) and isinstance(caught.value, ValueError)
    assert not isinstance(caught.value, cl.LogicError)


def test_made_by_a_program():
    error = cl.LogicError("my own text")
    assert (
        str(error) == "my own text"
        and error.code == 0
        and error.routine == ""
        and error.what == "my own text"
    )
    assert not error.is_out_of_memory()
    empty = cl.RuntimeError()
    assert str(empty) == "" and empty.code == 0 and empty.what == ""
    with pytest.raises(builtins.MemoryError):
        raise cl.MemoryError("none left")


def test_hints():
    """What can be done about a common error is said, unless the call said something better."""
    error = errors._make_error("LogicError", "", "clX", -30, "INVALID_VALUE", None, "do this")
    assert str(error) == "clX failed: INVALID_VALUE - do this"
    error = errors._make_error("LogicError", "", "clX", -30, "INVALID_VALUE", "seven", "")
    assert str(error) == "clX failed: INVALID_VALUE - seven"
    error = errors._make_error("LogicError", "", "clX", -30, "INVALID_VALUE", None, "")
    assert str(error) == "clX failed: INVALID_VALUE"


def test_driver_errors_are_not_swallowed_by_wider_handlers(ctx):
    """`except ValueError` catches what our own checks find, `except cl.LogicError` both."""
    with pytest.raises(ValueError):
        cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 0)
    _opencl._fault("clCreateBuffer", cl.status_code.INVALID_VALUE)
    try:
        with pytest.raises(cl.LogicError) as caught:
            cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 4)
    finally:
        _opencl._fault(None, 0)
    assert not isinstance(caught.value, ValueError)


def test_warnings_can_be_errors(ctx):
    queue = cl.CommandQueue(ctx)
    queue._finalize()
    with warnings.catch_warnings():
        warnings.simplefilter("error", cl.CommandQueueUsedAfterExit)
        with pytest.raises(cl.CommandQueueUsedAfterExit):
            cl.enqueue_barrier(queue)
