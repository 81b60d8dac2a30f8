"""Work beyond one process: pure functions on the workers of a Dask cluster."""
