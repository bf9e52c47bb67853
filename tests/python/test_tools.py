"""pygpu.tools: the dtype registry, structures, argument lists, caches, templates and test
selection.
"""

import gc
import sys
import threading
import types
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import cltypes, tools
from pygpu.memoize import FirstArgCache

# --- dtype registry


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (np.int8, "char"),
        (np.uint8, "uchar"),
        (np.int16, "short"),
        (np.uint16, "ushort"),
        (np.int32, "int"),
        (np.uint32, "uint"),
        (np.int64, "long"),
        (np.uint64, "ulong"),
        (np.float16, "half"),
        (np.float32, "float"),
        (np.float64, "double"),
        (np.complex64, "cfloat_t"),
        (np.complex128, "cdouble_t"),
        (cltypes.float4, "float4"),
        ("<i4", "int"),
        (float, "double"),
    ],
)
def test_dtype_to_ctype(dtype, name):
    assert tools.dtype_to_ctype(dtype) == name


@pytest.mark.parametrize("dtype", [None, np.bool_, np.dtype("M8[s]"), np.dtype([("q", "f4")])])
def test_dtype_without_ctype(dtype):
    with pytest.raises(ValueError, match="dtype"):
        tools.dtype_to_ctype(dtype)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("unsigned", np.uint32),
        ("unsigned int", np.uint32),
        ("long unsigned int", np.uint64),
        ("signed short int", np.int16),
        ("short signed int", np.int16),
        ("unsigned char", np.uint8),
        ("intptr_t", np.intp),
        ("size_t", np.uintp),
        ("double3", cltypes.double3),
        (["uint", "unsigned int"], np.uint32),
    ],
)
def test_look_up_by_name(name, dtype):
    assert tools.get_or_register_dtype(name) == np.dtype(dtype)


def test_register_returns_the_first_equal_dtype():
    first = np.dtype([("tools_a", np.int32), ("tools_b", np.float32)])
    again = np.dtype([("tools_a", np.int32), ("tools_b", np.float32)])
    assert tools.get_or_register_dtype("tools_pair", first) is first
    assert tools.get_or_register_dtype("tools_pair", again) is first
    assert tools.get_or_register_dtype(["tools_pair_alias"], again) is first
    assert tools.dtype_to_ctype(again) == "tools_pair"
    assert tools.get_or_register_dtype("tools_pair_alias") is first


def test_conflict_registers_nothing():
    other = np.dtype([("tools_c", np.int8)])
    with pytest.raises(RuntimeError, match="'float' already registered to different dtype"):
        tools.get_or_register_dtype(["tools_new_name", "float"], other)
    with pytest.raises(tools.TypeNameNotKnown, match="tools_new_name"):
        tools.get_or_register_dtype("tools_new_name")
    with pytest.raises(KeyError):
        tools.get_or_register_dtype("tools_new_name")
    with pytest.raises(ValueError, match="different dtypes"):
        tools.get_or_register_dtype(["int", "float"])
    with pytest.raises(ValueError, match="empty"):
        tools.get_or_register_dtype([], np.int32)


def test_register_dtype_is_the_old_name():
    dtype = np.dtype([("tools_old", np.int64)])
    with pytest.warns(DeprecationWarning, match="get_or_register_dtype"):
        tools.register_dtype(dtype, "tools_old_t")
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError, match="tools_old_t"):
        tools.register_dtype(dtype, ["tools_older_t"])
    with pytest.warns(DeprecationWarning):
        tools.register_dtype(dtype, ["tools_older_t"], alias_ok=True)
    assert tools.get_or_register_dtype("tools_older_t") is dtype


def test_registries_of_other_languages():
    registry = tools.DTypeRegistry()
    tools.fill_registry_with_c_types(registry, respect_windows=False)
    assert registry.get_or_register_dtype("unsigned long") == np.uint64
    assert registry.dtype_to_ctype(np.bool_) == "bool"
    with pytest.raises(tools.TypeNameNotKnown):
        registry.get_or_register_dtype("float4")
    registry = tools.DTypeRegistry()
    tools.fill_registry_with_c99_stdint_types(registry)
    tools.fill_registry_with_c99_complex_types(registry)
    for bits in (8, 16, 32, 64):
        assert registry.dtype_to_ctype(f"int{bits}") == f"int{bits}_t"
        assert registry.dtype_to_ctype(f"uint{bits}") == f"uint{bits}_t"
    assert registry.dtype_to_ctype(np.complex128) == "double complex"
    assert tools.TYPE_REGISTRY.name_to_dtype is tools.NAME_TO_DTYPE
    assert tools.NAME_TO_DTYPE["uint"] == np.uint32
    assert tools.DTYPE_TO_NAME[np.dtype(np.uint32)] == tools.DTYPE_TO_NAME["uint32"] == "uint"


# --- structures


def measured_layout(ctx, queue, c_decl, dtype, name):
    """Write every byte of *dtype*'s fields on the host; let the device compare them by name."""
    rng = np.random.default_rng(5)
    record = np.zeros(3, dtype)
    for field in dtype.names:
        record[field] = rng.integers(1, 100, record[field].shape)
    outputs = []
    for field in dtype.names:
        base, shape = dtype.fields[field][0], ()
        if base.subdtype is not None:
            base, shape = base.subdtype
        ctype = tools.dtype_to_ctype(base)
        count = int(np.prod(shape, dtype=int))
        source = f"""
            #pragma OPENCL EXTENSION cl_khr_fp64: enable
            {c_decl}
            __kernel void get(__global const {name} *s, __global {ctype} *out) {{
                for (int r = 0; r < 3; ++r)
                    for (int i = 0; i < {count}; ++i)
                        out[r * {count} + i] = ((__global const {ctype} *) &s[r].{field})[i];
            }}"""
        out = np.zeros((3, *shape), base)
        flags = cl.mem_flags
        source_buffer = cl.Buffer(ctx, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=record)
        out_buffer = cl.Buffer(ctx, flags.WRITE_ONLY, out.nbytes)
        cl.Program(ctx, source).build().get(queue, (1,), None, source_buffer, out_buffer)
        cl.enqueue_copy(queue, out, out_buffer)
        outputs.append((record[field], out))
    return outputs


@pytest.mark.parametrize(
    "fields",
    [
        [("id", np.uint32), ("value", np.float32)],
        [("a", np.int8), ("b", np.float64), ("c", np.int8)],
        [("a", np.int8), ("b", np.int16), ("c", np.int8), ("d", np.int64), ("e", np.int8)],
        [("n", np.int8), ("v", np.float32, (2, 3)), ("m", np.int8, 5), ("w", np.int16)],
        [("n", np.int8), ("v", np.int64, (1,))],
    ],
)
def test_match_dtype_to_c_struct(ctx, queue, device, fields):
    plain = np.dtype(fields)
    matched, c_decl = tools.match_dtype_to_c_struct(device, "tools_matched", plain, context=ctx)
    assert matched.names == plain.names
    assert [matched.fields[n][0] for n in plain.names] == [plain.fields[n][0] for n in plain.names]
    for host, dev in measured_layout(ctx, queue, c_decl, matched, "tools_matched"):
        np.testing.assert_array_equal(host, dev)
    again, same_decl = tools.match_dtype_to_c_struct(device, "tools_matched", matched)
    assert again == matched and same_decl == c_decl


def test_struct_text(device):
    dtype = np.dtype([("id", np.uint32), ("v", np.float32, (2, 3))])
    _, c_decl = tools.match_dtype_to_c_struct(device, "id_val", dtype)
    assert c_decl == "typedef struct {\n  uint id;\n  float v[2][3];\n} id_val;\n\n"


def test_struct_without_context(device):
    matched, _ = tools.match_dtype_to_c_struct(
        device, "tools_lone", np.dtype([("a", np.int8), ("b", np.int64)])
    )
    assert matched.fields["b"][1] == 8 and matched.itemsize == 16


def test_struct_with_vector_complex_and_nested_fields(ctx, device):
    inner, inner_decl = tools.match_dtype_to_c_struct(
        device, "tools_inner", np.dtype([("d", np.int64), ("c", np.int8)]), ctx
    )
    inner = tools.get_or_register_dtype("tools_inner", inner)
    outer = np.dtype([("c", np.int8), ("f", cltypes.float4), ("z", np.complex64), ("n", inner, 2)])
    matched, c_decl = tools.match_dtype_to_c_struct(device, "tools_outer", outer, ctx)
    assert matched.fields["f"][1] == 16, "a float4 is aligned to its size"
    assert matched.fields["z"][1] == 32
    assert matched.fields["n"][1] == 40 and matched.fields["n"][0].itemsize == 32
    assert "cfloat_t z;" in c_decl and "tools_inner n[2];" in c_decl
    registered = tools.get_or_register_dtype("tools_outer", matched)
    assert tools.dtype_to_c_struct(device, registered) == c_decl
    assert tools.dtype_to_c_struct(device, inner) == inner_decl


def test_nested_structure_gets_its_padding(device):
    """An unpadded inner dtype, registered as it is, must not end up in an array of padded ones."""
    inner = tools.get_or_register_dtype(
        "tools_unpadded", np.dtype([("d", np.int64), ("c", np.int8)])
    )
    assert inner.itemsize == 9
    matched, _ = tools.match_dtype_to_c_struct(device, "tools_holder", np.dtype([("n", inner, 3)]))
    assert matched.itemsize == 48
    assert matched.fields["n"][0].subdtype[0].itemsize == 16
    with pytest.raises(ValueError, match="laid out differently"):
        tools.dtype_to_c_struct(device, np.dtype([("d", np.int64), ("c", np.int8)]))


def test_built_in_types_need_no_declaration(device):
    assert tools.dtype_to_c_struct(device, np.dtype(np.float32)) == ""
    assert tools.dtype_to_c_struct(device, cltypes.int3) == ""


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        (np.dtype(np.float32), "no fields"),
        (np.dtype([]), "no fields"),
        (np.dtype([("two words", "f4")]), "not a C identifier"),
        (np.dtype([("unknown", "?")]), "unable to map"),
        (
            np.dtype({"names": ["a", "b"], "formats": ["i4", "f4"], "offsets": [0, 2]}),
            "'a' and 'b'.*overlap",
        ),
    ],
)
def test_impossible_structures(device, dtype, message):
    with pytest.raises(ValueError, match=message):
        tools.match_dtype_to_c_struct(device, "tools_bad", dtype)
    with pytest.raises(ValueError, match="identifier"):
        tools.match_dtype_to_c_struct(device, "a b", np.dtype([("x", "f4")]))


# --- argument lists


def test_parse_arg_list():
    parsed = tools.parse_arg_list(
        "float *x, const int n, __global double *restrict y,\n unsigned int k[3], float4*v,"
        "const __global uchar * const volatile __restrict w, global half *h /* half, of them */,"
        " size_t const_size, cfloat_t z"
    )
    vector, scalar = tools.VectorArg, tools.ScalarArg
    assert parsed == [
        vector(np.float32, "x"),
        scalar(np.int32, "n"),
        vector(np.float64, "y"),
        vector(np.uint32, "k"),
        vector(cltypes.float4, "v"),
        vector(np.uint8, "w"),
        vector(np.float16, "h"),
        scalar(np.uintp, "const_size"),
        scalar(np.complex64, "z"),
    ]


def test_parse_arg_list_of_mixed_objects():
    given = tools.ScalarArg(np.int8, "c")
    image = tools.OtherArg("read_only image2d_t picture", "picture")
    parsed = tools.parse_arg_list([given, "float *x", image], with_offset=True)
    assert parsed[0] is given and parsed[2] is image
    assert parsed[1] == tools.VectorArg(np.float32, "x", with_offset=True)
    assert parsed[1] != tools.VectorArg(np.float32, "x")
    assert [a.declarator() for a in parsed] == [
        "char c",
        "__global float *x__base, long x__offset",
        "read_only image2d_t picture",
    ]
    assert tools.parse_arg_list("  ") == []
    with pytest.raises(TypeError, match="12 is neither"):
        tools.parse_arg_list([12])


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", ValueError, "couldn't parse"),
        ("float *", ValueError, "couldn't parse"),
        ("3x", ValueError, "couldn't parse"),
        ("float x y", ValueError, "unknown type 'float x'"),
        ("double", ValueError, "unknown type ''"),
        ("foo *x", ValueError, "unknown type 'foo'"),
        ("float **x", ValueError, "pointer to a pointer"),
        ("float *x[3]", ValueError, "pointer to a pointer"),
        ("float * const * x", ValueError, "pointer to a pointer"),
        ("__local float *x", RuntimeError, "local or constant"),
        ("constant float *x", RuntimeError, "local or constant"),
    ],
)
def test_bad_declarations(text, error, message):
    with pytest.raises(error, match=message):
        tools.parse_c_arg(text)


def test_arguments_are_values():
    one, same = tools.VectorArg("f4", "x"), tools.VectorArg(np.float32, "x")
    assert one == same and hash(one) == hash(same)
    assert one != tools.ScalarArg("f4", "x")
    assert repr(one) == "VectorArg(dtype=dtype('float32'), name='x', with_offset=False)"
    with pytest.raises(AttributeError):
        one.name = "y"
    with pytest.raises(TypeError):
        tools.Argument()


def test_argument_type_lists():
    arguments = tools.parse_arg_list(["int n", tools.VectorArg("f4", "x", True), "float *y"])
    int32, int64 = np.dtype(np.int32), np.dtype(np.int64)
    assert tools.get_arg_list_scalar_arg_dtypes(arguments) == [int32, None, int64, None]
    assert tools.get_arg_list_arg_types(arguments) == (int32, arguments[1], arguments[2])
    other = [tools.OtherArg("sampler_t s", "s")]
    for function in (tools.get_arg_list_scalar_arg_dtypes, tools.get_arg_list_arg_types):
        with pytest.raises(RuntimeError, match="arg type not understood"):
            function(other)


def test_offset_code_on_the_device(ctx, queue):
    arguments = [tools.VectorArg(np.int32, "x", with_offset=True), tools.VectorArg(np.int32, "y")]
    source = f"""__kernel void k({", ".join(a.declarator() for a in arguments)}) {{
        {tools.get_arg_offset_adjuster_code(arguments)}
        y[0] = x[0];
    }}"""
    data, out = np.arange(100, 110, dtype=np.int32), np.zeros(1, np.int32)
    flags = cl.mem_flags
    x = cl.Buffer(ctx, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=data)
    y = cl.Buffer(ctx, flags.WRITE_ONLY, 4)
    cl.Program(ctx, source).build().k(queue, (1,), None, x, np.int64(7 * 4), y)
    cl.enqueue_copy(queue, out, y)
    assert out[0] == 107


# --- memoizing


class Holder:
    """Something like a context: hashable, weakly referable, with attributes."""


class Slotted:
    __slots__ = ("__weakref__",)


class Bare:
    __slots__ = ()


class Handle:
    """Two of these are equal if their number is, as wrappers of one OpenCL handle are."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Handle) and self.number == other.number

    def __hash__(self):
        return hash(self.number)


@pytest.mark.parametrize("kind", [Holder, Slotted, Bare])
def test_memoize_calls_once_per_key(kind):
    calls = []

    @tools.first_arg_dependent_memoize
    def make(obj, *args, **kwargs):
        calls.append((args, kwargs))
        return object()

    one, two = kind(), kind()
    assert make(one, 1) is make(one, 1)
    assert make(one, 1) is not make(two, 1)
    assert make(one, 1) is not make(one, 1.0), "an equal number of another type makes other code"
    assert make(one, True) is not make(one, 1)
    assert make(one, x=1, y=2) is make(one, y=2, x=1)
    assert make(one, x=1) is not make(one, y=1)
    assert len(calls) == 7
    kept = make(one, 1)
    tools.clear_first_arg_caches()
    assert make(one, 1) is not kept
    assert make.__name__ == "make"
    assert tools.context_dependent_memoize is tools.first_arg_dependent_memoize


def test_memoize_keeps_none():
    calls = []

    @tools.first_arg_dependent_memoize
    def nothing(obj):
        calls.append(obj)

    holder = Holder()
    assert nothing(holder) is None and nothing(holder) is None
    assert len(calls) == 1


def test_memoize_rejects_what_has_no_hash():
    @tools.first_arg_dependent_memoize
    def make(obj, *args):
        return 1

    with pytest.raises(TypeError, match="unhashable"):
        make([])
    with pytest.raises(TypeError, match="unhashable"):
        make(Holder(), [])


def test_memoize_does_not_keep_what_failed():
    calls = []

    @tools.first_arg_dependent_memoize
    def fragile(obj):
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("first time")
        return "done"

    holder = Holder()
    with pytest.raises(RuntimeError, match="first time"):
        fragile(holder)
    assert fragile(holder) == "done"


def test_equal_objects_share():
    @tools.first_arg_dependent_memoize
    def make(obj):
        return object()

    first, second = Handle(3), Handle(3)
    assert make(first) is make(second)
    result = make(second)
    del first
    gc.collect()
    assert make(second) is make(second)
    assert make(second) is not result or result is make(Handle(3))


@pytest.mark.parametrize("kind", [Holder, Slotted])
def test_memoize_lets_the_object_go(kind):
    @tools.first_arg_dependent_memoize
    def make(obj):
        return object()

    obj = kind()
    make(obj)
    gone = weakref.ref(obj)
    del obj
    gc.collect()
    assert gone() is None


def test_memoize_lets_go_of_an_object_that_its_result_refers_to():
    """A kernel refers to its context: a cache keyed weakly by the context alone would never die."""

    @tools.first_arg_dependent_memoize
    def make(obj):
        return [obj]

    obj = Holder()
    make(obj)
    gone = weakref.ref(obj)
    del obj
    gc.collect()
    assert gone() is None


def test_memoized_results_die_with_the_function():
    class Result:
        pass

    def scope(obj):
        @tools.first_arg_dependent_memoize
        def make(obj):
            return Result()

        return weakref.ref(make(obj))

    holder = Holder()
    result = scope(holder)
    gc.collect()
    assert result() is None


def test_memoize_nested():
    calls = []

    def outer(obj, n):
        @tools.first_arg_dependent_memoize_nested
        def inner(obj, n):
            calls.append(n)
            return object()

        return inner(obj, n)

    holder = Holder()
    assert outer(holder, 1) is outer(holder, 1)
    assert outer(holder, 1) is not outer(holder, 2)
    assert calls == [1, 2]
    tools.clear_first_arg_caches()
    outer(holder, 1)
    assert calls == [1, 2, 1]


def test_memoize_in_threads():
    """Whoever computes, everybody gets the same object."""
    barrier = threading.Barrier(8)

    @tools.first_arg_dependent_memoize
    def make(obj, n):
        barrier.wait(timeout=30)
        return object()

    holder, results = Holder(), []
    threads = [threading.Thread(target=lambda: results.append(make(holder, 0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and len(set(map(id, results))) == 1


def test_memoize_threads_with_clearing():
    @tools.first_arg_dependent_memoize
    def make(obj, n):
        return (obj, n)

    holders, stop, errors = [Holder() for _ in range(20)], threading.Event(), []

    def work():
        try:
            while not stop.is_set():
                for i, holder in enumerate(holders):
                    assert make(holder, i) == (holder, i)
        except BaseException as error:  # noqa: BLE001 - reported below
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        tools.clear_first_arg_caches()
        holders[3] = Holder()
        gc.collect(0)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors


def test_memoize_kernels_of_a_real_context(device):
    @tools.first_arg_dependent_memoize
    def get_kernel(context, name):
        return getattr(cl.Program(context, f"__kernel void {name}() {{}}").build(), name)

    context = cl.Context([device])
    kernel = get_kernel(context, "one")
    assert get_kernel(context, "one") is kernel
    queue = cl.CommandQueue(context)
    assert get_kernel(queue.context, "one") is kernel
    assert get_kernel(context, "two") is not kernel
    kernel(queue, (1,), None).wait()
    gone = weakref.ref(context)
    del kernel, queue, context
    gc.collect()
    assert gone() is None, "its own kernels keep the context alive"


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


def test_gl_properties_need_pyopengl(monkeypatch):
    for name in ("OpenGL", "OpenGL.GLX", "OpenGL.WGL"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(ImportError):
        tools.get_gl_sharing_context_properties()
    glx = types.SimpleNamespace(glXGetCurrentContext=lambda: 11, glXGetCurrentDisplay=lambda: 12)
    monkeypatch.setitem(sys.modules, "OpenGL.GLX", glx)
    monkeypatch.setitem(sys.modules, "OpenGL", types.ModuleType("OpenGL"))
    keys = cl.context_properties
    expected = [(keys.GL_CONTEXT_KHR, 11), (keys.GLX_DISPLAY_KHR, 12)]
    assert tools.get_gl_sharing_context_properties() == expected
    monkeypatch.setattr(sys, "platform", "plan9")
    with pytest.raises(NotImplementedError, match="plan9"):
        tools.get_gl_sharing_context_properties()


def test_first_arg_cache_does_not_fill_up():
    cache = FirstArgCache()
    for i in range(100):
        cache.get(Holder(), i, object)
    gc.collect()
    assert len(cache._in_object) == 0


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


# --- choosing test devices


def test_platforms_and_devices_by_string():
    everything = tools.get_test_platforms_and_devices("")
    assert everything == [(p, p.get_devices()) for p in cl.get_platforms()]
    platform, devices = everything[0]
    assert tools.get_test_platforms_and_devices("0:0") == [(platform, devices[:1])]
    assert tools.get_test_platforms_and_devices("0") == [(platform, devices)]
    part = platform.name[2:9].upper()
    assert tools.get_test_platforms_and_devices(f"{part}:0,0")[0][1] == [devices[0]] * 2
    assert len(tools.get_test_platforms_and_devices("0:0;0:0")) == 2


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
    monkeypatch.setenv("PYGPU_TEST", "0:0")
    assert len(tools.get_test_platforms_and_devices()) == 1
