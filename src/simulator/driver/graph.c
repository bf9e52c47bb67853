/* graph.c - graphs: work with dependencies. */
#include "simulator/driver/driver.h"
#include "simulator/driver/function.h"
#include "simulator/driver/graph.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODE_KERNEL = 0,
    NODE_MEMCPY = 1,
    NODE_MEMSET = 2,
    NODE_HOST = 3,
    NODE_GRAPH = 4,
    NODE_EMPTY = 5
};

static void node_free(void *op) {
    SimNode *self = op;
    sim_work_clear(&self->work);
    free(self->after.list);
    free(self);
}

static void graph_free(void *op) {
    SimGraph *self = op;
    for (size_t i = 0; i < self->nodes.n; i++) {
        sim_object_close(self->nodes.list[i]);
        sim_object_drop(self->nodes.list[i]);
    }
    free(self->nodes.list);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

CUresult sim_graph_new(SimGraph **out) {
    SimGraph *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    pthread_mutex_init(&self->lock, NULL);
    CUresult status = sim_object_open(self, SIM_GRAPH, NULL, graph_free);
    if (status != CUDA_SUCCESS) {
        graph_free(self);
        return status;
    }
    *out = self;
    return CUDA_SUCCESS;
}

CUresult sim_graph_take(CUgraph handle, SimGraph **out) {
    *out = sim_object_take((uintptr_t)handle, SIM_GRAPH);
    return *out != NULL ? CUDA_SUCCESS
                        : sim_fail(CUDA_ERROR_INVALID_VALUE, "%p is not a graph, or was destroyed",
                                   (void *)handle);
}

CUresult sim_nodes_merge(SimNodes *to, const SimNodes *from) {
    if (from->n == 0) {
        return CUDA_SUCCESS;
    }
    SimNode **list = realloc(to->list, (to->n + from->n) * sizeof(*list));
    if (list == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    to->list = list;
    size_t n = to->n;
    for (size_t i = 0; i < from->n; i++) {
        bool there = false;
        for (size_t k = 0; k < n; k++) {
            there = there || list[k] == from->list[i];
        }
        if (!there) {
            list[to->n++] = from->list[i];
        }
    }
    return CUDA_SUCCESS;
}

static CUgraphNodeType type_of(const SimWork *work) {
    switch (work->kind) {
    case WORK_KERNEL:
        return NODE_KERNEL;
    case WORK_COPY:
        return NODE_MEMCPY;
    case WORK_SET:
        return NODE_MEMSET;
    case WORK_HOST:
        return NODE_HOST;
    case WORK_PROGRAM:
        return NODE_GRAPH;
    default:
        return NODE_EMPTY;
    }
}

CUresult sim_graph_add(SimGraph *graph, SimWork *work, const SimNodes *after, SimNode **out) {
    SimNode *node = calloc(1, sizeof(*node));
    SimNode **list = realloc(graph->nodes.list, (graph->nodes.n + 1) * sizeof(*list));
    if (list != NULL) {
        graph->nodes.list = list;
    }
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    if (node != NULL && list != NULL) {
        node->type = type_of(work);
        node->index = graph->nodes.n;
        status = sim_nodes_merge(&node->after, after);
        if (status == CUDA_SUCCESS) {
            status = sim_object_open(node, SIM_NODE, NULL, node_free);
        }
    }
    if (status != CUDA_SUCCESS) {
        if (node != NULL) {
            free(node->after.list);
        }
        free(node);
        sim_work_clear(work);
        return sim_fail(status, "the machine has no memory left");
    }
    sim_work_move(&node->work, work);
    graph->nodes.list[graph->nodes.n++] = node;
    *out = node;
    return CUDA_SUCCESS;
}

/* ---- the calls ------------------------------------------------------------------------------- */

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags) {
    SIM_CALL(cuGraphCreate);
    SIM_NOT_NULL(phGraph);
    if (flags != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not 0", flags);
    }
    SIM_TAKE(SimGraph, graph, sim_graph_new(&graph));
    *phGraph = (CUgraph)graph->object.handle;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph) {
    SIM_CALL(cuGraphDestroy);
    SIM_TAKE(SimGraph, graph, sim_graph_take(hGraph, &graph));
    pthread_mutex_lock(&graph->lock);
    for (size_t i = 0; i < graph->nodes.n; i++) {
        sim_object_close(graph->nodes.list[i]); /* the graph's own reference keeps them alive */
    }
    pthread_mutex_unlock(&graph->lock);
    sim_object_close(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph) {
    SIM_CALL(cuGraphClone);
    CUresult status = CUDA_SUCCESS;
    SIM_NOT_NULL(phGraphClone);
    SIM_TAKE(SimGraph, graph, sim_graph_take(originalGraph, &graph));
    SIM_TAKE(SimGraph, made, sim_graph_new(&made));
    pthread_mutex_lock(&graph->lock);
    for (size_t i = 0; i < graph->nodes.n && status == CUDA_SUCCESS; i++) {
        const SimNode *node = graph->nodes.list[i];
        SimNodes after = {calloc(node->after.n + 1, sizeof(*after.list)), node->after.n};
        SimWork work;
        SimNode *ignored;
        if (after.list == NULL) {
            status = sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
            break;
        }
        for (size_t k = 0; k < after.n; k++) {
            after.list[k] = made->nodes.list[node->after.list[k]->index];
        }
        status = sim_work_copy(&work, &node->work);
        if (status == CUDA_SUCCESS) {
            status = sim_graph_add(made, &work, &after, &ignored);
        }
        free(after.list);
    }
    pthread_mutex_unlock(&graph->lock);
    if (status != CUDA_SUCCESS) {
        sim_object_close(made);
        return status;
    }
    *phGraphClone = (CUgraph)made->object.handle;
    return CUDA_SUCCESS;
}

/* nodes NULL: only counts. Extra elements are set to NULL. */
CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes) {
    SIM_CALL(cuGraphGetNodes);
    SIM_NOT_NULL(numNodes);
    SIM_TAKE(SimGraph, graph, sim_graph_take(hGraph, &graph));
    pthread_mutex_lock(&graph->lock);
    size_t n = graph->nodes.n;
    for (size_t i = 0; nodes != NULL && i < *numNodes; i++) {
        nodes[i] = i < n ? (CUgraphNode)graph->nodes.list[i]->object.handle : NULL;
    }
    if (nodes == NULL || *numNodes > n) {
        *numNodes = n;
    }
    pthread_mutex_unlock(&graph->lock);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type) {
    SIM_CALL(cuGraphNodeGetType);
    SIM_NOT_NULL(type);
    HELD SimNode *node = sim_object_take((uintptr_t)hNode, SIM_NODE);
    if (node == NULL) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%p is not a node, or its graph was destroyed",
                        (void *)hNode);
    }
    *type = node->type;
    return CUDA_SUCCESS;
}

static void print_node(FILE *file, const SimNode *node) {
    static const char *const names[] = {"kernel", "memcpy", "memset", "host", "graph", "empty"};
    fprintf(file, "  n%zu [label=\"%zu\\n%s", node->index, node->index, names[node->type]);
    const SimWork *work = &node->work;
    if (work->kind == WORK_KERNEL) {
        fprintf(file, "\\n%s\\n<<<(%u,%u,%u),(%u,%u,%u),%zu>>>",
                sim_kernel_name(work->kernel.function->kernel), work->kernel.grid.x,
                work->kernel.grid.y, work->kernel.grid.z, work->kernel.block.x,
                work->kernel.block.y, work->kernel.block.z, work->kernel.shared);
    } else if (work->kind == WORK_COPY) {
        fprintf(file, "\\n%zu x %zu x %zu bytes", work->copy.box.width, work->copy.box.height,
                work->copy.box.depth);
    } else if (work->kind == WORK_SET) {
        fprintf(file, "\\n%zu x %zu times %#x", work->set.width, work->set.height, work->set.value);
    }
    fprintf(file, "\"];\n");
    for (size_t i = 0; i < node->after.n; i++) {
        fprintf(file, "  n%zu -> n%zu;\n", node->after.list[i]->index, node->index);
    }
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags) {
    SIM_CALL(cuGraphDebugDotPrint);
    (void)flags; /* verbosity */
    SIM_NOT_NULL(path);
    SIM_TAKE(SimGraph, graph, sim_graph_take(hGraph, &graph));
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return sim_fail(CUDA_ERROR_OPERATING_SYSTEM, "%.800s cannot be written", path);
    }
    fprintf(file, "digraph graph_ {\n  node [shape=box];\n");
    pthread_mutex_lock(&graph->lock);
    for (size_t i = 0; i < graph->nodes.n; i++) {
        print_node(file, graph->nodes.list[i]);
    }
    pthread_mutex_unlock(&graph->lock);
    fprintf(file, "}\n");
    bool written = ferror(file) == 0;
    return fclose(file) == 0 && written
               ? CUDA_SUCCESS
               : sim_fail(CUDA_ERROR_OPERATING_SYSTEM, "%.800s could not be written", path);
}
