/* track.h - telling Python of device memory that was made, while pygpu.track_memory() is on. */
#ifndef PG_TRACK_H
#define PG_TRACK_H

#include "common/pg.h"

extern PyObject *pg_on_memory; /* called for new memory; may be NULL */
void pg_report_memory(PyObject *memory, size_t size);
/* Of a complete object, with the GIL held and no exception set; runs Python if it is on. */
static inline void pg_memory_made(PyObject *memory, size_t size) {
    if (PG_UNLIKELY(pg_on_memory != NULL) && memory != NULL) {
        pg_report_memory(memory, size);
    }
}
extern PyMethodDef pg_track_functions[];

#endif
