/* array.h - struct r123arrayNxW: N unsigned integers of W bits in a member v, what counters and keys are made of.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_R123_ARRAY_H
#define PYGPU_R123_ARRAY_H

#include "openclfeatures.h"

struct r123array1x32 { uint32_t v[1]; };
struct r123array2x32 { uint32_t v[2]; };
struct r123array4x32 { uint32_t v[4]; };
struct r123array8x32 { uint32_t v[8]; };

struct r123array1x64 { uint64_t v[1]; };
struct r123array2x64 { uint64_t v[2]; };
struct r123array4x64 { uint64_t v[4]; };

struct r123array16x8 { uint8_t v[16]; };

/* The width in bits of the integers in such a type. */
#define R123_W(a) (8 * sizeof(((a *) 0)->v[0]))

#endif
