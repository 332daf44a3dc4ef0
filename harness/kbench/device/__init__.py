"""The CPU and CUDA behind one interface: shared memory, cache, gates, lease and telemetry."""
