"""Monitor an installation: request ids, logs, Prometheus metrics, readiness, error reports."""
