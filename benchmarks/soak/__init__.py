"""Mixed load while one dependency after another is killed: ``python -m benchmarks.soak --minutes 30``."""
