# The 50 vector types and their functions, which vector_types.py makes in a loop.

import builtins
from typing import Any, TypeAlias

import numpy as np

_Vector: TypeAlias = np.ndarray[tuple[()], np.dtype[np.void]]

char = np.int8
uchar = np.uint8
short = np.int16
ushort = np.uint16
int = np.int32
uint = np.uint32
long = np.int64
ulong = np.uint64
half = np.float16
float = np.float32
double = np.float64

vec_types: dict[tuple[np.dtype[Any], builtins.int], np.dtype[Any]]
vec_type_to_scalar_and_count: dict[np.dtype[Any], tuple[np.dtype[Any], builtins.int]]

def _make(*args: Any, **kwargs: Any) -> _Vector: ...
def _filled(val: Any) -> _Vector: ...
def _zeros() -> _Vector: ...
def _ones() -> _Vector: ...

char2: np.dtype[np.void]
make_char2 = _make
filled_char2 = _filled
zeros_char2 = _zeros
ones_char2 = _ones

char3: np.dtype[np.void]
make_char3 = _make
filled_char3 = _filled
zeros_char3 = _zeros
ones_char3 = _ones

char4: np.dtype[np.void]
make_char4 = _make
filled_char4 = _filled
zeros_char4 = _zeros
ones_char4 = _ones

char8: np.dtype[np.void]
make_char8 = _make
filled_char8 = _filled
zeros_char8 = _zeros
ones_char8 = _ones

char16: np.dtype[np.void]
make_char16 = _make
filled_char16 = _filled
zeros_char16 = _zeros
ones_char16 = _ones

uchar2: np.dtype[np.void]
make_uchar2 = _make
filled_uchar2 = _filled
zeros_uchar2 = _zeros
ones_uchar2 = _ones

uchar3: np.dtype[np.void]
make_uchar3 = _make
filled_uchar3 = _filled
zeros_uchar3 = _zeros
ones_uchar3 = _ones

uchar4: np.dtype[np.void]
make_uchar4 = _make
filled_uchar4 = _filled
zeros_uchar4 = _zeros
ones_uchar4 = _ones

uchar8: np.dtype[np.void]
make_uchar8 = _make
filled_uchar8 = _filled
zeros_uchar8 = _zeros
ones_uchar8 = _ones

uchar16: np.dtype[np.void]
make_uchar16 = _make
filled_uchar16 = _filled
zeros_uchar16 = _zeros
ones_uchar16 = _ones

short2: np.dtype[np.void]
make_short2 = _make
filled_short2 = _filled
zeros_short2 = _zeros
ones_short2 = _ones

short3: np.dtype[np.void]
make_short3 = _make
filled_short3 = _filled
zeros_short3 = _zeros
ones_short3 = _ones

short4: np.dtype[np.void]
make_short4 = _make
filled_short4 = _filled
zeros_short4 = _zeros
ones_short4 = _ones

short8: np.dtype[np.void]
make_short8 = _make
filled_short8 = _filled
zeros_short8 = _zeros
ones_short8 = _ones

short16: np.dtype[np.void]
make_short16 = _make
filled_short16 = _filled
zeros_short16 = _zeros
ones_short16 = _ones

ushort2: np.dtype[np.void]
make_ushort2 = _make
filled_ushort2 = _filled
zeros_ushort2 = _zeros
ones_ushort2 = _ones

ushort3: np.dtype[np.void]
make_ushort3 = _make
filled_ushort3 = _filled
zeros_ushort3 = _zeros
ones_ushort3 = _ones

ushort4: np.dtype[np.void]
make_ushort4 = _make
filled_ushort4 = _filled
zeros_ushort4 = _zeros
ones_ushort4 = _ones

ushort8: np.dtype[np.void]
make_ushort8 = _make
filled_ushort8 = _filled
zeros_ushort8 = _zeros
ones_ushort8 = _ones

ushort16: np.dtype[np.void]
make_ushort16 = _make
filled_ushort16 = _filled
zeros_ushort16 = _zeros
ones_ushort16 = _ones

int2: np.dtype[np.void]
make_int2 = _make
filled_int2 = _filled
zeros_int2 = _zeros
ones_int2 = _ones

int3: np.dtype[np.void]
make_int3 = _make
filled_int3 = _filled
zeros_int3 = _zeros
ones_int3 = _ones

int4: np.dtype[np.void]
make_int4 = _make
filled_int4 = _filled
zeros_int4 = _zeros
ones_int4 = _ones

int8: np.dtype[np.void]
make_int8 = _make
filled_int8 = _filled
zeros_int8 = _zeros
ones_int8 = _ones

int16: np.dtype[np.void]
make_int16 = _make
filled_int16 = _filled
zeros_int16 = _zeros
ones_int16 = _ones

uint2: np.dtype[np.void]
make_uint2 = _make
filled_uint2 = _filled
zeros_uint2 = _zeros
ones_uint2 = _ones

uint3: np.dtype[np.void]
make_uint3 = _make
filled_uint3 = _filled
zeros_uint3 = _zeros
ones_uint3 = _ones

uint4: np.dtype[np.void]
make_uint4 = _make
filled_uint4 = _filled
zeros_uint4 = _zeros
ones_uint4 = _ones

uint8: np.dtype[np.void]
make_uint8 = _make
filled_uint8 = _filled
zeros_uint8 = _zeros
ones_uint8 = _ones

uint16: np.dtype[np.void]
make_uint16 = _make
filled_uint16 = _filled
zeros_uint16 = _zeros
ones_uint16 = _ones

long2: np.dtype[np.void]
make_long2 = _make
filled_long2 = _filled
zeros_long2 = _zeros
ones_long2 = _ones

long3: np.dtype[np.void]
make_long3 = _make
filled_long3 = _filled
zeros_long3 = _zeros
ones_long3 = _ones

long4: np.dtype[np.void]
make_long4 = _make
filled_long4 = _filled
zeros_long4 = _zeros
ones_long4 = _ones

long8: np.dtype[np.void]
make_long8 = _make
filled_long8 = _filled
zeros_long8 = _zeros
ones_long8 = _ones

long16: np.dtype[np.void]
make_long16 = _make
filled_long16 = _filled
zeros_long16 = _zeros
ones_long16 = _ones

ulong2: np.dtype[np.void]
make_ulong2 = _make
filled_ulong2 = _filled
zeros_ulong2 = _zeros
ones_ulong2 = _ones

ulong3: np.dtype[np.void]
make_ulong3 = _make
filled_ulong3 = _filled
zeros_ulong3 = _zeros
ones_ulong3 = _ones

ulong4: np.dtype[np.void]
make_ulong4 = _make
filled_ulong4 = _filled
zeros_ulong4 = _zeros
ones_ulong4 = _ones

ulong8: np.dtype[np.void]
make_ulong8 = _make
filled_ulong8 = _filled
zeros_ulong8 = _zeros
ones_ulong8 = _ones

ulong16: np.dtype[np.void]
make_ulong16 = _make
filled_ulong16 = _filled
zeros_ulong16 = _zeros
ones_ulong16 = _ones

float2: np.dtype[np.void]
make_float2 = _make
filled_float2 = _filled
zeros_float2 = _zeros
ones_float2 = _ones

float3: np.dtype[np.void]
make_float3 = _make
filled_float3 = _filled
zeros_float3 = _zeros
ones_float3 = _ones

float4: np.dtype[np.void]
make_float4 = _make
filled_float4 = _filled
zeros_float4 = _zeros
ones_float4 = _ones

float8: np.dtype[np.void]
make_float8 = _make
filled_float8 = _filled
zeros_float8 = _zeros
ones_float8 = _ones

float16: np.dtype[np.void]
make_float16 = _make
filled_float16 = _filled
zeros_float16 = _zeros
ones_float16 = _ones

double2: np.dtype[np.void]
make_double2 = _make
filled_double2 = _filled
zeros_double2 = _zeros
ones_double2 = _ones

double3: np.dtype[np.void]
make_double3 = _make
filled_double3 = _filled
zeros_double3 = _zeros
ones_double3 = _ones

double4: np.dtype[np.void]
make_double4 = _make
filled_double4 = _filled
zeros_double4 = _zeros
ones_double4 = _ones

double8: np.dtype[np.void]
make_double8 = _make
filled_double8 = _filled
zeros_double8 = _zeros
ones_double8 = _ones

double16: np.dtype[np.void]
make_double16 = _make
filled_double16 = _filled
zeros_double16 = _zeros
ones_double16 = _ones
