// Programs as tutorials and samples have them: several features together.

//@ case: reduce_interleaved_mod
//@ grid: 4
//@ block: 256
//@ shared: 1024
//@ in x: rng.integers(-100, 100, 1024).astype(np.int32)
//@ out y: np.zeros(4, np.int32)
//@ expect y: x.reshape(4, 256).sum(1)
template <class T> struct SharedMemory {
    __device__ inline operator T *() { extern __shared__ int __smem[]; return (T *)__smem; }
    __device__ inline operator const T *() const { extern __shared__ int __smem[]; return (T *)__smem; }
};
template <class T> __device__ void reduce0(T *g_idata, T *g_odata, unsigned int n) {
    T *sdata = SharedMemory<T>();
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if ((tid % (2 * s)) == 0) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
extern "C" __global__ void k(int *x, int *y) { reduce0<int>(x, y, 1024); }

//@ case: reduce_unrolled_shfl_template_switch
//@ grid: 3
//@ block: 128
//@ in x: rng.random(3000)
//@ out y: np.zeros(3)
//@ check: abs(y.sum() - x.sum()) < 1e-9
template <class T> __device__ __forceinline__ T warpReduceSum(unsigned int mask, T mySum) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) mySum += __shfl_down_sync(mask, mySum, offset);
    return mySum;
}
template <typename T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce7(const T *__restrict__ g_idata, T *__restrict__ g_odata, unsigned int n) {
    __shared__ T sdata[32];
    unsigned int tid = threadIdx.x;
    unsigned int gridSize = blockSize * gridDim.x;
    unsigned int maskLength = (blockSize & 31);
    maskLength = (maskLength > 0) ? (32 - maskLength) : maskLength;
    const unsigned int mask = (0xffffffff) >> maskLength;
    T mySum = 0;
    if (nIsPow2) {
        unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
        gridSize = gridSize << 1;
        while (i < n) { mySum += g_idata[i]; if ((i + blockSize) < n) mySum += g_idata[i + blockSize]; i += gridSize; }
    } else {
        unsigned int i = blockIdx.x * blockSize + threadIdx.x;
        while (i < n) { mySum += g_idata[i]; i += gridSize; }
    }
    mySum = warpReduceSum<T>(mask, mySum);
    if ((tid % warpSize) == 0) sdata[tid / warpSize] = mySum;
    __syncthreads();
    const unsigned int shmem_extent = (blockSize / warpSize) > 0 ? (blockSize / warpSize) : 1;
    const unsigned int ballot_result = __ballot_sync(mask, tid < shmem_extent);
    if (tid < shmem_extent) { mySum = sdata[tid]; mySum = warpReduceSum<T>(ballot_result, mySum); }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}
template __global__ void reduce7<double, 128, false>(const double *, double *, unsigned int);
extern "C" __global__ void k(const double *x, double *y) {
    __shared__ double s[4];
    double v = 0;
    for (unsigned i = blockIdx.x * 128 + threadIdx.x; i < 3000; i += gridDim.x * 128) v += x[i];
    v = warpReduceSum(0xffffffffu, v);
    if (threadIdx.x % warpSize == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    unsigned b = __ballot_sync(0xffffffff, threadIdx.x < 4);
    if (threadIdx.x < 4) { v = s[threadIdx.x]; v = warpReduceSum(b, v); }
    if (threadIdx.x == 0) y[blockIdx.x] = v;
}

//@ case: reduce7_itself
//@ kernel: _Z7reduce7IfLj96ELb1EEvPKT_PS0_j
//@ grid: 2
//@ block: 96
//@ in x: np.arange(1000, dtype=np.float32)
//@ out y: np.zeros(2, np.float32)
//@ in n: np.uint32(1000)
//@ check: y.sum() == x.sum()
template <typename T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce7(const T *__restrict__ g_idata, T *__restrict__ g_odata, unsigned int n) {
    __shared__ T sdata[32];
    unsigned int tid = threadIdx.x, gridSize = blockSize * gridDim.x;
    T mySum = T();
    if constexpr (nIsPow2) {
        unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
        gridSize <<= 1;
        while (i < n) { mySum += g_idata[i]; if ((i + blockSize) < n) mySum += g_idata[i + blockSize]; i += gridSize; }
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) mySum += __shfl_down_sync(~0u, mySum, o);
    if (!(tid & 31)) sdata[tid >> 5] = mySum;
    __syncthreads();
    if (!tid) { T t = 0; for (int i = 0; i < (blockSize + 31) / 32; ++i) t += sdata[i]; g_odata[blockIdx.x] = t; }
}
template __global__ void reduce7<float, 96, true>(const float *, float *, unsigned int);

//@ case: blelloch_scan_with_bank_offsets
//@ block: 128
//@ shared: 1088
//@ in x: rng.integers(0, 9, 256).astype(np.float32)
//@ out y: np.zeros(256, np.float32)
//@ expect y: np.cumsum(x) - x
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
extern "C" __global__ void k(const float *g_idata, float *g_odata) {
    extern __shared__ float temp[];
    const int n = 256;
    int thid = threadIdx.x, offset = 1;
    int ai = thid, bi = thid + (n / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[ai];
    temp[bi + bankOffsetB] = g_idata[bi];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai); bi += CONFLICT_FREE_OFFSET(bi);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai); bi += CONFLICT_FREE_OFFSET(bi);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[ai] = temp[ai + bankOffsetA];
    g_odata[bi] = temp[bi + bankOffsetB];
}

//@ case: histogram256_packed_counters
//@ grid: 2
//@ block: 192
//@ in x: rng.integers(0, 2**32, 4096).astype(np.uint32)
//@ out y: np.zeros(256, np.uint32)
//@ expect y: np.bincount(x.view(np.uint8), minlength=256)
typedef unsigned int uint_t; typedef unsigned char uchar_t;
#define WARP_COUNT 6
#define UMUL(a, b) ((a) * (b))
inline __device__ void addByte(uint_t *s_WarpHist, uint_t data, uint_t threadTag) { atomicAdd(s_WarpHist + data, 1); }
inline __device__ void addWord(uint_t *s_WarpHist, uint_t data, uint_t tag) {
    addByte(s_WarpHist, (data >> 0) & 0xFFU, tag); addByte(s_WarpHist, (data >> 8) & 0xFFU, tag);
    addByte(s_WarpHist, (data >> 16) & 0xFFU, tag); addByte(s_WarpHist, (data >> 24) & 0xFFU, tag);
}
extern "C" __global__ void k(uint_t *d_Data, uint_t *d_Hist) {
    __shared__ uint_t s_Hist[WARP_COUNT * 256];
    uint_t *s_WarpHist = s_Hist + (threadIdx.x >> 5) * 256;
#pragma unroll
    for (uint_t i = 0; i < (WARP_COUNT * 256 / 192); i++) s_Hist[threadIdx.x + i * 192] = 0;
    const uint_t tag = threadIdx.x << (32 - 5);
    __syncthreads();
    for (uint_t pos = UMUL(blockIdx.x, blockDim.x) + threadIdx.x; pos < 4096; pos += UMUL(blockDim.x, gridDim.x)) addWord(s_WarpHist, d_Data[pos], tag);
    __syncthreads();
    for (uint_t bin = threadIdx.x; bin < 256; bin += 192) {
        uint_t sum = 0;
        for (uint_t i = 0; i < WARP_COUNT; i++) sum += s_Hist[bin + i * 256] & (0xFFFFFFFFU >> 0);
        atomicAdd(&d_Hist[bin], sum);
    }
}

//@ case: transpose_diagonal
//@ grid: (4, 4)
//@ block: (16, 4)
//@ in x: np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
//@ out y: np.zeros((64, 64), np.float32)
//@ expect y: x.T
#define TILE_DIM 16
#define BLOCK_ROWS 4
extern "C" __global__ void __launch_bounds__(TILE_DIM * BLOCK_ROWS, 2) k(float *idata, float *odata) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int width = 64, height = 64, blockIdx_x, blockIdx_y;
    if (width == height) { blockIdx_y = blockIdx.x; blockIdx_x = (blockIdx.x + blockIdx.y) % gridDim.x; }
    else { int bid = blockIdx.x + gridDim.x * blockIdx.y; blockIdx_y = bid % gridDim.y; blockIdx_x = ((bid / gridDim.y) + blockIdx_y) % gridDim.x; }
    int xIndex = blockIdx_x * TILE_DIM + threadIdx.x, yIndex = blockIdx_y * TILE_DIM + threadIdx.y;
    int index_in = xIndex + (yIndex)*width;
    xIndex = blockIdx_y * TILE_DIM + threadIdx.x; yIndex = blockIdx_x * TILE_DIM + threadIdx.y;
    int index_out = xIndex + (yIndex)*height;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) tile[threadIdx.y + i][threadIdx.x] = idata[index_in + i * width];
    __syncthreads();
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) odata[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

//@ case: matmul_register_blocked
//@ grid: (2, 2)
//@ block: (16, 16)
//@ in a: rng.standard_normal((64, 48)).astype(np.float32)
//@ in b: rng.standard_normal((48, 64)).astype(np.float32)
//@ out c: np.zeros((64, 64), np.float32)
//@ expect c: a @ b
//@ rtol: 1e-4
//@ atol: 1e-4
template <int BM, int BN, int BK, int TM, int TN> __device__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ alignas(16) float As[BK][BM];
    __shared__ __align__(16) float Bs[BK][BN];
    float acc[TM][TN] = {};
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += 256) { int r = i / BK, c = i % BK; As[c][r] = A[(blockIdx.y * BM + r) * K + k0 + c]; }
        for (int i = tid * 4; i < BK * BN; i += 1024) { int r = i / BN, c = i % BN; *reinterpret_cast<float4 *>(&Bs[r][c]) = *reinterpret_cast<const float4 *>(&B[(k0 + r) * N + blockIdx.x * BN + c]); }
        __syncthreads();
        float ra[TM], rb[TN];
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
#pragma unroll
            for (int i = 0; i < TM; ++i) ra[i] = As[kk][threadIdx.y * TM + i];
#pragma unroll
            for (int j = 0; j < TN; ++j) rb[j] = Bs[kk][threadIdx.x * TN + j];
            for (int i = 0; i < TM; ++i) for (int j = 0; j < TN; ++j) acc[i][j] = fmaf(ra[i], rb[j], acc[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) for (int j = 0; j < TN; ++j) C[(blockIdx.y * BM + threadIdx.y * TM + i) * N + blockIdx.x * BN + threadIdx.x * TN + j] = acc[i][j];
}
extern "C" __global__ void k(const float *a, const float *b, float *c) { gemm<32, 32, 16, 2, 2>(a, b, c, 64, 64, 48); }

//@ case: bitonic_shared_comparator
//@ block: 256
//@ in n: np.int32(512)
//@ out key: rng.integers(0, 1000, 512).astype(np.uint32)
//@ out val: np.arange(512, dtype=np.uint32)
//@ check: (np.diff(key.astype(int)) >= 0).all() and sorted(val) == list(range(512))
template <class K, class V> __device__ inline void Comparator(K &keyA, V &valA, K &keyB, V &valB, unsigned dir) {
    if ((keyA > keyB) == dir) { K t; t = keyA; keyA = keyB; keyB = t; V u = valA; valA = valB; valB = u; }
}
extern "C" __global__ void k(int n, unsigned *d_Key, unsigned *d_Val) {
    __shared__ unsigned s_key[512]; __shared__ unsigned s_val[512];
    s_key[threadIdx.x + 0] = d_Key[threadIdx.x]; s_val[threadIdx.x] = d_Val[threadIdx.x];
    s_key[threadIdx.x + 256] = d_Key[threadIdx.x + 256]; s_val[threadIdx.x + 256] = d_Val[threadIdx.x + 256];
    for (unsigned size = 2; size < n; size <<= 1) {
        unsigned ddd = 1u ^ ((threadIdx.x & (size / 2)) != 0);
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    for (unsigned stride = n / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], 1u);
    }
    __syncthreads();
    d_Key[threadIdx.x] = s_key[threadIdx.x]; d_Val[threadIdx.x] = s_val[threadIdx.x];
    d_Key[threadIdx.x + 256] = s_key[threadIdx.x + 256]; d_Val[threadIdx.x + 256] = s_val[threadIdx.x + 256];
}

//@ case: nbody_tile_calculation
//@ grid: 2
//@ block: 32
//@ shared: 512
//@ in p: rng.random((64, 4)).astype(np.float32)
//@ out a: np.zeros((64, 4), np.float32)
//@ expect a: [list(((p[:, :3] - q[:3]) * (p[:, 3] / ((((p[:, :3] - q[:3]).astype(float) ** 2).sum(1) + 0.01) ** 1.5))[:, None]).sum(0)) + [0] for q in p]
//@ rtol: 2e-4
//@ atol: 1e-3
__constant__ float softeningSquared = 0.01f;
template <typename T> struct vec3 { typedef float Type; };
template <> struct vec3<float> { typedef float3 Type; };
template <typename T> __device__ T rsqrt_T(T x) { return rsqrt(x); }
template <> __device__ float rsqrt_T<float>(float x) { return rsqrtf(x); }
template <typename T> __device__ typename vec3<T>::Type bodyBodyInteraction(typename vec3<T>::Type ai, float4 bi, float4 bj) {
    typename vec3<T>::Type r;
    r.x = bj.x - bi.x; r.y = bj.y - bi.y; r.z = bj.z - bi.z;
    T distSqr = r.x * r.x + r.y * r.y + r.z * r.z;
    distSqr += softeningSquared;
    T invDist = rsqrt_T(distSqr);
    T invDistCube = invDist * invDist * invDist;
    T s = bj.w * invDistCube;
    ai.x += r.x * s; ai.y += r.y * s; ai.z += r.z * s;
    return ai;
}
extern "C" __global__ void k(const float4 *p, float4 *a) {
    extern __shared__ float4 sh[];
    float4 me = p[blockIdx.x * blockDim.x + threadIdx.x];
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int tile = 0; tile < gridDim.x; tile++) {
        sh[threadIdx.x] = p[tile * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 32
        for (unsigned int counter = 0; counter < blockDim.x; counter++) acc = bodyBodyInteraction<float>(acc, me, sh[counter]);
        __syncthreads();
    }
    a[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(acc.x, acc.y, acc.z, 0.f);
}

//@ case: black_scholes_float2
//@ grid: 2
//@ block: 128
//@ in S: rng.uniform(5, 30, 400).astype(np.float32)
//@ in X: rng.uniform(1, 100, 400).astype(np.float32)
//@ in T: rng.uniform(0.25, 10, 400).astype(np.float32)
//@ out call: np.zeros(400, np.float32)
//@ out put: np.zeros(400, np.float32)
//@ check: np.abs((call - put) - (S - X * np.exp(-0.02 * T))).max() < 1e-3
__device__ inline float cndGPU(float d) {
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f, RSQRT2PI = 0.39894228040143267793994605993438f;
    float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
    float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) cnd = 1.0f - cnd;
    return cnd;
}
__device__ inline void body(float &CallResult, float &PutResult, float S, float X, float T, float R, float V) {
    float sqrtT = __fdividef(1.0F, rsqrtf(T));
    float d1 = __fdividef(__logf(S / X) + (R + 0.5f * V * V) * T, V * sqrtT), d2 = d1 - V * sqrtT;
    float CNDD1 = cndGPU(d1), CNDD2 = cndGPU(d2), expRT = __expf(-R * T);
    CallResult = S * CNDD1 - X * expRT * CNDD2;
    PutResult = X * expRT * (1.0f - CNDD2) - S * (1.0f - CNDD1);
}
extern "C" __launch_bounds__(128) __global__ void k(float2 *__restrict S, float2 *__restrict X, float2 *__restrict T, float2 *__restrict c, float2 *__restrict p) {
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt < (400 / 2)) {
        float callResult1, callResult2, putResult1, putResult2;
        body(callResult1, putResult1, S[opt].x, X[opt].x, T[opt].x, 0.02f, 0.3f);
        body(callResult2, putResult2, S[opt].y, X[opt].y, T[opt].y, 0.02f, 0.3f);
        c[opt] = make_float2(callResult1, callResult2);
        p[opt] = make_float2(putResult1, putResult2);
    }
}

//@ case: fdtd3d_radius4_pipeline
//@ block: (8, 8)
//@ in x: rng.standard_normal((12, 16, 16)).astype(np.float32)
//@ out y: np.zeros((12, 16, 16), np.float32)
//@ check: np.allclose(y[4:8, 4:12, 4:12], sum((1 if r == 0 else 0.1) * (x[4:8, 4:12, 4:12] if r == 0 else x[4 - r:8 - r, 4:12, 4:12] + x[4 + r:8 + r, 4:12, 4:12] + x[4:8, 4 - r:12 - r, 4:12] + x[4:8, 4 + r:12 + r, 4:12] + x[4:8, 4:12, 4 - r:12 - r] + x[4:8, 4:12, 4 + r:12 + r]) for r in range(5)), atol=1e-4)
#define RADIUS 4
__constant__ float stencil[RADIUS + 1] = {1.f, .1f, .1f, .1f, .1f};
extern "C" __global__ void k(const float *input, float *output) {
    const int dimx = 16, dimy = 16, dimz = 12, stride_y = dimx, stride_z = dimx * dimy;
    bool validr = true, validw = true;
    const int gtidx = blockIdx.x * blockDim.x + threadIdx.x, gtidy = blockIdx.y * blockDim.y + threadIdx.y, ltidx = threadIdx.x, ltidy = threadIdx.y;
    __shared__ float tile[8 + 2 * RADIUS][8 + 2 * RADIUS];
    int inputIndex = 0, outputIndex = 0;
    inputIndex += (gtidy + RADIUS) * stride_y + gtidx + RADIUS;
    float infront[RADIUS], behind[RADIUS], current;
    const int tx = ltidx + RADIUS, ty = ltidy + RADIUS;
    for (int i = RADIUS - 2; i >= 0; i--) { behind[i] = input[inputIndex]; inputIndex += stride_z; }
    current = input[inputIndex]; outputIndex = inputIndex; inputIndex += stride_z;
    for (int i = 0; i < RADIUS; i++) { infront[i] = input[inputIndex]; inputIndex += stride_z; }
#pragma unroll 9
    for (int iz = 0; iz < dimz - 2 * RADIUS; iz++) {
        for (int i = RADIUS - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current; current = infront[0];
#pragma unroll 4
        for (int i = 0; i < RADIUS - 1; i++) infront[i] = infront[i + 1];
        if (validr) infront[RADIUS - 1] = input[inputIndex];
        inputIndex += stride_z; outputIndex += stride_z;
        __syncthreads();
        if (ltidy < RADIUS) { tile[ltidy][tx] = input[outputIndex - RADIUS * stride_y]; tile[ltidy + 8 + RADIUS][tx] = input[outputIndex + 8 * stride_y]; }
        if (ltidx < RADIUS) { tile[ty][ltidx] = input[outputIndex - RADIUS]; tile[ty][ltidx + 8 + RADIUS] = input[outputIndex + 8]; }
        tile[ty][tx] = current;
        __syncthreads();
        float value = stencil[0] * current;
#pragma unroll 4
        for (int i = 1; i <= RADIUS; i++) value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        if (validw) output[outputIndex] = value;
    }
}

//@ case: convolution_rows_halo
//@ grid: (2, 8)
//@ block: (16, 4)
//@ in x: rng.random((32, 128)).astype(np.float32)
//@ out y: np.zeros((32, 128), np.float32)
//@ expect y: sum(np.pad(x, ((0, 0), (8, 8)))[:, 8 + j:8 + j + 128] * np.float32((8 - j + 1) / 10) for j in range(-8, 9))
//@ rtol: 1e-5
//@ atol: 1e-5
#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH] = {.1f, .2f, .3f, .4f, .5f, .6f, .7f, .8f, .9f, 1.f, 1.1f, 1.2f, 1.3f, 1.4f, 1.5f, 1.6f, 1.7f};
#define ROWS_BLOCKDIM_X 16
#define ROWS_RESULT_STEPS 4
#define ROWS_HALO_STEPS 1
extern "C" __global__ void k(float *d_Src, float *d_Dst) {
    int imageW = 128, pitch = 128;
    __shared__ float s_Data[4][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];
    const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
    const int baseY = blockIdx.y * 4 + threadIdx.y;
    d_Src += baseY * pitch + baseX; d_Dst += baseY * pitch + baseX;
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[i * ROWS_BLOCKDIM_X];
#pragma unroll
    for (int i = 0; i < ROWS_HALO_STEPS; i++) s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
#pragma unroll
    for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
    __syncthreads();
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++) sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
        d_Dst[i * ROWS_BLOCKDIM_X] = sum;
    }
}

//@ case: monte_carlo_pi_curand
//@ grid: 8
//@ block: 64
//@ out y: np.zeros(8, np.uint32)
//@ check: abs(4 * y.sum() / (512 * 500) - np.pi) < 0.02
#include <curand_kernel.h>
__device__ unsigned inside(curandState *state, int n) {
    unsigned c = 0;
    for (int i = 0; i < n; i++) { float x = curand_uniform(state), y = curand_uniform(state); if (x * x + y * y <= 1.0f) ++c; }
    return c;
}
extern "C" __global__ void k(unsigned *y) {
    __shared__ unsigned total;
    if (!threadIdx.x) total = 0;
    __syncthreads();
    curandState s;
    curand_init(1234ULL, blockIdx.x * blockDim.x + threadIdx.x, 0, &s);
    atomicAdd(&total, inside(&s, 500));
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = total;
}

//@ case: game_of_life_torus_bits
//@ grid: (2, 2)
//@ block: (8, 8)
//@ in x: rng.integers(0, 2, (16, 16)).astype(np.uint8)
//@ out y: np.zeros((16, 16), np.uint8)
//@ expect y: (lambda n: ((n == 3) | ((n == 2) & (x == 1))).astype(np.uint8))(sum(np.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)))
extern "C" __global__ void k(const unsigned char *__restrict__ x, unsigned char *y) {
    auto at = [=] (int i, int j) -> int { return x[((i + 16) & 15) * 16 + ((j + 16) % 16)]; };
    const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    int n = 0;
    for (int di = -1; di <= 1; ++di)
        for (int dj = -1; dj <= 1; ++dj) {
            if (!di && !dj) continue;
            n += at(i + di, j + dj);
        }
    switch (n) {
    case 2: y[i * 16 + j] = at(i, j); break;
    case 3: y[i * 16 + j] = 1; break;
    default: y[i * 16 + j] = 0;
    }
}

//@ case: mandelbrot_smooth_uchar4
//@ grid: (2, 2)
//@ block: (16, 16)
//@ out img: np.zeros((32, 32, 4), np.uint8)
//@ check: img[16, 20].tolist() == [0, 0, 0, 255] and (img[..., 3] == 255).all() and len(np.unique(img[..., 0])) > 5
template <class T> __device__ inline int CalcMandelbrot(const T xPos, const T yPos, const T xJParam, const T yJParam, const int crunch, const bool isJulia) {
    T x, y, xx, yy; T xC, yC;
    if (isJulia) { xC = xJParam; yC = yJParam; y = yPos; x = xPos; yy = y * y; xx = x * x; }
    else { xC = xPos; yC = yPos; y = 0; x = 0; yy = 0; xx = 0; }
    int i = crunch;
    while (--i && (xx + yy < T(4.0))) { y = x * y * T(2.0) + yC; x = xx - yy + xC; yy = y * y; xx = x * x; }
    return i;
}
__device__ int blockCounter_unused;
extern "C" __global__ void k(uchar4 *dst) {
    const int ix = blockDim.x * blockIdx.x + threadIdx.x, iy = blockDim.y * blockIdx.y + threadIdx.y;
    const double xPos = (double)ix / 12 - 2.0, yPos = (double)iy / 12 - 1.33;
    int m = CalcMandelbrot<double>(xPos, yPos, 0, 0, 256, false);
    m = m > 0 ? 256 - m : 0;
    uchar4 color;
    if (m) { m += 1; color.x = m * 3; color.y = m * 5; color.z = m * 7; color.w = 255; } else color = make_uchar4(0, 0, 0, 255);
    int pixel = 32 * iy + ix;
    dst[pixel] = color;
}

//@ case: radix_sort_one_block
//@ block: 256
//@ out x: rng.integers(0, 2**32, 256).astype(np.uint32)
//@ expect x: np.sort(x)
__device__ unsigned scan_block(unsigned v, volatile unsigned *s) {
    const unsigned lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    unsigned inc = v;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) { unsigned o = __shfl_up_sync(0xFFFFFFFF, inc, d); if (lane >= d) inc += o; }
    if (lane == 31) s[w] = inc;
    __syncthreads();
    if (w == 0) { unsigned t = lane < 8 ? s[lane] : 0; for (int d = 1; d < 8; d <<= 1) { unsigned o = __shfl_up_sync(0xFFFFFFFF, t, d); if (lane >= d) t += o; } if (lane < 8) s[lane] = t; }
    __syncthreads();
    unsigned r = inc - v + (w ? s[w - 1] : 0);
    __syncthreads();
    return r;
}
extern "C" __global__ __launch_bounds__(256) void k(unsigned *x) {
    __shared__ unsigned keys[256], sums[32], falses;
    unsigned key = x[threadIdx.x];
    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned one = (key >> bit) & 1u, zero = one ^ 1u;
        unsigned pos0 = scan_block(zero, sums);
        if (threadIdx.x == 255) falses = pos0 + zero;
        __syncthreads();
        keys[one ? falses + threadIdx.x - pos0 : pos0] = key;
        __syncthreads();
        key = keys[threadIdx.x];
        __syncthreads();
    }
    x[threadIdx.x] = key;
}

//@ case: csr_spmv_vector_kernel
//@ grid: 2
//@ block: (32, 4)
//@ in ptr: np.array([0, 3, 3, 40, 41, 60, 61, 62, 100], np.int32)
//@ in idx: rng.integers(0, 50, 100).astype(np.int32)
//@ in val: rng.random(100)
//@ in x: rng.random(50)
//@ out y: np.zeros(8)
//@ expect y: [(val[a:b] * x[idx[a:b]]).sum() for a, b in zip(ptr, ptr[1:])]
//@ rtol: 1e-12
template <typename IndexType, typename ValueType, unsigned WARP>
__device__ __forceinline__ ValueType row_dot(const IndexType lo, const IndexType hi, const IndexType *Aj, const ValueType *Ax, const ValueType *x) {
    ValueType sum = 0;
    for (IndexType jj = lo + threadIdx.x; jj < hi; jj += WARP) sum += __ldg(Ax + jj) * __ldg(&x[Aj[jj]]);
    for (unsigned s = WARP >> 1; s; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s, WARP);
    return sum;
}
extern "C" __global__ void k(const int *Ap, const int *Aj, const double *Ax, const double *x, double *y) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    const double s = row_dot<int, double, 32>(Ap[row], Ap[row + 1], Aj, Ax, x);
    if (threadIdx.x == 0) y[row] = s;
}

//@ case: jacobi_shared_halo_ping_pong
//@ block: (18, 18)
//@ in x: rng.random((18, 18)).astype(np.float32)
//@ out y: np.zeros((18, 18), np.float32)
//@ check: abs(y[1:-1, 1:-1].mean() - x[1:-1, 1:-1].mean()) < 0.2 and (y[0] == x[0]).all()
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float buf[2][18][18];
    const int i = threadIdx.y, j = threadIdx.x;
    float (*cur)[18] = buf[0], (*nxt)[18] = buf[1];
    cur[i][j] = nxt[i][j] = x[i * 18 + j];
    __syncthreads();
    for (int it = 0; it < 20; ++it) {
        if (i > 0 && i < 17 && j > 0 && j < 17) nxt[i][j] = 0.25f * (cur[i - 1][j] + cur[i + 1][j] + cur[i][j - 1] + cur[i][j + 1]);
        __syncthreads();
        float (*t)[18] = cur; cur = nxt; nxt = t;
    }
    y[i * 18 + j] = cur[i][j];
}

//@ case: lu_one_block_pivot
//@ block: 16
//@ out a: rng.random((16, 16)) + 16 * np.eye(16)
//@ check: np.isfinite(a).all()
extern "C" __global__ void k(double *a) {
    __shared__ double A[16][17];
    const unsigned t = threadIdx.x;
    for (int i = 0; i < 16; ++i) A[i][t] = a[i * 16 + t];
    __syncthreads();
    for (int p = 0; p < 15; ++p) {
        if (t > p) A[t][p] /= A[p][p];
        __syncthreads();
        if (t > p) for (int j = p + 1; j < 16; ++j) A[t][j] -= A[t][p] * A[p][j];
        __syncthreads();
    }
    for (int i = 0; i < 16; ++i) a[i * 16 + t] = A[i][t];
}
