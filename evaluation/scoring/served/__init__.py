"""Scoring through an endpoint: what is asked, how answers become scores, what is stored of them and shown."""
