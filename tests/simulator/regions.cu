// Kernels of test_regions.py: what is cut at its barriers, what is not (for a reason that the text shows), and what is not
// because the C++ compiler refuses it. Each gets (int *out, const int *in, int n): n threads a block; T is the thread's number.

//@ cut straight
    sh[T] = in[T];
    __syncthreads();
    out[T] = sh[n - 1 - T];

//@ cut reduction
    int sum = in[T] + in[T + n];
    sh[T] = sum;
    __syncthreads();
    for (unsigned s = 64; s > 0; s >>= 1) {
        if (T < s && T + s < n) sh[T] += sh[T + s];
        __syncthreads();
    }
    out[T] = sh[0] * sum;

//@ cut scan
    int from = 0, to = 1, *s = sh;
    s[T] = in[T];
    __syncthreads();
    for (int d = 1; d < n; d <<= 1) {
        s[to * n + T] = s[from * n + T] + (T >= d ? s[from * n + T - d] : 0);
        int swap = from;
        from = to;
        to = swap;
        __syncthreads();
    }
    out[T] = s[from * n + T];

//@ cut unbraced
    int x = in[T];
    for (int k = 2; k <= 8; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            sh[T] = x;
            __syncthreads();
            if ((T ^ j) < n) x = max(x, sh[T ^ j] - k);
            __syncthreads();
        }
    for (int k = 0; k < 3; k++) __syncthreads();
    if (n > 3) __syncthreads(); else if (n > 2) { __syncthreads(); x++; } else __syncthreads();
    for (int k = 0; k < n; k++)
        if (k % 2) {
            sh[T] = x + k;
            __syncthreads();
            x ^= sh[(T + k) % n];
            __syncthreads();
        } else
            do __syncthreads(); while (k < 0);
    int w = 2;
    while (w-- > 0) __syncthreads();
    out[T] = x;

//@ cut while_
    int k = n;
    int x = T;
    while (k > 3) {
        sh[T] = x + k;
        __syncthreads();
        x += sh[(T + k) % n] ^ k;
        k = k / 2 - 1;
        __syncthreads();
    }
    out[T] = x;

//@ cut do_while
    int k = 0; int x = in[T];
    if (n < 0) { __syncthreads(); x = 0; }
    do {
        sh[T] = x;
        __syncthreads();
        x = 3 * sh[(T + 1) % n] - k;
        __syncthreads();
        ++k;
    } while (k < 4);
    out[T] = x;

//@ cut nested
    long long total = T;
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 4; j += 2) {
            sh[T] = (int)total + i * j;
            __syncthreads();
            total = total * 3 + sh[(T + j + i) % n];
            __syncthreads();
        }
        total -= i;
    }
    for (int i = 4; i-- > 0;) {
        sh[T] = (int)total;
        __syncthreads();
        for (int j = 0; j < 3; j++) { if (j == 1) continue; total += sh[(T * j + i) % n]; if (total & 1) break; }
        __syncthreads();
    }
    out[T] = (int)total;

//@ cut return_some
    sh[T] = in[T];
    if (T % 3 == 1) return;
    __syncthreads();
    int x = sh[(T + 1) % n];
    if (x & 1) { out[T] = -x; return; }
    for (int i = 0; i < 3; i++) {
        sh[T] += x;
        __syncthreads();
        if (T == i) return;
        x += sh[(T + 7) % n] & 3;
        __syncthreads();
    }
    out[T] = x;

//@ cut return_all
    out[T] = 1;
    if (n > 0) return;
    for (int i = 0; i != 5; i += 2) { sh[T] = i; __syncthreads(); }
    out[T] = sh[T];

//@ cut arrays
    const int R = 3;
    int sums[R][2], last[4] = {1, 2, T, 4};
    for (int r = 0; r < R; r++) { sums[r][0] = r; sums[r][1] = in[T + r]; }
    for (int k = 0; k < 5; k++) {
        sh[T] = sums[k % R][k & 1] + last[k & 3];
        __syncthreads();
        for (int r = 0; r < R; r++) sums[r][1] += sh[(T + r) % n] * sums[r][0];
        last[k & 3]++;
        __syncthreads();
    }
    out[T] = sums[0][1] + sums[1][1] + sums[2][1] + sums[1][0] + last[0] + last[2];

//@ cut pointers
    const int *p = in + T;
    int *q = out + T;
    int *const mine = &sh[T];
    for (int k = 0; k < 3; k++) {
        *mine = *p;
        p += n;
        __syncthreads();
        *q = sh[n - 1 - T];
        if (T & 1) q += n;
        __syncthreads();
    }

//@ cut parameters
    in += blockIdx.x * 2;
    sh[T] = in[0];
    __syncthreads();
    out[T] = sh[(T + 1) % n] + n;
    n = n - T;
    __syncthreads();
    out[T] += n + in[1];

//@ cut branches
    int x = in[T];
    if (n == 5) { __syncthreads(); x = 0; }
    else if (blockIdx.x == 1) { sh[T] = x; __syncthreads(); x = sh[n - 1 - T]; }
    else { x = -x; }
    if (gridDim.x > 2) { sh[T] = x; __syncthreads(); }
    out[T] = x + sh[(T + 1) % n];

//@ cut late
    int x, y;
    sh[T] = in[T];
    __syncthreads();
    x = sh[(T + 5) % n];
    if (x & 1) y = 1; else y = 2;
    __syncthreads();
    out[T] = x * y;

//@ cut vectors
    int4 v = make_int4(T, in[T], 1, 0);
    int2 const w{in[T], 2};
    for (int k = 0; k < 3; k++) {
        sh[T] = v.x + v.y;
        __syncthreads();
        v.z += sh[(T + k) % n];
        v.w = v.z ^ w.x;
        __syncthreads();
    }
    out[T] = v.z + v.w + w.y;

//@ cut by_reference
    int x = in[T], y = 1;
    sh[T] = x;
    __syncthreads();
    bump(x, sh[(T + 1) % n]);
    swap_(x, y);
    __syncthreads();
    out[T] = x - 3 * y;

//@ cut switch_
    unsigned char kind = in[T] & 3;
    sh[T] = 0;
    __syncthreads();
    switch (kind) {
    case 0: sh[T] = 5; break;
    case 1: sh[T] = 6;
    default: for (int i = 0; i < 9; i++) { if (i == 4) break; sh[T] += i; }
    }
    __syncthreads();
    out[T] = sh[(T + 1) % n] + kind;

//@ cut atomics
    __shared__ int bins[8];
    __shared__ unsigned count;
    if (T < 8) bins[T] = 0;
    if (T == 8) count = 0;
    __syncthreads();
    atomicAdd(&bins[in[T] & 7], T);
    atomicAdd(&count, 1u);
    __syncthreads();
    out[T] = bins[T & 7] + count;

//@ cut shadows
    int i = T, x = 0;
    sh[i] = in[i];
    __syncthreads();
    for (int i = 0; i < 5; i++) x += sh[(T + i) % n];
    { float x = 2; out[i + n] = (int)x; }
    __syncthreads();
    out[i] = x;

//@ cut pragma
    float sum = 0;

    #pragma unroll
            for (int k = 0; k < 4; ++k)
            {
                sh[T] = in[T + k];


                __syncthreads();
    #pragma unroll 2
                for (int j = 0; j < 8; j++) sum += sh[(T + j) % n];
                __syncthreads();
            }
            out[T] = (int)sum;

//@ cut tiles
    for (int tile = blockIdx.x; tile < 7; tile += gridDim.x) {
        const int first = tile * 8, mine = first + T;
        sh[T] = mine < n ? in[mine] : 0;
        __syncthreads();
        out[(T + first) % n] = sh[(T + 1) % n];
        __syncthreads();
    }

//@ cut counted
    int t = 0;
    int wrong = t + T; /* t is another one when it is used */
    for (; t < 3; t++) {
        int right = t + T;
        sh[T] = right;
        __syncthreads();
        out[T] += wrong + sh[(T + 1) % n] * right;
        __syncthreads();
    }

//@ cut warps
    sh[T] = in[T];
    __syncwarp();
    int x = sh[T ^ 1];
    __syncthreads();
    sh[T] = x;
    __syncthreads();
    out[T] = sh[n - 1 - T];

//@ cut braces
    int x = in[T];
    {
        const int half = n / 2;
        sh[T] = x;
        __syncthreads();
        int y = half + sh[(T + half) % n];
        __syncthreads();
        out[T + n] = y;
    }
    out[T] = x;

//@ cut typed
    typedef unsigned short Small;
    Small s = (Small)(in[T] * 3);
    enum_t e = (enum_t)(in[T] & 1);
    sh[T] = s;
    __syncthreads();
    out[T] = s + sh[(T + 1) % n] + (e == enum_b);

//@ cut casts
    const Index half = (Index)(n / 2);
    Index me = (Index)T;
    sh[T] = in[T];
    __syncthreads();
    out[T] = sh[(me + half) % n];

//@ cut constants
    int x = 0;
    for (int k = 0; k < COUNT; k += STEP) {
        sh[T] = k;
        __syncthreads();
        x += sh[(T + k) % n];
        __syncthreads();
    }
    out[T] = x;

//@ uncut memory_decides
    sh[T] = in[T];
    if (in[0] >= 0) { __syncthreads(); }
    out[T] = sh[T ^ 1];

//@ uncut memory_bound
    int x = 0;
    for (int i = 0; i < (in[5] & 3); i++) { sh[T] = i; __syncthreads(); x += sh[T ^ 1]; }
    out[T] = x;

//@ uncut shared_bound
    __shared__ int m; if (T == 0) m = 3; __syncthreads();
    int x = 0; for (int i = 0; i < m; i++) { __syncthreads(); x += i; } out[T] = x;

//@ uncut thread_bound
    sh[T] = 0;
    for (int i = T; i < T + 3; i++) { sh[T] += i; __syncthreads(); }
    out[T] = sh[T ^ 1];

//@ uncut changed_counter
    sh[T] = T; for (int i = 0; i < 6; i++) { sh[T] += i; __syncthreads(); if (n > 5) i++; if (in[0] > 1 << 30) i--; }
    out[T] = sh[T ^ 1];

//@ uncut in_function
    sh[T] = in[T];
    meet();
    out[T] = sh[T ^ 1];

//@ uncut count
    out[T] = __syncthreads_count(in[T] & 1);
    __syncthreads();

//@ uncut address
    int x = in[T];
    int *p = &x;
    sh[T] = x;
    __syncthreads();
    *p += sh[T ^ 1];
    __syncthreads();
    out[T] = x;

//@ uncut array_address
    int a[2] = {1, in[T]};
    int *p = a + 1;
    sh[T] = *p;
    __syncthreads();
    *p += sh[T ^ 1];
    __syncthreads();
    out[T] = a[1];

//@ uncut address_of_other
    int a[2] = {1, in[T]};
    int *p;
    p = in[T] & 1 ? &a[0] : &a[1];
    sh[T] = *p;
    __syncthreads();
    out[T] = *p + sh[T ^ 1];

//@ uncut array_argument
    int a[2] = {1, in[T]};
    sh[T] = 1;
    __syncthreads();
    bump(*a, sh[T ^ 1]);
    __syncthreads();
    out[T] = a[0];

//@ uncut reference
    int &r = sh[T];
    r = in[T];
    __syncthreads();
    int x = sh[T ^ 1];
    __syncthreads();
    r = x;
    __syncthreads();
    out[T] = sh[T ^ 1];

//@ uncut lambda
    auto f = [=](int i) { return in[i]; };
    sh[T] = f(T);
    __syncthreads();
    out[T] = sh[T ^ 1];

//@ uncut no_statement_of_its_own
    for (int i = 0; i < 3; i++) sh[T] = i, __syncthreads();
    sh[T] = 1;
    __syncthreads();
    out[T] = sh[T ^ 1];

//@ cut macro
    sh[T] = in[T];
    SYNC_IF(n > 0);
    out[T] = sh[T ^ 1];

//@ uncut goto_
    int k = 0;
    again: sh[T] = k;
    __syncthreads();
    if (++k < 3) goto again;
    out[T] = sh[T ^ 1];

//@ uncut shuffle
    sh[T] = __shfl_xor_sync(~0u, in[T], 1);
    __syncthreads();
    out[T] = sh[T ^ 1];

//@ uncut auto_
    auto x = in[T];
    sh[T] = x;
    __syncthreads();
    out[T] = x + sh[T ^ 1];

//@ uncut diverged
    sh[T] = in[T];
    if (T < 32) { __syncthreads(); }
    else { __syncthreads(); }
    out[T] = sh[T ^ 1];

//@ uncut comma
    sh[T] = in[T], __syncthreads();
    out[T] = sh[T ^ 1];

//@ uncut shared_pointer
    __shared__ int *where; if (T == 0) where = sh + 1; __syncthreads();
    int *w = where; w[T] = in[T]; __syncthreads(); for (int i = 0; i < *w + 0 * n && i < 2; i++) { __syncthreads(); } out[T] = sh[1 + (T ^ 1)];

//@ uncut static_
    sh[T] = in[T];
    __syncthreads();
    static const int three = 3;
    out[T] = sh[T ^ 1] + three;

//@ uncut hidden_change
    for (int i = 0; i < 6; i++) { sh[T] = i; __syncthreads(); out[T] += sh[T ^ 1]; __syncthreads(); bump(i, 1); }

//@ uncut hidden_pointer
    int *p = out + T;
    sh[T] = 1;
    __syncthreads();
    move(p, 1);
    __syncthreads();
    *p = sh[T ^ 1];

//@ uncut asserts
    sh[T] = in[T];
    assert(n > 0);
    __syncthreads();
    out[T] = sh[T ^ 1];

//@ refused mutable_bound
    int x = 0;
    for (int i = 0; i < bound; i++) { sh[T] = i; __syncthreads(); x += sh[T ^ 1]; }
    out[T] = x;

//@ refused structure
    Pair p{in[T], 2};
    sh[T] = p.a;
    __syncthreads();
    p.b += sh[T ^ 1];
    __syncthreads();
    out[T] = p.b;

//@ refused continues
    for (int i = 0; i < 3; i++) { if (n == 3) continue; sh[T] = i; __syncthreads(); out[T] += sh[T ^ 1]; __syncthreads(); }
