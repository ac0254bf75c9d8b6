"""FIND the passages that bear on a question."""
