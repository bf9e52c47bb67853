"""Holds commands back until the program says go, with an event that the program sets itself.

Run: python examples/user_event.py
"""

import numpy as np

import pygpu as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
a = np.arange(8, dtype=np.float32)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, a.nbytes)

go = cl.UserEvent(context)
copy = cl.enqueue_copy(queue, buffer, a, is_blocking=False, wait_for=[go])
queue.flush()
assert copy.command_execution_status != cl.command_execution_status.COMPLETE

a += 100  # the copy has not begun, so this still counts
seen: list[int] = []
copy.set_callback(cl.command_execution_status.COMPLETE, seen.append)
go.set_status(cl.command_execution_status.COMPLETE)
copy.wait()

result = np.empty_like(a)
cl.enqueue_copy(queue, result, buffer)
assert (result == np.arange(8) + 100).all()

# A negative status makes what waits for the event fail; so does dropping the event without one.
fail = cl.UserEvent(context)
fill = cl.enqueue_fill_buffer(queue, buffer, np.float32(0), 0, a.nbytes, wait_for=[fail])
fail.set_status(-1)
try:
    fill.wait()
except cl.RuntimeError as error:
    print(f"{queue.device.name}: the copy came after the change; the fill did not: {error}")
else:  # Intel's CPU runtime cannot let commands fail, so pygpu has it run them
    assert "Intel" in queue.device.platform.name, "it ran although what it waited for had failed"
    print(f"{queue.device.name}: the copy came after the change; the fill ran all the same")
