"""Generated hostile requests over all doors of a real server: ``python -m benchmarks.hostile --requests 100000``."""
