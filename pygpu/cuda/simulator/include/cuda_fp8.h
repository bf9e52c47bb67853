/* cuda_fp8.h - not supported. */
#error "floating point of 8 bits (cuda_fp8.h) is not supported by the simulator"
