"""Shared virtual memory: a linked list that the host builds and a device walks.

python examples/svm.py
"""

import numpy as np

import pygpu as cl

# A node holds the address of the next one, which means the same to the host and to the device.
SOURCE = """
struct node { global struct node *next; long value; };
kernel void sum_list(global struct node *first, global long *sum) {
    long total = 0;
    for (global struct node *n = first; n; n = n->next) total += n->value;
    *sum = total;
}
"""
NODE = np.dtype([("next", np.uint64), ("value", np.int64)])
N = 1000

context = cl.create_some_context(interactive=False)
if not context.devices[0].svm_capabilities:
    raise SystemExit(f"{context.devices[0].name} has no shared virtual memory")
queue = cl.CommandQueue(context)
sum_list = cl.Program(context, SOURCE).build().sum_list

nodes, total = cl.csvm_empty(context, N, NODE), cl.csvm_empty(context, 1, np.int64)
order = np.random.default_rng(0).permutation(N)
with cl.SVM(nodes).map_rw(queue) as host:
    address = host.ctypes.data + order * NODE.itemsize
    host["next"][order] = [*address[1:], 0]
    host["value"] = np.arange(N) ** 2

sum_list(queue, (1,), None, cl.SVM(nodes[order[0] :]), cl.SVM(total))
with cl.SVM(total).map_ro(queue) as host:
    assert host[0] == sum(i * i for i in range(N))
    print(f"{N} nodes in random order, sum of squares {host[0]}")
