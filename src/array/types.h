/* types.h - the extension types of pygpu._array: X(name, base, whether the module exports it).
 * Each has a PyType_Spec arr_NAME_spec in the file of its noun. */
#define ARR_TYPES(X)              \
    X(GPUArray, NULL, 1)          \
    X(EventList, &PyList_Type, 0) \
    X(KernelTable, NULL, 1)       \
    X(Tensor, NULL, 1)            \
    X(Plan, NULL, 0)              \
    X(Plans, NULL, 1)             \
    X(PlansOfBackends, NULL, 1)   \
    X(KernelBase, NULL, 1)        \
    X(Launcher, NULL, 1)          \
    X(FastPath, NULL, 1)          \
    X(Program, NULL, 1)           \
    X(FusedCall, NULL, 1)

/* The tables of module functions, one per file. */
#define ARR_FUNCTIONS(X)         \
    X(arr_call_functions)        \
    X(arr_backend_functions)     \
    X(arr_chain_functions)       \
    X(arr_pending_functions)     \
    X(arr_chain_store_functions) \
    X(arr_create_functions)

/* Strings used for lookups, interned: X(member of State, text). array_ufunc: handles NumPy ufuncs
 * that the fast path cannot. comparison_dtype: set on a class that keeps another system's
 * comparisons. */
#define ARR_STRINGS(X)             \
    X(array_ufunc, "_array_ufunc") \
    X(call_word, "__call__")       \
    X(out_word, "out")             \
    X(table, "table")              \
    X(comparison_dtype, "_comparison_dtype")
