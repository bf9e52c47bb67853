/* pyopencl-complex.h - complex numbers for OpenCL C: cfloat_t, and cdouble_t where PYOPENCL_DEFINE_CDOUBLE is defined.
 *
 *     #define PYOPENCL_DEFINE_CDOUBLE        (only if the device has double)
 *     #include <pyopencl-complex.h>
 *     cfloat_t w = cfloat_mul(z, cfloat_exp(cfloat_new(0, phase)));
 *
 * A complex number is stored as NumPy's complex64 and complex128: .real, then .imag (also called .x and .y).
 * It is not a vector type: there are no operators on it, all arithmetic is by the functions below, whose names
 * start with cfloat_ or cdouble_. In those of two operands an r tells which one is real: addr is complex + real,
 * radd real + complex.
 *
 *     new(re, im)  fromreal(re)  cast(z)  real(z)  imag(z)  abs(z)  abs_squared(z)  neg(z)  conj(z)
 *     add addr radd  sub subr rsub  mul mulr rmul  divide divider rdivide  fma(a, b, c) = a * b + c
 *     pow powr rpow  sqrt exp log  sin cos tan  sinh cosh tanh
 *
 * abs, divide, sqrt, log and the exponential functions give finite results wherever these are representable,
 * although |z|^2 or exp(re) alone may overflow. Branch cuts and signed zeros are those of C99, Annex G.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
/* Before OpenCL C 1.2 "static" was not allowed on functions. */
#if defined(__OPENCL_C_VERSION__) && __OPENCL_C_VERSION__ >= 120
#define PGC_FUNCTION static inline
#else
#define PGC_FUNCTION inline
#endif

/* By default a complex number is aligned as one real, which is how NumPy lays it out in structures. */
#if defined(PYOPENCL_COMPLEX_ENABLE_EXTENDED_ALIGNMENT) && PYOPENCL_COMPLEX_ENABLE_EXTENDED_ALIGNMENT
#define PGC_ALIGNED(BASE) __attribute__((aligned(2 * sizeof(BASE))))
#else
#define PGC_ALIGNED(BASE)
#endif

#ifndef PYGPU_HAVE_CFLOAT
#define PYGPU_HAVE_CFLOAT
typedef union
{
    struct { float x, y; } PGC_ALIGNED(float);
    struct { float real, imag; } PGC_ALIGNED(float);
} cfloat_t;

#define cfloat_cast(z) cfloat_new((z).real, (z).imag)

#define PGC_REAL float
#define PGC_TYPE cfloat_t
#define PGC(NAME) cfloat_##NAME
#define PGC_MAX FLT_MAX
#define PGC_SMALL 0x1p-102f     /* FLT_MIN * 2 / FLT_EPSILON */
#define PGC_SCALE 0x1p47f       /* 2 / FLT_EPSILON^2 */
#define PGC_EXP_LIMIT 88.0f     /* exp of more may overflow */
#define PGC_TANH_LIMIT 11.0f    /* tanh of more is 1 to the last bit */
#include "pygpu-complex-functions.h"
#endif

/* A later inclusion may add the type that an earlier one left out. */
#if defined(PYOPENCL_DEFINE_CDOUBLE) && !defined(PYGPU_HAVE_CDOUBLE)
#define PYGPU_HAVE_CDOUBLE
typedef union
{
    struct { double x, y; } PGC_ALIGNED(double);
    struct { double real, imag; } PGC_ALIGNED(double);
} cdouble_t;

#define cdouble_cast(z) cdouble_new((z).real, (z).imag)

#define PGC_REAL double
#define PGC_TYPE cdouble_t
#define PGC(NAME) cdouble_##NAME
#define PGC_MAX DBL_MAX
#define PGC_SMALL 0x1p-969      /* DBL_MIN * 2 / DBL_EPSILON */
#define PGC_SCALE 0x1p105       /* 2 / DBL_EPSILON^2 */
#define PGC_EXP_LIMIT 709.0
#define PGC_TANH_LIMIT 22.0
#include "pygpu-complex-functions.h"
#endif

#undef PGC_FUNCTION
#undef PGC_ALIGNED
