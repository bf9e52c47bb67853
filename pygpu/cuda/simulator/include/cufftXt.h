/* cufftXt.h - as cufft.h. */
#pragma once
#include "cufft.h"
