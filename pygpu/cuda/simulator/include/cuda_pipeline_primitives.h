/* cuda_pipeline_primitives.h - part of cuda_pipeline.h here. */
#pragma once
#include "cuda_pipeline.h"
