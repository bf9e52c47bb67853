/* build.c - what a program build costs a C program in a fresh process.
 *
 * PROGRAM LIBRARY DEVICE FILE prints, in ns: create and build; the kernel "first" made; its first launch and finish; the same source
 * created and built once more.
 */
#include "bench.h"

static char source[1 << 20];

static cl_program build(void)
{
    const char *text = source;
    cl_int status;
    cl_program program = cl.clCreateProgramWithSource(context, 1, &text, NULL, &status);
    CHECK(status);
    CHECK(cl.clBuildProgram(program, 1, &device, "", NULL, NULL));
    return program;
}

int main(int argc, char **argv)
{
    const size_t global[1] = {1};
    cl_int status;
    start(argc, argv);
    FILE *file = fopen(argv[3], "r");
    if (file == NULL) {
        fail(argv[3], 0);
    }
    source[fread(source, 1, sizeof source - 1, file)] = '\0';
    fclose(file);
    cl_mem buffer = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &status);
    CHECK(status);

    double begin = now();
    cl_program program = build();
    double built = now();
    cl_kernel kernel = cl.clCreateKernel(program, "first", &status);
    CHECK(status);
    double made = now();
    CHECK(cl.clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CHECK(cl.clEnqueueNDRangeKernel(queue, kernel, 1, NULL, global, NULL, 0, NULL, NULL));
    CHECK(cl.clFinish(queue));
    double launched = now();
    (void)build();
    printf("%.0f %.0f %.0f %.0f\n", built - begin, made - built, launched - made, now() - launched);
    return 0;
}
