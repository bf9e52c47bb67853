// The language: what C++17 and CUDA's additions give.

//@ case: templates
//@ block: 8
//@ out y: np.zeros(8)
//@ expect y: np.arange(8) ** 3 + 0.5
template <int N, class T> __device__ T power(T x) { if constexpr (N == 0) return 1; else return x * power<N - 1>(x); }
template <class T, int N> __global__ void kernel(T *y, T offset) { y[threadIdx.x] = power<N>((T)threadIdx.x) + offset; }
template __global__ void kernel<double, 3>(double *, double);
extern "C" __global__ void k(double *y) { y[threadIdx.x] = power<3>((double)threadIdx.x) + 0.5; }

//@ case: template_kernel
//@ block: 8
//@ kernel: _Z6scaledIfLi3EEvPT_
//@ out y: np.arange(8, dtype=np.float32)
//@ expect y: 3 * y
template <class T, int N> __global__ void scaled(T *y) { y[threadIdx.x] *= N; }
template __global__ void scaled<float, 3>(float *);

//@ case: lambdas
//@ block: 8
//@ out y: np.zeros(8, np.int32)
//@ expect y: 7 * np.arange(8) + 3
template <class F> __device__ int apply(F f, int x) { return f(x); }
extern "C" __global__ void k(int *y) {
    int a = 7, b = 3;
    auto line = [=](int x) { return a * x + b; };
    auto outer = [&](int x) { return apply(line, x); };
    y[threadIdx.x] = outer((int)threadIdx.x);
}

//@ case: lambda_uses_indices
//@ grid: 2
//@ block: 8
//@ out y: np.zeros(16, np.int32)
//@ expect y: np.arange(16)
extern "C" __global__ void k(int *y) {
    auto where = [] { return blockIdx.x * blockDim.x + threadIdx.x; };
    y[where()] = where();
}

//@ case: virtual_functions
//@ block: 6
//@ out y: np.zeros(6, np.float32)
//@ expect y: [0, 1, 4, 3, 8, 5]
struct Shape { float r; __device__ Shape(float r_) : r(r_) {} __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} };
struct Line : Shape { using Shape::Shape; __device__ Line(float r) : Shape(r) {} __device__ float area() const override { return r; } };
struct Twice : Shape { __device__ Twice(float r) : Shape(r) {} __device__ float area() const override { return 2 * r; } };
extern "C" __global__ void k(float *y) {
    Line line(threadIdx.x);
    Twice twice(threadIdx.x);
    const Shape *s = threadIdx.x % 2 ? (const Shape *)&line : &twice;
    y[threadIdx.x] = s->area();
}

//@ case: functors_and_operators
//@ block: 8
//@ out y: np.zeros((8, 2))
//@ expect y: np.stack([1 - np.arange(8.0) ** 2, 2 * np.arange(8)], 1)
struct Complex {
    double re, im;
    __host__ __device__ Complex operator*(const Complex &o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
    __host__ __device__ Complex &operator*=(const Complex &o) { return *this = *this * o; }
};
struct Square { __device__ Complex operator()(Complex c) const { c *= c; return c; } };
extern "C" __global__ void k(double *y) {
    Complex c = Square()({1, (double)threadIdx.x});
    y[2 * threadIdx.x] = c.re;
    y[2 * threadIdx.x + 1] = c.im;
}

//@ case: variadic_templates
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: np.arange(4) * 4 + 6
template <class... A> __device__ int sum(A... a) { return (a + ... + 0); }
template <int... I> struct List { __device__ static int at(int x) { return sum((I + x)...); } };
extern "C" __global__ void k(int *y) { y[threadIdx.x] = List<0, 1, 2, 3>::at(threadIdx.x); }

//@ case: recursion
//@ block: 12
//@ out y: np.zeros(12, np.uint32)
//@ expect y: [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
__device__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void k(unsigned *y) { y[threadIdx.x] = fibonacci(threadIdx.x); }

//@ case: function_pointers
//@ block: 9
//@ out y: np.zeros(9, np.float32)
//@ expect y: [0, 3, -1, 3, 6, -1, 6, 9, -1]
typedef float (*Op)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ Op table[2] = {add, sub};
extern "C" __global__ void k(float *y) {
    int i = threadIdx.x;
    Op op = i % 3 == 0 ? [](float a, float b) { return a * b; } : table[i % 3 - 1];
    y[i] = i % 3 == 0 ? op(i, 1) : i % 3 == 1 ? op(i, 2) : op(i, i + 1);
}

//@ case: new_and_delete
//@ block: 32
//@ out y: np.zeros(32, np.int32)
//@ expect y: np.arange(32) * (np.arange(32) + 1) // 2
struct Node { int value; Node *next; };
extern "C" __global__ void k(int *y) {
    Node *head = nullptr;
    for (int i = 0; i <= (int)threadIdx.x; i++) head = new Node{i, head};
    int sum = 0;
    while (head) {
        sum += head->value;
        Node *next = head->next;
        delete head;
        head = next;
    }
    y[threadIdx.x] = sum;
}

//@ case: malloc_and_free
//@ block: 16
//@ out y: np.zeros(16, np.float32)
//@ expect y: np.arange(16) * 10.0
extern "C" __global__ void k(float *y) {
    float *p = (float *)malloc(10 * sizeof(float));
    for (int i = 0; i < 10; i++) p[i] = threadIdx.x;
    float s = 0;
    for (int i = 0; i < 10; i++) s += p[i];
    free(p);
    y[threadIdx.x] = s;
}

//@ case: placement_new
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: [5, 6, 7, 8]
struct S { int a; __device__ explicit S(int x) : a(x + 5) {} __device__ ~S() { a = 0; } };
extern "C" __global__ void k(int *y) {
    alignas(S) char room[sizeof(S)];
    S *s = new (room) S(threadIdx.x);
    y[threadIdx.x] = s->a;
    s->~S();
}

//@ case: constexpr_tables
//@ block: 6
//@ out y: np.zeros(6, np.int32)
//@ expect y: [1, 1, 2, 6, 24, 120]
struct Table { int v[6]; };
__host__ __device__ constexpr Table make() {
    Table t{};
    t.v[0] = 1;
    for (int i = 1; i < 6; i++) t.v[i] = t.v[i - 1] * i;
    return t;
}
__constant__ constexpr Table table = make();
static_assert(make().v[5] == 120, "");
extern "C" __global__ void k(int *y) { y[threadIdx.x] = table.v[threadIdx.x]; }

//@ case: structured_bindings_and_ranges
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: 10 + 2 * np.arange(4)
struct P { int a, b; };
extern "C" __global__ void k(int *y) {
    P p{(int)threadIdx.x, 2};
    auto [a, b] = p;
    int sum = a * b, values[] = {1, 2, 3, 4};
    for (int v : values) sum += v;
    y[threadIdx.x] = sum;
}

//@ case: enums_unions_bit_fields
//@ block: 4
//@ out y: np.zeros(4, np.uint32)
//@ expect y: [0x3f800000, 1, 2, 0x35]
enum class Kind : unsigned char { bits, one, two, field };
union U { float f; unsigned u; };
struct F { unsigned low : 4, high : 4; };
extern "C" __global__ void k(unsigned *y) {
    U u;
    u.f = 1.0f;
    F f{5, 3};
    switch ((Kind)threadIdx.x) {
    case Kind::bits: y[threadIdx.x] = u.u; break;
    case Kind::one: case Kind::two: y[threadIdx.x] = threadIdx.x; break;
    default: y[threadIdx.x] = f.high << 4 | f.low;
    }
}

//@ case: namespaces_and_static_members
//@ block: 4
//@ out y: np.zeros(4, np.int32)
//@ expect y: np.arange(4) * 3 + 1
namespace a { namespace b { struct C { static constexpr int three = 3; static __device__ int line(int x); }; } }
__device__ int a::b::C::line(int x) { return three * x + 1; }
using namespace a::b;
extern "C" __global__ void k(int *y) { y[threadIdx.x] = C::line(threadIdx.x); }

//@ case: std_move_and_initializer_list
//@ block: 1
//@ out y: np.zeros(2, np.int32)
//@ expect y: [6, 9]
__device__ int sum(std::initializer_list<int> list) { int s = 0; for (int v : list) s += v; return s; }
struct M { int v; __device__ M(int x) : v(x) {} __device__ M(M &&o) : v(o.v) { o.v = 0; } };
extern "C" __global__ void k(int *y) {
    y[0] = sum({1, 2, 3});
    M a(9), b(std::move(a));
    y[1] = b.v + a.v;
}

//@ case: local_arrays_and_pointers
//@ block: 8
//@ out y: np.zeros(8, np.int32)
//@ expect y: np.arange(8)[::-1]
__device__ void reverse(int *a, int n) { for (int i = 0; i < n / 2; i++) { int t = a[i]; a[i] = a[n - 1 - i]; a[n - 1 - i] = t; } }
extern "C" __global__ void k(int *y) {
    int a[8];
    for (int i = 0; i < 8; i++) a[i] = i;
    reverse(a, 8);
    y[threadIdx.x] = a[threadIdx.x];
}

//@ case: wrapping_and_shifts
//@ block: 1
//@ out y: np.zeros(6, np.uint32)
//@ in s: np.int32(35)
//@ in big: np.int32(2**31 - 1)
//@ expect y: [2**31, 0, 0, 2**32 - 1, 5, 0xf0000000]
extern "C" __global__ void k(unsigned *y, int s, int big) {
    y[0] = (unsigned)(big + 1);
    y[1] = __funnelshift_lc(0u, 1u, s) + (1u << 31 << 1);
    y[2] = 0u;
    y[3] = (unsigned)(-1 >> 3);
    y[4] = 5u << (s & 31) >> (s & 31);
    y[5] = 0xffu << 28;
}

//@ case: preprocessor
//@ block: 1
//@ options: -DVALUE=7 -DNAME(x)=x##_t
//@ out y: np.zeros(3, np.int32)
//@ expect y: [7, 5, 1]
#if VALUE == 7
typedef int NAME(number);
#endif
#define STRINGIFY(x) #x
#undef max
extern "C" __global__ void k(NAME(number) *y) {
    y[0] = VALUE;
    const char *s = STRINGIFY(hello);
    int n = 0;
    while (s[n]) n++;
    y[1] = n;
    y[2] = __LINE__ > 0;
}

//@ case: standard_headers
//@ block: 1
//@ out y: np.zeros(6)
//@ expect y: [3.14159265358979, 127, 2147483647, 8, 1, 4294967295]
//@ rtol: 1e-12
//@ simulator: True
#include <cmath>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cassert>
extern "C" __global__ void k(double *y) {
    y[0] = M_PI;
    y[1] = INT8_MAX;
    y[2] = INT_MAX;
    y[3] = sizeof(std::int64_t);
    y[4] = std::isnan(NAN) && std::fabs(-INFINITY) == INFINITY;
    y[5] = UINT32_MAX;
}

//@ case: cxx_library
//@ block: 4
//@ out y: np.zeros(4, np.float32)
//@ expect y: np.sqrt(np.arange(4)) + 3
//@ rtol: 1e-6
//@ simulator: True
#include <type_traits>
#include <limits>
#include <algorithm>
#include <cmath>
template <class T> __device__ T f(T x) {
    static_assert(std::is_floating_point<T>::value, "");
    T a[3] = {3, 1, 2};
    std::sort(a, a + 3);
    return std::min(std::numeric_limits<T>::max(), std::sqrt(x) + a[2]);
}
extern "C" __global__ void k(float *y) { y[threadIdx.x] = f((float)threadIdx.x); }

//@ case: printf_returns_arguments
//@ block: 2
//@ out y: np.zeros(2, np.int32)
//@ expect y: [2, 2]
extern "C" __global__ void k(int *y) { y[threadIdx.x] = printf("%d %s\n", threadIdx.x, "words") > 0 ? 2 : 0; }

//@ case: assert_that_holds
//@ block: 8
//@ out y: np.zeros(8, np.int32)
//@ expect y: np.ones(8)
extern "C" __global__ void k(int *y) {
    assert(threadIdx.x < 8);
    y[threadIdx.x] = 1;
}

//@ case: memcpy_and_memset
//@ block: 2
//@ out y: np.zeros((2, 8), np.uint8)
//@ expect y: [[7, 7, 7, 7, 0, 1, 2, 3]] * 2
extern "C" __global__ void k(unsigned char *y) {
    unsigned char a[4] = {0, 1, 2, 3};
    memset(y + 8 * threadIdx.x, 7, 4);
    memcpy(y + 8 * threadIdx.x + 4, a, 4);
}

//@ case: macros_with_short_names
//@ options: -DN=16 -DREAL=float -DOP(a,b)=((a)*(b)) -Dn=3
//@ block: 16
//@ out y: np.zeros(16, np.float32)
//@ expect y: np.arange(16) * 3 * 2 + 16
#define S 2
#define V half
#define x1 nothing
#include <cuda_fp16.h>
extern "C" __global__ void k(REAL *y) {
    __half a = __float2half(S);
    y[threadIdx.x] = OP(n, (REAL)threadIdx.x) * __half2float(a) + blockDim.x;
}

//@ case: init_captures
//@ block: 8
//@ out y: np.zeros((5, 8), np.int32)
//@ expect y: [np.arange(8) * 3 + 3, np.arange(8) + 5, np.arange(8) * 2, np.arange(8) + 1, np.arange(8) * 7]
extern "C" __global__ void k(int *y) {
    auto counter = [n = (int)threadIdx.x]() mutable { return n++; };
    int total = 0, five = 5;
    for (int i = 0; i < 3; ++i) total += counter();
    y[threadIdx.x] = total;
    auto names_it = [five]() { return threadIdx.x + five; };
    y[8 + threadIdx.x] = names_it();
    struct Twice { __device__ int operator()() const { return 2 * threadIdx.x; } };
    y[16 + threadIdx.x] = Twice()();
    auto make = [] { return [one = 1](int i) { return i + one; }; };
    y[24 + threadIdx.x] = make()(threadIdx.x);
    struct { int a, b; } pairs[2] = {{(int)threadIdx.x, 7}, {0, 0}};
    for (auto &[a, b] : pairs) if (b) y[32 + threadIdx.x] = a * b;
}

//@ case: lambda_names_thread
//@ block: 64
//@ out y: np.zeros(64, np.int32)
//@ expect y: np.arange(64) + 5
extern "C" __global__ void k(int *y) {
    int five = 5;
    auto f = [five](int *p) { p[threadIdx.x] = threadIdx.x + five; };
    f(y);
}

//@ case: local_union
//@ block: 64
//@ out y: np.zeros(64, np.int32)
//@ expect y: np.arange(64)
extern "C" __global__ void k(int *y) {
    union U { int i; __device__ int get() { return threadIdx.x; } } u;
    y[threadIdx.x] = u.get();
}

//@ case: local_array_pointer
//@ grid: 4
//@ block: 64
//@ in p: rng.integers(0, 4, 256).astype(np.int32)
//@ out y: np.zeros(256, np.int32)
//@ expect y: np.arange(256) * 2 + p
extern "C" __global__ void k(const int *p, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, a[4] = {i, i, i, i};
    int *q = a + p[i];
    *q += i;
    *q += p[i];
    y[i] = a[p[i]];
}

//@ case: local_array_of_function
//@ grid: 4
//@ block: 64
//@ in p: rng.integers(0, 4, 256).astype(np.int32)
//@ out y: np.zeros(256, np.int32)
//@ expect y: [[i + 1, 2 * i, i - 3, 7][c] for i, c in enumerate(p)]
__device__ int pick(int c, int i) { int r[4] = {i + 1, i * 2, i - 3, 7}; return r[c]; }
extern "C" __global__ void k(const int *p, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = pick(p[i], i);
}

//@ case: local_array_in_structure
//@ grid: 4
//@ block: 64
//@ in p: rng.integers(0, 4, 256).astype(np.int32)
//@ out y: np.zeros(256, np.int32)
//@ expect y: [sum((k + 1) * (-i if c == k else k + i) for k in range(4)) for i, c in enumerate(p)]
struct Four { int d[4]; __device__ int &operator[](int i) { return d[i]; } };
extern "C" __global__ void k(const int *p, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Four s;
    for (int k = 0; k < 4; k++) s[k] = k + i;
    s[p[i]] = -i;
    y[i] = s[0] + 2 * s[1] + 3 * s[2] + 4 * s[3];
}

//@ case: local_bytes
//@ grid: 4
//@ block: 64
//@ in p: rng.integers(0, 4, 256).astype(np.int32)
//@ out y: np.zeros(256, np.int32)
//@ expect y: [(i * 0x10101 & ~(0xFF << 8 * c) | 5 << 8 * c) for i, c in enumerate(p.tolist())]
extern "C" __global__ void k(const int *p, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned word = i * 0x10101u;
    ((unsigned char *)&word)[p[i]] = 5;
    y[i] = (int)word;
}

//@ case: printf_counts_values
//@ block: 1
//@ out n: np.zeros(12, np.int32)
//@ expect n: [1, 1, 2, 2, 0, 0, 6, 1, 1, 1, 7, 2]
extern "C" __global__ void k(int *n) {
    n[0] = printf("%d\n", 5);
    n[1] = printf("%5.2f|\n", 1.5);
    n[2] = printf("%lld %llu %zu\n", -1ll, 1ull, (size_t)3);
    n[3] = printf("%s %c\n", "text", 'c');
    n[4] = printf("no values\n");
    n[5] = printf("100%%\n");
    n[6] = printf("%x %X %#o %+d % d %05d\n", 255, 255, 8, 3, 3, 42);
    n[7] = printf("%p\n", (void *)n);
    n[8] = printf("%g\n", 1e10f);
    n[9] = printf("%-10s|\n", "left");
    n[10] = printf("%hhd %hd %ld %i %u %e %a %G\n", (char)1, (short)2, 3l, 4, 5u, 6.0, 0.5, 1e-5);
    n[11] = printf("%*d\n", 6, 42);
}

//@ case: alignas_behind_words_of_cuda
//@ block: 32
//@ shared: 32
//@ in x: np.arange(32, dtype=np.int32)
//@ out y: np.zeros(32, np.int32)
//@ expect y: 5 * x[::-1]
struct alignas(32) Wide {
    int v[8];
};
__device__ alignas(64) char global[5] = {1, 2, 3, 4, 5};
__constant__ alignas(Wide) char constant[3] = {1, 1, 1};
template <int N> __device__ int reversed(int value) {
    __shared__ alignas(alignof(float4)) char pad;
    __shared__ alignas(2 * N) char place[4 * N + 1];
    pad = 0;
    int *s = (int *)place;
    s[threadIdx.x] = value;
    __syncthreads();
    return ((size_t)&pad % 16 | (size_t)s % (2 * N)) == 0 ? s[N - 1 - threadIdx.x] : -1;
}
extern "C" __global__ void k(const int *x, int *y) {
    alignas(float4) extern __shared__ char dynamic[];
    int v = reversed<32>(x[threadIdx.x]);
    dynamic[threadIdx.x] = global[4] * constant[2];
    __syncthreads();
    bool bad = (size_t)global % 64 != 0 || (size_t)constant % 32 != 0 || (size_t)dynamic % 16 != 0;
    y[threadIdx.x] = bad ? -1 : v * dynamic[31 - threadIdx.x];
}
