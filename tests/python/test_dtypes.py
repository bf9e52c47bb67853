"""C types of dtypes, and the argument lists of the kernel generators."""

import numpy as np
import pytest

import pygpu as cl
from pygpu import cltypes, tools

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
    with pytest.raises(TypeError, match="parse_c_arg: c_arg must be a str, not bytes"):
        tools.parse_c_arg(text.encode())


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
