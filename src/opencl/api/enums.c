/* enums.c - the constant classes (mem_flags, device_type, ...) as data from which
 * pygpu/constants.py makes the classes. */
#include "common/enums.h"
#include "opencl/opencl.h"

static const PgEnumRow rows[] = {
#define ENUM_CLASS(name, bits, doc)  {#name, NULL, doc, sizeof bits > 1, 0},
#define ENUM(name, member, constant) {#name, #member, NULL, 0, (long long)(constant)},
#include "opencl/api/enums.def"
};

static PyObject *constants(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return pg_enumerations(rows, sizeof rows / sizeof rows[0]);
}

static PyObject *value_names(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    return Py_NewRef(((State *)PyModule_GetState(module))->value_names);
}

PyMethodDef ocl_enum_functions[] = {
    {"_constants", constants, METH_NOARGS,
     "_constants()\n--\n\n() -> list[tuple[str, str, bool, dict[str, int]]]\n\nName, doc, whether "
     "flags, members."},
    {"_value_names", value_names, METH_NOARGS,
     "_value_names()\n--\n\n() -> dict[int, dict[int, Any]]\n\nBy parameter of a query, a dict "
     "from its answers to ints that name them."},
    {NULL, NULL, 0, NULL},
};
