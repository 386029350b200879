"""Screening by models that see the clip: which models, and what they save."""
