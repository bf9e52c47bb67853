// cuComplex.h.

#include <cuComplex.h>

//@ case: double_precision
//@ block: 32
//@ in a: rng.normal(size=32) + 1j * rng.normal(size=32)
//@ in b: rng.normal(size=32) + 1j * rng.normal(size=32)
//@ out y: np.zeros((6, 32), complex)
//@ expect y: [a + b, a - b, a * b, a / b, a.conj(), a * b + a]
//@ rtol: 1e-14
extern "C" __global__ void k(const cuDoubleComplex *a, const cuDoubleComplex *b, cuDoubleComplex *y) {
    int i = threadIdx.x;
    y[i] = cuCadd(a[i], b[i]); y[32 + i] = cuCsub(a[i], b[i]); y[64 + i] = cuCmul(a[i], b[i]); y[96 + i] = cuCdiv(a[i], b[i]); y[128 + i] = cuConj(a[i]);
    y[160 + i] = cuCfma(a[i], b[i], a[i]);
}

//@ case: single_precision
//@ block: 32
//@ in a: (rng.normal(size=32) + 1j * rng.normal(size=32)).astype(np.complex64)
//@ in b: (rng.normal(size=32) + 1j * rng.normal(size=32)).astype(np.complex64)
//@ out y: np.zeros((6, 32), np.complex64)
//@ expect y: [a + b, a - b, a * b, a / b, a.conj(), a * b + a]
//@ rtol: 2e-5
//@ atol: 1e-6
extern "C" __global__ void k(const cuFloatComplex *a, const cuComplex *b, cuFloatComplex *y) {
    int i = threadIdx.x;
    y[i] = cuCaddf(a[i], b[i]); y[32 + i] = cuCsubf(a[i], b[i]); y[64 + i] = cuCmulf(a[i], b[i]); y[96 + i] = cuCdivf(a[i], b[i]); y[128 + i] = cuConjf(a[i]);
    y[160 + i] = cuCfmaf(a[i], b[i], a[i]);
}

//@ case: parts_and_lengths
//@ block: 1
//@ out y: np.zeros(7)
//@ expect y: [3, 4, 5, 5e200, 3, -4, 5]
//@ rtol: 1e-15
extern "C" __global__ void k(double *y) {
    cuDoubleComplex z = make_cuDoubleComplex(3, 4);
    cuFloatComplex f = cuComplexDoubleToFloat(cuConj(z));
    y[0] = cuCreal(z); y[1] = cuCimag(z); y[2] = cuCabs(z); y[3] = cuCabs(make_cuDoubleComplex(3e200, 4e200)); y[4] = cuCrealf(f); y[5] = cuComplexFloatToDouble(f).y;
    y[6] = cuCabsf(make_cuFloatComplex(3, 4));
}
