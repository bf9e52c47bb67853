/* launch_codes.h - the numbers by which Python describes a launch: constants of the module, with an
 * underscore before their names. */
#ifndef PYGPU_ARRAY_LAUNCH_CODES_H
#define PYGPU_ARRAY_LAUNCH_CODES_H

/* What of an argument is given: KernelBase._remember(). */
enum { GIVE_NUMBER, GIVE_MEMORY, GIVE_OFFSET, GIVE_SHAPE, GIVE_STRIDES, GIVE_RECORD, GIVE_ID };
enum { GIVE_COUNT = GIVE_ID + 1 };

/* What a launch is asked: pygpu/_src/jit/ranges.py. */
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

/* Of the memory where kernels on CPU devices write what they found wrong. */
#define RECORD_BYTES 65536

#endif
