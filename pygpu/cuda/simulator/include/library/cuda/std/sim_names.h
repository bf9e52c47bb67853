/* cuda/std/sim_names.h - cuda::std has what std has: kernels run on the host, so the host's C++ library serves. */
#ifndef PYGPU_SIM_CUDA_STD_NAMES_H
#define PYGPU_SIM_CUDA_STD_NAMES_H

#pragma GCC system_header
namespace std {}
namespace cuda {
namespace std {
using namespace ::std;
} // namespace std
} // namespace cuda

#endif
