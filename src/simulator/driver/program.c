/* program.c - executable graphs: a list of work that each launch does in order. */
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/graph.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <stdlib.h>
#include <string.h>

/* Immutable: queued launches keep their program, and an update makes a new one. */
struct SimProgram {
    _Atomic int references;
    size_t n;
    SimWork *works;
    CUgraphNodeType *types;
    size_t *n_after, **after; /* indices, for comparison with another graph */
};

typedef struct {
    SimObject object;
    pthread_mutex_t lock;
    SimProgram *program; /* counted */
} Exec;

enum { UPDATE_SUCCESS = 0, UPDATE_TOPOLOGY_CHANGED = 2, UPDATE_TYPE_CHANGED = 3 };

void sim_program_keep(SimProgram *program) {
    atomic_fetch_add(&program->references, 1);
}

void sim_program_drop(SimProgram *program) {
    if (program == NULL || atomic_fetch_sub(&program->references, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < program->n; i++) {
        sim_work_clear(&program->works[i]);
        free(program->after[i]);
    }
    free(program->works);
    free(program->types);
    free(program->n_after);
    free(program->after);
    free(program);
}

CUresult sim_program_run(SimProgram *program, SimContext *context, SimOrigin origin,
                         SimError *error) {
    for (size_t i = 0; i < program->n; i++) {
        SIM_TRY(sim_work_run(&program->works[i], context, origin, error));
    }
    return CUDA_SUCCESS;
}

/* Needs the graph's lock. */
static CUresult program_of(const SimGraph *graph, SimProgram **out) {
    size_t n = graph->nodes.n;
    SimProgram *program = calloc(1, sizeof(*program));
    CUresult status = program != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (program != NULL) {
        atomic_store(&program->references, 1);
        program->works = calloc(n + 1, sizeof(*program->works));
        program->types = calloc(n + 1, sizeof(*program->types));
        program->n_after = calloc(n + 1, sizeof(*program->n_after));
        program->after = calloc(n + 1, sizeof(*program->after));
        if (program->works == NULL || program->types == NULL || program->n_after == NULL ||
            program->after == NULL) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    for (size_t i = 0; i < n && status == CUDA_SUCCESS; i++) {
        const SimNode *node = graph->nodes.list[i];
        program->after[i] = calloc(node->after.n + 1, sizeof(**program->after));
        status = program->after[i] != NULL ? sim_work_copy(&program->works[i], &node->work)
                                           : CUDA_ERROR_OUT_OF_MEMORY;
        program->n++;
        program->types[i] = node->type;
        for (size_t k = 0; k < node->after.n && status == CUDA_SUCCESS; k++) {
            program->after[i][program->n_after[i]++] = node->after.list[k]->index;
        }
    }
    if (status != CUDA_SUCCESS) {
        sim_program_drop(program);
        return sim_fail(status, "the machine has no memory left");
    }
    *out = program;
    return CUDA_SUCCESS;
}

static void exec_free(void *op) {
    Exec *self = op;
    sim_program_drop(self->program);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static CUresult take_exec(CUgraphExec handle, Exec **out) {
    *out = sim_object_take((uintptr_t)handle, SIM_GRAPH_EXEC);
    return *out != NULL
               ? CUDA_SUCCESS
               : sim_fail(CUDA_ERROR_INVALID_VALUE,
                          "%p is not an executable graph, or was destroyed", (void *)handle);
}

static SimProgram *program_in(Exec *exec) {
    pthread_mutex_lock(&exec->lock);
    SimProgram *program = exec->program;
    sim_program_keep(program);
    pthread_mutex_unlock(&exec->lock);
    return program;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                     unsigned long long flags) {
    SIM_CALL(cuGraphInstantiateWithFlags);
    SIM_NOT_NULL(phGraphExec);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimGraph, graph, sim_graph_take(hGraph, &graph));
    if ((flags & ~0xfull) != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#llx are not flags of graphs", flags);
    }
    if ((flags & 4) != 0) {
        return sim_fail(CUDA_ERROR_NOT_SUPPORTED,
                        "the simulator's graphs cannot be launched by kernels");
    }
    Exec *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_lock(&graph->lock);
    CUresult status = program_of(graph, &self->program);
    pthread_mutex_unlock(&graph->lock);
    if (status == CUDA_SUCCESS) {
        status = sim_object_open(self, SIM_GRAPH_EXEC, context, exec_free);
    }
    if (status != CUDA_SUCCESS) {
        exec_free(self);
        return status;
    }
    *phGraphExec = (CUgraphExec)self->object.handle;
    sim_object_drop(self);
    return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
    SIM_CALL(cuGraphUpload);
    HELD Exec *exec = NULL;
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    return take_exec(hGraphExec, &exec); /* already where it runs */
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
    SIM_CALL(cuGraphLaunch);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    SIM_TAKE(Exec, exec, take_exec(hGraphExec, &exec));
    return sim_stream_submit(stream, &(SimWork){.kind = WORK_PROGRAM, .program = program_in(exec)},
                             NULL);
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
    SIM_CALL(cuGraphExecDestroy);
    SIM_TAKE(Exec, exec, take_exec(hGraphExec, &exec));
    sim_object_close(exec);
    return CUDA_SUCCESS;
}

/* Why fresh cannot replace old, and at which node; UPDATE_SUCCESS if it can. */
static CUgraphExecUpdateResult compare(const SimProgram *old, const SimProgram *fresh, size_t *at) {
    size_t n = old->n < fresh->n ? old->n : fresh->n;
    for (*at = 0; *at < n; ++*at) {
        size_t i = *at;
        if (old->types[i] != fresh->types[i]) {
            return UPDATE_TYPE_CHANGED;
        }
        if (old->n_after[i] != fresh->n_after[i] ||
            memcmp(old->after[i], fresh->after[i], old->n_after[i] * sizeof(**old->after)) != 0) {
            return UPDATE_TOPOLOGY_CHANGED;
        }
    }
    return old->n == fresh->n ? UPDATE_SUCCESS : UPDATE_TOPOLOGY_CHANGED;
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                           CUgraphExecUpdateResultInfo *resultInfo) {
    SIM_CALL(cuGraphExecUpdate);
    SimProgram *fresh;
    size_t at;
    CUgraphNode node = NULL;
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(Exec, exec, take_exec(hGraphExec, &exec));
    SIM_TAKE(SimGraph, graph, sim_graph_take(hGraph, &graph));
    pthread_mutex_lock(&graph->lock);
    CUresult status = program_of(graph, &fresh);
    pthread_mutex_unlock(&graph->lock);
    SIM_TRY(status);
    pthread_mutex_lock(&exec->lock);
    CUgraphExecUpdateResult result = compare(exec->program, fresh, &at);
    if (result == UPDATE_SUCCESS) {
        SimProgram *old = exec->program;
        exec->program = fresh;
        fresh = old;
    }
    pthread_mutex_unlock(&exec->lock);
    sim_program_drop(fresh);
    if (result != UPDATE_SUCCESS) {
        pthread_mutex_lock(&graph->lock);
        node = at < graph->nodes.n ? (CUgraphNode)graph->nodes.list[at]->object.handle : NULL;
        pthread_mutex_unlock(&graph->lock);
    }
    if (resultInfo != NULL) {
        *resultInfo = (CUgraphExecUpdateResultInfo){.result = result, .errorNode = node};
    }
    return result == UPDATE_SUCCESS
               ? CUDA_SUCCESS
               : sim_fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                          result == UPDATE_TYPE_CHANGED
                              ? "node %zu is of another type"
                              : "the graphs differ in nodes or order, at node %zu",
                          at);
}
