"""Evaluations run by whoever asks: a door in process, or the worker on a schedule."""
