"""The types themselves: half-made instances, copies, subclasses, attributes, repeated imports."""

from __future__ import annotations

import copy
import gc
import importlib
import inspect
import itertools
import pickle
import sys
import weakref
from collections.abc import Callable
from typing import Any

from harness import ANY, MF, PEER, Env, Liar, case, check, cl, expect, np, skip, tolerate

SOMETHING = (TypeError, ValueError, AttributeError, RuntimeError, NotImplementedError,
             RecursionError, IndexError,
             OverflowError, BufferError, cl.Error)  # fmt: skip


def native_types() -> list[type]:
    """All classes that a user can reach at the top of the module."""
    return [
        v
        for v in vars(cl).values()
        if isinstance(v, type) and not issubclass(v, (BaseException, cl.mem_flags))
    ]


def instances(env: Env) -> list[Any]:
    """One object of each kind."""
    event = cl.enqueue_marker(env.queue)
    prg = cl.Program(env.ctx, "kernel void k(global int *a) { a[0] = 42; }").build()
    found = [
        env.dev.platform, env.dev, env.ctx, env.queue, prg, env.kernel("add1"), env.buffer(),
        event,
        cl.UserEvent(env.ctx), cl.LocalMemory(64), cl.ImageFormat(cl.channel_order.RGBA,
                                                                  cl.channel_type.FLOAT),
        cl.Sampler(env.ctx, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST),
        cl.ImageDescriptor(),
        env.buffer().get_sub_region(0, 64),
        cl.tools.MemoryPool(cl.tools.ImmediateAllocator(env.queue)),
    ]  # fmt: skip
    if env.dev.image_support:
        found.append(env.image())
    return found


def prod(thing: Any) -> None:
    """Touch every attribute and call every method without arguments, whatever comes."""
    for name in dir(thing):
        if name in (
            "__class__",
            "__init_subclass__",
            "__subclasshook__",
            "__dir__",
            "__doc__",
            "__abstractmethods__",
        ):
            continue
        with tolerate(Exception):
            try:
                value = getattr(thing, name)
            except SystemError as error:
                raise AssertionError(f"{type(thing).__name__}.{name}: {error}") from None
        if name in ("__reduce__", "__reduce_ex__", "wait", "__del__"):
            continue
        try:
            if callable(value):
                value()
        except SystemError as error:
            raise AssertionError(f"{type(thing).__name__}.{name}(): {error}") from None
        except Exception:
            pass


@case
def new_without_arguments(env: Env) -> None:
    for kind in native_types():
        with tolerate(SOMETHING):
            thing = kind.__new__(kind)
            prod(thing)
            repr(thing), hash(thing), thing == thing
            del thing
    gc.collect()


@case
def new_of_the_wrong_type(env: Env) -> None:
    kinds = [k for k in native_types() if "__new__" in vars(k)]
    for kind in kinds:
        for other in (int, object, dict, kinds[0]):
            if issubclass(other, kind):
                continue
            with expect(SOMETHING):
                kind.__new__(other)
        with tolerate(SOMETHING):
            object.__new__(kind)


@case
def half_made_objects_as_arguments(env: Env) -> None:
    for kind in native_types():
        try:
            uninitialized = kind.__new__(kind)
        except Exception:
            continue
        for use in (
            lambda h: cl.enqueue_copy(env.queue, h, env.buffer()),
            lambda h: cl.enqueue_copy(env.queue, env.buffer(), h),
            lambda h: cl.enqueue_copy(h, env.buffer(), env.host),
            lambda h: cl.Buffer(h, MF.READ_WRITE, 64),
            lambda h: cl.CommandQueue(h),
            lambda h: cl.Context([h]),
            lambda h: env.kernel("add1")(env.queue, (1,), None, h),
            lambda h: cl.wait_for_events([h]),
            lambda h: cl.enqueue_marker(env.queue, wait_for=[h]),
            lambda h: cl.Kernel(h, "add1"),
            lambda h: cl.enqueue_nd_range_kernel(env.queue, h, (1,), None),
            lambda h: cl.link_program(env.ctx, [h]),
            lambda h: cl.enqueue_migrate_mem_objects(env.queue, [h]),
        ):
            with tolerate(Exception) as caught:
                use(uninitialized)
            check(
                not caught or not isinstance(caught[0], SystemError), f"{kind.__name__}: {caught}"
            )


@case
def methods_on_foreign_instances(env: Env) -> None:
    things = instances(env)
    for kind in {type(t) for t in things}:
        for name, member in inspect.getmembers(kind):
            if name.startswith("__") or not callable(member) or name == "from_int_ptr":
                continue  # from_int_ptr(5) is a wild pointer, beyond reach
            for other in (None, 5, object(), *things):
                if isinstance(other, kind) or inspect.isroutine(member) is False:
                    continue
                with tolerate(Exception) as caught:
                    member(other)
                check(
                    not caught or not isinstance(caught[0], SystemError),
                    f"{kind.__name__}.{name}: {caught}",
                )
        for name, member in vars(kind).items():
            if hasattr(member, "__get__") and hasattr(member, "__set__"):
                with expect((TypeError, AttributeError)):
                    member.__get__(object(), object)
                check(True, name)


@case
def pickle_and_copy(env: Env) -> None:
    for thing in instances(env):
        if isinstance(thing, (cl.LocalMemory, cl.ImageFormat, cl.ImageDescriptor)):
            with tolerate((TypeError, pickle.PicklingError)):
                pickle.loads(pickle.dumps(thing))
            continue
        for protocol in (0, 2, pickle.HIGHEST_PROTOCOL):
            with tolerate((TypeError, pickle.PicklingError)) as caught:
                pickle.dumps(thing, protocol)
            if not caught:
                # Protocol 0 takes any heap type for a Python class, so reading it back has to fail.
                with tolerate((TypeError, pickle.PicklingError)) as caught:
                    pickle.loads(pickle.dumps(thing, protocol))
            check(caught, f"{type(thing).__name__} was pickled")
        with tolerate((TypeError, pickle.PicklingError)) as caught:
            twin = copy.deepcopy(thing)
        if not caught:
            prod(twin)
        with tolerate((TypeError, pickle.PicklingError)) as caught:
            twin = copy.copy(thing)
        if not caught:
            prod(twin)


@case
def attributes_of_types(env: Env) -> None:
    for name, value in (
        ("release", None),
        ("nonsense", 5),
        ("size", 5),
        ("__init__", None),  # not __new__, which Python cannot give back to classes written in C
    ):
        had, before = name in vars(cl.Buffer), vars(cl.Buffer).get(name)
        setattr(cl.Buffer, name, value)
        with tolerate((TypeError, AttributeError, cl.Error)):
            env.buffer().release()
        delattr(cl.Buffer, name)
        with tolerate((TypeError, AttributeError, cl.Error)):
            env.buffer().release()
        if had:
            setattr(cl.Buffer, name, before)
    with expect((TypeError, AttributeError)):
        cl.Buffer.__bases__ = (object,)
    env.buffer().release()


@case
def attributes_of_instances(env: Env) -> None:
    buffer = env.buffer()
    for name in ("size", "int_ptr", "context", "flags"):
        with expect((AttributeError, TypeError)):
            setattr(buffer, name, 5)
        with expect((AttributeError, TypeError)):
            delattr(buffer, name)
    for thing in instances(env):
        with expect((TypeError, AttributeError)):
            thing.__class__ = int
        with tolerate((TypeError, AttributeError)):
            thing.__dict__ = 5


@case
def classes_exchanged(env: Env) -> None:
    class Mine(cl.Buffer):
        pass

    class Other(cl.Event):
        pass

    mine = Mine(env.ctx, MF.READ_WRITE, 64)
    with expect(TypeError):
        mine.__class__ = Other
    with tolerate(TypeError):
        mine.__class__ = cl.Buffer
    check(mine.size == 64, "the buffer lost its size")


@case
def subclassing(env: Env) -> None:
    for kind in {type(t) for t in instances(env)}:
        with tolerate(TypeError):
            sub = type("Sub", (kind,), {"extra": 1})
            with tolerate(SOMETHING):
                thing = sub.__new__(sub)
                prod(thing)
    with expect(TypeError):
        type("Both", (cl.Buffer, cl.Event), {})
    with expect(TypeError):
        type("Both", (cl.Buffer, int), {})


@case
def subclass_with_slots_and_overrides(env: Env) -> None:
    class Slotted(cl.Buffer):
        __slots__ = ("extra",)

        @property
        def size(self) -> int:  # a lie that no range check may believe
            return 2**62

        @property
        def int_ptr(self) -> int:
            return 8

    buffer = Slotted(env.ctx, MF.READ_WRITE, 64)
    with expect((*SOMETHING,)):
        cl.enqueue_copy(env.queue, np.zeros(1000, np.float32), buffer)
    with expect((*SOMETHING,)):
        cl.enqueue_copy(env.queue, env.buffer(), buffer, byte_count=128)


@case
def weak_references(env: Env) -> None:
    for thing in instances(env):
        with tolerate(TypeError):
            reference = weakref.ref(thing)
            check(reference() is thing, "a weak reference is wrong")
    buffer = env.buffer()
    reference = weakref.ref(buffer)
    del buffer
    gc.collect()
    check(reference() is None, "a dropped buffer lives on")


@case
def comparisons(env: Env) -> None:
    things = instances(env)
    for thing in things:
        check(
            thing == thing and not thing != thing, f"{type(thing).__name__} is not equal to itself"
        )
        for other in (None, 5, "x", object(), Liar(), np.zeros(3)):
            result = thing == other
            check(not np.any(result), f"{type(thing).__name__} equals {other!r}")
        with tolerate(TypeError):
            hash(thing)
        for other in things:
            if type(other) is not type(thing):
                check(thing != other, f"{type(thing).__name__} equals {type(other).__name__}")
        with expect(TypeError):
            _ = thing < thing
        with expect(TypeError):
            _ = thing + thing


@case
def every_method_without_arguments(env: Env) -> None:
    for thing in instances(env):
        prod(thing)
    env.queue.finish()


@case
def garbage_collector_walks_everything(env: Env) -> None:
    things = instances(env)
    for thing in things:
        gc.get_referents(thing)
        gc.get_referrers(thing)
        sys.getsizeof(thing)
    check(len(gc.get_objects()) > 0, "no objects")


@case
def constants_to_string_of_odd_values(env: Env) -> None:
    kinds = [v for n, v in vars(cl).items() if isinstance(v, type) and hasattr(v, "to_string")]
    for kind in kinds:
        for value in (0, -1, 2**31, 2**32, 2**64, 2**200, "x", None, 1.5, b"x", [], object(), True):
            for args in ((value,), (value, "%d?"), (value, None), (value, 5), (value, "%s%s%s")):
                with tolerate((*SOMETHING, ArithmeticError)):
                    check(
                        isinstance(kind.to_string(*args), (str, int, float, type(None))),
                        "to_string does not return a str",
                    )
        with expect(SOMETHING):
            kind.to_string()
    check(kinds or PEER, "no constant class has to_string")


@case(alone=True, limit=20)
def module_dropped_and_imported_again(env: Env) -> None:
    old = env.buffer()
    name = cl.__name__
    for _ in range(3):
        for module in [n for n in sys.modules if n.split(".")[0] == name]:
            del sys.modules[module]
        gc.collect()
        new = importlib.import_module(name)
        ctx = new.create_some_context(interactive=False)
        queue = new.CommandQueue(ctx)
        buffer = new.Buffer(
            ctx, new.mem_flags.READ_WRITE | new.mem_flags.COPY_HOST_PTR, hostbuf=env.host
        )
        back = np.zeros_like(env.host)
        new.enqueue_copy(queue, back, buffer)
        check(np.array_equal(back, env.host), "the module imported again does not work")
        # Objects of the old import are foreign here: refused, never misread.
        with tolerate((TypeError, ValueError, BufferError, new.Error, cl.Error)):
            new.enqueue_copy(queue, back, old)
    check(np.array_equal(env.read(old), env.host), "objects of the first import no longer work")


@case(alone=True, limit=20)
def module_reloaded(env: Env) -> None:
    old = env.buffer()
    importlib.reload(cl)
    check(np.array_equal(env.read(old), env.host), "objects made before a reload no longer work")
    ctx = cl.create_some_context(interactive=False)
    cl.enqueue_marker(cl.CommandQueue(ctx)).wait()


@case(alone=True, limit=20, stderr=".*")  # NumPy refuses sub-interpreters with a traceback
def sub_interpreter(env: Env) -> None:
    try:
        interpreters = importlib.import_module("_xxsubinterpreters")
    except ImportError:
        skip("_xxsubinterpreters")
    ident = interpreters.create()
    paths = [p for p in sys.path if p]
    text = f"""
import sys
sys.path[:0] = {paths!r}
try:
    import {cl.__name__} as cl
    ctx = cl.create_some_context(interactive=False)
    cl.enqueue_marker(cl.CommandQueue(ctx)).wait()
except (ImportError, RuntimeError):
    pass
"""
    with tolerate(Exception):
        interpreters.run_string(ident, text)
    with tolerate(Exception):
        interpreters.destroy(ident)
    env.healthy()


@case(alone=True, limit=20)
def names_imported_by_star(env: Env) -> None:
    scope: dict[str, Any] = {}
    exec(f"from {cl.__name__} import *", scope)
    check("Buffer" in scope, "import * brought no Buffer")


@case(alone=True, limit=30)
def everything_untracked_and_traced(env: Env) -> None:
    gc.set_threshold(1, 1, 1)
    try:
        for _ in range(3):
            things = instances(env)
            env.kernel("add1")(env.queue, (64,), None, env.buffer()).wait()
            del things
    finally:
        gc.set_threshold(700, 10, 10)


@case(limit=60)
def iterables_without_an_end(env: Env) -> None:
    """Wherever a sequence is asked for, one that never ends is an error, and soon."""
    program, buffer = cl.Program(env.ctx, "kernel void f(int n) {}"), env.buffer()
    built = cl.Program(env.ctx, "kernel void f(int n) {}").build()
    count, same = itertools.count, itertools.repeat
    calls: list[Callable[[], Any]] = [
        lambda: cl.Context(same(env.dev)),
        lambda: cl.Context([env.dev], properties=same((0x1084, env.dev.platform))),
        lambda: env.dev.create_sub_devices(count(1)),
        lambda: cl.CommandQueue(env.ctx, env.dev, count(1)),
        lambda: cl.Program(env.ctx, same(env.dev), [b"x"]),
        lambda: cl.Program(env.ctx, [env.dev], same(b"x")),
        lambda: program.compile([], [env.dev], same(("x.h", program))),
        lambda: cl.link_program(env.ctx, same(program)),
        lambda: built.build([], same(env.dev)),
        lambda: built.build(same("-w")),
        lambda: cl.choose_devices(answers=same("0")),
        lambda: built.f.set_scalar_arg_dtypes(same(np.int32)),
        lambda: cl.Sampler(env.ctx, count(1)),
        lambda: cl.Pipe(env.ctx, 0, 4, 4, count(1)),
        lambda: cl.enqueue_migrate_mem_objects(env.queue, same(buffer)),
        lambda: cl.enqueue_svm_migrate_mem(env.queue, same(buffer)),
        lambda: cl.enqueue_fill_image(env.queue, env.image(), count(1), (0, 0), (8, 8)),
        lambda: cl.enqueue_copy(env.queue, env.host, env.image(), origin=count(), region=(8, 8)),
        lambda: cl.enqueue_marker(env.queue, wait_for=same(cl.enqueue_marker(env.queue))),
        lambda: cl.wait_for_events(same(cl.enqueue_marker(env.queue))),
        lambda: cl.enqueue_acquire_gl_objects(env.queue, same(buffer)),
        lambda: built.f(env.queue, count(1), None, np.int32(1)),
    ]
    for call in calls:
        with expect(ANY):
            call()
    env.queue.finish()
