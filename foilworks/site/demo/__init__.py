"""Create the sample project: its world, its simulated people and its two small models."""
