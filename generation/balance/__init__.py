"""Choose foils that text alone cannot distinguish from captions. Pure: no tables, no models."""
