// Texture and surface objects. Coordinates are in texels, texel centres at .5, if nothing else is said.

//@ case: fetch_from_linear_memory
//@ block: 10
//@ texture t: dict(data=np.arange(8, dtype=np.float32)[:, None] * 1.5, linear_memory=True)
//@ out y: np.ones(10, np.float32)
//@ expect y: [1.5 * i for i in range(8)] + [0, 0]
extern "C" __global__ void k(cudaTextureObject_t t, float *y) { y[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }

//@ case: fetch_integers_and_vectors
//@ block: 8
//@ texture t: dict(data=np.arange(32, dtype=np.int32).reshape(8, 4) - 5, linear_memory=True, as_integer=True)
//@ texture u: dict(data=np.arange(8, dtype=np.uint8)[:, None] * 30, linear_memory=True, as_integer=True)
//@ out y: np.zeros((8, 5), np.int32)
//@ expect y: np.c_[np.arange(32).reshape(8, 4) - 5, np.arange(8) * 30]
extern "C" __global__ void k(cudaTextureObject_t t, cudaTextureObject_t u, int *y) {
    int4 v = tex1Dfetch<int4>(t, threadIdx.x);
    int *p = y + 5 * threadIdx.x;
    p[0] = v.x; p[1] = v.y; p[2] = v.z; p[3] = v.w; p[4] = tex1Dfetch<unsigned char>(u, threadIdx.x);
}

//@ case: normalized_values
//@ block: 4
//@ texture t: dict(data=np.array([0, 51, 102, 255], np.uint8)[:, None])
//@ texture u: dict(data=np.array([-32768, -32767, 0, 32767], np.int16)[:, None])
//@ out y: np.zeros((2, 4), np.float32)
//@ expect y: [[0, 0.2, 0.4, 1], [-1, -1, 0, 1]]
//@ rtol: 1e-6
extern "C" __global__ void k(cudaTextureObject_t t, cudaTextureObject_t u, float *y) {
    y[threadIdx.x] = tex1D<float>(t, threadIdx.x + 0.5f);
    y[4 + threadIdx.x] = tex1D<float>(u, threadIdx.x + 0.5f);
}

//@ case: nearest_texel_and_clamping
//@ block: 8
//@ in x: np.array([-3, 0, 0.99, 1, 2.5, 3.99, 4, 1e9], np.float32)
//@ texture t: dict(data=np.array([10, 20, 30, 40], np.float32)[:, None])
//@ out y: np.zeros(8, np.float32)
//@ expect y: [10, 10, 10, 20, 30, 40, 40, 40]
extern "C" __global__ void k(const float *x, cudaTextureObject_t t, float *y) { y[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]); }

//@ case: wrapping
//@ block: 7
//@ in x: np.array([0.1, 0.6, 1.1, -0.1, 2.9, -1.4, 5.3], np.float32)
//@ texture t: dict(data=np.array([10, 20, 30, 40], np.float32)[:, None], address="wrap", normalized=True)
//@ out y: np.zeros(7, np.float32)
//@ expect y: [10, 30, 10, 40, 40, 30, 20]
extern "C" __global__ void k(const float *x, cudaTextureObject_t t, float *y) { y[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]); }

//@ case: mirroring
//@ block: 6
//@ in x: np.array([0.1, 1.1, 1.9, -0.1, 2.1, -0.9], np.float32)
//@ texture t: dict(data=np.array([10, 20, 30, 40], np.float32)[:, None], address="mirror", normalized=True)
//@ out y: np.zeros(6, np.float32)
//@ expect y: [10, 40, 10, 10, 10, 40]
extern "C" __global__ void k(const float *x, cudaTextureObject_t t, float *y) { y[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]); }

//@ case: border
//@ block: 5
//@ in x: np.array([-0.5, 0.5, 3.5, 4.5, 100], np.float32)
//@ texture t: dict(data=np.array([10, 20, 30, 40], np.float32)[:, None], address="border")
//@ out y: np.ones(5, np.float32)
//@ expect y: [0, 10, 40, 0, 0]
extern "C" __global__ void k(const float *x, cudaTextureObject_t t, float *y) { y[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]); }

//@ case: linear_filter
//@ block: 200
//@ in x: np.linspace(-1, 6, 200).astype(np.float32)
//@ texture t: dict(data=np.array([10, 20, 40, 10, 0], np.float32)[:, None], filter="linear")
//@ out y: np.zeros(200, np.float32)
//@ expect y: filtered(np.array([10, 20, 40, 10, 0.0]), x)
//@ atol: 0.16
extern "C" __global__ void k(const float *x, cudaTextureObject_t t, float *y) { y[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]); }

//@ case: weights_have_eight_bits
//@ block: 3
//@ in x: np.array([0.5 + 1 / 256, 0.5 + 0.9 / 512, 0.5 + 77 / 256], np.float32)
//@ texture t: dict(data=np.array([0, 256], np.float32)[:, None], filter="linear")
//@ out y: np.ones(3, np.float32)
//@ expect y: [1, 0, 77]
extern "C" __global__ void k(const float *x, cudaTextureObject_t t, float *y) { y[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]); }

//@ case: two_dimensions
//@ block: (8, 4)
//@ texture t: dict(data=np.arange(32, dtype=np.float32).reshape(4, 8, 1))
//@ out y: np.zeros((4, 8), np.float32)
//@ expect y: np.arange(32).reshape(4, 8)
extern "C" __global__ void k(cudaTextureObject_t t, float *y) { y[threadIdx.y * 8 + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f); }

//@ case: linear_filter_in_two_dimensions
//@ block: 1
//@ texture t: dict(data=np.array([[[0, 1, 2, 3], [4, 5, 6, 7]], [[8, 9, 10, 11], [12, 13, 14, 15]]], np.float32), filter="linear", normalized=True)
//@ out y: np.zeros((2, 4), np.float32)
//@ expect y: [[6, 7, 8, 9], [4, 5, 6, 7]]
extern "C" __global__ void k(cudaTextureObject_t t, float4 *y) { y[0] = tex2D<float4>(t, 0.5f, 0.5f); y[1] = tex2D<float4>(t, 1.0f, 0.0f); }

//@ case: three_dimensions
//@ block: (3, 4, 2)
//@ texture t: dict(data=np.arange(24, dtype=np.int16).reshape(2, 4, 3, 1), as_integer=True)
//@ out y: np.zeros((2, 4, 3), np.int32)
//@ expect y: np.arange(24).reshape(2, 4, 3)
extern "C" __global__ void k(cudaTextureObject_t t, int *y) {
    y[(threadIdx.z * 4 + threadIdx.y) * 3 + threadIdx.x] = tex3D<short>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z + 0.5f);
}

//@ case: linear_filter_in_three_dimensions
//@ block: 1
//@ texture t: dict(data=np.arange(8, dtype=np.float32).reshape(2, 2, 2, 1), filter="linear")
//@ out y: np.zeros(3, np.float32)
//@ expect y: [3.5, 0, 0.5]
extern "C" __global__ void k(cudaTextureObject_t t, float *y) { y[0] = tex3D<float>(t, 1, 1, 1); y[1] = tex3D<float>(t, 0, 0, 0); tex3D(&y[2], t, 1.0f, 0.5f, 0.5f); }

//@ case: layers
//@ block: (4, 3)
//@ texture t: dict(data=np.arange(24, dtype=np.float32).reshape(3, 2, 4, 1), layered=True)
//@ out y: np.zeros((3, 4), np.float32)
//@ expect y: np.arange(24).reshape(3, 2, 4)[:, 1]
extern "C" __global__ void k(cudaTextureObject_t t, float *y) { y[threadIdx.y * 4 + threadIdx.x] = tex2DLayered<float>(t, threadIdx.x + 0.5f, 1.5f, threadIdx.y); }

//@ case: half_texels
//@ block: 4
//@ texture t: dict(data=np.array([[0.5, 1], [2, -3], [65504, 2.0**-24], [0, 7]], np.float16))
//@ out y: np.zeros((4, 2), np.float32)
//@ expect y: [[0.5, 1], [2, -3], [65504, 2.0**-24], [0, 7]]
extern "C" __global__ void k(cudaTextureObject_t t, float2 *y) { y[threadIdx.x] = tex1D<float2>(t, threadIdx.x + 0.5f); }

//@ case: gather
//@ block: 1
//@ texture t: dict(data=np.arange(32, dtype=np.float32).reshape(4, 4, 2))
//@ out y: np.zeros((2, 4), np.float32)
//@ expect y: [[16, 18, 10, 8], [17, 19, 11, 9]]
//@ simulator: True
extern "C" __global__ void k(cudaTextureObject_t t, float4 *y) { y[0] = tex2Dgather<float4>(t, 1.0f, 2.0f, 0); y[1] = tex2Dgather<float4>(t, 1.0f, 2.0f, 1); }

//@ case: surface_read_and_write
//@ block: (8, 4)
//@ surface s: dict(data=np.arange(32, dtype=np.float32).reshape(4, 8, 1))
//@ out y: np.zeros((4, 8), np.float32)
//@ expect y: np.arange(32).reshape(4, 8)
//@ expect s: np.arange(32).reshape(4, 8, 1) * 2
extern "C" __global__ void k(cudaSurfaceObject_t s, float *y) {
    float v = surf2Dread<float>(s, threadIdx.x * 4, threadIdx.y);
    y[threadIdx.y * 8 + threadIdx.x] = v;
    surf2Dwrite(2 * v, s, threadIdx.x * 4, threadIdx.y);
}

//@ case: surface_boundaries
//@ block: 1
//@ surface s: dict(data=np.arange(1, 5, dtype=np.int32)[:, None])
//@ out y: np.ones(4, np.int32)
//@ expect y: [0, 4, 1, 0]
//@ expect s: [[1], [2], [3], [4]]
extern "C" __global__ void k(cudaSurfaceObject_t s, int *y) {
    y[0] = surf1Dread<int>(s, 16, cudaBoundaryModeZero); y[1] = surf1Dread<int>(s, 16, cudaBoundaryModeClamp); y[2] = surf1Dread<int>(s, -4, cudaBoundaryModeClamp);
    surf1Dread(&y[3], s, -4, cudaBoundaryModeZero);
    surf1Dwrite(99, s, 16, cudaBoundaryModeZero);
}

//@ case: surface_in_three_dimensions
//@ block: (2, 3, 4)
//@ surface s: dict(data=np.zeros((4, 3, 2, 2), np.uint8))
//@ expect s: np.arange(48).reshape(4, 3, 2, 2)
extern "C" __global__ void k(cudaSurfaceObject_t s) {
    unsigned char n = 2 * ((threadIdx.z * 3 + threadIdx.y) * 2 + threadIdx.x);
    surf3Dwrite(make_uchar2(n, n + 1), s, threadIdx.x * 2, threadIdx.y, threadIdx.z);
}
