"""Digests sent to where their monitors say: one record per digest and receiver, one bounded attempt at a time."""
