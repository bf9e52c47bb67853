/* types.h - the extension types of pygpu._opencl, each after its base: X(name, base). Each has a
 * PyType_Spec ocl_NAME_spec in the file of its noun. */
#define OCL_TYPES(X)                     \
    X(Platform, object)                  \
    X(Device, object)                    \
    X(Context, object)                   \
    X(CommandQueue, object)              \
    X(Event, object)                     \
    X(NannyEvent, Event)                 \
    X(UserEvent, Event)                  \
    X(Profile, object)                   \
    X(MemoryObjectHolder, object)        \
    X(MemoryObject, MemoryObjectHolder)  \
    X(Buffer, MemoryObject)              \
    X(MemoryMap, object)                 \
    X(ImageFormat, object)               \
    X(ImageDescriptor, object)           \
    X(Image, MemoryObject)               \
    X(Sampler, object)                   \
    X(Pipe, MemoryObject)                \
    X(SVMPointer, object)                \
    X(SVM, SVMPointer)                   \
    X(SVMAllocation, SVMPointer)         \
    X(Program, object)                   \
    X(Kernel, object)                    \
    X(LocalMemory, object)               \
    X(AllocatorBase, object)             \
    X(ImmediateAllocator, AllocatorBase) \
    X(DeferredAllocator, AllocatorBase)  \
    X(SVMAllocator, object)              \
    X(MemoryPool, object)                \
    X(SVMPool, object)                   \
    X(PooledBuffer, Buffer)              \
    X(PooledSVM, SVMPointer)             \
    X(GLBuffer, MemoryObject)            \
    X(GLRenderBuffer, MemoryObject)      \
    X(GLTexture, Image)

/* The tables of module functions, one per file. */
#define OCL_FUNCTIONS(X)      \
    X(ocl_driver_methods)     \
    X(ocl_platform_functions) \
    X(ocl_event_functions)    \
    X(ocl_transfer_functions) \
    X(ocl_role_functions)     \
    X(ocl_buffer_functions)   \
    X(ocl_image_functions)    \
    X(ocl_svm_functions)      \
    X(ocl_program_functions)  \
    X(ocl_kernel_functions)   \
    X(ocl_fill_functions)     \
    X(ocl_map_functions)      \
    X(ocl_rect_functions)     \
    X(ocl_enum_functions)     \
    X(ocl_gl_functions)       \
    X(ocl_region_functions)   \
    X(ocl_piece_functions)    \
    X(ocl_gate_functions)     \
    X(ocl_profile_functions)  \
    X(pg_profile_functions)   \
    X(pg_track_functions)     \
    X(ocl_deferral_methods)
