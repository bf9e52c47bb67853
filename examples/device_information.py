"""Lists every OpenCL device with what a program wants to know before it uses one.

python examples/device_information.py [PART OF A NAME]
"""

import sys

import pygpu as cl

wanted = sys.argv[1].lower() if sys.argv[1:] else ""


def gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def names(constants: type, value: int) -> str:
    """The names of the bits that are set in a value of a class of constants."""
    found = [
        name.lower()
        for name, bit in vars(constants).items()
        if name.isupper() and value & int(bit) and int(bit).bit_count() == 1
    ]
    return ", ".join(found) or "none"


count = 0
for platform in cl.get_platforms():
    for device in platform.get_devices():
        if wanted not in f"{platform.name} {device.name}".lower():
            continue
        count += 1
        print(f"{device.name}  ({platform.name}, {device.version.strip()})")
        print(f"    memory        {gib(device.global_mem_size)},"
              f" a buffer up to {gib(device.max_mem_alloc_size)},"
              f" local {device.local_mem_size // 1024} KiB")  # fmt: skip
        print(
            f"    work-groups   up to {device.max_work_group_size} in {device.max_work_item_sizes}"
        )
        print(f"    units         {device.max_compute_units}, {device.max_clock_frequency} MHz")
        print(f"    doubles       {names(cl.device_fp_config, device.double_fp_config)}")
        print(f"    queues        {names(cl.command_queue_properties, device.queue_properties)}")
        formats = 0
        if device.image_support:
            context = cl.Context([device])
            kind = cl.mem_object_type.IMAGE2D
            formats = len(cl.get_supported_image_formats(context, cl.mem_flags.READ_ONLY, kind))
            print(f"    images        {device.image2d_max_width} x {device.image2d_max_height},"
                  f" {formats} formats")  # fmt: skip
        print(f"    extensions    {len(device.extensions.split())}")

        # What every device must fulfil, whoever made it.
        assert device in platform.get_devices() and device.platform == platform
        assert 0 < device.max_mem_alloc_size <= device.global_mem_size
        assert len(device.max_work_item_sizes) == device.max_work_item_dimensions >= 3
        assert bool(formats) == bool(device.image_support)

print(f"{count} device{'s' * (count != 1)}")
assert count or wanted, "no OpenCL device: python -m pygpu tells what to install"
