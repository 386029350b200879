"""What operators see of an installation: ids of requests, logs, figures for Prometheus, readiness, reported errors."""
