"""Text to unit vectors: one port, three embedders."""
