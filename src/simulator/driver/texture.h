/* texture.h - what a texture or surface object is: a CUtexObject or CUsurfObject is the address of
 * a SimTexture.
 *
 * Plain C without other headers. The headers of the device side read the same structure; a test
 * compares its size and offsets. */
#ifndef PYGPU_SIM_TEXTURE_H
#define PYGPU_SIM_TEXTURE_H

#define SIM_TEXTURE_MAGIC \
    0x5445585455524531ull /* live objects have it: anything else is a stale or wild handle */

/* SimTexture.flags */
#define SIM_TEXTURE_READ_INTEGER \
    1 /* integers stay integers; else they become 0 to 1 or -1 to 1 in float */
#define SIM_TEXTURE_NORMALIZED 2    /* coordinates from 0 to 1 instead of texels */
#define SIM_TEXTURE_SRGB       16   /* gamma is taken out when reading */
#define SIM_TEXTURE_LAYERED    256  /* depth counts layers; each is a texture of its own */
#define SIM_TEXTURE_CUBEMAP    512  /* depth counts faces (6 for each layer) */
#define SIM_TEXTURE_SURFACE    1024 /* a surface: x is in bytes, no filter, may be written */
#define SIM_TEXTURE_LINEAR \
    2048 /* plain memory that tex1Dfetch reads; width may be far beyond other textures' */

typedef struct {
    unsigned long long magic;
    unsigned long long data;     /* address of the first texel */
    unsigned long long pitch;    /* from a row to the next [bytes] */
    unsigned long long slice;    /* from a layer or slice to the next [bytes] */
    unsigned long long width;    /* [texels] */
    unsigned int height, depth;  /* [texels]; 0: the texture has no such dimension */
    int format, channels;        /* CU_AD_FORMAT_*; 1, 2 or 4 */
    int address_mode[3], filter; /* CU_TR_ADDRESS_MODE_*, CU_TR_FILTER_MODE_* */
    unsigned int flags;
    int element_size; /* of a texel [bytes] */
    float border[4];  /* what reads outside give in border mode */
} SimTexture;

#endif
