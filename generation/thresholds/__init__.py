"""Where a run's thresholds stand, and what would pass if they stood elsewhere."""
