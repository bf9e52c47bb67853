/* types.h - the extension types of pygpu._cuda, each after its base: X(name, base). Each has a
 * PyType_Spec cud_NAME_spec in the file of its noun. */
#define CUD_TYPES(X)                            \
    X(Device, object)                           \
    X(Context, object)                          \
    X(Stream, object)                           \
    X(Event, object)                            \
    X(DeviceAllocation, object)                 \
    X(ManagedAllocation, DeviceAllocation)      \
    X(PooledDeviceAllocation, DeviceAllocation) \
    X(IPCMemoryHandle, DeviceAllocation)        \
    X(PointerHolderBase, object)                \
    X(DeviceView, object)                       \
    X(HostPointer, object)                      \
    X(PagelockedHostAllocation, HostPointer)    \
    X(AlignedHostAllocation, HostPointer)       \
    X(RegisteredHostMemory, HostPointer)        \
    X(PooledHostAllocation, HostPointer)        \
    X(Memcpy2D, object)                         \
    X(Memcpy3D, object)                         \
    X(Memcpy3DPeer, object)                     \
    X(ArrayDescriptor, object)                  \
    X(ArrayDescriptor3D, object)                \
    X(Array, object)                            \
    X(TextureObject, object)                    \
    X(SurfaceObject, object)                    \
    X(TextureReference, object)                 \
    X(SurfaceReference, object)                 \
    X(MemoryPoolBase, object)                   \
    X(DeviceMemoryPool, MemoryPoolBase)         \
    X(PageLockedMemoryPool, MemoryPoolBase)     \
    X(PageLockedAllocator, object)              \
    X(Module, object)                           \
    X(Function, object)                         \
    X(CallTime, object)                         \
    X(ArgumentHandler, object)                  \
    X(In, ArgumentHandler)                      \
    X(Out, ArgumentHandler)                     \
    X(InOut, In)                                \
    X(Linker, object)                           \
    X(Graph, object)                            \
    X(GraphExec, object)

/* The tables of module functions, one per file. */
#define CUD_FUNCTIONS(X)             \
    X(cud_driver_methods)            \
    X(cud_deferral_methods)          \
    X(cud_profile_functions)         \
    X(pg_profile_functions)          \
    X(pg_track_functions)            \
    X(cud_enum_functions)            \
    X(cud_nvrtc_functions)           \
    X(cud_memory_functions)          \
    X(cud_range_functions)           \
    X(cud_stream_memory_functions)   \
    X(cud_transfer_functions)        \
    X(cud_transfer_device_functions) \
    X(cud_memset_functions)          \
    X(cud_host_memory_functions)     \
    X(cud_ipc_functions)             \
    X(cud_array_functions)           \
    X(cud_pool_functions)            \
    X(cud_image_functions)           \
    X(cud_profiler_functions)        \
    X(cud_host_call_functions)
