/* library.c - shared libraries opened at run time: nothing of pygpu is linked to a driver. */
#include "pg.h"

#include <stdio.h>

#ifdef _WIN32
#include <windows.h>

void *pg_library_open(const char *path, int global, char *error, size_t error_size) {
    (void)global;
    HMODULE library = LoadLibraryA(path);
    if (library == NULL) {
        snprintf(error, error_size, "LoadLibrary failed with error %lu", GetLastError());
    }
    return (void *)library;
}
void pg_library_close(void *library) { FreeLibrary((HMODULE)library); }
void *pg_library_symbol(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }

#else
#include <dlfcn.h>

void *pg_library_open(const char *path, int global, char *error, size_t error_size) {
    void *library = dlopen(path, RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (library == NULL) {
        const char *words = dlerror();
        snprintf(error, error_size, "%s", words != NULL ? words : "unknown error");
    }
    return library;
}
void pg_library_close(void *library) { dlclose(library); }
void *pg_library_symbol(void *library, const char *name) { return dlsym(library, name); }
#endif
