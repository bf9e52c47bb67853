/* parameter_layout.c - the layout and types of a kernel's parameters, and its launch limits. They
 * are determined once, at the first launch: sizes from the driver (12.4 and later), otherwise from
 * the PTX; types from the source's signature, otherwise from the PTX. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/objects/function.h"

Plan *plan_new(CUfunction handle) {
    Plan *plan = PyMem_Calloc(1, sizeof *plan);
    if (plan == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    plan->handle = handle;
    return plan;
}

static void plan_clear_params(Plan *plan) {
    for (int i = 0; i < plan->n_params || i < plan->n_declared; i++) {
        Py_XDECREF(plan->params[i].declaration);
    }
    PyMem_Free(plan->params);
    plan->params = NULL;
    plan->n_params = -1;
    plan->n_declared = 0;
    plan->size = 0;
}

void plan_free(Plan *plan) {
    if (plan != NULL) {
        plan_clear_params(plan);
        Py_XDECREF(plan->block_object);
        Py_XDECREF(plan->grid_object);
        PyMem_Free(plan);
    }
}

/* ---- queries to the driver ------------------------------------------------------------------- */

#define MOST_PARAMS 4096 /* CUDA allows 32764 bytes of parameters, so more cannot be right */

typedef struct {
    int n; /* -1: the driver does not report it */
    struct {
        size_t offset, size;
    } * params;
} Layout;

/* Runs without the GIL: touches no Python objects. */
static void query_layout(CUfunction handle, Layout *out) {
    int room = 0;
    out->n = 0;
    for (;;) {
        size_t offset = 0, size = 0;
        CUresult status = CUDA_SUCCESS;
        CU_CALL(status, cuFuncGetParamInfo, handle, (size_t)out->n, &offset, &size);
        if (status == CUDA_ERROR_INVALID_VALUE) {
            return; /* no more parameters */
        }
        if (status == CUDA_SUCCESS && out->n == room && out->n < MOST_PARAMS) {
            room = room == 0 ? 16 : 4 * room;
            void *grown = PyMem_RawRealloc(out->params, (size_t)room * sizeof *out->params);
            if (grown != NULL) {
                out->params = grown;
            } else {
                status = CUDA_ERROR_OUT_OF_MEMORY;
            }
        }
        if (status != CUDA_SUCCESS || out->n >= MOST_PARAMS || offset > UINT32_MAX ||
            size > UINT32_MAX) {
            out->n = -1;
            return;
        }
        out->params[out->n].offset = offset;
        out->params[out->n++].size = size;
    }
}

typedef struct {
    CUresult status;
    const char *routine;
    int function[3], device[9];
    Layout layout;
} Answers;

/* Runs without the GIL, because it loads the kernel's code if the driver loads lazily. */
static void query_parameters(Plan *plan, Context *context, Answers *out) {
    static const CUfunction_attribute of_function[3] = {
        0, 1, 8}; /* MAX_THREADS_PER_BLOCK, SHARED_SIZE_BYTES, MAX_DYNAMIC_SHARED_SIZE_BYTES */
    static const CUdevice_attribute of_device[9] = {
        1, 2, 3, 4, 5,
        6, 7, 8, 97}; /* MAX_THREADS_PER_BLOCK ... MAX_SHARED_MEMORY_PER_BLOCK(_OPTIN) */
    ContextGuard guard;
    out->routine = "cuCtxPushCurrent";
    if (cud_context_enter(context, &guard, &out->status) < 0) {
        return;
    }
    out->routine = "cuFuncGetAttribute";
    for (int i = 0; i < 3 && out->status == CUDA_SUCCESS; i++) {
        CU_CALL(out->status, cuFuncGetAttribute, &out->function[i], of_function[i], plan->handle);
    }
    for (int i = 0; i < 9 && out->status == CUDA_SUCCESS; i++) {
        out->routine = "cuDeviceGetAttribute";
        CU_CALL(out->status, cuDeviceGetAttribute, &out->device[i], of_device[i], context->device);
    }
    if (out->status == CUDA_SUCCESS) {
        query_layout(plan->handle, &out->layout);
    }
    cud_context_leave(&guard);
}

static int use_layout(Plan *plan, const Layout *layout) {
    plan->n_params = -1;
    if (layout->n < 0) {
        return 0;
    }
    plan->params = PyMem_Calloc((size_t)layout->n + 1, sizeof *plan->params);
    if (plan->params == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    plan->n_params = layout->n;
    for (int i = 0; i < layout->n; i++) {
        plan->params[i].offset = (uint32_t)layout->params[i].offset;
        plan->params[i].size = (uint32_t)layout->params[i].size;
        size_t end = layout->params[i].offset + layout->params[i].size;
        plan->size = end > plan->size ? end : plan->size;
    }
    return 0;
}

/* ---- types from the module's source or PTX --------------------------------------------------- */

static const struct {
    char code;
    uint8_t kind, sign;
} kind_codes[] = {
    {'P', PARAM_POINTER, SIGN_UNSIGNED}, {'i', PARAM_INTEGER, SIGN_SIGNED},
    {'u', PARAM_INTEGER, SIGN_UNSIGNED}, {'I', PARAM_INTEGER, SIGN_ANY},
    {'B', PARAM_BOOL, SIGN_ANY},         {'f', PARAM_FLOAT, SIGN_ANY},
    {'b', PARAM_BFLOAT, SIGN_ANY},       {'c', PARAM_COMPLEX, SIGN_ANY},
    {'V', PARAM_STRUCT, SIGN_ANY},
};

static void set_kind(Param *param, const char *code) {
    for (size_t k = 0; k < sizeof kind_codes / sizeof kind_codes[0]; k++) {
        if (kind_codes[k].code == *code) {
            param->kind = kind_codes[k].kind;
            param->sign = kind_codes[k].sign;
        }
    }
    if (param->kind == PARAM_POINTER && strlen(code) == 3) { /* "Pf4" */
        param->items.kind = code[1];
        param->items.size = (unsigned char)(code[2] - '0');
    }
}

/* rows: a list of (code, size, alignment, declaration), from pygpu._src.drivers.cuda_signature. */
static int use_rows(Plan *plan, PyObject *rows) {
    Py_ssize_t n = PyList_Check(rows) ? PyList_GET_SIZE(rows) : -1;
    if (n < 0 || n > MOST_PARAMS || (plan->n_params >= 0 && n != plan->n_params)) {
        return 0; /* not for this kernel */
    }
    int known = plan->n_params >= 0;
    if (!known) {
        plan->params = PyMem_Calloc((size_t)n + 1, sizeof *plan->params);
        if (plan->params == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    size_t end = 0;
    int partial = 0;
    plan->n_params = (int)n;
    for (int i = 0; i < (int)n; i++) {
        Param *param = &plan->params[i];
        const char *code, *declaration;
        Py_ssize_t size, align;
        PyObject *row = PyList_GET_ITEM(rows, i);
        if (!PyTuple_Check(row) ||
            !PyArg_ParseTuple(row, "snnz", &code, &size, &align, &declaration)) {
            return -1;
        }
        if ((known && size != 0 && (size_t)size != param->size) ||
            (!known && (size < 0 || align < 0 || (size > 0) != (align > 0) || size > 32764 ||
                        align > 4096))) {
            plan->n_params = known ? (int)n : i;
            return 1; /* they do not match, so none of them is used */
        }
        if (!known && size == 0) {
            partial = 1; /* a struct, which gets the size of its argument */
        } else if (!known) {
            param->align = (uint32_t)align;
            end = (end + (size_t)align - 1) / (size_t)align * (size_t)align;
            param->offset = (uint32_t)end;
            param->size = (uint32_t)size;
            end += (size_t)size;
            plan->size = end;
        }
        set_kind(param, code);
        if (declaration != NULL) {
            Py_XSETREF(param->declaration, PyUnicode_FromString(declaration));
            if (param->declaration == NULL) {
                return -1;
            }
        }
    }
    if (partial) {
        plan->n_declared = plan->n_params;
        plan->n_params = -1;
        plan->size = 0;
    }
    return 0;
}

static int describe(Function *self, Plan *plan) {
    Module *module = self->module;
    if (module->source == NULL && module->image == NULL) {
        return 0;
    }
    int known = plan->n_params >= 0;
    PyObject *signature = PyImport_ImportModule("pygpu._src.drivers.cuda_signature");
    PyObject *rows = signature != NULL
                         ? PyObject_CallMethod(signature, "kernel_parameters", "OOO", self->name,
                                               module->source != NULL ? module->source : Py_None,
                                               module->image != NULL ? module->image : Py_None)
                         : NULL;
    int used = rows != NULL ? use_rows(plan, rows) : -1;
    Py_XDECREF(signature);
    Py_XDECREF(rows);
    if (used != 0 && !known) {
        plan_clear_params(plan);
    }
    for (int i = 0; used != 0 && i < plan->n_params; i++) {
        plan->params[i].kind = PARAM_UNKNOWN;
        plan->params[i].items.kind = 0;
        Py_CLEAR(plan->params[i].declaration);
    }
    if (used < 0) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError) || !PyErr_ExceptionMatches(PyExc_Exception)) {
            return -1;
        }
        PyErr_Clear(); /* optional information: the kernel works without it */
    }
    return 0;
}

int function_make_plan(Function *self) {
    Plan *plan = self->plan, draft; /* local to this thread, because another one may be doing the
                                     * same */
    Answers answers;
    memset(&answers, 0, sizeof answers);
    memset(&draft, 0, sizeof draft);
    if (cud_context_check(self->context, "cuLaunchKernel") < 0) {
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS
    query_parameters(plan, self->context, &answers);
    Py_END_ALLOW_THREADS
    if (answers.status != CUDA_SUCCESS) {
        PyMem_RawFree(answers.layout.params);
        cud_raise_with(self->state, answers.routine, answers.status, "kernel '%U'", self->name);
        return -1;
    }
    int failed = use_layout(&draft, &answers.layout);
    PyMem_RawFree(answers.layout.params);
    if (failed < 0 || describe(self, &draft) < 0) {
        plan_clear_params(&draft);
        return -1;
    }
    if (plan->ready) {
        plan_clear_params(&draft);
        return 0;
    }
    plan->n_params = draft.n_params;
    plan->n_declared = draft.n_declared;
    plan->params = draft.params;
    plan->size = draft.size;
    plan->max_threads = (unsigned)answers.function[0];
    plan->shared_static = (unsigned)answers.function[1];
    plan->shared_allowed = (unsigned)answers.function[2];
    plan->device_threads = (unsigned)answers.device[0];
    for (int i = 0; i < 3; i++) {
        plan->max_block[i] = (unsigned)answers.device[1 + i];
        plan->max_grid[i] = (unsigned)answers.device[4 + i];
    }
    plan->shared_default = (unsigned)answers.device[7];
    plan->shared_most = answers.device[8] > answers.device[7] ? (unsigned)answers.device[8]
                                                              : (unsigned)answers.device[7];
    for (int i = 0; i < plan->n_params; i++) {
        if (plan->params[i].kind == PARAM_POINTER) {
            plan->params[i].exact = self->state->DeviceAllocationType;
            plan->params[i].copy = COPY_ALLOCATION;
        }
    }
    plan->ready = 1;
    return 0;
}
