/* launch.cl - kernels that do next to nothing, for launch.c and launch.py.
 *
 * Each counts its launches in count[0] and leaves the sum of what it was given in count[1] (modulo 2**32), so that a benchmark can
 * prove that its launches happened and that the arguments arrived. They are launched with one work-item. */
kernel void launch1(global uint *count)
{
    count[0] += 1;
    count[1] = 0;
}

kernel void launch4(global uint *count, global const uint *b, int i, float x)
{
    count[0] += 1;
    count[1] = b[0] + (uint)i + (uint)x;
}

kernel void launch16(global uint *count, global const uint *b, global const uint *c, global const uint *d, int i, int j, int k, int l,
                     float x, float y, float z, float w, long p, long q, long r, long s)
{
    count[0] += 1;
    count[1] = b[0] + c[0] + d[0] + (uint)(i + j + k + l) + (uint)(x + y + z + w) + (uint)(p + q + r + s);
}
