/* pyopencl-eval-tbl.cl - polynomials and rational functions given by tables of coefficients, in double precision.
 *
 *     cephes_polevl(x, c, n)   c[0] x^n + c[1] x^(n-1) + ... + c[n]
 *     cephes_p1evl(x, c, n)    x^n + c[0] x^(n-1) + ... + c[n-1]
 *     boost_evaluate_rational(p, q, x)   (p[0] + p[1] x + ...) / (q[0] + q[1] x + ...), tables of equal length
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_EVAL_TBL_CL
#define PYGPU_EVAL_TBL_CL

#if defined(__OPENCL_C_VERSION__) && __OPENCL_C_VERSION__ >= 120
#define PGB_TABLE_FUNCTION static inline
#else
#define PGB_TABLE_FUNCTION inline
#endif

typedef double special_func_scalar_type;

PGB_TABLE_FUNCTION special_func_scalar_type cephes_polevl(
    special_func_scalar_type x, __constant const special_func_scalar_type *coefficients, int degree)
{
    special_func_scalar_type value = coefficients[0];
    for (int i = 1; i <= degree; ++i)
        value = value * x + coefficients[i];
    return value;
}

PGB_TABLE_FUNCTION special_func_scalar_type cephes_p1evl(
    special_func_scalar_type x, __constant const special_func_scalar_type *coefficients, int degree)
{
    special_func_scalar_type value = 1;
    for (int i = 0; i < degree; ++i)
        value = value * x + coefficients[i];
    return value;
}

/* Beyond 1 numerator and denominator are both divided by the highest power, so that neither overflows. */
PGB_TABLE_FUNCTION special_func_scalar_type boost_evaluate_rational_backend(
    __constant const special_func_scalar_type *num, __constant const special_func_scalar_type *denom,
    special_func_scalar_type x, int count)
{
    special_func_scalar_type top = 0, bottom = 0;
    int inverted = fabs(x) > 1;
    special_func_scalar_type power = inverted ? 1 / x : x;
    for (int i = 0; i < count; ++i) {
        int at = inverted ? i : count - 1 - i;
        top = top * power + num[at];
        bottom = bottom * power + denom[at];
    }
    return top / bottom;
}

#define boost_evaluate_rational(num, denom, x) \
    boost_evaluate_rational_backend(num, denom, x, sizeof(num) / sizeof(special_func_scalar_type))

#undef PGB_TABLE_FUNCTION
#endif
