/* cuda_fp4.h - not supported. */
#error "floating point of 4 bits (cuda_fp4.h) is not supported by the simulator"
