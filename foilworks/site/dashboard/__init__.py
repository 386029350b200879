"""Compute the owner's dashboard: counts, what follows from them (forecast, cost, alarms), and their cache."""
