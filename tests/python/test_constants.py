"""The constant classes: names, values, to_string."""

from __future__ import annotations

import enum
import importlib.util
import json
import subprocess
import sys

import pytest

import pygpu as cl
from pygpu import constants

CLASSES = {
    "addressing_mode": 5,
    "channel_order": 17,
    "channel_type": 16,
    "command_execution_status": 4,
    "command_queue_info": 5,
    "command_queue_properties": 4,
    "command_type": 31,
    "context_info": 5,
    "context_properties": 1,
    "device_affinity_domain": 6,
    "device_atomic_capabilities": 7,
    "device_device_enqueue_capabilities": 2,
    "device_exec_capabilities": 2,
    "device_fp_config": 8,
    "device_info": 145,
    "device_local_mem_type": 2,
    "device_mem_cache_type": 3,
    "device_partition_property": 4,
    "device_svm_capabilities": 4,
    "device_topology_type_amd": 1,
    "device_type": 6,
    "event_info": 5,
    "filter_mode": 2,
    "gl_context_info": 0,
    "image_info": 11,
    "kernel_arg_access_qualifier": 4,
    "kernel_arg_address_qualifier": 4,
    "kernel_arg_info": 5,
    "kernel_arg_type_qualifier": 5,
    "kernel_info": 6,
    "kernel_sub_group_info": 5,
    "kernel_work_group_info": 6,
    "khronos_vendor_id": 1,
    "map_flags": 3,
    "mem_flags": 10,
    "mem_info": 11,
    "mem_migration_flags": 2,
    "mem_object_type": 8,
    "pipe_info": 3,
    "pipe_properties": 2,
    "platform_info": 8,
    "profiling_info": 5,
    "program_binary_type": 4,
    "program_build_info": 5,
    "program_info": 12,
    "queue_properties": 3,
    "sampler_info": 12,
    "sampler_properties": 3,
    "status_code": 63,
    "svm_mem_flags": 5,
    "version_bits": 6,
}  # fmt: skip  (how many members programs may expect at least)
VALUES = {
    "mem_flags.READ_WRITE": 1, "mem_flags.READ_ONLY": 4, "mem_flags.USE_HOST_PTR": 8,
    "mem_flags.COPY_HOST_PTR": 32, "device_type.CPU": 2, "device_type.GPU": 4,
    "device_type.ALL": 0xFFFFFFFF, "map_flags.READ": 1, "map_flags.WRITE": 2,
    "status_code.SUCCESS": 0, "status_code.OUT_OF_RESOURCES": -5, "status_code.INVALID_VALUE": -30,
    "status_code.BUILD_PROGRAM_FAILURE": -11, "command_execution_status.COMPLETE": 0,
    "command_execution_status.QUEUED": 3, "device_info.NAME": 0x102B, "command_type.USER": 0x1204,
    "command_queue_properties.PROFILING_ENABLE": 2, "channel_order.RGBA": 0x10B5,
    "channel_type.FLOAT": 0x10DE, "mem_object_type.BUFFER": 0x10F0,
    "status_code.PLATFORM_NOT_FOUND_KHR": -1001,
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name):
    cls = getattr(cl, name)
    assert cls.__name__ == name and cls.__module__ == "pygpu" and cls.__doc__
    members = cls._members()
    assert len(members) >= CLASSES[name]
    for member, value in members.items():
        assert type(value) is int and getattr(cls, member) == value
        assert member.isidentifier(), member
    assert name in cl.__all__


def test_all_classes_are_listed():
    found = {
        name
        for name, value in vars(constants).items()
        if isinstance(value, type) and issubclass(value, constants.Constants)
    }
    assert set(CLASSES) <= found
    assert found == set(constants.__all__)
    assert not hasattr(cl, "Constants")


@pytest.mark.parametrize("name", VALUES)
def test_constants_have_pyopencls_values(name):
    cls, member = name.split(".")
    assert getattr(getattr(cl, cls), member) == VALUES[name]


@pytest.mark.parametrize("name", CLASSES)
def test_to_string_finds_every_member(name):
    cls = getattr(cl, name)
    for member, value in cls._members().items():
        found = cls.to_string(value)
        assert getattr(cls, found) == value, member


def test_to_string_of_flags():
    mf = cl.mem_flags
    assert mf.to_string(mf.READ_WRITE | mf.COPY_HOST_PTR) == "READ_WRITE | COPY_HOST_PTR"
    assert set(mf.to_string(5).split(" | ")) == {"READ_WRITE", "READ_ONLY"}
    assert cl.map_flags.to_string(0) == ""
    with pytest.raises(ValueError, match="mem_flags has no name for"):
        mf.to_string(1 << 60)
    with pytest.raises(ValueError):
        mf.to_string(mf.READ_WRITE | 1 << 60)
    assert mf.to_string(1 << 60, "flags %d") == f"flags {1 << 60}"


def test_to_string_of_values():
    assert cl.status_code.to_string(-30) == "INVALID_VALUE"
    assert cl.command_execution_status.to_string(0) == "COMPLETE"
    with pytest.raises(ValueError, match="status_code has no name for -99999"):
        cl.status_code.to_string(-99999)
    assert cl.status_code.to_string(-99999, "status %d") == "status -99999"
    assert cl.channel_type.to_string(3, "%s?") == "3?"


def test_program_kind_is_an_enumeration():
    assert issubclass(cl.program_kind, enum.Enum)
    assert {kind.name for kind in cl.program_kind} >= {"UNKNOWN", "SOURCE", "BINARY", "IL"}


@pytest.mark.skipif(
    importlib.util.find_spec("pyopencl") is None,
    reason="pyopencl, to compare with, is not installed",
)
def test_pyopencl_has_the_same_members():
    code = (
        "import pyopencl as cl, json\n"
        "print(json.dumps({n: {m: v for m, v in vars(c).items()"
        " if isinstance(v, int) and not m.startswith('_')}"
        " for n, c in vars(cl).items() if isinstance(c, type) and 'to_string' in dir(c)}))"
    )
    result = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    theirs = json.loads(result.stdout)
    assert len(theirs) >= 50
    wrong = []
    for name, members in theirs.items():
        for member, value in members.items():
            if getattr(getattr(cl, name, None), member, None) != value:
                wrong.append((name, member, value))
    assert wrong == []
