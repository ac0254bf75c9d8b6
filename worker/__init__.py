"""WORK WITH NOBODY WAITING: monitors, digests, deliveries, ingest jobs, scheduled evaluations, events and what is counted from them."""
