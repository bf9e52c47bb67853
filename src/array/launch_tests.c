/* launch_tests.c - the comparisons before the launch of a kernel written in Python, see
 * pygpu/_src/jit/ranges.py; and the memory in which kernels on CPU devices report errors. */
#include "array/arraymod.h"
#include "array/launch_codes.h"

#define MAX_STACK 64

/* How many numbers follow the code of a test; *takes: how many values it pops from the stack. -1:
 * unknown code. */
static int test_width(int64_t code, int *takes) {
    *takes = code <= TEST_SIZE ? 0 : code == TEST_FITS || code == TEST_MINUS ? 1 : 2;
    return code < 0 || code > TEST_LESS              ? -1
           : code == TEST_SHAPE || code == TEST_FITS ? 2
           : code <= TEST_SIZE                       ? 1
                                                     : 0;
}

/* Parses the tests into numbers and checks which arguments they use, so that launches need not. */
int arr_tests_read(PyObject *tests, PyObject *args, int64_t **numbers, Py_ssize_t *count) {
    Py_ssize_t n = PyTuple_GET_SIZE(tests), n_args = PyTuple_GET_SIZE(args);
    if (n == 0) {
        return 0;
    }
    int64_t *given = *numbers = PyMem_Calloc((size_t)n + 2, sizeof *given);
    if (given == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        given[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tests, i));
        if (given[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    int depth = 0, takes, right = 1;
    for (Py_ssize_t i = 0; i < n && right; i++) {
        int64_t code = given[i], a = given[i + 1], b = given[i + 2];
        int width = test_width(code, &takes);
        depth += (code != TEST_LESS) - takes;
        right = width >= 0 && i + width < n && depth >= (code != TEST_LESS) && depth < MAX_STACK;
        if (code == TEST_VALUE || code == TEST_SHAPE) {
            right = right && a >= 0 && a < n_args &&
                    (code == TEST_SHAPE) == (arr_is_array(PyTuple_GET_ITEM(args, a)) != 0) &&
                    (code == TEST_VALUE ||
                     (b >= 0 && b < ((GPUArray *)PyTuple_GET_ITEM(args, a))->ndim));
        }
        i += width;
    }
    if (!right) {
        PyErr_SetString(PyExc_ValueError, "KernelBase._remember: tests do not fit the arguments");
        return -1;
    }
    *count = n;
    return 0;
}

/* A size of the launch in one dimension; 1 if it has no such dimension. */
static int64_t size_of(PyObject *sizes, int64_t d) {
    return d < PyTuple_GET_SIZE(sizes) ? PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, d)) : 1;
}

/* The value of an integer; 0 if it is not one that fits into 64 bits. */
static int integer_of(PyObject *arg, int64_t *value) {
    if (PyLong_CheckExact(arg)) {
        int overflow;
        *value = PyLong_AsLongLongAndOverflow(arg, &overflow);
        return !overflow;
    }
    PyObject *number = PyNumber_Index(arg); /* a NumPy integer */
    int found = number != NULL && integer_of(number, value);
    Py_XDECREF(number);
    PyErr_Clear();
    return found;
}

/* Computes a <code> b in *a; 0 if it overflows 64 bits. */
static int join(int64_t code, int64_t *a, int64_t b) {
    switch (code) {
    case TEST_ADD:
        return !__builtin_add_overflow(*a, b, a);
    case TEST_TIMES:
        return !__builtin_mul_overflow(*a, b, a);
    case TEST_FLOOR:
        if (b <= 0) {
            return 0;
        }
        *a = *a / b - (*a % b < 0);
        return 1;
    case TEST_MIN:
        *a = *a < b ? *a : b;
        return 1;
    case TEST_MAX:
        *a = *a > b ? *a : b;
        return 1;
    default:
        return *a < b;
    }
}

/* Whether a launch satisfies the conditions that the kernel does not check itself;
 * arr_tests_read() has checked the numbers. */
int arr_tests_hold(const int64_t *tests, Py_ssize_t n, PyObject *grid, PyObject *block,
                   PyObject *const *args) {
    int64_t stack[MAX_STACK];
    int depth = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        const int64_t code = tests[i], *more = tests + i + 1;
        int takes, right = 1;
        i += test_width(code, &takes);
        switch (code) {
        case TEST_CONSTANT:
            stack[depth] = more[0];
            break;
        case TEST_VALUE:
            right = integer_of(args[more[0]], &stack[depth]);
            break;
        case TEST_SHAPE:
            stack[depth] = ARRAY_SHAPE((GPUArray *)args[more[0]])[more[1]];
            break;
        case TEST_GROUPS:
        case TEST_SIZE:
            stack[depth] = size_of(code == TEST_SIZE ? block : grid, more[0]);
            break;
        case TEST_FITS:
            right = stack[depth - 1] >= more[0] && stack[depth - 1] <= more[1];
            break;
        case TEST_MINUS:
            right = stack[depth - 1] != INT64_MIN;
            stack[depth - 1] = right ? -stack[depth - 1] : 0;
            break;
        default:
            right = join(code, &stack[depth - 2], stack[depth - 1]);
        }
        if (!right) {
            return 0;
        }
        depth += (code != TEST_LESS) - takes;
    }
    return 1;
}

/* ---- error record ---------------------------------------------------------------------------- */

_Alignas(4096) volatile int32_t
    arr_record_words[RECORD_BYTES / sizeof(int32_t)]; /* the first word is not 0 if an error was
                                                       * reported */

const char arr_record_doc[] = "_record()\n--\n\n() -> memoryview\n\n"
                              "The memory where kernels on CPU devices write what they found "
                              "wrong: see pygpu._src.jit.check_report.";

PyObject *arr_record(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    return PyMemoryView_FromMemory((char *)(uintptr_t)arr_record_words, sizeof arr_record_words,
                                   PyBUF_WRITE);
}
