/* pointer_items.c - compares the item type of a kernel's pointer parameter with the dtype of the
 * memory passed to it. */
#include "common/pg.h"

/* Whether the kernel can read numbers of a NumPy kind and size [bytes]: the size must match, and
 * integers (of either sign) must meet integers. Items that are not numbers always fit. */
static int items_fit(const PgItems *items, char kind, size_t size) {
    int is_float = 0;
    switch (kind) {
    case 'c':
        size /= 2;
        is_float = 1;
        break;
    case 'f':
        is_float = 1;
        break;
    case 'b':
    case 'i':
    case 'u':
    case 'm':
    case 'M':
        break;
    default:
        return 1;
    }
    if (items->kind == 0) {
        return 1;
    }
    /* 16 bits may be a float16, a bfloat16, or an integer that carries one */
    return size == items->size && (size == 2 || is_float == (items->kind == 'f'));
}

/* Whether some field of the record is what the kernel reads: a float4 is a record of four
 * floats. */
static int fits_record(PgItems *items, PyArray_Descr *dtype) {
    PyObject *names = PyDataType_NAMES(dtype);
    Py_ssize_t n = PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *field = PyDict_GetItem(PyDataType_FIELDS(dtype), PyTuple_GET_ITEM(names, i));
        if (field == NULL || pg_items_take(items, (PyArray_Descr *)PyTuple_GET_ITEM(field, 0))) {
            return 1;
        }
    }
    return n == 0;
}

int pg_items_take(PgItems *items, PyArray_Descr *dtype) {
    if (items->kind == 0) {
        return 1;
    }
    if (dtype->type_num >= NPY_USERDEF) { /* user-defined types, such as bfloat16, whose kind is
                                           * meaningless */
        size_t size = (size_t)PyDataType_ELSIZE(dtype);
        return size > 2 || size == items->size;
    }
    if (PyDataType_HASSUBARRAY(dtype)) {
        return pg_items_take(items, PyDataType_SUBARRAY(dtype)->base);
    }
    if (PyDataType_HASFIELDS(dtype)) {
        return fits_record(items, dtype);
    }
    if (!items_fit(items, dtype->kind, (size_t)PyDataType_ELSIZE(dtype))) {
        return 0;
    }
    PyArray_Descr *common = PyArray_DescrFromType(dtype->type_num);
    if (common == dtype) {
        items->right = dtype;
    }
    Py_XDECREF(common);
    return 1;
}

int pg_items_take_typestr(const PgItems *items, PyObject *typestr) {
    const char *text = PyUnicode_Check(typestr) ? PyUnicode_AsUTF8(typestr) : NULL;
    if (text == NULL) {
        PyErr_Clear();
        return 1;
    }
    if (strlen(text) < 3 || strlen(text) > 5) {
        return 1;
    }
    return items_fit(items, text[1], (size_t)strtoul(text + 2, NULL, 10));
}

int pg_items_take_buffer(const PgItems *items, PyObject *obj, PyObject **given) {
    static const char codes[] = "?bBhHiIlLqQnNefd", kinds[] = "bbbiuiuiuiuiufff";
    Py_buffer view;
    *given = NULL;
    if (!PyObject_CheckBuffer(obj)) {
        return 0;
    }
    if (PyObject_GetBuffer(obj, &view, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
        PyErr_Clear(); /* copying the array will report the error */
        return 0;
    }
    const char *format = view.format != NULL ? view.format : "B";
    format += *format == '@' || *format == '=' || *format == '<';
    int is_one = *format != '\0' && format[1] == '\0';
    const char *code = is_one ? strchr(codes, *format) : NULL;
    int raw = code == NULL || view.itemsize == 1;
    int failed = !raw && !items_fit(items, kinds[code - codes], (size_t)view.itemsize);
    if (failed) {
        *given = PyUnicode_FromFormat("format '%s'", view.format);
    }
    PyBuffer_Release(&view);
    return failed && *given == NULL ? -1 : 0;
}

static const char *numpy_name(const PgItems *items, int as_complex) {
    if (items->kind == 'f') {
        return items->size == 2   ? "float16"
               : items->size == 4 ? (as_complex ? "complex64" : "float32")
                                  : (as_complex ? "complex128" : "float64");
    }
    int is_signed = items->kind == 'i';
    switch (items->size) {
    case 1:
        return is_signed ? "int8" : "uint8";
    case 2:
        return is_signed ? "int16" : "uint16";
    case 4:
        return is_signed ? "int32" : "uint32";
    default:
        return is_signed ? "int64" : "uint64";
    }
}

PyObject *pg_items_message(const PgItems *items, PyObject *arg, PyObject *given, const char *raw) {
    int as_complex = PyArray_DescrCheck(given) && ((PyArray_Descr *)given)->kind == 'c';
    const char *plain = numpy_name(items, 0), *name = numpy_name(items, as_complex);
    return PyUnicode_FromFormat(
        "the %s has items of %S, and the kernel reads %s here: convert them "
        "(.astype(numpy.%s)), or have their bytes read as they are "
        "(%s.view(numpy.%s))",
        pg_type_name(arg), given, plain, name, raw, plain);
}

int pg_items_warn(const char *peer, PyObject *message) {
    PyObject *name = PyUnicode_FromString("pygpu.compat");
    PyObject *compat = name != NULL ? PyImport_GetModule(name) : NULL;
    Py_XDECREF(name);
    if (compat == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    PyObject *answer = PyObject_CallMethod(compat, "_stands_in_for", "s", peer);
    Py_DECREF(compat);
    int does = answer != NULL ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    if (does <= 0) {
        return does;
    }
    return PyErr_WarnFormat(PyExc_UserWarning, 1, "%U", message) < 0 ? -1 : 1;
}
