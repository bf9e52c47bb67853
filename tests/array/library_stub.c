/* library_stub.c - cuBLAS, cuFFT and cuSOLVER as far as tests need them, on memory of the CPU: what the simulator's arrays are.
 * Plain algorithms in Fortran's order, with the argument checks of the real libraries. Of cuSOLVER only double is computed. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int stub_handles, stub_calls, stub_plans; /* handles and plans: that are open */
int stub_computes[4], stub_has; /* how often float was computed as 68, 77, 78, others; whether it has 77 and 78 */
int stub_refuse; /* whether a stream is refused */
void *stub_stream;
void (*stub_wait)(void);    /* for what is on the stream: these functions compute at once */
void (*stub_closing)(void); /* a handle or plan is being closed */

static void called(void) {
    stub_calls++;
    if (stub_wait != NULL) {
        stub_wait();
    }
}

static int create(void **handle) {
    *handle = malloc(8);
    stub_handles++;
    return 0;
}

static int destroy(void *handle) {
    if (stub_closing != NULL) {
        stub_closing();
    }
    free(handle);
    stub_handles--;
    return 0;
}

static int set_stream(void *handle, void *stream) {
    stub_stream = stream;
    return handle && !stub_refuse ? 0 : 1;
}

/* ---- cuBLAS ---- */

int cublasCreate_v2(void **handle) { return create(handle); }
int cublasDestroy_v2(void *handle) { return destroy(handle); }
int cublasSetStream_v2(void *handle, void *stream) { return set_stream(handle, stream); }

static double complex get(const void *p, int type, int64_t i) {
    switch (type) {
    case 0: return ((const float *)p)[i];
    case 1: return ((const double *)p)[i];
    case 4: return ((const float complex *)p)[i];
    case 5: return ((const double complex *)p)[i];
    case 14: {
        uint32_t bits = (uint32_t)((const uint16_t *)p)[i] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    default: return (double)((const _Float16 *)p)[i];
    }
}

static void put(void *p, int type, int64_t i, double complex v) {
    switch (type) {
    case 0: ((float *)p)[i] = (float)creal(v); break;
    case 1: ((double *)p)[i] = creal(v); break;
    case 4: ((float complex *)p)[i] = (float complex)v; break;
    case 5: ((double complex *)p)[i] = v; break;
    case 14: { /* to nearest even, of finite numbers */
        float value = (float)creal(v);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        ((uint16_t *)p)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
        break;
    }
    default: ((_Float16 *)p)[i] = (_Float16)creal(v);
    }
}

int cublasGemmStridedBatchedEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at, int lda, long long sa,
                               const void *b, int bt, int ldb, long long sb, const void *beta, void *c, int ct, int ldc, long long sc, int count,
                               int compute, int algo) {
    int scalar = at == 2 || at == 14 ? 0 : at, narrow = at == 2 || at == 14;
    if ((compute == 77 || compute == 78) && (at == 0 || at == 4)) {
        if (!stub_has) {
            return 15;
        }
    } else if (compute != (at == 1 || at == 5 ? 70 : 68)) {
        return 7;
    }
    double complex more = get(beta, scalar, 0);
    if (!handle || at != bt || (at != ct && !(narrow && ct == 0)) || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || algo != -1 ||
        get(alpha, scalar, 0) != 1 || (more != 0 && more != 1)) {
        return 7;
    }
    stub_computes[compute == 68 ? 0 : compute == 77 ? 1 : compute == 78 ? 2 : 3]++;
    called();
    for (int r = 0; r < count; r++) {
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < m; i++) {
                double complex sum = 0;
                for (int l = 0; l < k; l++) {
                    sum += get(a, at, r * sa + (ta ? (int64_t)i * lda + l : (int64_t)l * lda + i)) *
                           get(b, bt, r * sb + (tb ? (int64_t)l * ldb + j : (int64_t)j * ldb + l));
                }
                const int64_t at_out = r * sc + (int64_t)j * ldc + i;
                put(c, ct, at_out, more != 0 ? sum + get(c, ct, at_out) : sum);
            }
        }
    }
    return 0;
}

int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at, int lda, const void *b, int bt, int ldb,
                 const void *beta, void *c, int ct, int ldc, int compute, int algo) {
    return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, at, lda, 0, b, bt, ldb, 0, beta, c, ct, ldc, 0, 1, compute, algo);
}

/* ---- cuFFT ---- */

static struct { int rank, type; long long n[3], batch; } plans[64];

int cufftCreate(int *plan) {
    for (*plan = 0; *plan < 64 && plans[*plan].rank != 0; (*plan)++) {
    }
    stub_plans++;
    return *plan < 64 ? 0 : 2;
}
int cufftDestroy(int plan) {
    if (stub_closing != NULL) {
        stub_closing();
    }
    plans[plan].rank = 0;
    stub_plans--;
    return 0;
}
int cufftSetStream(int plan, void *stream) { return set_stream(&plans[plan], stream); }

int cufftMakePlanMany64(int plan, int rank, long long *n, long long *in, long long is, long long id, long long *on, long long os, long long od, int type,
                        long long batch, size_t *used) {
    (void)is; (void)id; (void)os; (void)od;
    if (rank < 1 || rank > 3 || in != NULL || on != NULL) {
        return 4;
    }
    plans[plan].rank = rank, plans[plan].type = type, plans[plan].batch = batch;
    memcpy(plans[plan].n, n, (size_t)rank * sizeof(*n));
    *used = 0;
    return 0;
}

static int transform(int plan, int type, const void *in, void *out, int sign) {
    if (plans[plan].rank == 0 || plans[plan].type != type) {
        return 1;
    }
    called();
    int rank = plans[plan].rank, real_in = (type & 15) == 10, real_out = (type & 15) == 12, in_type = type < 0x60 ? 4 : 5, out_type = in_type;
    long long total = 1, last = plans[plan].n[rank - 1];
    for (int k = 0; k < rank; k++) {
        total *= plans[plan].n[k];
    }
    if ((real_in || real_out) && rank != 1) {
        return 4;
    }
    in_type -= real_in ? 4 : 0, out_type -= real_out ? 4 : 0;
    double complex *x = malloc((size_t)total * 16), *y = malloc((size_t)total * 16);
    long long in_step = real_out ? last / 2 + 1 : total, out_step = real_in ? last / 2 + 1 : total;
    for (long long r = 0; r < plans[plan].batch; r++) {
        for (long long i = 0; i < total; i++) {
            x[i] = real_out && i > last / 2 ? conj(get(in, in_type, r * in_step + last - i)) : get(in, in_type, r * in_step + i);
        }
        for (long long stride = 1, k = rank - 1; k >= 0; stride *= plans[plan].n[k], k--) {
            long long n = plans[plan].n[k];
            for (long long i = 0; i < total; i++) {
                long long at = i / stride % n, base = i - at * stride;
                y[i] = 0;
                for (long long j = 0; j < n; j++) {
                    y[i] += x[base + j * stride] * cexp(sign * 2 * M_PI * I * (double)(at * j % n) / (double)n);
                }
            }
            memcpy(x, y, (size_t)total * 16);
        }
        for (long long i = 0; i < out_step; i++) {
            put(out, out_type, r * out_step + i, x[i]);
        }
    }
    free(x), free(y);
    return 0;
}

int cufftExecC2C(int plan, void *in, void *out, int sign) { return transform(plan, 0x29, in, out, sign); }
int cufftExecZ2Z(int plan, void *in, void *out, int sign) { return transform(plan, 0x69, in, out, sign); }
int cufftExecR2C(int plan, void *in, void *out) { return transform(plan, 0x2a, in, out, -1); }
int cufftExecD2Z(int plan, void *in, void *out) { return transform(plan, 0x6a, in, out, -1); }
int cufftExecC2R(int plan, void *in, void *out) { return transform(plan, 0x2c, in, out, 1); }
int cufftExecZ2D(int plan, void *in, void *out) { return transform(plan, 0x6c, in, out, 1); }

/* ---- cuSOLVER ---- */

int cusolverDnCreate(void **handle) { return create(handle); }
int cusolverDnDestroy(void *handle) { return destroy(handle); }
int cusolverDnSetStream(void *handle, void *stream) { return set_stream(handle, stream); }

#define A(i, j) a[(int64_t)(j) * lda + (i)]

int cusolverDnDgetrf_bufferSize(void *h, int m, int n, double *a, int lda, int *size) { (void)h; (void)m; (void)a; (void)lda; *size = n; return 0; }
int cusolverDnDgetrf(void *h, int m, int n, double *a, int lda, double *work, int *pivots, int *info) {
    if (!h || !work || m != n || lda < n) return 3;
    called(), *info = 0;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k; i < n; i++) if (fabs(A(i, k)) > fabs(A(p, k))) p = i;
        pivots[k] = p + 1;
        for (int j = 0; j < n; j++) { double t = A(k, j); A(k, j) = A(p, j); A(p, j) = t; }
        if (A(k, k) == 0) { if (!*info) *info = k + 1; continue; }
        for (int i = k + 1; i < n; i++) {
            A(i, k) /= A(k, k);
            for (int j = k + 1; j < n; j++) A(i, j) -= A(i, k) * A(k, j);
        }
    }
    return 0;
}
int cusolverDnDgetrs(void *h, int op, int n, int sides, const double *a, int lda, const int *pivots, double *b, int ldb, int *info) {
    if (!h || op != 0 || lda < n || ldb < n) return 3;
    called();
    for (int s = 0; s < sides; s++, b += ldb) {
        for (int k = 0; k < n; k++) { double t = b[k]; b[k] = b[pivots[k] - 1]; b[pivots[k] - 1] = t; }
        for (int k = 0; k < n; k++) for (int i = k + 1; i < n; i++) b[i] -= A(i, k) * b[k];
        for (int k = n - 1; k >= 0; k--) { b[k] /= A(k, k); for (int i = 0; i < k; i++) b[i] -= A(i, k) * b[k]; }
    }
    return *info = 0;
}
int cusolverDnDpotrf_bufferSize(void *h, int part, int n, double *a, int lda, int *size) { (void)h; (void)part; (void)a; (void)lda; *size = n; return 0; }
int cusolverDnDpotrf(void *h, int part, int n, double *a, int lda, double *work, int count, int *info) {
    if (!h || !work || count < n || lda < n || part > 1) return 3;
    called();
    *info = 0;
#define L(i, j) (*(part ? &A(j, i) : &A(i, j)))
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) L(j, j) -= L(j, k) * L(j, k);
        if (!(L(j, j) > 0)) { *info = j + 1; return 0; }
        L(j, j) = sqrt(L(j, j));
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++) L(i, j) -= L(i, k) * L(j, k);
            L(i, j) /= L(j, j);
        }
    }
    return 0;
}
int cusolverDnDgeqrf_bufferSize(void *h, int m, int n, double *a, int lda, int *size) { (void)h; (void)m; (void)a; (void)lda; *size = n; return 0; }
int cusolverDnDgeqrf(void *h, int m, int n, double *a, int lda, double *tau, double *work, int count, int *info) {
    if (!h || !work || count < n || lda < m) return 3;
    called();
    for (int k = 0; k < (m < n ? m : n); k++) {
        double norm = 0;
        for (int i = k; i < m; i++) norm += A(i, k) * A(i, k);
        norm = sqrt(norm);
        double beta = A(k, k) > 0 ? -norm : norm, head = A(k, k) - beta;
        tau[k] = k + 1 == m || norm == 0 ? 0 : -head / beta;
        if (tau[k] == 0) continue;
        for (int i = k + 1; i < m; i++) A(i, k) /= head;
        A(k, k) = beta;
        for (int j = k + 1; j < n; j++) {
            double dot = A(k, j);
            for (int i = k + 1; i < m; i++) dot += A(i, k) * A(i, j);
            A(k, j) -= tau[k] * dot;
            for (int i = k + 1; i < m; i++) A(i, j) -= tau[k] * dot * A(i, k);
        }
    }
    return *info = 0;
}
int cusolverDnDorgqr_bufferSize(void *h, int m, int n, int k, const double *a, int lda, const double *tau, int *size) {
    (void)h; (void)m; (void)k; (void)a; (void)lda; (void)tau; *size = n; return 0;
}
int cusolverDnDorgqr(void *h, int m, int n, int k, double *a, int lda, const double *tau, double *work, int count, int *info) {
    if (!h || !work || count < n || lda < m || k > n || n > m) return 3;
    called();
    double *q = calloc((size_t)m * (size_t)n, 8);
    for (int j = 0; j < n; j++) {
        q[j * m + j] = 1;
        for (int r = k - 1; r >= 0; r--) {
            double dot = q[j * m + r];
            for (int i = r + 1; i < m; i++) dot += A(i, r) * q[j * m + i];
            q[j * m + r] -= tau[r] * dot;
            for (int i = r + 1; i < m; i++) q[j * m + i] -= tau[r] * dot * A(i, r);
        }
    }
    for (int j = 0; j < n; j++) memcpy(&A(0, j), q + j * m, (size_t)m * 8);
    free(q);
    return *info = 0;
}
/* Jacobi's rotations of rows and columns; values ascending, vectors in a. */
int cusolverDnDsyevd_bufferSize(void *h, int jobz, int part, int n, const double *a, int lda, const double *w, int *size) {
    (void)h; (void)jobz; (void)part; (void)a; (void)lda; (void)w; *size = n; return 0;
}
int cusolverDnDsyevd(void *h, int jobz, int part, int n, double *a, int lda, double *w, double *work, int count, int *info) {
    if (!h || !work || count < n || lda < n || jobz > 1) return 3;
    called();
    double *v = calloc((size_t)n * (size_t)n, 8);
    for (int i = 0; i < n; i++) {
        v[i * n + i] = 1;
        for (int j = 0; j < i; j++) { if (part) A(i, j) = A(j, i); else A(j, i) = A(i, j); }
    }
    for (int sweep = 0; sweep < 60; sweep++) {
        for (int p = 0; p < n; p++) for (int q = p + 1; q < n; q++) {
            if (A(p, q) == 0) continue;
            double t = 0.5 * atan2(2 * A(p, q), A(q, q) - A(p, p)), c = cos(t), s = sin(t);
            for (int i = 0; i < n; i++) { double x = A(i, p), y = A(i, q); A(i, p) = c * x - s * y; A(i, q) = s * x + c * y; }
            for (int i = 0; i < n; i++) { double x = A(p, i), y = A(q, i); A(p, i) = c * x - s * y; A(q, i) = s * x + c * y; }
            for (int i = 0; i < n; i++) { double x = v[p * n + i], y = v[q * n + i]; v[p * n + i] = c * x - s * y; v[q * n + i] = s * x + c * y; }
        }
    }
    for (int k = 0; k < n; k++) w[k] = A(k, k);
    for (int k = 0; k < n; k++) {
        int least = k;
        for (int i = k; i < n; i++) if (w[i] < w[least]) least = i;
        double t = w[k]; w[k] = w[least]; w[least] = t;
        for (int i = 0; i < n; i++) { t = v[k * n + i]; v[k * n + i] = v[least * n + i]; v[least * n + i] = t; }
    }
    for (int j = 0; j < n; j++) memcpy(&A(0, j), v + j * n, (size_t)n * 8);
    free(v);
    return *info = 0;
}
int cusolverDnDgesvd_bufferSize(void *h, int m, int n, int *size) { (void)h; *size = n; return m < n ? 3 : 0; }
/* From the eigenvectors of A^T A: enough for tests of well-conditioned matrices. */
int cusolverDnDgesvd(void *h, signed char ju, signed char jv, int m, int n, double *a, int lda, double *s, double *u, int ldu, double *vt, int ldvt, double *work,
                     int count, double *real, int *info) {
    if (!h || !work || !real || ju != jv || m < n || lda < m || count < n || (ju != 'N' && (ldu < m || ldvt < n))) return 3;
    called();
    double *g = calloc((size_t)n * (size_t)n, 8), *columns = calloc((size_t)m * (size_t)m, 8);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) g[j * n + i] += A(k, i) * A(k, j);
    cusolverDnDsyevd(h, 1, 0, n, g, n, real, work, count, info);
    int filled = 0;
    for (int k = 0; k < n; k++, filled++) {
        double *v = g + (n - 1 - k) * n;
        s[k] = sqrt(fmax(real[n - 1 - k], 0));
        for (int i = 0; i < m; i++) { for (int j = 0; j < n; j++) columns[k * m + i] += A(i, j) * v[j]; columns[k * m + i] /= s[k]; }
        if (ju != 'N') for (int j = 0; j < n; j++) vt[(int64_t)j * ldvt + k] = v[j];
    }
    for (int e = 0; e < m && filled < m && ju == 'A'; e++) { /* the rest of a basis */
        double *c = columns + filled * m, norm = 0;
        memset(c, 0, (size_t)m * 8), c[e] = 1;
        for (int twice = 0; twice < 2; twice++) for (int k = 0; k < filled; k++) {
            double dot = 0;
            for (int i = 0; i < m; i++) dot += c[i] * columns[k * m + i];
            for (int i = 0; i < m; i++) c[i] -= dot * columns[k * m + i];
        }
        for (int i = 0; i < m; i++) norm += c[i] * c[i];
        if (norm > 1e-6) { for (int i = 0; i < m; i++) c[i] /= sqrt(norm); filled++; }
    }
    if (ju != 'N') for (int k = 0; k < (ju == 'A' ? m : n); k++) memcpy(u + (int64_t)k * ldu, columns + k * m, (size_t)m * 8);
    free(g), free(columns);
    return *info = 0;
}

#define NOT_HERE(name) int cusolverDn##name(void) { return 9; }
#define OTHERS(t, q, e) NOT_HERE(t##getrf) NOT_HERE(t##getrf_bufferSize) NOT_HERE(t##getrs) NOT_HERE(t##potrf) NOT_HERE(t##potrf_bufferSize) NOT_HERE(t##geqrf) \
    NOT_HERE(t##geqrf_bufferSize) NOT_HERE(t##gesvd) NOT_HERE(t##gesvd_bufferSize) NOT_HERE(t##q) NOT_HERE(t##q##_bufferSize) NOT_HERE(t##e) NOT_HERE(t##e##_bufferSize)
OTHERS(S, orgqr, syevd)
OTHERS(C, ungqr, heevd)
OTHERS(Z, ungqr, heevd)
