"""Images: shapes, formats, pitches and host arrays that do not fit."""

from __future__ import annotations

from typing import Any

from harness import ANY, CALLER, MF, Env, case, check, cl, expect, np, skip, tolerate

HOST = (*CALLER, BufferError, cl.Error, MemoryError)


def rgba() -> Any:
    return cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)


def make(env: Env, *args: Any, **kwargs: Any) -> Any:
    if not env.dev.image_support:
        skip("the device has no images")
    return getattr(cl, "create_image", cl.Image)(env.ctx, *args, **kwargs)


@case
def shapes_that_make_no_sense(env: Env) -> None:
    for shape in ((0, 8), (8, 0), (-1, 8), (2**64, 8), (2**63, 2**63), (2**40, 2**40), (8,) * 4,
                  (8,) * 100, "ab",
                  (1.5, 8), ("8", 8), (None, None), object(), (2**31, 2**31), ()):  # fmt: skip
        with expect(HOST):
            make(env, MF.READ_WRITE, rgba(), shape=shape)
    with expect(HOST):
        make(env, MF.READ_WRITE, rgba())


@case
def shapes_beyond_the_device(env: Env) -> None:
    with expect(HOST):
        make(env, MF.READ_WRITE, rgba(), shape=(env.dev.image2d_max_width + 1, 1))
    with expect(HOST):
        make(env, MF.READ_WRITE, rgba(), shape=(1, env.dev.image2d_max_height + 1))
    with expect(HOST):
        make(env, MF.READ_WRITE, rgba(), shape=(1, 1, env.dev.image3d_max_depth + 1))


@case
def formats_that_make_no_sense(env: Env) -> None:
    for form in (None, 5, "RGBA", (0x10B5, 0x10DE), object(), env.ctx):
        with expect(TypeError):
            make(env, MF.READ_WRITE, form, shape=(8, 8))
    for args in (
        (0, 0),
        (-1, 5),
        (2**32, 2**32),
        (2**64, 0),
        ("R", "FLOAT"),
        (None, None),
        (5,),
        (1, 2, 3),
    ):
        with expect(HOST):
            make(env, MF.READ_WRITE, cl.ImageFormat(*args), shape=(8, 8))
    odd = cl.ImageFormat(cl.channel_order.RGB, cl.channel_type.FLOAT)
    with tolerate():
        make(env, MF.READ_WRITE, odd, shape=(8, 8))
    for name in ("channel_count", "dtype_size", "itemsize"):
        with tolerate((*ANY, KeyError)):
            getattr(cl.ImageFormat(0xFFFF, 0xFFFF), name)


@case
def host_array_too_small(env: Env) -> None:
    for flag in (MF.COPY_HOST_PTR, MF.USE_HOST_PTR):
        for n in (1, 4, 8 * 8 * 4 - 1):
            with expect(HOST):
                make(
                    env, MF.READ_WRITE | flag, rgba(), shape=(8, 8), hostbuf=np.zeros(n, np.float32)
                )
        with expect(HOST):
            make(
                env,
                MF.READ_WRITE | flag,
                rgba(),
                shape=(4096, 4096),
                hostbuf=np.zeros(4, np.float32),
            )


@case
def host_array_of_odd_kinds(env: Env) -> None:
    for host in (
        "text",
        5,
        object(),
        np.zeros((8, 8, 4), object),
        np.zeros((8, 8, 8), np.float32)[:, :, ::2],
        b"",
    ):
        with expect(HOST):
            make(env, MF.READ_WRITE | MF.COPY_HOST_PTR, rgba(), shape=(8, 8), hostbuf=host)
    for flags in (-1, 2**64, "x", None, MF.COPY_HOST_PTR, MF.READ_ONLY | MF.WRITE_ONLY):
        with expect(HOST):
            make(env, flags, rgba(), shape=(8, 8))


@case
def pitches_that_do_not_fit(env: Env) -> None:
    host = np.zeros((8, 8, 4), np.float32)
    for pitches in ((1,), (64,), (127,), (256,), (2**63,), (2**64,), (-128,), "x", (None,),
                    (1.5,),
                    (2**62,), (128, 0, 0)):  # fmt: skip
        with expect(HOST):
            make(
                env,
                MF.READ_WRITE | MF.COPY_HOST_PTR,
                rgba(),
                shape=(8, 8),
                pitches=pitches,
                hostbuf=host,
            )
    with expect(HOST):
        make(env, MF.READ_WRITE, rgba(), shape=(8, 8), pitches=(128,))
    cube = np.zeros((4, 8, 8, 4), np.float32)
    for pitches in ((128, 1024 + 128), (128, 512), (128, 2**62), (256, 2048), (1, 1)):
        with expect(HOST):
            make(
                env,
                MF.READ_WRITE | MF.COPY_HOST_PTR,
                rgba(),
                shape=(8, 8, 4),
                pitches=pitches,
                hostbuf=cube,
            )


def copy(env: Env, dest: Any, src: Any, **kwargs: Any) -> None:
    cl.enqueue_copy(env.queue, dest, src, **{"origin": (0, 0), "region": (8, 8), **kwargs})


@case
def transfers_with_a_small_host_array(env: Env) -> None:
    image = env.image()
    for n in (0, 1, 255):
        small = np.zeros(n, np.float32)
        with expect(HOST):
            copy(env, small, image)
        with expect(HOST):
            copy(env, image, small)
    for pitches in (
        (256,),
        (2**62,),
        (2**63,),
        (2**64,),
        (-128,),
        (1,),
        "x",
        (None,),
    ):
        with expect(HOST):
            copy(env, np.zeros(256, np.float32), image, pitches=pitches)


@case
def transfers_outside_the_image(env: Env) -> None:
    image, host = env.image(), np.zeros((32, 32, 4), np.float32)
    for kwargs in ({"region": (9, 8)}, {"region": (8, 9)}, {"origin": (1, 0)}, {"origin": (0, 8)},
                   {"origin": (-1, 0)},
                   {"origin": (2**64 - 1, 0)}, {"origin": (2**63, 0)}, {"region": (2**32, 2**32)},
                   {"region": "ab"},
                   {"region": (8, 8, 2)}, {"origin": (0, 0, 1)}, {"region": (8,) * 4},
                   {"region": (None, 8)}, {"origin": (0.5, 0)}, {"region": (2**64, 8)},
                   {"region": (-8, 8)}):  # fmt: skip
        with expect(HOST):
            copy(env, host, image, **kwargs)
        with expect(HOST):
            copy(env, image, host, **kwargs)
    for region in ((0, 8), (8, 0), (8, 8, 0)):
        with tolerate(HOST):
            copy(env, host, image, region=region)
    check(not host.any(), "a refused transfer wrote something")


@case
def transfers_with_odd_host_arrays(env: Env) -> None:
    image = env.image()
    frozen = np.zeros((8, 8, 4), np.float32)
    frozen.setflags(write=False)
    for host in (
        frozen,
        b"\0" * 1024,
        np.zeros((8, 8, 4), object),
        np.zeros((8, 16, 4), np.float32)[:, ::2],
        "x",
        5,
    ):
        with expect(HOST):
            copy(env, host, image)
    for host in (
        np.zeros((8, 8, 4), object),
        np.zeros((8, 16, 4), np.float32)[:, ::2],
        "x",
        5,
        None,
    ):
        with expect(HOST):
            copy(env, image, host)
    with expect(TypeError):
        copy(env, frozen.copy(), image, nonsense=1)


@case
def copies_between_image_and_buffer(env: Env) -> None:
    image, buffer = env.image(), env.buffer(256)
    for kwargs in ({"offset": 4}, {"offset": 1024}, {"offset": 2**64 - 4}, {"offset": -4},
                   {"offset": "x"},
                   {"offset": 0, "region": (9, 8)}, {"offset": 0, "origin": (8, 8)},
                   {"offset": 2**63}):  # fmt: skip
        with expect(HOST):
            copy(env, buffer, image, **kwargs)
        with expect(HOST):
            copy(env, image, buffer, **kwargs)


@case
def copies_between_images(env: Env) -> None:
    a, b = env.image(), env.image((4, 4))
    good = {"src_origin": (0, 0), "dest_origin": (0, 0), "region": (4, 4)}
    cl.enqueue_copy(env.queue, b, a, **good)
    for kwargs in ({"region": (8, 8)}, {"src_origin": (5, 0)}, {"dest_origin": (1, 1)},
                   {"src_origin": (2**64 - 1, 0)},
                   {"region": (4, 4, 2)}, {"region": "x"}, {"src_origin": None}):  # fmt: skip
        with expect(HOST):
            cl.enqueue_copy(env.queue, b, a, **{**good, **kwargs})
    other = cl.ImageFormat(cl.channel_order.R, cl.channel_type.UNSIGNED_INT8)
    c = make(env, MF.READ_WRITE, other, shape=(8, 8))
    with expect(HOST, "format|mismatch"):
        cl.enqueue_copy(env.queue, c, a, **good)
    with expect(HOST, "overlap"):
        cl.enqueue_copy(env.queue, a, a, **{**good, "dest_origin": (1, 1)})


@case
def released_images(env: Env) -> None:
    image, host = env.image(), np.zeros((8, 8, 4), np.float32)
    image.release()
    with expect((ValueError, cl.LogicError)):
        image.release()
    for use in (lambda: copy(env, host, image), lambda: copy(env, image, host), lambda: image.width,
                lambda: image.format, lambda: image.shape,
                lambda: image.get_image_info(cl.image_info.WIDTH),
                lambda: cl.enqueue_fill_image(env.queue, image, np.zeros(4, np.float32), (0, 0),
                                              (8, 8)),
                lambda: cl.enqueue_map_image(env.queue, image, cl.map_flags.READ, (0, 0), (8, 8),
                                             (8, 8, 4),
                                             np.float32)):  # fmt: skip
        with expect((ValueError, cl.LogicError), "released"):
            use()


@case
def fills_of_nonsense(env: Env) -> None:
    image, red = env.image(), np.array([1, 0, 0, 1], np.float32)
    cl.enqueue_fill_image(env.queue, image, red, (0, 0), (8, 8))
    for color in (None, 5, "red", b"", np.zeros(3, np.float32), np.zeros(0),
                  [1, 0, 0],
                  np.array([object()] * 4)):  # fmt: skip
        with expect(HOST):
            cl.enqueue_fill_image(env.queue, image, color, (0, 0), (8, 8))
    for origin, region in (((0, 0), (9, 8)), ((8, 8), (1, 1)), ((-1, 0), (1, 1)),
                           ((2**64 - 1, 0), (2, 1)), ("a", (1, 1)),
                           ((0, 0), (8, 8, 2))):  # fmt: skip
        with expect(HOST):
            cl.enqueue_fill_image(env.queue, image, red, origin, region)
    with expect((TypeError, cl.LogicError)):
        cl.enqueue_fill_image(env.queue, env.buffer(), red, (0, 0), (8, 8))


@case
def maps_of_nonsense(env: Env) -> None:
    image, read = env.image(), cl.map_flags.READ

    def map_(
        origin: Any = (0, 0),
        region: Any = (8, 8),
        shape: Any = (8, 8, 4),
        dtype: Any = np.float32,
        **kw: Any,
    ) -> Any:
        return cl.enqueue_map_image(env.queue, image, read, origin, region, shape, dtype, **kw)[0]

    view = map_()
    view.base.release(env.queue)
    for kwargs in ({"shape": (9, 8, 4)}, {"shape": (2**40,)}, {"shape": (-1,)},
                   {"shape": (2**32, 2**32)}, {"dtype": object},
                   {"dtype": np.float64}, {"region": (9, 8)}, {"origin": (8, 0)},
                   {"origin": (2**64 - 1, 0)}, {"shape": "x"},
                   {"dtype": "nonsense"}, {"region": (2**63, 8)},
                   {"strides": (2**40, 16, 4)}):  # fmt: skip
        with expect(HOST):
            map_(**kwargs)
    env.queue.finish()
    check(image.map_count == 0, "a refused map left the image mapped")


@case
def descriptors_of_nonsense(env: Env) -> None:
    desc = cl.ImageDescriptor()
    with expect(HOST):
        cl.Image(env.ctx, MF.READ_WRITE, rgba(), desc=desc)
    for name, value in (("image_type", -1), ("image_type", 2**64), ("image_type", "x"),
                        ("shape", (1,) * 9), ("shape", 5),
                        ("array_size", -1), ("array_size", 2**64), ("pitches", (1, 2, 3, 4)),
                        ("pitches", 5),
                        ("num_mip_levels", -1), ("num_samples", 2**40), ("buffer", 5),
                        ("nonsense", 1)):  # fmt: skip
        with tolerate((*ANY, AttributeError)):
            setattr(desc, name, value)
    with expect(HOST):
        cl.Image(env.ctx, MF.READ_WRITE, rgba(), desc=desc)
    with expect(TypeError):
        cl.Image(env.ctx, MF.READ_WRITE, rgba(), desc=5)


@case
def descriptor_with_a_huge_size(env: Env) -> None:
    if not env.dev.image_support:
        skip("the device has no images")
    for shape in ((2**63, 1, 1), (8, 2**63, 1), (8, 8, 2**63)):
        desc = cl.ImageDescriptor()
        with expect(HOST):
            desc.image_type = cl.mem_object_type.IMAGE3D
            desc.shape = shape
            cl.Image(env.ctx, MF.READ_WRITE, rgba(), desc=desc)


@case
def image_from_a_buffer(env: Env) -> None:
    desc = cl.ImageDescriptor()
    with tolerate(HOST):
        desc.image_type = cl.mem_object_type.IMAGE1D_BUFFER
        desc.shape = (1000, 0, 0)
        desc.buffer = env.buffer(16)
        # 1000 texels of 16 bytes do not fit into 64 bytes.
        with expect(HOST):
            cl.Image(env.ctx, MF.READ_WRITE, rgba(), desc=desc)
    with expect(HOST):
        make(env, MF.READ_WRITE, rgba(), shape=(8,), buffer=5)


@case
def arrays_for_images(env: Env) -> None:
    if not env.dev.image_support:
        skip("the device has no images")
    for array, channels in ((np.zeros(8, object), None), (np.zeros((8, 8), np.complex64), None),
                            (5, None), ("x", None),
                            (np.zeros((8, 8, 4), np.float32), 5), (np.zeros((8, 8), np.float32), 0),
                            (np.zeros(0), None),
                            (np.zeros((8, 8), "U4"), None),
                            (np.zeros((8, 8, 3), np.float32)[:, ::2], 3),
                            (None, None)):  # fmt: skip
        with expect((*HOST, AttributeError)):
            cl.image_from_array(env.ctx, array, channels)
    with expect(HOST):
        cl.image_from_array(env.ctx, np.zeros((8, 8, 4), np.float32), 4, mode="x")


@case
def formats_of_odd_arguments(env: Env) -> None:
    for args in ((None, MF.READ_ONLY, cl.mem_object_type.IMAGE2D), (env.ctx, -1, 0),
                 (env.ctx, 2**64, 0), (env.ctx, "x", 0),
                 (env.ctx, MF.READ_ONLY, 2**64), (env.ctx, MF.READ_ONLY, None), (env.ctx,),
                 ()):  # fmt: skip
        with expect(HOST):
            cl.get_supported_image_formats(*args)
    with tolerate():
        cl.get_supported_image_formats(env.ctx, MF.READ_ONLY, 5)


@case
def image_information_of_odd_parameters(env: Env) -> None:
    image = env.image()
    for param in (0, -1, 2**32, 2**64, "WIDTH", None, cl.device_info.NAME):
        with expect(ANY):
            image.get_image_info(param)
        with expect(ANY):
            image.get_info(param)
