"""Tune text-to-text models on a project's captions: parameters, job, loss curve."""
