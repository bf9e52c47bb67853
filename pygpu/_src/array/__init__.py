"""Arrays on a device, on either backend: layout, ufuncs, reductions, scans, sorting, indexing."""
