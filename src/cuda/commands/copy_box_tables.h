/* copy_box_tables.h - attributes and methods of the three types of copy_box.c, which includes this
 * file at its end. */

typedef struct {
    const char *name;
    size_t offset;
    int width; /* of the field in bytes: a size, an address, or an int */
} Field;

static PyObject *Box_get(PyObject *op, void *closure) {
    const Field *field = closure;
    const char *at = (const char *)op + field->offset;
    unsigned long long wide;
    int narrow;
    if (field->width == (int)sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        return PyLong_FromLong(narrow);
    }
    memcpy(&wide, at, sizeof wide);
    return PyLong_FromUnsignedLongLong(wide);
}

static int Box_set(PyObject *op, PyObject *value, void *closure) {
    const Field *field = closure;
    char *at = (char *)op + field->offset;
    uint64_t wide;
    uint32_t narrow;
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", field->name);
        return -1;
    }
    if (field->width == (int)sizeof narrow) {
        if (pg_as_u32(value, pg_type_name(op), field->name, &narrow) < 0) {
            return -1;
        }
        memcpy(at, &narrow, sizeof narrow);
        return 0;
    }
    if (pg_as_u64(value, pg_type_name(op), field->name, &wide) < 0) {
        return -1;
    }
    memcpy(at, &wide, sizeof wide);
    return 0;
}

#define SIZE(attribute, member, text)                                          \
    {                                                                          \
#attribute, Box_get, Box_set, "int: " text, &(Field) {                 \
#attribute, offsetof(Box, copy.member), sizeof(unsigned long long) \
        }                                                                      \
    }
#define TYPE(attribute, member)                                      \
    {                                                                \
#attribute, Box_get, Box_set, "int: memory_type", &(Field) { \
#attribute, offsetof(Box, copy.member), sizeof(int)      \
        }                                                            \
    }
#define FLAT_FIELDS                                                                             \
    SIZE(src_x_in_bytes, srcXInBytes, "where the box begins in a row of the source [bytes]"),   \
        SIZE(src_y, srcY, "its first row in the source"), TYPE(src_memory_type, srcMemoryType), \
        SIZE(src_device, srcDevice, "address of the source in device memory"),                  \
        SIZE(src_pitch, srcPitch, "from one row to the next in the source [bytes]"),            \
        SIZE(dst_x_in_bytes, dstXInBytes,                                                       \
             "where the box begins in a row of the destination [bytes]"),                       \
        SIZE(dst_y, dstY, "its first row in the destination"),                                  \
        TYPE(dst_memory_type, dstMemoryType),                                                   \
        SIZE(dst_device, dstDevice, "address of the destination in device memory"),             \
        SIZE(dst_pitch, dstPitch, "from one row to the next in the destination [bytes]"),       \
        SIZE(width_in_bytes, WidthInBytes, "of a row of the box [bytes]"),                      \
        SIZE(height, Height, "rows of the box")
#define DEEP_FIELDS                                                                        \
    SIZE(src_z, srcZ, "the first slice in the source"),                                    \
        SIZE(src_lod, srcLOD, "level of detail, 0"),                                       \
        SIZE(src_height, srcHeight, "rows from one slice to the next in the source"),      \
        SIZE(dst_z, dstZ, "the first slice in the destination"),                           \
        SIZE(dst_lod, dstLOD, "level of detail, 0"),                                       \
        SIZE(dst_height, dstHeight, "rows from one slice to the next in the destination"), \
        SIZE(depth, Depth, "slices of the box")

static PyGetSetDef Memcpy2D_getset[] = {FLAT_FIELDS, {NULL, NULL, NULL, NULL, NULL}};
static PyGetSetDef Memcpy3D_getset[] = {FLAT_FIELDS, DEEP_FIELDS, {NULL, NULL, NULL, NULL, NULL}};

#define METHOD(name, argument, type, text)                                                       \
    {                                                                                            \
#name, Box_##name, METH_O,                                                               \
            #name "($self, " argument ", /)\n--\n\n(" argument ": " type ", /) -> None\n\n" text \
    }
#define SET_METHODS                                                                   \
    METHOD(set_src_host, "buffer", "HostBuffer",                                      \
           "Copy from host memory, strided in any way; it is kept."),                 \
        METHOD(set_src_device, "devptr", "object",                                    \
               "Copy from device memory; an allocation is kept."),                    \
        METHOD(set_src_array, "array", "Array", "Copy from an array; it is kept."),   \
        METHOD(set_src_unified, "buffer", "object",                                   \
               "Copy from memory with one address for host and device; it is kept."), \
        METHOD(set_dst_host, "buffer", "HostBuffer",                                  \
               "Copy to writable host memory, strided in any way; it is kept."),      \
        METHOD(set_dst_device, "devptr", "object",                                    \
               "Copy to device memory; an allocation is kept."),                      \
        METHOD(set_dst_array, "array", "Array", "Copy to an array; it is kept."),     \
        METHOD(set_dst_unified, "buffer", "object",                                   \
               "Copy to memory with one address for host and device; it is kept.")

static PyMethodDef Memcpy_methods[] = {PG_NO_PICKLE, SET_METHODS, {NULL, NULL, 0, NULL}};
static PyMethodDef Memcpy3DPeer_methods[] = {
    PG_NO_PICKLE,
    SET_METHODS,
    METHOD(set_src_context, "context", "Context",
           "Whose memory the source is; default: the allocation's, or the current one."),
    METHOD(set_dst_context, "context", "Context",
           "Whose memory the destination is; default: the allocation's, or the current one."),
    {NULL, NULL, 0, NULL}};
static PyMemberDef Box_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Box, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

/* Memcpy2D has no depth. */
static PyObject *Box_repr(PyObject *op) {
    static const char *const names[] = {"width_in_bytes", "height", "depth", NULL};
    return pg_attributes_repr(op, names);
}

#define KIND(Name, number, methods, getset, doc)                                        \
    static PyObject *Name##_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) { \
        return box_new(type, args, kwargs, number);                                     \
    }                                                                                   \
    static PyType_Slot Name##_slots[] = {{Py_tp_doc, (void *)doc},                      \
                                         {Py_tp_new, (void *)Name##_new},               \
                                         {Py_tp_traverse, (void *)Box_traverse},        \
                                         {Py_tp_dealloc, (void *)Box_dealloc},          \
                                         {Py_tp_call, (void *)PyVectorcall_Call},       \
                                         {Py_tp_methods, methods},                      \
                                         {Py_tp_getset, getset},                        \
                                         {Py_tp_members, Box_members},                  \
                                         {Py_tp_init, (void *)cud_init_nothing},        \
                                         {Py_tp_setattro, (void *)cud_set_field},       \
                                         {Py_tp_repr, (void *)Box_repr},                \
                                         {0, NULL}};                                    \
    PyType_Spec cud_##Name##_spec = {.name = "pygpu.cuda.driver." #Name,                \
                                     .basicsize = sizeof(Box),                          \
                                     .slots = Name##_slots,                             \
                                     .flags = CUD_FLAGS | Py_TPFLAGS_BASETYPE |         \
                                              Py_TPFLAGS_HAVE_VECTORCALL}

KIND(Memcpy2D, BOX_2D, Memcpy_methods, Memcpy2D_getset,
     "Memcpy2D()\n--\n\n()\n\nA copy of *height* rows of *width_in_bytes*: set both ends and the "
     "sizes, then call it, copy(aligned=False) or copy(stream).\n\n"
     "aligned: True is faster with pitches from mem_alloc_pitch(); the driver may reject other "
     "pitches.\n"
     "Raises ValueError if the box reaches past the end of source or destination.");
KIND(Memcpy3D, BOX_3D, Memcpy_methods, Memcpy3D_getset,
     "Memcpy3D()\n--\n\n()\n\nA copy of *depth* slices of *height* rows of *width_in_bytes*: set "
     "both ends and the sizes, then call it, copy() or copy(stream).");
KIND(Memcpy3DPeer, BOX_PEER, Memcpy3DPeer_methods, Memcpy3D_getset,
     "Memcpy3DPeer()\n--\n\n()\n\nAs Memcpy3D, between the memories of two contexts.");
