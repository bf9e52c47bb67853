/* types.h - the extension types of pygpu._cuda, bases before what derives from them: X(name, base).
 * Each has a PyType_Spec cud_NAME_spec in the file of its noun. */
#define CUD_TYPES(X)        \
    X(Device, object)       \
    X(Context, object)      \
    X(Stream, object)       \
    X(Event, object)

/* Tables of the module's functions, by file. */
#define CUD_FUNCTIONS(X)      \
    X(cud_driver_methods)     \
    X(cud_enum_functions)     \
    X(cud_nvrtc_functions)
