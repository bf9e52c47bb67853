// Inline PTX that programs use.

//@ case: special_registers
//@ grid: 2
//@ block: 64
//@ out y: np.zeros((8, 128), np.uint32)
//@ expect y: [np.arange(128) % 32, np.arange(128) % 64, [64] * 128, np.arange(128) // 64, [2] * 128, 2 ** (np.arange(128) % 32) - 1,
//@+         2 ** (np.arange(128) % 32), 2**32 - 2 ** (np.arange(128) % 32 + 1)]
extern "C" __global__ void k(unsigned *y) {
    unsigned r[8];
    asm("mov.u32 %0, %%laneid;" : "=r"(r[0]));
    asm("mov.u32 %0, %%tid.x;" : "=r"(r[1]));
    asm("mov.u32 %0, %%ntid.x;" : "=r"(r[2]));
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(r[3]));
    asm("mov.u32 %0, %%nctaid.x;" : "=r"(r[4]));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(r[5]));
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(r[6]));
    asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(r[7]));
    for (int j = 0; j < 8; j++) y[128 * j + blockIdx.x * 64 + threadIdx.x] = r[j];
}

//@ case: clocks_and_places
//@ block: 1
//@ out y: np.zeros(4, np.uint64)
//@ check: y[1] >= y[0] and y[3] == 1
extern "C" __global__ void k(unsigned long long *y) {
    unsigned c, w, s;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(y[0]));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
    asm volatile("mov.u32 %0, %%warpid;\n\tmov.u32 %1, %%smid;" : "=r"(w), "=r"(s));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(y[1]));
    y[2] = c + w + s;
    y[3] = 1;
}

//@ case: bit_fields
//@ block: 4
//@ in x: np.array([0, 0xffffffff, 0x12345678, 0x80000001], np.uint32)
//@ out y: np.zeros((5, 4), np.uint32)
//@ expect y: [(x >> 8) & 0xff, [signed(int(v) >> 8, 8) % 2**32 for v in x], (x & 0xffff00ff) | 0xab00, [int(f"{v:032b}"[::-1], 2) for v in x], [int(v).bit_count() for v in x]]
extern "C" __global__ void k(const unsigned *x, unsigned *y) {
    int i = threadIdx.x;
    unsigned v = x[i];
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(y[i]) : "r"(v), "r"(8), "r"(8));
    asm("bfe.s32 %0, %1, 8, 8;" : "=r"(y[4 + i]) : "r"(v));
    asm("bfi.b32 %0, %1, %2, 8, 8;" : "=r"(y[8 + i]) : "r"(0xab), "r"(v));
    asm("brev.b32 %0, %1;" : "=r"(y[12 + i]) : "r"(v));
    asm("popc.b32 %0, %1;" : "=r"(y[16 + i]) : "r"(v));
}

//@ case: permute_and_logic
//@ block: 1
//@ out y: np.zeros(4, np.uint32)
//@ expect y: [0x66554433, 0x0ff0f00f ^ 0x33333333 ^ 0x55555555, (0x0ff0f00f & 0x33333333) | 0x55555555, 0xffffffff]
extern "C" __global__ void k(unsigned *y) {
    unsigned a = 0x33221100, b = 0x77665544, x = 0x0ff0f00f, z = 0x33333333, w = 0x55555555;
    asm("prmt.b32 %0, %1, %2, 0x6543;" : "=r"(y[0]) : "r"(a), "r"(b));
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(y[1]) : "r"(x), "r"(z), "r"(w));
    asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(y[2]) : "r"(x), "r"(z), "r"(w));
    asm("prmt.b32 %0, %1, %2, 0x9998;" : "=r"(y[3]) : "r"(0x8899u), "r"(0u));
}

//@ case: carry
//@ block: 1
//@ out y: np.zeros(4, np.uint32)
//@ expect y: [0, 0, 1, 0xffffffff]
extern "C" __global__ void k(unsigned *y) {
    asm("{\n\t"
        "add.cc.u32 %0, %3, 1;\n\t"
        "addc.cc.u32 %1, %3, 0;\n\t"
        "addc.u32 %2, 0, 0;\n\t"
        "}"
        : "=r"(y[0]), "=r"(y[1]), "=r"(y[2])
        : "r"(0xffffffffu));
    asm("{ .reg .u32 t; sub.cc.u32 t, 0, 1; subc.u32 %0, 0, 0; }" : "=r"(y[3]));
}

//@ case: products
//@ block: 1
//@ out y: np.zeros(4, np.uint64)
//@ expect y: np.array([0xfffffffe00000001, 0xfffffffe, 0xffffffff * 7 + 5, 0xfffffffffffffffe], np.uint64)
extern "C" __global__ void k(unsigned long long *y) {
    unsigned a = 0xffffffffu, h;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(y[0]) : "r"(a), "r"(a));
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(h) : "r"(a), "r"(a));
    y[1] = h;
    asm("mad.wide.u32 %0, %1, 7, %2;" : "=l"(y[2]) : "r"(a), "l"(5ull));
    asm("mul.hi.u64 %0, %1, %2;" : "=l"(y[3]) : "l"(~0ull), "l"(~0ull));
}

//@ case: shuffles
//@ out y: np.zeros((4, 32), np.int32)
//@ expect y: [np.arange(32) ^ 3, shuffle_down(32, 4), shuffle_up(32, 2), (np.arange(32) >= 2) * 1]
extern "C" __global__ void k(int *y) {
    int t = threadIdx.x, r, p;
    asm volatile("shfl.sync.bfly.b32 %0, %1, 3, 0x1f, 0xffffffff;" : "=r"(y[t]) : "r"(t));
    asm volatile("shfl.sync.down.b32 %0, %1, %2, %3, %4;" : "=r"(y[32 + t]) : "r"(t), "r"(4), "r"(0x1f), "r"(~0u));
    asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 2, 0, 0xffffffff; selp.s32 %1, 1, 0, p; }" : "=r"(r), "=r"(p) : "r"(t));
    y[64 + t] = r;
    y[96 + t] = p;
}

//@ case: votes
//@ out y: np.zeros((3, 32), np.uint32)
//@ expect y: [[0x11111111] * 32, [1] * 32, [0xffffffff] * 32]
extern "C" __global__ void k(unsigned *y) {
    unsigned t = threadIdx.x, b, a, m;
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(b) : "r"(t % 4));
    asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 3; vote.sync.any.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(a) : "r"(t));
    asm volatile("activemask.b32 %0;" : "=r"(m));
    y[t] = b; y[32 + t] = a; y[64 + t] = m;
}

//@ case: memory
//@ block: 8
//@ in x: np.arange(8, dtype=np.float32)
//@ out y: np.zeros((3, 8), np.float32)
//@ out n: np.zeros(2, np.uint32)
//@ expect y: [np.arange(8), np.arange(8) * 2, [4, 5, 6, 7, 4, 5, 6, 7]]
//@ expect n: [8, 28]
extern "C" __global__ void k(const float *x, float *y, unsigned *n) {
    int t = threadIdx.x;
    float v, a, b, c, d;
    unsigned old;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(x + t));
    asm volatile("st.global.cg.f32 [%0], %1;" ::"l"(y + t), "f"(v) : "memory");
    asm volatile("ld.volatile.global.f32 %0, [%1+0];" : "=f"(v) : "l"(x + t));
    asm volatile("st.global.f32 [%0+32], %1;" ::"l"(y + t), "f"(2 * v) : "memory");
    asm("ld.global.v4.f32 {%0, %1, %2, %3}, [%4+16];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(x));
    y[16 + t] = t % 4 == 0 ? a : t % 4 == 1 ? b : t % 4 == 2 ? c : d;
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(n) : "memory");
    asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(n + 1), "r"(t) : "memory");
    asm volatile("membar.gl;" ::: "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

//@ case: floating_point
//@ block: 64
//@ in x: np.linspace(0.1, 3, 64).astype(np.float32)
//@ out y: np.zeros((7, 64), np.float32)
//@ expect y: [x.astype(float) ** 2 + x, 1 / x.astype(float), np.sqrt(x.astype(float)), 2.0**x, np.log2(x.astype(float)), x.astype(float)**-0.5, np.sin(x.astype(float))]
//@ rtol: 1e-5
//@ atol: 2e-6
extern "C" __global__ void k(const float *x, float *y) {
    int i = threadIdx.x;
    float v = x[i];
    asm("fma.rn.f32 %0, %1, %1, %1;" : "=f"(y[i]) : "f"(v));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y[64 + i]) : "f"(v));
    asm("sqrt.approx.f32 %0, %1;" : "=f"(y[128 + i]) : "f"(v));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y[192 + i]) : "f"(v));
    asm("lg2.approx.f32 %0, %1;" : "=f"(y[256 + i]) : "f"(v));
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y[320 + i]) : "f"(v));
    asm("sin.approx.f32 %0, %1;" : "=f"(y[384 + i]) : "f"(v));
}

//@ case: conversions_and_predicates
//@ block: 4
//@ in x: np.array([-2.5, 0.5, 3.7, 1e20], np.float32)
//@ out y: np.zeros((4, 4), np.int32)
//@ expect y: [[-2, 0, 3, 2**31 - 1], [-2, 0, 4, 2**31 - 1], [0, 0, 3, -1], [10, 10, 20, 20]]
extern "C" __global__ void k(const float *x, int *y) {
    int i = threadIdx.x;
    asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(y[i]) : "f"(x[i]));
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(y[4 + i]) : "f"(x[i]));
    asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(y[8 + i]) : "f"(x[i]));
    asm("{\n"
        ".reg .pred big;\n"
        "setp.gt.f32 big, %1, 0f40000000;\n" /* 2.0 */
        "@big mov.u32 %0, 20;\n"
        "@!big mov.u32 %0, 10;\n"
        "}" : "=r"(y[12 + i]) : "f"(x[i]));
}

//@ case: pairs_and_doubles
//@ block: 1
//@ out y: np.zeros(3, np.uint64)
//@ expect y: [0x0000000500000007, 12, 0x4008000000000000]
extern "C" __global__ void k(unsigned long long *y) {
    unsigned low, high;
    asm("mov.b64 %0, {%1, %2};" : "=l"(y[0]) : "r"(7), "r"(5));
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(y[0]));
    y[1] = low + high;
    double d;
    asm("add.f64 %0, %1, 0d3FF0000000000000;" : "=d"(d) : "d"(2.0));
    y[2] = __double_as_longlong(d);
}

//@ case: barrier_for_the_compiler
//@ block: 1
//@ out y: np.zeros(1, np.int32)
//@ expect y: [3]
extern "C" __global__ void k(int *y) {
    *y = 1;
    asm volatile("" ::: "memory");
    *y = 3;
}

//@ case: ptx_memory
//@ block: 32
//@ in x: rng.integers(0, 1000, (32, 4)).astype(np.int32)
//@ out y: np.zeros((32, 4), np.int32)
//@ out s: np.zeros(32, np.int32)
//@ expect y: x
//@ expect s: x.sum(1)
extern "C" __global__ void k(const int4 *x, int4 *y, int *s) {
    int4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(x + threadIdx.x));
    asm volatile("st.global.cs.v4.s32 [%0], {%1, %2, %3, %4};" :: "l"(y + threadIdx.x), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    asm volatile("prefetch.global.L2 [%0];" :: "l"(x));
    asm volatile("red.global.add.s32 [%0], %1;" :: "l"(s + threadIdx.x), "r"(v.x + v.y + v.z + v.w) : "memory");
    int a;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(a) : "l"(s + threadIdx.x));
    asm volatile("membar.gl;" ::: "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (a != v.x + v.y + v.z + v.w) s[threadIdx.x] = -1;
}

//@ case: ptx_video
//@ block: 32
//@ in a: rng.integers(0, 256, (32, 4)).astype(np.uint8)
//@ in b: rng.integers(0, 256, (32, 4)).astype(np.uint8)
//@ out y: np.zeros((6, 32), np.uint32)
//@ expect y: np.stack([
//@+     abs(a.astype(int) - b).sum(1) + 7,
//@+     abs(a.astype(int) - b).astype(np.uint8).view(np.uint32).ravel(),
//@+     (a + b).view(np.uint32).ravel(),
//@+     np.minimum(a.view(np.int8), b.view(np.int8)).view(np.uint32).ravel(),
//@+     np.maximum(a.view(np.uint16), b.view(np.uint16)).view(np.uint32).ravel(),
//@+     (a.view(np.int8).astype(int) - b.view(np.int8)).sum(1),
//@+ ]).astype(np.uint32)
extern "C" __global__ void k(const unsigned *a, const unsigned *b, unsigned (*y)[32]) {
    unsigned i = threadIdx.x, x = a[i], z = b[i], r[6];
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r[0]) : "r"(x), "r"(z), "r"(7));
    asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r[1]) : "r"(x), "r"(z), "r"(0));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r[2]) : "r"(x), "r"(z), "r"(0));
    asm("vmin4.s32.s32.s32 %0, %1, %2, %3;" : "=r"(r[3]) : "r"(x), "r"(z), "r"(0));
    asm("vmax2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r[4]) : "r"(x), "r"(z), "r"(0));
    asm("vsub4.s32.s32.s32.add %0, %1, %2, %3;" : "=r"(r[5]) : "r"(x), "r"(z), "r"(0));
    for (int j = 0; j < 6; j++) y[j][i] = r[j];
}
