/* pycuda-helpers.hpp - textures and surfaces that hold doubles and complex numbers, for kernels written for PyCUDA.
 *
 * The hardware reads 32-bit components; these functions put wider values together again. CUDA 12 removed texture and surface
 * references, so they take objects: cudaTextureObject_t, cudaSurfaceObject_t. */
#ifndef PYGPU_PYCUDA_HELPERS_HPP
#define PYGPU_PYCUDA_HELPERS_HPP

#include "pycuda-complex.hpp"

extern "C++" {

typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef float2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

/* From what a texture holds to what it means. */
__device__ inline float pycuda_from_texel(float x) { return x; }
__device__ inline double pycuda_from_texel(int2 x) { return __hiloint2double(x.y, x.x); }
__device__ inline pycuda::complex<float> pycuda_from_texel(float2 x) { return pycuda::complex<float>(x.x, x.y); }
__device__ inline pycuda::complex<double> pycuda_from_texel(int4 x) {
    return pycuda::complex<double>(__hiloint2double(x.y, x.x), __hiloint2double(x.w, x.z));
}

/* Storage names the texel's type: fp_tex1Dfetch<fp_tex_double>(texture, i). */
template <class Storage> __device__ inline auto fp_tex1Dfetch(cudaTextureObject_t t, int i) -> decltype(pycuda_from_texel(Storage())) {
    return pycuda_from_texel(tex1Dfetch<Storage>(t, i));
}
template <class Storage> __device__ inline auto fp_tex1D(cudaTextureObject_t t, float x) -> decltype(pycuda_from_texel(Storage())) {
    return pycuda_from_texel(tex1D<Storage>(t, x));
}
template <class Storage> __device__ inline auto fp_tex2D(cudaTextureObject_t t, float x, float y) -> decltype(pycuda_from_texel(Storage())) {
    return pycuda_from_texel(tex2D<Storage>(t, x, y));
}
template <class Storage>
__device__ inline auto fp_tex3D(cudaTextureObject_t t, float x, float y, float z) -> decltype(pycuda_from_texel(Storage())) {
    return pycuda_from_texel(tex3D<Storage>(t, x, y, z));
}

} /* extern "C++" */

#endif
