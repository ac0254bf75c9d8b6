"""Ingest handed to the worker: rows are kept where they are handed in, and stored by whichever worker comes, chunk by chunk."""
