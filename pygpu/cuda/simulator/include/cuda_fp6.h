/* cuda_fp6.h - not supported. */
#error "floating point of 6 bits (cuda_fp6.h) is not supported by the simulator"
