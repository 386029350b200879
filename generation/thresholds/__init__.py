"""The thresholds of a run, and the effect of other thresholds."""
