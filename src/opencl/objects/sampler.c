/* sampler.c - Sampler: how a kernel reads an image outside its edges and between its pixels. */
#include "opencl/api/info.h"
#include "opencl/context.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/objects/image.h"
#include "opencl/objects/program.h"
#include "opencl/objects/repr.h"
#include "opencl/objects/sampler.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"

enum {
#define SAMPLER_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Sampler_info[] = {
#define SAMPLER_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

#define MAX_PROPERTIES 32

static cl_int Sampler_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    if (((Sampler *)self)->sampler == NULL) { /* not initialized */
        return CL_INVALID_SAMPLER;
    }
    CL_CALL(status, clGetSamplerInfo, ((Sampler *)self)->sampler, param, size, value, size_ret);
    return status;
}

/* The driver's arguments for a new sampler. */
typedef struct {
    cl_sampler_properties list[MAX_PROPERTIES + 2];
    int n;
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
} Plan;

static int is_float_property(cl_sampler_properties key) {
    return key == CL_SAMPLER_LOD_MIN_KHR || key == CL_SAMPLER_LOD_MAX_KHR;
}

/* Reads alternating keys and values; a level of detail may be a float, which is passed as its
 * bits. */
static int plan_from_list(State *state, Plan *plan, PyObject *arg) {
    PyObject *items = pg_tuple(arg, "Sampler", "properties", "ints", 1000);
    if (items == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return -1;
        }
        PyErr_Format(PyExc_TypeError,
                     "Sampler: takes (context, normalized, addressing, filter) or (context, "
                     "properties), a sequence of ints, not %s",
                     pg_type_name(arg));
        return -1;
    }
    int result = -1;
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    if (n > MAX_PROPERTIES + 1) {
        ocl_reject(state, "Sampler", CL_INVALID_VALUE,
                   "properties has %zd entries, at most %d are allowed", n, MAX_PROPERTIES);
        goto done;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        uint64_t value = 0;
        if (i % 2 == 1 && PyFloat_Check(item) && is_float_property(plan->list[i - 1])) {
            cl_float number = (cl_float)PyFloat_AS_DOUBLE(item);
            uint32_t bits;
            memcpy(&bits, &number, sizeof bits);
            value = bits;
        } else if (pg_as_u64(item, "Sampler", "each of properties", &value) < 0) {
            goto done;
        }
        plan->list[i] = value;
    }
    if (n % 2 == 1 && plan->list[n - 1] == 0) {
        n--; /* drop the terminator, which Sampler.properties includes */
    }
    if (n % 2 == 1) {
        ocl_reject(state, "Sampler", CL_INVALID_VALUE,
                   "properties must be pairs of a key of sampler_properties and a value");
        goto done;
    }
    for (Py_ssize_t i = 0; i < n; i += 2) {
        if (plan->list[i] == 0) {
            ocl_reject(state, "Sampler", CL_INVALID_VALUE,
                       "properties[%zd] is 0, which is not a key of sampler_properties", i);
            goto done;
        }
    }
    plan->list[n] = 0;
    plan->n = (int)n;
    result = 0;
done:
    Py_DECREF(items);
    return result;
}

static int plan_from_modes(State *state, Plan *plan, PyObject *const *a) {
    int normalized = PyObject_IsTrue(a[1]);
    if (normalized < 0) {
        return -1;
    }
    if (a[2] == NULL || a[3] == NULL) {
        ocl_reject_type(state, "Sampler", CL_INVALID_VALUE, "%s is missing; it is one of %s_mode",
                        a[2] == NULL ? "addressing" : "filter",
                        a[2] == NULL ? "addressing" : "filter");
        return -1;
    }
    if (pg_as_u32(a[2], "Sampler", "addressing", &plan->addressing) < 0 ||
        pg_as_u32(a[3], "Sampler", "filter", &plan->filter) < 0) {
        return -1;
    }
    plan->normalized = (cl_bool)normalized;
    const cl_sampler_properties list[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                          plan->normalized,
                                          CL_SAMPLER_ADDRESSING_MODE,
                                          plan->addressing,
                                          CL_SAMPLER_FILTER_MODE,
                                          plan->filter,
                                          0};
    memcpy(plan->list, list, sizeof list);
    plan->n = 6;
    return 0;
}

/* Drivers differ in what they check, and some accept any number. */
static int check(State *state, const Plan *plan) {
    int repeats = 0, normalized = 1; /* OpenCL 2.0's defaults */
    for (int i = 0; i < plan->n; i += 2) {
        cl_sampler_properties value = plan->list[i + 1];
        switch (plan->list[i]) {
        case CL_SAMPLER_NORMALIZED_COORDS:
            normalized = value != 0;
            break;
        case CL_SAMPLER_ADDRESSING_MODE:
            if (value != CL_ADDRESS_NONE && value != CL_ADDRESS_CLAMP_TO_EDGE &&
                value != CL_ADDRESS_CLAMP && value != CL_ADDRESS_REPEAT &&
                value != CL_ADDRESS_MIRRORED_REPEAT) {
                ocl_reject(state, "Sampler", CL_INVALID_VALUE,
                           "addressing = %llu is not one of addressing_mode",
                           (unsigned long long)value);
                return -1;
            }
            repeats = value == CL_ADDRESS_REPEAT || value == CL_ADDRESS_MIRRORED_REPEAT;
            break;
        case CL_SAMPLER_FILTER_MODE:
            if (value != CL_FILTER_NEAREST && value != CL_FILTER_LINEAR) {
                ocl_reject(state, "Sampler", CL_INVALID_VALUE,
                           "filter = %llu is not one of filter_mode", (unsigned long long)value);
                return -1;
            }
            break;
        default:
            break;
        }
    }
    if (repeats && !normalized) {
        ocl_reject(state, "Sampler", CL_INVALID_VALUE,
                   "REPEAT and MIRRORED_REPEAT need normalized coordinates");
        return -1;
    }
    return 0;
}

PG_DOC(
    Sampler__doc__, "Sampler", "context, normalized, addressing=None, filter=None",
    "(context: Context, normalized: bool | Sequence[int], addressing: int | None = None, "
    "filter: int | None = None)",
    "How a kernel reads an image.\n\n"
    "normalized: whether coordinates run from 0 to 1 instead of counting pixels. addressing: what "
    "to read outside the image, of addressing_mode. filter: what to read between pixels, of "
    "filter_mode. Or Sampler(context, "
    "properties) with keys of\n"
    "sampler_properties alternating with values (OpenCL 2.0); levels of detail may be floats.\n\n"
    "Raises LogicError (a ValueError, too) for modes that do not exist or cannot be combined.");
static ArgSpec Sampler_args = PG_ARGSPEC(Sampler__doc__);

static PyObject *Sampler_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[4];
    Context *context;
    Plan plan = {.n = 0};
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&Sampler_args, args, kwargs, a) < 0 ||
        (context = ocl_as_context(state, a[0], "Sampler")) == NULL) {
        return NULL;
    }
    int modern = context->version >= 200, by_list = a[2] == NULL && a[3] == NULL;
    if ((by_list ? plan_from_list(state, &plan, a[1]) : plan_from_modes(state, &plan, a)) < 0 ||
        check(state, &plan) < 0 || ocl_need_images(state, "Sampler", context) < 0 ||
        (by_list &&
         ocl_need_version(state, "clCreateSamplerWithProperties", context->version, 200) < 0)) {
        return NULL;
    }
    Sampler *self = (Sampler *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    cl_int status;
    int tries = 0, again;
    cl_sampler sampler;
    do {
        status = CL_SUCCESS;
        if (modern) {
            CL_MAKE(sampler, status, clCreateSamplerWithProperties, context->context, plan.list);
        } else {
            CL_MAKE(sampler, status, clCreateSampler, context->context, plan.normalized,
                    plan.addressing, plan.filter);
        }
        again = status == CL_SUCCESS ? 0 : ocl_retry(state, status, &tries);
    } while (again == 1);
    if (status != CL_SUCCESS || sampler == NULL) {
        if (again >= 0) {
            ocl_raise(state, modern ? "clCreateSamplerWithProperties" : "clCreateSampler",
                      status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
        }
        Py_DECREF(self);
        return NULL;
    }
    ocl_live[LIVE_SAMPLER]++;
    self->sampler = sampler;
    self->context = (Context *)Py_NewRef(context);
    return (PyObject *)self;
}

OCL_MADE_BY_INIT(Sampler, Sampler, SamplerType, OCL_HAS_CONTEXT)

static int Sampler_traverse(PyObject *op, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((Sampler *)op)->context);
    Py_VISIT(((Sampler *)op)->dict);
    return 0;
}

static int Sampler_clear(PyObject *op) { /* the context must outlive the sampler */
    Py_CLEAR(((Sampler *)op)->dict);
    return 0;
}

static void Sampler_dealloc(PyObject *op) {
    Sampler *self = (Sampler *)op;
    pg_untrack(op, self->weakrefs);
    if (self->sampler != NULL) {
        CL_RELEASE(LIVE_SAMPLER, clReleaseSampler, self->sampler);
    }
    Sampler_clear(op);
    Py_XDECREF(self->context);
    pg_object_free(op);
}

static PyObject *Sampler_get(PyObject *op, void *closure) {
    Sampler *self = (Sampler *)op;
    const Info *row = &Sampler_info[(intptr_t)closure];
    if (self->sampler == NULL &&
        ocl_refuse_uninitialized(self->state, row->name, "sampler", CL_INVALID_SAMPLER) < 0) {
        return NULL;
    }
    if (row->param == CL_SAMPLER_CONTEXT) {
        return Py_NewRef(self->context);
    }
    if (is_float_property(row->param)) {
        cl_float number = 0;
        cl_int status = Sampler_query(self, row->param, sizeof number, &number, NULL);
        return status == CL_SUCCESS ? PyFloat_FromDouble((double)number)
                                    : ocl_raise_with(self->state, "clGetSamplerInfo", status,
                                                     "%s is not offered here", row->name);
    }
    return ocl_info(self->state, op, Sampler_query, "clGetSamplerInfo", row);
}

static PyObject *Sampler_get_info(PyObject *op, PyObject *param) {
    return ocl_info_by_param(((Sampler *)op)->state, op, Sampler_query, "clGetSamplerInfo",
                             Sampler_info, ROW_COUNT, Sampler_get, param);
}

static PyObject *Sampler_of_handle(State *state, PyTypeObject *type, void *handle, int retain) {
    cl_sampler sampler = (cl_sampler)handle;
    cl_int status = CL_SUCCESS;
    if (retain) {
        CL_CALL(status, clRetainSampler, sampler);
        if (status != CL_SUCCESS) {
            return ocl_raise(state, "clRetainSampler", status);
        }
    }
    ocl_live[LIVE_SAMPLER]++;
    Sampler *self = (Sampler *)PG_NEW(type);
    if (self == NULL) {
        CL_RELEASE(LIVE_SAMPLER, clReleaseSampler, sampler);
        return NULL;
    }
    self->state = state;
    self->sampler = sampler;
    cl_context context = NULL;
    status = Sampler_query(self, CL_SAMPLER_CONTEXT, sizeof context, &context, NULL);
    if (status != CL_SUCCESS) {
        ocl_raise(state, "clGetSamplerInfo", status);
    } else {
        self->context = (Context *)ocl_context_wrap(state, context);
    }
    if (self->context == NULL) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

OCL_FROM_INT_PTR(Sampler, "Sampler", "Sampler", "Sampler of a cl_sampler")

static PyMethodDef Sampler_methods[] = {
    PG_NO_PICKLE,
    INFO_METHOD(Sampler_get_info, "sampler_info"),
    OCL_FROM_INT_PTR_METHOD(Sampler),
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Sampler_getset[] = {
#define SAMPLER_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Sampler_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    OCL_HANDLE_GETSET("cl_sampler"),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PG_DICT_MEMBERS(Sampler, Sampler);
static PyType_Slot Sampler_slots[] = {
    PG_NEW_SLOTS(Sampler), PG_GC_SLOTS(Sampler),    {Py_tp_repr, (void *)ocl_sampler_repr},
    OCL_HANDLE_SLOTS,      PG_TABLE_SLOTS(Sampler), {0, NULL},
};
OCL_TYPE(Sampler, Sampler, Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE);
