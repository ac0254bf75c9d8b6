"""WATCH: saved questions with a condition, the machine that decides when one fires, and the proven digests it publishes exactly once."""
