/* cuComplex.h - complex numbers as pairs, as CUDA's header of this name has them. */
#ifndef PYGPU_SIM_CU_COMPLEX_H
#define PYGPU_SIM_CU_COMPLEX_H
#define CU_COMPLEX_H_

#pragma GCC system_header
#include "sim_base.h"
#include "sim_vector_types.h"
#include "sim_hide.h"

extern "C++" { /* programs include this header inside of extern "C", as CUDA's may be */

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

namespace pygpu_sim {
/* Scaled, so that nothing overflows before the result does. */
PGS_I float complex_length(float x, float y) { return __builtin_hypotf(x, y); }
PGS_I double complex_length(double x, double y) { return __builtin_hypot(x, y); }
template <class C, class T> PGS_I C complex_quotient(C a, C b) {
    const T s = (b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y), one = 1 / s;
    const T ax = a.x * one, ay = a.y * one, bx = b.x * one, by = b.y * one, d = 1 / (bx * bx + by * by);
    return C{(ax * bx + ay * by) * d, (ay * bx - ax * by) * d};
}
} // namespace pygpu_sim

#define PGS_ROW(C, T, f, make) \
    PGS_F T cuCreal##f(C a) { return a.x; } \
    PGS_F T cuCimag##f(C a) { return a.y; } \
    PGS_F C make(T real, T imaginary) { return C{real, imaginary}; } \
    PGS_F C cuConj##f(C a) { return C{a.x, -a.y}; } \
    PGS_F C cuCadd##f(C a, C b) { return C{a.x + b.x, a.y + b.y}; } \
    PGS_F C cuCsub##f(C a, C b) { return C{a.x - b.x, a.y - b.y}; } \
    PGS_F C cuCmul##f(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
    PGS_I C cuCdiv##f(C a, C b) { return pygpu_sim::complex_quotient<C, T>(a, b); } \
    PGS_I T cuCabs##f(C a) { return pygpu_sim::complex_length(a.x, a.y); } \
    PGS_F C cuCfma##f(C a, C b, C c) { \
        return C{-(a.y * b.y) + (a.x * b.x + c.x), a.x * b.y + (a.y * b.x + c.y)}; \
    }
PGS_ROW(cuFloatComplex, float, f, make_cuFloatComplex)
PGS_ROW(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef PGS_ROW
PGS_F cuComplex make_cuComplex(float real, float imaginary) { return cuComplex{real, imaginary}; }
PGS_F cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return cuDoubleComplex{a.x, a.y}; }
PGS_F cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return cuFloatComplex{(float)a.x, (float)a.y}; }

} /* extern "C++" */

#include "sim_show.h"
#endif
