/* sim_texture.h - texture and surface objects.
 *
 * An object is the address of the description that the driver half made (SimTexture of src/simulator/driver/texture.h; a test compares the two
 * declarations). Addressing and filtering are those of the section on texture fetching in the CUDA C++ Programming Guide: coordinates
 * of texel centres end in .5, and the weights of linear filtering have 8 bits behind the point. */
#ifndef PYGPU_SIM_TEXTURE_OBJECTS_H
#define PYGPU_SIM_TEXTURE_OBJECTS_H

#pragma GCC system_header
#include "sim_base.h"
#include "sim_runtime.h"
#include "sim_vector_types.h"

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };

PGS_UNIT(pgs_texture sampler tex1Dfetch tex1D tex2D tex3D tex1DLayered tex2DLayered texCubemap texCubemapLayered tex1DLod tex2DLod tex3DLod
         tex1DLayeredLod tex2DLayeredLod texCubemapLod texCubemapLayeredLod tex1DGrad tex2DGrad tex3DGrad tex1DLayeredGrad
         tex2DLayeredGrad tex2Dgather surf1Dread surf2Dread surf3Dread surf1DLayeredread surf2DLayeredread surfCubemapread
         surfCubemapLayeredread surf1Dwrite surf2Dwrite surf3Dwrite surf1DLayeredwrite surf2DLayeredwrite surfCubemapwrite
         surfCubemapLayeredwrite)
namespace pygpu_sim {
struct Texture { /* SimTexture */
    unsigned long long magic, data, pitch, slice, width;
    unsigned height, depth;
    int format, channels, address_mode[3], filter;
    unsigned flags;
    int element_size;
    float border[4];
};
enum : unsigned { texture_integer = 1, texture_normalized = 2, texture_srgb = 16, texture_surface = 1024 };
enum { address_wrap, address_clamp, address_mirror, address_border };

PGS_I const Texture *texture_of(unsigned long long object, bool surface) {
    const Texture *t = (const Texture *)object;
    if (object < 4096 || t->magic != 0x5445585455524531ull) sim_fail(SIM_FAIL_ILLEGAL, "this is not a texture or surface object, or it was destroyed");
    if (surface && !(t->flags & texture_surface)) sim_fail(SIM_FAIL_ILLEGAL, "a texture object was given where a surface object is needed");
    if (!surface && (t->flags & texture_surface)) sim_fail(SIM_FAIL_ILLEGAL, "a surface object was given where a texture object is needed");
    return t;
}

/* Types that can be read: the number's type, how many there are, and building one from four. */
template <class T> struct texel;
#define PGS_ROW(T, v) \
    template <> struct texel<T> { typedef T number; static constexpr int count = 1; static PGS_F T make(T a, T, T, T) { return a; } }; \
    template <> struct texel<v##1> { typedef T number; static constexpr int count = 1; static PGS_F v##1 make(T a, T, T, T) { return v##1{a}; } }; \
    template <> struct texel<v##2> { typedef T number; static constexpr int count = 2; static PGS_F v##2 make(T a, T b, T, T) { return v##2{a, b}; } }; \
    template <> struct texel<v##4> { typedef T number; static constexpr int count = 4; static PGS_F v##4 make(T a, T b, T c, T d) { return v##4{a, b, c, d}; } };
PGS_ROW(signed char, char) PGS_ROW(unsigned char, uchar) PGS_ROW(short, short) PGS_ROW(unsigned short, ushort) PGS_ROW(int, int)
PGS_ROW(unsigned, uint) PGS_ROW(float, float)
#undef PGS_ROW
template <> struct texel<char> : texel<signed char> {};
} // namespace pygpu_sim
PGS_END

PGS_UNIT(sampler tex1Dfetch tex1D tex2D tex3D tex1DLayered tex2DLayered texCubemap texCubemapLayered tex1DLod tex2DLod tex3DLod
         tex1DLayeredLod tex2DLayeredLod texCubemapLod texCubemapLayeredLod tex1DGrad tex2DGrad tex3DGrad tex1DLayeredGrad
         tex2DLayeredGrad tex2Dgather)
namespace pygpu_sim {
struct Colour { double c[4]; };

PGS_I float texture_half(unsigned short h) {
    const unsigned magnitude = (unsigned)(h & 0x7fff) << 13, special = (h & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
    return bits<float>(bits<unsigned>(bits<float>(magnitude) * 0x1p112f) | special | (unsigned)(h & 0x8000) << 16);
}
PGS_I double without_gamma(double v) { return v <= 0.04045 ? v / 12.92 : __builtin_pow((v + 0.055) / 1.055, 2.4); }

/* One texel. Channels that are not there are 0, 0 and 1. */
PGS_I Colour texel_at(const Texture *t, const char *p) {
    Colour result = {{0.0, 0.0, 0.0, 1.0}};
    for (int i = 0; i < t->channels; i++) {
        double v = 0.0, scale = 0.0;
        switch (t->format) {
        case 0x01: v = ((const unsigned char *)p)[i]; scale = 255.0; break;
        case 0x02: v = ((const unsigned short *)p)[i]; scale = 65535.0; break;
        case 0x03: v = ((const unsigned *)p)[i]; break;
        case 0x08: v = ((const signed char *)p)[i]; scale = 127.0; break;
        case 0x09: v = ((const short *)p)[i]; scale = 32767.0; break;
        case 0x0a: v = ((const int *)p)[i]; break;
        case 0x10: v = texture_half(((const unsigned short *)p)[i]); break;
        case 0x20: v = ((const float *)p)[i]; break;
        default: sim_fail(SIM_FAIL_UNSUPPORTED, "textures of this format are not supported by the simulator");
        }
        if (scale != 0.0 && !(t->flags & texture_integer)) {
            v = v < -scale ? -1.0 : v / scale;
            if ((t->flags & texture_srgb) && i < 3) v = without_gamma(v);
        }
        result.c[i] = v;
    }
    return result;
}
/* The index at which texel i of n is read; -1: the border. */
PGS_I long long texture_index(long long i, long long n, int mode) {
    if (i >= 0 && i < n) return i;
    switch (mode) {
    case address_wrap: i %= n; return i < 0 ? i + n : i;
    case address_mirror:
        i %= 2 * n;
        if (i < 0) i += 2 * n;
        return i < n ? i : 2 * n - 1 - i;
    case address_border: return -1;
    default: return i < 0 ? 0 : n - 1;
    }
}
PGS_F long long texture_floor(float x) { /* far outside is as far as one needs; NaN is 0 */
    return x != x ? 0 : x > 1e12f ? 1000000000000ll : x < -1e12f ? -1000000000000ll : (long long)__builtin_floorf(x);
}
PGS_I Colour texture_border(const Texture *t) { return Colour{{t->border[0], t->border[1], t->border[2], t->border[3]}}; }

/* dimensions: how many coordinates are sampled; layer: offset of the layer or face [bytes] */
PGS_I Colour sample(const Texture *t, int dimensions, const float *at, unsigned long long layer) {
    const long long n[3] = {(long long)t->width, t->height ? t->height : 1, t->depth ? t->depth : 1};
    const unsigned long long step[3] = {(unsigned long long)t->element_size, t->pitch, t->slice};
    const bool linear = t->filter == 1 && !((t->flags & texture_integer) && t->format < 0x10);
    long long first[3];
    float weight[3];
    int mode[3];
    for (int d = 0; d < dimensions; d++) {
        const bool normalized = t->flags & texture_normalized;
        float x = normalized ? at[d] * (float)n[d] : at[d];
        mode[d] = t->address_mode[d];
        if (!normalized && mode[d] != address_border) mode[d] = address_clamp;
        weight[d] = 0.0f;
        if (linear) {
            x -= 0.5f;
            const float fraction = x - __builtin_floorf(x);
            weight[d] = fraction >= 0.0f && fraction <= 1.0f ? __builtin_rintf(fraction * 256.0f) / 256.0f : 0.0f;
        }
        first[d] = texture_floor(x);
    }
    Colour sum = {{0.0, 0.0, 0.0, 0.0}};
    const int corners = linear ? 1 << dimensions : 1;
    for (int corner = 0; corner < corners; corner++) {
        double w = 1.0;
        unsigned long long offset = layer;
        bool outside = false;
        for (int d = 0; d < dimensions; d++) {
            const int far = corner >> d & 1;
            const long long i = texture_index(first[d] + far, n[d], mode[d]);
            if (linear) w *= far ? weight[d] : 1.0f - weight[d];
            outside |= i < 0;
            offset += i < 0 ? 0 : (unsigned long long)i * step[d];
        }
        if (w == 0.0) continue;
        const Colour c = outside ? texture_border(t) : texel_at(t, (const char *)t->data + offset);
        if (!linear) return c;
        for (int i = 0; i < 4; i++) sum.c[i] += w * c.c[i];
    }
    return sum;
}
template <class T> PGS_I T from_colour(const Colour &c) {
    typedef typename texel<T>::number N;
    const double none = 0.0;
    const N a = (N)(c.c[0] == c.c[0] || sizeof(N) == 4 ? c.c[0] : none);
    return texel<T>::make(a, (N)c.c[1], (N)c.c[2], (N)c.c[3]);
}
PGS_I unsigned long long texture_layer(const Texture *t, long long layer) {
    const long long n = t->depth ? t->depth : 1;
    return (unsigned long long)(layer < 0 ? 0 : layer >= n ? n - 1 : layer) * t->slice;
}
/* Face of a cube and coordinates on it, from a direction; the table of the OpenGL specification, which CUDA refers to. */
PGS_I int cube_face(float x, float y, float z, float *s, float *u) {
    const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
    float sc, tc, ma;
    int face;
    if (ax >= ay && ax >= az) { face = x < 0; sc = x < 0 ? z : -z; tc = -y; ma = ax; }
    else if (ay >= az) { face = 2 + (y < 0); sc = x; tc = y < 0 ? -z : z; ma = ay; }
    else { face = 4 + (z < 0); sc = z < 0 ? -x : x; tc = -y; ma = az; }
    *s = (sc / ma + 1.0f) * 0.5f;
    *u = (tc / ma + 1.0f) * 0.5f;
    return face;
}
template <class T> PGS_I T tex(unsigned long long object, int dimensions, float x, float y, float z, bool layered, long long layer) {
    const Texture *t = texture_of(object, false);
    const float at[3] = {x, y, z};
    return from_colour<T>(sample(t, dimensions, at, layered ? texture_layer(t, layer) : 0));
}
template <class T> PGS_I T tex_cube(unsigned long long object, float x, float y, float z, int layer) {
    const Texture *t = texture_of(object, false);
    float at[3] = {0, 0, 0};
    const int face = cube_face(x, y, z, &at[0], &at[1]);
    if (!(t->flags & texture_normalized)) {
        at[0] *= (float)t->width;
        at[1] *= (float)t->height;
    }
    return from_colour<T>(sample(t, 2, at, texture_layer(t, 6ll * layer + face)));
}
} // namespace pygpu_sim

template <class T> PGS_I T tex1Dfetch(cudaTextureObject_t object, int i) {
    const pygpu_sim::Texture *t = pygpu_sim::texture_of(object, false);
    const bool inside = i >= 0 && (unsigned long long)i < t->width;
    return pygpu_sim::from_colour<T>(inside ? pygpu_sim::texel_at(t, (const char *)t->data + (unsigned long long)i * (unsigned)t->element_size)
                                            : pygpu_sim::Colour{{0.0, 0.0, 0.0, 0.0}});
}
/* n(object, coordinates ...), and the older n(&result, object, coordinates ...). There is one level of detail. */
#define PGS_READ(n, parameters, arguments, call) \
    template <class T> PGS_I T n parameters { return call; } \
    template <class T> PGS_I void n(T *result, PGS_TAIL parameters) { *result = n<T> arguments; }
#define PGS_TAIL(...) __VA_ARGS__
PGS_READ(tex1D, (cudaTextureObject_t o, float x), (o, x), pygpu_sim::tex<T>(o, 1, x, 0, 0, false, 0))
PGS_READ(tex2D, (cudaTextureObject_t o, float x, float y), (o, x, y), pygpu_sim::tex<T>(o, 2, x, y, 0, false, 0))
PGS_READ(tex3D, (cudaTextureObject_t o, float x, float y, float z), (o, x, y, z), pygpu_sim::tex<T>(o, 3, x, y, z, false, 0))
PGS_READ(tex1DLayered, (cudaTextureObject_t o, float x, int layer), (o, x, layer), pygpu_sim::tex<T>(o, 1, x, 0, 0, true, layer))
PGS_READ(tex2DLayered, (cudaTextureObject_t o, float x, float y, int layer), (o, x, y, layer), pygpu_sim::tex<T>(o, 2, x, y, 0, true, layer))
PGS_READ(texCubemap, (cudaTextureObject_t o, float x, float y, float z), (o, x, y, z), pygpu_sim::tex_cube<T>(o, x, y, z, 0))
PGS_READ(texCubemapLayered, (cudaTextureObject_t o, float x, float y, float z, int layer), (o, x, y, z, layer), pygpu_sim::tex_cube<T>(o, x, y, z, layer))
PGS_READ(tex1DLod, (cudaTextureObject_t o, float x, float), (o, x, 0.0f), tex1D<T>(o, x))
PGS_READ(tex2DLod, (cudaTextureObject_t o, float x, float y, float), (o, x, y, 0.0f), tex2D<T>(o, x, y))
PGS_READ(tex3DLod, (cudaTextureObject_t o, float x, float y, float z, float), (o, x, y, z, 0.0f), tex3D<T>(o, x, y, z))
PGS_READ(tex1DLayeredLod, (cudaTextureObject_t o, float x, int layer, float), (o, x, layer, 0.0f), tex1DLayered<T>(o, x, layer))
PGS_READ(tex2DLayeredLod, (cudaTextureObject_t o, float x, float y, int layer, float), (o, x, y, layer, 0.0f), tex2DLayered<T>(o, x, y, layer))
PGS_READ(texCubemapLod, (cudaTextureObject_t o, float x, float y, float z, float), (o, x, y, z, 0.0f), texCubemap<T>(o, x, y, z))
PGS_READ(texCubemapLayeredLod, (cudaTextureObject_t o, float x, float y, float z, int layer, float), (o, x, y, z, layer, 0.0f), texCubemapLayered<T>(o, x, y, z, layer))
PGS_READ(tex1DGrad, (cudaTextureObject_t o, float x, float a, float b), (o, x, a, b), ((void)a, (void)b, tex1D<T>(o, x)))
PGS_READ(tex2DGrad, (cudaTextureObject_t o, float x, float y, float2 a, float2 b), (o, x, y, a, b), ((void)a, (void)b, tex2D<T>(o, x, y)))
PGS_READ(tex3DGrad, (cudaTextureObject_t o, float x, float y, float z, float4 a, float4 b), (o, x, y, z, a, b), ((void)a, (void)b, tex3D<T>(o, x, y, z)))
PGS_READ(tex1DLayeredGrad, (cudaTextureObject_t o, float x, int layer, float a, float b), (o, x, layer, a, b), ((void)a, (void)b, tex1DLayered<T>(o, x, layer)))
PGS_READ(tex2DLayeredGrad, (cudaTextureObject_t o, float x, float y, int layer, float2 a, float2 b), (o, x, y, layer, a, b), ((void)a, (void)b, tex2DLayered<T>(o, x, y, layer)))
template <class T> PGS_I void tex1Dfetch(T *result, cudaTextureObject_t o, int i) { *result = tex1Dfetch<T>(o, i); }
/* One channel of the four texels that linear filtering would use. */
template <class T> PGS_I T tex2Dgather(cudaTextureObject_t object, float x, float y, int channel = 0) {
    pygpu_sim::Texture t = *pygpu_sim::texture_of(object, false);
    t.filter = 0;
    const bool normalized = t.flags & pygpu_sim::texture_normalized;
    const float dx = normalized ? 1.0f / (float)t.width : 1.0f, dy = normalized ? 1.0f / (float)t.height : 1.0f;
    typedef typename pygpu_sim::texel<T>::number N;
    N result[4];
    for (int i = 0; i < 4; i++) {
        const float at[3] = {x + (i == 1 || i == 2 ? 0.5f : -0.5f) * dx, y + (i < 2 ? 0.5f : -0.5f) * dy, 0.0f};
        result[i] = (N)pygpu_sim::sample(&t, 2, at, 0).c[channel & 3];
    }
    return pygpu_sim::texel<T>::make(result[0], result[1], result[2], result[3]);
}
PGS_END

/* ---- surfaces: x counts bytes --------------------------------------------------------------------------------------- */

PGS_UNIT(surf1Dread surf2Dread surf3Dread surf1DLayeredread surf2DLayeredread surfCubemapread surfCubemapLayeredread surf1Dwrite surf2Dwrite
         surf3Dwrite surf1DLayeredwrite surf2DLayeredwrite surfCubemapwrite surfCubemapLayeredwrite)
namespace pygpu_sim {
/* The address of `size` bytes at x, y, z; NULL if they are outside and the mode says that this is to be ignored. */
PGS_I char *surface_at(unsigned long long object, int size, long long x, long long y, long long z, cudaSurfaceBoundaryMode mode) {
    const Texture *t = texture_of(object, true);
    const long long row = (long long)t->width * t->element_size, rows = t->height ? t->height : 1, slices = t->depth ? t->depth : 1;
    if (x < 0 || x + size > row || y < 0 || y >= rows || z < 0 || z >= slices) {
        if (mode == cudaBoundaryModeTrap) sim_fail(SIM_FAIL_TRAP, "a surface was accessed outside of its bounds (cudaBoundaryModeTrap)");
        if (mode == cudaBoundaryModeZero) return 0;
        x = x < 0 ? 0 : x + size > row ? row - size : x;
        y = y < 0 ? 0 : y >= rows ? rows - 1 : y;
        z = z < 0 ? 0 : z >= slices ? slices - 1 : z;
    }
    if (x % size != 0) sim_fail(SIM_FAIL_ILLEGAL, "a surface was accessed at an x, in bytes, that is not a multiple of the size of what is accessed");
    return (char *)t->data + (unsigned long long)z * t->slice + (unsigned long long)y * t->pitch + x;
}
template <class T> PGS_I T surface_read(unsigned long long object, long long x, long long y, long long z, cudaSurfaceBoundaryMode mode) {
    T value;
    const char *p = surface_at(object, (int)sizeof(T), x, y, z, mode);
    if (p == 0) __builtin_memset(&value, 0, sizeof value);
    else __builtin_memcpy(&value, p, sizeof value);
    return value;
}
template <class T> PGS_I void surface_write(T value, unsigned long long object, long long x, long long y, long long z, cudaSurfaceBoundaryMode mode) {
    char *p = surface_at(object, (int)sizeof(T), x, y, z, mode);
    if (p != 0) __builtin_memcpy(p, &value, sizeof value);
}
} // namespace pygpu_sim
#define PGS_MODE cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap
#define PGS_SURFACE(n, parameters, arguments, at) \
    template <class T> PGS_I T n##read(cudaSurfaceObject_t o, PGS_TAIL parameters, PGS_MODE) \
    { return pygpu_sim::surface_read<T>(o, PGS_TAIL at, mode); } \
    template <class T> PGS_I void n##read(T *result, cudaSurfaceObject_t o, PGS_TAIL parameters, PGS_MODE) \
    { *result = pygpu_sim::surface_read<T>(o, PGS_TAIL at, mode); } \
    template <class T> PGS_I void n##write(T value, cudaSurfaceObject_t o, PGS_TAIL parameters, PGS_MODE) \
    { pygpu_sim::surface_write<T>(value, o, PGS_TAIL at, mode); }
PGS_SURFACE(surf1D, (int x), (x), (x, 0, 0))
PGS_SURFACE(surf2D, (int x, int y), (x, y), (x, y, 0))
PGS_SURFACE(surf3D, (int x, int y, int z), (x, y, z), (x, y, z))
PGS_SURFACE(surf1DLayered, (int x, int layer), (x, layer), (x, 0, layer))
PGS_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), (x, y, layer))
PGS_SURFACE(surfCubemap, (int x, int y, int face), (x, y, face), (x, y, face))
PGS_SURFACE(surfCubemapLayered, (int x, int y, int face), (x, y, face), (x, y, face))
PGS_END
#undef PGS_SURFACE
#undef PGS_MODE
#undef PGS_READ
#undef PGS_TAIL

#endif
