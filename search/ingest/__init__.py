"""Documents in: read, validate, group, embed, store, and a report that reconciles."""
