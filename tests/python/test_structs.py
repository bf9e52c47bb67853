"""Structured dtypes matched to the structures of a device."""

import numpy as np
import pytest

import pygpu as cl
from pygpu import cltypes, tools


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
