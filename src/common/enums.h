/* enums.h - a driver's enumerations as data from which Python makes classes. */
#ifndef PG_ENUMS_H
#define PG_ENUMS_H

#include "common/pg.h"

/* A class, or a member of the class above it. */
typedef struct {
    const char *cls;
    const char *member; /* NULL marks the row of a class, which alone uses doc and flags */
    const char *doc;
    int flags; /* the members are bits that can be combined */
    long long value;
} PgEnumRow;

/* Returns [(class, doc, whether flags, {member: value})]. */
PyObject *pg_enumerations(const PgEnumRow *rows, size_t n);

#endif
