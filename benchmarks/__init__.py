"""MEASURE quality and speed; complexity gates; peers in the same run."""
