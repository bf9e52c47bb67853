/* mma.h - not supported. */
#error "tensor cores (mma.h, nvcuda::wmma) are not supported by the simulator"
