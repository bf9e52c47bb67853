"""Other libraries that move arrays between processes: MPI, Dask."""
