/* cuda_compile.c - what compiling CUDA C++ costs a C program: NVRTC to a cubin, which the driver loads; and the loading alone.
 *
 * cuda_compile LIBRARY NVRTC ARCHITECTURE FOLDER: the driver and NVRTC to open, such as sm_90, and where the sources are.
 * Question: "CASE NUMBER". "cold_SIZE" compiles FOLDER/SIZE_NUMBER.cu and loads it; "warm_SIZE" loads what it compiled when it
 * was first asked, as a cache in memory would. Answer: ns until the function is there, what the kernel then writes.
 */
#include "cuda_bench.h"


static struct {
#define NVRTC_FN(required, name, params) nvrtcResult(*name) params;
#include "nvrtc.fn"
} rtc;

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail(path, 0);
    }
    char *text = calloc(1, 1 << 20);
    if (!fread(text, 1, (1 << 20) - 1, file)) {
        fail(path, 1);
    }
    fclose(file);
    return text;
}

static char *compile(const char *source, const char *architecture)
{
    char option[64];
    const char *options[] = {option};
    nvrtcProgram program;
    size_t size;
    snprintf(option, sizeof option, "--gpu-architecture=%s", architecture);
    if (rtc.nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL) || rtc.nvrtcCompileProgram(program, 1, options) ||
        rtc.nvrtcGetCUBINSize(program, &size)) {
        fail("NVRTC", 0);
    }
    char *cubin = malloc(size);
    if (rtc.nvrtcGetCUBIN(program, cubin) || rtc.nvrtcDestroyProgram(&program)) {
        fail("NVRTC", 1);
    }
    return cubin;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        return 2;
    }
    start(argv[1]);
    void *library = dlopen(argv[2], RTLD_NOW);
    if (!library) {
        puts("- no NVRTC");
        return 0;
    }
#define NVRTC_FN(required, name, params) *(void **)&rtc.name = dlsym(library, #name);
#include "nvrtc.fn"
    CUdeviceptr memory;
    CHECK(cuMemAlloc(&memory, 4));
    char how[8], size[16], path[1024];
    int number;
    char *cubins[2] = {NULL, NULL};
    while (scanf(" %7[a-z]_%15s %d", how, size, &number) == 3) {
        CUmodule module;
        CUfunction function;
        char **kept = &cubins[strcmp(size, "one") != 0], *cubin;
        snprintf(path, sizeof path, "%s/%s_%d.cu", argv[4], size, number);
        char *source = read_file(path);
        int warm = !strcmp(how, "warm");
        if (warm && !*kept) {
            *kept = compile(source, argv[3]);
        }
        double begin = now();
        cubin = warm ? *kept : compile(source, argv[3]);
        CHECK(cuModuleLoadData(&module, cubin));
        CHECK(cuModuleGetFunction(&function, module, "first"));
        double took = now() - begin;
        unsigned seen = 0;
        void *params[] = {&memory};
        CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
        CHECK(cuMemcpyDtoH(&seen, memory, sizeof seen));
        CHECK(cuModuleUnload(module));
        printf("%.0f %u\n", took, seen);
        fflush(stdout);
        free(source);
        if (!warm) {
            free(cubin);
        }
    }
    return 0;
}
