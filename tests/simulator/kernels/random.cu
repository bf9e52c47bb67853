// curand_kernel.h: known answers, and what the distributions must satisfy.

#include <curand_kernel.h>

//@ case: philox_known_answers
//@ block: 2
//@ in key: np.array([0, 0xffffffffffffffff], np.uint64)
//@ in counter: np.array([0, 0xffffffffffffffff], np.uint64)
//@ out y: np.zeros((2, 4), np.uint32)
//@ expect y: [[0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]]
extern "C" __global__ void k(const unsigned long long *key, const unsigned long long *counter, unsigned *y) {
    curandStatePhilox4_32_10_t s;
    curand_init(key[threadIdx.x], counter[threadIdx.x], 0, &s); /* Random123's test vectors: all bits 0, all bits 1 */
    for (unsigned long long left = counter[threadIdx.x]; left != 0;) { /* 2^64 - 1 blocks of four numbers, in steps that fit into 64 bits */
        unsigned long long step = left > 1ull << 61 ? 1ull << 61 : left;
        skipahead(4 * step, &s);
        left -= step;
    }
    uint4 r = curand4(&s);
    y[4 * threadIdx.x] = r.x; y[4 * threadIdx.x + 1] = r.y; y[4 * threadIdx.x + 2] = r.z; y[4 * threadIdx.x + 3] = r.w;
}

//@ case: philox_order
//@ block: 1
//@ out y: np.zeros(6, np.uint32)
//@ expect y: [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, *philox(1)[:2]]
extern "C" __global__ void k(unsigned *y) {
    curandStatePhilox4_32_10_t s;
    curand_init(0, 0, 0, &s);
    for (int i = 0; i < 6; i++) y[i] = curand(&s);
}

//@ case: xorwow
//@ block: 64
//@ out y: np.zeros((64, 4), np.uint32)
//@ expect y: [xorwow(1234, 0, 4 * i, 4) for i in range(64)]
extern "C" __global__ void k(unsigned *y) {
    curandState s;
    curand_init(1234, 0, 4 * threadIdx.x, &s);
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = curand(&s);
}

//@ case: xorwow_sequences
//@ block: 1
//@ out y: np.zeros((4, 3), np.uint32)
//@ expect y: [[0xd1f7605a, 0xed29ae49, 0x83030ed9], [0xc8694a55, 0x1f959e40, 0xfe741a99], [0x9182846e, 0x179b4b00, 0x9474b5ed],
//@+         [0xf2722aa9, 0x99668d62, 0x0818bd93]]
extern "C" __global__ void k(unsigned *y) {
    unsigned long long sequences[4] = {1, 7, 1000000007, 1};
    for (int j = 0; j < 4; j++) {
        curandState s;
        curand_init(1234, sequences[j], j == 3 ? 12345678901ull : 0, &s);
        for (int i = 0; i < 3; i++) y[3 * j + i] = curand(&s);
    }
}

//@ case: mrg32k3a
//@ block: 1
//@ out y: np.zeros((4, 3), np.uint32)
//@ expect y: [[0x2083cd07, 0x518b05c4, 0x4f26d091], [0x6e9aabc4, 0x4d390eb0, 0x6e6cc831], [0xd3b7157a, 0x37c58ece, 0xfef9806f],
//@+         [0xf6686251, 0x2cea72e0, 0xe3223b0b]]
extern "C" __global__ void k(unsigned *y) {
    unsigned long long sequences[4] = {0, 7, 1000000007, 1};
    for (int j = 0; j < 4; j++) {
        curandStateMRG32k3a s;
        curand_init(j == 0 ? 0 : 1234, sequences[j], j == 3 ? 12345678901ull : 0, &s);
        for (int i = 0; i < 3; i++) y[3 * j + i] = curand(&s);
    }
}

//@ case: uniform_and_normal_numbers
//@ block: 1
//@ out y: np.zeros((3, 7))
//@ expect y: [[0.688283563, 0.845084632748764, 2.1386375, -0.31304389, -0.735498623317113, -0.878908883328449, 2.7457535],
//@+         [0.364813834, 0.481687838601125, 1.7677714, 1.1410537, -1.3894197462679, 1.06338510715839, 2.0366824],
//@+         [0.197131708, 0.448278617812321, -1.6017474, 1.1022668, 0.618546117737339, 0.120087638901367, 4.2837806]]
//@ rtol: 2e-5
template <class S> __device__ void fill(double *y) {
    S s;
    curand_init(1234, 5, 6, &s);
    y[0] = curand_uniform(&s); y[1] = curand_uniform_double(&s); y[2] = curand_normal(&s); y[3] = curand_normal(&s); y[4] = curand_normal_double(&s);
    y[5] = curand_normal_double(&s); y[6] = curand_log_normal(&s, 1.0f, 0.5f);
}
extern "C" __global__ void k(double *y) { fill<curandStateXORWOW_t>(y); fill<curandStateMRG32k3a_t>(y + 7); fill<curandStatePhilox4_32_10_t>(y + 14); }

//@ case: skipahead_is_drawing
//@ block: 3
//@ out y: np.zeros((3, 2), np.uint32)
//@ check: (y[:, 0] == y[:, 1]).all()
template <class S> __device__ void both(unsigned *y, int n) {
    S a, b;
    curand_init(99, 3, 1, &a);
    b = a;
    for (int i = 0; i < n; i++) curand(&a);
    skipahead((unsigned long long)n, &b);
    y[0] = curand(&a); y[1] = curand(&b);
}
extern "C" __global__ void k(unsigned *y) {
    if (threadIdx.x == 0) both<curandState>(y, 1001);
    if (threadIdx.x == 1) both<curandStatePhilox4_32_10_t>(y + 2, 1001);
    if (threadIdx.x == 2) both<curandStateMRG32k3a>(y + 4, 1001);
}

//@ case: uniform_distribution
//@ grid: 64
//@ block: 64
//@ out y: np.zeros((4096, 4), np.float32)
//@ check: y.min() > 0 and y.max() <= 1 and abs(y.mean() - 0.5) < 0.01 and abs(y.var() - 1 / 12) < 0.005
extern "C" __global__ void k(float4 *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    curandStatePhilox4_32_10_t s;
    curand_init(42, i, 0, &s);
    y[i] = curand_uniform4(&s);
}

//@ case: normal_distribution
//@ grid: 64
//@ block: 64
//@ out y: np.zeros((4096, 4), np.float32)
//@ check: abs(y.mean()) < 0.03 and abs(y.std() - 1) < 0.02 and abs((y**4).mean() - 3) < 0.3
extern "C" __global__ void k(float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    curandState s;
    curand_init(42, i, 0, &s);
    for (int j = 0; j < 4; j++) y[4 * i + j] = curand_normal(&s);
}

//@ case: poisson_distribution
//@ grid: 16
//@ block: 64
//@ out y: np.zeros((3, 1024, 4), np.uint32)
//@ check: all(abs(y[i].mean() - m) < 5 * (m / 4096) ** 0.5 and abs(y[i].var() / m - 1) < 0.15 for i, m in enumerate((3.5, 200, 10000)))
extern "C" __global__ void k(unsigned *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    curandState s;
    curand_init(7, i, 0, &s);
    double means[3] = {3.5, 200, 10000};
    for (int m = 0; m < 3; m++) for (int j = 0; j < 4; j++) y[(1024 * m + i) * 4 + j] = curand_poisson(&s, means[m]);
}

//@ case: state_survives_between_uses
//@ block: 32
//@ out states: np.zeros((32, 48), np.uint8)
//@ out y: np.zeros((32, 2), np.uint32)
//@ expect y: [xorwow(5, 0, i, 2) for i in range(32)]
extern "C" __global__ void k(curandState *states, unsigned *y) {
    curandState local;
    curand_init(5, 0, threadIdx.x, &states[threadIdx.x]);
    local = states[threadIdx.x];
    y[2 * threadIdx.x] = curand(&local);
    states[threadIdx.x] = local;
    y[2 * threadIdx.x + 1] = curand(&states[threadIdx.x]);
}
