"""Support for libraries that move arrays between processes: MPI, Dask."""
