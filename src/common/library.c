/* library.c - opens shared libraries at run time, because pygpu is not linked against any
 * driver. */
#include "common/pg.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef _WIN32
#include <windows.h>

/* Paths are UTF-8. The narrow-character functions would interpret them in the system's code
 * page. */
void *pg_library_open(const char *path, int global, char *error, size_t error_size) {
    (void)global;
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *wide = length > 0 ? malloc((size_t)length * sizeof *wide) : NULL;
    HMODULE library = NULL;
    if (wide == NULL ||
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, length) == 0) {
        snprintf(error, error_size,
                 "the path is not UTF-8, or there is no memory for it (error %lu)", GetLastError());
    } else if ((library = LoadLibraryW(wide)) == NULL) {
        snprintf(error, error_size, "LoadLibrary failed with error %lu", GetLastError());
    }
    free(wide);
    return (void *)library;
}
void pg_library_close(void *library) {
    FreeLibrary((HMODULE)library);
}
void *pg_library_symbol(void *library, const char *name) {
    return (void *)GetProcAddress((HMODULE)library, name);
}

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
void pg_library_close(void *library) {
    dlclose(library);
}
void *pg_library_symbol(void *library, const char *name) {
    return dlsym(library, name);
}
#endif
