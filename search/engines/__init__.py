"""Two engines behind one port: a single SQLite file, or an OpenSearch cluster."""
