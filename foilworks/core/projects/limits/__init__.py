"""Limit what visitors and members send: requests, attempts, uploads."""
