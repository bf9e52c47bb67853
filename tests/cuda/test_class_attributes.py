"""Classes and objects are a program's to extend: attributes, methods, subclasses."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import pygpu.cuda.driver as drv
from pygpu.cuda import tools
from pygpu.cuda.compiler import SourceModule

CLASSES = """
    Device Context Stream Event DeviceAllocation ManagedAllocation PooledDeviceAllocation
    IPCMemoryHandle PointerHolderBase HostPointer PagelockedHostAllocation AlignedHostAllocation
    RegisteredHostMemory PooledHostAllocation Memcpy2D Memcpy3D Memcpy3DPeer ArrayDescriptor
    ArrayDescriptor3D Array TextureObject SurfaceObject TextureReference SurfaceReference
    DeviceMemoryPool PageLockedMemoryPool PageLockedAllocator Module Function
    ArgumentHandler In Out InOut Linker Graph GraphExec
""".split()
TEXT = 'extern "C" __global__ void f(float *a, int n) { a[threadIdx.x] = n; }'


FIELDS = {"box", "descriptor"}  # what else they are given is a misspelt name of a field


@pytest.fixture
def function(context):
    return SourceModule(TEXT, no_extern_c=True).get_function("f")


@pytest.fixture
def objects(context):
    pool = tools.DeviceMemoryPool()
    function = SourceModule(TEXT, no_extern_c=True).get_function("f")
    return {
        "device": drv.Device(0),
        "context": drv.Context.get_current(),
        "stream": drv.Stream(),
        "event": drv.Event(),
        "allocation": drv.mem_alloc(16),
        "managed": drv.managed_zeros(4, np.float32, mem_flags=drv.mem_attach_flags.GLOBAL).base,
        "pool": pool,
        "pooled": pool.allocate(16),
        "pinned": drv.pagelocked_zeros(4, np.float32).base,
        "aligned": drv.aligned_zeros(4, np.float32).base,
        "box": drv.Memcpy2D(),
        "descriptor": drv.ArrayDescriptor(),
        "array": drv.np_to_array(np.zeros((2, 2), np.float32), "C"),
        "function": function,
        "module": function.module,
        "handler": drv.InOut(np.zeros(4, np.float32)),
        "linker": drv.Linker(),
        "allocator": tools.PageLockedAllocator(),
        "graph": drv.Graph(),
    }


def test_objects_take_attributes(objects):
    for name, thing in objects.items():
        if name in FIELDS:
            continue
        with pytest.raises(AttributeError):
            thing.of_mine  # noqa: B018
        thing.of_mine = name
        assert thing.of_mine == name and vars(thing)["of_mine"] == name, name
        del thing.of_mine
        assert not hasattr(thing, "of_mine")


@pytest.mark.parametrize(
    "name", [name for name in CLASSES if name.startswith(("Memcpy", "ArrayD"))]
)
def test_a_misspelt_field_is_an_error_but_a_subclass_may_have_its_own(name):
    kind = getattr(drv, name)
    with pytest.raises(AttributeError, match=f"{name}' object has no attribute 'widht'"):
        kind().widht = 3
    mine = type("Mine", (kind,), {})()
    mine.widht = 3
    mine.height = 5
    assert mine.widht == 3 and mine.height == 5


def test_a_cycle_through_an_attribute_is_collected(objects):
    class Owner:
        pass

    seen = []
    kept = {"context"}  # by the stack
    for name in list(objects):
        if name in FIELDS:
            continue
        thing = objects.pop(name)
        owner = Owner()
        owner.thing, thing.owner = thing, owner
        if name in kept:
            del thing.owner
        else:
            seen.append((name, weakref.ref(owner)))
        del thing, owner
    gc.collect()
    assert [name for name, owner in seen if owner() is not None] == []


def test_memory_of_a_pool_given_again_has_no_attributes_of_the_owner_before(context):
    pool = tools.DeviceMemoryPool()
    first = pool.allocate(1000)
    address = int(first)
    first.name, watched = "first", weakref.ref(first)
    del first
    assert watched() is None
    second = pool.allocate(1000)
    assert int(second) == address and vars(second) == {}


@pytest.mark.parametrize("name", CLASSES)
def test_classes_take_attributes_and_make_no_uninitialized_objects(name):
    kind = getattr(drv, name, None) or getattr(tools, name)
    kind.of_mine = property(lambda self: 7)
    try:
        assert "of_mine" in vars(kind)
    finally:
        del kind.of_mine
    with pytest.raises(TypeError):
        object.__new__(kind)


def test_a_method_of_a_program_is_one_of_all_its_objects(context, monkeypatch):
    def numbers(self, dtype=np.float32):
        return drv.from_device(self, self.size // np.dtype(dtype).itemsize, dtype)

    monkeypatch.setattr(drv.DeviceAllocation, "numbers", numbers, raising=False)
    values = np.arange(4, dtype=np.float32)
    assert (drv.to_device(values).numbers() == values).all()
    assert tools.DeviceMemoryPool().allocate(8).numbers().shape == (2,)


def test_subclasses_have_an_init_of_their_own(context, function):
    class Named(drv.Stream):
        depth = 3

        def __init__(self, name, *, flags=0):
            self.name = name
            super().__init__(flags)

    class Mark(drv.Event):
        def __init__(self, stream, text):
            super().__init__(drv.event_flags.DISABLE_TIMING)
            self.text = text
            self.record(stream)

    class Rows(drv.Memcpy2D):
        def __init__(self, dest, source):
            super().__init__()
            self.set_src_host(source)
            self.set_dst_device(dest)
            self.width_in_bytes, self.height = source.strides[0], source.shape[0]
            self.src_pitch = self.dst_pitch = source.strides[0]

    class Flags(tools.PageLockedAllocator):
        def __init__(self, why):
            super().__init__(drv.host_alloc_flags.PORTABLE)
            self.why = why

    class Cube(drv.ArrayDescriptor3D):
        def __init__(self, edge):
            self.width = self.height = self.depth = edge
            self.num_channels, self.format = 1, drv.array_format.FLOAT

    plain, free = Named("plain"), Named("free", flags=1)
    assert (plain.name, free.name, free.depth) == ("plain", "free", 3)
    assert plain.handle != free.handle
    memory = drv.mem_alloc(64)
    function(memory, np.int32(5), block=(16, 1, 1), stream=free)
    mark = Mark(free, "done")
    mark.synchronize()
    assert mark.text == "done" and (drv.from_device(memory, 16, np.float32) == 5).all()
    with pytest.raises(drv.LogicError):
        mark.time_since(mark)  # it is made with the flags that its class gave
    source = np.arange(16, dtype=np.float32).reshape(4, 4)
    Rows(memory, source)(True)
    assert (drv.from_device_like(memory, source) == source).all()
    assert tools.PageLockedMemoryPool(Flags("tests")).allocate(3, np.int8).shape == (3,)
    assert drv.Array(Cube(2)).get_descriptor_3d().depth == 2
    with pytest.raises(drv.LogicError, match="is initialized already"):
        free.__init__("again", flags=1)


def test_a_linker_whose_init_makes_nothing_says_so(context):
    class Lazy(drv.Linker):
        def __init__(self, name):
            self.name = name

    with pytest.raises(drv.LogicError, match=r"Lazy was not made yet.*super\(\).__init__"):
        Lazy("x").link_module()


JUNK = [property(lambda self: 1 / 0), lambda *args, **kwargs: object()]
REPLACED = {
    "DeviceAllocation": "__int__ __index__ __repr__ size free __cuda_array_interface__",
    "Stream": "__eq__ __hash__ handle synchronize is_done __getattribute__",
    "Event": "record synchronize handle __getattribute__",
    "Function": "prepared_call num_regs parameters __getattribute__",
    "Context": "__eq__ __hash__ handle synchronize __getattribute__",
    "InOut": "pre_call post_call get_device_alloc __getattribute__",
}


@pytest.mark.parametrize("kind", REPLACED)
def test_what_is_put_in_place_of_a_method_is_an_exception_at_worst(context, function, kind):
    host, memory, stream = np.zeros(4, np.float32), drv.mem_alloc(16), drv.Stream()

    def launch():
        function(memory, np.int32(3), block=(4, 1, 1), stream=stream)
        event = drv.Event().record(stream)
        event.synchronize()
        drv.memcpy_dtoh(host, memory)

    def other():
        function(drv.InOut(host), np.int32(3), block=(4, 1, 1), time_kernel=True)
        function.prepare("Pi").prepared_async_call((1, 1), (4, 1, 1), stream, memory, 3)
        stream.synchronize()

    def look():
        assert len({stream: 1, memory: 2}) == 2 and repr(memory)
        assert drv.Context.get_current() == drv.Context.get_current()

    kind = getattr(drv, kind)
    for name in REPLACED[kind.__name__].split():
        had, was = name in vars(kind), vars(kind).get(name)
        for junk in JUNK:
            setattr(kind, name, junk)
            try:
                for use in (launch, other, look):
                    try:
                        use()
                    except Exception as error:
                        del error
            finally:
                if had:
                    setattr(kind, name, was)
                else:
                    delattr(kind, name)
    gc.collect()
    launch()
    other()
    look()
    assert (host == 3).all()


def test_objects_given_another_class_stay_valid(objects, function):
    def launch(thing):
        function(thing, np.int32(1), block=(1, 1, 1))

    # Python allows it between classes whose objects are alike.
    kinds = [getattr(drv, name, None) or getattr(tools, name) for name in CLASSES]
    for name in list(objects):
        if name in ("context", "device"):
            continue  # these are the test's own as well
        thing = objects.pop(name)
        own = type(thing)
        for kind in kinds:
            try:
                thing.__class__ = kind
            except TypeError:
                continue
            for use in (repr, hash, int, lambda x: x.size, lambda x: x.handle, launch):
                try:
                    use(thing)
                except (TypeError, AttributeError, ValueError, drv.Error):
                    pass
            thing.__class__ = own
        del thing
    gc.collect()
    drv.Context.synchronize()


def test_new_of_a_program_makes_no_uninitialized_objects():
    """In a process of its own: Python cannot give a type its own __new__ back."""
    code = f"""
import pygpu.cuda.driver as drv
from pygpu.cuda import tools
for name in {CLASSES}:
    kind = getattr(drv, name, None) or getattr(tools, name)
    kind.__new__ = lambda cls, *args, **kwargs: object.__new__(cls)
    for make in (lambda: object.__new__(kind), kind):
        try:
            make()
        except TypeError as error:
            assert "is not safe" in str(error) or "cannot create" in str(error), error
        else:
            raise AssertionError(name)
print("end")
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
