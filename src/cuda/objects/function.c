/* function.c - Function: a kernel of a module; its attributes. Launches are in function_launch.c
 * and function_prepare.c. */
#include "common/signature.h"
#include "cuda/api/enums.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/objects/function.h"

static int Function_traverse(PyObject *op, visitproc visit, void *arg) {
    CUD_VISIT(op);
    Py_VISIT(((Function *)op)->module);
    return 0;
}

static void Function_dealloc(PyObject *op) {
    Function *self = (Function *)op;
    pg_untrack(op, self->weakrefs);
    prepared_free(self->prepared);
    Py_XDECREF(self->name);
    Py_XDECREF(self->module); /* this may destroy the plan, too */
    cud_object_free(op);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static PyObject *get_attribute(Function *self, CUfunction_attribute which) {
    int value = 0;
    CUresult status = CUDA_SUCCESS;
    if (cud_context_check(self->context, "cuFuncGetAttribute") < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS /* may load the kernel's code */
    IN_CONTEXT(self->context, status,
               CU_CALL(status, cuFuncGetAttribute, &value, which, self->plan->handle));
    Py_END_ALLOW_THREADS
    return status == CUDA_SUCCESS
               ? PyLong_FromLong(value)
               : cud_raise_with(self->state, "cuFuncGetAttribute", status,
                                "kernel '%U', attribute %d", self->name, (int)which);
}

static PyObject *Function_get_attribute(PyObject *op, PyObject *which_object) {
    uint32_t which;
    if (pg_as_u32(which_object, "Function.get_attribute", "attribute", &which) < 0) {
        return NULL;
    }
    return get_attribute((Function *)op, (CUfunction_attribute)which);
}

/* function_attribute: MAX_DYNAMIC_SHARED_SIZE_BYTES to CLUSTER_SCHEDULING_POLICY_PREFERENCE;
 * MOST_SHARED: more than any device has. */
enum {
    FIRST_SETTABLE = 8,
    PREFERRED_CARVEOUT = 9,
    CLUSTER_SIZE_MUST_BE_SET = 10,
    LAST_SETTABLE = 15,
    MOST_SHARED = 1 << 24
};

PG_DOC(Function_set_attribute__doc__, "set_attribute", "$self, /, attribute, value",
       "(attribute: int, value: int) -> None",
       "Set a function_attribute. You need not set the dynamic shared memory: a launch does that.");
PG_FUNCTION(Function_set_attribute, 2)
static PyObject *Function_set_attribute_impl(PyObject *op, PyObject *const *a) {
    Function *self = (Function *)op;
    uint32_t which;
    int64_t value;
    if (pg_as_u32(a[0], "Function.set_attribute", "attribute", &which) < 0 ||
        pg_as_i64(a[1], "Function.set_attribute", "value", &value) < 0 ||
        cud_context_check(self->context, "cuFuncSetAttribute") < 0) {
        return NULL;
    }
    if (which < FIRST_SETTABLE || which > LAST_SETTABLE ||
        which == CLUSTER_SIZE_MUST_BE_SET) { /* newer drivers may have further attributes after
                                              * these */
        return cud_reject(self->state, "cuFuncSetAttribute", CUDA_ERROR_INVALID_VALUE,
                          "attribute = %u cannot be set", (unsigned)which);
    }
    if (value < (which == PREFERRED_CARVEOUT ? -1 : 0) || value > MOST_SHARED) {
        return cud_reject(self->state, "cuFuncSetAttribute", CUDA_ERROR_INVALID_VALUE,
                          "value = %lld is not possible for attribute %u", (long long)value,
                          (unsigned)which);
    }
    CUresult status = CUDA_SUCCESS;
    IN_CONTEXT(self->context, status,
               CU_BESIDE(status, cuFuncSetAttribute, self->plan->handle,
                         (CUfunction_attribute)which, (int)value));
    if (status != CUDA_SUCCESS) {
        return cud_raise_with(self->state, "cuFuncSetAttribute", status,
                              "kernel '%U', attribute %u, value %lld", self->name, (unsigned)which,
                              (long long)value);
    }
    if (which == FIRST_SETTABLE) {
        self->plan->shared_allowed = (unsigned)value;
    }
    Py_RETURN_NONE;
}

#define CONFIG(method, routine, type)                                                          \
    static PyObject *Function_##method(PyObject *op, PyObject *config) {                       \
        Function *self = (Function *)op;                                                       \
        uint32_t value;                                                                        \
        if (pg_as_u32(config, "Function." #method, "config", &value) < 0 ||                    \
            cud_context_check(self->context, #routine) < 0) {                                  \
            return NULL;                                                                       \
        }                                                                                      \
        CUresult status = CUDA_SUCCESS;                                                        \
        ContextGuard guard;                                                                    \
        if (cud_context_enter(self->context, &guard, &status) == 0) {                          \
            CU_BESIDE(status, routine, self->plan->handle, (type)value);                       \
            cud_context_leave(&guard);                                                         \
        }                                                                                      \
        return status == CUDA_SUCCESS                                                          \
                   ? Py_NewRef(Py_None)                                                        \
                   : cud_raise_with(self->state, #routine, status, "kernel '%U'", self->name); \
    }
CONFIG(set_cache_config, cuFuncSetCacheConfig, CUfunc_cache)
CONFIG(set_shared_config, cuFuncSetSharedMemConfig, CUsharedconfig)

static PyObject *Function_param_set_texref(PyObject *op, PyObject *Py_UNUSED(texref)) {
    return cud_raise_own(
        ((Function *)op)->state, "cuParamSetTexRef", CUDA_ERROR_NOT_SUPPORTED,
        "CUDA 12 removed texture references; pass a TextureObject to the kernel as a parameter");
}

/* Implements func.num_regs etc.: function_attribute in lower case. */
static PyObject *Function_getattro(PyObject *op, PyObject *name) {
    State *state = ((Function *)op)->state;
    int is_member;
    PyObject *found = cud_attribute(op, name, state->FunctionType, &state->function_names,
                                    "function_attribute", &is_member);
    if (is_member) {
        Py_SETREF(found, Function_get_attribute(op, found));
    }
    return found;
}

static PyObject *Function_get_handle(PyObject *op, void *Py_UNUSED(closure)) {
    return PyLong_FromVoidPtr(((Function *)op)->plan->handle);
}

/* (offset, size, declaration) of each parameter; None if nothing is known. */
static PyObject *Function_get_parameters(PyObject *op, void *Py_UNUSED(closure)) {
    Function *self = (Function *)op;
    Plan *plan = self->plan;
    if (function_ready(self) < 0) {
        return NULL;
    }
    if (plan->n_params < 0) {
        Py_RETURN_NONE;
    }
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < plan->n_params; i++) {
        const Param *param = &plan->params[i];
        pg_append(&list, Py_BuildValue("(IIO)", param->offset, param->size,
                                       param->declaration != NULL ? param->declaration : Py_None));
    }
    return list;
}

/* A list of "float *a", or None where nothing is known; None if not even the number of parameters
 * is known. */
static PyObject *declarations(const Plan *plan) {
    Py_ssize_t n = plan->n_params >= 0 ? plan->n_params : plan->n_declared;
    if (plan->n_params < 0 && n == 0) {
        Py_RETURN_NONE;
    }
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < n; i++) {
        PyObject *declaration = plan->params[i].declaration;
        pg_append(&list, Py_NewRef(declaration != NULL ? declaration : Py_None));
    }
    return list;
}

static PyObject *Function_repr(PyObject *op) {
    Function *self = (Function *)op;
    int ready = function_ready(self) == 0;
    if (!ready) {
        PyErr_Clear(); /* the context is gone, but the name is still there */
    }
    PyObject *list = ready ? declarations(self->plan) : Py_NewRef(Py_None);
    PyObject *joined = NULL, *repr = NULL;
    if (list == Py_None) {
        repr = PyUnicode_FromFormat("<pygpu.cuda.Function %R>", self->name);
    } else if (list != NULL && (joined = pg_join_declarations(list)) != NULL) {
        repr = PyUnicode_FromFormat("<pygpu.cuda.Function %R (%U)>", self->name, joined);
    }
    Py_XDECREF(list);
    Py_XDECREF(joined);
    return repr;
}

static PyObject *Function_signature(PyObject *op, void *Py_UNUSED(closure)) {
    static const char *const before[] = {NULL};
    static const char *const keywords[] = {
        "block",      "grid=(1, 1)",       "stream=None",       "shared=0",
        "texrefs=()", "time_kernel=False", "cooperative=False", "cluster=None",
        NULL};
    static const PgCallForm form = {before, keywords};
    Function *self = (Function *)op;
    if (function_ready(self) < 0) {
        return NULL;
    }
    PyObject *list = declarations(self->plan), *signature = pg_make_signature(&form, list);
    Py_XDECREF(list);
    return signature;
}

int cud_function_add_signature(State *state) {
    return pg_add_signature(state->FunctionType, Function_signature);
}

/* ---- type ------------------------------------------------------------------------------------ */

static const char Function__doc__[] =
    "A kernel, from Module.get_function() or SourceModule.get_function().\n\n"
    "function(*args, block, grid=(1, 1), stream=None, shared=0, texrefs=(), time_kernel=False, "
    "cooperative=False, cluster=None)\n"
    "launches it. block and grid: numbers of threads and of blocks, an int or up to 3; shared: "
    "dynamic shared memory [bytes].\n"
    "Arguments: allocations and arrays on the device, NumPy numbers and structs of the parameter's "
    "size, Python numbers if the parameter's type is known, host arrays by value, In, Out and "
    "InOut of host arrays, addresses. "
    "Returns None, or with time_kernel the seconds that the kernel took.\n\n"
    "Raises TypeError for a wrong number, size or kind of arguments, LogicError for launch sizes "
    "that the device does not allow.";

static PyMethodDef Function_methods[] = {
    {"prepare", FAST(Function_prepare), Function_prepare__doc__},
    {"prepared_call", FAST(Function_prepared_call), Function_prepared_call__doc__},
    {"prepared_async_call", FAST(Function_prepared_async_call),
     Function_prepared_async_call__doc__},
    {"prepared_timed_call", FAST(Function_prepared_timed_call),
     Function_prepared_timed_call__doc__},
    {"get_attribute", Function_get_attribute, METH_O,
     "get_attribute($self, attribute, /)\n--\n\n(attribute: int, /) -> int\n\nThe value of a "
     "function_attribute."},
    {"set_attribute", FAST(Function_set_attribute), Function_set_attribute__doc__},
    {"set_cache_config", Function_set_cache_config, METH_O,
     "set_cache_config($self, config, /)\n--\n\n(config: int, /) -> None\n\nWhether the kernel "
     "prefers shared memory or cache: a func_cache."},
    {"set_shared_config", Function_set_shared_config, METH_O,
     "set_shared_config($self, config, /)\n--\n\n(config: int, /) -> None\n\nWidth of the banks of "
     "shared memory: a shared_config."},
    {"param_set_texref", Function_param_set_texref, METH_O,
     "param_set_texref($self, texref, /)\n--\n\n(texref: Any, /) -> NoReturn\n\nRaises LogicError: "
     "CUDA 12 removed texture references."},
    {"_launch_kernel", (PyCFunction)(void (*)(void))Function_launch_kernel, METH_FASTCALL,
     "_launch_kernel($self, grid, block, params, shared, stream, /)\n--\n\n(grid: Sequence[int], "
     "block: Sequence[int], params: HostBuffer, shared: int, stream: Stream | None, /) -> "
     "None\n\nLaunch with packed parameters."},
    FUNCTION_OCCUPANCY_METHODS,
    PG_NO_PICKLE,
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Function_getset[] = {
    PG_FIELD("name", object, Function, name, "str: the kernel's name in its module"),
    PG_FIELD("module", object, Function, module, "Module: the module that contains it"),
    {"handle", Function_get_handle, NULL, "int: the CUfunction", NULL},
    {"parameters", Function_get_parameters, NULL,
     "list[tuple[int, int, str | None]] | None: offset [bytes], size [bytes] and declaration of "
     "each parameter; None if neither the driver nor the module has them",
     NULL},
    {"arg_format", Function_get_arg_format, NULL,
     "str: the types passed to prepare(), as characters of the struct module; AttributeError "
     "before",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef Function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot Function_slots[] = {
    {Py_tp_doc, (void *)Function__doc__},
    {Py_tp_traverse, (void *)Function_traverse},
    {Py_tp_dealloc, (void *)Function_dealloc},
    {Py_tp_call, (void *)PyVectorcall_Call},
    {Py_tp_getattro, (void *)Function_getattro},
    {Py_tp_setattro, (void *)PyObject_GenericSetAttr},
    {Py_tp_repr, (void *)Function_repr},
    PG_TABLE_SLOTS(Function),
    {0, NULL},
};
CUD_TYPE(Function, Function, Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION);
