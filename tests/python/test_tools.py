"""pygpu.tools: templates, the small tools, and the choice of test devices."""

import sys
import types

import numpy as np
import pytest

import pygpu as cl
from pygpu import tools

# --- templates


class Doubler(tools.KernelTemplateBase):
    def __init__(self, processor=None):
        super().__init__(template_processor=processor)
        self.built = 0

    def build_inner(self, context, dtype, name="k"):
        self.built += 1
        renderer = self.get_renderer(
            {"item_t": dtype}, {"name": name, "macro_body": "x *\n2"}, context=context
        )
        arguments = renderer.render_argument_list("item_t *data, /* many */ int n")
        preamble = renderer.get_type_decl_preamble(context.devices[0], ["int"], arguments)
        source = f"""//CL:printf//
            {preamble}
            #define DOUBLE(x) %(macro_body)s
            __kernel void %(name)s({", ".join(a.declarator() for a in arguments)}) {{
                int i = get_global_id(0);
                if (i < n) data[i] = DOUBLE(data[i]);
            }}"""
        return renderer.get_rendered_kernel(source, name)


def test_template_builds_once_and_runs(ctx, queue):
    template = Doubler()
    kernel = template.build(ctx, np.dtype(np.float32))
    assert template.build(ctx, np.dtype(np.float32)) is kernel
    assert template.build(ctx, np.dtype(np.int32), name="other") is not kernel
    assert template.built == 2
    data = np.arange(5, dtype=np.float32)
    flags = cl.mem_flags
    buffer = cl.Buffer(ctx, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=data)
    kernel(queue, data.shape, None, buffer, np.int32(4))
    out = np.empty_like(data)
    cl.enqueue_copy(queue, out, buffer)
    np.testing.assert_array_equal(out, [0, 2, 4, 6, 4])


def test_template_processors():
    template = Doubler()
    assert template.get_text_template("%d ${x}").render({}) == "%d ${x}"
    assert template.get_text_template("//CL:none//%d").render({}) == "%d"
    assert template.get_text_template("//CL:printf//%(x)s").render({"x": 3}) == "3"
    assert Doubler("printf").get_text_template("//CL//%(x)s").render({"x": 3}) == "3"
    with pytest.raises(RuntimeError, match="unknown template processor 'jinja'"):
        template.get_text_template("//CL:jinja//")
    renderer = template.get_renderer({"t": np.int8}, {"x": "1"})
    assert renderer(None) is None
    assert renderer("//CL:printf//a%(x)s") == "a1"
    assert renderer.render_argument_list([("t", "c"), "t *p"], with_offset=True) == [
        tools.ScalarArg(np.int8, "c"),
        tools.VectorArg(np.int8, "p", with_offset=True),
    ]
    with pytest.raises(ValueError, match="context not provided"):
        renderer.get_rendered_kernel("", "k")
    with pytest.raises(RuntimeError, match="end-of-line comments"):
        template.get_renderer({}, {"macro_x": "a // b"})


def test_mako_template():
    pytest.importorskip("mako", reason="needs the package mako")
    text = Doubler("mako").get_text_template("%for i in range(2):\n${x}${i}\n%endfor\n")
    assert text.render({"x": "a"}) == "a0\na1\n"
    with pytest.raises(NameError):
        text.render({})


def test_template_declares_complex_and_structs(ctx):
    device = ctx.devices[0]
    dtype, c_decl = tools.match_dtype_to_c_struct(
        device, "tools_tpl", np.dtype([("a", np.int8), ("z", np.complex64)])
    )
    dtype = tools.get_or_register_dtype("tools_tpl", dtype)
    renderer = Doubler().get_renderer([("z_t", np.complex64), ("s_t", dtype)], [])
    preamble = renderer.get_type_decl_preamble(device, ["tools_tpl"])
    assert preamble.count(c_decl) == 1
    assert preamble.index("pyopencl-complex.h") < preamble.index(c_decl)
    source = f"{preamble}\n__kernel void k(__global s_t *s, __global z_t *z) {{ z[0] = s[0].z; }}"
    assert cl.Program(ctx, source).build().k.num_args == 2


# --- small ones


def test_bitlog2():
    for n in (1, 2, 3, 255, 256, 257, 2**31, 2**64 - 1, 2**64, 2**100):
        assert 2 ** tools.bitlog2(n) <= n < 2 ** (tools.bitlog2(n) + 1)
    assert tools.bitlog2(0) == 0
    assert tools.bitlog2(np.uint8(200)) == 7
    with pytest.raises(ValueError, match="negative"):
        tools.bitlog2(-1)
    with pytest.raises((TypeError, AttributeError)):
        tools.bitlog2(1.5)


def test_is_spirv():
    assert tools.is_spirv(b"\x03\x02\x23\x07rest") and tools.is_spirv(b"\x07\x23\x02\x03rest")
    assert not tools.is_spirv(b"\x03\x02\x23") and not tools.is_spirv("\x03\x02\x23\x07")
    assert not tools.is_spirv(b"__kernel")


def test_array_module():
    assert tools.array_module(np.zeros(3)) is np
    with pytest.raises(TypeError, match="array type not understood"):
        tools.array_module([1, 2])


def test_pools_are_reachable(ctx, queue):
    pool = tools.MemoryPool(tools.ImmediateAllocator(queue))
    block = pool.allocate(1000)
    assert isinstance(block, tools.PooledBuffer)
    assert pool.active_blocks == 1
    with pytest.raises(AttributeError, match="no attribute 'NoSuchPool'"):
        tools.NoSuchPool  # noqa: B018
    missing = [name for name in tools.__all__ if not hasattr(tools, name)]
    assert not missing


def test_array_module_of_a_device_array(monkeypatch):
    """With a stand-in for the array module, which need not be loaded for NumPy's arrays."""

    class Array:
        queue = "the queue"

        def get(self):
            return "fetched"

    module = types.SimpleNamespace(
        Array=Array,
        dot=lambda x, y, queue: (x, y, queue)[0],
        vdot=lambda x, y, queue: (x, y, queue)[1],
        empty=lambda queue, shape, dtype, order: (queue, shape, dtype, order),
        hstack=lambda arrays, queue: (arrays, queue),
    )
    monkeypatch.setitem(sys.modules, "pygpu.array", module)
    found = tools.array_module(Array())
    assert found.ndarray is Array
    assert found.dot(Array(), 0) == found.vdot(0, Array()) == "fetched"
    assert found.empty(3, "f4") == ("the queue", 3, "f4", "C")
    assert found.hstack([1]) == ([1], "the queue")


# --- choosing test devices


def first_with_devices() -> int:
    return next(k for k, platform in enumerate(cl.get_platforms()) if platform.get_devices())


def test_platforms_and_devices_by_string():
    everything = tools.get_test_platforms_and_devices("")
    assert everything == [(p, p.get_devices()) for p in cl.get_platforms()]
    k = first_with_devices()
    platform, devices = everything[k]
    assert tools.get_test_platforms_and_devices(f"{k}:0") == [(platform, devices[:1])]
    assert tools.get_test_platforms_and_devices(f"{k}") == [(platform, devices)]
    part = platform.name[2:9].upper()
    assert tools.get_test_platforms_and_devices(f"{part}:0,0")[0][1] == [devices[0]] * 2
    assert len(tools.get_test_platforms_and_devices(f"{k}:0;{k}:0")) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [("0:0:0", "invalid syntax"), ("99", "'99'.*not found"), ("0:no such", "'no such'.*not found")],
)
def test_bad_device_strings(text, message):
    with pytest.raises(RuntimeError, match=message):
        tools.get_test_platforms_and_devices(text)


def test_device_choice_from_the_environment(monkeypatch):
    monkeypatch.setenv("PYOPENCL_TEST", "98")
    monkeypatch.delenv("PYGPU_TEST", raising=False)
    with pytest.raises(RuntimeError, match="'98'"):
        tools.get_test_platforms_and_devices()
    monkeypatch.setenv("PYGPU_TEST", f"{first_with_devices()}:0")
    assert len(tools.get_test_platforms_and_devices()) == 1
