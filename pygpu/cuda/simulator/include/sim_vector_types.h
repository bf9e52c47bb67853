/* sim_vector_types.h - char1 ... double4, dim3 and make_*: the vector types of CUDA C++, laid out as documented there. */
#ifndef PYGPU_SIM_VECTOR_TYPES_H
#define PYGPU_SIM_VECTOR_TYPES_H

#pragma GCC system_header
#include "sim_core.h"

#define SIM_VECTORS(name, T, a2, a4) \
    SIM_UNIT(name##1 name##2 name##3 name##4 make_##name##1 make_##name##2 make_##name##3 make_##name##4) \
    struct name##1 { T x; }; \
    struct alignas(a2) name##2 { T x, y; }; \
    struct name##3 { T x, y, z; }; \
    struct alignas(a4) name##4 { T x, y, z, w; }; \
    static SIM_INLINE constexpr name##1 make_##name##1(T x) { return name##1{x}; } \
    static SIM_INLINE constexpr name##2 make_##name##2(T x, T y) { return name##2{x, y}; } \
    static SIM_INLINE constexpr name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; } \
    static SIM_INLINE constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; } \
    SIM_END

SIM_VECTORS(char, signed char, 2, 4)
SIM_VECTORS(uchar, unsigned char, 2, 4)
SIM_VECTORS(short, short, 4, 8)
SIM_VECTORS(ushort, unsigned short, 4, 8)
SIM_VECTORS(int, int, 8, 16)
SIM_VECTORS(uint, unsigned int, 8, 16)
SIM_VECTORS(long, long, 16, 16)
SIM_VECTORS(ulong, unsigned long, 16, 16)
SIM_VECTORS(longlong, long long, 16, 16)
SIM_VECTORS(ulonglong, unsigned long long, 16, 16)
SIM_VECTORS(float, float, 8, 16)
SIM_VECTORS(double, double, 16, 16)
#undef SIM_VECTORS

/* CUDA 13 tells the two alignments of the large ones apart */
#define SIM_WIDE(name, T) \
    SIM_UNIT(name##4_16a name##4_32a) \
    struct alignas(16) name##4_16a { T x, y, z, w; }; \
    struct alignas(32) name##4_32a { T x, y, z, w; }; \
    SIM_END
SIM_WIDE(long, long)
SIM_WIDE(ulong, unsigned long)
SIM_WIDE(longlong, long long)
SIM_WIDE(ulonglong, unsigned long long)
SIM_WIDE(double, double)
#undef SIM_WIDE

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif
