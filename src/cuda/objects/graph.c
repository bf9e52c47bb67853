/* graph.c - Graph and GraphExec: work captured from streams, which a single call launches again
 * and again.
 *
 * Both own what the work uses: host memory, allocations, kernels' modules, functions. Running work
 * holds no references, so a GraphExec that is destroyed passes its objects to cud_keepalive() for
 * the streams on which it was launched. */
#include "cuda/api/enums.h"
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"
#include "cuda/objects/graph.h"
#include "cuda/stream.h"

static void destroy_graph(CUgraph handle, Context *context) {
    CUresult status;
    FREE_IN_CONTEXT(context, status, CU_BESIDE(status, cuGraphDestroy, handle));
    cud_live[LIVE_GRAPH]--;
}

PyObject *graph_new(State *state, CUgraph handle, Context *context, PyObject *owned) {
    cud_live[LIVE_GRAPH]++;
    Graph *self = (Graph *)PG_NEW(state->GraphType);
    if (self == NULL) {
        destroy_graph(handle, context);
        return NULL;
    }
    self->state = state;
    self->handle = handle;
    self->context = (Context *)Py_NewRef(context);
    self->owned = Py_NewRef(owned);
    return (PyObject *)self;
}

static PyObject *Graph_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    State *state = cud_state_of(type);
    if (state == NULL) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(args) > 0 || (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0)) {
        PyErr_SetString(
            PyExc_TypeError,
            "Graph() takes no arguments; Stream.end_capture() makes one with work in it");
        return NULL;
    }
    Context *context = cud_context_current(state);
    PyObject *owned = context != NULL ? PyList_New(0) : NULL, *made = NULL;
    if (owned != NULL) {
        CUgraph handle = NULL;
        CUresult status = CUDA_SUCCESS;
        CU_BESIDE(status, cuGraphCreate, &handle, 0);
        made = status == CUDA_SUCCESS ? graph_new(state, handle, context, owned)
                                      : cud_raise(state, "cuGraphCreate", status);
    }
    Py_XDECREF(owned);
    Py_XDECREF(context);
    return made;
}

static int Graph_traverse(PyObject *op, visitproc visit, void *arg) {
    Graph *self = (Graph *)op;
    CUD_VISIT(op);
    Py_VISIT(self->context);
    Py_VISIT(self->owned);
    return 0; /* no tp_clear, because the device may still use the objects */
}

static void Graph_dealloc(PyObject *op) {
    Graph *self = (Graph *)op;
    pg_untrack(op, self->weakrefs);
    if (self->handle != NULL) {
        destroy_graph(self->handle, self->context);
    }
    Py_XDECREF(self->owned);
    Py_XDECREF(self->context);
    cud_object_free(op);
}

/* ---- Graph ----------------------------------------------------------------------------------- */

static PyObject *Graph_clone(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Graph *self = (Graph *)op;
    CUgraph handle = NULL;
    CUresult status;
    if (cud_context_check(self->context, "cuGraphClone") < 0) {
        return NULL;
    }
    IN_CONTEXT(self->context, status, CU_BESIDE(status, cuGraphClone, &handle, self->handle));
    return status == CUDA_SUCCESS ? graph_new(self->state, handle, self->context, self->owned)
                                  : cud_raise(self->state, "cuGraphClone", status);
}

static PyObject *Graph_nodes(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Graph *self = (Graph *)op;
    size_t n = 0;
    CUresult status;
    if (cud_context_check(self->context, "cuGraphGetNodes") < 0) {
        return NULL;
    }
    IN_CONTEXT(self->context, status, CU_BESIDE(status, cuGraphGetNodes, self->handle, NULL, &n));
    if (status != CUDA_SUCCESS) {
        return cud_raise(self->state, "cuGraphGetNodes", status);
    }
    CUgraphNode *nodes = PyMem_Calloc(n + 1, sizeof *nodes);
    if (nodes == NULL) {
        return PyErr_NoMemory();
    }
    if (n > 0) {
        IN_CONTEXT(self->context, status,
                   CU_BESIDE(status, cuGraphGetNodes, self->handle, nodes, &n));
    }
    PyObject *list = status == CUDA_SUCCESS ? PyList_New(0)
                                            : cud_raise(self->state, "cuGraphGetNodes", status);
    for (size_t i = 0; list != NULL && i < n; i++) {
        CUgraphNodeType type = 0;
        IN_CONTEXT(self->context, status, CU_BESIDE(status, cuGraphNodeGetType, nodes[i], &type));
        if (status != CUDA_SUCCESS) {
            cud_raise(self->state, "cuGraphNodeGetType", status);
            Py_CLEAR(list);
            break;
        }
        pg_append(&list, Py_BuildValue("(KN)", (unsigned long long)(uintptr_t)nodes[i],
                                       cud_member("graph_node_type", (long)type)));
    }
    PyMem_Free(nodes);
    return list;
}

PG_DOC(Graph_debug_dot__doc__, "debug_dot", "$self, /, path, flags=1",
       "(path: str | os.PathLike[str], flags: int = 1) -> None",
       "Write the graph to a Graphviz file.\n\nflags: the driver's "
       "CU_GRAPH_DEBUG_DOT_FLAGS; 1 writes everything.");
PG_FUNCTION(Graph_debug_dot, 2)
static PyObject *Graph_debug_dot_impl(PyObject *op, PyObject *const *a) {
    PyObject *path = NULL;
    Graph *self = (Graph *)op;
    uint32_t flags = 1;
    if ((a[1] != NULL && pg_as_u32(a[1], "Graph.debug_dot", "flags", &flags) < 0) ||
        cud_context_check(self->context, "cuGraphDebugDotPrint") < 0 ||
        !PyUnicode_FSConverter(a[0], &path)) {
        return NULL;
    }
    CUresult status;
    const char *name = PyBytes_AS_STRING(path);
    Py_BEGIN_ALLOW_THREADS
    IN_CONTEXT(self->context, status,
               CU_CALL(status, cuGraphDebugDotPrint, self->handle, name, flags));
    Py_END_ALLOW_THREADS
    Py_DECREF(path);
    return status == CUDA_SUCCESS
               ? Py_NewRef(Py_None)
               : cud_raise_with(self->state, "cuGraphDebugDotPrint", status, "%R", a[0]);
}

/* ---- GraphExec ------------------------------------------------------------------------------- */

#define STREAMS_MANY 8

/* Where it was launched; stream is NULL for the default stream and for handles that are not
 * ours. */
typedef struct {
    CUstream handle;
    Stream *stream;
} Used;

typedef struct {
    CUD_HEAD
    CUgraphExec handle;
    Context *context;
    PyObject *owned;
    Used used[STREAMS_MANY];
    int n_used;
} GraphExec;

PG_DOC(Graph_instantiate__doc__, "instantiate", "$self, /, flags=0",
       "(flags: int = 0) -> GraphExec",
       "Make the graph ready to be launched. Later captures do not change it; see "
       "GraphExec.update().\n\nflags: the driver's CUgraphInstantiate_flags.");
PG_FUNCTION(Graph_instantiate, 1)
static PyObject *Graph_instantiate_impl(PyObject *op, PyObject *const *a) {
    Graph *self = (Graph *)op;
    uint64_t flags = 0;
    if ((a[0] != NULL && pg_as_u64(a[0], "Graph.instantiate", "flags", &flags) < 0) ||
        cud_context_check(self->context, "cuGraphInstantiateWithFlags") < 0) {
        return NULL;
    }
    GraphExec *exec = (GraphExec *)PG_NEW(self->state->GraphExecType);
    if (exec == NULL) {
        return NULL;
    }
    exec->state = self->state;
    exec->context = (Context *)Py_NewRef(self->context);
    exec->owned = Py_NewRef(self->owned);
    CUgraphExec handle = NULL;
    CUresult status;
    Py_BEGIN_ALLOW_THREADS
    IN_CONTEXT(self->context, status,
               CU_CALL(status, cuGraphInstantiateWithFlags, &handle, self->handle, flags));
    Py_END_ALLOW_THREADS
    if (status != CUDA_SUCCESS) {
        Py_DECREF(exec);
        return cud_raise(self->state, "cuGraphInstantiateWithFlags", status);
    }
    exec->handle = handle;
    cud_live[LIVE_GRAPH]++;
    return (PyObject *)exec;
}

static int GraphExec_traverse(PyObject *op, visitproc visit, void *arg) {
    GraphExec *self = (GraphExec *)op;
    CUD_VISIT(op);
    Py_VISIT(self->context);
    Py_VISIT(self->owned);
    for (int i = 0; i < self->n_used; i++) {
        Py_VISIT(self->used[i].stream);
    }
    return 0; /* no tp_clear, because the device may still use the objects */
}

/* Keeps the objects until the launches so far are done. */
static void release_used(GraphExec *self, PyObject *owned) {
    ContextGuard guard;
    CUresult status;
    Used used[STREAMS_MANY]; /* other threads may launch it in the meantime */
    int n = self->n_used;
    memcpy(used, self->used, sizeof used);
    self->n_used = 0;
    Py_INCREF(owned);
    if (n > 0 && cud_context_enter_free(self->context, &guard, &status) == 0) {
        for (int i = 0; i < n; i++) {
            cud_keepalive(self->state, self->context, used[i].handle, used[i].stream, owned);
        }
        cud_context_leave(&guard);
    }
    for (int i = 0; i < n; i++) {
        Py_XDECREF((PyObject *)used[i].stream);
    }
    Py_DECREF(owned);
}

static void GraphExec_dealloc(PyObject *op) {
    GraphExec *self = (GraphExec *)op;
    pg_untrack(op, self->weakrefs);
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    if (self->owned != NULL) {
        release_used(self, self->owned);
    }
    if (self->handle != NULL) {
        CUresult status;
        FREE_IN_CONTEXT(self->context, status,
                        CU_BESIDE(status, cuGraphExecDestroy,
                                  self->handle)); /* if it is running, it is destroyed when done */
        cud_live[LIVE_GRAPH]--;
    }
    PyErr_Restore(kind, value, traceback);
    Py_XDECREF(self->owned);
    Py_XDECREF(self->context);
    cud_object_free(op);
}

static int read_stream(GraphExec *self, PyObject *obj, const char *routine, CUstream *handle,
                       Stream **stream) {
    if (cud_as_stream(self->state, obj, routine, handle, stream) < 0 ||
        cud_context_check(self->context, routine) < 0) {
        return -1;
    }
    if (*stream != NULL && (*stream)->context != self->context) {
        cud_reject(self->state, routine, CUDA_ERROR_INVALID_HANDLE,
                   "the graph and the stream belong to different contexts");
        return -1;
    }
    return 0;
}

static void remember_stream(GraphExec *self, CUstream handle, Stream *stream) {
    for (int i = 0; i < self->n_used; i++) {
        if (self->used[i].handle == handle) {
            return;
        }
    }
    while (self->n_used == STREAMS_MANY) {
        release_used(self, self->owned);
    }
    self->used[self->n_used].handle = handle;
    self->used[self->n_used++].stream = (Stream *)Py_XNewRef((PyObject *)stream);
}

PG_DOC(GraphExec_launch__doc__, "launch", "$self, /, stream=None",
       "(stream: Stream | None = None) -> None", "Run the work of the graph on a stream.");
PG_FUNCTION(GraphExec_launch, 1)
static PyObject *GraphExec_launch_impl(PyObject *op, PyObject *const *a) {
    GraphExec *self = (GraphExec *)op;
    CUstream handle;
    Stream *stream;
    if (read_stream(self, a[0], "cuGraphLaunch", &handle, &stream) < 0) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    int captured = stream != NULL && stream->capturing != CAPTURE_NONE;
    if (self->n_used == 0) { /* the first launch uploads it */
        CU_COUNT_QUEUED();
        Py_BEGIN_ALLOW_THREADS
        IN_CONTEXT(self->context, status, CU_CALL(status, cuGraphLaunch, self->handle, handle));
        Py_END_ALLOW_THREADS
    } else {
        IN_CONTEXT(self->context, status, CU_QUEUED(status, cuGraphLaunch, self->handle, handle));
    }
    if (status != CUDA_SUCCESS) {
        return cud_raise(self->state, "cuGraphLaunch", status);
    }
    if (captured || cud_capturing > 0) {
        cud_capture_keep(self->state, handle, stream, op);
    }
    if (!captured) {
        remember_stream(self, handle, stream);
    }
    Py_RETURN_NONE;
}

PG_DOC(GraphExec_upload__doc__, "upload", "$self, /, stream=None",
       "(stream: Stream | None = None) -> None",
       "Prepare the first launch now, so that it starts sooner.");
PG_FUNCTION(GraphExec_upload, 1)
static PyObject *GraphExec_upload_impl(PyObject *op, PyObject *const *a) {
    GraphExec *self = (GraphExec *)op;
    CUstream handle;
    Stream *stream;
    if (read_stream(self, a[0], "cuGraphUpload", &handle, &stream) < 0) {
        return NULL;
    }
    CUresult status;
    Py_BEGIN_ALLOW_THREADS
    IN_CONTEXT(self->context, status, CU_CALL(status, cuGraphUpload, self->handle, handle));
    Py_END_ALLOW_THREADS
    if (status != CUDA_SUCCESS) {
        return cud_raise(self->state, "cuGraphUpload", status);
    }
    remember_stream(self, handle, stream);
    Py_RETURN_NONE;
}

static const char *update_problem(CUgraphExecUpdateResult result) {
    static const struct {
        const char *cls, *name;
        long value;
    } rows[] = {
#define ENUM(cls, member, value, constant) {#cls, #member, value},
#include "cuda/api/enums.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].cls, "graph_exec_update_result") == 0 && rows[i].value == result) {
            return rows[i].name;
        }
    }
    return "unknown";
}

static PyObject *GraphExec_update(PyObject *op, PyObject *graph_object) {
    GraphExec *self = (GraphExec *)op;
    if (!PyObject_TypeCheck(graph_object, self->state->GraphType)) {
        return cud_reject_type(self->state, "GraphExec.update", "graph must be a Graph, not %s",
                               pg_type_name(graph_object));
    }
    Graph *graph = (Graph *)graph_object;
    if (graph->context != self->context) {
        return cud_reject(self->state, "cuGraphExecUpdate", CUDA_ERROR_INVALID_VALUE,
                          "the graphs belong to different contexts");
    }
    if (cud_context_check(self->context, "cuGraphExecUpdate") < 0) {
        return NULL;
    }
    CUgraphExecUpdateResultInfo info = {0, NULL, NULL};
    CUresult status;
    Py_BEGIN_ALLOW_THREADS
    IN_CONTEXT(self->context, status,
               CU_CALL(status, cuGraphExecUpdate, self->handle, graph->handle, &info));
    Py_END_ALLOW_THREADS
    if (status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
        return cud_raise_with(self->state, "cuGraphExecUpdate", status,
                              "%s: the graph differs in more than parameters; instantiate it anew",
                              update_problem(info.result));
    }
    if (status != CUDA_SUCCESS) {
        return cud_raise(self->state, "cuGraphExecUpdate", status);
    }
    PyObject *old = self->owned;
    self->owned = Py_NewRef(graph->owned);
    release_used(self, old); /* running launches still use the old objects */
    Py_DECREF(old);
    Py_RETURN_NONE;
}

/* ---- types ----------------------------------------------------------------------------------- */

static PyMethodDef Graph_methods[] = {
    {"instantiate", FAST(Graph_instantiate), Graph_instantiate__doc__},
    {"clone", Graph_clone, METH_NOARGS, "clone($self, /)\n--\n\n() -> Graph\n\nA copy."},
    {"nodes", Graph_nodes, METH_NOARGS,
     "nodes($self, /)\n--\n\n() -> list[tuple[int, int]]\n\nHandle and graph_node_type of each "
     "node."},
    {"debug_dot", FAST(Graph_debug_dot), Graph_debug_dot__doc__},
    PG_NO_PICKLE,
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Graph_getset[] = {PG_FIELD("handle", pointer, Graph, handle, "int: the CUgraph"),
                                     {NULL, NULL, NULL, NULL, NULL}};
static PyObject *Graph_repr(PyObject *op) {
    Graph *self = (Graph *)op;
    CUresult status = CUDA_SUCCESS;
    size_t n = 0;
    IN_CONTEXT(self->context, status, CU_BESIDE(status, cuGraphGetNodes, self->handle, NULL, &n));
    if (status != CUDA_SUCCESS) { /* a repr does not raise */
        return PyUnicode_FromFormat("<%s at %p>", Py_TYPE(op)->tp_name, (void *)self->handle);
    }
    return PyUnicode_FromFormat("<%s of %zu nodes on device %d at %p>", Py_TYPE(op)->tp_name, n,
                                self->context->device, (void *)self->handle);
}

static PyType_Slot Graph_slots[] = {
    {Py_tp_doc, (void *)"Graph()\n--\n\n()\n\nWork that Stream.begin_capture() and end_capture() "
                        "recorded; it owns what the work uses. Graph() is empty."},
    {Py_tp_new, (void *)Graph_new},
    {Py_tp_traverse, (void *)Graph_traverse},
    {Py_tp_dealloc, (void *)Graph_dealloc},
    {Py_tp_repr, (void *)Graph_repr},
    {Py_tp_methods, Graph_methods},
    {Py_tp_getset, Graph_getset},
    {0, NULL},
};
CUD_TYPE(Graph, Graph, 0);

static PyObject *GraphExec_repr(PyObject *op) {
    GraphExec *self = (GraphExec *)op;
    return PyUnicode_FromFormat("<%s on device %d at %p>", Py_TYPE(op)->tp_name,
                                self->context->device, (void *)self->handle);
}

static PyMethodDef GraphExec_methods[] = {
    {"launch", FAST(GraphExec_launch), GraphExec_launch__doc__},
    {"upload", FAST(GraphExec_upload), GraphExec_upload__doc__},
    {"update", GraphExec_update, METH_O,
     "update($self, graph, /)\n--\n\n(graph: Graph, /) -> None\n\nTake the parameters of a graph "
     "of the same structure. Raises LogicError if the structure differs."},
    PG_NO_PICKLE,
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef GraphExec_getset[] = {
    PG_FIELD("handle", pointer, GraphExec, handle, "int: the CUgraphExec"),
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot GraphExec_slots[] = {
    {Py_tp_doc, (void *)"A graph that is ready to be launched, from Graph.instantiate(). It owns "
                        "everything that the work uses."},
    {Py_tp_traverse, (void *)GraphExec_traverse},
    {Py_tp_dealloc, (void *)GraphExec_dealloc},
    {Py_tp_repr, (void *)GraphExec_repr},
    {Py_tp_methods, GraphExec_methods},
    {Py_tp_getset, GraphExec_getset},
    {0, NULL},
};
CUD_TYPE(GraphExec, GraphExec, Py_TPFLAGS_DISALLOW_INSTANTIATION);
