"""JSON sent to OpenSearch as it is, but for the model, its dimension and the prefix; see ``search/engines/opensearch_indices.py``."""
