"""pygpu.cltypes: layout, makers and tables, checked against the device's own idea of a vector."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pygpu as cl
from pygpu import cltypes
from pygpu._src.runtime.opencl import vector_types
from pygpu.dtypes import dtype_to_ctype, get_or_register_dtype

SCALARS = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
VECTORS = [(name, count) for name in SCALARS for count in (2, 3, 4, 8, 16)]


def test_scalars():
    for name, scalar in SCALARS.items():
        assert getattr(cltypes, name) is scalar
    assert cltypes.half is np.float16


@pytest.mark.parametrize(("name", "count"), VECTORS)
def test_vector_dtype(name, count):
    dtype = getattr(cltypes, f"{name}{count}")
    scalar = np.dtype(SCALARS[name])
    slots = 4 if count == 3 else count
    assert dtype.itemsize == slots * scalar.itemsize
    assert dtype.names[:count] == tuple(f"s{i}" for i in range(count))
    assert dtype.names[count:] == ("padding0",) * (count == 3)
    for i, field in enumerate(dtype.names):
        assert dtype.fields[field][:2] == (scalar, i * scalar.itemsize)
    for i, title in enumerate("xyzw"[:count]):
        assert dtype.fields[title][:2] == dtype.fields[f"s{i}"][:2]
    assert cltypes.vec_types[scalar, count] is dtype
    assert cltypes.vec_type_to_scalar_and_count[dtype] == (scalar, count)
    assert dtype_to_ctype(dtype) == f"{name}{count}"
    assert get_or_register_dtype(f"{name}{count}") is dtype


def test_tables_hold_all_and_nothing_else():
    assert len(cltypes.vec_types) == len(cltypes.vec_type_to_scalar_and_count) == 50


@pytest.mark.parametrize(("name", "count"), VECTORS)
def test_makers(name, count):
    values = [(37 * i + 5) % 100 for i in range(count)]
    made = getattr(cltypes, f"make_{name}{count}")(*values)
    assert made.shape == ()
    assert made.dtype is getattr(cltypes, f"{name}{count}")
    assert list(made.item())[:count] == values
    assert set(list(made.item())[count:]) <= {0}
    for function, value in (("filled", 7), ("zeros", 0), ("ones", 1)):
        arguments = (7,) if function == "filled" else ()
        vector = getattr(cltypes, f"{function}_{name}{count}")(*arguments)
        assert list(vector.item())[:count] == [value] * count


def test_make_by_field():
    with pytest.warns(DeprecationWarning, match="zeros_float4"):
        assert cltypes.make_float4(1, w=4).item() == (1.0, 0.0, 0.0, 4.0)
    with pytest.raises(ValueError, match="make_int2 takes 2 components"):  # as with PyOpenCL
        cltypes.make_int2(1, 2, 3)
    with pytest.raises(TypeError, match="make_int2 takes 2 components, 3 were given"):
        cltypes.make_int2(1, 2, 3)
    with pytest.raises((ValueError, KeyError)):
        cltypes.make_int2(1, 2, q=3)


def test_make_complete_does_not_warn(recwarn):
    cltypes.make_float3(1, 2, 3)
    cltypes.make_float2(x=1, y=2)
    assert not list(recwarn)


def test_device_sees_the_same_components(ctx, queue):
    """Each component goes through a kernel on its own; a wrong offset would show as a neighbour."""

    def kernel_text(name, count):
        stores = (
            f"out[{i}] = a[1].s{i:x}; out[{count + i}] = by_value.s{i:x};" for i in range(count)
        )
        return f"""__kernel void k{name}{count}(__global const {name}{count} *a,
                {name}{count} by_value, __global {name} *out, __global int *size) {{
            size[0] = sizeof({name}{count});
            {" ".join(stores)}
        }}"""

    source = "\n".join(kernel_text(*vector) for vector in VECTORS if vector[0] != "double")
    program = cl.Program(ctx, source).build()
    flags = cl.mem_flags
    for name, count in VECTORS:
        if name == "double":
            continue
        dtype = getattr(cltypes, f"{name}{count}")
        values = np.arange(1, 1 + 2 * count).astype(SCALARS[name])
        array = np.zeros(2, dtype)
        for i in range(count):
            array[f"s{i}"] = values[i], values[count + i]
        out, size = np.zeros(2 * count, SCALARS[name]), np.zeros(1, np.int32)
        out_buffer = cl.Buffer(ctx, flags.WRITE_ONLY, out.nbytes)
        size_buffer = cl.Buffer(ctx, flags.WRITE_ONLY, 4)
        in_buffer = cl.Buffer(ctx, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=array)
        kernel = getattr(program, f"k{name}{count}")
        kernel(queue, (1,), None, in_buffer, array[0], out_buffer, size_buffer)
        cl.enqueue_copy(queue, out, out_buffer)
        cl.enqueue_copy(queue, size, size_buffer)
        assert size[0] == dtype.itemsize
        assert out.tolist() == [*values[count:], *values[:count]], (name, count)


def test_registering_another_meaning_of_a_vector_name_is_refused():
    code = """
import numpy as np
from pygpu.dtypes import get_or_register_dtype, NAME_TO_DTYPE
try:
    get_or_register_dtype("float4", np.dtype([("a", "f4"), ("b", "f4")]))
except RuntimeError as error:
    assert "float4" in str(error)
else:
    raise SystemExit("accepted")
assert NAME_TO_DTYPE["int8"].itemsize == 32, "the vector int8 was not found by name"
"""
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_stub_names_what_the_module_makes():
    """vector_types.pyi is written out by hand, so that editors know what the loop makes."""
    stub = Path(vector_types.__file__).with_suffix(".pyi").read_text()
    named = set(re.findall(r"^(?:def )?([a-z]\w*)(?= = |\(|: )", stub, re.MULTILINE))
    made = {name for name in vars(vector_types) if re.search(r"\d+\Z", name)}
    assert len(made) == 250
    assert made <= named
    assert named <= set(vars(cltypes))
