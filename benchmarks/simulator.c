/* simulator.c - plain C beside the CUDA simulator: a product and a saxpy of floats, and launches through the driver's functions. A shared library. */
#include <time.h>

void product(float *c, const float *a, const float *b, int n);
void saxpy(float a, const float *x, float *y, int n);
double submit(int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **), int (*wait)(void),
              void *kernel, void **params, int launches, int each);

/* What one writes first: a row times a column. */
void product(float *c, const float *a, const float *b, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
    }
}

void saxpy(float a, const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

/* ns a launch of one thread; each: waiting for each of them, otherwise the wait is not part of it. -1: an error. */
double submit(int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **), int (*wait)(void),
              void *kernel, void **params, int launches, int each) {
    struct timespec begin, end;
    int status = wait();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < launches; i++) {
        status |= launch(kernel, 1, 1, 1, 1, 1, 1, 0, 0, params, 0);
        if (each) status |= wait();
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    status |= wait();
    return status != 0 ? -1 : ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / launches;
}
