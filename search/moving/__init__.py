"""Moving documents over time: out when they are old, to another store, into a backup, to another embedding model."""
