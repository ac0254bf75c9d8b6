"""What every room needs: settings, errors, resilience, telemetry, clock, tenancy. No I/O but the environment."""
