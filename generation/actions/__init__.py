"""Every write of generation: one function, one transaction; writes about one thing share a file."""
