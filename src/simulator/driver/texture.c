/* texture.c - texture and surface objects: descriptions that device code reads (texture.h). */
#include "simulator/device/memory.h"
#include "simulator/driver/array.h"
#include "simulator/driver/context.h"
#include "simulator/driver/device.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/texture.h"

#include <stdlib.h>

enum { RESOURCE_ARRAY = 0, RESOURCE_MIPMAPPED = 1, RESOURCE_LINEAR = 2, RESOURCE_PITCH2D = 3 };
enum { MODE_WRAP = 0, MODE_CLAMP = 1, MODE_MIRROR = 2, MODE_BORDER = 3, FILTER_LINEAR = 1 };
enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBEMAP = 4 };

typedef struct Texture {
    SimObject object;
    SimTexture seen; /* its address is the handle */
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC description;
    SimArray *array;      /* counted reference, or NULL */
    struct Texture *next; /* in the list of live ones, or of those to reuse */
} Texture;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Texture *alive, *unused; /* never freed: kernels may read stale handles, and must not find
                                 * the magic number there */

static void texture_free(void *op) {
    Texture *self = op;
    sim_object_drop(self->array);
    pthread_mutex_lock(&lock);
    for (Texture **link = &alive; *link != NULL; link = &(*link)->next) {
        if (*link == self) {
            *link = self->next;
            break;
        }
    }
    self->seen.magic = 0;
    self->next = unused;
    unused = self;
    pthread_mutex_unlock(&lock);
}

static CUresult describe_array(Texture *self, CUarray array, bool surface) {
    SimTexture *t = &self->seen;
    SIM_TRY(sim_array_take(array, &self->array));
    const SimArray *a = self->array;
    if (surface && (a->descriptor.Flags & ARRAY_SURFACE) == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "the array was made without SURFACE_LDST");
    }
    *t = (SimTexture){.data = a->data,
                      .pitch = a->pitch,
                      .slice = a->slice,
                      .width = a->descriptor.Width,
                      .height = (unsigned)a->descriptor.Height,
                      .depth = (unsigned)a->descriptor.Depth,
                      .format = a->descriptor.Format,
                      .channels = (int)a->descriptor.NumChannels,
                      .element_size = (int)a->element};
    t->flags = ((a->descriptor.Flags & ARRAY_LAYERED) != 0 ? SIM_TEXTURE_LAYERED : 0) |
               ((a->descriptor.Flags & ARRAY_CUBEMAP) != 0 ? SIM_TEXTURE_CUBEMAP : 0);
    return CUDA_SUCCESS;
}

/* Checks the texel format and that an address is aligned to it; element: the size of a texel. */
static CUresult check_texel(const SimTexture *t, uintptr_t data, size_t *element) {
    *element = t->channels > 0 ? sim_texel_size(t->format, (unsigned)t->channels) : 0;
    if (*element == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "format %#x with %d channels is not a texel",
                        (unsigned)t->format, t->channels);
    }
    if (data % SIM_TEXTURE_ALIGNMENT != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "the address %#zx is not a multiple of TEXTURE_ALIGNMENT, %d", (size_t)data,
                        SIM_TEXTURE_ALIGNMENT);
    }
    return CUDA_SUCCESS;
}

static CUresult describe_linear(SimTexture *t, CUdeviceptr memory, int format, unsigned channels,
                                size_t size) {
    const uintptr_t data = (uintptr_t)memory;
    size_t element;
    *t = (SimTexture){.format = format, .channels = (int)channels, .flags = SIM_TEXTURE_LINEAR};
    SIM_TRY(check_texel(t, data, &element));
    t->width = size / element;
    if (t->width == 0 || t->width > 268435456) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%zu bytes are not 1 to 268435456 texels of %zu bytes", size, element);
    }
    SIM_TRY(sim_memory_check(data, size, "devPtr"));
    t->data = data;
    t->element_size = (int)element;
    return CUDA_SUCCESS;
}

/* t: with its format, channels, width and pitch set */
static CUresult describe_pitch(SimTexture *t, CUdeviceptr memory, size_t height) {
    const uintptr_t data = (uintptr_t)memory;
    size_t element;
    if (height > 65000 || t->width > 131072 || height == 0 || t->width == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "a texture of %zu x %zu texels; 1 to 131072 x 65000", (size_t)t->width,
                        height);
    }
    t->height = (unsigned)height;
    SIM_TRY(check_texel(t, data, &element));
    if (t->pitch % 32 != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "the pitch %llu is not a multiple of TEXTURE_PITCH_ALIGNMENT, 32",
                        t->pitch);
    }
    SIM_TRY(sim_memory_check_box(data, t->width * element, t->height, 1, t->pitch, 0, "devPtr"));
    t->data = data;
    t->element_size = (int)element;
    return CUDA_SUCCESS;
}

/* Fills in the description of the memory; how it is read remains to be set. */
static CUresult describe(Texture *self, const CUDA_RESOURCE_DESC *resource, bool surface) {
    SimTexture *t = &self->seen;
    if (resource->flags != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "the flags of the resource are %#x, not 0",
                        resource->flags);
    }
    if (surface && resource->resType != RESOURCE_ARRAY) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "surfaces are made of arrays, not of resource_type %d", resource->resType);
    }
    switch (resource->resType) {
    case RESOURCE_ARRAY:
        return describe_array(self, resource->res.array.hArray, surface);
    case RESOURCE_LINEAR:
        return describe_linear(t, resource->res.linear.devPtr, resource->res.linear.format,
                               resource->res.linear.numChannels, resource->res.linear.sizeInBytes);
    case RESOURCE_PITCH2D:
        *t = (SimTexture){.format = resource->res.pitch2D.format,
                          .channels = (int)resource->res.pitch2D.numChannels,
                          .width = resource->res.pitch2D.width,
                          .pitch = resource->res.pitch2D.pitchInBytes};
        return describe_pitch(t, resource->res.pitch2D.devPtr, resource->res.pitch2D.height);
    case RESOURCE_MIPMAPPED:
        return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "the simulator has no mipmapped arrays");
    default:
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a resource_type", resource->resType);
    }
}

static bool is_integer(int format) {
    return format != 16 && format != 32;
}

static CUresult read_description(SimTexture *t, const CUDA_TEXTURE_DESC *d) {
    if ((d->flags & ~0x73u) != 0) { /* READ_AS_INTEGER, NORMALIZED, SRGB, and two for mipmaps */
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not flags of textures", d->flags);
    }
    bool normalized = (d->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    for (int i = 0; i < 3; i++) {
        int mode = d->addressMode[i];
        if (mode < MODE_WRAP || mode > MODE_BORDER) {
            return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not an address_mode", mode);
        }
        /* Wrapping needs normalized coordinates. */
        t->address_mode[i] = !normalized && (mode == MODE_WRAP || mode == MODE_MIRROR) ? MODE_CLAMP
                                                                                       : mode;
    }
    if (d->filterMode != 0 && d->filterMode != FILTER_LINEAR) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a filter_mode", d->filterMode);
    }
    bool wide = t->format == 3 || t->format == 10, integer = is_integer(t->format);
    bool as_integer = integer && (wide || (d->flags & CU_TRSF_READ_AS_INTEGER) != 0);
    if (as_integer && d->filterMode == FILTER_LINEAR && (t->flags & SIM_TEXTURE_LINEAR) == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "textures that are read as integers have no LINEAR filter");
    }
    t->filter = d->filterMode;
    t->flags |= (as_integer ? SIM_TEXTURE_READ_INTEGER : 0) |
                (normalized ? SIM_TEXTURE_NORMALIZED : 0) |
                ((d->flags & 16) != 0 ? SIM_TEXTURE_SRGB : 0);
    for (int i = 0; i < 4; i++) {
        t->border[i] = d->borderColor[i];
    }
    return CUDA_SUCCESS;
}

/* description NULL: make a surface. */
static CUresult create(unsigned long long *out, const CUDA_RESOURCE_DESC *resource,
                       const CUDA_TEXTURE_DESC *description) {
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    pthread_mutex_lock(&lock);
    Texture *self = unused;
    if (self != NULL) {
        unused = self->next;
    }
    pthread_mutex_unlock(&lock);
    if (self == NULL) {
        if ((self = malloc(sizeof(*self))) == NULL) {
            return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
        }
        if (sim_checked()) { /* kernels may read it, also while it waits for reuse */
            (void)sim_memory_adopt(SIM_NO_OWNER, (uintptr_t)&self->seen, sizeof(self->seen),
                                   SIM_VARIABLE, 0);
        }
    }
    *self = (Texture){.resource = *resource};
    CUresult status = describe(self, resource, description == NULL);
    if (status == CUDA_SUCCESS && description != NULL) {
        self->description = *description;
        status = read_description(&self->seen, description);
    } else if (status == CUDA_SUCCESS) {
        self->seen.flags |= SIM_TEXTURE_SURFACE;
    }
    if (status == CUDA_SUCCESS) {
        status = sim_object_open(self, SIM_TEXTURE, context, texture_free);
    }
    if (status != CUDA_SUCCESS) {
        texture_free(self);
        return status;
    }
    self->seen.magic = SIM_TEXTURE_MAGIC;
    pthread_mutex_lock(&lock);
    self->next = alive;
    alive = self;
    pthread_mutex_unlock(&lock);
    *out = (unsigned long long)(uintptr_t)&self->seen;
    sim_object_drop(self);
    return CUDA_SUCCESS;
}

static CUresult take_texture(unsigned long long handle, bool surface, Texture **out) {
    *out = NULL;
    pthread_mutex_lock(&lock);
    for (Texture *texture = alive; texture != NULL; texture = texture->next) {
        if ((uintptr_t)&texture->seen == (uintptr_t)handle &&
            ((texture->seen.flags & SIM_TEXTURE_SURFACE) != 0) == surface &&
            sim_object_try_keep(texture)) {
            *out = texture;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return *out != NULL
               ? CUDA_SUCCESS
               : sim_fail(CUDA_ERROR_INVALID_HANDLE, "%#llx is not a %s object, or was destroyed",
                          handle, surface ? "surface" : "texture");
}

static CUresult destroy(unsigned long long handle, bool surface) {
    SIM_TAKE(SimContext, context, sim_context_current_any(&context));
    SIM_TAKE(Texture, texture, take_texture(handle, surface, &texture));
    CUresult status = sim_context_wait(texture->object.context); /* wait for kernels that read it */
    return sim_object_close(texture)
               ? status
               : sim_fail(CUDA_ERROR_INVALID_HANDLE, "%#llx was destroyed already", handle);
}

CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                           const CUDA_TEXTURE_DESC *pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC *pResViewDesc) {
    SIM_CALL(cuTexObjectCreate);
    SIM_NOT_NULL(pTexObject);
    SIM_NOT_NULL(pResDesc);
    SIM_NOT_NULL(pTexDesc);
    if (pResViewDesc != NULL && pResViewDesc->format != 0) {
        return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "the simulator has no views of resources");
    }
    return create(pTexObject, pResDesc, pTexDesc);
}

CUresult cuTexObjectDestroy(CUtexObject texObject) {
    SIM_CALL(cuTexObjectDestroy);
    return destroy(texObject, false);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject) {
    SIM_CALL(cuTexObjectGetResourceDesc);
    SIM_NOT_NULL(pResDesc);
    SIM_TAKE(Texture, texture, take_texture(texObject, false, &texture));
    *pResDesc = texture->resource;
    return CUDA_SUCCESS;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject) {
    SIM_CALL(cuTexObjectGetTextureDesc);
    SIM_NOT_NULL(pTexDesc);
    SIM_TAKE(Texture, texture, take_texture(texObject, false, &texture));
    *pTexDesc = texture->description;
    return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc) {
    SIM_CALL(cuSurfObjectCreate);
    SIM_NOT_NULL(pSurfObject);
    SIM_NOT_NULL(pResDesc);
    return create(pSurfObject, pResDesc, NULL);
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
    SIM_CALL(cuSurfObjectDestroy);
    return destroy(surfObject, true);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject) {
    SIM_CALL(cuSurfObjectGetResourceDesc);
    SIM_NOT_NULL(pResDesc);
    SIM_TAKE(Texture, texture, take_texture(surfObject, true, &texture));
    *pResDesc = texture->resource;
    return CUDA_SUCCESS;
}
