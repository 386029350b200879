"""Run SQLite with a write queue: writers wait in line instead of polling for the lock."""
