"""Running duties: on Celery with a broker, or in one process without one. Attempts, dead letters and liveness are the same for both."""
