/* sim_runtime.h - device code that needs the library: barriers, printf, assert, memory from the heap, clocks. */
#ifndef PYGPU_SIM_RUNTIME_H
#define PYGPU_SIM_RUNTIME_H

#pragma GCC system_header
#include "sim_core.h"

/* Behind a call that gives nothing: were it the last of a function, a jump would take its place, and a message name the caller's line. */
#define SIM_NO_TAIL_CALL() __asm__ volatile("")

SIM_LATE(__syncthreads __syncthreads_count __syncthreads_and __syncthreads_or __barrier_sync)
static SIM_INLINE void __syncthreads() {
    SimContext *c = sim_here();
    c->runtime->sync(c);
    SIM_NO_TAIL_CALL();
}
static SIM_INLINE int __syncthreads_count(int predicate) {
    SimContext *c = sim_here();
    return c->runtime->sync_reduce(c, SIM_SYNC_COUNT, predicate);
}
static SIM_INLINE int __syncthreads_and(int predicate) {
    SimContext *c = sim_here();
    return c->runtime->sync_reduce(c, SIM_SYNC_AND, predicate);
}
static SIM_INLINE int __syncthreads_or(int predicate) {
    SimContext *c = sim_here();
    return c->runtime->sync_reduce(c, SIM_SYNC_OR, predicate);
}
static SIM_INLINE void __barrier_sync(unsigned) { __syncthreads(); }
SIM_END

SIM_LATE(sim_warp)
/* Entry of the warp operations (sim_warp.h has the functions with CUDA's names). */
static SIM_INLINE SimWord sim_warp(int operation, unsigned mask, SimWord value, SimWord argument) {
    SimContext *c = sim_here();
    const SimWord result = c->runtime->warp(c, operation, mask, value, argument);
    SIM_NO_TAIL_CALL();
    return result;
}
SIM_END

SIM_LATE(sim_yield sim_grid_sync)
static SIM_INLINE void sim_yield() {
    SimContext *c = sim_here();
    c->runtime->yield(c);
}
static SIM_INLINE void sim_grid_sync() {
    SimContext *c = sim_here();
    c->runtime->grid_sync(c);
    SIM_NO_TAIL_CALL();
}
SIM_END

SIM_LATE(sim_space __isShared __isLocal __isGlobal __isConstant __isGridConstant)
static SIM_INLINE int sim_space(const void *address) {
    SimContext *c = sim_here();
    return c->runtime->space(c, address);
}
static SIM_INLINE unsigned __isShared(const void *address) { return sim_space(address) == SIM_SPACE_SHARED; }
static SIM_INLINE unsigned __isLocal(const void *address) { return sim_space(address) == SIM_SPACE_LOCAL; }
static SIM_INLINE unsigned __isGlobal(const void *address) { return sim_space(address) == SIM_SPACE_GLOBAL; }
static SIM_INLINE unsigned __isConstant(const void *) { return 0; }
static SIM_INLINE unsigned __isGridConstant(const void *) { return 0; }
SIM_END

SIM_LATE(sim_fail)
/* Ends the kernel: code is a SIM_FAIL_. */
[[noreturn]] static SIM_INLINE void sim_fail(int code, const char *text) {
    SimContext *c = sim_here();
    c->runtime->fail(c, code, text);
    __builtin_unreachable();
}
SIM_END

SIM_LATE(sim_printf sim_vprintf)
extern "C" {
static __attribute__((noinline, unused, format(printf, 1, 2))) int sim_printf(const char *format, ...) {
    SimContext *c = sim_here();
    __builtin_va_list values;
    __builtin_va_start(values, format);
    const int n = c->runtime->vprint(c, format, &values);
    __builtin_va_end(values);
    return n;
}
static SIM_INLINE int sim_vprintf(const char *format, __builtin_va_list values) {
    SimContext *c = sim_here();
    __builtin_va_list copy;
    __builtin_va_copy(copy, values);
    const int n = c->runtime->vprint(c, format, &copy);
    __builtin_va_end(copy);
    return n;
}
}
SIM_END

SIM_LATE(sim_assertion)
static __attribute__((noinline, cold, unused)) void sim_assertion(const char *text, const char *file, unsigned line, const char *function) {
    SimContext *c = sim_here();
    c->runtime->assertion(c, text, file, line, function);
}
SIM_END

#ifndef NDEBUG
#define assert(...) ((__VA_ARGS__) ? (void)0 : sim_assertion(#__VA_ARGS__, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#else
#define assert(...) ((void)0)
#endif

SIM_LATE(new delete virtual sim_malloc sim_free malloc free)
static SIM_INLINE void *sim_malloc(size_t size) {
    SimContext *c = sim_here();
    return c->runtime->allocate(c, size, 16);
}
static SIM_INLINE void sim_free(void *address) {
    SimContext *c = sim_here();
    c->runtime->release(c, address);
    SIM_NO_TAIL_CALL();
}
#ifndef SIM_HOSTED
inline void *operator new(size_t size) { return sim_malloc(size); }
inline void *operator new[](size_t size) { return sim_malloc(size); }
inline void operator delete(void *address) noexcept { sim_free(address); }
inline void operator delete[](void *address) noexcept { sim_free(address); }
inline void operator delete(void *address, size_t) noexcept { sim_free(address); }
inline void operator delete[](void *address, size_t) noexcept { sim_free(address); }
inline void *operator new(size_t, void *memory) noexcept { return memory; }
inline void *operator new[](size_t, void *memory) noexcept { return memory; }
inline void operator delete(void *, void *) noexcept {}
inline void operator delete[](void *, void *) noexcept {}
#endif
SIM_END
#ifndef SIM_HOSTED
SIM_LATE(memcpy memmove memset memcmp strlen strcmp strncmp strcpy strncpy)
extern "C" {
void *memcpy(void *, const void *, size_t) noexcept;
void *memmove(void *, const void *, size_t) noexcept;
void *memset(void *, int, size_t) noexcept;
int memcmp(const void *, const void *, size_t) noexcept;
size_t strlen(const char *) noexcept;
int strcmp(const char *, const char *) noexcept;
int strncmp(const char *, const char *, size_t) noexcept;
char *strcpy(char *, const char *) noexcept;
char *strncpy(char *, const char *, size_t) noexcept;
}
SIM_END
#endif
extern "C" void __cxa_pure_virtual();
/* A copy that is made for the program: checked memory (sim_check.h) sees it. */
#if defined(SIM_CHECKED)
extern "C" void *sim_checked_copy(void *, const void *, size_t) __asm__("memcpy");
static SIM_INLINE void sim_copy(void *to, const void *from, size_t n) { sim_checked_copy(to, from, n); }
#else
static SIM_INLINE void sim_copy(void *to, const void *from, size_t n) { __builtin_memcpy(to, from, n); }
#endif


SIM_LATE(__trap __brkpt sim_nanoseconds clock64 sim_clock __nanosleep __threadfence_block __threadfence __threadfence_system)
static SIM_INLINE void __trap() { sim_fail(SIM_FAIL_TRAP, "__trap()"); }
static SIM_INLINE void __brkpt() { __trap(); }
static SIM_INLINE unsigned long long sim_nanoseconds() { return sim_here()->runtime->nanoseconds(); }
static SIM_INLINE long long clock64() { return (long long)sim_nanoseconds(); }
static SIM_INLINE int sim_clock() { return (int)sim_nanoseconds(); }
static SIM_INLINE void __nanosleep(unsigned) { sim_yield(); }

static SIM_INLINE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static SIM_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static SIM_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SIM_END

#endif
