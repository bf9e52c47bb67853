"""Device: numbers, names, attributes, equality."""

import pickle

import numpy as np
import pytest

import pygpu.cuda.driver as cuda

attribute = cuda.device_attribute


@pytest.fixture
def gpu(context) -> cuda.Device:
    return cuda.Device(0)


def test_count_and_ordinals():
    count = cuda.Device.count()
    assert count >= 1
    for number in (0, np.int64(0), count - 1):
        assert isinstance(cuda.Device(number).name(), str)
    for number in (-1, count, 2**40):
        with pytest.raises(cuda.LogicError, match="ordinal"):
            cuda.Device(number)
    for wrong in (None, 1.5, b"0", [0]):
        with pytest.raises(TypeError, match="ordinal"):
            cuda.Device(wrong)
    with pytest.raises(TypeError):
        cuda.Device()


def test_by_pci_address(gpu):
    address = gpu.pci_bus_id()
    assert cuda.Device(address) == gpu
    with pytest.raises(cuda.Error, match="PCI"):
        cuda.Device("ffff:ff:ff.f")
    with pytest.raises(cuda.Error):
        cuda.Device("")


def test_what_it_says_of_itself(gpu):
    assert gpu.name() and repr(gpu) == f"<pygpu.cuda.Device 0 '{gpu.name()}'>"
    major, minor = gpu.compute_capability()
    assert major >= 5 and minor >= 0
    assert gpu.total_memory() > 2**20
    assert len(gpu.uuid()) == 16
    assert int(gpu) == 0


def test_attribute_of_a_program_comes_before_the_devices(gpu):
    """Names that were asked for once are remembered, but not if they mean something else now."""
    assert gpu.warp_size == gpu.WARP_SIZE == cuda.Device(0).Warp_Size == 32
    with pytest.raises(AttributeError):
        gpu.max  # noqa: B018
    gpu.warp_size = 5
    assert gpu.warp_size == 5 and gpu.WARP_SIZE == 32 and cuda.Device(0).warp_size == 32
    del gpu.warp_size
    assert gpu.warp_size == 32
    cuda.Device.warp_size = property(lambda self: 6)
    try:
        assert gpu.warp_size == 6
    finally:
        del cuda.Device.warp_size
    assert gpu.warp_size == 32

    class Named(cuda.Device):
        warp_size = 7

    assert Named(0).warp_size == 7 and Named(0).WARP_SIZE == 32


def test_attributes_by_enumeration_number_and_name(gpu):
    assert gpu.get_attribute(attribute.WARP_SIZE) == 32
    assert gpu.get_attribute(10) == gpu.warp_size == 32
    assert gpu.max_threads_per_block >= 512
    assert gpu.multiprocessor_count >= 1
    assert (
        gpu.get_attribute(attribute.COMPUTE_CAPABILITY_MAJOR),
        gpu.get_attribute(attribute.COMPUTE_CAPABILITY_MINOR),
    ) == gpu.compute_capability()
    with pytest.raises(AttributeError, match="no_such_thing"):
        gpu.no_such_thing  # noqa: B018
    assert not hasattr(gpu, "_private")
    with pytest.raises(cuda.LogicError):
        gpu.get_attribute(-1)
    with pytest.raises(cuda.LogicError):
        gpu.get_attribute(2**31)
    with pytest.raises(TypeError):
        gpu.get_attribute("WARP_SIZE")


def test_get_attributes_is_a_table(gpu):
    table = gpu.get_attributes()
    assert table[attribute.WARP_SIZE] == 32
    assert all(isinstance(key, attribute) for key in table)
    assert len(table) > 90


def test_equality_and_hash(gpu):
    other = cuda.Device(0)
    assert gpu == other and hash(gpu) == hash(other) and not gpu != other
    assert gpu != 0 and gpu != None  # noqa: E711
    assert len({gpu, other}) == 1


def test_peer_access_to_itself_is_refused_or_false(gpu):
    assert gpu.can_access_peer(gpu) in (False, True)
    with pytest.raises(TypeError, match="peer"):
        gpu.can_access_peer(0)


def test_not_pickled(gpu):
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(gpu)


def test_subclass():
    class Mine(cuda.Device):
        pass

    mine = Mine(0)
    assert mine == cuda.Device(0) and mine.name()


def test_enumerations():
    assert str(attribute.WARP_SIZE) == "WARP_SIZE"
    assert repr(attribute.WARP_SIZE) == "pygpu.cuda.driver.device_attribute.WARP_SIZE"
    assert attribute.WARP_SIZE == 10 and isinstance(attribute.WARP_SIZE, int)
    assert attribute.names["WARP_SIZE"] is attribute.WARP_SIZE
    assert attribute.values[10] is attribute.WARP_SIZE
    assert str(attribute(10)) == "WARP_SIZE" and str(attribute(99999)) == "99999"
    assert pickle.loads(pickle.dumps(attribute.WARP_SIZE)) == 10
    # Two names of one number keep their own names.
    assert str(attribute.MAX_SHARED_MEMORY_PER_BLOCK) == "MAX_SHARED_MEMORY_PER_BLOCK"
    assert str(attribute.SHARED_MEMORY_PER_BLOCK) == "SHARED_MEMORY_PER_BLOCK"
    assert cuda.ctx_flags.SCHED_AUTO | cuda.ctx_flags.MAP_HOST == 8
    assert cuda.array3d_flags.SURFACE_LDST == 2
    assert getattr(cuda.array3d_flags, "2DARRAY") == 1


@pytest.mark.parametrize(
    ("base", "arguments"), [(cuda.Device, (0,)), (cuda.Stream, (1,)), (cuda.Event, (2,))]
)
def test_subclasses_call_the_base(context, base, arguments):
    """As classes do that were written for PyCUDA."""

    class Derived(base):
        def __init__(self, *arguments):
            base.__init__(self, *arguments)
            self.more = arguments

    made = Derived(*arguments)
    assert isinstance(made, base) and made.more == arguments
    if base is cuda.Device:
        assert made == cuda.Device(0) and made.warp_size == 32
    with pytest.raises(TypeError):
        Derived(*arguments, 1, 2, 3)
