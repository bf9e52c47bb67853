/* launch_codes.h - the codes with which Python describes a launch; the module exports them with a
 * leading underscore. */
#ifndef PYGPU_ARRAY_LAUNCH_CODES_H
#define PYGPU_ARRAY_LAUNCH_CODES_H

/* Which property of an argument to pass; see KernelBase._remember(). */
enum { GIVE_NUMBER, GIVE_MEMORY, GIVE_OFFSET, GIVE_SHAPE, GIVE_STRIDES, GIVE_RECORD, GIVE_ID };
enum { GIVE_COUNT = GIVE_ID + 1 };

/* The tests made before a launch; see pygpu/_src/jit/ranges.py. */
enum {
    TEST_CONSTANT,
    TEST_VALUE,
    TEST_SHAPE,
    TEST_GROUPS,
    TEST_SIZE,
    TEST_ADD,
    TEST_TIMES,
    TEST_FLOOR,
    TEST_MIN,
    TEST_MAX,
    TEST_FITS,
    TEST_MINUS,
    TEST_LESS
};

/* The memory in which kernels on CPU devices report errors. */
#define RECORD_BYTES 65536

#endif
