/* texture.h - texture and surface objects: a CUtexObject or CUsurfObject is the address of a
 * SimTexture.
 *
 * Plain C without other headers. The device-side headers read the same structure; a test compares
 * its size and offsets. */
#ifndef PYGPU_SIM_TEXTURE_H
#define PYGPU_SIM_TEXTURE_H

/* Present in live objects: anything else is a stale or invalid handle. */
#define SIM_TEXTURE_MAGIC 0x5445585455524531ull

/* SimTexture.flags */
/* Integers are returned as they are; otherwise they become floats from 0 to 1 or -1 to 1. */
#define SIM_TEXTURE_READ_INTEGER 1
#define SIM_TEXTURE_NORMALIZED   2   /* coordinates from 0 to 1 instead of texels */
#define SIM_TEXTURE_SRGB         16  /* converts from sRGB when reading */
#define SIM_TEXTURE_LAYERED      256 /* depth is the number of layers; each is a separate texture */
#define SIM_TEXTURE_CUBEMAP      512 /* depth is the number of faces (6 per layer) */
#define SIM_TEXTURE_SURFACE      1024 /* a surface: x is in bytes, no filtering, writable */
/* Linear memory for tex1Dfetch; width may be far larger than for other textures. */
#define SIM_TEXTURE_LINEAR 2048

typedef struct {
    unsigned long long magic;
    unsigned long long data;     /* address of the first texel */
    unsigned long long pitch;    /* between rows [bytes] */
    unsigned long long slice;    /* between layers or slices [bytes] */
    unsigned long long width;    /* [texels] */
    unsigned int height, depth;  /* [texels]; 0: the texture has no such dimension */
    int format, channels;        /* CU_AD_FORMAT_*; 1, 2 or 4 */
    int address_mode[3], filter; /* CU_TR_ADDRESS_MODE_*, CU_TR_FILTER_MODE_* */
    unsigned int flags;
    int element_size; /* size of a texel [bytes] */
    float border[4];  /* the value of reads outside, in border mode */
} SimTexture;

#endif
