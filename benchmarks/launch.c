/* launch.c - what a launch costs a C program: every argument set, the kernel enqueued with an event, the event released.
 *
 * Question: "ARGS SETS LAUNCHES" with ARGS one of 1, 4, 16; the launches take turns through SETS sets of arguments (1: always the same).
 * Answer: ns a launch until all are enqueued, the same until clFinish has returned, processor time of this thread until all are enqueued,
 * launches that the kernel counted, sum of the last arguments as the kernel saw it (see launch.cl).
 */
#include "bench.h"

enum { MAX_SETS = 4, MAX_ARGS = 16 };

typedef struct {
    size_t size;
    union {
        cl_mem buffer;
        cl_int i;
        cl_float x;
        cl_long p;
    } value;
} Arg;

static cl_mem counts[MAX_SETS], others[3]; /* each set of arguments has its own buffer to count in */

static cl_mem new_buffer(cl_uint first)
{
    cl_uint content[2] = {first, 0};
    cl_int status;
    cl_mem buffer = cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof content, content, &status);
    CHECK(status);
    return buffer;
}

/* The values are those of launch.py: set s has the integers 1 + s, 2 + s, ... */
static cl_uint make_args(int n_args, cl_uint set, Arg *args)
{
    cl_uint n = 0;
    args[n++] = (Arg){sizeof(cl_mem), {.buffer = counts[set]}};
    for (cl_uint i = 0; i < (n_args == 16 ? 3 : n_args == 4 ? 1 : 0); i++) {
        args[n++] = (Arg){sizeof(cl_mem), {.buffer = others[i]}};
    }
    cl_uint each = n_args == 16 ? 4 : n_args == 4 ? 1 : 0, value = 1 + set;
    for (cl_uint i = 0; i < each; i++) {
        args[n++] = (Arg){sizeof(cl_int), {.i = (cl_int)value++}};
    }
    for (cl_uint i = 0; i < each; i++) {
        args[n++] = (Arg){sizeof(cl_float), {.x = (cl_float)value++}};
    }
    for (cl_uint i = 0; n_args == 16 && i < each; i++) {
        args[n++] = (Arg){sizeof(cl_long), {.p = value++}};
    }
    return n;
}

static void measure(cl_kernel kernel, int n_args, cl_uint n_sets, long launches)
{
    Arg sets[MAX_SETS][MAX_ARGS];
    const cl_uint zeros[2] = {0, 0};
    cl_uint n = 0, counted = 0, result[2] = {0, 0};
    const size_t global[1] = {1};
    for (cl_uint s = 0; s < n_sets; s++) {
        n = make_args(n_args, s, sets[s]);
        CHECK(cl.clEnqueueWriteBuffer(queue, counts[s], CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL));
    }
    double begin = now(), begin_busy = busy();
    for (long launch = 0; launch < launches; launch++) {
        const Arg *args = sets[(cl_uint)launch % n_sets];
        cl_event event;
        for (cl_uint i = 0; i < n; i++) {
            CHECK(cl.clSetKernelArg(kernel, i, args[i].size, &args[i].value));
        }
        CHECK(cl.clEnqueueNDRangeKernel(queue, kernel, 1, NULL, global, NULL, 0, NULL, &event));
        CHECK(cl.clReleaseEvent(event));
    }
    double enqueued_busy = busy(), enqueued = now();
    CHECK(cl.clFinish(queue));
    double finished = now();
    for (cl_uint s = 0; s < n_sets; s++) {
        CHECK(cl.clEnqueueReadBuffer(queue, counts[s], CL_TRUE, 0, sizeof result, result, 0, NULL, NULL));
        counted += result[0];
    }
    printf("%.2f %.2f %.2f %u %u\n", (enqueued - begin) / (double)launches, (finished - begin) / (double)launches,
           (enqueued_busy - begin_busy) / (double)launches, counted, result[1]);
    fflush(stdout);
}

static cl_program build(const char *path)
{
    char source[8192];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail(path, 0);
    }
    size_t size = fread(source, 1, sizeof source - 1, file);
    const char *text = source;
    cl_int status;
    source[size] = '\0';
    fclose(file);
    cl_program program = cl.clCreateProgramWithSource(context, 1, &text, NULL, &status);
    CHECK(status);
    CHECK(cl.clBuildProgram(program, 1, &device, "", NULL, NULL));
    return program;
}

int main(int argc, char **argv)
{
    int n_args;
    cl_uint n_sets;
    long launches;
    start(argc, argv);
    cl_program program = build(argv[3]);
    for (cl_uint s = 0; s < MAX_SETS; s++) {
        counts[s] = new_buffer(0);
    }
    for (cl_uint i = 0; i < 3; i++) {
        others[i] = new_buffer(i + 1);
    }
    while (scanf("%d %u %ld", &n_args, &n_sets, &launches) == 3) {
        char name[32];
        cl_int status;
        (void)snprintf(name, sizeof name, "launch%d", n_args);
        cl_kernel kernel = cl.clCreateKernel(program, name, &status);
        CHECK(status);
        measure(kernel, n_args, n_sets > MAX_SETS ? MAX_SETS : n_sets, launches);
        CHECK(cl.clReleaseKernel(kernel));
    }
    return 0;
}
