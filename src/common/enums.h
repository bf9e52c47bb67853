/* enums.h - enumerations of a driver as data, from which Python makes classes. */
#ifndef PG_ENUMS_H
#define PG_ENUMS_H

#include "common/pg.h"

/* A class, or one of the members that follow it. */
typedef struct {
    const char *cls;
    const char *member; /* NULL: a class begins, doc and flags count */
    const char *doc;
    int flags; /* members are bits that are combined */
    long long value;
} PgEnumRow;

/* [(class, doc, whether flags, {member: value})] */
PyObject *pg_enumerations(const PgEnumRow *rows, size_t n);

#endif
