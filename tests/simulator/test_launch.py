"""Launches: how arguments reach kernels, and what is refused before anything runs."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import (
    INVALID_HANDLE,
    INVALID_IMAGE,
    INVALID_VALUE,
    NOT_FOUND,
    NOT_SUPPORTED,
    fails,
    params,
    run_script,
)


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("n", ctypes.c_uint),
    ]


def test_arguments_are_copied_at_the_call(cuda, kernels):
    value = cuda.to_device(np.zeros(1, "i4"))
    args = params([value, np.int32(1), np.int32(1)])
    term = args.held[1]
    plus = kernels.plus
    for i in range(100):
        term[:] = np.int32(i).tobytes()
        cuda.cuLaunchKernel(plus, 1, 1, 1, 1, 1, 1, 0, None, args, None)
    term[:] = np.int32(10**6).tobytes()
    assert cuda.from_device(value, 1, "i4")[0] == 99 * 50


def test_more_bytes_than_a_command_holds(cuda, kernels):
    many = (ctypes.c_int * 200)(*range(200))
    out = cuda.alloc(800)
    cuda.launch(kernels.many, 1, 1, many, out, np.int8(-3))
    many[:] = [0] * 200
    assert (cuda.from_device(out, 200, "i4") == np.arange(200) - 3).all()


def test_arguments_in_one_piece(cuda, kernels):
    value = cuda.to_device(np.ones(1, "i4"))
    packed = np.zeros(16, "u1")
    packed[:8].view("u8")[0] = value
    packed[8:].view("i4")[:] = 7, 1

    def launch(pointer, size, tail=0):
        size = ctypes.c_size_t(size)
        extra = (ctypes.c_void_p * 5)(1, pointer, 2, ctypes.addressof(size), tail)
        cuda.cuLaunchKernel(kernels.scale, 1, 1, 1, 1, 1, 1, 0, None, None, extra)

    launch(packed.ctypes.data, 16)
    assert cuda.from_device(value, 1, "i4")[0] == 7
    assert "takes 16" in fails(INVALID_VALUE, launch, packed.ctypes.data, 15)
    fails(INVALID_VALUE, launch, None, 16)
    fails(INVALID_VALUE, launch, packed.ctypes.data, 16, 3)
    both = (ctypes.c_void_p * 1)(0)
    fails(
        INVALID_VALUE,
        cuda.cuLaunchKernel,
        kernels.scale,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        None,
        params([]),
        both,
    )


def test_arguments_that_are_missing(cuda, kernels):
    scale = kernels.scale
    call = (scale, 1, 1, 1, 1, 1, 1, 0, None)
    assert "takes 3 arguments" in fails(INVALID_VALUE, cuda.cuLaunchKernel, *call, None, None)
    assert "kernelParams[0]" in fails(INVALID_VALUE, cuda.cuLaunchKernel, *call, params([]), None)
    cuda.cuLaunchKernel(kernels.nop, 1, 1, 1, 1, 1, 1, 0, None, None, None)


@pytest.mark.parametrize(
    "grid, block",
    [
        ((0, 1, 1), 1),
        ((1, 65536, 1), 1),
        (1, 0),
        (1, 1025),
        (1, (1, 1, 65)),
        (1, (32, 33, 1)),
        (2**31, 1),
    ],
)
def test_shapes_that_no_device_has(cuda, kernels, grid, block):
    fails(INVALID_VALUE, cuda.launch, kernels.nop, grid, block)
    cuda.cuCtxSynchronize()


def test_too_much_shared_memory(cuda, kernels):
    nop = kernels.nop
    cuda.cuLaunchKernel(nop, 1, 1, 1, 1, 1, 1, 49152, None, None, None)
    fails(INVALID_VALUE, cuda.cuLaunchKernel, nop, 1, 1, 1, 1, 1, 1, 49153, None, None, None)
    cuda.cuFuncSetAttribute(nop, 8, 100_000)
    cuda.cuLaunchKernel(nop, 1, 1, 1, 1, 1, 1, 100_000, None, None, None)
    cuda.cuCtxSynchronize()


class TestWithAttributes:
    def launch(self, cuda, kernels, *attributes):
        listed = (Attribute * 4)(
            *(Attribute(number, b"", tuple(value)) for number, value in attributes)
        )
        config = Config((2, 1, 1), (3, 1, 1), 0, None, listed, len(attributes))
        value = cuda.to_device(np.zeros(6, "i4"))
        cuda.cuLaunchKernelEx(
            byref(config), kernels.plus, params([value, np.int32(4), np.int32(6)]), None
        )
        assert (cuda.from_device(value, 6, "i4") == 4).all()

    def test_those_that_there_are(self, cuda, kernels):
        self.launch(cuda, kernels)
        self.launch(cuda, kernels, (2, (1,)), (8, (0,)), (4, (1, 1, 1)))

    def test_those_that_there_are_not(self, cuda, kernels):
        assert "clusters" in fails(NOT_SUPPORTED, self.launch, cuda, kernels, (4, (2, 1, 1)))
        fails(NOT_SUPPORTED, self.launch, cuda, kernels, (77, (1,)))

    def test_null(self, cuda, kernels):
        fails(INVALID_VALUE, cuda.cuLaunchKernelEx, None, kernels.nop, None, None)
        fails(INVALID_VALUE, cuda.cuLaunchKernelEx, byref(Config(n=1)), kernels.nop, None, None)


def test_cooperative(cuda, kernels):
    value = cuda.to_device(np.zeros(6, "i4"))
    cuda.cuLaunchCooperativeKernel(
        kernels.plus, 2, 1, 1, 3, 1, 1, 0, None, params([value, np.int32(4), np.int32(6)])
    )
    assert (cuda.from_device(value, 6, "i4") == 4).all()
    fails(720, cuda.cuLaunchCooperativeKernel, kernels.nop, 100_000, 1, 1, 1, 1, 1, 0, None, None)


def test_kernels_and_streams_of_different_contexts(cuda, kernels):
    nop, stream = kernels.nop, cuda.stream()
    other = cuda.get("cuCtxCreate", 0, 0)
    assert "another context" in fails(INVALID_HANDLE, cuda.launch, nop, 1, 1)
    cuda.cuLaunchKernel(nop, 1, 1, 1, 1, 1, 1, 0, stream, None, None)  # both of the first context
    cuda.cuStreamSynchronize(stream)
    cuda.cuCtxDestroy(other)


class TestFunctions:
    def test_parameters(self, cuda, kernels):
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        found = []
        many = kernels.many
        while cuda.status("cuFuncGetParamInfo", many, len(found), byref(offset), byref(size)) == 0:
            found.append((offset.value, size.value))
        assert found == [(0, 800), (800, 8), (808, 1)]
        assert "3 parameters" in cuda.detail()
        cuda.cuFuncGetParamInfo(many, 0, byref(offset), None)
        fails(INVALID_VALUE, cuda.cuFuncGetParamInfo, kernels.nop, 0, byref(offset), byref(size))

    def test_names_and_modules(self, cuda, kernels):
        name = ctypes.c_char_p()
        cuda.cuFuncGetName(byref(name), kernels.plus)
        assert name.value == b"plus"
        assert cuda.get("cuFuncGetModule", kernels.plus) == kernels.module
        assert kernels.plus == kernels.plus
        assert "plus" in fails(NOT_FOUND, cuda.function, kernels.module, "minus")

    def test_attributes(self, cuda, kernels):
        out = ctypes.c_int()
        for attribute in range(10):
            cuda.cuFuncGetAttribute(byref(out), attribute, kernels.plus)
        fails(INVALID_VALUE, cuda.cuFuncGetAttribute, byref(out), 99, kernels.plus)
        cuda.cuFuncSetCacheConfig(kernels.plus, 1)
        fails(INVALID_VALUE, cuda.cuFuncSetCacheConfig, kernels.plus, 4)
        cuda.cuFuncSetSharedMemConfig(kernels.plus, 1)
        fails(INVALID_VALUE, cuda.cuFuncSetSharedMemConfig, kernels.plus, 3)


class TestModules:
    def test_variables(self, cuda, kernels):
        address, size = ctypes.c_ulonglong(), ctypes.c_size_t()
        cuda.cuModuleGetGlobal(byref(address), byref(size), kernels.module, b"variable")
        assert size.value == 16
        assert cuda.from_device(address.value, 4, "i4").tolist() == [1, 2, 3, 4]
        new = np.array([5, 6, 7, 8], "i4")
        cuda.cuMemcpyHtoD(address, new.ctypes.data, 16)
        out = cuda.alloc(16)
        cuda.launch(kernels.read_variable, 1, 1, out)
        assert cuda.from_device(out, 4, "i4").tolist() == [5, 6, 7, 8]
        fails(INVALID_VALUE, cuda.cuMemcpyHtoD, address, new.ctypes.data, 17)
        fails(NOT_FOUND, cuda.cuModuleGetGlobal, byref(address), byref(size), kernels.module, b"x")

    def test_each_load_has_its_own_variables(self, cuda, image):
        addresses = set()
        for _ in range(3):
            address = ctypes.c_ulonglong()
            cuda.cuModuleGetGlobal(byref(address), None, cuda.load(image), b"variable")
            addresses.add(address.value)
        assert len(addresses) == 3

    def test_from_a_file(self, cuda, image, tmp_path):
        path = tmp_path / "image"
        path.write_bytes(image)
        module = cuda.get("cuModuleLoad", str(path).encode())
        cuda.launch(cuda.function(module, "nop"), 1, 1)
        cuda.cuModuleUnload(module)
        fails(301, cuda.get, "cuModuleLoad", str(tmp_path / "none").encode())
        path.write_bytes(b"")
        fails(INVALID_IMAGE, cuda.get, "cuModuleLoad", str(path).encode())

    @pytest.mark.parametrize(
        "junk", [b"\0", b"junk", b"//\n.version 8.0\n.target sm_90\n", b"\x7fELF" + bytes(100)]
    )
    def test_images_that_are_none(self, cuda, junk):
        assert cuda.status("cuModuleLoadData", byref(ctypes.c_void_p()), junk) in (200, 209, 218)
        assert cuda.detail()
        log, module = ctypes.create_string_buffer(300), ctypes.c_void_p()
        options = (ctypes.c_int * 2)(5, 6)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 300)
        cuda.status("cuModuleLoadDataEx", byref(module), junk, 2, options, values)
        assert log.value.decode() == cuda.detail()[:299] and values[1] == len(log.value)

    def test_linking_one_image(self, cuda, image):
        state, out, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        cuda.cuLinkCreate(0, None, None, byref(state))
        fails(INVALID_IMAGE, cuda.cuLinkComplete, state, byref(out), byref(size))
        cuda.cuLinkAddData(state, 0, image, len(image), b"one", 0, None, None)
        cuda.cuLinkComplete(state, byref(out), byref(size))
        assert size.value == len(image)
        module = cuda.load(out)
        cuda.launch(cuda.function(module, "nop"), 1, 1)
        again = (state, 0, image, len(image), b"two", 0, None, None)
        assert "two comes too late" in fails(INVALID_VALUE, cuda.cuLinkAddData, *again)
        cuda.cuLinkDestroy(state)
        fails(INVALID_HANDLE, cuda.cuLinkDestroy, state)

    def test_linking_what_cannot_be_linked(self, cuda, image):
        state, out, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        cuda.cuLinkCreate(0, None, None, byref(state))
        for name in (b"one", b"two"):
            cuda.cuLinkAddData(state, 0, image, len(image), name, 0, None, None)
        assert "one was not compiled with -rdc=true" in fails(
            NOT_SUPPORTED, cuda.cuLinkComplete, state, byref(out), byref(size)
        )
        for wrong in (b"\x7fELF" + bytes(200), image[: len(image) // 2], b"// no PTX of ours"):
            with pytest.raises(Exception, match="cuLinkAddData"):
                cuda.cuLinkAddData(state, 0, wrong, len(wrong), b"wrong", 0, None, None)
        cuda.cuLinkAddData(state, 4, b"!<arch>\n", 8, b"libcudadevrt.a", 0, None, None)
        cuda.cuLinkDestroy(state)


class TestOccupancy:
    def blocks(self, cuda, function, size, shared=0):
        out = ctypes.c_int()
        cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(byref(out), function, size, shared)
        return out.value

    def test_threads_and_shared_memory_limit_it(self, cuda, kernels):
        nop = kernels.nop
        assert self.blocks(cuda, nop, 1024) == 2
        assert self.blocks(cuda, nop, 1025) == 0
        assert self.blocks(cuda, nop, 32) <= 32
        assert self.blocks(cuda, nop, 256, 100 * 1024) == 2
        assert self.blocks(cuda, nop, 256, 300 * 1024) == 0
        fails(INVALID_VALUE, self.blocks, cuda, nop, 0)

    def test_block_sizes(self, cuda, kernels):
        grid, block = ctypes.c_int(), ctypes.c_int()
        cuda.cuOccupancyMaxPotentialBlockSize(byref(grid), byref(block), kernels.nop, None, 0, 0)
        assert block.value == 1024 and grid.value >= 2
        cuda.cuOccupancyMaxPotentialBlockSize(byref(grid), byref(block), kernels.nop, None, 0, 100)
        assert 0 < block.value <= 100
        each = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda size: 300 * size)
        cuda.cuOccupancyMaxPotentialBlockSizeWithFlags(
            byref(grid), byref(block), kernels.nop, ctypes.cast(each, ctypes.c_void_p), 0, 0, 0
        )
        assert self.blocks(cuda, kernels.nop, block.value, 300 * block.value) > 0

    def test_what_is_left_of_shared_memory(self, cuda, kernels):
        out = ctypes.c_size_t()
        cuda.cuOccupancyAvailableDynamicSMemPerBlock(byref(out), kernels.nop, 2, 256)
        assert 0 < out.value <= 49152
        fails(
            INVALID_VALUE,
            cuda.cuOccupancyAvailableDynamicSMemPerBlock,
            byref(out),
            kernels.nop,
            5,
            1024,
        )


def test_printing_reaches_stdout_at_synchronization(simulator, tmp_path):
    path = tmp_path / "image"
    source = '#include <stdio.h>\nextern "C" __global__ void k() { printf("hello %d\\n", 7); }'
    path.write_bytes(simulator.compile(source)[0])
    script = f"""
d.cuInit(0)
d.get("cuCtxCreate", 0, 0)
d.launch(d.function(d.get("cuModuleLoad", {str(path)!r}.encode()), "k"), 1, 1)
d.cuCtxSynchronize()
os._exit(0)
"""
    assert run_script(script) == "hello 7"
