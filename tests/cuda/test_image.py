"""Modules: loading images, functions and variables by name, damaged images."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest

from pygpu import _cuda
from pygpu.cuda import driver as cuda
from pygpu.cuda.compiler import SourceModule, compile

SOURCE = """
__device__ int counter = 41;
__constant__ float factors[4];
__global__ void count(int *out) { out[0] = ++counter; }
__global__ void scale(float *x) { x[threadIdx.x] *= factors[threadIdx.x]; }
"""


@pytest.fixture(scope="module")
def cubin():
    cuda.init()
    return compile(SOURCE)


def test_functions_and_variables(context, cubin):
    module = cuda.module_from_buffer(cubin)
    x = np.ones(4, np.float32)
    pointer, size = module.get_global("factors")
    assert isinstance(pointer, int) and pointer and size == 16
    cuda.memcpy_htod(pointer, np.arange(4, dtype=np.float32))
    module.get_function("scale")(cuda.InOut(x), block=(4, 1, 1))
    assert x.tolist() == [0, 1, 2, 3]
    pointer, size = module.get_global("counter")
    assert size == 4
    out = np.zeros(1, np.int32)
    for want in (42, 43):
        module.get_function("count")(cuda.Out(out), block=(1, 1, 1))
        assert out[0] == want
    cuda.memcpy_dtoh(out, pointer)
    assert out[0] == 43
    assert isinstance(module.handle, int) and module.context == context


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.frombuffer])
def test_buffers(context, cubin, kind):
    image = np.frombuffer(cubin, np.uint8) if kind is np.frombuffer else kind(cubin)
    module = cuda.module_from_buffer(image)
    out = np.zeros(1, np.int32)
    module.get_function("count")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 42


def test_files(context, cubin, tmp_path):
    path = tmp_path / "kerneł.cubin"
    path.write_bytes(cubin)
    for name in (path, str(path), str(path).encode()):
        out = np.zeros(1, np.int32)
        cuda.module_from_file(name).get_function("count")(cuda.Out(out), block=(1, 1, 1))
        assert out[0] == 42
    with pytest.raises(cuda.RuntimeError, match="cuModuleLoad failed: .*none.cubin"):
        cuda.module_from_file(tmp_path / "none.cubin")
    with pytest.raises(cuda.RuntimeError, match="cuModuleLoad failed"):
        cuda.module_from_file(tmp_path)
    for wrong in (3, None):
        with pytest.raises(TypeError, match="module_from_file: filename must be a path, not"):
            cuda.module_from_file(wrong)
    with pytest.raises(ValueError, match="null"):
        cuda.module_from_file("a\0b")


def test_unknown_names(context, cubin):
    module = cuda.module_from_buffer(cubin)
    with pytest.raises(
        cuda.LogicError, match=r"no kernel is called 'other' \(is it inside extern \"C\""
    ):
        module.get_function("other")
    with pytest.raises(cuda.LogicError) as caught:
        module.get_function("other")
    assert str(caught.value).count("other") == 1
    with pytest.raises(cuda.LogicError, match="no variable is called 'other'"):
        module.get_global("other")
    with pytest.raises(cuda.LogicError):
        module.get_function("")
    for method in (module.get_function, module.get_global, module.get_texref):
        with pytest.raises(TypeError, match="name must be a str, not bytes"):
            method(b"count")
        with pytest.raises(ValueError, match="NUL"):
            method("co\0unt")
        with pytest.raises(UnicodeEncodeError):
            method("\udc80")


def test_references_are_gone(context, cubin):
    module = cuda.module_from_buffer(cubin)
    with pytest.raises(cuda.LogicError, match="'tex': .* texture references; pass a TextureObject"):
        module.get_texref("tex")
    with pytest.raises(
        cuda.LogicError, match="'surf': .* surface references; pass a SurfaceObject"
    ):
        module.get_surfref("surf")


@pytest.mark.parametrize("keep", [0, 1, 4, 16, 63, 64, 200, 0.5, -1])
def test_images_cut_short(context, cubin, keep):
    """The driver is not told how long an image is, and would read on."""
    cut = cubin[: int(len(cubin) * keep) if isinstance(keep, float) else keep]
    with pytest.raises(cuda.LogicError, match="image of .* bytes cannot be loaded"):
        cuda.module_from_buffer(cut)


def test_damaged_images(context, cubin):
    """Offsets in the headers that point anywhere are found before the driver follows them."""
    if not cubin.startswith(b"\x7fELF"):
        pytest.skip("needs a compiler whose images are ELF files")
    for at in (32, 40):
        damaged = bytearray(cubin)
        if damaged[56 if at == 32 else 60] == 0:
            continue
        damaged[at : at + 8] = b"\xff" * 8
        with pytest.raises(cuda.LogicError, match="cut short or damaged"):
            cuda.module_from_buffer(damaged)
        damaged[at : at + 8] = len(cubin).to_bytes(8, "little")
        with pytest.raises(cuda.LogicError, match="cut short or damaged"):
            cuda.module_from_buffer(damaged)


def other_bits(image: bytes, step: int):
    """The image with one bit changed, here and there."""
    for place in range(0, len(image), step):
        damaged = bytearray(image)
        damaged[place] ^= 1 << place % 8
        yield damaged


@pytest.mark.simulator  # a GPU's driver may take such an image for a good one
def test_images_with_other_bits(context, cubin):
    """The simulator's images are shared objects: what is loaded is believed, and runs."""
    for damaged in other_bits(cubin, 61):
        with pytest.raises((cuda.LogicError, cuda.RuntimeError)):
            cuda.module_from_buffer(damaged)
    module = cuda.module_from_buffer(cubin)
    assert module.get_function("scale") is not None


@pytest.mark.simulator  # a GPU's driver may take such an image for a good one
def test_pieces_with_other_bits_are_not_linked(context):
    one = compile("__global__ void k(int *out) { *out = 1; }", options=["-rdc=true"])
    other = compile("__device__ int f(int x) { return x + 1; }", options=["-rdc=true"])
    for damaged in other_bits(other, 307):
        linker = cuda.Linker()
        linker.add_data(one, cuda.jit_input_type.CUBIN)
        with pytest.raises((cuda.LogicError, cuda.RuntimeError), match="damaged|image|version"):
            linker.add_data(damaged, cuda.jit_input_type.CUBIN)
            linker.link_module()


@pytest.mark.parametrize(
    "image, words",
    [
        (b"", "it is empty"),
        (b"\x00\x01\x02", "not a cubin, fatbin or PTX"),
        (b"\xb1\x43\x62\x46" + bytes(60), "wrapper of a fatbin"),
        (b"\x50\xed\x55\xba\x01\x00\x10\x00" + b"\xff" * 8, "fatbin that was cut short"),
        (b"\x50\xed\x55\xba", "fatbin that was cut short"),
    ],
)
def test_invalid_images(context, image, words):
    with pytest.raises(cuda.LogicError, match=words):
        cuda.module_from_buffer(image)


def test_text_that_is_not_ptx(context):
    messages = []
    for image in ("this is no PTX", b"nor is this"):
        with pytest.raises((cuda.LogicError, cuda.RuntimeError), match="cuModuleLoadDataEx failed"):
            cuda.module_from_buffer(image, message_handler=lambda *said: messages.append(said))
    assert [said[0] for said in messages] == [False, False]
    assert all(isinstance(text, str) for said in messages for text in said[1:])


def test_options_and_messages(context, cubin):
    messages = []
    options = [(cuda.jit_option.MAX_REGISTERS, 32), (cuda.jit_option.OPTIMIZATION_LEVEL, 2)]
    for given in (options, tuple(options), dict(options), iter(options), None):
        cuda.module_from_buffer(cubin, given, lambda *said: messages.append(said))
    assert len(messages) == 5 and all(said[0] is True for said in messages)
    cuda.module_from_buffer(buffer=cubin, options=[], message_handler=None)

    def fail(ok, info, error):
        raise KeyError("handler")

    with pytest.raises(KeyError, match="handler"):
        cuda.module_from_buffer(cubin, message_handler=fail)


@pytest.mark.parametrize(
    "options, error",
    [
        (3, TypeError),
        ([3], TypeError),
        ([(1, 2, 3)], TypeError),
        (["ab"], TypeError),
        ([(1, "2")], TypeError),
        ([(1.0, 2)], TypeError),
        ([(-1, 2)], (OverflowError, ValueError)),
        ([(1, 2**70)], (OverflowError, ValueError)),
        ([(0, 1)] * 100, (TypeError, ValueError)),
        ([(3, 1)], cuda.LogicError),  # INFO_LOG_BUFFER: an address
        ([(5, 1)], cuda.LogicError),
    ],
)
def test_wrong_options(context, cubin, options, error):
    with pytest.raises(error):
        cuda.module_from_buffer(cubin, options)


def test_wrong_arguments(context, cubin):
    for wrong in (3, None, [1], object()):
        with pytest.raises(TypeError):
            cuda.module_from_buffer(wrong)
    with pytest.raises(TypeError, match="message_handler must be callable"):
        cuda.module_from_buffer(cubin, message_handler=3)
    with pytest.raises((ValueError, TypeError)):
        cuda.module_from_buffer(np.zeros((4, 4), np.uint8)[:, ::2])
    with pytest.raises(TypeError):
        cuda.module_from_buffer()


def test_objects(context, cubin):
    module = cuda.module_from_buffer(cubin)
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(module)
    with pytest.raises(TypeError):
        cuda.Module()
    assert module._source is None
    module._set_source("__global__ void count(int *counts) {}")
    assert module.get_function("count").parameters == [(0, 8, "int *counts")]
    for wrong in ((3,), ("", "ptx"), ()):
        with pytest.raises(TypeError):
            module._set_source(*wrong)
    assert SourceModule(SOURCE).module._source == SOURCE


def test_functions_of_a_module_share_their_plan(context, cubin):
    module = cuda.module_from_buffer(cubin)
    first, second = module.get_function("count"), module.get_function("count")
    assert first is not second and first.handle == second.handle


def test_a_plan_outlives_what_the_source_said(context, cubin):
    """An unreadable source neither helps nor harms."""
    module = cuda.module_from_buffer(cubin)
    module._set_source("__global__ void count(int a, int b) {} \udc80", b"\xff.entry count(")
    out = np.zeros(1, np.int32)
    module.get_function("count")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 42


def test_unloading(balance, cubin):
    for _ in range(3):
        module = cuda.module_from_buffer(cubin)
        function = module.get_function("count")
        del module
        out = np.zeros(1, np.int32)
        function(cuda.Out(out), block=(1, 1, 1))
        del function
    gc.collect()


def test_unloading_in_its_own_context(balance, cubin):
    other = cuda.Device(0).make_context()
    module = cuda.module_from_buffer(cubin)
    function = module.get_function("count")
    other.pop()
    del module, function
    other.push()
    module = cuda.module_from_buffer(cubin)
    other.detach()
    del module, other
    gc.collect()


@pytest.mark.parametrize(
    "routine", ["cuModuleLoadDataEx", "cuModuleGetFunction", "cuModuleGetGlobal"]
)
def test_faults(balance, cubin, routine):
    def use():
        module = cuda.module_from_buffer(cubin)
        module.get_function("count")
        module.get_global("counter")

    use()
    _cuda._fault(routine, 719)
    try:
        with pytest.raises(cuda.LaunchError, match=routine):
            use()
    finally:
        _cuda._fault(None, 0)
    _cuda._fault("cuModuleLoadDataEx", 2)
    try:
        use()  # out of memory once: garbage is collected, and it is tried again
    finally:
        _cuda._fault(None, 0)


def test_names_by_keyword(context, cubin):
    module = cuda.module_from_buffer(buffer=cubin, options=[], message_handler=None)
    assert module.get_global(name="factors")[1] == 16
    out = np.zeros(1, np.int32)
    module.get_function(name="count")(cuda.Out(out), block=1)
    assert out[0] == 42
    function = module.get_function("count")
    with pytest.raises(cuda.LogicError, match="99"):
        function.get_attribute(99)
    with pytest.raises(cuda.LogicError) as caught:  # which is not what that call said
        module.get_texref("x")
    assert "99" not in str(caught.value)
    for method in (module.get_texref, module.get_surfref):
        with pytest.raises(cuda.LogicError, match="CUDA 12 removed"):
            method(name="t")
    for wrong in ({}, {"name": "a", "other": 1}, {"names": "a"}, {"name": 3}):
        with pytest.raises(TypeError):
            module.get_function(**wrong)
    a = np.arange(3, dtype=np.int32)
    memory = cuda.to_device(bf_obj=a)
    assert (cuda.from_device_like(memory, a) == a).all()
    assert cuda.mem_alloc_like(ary=a).size == 12
