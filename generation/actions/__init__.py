"""Actions of generation: each write is one function with one transaction. Writes about one thing share a file."""
