/* transfer.c - what copies, fills, maps and allocations cost a C program.
 *
 * Question: "OPERATION BYTES TIMES". Answer: ns an operation. The operations are those of transfer.py, with the same driver calls:
 * commands take an event and release it; what does not block by itself is followed by one clFinish, whose time is counted.
 */
#include "bench.h"

static size_t size;
static char *host;
static cl_mem a, b;

static void forget(cl_event event) { CHECK(cl.clReleaseEvent(event)); }

static cl_mem new_buffer(void)
{
    cl_int status;
    cl_mem buffer = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, &status);
    CHECK(status);
    return buffer;
}

static void prepare(size_t wanted)
{
    if (wanted == size) {
        return;
    }
    if (host != NULL) {
        CHECK(cl.clReleaseMemObject(a));
        CHECK(cl.clReleaseMemObject(b));
        free(host);
    }
    size = wanted;
    host = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    if (host == NULL) {
        fail("no host memory", (long)size);
    }
    memset(host, 1, size);
    a = new_buffer();
    b = new_buffer();
    CHECK(cl.clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, size, host, 0, NULL, NULL));
    CHECK(cl.clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, size, host, 0, NULL, NULL));
}

static void op_write(cl_bool blocking)
{
    cl_event event;
    CHECK(cl.clEnqueueWriteBuffer(queue, a, blocking, 0, size, host, 0, NULL, &event));
    forget(event);
}

static void op_read(cl_bool blocking)
{
    cl_event event;
    CHECK(cl.clEnqueueReadBuffer(queue, a, blocking, 0, size, host, 0, NULL, &event));
    forget(event);
}

static void op_copy(void)
{
    cl_event event;
    CHECK(cl.clEnqueueCopyBuffer(queue, a, b, 0, 0, size, 0, NULL, &event));
    forget(event);
}

static void op_fill(void)
{
    static const cl_uint pattern = 0x01020304;
    cl_event event;
    CHECK(cl.clEnqueueFillBuffer(queue, a, &pattern, sizeof pattern, 0, size, 0, NULL, &event));
    forget(event);
}

static void op_map(void)
{
    cl_event event;
    cl_int status;
    void *at = cl.clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, &event, &status);
    CHECK(status);
    forget(event);
    CHECK(cl.clEnqueueUnmapMemObject(queue, a, at, 0, NULL, &event));
    forget(event);
}

static void op_create(void) { CHECK(cl.clReleaseMemObject(new_buffer())); }

static void operate(const char *name)
{
    if (strcmp(name, "write") == 0) { op_write(CL_TRUE); }
    else if (strcmp(name, "write_async") == 0) { op_write(CL_FALSE); }
    else if (strcmp(name, "read") == 0) { op_read(CL_TRUE); }
    else if (strcmp(name, "read_async") == 0) { op_read(CL_FALSE); }
    else if (strcmp(name, "copy") == 0) { op_copy(); }
    else if (strcmp(name, "fill") == 0) { op_fill(); }
    else if (strcmp(name, "map") == 0) { op_map(); }
    else if (strcmp(name, "create") == 0) { op_create(); }
    else { fail(name, 0); }
}

int main(int argc, char **argv)
{
    char operation[32];
    unsigned long wanted;
    long times;
    start(argc, argv);
    while (scanf("%31s %lu %ld", operation, &wanted, &times) == 3) {
        prepare(wanted);
        CHECK(cl.clFinish(queue));
        double begin = now();
        for (long i = 0; i < times; i++) {
            operate(operation);
        }
        CHECK(cl.clFinish(queue));
        printf("%.2f\n", (now() - begin) / (double)times);
        fflush(stdout);
    }
    return 0;
}
